//! The launch state of a function: constants, special registers, the address of shared memory.

use model::memory::Space;

use super::{ListedFunctionReader, TextResult, layout};
use crate::column::constant;
use crate::column::matrix::MatrixProduct;
use crate::function::{EntryValue, FunctionVariable};
use crate::opaque::{LONE_LANE, MATRICES, OTHER_LANES};
use sass::listing::ListingLine;
use sass::syntax::{Indexed, Instruction};

impl ListedFunctionReader<'_> {
    pub(super) fn note(&mut self, text: &str) {
        self.notes.insert(text.to_owned());
    }

    /// The launch state that an instruction requires.
    pub(super) fn beside(&mut self, instruction: &Instruction<'_>) -> TextResult<()> {
        let opcode = instruction.opcode.text;
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
        if matches!(opcode, "VOTE" | "VOTEU" | "REDUX" | "MATCH" | "ELECT") {
            self.note(LONE_LANE);
        }
        if opcode == "LDSM" || opcode.ends_with("MMA") {
            self.note(LONE_LANE);
            self.note(MATRICES);
        }
        if let Some(product) = MatrixProduct::of(instruction)
            && !self.signature.functions.contains(&product.function())
        {
            let name = product.name;
            return Err(format!("`{name}`, which the source does not have"));
        }
        if opcode == "SHFL" {
            self.note(OTHER_LANES);
        }
        if opcode == "BPT" {
            self.note("a trap ends its thread");
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
        let double = matches!(opcode(instruction), "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX");
        let modifiers = ["64", "WIDE", "128", "F64", "U64", "S64", "HI"];
        let wide = double || modifiers.iter().any(|name| instruction.has(name));
        let words = if instruction.has("128") { 4 } else { 1 + u64::from(wide) };
        let load = matches!(opcode(instruction), "LDC" | "ULDC" | "LDCU");
        let narrow = [("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)];
        let narrow = narrow.into_iter().find(|(name, _)| load && instruction.has(name));
        let bytes = narrow.map_or(4, |(_, bytes)| bytes);
        for word in 0..words {
            let offset = offset + 4 * word;
            match self.word(bank, offset, bytes) {
                Some(value) => {
                    self.initial.insert(constant::name(bank, offset), value);
                }
                None if self.packed(bank, offset, bytes) => {}
                // An upper half may be that of an operand which is not wide.
                None if never || word > 0 && !load => {}
                None => {
                    let name = constant::name(bank, offset);
                    return Err(format!("the value of `{name}` is not known"));
                }
            }
        }
        Ok(())
    }

    /// Whether a word is several parameters, of one or two bytes each.
    fn packed(&mut self, bank: u64, offset: u64, bytes: u64) -> bool {
        let parts: Vec<(u64, EntryValue)> =
            (offset..offset + bytes).filter_map(|at| Some((at, self.word(bank, at, 1)?))).collect();
        let several = parts.len() > 1;
        if several {
            self.initial
                .extend(parts.into_iter().map(|(at, value)| (constant::name(bank, at), value)));
        }
        several
    }

    /// What some bytes of constant memory hold, at most 4.
    fn word(&mut self, bank: u64, offset: u64, bytes: u64) -> Option<EntryValue> {
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
            return self.parameter(offset - abi.parameters, bytes);
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
        if let Some(at) = abi.shared_window
            && matches!(offset.checked_sub(at), Some(0 | 4))
        {
            let name = "SR_SWINHI".to_owned();
            self.initial.insert(name, EntryValue::Value(SHARED_WINDOW));
            return Some(EntryValue::Value(if offset == at { 0 } else { SHARED_WINDOW }));
        }
        if let Some(at) = abi.environment
            && matches!(offset.checked_sub(at), Some(0 | 4))
        {
            return Some(EntryValue::Special(format!("envreg{}", 1 + (offset - at) / 4)));
        }
        dims(abi.ntid, "ntid").or_else(|| dims(abi.nctaid, "nctaid"))
    }

    /// What some bytes at an offset in the parameters hold, each aligned to its size.
    fn parameter(&mut self, offset: u64, read: u64) -> Option<EntryValue> {
        let mut end = 0_u64;
        let mut found = None;
        let parameters = self.signature.parameters.iter();
        let all: Vec<_> = parameters.map(|one| (one.bits, one.alignment)).collect();
        for (index, (bits, alignment)) in all.into_iter().enumerate() {
            let bytes = u64::from(bits).div_ceil(8);
            let bytes = if alignment.is_some() { bytes } else { bytes.next_power_of_two() };
            let start = end.next_multiple_of(alignment.map_or(bytes, u64::from).max(1));
            end = start + bytes;
            if start < offset + read && offset < end {
                // Of two parameters in one word nothing is said.
                if found.is_some() {
                    return None;
                }
                if alignment.is_some() {
                    let place = offset.checked_sub(start).filter(|_| offset + read <= end)?;
                    let (offset, bits) =
                        (u32::try_from(place).ok()?, u16::try_from(8 * read).ok()?);
                    found = Some(EntryValue::Piece { parameter: index, offset, bits });
                    continue;
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
        let value = match name {
            "SRZ" => return Ok(()),
            // Shared addresses have a half that no other address has.
            "SR_SWINHI" => EntryValue::Value(SHARED_WINDOW),
            _ => {
                let known = SPECIAL.iter().find(|(known, _)| *known == name);
                let name = match known {
                    Some((_, special)) => (*special).to_owned(),
                    None => dimension(name).ok_or_else(|| {
                        format!("the value of the special register `{name}` is not known")
                    })?,
                };
                EntryValue::Special(name)
            }
        };
        if name.ends_with("MASK") || name == "SR_LANEID" {
            self.note(LONE_LANE);
        }
        if name == "SR_CgaCtaId" {
            self.note("the CTA is the first of its cluster");
        }
        if name.contains("TIMER") || name.contains("CLOCK") {
            self.note("a clock has the same value each time");
        }
        self.initial.insert(name.to_owned(), value);
        Ok(())
    }

    /// The variables of the function; where its shared memory is, if it is accessed.
    pub(super) fn variables(
        &mut self,
        lines: &[&ListingLine<'_>],
    ) -> TextResult<Vec<FunctionVariable>> {
        let has = |opcodes: &[&str]| {
            lines.iter().any(|line| opcodes.contains(&line.instruction.opcode.text))
        };
        let mut all = self.signature.variables.clone();
        let own: Vec<FunctionVariable> =
            all.iter().filter(|v| v.space == Space::Shared).cloned().collect();
        // Without a variable, these are the code for generic addresses that turn out to be in shared memory.
        let generic = self.initial.contains_key("SR_SWINHI");
        if generic || has(&["LDS", "STS", "ATOMS", "REDS", "LDSM"]) {
            let begin = self.family.abi().shared;
            if own.len() > 1 {
                self.note(layout::ASSUMED);
            }
            for (at, name) in layout::places(&own, begin, self.shared)? {
                let place = EntryValue::Address(name.to_owned());
                self.initial.insert(format!("shared[{at:#x}]"), place);
            }
        }
        if has(&["LDL", "STL"]) {
            // The stack grows down from the stack pointer, which is 0.
            let begin = u32::MAX - FRAME + 1;
            let mut name = "frame".to_owned();
            while all.iter().any(|variable| variable.name == name) {
                name.push('_');
            }
            self.initial.insert(format!("local[{begin:#x}]"), EntryValue::Address(name.clone()));
            all.push(FunctionVariable {
                name,
                space: Space::Local,
                bytes: FRAME,
                ..FunctionVariable::default()
            });
        }
        for value in self.initial.values() {
            let EntryValue::Address(name) = value else { continue };
            if !all.iter().any(|known| known.name == *name) {
                return Err(format!("the variable `{name}`, which the module does not define"));
            }
        }
        Ok(all)
    }
}

/// The assumed size in bytes of the stack.
const FRAME: u32 = 4096;

/// The upper half of the generic addresses of shared memory.
const SHARED_WINDOW: u64 = 0x0100_0000;

/// Special registers, as PTX names them.
const SPECIAL: &[(&str, &str)] = &[
    ("SR_LANEID", "laneid"),
    ("SR_LTMASK", "lanemask_lt"),
    ("SR_LEMASK", "lanemask_le"),
    ("SR_EQMASK", "lanemask_eq"),
    ("SR_GTMASK", "lanemask_gt"),
    ("SR_GEMASK", "lanemask_ge"),
    ("SR_CgaCtaId", "cluster_ctarank"),
    ("SR_CLOCKLO", "clock"),
    ("SR_CLOCKHI", "clock_hi"),
    ("SR_GLOBALTIMERLO", "globaltimer"),
    ("SR_GLOBALTIMERHI", "globaltimer_hi"),
    ("SR_VIRTUALSMID", "smid"),
];

/// `SR_TID.X` and `SR_CTAID.X` as PTX names them.
fn dimension(name: &str) -> Option<String> {
    let (base, dimension) = name.rsplit_once('.')?;
    let base = match base {
        "SR_TID" => "tid",
        "SR_CTAID" => "ctaid",
        _ => return None,
    };
    matches!(dimension, "X" | "Y" | "Z").then(|| format!("{base}.{}", dimension.to_lowercase()))
}

fn opcode<'i>(instruction: &'i Instruction<'_>) -> &'i str {
    instruction.opcode.text
}
