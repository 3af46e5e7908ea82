//! Edits of a kernel after which a finding is gone: those of its test, at the instructions of the module.

use std::collections::BTreeSet;
use std::ops::Range;

use engine::clock::Deadline;
use judge::{Property, Task, Verdict, judge};
use litmus::revise::SourceTest;
use repair::{EditedLine, Proposal, RepairOptions, repair};

use crate::columns::{self, Composed, LAUNCH};
use crate::verification::ADVICE;

/// A change of one instruction of the module, in all threads that execute it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KernelEdit {
    /// The line of the instruction, or of the one before which another is inserted, from 1.
    pub line: usize,
    /// As the test writes it; `None` if it is inserted.
    pub before: Option<String>,
    /// `None` if it is removed.
    pub after: Option<String>,
    /// The instruction that another is inserted before.
    pub next: Option<String>,
}

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

/// The cheapest edits after which the launch has all properties that it lacks, or else as many as one search finds edits for.
pub(crate) fn repairs(
    composed: &Composed,
    lacking: &[Property],
    task: &Task<'_>,
    effort: RepairEffort,
) -> Vec<KernelRepair> {
    let Ok(source) = SourceTest::read(LAUNCH, composed.text.as_bytes()) else {
        return Vec::new();
    };
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
            // Edits that are none of the module are no repair of it.
            let Some(edits) = kernel_edits(composed, &proposal) else { continue };
            let others = lacking.iter().filter(|other| **other != property);
            let mended = others.filter(|other| has_property(&proposal.text, **other, task));
            let mut properties: Vec<Property> = mended.copied().chain([property]).collect();
            properties.sort_by_key(|of| lacking.iter().position(|known| known == of));
            let all = properties.len() == lacking.len();
            let found = KernelRepair { properties, edits };
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

/// Whether a changed test has a property, as far as brief work shows it.
fn has_property(changed: &str, property: Property, task: &Task<'_>) -> bool {
    let Ok(test) = columns::read(changed) else { return false };
    let task = Task {
        property,
        verdict_only: true,
        races: false,
        until: Some(Deadline::after(ADVICE)),
        ..task.clone()
    };
    judge(&test, &task).verdict == Verdict::Holds
}

/// The edits of the module that those of a test are, in the order of lines.
fn kernel_edits(composed: &Composed, proposal: &Proposal) -> Option<Vec<KernelEdit>> {
    let lines = proposal.edits.iter().flat_map(|edit| &edit.lines);
    let edits = lines.map(|line| kernel_edit(composed, line));
    let edits = edits.collect::<Option<BTreeSet<KernelEdit>>>()?;
    edits.iter().all(|edit| edit.before != edit.after).then(|| edits.into_iter().collect())
}

/// The instruction of the module that an edit of the test changes.
fn kernel_edit(composed: &Composed, edited: &EditedLine) -> Option<KernelEdit> {
    let column = edited.thread.strip_prefix('P')?.parse().ok()?;
    Some(KernelEdit {
        line: composed.module_line(column, edited.line)?,
        before: edited.before.clone(),
        after: match &edited.after {
            Some(after) => Some(composed.left_out.in_kernel(after)?),
            None => None,
        },
        next: edited.next.clone().filter(|_| edited.before.is_none()),
    })
}

impl KernelEdit {
    /// The changed line of the module, as it is and as it becomes. What the edit leaves as it is keeps its spelling.
    pub fn of_module(&self, written: &str) -> (Option<String>, Option<String>) {
        let all = statements(written);
        let is_whole = all.len() <= 1;
        let indent: String = written.chars().take_while(|c| c.is_whitespace()).collect();
        let whole = |text: &String| format!("{indent}{text};");
        let Some(own) = self.before.as_ref().or(self.next.as_ref()) else {
            return (None, self.after.as_ref().map(whole));
        };
        let mut alike =
            all.into_iter().filter(|statement| is_alike(&written[statement.clone()], own));
        let (Some(statement), None) = (alike.next(), alike.next()) else {
            let before = self
                .before
                .as_ref()
                .map(|own| if is_whole { written.to_owned() } else { whole(own) });
            return (before, self.after.as_ref().map(whole));
        };
        let changed = match (&self.before, &self.after) {
            (None, after) if is_whole => return (None, after.as_ref().map(whole)),
            (Some(_), None) if is_whole => return (Some(written.to_owned()), None),
            (None, after) => {
                format!("{}; {}", after.as_deref().unwrap_or_default(), &written[statement.clone()])
            }
            (Some(_), None) => String::new(),
            (Some(before), Some(after)) => respelled(&written[statement.clone()], before, after)
                .unwrap_or_else(|| after.clone()),
        };
        let rest = &written[statement.end..];
        let rest = if changed.is_empty() { rest.strip_prefix(';').unwrap_or(rest) } else { rest };
        (Some(written.to_owned()), Some(format!("{}{changed}{rest}", &written[..statement.start])))
    }
}

/// Where the instructions of a line are, without what is around them.
fn statements(line: &str) -> Vec<Range<usize>> {
    let code = line.split("//").next().unwrap_or(line);
    let mut all = Vec::new();
    let mut start = 0;
    for part in code.split_inclusive(';') {
        let end = start + part.len();
        let around = |c: char| c.is_whitespace() || c == '{';
        let text = part.trim_end_matches(';').trim_end().trim_start_matches(around);
        // A label is before its instruction.
        let text = text.rsplit_once(": ").map_or(text, |(_, text)| text.trim_start());
        if !text.is_empty() && text != "}" && part.ends_with(';') {
            let begin = start + part.find(text).unwrap_or(0);
            all.push(begin..begin + text.len());
        }
        start = end;
    }
    all
}

/// Whether an instruction of a module is this one of a test: the same opcode with as many operands.
fn is_alike(written: &str, of_test: &str) -> bool {
    let (own, test) = (words(written), words(of_test));
    own.len() == test.len()
        && own.iter().zip(&test).any(|(own, test)| own == test && own.contains('.'))
}

/// An instruction of the module with what differs between two spellings of it in a test; `None` if it cannot be told what
/// that is.
fn respelled(written: &str, before: &str, after: &str) -> Option<String> {
    let (own, old, new) = (words(written), words(before), words(after));
    // The guard is written with a blank in a test, or without.
    if own.len() != old.len() || old.len() != new.len() {
        return None;
    }
    let mut out = String::new();
    let mut at = 0;
    for ((word, old), new) in own.iter().zip(&old).zip(&new) {
        let start = at + written[at..].find(word)?;
        out.push_str(&written[at..start]);
        out.push_str(if old == new { word } else { new });
        at = start + word.len();
    }
    out.push_str(&written[at..]);
    Some(out)
}

/// The names, numbers and opcodes of a line, without its comment.
fn words(text: &str) -> Vec<&str> {
    let text = text.split("//").next().unwrap_or(text);
    let of_word = |c: char| c.is_ascii_alphanumeric() || "_$%.:".contains(c);
    text.split(|c: char| !of_word(c)).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(before: Option<&str>, after: Option<&str>) -> KernelEdit {
        let own = |text: &str| text.to_owned();
        KernelEdit { line: 1, before: before.map(own), after: after.map(own), next: None }
    }

    #[test]
    fn an_edit_changes_the_line_of_the_module_and_nothing_else_of_it() {
        let changed = edit(
            Some("@p1 atom.global.inc.u32 r38, [rd7], r37"),
            Some("@p1 atom.acquire.gpu.global.inc.u32 r38, [rd7], r37"),
        );
        let (_, after) = changed.of_module("\t@%p1 atom.global.inc.u32 \t%r38, [%rd7], %r37;");
        let after = after.expect("it is changed");
        assert_eq!(after, "\t@%p1 atom.acquire.gpu.global.inc.u32 \t%r38, [%rd7], %r37;");
    }

    #[test]
    fn what_is_inserted_stands_as_the_line_behind_it() {
        let inserted = edit(None, Some("fence.acq_rel.gpu"));
        let (before, after) = inserted.of_module("\tbar.sync 0;");
        assert_eq!((before, after.as_deref()), (None, Some("\tfence.acq_rel.gpu;")));
    }

    #[test]
    fn an_instruction_of_inline_assembly_is_changed_in_its_line() {
        let line = "\t{ .reg .pred p; st.global.u32 [%rd1], %r1; bar.sync 0; }";
        let changed =
            edit(Some("st.global.u32 [rd1], r1"), Some("st.release.gpu.global.u32 [rd1], r1"));
        let (before, after) = changed.of_module(line);
        assert_eq!(before.as_deref(), Some(line));
        let wanted = "\t{ .reg .pred p; st.release.gpu.global.u32 [%rd1], %r1; bar.sync 0; }";
        assert_eq!(after.as_deref(), Some(wanted));
        let removed = edit(Some("bar.sync 0"), None);
        let (_, after) = removed.of_module(line);
        assert_eq!(after.as_deref(), Some("\t{ .reg .pred p; st.global.u32 [%rd1], %r1;  }"));
        let inserted =
            KernelEdit { next: Some("bar.sync 0".to_owned()), ..edit(None, Some("fence.sc.gpu")) };
        let (_, after) = inserted.of_module(line);
        let wanted = "\t{ .reg .pred p; st.global.u32 [%rd1], %r1; fence.sc.gpu; bar.sync 0; }";
        assert_eq!(after.as_deref(), Some(wanted));
    }
}
