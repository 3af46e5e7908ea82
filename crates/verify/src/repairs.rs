//! Edits of a kernel after which a finding is gone: those of its test, at the instructions of the module.

use engine::clock::Deadline;
use judge::{Property, Task, Verdict, judge};
use litmus::revise::SourceTest;
use repair::{RepairOptions, repair};

use crate::columns::{Composed, LAUNCH};
use crate::compose::launched;
use crate::edited::{KernelEdit, Spelling, edited};
use crate::launch::LaunchSpec;
use crate::module::KernelModule;
use crate::verification::ADVICE;

/// Edits that together give the launch properties that it lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelRepair {
    pub properties: Vec<Property>,
    pub edits: Vec<KernelEdit>,
}

/// What a search for repairs may take.
#[derive(Clone, Copy, Debug)]
pub struct RepairEffort {
    /// Changed tests that are judged, at most.
    pub questions: usize,
    /// The work for each of them; `None` for any, and every engine.
    pub work: Option<u64>,
    /// The largest number of proposals.
    pub proposals: usize,
}

impl RepairEffort {
    /// What is spent without being asked.
    pub const BRIEF: RepairEffort =
        RepairEffort { questions: 1_000, work: Some(1 << 14), proposals: 2 };
    pub const FULL: RepairEffort = RepairEffort { questions: 20_000, work: None, proposals: 5 };
}

/// A launch, and what is asked of it with edits of its module.
pub(crate) struct RepairedLaunch<'r> {
    pub(crate) module: &'r KernelModule<'r>,
    pub(crate) launch: &'r LaunchSpec,
    pub(crate) composed: &'r Composed,
    pub(crate) task: &'r Task<'r>,
}

impl RepairedLaunch<'_> {
    /// The cheapest edits after which the launch has all properties that it lacks, or else as many as one search finds edits
    /// for. Each is judged again as an edit of the module.
    pub(crate) fn repairs(&self, lacking: &[Property], effort: RepairEffort) -> Vec<KernelRepair> {
        let RepairedLaunch { module, composed, task, .. } = self;
        let Ok(source) = SourceTest::read(LAUNCH, composed.text.as_bytes()) else {
            return Vec::new();
        };
        let spelling = Spelling::new(composed, module.text);
        let mut partial: Vec<KernelRepair> = Vec::new();
        for &property in lacking {
            let options = RepairOptions {
                bound: task.bound,
                memory: task.memory,
                proposals: effort.proposals,
                questions: effort.questions,
                work: effort.work,
                until: match effort.work {
                    Some(_) => Some(Deadline::after(ADVICE)),
                    None => task.timeout.map(Deadline::after),
                },
                property,
                ..RepairOptions::new(task.model)
            };
            let mut complete: Vec<KernelRepair> = Vec::new();
            for proposal in repair(&source, &options).proposals {
                let lines = proposal.edits.iter().flat_map(|edit| &edit.lines);
                // Edits that are none of the module are no repair of it.
                let Some(edits) = spelling.instruction_edits(lines) else { continue };
                let Some(edited) = edited(module.text, &edits) else { continue };
                let mut properties = Vec::new();
                for &of in lacking {
                    let told = self.has_property(&edited.text, of);
                    // Its own property the test with these edits has.
                    if told == Some(true) || told.is_none() && of == property {
                        properties.push(of);
                    }
                }
                if !properties.contains(&property) {
                    continue;
                }
                let all = properties.len() == lacking.len();
                let found = KernelRepair { properties, edits: edited.edits };
                if all {
                    complete.push(found);
                } else {
                    partial.push(found);
                }
            }
            if !complete.is_empty() {
                return complete;
            }
        }
        partial.sort_by_key(|repair| lacking.len() - repair.properties.len());
        partial.truncate(1);
        partial
    }

    /// Whether the launch of a changed module has a property, as far as brief work shows it.
    pub(crate) fn has_property(&self, changed: &str, property: Property) -> Option<bool> {
        let Ok(module) = KernelModule::read(self.module.path, changed) else { return Some(false) };
        let test = launched(&module, self.launch).ok().and_then(|launched| launched.test.ok());
        let Some(test) = test else { return Some(false) };
        let task = Task {
            property,
            verdict_only: true,
            races: false,
            until: Some(Deadline::after(ADVICE)),
            ..self.task.clone()
        };
        match judge(&test, &task).verdict {
            Verdict::Holds => Some(true),
            Verdict::Undecided(_) => None,
            Verdict::Fails
            | Verdict::Undefined(_)
            | Verdict::Stuck(_)
            | Verdict::Unsupported(_) => Some(false),
        }
    }
}
