//! Events, which the instructions of one path generate.

use crate::expr::ExprId;
use crate::layout::Location;
use model::given::Tag;
use model::isa::asynchronous::MbarrierLayout;
use model::isa::bar::Reduction;
use model::isa::tensor_memory::CtaGroup;
use model::isa::warp::ExchangeOp;
use model::memory::{Extent, Space};
use model::scope::Scope;

/// The tags of one event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tags(u64);

impl Tags {
    /// Of the initial write of a location.
    pub fn of_initial_write(of: &Location) -> Tags {
        let mut tags = Tags::of(&[Tag::All, Tag::Write, Tag::Init]);
        if !of.mbarriers.is_empty() {
            tags = tags.with(Tag::MbarrierInit);
        }
        if of.allocated {
            tags = tags.with(Tag::TensorAllocation);
        }
        tags
    }

    pub fn of(tags: &[Tag]) -> Tags {
        tags.iter().fold(Tags::default(), |all, &tag| all.with(tag))
    }

    #[must_use]
    pub fn with(self, tag: Tag) -> Tags {
        Tags(self.0 | 1 << tag as u32)
    }

    #[must_use]
    pub fn and(self, other: Tags) -> Tags {
        Tags(self.0 | other.0)
    }

    pub fn has(self, tag: Tag) -> bool {
        self.0 >> (tag as u32) & 1 == 1
    }

    /// The scope of a strong operation.
    pub fn scope(self) -> Option<Scope> {
        [
            (Tag::ScopeCta, Scope::Cta),
            (Tag::ScopeCluster, Scope::Cluster),
            (Tag::ScopeGpu, Scope::Gpu),
            (Tag::ScopeSys, Scope::Sys),
        ]
        .into_iter()
        .find_map(|(tag, scope)| self.has(tag).then_some(scope))
    }

    pub fn iter(self) -> impl Iterator<Item = Tag> {
        Tag::ALL.iter().copied().filter(move |&tag| self.has(tag))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventKind {
    Read,
    Write,
    Fence,
    ProxyFence,
    Arrive,
    Wait,
    /// An operation on an mbarrier object.
    Mbarrier,
    /// A wait for groups of asynchronous operations.
    WaitGroup,
    /// The start of a thread whose kernel is launched after another.
    KernelStart,
    /// `griddepcontrol.launch_dependents`.
    Trigger,
    /// `griddepcontrol.wait`.
    GridWait,
    /// `tcgen05.fence`.
    TensorFence,
    /// `tcgen05.alloc`, `dealloc` and `relinquish_alloc_permit`.
    Allocation,
}

/// The bytes a memory operation accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The object is a virtual one: [`crate::layout::Layout::virtuals`].
    pub va: Extent,
    /// The object is a location: [`crate::layout::Layout::locations`].
    pub pa: Extent,
}

/// A set of events of one path, by index; a path has at most 128.
pub type Mask = u128;

/// One event of one thread's path. Indices are within the path.
#[derive(Clone, Debug)]
pub struct PathEvent {
    /// Index into [`model::program::Thread::lines`].
    pub line: u16,
    /// Counts the instructions the path executes: tells the iterations of a loop apart.
    pub step: u16,
    pub kind: EventKind,
    pub tags: Tags,
    pub access: Option<Access>,
    /// The address of a memory operation, as it is computed.
    pub address: Option<ExprId>,
    /// What a write writes.
    pub value: Option<ExprId>,
    /// The other half of an atomic (reading R3).
    pub rmw: Option<u16>,
    /// Whether it is an element of a vector access, unordered with the others of its step.
    pub element: bool,
    /// Reads (and waits of `bar.red`) that the event depends on.
    pub addr: Mask,
    pub data: Mask,
    pub ctrl: Mask,
    pub barrier: Option<BarrierUse>,
    pub mbarrier: Option<MbarrierUse>,
    /// Of an event of an asynchronous operation.
    pub part: Option<AsyncPart>,
    /// The events of asynchronous operations that have completed: for a wait for groups, and for an arrival that
    /// `cp.async.mbarrier.arrive` leaves.
    pub completes: Mask,
    /// What a fence is for, if not for everything.
    pub covers: FenceCoverage,
    /// Of an access of tensor memory: what its operation is.
    pub tensor: Option<TensorPart>,
}

impl PathEvent {
    /// Whether a thread may wait for it at a barrier, at an mbarrier object or for a kernel, or it may be such a wait.
    pub fn may_be_awaited(&self) -> bool {
        self.mbarrier.is_some() || matches!(self.kind, EventKind::Arrive | EventKind::Trigger)
    }

    /// The lane from which a shuffle takes its result.
    pub fn source_lane(&self) -> Option<u32> {
        let (combination, ..) = self.barrier?.reduce?;
        if let Combination::Lane(from) = combination { Some(from) } else { None }
    }

    /// All that it depends on.
    pub fn depends_on(&self) -> Mask {
        self.addr | self.data | self.ctrl
    }
}

/// The operation that accesses tensor memory, as far as it decides about pipelines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorPart {
    Load,
    Store,
    Copy { group: CtaGroup, narrow: bool },
    Multiply { group: CtaGroup, accumulator: Extent, kind: &'static str, shape: u64 },
    Shift { group: CtaGroup },
}

impl TensorPart {
    /// 9.7.18.6.2: whether an operation and a later one of this kind are executed in this order.
    pub fn forms_pipeline(self, later: TensorPart) -> bool {
        match (self, later) {
            (TensorPart::Multiply { .. }, TensorPart::Multiply { .. }) => self == later,
            (
                TensorPart::Copy { group, .. } | TensorPart::Shift { group },
                TensorPart::Multiply { group: then, .. },
            )
            | (TensorPart::Multiply { group, .. }, TensorPart::Shift { group: then })
            | (TensorPart::Shift { group }, TensorPart::Copy { group: then, narrow: true }) => {
                group == then
            }
            (
                TensorPart::Load
                | TensorPart::Store
                | TensorPart::Copy { .. }
                | TensorPart::Multiply { .. }
                | TensorPart::Shift { .. },
                _,
            ) => false,
        }
    }
}

/// Which asynchronous operation an event is part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsyncPart {
    /// The index of the operation's first event.
    pub operation: u16,
    /// The events of the thread before this index are ordered before the operation.
    pub issued: u16,
}

/// The objects that a fence is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FenceCoverage {
    #[default]
    Everything,
    Space(Space),
    /// The shared memory of the CTA of the thread.
    OwnShared,
    /// The shared memory of the cluster of the thread.
    ClusterShared,
    /// Earlier reads of its thread.
    OwnReads,
    /// Those in the shared memory of the CTAs of its cluster.
    OwnSharedReads,
    /// mbarrier objects that the thread initializes.
    Initializations,
    /// Bytes of physical memory.
    Bytes(Extent),
}

/// What an event does to an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MbarrierUse {
    /// The physical bytes of the object.
    pub object: Extent,
    pub step: MbarrierStep,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MbarrierStep {
    Init {
        count: u64,
        layout: MbarrierLayout,
    },
    Invalidate,
    /// Whether the object has this layout.
    CheckLayout {
        layout: MbarrierLayout,
        returned: bool,
    },
    /// A change of the tx-count; one that lowers it may complete the phase.
    Tx(i64),
    Arrive {
        count: u64,
        expected: i64,
        drops: bool,
        completes: bool,
        /// The pending count that it finds, where a `mbarrier.pending_count` may ask for it.
        pending: Option<u64>,
    },
    /// The increment of the pending count by `cp.async.mbarrier.arrive`.
    Increment,
    Wait {
        phase: WaitPhase,
        returned: bool,
        /// Whether the thread waits until it is true.
        blocks: bool,
        /// Whether it may return false though the phase is complete.
        tries: bool,
    },
}

/// A phase of an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ObjectPhase {
    /// How often the object was initialized before the phase; 0 if the test declares it as initialized.
    pub initialization: u32,
    /// -1 is the phase that a wait sees completed in a new object.
    pub number: i32,
}

impl ObjectPhase {
    /// Whether both are of the object as it was initialized once, and this one is the other or an earlier one.
    pub fn is_up_to(self, other: ObjectPhase) -> bool {
        self.initialization == other.initialization && self.number <= other.number
    }

    /// The phase after it.
    #[must_use]
    pub fn next(self) -> ObjectPhase {
        ObjectPhase { number: self.number + 1, ..self }
    }

    /// The phase before it.
    #[must_use]
    pub fn previous(self) -> ObjectPhase {
        ObjectPhase { number: self.number - 1, ..self }
    }
}

impl MbarrierStep {
    /// The arrival of an asynchronous operation.
    pub const ONE_ARRIVAL: MbarrierStep = MbarrierStep::Arrive {
        count: 1,
        expected: 0,
        drops: false,
        completes: true,
        pending: None,
    };

    /// The same arrival, which finds this many pending ones.
    #[must_use]
    pub fn finding(self, count: u64) -> MbarrierStep {
        match self {
            MbarrierStep::Arrive { count: by, expected, drops, completes, .. } => {
                let pending = Some(count);
                MbarrierStep::Arrive { count: by, expected, drops, completes, pending }
            }
            MbarrierStep::Init { .. }
            | MbarrierStep::Invalidate
            | MbarrierStep::CheckLayout { .. }
            | MbarrierStep::Tx(_)
            | MbarrierStep::Increment
            | MbarrierStep::Wait { .. } => self,
        }
    }

    /// How many pending arrivals it finds, if that is known.
    pub fn found(self) -> Option<u64> {
        if let MbarrierStep::Arrive { pending, .. } = self { pending } else { None }
    }

    /// What it does to the counts of a phase; nothing if it is not an operation within one.
    pub fn change(self) -> Option<PhaseChange> {
        match self {
            MbarrierStep::Tx(bytes) if bytes > 0 => Some(PhaseChange::RaisesBytes),
            MbarrierStep::Tx(_) => Some(PhaseChange::LowersBytes),
            MbarrierStep::Increment => Some(PhaseChange::RaisesArrivals),
            MbarrierStep::Arrive { .. } => Some(PhaseChange::LowersArrivals),
            MbarrierStep::Init { .. }
            | MbarrierStep::Invalidate
            | MbarrierStep::CheckLayout { .. }
            | MbarrierStep::Wait { .. } => None,
        }
    }

    /// Whether it tells whether a phase had ended: a `try_wait` may return false where it had.
    pub fn tells(self) -> bool {
        matches!(self, MbarrierStep::Wait { returned, tries, .. } if returned || !tries)
    }

    /// The same of a wait whose thread goes on with any result.
    pub fn looks(self) -> bool {
        self.tells() && matches!(self, MbarrierStep::Wait { blocks: false, .. })
    }

    /// Whether its place among the operations of a phase matters, whatever the object is.
    pub fn is_placed(self) -> bool {
        let raises = self.change().is_some_and(PhaseChange::raises);
        let open = matches!(self, MbarrierStep::Wait { returned: false, .. }) && self.looks();
        raises || open || self.found().is_some()
    }

    /// Whether its result depends on earlier operations of the phase.
    pub fn has_result(self) -> bool {
        self.change().is_none() || self.found().is_some()
    }

    /// Whether its place after an operation of the phase that changes this matters, if its place does. Of two that raise
    /// counts, or of two that lower the same one, either may come first.
    pub fn comes_behind(self, other: PhaseChange) -> bool {
        match self.change() {
            None => other.raises(),
            Some(PhaseChange::RaisesArrivals | PhaseChange::RaisesBytes) => !other.raises(),
            Some(PhaseChange::LowersBytes) => other == PhaseChange::LowersArrivals,
            Some(PhaseChange::LowersArrivals) => {
                matches!(other, PhaseChange::RaisesArrivals | PhaseChange::LowersArrivals)
            }
        }
    }

    /// Whether an operation on the object that is skipped before it may decide what it does.
    pub fn follows_skipped(self) -> bool {
        self.changes() || self.looks()
    }

    /// Whether it changes the object, its pending count or its tx-count.
    pub fn changes(self) -> bool {
        !matches!(self, MbarrierStep::Wait { .. } | MbarrierStep::CheckLayout { .. })
    }
}

/// What an operation does to the counts of a phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PhaseChange {
    RaisesArrivals,
    LowersArrivals,
    RaisesBytes,
    LowersBytes,
}

impl PhaseChange {
    /// Whether it may keep the phase from ending.
    pub fn raises(self) -> bool {
        matches!(self, PhaseChange::RaisesArrivals | PhaseChange::RaisesBytes)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitPhase {
    Parity(bool),
    /// The phase in which this arrival of the thread took effect.
    Of(u16),
}

/// What an arrival or a wait says of its barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BarrierUse {
    pub resource: Resource,
    /// How many arrivals complete a generation; `None` is everybody.
    pub count: Option<u64>,
    /// Of a barrier with a result: how it comes of the values of all who take part, the value of this thread, and the
    /// reads that this value depends on.
    pub reduce: Option<(Combination, ExprId, Mask)>,
    /// `barrier.cluster.arrive.relaxed`.
    pub relaxed: bool,
    /// Whether its thread waits for the barrier in the same instruction.
    pub waits: bool,
    /// Every thread of the warp executes the instruction.
    pub aligned: bool,
}

/// How the result of a barrier comes of the values of the threads that take part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combination {
    /// `bar.red`.
    Reduction(Reduction),
    /// An instruction of a warp.
    Lanes(ExchangeOp),
    /// A shuffle: the value of this lane.
    Lane(u32),
    /// `elect.sync`: this lane, where it may be any (reading B16).
    Elected(u32),
    /// `activemask`: the lanes of the mask.
    Active,
}

impl Combination {
    /// How many bits the result has.
    pub fn bits(self) -> u16 {
        match self {
            Combination::Reduction(Reduction::And | Reduction::Or) => 1,
            Combination::Reduction(Reduction::Popc) => 8,
            Combination::Lanes(op) => op.result_bits(),
            Combination::Lane(_) | Combination::Elected(_) | Combination::Active => 32,
        }
    }
}

impl BarrierUse {
    /// Whether it is an exchange of values between lanes, which orders nothing.
    pub fn exchanges(&self) -> bool {
        matches!(self.resource, Resource::Warp { exchange: Some(_), .. })
    }

    /// Whether it is a shuffle, of which each lane takes what one lane brings.
    pub fn shuffles(&self) -> bool {
        let exchange = match self.resource {
            Resource::Warp { exchange, .. } => exchange,
            Resource::Cta { .. } | Resource::Cluster | Resource::Mbarrier { .. } => None,
        };
        matches!(exchange, Some(ExchangeOp::Shuffle(_)))
    }

    /// Whether the barrier completes when everybody has arrived, and not after a number of arrivals; in the peer dialect it
    /// completes otherwise.
    pub fn waits_for_all(&self) -> bool {
        self.count.is_none() && !matches!(self.resource, Resource::Cta { instance: Some(_), .. })
    }

    /// Whether two threads of a warp say the same of the barrier, but for the values they reduce.
    pub fn same_instruction(&self, other: &BarrierUse) -> bool {
        let operation = |of: &BarrierUse| of.reduce.map(|(operation, ..)| operation);
        (self.resource, self.count, self.relaxed, self.waits)
            == (other.resource, other.count, other.relaxed, other.waits)
            && operation(self) == operation(other)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Resource {
    /// A barrier of the CTA; with an instance in the peer dialect.
    Cta {
        id: u64,
        instance: Option<u64>,
    },
    Cluster,
    /// The lanes of a warp that a mask names: those that execute the same exchange of values, or `bar.warp.sync`.
    Warp {
        mask: u64,
        exchange: Option<ExchangeOp>,
    },
    /// An mbarrier object: its location, and where it starts.
    Mbarrier {
        location: u16,
        start: u32,
    },
}
