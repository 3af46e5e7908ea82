//! Which edges of a graph are drawn, and how edges of one pair are drawn as one.

use model::section;
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::graph::{EdgeRole, ExecutionGraph};

/// A line of the picture: all edges from one event to another.
#[derive(Clone, Debug)]
pub(crate) struct DrawnEdge {
    pub(crate) from: NodeIndex,
    pub(crate) to: NodeIndex,
    /// Relations; empty for program order that nothing rests on.
    pub(crate) labels: Vec<String>,
    pub(crate) role: EdgeRole,
    /// Whether it only expands another line.
    pub(crate) supports: bool,
    /// Whether it has an arrow at both ends, or none.
    pub(crate) shape: ArrowShape,
    pub(crate) of: Vec<EdgeIndex>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArrowShape {
    Forward,
    Both,
    /// The read and the write of one atomic.
    Tie,
}

/// The events that are drawn: those of threads, and the initial writes that the explanation names.
pub(crate) fn is_drawn(graph: &ExecutionGraph, event: NodeIndex) -> bool {
    let of = &graph.events[event];
    of.thread.is_some() || of.letter.is_some()
}

/// The lines of the picture: what the verdict rests on comes first.
pub(crate) fn lines(graph: &ExecutionGraph) -> Vec<DrawnEdge> {
    let mut lines = Vec::new();
    for edge in graph.steps(None) {
        derivation(graph, edge, false, &mut lines);
    }
    let mut supporting = lines.split_off(0);
    // What only expands a line comes after all lines of the derivation.
    supporting.sort_by_key(|line| (line.role != EdgeRole::Refuting, line.supports));
    for line in supporting {
        add(&mut lines, line);
    }
    let derives = !lines.is_empty();
    let mut races = Vec::new();
    for edge in graph.events.edge_references() {
        let of = edge.weight();
        let shape = match of.role {
            EdgeRole::Derivation | EdgeRole::Refuting => continue,
            EdgeRole::Race => {
                races.push((edge.source(), edge.target(), edge.id()));
                continue;
            }
            EdgeRole::Unsynchronized => ArrowShape::Forward,
            EdgeRole::Execution => match &*of.relation {
                "rmw" => ArrowShape::Tie,
                "fr" if derives => continue,
                _ => ArrowShape::Forward,
            },
        };
        let (from, to) = (edge.source(), edge.target());
        if !is_drawn(graph, from) || !is_drawn(graph, to) {
            continue;
        }
        // Of one thread, program order says as much; and an initial write is before all others.
        let [here, there] = [from, to].map(|event| graph.events[event].thread);
        let implied = match &*of.relation {
            "barrier" | "phase" | "fence-sc" => here == there,
            "co" => here.is_none(),
            _ => false,
        };
        if implied {
            continue;
        }
        let silent = shape == ArrowShape::Tie || of.relation == "po";
        let lost = if of.role == EdgeRole::Unsynchronized { " ✗" } else { "" };
        let labels = if silent { Vec::new() } else { vec![format!("{}{lost}", of.relation)] };
        let line = DrawnEdge {
            from,
            to,
            labels,
            role: of.role,
            supports: true,
            shape,
            of: vec![edge.id()],
        };
        add(&mut lines, line);
    }
    for (from, to, edge) in races {
        race(&mut lines, from, to, edge, &graph.events[edge].relation);
    }
    // What is already said by the line of another pair.
    let tied: Vec<(NodeIndex, NodeIndex)> = lines
        .iter()
        .filter(|line| line.shape == ArrowShape::Tie)
        .map(|line| (line.from, line.to))
        .collect();
    lines.retain(|line| {
        line.shape == ArrowShape::Tie
            || line.role != EdgeRole::Execution
            || !(line.labels.is_empty() && tied.contains(&(line.from, line.to)))
    });
    lines
}

/// Adds a race: to a line between the two events, if there is one.
fn race(lines: &mut Vec<DrawnEdge>, from: NodeIndex, to: NodeIndex, edge: EdgeIndex, name: &str) {
    let pairs = [(from, to), (to, from)];
    let known = lines.iter_mut().find(|line| pairs.contains(&(line.from, line.to)));
    if let Some(known) = known {
        if !known.labels.iter().any(|label| label == name) {
            known.labels.push(name.to_owned());
        }
        known.of.push(edge);
        if known.role == EdgeRole::Execution {
            known.role = EdgeRole::Race;
        }
        return;
    }
    let labels = vec![name.to_owned()];
    let (role, of) = (EdgeRole::Race, vec![edge]);
    lines.push(DrawnEdge { from, to, labels, role, supports: true, shape: ArrowShape::Both, of });
}

/// Adds a line, or adds what it says to the line of the same pair.
fn add(lines: &mut Vec<DrawnEdge>, line: DrawnEdge) {
    let same = |known: &&mut DrawnEdge| {
        (known.from, known.to) == (line.from, line.to) && known.shape == line.shape
    };
    let Some(known) = lines.iter_mut().find(same) else {
        lines.push(line);
        return;
    };
    for label in line.labels {
        if !known.labels.contains(&label) {
            known.labels.push(label);
        }
    }
    known.role = known.role.max(line.role);
    known.supports &= line.supports;
    known.of.extend(line.of);
}

/// The lines for an edge of the derivation and for what it expands to.
fn derivation(graph: &ExecutionGraph, edge: EdgeIndex, supports: bool, lines: &mut Vec<DrawnEdge>) {
    let Some((from, to)) = graph.events.edge_endpoints(edge) else { return };
    let of = &graph.events[edge];
    let steps: Vec<EdgeIndex> = graph.steps(Some(edge)).collect();
    let ends = |step: &EdgeIndex| graph.events.edge_endpoints(*step) == Some((from, to));
    // An order that consists of other steps is drawn as these.
    let synchronizes = of.section == Some(section::MEMORY_SYNCHRONIZATION);
    let path = !synchronizes && !steps.iter().all(ends);
    let crosses = graph.events[from].thread != graph.events[to].thread;
    let drawn = !path && (crosses || !supports) && from != to;
    if drawn {
        lines.push(DrawnEdge {
            from,
            to,
            labels: vec![of.relation.clone()],
            role: of.role,
            supports,
            shape: ArrowShape::Forward,
            of: vec![edge],
        });
    }
    for step in steps {
        derivation(graph, step, supports || drawn, lines);
    }
}
