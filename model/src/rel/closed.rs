//! Whether an execution without some of its events keeps the axioms that it keeps.

use std::collections::BTreeSet;

use super::{Model, Node, NodeId};
use crate::given::{Chosen, Fixed};

/// Whether the relations that axioms use, among some events of an execution without asynchronous operations, are not larger
/// than in the whole execution: what they leave out of another relation is known of each two events alone. Dependencies are,
/// if `dependent`: not of a write that is looked at without what comes before it.
pub(super) fn is_closed(model: &Model, dependent: bool) -> bool {
    used(model).into_iter().all(|node| match node {
        Node::Minus(_, without) => is_local(model, without, dependent),
        Node::Or(..)
        | Node::And(..)
        | Node::Seq(..)
        | Node::Inverse(_)
        | Node::Plus(_)
        | Node::Fixed(_)
        | Node::Chosen(_)
        | Node::Identity(_)
        | Node::Cross(..) => true,
    })
}

/// Whether the axioms leave out some kind of dependency.
pub(super) fn leaves_out_dependencies(model: &Model) -> bool {
    let used = used(model);
    [Fixed::Addr, Fixed::Data, Fixed::Ctrl].iter().any(|of| !used.contains(&Node::Fixed(*of)))
}

/// What the axioms use.
fn used(model: &Model) -> Vec<Node> {
    let mut open: Vec<NodeId> = model.axioms.iter().map(|axiom| axiom.constraint.node()).collect();
    let (mut seen, mut used) = (BTreeSet::new(), Vec::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = model.node(id);
        match node {
            Node::Or(a, b) | Node::And(a, b) | Node::Seq(a, b) | Node::Minus(a, b) => {
                open.extend([a, b]);
            }
            Node::Inverse(of) | Node::Plus(of) => open.push(of),
            Node::Fixed(_) | Node::Chosen(_) | Node::Identity(_) | Node::Cross(..) => {}
        }
        used.push(node);
    }
    used
}

/// Whether (a, b) being related depends on a and b only.
fn is_local(model: &Model, node: NodeId, dependent: bool) -> bool {
    let both = |a, b| is_local(model, a, dependent) && is_local(model, b, dependent);
    match model.node(node) {
        Node::Fixed(Fixed::Addr | Fixed::Data | Fixed::Ctrl) => dependent,
        // A set of events before or after another relation.
        Node::Seq(a, b) => {
            let is_set = |of| matches!(model.node(of), Node::Identity(_));
            (is_set(a) || is_set(b)) && both(a, b)
        }
        // It is transitive.
        Node::Plus(of) => model.node(of) == Node::Chosen(Chosen::Co),
        Node::Fixed(_) | Node::Chosen(_) | Node::Identity(_) | Node::Cross(..) => true,
        Node::Or(a, b) | Node::And(a, b) | Node::Minus(a, b) => both(a, b),
        Node::Inverse(of) => is_local(model, of, dependent),
    }
}
