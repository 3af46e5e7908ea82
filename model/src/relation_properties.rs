//! Syntactic properties of relations.
//!
//! The answers are sound but not complete: `false` means that the form does not show the property.

use crate::given::{Chosen, Fixed, Tag};
use crate::rel::{Model, Node, NodeId, Order, SetNode};

impl Model {
    /// Whether no chosen relation takes part in `node`.
    pub fn is_fixed(&self, node: NodeId) -> bool {
        self.fixed_nodes()[usize::from(node.0)]
    }

    /// The same of every node.
    pub(crate) fn fixed_nodes(&self) -> Vec<bool> {
        self.each(self.nodes.len(), |_, node, known| match node {
            Node::Fixed(_) | Node::Identity(_) | Node::Cross(..) => true,
            Node::Chosen(_) => false,
            Node::Or(a, b) | Node::And(a, b) | Node::Minus(a, b) | Node::Seq(a, b) => {
                known(a) && known(b)
            }
            Node::Inverse(a) | Node::Plus(a) => known(a),
        })
    }

    /// Whether axioms use `co` or `fr`, and none demands that `co` orders two writes: a smaller `co` then keeps every axiom
    /// that a larger one keeps.
    pub fn leaves_co_open(&self) -> bool {
        // For each node, whether more of it may break an axiom, and whether less of it may.
        let mut breaks = vec![[false; 2]; self.nodes.len()];
        for axiom in &self.axioms {
            breaks[usize::from(axiom.constraint.node().0)][0] = true;
        }
        let mut used = [false; 2];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let [more, less] = breaks[index];
            let mut pass = |of: NodeId, [more, less]: [bool; 2]| {
                let known = &mut breaks[usize::from(of.0)];
                *known = [known[0] | more, known[1] | less];
            };
            match *node {
                Node::Chosen(Chosen::Co | Chosen::Fr) => used = [used[0] | more, used[1] | less],
                Node::Chosen(Chosen::Rf | Chosen::Fsc)
                | Node::Fixed(_)
                | Node::Identity(_)
                | Node::Cross(..) => {}
                Node::Or(a, b) | Node::And(a, b) | Node::Seq(a, b) => {
                    pass(a, [more, less]);
                    pass(b, [more, less]);
                }
                Node::Minus(a, b) => {
                    pass(a, [more, less]);
                    pass(b, [less, more]);
                }
                Node::Inverse(a) | Node::Plus(a) => pass(a, [more, less]),
            }
        }
        let ordered = |order: &Order| order.chosen == Chosen::Co && !self.is_empty(order.relates);
        used == [true, false] && !self.orders.iter().any(ordered)
    }

    /// Whether `node` relates nothing, as its form shows.
    fn is_empty(&self, node: NodeId) -> bool {
        self.each_up_to(node, |model, node, known| match node {
            Node::Identity(set) => model.sets[usize::from(set.0)] == SetNode::Empty,
            Node::Cross(a, b) => {
                [a, b].iter().any(|set| model.sets[usize::from(set.0)] == SetNode::Empty)
            }
            Node::Fixed(_) | Node::Chosen(_) => false,
            Node::Or(a, b) => known(a) && known(b),
            Node::And(a, b) | Node::Seq(a, b) => known(a) || known(b),
            Node::Minus(a, _) | Node::Inverse(a) | Node::Plus(a) => known(a),
        })
    }

    /// Whether `node` relates both ways whatever it relates.
    pub fn is_symmetric(&self, node: NodeId) -> bool {
        self.each_up_to(node, |model, node, known| match node {
            Node::Fixed(fixed) => match fixed {
                Fixed::SameCta
                | Fixed::SameCluster
                | Fixed::SameGpu
                | Fixed::Overlap
                | Fixed::OverlapCompletely
                | Fixed::LocationOverlap
                | Fixed::LocationOverlapCompletely
                | Fixed::SameObject
                | Fixed::LaterPhase
                | Fixed::Remote => true,
                Fixed::Po
                | Fixed::Rmw
                | Fixed::Addr
                | Fixed::Data
                | Fixed::Ctrl
                | Fixed::Barrier
                | Fixed::ClusterBarrier
                | Fixed::Exited
                | Fixed::Awaited
                | Fixed::Issue
                | Fixed::Operation
                | Fixed::GroupWait
                | Fixed::Phase
                | Fixed::ObjectOrder
                | Fixed::Tracked
                | Fixed::TrackedElsewhere
                | Fixed::KernelOrder
                | Fixed::Trigger
                | Fixed::LaterTrigger
                | Fixed::ImplicitTrigger
                | Fixed::ExitTrigger
                | Fixed::Covers
                | Fixed::NextPhase
                | Fixed::Meets
                | Fixed::OwnerCta
                | Fixed::TensorBehind
                | Fixed::TensorPipeline => false,
            },
            Node::Chosen(_) => false,
            Node::Identity(_) => true,
            Node::Cross(from, to) => from == to,
            Node::Or(a, b) | Node::And(a, b) => known(a) && known(b) || model.are_inverse(a, b),
            Node::Minus(a, b) => known(a) && known(b),
            // `r ; r^-1`, and `[S] ; r ; [S]` with a symmetric r.
            Node::Seq(a, b) => {
                let ends = |first, last| first == last && known(first);
                model.are_inverse(a, b)
                    || matches!(model.node(a), Node::Seq(first, middle) if ends(first, b) && known(middle))
                    || matches!(model.node(b), Node::Seq(middle, last) if ends(a, last) && known(middle))
            }
            Node::Inverse(a) | Node::Plus(a) => known(a),
        })
    }

    /// Whether `node` relates nothing to itself.
    pub fn is_irreflexive(&self, node: NodeId) -> bool {
        self.each_up_to(node, |model, node, known| match node {
            Node::Fixed(_) | Node::Chosen(_) | Node::Cross(..) | Node::Plus(_) => false,
            Node::Identity(set) => model.sets[usize::from(set.0)] == SetNode::Empty,
            Node::Or(a, b) => known(a) && known(b),
            Node::And(a, b) => known(a) || known(b),
            Node::Minus(a, b) => known(a) || model.is_identity(b),
            // Going through an identity leaves out pairs and adds none.
            Node::Seq(a, b) => {
                let identity = |id| matches!(model.node(id), Node::Identity(_));
                identity(a) && known(b) || identity(b) && known(a)
            }
            Node::Inverse(a) => known(a),
        })
    }

    /// Whether `node` is the identity on all events, as it is written in `r?`.
    pub fn is_identity(&self, node: NodeId) -> bool {
        matches!(self.node(node), Node::Identity(set)
            if self.sets[usize::from(set.0)] == SetNode::Tag(Tag::All))
    }

    fn are_inverse(&self, a: NodeId, b: NodeId) -> bool {
        self.node(a) == Node::Inverse(b) || self.node(b) == Node::Inverse(a)
    }

    fn each_up_to(
        &self,
        last: NodeId,
        test: impl Fn(&Model, Node, &dyn Fn(NodeId) -> bool) -> bool,
    ) -> bool {
        self.each(usize::from(last.0) + 1, test)[usize::from(last.0)]
    }

    /// The answers for the first `count` nodes; operands stand before their use.
    fn each(
        &self,
        count: usize,
        test: impl Fn(&Model, Node, &dyn Fn(NodeId) -> bool) -> bool,
    ) -> Vec<bool> {
        let mut answers: Vec<bool> = Vec::with_capacity(count);
        for &node in &self.nodes[..count] {
            let answer = test(self, node, &|id: NodeId| answers[usize::from(id.0)]);
            answers.push(answer);
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use crate::given::Chosen;

    #[test]
    fn the_orders_of_the_model_are_seen_to_be_symmetric() {
        let model = crate::ptx::model();
        for order in &model.orders {
            assert!(model.is_fixed(order.relates));
            assert!(model.is_symmetric(order.relates));
            assert!(model.is_irreflexive(order.relates));
        }
        let causality = model.axiom("Causality").expect("the model has it").constraint.node();
        assert!(!model.is_fixed(causality) && !model.is_symmetric(causality));
        assert!(model.order(Chosen::Rf).is_none());
    }

    #[test]
    fn the_model_is_small_and_each_term_is_defined_once() {
        let model = crate::ptx::model();
        assert!(model.nodes.len() < 480, "{} nodes", model.nodes.len());
        let mut names: Vec<&str> = model.definitions.iter().map(|d| d.name.as_str()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
