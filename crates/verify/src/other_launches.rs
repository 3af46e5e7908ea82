//! Other launches of a module: what edits that one launch needs do to them.

use std::collections::BTreeSet;

use engine::clock::Deadline;
use judge::Task;

use crate::finding::FindingKind;
use crate::launch::LaunchSpec;
use crate::module::KernelModule;
use crate::verification::{ADVICE, Verification, VerifyError, answered};

/// Another launch of the module of one.
#[derive(Clone, Copy, Debug)]
pub struct OtherLaunch<'a> {
    /// As messages name it.
    pub name: &'a str,
    pub launch: &'a LaunchSpec,
}

/// A launch that is not clean with edits, or not known to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherAnswer {
    pub launch: String,
    /// What is found with them.
    pub findings: BTreeSet<FindingKind>,
    /// Whether something is found that the launch does not have without them.
    pub breaks: bool,
    /// Why it is not known whether more is found.
    pub open: Option<String>,
}

impl OtherLaunch<'_> {
    /// What is wrong with the launch of a changed module; `None` if nothing is, or the edits are none of what it executes.
    pub(crate) fn answer(
        &self,
        module: &KernelModule<'_>,
        text: &str,
        task: &Task<'_>,
        until: Option<Deadline>,
    ) -> Option<OtherAnswer> {
        let test_of = |module: &KernelModule<'_>| {
            crate::compose(module, self.launch).ok().map(|composed| composed.text)
        };
        // A launch that has no test says so itself.
        let before = test_of(module)?;
        let changed = KernelModule::read(module.path, text).ok();
        if changed.as_ref().and_then(test_of).is_some_and(|after| after == before) {
            return None;
        }
        let judged = |module: &KernelModule<'_>| {
            let left = until.map_or(ADVICE, |until| until.left().min(ADVICE));
            let task = Task { timeout: Some(left), ..task.clone() };
            answered(module, self.launch, &task).map(|answered| answered.verification)
        };
        let kinds = |of: &Verification| -> BTreeSet<FindingKind> {
            of.findings.iter().map(|finding| finding.kind).collect()
        };
        let mut other = OtherAnswer {
            launch: self.name.to_owned(),
            findings: BTreeSet::new(),
            breaks: false,
            open: None,
        };
        match changed.as_ref().map(judged) {
            Some(Ok(with)) => {
                other.open = with.undecided.first().map(|of| of.why.clone());
                other.findings = kinds(&with);
            }
            None | Some(Err(VerifyError::Launch(_) | VerifyError::Test(_))) => {
                other.open = Some("it has no test".to_owned());
            }
        }
        if other.findings.is_empty() {
            return other.open.is_some().then_some(other);
        }
        let without = judged(module).map_or(BTreeSet::new(), |without| kinds(&without));
        other.breaks = !other.findings.is_subset(&without);
        Some(other)
    }
}
