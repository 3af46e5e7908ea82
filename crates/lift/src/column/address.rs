//! Addresses of accesses: sums of registers and offsets, in tests aligned by dropping low bits.

use machine::form::Family;
use model::isa::alu::AluOp;
use model::isa::{Address, Operand, SpaceQualifier, Type};
use model::memory::{Space, VariableId};
use model::program::InitialValue;

use super::{ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, AddressTerm, Atom, Register, RegisterFile};

/// The target of an access.
pub(super) struct AccessTarget {
    pub(super) address: Address,
    /// The variable, if it is known without executing the test.
    pub(super) variable: Option<VariableId>,
}

/// The bits of an extended address in SPA 5.0.
const EXTENDED: u64 = (1 << 40) - 1;

impl ColumnReader<'_> {
    /// Sets a register with the initial value `P0:R4=s`, where `s` is in shared or local memory, to the address
    /// in that state space, as `LDS` takes it.
    pub(super) fn own_addresses(&mut self) {
        let count = self.draft.thread(self.thread).registers.len();
        for index in 0..count {
            let register = &self.draft.thread(self.thread).registers[index];
            let Some(InitialValue::Address { variable, offset, .. }) = register.initial else {
                continue;
            };
            let space = self.draft.variable(variable).space.unwrap_or_default();
            if matches!(space, Space::Shared | Space::Local) {
                let register = model::isa::Reg(u16::try_from(index).expect("few registers"));
                "the initial state".clone_into(&mut self.text);
                self.alu(AluOp::Mov, Type::U32, register, &[Operand::Address(variable)]);
                if offset != 0 {
                    let sources = [Operand::Reg(register), Operand::Imm(offset)];
                    self.alu(AluOp::Add, Type::U32, register, &sources);
                }
            }
        }
    }

    /// The address of an access of `bytes` bytes.
    pub(super) fn address(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        operand: &syntax::Operand<'_>,
        bytes: u32,
        space: SpaceQualifier,
    ) -> SupportResult<AccessTarget> {
        let Some(indexed) = operand.indexed().filter(|indexed| indexed.is_memory()) else {
            return unsupported("no address in brackets");
        };
        let terms = indexed.brackets.last().map_or(&[][..], |terms| &terms[..]);
        let (mut registers, mut offset) = (Vec::new(), 0_i64);
        for term in terms {
            match term.value.atom {
                Atom::Number(number) => offset = offset.wrapping_add(distance(term, number.value)?),
                Atom::Register(register) if register.number.is_none() => {}
                Atom::Register(register) => {
                    if term.negative || !term.value.signs.is_empty() {
                        return unsupported("a register that is subtracted");
                    }
                    registers.push((register, shape(instruction, term)?));
                }
                Atom::Indexed(_) | Atom::Name(_) => {
                    return unsupported("an address of this form");
                }
            }
        }
        if i32::try_from(offset).is_err() {
            return unsupported("an offset of more than 32 bits");
        }
        let mask = if self.aligns { !(u64::from(bytes) - 1) } else { u64::MAX };
        let beyond = registers.first().is_some_and(|&(register, _)| {
            let limit = self.registers.zip(register.number);
            limit.is_some_and(|(limit, number)| {
                number >= limit && register.file == RegisterFile::General
            })
        });
        if beyond {
            // As if there were no register: the offset field, zero-extended.
            let first = instruction.operands.first().and_then(syntax::Operand::register);
            let sparse = first.is_some_and(|register| register.file.is_of_predicates());
            let field = offset.rem_euclid(1 << if sparse { 20 } else { 24 });
            return Ok(self.absolute(field.cast_unsigned() & mask, bytes, space));
        }
        let own = space == SpaceQualifier::SharedCta && !self.shared().is_empty()
            || space == SpaceQualifier::Local && !self.frame().is_empty();
        let aligned = offset & mask.cast_signed();
        let wide = registers.iter().any(|one| one.1 == SummandWidth::Wide);
        let mut sum = match registers[..] {
            [] if own => Operand::Imm(0),
            [] => return Ok(self.absolute(aligned.cast_unsigned(), bytes, space)),
            [(base, SummandWidth::Wide | SummandWidth::Narrow)] => {
                if let Some(variable) = self.fixed(base, wide) {
                    let address = Address { base: Operand::Address(variable), offset: aligned };
                    return Ok(AccessTarget { address, variable: Some(variable) });
                }
                if wide { self.pair(base, operand.at) } else { self.read(base, operand.at) }
            }
            [(first, first_shape), (second, second_shape)] if wide => {
                // `[R2.64+UR4]`, `[R2.U32+UR4]`: a uniform register has 64 bits in an extended address.
                let value = |column: &mut Self, register: Register, shape| {
                    let uniform = register.file == RegisterFile::Uniform;
                    if uniform || shape == SummandWidth::Wide {
                        column.pair(register, operand.at)
                    } else {
                        column.read(register, operand.at)
                    }
                };
                let first = value(self, first, first_shape);
                let second = value(self, second, second_shape);
                self.computed(AluOp::Add, Type::U64, &[first, second])
            }
            _ if wide => return unsupported("an address of three registers"),
            _ => {
                let mut sum = Operand::Imm(0);
                for &(register, shape) in &registers {
                    let mut value = self.read(register, operand.at);
                    if let SummandWidth::Scaled(by) = shape {
                        value = self.computed(AluOp::Shl, Type::U32, &[value, Operand::Imm(by)]);
                    }
                    sum = self.computed(AluOp::Add, Type::U32, &[sum, value]);
                }
                sum
            }
        };
        let ty = if wide { Type::U64 } else { Type::U32 };
        if offset != 0 {
            sum = self.computed(AluOp::Add, ty, &[sum, Operand::Imm(offset.cast_unsigned())]);
        }
        let bits = if self.family == Family::Maxwell && wide { EXTENDED } else { u64::MAX };
        if mask & bits != u64::MAX {
            sum = self.computed(AluOp::And, ty, &[sum, Operand::Imm(mask & bits)]);
        }
        if own {
            sum = self.own(space, sum);
        }
        if space == SpaceQualifier::Generic && wide {
            sum = self.generic(sum);
        }
        Ok(AccessTarget { address: Address { base: sum, offset: 0 }, variable: None })
    }

    /// The target of an absolute address: the variable that the test places there.
    fn absolute(&self, address: u64, bytes: u32, space: SpaceQualifier) -> AccessTarget {
        let found = space.may_be_global().then(|| self.draft.at_number(address, bytes)).flatten();
        let (base, offset, variable) = found
            .map_or((Operand::Imm(address), 0, None), |(id, offset)| {
                (Operand::Address(id), offset, Some(id))
            });
        AccessTarget { address: Address { base, offset }, variable }
    }

    /// The variable whose address a register holds throughout the execution.
    fn fixed(&mut self, base: Register, wide: bool) -> Option<VariableId> {
        if self.written.contains(&base) || wide && self.written.contains(&base.ahead(1)) {
            return None;
        }
        let here = self.thread;
        let thread = self.draft.thread(here);
        let initial = |name: Register| {
            let register = thread.known_register(&name.to_string())?;
            thread.registers[usize::from(register.0)].initial
        };
        if wide && initial(base.ahead(1)).is_some() {
            return None;
        }
        match initial(base)? {
            InitialValue::Address { variable, thread, offset: 0 } if thread == here => {
                Some(variable)
            }
            InitialValue::Address { .. } | InitialValue::Value(_) => None,
        }
    }
}

fn distance(term: &AddressTerm<'_>, value: Option<u64>) -> SupportResult<i64> {
    let Some(value) = value.and_then(|value| i64::try_from(value).ok()) else {
        return unsupported("an offset that is not an integer");
    };
    let negative = term.negative != (term.value.signs == "-");
    Ok(if negative { -value } else { value })
}

/// How a register contributes to an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SummandWidth {
    /// The register and the next one, as a 64-bit value.
    Wide,
    Narrow,
    /// The register, shifted left by this number of bits.
    Scaled(u64),
}

fn shape(
    instruction: &syntax::Instruction<'_>,
    term: &AddressTerm<'_>,
) -> SupportResult<SummandWidth> {
    match &term.value.suffixes[..] {
        [] if instruction.has("E") => Ok(SummandWidth::Wide),
        ["64"] => Ok(SummandWidth::Wide),
        ["U32"] | [] => Ok(SummandWidth::Narrow),
        ["X4"] => Ok(SummandWidth::Scaled(2)),
        ["X8"] => Ok(SummandWidth::Scaled(3)),
        ["X16"] => Ok(SummandWidth::Scaled(4)),
        _ => unsupported("a scaled address"),
    }
}
