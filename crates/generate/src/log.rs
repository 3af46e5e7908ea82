//! Reads logs of herd7, litmus7 and exported programs, and compares their states with the allowed outcomes of a test.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::num::ParseIntError;

use litmus::{Comparand, Test, proposition};
use model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use text::Diagnostic;
use text::report::{ByteSpan, Diagnostics};

/// The states of one test in a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedTest {
    pub name: String,
    pub states: Vec<LoggedState>,
    /// Why there are no states, if the test did not come to its end.
    pub failure: Option<LoggedFailure>,
}

/// A test that did not come to its end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoggedFailure {
    pub kind: FailureKind,
    /// As the log says it.
    pub reason: String,
}

/// How a test failed to come to its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FailureKind {
    Faulted,
    Hung,
    NotCompiled,
    NotRun,
}

impl FailureKind {
    const ALL: [FailureKind; 4] =
        [FailureKind::Faulted, FailureKind::Hung, FailureKind::NotCompiled, FailureKind::NotRun];

    /// In the middle of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Faulted => "faulted",
            FailureKind::Hung => "hung",
            FailureKind::NotCompiled => "not compiled",
            FailureKind::NotRun => "not run",
        }
    }

    /// What begins its line in a log.
    fn word(self) -> &'static str {
        match self {
            FailureKind::Faulted => "Faulted ",
            FailureKind::Hung => "Hung ",
            FailureKind::NotCompiled => "Not compiled ",
            FailureKind::NotRun => "Not run ",
        }
    }
}

/// A state: how often it was seen, if the log says it, and the values of terms. One that a log has again is added to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedState {
    pub count: Option<u64>,
    /// The first line in the log that has it, from 1.
    pub line: usize,
    pub values: BTreeMap<String, Value>,
}

/// The tests of a log as they are read: those of one name are one test, and equal states are one state.
#[derive(Default)]
struct ReadTests {
    tests: Vec<LoggedTest>,
    /// The place of each test.
    named: FxHashMap<String, usize>,
    /// The place of each state of each test.
    known: Vec<FxHashMap<BTreeMap<String, Value>, usize>>,
    /// The test that states belong to now.
    latest: usize,
    /// Those that did not come to their end.
    failed: FxHashSet<(String, LoggedFailure)>,
}

impl ReadTests {
    /// A test that failed in the same way in several runs is one; it may have states of other runs, too.
    fn add_failed(&mut self, name: &str, failure: LoggedFailure) {
        if self.failed.insert((name.to_owned(), failure.clone())) {
            let failure = Some(failure);
            self.tests.push(LoggedTest { name: name.to_owned(), states: Vec::new(), failure });
            self.known.push(FxHashMap::default());
        }
    }

    fn begin(&mut self, name: &str) {
        let next = self.tests.len();
        self.latest = *self.named.entry(name.to_owned()).or_insert(next);
        if self.latest == next {
            self.tests.push(LoggedTest {
                name: name.to_owned(),
                states: Vec::new(),
                failure: None,
            });
            self.known.push(FxHashMap::default());
        }
    }

    fn add(&mut self, state: LoggedState) {
        let states = &mut self.tests[self.latest].states;
        match self.known[self.latest].entry(state.values.clone()) {
            Entry::Occupied(place) => {
                let known = &mut states[*place.get()].count;
                let sum = known.zip(state.count).map(|(one, more)| one.saturating_add(more));
                *known = sum.or(known.or(state.count));
            }
            Entry::Vacant(place) => {
                place.insert(states.len());
                states.push(state);
            }
        }
    }
}

/// Reads all tests of a log, or reports what is wrong. Lines that belong to no histogram are ignored.
pub fn read(path: &str, text: &str) -> Result<Vec<LoggedTest>, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    let mut read = ReadTests::default();
    // States of the latest test that are still expected.
    let mut expected = 0;
    // The line `Test NAME` whose number of states is still expected.
    let mut named: Option<ByteSpan> = None;
    for (number, line) in text.lines().enumerate() {
        let at = ByteSpan::within(text, line);
        if expected > 0 {
            expected -= 1;
            let Some(state) = state(line, number + 1) else {
                report
                    .error("log-state", at, "expected a state")
                    .note("the line before the states says how many there are")
                    .help("1234   :>1:r0=0; 1:r1=0;");
                break;
            };
            read.add(state);
        } else if let Some(rest) = line.strip_prefix("Test ") {
            let name = rest.rsplit_once(' ').map_or(rest, |(name, _)| name);
            read.begin(name);
            if let Some(before) = named.replace(at) {
                without_states(before, &mut report);
            }
        } else if let Some((name, failure)) = failed(line) {
            read.add_failed(name, failure);
        } else if let Some(count) = states(line) {
            let Some(count) = count.ok().filter(|_| !read.named.is_empty()) else {
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
            named = None;
        }
    }
    if let Some(last) = text.lines().last().filter(|_| expected > 0 && report.count() == 0) {
        let more = if expected == 1 { "1 more state" } else { &format!("{expected} more states") };
        report
            .error(
                "log-ends",
                ByteSpan::within(text, last),
                format!("the log ends after this line, but {more} should follow"),
            )
            .note("the line before the states says how many there are");
    } else if let Some(named) = named.filter(|_| report.count() == 0) {
        without_states(named, &mut report);
    }
    let tests = read.tests;
    if tests.is_empty() && report.count() == 0 {
        report
            .error("log-empty", ByteSpan::new(0, 0), "the log has no test")
            .note("a log of herd7, litmus7 or an exported program has lines `Test NAME Allowed`");
    }
    if report.count() == 0 { Ok(tests) } else { Err(report.finish(path, text)) }
}

/// `Faulted NAME: an illegal instruction was encountered`.
fn failed(line: &str) -> Option<(&str, LoggedFailure)> {
    FailureKind::ALL.into_iter().find_map(|kind| {
        let (name, reason) = line.strip_prefix(kind.word())?.split_once(": ")?;
        Some((name, LoggedFailure { kind, reason: reason.to_owned() }))
    })
}

/// A test that was cut off before its states.
fn without_states(at: ByteSpan, report: &mut Diagnostics) {
    report
        .error("log-states", at, "the log does not say how many states this test has")
        .help("Histogram (4 states)");
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
        let name = bare(name.trim().trim_start_matches('P'));
        if values.insert(name.to_owned(), parse_value(value.trim())?).is_some() {
            return None;
        }
    }
    Some(LoggedState { count, line: number, values })
}

/// `x` of `[x]`, and `a[1]` as it is.
fn bare(name: &str) -> &str {
    name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
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

/// Why a state of a log cannot be compared: a name, which no value can stand for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Incomparable {
    /// The test does not observe it.
    NotObserved(String),
    /// The condition has it, and the state does not: whether the state satisfies the condition is not known.
    NotLogged(String),
    /// Its value does not fit in this many bits.
    TooWide(String, u32),
}

/// Compares the states of a log with all allowed outcomes of the test. A state has all values of the condition, and need not
/// have others that the test observes. A state that cannot be compared is an error, with its line.
pub fn compare<'o>(
    logged: &LoggedTest,
    test: &Test,
    outcomes: impl Iterator<Item = &'o Vec<Value>> + Clone,
) -> Result<LogComparison, (usize, Incomparable)> {
    let names: Vec<(String, u32)> = test
        .program
        .observed
        .iter()
        .enumerate()
        .map(|(index, &observed)| {
            let name = proposition::name(&test.program, observed);
            (bare(&name).to_owned(), Comparand::Observed(index).bits(&test.program))
        })
        .collect();
    // Logs may have elements of arrays by their offsets, too.
    let by_bytes = |&observed| proposition::name_by_bytes(&test.program, observed);
    let by_bytes: Vec<String> = test.program.observed.iter().map(by_bytes).collect();
    let condition = test.proposition.observed();
    let mut found = LogComparison::default();
    let mut states = Vec::new();
    for state in &logged.states {
        let mut wanted = vec![None; names.len()];
        for (name, &value) in &state.values {
            let index = names.iter().position(|(known, _)| known == name);
            let index = index.or_else(|| by_bytes.iter().position(|known| bare(known) == name));
            let Some(index) = index else {
                return Err((state.line, Incomparable::NotObserved(name.clone())));
            };
            let bits = names[index].1;
            let narrow = proposition::truncate(value, bits);
            // Negative numbers are sign-extended.
            if value != narrow
                && proposition::truncate(value.wrapping_neg(), bits) != value.wrapping_neg()
            {
                return Err((state.line, Incomparable::TooWide(name.clone(), bits)));
            }
            wanted[index] = Some(narrow);
        }
        if let Some(&lacking) = condition.iter().find(|&&index| wanted[index].is_none()) {
            return Err((state.line, Incomparable::NotLogged(names[lacking].0.clone())));
        }
        found.seen = found.seen.saturating_add(state.count.unwrap_or(0));
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

    /// What is kept of a log of many runs is as large as what can be seen, not as the log.
    #[test]
    fn what_a_log_has_again_is_counted() {
        let run = "Test MP Allowed\nHistogram (2 states)\n3 :>0:r0=0;\n4 *>0:r0=1;\n";
        let other = "Test SB Allowed\nStates 1\n0:r0=0;\n";
        let tests = read("log", &format!("{run}{other}{run}")).expect("it is a log");
        let [mp, sb] = &tests[..] else { panic!("{tests:?}") };
        let counts = |of: &LoggedTest| -> Vec<(Option<u64>, usize)> {
            of.states.iter().map(|state| (state.count, state.line)).collect()
        };
        assert_eq!(counts(mp), [(Some(6), 3), (Some(8), 4)]);
        assert_eq!(counts(sb), [(None, 7)]);
        let hung = "Hung MP: no end within 60 s\n";
        let tests = read("log", &format!("{run}{hung}{hung}{run}")).expect("it is a log");
        let [mp, failed] = &tests[..] else { panic!("{tests:?}") };
        assert_eq!((counts(mp).len(), failed.failure.is_some()), (2, true));
        let most = "Test a Allowed\nHistogram (1 states)\n18446744073709551615 :>0:r0=0;\n";
        let tests = read("log", &most.repeat(2)).expect("it is a log");
        assert_eq!(counts(&tests[0]), [(Some(u64::MAX), 3)]);
    }

    #[test]
    fn tests_that_do_not_end_are_read() {
        let log = "Hung a b: no end within 60 s\n\nTest c Allowed\nHistogram (1 states)\n7 :>x=1;\n\n\
                   Not compiled d: ptxas: error\nNot run e: no time\nFaulted f: a: b\n";
        let tests = read("log", log).expect("it is a log");
        let failures: Vec<(&str, Option<&str>, &str)> = tests
            .iter()
            .map(|test| {
                let failure = test.failure.as_ref();
                let reason = failure.map_or("", |of| &of.reason);
                (test.name.as_str(), failure.map(|of| of.kind.name()), reason)
            })
            .collect();
        let expected = [
            ("a b", Some("hung"), "no end within 60 s"),
            ("c", None, ""),
            ("d", Some("not compiled"), "ptxas: error"),
            ("e", Some("not run"), "no time"),
            ("f", Some("faulted"), "a: b"),
        ];
        assert_eq!(failures, expected);
    }

    #[test]
    fn what_is_no_log_is_said() {
        for (wrong, message) in [
            ("", "no test"),
            ("States 2\n", "Test NAME"),
            ("Test a Allowed\nStates x\n", "number of states"),
            ("Test a Allowed\nStates 2\n1:r0=0;\nOk", "expected a state"),
            ("Test a Allowed\nStates 2\n1:r0=0;\nTest b Allowed", "expected a state"),
            ("Test a Allowed\nStates 3\n1:r0=0;\n", "2 more states should follow"),
            ("Test a Allowed\nHistogram (1 states)\n", "1 more state should follow"),
            ("Test a Allowed\nStates 1\n1:r0=0; 1:r0=1;\n", "expected a state"),
            ("Test a Allowed\n", "does not say how many states"),
            ("Test a Allowed\nTest b Allowed\nStates 0\n", "does not say how many states"),
        ] {
            let errors = read("log", wrong).expect_err("it is wrong");
            assert!(format!("{:#}", errors[0]).contains(message), "{wrong} {:#}", errors[0]);
        }
    }
    #[test]
    fn a_state_has_what_the_condition_needs() {
        let written = b"PTX t\n{ x=0; y=0; }\n P0@cta 0,gpu 0 ;\n ld.weak.u32 r0, [x] ;\nlocations [y;]\nexists (P0:r0=-1)\n";
        let test = litmus::parse("t.litmus", written).expect("it is a test");
        let outcomes = [vec![0, 0]];
        let of = |states: &str| {
            let log = read("log", &format!("Test t Allowed\nStates 1\n{states}\n"));
            compare(&log.expect("it is a log")[0], &test, outcomes.iter())
        };
        assert_eq!(of("0:r0=0;").map(|found| found.allowed), Ok(1));
        assert_eq!(of("0:r0=0; y=1;").map(|found| found.forbidden.len()), Ok(1));
        assert_eq!(of("y=0;"), Err((3, Incomparable::NotLogged("0:r0".to_owned()))));
        let wide = of("0:r0=4294967297;");
        assert_eq!(wide, Err((3, Incomparable::TooWide("0:r0".to_owned(), 32))));
        assert_eq!(of("0:r0=0; z=0;"), Err((3, Incomparable::NotObserved("z".to_owned()))));
    }
}
