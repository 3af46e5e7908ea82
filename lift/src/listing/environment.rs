//! The launch state of a function: constants, special registers, the address of shared memory.

use model::memory::Space;

use super::{ListedFunctionReader, TextResult};
use crate::column::constant;
use crate::function::{EntryValue, FunctionVariable};
use sass::listing::ListingLine;
use sass::opcode::{Class, class};
use sass::syntax::{Indexed, Instruction};

impl ListedFunctionReader<'_> {
    pub(super) fn note(&mut self, text: &str) {
        self.notes.insert(text.to_owned());
    }

    /// The launch state that an instruction requires.
    pub(super) fn beside(&mut self, instruction: &Instruction<'_>) -> TextResult<()> {
        let opcode = instruction.opcode.text;
        if matches!(opcode, "LDL" | "STL") {
            return Err("local memory, which is laid out by the compiler, is not followed".into());
        }
        for operand in &instruction.operands {
            if let Some(indexed) = operand.indexed().filter(|one| one.name == "c") {
                self.constant(instruction, indexed)?;
            }
        }
        if matches!(opcode, "S2R" | "S2UR" | "CS2R")
            && let Some(from) = instruction.operands.last()
        {
            self.special(&from.to_string())?;
        }
        if matches!(opcode, "VOTE" | "VOTEU" | "SHFL") {
            self.note("the thread is the first of its warp, and the only one that is active");
        }
        Ok(())
    }

    /// The words of a constant that an instruction reads.
    fn constant(&mut self, instruction: &Instruction<'_>, indexed: &Indexed<'_>) -> TextResult<()> {
        let never = instruction
            .guard
            .is_some_and(|guard| guard.negated && guard.predicate.number.is_none());
        let Some((bank, offset)) = constant::place(indexed) else {
            return if never {
                Ok(())
            } else {
                Err(format!("`{indexed}`: an address that is computed"))
            };
        };
        let wide = instruction.has("64") || instruction.has("WIDE") || instruction.has("128");
        let words = if instruction.has("128") { 4 } else { 1 + u64::from(wide) };
        for word in 0..words {
            let offset = offset + 4 * word;
            match self.word(bank, offset) {
                Some(value) => {
                    self.initial.insert(constant::name(bank, offset), value);
                }
                None if never => {}
                None => {
                    let name = constant::name(bank, offset);
                    return Err(format!("the value of `{name}` is not known"));
                }
            }
        }
        Ok(())
    }

    /// What 32 bits of constant memory hold.
    fn word(&mut self, bank: u64, offset: u64) -> Option<EntryValue> {
        if bank == 4 {
            if let Some(name) = self.addresses.get(&offset) {
                return Some(EntryValue::Address((*name).to_owned()));
            }
            let low = offset.checked_sub(4).and_then(|low| self.addresses.get(&low));
            return low.map(|_| EntryValue::Value(0));
        }
        if bank != 0 {
            return None;
        }
        let abi = self.family.abi();
        if offset >= abi.parameters {
            return self.parameter(offset - abi.parameters);
        }
        let dims = |at: u64, name: &str| {
            let dimension = usize::try_from(offset.checked_sub(at)? / 4).ok()?;
            let dimension = ["x", "y", "z"].get(dimension)?;
            Some(EntryValue::Special(format!("{name}.{dimension}")))
        };
        if offset == abi.stack {
            return Some(EntryValue::Value(0));
        }
        if abi.descriptor.is_some_and(|at| offset == at || offset == at + 4) {
            self.note("descriptors are those of all global memory");
            return Some(EntryValue::Value(0));
        }
        if abi.cluster_launch == Some(offset) {
            self.note("the kernel is launched with clusters");
            return Some(EntryValue::Value(1));
        }
        dims(abi.ntid, "ntid").or_else(|| dims(abi.nctaid, "nctaid"))
    }

    /// What 32 bits at an offset in the parameters hold, each aligned to its size.
    fn parameter(&mut self, offset: u64) -> Option<EntryValue> {
        let mut end = 0_u64;
        let mut found = None;
        let all: Vec<u16> = self.signature.parameters.iter().map(|one| one.bits).collect();
        for (index, bits) in all.into_iter().enumerate() {
            let bytes = u64::from(bits).div_ceil(8).next_power_of_two();
            let start = end.next_multiple_of(bytes);
            end = start + bytes;
            if start < offset + 4 && offset < end {
                // Of two parameters in one word nothing is said.
                if found.is_some() {
                    return None;
                }
                found = match offset - start.min(offset) {
                    0 if start == offset => Some(EntryValue::Parameter(index)),
                    4 if bytes == 8 => Some(EntryValue::Value(0)),
                    _ => return None,
                };
                if bytes == 8 {
                    self.note("parameters of 64 bits have zeros in their high half");
                }
            }
        }
        found
    }

    fn special(&mut self, name: &str) -> TextResult<()> {
        let lane = "the thread is the first of its warp, and the only one that is active";
        let value = match name {
            "SRZ" => return Ok(()),
            "SR_LANEID" | "SR_LTMASK" => EntryValue::Value(0),
            "SR_EQMASK" | "SR_LEMASK" => EntryValue::Value(1),
            "SR_GTMASK" => EntryValue::Value(0xffff_fffe),
            "SR_GEMASK" => EntryValue::Value(0xffff_ffff),
            "SR_CgaCtaId" => {
                self.note("the CTA is the first of its cluster");
                EntryValue::Value(0)
            }
            _ => {
                let known = ["X", "Y", "Z"].into_iter().find_map(|dimension| {
                    let base = name.strip_suffix(dimension)?.strip_suffix('.')?;
                    let base = match base {
                        "SR_TID" => "tid",
                        "SR_CTAID" => "ctaid",
                        _ => return None,
                    };
                    Some(format!("{base}.{}", dimension.to_lowercase()))
                });
                EntryValue::Special(known.ok_or_else(|| {
                    format!("the value of the special register `{name}` is not known")
                })?)
            }
        };
        if name.ends_with("MASK") || name == "SR_LANEID" {
            self.note(lane);
        }
        self.initial.insert(name.to_owned(), value);
        Ok(())
    }

    /// Reading R103: where each wide access was a vector, it promises what its elements do.
    pub(super) fn pieces(&mut self, lines: &[ListingLine<'_>]) {
        let wide = |line: &&ListingLine<'_>| {
            let constant = matches!(line.instruction.opcode.text, "LDC" | "LDCU" | "ULDC");
            let access =
                matches!(class(line.instruction.opcode.text), Some(Class::Load | Class::Store));
            let two = line.instruction.has("64") || line.instruction.has("128");
            access && !constant && two
        };
        let count = lines.iter().filter(wide).count();
        if count > 0 && count == self.signature.vectors {
            self.initial.insert("pieces".to_owned(), EntryValue::Value(4));
            self.note("accesses of more than 32 bits are vectors");
        }
    }

    /// The variables of the function; where its shared memory is, if it is accessed.
    pub(super) fn variables(
        &mut self,
        lines: &[ListingLine<'_>],
    ) -> TextResult<Vec<FunctionVariable>> {
        let shared = |line: &ListingLine<'_>| {
            matches!(line.instruction.opcode.text, "LDS" | "STS" | "ATOMS" | "REDS")
        };
        if lines.iter().any(shared) {
            let own: Vec<&FunctionVariable> =
                self.signature.variables.iter().filter(|v| v.space == Space::Shared).collect();
            let [variable] = own[..] else {
                let why = match own.len() {
                    0 => "shared memory that no variable declares",
                    _ => "shared memory of several variables, which the compiler lays out",
                };
                return Err(why.to_owned());
            };
            let begin = self.family.abi().shared;
            let place = EntryValue::Address(variable.name.clone());
            self.initial.insert(format!("shared[{begin:#x}]"), place);
        }
        for value in self.initial.values() {
            let EntryValue::Address(name) = value else { continue };
            if !self.signature.variables.iter().any(|known| known.name == *name) {
                return Err(format!("the variable `{name}`, which the module does not define"));
            }
        }
        Ok(self.signature.variables.clone())
    }
}
