//! Propositions about the final state of an execution, in conditions and filters.

use std::collections::BTreeSet;

use lift::program::{has_copies, number};
use model::isa::alu::Comparison;
use model::memory::Variable;
use model::program::{Observed, Program};
use model::value::{self, Value, low_bits};

/// A side of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparand {
    /// An index into [`Program::observed`].
    Observed(usize),
    /// Two's complement.
    Constant(Value),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Prop {
    True,
    False,
    Not(Box<Prop>),
    /// Two or more.
    And(Vec<Prop>),
    /// Two or more.
    Or(Vec<Prop>),
    Implies(Box<Prop>, Box<Prop>),
    Atom(Comparison, Comparand, Comparand),
}

impl Comparand {
    /// How many low bits of the value there are to compare.
    pub fn bits(self, program: &Program) -> u32 {
        match self {
            Comparand::Constant(_) => value::BITS.into(),
            Comparand::Observed(index) => match program.observed[index] {
                Observed::Register { thread, register } => {
                    let thread = &program.threads[usize::from(thread.0)];
                    u32::from(thread.registers[usize::from(register.0)].bits)
                }
                Observed::Memory { length, .. } => 8 * length,
            },
        }
    }

    fn value(self, values: &[Value]) -> Value {
        match self {
            Comparand::Constant(value) => value,
            Comparand::Observed(index) => values[index],
        }
    }

    fn known(self, values: &[Option<Value>]) -> Option<Value> {
        match self {
            Comparand::Constant(value) => Some(value),
            Comparand::Observed(index) => values[index],
        }
    }
}

/// The bits at which two terms are compared: those of the narrower one.
pub fn width(program: &Program, left: Comparand, right: Comparand) -> u32 {
    left.bits(program).min(right.bits(program))
}

/// The low `bits` bits.
pub fn truncate(value: Value, bits: u32) -> Value {
    value & low_bits(u16::try_from(bits).unwrap_or(value::BITS))
}

impl Prop {
    /// Whether the proposition holds of these values of [`Program::observed`]. Orders are unsigned.
    pub fn holds(&self, program: &Program, values: &[Value]) -> bool {
        let known = self.evaluate(program, &|term| Some(term.value(values)));
        known.expect("every value is known")
    }

    /// Whether the proposition holds of every outcome with these values, or of none; `None` if what is not known
    /// may matter. It may be `None` of a proposition that no outcome changes, such as `r=0 \/ r!=0`.
    pub fn known(&self, program: &Program, values: &[Option<Value>]) -> Option<bool> {
        self.evaluate(program, &|term| term.known(values))
    }

    /// In the logic of three values of Kleene.
    fn evaluate(
        &self,
        program: &Program,
        value: &impl Fn(Comparand) -> Option<Value>,
    ) -> Option<bool> {
        // Of a list in which one side decides the whole.
        let list = |props: &[Prop], decides: bool| {
            let mut whole = Some(!decides);
            for prop in props {
                match prop.evaluate(program, value) {
                    Some(part) if part == decides => return Some(decides),
                    Some(_) => {}
                    None => whole = None,
                }
            }
            whole
        };
        match self {
            Prop::True => Some(true),
            Prop::False => Some(false),
            Prop::Not(prop) => prop.evaluate(program, value).map(|holds| !holds),
            Prop::And(props) => list(props, false),
            Prop::Or(props) => list(props, true),
            Prop::Implies(left, right) => match left.evaluate(program, value) {
                Some(false) => Some(true),
                Some(true) => right.evaluate(program, value),
                None => right.evaluate(program, value).filter(|&holds| holds),
            },
            Prop::Atom(comparison, left, right) => {
                let bits = width(program, *left, *right);
                let side = |term: Comparand| Some(truncate(value(term)?, bits));
                Some(compare(*comparison, side(*left)?, side(*right)?))
            }
        }
    }

    /// Whether it compares two values by size.
    pub fn compares_by_order(&self) -> bool {
        match self {
            Prop::True | Prop::False => false,
            Prop::Not(prop) => prop.compares_by_order(),
            Prop::And(props) | Prop::Or(props) => props.iter().any(Prop::compares_by_order),
            Prop::Implies(left, right) => left.compares_by_order() || right.compares_by_order(),
            Prop::Atom(comparison, ..) => !matches!(comparison, Comparison::Eq | Comparison::Ne),
        }
    }

    /// The same proposition with each constant as the unsigned number of the bits that are compared.
    #[must_use]
    pub fn unsigned(&self, program: &Program) -> Prop {
        let list = |props: &[Prop]| props.iter().map(|prop| prop.unsigned(program)).collect();
        let boxed = |prop: &Prop| Box::new(prop.unsigned(program));
        match self {
            Prop::True => Prop::True,
            Prop::False => Prop::False,
            Prop::Not(prop) => Prop::Not(boxed(prop)),
            Prop::And(props) => Prop::And(list(props)),
            Prop::Or(props) => Prop::Or(list(props)),
            Prop::Implies(left, right) => Prop::Implies(boxed(left), boxed(right)),
            Prop::Atom(comparison, left, right) => {
                let bits = width(program, *left, *right);
                let side = |of: Comparand| match of {
                    Comparand::Constant(value) => Comparand::Constant(truncate(value, bits)),
                    Comparand::Observed(_) => of,
                };
                Prop::Atom(*comparison, side(*left), side(*right))
            }
        }
    }

    /// The indices of the observed values that it compares, in order.
    pub fn observed(&self) -> BTreeSet<usize> {
        match self {
            Prop::True | Prop::False => BTreeSet::new(),
            Prop::Not(prop) => prop.observed(),
            Prop::And(props) | Prop::Or(props) => props.iter().flat_map(Prop::observed).collect(),
            Prop::Implies(left, right) => &left.observed() | &right.observed(),
            Prop::Atom(_, left, right) => {
                let index = |of: &Comparand| match *of {
                    Comparand::Observed(index) => Some(index),
                    Comparand::Constant(_) => None,
                };
                [left, right].into_iter().filter_map(index).collect()
            }
        }
    }

    /// Visits each term of each comparison.
    pub(crate) fn for_each_term(&mut self, visit: &mut impl FnMut(&mut Comparand)) {
        match self {
            Prop::True | Prop::False => {}
            Prop::Not(prop) => prop.for_each_term(visit),
            Prop::And(props) | Prop::Or(props) => {
                for prop in props {
                    prop.for_each_term(visit);
                }
            }
            Prop::Implies(left, right) => {
                left.for_each_term(visit);
                right.for_each_term(visit);
            }
            Prop::Atom(_, left, right) => {
                visit(left);
                visit(right);
            }
        }
    }

    /// As herd prints it, without the outermost parentheses.
    pub fn text(&self, program: &Program) -> String {
        let mut out = String::new();
        self.write(0, &Writing { herd: true, term: &|of| term(program, of) }, &mut out);
        out
    }

    /// As it reads back, without the outermost parentheses: `!=` is a sign of its own, and what is in
    /// parentheses stays there.
    pub(crate) fn written(&self, term: &dyn Fn(Comparand) -> String) -> String {
        let mut out = String::new();
        self.write(0, &Writing { herd: false, term }, &mut out);
        out
    }

    /// `around` is how tightly what surrounds the proposition binds.
    fn write(&self, around: u8, writing: &Writing<'_>, out: &mut String) {
        let Writing { herd, term } = *writing;
        let binding = match self {
            Prop::Implies(..) => 1,
            Prop::Or(_) => 2,
            Prop::And(_) => 3,
            Prop::True | Prop::False | Prop::Not(_) | Prop::Atom(..) => 4,
        };
        let list = |props: &[Prop], sign: &str, out: &mut String| {
            for (index, prop) in props.iter().enumerate() {
                if index > 0 {
                    out.push_str(sign);
                }
                prop.write(if herd { binding } else { binding + 1 }, writing, out);
            }
        };
        let wrapped = binding < around;
        if wrapped {
            out.push('(');
        }
        match self {
            Prop::True => out.push_str("true"),
            Prop::False => out.push_str("false"),
            Prop::Not(prop) if herd => {
                out.push_str("not (");
                prop.write(0, writing, out);
                out.push(')');
            }
            Prop::Not(prop) => {
                out.push_str("not ");
                prop.write(binding, writing, out);
            }
            Prop::And(props) => list(props, " /\\ ", out),
            Prop::Or(props) => list(props, " \\/ ", out),
            Prop::Implies(left, right) => {
                left.write(binding + 1, writing, out);
                out.push_str(" => ");
                right.write(binding, writing, out);
            }
            Prop::Atom(Comparison::Ne, left, right) if herd => {
                out.extend(["not (", &term(*left), "=", &term(*right), ")"]);
            }
            Prop::Atom(comparison, left, right) => {
                out.extend([&term(*left), sign(*comparison), &term(*right)]);
            }
        }
        if wrapped {
            out.push(')');
        }
    }
}

/// How a proposition is written.
struct Writing<'a> {
    herd: bool,
    term: &'a dyn Fn(Comparand) -> String,
}

fn compare(comparison: Comparison, a: Value, b: Value) -> bool {
    match comparison {
        Comparison::Eq => a == b,
        Comparison::Ne => a != b,
        Comparison::Lt => a < b,
        Comparison::Le => a <= b,
        Comparison::Gt => a > b,
        Comparison::Ge => a >= b,
    }
}

/// As a test writes it.
pub fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "=",
        Comparison::Ne => "!=",
        Comparison::Lt => "<",
        Comparison::Le => "<=",
        Comparison::Gt => ">",
        Comparison::Ge => ">=",
    }
}

fn term(program: &Program, term: Comparand) -> String {
    match term {
        Comparand::Constant(value) => number(value),
        Comparand::Observed(index) => name(program, program.observed[index]),
    }
}

/// `1:r0`, `[x]`, `a[1]` of an array, `[x+4]` of what is no element, `[x@P1]` where CTAs or threads have copies.
pub fn name(program: &Program, observed: Observed) -> String {
    element_name(program, observed).unwrap_or_else(|| name_by_bytes(program, observed))
}

/// Of an array without copies, whose type is declared: what is observed is as wide as its elements.
fn element_name(program: &Program, observed: Observed) -> Option<String> {
    let Observed::Memory { variable, offset, length, .. } = observed else { return None };
    let owner = &program.variables[usize::from(variable.0)];
    let array = owner.declared && owner.initial.len() > length as usize;
    (array && !is_copied(program, owner) && offset.is_multiple_of(length))
        .then(|| format!("{}[{}]", owner.name, offset / length))
}

fn is_copied(program: &Program, variable: &Variable) -> bool {
    has_copies(variable.space, program.threads.iter().map(|thread| thread.placement))
}

/// The same with offsets in bytes, also of arrays: `[a+4]`.
pub fn name_by_bytes(program: &Program, observed: Observed) -> String {
    match observed {
        Observed::Register { thread, register } => {
            let owner = &program.threads[usize::from(thread.0)];
            let number = owner.name.strip_prefix('P').unwrap_or(&owner.name);
            format!("{number}:{}", owner.registers[usize::from(register.0)].name)
        }
        Observed::Memory { variable, thread, offset, .. } => {
            let owner = &program.variables[usize::from(variable.0)];
            let at = if is_copied(program, owner) {
                format!("@{}", program.threads[usize::from(thread.0)].name)
            } else {
                String::new()
            };
            let plus = if offset == 0 { String::new() } else { format!("+{offset}") };
            format!("[{}{at}{plus}]", owner.name)
        }
    }
}
