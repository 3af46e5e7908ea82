//! Columns of a litmus test: threads that execute functions of a module, and the one printer of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lift::function::{EntryValue, Function, FunctionVariable};
use lift::module::HEAP;
use model::memory::Space;
use model::scope::Placement;

use crate::argument::{ArgumentField, ArgumentValue, LaunchArgument};
use crate::lanes::{LeftOut, opcode};
use crate::launch::{LaunchError, ThreadPlace};
use crate::shorten::ShortFunction;

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

    /// The line of the module, from 1, of a line of the test, in a column.
    pub fn module_line(&self, column: usize, line: usize) -> Option<usize> {
        let kernel = self.threads.get(column)?.kernel;
        self.lines[kernel].get(line.checked_sub(self.first_row)?).copied()
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

/// What a test is printed from.
pub(crate) struct ColumnTest<'t> {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) target: Option<String>,
    /// Entries of the initial state, besides those of registers and of the variables of functions.
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
    pub(crate) fn composed(self, mut notes: BTreeSet<String>) -> Composed {
        let mut out = String::new();
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        line(&format!("PTX {}", self.name));
        line(&format!("\"{}\"", self.doc));
        line("Dialect=ptx");
        if let Some(target) = &self.target {
            line(&format!("Arch={target}"));
        }
        let inexact = |part: &str| matches!(part, "approx" | "full" | "ftz");
        if self.rows().any(|row| opcode(row).split('.').any(inexact)) {
            line("Rounding=nearest");
            notes.insert(ROUNDING.to_owned());
        }
        line("{");
        self.declared.iter().for_each(|entry| line(entry));
        self.tensor_memory().iter().for_each(|entry| line(entry));
        for column in &self.columns {
            if !column.registers.is_empty() {
                line(&column.registers.join(" "));
            }
        }
        line("}");
        let places = self.columns.iter().enumerate();
        let places: Vec<String> =
            places.map(|(column, of)| format!("P{column}@{}", of.placement)).collect();
        line(&format!(" {} ;", places.join(" | ")));
        let longest = self.functions.iter().map(|function| function.cells.len()).max().unwrap_or(0);
        for row in 0..longest {
            let cell = |column: &PlacedColumn| {
                self.functions[column.function].cells.get(row).map_or("", |(cell, _)| cell)
            };
            let all: Vec<&str> = self.columns.iter().map(cell).collect();
            line(&format!(" {} ;", all.join(" | ")));
        }
        line(&self.condition);
        let thread =
            |column: &PlacedColumn| ColumnThread { kernel: column.function, place: column.place };
        Composed {
            first_row: first_row(&out),
            threads: self.columns.iter().map(thread).collect(),
            notes: notes.into_iter().collect(),
            lines: self
                .functions
                .iter()
                .map(|function| function.cells.iter().map(|(_, line)| *line).collect())
                .collect(),
            kernels: self.functions.iter().map(|of| of.function.name.clone()).collect(),
            left_out: LeftOut::default(),
            text: out,
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
                .map(move |thread| format!(".tmem {TENSOR_MEMORY}_{number}_{thread}[{columns}];"))
        };
        columns.enumerate().flat_map(of).collect()
    }
}

/// How variables for allocations of tensor memory are called.
const TENSOR_MEMORY: &str = "tensor_memory";

/// What is assumed of floats.
const ROUNDING: &str = "results of `.approx`, `.full` and `.ftz` are those of IEEE 754, and functions such as `ex2` some function of their operands";

/// The line of the first row of instructions, from 1: the one after the placements.
pub(crate) fn first_row(text: &str) -> usize {
    text.lines().take_while(|line| !line.starts_with(" P0@")).count() + 2
}

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
            let value = self.entry(value)?;
            let bits = widths.get(&register[..]).copied().unwrap_or(64);
            let ty = if bits > 1 { format!(".b{bits} ") } else { String::new() };
            all.push(format!("{ty}P{column}:{register}={value};"));
        }
        Ok(all)
    }

    /// The initial value of a register, as a test writes it.
    fn entry(&mut self, value: &EntryValue) -> Result<String, LaunchError> {
        match value {
            EntryValue::Value(value) => Ok(value.to_string()),
            EntryValue::Address(variable) => Ok(variable.clone()),
            EntryValue::Parameter(index) => {
                let argument = self.arguments[*index];
                self.scalar(&argument.name, &argument.value)
            }
            EntryValue::Piece { parameter, offset, bits } => {
                self.piece(self.arguments[*parameter], *offset, *bits)
            }
            EntryValue::Special(name) => (self.special)(name),
        }
    }

    /// A value that fits a register. A buffer has the name of its argument.
    fn scalar(&self, name: &str, value: &ArgumentValue) -> Result<String, LaunchError> {
        match value {
            ArgumentValue::Buffer(_) => Ok(name.to_owned()),
            ArgumentValue::Number(bits) => Ok(bits.to_string()),
            ArgumentValue::OfGpu(values) => {
                let gpu = self.gpu;
                let value = values.get(gpu as usize).ok_or_else(|| {
                    LaunchError::new(format!("the argument `{name}` has no value for GPU {gpu}"))
                })?;
                Ok(value.to_string())
            }
            ArgumentValue::Inside { buffer, offset: 0 } => Ok(buffer.clone()),
            ArgumentValue::Inside { buffer, offset } => Ok(format!("{buffer}+{offset}")),
            ArgumentValue::Fields(_) => Err(LaunchError::new(format!(
                "the argument `{name}` is a scalar of the kernel, and has fields in the launch"
            ))),
        }
    }

    /// A part of an argument that is a structure.
    fn piece(
        &self,
        argument: &LaunchArgument,
        offset: u32,
        bits: u16,
    ) -> Result<String, LaunchError> {
        let name = &argument.name;
        let ArgumentValue::Fields(fields) = &argument.value else {
            if offset == 0 {
                return self.scalar(name, &argument.value);
            }
            return Err(LaunchError::new(format!("the argument `{name}` is a structure")).help(
                format!("give its fields by their offsets: --arg {name}='{{0: 5, 8: @buffer}}'"),
            ));
        };
        let exact = fields.iter().find(|field| field.offset == offset);
        if let Some(ArgumentField { value, .. }) = exact {
            if let ArgumentValue::Number(value) = value {
                let mask = u64::MAX >> (64 - bits.clamp(1, 64));
                return Ok((value & mask).to_string());
            }
            return self.scalar(name, value);
        }
        // A part of a field that is a number; what no field has is 0.
        let inside = fields.iter().find(|field| field.offset < offset && offset < field.offset + 8);
        match inside {
            Some(ArgumentField { offset: begin, value: ArgumentValue::Number(value) }) => {
                let mask = u64::MAX >> (64 - bits.clamp(1, 64));
                Ok((value >> (8 * (offset - begin)) & mask).to_string())
            }
            Some(ArgumentField { offset: begin, .. }) => Err(LaunchError::new(format!(
                "the kernel reads byte {offset} of `{name}`, in the middle of the field at {begin}"
            ))),
            None => Ok("0".to_owned()),
        }
    }
}

/// The declarations of the variables of functions, each once. `shared`: the bytes of dynamic shared memory. `threads`: the number of columns.
pub(crate) fn declarations(
    functions: &[ShortFunction],
    shared: Option<u32>,
    threads: usize,
) -> Result<Vec<String>, LaunchError> {
    let mut declared: BTreeSet<&str> = BTreeSet::new();
    let all = functions.iter().flat_map(|of| &of.function.variables);
    all.filter(|variable| declared.insert(&variable.name))
        .map(|variable| declaration(variable, shared, threads))
        .collect()
}

/// A variable of the module or of a function.
fn declaration(
    variable: &FunctionVariable,
    shared: Option<u32>,
    threads: usize,
) -> Result<String, LaunchError> {
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
    let element = [8, 4, 2, 1]
        .into_iter()
        .find(|size| bytes % size == 0 && (*size < 8 || variable.alignment >= 8));
    let element = element.unwrap_or(1);
    let count = (bytes / element).max(1);
    let values: Vec<String> = variable
        .initial
        .chunks(element as usize)
        .map(|chunk| {
            let value = chunk.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
            value.to_string()
        })
        .collect();
    let init = if variable.initial.iter().all(|byte| *byte == 0) {
        String::new()
    } else {
        format!("={{{}}}", values.join(","))
    };
    Ok(format!(".{space} .b{} {name}[{count}]{init};", 8 * element))
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
