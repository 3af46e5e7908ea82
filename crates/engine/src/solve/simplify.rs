//! Reduces the number of clauses before they reach the solver: for these clauses Z3 takes about as long to
//! read one as to reason about it.

use super::clauses::{Clauses, Lit, Term};

/// Where each literal occurs.
struct Occurrences {
    /// For each literal, the clauses it is in: from here in `places`, up to where the next begin.
    begin: Vec<usize>,
    places: Vec<u32>,
    /// For each literal, how many of them are not yet satisfied.
    live: Vec<usize>,
    satisfied: Vec<bool>,
}

impl Occurrences {
    fn new(clauses: &Clauses) -> Occurrences {
        let mut live = vec![0; 2 * clauses.vars()];
        for lit in clauses.after(0).flatten() {
            live[lit.index()] += 1;
        }
        let mut begin = vec![0; live.len() + 1];
        for (lit, count) in live.iter().enumerate() {
            begin[lit + 1] = begin[lit] + count;
        }
        let mut next = begin.clone();
        let mut places = vec![0; clauses.literals_after(0)];
        for (index, clause) in clauses.after(0).enumerate() {
            for lit in clause {
                places[next[lit.index()]] = u32::try_from(index).expect("memory is full before");
                next[lit.index()] += 1;
            }
        }
        Occurrences { begin, places, live, satisfied: vec![false; clauses.len()] }
    }

    fn of(&self, lit: Lit) -> std::ops::Range<usize> {
        self.begin[lit.index()]..self.begin[lit.index() + 1]
    }
}

/// Takes away literals that are known, and variables that are only ever demanded one way, with
/// every clause that they satisfy. Clauses yet to come may speak of `kept` and of new variables only.
pub(super) fn simplify(clauses: &mut Clauses, kept: impl IntoIterator<Item = Term>) {
    let mut free = vec![true; clauses.vars()];
    for term in kept {
        if let Term::Open(lit) = term {
            free[lit.var()] = false;
        }
    }
    let mut occurrences = Occurrences::new(clauses);
    let mut looked_at = vec![false; clauses.vars()];
    let mut pending: Vec<usize> = (0..clauses.vars()).collect();
    while let Some(var) = pending.pop() {
        if !clauses.budget.step() {
            return;
        }
        // What a clause fixes first, then what nothing contradicts.
        let positive = Lit::of(var);
        let lit = match clauses.fold(Term::Open(positive)) {
            Term::Known(true) => positive,
            Term::Known(false) => !positive,
            Term::Open(_) if !free[var] => continue,
            Term::Open(_) if occurrences.live[positive.index()] == 0 => !positive,
            Term::Open(_) if occurrences.live[(!positive).index()] == 0 => positive,
            Term::Open(_) => continue,
        };
        if std::mem::replace(&mut looked_at[var], true) {
            continue;
        }
        clauses.fix(lit);
        for place in occurrences.of(lit) {
            let clause = occurrences.places[place] as usize;
            if !std::mem::replace(&mut occurrences.satisfied[clause], true) {
                for &other in clauses.clause(clause) {
                    let live = &mut occurrences.live[other.index()];
                    *live -= 1;
                    if *live == 0 {
                        pending.push(other.var());
                    }
                }
            }
        }
        for place in occurrences.of(!lit) {
            let clause = occurrences.places[place] as usize;
            if !occurrences.satisfied[clause] {
                let open = |lit: &&Lit| clauses.fold(Term::Open(**lit)) != Term::FALSE;
                let mut left = clauses.clause(clause).iter().filter(open);
                match (left.next().copied(), left.next()) {
                    (None, _) => return clauses.any([]),
                    (Some(last), None) => {
                        clauses.fix(last);
                        pending.push(last.var());
                    }
                    (Some(_), Some(_)) => {}
                }
            }
        }
    }
    clauses.retain(|clause| !occurrences.satisfied[clause]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_contradicts_is_true_unless_it_is_kept() {
        let mut clauses = Clauses::default();
        let [a, b, c] = std::array::from_fn(|_| clauses.fresh());
        clauses.any([a, b]);
        clauses.any([a, c]);
        simplify(&mut clauses, [b, c]);
        assert_eq!((clauses.len(), clauses.fold(a)), (0, Term::TRUE));
    }

    #[test]
    fn what_is_known_is_followed_through() {
        let mut clauses = Clauses::default();
        let [a, b, c] = std::array::from_fn(|_| clauses.fresh());
        clauses.any([!a, b]);
        clauses.any([!b, c]);
        clauses.any([a]);
        simplify(&mut clauses, [a, b, c]);
        assert_eq!(clauses.fold(c), Term::TRUE);
        clauses.any([!c]);
        assert!(clauses.impossible());
    }
}
