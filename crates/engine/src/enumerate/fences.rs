//! Fence-SC order, which is existential: whether some order of the fences is consistent.

use model::bits::{self, BitRel, BitRow};
use model::given::Chosen;

use super::{Enumeration, Sought, Stop, observes_memory, plan, undefines};

impl<R: BitRow> Enumeration<'_, '_, '_, R> {
    /// Fences that the program orders already, by an axiom of the form "empty X - fence-sc".
    pub(super) fn fix_fences(&mut self) {
        for axiom in &self.plan.axioms {
            if let plan::PlanCheck::Against(node, Chosen::Fsc) = axiom.check {
                for &(a, b) in &self.plan.fsc_pairs {
                    if self.plan.node(node)[a].has(b) {
                        self.fixed_fences.insert(a, b);
                    } else if self.plan.node(node)[b].has(a) {
                        self.fixed_fences.insert(b, a);
                    }
                }
            }
        }
        let fixed = &self.fixed_fences;
        let free = |&&(a, b): &&(usize, usize)| !fixed.has(a, b) && !fixed.has(b, a);
        self.free_fences = self.plan.fsc_pairs.iter().filter(free).copied().collect();
        self.fsc = self.fixed_fences.clone();
    }

    /// Whether some execution of the structure may make the program undefined: then each order of
    /// the fences has to be looked at.
    fn undefined_is_possible(&self) -> bool {
        !matches!(self.job.sought, Sought::Outcomes(..) | Sought::UninitialisedReads)
            && self.job.seen.undefined.is_none()
            && (self.structure.unfolding.fault().is_some()
                || self.plan.flags.iter().any(|flag| undefines(self.job.model, flag)))
    }

    /// Orders the pairs of fences of which one direction is inconsistent; false when both are.
    pub(super) fn force_fences(&mut self, forced: &mut BitRel<R>) -> Result<bool, Stop> {
        loop {
            let mut changed = false;
            for index in 0..self.free_fences.len() {
                let (a, b) = self.free_fences[index];
                if related(forced, a, b) {
                    continue;
                }
                self.tick()?;
                let ways = [(a, b), (b, a)].map(|(first, second)| {
                    let mut tried = forced.clone();
                    tried.insert(first, second);
                    bits::close(&mut tried.rows);
                    (bits::is_irreflexive(&tried.rows) && self.fences_consistent(&tried))
                        .then_some(tried)
                });
                match ways {
                    [None, None] => return Ok(false),
                    [Some(only), None] | [None, Some(only)] => {
                        *forced = only;
                        changed = true;
                    }
                    [Some(_), Some(_)] => {}
                }
            }
            if !changed {
                return Ok(true);
            }
        }
    }

    pub(super) fn fences_consistent(&mut self, fsc: &BitRel<R>) -> bool {
        self.fsc.rows.clone_from(&fsc.rows);
        self.run_fences();
        self.consistent()
    }

    /// Orders the remaining fences; true once the executions admitted are enough: when no order
    /// can make the program undefined, and either no memory is observed or co is already the least
    /// that any order of the fences leaves.
    pub(super) fn order_fences(
        &mut self,
        free: &[(usize, usize)],
        ordered: &BitRel<R>,
    ) -> Result<bool, Stop> {
        self.tick()?;
        let Some((&(a, b), rest)) = free.split_first() else {
            if !self.fences_consistent(ordered) {
                return Ok(false);
            }
            self.admit()?;
            let every_outcome =
                !observes_memory(self.structure.unfolding.program) || self.co == self.least_co;
            return Ok(every_outcome && !self.undefined_is_possible());
        };
        if related(ordered, a, b) {
            return self.order_fences(rest, ordered);
        }
        for (first, second) in [(a, b), (b, a)] {
            let mut next = ordered.clone();
            next.insert(first, second);
            bits::close(&mut next.rows);
            if bits::is_irreflexive(&next.rows)
                && self.fences_consistent(&next)
                && self.order_fences(rest, &next)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

pub(super) fn related<R: BitRow>(order: &BitRel<R>, a: usize, b: usize) -> bool {
    order.has(a, b) || order.has(b, a)
}
