//! Where threads stay for ever, those that stay alike together.

use model::program::{Stays, Stuck};

use crate::arrivals;
use crate::finding::{FindingKind, FindingPlace, KernelFinding};
use crate::verification::Reader;

/// Threads that stay at one instruction for one reason.
struct StuckTogether<'s> {
    stuck: &'s Stuck,
    place: &'s FindingPlace,
    columns: Vec<usize>,
}

impl StuckTogether<'_> {
    fn words(&self) -> &'static str {
        let several = self.columns.len() > 1;
        match self.stuck.why {
            Stays::Waits if several => "wait for ever",
            Stays::Waits => "waits for ever",
            Stays::Loops if several => "repeat a loop for ever",
            Stays::Loops => "repeats a loop for ever",
            Stays::Faults if several => "fault",
            Stays::Faults => "faults",
        }
    }
}

impl Reader<'_> {
    /// Where threads stay for ever. Otherwise why that says nothing of the kernel: threads that are left out may arrive at an object.
    pub(crate) fn hang(&self, stuck: &[Stuck]) -> Result<KernelFinding, String> {
        let program = &self.test.program;
        let at_object = stuck.iter().any(|stuck| arrivals::waits_at_object(program, stuck));
        match self.composed.objects.open.as_ref().filter(|_| at_object) {
            Some(open) => Err(open.why.clone()),
            None => Ok(self.staying(stuck)),
        }
    }

    pub(crate) fn staying(&self, stuck: &[Stuck]) -> KernelFinding {
        let places: Vec<FindingPlace> =
            stuck.iter().map(|stuck| self.place(stuck.thread, stuck.line)).collect();
        let mut groups: Vec<StuckTogether<'_>> = Vec::new();
        for (stuck, place) in stuck.iter().zip(&places) {
            let column = usize::from(stuck.thread.0);
            let is_alike = |of: &&mut StuckTogether<'_>| {
                (of.stuck.why, of.stuck.object) == (stuck.why, stuck.object)
                    && (of.place.line, &of.place.text) == (place.line, &place.text)
            };
            match groups.iter_mut().find(is_alike) {
                Some(group) => group.columns.push(column),
                None => groups.push(StuckTogether { stuck, place, columns: vec![column] }),
            }
        }
        let group = |group: &StuckTogether<'_>| {
            let threads = self.composed.thread_names(&group.columns);
            let object = judge::stuck::object(group.stuck);
            format!("{threads} {} at `{}`{object}", group.words(), group.place.text)
        };
        let texts: Vec<String> = groups.iter().map(group).collect();
        let count = stuck.iter().find_map(|stuck| judge::stuck::count(self.test, stuck));
        let message = texts.join(", ") + &count.unwrap_or_default();
        KernelFinding { kind: FindingKind::Hang, message, places, like: 0 }
    }
}
