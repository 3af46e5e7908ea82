//! The orders that an execution chooses, and acyclicity, as clauses.

use execution::structure::EventStructure;
use model::bits::{self, BitRel, BitRow};
use model::given::{Fixed, Tag};

use super::bounds::Between;
use super::clauses::{Clauses, Term};
use crate::plan::Plan;

/// A strict order on events, as one term for each pair.
pub(super) struct EventOrder {
    events: usize,
    terms: Vec<Term>,
}

impl EventOrder {
    fn empty(events: usize) -> EventOrder {
        EventOrder { events, terms: vec![Term::FALSE; events * events] }
    }

    pub(super) fn get(&self, a: usize, b: usize) -> Term {
        self.terms[a * self.events + b]
    }

    fn set(&mut self, a: usize, b: usize, term: Term) {
        self.terms[a * self.events + b] = term;
    }

    /// One direction or the other.
    fn choose(&mut self, clauses: &mut Clauses, a: usize, b: usize) {
        let forward = clauses.fresh();
        self.set(a, b, forward);
        self.set(b, a, !forward);
    }

    fn known<R: BitRow>(&mut self, order: &BitRel<R>) {
        for (a, b) in order.pairs() {
            self.set(a, b, Term::TRUE);
        }
    }

    /// Any strict partial order on the writes to a location that has what the program fixes and
    /// relates the pairs that it has to.
    pub(super) fn coherence<R: BitRow>(
        clauses: &mut Clauses,
        structure: &EventStructure<'_, R>,
        plan: &Plan<R>,
        between: &Between<R>,
    ) -> EventOrder {
        let mut order = EventOrder::empty(plan.events);
        order.known(&between.co);
        let writes = structure.tag(Tag::Write).minus(structure.tag(Tag::Init));
        let overlap = structure.fixed(Fixed::LocationOverlap);
        for group in groups(writes, |write| overlap.rows[write]) {
            pairs(&group, |a, b| {
                if between.co.has(a, b) || between.co.has(b, a) {
                    return;
                }
                if plan.co_pairs.contains(&(a.min(b), a.max(b))) {
                    order.choose(clauses, a, b);
                    return;
                }
                let (forward, backward) = (clauses.fresh(), clauses.fresh());
                clauses.any([!forward, !backward]);
                order.set(a, b, forward);
                order.set(b, a, backward);
            });
            order.transitive(clauses, &group);
        }
        order
    }

    /// A total order on each set of fences that are to be related, if only through others: an
    /// acyclic relation is part of one.
    pub(super) fn fences<R: BitRow>(
        clauses: &mut Clauses,
        plan: &Plan<R>,
        between: &Between<R>,
    ) -> EventOrder {
        let mut order = EventOrder::empty(plan.events);
        order.known(&between.fsc);
        let mut related = BitRel::empty(plan.events);
        let mut fences = R::default();
        for &(a, b) in &plan.fsc_pairs {
            related.insert(a, b);
            related.insert(b, a);
            fences.insert(a);
            fences.insert(b);
        }
        for group in groups(fences, |fence| related.rows[fence]) {
            pairs(&group, |a, b| {
                if !between.fsc.has(a, b) && !between.fsc.has(b, a) {
                    order.choose(clauses, a, b);
                }
            });
            order.transitive(clauses, &group);
        }
        order
    }

    fn transitive(&self, clauses: &mut Clauses, group: &[usize]) {
        for &a in group {
            if !clauses.budget.look() {
                return;
            }
            for &b in group.iter().filter(|&&b| b != a && self.get(a, b) != Term::FALSE) {
                for &c in group.iter().filter(|&&c| c != a && c != b) {
                    let terms = [!self.get(a, b), !self.get(b, c), self.get(a, c)];
                    // Where each of the three pairs is one variable, the clause is that the three
                    // make no cycle: once is enough.
                    let total = self.get(c, b) == terms[1]
                        && self.get(b, a) == terms[0]
                        && !self.get(c, a) == terms[2];
                    if !total || (a < b && a < c) {
                        clauses.any(terms);
                    }
                }
            }
        }
    }
}

/// The parts of a set that a symmetric relation connects.
fn groups<R: BitRow>(set: R, related: impl Fn(usize) -> R) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    let mut left = set;
    while !left.is_empty() {
        let mut group = R::single(left.first());
        loop {
            let wider = group.events().fold(group, |all, member| all.or(related(member).and(set)));
            if wider == group {
                break;
            }
            group = wider;
        }
        left = left.minus(group);
        groups.push(group.events().collect());
    }
    groups
}

fn pairs(group: &[usize], mut visit: impl FnMut(usize, usize)) {
    for (index, &a) in group.iter().enumerate() {
        for &b in &group[index + 1..] {
            visit(a, b);
        }
    }
}

/// The edges of a graph that is to have no cycle.
pub(super) struct Edges {
    events: usize,
    /// For each pair, the edge and whether the term is its own: then more may imply it.
    terms: Vec<Option<(Term, bool)>>,
}

/// What of a graph may be on a cycle.
pub(super) struct Suspects {
    pub edges: Edges,
    /// Edges that the program leaves open, to be given terms.
    pub open: Vec<(usize, usize)>,
    /// Edges from the end to the start of a path that is always there.
    pub never: Vec<(usize, usize)>,
}

impl Edges {
    /// Looks for cycles in a graph between `least` and `most`. Edges outside every cycle are left
    /// out, and those along a path that is always there.
    pub(super) fn suspects<R: BitRow>(least: &[R], most: &[R]) -> Suspects {
        let events = least.len();
        let mut edges = Edges { events, terms: vec![None; events * events] };
        let (mut open, mut never) = (Vec::new(), Vec::new());
        let (mut reach, mut always) = (most.to_vec(), least.to_vec());
        bits::close(&mut reach);
        bits::close(&mut always);
        for (a, row) in most.iter().enumerate() {
            for b in row.events().filter(|&b| reach[b].has(a)) {
                let shortcut = |middle: usize| middle != b && always[middle].has(b);
                if a == b || always[b].has(a) {
                    never.push((a, b));
                } else if least[a].has(b) {
                    if !always[a].events().any(shortcut) {
                        edges.set(a, b, Term::TRUE);
                    }
                } else if !always[a].has(b) {
                    open.push((a, b));
                }
            }
        }
        Suspects { edges, open, never }
    }

    pub(super) fn set(&mut self, a: usize, b: usize, term: Term) {
        self.terms[a * self.events + b] = Some((term, false));
    }

    fn get(&self, a: usize, b: usize) -> Option<Term> {
        self.terms[a * self.events + b].map(|(term, _)| term)
    }

    /// Takes the events away one by one, the one with the fewest paths through it first, and joins
    /// its neighbours by what it stood for.
    pub(super) fn forbid_cycles(mut self, clauses: &mut Clauses) {
        for edge in &mut self.terms {
            *edge = edge
                .map(|(term, own)| (clauses.fold(term), own))
                .filter(|(term, _)| *term != Term::FALSE);
        }
        let mut alive: Vec<usize> = (0..self.events).collect();
        while clauses.budget.look() {
            let mut best: Option<(usize, usize)> = None;
            alive.retain(|&event| {
                let (into, out) = self.degrees(event);
                if into * out > 0 && best.is_none_or(|(paths, _)| into * out < paths) {
                    best = Some((into * out, event));
                }
                into + out > 0
            });
            let Some((_, event)) = best else { return };
            self.eliminate(clauses, &alive, event);
        }
    }

    fn degrees(&self, event: usize) -> (usize, usize) {
        let row = event * self.events..(event + 1) * self.events;
        let out = self.terms[row].iter().flatten().count();
        let into = self.terms.iter().skip(event).step_by(self.events).flatten().count();
        (into, out)
    }

    fn eliminate(&mut self, clauses: &mut Clauses, alive: &[usize], event: usize) {
        for &before in alive {
            let Some(first) = self.get(before, event) else { continue };
            for &after in alive {
                let Some(second) = self.get(event, after) else { continue };
                if before == after {
                    clauses.any([!first, !second]);
                } else {
                    self.join(clauses, before, after, first, second);
                }
            }
        }
        for &other in alive {
            self.terms[other * self.events + event] = None;
            self.terms[event * self.events + other] = None;
        }
    }

    /// Makes the edge from `a` to `b` hold whenever both terms do.
    fn join(&mut self, clauses: &mut Clauses, a: usize, b: usize, first: Term, second: Term) {
        let at = a * self.events + b;
        let alone = match (clauses.fold(first), clauses.fold(second)) {
            (Term::Known(false), _) | (_, Term::Known(false)) => return,
            (Term::Known(true), only) | (only, Term::Known(true)) => Some(only),
            (Term::Open(_), Term::Open(_)) => None,
        };
        match (self.terms[at], alone) {
            (Some((Term::Known(true), _)), _) => {}
            (Some((old, _)), Some(new)) if old == new => {}
            (_, Some(Term::Known(true))) => self.terms[at] = Some((Term::TRUE, false)),
            (None, Some(new)) => self.terms[at] = Some((new, false)),
            (Some((old, true)), _) => clauses.implies(&[first, second], &[old]),
            (old, _) => {
                // Never a term that stands for something else: that would force it.
                let own = clauses.fresh();
                if let Some((old, _)) = old {
                    clauses.implies(&[old], &[own]);
                }
                clauses.implies(&[first, second], &[own]);
                self.terms[at] = Some((own, true));
            }
        }
    }
}

/// The order as rows, as far as `holds` says so of its terms.
pub(super) fn rows<R: BitRow>(order: &EventOrder, holds: impl Fn(Term) -> bool) -> Vec<R> {
    let mut rows = vec![R::default(); order.events];
    for (a, row) in rows.iter_mut().enumerate() {
        for b in 0..order.events {
            if holds(order.get(a, b)) {
                row.insert(b);
            }
        }
    }
    rows
}
