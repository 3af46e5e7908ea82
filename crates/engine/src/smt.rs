//! Z3 as a solver of clauses; only this module calls it.
//!
//! Each thread has its own context. A new solver of the finite-domain logic is created for
//! each event structure, which is the cheapest way in Z3. Constants are created once and
//! reused.

use std::cell::RefCell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use z3::ast::Bool;
use z3::{Model, Params, SatResult, Solver};

use super::clock::Deadline;
use super::solve::clauses::{Clauses, Lit, Term};
use super::{Limit, Limits};

thread_local! {
    /// For each variable, its constant and the negation.
    static LITERALS: RefCell<Vec<[Bool; 2]>> = const { RefCell::new(Vec::new()) };
}

/// Why Z3 is not available, if it is not.
///
/// Where the library is loaded when it is needed, this loads it; one that is not found has such an answer in
/// the place of a version (`checker/libz3/lazy.c`).
pub(crate) fn missing() -> Option<&'static str> {
    z3::full_version().strip_prefix("no libz3: ")
}

/// What Z3 takes for a clause, and for each literal of it: measured over clauses of two literals and of
/// three, terms and solver together.
const CLAUSE: usize = 200;
const LITERAL: usize = 20;

/// What Z3 may hold in all threads together, in MiB, where it was not told yet; 0 where there is nothing to tell.
static UNTOLD: AtomicUsize = AtomicUsize::new(0);

/// Sets what Z3 may hold in all threads together: it counts no less. It takes effect at the first use.
pub(crate) fn limit_memory(bytes: usize) {
    UNTOLD.store((bytes >> 20).clamp(64, 1 << 31), Ordering::Relaxed);
}

pub(crate) struct Smt {
    solver: Solver,
    deadline: Option<Deadline>,
    /// How long a query of this solver may take, if there is a deadline.
    patience: Duration,
    memory: usize,
    /// How many clauses it has been given.
    taken: usize,
    /// What it takes for them.
    held: usize,
}

/// What satisfies the clauses.
pub(crate) struct Assignment(Model);

impl Smt {
    pub(crate) fn new(limits: &Limits) -> Smt {
        // Only functions have graphs, and to look for them takes as long as a small question does.
        static NO_FUNCTIONS: Once = Once::new();
        NO_FUNCTIONS.call_once(|| z3::set_global_param("model.compact", "false"));
        let mebibytes = UNTOLD.swap(0, Ordering::Relaxed);
        if mebibytes > 0 {
            z3::set_global_param("sat.max_memory", &mebibytes.to_string());
        }
        let left = limits.deadline.map(|deadline| deadline.left());
        let patience = left.unwrap_or(Duration::MAX);
        let (deadline, memory) = (limits.deadline, limits.memory);
        Smt { solver: solver(left), deadline, patience, memory, taken: 0, held: 0 }
    }

    /// Finds an assignment under which every clause and every assumption holds.
    pub(crate) fn solve(
        &mut self,
        clauses: &Clauses,
        assumptions: &[Lit],
    ) -> Result<Option<Assignment>, Limit> {
        clauses.budget.check()?;
        self.limit_time()?;
        let new = clauses.len() - self.taken;
        self.held += new * CLAUSE + clauses.literals_after(self.taken) * LITERAL;
        if self.held.saturating_add(clauses.budget.held()) > self.memory {
            return Err(Limit::Memory);
        }
        LITERALS.with_borrow_mut(|literals| {
            while literals.len() < clauses.vars() {
                let name = u32::try_from(literals.len()).expect("fewer variables than that");
                let constant = Bool::new_const(name);
                let negated = constant.not();
                literals.push([constant, negated]);
            }
            let literal = |lit: &Lit| &literals[lit.var()][usize::from(lit.is_negated())];
            for (index, clause) in clauses.after(self.taken).enumerate() {
                if index % 1024 == 1023 && self.expired() {
                    return Err(Limit::Time);
                }
                if let [only] = clause {
                    self.solver.assert(literal(only));
                } else {
                    let terms: Vec<&Bool> = clause.iter().map(literal).collect();
                    self.solver.assert(Bool::or(&terms));
                }
            }
            self.taken = clauses.len();
            let answer = if assumptions.is_empty() {
                self.solver.check()
            } else {
                let assumptions: Vec<Bool> =
                    assumptions.iter().map(|lit| literal(lit).clone()).collect();
                self.solver.check_assumptions(&assumptions)
            };
            match answer {
                SatResult::Sat => Ok(self.solver.get_model().map(Assignment)),
                SatResult::Unsat => Ok(None),
                SatResult::Unknown if self.expired() => Err(Limit::Time),
                SatResult::Unknown => {
                    let why = self.solver.get_reason_unknown().unwrap_or_default();
                    let memory = why.contains("memory") || why.contains("memout");
                    Err(if memory { Limit::Memory } else { Limit::Solver })
                }
            }
        })
    }

    fn expired(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline.is_over())
    }

    /// Starts again with a solver for the time that is left, where this one may take much longer: by a
    /// third of that at most. Parameters of a solver that has clauses cannot be changed: Z3 then
    /// simplifies the clauses as if no others were to come, and calls satisfiable ones unsatisfiable.
    fn limit_time(&mut self) -> Result<(), Limit> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        let left = deadline.left();
        if left.is_zero() {
            return Err(Limit::Time);
        }
        if left < self.patience * 3 / 4 {
            (self.solver, self.patience) = (solver(Some(left)), left);
            (self.taken, self.held) = (0, 0);
        }
        Ok(())
    }
}

/// A solver of clauses, each query of which takes no longer than this.
fn solver(patience: Option<Duration>) -> Solver {
    let solver = Solver::new_for_logic("QF_FD").expect("z3 knows the logic of finite domains");
    if let Some(patience) = patience {
        let mut params = Params::new();
        let millis = u32::try_from(patience.as_millis() + 1).unwrap_or(u32::MAX);
        params.set_u32("timeout", millis);
        solver.set_params(&params);
    }
    solver
}

impl Assignment {
    pub(crate) fn term(&self, term: Term) -> bool {
        match term {
            Term::Known(value) => value,
            Term::Open(lit) => self.holds(lit),
        }
    }

    /// What no clause speaks of is false.
    fn holds(&self, lit: Lit) -> bool {
        let value = LITERALS.with_borrow(|literals| {
            let constant = literals.get(lit.var())?.first()?;
            self.0.eval(constant, true)?.as_bool()
        });
        value.unwrap_or(false) != lit.is_negated()
    }
}
