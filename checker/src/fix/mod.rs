//! `causeway fix`: the cheapest edits that forbid the outcome of a test, or what the test does not need.

pub mod args;
pub mod report;

use std::io::{self, Write};
use std::path::Path;

use engine::Engine;
use engine::clock::Deadline;
use engine::exit::Exit;
use judge::Alternative;
use litmus::revise::SourceTest;
use model::rel::Model;
use repair::{RepairLimit, RepairOptions, RepairState, Repairs, Weakening, repair, weaken};
use text::Diagnostic;

use self::args::{Fix, FixFormat};
use crate::complaints::complain_of;
use crate::input::{self, quoted};
use crate::kind::FileKind;
use crate::lines::{self, LineKind};
use crate::options::PropertyName;
use crate::output::replace;

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
    let bytes = match input::read_kind(&fix.path, FileKind::Litmus) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(err, "error: {path}: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
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
    match fix.format {
        _ if printed => write!(out, "{}", result.text().unwrap_or(source.text()))?,
        FixFormat::Text => report::text(&source, &path, &result, fix.edits, out)?,
        FixFormat::Json => {
            lines::write(LineKind::Fix, report::object(&source, &path, &result), out)?;
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

/// The work for each changed test in `explain`, which is to answer soon.
const WORK: u64 = 1 << 14;

/// The number of changed tests that `explain` judges, at most.
const QUESTIONS: usize = 1_000;

/// Prints how to forbid the outcome of an explained test if it is allowed, or what the test does not need; only
/// the enumerating engine is used.
pub(crate) fn advise(
    path: &Path,
    bytes: &[u8],
    ask: Option<&str>,
    property: PropertyName,
    options: RepairOptions<'_>,
    weaken_too: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Ok(source) = read(path, bytes, ask) else { return Ok(()) };
    let file = quoted(&input::shown(path));
    let subject = match ask {
        Some(ask) => format!("{file} --ask {}", quoted(ask)),
        None => property.option().map_or(file.clone(), |option| format!("{option} {file}")),
    };
    let options = RepairOptions { proposals: 1, questions: QUESTIONS, work: Some(WORK), ..options };
    report::brief(&subject, &repair(&source, &options), out)?;
    if weaken_too {
        report::brief_weaker(&subject, &weaken(&source, &options), out)?;
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
