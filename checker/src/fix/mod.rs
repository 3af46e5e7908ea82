//! `causeway fix`: the cheapest edits that forbid the outcome of a test, or what the test does not need.

pub mod args;
pub mod report;

use std::io::{self, Write};
use std::path::Path;

use engine::Engine;
use engine::clock::Deadline;
use engine::exit::Exit;
use judge::Alternative;
use litmus::Test;
use litmus::revise::SourceTest;
use model::rel::Model;
use repair::{RepairLimit, RepairOptions, RepairState, Repairs, Weakening, repair, weaken};
use text::Diagnostic;

use self::args::{Fix, FixFormat};
use crate::complaints::complain_of;
use crate::input::{self, quoted};
use crate::lines::{self, LineKind};
use crate::options::PropertyName;
use crate::output::replace;
use crate::words::{self, MadeTest, TestSource};

/// Reads the test, searches, and prints or writes the result.
pub fn command(
    fix: &Fix,
    model: &Model,
    engines: Vec<&dyn Engine>,
    alternatives: &[Alternative],
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let path = input::shown(&fix.path);
    let words = fix.words.as_deref();
    let TestSource { bytes, made } = match words::source(&fix.path, words, &fix.asked, "fix", err) {
        Ok(source) => source,
        Err(unread) => return words::litmus::complain(&path, &unread, err),
    };
    if let Some(made) = &made {
        words::print_notes(made, err)?;
        if fix.write {
            writeln!(
                err,
                "error: {path}: `--write` changes a litmus test, and this one is made of functions"
            )?;
            let line = &made.command_line;
            writeln!(
                err,
                "  = help: causeway litmus {line} --output t.litmus && causeway fix --write t.litmus"
            )?;
            return Ok(Exit::BadInput);
        }
    }
    let source = match read(&fix.path, &bytes, fix.ask.as_deref()) {
        Ok(source) => source,
        Err(diagnostics) => {
            complain_of(&diagnostics, err)?;
            return Ok(Exit::BadInput);
        }
    };
    let memory = usize::try_from(fix.memory.as_u64()).unwrap_or(usize::MAX);
    engine::limit_solver(memory);
    let options = RepairOptions {
        engines,
        bound: fix.judging.bound,
        edits: fix.edits,
        all: fix.all,
        proposals: if fix.all { usize::MAX } else { 5 },
        until: Some(Deadline::after(fix.timeout)),
        memory,
        alternatives,
        property: fix.property.property(),
        moves: fix.moves,
        ..RepairOptions::new(model)
    };
    let result = if fix.weaken {
        FixResult::Weaker(Box::new(weaken(&source, &options)))
    } else {
        FixResult::Stronger(repair(&source, &options))
    };
    let printed = fix.write && input::is_standard(&fix.path);
    let origins = EditOrigins { path: &path, test: &source.test, made: made.as_deref() };
    match fix.format {
        _ if printed => write!(out, "{}", result.text().unwrap_or(source.text()))?,
        FixFormat::Text => report::text(&source, &origins, &result, fix.edits, out)?,
        FixFormat::Json => {
            lines::write(LineKind::Fix, report::object(&source, &origins, &result), out)?;
        }
    }
    if fix.write
        && !printed
        && let Some(text) = result.text()
    {
        if let Err(error) = replace(&fix.path, text.as_bytes()) {
            writeln!(err, "error: {path}: {error}")?;
            return Ok(Exit::BadInput);
        }
        if fix.format == FixFormat::Text {
            writeln!(out, "\n{path} is written")?;
        }
    }
    Ok(result.exit())
}

fn read(path: &Path, bytes: &[u8], ask: Option<&str>) -> Result<SourceTest, Vec<Diagnostic>> {
    let path = path.to_string_lossy();
    match ask {
        Some(question) => SourceTest::read_question(&path, bytes, question),
        None => SourceTest::read(&path, bytes),
    }
}

/// A test of which `explain` says how to change it.
pub(crate) struct AdvisedTest<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: &'a [u8],
    /// What it was made of, if it is no file.
    pub(crate) made: Option<&'a MadeTest>,
}

/// Where the instructions of a test come from.
struct EditOrigins<'a> {
    path: &'a str,
    test: &'a Test,
    /// What it was made of, if it is no file.
    made: Option<&'a MadeTest>,
}

impl EditOrigins<'_> {
    /// What the text of the test is called.
    fn name(&self) -> String {
        if self.made.is_some() { format!("test of {}", self.path) } else { self.path.to_owned() }
    }

    /// What stands for the test on a command line.
    fn command_line(&self) -> String {
        self.made.map_or_else(|| quoted(self.path), |made| made.command_line.clone())
    }

    /// The line of the module of a line of the test, in the column of a thread.
    fn module_line(&self, thread: &str, line: usize) -> Option<usize> {
        let column = self.test.program.threads.iter().position(|of| of.name == thread)?;
        self.made?.composed.module_line(column, line)
    }

    /// What has these lines.
    fn module(&self) -> &str {
        self.made.map_or(self.path, |made| &made.module)
    }
}

/// The work for each changed test in `explain`, which is to answer soon.
const WORK: u64 = 1 << 14;

/// The number of changed tests that `explain` judges, at most.
const QUESTIONS: usize = 1_000;

/// Prints how to forbid the outcome of an explained test if it is allowed, or what the test does not need; only
/// the enumerating engine is used.
pub(crate) fn advise(
    test: &AdvisedTest<'_>,
    ask: Option<&str>,
    property: PropertyName,
    options: RepairOptions<'_>,
    weaken_too: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Ok(source) = read(test.path, test.bytes, ask) else { return Ok(()) };
    let path = input::shown(test.path);
    let origins = EditOrigins { path: &path, test: &source.test, made: test.made };
    let file = origins.command_line();
    let subject = match ask {
        Some(ask) => format!("{file} --ask {}", quoted(ask)),
        None => property.option().map_or(file.clone(), |option| format!("{option} {file}")),
    };
    let options = RepairOptions { proposals: 1, questions: QUESTIONS, work: Some(WORK), ..options };
    report::brief(&subject, &origins, &repair(&source, &options), out)?;
    if weaken_too {
        report::brief_weaker(&subject, &origins, &weaken(&source, &options), out)?;
    }
    Ok(())
}

/// What was searched for, and what was found.
pub(crate) enum FixResult {
    Stronger(Repairs),
    Weaker(Box<Weakening>),
}

impl FixResult {
    /// The changed file, if there is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            FixResult::Stronger(repairs) => repairs.proposals.first().map(|one| one.text.as_str()),
            FixResult::Weaker(weakening) => {
                (!weakening.together.is_empty()).then_some(weakening.text.as_str())
            }
        }
    }

    pub(crate) fn limit(&self) -> Option<&RepairLimit> {
        match self {
            FixResult::Stronger(repairs) => repairs.limit.as_ref(),
            FixResult::Weaker(weakening) => weakening.limit.as_ref(),
        }
    }

    fn disagreement(&self) -> Option<&String> {
        match self {
            FixResult::Stronger(repairs) => repairs.disagreement.as_ref(),
            FixResult::Weaker(weakening) => weakening.disagreement.as_ref(),
        }
    }

    fn exit(&self) -> Exit {
        let asked = match self {
            FixResult::Stronger(repairs) => match repairs.state {
                RepairState::Excluded(_) => return Exit::Undecided,
                RepairState::Forbidden | RepairState::Keeps(_) => return Exit::AsExpected,
                RepairState::Allowed
                | RepairState::Violates(_)
                | RepairState::Undefined(_)
                | RepairState::Stuck(_) => true,
            },
            FixResult::Weaker(weakening) if weakening.excluded.is_some() => return Exit::Undecided,
            FixResult::Weaker(_) => false,
        };
        if self.disagreement().is_some() {
            Exit::Disagreement
        } else if self.text().is_some() {
            Exit::AsExpected
        } else if self.limit().is_some() {
            Exit::Undecided
        } else if asked {
            Exit::Differs
        } else {
            Exit::AsExpected
        }
    }
}
