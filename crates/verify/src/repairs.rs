//! Edits of a kernel after which a finding is gone: those of its test, at the instructions of the module.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::clock::Deadline;
use judge::{Property, Task, Verdict, judge};
use litmus::Test;
use litmus::revise::SourceTest;
use repair::{RepairOptions, RepairState, repair};

use crate::columns::{Composed, LAUNCH};
use crate::compose::launched;
use crate::edited::{
    EditedModule, InstructionEdit, KernelEdit, ModuleSpelling, edited, with_barrier,
};
use crate::launch::LaunchSpec;
use crate::module::KernelModule;
use crate::other_launches::{OtherAnswer, OtherLaunch};
use crate::unrepaired::FruitlessSearch;
use crate::updates;
use crate::verification::{ADVICE, AdviceOptions, AnsweredLaunch};

/// Edits that together give the launch properties that it lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelRepair {
    /// What the launch lacked, and has with them.
    pub properties: Vec<Property>,
    /// What it still lacks, or may lack.
    pub lacking: Vec<Property>,
    pub edits: Vec<KernelEdit>,
    /// The lines of the module with stores of updates that are not atomic with them: what they mend is the race only.
    pub split_updates: BTreeSet<usize>,
    /// Other launches of the module that are not clean with them.
    pub elsewhere: Vec<OtherAnswer>,
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
pub(crate) struct EditedLaunch<'r> {
    pub(crate) module: &'r KernelModule<'r>,
    pub(crate) launch: &'r LaunchSpec,
    pub(crate) composed: &'r Composed,
    pub(crate) test: &'r Test,
    pub(crate) task: &'r Task<'r>,
    pub(crate) advice: &'r AdviceOptions<'r>,
    /// When the search ends. What it found is judged again in half as much time more.
    pub(crate) until: Option<Deadline>,
    pub(crate) confirmed_until: Option<Deadline>,
}

impl<'r> EditedLaunch<'r> {
    /// `time`: for the search.
    pub(crate) fn new(
        module: &'r KernelModule<'r>,
        launch: &'r LaunchSpec,
        AnsweredLaunch { composed, test, .. }: &'r AnsweredLaunch,
        task: &'r Task<'r>,
        advice: &'r AdviceOptions<'r>,
        time: Option<Duration>,
    ) -> EditedLaunch<'r> {
        EditedLaunch {
            module,
            launch,
            composed,
            test,
            task,
            advice,
            until: time.map(Deadline::after),
            confirmed_until: time.map(|time| Deadline::after(time.mul_f64(1.5))),
        }
    }

    /// The test as text that edits change.
    pub(crate) fn source(&self) -> Option<SourceTest> {
        #[cfg(test)]
        tests::READ.with(|read| read.set(read.get() + 1));
        let mut source = SourceTest::read(LAUNCH, self.composed.text.as_bytes()).ok()?;
        source.test.program.exempt_races.clone_from(&self.test.program.exempt_races);
        Some(source)
    }

    /// The cheapest edits after which the launch has all properties that it lacks, or else as many as one search finds edits
    /// for. Each is judged again as an edit of the module. `search`: told what kept edits from being repairs.
    pub(crate) fn repairs(
        &self,
        lacking: &[Property],
        search: &mut FruitlessSearch,
    ) -> Vec<KernelRepair> {
        let EditedLaunch { module, composed, task, .. } = self;
        let effort = self.advice.effort;
        // The test of a long kernel is long.
        if lacking.is_empty() {
            return Vec::new();
        }
        let Some(source) = self.source() else { return Vec::new() };
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
            let found = repair(&source, &options);
            found.limit.iter().for_each(|limit| search.reach(limit.text()));
            if let RepairState::Excluded(why) = found.state {
                search.exclude(why);
            }
            for proposal in found.proposals {
                let lines = proposal.edits.iter().flat_map(|edit| &edit.lines);
                // Edits that are none of the module are no repair of it.
                let Some(edits) = spelling.instruction_edits(lines) else {
                    search.note_unwritten();
                    continue;
                };
                let mut wider = BARRIERS.iter().filter_map(|barrier| with_barrier(&edits, barrier));
                let mended = wider
                    .find_map(|wider| self.mended(&wider, property, lacking, false))
                    .or_else(|| self.mended(&edits, property, lacking, true));
                let Some((EditedModule { text, edits }, properties)) = mended else {
                    search.note_refused();
                    continue;
                };
                let rest = lacking.iter().filter(|of| !properties.contains(of));
                let rest: Vec<Property> = rest.copied().collect();
                let to = if rest.is_empty() { &mut complete } else { &mut partial };
                let elsewhere = self.elsewhere(&text);
                let split_updates = updates::split(composed, &edits);
                let lacking = rest;
                to.push(KernelRepair { properties, lacking, edits, split_updates, elsewhere });
            }
            if !complete.is_empty() {
                return suiting(complete);
            }
        }
        partial.sort_by_key(|repair| (repair.lacking.len(), !repair.split_updates.is_empty()));
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
        let own = self.has_property(&test, property, ADVICE);
        if !own.unwrap_or(of_test) {
            return None;
        }
        let has =
            |of: &&Property| **of == property || self.has_property(&test, **of, ADVICE) == Ok(true);
        let properties = lacking.iter().filter(has).copied().collect();
        Some((edited, properties))
    }

    /// What is wrong with other launches of the changed module.
    pub(crate) fn elsewhere(&self, text: &str) -> Vec<OtherAnswer> {
        let until = self.confirmed_until;
        let other = |other: &OtherLaunch<'_>| other.answer(self.module, text, self.task, until);
        self.advice.others.iter().filter_map(other).collect()
    }

    /// Whether the test of a changed module has a property, as far as so much time shows it: otherwise why that is not known.
    pub(crate) fn has_property(
        &self,
        test: &Test,
        property: Property,
        most: Duration,
    ) -> Result<bool, String> {
        let left = self.confirmed_until.map_or(most, |until| until.left().min(most));
        let task = Task {
            property,
            verdict_only: true,
            races: false,
            until: Some(Deadline::after(left)),
            ..self.task.clone()
        };
        let mut test = test.clone();
        test.program.exempt_races = self.test.program.exempt_races_in(&test.program);
        match judge(&test, &task).verdict {
            Verdict::Holds => Ok(true),
            Verdict::Undecided(why) => Err(why),
            Verdict::Fails
            | Verdict::Undefined(_)
            | Verdict::Stuck(_)
            | Verdict::Unsupported(_) => Ok(false),
        }
    }
}

/// The repairs that suit other launches best, first, and those that leave updates in two accesses last. One that breaks another launch is left out if there is one that does
/// not.
fn suiting(mut all: Vec<KernelRepair>) -> Vec<KernelRepair> {
    let breaks = |repair: &KernelRepair| repair.elsewhere.iter().any(|of| of.breaks);
    if all.iter().any(|repair| !breaks(repair)) {
        all.retain(|repair| !breaks(repair));
    }
    all.sort_by_key(|repair| (!repair.split_updates.is_empty(), repair.elsewhere.len()));
    all
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use judge::Task;

    use crate::{AdviceOptions, Dim3, KernelModule, LaunchSpec, RepairEffort, verify};

    thread_local! {
        /// How often a test was read for advice.
        pub(super) static READ: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn advice_reads_the_test_only_where_there_is_something_to_advise() {
        let read = |store: &str| {
            let text = format!(
                ".version 8.7\n.target sm_90\n.address_size 64\n.global .u32 x;\n.visible .entry k()\n{{\n\
                 .reg .b32 %r<2>;\nmov.u32 %r1, %ctaid.x;\n{store} [x], %r1;\nret;\n}}\n"
            );
            let module = KernelModule::read("m.ptx", &text).expect("a module");
            let launch = LaunchSpec::new(Dim3 { x: 2, ..Dim3::ONE }, Dim3::ONE);
            let model = model::ptx::model();
            let task = Task { counts: false, ..Task::new(&model) };
            let advice = AdviceOptions { weaken: true, ..RepairEffort::BRIEF.into() };
            READ.set(0);
            let judged = verify(&module, &launch, &task, &advice);
            let (_, judged) = judged.unwrap_or_else(|error| panic!("{error:?}"));
            (judged.findings.len(), READ.get())
        };
        // What a clean launch does not need is asked for, and how to mend a racy one.
        assert_eq!(read("st.relaxed.gpu.global.u32"), (0, 1));
        assert_eq!(read("st.global.u32"), (1, 1));
    }
}
