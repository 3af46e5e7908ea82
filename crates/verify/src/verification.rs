//! Judges a launch: its assertions, its races, and whether it finishes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use engine::ExecutionFacts;
use engine::clock::Deadline;
use explore::Exploration;
use judge::explain::{ExplainOptions, explanation};
use judge::{CLUSTER_EXITED, Judgement, Property, Task, Verdict, judge};
use litmus::Test;
use model::isa::bar::BarrierMisuse;
use model::program::{AccessEvents, Stays, Stuck, ThreadId};
use model::value::Value;
use text::Diagnostic;

use crate::columns::Composed;
use crate::compose::compose;
use crate::finding::{FindingKind, FindingPlace, KernelFinding};
use crate::lanes::{LeftOut, opcode};
use crate::launch::{LaunchError, LaunchSpec};
use crate::module::KernelModule;
use crate::repairs::{self, KernelRepair, RepairEffort};
use crate::{machine_runs, resident};

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
    pub seconds: f64,
}

/// A property that is not decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    pub property: Property,
    pub why: String,
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

/// Judges a launch of kernels of a module by its test, which is given with the answer.
///
/// # Errors
/// If the launch has no test.
pub fn verify(
    module: &KernelModule<'_>,
    launch: &LaunchSpec,
    task: &Task<'_>,
    effort: RepairEffort,
) -> Result<(Composed, Verification), VerifyError> {
    let composed = compose(module, launch)?;
    let mut test = litmus::parse("launch", composed.text.as_bytes()).map_err(VerifyError::Test)?;
    // Most of what a compiler makes of a kernel is about memory that no other thread sees.
    test.program.access_events = AccessEvents::OfInterest;
    let start = Instant::now();
    let mut all = Verification::default();
    let reader = Reader { composed: &composed, test: &test };
    let races = Property::NoDataRace;
    // The properties that the launch does not have.
    let mut lacking: Vec<Property> = Vec::new();
    // Which rules are broken without consequence in the model shows when every outcome is looked for.
    let exits = test.program.has_remote_shared_memory();
    for property in [Property::ProgramSpec, races, Property::Termination] {
        let task = Task {
            property,
            verdict_only: property != races && !exits,
            races: property == races,
            ..task.clone()
        };
        let judgement = judge(&test, &task);
        if all.add(&reader, property, &judgement) {
            lacking.push(property);
        }
    }
    let explained = lacking.contains(&races) && !all.is_undefined();
    if explained {
        all.reasons = reader.reasons(&ExplainTask { property: races, task });
    }
    if !all.is_undefined() {
        all.repairs = repairs::repairs(&composed, &lacking, task, effort);
        if effort.work.is_some() {
            all.repairs.truncate(1);
        }
    }
    let open = |property| all.undecided.iter().any(|of| of.property == property);
    if all.findings.is_empty() && (open(Property::ProgramSpec) || open(Property::Termination)) {
        let runs = machine_runs::run(&test, task);
        all.findings.extend(runs.iter().flat_map(|runs| reader.of_machine(runs)));
    }
    if let Some(resident) = launch.resident {
        let found = resident::hang(module, launch, resident, task)?;
        if !found.complete && found.hang.is_none() {
            let why = "not every set of resident CTAs was decided".to_owned();
            all.undecided.push(Undecided { property: Property::Termination, why });
        }
        all.findings.extend(found.hang);
    }
    all.findings = merged(all.findings);
    all.seconds = start.elapsed().as_secs_f64();
    Ok((composed, all))
}

impl Verification {
    /// Whether the program has no meaning.
    fn is_undefined(&self) -> bool {
        let with_meaning = |kind| {
            matches!(
                kind,
                FindingKind::DataRace
                    | FindingKind::ScopeRace
                    | FindingKind::Assert
                    | FindingKind::Hang
            )
        };
        self.findings.iter().any(|finding| !with_meaning(finding.kind))
    }

    /// Adds what was found of one property. Returns whether the launch lacks it.
    fn add(&mut self, reader: &Reader<'_>, property: Property, judgement: &Judgement) -> bool {
        let before = self.findings.len();
        let seen = &judgement.found.seen;
        match &judgement.verdict {
            Verdict::Undefined(reason) => {
                let finding = reader.undefined(reason, seen);
                // The launch lacks lanes that the kernel has.
                let absent = finding.places.first().filter(|place| {
                    reason.contains(BarrierMisuse::Absent.text())
                        && reader.composed.leaves_out_lanes(place.column)
                });
                // A descriptor of a matrix is more than the address that a test has in its place.
                let described = finding.kind == FindingKind::OutOfBounds
                    && finding.places.iter().any(|place| has_descriptors(&place.text));
                let unknown = match absent {
                    Some(place) => Some(LeftOut::unknown(&place.text)),
                    None => described
                        .then(|| "the address in a matrix descriptor is not followed".to_owned()),
                };
                if let Some(why) = unknown {
                    self.undecided.push(Undecided { property, why });
                    return false;
                }
                let mended = finding.kind == FindingKind::DataRace;
                self.findings.push(finding);
                return mended && property == Property::ProgramSpec;
            }
            Verdict::Unsupported(why) => {
                self.undecided.push(Undecided { property, why: why.clone() });
                return false;
            }
            Verdict::Undecided(why) => {
                self.undecided.push(Undecided { property, why: why.clone() });
            }
            Verdict::Stuck(_) => self.findings.extend(reader.stuck(seen)),
            Verdict::Fails if property == Property::ProgramSpec => {
                self.findings.push(reader.assertion(judgement));
            }
            Verdict::Holds | Verdict::Fails => {}
        }
        let exited = seen.warnings.iter().filter(|warning| warning.name == CLUSTER_EXITED);
        self.findings.extend(exited.map(|raised| KernelFinding {
            kind: FindingKind::Undefined,
            message: "shared memory of a CTA of the cluster that may have exited is accessed (reading R114)"
                .to_owned(),
            places: vec![reader.place(raised.at.0, raised.at.1)],
            like: 0,
        }));
        match property {
            Property::NoDataRace => self.findings.extend(reader.races(seen)),
            Property::Termination => self.findings.extend(reader.stuck(seen)),
            Property::ProgramSpec => {}
        }
        self.findings.len() > before
    }
}

/// Whether operands of an instruction are descriptors of matrices in shared memory.
fn has_descriptors(text: &str) -> bool {
    let opcode = opcode(text);
    ["wgmma.mma_async", "tcgen05.mma", "tcgen05.cp"].iter().any(|of| opcode.starts_with(of))
}

/// Findings at the same instructions, of several threads, as one.
fn merged(findings: Vec<KernelFinding>) -> Vec<KernelFinding> {
    let mut merged: BTreeMap<(FindingKind, BTreeSet<usize>, String), KernelFinding> =
        BTreeMap::new();
    for finding in findings {
        let lines = finding.places.iter().map(|place| place.line).collect();
        let races = [FindingKind::DataRace, FindingKind::ScopeRace].contains(&finding.kind);
        let message = if races { String::new() } else { finding.message.clone() };
        merged
            .entry((finding.kind, lines, message))
            .and_modify(|known| known.like += 1)
            .or_insert(finding);
    }
    merged.into_values().collect()
}

/// What explanations and repairs that nobody asked for may take.
pub(crate) const ADVICE: Duration = Duration::from_secs(2);

/// The first reasons are those of accesses that read from each other.
const MOST_REASONS: usize = 2;

/// What is explained of a launch.
struct ExplainTask<'t> {
    property: Property,
    task: &'t Task<'t>,
}

/// Findings of a test.
pub(crate) struct Reader<'r> {
    pub(crate) composed: &'r Composed,
    pub(crate) test: &'r Test,
}

impl Reader<'_> {
    fn place(&self, thread: ThreadId, line: u16) -> FindingPlace {
        let column = usize::from(thread.0);
        let of_test = self.test.line_number(thread, line).unwrap_or(0);
        let of = &self.test.program.threads[column];
        FindingPlace {
            column,
            line: self.composed.module_line(column, of_test).unwrap_or(0),
            text: of.lines[usize::from(line)].text.clone(),
        }
    }

    /// Why accesses are not ordered, of threads as the launch names them.
    fn reasons(&self, of: &ExplainTask<'_>) -> Vec<String> {
        let options = ExplainOptions {
            bound: of.task.bound,
            memory: of.task.memory,
            until: Some(Deadline::after(ADVICE)),
            work: RepairEffort::BRIEF.work,
            property: of.property,
            ..ExplainOptions::default()
        };
        let explained = explanation(self.test, of.task.model, options);
        let reasons = explained.map_or(Vec::new(), |explained| explained.reasons);
        let named = reasons.iter().map(|reason| self.composed.with_thread_names(reason));
        named.take(MOST_REASONS).collect()
    }

    fn undefined(&self, reason: &str, seen: &ExecutionFacts) -> KernelFinding {
        let places = seen.undefined.iter().flat_map(|undefined| &undefined.where_);
        KernelFinding {
            kind: FindingKind::of_undefined(reason),
            message: reason.to_owned(),
            places: places.map(|&(thread, line)| self.place(thread, line)).collect(),
            like: 0,
        }
    }

    fn races(&self, seen: &ExecutionFacts) -> Vec<KernelFinding> {
        let race = |race: &engine::Race| {
            let places = [race.first, race.second];
            let is_strong = |&(thread, line): &(ThreadId, u16)| {
                let of = &self.test.program.threads[usize::from(thread.0)];
                of.lines[usize::from(line)].instruction.scope().is_some()
            };
            let strong = places.iter().all(is_strong);
            KernelFinding {
                kind: if strong { FindingKind::ScopeRace } else { FindingKind::DataRace },
                message: if strong {
                    "two strong accesses, of which one does not include the other's thread in its scope, are not ordered"
                } else {
                    "two accesses, at least one of which is weak, are not ordered"
                }
                .to_owned(),
                places: places.iter().map(|&(thread, line)| self.place(thread, line)).collect(),
                like: 0,
            }
        };
        seen.races.iter().map(race).collect()
    }

    fn assertion(&self, judgement: &Judgement) -> KernelFinding {
        let outcome = judgement.found.outcomes.keys().find(|outcome| self.is_wrong(outcome));
        self.wrong("an execution", outcome.map(Vec::as_slice))
    }

    /// An assertion that does not hold at the end of `what`.
    fn wrong(&self, what: &str, outcome: Option<&[Value]>) -> KernelFinding {
        let ends = outcome.map_or(String::new(), |outcome| {
            format!(": {what} ends with {}", self.test.display_outcome(outcome))
        });
        KernelFinding {
            kind: FindingKind::Assert,
            message: format!("the assertion can be false{ends}"),
            places: Vec::new(),
            like: 0,
        }
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
                let message = "a run of the machine comes to an address outside all buffers";
                let message = message.to_owned();
                Some(KernelFinding { kind, message, ..self.staying(&faults) })
            }
            (None, stuck) => stuck.as_ref().map(|stuck| self.staying(stuck)),
        };
        wrong.into_iter().chain(stays).collect()
    }

    /// Where threads stay for ever.
    pub(crate) fn stuck(&self, seen: &ExecutionFacts) -> Option<KernelFinding> {
        seen.stuck.as_ref().map(|stuck| self.staying(stuck))
    }

    fn staying(&self, stuck: &[Stuck]) -> KernelFinding {
        let word = |stuck: &Stuck| match stuck.why {
            Stays::Waits => "waits for ever",
            Stays::Loops => "repeats a loop for ever",
            Stays::Faults => "faults",
        };
        let places: Vec<FindingPlace> =
            stuck.iter().map(|stuck| self.place(stuck.thread, stuck.line)).collect();
        let texts: Vec<String> = stuck
            .iter()
            .zip(&places)
            .map(|(stuck, place)| {
                let thread = self.composed.thread_name(place.column);
                format!("{thread} {} at `{}`", word(stuck), place.text)
            })
            .collect();
        KernelFinding { kind: FindingKind::Hang, message: texts.join(", "), places, like: 0 }
    }
}
