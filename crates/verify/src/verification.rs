//! Judges a launch: its assertions, its races, and whether it finishes.

use engine::ExecutionFacts;
use explore::Exploration;
use judge::{CLUSTER_EXITED, Judgement, Property, Task, Verdict, judge};
use litmus::Test;
use model::program::{Stays, Stuck, ThreadId};
use model::value::Value;
use ptx::Module;
use text::Diagnostic;

use crate::compose::{Composed, compose};
use crate::finding::{Finding, FindingKind, FindingPlace};
use crate::launch::{LaunchError, LaunchSpec};
use crate::{machine_runs, resident};

/// What was found of a launch. Reading R116.
#[derive(Debug)]
pub struct Verification {
    pub findings: Vec<Finding>,
    /// What was not looked at: the property, and why.
    pub undecided: Vec<Undecided>,
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
    module: &Module<'_>,
    launch: &LaunchSpec,
    task: &Task<'_>,
) -> Result<(Composed, Verification), VerifyError> {
    let composed = compose(module, launch)?;
    let test = litmus::parse("launch", composed.text.as_bytes()).map_err(VerifyError::Test)?;
    let mut all = Verification { findings: Vec::new(), undecided: Vec::new(), seconds: 0.0 };
    let reader = Reader { composed: &composed, test: &test };
    let races = Property::NoDataRace;
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
        all.seconds += judgement.seconds;
        all.add(&reader, property, &judgement);
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
    all.findings.sort();
    all.findings.dedup();
    Ok((composed, all))
}

impl Verification {
    fn add(&mut self, reader: &Reader<'_>, property: Property, judgement: &Judgement) {
        let seen = &judgement.found.seen;
        match &judgement.verdict {
            Verdict::Undefined(reason) => {
                self.findings.push(reader.undefined(reason, seen));
                return;
            }
            Verdict::Unsupported(why) => {
                self.undecided.push(Undecided { property, why: why.clone() });
                return;
            }
            Verdict::Undecided(why) => {
                self.undecided.push(Undecided { property, why: why.clone() })
            }
            Verdict::Stuck(_) => self.findings.extend(reader.stuck(seen)),
            Verdict::Fails if property == Property::ProgramSpec => {
                self.findings.push(reader.assertion(judgement));
            }
            Verdict::Holds | Verdict::Fails => {}
        }
        let exited = seen.warnings.iter().filter(|warning| warning.name == CLUSTER_EXITED);
        self.findings.extend(exited.map(|raised| Finding {
            kind: FindingKind::Undefined,
            message: "shared memory of a CTA of the cluster that may have exited is accessed (reading R114)"
                .to_owned(),
            places: vec![reader.place(raised.at.0, raised.at.1)],
        }));
        match property {
            Property::NoDataRace => self.findings.extend(reader.races(seen)),
            Property::Termination => self.findings.extend(reader.stuck(seen)),
            Property::ProgramSpec => {}
        }
    }
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

    fn undefined(&self, reason: &str, seen: &ExecutionFacts) -> Finding {
        let places = seen.undefined.iter().flat_map(|undefined| &undefined.where_);
        Finding {
            kind: FindingKind::of_undefined(reason),
            message: reason.to_owned(),
            places: places.map(|&(thread, line)| self.place(thread, line)).collect(),
        }
    }

    fn races(&self, seen: &ExecutionFacts) -> Vec<Finding> {
        let race = |race: &engine::Race| {
            let places = [race.first, race.second];
            let is_strong = |&(thread, line): &(ThreadId, u16)| {
                let of = &self.test.program.threads[usize::from(thread.0)];
                of.lines[usize::from(line)].instruction.scope().is_some()
            };
            let strong = places.iter().all(is_strong);
            Finding {
                kind: if strong { FindingKind::ScopeRace } else { FindingKind::DataRace },
                message: judge::words::race_text(self.test, *race),
                places: places.iter().map(|&(thread, line)| self.place(thread, line)).collect(),
            }
        };
        seen.races.iter().map(race).collect()
    }

    fn assertion(&self, judgement: &Judgement) -> Finding {
        let outcome = judgement.found.outcomes.keys().find(|outcome| self.is_wrong(outcome));
        self.wrong("an execution", outcome.map(Vec::as_slice))
    }

    /// An assertion that does not hold at the end of `what`.
    fn wrong(&self, what: &str, outcome: Option<&[Value]>) -> Finding {
        let ends = outcome.map_or(String::new(), |outcome| {
            format!(": {what} ends with {}", self.test.display_outcome(outcome))
        });
        Finding {
            kind: FindingKind::Assert,
            message: format!("the assertion can be false{ends}"),
            places: Vec::new(),
        }
    }

    /// Whether the assertions do not hold.
    fn is_wrong(&self, outcome: &[Value]) -> bool {
        !self.test.proposition.holds(&self.test.program, outcome)
    }

    /// What runs of the machine show.
    fn of_machine(&self, runs: &Exploration) -> Vec<Finding> {
        let wrong = runs.outcomes.keys().find(|outcome| self.is_wrong(outcome));
        let wrong = wrong.map(|outcome| self.wrong("a run of the machine", Some(outcome)));
        let stays = match (&runs.fault_at, &runs.stuck_at) {
            (Some(stuck), _) => {
                let faults = stuck.iter().filter(|stuck| stuck.why == Stays::Faults);
                let faults: Vec<Stuck> = faults.copied().collect();
                let kind = FindingKind::OutOfBounds;
                let message = "a run of the machine comes to an address outside all buffers";
                let message = message.to_owned();
                Some(Finding { kind, message, ..self.staying(&faults) })
            }
            (None, stuck) => stuck.as_ref().map(|stuck| self.staying(stuck)),
        };
        wrong.into_iter().chain(stays).collect()
    }

    /// Where threads stay for ever.
    pub(crate) fn stuck(&self, seen: &ExecutionFacts) -> Option<Finding> {
        seen.stuck.as_ref().map(|stuck| self.staying(stuck))
    }

    fn staying(&self, stuck: &[Stuck]) -> Finding {
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
        Finding { kind: FindingKind::Hang, message: texts.join(", "), places }
    }
}
