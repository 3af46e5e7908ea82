//! Columns of a litmus test: threads that execute functions of a module, and the one printer of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lift::function::{EntryValue, Function, FunctionVariable};
use lift::module::HEAP;
use litmus::Test;
use litmus::print::TestText;
use model::isa::{Type, TypeKind};
use model::memory::Space;
use model::program::{AccessEvents, Observed};
use model::scope::Placement;
use model::value::Value;
use text::Diagnostic;

use crate::alike::AlikeLanes;
use crate::argument::{
    ArgumentValue, ElementKind, ElementType, LaunchArgument, NO_VALUE, is_fraction,
};
use crate::arrivals::AdaptedObjects;
use crate::compared::ElementTypes;
use crate::lanes::{LeftOut, opcode};
use crate::launch::{LaunchError, ThreadPlace};
use crate::shorten::{ShortFunction, SpecialRead};
use crate::tensor::TensorArgument;

/// A litmus test of functions of a module.
#[derive(Debug)]
pub struct Composed {
    pub text: String,
    /// The names of its functions in the module.
    pub kernels: Vec<String>,
    /// The threads, in the order of columns.
    pub threads: Vec<ColumnThread>,
    /// Assumptions about the functions and the launch.
    pub notes: Vec<String>,
    /// The line of the text with the first row of instructions.
    pub(crate) first_row: usize,
    /// Of each function, the line of the module of each row.
    pub(crate) lines: Vec<Vec<usize>>,
    /// Of a launch.
    pub(crate) left_out: LeftOut,
    /// What is known of mbarrier objects, where threads are left out.
    pub(crate) objects: AdaptedObjects,
    /// Of each function, which lanes store the same value by a line of the module.
    pub(crate) alike: Vec<BTreeMap<usize, AlikeLanes>>,
    /// Volatile accesses that the text has as plain ones: function and row.
    pub(crate) plain: BTreeSet<(usize, usize)>,
    /// Of each function, the registers that begin with a number of which nothing is known.
    pub(crate) any_numbers: Vec<BTreeMap<String, SpecialRead>>,
    /// The types of the elements of variables, as the launch or the module gives them.
    pub(crate) types: ElementTypes,
}

/// The thread of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnThread {
    /// An index into the functions of the test.
    pub kernel: usize,
    pub place: ThreadPlace,
}

impl Composed {
    /// The thread of a column in words: `CTA 0 thread 1`.
    pub fn thread_name(&self, column: usize) -> String {
        let thread = self.threads[column];
        let ThreadPlace { cta, thread: number } = thread.place;
        let kernel = &self.kernels[thread.kernel];
        let kernel = if self.kernels.len() > 1 { format!("`{kernel}` ") } else { String::new() };
        format!("{kernel}CTA {cta} thread {number}")
    }

    /// The threads of columns in words, those of a CTA together: `CTA 0 threads 0 to 31 and CTA 1 thread 0`.
    pub fn thread_names(&self, columns: &[usize]) -> String {
        let place = |column: usize| self.threads[column].place;
        let of_one_cta = |one: &usize, other: &usize| {
            let kernel = |column: usize| self.threads[column].kernel;
            (kernel(*one), place(*one).cta) == (kernel(*other), place(*other).cta)
        };
        let group = |group: &[usize]| {
            let first = self.thread_name(group[0]);
            let numbers: Vec<u32> = group.iter().map(|&column| place(column).thread).collect();
            if numbers.len() == 1 {
                return first;
            }
            let words: Vec<String> = numbers
                .chunk_by(|one, next| one + 1 == *next)
                .flat_map(|run| match run {
                    [first, .., last] if run.len() > 2 => vec![format!("{first} to {last}")],
                    few => few.iter().map(u32::to_string).collect(),
                })
                .collect();
            let (cta, _) = first.rsplit_once(' ').unwrap_or((&first, ""));
            format!("{cta}s {}", joined(&words))
        };
        joined(&columns.chunk_by(of_one_cta).map(group).collect::<Vec<String>>())
    }

    /// A sentence about columns, `P0`, with the threads of the launch in their places.
    pub fn with_thread_names(&self, text: &str) -> String {
        let mut out = String::new();
        let mut word = String::new();
        for c in text.chars().chain(['\n']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            let column = word.strip_prefix('P').and_then(|column| column.parse().ok());
            match column.filter(|&column| column < self.threads.len()) {
                Some(column) => out.push_str(&self.thread_name(column)),
                None => out.push_str(&word),
            }
            word.clear();
            out.push(c);
        }
        out.pop();
        out
    }

    /// An outcome of the test, with floats and signed numbers as such.
    pub(crate) fn outcome_in_words(&self, test: &Test, outcome: &[Value]) -> String {
        let program = &test.program;
        let part = |(&observed, value): (&Observed, Value)| {
            let name = litmus::proposition::name(program, observed);
            let typed = match observed {
                Observed::Memory { variable, length, .. } => {
                    let of = &program.variables[usize::from(program.root(variable).0)].name;
                    self.types.get(of).filter(|ty| u32::from(ty.bits / 8) == length)
                }
                Observed::Register { .. } => None,
            };
            match typed.and_then(|ty| ty.decimal(value)) {
                Some(number) => format!("{name}={number};"),
                None => format!("{name}={value};"),
            }
        };
        let values = test.narrowed(outcome);
        program.observed.iter().zip(values).map(part).collect::<Vec<_>>().join(" ")
    }

    /// What a register of a column begins with, if nothing is known of it.
    pub(crate) fn any_number(&self, column: usize, register: &str) -> Option<&SpecialRead> {
        self.any_numbers.get(self.threads.get(column)?.kernel)?.get(register)
    }

    /// The line of the module, from 1, of a line of the test, in a column.
    pub fn module_line(&self, column: usize, line: usize) -> Option<usize> {
        let (kernel, row) = self.row(column, line)?;
        self.lines[kernel].get(row).copied()
    }

    /// The function of a column, and the row of a line of the test.
    pub(crate) fn row(&self, column: usize, line: usize) -> Option<(usize, usize)> {
        Some((self.threads.get(column)?.kernel, line.checked_sub(self.first_row)?))
    }

    /// Whether a line of the test has a volatile access of the module, as a plain one.
    pub(crate) fn is_plain(&self, column: usize, line: usize) -> bool {
        self.row(column, line).is_some_and(|row| self.plain.contains(&row))
    }

    /// Reads the test.
    ///
    /// # Errors
    /// If the kernel uses something that no test expresses.
    pub(crate) fn test(&self) -> Result<Test, Vec<Diagnostic>> {
        read(&self.text)
    }

    /// The rows with a constant address that is outside its variable, or misaligned there; `None` if something else is
    /// wrong, too. A test does not have such an access, and a kernel may not execute it.
    pub(crate) fn misplaced(&self, errors: &[Diagnostic]) -> Option<BTreeSet<usize>> {
        let row = |error: &Diagnostic| {
            let misplaced = ["out-of-bounds", "misaligned"].contains(&error.code);
            error.span.line.checked_sub(self.first_row).filter(|_| misplaced)
        };
        errors.iter().map(row).collect()
    }

    /// Whether another test of the module has an instruction of it that this one has.
    pub(crate) fn shares_code(&self, other: &Composed) -> bool {
        let own: BTreeSet<usize> = self.lines.iter().flatten().copied().collect();
        other.lines.iter().flatten().any(|line| own.contains(line))
    }

    /// Whether something has to hold at the end, or no thread may run into a trap.
    pub fn asserts(&self) -> bool {
        !self.text.trim_end().ends_with(NOTHING_ASSERTED)
    }

    /// Whether lanes of the warp of a column are not in the test.
    pub fn leaves_out_lanes(&self, column: usize) -> bool {
        self.threads.get(column).is_some_and(|thread| self.left_out.of_warp(thread.place))
    }

    /// The line of the module of a line of the test, in the first column that has an instruction there.
    pub fn line_of_some_column(&self, line: usize) -> Option<usize> {
        (0..self.threads.len()).find_map(|column| self.module_line(column, line))
    }
}

/// `1, 2 and 5`
fn joined(words: &[String]) -> String {
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some(_) | None => words.concat(),
    }
}

/// Reads the test of a launch, or a change of it. What one thread alone sees is no event: most of what a compiler makes
/// of a kernel.
pub(crate) fn read(text: &str) -> Result<Test, Vec<Diagnostic>> {
    let mut read = litmus::parse(LAUNCH, text.as_bytes())?;
    read.program.access_events = AccessEvents::OfInterest;
    Ok(read)
}

/// The condition of a launch that asserts nothing.
pub(crate) const NOTHING_ASSERTED: &str = "forall (true)";

/// What messages call the test.
pub(crate) const LAUNCH: &str = "launch";

/// What a test is printed from.
pub(crate) struct ColumnTest<'t> {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) target: Option<String>,
    /// Entries of the initial state without `;`, besides those of registers.
    pub(crate) declared: Vec<String>,
    pub(crate) functions: &'t [ShortFunction],
    pub(crate) columns: Vec<PlacedColumn>,
    /// With its quantifier.
    pub(crate) condition: String,
}

/// A thread that executes a function.
pub(crate) struct PlacedColumn {
    /// An index into the functions of the test.
    pub(crate) function: usize,
    /// Registers with their initial values, as the initial state has them.
    pub(crate) registers: Vec<String>,
    /// `cta 0,gpu 0`
    pub(crate) placement: String,
    pub(crate) place: ThreadPlace,
}

impl ColumnTest<'_> {
    /// Prints the test.
    pub(crate) fn composed(mut self, mut notes: BTreeSet<String>) -> Composed {
        let mut test = TestText::new("PTX", &self.name);
        test.doc(&self.doc);
        test.key("Dialect", "ptx");
        if let Some(target) = &self.target {
            test.key("Arch", target);
        }
        let inexact = |part: &str| matches!(part, "approx" | "full" | "ftz");
        if self.rows().any(|row| opcode(row).split('.').any(inexact)) {
            test.key("Rounding", "nearest");
            notes.insert(ROUNDING.to_owned());
        }
        // Locations without a type share lines, others have their own.
        let (plain, typed): (Vec<String>, Vec<String>) = std::mem::take(&mut self.declared)
            .into_iter()
            .partition(|entry| entry.starts_with(|c: char| c != '.') && !entry.contains(' '));
        test.declare(plain);
        typed.into_iter().chain(self.tensor_memory()).for_each(|entry| test.declare([entry]));
        self.columns.iter().for_each(|column| test.declare(&column.registers));
        let columns = self.columns.iter().enumerate().map(|(number, column)| {
            let cells = self.functions[column.function].cells.iter().map(|(cell, _)| cell.clone());
            std::iter::once(format!("P{number}@{}", column.placement)).chain(cells).collect()
        });
        test.columns(&columns.collect::<Vec<Vec<String>>>());
        test.end(self.condition.clone());
        let thread =
            |column: &PlacedColumn| ColumnThread { kernel: column.function, place: column.place };
        Composed {
            first_row: test.line_of_row(1),
            threads: self.columns.iter().map(thread).collect(),
            notes: notes.into_iter().collect(),
            lines: self
                .functions
                .iter()
                .map(|function| function.cells.iter().map(|(_, line)| *line).collect())
                .collect(),
            kernels: self.functions.iter().map(|of| of.function.name.clone()).collect(),
            left_out: LeftOut::default(),
            objects: AdaptedObjects::default(),
            alike: Vec::new(),
            plain: BTreeSet::new(),
            any_numbers: Vec::new(),
            types: ElementTypes::new(),
            text: test.to_string(),
        }
    }
}

impl ColumnTest<'_> {
    /// The instructions of all functions, without labels.
    fn rows(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().flat_map(|of| &of.function.rows).map(|row| &row.text[..])
    }

    /// Memory for each `tcgen05.alloc` of each thread of a CTA.
    fn tensor_memory(&self) -> Vec<String> {
        let ctas = self.columns.iter().map(|column| column.place.cta).collect::<BTreeSet<u32>>();
        let threads = |cta| self.columns.iter().filter(|column| column.place.cta == cta).count();
        let threads = ctas.into_iter().map(threads).max().unwrap_or(0);
        let allocations = self.rows().filter(|row| opcode(row).starts_with("tcgen05.alloc"));
        let columns = allocations.filter_map(|row| row.rsplit(',').next()?.trim().parse().ok());
        let of = |(number, columns): (usize, u32)| {
            (0..threads)
                .map(move |thread| format!(".tmem {TENSOR_MEMORY}_{number}_{thread}[{columns}]"))
        };
        columns.enumerate().flat_map(of).collect()
    }
}

/// How variables for allocations of tensor memory are called.
const TENSOR_MEMORY: &str = "tensor_memory";

/// What is assumed of floats.
const ROUNDING: &str = "results of `.approx`, `.full` and `.ftz` are those of IEEE 754, and functions such as `ex2` some function of their operands";

/// What the parameters and special registers of a function are in a column.
pub(crate) struct ColumnValues<'v> {
    /// In the order of parameters.
    pub(crate) arguments: &'v [&'v LaunchArgument],
    pub(crate) gpu: u32,
    pub(crate) special: &'v mut dyn FnMut(&str) -> Result<String, LaunchError>,
}

impl ColumnValues<'_> {
    /// The registers of a column that have an initial value.
    pub(crate) fn registers(
        &mut self,
        column: usize,
        of: &ShortFunction,
    ) -> Result<Vec<String>, LaunchError> {
        let registers = of.function.registers.iter();
        let widths: BTreeMap<&str, u16> =
            registers.map(|(name, bits)| (&name[..], *bits)).collect();
        let mut all = Vec::new();
        for (register, value) in &of.initial {
            let value = self.entry(of, value)?;
            let bits = widths.get(&register[..]).copied().unwrap_or(64);
            let ty = if bits > 1 { format!(".b{bits} ") } else { String::new() };
            all.push(format!("{ty}P{column}:{register}={value}"));
        }
        Ok(all)
    }

    /// The initial value of a register, as a test writes it.
    fn entry(&mut self, of: &ShortFunction, value: &EntryValue) -> Result<String, LaunchError> {
        match value {
            EntryValue::Value(value) => Ok(value.to_string()),
            EntryValue::Address(variable) => Ok(variable.clone()),
            EntryValue::Parameter(index) => {
                let ty = ElementType::of_parameter(&of.function.parameters[*index]);
                self.scalar(self.arguments[*index], ty)
            }
            EntryValue::Piece { parameter, offset, bits } => {
                self.piece(self.arguments[*parameter], *offset, *bits)
            }
            EntryValue::Special(name) => (self.special)(name),
        }
    }

    /// An argument that is passed by value, or an address. `ty`: that of the parameter.
    fn scalar(&self, argument: &LaunchArgument, ty: ElementType) -> Result<String, LaunchError> {
        if let ArgumentValue::Fields(_) = &argument.value {
            return Err(LaunchError::new(format!(
                "the argument `{}` is a scalar of the kernel, and has fields in the launch",
                argument.name
            )));
        }
        self.passed(&argument.name, &argument.value, ty)
    }

    /// The text of a value, which is not fields. A buffer has the name of its argument.
    fn passed(
        &self,
        name: &str,
        value: &ArgumentValue,
        ty: ElementType,
    ) -> Result<String, LaunchError> {
        let bits = match value {
            ArgumentValue::Buffer(_) => return Ok(name.to_owned()),
            ArgumentValue::Inside { buffer, offset }
            | ArgumentValue::Tensor(TensorArgument { buffer, offset, .. }) => {
                let plus = if *offset == 0 { String::new() } else { format!("+{offset}") };
                return Ok(format!("{buffer}{plus}"));
            }
            ArgumentValue::Number { bits, .. } => fitting(*bits, ty.bits),
            ArgumentValue::Untyped(text) => ty.bits_of(text),
            ArgumentValue::OfGpu(values) => {
                let gpu = self.gpu;
                let value = values.get(gpu as usize).ok_or_else(|| {
                    LaunchError::new(format!("the argument `{name}` has no value for GPU {gpu}"))
                })?;
                return self.passed(name, value, ty);
            }
            ArgumentValue::Fields(_) => None,
        };
        let bits = bits.ok_or_else(|| {
            let kind = if ty.is_float() { "float" } else { "number" };
            LaunchError::new(format!("the value of `{name}` is no {kind} of {} bits", ty.bits))
        })?;
        Ok(bits.to_string())
    }

    /// A part of an argument that is a structure.
    fn piece(
        &self,
        argument: &LaunchArgument,
        offset: u32,
        bits: u16,
    ) -> Result<String, LaunchError> {
        let name = &argument.name;
        let ty = ElementType::unsigned(bits);
        let ArgumentValue::Fields(fields) = &argument.value else {
            return match (&argument.value, offset) {
                (value, 0) => self.passed(name, value, ty),
                _ => Err(LaunchError::new(format!("the argument `{name}` is a structure")).help(
                    format!("give its fields by their offsets: {name}='{{0: 5, 8: @buffer}}'"),
                )),
            };
        };
        // The field that has the first byte of the piece; what no field has is 0.
        let before = fields.iter().filter(|field| field.offset <= offset);
        let Some(field) = before.max_by_key(|field| field.offset) else {
            return Ok("0".to_owned());
        };
        let inside = offset - field.offset;
        let all = ElementType::unsigned(64);
        let number = match &field.value {
            ArgumentValue::Number { bits, .. } => Some(*bits),
            // A float is as wide as what is read of it.
            ArgumentValue::Untyped(text) if is_fraction(text) && inside == 0 => ty.bits_of(text),
            ArgumentValue::Untyped(text) => all.bits_of(text),
            value @ (ArgumentValue::Buffer(_)
            | ArgumentValue::Inside { .. }
            | ArgumentValue::OfGpu(_)
            | ArgumentValue::Tensor(_)
            | ArgumentValue::Fields(_)) => match inside {
                0 => return self.passed(name, value, ty),
                1..8 => {
                    let why = format!(
                        "the kernel reads byte {offset} of `{name}`, in the middle of the field at {}",
                        field.offset
                    );
                    return Err(LaunchError::new(why));
                }
                _ => Some(0),
            },
        };
        let number = number.ok_or_else(|| {
            let at = field.offset;
            LaunchError::new(format!("the field at {at} of `{name}` is no number of {bits} bits"))
        })?;
        let shifted = number.checked_shr(8 * inside).unwrap_or(0);
        Ok((shifted & (u64::MAX >> (64 - bits.clamp(1, 64)))).to_string())
    }
}

/// A number with so many bits, if they are enough for it as an unsigned or as a signed number.
fn fitting(number: u64, bits: u16) -> Option<u64> {
    let mask = u64::MAX >> (64 - bits.clamp(1, 64));
    let signed = number.cast_signed() >> (bits.clamp(1, 64) - 1) == -1;
    (number <= mask || signed).then_some(number & mask)
}

/// The memory of columns.
#[derive(Clone, Copy)]
pub(crate) struct ColumnMemory {
    /// The bytes of dynamic shared memory.
    pub(crate) shared: Option<u32>,
    /// The number of columns.
    pub(crate) threads: usize,
    pub(crate) unwritten: UnwrittenMemory,
}

/// Which memory of functions has no value before threads write it. Reading R117.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnwrittenMemory {
    /// All of it counts as written.
    Nothing,
    /// What belongs to a thread of the test.
    OfThreads,
    /// Shared memory, too.
    OfCtas,
}

impl UnwrittenMemory {
    fn has(self, variable: &FunctionVariable) -> bool {
        let least = match variable.space {
            Space::Local => UnwrittenMemory::OfThreads,
            Space::Global if variable.name == HEAP => UnwrittenMemory::OfThreads,
            Space::Shared => UnwrittenMemory::OfCtas,
            // Other variables of a module are 0 if it does not say what they are.
            Space::Global | Space::Const | Space::ParamEntry | Space::ParamFunc | Space::Tensor => {
                return false;
            }
        };
        self >= least
    }
}

/// The declarations of the variables of functions, each once.
pub(crate) fn declarations(
    functions: &[ShortFunction],
    memory: ColumnMemory,
) -> Result<Vec<String>, LaunchError> {
    let mut declared: BTreeSet<&str> = BTreeSet::new();
    let all = functions.iter().flat_map(|of| &of.function.variables);
    all.filter(|variable| declared.insert(&variable.name))
        .map(|variable| declaration(variable, memory))
        .collect()
}

/// A variable of the module or of a function.
fn declaration(variable: &FunctionVariable, memory: ColumnMemory) -> Result<String, LaunchError> {
    let ColumnMemory { shared, threads, unwritten } = memory;
    let name = &variable.name;
    let space = match variable.space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Const => "const",
        Space::Local => "local",
        Space::ParamEntry => "param::entry",
        Space::ParamFunc => "param::func",
        Space::Tensor => "tmem",
    };
    let bytes = match (variable.grows, variable.space, shared) {
        (true, Space::Shared, Some(bytes)) => bytes,
        (true, Space::Shared, None) => {
            return Err(LaunchError::new(format!(
                "the dynamic shared memory `{name}` has no size"
            ))
            .help("--shared BYTES"));
        }
        (true, ..) => {
            return Err(LaunchError::new(format!(
                "`{name}` is declared `.extern`, and not defined here"
            )));
        }
        (false, ..) if name == HEAP => variable.bytes * u32::try_from(threads).unwrap_or(1),
        (false, ..) => variable.bytes,
    };
    let element = u32::from(element_of(variable, bytes).bits / 8);
    let count = (bytes / element).max(1);
    let values: Vec<String> = variable
        .initial
        .chunks(element as usize)
        .map(|chunk| {
            let value = chunk.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
            value.to_string()
        })
        .collect();
    let init = if unwritten.has(variable) {
        format!("={NO_VALUE}")
    } else if variable.initial.iter().all(|byte| *byte == 0) {
        String::new()
    } else {
        format!("={{{}}}", values.join(","))
    };
    Ok(format!(".{space} .b{} {name}[{count}]{init}", 8 * element))
}

/// The elements in which a test declares a variable of so many bytes.
pub(crate) fn element_of(variable: &FunctionVariable, bytes: u32) -> ElementType {
    // Compilers declare arrays of bytes, and align them as what they are arrays of.
    let declared = variable.element.filter(|ty| (2..=8).contains(&ty.bytes()));
    let wide = declared.map(Type::bytes).filter(|size| bytes.is_multiple_of(*size));
    let aligned = || {
        let fits =
            |size: &u32| bytes.is_multiple_of(*size) && (*size < 8 || variable.alignment >= 8);
        [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1)
    };
    let size = wide.unwrap_or_else(aligned);
    let kind = match declared.filter(|ty| ty.bytes() == size).map(|ty| ty.kind) {
        Some(TypeKind::Float) if size >= 4 => ElementKind::Float,
        Some(TypeKind::Signed) => ElementKind::Signed,
        Some(TypeKind::Unsigned) => ElementKind::Unsigned,
        Some(_) | None => ElementKind::Bits,
    };
    ElementType { kind, bits: [8, 16, 32, 64][size.ilog2() as usize] }
}

/// A placement as the first row of a test has it. `kernels`: whether there are several kernels.
pub(crate) fn placement(of: &Placement, kernels: bool) -> String {
    let mut text = String::new();
    let mut part = |name: &str, number: u64| {
        write!(text, "{name} {number},").expect("a string can be written to");
    };
    if let Some(warp) = of.warp {
        part("warp", warp.into());
    }
    part("cta", of.cta.into());
    if let Some(cluster) = of.cluster {
        part("cluster", cluster.into());
    }
    if kernels {
        part("kernel", of.kernel.into());
    }
    format!("{text}gpu {}", of.gpu)
}

/// Functions of a module, as a test has them.
pub(crate) fn shortened(functions: Vec<Function>, kept: &BTreeSet<String>) -> Vec<ShortFunction> {
    functions.into_iter().map(|function| ShortFunction::new(function, kept)).collect()
}
