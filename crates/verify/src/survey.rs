//! What there is in a module: its functions, what orders they have, and which of them may belong together.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::Function;
use ptx::Module;
use text::Diagnostic;

use crate::condition::WordsQuestion;
use crate::functions::{FunctionName, functions};
use crate::module::KernelModule;
use crate::reach::{self, ParameterAccess};
use crate::words::{WordsTest, compose_in};

/// The functions of a module, and tests of them.
#[derive(Clone, Debug)]
pub struct ModuleSurvey {
    pub functions: Vec<SurveyedFunction>,
    pub proposals: Vec<ProposedTest>,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct SurveyedFunction {
    pub name: FunctionName,
    /// Names and bytes; no bytes where a size is not known.
    pub parameters: Vec<(String, Option<u32>)>,
    /// The lines of accesses that are strong: atomics, and those with `.relaxed`, `.acquire`, `.release` or `.volatile`.
    pub strong: Vec<usize>,
    pub fences: Vec<usize>,
    /// Barriers, also of clusters, and operations on mbarrier objects.
    pub barriers: Vec<usize>,
    /// Why no test has it, and the line in the module.
    pub refused: Option<(usize, String)>,
}

/// Two functions that may signal each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProposedTest {
    pub words: String,
    /// Without one, the test is for data races.
    pub question: Option<(WordsQuestion, String)>,
}

/// The most functions that are read for proposals, and the most proposals.
const MOST_READ: usize = 64;
const MOST_PROPOSED: usize = 12;

/// Looks through a module.
///
/// # Errors
/// If it cannot be read, or has no function with a body.
pub fn survey(path: &str, text: &str) -> Result<ModuleSurvey, Vec<Diagnostic>> {
    let read_module = KernelModule::read(path, text)?;
    let module = &read_module.module;
    let names = functions(module);
    if names.is_empty() && !read_module.faults.is_empty() {
        return Err(read_module.faults);
    }
    let mut read: Vec<ReadFunction> = Vec::new();
    let mut surveyed: Vec<SurveyedFunction> = Vec::new();
    let declared = module.declared_functions();
    for (index, (name, declared)) in names.into_iter().zip(&declared).enumerate() {
        let mut function = SurveyedFunction {
            parameters: declared
                .parameters
                .iter()
                .map(|parameter| (parameter.name.to_owned(), parameter.bytes))
                .collect(),
            strong: Vec::new(),
            fences: Vec::new(),
            barriers: Vec::new(),
            refused: None,
            name,
        };
        function.count(module, index);
        if read.len() < MOST_READ && !function.strong.is_empty() {
            match read_module.function(&function.name.name, &BTreeSet::new()) {
                Ok(lifted) => read.push(ReadFunction::new(&function.name, &lifted)),
                Err(errors) => {
                    let first = errors.into_iter().next();
                    let first = first.map(|error| (error.line.unwrap_or(0), error.message));
                    function.refused = first;
                }
            }
        }
        surveyed.push(function);
    }
    let mut proposals = proposals(&read);
    proposals.retain(|test| {
        let question = test.question.as_ref().map(|(question, text)| (*question, &text[..]));
        let request = WordsTest { words: &test.words, question, ..WordsTest::default() };
        compose_in(&read_module, &request).is_ok()
    });
    proposals.truncate(MOST_PROPOSED);
    Ok(ModuleSurvey { functions: surveyed, proposals })
}

impl SurveyedFunction {
    /// Counts the instructions of its own body.
    fn count(&mut self, module: &Module<'_>, index: usize) {
        for instruction in module.instructions(index) {
            let mut parts = instruction.name.split('.');
            let opcode = parts.next().unwrap_or_default();
            let ordered = |part: &str| {
                matches!(part, "relaxed" | "acquire" | "release" | "acq_rel" | "volatile" | "mmio")
            };
            let kind = match opcode {
                "fence" | "membar" => &mut self.fences,
                "bar" | "barrier" | "mbarrier" => &mut self.barriers,
                "atom" | "red" => &mut self.strong,
                "ld" | "st" | "multimem" if parts.any(ordered) => &mut self.strong,
                _ => continue,
            };
            kind.push(module.line_of(&instruction));
        }
    }
}

/// A function that may be in a proposal.
struct ReadFunction {
    name: String,
    accesses: Vec<ParameterAccess>,
    /// Of each parameter, whether its register holds an address.
    pointers: Vec<bool>,
}

impl ReadFunction {
    fn new(name: &FunctionName, function: &Function) -> ReadFunction {
        let accesses = reach::accesses(function);
        let pointer = |parameter: usize| accesses.iter().any(|of| of.parameter == parameter);
        let pointers = (0..function.parameters.len()).map(pointer).collect();
        ReadFunction { name: name.plain().to_owned(), accesses, pointers }
    }

    /// The first parameter of which some access fits.
    fn first(&self, fits: impl Fn(&ParameterAccess) -> bool) -> Option<usize> {
        self.accesses.iter().filter(|access| fits(access)).map(|access| access.parameter).min()
    }

    fn has(&self, parameter: usize, fits: impl Fn(&ParameterAccess) -> bool) -> bool {
        self.accesses.iter().any(|access| access.parameter == parameter && fits(access))
    }

    /// The words of its column. `names`: of its pointers.
    fn words(&self, names: &BTreeMap<usize, String>, cta: usize) -> String {
        let argument = |(parameter, pointer): (usize, &bool)| match names.get(&parameter) {
            Some(name) if reach::extent(&self.accesses, parameter).is_none() => {
                format!("{name}[64]")
            }
            Some(name) => name.clone(),
            None if *pointer => format!("p{parameter}"),
            None => "1".to_owned(),
        };
        let all: Vec<String> = self.pointers.iter().enumerate().map(argument).collect();
        format!("{}({}) @cta {cta}", self.name, all.join(", "))
    }
}

/// A function that writes strongly through a pointer, beside one that reads so.
fn proposals(functions: &[ReadFunction]) -> Vec<ProposedTest> {
    let mut all: Vec<ProposedTest> = Vec::new();
    for (first, signals) in functions.iter().enumerate() {
        for (second, waits) in functions.iter().enumerate() {
            let written = signals.first(|access| access.strong && access.writes);
            let read = waits.first(|access| access.strong && access.reads);
            let (Some(written), Some(read)) = (written, read) else { continue };
            let alone = first == second;
            let mutual = second < first
                && signals.first(|access| access.strong && access.reads).is_some()
                && waits.first(|access| access.strong && access.writes).is_some();
            if mutual || alone && written != read {
                continue;
            }
            all.push(proposed(signals, written, waits, read, alone));
        }
    }
    // Two functions say more than one twice.
    all.sort_by_key(|test| test.question.is_none());
    all
}

fn proposed(
    signals: &ReadFunction,
    written: usize,
    waits: &ReadFunction,
    read: usize,
    alone: bool,
) -> ProposedTest {
    let weak = |access: &ParameterAccess| !access.strong;
    let of = |function: &ReadFunction, flag: usize| -> Vec<usize> {
        let pointers = function.pointers.iter().enumerate();
        pointers.filter(|(at, pointer)| **pointer && *at != flag).map(|(at, _)| at).collect()
    };
    let mut names = [
        BTreeMap::from([(written, "flag".to_owned())]),
        BTreeMap::from([(read, "flag".to_owned())]),
    ];
    let numbered = |name: &str, number: usize| {
        if number == 0 { name.to_owned() } else { format!("{name}{}", number + 1) }
    };
    let (mut data, mut outputs, mut others) = (0, Vec::new(), 0);
    let mut sent: Vec<usize> = of(signals, written);
    for own in of(waits, read) {
        let reads = waits.has(own, |access| weak(access) && access.reads);
        let matched = if alone {
            Some(own)
        } else {
            let writes = |&&of: &&usize| signals.has(of, |access| weak(access) && access.writes);
            sent.iter().filter(|_| reads).find(writes).copied()
        };
        if !reads && waits.has(own, |access| weak(access) && access.writes) {
            let name = numbered("out", outputs.len());
            if alone {
                names[0].insert(own, name.clone());
            }
            outputs.push(name.clone());
            names[1].insert(own, name);
        } else if let Some(other) = matched {
            let name = numbered("data", data);
            data += 1;
            sent.retain(|of| *of != other);
            names[0].insert(other, name.clone());
            names[1].insert(own, name);
        } else {
            names[1].insert(own, numbered("other", others));
            others += 1;
        }
    }
    for left in of(signals, written) {
        names[0].entry(left).or_insert_with(|| {
            others += 1;
            numbered("other", others - 1)
        });
    }
    let words = format!("{} || {}", signals.words(&names[0], 0), waits.words(&names[1], 1));
    let question = outputs.first().filter(|_| !alone && data > 0);
    let question = question.map(|out| (WordsQuestion::Never, format!("{out}[0]=0")));
    ProposedTest { words, question }
}
