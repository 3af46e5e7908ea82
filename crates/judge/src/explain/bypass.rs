//! Why a read of an allowed execution misses a write, where asynchronous operations or the async proxy are the reason.

use execution::event::{BarrierUse, EventKind, Resource};
use model::bits::{BitRel, BitRow};
use model::given::{Fixed, Tag};
use model::memory::Proxy;
use model::program::LaunchOrder;
use model::rel::Model;
use model::section;

use super::candidate::Candidate;
use super::meeting::can_meet;
use super::note::WantedOrder;

/// A sentence for each of these pairs of a write and a read, and for each read and what it reads from, that seem to be ordered, and are not.
pub(super) fn unseen<'c, R: BitRow>(
    model: &'c Model,
    candidate: &'c Candidate<'_, R>,
    pairs: &[WantedOrder],
) -> Vec<String> {
    let Some(orders) = Orders::of(model, candidate) else { return Vec::new() };
    let u = candidate.structure.unfolding;
    let read =
        |pair: &&WantedOrder| u.events[pair.first].is_write() && u.events[pair.second].is_read();
    let missed = pairs.iter().filter(read);
    let missed = missed.filter_map(|pair| orders.missed(pair.first, pair.second));
    let early = candidate.rf.pairs().filter_map(|(write, read)| {
        orders.proxies(read, write).or_else(|| orders.kernels(read, write))
    });
    let between = candidate.rf.pairs().flat_map(|(write, read)| orders.between(write, read));
    missed.chain(early).chain(between).collect()
}

/// A sentence for each pair of a read and a write with barriers around them at which their threads do not meet, since they are in two
/// CTAs. Where a fence or a flag is there, too, that says more.
pub(super) fn of_two_ctas<'c, R: BitRow>(
    model: &'c Model,
    candidate: &'c Candidate<'_, R>,
) -> Vec<String> {
    let Some(orders) = Orders::of(model, candidate) else { return Vec::new() };
    let missed = candidate.fr.pairs().filter(|&(read, write)| !orders.base.has(write, read));
    missed.filter_map(|(read, write)| orders.two_ctas(write, read)).collect()
}

const ASYNC: &str = "async";
const GENERIC: &str = "generic";
const TENSORMAP: &str = "tensormap";

/// A proxy fence between two accesses.
struct Wanted {
    name: &'static str,
    tags: &'static [Tag],
    /// The access in whose CTA it has to be.
    in_cta_of: Option<usize>,
    section: section::Section,
}

impl Wanted {
    fn alias() -> Wanted {
        let section = section::CAUSALITY_ORDER;
        Wanted {
            name: "alias",
            tags: &[Tag::AliasFence, Tag::AliasRelease, Tag::AliasAcquire],
            in_cta_of: None,
            section,
        }
    }

    fn asynchronous() -> Wanted {
        let tags = &[Tag::AsyncFence, Tag::AsyncFenceRelease, Tag::AsyncFenceAcquire];
        Wanted { name: ASYNC, tags, in_cta_of: None, section: section::ASYNC_PROXY }
    }

    /// One of the proxy of an access.
    fn of(proxy: &'static str, access: usize) -> Wanted {
        let tags: &[Tag] = match proxy {
            TENSORMAP => &[Tag::TensormapRelease, Tag::TensormapAcquire],
            _ if proxy == Proxy::Texture.name() => &[Tag::Texture],
            _ if proxy == Proxy::Surface.name() => &[Tag::Surface],
            _ => &[Tag::Constant],
        };
        let in_cta_of = (proxy != TENSORMAP).then_some(access);
        Wanted { name: proxy, tags, in_cta_of, section: section::CAUSALITY_ORDER }
    }
}

struct Orders<'c, R: BitRow> {
    model: &'c Model,
    candidate: &'c Candidate<'c, R>,
    base: &'c BitRel<R>,
    causality: &'c BitRel<R>,
}

impl<'c, R: BitRow> Orders<'c, R> {
    /// `None` under a model without these relations.
    fn of(model: &'c Model, candidate: &'c Candidate<'_, R>) -> Option<Orders<'c, R>> {
        let base = candidate.relation(model, "base-causality")?;
        let causality = candidate.relation(model, "causality")?;
        Some(Orders { model, candidate, base, causality })
    }

    /// Why a read does not return what this write wrote, or races with it.
    fn missed(&self, write: usize, read: usize) -> Option<String> {
        if self.base.has(write, read) {
            return self.proxies(write, read);
        }
        if self.base.has(read, write) {
            return None;
        }
        let u = self.candidate.structure.unfolding;
        let why = self.kernels(write, read).or_else(|| self.barriers(write, read));
        if let Some(why) = why.or_else(|| self.uncovered(write, read)) {
            return Some(why);
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

    /// That a pattern of another thread of the writer's CTA, or of the reader's, does not cover the write, or the read.
    fn uncovered(&self, write: usize, read: usize) -> Option<String> {
        let named = |name: &str| self.candidate.relation(self.model, name);
        let synchronizes = named("synchronizes")?;
        let (release, acquire) = (named("release-pattern")?, named("acquire-pattern")?);
        self.unreleased(write, read, release, synchronizes)
            .or_else(|| self.unacquired(write, read, acquire, synchronizes))
    }

    fn is_fence(&self, event: usize) -> bool {
        let of = self.candidate.structure.unfolding.events[event].of;
        of.is_some_and(|of| of.kind == EventKind::Fence)
    }

    /// Whether two events are of different threads of one CTA.
    fn are_neighbours(&self, one: usize, other: usize) -> bool {
        let events = &self.candidate.structure.unfolding.events;
        let threads = [one, other].map(|event| events[event].thread);
        threads.iter().all(Option::is_some)
            && threads[0] != threads[1]
            && self.candidate.structure.fixed(Fixed::SameCta).has(one, other)
    }

    /// That a release by another thread of the writer's CTA does not cover the write: a fence that stands before the barrier at
    /// which its thread learns of the write, although the signal after the barrier does follow the write; or a release without
    /// a barrier before it.
    fn unreleased(
        &self,
        write: usize,
        read: usize,
        release: &BitRel<R>,
        synchronizes: &BitRel<R>,
    ) -> Option<String> {
        let reaches = |end: usize| end == read || self.base.has(end, read);
        let uncovering = |&(start, _): &(usize, usize)| {
            self.are_neighbours(start, write)
                && !self.base.has(write, start)
                && synchronizes.rows[start].events().any(reaches)
        };
        let learns = |&(start, signal): &(usize, usize)| {
            self.is_fence(start) && self.base.has(write, signal)
        };
        let all: Vec<(usize, usize)> = release.pairs().filter(uncovering).collect();
        let &(start, signal) = all.iter().find(|of| learns(of)).or_else(|| all.first())?;
        let (signals, released) = self.candidate.instruction(start);
        let (writer, written) = self.candidate.instruction(write);
        let section = section::RELEASE_ACQUIRE_PATTERNS.number;
        Some(if learns(&(start, signal)) {
            format!(
                "{signals}'s `{released}` stands before the barrier at which {signals} meets {writer}, and does not cover what \
                 {writer} wrote before it, such as `{written}`; it covers what {signals} did. A fence after the barrier does, or a \
                 release by `{signal}`, or `fence.sc` in both threads ({section}).",
                signal = self.text(signal),
            )
        } else {
            let barrier = self.barrier_between(write, start, &format!("before `{released}`"));
            format!(
                "{signals}'s `{released}` covers what {signals} did, and not what {writer} wrote, such as `{written}`{barrier} \
                 ({section}).",
            )
        })
    }

    /// The same of an acquire by another thread of the reader's CTA: a fence that stands behind the barrier at which the reader
    /// learns of the signal, or an acquire without a barrier behind it.
    fn unacquired(
        &self,
        write: usize,
        read: usize,
        acquire: &BitRel<R>,
        synchronizes: &BitRel<R>,
    ) -> Option<String> {
        let po = self.candidate.structure.fixed(Fixed::Po);
        let released = |end: usize| {
            let from = |&start: &usize| {
                synchronizes.has(start, end)
                    && (self.base.has(write, start) || po.has(write, start))
            };
            (0..synchronizes.events()).any(|start| from(&start))
        };
        let uncovering = |&(_, end): &(usize, usize)| {
            self.are_neighbours(end, read) && !self.base.has(end, read) && released(end)
        };
        let learns =
            |&(signal, end): &(usize, usize)| self.is_fence(end) && self.base.has(signal, read);
        let all: Vec<(usize, usize)> = acquire.pairs().filter(uncovering).collect();
        let &(signal, end) = all.iter().find(|of| learns(of)).or_else(|| all.first())?;
        let (waits, acquired) = self.candidate.instruction(end);
        let (reader, reads) = self.candidate.instruction(read);
        let section = section::RELEASE_ACQUIRE_PATTERNS.number;
        Some(if learns(&(signal, end)) {
            format!(
                "{waits}'s `{acquired}` stands behind the barrier at which {reader} meets {waits}, and does not cover what {reader} \
                 reads after it, such as `{reads}`; it covers what {waits} does. A fence before the barrier does, or an acquire by \
                 `{signal}` ({section}).",
                signal = self.text(signal),
            )
        } else {
            let barrier = self.barrier_between(end, read, &format!("behind `{acquired}`"));
            format!(
                "{waits}'s `{acquired}` covers what {waits} does, and not what {reader} reads, such as `{reads}`{barrier} ({section}).",
            )
        })
    }

    /// What a barrier would do that stands between what two threads of a CTA do; nothing if not all of its threads come by a place there.
    fn barrier_between(&self, first: usize, second: usize, place: &str) -> String {
        if !can_meet(self.candidate.structure.unfolding, first, second) {
            return String::new();
        }
        format!(
            ": no barrier of their CTA is between the two. With `bar.sync` {place}, it covers both"
        )
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

    /// That accesses through two proxies, or by two addresses, are ordered only with a fence, where base causality order
    /// has them.
    fn proxies(&self, first: usize, second: usize) -> Option<String> {
        if !self.base.has(first, second) || self.causality.has(first, second) {
            return None;
        }
        let proxies = (self.proxy(first)?, self.proxy(second)?);
        let aliases = !self.candidate.structure.fixed(Fixed::Overlap).has(first, second);
        if proxies.0 == proxies.1 && !aliases && matches!(proxies.0, GENERIC | ASYNC) {
            return None;
        }
        let (one, other) = (self.text(first), self.text(second));
        let before = if aliases && proxies == (GENERIC, GENERIC) {
            format!(
                "`{one}` comes before `{other}` in base causality order, by another address of the same bytes"
            )
        } else {
            let address = if aliases { ", by another address of the same bytes" } else { "" };
            format!(
                "`{one}` ({} proxy) comes before `{other}` ({} proxy) in base causality order{address}",
                proxies.0, proxies.1
            )
        };
        let mut wanted = Vec::new();
        if aliases {
            wanted.push(Wanted::alias());
        }
        if [proxies.0, proxies.1].contains(&ASYNC) && proxies.0 != proxies.1 {
            wanted.push(Wanted::asynchronous());
        } else {
            let accesses = [(first, proxies.0), (second, proxies.1)].into_iter();
            let special = accesses.filter(|(_, proxy)| !matches!(*proxy, GENERIC | ASYNC));
            wanted.extend(special.map(|(access, proxy)| Wanted::of(proxy, access)));
        }
        let lacking = wanted.iter().find_map(|wanted| self.lacks(first, second, wanted));
        let why = lacking.unwrap_or_else(|| {
            let why = if aliases && proxies != (GENERIC, GENERIC) {
                "an access through another proxy than the generic one has no fence of its proxy between itself and \
                 `fence.proxy.alias`"
            } else {
                "the proxy fences between them do not order the two accesses"
            };
            format!("{why} ({})", section::CAUSALITY_ORDER.number)
        });
        Some(format!("{before}, and {why}."))
    }

    /// Why no fence between two accesses is the one that is wanted.
    fn lacks(&self, first: usize, second: usize, wanted: &Wanted) -> Option<String> {
        let structure = self.candidate.structure;
        let tags = |event: usize| &structure.unfolding.events[event].tags;
        let number = wanted.section.number;
        let between = (0..structure.unfolding.events.len()).filter(|&fence| {
            self.base.has(first, fence)
                && self.base.has(fence, second)
                && !structure.unfolding.events[fence].is_read()
                && !structure.unfolding.events[fence].is_write()
                && wanted.tags.iter().any(|&tag| tags(fence).has(tag))
        });
        let between: Vec<usize> = between.collect();
        let Some(&elsewhere) = between.first() else {
            let bytes = if wanted.name == ASYNC { " for these bytes" } else { "" };
            return Some(format!(
                "no `fence.proxy.{}`{bytes} is between them ({number})",
                wanted.name
            ));
        };
        let fence = self.text(elsewhere);
        if let Some(access) = wanted.in_cta_of {
            let same_cta = structure.fixed(Fixed::SameCta);
            let here = between.iter().any(|&fence| same_cta.has(fence, access));
            return (!here).then(|| {
                format!(
                    "`{fence}` between them is not in the CTA of `{}` ({number})",
                    self.text(access)
                )
            });
        }
        if wanted.name != ASYNC {
            return None;
        }
        let covers = structure.fixed(Fixed::Covers);
        let covering = between.iter().find(|&&fence| covers.has(fence, first));
        Some(match covering {
            None => format!("`{fence}` between them does not apply to these bytes ({number})"),
            Some(&fence) => {
                let fence = self.text(fence);
                format!(
                    "`{fence}` between them is not where reading B5 or B6 demands one ({number})"
                )
            }
        })
    }

    /// The proxy of an access of memory.
    fn proxy(&self, event: usize) -> Option<&'static str> {
        let tags = &self.candidate.structure.unfolding.events[event].tags;
        let named = [
            (Tag::AsyncProxy, ASYNC),
            (Tag::TensormapProxy, TENSORMAP),
            (Tag::Texture, Proxy::Texture.name()),
            (Tag::Surface, Proxy::Surface.name()),
            (Tag::Constant, Proxy::Constant.name()),
            (Tag::Generic, GENERIC),
        ];
        named.into_iter().find_map(|(tag, name)| tags.has(tag).then_some(name))
    }

    /// The arrivals at barriers after the write, and the waits at such barriers before the read, of two threads.
    fn around(&self, write: usize, read: usize) -> Vec<(usize, usize)> {
        let u = self.candidate.structure.unfolding;
        let po = self.candidate.structure.fixed(Fixed::Po);
        let all = 0..u.events.len();
        // Then it is the fence that says why.
        let fenced = |arrival: usize| {
            all.clone().any(|at| self.is_fence(at) && po.has(write, at) && po.has(at, arrival))
        };
        let is_wait = |at: usize| u.events[at].of.is_some_and(|of| of.kind == EventKind::Wait);
        let arrivals = all
            .clone()
            .filter(|&at| po.has(write, at) && self.barrier_of(at).is_some() && !fenced(at));
        let waits = all
            .clone()
            .filter(|&at| po.has(at, read) && self.barrier_of(at).is_some() && is_wait(at));
        let waits: Vec<usize> = waits.collect();
        let pairs = arrivals.flat_map(|arrival| waits.iter().map(move |&wait| (arrival, wait)));
        let alike = |&(arrival, wait): &(usize, usize)| {
            let resource = |event| self.barrier_of(event).map(|used| used.resource);
            resource(arrival) == resource(wait) && u.events[arrival].thread != u.events[wait].thread
        };
        pairs.filter(alike).collect()
    }

    fn barrier_of(&self, event: usize) -> Option<BarrierUse> {
        self.candidate.structure.unfolding.events[event].of.and_then(|of| of.barrier)
    }

    /// That threads with a barrier after the write, and before the read, do not meet there: they are in two CTAs.
    fn two_ctas(&self, write: usize, read: usize) -> Option<String> {
        let same_cta = self.candidate.structure.fixed(Fixed::SameCta);
        let is_of_cta = |&(arrival, _): &(usize, usize)| {
            self.barrier_of(arrival).is_some_and(|of| matches!(of.resource, Resource::Cta { .. }))
        };
        if same_cta.has(write, read) {
            return None;
        }
        let (arrival, wait) = self.around(write, read).into_iter().find(is_of_cta)?;
        let (here, one) = self.candidate.instruction(arrival);
        let (there, _) = self.candidate.instruction(wait);
        Some(format!(
            "`{one}` is a barrier of the threads of one CTA: {here} and {there} are in two CTAs, and do not meet at it ({}).",
            section::of_opcode("bar").number,
        ))
    }

    /// That a barrier after the write and one before the read do not order them.
    fn barriers(&self, write: usize, read: usize) -> Option<String> {
        let u = self.candidate.structure.unfolding;
        self.around(write, read).into_iter().find_map(|(arrival, wait)| {
            let first = self.barrier_of(arrival)?;
            let [(here, one), (there, other)] =
                [arrival, wait].map(|event| self.candidate.instruction(event));
            let together = u.events[arrival].generation == u.events[wait].generation;
            match first.resource {
                Resource::Cluster if first.relaxed && together => Some(format!(
                    "{here}'s `{one}` releases nothing: what {here} did before it, such as `{}`, is not ordered before \
                     what follows {there}'s `{other}` ({}).",
                    self.text(write),
                    section::of_opcode("barrier.cluster").number,
                )),
                Resource::Warp { .. } if first.reduce.is_some() && together => Some(format!(
                    "{here}'s `{one}` and {there}'s `{other}` exchange values, and order no accesses of memory, as \
                     `bar.warp.sync` does: `{}` is not ordered before what follows them ({}).",
                    self.text(write),
                    section::BAR_WARP_SYNC.number,
                )),
                Resource::Cta { .. }
                | Resource::Cluster
                | Resource::Warp { .. }
                | Resource::Mbarrier { .. } => None,
            }
        })
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
                "kernel {after} may start before kernel {before} has ended. A `griddepcontrol.wait` before `{}` makes all that \
                 kernel {before} did visible to it; without one it sees what a CTA released before its first \
                 `griddepcontrol.launch_dependents` ({}).",
                self.text(read),
                section::GRIDDEPCONTROL.number,
            )
        })
    }
}
