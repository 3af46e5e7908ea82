//! Loads, stores and atomics of a column.

use machine::form::{AccessLevel, LoweredInstruction, MachineOp};
use model::isa::alu::{AluOp, Comparison};
use model::isa::atom::{Atomic, AtomicOp, AtomicOrder};
use model::isa::cvta::{AddressOp, Cvta};
use model::isa::cxx::Cxx;
use model::isa::ld::{Load, LoadOrder};
use model::isa::reach::AllowedSpaces;
use model::isa::st::{Store, StoreOrder};
use model::isa::{Instruction, Operand, Reg, SpaceQualifier, Type, TypeKind};
use model::memory::Proxy;
use model::scope::Scope;

use super::address::AccessTarget;
use super::{ColumnReader, SupportResult, unsupported};
use crate::draft::DraftAccess;
use sass::form;
use sass::promise;
use sass::syntax::{self, Register};
use text::report::ByteSpan;

const B128: Type = Type { kind: TypeKind::Bits, bits: 128 };
const B256: Type = Type { kind: TypeKind::Bits, bits: 256 };

const NO_REGISTER: &str = "no register of the value";

fn signed(bits: u16) -> Type {
    Type { kind: TypeKind::Signed, bits }
}

fn unsigned(bits: u16) -> Type {
    Type { kind: TypeKind::Unsigned, bits }
}

/// The type of a load or store.
pub(crate) fn size(instruction: &syntax::Instruction<'_>) -> Type {
    let sizes = [
        ("U8", unsigned(8)),
        ("S8", signed(8)),
        ("U16", unsigned(16)),
        ("S16", signed(16)),
        ("64", unsigned(64)),
        ("128", B128),
        ("256", B256),
    ];
    let found = sizes.into_iter().find(|(name, _)| instruction.has(name));
    found.map_or(Type::U32, |(_, ty)| ty)
}

/// The state space that an opcode names.
pub(crate) fn space(opcode: &str) -> SpaceQualifier {
    match opcode {
        "LD" | "ST" | "ATOM" | "RED" => SpaceQualifier::Generic,
        "LDS" | "STS" | "ATOMS" | "REDS" | "LDSM" => SpaceQualifier::SharedCta,
        "LDL" | "STL" => SpaceQualifier::Local,
        _ => SpaceQualifier::Global,
    }
}

/// An access of elements of a type.
#[derive(Clone, Copy)]
pub(super) struct ElementAccess<'o, 't> {
    pub(super) space: SpaceQualifier,
    pub(super) ty: Type,
    pub(super) place: &'o AccessTarget,
    /// The operand that errors point to.
    pub(super) operand: &'o syntax::Operand<'t>,
    pub(super) level: AccessLevel,
}

impl ColumnReader<'_> {
    fn level(&self, instruction: &syntax::Instruction<'_>) -> SupportResult<AccessLevel> {
        match form::of(instruction, Some(self.family)) {
            Ok(Some(MachineOp::Access(level))) => Ok(level),
            _ => unsupported("the machine does not model it"),
        }
    }

    /// The scope of a load or store. Local memory has none, since it belongs to the thread.
    fn promised(instruction: &syntax::Instruction<'_>, level: AccessLevel) -> Option<Scope> {
        let own = matches!(instruction.opcode.text, "LDL" | "STL");
        promise::scope_of_access(level, |one| instruction.has(one)).filter(|_| !own)
    }

    pub(super) fn load(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        if self.given_constant(instruction)? {
            return Ok(());
        }
        let level = self.level(instruction)?;
        let operands = &instruction.operands;
        let Some(place) = operands.iter().position(|one| one.indexed().is_some()) else {
            return unsupported("a name without operands");
        };
        if instruction.has("256") {
            return self.load_groups(instruction, level, place);
        }
        if place + 1 != operands.len() {
            return unsupported("a predicate that is read");
        }
        let (status, to) = match &operands[..place] {
            [to] => (None, to),
            [status, to] if status.register().is_some_and(|r| r.file.is_of_predicates()) => {
                (self.destination(status)?, to)
            }
            _ => return unsupported("two results"),
        };
        let Some(first) = to.register() else { return unsupported(NO_REGISTER) };
        let ty = size(instruction);
        let (space, found) = if instruction.opcode.text == "LDC" {
            self.bank(&operands[place])?
        } else {
            let space = space(instruction.opcode.text);
            (space, self.address(instruction, &operands[place], ty.bytes(), space)?)
        };
        if self.is_sparse(&found)? {
            self.nothing(first, ty, to);
        } else {
            let access = ElementAccess { space, ty, place: &found, operand: to, level };
            self.loaded(instruction, first, &access);
        }
        if let Some(status) = status {
            let there = u64::from(self.is_sparse(&found)?);
            self.alu(AluOp::Mov, super::BIT, status, &[Operand::Imm(there)]);
        }
        Ok(())
    }

    /// `LDG.E.ENL2.256 R8, R4, [R2.64], 0xe5`: 32 bytes, the upper half to the first registers. A mask names the
    /// groups of 4 bytes that are loaded, to registers that follow one another.
    fn load_groups(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        level: AccessLevel,
        place: usize,
    ) -> SupportResult<()> {
        let operands = &instruction.operands;
        let ([upper, lower], Some(masks)) = (&operands[..place], instruction.halves()) else {
            return unsupported("a load of this form");
        };
        let space = space(instruction.opcode.text);
        let found = self.address(instruction, &operands[place], B256.bytes(), space)?;
        if self.is_sparse(&found)? {
            return unsupported("256 bits of a sparse page");
        }
        let mut registers = [None; 8];
        for (mask, first) in masks.into_iter().zip([upper, lower]) {
            let Some(register) = first.register() else { return unsupported(NO_REGISTER) };
            let lanes = (0..8_usize).filter(|lane| mask >> lane & 1 == 1);
            for (ahead, lane) in (0_u16..).zip(lanes) {
                registers[lane] = self.ahead(register, ahead, first.at);
            }
        }
        // Elements of 64 bits, or as the source has them.
        let whole = registers.iter().all(Option::is_some) && self.element(B256) == 64;
        let (ty, destinations) = if whole {
            let hidden: Vec<Option<Reg>> = (0..4).map(|_| Some(self.hidden(64))).collect();
            (Type::U64, hidden)
        } else {
            (Type::U32, registers.to_vec())
        };
        let operand = &operands[place];
        let access = ElementAccess { space, ty, place: &found, operand, level };
        self.issue(instruction, &access, destinations.clone());
        if whole {
            for (index, half) in registers.into_iter().flatten().enumerate() {
                let from = destinations[index / 2].map_or(Operand::Imm(0), Operand::Reg);
                let bit = if index % 2 == 0 { 0 } else { 32 };
                self.alu(AluOp::Extract(bit), Type::U32, half, &[from]);
            }
        }
        Ok(())
    }

    /// Emits a load of as many elements of the type as there are destinations.
    pub(super) fn issue(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        access: &ElementAccess<'_, '_>,
        destinations: Vec<Option<Reg>>,
    ) {
        let ElementAccess { space, ty, place, level, .. } = *access;
        let order = match (level, Self::promised(instruction, level)) {
            (AccessLevel::ReadOnly, _) if space == SpaceQualifier::Global => LoadOrder::NonCoherent,
            (_, _) if instruction.has("MMIO") => LoadOrder::MmioRelaxed,
            (_, Some(scope)) => LoadOrder::Relaxed(scope),
            (_, None) => LoadOrder::Weak,
        };
        let elements = destinations.len();
        let load = Load {
            cxx: Cxx::default(),
            order,
            space,
            proxy: Proxy::Generic,
            ty,
            prefetches: false,
            global_only: false,
            destinations,
            address: place.address,
        };
        self.noted(access, elements, load.reach());
        self.emit(Instruction::Load(load), at(level));
    }

    /// The register at a distance after another one.
    fn ahead(&mut self, first: Register, ahead: u16, at: ByteSpan) -> Option<Reg> {
        first.number?;
        Some(self.register(first.ahead(ahead), at))
    }

    /// `STG.E.ENL2.256 [R2.64], R4, R8`: 32 bytes, the lower half from the first registers.
    fn store_groups(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        level: AccessLevel,
    ) -> SupportResult<()> {
        let [to, lower, upper] = &instruction.operands[..] else {
            return unsupported("a store of this form");
        };
        let space = space(instruction.opcode.text);
        let place = self.address(instruction, to, B256.bytes(), space)?;
        if self.is_sparse(&place)? {
            return unsupported("a store to a sparse page");
        }
        let ty = if self.element(B256) == 32 { Type::U32 } else { Type::U64 };
        let mut sources = Vec::new();
        for half in [lower, upper] {
            let Some(first) = half.register() else { return unsupported(NO_REGISTER) };
            sources.extend(self.elements_of(first, 128, ty, half.at));
        }
        let access = ElementAccess { space, ty, place: &place, operand: to, level };
        self.stored(instruction, &access, sources);
        Ok(())
    }

    /// The elements of a type that registers from this one on hold, which have this many bits together.
    pub(super) fn elements_of(
        &mut self,
        first: Register,
        bits: u16,
        ty: Type,
        at: ByteSpan,
    ) -> Vec<Operand> {
        let each = |bit: u16| {
            let register = first.ahead(bit / 32);
            match ty.bits {
                64.. => self.pair(register, at),
                32.. => self.read(register, at),
                _ => {
                    let whole = self.read(register, at);
                    let from = u8::try_from(bit % 32).expect("less than 32");
                    self.computed(AluOp::Extract(from), ty, &[whole])
                }
            }
        };
        (0..bits).step_by(ty.bits.into()).map(each).collect()
    }

    /// Emits a store of elements of the type.
    fn stored(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        access: &ElementAccess<'_, '_>,
        sources: Vec<Operand>,
    ) {
        let ElementAccess { space, ty, place, level, .. } = *access;
        let order = match Self::promised(instruction, level) {
            _ if instruction.has("MMIO") => StoreOrder::MmioRelaxed,
            Some(scope) => StoreOrder::Relaxed(scope),
            None => StoreOrder::Weak,
        };
        let elements = sources.len();
        let store = Store {
            cxx: Cxx::default(),
            order,
            space,
            proxy: Proxy::Generic,
            ty,
            global_only: false,
            sources,
            address: place.address,
        };
        self.noted(access, elements, store.reach());
        self.emit(Instruction::Store(store), at(level));
    }

    /// Whether a location is in a page that is marked as sparse.
    fn is_sparse(&self, place: &AccessTarget) -> SupportResult<bool> {
        if let Some(variable) = place.variable {
            return Ok(self.draft.variables[usize::from(self.draft.root(variable).0)].sparse);
        }
        if self.draft.variables.iter().any(|variable| variable.sparse) {
            return unsupported("an address that is known in a run only, beside a sparse page");
        }
        Ok(false)
    }

    /// Reading R97: a load from a sparse page reads no memory and returns zeros.
    fn nothing(&mut self, first: Register, ty: Type, to: &syntax::Operand<'_>) {
        for index in 0..ty.bits.div_ceil(32) {
            if let Some(register) = self.ahead(first, index, to.at) {
                self.alu(AluOp::Mov, Type::U32, register, &[Operand::Imm(0)]);
            }
        }
    }

    fn loaded(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        first: Register,
        access: &ElementAccess<'_, '_>,
    ) {
        let ElementAccess { ty, operand: to, .. } = *access;
        let bits = self.element(ty);
        let each = if bits == ty.bits { ty } else { unsigned(bits) };
        let direct = bits == 32 || bits == ty.bits && bits < 64;
        let mut destination = |ahead: u16| match (first.number, direct) {
            (None, _) => None,
            (Some(_), true) => self.ahead(first, ahead, to.at),
            (Some(_), false) => Some(self.hidden(bits)),
        };
        let destinations: Vec<Option<Reg>> = (0..ty.bits / bits).map(&mut destination).collect();
        let access = ElementAccess { ty: each, ..*access };
        self.issue(instruction, &access, destinations.clone());
        if direct {
            if let ([Some(whole)], TypeKind::Signed) = (&destinations[..], ty.kind) {
                // The value is sign-extended to the 32 bits of the register.
                self.alu(AluOp::Mov, Type::U32, *whole, &[Operand::Reg(*whole)]);
            }
            return;
        }
        let elements: Vec<Reg> = destinations.into_iter().flatten().collect();
        for (ahead, of_register) in (0..).zip(elements.chunks(usize::from(32 / bits.min(32)))) {
            let register = first.ahead(ahead * bits.div_ceil(32));
            if let (64.., [whole]) = (bits, of_register) {
                self.cut(*whole, register, each, to);
                continue;
            }
            let mut joined = Operand::Reg(of_register[0]);
            for (index, next) in (1_u8..).zip(&of_register[1..]) {
                let low = u8::try_from(bits).expect("at most 16") * index;
                let sources = [joined, Operand::Reg(*next)];
                joined = self.computed(AluOp::Concat(low), Type::U32, &sources);
            }
            let register = self.register(register, to.at);
            self.alu(AluOp::Mov, Type::U32, register, &[joined]);
        }
    }

    /// Writes a wide value to its registers.
    pub(super) fn cut(&mut self, whole: Reg, first: Register, ty: Type, to: &syntax::Operand<'_>) {
        for index in 0..ty.bits.div_ceil(32) {
            let register = self.register(first.ahead(index), to.at);
            let bit = u8::try_from(32 * index).expect("at most 96");
            self.alu(AluOp::Extract(bit), Type::U32, register, &[Operand::Reg(whole)]);
        }
    }

    /// The value of as many registers as the type requires.
    fn joined(&mut self, operand: &syntax::Operand<'_>, ty: Type) -> SupportResult<Operand> {
        if ty.bits < 64 {
            return self.source(operand);
        }
        let Some(first) = operand.register() else {
            return unsupported("a wide value that is not a register");
        };
        let low = self.pair(first, operand.at);
        if ty.bits == 64 {
            return Ok(low);
        }
        let high = self.pair(first.ahead(2), operand.at);
        Ok(self.computed(AluOp::Concat(64), B128, &[low, high]))
    }

    /// The width of the elements of an access: as the source of a listing has them. `P0:pieces=4` means that a
    /// wide access is several 32-bit accesses, like a PTX vector (reading R103).
    fn element(&mut self, ty: Type) -> u16 {
        let of_source = self.element.filter(|bits| *bits < ty.bits && ty.kind != TypeKind::Signed);
        match of_source {
            Some(bits) => bits,
            None if ty.bits > 32 && self.given("pieces").is_some() => 32,
            None => ty.bits.min(if ty == B256 { 64 } else { 128 }),
        }
    }

    /// Records an access, which is checked against its variable when all accesses are known.
    fn noted(&mut self, access: &ElementAccess<'_, '_>, elements: usize, reach: AllowedSpaces) {
        let ElementAccess { space, ty, place, operand, .. } = *access;
        if place.variable.is_some() {
            let elements = u32::try_from(elements).expect("few elements");
            let (address, size) = (place.address, ty.bytes());
            let access = DraftAccess::of(address, size, elements, space, reach, operand.at);
            self.draft.thread(self.thread).accesses.push(access);
        }
    }

    pub(super) fn store(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let level = self.level(instruction)?;
        if instruction.has("256") {
            return self.store_groups(instruction, level);
        }
        let [to, value] = &instruction.operands[..] else {
            return unsupported("a store of this form");
        };
        let ty = size(instruction);
        let space = space(instruction.opcode.text);
        let place = self.address(instruction, to, ty.bytes(), space)?;
        if self.is_sparse(&place)? {
            return unsupported("a store to a sparse page");
        }
        let bits = self.element(ty);
        let (each, sources) = match value.register().filter(|_| bits < ty.bits) {
            Some(first) => {
                (unsigned(bits), self.elements_of(first, ty.bits, unsigned(bits), value.at))
            }
            None => (ty, vec![self.joined(value, ty)?]),
        };
        let access = ElementAccess { space, ty: each, place: &place, operand: to, level };
        self.stored(instruction, &access, sources);
        Ok(())
    }

    pub(super) fn atomic(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let level = self.level(instruction)?;
        let operands = &instruction.operands;
        let Some(place) = operands.iter().position(|one| one.indexed().is_some()) else {
            return unsupported("a name without operands");
        };
        let AtomicForm { op, ty, elements, swaps } = operation(instruction)?;
        let reduction = place == 0;
        let (done, destination) = match &operands[..place] {
            [] => (None, None),
            [to] => (None, to.register()),
            [done, to] if done.register().is_some_and(|r| r.file.is_of_predicates()) => {
                (self.destination(done)?, to.register())
            }
            _ => return unsupported("an atomic of this form"),
        };
        let space = space(instruction.opcode.text);
        let found = self.address(instruction, &operands[place], ty.bytes(), space)?;
        if self.is_sparse(&found)? {
            return unsupported("an atomic on a sparse page");
        }
        let values = &operands[place + 1..];
        let counts = instruction.has("POPC");
        let count = 1 + usize::from(op == AtomicOp::Cas) - usize::from(counts);
        if values.len() != count || elements > 1 && destination.is_some() {
            return unsupported("an atomic with other operands");
        }
        let mut sources = Vec::new();
        for element in 0..elements {
            let mut all = Vec::new();
            for one in values {
                all.push(if elements > 1 {
                    let first = one.register().ok_or("a vector that is not in registers")?;
                    self.read(first.ahead(element), one.at)
                } else {
                    self.joined(one, ty)?
                });
            }
            // Of the active lanes, which are one.
            all.extend(counts.then_some(Operand::Imm(1)));
            sources.push(all);
        }
        let (guard, inside) = (self.guard, done.map(|_| self.elsewhere(&found)));
        if let Some(outside) = inside {
            self.also_if(outside);
        }
        let to = &operands[place.saturating_sub(1)];
        let written = destination.filter(|to| to.number.is_some());
        let register = written.map(|first| {
            if ty.bits >= 64 || swaps { self.hidden(ty.bits) } else { self.register(first, to.at) }
        });
        let promised = self.access();
        let order =
            promised.as_ref().map_or(AtomicOrder::Relaxed, |one| one.promise.order_of_atomic());
        let lowered = promised.map_or_else(|| at(level), |one| one.lowered);
        for (element, operands) in sources.iter().enumerate() {
            let mut address = found.address;
            address.offset += i64::from(ty.bytes()) * i64::try_from(element).unwrap_or(0);
            let atomic = Atomic {
                cxx: Cxx::default(),
                order,
                scope: promise::scope(level).unwrap_or(Scope::Gpu),
                space,
                op,
                ty,
                reduction,
                destination: register,
                address,
                operands: operands.clone(),
            };
            let target = AccessTarget { address, variable: found.variable };
            let operand = &instruction.operands[place];
            let access = ElementAccess { space, ty, place: &target, operand, level };
            self.noted(&access, 1, atomic.reach());
            self.emit(Instruction::Atomic(atomic), lowered.clone());
        }
        if let (Some(old), Some(first)) = (register, written) {
            if swaps {
                // `.CAST`: 1 if the value was the expected one.
                let compare = AluOp::Setp(Comparison::Eq);
                let same = self.truth(compare, ty, &[Operand::Reg(old), sources[0][0]]);
                let whole = self.hidden(ty.bits);
                self.alu(AluOp::Mov, ty, whole, &[same]);
                self.cut(whole, first, ty, to);
            } else if ty.bits >= 64 {
                self.cut(old, first, ty, to);
            }
        }
        self.guard = guard;
        if let (Some(done), Some(outside)) = (done, inside) {
            self.alu(AluOp::Mov, super::BIT, done, &[outside]);
        }
        Ok(())
    }

    /// Whether an `ATOM` with a predicate is performed: not in shared memory, for which other code follows.
    fn elsewhere(&mut self, place: &AccessTarget) -> Operand {
        let shared = self.is_in(SpaceQualifier::SharedCluster, place);
        self.truth(AluOp::Xor, super::BIT, &[shared, Operand::Imm(1)])
    }

    /// Whether a generic address is in a state space.
    pub(super) fn is_in(&mut self, space: SpaceQualifier, place: &AccessTarget) -> Operand {
        let offset = Operand::Imm(place.address.offset.cast_unsigned());
        let mut source = place.address.base;
        if place.address.offset != 0 {
            source = self.computed(AluOp::Add, Type::U64, &[source, offset]);
        }
        let destination = self.hidden(1);
        let ty = Type::U64;
        let cvta = Cvta { op: AddressOp::IsIn, space, ty, destination, source };
        self.emit(Instruction::Cvta(cvta), LoweredInstruction::default());
        Operand::Reg(destination)
    }

    /// `QSPC.E.S P0, RZ, [R2]`: whether an address is in the shared memory of the CTA, and with `.D` in that of
    /// the cluster.
    pub(super) fn query(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let names: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
        let space = match names[..] {
            ["E", "S"] => SpaceQualifier::SharedCta,
            ["E", "D"] => SpaceQualifier::SharedCluster,
            ["E", "L"] => SpaceQualifier::Local,
            _ => return unsupported("a state space of this form"),
        };
        let [to, none, address] = &instruction.operands[..] else {
            return unsupported("a state space of this form");
        };
        if none.register().is_none_or(|register| register.number.is_some()) {
            return unsupported("a state space of this form");
        }
        let found = self.address(instruction, address, 1, SpaceQualifier::Generic)?;
        let inside = self.is_in(space, &found);
        self.bit(to, inside)
    }
}

fn at(level: AccessLevel) -> LoweredInstruction {
    LoweredInstruction { forms: vec![MachineOp::Access(level)], fused: None }
}

/// The operation of an atomic.
struct AtomicForm {
    op: AtomicOp,
    ty: Type,
    /// The number of elements, each of this type.
    elements: u16,
    /// `.CAST`: the result is not the old value, but whether it was the expected one.
    swaps: bool,
}

fn operation(instruction: &syntax::Instruction<'_>) -> SupportResult<AtomicForm> {
    const OTHER: &str = "an operation that the model does not have";
    let operations = [
        ("ADD", AtomicOp::Add),
        ("MIN", AtomicOp::Min),
        ("MAX", AtomicOp::Max),
        ("INC", AtomicOp::Inc),
        ("DEC", AtomicOp::Dec),
        ("AND", AtomicOp::And),
        ("OR", AtomicOp::Or),
        ("XOR", AtomicOp::Xor),
        ("EXCH", AtomicOp::Exch),
        ("CAS", AtomicOp::Cas),
        ("CAST", AtomicOp::Cas),
    ];
    let found = operations.into_iter().find(|(name, _)| instruction.has(name));
    let Some((mut op, swaps)) = found.map(|(name, op)| (op, name == "CAST")) else {
        return unsupported(OTHER);
    };
    if instruction.has("POPC") {
        // `ATOMS.POPC.INC`: as many as there are active lanes.
        op = if op == AtomicOp::Inc { AtomicOp::Add } else { return unsupported(OTHER) };
    }
    let float = |kind, bits| Type { kind, bits };
    let types = [
        ("S32", signed(32), 1),
        ("S64", signed(64), 1),
        ("U64", unsigned(64), 1),
        ("64", unsigned(64), 1),
        ("128", B128, 1),
        ("F32", float(TypeKind::Float, 32), 1),
        ("F64", float(TypeKind::Float, 64), 1),
        ("F32x2", float(TypeKind::Float, 32), 2),
        ("F32x4", float(TypeKind::Float, 32), 4),
        ("F16x2", float(TypeKind::FloatPair, 32), 1),
        ("F16x4", float(TypeKind::FloatPair, 32), 2),
        ("F16x8", float(TypeKind::FloatPair, 32), 4),
        ("BF16x2", float(TypeKind::BFloatPair, 32), 1),
        ("BF16x4", float(TypeKind::BFloatPair, 32), 2),
        ("BF16x8", float(TypeKind::BFloatPair, 32), 4),
    ];
    let found = types.into_iter().find(|(name, ..)| instruction.has(name));
    let (ty, elements) = found.map_or((Type::U32, 1), |(_, ty, elements)| (ty, elements));
    let named = |part: &syntax::Name<'_>| {
        part.text.starts_with(['F', 'B']) && part.text.contains(|c: char| c.is_ascii_digit())
    };
    let floats = !matches!(ty.kind, TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits);
    if instruction.modifiers.iter().any(named) && (!floats || op != AtomicOp::Add) {
        return unsupported("an atomic of floats that is not a sum");
    }
    if matches!(ty.kind, TypeKind::FloatPair | TypeKind::BFloatPair) {
        return unsupported("an atomic of two floats");
    }
    Ok(AtomicForm { op, ty, elements, swaps })
}
