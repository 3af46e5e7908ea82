//! Whether an execution goes beyond the loop bound.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use execution::air::Air;
use execution::unfold::Unfolded;
use model::given::Fixed;
use model::program::Program;
use model::rel::{Model, Node, NodeId};

use super::EnumerationJob;
use crate::account::Budget;
use crate::sought::Sought;
use crate::{ExecutionFacts, Limits, plan, structures};

/// The work of [`goes_beyond`].
const MOST_BEYOND: u64 = 1 << 19;

/// Whether an execution may go beyond the loop bound: no if none that was cut there is consistent, whatever comes behind.
pub(crate) fn goes_beyond(model: &Model, program: &Program, limits: &Limits) -> bool {
    // A read may be torn between more writes than are added, if no axiom forbids it.
    let torn = model.conventions.tearing && model.axiom("Single-Copy-Atomicity").is_none();
    if !is_closed(model) || torn {
        return true;
    }
    let work = Some(limits.work.map_or(MOST_BEYOND, |work| work.min(MOST_BEYOND)));
    let limits = Limits { work, ..*limits };
    let ends = |held| limits.of_unfolding(held);
    let Ok(unfolded) = Unfolded::within(program, model.conventions, limits.bound, &ends) else {
        return true;
    };
    let air = Air::of(program, model.conventions);
    let mut seen = ExecutionFacts::default();
    let mut job = EnumerationJob {
        model,
        grows: plan::grows_with_choice(model),
        sought: Sought::Everything,
        unending: true,
        beyond: true,
        account: Budget::new(&limits),
        air: &air,
        seen: &mut seen,
        visit: &mut |_, _| ControlFlow::Continue(()),
    };
    !matches!(structures::each_beyond(&unfolded, model.conventions, &mut job), Ok(Some(true)))
}

/// Whether the relations that axioms use, among some events of an execution without asynchronous operations, are no larger
/// than in the whole execution: what they leave out of another relation is known of each two events alone.
fn is_closed(model: &Model) -> bool {
    let mut open: Vec<NodeId> = model.axioms.iter().map(|axiom| axiom.constraint.node()).collect();
    let mut seen = BTreeSet::new();
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        match model.node(node) {
            Node::Minus(of, without) => {
                if !is_local(model, without) && !is_empty(model, of) {
                    return false;
                }
                open.extend([of, without]);
            }
            Node::Or(a, b) | Node::And(a, b) | Node::Seq(a, b) => open.extend([a, b]),
            Node::Inverse(of) | Node::Plus(of) => open.push(of),
            Node::Fixed(_) | Node::Chosen(_) | Node::Identity(_) | Node::Cross(..) => {}
        }
    }
    true
}

/// Whether the other events of an execution make no difference to what a relation is between two. What a later write
/// depends on is not known.
fn is_local(model: &Model, node: NodeId) -> bool {
    match model.node(node) {
        Node::Fixed(Fixed::Addr | Fixed::Data | Fixed::Ctrl) | Node::Seq(..) | Node::Plus(_) => {
            false
        }
        Node::Fixed(_) | Node::Chosen(_) | Node::Identity(_) | Node::Cross(..) => true,
        Node::Or(a, b) | Node::And(a, b) | Node::Minus(a, b) => {
            is_local(model, a) && is_local(model, b)
        }
        Node::Inverse(of) => is_local(model, of),
    }
}

/// Whether a relation is empty without mbarrier objects.
fn is_empty(model: &Model, node: NodeId) -> bool {
    match model.node(node) {
        Node::Fixed(fixed) => fixed == Fixed::OpenPhase,
        Node::Chosen(_) | Node::Identity(_) | Node::Cross(..) => false,
        Node::Or(a, b) => is_empty(model, a) && is_empty(model, b),
        Node::And(a, b) | Node::Seq(a, b) => is_empty(model, a) || is_empty(model, b),
        Node::Minus(of, _) | Node::Inverse(of) | Node::Plus(of) => is_empty(model, of),
    }
}
