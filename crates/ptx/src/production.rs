//! Productions: what an instruction without rules of its own may look like, as text. [`crate::productions`] has them all.
//!
//! A production has the name of the instruction, its modifiers, and after a colon its operands:
//! `mbarrier.try_wait@7.8/90 parity {relaxed+cta@8.6, relaxed+cluster@8.6} {shared, shared::cta} b64 : p, m, #32(0,1) {, #}`.
//!
//! - A word is a modifier that must be there; `<a, b>` is one of several, `{a, b}` one of several or none, and `[a, b]` the same
//!   where ptxas takes them and the document does not have them. `a+b` are modifiers that come together, and `a+(b/c)` stands for `a+b, a+c`, as
//!   `a(b/c)` for `ab, ac`. The order in which modifiers are written is not checked.
//! - `{a, b}*` is any of them in any number, where it is not checked which go together. In such a word `#` is any number, and `*` at the end any rest.
//! - `@8.6/90` after a word says what brought it: the version of PTX, and the targets, separated by `|`: `90` is that
//!   number or a higher one, `pre70` a lower one than 70, or any below PTX ISA 6.4, and `90a` or `100f` a name in `gate.rs`.
//! - Operands are addresses: `m` in the state space that the modifiers say, `mg` in global memory, `ms` in shared memory, `ma` in tensor memory (`mb` in a register
//!   of bits, `mc` in one of pairs as well), `mw` in a register of 32 or 64 bits whatever the state space, `ml` in one of 64 bits, `mp` in such a one or a variable in global
//!   memory, `mo` in local memory, `t` with coordinates, `h` of an endpoint of the fabric, and an offset, `hc` with that of a counter; registers of this many bits that are not of floating point: `8`, `16`, `32`, `64`, `q` of 128; `w32` a register of 32 bits
//!   of any type, `f32` one of floating point or of bits; `a32` and `a64` an address in such a register, or the name of a variable in
//!   shared memory; `u32` a register of 32 bits that has integers, bits or a pair;
//!   `g` a variable in the state space of the modifiers, `e` any with a number added to its address; `p` a predicate, `n` one that may be negated, `s` one that may be negated, or an integer; `y` the registers that the type of
//!   the instruction says, `yv` those of a source; `v*` as many registers as the modifiers say, `vl` such ones that may be special, `v4` four,
//!   `va` four for the rows of a matrix, `vh` half as many, `vm` the words of what says where they were, `o` offsets of 16 bits; `l` a label, `_` the sink, `i` an integer, `d` a number of floating point, `r` one above 0 and up to 1, `#32` a register or an
//!   integer (as `#16`, `#64`, `#w32`, `#w64`); `a/b` is one of several, `a|b` two results. `(4,8,16)` after `#32` or `i` are the
//!   values of an integer, `(0..7)` its range, `(*16)` what it is a multiple of. `{, a}` may be missing; `(a: b)` is there exactly if a
//!   modifier begins with `a`.
//! - `...` in the place of the operands, or among the modifiers, is whatever is not checked; of operands the first one is written, as in
//!   lists of operands that begin with a register, and in `(...)` none is.
//! - ` ! why` at the end: ptxas takes the instruction, and the document forbids it, or does not have it. ` !deprecated@9.5 why` is a
//!   form that is deprecated from that version on, and ` !trap@/120 why` one that ptxas makes a trap of for these targets.

mod gate;
mod warning;

use crate::operand_kind::{TensorFault, fits, is_space, tensor_fault, vector_length};
pub(crate) use crate::operand_kind::{WrittenOperand, WrittenType};
use crate::version::{PtxIsa, Target};
pub(crate) use gate::target_names;
use gate::{ProductionGate, gate};
use warning::ProductionWarning;
pub(crate) use warning::WarningKind;

/// What is not checked.
const OPEN: &str = "...";
/// The same for operands of which none is written.
const SOURCES: &str = "(...)";

/// Modifiers that come together, and what brought them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ModifierChoice {
    pub(crate) words: Vec<&'static str>,
    pub(crate) gate: ProductionGate,
}

/// A place for modifiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ModifierSlot {
    pub(crate) optional: bool,
    /// Whether only ptxas takes what stands here.
    undocumented: bool,
    pub(crate) choices: Vec<ModifierChoice>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum ProductionOperand {
    Always(OperandRule),
    Optional(OperandRule),
    /// There exactly if a modifier begins with this word.
    With(&'static str, OperandRule),
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct OperandRule {
    /// As they are written: `64`, `_`, `m`.
    kinds: Vec<&'static str>,
    values: Vec<OperandValues>,
    gate: ProductionGate,
    /// As it is written, without its gate.
    text: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OperandValues {
    One(i64),
    Range(i64, i64),
    MultipleOf(i64),
}

/// A way to write an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Production {
    pub(crate) gate: ProductionGate,
    pub(crate) slots: Vec<ModifierSlot>,
    /// Modifiers that it may have in any number.
    list: Vec<&'static str>,
    /// Whether it may have any other modifiers.
    is_open: bool,
    /// `None` if they are not checked.
    operands: Option<Vec<ProductionOperand>>,
    /// What is to be said of it although ptxas takes it.
    warnings: Vec<ProductionWarning>,
    /// The operands as they are written.
    operand_text: &'static str,
}

/// What is wrong with an instruction under a production. Positions are those of modifiers after the head, and of operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The production has no such modifier, or not in this combination.
    Modifier(usize),
    /// A place for modifiers is empty: what belongs there.
    Missing(Vec<String>),
    /// Of the instruction, a modifier or an operand.
    Version(FaultPlace, PtxIsa),
    Target(FaultPlace, &'static str),
    /// Another kind of operand is expected.
    Operand(usize, &'static str),
    /// The integer is not one of these.
    Value(usize, &'static str),
    /// There are more or fewer operands: what is expected.
    Count(&'static str),
    /// The size of the vector of coordinates, and what it is.
    Coordinates(usize, usize),
    /// The number of registers of an operand, and what it is.
    Registers(usize, usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FaultPlace {
    Head,
    Modifier(usize),
    Operand(usize),
}

/// `relaxed+(cta/cluster)@8.6` as two choices.
fn choices(text: &'static str, all: &mut Vec<ModifierChoice>) -> Option<()> {
    let (words, gate) = gate(text.trim())?;
    let mut expanded: Vec<Vec<&'static str>> = vec![Vec::new()];
    for part in words.split('+') {
        let alternatives = alternatives(part.trim())?;
        expanded = expanded
            .iter()
            .flat_map(|words| alternatives.iter().map(|one| [&words[..], &[*one]].concat()))
            .collect();
    }
    all.extend(expanded.into_iter().map(|words| ModifierChoice { words, gate }));
    Some(())
}

/// `a(b/c)` as two words.
fn alternatives(text: &'static str) -> Option<Vec<&'static str>> {
    let Some((before, rest)) = text.split_once('(') else {
        return (!text.is_empty()).then(|| vec![text]);
    };
    let (inner, after) = rest.split_once(')')?;
    let mut all = Vec::new();
    for one in inner.split('/').filter(|one| !one.is_empty()) {
        if before.is_empty() && after.is_empty() {
            all.push(one);
        } else {
            // The table lasts as long as the program.
            all.extend(alternatives(format!("{before}{one}{after}").leak())?);
        }
    }
    Some(all)
}

pub(crate) fn read(text: &'static str) -> Option<Production> {
    let mut pieces = text.split(" !");
    let text = pieces.next()?;
    let warnings = pieces.map(warning::read).collect::<Option<_>>()?;
    let (left, operand_text) = text.split_once(" : ").unwrap_or((text.trim_end_matches(" :"), ""));
    let left = left.trim();
    let (name, mut rest) = left.split_once(' ').unwrap_or((left, ""));
    let (_, gate) = gate(name)?;
    let (mut slots, mut list, mut is_open) = (Vec::new(), Vec::new(), false);
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { break };
        let close = match first {
            '{' => Some('}'),
            '<' => Some('>'),
            '[' => Some(']'),
            _ => None,
        };
        let undocumented = first == '[';
        let mut slot = ModifierSlot {
            optional: first == '{' || undocumented,
            undocumented,
            choices: Vec::new(),
        };
        if let Some(close) = close {
            let end = rest.find(close)?;
            for choice in rest[1..end].split(',') {
                choices(choice, &mut slot.choices)?;
            }
            rest = &rest[end + 1..];
            if let Some(after) = rest.strip_prefix('*') {
                rest = after;
                for choice in slot.choices {
                    let ([word], true) = (&*choice.words, choice.gate == ProductionGate::default())
                    else {
                        return None;
                    };
                    list.push(*word);
                }
                continue;
            }
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            if word == OPEN {
                is_open = true;
                continue;
            }
            choices(word, &mut slot.choices)?;
        }
        slots.push(slot);
    }
    let operand_text = operand_text.trim();
    let open = [OPEN, SOURCES].contains(&operand_text);
    let operands = if open { None } else { Some(operands(operand_text)?) };
    Some(Production { gate, slots, list, is_open, operands, warnings, operand_text })
}

fn operands(text: &'static str) -> Option<Vec<ProductionOperand>> {
    let mut all = Vec::new();
    for part in operand_texts(text) {
        let part = part.trim();
        if let Some(inner) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            all.push(ProductionOperand::Optional(rule(inner.trim_start_matches(',').trim())?));
        } else if let Some((with, kind)) =
            part.strip_prefix('(').and_then(|part| part.strip_suffix(')')?.split_once(": "))
        {
            all.push(ProductionOperand::With(with.trim(), rule(kind.trim())?));
        } else {
            all.push(ProductionOperand::Always(rule(part)?));
        }
    }
    Some(all)
}

fn rule(text: &'static str) -> Option<OperandRule> {
    let (text, gate) = gate(text)?;
    let (kinds, values) = match text.split_once('(') {
        Some((kinds, values)) => (kinds, values.strip_suffix(')')?),
        None => (text, ""),
    };
    let value = |text: &str| {
        if let Some(of) = text.strip_prefix('*') {
            return Some(OperandValues::MultipleOf(of.parse().ok()?));
        }
        match text.split_once("..") {
            Some((first, last)) => Some(OperandValues::Range(
                first.parse().ok()?,
                if last.is_empty() { i64::MAX } else { last.parse().ok()? },
            )),
            None => Some(OperandValues::One(text.parse().ok()?)),
        }
    };
    let values = values.split(',').filter(|value| !value.is_empty()).map(value);
    Some(OperandRule {
        kinds: kinds.split('/').collect(),
        values: values.collect::<Option<_>>()?,
        gate,
        text,
    })
}

/// Splits at commas outside of brackets.
pub(crate) fn split(text: &str) -> Vec<&str> {
    split_at(text, |c| c == ',')
}

/// The pieces between signs outside of brackets, without empty ones.
fn split_at(text: &str, separates: impl Fn(char) -> bool) -> Vec<&str> {
    let (mut depth, mut start, mut all) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 && separates(c) => {
                all.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    all.push(&text[start..]);
    all.retain(|part| !part.trim().is_empty());
    all
}

/// The operands of a production, as they are written there.
pub(crate) fn operand_texts(text: &str) -> Vec<&str> {
    split_at(text, |c| c == ',' || c == ' ')
}

impl OperandRule {
    /// What is wrong with an operand, if anything is.
    fn fault(
        &self,
        index: usize,
        operand: &WrittenOperand<'_>,
        modifiers: &[&str],
    ) -> Option<Fault> {
        let Some(kind) = self.kinds.iter().find(|kind| fits(kind, operand, modifiers)) else {
            return Some(Fault::Operand(index, self.text));
        };
        if let Some(wanted) =
            vector_length(kind, modifiers).filter(|_| operand.text.starts_with('{'))
        {
            let count = split(operand.text[1..].trim_end_matches('}')).len();
            return (count != wanted).then_some(Fault::Registers(index, wanted));
        }
        let number = crate::constant::value(operand.text)?;
        let mut multiples =
            self.values.iter().filter(|one| matches!(one, OperandValues::MultipleOf(_)));
        let mut values =
            self.values.iter().filter(|one| !matches!(one, OperandValues::MultipleOf(_)));
        let holds = |value: &OperandValues| match *value {
            OperandValues::One(one) => number == one,
            OperandValues::Range(first, last) => (first..=last).contains(&number),
            OperandValues::MultipleOf(of) => number % of == 0,
        };
        let listed = values.clone().next().is_none() || values.any(holds);
        (!listed || !multiples.all(holds)).then_some(Fault::Value(index, self.text))
    }
}

impl Production {
    /// The modifiers that it may have.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        let choices = self.slots.iter().flat_map(|slot| &slot.choices);
        choices.flat_map(|choice| &choice.words).chain(&self.list).copied()
    }

    pub(crate) fn has(&self, modifier: &str) -> bool {
        self.is_open || self.words().any(|word| is(modifier, word))
    }

    /// Whether the first operand is what it writes.
    pub(crate) fn has_result(&self) -> bool {
        let is_register = |kind: &&str| kind.starts_with(is_first_of_register);
        match self.operands.as_deref() {
            None => self.operand_text != SOURCES,
            Some([ProductionOperand::Always(first), ..]) => first.kinds.iter().all(is_register),
            Some(_) => false,
        }
    }

    pub(crate) fn has_operands(&self) -> bool {
        self.operands.as_ref().is_none_or(|operands| !operands.is_empty())
    }

    /// Why the document does not have it, if only ptxas does.
    pub(crate) fn document(&self) -> Option<&'static str> {
        let mut warnings = self.warnings.iter();
        warnings.find(|one| one.kind == WarningKind::Document).map(|one| one.why)
    }

    /// Whether it is not checked which modifiers go together.
    pub(crate) fn is_list(&self) -> bool {
        self.is_open || !self.list.is_empty()
    }

    /// Whether modifiers and operands are checked.
    pub(crate) fn is_checked(&self) -> bool {
        !self.is_list() && self.operands.is_some()
    }

    /// Whether it says no more than which modifiers there are.
    pub(crate) fn is_words(&self) -> bool {
        self.is_list()
            && self.slots.is_empty()
            && self.operands.is_none()
            && self.warnings.is_empty()
            && self.gate == ProductionGate::default()
    }

    /// What is to be said of it for this version and target.
    pub(crate) fn warnings(
        &self,
        modifiers: &[&str],
        isa: PtxIsa,
        target: Option<Target>,
    ) -> impl Iterator<Item = ProductionWarning> {
        let undocumented = self.slots.iter().filter(|slot| slot.undocumented);
        let taken = |slot: &&ModifierSlot| {
            slot.choices
                .iter()
                .any(|choice| choice.words.iter().all(|word| modifiers.contains(word)))
        };
        let of_modifiers = undocumented.filter(taken).map(|_| warning::UNDOCUMENTED);
        self.warnings
            .iter()
            .copied()
            .filter(move |one| one.applies(isa, target))
            .chain(of_modifiers)
    }

    /// The modifiers that may stand in the place of one that does not fit: choices that begin with it, or else all
    /// that are not there yet.
    pub(crate) fn choices(&self, word: &str, modifiers: &[&str]) -> impl Iterator<Item = String> {
        let documented = || self.slots.iter().filter(|slot| !slot.undocumented);
        let all = || documented().flat_map(|slot| &slot.choices);
        let similar = all().any(|choice| choice.words[0] == word);
        let fits = move |choice: &&ModifierChoice| {
            if similar {
                choice.words[0] == word
            } else {
                !choice.words.iter().any(|one| modifiers.contains(one))
            }
        };
        let texts: Vec<String> =
            all().filter(fits).map(|choice| format!(".{}", choice.words.join("."))).collect();
        texts.into_iter()
    }

    /// What is wrong with an instruction: modifiers after the head, and operands.
    pub(crate) fn faults(
        &self,
        modifiers: &[&str],
        operands: &[WrittenOperand<'_>],
        isa: PtxIsa,
        target: Option<Target>,
    ) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut gated = |place: FaultPlace, gate: ProductionGate| {
            if let Some(least) = gate.isa.filter(|least| isa < *least) {
                faults.push(Fault::Version(place, least));
            } else if target.is_some_and(|target| !gate.admits(target, isa)) {
                faults.push(Fault::Target(place, gate.targets));
            }
        };
        gated(FaultPlace::Head, self.gate);
        let mut used = vec![false; modifiers.len()];
        let mut missing = Vec::new();
        let mut last_space = None;
        let mut disordered = Vec::new();
        for slot in &self.slots {
            // The largest choice whose words are there, each in a place of its own.
            let places = |words: &[&str]| {
                let mut places = Vec::with_capacity(words.len());
                for word in words {
                    let free = |at: &usize| !used[*at] && !places.contains(at);
                    let at = (0..modifiers.len()).filter(free);
                    places.push(at.into_iter().find(|&at| is(modifiers[at], word))?);
                }
                Some(places)
            };
            let taken = slot
                .choices
                .iter()
                .filter_map(|choice| Some((choice, places(&choice.words)?)))
                .max_by_key(|(choice, _)| choice.words.len());
            match taken {
                Some((choice, places)) => {
                    if let Some(&first) = places.first() {
                        gated(FaultPlace::Modifier(first), choice.gate);
                    }
                    for place in places {
                        used[place] = true;
                        // Of two spaces the first is that of the destination.
                        if is_space(modifiers[place]) {
                            disordered.extend(last_space.filter(|last| place < *last));
                            last_space = Some(place);
                        }
                        // Of two priorities these are the first.
                        if matches!(modifiers[place], "L2::evict_last" | "L2::evict_normal") {
                            let before = &modifiers[..place];
                            disordered.extend(
                                before.iter().position(|one| one.starts_with("L2::evict_")),
                            );
                        }
                    }
                }
                None if slot.optional => {}
                None => missing.push(slot),
            }
        }
        let listed = |at| self.is_list() && self.has(modifiers[at]);
        let unused = (0..used.len()).filter(|&at| !used[at] && !listed(at));
        faults.extend(unused.chain(disordered).map(Fault::Modifier));
        faults.extend(missing.into_iter().map(|slot| {
            let names = slot.choices.iter().map(|choice| format!(".{}", choice.words.join(".")));
            Fault::Missing(names.collect())
        }));
        self.operand_faults(modifiers, operands, isa, target, &mut faults);
        faults
    }

    fn operand_faults(
        &self,
        modifiers: &[&str],
        operands: &[WrittenOperand<'_>],
        isa: PtxIsa,
        target: Option<Target>,
        faults: &mut Vec<Fault>,
    ) {
        let Some(rules) = &self.operands else { return };
        let wanted: Vec<(&OperandRule, bool)> = rules
            .iter()
            .filter_map(|operand| match operand {
                ProductionOperand::Always(rule) => Some((rule, false)),
                ProductionOperand::Optional(rule) => Some((rule, true)),
                ProductionOperand::With(word, rule) => {
                    let there = modifiers.iter().any(|one| one.starts_with(word));
                    there.then_some((rule, false))
                }
            })
            .collect();
        let least = wanted.iter().filter(|(_, optional)| !optional).count();
        let mut spare = match operands.len().checked_sub(least) {
            Some(spare) if operands.len() <= wanted.len() => spare,
            Some(_) | None => return faults.push(Fault::Count(self.operand_text)),
        };
        let (mut at, mut left) = (0, self.operand_text);
        for (rule, optional) in wanted {
            let Some(operand) = operands.get(at) else { break };
            let fault = rule.fault(at, operand, modifiers);
            let is_kind = !matches!(fault, Some(Fault::Operand(..)));
            if optional {
                if spare == 0 || !is_kind {
                    left = rule.text;
                    continue;
                }
                spare -= 1;
            }
            if let Some(least) = rule.gate.isa.filter(|least| isa < *least) {
                faults.push(Fault::Version(FaultPlace::Operand(at), least));
            } else if target.is_some_and(|target| !rule.gate.admits(target, isa)) {
                faults.push(Fault::Target(FaultPlace::Operand(at), rule.gate.targets));
            }
            faults.extend(fault);
            if is_kind && rule.kinds == ["t"] {
                faults.extend(tensor_fault(operand, modifiers).map(|fault| match fault {
                    TensorFault::Coordinates(wanted) => Fault::Coordinates(at, wanted),
                    TensorFault::Form => Fault::Operand(at, rule.text),
                }));
            }
            at += 1;
        }
        if at < operands.len() {
            faults.push(Fault::Operand(at, left));
        }
    }
}

/// Whether kinds of operands that begin with it are registers, a sink among them.
fn is_first_of_register(c: char) -> bool {
    c.is_ascii_digit() || "_pqwfuyv".contains(c)
}

/// Whether a part is this word, in which each `#` is a number and a `*` at the end any rest.
pub fn is(part: &str, word: &str) -> bool {
    if let Some(start) = word.strip_suffix('*') {
        return part.len() > start.len() && part.starts_with(start);
    }
    if !word.contains('#') {
        return part == word;
    }
    let mut rest = part;
    let mut pieces = word.split('#');
    let first = pieces.next().unwrap_or("");
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    for piece in pieces {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if number.len() == rest.len() {
            return false;
        }
        let Some(after) = number.strip_prefix(piece) else { return false };
        rest = after;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{opcode, productions};

    #[test]
    fn every_kind_of_operand_is_known() {
        let heads = opcode::all().filter_map(productions::of_opcode).flatten();
        for production in heads.flat_map(productions::InstructionHead::productions) {
            let kinds = production.operands.iter().flatten().flat_map(|operand| match operand {
                ProductionOperand::Always(rule)
                | ProductionOperand::Optional(rule)
                | ProductionOperand::With(_, rule) => rule.kinds.clone(),
            });
            for kind in kinds {
                let known = [
                    "m", "mg", "ms", "ma", "mb", "mc", "mw", "ml", "mp", "mo", "t", "o", "_", "p",
                    "n", "s", "i", "d", "r", "#16", "#32", "#64", "#w32", "#w64", "w32", "f32",
                    "a32", "a64", "8", "16", "32", "64", "q", "l", "u32", "e", "g", "y", "yv",
                    "v*", "vl", "va", "v4", "vh", "vm", "h", "hc",
                ];
                assert!(known.contains(&kind) || kind.contains('|'), "`{kind}` in {production:?}");
            }
        }
    }

    #[test]
    fn modifiers_may_be_listed() {
        let production = read("a {b, c#}* d(e/f)g : ...").expect("it is a production");
        assert_eq!(production.words().collect::<Vec<_>>(), ["deg", "dfg", "b", "c#"]);
        let faults =
            |modifiers: &[&str]| production.faults(modifiers, &[], PtxIsa::NEWEST, None).len();
        assert_eq!(
            [faults(&["deg", "c1", "b", "b"]), faults(&["b"]), faults(&["dfg", "c"])],
            [0, 1, 1]
        );
        assert!(!production.is_words() && !production.is_checked());
        assert!(read("a {b}* : ...").is_some_and(|one| one.is_words()));
        assert_eq!(read("a {b+c}* : ..."), None);
    }

    #[test]
    fn a_production_has_slots_operands_and_gates() {
        let production = read(
            "a.b@8.0/90 c {d+(e/f)@8.6, g@/100f} <h, i> [j] : m, 64/_ {, #(1..4,*2)} (d: p) ! why !trap@9.5/120 it stops",
        )
        .expect("it is a production");
        let said = |isa, target| {
            let warnings = production.warnings(&["c", "h"], isa, Target::parse(target));
            warnings.map(|one| (one.kind, one.why)).collect::<Vec<_>>()
        };
        assert_eq!(production.warnings(&["c", "j"], PtxIsa::new(9, 4), None).count(), 2);
        let document = (WarningKind::Document, "why");
        assert_eq!(said(PtxIsa::new(9, 4), "sm_120"), [document]);
        assert_eq!(said(PtxIsa::new(9, 5), "sm_100"), [document]);
        assert_eq!(said(PtxIsa::new(9, 5), "none"), [document]);
        assert_eq!(said(PtxIsa::new(9, 5), "sm_120"), [document, (WarningKind::Trap, "it stops")]);
        assert_eq!(
            production.slots.iter().map(|slot| slot.optional).collect::<Vec<_>>(),
            [false, true, false, true]
        );
        assert_eq!(production.slots[1].choices[1].words, ["d", "f"]);
        assert_eq!(
            production.slots[1].choices[2].gate,
            ProductionGate { isa: None, targets: "100f" }
        );
        assert_eq!(production.operands.map(|all| all.len()), Some(4));
        assert_eq!(read("a <b : m"), None);
        assert_eq!(read("a : m !unknown why"), None);
        assert_eq!(read("a b+ : m"), None);
        assert_eq!(read("a : i(x)"), None);
    }
}
