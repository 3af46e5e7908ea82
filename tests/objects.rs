//! Outcomes of programs of mbarrier objects, flags and barriers, against a simulation that runs their steps in every order.
//!
//! A flag is stored with release and awaited with acquire, and the text gives operations on an object an order
//! (9.7.15.16): an outcome is one of some order of all steps. `phases` compares the phases of single executions; here the axioms
//! are asked, too.

use std::collections::{BTreeMap, BTreeSet};

use ::fuzz::answer::{EngineAnswer, asked, limits};
use engine::ENGINES;
use litmus::Test;
use litmus::arbitrary::RandomProgram;
use model::program::Observed;
use model::ptx;
use model::value::Value;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

use crate::agree::{number, runner};
use crate::phases::{Object, of_one_cta};

/// A step of a thread, at the object or flag with this index.
#[derive(Clone, Copy, Debug)]
enum ObjectUse {
    Arrive {
        count: i64,
        bytes: i64,
        dropped: i64,
    },
    Expect,
    Complete,
    /// An arrival that must not complete the phase, and the count that it found.
    Count,
    Test(i64),
    Wait(i64),
    Raise,
    Await,
    /// An arrival at a barrier of the CTA, of two threads if `counted` and of all otherwise, and a wait if `waits`.
    Meet {
        counted: bool,
        waits: bool,
    },
}

const OBJECTS: [&str; 2] = ["b", "c"];
const FLAGS: [&str; 3] = ["x", "y", "z"];
const BYTES: i64 = 16;

fn uses() -> impl Strategy<Value = (ObjectUse, usize)> {
    let arrive = |count, bytes, dropped| Just(ObjectUse::Arrive { count, bytes, dropped });
    let parity = || select(&[0, 0, 0, 1][..]);
    let step = prop_oneof![
        6 => arrive(1, 0, 0),
        1 => arrive(2, 0, 0),
        1 => arrive(1, 0, 1),
        2 => arrive(1, BYTES, 0),
        1 => Just(ObjectUse::Expect),
        2 => Just(ObjectUse::Complete),
        1 => Just(ObjectUse::Count),
        4 => parity().prop_map(ObjectUse::Test),
        2 => parity().prop_map(ObjectUse::Wait),
    ];
    (step, select(&[0, 0, 0, 1][..]))
}

/// Puts a step into a thread, before the one that the number says.
fn insert(
    threads: &mut [Vec<(ObjectUse, usize)>],
    thread: usize,
    step: (ObjectUse, usize),
    place: usize,
) {
    let place = place % (threads[thread].len() + 1);
    threads[thread].insert(place, step);
}

/// Threads of steps, and what the objects are initialized with.
#[derive(Clone, Debug)]
struct ObjectSketch {
    counts: [i64; 2],
    threads: Vec<Vec<(ObjectUse, usize)>>,
}

/// Programs of one object, or of both.
fn sketches() -> impl Strategy<Value = ObjectSketch> {
    let counts = [(); 2].map(|()| select(&[1, 1, 2, 2, 3][..]));
    let threads = vec(vec(uses(), 1..4), 2..4);
    let pair = || (any::<usize>(), any::<usize>(), any::<[usize; 2]>());
    let flags = vec(pair(), 1..=FLAGS.len());
    // Whether the first thread of a pair waits, too; all threads meet at the barrier of the first pair.
    let pairs = vec((pair(), any::<bool>()), 0..=2);
    let whole = vec(any::<[usize; 3]>(), 0..=1);
    let all = (counts, threads, flags, pairs, whole, 0..4);
    all.prop_map(|(counts, mut threads, flags, pairs, whole, objects)| {
        if objects > 0 {
            threads.iter_mut().flatten().for_each(|(_, object)| *object = 0);
        }
        let count = threads.len();
        let two = |from: usize, to: usize| {
            let from = from % count;
            (from, (from + 1 + to % (count - 1)) % count)
        };
        for (flag, (from, to, places)) in flags.into_iter().enumerate() {
            let (from, to) = two(from, to);
            insert(&mut threads, from, (ObjectUse::Raise, flag), places[0]);
            insert(&mut threads, to, (ObjectUse::Await, flag), places[1]);
        }
        for (barrier, ((from, to, places), waits)) in pairs.into_iter().enumerate() {
            let (from, to) = two(from, to);
            for (thread, waits, place) in [(from, waits, places[0]), (to, true, places[1])] {
                let step = ObjectUse::Meet { counted: true, waits };
                insert(&mut threads, thread, (step, barrier), place);
            }
        }
        for places in whole {
            for (thread, place) in places.into_iter().enumerate().take(count) {
                let step = ObjectUse::Meet { counted: false, waits: true };
                insert(&mut threads, thread, (step, 0), place);
            }
        }
        ObjectSketch { counts, threads }
    })
}

/// The lines of a step, whose registers have this number.
fn lines((step, of): (ObjectUse, usize), number: usize) -> Vec<String> {
    let shared = "shared::cta.b64";
    let object = OBJECTS.get(of).copied().unwrap_or_default();
    let text = match step {
        ObjectUse::Arrive { count, bytes: 0, dropped: 0 } => {
            format!("mbarrier.arrive.{shared} _, [{object}], {count}")
        }
        ObjectUse::Arrive { bytes: 0, .. } => {
            format!("mbarrier.arrive_drop.{shared} _, [{object}]")
        }
        ObjectUse::Arrive { bytes, .. } => {
            format!("mbarrier.arrive.expect_tx.{shared} _, [{object}], {bytes}")
        }
        ObjectUse::Expect => format!("mbarrier.expect_tx.relaxed.cta.{shared} [{object}], {BYTES}"),
        ObjectUse::Complete => {
            format!("mbarrier.complete_tx.relaxed.cta.{shared} [{object}], {BYTES}")
        }
        ObjectUse::Count => format!(
            "mbarrier.arrive.noComplete.{shared} t, [{object}], 1 ; mbarrier.pending_count.b64 r{number}, t"
        ),
        ObjectUse::Test(parity) => {
            format!("mbarrier.test_wait.parity.{shared} p{number}, [{object}], {parity}")
        }
        ObjectUse::Wait(parity) => format!(
            "L{number}: mbarrier.try_wait.parity.{shared} q, [{object}], {parity} ; @!q bra L{number}"
        ),
        ObjectUse::Raise => format!("st.release.cta.u32 [{}], 1", FLAGS[of]),
        ObjectUse::Await => format!(
            "L{number}: ld.acquire.cta.u32 v, [{}] ; setp.ne.u32 q, v, 1 ; @q bra L{number}",
            FLAGS[of]
        ),
        ObjectUse::Meet { counted, waits } => {
            let name = if waits { "bar.sync" } else { "bar.arrive" };
            format!("{name} {of}{}", if counted { ", 2" } else { "" })
        }
    };
    text.split(" ; ").map(str::to_owned).collect()
}

/// By thread and name.
type Registers = BTreeMap<(usize, String), Value>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    at: Vec<usize>,
    objects: [Object; 2],
    raised: BTreeSet<usize>,
    registers: Registers,
    /// The count, if the first arrival gave one, and the threads that have arrived: at least one.
    barriers: BTreeMap<usize, (Option<usize>, Vec<usize>)>,
    /// The barrier for which each thread waits.
    waiting: Vec<Option<usize>>,
    exited: BTreeSet<usize>,
    /// Whether a barrier has completed without a thread that had exited, which orders nothing.
    by_exit: bool,
}

#[derive(Default)]
struct Simulated {
    outcomes: BTreeSet<Registers>,
    stuck: bool,
    misused: bool,
    /// Whether the order of steps is not all that decides.
    by_exit: bool,
}

/// What becomes of a step.
enum Stepped {
    To(Box<Moment>),
    Waits,
    Misused,
}

impl ObjectSketch {
    fn program(&self) -> RandomProgram {
        let cells = |steps: &Vec<(ObjectUse, usize)>| {
            let numbered = steps.iter().enumerate();
            numbered.flat_map(|(number, &step)| lines(step, number)).collect()
        };
        let objects = OBJECTS.iter().zip(self.counts);
        let objects = objects.map(|(name, count)| format!(".shared .mbarrier {name}={{{count}}}"));
        let flags = FLAGS.iter().map(|name| format!("{name}=0"));
        of_one_cta(objects.chain(flags), self.threads.iter().map(cells))
    }

    /// Whether only the first object is used.
    fn is_of_one_object(&self) -> bool {
        self.threads.iter().flatten().all(|&(step, object)| {
            let free = matches!(step, ObjectUse::Raise | ObjectUse::Await | ObjectUse::Meet { .. });
            free || object == 0
        })
    }

    fn simulated(&self) -> Simulated {
        let mut all = Simulated::default();
        let mut pending = vec![Moment {
            at: vec![0; self.threads.len()],
            objects: self.counts.map(Object::new),
            raised: BTreeSet::new(),
            registers: Registers::new(),
            barriers: BTreeMap::new(),
            waiting: vec![None; self.threads.len()],
            exited: BTreeSet::new(),
            by_exit: false,
        }];
        let mut seen = BTreeSet::new();
        while let Some(moment) = pending.pop() {
            if !seen.insert(moment.clone()) {
                continue;
            }
            let (mut waits, mut moves) = (false, false);
            all.by_exit |= moment.by_exit;
            for (thread, steps) in self.threads.iter().enumerate() {
                if moment.waiting[thread].is_some() {
                    waits = true;
                    continue;
                }
                let Some(&step) = steps.get(moment.at[thread]) else {
                    if !moment.exited.contains(&thread) {
                        pending.push(moment.exit(thread));
                        moves = true;
                    }
                    continue;
                };
                match moment.after(thread, step) {
                    Stepped::To(next) => pending.push(*next),
                    Stepped::Misused => all.misused = true,
                    Stepped::Waits => {
                        waits = true;
                        continue;
                    }
                }
                moves = true;
            }
            match (moves, waits) {
                (true, _) => {}
                (false, true) => all.stuck = true,
                (false, false) => {
                    all.outcomes.insert(moment.registers);
                }
            }
        }
        all
    }
}

impl Simulated {
    /// As an engine says it of this test.
    fn answer(&self, test: &Test) -> EngineAnswer {
        let name = |of: &Observed| match *of {
            Observed::Register { thread, register } => {
                let thread = usize::from(thread.0);
                let register = &test.program.threads[thread].registers[usize::from(register.0)];
                (thread, register.name.clone())
            }
            Observed::Memory { .. } => panic!("registers are observed"),
        };
        let names: Vec<(usize, String)> = test.program.observed.iter().map(name).collect();
        let values = |of: &Registers| names.iter().map(|name| of[name]).collect();
        if self.misused {
            EngineAnswer::Undefined
        } else if self.outcomes.is_empty() {
            EngineAnswer::Stuck
        } else {
            EngineAnswer::Outcomes(self.outcomes.iter().map(values).collect())
        }
    }
}

impl Moment {
    fn after(&self, thread: usize, (step, of): (ObjectUse, usize)) -> Stepped {
        let mut next = self.clone();
        let line = self.at[thread];
        next.at[thread] += 1;
        let object = self.objects.get(of).copied();
        let of_phase = |parity: i64| object.is_some_and(|object| object.phase % 2 != parity);
        let changed = match step {
            ObjectUse::Arrive { count, bytes, dropped } => {
                object.and_then(|object| object.arrived(count, bytes, dropped))
            }
            ObjectUse::Complete => object.and_then(|object| object.arrived(0, -BYTES, 0)),
            ObjectUse::Expect => object.map(|object| object.expecting(BYTES)),
            ObjectUse::Count => object.and_then(|object| {
                let pending = Value::try_from(object.pending).ok()?;
                next.registers.insert((thread, format!("r{line}")), pending);
                object.arrived(1, 0, 0).filter(|after| after.phase == object.phase)
            }),
            ObjectUse::Test(parity) => {
                next.registers.insert((thread, format!("p{line}")), of_phase(parity).into());
                return Stepped::To(next.into());
            }
            ObjectUse::Wait(parity) if of_phase(parity) => return Stepped::To(next.into()),
            ObjectUse::Raise => {
                next.raised.insert(of);
                return Stepped::To(next.into());
            }
            ObjectUse::Await if self.raised.contains(&of) => return Stepped::To(next.into()),
            ObjectUse::Wait(_) | ObjectUse::Await => return Stepped::Waits,
            ObjectUse::Meet { counted, waits } => {
                return next.meet(thread, of, counted.then_some(2), waits);
            }
        };
        let Some(changed) = changed else { return Stepped::Misused };
        next.objects[of] = changed;
        Stepped::To(next.into())
    }

    fn meet(mut self, thread: usize, barrier: usize, count: Option<usize>, waits: bool) -> Stepped {
        let all = self.at.len();
        let (first, arrived) = self.barriers.entry(barrier).or_insert((count, Vec::new()));
        if first.unwrap_or(all) != count.unwrap_or(all) {
            return Stepped::Misused;
        }
        arrived.push(thread);
        if waits {
            self.waiting[thread] = Some(barrier);
        }
        self.complete();
        Stepped::To(self.into())
    }

    fn exit(&self, thread: usize) -> Moment {
        let mut next = self.clone();
        next.exited.insert(thread);
        next.complete();
        next
    }

    /// Lets those go on who wait for barriers that are complete.
    fn complete(&mut self) {
        let threads = self.at.len();
        let mut complete = Vec::new();
        for (&barrier, (count, arrived)) in &self.barriers {
            let absent = (0..threads).filter(|thread| !arrived.contains(thread));
            let left = absent.filter(|thread| !self.exited.contains(thread)).count();
            if count.map_or(left == 0, |count| arrived.len() >= count) {
                let everyone = (0..threads).all(|thread| arrived.contains(&thread));
                self.by_exit |= count.is_none() && !everyone;
                complete.push(barrier);
            }
        }
        for barrier in complete {
            self.barriers.remove(&barrier);
            for waiting in self.waiting.iter_mut().filter(|of| **of == Some(barrier)) {
                *waiting = None;
            }
        }
    }
}

/// Whether an engine has what the orders have. With two objects it may have more: a wait that returns false and the order of
/// arrivals synchronize nothing, so a cycle through the orders of both is allowed.
fn includes(answer: &EngineAnswer, wanted: &EngineAnswer) -> bool {
    match (answer, wanted) {
        (EngineAnswer::Undefined, _) | (_, EngineAnswer::Stuck) => true,
        (EngineAnswer::Outcomes(all), EngineAnswer::Outcomes(of)) => of.is_subset(all),
        (_, EngineAnswer::Undefined) | (EngineAnswer::Stuck, _) => false,
    }
}

#[test]
fn outcomes_of_objects_flags_and_barriers_are_those_of_every_order_of_the_steps() {
    let mut runner = runner(number("CAUSEWAY_SEED", 50));
    let cases = number("CAUSEWAY_CASES", 600);
    let (mut finished, mut stuck, mut misused, mut skipped, mut exits) = (0, 0, 0, 0, 0);
    let model = ptx::model();
    for _ in 0..cases {
        let sketch = sketches().new_tree(&mut runner).expect("a program is drawn").current();
        let program = sketch.program();
        let source = program.to_string();
        let test = litmus::parse("objects", source.as_bytes())
            .unwrap_or_else(|errors| panic!("it does not parse: {}\n{source}", errors[0]));
        let simulated = sketch.simulated();
        if simulated.by_exit {
            exits += 1;
            continue;
        }
        let wanted = simulated.answer(&test);
        for engine in ENGINES {
            let limits = limits(200_000);
            let Ok((answer, facts)) = asked(*engine, &model, &test.program, &limits) else {
                skipped += 1;
                continue;
            };
            if !sketch.is_of_one_object() {
                assert!(
                    includes(&answer, &wanted),
                    "{}: {answer:?}, {wanted:?}\n{source}",
                    engine.name()
                );
                continue;
            }
            assert_eq!(answer, wanted, "{}:\n{source}", engine.name());
            if !simulated.misused && facts.stuck_is_known {
                assert_eq!(facts.stuck.is_some(), simulated.stuck, "{}:\n{source}", engine.name());
            }
            finished += u64::from(!simulated.misused && !simulated.outcomes.is_empty());
            stuck += u64::from(!simulated.misused && simulated.stuck);
            misused += u64::from(simulated.misused);
        }
    }
    eprintln!(
        "{cases} programs, by each engine: {finished} finish, {stuck} get stuck, {misused} are misused, {skipped} skipped; {exits} depend on exits"
    );
    assert!(5 * finished > cases && 5 * stuck > cases && 20 * skipped < cases);
}
