//! The object of `explain --format json`.

use judge::explain::Explanation;
use litmus::Test;
use petgraph::graph::{EdgeIndex, NodeIndex};
use picture::graph::{ExecutionGraph, GraphEdge, GraphEvent};
use schemars::JsonSchema;
use serde::Serialize;

/// What is explained.
pub struct ExplainedTest<'a> {
    /// As the user writes it.
    pub path: &'a str,
    pub test: &'a Test,
    /// The text of the file.
    pub source: &'a str,
    /// The name of the model.
    pub model: &'a str,
    pub explanation: &'a Explanation,
}

/// The explanation of a litmus test.
#[derive(Serialize, JsonSchema)]
pub struct ExplainObject<'a> {
    file: &'a str,
    name: &'a str,
    /// The name of the model.
    model: &'a str,
    /// `null` for a test with an instruction that the model does not cover.
    verdict: Option<&'static str>,
    /// As `--format text` prints it.
    text: &'a str,
    /// One graph for each candidate that the text shows.
    graphs: Vec<GraphObject<'a>>,
}

/// A candidate execution.
#[derive(Serialize, JsonSchema)]
struct GraphObject<'a> {
    caption: &'a str,
    /// The axioms that the candidate breaks.
    broken: Vec<AxiomObject<'a>>,
    threads: Vec<ThreadObject<'a>>,
    events: Vec<EventObject<'a>>,
    edges: Vec<EdgeObject<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct AxiomObject<'a> {
    name: &'a str,
    section: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct ThreadObject<'a> {
    name: &'a str,
    gpu: u32,
    cluster: Option<u32>,
    cta: u32,
    warp: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct EventObject<'a> {
    /// Its letter in the text; `null` if the text does not name it.
    letter: Option<&'a str>,
    /// An index of `threads`; `null` for an initial write.
    thread: Option<u8>,
    /// The index of the instruction in its thread; `null` for an initial write.
    line: Option<u16>,
    instruction: &'a str,
    /// `R`, `W`, `F`, `PF`, `arrive`, `wait` or `init`; others in words.
    kind: &'static str,
    /// Of the last event of a thread that never ends: its line in the file, from 1.
    stays_in: Option<usize>,
    /// The bytes accessed, such as `x+4`.
    location: Option<&'a str>,
    /// In decimal.
    value: Option<String>,
    /// Of an operation on an mbarrier object.
    phase: Option<i32>,
}

#[derive(Serialize, JsonSchema)]
struct EdgeObject<'a> {
    /// An index of `events`.
    from: usize,
    /// An index of `events`.
    to: usize,
    relation: &'a str,
    section: Option<&'static str>,
    /// `execution`, `race`, `unsynchronized`, `derivation` or `refuting`.
    role: &'static str,
    /// The index in `edges` of the edge whose definition this one expands.
    within: Option<usize>,
    notes: &'a [String],
}

impl<'a> ExplainObject<'a> {
    pub fn new(of: &ExplainedTest<'a>) -> ExplainObject<'a> {
        let explanation = of.explanation;
        ExplainObject {
            file: of.path,
            name: &of.test.name,
            model: of.model,
            verdict: explanation.judgement.as_ref().map(|judgement| judgement.verdict.name()),
            text: &explanation.text,
            graphs: explanation.graphs.iter().map(graph).collect(),
        }
    }
}

fn graph(of: &ExecutionGraph) -> GraphObject<'_> {
    let axiom =
        |axiom: &'_ picture::graph::BrokenAxiom| axiom.section.map(|section| section.number);
    GraphObject {
        caption: &of.caption,
        broken: of
            .broken
            .iter()
            .map(|broken| AxiomObject { name: &broken.name, section: axiom(broken) })
            .collect(),
        threads: of
            .threads
            .iter()
            .map(|thread| ThreadObject {
                name: &thread.name,
                gpu: thread.placement.gpu,
                cluster: thread.placement.cluster,
                cta: thread.placement.cta,
                warp: thread.placement.warp,
            })
            .collect(),
        events: of.events.node_weights().map(event).collect(),
        edges: of
            .events
            .edge_indices()
            .filter_map(|index| {
                let ends = of.events.edge_endpoints(index)?;
                Some(edge(&of.events[index], ends))
            })
            .collect(),
    }
}

fn event(of: &GraphEvent) -> EventObject<'_> {
    EventObject {
        letter: of.letter.as_deref(),
        thread: of.thread.map(|thread| thread.0),
        line: of.line,
        instruction: &of.instruction,
        kind: of.kind,
        stays_in: of.stays_in,
        location: of.location.as_deref(),
        value: of.value.map(|value| value.to_string()),
        phase: of.phase,
    }
}

fn edge(of: &GraphEdge, (from, to): (NodeIndex, NodeIndex)) -> EdgeObject<'_> {
    EdgeObject {
        from: from.index(),
        to: to.index(),
        relation: &of.relation,
        section: of.section.map(|section| section.number),
        role: of.role.name(),
        within: of.within.map(EdgeIndex::index),
        notes: &of.notes,
    }
}
