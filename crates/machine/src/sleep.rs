//! Sleep sets: of two steps that commute, the search takes each order once.
//!
//! The next step of a thread has a name, and so has the next step of each pending access. Of the
//! names that are enabled in a state, those that were chosen before this one, and commute
//! with it, sleep in its successor: taking them there leads to a state that taking them first has already
//! reached. A breadth-first search that takes names in one order finds each state first on its
//! shortest path, and among these on the first in that order. If a step of such a path slept, moving
//! it to where it fell asleep would give an earlier path. So names that slept on the path by which a
//! state was first found may sleep permanently, and every state is still found.
//!
//! Two steps commute if they are of different SMs and access different cells of memory, or both read.
//! If SMs interact in other ways (links, units, the stores that a `MEMBAR` waits for, barriers), or
//! names do not identify steps (loops, equal threads), nothing sleeps.

use super::form::AccessLevel;
use super::plan::SiteKind;
use super::state::{QueueEntry, QueueKind};
use super::{Machine, MemoryPlace, Reduce, Step};

/// The most names: bits of a word.
pub(super) const NAMES: usize = 64;

/// What decides whether two steps commute.
#[derive(Clone, Copy, Default)]
pub(super) struct StepFootprint {
    pub(super) sm: u8,
    /// Cells of memory that it touches.
    cells: u64,
    writes: bool,
}

impl StepFootprint {
    /// One that touches no memory beyond its SM.
    pub(super) fn of(sm: u8) -> StepFootprint {
        StepFootprint { sm, cells: 0, writes: false }
    }

    fn commutes(self, other: StepFootprint) -> bool {
        self.sm != other.sm && (self.cells & other.cells == 0 || !self.writes && !other.writes)
    }
}

/// What was chosen from a state so far.
pub(super) struct SleepSet {
    /// Names that sleep, or have been chosen.
    before: u64,
    asleep: u64,
    pub(super) known: [StepFootprint; NAMES],
}

impl SleepSet {
    pub(super) fn new(asleep: u64) -> SleepSet {
        SleepSet { before: asleep, asleep, known: [StepFootprint::default(); NAMES] }
    }

    pub(super) fn took(&mut self, name: usize, this: StepFootprint, any: bool) {
        if any && name < NAMES {
            self.before |= 1 << name;
            self.known[name] = this;
        }
    }
}

impl Machine<'_> {
    /// Whether sleep sets are sound for this program on this machine.
    pub(super) fn may_sleep(&self) -> bool {
        let sites = || self.plans.iter().flat_map(|plan| &plan.sites);
        let near = |cell: usize| match self.cells[cell].place {
            MemoryPlace::Global(_) => self.gpu.iter().all(|gpu| !self.is_far(*gpu, cell)),
            MemoryPlace::Private => true,
            MemoryPlace::Shared { .. } => false,
        };
        self.options.reduce >= Reduce::Sleep
            && self.copies == 0
            && self.objects.is_empty()
            && self.options.without.is_none()
            && !self.symmetric
            && !self.settles
            && !self.options.copies
            && !self.options.store_buffers
            && self.shape.entry == 4
            && (0..self.cells.len()).all(near)
            && self.plans.iter().all(|plan| !plan.loops)
            && sites().all(|site| site.unit.is_none() && site.level != AccessLevel::ReadOnly)
            // Pieces that come back one by one would share a name.
            && (self.options.reduced() || sites().all(|site| site.cells == 1))
            && self.sm.len() + sites().count() <= NAMES
    }

    /// The name of what an access does next.
    pub(super) fn name(&self, entry: &QueueEntry) -> usize {
        self.names[usize::from(entry.thread)] + usize::from(entry.site)
    }

    pub(super) fn move_of(&self, entry: &QueueEntry) -> StepFootprint {
        let site = self.site(entry);
        let sm = self.sm[usize::from(entry.thread)];
        if entry.list != QueueKind::Queue {
            return StepFootprint::of(sm);
        }
        let mut first = usize::from(entry.cell);
        if site.cells > 1 {
            // The pieces go together.
            first -= (self.cells[first].start % site.ty.bytes() / self.grain) as usize;
        }
        let cells = ((1_u64 << site.cells) - 1) << first;
        StepFootprint { sm, cells, writes: site.kind != SiteKind::Read }
    }

    /// What sleeps after all that was done at once: a thread that has gone on does something else
    /// next, by the same name.
    pub(super) fn still_asleep(&self, mut asleep: u64) -> u64 {
        if asleep == 0 {
            return 0;
        }
        for step in &self.steps {
            if let Step::Issue { thread, .. }
            | Step::Fence { thread, .. }
            | Step::Meet { thread, .. }
            | Step::Through { thread, .. } = step
            {
                asleep &= !(1 << thread);
            }
        }
        asleep
    }

    /// Whether a name is to be chosen; if so, what sleeps after it is set.
    pub(super) fn wakes(&mut self, order: &SleepSet, name: usize, this: StepFootprint) -> bool {
        self.asleep = 0;
        if !self.sleeps {
            return true;
        }
        if order.asleep >> name & 1 != 0 {
            return false;
        }
        let mut left = order.before;
        while left != 0 {
            let other = left.trailing_zeros() as usize;
            left &= left - 1;
            if order.known[other].commutes(this) {
                self.asleep |= 1 << other;
            }
        }
        true
    }
}
