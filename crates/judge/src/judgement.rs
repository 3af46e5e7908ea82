//! What is known of one test.

use engine::exit::Exit;
use litmus::Test;
use model::reading::{Choice, Reading};

use crate::found::EngineResult;
use crate::task::{Property, Task};
use crate::verdict::{Note, Observation, Verdict};

/// What is known of one test.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The name of the model.
    pub model: String,
    /// What the verdict is about.
    pub property: Property,
    pub verdict: Verdict,
    /// `None` if the set of outcomes is not known.
    pub observation: Option<Observation>,
    /// Executions that satisfy the proposition, each once for every outcome that it can end with: the
    /// least coherence order may leave several writes that could be the last. Outcomes, if executions were
    /// not counted.
    pub positive: u64,
    pub negative: u64,
    pub found: EngineResult,
    /// What the quantified condition amounts to over the outcomes found, if they are all: over none
    /// `exists` fails and the others hold, which is what peers print of a program that is stuck.
    pub condition: Option<bool>,
    pub notes: Vec<Note>,
    /// Those that ran.
    pub engines: Vec<&'static str>,
    /// Those of them that reached a limit, of a test that another one decides.
    pub unfinished: Vec<&'static str>,
    /// Two engines differ: what each found that the other did not.
    pub disagreement: Option<String>,
    /// Why the result is not what the test expects.
    pub complaint: Option<String>,
    /// Whether the complaint is a limit that was reached when what the test states was checked.
    pub is_open: bool,
    /// Whether a larger bound decides it, where its bound alone leaves it undecided and that was tried.
    pub larger: Option<LargerBound>,
    /// The readings that it rests on, if they were computed.
    pub resting: Option<Resting>,
    pub seconds: f64,
}

impl Judgement {
    /// A verdict, what an engine found, and nothing else.
    pub(crate) fn new(
        test: &Test,
        task: &Task<'_>,
        verdict: Verdict,
        found: EngineResult,
    ) -> Judgement {
        Judgement {
            model: task.model_of(test).name.clone(),
            property: task.property,
            verdict,
            observation: None,
            positive: 0,
            negative: 0,
            found,
            condition: None,
            notes: Vec::new(),
            engines: Vec::new(),
            unfinished: Vec::new(),
            disagreement: None,
            complaint: None,
            is_open: false,
            larger: None,
            resting: None,
            seconds: 0.0,
        }
    }

    /// `Sometimes 1/4`, or `Never` where executions were not counted.
    pub fn observed(&self) -> Option<String> {
        self.observation.map(|observation| self.with_counts(observation.name()))
    }

    /// A word, with how many executions satisfy the proposition, if that is known.
    pub fn with_counts(&self, word: &str) -> String {
        let (positive, all) = (self.positive, self.positive + self.negative);
        if self.found.directed { word.to_owned() } else { format!("{word} {positive}/{all}") }
    }

    /// Whether the complaint is that the test has this verdict, and no more.
    pub fn is_plain(&self) -> bool {
        let stated = self.verdict.reason().map(|why| plain(&self.verdict, why));
        stated.is_some() && stated == self.complaint
    }

    pub fn exit(&self) -> Exit {
        if self.disagreement.is_some() {
            Exit::Disagreement
        } else if self.complaint.is_some() {
            match self.verdict {
                Verdict::Undecided(_) => Exit::Undecided,
                Verdict::Holds if self.is_open => Exit::Undecided,
                Verdict::Holds
                | Verdict::Fails
                | Verdict::Undefined(_)
                | Verdict::Stuck(_)
                | Verdict::Unsupported(_) => Exit::Differs,
            }
        } else {
            Exit::AsExpected
        }
    }
}

/// The complaint that a test has this verdict, where it expects none like it.
pub(crate) fn plain(verdict: &Verdict, reason: &str) -> String {
    format!("{}: {reason}", verdict.name())
}

/// What is known of larger bounds than that of a test that they may decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LargerBound {
    /// This is the smallest one that decides it.
    Decides(u32),
    /// None up to this one does.
    Leaves(u32),
    /// A limit was reached before that was known.
    Unknown,
}

/// A reading that a verdict rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rest {
    pub reading: &'static Reading,
    /// The choice under which it would differ.
    pub choice: &'static Choice,
    /// What it would be then: `Sometimes 1/4`.
    pub instead: String,
}

impl Rest {
    /// `by reading R13; the text allows any chain of reasoning (Sometimes 1/4 with R13=semantic)`.
    pub fn text(&self) -> String {
        let Rest { reading, choice, instead } = self;
        let grounds = choice.grounds.unwrap_or("it could be otherwise");
        format!(
            "by reading {}; {grounds} ({instead} with {}={})",
            reading.name, reading.name, choice.name
        )
    }
}

/// What is known of the readings that a verdict rests on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Resting {
    /// In order of number.
    pub on: Vec<Rest>,
    /// Choices under which a limit was reached: it may rest on these readings, too. With the limit.
    pub open: Vec<(&'static Reading, &'static Choice, String)>,
}

impl Resting {
    /// The names of the readings that it rests on, each once.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self.on.iter().map(|rest| rest.reading.name).collect();
        names.dedup();
        names
    }

    /// The names of those that it may rest on.
    pub fn open_names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> =
            self.open.iter().map(|(reading, ..)| reading.name).collect();
        names.dedup();
        names
    }

    /// A line for each choice that would change the verdict, or might.
    pub fn lines(&self) -> Vec<String> {
        let open = |(reading, choice, why): &(&Reading, &Choice, String)| {
            let (name, other) = (reading.name, choice.name);
            format!("whether it rests on reading {name} is not known: {why} with {name}={other}")
        };
        self.on.iter().map(Rest::text).chain(self.open.iter().map(open)).collect()
    }
}
