//! Basic arithmetic and comparisons.

use model::isa::alu::{Alu, AluOp, Comparison};
use model::isa::integer::IntegerOp;
use model::isa::{Instruction, Operand, Reg, Type, TypeKind};
use ptx::qualifier::{Dialect, Qualifier};

use super::InstructionReader;
use crate::cell::{Arg, InstructionCell};

/// The type of a predicate: one bit.
pub(super) const PREDICATE: Type = Type { kind: TypeKind::Bits, bits: 1 };

/// The meaning of the parts after the opcode.
pub(super) enum AluForm {
    Typed(Type),
    Outside(&'static str),
}

/// A type of arithmetic, without the dot.
pub(super) fn type_named(name: &str) -> Option<Type> {
    match Qualifier::named(name) {
        Some(Qualifier::Type(ty)) => Some(ty).filter(|ty| {
            use TypeKind::{Bits, Float, Signed, Unsigned};
            matches!(ty.kind, Unsigned | Signed | Bits | Float)
        }),
        _ => None,
    }
}

impl<'a> InstructionReader<'_> {
    pub(super) fn alu(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let opcode = cell.opcode();
        let mut parts: Vec<&str> = cell.parts.iter().skip(1).map(|part| part.text).collect();
        let comparison = if opcode == "setp" { Some(self.comparison(cell)?) } else { None };
        if comparison.is_some() || opcode == "mul" && parts.first() == Some(&"lo") {
            parts.remove(0);
        }
        let ty = match self.alu_form(cell, &parts)? {
            AluForm::Outside(what) => return Some(Self::unsupported(cell, what)),
            AluForm::Typed(ty) => ty,
        };
        let (op, sources) = match (opcode, comparison) {
            (_, Some(comparison)) => (AluOp::Setp(comparison), 2),
            ("mov", _) => (AluOp::Mov, 1),
            ("not", _) => (AluOp::Xor, 1),
            ("add", _) => (AluOp::Add, 2),
            ("sub", _) => (AluOp::Sub, 2),
            ("mul", _) => (AluOp::Mul, 2),
            ("and", _) => (AluOp::And, 2),
            ("or", _) => (AluOp::Or, 2),
            ("xor", _) => (AluOp::Xor, 2),
            ("shl", _) => (AluOp::Shl, 2),
            ("shr", _) => (AluOp::Shr, 2),
            _ => (AluOp::Selp, 3),
        };
        let args = self.args(cell)?;
        if args.len() != sources + 1 {
            let form = match (op, sources) {
                (AluOp::Setp(_), _) => "p, r0, 1",
                (AluOp::Selp, _) => "r0, r1, r2, p",
                (_, 1) => "r0, r1",
                (_, _) => "r0, r1, 1",
            };
            self.count(cell, &args, form);
            return None;
        }
        let mut operands = Vec::with_capacity(3);
        for (index, arg) in args[1..].iter().enumerate() {
            if op == AluOp::Selp && index == 2 {
                let (predicate, negated) = self.predicate(arg)?;
                if negated {
                    operands.swap(0, 1);
                }
                operands.push(Operand::Reg(predicate));
            } else {
                // A shift amount is a bit count, independent of the type.
                let shifts = index == 1 && matches!(op, AluOp::Shl | AluOp::Shr);
                operands.push(match (shifts, ty.bits) {
                    (true, _) => self.sized(arg, Type::U32)?,
                    (false, 1) => self.operand(arg)?,
                    (false, _) => self.sized(arg, ty)?,
                });
            }
        }
        if opcode == "not" {
            operands.push(Operand::Imm(u64::MAX));
        }
        let bits = if comparison.is_some() { 1 } else { ty.bits };
        let destination = self.alu_destination(&args[0], bits, op, &operands)?;
        Some(Instruction::Alu(Alu { op, ty, destination, sources: operands }))
    }

    /// The register of the result. Records whether it holds the address of a variable.
    pub(super) fn alu_destination(
        &mut self,
        arg: &Arg<'a>,
        bits: u16,
        op: AluOp,
        sources: &[Operand],
    ) -> Option<Reg> {
        let Some(register) = self.destination(arg, bits).ok()? else {
            self.report.error("destination", arg.at(), "the result requires a register");
            return None;
        };
        let given = match (op, sources) {
            (AluOp::Mov, [Operand::Address(variable)]) => Some(*variable),
            _ => None,
        };
        self.draft.thread(self.thread).draft(register).given(given);
        Some(register)
    }

    /// The type, given the parts after the opcode and after `.lo` or the comparison.
    pub(super) fn alu_form(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &[&str],
    ) -> Option<AluForm> {
        let opcode = cell.opcode();
        let integer =
            |name: &str| type_named(name).filter(|ty| ty.kind != TypeKind::Float && ty.bits <= 64);
        let logic = matches!(opcode, "mov" | "and" | "or" | "xor" | "not");
        let float = |name: &str| {
            ["f16", "bf16", "f32", "f64", "b128"].iter().any(|prefix| name.starts_with(prefix))
        };
        match parts {
            [] if self.draft.dialect == Dialect::Peer => Some(AluForm::Typed(Type::U64)),
            ["pred"] if logic => Some(AluForm::Typed(PREDICATE)),
            [name] if opcode == "mov" && matches!(*name, "f32" | "f64" | "b128") => {
                type_named(name).map(AluForm::Typed)
            }
            [name] if opcode == "selp" && matches!(*name, "f32" | "f64") => {
                type_named(name).map(AluForm::Typed)
            }
            [name] if integer(name).is_some() => {
                let ty = integer(name)?;
                if ty.bits == 8 {
                    return self.no_type(cell);
                }
                Some(AluForm::Typed(ty))
            }
            ["hi" | "wide" | "cc" | "sat" | "ftz" | "rn" | "rz" | "rm" | "rp", ..] => {
                Some(AluForm::Outside("this arithmetic"))
            }
            [.., name] if float(name) || name.ends_with("x2") => {
                Some(AluForm::Outside("floating-point arithmetic"))
            }
            _ => self.no_type(cell),
        }
    }

    fn no_type(&mut self, cell: &InstructionCell<'a>) -> Option<AluForm> {
        let opcode = cell.opcode();
        let ty = if matches!(opcode, "and" | "or" | "xor" | "not" | "shl") { "b32" } else { "u32" };
        let mut parts: Vec<&str> = vec![opcode];
        match (opcode, cell.part(1)) {
            ("mul" | "mad", _) => parts.push("lo"),
            ("setp", comparison) => parts.push(comparison),
            _ => {}
        }
        parts.push(ty);
        let kept = parts.len() - 1;
        let (at, note) = if cell.parts.len() > kept {
            (cell.part_at(kept).to(cell.name_at()), "expected a type")
        } else {
            (cell.name_at().after(), "expected a type")
        };
        self.report
            .error("type-missing", at, format!("`{opcode}` requires a type of 16, 32 or 64 bits"))
            .note(note)
            .help(cell.with_parts(&parts));
        None
    }

    pub(super) fn comparison(&mut self, cell: &InstructionCell<'a>) -> Option<Comparison> {
        const COMPARISONS: [(&str, Comparison); 10] = [
            ("eq", Comparison::Eq),
            ("ne", Comparison::Ne),
            ("lt", Comparison::Lt),
            ("le", Comparison::Le),
            ("gt", Comparison::Gt),
            ("ge", Comparison::Ge),
            ("lo", Comparison::Lt),
            ("ls", Comparison::Le),
            ("hi", Comparison::Gt),
            ("hs", Comparison::Ge),
        ];
        let name = cell.part(1);
        let found = COMPARISONS.iter().find(|(known, _)| *known == name);
        if found.is_none() {
            let known = COMPARISONS.iter().map(|(known, _)| *known);
            let near = self.report.nearest(name, known).unwrap_or("eq");
            let help = cell.with_parts(&["setp", near, "u32"]);
            self.report
                .error("comparison", cell.part_at(1), "`setp` requires a comparison")
                .note("`eq`, `ne`, `lt`, `le`, `gt` or `ge`")
                .section(model::section::SETP)
                .help(help);
        }
        found.map(|(_, comparison)| *comparison)
    }

    /// `mad` is a product in an auxiliary register, then a sum. The operands of `.wide` have half the width of
    /// its result.
    pub(super) fn mad(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let (wide, op) = match cell.part(1) {
            "lo" => (false, AluOp::Mul),
            "hi" => (false, AluOp::Integer(IntegerOp::MulHi)),
            "wide" => (true, AluOp::Mul),
            _ => return Some(vec![Self::unsupported(cell, "this arithmetic")]),
        };
        let sums = cell.opcode() == "mad";
        let parts: Vec<&str> = cell.parts.iter().skip(2).map(|part| part.text).collect();
        let ty = match self.alu_form(cell, &parts)? {
            AluForm::Typed(ty) if op == AluOp::Mul && !wide => ty,
            // A high half or a wide product depends on the sign, and its width is limited.
            AluForm::Typed(ty)
                if matches!(ty.kind, TypeKind::Signed | TypeKind::Unsigned)
                    && ty.bits <= if wide { 32 } else { 64 } =>
            {
                ty
            }
            AluForm::Typed(_) | AluForm::Outside(_) => {
                return Some(vec![Self::unsupported(cell, "this arithmetic")]);
            }
        };
        let args = self.args(cell)?;
        let (destination, a, b, c) = match &args[..] {
            [destination, a, b, c] if sums => (destination, a, b, Some(c)),
            [destination, a, b] if !sums => (destination, a, b, None),
            _ => {
                self.count(cell, &args, if sums { "r0, r1, r2, r3" } else { "r0, r1, r2" });
                return None;
            }
        };
        let mut steps = Vec::new();
        let mut factors = vec![self.sized(a, ty)?, self.sized(b, ty)?];
        let result = if wide { Type { bits: 2 * ty.bits, ..ty } } else { ty };
        if wide {
            for (factor, name) in factors.iter_mut().zip(["%mad factor", "%mad other factor"]) {
                let aside = Arg::Name(name, cell.name_at());
                let aside = self.alu_destination(&aside, result.bits, AluOp::Mul, &[*factor])?;
                let sources = vec![std::mem::replace(factor, Operand::Reg(aside))];
                let copied = Alu { op: AluOp::Mov, ty, destination: aside, sources };
                steps.push(Instruction::Alu(copied));
            }
        }
        let addend = match c {
            Some(c) => Some(self.sized(c, result)?),
            None => None,
        };
        let aside = Arg::Name("%mad product", cell.name_at());
        let product = if addend.is_some() { &aside } else { destination };
        let product = self.alu_destination(product, result.bits, op, &factors)?;
        steps.push(Instruction::Alu(Alu {
            op,
            ty: result,
            destination: product,
            sources: factors,
        }));
        if let Some(addend) = addend {
            let op = AluOp::Add;
            let sources = vec![Operand::Reg(product), addend];
            let destination = self.alu_destination(destination, result.bits, op, &sources)?;
            steps.push(Instruction::Alu(Alu { op, ty: result, destination, sources }));
        }
        Some(steps)
    }
}
