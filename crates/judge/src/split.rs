//! Splits a test into parts that never meet ([`execution::components`]).
//!
//! A condition whose parts each observe one component is a question for each of them; where it compares two of them, these stay
//! together. Threads of other parts keep their numbers, and do nothing.

use std::collections::{BTreeMap, BTreeSet};

use execution::components::Components;
use litmus::{Comparand, Prop, Quantifier, Test};
use model::program::ThreadId;
use model::rel::Model;

use crate::task::Task;

/// A test in parts.
pub(crate) struct TestParts {
    pub(crate) all: Vec<TestPart>,
    pub(crate) goal: Goal,
}

/// What an outcome that decides the condition has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Each part of the condition.
    Every,
    /// One of them.
    Any,
}

pub(crate) struct TestPart {
    pub(crate) test: Test,
    /// What it observes, among what the whole test observes.
    pub(crate) observed: Vec<usize>,
    /// How many instructions it has.
    pub(crate) size: usize,
}

impl TestParts {
    /// The parts for the question of a task, if there are several.
    pub(crate) fn of(test: &Test, task: &Task<'_>) -> Option<TestParts> {
        let counts = task.property.is_of_outcomes() && !task.verdict_only;
        let several = test.program.threads.len() > 1 && !is_uncited(task.model_of(test));
        if !several || counts || test.filter.is_some() {
            return None;
        }
        let mut components = Components::of(&test.program);
        if components.is_one() {
            return None;
        }
        let mut condition = SplitCondition { props: BTreeMap::new(), goal: Goal::Any };
        if task.property.is_of_outcomes() {
            condition = SplitCondition::new(test, &mut components);
        }
        let threads = || (0u8..).map(ThreadId).zip(&test.program.threads);
        // Who does nothing is no part.
        let busy: BTreeSet<ThreadId> = threads()
            .filter(|(_, of)| !of.lines.is_empty())
            .map(|(id, _)| components.first(id))
            .chain(condition.props.keys().copied())
            .collect();
        if busy.len() < 2 {
            return None;
        }
        let first = *busy.first()?;
        let part = |&of: &ThreadId| part(test, &components, of, of == first, &busy, &condition);
        Some(TestParts { all: busy.iter().map(part).collect(), goal: condition.goal })
    }
}

/// The parts of a test that are judged on their own for the question of a task: itself, if there are none.
pub fn parts(test: &Test, task: &Task<'_>) -> Vec<Test> {
    let parts = TestParts::of(test, task).map(|parts| parts.all.into_iter().map(|part| part.test));
    parts.map_or_else(|| vec![test.clone()], Iterator::collect)
}

/// Whether a model is not that of the document, so that it may relate events that do not meet.
pub(crate) fn is_uncited(model: &Model) -> bool {
    model.axioms.iter().any(|axiom| axiom.section.is_none())
        || model.orders.iter().any(|order| order.section.is_none())
}

/// One part of a test: the threads of the component whose first thread is `of`, and in the first part, what no part observes.
fn part(
    test: &Test,
    components: &Components,
    of: ThreadId,
    is_first: bool,
    busy: &BTreeSet<ThreadId>,
    condition: &SplitCondition,
) -> TestPart {
    let mut program = test.program.clone();
    let mut size = 0;
    for (thread, other) in (0u8..).map(ThreadId).zip(&mut program.threads) {
        if components.first(thread) == of {
            size += other.lines.len();
        } else {
            other.lines.clear();
        }
    }
    let of_part = |&index: &usize| {
        let owner = components.of_observed(index);
        owner == of || is_first && !busy.contains(&owner)
    };
    let observed: Vec<usize> = (0..program.observed.len()).filter(of_part).collect();
    program.observed = observed.iter().map(|&index| program.observed[index]).collect();
    program.constants = test.program.mentioned_constants();
    let place = |index: usize| observed.iter().position(|&own| own == index);
    let none = match condition.goal {
        Goal::Every => Prop::True,
        Goal::Any => Prop::False,
    };
    let mut props = condition.props.get(&of).into_iter().flatten();
    let props: Vec<Prop> = props.by_ref().map(|prop| observing(prop, &place)).collect();
    let proposition = match (props.len(), condition.goal) {
        (0, _) => none,
        (1, _) => props.into_iter().next().unwrap_or(none),
        (_, Goal::Every) => Prop::And(props),
        (_, Goal::Any) => Prop::Or(props),
    };
    let test = Test { program, quantifier: Quantifier::Exists, proposition, ..test.clone() };
    TestPart { test, observed, size }
}

/// A condition by components.
struct SplitCondition {
    /// What an outcome that decides it has, by the first thread of the component that it is about.
    props: BTreeMap<ThreadId, Vec<Prop>>,
    goal: Goal,
}

impl SplitCondition {
    /// Joins components that one part of the condition is about.
    fn new(test: &Test, components: &mut Components) -> SplitCondition {
        let truth = test.quantifier != Quantifier::ForAll;
        let mut goal = None;
        let mut parts = Vec::new();
        collect(&test.proposition, truth, &mut goal, &mut parts);
        let of: Vec<Option<ThreadId>> = parts
            .iter()
            .map(|prop| {
                let mut threads = BTreeSet::new();
                observed(prop, &mut |index| {
                    threads.insert(components.of_observed(index));
                });
                let first = threads.first().copied()?;
                for thread in threads {
                    components.join(first, thread);
                }
                Some(first)
            })
            .collect();
        let mut props: BTreeMap<ThreadId, Vec<Prop>> = BTreeMap::new();
        for (of, prop) in of.into_iter().zip(parts) {
            props.entry(components.first(of.unwrap_or(ThreadId(0)))).or_default().push(prop);
        }
        SplitCondition { props, goal: goal.unwrap_or(Goal::Any) }
    }
}

/// The parts of a proposition with its truth value, which it is the conjunction of, or the disjunction, as `goal` says or as its outermost
/// connective does.
fn collect(prop: &Prop, truth: bool, goal: &mut Option<Goal>, parts: &mut Vec<Prop>) {
    let own = if truth { Goal::Every } else { Goal::Any };
    let dual = if truth { Goal::Any } else { Goal::Every };
    let (connective, operands): (Goal, Vec<(&Prop, bool)>) = match prop {
        Prop::Not(prop) => return collect(prop, !truth, goal, parts),
        Prop::And(props) => (own, props.iter().map(|prop| (prop, truth)).collect()),
        Prop::Or(props) => (dual, props.iter().map(|prop| (prop, truth)).collect()),
        Prop::Implies(left, right) => (dual, vec![(&**left, !truth), (&**right, truth)]),
        Prop::True | Prop::False | Prop::Atom(..) => (goal.unwrap_or(Goal::Any), Vec::new()),
    };
    if operands.is_empty() || *goal.get_or_insert(connective) != connective {
        let whole = prop.clone();
        parts.push(if truth { whole } else { Prop::Not(Box::new(whole)) });
        return;
    }
    for (operand, truth) in operands {
        collect(operand, truth, goal, parts);
    }
}

/// Visits what a proposition observes.
fn observed(prop: &Prop, visit: &mut dyn FnMut(usize)) {
    match prop {
        Prop::True | Prop::False => {}
        Prop::Not(prop) => observed(prop, visit),
        Prop::And(props) | Prop::Or(props) => {
            for prop in props {
                observed(prop, visit);
            }
        }
        Prop::Implies(left, right) => {
            observed(left, visit);
            observed(right, visit);
        }
        Prop::Atom(_, left, right) => {
            for side in [left, right] {
                if let Comparand::Observed(index) = side {
                    visit(*index);
                }
            }
        }
    }
}

/// The same proposition, where what it observes has other places in the outcome.
fn observing(prop: &Prop, place: &dyn Fn(usize) -> Option<usize>) -> Prop {
    let list = |props: &[Prop]| props.iter().map(|prop| observing(prop, place)).collect();
    let term = |of: &Comparand| match of {
        Comparand::Observed(index) => {
            Comparand::Observed(place(*index).expect("a part observes what its condition is about"))
        }
        Comparand::Constant(value) => Comparand::Constant(*value),
    };
    match prop {
        Prop::True => Prop::True,
        Prop::False => Prop::False,
        Prop::Not(prop) => Prop::Not(Box::new(observing(prop, place))),
        Prop::And(props) => Prop::And(list(props)),
        Prop::Or(props) => Prop::Or(list(props)),
        Prop::Implies(left, right) => {
            Prop::Implies(Box::new(observing(left, place)), Box::new(observing(right, place)))
        }
        Prop::Atom(comparison, left, right) => Prop::Atom(*comparison, term(left), term(right)),
    }
}
