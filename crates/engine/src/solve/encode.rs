//! The algebra of all candidates at once: relations are matrices of terms, created when axioms need
//! them.
//!
//! Axioms only require that pairs are absent, so a term [`above`](Encoder::above) a pair is sufficient:
//! one that holds whenever the pair is in the relation. Closures must be least fixed points only seen from below;
//! from above any fixed point is sufficient, and clauses encode no more. The right side of a
//! difference is contravariant and takes a term [`below`](Encoder::below) the pair.

use std::collections::HashMap;

use execution::structure::EventStructure;
use model::bits::BitRow;
use model::given::Chosen;

use super::bounds::Between;
use super::clauses::{Clauses, Term};
use super::closure::Closure;
use super::order::{Edges, EventOrder};
use crate::Limit;
use crate::budget::Budget;
use crate::plan::{Plan, PlanCheck, PlanOp};

/// What an entry of a table of terms takes, with what tables leave free.
const ENTRY: usize = 80;

pub(super) struct Encoder<'a, R> {
    pub clauses: Clauses,
    pub between: Between<R>,
    /// For each slot and option, whether it is taken.
    pub choice: Vec<Vec<Term>>,
    pub co: EventOrder,
    pub fsc: EventOrder,
    pub structure: &'a EventStructure<'a, R>,
    pub options: &'a [Vec<R>],
    events: usize,
    /// For each node, what computes it, if it is open and needed.
    ops: Vec<Option<PlanOp>>,
    above: Vec<Vec<Option<Term>>>,
    closures: Vec<Option<Closure>>,
    below: HashMap<(usize, usize, usize), Term>,
    /// The same for paths of at most 2 to the power of the last number of steps.
    paths: HashMap<(usize, usize, usize, u32), Term>,
}

impl<'a, R: BitRow> Encoder<'a, R> {
    /// The axioms of a plan as clauses; `None` when no execution is consistent.
    pub(super) fn new(
        plan: &Plan<R>,
        structure: &'a EventStructure<'a, R>,
        options: &'a [Vec<R>],
        mut budget: Budget,
    ) -> Result<Option<Encoder<'a, R>>, Limit> {
        let Some(between) = Between::new(plan, structure, options) else { return Ok(None) };
        // The plan with its bounds, and the orders.
        budget.hold(3 * size_of_val(plan.rows.as_slice()));
        budget.hold(2 * plan.events * plan.events * size_of::<Term>());
        budget.look();
        budget.check()?;
        let mut clauses = Clauses::new(budget);
        let choice = options.iter().map(|options| one_of(&mut clauses, options.len())).collect();
        let co = EventOrder::coherence(&mut clauses, structure, plan, &between);
        let fsc = EventOrder::fences(&mut clauses, plan, &between);
        let mut ops = vec![None; plan.stands.len()];
        for &(_, node, op) in plan.steps.iter().chain(&plan.flag_steps) {
            ops[node] = Some(op);
        }
        let mut encoder = Encoder {
            clauses,
            between,
            choice,
            co,
            fsc,
            structure,
            options,
            events: plan.events,
            above: vec![Vec::new(); ops.len()],
            closures: ops.iter().map(|_| None).collect(),
            below: HashMap::new(),
            paths: HashMap::new(),
            ops,
        };
        encoder.axioms(plan);
        encoder.clauses.budget.check()?;
        Ok((!encoder.clauses.impossible()).then_some(encoder))
    }

    /// Whether a limit was reached: what is computed then is not used any more.
    fn stopped(&mut self) -> bool {
        !self.clauses.budget.step()
    }

    fn axioms(&mut self, plan: &Plan<R>) {
        // First what most often fixes choices: the clauses that follow are shorter then.
        for axiom in &plan.axioms {
            if let PlanCheck::IrreflexiveSeq(a, b) = axiom.check {
                for (x, y) in self.most_pairs(a) {
                    if self.between.least(b)[y].has(x) {
                        self.implies(a, x, y, &[]);
                    }
                }
            }
        }
        for &node in &plan.co_contains {
            for (a, b) in self.most_pairs(node) {
                let ordered = self.co.get(a, b);
                self.implies(node, a, b, &[ordered]);
            }
        }
        for axiom in &plan.axioms {
            match axiom.check {
                PlanCheck::Empty(node) => {
                    for (x, y) in self.most_pairs(node) {
                        self.implies(node, x, y, &[]);
                    }
                }
                PlanCheck::Irreflexive(node) => {
                    for x in 0..self.events {
                        self.implies(node, x, x, &[]);
                    }
                }
                PlanCheck::IrreflexiveSeq(a, b) => {
                    for (x, y) in self.most_pairs(a) {
                        if self.between.most(b)[y].has(x) {
                            let step = self.above(a, x, y);
                            self.implies(b, y, x, &[!step]);
                        }
                    }
                }
                PlanCheck::Acyclic(node) => self.acyclic(node),
                PlanCheck::Outside(node, chosen) => {
                    for (x, y) in self.most_pairs(node) {
                        if !plan.most(chosen).has(x, y) {
                            self.implies(node, x, y, &[]);
                        }
                    }
                }
                PlanCheck::Against(node, chosen) => {
                    for (x, y) in self.most_pairs(node) {
                        let back = self.chosen_above(chosen, y, x);
                        self.implies(node, x, y, &[!back]);
                    }
                }
            }
        }
    }

    fn most_pairs(&self, node: usize) -> Vec<(usize, usize)> {
        let rows = self.between.most(node).iter().enumerate();
        rows.flat_map(|(x, row)| row.events().map(move |y| (x, y))).collect()
    }

    fn acyclic(&mut self, node: usize) {
        let suspects = Edges::suspects(self.between.least(node), self.between.most(node));
        for (a, b) in suspects.never {
            self.implies(node, a, b, &[]);
        }
        let mut edges = suspects.edges;
        for (a, b) in suspects.open {
            edges.set(a, b, self.above(node, a, b));
        }
        edges.forbid_cycles(&mut self.clauses);
    }

    fn op(&self, node: usize) -> PlanOp {
        self.ops[node].expect("a node that is neither known nor computed is asked for")
    }

    /// Demands that one of `then` holds if the pair is there, without naming what can be left
    /// unnamed.
    fn implies(&mut self, node: usize, x: usize, y: usize, then: &[Term]) {
        if !self.between.most(node)[x].has(y) || then.contains(&Term::TRUE) || self.stopped() {
            return;
        }
        if self.between.least(node)[x].has(y) {
            self.clauses.any(then.iter().copied());
            return;
        }
        match self.op(node) {
            PlanOp::Or(a, b) => {
                self.implies(a, x, y, then);
                self.implies(b, x, y, then);
            }
            PlanOp::And(a, b) => {
                let (first, second) = if self.between.least(b)[x].has(y) { (b, a) } else { (a, b) };
                let first = self.above(first, x, y);
                self.implies(second, x, y, &with(then, first));
            }
            PlanOp::Seq(a, b) => {
                for middle in self.between.most(a)[x].events() {
                    if self.between.most(b)[middle].has(y) {
                        let first = self.above(a, x, middle);
                        self.implies(b, middle, y, &with(then, first));
                    }
                }
            }
            PlanOp::Inverse(a) => self.implies(a, y, x, then),
            PlanOp::Chosen(_) | PlanOp::Minus(..) | PlanOp::Plus(_) => {
                let term = self.above(node, x, y);
                self.clauses.implies(&[term], then);
            }
        }
    }

    /// A term that holds whenever the node has the pair.
    pub(super) fn above(&mut self, node: usize, x: usize, y: usize) -> Term {
        if !self.between.most(node)[x].has(y) || self.stopped() {
            return Term::FALSE;
        }
        if self.between.least(node)[x].has(y) {
            return Term::TRUE;
        }
        let at = x * self.events + y;
        if let Some(term) = self.above[node].get(at).copied().flatten() {
            return self.clauses.fold(term);
        }
        let term = match self.op(node) {
            PlanOp::Chosen(chosen) => self.chosen_above(chosen, x, y),
            PlanOp::Or(a, b) => {
                let ways = [self.above(a, x, y), self.above(b, x, y)];
                self.clauses.above(&mut ways.map(|way| (Term::TRUE, way)).to_vec())
            }
            PlanOp::And(a, b) => {
                let both = (self.above(a, x, y), self.above(b, x, y));
                self.clauses.above(&mut vec![both])
            }
            PlanOp::Minus(a, b) => {
                let both = (self.above(a, x, y), !self.below(b, x, y));
                self.clauses.above(&mut vec![both])
            }
            PlanOp::Seq(a, b) => {
                let mut ways = Vec::new();
                for middle in self.between.most(a)[x].events() {
                    if self.between.most(b)[middle].has(y) {
                        ways.push((self.above(a, x, middle), self.above(b, middle, y)));
                    }
                }
                self.clauses.above(&mut ways)
            }
            PlanOp::Inverse(a) => self.above(a, y, x),
            PlanOp::Plus(a) => self.closure_above(node, a, x, y),
        };
        let memo = &mut self.above[node];
        if memo.is_empty() {
            self.clauses.budget.hold(self.events * self.events * size_of::<Option<Term>>());
            memo.resize(self.events * self.events, None);
        }
        memo[at] = Some(term);
        term
    }

    fn closure_above(&mut self, node: usize, of: usize, x: usize, y: usize) -> Term {
        let known = self.closures[node].take().or_else(|| {
            let (least, most) = (self.between.least(node), self.between.most(of));
            Closure::new(least, most, &mut self.clauses.budget)
        });
        let Some(mut closure) = known else { return Term::FALSE };
        let need = closure.needs(x, y, &mut self.clauses.budget);
        for edge in need {
            let (from, to) = closure.edge(edge);
            let term = self.above(of, from, to);
            closure.set(edge, term);
        }
        let term = closure.above(&mut self.clauses, x, y);
        self.closures[node] = Some(closure);
        term
    }

    /// The options by which a slot of `read` reads from `write`.
    fn reading(&self, write: usize, read: usize) -> Vec<(Term, Term)> {
        let (from, to) = self.structure.unfolding.slots_of[read];
        let slots = self.options[from..to].iter().zip(&self.choice[from..to]);
        slots
            .flat_map(|(options, choice)| options.iter().zip(choice))
            .filter(|(option, _)| option.has(write))
            .map(|(_, &taken)| (Term::TRUE, taken))
            .collect()
    }

    /// For each option of a slot of `read` and each write of it: the option is taken, and `later`,
    /// which covers the slot, follows the write.
    fn overtaking(&self, read: usize, later: usize) -> Vec<(Term, Term)> {
        let u = self.structure.unfolding;
        let (from, to) = u.slots_of[read];
        let mut ways = Vec::new();
        for slot in from..to {
            if !u.events[later].bytes().contains(u.slots[slot].cell) {
                continue;
            }
            for (option, &taken) in self.options[slot].iter().zip(&self.choice[slot]) {
                ways.extend(option.events().map(|write| (taken, self.co.get(write, later))));
            }
        }
        ways
    }

    fn chosen_above(&mut self, chosen: Chosen, x: usize, y: usize) -> Term {
        match chosen {
            Chosen::Rf => self.clauses.above(&mut self.reading(x, y)),
            Chosen::Fr => self.clauses.above(&mut self.overtaking(x, y)),
            Chosen::Co => self.co.get(x, y),
            Chosen::Fsc => self.fsc.get(x, y),
        }
    }

    /// A term that holds only if the node has the pair.
    pub(super) fn below(&mut self, node: usize, x: usize, y: usize) -> Term {
        if !self.between.most(node)[x].has(y) || self.stopped() {
            return Term::FALSE;
        }
        if self.between.least(node)[x].has(y) {
            return Term::TRUE;
        }
        if let Some(&term) = self.below.get(&(node, x, y)) {
            return self.clauses.fold(term);
        }
        let ways = match self.op(node) {
            PlanOp::Chosen(Chosen::Rf) => self.reading(x, y),
            PlanOp::Chosen(Chosen::Fr) => self.overtaking(x, y),
            PlanOp::Chosen(Chosen::Co) => vec![(Term::TRUE, self.co.get(x, y))],
            PlanOp::Chosen(Chosen::Fsc) => vec![(Term::TRUE, self.fsc.get(x, y))],
            PlanOp::Or(a, b) => {
                vec![(Term::TRUE, self.below(a, x, y)), (Term::TRUE, self.below(b, x, y))]
            }
            PlanOp::And(a, b) => vec![(self.below(a, x, y), self.below(b, x, y))],
            PlanOp::Minus(a, b) => vec![(self.below(a, x, y), !self.above(b, x, y))],
            PlanOp::Seq(a, b) => self.middles(a, b, x, y, Self::below),
            PlanOp::Inverse(a) => vec![(Term::TRUE, self.below(a, y, x))],
            PlanOp::Plus(a) => {
                let doublings = usize::BITS - (self.events - 1).leading_zeros();
                vec![(Term::TRUE, self.path_below(a, x, y, doublings))]
            }
        };
        let term = self.clauses.below(&ways);
        self.below.insert((node, x, y), term);
        self.clauses.budget.hold(ENTRY);
        term
    }

    fn middles(
        &mut self,
        a: usize,
        b: usize,
        x: usize,
        y: usize,
        term: impl Fn(&mut Self, usize, usize, usize) -> Term,
    ) -> Vec<(Term, Term)> {
        let mut ways = Vec::new();
        for middle in self.between.most(a)[x].events() {
            if self.between.most(b)[middle].has(y) {
                ways.push((term(self, a, x, middle), term(self, b, middle, y)));
            }
        }
        ways
    }

    /// A path by halves: nothing supports itself, as it would in a recursive definition.
    fn path_below(&mut self, of: usize, x: usize, y: usize, doublings: u32) -> Term {
        if doublings == 0 {
            return self.below(of, x, y);
        }
        if self.stopped() {
            return Term::FALSE;
        }
        if let Some(&term) = self.paths.get(&(of, x, y, doublings)) {
            return self.clauses.fold(term);
        }
        let mut ways = vec![(Term::TRUE, self.path_below(of, x, y, doublings - 1))];
        for middle in 0..self.events {
            let first = self.path_below(of, x, middle, doublings - 1);
            if first != Term::FALSE {
                ways.push((first, self.path_below(of, middle, y, doublings - 1)));
            }
        }
        let term = self.clauses.below(&ways);
        self.paths.insert((of, x, y, doublings), term);
        self.clauses.budget.hold(ENTRY);
        term
    }
}

fn with(then: &[Term], condition: Term) -> Vec<Term> {
    then.iter().copied().chain([!condition]).collect()
}

/// From this many terms on, pairs of them are too many.
const MANY: usize = 12;

/// Terms of which exactly one holds.
pub(super) fn one_of(clauses: &mut Clauses, count: usize) -> Vec<Term> {
    match count {
        0 | 1 => vec![Term::TRUE; count],
        2 => {
            let first = clauses.fresh();
            vec![first, !first]
        }
        MANY.. => {
            let terms: Vec<Term> = (0..count).map(|_| clauses.fresh()).collect();
            clauses.any(terms.iter().copied());
            // Each with one that says whether it, or one before it, is taken: where there are many,
            // pairs are too many.
            let mut before: Option<Term> = None;
            for &one in &terms {
                let taken = clauses.fresh();
                clauses.implies(&[one], &[taken]);
                if let Some(before) = before {
                    clauses.implies(&[before], &[taken]);
                    clauses.any([!one, !before]);
                }
                before = Some(taken);
            }
            terms
        }
        _ => {
            let terms: Vec<Term> = (0..count).map(|_| clauses.fresh()).collect();
            clauses.any(terms.iter().copied());
            for (index, &one) in terms.iter().enumerate() {
                for &other in &terms[index + 1..] {
                    clauses.any([!one, !other]);
                }
            }
            terms
        }
    }
}
