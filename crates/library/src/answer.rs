//! The answer to a test.

use std::fmt::{self, Debug, Display, Formatter};
use std::ops::Index;

use engine::exit::Exit;
use judge::Judgement;
use judge::headline::Headline;
use litmus::proposition;
use model::value::Value;

/// About the condition of a test, with its quantifier.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    Holds,
    Fails,
    /// The program has no meaning.
    Undefined,
    /// The model does not cover an instruction.
    Unsupported,
    /// No execution finishes.
    Stuck,
    /// A limit was reached first.
    Undecided,
}

impl From<&judge::Verdict> for Verdict {
    fn from(verdict: &judge::Verdict) -> Verdict {
        match verdict {
            judge::Verdict::Holds => Verdict::Holds,
            judge::Verdict::Fails => Verdict::Fails,
            judge::Verdict::Undefined(_) => Verdict::Undefined,
            judge::Verdict::Unsupported(_) => Verdict::Unsupported,
            judge::Verdict::Stuck(_) => Verdict::Stuck,
            judge::Verdict::Undecided(_) => Verdict::Undecided,
        }
    }
}

/// What is known of a test.
#[derive(Clone, Debug)]
pub struct Answer<'t> {
    test: &'t litmus::Test,
    judgement: Judgement,
    /// The names of what is observed, in the order of the values.
    names: Vec<String>,
    outcomes: Vec<Vec<Value>>,
}

impl<'t> Answer<'t> {
    pub(crate) fn new(test: &'t litmus::Test, judgement: Judgement) -> Answer<'t> {
        let outcomes =
            judgement.found.outcomes.keys().map(|outcome| test.narrowed(outcome)).collect();
        Answer { test, judgement, names: names(test), outcomes }
    }

    pub fn verdict(&self) -> Verdict {
        Verdict::from(&self.judgement.verdict)
    }

    /// Why the verdict is none of [`Verdict::Holds`] and [`Verdict::Fails`].
    pub fn reason(&self) -> Option<&str> {
        self.judgement.verdict.reason()
    }

    /// Whether the verdict is what the test expects, as an exit code of `causeway check`.
    pub fn exit(&self) -> Exit {
        self.judgement.exit()
    }

    /// The outcomes of the test: all of them if the verdict is [`Verdict::Holds`] or [`Verdict::Fails`] and
    /// [`Answer::is_complete`], otherwise those that were found.
    pub fn outcomes(&self) -> Outcomes<'_> {
        Outcomes { answer: self, next: 0 }
    }

    /// Whether no limit was reached, so that there are no other outcomes.
    pub fn is_complete(&self) -> bool {
        self.judgement.found.is_complete()
    }
}

/// The answer in one line, as the command line gives it: `Forbidden: …`.
impl Display for Answer<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&Headline::new(self.test, &self.judgement), f)
    }
}

/// The outcomes of an [`Answer`], in order of their values.
#[derive(Clone, Debug)]
pub struct Outcomes<'a> {
    answer: &'a Answer<'a>,
    next: usize,
}

impl<'a> Iterator for Outcomes<'a> {
    type Item = Outcome<'a>;

    fn next(&mut self) -> Option<Outcome<'a>> {
        let values = self.answer.outcomes.get(self.next)?;
        self.next += 1;
        Some(Outcome { answer: self.answer, values })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.answer.outcomes.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Outcomes<'_> {}

/// The values of what is observed at the end of an execution.
#[derive(Clone, Copy)]
pub struct Outcome<'a> {
    answer: &'a Answer<'a>,
    values: &'a [Value],
}

impl<'a> Outcome<'a> {
    /// By a name of [`Test::observed`](crate::Test::observed): `1:r0` or `P1:r0`, `[x]` or `x`.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.place(name).map(|at| self.values[at])
    }

    /// The names and values of all that is observed.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, Value)> + use<'a> {
        let names = self.answer.names.iter().map(String::as_str);
        names.zip(self.values.iter().copied())
    }

    /// Whether the condition of the test is true of it, without its quantifier.
    pub fn satisfies_condition(&self) -> bool {
        let test = self.answer.test;
        test.proposition.holds(&test.program, self.values)
    }

    fn place(&self, name: &str) -> Option<usize> {
        let register = name.strip_prefix('P').filter(|rest| rest.contains(':')).unwrap_or(name);
        let bare =
            |known: &str| known.strip_prefix('[').and_then(|of| of.strip_suffix(']')) == Some(name);
        self.answer.names.iter().position(|known| known == register || bare(known))
    }
}

impl Index<&str> for Outcome<'_> {
    type Output = Value;

    /// # Panics
    ///
    /// If nothing with this name is observed; [`Outcome::get`] does not.
    fn index(&self, name: &str) -> &Value {
        match self.place(name) {
            Some(at) => &self.values[at],
            None => panic!("`{name}` is not observed: {}", self.answer.names.join(", ")),
        }
    }
}

/// `1:r0=1; 1:r1=0;`
impl Display for Outcome<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.answer.test.display_outcome(self.values))
    }
}

impl Debug for Outcome<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// The names of what is observed.
pub(crate) fn names(test: &litmus::Test) -> Vec<String> {
    let observed = test.program.observed.iter();
    observed.map(|&of| proposition::name(&test.program, of)).collect()
}
