//! Executions that show what a launch lacks, as graphs.

use std::collections::BTreeMap;

use engine::clock::Deadline;
use judge::explain::{ExplainOptions, Explanation, explanation};
use judge::{Property, Task};
use litmus::Test;
use petgraph::graph::NodeIndex;
use picture::graph::ExecutionGraph;

use crate::columns::Composed;
use crate::finding::KernelFinding;
use crate::repairs::RepairEffort;
use crate::verification::ADVICE;

/// An execution without a property.
#[derive(Debug)]
pub struct ShownExecution {
    pub property: Property,
    /// Its threads have the names that the launch gives them.
    pub graph: ExecutionGraph,
    /// The line of the module, from 1, of each event that is an instruction of it.
    pub lines: BTreeMap<NodeIndex, usize>,
}

/// An execution for each property that a launch with these findings lacks, as far as the limits of advice allow.
pub(crate) fn executions(
    composed: &Composed,
    test: &Test,
    findings: &[KernelFinding],
    task: &Task<'_>,
) -> Vec<ShownExecution> {
    let lacks =
        |property: &Property| findings.iter().any(|finding| finding.kind.property() == *property);
    let shown = |property| {
        let graph = explained(test, property, task)?.graphs.into_iter().next()?;
        Some(in_launch(composed, test, property, graph))
    };
    Property::ALL.into_iter().filter(lacks).filter_map(shown).collect()
}

/// Why the test of a launch lacks a property, within the limits of advice.
pub(crate) fn explained(test: &Test, property: Property, task: &Task<'_>) -> Option<Explanation> {
    let options = ExplainOptions {
        bound: task.bound,
        memory: task.memory,
        until: Some(Deadline::after(ADVICE)),
        work: RepairEffort::BRIEF.work,
        property,
        ..ExplainOptions::default()
    };
    explanation(test, task.model, options).ok()
}

fn in_launch(
    composed: &Composed,
    test: &Test,
    property: Property,
    mut graph: ExecutionGraph,
) -> ShownExecution {
    let mut lines = BTreeMap::new();
    for event in graph.events.node_indices() {
        let of = &mut graph.events[event];
        let Some((thread, line)) = of.thread.zip(of.line) else { continue };
        let of_test = test.line_number(thread, line);
        let at = of_test.and_then(|of_test| composed.module_line(thread.0.into(), of_test));
        lines.extend(at.map(|at| (event, at)));
        // It is a line of the test, which nobody sees here.
        of.stays_in = of.stays_in.and(at);
    }
    for (column, thread) in graph.threads.iter_mut().enumerate() {
        thread.name = composed.thread_name(column);
    }
    for edge in graph.events.edge_weights_mut() {
        for note in &mut edge.notes {
            *note = composed.with_thread_names(note);
        }
    }
    graph.caption = composed.with_thread_names(&graph.caption);
    ShownExecution { property, graph, lines }
}
