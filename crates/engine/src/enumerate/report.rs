//! What a consistent candidate is: an execution that is counted, outcomes, flags.

use std::ops::ControlFlow;

use execution::values::{Source, Values};
use model::bits::BitRow;

use super::Enumeration;
use crate::outcome::{self, from_reads, observes_memory, outcomes_of, raise_flags, reads_from};
use crate::sought::Sought;
use crate::structures::Stop;
use crate::witness::{ChosenRows, Witness};

impl<R: BitRow> Enumeration<'_, '_, '_, R> {
    /// Raises flags and counts the execution; whether its outcomes are to be reported.
    pub(super) fn settle(&mut self) -> Result<bool, Stop> {
        let u = self.structure.unfolding;
        self.admitted += 1;
        match self.job.sought {
            Sought::Everything | Sought::Outcomes(..) => {
                raise_flags(self.job.model, u, &mut self.plan, self.job.seen);
            }
            Sought::Undefined(_) => {
                raise_flags(self.job.model, u, &mut self.plan, self.job.seen);
                let found = self.job.seen.undefined.is_some();
                return if found { Err(Stop::Asked) } else { Ok(false) };
            }
            // The candidate has the read.
            Sought::UninitialisedReads => return Err(Stop::Asked),
        }
        if u.fault().is_some() || self.stuck {
            return Ok(false);
        }
        if std::mem::replace(&mut self.reported, true) {
            return Ok(observes_memory(u.program));
        }
        if let Some(executions) = &mut self.job.seen.executions {
            *executions += 1;
        }
        Ok(true)
    }

    pub(super) fn report(
        &mut self,
        sources: &[Source<R>],
        values: &mut Values<'_, R>,
    ) -> Result<(), Stop> {
        let u = self.structure.unfolding;
        let (structure, co, fsc) = (self.structure, &self.co, &self.fsc.rows);
        let (visit, budget) = (&mut *self.job.visit, &mut self.job.budget);
        let bytes = outcome::bytes(u.program);
        let several = !self.free_fences.is_empty();
        let known = &mut self.told;
        let told = outcomes_of(u, values, co, &mut |outcome| {
            // Orders of the fences are not distinguished: an outcome counts once for all of them.
            if several && !known.insert(outcome.to_vec()) {
                return ControlFlow::Continue(());
            }
            if !budget.follow() || several && !budget.hold(bytes) {
                return ControlFlow::Break(());
            }
            let witness = || {
                let fr = from_reads(u, sources, co);
                let rf = reads_from(u, sources);
                let chosen = ChosenRows { rf: &rf, co, fr: &fr, fsc };
                Witness::new(structure, sources, &chosen, outcome)
            };
            visit(outcome, &witness)
        })?;
        budget.check()?;
        if told.is_break() { Err(Stop::Asked) } else { Ok(()) }
    }
}
