//! The names of sets and relations in a printed model.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Sign, Tree};
use crate::given::{Chosen, Fixed, Tag};
use crate::rel::{DefinitionBody, Model, Node, NodeId, SetId, SetNode};

/// Words that cannot name anything in cat.
const KEYWORDS: &[&str] = &[
    "acyclic",
    "and",
    "as",
    "begin",
    "call",
    "compat",
    "debug",
    "default",
    "do",
    "else",
    "empty",
    "end",
    "enum",
    "flag",
    "forall",
    "from",
    "fun",
    "if",
    "in",
    "include",
    "instructions",
    "irreflexive",
    "let",
    "match",
    "procedure",
    "rec",
    "show",
    "subset",
    "then",
    "try",
    "undefined_unless",
    "unshow",
    "when",
    "with",
    "yield",
];

/// The names that stand for sets and relations.
pub(crate) struct CatNames<'m> {
    model: &'m Model,
    pub(super) sets: BTreeMap<SetId, String>,
    pub(super) nodes: BTreeMap<NodeId, String>,
    taken: BTreeSet<String>,
}

impl<'m> CatNames<'m> {
    pub(super) fn new(model: &'m Model) -> CatNames<'m> {
        let given = Tag::ALL.iter().map(|tag| tag.name());
        let given = given.chain(Fixed::ALL.iter().map(|fixed| fixed.name()));
        let given = given.chain(Chosen::ALL.iter().map(|chosen| chosen.name()));
        let taken = given.chain(["id", "emptyset"]).chain(KEYWORDS.iter().copied());
        let taken = taken.map(str::to_owned).collect();
        CatNames { model, sets: BTreeMap::new(), nodes: BTreeMap::new(), taken }
    }

    /// All definitions of the model named.
    pub(crate) fn all(model: &'m Model) -> CatNames<'m> {
        let mut names = CatNames::new(model);
        for definition in &model.definitions {
            names.define(&definition.name, definition.body);
        }
        names
    }

    /// The name of a definition, and of its body from now on, unless that has one.
    pub(super) fn define(&mut self, name: &str, body: DefinitionBody) -> String {
        let name = identifier(name);
        let mut unique = name.clone();
        let mut number = 1;
        while !self.taken.insert(unique.clone()) {
            number += 1;
            unique = format!("{name}-{number}");
        }
        match body {
            DefinitionBody::Set(set) if !self.set_is_given(set) => {
                self.sets.entry(set).or_insert_with(|| unique.clone());
            }
            DefinitionBody::Rel(node) if !self.node_is_given(node) => {
                self.nodes.entry(node).or_insert_with(|| unique.clone());
            }
            DefinitionBody::Set(_) | DefinitionBody::Rel(_) => {}
        }
        unique
    }

    fn set_is_given(&self, set: SetId) -> bool {
        matches!(self.model.sets[usize::from(set.0)], SetNode::Tag(_) | SetNode::Empty)
    }

    fn node_is_given(&self, node: NodeId) -> bool {
        matches!(self.model.node(node), Node::Fixed(_) | Node::Chosen(_))
            || self.model.is_identity(node)
    }

    pub(crate) fn set(&self, id: SetId) -> Tree {
        self.sets.get(&id).map_or_else(|| self.opened_set(id), |name| Tree::Name(name.clone()))
    }

    pub(crate) fn node(&self, id: NodeId) -> Tree {
        self.nodes.get(&id).map_or_else(|| self.opened_node(id), |name| Tree::Name(name.clone()))
    }

    /// Written out, whatever its name.
    pub(crate) fn opened_set(&self, id: SetId) -> Tree {
        let chain = |sign, a, b| Tree::chain(sign, self.set(a), self.set(b));
        match self.model.sets[usize::from(id.0)] {
            SetNode::Tag(tag) => Tree::Name(tag.name().to_owned()),
            SetNode::Empty => Tree::Name("emptyset".to_owned()),
            SetNode::Or(a, b) if a == b => self.set(a),
            SetNode::Or(a, b) => chain(Sign::Or, a, b),
            SetNode::And(a, b) => chain(Sign::And, a, b),
            SetNode::Minus(a, b) => chain(Sign::Minus, a, b),
        }
    }

    pub(crate) fn opened_node(&self, id: NodeId) -> Tree {
        let chain = |sign, a, b| Tree::chain(sign, self.node(a), self.node(b));
        match self.model.node(id) {
            Node::Fixed(fixed) => Tree::Name(fixed.name().to_owned()),
            Node::Chosen(chosen) => Tree::Name(chosen.name().to_owned()),
            Node::Identity(_) if self.model.is_identity(id) => Tree::Name("id".to_owned()),
            Node::Identity(set) => Tree::Bracket(Box::new(self.set(set))),
            Node::Cross(from, to) => Tree::Chain(Sign::Cross, vec![self.set(from), self.set(to)]),
            // What an ablation leaves of a union.
            Node::Or(a, b) if a == b => self.node(a),
            Node::Or(a, b) if self.model.is_identity(b) => {
                let unnamed = !self.nodes.contains_key(&a);
                if let (Node::Plus(step), true) = (self.model.node(a), unnamed) {
                    self.node(step).postfix("*")
                } else {
                    self.node(a).postfix("?")
                }
            }
            Node::Or(a, b) => chain(Sign::Or, a, b),
            Node::And(a, b) => chain(Sign::And, a, b),
            Node::Minus(a, b) => chain(Sign::Minus, a, b),
            Node::Seq(a, b) => chain(Sign::Seq, a, b),
            Node::Inverse(a) => self.node(a).postfix("^-1"),
            Node::Plus(a) => self.node(a).postfix("+"),
        }
    }
}

/// `name` as cat can spell it.
pub(super) fn identifier(name: &str) -> String {
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let spelt: String = name.chars().map(|c| if valid(c) { c } else { '-' }).collect();
    if spelt.starts_with(|c: char| c.is_ascii_alphabetic()) { spelt } else { format!("x{spelt}") }
}
