//! How fast lowerings are judged: `cargo bench -p causeway --bench lower`.
//!
//! A judgement is a question in one context: both sides of it, and the comparison. Each kind is of one
//! thread; every question is answered anew, so that nothing is remembered but what the program itself
//! remembers between targets of one source. `--rows FILE.csv` judges a file of rows too, and
//! `--generated N` the published mapping of C++ in N generated programs of each shape. `--contexts N` judges N pairs
//! of a random context and a row, from `--seed S` on, and measures nothing else.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it finds")]

use std::time::{Duration, Instant};

use model::scope::Scope;
use refine::generated::{self, ProgramPattern};
use refine::inclusion::Judge;
use refine::random::{self, BorderTargets, RandomReport};
use refine::row::prepare;
use refine::row_question::{PreparedRow, RowQuestion};
use refine::run::MachineAnswer;
use refine::step::line;
use refine::{Answer, Assumptions, JudgeSettings, Models, Refiner, Row, read, rows};

/// So long each kind goes on at least.
const LEAST: Duration = Duration::from_secs(2);

fn asked(source: String, target: String, arch: &str) -> RowQuestion {
    let row = Row { source, target, arch: arch.to_owned() };
    match prepare(&row, Assumptions::default()) {
        PreparedRow::NeedsEngine(asked) => *asked,
        PreparedRow::Found(finding) => panic!("{row:?}: {finding:?}"),
    }
}

/// LLVM IR and its published mapping.
fn of_cxx() -> Vec<RowQuestion> {
    let mut all = Vec::new();
    for (scope, name) in [("block", "cta"), ("cluster", "cluster"), ("device", "gpu"), ("x", "sys")]
    {
        let scope = if scope == "x" { String::new() } else { format!(" syncscope(\"{scope}\")") };
        for (order, to) in [
            ("monotonic", format!("ld.relaxed.{name}")),
            ("acquire", format!("ld.acquire.{name}")),
            ("seq_cst", format!("fence.sc.{name}; ld.acquire.{name}")),
        ] {
            let source = format!("%r = load atomic i32, ptr %p{scope} {order}, align 4");
            all.push(asked(source, format!("{to}.b32 %r1, [%rd1];"), "sm_90"));
        }
        for (order, to) in [
            ("monotonic", format!("st.relaxed.{name}")),
            ("release", format!("st.release.{name}")),
            ("seq_cst", format!("fence.sc.{name}; st.relaxed.{name}")),
        ] {
            let source = format!("store atomic i32 %v, ptr %p{scope} {order}, align 4");
            all.push(asked(source, format!("{to}.b32 [%rd1], %r1;"), "sm_90"));
        }
        for (order, to) in [
            ("monotonic", format!("atom.relaxed.{name}")),
            ("acq_rel", format!("atom.acq_rel.{name}")),
            ("seq_cst", format!("fence.sc.{name}; atom.acquire.{name}")),
        ] {
            let source = format!("%r = atomicrmw xchg ptr %p, i32 %v{scope} {order}");
            all.push(asked(source, format!("{to}.exch.b32 %r1, [%rd1], %r2;"), "sm_90"));
        }
        let source = format!("fence{scope} seq_cst");
        all.push(asked(source, format!("fence.sc.{name};"), "sm_90"));
    }
    all
}

/// PTX and what the table of `sm_90` makes of it.
fn of_ptx() -> Vec<RowQuestion> {
    let families = sass::lowering::families().iter();
    let hopper = families.clone().find(|family| family.name == "hopper").expect("it is there");
    let mut all = Vec::new();
    let mut add = |opcode: &str, parts: &[&str], operands: &str| {
        let text = hopper.table.find(90, opcode, parts).expect("the table has it");
        let text = if text.is_empty() { "(none)".to_owned() } else { text };
        all.push(asked(format!("{opcode}.{}{operands};", parts.join(".")), text, "sm_90"));
    };
    for scope in Scope::ALL.map(Scope::name) {
        for space in ["global", "shared"] {
            for order in ["relaxed", "acquire"] {
                add("ld", &[order, scope, space, "b32"], " r1, [a]");
            }
            for order in ["relaxed", "release"] {
                add("st", &[order, scope, space, "b32"], " [a], r1");
            }
            for order in ["relaxed", "acq_rel"] {
                add("atom", &[order, scope, space, "exch", "b32"], " r1, [a], r2");
            }
        }
        for order in ["acquire", "release", "acq_rel", "sc"] {
            add("fence", &[order, scope], "");
        }
    }
    all
}

fn measured(what: &str, questions: usize, mut once: impl FnMut() -> usize) {
    let start = Instant::now();
    let (mut judgements, mut rounds) = (0_usize, 0_usize);
    while rounds == 0 || start.elapsed() < LEAST {
        judgements += once();
        rounds += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = judgements as f64 / seconds;
    let each = judgements / rounds;
    println!("{what:<42} {questions:>4} questions {each:>7} judgements {rate:>9.0} a second");
}

/// Random contexts for the rows between preserved and weaker. Prints what the lists of contexts miss.
fn random_contexts(refiner: Refiner<'_>, seed: u64, pairs: usize) {
    let start = Instant::now();
    let border = BorderTargets::new(refiner, &Scope::ALL);
    let report = random::judge(refiner, &border, seed, pairs);
    let RandomReport { pairs, undefined, undecided, withdrawn, .. } = report;
    println!(
        "seed {seed}: {pairs} pairs, {undefined} without meaning in C++, {withdrawn} withdrawn, {undecided} undecided, {:.0} s",
        start.elapsed().as_secs_f64()
    );
    let (confirmed, weaker) = (report.confirmed.len(), border.weaker.len());
    println!("{confirmed} of {weaker} weaker targets confirmed");
    for at in (0..weaker).filter(|at| !report.confirmed.contains_key(at)) {
        let pair = &border.weaker[at];
        println!("  not confirmed: {} became {}", pair.source, line(&pair.target));
    }
    println!(
        "{} disagreements on {} preserved targets",
        report.disagreements.len(),
        border.preserved.len()
    );
    println!(
        "in {} contexts the published mapping of the row adds an outcome itself",
        report.mapping.len()
    );
    for found in report.disagreements.iter().chain(&report.mapping) {
        println!("{}\n{}\n{}", found.row, found.forbidden, found.allowed);
    }
    assert!(report.disagreements.is_empty(), "the lists of contexts lack one");
}

fn main() {
    let models = Models::default();
    let refiner = Refiner { tearing: false, ..Refiner::new(&models) };
    let number = |name: &str| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        arguments.nth(1).and_then(|number| number.parse::<usize>().ok())
    };
    if let Some(pairs) = number("--contexts") {
        let seed = u64::try_from(number("--seed").unwrap_or(20)).expect("a number of 64 bits");
        random_contexts(refiner, seed, pairs);
        return;
    }
    let new = || Judge::new(refiner);
    let contexts = |answer: &Answer| match answer {
        Answer::Included(tally) => tally.checked + tally.source_racy + tally.withdrawn,
        Answer::Refuted(_) | Answer::Undefined { .. } | Answer::Undecided { .. } => {
            panic!("{answer:?}")
        }
    };
    let (from_cxx, from_ptx) = (of_cxx(), of_ptx());
    measured("C++ to PTX, by axioms", from_cxx.len(), || {
        let mut judge = new();
        from_cxx.iter().map(|asked| contexts(&judge.judge(&asked.question))).sum()
    });
    measured("PTX to SASS, by promises", from_ptx.len(), || {
        let mut judge = new();
        from_ptx.iter().map(|asked| contexts(&judge.judge(&asked.question))).sum()
    });
    measured("PTX to SASS, on the machine", from_ptx.len(), || {
        let mut judge = new();
        let run = |asked: &RowQuestion| {
            let code = asked.code.as_ref().expect("it is of the machine");
            match judge.run(&asked.question, code) {
                MachineAnswer::Included(checked) => checked,
                other @ (MachineAnswer::Refuted(_) | MachineAnswer::Undecided(_)) => {
                    panic!("{other:?}")
                }
            }
        };
        from_ptx.iter().map(run).sum()
    });
    if let Some(budget) = number("--generated") {
        for shape in ProgramPattern::ALL {
            let start = Instant::now();
            let added = generated::judge(refiner, shape, budget).expect("no limit is reached");
            let (count, seconds) = (shape.count(), start.elapsed().as_secs_f64());
            let done = budget.min(count);
            println!(
                "{shape:?}: {done} of {count} programs, {} add an outcome, {seconds:.0} s",
                added.len()
            );
            added.iter().take(10).for_each(|text| println!("  {text}"));
        }
    }
    let mut arguments = std::env::args().skip_while(|argument| argument != "--rows");
    let Some(path) = arguments.nth(1) else { return };
    let text = std::fs::read_to_string(&path).expect("the file can be read");
    let start = Instant::now();
    let table = read(&text).expect("the rows are well formed");
    let setting = JudgeSettings { jobs: 2, ..JudgeSettings::new(&models) };
    let (findings, questions) = rows::judge_by(&table, &setting, None, &());
    let (rows, seconds) = (findings.len(), start.elapsed().as_secs_f64());
    println!("{path}: {rows} rows, {questions} questions, {seconds:.1} s on 2 threads");
}
