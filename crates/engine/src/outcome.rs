//! The results of an execution: outcomes, relations, flags.

use std::ops::ControlFlow;

use execution::event::Resource;
use execution::path::UNLISTED;
use execution::structure::writes_of;
use execution::unfold::{Slot, Unfolding};
use execution::values::{Source, Values, final_values};
use model::bits::BitRow;
use model::memory::Extent;
use model::program::{Observed, Program, ThreadId};
use model::rel::{Flag, FlagMeaning, Model};
use model::value::{Value, low_bytes};

use super::plan::Plan;
use super::{ExecutionFacts, ExitedThread, Limit, Race, RaisedFlag, Undefined, Warning};

/// The reason for which a race makes a program of C++ undefined.
pub const DATA_RACE: &str = "data-race";

/// Whether an outcome may tell orders of the fences apart: by what they make coherence order.
pub fn observes_memory(program: &Program) -> bool {
    program.observed.iter().any(|observed| matches!(observed, Observed::Memory { .. }))
}

/// What an outcome takes in a set of outcomes.
pub fn bytes(program: &Program) -> usize {
    96 + size_of::<Value>() * program.observed.len()
}

/// Calls `visit` with each outcome of an execution, until it breaks: one, or one for each choice among the last
/// writes of observed memory.
pub fn outcomes_of<R: BitRow>(
    u: &Unfolding<'_>,
    values: &mut Values<'_, R>,
    co: &[R],
    visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Limit> {
    let observed = &u.program.observed;
    let mut outcome = vec![0; observed.len()];
    // Memory that can end in more than one way.
    let mut open: Vec<OpenMemory> = Vec::new();
    for (at, &of) in observed.iter().enumerate() {
        match of {
            Observed::Register { .. } => outcome[at] = values.register(of).unwrap_or(0),
            Observed::Memory { .. } => {
                if let Some((thread, value)) = u.private_final(at) {
                    outcome[at] = values.eval(thread, value).unwrap_or(0);
                    continue;
                }
                let finals = final_values(u, values, co, at)?;
                if let [only] = finals[..] {
                    outcome[at] = only;
                } else {
                    let bytes = u.observed_bytes(of).expect("memory has bytes");
                    open.push(OpenMemory { at, bytes, values: finals });
                }
            }
        }
    }
    Ok(choose(&open, 0, &mut outcome, visit))
}

/// Observed memory that can end with any of these values.
struct OpenMemory {
    /// Index into [`Program::observed`].
    at: usize,
    bytes: Extent,
    values: Vec<Value>,
}

impl OpenMemory {
    /// Whether the bytes that two have in common have one value: two names of a location are observed together.
    fn agrees(&self, value: Value, other: &OpenMemory, theirs: Value) -> bool {
        let start = self.bytes.start.max(other.bytes.start);
        let end =
            (self.bytes.start + self.bytes.length).min(other.bytes.start + other.bytes.length);
        if self.bytes.object != other.bytes.object || start >= end {
            return true;
        }
        let common = |of: &OpenMemory, value: Value| {
            value >> (8 * (start - of.bytes.start)) & low_bytes(end - start)
        };
        common(self, value) == common(other, theirs)
    }
}

/// Each choice for the memory after the first `chosen`, for which `outcome` has the values.
fn choose(
    open: &[OpenMemory],
    chosen: usize,
    outcome: &mut [Value],
    visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(next) = open.get(chosen) else { return visit(outcome) };
    for &value in &next.values {
        if open[..chosen].iter().all(|other| next.agrees(value, other, outcome[other.at])) {
            outcome[next.at] = value;
            choose(open, chosen + 1, outcome, visit)?;
        }
    }
    ControlFlow::Continue(())
}

/// rf as rows: from each write to the reads that read a byte of it.
pub fn reads_from<R: BitRow>(u: &Unfolding<'_>, sources: &[Source<R>]) -> Vec<R> {
    let mut rf = vec![R::default(); u.events.len()];
    for (slot, source) in u.slots.iter().zip(sources) {
        for write in source.writes.events() {
            rf[write].insert(slot.read);
        }
    }
    rf
}

/// fr as rows, from closed co.
pub fn from_reads<R: BitRow>(u: &Unfolding<'_>, sources: &[Source<R>], co: &[R]) -> Vec<R> {
    let mut fr = vec![R::default(); u.events.len()];
    for (slot, source) in u.slots.iter().zip(sources) {
        let covering: R = writes_of(u, slot.cell);
        for write in source.writes.events() {
            fr[slot.read] = fr[slot.read].or(co[write].and(covering));
        }
    }
    fr
}

/// The writes any of which, later in co than what a slot of a repeated read reads, means that it is not
/// repeated (reading R50): all but those of repeated iterations, which write what is there.
pub fn overwriting<R: BitRow>(u: &Unfolding<'_>, slot: &Slot) -> R {
    let mut writes: R = writes_of(u, slot.cell);
    for write in writes.events() {
        if u.repeats(write) {
            writes.remove(write);
        }
    }
    writes
}

/// Whether any of these writes follows, in closed co, what a slot reads.
pub fn is_overwritten<R: BitRow>(source: &Source<R>, co: &[R], overwriting: R) -> bool {
    source.writes.events().any(|write| !co[write].and(overwriting).is_empty())
}

/// Takes note of a consistent execution that finishes, or of one that never does.
pub fn raise_stuck(u: &Unfolding<'_>, seen: &mut ExecutionFacts) {
    if u.is_stuck() {
        seen.join_stuck(u.stuck());
    } else {
        seen.finishes = true;
        seen.exited.extend(exited(u));
    }
}

/// The threads that have exited, with the barriers of their CTAs that completed for that.
fn exited(u: &Unfolding<'_>) -> impl Iterator<Item = ExitedThread> {
    u.exits.iter().flat_map(|&(generation, thread)| {
        let thread = ThreadId(u8::try_from(thread).expect("a test has few threads"));
        let waits = u.events.iter().filter(move |event| event.generation == Some(generation));
        waits.filter_map(move |event| {
            let of = event.of?;
            matches!(of.barrier?.resource, Resource::Cta { .. })
                .then_some(ExitedThread { thread, barrier: (event.thread?, of.line) })
        })
    })
}

/// Notes how a consistent execution ends; whether it ends in a fault, so that its flags say nothing.
pub fn raise_end(u: &Unfolding<'_>, seen: &mut ExecutionFacts) -> bool {
    let Some((thread, line, reason)) = u.fault() else {
        raise_stuck(u, seen);
        return false;
    };
    if reason == UNLISTED {
        seen.unlisted = Some((thread, line));
        return true;
    }
    seen.undefined.get_or_insert_with(|| Undefined {
        reason: reason.to_owned(),
        where_: vec![(thread, line)],
        with_initial: false,
    });
    true
}

/// Raises the flags of a consistent execution, whose relations the plan holds.
pub fn raise_flags<R: BitRow>(
    model: &Model,
    u: &Unfolding<'_>,
    plan: &mut Plan<R>,
    seen: &mut ExecutionFacts,
) {
    if raise_end(u, seen) {
        return;
    }
    if plan.flags.is_empty() {
        return;
    }
    plan.run_flags();
    for flag in &plan.flags {
        let rows = plan.node(flag.node).iter().enumerate();
        let pairs = rows.flat_map(|(a, row)| row.events().map(move |b| (a, b)));
        raise_flag(&model.flags[flag.flag], u, pairs, seen);
    }
}

/// The instruction of an event; an initial write has none.
pub fn place(u: &Unfolding<'_>, event: usize) -> Option<(ThreadId, u16)> {
    let of = &u.events[event];
    of.thread.zip(of.of.map(|of| of.line))
}

/// Whether a data race between two places is known: what is sought is then another one.
pub fn knows_race(
    seen: &ExecutionFacts,
    first: Option<(ThreadId, u16)>,
    second: Option<(ThreadId, u16)>,
) -> bool {
    let race = first.zip(second).map(|(first, second)| {
        let (first, second) = (first.min(second), first.max(second));
        Race { first, second }
    });
    race.is_some_and(|race| seen.races.contains(&race))
}

/// Whether a data race of two events counts, if it is one.
pub fn counts_as_race(u: &Unfolding<'_>, a: usize, b: usize) -> bool {
    let exempt = &u.program.exempt_races;
    let places = place(u, a).zip(place(u, b));
    exempt.is_empty() || places.is_none_or(|(a, b)| !exempt.contains(&[a.min(b), a.max(b)]))
}

/// Raises a flag for these pairs of events.
pub fn raise_flag(
    flag: &Flag,
    u: &Unfolding<'_>,
    pairs: impl Iterator<Item = (usize, usize)>,
    seen: &mut ExecutionFacts,
) {
    for (a, b) in pairs {
        let (first, second) = (place(u, a), place(u, b));
        match flag.meaning {
            FlagMeaning::Race | FlagMeaning::Undefined(DATA_RACE) if !counts_as_race(u, a, b) => {}
            FlagMeaning::Warning(text) => {
                let name = flag.name.clone();
                seen.warnings.extend(first.map(|at| Warning { name, at, text }));
            }
            FlagMeaning::Race => {
                let Some((first, second)) = first.zip(second) else { continue };
                let (first, second) = (first.min(second), first.max(second));
                seen.races.insert(Race { first, second });
            }
            FlagMeaning::Report => {
                seen.flags.insert(RaisedFlag { flag: flag.name.clone(), first, second });
            }
            FlagMeaning::Undefined(DATA_RACE) if knows_race(seen, first, second) => {}
            FlagMeaning::Undefined(reason) => {
                seen.undefined.get_or_insert_with(|| Undefined {
                    reason: reason.to_owned(),
                    where_: first.into_iter().chain(second.filter(|_| a != b)).collect(),
                    with_initial: first.is_none() != second.is_none(),
                });
            }
        }
    }
}
