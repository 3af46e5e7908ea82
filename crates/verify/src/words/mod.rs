//! Functions of a module as a litmus test: `producer(data, flag) @cta 0 || consumer(data, flag, out) @cta 1`.

mod initial;
mod locations;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{EntryValue, Function, Parameter};
use lift::module::LaunchedArguments;
use litmus::format::{Unformatted, format};
use model::scope::Placement;
use text::diagnostic::Diagnostic;
use text::report::{ByteSpan, Diagnostics, nearest};

use self::locations::Locations;
use self::read::{FunctionWords, WordsArgument, WordsColumn, WordsField, WordsPlace, WordsValue};
use crate::argument::{ArgumentField, ArgumentValue, ElementType, LaunchArgument, is_fraction};
use crate::columns::{
    self, ColumnMemory, ColumnTest, ColumnValues, Composed, PlacedColumn, UnwrittenMemory,
};
use crate::compose::{has_trap, signature};
use crate::condition::{self, ConditionScope, WordsQuestion};
use crate::functions::{self, FunctionName, list, named};
use crate::launch::{Dim3, LaunchError, LaunchSpec, ThreadPlace};
use crate::module::KernelModule;
use crate::reach;
use crate::shorten::ShortFunction;
use crate::special::{self, LANES};

/// What a test is made of, besides the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordsTest<'w> {
    pub words: &'w str,
    pub question: Option<(WordsQuestion, &'w str)>,
    /// `data=7`, `a[3]=1`
    pub initial: &'w [String],
    /// Dynamic shared memory, in bytes.
    pub shared: Option<u32>,
}

/// Makes the test. All that is wrong, or cannot be read in the functions, is told.
///
/// # Errors
/// At least one.
pub fn compose(
    path: &str,
    text: &str,
    request: &WordsTest<'_>,
) -> Result<Composed, Vec<Diagnostic>> {
    let module = KernelModule::read(path, text)?;
    compose_in(&module, &functions::functions(&module.module), request)
}

/// The same for a module that was read. `known`: its functions.
pub(crate) fn compose_in(
    module: &KernelModule<'_>,
    known: &[FunctionName],
    request: &WordsTest<'_>,
) -> Result<Composed, Vec<Diagnostic>> {
    let words = read::read(WORDS, request.words)?;
    let composer = WordsComposer {
        module,
        known,
        request,
        functions: Vec::new(),
        columns: Vec::new(),
        notes: BTreeSet::new(),
    };
    composer.composed(&words)
}

/// The code of an error of words.
const CODE: &str = "words";

/// What messages call the words.
const WORDS: &str = "the functions of the test";

/// An argument of a column, and where it is.
type PlacedArgument = (LaunchArgument, ByteSpan);

/// A column with what belongs to its parameters.
struct BoundColumn<'w> {
    words: &'w WordsColumn,
    /// An index into the functions of the test.
    function: usize,
    arguments: Vec<PlacedArgument>,
    placement: Placement,
}

struct WordsComposer<'c> {
    module: &'c KernelModule<'c>,
    known: &'c [FunctionName],
    request: &'c WordsTest<'c>,
    functions: Vec<Function>,
    columns: Vec<BoundColumn<'c>>,
    notes: BTreeSet<String>,
}

impl<'c> WordsComposer<'c> {
    fn composed(mut self, words: &'c FunctionWords) -> Result<Composed, Vec<Diagnostic>> {
        let mut locations = Locations::new(&self.module.module, words);
        let reserved = locations.reserved();
        let places = placements(words).map_err(|(at, error)| self.in_words(at, error))?;
        for (column, placement) in words.columns.iter().zip(places) {
            let bound = self.bound(column, placement, &reserved)?;
            self.columns.push(bound);
        }
        for column in &self.columns {
            let accesses = reach::accesses(&self.functions[column.function]);
            for (parameter, (argument, at)) in column.arguments.iter().enumerate() {
                let added = locations.add(&accesses, parameter, argument);
                added.map_err(|error| self.in_words(*at, error))?;
            }
        }
        for initial in self.request.initial {
            locations.initial(initial, &mut self.functions).map_err(|error| {
                let all = ByteSpan::new(0, initial.len());
                told("--init", initial, all, error)
            })?;
        }
        self.notes.extend(locations.notes());
        for function in &self.functions {
            self.notes.extend(function.notes.iter().cloned());
            if has_trap(function) {
                self.notes.insert(format!(
                    "`{}` has a trap, which ends its thread: `{}` then holds its line",
                    function.name,
                    lift::module::TRAP
                ));
            }
        }
        self.printed(&locations)
    }

    fn in_words(&self, at: ByteSpan, error: LaunchError) -> Vec<Diagnostic> {
        told(WORDS, self.request.words, at, error)
    }

    /// Finds the function of a column, and its arguments.
    fn bound(
        &mut self,
        words: &'c WordsColumn,
        placement: Placement,
        reserved: &BTreeSet<String>,
    ) -> Result<BoundColumn<'c>, Vec<Diagnostic>> {
        let found = named(self.known, &words.function, "function");
        let name = found.map_err(|error| self.in_words(words.function_at, error))?;
        let known = self.functions.iter().position(|function| function.name == name.name);
        let function = known.unwrap_or(self.functions.len());
        if known.is_none() {
            let of_launch =
                LaunchedArguments { reserved: reserved.clone(), ..LaunchedArguments::default() };
            let read = self.module.function(&name.name, &of_launch);
            self.functions.push(read.map_err(|errors| {
                let told = |error| self.module.error(CODE, error);
                errors.into_iter().flat_map(told).collect::<Vec<_>>()
            })?);
        }
        let arguments = arguments(words, &self.functions[function])
            .map_err(|(at, error)| self.in_words(at, error))?;
        Ok(BoundColumn { words, function, arguments, placement })
    }

    fn printed(mut self, locations: &Locations) -> Result<Composed, Vec<Diagnostic>> {
        let kept = condition::words_of(self.request.question.iter().map(|(_, text)| *text));
        let functions = columns::shortened(std::mem::take(&mut self.functions), &kept);
        let whole = ByteSpan::new(0, self.request.words.len());
        let mut declared = locations.declarations(&functions);
        let memory = ColumnMemory {
            shared: self.request.shared,
            threads: self.columns.len(),
            unwritten: UnwrittenMemory::Nothing,
        };
        let variables = columns::declarations(&functions, memory);
        declared.extend(variables.map_err(|error| self.in_words(whole, error))?);
        let mut all = Vec::new();
        for number in 0..self.columns.len() {
            let column = self.column(number, &functions);
            all.push(column.map_err(|(at, error)| self.in_words(at, error))?);
        }
        let test = ColumnTest {
            name: self.name(&functions),
            doc: format!("From {}: {}", file_name(self.module.path), one_line(self.request.words)),
            target: self.module.module.target().map(|target| target.to_string()),
            declared,
            functions: &functions,
            columns: all,
            condition: columns::NOTHING_ASSERTED.to_owned(),
        };
        let composed = test.composed(std::mem::take(&mut self.notes));
        self.asked(composed, &functions, locations)
    }

    /// Adds the condition, and formats the test.
    fn asked(
        &self,
        mut composed: Composed,
        functions: &[ShortFunction],
        locations: &Locations,
    ) -> Result<Composed, Vec<Diagnostic>> {
        if let Err(diagnostics) = litmus::parse(self.module.path, composed.text.as_bytes()) {
            let told = diagnostics.into_iter().flat_map(|mut of| {
                let outside = of.message.split('`').nth(1).filter(|_| of.code == "out-of-bounds");
                if let Some(larger) = outside.and_then(|name| locations.larger(name)) {
                    of.help = Some(format!("`{larger}` as an argument makes it larger"));
                }
                self.of_test(&composed, of)
            });
            return Err(told.collect());
        }
        if let Some((question, condition)) = self.request.question {
            let of_columns: Vec<&Function> =
                self.columns.iter().map(|column| &functions[column.function].function).collect();
            let types = locations.types();
            let scope = ConditionScope { functions: &of_columns, types: &types };
            condition::check(&composed.text, question, condition, scope)?;
            let condition = question.quantified(&one_line(condition), scope);
            let end = composed.text.trim_end().rfind('\n').map_or(0, |end| end + 1);
            composed.text.replace_range(end.., &(condition + "\n"));
        }
        match format(self.module.path, composed.text.as_bytes()) {
            Ok(text) => {
                composed.text = text;
                Ok(composed)
            }
            Err(Unformatted::Rejected(diagnostics)) => Err(diagnostics),
            Err(Unformatted::Changed) => Ok(composed),
        }
    }

    /// An error in the text of the test, in the module if it is in a row.
    fn of_test(&self, composed: &Composed, diagnostic: Diagnostic) -> Vec<Diagnostic> {
        let line = composed.line_of_some_column(diagnostic.span.line);
        let error = LaunchError { message: diagnostic.message, line, help: diagnostic.help };
        match line {
            Some(_) => self.module.error(CODE, error),
            None => self.in_words(ByteSpan::new(0, self.request.words.len()), error),
        }
    }

    /// `producer+consumer`
    fn name(&self, functions: &[ShortFunction]) -> String {
        let plain = |name: &str| -> String {
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
        };
        let of = |column: &BoundColumn<'_>| {
            let name = &functions[column.function].function.name;
            let known = self.known.iter().find(|known| known.name == *name);
            plain(known.map_or(name, FunctionName::short))
        };
        self.columns.iter().map(of).collect::<Vec<_>>().join("+")
    }

    fn column(
        &self,
        number: usize,
        functions: &[ShortFunction],
    ) -> Result<PlacedColumn, (ByteSpan, LaunchError)> {
        let column = &self.columns[number];
        let function = &functions[column.function];
        let (launch, place) = self.launch_of(number);
        let given = &column.words.specials;
        let read = function.function.initial.iter().filter_map(|(_, value)| {
            if let EntryValue::Special(name) = value { Some(&name[..]) } else { None }
        });
        let read: BTreeSet<&str> = read.collect();
        if let Some((name, _)) = given.iter().find(|(name, _)| !read.contains(&name[..])) {
            let why = format!("`{}` does not read `%{name}`", column.words.function);
            let all: Vec<String> = read.iter().map(|name| format!("%{name}")).collect();
            let help = format!("it reads: {}", list(all.iter().map(String::as_str)));
            let error = LaunchError::new(why);
            let error = if all.is_empty() { error } else { error.help(help) };
            return Err((column.words.function_at, error));
        }
        let mut special = |name: &str| {
            if let Some((_, value)) = given.iter().find(|(of, _)| of == name) {
                return Ok(value.to_string());
            }
            let value = special::value(name, &launch, place).map(|value| value.to_string());
            value.ok_or_else(|| {
                LaunchError::new(format!(
                    "`{}` reads `%{name}`, whose value is not known",
                    column.words.function
                ))
                .help(format!("give it as an argument: %{name}=0"))
            })
        };
        let arguments: Vec<&LaunchArgument> =
            column.arguments.iter().map(|(argument, _)| argument).collect();
        let mut values = ColumnValues {
            arguments: &arguments,
            gpu: column.placement.gpu,
            special: &mut special,
        };
        let registers = values.registers(number, function);
        let registers = registers.map_err(|error| (column.words.function_at, error))?;
        let placement = columns::placement(&column.placement, false);
        Ok(PlacedColumn { function: column.function, registers, placement, place })
    }

    /// A launch that has the threads of the words, and the place of one of them: the columns of a CTA are its threads, in
    /// their order.
    fn launch_of(&self, number: usize) -> (LaunchSpec, ThreadPlace) {
        let own = self.columns[number].placement;
        let lanes = |column: usize| {
            let of = self.columns[column].placement;
            let before = self.columns[..column].iter();
            let same =
                before.filter(|one| one.placement.same_cta(of) && one.placement.warp == of.warp);
            let lane = u32::try_from(same.count()).unwrap_or(u32::MAX);
            of.warp.unwrap_or(0).saturating_mul(LANES).saturating_add(lane)
        };
        let of_gpu = || self.columns.iter().filter(|one| one.placement.gpu == own.gpu);
        let ctas = of_gpu().map(|one| one.placement.cta).max().unwrap_or(0).saturating_add(1);
        let in_cta =
            (0..self.columns.len()).filter(|&one| self.columns[one].placement.same_cta(own));
        let threads = in_cta.map(lanes).max().unwrap_or(0).saturating_add(1);
        let extent = |x: u32| Dim3 { x, y: 1, z: 1 };
        let cluster = own.cluster.map(|cluster| {
            let same = of_gpu().filter(|one| one.placement.cluster == Some(cluster));
            let ctas: BTreeSet<u32> = same.map(|one| one.placement.cta).collect();
            extent(u32::try_from(ctas.len()).unwrap_or(1).max(1))
        });
        let launch = LaunchSpec {
            cluster,
            shared: self.request.shared,
            ..LaunchSpec::new(extent(ctas), extent(threads))
        };
        (launch, ThreadPlace { cta: own.cta, thread: lanes(number) })
    }
}

/// One error, with its place.
fn told(path: &str, text: &str, at: ByteSpan, error: LaunchError) -> Vec<Diagnostic> {
    let mut report = Diagnostics::default();
    report.error(CODE, at, error.message).help_if(error.help);
    report.finish(path, text)
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().filter(|name| *name != "-").unwrap_or("standard input")
}

/// Text as a documentation string may have it.
fn one_line(text: &str) -> String {
    let text = text.replace('"', "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where the threads are: each in a CTA of its own where the words do not say it.
fn placements(words: &FunctionWords) -> Result<Vec<Placement>, (ByteSpan, LaunchError)> {
    let named: BTreeSet<u32> = words.columns.iter().filter_map(|column| column.place.cta).collect();
    let mut free = (0..).filter(|cta| !named.contains(cta));
    let mut all: Vec<Placement> = Vec::new();
    for WordsColumn { place, place_at, .. } in &words.columns {
        let &WordsPlace { warp, cta, cluster, gpu } = place;
        if (warp, cluster) != (None, None) && cta.is_none() {
            let error = LaunchError::new("a warp or a cluster is given without its CTA");
            return Err((*place_at, error.help("@warp 0,cta 0,cluster 0")));
        }
        let cta = cta.or_else(|| free.next()).unwrap_or(0);
        all.push(Placement { gpu: gpu.unwrap_or(0), kernel: 0, cluster, cta, warp, sm: None });
    }
    Ok(all)
}

/// The arguments of a function, in the order of its parameters.
fn arguments(
    words: &WordsColumn,
    function: &Function,
) -> Result<Vec<PlacedArgument>, (ByteSpan, LaunchError)> {
    let parameters = &function.parameters;
    let help = || match &parameters[..] {
        [] => "it has no parameters".to_owned(),
        _ => format!("its parameters: {}", signature(function, &[])),
    };
    let wrong = |at, why: String| (at, LaunchError::new(why).help(help()));
    let mut given: BTreeMap<usize, PlacedArgument> = BTreeMap::new();
    for argument in &words.arguments {
        let at = argument.at;
        let index = match &argument.name {
            Some(name) => parameter_named(parameters, name).ok_or_else(|| {
                wrong(at, format!("`{}` has no parameter `{name}`", words.function))
            })?,
            // The first one that has none.
            None => {
                (0..given.len()).find(|index| !given.contains_key(index)).unwrap_or(given.len())
            }
        };
        let parameter = parameters.get(index).ok_or_else(|| {
            let counts = format!("{}, and more are given", count(parameters.len()));
            wrong(at, format!("`{}` has {counts}", words.function))
        })?;
        let value = value(argument, function, index)?;
        let argument = LaunchArgument { name: parameter.name.clone(), value };
        if given.insert(index, (argument, at)).is_some() {
            return Err(wrong(at, format!("the parameter `{}` is given twice", parameter.name)));
        }
    }
    if given.len() < parameters.len() {
        let counts = format!("{}, of which {} given", count(parameters.len()), are(given.len()));
        return Err(wrong(words.function_at, format!("`{}` has {counts}", words.function)));
    }
    Ok(given.into_values().collect())
}

fn are(arguments: usize) -> String {
    if arguments == 1 { "1 is".to_owned() } else { format!("{arguments} are") }
}

fn count(parameters: usize) -> String {
    if parameters == 1 { "1 parameter".to_owned() } else { format!("{parameters} parameters") }
}

/// The parameter of this name, or with a name that ends in it: compilers put that of the function before.
fn parameter_named(parameters: &[Parameter], name: &str) -> Option<usize> {
    let exact = parameters.iter().position(|parameter| parameter.name == name);
    let ending = || {
        let ends =
            |of: &Parameter| of.name.strip_suffix(name).is_some_and(|rest| rest.ends_with('_'));
        let mut all = (0..parameters.len()).filter(|&index| ends(&parameters[index]));
        all.next().filter(|_| all.next().is_none())
    };
    let near = || {
        let near = nearest(name, parameters.iter().map(|parameter| &parameter.name[..]));
        near.filter(|near| near.eq_ignore_ascii_case(name))
            .and_then(|near| parameters.iter().position(|parameter| parameter.name == near))
    };
    exact.or_else(ending).or_else(near)
}

/// What a parameter is in a column. `function`: the one that has it, for what it reads of a structure.
fn value(
    argument: &WordsArgument,
    function: &Function,
    index: usize,
) -> Result<ArgumentValue, (ByteSpan, LaunchError)> {
    let parameter = &function.parameters[index];
    let (name, at) = (&parameter.name, argument.at);
    let wrong = |at: ByteSpan, why: String, help: String| (at, LaunchError::new(why).help(help));
    let is_structure = parameter.alignment.is_some();
    match &argument.value {
        WordsValue::Fields(fields) if is_structure => {
            let mut offsets: Vec<u32> = fields.iter().map(|field| field.offset).collect();
            offsets.sort_unstable();
            let bytes = u32::from(parameter.bits) / 8;
            let field = |field: &WordsField| {
                // Up to the next field.
                let next = offsets.iter().find(|offset| **offset > field.offset);
                let end = next.copied().unwrap_or(bytes);
                if field.offset >= bytes {
                    let why = format!("`{name}` has {bytes} bytes, and none at {}", field.offset);
                    return Err(wrong(field.at, why, structure_help(function, index)));
                }
                let bits = u16::try_from(8 * (end - field.offset).min(8)).unwrap_or(64);
                let what = format!("the field at {} of `{name}`", field.offset);
                let ty = ElementType::unsigned(bits);
                let value = plain_value(&field.value, &what, ty);
                let value = value.map_err(|error| (field.at, error))?;
                Ok(ArgumentField { offset: field.offset, value })
            };
            fields.iter().map(field).collect::<Result<_, _>>().map(ArgumentValue::Fields)
        }
        WordsValue::Fields(_) => {
            let why = format!("the parameter `{name}` is no structure");
            Err(wrong(at, why, "give a location or a number".to_owned()))
        }
        WordsValue::Number(_) | WordsValue::Location { .. }
            if is_structure && parameter.bits > 64 =>
        {
            let why = format!("the parameter `{name}` is a structure, or an array");
            Err(wrong(at, why, structure_help(function, index)))
        }
        value @ (WordsValue::Number(_) | WordsValue::Location { .. }) => {
            let ty = ElementType::of_parameter(parameter);
            plain_value(value, &format!("the parameter `{name}`"), ty).map_err(|error| (at, error))
        }
    }
}

/// The fields that a function reads of a parameter.
fn structure_help(function: &Function, index: usize) -> String {
    let read = function.initial.iter().filter_map(|(_, value)| match *value {
        EntryValue::Piece { parameter, offset, bits } if parameter == index => {
            Some((offset, bits / 8))
        }
        EntryValue::Piece { .. }
        | EntryValue::Parameter(_)
        | EntryValue::Value(_)
        | EntryValue::Address(_)
        | EntryValue::Special(_) => None,
    });
    let read: BTreeMap<u32, u16> = read.collect();
    let example = "{0: 5, 8: &data}";
    if read.is_empty() {
        return format!("give its fields by their offsets: {example}");
    }
    let pieces = read.iter().map(|(offset, bytes)| format!("{offset} ({bytes} bytes)"));
    let pieces = pieces.collect::<Vec<_>>().join(", ");
    format!(
        "give its fields by their offsets, as in {example}; the function reads those at {pieces}"
    )
}

/// What is not a structure. `what`: what has this value, in messages.
fn plain_value(
    value: &WordsValue,
    what: &str,
    ty: ElementType,
) -> Result<ArgumentValue, LaunchError> {
    let bits = ty.bits;
    match value {
        WordsValue::Number(number) => {
            if ty.bits_of(number).is_some() {
                return Ok(ArgumentValue::Untyped(number.clone()));
            }
            let why = format!("`{number}` does not fit {what}, which has {bits} bits");
            let error = LaunchError::new(why);
            Err(if is_fraction(number) { error.help("a float has 32 or 64 bits") } else { error })
        }
        WordsValue::Location { name, offset, .. } => {
            crate::argument::check_name(name)?;
            if bits < 64 {
                let why = format!("{what} has {bits} bits, and an address 64");
                return Err(LaunchError::new(why).help("give a number"));
            }
            Ok(ArgumentValue::Inside { buffer: name.clone(), offset: *offset })
        }
        WordsValue::Fields(_) => Err(LaunchError::new(format!("{what} has fields"))),
    }
}
