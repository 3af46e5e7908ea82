//! Loads, stores and atomics of a column.

use machine::form::{AccessLevel, LoweredInstruction, MachineOp};
use model::isa::alu::AluOp;
use model::isa::atom::{Atomic, AtomicOp, AtomicOrder};
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
use sass::promise::{self, Promise};
use sass::syntax::{self, Register};
use text::report::ByteSpan;

const B128: Type = Type { kind: TypeKind::Bits, bits: 128 };

fn signed(bits: u16) -> Type {
    Type { kind: TypeKind::Signed, bits }
}

fn unsigned(bits: u16) -> Type {
    Type { kind: TypeKind::Unsigned, bits }
}

/// The type of a load or store.
pub(super) fn size(instruction: &syntax::Instruction<'_>) -> SupportResult<Type> {
    let sizes = [
        ("U8", unsigned(8)),
        ("S8", signed(8)),
        ("U16", unsigned(16)),
        ("S16", signed(16)),
        ("64", unsigned(64)),
        ("128", B128),
    ];
    if instruction.has("256") {
        return unsupported("256 bits");
    }
    let found = sizes.into_iter().find(|(name, _)| instruction.has(name));
    Ok(found.map_or(Type::U32, |(_, ty)| ty))
}

fn space(opcode: &str) -> SpaceQualifier {
    match opcode {
        "LD" | "ST" | "ATOM" | "RED" => SpaceQualifier::Generic,
        "LDS" | "STS" | "ATOMS" | "REDS" => SpaceQualifier::SharedCta,
        "LDL" | "STL" => SpaceQualifier::Local,
        _ => SpaceQualifier::Global,
    }
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
        let Some(first) = to.register() else { return unsupported("no register to load") };
        let ty = size(instruction)?;
        let (space, found) = if instruction.opcode.text == "LDC" {
            self.bank(&operands[place])?
        } else {
            let space = space(instruction.opcode.text);
            (space, self.address(instruction, &operands[place], ty.bytes(), space)?)
        };
        let order = match (level, Self::promised(instruction, level)) {
            (AccessLevel::ReadOnly, _) if space == SpaceQualifier::Global => LoadOrder::NonCoherent,
            (_, _) if instruction.has("MMIO") => LoadOrder::MmioRelaxed,
            (_, Some(scope)) => LoadOrder::Relaxed(scope),
            (_, None) => LoadOrder::Weak,
        };
        if self.is_sparse(&found)? {
            self.nothing(first, ty, to);
        } else {
            self.loaded(order, space, ty, (first, to), &found, level);
        }
        if let Some(status) = status {
            let there = u64::from(self.is_sparse(&found)?);
            self.alu(AluOp::Mov, super::BIT, status, &[Operand::Imm(there)]);
        }
        Ok(())
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
            let number = first.number.map(|number| number.saturating_add(index));
            if number.is_some() {
                let register = self.register(Register { number, ..first }, to.at);
                self.alu(AluOp::Mov, Type::U32, register, &[Operand::Imm(0)]);
            }
        }
    }

    fn loaded(
        &mut self,
        order: LoadOrder,
        space: SpaceQualifier,
        ty: Type,
        (first, to): (Register, &syntax::Operand<'_>),
        place: &AccessTarget,
        level: AccessLevel,
    ) {
        let pieces = self.pieces(ty);
        if pieces > 1 {
            let mut next = |ahead: u16| {
                let number = Some(first.number?.saturating_add(ahead));
                Some(self.register(Register { number, ..first }, to.at))
            };
            let destinations = (0..pieces).map(&mut next).collect();
            let load = Load {
                cxx: Cxx::default(),
                order,
                space,
                proxy: Proxy::Generic,
                ty: Type::U32,
                prefetches: false,
                global_only: false,
                destinations,
                address: place.address,
            };
            self.noted(place, ty, space, load.reach(), to);
            self.emit(Instruction::Load(load), at(level));
            return;
        }
        let destination = match (first.number, ty.bits) {
            (None, _) => None,
            (Some(_), 64..) => Some(self.hidden(ty.bits)),
            (Some(_), _) => Some(self.register(first, to.at)),
        };
        let load = Load {
            cxx: Cxx::default(),
            order,
            space,
            proxy: Proxy::Generic,
            ty,
            prefetches: false,
            global_only: false,
            destinations: vec![destination],
            address: place.address,
        };
        self.noted(place, ty, space, load.reach(), to);
        self.emit(Instruction::Load(load), at(level));
        let Some(whole) = destination else { return };
        if ty.bits >= 64 {
            self.cut(whole, first, ty, to);
        } else if ty.kind == TypeKind::Signed {
            // The value is sign-extended to the 32 bits of the register.
            self.alu(AluOp::Mov, Type::U32, whole, &[Operand::Reg(whole)]);
        }
    }

    /// Writes a wide value to its registers.
    fn cut(&mut self, whole: Reg, first: Register, ty: Type, to: &syntax::Operand<'_>) {
        for index in 0..ty.bits.div_ceil(32) {
            let number = first.number.map(|number| number.saturating_add(index));
            let register = self.register(Register { number, ..first }, to.at);
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
        let half = |column: &mut Self, ahead: u16| {
            let number = first.number.map(|number| number.saturating_add(ahead));
            column.pair(Register { number, ..first }, operand.at)
        };
        let low = half(self, 0);
        if ty.bits == 64 {
            return Ok(low);
        }
        let high = half(self, 2);
        Ok(self.computed(AluOp::Concat(64), B128, &[low, high]))
    }

    /// The number of accesses of an instruction. `P0:pieces=4` means that a wide access is several 32-bit
    /// accesses, like a PTX vector (reading R103).
    fn pieces(&mut self, ty: Type) -> u16 {
        let wide = ty.bits > 32 && self.given("pieces").is_some();
        if wide { ty.bits / 32 } else { 1 }
    }

    /// Records an access, which is checked against its variable when all accesses are known.
    fn noted(
        &mut self,
        place: &AccessTarget,
        ty: Type,
        space: SpaceQualifier,
        reach: AllowedSpaces,
        operand: &syntax::Operand<'_>,
    ) {
        let pieces = self.pieces(ty);
        if place.variable.is_some() {
            self.draft.thread(self.thread).accesses.push(DraftAccess {
                base: place.address.base,
                offset: place.address.offset,
                scalar: ty.bytes() / u32::from(pieces),
                elements: pieces.into(),
                space,
                reach,
                at: operand.at,
                space_at: operand.at,
            });
        }
    }

    fn read_piece(&mut self, first: Register, ahead: u16, at: ByteSpan) -> Operand {
        let number = first.number.map(|number| number.saturating_add(ahead));
        self.read(Register { number, ..first }, at)
    }

    pub(super) fn store(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let level = self.level(instruction)?;
        let [to, value] = &instruction.operands[..] else {
            return unsupported("a store of this form");
        };
        let ty = size(instruction)?;
        let space = space(instruction.opcode.text);
        let place = self.address(instruction, to, ty.bytes(), space)?;
        if self.is_sparse(&place)? {
            return unsupported("a store to a sparse page");
        }
        let pieces = self.pieces(ty);
        let (each, sources) = match value.register().filter(|_| pieces > 1) {
            Some(first) => {
                let all = (0..pieces).map(|ahead| self.read_piece(first, ahead, value.at));
                (Type::U32, all.collect())
            }
            None => (ty, vec![self.joined(value, ty)?]),
        };
        let order = match Self::promised(instruction, level) {
            _ if instruction.has("MMIO") => StoreOrder::MmioRelaxed,
            Some(scope) => StoreOrder::Relaxed(scope),
            None => StoreOrder::Weak,
        };
        let store = Store {
            cxx: Cxx::default(),
            order,
            space,
            proxy: Proxy::Generic,
            ty: each,
            global_only: false,
            sources,
            address: place.address,
        };
        self.noted(&place, ty, space, store.reach(), to);
        self.emit(Instruction::Store(store), at(level));
        Ok(())
    }

    pub(super) fn atomic(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let level = self.level(instruction)?;
        let operands = &instruction.operands;
        let Some(place) = operands.iter().position(|one| one.indexed().is_some()) else {
            return unsupported("a name without operands");
        };
        let (op, ty) = operation(instruction)?;
        let reduction = place == 0;
        let destination = match &operands[..place] {
            [] => None,
            [to] => to.register(),
            [done, to] => {
                let done = done.register().filter(|r| r.file.is_of_predicates());
                if done.is_none_or(|done| done.number.is_some()) {
                    return unsupported("a predicate that says what was done");
                }
                to.register()
            }
            _ => return unsupported("an atomic of this form"),
        };
        let space = space(instruction.opcode.text);
        let found = self.address(instruction, &operands[place], ty.bytes(), space)?;
        if self.is_sparse(&found)? {
            return unsupported("an atomic on a sparse page");
        }
        let count = 1 + usize::from(op == AtomicOp::Cas);
        let values = &operands[place + 1..];
        if values.len() != count {
            return unsupported("an atomic with other operands");
        }
        let values =
            values.iter().map(|one| self.joined(one, ty)).collect::<SupportResult<Vec<_>>>()?;
        let to = &operands[place.saturating_sub(1)];
        let written = destination.filter(|to| to.number.is_some());
        let register = written.map(|first| {
            if ty.bits >= 64 { self.hidden(ty.bits) } else { self.register(first, to.at) }
        });
        let promised = self.access();
        let whole = promised.as_ref().is_some_and(|one| one.promise == Promise::AcqRel);
        let atomic = Atomic {
            cxx: Cxx::default(),
            order: if whole { AtomicOrder::AcqRel } else { AtomicOrder::Relaxed },
            scope: promise::scope(level).unwrap_or(Scope::Gpu),
            space,
            op,
            ty,
            reduction,
            destination: register,
            address: found.address,
            operands: values,
        };
        self.noted(&found, ty, space, atomic.reach(), &operands[place]);
        let lowered = promised.map_or_else(|| at(level), |one| one.lowered);
        self.emit(Instruction::Atomic(atomic), lowered);
        if let (Some(whole), Some(first), 64..) = (register, written, ty.bits) {
            self.cut(whole, first, ty, to);
        }
        Ok(())
    }
}

fn at(level: AccessLevel) -> LoweredInstruction {
    LoweredInstruction { forms: vec![MachineOp::Access(level)], fused: None }
}

/// The operation of an atomic, and its type.
fn operation(instruction: &syntax::Instruction<'_>) -> SupportResult<(AtomicOp, Type)> {
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
    ];
    let Some((_, op)) = operations.into_iter().find(|(name, _)| instruction.has(name)) else {
        return unsupported("an operation that the model does not have");
    };
    let types = [
        ("S32", signed(32)),
        ("S64", signed(64)),
        ("U64", unsigned(64)),
        ("64", unsigned(64)),
        ("128", B128),
    ];
    let float = |part: &syntax::Name<'_>| {
        part.text.starts_with(['F', 'B']) && part.text.contains(|c: char| c.is_ascii_digit())
    };
    if instruction.modifiers.iter().any(float) || instruction.has("SPIN") {
        return unsupported("atomics on floats, and in a loop of their own");
    }
    let found = types.into_iter().find(|(name, _)| instruction.has(name));
    Ok((op, found.map_or(Type::U32, |(_, ty)| ty)))
}
