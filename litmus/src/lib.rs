//! Reads litmus tests.
//!
//! [`parse`] reads a test in herd's frame. Its columns hold PTX, SASS, untyped instructions of the peer
//! dialect, or operations of C++. The result is a program, or every error of the file.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

mod allocation;
#[cfg(feature = "arbitrary")]
pub mod arbitrary;
mod condition;
pub mod example;
pub mod format;
mod frame;
mod init;
mod placement;
pub mod print;
pub mod proposition;
pub mod revise;
pub mod skeleton;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

pub use condition::{WrittenComparison, comparisons};
use machine::form::{Family, LoweredInstruction};
use model::isa::alu::Comparison;
use model::memory::Space;
use model::program::{AccessEvents, CountedLoops, Program, ThreadId, ZeroDivision};
use model::value::Value;
pub use proposition::{Comparand, Prop};
pub use ptx::qualifier::Dialect;
use ptx::version::{PtxIsa, Target};

use frame::{FrameBody, Header};
use lift::cell::{self, InstructionCell};
use lift::draft::ProgramBuilder;
use lift::{column, instruction, program, spacing};
use sass::lower::Lowering;
use text::report::{ByteSpan, Diagnostics, LineIndex};
use text::{Diagnostic, cursor, lex};

/// What a condition claims of the outcomes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantifier {
    Exists,
    NotExists,
    ForAll,
}

impl Quantifier {
    /// As herd writes it.
    pub fn name(self) -> &'static str {
        match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::ForAll => "forall",
        }
    }
}

/// A litmus test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    pub name: String,
    /// The documentation strings, without their quotes.
    pub doc: Vec<String>,
    /// In the order of the file, each key once.
    pub metadata: Vec<(String, String)>,
    pub dialect: Dialect,
    /// What the machine does, if the columns hold SASS.
    pub sass: Option<SassTarget>,
    pub program: Program,
    /// Declarations of the initial state that are not part of the program.
    pub declarations: Declarations,
    /// The cells of each thread that are not empty: labels, guard and instruction, without comments.
    pub columns: Vec<Vec<String>>,
    pub quantifier: Quantifier,
    pub proposition: Prop,
    /// Only executions that satisfy it count.
    pub filter: Option<Prop>,
    /// As herd prints it: `exists (1:r0=1 /\ 1:r1=0)`.
    pub condition_text: String,
    /// The line in the file of each line of each thread.
    pub line_numbers: Vec<Vec<usize>>,
    /// The line in the file that names each variable first.
    pub variable_lines: Vec<usize>,
    pub condition_line: usize,
}

/// What the initial state names. Its variables and registers are the first ones of the program, in this order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Declarations {
    pub variables: Vec<DeclaredVariable>,
    /// Of each thread.
    pub registers: Vec<Vec<DeclaredRegister>>,
}

/// The declaration of a variable, as far as it is not part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeclaredVariable {
    /// Bytes of an element, of its type or inferred from its accesses.
    pub element: u32,
    /// How many elements an array has.
    pub count: Option<u32>,
    /// The state space, where it is not inferred from the accesses.
    pub space: Option<Space>,
    /// In a page that is marked as sparse.
    pub sparse: bool,
    /// Whether it is declared as an mbarrier object.
    pub mbarrier: bool,
}

/// The declaration of a register, as far as it is not part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeclaredRegister {
    /// Bytes of its type.
    pub bytes: Option<u32>,
    /// Whether it is given a value.
    pub given: bool,
    /// The line in the file, from 1.
    pub line: usize,
}

/// A test in SASS: no table lowers it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SassTarget {
    /// The number after `sm_`.
    pub sm: u16,
    pub family: Family,
    /// For each line of each thread.
    pub lowered: Vec<Vec<LoweredInstruction>>,
}

impl SassTarget {
    /// What its lines do, in the place of what a table has.
    pub fn lowering(&self) -> Option<Lowering<'_>> {
        Some(Lowering { direct: Some(&self.lowered), sm: self.sm, ..Lowering::of(self.sm)? })
    }
}

impl Test {
    /// The value of a metadata key.
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The target whose rules apply, if the test names one.
    pub fn target(&self) -> Option<Target> {
        self.meta("Arch").and_then(Target::parse)
    }

    /// The line of the file, from 1, of an instruction: a thread and an index into its lines.
    pub fn line_number(&self, thread: ThreadId, line: u16) -> Option<usize> {
        self.line_numbers.get(usize::from(thread.0))?.get(usize::from(line)).copied()
    }

    /// The first line of each instruction of a thread: one that the reader makes several steps of is several lines.
    pub fn instructions(&self, thread: usize) -> impl Iterator<Item = usize> + '_ {
        let (of, numbers) = (&self.program.threads[thread], &self.line_numbers[thread]);
        (0..of.lines.len()).filter(move |&line| {
            let Some(before) = line.checked_sub(1) else { return true };
            numbers[line] != numbers[before]
                || of.lines[line].text != of.lines[before].text
                || of.branches().any(|(_, target)| target == line)
        })
    }

    /// Whether the filter lets an outcome through.
    pub fn passes(&self, outcome: &[Value]) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.holds(&self.program, outcome))
    }

    /// Whether two tests are the same, except for positions in their files.
    pub fn is_same(&self, other: &Test) -> bool {
        *self == other.at_the_lines_of(self)
    }

    /// The same test with the positions of another one.
    #[must_use]
    pub fn at_the_lines_of(&self, other: &Test) -> Test {
        let mut moved = Test {
            line_numbers: other.line_numbers.clone(),
            variable_lines: other.variable_lines.clone(),
            condition_line: other.condition_line,
            ..self.clone()
        };
        let own = moved.declarations.registers.iter_mut().flatten();
        for (own, other) in own.zip(other.declarations.registers.iter().flatten()) {
            own.line = other.line;
        }
        moved
    }

    /// The same test, of which an outcome has only what the condition and the filter compare.
    #[must_use]
    pub fn observing_its_condition(mut self) -> Test {
        let filter = self.filter.as_ref().map(Prop::observed).unwrap_or_default();
        let kept: Vec<usize> = (&self.proposition.observed() | &filter).into_iter().collect();
        for prop in self.filter.iter_mut().chain([&mut self.proposition]) {
            prop.for_each_term(&mut |term| {
                if let Comparand::Observed(index) = term {
                    *index = kept.binary_search(index).expect("a condition observes its terms");
                }
            });
        }
        self.program.observed = kept.into_iter().map(|at| self.program.observed[at]).collect();
        self
    }

    /// An outcome with values as wide as what they are of: those of registers have the width of what is written to them.
    pub fn narrowed(&self, outcome: &[Value]) -> Vec<Value> {
        let narrowed = |(index, &value): (usize, &Value)| {
            proposition::truncate(value, Comparand::Observed(index).bits(&self.program))
        };
        outcome.iter().enumerate().map(narrowed).collect()
    }

    /// That an execution ends with this outcome.
    pub fn is_outcome(&self, outcome: &[Value]) -> Prop {
        let atom = |(index, value)| {
            Prop::Atom(Comparison::Eq, Comparand::Observed(index), Comparand::Constant(value))
        };
        let mut atoms: Vec<Prop> =
            self.narrowed(outcome).into_iter().enumerate().map(atom).collect();
        match atoms.len() {
            0 => Prop::True,
            1 => atoms.swap_remove(0),
            _ => Prop::And(atoms),
        }
    }

    /// An outcome as herd writes states: `1:r0=0; [x]=1;`.
    pub fn display_outcome(&self, values: &[Value]) -> String {
        let mut out = String::new();
        for (&observed, value) in self.program.observed.iter().zip(self.narrowed(values)) {
            let name = proposition::name(&self.program, observed);
            let space = if out.is_empty() { "" } else { " " };
            write!(out, "{space}{name}={value};").expect("writing to a string succeeds");
        }
        out
    }
}

/// Reads a litmus test, or reports all of its errors. `path` is for the messages.
pub fn parse(path: &str, bytes: &[u8]) -> Result<Test, Vec<Diagnostic>> {
    let text = text::decode(path, bytes)?;
    let mut report = Diagnostics::default();
    match read(text, &mut report) {
        Some((read, _)) if report.count() == 0 => Ok(read),
        _ => Err(report.finish(path, text)),
    }
}

/// The tests of a text, each as the range of its bytes. A test begins with its line `PTX NAME`; what is before the first one
/// belongs to it.
pub fn tests_of(text: &str) -> Vec<Range<usize>> {
    let starts = frame::beginnings(text);
    let ends = starts.iter().copied().skip(1).chain([text.len()]);
    let begins = std::iter::once(0).chain(starts.iter().copied().skip(1));
    begins.zip(ends).map(|(start, end)| start..end).collect()
}

/// Reads a litmus test, with another condition than that of the file: `question` is a condition, with `locations` and
/// `filter` if they are wanted. The file needs no condition. What its header says of the verdict is left out.
///
/// # Errors
/// All errors of the file, and those of the question, whose path is `--ask`.
pub fn parse_question(path: &str, bytes: &[u8], question: &str) -> Result<Test, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    let tokens = lex::tokens(question, 0, false, &mut Diagnostics::default());
    if !frame::begins_tail(question, &tokens) {
        let all = ByteSpan::new(0, question.trim_end().len());
        report
            .error("condition", all, "a question is a condition with its quantifier")
            .note("expected `exists`, `~exists` or `forall`")
            .help(format!("exists ({})", question.trim()));
        return Err(report.finish("--ask", question));
    }
    let mut joined = without_condition(text::decode(path, bytes)?);
    joined.push('\n');
    let end = joined.len();
    joined.push_str(question);
    match read(&joined, &mut report) {
        Some((mut test, _)) if report.count() == 0 => {
            test.metadata.retain(|(key, _)| !frame::OF_VERDICT.contains(&key.as_str()));
            Ok(test)
        }
        _ => {
            let files = [(path.to_owned(), 0, &joined[..end]), ("--ask".to_owned(), end, question)];
            Err(report.finish_files(&files))
        }
    }
}

/// The text of a test with blanks in the place of its condition.
fn without_condition(text: &str) -> String {
    // Errors are reported when the result is read.
    let mut report = Diagnostics::default();
    let (header, begin) = frame::header(text, &mut report);
    let tokens = lex::tokens(text, begin, header.sass, &mut report);
    let tail = frame::body(text, &tokens, &mut report).tail;
    let mut out = text.as_bytes().to_vec();
    for at in condition::conditions(tail) {
        for byte in &mut out[at.start as usize..at.end as usize] {
            if !byte.is_ascii_whitespace() {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(out).expect("whole tokens are replaced")
}

/// A test, and the instruction in the text that each line of each thread is of.
fn read(text: &str, report: &mut Diagnostics) -> Option<(Test, Vec<Vec<ByteSpan>>)> {
    let (header, begin) = frame::header(text, report);
    if header.foreign || begin == text.len() && report.count() > 0 {
        return None;
    }
    if let Some(&second) = frame::beginnings(text).get(1) {
        let line = text[second..].lines().next().unwrap_or_default();
        report
            .error("several-tests", ByteSpan::within(text, line), "another test begins here")
            .note("a file has one test")
            .help("write each test to a file of its own, as `causeway gen --out FOLDER` does, or all to `causeway check -`");
        return None;
    }
    let tokens = lex::tokens(text, begin, header.sass, report);
    let body = frame::body(text, &tokens, report);
    let arch = arch(&header, report);
    let shader = registers(&header, report);
    let columns = match arch {
        Some((sm, family)) => Columns::Sass(
            sm,
            family,
            columns(&body, report, |cursor, report| Some(column::cell(cursor, sm, report))),
        ),
        None => Columns::Ptx(columns(&body, report, cell::cell)),
    };
    let dialect = match &columns {
        Columns::Sass(..) => Dialect::Ptx,
        Columns::Ptx(cells) => dialect(&header, cells, report),
    };

    let mut draft = ProgramBuilder::new(dialect);
    draft.sass = header.sass;
    draft.isa = isa(&header, dialect, report);
    if !header.sass {
        draft.target = target(&header, report);
    }
    draft.rounds_freely = rounds_to_nearest(&header, report);
    match body.rows.first() {
        Some(row) => placement::threads(row, &mut draft, report),
        None => {
            report
                .error("threads", body.tail.here(), "the test has no threads")
                .help("P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;");
        }
    }
    let declared = init::read(body.init, &mut draft, report);
    let (places, sass) = match &columns {
        Columns::Sass(sm, family, cells) => {
            let (places, lowered) = sass_instructions(&mut draft, cells, *family, shader, report);
            (places, Some(SassTarget { sm: *sm, family: *family, lowered }))
        }
        Columns::Ptx(cells) => (instructions(&mut draft, cells, report), None),
    };
    program::check_accesses(&mut draft, report);

    let tail = condition::read(body.tail, &mut draft, report);
    let variables = program::variables(&draft, report);
    let launches = declared.launches.clone();
    let declarations = init::declarations(&draft, declared);
    let lines = LineIndex::of(text);
    let variable_lines = draft.variables.iter().map(|variable| lines.number(variable.at)).collect();
    let threads = program::threads(draft);
    let mut program = Program {
        threads,
        variables,
        launches,
        observed: tail.observed,
        constants: tail.constants,
        contested: None,
        sizes_agree: false,
        omits_covered: false,
        exempt_races: BTreeSet::new(),
        few_addresses: false,
        counted_loops: CountedLoops::Complete,
        zero_division: ZeroDivision::Undefined,
        access_events: AccessEvents::All,
    };
    allocation::check(&mut program, &places, report);
    let condition_text =
        format!("{} ({})", tail.quantifier.name(), tail.proposition.text(&program));
    let own = |text: &&str| (*text).to_owned();
    let line_numbers =
        places.iter().map(|column| column.iter().map(|&at| lines.number(at)).collect());
    let read = Test {
        name: header.name.to_owned(),
        doc: header.doc.iter().map(own).collect(),
        metadata: header.metadata.iter().map(|(key, value)| (own(key), own(value))).collect(),
        dialect,
        sass,
        program,
        declarations,
        columns: texts(&body),
        quantifier: tail.quantifier,
        proposition: tail.proposition,
        filter: tail.filter,
        condition_text,
        line_numbers: line_numbers.collect(),
        variable_lines,
        condition_line: lines.number(tail.at),
    };
    Some((read, places))
}

/// The cells below the first row as text, by column, without those that are empty.
fn texts(body: &FrameBody<'_>) -> Vec<Vec<String>> {
    let count = body.rows.first().map_or(0, |row| row.cells.len());
    let mut columns = vec![Vec::new(); count];
    for row in body.rows.iter().skip(1) {
        for (cell, column) in row.cells.iter().zip(&mut columns) {
            let text = spacing::text(cell.text, cell.rest(), spacing::cell);
            if !text.is_empty() {
                column.push(text);
            }
        }
    }
    columns
}

/// The cells, by column.
enum Columns<'a> {
    Ptx(Vec<Vec<InstructionCell<'a>>>),
    Sass(u16, Family, Vec<Vec<column::ColumnCell<'a>>>),
}

/// The target of a test in SASS, from its key `Arch`; `None` for a test in PTX.
fn arch(header: &Header<'_>, report: &mut Diagnostics) -> Option<(u16, Family)> {
    const HELP: &str = "Arch=sm_90";
    let written = header.metadata.iter().find(|(key, _)| *key == "Arch");
    let at = header.key_at("Arch");
    if !header.sass {
        return None;
    }
    let target = written.and_then(|(_, value)| Target::parse(value));
    let found = target.and_then(|target| Some((target.sm, Family::of(target.sm)?)));
    if found.is_none() {
        match written {
            Some((_, value)) => report
                .error("arch", at, format!("unknown architecture `{}`", cursor::short(value)))
                .note("sm_50 to sm_121")
                .help(HELP),
            None => report.error("arch", at, "a test in SASS requires an architecture").help(HELP),
        };
    }
    // Report further errors as if for the architecture of the example.
    Some(found.unwrap_or((90, Family::Hopper)))
}

/// The target of a test in PTX, whose rules are checked; `None` for any target.
fn target(header: &Header<'_>, report: &mut Diagnostics) -> Option<Target> {
    let (_, value) = header.metadata.iter().find(|(key, _)| *key == "Arch")?;
    let target = Target::parse(value);
    if target.is_none() {
        let message = format!("unknown target `{}`", cursor::short(value));
        report.error("arch", header.key_at("Arch"), message).help("Arch=sm_90a");
    }
    target
}

/// Whether results of `.approx`, `.full` and `.ftz` are taken for those of IEEE 754, which the document does not promise.
fn rounds_to_nearest(header: &Header<'_>, report: &mut Diagnostics) -> bool {
    const KEY: &str = "Rounding";
    let Some((_, value)) = header.metadata.iter().find(|(key, _)| *key == KEY) else {
        return false;
    };
    if *value != "nearest" {
        let message = format!("unknown rounding `{}`", cursor::short(value));
        report.error("rounding", header.key_at(KEY), message).help("Rounding=nearest");
    }
    true
}

/// The version of PTX whose rules are checked.
fn isa(header: &Header<'_>, dialect: Dialect, report: &mut Diagnostics) -> PtxIsa {
    const KEY: &str = "PTX-ISA";
    let Some((_, value)) = header.metadata.iter().find(|(key, _)| *key == KEY) else {
        return PtxIsa::NEWEST;
    };
    let at = header.key_at(KEY);
    if header.sass || dialect != Dialect::Ptx {
        report
            .error("ptx-isa", at, "`PTX-ISA` is a key of tests in PTX")
            .note("this test has no PTX instructions")
            .help("remove it");
    }
    let version = PtxIsa::parse(value).filter(|version| *version <= PtxIsa::NEWEST);
    version.unwrap_or_else(|| {
        let newest = PtxIsa::NEWEST;
        report
            .error("ptx-isa", at, format!("invalid version of PTX `{}`", cursor::short(value)))
            .note(format!("1.0 to {newest}"))
            .help(format!("PTX-ISA={newest}"));
        newest
    })
}

/// How many registers the shader of a test in SASS has.
fn registers(header: &Header<'_>, report: &mut Diagnostics) -> Option<u16> {
    let (_, value) = header.metadata.iter().find(|(key, _)| *key == "Registers")?;
    let number = value.parse().ok().filter(|number| header.sass && (1..=255).contains(number));
    if number.is_none() {
        report
            .error(
                "registers",
                header.key_at("Registers"),
                "the shader of a test in SASS has 1 to 255 registers",
            )
            .help("Registers=32");
    }
    number
}

/// The cells below the first row, by column; rows of the wrong length are reported.
fn columns<'a, C>(
    body: &FrameBody<'a>,
    report: &mut Diagnostics,
    read: impl Fn(cursor::Cursor<'a>, &mut Diagnostics) -> Option<C>,
) -> Vec<Vec<C>> {
    let columns = body.rows.first().map_or(0, |row| row.cells.len());
    let mut cells: Vec<Vec<C>> = (0..columns).map(|_| Vec::new()).collect();
    for row in body.rows.iter().skip(1) {
        if row.cells.len() != columns {
            let count = |n: usize, what: &str| {
                if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
            };
            let (has, threads) = (count(row.cells.len(), "cell"), count(columns, "thread"));
            report.error("row-cells", row.at, format!("this row has {has} for {threads}")).help(
                "separate cells with `|`, and leave a cell empty where a thread does nothing; a `;` ends the row, not an instruction",
            );
        }
        for (column, cursor) in row.cells.iter().enumerate() {
            let cell = read(*cursor, report);
            if let (Some(cell), Some(column)) = (cell, cells.get_mut(column)) {
                column.push(cell);
            }
        }
    }
    cells
}

/// The dialect that the file says it is in, else the one that its instructions are in: the peer's
/// have neither types nor brackets.
fn dialect(
    header: &Header<'_>,
    cells: &[Vec<InstructionCell<'_>>],
    report: &mut Diagnostics,
) -> Dialect {
    if header.cxx {
        return Dialect::Cxx;
    }
    if let Some(&(_, value)) = header.metadata.iter().find(|(key, _)| *key == "Dialect") {
        match value {
            "peer" => return Dialect::Peer,
            "ptx" => return Dialect::Ptx,
            _ => {
                let at = header.key_at("Dialect");
                report
                    .error("dialect", at, format!("unknown dialect `{}`", cursor::short(value)))
                    .help("Dialect=ptx");
            }
        }
    }
    let mut peer = false;
    for cell in cells.iter().flatten() {
        let memory = matches!(cell.opcode(), "ld" | "st" | "atom" | "red");
        if memory && cell.has_type() || cell.has_address() {
            return Dialect::Ptx;
        }
        let proxy = cell.opcode() == "fence"
            && cell.part(1) == "proxy"
            && cell.parts.len() == 3
            && matches!(cell.part(2), "generic" | "constant" | "texture" | "surface");
        peer |= memory
            || proxy
            || ptx::opcode::PEER.contains(&cell.opcode()) && !matches!(cell.part(1), "b" | "p");
    }
    if peer { Dialect::Peer } else { Dialect::Ptx }
}

/// Reads the cells of SASS into the draft; where each line of each thread is, and what the machine
/// does for it.
fn sass_instructions(
    draft: &mut ProgramBuilder,
    cells: &[Vec<column::ColumnCell<'_>>],
    family: Family,
    registers: Option<u16>,
    report: &mut Diagnostics,
) -> (Vec<Vec<ByteSpan>>, Vec<Vec<LoweredInstruction>>) {
    let threads = cells.iter().enumerate().take(draft.threads.len());
    let mut places = Vec::new();
    let mut lowered = Vec::new();
    for (index, column) in threads {
        let thread = ThreadId(u8::try_from(index).expect("the draft has few enough"));
        let (forms, at) = column::read(column, family, registers, thread, draft, report);
        lowered.push(forms);
        let at =
            at.into_iter().map(|cell| cell.map_or(ByteSpan::default(), |cell| column[cell].at));
        places.push(at.collect());
    }
    (places, lowered)
}

/// Reads the cells into the draft; where each line of each thread is.
fn instructions(
    draft: &mut ProgramBuilder,
    cells: &[Vec<InstructionCell<'_>>],
    report: &mut Diagnostics,
) -> Vec<Vec<ByteSpan>> {
    let mut places = Vec::new();
    for (index, column) in cells.iter().enumerate().take(draft.threads.len()) {
        let thread = ThreadId(u8::try_from(index).expect("the draft has few enough"));
        draft.threads[index].defined = column.iter().filter_map(InstructionCell::defines).collect();
        let mut reader =
            instruction::InstructionReader { draft: &mut *draft, report: &mut *report, thread };
        let mut at = Vec::new();
        for cell in column {
            reader.cell(cell);
            at.resize(reader.draft.threads[index].lines.len(), cell.at);
        }
        reader.finish();
        places.push(at);
    }
    places
}
