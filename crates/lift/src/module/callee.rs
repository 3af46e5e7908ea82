//! Which functions an indirect call may call.
//!
//! Addresses of functions are numbers here. What a body does with them is followed through its registers and its local
//! memory; what it reads elsewhere may be the address of any function whose address is taken. A call of another function is a
//! trap. What memory holds is followed in the order of instructions. A register holds the same everywhere, whatever of its
//! writes came last: compilers write most registers once, and the registers of a long body at each of its labels would take
//! more memory than there is.

use std::collections::{BTreeMap, BTreeSet};

use ptx::{BodyItem, Instruction, PrintedOperand};

use super::operand::scalars;
use super::parameter::width;
use super::{ModuleContents, Purpose};

/// Indices of functions of the module.
pub(super) type FunctionSet = BTreeSet<usize>;

/// Local memory: the register of the address and the offset, as written; without a register, memory whose address no register holds
/// any more.
type LocalPlace = (Option<String>, i64);

/// The functions whose addresses local memory may hold.
type HeldByMemory = BTreeMap<LocalPlace, FunctionSet>;

/// What a body does with the addresses of functions.
#[derive(Default)]
struct FollowedBody {
    /// What registers may hold anywhere.
    registers: BTreeMap<String, FunctionSet>,
    /// What memory may hold at labels.
    at_labels: BTreeMap<String, HeldByMemory>,
    /// What it may hold at the instruction that is followed.
    memory: HeldByMemory,
    /// Whether something is more than what was known of it.
    changed: bool,
}

/// The distance between the addresses of functions.
const STEP: u64 = 16;

/// The address that a function of a launch has.
pub(super) fn address(function: usize) -> u64 {
    STEP * (function as u64 + 1)
}

impl ModuleContents<'_, '_> {
    /// The function of this name, if its address is a number.
    pub(super) fn addressed(&self, name: &str) -> Option<usize> {
        if !matches!(self.purpose, Purpose::Launch(_)) {
            return None;
        }
        let name = self.module.aliased(name).unwrap_or(name);
        self.functions.iter().position(|function| function.name == name && !function.kernel)
    }

    /// The functions whose addresses are taken: by a body, or by the initial value of a variable.
    pub(super) fn taken(&self) -> &FunctionSet {
        self.taken.get_or_init(|| {
            let mut taken = FunctionSet::new();
            for global in self.globals.values() {
                let words = global.declared.value.into_iter().flat_map(|value| {
                    value.split(|c: char| !(c.is_ascii_alphanumeric() || "_$%".contains(c)))
                });
                taken.extend(words.filter_map(|word| self.addressed(word)));
            }
            for index in 0..self.functions.len() {
                for item in self.module.body(index) {
                    if let BodyItem::Instruction(of) = item
                        && let Some(source) = moved(&of)
                    {
                        taken.extend(self.addressed(&source));
                    }
                }
            }
            taken
        })
    }
}

/// The source of a `mov`.
fn moved(instruction: &Instruction<'_>) -> Option<String> {
    let [_, source] = &instruction.operands[..] else { return None };
    instruction.name.starts_with("mov.").then(|| scalars(source).pop()).flatten()
}

impl<'a> ModuleContents<'_, 'a> {
    /// The functions that each indirect call of a body may call, by the index of the call in the body.
    pub(super) fn callees(&self, items: &[BodyItem<'a>]) -> BTreeMap<usize, FunctionSet> {
        let is_indirect = |item: &BodyItem<'a>| matches!(item, BodyItem::Instruction(of) if indirect(of).is_some());
        if !matches!(self.purpose, Purpose::Launch(_)) || !items.iter().any(is_indirect) {
            return BTreeMap::new();
        }
        let body = self.followed(items);
        let calls = items.iter().enumerate().filter_map(|(index, item)| {
            let BodyItem::Instruction(of) = item else { return None };
            let functions = body.registers.get(&indirect(of)?).cloned().unwrap_or_default();
            Some((index, functions))
        });
        calls.collect()
    }

    fn followed(&self, items: &[BodyItem<'a>]) -> FollowedBody {
        let mut body = FollowedBody { changed: true, ..FollowedBody::default() };
        while std::mem::take(&mut body.changed) {
            body.memory.clear();
            for item in items {
                match item {
                    BodyItem::Label(label) => {
                        body.at_label(label);
                        body.memory.clone_from(&body.at_labels[*label]);
                    }
                    BodyItem::Instruction(of) => self.follow(of, &mut body),
                    BodyItem::Open
                    | BodyItem::Close
                    | BodyItem::Register { .. }
                    | BodyItem::Variable(_)
                    | BodyItem::Targets(_) => {}
                }
            }
        }
        body
    }

    /// What registers and memory hold after an instruction.
    fn follow(&self, of: &Instruction<'a>, body: &mut FollowedBody) {
        let parts: Vec<&str> = of.name.split('.').collect();
        match parts[0] {
            "bra" | "brx" => {
                // Targets of a table may be all labels.
                for label in of.operands.iter().flat_map(scalars) {
                    body.at_label(&label);
                }
                if parts[0] == "brx" {
                    for label in body.at_labels.keys().cloned().collect::<Vec<_>>() {
                        body.at_label(&label);
                    }
                }
                if of.guard.is_none() {
                    body.memory.clear();
                }
            }
            "ret" | "exit" if of.guard.is_none() => body.memory.clear(),
            // What is read of parameters may be any function.
            "st" if parts.iter().any(|part| part.starts_with("param")) => {}
            "st" => {
                let (places, values) = places(of, &parts);
                for (place, value) in places.into_iter().zip(values) {
                    let functions = body.registers.get(&value).cloned().unwrap_or_default();
                    replace(&mut body.memory, place, functions, of.guard.is_some());
                }
            }
            "call" => {}
            opcode => {
                let functions = self.sources(of, opcode, &parts, body);
                for register in &of.defines {
                    forget_address(&mut body.memory, register);
                    body.writes(register, &functions);
                }
            }
        }
    }

    /// The functions whose addresses an instruction may write.
    fn sources(
        &self,
        of: &Instruction<'a>,
        opcode: &str,
        parts: &[&str],
        body: &FollowedBody,
    ) -> FunctionSet {
        if let Some(function) = moved(of).and_then(|source| self.addressed(&source)) {
            return FunctionSet::from([function]);
        }
        if !of.memory && opcode != "atom" {
            let read = of.operands.iter().skip(1).flat_map(scalars);
            let read = read.filter_map(|register| body.registers.get(&register));
            return read.flatten().copied().collect();
        }
        if parts.contains(&"local") {
            return body.memory.values().flatten().copied().collect();
        }
        // An address has 64 bits.
        if parts.last().is_some_and(|ty| width(ty) == 64) {
            return self.taken().clone();
        }
        FunctionSet::new()
    }
}

impl FollowedBody {
    /// A label is reached with what memory holds here.
    fn at_label(&mut self, label: &str) {
        if !self.at_labels.contains_key(label) {
            self.at_labels.insert(label.to_owned(), HeldByMemory::new());
        }
        let known = self.at_labels.get_mut(label).expect("it is there now");
        for (place, functions) in &self.memory {
            if let Some(known) = known.get_mut(place) {
                self.changed |= extended(known, functions);
            } else {
                known.insert(place.clone(), functions.clone());
                self.changed = true;
            }
        }
    }

    fn writes(&mut self, register: &str, functions: &FunctionSet) {
        match self.registers.get_mut(register) {
            Some(known) => self.changed |= extended(known, functions),
            None if functions.is_empty() => {}
            None => {
                self.registers.insert(register.to_owned(), functions.clone());
                self.changed = true;
            }
        }
    }
}

/// Adds functions, and returns whether one of them is new.
fn extended(known: &mut FunctionSet, functions: &FunctionSet) -> bool {
    let before = known.len();
    known.extend(functions);
    known.len() > before
}

/// The register of an indirect call, after which a table or a prototype is named.
pub(super) fn indirect(of: &Instruction<'_>) -> Option<String> {
    if of.name.split('.').next() != Some("call") {
        return None;
    }
    let mut scalars = of.operands.iter().filter_map(|operand| {
        if let PrintedOperand::Scalar(scalar) = operand { Some(scalar.to_string()) } else { None }
    });
    let callee = scalars.next()?;
    scalars.next().map(|_| callee)
}

/// The places that a store writes, and the values.
fn places(of: &Instruction<'_>, parts: &[&str]) -> (Vec<LocalPlace>, Vec<String>) {
    let values: Vec<String> = of.operands.iter().flat_map(scalars).collect();
    let address = of.operands.iter().find_map(|operand| {
        let PrintedOperand::Address { base: Some(base), offset, .. } = operand else { return None };
        Some((base.to_string(), *offset))
    });
    let Some((base, offset)) = address else { return (Vec::new(), values) };
    let step = i64::from(parts.last().map_or(0, |ty| width(ty)) / 8).max(1);
    let place = |index: i64| (Some(base.clone()), offset + step * index);
    let places = (0..).map(place).take(values.len()).collect();
    (places, values)
}

/// After a register has another value, memory whose address it held has no name.
fn forget_address(memory: &mut HeldByMemory, register: &str) {
    let base = || Some(register.to_owned());
    let there = memory.range((base(), i64::MIN)..=(base(), i64::MAX));
    let there: Vec<LocalPlace> = there.map(|(place, _)| place.clone()).collect();
    for place in there {
        let functions = memory.remove(&place).unwrap_or_default();
        replace(memory, (None, 0), functions, true);
    }
}

/// `guarded`: what was there may stay.
fn replace(memory: &mut HeldByMemory, place: LocalPlace, functions: FunctionSet, guarded: bool) {
    if guarded {
        if !functions.is_empty() {
            memory.entry(place).or_default().extend(functions);
        }
    } else if functions.is_empty() {
        memory.remove(&place);
    } else {
        memory.insert(place, functions);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::{LaunchedArguments, contents};
    use super::*;

    /// How many places have functions at labels, in a body of so many blocks, each with registers of its own.
    fn places_at_labels(blocks: usize) -> (usize, FunctionSet) {
        let mut text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.func f()\n{{\nret;\n}}\n.func g()\n{{\nret;\n}}\n\
             .visible .entry k()\n{{\n.reg .pred %p<2>; .reg .b64 %rd<{}>;\n.local .align 8 .b8 v[8];\n\
             mov.u64 %rd1, f;\nmov.u64 %rd2, g;\nst.local.u64 [v], %rd2;\n",
            blocks + 3
        );
        for block in 0..blocks {
            let (from, to) = (block + 2, block + 3);
            writeln!(
                text,
                "$L_{block}:\nselp.b64 %rd{to}, %rd{from}, %rd1, %p1;\n@%p1 bra $L_{block};"
            )
            .expect("a string takes all");
        }
        writeln!(text, "call %rd{}, prototype_0;\nret;\n}}", blocks + 2)
            .expect("a string takes all");
        let (module, _) = ptx::read("m.ptx", text.as_bytes());
        let (module, arguments) = (module.expect("a module"), LaunchedArguments::default());
        let contents = contents(&module, &[], Purpose::Launch(&arguments));
        let items = module.body(2);
        let places = contents.followed(&items).at_labels.values().map(BTreeMap::len).sum();
        let called = contents.callees(&items).into_values().flatten().collect();
        (places, called)
    }

    #[test]
    fn labels_hold_memory_and_no_registers() {
        let (few, many) = (places_at_labels(4), places_at_labels(64));
        assert_eq!((few.0, many.0), (4, 64));
        assert_eq!(few.1, FunctionSet::from([0, 1]));
        assert_eq!(many.1, few.1);
    }
}
