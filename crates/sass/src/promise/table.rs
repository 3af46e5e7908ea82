//! The table of promises in `docs/sass.md`, computed from the instructions of each line.

use std::fmt::Write;

use machine::form::AccessLevel;
use model::isa::atom::AtomicOrder;

use super::{OrderingWord, Promise, WordAccess, promised, scope, scope_of_access};
use crate::form::{self, UnknownInstruction};

/// Sequences that the table shows.
const SHOWN: &[&str] = &[
    "LDG.E",
    "LDG.E.SYS",
    "LDG.E.CG",
    "STG.E.STRONG.SM",
    "STG.E.STRONG.GPU",
    "LDG.E.STRONG.SYS",
    "LDG.E.CV",
    "STG.E.WT",
    "LDG.E.MMIO.SYS",
    "LDG.E.CONSTANT",
    "LDS",
    "ATOMS.ADD",
    "ATOMG.E.ADD.STRONG.SM",
    "ATOMG.E.ADD.STRONG.GPU",
    "ATOM.E.ADD",
    "REDG.E.ADD.STRONG.SYS",
    "MEMBAR.ALL.CTA",
    "MEMBAR.SC.CTA",
    "MEMBAR.ALL.GPU",
    "MEMBAR.SC.GPU",
    "CCTL.IVALL",
    "MEMBAR.ALL.GPU ; CCTL.IVALL",
    "MEMBAR.SC.GPU ; ERRBAR ; CGAERRBAR ; CCTL.IVALL",
    "MEMBAR.GL.IVALLD",
    "ATOMG.E.ADD.STRONG.GPU ; CCTL.IVALL",
    "REDG.E.ADD.STRONG.GPU ; CCTL.IVALL",
    "MEMBAR.ALL.GPU ; ERRBAR ; REDG.E.ADD.STRONG.GPU",
    "MEMBAR.ALL.GPU ; ERRBAR ; ATOMG.E.ADD.STRONG.GPU ; CCTL.IVALL",
    "MEMBAR.ALL.GPU ; ERRBAR ; ATOMG.E.ADD.STRONG.SYS ; CCTL.IVALL",
    "BAR.SYNC",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "UCGABAR_WAIT ; CCTL.IVALL",
];

/// A table in Markdown: words, and what they promise in the order of the words.
pub fn table() -> Result<String, UnknownInstruction> {
    let mut out = String::from("| SASS | promises |\n|---|---|\n");
    for text in SHOWN {
        let mut names = Vec::new();
        let mut words = Vec::new();
        for name in text.split(';').map(str::trim) {
            let access = match () {
                () if name.starts_with("ATOM") => WordAccess::Atomic,
                () if name.starts_with("RED") => WordAccess::Reduction,
                () => WordAccess::Single,
            };
            for word in form::forms(name)?.filter_map(|form| OrderingWord::of(form, access)) {
                names.push(name);
                words.push(word);
            }
        }
        let all: Vec<String> = promised(&words)
            .into_iter()
            .map(|one| said(one.promise, names[one.word], words[one.word]))
            .collect();
        writeln!(out, "| `{text}` | {} |", all.join("; ")).expect("a string takes it");
    }
    Ok(out)
}

/// One promise, of the word with this name.
fn said(promise: Promise, name: &str, word: OrderingWord) -> String {
    let has = |modifier: &str| name.split('.').any(|part| part == modifier);
    match promise {
        Promise::Fence(order, scope) => format!("`fence.{}.{scope}`", order.name()),
        Promise::Access | Promise::AcqRel | Promise::Release | Promise::Acquire => {
            let OrderingWord::Access { level, access } = word else { return String::new() };
            let scope = match access {
                WordAccess::Single => scope_of_access(level, has),
                WordAccess::Reduction | WordAccess::Atomic => scope(level),
            };
            let order = match promise.order_of_atomic() {
                AtomicOrder::AcqRel => "acq_rel",
                AtomicOrder::Acquire => "acquire",
                AtomicOrder::Release => "release",
                AtomicOrder::Relaxed => "relaxed",
            };
            match scope {
                _ if level == AccessLevel::ReadOnly => "`ld.global.nc`".to_owned(),
                Some(scope) => format!("{order} at {scope}"),
                None => "weak".to_owned(),
            }
        }
        Promise::Bar => "`bar.sync`".to_owned(),
        Promise::ClusterArrive => "`barrier.cluster.arrive.relaxed`".to_owned(),
        Promise::ClusterWait { acquires: true } => "`barrier.cluster.wait`".to_owned(),
        Promise::ClusterWait { acquires: false } => "a wait that orders nothing".to_owned(),
    }
}
