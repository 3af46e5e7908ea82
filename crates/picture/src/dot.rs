//! Execution graphs for Graphviz: a cluster for each GPU, cluster, CTA and thread, and coloured edges.

use std::fmt::Write;

use petgraph::visit::EdgeRef;
use text::escape::is_order;

use crate::graph::{EdgeRole, ExecutionGraph, GraphEvent};
use crate::layout::{PlacedBox, nested};

/// One digraph.
pub fn graph(graph: &ExecutionGraph) -> String {
    let mut dot = String::new();
    let mut line = |text: String| {
        dot.push_str(&text);
        dot.push('\n');
    };
    line(format!("digraph {} {{", quote(&graph.name)));
    line(format!("  label={}; labelloc=t;", quote(&graph.caption)));
    line("  splines=spline; rankdir=TB; node [shape=box, fontname=\"monospace\"];".to_owned());
    line("  edge [fontname=\"monospace\", fontsize=10];".to_owned());
    for event in graph.events.node_indices() {
        let edges = graph.events.edges(event);
        let shown = graph.events[event].letter.is_some()
            || edges.into_iter().any(|edge| matches!(&*edge.weight().relation, "rf" | "co"));
        if graph.events[event].thread.is_none() && shown {
            line(format!("  e{} [label={}];", event.index(), quote(&label(&graph.events[event]))));
        }
    }
    let mut clusters = 0;
    for part in nested(&graph.threads) {
        boxes(graph, &part, 1, &mut clusters, &mut line);
    }
    for edge in graph.events.edge_references() {
        let (from, to) = (edge.source().index(), edge.target().index());
        let of = edge.weight();
        // What is derived, or does not synchronize, is drawn as that.
        let mut beside = graph.events.edges_connecting(edge.source(), edge.target());
        let told = beside.any(|other| {
            let other = other.weight();
            other.relation == of.relation
                && !matches!(other.role, EdgeRole::Execution | EdgeRole::Race)
        });
        let style = match of.role {
            EdgeRole::Execution if told => continue,
            EdgeRole::Execution => match colour(&of.relation) {
                Some(colour) => format!("color=\"{colour}\""),
                None => continue,
            },
            EdgeRole::Race => "color=\"red\", style=dotted, dir=both, constraint=false".to_owned(),
            EdgeRole::Unsynchronized => "color=\"red\", style=dashed".to_owned(),
            EdgeRole::Derivation => "color=\"magenta\", penwidth=2, constraint=false".to_owned(),
            EdgeRole::Refuting => {
                "color=\"magenta\", penwidth=2, style=dashed, constraint=false".to_owned()
            }
        };
        line(format!("  e{from} -> e{to} [label={}, {style}];", quote(&of.relation)));
    }
    line("}".to_owned());
    dot
}

fn colour(relation: &str) -> Option<&'static str> {
    Some(match relation {
        "po" => "black",
        "rf" => "red",
        "co" => "blue",
        "fr" => "#ffa040",
        "fence-sc" => "darkgreen",
        "rmw" => "gray",
        "barrier" | "phase" => "purple",
        _ => return None,
    })
}

fn boxes(
    graph: &ExecutionGraph,
    part: &PlacedBox,
    depth: usize,
    clusters: &mut usize,
    line: &mut dyn FnMut(String),
) {
    let indent = "  ".repeat(depth);
    line(format!("{indent}subgraph cluster_{clusters} {{ label={};", quote(&part.title)));
    *clusters += 1;
    for inner in &part.inside {
        boxes(graph, inner, depth + 1, clusters, line);
    }
    for &thread in &part.threads {
        let title = quote(&graph.threads[thread].name);
        line(format!("{indent}  subgraph cluster_{clusters} {{ label={title};"));
        *clusters += 1;
        for event in graph.of_thread(thread) {
            let text = quote(&label(&graph.events[event]));
            line(format!("{indent}    e{} [label={text}];", event.index()));
        }
        line(format!("{indent}  }}"));
    }
    line(format!("{indent}}}"));
}

fn label(event: &GraphEvent) -> String {
    let mut label = event.headline();
    if event.thread.is_some() {
        let _ = write!(label, "\n{}", event.instruction);
    }
    label
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            order if is_order(order) => quoted.push('\u{fffd}'),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
