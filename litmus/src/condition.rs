//! What follows the table: `locations`, `filter` and the quantified condition.

use model::isa::alu::Comparison;
use model::isa::qualifier::Dialect;
use model::memory::VariableId;
use model::program::{Observed, ThreadId};

use crate::cursor::{Cursor, short};
use crate::draft::Draft;
use crate::lex::Kind;
use crate::proposition::{Prop, Term};
use crate::report::{Bytes, Report};
use crate::{Quantifier, program};

/// Deeper parentheses, negations and implications are an error: propositions are walked by
/// functions that call themselves.
const DEEPEST: usize = 128;

pub(crate) struct Tail {
    pub(crate) quantifier: Quantifier,
    pub(crate) proposition: Prop,
    pub(crate) filter: Option<Prop>,
    /// In the order of [`Observed`], each once; terms are indices of it.
    pub(crate) observed: Vec<Observed>,
    pub(crate) constants: Vec<u64>,
    /// Of the whole condition.
    pub(crate) at: Bytes,
}

struct Reader<'r> {
    draft: &'r mut Draft,
    report: &'r mut Report,
    observed: Vec<Observed>,
    constants: Vec<u64>,
    depth: usize,
}

pub(crate) fn read(tail: Cursor<'_>, draft: &mut Draft, report: &mut Report) -> Tail {
    let mut cursor = tail;
    let mut reader =
        Reader { draft, report, observed: Vec::new(), constants: Vec::new(), depth: 0 };
    let mut filter = None;
    let mut condition = None;
    let mut at = cursor.here();
    while !cursor.at_end() {
        let start = cursor.here();
        let ok = if cursor.eat("locations").is_some() {
            reader.locations(&mut cursor).is_some()
        } else if cursor.eat("filter").is_some() {
            let prop = reader.prop(&mut cursor);
            let ok = prop.is_some();
            if let (Some(_), Some(_)) = (&filter, &prop) {
                reader.report.error("filter-twice", start, "there are two filters");
            }
            filter = prop.or(filter);
            ok
        } else if let Some(quantifier) = quantifier(&mut cursor) {
            let prop = reader.prop(&mut cursor);
            let ok = prop.is_some();
            if condition.is_some() {
                reader
                    .report
                    .error("condition-twice", start, "there are two conditions")
                    .label(at, "first here");
            } else {
                at = start;
            }
            condition = condition.or(Some((quantifier, prop.unwrap_or(Prop::True))));
            ok
        } else {
            cursor
                .expected("`exists`, `~exists`, `forall`, `filter` or `locations`", reader.report)
                .help(
                    "connect what belongs to the condition with `/\\` or `\\/`, and end rows of \
                     the table with `;`",
                );
            false
        };
        if !ok {
            skip(&mut cursor);
        }
    }
    if condition.is_none() {
        let example = reader.example();
        reader
            .report
            .error("condition-missing", cursor.here(), "the test has no condition")
            .note("expected `exists`, `~exists` or `forall`")
            .help(example);
    }
    let (quantifier, proposition) = condition.unwrap_or((Quantifier::Exists, Prop::True));
    reader.sorted(quantifier, proposition, filter, at)
}

/// To what can begin anew after an error.
fn skip(cursor: &mut Cursor<'_>) {
    while !cursor.at_end()
        && !matches!(cursor.text_at(0), "exists" | "forall" | "filter" | "locations")
    {
        cursor.advance();
    }
}

fn quantifier(cursor: &mut Cursor<'_>) -> Option<Quantifier> {
    let (quantifier, length) = match (cursor.text_at(0), cursor.text_at(1)) {
        ("exists", _) => (Quantifier::Exists, 1),
        ("forall", _) => (Quantifier::ForAll, 1),
        ("~" | "not", "exists") => (Quantifier::NotExists, 2),
        _ => return None,
    };
    for _ in 0..length {
        cursor.advance();
    }
    Some(quantifier)
}

impl Reader<'_> {
    /// A condition that this test could have.
    fn example(&self) -> String {
        for thread in &self.draft.threads {
            if let Some(register) = thread.registers.iter().find(|register| register.written) {
                return format!("exists ({}:{}=1)", thread.name, short(&register.name));
            }
        }
        match self.draft.variables.first() {
            Some(variable) => format!("exists ([{}]=1)", short(&variable.name)),
            None => "exists (P0:r0=1)".to_owned(),
        }
    }

    /// Puts what is observed into its order, and counts each once.
    fn sorted(
        self,
        quantifier: Quantifier,
        mut proposition: Prop,
        mut filter: Option<Prop>,
        at: Bytes,
    ) -> Tail {
        let mut observed = self.observed.clone();
        observed.sort_unstable();
        observed.dedup();
        let before = &self.observed;
        let mut renumber = |term: &mut Term| {
            if let Term::Observed(index) = term {
                *index = observed.binary_search(&before[*index]).expect("sorting keeps all");
            }
        };
        proposition.for_each_term(&mut renumber);
        if let Some(filter) = &mut filter {
            filter.for_each_term(&mut renumber);
        }
        let mut constants = self.constants;
        constants.sort_unstable();
        constants.dedup();
        Tail { quantifier, proposition, filter, observed, constants, at }
    }

    fn locations(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        if cursor.eat("[").is_none() {
            cursor.expected("`[`", self.report).help("locations [x; 0:r0;]");
            return None;
        }
        while cursor.eat("]").is_none() {
            self.term(cursor)?;
            if cursor.eat(";").is_none() && cursor.eat(",").is_none() && !cursor.is("]") {
                cursor.expected("`;` or `]`", self.report);
                return None;
            }
        }
        Some(())
    }

    fn prop(&mut self, cursor: &mut Cursor<'_>) -> Option<Prop> {
        let left = self.or(cursor)?;
        if cursor.eat("=>").is_none() {
            return Some(left);
        }
        let right = self.deeper(cursor, Self::prop)?;
        Some(Prop::Implies(Box::new(left), Box::new(right)))
    }

    fn or(&mut self, cursor: &mut Cursor<'_>) -> Option<Prop> {
        let mut all = vec![self.and(cursor)?];
        while eat_either(cursor, "\\/", "|") {
            all.push(self.and(cursor)?);
        }
        Some(if all.len() == 1 { all.remove(0) } else { Prop::Or(all) })
    }

    fn and(&mut self, cursor: &mut Cursor<'_>) -> Option<Prop> {
        let mut all = vec![self.unary(cursor)?];
        while eat_either(cursor, "/\\", "&") {
            all.push(self.unary(cursor)?);
        }
        Some(if all.len() == 1 { all.remove(0) } else { Prop::And(all) })
    }

    fn unary(&mut self, cursor: &mut Cursor<'_>) -> Option<Prop> {
        if ["not", "~", "!"].iter().any(|sign| cursor.eat(sign).is_some()) {
            return Some(Prop::Not(Box::new(self.deeper(cursor, Self::unary)?)));
        }
        let open = cursor.here();
        if cursor.eat("(").is_some() {
            let inner = self.deeper(cursor, Self::prop)?;
            if cursor.eat(")").is_none() {
                cursor
                    .expected("`)`, `/\\` or `\\/`", self.report)
                    .label(open, "this parenthesis is open");
                return None;
            }
            return Some(inner);
        }
        if cursor.text_at(1) != ":" {
            if cursor.eat("true").is_some() {
                return Some(Prop::True);
            }
            if cursor.eat("false").is_some() {
                return Some(Prop::False);
            }
        }
        self.atom(cursor)
    }

    fn deeper(
        &mut self,
        cursor: &mut Cursor<'_>,
        read: fn(&mut Self, &mut Cursor<'_>) -> Option<Prop>,
    ) -> Option<Prop> {
        if self.depth == DEEPEST {
            let message = format!("a proposition is nested at most {DEEPEST} deep");
            self.report.error("nesting", cursor.here(), message);
            return None;
        }
        self.depth += 1;
        let prop = read(self, cursor);
        self.depth -= 1;
        prop
    }

    fn atom(&mut self, cursor: &mut Cursor<'_>) -> Option<Prop> {
        let start = cursor.here();
        let left = self.term(cursor)?;
        let comparison = match cursor.text_at(0) {
            "=" | "==" => Comparison::Eq,
            "!=" | "<>" => Comparison::Ne,
            "<" => Comparison::Lt,
            "<=" => Comparison::Le,
            ">" => Comparison::Gt,
            ">=" => Comparison::Ge,
            _ => {
                cursor.expected("`=`, `!=` or another comparison", self.report);
                return None;
            }
        };
        cursor.advance();
        let right_at = cursor.here();
        let right = self.term(cursor)?;
        let (Some(left), Some(right)) = (left, right) else {
            // The names were reported; the rest of the condition is still worth reading.
            return Some(Prop::True);
        };
        self.constant(left, right, right_at);
        self.constant(right, left, start);
        Some(Prop::Atom(comparison, left, right))
    }

    /// Reports a constant, at `at`, that what it is compared with never has.
    fn constant(&mut self, with: Term, term: Term, at: Bytes) {
        if let (Term::Observed(index), Term::Constant(value)) = (with, term) {
            let bits = match self.observed[index] {
                Observed::Register { thread, register } => {
                    match self.draft.thread(thread).draft(register).bits {
                        0 => 64,
                        bits => u32::from(bits),
                    }
                }
                Observed::Memory { length, .. } => 8 * length,
            };
            if !program::fits(value, bits) {
                let message = format!("{} is no value of {bits} bits", value.cast_signed());
                self.report.error("constant", at, message);
            }
        }
    }

    /// One side of a comparison. `None` is an error of syntax; `Some(None)` is a name that was
    /// reported.
    fn term(&mut self, cursor: &mut Cursor<'_>) -> Option<Option<Term>> {
        if cursor.text_at(1) == ":" && cursor.peek().is_some() {
            return self.register(cursor);
        }
        if let Some(value) = cursor.number_value(self.report) {
            self.constants.push(value);
            return Some(Some(Term::Constant(value)));
        }
        let bracket = cursor.eat("[").is_some();
        let Some((name, at)) = cursor.word() else {
            cursor
                .expected("a register, a variable or a number", self.report)
                .help("P0:r0=1 /\\ [x]=2");
            return None;
        };
        let mut copy_of = None;
        if cursor.eat("@").is_some() {
            let Some(token) = cursor.advance() else {
                cursor.expected("the thread whose copy it is", self.report);
                return None;
            };
            copy_of =
                Some(self.draft.thread_named(token.at.of(cursor.text), token.at, self.report));
        }
        let mut offset = None;
        let mut index = None;
        if bracket {
            if cursor.eat("+").is_some() {
                let Some(number) = cursor.number_value(self.report) else {
                    cursor.expected("a number of bytes", self.report);
                    return None;
                };
                offset = Some(number);
            }
            if cursor.eat("]").is_none() {
                cursor.expected("`]`", self.report);
                return None;
            }
        } else if cursor.is("[") && cursor.kind_at(1) == Some(Kind::Number) {
            cursor.advance();
            index = cursor.number_value(self.report);
            if cursor.eat("]").is_none() {
                cursor.expected("`]`", self.report);
                return None;
            }
        }
        let Some(variable) = self.variable(name, at) else { return Some(None) };
        let element = u64::from(program::element(self.draft, variable));
        let offset = offset.or(index.map(|index| index.saturating_mul(element))).unwrap_or(0);
        Some(self.memory(variable, at, copy_of, offset))
    }

    fn register(&mut self, cursor: &mut Cursor<'_>) -> Option<Option<Term>> {
        let token = cursor.advance()?;
        cursor.eat(":")?;
        let Some((name, at)) = cursor.word() else {
            cursor.expected("a register", self.report);
            return None;
        };
        let text = token.at.of(cursor.text);
        let Some(thread) = self.draft.thread_named(text, token.at, self.report) else {
            return Some(None);
        };
        let peer = self.draft.dialect == Dialect::Peer;
        let owner = self.draft.thread(thread);
        if owner.known_register(name).is_none() && !peer {
            let near = self.report.nearest(name, owner.register_names());
            let help = near.map(|near| format!("{}:{near}", owner.name));
            self.report
                .error(
                    "unknown-register",
                    token.at.to(at),
                    format!("`{}` has no register `{}`", owner.name, short(name)),
                )
                .note("in no instruction and not in the initial state")
                .help_if(help);
            return Some(None);
        }
        let register = owner.register(name, at, self.report);
        Some(Some(self.observe(Observed::Register { thread, register })))
    }

    fn variable(&mut self, name: &str, at: Bytes) -> Option<VariableId> {
        if self.draft.known_variable(name).is_none() {
            let owner =
                self.draft.threads.iter().find(|thread| thread.known_register(name).is_some());
            if let Some(owner) = owner {
                let bare = name.strip_prefix('%').unwrap_or(name);
                let help = format!("{}:{}", owner.name, short(bare));
                self.report
                    .error(
                        "register-thread",
                        at,
                        format!("`{}` is a register of a thread", short(name)),
                    )
                    .note("which thread?")
                    .help(help);
                return None;
            }
        }
        self.draft.location(name, at, self.report)
    }

    fn memory(
        &mut self,
        variable: VariableId,
        at: Bytes,
        copy_of: Option<Option<ThreadId>>,
        offset: u64,
    ) -> Option<Term> {
        let name = short(&self.draft.variable(variable).name);
        let copy_of = match copy_of {
            // The thread was reported.
            Some(None) => return None,
            Some(Some(thread)) => Some(thread),
            None => None,
        };
        if copy_of.is_none() && !program::one_copy(self.draft, variable) {
            self.report
                .error("which-copy", at, format!("each CTA has its own `{name}`"))
                .note("which one?")
                .help(format!("[{name}@P0]"));
            return None;
        }
        let extent = u64::from(program::extent(self.draft, variable));
        let length = u64::from(program::element(self.draft, variable)).min(8);
        if offset.saturating_add(length) > extent {
            self.report
                .error("out-of-bounds", at, format!("this is not inside `{name}`"))
                .note(format!("`{name}` has {extent} bytes"));
            return None;
        }
        let thread = program::owner(self.draft, variable, copy_of);
        let narrow = |n: u64| u32::try_from(n).expect("an extent has 32 bits");
        let (offset, length) = (narrow(offset), narrow(length));
        Some(self.observe(Observed::Memory { variable, thread, offset, length }))
    }

    fn observe(&mut self, observed: Observed) -> Term {
        self.observed.push(observed);
        Term::Observed(self.observed.len() - 1)
    }
}

/// `/\` or two `&`, `\/` or two `|`.
fn eat_either(cursor: &mut Cursor<'_>, herd: &str, c: &str) -> bool {
    if cursor.eat(herd).is_some() {
        return true;
    }
    let doubled = cursor.is(c) && cursor.text_at(1) == c;
    if doubled {
        cursor.advance();
        cursor.advance();
    }
    doubled
}
