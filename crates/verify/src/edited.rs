//! Edits of a module: how those of a test are written in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use repair::EditedLine;

use crate::columns::Composed;

/// A change of a line of the module, in all threads that execute it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelEdit {
    /// The line that changes, or before which one is inserted, from 1.
    pub line: usize,
    /// The line as it is; `None` if one is inserted.
    pub before: Option<String>,
    /// As it becomes; `None` if it is removed.
    pub after: Option<String>,
}

/// A change of one instruction of the module, in all threads that execute it. Names are those of the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct InstructionEdit {
    /// The line of the instruction, or of the one before which another is inserted, from 1.
    line: usize,
    /// As the test writes it; `None` if it is inserted.
    before: Option<String>,
    /// `None` if it is removed.
    after: Option<String>,
    /// The instruction that another is inserted before.
    next: Option<String>,
}

/// What an edit does to a line.
#[derive(Clone, PartialEq, Eq, Debug)]
enum LineChange {
    /// A line before it.
    Inserted(String),
    Replaced(String),
    Removed,
}

/// How names of a test are written in its module.
pub(crate) struct ModuleSpelling<'s> {
    composed: &'s Composed,
    /// Those of the module, and those of the test.
    module: BTreeSet<&'s str>,
    test: BTreeSet<&'s str>,
}

impl<'s> ModuleSpelling<'s> {
    pub(crate) fn new(composed: &'s Composed, module: &'s str) -> ModuleSpelling<'s> {
        let of = |text: &'s str| text.lines().flat_map(words).collect();
        ModuleSpelling { composed, module: of(module), test: of(&composed.text) }
    }

    /// The edits of the module that those of a test are, in the order of lines; `None` if one of them is none of the module,
    /// and where nothing changes.
    pub(crate) fn instruction_edits<'e>(
        &self,
        lines: impl Iterator<Item = &'e EditedLine>,
    ) -> Option<Vec<InstructionEdit>> {
        let mut all: Vec<InstructionEdit> = Vec::new();
        for edited in lines {
            let edit = self.instruction_edit(edited)?;
            if edit.before == edit.after {
                return None;
            }
            if !all.contains(&edit) {
                all.push(edit);
            }
        }
        all.sort_by_key(|edit| edit.line);
        let same = |one: &InstructionEdit, other: &InstructionEdit| {
            one.before.is_none() && other.before.is_none() && one.line == other.line
        };
        let groups = all.chunk_by(same).flat_map(|group| self.with_declarations(group));
        Some(groups.collect())
    }

    /// The instruction of the module that an edit of the test changes.
    fn instruction_edit(&self, edited: &EditedLine) -> Option<InstructionEdit> {
        let column = edited.thread.strip_prefix('P')?.parse().ok()?;
        let spelled = |text: &String| self.spelled(text);
        Some(InstructionEdit {
            line: self.composed.module_line(column, edited.line)?,
            before: edited.before.as_ref().map(spelled),
            after: match &edited.after {
                Some(after) => Some(self.spelled(&self.composed.left_out.in_kernel(after)?)),
                None => None,
            },
            next: edited.next.as_ref().filter(|_| edited.before.is_none()).map(spelled),
        })
    }

    /// An instruction of the test with the registers of the module: `%r1` is `r1` in a test.
    fn spelled(&self, instruction: &str) -> String {
        let mut out = String::new();
        let mut rest = instruction;
        for word in words(instruction) {
            let at = rest.find(word).unwrap_or(0);
            out.push_str(&rest[..at]);
            let register = format!("%{word}");
            out.push_str(if self.module.contains(&register[..]) { &register } else { word });
            rest = &rest[at + word.len()..];
        }
        out + rest
    }

    /// Instructions that are inserted at one place. Registers and labels that they bring along are declared around them.
    fn with_declarations(&self, inserted: &[InstructionEdit]) -> Vec<InstructionEdit> {
        let texts: Vec<&str> = inserted.iter().filter_map(|edit| edit.after.as_deref()).collect();
        let is_name = |word: &&str| {
            word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.contains(['.', ':'])
        };
        let all = texts.iter().flat_map(|text| words(text)).filter(is_name);
        let is_new = |name: &&str| !self.module.contains(name) && !self.test.contains(name);
        let is_label = |name: &str| texts.iter().any(|text| text.starts_with(&format!("{name}:")));
        let new: BTreeSet<&str> = all.filter(is_new).filter(|name| !is_label(name)).collect();
        if new.is_empty() || inserted[0].before.is_some() {
            return inserted.to_vec();
        }
        let is_predicate = |name: &str| {
            let guards = [format!("@{name} "), format!("@!{name} ")];
            texts.iter().any(|text| guards.iter().any(|guard| text.starts_with(guard)))
        };
        let declared = new.iter().map(|name| {
            let ty = if is_predicate(name) { "pred" } else { "b32" };
            format!(".reg .{ty} {name}; ")
        });
        let declared: String = declared.collect();
        let after = format!("{{ {declared}{}; }}", texts.join("; "));
        vec![InstructionEdit { after: Some(after), ..inserted[0].clone() }]
    }
}

/// The edits with each new barrier of a warp as another instruction; `None` if there is none. A launch is a small one of its
/// kernel: where a barrier of the CTA suffices as well, it is the one that a launch of more threads needs, and a mask of
/// all lanes is that of every block.
pub(crate) fn with_barrier(
    edits: &[InstructionEdit],
    barrier: &str,
) -> Option<Vec<InstructionEdit>> {
    let is_of_warp = |edit: &InstructionEdit| {
        let after = edit.after.as_deref().filter(|_| edit.before.is_none());
        after.is_some_and(|after| after.starts_with(WARP_BARRIER))
    };
    let replaced = |edit: &InstructionEdit| {
        if is_of_warp(edit) {
            InstructionEdit { after: Some(barrier.to_owned()), ..edit.clone() }
        } else {
            edit.clone()
        }
    };
    edits.iter().any(is_of_warp).then(|| edits.iter().map(replaced).collect())
}

const WARP_BARRIER: &str = "bar.warp.sync";

/// A module with edits.
#[derive(Debug)]
pub(crate) struct EditedModule {
    pub(crate) text: String,
    /// The lines that change.
    pub(crate) edits: Vec<KernelEdit>,
}

/// A module with edits; `None` if it cannot be told how one is written there. A line that is removed is an empty one.
pub(crate) fn edited(text: &str, edits: &[InstructionEdit]) -> Option<EditedModule> {
    let mut of_lines: BTreeMap<usize, Vec<&InstructionEdit>> = BTreeMap::new();
    for edit in edits {
        of_lines.entry(edit.line).or_default().push(edit);
    }
    let (mut out, mut changes) = (String::new(), Vec::new());
    for (line, written) in (1..).zip(text.lines()) {
        let mut own = Some(written.to_owned());
        for edit in of_lines.get(&line).map_or(&[][..], Vec::as_slice) {
            let Some(now) = own.clone() else { break };
            match edit.of_line(&now)? {
                LineChange::Inserted(inserted) => {
                    out.extend([&inserted, "\n"]);
                    changes.push(KernelEdit { line, before: None, after: Some(inserted) });
                }
                LineChange::Replaced(after) => own = Some(after),
                LineChange::Removed => own = None,
            }
        }
        if own.as_deref() != Some(written) {
            let before = Some(written.to_owned());
            changes.push(KernelEdit { line, before, after: own.clone() });
        }
        out.extend([own.as_deref().unwrap_or_default(), "\n"]);
    }
    Some(EditedModule { text: out, edits: changes })
}

impl InstructionEdit {
    /// What it does to a line of the module. What the edit leaves as it is keeps its spelling. `None` if the instruction is not found
    /// among those of the line.
    fn of_line(&self, written: &str) -> Option<LineChange> {
        let all = statements(written);
        let is_whole = all.len() <= 1;
        let indent: String = written.chars().take_while(|c| c.is_whitespace()).collect();
        let after = self.after.as_deref();
        let whole = after.map(|text| {
            // A block with declarations, unlike the elements of a vector at the end of an instruction.
            let end = if text.starts_with('{') { "" } else { ";" };
            format!("{indent}{text}{end}")
        });
        let Some(own) = self.before.as_ref().or(self.next.as_ref()) else {
            return whole.map(LineChange::Inserted);
        };
        let mut alike =
            all.into_iter().filter(|statement| is_alike(&written[statement.clone()], own));
        let statement = alike.next().filter(|_| alike.next().is_none());
        let changed = match (&self.before, statement) {
            (None, Some(statement)) if !is_whole => {
                let own = &written[statement.clone()];
                in_place(written, &statement, &format!("{}; {own}", after.unwrap_or_default()))
            }
            (None, _) => return whole.map(LineChange::Inserted),
            (Some(_), None) if !is_whole => return None,
            (Some(_), _) if is_whole && after.is_none() => return Some(LineChange::Removed),
            (Some(_), None) => whole.unwrap_or_default(),
            (Some(before), Some(statement)) => {
                let own = &written[statement.clone()];
                let changed = after.map_or(String::new(), |after| {
                    respelled(own, before, after).unwrap_or_else(|| after.to_owned())
                });
                in_place(written, &statement, &changed)
            }
        };
        Some(LineChange::Replaced(changed))
    }
}

/// A line with another text in the place of one of its instructions; nothing, without its `;`, if that is empty.
fn in_place(written: &str, statement: &Range<usize>, text: &str) -> String {
    let rest = &written[statement.end..];
    let rest = if text.is_empty() { rest.strip_prefix(';').unwrap_or(rest) } else { rest };
    format!("{}{text}{rest}", &written[..statement.start])
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

    fn edit(before: Option<&str>, after: Option<&str>) -> InstructionEdit {
        let own = |text: &str| text.to_owned();
        InstructionEdit { line: 1, before: before.map(own), after: after.map(own), next: None }
    }

    fn changed(edit: &InstructionEdit, line: &str) -> LineChange {
        edit.of_line(line).expect("it is there")
    }

    #[test]
    fn an_edit_changes_the_line_of_the_module_and_nothing_else_of_it() {
        let edit = edit(
            Some("@p1 atom.global.inc.u32 r38, [rd7], r37"),
            Some("@p1 atom.acquire.gpu.global.inc.u32 r38, [rd7], r37"),
        );
        let after = changed(&edit, "\t@%p1 atom.global.inc.u32 \t%r38, [%rd7], %r37;");
        let wanted = "\t@%p1 atom.acquire.gpu.global.inc.u32 \t%r38, [%rd7], %r37;";
        assert_eq!(after, LineChange::Replaced(wanted.to_owned()));
    }

    #[test]
    fn an_instruction_that_is_spelled_in_another_way_is_replaced_as_a_whole() {
        let before = "@p4 st.global.b32 [rd3], {r9}";
        let after = "@%p4 st.release.gpu.global.b32 [%rd3], {%r9}";
        let edit = edit(Some(before), Some(after));
        let after = changed(&edit, "\t@%p4 st.global.b32 [ %rd3 + 0 ], { %r9 };");
        let wanted = "\t@%p4 st.release.gpu.global.b32 [%rd3], {%r9};";
        assert_eq!(after, LineChange::Replaced(wanted.to_owned()));
    }

    #[test]
    fn what_is_inserted_stands_as_the_line_behind_it() {
        let inserted = edit(None, Some("fence.acq_rel.gpu"));
        let wanted = LineChange::Inserted("\tfence.acq_rel.gpu;".to_owned());
        assert_eq!(changed(&inserted, "\tbar.sync 0;"), wanted);
    }

    #[test]
    fn an_instruction_of_inline_assembly_is_changed_in_its_line() {
        let line = "\t{ .reg .pred p; st.global.u32 [%rd1], %r1; bar.sync 0; }";
        let released =
            edit(Some("st.global.u32 [rd1], r1"), Some("st.release.gpu.global.u32 [rd1], r1"));
        let removed = edit(Some("bar.sync 0"), None);
        let inserted = InstructionEdit {
            next: Some("bar.sync 0".to_owned()),
            ..edit(None, Some("fence.sc.gpu"))
        };
        for (edit, wanted) in [
            (&released, "\t{ .reg .pred p; st.release.gpu.global.u32 [%rd1], %r1; bar.sync 0; }"),
            (&removed, "\t{ .reg .pred p; st.global.u32 [%rd1], %r1;  }"),
            (&inserted, "\t{ .reg .pred p; st.global.u32 [%rd1], %r1; fence.sc.gpu; bar.sync 0; }"),
        ] {
            assert_eq!(changed(edit, line), LineChange::Replaced(wanted.to_owned()));
        }
        assert_eq!(
            edit(Some("bar.sync 0"), None).of_line("\tbar.sync 0;"),
            Some(LineChange::Removed)
        );
        // It cannot be told which of them it is.
        assert_eq!(removed.of_line("bar.sync 0; bar.sync 0;"), None);
    }
}
