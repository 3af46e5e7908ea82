//! The object of `check --format json` for each test. `docs/json.md` describes it.

use judge::headline::Headline;
use judge::words::race_text;
use judge::{Judgement, Observation, Resting, Verdict};
use litmus::Test;
use model::value::Value;
use schemars::JsonSchema;
use serde::Serialize;

use crate::object::{ByName, Error, OneNote, by_name};

/// One test: its verdict and outcomes, or its errors.
#[derive(Serialize, JsonSchema)]
pub struct CheckObject<'a> {
    file: String,
    name: Option<&'a str>,
    model: &'a str,
    /// What the verdict is about; absent for the condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'static str>,
    /// The answer in words, such as `Forbidden: P1 cannot see flag = 1 and x = 0`.
    headline: Option<String>,
    quantifier: Option<&'a str>,
    condition: Option<&'a str>,
    verdict: &'a str,
    /// Whether the test expects what was found.
    expected: bool,
    observation: Option<&'a str>,
    positive: u64,
    negative: u64,
    outcomes: Vec<CheckOutcome>,
    /// Only where executions are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    executions: Option<u64>,
    engine: Vec<&'a str>,
    seconds: f64,
    races: Vec<String>,
    /// The readings that the verdict rests on, and those that it may rest on.
    readings: Vec<&'static str>,
    readings_undecided: Vec<&'static str>,
    reason: Option<String>,
    /// The condition over the outcomes alone: `holds` or `fails`.
    condition_verdict: Option<&'static str>,
    notes: Vec<OneNote>,
    bound_reached: bool,
    errors: Vec<Error>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneOutcome")]
struct CheckOutcome {
    registers: ByName,
    memory: ByName,
    #[serde(skip_serializing_if = "Option::is_none")]
    executions: Option<u64>,
    satisfies: bool,
}

impl<'a> CheckObject<'a> {
    /// A file that was not judged, for these reasons.
    pub fn unread(file: String, errors: Vec<Error>, model: &'a str) -> CheckObject<'a> {
        CheckObject {
            file,
            name: None,
            model,
            property: None,
            headline: None,
            quantifier: None,
            condition: None,
            verdict: "error",
            expected: false,
            observation: None,
            positive: 0,
            negative: 0,
            outcomes: Vec::new(),
            executions: None,
            engine: Vec::new(),
            seconds: 0.0,
            races: Vec::new(),
            readings: Vec::new(),
            readings_undecided: Vec::new(),
            reason: Error::reason(&errors),
            condition_verdict: None,
            notes: Vec::new(),
            bound_reached: false,
            errors,
        }
    }

    pub fn judged(file: String, test: &'a Test, judgement: &'a Judgement) -> CheckObject<'a> {
        let found = &judgement.found;
        let counted = found.seen.executions.is_some();
        let outcomes = found
            .outcomes
            .iter()
            .map(|(values, &executions)| one_outcome(test, values, counted.then_some(executions)))
            .collect();
        let reason = match (&judgement.disagreement, &judgement.verdict) {
            (Some(disagreement), _) => Some(disagreement.clone()),
            (None, Verdict::Holds | Verdict::Fails) => judgement.complaint.clone(),
            (None, verdict) => verdict.reason().map(str::to_owned),
        };
        CheckObject {
            file,
            name: Some(&test.name),
            model: &judgement.model,
            property: judgement.property.stated(),
            headline: Some(Headline::new(test, judgement).to_string()),
            quantifier: Some(test.quantifier.name()),
            condition: Some(&test.condition_text),
            verdict: judgement.verdict.name(),
            expected: judgement.complaint.is_none() && judgement.disagreement.is_none(),
            observation: judgement.observation.map(Observation::name),
            positive: judgement.positive,
            negative: judgement.negative,
            outcomes,
            executions: found.seen.executions,
            engine: judgement.engines.clone(),
            seconds: judgement.seconds,
            races: found.seen.races.iter().map(|&race| race_text(test, race)).collect(),
            readings: judgement.resting.as_ref().map_or(Vec::new(), Resting::names),
            readings_undecided: judgement.resting.as_ref().map_or(Vec::new(), Resting::open_names),
            reason,
            condition_verdict: judgement.condition.map(|c| if c { "holds" } else { "fails" }),
            notes: OneNote::all(&judgement.notes),
            bound_reached: found.seen.bound_reached,
            errors: Vec::new(),
        }
    }
}

fn one_outcome(test: &Test, values: &[Value], executions: Option<u64>) -> CheckOutcome {
    let (registers, memory) = by_name(test, values);
    let satisfies = test.proposition.holds(&test.program, values);
    CheckOutcome { registers, memory, executions, satisfies }
}
