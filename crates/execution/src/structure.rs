//! The relations that an unfolding fixes: the meaning of [`Tag`] and [`Fixed`].

mod asynchronous;
mod awaited;
mod kernel;
mod tensor_memory;

use crate::event::{EventKind, Mask};
use crate::unfold::{Event, Unfolding};
use model::bits::{BitRel, BitRow};
use model::given::{Fixed, Tag};
use model::memory::Extent;
use model::program::ThreadId;
use model::scope::{Placement, Scope};

/// An unfolding with its fixed sets and relations.
pub struct EventStructure<'u, R> {
    pub unfolding: &'u Unfolding<'u>,
    tags: Vec<R>,
    fixed: Vec<BitRel<R>>,
}

impl<'u, R: BitRow> EventStructure<'u, R> {
    /// The unfolding has at most `R::BITS` events.
    pub fn new(unfolding: &'u Unfolding<'u>) -> EventStructure<'u, R> {
        let mut tags = vec![R::default(); Tag::ALL.len()];
        for (index, event) in unfolding.events.iter().enumerate() {
            for tag in event.tags.iter() {
                tags[tag as usize].insert(index);
            }
        }
        let asynchronous = unfolding.program.is_asynchronous();
        let remote = unfolding.program.has_remote_shared_memory();
        let of = |&fixed: &Fixed| {
            // Most programs have none of these.
            let absent = match found_in(fixed) {
                FoundIn::Any => false,
                FoundIn::Asynchronous => !asynchronous,
                FoundIn::AsynchronousOrRemote => !asynchronous && !remote,
                FoundIn::Ordered => !asynchronous && unfolding.before.is_empty(),
            };
            if absent { BitRel::empty(unfolding.events.len()) } else { relation(unfolding, fixed) }
        };
        let fixed = Fixed::ALL.iter().map(of).collect();
        EventStructure { unfolding, tags, fixed }
    }

    pub fn events(&self) -> usize {
        self.unfolding.events.len()
    }

    pub fn tag(&self, tag: Tag) -> R {
        self.tags[tag as usize]
    }

    pub fn fixed(&self, fixed: Fixed) -> &BitRel<R> {
        &self.fixed[fixed as usize]
    }
}

/// The programs in which a relation may relate something.
enum FoundIn {
    Any,
    /// Programs with asynchronous operations, or with kernels in an order.
    Asynchronous,
    /// Those, and programs in which a CTA may access shared memory of another.
    AsynchronousOrRemote,
    /// Those with asynchronous operations, and executions with barriers whose generations are in an order that matters.
    Ordered,
}

fn found_in(fixed: Fixed) -> FoundIn {
    match fixed {
        Fixed::Issue
        | Fixed::Operation
        | Fixed::GroupWait
        | Fixed::Phase
        | Fixed::Tracked
        | Fixed::TrackedElsewhere
        | Fixed::Covers
        | Fixed::NextPhase
        | Fixed::LaterPhase
        | Fixed::TensorBehind
        | Fixed::TensorPipeline
        | Fixed::KernelOrder
        | Fixed::Trigger
        | Fixed::LaterTrigger
        | Fixed::ImplicitTrigger
        | Fixed::ExitTrigger => FoundIn::Asynchronous,
        Fixed::ObjectOrder | Fixed::SameObject => FoundIn::Ordered,
        Fixed::Meets | Fixed::Remote | Fixed::OwnerCta => FoundIn::AsynchronousOrRemote,
        Fixed::Po
        | Fixed::SameCta
        | Fixed::SameCluster
        | Fixed::SameGpu
        | Fixed::Overlap
        | Fixed::OverlapCompletely
        | Fixed::LocationOverlap
        | Fixed::LocationOverlapCompletely
        | Fixed::Rmw
        | Fixed::Addr
        | Fixed::Data
        | Fixed::Ctrl
        | Fixed::Barrier
        | Fixed::ClusterBarrier
        | Fixed::Exited
        | Fixed::Awaited => FoundIn::Any,
    }
}

/// The one place that gives each fixed relation its meaning.
fn relation<R: BitRow>(u: &Unfolding<'_>, fixed: Fixed) -> BitRel<R> {
    match fixed {
        Fixed::Po => program_order(u),
        Fixed::SameCta => placed(u, Scope::Cta),
        Fixed::SameCluster => placed(u, Scope::Cluster),
        Fixed::SameGpu => placed(u, Scope::Gpu),
        Fixed::Overlap => accesses(u, |a, b| virtual_ranges(a, b, Extent::overlaps)),
        Fixed::OverlapCompletely => accesses(u, |a, b| virtual_ranges(a, b, |x, y| x == y)),
        Fixed::LocationOverlap => accesses(u, |a, b| match (a.access, b.access) {
            (Some(x), Some(y)) => x.pa.overlaps(y.pa),
            (None, _) | (_, None) => false,
        }),
        Fixed::LocationOverlapCompletely => accesses(u, |a, b| match (a.access, b.access) {
            (Some(x), Some(y)) => x.pa == y.pa,
            (None, _) | (_, None) => false,
        }),
        Fixed::Rmw => rmw(u),
        Fixed::Addr => dependencies(u, |event| event.addr),
        Fixed::Data => dependencies(u, |event| event.data),
        Fixed::Ctrl => dependencies(u, |event| event.ctrl),
        Fixed::Barrier => barrier(u),
        Fixed::ClusterBarrier => cluster_barrier(u),
        Fixed::Exited => awaited::exited(u),
        Fixed::Awaited => awaited::awaited(u),
        Fixed::Issue => asynchronous::issue(u),
        Fixed::Operation => asynchronous::operation(u),
        Fixed::GroupWait => asynchronous::group_wait(u),
        Fixed::Phase => asynchronous::phase(u),
        Fixed::ObjectOrder => asynchronous::object_order(u),
        Fixed::SameObject => asynchronous::same_object(u),
        Fixed::Tracked => asynchronous::tracked(u),
        Fixed::TrackedElsewhere => asynchronous::tracked_elsewhere(u),
        Fixed::KernelOrder => kernel::order(u),
        Fixed::Trigger => kernel::trigger(u),
        Fixed::LaterTrigger => kernel::later_trigger(u),
        Fixed::ImplicitTrigger => kernel::implicit_trigger(u),
        Fixed::ExitTrigger => kernel::exit_trigger(u),
        Fixed::Covers => asynchronous::covers(u),
        Fixed::NextPhase => asynchronous::next_phase(u),
        Fixed::LaterPhase => asynchronous::later_phase(u),
        // Reading R31: an exchange of values orders nothing.
        Fixed::Meets => generation_pairs(u, |event| !u.exchanges(event)),
        Fixed::Remote => asynchronous::remote(u),
        Fixed::OwnerCta => asynchronous::owner_cta(u),
        Fixed::TensorBehind => tensor_memory::behind(u),
        Fixed::TensorPipeline => tensor_memory::pipeline(u),
    }
}

/// 8.9.1. Total within a thread, but for the elements of one vector access (reading R14).
fn program_order<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut po = BitRel::empty(u.events.len());
    for (thread, path) in u.paths.iter().enumerate() {
        let first = u.first[thread];
        let mut later = R::default();
        for index in (0..path.events.len()).rev() {
            let event = &path.events[index];
            // An asynchronous operation is in no program order.
            if event.part.is_some() {
                continue;
            }
            let mut after = later;
            if event.element {
                for (other, twin) in path.events.iter().enumerate().skip(index + 1) {
                    if twin.step != event.step {
                        break;
                    }
                    // The read and the write of one reduction are ordered.
                    if event.rmw.is_none_or(|write| usize::from(write) != other) {
                        after.remove(first + other);
                    }
                }
            }
            po.rows[first + index] = after;
            later.insert(first + index);
        }
    }
    po
}

/// Events of threads that share a CTA, cluster or GPU; each with itself too.
fn placed<R: BitRow>(u: &Unfolding<'_>, scope: Scope) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    let threads = u.paths.len();
    let placement = |thread: usize| -> Placement { u.program.threads[thread].placement };
    for here in 0..threads {
        let mut there = R::default();
        for other in (0..threads).filter(|&t| scope.includes(placement(here), placement(t))) {
            for index in 0..u.paths[other].events.len() {
                there.insert(u.first[other] + index);
            }
        }
        for index in 0..u.paths[here].events.len() {
            relation.rows[u.first[here] + index] = there;
        }
    }
    relation
}

/// Compares the virtual ranges of two accesses. An initial write has no virtual address of its own:
/// every address of its bytes is its address.
fn virtual_ranges(a: &Event<'_>, b: &Event<'_>, related: fn(Extent, Extent) -> bool) -> bool {
    let (Some(x), Some(y)) = (a.access, b.access) else { return false };
    if a.thread.is_some() && b.thread.is_some() { related(x.va, y.va) } else { related(x.pa, y.pa) }
}

fn accesses<R: BitRow>(
    u: &Unfolding<'_>,
    related: impl Fn(&Event<'_>, &Event<'_>) -> bool,
) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (a, from) in u.events.iter().enumerate() {
        if from.access.is_none() {
            continue;
        }
        for (b, to) in u.events.iter().enumerate().skip(a) {
            if related(from, to) {
                relation.insert(a, b);
                relation.insert(b, a);
            }
        }
    }
    relation
}

fn rmw<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, of) in u.events.iter().enumerate().filter(|(_, event)| event.is_read()) {
        if let (Some(thread), Some(write)) = (of.thread, of.of.and_then(|of| of.rmw)) {
            relation.insert(event, u.event_of(thread, write));
        }
    }
    relation
}

/// From the reads in `mask` of each event to the event. What depends on the result of a `bar.red`
/// depends on the predicates of all who take part, and so does what an instruction of a warp gives.
fn dependencies<R: BitRow>(
    u: &Unfolding<'_>,
    mask: impl Fn(&crate::event::PathEvent) -> Mask,
) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, of) in u.events.iter().enumerate() {
        let (Some(thread), Some(of)) = (of.thread, of.of) else { continue };
        for source in sources(u, thread, mask(of)) {
            relation.insert(source, event);
        }
    }
    relation
}

/// The reads that a mask of one path stands for.
fn sources(u: &Unfolding<'_>, thread: ThreadId, mask: Mask) -> Vec<usize> {
    sources_of(u, thread, mask, &|event| event.is_read())
}

/// The events of a kind that a mask of one path stands for, also through exchanges of values.
fn sources_of(
    u: &Unfolding<'_>,
    thread: ThreadId,
    mask: Mask,
    is_source: &dyn Fn(&Event<'_>) -> bool,
) -> Vec<usize> {
    let mut reads = Vec::new();
    if mask == 0 {
        return reads;
    }
    let mut pending = vec![(thread, mask)];
    let mut waits = Vec::new();
    while let Some((thread, mask)) = pending.pop() {
        for index in BitRow::events(mask) {
            let index = u16::try_from(index).expect("a path has few events");
            let event = u.event_of(thread, index);
            if is_source(&u.events[event]) {
                reads.push(event);
            } else if !waits.contains(&event) {
                waits.push(event);
                for arrival in u.contributors(event) {
                    let other = &u.events[arrival];
                    let reduce = other.of.and_then(|of| of.barrier).and_then(|used| used.reduce);
                    if let (Some(thread), Some((_, _, taint))) = (other.thread, reduce) {
                        pending.push((thread, taint));
                    }
                }
            }
        }
    }
    reads
}

fn barrier<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    // Reading R31: an exchange of values orders nothing.
    generation_pairs(u, |event| !u.is_cluster_barrier(event) && !u.exchanges(event))
}

/// Reading R28: a relaxed arrival orders nothing by itself; the releasing fences before it do, if
/// their scope includes the waiting thread.
fn cluster_barrier<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation: BitRel<R> = generation_pairs(u, |event| u.is_cluster_barrier(event));
    for arrival in 0..u.events.len() {
        let relaxed = u.events[arrival].of.and_then(|of| of.barrier).is_some_and(|b| b.relaxed);
        if !relaxed {
            continue;
        }
        let waits = std::mem::take(&mut relation.rows[arrival]);
        let thread = u.events[arrival].thread.expect("an arrival has a thread");
        let here = u.program.threads[usize::from(thread.0)].placement;
        for fence in u.first[usize::from(thread.0)]..arrival {
            let tags = u.events[fence].tags;
            let releasing =
                [Tag::FenceRelease, Tag::FenceAcqRel, Tag::FenceSc, Tag::RestrictedRelease];
            let Some(scope) = tags.scope().filter(|_| releasing.iter().any(|&t| tags.has(t)))
            else {
                continue;
            };
            for wait in waits.events() {
                let waiting = u.events[wait].thread.expect("a wait has a thread");
                let there = u.program.threads[usize::from(waiting.0)].placement;
                if scope.includes(here, there) {
                    relation.insert(fence, wait);
                }
            }
        }
    }
    relation
}

/// Arrivals and waits of one generation.
fn generation_pairs<R: BitRow>(u: &Unfolding<'_>, of: impl Fn(usize) -> bool) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    let kind = |event: usize| u.events[event].of.map(|of| of.kind);
    for arrival in 0..u.events.len() {
        let Some(generation) = u.events[arrival].generation else { continue };
        if kind(arrival) != Some(EventKind::Arrive) || !of(arrival) {
            continue;
        }
        for wait in waits(u, generation) {
            relation.insert(arrival, wait);
        }
    }
    relation
}

/// The waits of a generation.
fn waits(u: &Unfolding<'_>, generation: u32) -> impl Iterator<Item = usize> {
    (0..u.events.len()).filter(move |&event| {
        let Event { of, generation: this, .. } = u.events[event];
        this == Some(generation) && of.is_some_and(|of| of.kind == EventKind::Wait)
    })
}

/// The writes that cover all of `cell`.
pub fn writes_of<R: BitRow>(u: &Unfolding<'_>, cell: Extent) -> R {
    let mut writes = R::default();
    for (index, event) in u.events.iter().enumerate() {
        if event.is_write() && event.bytes().contains(cell) {
            writes.insert(index);
        }
    }
    writes
}
