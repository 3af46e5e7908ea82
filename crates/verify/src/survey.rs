//! What there is in a module: its functions, what orders they have, and which of them may belong together.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{Function, FunctionVariable};
use lift::module::{HEAP, LaunchedArguments, TRAP};
use model::memory::Space;
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
    let known = functions(module);
    if known.is_empty() && !read_module.faults.is_empty() {
        return Err(read_module.faults);
    }
    let mut read: Vec<ReadFunction> = Vec::new();
    let mut surveyed: Vec<SurveyedFunction> = Vec::new();
    let declared = module.declared_functions();
    for (index, (name, declared)) in known.iter().zip(&declared).enumerate() {
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
            name: name.clone(),
        };
        function.count(module, index);
        if read.len() < MOST_READ && !function.strong.is_empty() {
            match read_module.function(&function.name.name, &LaunchedArguments::default()) {
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
    let is_composed = |test: &ProposedTest| {
        let question = test.question.as_ref().map(|(question, text)| (*question, &text[..]));
        let request = WordsTest { words: &test.words, question, ..WordsTest::default() };
        compose_in(&read_module, &known, &request).is_ok()
    };
    // Of many, only those that are listed are composed.
    let proposals = proposals(&read).into_iter().filter(is_composed).take(MOST_PROPOSED).collect();
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
    /// The variables of the module in global memory that it names.
    variables: BTreeSet<String>,
}

impl ReadFunction {
    fn new(name: &FunctionName, function: &Function) -> ReadFunction {
        let accesses = reach::accesses(function);
        let pointer = |parameter: usize| accesses.iter().any(|of| of.parameter == parameter);
        let pointers = (0..function.parameters.len()).map(pointer).collect();
        let own = [TRAP, HEAP];
        let shared =
            |of: &&FunctionVariable| of.space == Space::Global && !own.contains(&&of.name[..]);
        let variables =
            function.variables.iter().filter(shared).map(|of| of.name.clone()).collect();
        ReadFunction { name: name.plain().to_owned(), accesses, pointers, variables }
    }

    /// The first parameter of which some access fits.
    fn first(&self, fits: impl Fn(&ParameterAccess) -> bool) -> Option<usize> {
        self.accesses.iter().filter(|access| fits(access)).map(|access| access.parameter).min()
    }

    /// The bytes of the widest access through a parameter.
    fn width(&self, parameter: usize) -> Option<u32> {
        let own = self.accesses.iter().filter(|access| access.parameter == parameter);
        own.map(|access| access.bytes).max()
    }

    fn has(&self, parameter: usize, fits: impl Fn(&ParameterAccess) -> bool) -> bool {
        self.accesses.iter().any(|access| access.parameter == parameter && fits(access))
    }

    /// The words of its column. `names`: of its pointers.
    fn words(&self, names: &BTreeMap<usize, String>, cta: usize) -> String {
        let argument = |(parameter, pointer): (usize, &bool)| match names.get(&parameter) {
            Some(name) if !reach::is_known(&self.accesses, parameter) => {
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
    let mut all: Vec<(ProposedTest, usize)> = Vec::new();
    for (first, signals) in functions.iter().enumerate() {
        for (second, waits) in functions.iter().enumerate() {
            let written = signals.first(|access| access.strong && access.writes);
            let read = waits.first(|access| access.strong && access.reads);
            let alone = first == second;
            let (Some(written), Some(read)) = (written, read) else {
                // They may signal each other through a variable of the module.
                if first <= second && !signals.variables.is_disjoint(&waits.variables) {
                    let test = proposed(signals, None, waits, None, alone);
                    all.push((test, first.abs_diff(second)));
                }
                continue;
            };
            let mutual = second < first
                && signals.first(|access| access.strong && access.reads).is_some()
                && waits.first(|access| access.strong && access.writes).is_some();
            if mutual {
                continue;
            }
            let test = proposed(signals, Some(written), waits, Some(read), alone);
            all.push((test, first.abs_diff(second)));
        }
    }
    // Two functions say more than one twice, and what belongs together is near in a file.
    all.sort_by_key(|(test, apart)| (test.question.is_none(), *apart == 0, *apart));
    all.into_iter().map(|(test, _)| test).collect()
}

fn proposed(
    signals: &ReadFunction,
    written: Option<usize>,
    waits: &ReadFunction,
    read: Option<usize>,
    alone: bool,
) -> ProposedTest {
    let weak = |access: &ParameterAccess| !access.strong;
    let of = |function: &ReadFunction, named: &BTreeMap<usize, String>| -> Vec<usize> {
        let pointers = (0..function.pointers.len()).filter(|at| function.pointers[*at]);
        pointers.filter(|at| !named.contains_key(at)).collect()
    };
    let mut names = [written, read]
        .map(|flag| flag.iter().map(|at| (*at, "flag".to_owned())).collect::<BTreeMap<_, _>>());
    // Each writes the flag of the other.
    if let (true, Some(written), Some(read)) = (alone && written != read, written, read) {
        names[0].insert(read, "flag2".to_owned());
        names[1].insert(written, "flag2".to_owned());
    }
    let numbered = |name: &str, number: usize| {
        if number == 0 { name.to_owned() } else { format!("{name}{}", number + 1) }
    };
    let (mut data, mut outputs, mut others) = (0, Vec::new(), 0);
    let mut sent: Vec<usize> = of(signals, &names[0]);
    for own in of(waits, &names[1]) {
        let reads = waits.has(own, |access| weak(access) && access.reads);
        let matched = if alone {
            Some(own)
        } else {
            let writes = |&&of: &&usize| signals.has(of, |access| weak(access) && access.writes);
            let fits: Vec<usize> = sent.iter().filter(|_| reads).filter(writes).copied().collect();
            let same = fits.iter().find(|of| signals.width(**of) == waits.width(own));
            same.or(fits.first()).copied()
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
    for left in of(signals, &names[0]) {
        names[0].insert(left, numbered("other", others));
        others += 1;
    }
    let words = format!("{} || {}", signals.words(&names[0], 0), waits.words(&names[1], 1));
    let question = outputs.first().filter(|_| !alone && data > 0);
    let question = question.map(|out| (WordsQuestion::Never, format!("{out}[0]=0")));
    ProposedTest { words, question }
}
