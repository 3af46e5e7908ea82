//! Execution graphs for graphviz: one cluster a thread, the relations as coloured edges.

use std::fmt::Write;

use crate::witness::Witness;

/// An edge drawn on top of the base relations: the reason for a verdict.
pub struct Highlight {
    pub from: usize,
    pub to: usize,
    pub label: String,
}

/// One digraph. `threads` are the names of the threads.
pub fn graph(
    name: &str,
    witness: &Witness,
    threads: &[String],
    highlights: &[Highlight],
) -> String {
    let mut dot = String::new();
    let mut line = |text: String| {
        dot.push_str(&text);
        dot.push('\n');
    };
    line(format!("digraph {} {{", quote(name)));
    line("  splines=spline; rankdir=TB; node [shape=box, fontname=\"monospace\"];".to_owned());
    line("  edge [fontname=\"monospace\", fontsize=10];".to_owned());
    for (event, shown) in witness.events.iter().enumerate().filter(|(_, e)| e.thread.is_none()) {
        if touches(witness, event) {
            line(format!("  e{event} [label={}];", quote(&label(shown))));
        }
    }
    for (thread, name) in threads.iter().enumerate() {
        line(format!("  subgraph cluster_{thread} {{ label={};", quote(name)));
        for (event, shown) in witness.events.iter().enumerate() {
            if shown.thread.is_some_and(|of| usize::from(of.0) == thread) {
                line(format!("    e{event} [label={}];", quote(&label(shown))));
            }
        }
        line("  }".to_owned());
    }
    for (pairs, name, colour) in [
        (&witness.po, "po", "black"),
        (&witness.rf, "rf", "red"),
        (&witness.co, "co", "blue"),
        (&witness.fr, "fr", "#ffa040"),
        (&witness.fsc, "fence-sc", "darkgreen"),
        (&witness.rmw, "rmw", "gray"),
        (&witness.barrier, "barrier", "purple"),
    ] {
        for &(from, to) in pairs {
            line(format!("  e{from} -> e{to} [label={}, color=\"{colour}\"];", quote(name)));
        }
    }
    for highlight in highlights {
        line(format!(
            "  e{} -> e{} [label={}, color=\"magenta\", penwidth=2, constraint=false];",
            highlight.from,
            highlight.to,
            quote(&highlight.label)
        ));
    }
    line("}".to_owned());
    dot
}

fn touches(witness: &Witness, event: usize) -> bool {
    witness.rf.iter().chain(&witness.co).any(|&(a, b)| a == event || b == event)
}

fn label(shown: &crate::witness::WitnessEvent) -> String {
    let mut label = String::new();
    match (&shown.location, shown.value) {
        (Some(location), Some(value)) => {
            let _ = write!(label, "{}[{location}]={value}", shown.kind);
        }
        (Some(location), None) => {
            let _ = write!(label, "{}[{location}]", shown.kind);
        }
        (None, _) => label.push_str(shown.kind),
    }
    if shown.thread.is_some() {
        let _ = write!(label, "\n{}", shown.text);
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
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
