//! One test judged: engines run, their outcomes compared, the condition evaluated.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use execution::air::ThinAir;
use litmus::{Dialect, Prop, Quantifier, Test};
use model::rel::{FlagMeaning, Model};
use model::value::Value;
use rustc_hash::FxHashMap;
use web_time::Instant;

use self::complaint::{Complaint, complaint, misstated};
use crate::account::Budget;
use crate::clock::Deadline;
use crate::directed;
use crate::exit::Exit;
use crate::goes_beyond;
use crate::larger::{self, LargerBound};
use crate::portfolio;
use crate::resting::{Alternative, Resting, resting};
use crate::stuck;
use crate::witness::Witness;
use crate::{ENGINES, Engine, ExecutionFacts, Limit, Limits, MEMORY, outcome};
use crate::{races, termination};

/// Why a program without any execution has no verdict.
pub const NO_EXECUTION: &str = "no execution was found, not even one that never finishes";

/// The code of a note on an arrival in a phase, where nobody has waited for the phase before.
const MISSING_WAIT: &str = "mbarrier-missing-wait";

/// The code of a note on an operation on shared memory of a CTA that may have exited. Most tests end before their
/// CTAs wait for one another.
pub const CLUSTER_EXITED: &str = "cluster-exited";
/// The code of a note on a thread count beside an omitted one at an active barrier.
const COUNT_OMITTED: &str = "barrier-count-omitted";
const NOT_DEALLOCATED: &str = "tensor-memory-not-deallocated";

/// The codes of the notes on rules that an execution breaks.
const WARNINGS: [&str; 4] = [MISSING_WAIT, CLUSTER_EXITED, COUNT_OMITTED, NOT_DEALLOCATED];

/// What a verdict is about.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Property {
    /// The quantified condition of the test, over all outcomes.
    #[default]
    ProgramSpec,
    /// Every execution finishes: the module `termination`.
    Termination,
    /// No execution has a data race: the module `races`.
    NoDataRace,
}

impl Property {
    /// The name that Dartagnan gives it; of races, that of the competition of verifiers.
    pub fn name(self) -> &'static str {
        match self {
            Property::ProgramSpec => "program_spec",
            Property::Termination => "termination",
            Property::NoDataRace => "no-data-race",
        }
    }

    /// Whether it is about the outcomes of a test: others are not looked for.
    pub fn is_of_outcomes(self) -> bool {
        self == Property::ProgramSpec
    }

    /// The name, where it is not the one that every report is about unless it says so.
    pub fn stated(self) -> Option<&'static str> {
        (self != Property::default()).then(|| self.name())
    }
}

/// About the quantified condition, or another property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Holds,
    Fails,
    /// The program has no meaning, for this reason.
    Undefined(String),
    /// The model does not cover this construct.
    Unsupported(String),
    /// No execution finishes: some threads wait or repeat a loop for ever. There is no outcome, so
    /// the condition would hold or fail for no reason.
    Stuck(String),
    /// No engine got to the end.
    Undecided(String),
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Undefined(_) => "undefined",
            Verdict::Unsupported(_) => "unsupported",
            Verdict::Stuck(_) => "stuck",
            Verdict::Undecided(_) => "undecided",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Verdict::Holds | Verdict::Fails => None,
            Verdict::Undefined(reason)
            | Verdict::Unsupported(reason)
            | Verdict::Stuck(reason)
            | Verdict::Undecided(reason) => Some(reason),
        }
    }
}

/// About the proposition, whatever the quantifier: herd's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    Never,
    Sometimes,
    Always,
}

impl Observation {
    pub fn name(self) -> &'static str {
        match self {
            Observation::Never => "Never",
            Observation::Sometimes => "Sometimes",
            Observation::Always => "Always",
        }
    }
}

/// What to know beside the verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// `stuck`, `not-explored` and others that `docs/json.md` lists, or a warning of the model: `mbarrier-missing-wait`,
    /// `cluster-exited`, `barrier-count-omitted` or `tensor-memory-not-deallocated`.
    pub code: &'static str,
    pub text: String,
}

/// How often a loop body is executed, where the caller does not say it.
pub const BOUND: u32 = 2;

/// How to judge.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Task<'a> {
    pub model: &'a Model,
    /// What judges tests of C++; `None` leaves them to `model`.
    pub cxx: Option<&'a Model>,
    /// At least one; all have to agree.
    pub engines: Vec<&'a dyn Engine>,
    pub bound: u32,
    /// For each test and engine, of the time of its thread. What follows from a verdict has what is left of it.
    pub timeout: Option<Duration>,
    /// When all searches end, whatever time each has.
    pub until: Option<Deadline>,
    /// In bytes, for each test and engine.
    pub memory: usize,
    /// What the verdict is about. For other properties than the condition, no outcomes are looked for.
    pub property: Property,
    /// Find the verdict alone, not all outcomes: see [`crate::directed`].
    pub verdict_only: bool,
    /// Look at every execution, which engines that count then count; otherwise, if there are more than a few, each
    /// outcome is looked for once: see [`crate::directed::outcomes`].
    pub counts: bool,
    /// Run one engine after another with growing limits of work, until one comes to an end, instead of all.
    pub portfolio: bool,
    /// How much work a search may do: see [`Limits::work`].
    pub work: Option<u64>,
    /// Whether to judge `Forbidden-by=` and `Readings=` too.
    pub blame: bool,
    /// The model under other readings; none where it has none to switch.
    pub alternatives: &'a [Alternative],
    /// Whether to find out which readings each verdict rests on.
    pub rests: bool,
    /// Whether to list every data race; otherwise those of the executions that were looked at are known.
    pub races: bool,
}

impl<'a> Task<'a> {
    /// Judges by one model with the enumerating engine, which looks at every execution: loop bodies twice at most,
    /// no limit of time, and [`crate::MEMORY`] for each test.
    ///
    /// ```
    /// use engine::judge::{Observation, Task, Verdict, judge};
    ///
    /// let test = litmus::parse(
    ///     "MP.litmus",
    ///     br#"PTX MP
    /// {
    /// x=0; flag=0;
    /// }
    ///  P0@cta 0,gpu 0           | P1@cta 1,gpu 0              ;
    ///  st.weak.u32 [x], 1       | ld.acquire.gpu.u32 r0, [flag] ;
    ///  st.release.gpu.u32 [flag], 1 | ld.weak.u32 r1, [x]      ;
    /// exists (1:r0=1 /\ 1:r1=0)
    /// "#,
    /// )
    /// .expect("the test is well formed");
    /// let model = model::ptx::model();
    /// let judgement = judge(&test, &Task::new(&model));
    /// assert_eq!(judgement.verdict, Verdict::Fails);
    /// assert_eq!(judgement.observation, Some(Observation::Never));
    /// assert_eq!(judgement.found.outcomes.len(), 3);
    /// ```
    pub fn new(model: &'a Model) -> Task<'a> {
        Task {
            model,
            cxx: None,
            engines: vec![ENGINES[0]],
            bound: BOUND,
            timeout: None,
            until: None,
            memory: MEMORY,
            property: Property::ProgramSpec,
            verdict_only: false,
            counts: true,
            portfolio: false,
            work: None,
            blame: false,
            alternatives: &[],
            rests: false,
            races: false,
        }
    }

    /// The model that a test is judged under.
    pub fn model_of(&self, test: &Test) -> &'a Model {
        let cxx = self.cxx.filter(|_| test.dialect == Dialect::Cxx);
        cxx.unwrap_or(self.model)
    }

    /// The same, with one end for all that is asked of a test from now on.
    fn ending(&self) -> Task<'a> {
        // Engines that take turns share one limit.
        let searches = if self.portfolio { 1 } else { self.engines.len() };
        let searches = u32::try_from(searches).unwrap_or(1);
        let own = self.timeout.map(|timeout| Deadline::after(timeout * searches));
        Task { until: own.map_or(self.until, |own| Some(own.or(self.until))), ..self.clone() }
    }

    /// What a search that begins now has.
    pub fn limits(&self) -> Limits {
        let own = self.timeout.map(Deadline::after);
        let deadline = own.map_or(self.until, |own| Some(own.or(self.until)));
        Limits { bound: self.bound, deadline, memory: self.memory, unending: true, work: self.work }
    }
}

/// What one engine found.
#[derive(Clone, Debug, Default)]
pub struct EngineResult {
    pub engine: &'static str,
    /// Outcomes that the filter lets through, each with the number of its executions, or 1 where they are not counted;
    /// where only the verdict was asked for, one of them.
    pub outcomes: BTreeMap<Vec<Value>, u64>,
    pub seen: ExecutionFacts,
    pub limit: Option<Limit>,
    /// Whether a limit was reached before it was known that an execution goes beyond the bound.
    pub beyond_is_open: bool,
    /// Whether only the verdict was asked for.
    pub directed: bool,
    /// An execution that decides the condition, if one does.
    pub witness: Option<Witness>,
}

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
fn plain(verdict: &Verdict, reason: &str) -> String {
    format!("{}: {reason}", verdict.name())
}

/// Judges one test.
pub fn judge(test: &Test, task: &Task<'_>) -> Judgement {
    let (start, task) = (Instant::now(), &task.ending());
    let mut judgement = match test.program.unsupported() {
        Some((_, _, why)) => Judgement {
            model: task.model_of(test).name.clone(),
            property: task.property,
            verdict: Verdict::Unsupported(why.to_owned()),
            observation: None,
            positive: 0,
            negative: 0,
            found: EngineResult::default(),
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
        },
        None => run_engines(test, task),
    };
    if task.races {
        races::add(test, task, &mut judgement);
    }
    if let Some(Complaint { text, open }) = complaint(test, task, &judgement) {
        (judgement.complaint, judgement.is_open) = (Some(text), open);
    }
    let compared =
        task.blame && task.property == Property::ProgramSpec && !task.alternatives.is_empty();
    let stated = test.meta("Readings").filter(|_| compared);
    if task.rests || stated.is_some() {
        let resting = resting(test, task, &judgement);
        if let Some(stated) = stated.filter(|_| judgement.complaint.is_none()) {
            judgement.complaint = misstated(stated, &resting);
        }
        judgement.resting = Some(resting);
    }
    judgement.seconds = start.elapsed().as_secs_f64();
    judgement
}

fn run_engines(test: &Test, task: &Task<'_>) -> Judgement {
    let model = task.model_of(test);
    let mut all: Vec<EngineResult> = if task.portfolio {
        vec![portfolio::run(test, task, model)]
    } else {
        task.engines.iter().map(|engine| run(test, task, *engine, model)).collect()
    };
    let disagreement = all.split_first().and_then(|(first, rest)| {
        rest.iter().find_map(|other| difference(test, task, first, other))
    });
    let engines: Vec<&'static str> = all.iter().map(|found| found.engine).collect();
    // The engine that got furthest speaks for all.
    all.sort_by_key(|found| (found.limit.is_some(), found.seen.executions.is_none()));
    let found = all.swap_remove(0);
    let (positive, negative) = counts(test, &found);
    let verdict = verdict(test, task, &found, positive, negative);
    // A search that ended early has seen both sides, or only what it was looking for.
    let cut = found.directed && found.witness.is_some();
    let complete = found.unexplored(task).is_none() && !cut;
    let observation = match &verdict {
        Verdict::Holds | Verdict::Fails if !task.property.is_of_outcomes() => None,
        Verdict::Holds | Verdict::Fails => match (positive, negative) {
            (1.., 1..) => Some(Observation::Sometimes),
            (0, _) => complete.then_some(Observation::Never),
            (_, 0) => complete.then_some(Observation::Always),
        },
        Verdict::Undefined(_)
        | Verdict::Unsupported(_)
        | Verdict::Stuck(_)
        | Verdict::Undecided(_) => None,
    };
    let mut notes = notes::of(test, task, &verdict, &found);
    let limited = all.iter().filter_map(|other| Some((other.engine, other.limit?)));
    let limited = limited.filter(|_| !matches!(verdict, Verdict::Undecided(_)));
    let mut unfinished = Vec::new();
    for (name, limit) in limited {
        let why = format!("not compared with {name}, which is undecided: {}", limit.text());
        notes.push(Note { code: "engine-undecided", text: why });
        unfinished.push(name);
    }
    Judgement {
        model: task.model_of(test).name.clone(),
        property: task.property,
        observation,
        positive,
        negative,
        condition: match task.property {
            Property::ProgramSpec => condition(test, &verdict, positive, negative),
            Property::Termination | Property::NoDataRace => None,
        },
        notes,
        verdict,
        found,
        engines,
        unfinished,
        disagreement,
        complaint: None,
        is_open: false,
        larger: None,
        resting: None,
        seconds: 0.0,
    }
}

/// Runs one engine under a model and collects its outcomes.
pub fn run(test: &Test, task: &Task<'_>, engine: &dyn Engine, model: &Model) -> EngineResult {
    run_within(test, task, engine, model, task.limits())
}

/// The same, within these limits.
pub(crate) fn run_within(
    test: &Test,
    task: &Task<'_>,
    engine: &dyn Engine,
    model: &Model,
    limits: Limits,
) -> EngineResult {
    let mut found = searched(test, task, engine, model, limits);
    let is_open = found.witness.is_none() || !found.directed;
    if found.seen.bound_reached && found.limit.is_none() && is_open {
        // A turn of a few steps is none for this question.
        let limits = Limits { work: task.work, ..limits };
        let racy = (task.property == Property::NoDataRace).then(|| races::racy(model));
        let model = racy.as_ref().unwrap_or(model);
        let beyond = goes_beyond(model, &test.program, &limits);
        found.seen.bound_reached = beyond != Some(false);
        found.beyond_is_open = beyond.is_none();
    }
    found
}

fn searched(
    test: &Test,
    task: &Task<'_>,
    engine: &dyn Engine,
    model: &Model,
    limits: Limits,
) -> EngineResult {
    match task.property {
        Property::ProgramSpec => {}
        Property::Termination => return termination::run(test, &limits, engine, model),
        Property::NoDataRace => return races::run(test, &limits, engine, model),
    }
    if task.verdict_only {
        return directed::run(test, limits, engine, model);
    }
    if task.counts {
        return every_execution(test, limits, engine, model);
    }
    // A few executions are sooner looked at than outcomes are compared with those that are known.
    let reports = model.flags.iter().any(|flag| flag.meaning == FlagMeaning::Report);
    let few = if reports { FEW_WITH_FLAGS } else { FEW };
    let work = Some(limits.work.map_or(few, |work| work.min(few)));
    let mut found = every_execution(test, Limits { work, ..limits }, engine, model);
    if found.limit == Some(Limit::Work) {
        return directed::outcomes(test, limits, engine, model);
    }
    found.seen.executions = None;
    found.outcomes.values_mut().for_each(|executions| *executions = 1);
    found
}

/// The work of a first search of every execution, where only outcomes are wanted.
const FEW: u64 = 1 << 10;

/// The same where a model reports pairs: executions with one outcome may differ in that.
const FEW_WITH_FLAGS: u64 = 1 << 20;

/// Looks at every execution.
fn every_execution(
    test: &Test,
    limits: Limits,
    engine: &dyn Engine,
    model: &Model,
) -> EngineResult {
    let mut found = EngineResult { engine: engine.name(), ..EngineResult::default() };
    let program = &test.program;
    let mut seen = ExecutionFacts::default();
    let mut outcomes: FxHashMap<Box<[Value]>, u64> = FxHashMap::default();
    let witness = &mut found.witness;
    // Engines hold them too.
    let mut account = Budget::new(&limits);
    let result = engine.outcomes(model, program, &limits, &mut seen, &mut |outcome, show| {
        if let Some(executions) = outcomes.get_mut(outcome) {
            *executions += 1;
            return ControlFlow::Continue(());
        }
        if !test.passes(outcome) {
            return ControlFlow::Continue(());
        }
        outcomes.insert(outcome.into(), 1);
        if !account.hold(2 * outcome::bytes(program)) {
            return ControlFlow::Break(());
        }
        let satisfied = test.proposition.holds(program, outcome);
        let decides = satisfied != (test.quantifier == Quantifier::ForAll);
        if decides && witness.is_none() {
            *witness = Some(show());
        }
        ControlFlow::Continue(())
    });
    // The map is ordered before anybody sees it.
    #[expect(clippy::iter_over_hash_type, reason = "collected into an ordered map")]
    for (outcome, executions) in outcomes {
        found.outcomes.insert(outcome.into_vec(), executions);
    }
    found.limit = result.and(account.check()).and(aired(test, &seen)).err();
    found.seen = seen;
    found
}

/// What was tried of values out of thin air stands for all values only where nobody asks which is the greater.
pub(crate) fn aired(test: &Test, seen: &ExecutionFacts) -> Result<(), Limit> {
    let orders = test.proposition.compares_by_order()
        || test.filter.as_ref().is_some_and(Prop::compares_by_order);
    match seen.thin_air {
        ThinAir::None => Ok(()),
        ThinAir::Some if !orders => Ok(()),
        ThinAir::Some | ThinAir::More => Err(Limit::ThinAir),
    }
}

fn counts(test: &Test, found: &EngineResult) -> (u64, u64) {
    found.outcomes.iter().fold((0, 0), |(positive, negative), (outcome, &executions)| {
        if test.proposition.holds(&test.program, outcome) {
            (positive + executions, negative)
        } else {
            (positive, negative + executions)
        }
    })
}

impl EngineResult {
    /// Why there may be executions that were not looked at.
    pub fn unexplored(&self, task: &Task<'_>) -> Option<String> {
        match (self.limit, self.seen.bound_reached) {
            (Some(limit), _) => Some(limit.text().to_owned()),
            (None, true) => Some(larger::why(task.bound, self.beyond_is_open)),
            (None, false) => None,
        }
    }
}

fn verdict(
    test: &Test,
    task: &Task<'_>,
    found: &EngineResult,
    positive: u64,
    negative: u64,
) -> Verdict {
    if let Some(undefined) = &found.seen.undefined {
        return Verdict::Undefined(undefined.reason.clone());
    }
    match task.property {
        Property::ProgramSpec => {}
        Property::Termination => {
            return termination::verdict(&found.seen, found.unexplored(task));
        }
        Property::NoDataRace => return races::verdict(&found.seen, found.unexplored(task)),
    }
    // One execution can decide, whatever was not looked at; otherwise all have to be known.
    match (decided(test, positive, negative), found.unexplored(task), &found.seen.stuck) {
        (Some(verdict), _, _) => verdict,
        (None, Some(reason), _) => Verdict::Undecided(reason),
        (None, None, Some(stuck)) if !found.seen.finishes => {
            Verdict::Stuck(stuck::never(test, stuck))
        }
        // Neither one that finishes nor one that does not: nothing was tested.
        (None, None, _) if !found.seen.finishes => Verdict::Undecided(NO_EXECUTION.to_owned()),
        (None, None, _) => match test.quantifier {
            Quantifier::Exists => Verdict::Fails,
            Quantifier::NotExists | Quantifier::ForAll => Verdict::Holds,
        },
    }
}

/// The verdict that an execution gives, however many others there are.
fn decided(test: &Test, positive: u64, negative: u64) -> Option<Verdict> {
    match test.quantifier {
        Quantifier::Exists => (positive > 0).then_some(Verdict::Holds),
        Quantifier::NotExists => (positive > 0).then_some(Verdict::Fails),
        Quantifier::ForAll => (negative > 0).then_some(Verdict::Fails),
    }
}

fn condition(test: &Test, verdict: &Verdict, positive: u64, negative: u64) -> Option<bool> {
    match verdict {
        Verdict::Holds => Some(true),
        Verdict::Fails => Some(false),
        Verdict::Stuck(_) => Some(match test.quantifier {
            Quantifier::Exists => positive > 0,
            Quantifier::NotExists => positive == 0,
            Quantifier::ForAll => negative == 0,
        }),
        Verdict::Undefined(_) | Verdict::Unsupported(_) | Verdict::Undecided(_) => None,
    }
}

/// How two engines differ, if they do. An engine that reached a limit has no opinion.
fn difference(test: &Test, task: &Task<'_>, a: &EngineResult, b: &EngineResult) -> Option<String> {
    if a.limit.is_some() || b.limit.is_some() {
        return None;
    }
    if a.seen.undefined.is_some() != b.seen.undefined.is_some() {
        let (has, not) = if a.seen.undefined.is_some() { (a, b) } else { (b, a) };
        let reason = has.seen.undefined.as_ref().map_or("", |u| u.reason.as_str());
        return Some(format!(
            "{} finds the test undefined ({reason}), {} does not",
            has.engine, not.engine
        ));
    }
    if a.seen.undefined.is_some() && (a.directed || b.directed) {
        return None;
    }
    if task.verdict_only || !task.property.is_of_outcomes() {
        let decided = [a, b].map(|found| {
            let (positive, negative) = counts(test, found);
            verdict(test, task, found, positive, negative)
        });
        return (decided[0] != decided[1]).then(|| {
            format!("{}: {}, {}: {}", a.engine, decided[0].name(), b.engine, decided[1].name())
        });
    }
    let only = |x: &EngineResult, y: &EngineResult| {
        x.outcomes
            .keys()
            .find(|outcome| !y.outcomes.contains_key(*outcome))
            .map(|outcome| format!("only {} finds {}", x.engine, test.display_outcome(outcome)))
    };
    only(a, b).or_else(|| only(b, a)).or_else(|| {
        let known = a.seen.stuck_is_known && b.seen.stuck_is_known;
        let stuck = [a, b].map(|found| found.seen.stuck.is_some());
        let (has, not) = if stuck[0] { (a, b) } else { (b, a) };
        (known && stuck[0] != stuck[1]).then(|| {
            format!(
                "only {} finds an execution that never finishes, {} none",
                has.engine, not.engine
            )
        })
    })
}

mod complaint;
mod lanes;
mod notes;
#[cfg(test)]
mod tests;
