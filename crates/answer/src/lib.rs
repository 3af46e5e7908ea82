//! Answers one litmus test, given as text: its verdict and outcomes, pictures and explanation, as one object and as
//! a part of a page. And the page that asks: that of `causeway serve`, and of the playground.
//!
//! The objects are those of `check --format json` and `explain --format json`, which are defined here.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod check;
pub mod explain;
pub mod object;
pub mod page;
pub mod tested;

use std::time::Duration;

use engine::clock::Deadline;
use engine::enumerate::Enumerate;
use engine::exit::Exit;
use judge::explain::{ExplainOptions, SHOWN_RELATIONS, explanation};
use judge::{Alternative, BOUND, Task, alternatives, judge};
use litmus::{Dialect, Test};
use model::cxx::{self, ReleaseSequence};
use model::reading::Readings;
use model::rel::Model;
use picture::{page as pages, xml};
use serde::Serialize;
use text::Diagnostic;
use web_time::Instant;

use crate::check::CheckObject;
use crate::explain::{ExplainObject, ExplainedTest};
use crate::object::Error;
use crate::tested::TestedPart;

/// The name of a test that was typed, in errors and objects.
pub const FILE: &str = "test.litmus";
/// The largest test that is answered, in bytes.
pub const LARGEST: usize = 128 << 10;
/// The values of outcomes that an answer lists.
const VALUES: usize = 50_000;

/// What one answer may take.
#[derive(Clone, Copy, Debug)]
pub struct AnswerLimits {
    /// How many times a loop body is executed at most.
    pub bound: u32,
    /// For all searches of the answer together.
    pub timeout: Duration,
    /// In bytes, for each search.
    pub memory: usize,
}

impl AnswerLimits {
    /// The time of an answer, where nobody says it.
    pub const TIMEOUT: Duration = Duration::from_secs(5);
    /// What one search may hold, where nobody says it, in bytes.
    pub const MEMORY: usize = 256 << 20;
}

impl Default for AnswerLimits {
    fn default() -> AnswerLimits {
        let (timeout, memory) = (AnswerLimits::TIMEOUT, AnswerLimits::MEMORY);
        AnswerLimits { bound: BOUND, timeout, memory }
    }
}

/// The models and the limits of answers.
pub struct AnswerSettings {
    model: Model,
    readings: Option<Readings>,
    /// The model for tests of C++; `None` leaves them to `model`.
    cxx: Option<Model>,
    alternatives: Vec<Alternative>,
    limits: AnswerLimits,
}

/// The answer to one test.
#[derive(Serialize)]
struct AnswerObject<'a> {
    /// The answer in one line: `Forbidden: P1 cannot see flag = 1 and x = 0`.
    summary: &'a str,
    /// Whether the test expects what was found.
    expected: bool,
    /// What is wrong with a test that could not be read.
    errors: Vec<Error>,
    /// As in `check --format json`; `null` for a test that could not be read, and for more than [`VALUES`].
    check: Option<CheckObject<'a>>,
    /// As in `explain --format json`; `null` for a test that could not be read.
    explain: Option<ExplainObject<'a>>,
    /// Markup: what a page shows. Text of the test is escaped.
    html: &'a str,
}

impl AnswerSettings {
    /// `readings` are those of `model`, if it is the built-in model of PTX; `None` for any other, which then also judges tests of C++.
    pub fn new(model: Model, readings: Option<Readings>, limits: AnswerLimits) -> AnswerSettings {
        AnswerSettings {
            model,
            readings,
            cxx: readings.map(|_| cxx::model(ReleaseSequence::Cpp20)),
            alternatives: readings.map_or(Vec::new(), alternatives),
            limits,
        }
    }

    pub fn limits(&self) -> &AnswerLimits {
        &self.limits
    }

    /// The answer as JSON, in one line.
    pub fn answer(&self, source: &[u8]) -> String {
        match litmus::parse(FILE, source) {
            Ok(test) => self.judged(&test, &String::from_utf8_lossy(source)),
            Err(diagnostics) => rejected(&diagnostics),
        }
    }

    fn judged(&self, test: &Test, source: &str) -> String {
        let AnswerLimits { bound, timeout, memory } = self.limits;
        // Somebody waits for the answer, whatever else the computer does.
        let waited = Deadline::at(Instant::now() + timeout);
        let until = Some(Deadline::after(timeout).or(Some(waited)));
        let task = Task {
            model: &self.model,
            cxx: self.cxx.as_ref(),
            // Its limits hold at any time, which those of a solver do not.
            engines: vec![&Enumerate],
            bound,
            until,
            memory,
            counts: false,
            blame: self.readings == Some(Readings::default()),
            alternatives: &self.alternatives,
            rests: true,
            races: true,
            ..Task::new(&self.model)
        };
        let judgement = judge(test, &task);
        let model = task.model_of(test);
        let options = ExplainOptions {
            bound,
            until,
            memory,
            work: Some(tested::WORK),
            deep: false,
            show: [None; SHOWN_RELATIONS],
            readings: self.readings.filter(|_| self.cxx.is_none() || test.dialect != Dialect::Cxx),
            ..ExplainOptions::default()
        };
        let explanation = explanation(test, model, options).expect("it is written to memory");
        let part = TestedPart { test, judgement: &judgement, explanation: &explanation };
        let mut html = String::new();
        xml::element(&mut html, "h2", &[], &test.name);
        html.push('\n');
        part.write(&mut html);
        let of = ExplainedTest {
            path: FILE,
            test,
            source,
            model: &model.name,
            explanation: &explanation,
        };
        let values = judgement.found.outcomes.len().saturating_mul(test.program.observed.len());
        let listed = values <= VALUES;
        written(&AnswerObject {
            summary: &part.headline().to_string(),
            expected: judgement.exit() == Exit::AsExpected,
            errors: Vec::new(),
            check: listed.then(|| CheckObject::judged(FILE.to_owned(), test, &judgement)),
            explain: Some(ExplainObject::new(&of)),
            html: &html,
        })
    }
}

fn rejected(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().map(|found| Error::new(FILE, found)).collect();
    let words: String = diagnostics.iter().map(ToString::to_string).collect();
    let summary = "The test could not be read.";
    let mut html = String::from("<h2>Errors</h2>\n");
    tested::verdict(&mut html, summary);
    pages::text(&mut html, "In detail", &words);
    written(&AnswerObject {
        summary,
        expected: false,
        errors,
        check: None,
        explain: None,
        html: &html,
    })
}

fn written(object: &AnswerObject<'_>) -> String {
    serde_json::to_string(object).expect("its keys are strings")
}
