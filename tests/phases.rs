//! The phases of mbarrier objects, against a simulation of the text in every order of its steps.
//!
//! The simulation knows neither paths nor events: it has a table of instructions with what each does to the object, as
//! 9.7.15.16 says it, and records in which phase each took effect, what each test returned, and which threads met at a barrier.

use std::collections::{BTreeMap, BTreeSet};

use execution::event::{EventKind, MbarrierStep};
use execution::path::PathEnd;
use execution::unfold::{Unfolded, Unfolding};
use litmus::arbitrary::{RandomProgram, RandomThread};
use model::ptx;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

use crate::agree::{BOUND, number, runner};

/// What an instruction does to the object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ObjectStep {
    Init(i64),
    Invalidate,
    /// A number of arrivals, with a number of bytes expected.
    Arrive(i64, i64),
    /// An arrival that must not complete the phase; whether the thread asks for the counts of its states.
    NoComplete {
        counted: bool,
    },
    /// An arrival after which one less is expected.
    Drop,
    Expect(i64),
    Complete(i64),
    /// A copy that completes this many bytes at any later time.
    Copy(i64),
    /// An arrival at any later time, perhaps with a pending count that is one more until then.
    Track {
        increments: bool,
    },
    Parity(i64, Asks),
    /// Of the state that the arrival this many lines before returned.
    State(usize, Asks),
    Barrier,
    Nothing,
}

/// How a wait asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asks {
    /// It says what is so.
    Tests,
    /// It may say false in any case.
    Tries,
    /// It asks until the answer is yes.
    Waits,
}

const INIT: ObjectStep = ObjectStep::Init(1);

/// Lines of a thread, and what each does. `%` is the number of the first one.
const STEPS: &[(&str, &[ObjectStep])] = &[
    ("mbarrier.init.shared::cta.b64 [b], 1", &[INIT]),
    ("mbarrier.inval.shared::cta.b64 [b]", &[ObjectStep::Invalidate]),
    ("mbarrier.arrive.shared::cta.b64 _, [b]", &[ObjectStep::Arrive(1, 0)]),
    ("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [b]", &[ObjectStep::Arrive(1, 0)]),
    ("mbarrier.arrive.shared::cta.b64 _, [b], 2", &[ObjectStep::Arrive(2, 0)]),
    ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16", &[ObjectStep::Arrive(1, 16)]),
    (
        "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 t, [b], 1",
        &[ObjectStep::NoComplete { counted: false }],
    ),
    (
        "mbarrier.arrive.noComplete.shared::cta.b64 t, [b], 1 ; mbarrier.pending_count.b64 r%, t",
        &[ObjectStep::NoComplete { counted: true }, ObjectStep::Nothing],
    ),
    ("mbarrier.arrive_drop.shared::cta.b64 _, [b]", &[ObjectStep::Drop]),
    ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 16", &[ObjectStep::Expect(16)]),
    ("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 16", &[ObjectStep::Complete(16)]),
    (
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b]",
        &[ObjectStep::Copy(16)],
    ),
    ("cp.async.mbarrier.arrive.shared::cta.b64 [b]", &[ObjectStep::Track { increments: true }]),
    (
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [b]",
        &[ObjectStep::Track { increments: false }],
    ),
    ("mbarrier.test_wait.parity.shared::cta.b64 p%, [b], 0", &[ObjectStep::Parity(0, Asks::Tests)]),
    ("mbarrier.test_wait.parity.shared::cta.b64 p%, [b], 1", &[ObjectStep::Parity(1, Asks::Tests)]),
    ("mbarrier.try_wait.parity.shared::cta.b64 p%, [b], 0", &[ObjectStep::Parity(0, Asks::Tries)]),
    (
        "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ; @!p bra L%",
        &[ObjectStep::Parity(0, Asks::Waits), ObjectStep::Nothing],
    ),
    (
        "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 1 ; @!p bra L%",
        &[ObjectStep::Parity(1, Asks::Waits), ObjectStep::Nothing],
    ),
    (
        "mbarrier.arrive.shared::cta.b64 t, [b] ; mbarrier.test_wait.shared::cta.b64 p%, [b], t",
        &[ObjectStep::Arrive(1, 0), ObjectStep::State(1, Asks::Tests)],
    ),
    (
        "mbarrier.arrive.shared::cta.b64 t, [b] ; L%: mbarrier.try_wait.shared::cta.b64 p, [b], t ; @!p bra L%",
        &[ObjectStep::Arrive(1, 0), ObjectStep::State(1, Asks::Waits), ObjectStep::Nothing],
    ),
    ("bar.sync 0", &[ObjectStep::Barrier]),
];

/// So far apart are the first phases of an object that is initialized again.
const APART: i64 = 1000;

/// What an instruction of a line, or the operation that it started, did: the phase, and what a wait returned, or the pending
/// count that an arrival found.
type Entry = (usize, usize, bool, i64, Option<i64>);

/// What has happened: the entries, and which lines of threads met at a barrier.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct History {
    entries: BTreeSet<Entry>,
    met: BTreeSet<BTreeSet<(usize, usize)>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object {
    /// Phases of an object that is initialized again are numbered from here on.
    first: i64,
    pub(crate) phase: i64,
    pub(crate) pending: i64,
    expected: i64,
    tx: i64,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    at: Vec<usize>,
    arrived: Vec<bool>,
    exited: Vec<bool>,
    object: Option<Object>,
    /// How often the object was initialized.
    initialized: i64,
    /// Copies and tracking arrivals that are not complete, by thread and line.
    flying: BTreeSet<(usize, usize)>,
    history: History,
}

/// What can become of a program.
#[derive(Default, PartialEq, Eq, Debug)]
struct Ends {
    finished: BTreeSet<History>,
    /// With the line at which each thread stays.
    stuck: BTreeSet<(History, Vec<Option<usize>>)>,
    misused: bool,
}

struct Simulation<'a> {
    steps: &'a [Vec<ObjectStep>],
    seen: BTreeSet<Moment>,
    ends: Ends,
}

impl Object {
    pub(crate) fn new(count: i64) -> Object {
        Object { first: 0, phase: 0, pending: count, expected: count, tx: 0 }
    }

    /// Its phase among those of the object however often it was initialized.
    fn number(&self) -> i64 {
        self.first + self.phase
    }

    fn maybe_complete(mut self) -> Object {
        if self.pending == 0 && self.tx == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
        self
    }

    /// After this many more bytes are expected.
    pub(crate) fn expecting(self, bytes: i64) -> Object {
        Object { tx: self.tx + bytes, ..self }
    }

    /// After this many arrivals and expected bytes.
    pub(crate) fn arrived(self, count: i64, bytes: i64, dropped: i64) -> Option<Object> {
        let Object { first, phase, pending, expected, tx } = self;
        let next = Object {
            first,
            phase,
            pending: pending - count,
            expected: expected - dropped,
            tx: tx + bytes,
        };
        (next.pending >= 0 && next.expected >= 0).then(|| next.maybe_complete())
    }
}

impl Moment {
    fn record(&mut self, thread: usize, line: usize, later: bool, phase: i64, said: Option<i64>) {
        self.history.entries.insert((thread, line, later, phase, said));
    }

    /// Lets threads through a barrier at which all are that have not exited.
    fn settle(mut self) -> Moment {
        let all =
            self.arrived.iter().zip(&self.exited).all(|(arrived, exited)| *arrived || *exited);
        if all && self.arrived.contains(&true) {
            self.history.met.insert(self.waiting());
            for thread in 0..self.at.len() {
                self.at[thread] += usize::from(std::mem::take(&mut self.arrived[thread]));
            }
        }
        self
    }

    fn waiting(&self) -> BTreeSet<(usize, usize)> {
        let arrived = (0..self.at.len()).filter(|&thread| self.arrived[thread]);
        arrived.map(|thread| (thread, self.at[thread])).collect()
    }
}

impl Simulation<'_> {
    fn run(&mut self, moment: Moment) {
        let mut pending = vec![moment];
        while let Some(moment) = pending.pop() {
            if !self.seen.insert(moment.clone()) {
                continue;
            }
            let (mut moved, mut misused) = (Vec::new(), false);
            let mut add = |next: Option<Moment>| match next {
                Some(next) => moved.push(next.settle()),
                None => misused = true,
            };
            for &(thread, line) in &moment.flying {
                add(self.lands(&moment, thread, line));
            }
            for thread in 0..moment.at.len() {
                if moment.exited[thread] || moment.arrived[thread] {
                    continue;
                }
                let Some(&step) = self.steps[thread].get(moment.at[thread]) else {
                    let mut next = moment.clone();
                    next.exited[thread] = true;
                    add(Some(next));
                    continue;
                };
                for said in [None, Some(false), Some(true)] {
                    match Self::step(&moment, thread, step, said) {
                        Stepped::To(next) => add(Some(*next)),
                        Stepped::Misused => add(None),
                        Stepped::Not => {}
                    }
                }
            }
            self.ends.misused |= misused;
            if moved.is_empty() && !misused {
                self.end(moment);
            }
            pending.extend(moved);
        }
    }

    fn end(&mut self, mut moment: Moment) {
        if moment.exited.iter().all(|exited| *exited) {
            self.ends.finished.insert(moment.history);
            return;
        }
        let open = moment.waiting();
        if !open.is_empty() {
            moment.history.met.insert(open);
        }
        let stays = |thread: usize| (!moment.exited[thread]).then_some(moment.at[thread]);
        let at = (0..moment.at.len()).map(stays).collect();
        self.ends.stuck.insert((moment.history, at));
    }

    /// After the end of an operation that a thread started.
    fn lands(&self, moment: &Moment, thread: usize, line: usize) -> Option<Moment> {
        let mut next = moment.clone();
        next.flying.remove(&(thread, line));
        let object = next.object?;
        next.record(thread, line, true, object.number(), None);
        let (count, bytes) = if let ObjectStep::Copy(bytes) = self.steps[thread][line] {
            (0, -bytes)
        } else {
            (1, 0)
        };
        next.object = Some(object.arrived(count, bytes, 0)?);
        Some(next)
    }

    /// After the next line of a thread, where a wait returns this and another instruction nothing.
    fn step(moment: &Moment, thread: usize, step: ObjectStep, said: Option<bool>) -> Stepped {
        let line = moment.at[thread];
        let mut next = moment.clone();
        next.at[thread] += 1;
        let waits = matches!(step, ObjectStep::Parity(..) | ObjectStep::State(..));
        if waits == said.is_none() {
            return Stepped::Not;
        }
        let change = |after: &dyn Fn(Object) -> Option<Object>| -> Option<Moment> {
            let object = moment.object?;
            let mut next = next.clone();
            next.object = Some(after(object)?);
            next.record(thread, line, false, object.number(), None);
            Some(next)
        };
        let after = match step {
            ObjectStep::Nothing => Some(next),
            ObjectStep::Barrier => {
                next.at[thread] = line;
                next.arrived[thread] = true;
                Some(next)
            }
            ObjectStep::Copy(_) | ObjectStep::Track { increments: false } => {
                next.flying.insert((thread, line));
                Some(next)
            }
            ObjectStep::Track { increments: true } => {
                let more = |object: Object| Object { pending: object.pending + 1, ..object };
                change(&|object| Some(more(object))).map(|mut next| {
                    next.flying.insert((thread, line));
                    next
                })
            }
            ObjectStep::Init(count) => {
                next.initialized += 1;
                let first = APART * next.initialized;
                next.object = Some(Object { first, ..Object::new(count) });
                next.record(thread, line, false, first, None);
                Some(next)
            }
            ObjectStep::Invalidate => change(&Some).map(|next| Moment { object: None, ..next }),
            ObjectStep::Arrive(count, bytes) => change(&|object| object.arrived(count, bytes, 0)),
            ObjectStep::NoComplete { counted } => {
                let Some(object) = moment.object else { return Stepped::Misused };
                let after = object.arrived(1, 0, 0);
                next.object = after.filter(|after| after.phase == object.phase);
                next.record(
                    thread,
                    line,
                    false,
                    object.number(),
                    counted.then_some(object.pending),
                );
                next.object.is_some().then_some(next)
            }
            ObjectStep::Drop => change(&|object| object.arrived(1, 0, 1)),
            ObjectStep::Expect(bytes) => change(&|object| Some(object.expecting(bytes))),
            ObjectStep::Complete(bytes) => change(&|object| object.arrived(0, -bytes, 0)),
            ObjectStep::Parity(parity, asks) => {
                let Some(object) = moment.object else { return Stepped::Misused };
                if !returns(object.phase % 2 != parity, asks, said) {
                    return Stepped::Not;
                }
                next.record(thread, line, false, object.number() - 1, said.map(i64::from));
                Some(next)
            }
            ObjectStep::State(before, asks) => {
                let Some(object) = moment.object else { return Stepped::Misused };
                let mut entries = moment.history.entries.iter();
                let taken = entries.find(|of| (of.0, of.1) == (thread, line - before));
                let &(_, _, _, taken, _) = taken.expect("the arrival comes before");
                if object.number() != taken && object.number() != taken + 1 {
                    return Stepped::Misused;
                }
                if !returns(object.number() == taken + 1, asks, said) {
                    return Stepped::Not;
                }
                next.record(thread, line, false, taken, said.map(i64::from));
                Some(next)
            }
        };
        after.map_or(Stepped::Misused, |after| Stepped::To(Box::new(after)))
    }
}

/// What becomes of a step.
enum Stepped {
    To(Box<Moment>),
    Misused,
    /// It is not taken so.
    Not,
}

/// Whether a wait may return this.
fn returns(complete: bool, asks: Asks, said: Option<bool>) -> bool {
    match asks {
        Asks::Tests => said == Some(complete),
        Asks::Tries => said == Some(complete) || said == Some(false),
        Asks::Waits => complete && said == Some(true),
    }
}

/// Columns of lines of the table, and the count of the object if it is initialized.
#[derive(Clone, Debug)]
struct PhaseSketch {
    count: Option<i64>,
    columns: Vec<Vec<usize>>,
}

fn sketches() -> impl Strategy<Value = PhaseSketch> {
    let column = || proptest::collection::vec(0..STEPS.len(), 1..5);
    let count = select(&[Some(1), Some(1), Some(2), Some(2), None][..]);
    (count, proptest::collection::vec(column(), 1..4)).prop_map(|(count, mut columns)| {
        // Three long threads have too many orders.
        let most = if columns.len() == 3 { 2 } else { 4 };
        for column in &mut columns {
            column.truncate(most);
        }
        PhaseSketch { count, columns }
    })
}

/// A program whose threads are in one CTA, and of which the registers are observed.
pub(crate) fn of_one_cta(
    declarations: impl Iterator<Item = String>,
    threads: impl Iterator<Item = Vec<String>>,
) -> RandomProgram {
    let placement = "cta 0,cluster 0,gpu 0";
    RandomProgram {
        language: "PTX",
        declarations: declarations.collect(),
        threads: threads
            .map(|cells| RandomThread { placement: placement.to_owned(), cells })
            .collect(),
        observed: Vec::new(),
    }
}

impl PhaseSketch {
    fn program(&self) -> RandomProgram {
        let count = self.count.map_or(String::new(), |count| format!("={{{count}}}"));
        let object = format!(".shared .mbarrier b{count}");
        let memory = [".shared .b32 s[4]", ".global .b32 g[4]"].map(str::to_owned);
        let cells = |column: &Vec<usize>| {
            let lines = column.iter().enumerate().flat_map(|(number, &step)| {
                let lines = STEPS[step].0.replace('%', &number.to_string());
                lines.split(" ; ").map(str::to_owned).collect::<Vec<_>>()
            });
            lines.collect()
        };
        of_one_cta(std::iter::once(object).chain(memory), self.columns.iter().map(cells))
    }

    fn simulated(&self) -> Ends {
        let mut steps: Vec<Vec<ObjectStep>> = (self.columns.iter())
            .map(|column| column.iter().flat_map(|&step| STEPS[step].1).copied().collect())
            .collect();
        let count = ObjectStep::NoComplete { counted: true };
        for thread in steps.iter_mut().filter(|thread| thread.contains(&count)) {
            for step in thread.iter_mut().filter(|s| matches!(s, ObjectStep::NoComplete { .. })) {
                *step = count;
            }
        }
        let threads = steps.len();
        let mut simulation =
            Simulation { steps: &steps, seen: BTreeSet::new(), ends: Ends::default() };
        simulation.run(Moment {
            at: vec![0; threads],
            arrived: vec![false; threads],
            exited: vec![false; threads],
            object: self.count.map(Object::new),
            initialized: 0,
            flying: BTreeSet::new(),
            history: History::default(),
        });
        simulation.ends
    }
}

/// What the structures of the engines say.
fn unfolded(program: &RandomProgram) -> Option<Ends> {
    let source = program.to_string();
    let test = litmus::parse("phases", source.as_bytes())
        .unwrap_or_else(|errors| panic!("it does not parse: {}\n{source}", errors[0]));
    let unfolded = Unfolded::new(&test.program, ptx::model().conventions, BOUND).ok()?;
    let mut ends = Ends::default();
    let mut visit = |unfolding: &Unfolding<'_>| {
        add(&mut ends, unfolding);
        true
    };
    unfolded.visit(&mut visit).ok()?;
    unfolded.visit_spinning(&mut visit).ok()?;
    Some(ends)
}

fn add(ends: &mut Ends, unfolding: &Unfolding<'_>) {
    if unfolding.fault().is_some() {
        ends.misused = true;
        return;
    }
    let mut history = History::default();
    let mut met: BTreeMap<u32, BTreeSet<(usize, usize)>> = BTreeMap::new();
    for (number, event) in unfolding.events.iter().enumerate() {
        let (Some((thread, _)), Some(of)) = (unfolding.place(number), event.of) else { continue };
        let (thread, line) = (usize::from(thread.0), usize::from(of.line));
        if unfolding.repeats(number) {
            continue;
        }
        if let (Some(used), Some(phase)) = (of.mbarrier, event.phase) {
            let number = APART * i64::from(phase.initialization) + i64::from(phase.number);
            let said = match used.step {
                MbarrierStep::Wait { returned, .. }
                | MbarrierStep::CheckLayout { returned, .. } => Some(returned.into()),
                MbarrierStep::Arrive { pending, .. } => {
                    pending.map(|count| i64::try_from(count).expect("counts are small"))
                }
                MbarrierStep::Init { .. }
                | MbarrierStep::Invalidate
                | MbarrierStep::Tx(_)
                | MbarrierStep::Increment => None,
            };
            history.entries.insert((thread, line, of.part.is_some(), number, said));
        }
        if let (EventKind::Arrive, Some(generation)) = (of.kind, event.generation) {
            met.entry(generation).or_default().insert((thread, line));
        }
    }
    history.met = met.into_values().collect();
    let at = unfolding.paths.iter().map(|path| match path.end {
        PathEnd::Waits { line, .. } => Some(usize::from(line)),
        PathEnd::Spins { from, .. } => Some(usize::from(path.events[usize::from(from)].line)),
        PathEnd::Finished | PathEnd::Cut | PathEnd::Covered | PathEnd::Fault { .. } => None,
    });
    if unfolding.is_stuck() {
        ends.stuck.insert((history, at.collect()));
    } else {
        ends.finished.insert(history);
    }
}

#[test]
fn phases_go_as_every_order_of_the_steps_has_them() {
    let mut runner = runner(number("CAUSEWAY_SEED", 40));
    let (mut finished, mut stuck, mut misused, mut skipped) = (0, 0, 0, 0);
    let cases = number("CAUSEWAY_CASES", 3_000);
    for _ in 0..cases {
        let sketch = sketches().new_tree(&mut runner).expect("a program is drawn").current();
        let program = sketch.program();
        let Some(found) = unfolded(&program) else {
            skipped += 1;
            continue;
        };
        let simulated = sketch.simulated();
        assert!(found == simulated, "{program}\nunfolded: {found:#?}\nsimulated: {simulated:#?}");
        finished += u64::from(!found.finished.is_empty());
        stuck += u64::from(!found.stuck.is_empty());
        misused += u64::from(found.misused);
    }
    eprintln!(
        "{cases} programs: {finished} finish, {stuck} get stuck, {misused} are misused, {skipped} skipped"
    );
    assert!(5 * finished > cases && 5 * stuck > cases / 2 && 20 * skipped < cases);
}
