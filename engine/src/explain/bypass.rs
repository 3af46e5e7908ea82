//! Why a read of an allowed execution misses a write, where asynchronous operations or the async proxy are the reason.

use execution::unfold::Event;
use model::bits::{BitRel, BitRow};
use model::given::{Fixed, Tag};
use model::rel::{DefinitionBody, Model};
use model::section;

use super::candidate::Candidate;

/// A sentence for each pair of a read and a write that seem to be ordered, and are not.
pub(super) fn unseen<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Vec<String> {
    if !candidate.structure.unfolding.program.is_asynchronous() {
        return Vec::new();
    }
    let named = |name: &str| {
        let of = model.definitions.iter().find(|definition| definition.name == name)?;
        match of.body {
            DefinitionBody::Rel(node) => Some(&candidate.nodes[usize::from(node.0)]),
            DefinitionBody::Set(_) => None,
        }
    };
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
        let (before, after) = (&u.events[write], &u.events[read]);
        let (here, there) = (before.thread?, after.thread?);
        let issue = self.candidate.structure.fixed(Fixed::Issue);
        let seen = |&event: &usize| issue.has(write, event) && self.base.has(event, read);
        let operation = (0..u.events.len()).find(seen).filter(|_| here != there)?;
        let name = |event: &Event<'_>| {
            let thread = event.thread.map_or(0, |thread| usize::from(thread.0));
            u.program.threads[thread].name.clone()
        };
        Some(format!(
            "{reader} has waited for `{copy}`, and sees what it does. That does not order what {writer} did before it, \
             such as `{wrote}` ({}).",
            section::ASYNC_OPERATIONS.number,
            reader = name(after),
            copy = self.text(operation),
            writer = name(before),
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
        let u = self.candidate.structure.unfolding;
        let of = &u.events[event];
        let thread = of.thread.map_or(0, |thread| usize::from(thread.0));
        let line = of.of.map_or(0, |of| usize::from(of.line));
        &u.program.threads[thread].lines[line].text
    }
}
