//! Transitive closure from above: pairs that are always reached are contracted, and only the edges that
//! the program does not fix are steps.

use std::collections::HashMap;

use model::bits::{self, BitRow};

use super::clauses::{Clauses, Term};
use crate::budget::Budget;

/// What an entry of a table of terms takes, with what tables leave free.
const ENTRY: usize = 64;

/// A set of open edges, or of their ends, by number.
type EdgeSet = Vec<bool>;

/// The closure of one node. Events from which the same open edges can be taken share their terms,
/// and so do events that the same open edges lead to.
pub(super) struct Closure {
    edges: Vec<OpenEdge>,
    /// For each event, the edges that can be taken from it right away, as an index into `sets`.
    leaving: Vec<usize>,
    /// For each event, the edges that lead to it with no open edge after.
    entering: Vec<usize>,
    sets: Vec<EdgeSet>,
    /// For each set of `leaving`, every edge that can be taken sooner or later.
    reachable: HashMap<usize, EdgeSet>,
    /// For a set of edges to start with and a set to end with: getting from one to the other.
    pairs: HashMap<(usize, usize), Term>,
}

struct OpenEdge {
    from: usize,
    to: usize,
    term: Option<Term>,
}

impl Closure {
    /// `known` is closed; `most` bounds what is to be closed. `None` when a limit is reached.
    pub(super) fn new<R: BitRow>(known: &[R], most: &[R], budget: &mut Budget) -> Option<Closure> {
        let mut edges = Vec::new();
        for (from, row) in most.iter().enumerate() {
            for to in row.minus(known[from]).events() {
                edges.push(OpenEdge { from, to, term: None });
            }
        }
        let mut back = vec![R::default(); known.len()];
        bits::inverse(&mut back, known);
        let mut closure = Closure {
            leaving: Vec::new(),
            entering: Vec::new(),
            sets: Vec::new(),
            reachable: HashMap::new(),
            pairs: HashMap::new(),
            edges,
        };
        for event in 0..known.len() {
            let sets = closure.sets.len();
            let leaves = |edge: &OpenEdge| edge.from == event || known[event].has(edge.from);
            let enters = |edge: &OpenEdge| edge.to == event || back[event].has(edge.to);
            let leaving = closure.edges.iter().map(leaves).collect();
            let entering = closure.edges.iter().map(enters).collect();
            let (leaving, entering) = (closure.set_of(leaving), closure.set_of(entering));
            closure.leaving.push(leaving);
            closure.entering.push(entering);
            budget.look();
            if !budget.hold((closure.sets.len() - sets) * closure.edges.len()) {
                return None;
            }
        }
        Some(closure)
    }

    fn set_of(&mut self, set: EdgeSet) -> usize {
        self.sets.iter().position(|known| *known == set).unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        })
    }

    pub(super) fn edge(&self, edge: usize) -> (usize, usize) {
        (self.edges[edge].from, self.edges[edge].to)
    }

    pub(super) fn set(&mut self, edge: usize, term: Term) {
        self.edges[edge].term = Some(term);
    }

    /// The edges on some path from `x` to `y` that have no term yet.
    pub(super) fn needs(&mut self, x: usize, y: usize, budget: &mut Budget) -> Vec<usize> {
        let start = self.leaving[x];
        if self.pairs.contains_key(&(start, self.entering[y])) {
            return Vec::new();
        }
        self.reach(start, budget);
        let reachable = &self.reachable[&start];
        (0..self.edges.len()).filter(|&e| reachable[e] && self.edges[e].term.is_none()).collect()
    }

    fn reach(&mut self, start: usize, budget: &mut Budget) {
        if self.reachable.contains_key(&start) {
            return;
        }
        let mut reached = self.sets[start].clone();
        let mut pending: Vec<usize> = (0..reached.len()).filter(|&edge| reached[edge]).collect();
        while let Some(edge) = pending.pop() {
            let next = &self.sets[self.leaving[self.edges[edge].to]];
            for (other, &leaves) in next.iter().enumerate() {
                if leaves && !reached[other] {
                    reached[other] = true;
                    pending.push(other);
                }
            }
        }
        budget.hold(reached.len());
        self.reachable.insert(start, reached);
    }

    /// A term that holds whenever there is a path with an open edge. Every edge that
    /// [`Closure::needs`] named has its term.
    pub(super) fn above(&mut self, clauses: &mut Clauses, x: usize, y: usize) -> Term {
        self.pair(clauses, self.leaving[x], self.entering[y])
    }

    fn pair(&mut self, clauses: &mut Clauses, start: usize, end: usize) -> Term {
        if let Some(&term) = self.pairs.get(&(start, end)) {
            return clauses.fold(term);
        }
        let own = |edge: &OpenEdge| edge.term.map_or(Term::FALSE, |term| clauses.fold(term));
        let reachable = &self.reachable[&start];
        let last: Vec<(usize, Term)> = (0..self.edges.len())
            .filter(|&edge| self.sets[end][edge] && reachable[edge])
            .map(|edge| (edge, own(&self.edges[edge])))
            .filter(|&(_, own)| own != Term::FALSE)
            .collect();
        if last.iter().all(|&(edge, _)| self.sets[start][edge]) {
            let mut ways = last.into_iter().map(|(_, own)| (Term::TRUE, own)).collect();
            let term = clauses.above(&mut ways);
            self.pairs.insert((start, end), term);
            return term;
        }
        if !clauses.budget.hold(ENTRY) {
            return Term::FALSE;
        }
        // Named first: the way there may lead in a circle.
        let term = clauses.fresh();
        self.pairs.insert((start, end), term);
        for (edge, own) in last {
            if self.sets[start][edge] {
                clauses.implies(&[own], &[term]);
            } else {
                let before = self.entering[self.edges[edge].from];
                let reached = self.pair(clauses, start, before);
                clauses.implies(&[reached, own], &[term]);
            }
        }
        term
    }
}
