//! Makes a litmus test on which two sides differ small.

use std::time::Instant;

use engine::interrupt;
use fuzz::answer::EngineAnswer;
use litmus::arbitrary::RandomProgram;
use litmus::{Prop, Quantifier, Test, print};

use super::report::DifferingTest;
use super::side::{DiffSide, SideLimits};

/// The work of an engine for one smaller test, at most. It does not depend on the machine, so neither does the result.
const WORK: u64 = 200_000;

/// What one side, by its index, has and the other has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Excess {
    Outcome(usize),
    Undefined(usize),
}

impl Excess {
    /// What the answers to a test tell.
    fn of(found: &DifferingTest) -> Option<Excess> {
        let undefined = |answer: &String| answer.starts_with("undefined");
        if let Some(side) = found.answers.iter().position(undefined) {
            return Some(Excess::Undefined(side));
        }
        let allows = if found.test.quantifier == Quantifier::Exists { "holds" } else { "fails" };
        found.answers.iter().position(|answer| answer == allows).map(Excess::Outcome)
    }

    /// The condition that shows it: an outcome that only the side has, or any if the program is undefined there.
    fn condition(self, test: &Test, answers: &[EngineAnswer; 2]) -> Option<Prop> {
        let (Excess::Outcome(side) | Excess::Undefined(side)) = self;
        let EngineAnswer::Outcomes(other) = &answers[1 - side] else { return None };
        match (self, &answers[side]) {
            (Excess::Outcome(_), EngineAnswer::Outcomes(own)) => {
                own.difference(other).next().map(|outcome| test.is_outcome(outcome))
            }
            (Excess::Undefined(_), EngineAnswer::Undefined) => Some(Prop::True),
            (
                Excess::Outcome(_) | Excess::Undefined(_),
                EngineAnswer::Outcomes(_) | EngineAnswer::Undefined | EngineAnswer::Stuck,
            ) => None,
        }
    }
}

/// The two sides, and how much they may take.
struct Asked<'a> {
    sides: &'a [DiffSide; 2],
    limits: &'a SideLimits,
    deadline: Option<Instant>,
}

impl Asked<'_> {
    /// The condition that shows the excess, if both sides decide the program.
    fn condition(&self, test: &Test, excess: Excess) -> Option<Prop> {
        if interrupt::raised() || self.deadline.is_some_and(|end| Instant::now() >= end) {
            return None;
        }
        let outcomes = |side: &DiffSide| side.outcomes(test, self.limits, WORK).ok();
        excess.condition(test, &[outcomes(&self.sides[0])?, outcomes(&self.sides[1])?])
    }

    /// The verdicts on a test, if they differ.
    fn answers(&self, test: &Test) -> Option<[String; 2]> {
        let [one, other] = self.sides;
        let answers =
            [one.of_test(test, self.limits).ok()?, other.of_test(test, self.limits).ok()?];
        (answers[0] != answers[1]).then_some(answers)
    }
}

/// The test as small as it gets while one side still has what the other has not; `None` if it gets no smaller.
pub(super) fn shrunk(
    found: &DifferingTest,
    sides: &[DiffSide; 2],
    limits: &SideLimits,
    deadline: Option<Instant>,
) -> Option<DifferingTest> {
    let (excess, asked) = (Excess::of(found)?, Asked { sides, limits, deadline });
    let parsed = |program: &RandomProgram| {
        litmus::parse(&found.test.name, program.to_string().as_bytes()).ok()
    };
    let condition =
        |program: &RandomProgram| parsed(program).and_then(|test| asked.condition(&test, excess));
    let whole = RandomProgram::observing(&found.test);
    condition(&whole)?;
    let least = fuzz::shrink::shrink(&whole, &mut |smaller| condition(smaller).is_some());
    if least == whole {
        return None;
    }
    let mut test = parsed(&least)?;
    test.proposition = condition(&least)?;
    test.name.clone_from(&found.test.name);
    test.quantifier = Quantifier::Exists;
    asked.answers(&test)?;
    loop {
        let fewer = without_a_term(&test).find(|test| asked.answers(test).is_some());
        let Some(fewer) = fewer else { break };
        test = fewer;
    }
    // Explanations quote the condition.
    let printed = print::print(&test.observing_its_condition());
    let test = litmus::parse(&found.test.name, printed.as_bytes()).ok()?;
    let (cycle, file) = (None, found.file.clone());
    Some(DifferingTest { cycle, file, shrunk: true, answers: asked.answers(&test)?, test })
}

/// The test without one of the terms of its condition, each in turn.
fn without_a_term(test: &Test) -> impl Iterator<Item = Test> + '_ {
    let terms = match &test.proposition {
        Prop::And(terms) => terms.as_slice(),
        Prop::True
        | Prop::False
        | Prop::Atom(..)
        | Prop::Not(_)
        | Prop::Or(_)
        | Prop::Implies(..) => &[],
    };
    (0..terms.len()).map(|gone| {
        let mut fewer = terms.to_vec();
        fewer.remove(gone);
        Test { proposition: Prop::And(fewer), ..test.clone() }
    })
}
