//! What an explanation says is so: each edge of its graphs is in its relation, each reason holds, and the edges are the cycle or the
//! pair that breaks the axioms it names.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use engine::Limits;
use engine::exit::Exit;
use judge::Verdict;
use judge::explain::candidate::{Candidate, Visitor, WantedCandidates, candidates};
use judge::explain::{ExplainOptions, explanation};
use litmus::Test;
use model::bits::{BitRel, BitRow};
use model::given::{Chosen, Fixed};
use model::ptx;
use model::rel::{Constraint, DefinitionBody, FlagMeaning, Model, Node};
use picture::graph::{EdgeRole, ExecutionGraph, GraphEdge};

use crate::agree::{BARRIERS, BOUND, ELSEWHERE, LONG, MIXED, SMALL, law, parse};
use crate::suite;

const WORK: u64 = 20_000;
/// As many candidates as an explanation looks at.
const MOST: usize = 5_000;

type Pairs = BTreeSet<(usize, usize)>;

/// One candidate as pairs of its relations, by name.
struct Evaluated {
    events: usize,
    relations: BTreeMap<String, Pairs>,
    /// The axioms that it breaks.
    broken: Vec<Broken>,
}

struct Broken {
    name: String,
    /// Of an axiom that demands that a relation is empty: the pairs in it.
    excluded: Option<Pairs>,
    /// Whether these are what an order lacks.
    lacks: bool,
}

impl Broken {
    fn new<R: BitRow>(model: &Model, axiom: usize, nodes: &[BitRel<R>]) -> Broken {
        let axiom = &model.axioms[axiom];
        let (excluded, lacks) = match axiom.constraint {
            Constraint::Empty(node) => (
                Some(pairs(&nodes[usize::from(node.0)])),
                matches!(model.node(node), Node::Minus(_, order) if matches!(model.node(order), Node::Chosen(_))),
            ),
            Constraint::Irreflexive(_) | Constraint::Acyclic(_) => (None, false),
        };
        Broken { name: axiom.name.clone(), excluded, lacks }
    }
}

fn pairs<R: BitRow>(relation: &BitRel<R>) -> Pairs {
    relation.pairs().collect()
}

impl Evaluated {
    fn new<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Evaluated {
        let mut relations = BTreeMap::new();
        for &fixed in Fixed::ALL {
            relations.insert(fixed.name().to_owned(), pairs(candidate.structure.fixed(fixed)));
        }
        let chosen = [
            (Chosen::Rf, candidate.rf),
            (Chosen::Co, candidate.co),
            (Chosen::Fr, candidate.fr),
            (Chosen::Fsc, candidate.fsc),
        ];
        for (chosen, relation) in chosen {
            relations.insert(chosen.name().to_owned(), pairs(relation));
        }
        for definition in &model.definitions {
            if let DefinitionBody::Rel(node) = definition.body {
                let of = pairs(&candidate.nodes[usize::from(node.0)]);
                relations.insert(definition.name.clone(), of);
            }
        }
        for flag in &model.flags {
            let of = pairs(&candidate.nodes[usize::from(flag.node.0)]);
            relations.entry(flag.name.clone()).or_insert(of);
        }
        // As graphs call these relations of the execution.
        relations.insert("fence-sc".to_owned(), pairs(candidate.fsc));
        let arrivals = [Fixed::Barrier, Fixed::ClusterBarrier];
        let barrier = arrivals.into_iter().flat_map(|of| pairs(candidate.structure.fixed(of)));
        relations.entry("barrier".to_owned()).or_default().extend(barrier);
        let broken =
            candidate.broken.iter().map(|&axiom| Broken::new(model, axiom, candidate.nodes));
        Evaluated { events: candidate.structure.events(), relations, broken: broken.collect() }
    }

    fn has(&self, relation: &str, from: usize, to: usize) -> Option<bool> {
        self.relations.get(relation).map(|pairs| pairs.contains(&(from, to)))
    }
}

/// The first candidate that breaks no axiom, or the first for each set of axioms. Of a program that is undefined or stuck,
/// the first that is so.
struct Shown<'m> {
    model: &'m Model,
    wanted: WantedCandidates<'m>,
    count: usize,
    allowed: Option<Evaluated>,
    forbidden: Vec<Evaluated>,
}

impl Shown<'_> {
    /// Whether a consistent execution is one to show.
    fn fits<R: BitRow>(&self, candidate: &Candidate<'_, R>) -> bool {
        let unfolding = candidate.structure.unfolding;
        match self.wanted {
            WantedCandidates::Outcome => unfolding.fault().is_none() && !unfolding.is_stuck(),
            WantedCandidates::Undefined(reason) => match unfolding.fault() {
                Some((.., why)) => why == reason,
                None => self.model.flags.iter().any(|flag| {
                    let raised = &candidate.nodes[usize::from(flag.node.0)];
                    matches!(flag.meaning, FlagMeaning::Undefined(why) if why == reason)
                        && raised.pairs().next().is_some()
                }),
            },
            WantedCandidates::Stuck => unfolding.is_stuck(),
            WantedCandidates::UninitialisedRead => false,
        }
    }
}

impl Visitor for Shown<'_> {
    fn candidate<R: BitRow>(&mut self, candidate: &Candidate<'_, R>) -> bool {
        self.count += 1;
        let names = candidate.broken.iter().map(|&axiom| &*self.model.axioms[axiom].name);
        let known = self
            .forbidden
            .iter()
            .any(|of| names.clone().eq(of.broken.iter().map(|one| &*one.name)));
        if candidate.broken.is_empty() {
            if self.fits(candidate) {
                self.allowed = Some(Evaluated::new(self.model, candidate));
            }
        } else if !known && self.wanted == WantedCandidates::Outcome {
            self.forbidden.push(Evaluated::new(self.model, candidate));
        }
        self.allowed.is_none() && self.count < MOST
    }
}

/// What was checked, so that nothing is true because it was never said.
#[derive(Default)]
struct Tally {
    graphs: Cell<usize>,
    edges: Cell<usize>,
    reasons: Cell<usize>,
    cycles: Cell<usize>,
}

fn add(cell: &Cell<usize>) {
    cell.set(cell.get() + 1);
}

/// Whether the ends of a path of edges meet, and where it leads.
fn path(ends: &[(usize, usize)]) -> Option<(usize, usize)> {
    let joined = ends.windows(2).all(|two| two[0].1 == two[1].0);
    joined.then(|| Some((ends.first()?.0, ends.last()?.1))).flatten()
}

struct Checked<'a> {
    test: &'a Test,
    graph: &'a ExecutionGraph,
    evaluated: &'a Evaluated,
    tally: &'a Tally,
}

impl Checked<'_> {
    fn all(&self) -> Result<(), String> {
        add(&self.tally.graphs);
        let named: Vec<&str> = self.graph.broken.iter().map(|axiom| &*axiom.name).collect();
        let broken: Vec<&str> = self.evaluated.broken.iter().map(|one| &*one.name).collect();
        if named != broken {
            return Err(format!("it names {named:?}, and {broken:?} are broken"));
        }
        // What a thread does that never ends is not an event of the execution.
        let stays = ["waits for ever", "repeated for ever", "faults"];
        let events = self.graph.events.node_weights().filter(|of| !stays.contains(&of.kind));
        if events.count() != self.evaluated.events {
            return Err("it is of another candidate".to_owned());
        }
        for edge in self.graph.events.edge_indices() {
            add(&self.tally.edges);
            let said = || self.graph.edge_text(edge);
            self.edge(edge).map_err(|why| format!("{}: {why}", said()))?;
        }
        self.violations()
    }

    fn ends(&self, edge: petgraph::graph::EdgeIndex) -> (usize, usize) {
        let (from, to) = self.graph.events.edge_endpoints(edge).expect("it is an edge");
        (from.index(), to.index())
    }

    fn edge(&self, index: petgraph::graph::EdgeIndex) -> Result<(), String> {
        let edge = &self.graph.events[index];
        let (from, to) = self.ends(index);
        if edge.role == EdgeRole::Race {
            let name = if edge.relation == "race" { "data-race" } else { &*edge.relation };
            let there = self.evaluated.has(name, from, to) == Some(true);
            return if there { Ok(()) } else { Err("it is not a race".to_owned()) };
        }
        let (name, there, (from, to)) = match &*edge.relation {
            // Two events of given kinds.
            "of the kinds related" => return Ok(()),
            name => match (name.strip_prefix("not "), name.strip_suffix("^-1")) {
                (Some(name), _) => (name, false, (from, to)),
                (None, Some(name)) => (name, true, (to, from)),
                (None, None) => (name, true, (from, to)),
            },
        };
        let has = self.evaluated.has(name, from, to);
        let has = has.ok_or_else(|| format!("`{name}` is not a relation"))?;
        if has != there {
            return Err(format!("it is {}in the relation", if has { "" } else { "not " }));
        }
        let steps: Vec<(usize, usize)> =
            self.graph.steps(Some(index)).map(|step| self.ends(step)).collect();
        if matches!(edge.role, EdgeRole::Derivation | EdgeRole::Refuting) && !steps.is_empty() {
            let (first, last) = path(&steps).ok_or("its steps do not meet")?;
            let (from, to) = self.ends(index);
            // A pair that is forwards in one relation and backwards in another is a cycle.
            if first != from || ![from, to].contains(&last) {
                return Err("its steps lead elsewhere".to_owned());
            }
        }
        edge.notes.iter().try_for_each(|note| self.reason(edge, note, (from, to)))
    }

    fn evaluated_thread(&self, event: usize) -> Option<usize> {
        let node = petgraph::graph::NodeIndex::new(event);
        self.graph.events[node].thread.map(|thread| usize::from(thread.0))
    }

    /// Whether what is said of an edge holds.
    fn reason(
        &self,
        edge: &GraphEdge,
        note: &str,
        (from, to): (usize, usize),
    ) -> Result<(), String> {
        add(&self.tally.reasons);
        let has = |name: &str, from, to| self.evaluated.has(name, from, to) == Some(true);
        let any = |name: &str, fits: &dyn Fn(usize, usize) -> bool| {
            self.evaluated.relations[name].iter().any(|&(from, to)| fits(from, to))
        };
        let holds = if edge.role == EdgeRole::Unsynchronized {
            let unordered = has("rf", from, to) && !has("base-causality", from, to);
            let strong = has("morally-strong", from, to);
            let releases = any("release-pattern", &|_, last| last == from);
            let acquires = any("acquire-pattern", &|first, _| first == to);
            let completes = any("tensor-completion", &|access, _| [from, to].contains(&access));
            unordered
                && match note {
                    _ if note.contains("no release pattern ends") => strong && !releases,
                    _ if note.contains("no acquire pattern starts") => {
                        strong && releases && !acquires
                    }
                    _ if note.starts_with("no release pattern behind") => {
                        strong && releases && self.stands(note, "before", from)
                    }
                    _ if note.starts_with("no acquire pattern before") => {
                        strong && acquires && self.stands(note, "behind", to)
                    }
                    _ if note.starts_with("the ends of the release") => {
                        strong && releases && acquires
                    }
                    _ if note.contains(" is weak ") || note.starts_with("both are weak") => !strong,
                    _ if note.starts_with("scope .") => !strong && self.scope_excludes(note),
                    _ if note.starts_with("they do not overlap") => !strong,
                    _ if note.contains("waits for the completion of either") => {
                        !has("tensor-order", from, to) && !completes
                    }
                    _ if note.starts_with("no `tcgen05.fence` or release") => {
                        !has("tensor-order", from, to) && completes
                    }
                    _ => return Err(format!("an unknown reason: {note}")),
                }
        } else if let Some(scopes) = note.strip_prefix("morally strong: ") {
            let one = self.evaluated_thread(from) == self.evaluated_thread(to);
            let said =
                if scopes == "one thread" { one } else { !one && self.scopes_include(scopes) };
            has("morally-strong", from, to) && said
        } else if note.contains(" follows in co") {
            // The read returns a write that the other write follows.
            any("rf", &|write, read| read == from && has("co", write, to))
        } else if note.starts_with("the axiom demands it") {
            edge.relation.starts_with("not ")
        } else {
            return Err(format!("an unknown reason: {note}"));
        };
        if holds { Ok(()) } else { Err(format!("the reason does not hold: {note}")) }
    }

    /// ``no … ends with `…`: `A` stands before `B` …``: whether `A` does, in the thread of an event, and is a part of a pattern with it.
    fn stands(&self, note: &str, word: &str, event: usize) -> bool {
        let Some((_, rest)) = note.rsplit_once("`: `") else { return false };
        let Some((pattern, access)) = rest.split_once(&format!("` stands {word} `")) else {
            return false;
        };
        let Some((access, _)) = access.split_once('`') else { return false };
        let thread = self.evaluated_thread(event);
        let events = self.graph.events.node_indices().map(petgraph::graph::NodeIndex::index);
        let of = |text: &str| -> Vec<usize> {
            let is_of = |&event: &usize| {
                let of = &self.graph.events[petgraph::graph::NodeIndex::new(event)];
                of.instruction == text && self.evaluated_thread(event) == thread
            };
            events.clone().filter(is_of).collect()
        };
        let has = |name: &str, from, to| self.evaluated.has(name, from, to) == Some(true);
        of(pattern).into_iter().any(|end| {
            of(access).into_iter().any(|access| match word {
                "before" => {
                    has("release-pattern", end, event)
                        && has("po", end, access)
                        && has("po", access, event)
                }
                _ => {
                    has("acquire-pattern", event, end)
                        && has("po", event, access)
                        && has("po", access, end)
                }
            })
        })
    }

    fn placed(&self, name: &str) -> Option<model::scope::Placement> {
        let threads = &self.test.program.threads;
        threads.iter().find(|thread| thread.name == name).map(|thread| thread.placement)
    }

    /// `.gpu includes P1, .cta includes P0`: each scope is of the thread that the other names.
    fn scopes_include(&self, text: &str) -> bool {
        let halves: Vec<(&str, &str)> = text
            .split(", ")
            .filter_map(|half| half.strip_prefix('.')?.split_once(" includes "))
            .collect();
        let [(first, there), (second, here)] = halves[..] else { return false };
        let (Some(here), Some(there)) = (self.placed(here), self.placed(there)) else {
            return false;
        };
        let scope =
            |name: &str| model::scope::Scope::ALL.into_iter().find(|one| one.to_string() == name);
        scope(first).is_some_and(|scope| scope.includes(here, there))
            && scope(second).is_some_and(|scope| scope.includes(there, here))
    }

    /// `scope .cta of `…` does not include P1, so …`
    fn scope_excludes(&self, text: &str) -> bool {
        let name = text.split_once("does not include ").and_then(|(_, rest)| rest.split_once(','));
        let scope = text.strip_prefix("scope .").and_then(|rest| rest.split_once(' '));
        let (Some((name, _)), Some((scope, _))) = (name, scope) else { return false };
        let Some(scope) = model::scope::Scope::ALL.into_iter().find(|one| one.to_string() == scope)
        else {
            return false;
        };
        let Some(there) = self.placed(name) else { return false };
        let threads = self.test.program.threads.iter();
        threads
            .clone()
            .any(|thread| thread.name != name && !scope.includes(thread.placement, there))
    }

    /// The outermost edges are one violation after another, of each broken axiom.
    fn violations(&self) -> Result<(), String> {
        let all: Vec<petgraph::graph::EdgeIndex> = self.graph.steps(None).collect();
        self.evaluated.broken.iter().for_each(|_| add(&self.tally.cycles));
        if self.are_violations(&all, &self.evaluated.broken) {
            return Ok(());
        }
        let said: Vec<String> = all.iter().map(|&edge| self.graph.edge_text(edge)).collect();
        Err(format!("its edges are not the violations: {said:#?}"))
    }

    fn are_violations(&self, edges: &[petgraph::graph::EdgeIndex], axioms: &[Broken]) -> bool {
        let Some((axiom, others)) = axioms.split_first() else { return edges.is_empty() };
        (1..=edges.len()).any(|length| {
            let (these, rest) = edges.split_at(length);
            self.is_violation(these, axiom) && self.are_violations(rest, others)
        })
    }

    /// A cycle, or a path along a pair that the axiom excludes. After the path, an edge says how an order lacks the pair, or how one
    /// relation has it forwards and another backwards.
    fn is_violation(&self, edges: &[petgraph::graph::EdgeIndex], axiom: &Broken) -> bool {
        let ends: Vec<(usize, usize)> = edges.iter().map(|&edge| self.ends(edge)).collect();
        let Some(excluded) = &axiom.excluded else {
            return path(&ends).is_some_and(|(first, last)| first == last);
        };
        let is_excluded =
            |ends: &[(usize, usize)]| path(ends).filter(|pair| excluded.contains(pair));
        if axiom.lacks {
            let (last, before) = ends.split_last().expect("it has an edge");
            let denied = self.graph.events[edges[before.len()]].relation.starts_with("not ");
            let pair = is_excluded(before);
            return pair
                .is_some_and(|(from, to)| *last == if denied { (from, to) } else { (to, from) });
        }
        let closes = |length: usize| {
            is_excluded(&ends[..length])
                .is_some_and(|(from, to)| path(&ends[length..]) == Some((to, from)))
        };
        is_excluded(&ends).is_some() || (1..ends.len()).any(closes)
    }
}

/// Checks all graphs of a test.
fn checked(test: &Test, model: &Model, tally: &Tally) -> Result<(), String> {
    for deep in [false, true] {
        let options =
            ExplainOptions { work: Some(WORK), deep, bound: BOUND, ..ExplainOptions::default() };
        let explained = explanation(test, model, options).map_err(|error| error.to_string())?;
        if explained.exit == Exit::Undecided {
            return Ok(());
        }
        let verdict = explained.judgement.as_ref().map(|judgement| &judgement.verdict);
        let wanted = match verdict {
            Some(Verdict::Undefined(reason)) => WantedCandidates::Undefined(reason),
            Some(Verdict::Stuck(_)) => WantedCandidates::Stuck,
            _ => WantedCandidates::Outcome,
        };
        let mut shown = Shown { model, wanted, count: 0, allowed: None, forbidden: Vec::new() };
        let limits = Limits { work: Some(WORK), ..Limits::unlimited(BOUND) };
        if candidates(test, model, wanted, &limits, &mut shown).is_err() {
            return Ok(());
        }
        if wanted != WantedCandidates::Outcome && shown.allowed.is_none() && shown.count < MOST {
            return Err("no execution is undefined, or stuck".to_owned());
        }
        let shown = shown.allowed.map_or(shown.forbidden, |allowed| vec![allowed]);
        if shown.len() != explained.graphs.len() {
            return Err(format!("{} graphs of {} candidates", explained.graphs.len(), shown.len()));
        }
        for (graph, evaluated) in explained.graphs.iter().zip(&shown) {
            let one = Checked { test, graph, evaluated, tally };
            one.all().map_err(|why| format!("{}, deep: {deep}: {why}", graph.caption))?;
        }
    }
    Ok(())
}

fn enough(tally: &Tally, least: usize) {
    let Tally { graphs, edges, reasons, cycles } = tally;
    let all = [graphs, edges, reasons, cycles].map(Cell::get);
    eprintln!("graphs, edges, reasons, violations: {all:?}");
    assert!(all.into_iter().all(|count| count > least), "{all:?}");
}

#[test]
fn explanations_of_the_suite_say_what_is_so() {
    let (model, tally) = (ptx::model(), Tally::default());
    let mut wrong = Vec::new();
    for entry in suite::load(&suite::folder()) {
        if entry.test.program.unsupported().is_some() {
            continue;
        }
        if let Err(why) = checked(&entry.test, &model, &tally) {
            wrong.push(format!("{}: {why}", entry.path.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} tests:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    enough(&tally, 500);
}

#[test]
fn explanations_of_random_programs_say_what_is_so() {
    let (model, tally) = (ptx::model(), Tally::default());
    let shapes = [SMALL, LONG, ELSEWHERE, MIXED, BARRIERS];
    law("explained", &shapes, 60, |program| checked(&parse(program), &model, &tally));
    enough(&tally, 50);
}
