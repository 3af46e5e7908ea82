//! The launch state of a kernel: constants, special registers, the address of its shared memory.
//!
//! A test gives them as registers with special names: `P0:c[0x0][0x210]=x`, `P0:SR_TID.X=0`.

use machine::form::LoweredInstruction;
use model::isa::alu::{AluOp, Comparison};
use model::isa::cvta::{AddressOp, Cvta};
use model::isa::{Address, Instruction, Operand, SpaceQualifier, Type, TypeKind};

use super::access::size;
use super::address::AccessTarget;
use super::{ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, AddressTerm, Atom, Indexed};

/// The name of a constant of 32 bits.
pub fn name(bank: u64, offset: u64) -> String {
    format!("c[{bank:#x}][{offset:#x}]")
}

/// The bank and the offset of `c[0x0][0x210]` and `c[0x4][RZ]`.
pub fn place(indexed: &Indexed<'_>) -> Option<(u64, u64)> {
    let number = |terms: &[AddressTerm<'_>]| match terms {
        [one] => match one.value.atom {
            Atom::Number(number) => number.value,
            Atom::Register(register) if register.number.is_none() => Some(0),
            Atom::Register(_) | Atom::Indexed(_) | Atom::Name(_) => None,
        },
        _ => None,
    };
    let [bank, offset] = &indexed.brackets[..] else { return None };
    (indexed.name == "c").then(|| Some((number(bank)?, number(offset)?))).flatten()
}

impl ColumnReader<'_> {
    /// A register with a special name, if the test gives its value.
    pub(super) fn given(&mut self, name: &str) -> Option<Operand> {
        let register = self.draft.thread(self.thread).known_register(name)?;
        self.draft.thread(self.thread).draft(register).bits = 32;
        Some(Operand::Reg(register))
    }

    /// The 32 bits of a constant.
    pub(super) fn constant(&mut self, indexed: &Indexed<'_>) -> SupportResult<Operand> {
        let Some((bank, offset)) = place(indexed) else {
            return unsupported("a constant at an address that is computed");
        };
        self.word(bank, offset)
    }

    /// The 32 bits at an offset in a bank.
    fn word(&mut self, bank: u64, offset: u64) -> SupportResult<Operand> {
        let found = self.given(&name(bank, offset));
        let mut found = found.ok_or(
            "a constant that the test does not give; put it into the initial state, as P0:c[0x0][0x160]=x",
        )?;
        // Parameters of one or two bytes stand in one word.
        for byte in 1..4_u8 {
            if let Some(part) = self.given(&name(bank, offset + u64::from(byte))) {
                let sources = [found, part];
                found = self.computed(AluOp::Concat(8 * byte), Type::U32, &sources);
            }
        }
        Ok(found)
    }

    /// The 64 bits of a constant; as with registers, the high half is 0 by default.
    pub(super) fn wide_constant(&mut self, indexed: &Indexed<'_>) -> SupportResult<Operand> {
        let low = self.constant(indexed)?;
        let (bank, offset) = place(indexed).expect("its low half has a place");
        let high = self.given(&name(bank, offset + 4)).unwrap_or(Operand::Imm(0));
        Ok(self.computed(AluOp::Concat(32), Type::U64, &[low, high]))
    }

    /// `S2R R0, SR_TID.X`, `CS2R R2, SRZ`
    pub(super) fn special(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let [to, from] = &instruction.operands[..] else {
            return unsupported("a special register of this form");
        };
        let name = from.to_string();
        let value = if name == "SRZ" { Some(Operand::Imm(0)) } else { self.given(&name) };
        let Some(value) = value else {
            return unsupported("a value that is known in a run only");
        };
        if let Some(first) = self.destination(to)? {
            self.alu(AluOp::Mov, Type::U32, first, &[value]);
        }
        let wide = instruction.opcode.text == "CS2R" && !instruction.has("32");
        if let (true, Some(first)) = (wide, to.register())
            && first.number.is_some()
        {
            let high = self.register(first.ahead(1), to.at);
            self.alu(AluOp::Mov, Type::U32, high, &[Operand::Imm(0)]);
        }
        Ok(())
    }

    /// A load of a constant that the test gives: it is not an access of memory. Returns whether it is one.
    pub(super) fn given_constant(
        &mut self,
        instruction: &syntax::Instruction<'_>,
    ) -> SupportResult<bool> {
        let [to, from] = &instruction.operands[..] else { return Ok(false) };
        let at = from.indexed().and_then(place);
        let Some((bank, offset)) = at else { return Ok(false) };
        if self.given(&name(bank, offset)).is_none() {
            return Ok(false);
        }
        let ty = size(instruction);
        let Some(first) = to.register() else { return unsupported("no register to load") };
        if first.number.is_none() {
            return Ok(true);
        }
        let words = ty.bits.div_ceil(32);
        let mut values = Vec::new();
        for word in 0..words {
            let at = offset + 4 * u64::from(word);
            let whole = ty.bits >= 32 && (word == 0 || self.given(&name(bank, at)).is_some());
            values.push(if whole {
                self.word(bank, at)?
            } else {
                self.given(&name(bank, at)).unwrap_or(Operand::Imm(0))
            });
        }
        // All are read before one is written: the first may be the index of another.
        for (word, value) in (0..words).zip(values) {
            let register = self.register(first.ahead(word), to.at);
            let narrow = Type { bits: ty.bits.min(32), ..ty };
            self.alu(AluOp::Mov, narrow, register, &[value]);
            if narrow.kind == TypeKind::Signed {
                self.alu(AluOp::Mov, Type::U32, register, &[Operand::Reg(register)]);
            }
        }
        Ok(true)
    }

    /// `c[0x3][0x8]`, `c[0x0][0x210]`: constant memory, and parameters of the kernel.
    pub(super) fn bank(
        &mut self,
        operand: &syntax::Operand<'_>,
    ) -> SupportResult<(SpaceQualifier, AccessTarget)> {
        let Some(indexed) = operand.indexed().filter(|indexed| indexed.name == "c") else {
            return unsupported("a constant of this form");
        };
        let Some((bank, offset)) = place(indexed) else {
            return unsupported("a constant at an address that is computed");
        };
        let parameters = self.family.abi().parameters;
        let (space, offset) = match bank {
            3 => (SpaceQualifier::Const, offset),
            0 if offset >= parameters => (SpaceQualifier::ParamEntry, offset - parameters),
            _ => return unsupported("a bank of constants that a test cannot have"),
        };
        let address = Address { base: Operand::Imm(offset), offset: 0 };
        Ok((space, AccessTarget { address, variable: None }))
    }

    /// Where the shared memory of the thread's CTA is for the machine: `P0:shared[0x400]=s` says
    /// that `s` begins at this address. By their addresses.
    pub(super) fn shared(&mut self) -> Vec<(u64, Operand)> {
        self.placed("shared")
    }

    /// Where the local memory of the thread is, likewise: `P0:local[0x0]=s`.
    pub(super) fn frame(&mut self) -> Vec<(u64, Operand)> {
        self.placed("local")
    }

    fn placed(&mut self, memory: &str) -> Vec<(u64, Operand)> {
        let prefix = format!("{memory}[0x");
        let thread = self.draft.thread(self.thread);
        let names: Vec<String> = thread.register_names().map(str::to_owned).collect();
        let mut all: Vec<(u64, Operand)> = Vec::new();
        for name in names {
            let number = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(']'));
            let at = number.and_then(|number| u64::from_str_radix(number, 16).ok());
            if let (Some(at), Some(register)) = (at, self.given(&name)) {
                all.push((at, register));
            }
        }
        all.sort_by_key(|one| one.0);
        all
    }

    /// An address in the machine's shared or local memory as that of what a test puts there.
    pub(super) fn own(&mut self, space: SpaceQualifier, address: Operand) -> Operand {
        let all = if space == SpaceQualifier::Local { self.frame() } else { self.shared() };
        let mut found = address;
        for (index, (start, variable)) in all.into_iter().enumerate() {
            let offset = self.computed(AluOp::Sub, Type::U32, &[address, Operand::Imm(start)]);
            let moved = self.computed(AluOp::Add, Type::U32, &[variable, offset]);
            found = if index == 0 {
                moved
            } else {
                let compare = AluOp::Setp(Comparison::Ge);
                let after = self.truth(compare, Type::U32, &[address, Operand::Imm(start)]);
                self.computed(AluOp::Selp, Type::U32, &[moved, found, after])
            };
        }
        found
    }

    /// A generic address. If the thread reads the upper half of shared addresses (`SR_SWINHI`), an address with
    /// this half is that of shared memory.
    pub(super) fn generic(&mut self, address: Operand) -> Operand {
        let Some(window) = self.given("SR_SWINHI") else { return address };
        let low = self.computed(AluOp::Extract(0), Type::U32, &[address]);
        let high = self.computed(AluOp::Extract(32), Type::U32, &[address]);
        let compare = AluOp::Setp(Comparison::Eq);
        let inside = self.truth(compare, Type::U32, &[high, window]);
        let offset = self.own(SpaceQualifier::SharedCta, low);
        let (destination, ty) = (self.hidden(64), Type::U64);
        let space = SpaceQualifier::SharedCta;
        let cvta = Cvta { op: AddressOp::ToGeneric, space, ty, destination, source: offset };
        self.emit(Instruction::Cvta(cvta), LoweredInstruction::default());
        let sources = [Operand::Reg(destination), address, inside];
        self.computed(AluOp::Selp, Type::U64, &sources)
    }
}
