//! Integer arithmetic beyond sums, products and logic, and comparisons that are combined with a predicate.

use model::isa::alu::{Alu, AluOp};
use model::isa::integer::{IntegerOp, Permutation};
use model::isa::{Instruction, Operand, Reg, Type, TypeKind};
use model::section;

use super::InstructionReader;
use super::alu::{AluForm, PREDICATE, type_named};
use crate::cell::{self, Arg, InstructionCell};
use text::report::ByteSpan;

/// The opcodes that this module reads.
pub(super) const OPCODES: &[&str] = &[
    "neg", "abs", "min", "max", "div", "rem", "sad", "cnot", "popc", "clz", "brev", "bfind", "bfe",
    "bfi", "prmt", "lop3", "shf",
];

/// Arithmetic of PTX that the model does not support.
const OUTSIDE: &str = "this arithmetic";

/// An integer instruction without its operands.
struct IntegerForm {
    op: IntegerOp,
    ty: Type,
    /// The width of the result in bits.
    bits: u16,
    /// The operands that are bit counts or bit positions, independent of the type.
    narrow: &'static [usize],
}

/// The reason for which an instruction has no form.
enum NoShape {
    Outside,
    /// The types that the opcode allows.
    Types(&'static [&'static str]),
}

const BITS: &[&str] = &["b32", "b64"];
const ALL_BITS: &[&str] = &["b16", "b32", "b64"];
const SIGNED: &[&str] = &["s16", "s32", "s64"];
const WIDE: &[&str] = &["u32", "u64", "s32", "s64"];
const INTEGERS: &[&str] = &["u16", "u32", "u64", "s16", "s32", "s64"];

fn shape(parts: &[&str]) -> Result<IntegerForm, NoShape> {
    let (Some(opcode), behind) = (parts.first(), &parts[1..]) else {
        return Err(NoShape::Outside);
    };
    let (modifiers, ty) = match (*opcode, behind) {
        // The mode follows the type.
        ("prmt", [ty, mode @ ..]) => (mode, *ty),
        (_, [modifiers @ .., ty]) => (modifiers, *ty),
        (_, []) => (behind, ""),
    };
    let (types, op): (&[&str], _) = match (*opcode, modifiers) {
        ("neg", []) => (SIGNED, IntegerOp::Neg),
        ("abs", []) => (SIGNED, IntegerOp::Abs),
        ("min", []) => (INTEGERS, IntegerOp::Min),
        ("max", []) => (INTEGERS, IntegerOp::Max),
        ("div", []) => (INTEGERS, IntegerOp::Div),
        ("rem", []) => (INTEGERS, IntegerOp::Rem),
        ("sad", []) => (INTEGERS, IntegerOp::Sad),
        ("cnot", []) => (ALL_BITS, IntegerOp::Cnot),
        ("popc", []) => (BITS, IntegerOp::Popc),
        ("clz", []) => (BITS, IntegerOp::Clz),
        ("brev", []) => (BITS, IntegerOp::Brev),
        ("bfind", []) => (WIDE, IntegerOp::Bfind { shift: false }),
        ("bfind", ["shiftamt"]) => (WIDE, IntegerOp::Bfind { shift: true }),
        ("bfe", []) => (WIDE, IntegerOp::Bfe),
        ("bfi", []) => (BITS, IntegerOp::Bfi),
        ("lop3", []) => (&["b32"], IntegerOp::Lop3(0)),
        ("prmt", []) => (&["b32"], IntegerOp::Prmt(Permutation::Index)),
        ("prmt", [mode]) => match Permutation::named(mode) {
            Some(permutation) => (&["b32"], IntegerOp::Prmt(permutation)),
            None => return Err(NoShape::Outside),
        },
        ("shf", ["l" | "r", "clamp" | "wrap"]) => {
            let (right, wrap) = (modifiers[0] == "r", modifiers[1] == "wrap");
            (&["b32"], IntegerOp::Funnel { right, wrap })
        }
        _ => return Err(NoShape::Outside),
    };
    let float = ["f16", "bf16", "f32", "f64"].iter().any(|prefix| ty.starts_with(prefix));
    if float || ty.ends_with("x2") {
        return Err(NoShape::Outside);
    }
    let Some(of) = type_named(ty).filter(|_| types.contains(&ty)) else {
        return Err(NoShape::Types(types));
    };
    let quotient = matches!(op, IntegerOp::Div | IntegerOp::Rem);
    if quotient && of.kind == TypeKind::Signed {
        return Err(NoShape::Outside);
    }
    let counts = matches!(op, IntegerOp::Popc | IntegerOp::Clz | IntegerOp::Bfind { .. });
    let narrow: &[usize] = if op == IntegerOp::Bfe {
        &[1, 2]
    } else if op == IntegerOp::Bfi {
        &[2, 3]
    } else {
        &[]
    };
    Ok(IntegerForm { op, ty: of, bits: if counts { 32 } else { of.bits }, narrow })
}

impl<'a> InstructionReader<'_> {
    pub(super) fn integer(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        let IntegerForm { mut op, ty, bits, narrow } = match shape(&parts) {
            Ok(shape) => shape,
            Err(NoShape::Outside) => return Some(vec![Self::unsupported(cell, OUTSIDE)]),
            Err(NoShape::Types(types)) => {
                self.no_integer_type(cell, types);
                return None;
            }
        };
        let args = self.args(cell)?;
        let more = usize::from(matches!(op, IntegerOp::Bfi | IntegerOp::Lop3(_)));
        if args.len() != 1 + op.arity() + more {
            let form = ["r0, r1", "r0, r1, r2", "r0, r1, r2, r3", "r0, r1, r2, r3, 8"];
            self.count(cell, &args, form[op.arity() + more - 1]);
            return None;
        }
        let mut operands = Vec::with_capacity(4);
        for (index, arg) in args[1..].iter().enumerate() {
            if !narrow.contains(&index) {
                self.fits(arg, ty);
            }
            operands.push(self.operand(arg)?);
        }
        let mut steps = Vec::new();
        if matches!(op, IntegerOp::Lop3(_)) {
            let Some(Operand::Imm(table @ 0..=255)) = operands.pop() else {
                self.report
                    .error("operand", args[4].at(), "the table of `lop3` is a number of 8 bits")
                    .section(section::of_opcode("lop3"))
                    .help(cell.with_operands("r0, r1, r2, r3, 0x80"));
                return None;
            };
            op = IntegerOp::Lop3(u8::try_from(table).expect("it has 8 bits"));
        } else if op == IntegerOp::Bfi {
            let field = (AluOp::Concat(8), Type::U32, operands.split_off(2));
            let control = self.aside(cell, "%bfi field", 32, &mut steps, field)?;
            operands.push(Operand::Reg(control));
        } else if matches!(op, IntegerOp::Div | IntegerOp::Rem)
            && !matches!(operands[1], Operand::Imm(1..))
        {
            // The document does not define a quotient by 0.
            let why = "a quotient by what may be 0, which the document does not define";
            return Some(vec![Self::unsupported(cell, why)]);
        }
        let op = AluOp::Integer(op);
        let destination = self.alu_destination(&args[0], bits, op, &operands)?;
        steps.push(Instruction::Alu(Alu { op, ty, destination, sources: operands }));
        Some(steps)
    }

    /// Adds a step whose result is in a register that the test does not name.
    fn aside(
        &mut self,
        cell: &InstructionCell<'a>,
        name: &'static str,
        bits: u16,
        steps: &mut Vec<Instruction>,
        (op, ty, sources): (AluOp, Type, Vec<Operand>),
    ) -> Option<Reg> {
        let name = Arg::Name(name, cell.name_at());
        let destination = self.alu_destination(&name, bits, op, &sources)?;
        steps.push(Instruction::Alu(Alu { op, ty, destination, sources }));
        Some(destination)
    }

    fn no_integer_type(&mut self, cell: &InstructionCell<'a>, types: &[&'static str]) {
        let opcode = cell.opcode();
        let names: Vec<String> = types.iter().map(|name| format!("`.{name}`")).collect();
        let last = cell.parts.len() - 1;
        let mut parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        let written = cell.has_type();
        let at = if written { cell.part_at(last) } else { cell.name_at().after() };
        if written {
            parts.pop();
        }
        parts.push(if types.contains(&"b32") {
            "b32"
        } else if types.contains(&"u32") {
            "u32"
        } else {
            "s32"
        });
        self.report
            .error("type-missing", at, format!("the types of `{opcode}` are {}", names.join(", ")))
            .note("expected one of them")
            .section(section::of_opcode(opcode))
            .help(cell.with_parts(&parts));
    }

    /// Whether a `setp` writes two predicates, or combines its comparison with a third one.
    pub(super) fn combines(cell: &InstructionCell<'a>) -> bool {
        matches!(cell.part(2), "and" | "or" | "xor") || cell.operands.text_at(1) == "|"
    }

    /// `setp.ne.and.u32 p|q, a, b, c`: `p` is the comparison combined with `c`, and `q` its
    /// negation combined with `c`.
    pub(super) fn combined(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let comparison = self.comparison(cell)?;
        let mut parts: Vec<&str> = cell.parts.iter().skip(2).map(|part| part.text).collect();
        let combination = match parts.first() {
            Some(&"and") => Some(AluOp::And),
            Some(&"or") => Some(AluOp::Or),
            Some(&"xor") => Some(AluOp::Xor),
            _ => None,
        };
        if combination.is_some() {
            parts.remove(0);
        }
        let ty = match self.alu_form(cell, &parts)? {
            AluForm::Typed(ty) => ty,
            AluForm::Outside(what) => return Some(vec![Self::unsupported(cell, what)]),
            AluForm::Halves => return Some(vec![Self::unsupported(cell, OUTSIDE)]),
        };
        let (destinations, args) = self.two_predicates(cell)?;
        let (a, b, with) = match (&args[..], combination) {
            ([a, b], None) => (a, b, None),
            ([a, b, c], Some(op)) => (a, b, Some((op, self.predicate(c)?))),
            _ => {
                let form = if combination.is_some() { "p|q, r0, r1, s" } else { "p|q, r0, r1" };
                self.count(cell, &args, form);
                return None;
            }
        };
        self.fits(a, ty);
        self.fits(b, ty);
        let compared = vec![self.operand(a)?, self.operand(b)?];
        let mut steps = Vec::new();
        let mut step = |reader: &mut Self, name, op, ty, sources| {
            reader.aside(cell, name, 1, &mut steps, (op, ty, sources)).map(Operand::Reg)
        };
        let holds = step(self, "%setp holds", AluOp::Setp(comparison), ty, compared)?;
        let not = |value| vec![value, Operand::Imm(1)];
        let fails = step(self, "%setp fails", AluOp::Xor, PREDICATE, not(holds))?;
        let (mut first, mut second) = (holds, fails);
        if let Some((op, (third, negated))) = with {
            let mut third = Operand::Reg(third);
            if negated {
                third = step(self, "%setp third", AluOp::Xor, PREDICATE, not(third))?;
            }
            first = step(self, "%setp first", op, PREDICATE, vec![holds, third])?;
            second = step(self, "%setp second", op, PREDICATE, vec![fails, third])?;
        }
        let mut results: Vec<_> = destinations.into_iter().zip([first, second]).collect();
        // Every step reads the guard of the instruction, so the guard is written last.
        let guard = cell.guard.map(|(name, ..)| name.trim_start_matches('%'));
        let is_guard = |name: &str| Some(name.trim_start_matches('%')) == guard;
        results.sort_by_key(|((name, _), _)| is_guard(name));
        for ((name, at), value) in results {
            if name != "_" {
                let destination =
                    self.alu_destination(&Arg::Name(name, at), 1, AluOp::Mov, &[value])?;
                let (op, sources) = (AluOp::Mov, vec![value]);
                steps.push(Instruction::Alu(Alu { op, ty: PREDICATE, destination, sources }));
            }
        }
        Some(steps)
    }

    /// Reads `p|q` or `p`, and the operands that follow.
    #[expect(clippy::type_complexity, reason = "names with their places, and operands")]
    fn two_predicates(
        &mut self,
        cell: &InstructionCell<'a>,
    ) -> Option<(Vec<(&'a str, ByteSpan)>, Vec<Arg<'a>>)> {
        let mut cursor = cell.operands;
        let mut names = Vec::new();
        loop {
            let Some(name) = cursor.word() else {
                cursor.expected("a predicate", self.report);
                return None;
            };
            names.push(name);
            if names.len() == 2 || cursor.eat("|").is_none() {
                break;
            }
        }
        if cursor.eat(",").is_none() {
            cursor.expected("`,`", self.report);
            return None;
        }
        Some((names, cell::args(cursor, self.report)?))
    }
}
