//! What a clean launch does not need: weaker orders, narrower scopes, fences and barriers of its kernels that may be left
//! out. Reading R116: it is about this launch alone.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::clock::Deadline;
use judge::{Property, Task, may_have_uninitialised_reads};
use litmus::Test;
use repair::{ProgramEdit, RepairLimit, WeakerForms};

use crate::compose::{ComposedLaunch, launched};
use crate::edited::{EditedModule, KernelEdit, ModuleSpelling, edited};
use crate::launch::LaunchSpec;
use crate::module::KernelModule;
use crate::repairs::EditedLaunch;
use crate::verification::{ADVICE, Verification, answered};

/// What a launch does not need.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelWeakening {
    /// Why nothing was looked for.
    pub excluded: Option<&'static str>,
    /// Each edit alone leaves the launch clean, and the next weaker form does not.
    pub alone: Vec<KernelEdit>,
    /// Edits that leave it clean all together.
    pub together: Vec<KernelEdit>,
    /// How many other launches keep what they have with each of these.
    pub others: usize,
    /// Why not everything was tried.
    pub limit: Option<String>,
}

/// A launch, and what it has to keep.
struct KeptLaunch<'k> {
    launch: &'k LaunchSpec,
    /// The text of its test.
    test: String,
    properties: Vec<Property>,
}

/// A search for weaker forms.
struct WeakerSearch<'w> {
    own: &'w EditedLaunch<'w>,
    spelling: ModuleSpelling<'w>,
    kept: Vec<KeptLaunch<'w>>,
    /// What is known of changed modules, by their text.
    answers: BTreeMap<String, bool>,
    /// The time for one question.
    most: Duration,
    until: Option<Deadline>,
    /// The first limit that was reached.
    limit: Option<String>,
}

impl EditedLaunch<'_> {
    /// What a launch with this answer does not need: each alone, and together.
    pub(crate) fn weaker(&self, answer: &Verification) -> KernelWeakening {
        let mut result = KernelWeakening::default();
        if !answer.findings.is_empty() {
            result.excluded = Some("the launch has findings");
        } else if !answer.undecided.is_empty() || answer.disagreement.is_some() {
            result.excluded = Some("it is not decided whether the launch is clean");
        }
        if result.excluded.is_some() {
            return result;
        }
        let Some(source) = self.source() else { return result };
        let most = ADVICE.max(Duration::from_secs_f64(answer.seconds * 2.0));
        let mut search = WeakerSearch {
            own: self,
            spelling: ModuleSpelling::new(self.composed, self.module.text),
            kept: Vec::new(),
            answers: BTreeMap::new(),
            most,
            // The other half is for sets of edits.
            until: self.until.map(|until| Deadline::after(until.left() / 2)),
            limit: None,
        };
        search.keep(self.test);
        result.others = search.kept.len() - 1;
        let written = |column, line| self.composed.module_line(column, line);
        let mut forms = WeakerForms::of_code(&source, &written);
        let alone = forms.alone(&mut |edits| search.keeps(edits));
        search.until = self.until;
        let together = forms.together(&mut |edits| search.keeps(edits));
        if !together.is_empty() {
            result.together = search.confirmed(&together);
        }
        for edit in &alone {
            result.alone.extend(search.confirmed(std::slice::from_ref(edit)));
        }
        result.alone.sort_by_key(|edit| edit.line);
        result.limit = search.limit;
        result
    }
}

/// What is asked of a launch.
fn asked(launch: &LaunchSpec, test: &Test) -> Vec<Property> {
    let may_lack = |of: &Property| match of {
        Property::NoUninitialisedRead => may_have_uninitialised_reads(&test.program),
        Property::ProgramSpec | Property::NoDataRace | Property::Termination => true,
    };
    let asked = Property::ALL.into_iter().filter(|property| launch.asks(*property));
    asked.filter(may_lack).collect()
}

impl WeakerSearch<'_> {
    /// The module with edits of the test; `None` if they cannot be written there, and that is noted.
    fn edited(&mut self, edits: &[ProgramEdit]) -> Option<EditedModule> {
        let lines = edits.iter().flat_map(|edit| &edit.lines);
        let own = self.spelling.instruction_edits(lines.clone());
        let made = own.and_then(|own| edited(self.own.module.text, &own));
        if made.is_none() {
            let instruction = lines.last().and_then(|line| line.before.as_deref());
            self.limit.get_or_insert_with(|| {
                let instruction = instruction.unwrap_or_default();
                format!("another form of `{instruction}` cannot be written in its line")
            });
        }
        made
    }

    /// The launch and the others of its kernels have to keep what they have.
    fn keep(&mut self, test: &Test) {
        let EditedLaunch { launch, composed, advice, .. } = *self.own;
        let (own, properties) = (composed.text.clone(), asked(launch, test));
        self.kept.push(KeptLaunch { launch, test: own, properties });
        for other in advice.others {
            let made = launched(self.own.module, other.launch);
            let Ok(ComposedLaunch { composed: of, test: Ok(test) }) = made else { continue };
            if !composed.shares_code(&of) {
                continue;
            }
            let mut properties = asked(other.launch, &test);
            properties.retain(|property| {
                let has = self.own.has_property(&test, *property, self.most);
                has.unwrap_or_else(|why| {
                    self.limit.get_or_insert(format!("{} is undecided: {why}", other.name));
                    false
                })
            });
            self.kept.push(KeptLaunch { launch: other.launch, test: of.text, properties });
        }
    }

    /// Whether all launches are known to keep what they have. What is not known is `false`, and the limit is noted.
    fn keeps(&mut self, edits: &[ProgramEdit]) -> bool {
        let Some(EditedModule { text, .. }) = self.edited(edits) else { return false };
        if let Some(&known) = self.answers.get(&text) {
            return known;
        }
        if self.until.is_some_and(|until| until.is_over()) {
            self.limit.get_or_insert(RepairLimit::Time.text());
            return false;
        }
        let keeps = |kept| self.is_kept(kept, &text);
        let broken = self.kept.iter().map(keeps).find(|answer| *answer != Ok(true));
        let answer = broken.unwrap_or(Ok(true)).unwrap_or_else(|why| {
            self.limit.get_or_insert(RepairLimit::Undecided(why).text());
            false
        });
        self.answers.insert(text, answer);
        answer
    }

    fn is_kept(&self, kept: &KeptLaunch<'_>, changed: &str) -> Result<bool, String> {
        let Ok(module) = KernelModule::read(self.own.module.path, changed) else {
            return Ok(false);
        };
        let Ok(ComposedLaunch { composed, test: Ok(test) }) = launched(&module, kept.launch) else {
            return Ok(false);
        };
        if composed.text == kept.test {
            return Ok(true);
        }
        for property in &kept.properties {
            if !self.own.has_property(&test, *property, self.most)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The edits of the module, if the launch is clean with them by all questions.
    fn confirmed(&mut self, edits: &[ProgramEdit]) -> Vec<KernelEdit> {
        let Some(EditedModule { text, edits }) = self.edited(edits) else { return Vec::new() };
        let own = self.own;
        let left = own.confirmed_until.map(|until| until.left());
        let task = Task { timeout: left.or(own.task.timeout), ..own.task.clone() };
        let answer = KernelModule::read(own.module.path, &text)
            .ok()
            .and_then(|module| answered(&module, own.launch, &task).ok());
        let Some(answer) = answer.map(|answer| answer.verification) else { return Vec::new() };
        if let Some(open) = answer.undecided.first() {
            self.limit.get_or_insert(RepairLimit::Undecided(open.why.clone()).text());
        }
        if answer.is_clean() { edits } else { Vec::new() }
    }
}
