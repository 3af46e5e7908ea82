//! Laws over random programs: engines agree with each other and with a naive reference;
//! strengthening never adds an outcome; the order of threads does not matter.
//!
//! The seed is fixed; `CAUSEWAY_SEED` and `CAUSEWAY_CASES` try others.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use engine::enumerate::Enumerate;
use engine::explain::candidate::{Candidate, Visitor, candidates};
use engine::plan::grows_with_choice;
use engine::{ENGINES, Engine, ExecutionFacts, Limit, Limits};
use execution::unfold::Unfolded;
use litmus::arbitrary::{AccessedBytes, ProgramShape, ROUNDS, Sketch, TestOp, sketch};
use litmus::{Prop, Test};
use model::bits::BitRow;
use model::given::Chosen;
use model::isa::Operand;
use model::memory::{Variable, VariableId};
use model::program::{ContestedBytes, InitialValue, Observed, Program, ThreadId};
use model::ptx;
use model::rel::{Axiom, Constraint, Model, Node, NodeId};
use model::strength::{KnownForms, Strength};
use model::value::Value;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// What an engine says of a program: its outcomes, or that it has no meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Outcomes(BTreeSet<Vec<Value>>),
    Undefined,
    /// No execution finishes.
    Stuck,
}

pub(crate) const BOUND: u32 = 2;
const TOO_LARGE: &str = "too large";

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seeded(config: Config, seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Draws random programs by a seed.
pub(crate) fn runner(seed: u64) -> TestRunner {
    seeded(Config { failure_persistence: None, ..Config::default() }, seed)
}

/// Runs a law over `cases` random programs of each shape, shrinking what breaks it.
pub(crate) fn law(
    name: &str,
    shapes: &[ProgramShape],
    cases: u64,
    check: impl Fn(&Sketch) -> Result<(), String>,
) {
    let cases = number("CAUSEWAY_CASES", cases);
    let seed = number("CAUSEWAY_SEED", 20);
    for shape in shapes {
        let cases = u32::try_from(cases).unwrap_or(u32::MAX);
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let mut runner = seeded(config, seed);
        let result = runner.run(&sketch(*shape), |program| match check(&program) {
            Err(what) if what != TOO_LARGE => {
                Err(TestCaseError::fail(format!("{what}\n{program}")))
            }
            Ok(()) | Err(_) => Ok(()),
        });
        if let Err(error) = result {
            panic!("{name}, seed {seed}: {error}");
        }
    }
}

pub(crate) const SMALL: ProgramShape =
    ProgramShape { threads: 2, length: 3, mixed_sizes: false, elsewhere: false, barriers: false };
pub(crate) const LONG: ProgramShape =
    ProgramShape { threads: 2, length: 4, mixed_sizes: false, elsewhere: false, barriers: false };
pub(crate) const WIDE: ProgramShape =
    ProgramShape { threads: 3, length: 3, mixed_sizes: false, elsewhere: false, barriers: false };
pub(crate) const ELSEWHERE: ProgramShape = ProgramShape { elsewhere: true, ..SMALL };
pub(crate) const MIXED: ProgramShape =
    ProgramShape { threads: 2, length: 3, mixed_sizes: true, elsewhere: false, barriers: false };

/// Barriers with counts, votes, barriers of the cluster, threads of one warp, loops that wait.
pub(crate) const BARRIERS: ProgramShape = ProgramShape { threads: 3, barriers: true, ..SMALL };

pub(crate) fn parse(program: &Sketch) -> Test {
    let text = program.to_string();
    litmus::parse("random", text.as_bytes())
        .unwrap_or_else(|errors| panic!("a random program does not parse: {}\n{text}", errors[0]))
}

/// Programs that take an engine longer are passed over.
const PATIENCE: Duration = Duration::from_millis(250);

pub(crate) fn ask(engine: &dyn Engine, model: &Model, test: &Test) -> Result<Answer, String> {
    let limits = Limits { deadline: Some(Instant::now() + PATIENCE), ..Limits::unlimited(BOUND) };
    let mut seen = ExecutionFacts::default();
    let mut outcomes = BTreeSet::new();
    engine
        .outcomes(model, &test.program, &limits, &mut seen, &mut |outcome, _| {
            outcomes.insert(outcome.to_vec());
            std::ops::ControlFlow::Continue(())
        })
        .map_err(|limit| match limit {
            Limit::Time | Limit::Solver | Limit::Memory | Limit::Work => TOO_LARGE.to_owned(),
            Limit::Events
            | Limit::Steps
            | Limit::Paths
            | Limit::Barriers
            | Limit::Mixtures
            | Limit::ThinAir
            | Limit::Interrupted
            | Limit::Model => {
                format!("{}: {}", engine.name(), limit.text())
            }
        })?;
    Ok(if seen.undefined.is_some() {
        Answer::Undefined
    } else if outcomes.is_empty() && seen.stuck.is_some() {
        Answer::Stuck
    } else {
        Answer::Outcomes(outcomes)
    })
}

/// The program with, in one thread, another variable in place of one, which no other thread accesses.
fn with_private_variable(test: &Test, thread: usize, variable: usize) -> Test {
    let mut test = test.clone();
    let program = &mut test.program;
    let [of, own] = [variable, program.variables.len()];
    let [of, own] = [of, own].map(|index| VariableId(u16::try_from(index).expect("few variables")));
    let copy = Variable { name: "own".to_owned(), ..program.variables[variable].clone() };
    program.variables.push(copy);
    for line in &mut program.threads[thread].lines {
        line.instruction.each_operand_mut(&mut |operand| {
            if *operand == Operand::Address(of) {
                *operand = Operand::Address(own);
            }
        });
    }
    for register in &mut program.threads[thread].registers {
        if let InitialValue::Address { variable, .. } = &mut register.initial
            && *variable == of
        {
            *variable = own;
        }
    }
    let thread = ThreadId(u8::try_from(thread).expect("few threads"));
    let length = u32::try_from(program.variables[variable].initial.len()).expect("few bytes");
    program.observed.push(Observed::Memory { variable: own, thread, offset: 0, length });
    test
}

/// The bytes that some access of each of two threads overlaps, made so large that each access is inside or
/// outside.
fn contested(program: &Program, model: &Model) -> Option<Vec<ContestedBytes>> {
    let unfolded = Unfolded::new(program, model.conventions, BOUND).ok()?;
    let mut all: BTreeSet<(usize, ContestedBytes)> = BTreeSet::new();
    for (thread, paths) in unfolded.paths.iter().enumerate() {
        for access in paths.iter().flat_map(|path| &path.events).filter_map(|event| event.access) {
            let variable = unfolded.layout.locations[usize::from(access.pa.object)].variable;
            let (start, length) = (access.pa.start, access.pa.length);
            all.insert((thread, ContestedBytes { variable, start, length, values: None }));
        }
    }
    let overlap = |a: &ContestedBytes, b: &ContestedBytes| {
        a.variable == b.variable && a.start < b.end() && b.start < a.end()
    };
    let of_two = |(thread, one): &&(usize, ContestedBytes)| {
        all.iter().any(|(other, bytes)| thread != other && overlap(one, bytes))
    };
    let aliased = |(_, one): &&(usize, ContestedBytes)| {
        program
            .variables
            .iter()
            .any(|other| other.alias.is_some_and(|alias| alias.of == one.variable))
    };
    let several = |one: &&(usize, ContestedBytes)| of_two(one) || aliased(one);
    // The values of the writes of all threads but the first, if they are constants and of these bytes only.
    let written = |one: &ContestedBytes| -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for path in unfolded.paths[1..].iter().flatten() {
            let writes = path.events.iter().filter_map(|event| Some((event.value?, event.access?)));
            for (value, access) in writes {
                let variable = unfolded.layout.locations[usize::from(access.pa.object)].variable;
                let (start, length) = (access.pa.start, access.pa.length);
                let bytes = ContestedBytes { variable, start, length, values: None };
                if overlap(one, &bytes) {
                    let same = (start, length) == (one.start, one.length);
                    values.push(path.exprs.as_const(value).filter(|_| same)?);
                }
            }
        }
        Some(values)
    };
    let mut found: BTreeSet<ContestedBytes> =
        all.iter().filter(several).map(|of| of.1.clone()).collect();
    loop {
        let touched = |one: &&ContestedBytes| found.iter().any(|of| overlap(one, of));
        let more: Vec<ContestedBytes> =
            all.iter().map(|of| &of.1).filter(touched).cloned().collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            let values = |one: ContestedBytes| ContestedBytes { values: written(&one), ..one };
            return Some(found.into_iter().map(values).collect());
        }
    }
}

/// Accesses to bytes of one thread need no events.
#[test]
fn private_bytes_change_no_outcome() {
    let model = ptx::model();
    let (compared, private) = (Cell::new(0), Cell::new(0));
    let shapes = [SMALL, LONG, WIDE, MIXED, BARRIERS];
    law("private bytes", &shapes, 150, |program| {
        let test = parse(program);
        let variables = test.program.variables.iter().enumerate();
        // An alias would still lead to the old bytes.
        let plain = variables.filter(|(_, variable)| variable.alias.is_none());
        for (variable, _) in plain.take(2) {
            let test = with_private_variable(&test, 0, variable);
            let mut sliced = test.clone();
            sliced.program.contested = contested(&test.program, &model);
            for engine in ENGINES {
                let (all, less) = (ask(*engine, &model, &test)?, ask(*engine, &model, &sliced)?);
                if let Some(difference) = difference(("events", &all), ("none", &less)) {
                    return Err(format!("variable {variable}: {difference}"));
                }
                compared.set(compared.get() + 1);
            }
            let unfolded = Unfolded::new(&sliced.program, model.conventions, BOUND);
            let paths = unfolded.iter().flat_map(|unfolded| unfolded.paths.iter().flatten());
            private.set(
                private.get() + usize::from(paths.clone().any(|path| !path.private.is_empty())),
            );
        }
        Ok(())
    });
    assert!(private.get() > compared.get() / 8, "{} of {}", private.get(), compared.get());
}

/// How two answers differ, if they do.
pub(crate) fn difference(a: (&str, &Answer), b: (&str, &Answer)) -> Option<String> {
    (a.1 != b.1).then(|| match (a.1, b.1) {
        (Answer::Outcomes(x), Answer::Outcomes(y)) => format!(
            "only {}: {:?}; only {}: {:?}",
            a.0,
            x.difference(y).take(3).collect::<Vec<_>>(),
            b.0,
            y.difference(x).take(3).collect::<Vec<_>>()
        ),
        _ => format!("{}: {:?}; {}: {:?}", a.0, a.1, b.0, b.1),
    })
}

#[test]
fn engines_agree_on_random_programs() {
    if ENGINES.len() < 2 {
        eprintln!("skipped: this build has one engine");
        return;
    }
    let model = ptx::model();
    law("engines agree", &[SMALL, LONG, WIDE, MIXED, ELSEWHERE, BARRIERS], 2_500, |program| {
        let test = parse(program);
        let answers: Vec<(&str, Answer)> = ENGINES
            .iter()
            .map(|engine| Ok((engine.name(), ask(*engine, &model, &test)?)))
            .collect::<Result<_, String>>()?;
        let (first, rest) = answers.split_first().expect("there are engines");
        for other in rest {
            if let Some(difference) = difference((first.0, &first.1), (other.0, &other.1)) {
                return Err(difference);
            }
        }
        Ok(())
    });
}

/// 226 outcomes, one query each: with a time limit, four of them were lost when the parameters of the
/// solver were set again before each query.
const MANY_OUTCOMES: &str = r"PTX many-outcomes
{
uint32_t x=0; uint32_t y=0; z @ generic aliases x;
}
 P0@cta 0,cluster 0,gpu 0              | P1@cta 1,cluster 0,gpu 0               ;
 st.weak.b32 [x], 16843009             | atom.relaxed.cta.add.u32 r0, [x], 16843009 ;
 red.relaxed.cta.add.u32 [x], 16843009 |                                        ;
locations [1:r0; x; y;]
exists (x=0 /\ y=0)
";

#[test]
fn a_time_limit_that_is_not_reached_changes_nothing() {
    let model = ptx::model();
    let test = litmus::parse("", MANY_OUTCOMES.as_bytes()).expect("a test");
    for engine in ENGINES {
        let deadline = Some(Instant::now() + Duration::from_secs(600));
        for deadline in [None, deadline] {
            let limits = Limits { deadline, ..Limits::unlimited(BOUND) };
            let (mut seen, mut outcomes) = (ExecutionFacts::default(), BTreeSet::new());
            engine
                .outcomes(&model, &test.program, &limits, &mut seen, &mut |outcome, _| {
                    outcomes.insert(outcome.to_vec());
                    std::ops::ControlFlow::Continue(())
                })
                .expect("no limit is reached");
            assert_eq!(outcomes.len(), 226, "{} {deadline:?}", engine.name());
        }
    }
}

/// Collects the outcomes of consistent candidates, tried one by one and without any pruning.
struct Naive {
    outcomes: BTreeSet<Vec<Value>>,
    /// How many more candidates it tries: a program with more of them is left out.
    left: usize,
}

impl Visitor for Naive {
    fn candidate<R: BitRow>(&mut self, candidate: &Candidate<'_, R>) -> bool {
        if candidate.broken.is_empty() {
            self.outcomes.insert(candidate.outcome.to_vec());
        }
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}

/// The plan, the pruning and the learning of the enumerating engine lose and invent nothing.
#[test]
fn enumerate_agrees_with_naive_candidates() {
    let model = ptx::model();
    let barriers = ProgramShape { length: 2, ..BARRIERS };
    let shapes =
        [ProgramShape { length: 2, ..SMALL }, ProgramShape { length: 2, ..MIXED }, barriers];
    let compared = Cell::new(0);
    law("naive", &shapes, 200, |program| {
        let mut test = parse(program);
        test.proposition = Prop::True;
        test.program.observed.retain(|o| matches!(o, Observed::Register { .. }));
        let outcomes = match ask(&Enumerate, &model, &test)? {
            Answer::Outcomes(outcomes) => outcomes,
            Answer::Stuck => BTreeSet::new(),
            Answer::Undefined => return Ok(()),
        };
        let mut naive = Naive { outcomes: BTreeSet::new(), left: 300_000 };
        let complete = candidates(&test, &model, &Limits::unlimited(BOUND), &mut naive)
            .map_err(|limit| limit.text().to_owned())?;
        if !complete {
            return Ok(());
        }
        compared.set(compared.get() + 1);
        let naive = Answer::Outcomes(naive.outcomes);
        difference(("enumerate", &Answer::Outcomes(outcomes)), ("naive", &naive))
            .map_or(Ok(()), Err)
    });
    eprintln!("{} programs compared", compared.get());
    assert!(compared.get() > 300, "{} programs compared", compared.get());
}

/// The least coherence order is enough: trying every one finds the same outcomes. An axiom that
/// says nothing, in a form that does not grow with rf, sends the engine the long way.
#[test]
fn every_coherence_order_gives_what_the_least_gives() {
    let model = ptx::model();
    let mut long = model.clone();
    let rf = long.nodes.iter().position(|node| *node == Node::Chosen(Chosen::Rf));
    let rf = NodeId(u16::try_from(rf.expect("the model speaks of rf")).expect("few nodes"));
    let nothing = NodeId(u16::try_from(long.nodes.len()).expect("few nodes"));
    long.nodes.push(Node::Minus(rf, rf));
    let constraint = Constraint::Empty(nothing);
    long.axioms.push(Axiom { name: "Nothing".to_owned(), section: None, constraint });
    assert!(!grows_with_choice(&long) && grows_with_choice(&model));
    let shapes = [SMALL, ProgramShape { length: 2, ..WIDE }, ProgramShape { length: 2, ..MIXED }];
    law("every co", &shapes, 150, |program| {
        let test = parse(program);
        let (least, every) = (ask(&Enumerate, &model, &test)?, ask(&Enumerate, &long, &test)?);
        difference(("least", &least), ("every", &every)).map_or(Ok(()), Err)
    });
}

/// The test with one instruction in a next stronger form, for each of them.
fn strengthened(test: &Test) -> Vec<(Strength, Test)> {
    let forms = KnownForms { clusters: true, one_way_fences: true, weak: true };
    let mut all = Vec::new();
    for (thread, of) in test.program.threads.iter().enumerate() {
        for (at, line) in of.lines.iter().enumerate() {
            let Some(now) = Strength::of(&line.instruction) else { continue };
            for stronger in now.stronger(forms) {
                let mut changed = test.clone();
                let instruction = stronger.applied(&line.instruction).expect("it has the kind");
                changed.program.threads[thread].lines[at].instruction = instruction;
                all.push((stronger, changed));
            }
        }
    }
    all
}

#[test]
fn strengthening_never_adds_an_outcome() {
    let model = ptx::model();
    law("strengthening", &[SMALL, WIDE], 150, |program| {
        let Answer::Outcomes(before) = ask(&Enumerate, &model, &parse(program))? else {
            return Ok(());
        };
        for (stronger, changed) in strengthened(&parse(program)) {
            let Answer::Outcomes(after) = ask(&Enumerate, &model, &changed)? else {
                return Err(format!("undefined with {stronger:?}"));
            };
            if let Some(new) = after.difference(&before).next() {
                return Err(format!("{stronger:?} adds {new:?}"));
            }
        }
        Ok(())
    });
}

/// Cache operators, eviction priorities, prefetch sizes and cache policies are for performance.
#[test]
fn performance_qualifiers_never_change_an_outcome() {
    let model = ptx::model();
    law("performance", &[SMALL, MIXED, ELSEWHERE], 50, |program| {
        let plain = parse(program);
        for engine in ENGINES {
            let before = ask(*engine, &model, &plain)?;
            for round in 1..ROUNDS {
                let decorated = program.decorated(round);
                let after = ask(*engine, &model, &parse(&decorated))?;
                if let Some(difference) = difference(("plain", &before), ("decorated", &after)) {
                    return Err(format!("{}: {difference}\n{decorated}", engine.name()));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn every_performance_qualifier_is_tried() {
    let op = |order| TestOp::Load { order, hints: "", place: V };
    let program =
        Sketch { threads: vec![(0, vec![op("weak"), op("acquire.gpu")])], mixed_sizes: false };
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for round in 0..ROUNDS {
        for op in &program.decorated(round).threads[0].1 {
            if let TestOp::Load { hints, .. } = op {
                seen.extend(hints.split('.').filter(|hint| !hint.is_empty()));
            }
        }
    }
    assert_eq!(seen.len(), 17, "{seen:?}");
}

const V: AccessedBytes = AccessedBytes { variable: "v", size: 32, high: false };

#[test]
fn the_order_of_threads_does_not_matter() {
    let model = ptx::model();
    law("renaming", &[SMALL, WIDE, MIXED, ELSEWHERE], 250, |program| {
        let test = parse(program);
        let mut reversed = program.clone();
        reversed.threads.reverse();
        let mirror = parse(&reversed);
        let (Answer::Outcomes(here), Answer::Outcomes(there)) =
            (ask(&Enumerate, &model, &test)?, ask(&Enumerate, &model, &mirror)?)
        else {
            return Ok(());
        };
        let last = program.threads.len() - 1;
        let place: Vec<usize> = test
            .program
            .observed
            .iter()
            .map(|observed| {
                use model::program::{Observed, ThreadId};
                let twin = match *observed {
                    Observed::Register { thread, register } => {
                        let other = ThreadId(u8::try_from(last).expect("few threads") - thread.0);
                        Observed::Register { thread: other, register }
                    }
                    memory @ Observed::Memory { .. } => memory,
                };
                mirror.program.observed.iter().position(|o| *o == twin).expect("observed too")
            })
            .collect();
        let renamed: BTreeSet<Vec<Value>> =
            there.iter().map(|values| place.iter().map(|&at| values[at]).collect()).collect();
        let (here, renamed) = (Answer::Outcomes(here), Answer::Outcomes(renamed));
        difference(("as written", &here), ("reversed", &renamed)).map_or(Ok(()), Err)
    });
}

/// What `docs/redundant.md` lists as redundant changes nothing on random programs.
#[test]
fn redundant_rules_change_nothing() {
    let model = ptx::model();
    let names = [
        "Fence-SC",
        "Single-Copy-Atomicity",
        "Mixed-Size-Single-Copy",
        "Mixed-Size-Atomicity",
        "Mixed-Size-Order",
    ];
    for name in names {
        let mut weaker = model.clone();
        weaker.axioms.retain(|axiom| axiom.name != name);
        assert_eq!(weaker.axioms.len() + 1, model.axioms.len(), "{name} is an axiom");
        law(name, &[SMALL, WIDE, MIXED], 300, |program| {
            let test = parse(program);
            let (with, without) =
                (ask(&Enumerate, &model, &test)?, ask(&Enumerate, &weaker, &test)?);
            difference(("with", &with), ("without", &without)).map_or(Ok(()), Err)
        });
    }
}

/// Random programs reach what they are for: synchronization, atomics, fences, undefinedness.
#[test]
fn random_programs_are_not_vacuous() {
    let model = ptx::model();
    let mut runner = TestRunner::deterministic();
    let (mut outcomes, mut undefined) = (0, 0);
    for _ in 0..200 {
        let program = sketch(MIXED).new_tree(&mut runner).expect("a program").current();
        match ask(&Enumerate, &model, &parse(&program)) {
            Ok(Answer::Outcomes(of)) => outcomes += of.len(),
            Ok(Answer::Undefined) => undefined += 1,
            // Without an outcome, or too large on a slow machine.
            Ok(Answer::Stuck) | Err(_) => {}
        }
    }
    assert!(outcomes > 400, "{outcomes} outcomes");
    assert!(undefined > 20, "{undefined} undefined programs");
}
