//! The functions of a module by the names that users give them.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};
use ptx::Module;
use text::report::nearest;

use crate::launch::LaunchError;

/// A function with a body, and its names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionName {
    /// As in the module.
    pub name: String,
    /// Demangled, with its parameters: `ns::f<int>(unsigned int*)`.
    pub demangled: Option<String>,
    /// Demangled, without its parameters: `ns::f<int>`.
    plain: String,
    pub kernel: bool,
    /// Of its name in the module, from 1.
    pub line: usize,
}

impl FunctionName {
    fn new(name: &str, kernel: bool, line: usize) -> FunctionName {
        let (demangled, plain) = demangled(name).unzip();
        let plain = plain.unwrap_or_else(|| name.to_owned());
        FunctionName { name: name.to_owned(), demangled, plain, kernel, line }
    }

    /// The name as people write it, without parameters.
    pub fn plain(&self) -> &str {
        &self.plain
    }

    /// The shortest name, without namespaces and arguments of templates.
    pub fn short(&self) -> &str {
        let plain = &self.plain;
        let end = plain.find('<').filter(|end| *end > 0).unwrap_or(plain.len());
        let start = plain[..end].rfind("::").map_or(0, |at| at + 2);
        &plain[start..end]
    }

    fn is(&self, wanted: &str) -> Match {
        let same = |one: &str| squeezed(one) == squeezed(wanted);
        let ends = |all: &str| {
            squeezed(all).strip_suffix(&squeezed(wanted)).is_some_and(|rest| rest.ends_with("::"))
        };
        let without_template = self.plain.split('<').next().unwrap_or_default();
        if self.name == wanted {
            Match::Exact
        } else if self.demangled.as_deref().is_some_and(same) || same(&self.plain) {
            Match::Demangled
        } else if ends(&self.plain)
            || self.demangled.as_deref().is_some_and(ends)
            || !without_template.is_empty() && (same(without_template) || ends(without_template))
        {
            Match::Part
        } else {
            Match::None
        }
    }
}

/// How well a function fits a name, better ones last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    None,
    Part,
    Demangled,
    Exact,
}

/// Without blanks.
fn squeezed(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A mangled name of C++ or Rust, with and without its parameters.
fn demangled(name: &str) -> Option<(String, String)> {
    /// Names may be written to be deep.
    const DEEPEST: u32 = 96;
    const LONGEST: usize = 1 << 12;
    if name.len() > LONGEST {
        return None;
    }
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        let text = format!("{rust:#}");
        return Some((text.clone(), text));
    }
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol =
        Symbol::new_with_options(name, &ParseOptions::default().recursion_limit(DEEPEST)).ok()?;
    let options = DemangleOptions::new().recursion_limit(DEEPEST).no_return_type();
    let whole = symbol.demangle_with_options(&options).ok()?;
    let plain = symbol.demangle_with_options(&options.no_params()).ok()?;
    Some((whole, plain))
}

/// The functions of a module that have a body.
pub fn functions(module: &Module<'_>) -> Vec<FunctionName> {
    let all = module.declared_functions().into_iter();
    all.map(|function| FunctionName::new(function.name, function.kernel, function.line)).collect()
}

/// The function that a name is of: its mangled or demangled name, or a part of the latter. `what`: `kernel`, `function`.
///
/// # Errors
/// If there is none, or more than one.
pub(crate) fn named<'f>(
    functions: &'f [FunctionName],
    wanted: &str,
    what: &str,
) -> Result<&'f FunctionName, LaunchError> {
    match &fitting(functions, wanted)[..] {
        [only] => Ok(only),
        [] => {
            let error = LaunchError::new(format!("the module has no {what} `{wanted}`"));
            if functions.is_empty() {
                return Err(error.help(format!("it has no {what} with a body")));
            }
            let near = nearest(wanted, functions.iter().map(FunctionName::short));
            let mut sorted: Vec<&FunctionName> = functions.iter().collect();
            sorted.sort_by_key(|function| Some(function.short()) != near);
            let names = sorted.into_iter().map(|function| own_name(functions, function));
            Err(error.help(format!("its {what}s: {}", list(names))))
        }
        several => {
            let names = several.iter().map(|function| own_name(functions, function));
            Err(LaunchError::new(format!("`{wanted}` is the name of {} {what}s", several.len()))
                .help(format!("name one of them: {}", list(names))))
        }
    }
}

/// The functions that fit a name best.
fn fitting<'f>(functions: &'f [FunctionName], wanted: &str) -> Vec<&'f FunctionName> {
    let best = functions.iter().map(|function| function.is(wanted)).max();
    let best = best.filter(|best| *best > Match::None);
    functions.iter().filter(|function| Some(function.is(wanted)) == best).collect()
}

/// The shortest name that no other function of the module has.
pub(crate) fn own_name<'f>(functions: &[FunctionName], function: &'f FunctionName) -> &'f str {
    let mut names = [Some(function.plain()), function.demangled.as_deref()].into_iter().flatten();
    let is_own = |name: &&str| matches!(fitting(functions, name)[..], [found] if found.name == function.name);
    names.find(is_own).unwrap_or(&function.name)
}

/// Names for a message.
pub(crate) fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    const MOST: usize = 20;
    let all: Vec<&str> = names.into_iter().collect();
    let shown = all[..all.len().min(MOST)].join(", ");
    let more = all.len().saturating_sub(MOST);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(names: &[&str]) -> Vec<FunctionName> {
        names.iter().map(|name| FunctionName::new(name, true, 1)).collect()
    }

    #[test]
    fn a_function_is_found_by_each_of_its_names() {
        let all = all(&["_Z8producerPjS_", "_ZN2ns1fIiEEvPT_", "_ZN2ns1fIfEEvPT_", "plain"]);
        for (wanted, found) in [
            ("_Z8producerPjS_", "_Z8producerPjS_"),
            ("producer", "_Z8producerPjS_"),
            ("producer(unsigned int*, unsigned int*)", "_Z8producerPjS_"),
            ("ns::f<int>", "_ZN2ns1fIiEEvPT_"),
            ("f<float>", "_ZN2ns1fIfEEvPT_"),
            ("plain", "plain"),
        ] {
            assert_eq!(
                named(&all, wanted, "function").map(|of| &of.name[..]),
                Ok(found),
                "{wanted}"
            );
        }
        let several = named(&all, "f", "function").expect_err("there are two");
        let help = several.help.unwrap_or_default();
        assert!(help.ends_with("ns::f<int>, ns::f<float>"), "{help}");
        // Of overloads, the parameters are part of the name.
        let overloads = self::all(&["_Z1fi", "_Z1ff"]);
        let several = named(&overloads, "f", "kernel").expect_err("there are two");
        assert!(several.help.is_some_and(|help| help.ends_with("f(int), f(float)")));
        let unknown = named(&overloads, "g", "kernel").expect_err("there is none");
        assert!(unknown.help.is_some_and(|help| help.ends_with("f(int), f(float)")));
        let unknown = named(&all, "producr", "function").expect_err("there is none");
        assert!(unknown.help.is_some_and(|help| help.starts_with("its functions: producer,")));
    }
}
