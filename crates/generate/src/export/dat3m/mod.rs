//! The dialect of Dartagnan: accesses of one width without types and brackets, names as addresses, scopes without clusters.
//!
//! It is written for each release of Dartagnan: registers are `r0`, `r1` and so on, labels `LC00`, and a location in the condition
//! has no brackets. What Causeway alone reads in the dialect is not written.

mod column;

use std::collections::{BTreeMap, BTreeSet};

use litmus::proposition::{self, truncate};
use litmus::{Comparand, Dialect, Prop, Test, print::TestText};
use model::isa::alu::Comparison;
use model::memory::Space;
use model::program::{InitialValue, Observed};
use model::scope::Placement;

use super::{ExportedLine, Inexpressible, refuse_variable};
use column::ThreadColumn;

/// Keys that a test in PTX keeps: what they claim of the verdict does not depend on the words of its instructions.
const KEPT: [&str; 4] = ["Forbidden-by", "Forbidden-by-alone", "Readings", "Undefined"];

/// The words of Dartagnan's grammar, which no location can have as its name.
const WORDS: &[&str] = &[
    "PTX",
    "ptx",
    "locations",
    "filter",
    "exists",
    "forall",
    "final",
    "not",
    "with",
    "default",
    "ld",
    "tld",
    "suld",
    "cold",
    "st",
    "sust",
    "atom",
    "suatom",
    "red",
    "sured",
    "fence",
    "bar",
    "sync",
    "arrive",
    "cta",
    "gpu",
    "sys",
    "weak",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "sc",
    "add",
    "sub",
    "mul",
    "div",
    "and",
    "or",
    "xor",
    "cas",
    "exch",
    "proxy",
    "generic",
    "constant",
    "surface",
    "texture",
    "aliases",
    "alias",
    "beq",
    "bne",
    "blt",
    "bgt",
    "ble",
    "bge",
    "goto",
];

pub(super) fn text(test: &Test) -> Result<String, Inexpressible> {
    let mut out = TestText::new("PTX", &test.name);
    out.key("Dialect", "peer");
    for doc in &test.doc {
        out.doc(doc);
    }
    let is_kept = |key: &str, value: &str| match test.dialect {
        Dialect::Peer => key != "Dialect",
        // A thread has its name; an instruction has other words.
        Dialect::Ptx | Dialect::Cxx if ["Stuck", "Sometimes-stuck"].contains(&key) => {
            test.program.threads.iter().any(|thread| thread.name == value)
        }
        Dialect::Ptx | Dialect::Cxx => KEPT.contains(&key),
    };
    for (key, value) in test.metadata.iter().filter(|(key, value)| is_kept(key, value)) {
        out.key(key, value);
    }
    let width = width(test)?;
    out.declare(variables(test, width)?);
    let threads: Vec<ThreadColumn<'_>> = (0..test.program.threads.len())
        .map(|number| ThreadColumn::new(test, number, width))
        .collect();
    let ctas = ctas(test);
    let mut columns = Vec::new();
    for (number, thread) in threads.iter().enumerate() {
        let name = &test.program.threads[number].name;
        if name.strip_prefix('P').is_none_or(|digits| digits.parse::<u32>().is_err()) {
            let what = format!("a thread that is not named by a number: `{name}`");
            return Err(Inexpressible { line: 1, what });
        }
        let cells = thread.cells()?;
        out.declare(registers(test, number, thread)?);
        let gpu = test.program.threads[number].placement.gpu;
        let head = format!("{name}@cta {},gpu {gpu}", ctas[number]);
        columns.push(std::iter::once(head).chain(cells).collect());
    }
    out.columns(&columns);
    let terms = Terms { test, threads: &threads, width };
    let of_condition = test.proposition.observed();
    let of_filter = test.filter.as_ref().map(Prop::observed).unwrap_or_default();
    let others = (0..test.program.observed.len())
        .filter(|index| !of_condition.contains(index) && !of_filter.contains(index));
    out.locations(others.map(|index| terms.observed(index)).collect::<Result<Vec<_>, _>>()?);
    if let Some(filter) = &test.filter {
        out.end(format!("filter ({})", terms.text(filter)?));
    }
    out.end(format!("{} ({})", test.quantifier.name(), terms.text(&test.proposition)?));
    Ok(out.to_string())
}

/// How many bits the accesses have: the dialect has one width, of 64 bits, and smaller numbers fit it.
fn width(test: &Test) -> Result<u16, Inexpressible> {
    let mut width = None;
    for line in (0..test.program.threads.len()).flat_map(|number| ExportedLine::all(test, number)) {
        let Some((_, ty, elements)) = line.line.instruction.access() else { continue };
        if elements != 1 {
            return line.refuse("an access to several elements");
        }
        if !matches!(ty.bits, 32 | 64) {
            return line.refuse("an access of another width than 32 or 64 bits");
        }
        if *width.get_or_insert(ty.bits) != ty.bits {
            return line.refuse("accesses of several widths");
        }
    }
    Ok(width.unwrap_or(64))
}

/// The initial state of the variables.
fn variables(test: &Test, width: u16) -> Result<Vec<String>, Inexpressible> {
    let mut all = Vec::new();
    for (index, variable) in test.program.variables.iter().enumerate() {
        let name = &variable.name;
        let numbered = |prefix: &str| {
            let digits = name.strip_prefix(prefix);
            digits.is_some_and(|of| !of.is_empty() && of.bytes().all(|of| of.is_ascii_digit()))
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if WORDS.contains(&name.as_str())
            || ["r", "LC", "P"].into_iter().any(numbered)
            || !name.chars().all(is_word)
        {
            return refuse_variable(
                test,
                index,
                "a location with a name that means something else",
            );
        }
        if let Some(alias) = variable.alias {
            let of = &test.program.variables[usize::from(alias.of.0)].name;
            all.push(format!("{name} @ {} aliases {of}", alias.proxy));
            continue;
        }
        if variable.space != Space::Global {
            return refuse_variable(test, index, "a variable outside global memory");
        }
        if variable.tensormap.is_some() || !variable.multimem.is_empty() {
            return refuse_variable(test, index, "a tensormap, or a multimem address");
        }
        if variable.initial.len() > usize::from(width / 8) {
            let what = format!("an array, or a variable of more than {width} bits");
            return refuse_variable(test, index, &what);
        }
        let bytes = variable.initial.iter().rev();
        let value = bytes.fold(0, |value, &byte| value << 8 | u64::from(byte));
        all.push(format!("{name}={}", number(value, width)));
    }
    Ok(all)
}

/// The initial state of the registers that the column or the condition names, and of those that the test gives a value.
fn registers(
    test: &Test,
    number: usize,
    column: &ThreadColumn<'_>,
) -> Result<Vec<String>, Inexpressible> {
    let thread = &test.program.threads[number];
    let observed = test.program.observed.iter().filter_map(|observed| match observed {
        Observed::Register { thread, register } if usize::from(thread.0) == number => {
            Some(usize::from(register.0))
        }
        Observed::Register { .. } | Observed::Memory { .. } => None,
    });
    let observed: BTreeSet<usize> = observed.collect();
    let given = |index: usize| {
        let declared = test.declarations.registers.get(number).and_then(|of| of.get(index));
        test.dialect == Dialect::Peer && declared.is_some_and(|of| of.given)
    };
    let mut all = Vec::new();
    for (index, register) in thread.registers.iter().enumerate() {
        let is_named = column.is_named(index);
        if !(is_named || observed.contains(&index) || given(index)) {
            continue;
        }
        let name = format!("{}:{}", thread.name, column.names[index]);
        match register.initial {
            InitialValue::Value(value) => {
                let bits = if register.bits == 0 { 64 } else { register.bits };
                let value = truncate(value, bits.into());
                let value = u64::try_from(value).unwrap_or(u64::MAX);
                all.push(format!("{name}={}", self::number(value, bits)));
            }
            InitialValue::Address { variable, offset: 0, .. } if column.width == 64 => {
                let variable = &test.program.variables[usize::from(variable.0)].name;
                all.push(format!("{name}={variable}"));
            }
            InitialValue::Address { .. } if !is_named => {}
            InitialValue::Address { variable, offset, .. } => {
                let what = match offset {
                    0 => "an address as a value, beside accesses of 32 bits",
                    _ => "an address with an offset as a value",
                };
                return refuse_variable(test, usize::from(variable.0), what);
            }
        }
    }
    Ok(all)
}

/// A number of a width: of 64 bits as a signed one, as Dartagnan has them, of fewer as an unsigned one, for they do not wrap.
fn number(value: u64, width: u16) -> String {
    if width == 64 { value.cast_signed().to_string() } else { value.to_string() }
}

/// The number of the CTA of each thread. Without clusters and kernels, CTAs have different numbers.
fn ctas(test: &Test) -> Vec<u32> {
    let places: Vec<Placement> = test.program.threads.iter().map(|of| of.placement).collect();
    let clash = |here: &Placement| {
        let same_number = |there: &&Placement| (here.gpu, here.cta) == (there.gpu, there.cta);
        places.iter().filter(same_number).any(|there| !here.same_cta(*there))
    };
    if !places.iter().any(clash) {
        return places.iter().map(|place| place.cta).collect();
    }
    let mut known: BTreeMap<u32, Vec<Placement>> = BTreeMap::new();
    let number = |place: Placement| {
        let on_gpu = known.entry(place.gpu).or_default();
        let at = on_gpu.iter().position(|of| of.same_cta(place)).unwrap_or_else(|| {
            on_gpu.push(place);
            on_gpu.len() - 1
        });
        u32::try_from(at).expect("a test has few threads")
    };
    places.iter().copied().map(number).collect()
}

/// What conditions are written with.
struct Terms<'t> {
    test: &'t Test,
    threads: &'t [ThreadColumn<'t>],
    width: u16,
}

impl Terms<'_> {
    fn refuse<T>(&self, what: &str) -> Result<T, Inexpressible> {
        let what = format!("{what}: `{}`", self.test.condition_text);
        Err(Inexpressible { line: self.test.condition_line, what })
    }

    fn observed(&self, index: usize) -> Result<String, Inexpressible> {
        let program = &self.test.program;
        match program.observed[index] {
            Observed::Register { thread, register } => {
                let (thread, register) = (usize::from(thread.0), usize::from(register.0));
                if program.threads[thread].registers[register].bits == 1 {
                    return self.refuse("a predicate in the condition");
                }
                if self.threads[thread].is_omitted(register) {
                    return self.refuse("a computed address in the condition");
                }
                let number = &program.threads[thread].name[1..];
                Ok(format!("{number}:{}", self.threads[thread].names[register]))
            }
            Observed::Memory { variable, offset, length, .. } => {
                let of = &program.variables[usize::from(variable.0)];
                let root = &program.variables[usize::from(program.root(variable).0)];
                if offset != 0 || length as usize != root.initial.len() {
                    return self.refuse("a part of a location in the condition");
                }
                Ok(of.name.clone())
            }
        }
    }

    fn term(&self, of: Comparand) -> Result<String, Inexpressible> {
        match of {
            Comparand::Observed(index) => self.observed(index),
            Comparand::Constant(value) => {
                let value = u64::try_from(value).unwrap_or(u64::MAX);
                Ok(number(value, self.width))
            }
        }
    }

    /// A proposition, its parts in parentheses.
    fn text(&self, prop: &Prop) -> Result<String, Inexpressible> {
        self.part(prop, false)
    }

    fn part(&self, prop: &Prop, wrapped: bool) -> Result<String, Inexpressible> {
        let list = |props: &[Prop], sign: &str| -> Result<String, Inexpressible> {
            let parts: Result<Vec<String>, _> =
                props.iter().map(|of| self.part(of, true)).collect();
            let text = parts?.join(sign);
            Ok(if wrapped { format!("({text})") } else { text })
        };
        match prop {
            Prop::True => Ok("0 == 0".to_owned()),
            Prop::False => Ok("0 == 1".to_owned()),
            Prop::Not(prop) => Ok(format!("not ({})", self.part(prop, false)?)),
            Prop::And(props) => list(props, " /\\ "),
            Prop::Or(props) => list(props, " \\/ "),
            // The dialect has no arrow.
            Prop::Implies(left, right) => {
                list(&[Prop::Not(left.clone()), (**right).clone()], " \\/ ")
            }
            Prop::Atom(comparison, left, right) => {
                let sign = match comparison {
                    Comparison::Eq => "=",
                    Comparison::Ne => "!=",
                    Comparison::Lt => "<",
                    Comparison::Le => "<=",
                    Comparison::Gt => ">",
                    Comparison::Ge => ">=",
                };
                let bits = proposition::width(&self.test.program, *left, *right);
                let side = |of: Comparand| match of {
                    Comparand::Constant(value) => Comparand::Constant(truncate(value, bits)),
                    Comparand::Observed(_) => of,
                };
                Ok(format!("{}{sign}{}", self.term(side(*left))?, self.term(side(*right))?))
            }
        }
    }
}
