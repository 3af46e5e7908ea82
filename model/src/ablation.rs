//! A model without one of its rules, to show whether a test needs the rule.
//!
//! The pairs that an order directs are not removed: an order that directs fewer pairs changes the set of
//! executions instead of weakening a requirement.

use std::collections::BTreeMap;

use crate::given::Tag;
use crate::rel::{DefinitionBody, FlagMeaning, Model, Node, NodeId, SetId, SetNode};
use crate::render::CatNames;

/// The model without each axiom, without each flag that means undefined, and without each side of
/// each union that a rule uses, with the name of what is missing.
pub fn ablations(model: &Model) -> Vec<(String, Model)> {
    let mut all = Vec::new();
    let model = &model.with_every_iteration();
    for index in 0..model.axioms.len() {
        let mut without = model.clone();
        let axiom = without.axioms.remove(index);
        all.push((format!("axiom {}", axiom.name), without));
    }
    for (index, flag) in model.flags.iter().enumerate() {
        if matches!(flag.meaning, FlagMeaning::Undefined(_)) {
            let mut without = model.clone();
            without.flags.remove(index);
            all.push((format!("flag {}", flag.name), without));
        }
    }
    let names = CatNames::all(model);
    let owners = Owners::new(model);
    for (index, &set) in model.sets.iter().enumerate() {
        let id = SetId(u16::try_from(index).expect("a model has few sets"));
        let (SetNode::Or(a, b), Some(owner)) = (set, owners.sets.get(&id)) else { continue };
        for (missing, left) in [(b, a), (a, b)] {
            let mut without = model.clone();
            without.sets[index] = SetNode::Or(left, left);
            let (missing, whole) = (names.set(missing), names.opened_set(id));
            all.push((name(owner, &missing.inline(), &whole.inline()), without));
        }
    }
    for (index, &node) in model.nodes.iter().enumerate() {
        let id = NodeId(u16::try_from(index).expect("a model has few nodes"));
        let (Node::Or(a, b), Some(owner)) = (node, owners.nodes.get(&id)) else { continue };
        for (missing, left) in [(b, a), (a, b)] {
            let mut without = model.clone();
            without.nodes[index] = Node::Or(left, left);
            without.keep_orders_symmetric();
            let (missing, whole) = (names.node(missing), names.opened_node(id));
            all.push((name(owner, &missing.inline(), &whole.inline()), without));
        }
    }
    for (_, without) in &mut all {
        without.conventions.thin_air = without.has_thin_air();
    }
    all
}

/// The model with each set that restricts something left out, one at a time: of an intersection, a difference, a
/// product or a composition only one part, and of a closure one step. With [`ablations`], this is each clause of
/// the model.
pub fn restrictions(model: &Model) -> Vec<(String, Model)> {
    let mut all = Vec::new();
    let model = &model.with_every_iteration();
    let names = CatNames::all(model);
    let owners = Owners::new(model);
    for (index, &set) in model.sets.iter().enumerate() {
        let id = SetId(u16::try_from(index).expect("a model has few sets"));
        let Some(owner) = owners.sets.get(&id) else { continue };
        let whole = names.opened_set(id).inline();
        let parts: &[(SetId, SetId)] = match set {
            SetNode::And(a, b) => &[(b, a), (a, b)],
            SetNode::Minus(a, b) => &[(b, a)],
            SetNode::Tag(_) | SetNode::Empty | SetNode::Or(..) => &[],
        };
        for &(missing, left) in parts {
            let mut changed = model.clone();
            changed.sets[index] = SetNode::Or(left, left);
            let missing = names.set(missing).inline();
            all.push((format!("{owner}: without {missing} in {whole}"), changed));
        }
    }
    for (index, &node) in model.nodes.iter().enumerate() {
        let id = NodeId(u16::try_from(index).expect("a model has few nodes"));
        let Some(owner) = owners.nodes.get(&id) else { continue };
        let whole = names.opened_node(id).inline();
        let mut push = |what: String, to: Weakened| {
            let mut changed = model.clone();
            changed.replace(id, to);
            all.push((format!("{owner}: {what} in {whole}"), changed));
        };
        let without = |missing: NodeId| format!("without {}", names.node(missing).inline());
        match node {
            Node::And(a, b) | Node::Seq(a, b) => {
                for (missing, left) in [(b, a), (a, b)] {
                    // `[S]` alone would be another restriction instead of one less.
                    let restricts = matches!(node, Node::Seq(..))
                        && matches!(model.node(left), Node::Identity(_));
                    if !restricts {
                        push(without(missing), Weakened::Node(left));
                    }
                }
            }
            // What an order relates has no pair of an event and itself.
            Node::Minus(..) if model.orders.iter().any(|order| order.relates == id) => {}
            Node::Minus(a, b) => push(without(b), Weakened::Node(a)),
            Node::Plus(a) => push("one step".to_owned(), Weakened::Node(a)),
            Node::Cross(from, to) => {
                let every = model.sets.iter().position(|set| *set == SetNode::Tag(Tag::All));
                let every = every.map(|at| SetId(u16::try_from(at).expect("a model has few sets")));
                let every = every.expect("a model has the set of all events");
                let sides = [(from, every, to, "first"), (to, from, every, "second")];
                for (of, from, to, side) in sides.into_iter().filter(|side| side.0 != every) {
                    let of = names.set(of).inline();
                    push(format!("without the {side} {of}"), Weakened::Cross(from, to));
                }
            }
            Node::Or(a, b) => {
                for (side, other) in [(a, b), (b, a)] {
                    if matches!(model.node(side), Node::Identity(_)) && !model.is_identity(side) {
                        let of = names.node(side).inline();
                        push(format!("without {of}, any event"), Weakened::OrIdentity(other));
                    }
                }
            }
            Node::Fixed(_) | Node::Chosen(_) | Node::Identity(_) | Node::Inverse(_) => {}
        }
    }
    all
}

/// What stands in the place of a relation.
#[derive(Clone, Copy)]
enum Weakened {
    Node(NodeId),
    Cross(SetId, SetId),
    /// The union with the identity on all events.
    OrIdentity(NodeId),
}

/// The optional step of `r?` and the like would be no name without the whole.
fn name(owner: &str, missing: &str, whole: &str) -> String {
    if whole.ends_with(['?', '*']) {
        format!("{owner}: without {missing} in {whole}")
    } else {
        format!("{owner}: without {missing}")
    }
}

impl Model {
    /// The same, with iterations whose atomics change nothing listed as others are: what leaves them out is
    /// owed to the axioms together.
    #[must_use]
    pub fn with_every_iteration(&self) -> Model {
        let mut model = self.clone();
        model.conventions.silent_atomics = false;
        model
    }

    fn replace(&mut self, node: NodeId, by: Weakened) {
        let at = usize::from(node.0);
        match by {
            Weakened::Node(left) => self.nodes[at] = Node::Or(left, left),
            Weakened::Cross(from, to) => self.nodes[at] = Node::Cross(from, to),
            Weakened::OrIdentity(other) => {
                let every = self.sets.iter().position(|set| *set == SetNode::Tag(Tag::All));
                let every = SetId(u16::try_from(every.expect("it is there")).expect("few sets"));
                let identity = self.append(Node::Identity(every));
                self.nodes[at] = Node::Or(other, identity);
                // The operand stands before its use.
                let last = self.nodes.len() - 1;
                let order: Vec<usize> = std::iter::once(last).chain(0..last).collect();
                self.reorder(&order);
            }
        }
        self.keep_orders_symmetric();
    }

    /// An order relates pairs, so a union with one side missing is still meant both ways.
    fn keep_orders_symmetric(&mut self) {
        for index in 0..self.orders.len() {
            let relates = self.orders[index].relates;
            if self.is_symmetric(relates) {
                continue;
            }
            let inverse = self.append(Node::Inverse(relates));
            self.orders[index].relates = self.append(Node::Or(relates, inverse));
            self.move_fixed_first();
        }
    }

    fn append(&mut self, node: Node) -> NodeId {
        let id = NodeId(u16::try_from(self.nodes.len()).expect("a model has few nodes"));
        self.nodes.push(node);
        id
    }
}

/// For each set and relation that a rule uses, the first definition or rule that it is part of.
#[derive(Default)]
struct Owners {
    sets: BTreeMap<SetId, String>,
    nodes: BTreeMap<NodeId, String>,
}

impl Owners {
    fn new(model: &Model) -> Owners {
        let mut used = Owners::default();
        for order in &model.orders {
            used.node(model, order.relates, "");
        }
        for axiom in &model.axioms {
            used.node(model, axiom.constraint.node(), "");
        }
        for flag in &model.flags {
            used.node(model, flag.node, "");
        }
        let mut owners = Owners::default();
        for definition in &model.definitions {
            match definition.body {
                DefinitionBody::Set(set) => owners.set(model, set, &definition.name),
                DefinitionBody::Rel(node) => owners.node(model, node, &definition.name),
            }
        }
        for order in &model.orders {
            owners.node(model, order.relates, order.chosen.name());
        }
        for axiom in &model.axioms {
            owners.node(model, axiom.constraint.node(), &axiom.name);
        }
        for flag in &model.flags {
            owners.node(model, flag.node, &flag.name);
        }
        owners.sets.retain(|set, _| used.sets.contains_key(set));
        owners.nodes.retain(|node, _| used.nodes.contains_key(node));
        owners
    }

    fn set(&mut self, model: &Model, set: SetId, owner: &str) {
        let mut pending = vec![set];
        while let Some(set) = pending.pop() {
            if self.sets.contains_key(&set) {
                continue;
            }
            self.sets.insert(set, owner.to_owned());
            match model.sets[usize::from(set.0)] {
                SetNode::Tag(_) | SetNode::Empty => {}
                SetNode::Or(a, b) | SetNode::And(a, b) | SetNode::Minus(a, b) => {
                    pending.extend([a, b]);
                }
            }
        }
    }

    fn node(&mut self, model: &Model, node: NodeId, owner: &str) {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            if self.nodes.contains_key(&node) {
                continue;
            }
            self.nodes.insert(node, owner.to_owned());
            match model.node(node) {
                Node::Fixed(_) | Node::Chosen(_) => {}
                Node::Identity(set) => self.set(model, set, owner),
                Node::Cross(from, to) => {
                    self.set(model, from, owner);
                    self.set(model, to, owner);
                }
                Node::Or(a, b) | Node::And(a, b) | Node::Minus(a, b) | Node::Seq(a, b) => {
                    pending.extend([a, b]);
                }
                Node::Inverse(a) | Node::Plus(a) => pending.push(a),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_goes_missing_once_under_its_own_name() {
        let model = crate::ptx::model();
        let all = ablations(&model);
        let names: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "{:#?}", all.iter().map(|a| &a.0).collect::<Vec<_>>());
        for name in ["axiom Coherence", "flag mixed-size-race", "strong: without F"] {
            assert!(names.contains(name), "{name} is not in {names:#?}");
        }
        for (name, without) in &all {
            assert_ne!(*without, model, "{name}");
            for order in &without.orders {
                assert!(without.is_symmetric(order.relates));
                let chosen = Node::Chosen(order.chosen);
                let chosen = without.nodes.iter().position(|&node| node == chosen);
                assert!(chosen.is_none_or(|chosen| usize::from(order.relates.0) < chosen));
            }
        }
    }
    #[test]
    fn every_restriction_of_cxx_goes_missing_once_under_its_own_name() {
        let model = crate::cxx::model(crate::cxx::ReleaseSequence::Cpp20);
        let mut all = restrictions(&model);
        all.extend(ablations(&model));
        let names: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "{:#?}", all.iter().map(|a| &a.0).collect::<Vec<_>>());
        for name in [
            "po-elsewhere: without overlap in po \\ overlap",
            "sc-fences: without the second F-SC in F-SC * F-SC",
            "sc-first: without [SEQ], any event in [SEQ] | [F-SC] ; happens-before?",
            "extended-coherence: one step in ((rf | co | fr) & monotonic * monotonic)+",
        ] {
            assert!(names.contains(name), "{name} is not in {names:#?}");
        }
        for (name, without) in &all {
            for (at, &node) in without.nodes.iter().enumerate() {
                let before = |id: NodeId| usize::from(id.0) < at;
                let stand_before = match node {
                    Node::Or(a, b) | Node::And(a, b) | Node::Minus(a, b) | Node::Seq(a, b) => {
                        before(a) && before(b)
                    }
                    Node::Inverse(a) | Node::Plus(a) => before(a),
                    Node::Fixed(_) | Node::Chosen(_) | Node::Identity(_) | Node::Cross(..) => true,
                };
                assert!(stand_before, "{name}: an operand of node {at} stands after it");
            }
            for order in &without.orders {
                assert!(without.is_symmetric(order.relates) && without.is_fixed(order.relates));
            }
        }
    }
}
