//! The lowering of memory instructions and barriers by ptxas, as tables: one text file for each family of GPUs.
//!
//! A table has lists and rows. An entry of a list has qualifiers and their SASS text, in one or more
//! columns. A row has a pattern of instructions, with the names of lists, and their lowering:
//!
//! ```text
//! targets sm_90
//! measured 12.9 13.1
//! {order}        gives {fence} {strength}
//!   - / weak     =                                    |
//!   release.gpu  = MEMBAR.ALL.GPU ; ERRBAR            | .STRONG.GPU
//! st{order}.global.b32 -> {fence} ; STG.E{strength}
//! ```
//!
//! A row of an asynchronous operation may name operands that its code depends on, in parentheses: `(16)` is the size
//! of a copy, and `(src-size)`, `(ignore-src)` and `(count)` are operands that not every instruction has.
//!
//! The first row that matches an instruction applies. The rows were measured with the versions of ptxas
//! after `measured` (for one target: `measured sm_70: 12.9`), unless a row ends with its own:
//! `ld{order}.b32 -> LD.E [by 13.1]`.

pub mod asynchronous;
mod parse;

use std::sync::LazyLock;

use ptx::modifier;

use ptx;
use text::Diagnostic;
use text::diagnostic::Severity;

/// Reads a table, or reports all of its errors, including rows that no instruction matches.
/// `path` is for the messages.
pub fn read(path: &str, text: &str) -> Result<LoweringTable, Vec<Diagnostic>> {
    parse::read(path, text, true)
}

/// A parsed table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoweringTable {
    /// The targets that it was measured for: `sm_` numbers.
    pub targets: Vec<u16>,
    /// Whether it is of C++ and gives PTX (`targets ptx`).
    pub cxx: bool,
    /// The versions of ptxas that its rows were measured with, of one target or of all.
    measured: Vec<(Option<u16>, Vec<String>)>,
    lists: Vec<PatternList>,
    rows: Vec<LoweringRow>,
    /// Rows of asynchronous operations, which are not compared with what they lower.
    asynchronous: Vec<LoweringRow>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct PatternList {
    name: String,
    columns: Vec<String>,
    entries: Vec<ListEntry>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct ListEntry {
    /// The target that it is for, where it is not for all.
    only: Option<u16>,
    /// All of them are there; empty for an instruction with none that this list knows.
    qualifiers: Vec<String>,
    /// One for each column.
    texts: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct LoweringRow {
    /// Its line in the file, from 1, and its text.
    line: usize,
    text: String,
    opcode: String,
    pattern: Vec<PatternPiece>,
    becomes: Vec<PatternPiece>,
    /// The versions of ptxas that make it so, where they are not those of the table.
    by: Vec<String>,
}

/// What an instruction becomes, and which versions of ptxas were seen to make it so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured<'t> {
    /// Machine instructions, separated by ` ; `, or nothing.
    pub text: String,
    pub by: &'t [String],
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum PatternPiece {
    /// A qualifier, or text of the machine's instruction.
    Text(String),
    /// The index of a list; on the right side, and of a column.
    List(usize, usize),
}

impl LoweringTable {
    /// What an instruction with these qualifiers becomes on a target: machine instructions,
    /// separated by ` ; `, or nothing; `None` where the table has no row for it.
    pub fn find(&self, sm: u16, opcode: &str, qualifiers: &[&str]) -> Option<String> {
        self.found(sm, opcode, qualifiers).map(|(_, text)| text)
    }

    /// The same, with the versions of ptxas that make it so.
    pub fn measured(&self, sm: u16, opcode: &str, qualifiers: &[&str]) -> Option<Measured<'_>> {
        let (row, text) = self.found(sm, opcode, qualifiers)?;
        let of_target = |only: Option<u16>| only.is_none_or(|only| only == sm);
        let all = self.measured.iter().find(|(only, _)| of_target(*only));
        let of_table = all.map_or(&[][..], |(_, versions)| versions);
        Some(Measured { text, by: if row.by.is_empty() { of_table } else { &row.by } })
    }

    /// The first row that has the instruction, and what it becomes.
    fn found(&self, sm: u16, opcode: &str, qualifiers: &[&str]) -> Option<(&LoweringRow, String)> {
        let all = self.rows.iter().chain(&self.asynchronous);
        let mut rows = all.filter(|row| row.opcode == opcode);
        rows.find_map(|row| Some((row, self.becomes(row, sm, qualifiers)?)))
    }

    fn becomes(&self, row: &LoweringRow, sm: u16, qualifiers: &[&str]) -> Option<String> {
        let mut left = qualifiers.to_vec();
        for piece in &row.pattern {
            if let PatternPiece::Text(wanted) = piece {
                let at = left.iter().position(|one| one == wanted)?;
                left.remove(at);
            }
        }
        let mut chosen: Vec<Option<&ListEntry>> = vec![None; self.lists.len()];
        for piece in &row.pattern {
            if let PatternPiece::List(list, _) = *piece {
                let entry = self.lists[list].choose(sm, &left)?;
                left.retain(|one| !entry.qualifiers.iter().any(|taken| taken == one));
                chosen[list] = Some(entry);
            }
        }
        if !left.is_empty() {
            return None;
        }
        let mut text = String::new();
        for piece in &row.becomes {
            match piece {
                PatternPiece::Text(more) => text.push_str(more),
                PatternPiece::List(list, column) => text.push_str(&chosen[*list]?.texts[*column]),
            }
        }
        let instructions = text.split(';').map(str::trim).filter(|one| !one.is_empty());
        Some(instructions.collect::<Vec<_>>().join(" ; "))
    }
}

/// A piece of what a table gives: an instruction, or a suffix of one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TablePiece {
    pub at: PiecePlace,
    pub piece: String,
}

/// Where a table has a piece.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PiecePlace {
    /// In an entry of a list: the name of the list, without braces, and the qualifiers of the entry, with dots between.
    Entry { list: String, entry: String },
    /// In a row: its pattern.
    Row(String),
}

impl PiecePlace {
    /// `load-acquire.gpu`; `fence.sc.gpu`.
    pub fn name(&self) -> String {
        match self {
            PiecePlace::Entry { list, entry } => format!("{list}-{entry}"),
            PiecePlace::Row(pattern) => pattern.clone(),
        }
    }
}

impl LoweringRow {
    /// Its left side.
    fn pattern_text(&self) -> &str {
        self.text.split(" ->").next().unwrap_or_default().trim()
    }

    /// The pieces of its right side that come of no list.
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let texts = self.becomes.iter().filter_map(|piece| match piece {
            PatternPiece::Text(text) => Some(text),
            PatternPiece::List(..) => None,
        });
        texts.flat_map(|text| text.split(';')).map(str::trim)
    }
}

impl ListEntry {
    /// The pieces of its columns.
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let pieces = self.texts.iter().flat_map(|text| text.split(';'));
        pieces.map(str::trim).filter(|piece| !piece.is_empty())
    }
}

impl LoweringTable {
    /// The pieces that order memory, of rows that are compared with what they lower and of the entries of their lists: fences,
    /// invalidations and the scopes of accesses. Each once.
    pub fn ordering_pieces(&self) -> Vec<TablePiece> {
        let orders = |piece: &&str| {
            let starts = ["MEMBAR", "CCTL", "FENCE.VIEW", ".STRONG"];
            starts.iter().any(|start| piece.starts_with(start))
        };
        let of =
            |at: &PiecePlace, piece: &str| TablePiece { at: at.clone(), piece: piece.to_owned() };
        let compared = |list: usize| {
            let pieces = self.rows.iter().flat_map(|row| row.pattern.iter().chain(&row.becomes));
            pieces
                .into_iter()
                .any(|piece| matches!(piece, PatternPiece::List(of, _) if *of == list))
        };
        let mut all: Vec<TablePiece> = Vec::new();
        for (_, list) in self.lists.iter().enumerate().filter(|(index, _)| compared(*index)) {
            for entry in &list.entries {
                let place = PiecePlace::Entry {
                    list: list.name.clone(),
                    entry: entry.qualifiers.join("."),
                };
                all.extend(entry.pieces().filter(orders).map(|piece| of(&place, piece)));
            }
        }
        for row in &self.rows {
            let place = PiecePlace::Row(row.pattern_text().to_owned());
            all.extend(row.pieces().filter(orders).map(|piece| of(&place, piece)));
        }
        all.sort();
        all.dedup();
        all
    }

    /// A table that is weaker by such a piece, to test what judges tables.
    pub fn without(&self, gone: &TablePiece) -> LoweringTable {
        let weaken = |text: &mut String| {
            let pieces = text.split(';').map(str::trim);
            let left: Vec<&str> = pieces.filter(|piece| *piece != gone.piece).collect();
            *text = left.join(" ; ");
        };
        let mut table = self.clone();
        match &gone.at {
            PiecePlace::Entry { list, entry } => {
                let lists = table.lists.iter_mut().filter(|of| of.name == *list);
                let entries = lists.flat_map(|of| &mut of.entries);
                let entries = entries.filter(|of| of.qualifiers.join(".") == *entry);
                entries.flat_map(|of| &mut of.texts).for_each(weaken);
            }
            PiecePlace::Row(pattern) => {
                let rows = table.rows.iter_mut().filter(|row| row.pattern_text() == pattern);
                for piece in rows.flat_map(|row| &mut row.becomes) {
                    if let PatternPiece::Text(text) = piece {
                        weaken(text);
                    }
                }
            }
        }
        table
    }
}

/// An instruction that a row is for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Instance {
    pub opcode: String,
    pub qualifiers: Vec<String>,
    /// The one target that it is for, where the row has others for others.
    pub only: Option<u16>,
}

/// A row, and every instruction that it is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instances<'t> {
    /// Its line in the file, from 1, and its text.
    pub line: usize,
    pub text: &'t str,
    pub all: Vec<Instance>,
}

impl LoweringTable {
    /// Each row of memory instructions and barriers with every instruction that its lists have for it, and that no
    /// row above has.
    pub fn rows(&self) -> impl Iterator<Item = Instances<'_>> {
        self.instances(&self.rows)
    }

    /// The same of asynchronous operations.
    pub fn asynchronous_rows(&self) -> impl Iterator<Item = Instances<'_>> {
        self.instances(&self.asynchronous)
    }

    fn instances<'t>(&'t self, rows: &'t [LoweringRow]) -> impl Iterator<Item = Instances<'t>> {
        rows.iter().map(|row| {
            let first = Instance { opcode: row.opcode.clone(), qualifiers: Vec::new(), only: None };
            let mut all = vec![first];
            for piece in &row.pattern {
                match piece {
                    PatternPiece::Text(text) => {
                        for one in &mut all {
                            one.qualifiers.push(text.clone());
                        }
                    }
                    PatternPiece::List(list, _) => {
                        let with = all.iter().flat_map(|one| {
                            self.lists[*list].entries.iter().filter_map(|entry| one.with(entry))
                        });
                        all = with.collect();
                    }
                }
            }
            all.retain(|one| {
                let names: Vec<&str> = one.qualifiers.iter().map(String::as_str).collect();
                let sm = one.only.or(self.targets.first().copied()).unwrap_or(0);
                let first = self.found(sm, &one.opcode, &names);
                first.is_some_and(|(first, _)| first.line == row.line)
            });
            Instances { line: row.line, text: &row.text, all }
        })
    }
}

impl LoweringTable {
    /// An instruction with a row that is similar to one without: it has its opcode, and few other qualifiers.
    pub fn nearest(&self, sm: u16, opcode: &str, qualifiers: &[&str]) -> Option<String> {
        let all = self.rows.iter().chain(&self.asynchronous);
        let rows = all.filter(|row| row.opcode == opcode);
        let mut near: Vec<Instance> = rows.map(|row| self.like(row, sm, qualifiers)).collect();
        near.sort_by_key(|one| one.distance(qualifiers));
        // Lists together have more than PTX has.
        let nearest = near.into_iter().find(Instance::is_ptx)?;
        Some([&[nearest.opcode], &nearest.qualifiers[..]].concat().join("."))
    }

    /// The instruction of a row that takes from each list what is most like these qualifiers.
    fn like(&self, row: &LoweringRow, sm: u16, qualifiers: &[&str]) -> Instance {
        let mut one = Instance { opcode: row.opcode.clone(), qualifiers: Vec::new(), only: None };
        for piece in &row.pattern {
            match piece {
                PatternPiece::Text(text) => one.qualifiers.push(text.clone()),
                PatternPiece::List(list, _) => {
                    let entries = self.lists[*list].entries.iter();
                    let fits = entries.filter(|one| one.only.is_none_or(|only| only == sm));
                    let other = |entry: &&ListEntry| {
                        let has = |of: &&String| qualifiers.contains(&of.as_str());
                        let shared = entry.qualifiers.iter().filter(has).count();
                        (entry.qualifiers.len() - shared, usize::MAX - shared)
                    };
                    let best = fits.min_by_key(other);
                    one.qualifiers
                        .extend(best.into_iter().flat_map(|best| best.qualifiers.clone()));
                }
            }
        }
        one
    }
}

impl Instance {
    /// With the qualifiers of an entry; none where the two are for different targets.
    fn with(&self, entry: &ListEntry) -> Option<Instance> {
        if self.only.is_some() && entry.only.is_some() && self.only != entry.only {
            return None;
        }
        let mut one = self.clone();
        one.qualifiers.extend(entry.qualifiers.iter().cloned());
        one.only = one.only.or(entry.only);
        Some(one)
    }

    /// With operands that it can have.
    fn text(&self) -> String {
        let names: Vec<&str> = self.qualifiers.iter().map(String::as_str).collect();
        with_operands(&self.opcode, &names)
    }

    /// Whether PTX has such an instruction.
    fn is_ptx(&self) -> bool {
        let first = self.qualifiers.first().map_or("", String::as_str);
        if asynchronous::is_asynchronous(&self.opcode, first) {
            let names: Vec<&str> = self.qualifiers.iter().map(String::as_str).collect();
            return asynchronous::is_ptx(&self.opcode, &names);
        }
        if BARRIERS.contains(&self.opcode.as_str()) {
            let qualifiers = self.qualifiers.iter().map(String::as_str);
            let parts: Vec<&str> =
                std::iter::once(self.opcode.as_str()).chain(qualifiers).collect();
            return modifier::own_fault(&parts).is_none();
        }
        let text = self.text();
        let read = ptx::instruction("", &text, ptx::LintOptions::default());
        read.is_ok_and(|single| {
            single.diagnostics.iter().all(|one| one.severity != Severity::Error)
        })
    }

    /// How many qualifiers one of two instructions has and the other has not.
    fn distance(&self, qualifiers: &[&str]) -> usize {
        let ours = || self.qualifiers.iter().map(String::as_str);
        ours().filter(|one| !qualifiers.contains(one)).count()
            + qualifiers.iter().filter(|one| !ours().any(|other| other == **one)).count()
    }
}

/// The opcodes of barriers, which are in a table beside those of memory instructions.
pub const BARRIERS: [&str; 2] = ["bar", "barrier"];

/// An instruction of PTX, of memory or a barrier, with operands that it can have.
pub fn with_operands(opcode: &str, names: &[&str]) -> String {
    let has = |name: &str| names.contains(&name);
    let elements = if has("v2") {
        2
    } else if has("v4") {
        4
    } else if has("v8") {
        8
    } else {
        1
    };
    let vector = |letter: &str| {
        let all: Vec<String> = (1..=elements).map(|index| format!("{letter}{index}")).collect();
        if elements == 1 { all[0].clone() } else { format!("{{{}}}", all.join(", ")) }
    };
    let policy = if has("L2::cache_hint") { ", p1" } else { "" };
    let operands = match opcode {
        "ld" | "ldu" => format!(" {}, [a]{policy}", vector("r")),
        "st" | "red" => format!(" [a], {}{policy}", vector("s")),
        "atom" if has("cas") => format!(" r1, [a], s1, s2{policy}"),
        "fence" if has("tensormap::generic") && has("acquire") => " [a], 128".to_owned(),
        "bar" | "barrier" if has("cluster") => String::new(),
        "bar" | "barrier" if has("popc") => " r1, 0, p1".to_owned(),
        "bar" | "barrier" if has("red") => " p2, 0, p1".to_owned(),
        "bar" | "barrier" if has("arrive") => " 0, 64".to_owned(),
        "bar" | "barrier" => " 0".to_owned(),
        "atom" => format!(" {}, [a], {}{policy}", vector("r"), vector("s")),
        _ => String::new(),
    };
    let name = [&[opcode], names].concat().join(".");
    format!("{name}{operands};")
}

impl PatternList {
    /// The entry with the most qualifiers, all of them there; of several such the first.
    fn choose(&self, sm: u16, left: &[&str]) -> Option<&ListEntry> {
        let fits = |entry: &&ListEntry| {
            entry.only.is_none_or(|only| only == sm)
                && entry.qualifiers.iter().all(|one| left.contains(&one.as_str()))
        };
        let longest = self.entries.iter().filter(fits).map(|entry| entry.qualifiers.len()).max()?;
        self.entries.iter().filter(fits).find(|entry| entry.qualifiers.len() == longest)
    }
}

/// A family of GPUs and its table.
#[derive(Debug)]
pub struct FamilyTable {
    /// As the file is called.
    pub name: &'static str,
    /// The architectures in it.
    pub title: &'static str,
    pub table: LoweringTable,
}

const TEXTS: [(&str, &str, &str); 5] = [
    ("maxwell", "Maxwell, Pascal", include_str!("../../lowering/maxwell.table")),
    ("volta", "Volta, Turing", include_str!("../../lowering/volta.table")),
    ("ampere", "Ampere, Ada", include_str!("../../lowering/ampere.table")),
    ("hopper", "Hopper", include_str!("../../lowering/hopper.table")),
    ("blackwell", "Blackwell", include_str!("../../lowering/blackwell.table")),
];

/// The tables that come with the program, oldest family first.
pub fn families() -> &'static [FamilyTable] {
    static ALL: LazyLock<Vec<FamilyTable>> = LazyLock::new(|| {
        let family = |(name, title, text): (&'static str, &'static str, &str)| {
            // That each row has an instruction is for a test to see.
            let table = parse::read(&format!("{name}.table"), text, false);
            FamilyTable { name, title, table: table.expect("a test reads each of the tables") }
        };
        TEXTS.into_iter().map(family).collect()
    });
    &ALL
}

const PUBLISHED: &str = include_str!("../../lowering/cxx-ptx-libcuxx.table");

/// The published mapping of C++ to PTX: what a context of a lowering is on the target's side.
pub fn published_mapping() -> &'static LoweringTable {
    static TABLE: LazyLock<LoweringTable> = LazyLock::new(|| {
        let table = parse::read("cxx-ptx-libcuxx.table", PUBLISHED, false);
        table.expect("a test reads each of the tables")
    });
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_that_come_with_the_program_are_read() {
        let published = ("cxx-ptx-libcuxx", "", PUBLISHED);
        for (name, _, text) in TEXTS.into_iter().chain([published]) {
            if let Err(diagnostics) = read(&format!("crates/sass/lowering/{name}.table"), text) {
                let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
                panic!("{}", all.join("\n"));
            }
        }
        let targets: Vec<u16> = families().iter().flat_map(|f| f.table.targets.clone()).collect();
        assert!(targets.is_sorted(), "{targets:?}");
    }

    const SMALL: &str = "targets sm_80 sm_86\n\
        {order} gives {fence} {strength} # two columns\n\
          - / weak       =                         |\n\
          release.gpu    = MEMBAR.ALL.GPU ; ERRBAR | .STRONG.GPU\n\
        {size}\n\
          b32            =\n\
          v2.b32 / b64   = .64\n\
          sm_80: b16     = .OLD\n\
          b16            = .U16\n\
        st{order}.global{size} -> {fence} ; STG.E{size}{strength}\n\
        membar.cta ->\n";

    #[test]
    fn an_instruction_is_found_by_all_of_its_qualifiers() {
        let table = read("small.table", SMALL).expect("it is right");
        let find = |sm, name: &str| {
            let mut parts = name.split('.');
            let opcode = parts.next().unwrap_or("");
            table.find(sm, opcode, &parts.collect::<Vec<_>>())
        };
        let found = |text: &str| Some(text.to_owned());
        assert_eq!(find(80, "st.global.b32"), found("STG.E"));
        assert_eq!(find(80, "st.b32.v2.weak.global"), found("STG.E.64"));
        let release = "MEMBAR.ALL.GPU ; ERRBAR ; STG.E.OLD.STRONG.GPU";
        assert_eq!(find(80, "st.release.gpu.global.b16"), found(release));
        assert_eq!(find(86, "st.global.b16"), found("STG.E.U16"));
        assert_eq!(find(80, "membar.cta"), found(""));
        assert_eq!(find(80, "st.release.sys.global.b32"), None);
        assert_eq!(find(80, "st.shared.b32"), None);
        assert_eq!(find(80, "ld.global.b32"), None);
    }

    #[test]
    fn a_row_says_which_versions_make_it() {
        let text = format!(
            "{SMALL}measured sm_80: 12.9\nmeasured 12.9 13.1\n\
            ld.global.b32 -> LDG.E [by 13.1]\nld{{size}} -> LD.E{{size}}\n"
        );
        let table = read("small.table", &text).expect("it is right");
        let by = |sm, opcode, parts: &[&str]| {
            let found = table.measured(sm, opcode, parts)?;
            Some((found.text, found.by.join(" ")))
        };
        let found = |text: &str, by: &str| Some((text.to_owned(), by.to_owned()));
        assert_eq!(by(86, "st", &["global", "b32"]), found("STG.E", "12.9 13.1"));
        assert_eq!(by(80, "st", &["global", "b32"]), found("STG.E", "12.9"));
        assert_eq!(by(80, "ld", &["global", "b32"]), found("LDG.E", "13.1"));
        assert_eq!(by(80, "ld", &["b32"]), found("LD.E", "12.9"));
    }

    #[test]
    fn the_tables_that_come_with_the_program_say_what_measured_them() {
        for family in families() {
            for row in family.table.rows() {
                for one in &row.all {
                    let names: Vec<&str> = one.qualifiers.iter().map(String::as_str).collect();
                    let sm = one.only.unwrap_or(family.table.targets[0]);
                    let found = family.table.measured(sm, &one.opcode, &names);
                    let by = found.expect("it is in its row").by;
                    assert!(!by.is_empty(), "{}: {}", family.name, row.text);
                }
            }
        }
    }

    #[test]
    fn the_nearest_row_is_that_with_the_fewest_other_qualifiers() {
        let table = read("small.table", SMALL).expect("it is right");
        let near = |sm, parts: &[&str]| table.nearest(sm, "st", parts);
        assert_eq!(near(80, &["release", "sys", "global", "b64"]), Some("st.global.b64".into()));
        assert_eq!(near(80, &["relaxed", "gpu", "global", "b32"]), Some("st.global.b32".into()));
        assert_eq!(table.nearest(80, "ld", &["b32"]), None);
    }

    #[test]
    fn a_row_has_every_instruction_that_its_lists_have() {
        let table = read("small.table", SMALL).expect("it is right");
        let rows: Vec<Instances<'_>> = table.rows().collect();
        assert_eq!((rows[0].line, rows[0].all.len(), rows[1].all.len()), (10, 15, 1));
        for one in &rows[0].all {
            let names: Vec<&str> = one.qualifiers.iter().map(String::as_str).collect();
            let sm = one.only.unwrap_or(86);
            assert!(table.find(sm, &one.opcode, &names).is_some(), "{one:?}");
        }
    }

    #[test]
    fn a_table_of_cxx_has_its_words() {
        let text = "targets ptx\n{at} gives {in}\n  system = sys\n  block = cta\n\
            load.seq_cst{at} -> fence.sc.{in} ; ld.acquire.{in}\n";
        let table = read("cxx.table", text).expect("it is right");
        let found = table.find(0, "load", &["seq_cst", "block"]);
        assert_eq!(found.as_deref(), Some("fence.sc.cta ; ld.acquire.cta"));
        let wrong = read("cxx.table", "targets ptx\nld.seq.sys -> ld").expect_err("ld is of PTX");
        let codes: Vec<&str> = wrong.iter().map(|one| one.code).collect();
        assert_eq!(codes, ["opcode", "qualifier", "qualifier"]);
    }

    #[test]
    fn what_is_wrong_with_a_table_is_told_where_it_stands() {
        let wrong = |line: &str| {
            let text = format!("{SMALL}{line}\n");
            let diagnostics = read("small.table", &text).expect_err(line);
            let one = &diagnostics[0];
            assert_eq!(diagnostics.len(), 1, "{line}: {diagnostics:?}");
            format!("{} {}:{}", one.code, one.span.line, one.span.column)
        };
        assert_eq!(wrong("ld.gloal.b32 -> LDG"), "qualifier 12:4");
        assert_eq!(wrong("ldd.b32 -> LDG"), "opcode 12:1");
        assert_eq!(wrong("ld{sizes} -> LDG"), "list 12:4");
        assert_eq!(wrong("ld{size} -> LDG{order}"), "column 12:17");
        assert_eq!(wrong("ld.b32 -> LDG{size}"), "column 12:15");
        assert_eq!(wrong("st{order}.global{size} -> STG"), "row-twice 12:1");
        assert_eq!(wrong("st.global.b64 -> never"), "row-empty 12:1");
        assert_eq!(wrong("st.relaxed.global.b32 -> STG"), "row-empty 12:1");
        assert_eq!(wrong("bar.sync.relaxed -> BAR"), "row-empty 12:1");
        assert_eq!(wrong("{size}"), "list-twice 12:1");
        assert_eq!(wrong("{other}"), "list-empty 12:1");
        assert_eq!(wrong("{other}\nb32 = a | b"), "columns 13:7");
        assert_eq!(wrong("{other}\nb32 =\nb32 ="), "entry-twice 14:1");
        assert_eq!(wrong("{other}\nb33 ="), "qualifier 13:1");
        assert_eq!(wrong("b32 = .x"), "entry 12:1");
        assert_eq!(wrong("targets sm_x"), "target 12:9");
        assert_eq!(wrong("measured 12"), "version 12:10");
        assert_eq!(wrong("measured sm_x: 12.9"), "target 12:10");
        assert_eq!(wrong("ld.b32 -> LD.E [by new]"), "version 12:20");
        assert_eq!(wrong("ld.b32 -> LD.E [by 12.9"), "by 12:16");
        assert_eq!(wrong("?"), "line 12:1");
        let empty = read("empty.table", "# nothing\n").expect_err("it has no targets");
        assert_eq!(empty[0].code, "targets");
    }
}
