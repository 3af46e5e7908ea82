//! The memory that words name: its size and its initial values.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::Function;
use lift::module::TRAP;
use ptx::Module;

use super::initial::{InitialEntry, InitialPlace};
use super::read::{FunctionWords, WordsValue};
use crate::argument::{ArgumentValue, ElementType, LaunchArgument, buffer};
use crate::columns::element_of;
use crate::compared::ElementTypes;
use crate::functions::list;
use crate::launch::LaunchError;
use crate::reach::ParameterAccess;
use crate::shorten::ShortFunction;

/// Memory that the arguments point to.
#[derive(Debug, Default)]
struct NamedMemory {
    ty: Option<ElementType>,
    /// The number of elements that the words give.
    count: Option<u32>,
    /// What accesses need: the end of the last one in bytes, and the widths of their elements.
    end: u32,
    widths: BTreeSet<u32>,
    /// Whether some access is at an address that is computed.
    computed: bool,
    /// In bytes; the rest is 0.
    initial: Vec<u8>,
    /// A variable of the module.
    of_module: bool,
}

pub(super) struct Locations {
    /// In the order of the words.
    names: Vec<String>,
    all: BTreeMap<String, NamedMemory>,
    wrong: Option<LaunchError>,
}

impl Locations {
    pub(super) fn new(module: &Module<'_>, words: &FunctionWords) -> Locations {
        let globals: BTreeSet<&str> =
            module.globals().into_iter().map(|declared| declared.name).collect();
        let mut locations = Locations { names: Vec::new(), all: BTreeMap::new(), wrong: None };
        for argument in words.columns.iter().flat_map(|column| &column.arguments) {
            match &argument.value {
                WordsValue::Fields(fields) => {
                    for field in fields {
                        locations.value(&field.value, &globals);
                    }
                }
                value @ (WordsValue::Location { .. } | WordsValue::Number(_)) => {
                    locations.value(value, &globals);
                }
            }
        }
        locations
    }

    fn value(&mut self, value: &WordsValue, globals: &BTreeSet<&str>) {
        if let WordsValue::Location { name, ty, count, .. } = value {
            self.named(name, globals, ty.as_deref(), *count);
        }
    }

    fn named(
        &mut self,
        name: &str,
        globals: &BTreeSet<&str>,
        ty: Option<&str>,
        count: Option<u32>,
    ) {
        if !self.all.contains_key(name) {
            self.names.push(name.to_owned());
        }
        let location = self.all.entry(name.to_owned()).or_default();
        location.of_module = globals.contains(name);
        let read = ty.map(ElementType::parse);
        let wrong = match (read, count) {
            (Some(None), _) => {
                let why = format!("`{}` is no type", ty.unwrap_or_default());
                Some(LaunchError::new(why).help("u8, u16, u32, u64, s32, s64, f32 or f64"))
            }
            _ if name == TRAP => {
                Some(LaunchError::new(format!("`{name}` is the name of something else")))
            }
            (Some(_), _) | (_, Some(_)) if location.of_module => {
                let why = format!("`{name}` is a variable of the module, which gives its size");
                Some(LaunchError::new(why).help(name))
            }
            (Some(Some(new)), _) if location.ty.is_some_and(|ty| ty != new) => {
                Some(LaunchError::new(format!("`{name}` has two types")))
            }
            (_, Some(new)) if location.count.is_some_and(|count| count != new) => {
                Some(LaunchError::new(format!("`{name}` has two sizes")))
            }
            (_, Some(count)) => {
                let u32 = ElementType::unsigned(32);
                buffer(name, u32, count, None).err()
            }
            _ => None,
        };
        location.ty = location.ty.or(read.flatten());
        location.count = location.count.or(count);
        self.wrong = self.wrong.take().or(wrong);
    }

    /// The names that functions must not use for something else.
    pub(super) fn reserved(&self) -> BTreeSet<String> {
        let own = self.all.iter().filter(|(_, location)| !location.of_module);
        own.map(|(name, _)| name.clone()).collect()
    }

    /// The types that the words give.
    pub(super) fn types(&self) -> ElementTypes {
        let typed = self.all.iter().filter_map(|(name, location)| Some((name, location.ty?)));
        typed.map(|(name, ty)| (name.clone(), ty)).collect()
    }

    /// What a function accesses through an argument.
    pub(super) fn add(
        &mut self,
        accesses: &[ParameterAccess],
        parameter: usize,
        argument: &LaunchArgument,
    ) -> Result<(), LaunchError> {
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        match &argument.value {
            ArgumentValue::Inside { buffer, offset } => {
                self.reached(accesses, (parameter, 0), buffer, *offset);
            }
            ArgumentValue::Fields(fields) => {
                for field in fields {
                    if let ArgumentValue::Inside { buffer, offset } = &field.value {
                        self.reached(accesses, (parameter, field.offset), buffer, *offset);
                    }
                }
            }
            ArgumentValue::Buffer(_)
            | ArgumentValue::Number { .. }
            | ArgumentValue::Untyped(_)
            | ArgumentValue::Tensor(_)
            | ArgumentValue::OfGpu(_) => {}
        }
        Ok(())
    }

    /// What is accessed through a field of a parameter, which is the address of this location plus the offset.
    fn reached(&mut self, accesses: &[ParameterAccess], of: (usize, u32), name: &str, offset: u64) {
        let location = self.all.get_mut(name).expect("the words name it");
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        for access in accesses.iter().filter(|access| (access.parameter, access.field) == of) {
            location.widths.insert(access.bytes);
            match access.end() {
                Some(end) => location.end = location.end.max(offset.saturating_add(end)),
                None => location.computed = true,
            }
        }
    }

    /// Takes `data=7`, `a[3]=1` or `a={1,2}`. A variable of the module may have another value, too.
    pub(super) fn initial(
        &mut self,
        text: &str,
        functions: &mut [Function],
    ) -> Result<(), LaunchError> {
        let entry = InitialEntry::read(text)?;
        let own = self.all.get_mut(entry.name).filter(|location| !location.of_module);
        if let Some(location) = own {
            let (ty, count) = location.shape();
            let is_array = count > 1 || location.count.is_some();
            let place = InitialPlace { ty, count, is_array };
            return entry.write(place, &mut location.initial).map_err(|error| match error.help {
                None => error.help(format!(
                    "`{}[{}]` as an argument makes it larger",
                    entry.name,
                    entry.end_in(ty)
                )),
                Some(_) => error,
            });
        }
        let variables = functions.iter_mut().flat_map(|function| &mut function.variables);
        let mut found = false;
        for variable in variables.filter(|variable| variable.name == entry.name) {
            found = true;
            let ty = element_of(variable, variable.bytes);
            let count = variable.bytes / u32::from(ty.bits / 8);
            let place = InitialPlace { ty, count, is_array: count > 1 };
            entry.write(place, &mut variable.initial)?;
        }
        if found {
            return Ok(());
        }
        let of_functions = functions.iter().flat_map(|function| &function.variables);
        let names: BTreeSet<&str> = of_functions
            .map(|variable| &variable.name[..])
            .chain(self.names.iter().map(String::as_str))
            .collect();
        Err(LaunchError::new(format!("the test has no memory `{}`", entry.name))
            .help(format!("it has: {}", list(names))))
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let of = |name: &String| {
            let location = &self.all[name];
            let guessed = location.computed && location.count.is_none() && !location.of_module;
            guessed.then(|| {
                let (ty, count) = location.shape();
                format!(
                    "`{name}` is accessed at computed addresses, and has {count} {} of {} bits: {name}[64] gives it 64",
                    if count == 1 { "element" } else { "elements" },
                    ty.bits
                )
            })
        };
        self.names.iter().filter_map(of).collect()
    }

    /// How many elements a location has to have for an access that ends at this byte.
    pub(super) fn larger(&self, name: &str) -> Option<String> {
        let location = self.all.get(name).filter(|location| !location.of_module)?;
        let (ty, count) = location.shape();
        let needed = location.end.div_ceil(u32::from(ty.bits) / 8).max(count.saturating_add(1));
        let kind = location.ty.map_or(String::new(), |ty| format!("{} ", ty.name()));
        Some(format!("{kind}{name}[{needed}]"))
    }

    /// Entries of the initial state. Those of variables that functions declare are not among them.
    pub(super) fn declarations(&self, functions: &[ShortFunction]) -> Vec<String> {
        let variables = functions.iter().flat_map(|of| &of.function.variables);
        let declared: BTreeSet<&str> = variables.map(|variable| &variable.name[..]).collect();
        let mut all = Vec::new();
        for name in self.names.iter().filter(|name| !declared.contains(&name[..])) {
            let location = &self.all[name];
            let (ty, count) = location.shape();
            let size = usize::from(ty.bits / 8);
            let mut values: Vec<u64> = location
                .initial
                .chunks(size)
                .map(|bytes| {
                    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
                })
                .collect();
            if count == 1 && location.count.is_none() {
                let value = values.first().copied().unwrap_or(0);
                let global = format!(".global .b{} ", ty.bits);
                let ty = if ty.bits == 32 { "" } else { &global };
                all.push(format!("{ty}{name}={value}"));
                continue;
            }
            let last = values.iter().rposition(|value| *value != 0);
            values.truncate(last.map_or(0, |last| last + 1));
            let values: Vec<String> = values.iter().map(u64::to_string).collect();
            let initial = if values.is_empty() {
                String::new()
            } else {
                format!("={{{}}}", values.join(","))
            };
            all.push(format!(".global .b{} {name}[{count}]{initial}", ty.bits));
        }
        all
    }
}

impl NamedMemory {
    /// The type of an element, and how many there are.
    fn shape(&self) -> (ElementType, u32) {
        let ty = self.ty.unwrap_or_else(|| {
            // Elements are as wide as the accesses. Where these differ, an array has 32 bits, and what has no size given
            // has room for the widest.
            let widest = self.widths.last().copied();
            let one = widest.filter(|_| self.widths.len() == 1 || self.count.is_none());
            let bytes = one.unwrap_or(4);
            ElementType::unsigned([8, 16, 32, 64][bytes.trailing_zeros().min(3) as usize])
        });
        let bytes = u32::from(ty.bits) / 8;
        let count = self.count.unwrap_or_else(|| self.end.div_ceil(bytes).clamp(1, MOST_ELEMENTS));
        (ty, count)
    }
}

/// The most elements that accesses give a location.
const MOST_ELEMENTS: u32 = 1 << 12;
