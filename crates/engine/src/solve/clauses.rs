//! Clauses over Boolean variables, and truth values with constant folding.

use crate::budget::Budget;

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Lit(u32);

impl Lit {
    pub(crate) fn var(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// The variable itself.
    pub(crate) fn of(var: usize) -> Lit {
        Lit(u32::try_from(var).expect("fewer variables than that") << 1)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// A truth value that is fixed by the program or left to the solver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Term {
    Known(bool),
    Open(Lit),
}

impl Term {
    pub(crate) const FALSE: Term = Term::Known(false);
    pub(crate) const TRUE: Term = Term::Known(true);
}

impl std::ops::Not for Term {
    type Output = Term;

    fn not(self) -> Term {
        match self {
            Term::Known(value) => Term::Known(!value),
            Term::Open(lit) => Term::Open(!lit),
        }
    }
}

/// What a literal of a clause takes until the solver has it: itself, its place in the table of
/// occurrences, and a copy while clauses are dropped.
const LITERAL: usize = 12;
/// The same for its clause.
const CLAUSE: usize = 17;

/// In clauses of more literals than this, comparing each with all before takes too long.
const LONG: usize = 64;

/// A set of clauses that grows. What a clause of one literal fixes is known from then on.
#[derive(Default)]
pub(crate) struct Clauses {
    /// For each variable, its value if a clause fixes it.
    fixed: Vec<Option<bool>>,
    literals: Vec<Lit>,
    /// Where each clause ends in `literals`.
    ends: Vec<usize>,
    /// Whether the empty clause is among them.
    impossible: bool,
    /// Once a limit was reached, no clause is added: they say too little then.
    pub budget: Budget,
}

impl Clauses {
    pub(crate) fn new(budget: Budget) -> Clauses {
        Clauses { budget, ..Clauses::default() }
    }

    pub(crate) fn vars(&self) -> usize {
        self.fixed.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no assignment is known to satisfy them; `false` proves nothing.
    pub(crate) fn impossible(&self) -> bool {
        self.impossible
    }

    /// The clauses from the one with this number on.
    pub(crate) fn after(&self, first: usize) -> impl Iterator<Item = &[Lit]> {
        (first..self.ends.len()).map(|clause| self.clause(clause))
    }

    pub(crate) fn clause(&self, clause: usize) -> &[Lit] {
        let start = clause.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.literals[start..self.ends[clause]]
    }

    /// Takes a literal for true from now on.
    pub(crate) fn fix(&mut self, lit: Lit) {
        self.fixed[lit.var()] = Some(!lit.is_negated());
    }

    /// Drops clauses, and from the others the literals that are known to be false.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let (mut literals, mut ends) = (Vec::new(), Vec::new());
        let before = self.bytes();
        for clause in (0..self.len()).filter(|&clause| keep(clause)) {
            let open = |lit: &Lit| self.fold(Term::Open(*lit)) != Term::FALSE;
            literals.extend(self.clause(clause).iter().copied().filter(open));
            ends.push(literals.len());
        }
        (self.literals, self.ends) = (literals, ends);
        self.budget.release(before - self.bytes());
    }

    pub(crate) fn fresh(&mut self) -> Term {
        let lit = Lit::of(self.fixed.len());
        self.fixed.push(None);
        Term::Open(lit)
    }

    /// What is known of a term by now.
    pub(crate) fn fold(&self, term: Term) -> Term {
        match term {
            Term::Open(lit) => match self.fixed[lit.var()] {
                Some(value) => Term::Known(value != lit.is_negated()),
                None => term,
            },
            Term::Known(_) => term,
        }
    }

    /// One of the terms holds.
    pub(crate) fn any(&mut self, terms: impl IntoIterator<Item = Term>) {
        if !self.budget.step() {
            return;
        }
        let start = self.literals.len();
        for term in terms {
            match self.fold(term) {
                Term::Known(false) => {}
                // Of a long clause, all at once below.
                Term::Open(lit) if self.literals.len() - start >= LONG => self.literals.push(lit),
                Term::Open(lit) if self.literals[start..].contains(&lit) => {}
                Term::Open(lit) if !self.literals[start..].contains(&!lit) => {
                    self.literals.push(lit);
                }
                // True, or true with one before.
                Term::Known(true) | Term::Open(_) => {
                    self.literals.truncate(start);
                    return;
                }
            }
        }
        if self.literals.len() - start > LONG && !self.distinct(start) {
            self.literals.truncate(start);
            return;
        }
        match self.literals[start..] {
            [] => {
                self.impossible = true;
                return;
            }
            [only] => self.fixed[only.var()] = Some(!only.is_negated()),
            _ => {}
        }
        self.ends.push(self.literals.len());
        self.budget.hold(CLAUSE + LITERAL * (self.literals.len() - start));
    }

    /// Sorts the literals from `start` on, each once; false where one stands with its negation.
    fn distinct(&mut self, start: usize) -> bool {
        self.literals[start..].sort_unstable();
        let mut end = start;
        for at in start..self.literals.len() {
            let lit = self.literals[at];
            let before = (end > start).then(|| self.literals[end - 1]);
            if before == Some(!lit) {
                return false;
            }
            if before != Some(lit) {
                self.literals[end] = lit;
                end += 1;
            }
        }
        self.literals.truncate(end);
        true
    }

    fn bytes(&self) -> usize {
        self.literals.len() * LITERAL + self.ends.len() * CLAUSE
    }

    /// How many literals there are from that clause on.
    pub(crate) fn literals_after(&self, first: usize) -> usize {
        self.literals.len() - first.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// All of `terms` holds only if one of `then` does.
    pub(crate) fn implies(&mut self, terms: &[Term], then: &[Term]) {
        let negated = terms.iter().map(|&term| !term);
        self.any(negated.chain(then.iter().copied()));
    }

    /// A term that holds whenever both terms of one of the pairs do. It may hold without: where only
    /// falsehood is ever demanded of it, that is as good as being equal to the disjunction.
    pub(crate) fn above(&mut self, pairs: &mut Vec<(Term, Term)>) -> Term {
        for pair in pairs.iter_mut() {
            *pair = (self.fold(pair.0), self.fold(pair.1));
            if pair.0 > pair.1 {
                *pair = (pair.1, pair.0);
            }
        }
        pairs.retain(|&(a, b)| a != Term::FALSE && b != Term::FALSE);
        // What is known sorts first.
        pairs.sort_unstable();
        pairs.dedup();
        match pairs[..] {
            [] => Term::FALSE,
            [(Term::Known(_), only)] => only,
            _ if pairs.contains(&(Term::TRUE, Term::TRUE)) => Term::TRUE,
            _ => {
                let all = self.fresh();
                for &(a, b) in pairs.iter() {
                    self.implies(&[a, b], &[all]);
                }
                all
            }
        }
    }

    /// A term that holds only if both terms of one of the pairs do.
    pub(crate) fn below(&mut self, pairs: &[(Term, Term)]) -> Term {
        let mut ways = Vec::with_capacity(pairs.len());
        for &(a, b) in pairs {
            let way = match (self.fold(a), self.fold(b)) {
                (Term::Known(false), _) | (_, Term::Known(false)) => continue,
                (Term::Known(true), only) | (only, Term::Known(true)) => only,
                (a, b) => {
                    let both = self.fresh();
                    self.implies(&[both], &[a]);
                    self.implies(&[both], &[b]);
                    both
                }
            };
            ways.push(way);
        }
        match ways[..] {
            [] => Term::FALSE,
            [only] => only,
            _ if ways.contains(&Term::TRUE) => Term::TRUE,
            _ => {
                let some = self.fresh();
                self.implies(&[some], &ways);
                some
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_of_one_literal_is_known_afterwards() {
        let mut clauses = Clauses::default();
        let (a, b) = (clauses.fresh(), clauses.fresh());
        clauses.any([a, Term::FALSE]);
        clauses.any([!a, b]);
        assert_eq!(clauses.fold(b), Term::TRUE);
        clauses.any([!b, !a]);
        assert!(clauses.impossible());
    }

    #[test]
    fn a_long_clause_has_each_literal_once() {
        let mut clauses = Clauses::default();
        let terms: Vec<Term> = (0..3 * LONG).map(|_| clauses.fresh()).collect();
        clauses.any(terms.iter().rev().chain(&terms).copied());
        assert_eq!((clauses.len(), clauses.literals_after(0)), (1, terms.len()));
        clauses.any(terms.iter().copied().chain([!terms[7]]));
        assert_eq!(clauses.len(), 1, "it is true of itself");
    }

    #[test]
    fn a_single_disjunct_stands_for_itself() {
        let mut clauses = Clauses::default();
        let a = clauses.fresh();
        assert_eq!(clauses.above(&mut vec![(Term::TRUE, a), (a, Term::FALSE)]), a);
        assert_eq!(clauses.below(&[(a, Term::TRUE)]), a);
        assert_eq!(clauses.vars(), 1);
    }
}
