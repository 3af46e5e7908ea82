//! Checks whether a search by least orders and partial candidates is sound for a model.

use model::given::Chosen;
use model::rel::{Constraint, Model, Node, NodeId};

/// How a node changes with the chosen relations.
#[derive(Clone, Copy)]
struct Growth {
    /// Whether it only grows with them.
    grows: bool,
    /// Whether it only shrinks with them.
    shrinks: bool,
}

fn facts(model: &Model) -> Vec<Growth> {
    let mut facts: Vec<Growth> = Vec::with_capacity(model.nodes.len());
    for node in &model.nodes {
        let at = |id: NodeId| facts[usize::from(id.0)];
        facts.push(match *node {
            Node::Fixed(_) | Node::Identity(_) | Node::Cross(..) => {
                Growth { grows: true, shrinks: true }
            }
            Node::Chosen(_) => Growth { grows: true, shrinks: false },
            Node::Or(a, b) | Node::And(a, b) | Node::Seq(a, b) => Growth {
                grows: at(a).grows && at(b).grows,
                shrinks: at(a).shrinks && at(b).shrinks,
            },
            Node::Minus(a, b) => Growth {
                grows: at(a).grows && at(b).shrinks,
                shrinks: at(a).shrinks && at(b).grows,
            },
            Node::Inverse(a) | Node::Plus(a) => at(a),
        });
    }
    facts
}

/// Whether a node of the model only loses pairs as more is chosen.
pub fn shrinks_with_choice(model: &Model, node: NodeId) -> bool {
    facts(model)[usize::from(node.0)].shrinks
}

/// Whether a model is one of those for which the least coherence order is enough and a broken
/// candidate stays broken however it is completed: every axiom grows with what is chosen, but for
/// axioms of the form "empty X - co" and "empty X - fence-sc".
pub fn grows_with_choice(model: &Model) -> bool {
    const CO: u8 = 1 << Chosen::Co as u8 | 1 << Chosen::Fr as u8;
    let (facts, dependences) = (facts(model), model.dependences());
    let at = |id: NodeId| (dependences[usize::from(id.0)], facts[usize::from(id.0)].grows);
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
