//! The questions about a changed test, and their number.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use engine::clock::Deadline;
use engine::{ENGINES, Engine, MEMORY};
use judge::{Alternative, BOUND, Judgement, Note, Property, Resting, Task, Verdict, judge};
use litmus::revise::{Revision, SourceTest};
use litmus::{Quantifier, Test};
use model::program::ThreadId;
use model::rel::Model;

use crate::edit::{EditKind, ProgramEdit, revisions_of};
use crate::known::idle_waits;

/// How far to search.
#[derive(Clone)]
pub struct RepairOptions<'a> {
    pub model: &'a Model,
    /// Proposals are judged again by each of these.
    pub engines: Vec<&'a dyn Engine>,
    pub bound: u32,
    /// Sets of edits with more members are not tried.
    pub edits: u32,
    /// Also look for larger sets of edits than the smallest that is found.
    pub all: bool,
    /// Proposals that are judged again, at most; the others are not reported.
    pub proposals: usize,
    /// Changed tests that are judged, at most.
    pub questions: usize,
    /// When the whole search ends.
    pub until: Option<Deadline>,
    /// For each changed test, in bytes.
    pub memory: usize,
    /// The work for each changed test, which is then judged by the enumerating engine alone: see
    /// [`engine::Limits::work`].
    pub work: Option<u64>,
    /// What the model of a proposal is compared with: see [`judge::alternatives`].
    pub alternatives: &'a [Alternative],
    /// What is to hold.
    pub property: Property,
    /// Whether instructions may change their places, if nothing else suffices.
    pub moves: bool,
}

impl<'a> RepairOptions<'a> {
    /// At most three edits, the first five proposals, and the enumerating engine alone.
    pub fn new(model: &'a Model) -> RepairOptions<'a> {
        RepairOptions {
            model,
            engines: vec![ENGINES[0]],
            bound: BOUND,
            edits: 3,
            all: false,
            proposals: 5,
            questions: 20_000,
            until: None,
            memory: MEMORY,
            work: None,
            alternatives: &[],
            property: Property::ProgramSpec,
            moves: false,
        }
    }
}

/// Why a search ended before all was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RepairLimit {
    Questions(usize),
    Time,
    /// So many pairs of edits were tried.
    Pairs(usize),
    /// New waits and arrivals were tried at so many places.
    Places(usize),
    /// A new barrier was tried at so many combinations of places.
    Barriers(usize),
    /// So many larger sets of edits were tried.
    Sets(usize),
    /// So many edits of barriers and waits were tried with others.
    Combinations(usize),
    /// Some changed test is undecided, for this reason.
    Undecided(String),
}

impl RepairLimit {
    pub fn text(&self) -> String {
        match self {
            RepairLimit::Questions(count) => format!("{count} changed tests were judged"),
            RepairLimit::Pairs(count) => format!("{count} pairs of edits were tried"),
            RepairLimit::Places(count) => {
                format!("new waits or arrivals were tried at {count} places")
            }
            RepairLimit::Barriers(count) => {
                format!("a new barrier was tried at {count} combinations of places")
            }
            RepairLimit::Sets(count) => format!("{count} sets of more edits were tried"),
            RepairLimit::Combinations(count) => {
                format!("{count} changes of barriers and waits were tried with others")
            }
            RepairLimit::Time => "the time limit was reached".to_owned(),
            RepairLimit::Undecided(why) => format!("a changed test is undecided: {why}"),
        }
    }
}

/// The work for a changed test that is judged soon: see [`engine::Limits::work`].
const SOON: u64 = 1 << 15;

/// The end of a search that leaves time to judge what it found again.
fn most_of(until: Deadline) -> Deadline {
    Deadline::after(until.left().mul_f64(SEARCHED)).or(Some(until))
}

/// The part of the time for which a search goes on.
const SEARCHED: f64 = 0.75;

/// The answers for changed tests, each computed once.
pub(crate) struct Questions<'q> {
    pub(crate) source: &'q SourceTest,
    pub(crate) options: &'q RepairOptions<'q>,
    /// Whether the test as it is may never finish, which a change must not add.
    stuck: bool,
    /// Whether no execution of the test finishes: then each one has to, whatever its outcome.
    pub(crate) to_finish: bool,
    /// Why the test as it is has no meaning, if it has none.
    undefined: Option<String>,
    /// When the search ends. What it found is judged again after that.
    pub(crate) until: Option<Deadline>,
    /// Whether what was found is judged again, up to the end of all.
    confirms: bool,
    /// The same condition about other copies of the code.
    siblings: Vec<SourceTest>,
    answers: BTreeMap<Vec<Revision>, bool>,
    /// The number of waits of the test as it is that may be over before anything has arrived.
    idle_waits: OnceCell<usize>,
    pub(crate) asked: usize,
    /// The first limit that was reached.
    pub(crate) limit: Option<RepairLimit>,
    /// What was never tried, which only matters if nothing is found.
    pub(crate) left_out: Option<RepairLimit>,
}

impl<'q> Questions<'q> {
    pub(crate) fn new(source: &'q SourceTest, options: &'q RepairOptions<'q>) -> Questions<'q> {
        Questions {
            source,
            options,
            stuck: false,
            to_finish: false,
            undefined: None,
            until: options.until.map(most_of),
            confirms: false,
            siblings: Vec::new(),
            answers: BTreeMap::new(),
            idle_waits: OnceCell::new(),
            asked: 0,
            limit: None,
            left_out: None,
        }
    }

    /// The same questions under other options, up to the same time.
    pub(crate) fn under<'o>(&self, options: &'o RepairOptions<'o>) -> Questions<'o>
    where
        'q: 'o,
    {
        Questions {
            source: self.source,
            options,
            stuck: self.stuck,
            to_finish: self.to_finish,
            undefined: self.undefined.clone(),
            until: self.until,
            confirms: self.confirms,
            siblings: self.siblings.clone(),
            answers: BTreeMap::new(),
            idle_waits: OnceCell::new(),
            asked: 0,
            limit: None,
            left_out: None,
        }
    }

    /// Also asks the condition about other copies of the code.
    pub(crate) fn also(mut self, siblings: Vec<SourceTest>) -> Questions<'q> {
        self.siblings = siblings;
        self
    }

    /// Whether a test with these changes forbids the outcome of other copies, too.
    fn forbids_siblings(&self, revisions: &[Revision]) -> bool {
        self.siblings.iter().all(|sibling| self.is_forbidden_of(sibling, revisions))
    }

    /// Whether a test with these changes forbids the outcome of another copy.
    pub(crate) fn is_forbidden_of(&self, sibling: &SourceTest, revisions: &[Revision]) -> bool {
        let test = sibling.parse(revisions);
        test.is_ok_and(|test| self.is_forbidden(&judge(&claimed(test), &self.task(true))))
    }

    /// The verdict of the test as it is.
    pub(crate) fn original(&mut self) -> Judgement {
        let test = claimed(self.source.test.clone());
        let judgement = judge(&test, &self.task(true));
        self.to_finish = matches!(judgement.verdict, Verdict::Stuck(_));
        if let Verdict::Undefined(why) = &judgement.verdict {
            self.undefined = Some(why.clone());
        }
        self.stuck = judgement.found.seen.stuck.is_some() && !self.to_finish;
        judgement
    }

    /// The outcomes of the test as it is; `None` if they are not known. What was found of it before may end at the first
    /// execution that decides its verdict.
    pub(crate) fn original_outcomes(&mut self) -> Option<Outcomes> {
        let outcomes = self.all_outcomes(&[])?;
        self.stuck |= outcomes.hangs && !self.to_finish;
        Some(outcomes)
    }

    /// Whether the test as it is has a meaning, and some execution of it finishes.
    pub(crate) fn is_defined(&self) -> bool {
        self.undefined.is_none() && !self.to_finish
    }

    /// Whether a changed test may have executions that never finish.
    pub(crate) fn may_hang(&self) -> bool {
        self.stuck
    }

    /// What follows judges what was found again, or searches on.
    pub(crate) fn confirm(&mut self, confirms: bool) {
        self.confirms = confirms;
    }

    fn end(&self) -> Option<Deadline> {
        if self.confirms { self.options.until } else { self.until }
    }

    fn task(&self, verdict_only: bool) -> Task<'q> {
        // The portfolio has limits of its own.
        let limited = self.options.work.is_some();
        Task {
            engines: if limited { vec![ENGINES[0]] } else { ENGINES.to_vec() },
            portfolio: !limited,
            bound: self.options.bound,
            until: self.end(),
            memory: self.options.memory,
            work: self.options.work,
            counts: false,
            verdict_only,
            property: self.options.property,
            ..Task::new(self.options.model)
        }
    }

    /// Whether a test with these edits forbids the outcome, and still has others. What is not known is `false`,
    /// and the limit is noted.
    pub(crate) fn forbids(&mut self, edits: &[&ProgramEdit]) -> bool {
        match self.asked_with(edits, &self.task(true)) {
            Ok(answer) => answer,
            Err(Some(why)) => {
                self.answers.insert(revisions_of(edits.iter().copied()), false);
                self.limit.get_or_insert(RepairLimit::Undecided(why));
                false
            }
            Err(None) => false,
        }
    }

    /// The same, if it is known soon.
    pub(crate) fn forbids_soon(&mut self, edits: &[&ProgramEdit]) -> Option<bool> {
        self.asked_with(edits, &self.soon()).ok()
    }

    fn soon(&self) -> Task<'q> {
        let work = Some(self.options.work.unwrap_or(SOON).min(SOON));
        let (engines, portfolio) = (vec![ENGINES[0]], false);
        Task { work, engines, portfolio, ..self.task(true) }
    }

    /// What is wrong with a test with these edits, if that is known soon.
    pub(crate) fn remains(&mut self, edits: &[&ProgramEdit]) -> Remaining {
        let revisions = revisions_of(edits.iter().copied());
        if self.is_at_end() {
            return Remaining::Unknown;
        }
        let Some((test, judgement)) = self.judge_with(&revisions, &self.soon()) else {
            return Remaining::Unknown;
        };
        let found = &judgement.found;
        if self.is_forbidden(&judgement) && self.forbids_siblings(&revisions) {
            return Remaining::Nothing;
        }
        let hangs = found.seen.stuck.is_some();
        let fault = match &judgement.verdict {
            Verdict::Undecided(_) | Verdict::Unsupported(_) => return Remaining::Unknown,
            Verdict::Undefined(why) => {
                let undefined = found.seen.undefined.as_ref();
                let places = undefined.map_or(&[][..], |undefined| &undefined.where_);
                let places: Vec<String> = places.iter().map(|at| place(&test, *at)).collect();
                format!("{why} {}", places.join(" "))
            }
            Verdict::Stuck(why) => why.clone(),
            Verdict::Fails if !self.options.property.is_of_outcomes() => {
                let race = found.seen.races.first();
                let places = race.map(|race| [race.first, race.second].map(|at| place(&test, at)));
                format!("{places:?}")
            }
            Verdict::Fails => {
                let outcomes = found.outcomes.keys();
                let unwanted = test.quantifier != Quantifier::ForAll;
                let decides =
                    |outcome: &&Vec<_>| test.proposition.holds(&test.program, outcome) == unwanted;
                let texts: Vec<String> =
                    outcomes.filter(decides).map(|one| test.display_outcome(one)).collect();
                format!("outcome {}", texts.join(" "))
            }
            // Something never finishes, or a copy of the code has the outcome.
            Verdict::Holds => String::new(),
        };
        Remaining::Fault(TestFault { hangs, text: fault })
    }

    /// A test with these edits, and its judgement; `None` if there is no such test.
    fn judge_with(&mut self, revisions: &[Revision], task: &Task<'_>) -> Option<(Test, Judgement)> {
        self.asked += 1;
        let test = claimed(self.source.parse(revisions).ok()?);
        let judgement = judge(&test, task);
        Some((test, judgement))
    }

    /// Whether a test with these edits has no meaning, for another reason than the test as it is, if that is known soon.
    pub(crate) fn undefines(&mut self, edits: &[&ProgramEdit]) -> bool {
        if self.is_at_end() {
            return false;
        }
        let changed = self.judge_with(&revisions_of(edits.iter().copied()), &self.soon());
        changed.is_some_and(|(_, judgement)| {
            matches!(judgement.verdict, Verdict::Undefined(why) if self.undefined.as_ref() != Some(&why))
        })
    }

    /// Whether a test with these edits forbids the outcome, if the task decides it: otherwise why not, or nothing at the end
    /// of the search.
    fn asked_with(
        &mut self,
        edits: &[&ProgramEdit],
        task: &Task<'_>,
    ) -> Result<bool, Option<String>> {
        let revisions = revisions_of(edits.iter().copied());
        if let Some(&answer) = self.answers.get(&revisions) {
            return Ok(answer);
        }
        if self.is_at_end() {
            return Err(None);
        }
        let answer = match self.judge_with(&revisions, task) {
            Some((_, Judgement { verdict: Verdict::Undecided(why), .. })) => {
                return Err(Some(why));
            }
            Some((_, judgement)) => {
                self.is_forbidden(&judgement) && self.forbids_siblings(&revisions)
            }
            None => false,
        };
        self.answers.insert(revisions, answer);
        Ok(answer)
    }

    /// Whether the search has to end; says why.
    pub(crate) fn is_at_end(&mut self) -> bool {
        let limit = if self.asked >= self.options.questions {
            RepairLimit::Questions(self.options.questions)
        } else if self.end().is_some_and(|until| until.is_over()) {
            RepairLimit::Time
        } else {
            return false;
        };
        self.limit = Some(limit);
        true
    }

    /// Whether no more tests are judged.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.limit, Some(RepairLimit::Questions(_) | RepairLimit::Time))
    }

    fn is_forbidden(&self, judgement: &Judgement) -> bool {
        let found = &judgement.found;
        let wanted = match judgement.verdict {
            Verdict::Holds => true,
            // What the test demands, it demands of a program that finishes, too.
            Verdict::Fails => self.to_finish && self.source.test.quantifier == Quantifier::Exists,
            Verdict::Undefined(_)
            | Verdict::Stuck(_)
            | Verdict::Undecided(_)
            | Verdict::Unsupported(_) => false,
        };
        wanted
            && judgement.disagreement.is_none()
            && (!self.options.property.is_of_outcomes() || !found.outcomes.is_empty())
            && (self.stuck || found.seen.stuck.is_none())
    }

    /// The judgement of all chosen engines.
    pub(crate) fn verify(&self, revisions: &[Revision]) -> Verified {
        let Ok(test) = self.source.parse(revisions) else { return Verified::default() };
        let engines = self.options.engines.clone();
        let task = Task { engines, portfolio: false, ..self.task(true) };
        let judgement = judge(&claimed(test), &task);
        let unfinished = &judgement.unfinished;
        let engines = judgement.engines.iter().filter(|engine| !unfinished.contains(engine));
        Verified {
            forbidden: self.is_forbidden(&judgement),
            engines: engines.copied().collect(),
            disagreement: judgement.disagreement,
        }
    }

    /// The readings by which a test with these edits forbids the outcome.
    pub(crate) fn resting(&self, revisions: &[Revision]) -> Resting {
        let alternatives = self.options.alternatives;
        if alternatives.is_empty() {
            return Resting::default();
        }
        let Ok(test) = self.source.parse(revisions) else { return Resting::default() };
        let task = Task { rests: true, alternatives, ..self.task(true) };
        judge(&claimed(test), &task).resting.unwrap_or_default()
    }

    /// The outcomes of a test with these edits that are not unwanted; `None` if they are not known.
    pub(crate) fn all_outcomes(&self, revisions: &[Revision]) -> Option<Outcomes> {
        let test = claimed(self.source.parse(revisions).ok()?);
        let task = Task { property: Property::ProgramSpec, ..self.task(false) };
        let judgement = judge(&test, &task);
        if matches!(judgement.verdict, Verdict::Stuck(_)) {
            let (wanted, notes) = (Vec::new(), Vec::new());
            return Some(Outcomes { wanted, hangs: true, holds: false, notes });
        }
        let hangs = judgement.found.seen.stuck.is_some();
        let complete = judgement.found.is_complete();
        let defined = matches!(judgement.verdict, Verdict::Holds | Verdict::Fails);
        let unwanted = test.quantifier != Quantifier::ForAll;
        let any = !self.options.property.is_of_outcomes();
        let outcomes = judgement.found.outcomes.keys();
        let wanted = outcomes
            .filter(|outcome| any || test.proposition.holds(&test.program, outcome) != unwanted);
        let wanted = wanted.map(|outcome| test.display_outcome(outcome)).collect();
        let notes = exits(&judgement);
        let holds = judgement.verdict == Verdict::Holds;
        (complete && defined).then_some(Outcomes { wanted, hangs, holds, notes })
    }

    /// Whether edits let a wait be over before anything has arrived, by a parity at the wait or where its register has it
    /// from.
    pub(crate) fn is_idle(&self, edits: &[ProgramEdit]) -> bool {
        let of_parity =
            |edit: &ProgramEdit| matches!(edit.kind, EditKind::Parity | EditKind::PhaseWait);
        let before = || *self.idle_waits.get_or_init(|| idle_waits(&self.source.test.program));
        edits.iter().any(of_parity)
            && self
                .source
                .parse(&revisions_of(edits))
                .is_ok_and(|changed| idle_waits(&changed.program) > before())
    }

    /// Whether every execution is to finish, whatever its outcome.
    pub(crate) fn is_of_termination(&self) -> bool {
        self.options.property == Property::Termination
    }
}

/// What is wrong with a changed test.
pub(crate) enum Remaining {
    Nothing,
    Fault(TestFault),
    Unknown,
}

/// A fault of a test.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TestFault {
    /// Whether some execution never finishes.
    pub(crate) hangs: bool,
    /// A text that differs if another thing is wrong.
    text: String,
}

/// An instruction of a test, as it may be found again after an edit: those that are inserted have other texts, mostly.
fn place(test: &Test, at: (ThreadId, u16)) -> String {
    let lines = &test.program.threads[usize::from(at.0.0)].lines;
    let written = |line: usize| lines.get(line).map_or("", |line| &line.text);
    let own = usize::from(at.1);
    let before = (0..own).filter(|&line| written(line) == written(own)).count();
    format!("{}:{}:{before}", at.0.0, written(own))
}

/// The outcomes of a test.
pub(crate) struct Outcomes {
    /// Those that are not unwanted, as text.
    pub(crate) wanted: Vec<String>,
    /// Whether some executions never finish.
    pub(crate) hangs: bool,
    /// Whether they are as the condition of the test says.
    pub(crate) holds: bool,
    /// The barriers that do not wait for a thread, since it may have exited.
    pub(crate) notes: Vec<Note>,
}

/// The barriers that do not wait for a thread, since it may have exited (reading R30): on a GPU they may wait for ever.
pub(crate) fn exits(judgement: &Judgement) -> Vec<Note> {
    let of = judgement.notes.iter().filter(|note| note.code == "exited-thread");
    of.cloned().collect()
}

/// What the engines say of a proposal.
#[derive(Default)]
pub(crate) struct Verified {
    pub(crate) forbidden: bool,
    /// Those that came to an end.
    pub(crate) engines: Vec<&'static str>,
    pub(crate) disagreement: Option<String>,
}

/// The test that says that its outcome is unwanted.
fn claimed(mut test: Test) -> Test {
    if test.quantifier == Quantifier::Exists {
        test.quantifier = Quantifier::NotExists;
    }
    test
}

/// The reason why a test cannot be changed; `None` if it can.
pub(crate) fn excluded(source: &SourceTest) -> Option<String> {
    if source.test.sass.is_some() {
        return Some("tests in SASS are not changed".to_owned());
    }
    if source.test.dialect == litmus::Dialect::Cxx {
        return Some("tests in C++ are not changed".to_owned());
    }
    None
}

/// Why the verdict of a test is not an answer: it is not judged, or no execution of it finishes.
pub(crate) fn unanswered(judgement: &Judgement) -> Option<String> {
    match &judgement.verdict {
        Verdict::Holds | Verdict::Fails | Verdict::Undefined(_) => None,
        Verdict::Unsupported(why) => Some(format!("it is unsupported: {why}")),
        Verdict::Stuck(why) => Some(why.clone()),
        Verdict::Undecided(why) => Some(format!("it is undecided: {why}")),
    }
}
