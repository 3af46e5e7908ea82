//! Which functions an indirect call may call.
//!
//! Addresses of functions are numbers here. What a body does with them is followed through its registers and its local
//! memory, in the order of its instructions; what it reads elsewhere may be the address of any function whose address
//! is taken. A call of another function is a trap.

use std::collections::{BTreeMap, BTreeSet};

use ptx::{BodyItem, Instruction, PrintedOperand};

use super::operand::scalars;
use super::parameter::width;
use super::{FunctionReader, ModuleContents, Purpose};

/// Indices of functions of the module.
pub(super) type FunctionSet = BTreeSet<usize>;

/// The functions whose addresses registers and local memory may hold, by their names and addresses as written.
type Held = BTreeMap<String, FunctionSet>;

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

impl<'a> FunctionReader<'_, 'a> {
    /// The functions that each indirect call of a body may call, by the index of the call in the body.
    pub(super) fn callees(&self, items: &[BodyItem<'a>]) -> BTreeMap<usize, FunctionSet> {
        let is_indirect = |item: &BodyItem<'a>| matches!(item, BodyItem::Instruction(of) if indirect(of).is_some());
        let mut found = BTreeMap::new();
        if !matches!(self.contents.purpose, Purpose::Launch(_)) || !items.iter().any(is_indirect) {
            return found;
        }
        let mut at_labels: BTreeMap<String, Held> = BTreeMap::new();
        loop {
            let before = at_labels.clone();
            let mut held = Held::new();
            for (index, item) in items.iter().enumerate() {
                match item {
                    BodyItem::Label(label) => {
                        let jumped = at_labels.entry((*label).to_owned()).or_default();
                        join(jumped, &held);
                        held = jumped.clone();
                    }
                    BodyItem::Instruction(of) => {
                        if let Some(register) = indirect(of) {
                            let functions = held.get(&register).cloned().unwrap_or_default();
                            found.insert(index, functions);
                        }
                        self.follow(of, &mut held, &mut at_labels);
                    }
                    BodyItem::Open
                    | BodyItem::Close
                    | BodyItem::Register { .. }
                    | BodyItem::Variable(_)
                    | BodyItem::Targets(_) => {}
                }
            }
            if at_labels == before {
                return found;
            }
        }
    }

    /// What registers and memory hold after an instruction.
    fn follow(
        &self,
        of: &Instruction<'a>,
        held: &mut Held,
        at_labels: &mut BTreeMap<String, Held>,
    ) {
        let parts: Vec<&str> = of.name.split('.').collect();
        match parts[0] {
            "bra" | "brx" => {
                // Targets of a table may be all labels.
                for label in of.operands.iter().flat_map(scalars) {
                    join(at_labels.entry(label).or_default(), held);
                }
                if parts[0] == "brx" {
                    for at in at_labels.values_mut() {
                        join(at, held);
                    }
                }
                if of.guard.is_none() {
                    held.clear();
                }
            }
            "ret" | "exit" if of.guard.is_none() => held.clear(),
            // What is read of parameters may be any function.
            "st" if parts.iter().any(|part| part.starts_with("param")) => {}
            "st" => {
                let (places, values) = places(of, &parts);
                for (place, value) in places.into_iter().zip(values) {
                    let functions = held.get(&value).cloned().unwrap_or_default();
                    replace(held, place, functions, of.guard.is_some());
                }
            }
            "call" => {}
            opcode => {
                let functions = self.sources(of, opcode, &parts, held);
                for register in &of.defines {
                    forget_address(held, register);
                    replace(held, (*register).to_owned(), functions.clone(), of.guard.is_some());
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
        held: &Held,
    ) -> FunctionSet {
        if let Some(function) = moved(of).and_then(|source| self.contents.addressed(&source)) {
            return FunctionSet::from([function]);
        }
        if !of.memory && opcode != "atom" {
            let read = of.operands.iter().skip(1).flat_map(scalars);
            let read = read.filter_map(|register| held.get(&register));
            return read.flatten().copied().collect();
        }
        if parts.contains(&"local") {
            let memory = held.iter().filter(|(place, _)| place.starts_with('['));
            return memory.flat_map(|(_, functions)| functions.iter().copied()).collect();
        }
        // An address has 64 bits.
        if parts.last().is_some_and(|ty| width(ty) == 64) {
            return self.contents.taken().clone();
        }
        FunctionSet::new()
    }
}

/// Memory at addresses that no register holds any more.
const ELSEWHERE: &str = "[]";

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
fn places(of: &Instruction<'_>, parts: &[&str]) -> (Vec<String>, Vec<String>) {
    let values: Vec<String> = of.operands.iter().flat_map(scalars).collect();
    let address = of.operands.iter().find_map(|operand| {
        let PrintedOperand::Address { base: Some(base), offset, .. } = operand else { return None };
        Some((base.to_string(), *offset))
    });
    let Some((base, offset)) = address else { return (Vec::new(), values) };
    let step = i64::from(parts.last().map_or(0, |ty| width(ty)) / 8).max(1);
    let place = |at: i64| format!("[{base}{at:+}]");
    let places = (0..).map(|index| place(offset + step * index)).take(values.len()).collect();
    (places, values)
}

/// After a register has another value, memory whose address it held has no name.
fn forget_address(held: &mut Held, register: &str) {
    let base = format!("[{register}");
    let is_there =
        |place: &&String| place.strip_prefix(&base).is_some_and(|at| at.starts_with(['+', '-']));
    let places: Vec<String> = held.keys().filter(is_there).cloned().collect();
    for place in places {
        let functions = held.remove(&place).unwrap_or_default();
        replace(held, ELSEWHERE.to_owned(), functions, true);
    }
}

fn join(into: &mut Held, from: &Held) {
    for (place, functions) in from {
        into.entry(place.clone()).or_default().extend(functions);
    }
}

/// `guarded`: what was there may stay.
fn replace(held: &mut Held, place: String, functions: FunctionSet, guarded: bool) {
    if guarded {
        if !functions.is_empty() {
            held.entry(place).or_default().extend(functions);
        }
    } else if functions.is_empty() {
        held.remove(&place);
    } else {
        held.insert(place, functions);
    }
}
