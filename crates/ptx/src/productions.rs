//! The table of instructions: what each may look like, what it needs, and what the model does with it.
//!
//! It is text, `instructions.table`, in which a line is a production in the notation of [`crate::production`], and
//!
//! - `# …` is a comment;
//! - `$NAME = …` is what `$NAME` stands for;
//! - `[outside, memory] what` begins instructions that are [`Outside`](Treatment::Outside) of the model, and access memory or
//!   synchronize threads; `modelled` and `without effect` are the other treatments, `fences` are those of [`crate::fences`], and `words` are modifiers
//!   that are known though no instruction has them;
//! - a line that begins with a blank is another list of operands for the modifiers of the line before it;
//! - `a|b` in the place of a name is a production of both.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use rustc_hash::FxHashMap;

use crate::production::{self, Production};

const TEXT: &str = include_str!("instructions.table");

/// What the model does with an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Treatment {
    Modelled,
    /// It has no effect on memory, values and control flow.
    WithoutEffect,
    /// What is left out, as the subject of "are outside this model".
    Outside(&'static str),
}

/// A line of the text, after the one that has its modifiers.
type ProductionLine = (&'static str, &'static str);

/// An instruction: what its name begins with, and how it may be written.
pub(crate) struct InstructionHead {
    pub(crate) parts: Vec<&'static str>,
    pub(crate) treatment: Treatment,
    /// Whether it accesses memory, or synchronizes threads.
    pub(crate) memory: bool,
    lines: Vec<ProductionLine>,
    /// Read when they are asked for: most commands ask for few of them.
    productions: OnceLock<Vec<Production>>,
}

impl InstructionHead {
    pub(crate) fn productions(&self) -> &[Production] {
        self.productions.get_or_init(|| self.lines.iter().copied().map(read).collect())
    }

    pub(crate) fn name(&self) -> String {
        self.parts.join(".")
    }

    /// The modifiers that it has in some production.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.productions().iter().flat_map(Production::words)
    }

    /// Whether it is checked, operands included, in some of its forms at least.
    pub(crate) fn is_checked(&self) -> bool {
        self.productions().iter().any(Production::is_checked)
    }

    /// Whether its first operand is what it writes.
    pub(crate) fn has_result(&self) -> bool {
        self.productions().iter().any(Production::has_result)
    }

    /// Whether there is more to check than which modifiers it has.
    pub(crate) fn is_more_than_words(&self) -> bool {
        !self.productions().iter().all(Production::is_words)
    }

    /// Whether it has this modifier in some production.
    pub(crate) fn has(&self, modifier: &str) -> bool {
        self.productions().iter().any(|one| one.has(modifier))
    }

    /// Whether it has this modifier, or its productions refuse it: one that other instructions have.
    pub(crate) fn judges(&self, modifier: &str) -> bool {
        self.has(modifier)
            || self.productions().iter().all(|one| !one.is_list()) && WORDS.has(modifier)
    }
}

/// Lines of one name in a group of the text.
struct NamedLines {
    name: &'static str,
    /// What the head of the group says in brackets, and after them.
    kind: &'static str,
    what: &'static str,
    /// Of [`InstructionTable::lines`].
    lines: Range<usize>,
}

/// The instructions with one opcode.
#[derive(Default)]
struct OpcodeEntry {
    named: Vec<NamedLines>,
    /// Made when they are asked for.
    heads: OnceLock<Vec<InstructionHead>>,
}

#[derive(Default)]
struct InstructionTable {
    lines: Vec<ProductionLine>,
    /// In the order of the text.
    opcodes: Vec<&'static str>,
    /// By opcode: a module may ask for millions.
    entries: FxHashMap<&'static str, OpcodeEntry>,
    fences: Vec<ProductionLine>,
    /// Modifiers that no instruction has.
    words: Vec<&'static str>,
    definitions: FxHashMap<&'static str, &'static str>,
}

impl InstructionTable {
    /// Adds the lines from `first` on, which have these names.
    fn add(&mut self, names: &'static str, first: usize, kind: &'static str, what: &'static str) {
        let lines = first..self.lines.len();
        if lines.is_empty() {
            return;
        }
        if kind == FENCES {
            self.fences.extend(self.lines[lines].iter().copied());
            return;
        }
        for name in names.split('|') {
            let opcode = name.split_once('.').map_or(name, |(opcode, _)| opcode);
            let entry = self.entries.entry(opcode).or_insert_with(|| {
                self.opcodes.push(opcode);
                OpcodeEntry::default()
            });
            entry.named.push(NamedLines { name, kind, what, lines: lines.clone() });
        }
    }

    fn heads(&self, entry: &'static OpcodeEntry) -> &'static [InstructionHead] {
        entry.heads.get_or_init(|| {
            let mut heads: Vec<InstructionHead> = Vec::new();
            for NamedLines { name, kind, what, lines } in &entry.named {
                let lines = &self.lines[lines.clone()];
                let parts: Vec<&str> = name.split('.').collect();
                if let Some(head) = heads.iter_mut().find(|head| head.parts == parts) {
                    head.lines.extend(lines);
                    continue;
                }
                let (treatment, memory) = kind.split_once(", ").unwrap_or((kind, ""));
                let treatment = match treatment {
                    "modelled" => Treatment::Modelled,
                    "without effect" => Treatment::WithoutEffect,
                    "outside" => Treatment::Outside(what.trim()),
                    other => panic!("`[{other}]` is not a group"),
                };
                heads.push(InstructionHead {
                    parts,
                    treatment,
                    memory: !memory.is_empty(),
                    lines: lines.to_vec(),
                    productions: OnceLock::new(),
                });
            }
            heads
        })
    }
}

/// The group of fences, which are not found by their heads.
const FENCES: &str = "fences";

static TABLE: LazyLock<InstructionTable> = LazyLock::new(|| {
    let mut table = InstructionTable::default();
    let (mut kind, mut what) = ("", "");
    // Lines with the same names are added as one.
    let (mut names, mut first) = ("", 0);
    for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, text)) = line.strip_prefix('$').and_then(|line| line.split_once(" = ")) {
            table.definitions.insert(name, text);
            continue;
        }
        if let Some((next, of)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            table.add(names, first, kind, what);
            (kind, what, names, first) = (next, of, "", table.lines.len());
            continue;
        }
        if kind == "words" {
            table.words.extend(line.split_whitespace());
            continue;
        }
        let end = line.bytes().position(|byte| matches!(byte, b' ' | b'@')).unwrap_or(line.len());
        if end > 0 && &line[..end] != names {
            table.add(names, first, kind, what);
            (names, first) = (&line[..end], table.lines.len());
        }
        let last = table.lines[first..].last().filter(|_| end == 0);
        let modifiers = last.map_or(line, |(modifiers, _)| modifiers);
        table.lines.push((modifiers, line));
    }
    table.add(names, first, kind, what);
    table
});

/// Every instruction of the table.
fn heads() -> impl Iterator<Item = &'static InstructionHead> {
    TABLE.entries.values().flat_map(|entry| TABLE.heads(entry))
}

/// The modifiers of all instructions.
struct KnownWords {
    exact: HashSet<&'static str>,
    /// Those that have `#` or `*` in them.
    patterns: Vec<&'static str>,
}

static WORDS: LazyLock<KnownWords> = LazyLock::new(|| {
    let own = heads().flat_map(InstructionHead::words);
    let exact: HashSet<&str> = own.chain(TABLE.words.iter().copied()).collect();
    let patterns = exact.iter().copied().filter(|word| word.contains(['#', '*'])).collect();
    KnownWords { exact, patterns }
});

impl KnownWords {
    fn has(&self, modifier: &str) -> bool {
        self.exact.contains(modifier)
            || self.patterns.iter().any(|word| production::is(modifier, word))
    }
}

fn read((modifiers, line): ProductionLine) -> Production {
    let modifiers = modifiers.split(" : ").next().unwrap_or(modifiers);
    let mut text = without_abbreviations(modifiers);
    if let Some((_, operands)) = line.split_once(" : ") {
        text += " : ";
        text += &without_abbreviations(operands);
    }
    // The table lasts as long as the program.
    let text: &'static str = text.leak();
    production::read(text).unwrap_or_else(|| panic!("`{text}` is not a production"))
}

fn without_abbreviations(text: &str) -> String {
    let mut pieces = text.split('$');
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        let meant = TABLE.definitions.get(name);
        let meant = meant.unwrap_or_else(|| panic!("`${name}` is not defined"));
        whole += &without_abbreviations(meant);
        whole += rest;
    }
    whole
}

/// Fences of proxies, of one state space and of one operation, which are not found by their heads.
pub(crate) fn fences() -> impl Iterator<Item = Production> {
    TABLE.fences.iter().copied().map(read)
}

/// The opcodes of the table.
pub(crate) fn opcodes() -> impl Iterator<Item = &'static str> {
    TABLE.opcodes.iter().copied()
}

/// The instructions with this opcode.
pub(crate) fn of_opcode(opcode: &str) -> Option<&'static [InstructionHead]> {
    TABLE.entries.get(opcode).map(|entry| TABLE.heads(entry))
}

/// The instruction that these parts are: of several that they begin with, the longest.
pub(crate) fn find(parts: &[&str]) -> Option<&'static InstructionHead> {
    let heads = of_opcode(parts.first()?)?;
    let begins = |head: &&InstructionHead| parts.starts_with(&head.parts);
    heads.iter().filter(begins).max_by_key(|head| head.parts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_found_by_the_longest_head() {
        let found = |name: &str| {
            let parts: Vec<&str> = name.split('.').collect();
            find(&parts).map(InstructionHead::name)
        };
        assert_eq!(found("cp.async.bulk.tensor.2d").as_deref(), Some("cp.async.bulk.tensor"));
        assert_eq!(found("vote.sync.all.pred").as_deref(), Some("vote.sync"));
        assert_eq!(found("vote.all.pred").as_deref(), Some("vote"));
        assert_eq!(found("bar"), None);
        assert_eq!(found("ld.global.u32"), None);
    }

    #[test]
    fn a_group_says_what_becomes_of_its_instructions() {
        let of = |name: &str| find(&[name]).map(|head| (head.treatment, head.memory));
        assert_eq!(of("add"), Some((Treatment::Modelled, false)));
        assert_eq!(of("prefetch"), Some((Treatment::WithoutEffect, true)));
        let queries = "queries of textures and surfaces, and matrix operations on registers";
        assert_eq!(of("movmatrix"), Some((Treatment::Outside(queries), false)));
        let is_said = |head: &InstructionHead| match head.treatment {
            Treatment::Outside(what) => !what.is_empty(),
            Treatment::Modelled | Treatment::WithoutEffect => true,
        };
        assert!(heads().all(is_said));
    }

    #[test]
    fn some_instructions_write_their_first_operand() {
        let writes = |name: &str| {
            let parts: Vec<&str> = name.split('.').collect();
            find(&parts).is_some_and(InstructionHead::has_result)
        };
        for name in
            ["mov", "bar.cta.red", "mbarrier.check_layout", "match.any", "wmma.load", "tcgen05.ld"]
        {
            assert!(writes(name), "{name}");
        }
        for name in ["ret", "bar.sync", "mbarrier.init", "brx.idx", "wmma.store", "tcgen05.dealloc"]
        {
            assert!(!writes(name), "{name}");
        }
    }

    #[test]
    fn every_line_can_be_read() {
        let read: usize = heads().map(|head| head.productions().len()).sum();
        assert!(read > 400 && fences().count() > 10, "{read}");
    }

    #[test]
    #[should_panic(expected = "is not defined")]
    fn an_abbreviation_is_defined() {
        without_abbreviations("a $B");
    }
}
