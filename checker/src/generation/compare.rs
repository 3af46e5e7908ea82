//! `causeway compare`: the states of a log beside the allowed outcomes of tests.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use engine::Engine;
use engine::exit::Exit;
use generate::log::{self, Incomparable, LoggedState, LoggedTest};
use judge::{Task, Verdict, judge};
use lift::program::number;
use litmus::Test;
use model::rel::Model;
use text::escape::escaped;

use super::args::Compare;
use crate::complaints;
use crate::input::{self, shown};
use crate::kind::FileKind;
use crate::options::EngineName;
use crate::report::colour;

/// Compares each test of the log that some file has.
pub fn command(
    command: &Compare,
    model: &Model,
    engines: &[&'static dyn Engine],
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let Some(logged) = read(&command.log, err)? else { return Ok(Exit::BadInput) };
    let Some((tests, unread)) = tests(command, err)? else { return Ok(Exit::BadInput) };
    let task = Task {
        engines: engines.to_vec(),
        counts: false,
        portfolio: command.engine == EngineName::Auto,
        bound: command.judging.bound,
        timeout: command.limits.timeout,
        memory: command.limits.bytes(),
        ..Task::new(model)
    };
    // The others are compared all the same.
    let mut exit = if unread { Exit::BadInput } else { Exit::AsExpected };
    let (mut compared, mut equal) = (0, 0);
    for one in &logged {
        let Some(known) = tests.get(&one.name) else { continue };
        let name = escaped(&one.name);
        let [right, wrong, open] =
            [Exit::AsExpected, Exit::Differs, Exit::Undecided].map(colour::of);
        compared += 1;
        if let Some(failure) = &one.failure {
            let (kind, reason) = (failure.kind.name(), escaped(&failure.reason));
            writeln!(out, "{name}: {open}{kind}{open:#}: {reason}")?;
            exit = exit.max(Exit::Undecided);
            continue;
        }
        let judgement = judge(known, &task);
        if let Verdict::Holds | Verdict::Fails | Verdict::Stuck(_) = judgement.verdict {
        } else {
            let why = judgement.verdict.reason().unwrap_or_default();
            writeln!(out, "{name}: {open}{}{open:#}: {why}", judgement.verdict.name())?;
            exit = exit.max(Exit::Undecided);
            continue;
        }
        if judgement.found.unexplored(&task).is_some() {
            writeln!(out, "{name}: {open}undecided{open:#}: not all outcomes are known")?;
            exit = exit.max(Exit::Undecided);
            continue;
        }
        let found = match log::compare(one, known, judgement.found.outcomes.keys()) {
            Ok(found) => found,
            Err((line, why)) => {
                writeln!(err, "error: {}", refused_state(&command.log, line, &why))?;
                return Ok(Exit::BadInput);
            }
        };
        let (allowed, missing) = (found.allowed, found.missing.len());
        let total =
            if found.seen > 0 { format!(", seen {}", times(found.seen)) } else { String::new() };
        if command.complete && missing > 0 {
            writeln!(out, "{name}: {wrong}{} missing{wrong:#}", states(missing))?;
            exit = exit.max(Exit::Differs);
        } else if found.forbidden.is_empty() && command.complete {
            // Thousands of tests that are as expected are counted.
            equal += 1;
        } else if found.forbidden.is_empty() {
            writeln!(
                out,
                "{name}: {right}ok{right:#}: {allowed} of {} allowed outcomes{total}",
                allowed + missing
            )?;
        }
        if !found.forbidden.is_empty() {
            let counts = found.forbidden.iter().filter_map(|state| state.count);
            let times_seen = match counts.fold(0, u64::saturating_add) {
                0 => String::new(),
                count => format!(", seen {count} of {}", times(found.seen)),
            };
            let states = states(found.forbidden.len());
            writeln!(out, "{name}: {wrong}{states} forbidden{wrong:#}{times_seen}")?;
            for state in &found.forbidden {
                writeln!(out, "  line {}: {}", state.line, shown_state(state))?;
            }
            exit = exit.max(Exit::Differs);
        }
        if command.verbose || command.complete {
            for outcome in &found.missing {
                writeln!(out, "  not seen: {}", known.display_outcome(outcome))?;
            }
        }
    }
    if compared == 0 {
        return no_test(&logged, err);
    }
    let left = logged.len() - compared;
    let left = if left > 0 { format!(", {left} not in the files") } else { String::new() };
    let equal = if command.complete { format!(", {equal} equal") } else { String::new() };
    writeln!(out, "{compared} compared{equal}{left}")?;
    Ok(exit)
}

/// The tests of a log; `None` after its error was printed.
pub(crate) fn read(path: &Path, err: &mut dyn Write) -> io::Result<Option<Vec<LoggedTest>>> {
    let text = match input::read(path) {
        // A log may be large: it is copied only if it is not UTF-8.
        Ok(bytes) => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        Err(error) => {
            writeln!(err, "error: {}: {error}", shown(path))?;
            return Ok(None);
        }
    };
    match log::read(&path.to_string_lossy(), &text) {
        Ok(logged) => Ok(Some(logged)),
        Err(diagnostics) => {
            complaints::complain_of(&diagnostics, err)?;
            Ok(None)
        }
    }
}

/// Says that the files have no test of a log.
pub(crate) fn no_test(logged: &[LoggedTest], err: &mut dyn Write) -> io::Result<Exit> {
    writeln!(err, "error: no test of the log is in the given files")?;
    let names: Vec<_> = logged.iter().take(3).map(|one| escaped(&one.name)).collect();
    writeln!(err, "note: the log has {}", names.join(", "))?;
    Ok(Exit::BadInput)
}

/// Why a state of a log cannot be compared, and what to do.
pub(crate) fn refused_state(log: &Path, line: usize, why: &Incomparable) -> String {
    let (what, help) = match why {
        Incomparable::NotObserved(name) => (
            format!("the test does not observe `{name}`"),
            format!("add it to the test: locations [{name};]"),
        ),
        Incomparable::NotLogged(name) => (
            format!("the state has no value of `{name}`, which the condition of the test needs"),
            format!("compare the log of a test that observes `{name}`"),
        ),
        Incomparable::TooWide(name, bits) => (
            format!("the state has a value of `{name}` that does not fit in its {bits} bits"),
            "compare the log of a test with this width".to_owned(),
        ),
    };
    format!("{}:{line}: {what}\nhelp: {help}", shown(log))
}

fn states(count: usize) -> String {
    if count == 1 { "1 state is".to_owned() } else { format!("{count} states are") }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

pub(crate) fn shown_state(state: &LoggedState) -> String {
    let values: Vec<String> =
        state.values.iter().map(|(name, &value)| format!("{name}={};", number(value))).collect();
    let count = state.count.map_or(String::new(), |count| format!(", {}", times(count)));
    format!("{}{count}", values.join(" "))
}

/// The tests of the files, by their names, and whether some file could not be read, after its error was printed.
fn tests(
    command: &Compare,
    err: &mut dyn Write,
) -> io::Result<Option<(BTreeMap<String, Test>, bool)>> {
    let files = match input::find(&command.paths, "litmus") {
        Ok(files) => files,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(None);
        }
    };
    let (mut tests, mut unread) = (BTreeMap::new(), false);
    for file in files {
        let bytes = match input::read_kind(&file, FileKind::Litmus) {
            Ok(bytes) => bytes,
            Err(error) => {
                writeln!(err, "error: {}: {error}", shown(&file))?;
                unread = true;
                continue;
            }
        };
        match litmus::parse(&file.to_string_lossy(), &bytes) {
            Ok(test) => {
                tests.insert(test.name.clone(), test);
            }
            Err(diagnostics) => {
                complaints::complain_of(&diagnostics, err)?;
                unread = true;
            }
        }
    }
    Ok(Some((tests, unread)))
}
