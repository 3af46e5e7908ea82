//! Why a read of an allowed execution misses a write, where asynchronous operations or the async proxy are the reason.

use model::bits::{BitRel, BitRow};
use model::given::{Fixed, Tag};
use model::program::LaunchOrder;
use model::rel::Model;
use model::section;

use super::candidate::Candidate;

/// A sentence for each pair of a read and a write that seem to be ordered, and are not.
pub(super) fn unseen<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Vec<String> {
    if !candidate.structure.unfolding.program.is_asynchronous() {
        return Vec::new();
    }
    let named = |name: &str| candidate.relation(model, name);
    let (Some(base), Some(causality)) = (named("base-causality"), named("causality")) else {
        return Vec::new();
    };
    let orders = Orders { candidate, base, causality };
    let missed = candidate.fr.pairs().filter_map(|(read, write)| orders.missed(write, read));
    let early = candidate.rf.pairs().filter_map(|(write, read)| orders.proxies(read, write));
    let mut all: Vec<String> = Vec::new();
    for text in missed.chain(early) {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

struct Orders<'c, R: BitRow> {
    candidate: &'c Candidate<'c, R>,
    base: &'c BitRel<R>,
    causality: &'c BitRel<R>,
}

impl<R: BitRow> Orders<'_, R> {
    /// Why a read does not return what this write wrote.
    fn missed(&self, write: usize, read: usize) -> Option<String> {
        if self.base.has(write, read) {
            return self.proxies(write, read);
        }
        let u = self.candidate.structure.unfolding;
        if let Some(kernels) = self.kernels(write, read) {
            return Some(kernels);
        }
        let (before, after) = (&u.events[write], &u.events[read]);
        let (here, there) = (before.thread?, after.thread?);
        let issue = self.candidate.structure.fixed(Fixed::Issue);
        let seen = |&event: &usize| issue.has(write, event) && self.base.has(event, read);
        let operation = (0..u.events.len()).find(seen).filter(|_| here != there)?;
        Some(format!(
            "{reader} has waited for `{copy}`, and sees what it does. That does not order what {writer} did before it, \
             such as `{wrote}` ({}).",
            section::ASYNC_OPERATIONS.number,
            reader = self.candidate.instruction(read).0,
            copy = self.text(operation),
            writer = self.candidate.instruction(write).0,
            wrote = self.text(write),
        ))
    }

    /// That accesses through two proxies are ordered only with a fence, where base causality order has them.
    fn proxies(&self, first: usize, second: usize) -> Option<String> {
        let u = self.candidate.structure.unfolding;
        let is_async = |event: usize| u.events[event].tags.has(Tag::AsyncProxy);
        let ordered = self.base.has(first, second) && !self.causality.has(first, second);
        if !ordered || is_async(first) == is_async(second) {
            return None;
        }
        let proxy = |event: usize| if is_async(event) { "async proxy" } else { "generic proxy" };
        Some(format!(
            "`{}` ({}) comes before `{}` ({}) in base causality order, and no `fence.proxy.async` for these bytes is between \
             them ({}).",
            self.text(first),
            proxy(first),
            self.text(second),
            proxy(second),
            section::ASYNC_PROXY.number,
        ))
    }

    fn text(&self, event: usize) -> &str {
        self.candidate.instruction(event).1
    }

    /// That a dependent kernel starts before the kernels before it have ended.
    fn kernels(&self, write: usize, read: usize) -> Option<String> {
        let u = self.candidate.structure.unfolding;
        let kernel = |event: usize| {
            let thread = u.events[event].thread?;
            Some(u.program.threads[usize::from(thread.0)].placement.kernel)
        };
        let (before, after) = (kernel(write)?, kernel(read)?);
        let launched = u.program.launches.iter().any(|launch| {
            launch.order == LaunchOrder::Programmatic
                && (launch.before, launch.after) == (before, after)
        });
        launched.then(|| {
            format!(
                "kernel {after} may start before kernel {before} has ended. Only a `griddepcontrol.wait` before `{}` makes \
                 what kernel {before} did visible to it ({}).",
                self.text(read),
                section::GRIDDEPCONTROL.number,
            )
        })
    }
}
