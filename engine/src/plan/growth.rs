//! Checks whether a search by least orders and partial candidates is sound for a model.

use model::given::Chosen;
use model::rel::{Constraint, Model, Node, NodeId};

/// Whether a model is one of those for which the least coherence order is enough and a broken
/// candidate stays broken however it is completed: every axiom grows with what is chosen, but for
/// axioms of the form "empty X - co" and "empty X - fence-sc".
pub fn grows_with_choice(model: &Model) -> bool {
    const CO: u8 = 1 << Chosen::Co as u8 | 1 << Chosen::Fr as u8;
    // For each node: the chosen relations it depends on, and whether it only grows with them.
    let mut facts: Vec<(u8, bool)> = Vec::with_capacity(model.nodes.len());
    for node in &model.nodes {
        let at = |id: NodeId| facts[usize::from(id.0)];
        facts.push(match *node {
            Node::Fixed(_) | Node::Identity(_) | Node::Cross(..) => (0, true),
            Node::Chosen(chosen) => (1 << chosen as u8, true),
            Node::Or(a, b) | Node::And(a, b) | Node::Seq(a, b) => {
                (at(a).0 | at(b).0, at(a).1 && at(b).1)
            }
            Node::Minus(a, b) => (at(a).0 | at(b).0, at(a).1 && at(b).0 == 0),
            Node::Inverse(a) | Node::Plus(a) => at(a),
        });
    }
    let at = |id: NodeId| facts[usize::from(id.0)];
    model.axioms.iter().all(|axiom| {
        let node = axiom.constraint.node();
        if at(node).1 {
            return true;
        }
        let (Constraint::Empty(_), Node::Minus(a, b)) = (axiom.constraint, model.node(node)) else {
            return false;
        };
        let (depends, grows) = at(a);
        grows
            && match model.node(b) {
                Node::Chosen(Chosen::Co) => depends & CO == 0,
                Node::Chosen(Chosen::Fsc) => true,
                Node::Chosen(Chosen::Rf | Chosen::Fr)
                | Node::Fixed(_)
                | Node::Identity(_)
                | Node::Cross(..)
                | Node::Or(..)
                | Node::And(..)
                | Node::Minus(..)
                | Node::Seq(..)
                | Node::Inverse(_)
                | Node::Plus(_) => false,
            }
    })
}
