//! Conversions of values: `cvt`, `mov` with vectors, `cvta` and `isspacep`.

use model::isa::alu::{Alu, AluOp};
use model::isa::cvta::{AddressOp, Cvta};
use model::isa::float::Rounding;
use model::isa::{Instruction, Operand, SpaceQualifier, Type, TypeKind};
use model::section;
use ptx::qualifier::Qualifier;

use super::InstructionReader;
use super::alu::type_named;
use crate::cell::{Arg, InstructionCell};
use text::lex::Token;

/// The rounding modifiers, for floats and for integers.
const ROUNDINGS: [(&str, Rounding, bool); 8] = [
    ("rn", Rounding::Nearest, false),
    ("rz", Rounding::Zero, false),
    ("rm", Rounding::Down, false),
    ("rp", Rounding::Up, false),
    ("rni", Rounding::Nearest, true),
    ("rzi", Rounding::Zero, true),
    ("rmi", Rounding::Down, true),
    ("rpi", Rounding::Up, true),
];

impl<'a> InstructionReader<'_> {
    /// `cvt.rounding.to.from`.
    pub(super) fn convert(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let parts: Vec<&str> = cell.parts.iter().skip(1).map(|part| part.text).collect();
        let rounding = |name: &str| ROUNDINGS.iter().find(|(known, ..)| *known == name);
        let (rounding, rest) = match &parts[..] {
            [first, rest @ ..] if rounding(first).is_some() => (rounding(first), rest),
            all => (None, all),
        };
        let (to, from) = match rest {
            [to, from] => match (type_named(to), type_named(from)) {
                (Some(to), Some(from)) if to.bits <= 64 && from.bits <= 64 => (to, from),
                _ => return Some(vec![Self::unsupported(cell, OTHER)]),
            },
            _ => return Some(vec![Self::unsupported(cell, OTHER)]),
        };
        let float = |ty: Type| ty.kind == TypeKind::Float;
        if float(to) && float(from) && to.bits == from.bits {
            return Some(vec![Self::unsupported(cell, OTHER)]);
        }
        // A conversion that loses precision requires a rounding modifier: to a float or to an integer.
        let wanted = match (float(to), float(from)) {
            (true, true) => (to.bits < from.bits).then_some("rn"),
            (true, false) => Some("rn"),
            (false, true) => Some("rzi"),
            (false, false) => None,
        };
        let fits = match (wanted, rounding) {
            (None, None) => true,
            (Some(wanted), Some((_, _, whole))) => *whole == (wanted == "rzi"),
            (None, Some(_)) | (Some(_), None) => false,
        };
        if !fits {
            let mut fixed = vec![cell.opcode()];
            fixed.extend(wanted);
            fixed.extend(rest);
            self.report
                .error("cvt-rounding", cell.part_at(1), "wrong rounding for this conversion")
                .note(match wanted {
                    Some(wanted) => format!("expected `.{wanted}`, or another direction"),
                    None => "this conversion does not round".to_owned(),
                })
                .section(section::DATA_MOVEMENT)
                .help(cell.with_parts(&fixed));
            return None;
        }
        let args = self.args(cell)?;
        let [destination, source] = &args[..] else {
            self.count(cell, &args, "r0, r1");
            return None;
        };
        let source = self.operand(source)?;
        let op = match rounding {
            Some((_, rounding, _)) => AluOp::Convert(to, *rounding),
            None if float(from) => AluOp::Convert(to, Rounding::Nearest),
            None => AluOp::Mov,
        };
        let register = self.alu_destination(destination, to.bits, AluOp::Mov, &[source])?;
        let step = |op, ty, source| {
            let sources = vec![source];
            Instruction::Alu(Alu { op, ty, destination: register, sources })
        };
        if op != AluOp::Mov || float(to) {
            return Some(vec![step(op, from, source)]);
        }
        if to.bits <= from.bits {
            return Some(vec![step(AluOp::Mov, to, source)]);
        }
        let mut steps = vec![step(AluOp::Mov, from, source)];
        // A sign is extended only to the width of the destination type.
        if from.kind == TypeKind::Signed && to.kind != TypeKind::Signed {
            steps.push(step(AluOp::Mov, to, Operand::Reg(register)));
        }
        Some(steps)
    }

    /// Whether a `mov` has a vector, and so packs or unpacks.
    pub(super) fn moves_vector(cell: &InstructionCell<'a>) -> bool {
        let brace = |token: &Token| token.is(cell.operands.text, "{");
        cell.opcode() == "mov" && cell.operands.rest().iter().any(brace)
    }

    pub(super) fn vector_move(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let args = self.args(cell)?;
        let ty = match (cell.parts.len(), type_named(cell.part(1))) {
            (2, Some(ty)) if ty.kind == TypeKind::Bits && ty.bits > 8 => ty,
            _ => {
                self.report
                    .error("vector", cell.part_at(1), "packing elements requires a type of bits")
                    .note("expected `.b16`, `.b32`, `.b64` or `.b128`")
                    .section(section::MOV)
                    .help(cell.with_parts(&["mov", "b64"]));
                return None;
            }
        };
        match &args[..] {
            [to, Arg::Vector(elements, at)] if !matches!(to, Arg::Vector(..)) => {
                let width = self.element_bits(ty, elements.len(), *at)?;
                self.pack(cell, to, elements, width)
            }
            [Arg::Vector(elements, at), from] if !matches!(from, Arg::Vector(..)) => {
                let width = self.element_bits(ty, elements.len(), *at)?;
                self.unpack(cell, elements, from, width)
            }
            _ => {
                self.count(cell, &args, "r0, {r1, r2}");
                None
            }
        }
    }

    /// The width of each of `count` elements of a type.
    fn element_bits(&mut self, ty: Type, count: usize, at: text::report::ByteSpan) -> Option<u8> {
        let bits = u16::try_from(count).ok().filter(|&n| n == 2 || n == 4).map(|n| ty.bits / n);
        let width = bits.filter(|bits| *bits >= 8).and_then(|bits| u8::try_from(bits).ok());
        if width.is_none() {
            self.report
                .error("vector", at, format!("{count} elements do not fit into {} bits", ty.bits))
                .note("expected 2 or 4 elements, of 8 bits at least")
                .section(section::MOV);
        }
        width
    }

    fn pack(
        &mut self,
        cell: &InstructionCell<'a>,
        to: &Arg<'a>,
        elements: &[Arg<'a>],
        width: u8,
    ) -> Option<Vec<Instruction>> {
        let mut steps = Vec::new();
        let mut low = self.operand(&elements[0])?;
        for (index, element) in (1u8..).zip(&elements[1..]) {
            let sources = vec![low, self.operand(element)?];
            let ty = bits(u16::from(width) * u16::from(index + 1));
            let op = AluOp::Concat(width * index);
            // The lower elements are in an auxiliary register, because the destination may be one of the later
            // elements.
            let last = usize::from(index) + 1 == elements.len();
            let aside = Arg::Name("%mov packed", cell.name_at());
            let name = if last { to } else { &aside };
            let destination = self.alu_destination(name, ty.bits, op, &sources)?;
            steps.push(Instruction::Alu(Alu { op, ty, destination, sources }));
            low = Operand::Reg(destination);
        }
        Some(steps)
    }

    fn unpack(
        &mut self,
        cell: &InstructionCell<'a>,
        elements: &[Arg<'a>],
        from: &Arg<'a>,
        width: u8,
    ) -> Option<Vec<Instruction>> {
        let source = self.operand(from)?;
        let whole = bits(128);
        // The source is copied first, because an element may overwrite it.
        let aside = Arg::Name("%mov unpacked", cell.name_at());
        let aside = self.alu_destination(&aside, whole.bits, AluOp::Mov, &[source])?;
        let sources = vec![source];
        let mut steps =
            vec![Instruction::Alu(Alu { op: AluOp::Mov, ty: whole, destination: aside, sources })];
        for (index, element) in (0u8..).zip(elements) {
            if matches!(element, Arg::Name("_", _)) {
                continue;
            }
            let (op, ty) = (AluOp::Extract(width * index), bits(width.into()));
            let sources = vec![Operand::Reg(aside)];
            let destination = self.alu_destination(element, ty.bits, op, &sources)?;
            steps.push(Instruction::Alu(Alu { op, ty, destination, sources }));
        }
        Some(steps)
    }

    /// `cvta.space.size`, `cvta.to.space.size` and `isspacep.space`.
    pub(super) fn cvta(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let asks = cell.opcode() == "isspacep";
        let to = !asks && cell.part(1) == "to";
        let at = 1 + usize::from(to);
        let named = |name: &str| match Qualifier::named(name) {
            Some(Qualifier::Space(space)) => Some(space),
            _ => None,
        };
        let space = named(cell.part(at)).filter(|space| *space != SpaceQualifier::ParamFunc);
        let ty = match cell.part(at + 1) {
            "" if asks => Some(Type::U64),
            "u32" if !asks => Some(Type::U32),
            "u64" if !asks => Some(Type::U64),
            _ => None,
        };
        let (Some(space), Some(ty)) = (space, ty.filter(|_| cell.parts.len() <= at + 2)) else {
            let mut parts = vec![cell.opcode()];
            parts.extend(to.then_some("to"));
            parts.push("shared");
            parts.extend((!asks).then_some("u64"));
            self.report
                .error("cvta", cell.name_at(), "an address conversion requires a state space")
                .note(if asks {
                    "expected a state space"
                } else {
                    "expected a state space and `.u64`"
                })
                .section(section::GENERIC_ADDRESSING)
                .help(cell.with_parts(&parts));
            return None;
        };
        let args = self.args(cell)?;
        let [destination, source] = &args[..] else {
            self.count(cell, &args, if asks { "p, r0" } else { "r0, r1" });
            return None;
        };
        let source = self.operand(source)?;
        let op = match (asks, to) {
            (true, _) => AddressOp::IsIn,
            (false, true) => AddressOp::FromGeneric,
            (false, false) => AddressOp::ToGeneric,
        };
        let width = if asks { 1 } else { ty.bits };
        let known = if asks { AluOp::Extract(0) } else { AluOp::Mov };
        let destination = self.alu_destination(destination, width, known, &[source])?;
        Some(Instruction::Cvta(Cvta { op, space, ty, destination, source }))
    }
}

const OTHER: &str = "this conversion is not modelled";

fn bits(bits: u16) -> Type {
    Type { kind: TypeKind::Bits, bits }
}
