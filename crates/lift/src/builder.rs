//! Translates the instructions of a function one by one.

use machine::form::{Family, LoweredInstruction};
use model::isa::Instruction;
use model::program::{InitialValue, ThreadId};
use ptx::qualifier::Dialect;
use sass::single::{self, ReadOptions};
use text::report::{ByteSpan, Diagnostics};

use crate::column::{self, ColumnCell};
use crate::draft::{PointsTo, ProgramBuilder, ThreadDraft, WarpLanes};
use crate::function::{
    EntryValue, FunctionLine, FunctionStep, FunctionVariable, HERE, Refusals, Refused,
};
use crate::instruction::InstructionReader;
use crate::program;
use crate::written::WrittenInstruction;

const THREAD: ThreadId = ThreadId(0);

/// A function while it is read.
pub struct FunctionBuilder {
    draft: ProgramBuilder,
    report: Diagnostics,
    /// The instructions as in a column, one per line.
    text: String,
    rows: Vec<FunctionLine>,
    /// The number of lines of the thread for each row.
    counts: Vec<usize>,
    variables: Vec<FunctionVariable>,
    initial: Vec<(String, EntryValue)>,
}

/// The result of a builder.
pub struct LiftedBody {
    pub rows: Vec<FunctionLine>,
    /// The registers with their widths in bits.
    pub registers: Vec<(String, u16)>,
    pub variables: Vec<FunctionVariable>,
    pub initial: Vec<(String, EntryValue)>,
}

impl FunctionBuilder {
    /// A builder for instructions of this dialect.
    pub fn new(dialect: Dialect) -> FunctionBuilder {
        let mut draft = ProgramBuilder::new(dialect);
        draft.declares_all = true;
        draft.rounds_freely = true;
        draft.lanes = WarpLanes::Lone;
        draft.threads.push(ThreadDraft::new("P0".to_owned(), HERE));
        FunctionBuilder {
            draft,
            report: Diagnostics::default(),
            text: String::new(),
            rows: Vec::new(),
            counts: Vec::new(),
            variables: Vec::new(),
            initial: Vec::new(),
        }
    }

    /// The same for a function that every lane of a launch executes.
    #[must_use]
    pub fn of_every_lane(mut self) -> FunctionBuilder {
        self.draft.lanes = WarpLanes::All;
        self
    }

    /// The number of rows so far.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks whether a function is empty")]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Applies `mark` to each row from an index on that accesses memory.
    pub fn mark_accesses(&mut self, from: usize, mark: impl Fn(&mut FunctionLine)) {
        let lines = &self.draft.threads[0].lines;
        let mut before: usize = self.counts[..from].iter().sum();
        for (row, count) in self.rows[from..].iter_mut().zip(&self.counts[from..]) {
            let lines = &lines[before..before + count];
            before += count;
            if lines.iter().any(|line| line.instruction.access().is_some()) {
                mark(row);
            }
        }
    }

    /// Declares a variable, unless one of its name is declared. Its identifier is the number of variables
    /// declared before it.
    pub fn variable(&mut self, variable: FunctionVariable) {
        if self.variables.iter().any(|known| known.name == variable.name) {
            return;
        }
        let id = self.draft.declare(&variable.name, ByteSpan::default(), &mut self.report);
        let draft = self.draft.variable(id);
        draft.space = Some(variable.space);
        draft.element = (!variable.grows).then_some(1);
        draft.count = (!variable.grows).then_some(variable.bytes.max(1));
        self.variables.push(variable);
    }

    /// The declared variables.
    pub fn variables(&self) -> &[FunctionVariable] {
        &self.variables
    }

    /// Declares a register with an initial value, unless it has one.
    pub fn entry(&mut self, name: &str, value: EntryValue) {
        if self.initial.iter().any(|(known, _)| known == name) {
            return;
        }
        let variable = match &value {
            EntryValue::Address(name) => self.draft.known_variable(name),
            EntryValue::Parameter(_)
            | EntryValue::Piece { .. }
            | EntryValue::Value(_)
            | EntryValue::Special(_) => None,
        };
        let thread = self.draft.thread(THREAD);
        let register = thread.register(name, ByteSpan::default(), &mut self.report);
        let draft = thread.draft(register);
        (draft.initial, draft.points_to) = match variable {
            Some(variable) => (
                Some(InitialValue::Address { variable, thread: THREAD, offset: 0 }),
                PointsTo::Variable(variable),
            ),
            None => (Some(InitialValue::Value(0)), PointsTo::Unknown),
        };
        self.initial.push((name.to_owned(), value));
    }

    /// The registers with an initial value.
    pub fn initial(&self) -> &[(String, EntryValue)] {
        &self.initial
    }

    /// Adds an instruction; `line` is its line in the file. Errors are reported when the function is finished.
    pub fn push(&mut self, instruction: &WrittenInstruction, line: usize) -> &mut FunctionLine {
        let before = self.draft.thread(THREAD).lines.len();
        let cell = instruction.cell(&mut self.text, &mut self.report);
        let (labels, text) = (instruction.labels.clone(), cell.text());
        let (draft, report) = (&mut self.draft, &mut self.report);
        InstructionReader { draft, report, thread: THREAD }.cell(&cell);
        self.text.push('\n');
        self.counts.push(self.draft.thread(THREAD).lines.len() - before);
        self.rows.push(FunctionLine { labels, text, line, ..FunctionLine::default() });
        self.rows.last_mut().expect("one was pushed")
    }

    /// The rows with their lines, and the registers. `refused`: what the reader could not translate.
    pub fn finish(mut self, mut refused: Vec<Refused>) -> Result<LiftedBody, Refusals> {
        let (draft, report) = (&mut self.draft, &mut self.report);
        InstructionReader { draft, report, thread: THREAD }.finish();
        // What is not read leaves registers without a value, which says nothing about the accesses.
        if refused.is_empty() {
            program::check_accesses(&mut self.draft, &mut self.report);
        }
        for found in self.report.finish("", &self.text) {
            let row = found.span.line.checked_sub(1).and_then(|row| self.rows.get(row));
            // A diagnostic without a row says how many there are, and more than one are listed.
            let Some(row) = row else { continue };
            let why = format!("`{}`: {}", row.cell(), found.message);
            refused.push(Refused { line: row.line, why });
        }
        let thread = self.draft.threads.pop().expect("a builder has one thread");
        let mut lines = thread.lines.into_iter();
        for (row, count) in self.rows.iter_mut().zip(self.counts) {
            for line in lines.by_ref().take(count) {
                if let Instruction::Unsupported(why) = &line.instruction {
                    refused.push(Refused { line: row.line, why: why.clone() });
                }
                row.lines.push(FunctionStep { line, lowered: LoweredInstruction::default() });
            }
        }
        if let Some(refusals) = Refusals::of(refused) {
            return Err(refusals);
        }
        let registers = thread.registers.iter();
        let registers = registers.map(|one| (one.name.clone(), one.width())).collect();
        let FunctionBuilder { rows, variables, initial, .. } = self;
        Ok(LiftedBody { rows, registers, variables, initial })
    }

    /// The same for a listing: `rows` has a row for each cell, and `text` contains the cells. `refused` has the
    /// reasons that are known already.
    pub fn listing(
        mut self,
        text: &str,
        cells: &[ColumnCell<'_>],
        mut rows: Vec<FunctionLine>,
        sm: u16,
        family: Family,
        mut refused: Vec<Refused>,
    ) -> Result<LiftedBody, Refusals> {
        self.draft.sass = true;
        for cell in cells {
            if let Some(instruction) = &cell.instruction {
                let options = ReadOptions { sm: Some(sm), registers: None };
                single::check(instruction, options, &mut self.report);
            }
        }
        let (draft, report) = (&mut self.draft, &mut self.report);
        let (lowered, places) = column::read_faulting(cells, family, THREAD, draft, report);
        program::check_accesses(&mut self.draft, &mut self.report);
        for found in self.report.finish("", text) {
            refused.push(Refused { line: found.span.line, why: found.message });
        }
        let thread = self.draft.threads.pop().expect("a builder has one thread");
        // The lines before the first instruction are a row of their own.
        let before = usize::from(places.contains(&None));
        if before == 1 {
            let line = rows.first().map_or(0, |row| row.line);
            rows.insert(0, FunctionLine { line, ..FunctionLine::default() });
        }
        for ((line, lowered), place) in thread.lines.into_iter().zip(lowered).zip(places) {
            let row = &mut rows[place.map_or(0, |cell| cell + before)];
            if let Instruction::Unsupported(why) = &line.instruction {
                refused.push(Refused { line: row.line, why: why.clone() });
            }
            row.lines.push(FunctionStep { line, lowered });
        }
        if let Some(refusals) = Refusals::of(refused) {
            return Err(refusals);
        }
        let registers = thread.registers.iter();
        let registers = registers.map(|one| (one.name.clone(), one.width())).collect();
        let FunctionBuilder { variables, initial, .. } = self;
        Ok(LiftedBody { rows, registers, variables, initial })
    }
}
