//! An account of a candidate as an execution graph, which pictures are drawn from.

use engine::witness::{Witness, WitnessEvent};
use litmus::Test;
use model::given::Chosen;
use model::rel::Model;
use model::section;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use picture::graph::{BrokenAxiom, EdgeRole, ExecutionGraph, GraphEdge, GraphEvent, GraphThread};

use super::ExplainedCandidate;
use super::open::{Edge, NodeKind};
use super::show::{self, Letters};

/// The graph of a candidate.
pub(super) fn graph(
    test: &Test,
    model: &Model,
    account: &ExplainedCandidate,
    caption: String,
) -> ExecutionGraph {
    let witness = &account.witness;
    let letters = account.letters();
    let names: Vec<String> = test.program.threads.iter().map(|t| t.name.clone()).collect();
    let mut events = DiGraph::new();
    for (event, shown) in witness.events.iter().enumerate() {
        events.add_node(node(test, shown, letters.get(&event).cloned()));
    }
    let broken = account.violations.iter().map(|(axiom, _)| {
        let axiom = &model.axioms[*axiom];
        BrokenAxiom { name: axiom.name.clone(), section: axiom.section }
    });
    let threads = test.program.threads.iter();
    let mut builder = GraphBuilder { witness, threads: &names, letters: &letters, events };
    builder.execution(account, super::cites(model));
    builder.flags(model, account);
    builder.shown(account);
    for (_, edges) in &account.violations {
        let refuting = refuting(edges);
        for (index, edge) in edges.iter().enumerate() {
            let role = if index == refuting { EdgeRole::Refuting } else { EdgeRole::Derivation };
            builder.derivation(edge, role, None);
        }
    }
    ExecutionGraph {
        name: test.name.clone(),
        caption,
        broken: broken.collect(),
        threads: threads
            .map(|thread| GraphThread { name: thread.name.clone(), placement: thread.placement })
            .collect(),
        events: builder.events,
    }
}

fn node(test: &Test, shown: &WitnessEvent, letter: Option<String>) -> GraphEvent {
    GraphEvent {
        letter,
        thread: shown.thread,
        line: shown.thread.map(|_| shown.line),
        instruction: shown.text.clone(),
        kind: shown.kind,
        stays_in: show::stays_in(Some(test), shown),
        location: shown.location.clone(),
        phase: shown.phase,
        value: shown.value,
    }
}

/// Which edge of a cycle contradicts the others: one that the candidate chooses, `fr` and `co` before `rf`.
fn refuting(edges: &[Edge]) -> usize {
    let rank = |edge: &Edge| match edge.kind {
        NodeKind::Missing => 0,
        NodeKind::Chosen(Chosen::Fr) => 1,
        NodeKind::Chosen(Chosen::Co) => 2,
        NodeKind::Chosen(Chosen::Rf) => 3,
        NodeKind::Chosen(Chosen::Fsc) => 4,
        NodeKind::Defined | NodeKind::Base => 5,
    };
    let best = edges.iter().enumerate().min_by_key(|(_, edge)| rank(edge));
    best.map_or(0, |(index, _)| index)
}

struct GraphBuilder<'a> {
    witness: &'a Witness,
    threads: &'a [String],
    letters: &'a Letters,
    events: DiGraph<GraphEvent, GraphEdge>,
}

impl GraphBuilder<'_> {
    fn add(&mut self, from: usize, to: usize, edge: GraphEdge) -> EdgeIndex {
        self.events.add_edge(NodeIndex::new(from), NodeIndex::new(to), edge)
    }

    /// The relations of the execution.
    fn execution(&mut self, account: &ExplainedCandidate, cites: bool) {
        let witness = self.witness;
        for (relation, pairs, section) in [
            ("po", &witness.po, section::PROGRAM_ORDER),
            ("rf", &witness.rf, section::COMMUNICATION_ORDER),
            ("co", &witness.co, section::COHERENCE_ORDER),
            ("fr", &witness.fr, section::COMMUNICATION_ORDER),
            ("fence-sc", &witness.fsc, section::FENCE_SC_ORDER),
            ("rmw", &witness.rmw, section::ATOMICITY),
            ("barrier", &witness.barrier, section::MEMORY_SYNCHRONIZATION),
            ("phase", &witness.phase, section::MBARRIER),
        ] {
            for &(from, to) in pairs {
                let lost = account.notes.iter().find(|note| (note.write, note.read) == (from, to));
                let lost = lost.filter(|_| relation == "rf");
                let edge = GraphEdge {
                    relation: relation.to_owned(),
                    section: cites.then_some(section),
                    role: lost.map_or(EdgeRole::Execution, |_| EdgeRole::Unsynchronized),
                    within: None,
                    notes: lost.map(|note| note.reason.clone()).into_iter().collect(),
                };
                self.add(from, to, edge);
            }
        }
    }

    /// The races of this execution, and reads that it makes undefined.
    fn flags(&mut self, model: &Model, account: &ExplainedCandidate) {
        let plain = |flag: usize| model.flags[flag].name == "data-race";
        // A race that makes the program undefined says more than that the pair is a data race.
        let told = |from: usize, to: usize| {
            let mut all = account.flagged.iter();
            all.any(|&(flag, one, other)| {
                let same = [(from, to), (to, from)].contains(&(one, other));
                same && !plain(flag) && model.flags[flag].name.ends_with("race")
            })
        };
        for &(flag, from, to) in &account.flagged {
            if plain(flag) && told(from, to) {
                continue;
            }
            let relation = if plain(flag) { "race" } else { &model.flags[flag].name };
            let flag = &model.flags[flag];
            let edge = GraphEdge {
                relation: relation.to_owned(),
                section: flag.section,
                role: EdgeRole::Race,
                within: None,
                notes: Vec::new(),
            };
            self.add(from, to, edge);
        }
    }

    /// The relations that are requested and not drawn anyway.
    fn shown(&mut self, account: &ExplainedCandidate) {
        for (name, pairs) in &account.shown {
            let drawn = ["rf", "co", "fr", "fence-sc", "rmw", "barrier", "po"];
            let drawn = drawn.contains(&name.as_str());
            for &(from, to) in pairs.iter().filter(|_| !drawn) {
                let edge = GraphEdge {
                    relation: name.clone(),
                    section: None,
                    role: EdgeRole::Execution,
                    within: None,
                    notes: Vec::new(),
                };
                self.add(from, to, edge);
            }
        }
    }

    fn derivation(&mut self, edge: &Edge, role: EdgeRole, within: Option<EdgeIndex>) {
        let of = GraphEdge {
            relation: edge.label.clone(),
            section: edge.section,
            role,
            within,
            notes: show::notes(edge, self.witness, self.threads, self.letters),
        };
        let added = self.add(edge.from, edge.to, of);
        for step in show::steps(edge) {
            self.derivation(&step, role, Some(added));
        }
    }
}
