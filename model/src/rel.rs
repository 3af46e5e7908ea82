//! The relational language: models as data, written with operators.
//!
//! A [`Model`] is straight-line code over sets and relations. Nodes are appended in order and
//! hash-consed, so an operand always precedes its use, and a common subexpression is one node.
//! The only recursion is closure, and there is no operator from relations to sets, so sets are known from
//! the events alone.

mod closed;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{BitAnd, BitOr, Mul, Shr, Sub};

use crate::given::{Chosen, Fixed, Tag};
use crate::reading::FailedCas;
use crate::section::Section;

/// Index into [`Model::sets`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SetId(pub u16);

/// Index into [`Model::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u16);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SetNode {
    Tag(Tag),
    Or(SetId, SetId),
    And(SetId, SetId),
    Minus(SetId, SetId),
    Empty,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Fixed(Fixed),
    Chosen(Chosen),
    Identity(SetId),
    Cross(SetId, SetId),
    Or(NodeId, NodeId),
    And(NodeId, NodeId),
    Minus(NodeId, NodeId),
    Seq(NodeId, NodeId),
    Inverse(NodeId),
    Plus(NodeId),
}

impl Node {
    /// The name of a given or chosen relation.
    pub fn primitive_name(self) -> Option<&'static str> {
        match self {
            Node::Fixed(fixed) => Some(fixed.name()),
            Node::Chosen(chosen) => Some(chosen.name()),
            Node::Identity(_)
            | Node::Cross(..)
            | Node::Or(..)
            | Node::And(..)
            | Node::Minus(..)
            | Node::Seq(..)
            | Node::Inverse(_)
            | Node::Plus(_) => None,
        }
    }
}

/// A term of the document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    pub name: String,
    /// `None` in an imported model.
    pub section: Option<Section>,
    pub body: DefinitionBody,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefinitionBody {
    Set(SetId),
    Rel(NodeId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constraint {
    Empty(NodeId),
    Irreflexive(NodeId),
    Acyclic(NodeId),
}

impl Constraint {
    pub fn node(self) -> NodeId {
        match self {
            Constraint::Empty(node) | Constraint::Irreflexive(node) | Constraint::Acyclic(node) => {
                node
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axiom {
    pub name: String,
    pub section: Option<Section>,
    pub constraint: Constraint,
}

/// An order that an execution chooses: it is acyclic and relates every pair of `relates` one way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    pub chosen: Chosen,
    pub section: Option<Section>,
    /// Symmetric, and fixed by the program.
    pub relates: NodeId,
}

/// What a raised flag means; a flag forbids nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlagMeaning {
    /// The program is outside the model, for this reason, if an execution raises the flag.
    Undefined(&'static str),
    /// Two instructions race, which leaves the program defined.
    Race,
    /// The pairs are reported with the name of the flag.
    Report,
    /// An instruction breaks a rule of the document, which this sentence tells, without consequence in the model.
    Warning(&'static str),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flag {
    pub name: String,
    pub section: Option<Section>,
    /// Raised when not empty.
    pub node: NodeId,
    pub meaning: FlagMeaning,
}

/// What a model takes a program to do, apart from its axioms.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conventions {
    /// Whether the bytes of one read may come from several writes of its extent
    /// (reading R27).
    pub tearing: bool,
    /// What a failing `cas` with release is (reading R23); the peer's writes.
    pub failed_cas: FailedCas,
    /// Whether dependencies are those of values, not of instructions (reading R13).
    pub semantic_dependencies: bool,
    /// Whether, of those, only the ones count that an example shows: to find out what the others, of
    /// which it is not decided whether they are any, come to.
    pub shown_dependencies: bool,
    /// Whether values may come out of thin air, as axioms that use no dependencies allow it (reading R13, `none`).
    /// [`Builder::finish`] says it.
    pub thin_air: bool,
    /// Whether nothing orders what a thread does before its exit with what waits for the exit (reading R49, `nothing`).
    /// [`Builder::finish`] says it.
    pub exits_order_nothing: bool,
    /// Whether `elect.sync` elects some lane of its mask, the same one each time, and not the lowest (reading B16).
    pub elects_any_lane: bool,
    /// Whether an iteration whose atomics write what is there changes nothing, as one without writes
    /// (reading R50). It takes the axioms of chapter 8 to say so.
    pub silent_atomics: bool,
    /// Whether an axiom may hold only because of events that could be left out, as a difference of relations may be smaller
    /// with more events: iterations of loops that change nothing are not left out then. [`Builder::finish`] says it.
    pub counts_iterations: bool,
    /// Whether each race counts, and not only one of different sizes or with an asynchronous operation: an iteration of a loop
    /// that may have one is not left out.
    pub races: bool,
    /// Whether each read of memory that nobody has written counts ([`crate::memory::Variable::uninitialised`]): it is an event also
    /// where one thread alone sees the memory, and an iteration of a loop that may have one is not left out.
    pub uninitialised_reads: bool,
}

/// A memory model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    pub name: String,
    pub sets: Vec<SetNode>,
    pub nodes: Vec<Node>,
    pub definitions: Vec<Definition>,
    pub orders: Vec<Order>,
    pub axioms: Vec<Axiom>,
    pub flags: Vec<Flag>,
    pub conventions: Conventions,
}

impl Model {
    /// Whether a part of an execution without asynchronous operations keeps the axioms that the execution keeps, whatever its
    /// writes depend on.
    pub fn is_closed(&self) -> bool {
        closed::is_closed(self, false)
    }

    pub(crate) fn has_thin_air(&self) -> bool {
        closed::leaves_out_dependencies(self)
    }

    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[usize::from(id.0)]
    }

    pub fn axiom(&self, name: &str) -> Option<&Axiom> {
        self.axioms.iter().find(|axiom| axiom.name.eq_ignore_ascii_case(name))
    }

    /// The definition whose body is this node.
    pub fn definition_of(&self, node: NodeId) -> Option<&Definition> {
        self.definitions.iter().find(|definition| definition.body == DefinitionBody::Rel(node))
    }

    /// The relation that has this name in the model: one that it defines, or a given or chosen one that it uses.
    pub fn relation_named(&self, name: &str) -> Option<NodeId> {
        let defined = self.definitions.iter().find_map(|definition| match definition.body {
            DefinitionBody::Rel(node) if definition.name == name => Some(node),
            DefinitionBody::Rel(_) | DefinitionBody::Set(_) => None,
        });
        defined.or_else(|| {
            let index = self.nodes.iter().position(|node| node.primitive_name() == Some(name))?;
            Some(NodeId(u16::try_from(index).expect("a model has few nodes")))
        })
    }

    /// A relation of the structure that the model does not use, added to be looked at.
    pub fn add_fixed(&mut self, name: &str) -> Option<NodeId> {
        let fixed = *Fixed::ALL.iter().find(|fixed| fixed.name() == name)?;
        self.nodes.push(Node::Fixed(fixed));
        Some(NodeId(u16::try_from(self.nodes.len() - 1).expect("a model has few nodes")))
    }

    /// The names of its relations: those that it defines, then those that it uses.
    pub fn relation_names(&self) -> impl Iterator<Item = &str> {
        let defined = self.definitions.iter().filter_map(|definition| match definition.body {
            DefinitionBody::Rel(_) => Some(definition.name.as_str()),
            DefinitionBody::Set(_) => None,
        });
        defined.chain(self.nodes.iter().filter_map(|node| node.primitive_name()))
    }

    /// Moves what the program fixes before what is chosen, so that what an order relates stands
    /// before the order, as an operand before its use.
    pub fn move_fixed_first(&mut self) {
        let fixed = self.fixed_nodes();
        let (mut order, rest): (Vec<usize>, Vec<usize>) =
            (0..self.nodes.len()).partition(|&node| fixed[node]);
        order.extend(rest);
        self.reorder(&order);
    }

    /// The same model with its nodes in this order, in which operands stand before their uses.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        let mut moved = vec![NodeId(0); self.nodes.len()];
        for (to, &from) in order.iter().enumerate() {
            moved[from] = NodeId(u16::try_from(to).expect("a model has few nodes"));
        }
        let to = |id: NodeId| moved[usize::from(id.0)];
        let node = |&from: &usize| match self.nodes[from] {
            Node::Or(a, b) => Node::Or(to(a), to(b)),
            Node::And(a, b) => Node::And(to(a), to(b)),
            Node::Minus(a, b) => Node::Minus(to(a), to(b)),
            Node::Seq(a, b) => Node::Seq(to(a), to(b)),
            Node::Inverse(a) => Node::Inverse(to(a)),
            Node::Plus(a) => Node::Plus(to(a)),
            Node::Fixed(_) | Node::Chosen(_) | Node::Identity(_) | Node::Cross(..) => {
                self.nodes[from]
            }
        };
        self.nodes = order.iter().map(node).collect();
        for definition in &mut self.definitions {
            if let DefinitionBody::Rel(node) = &mut definition.body {
                *node = to(*node);
            }
        }
        for order in &mut self.orders {
            order.relates = to(order.relates);
        }
        for axiom in &mut self.axioms {
            let (Constraint::Empty(node)
            | Constraint::Irreflexive(node)
            | Constraint::Acyclic(node)) = &mut axiom.constraint;
            *node = to(*node);
        }
        for flag in &mut self.flags {
            flag.node = to(flag.node);
        }
    }

    /// The order that constrains `chosen`.
    pub fn order(&self, chosen: Chosen) -> Option<&Order> {
        self.orders.iter().find(|order| order.chosen == chosen)
    }
}

/// Writes a model.
pub struct Builder {
    inner: RefCell<Inner>,
}

struct Inner {
    model: Model,
    known_sets: HashMap<SetNode, SetId>,
    known_nodes: HashMap<Node, NodeId>,
}

/// A set of the model being written.
#[derive(Clone, Copy)]
pub struct Set<'m> {
    builder: &'m Builder,
    pub id: SetId,
}

/// A relation of the model being written.
#[derive(Clone, Copy)]
pub struct Rel<'m> {
    builder: &'m Builder,
    pub id: NodeId,
}

impl Builder {
    pub fn new(name: &str, conventions: Conventions) -> Builder {
        Builder {
            inner: RefCell::new(Inner {
                model: Model {
                    name: name.to_owned(),
                    sets: Vec::new(),
                    nodes: Vec::new(),
                    definitions: Vec::new(),
                    orders: Vec::new(),
                    axioms: Vec::new(),
                    flags: Vec::new(),
                    conventions,
                },
                known_sets: HashMap::new(),
                known_nodes: HashMap::new(),
            }),
        }
    }

    pub fn finish(self) -> Model {
        let mut model = self.inner.into_inner().model;
        model.conventions.counts_iterations = !closed::is_closed(&model, true);
        model.conventions.thin_air = model.has_thin_air();
        let exits = |node: &Node| matches!(node, Node::Fixed(Fixed::Exited));
        model.conventions.exits_order_nothing = !model.nodes.iter().any(exits);
        model
    }

    /// Looks at what is written so far.
    pub fn look<T>(&self, at: impl FnOnce(&Model) -> T) -> T {
        at(&self.inner.borrow().model)
    }

    /// A relation that is written already.
    pub fn rel_at(&self, id: NodeId) -> Rel<'_> {
        assert!(usize::from(id.0) < self.look(|model| model.nodes.len()), "the node is written");
        Rel { builder: self, id }
    }

    fn set(&self, node: SetNode) -> Set<'_> {
        let mut inner = self.inner.borrow_mut();
        let next = SetId(u16::try_from(inner.model.sets.len()).expect("a model has few sets"));
        let id = *inner.known_sets.entry(node).or_insert(next);
        if id == next {
            inner.model.sets.push(node);
        }
        Set { builder: self, id }
    }

    fn rel(&self, node: Node) -> Rel<'_> {
        let mut inner = self.inner.borrow_mut();
        let next = NodeId(u16::try_from(inner.model.nodes.len()).expect("a model has few nodes"));
        let id = *inner.known_nodes.entry(node).or_insert(next);
        if id == next {
            inner.model.nodes.push(node);
        }
        Rel { builder: self, id }
    }

    pub fn tag(&self, tag: Tag) -> Set<'_> {
        self.set(SetNode::Tag(tag))
    }

    pub fn no_event(&self) -> Set<'_> {
        self.set(SetNode::Empty)
    }

    pub fn fixed(&self, fixed: Fixed) -> Rel<'_> {
        self.rel(Node::Fixed(fixed))
    }

    pub fn chosen(&self, chosen: Chosen) -> Rel<'_> {
        self.rel(Node::Chosen(chosen))
    }

    /// Names a relation; `body` itself is returned, to be used on.
    pub fn define<'m>(&'m self, section: Section, name: &str, body: Rel<'m>) -> Rel<'m> {
        self.name_rel(Some(section), name, body)
    }

    pub fn define_set<'m>(&'m self, section: Section, name: &str, body: Set<'m>) -> Set<'m> {
        self.name_set(Some(section), name, body)
    }

    pub fn name_rel<'m>(&'m self, section: Option<Section>, name: &str, body: Rel<'m>) -> Rel<'m> {
        let body_of = DefinitionBody::Rel(body.id);
        let definition = Definition { name: name.to_owned(), section, body: body_of };
        self.inner.borrow_mut().model.definitions.push(definition);
        body
    }

    pub fn name_set<'m>(&'m self, section: Option<Section>, name: &str, body: Set<'m>) -> Set<'m> {
        let body_of = DefinitionBody::Set(body.id);
        let definition = Definition { name: name.to_owned(), section, body: body_of };
        self.inner.borrow_mut().model.definitions.push(definition);
        body
    }

    /// Declares a chosen order, and gives it.
    pub fn order<'m>(
        &'m self,
        section: Option<Section>,
        chosen: Chosen,
        relates: Rel<'m>,
    ) -> Rel<'m> {
        self.inner.borrow_mut().model.orders.push(Order { chosen, section, relates: relates.id });
        self.chosen(chosen)
    }

    pub fn axiom(&self, section: Option<Section>, name: &str, constraint: Constraint) {
        let axiom = Axiom { name: name.to_owned(), section, constraint };
        self.inner.borrow_mut().model.axioms.push(axiom);
    }

    pub fn empty(&self, section: Section, name: &str, relation: Rel<'_>) {
        self.axiom(Some(section), name, Constraint::Empty(relation.id));
    }

    pub fn irreflexive(&self, section: Section, name: &str, relation: Rel<'_>) {
        self.axiom(Some(section), name, Constraint::Irreflexive(relation.id));
    }

    pub fn acyclic(&self, section: Section, name: &str, relation: Rel<'_>) {
        self.axiom(Some(section), name, Constraint::Acyclic(relation.id));
    }

    /// What makes a program undefined, for a reason of this name.
    pub fn undefined(&self, section: Section, name: &'static str, relation: Rel<'_>) {
        self.flag(Some(section), name, relation, FlagMeaning::Undefined(name));
    }

    pub fn flag(
        &self,
        section: Option<Section>,
        name: &str,
        relation: Rel<'_>,
        meaning: FlagMeaning,
    ) {
        let flag = Flag { name: name.to_owned(), section, node: relation.id, meaning };
        let model = &mut self.inner.borrow_mut().model;
        model.conventions.races |= flag.meaning == FlagMeaning::Undefined("data-race");
        model.flags.push(flag);
    }
}

impl<'m> Set<'m> {
    /// `[S]`, the identity on the set.
    pub fn id(self) -> Rel<'m> {
        self.builder.rel(Node::Identity(self.id))
    }
}

impl<'m> Rel<'m> {
    #[must_use]
    pub fn inverse(self) -> Rel<'m> {
        self.builder.rel(Node::Inverse(self.id))
    }

    /// One step or more.
    #[must_use]
    pub fn plus(self) -> Rel<'m> {
        self.builder.rel(Node::Plus(self.id))
    }

    /// At most one step.
    #[must_use]
    pub fn opt(self) -> Rel<'m> {
        self | self.builder.tag(Tag::All).id()
    }

    /// Any number of steps.
    #[must_use]
    pub fn star(self) -> Rel<'m> {
        self.plus().opt()
    }
}

macro_rules! operator {
    ($type:ident, $trait:ident, $method:ident, $make:ident, $node:expr, $output:ident) => {
        impl<'m> $trait for $type<'m> {
            type Output = $output<'m>;

            fn $method(self, other: $type<'m>) -> $output<'m> {
                self.builder.$make($node(self.id, other.id))
            }
        }
    };
}

operator!(Set, BitOr, bitor, set, SetNode::Or, Set);
operator!(Set, BitAnd, bitand, set, SetNode::And, Set);
operator!(Set, Sub, sub, set, SetNode::Minus, Set);
operator!(Set, Mul, mul, rel, Node::Cross, Rel);
operator!(Rel, BitOr, bitor, rel, Node::Or, Rel);
operator!(Rel, BitAnd, bitand, rel, Node::And, Rel);
operator!(Rel, Sub, sub, rel, Node::Minus, Rel);
operator!(Rel, Shr, shr, rel, Node::Seq, Rel);
