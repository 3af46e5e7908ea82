//! The only printer of litmus tests.
//!
//! [`TestText`] has the text of each part of a test. [`fmt::Display`] prints it
//! in the style of the suite: one item per line before the initial state, braces on lines of their own, and a
//! table with aligned columns. [`print()`] creates it from a [`Test`], and [`crate::format`] from a file.

use std::fmt::{self, Write};

use model::memory::{Alias, Home, VariableId};
use model::program::{InitialValue, Observed, ThreadId};
use model::value::Value;

use crate::proposition::{self, Comparand, Prop};
use crate::{Dialect, Test};

/// A litmus test in pieces of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestText {
    /// Lines before the initial state.
    pub(crate) head: Vec<String>,
    /// Lines between the braces.
    pub(crate) init: Vec<String>,
    /// The text after the closing brace.
    pub(crate) after: String,
    /// The first row that has cells places the threads.
    pub(crate) rows: Vec<PrintedRow>,
    /// Lines after the table.
    pub(crate) tail: Vec<String>,
}

/// A line of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PrintedRow {
    /// Cells, and the text after their `;`.
    Cells(Vec<String>, String),
    /// A comment, or nothing.
    Line(String),
}

/// Declarations of a printed test go to a new line from here on.
const WIDTH: usize = 100;

impl TestText {
    /// A test without anything; `language` is the word that its first line begins with.
    pub fn new(language: &str, name: &str) -> TestText {
        TestText {
            head: vec![format!("{language} {name}")],
            init: Vec::new(),
            after: String::new(),
            rows: Vec::new(),
            tail: Vec::new(),
        }
    }

    /// A line of documentation, without its quotes.
    pub fn doc(&mut self, doc: &str) {
        self.head.push(format!("\"{doc}\""));
    }

    /// A line `Key=value`.
    pub fn key(&mut self, key: &str, value: &str) {
        self.head.push(format!("{key}={value}"));
    }

    /// Entries of the initial state, without `;`: on one line, or on as many as they take.
    pub fn declare<S: AsRef<str>>(&mut self, entries: impl IntoIterator<Item = S>) {
        let mut line = String::new();
        for entry in entries {
            let entry = entry.as_ref();
            if !line.is_empty() && line.chars().count() + entry.chars().count() + 2 > WIDTH {
                self.init.push(std::mem::take(&mut line));
            }
            let blank = if line.is_empty() { "" } else { " " };
            write!(line, "{blank}{entry};").expect("writing to a string succeeds");
        }
        if !line.is_empty() {
            self.init.push(line);
        }
    }

    /// The table: a column for each thread, its placement first.
    pub fn columns(&mut self, columns: &[Vec<String>]) {
        for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            let cell = |column: &Vec<String>| column.get(row).cloned().unwrap_or_default();
            self.rows.push(PrintedRow::Cells(columns.iter().map(cell).collect(), String::new()));
        }
    }

    /// What else of the outcomes is observed.
    pub fn locations<S: AsRef<str>>(&mut self, terms: impl IntoIterator<Item = S>) {
        let terms: Vec<String> = terms.into_iter().map(|t| format!("{};", t.as_ref())).collect();
        if !terms.is_empty() {
            self.tail.push(format!("locations [{}]", terms.join(" ")));
        }
    }

    /// A line after the table: the filter, or the condition.
    pub fn end(&mut self, line: impl Into<String>) {
        self.tail.push(line.into());
    }

    /// The number of the line that a row of the table is on, the placements being row 0.
    pub fn line_of_row(&self, row: usize) -> usize {
        // Two lines have a brace, and numbers begin with 1.
        self.head.len() + self.init.len() + 2 + row + 1
    }

    /// The number of the line that has an entry of the initial state, of those given to [`Self::declare`].
    pub fn line_of_entry(&self, entry: usize) -> usize {
        let mut before = 0;
        let line = self.init.iter().position(|line| {
            before += line.matches(';').count();
            before > entry
        });
        self.head.len() + 1 + line.unwrap_or(self.init.len()) + 1
    }
}

impl fmt::Display for TestText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = |f: &mut fmt::Formatter<'_>, lines: &[String]| {
            lines.iter().try_for_each(|line| writeln!(f, "{line}"))
        };
        lines(f, &self.head)?;
        writeln!(f, "{{")?;
        lines(f, &self.init)?;
        writeln!(f, "}}{}", self.after)?;
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            let PrintedRow::Cells(cells, _) = row else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &self.rows {
            match row {
                PrintedRow::Line(line) if line.is_empty() => writeln!(f)?,
                PrintedRow::Line(line) => writeln!(f, " {line}")?,
                PrintedRow::Cells(cells, after) => {
                    for (index, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                        let sign = if index == 0 { "" } else { "|" };
                        write!(f, "{sign} {cell:width$} ")?;
                    }
                    writeln!(f, ";{after}")?;
                }
            }
        }
        lines(f, &self.tail)
    }
}

/// The text of a test: what reads back as the same test, apart from the places in the file.
pub fn print(test: &Test) -> String {
    source(test).to_string()
}

/// A test in pieces of text.
pub fn source(test: &Test) -> TestText {
    let language = match test.dialect {
        _ if test.sass.is_some() => "SASS",
        Dialect::Cxx => "CXX",
        Dialect::Ptx | Dialect::Peer => "PTX",
    };
    let mut source = TestText::new(language, &test.name);
    for doc in &test.doc {
        source.doc(doc);
    }
    for (key, value) in &test.metadata {
        source.key(key, value);
    }
    source.declare((0..test.declarations.variables.len()).map(|index| variable(test, index)));
    for thread in 0..test.declarations.registers.len() {
        let registers = 0..test.declarations.registers[thread].len();
        source.declare(registers.map(|register| self::register(test, thread, register)));
    }
    source.declare(test.program.launches.iter().map(|launch| {
        format!("kernel {} -> {} @{}", launch.before, launch.after, launch.order.name())
    }));
    let columns: Vec<Vec<String>> = test
        .program
        .threads
        .iter()
        .zip(&test.columns)
        .map(|(thread, cells)| {
            let head = format!("{}@{}", thread.name, thread.placement);
            std::iter::once(head).chain(cells.iter().cloned()).collect()
        })
        .collect();
    source.columns(&columns);
    let mut named = vec![false; test.program.observed.len()];
    for prop in test.filter.iter().chain([&test.proposition]) {
        let mut prop = prop.clone();
        prop.for_each_term(&mut |term| {
            if let Comparand::Observed(index) = *term {
                named[index] = true;
            }
        });
    }
    let others = test.program.observed.iter().zip(named).filter(|(_, named)| !named);
    source.locations(others.map(|(&observed, _)| self::observed(test, observed)));
    if let Some(filter) = &test.filter {
        source.end(format!("filter ({})", proposition(test, filter)));
    }
    let quantifier = test.quantifier.name();
    source.end(format!("{quantifier} ({})", proposition(test, &test.proposition)));
    source
}

/// A variable as the initial state declares it.
fn variable(test: &Test, index: usize) -> String {
    let variable = &test.program.variables[index];
    let declared = &test.declarations.variables[index];
    let ty = match (declared.space, variable.declared) {
        (None, false) => String::new(),
        (None, true) if declared.element == 16 => ".b128 ".to_owned(),
        (None, true) => format!("uint{}_t ", 8 * declared.element),
        (Some(space), false) => format!(".{} ", space.name()),
        (Some(space), true) => format!(".{} .b{} ", space.name(), 8 * declared.element),
    };
    if declared.mbarrier {
        let states = variable.mbarriers.iter();
        let states: Vec<String> =
            states.map(|of| format!("{{{},{},{}}}", of.count, of.phase, of.tx)).collect();
        let count = declared.count.map_or(String::new(), |count| format!("[{count}]"));
        let states = match (states.as_slice(), declared.count) {
            ([], _) => String::new(),
            ([state], None) => format!("={state}"),
            (states, _) => format!("={{{}}}", states.join(",")),
        };
        return format!(".shared .mbarrier {}{count}{states}", variable.name);
    }
    if let Some(tensor) = variable.tensormap {
        let tensor = &test.program.variables[usize::from(tensor.0)].name;
        return format!("{} @tensormap {tensor}", variable.name);
    }
    if !variable.multimem.is_empty() {
        let name = |of: &VariableId| test.program.variables[usize::from(of.0)].name.as_str();
        let locations: Vec<&str> = variable.multimem.iter().map(name).collect();
        return format!("{} @multimem {}", variable.name, locations.join(", "));
    }
    let count = declared.count.map_or(String::new(), |count| format!("[{count}]"));
    let name = format!("{ty}{}{count}", variable.name);
    if let Some(Alias { of, proxy }) = variable.alias {
        let of = &test.program.variables[usize::from(of.0)].name;
        return format!("{name} @ {proxy} aliases {of}");
    }
    let elements = variable.initial.chunks(declared.element.max(1) as usize).map(|bytes| {
        bytes.iter().rev().fold(0, |value: Value, byte| value << 8 | Value::from(*byte))
    });
    let mut values: Vec<Value> = elements.collect();
    let value = if variable.uninitialised {
        "=?".to_owned()
    } else if declared.count.is_none() {
        format!("={}", number(values.first().copied().unwrap_or(0)))
    } else {
        values.truncate(values.iter().rposition(|&value| value != 0).map_or(0, |last| last + 1));
        let values: Vec<String> = values.into_iter().map(number).collect();
        if values.is_empty() { String::new() } else { format!("={{{}}}", values.join(",")) }
    };
    let address = variable.absolute.map_or(String::new(), |address| format!(" @{address:#x}"));
    let home = match variable.home {
        Some(Home::Host) => " @home host".to_owned(),
        Some(Home::Gpu(gpu)) => format!(" @home gpu {gpu}"),
        None => String::new(),
    };
    let sparse = if declared.sparse { " @sparse" } else { "" };
    format!("{name}{value}{address}{home}{sparse}")
}

/// A register as the initial state gives it.
fn register(test: &Test, thread: usize, index: usize) -> String {
    let owner = &test.program.threads[thread];
    let register = &owner.registers[index];
    let declaration = test.declarations.registers[thread][index];
    let ty = declaration.bytes.map_or(String::new(), |bytes| format!(".b{} ", 8 * bytes));
    let value = match register.initial {
        _ if !declaration.given => String::new(),
        InitialValue::Value(value) => format!("={}", number(value)),
        InitialValue::Address {
            variable: VariableId(variable),
            thread: ThreadId(copy),
            offset,
        } => {
            let variable = &test.program.variables[usize::from(variable)].name;
            let copy = usize::from(copy);
            let other = (copy != thread).then(|| format!("@{}", test.program.threads[copy].name));
            let offset = (offset != 0).then(|| format!("+{}", number(offset.into())));
            format!("={variable}{}{}", offset.unwrap_or_default(), other.unwrap_or_default())
        }
    };
    format!("{ty}{}:{}{value}", owner.name, register.name)
}

/// Small numbers as they are counted, others as patterns of bits.
fn number(value: Value) -> String {
    if value < 1 << 16 { value.to_string() } else { format!("{value:#x}") }
}

fn proposition(test: &Test, prop: &Prop) -> String {
    prop.written(&|term| match term {
        Comparand::Constant(value) => lift::program::number(value),
        Comparand::Observed(index) => observed(test, test.program.observed[index]),
    })
}

/// `P1:r0`, `x`, `[x+4]`, `[x@P1]`.
pub(crate) fn observed(test: &Test, observed: Observed) -> String {
    match observed {
        Observed::Register { thread, register } => {
            let of = &test.program.threads[usize::from(thread.0)];
            format!("{}:{}", of.name, of.registers[usize::from(register.0)].name)
        }
        Observed::Memory { .. } => {
            let name = proposition::name(&test.program, observed);
            let bare = name.trim_start_matches('[').trim_end_matches(']');
            // What the condition has of its own is not the name of a variable there.
            let plain = bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !matches!(bare, "true" | "false" | "not");
            if plain { bare.to_owned() } else { name }
        }
    }
}
