//! The control flow of a function, and where the addresses of its instructions come from.

use std::collections::{BTreeMap, BTreeSet};

use crate::modifier;
use crate::production;
use crate::syntax::{BodyMark, Function, Guard, ModuleSyntax, Range, Statement};
use text::report::ByteSpan;

/// So many visits of basic blocks and comparisons of instructions for one function; a function that needs more is not
/// checked to its end.
const MOST_VISITS: usize = 50_000_000;

/// An address is followed through at most this many definitions.
const MOST_DEFINITIONS: usize = 64;

/// An instruction.
pub(super) struct FlowStep<'a> {
    /// The parts of its name.
    pub(super) at: ByteSpan,
    pub(super) parts: Vec<&'a str>,
    /// As they are written.
    pub(super) operands: Vec<&'a str>,
    /// The predicate, and whether it is negated.
    pub(super) guard: Option<(&'a str, bool)>,
    /// What it defines.
    defines: Vec<&'a str>,
    uses: Vec<&'a str>,
    /// The index of its basic block.
    block: usize,
}

impl<'a> FlowStep<'a> {
    /// Whether these are the first parts of its name: `cp.async.bulk`.
    pub(super) fn begins(&self, head: &str) -> bool {
        let mut parts = self.parts.iter();
        head.split('.').all(|word| parts.next() == Some(&word))
    }

    /// Whether this is a part of its name.
    pub(super) fn has(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    pub(super) fn has_any(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.has(part))
    }

    /// The parts of its name that the productions begin with.
    pub(super) fn head(&self) -> String {
        self.parts[..modifier::head(&self.parts).unwrap_or(1)].join(".")
    }

    /// The operand at this index if it is an address: what is between its brackets.
    pub(super) fn address(&self, index: usize) -> Option<&'a str> {
        let text = self.operands.get(index)?.trim();
        Some(text.strip_prefix('[')?.strip_suffix(']')?.trim())
    }

    /// The operand at this index if it is an integer.
    pub(super) fn integer(&self, index: usize) -> Option<i64> {
        integer(self.operands.get(index)?.trim())
    }

    pub(super) fn is_call(&self) -> bool {
        self.begins("call")
    }
}

fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = digits.trim_end_matches('U');
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// What an address is a distance from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum AddressOrigin<'a> {
    /// A variable, or the parameter whose value it is.
    Name(&'a str),
    /// The result of the instruction at this index.
    Result(usize),
    /// The result of one of several instructions.
    Unknown,
}

/// An address: a number of bytes after its origin, maybe in the shared memory of another CTA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TracedAddress<'a> {
    pub(super) origin: AddressOrigin<'a>,
    pub(super) offset: i64,
    /// Whether `mapa` made it.
    pub(super) mapped: bool,
}

impl TracedAddress<'_> {
    /// Whether both are the same bytes, if that is known; the CTA apart.
    pub(super) fn is_same(&self, other: &TracedAddress<'_>) -> Option<bool> {
        match (self.origin, other.origin) {
            (AddressOrigin::Unknown, _) | (_, AddressOrigin::Unknown) => None,
            (one, two) if one == two => Some(self.offset == other.offset),
            (AddressOrigin::Name(_), AddressOrigin::Name(_)) => Some(false),
            (
                AddressOrigin::Name(_) | AddressOrigin::Result(_),
                AddressOrigin::Name(_) | AddressOrigin::Result(_),
            ) => None,
        }
    }
}

struct BasicBlock {
    first: usize,
    /// After the last.
    end: usize,
    next: Vec<usize>,
    /// Which blocks it reaches by an edge or more, as bits; `None` before it is needed.
    reached: Option<Vec<u64>>,
}

/// The instructions of a function in the order of the text.
pub(super) struct Flow<'a> {
    pub(super) steps: Vec<FlowStep<'a>>,
    blocks: Vec<BasicBlock>,
    /// Where each name is defined.
    definitions: BTreeMap<&'a str, Vec<usize>>,
    visits: usize,
}

fn guard(text: &str, guard: Option<Guard>) -> Option<(&str, bool)> {
    guard.map(|guard| (guard.name.of(text), guard.negated))
}

impl<'a> Flow<'a> {
    pub(super) fn of(text: &'a str, module: &ModuleSyntax, function: &Function) -> Flow<'a> {
        let mut steps = Vec::new();
        // The braces around a label: those of the block in which it is known.
        let (mut scopes, mut scope) = (vec![0], 0);
        let mut labels: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        let mut scope_of = Vec::new();
        let mut tables = Vec::new();
        let mut marks = function.marks.iter().peekable();
        for (index, statement) in function.statements.iter().enumerate() {
            while let Some((_, mark)) = marks.next_if(|(before, _)| *before as usize <= index) {
                match mark {
                    BodyMark::Open => {
                        scopes.push(scope);
                        scope = scopes.len() - 1;
                    }
                    BodyMark::Close => scope = scopes[scope],
                    BodyMark::Targets(all) => tables.extend(all.iter().map(|at| at.of(text))),
                    BodyMark::Register { .. } | BodyMark::Variable(_) => {}
                }
            }
            if let Statement::Label(at) = statement {
                labels.insert((scope, at.of(text)), steps.len());
            } else {
                scope_of.push(scope);
                steps.extend(step(text, module, statement));
            }
        }
        let target = |from: usize, name: &str| {
            let mut scope = scope_of[from];
            loop {
                if let Some(&at) = labels.get(&(scope, name)) {
                    return Some(at);
                }
                if scope == 0 {
                    return None;
                }
                scope = scopes[scope];
            }
        };
        let tables: Vec<usize> = labels
            .iter()
            .filter(|((_, name), _)| tables.contains(name))
            .map(|(_, at)| *at)
            .collect();
        let mut flow = Flow { steps, blocks: Vec::new(), definitions: BTreeMap::new(), visits: 0 };
        flow.cut(labels.values().copied(), target, &tables);
        for (index, step) in flow.steps.iter().enumerate() {
            for name in &step.defines {
                flow.definitions.entry(name).or_default().push(index);
            }
        }
        flow
    }

    /// Cuts the instructions into basic blocks.
    fn cut(
        &mut self,
        labels: impl Iterator<Item = usize>,
        target: impl Fn(usize, &str) -> Option<usize>,
        tables: &[usize],
    ) {
        let leaves =
            |step: &FlowStep<'_>| matches!(step.parts[0], "bra" | "brx" | "ret" | "exit" | "trap");
        let mut firsts: BTreeSet<usize> = labels.chain([0]).collect();
        firsts.extend((0..self.steps.len()).filter(|&at| leaves(&self.steps[at])).map(|at| at + 1));
        let firsts: Vec<usize> = firsts.into_iter().filter(|at| *at < self.steps.len()).collect();
        let block_of = |at: usize| firsts.partition_point(|first| *first <= at) - 1;
        for (index, &first) in firsts.iter().enumerate() {
            let end = firsts.get(index + 1).copied().unwrap_or(self.steps.len());
            let last = &self.steps[end - 1];
            let mut next: Vec<usize> = match last.parts[0] {
                "bra" => last
                    .operands
                    .first()
                    .and_then(|name| target(end - 1, name))
                    .into_iter()
                    .collect(),
                "brx" => tables.to_vec(),
                _ => Vec::new(),
            };
            if !leaves(last) || last.guard.is_some() {
                next.push(end);
            }
            let next = next.into_iter().filter(|at| *at < self.steps.len()).map(block_of).collect();
            self.blocks.push(BasicBlock { first, end, next, reached: None });
            self.steps[first..end].iter_mut().for_each(|step| step.block = index);
        }
    }

    /// Whether it was too much work to follow all paths, so that some questions have no answer.
    pub(super) fn is_cut_off(&self) -> bool {
        self.visits > MOST_VISITS
    }

    /// The instructions of which this holds.
    pub(super) fn all(&self, holds: impl Fn(&FlowStep<'a>) -> bool) -> Vec<usize> {
        (0..self.steps.len()).filter(|&at| holds(&self.steps[at])).collect()
    }

    pub(super) fn any(&self, holds: impl Fn(&FlowStep<'a>) -> bool) -> bool {
        self.steps.iter().any(holds)
    }

    /// Whether a path leads from after one instruction to another.
    pub(super) fn reaches(&mut self, from: usize, to: usize) -> bool {
        self.visits += 1;
        if self.is_cut_off() {
            return false;
        }
        let (first, last) = (self.steps[from].block, self.steps[to].block);
        if first == last && from < to {
            return true;
        }
        let reached = self.reached(first);
        reached.get(last / 64).is_some_and(|word| word >> (last % 64) & 1 == 1)
    }

    fn reached(&mut self, block: usize) -> &[u64] {
        if self.blocks[block].reached.is_none() {
            let mut found = vec![0_u64; self.blocks.len().div_ceil(64)];
            self.visits += found.len();
            let mut open = self.blocks[block].next.clone();
            while let Some(at) = open.pop() {
                self.visits += 1;
                let bit = 1 << (at % 64);
                if found[at / 64] & bit == 0 {
                    found[at / 64] |= bit;
                    open.extend(&self.blocks[at].next);
                }
            }
            self.blocks[block].reached = Some(found);
        }
        self.blocks[block].reached.as_deref().unwrap_or_default()
    }

    /// Whether a path leads from one instruction to another, and no path between them has one of `stops` on it.
    pub(super) fn reaches_without(&mut self, from: usize, to: usize, stops: &[usize]) -> bool {
        self.reaches(from, to)
            && !stops.iter().any(|&stop| {
                stop != from && stop != to && self.reaches(from, stop) && self.reaches(stop, to)
            })
            && !self.is_cut_off()
    }

    /// Whether both are in one basic block, and done under the same predicate.
    pub(super) fn is_together(&self, one: usize, two: usize) -> bool {
        let [one, two] = [one, two].map(|at| &self.steps[at]);
        one.block == two.block && one.guard == two.guard
    }

    /// The instruction whose result a name is where another one uses it.
    fn definition(&self, name: &str, used: usize) -> Option<usize> {
        let all = self.definitions.get(name)?;
        let block = &self.blocks[self.steps[used].block];
        let before = all.iter().rev().find(|at| (block.first..used.min(block.end)).contains(at));
        let found = match (before, &all[..]) {
            (Some(before), _) => *before,
            (None, [only]) => *only,
            (None, _) => return None,
        };
        // A result that may be another one.
        let guard = self.steps[found].guard;
        (guard.is_none() || guard == self.steps[used].guard || all.len() == 1).then_some(found)
    }

    /// Where the address `text` of an instruction leads: a name, a sum of a name and a number.
    pub(super) fn place(&self, text: &'a str, used: usize) -> TracedAddress<'a> {
        let mut place = TracedAddress { origin: AddressOrigin::Unknown, offset: 0, mapped: false };
        let (mut text, mut used) = (text, used);
        for _ in 0..MOST_DEFINITIONS {
            let (name, number) = text.split_once('+').unwrap_or((text, "0"));
            let name = name.trim();
            let Some(number) = integer(number.trim()) else { return place };
            place.offset = place.offset.wrapping_add(number);
            if !self.definitions.contains_key(name) {
                place.origin = AddressOrigin::Name(name);
                return place;
            }
            let Some(at) = self.definition(name, used) else { return place };
            let step = &self.steps[at];
            let operand = |index: usize| step.operands.get(index).map(|text| text.trim());
            let source = match (step.parts[0], operand(1), operand(2)) {
                ("mov" | "cvta" | "cvt", Some(source), None) if !source.starts_with('{') => {
                    Some(source)
                }
                ("mapa", Some(source), _) => {
                    place.mapped = true;
                    Some(source)
                }
                ("ld", Some(source), None) if step.has("param") => {
                    place.origin = AddressOrigin::Name(source.trim_matches(['[', ']']).trim());
                    return place;
                }
                ("add", Some(one), Some(two)) => match (integer(one), integer(two)) {
                    (Some(number), None) => {
                        place.offset = place.offset.wrapping_add(number);
                        Some(two)
                    }
                    (None, Some(number)) => {
                        place.offset = place.offset.wrapping_add(number);
                        Some(one)
                    }
                    (Some(_), Some(_)) | (None, None) => None,
                },
                _ => None,
            };
            let Some(source) = source else {
                place.origin = AddressOrigin::Result(at);
                return place;
            };
            (text, used) = (source, at);
        }
        place
    }

    /// The variables and parameters from which the names in the operands of an instruction may be computed, without
    /// what is read from memory, and without special registers.
    pub(super) fn names_behind(&self, at: usize, operands: &[usize]) -> BTreeSet<&'a str> {
        let step = &self.steps[at];
        let written = operands.iter().filter_map(|index| step.operands.get(*index));
        let mut open: Vec<&str> = step
            .uses
            .iter()
            .copied()
            .filter(|name| written.clone().any(|text| words(text).any(|word| word == *name)))
            .collect();
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        while let Some(name) = open.pop() {
            if !seen.insert(name) || seen.len() > 8 * MOST_DEFINITIONS {
                continue;
            }
            match self.definitions.get(name) {
                None => {
                    found.extend((!name.starts_with('%')).then_some(name));
                }
                Some(all) => {
                    for step in all.iter().map(|at| &self.steps[*at]) {
                        let reads = step.begins("ld") && !step.has("param") || step.begins("atom");
                        if !reads {
                            open.extend(&step.uses);
                        }
                    }
                }
            }
        }
        found
    }
}

/// The names and numbers of an operand.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')))
}

fn step<'a>(text: &'a str, module: &ModuleSyntax, statement: &Statement) -> Option<FlowStep<'a>> {
    let (at, written, parts, of_memory) = match statement {
        Statement::Label(_) => return None,
        Statement::Memory(memory) => (memory.at, memory.guard, memory.parts, Some(memory)),
        Statement::Opaque(opaque) => (opaque.at, opaque.guard, opaque.parts, None),
    };
    let places = parts.of(&module.parts);
    let (first, last) = (*places.first()?, *places.last()?);
    let after = ByteSpan { start: last.end, end: at.end.max(last.end) };
    let operands: Vec<&str> = production::split(after.of(text).trim_end_matches(';'))
        .into_iter()
        .map(str::trim)
        .collect();
    let (mut defines, mut uses) = (Vec::new(), Vec::new());
    match (of_memory, statement) {
        (Some(memory), _) => {
            let defining = memory.opcode.is_load() || memory.opcode == crate::shape::Opcode::Atom;
            for (index, operand) in operands.iter().enumerate() {
                let into = if index == 0 && defining { &mut defines } else { &mut uses };
                into.extend(words(operand).filter(|word| is_name(word)));
            }
        }
        (None, Statement::Opaque(opaque)) => {
            for name in names(opaque.names, module) {
                let into = if name.defined { &mut defines } else { &mut uses };
                into.push(name.at.of(text));
            }
        }
        (None, Statement::Label(_) | Statement::Memory(_)) => {}
    }
    Some(FlowStep {
        at: first.to(last),
        parts: places.iter().map(|part| part.of(text)).collect(),
        operands,
        guard: guard(text, written),
        defines,
        uses,
        block: 0,
    })
}

fn names(range: Range, module: &ModuleSyntax) -> &[crate::syntax::NameUse] {
    range.of(&module.names)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '%'))
        && word != "_"
}
