//! The operations of an engine on relations, and the only loop that evaluates a model with them.

use crate::bits::{self, BitRel, BitRow};
use crate::given::{Chosen, Fixed, Tag};
use crate::rel::{Constraint, Model, Node, NodeId, SetId, SetNode};

/// Ten operations. Whoever supplies them can run every model.
pub trait Algebra {
    type Rel;

    fn fixed(&mut self, fixed: Fixed) -> Self::Rel;
    fn chosen(&mut self, chosen: Chosen) -> Self::Rel;
    fn identity(&mut self, set: SetId) -> Self::Rel;
    fn cross(&mut self, from: SetId, to: SetId) -> Self::Rel;
    fn or(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel;
    fn and(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel;
    fn minus(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel;
    fn seq(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel;
    fn inverse(&mut self, a: &Self::Rel) -> Self::Rel;
    fn plus(&mut self, a: &Self::Rel) -> Self::Rel;
}

impl Model {
    /// The value of every node, in order.
    pub fn eval<A: Algebra>(&self, algebra: &mut A) -> Vec<A::Rel> {
        let mut values: Vec<A::Rel> = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            values.push(node.eval(algebra, &values));
        }
        values
    }

    /// The chosen relations that each node depends on, in the order of the nodes: bit `chosen as u8` for each.
    pub fn dependences(&self) -> Vec<u8> {
        let mut all: Vec<u8> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let at = |id: NodeId| all[usize::from(id.0)];
            all.push(match *node {
                Node::Fixed(_) | Node::Identity(_) | Node::Cross(..) => 0,
                Node::Chosen(chosen) => 1 << chosen as u8,
                Node::Or(a, b) | Node::And(a, b) | Node::Seq(a, b) | Node::Minus(a, b) => {
                    at(a) | at(b)
                }
                Node::Inverse(a) | Node::Plus(a) => at(a),
            });
        }
        all
    }

    /// The value of every set, in order.
    pub fn eval_sets<R: BitRow>(&self, tag: impl Fn(Tag) -> R) -> Vec<R> {
        let mut values: Vec<R> = Vec::with_capacity(self.sets.len());
        for &set in &self.sets {
            let at = |id: SetId| values[usize::from(id.0)];
            let value = match set {
                SetNode::Tag(name) => tag(name),
                SetNode::Or(a, b) => at(a).or(at(b)),
                SetNode::And(a, b) => at(a).and(at(b)),
                SetNode::Minus(a, b) => at(a).minus(at(b)),
                SetNode::Empty => R::default(),
            };
            values.push(value);
        }
        values
    }
}

impl Node {
    /// Its value, given those of the nodes before it.
    pub fn eval<A: Algebra>(self, algebra: &mut A, before: &[A::Rel]) -> A::Rel {
        let at = |id: NodeId| &before[usize::from(id.0)];
        match self {
            Node::Fixed(fixed) => algebra.fixed(fixed),
            Node::Chosen(chosen) => algebra.chosen(chosen),
            Node::Identity(set) => algebra.identity(set),
            Node::Cross(from, to) => algebra.cross(from, to),
            Node::Or(a, b) => algebra.or(at(a), at(b)),
            Node::And(a, b) => algebra.and(at(a), at(b)),
            Node::Minus(a, b) => algebra.minus(at(a), at(b)),
            Node::Seq(a, b) => algebra.seq(at(a), at(b)),
            Node::Inverse(a) => algebra.inverse(at(a)),
            Node::Plus(a) => algebra.plus(at(a)),
        }
    }
}

impl Constraint {
    /// Whether it holds of a candidate, given the value of every node.
    pub fn holds<R: BitRow>(self, nodes: &[BitRel<R>]) -> bool {
        let rows = &nodes[usize::from(self.node().0)].rows;
        match self {
            Constraint::Empty(_) => bits::is_empty(rows),
            Constraint::Irreflexive(_) => bits::is_irreflexive(rows),
            Constraint::Acyclic(_) => bits::is_acyclic(rows),
        }
    }
}
