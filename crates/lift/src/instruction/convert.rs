//! Conversions of values: `cvt`, `mov` with vectors, `cvta` and `isspacep`.

use model::isa::alu::{Alu, AluOp};
use model::isa::cvta::{AddressOp, Cvta};
use model::isa::float::{FloatOp, Rounding};
use model::isa::integer::IntegerOp;
use model::isa::{Instruction, Operand, SpaceQualifier, Type, TypeKind};
use model::section;
use ptx::qualifier::Qualifier;

use super::InstructionReader;
use super::alu::type_named;
use super::float;
use super::plan::{Operations, PlannedValue};
use crate::cell::{Arg, InstructionCell};

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

impl Operations {
    /// The number of type `to` that is nearest to an integer of type `from`, which has 64 bits.
    pub(super) fn nearest(
        &mut self,
        to: Type,
        from: Type,
        mut value: PlannedValue,
    ) -> PlannedValue {
        let signed = |ty: Type| ty.kind == TypeKind::Signed;
        let most = u64::MAX >> (64 - to.bits + u16::from(signed(to)));
        let least = if signed(to) { !most } else { 0 };
        let integer = |op| AluOp::Integer(op);
        if signed(from) {
            value = self.step(integer(IntegerOp::Max), from, &[value, PlannedValue::number(least)]);
        }
        // Every number of a signed type is at most the largest one of 64 bits without a sign.
        if !(signed(from) && most == u64::MAX) {
            value = self.step(integer(IntegerOp::Min), from, &[value, PlannedValue::number(most)]);
        }
        self.step(AluOp::Mov, to, &[value])
    }

    /// A conversion from or to a float that is not a pair. `limits` are `.sat` and `.relu`.
    fn converted(
        &mut self,
        to: Type,
        from: Type,
        rounding: (Rounding, bool),
        saturates: bool,
        rectifies: bool,
        source: PlannedValue,
    ) -> Option<PlannedValue> {
        let (rounding, whole) = rounding;
        let brain = |ty: Type| ty.kind == TypeKind::BFloat;
        // A `.bf16` is rounded from an `.f32`, so its source must fit there.
        let fits = match from.kind {
            TypeKind::Float => from.bits <= 32,
            TypeKind::BFloat => true,
            TypeKind::Unsigned
            | TypeKind::Signed
            | TypeKind::Bits
            | TypeKind::FloatPair
            | TypeKind::BFloatPair => from.bits <= 16,
        };
        if brain(to) && !fits {
            return None;
        }
        let source = self.widened(from, source);
        let computed = |ty| if brain(ty) { Type::F32 } else { ty };
        let (middle, from_single) = (computed(to), computed(from));
        let mut value = if to == from && whole {
            self.step(AluOp::Float(FloatOp::Whole(rounding)), middle, &[source])
        } else if middle == from_single {
            source
        } else {
            self.step(AluOp::Convert(middle, rounding), from_single, &[source])
        };
        if saturates && to.kind == TypeKind::Float {
            value = self.saturated(middle, value);
        }
        if rectifies {
            value = self.rectified(middle, value);
        }
        if brain(to) {
            value = self.step(AluOp::Float(FloatOp::ToBf16(rounding)), Type::F32, &[value]);
        }
        Some(value)
    }
}

impl<'a> InstructionReader<'_> {
    /// `cvt.rounding.to.from`.
    pub(super) fn convert(&mut self, cell: &InstructionCell<'a>) -> Option<Vec<Instruction>> {
        let parts: Vec<&str> = cell.parts.iter().skip(1).map(|part| part.text).collect();
        let [modifiers @ .., to, from] = &parts[..] else {
            return Some(vec![Self::unsupported(cell, OTHER)]);
        };
        let named = |name: &str| float::float_named(name).or_else(|| type_named(name));
        let (to, from) = match (named(to), named(from)) {
            (Some(to), Some(from)) if to.bits <= 64 && from.bits <= 64 && !float::is_pair(from) => {
                (to, from)
            }
            _ => return Some(vec![Self::unsupported(cell, OTHER)]),
        };
        let (mut rounding, mut saturates, mut rectifies) = (None, false, false);
        for (index, modifier) in modifiers.iter().enumerate() {
            let found = ROUNDINGS.iter().find(|(known, ..)| known == modifier);
            match *modifier {
                "ftz" => {}
                "sat" => saturates = true,
                "relu" => rectifies = true,
                _ if found.is_some() && index == 0 => rounding = found,
                _ => return Some(vec![Self::unsupported(cell, OTHER)]),
            }
        }
        let float = |ty: Type| matches!(ty.kind, TypeKind::Float | TypeKind::BFloat);
        let pair = float::is_pair(to);
        if (pair || rectifies && float(to)) && from != Type::F32 || rectifies && !pair && !float(to)
        {
            return Some(vec![Self::unsupported(cell, OTHER)]);
        }
        // A conversion that loses precision requires a rounding modifier: to a float or to an integer.
        let wanted = match (float(to) || pair, float(from)) {
            (true, true) if to == from => rounding.map(|_| "rni"),
            (true, true) => (to.bits <= from.bits).then_some("rn"),
            (true, false) => Some("rn"),
            (false, true) => Some("rzi"),
            (false, false) => None,
        };
        let fits = match (wanted, rounding) {
            (None, None) => true,
            (Some(wanted), Some((_, _, whole))) => *whole == wanted.ends_with('i'),
            (None, Some(_)) | (Some(_), None) => false,
        };
        if !fits {
            let mut fixed = vec![cell.opcode()];
            fixed.extend(wanted);
            let known = |part: &&&str| !ROUNDINGS.iter().any(|(known, ..)| known == *part);
            fixed.extend(parts.iter().filter(known));
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
        if args.len() != if pair { 3 } else { 2 } {
            self.count(cell, &args, if pair { "r0, r1, r2" } else { "r0, r1" });
            return None;
        }
        let mut sources = Vec::with_capacity(2);
        for arg in &args[1..] {
            sources.push(PlannedValue::Given(self.sized(arg, from)?));
        }
        let direction =
            rounding.map_or((Rounding::Nearest, false), |(_, rounding, whole)| (*rounding, *whole));
        if !float(to) && !pair && !float(from) {
            return if saturates {
                self.clamped(cell, to, from, &args[0], sources[0])
            } else {
                self.resized(cell, to, from, &args[0], sources[0])
            };
        }
        let mut plan = Operations::default();
        let result = if pair {
            let kind =
                if to.kind == TypeKind::FloatPair { TypeKind::Float } else { TypeKind::BFloat };
            let one = Type { kind, bits: 16 };
            let [high, low] = [0, 1].map(|index| {
                plan.converted(one, from, direction, saturates, rectifies, sources[index])
            });
            high.zip(low).map(|(high, low)| plan.pair(low, high))
        } else {
            plan.converted(to, from, direction, saturates, rectifies, sources[0])
        };
        let Some(result) = result else { return Some(vec![Self::unsupported(cell, OTHER)]) };
        self.carry_out(cell, &plan, &[(args[0].clone(), result, to.bits)])
    }

    /// A conversion between integers.
    fn resized(
        &mut self,
        cell: &InstructionCell<'a>,
        to: Type,
        from: Type,
        destination: &Arg<'a>,
        source: PlannedValue,
    ) -> Option<Vec<Instruction>> {
        let mut plan = Operations::default();
        if to.bits <= from.bits {
            let result = plan.step(AluOp::Mov, to, &[source]);
            return self.carry_out(cell, &plan, &[(destination.clone(), result, to.bits)]);
        }
        let mut result = plan.wide(to.bits, AluOp::Mov, from, &[source]);
        // A sign is extended only to the width of the destination type.
        if from.kind == TypeKind::Signed && to.kind != TypeKind::Signed {
            result = plan.step(AluOp::Mov, to, &[result]);
        }
        self.carry_out(cell, &plan, &[(destination.clone(), result, to.bits)])
    }

    /// A conversion between integers whose result is the nearest number of the type.
    fn clamped(
        &mut self,
        cell: &InstructionCell<'a>,
        to: Type,
        from: Type,
        destination: &Arg<'a>,
        source: PlannedValue,
    ) -> Option<Vec<Instruction>> {
        let mut plan = Operations::default();
        let value = plan.wide(64, AluOp::Mov, from, &[source]);
        let result = plan.nearest(to, Type { bits: 64, ..from }, value);
        self.carry_out(cell, &plan, &[(destination.clone(), result, to.bits)])
    }

    /// Whether a `mov` has a vector, and so packs or unpacks.
    pub(super) fn moves_vector(cell: &InstructionCell<'a>) -> bool {
        cell.opcode() == "mov" && cell.has_vector()
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
        let mut low = self.sized(&elements[0], bits(width.into()))?;
        for (index, element) in (1u8..).zip(&elements[1..]) {
            let sources = vec![low, self.sized(element, bits(width.into()))?];
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

impl<'a> InstructionReader<'_> {
    /// `mapa{.shared::cluster}.u32 d, a, rank` and `getctarank{.shared::cluster}.u32 d, a`.
    pub(super) fn of_cluster(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        if !self.is_written_as_produced(cell, &parts) {
            return None;
        }
        let maps = cell.opcode() == "mapa";
        let shared = parts.get(1) == Some(&"shared::cluster");
        let ty = match parts[if shared { 2 } else { 1 }..] {
            ["u32"] => Type::U32,
            ["u64"] => Type::U64,
            _ => {
                let form = format!("{}.shared::cluster.u32", cell.opcode());
                self.report
                    .error("form", cell.name_at(), "`.u32` or `.u64` is missing")
                    .section(section::of_opcode(cell.opcode()))
                    .help(format!("{form} {}", cell.operand_text()));
                return None;
            }
        };
        let args = self.args(cell)?;
        let (destination, source, op) = match &args[..] {
            [destination, source, rank] if maps => {
                (destination, source, AddressOp::InCta { rank: self.sized(rank, Type::U32)? })
            }
            [destination, source] if !maps => (destination, source, AddressOp::RankOf),
            _ => {
                self.count(cell, &args, if maps { "r0, r1, 1" } else { "r0, r1" });
                return None;
            }
        };
        if let Arg::Name(name, at) = *source
            && self.draft.known_variable(name).is_none()
        {
            // The register must hold an address.
            self.register_address(cell, name, at);
        }
        let source = self.operand(source)?;
        let bits = if maps { ty.bits } else { 32 };
        let Some(destination) = self.plain_destination(destination, bits).ok()? else {
            self.report.error("destination", args[0].at(), "the result requires a register");
            return None;
        };
        let space = if shared { SpaceQualifier::SharedCluster } else { SpaceQualifier::Generic };
        Some(Instruction::Cvta(Cvta { op, space, ty, destination, source }))
    }
}

const OTHER: &str = "this conversion is not modelled";

fn bits(bits: u16) -> Type {
    Type { kind: TypeKind::Bits, bits }
}
