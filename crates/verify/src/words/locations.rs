//! The memory that words name: its size and its initial values.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{Function, FunctionVariable};
use lift::module::TRAP;
use ptx::Module;

use super::read::{FunctionWords, WordsArgument, WordsValue};
use crate::argument::{ArgumentValue, ElementType, LaunchArgument, buffer};
use crate::functions::list;
use crate::launch::LaunchError;
use crate::reach;
use crate::shorten::ShortFunction;

/// Memory that the arguments point to.
#[derive(Debug, Default)]
struct NamedMemory {
    ty: Option<ElementType>,
    /// The number of elements that the words give.
    count: Option<u32>,
    /// What accesses need: the end of the last one in bytes, and the widest element.
    end: u32,
    widest: u32,
    /// Whether some access is at an address that is computed.
    computed: bool,
    initial: BTreeMap<u32, u64>,
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
        for WordsArgument { value, .. } in words.columns.iter().flat_map(|column| &column.arguments)
        {
            match value {
                WordsValue::Location { name, ty, count, .. } => {
                    locations.named(name, &globals, ty.as_deref(), *count);
                }
                WordsValue::Fields(text) => {
                    for part in text.split('@').skip(1) {
                        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                        let end = part.find(|c| !is_word(c)).unwrap_or(part.len());
                        locations.named(&part[..end], &globals, None, None);
                    }
                }
                WordsValue::Number(_) => {}
            }
        }
        locations
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
            (Some(Some(new)), _) if location.ty.is_some_and(|ty| ty != new) => {
                Some(LaunchError::new(format!("`{name}` has two types")))
            }
            (_, Some(new)) if location.count.is_some_and(|count| count != new) => {
                Some(LaunchError::new(format!("`{name}` has two sizes")))
            }
            (_, Some(count)) => {
                let u32 = ElementType { float: false, bits: 32 };
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

    /// What a function accesses through an argument.
    pub(super) fn add(
        &mut self,
        function: &Function,
        parameter: usize,
        argument: &LaunchArgument,
    ) -> Result<(), LaunchError> {
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let (buffers, fields): (Vec<(&String, u64)>, bool) = match &argument.value {
            ArgumentValue::Inside { buffer, offset } => (vec![(buffer, *offset)], false),
            ArgumentValue::Fields(fields) => {
                let inside = fields.iter().filter_map(|field| {
                    let ArgumentValue::Inside { buffer, offset } = &field.value else {
                        return None;
                    };
                    Some((buffer, *offset))
                });
                (inside.collect(), true)
            }
            ArgumentValue::Buffer(_) | ArgumentValue::Number(_) | ArgumentValue::OfGpu(_) => {
                return Ok(());
            }
        };
        let accesses = reach::accesses(function);
        let used = accesses.iter().any(|access| access.parameter == parameter);
        let extent = reach::extent(&accesses, parameter).filter(|_| !fields);
        for (name, offset) in buffers {
            let location = self.all.get_mut(name).expect("the words name it");
            match extent {
                Some((count, bytes)) => {
                    let offset = u32::try_from(offset).unwrap_or(u32::MAX);
                    let end = offset.saturating_add(count.saturating_mul(bytes));
                    location.end = location.end.max(end);
                    location.widest = location.widest.max(bytes);
                }
                None => location.computed |= used,
            }
            let widest = accesses.iter().filter(|access| access.parameter == parameter);
            let widest = widest.map(|access| access.bytes).max().unwrap_or(0);
            location.widest = location.widest.max(widest);
        }
        Ok(())
    }

    /// Takes `data=7`, `a[3]=1` or `a={1,2}`. A variable of the module may have another value, too.
    pub(super) fn initial(
        &mut self,
        text: &str,
        functions: &mut [Function],
    ) -> Result<(), LaunchError> {
        const HELP: &str = "--init 'data=7', --init 'a[3]=1' or --init 'a={1,2}'";
        let wrong = || LaunchError::new(format!("`{text}` is not an initial value")).help(HELP);
        let (place, values) = text.split_once('=').ok_or_else(wrong)?;
        let place = place.trim();
        let (name, index) = match place.strip_suffix(']').and_then(|place| place.split_once('[')) {
            Some((name, index)) if index.is_empty() || name.is_empty() => {
                // `[data]=7`
                (index.trim(), None)
            }
            Some((name, index)) => {
                (name.trim(), Some(index.trim().parse::<u32>().map_err(|_| wrong())?))
            }
            None => (place, None),
        };
        let values = values.trim();
        let list_of = values.strip_prefix('{').and_then(|list| list.strip_suffix('}'));
        let values: Vec<&str> = match list_of {
            Some(list) => list.split(',').collect(),
            None => vec![values],
        };
        if let Some(location) = self.all.get_mut(name).filter(|location| !location.of_module) {
            let (ty, count) = location.shape();
            let first = index.unwrap_or(0);
            let all = list_of.is_none() && index.is_none() && location.count.is_some();
            let repeated = if all { vec![values[0]; count as usize] } else { values };
            for (at, value) in (first..).zip(repeated) {
                if at >= count {
                    let elements =
                        if count == 1 { "1 element" } else { &format!("{count} elements") };
                    let why = format!("`{name}` has {elements}, and no `{name}[{at}]`");
                    let help = format!("`{name}[{}]` as an argument makes it larger", at + 1);
                    return Err(LaunchError::new(why).help(help));
                }
                let bits = ty.bits_of(value).ok_or_else(|| {
                    LaunchError::new(format!(
                        "`{value}` does not fit the {} bits of `{name}`",
                        ty.bits
                    ))
                })?;
                location.initial.insert(at, bits);
            }
            return Ok(());
        }
        let mut variables = functions.iter_mut().flat_map(|function| &mut function.variables);
        let mut found = false;
        for variable in variables.by_ref().filter(|variable| variable.name == name) {
            found = true;
            set(variable, index.unwrap_or(0), &values)?;
        }
        if found {
            return Ok(());
        }
        let of_functions = functions.iter().flat_map(|function| &function.variables);
        let names: BTreeSet<&str> = of_functions
            .map(|variable| &variable.name[..])
            .chain(self.names.iter().map(String::as_str))
            .collect();
        Err(LaunchError::new(format!("the test has no memory `{name}`"))
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

    /// Entries of the initial state. Those of variables that functions declare are not among them.
    pub(super) fn declarations(&self, functions: &[ShortFunction]) -> Vec<String> {
        let variables = functions.iter().flat_map(|of| &of.function.variables);
        let declared: BTreeSet<&str> = variables.map(|variable| &variable.name[..]).collect();
        let mut plain = Vec::new();
        let mut typed = Vec::new();
        for name in self.names.iter().filter(|name| !declared.contains(&name[..])) {
            let location = &self.all[name];
            let (ty, count) = location.shape();
            let value = |at: u32| location.initial.get(&at).copied().unwrap_or(0);
            if count == 1 && location.count.is_none() {
                if ty.bits == 32 {
                    plain.push(format!("{name}={};", value(0)));
                } else {
                    typed.push(format!(".global .b{} {name}={};", ty.bits, value(0)));
                }
                continue;
            }
            let last = location.initial.iter().rev().find(|(_, value)| **value != 0);
            let initial = last.map_or(String::new(), |(&last, _)| {
                let values: Vec<String> = (0..=last).map(|at| value(at).to_string()).collect();
                format!("={{{}}}", values.join(","))
            });
            typed.push(format!(".global .b{} {name}[{count}]{initial};", ty.bits));
        }
        let first = (!plain.is_empty()).then(|| plain.join(" "));
        first.into_iter().chain(typed).collect()
    }
}

impl NamedMemory {
    /// The type of an element, and how many there are.
    fn shape(&self) -> (ElementType, u32) {
        let ty = self.ty.unwrap_or_else(|| {
            // Without a size, elements are as wide as the accesses.
            let bytes = if self.count.is_some() || self.widest == 0 { 4 } else { self.widest };
            ElementType {
                float: false,
                bits: [8, 16, 32, 64][bytes.trailing_zeros().min(3) as usize],
            }
        });
        let bytes = u32::from(ty.bits) / 8;
        let count = self.count.unwrap_or_else(|| self.end.div_ceil(bytes).clamp(1, MOST_ELEMENTS));
        (ty, count)
    }
}

/// The most elements that accesses give a location.
const MOST_ELEMENTS: u32 = 1 << 12;

/// Gives elements of a variable of the module other values.
fn set(variable: &mut FunctionVariable, first: u32, values: &[&str]) -> Result<(), LaunchError> {
    let name = &variable.name;
    let size = if variable.bytes.is_multiple_of(4) { 4 } else { 1 };
    let size = if variable.bytes == 8 { 8 } else { size };
    let ty = ElementType { float: false, bits: 8 * size };
    let bytes = usize::try_from(variable.bytes).unwrap_or(usize::MAX);
    for (at, value) in (first as usize..).zip(values) {
        let bits = ty.bits_of(value).ok_or_else(|| {
            LaunchError::new(format!("`{value}` does not fit the {} bits of `{name}`", ty.bits))
        })?;
        let start = at.saturating_mul(size.into());
        if start.saturating_add(size.into()) > bytes {
            let count = bytes / usize::from(size);
            return Err(LaunchError::new(format!("`{name}` has {count} elements")));
        }
        if variable.initial.len() < bytes {
            variable.initial.resize(bytes, 0);
        }
        let end = start + usize::from(size);
        variable.initial[start..end].copy_from_slice(&bits.to_le_bytes()[..size.into()]);
    }
    Ok(())
}
