//! The parser of tables, line by line.

use std::collections::BTreeSet;

use model::scope::Scope;
use ptx::fences;
use ptx::qualifier::Qualifier;
use ptx::shape::Opcode;
use ptx::version::{PtxIsa, Target};

use super::{
    BARRIERS, Instance, ListEntry, LoweringRow, LoweringTable, PatternList, PatternPiece,
    asynchronous,
};
use text::Diagnostic;
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

/// Reads a table, or reports all of its errors; with `rows`, also rows that no instruction matches.
/// `path` is for the messages.
pub(super) fn read(path: &str, text: &str, rows: bool) -> Result<LoweringTable, Vec<Diagnostic>> {
    let table = LoweringTable {
        targets: Vec::new(),
        cxx: false,
        measured: Vec::new(),
        lists: Vec::new(),
        rows: Vec::new(),
        asynchronous: Vec::new(),
    };
    let mut reader = TableReader {
        text,
        report: Diagnostics::default(),
        table,
        open: None,
        number: 0,
        rows: Vec::new(),
        asynchronous: Vec::new(),
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or("");
        reader.number += 1;
        reader.line(ByteSpan::new(start, start + code.len()).trimmed(text));
        start += line.len();
    }
    reader.close();
    if reader.table.targets.is_empty() && !reader.table.cxx {
        reader
            .report
            .error(
                "targets",
                ByteSpan::new(text.len(), text.len()),
                "a table must name its targets",
            )
            .help("targets sm_90")
            .note("or `targets ptx`: a table of C++");
    }
    if rows && reader.report.count() == 0 {
        reader.all_have_instructions();
    }
    if reader.report.count() == 0 {
        Ok(reader.table)
    } else {
        Err(reader.report.finish(path, text))
    }
}

struct TableReader<'a> {
    text: &'a str,
    report: Diagnostics,
    table: LoweringTable,
    /// The list whose entries are read, and where it begins.
    open: Option<(PatternList, ByteSpan)>,
    /// Of the line, from 1.
    number: usize,
    /// The position of each row, and of each of asynchronous operations.
    rows: Vec<ByteSpan>,
    asynchronous: Vec<ByteSpan>,
}

/// Operations of C++, followed by orders and scopes. The order of a `cmpxchg` is the join of its two
/// orders.
const CXX: [&str; 5] = ["load", "store", "rmw", "cmpxchg", "fence"];
const CXX_ORDERS: [&str; 6] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst", "unordered"];

/// The qualifiers after the opcode of a barrier.
const BARRIER_PARTS: [&str; 11] =
    ["sync", "arrive", "red", "popc", "and", "or", "pred", "cta", "aligned", "cluster", "wait"];

impl<'a> TableReader<'a> {
    fn at(&self, inside: &str) -> ByteSpan {
        ByteSpan::within(self.text, inside)
    }

    fn line(&mut self, at: ByteSpan) {
        let line = at.of(self.text);
        if line.is_empty() {
            return;
        }
        if line.starts_with('{') {
            self.close();
            self.list(line);
        } else if let Some((pattern, becomes)) = line.split_once("->") {
            self.close();
            self.row(pattern.trim(), becomes.trim());
        } else if let Some(versions) = line.strip_prefix("measured ") {
            self.measured(versions);
        } else if let Some((key, texts)) = line.split_once('=') {
            self.entry(key.trim(), texts);
        } else if let Some(targets) = line.strip_prefix("targets ") {
            self.targets(targets);
        } else {
            self.report
                .error("line", at, "expected a list, an entry or a row")
                .help("`{name}`, `qualifier = text`, or `ld.qualifier{name} -> LD{name}`");
        }
    }

    fn targets(&mut self, names: &'a str) {
        for name in names.split_whitespace() {
            if name == "ptx" {
                self.table.cxx = true;
                continue;
            }
            if let Some(Target { sm, variant: None }) = Target::parse(name) {
                self.table.targets.push(sm);
                continue;
            }
            let message = format!("unknown target `{}`", short(name));
            let at = self.at(name);
            self.report.error("target", at, message).help("targets sm_80 sm_86");
        }
    }

    /// `12.9 13.1`, `sm_70: 12.9`
    fn measured(&mut self, line: &'a str) {
        let (only, versions) = match line.split_once(": ") {
            Some((target, versions)) => (self.target(target.trim()), versions),
            None => (None, line),
        };
        let versions = self.versions(versions);
        self.table.measured.push((only, versions));
    }

    fn versions(&mut self, names: &'a str) -> Vec<String> {
        let mut versions = Vec::new();
        for name in names.split_whitespace() {
            if PtxIsa::parse(name).is_none() {
                let message = format!("invalid version of ptxas `{}`", short(name));
                self.report.error("version", self.at(name), message).help("12.9");
            }
            versions.push(name.to_owned());
        }
        versions
    }

    /// What a row becomes without the versions after it, and these.
    fn by(&mut self, becomes: &'a str) -> (&'a str, Vec<String>) {
        let Some((becomes, by)) = becomes.split_once("[by ") else { return (becomes, Vec::new()) };
        if let Some(versions) = by.strip_suffix(']') {
            return (becomes.trim_end(), self.versions(versions));
        }
        let whole = self.at(by);
        let at = ByteSpan { start: whole.start - 4, ..whole };
        self.report
            .error("by", at, "the versions of a row end with `]`")
            .help("ld.b32 -> LD.E [by 13.1]");
        (becomes.trim_end(), Vec::new())
    }

    /// The number of a target, or an error.
    fn target(&mut self, name: &'a str) -> Option<u16> {
        let parsed = Target::parse(name).filter(|one| one.variant.is_none());
        if parsed.is_none() {
            let at = self.at(name);
            self.report.error("target", at, "unknown target").help("sm_80: …");
        }
        parsed.map(|target| target.sm)
    }

    /// `{name}`, whose one column has its name, or `{name} gives {first} {second}`.
    fn list(&mut self, line: &'a str) {
        let (name, columns) = line.split_once(" gives ").unwrap_or((line, line));
        let mut names = Vec::new();
        for column in columns.split_whitespace() {
            match column.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(name) => names.push(name.to_owned()),
                None => self.braces(column),
            }
        }
        let name = name.trim().trim_matches(['{', '}']);
        if self.table.lists.iter().any(|list| list.name == name) {
            let message = format!("duplicate list `{}`", short(name));
            self.report.error("list-twice", self.at(line), message);
        }
        let list = PatternList { name: name.to_owned(), columns: names, entries: Vec::new() };
        self.open = Some((list, self.at(line)));
    }

    #[cold]
    fn braces(&mut self, at: &str) {
        let message = format!("`{}` where a name in braces is expected", short(at));
        self.report.error("braces", self.at(at), message).help("{name}");
    }

    /// The end of a list.
    fn close(&mut self) {
        let Some((list, at)) = self.open.take() else { return };
        let known = self.table.lists.iter().any(|one| one.name == list.name);
        if list.entries.is_empty() && !known {
            self.report.error("list-empty", at, "this list has no entries");
        }
        self.table.lists.push(list);
    }

    /// `sm_80: a.b / c = text | text`
    fn entry(&mut self, key: &'a str, texts: &'a str) {
        let Some((mut list, at)) = self.open.take() else {
            let at = self.at(key);
            self.report.error("entry", at, "this entry is outside a list");
            return;
        };
        let (only, keys) = match key.split_once(": ") {
            Some((target, keys)) => (self.target(target.trim()), keys),
            None => (None, key),
        };
        let texts: Vec<&str> = texts.split('|').map(str::trim).collect();
        if texts.len() != list.columns.len() {
            let message = format!("{} texts for {} columns", texts.len(), list.columns.len());
            let at = self.at(texts[0]).to(self.at(texts[texts.len() - 1]));
            self.report.error("columns", at, message).help("separate them with `|`");
        }
        for key in keys.split(" / ").map(str::trim) {
            let names: Vec<&str> = if key == "-" { Vec::new() } else { key.split('.').collect() };
            for name in &names {
                self.qualifier(name);
            }
            let qualifiers: Vec<String> = names.into_iter().map(str::to_owned).collect();
            let sorted = |names: &[String]| {
                let mut names = names.to_vec();
                names.sort_unstable();
                names
            };
            let same = |one: &ListEntry| {
                sorted(&one.qualifiers) == sorted(&qualifiers) && one.only == only
            };
            if list.entries.iter().any(same) {
                let message = format!("duplicate entry `{}`", short(key));
                self.report.error("entry-twice", self.at(key), message);
            }
            let texts = texts.iter().map(|text| (*text).to_owned()).collect();
            list.entries.push(ListEntry { only, qualifiers, texts });
        }
        self.open = Some((list, at));
    }

    /// Complains of a name that no qualifier and no part of a fence has.
    fn qualifier(&mut self, name: &str) {
        if self.table.cxx {
            if !CXX_ORDERS.contains(&name) && Scope::of_cxx(name).is_none() {
                let message = format!("unknown order or scope of C++ `{}`", short(name));
                let known = CXX_ORDERS.into_iter().chain(Scope::ALL.map(Scope::cxx_name));
                let near = self.report.nearest(name, known).map(str::to_owned);
                let at = self.at(name);
                let help = near.map(|near| format!("did you mean `.{near}`?"));
                self.report.error("qualifier", at, message).help_if(help);
            }
            return;
        }
        let of_fence = || fences::all().iter().any(|spelling| spelling.parts.contains(&name));
        let known = [&BARRIER_PARTS[..], &asynchronous::PARTS, &asynchronous::OPERANDS];
        if Qualifier::named(name).is_none()
            && !of_fence()
            && !known.iter().any(|known| known.contains(&name))
        {
            let known = ptx::qualifier::QUALIFIERS.iter().map(|(known, _)| *known);
            let near = self.report.nearest(name, known).map(str::to_owned);
            let message = format!("unknown qualifier `{}`", short(name));
            let at = self.at(name);
            self.report
                .error("qualifier", at, message)
                .help_if(near.map(|near| format!("did you mean `.{near}`?")));
        }
    }

    /// `ld.volatile{size} -> LD.E{size}`
    fn row(&mut self, pattern: &'a str, becomes: &'a str) {
        let (becomes, by) = self.by(becomes);
        let pieces = self.pieces(pattern);
        let mut names = pieces.iter();
        let Some(&(opcode, false)) = names.next() else { return };
        let (opcode, first) = opcode.split_once('.').unwrap_or((opcode, ""));
        let cxx = self.table.cxx;
        let known = if cxx {
            CXX.contains(&opcode)
        } else {
            Opcode::named(opcode).is_some()
                || BARRIERS.contains(&opcode)
                || asynchronous::OPCODES.contains(&opcode)
        };
        if !known {
            let what = if cxx { "operation of C++" } else { "memory instruction or barrier" };
            let message = format!("unknown {what} `{}`", short(opcode));
            let help = cxx.then(|| CXX.join(", "));
            self.report.error("opcode", self.at(opcode), message).help_if(help);
        }
        let mut row = LoweringRow {
            line: self.number,
            text: pattern.to_owned(),
            opcode: opcode.to_owned(),
            pattern: Vec::new(),
            becomes: Vec::new(),
            by,
        };
        let mut drawn = BTreeSet::new();
        for &(piece, braces) in std::iter::once(&(first, false)).chain(names) {
            if braces {
                let known = self.table.lists.iter().position(|list| list.name == piece);
                if let Some(list) = known {
                    drawn.insert(list);
                    row.pattern.push(PatternPiece::List(list, 0));
                } else {
                    let message = format!("no list `{}` is defined above", short(piece));
                    self.report.error("list", self.at(piece), message);
                }
                continue;
            }
            for name in piece.split('.').filter(|name| !name.is_empty()) {
                self.qualifier(name);
                row.pattern.push(PatternPiece::Text(name.to_owned()));
            }
        }
        for (piece, braces) in self.pieces(becomes) {
            if !braces {
                row.becomes.push(PatternPiece::Text(piece.to_owned()));
                continue;
            }
            let column = drawn.iter().find_map(|&list| {
                let columns = &self.table.lists[list].columns;
                Some((list, columns.iter().position(|column| column == piece)?))
            });
            if let Some((list, column)) = column {
                row.becomes.push(PatternPiece::List(list, column));
            } else {
                let message = format!("no list on the left defines `{}`", short(piece));
                self.report.error("column", self.at(piece), message);
            }
        }
        let at = self.at(pattern);
        let (rows, positions) =
            if asynchronous::is_asynchronous(opcode, first.split('.').next().unwrap_or("")) {
                (&mut self.table.asynchronous, &mut self.asynchronous)
            } else {
                (&mut self.table.rows, &mut self.rows)
            };
        if rows.iter().any(|one| one.opcode == row.opcode && one.pattern == row.pattern) {
            self.report.error("row-twice", at, "duplicate row");
        }
        rows.push(row);
        positions.push(at);
    }

    /// Complains of rows that no instruction gets to.
    fn all_have_instructions(&mut self) {
        let asynchronous = self.table.asynchronous_rows().zip(&self.asynchronous);
        for (row, &at) in self.table.rows().zip(&self.rows).chain(asynchronous) {
            if row.all.is_empty() {
                self.report
                    .error("row-empty", at, "the rows above match every instruction of this row")
                    .help("move it above them, or remove it");
            } else if !self.table.cxx && !row.all.iter().any(Instance::is_ptx) {
                let one = row.all[0].text();
                self.report
                    .error("row-empty", at, "this row matches no PTX instruction")
                    .note(format!("for example, `{one}` is not a valid instruction"));
            }
        }
    }

    /// Text, and names in braces.
    fn pieces(&mut self, text: &'a str) -> Vec<(&'a str, bool)> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                pieces.push((before, false));
            }
            let Some((name, tail)) = after.split_once('}') else {
                self.braces(after);
                return pieces;
            };
            pieces.push((name, true));
            rest = tail;
        }
        if !rest.is_empty() {
            pieces.push((rest, false));
        }
        pieces
    }
}
