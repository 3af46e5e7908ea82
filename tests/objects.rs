//! Outcomes of programs of mbarrier objects and flags, against a simulation that runs their steps in every order.
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

/// Threads of steps, and what the objects are initialized with.
#[derive(Clone, Debug)]
struct ObjectSketch {
    counts: [i64; 2],
    threads: Vec<Vec<(ObjectUse, usize)>>,
}

fn sketches() -> impl Strategy<Value = ObjectSketch> {
    let counts = [(); 2].map(|()| select(&[1, 1, 2, 2, 3][..]));
    let threads = vec(vec(uses(), 1..4), 2..4);
    let flags = vec((any::<usize>(), any::<usize>(), any::<[usize; 2]>()), 1..=FLAGS.len());
    (counts, threads, flags).prop_map(|(counts, mut threads, flags)| {
        for (flag, (from, to, places)) in flags.into_iter().enumerate() {
            let from = from % threads.len();
            let to = (from + 1 + to % (threads.len() - 1)) % threads.len();
            for (thread, step, place) in
                [(from, ObjectUse::Raise, places[0]), (to, ObjectUse::Await, places[1])]
            {
                let place = place % (threads[thread].len() + 1);
                threads[thread].insert(place, (step, flag));
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
}

#[derive(Default)]
struct Simulated {
    outcomes: BTreeSet<Registers>,
    stuck: bool,
    misused: bool,
}

/// What becomes of a step.
enum Stepped {
    To(Moment),
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

    fn simulated(&self) -> Simulated {
        let mut all = Simulated::default();
        let mut pending = vec![Moment {
            at: vec![0; self.threads.len()],
            objects: self.counts.map(Object::new),
            raised: BTreeSet::new(),
            registers: Registers::new(),
        }];
        let mut seen = BTreeSet::new();
        while let Some(moment) = pending.pop() {
            if !seen.insert(moment.clone()) {
                continue;
            }
            let (mut waits, mut moves) = (false, false);
            for (thread, steps) in self.threads.iter().enumerate() {
                let Some(&step) = steps.get(moment.at[thread]) else { continue };
                match moment.after(thread, step) {
                    Stepped::To(next) => pending.push(next),
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
                return Stepped::To(next);
            }
            ObjectUse::Wait(parity) if of_phase(parity) => return Stepped::To(next),
            ObjectUse::Raise => {
                next.raised.insert(of);
                return Stepped::To(next);
            }
            ObjectUse::Await if self.raised.contains(&of) => return Stepped::To(next),
            ObjectUse::Wait(_) | ObjectUse::Await => return Stepped::Waits,
        };
        let Some(changed) = changed else { return Stepped::Misused };
        next.objects[of] = changed;
        Stepped::To(next)
    }
}

#[test]
fn outcomes_of_objects_and_flags_are_those_of_every_order_of_the_steps() {
    let mut runner = runner(number("CAUSEWAY_SEED", 50));
    let cases = number("CAUSEWAY_CASES", 600);
    let (mut finished, mut stuck, mut misused, mut skipped) = (0, 0, 0, 0);
    let model = ptx::model();
    for _ in 0..cases {
        let sketch = sketches().new_tree(&mut runner).expect("a program is drawn").current();
        let program = sketch.program();
        let source = program.to_string();
        let test = litmus::parse("objects", source.as_bytes())
            .unwrap_or_else(|errors| panic!("it does not parse: {}\n{source}", errors[0]));
        let simulated = sketch.simulated();
        let wanted = simulated.answer(&test);
        for engine in ENGINES {
            let limits = limits(200_000);
            let Ok((answer, facts)) = asked(*engine, &model, &test.program, &limits) else {
                skipped += 1;
                continue;
            };
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
        "{cases} programs, by each engine: {finished} finish, {stuck} get stuck, {misused} are misused, {skipped} skipped"
    );
    assert!(5 * finished > cases && 5 * stuck > cases && 20 * skipped < cases);
}
