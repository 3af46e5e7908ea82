//! Models compared as they are written.

use std::collections::BTreeMap;

use model::rel::{Constraint, DefinitionBody, Model, Node, NodeId, SetId, SetNode};

/// Numbers for the sets and relations of several models: those that are written alike have one.
#[derive(Default)]
pub(crate) struct Written(BTreeMap<String, usize>);

impl Written {
    fn number(&mut self, key: String) -> usize {
        let next = self.0.len();
        *self.0.entry(key).or_insert(next)
    }

    pub(crate) fn model(&mut self, model: &Model) -> Vec<String> {
        let mut sets: Vec<usize> = Vec::new();
        for set in &model.sets {
            let at = |id: SetId| sets[usize::from(id.0)];
            let key = match *set {
                SetNode::Tag(tag) => format!("{tag}"),
                SetNode::Empty => "empty".to_owned(),
                SetNode::Or(a, b) if a == b => {
                    sets.push(at(a));
                    continue;
                }
                SetNode::Or(a, b) => format!("set {} | {}", at(a), at(b)),
                SetNode::And(a, b) => format!("set {} & {}", at(a), at(b)),
                SetNode::Minus(a, b) => format!("set {} \\ {}", at(a), at(b)),
            };
            sets.push(self.number(key));
        }
        let mut nodes: Vec<usize> = Vec::new();
        for node in &model.nodes {
            let at = |id: NodeId| nodes[usize::from(id.0)];
            let set = |id: SetId| sets[usize::from(id.0)];
            let key = match *node {
                Node::Fixed(fixed) => format!("{fixed}"),
                Node::Chosen(chosen) => format!("{chosen}"),
                Node::Identity(of) => format!("[{}]", set(of)),
                Node::Cross(a, b) => format!("{} * {}", set(a), set(b)),
                Node::Or(a, b) if a == b => {
                    nodes.push(at(a));
                    continue;
                }
                Node::Or(a, b) => format!("{} | {}", at(a), at(b)),
                Node::And(a, b) => format!("{} & {}", at(a), at(b)),
                Node::Minus(a, b) => format!("{} \\ {}", at(a), at(b)),
                Node::Seq(a, b) => format!("{} ; {}", at(a), at(b)),
                Node::Inverse(a) => format!("{}^-1", at(a)),
                Node::Plus(a) => format!("{}+", at(a)),
            };
            nodes.push(self.number(key));
        }
        let at = |id: NodeId| nodes[usize::from(id.0)];
        let mut lines = vec![format!("{} {:?}", model.name, model.conventions)];
        lines.extend(model.definitions.iter().map(|definition| match definition.body {
            DefinitionBody::Set(set) => {
                format!("{} = set {}", definition.name, sets[usize::from(set.0)])
            }
            DefinitionBody::Rel(node) => format!("{} = {}", definition.name, at(node)),
        }));
        let orders = model.orders.iter();
        lines.extend(orders.map(|order| format!("{} relates {}", order.chosen, at(order.relates))));
        lines.extend(model.axioms.iter().map(|axiom| {
            let test = match axiom.constraint {
                Constraint::Empty(_) => "empty",
                Constraint::Irreflexive(_) => "irreflexive",
                Constraint::Acyclic(_) => "acyclic",
            };
            format!("{}: {test} {}", axiom.name, at(axiom.constraint.node()))
        }));
        lines.extend(
            model
                .flags
                .iter()
                .map(|flag| format!("{}: {:?} {}", flag.name, flag.meaning, at(flag.node))),
        );
        lines
    }
}
