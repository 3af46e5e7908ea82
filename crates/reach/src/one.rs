//! One test on one machine, and its report.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use engine::clock::Deadline;
use engine::exit::Exit;
use judge::words::with_threads;
use judge::{Judgement, Note, Task, explain, judge, stuck};
use litmus::Test;
use machine::{Machine, MachineLane, Options, Refusal, Step};
use model::isa::bar::BarrierMisuse;
use model::program::ThreadId;
use model::rel::Model;
use model::value::Value;
use picture::timeline::{Timeline, TimelineStep};
use sass::lower::Lowering;

use crate::{Inclusion, closed, never_ends};
use explore::random::{Walks, walk};
use explore::{Exploration, ExploreLimits, explore_in_full};

/// The options of a run, the same for each test.
pub struct ExploreQuestion<'a> {
    pub model: &'a Model,
    /// Compare with the axioms.
    pub check: bool,
    pub bound: u32,
    pub options: Options,
    pub limits: ExploreLimits,
    /// Random walks in place of the full search.
    pub walks: Option<Walks>,
    /// Tell a run to each outcome.
    pub runs: bool,
}

/// What became of a test on a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExploreAnswer {
    /// Not compared with anything.
    Explored,
    /// The family has no instruction for a line of it, or the machine no room.
    Refused(Refusal),
    Compared(Inclusion),
}

/// An outcome of the machine.
pub struct Reached {
    pub values: Vec<Value>,
    /// How many walks ended so, of random ones.
    pub walks: Option<u64>,
    /// Whether the axioms allow it, if they were evaluated and decide.
    pub allowed: Option<bool>,
    /// The steps of a run, in words, with `--runs` or with a refutation.
    pub run: Option<Vec<String>>,
    /// The same run as a picture.
    pub timeline: Option<Timeline>,
    /// What each candidate with it breaks, of the first few that the axioms forbid.
    pub refutation: Option<String>,
}

/// A test on the machine of one architecture.
pub struct MachineRun {
    pub sm: u16,
    pub answer: ExploreAnswer,
    pub outcomes: Vec<Reached>,
    /// Outcomes that the axioms allow and the machine has not.
    pub unreached: Vec<Vec<Value>>,
    /// States that were seen elsewhere and that the machine does not reach, in words.
    pub only_seen: Vec<String>,
    /// How much was looked at; `None` where the machine did not run.
    pub explored: Option<Exploration>,
    /// Whether the test expects to be stuck or undefined.
    pub expected: bool,
    pub seconds: f64,
}

impl MachineRun {
    pub fn exit(&self) -> Exit {
        if !self.only_seen.is_empty() {
            return Exit::Differs;
        }
        match &self.answer {
            ExploreAnswer::Explored
                if self.explored.as_ref().is_some_and(|e| e.limit.is_some()) =>
            {
                Exit::Undecided
            }
            ExploreAnswer::Compared(
                Inclusion::Extra(_) | Inclusion::Stuck { expected: false, .. },
            ) => Exit::Differs,
            // What a test says of itself counts without a comparison, too.
            ExploreAnswer::Explored if self.never_ends().is_some() && !self.expected => {
                Exit::Differs
            }
            ExploreAnswer::Explored if self.misused().is_some() && !self.expected => Exit::Differs,
            ExploreAnswer::Compared(Inclusion::Undefined(_)) if !self.expected => Exit::Differs,
            ExploreAnswer::Refused(_) | ExploreAnswer::Compared(Inclusion::Limited(_)) => {
                Exit::Undecided
            }
            ExploreAnswer::Explored
            | ExploreAnswer::Compared(
                Inclusion::Included { .. }
                | Inclusion::Undefined(_)
                | Inclusion::Unsupported(_)
                | Inclusion::Stuck { .. }
                | Inclusion::Refused(_),
            ) => Exit::AsExpected,
        }
    }

    /// What was explored, where all was and no run finishes.
    fn never_ends(&self) -> Option<&Exploration> {
        self.explored.as_ref().filter(|explored| explored.never_ends())
    }

    /// A use of a barrier without meaning: nothing is promised then, whatever the runs do.
    pub fn misused(&self) -> Option<((ThreadId, u16), BarrierMisuse)> {
        self.explored.as_ref().and_then(|explored| explored.misused)
    }

    /// Whether a full search knows every outcome of the machine.
    pub fn is_complete(&self) -> bool {
        self.explored.as_ref().is_some_and(|explored| explored.limit.is_none())
    }

    fn of_seen(&self) -> Option<String> {
        let all = self.only_seen.is_empty();
        (!all).then(|| "the machine does not reach every state that was seen".to_owned())
    }

    /// Where some runs end and some do not, where those stay; where a run faults, where; which seen states it does not
    /// reach.
    pub fn notes(&self, test: &Test) -> Vec<Note> {
        let only_seen = self.only_seen.iter().map(|state| Note {
            code: "only-seen",
            text: format!("the log has a state that the machine does not reach: {state}"),
        });
        self.ends(test).into_iter().chain(only_seen).collect()
    }

    fn ends(&self, test: &Test) -> Vec<Note> {
        let explored = self.explored.as_ref().filter(|explored| !explored.never_ends());
        let explored = explored.filter(|_| self.misused().is_none());
        let Some(explored) = explored else { return Vec::new() };
        let fault = explored.fault_at.as_ref().map(|at| Note {
            code: "fault",
            text: format!("in some executions {}", stuck::fault(test, at)),
        });
        let stuck = explored
            .stuck_at
            .as_ref()
            .map(|at| Note { code: "stuck", text: stuck::some(test, at) });
        fault.into_iter().chain(stuck).collect()
    }

    /// Every answer has a word, and some a reason.
    pub fn verdict(&self, test: &Test) -> (&'static str, Option<String>) {
        match &self.answer {
            ExploreAnswer::Explored if self.misused().is_some() => {
                ("undefined", self.misused().map(|(_, misuse)| misuse.text().to_owned()))
            }
            ExploreAnswer::Explored => match self
                .explored
                .as_ref()
                .and_then(|explored| explored.limit)
            {
                Some(limit) => ("undecided", Some(format!("the search is incomplete: {limit}"))),
                None => match self.never_ends() {
                    Some(explored) => {
                        let word = if explored.fault_at.is_some() { "undefined" } else { "stuck" };
                        (word, Some(never_ends(test, explored, &BTreeSet::new())))
                    }
                    None => ("explored", self.of_seen()),
                },
            },
            ExploreAnswer::Compared(Inclusion::Included { .. }) => ("included", self.of_seen()),
            ExploreAnswer::Compared(Inclusion::Extra(_)) => {
                ("not-included", Some("the machine has an outcome that the axioms forbid".into()))
            }
            ExploreAnswer::Compared(Inclusion::Undefined(reason)) => {
                ("undefined", Some(reason.clone()))
            }
            ExploreAnswer::Compared(Inclusion::Unsupported(reason)) => {
                ("unsupported", Some(reason.clone()))
            }
            ExploreAnswer::Refused(refusal)
            | ExploreAnswer::Compared(Inclusion::Refused(refusal)) => {
                ("refused", Some(refused(test, refusal)))
            }
            ExploreAnswer::Compared(Inclusion::Stuck { reason, .. }) => {
                ("stuck", Some(reason.clone()))
            }
            ExploreAnswer::Compared(Inclusion::Limited(reason)) => {
                ("undecided", Some(reason.clone()))
            }
        }
    }
}

/// Why a test does not run, with where.
pub fn refused(test: &Test, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Lowering { thread, line, why } => {
            let thread = &test.program.threads[usize::from(thread.0)];
            format!("{}: `{}`: {why}", thread.name, thread.lines[*line].text)
        }
        Refusal::Program(why) => (*why).to_owned(),
        Refusal::TooLarge(what) => format!("too many {what}"),
    }
}

/// What the axioms say, for all machines.
pub fn axioms(
    test: &Test,
    question: &ExploreQuestion<'_>,
    until: Option<Deadline>,
) -> Option<Judgement> {
    let task = Task {
        bound: question.bound,
        memory: question.limits.memory,
        counts: false,
        until,
        ..Task::new(question.model)
    };
    question.check.then(|| judge(test, &task))
}

/// Runs a test on one machine, and compares.
pub fn run(
    test: &Test,
    judged: Option<&Judgement>,
    lowering: Lowering<'_>,
    question: &ExploreQuestion<'_>,
    until: Option<Deadline>,
) -> MachineRun {
    let start = Instant::now();
    let limits = ExploreLimits { deadline: until, ..question.limits };
    let mut ran = MachineRun {
        sm: lowering.sm,
        answer: ExploreAnswer::Explored,
        outcomes: Vec::new(),
        unreached: Vec::new(),
        only_seen: Vec::new(),
        explored: None,
        expected: ["Stuck", "Undefined"].iter().any(|key| test.meta(key).is_some()),
        seconds: 0.0,
    };
    match judged.and_then(closed) {
        Some(unsupported @ Inclusion::Unsupported(_)) => {
            ran.answer = ExploreAnswer::Compared(unsupported);
            return ran;
        }
        // What has no meaning runs all the same; there is nothing to compare it with.
        Some(closed) => ran.answer = ExploreAnswer::Compared(closed),
        None => {}
    }
    match search(test, lowering, question, limits) {
        Err(refusal) if question.check => {
            ran.answer = ExploreAnswer::Compared(crate::refused(refusal));
        }
        Err(refusal) => ran.answer = ExploreAnswer::Refused(refusal),
        Ok((mut explored, counts)) => {
            let mut allowed = None;
            if let (Some(judged), ExploreAnswer::Explored) = (judged, &ran.answer) {
                let mut included = crate::included(test, judged, &explored);
                // Runs are worth their while only now.
                let limits = ExploreLimits { runs: true, ..limits };
                if matches!(included, Inclusion::Extra(_))
                    && let Ok((again, _)) = search(test, lowering, question, limits)
                {
                    explored = again;
                    included = crate::included(test, judged, &explored);
                }
                ran.answer = ExploreAnswer::Compared(included);
                allowed = Some(crate::allowed(test, judged));
            }
            ran.explored = Some(explored);
            tell(test, &mut ran, &counts, allowed.as_ref(), lowering, question, until);
        }
    }
    ran.seconds = start.elapsed().as_secs_f64();
    ran
}

/// How many walks ended with each outcome; of a full search, nothing.
type Counts = BTreeMap<Vec<Value>, u64>;

fn search(
    test: &Test,
    lowering: Lowering<'_>,
    question: &ExploreQuestion<'_>,
    limits: ExploreLimits,
) -> Result<(Exploration, Counts), Refusal> {
    let (program, options) = (&test.program, question.options);
    match question.walks {
        None => Ok((explore_in_full(program, lowering, options, limits)?, Counts::new())),
        Some(walks) => {
            let sampled = walk(program, lowering, options, walks, limits)?;
            Ok((sampled.explored, sampled.counts))
        }
    }
}

/// The number of forbidden outcomes that are reported with a run and a refutation; a few are sufficient.
const REFUTED: usize = 3;

/// Fills in the outcomes, and what the machine has not.
fn tell(
    test: &Test,
    ran: &mut MachineRun,
    counts: &Counts,
    allowed: Option<&BTreeSet<Vec<Value>>>,
    lowering: Lowering<'_>,
    question: &ExploreQuestion<'_>,
    until: Option<Deadline>,
) {
    let Some(explored) = &ran.explored else { return };
    let extra = match &ran.answer {
        ExploreAnswer::Compared(Inclusion::Extra(extra)) => extra.as_slice(),
        ExploreAnswer::Compared(_) | ExploreAnswer::Explored | ExploreAnswer::Refused(_) => &[],
    };
    let place = |values: &Vec<Value>| extra.iter().position(|(outcome, _)| outcome == values);
    ran.outcomes = explored
        .outcomes
        .iter()
        .map(|(values, steps)| {
            let place = place(values);
            let forbidden = place.is_some();
            let refuted = place.is_some_and(|place| place < REFUTED);
            let known =
                allowed.filter(|allowed| forbidden || allowed.contains(&test.narrowed(values)));
            let told = question.runs || refuted;
            let told = told.then(|| words(test, lowering, question.options, values, steps));
            let (run, timeline) = told.unzip();
            Reached {
                values: values.clone(),
                walks: counts.get(values).copied(),
                allowed: known.map(|_| !forbidden),
                run,
                timeline,
                refutation: refuted.then(|| refutation(test, question, values, until)),
            }
        })
        .collect();
    if let Some(allowed) = allowed {
        let reached: BTreeSet<Vec<Value>> =
            explored.outcomes.keys().map(|values| test.narrowed(values)).collect();
        ran.unreached = allowed.difference(&reached).cloned().collect();
    }
}

/// A run in words, and as a picture.
fn words(
    test: &Test,
    lowering: Lowering<'_>,
    options: Options,
    values: &[Value],
    steps: &[Step],
) -> (Vec<String>, Timeline) {
    let lowered = lowering.program(&test.program);
    let machine = lowered.and_then(|lowered| Machine::new(&test.program, lowered, options, true));
    let machine = machine.expect("it has run");
    let words: Vec<String> = steps.iter().map(|step| machine.describe(*step)).collect();
    let passed: Vec<Vec<MachineLane>> = steps.iter().map(|step| machine.lanes(*step)).collect();
    // Threads come first, as the lanes are ordered.
    let lanes: BTreeSet<MachineLane> = passed.iter().flatten().copied().collect();
    let place = |lane: &MachineLane| lanes.range(..lane).count();
    let steps = words.iter().zip(&passed).map(|(text, path)| TimelineStep {
        text: text.clone(),
        path: path.iter().map(place).collect(),
    });
    let outcome = test.display_outcome(values);
    let timeline = Timeline {
        caption: with_threads(outcome.trim_end_matches([';', ' '])),
        steps: steps.collect(),
        lanes: lanes.iter().map(|lane| machine.lane_name(*lane)).collect(),
    };
    (words, timeline)
}

fn refutation(
    test: &Test,
    question: &ExploreQuestion<'_>,
    values: &[Value],
    until: Option<Deadline>,
) -> String {
    // A candidate is found at once, or there are too many to look at.
    const PATIENCE: Duration = Duration::from_secs(10);
    let limits = engine::Limits {
        deadline: Some(Deadline::after(PATIENCE).or(until)),
        memory: question.limits.memory,
        ..engine::Limits::unlimited(question.bound)
    };
    let mut told = Vec::new();
    explain::refute(test, question.model, values, &limits, &mut told)
        .expect("memory can be written");
    String::from_utf8(told).expect("it is text")
}
