//! Integer arithmetic beyond sums, products and logic.

use model::isa::alu::{Alu, AluOp};
use model::isa::integer::{IntegerOp, Permutation};
use model::isa::{Instruction, Operand, Type};
use model::section;

use super::InstructionReader;
use super::alu::type_named;
use crate::cell::{Arg, InstructionCell};

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
    let (Some(opcode), after) = (parts.first(), &parts[1..]) else {
        return Err(NoShape::Outside);
    };
    let (modifiers, ty) = match (*opcode, after) {
        // The mode follows the type.
        ("prmt", [ty, mode @ ..]) => (mode, *ty),
        (_, [modifiers @ .., ty]) => (modifiers, *ty),
        (_, []) => (after, ""),
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
            let ty = if narrow.contains(&index) { Type::U32 } else { ty };
            operands.push(self.sized(arg, ty)?);
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
            let (op, ty, sources) = (AluOp::Concat(8), Type::U32, operands.split_off(2));
            let field = Arg::Name("%bfi field", cell.name_at());
            let destination = self.alu_destination(&field, 32, op, &sources)?;
            steps.push(Instruction::Alu(Alu { op, ty, destination, sources }));
            operands.push(Operand::Reg(destination));
        } else if matches!(op, IntegerOp::Div | IntegerOp::Rem)
            && !self.draft.rounds_freely
            && matches!(operands[1], Operand::Imm(0))
        {
            let why = "a quotient by 0, which the document does not define";
            return Some(vec![Self::unsupported(cell, why)]);
        }
        let op = AluOp::Integer(op);
        let destination = self.alu_destination(&args[0], bits, op, &operands)?;
        steps.push(Instruction::Alu(Alu { op, ty, destination, sources: operands }));
        Some(steps)
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
}
