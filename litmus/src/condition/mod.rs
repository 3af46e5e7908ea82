//! The clauses after the table: `locations`, `filter` and the quantified condition.

mod term;

use model::isa::alu::Comparison;
use model::program::Observed;
use model::value::Value;

use self::term::ConditionSide;
use crate::Quantifier;
use crate::proposition::{Comparand, Prop};
use lift::draft::ProgramBuilder;
use text::cursor::{Cursor, short};
use text::lex;
use text::report::{ByteSpan, Diagnostics, ErrorReported};

/// Deeper parentheses, negations and implications are an error: propositions are walked by
/// functions that call themselves.
const DEEPEST: usize = 128;

pub(crate) struct Tail {
    pub(crate) quantifier: Quantifier,
    pub(crate) proposition: Prop,
    pub(crate) filter: Option<Prop>,
    /// In the order of [`Observed`], each once; terms are indices of it.
    pub(crate) observed: Vec<Observed>,
    pub(crate) constants: Vec<Value>,
    /// Of the whole condition.
    pub(crate) at: ByteSpan,
}

struct ConditionReader<'r> {
    draft: &'r mut ProgramBuilder,
    report: &'r mut Diagnostics,
    observed: Vec<Observed>,
    constants: Vec<Value>,
    depth: usize,
}

pub(crate) fn read(tail: Cursor<'_>, draft: &mut ProgramBuilder, report: &mut Diagnostics) -> Tail {
    let mut cursor = tail;
    let mut reader =
        ConditionReader { draft, report, observed: Vec::new(), constants: Vec::new(), depth: 0 };
    let errors = reader.report.count();
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
                reader.report.error("filter-twice", start, "duplicate filter");
            }
            filter = prop.or(filter);
            ok
        } else if let Some(quantifier) = quantifier(&mut cursor) {
            let prop = reader.prop(&mut cursor);
            let ok = prop.is_some();
            if condition.is_some() {
                reader
                    .report
                    .error("condition-twice", start, "duplicate condition")
                    .label(at, "first here");
            } else {
                at = start;
            }
            condition = condition.or(Some((quantifier, prop.unwrap_or(Prop::True))));
            ok
        } else {
            let known = ["exists", "~exists", "forall", "filter", "locations"];
            let near = reader.report.nearest(cursor.text_at(0), known);
            cursor
                .expected("`exists`, `~exists`, `forall`, `filter` or `locations`", reader.report)
                .help(near.unwrap_or(
                    "join the parts of the condition with `/\\` or `\\/`, and end rows of the table with `;`",
                ));
            false
        };
        if !ok {
            skip(&mut cursor);
        }
    }
    if condition.is_none() && reader.report.count() == errors {
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

/// Where the conditions of a tail are: one, in a file without errors.
pub(crate) fn conditions(tail: Cursor<'_>) -> Vec<ByteSpan> {
    let mut cursor = tail;
    let mut all: Vec<ByteSpan> = Vec::new();
    let mut inside = false;
    while !cursor.at_end() {
        let at = cursor.here();
        match cursor.text_at(0) {
            "locations" | "filter" => inside = false,
            "exists" | "forall" | "~" | "not" if !inside => {
                inside = true;
                all.push(at);
            }
            _ => {}
        }
        if inside && let Some(last) = all.last_mut() {
            *last = last.to(at);
        }
        cursor.advance();
    }
    all
}

/// A comparison of a condition, as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrittenComparison {
    pub left: ByteSpan,
    pub comparison: Comparison,
    pub right: ByteSpan,
}

impl WrittenComparison {
    pub fn at(&self) -> ByteSpan {
        self.left.to(self.right)
    }
}

/// The comparisons of a condition of a test that is not there yet: whatever its names denote, and whether or not it can be read.
pub fn comparisons(condition: &str) -> Vec<WrittenComparison> {
    let tokens = lex::tokens(condition, 0, false, &mut Diagnostics::default());
    let end = ByteSpan::new(condition.len(), condition.len());
    let mut cursor = Cursor::new(condition, &tokens, end);
    let mut all = Vec::new();
    while !cursor.at_end() {
        let left = written_side(&mut cursor);
        let compared = comparison(&cursor);
        cursor.advance();
        let right = compared.and_then(|_| written_side(&mut cursor));
        if let (Some(left), Some(comparison), Some(right)) = (left, compared, right) {
            all.push(WrittenComparison { left, comparison, right });
        }
    }
    all
}

/// What is up to a comparison, a parenthesis, or what joins propositions; `None` if nothing is.
fn written_side(cursor: &mut Cursor<'_>) -> Option<ByteSpan> {
    let start = cursor.here();
    let mut side = None;
    let is_name = |cursor: &Cursor<'_>| cursor.text_at(1) == ":";
    while !cursor.at_end() && comparison(cursor).is_none() {
        if JOINTS.contains(&cursor.text_at(0)) && !is_name(cursor) {
            break;
        }
        cursor.advance();
        side = Some(start.to(cursor.previous()));
    }
    side
}

/// What joins propositions, or stands before one.
const JOINTS: [&str; 10] = ["(", ")", "/\\", "\\/", "&", "|", "=>", "not", "~", "!"];

fn comparison(cursor: &Cursor<'_>) -> Option<Comparison> {
    Some(match cursor.text_at(0) {
        "=" | "==" => Comparison::Eq,
        "!=" | "<>" => Comparison::Ne,
        "<" => Comparison::Lt,
        "<=" => Comparison::Le,
        ">" => Comparison::Gt,
        ">=" => Comparison::Ge,
        _ => return None,
    })
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

impl ConditionReader<'_> {
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
        at: ByteSpan,
    ) -> Tail {
        let mut observed = self.observed.clone();
        observed.sort_unstable();
        observed.dedup();
        let before = &self.observed;
        let mut renumber = |term: &mut Comparand| {
            if let Comparand::Observed(index) = term {
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
            let (Ok(_) | Err(ErrorReported)) = self.term(cursor)?;
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
            self.report
                .error("nesting", cursor.here(), message)
                .help("remove redundant parentheses");
            return None;
        }
        self.depth += 1;
        let prop = read(self, cursor);
        self.depth -= 1;
        prop
    }

    fn atom(&mut self, cursor: &mut Cursor<'_>) -> Option<Prop> {
        let start = cursor.here();
        let left = self.side(cursor)?;
        let Some(comparison) = comparison(cursor) else {
            cursor.expected("`=`, `!=` or another comparison", self.report);
            return None;
        };
        let left_at = start.to(cursor.previous());
        cursor.advance();
        let right_at = cursor.here();
        let right = self.side(cursor)?;
        let right_at = right_at.to(cursor.previous());
        let (Ok(left), Ok(right)) = (left, right) else {
            // The names were reported; the rest of the condition is still worth reading.
            return Some(Prop::True);
        };
        let sides = match (left, right) {
            (ConditionSide::Term(left), ConditionSide::Term(right)) => Ok((left, right)),
            (ConditionSide::Term(left), ConditionSide::Float(value)) => {
                self.float(left, value, comparison, right_at).map(|right| (left, right))
            }
            (ConditionSide::Float(value), ConditionSide::Term(right)) => {
                self.float(right, value, comparison, left_at).map(|left| (left, right))
            }
            (ConditionSide::Float(_), ConditionSide::Float(_)) => {
                Err(self.not_a_float(left_at.to(right_at)))
            }
        };
        let Ok((left, right)) = sides else { return Some(Prop::True) };
        self.constant(left, right, right_at);
        self.constant(right, left, left_at);
        Some(Prop::Atom(comparison, left, right))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_found_without_a_test() {
        let all = |condition: &str| -> Vec<String> {
            let of = |at: ByteSpan| at.of(condition).to_owned();
            let text = |one: &WrittenComparison| {
                let sign = crate::proposition::sign(one.comparison);
                format!("{} {sign} {}", of(one.left), of(one.right))
            };
            comparisons(condition).iter().map(text).collect()
        };
        assert_eq!(all("a[0]==-4 && !([x+4]<>1.5e3f)"), ["a[0] = -4", "[x+4] != 1.5e3f"]);
        assert_eq!(all("not P0:r1 >= b | not:c < 0x3"), ["P0:r1 >= b", "not:c < 0x3"]);
        // These are wrong, which is found where they are read.
        assert_eq!(all("= 3 /\\ x ="), [""; 0]);
    }
}
