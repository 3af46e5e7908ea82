//! What is given damaged inputs, and what holds of all of them.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ::explore::{self, explore};
use ::ptx::version::Target as Machine;
use checker::lower::report::Baseline;
use engine::clock::Deadline;
use engine::{ENGINES, ExecutionFacts, Limits};
use litmus::format::{Unformatted, format};
use litmus::{Dialect, Test};
use sass::lower::Lowering;
use sass::lowering;
use sass::{self, ReadOptions};

use model::cxx::{self, ReleaseSequence};
use model::ptx;
use text::Diagnostic;
use verify::{WordsQuestion, WordsTest};

use crate::{checked, launches, tokens};

pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Folders and files, with the ending of what is looked for.
    pub(crate) corpus: &'static [(&'static str, &'static str)],
    /// Whether tokens are changed, and not bytes.
    pub(crate) tokens: bool,
    pub(crate) patience: Duration,
    /// The number of cases of a run without a time: about five seconds.
    pub(crate) cases: u64,
    /// What is wrong with the answer to an input, if anything is.
    pub(crate) check: fn(&[u8]) -> Result<(), String>,
}

const TESTS: &[(&str, &str)] =
    &[("litmus/suite", "litmus"), ("litmus/cxx", "litmus"), ("tests", "litmus")];

/// Reading takes far less than this, engines stop soon after their time.
const SOON: Duration = Duration::from_secs(5);

/// Where all that commands do follows, each step within its own time.
const LATE: Duration = Duration::from_secs(60);

pub(crate) const TARGETS: [Target; 16] = [
    Target {
        name: "litmus",
        corpus: TESTS,
        tokens: false,
        patience: SOON,
        cases: 28_000,
        check: test,
    },
    Target {
        name: "fmt",
        corpus: TESTS,
        tokens: false,
        patience: SOON,
        cases: 28_000,
        check: formatted,
    },
    Target {
        name: "cat",
        corpus: &[("docs", "cat"), ("tests/cli", "cat")],
        tokens: false,
        patience: SOON,
        cases: 22_000,
        check: model,
    },
    Target {
        name: "ptx",
        corpus: &[("tests/ptx", "ptx"), ("tests/lower", "ptx")],
        tokens: false,
        patience: SOON,
        cases: 17_000,
        check: checked::check,
    },
    Target {
        name: "llvm",
        corpus: &[("tests/llvm", "ll"), ("crates/llvm/tests/llvm", "ll")],
        tokens: false,
        patience: SOON,
        cases: 1_700,
        check: functions,
    },
    Target {
        name: "words",
        corpus: &[("tests/words", "words")],
        tokens: false,
        patience: SOON,
        cases: 10_000,
        check: words,
    },
    Target {
        name: "kernels",
        corpus: &[("examples/kernels", "ptx")],
        tokens: true,
        patience: LATE,
        cases: 300,
        check: launches::module,
    },
    Target {
        name: "launches",
        corpus: &[("examples/kernels", "toml")],
        tokens: false,
        patience: LATE,
        cases: 3_000,
        check: launches::launch_file,
    },
    Target {
        name: "sass",
        corpus: &[("tests/cli", "sass"), ("crates/sass/tests/sass", "sass")],
        tokens: false,
        patience: SOON,
        cases: 7_500,
        check: listing,
    },
    Target {
        name: "spa5",
        corpus: &[("crates/sass/tests/sass", "sass")],
        tokens: false,
        patience: SOON,
        cases: 7_500,
        check: spa5,
    },
    Target {
        name: "table",
        corpus: &[("crates/sass/lowering", "table")],
        tokens: false,
        patience: SOON,
        cases: 3_000,
        check: table,
    },
    Target {
        name: "rows",
        corpus: &[("tests/lower", "csv")],
        tokens: false,
        patience: SOON,
        cases: 32_000,
        check: rows,
    },
    Target {
        name: "engines",
        corpus: TESTS,
        tokens: false,
        patience: SOON,
        cases: 23_000,
        check: engines,
    },
    Target {
        name: "machine",
        corpus: TESTS,
        tokens: false,
        patience: SOON,
        cases: 25_000,
        check: machine,
    },
    Target {
        name: "tokens",
        corpus: TESTS,
        tokens: true,
        patience: LATE,
        cases: 1_000,
        check: tokens::test,
    },
    Target {
        name: "lowered",
        corpus: &[("tests/ptx", "ptx"), ("tests/lower", "ptx")],
        tokens: true,
        patience: LATE,
        cases: 200,
        check: tokens::functions,
    },
];

/// Errors are there, lie in the file, and can be shown.
pub(crate) fn errors(all: &[Diagnostic], bytes: &[u8]) -> Result<(), String> {
    if all.is_empty() {
        return Err("it is refused without a word".to_owned());
    }
    inside(all, bytes)
}

pub(crate) fn inside(all: &[Diagnostic], bytes: &[u8]) -> Result<(), String> {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    for one in all {
        let text = one.to_string();
        let shown = text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control());
        if one.span.line > lines || !shown {
            return Err(format!("{} is at {:?} of {lines} lines:\n{text}", one.code, one.span));
        }
    }
    Ok(())
}

/// The text, as commands make it of a file.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn test(bytes: &[u8]) -> Result<(), String> {
    match litmus::parse("f.litmus", bytes) {
        Ok(_) => Ok(()),
        Err(all) => errors(&all, bytes),
    }
}

fn formatted(bytes: &[u8]) -> Result<(), String> {
    let once = match format("f.litmus", bytes) {
        Ok(once) => once,
        Err(Unformatted::Rejected(all)) => return errors(&all, bytes),
        Err(Unformatted::Changed) => return Err("formatted, it is another test".to_owned()),
    };
    match format("f.litmus", once.as_bytes()) {
        Ok(twice) if twice == once => Ok(()),
        Ok(_) => Err(format!("formatted twice, it is another text than\n{once}")),
        Err(_) => Err("formatted, it cannot be formatted".to_owned()),
    }
}

fn model(bytes: &[u8]) -> Result<(), String> {
    let text = text(bytes);
    match cat::import("f.cat", &text) {
        Ok(model) => {
            let printed = model::render::cat(&model);
            let again = cat::import("f.cat", &printed);
            again.map(|_| ()).map_err(|all| format!("printed, it is not read: {}", all[0]))
        }
        Err(all) => errors(&all, text.as_bytes()),
    }
}

fn functions(bytes: &[u8]) -> Result<(), String> {
    let text = text(bytes);
    if let Err(all) = llvm::read("f.ll", &text) {
        errors(&all, text.as_bytes())?;
    }
    match llvm::functions("f.ll", &text) {
        Ok(_) => Ok(()),
        Err(all) => errors(&all, text.as_bytes()),
    }
}

/// A line with functions, one with a condition, and initial values.
fn words(bytes: &[u8]) -> Result<(), String> {
    const MODULES: [&str; 2] = [
        include_str!("../../../tests/words/message.ptx"),
        include_str!("../../../tests/words/memory.ptx"),
    ];
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let words = lines.next().unwrap_or_default();
    let question = lines.next().map(|condition| (WordsQuestion::Never, condition));
    let initial: Vec<String> = lines.map(str::to_owned).collect();
    for module in MODULES {
        let request = WordsTest { words, question, initial: &initial, shared: None };
        match verify::words::compose("k.ptx", module, &request) {
            Ok(composed) => {
                litmus::parse("k.litmus", composed.text.as_bytes())
                    .map_err(|errors| format!("its test is not read: {}", errors[0]))?;
            }
            Err(errors) if errors.is_empty() => return Err("there is no error".to_owned()),
            Err(_) => {}
        }
    }
    Ok(())
}

fn listing(bytes: &[u8]) -> Result<(), String> {
    let text = text(bytes);
    for arch in [None, Some(50), Some(90)] {
        inside(&sass::listing("f.sass", &text, arch).diagnostics, text.as_bytes())?;
        if let Err(all) = lift::listing::functions("f.sass", &text, arch, &|_| None) {
            errors(&all, text.as_bytes())?;
        }
    }
    Ok(())
}

/// Each line as an instruction, and as a word.
fn spa5(bytes: &[u8]) -> Result<(), String> {
    let text = text(bytes);
    let target = Machine::parse("sm_50").ok_or("there is sm_50")?;
    for line in text.lines() {
        let options = ReadOptions { sm: Some(50), registers: Some(32) };
        match sass::instruction("f", line, options) {
            Ok(single) => inside(&single.diagnostics, line.as_bytes())?,
            Err(all) => errors(&all, line.as_bytes())?,
        }
        // What is not a word is reported as what it is.
        drop(sass::decode::line(line, target));
    }
    Ok(())
}

fn table(bytes: &[u8]) -> Result<(), String> {
    let text = text(bytes);
    match lowering::read("f.table", &text) {
        Ok(_) => Ok(()),
        Err(all) => errors(&all, text.as_bytes()),
    }
}

fn rows(bytes: &[u8]) -> Result<(), String> {
    let text = text(bytes);
    // Both say a line where they refuse.
    let lines = text.lines().count() + 1;
    let line = match (refine::read(&text), Baseline::read(&text)) {
        (Err((line, _)), _) | (Ok(_), Err((line, _))) => line,
        (Ok(_), Ok(_)) => 1,
    };
    if line <= lines { Ok(()) } else { Err(format!("line {line} of {lines}")) }
}

/// A test that could be read, and has something to be judged.
fn sound(bytes: &[u8]) -> Option<Test> {
    litmus::parse("f.litmus", bytes).ok().filter(|test| test.program.unsupported().is_none())
}

/// Engines keep tight limits, and agree where both end.
fn engines(bytes: &[u8]) -> Result<(), String> {
    const TIME: Duration = Duration::from_millis(100);
    let Some(test) = sound(bytes) else { return Ok(()) };
    let model = match test.dialect {
        Dialect::Cxx => cxx::model(ReleaseSequence::Cpp20),
        Dialect::Ptx | Dialect::Peer => ptx::model(),
    };
    let mut all = Vec::new();
    for engine in ENGINES {
        let limits = Limits {
            deadline: Some(Deadline::after(TIME)),
            memory: 16 << 20,
            ..Limits::unlimited(2)
        };
        let (mut seen, mut outcomes) = (ExecutionFacts::default(), BTreeSet::new());
        let visit = &mut |outcome: &[_], _: &dyn Fn() -> _| {
            outcomes.insert(outcome.to_vec());
            ControlFlow::Continue(())
        };
        let start = Instant::now();
        let result = engine.outcomes(&model, &test.program, &limits, &mut seen, visit);
        let took = start.elapsed();
        if took > 20 * TIME {
            return Err(format!("{} takes {took:.1?} of {TIME:?}", engine.name()));
        }
        if result.is_ok() {
            all.push((engine.name(), seen.undefined.is_some(), outcomes));
        }
    }
    match &all[..] {
        [(a, false, x), (b, false, y)] if x != y => Err(format!("{a} has {x:?}, {b} {y:?}")),
        [(a, x, _), (b, y, _)] if x != y => Err(format!("undefined: {a} {x}, {b} {y}")),
        _ => Ok(()),
    }
}

fn machine(bytes: &[u8]) -> Result<(), String> {
    const TIME: Duration = Duration::from_millis(100);
    let Some(test) = sound(bytes).filter(|test| test.dialect != Dialect::Cxx) else {
        return Ok(());
    };
    let own = test.sass.as_ref().and_then(litmus::SassTarget::lowering);
    for lowering in [own, Lowering::of(90), Lowering::of(50)].into_iter().flatten() {
        let limits = explore::ExploreLimits {
            memory: 16 << 20,
            runs: true,
            progress: true,
            ..explore::ExploreLimits::states(20_000)
        };
        let limits = limits.within(Some(TIME));
        let start = Instant::now();
        // What a machine has no room for is refused.
        drop(explore(&test.program, lowering, machine::Options::default(), limits));
        let took = start.elapsed();
        if took > 20 * TIME {
            return Err(format!("sm_{} takes {took:.1?} of {TIME:?}", lowering.sm));
        }
    }
    // An explanation ends too.
    let limits =
        Limits { deadline: Some(Deadline::after(TIME)), memory: 16 << 20, ..Limits::unlimited(2) };
    let outcome = vec![0; test.program.observed.len()];
    judge::explain::refute(&test, &ptx::model(), &outcome, &limits, &mut io::sink())
        .map_err(|error| error.to_string())
}
