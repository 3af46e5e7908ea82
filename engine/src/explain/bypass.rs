//! Why a read of an allowed execution misses a write, where asynchronous operations or the async proxy are the reason.

use model::bits::{BitRel, BitRow};
use model::given::{Fixed, Tag};
use model::memory::Proxy;
use model::program::LaunchOrder;
use model::rel::Model;
use model::section;

use super::candidate::Candidate;

/// A sentence for each pair of a read and a write that seem to be ordered, and are not.
pub(super) fn unseen<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Vec<String> {
    let named = |name: &str| candidate.relation(model, name);
    let (Some(base), Some(causality)) = (named("base-causality"), named("causality")) else {
        return Vec::new();
    };
    let orders = Orders { candidate, base, causality };
    let missed = candidate.fr.pairs().filter_map(|(read, write)| orders.missed(write, read));
    let early = candidate.rf.pairs().filter_map(|(write, read)| orders.proxies(read, write));
    let between = candidate.rf.pairs().flat_map(|(write, read)| orders.between(write, read));
    let mut all: Vec<String> = Vec::new();
    for text in missed.chain(early).chain(between) {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

const ASYNC: &str = "async";
const GENERIC: &str = "generic";

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

    /// Why a write that seems to be between a write and a read of it is not.
    fn between(&self, write: usize, read: usize) -> impl Iterator<Item = String> + '_ {
        let u = self.candidate.structure.unfolding;
        let overlaps = self.candidate.structure.fixed(Fixed::LocationOverlap);
        let between = move |&middle: &usize| {
            u.events[middle].is_write()
                && overlaps.has(middle, read)
                && self.base.has(write, middle)
                && self.base.has(middle, read)
        };
        let why = move |middle| self.proxies(write, middle).or_else(|| self.proxies(middle, read));
        (0..u.events.len()).filter(between).filter_map(why)
    }

    /// That accesses through two proxies are ordered only with a fence, where base causality order has them.
    fn proxies(&self, first: usize, second: usize) -> Option<String> {
        if !self.base.has(first, second) || self.causality.has(first, second) {
            return None;
        }
        let (one, other) = (self.proxy(first)?, self.proxy(second)?);
        let aliases =
            !self.candidate.structure.fixed(Fixed::Overlap).has(first, second) && one == other;
        let (fence, section) = match (one, other) {
            _ if aliases => ("alias", section::CAUSALITY_ORDER),
            (GENERIC, GENERIC) | (ASYNC, ASYNC) => return None,
            (ASYNC, _) | (_, ASYNC) => ("async", section::ASYNC_PROXY),
            (GENERIC, of) | (of, _) => (of, section::CAUSALITY_ORDER),
        };
        let (first, second) = (self.text(first), self.text(second));
        let number = section.number;
        if aliases {
            return Some(format!(
                "`{first}` comes before `{second}` in base causality order, by another address of the same bytes, and no \
                 `fence.proxy.alias` is between them ({number})."
            ));
        }
        let bytes = if fence == ASYNC { " for these bytes" } else { "" };
        Some(format!(
            "`{first}` ({one} proxy) comes before `{second}` ({other} proxy) in base causality order, and no \
             `fence.proxy.{fence}`{bytes} is between them ({number})."
        ))
    }

    /// The proxy of an access of memory.
    fn proxy(&self, event: usize) -> Option<&'static str> {
        let tags = &self.candidate.structure.unfolding.events[event].tags;
        let named = [
            (Tag::AsyncProxy, ASYNC),
            (Tag::TensormapProxy, "tensormap"),
            (Tag::Texture, Proxy::Texture.name()),
            (Tag::Surface, Proxy::Surface.name()),
            (Tag::Constant, Proxy::Constant.name()),
            (Tag::Generic, GENERIC),
        ];
        named.into_iter().find_map(|(tag, name)| tags.has(tag).then_some(name))
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
