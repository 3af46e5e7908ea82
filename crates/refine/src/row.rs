//! One lowering: both sides parsed, whatever their languages.

use ptx::LintOptions;
use ptx::version::Target;
use text::Diagnostic;
use text::diagnostic;

use super::code::MachineCode;
use super::item::TargetItem;
use super::language::SourceId;
use super::row_question::PreparedRow;
use super::verdict::{Finding, Verdict};
use super::{contract, ptx_items};

/// The text of one row.
#[derive(Clone, Debug)]
pub struct Row {
    pub source: String,
    pub target: String,
    pub arch: String,
}

/// Assumptions about programs beyond the models.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Assumptions {
    /// Whether a part of a word that is exchanged as a word is accessed only by such exchanges.
    pub cas_only: bool,
}

/// The target's side.
#[derive(Clone, Debug)]
pub struct LoweredRow {
    pub items: Vec<TargetItem>,
    pub arch: Target,
    /// The machine code, if the items are its promises.
    pub machine: Option<MachineCode>,
}

/// `Err` is a final finding.
pub type RowResult<T> = Result<T, Box<Finding>>;

/// A final finding.
pub fn found(verdict: Verdict, why: impl Into<String>) -> Box<Finding> {
    Box::new(Finding::new(verdict, why))
}

/// The maximum number of accesses of a side. Each store has a distinct value, and contexts repeat the row.
const MOST: usize = 8;

/// Refuses code with too many accesses.
pub fn limited(accesses: usize) -> RowResult<()> {
    if accesses <= MOST {
        return Ok(());
    }
    let why = format!("{accesses} accesses: a row has at most {MOST}");
    Err(found(Verdict::Unsupported, why))
}

/// Reads both sides and makes the comparisons that need no context.
pub fn prepare(row: &Row, assumptions: Assumptions) -> PreparedRow {
    read(row, assumptions).unwrap_or_else(PreparedRow::Found)
}

fn read(row: &Row, assumptions: Assumptions) -> RowResult<PreparedRow> {
    let arch = row.arch.trim();
    let Some(arch) = Target::parse(arch) else {
        let why = format!("unknown architecture `{arch}`: write `sm_` and a number");
        return Err(found(Verdict::Unsupported, why));
    };
    if row.target.trim_start().starts_with("ERROR") {
        let why = format!("the compiler rejected it: {}", short(&row.target));
        return Err(found(Verdict::Invalid, why));
    }
    let lowered = || target(row, arch);
    SourceId::of_row(&row.source).prepare(&row.source, &lowered, arch, assumptions)
}

/// Whether the text is machine code: `LDG.E`, `@P0 RED.E.ADD`, `(none)`.
fn is_machine(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.find(|word| !word.starts_with('@')).unwrap_or("");
    let opcode = first.split(['.', ';']).next().unwrap_or("");
    first == "(none)"
        || opcode.len() > 1 && opcode.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

fn target(row: &Row, arch: Target) -> RowResult<LoweredRow> {
    if is_machine(&row.target) {
        let items = contract::items(&row.target);
        let items = items.map_err(|why| found(Verdict::Unsupported, why.0))?;
        return Ok(LoweredRow { items, arch, machine: MachineCode::new(&row.target).ok() });
    }
    Ok(LoweredRow { items: ptx_items("target", &row.target, arch)?, arch, machine: None })
}

/// The items of a PTX excerpt for the newest family, or the reason why it has none.
pub(super) fn ptx_excerpt(text: &str) -> Result<Vec<TargetItem>, String> {
    let newest = Target { sm: 90, variant: None };
    ptx_items("table", text, newest).map_err(|finding| finding.why)
}

pub(super) fn ptx_items(side: &str, text: &str, arch: Target) -> RowResult<Vec<TargetItem>> {
    let options = LintOptions { target: Some(arch), ..LintOptions::default() };
    let (pieces, diagnostics) = ptx::excerpt(side, text, options).map_err(|d| {
        found(Verdict::Invalid, format!("the {side} is not valid PTX: {}", first(&d)))
    })?;
    let broken = diagnostics.iter().filter(|d| d.severity == diagnostic::Severity::Error);
    let broken: Vec<Diagnostic> = broken.cloned().collect();
    if !broken.is_empty() {
        return Err(found(
            Verdict::Invalid,
            format!("the {side} breaks a rule: {}", first(&broken)),
        ));
    }
    ptx_items::items(&pieces).map_err(|why| found(Verdict::Unsupported, why.0))
}

pub(super) fn first(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map_or(String::new(), |d| {
        let diagnostic::Span { line, column, .. } = d.span;
        format!("{} (line {line}, column {column})", d.message)
    })
}

fn short(text: &str) -> String {
    let text = text.trim_start().trim_start_matches("ERROR").trim_start_matches(':').trim();
    let end = text.char_indices().nth(100).map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::PTX;

    #[test]
    fn languages_are_told_by_their_first_word() {
        for text in
            ["ld.u32 r, [a];", "fence.sc.sys", "@!p atom.add.u32 r, [a], 1", "L: membar.gl;"]
        {
            assert_eq!(SourceId::of_row(text), PTX, "{text}");
        }
        for text in [
            "fence seq_cst",
            "%r = load i32, ptr %p",
            "call void @llvm.nvvm.barrier0()",
            "store i32 1, ptr %p",
            "",
        ] {
            assert_ne!(SourceId::of_row(text), PTX, "{text}");
        }
        for text in ["LDG.E", "@P0 MEMBAR.ALL.GPU ; ERRBAR", "(none)", "UCGABAR_ARV ;"] {
            assert!(is_machine(text), "{text}");
        }
        assert!(!is_machine("ld.u32 r, [a];"));
        assert!(!is_machine(""));
    }
}
