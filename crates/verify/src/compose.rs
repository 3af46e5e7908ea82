//! A launch as a litmus test: a column for each thread, a row for each instruction.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{Function, Parameter, is_reserved};
use lift::module::{HEAP, HEAP_BYTES, LaunchedArguments, TRAP, TensorLayout};
use litmus::Test;
use model::memory::Space;
use model::scope::Placement;
use text::Diagnostic;

use crate::alike;
use crate::argument::{ArgumentValue, Buffer, LaunchArgument, NO_VALUE, PassedAddress, check_name};
use crate::arrivals;
use crate::columns::{
    self, ColumnMemory, ColumnTest, ColumnValues, Composed, NOTHING_ASSERTED, PlacedColumn,
    UnwrittenMemory,
};
use crate::compared::ElementTypes;
use crate::condition::{self, ConditionScope};
use crate::directives;
use crate::functions::{self, FunctionName, list, named, own_name};
use crate::lanes::LeftOut;
use crate::launch::{Dim3, KernelLaunch, LaunchError, LaunchQuestion, LaunchSpec, ThreadPlace};
use crate::module::KernelModule;
use crate::shorten::ShortFunction;
use crate::special::{self, LANES};
use crate::volatile::{self, VolatileMeaning};

/// Makes the test of a launch. All that is wrong with the launch, or cannot be read in its kernels, is told.
///
/// # Errors
/// At least one.
pub fn compose(
    module: &KernelModule<'_>,
    launch: &LaunchSpec,
) -> Result<Composed, Vec<LaunchError>> {
    launched(module, launch).map(|made| made.composed)
}

/// The test of a launch as text, and as it is read.
pub(crate) struct ComposedLaunch {
    pub(crate) composed: Composed,
    /// What is wrong with it where the kernel uses something that no test expresses.
    pub(crate) test: Result<Test, Vec<Diagnostic>>,
}

/// The same, with the test.
pub(crate) fn launched(
    module: &KernelModule<'_>,
    launch: &LaunchSpec,
) -> Result<ComposedLaunch, Vec<LaunchError>> {
    launch.check()?;
    let places = launch.places().map_err(one)?;
    let variables = global_variables(module);
    check_arguments(launch, &variables)?;
    let buffers = launch.arguments.iter().filter(|of| matches!(of.value, ArgumentValue::Buffer(_)));
    let names = buffers.map(|argument| argument.name.clone());
    let own = [WORKSPACE, TRAP, HEAP].map(str::to_owned);
    let reserved: BTreeSet<String> = names.chain(own).collect();
    let left_out = LeftOut::of(launch, &places);
    let all = functions::functions(&module.module);
    let known: Vec<FunctionName> = all.into_iter().filter(|function| function.kernel).collect();
    let declared = module.module.declared_functions();
    let (mut kernels, mut arguments, mut launches) = (Vec::new(), Vec::new(), Vec::new());
    let mut alike = Vec::new();
    for kernel in &launch.kernels {
        let name = kernel_name(&known, kernel).map_err(one)?;
        let declared = declared.iter().find(|function| function.name == name);
        let bounds = declared.map_or(&[][..], |function| &function.bounds);
        launches.push(directives::applied(bounds, launch)?);
        let count = declared.map_or(0, |function| function.parameters.len());
        let passed = passed(&name, count, kernel, launch).map_err(one)?;
        let globals = named_by(&passed).filter(|name| !reserved.contains(*name));
        let own = LaunchedArguments {
            globals: globals.map(str::to_owned).collect(),
            reserved: reserved.clone(),
            tensors: tensors(&passed),
            names: passed.iter().map(|argument| argument.name.clone()).enumerate().collect(),
        };
        let mut function = module.function(&name, &own)?;
        alike.push(alike::stores(&function));
        left_out.adapt(&mut function)?;
        check_passed(&function, &passed)?;
        arguments.push(passed);
        kernels.push(function);
    }
    let kept = condition::words_of(launch.assertions.iter().map(String::as_str));
    let mut kernels = columns::shortened(kernels, &kept);
    let types = element_types(launch, &kernels);
    condition::compared(&launch.assertions, &types)?;
    let target = module.module.target().map(|target| target.to_string());
    let compose = |kernels: &[ShortFunction]| {
        let notes = kernels.iter().flat_map(|kernel| kernel.function.notes.iter().cloned());
        let mut notes: BTreeSet<String> = notes.collect();
        notes.extend(module.assumed());
        if left_out.has_threads() {
            notes.insert(LEFT_OUT.to_owned());
        }
        let unwritten = unwritten(launch, &left_out);
        let all = launch.arguments.iter().map(|argument| &argument.value);
        let unknown = |value: &ArgumentValue| {
            matches!(value, ArgumentValue::Buffer(Buffer { initial: None, .. }))
        };
        if unwritten == UnwrittenMemory::OfThreads && all.into_iter().any(unknown) {
            notes.insert(COUNTS_AS_WRITTEN.to_owned());
        }
        let arguments = &arguments;
        let (launches, types) = (&launches, &types);
        let composer = Composer { launch, launches, kernels, arguments, unwritten, types, notes };
        composer.composed(&places, target.clone()).map_err(one)
    };
    let mut composed = compose(&kernels)?;
    let mut test = composed.test();
    let misplaced = test.as_ref().err().and_then(|errors| composed.misplaced(errors));
    if let Some(misplaced) = misplaced {
        for kernel in &mut kernels {
            kernel.compute_addresses(&misplaced);
        }
        composed = compose(&kernels)?;
        test = composed.test();
    }
    let counted = test.as_ref().ok().filter(|_| left_out.has_threads());
    let objects = counted.map(|of| arrivals::adapt(&mut kernels, &launches, &composed, of));
    let objects = objects.unwrap_or_default();
    if objects.changed {
        composed = compose(&kernels)?;
        test = composed.test();
    }
    let plain = match &test {
        Ok(test) if launch.volatile == VolatileMeaning::Plain => plain_rows(&composed, test),
        Ok(_) | Err(_) => BTreeSet::new(),
    };
    if !plain.is_empty() {
        for &(kernel, row) in &plain {
            let (cell, _) = &mut kernels[kernel].cells[row];
            *cell = volatile::as_plain(cell);
        }
        composed = compose(&kernels)?;
        test = composed.test();
    }
    if test.is_err() {
        let columns = kernels.iter().flat_map(|kernel| places.iter().map(|_| &kernel.function));
        let of_columns: Vec<&Function> = columns.collect();
        let scope = ConditionScope { functions: &of_columns, types: &types };
        condition::asserted(&composed.text, &launch.assertions, scope)?;
    }
    let of_function = |short: &ShortFunction| short.any_numbers.clone();
    let any_numbers = kernels.iter().map(of_function).collect();
    let composed = Composed { left_out, objects, alike, plain, any_numbers, types, ..composed };
    Ok(ComposedLaunch { composed, test })
}

/// The tensors of the parameters that are tensormaps.
fn tensors(passed: &[&LaunchArgument]) -> BTreeMap<usize, TensorLayout> {
    let tensor = |(index, argument): (usize, &&LaunchArgument)| {
        argument.value.as_tensor().map(|tensor| (index, tensor.layout.clone()))
    };
    passed.iter().enumerate().filter_map(tensor).collect()
}

/// The types of the elements of buffers, and of variables of the module.
fn element_types(launch: &LaunchSpec, kernels: &[ShortFunction]) -> ElementTypes {
    let buffers = launch.arguments.iter().filter_map(|argument| match &argument.value {
        ArgumentValue::Buffer(buffer) => Some((&argument.name, buffer.element)),
        ArgumentValue::Number { .. }
        | ArgumentValue::Untyped(_)
        | ArgumentValue::OfGpu(_)
        | ArgumentValue::Inside { .. }
        | ArgumentValue::Tensor(_)
        | ArgumentValue::Fields(_) => None,
    });
    let own = kernels.iter().flat_map(|kernel| &kernel.function.variables);
    let own = own.map(|variable| (&variable.name, columns::element_of(variable, variable.bytes)));
    own.chain(buffers).map(|(name, element)| (name.clone(), element)).collect()
}

/// The rows with volatile accesses that are plain ones in each of their columns.
fn plain_rows(composed: &Composed, test: &Test) -> BTreeSet<(usize, usize)> {
    let accesses = volatile::accesses(test);
    let rows = |plain: bool| {
        let accesses = accesses.iter().filter(move |access| access.plain == plain);
        accesses.filter_map(|access| {
            let line = u16::try_from(access.line).expect("a thread has few lines");
            composed.row(access.thread.0.into(), test.line_number(access.thread, line)?)
        })
    };
    let others: BTreeSet<(usize, usize)> = rows(false).collect();
    rows(true).filter(|row| !others.contains(row)).collect()
}

/// What is assumed of threads of the launch that are not in its test.
const LEFT_OUT: &str = "threads of a CTA that are not named are left out: what they access, and what they arrive at, is not judged";

/// What is assumed of buffers without values then.
const COUNTS_AS_WRITTEN: &str = "buffers without values (`=?`) count as written, since threads that are left out may write them";

/// What has no value before threads write it. What threads that are left out may write counts as written.
fn unwritten(launch: &LaunchSpec, left_out: &LeftOut) -> UnwrittenMemory {
    if !launch.questions.contains(&LaunchQuestion::Uninitialised) {
        UnwrittenMemory::Nothing
    } else if left_out.has_threads() {
        UnwrittenMemory::OfThreads
    } else {
        UnwrittenMemory::OfCtas
    }
}

fn one(error: LaunchError) -> Vec<LaunchError> {
    vec![error]
}

/// The block that a kernel says it is launched with; `None` if it says nothing.
///
/// # Errors
/// If the module has no such kernel.
pub fn required_block(
    module: &KernelModule<'_>,
    kernel: &KernelLaunch,
) -> Result<Option<Dim3>, LaunchError> {
    let all = functions::functions(&module.module);
    let known: Vec<FunctionName> = all.into_iter().filter(|function| function.kernel).collect();
    let name = kernel_name(&known, kernel)?;
    let declared = module.module.declared_functions();
    let declared = declared.iter().find(|function| function.name == name);
    Ok(declared.and_then(|function| directives::block(&function.bounds)))
}

/// The kernel that a launch names.
fn kernel_name(known: &[FunctionName], kernel: &KernelLaunch) -> Result<String, LaunchError> {
    if let Some(wanted) = &kernel.name {
        return named(known, wanted, "kernel").map(|of| of.name.clone());
    }
    match known {
        [only] => Ok(only.name.clone()),
        [] => Err(LaunchError::new("the module has no kernel")
            .help("a kernel is an `.entry` with a body")),
        all => {
            let quoted = all.iter().map(|function| for_shells(own_name(all, function)));
            let names: Vec<String> = quoted.collect();
            let names = list(names.iter().map(|name| &name[..]));
            Err(LaunchError::new(format!("the module has {} kernels", all.len()))
                .help(format!("name one: --kernel {names}")))
        }
    }
}

/// A name as a shell takes it.
fn for_shells(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_:.".contains(c);
    if name.chars().all(plain) { name.to_owned() } else { format!("'{name}'") }
}

/// The variables of a module in global memory that a test has by their names, and their bytes. `@g` is the address of one.
fn global_variables<'m>(module: &KernelModule<'m>) -> BTreeMap<&'m str, u64> {
    let own = |name: &str| [TRAP, HEAP, WORKSPACE].contains(&name) || is_reserved(name);
    let globals = module.module.globals().into_iter();
    globals
        .filter(|of| of.space.space() == Some(Space::Global))
        .filter(|of| check_name(of.name).is_ok() && !own(of.name))
        .filter_map(|of| Some((of.name, of.bytes?.into())))
        .collect()
}

/// The buffers and variables that arguments have addresses in.
fn named_by<'l>(arguments: &[&'l LaunchArgument]) -> impl Iterator<Item = &'l str> {
    arguments.iter().flat_map(|of| of.value.addresses()).map(|address| address.buffer)
}

/// Arguments have one name each, and addresses are in buffers or in variables of the module.
fn check_arguments(
    launch: &LaunchSpec,
    variables: &BTreeMap<&str, u64>,
) -> Result<(), Vec<LaunchError>> {
    let mut errors = Vec::new();
    let mut known: BTreeMap<&str, &ArgumentValue> = BTreeMap::new();
    for argument in &launch.arguments {
        if known.insert(&argument.name, &argument.value).is_some() {
            errors
                .push(LaunchError::new(format!("the argument `{}` is given twice", argument.name)));
        }
        if [TRAP, HEAP, WORKSPACE].contains(&&argument.name[..]) {
            errors.push(LaunchError::new(format!(
                "`{}` is the name of something else",
                argument.name
            )));
        }
    }
    for argument in &launch.arguments {
        for PassedAddress { buffer, offset, last } in argument.value.addresses() {
            let bytes = match known.get(buffer) {
                Some(ArgumentValue::Buffer(of)) => {
                    Some(u64::from(of.count) * u64::from(of.element.bits / 8))
                }
                Some(_) => None,
                None => variables.get(buffer).copied(),
            };
            let Some(bytes) = bytes else {
                let is_buffer = |of: &&LaunchArgument| matches!(of.value, ArgumentValue::Buffer(_));
                let buffers = launch.arguments.iter().filter(is_buffer);
                let own = buffers.map(|argument| &argument.name[..]);
                let names = list(own.chain(variables.keys().copied()));
                let why = format!("`@{buffer}` is not a buffer of the launch");
                errors.push(LaunchError::new(why).help(format!("its buffers: {names}")));
                continue;
            };
            if offset >= bytes {
                errors.push(LaunchError::new(format!(
                    "`@{buffer}+{offset}` is behind the {bytes} bytes of `{buffer}`"
                )));
            } else if last >= bytes {
                let (name, needed) = (&argument.name, last + 1);
                let why = format!(
                    "the tensor of `{name}` ends at byte {needed} of `{buffer}`, which has {bytes}"
                );
                errors.push(LaunchError::new(why).help("a larger buffer, or a smaller tensor"));
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The arguments of a kernel, in the order of its parameters. `count`: how many it has. A buffer that only tensors and fields name is no
/// argument where there are more of them.
fn passed<'l>(
    function: &str,
    count: usize,
    kernel: &KernelLaunch,
    launch: &'l LaunchSpec,
) -> Result<Vec<&'l LaunchArgument>, LaunchError> {
    if let Some(names) = &kernel.arguments {
        let known = |name: &String| {
            let found = launch.arguments.iter().find(|argument| argument.name == *name);
            found.ok_or_else(|| {
                LaunchError::new(format!(
                    "the kernel `{function}` has an argument `{name}`, which the launch does not give"
                ))
            })
        };
        return names.iter().map(known).collect();
    }
    let all: Vec<&LaunchArgument> = launch.arguments.iter().collect();
    if all.len() <= count {
        return Ok(all);
    }
    let is_part = |argument: &&LaunchArgument| {
        let mut others = launch.arguments.iter();
        matches!(argument.value, ArgumentValue::Buffer(_))
            && others.any(|other| other.value.has_part(&argument.name))
    };
    let without: Vec<&LaunchArgument> = all.iter().copied().filter(|of| !is_part(of)).collect();
    Ok(if without.len() == count { without } else { all })
}

/// Whether arguments fit the parameters of their kernel.
fn check_passed(
    function: &Function,
    arguments: &[&LaunchArgument],
) -> Result<(), Vec<LaunchError>> {
    let (given, wanted) = (arguments.len(), function.parameters.len());
    if given != wanted {
        let why = format!(
            "the kernel `{}` has {wanted} parameters, and the launch gives {given} arguments",
            function.name
        );
        let help = format!(
            "in this order, one --arg NAME=VALUE for each of: {}",
            signature(function, arguments)
        );
        return Err(one(LaunchError::new(why).help(help)));
    }
    let pairs = arguments.iter().zip(&function.parameters);
    let misfits: Vec<LaunchError> =
        pairs.filter_map(|(argument, parameter)| argument.misfit(parameter)).collect();
    if misfits.is_empty() { Ok(()) } else { Err(misfits) }
}

/// The parameters of a function. Compilers put its name before theirs, or number them: a numbered one has the name of its argument, if
/// no parameter has that.
pub(crate) fn signature(function: &Function, arguments: &[&LaunchArgument]) -> String {
    let prefix = format!("{}_", function.name);
    let parameter = |(index, of): (usize, &Parameter)| {
        let pointer = if of.points_to.is_some() { ", a pointer" } else { "" };
        let own = of.name.strip_prefix(&prefix).unwrap_or(&of.name);
        let is_new = |argument: &&&LaunchArgument| {
            let mut known = function.parameters.iter();
            !known.any(|of| argument.name == of.name)
        };
        let numbered = own == format!("param_{index}");
        let argument = arguments.get(index).filter(|_| numbered).filter(is_new);
        let name = argument.map_or(own, |argument| &argument.name);
        format!("`{name}` ({} bytes{pointer})", of.bits / 8)
    };
    let all = function.parameters.iter().enumerate().map(parameter);
    all.collect::<Vec<_>>().join(", ")
}

struct Composer<'c> {
    launch: &'c LaunchSpec,
    /// That of each kernel, with what its directives say.
    launches: &'c [LaunchSpec],
    kernels: &'c [ShortFunction],
    /// Of each kernel.
    arguments: &'c [Vec<&'c LaunchArgument>],
    unwritten: UnwrittenMemory,
    types: &'c ElementTypes,
    notes: BTreeSet<String>,
}

impl Composer<'_> {
    fn composed(
        mut self,
        places: &[ThreadPlace],
        target: Option<String>,
    ) -> Result<Composed, LaunchError> {
        let LaunchSpec { grid, block, .. } = self.launch;
        let kernels = self.kernels;
        let declared = self.variables(places.len() * kernels.len())?;
        let columns = (0..kernels.len())
            .flat_map(|kernel| places.iter().map(move |&place| (kernel, place)))
            .enumerate()
            .map(|(number, (kernel, place))| self.column(number, kernel, place))
            .collect::<Result<Vec<PlacedColumn>, _>>()?;
        let condition = self.condition(&columns);
        let names: Vec<&str> = kernels.iter().map(|kernel| &kernel.function.name[..]).collect();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let test = ColumnTest {
            name: names[0].chars().map(plain).collect(),
            doc: format!("{} with grid {grid} and block {block}", names.join(", ")),
            target,
            declared,
            functions: kernels,
            columns,
            condition,
        };
        Ok(test.composed(self.notes))
    }

    /// Entries of the initial state, besides registers.
    fn variables(&self, threads: usize) -> Result<Vec<String>, LaunchError> {
        let mut all = Vec::new();
        for argument in &self.launch.arguments {
            if let ArgumentValue::Buffer(buffer) = &argument.value {
                all.push(declaration_of_buffer(&argument.name, buffer, self.unwritten));
            }
        }
        if self.launch.cooperative {
            all.push(format!(".global .b32 {WORKSPACE}[2]"));
        }
        let (shared, unwritten) = (self.launch.shared, self.unwritten);
        let memory = ColumnMemory { shared, threads, unwritten };
        all.extend(columns::declarations(self.kernels, memory)?);
        for later in 1..self.kernels.len() {
            let order = self.launch.order.name();
            all.push(format!("kernel {} -> {later} @{order}", later - 1));
        }
        Ok(all)
    }

    fn column(
        &mut self,
        number: usize,
        kernel: usize,
        place: ThreadPlace,
    ) -> Result<PlacedColumn, LaunchError> {
        let Composer { launches, kernels, arguments, notes, .. } = self;
        let (function, launch) = (&kernels[kernel], &launches[kernel]);
        let gpu = launch.gpus.get(place.cta as usize).copied().unwrap_or(0);
        let mut special = |name: &str| {
            // The workspace of the barrier of a cooperative launch: its address in two halves, the first of which is 0
            // here.
            if name == "envreg2" && launch.cooperative {
                return Ok(WORKSPACE.to_owned());
            }
            if name == HEAP {
                return Ok(format!("{HEAP}+{}", HEAP_BYTES as usize * number));
            }
            let value = special::value(name, launch, place).ok_or_else(|| {
                let kernel = &function.function.name;
                let help = name.starts_with("envreg").then(|| COOPERATIVE.to_owned());
                let why = format!("`{kernel}` reads `%{name}`, which a launch does not give");
                LaunchError { help, ..LaunchError::new(why) }
            })?;
            if special::is_any_number(name) {
                notes.insert(format!("`%{name}` is any number at each read; the test has one"));
            }
            Ok(value.to_string())
        };
        let mut values = ColumnValues { arguments: &arguments[kernel], gpu, special: &mut special };
        let registers = values.registers(number, function)?;
        let placement = Placement {
            gpu,
            kernel: u32::try_from(kernel).expect("few kernels"),
            cluster: launch.cluster_of(place.cta),
            cta: place.cta,
            warp: (launch.block.count() > 1).then_some(place.thread / LANES),
            sm: None,
        };
        let placement = columns::placement(&placement, kernels.len() > 1);
        Ok(PlacedColumn { function: kernel, registers, placement, place })
    }

    /// All assertions hold, and nobody ran into a trap.
    fn condition(&self, columns: &[PlacedColumn]) -> String {
        if !self.launch.questions.contains(&LaunchQuestion::Assert) {
            return NOTHING_ASSERTED.to_owned();
        }
        let functions: Vec<&Function> =
            columns.iter().map(|column| &self.kernels[column.function].function).collect();
        let assertions = self.launch.assertions.iter();
        let scope = ConditionScope { functions: &functions, types: self.types };
        let mut all: Vec<String> =
            assertions.map(|text| condition::in_words_of_tests(text, scope)).collect();
        if self.kernels.iter().any(|kernel| has_trap(&kernel.function)) {
            all.push(format!("{TRAP} = 0"));
        }
        if all.is_empty() {
            return NOTHING_ASSERTED.to_owned();
        }
        format!("forall ({})", all.join(" /\\ "))
    }
}

/// What helps where a kernel reads what a cooperative launch gives.
const COOPERATIVE: &str = "--cooperative, if the kernel calls `grid.sync()`";

pub(crate) fn has_trap(function: &Function) -> bool {
    function.variables.iter().any(|variable| variable.name == TRAP)
}

/// The memory of the barrier of the grid, in a cooperative launch: two words, the second of which counts.
const WORKSPACE: &str = "grid_workspace";

fn declaration_of_buffer(name: &str, buffer: &Buffer, unwritten: UnwrittenMemory) -> String {
    let Buffer { element, count, initial } = buffer;
    let ty = format!(".global .b{}", element.bits);
    let values: Vec<String> = initial.iter().flatten().map(u64::to_string).collect();
    let plain = initial.iter().flatten().all(|&value| value == 0);
    if initial.is_none() && unwritten == UnwrittenMemory::OfCtas {
        format!("{ty} {name}[{count}]={NO_VALUE}")
    } else if plain {
        format!("{ty} {name}[{count}]")
    } else {
        format!("{ty} {name}[{count}]={{{}}}", values.join(","))
    }
}
