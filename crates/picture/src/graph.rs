//! The execution graph: events of a candidate execution, and the edges that a verdict rests on.

use model::program::ThreadId;
use model::scope::Placement;
use model::section::Section;
use model::value::Value;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};

/// One candidate execution with the account of it.
#[derive(Clone, Debug, Default)]
pub struct ExecutionGraph {
    /// The name of the test.
    pub name: String,
    /// What the execution shows, in one sentence without a full stop.
    pub caption: String,
    /// The axioms that the execution breaks, with their sections; empty if it keeps every axiom.
    pub broken: Vec<BrokenAxiom>,
    /// Indexed by [`ThreadId`].
    pub threads: Vec<GraphThread>,
    /// The relations of the execution come first, then the derivation: an edge before the edges that expand it.
    pub events: DiGraph<GraphEvent, GraphEdge>,
}

/// An axiom that an execution breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenAxiom {
    pub name: String,
    pub section: Option<Section>,
}

/// A thread, which is a column of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphThread {
    pub name: String,
    pub placement: Placement,
}

/// A node: an event of the execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEvent {
    /// As in the text of the explanation; `None` if the text does not name the event.
    pub letter: Option<String>,
    /// `None` for an initial write.
    pub thread: Option<ThreadId>,
    /// The index of the instruction in its thread; `None` for an initial write.
    pub line: Option<u16>,
    /// As the test writes it.
    pub instruction: String,
    /// `R`, `W`, `F` (fence), `PF` (proxy fence), `arrive`, `wait`, `init`; of the last one of a thread that never ends, such
    /// as `waits for ever`.
    pub kind: &'static str,
    /// Of the last one of a thread that never ends: the line of the file.
    pub stays_in: Option<usize>,
    /// The bytes accessed: `x`, `x+4`.
    pub location: Option<String>,
    pub value: Option<Value>,
    /// Of an operation on an mbarrier object: the phase in which it took effect, or that it saw completed. -1 is the one
    /// before the first.
    pub phase: Option<i32>,
}

/// An edge: a pair of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    /// The name of the relation in the model, or of the flag; `race` for a data race.
    pub relation: String,
    /// The section that defines the relation.
    pub section: Option<Section>,
    pub role: EdgeRole,
    /// The edge whose definition this one expands.
    pub within: Option<EdgeIndex>,
    /// Side conditions and reasons, a sentence each, without a full stop.
    pub notes: Vec<String>,
}

/// What an edge is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EdgeRole {
    /// A pair of the execution itself: `po`, `rf`, `co`, `fr`, `fence-sc`, `rmw`, `barrier`, `phase`.
    Execution,
    /// A data race, or another pair that leaves the program undefined.
    Race,
    /// An `rf` between threads that does not synchronize; its notes have the reason.
    Unsynchronized,
    /// A step of the order that an axiom requires.
    Derivation,
    /// What contradicts the derivation: with it, the derivation is a cycle.
    Refuting,
}

impl EdgeRole {
    pub const ALL: [EdgeRole; 5] = [
        EdgeRole::Execution,
        EdgeRole::Race,
        EdgeRole::Unsynchronized,
        EdgeRole::Derivation,
        EdgeRole::Refuting,
    ];

    pub fn name(self) -> &'static str {
        match self {
            EdgeRole::Execution => "execution",
            EdgeRole::Race => "race",
            EdgeRole::Unsynchronized => "unsynchronized",
            EdgeRole::Derivation => "derivation",
            EdgeRole::Refuting => "refuting",
        }
    }
}

impl GraphEvent {
    /// What the event does: `W x = 1`; nothing for a fence.
    pub fn effect(&self) -> String {
        effect(self.kind, self.location.as_deref(), self.value, self.phase)
    }

    /// The letter and the effect, or what kind of event it is.
    pub fn headline(&self) -> String {
        let effect = self.effect();
        let place = self.stays_in.map_or(String::new(), |line| format!(" in line {line}"));
        let effect = if effect.is_empty() { format!("{}{place}", self.kind) } else { effect };
        match &self.letter {
            Some(letter) => format!("{letter}  {effect}"),
            None => effect,
        }
    }
}

/// What an event of a kind does to a location, with a value or a phase: `W x = 1`, `arrive b, phase 0`; nothing without a
/// location.
pub fn effect(
    kind: &str,
    location: Option<&str>,
    value: Option<Value>,
    phase: Option<i32>,
) -> String {
    match (location, value, phase) {
        (Some(location), Some(value), _) => {
            let kind = if kind == "init" { "W" } else { kind };
            format!("{kind} {location} = {}", number(value))
        }
        (Some(location), None, Some(phase)) => format!("{kind} {location}, phase {phase}"),
        (Some(location), None, None) => format!("{kind} {location}"),
        (None, ..) => String::new(),
    }
}

/// Large values are patterns of bytes, and those of more than 64 bits words of 32.
pub fn number(value: Value) -> String {
    if value > u64::MAX.into() {
        let words: Vec<String> =
            (0..4).map(|word| number(value >> (32 * word) & 0xffff_ffff)).collect();
        return format!("{{{}}}", words.join(", "));
    }
    if value > 0xffff { format!("{value:#x}") } else { value.to_string() }
}

impl ExecutionGraph {
    /// The events of a thread in program order.
    pub fn of_thread(&self, thread: usize) -> impl Iterator<Item = NodeIndex> + '_ {
        self.events.node_indices().filter(move |&event| {
            self.events[event].thread.is_some_and(|of| usize::from(of.0) == thread)
        })
    }

    /// A name for an event in text: its letter, or thread and effect.
    pub fn named(&self, event: NodeIndex) -> String {
        let of = &self.events[event];
        match (&of.letter, of.thread) {
            (Some(letter), _) => letter.clone(),
            (None, None) => format!("initial {}", of.effect()),
            (None, Some(thread)) => {
                format!("{}: {}", self.threads[usize::from(thread.0)].name, of.headline())
            }
        }
    }

    /// One edge in words: `b → c synchronizes (8.9.4): morally strong: …`.
    pub fn edge_text(&self, edge: EdgeIndex) -> String {
        let of = &self.events[edge];
        let Some((from, to)) = self.events.edge_endpoints(edge) else { return String::new() };
        let section = of.section.map_or(String::new(), |section| format!(" ({})", section.number));
        let what = format!("{} → {} {}{section}", self.named(from), self.named(to), of.relation);
        let notes = of.notes.iter().map(String::as_str);
        std::iter::once(&*what).chain(notes).collect::<Vec<&str>>().join(": ")
    }

    /// The edges that expand the definition of this one, or the steps of the derivation.
    pub fn steps(&self, of: Option<EdgeIndex>) -> impl Iterator<Item = EdgeIndex> + '_ {
        self.events.edge_indices().filter(move |&edge| {
            let edge = &self.events[edge];
            let derives = matches!(edge.role, EdgeRole::Derivation | EdgeRole::Refuting);
            derives && edge.within == of
        })
    }

    /// The axioms that are broken, in words.
    pub fn broken_text(&self) -> String {
        let names: Vec<String> = self
            .broken
            .iter()
            .map(|axiom| match axiom.section {
                Some(section) => format!("{} ({})", axiom.name, section.number),
                None => axiom.name.clone(),
            })
            .collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}
