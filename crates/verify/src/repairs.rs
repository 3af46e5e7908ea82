//! Edits of a kernel after which a finding is gone: those of its test, at the instructions of the module.

use engine::clock::Deadline;
use judge::{Property, Task, Verdict, judge};
use litmus::Test;
use litmus::revise::SourceTest;
use repair::{RepairOptions, repair};

use crate::columns::{Composed, LAUNCH};
use crate::compose::launched;
use crate::edited::{
    EditedModule, InstructionEdit, KernelEdit, ModuleSpelling, edited, with_barrier,
};
use crate::launch::LaunchSpec;
use crate::module::KernelModule;
use crate::verification::ADVICE;

/// Edits that together give the launch properties that it lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelRepair {
    /// What the launch lacked, and has with them.
    pub properties: Vec<Property>,
    /// What it still lacks, or may lack.
    pub lacking: Vec<Property>,
    pub edits: Vec<KernelEdit>,
}

/// What stands in the place of a new barrier of a warp, if it suffices as well.
const BARRIERS: [&str; 2] = ["bar.sync 0", "bar.warp.sync -1"];

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
    module: &'r KernelModule<'r>,
    launch: &'r LaunchSpec,
    composed: &'r Composed,
    task: &'r Task<'r>,
    effort: RepairEffort,
    /// When the search ends. What it found is judged again in half as much time more.
    until: Option<Deadline>,
    confirmed_until: Option<Deadline>,
}

impl<'r> RepairedLaunch<'r> {
    pub(crate) fn new(
        module: &'r KernelModule<'r>,
        launch: &'r LaunchSpec,
        composed: &'r Composed,
        task: &'r Task<'r>,
        effort: RepairEffort,
    ) -> RepairedLaunch<'r> {
        let time = if effort.work.is_some() { Some(ADVICE) } else { task.timeout };
        RepairedLaunch {
            module,
            launch,
            composed,
            task,
            effort,
            until: time.map(Deadline::after),
            confirmed_until: time.map(|time| Deadline::after(time.mul_f64(1.5))),
        }
    }

    /// The cheapest edits after which the launch has all properties that it lacks, or else as many as one search finds edits
    /// for. Each is judged again as an edit of the module.
    pub(crate) fn repairs(&self, lacking: &[Property]) -> Vec<KernelRepair> {
        let RepairedLaunch { module, composed, task, effort, .. } = self;
        let Ok(source) = SourceTest::read(LAUNCH, composed.text.as_bytes()) else {
            return Vec::new();
        };
        let spelling = ModuleSpelling::new(composed, module.text);
        let mut partial: Vec<KernelRepair> = Vec::new();
        for &property in lacking {
            let options = RepairOptions {
                bound: task.bound,
                memory: task.memory,
                proposals: effort.proposals,
                questions: effort.questions,
                work: effort.work,
                until: self.until,
                property,
                ..RepairOptions::new(task.model)
            };
            let mut complete: Vec<KernelRepair> = Vec::new();
            for proposal in repair(&source, &options).proposals {
                let lines = proposal.edits.iter().flat_map(|edit| &edit.lines);
                // Edits that are none of the module are no repair of it.
                let Some(edits) = spelling.instruction_edits(lines) else { continue };
                let mut wider = BARRIERS.iter().filter_map(|barrier| with_barrier(&edits, barrier));
                let mended = wider
                    .find_map(|wider| self.mended(&wider, property, lacking, false))
                    .or_else(|| self.mended(&edits, property, lacking, true));
                let Some((edited, properties)) = mended else { continue };
                let rest = lacking.iter().filter(|of| !properties.contains(of));
                let rest: Vec<Property> = rest.copied().collect();
                let to = if rest.is_empty() { &mut complete } else { &mut partial };
                to.push(KernelRepair { properties, lacking: rest, edits: edited.edits });
            }
            if !complete.is_empty() {
                return complete;
            }
        }
        partial.sort_by_key(|repair| repair.lacking.len());
        partial.truncate(1);
        partial
    }

    /// A module with edits, and what its launch then has of what it lacks; `None` if it lacks the property that is sought.
    /// `of_test`: the test with these edits has that.
    fn mended(
        &self,
        edits: &[InstructionEdit],
        property: Property,
        lacking: &[Property],
        of_test: bool,
    ) -> Option<(EditedModule, Vec<Property>)> {
        let edited = edited(self.module.text, edits)?;
        let module = KernelModule::read(self.module.path, &edited.text).ok()?;
        let test = launched(&module, self.launch).ok()?.test.ok()?;
        let own = self.has_property(&test, property);
        if own != Some(true) && !(own.is_none() && of_test) {
            return None;
        }
        let has = |of: &&Property| **of == property || self.has_property(&test, **of) == Some(true);
        let properties = lacking.iter().filter(has).copied().collect();
        Some((edited, properties))
    }

    /// Whether the test of a changed module has a property, as far as brief work shows it.
    fn has_property(&self, test: &Test, property: Property) -> Option<bool> {
        let left = self.confirmed_until.map_or(ADVICE, |until| until.left().min(ADVICE));
        let task = Task {
            property,
            verdict_only: true,
            races: false,
            until: Some(Deadline::after(left)),
            ..self.task.clone()
        };
        match judge(test, &task).verdict {
            Verdict::Holds => Some(true),
            Verdict::Undecided(_) => None,
            Verdict::Fails
            | Verdict::Undefined(_)
            | Verdict::Stuck(_)
            | Verdict::Unsupported(_) => Some(false),
        }
    }
}
