//! An edge opened into the edges below it, along the definitions of the model.

use std::collections::HashMap;

use model::bits::{BitRel, BitRow};
use model::given::{Chosen, Fixed};
use model::rel::{Constraint, Model, Node, NodeId};
use model::section::{self, Section};
use petgraph::algo::astar;
use petgraph::graphmap::DiGraphMap;

/// Why one event is ordered before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub label: String,
    pub section: Option<Section>,
    /// Whether the pair had to be morally strong.
    pub strong: bool,
    pub kind: NodeKind,
    /// A path from `from` to `to`; empty for a base relation.
    pub steps: Vec<Edge>,
}

/// Leaves out where the document defines what is in a model that is not of the document.
pub(super) fn without_sections(edges: &mut [Edge]) {
    for edge in edges {
        edge.section = None;
        without_sections(&mut edge.steps);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Defined,
    Base,
    Chosen(Chosen),
    /// A pair that an axiom demands of an order, and that is not there.
    Missing,
}

/// What is below a pair.
struct Expansion {
    steps: Vec<Edge>,
    /// Whether conditions had to be met beyond the steps.
    guarded: bool,
    /// Whether moral strength of the pair was one of them.
    strong: bool,
}

impl Expansion {
    fn plain(steps: Vec<Edge>) -> Expansion {
        Expansion { steps, guarded: false, strong: false }
    }

    fn guarded(steps: Vec<Edge>) -> Expansion {
        Expansion { steps, guarded: true, strong: false }
    }
}

/// Opens the edges of one candidate.
pub(super) struct Opener<'a, R> {
    model: &'a Model,
    nodes: &'a [BitRel<R>],
    /// Also show definitions that add nothing.
    deep: bool,
    costs: HashMap<(NodeId, usize, usize), u32>,
}

/// Definitions that are passed over where they are one step: the step says as much.
const THIN: [&str; 4] =
    ["base-causality", "proxy-preserved-base-causality", "observation", "communication"];

/// Definitions that say which pairs count and not how one event leads to the other.
const CONDITIONS: [&str; 6] =
    ["morally-strong", "same-proxy", "scopes-include", "conflict", "includes", "inclusive"];

impl<'a, R: BitRow> Opener<'a, R> {
    pub(super) fn new(model: &'a Model, nodes: &'a [BitRel<R>], deep: bool) -> Opener<'a, R> {
        Opener { model, nodes, deep, costs: HashMap::new() }
    }

    fn has(&self, node: NodeId, x: usize, y: usize) -> bool {
        self.nodes[usize::from(node.0)].has(x, y)
    }

    /// The cycle, or the pair, that breaks a constraint: the shortest there is.
    pub(super) fn violation(&mut self, constraint: Constraint) -> Vec<Edge> {
        let node = constraint.node();
        let relation = &self.nodes[usize::from(node.0)];
        match constraint {
            Constraint::Irreflexive(_) => {
                let all: Vec<usize> =
                    (0..relation.events()).filter(|&event| relation.has(event, event)).collect();
                let best = all.into_iter().min_by_key(|&event| self.cost(node, event, event));
                best.map_or(Vec::new(), |event| self.open(node, event, event))
            }
            Constraint::Empty(_) => {
                let all: Vec<(usize, usize)> = relation.pairs().collect();
                let best = all.into_iter().min_by_key(|&(x, y)| self.cost(node, x, y));
                let Some((x, y)) = best else { return Vec::new() };
                let mut edges = self.open(node, x, y);
                if let Node::Minus(_, order) = self.model.node(node)
                    && let Node::Chosen(chosen) = self.model.node(order)
                {
                    edges.push(self.denied(order, chosen, x, y));
                }
                edges
            }
            Constraint::Acyclic(_) => {
                let cycle = shortest_cycle(relation);
                cycle.windows(2).flat_map(|pair| self.open(node, pair[0], pair[1])).collect()
            }
        }
    }

    /// How an order fails to have a pair that is demanded of it.
    fn denied(&self, order: NodeId, chosen: Chosen, x: usize, y: usize) -> Edge {
        if self.has(order, y, x) {
            return leaf(chosen, y, x);
        }
        let edge = leaf(chosen, x, y);
        Edge { label: format!("not {}", edge.label), kind: NodeKind::Missing, ..edge }
    }

    /// A path from `x` to `y` that shows why the pair is in the node; empty if `x` is `y` and the
    /// node an identity.
    pub(super) fn open(&mut self, node: NodeId, x: usize, y: usize) -> Vec<Edge> {
        let Expansion { steps: inner, guarded, strong } = self.body(node, x, y);
        let Some(definition) = self.model.definition_of(node) else { return inner };
        if inner.is_empty() && !self.deep {
            return inner;
        }
        if let [only] = inner.as_slice()
            && !self.deep
            && (only.from, only.to) == (x, y)
        {
            // One step that adds nothing to what is below it.
            if only.kind != NodeKind::Defined
                && (!guarded || THIN.contains(&definition.name.as_str()))
            {
                return vec![Edge { strong: only.strong || strong, ..only.clone() }];
            }
            if only.kind == NodeKind::Defined {
                let (steps, strong) = (only.steps.clone(), only.strong || strong);
                return vec![Self::defined(definition, x, y, steps, strong)];
            }
        }
        vec![Self::defined(definition, x, y, inner, strong)]
    }

    fn defined(
        definition: &model::rel::Definition,
        from: usize,
        to: usize,
        steps: Vec<Edge>,
        strong: bool,
    ) -> Edge {
        let (label, section) = (definition.name.clone(), definition.section);
        Edge { from, to, label, section, strong, kind: NodeKind::Defined, steps }
    }

    /// Whether moral strength is a side condition of the node itself.
    fn strong(&self, node: NodeId) -> bool {
        match self.model.node(node) {
            Node::And(a, b) => {
                [a, b].into_iter().any(|side| match self.model.definition_of(side) {
                    Some(definition) => definition.name == "morally-strong",
                    None => self.strong(side),
                })
            }
            Node::Or(..)
            | Node::Seq(..)
            | Node::Fixed(_)
            | Node::Chosen(_)
            | Node::Identity(_)
            | Node::Cross(..)
            | Node::Minus(..)
            | Node::Inverse(_)
            | Node::Plus(_) => false,
        }
    }

    /// What is below the pair in the node itself.
    fn body(&mut self, node: NodeId, x: usize, y: usize) -> Expansion {
        match self.model.node(node) {
            Node::Fixed(fixed) => Expansion::plain(vec![base(fixed, x, y)]),
            Node::Chosen(chosen) => Expansion::plain(vec![leaf(chosen, x, y)]),
            Node::Identity(_) => Expansion::plain(Vec::new()),
            Node::Cross(..) => Expansion::plain(vec![Edge {
                from: x,
                to: y,
                label: "of the kinds related".to_owned(),
                section: None,
                strong: false,
                kind: NodeKind::Base,
                steps: Vec::new(),
            }]),
            Node::Or(a, b) => {
                let side = self.cheaper(a, b, x, y);
                if self.model.definition_of(side).is_some() {
                    Expansion::plain(self.open(side, x, y))
                } else {
                    self.body(side, x, y)
                }
            }
            Node::And(a, b) => self.both(node, a, b, x, y),
            Node::Minus(a, _) => Expansion::guarded(self.open(a, x, y)),
            Node::Seq(a, b) => {
                let middles: Vec<usize> = self.nodes[usize::from(a.0)].rows[x]
                    .events()
                    .filter(|&middle| self.has(b, middle, y))
                    .collect();
                let best = middles
                    .into_iter()
                    .min_by_key(|&m| self.cost(a, x, m).saturating_add(self.cost(b, m, y)));
                let Some(middle) = best else { return Expansion::plain(Vec::new()) };
                let mut path = self.open(a, x, middle);
                path.extend(self.open(b, middle, y));
                Expansion::guarded(path)
            }
            Node::Inverse(a) => {
                let mut path = self.open(a, y, x);
                for edge in &mut path {
                    edge.label.push_str("^-1");
                    std::mem::swap(&mut edge.from, &mut edge.to);
                }
                path.reverse();
                Expansion::plain(path)
            }
            Node::Plus(a) => {
                let path = shortest_path(&self.nodes[usize::from(a.0)], x, y);
                let steps = path.windows(2).flat_map(|pair| self.open(a, pair[0], pair[1]));
                Expansion::plain(steps.collect())
            }
        }
    }

    fn both(&mut self, node: NodeId, a: NodeId, b: NodeId, x: usize, y: usize) -> Expansion {
        let (main, side) = self.main_side(a, b);
        let mut steps = if let Node::Inverse(forwards) = self.model.node(main)
            && !self.is_condition(side)
        {
            // A pair that one relation has forwards and the other backwards is a cycle.
            let mut cycle = self.open(side, x, y);
            cycle.extend(self.open(forwards, y, x));
            cycle
        } else {
            self.open(main, x, y)
        };
        let strong = self.strong(node);
        for edge in &mut steps {
            edge.strong |= strong && [(x, y), (y, x)].contains(&(edge.from, edge.to));
        }
        Expansion { steps, guarded: true, strong }
    }

    fn cheaper(&mut self, a: NodeId, b: NodeId, x: usize, y: usize) -> NodeId {
        match (self.has(a, x, y), self.has(b, x, y)) {
            (true, false) => a,
            (false, _) => b,
            (true, true) => {
                if self.cost(a, x, y) <= self.cost(b, x, y) {
                    a
                } else {
                    b
                }
            }
        }
    }

    /// The side of an intersection that leads somewhere, and the one that only has to hold.
    fn main_side(&self, a: NodeId, b: NodeId) -> (NodeId, NodeId) {
        if self.is_condition(a) && !self.is_condition(b) { (b, a) } else { (a, b) }
    }

    fn is_condition(&self, node: NodeId) -> bool {
        if let Some(definition) = self.model.definition_of(node) {
            return CONDITIONS.contains(&definition.name.as_str());
        }
        match self.model.node(node) {
            Node::Cross(..) | Node::Identity(_) => true,
            Node::Fixed(fixed) => matches!(
                fixed,
                Fixed::SameCta
                    | Fixed::SameCluster
                    | Fixed::SameGpu
                    | Fixed::Overlap
                    | Fixed::OverlapCompletely
                    | Fixed::LocationOverlap
                    | Fixed::LocationOverlapCompletely
                    | Fixed::Rmw
            ),
            Node::Or(a, b) | Node::And(a, b) | Node::Minus(a, b) => {
                self.is_condition(a) && self.is_condition(b)
            }
            Node::Inverse(a) => self.is_condition(a),
            Node::Chosen(_) | Node::Seq(..) | Node::Plus(_) => false,
        }
    }

    /// How many base edges the shortest account of the pair has, about.
    fn cost(&mut self, node: NodeId, x: usize, y: usize) -> u32 {
        const NEVER: u32 = 1 << 20;
        if !self.has(node, x, y) {
            return NEVER;
        }
        if let Some(&cost) = self.costs.get(&(node, x, y)) {
            return cost;
        }
        let cost = match self.model.node(node) {
            Node::Fixed(_) | Node::Chosen(_) | Node::Cross(..) => 1,
            Node::Identity(_) => 0,
            Node::Or(a, b) => self.cost(a, x, y).min(self.cost(b, x, y)),
            Node::And(a, b) => {
                let (main, _) = self.main_side(a, b);
                self.cost(main, x, y)
            }
            Node::Minus(a, _) => self.cost(a, x, y),
            Node::Seq(a, b) => {
                let middles: Vec<usize> = self.nodes[usize::from(a.0)].rows[x].events().collect();
                middles
                    .into_iter()
                    .map(|m| self.cost(a, x, m).saturating_add(self.cost(b, m, y)))
                    .min()
                    .unwrap_or(NEVER)
            }
            Node::Inverse(a) => self.cost(a, y, x),
            Node::Plus(a) => {
                let path = shortest_path(&self.nodes[usize::from(a.0)], x, y);
                path.windows(2).map(|pair| self.cost(a, pair[0], pair[1])).sum()
            }
        };
        self.costs.insert((node, x, y), cost);
        cost
    }
}

fn base(fixed: Fixed, from: usize, to: usize) -> Edge {
    let section = match fixed {
        Fixed::Po => Some(section::PROGRAM_ORDER),
        Fixed::Barrier | Fixed::ClusterBarrier | Fixed::KernelOrder => {
            Some(section::MEMORY_SYNCHRONIZATION)
        }
        Fixed::Addr | Fixed::Data | Fixed::Ctrl | Fixed::Exited | Fixed::Awaited => {
            Some(section::NO_THIN_AIR)
        }
        Fixed::Overlap
        | Fixed::OverlapCompletely
        | Fixed::LocationOverlap
        | Fixed::LocationOverlapCompletely => Some(section::OVERLAP),
        Fixed::SameCta | Fixed::SameCluster | Fixed::SameGpu => Some(section::SCOPE),
        Fixed::Rmw => Some(section::ATOMICITY),
        Fixed::Issue | Fixed::Operation | Fixed::GroupWait => Some(section::ASYNC_OPERATIONS),
        Fixed::Phase
        | Fixed::ObjectOrder
        | Fixed::SameObject
        | Fixed::Tracked
        | Fixed::TrackedElsewhere
        | Fixed::NextPhase
        | Fixed::LaterPhase => Some(section::MBARRIER),
        Fixed::Meets => Some(section::BAR),
        Fixed::Remote | Fixed::OwnerCta => Some(section::MAPA),
        Fixed::Covers => Some(section::MEMBAR),
        Fixed::TensorBehind => Some(section::TENSOR_SYNCHRONIZATION),
        Fixed::TensorPipeline => Some(section::TENSOR_PIPELINES),
        Fixed::Trigger | Fixed::LaterTrigger | Fixed::ImplicitTrigger | Fixed::ExitTrigger => {
            Some(section::GRIDDEPCONTROL)
        }
    };
    let label = fixed.name().to_owned();
    Edge { from, to, label, section, strong: false, kind: NodeKind::Base, steps: Vec::new() }
}

fn leaf(chosen: Chosen, from: usize, to: usize) -> Edge {
    let section = match chosen {
        Chosen::Rf | Chosen::Fr => section::COMMUNICATION_ORDER,
        Chosen::Co => section::COHERENCE_ORDER,
        Chosen::Fsc => section::FENCE_SC_ORDER,
    };
    let (label, kind) = (chosen.name().to_owned(), NodeKind::Chosen(chosen));
    Edge { from, to, label, section: Some(section), strong: false, kind, steps: Vec::new() }
}

fn graph<R: BitRow>(relation: &BitRel<R>) -> DiGraphMap<usize, ()> {
    DiGraphMap::from_edges(relation.pairs())
}

/// The events of a shortest path of one step or more, ends included.
fn shortest_path<R: BitRow>(relation: &BitRel<R>, from: usize, to: usize) -> Vec<usize> {
    if relation.has(from, to) {
        return vec![from, to];
    }
    let graph = graph(relation);
    let starts = relation.rows[from].events();
    starts
        .filter_map(|next| astar(&graph, next, |event| event == to, |_| 1u32, |_| 0))
        .min_by_key(|(length, _)| *length)
        .map_or(Vec::new(), |(_, path)| [from].into_iter().chain(path).collect())
}

/// The events of a shortest cycle, the first one again at the end.
fn shortest_cycle<R: BitRow>(relation: &BitRel<R>) -> Vec<usize> {
    (0..relation.events())
        .map(|event| shortest_path(relation, event, event))
        .filter(|path| !path.is_empty())
        .min_by_key(Vec::len)
        .unwrap_or_default()
}
