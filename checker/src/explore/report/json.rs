//! One JSON object per line for each test and architecture. `docs/json.md` describes it.

use answer::object::{ByName, Error, OneNote, by_name};
use litmus::Test;
use schemars::JsonSchema;
use serde::Serialize;

use super::NORMATIVE;
use crate::report::finding::UnreadInput;
use crate::report::json;
use reach::one::MachineRun;

#[derive(Serialize, JsonSchema)]
pub(crate) struct ExploreObject<'a> {
    file: String,
    name: Option<&'a str>,
    arch: Option<String>,
    /// Whether the document says that the axioms apply to this architecture.
    normative: bool,
    verdict: &'a str,
    /// False for what `check` would exit with a code for.
    expected: bool,
    reason: Option<String>,
    outcomes: Vec<ExploreOutcome<'a>>,
    unreached: Vec<OutcomeValues>,
    states: Option<usize>,
    transitions: Option<usize>,
    stuck: Option<usize>,
    /// States in which no thread can continue because one faults.
    faults: Option<usize>,
    notes: Vec<OneNote>,
    /// States from which no end can be reached, if that was requested.
    endless: Option<usize>,
    seconds: f64,
    errors: Vec<Error>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneOutcome")]
struct ExploreOutcome<'a> {
    #[serde(flatten)]
    values: OutcomeValues,
    satisfies: bool,
    walks: Option<u64>,
    allowed: Option<bool>,
    run: Option<&'a [String]>,
    refutation: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Values")]
struct OutcomeValues {
    registers: ByName,
    memory: ByName,
}

impl OutcomeValues {
    fn new(test: &Test, values: &[model::value::Value]) -> OutcomeValues {
        let (registers, memory) = by_name(test, values);
        OutcomeValues { registers, memory }
    }
}

impl<'a> ExploreObject<'a> {
    pub(super) fn ran(file: String, test: &'a Test, ran: &'a MachineRun) -> ExploreObject<'a> {
        let (verdict, reason) = ran.verdict(test);
        let outcomes = ran.outcomes.iter().map(|reached| ExploreOutcome {
            values: OutcomeValues::new(test, &reached.values),
            satisfies: test.proposition.holds(&test.program, &reached.values),
            walks: reached.walks,
            allowed: reached.allowed,
            run: reached.run.as_deref(),
            refutation: reached.refutation.as_deref(),
        });
        let explored = ran.explored.as_ref();
        ExploreObject {
            file,
            name: Some(&test.name),
            arch: Some(format!("sm_{}", ran.sm)),
            normative: ran.sm >= NORMATIVE,
            verdict,
            expected: ran.exit() == engine::exit::Exit::AsExpected,
            reason,
            outcomes: outcomes.collect(),
            unreached: ran
                .unreached
                .iter()
                .map(|values| OutcomeValues::new(test, values))
                .collect(),
            states: explored.map(|explored| explored.states),
            transitions: explored.map(|explored| explored.transitions),
            stuck: explored.map(|explored| explored.stuck),
            faults: explored.map(|explored| explored.faults),
            notes: OneNote::all(&ran.notes(test)),
            endless: explored.and_then(|explored| explored.endless),
            seconds: ran.seconds,
            errors: Vec::new(),
        }
    }

    pub(super) fn unread(unread: &UnreadInput<'_>) -> ExploreObject<'static> {
        let errors = json::errors(unread);
        ExploreObject {
            file: unread.file(),
            name: None,
            arch: None,
            normative: false,
            verdict: "error",
            expected: false,
            reason: Error::reason(&errors),
            outcomes: Vec::new(),
            unreached: Vec::new(),
            states: None,
            transitions: None,
            stuck: None,
            faults: None,
            notes: Vec::new(),
            endless: None,
            seconds: 0.0,
            errors,
        }
    }
}
