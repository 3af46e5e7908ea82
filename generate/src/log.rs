//! Reads logs of herd7, litmus7 and exported programs, and compares their states with the allowed outcomes of a test.

use std::collections::BTreeMap;
use std::num::ParseIntError;

use litmus::{Comparand, Test, proposition};
use model::value::Value;
use text::Diagnostic;
use text::report::{ByteSpan, Diagnostics};

/// The states of one test in a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedTest {
    pub name: String,
    pub states: Vec<LoggedState>,
}

/// A state: how often it was seen, if the log says it, and the values of terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedState {
    pub count: Option<u64>,
    /// The line in the log, from 1.
    pub line: usize,
    pub values: BTreeMap<String, Value>,
}

/// Reads all tests of a log, or reports what is wrong. Lines that belong to no histogram are ignored.
pub fn read(path: &str, text: &str) -> Result<Vec<LoggedTest>, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    let mut tests: Vec<LoggedTest> = Vec::new();
    // States of the latest test that are still expected.
    let mut expected = 0;
    for (number, line) in text.lines().enumerate() {
        let at = ByteSpan::within(text, line);
        if let Some(rest) = line.strip_prefix("Test ") {
            let name = rest.rsplit_once(' ').map_or(rest, |(name, _)| name);
            tests.push(LoggedTest { name: name.to_owned(), states: Vec::new() });
        } else if let Some(count) = states(line) {
            let Some(count) = count.ok().filter(|_| !tests.is_empty()) else {
                report
                    .error(
                        "log-states",
                        at,
                        "expected the number of states, after a line `Test NAME`",
                    )
                    .help("Histogram (4 states)");
                break;
            };
            expected = count;
        } else if expected > 0 {
            expected -= 1;
            let Some((state, logged)) = state(line, number + 1).zip(tests.last_mut()) else {
                report
                    .error("log-state", at, "expected a state")
                    .note("the line before says how many there are")
                    .help("1234   :>1:r0=0; 1:r1=0;");
                break;
            };
            logged.states.push(state);
        }
    }
    if tests.is_empty() && report.count() == 0 {
        report
            .error("log-empty", ByteSpan::new(0, 0), "the log has no test")
            .note("a log of herd7, litmus7 or an exported program has lines `Test NAME Allowed`");
    }
    if report.count() == 0 { Ok(tests) } else { Err(report.finish(path, text)) }
}

/// How many states follow: of `States 4` or `Histogram (4 states)`.
fn states(line: &str) -> Option<Result<usize, ParseIntError>> {
    if let Some(rest) = line.strip_prefix("States ") {
        return Some(rest.trim().parse());
    }
    let rest = line.strip_prefix("Histogram (")?;
    Some(rest.split(' ').next().unwrap_or_default().parse())
}

/// `1234   *>1:r0=0; [x]=1;` of a histogram, or `1:r0=0; [x]=1;`.
fn state(line: &str, number: usize) -> Option<LoggedState> {
    let (count, terms) = match line.split_once('>') {
        Some((count, terms)) => {
            let count = count.trim_end_matches([':', '*', ' ']).trim();
            (Some(count.parse().ok()?), terms)
        }
        None => (None, line),
    };
    let mut values = BTreeMap::new();
    for term in terms.split(';').map(str::trim).filter(|term| !term.is_empty()) {
        let (name, value) = term.split_once('=')?;
        let name = name.trim().trim_start_matches('P');
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        values.insert(name.to_owned(), parse_value(value.trim())?);
    }
    Some(LoggedState { count, line: number, values })
}

/// A number in decimal, with a sign, or in hexadecimal.
fn parse_value(text: &str) -> Option<Value> {
    if let Some(digits) = text.strip_prefix("0x") {
        return Value::from_str_radix(digits, 16).ok();
    }
    match text.strip_prefix('-') {
        Some(digits) => Some(digits.parse::<Value>().ok()?.wrapping_neg()),
        None => text.parse().ok(),
    }
}

/// What a log has of a test, beside the allowed outcomes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogComparison {
    /// States that no allowed outcome has.
    pub forbidden: Vec<LoggedState>,
    /// States that some allowed outcome has.
    pub allowed: usize,
    /// How often they were all seen, where the log says it.
    pub seen: u64,
    /// Allowed outcomes that the log does not have.
    pub missing: Vec<Vec<Value>>,
}

/// Compares the states of a log with all allowed outcomes of the test. A state need not have all observed values; a value
/// that the test does not observe is an error, by its name.
pub fn compare<'o>(
    logged: &LoggedTest,
    test: &Test,
    outcomes: impl Iterator<Item = &'o Vec<Value>> + Clone,
) -> Result<LogComparison, (usize, String)> {
    let names: Vec<(String, u32)> = test
        .program
        .observed
        .iter()
        .enumerate()
        .map(|(index, &observed)| {
            let name = proposition::name(&test.program, observed);
            let name = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(&name);
            (name.to_owned(), Comparand::Observed(index).bits(&test.program))
        })
        .collect();
    let mut found = LogComparison::default();
    let mut states = Vec::new();
    for state in &logged.states {
        let mut wanted = vec![None; names.len()];
        for (name, &value) in &state.values {
            let Some(index) = names.iter().position(|(known, _)| known == name) else {
                return Err((state.line, name.clone()));
            };
            wanted[index] = Some(proposition::truncate(value, names[index].1));
        }
        found.seen += state.count.unwrap_or(0);
        let has = |outcome: &&Vec<Value>| is(outcome, &wanted, &names);
        if outcomes.clone().any(|outcome| has(&outcome)) {
            found.allowed += 1;
        } else {
            found.forbidden.push(state.clone());
        }
        states.push(wanted);
    }
    let missing =
        outcomes.filter(|outcome| !states.iter().any(|wanted| is(outcome, wanted, &names)));
    found.missing = missing.cloned().collect();
    Ok(found)
}

fn is(outcome: &[Value], wanted: &[Option<Value>], names: &[(String, u32)]) -> bool {
    let same = |((value, wanted), (_, bits)): ((&Value, &Option<Value>), &(String, u32))| {
        wanted.is_none_or(|wanted| proposition::truncate(*value, *bits) == wanted)
    };
    outcome.iter().zip(wanted).zip(names).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_both_kinds_are_read() {
        let herd = "Test MP Allowed\nStates 2\n1:r0=0; [x]=1;\n1:r0=1; [x]=1;\nOk\nWitnesses\n";
        let tests = read("log", herd).expect("it is a log");
        assert_eq!(tests[0].name, "MP");
        assert_eq!(tests[0].states[1].values["1:r0"], 1);
        assert_eq!(tests[0].states[1].values["x"], 1);
        let litmus = "Test a b Forbidden\nHistogram (1 states)\n12    *>1:r0=-1; x=0x10;\nNo\n";
        let tests = read("log", litmus).expect("it is a log");
        assert_eq!((tests[0].name.as_str(), tests[0].states[0].count), ("a b", Some(12)));
        assert_eq!(tests[0].states[0].values["1:r0"], Value::MAX);
        assert_eq!(tests[0].states[0].values["x"], 16);
    }

    #[test]
    fn what_is_no_log_is_said() {
        for (wrong, message) in [
            ("", "no test"),
            ("States 2\n", "Test NAME"),
            ("Test a Allowed\nStates x\n", "number of states"),
            ("Test a Allowed\nStates 2\n1:r0=0;\nOk", "expected a state"),
        ] {
            let errors = read("log", wrong).expect_err("it is wrong");
            assert!(format!("{:#}", errors[0]).contains(message), "{wrong} {:#}", errors[0]);
        }
    }
}
