//! The answer to a test in one line, in words that need no notation.

use std::fmt::{self, Display, Formatter};

use litmus::proposition::truncate;
use litmus::{Comparand, Prop, Quantifier, Test};
use model::isa::alu::Comparison;
use model::program::{Observed, Program, ThreadId};
use model::value::Value;

use crate::judgement::Judgement;
use crate::task::Property;
use crate::uninitialised::read_text;
use crate::verdict::Verdict;
use crate::words::{condition, race_text};

/// What a headline begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeadlineKind {
    /// No execution has the outcome.
    Forbidden,
    /// Some execution has it.
    Allowed,
    /// Every execution finishes, where that is the question.
    Finishes,
    /// No execution has a data race, where that is the question.
    NoDataRace,
    DataRace,
    /// No read returns what nobody has written, where that is the question.
    NoUninitialisedRead,
    UninitialisedRead,
    Stuck,
    Undefined,
    Unsupported,
    Undecided,
    Disagreement,
}

impl HeadlineKind {
    pub fn word(self) -> &'static str {
        match self {
            HeadlineKind::Forbidden => "Forbidden",
            HeadlineKind::Allowed => "Allowed",
            HeadlineKind::Finishes => "Finishes",
            HeadlineKind::NoDataRace => "No data race",
            HeadlineKind::DataRace => "Data race",
            HeadlineKind::NoUninitialisedRead => "No uninitialised read",
            HeadlineKind::UninitialisedRead => "Uninitialised read",
            HeadlineKind::Stuck => "Stuck",
            HeadlineKind::Undefined => "Undefined",
            HeadlineKind::Unsupported => "Unsupported",
            HeadlineKind::Undecided => "Undecided",
            HeadlineKind::Disagreement => "Engines disagree",
        }
    }

    /// The kind of its colour.
    pub fn tone(self) -> Tone {
        match self {
            HeadlineKind::Forbidden
            | HeadlineKind::Finishes
            | HeadlineKind::NoDataRace
            | HeadlineKind::NoUninitialisedRead => Tone::Safe,
            HeadlineKind::Allowed => Tone::Possible,
            HeadlineKind::DataRace
            | HeadlineKind::UninitialisedRead
            | HeadlineKind::Stuck
            | HeadlineKind::Undefined
            | HeadlineKind::Disagreement => Tone::Wrong,
            HeadlineKind::Unsupported | HeadlineKind::Undecided => Tone::Open,
        }
    }
}

/// What a colour says of an answer, whatever the test expects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    Safe,
    Possible,
    Wrong,
    Open,
}

impl Tone {
    /// As classes of a page.
    pub fn name(self) -> &'static str {
        match self {
            Tone::Safe => "safe",
            Tone::Possible => "possible",
            Tone::Wrong => "wrong",
            Tone::Open => "open",
        }
    }
}

/// The answer to a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Headline {
    pub answer: HeadlineKind,
    /// What is forbidden or allowed, or the reason.
    detail: String,
    /// Whether the test expects it.
    expected: bool,
}

impl Display for Headline {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.answer.word())?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl Headline {
    pub fn new(test: &Test, judgement: &Judgement) -> Headline {
        let (answer, detail) = answer(test, judgement);
        let expected = judgement.complaint.is_none() && judgement.disagreement.is_none();
        Headline { answer, detail, expected }
    }

    /// A test with an instruction that the model does not cover.
    pub(crate) fn unsupported(why: &str) -> Headline {
        Headline { answer: HeadlineKind::Unsupported, detail: why.to_owned(), expected: false }
    }

    /// Whether the test expects it, in words.
    pub fn expectation(&self) -> &'static str {
        if self.expected { "as the test expects" } else { "not as the test expects" }
    }
}

fn answer(test: &Test, judgement: &Judgement) -> (HeadlineKind, String) {
    if let Some(disagreement) = &judgement.disagreement {
        return (HeadlineKind::Disagreement, disagreement.clone());
    }
    let seen = &judgement.found.seen;
    let holds = match &judgement.verdict {
        Verdict::Undefined(reason) => return (HeadlineKind::Undefined, reason.clone()),
        Verdict::Unsupported(reason) => return (HeadlineKind::Unsupported, reason.clone()),
        Verdict::Stuck(reason) => return (HeadlineKind::Stuck, reason.clone()),
        Verdict::Undecided(reason) => return (HeadlineKind::Undecided, reason.clone()),
        Verdict::Holds => true,
        Verdict::Fails => false,
    };
    match (judgement.property, holds) {
        (Property::Termination, true) => (HeadlineKind::Finishes, "in every execution".to_owned()),
        (Property::Termination, false) => {
            let note = judgement.notes.iter().find(|note| note.code == "stuck");
            (HeadlineKind::Stuck, note.map_or(String::new(), |note| note.text.clone()))
        }
        (Property::NoDataRace, true) => (HeadlineKind::NoDataRace, "in any execution".to_owned()),
        (Property::NoDataRace, false) => {
            let race = seen.races.iter().next();
            (HeadlineKind::DataRace, race.map_or(String::new(), |&race| race_text(test, race)))
        }
        (Property::NoUninitialisedRead, true) => {
            (HeadlineKind::NoUninitialisedRead, "in any execution".to_owned())
        }
        (Property::NoUninitialisedRead, false) => {
            let read = seen.uninitialised.first();
            let read = read.map_or(String::new(), |&read| read_text(test, read));
            (HeadlineKind::UninitialisedRead, read)
        }
        (Property::ProgramSpec, holds) => {
            let allows = holds == (test.quantifier == Quantifier::Exists);
            if allows {
                (HeadlineKind::Allowed, allowed(test, judgement))
            } else {
                (HeadlineKind::Forbidden, forbidden(test))
            }
        }
    }
}

/// The outcome that decides the condition, or else the condition.
fn allowed(test: &Test, judgement: &Judgement) -> String {
    let decides = test.quantifier != Quantifier::ForAll;
    let holds = |outcome: &&Vec<Value>| test.proposition.holds(&test.program, outcome) == decides;
    let witness = judgement.found.witness.as_ref().map(|witness| &witness.outcome);
    let outcome = witness.or_else(|| judgement.found.outcomes.keys().find(holds));
    let asked = asked(&test.proposition);
    let clauses = outcome.map(|outcome| clauses(test, asked, &|index| outcome.get(index).copied()));
    let words = clauses.and_then(|clauses| clauses.said("may"));
    words.unwrap_or_else(|| match (decides, condition(test)) {
        (true, condition) => format!("an execution ends with {condition}"),
        (false, condition) => format!("an execution ends without {condition}"),
    })
}

fn forbidden(test: &Test) -> String {
    if test.quantifier == Quantifier::ForAll {
        return format!("no execution ends without {}", condition(test));
    }
    let values = demanded(&test.proposition);
    let words = values.and_then(|values| {
        let asked = values.iter().map(|&(index, _)| index).collect();
        let value = |index| values.iter().find(|of| of.0 == index).map(|of| of.1);
        clauses(test, asked, &value).said("cannot")
    });
    words.unwrap_or_else(|| format!("no execution ends with {}", condition(test)))
}

/// What a proposition speaks of, each once, in its order.
fn asked(prop: &Prop) -> Vec<usize> {
    fn add(prop: &Prop, all: &mut Vec<usize>) {
        match prop {
            Prop::True | Prop::False => {}
            Prop::Not(prop) => add(prop, all),
            Prop::And(props) | Prop::Or(props) => props.iter().for_each(|prop| add(prop, all)),
            Prop::Implies(left, right) => [left, right].into_iter().for_each(|prop| add(prop, all)),
            Prop::Atom(_, left, right) => {
                for side in [left, right] {
                    if let Comparand::Observed(index) = side
                        && !all.contains(index)
                    {
                        all.push(*index);
                    }
                }
            }
        }
    }
    let mut all = Vec::new();
    add(prop, &mut all);
    all
}

/// The values that a proposition demands, if it is a list of them.
fn demanded(prop: &Prop) -> Option<Vec<(usize, Value)>> {
    match prop {
        Prop::And(props) => {
            let parts: Option<Vec<Vec<(usize, Value)>>> = props.iter().map(demanded).collect();
            Some(parts?.concat())
        }
        Prop::Atom(Comparison::Eq, Comparand::Observed(index), Comparand::Constant(value))
        | Prop::Atom(Comparison::Eq, Comparand::Constant(value), Comparand::Observed(index)) => {
            Some(vec![(*index, *value)])
        }
        Prop::True
        | Prop::False
        | Prop::Not(_)
        | Prop::Or(_)
        | Prop::Implies(..)
        | Prop::Atom(..) => None,
    }
}

/// The line of a load, the place that it reads, and both place and value, as `flag = 1`.
type LoadedValue = (usize, String, String);

/// The values of an outcome by those who see them.
struct OutcomeWords {
    /// What each thread reads.
    sees: Vec<(String, Vec<LoadedValue>)>,
    /// What each thread computes, as `r0 = 1`.
    has: Vec<(String, Vec<String>)>,
    /// What memory ends with, as `x = 1`.
    ends: Vec<String>,
}

/// Values that a headline names; of an outcome with more the condition is named.
const MOST_VALUES: usize = 8;

fn clauses(test: &Test, asked: Vec<usize>, value: &dyn Fn(usize) -> Option<Value>) -> OutcomeWords {
    let program = &test.program;
    let mut clauses = OutcomeWords { sees: Vec::new(), has: Vec::new(), ends: Vec::new() };
    for index in asked {
        let Some(value) = value(index) else { continue };
        let value = truncate(value, Comparand::Observed(index).bits(program));
        match program.observed[index] {
            observed @ Observed::Memory { .. } => {
                let name = litmus::proposition::name(program, observed);
                // The brackets of a variable are of the condition, and those of an element of its name.
                let whole = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
                let name = whole.unwrap_or(&name);
                clauses.ends.push(format!("{name} = {value}"));
            }
            Observed::Register { thread, register } => {
                let of = &program.threads[usize::from(thread.0)];
                if let Some((line, place)) = loaded(program, thread, register) {
                    let said = format!("{place} = {value}");
                    of_thread(&mut clauses.sees, &of.name).push((line, place, said));
                } else {
                    let name = &of.registers[usize::from(register.0)].name;
                    of_thread(&mut clauses.has, &of.name).push(format!("{name} = {value}"));
                }
            }
        }
    }
    clauses
}

/// What is said of a thread.
fn of_thread<'a, T>(all: &'a mut Vec<(String, Vec<T>)>, name: &str) -> &'a mut Vec<T> {
    let known = all.iter().position(|(of, _)| of == name);
    let at = known.unwrap_or_else(|| {
        all.push((name.to_owned(), Vec::new()));
        all.len() - 1
    });
    &mut all[at].1
}

/// The one load that writes a register: its line, and the place that it reads, as far as it is known without running it.
fn loaded(
    program: &Program,
    thread: ThreadId,
    register: model::isa::Reg,
) -> Option<(usize, String)> {
    let lines = program.threads[usize::from(thread.0)].lines.iter().enumerate();
    let mut writes =
        lines.filter(|(_, line)| line.instruction.destinations().any(|d| d == register));
    let (line, of) = writes.next()?;
    if writes.next().is_some() {
        return None;
    }
    let (address, ty, _) = of.instruction.access()?;
    let (variable, _) = program.variable_of(thread, address)?;
    let element = of.instruction.destinations().position(|d| d == register)?;
    let start = address.offset + i64::from(ty.bits / 8) * i64::try_from(element).ok()?;
    let name = &program.variables[usize::from(variable.0)].name;
    Some((line, if start == 0 { name.clone() } else { format!("{name}+{start}") }))
}

impl OutcomeWords {
    /// `P0 may see y = 0 while P1 sees x = 0`, where `can` is `may` or `cannot`; `None` if there is nothing to say, or too much.
    fn said(self, can: &str) -> Option<String> {
        let sees = self.sees.iter().map(|(_, of)| of.len());
        let has = self.has.iter().map(|(_, of)| of.len());
        let count = sees.chain(has).sum::<usize>() + self.ends.len();
        if count == 0 || count > MOST_VALUES {
            return None;
        }
        // Who, the verb after `may`, the verb alone, and what.
        let mut all: Vec<(String, [&str; 2], String)> = Vec::new();
        for (thread, mut reads) in self.sees {
            reads.sort();
            let twice = reads.windows(2).any(|pair| pair[0].1 == pair[1].1);
            let texts: Vec<String> = reads.into_iter().map(|(.., text)| text).collect();
            let what = if twice { texts.join(", then ") } else { listed(&texts) };
            all.push((thread, ["see", "sees"], what));
        }
        for (thread, values) in self.has {
            all.push((thread, ["end with", "ends with"], listed(&values)));
        }
        if !self.ends.is_empty() {
            all.push(("memory".to_owned(), ["end with", "ends with"], listed(&self.ends)));
        }
        let clauses = all.into_iter().enumerate().map(|(index, (who, [after, alone], what))| {
            if index == 0 {
                format!("{who} {can} {after} {what}")
            } else {
                format!("{who} {alone} {what}")
            }
        });
        let clauses: Vec<String> = clauses.collect();
        let (first, others) = clauses.split_first()?;
        Some(if others.is_empty() {
            first.clone()
        } else {
            format!("{first} while {}", listed(others))
        })
    }
}

/// `a, b and c`.
fn listed(all: &[String]) -> String {
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::judge;
    use crate::task::Task;

    fn headline(threads: &str, condition: &str) -> String {
        let source = format!("PTX t\n{{\nx=0; y=0;\n}}\n{threads}\n{condition}\n");
        let test = litmus::parse("t.litmus", source.as_bytes()).expect("a test");
        let model = model::ptx::model();
        let headline = Headline::new(&test, &judge(&test, &Task::new(&model)));
        format!("{headline}, {}", headline.expectation())
    }

    #[test]
    fn an_element_keeps_its_brackets() {
        for (init, place, said) in
            [(".global .b32 out[4];", "out[1]", "out[1]"), ("out=0;", "[out]", "out")]
        {
            let store = if place == said { "out+4" } else { "out" };
            let source = format!(
                "PTX t\n{{\n{init}\n}}\n P0@cta 0,gpu 0 ;\n st.weak.u32 [{store}], 2 ;\nexists ({place}=2)\n"
            );
            let test = litmus::parse("t.litmus", source.as_bytes()).expect("a test");
            let model = model::ptx::model();
            let headline = Headline::new(&test, &judge(&test, &Task::new(&model)));
            assert_eq!(headline.to_string(), format!("Allowed: memory may end with {said} = 2"));
        }
    }

    #[test]
    fn outcomes_are_named_by_what_threads_read() {
        let mp = " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak.u32 [x], 1 | ld.acquire.gpu.u32 a, [y] ;\n \
                  st.release.gpu.u32 [y], 1 | ld.weak.u32 b, [x] ;";
        let read = "P1:a=1 /\\ P1:b=0";
        for (condition, expected) in [
            (
                format!("~exists ({read})"),
                "Forbidden: P1 cannot see y = 1 and x = 0, as the test expects",
            ),
            (
                format!("exists ({read})"),
                "Forbidden: P1 cannot see y = 1 and x = 0, not as the test expects",
            ),
            (
                "exists (P1:a=0 /\\ P1:b=0)".to_owned(),
                "Allowed: P1 may see y = 0 and x = 0, as the test expects",
            ),
            (
                "~exists (P1:b=1 /\\ x=1)".to_owned(),
                "Allowed: P1 may see x = 1 while memory ends with x = 1, not as the test expects",
            ),
            (
                "~exists (P1:a=1 /\\ ~(P1:b=1))".to_owned(),
                "Forbidden: no execution ends with P1:a=1 /\\ not (P1:b=1), as the test expects",
            ),
            (
                "forall (x=1)".to_owned(),
                "Forbidden: no execution ends without [x]=1, as the test expects",
            ),
            ("forall (P1:b=1)".to_owned(), "Allowed: P1 may see x = 0, not as the test expects"),
        ] {
            assert_eq!(headline(mp, &condition), expected);
        }
    }

    #[test]
    fn several_threads_and_computed_registers_are_told_apart() {
        let two = " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n ld.weak.u32 a, [x] | ld.weak.u32 b, [x] ;\n \
                   add.u32 c, a, 1 | ld.weak.u32 d, [x] ;";
        let expected = "Allowed: P0 may see x = 0 while P1 sees x = 0, then x = 0 and P0 ends with c = 1, as the test expects";
        let all = "exists (P0:a=0 /\\ P0:c=1 /\\ P1:b=0 /\\ P1:d=0)";
        assert_eq!(headline(two, all), expected);
    }
}
