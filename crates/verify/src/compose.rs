//! A launch as a litmus test: a column for each thread, a row for each instruction.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lift::function::{EntryValue, Function, FunctionVariable, Parameter};
use lift::module::{self, TRAP};
use model::memory::Space;
use ptx::Module;

use crate::argument::{Argument, ArgumentValue, Buffer, Field};
use crate::launch::{KernelLaunch, LaunchError, LaunchSpec, ThreadPlace};
use crate::special::{self, LANES};

/// A launch as a litmus test.
#[derive(Debug)]
pub struct Composed {
    pub text: String,
    /// The names of its kernels.
    pub kernels: Vec<String>,
    /// The threads, in the order of columns.
    pub threads: Vec<ColumnThread>,
    /// Assumptions about the kernels and the launch.
    pub notes: Vec<String>,
    /// The line of the text with the first row of instructions.
    first_row: usize,
    /// Of each kernel, the line of the module of each row.
    lines: Vec<Vec<usize>>,
}

/// The thread of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnThread {
    /// An index into the kernels of the launch.
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
}

/// Makes the test of a launch. All that is wrong with the launch, or cannot be read in its kernels, is told.
///
/// # Errors
/// At least one.
pub fn compose(module: &Module<'_>, launch: &LaunchSpec) -> Result<Composed, Vec<LaunchError>> {
    let places = launch.places().map_err(one)?;
    check_arguments(launch)?;
    let names = launch.arguments.iter().map(|argument| argument.name.clone());
    let reserved: BTreeSet<String> = names.chain([WORKSPACE.to_owned()]).collect();
    let mut kernels = Vec::new();
    for kernel in &launch.kernels {
        let name = kernel_name(module, kernel).map_err(one)?;
        let function = module::launched(module, &name, &reserved);
        let function = function.ok_or_else(|| vec![unknown_kernel(module, &name)])?;
        let function = function.map_err(|refusals| {
            let all = refusals.all().iter();
            all.map(|refused| LaunchError::new(refused.why.clone()).at(refused.line))
                .collect::<Vec<_>>()
        })?;
        kernels.push(LaunchedKernel::new(function, kernel, launch)?);
    }
    let mut composer =
        Composer { launch, kernels: &kernels, out: String::new(), notes: Vec::new() };
    composer.head(module);
    composer.variables()?;
    let threads: Vec<ColumnThread> = (0..kernels.len())
        .flat_map(|kernel| places.iter().map(move |&place| ColumnThread { kernel, place }))
        .collect();
    composer.registers(&threads)?;
    composer.placements(&threads);
    let first_row = composer.out.lines().count() + 1;
    composer.rows(&threads);
    composer.condition();
    let notes = kernels.iter().flat_map(|kernel| kernel.function.notes.iter().cloned());
    let notes: BTreeSet<String> = notes.chain(composer.notes).collect();
    Ok(Composed {
        text: composer.out,
        threads,
        notes: notes.into_iter().collect(),
        first_row,
        lines: kernels
            .iter()
            .map(|kernel| kernel.function.rows.iter().map(|row| row.line).collect())
            .collect(),
        kernels: kernels.into_iter().map(|kernel| kernel.function.name).collect(),
    })
}

fn one(error: LaunchError) -> Vec<LaunchError> {
    vec![error]
}

/// The kernels of a module.
pub fn kernel_names(module: &Module<'_>) -> Vec<String> {
    let all = module.declared_functions().into_iter().filter(|function| function.kernel);
    all.map(|function| function.name.to_owned()).collect()
}

/// The kernel that a launch names: by its name in the module, or by the identifier in a mangled name.
fn kernel_name(module: &Module<'_>, kernel: &KernelLaunch) -> Result<String, LaunchError> {
    let names = kernel_names(module);
    let Some(wanted) = &kernel.name else {
        return match &names[..] {
            [only] => Ok(only.clone()),
            [] => Err(LaunchError::new("the module has no kernel")
                .help("a kernel is an `.entry` with a body")),
            all => Err(LaunchError::new(format!("the module has {} kernels", all.len()))
                .help(format!("name one: --kernel {}", list(all)))),
        };
    };
    if names.contains(wanted) {
        return Ok(wanted.clone());
    }
    let identifier = format!("{}{wanted}", wanted.len());
    let mangled: Vec<String> = names
        .iter()
        .filter(|name| name.starts_with("_Z") && name.contains(&identifier))
        .cloned()
        .collect();
    match &mangled[..] {
        [only] => Ok(only.clone()),
        [] => Err(unknown_kernel(module, wanted)),
        all => Err(LaunchError::new(format!("`{wanted}` is the name of {} kernels", all.len()))
            .help(format!("name one: --kernel {}", list(all)))),
    }
}

fn unknown_kernel(module: &Module<'_>, wanted: &str) -> LaunchError {
    let names = kernel_names(module);
    let error = LaunchError::new(format!("the module has no kernel `{wanted}`"));
    if names.is_empty() { error } else { error.help(format!("its kernels: {}", list(&names))) }
}

fn list(names: &[String]) -> String {
    let most = 20;
    let shown = names.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(most);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Arguments have one name each, and addresses are in buffers.
fn check_arguments(launch: &LaunchSpec) -> Result<(), Vec<LaunchError>> {
    let mut errors = Vec::new();
    let mut known: BTreeMap<&str, &ArgumentValue> = BTreeMap::new();
    for argument in &launch.arguments {
        if known.insert(&argument.name, &argument.value).is_some() {
            errors
                .push(LaunchError::new(format!("the argument `{}` is given twice", argument.name)));
        }
        if [TRAP, WORKSPACE].contains(&&argument.name[..]) {
            errors.push(LaunchError::new(format!(
                "`{}` is the name of something else",
                argument.name
            )));
        }
    }
    for argument in &launch.arguments {
        let values = match &argument.value {
            ArgumentValue::Fields(fields) => fields.iter().map(|field| &field.value).collect(),
            value => vec![value],
        };
        for value in values {
            let ArgumentValue::Inside { buffer, offset } = value else { continue };
            let Some(ArgumentValue::Buffer(of)) = known.get(&buffer[..]) else {
                let buffers = launch
                    .arguments
                    .iter()
                    .filter(|argument| matches!(argument.value, ArgumentValue::Buffer(_)));
                let names: Vec<String> = buffers.map(|argument| argument.name.clone()).collect();
                let why = format!("`@{buffer}` is not a buffer of the launch");
                errors.push(LaunchError::new(why).help(format!("its buffers: {}", list(&names))));
                continue;
            };
            let bytes = u64::from(of.count) * u64::from(of.element.bits / 8);
            if *offset >= bytes {
                errors.push(LaunchError::new(format!(
                    "`@{buffer}+{offset}` is behind the {bytes} bytes of `{buffer}`"
                )));
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// A kernel with its arguments, in the order of its parameters.
struct LaunchedKernel<'l> {
    function: Function,
    arguments: Vec<&'l Argument>,
}

impl<'l> LaunchedKernel<'l> {
    fn new(
        function: Function,
        kernel: &KernelLaunch,
        launch: &'l LaunchSpec,
    ) -> Result<LaunchedKernel<'l>, Vec<LaunchError>> {
        let mut arguments: Vec<&Argument> = Vec::new();
        match &kernel.arguments {
            None => arguments.extend(&launch.arguments),
            Some(names) => {
                for name in names {
                    let found = launch.arguments.iter().find(|argument| argument.name == *name);
                    arguments.push(found.ok_or_else(|| {
                        one(LaunchError::new(format!("the kernel `{}` has an argument `{name}`, which the launch does not give", function.name)))
                    })?);
                }
            }
        }
        let (given, wanted) = (arguments.len(), function.parameters.len());
        if given != wanted {
            let parameters: Vec<String> =
                function.parameters.iter().map(|parameter| signature(parameter)).collect();
            let why = format!(
                "the kernel `{}` has {wanted} parameters, and the launch gives {given} arguments",
                function.name
            );
            let help = format!(
                "in this order, one --arg NAME=VALUE for each of: {}",
                parameters.join(", ")
            );
            return Err(one(LaunchError::new(why).help(help)));
        }
        Ok(LaunchedKernel { function, arguments })
    }
}

fn signature(parameter: &Parameter) -> String {
    let Parameter { name, bits, points_to, .. } = parameter;
    let pointer = if points_to.is_some() { ", a pointer" } else { "" };
    format!("`{name}` ({} bytes{pointer})", bits / 8)
}

struct Composer<'c> {
    launch: &'c LaunchSpec,
    kernels: &'c [LaunchedKernel<'c>],
    out: String,
    notes: Vec<String>,
}

impl Composer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn head(&mut self, module: &Module<'_>) {
        let names: Vec<&str> =
            self.kernels.iter().map(|kernel| &kernel.function.name[..]).collect();
        let LaunchSpec { grid, block, .. } = self.launch;
        let name: String =
            names[0].chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.line(&format!("PTX {name}"));
        self.line(&format!("\"{} with grid {grid} and block {block}\"", names.join(", ")));
        self.line("Dialect=ptx");
        if let Some(target) = module.target() {
            self.line(&format!("Arch={target}"));
        }
        self.line("{");
    }

    fn variables(&mut self) -> Result<(), Vec<LaunchError>> {
        for argument in &self.launch.arguments {
            if let ArgumentValue::Buffer(buffer) = &argument.value {
                self.line(&declaration_of_buffer(&argument.name, buffer));
            }
        }
        if self.launch.cooperative {
            self.line(&format!(".global .b32 {WORKSPACE}[2];"));
        }
        let mut declared: BTreeSet<&str> = BTreeSet::new();
        let kernels = self.kernels;
        let all = kernels.iter().flat_map(|kernel| &kernel.function.variables);
        for variable in all {
            if declared.insert(&variable.name) {
                let text = declaration(variable, self.launch).map_err(one)?;
                self.line(&text);
            }
        }
        for later in 1..self.kernels.len() {
            let order = self.launch.order.name();
            self.line(&format!("kernel {} -> {later} @{order};", later - 1));
        }
        Ok(())
    }

    /// The initial values of registers.
    fn registers(&mut self, threads: &[ColumnThread]) -> Result<(), Vec<LaunchError>> {
        for (column, thread) in threads.iter().enumerate() {
            let kernel = &self.kernels[thread.kernel];
            let widths: BTreeMap<&str, u16> =
                kernel.function.registers.iter().map(|(name, bits)| (&name[..], *bits)).collect();
            let mut line = String::new();
            for (register, value) in &kernel.function.initial {
                let value = self.entry(kernel, *thread, value).map_err(one)?;
                let bits = widths.get(&register[..]).copied().unwrap_or(64);
                let ty = if bits > 1 { format!(".b{bits} ") } else { String::new() };
                write!(line, "{ty}P{column}:{register}={value}; ")
                    .expect("a string can be written to");
            }
            if !line.is_empty() {
                self.line(line.trim_end());
            }
        }
        self.line("}");
        Ok(())
    }

    /// The initial value of a register, as a test writes it.
    fn entry(
        &mut self,
        kernel: &LaunchedKernel<'_>,
        thread: ColumnThread,
        value: &EntryValue,
    ) -> Result<String, LaunchError> {
        match value {
            EntryValue::Value(value) => Ok(value.to_string()),
            EntryValue::Address(variable) => Ok(variable.clone()),
            EntryValue::Parameter(index) => {
                let argument = kernel.arguments[*index];
                self.scalar(&argument.name, &argument.name, &argument.value, thread)
            }
            EntryValue::Piece { parameter, offset, bits } => {
                let argument = kernel.arguments[*parameter];
                self.piece(argument, *offset, *bits, thread)
            }
            // The workspace of the barrier of a cooperative launch: its address in two halves, the first of which is 0 here.
            EntryValue::Special(name) if name == "envreg2" && self.launch.cooperative => {
                Ok(WORKSPACE.to_owned())
            }
            EntryValue::Special(name) => {
                let value = special::value(name, self.launch, thread.place).ok_or_else(|| {
                    LaunchError::new(format!(
                        "`{}` reads `%{name}`, which a launch does not give",
                        kernel.function.name
                    ))
                })?;
                if value.assumed {
                    self.notes.push(format!(
                        "`%{name}` is {}",
                        match name.split('.').next() {
                            Some("smid") => "the number of the CTA".to_owned(),
                            _ => format!("{} at each read", value.value),
                        }
                    ));
                }
                Ok(value.value.to_string())
            }
        }
    }

    /// A value that fits a register. `name`: of the buffer that it may be.
    fn scalar(
        &self,
        argument: &str,
        name: &str,
        value: &ArgumentValue,
        thread: ColumnThread,
    ) -> Result<String, LaunchError> {
        match value {
            ArgumentValue::Buffer(_) => Ok(name.to_owned()),
            ArgumentValue::Number(bits) => Ok(bits.to_string()),
            ArgumentValue::OfGpu(values) => {
                let gpu = self.gpu(thread.place);
                let value = values.get(gpu as usize);
                let value = value.ok_or_else(|| {
                    LaunchError::new(format!(
                        "the argument `{argument}` has no value for GPU {gpu}"
                    ))
                })?;
                Ok(value.to_string())
            }
            ArgumentValue::Inside { buffer, offset: 0 } => Ok(buffer.clone()),
            ArgumentValue::Inside { buffer, offset } => Ok(format!("{buffer}+{offset}")),
            ArgumentValue::Fields(_) => Err(LaunchError::new(format!(
                "the argument `{argument}` is a scalar of the kernel, and has fields in the launch"
            ))),
        }
    }

    /// A part of an argument that is a structure.
    fn piece(
        &self,
        argument: &Argument,
        offset: u32,
        bits: u16,
        thread: ColumnThread,
    ) -> Result<String, LaunchError> {
        let name = &argument.name;
        let ArgumentValue::Fields(fields) = &argument.value else {
            if offset == 0 {
                return self.scalar(name, name, &argument.value, thread);
            }
            return Err(LaunchError::new(format!("the argument `{name}` is a structure")).help(
                format!("give its fields by their offsets: --arg {name}='{{0: 5, 8: @buffer}}'"),
            ));
        };
        let exact = fields.iter().find(|field| field.offset == offset);
        if let Some(Field { value, .. }) = exact {
            if let ArgumentValue::Number(value) = value {
                let mask = u64::MAX >> (64 - bits.clamp(1, 64));
                return Ok((value & mask).to_string());
            }
            return self.scalar(name, name, value, thread);
        }
        // A part of a field that is a number; what no field has is 0.
        let inside = fields.iter().find(|field| field.offset < offset && offset < field.offset + 8);
        match inside {
            Some(Field { offset: begin, value: ArgumentValue::Number(value) }) => {
                let mask = u64::MAX >> (64 - bits.clamp(1, 64));
                Ok((value >> (8 * (offset - begin)) & mask).to_string())
            }
            Some(Field { offset: begin, .. }) => Err(LaunchError::new(format!(
                "the kernel reads byte {offset} of `{name}`, in the middle of the field at {begin}"
            ))),
            None => Ok("0".to_owned()),
        }
    }

    fn gpu(&self, place: ThreadPlace) -> u32 {
        self.launch.gpus.get(place.cta as usize).copied().unwrap_or(0)
    }

    fn placements(&mut self, threads: &[ColumnThread]) {
        let block = self.launch.block.count();
        let place = |(column, thread): (usize, &ColumnThread)| {
            let ThreadPlace { cta, thread: number } = thread.place;
            let mut text = format!("P{column}@");
            if block > 1 {
                write!(text, "warp {},", number / LANES).expect("a string can be written to");
            }
            write!(text, "cta {cta},").expect("a string can be written to");
            if let Some(cluster) = self.launch.cluster {
                let index = self.launch.grid.index(cta);
                let parts = cluster.parts_of(self.launch.grid).unwrap_or(self.launch.grid);
                let of = crate::Dim3 {
                    x: index.x / cluster.x,
                    y: index.y / cluster.y,
                    z: index.z / cluster.z,
                };
                write!(text, "cluster {},", parts.number(of)).expect("a string can be written to");
            }
            if self.kernels.len() > 1 {
                write!(text, "kernel {},", thread.kernel).expect("a string can be written to");
            }
            write!(text, "gpu {}", self.gpu(thread.place)).expect("a string can be written to");
            text
        };
        let all: Vec<String> = threads.iter().enumerate().map(place).collect();
        self.line(&format!(" {} ;", all.join(" | ")));
    }

    fn rows(&mut self, threads: &[ColumnThread]) {
        let cells: Vec<Vec<String>> = self
            .kernels
            .iter()
            .map(|kernel| kernel.function.rows.iter().map(|row| row.cell()).collect())
            .collect();
        let longest = cells.iter().map(Vec::len).max().unwrap_or(0);
        for row in 0..longest {
            let of =
                |thread: &ColumnThread| cells[thread.kernel].get(row).map_or("", String::as_str);
            let all: Vec<&str> = threads.iter().map(of).collect();
            self.line(&format!(" {} ;", all.join(" | ")));
        }
    }

    /// All assertions hold, and nobody ran into a trap.
    fn condition(&mut self) {
        let mut all: Vec<String> =
            self.launch.assertions.iter().map(|text| in_words_of_tests(text)).collect();
        let traps = |kernel: &LaunchedKernel<'_>| {
            kernel.function.variables.iter().any(|variable| variable.name == TRAP)
        };
        if self.kernels.iter().any(traps) {
            all.push(format!("{TRAP} = 0"));
        }
        if all.is_empty() {
            all.push("true".to_owned());
        }
        self.line(&format!("forall ({})", all.join(" /\\ ")));
    }
}

/// The memory of the barrier of the grid, in a cooperative launch: two words, the second of which counts.
const WORKSPACE: &str = "grid_workspace";

/// A condition with the operators of a test: `out[0]==4 && n!=2` is `out[0]=4 /\ n!=2`.
pub fn in_words_of_tests(text: &str) -> String {
    format!("({})", text.replace("&&", "/\\").replace("||", "\\/").replace("==", "="))
}

fn declaration_of_buffer(name: &str, buffer: &Buffer) -> String {
    let Buffer { element, count, initial } = buffer;
    let ty = format!(".global .b{}", element.bits);
    let values: Vec<String> = initial.iter().flatten().map(u64::to_string).collect();
    let plain = initial.iter().flatten().all(|&value| value == 0);
    if plain {
        format!("{ty} {name}[{count}];")
    } else {
        format!("{ty} {name}[{count}]={{{}}};", values.join(","))
    }
}

/// A variable of the module or of a function.
fn declaration(variable: &FunctionVariable, launch: &LaunchSpec) -> Result<String, LaunchError> {
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
    let bytes = match (variable.grows, variable.space, launch.shared) {
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
