//! The machine against the axioms on random programs, as many as one likes:
//! `cargo bench -p causeway --bench inclusion -- --programs 100000`.
//!
//! Each program runs on every family that has its instructions, on machines of different choices in
//! turn. Outcomes that the axioms forbid are written to standard output with the program, made as small
//! as it goes; `--seed` starts elsewhere, and a name of a kind runs that kind only.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it finds")]

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use ::explore::ExploreLimits;
use ::explore::inclusion::{Inclusion, compare};
use engine::ENGINES;
use engine::judge::{Task, judge};
use litmus::Test;
use litmus::arbitrary::placed::{PlacedTest, ProgramKind, placed};
use litmus::arbitrary::{ProgramShape, Sketch, sketch};
use machine::{Home, Options};
use model::ptx;
use model::rel::Model;
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sass::lower::Lowering;

fn argument(name: &str, default: u64) -> u64 {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Programs that say nothing of the machine, then those that do.
fn kinds() -> Vec<(&'static str, BoxedStrategy<String>)> {
    let uniform = ProgramShape {
        threads: 3,
        length: 3,
        mixed_sizes: false,
        elsewhere: false,
        barriers: false,
    };
    let mixed = ProgramShape {
        threads: 2,
        length: 3,
        mixed_sizes: true,
        elsewhere: false,
        barriers: false,
    };
    let sketched = |shape| sketch(shape).prop_map(|sketch: Sketch| sketch.to_string()).boxed();
    let mut kinds = vec![("uniform", sketched(uniform)), ("sizes", sketched(mixed))];
    kinds.extend(ProgramKind::ALL.map(|kind| {
        let text = placed(kind).prop_map(|placed: PlacedTest| placed.to_string());
        (kind.name(), text.boxed())
    }));
    kinds
}

/// Machines of different choices; programs take them in turn.
fn machines() -> Vec<Options> {
    let default = Options::default();
    vec![
        default,
        Options { lazy_all: true, ..default },
        Options { store_buffers: true, ..default },
        Options { copies: true, home: Some(Home::Host), ..default },
        Options { forward_sys: true, home: Some(Home::Gpu(1)), ..default },
        Options { one_sm: true, lazy_all: true, ..default },
        Options { warm: false, weak_pass: false, ..default },
        Options { store_buffers: true, lazy_all: true, copies: true, forward_sys: true, ..default },
    ]
}

const TARGETS: [u16; 5] = [50, 70, 80, 90, 100];
const LIMITS: ExploreLimits = ExploreLimits::states(100_000);

/// Programs that a thread takes at once.
const BATCH: u64 = 100;

/// What became of one program.
#[derive(Default)]
struct Account {
    included: usize,
    undefined: usize,
    refused: usize,
    limited: usize,
    reached: usize,
    allowed: usize,
    states: usize,
    /// The program, and what it does where.
    found: Option<String>,
}

impl Account {
    fn add(&mut self, other: &Account) {
        self.included += other.included;
        self.undefined += other.undefined;
        self.refused += other.refused;
        self.limited += other.limited;
        self.reached += other.reached;
        self.allowed += other.allowed;
        self.states += other.states;
    }
}

fn account(source: &str, options: Options, model: &Model) -> Account {
    let test = litmus::parse("random", source.as_bytes()).unwrap_or_else(|errors| {
        panic!("a random program does not parse: {}\n{source}", errors[0])
    });
    let engines = ENGINES.iter().copied().filter(|e| e.name() == "enumerate").collect();
    let timeout = Some(Duration::from_secs(2));
    let task = Task {
        model,
        engines,
        bound: 2,
        timeout,
        memory: usize::MAX,
        verdict_only: false,
        portfolio: false,
        work: None,
        until: None,
        blame: false,
        cxx: None,
        alternatives: &[],
        rests: false,
    };
    let judged = judge(&test, &task);
    let mut account = Account::default();
    // Reading R51 is not of sm_50: its membar.cta is no instruction, and drains nothing.
    for sm in TARGETS.into_iter().filter(|sm| *sm > 50 || !options.store_buffers) {
        let lowering = Lowering::of(sm).expect("there is a table");
        let (inclusion, explored) = compare(&test, &judged, lowering, options, LIMITS);
        account.states += explored.map_or(0, |explored| explored.states);
        match inclusion {
            Inclusion::Included { reached, allowed } => {
                account.included += 1;
                account.reached += reached;
                account.allowed += allowed;
            }
            Inclusion::Extra(extra) => account.found = Some(tell(&test, sm, options, &extra[0].0)),
            Inclusion::Undefined(_) | Inclusion::Unsupported(_) => account.undefined += 1,
            Inclusion::Refused(_) => account.refused += 1,
            // There is nothing to compare.
            Inclusion::Stuck { .. } => {}
            Inclusion::Limited(_) => account.limited += 1,
        }
    }
    account
}

fn tell(test: &Test, sm: u16, options: Options, outcome: &[u128]) -> String {
    format!("sm_{sm}, {options:?}: the axioms forbid {}", test.display_outcome(outcome))
}

/// One random program, made smaller while it still does what the axioms forbid.
fn one(kind: &BoxedStrategy<String>, seed: u64, index: u64, model: &Model) -> Account {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&index.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut tree = kind.new_tree(&mut runner).expect("a program");
    let machines = machines();
    let options = machines[usize::try_from(index).unwrap_or(0) % machines.len()];
    let mut account = account(&tree.current(), options, model);
    if account.found.is_none() {
        return account;
    }
    let mut smallest = (tree.current(), account.found.take());
    let mut going = tree.simplify();
    while going {
        let text = tree.current();
        let found = self::account(&text, options, model).found;
        going = if found.is_some() {
            smallest = (text, found);
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    account.found = Some(format!("{}\n{}", smallest.1.unwrap_or_default(), smallest.0));
    account
}

fn main() -> io::Result<()> {
    let (programs, seed) = (argument("--programs", 1_000), argument("--seed", 0));
    let model = ptx::model();
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut found = 0;
    println!(
        "{:8} {:>9} {:>11} {:>10} {:>8} {:>8} {:>7} {:>22} {:>8}",
        "kind",
        "programs",
        "included",
        "undefined",
        "refused",
        "limited",
        "found",
        "reached",
        "seconds"
    );
    let wanted = |kind: &str| names.iter().any(|name| name == kind);
    let kinds: Vec<&str> = kinds().iter().map(|(name, _)| *name).collect();
    let some = kinds.iter().any(|kind| wanted(kind));
    for (number, name) in kinds.iter().enumerate().filter(|(_, name)| !some || wanted(name)) {
        let start = Instant::now();
        let (mut all, mut here) = (Account::default(), BTreeMap::new());
        // Strategies stay in their thread, so each batch makes its own.
        let batch = |batch: usize| {
            let (_, kind) = crate::kinds().swap_remove(number);
            let first = batch as u64 * BATCH;
            let batch = first..programs.min(first + BATCH);
            batch.map(|index| one(&kind, seed, index, &model)).collect::<Vec<Account>>()
        };
        let batches = usize::try_from(programs.div_ceil(BATCH)).expect("so many fit");
        engine::parallel::in_order(batches, jobs, &batch, &mut |done| {
            let Some((batch, accounts)) = done else { return Ok(()) };
            for (index, account) in (batch as u64 * BATCH..).zip(accounts) {
                all.add(&account);
                here.extend(account.found.map(|what| (index, what)));
            }
            Ok(())
        })?;
        let Account { included, undefined, refused, limited, reached, allowed, .. } = all;
        let reach = format!("{reached}/{allowed}");
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{name:8} {programs:>9} {included:>11} {undefined:>10} {refused:>8} {limited:>8} {:>7} {reach:>22} \
             {seconds:>8.1}",
            here.len()
        );
        found += here.len();
        for (index, what) in &here {
            println!("{name} {index}, seed {seed}: {what}");
        }
        io::stdout().flush()?;
    }
    assert!(found == 0, "{found} programs do what the axioms forbid");
    Ok(())
}
