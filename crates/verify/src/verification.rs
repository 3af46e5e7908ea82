//! Judges a launch: its assertions, its races, and whether it finishes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use engine::clock::Deadline;
use engine::{ExecutionFacts, Limit};
use explore::Exploration;
use itertools::Itertools;
use judge::explain::broken_rule;
use judge::{CLUSTER_EXITED, Judgement, Property, Task, Verdict, may_have_uninitialised_reads};
use litmus::Test;
use model::isa::asynchronous::AsyncMisuse;
use model::isa::bar::BarrierMisuse;
use model::program::{Observed, Stays, Stuck, ThreadId};
use model::value::Value;
use text::Diagnostic;

use crate::absent::left_out_value;
use crate::arrivals::OpenPhases;
use crate::columns::Composed;
use crate::compose::{ComposedLaunch, launched};
use crate::deeper::{DeepAnswer, deeper};
use crate::executions::{ShownExecution, executions, explained};
use crate::finding::{FindingKind, FindingPlace, KernelFinding};
use crate::lanes::{LeftOut, REMEDY, opcode};
use crate::launch::{LaunchError, LaunchQuestion, LaunchSpec};
use crate::module::KernelModule;
use crate::other_launches::OtherLaunch;
use crate::repairs::{EditedLaunch, KernelRepair, RepairEffort};
use crate::unknown::{UncomputedValues, UnknownSource, opcode_of};
use crate::unrepaired::FruitlessSearch;
use crate::volatile::as_volatile;
use crate::weaker::KernelWeakening;
use crate::{machine_runs, outside, resident, unrepaired};

/// What was found of a launch. Reading R116.
#[derive(Debug, Default)]
pub struct Verification {
    pub findings: Vec<KernelFinding>,
    /// What was not looked at: the property, and why.
    pub undecided: Vec<Undecided>,
    /// Why accesses are not ordered, a sentence each.
    pub reasons: Vec<String>,
    /// Edits of the kernel, of which each suffices for a property that it lacks.
    pub repairs: Vec<KernelRepair>,
    /// Why there is none.
    pub unrepaired: Option<String>,
    /// What the launch does not need, if that was asked.
    pub weaker: Option<KernelWeakening>,
    /// An execution for each property that it lacks, if that was asked.
    pub executions: Vec<ShownExecution>,
    /// What else is to be said of the launch.
    pub(crate) notes: BTreeSet<String>,
    /// Two engines differ: a bug of the checker.
    pub disagreement: Option<String>,
    pub seconds: f64,
}

/// A property that is not decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    pub property: Property,
    pub why: String,
    /// The limit of an engine that was reached, if that is why.
    pub limit: Option<Limit>,
    /// Whether it is about the assertions alone, and not about barriers and addresses, which the same property has.
    pub of_assertion: bool,
}

impl Undecided {
    fn new(property: Property, why: impl Into<String>) -> Undecided {
        Undecided { property, why: why.into(), limit: None, of_assertion: false }
    }
}

/// Why a launch is not judged.
#[derive(Debug)]
pub enum VerifyError {
    /// The launch, or what a kernel uses.
    Launch(Vec<LaunchError>),
    /// The composed text is not a test: the kernel uses something that no test expresses.
    Test(Vec<Diagnostic>),
}

impl From<Vec<LaunchError>> for VerifyError {
    fn from(errors: Vec<LaunchError>) -> VerifyError {
        VerifyError::Launch(errors)
    }
}

/// What is looked for besides findings.
#[derive(Clone, Copy, Debug)]
pub struct AdviceOptions<'a> {
    pub effort: RepairEffort,
    /// Whether to look for what a clean launch does not need.
    pub weaken: bool,
    /// Whether to show executions without what the launch lacks.
    pub executions: bool,
    /// Other launches of the module, which edits are to suit, too.
    pub others: &'a [OtherLaunch<'a>],
}

impl From<RepairEffort> for AdviceOptions<'_> {
    fn from(effort: RepairEffort) -> Self {
        AdviceOptions { effort, weaken: false, executions: false, others: &[] }
    }
}

/// Judges a launch of kernels of a module by its test, which is given with the answer.
///
/// # Errors
/// If the launch has no test.
pub fn verify(
    module: &KernelModule<'_>,
    launch: &LaunchSpec,
    task: &Task<'_>,
    advice: &AdviceOptions<'_>,
) -> Result<(Composed, Verification), VerifyError> {
    let start = Instant::now();
    let mut answered = answered(module, launch, task)?;
    let mut verification = std::mem::take(&mut answered.verification);
    let AnsweredLaunch { composed, test, lacking, .. } = &answered;
    let task = &Task { bound: lacking.bound, ..task.clone() };
    let edited = |time| EditedLaunch::new(module, launch, &answered, task, advice, time);
    let brief = advice.effort.work.is_some();
    let mut search = FruitlessSearch::default();
    if lacking.has_meaning {
        if lacking.properties.contains(&Property::NoDataRace) {
            verification.reasons = reasons(composed, test, task);
        }
        let time = if brief { Some(ADVICE) } else { task.timeout };
        verification.repairs = edited(time).repairs(&lacking.properties, &mut search);
        if brief {
            verification.repairs.truncate(1);
        }
    }
    if verification.repairs.is_empty() && !verification.findings.is_empty() {
        let sought = lacking.has_meaning.then_some(&lacking.properties[..]);
        verification.unrepaired =
            unrepaired::reason(&verification.findings, sought, &search, brief);
    }
    if advice.weaken {
        verification.weaker = Some(edited(task.timeout).weaker(&verification));
    }
    if advice.executions {
        verification.executions = executions(composed, test, &verification.findings, task);
    }
    verification.seconds = start.elapsed().as_secs_f64();
    Ok((answered.composed, verification))
}

/// A launch with its answer, without advice.
pub(crate) struct AnsweredLaunch {
    pub(crate) composed: Composed,
    /// With the races that do not count.
    pub(crate) test: Test,
    pub(crate) verification: Verification,
    lacking: LackedProperties,
}

/// All questions about a launch.
pub(crate) fn answered(
    module: &KernelModule<'_>,
    launch: &LaunchSpec,
    task: &Task<'_>,
) -> Result<AnsweredLaunch, VerifyError> {
    let start = Instant::now();
    // One limit of time is of the whole launch, with its test; what a search leaves, those behind it have.
    let task = &Task { until: task.timeout.map(Deadline::after).or(task.until), ..task.clone() };
    let ComposedLaunch { mut composed, test } = launched(module, launch)?;
    let mut test = test.map_err(VerifyError::Test)?;
    let uncomputed = UncomputedValues::left_out_of(&mut test, &composed);
    let mut all = Verification::default();
    let reader = Reader { composed: &composed, test: &test, uncomputed: &uncomputed };
    let lacking = all.judge(&reader, launch, task);
    let open = |property| all.undecided.iter().any(|of| of.property == property);
    if all.findings.is_empty() && (open(Property::ProgramSpec) || open(Property::Termination)) {
        let runs = machine_runs::run(&test, task);
        all.findings.extend(runs.iter().flat_map(|runs| reader.of_machine(runs)));
    }
    let has_meaning =
        lacking.has_meaning && !all.findings.iter().any(|finding| finding.kind.takes_meaning());
    if has_meaning && launch.questions.contains(&LaunchQuestion::Uninitialised) {
        let alone = launch.questions.len() == 1;
        all.judge_uninitialised(&reader, alone, task);
    }
    if let Some(resident) =
        launch.resident.filter(|_| launch.questions.contains(&LaunchQuestion::Hang))
    {
        let found = resident::hang(module, launch, resident, task)?;
        if !found.complete && found.hang.is_none() {
            let why = "not every set of resident CTAs was decided";
            all.undecided.push(Undecided::new(Property::Termination, why));
        }
        all.findings.extend(found.hang);
    }
    let known = all.undecided.iter().any(|of| of.property == Property::ProgramSpec);
    if let Some(source) = uncomputed.of_assertion.filter(|_| lacking.has_meaning && !known) {
        let depends = "and the assertion depends on that";
        let undecided = reader.not_computed(Property::ProgramSpec, source, depends);
        all.undecided.push(Undecided { of_assertion: true, ..undecided });
    }
    let open = composed.objects.open.as_ref().and_then(OpenPhases::without_finding);
    if let Some(why) = open.filter(|_| all.findings.is_empty() && all.undecided.is_empty()) {
        let asked = [Property::Termination, Property::NoDataRace, Property::ProgramSpec];
        let asked = asked.into_iter().filter(|of| launch.asks(*of));
        all.undecided.extend(asked.map(|property| Undecided::new(property, why)));
    }
    all.undecided.retain(|of| !all.findings.iter().any(|found| found.kind.decides(of.property)));
    all.findings = merged(all.findings);
    composed.notes.extend(std::mem::take(&mut all.notes));
    all.seconds = start.elapsed().as_secs_f64();
    test.program.exempt_races.clone_from(&lacking.exempt_races);
    Ok(AnsweredLaunch { composed, test, verification: all, lacking })
}

impl Verification {
    /// Whether every question was answered, and nothing found.
    pub(crate) fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.undecided.is_empty() && self.disagreement.is_none()
    }
}

/// The properties that a launch does not have.
#[derive(Default)]
struct LackedProperties {
    properties: Vec<Property>,
    /// Whether the document gives the kernel a meaning, or a race alone takes it away.
    has_meaning: bool,
    /// The loop bound that the answers took.
    bound: u32,
    exempt_races: BTreeSet<[(ThreadId, u16); 2]>,
}

/// What is known of one property.
enum Told {
    /// The launch has it, or this is not known.
    Nothing,
    Lacks,
    /// The program has no meaning, so that nothing is to be said of other properties. `race`: for a race.
    Undefined {
        race: bool,
    },
}

impl Verification {
    /// Judges one property after another.
    fn judge(
        &mut self,
        reader: &Reader<'_>,
        launch: &LaunchSpec,
        task: &Task<'_>,
    ) -> LackedProperties {
        let races = Property::NoDataRace;
        let mut lacking = LackedProperties {
            has_meaning: true,
            bound: task.bound,
            ..LackedProperties::default()
        };
        // Of an earlier question than whether every execution finishes.
        let mut stuck = None;
        // One thread alone has no race.
        let several = reader.test.program.threads.len() > 1;
        let may_lack = |property| several || property != races;
        // Which rules are broken without consequence in the model shows when every outcome is looked for.
        let exits = reader.test.program.has_remote_shared_memory();
        let all = [Property::ProgramSpec, races, Property::Termination];
        let asked: Vec<Property> = all.into_iter().filter(|of| launch.asks(*of)).collect();
        // Runs of the machine show what assertions and threads do, and have a share, too.
        let of_machine = if asked == [races] { 0.0 } else { MACHINE_SHARE };
        for (at, &property) in asked.iter().enumerate() {
            let left = u32::try_from(asked.len() - at).expect("few properties");
            let share = 1.0 / (f64::from(left) + of_machine);
            let task = Task {
                timeout: task.until.map(|until| until.left().mul_f64(share)),
                property,
                verdict_only: property != races && !exits,
                races: property == races,
                ..task.clone()
            };
            let DeepAnswer { judgement, bound } = match property {
                Property::NoDataRace => {
                    self.race_judgement(reader, &task, &mut lacking.exempt_races)
                }
                Property::ProgramSpec | Property::Termination | Property::NoUninitialisedRead => {
                    self.judgement(reader, &task)
                }
            };
            lacking.bound = lacking.bound.max(bound);
            let before = self.findings.len();
            if let Verdict::Stuck(_) = judgement.verdict {
                let decided = reader.not_decided(Property::Termination).is_none();
                stuck = reader.stuck(&judgement.found.seen).and_then(Result::ok);
                stuck = stuck.filter(|_| decided);
            }
            match self.add(reader, property, &judgement) {
                Told::Nothing => {}
                Told::Lacks => lacking.properties.push(property),
                Told::Undefined { race } => {
                    lacking.has_meaning = race;
                    lacking.properties.push(property);
                    if let [finding] = &mut self.findings[before..] {
                        reader.name_race(&judgement.found.seen, finding, &task);
                    }
                    // Where the reason is not one of the kernel, the questions behind this one stay open, too.
                    if self.findings.len() == before {
                        let uninitialised = Property::NoUninitialisedRead;
                        let is_open = !race
                            && launch.asks(uninitialised)
                            && may_have_uninitialised_reads(&reader.test.program);
                        let last = is_open.then_some(uninitialised);
                        self.leave_open(
                            property,
                            asked[at + 1..].iter().copied().chain(last).filter(|of| may_lack(*of)),
                        );
                    }
                    break;
                }
            }
        }
        let hang = self.findings.iter().any(|finding| finding.kind == FindingKind::Hang);
        self.findings.extend(stuck.filter(|_| !hang));
        lacking
    }

    /// Leaves other properties undecided for the reason that one is.
    fn leave_open(&mut self, property: Property, others: impl Iterator<Item = Property>) {
        let known = self.undecided.iter().find(|of| of.property == property).cloned();
        let of = |other| known.clone().map(|known| Undecided { property: other, ..known });
        self.undecided.extend(others.filter_map(of));
    }

    /// The answer to a question. The first disagreement of engines is kept.
    pub(crate) fn judgement(&mut self, reader: &Reader<'_>, task: &Task<'_>) -> DeepAnswer {
        let answer = deeper(reader.test, task);
        if self.disagreement.is_none() {
            self.disagreement.clone_from(&answer.judgement.disagreement);
        }
        answer
    }

    /// Adds what was found of one property.
    fn add(&mut self, reader: &Reader<'_>, property: Property, judgement: &Judgement) -> Told {
        let before = self.findings.len();
        let seen = &judgement.found.seen;
        match &judgement.verdict {
            Verdict::Undefined(reason) => {
                let finding = reader.undefined(reason, seen);
                let race = finding.kind == FindingKind::DataRace;
                let mut at = seen.undefined.iter().flat_map(|undefined| &undefined.where_);
                if let Some(source) = at.find_map(|at| reader.uncomputed.decides(*at)) {
                    self.undecided.push(reader.not_computed(property, source, OF_THREADS));
                    return Told::Undefined { race };
                }
                match reader.unknown(reason, &finding) {
                    Some(why) => self.undecided.push(Undecided::new(property, why)),
                    None => self.findings.push(finding),
                }
                return Told::Undefined { race };
            }
            Verdict::Unsupported(why) => {
                self.undecided.push(Undecided::new(property, why));
                return Told::Nothing;
            }
            Verdict::Undecided(why) => {
                let limit = judgement.found.limit.filter(|limit| why.contains(limit.text()));
                self.undecided.push(Undecided { limit, ..Undecided::new(property, why) });
            }
            Verdict::Fails if property == Property::ProgramSpec => {
                self.findings.push(reader.assertion(judgement));
            }
            // Whether every execution finishes is the last question.
            Verdict::Holds | Verdict::Fails | Verdict::Stuck(_) => {}
        }
        let open = reader.not_decided(property);
        if property == Property::NoDataRace {
            let sorted = reader.sorted_races(seen);
            self.findings.extend(sorted.reported.iter().map(|race| reader.race(*race)));
            let known = self.undecided.iter().any(|of| of.property == property);
            self.undecided.extend(sorted.open.filter(|_| !known));
            self.notes.extend(sorted.notes);
        } else if property == Property::Termination {
            match reader.stuck(seen).filter(|_| open.is_none()) {
                Some(Ok(hang)) => self.findings.push(hang),
                Some(Err(why)) => self.undecided.push(Undecided::new(property, why)),
                None => {}
            }
        } else if property == Property::NoUninitialisedRead {
            self.add_uninitialised(reader, seen);
        }
        let lacks = self.findings.len() > before;
        if !self.undecided.iter().any(|of| of.property == property) {
            self.undecided.extend(open);
        }
        let exited = seen.warnings.iter().filter(|warning| warning.name == CLUSTER_EXITED);
        self.findings.extend(exited.map(|raised| KernelFinding {
            kind: FindingKind::Undefined,
            message: "shared memory of a CTA of the cluster that may have exited is accessed (reading R114)"
                .to_owned(),
            places: vec![reader.place(raised.at.0, raised.at.1)],
            like: 0,
        }));
        if lacks { Told::Lacks } else { Told::Nothing }
    }
}

impl Verification {
    /// Judges reads of memory that nobody has written, in the time that other questions leave. `alone`: whether there are no
    /// others, so that this one tells that the kernel has no meaning.
    fn judge_uninitialised(&mut self, reader: &Reader<'_>, alone: bool, task: &Task<'_>) {
        if !alone && !may_have_uninitialised_reads(&reader.test.program) {
            return;
        }
        let property = Property::NoUninitialisedRead;
        let timeout = task.until.map(|until| until.left());
        let task = Task { timeout, property, verdict_only: true, races: false, ..task.clone() };
        let answer = self.judgement(reader, &task);
        self.add(reader, property, &answer.judgement);
    }

    /// Adds the reads of memory that nobody has written. One that races is told as that.
    fn add_uninitialised(&mut self, reader: &Reader<'_>, seen: &ExecutionFacts) {
        let racing = self.findings.iter().filter(|finding| finding.kind.is_race());
        let racing: BTreeSet<FindingPlace> =
            racing.flat_map(|finding| &finding.places).cloned().collect();
        let decided =
            seen.uninitialised.iter().filter(|of| !reader.uncomputed.decide_access(of.at));
        for read in decided {
            let place = reader.place(read.at.0, read.at.1);
            if has_descriptors(&place.text) {
                let property = Property::NoUninitialisedRead;
                self.undecided.push(Undecided::new(property, DESCRIPTOR));
            } else if !racing.contains(&place) {
                let variable = &reader.test.program.variables[usize::from(read.variable.0)];
                let (name, space) = (&variable.name, variable.space.name());
                self.findings.push(KernelFinding {
                    kind: FindingKind::Uninitialised,
                    message: format!(
                        "a read may return what `{name}` in .{space} memory holds before anybody has written it"
                    ),
                    places: vec![place],
                    like: 0,
                });
            }
        }
        self.undecided.dedup();
    }
}

/// Why nothing is said of an access by a descriptor.
const DESCRIPTOR: &str = "the address in a matrix descriptor is not followed";

/// Why nothing is said of a tile that begins elsewhere.
const OF_TILE: &str =
    "a tile of a tensor begins at no multiple of its width, or of 16 bytes, which is not followed";

/// Whether instructions copy tiles of a tensor.
fn is_of_tile(places: &[FindingPlace]) -> bool {
    places.iter().any(|place| place.text.contains(lift::module::TILE))
}

/// Whether operands of an instruction are descriptors of matrices in shared memory.
fn has_descriptors(text: &str) -> bool {
    let opcode = opcode(text);
    ["wgmma.mma_async", "tcgen05.mma", "tcgen05.cp"].iter().any(|of| opcode.starts_with(of))
}

/// Findings at the same instructions, of several threads, as one.
fn merged(mut findings: Vec<KernelFinding>) -> Vec<KernelFinding> {
    // Two properties may show the same.
    findings.sort();
    findings.dedup();
    let mut merged: BTreeMap<(FindingKind, BTreeSet<usize>, String), KernelFinding> =
        BTreeMap::new();
    for finding in findings {
        let lines = finding.places.iter().map(|place| place.line).collect();
        let message = if finding.kind.is_race() { String::new() } else { finding.message.clone() };
        merged
            .entry((finding.kind, lines, message))
            .and_modify(|known| known.like += 1)
            .or_insert(finding);
    }
    merged.into_values().collect()
}

/// What explanations and repairs that nobody asked for may take.
pub(crate) const ADVICE: Duration = Duration::from_secs(2);

/// The time of runs of the machine, as a part of that for a question.
const MACHINE_SHARE: f64 = 0.25;

/// The first reasons are those of accesses that read from each other.
const MOST_REASONS: usize = 2;

/// What depends on a value that is not computed.
const OF_THREADS: &str = "and what the threads access or wait for depends on that";

/// Findings of a test.
pub(crate) struct Reader<'r> {
    pub(crate) composed: &'r Composed,
    pub(crate) test: &'r Test,
    pub(crate) uncomputed: &'r UncomputedValues,
}

/// Why accesses are not ordered, of threads as the launch names them.
fn reasons(composed: &Composed, test: &Test, task: &Task<'_>) -> Vec<String> {
    let explained = explained(test, Property::NoDataRace, task);
    let reasons = explained.map_or(Vec::new(), |explained| explained.reasons);
    let named = reasons.iter().map(|reason| composed.with_thread_names(reason));
    // Reads of one address in a loop have one reason.
    named.unique().take(MOST_REASONS).collect()
}

impl Reader<'_> {
    pub(crate) fn place(&self, thread: ThreadId, line: u16) -> FindingPlace {
        let column = usize::from(thread.0);
        let of_test = self.test.line_number(thread, line).unwrap_or(0);
        let of = &self.test.program.threads[column];
        FindingPlace {
            column: Some(column),
            line: self.composed.module_line(column, of_test).unwrap_or(0),
            text: if self.composed.is_plain(column, of_test) {
                as_volatile(&of.lines[usize::from(line)].text)
            } else {
                of.lines[usize::from(line)].text.clone()
            },
        }
    }

    pub(crate) fn is_plain(&self, (thread, line): (ThreadId, u16)) -> bool {
        let of_test = self.test.line_number(thread, line);
        of_test.is_some_and(|of_test| self.composed.is_plain(thread.0.into(), of_test))
    }

    fn undefined(&self, reason: &str, seen: &ExecutionFacts) -> KernelFinding {
        let places = || seen.undefined.iter().flat_map(|undefined| &undefined.where_);
        let rule = broken_rule(reason).map_or(String::new(), |rule| format!(": {rule}"));
        let kind = FindingKind::of_undefined(reason);
        let outside = places().next().filter(|_| kind == FindingKind::OutOfBounds);
        let nearest = self.nearest(outside.copied());
        KernelFinding {
            kind,
            message: format!("{reason}{rule}{nearest}"),
            places: places().map(|&(thread, line)| self.place(thread, line)).collect(),
            like: 0,
        }
    }

    /// Which variable is nearest to an access outside of memory, for the end of a message; nothing if that is not known.
    fn nearest(&self, at: Option<(ThreadId, u16)>) -> String {
        let nearest =
            at.and_then(|(thread, line)| outside::outside(&self.test.program, thread, line));
        nearest.map_or(String::new(), |nearest| format!(": {nearest}"))
    }

    /// Why an undefined execution says nothing of the kernel.
    fn unknown(&self, reason: &str, finding: &KernelFinding) -> Option<String> {
        // The launch lacks lanes that the kernel has.
        let absent = finding.places.first().filter(|place| {
            reason == BarrierMisuse::Absent.text()
                && place.column.is_some_and(|column| self.composed.leaves_out_lanes(column))
        });
        if let Some(place) = absent {
            return Some(LeftOut::unknown(&place.text));
        }
        if reason == AsyncMisuse::Uninitialized.text()
            && self.composed.objects.initialized.is_some()
        {
            return self.composed.objects.initialized.clone();
        }
        if finding.kind == FindingKind::Misaligned && is_of_tile(&finding.places) {
            return Some(OF_TILE.to_owned());
        }
        // A descriptor of a matrix is more than the address that a test has in its place.
        let described = finding.kind == FindingKind::OutOfBounds
            && finding.places.iter().any(|place| has_descriptors(&place.text));
        described.then(|| DESCRIPTOR.to_owned())
    }

    /// Why a property is not decided: `depends` says what depends on a value that is not computed.
    pub(crate) fn not_computed(
        &self,
        property: Property,
        source: UnknownSource,
        depends: &str,
    ) -> Undecided {
        let why = match source {
            UnknownSource::Line { thread, line } => {
                let text = &self.test.program.threads[usize::from(thread.0)].lines;
                let name = opcode(&text[usize::from(line)].text);
                let line = self.place(thread, line).line;
                if let Some((of, instruction)) = left_out_value(name) {
                    format!(
                        "{of} is left out: the value of `{instruction}` (line {line}) is not computed, {depends}: {REMEDY}"
                    )
                } else {
                    let opcode = opcode_of(name);
                    format!(
                        "`{opcode}` (line {line}) is not computed: its results are any numbers, {depends}"
                    )
                }
            }
            UnknownSource::Register { thread, register } => {
                let column = usize::from(thread.0);
                let of = &self.test.program.threads[column].registers[usize::from(register.0)];
                let read = self.composed.any_number(column, &of.name);
                let read = read.expect("a register of which nothing is known is such a read");
                format!(
                    "`%{}` (line {}) is any number at each read, {depends}",
                    read.name, read.line
                )
            }
        };
        Undecided::new(property, why)
    }

    /// Why a property is not decided, if what is not computed decides what the launch does.
    fn not_decided(&self, property: Property) -> Option<Undecided> {
        let threads = self.test.program.threads.len();
        let source = self.uncomputed.decide(property, threads)?;
        Some(self.not_computed(property, source, OF_THREADS))
    }

    fn assertion(&self, judgement: &Judgement) -> KernelFinding {
        let outcome = judgement.found.outcomes.keys().find(|outcome| self.is_wrong(outcome));
        self.wrong("an execution", outcome.map(Vec::as_slice))
    }

    /// An assertion that does not hold at the end of `what`, or a trap on its way.
    fn wrong(&self, what: &str, outcome: Option<&[Value]>) -> KernelFinding {
        let kind = FindingKind::Assert;
        if let Some(line) = outcome.and_then(|outcome| self.trap(outcome)) {
            let message =
                "a thread can run into a trap, which a failed `assert` is, too (reading R112)";
            let places = vec![FindingPlace { column: None, line, text: "trap".to_owned() }];
            return KernelFinding { kind, message: message.to_owned(), places, like: 0 };
        }
        let ends = outcome.map_or(String::new(), |outcome| {
            format!(": {what} ends with {}", self.composed.outcome_in_words(self.test, outcome))
        });
        let message = format!("the assertion can be false{ends}");
        KernelFinding { kind, message, places: Vec::new(), like: 0 }
    }

    /// The line of the module with the trap that a thread has run into.
    fn trap(&self, outcome: &[Value]) -> Option<usize> {
        let program = &self.test.program;
        let is_trap = |observed: &Observed| match observed {
            Observed::Memory { variable, .. } => {
                program.variables[usize::from(variable.0)].name == lift::module::TRAP
            }
            Observed::Register { .. } => false,
        };
        let at = program.observed.iter().position(is_trap)?;
        usize::try_from(outcome[at]).ok().filter(|line| *line > 0)
    }

    /// Whether the assertions do not hold.
    fn is_wrong(&self, outcome: &[Value]) -> bool {
        !self.test.proposition.holds(&self.test.program, outcome)
    }

    /// What runs of the machine show.
    fn of_machine(&self, runs: &Exploration) -> Vec<KernelFinding> {
        let wrong = runs.outcomes.keys().find(|outcome| self.is_wrong(outcome));
        let wrong = wrong.map(|outcome| self.wrong("a run of the machine", Some(outcome)));
        let stays = match (&runs.fault_at, &runs.stuck_at) {
            (Some(stuck), _) => {
                let faults = stuck.iter().filter(|stuck| stuck.why == Stays::Faults);
                let faults: Vec<Stuck> = faults.copied().collect();
                let kind = FindingKind::OutOfBounds;
                let nearest = self.nearest(faults.first().map(|fault| (fault.thread, fault.line)));
                let message = format!(
                    "a run of the machine comes to an address outside all buffers{nearest}"
                );
                Some(KernelFinding { kind, message, ..self.staying(&faults) })
            }
            (None, stuck) => stuck.as_ref().and_then(|stuck| self.hang(stuck).ok()),
        };
        // A run may be one with values that no GPU computes.
        let decided = [Property::ProgramSpec, Property::Termination]
            .iter()
            .all(|of| self.not_decided(*of).is_none());
        let decided = decided && self.composed.objects.initialized.is_none();
        let stays = stays.filter(|stays| decided && !is_of_tile(&stays.places));
        wrong.into_iter().chain(stays).collect()
    }

    /// Where threads stay for ever, or why that says nothing of the kernel.
    fn stuck(&self, seen: &ExecutionFacts) -> Option<Result<KernelFinding, String>> {
        seen.stuck.as_ref().map(|stuck| self.hang(stuck))
    }
}
