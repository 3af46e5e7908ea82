//! Which lines of a thread a branch decides.

use std::collections::BTreeSet;

use model::isa::Line;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;

/// The ways of a thread through its lines. The end is the line behind the last one.
pub(crate) struct BranchRegions {
    /// A node for each line, with its index.
    ways: DiGraph<(), ()>,
    /// The immediate postdominator of a line is the first one through which all ways from it to the end come. A line from which no
    /// way ends has none.
    meets: Dominators<NodeIndex>,
}

impl BranchRegions {
    pub(crate) fn new(lines: &[Line]) -> BranchRegions {
        let end = lines.len();
        let mut ways = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..=end).map(|_| ways.add_node(())).collect();
        for (at, line) in lines.iter().enumerate() {
            let branch = line.instruction.as_branch();
            let goes_on = branch.is_none_or(|of| line.guard.is_some() || of.condition.is_some());
            let target = branch.map(|branch| branch.target.min(end));
            for to in target.into_iter().chain(goes_on.then_some(at + 1)) {
                ways.add_edge(nodes[at], nodes[to], ());
            }
        }
        let meets = simple_fast(Reversed(&ways), nodes[end]);
        BranchRegions { ways, meets }
    }

    /// The lines of which a branch decides whether the thread comes to them: those before its ways meet again. Where it
    /// decides how long the thread stays in a loop, which may be for ever, they are all that come after it.
    pub(crate) fn decided_by(&self, branch: usize) -> BTreeSet<usize> {
        let branch = NodeIndex::new(branch);
        let until = self.meets.immediate_dominator(branch);
        let before = self.reached(branch, until);
        let all = if before.contains(&branch) { self.reached(branch, None) } else { before };
        all.into_iter().map(NodeIndex::index).collect()
    }

    /// The lines that no branch decides: the thread comes to each of them once, whatever happens, but for those that it never
    /// comes to.
    pub(crate) fn always(&self, lines: &[Line]) -> BTreeSet<usize> {
        let branches = (0..lines.len()).filter(|&at| lines[at].instruction.as_branch().is_some());
        let decided: BTreeSet<usize> = branches.flat_map(|at| self.decided_by(at)).collect();
        (0..lines.len()).filter(|line| !decided.contains(line)).collect()
    }

    /// The lines to which the thread may come from a line.
    pub(crate) fn behind(&self, line: usize) -> BTreeSet<usize> {
        self.reached(NodeIndex::new(line), None).into_iter().map(NodeIndex::index).collect()
    }

    fn reached(&self, from: NodeIndex, until: Option<NodeIndex>) -> BTreeSet<NodeIndex> {
        let mut reached = BTreeSet::new();
        let mut pending: Vec<NodeIndex> = self.ways.neighbors(from).collect();
        while let Some(line) = pending.pop() {
            if Some(line) != until && reached.insert(line) {
                pending.extend(self.ways.neighbors(line));
            }
        }
        reached
    }
}
