//! Reads that may return what nobody has written: for each, an execution in which it does.

use execution::structure::EventStructure;
use model::bits::BitRow;

use super::{Enumeration, EnumerationJob};
use crate::Limit;
use crate::options::SourceOptions;
use crate::plan::{Bounds, Plan};
use crate::structures::Stop;
use crate::uninitialised::sought_read;

impl EnumerationJob<'_, '_> {
    /// Adds the reads of a structure. With the source of the read, most of what orders it after a write shows before anything is
    /// chosen.
    pub(super) fn uninitialised_reads<R: BitRow>(
        &mut self,
        structure: &EventStructure<'_, R>,
        options: &SourceOptions<R>,
    ) -> Result<(), Stop> {
        let u = structure.unfolding;
        for slot in 0..u.slots.len() {
            let Some(read) = sought_read(u, &options.slots, slot, self.seen) else { continue };
            if !self.grows {
                return Err(Stop::Limit(Limit::Model));
            }
            self.budget.look();
            self.budget.check()?;
            let options = options.uninitialised(u, slot);
            let bounds = Bounds::new(structure, options.rf.clone());
            let Ok(plan) = Plan::new(self.model, structure, &bounds) else { continue };
            let before = self.budget.held();
            let search = Enumeration::new(self, None, structure, plan, options);
            let found = search.map_or(Ok(()), |mut search| search.run());
            self.budget.release(self.budget.held() - before);
            match found {
                Ok(()) => {}
                Err(Stop::Asked) => {
                    self.seen.uninitialised.insert(read);
                }
                Err(limit) => return Err(limit),
            }
        }
        Ok(())
    }
}
