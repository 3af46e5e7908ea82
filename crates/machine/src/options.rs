//! The choices about the machine, readings R51 to R68, and the rules that can be disabled.

use model::memory::Home;

/// Choices about the machine: readings R51 to R68.
#[allow(clippy::struct_excessive_bools, reason = "each is a choice by itself")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// R51: each thread has a buffer for its stores in front of L1.
    pub store_buffers: bool,
    /// R52: weak loads of one location may pass each other.
    pub weak_pass: bool,
    /// R53: loads after a `MEMBAR.ALL` need not wait until it is through.
    pub lazy_all: bool,
    /// R53: loads after a `MEMBAR.CTA` need not wait for the loads before it.
    pub lazy_cta: bool,
    /// R57: loads below system scope see what waits in their GPU's link.
    pub forward: bool,
    /// R57: those at system scope see it too.
    pub forward_sys: bool,
    /// R58: the L2 of a GPU holds copies of memory that is homed elsewhere.
    pub copies: bool,
    /// R64: lines are valid at the start.
    pub warm: bool,
    /// A valid line may be lost at any time; without that it stays until something drops it.
    pub eviction: bool,
    /// R66: an `acq_rel` atomic is one unit.
    pub fused: bool,
    /// Something that could as well be otherwise: see `Variant`.
    pub variant: Option<Variant>,
    /// All CTAs of a GPU on one SM.
    pub one_sm: bool,
    /// Where global memory is that the test does not place; `None`: on the GPU of the first thread.
    pub home: Option<Home>,
    pub reduce: Reduce,
    /// A rule that this machine breaks.
    pub without: Option<MachineRule>,
}

impl Options {
    pub const DEFAULT: Options = Options {
        store_buffers: false,
        weak_pass: true,
        lazy_all: false,
        lazy_cta: false,
        forward: true,
        forward_sys: false,
        copies: false,
        warm: true,
        eviction: true,
        fused: true,
        variant: None,
        one_sm: false,
        home: None,
        reduce: Reduce::All,
        without: None,
    };

    /// The arguments for leaving steps out suppose every rule, and that lines can be lost.
    pub(super) fn reduced(&self) -> bool {
        self.reduce >= Reduce::Por
            && self.without.is_none()
            && self.eviction
            && self.variant.is_none()
            && !self.lazy_cta
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::DEFAULT
    }
}

/// How much of what leads to the same outcomes is left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reduce {
    /// Nothing: each step by itself, in every order.
    None,
    /// Orders of steps that commute; every state is found.
    Sleep,
    /// Steps that commute with all others are taken at once.
    Por,
    /// And threads that run the same code are distinguished by what they do only.
    All,
}

/// Machines that differ in points that no axiom requires; the axioms allow their outcomes too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variant {
    /// `STRONG.GPU` loads are answered by L1. To pass it is a matter of progress.
    StrongHits,
    /// `CCTL.IVALL` drops the lines of the read-only path too.
    DropsReadOnly,
    /// A store makes a line where there was none.
    Allocates,
    /// A thread waits for each load before it goes on.
    InOrder,
    /// A `MEMBAR` waits for loads that are in the queues of its SM too.
    WaitsForLoads,
}

impl Variant {
    pub const ALL: [Variant; 5] = [
        Variant::StrongHits,
        Variant::DropsReadOnly,
        Variant::Allocates,
        Variant::InOrder,
        Variant::WaitsForLoads,
    ];
}

/// A rule of the machine that a broken one can lack: each is there for a run that the axioms
/// forbid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MachineRule {
    InvalidateDropsLines,
    InvalidateWaits,
    FenceInvalidatesLast,
    InvalidateCancelsFills,
    AcquireWaits,
    MembarCtaWaits,
    MembarCumulative,
    MembarWaits,
    MembarSysReachesHome,
    MembarSysCumulative,
    StoreCancelsFills,
    MembarSysTwoPhases,
    UnitInvalidates,
    UnitWaits,
    StrongLoadDropsLine,
    AtomicDropsLine,
    SmOrder,
    LinkOrder,
    ClusterBarrierFences,
    BarWaits,
    MembarDrainsBuffer,
    BarDrainsBuffer,
    LoadsSeeBuffer,
    InvalidateDropsCopies,
    PassingCancelsCopies,
    ScWaits,
    ArrivalWaits,
    ArrivalDrainsBuffer,
    CopiesKeepOrder,
    GroupWaits,
    TrackedArrivalWaits,
    ViewWaits,
    BulkBehindLink,
    SharedViewDrops,
}

impl MachineRule {
    pub const ALL: [MachineRule; 34] = [
        MachineRule::InvalidateDropsLines,
        MachineRule::InvalidateWaits,
        MachineRule::FenceInvalidatesLast,
        MachineRule::InvalidateCancelsFills,
        MachineRule::AcquireWaits,
        MachineRule::MembarCtaWaits,
        MachineRule::MembarCumulative,
        MachineRule::MembarWaits,
        MachineRule::MembarSysReachesHome,
        MachineRule::MembarSysCumulative,
        MachineRule::StoreCancelsFills,
        MachineRule::MembarSysTwoPhases,
        MachineRule::UnitInvalidates,
        MachineRule::UnitWaits,
        MachineRule::StrongLoadDropsLine,
        MachineRule::AtomicDropsLine,
        MachineRule::SmOrder,
        MachineRule::LinkOrder,
        MachineRule::ClusterBarrierFences,
        MachineRule::BarWaits,
        MachineRule::MembarDrainsBuffer,
        MachineRule::BarDrainsBuffer,
        MachineRule::LoadsSeeBuffer,
        MachineRule::InvalidateDropsCopies,
        MachineRule::PassingCancelsCopies,
        MachineRule::ScWaits,
        MachineRule::ArrivalWaits,
        MachineRule::ArrivalDrainsBuffer,
        MachineRule::CopiesKeepOrder,
        MachineRule::GroupWaits,
        MachineRule::TrackedArrivalWaits,
        MachineRule::ViewWaits,
        MachineRule::BulkBehindLink,
        MachineRule::SharedViewDrops,
    ];

    /// Its number, as in `docs/machine.md`, and its statement.
    fn row(self) -> (&'static str, &'static str) {
        match self {
            MachineRule::InvalidateDropsLines => ("R1", "CCTL.IVALL drops the lines of its L1"),
            MachineRule::InvalidateWaits => ("R2", "CCTL.IVALL waits for the thread's own loads"),
            MachineRule::FenceInvalidatesLast => {
                ("R3", "a fence drops lines after its MEMBAR, not before")
            }
            MachineRule::InvalidateCancelsFills => {
                ("R4", "CCTL.IVALL cancels fills that are on their way")
            }
            MachineRule::AcquireWaits => (
                "R5",
                "an acquire at cta scope, or a fence that is a wait alone, waits for its load",
            ),
            MachineRule::MembarCtaWaits => ("R6", "MEMBAR.CTA waits for the thread's own loads"),
            MachineRule::MembarCumulative => ("R7", "MEMBAR.GPU waits for all stores of its SM"),
            MachineRule::MembarWaits => ("R8", "MEMBAR.GPU waits"),
            MachineRule::MembarSysReachesHome => {
                ("R9", "MEMBAR.SYS waits until stores are at their home")
            }
            MachineRule::MembarSysCumulative => {
                ("R10", "MEMBAR.SYS waits for all stores of its GPU")
            }
            MachineRule::StoreCancelsFills => ("R11", "a store cancels older fills of its line"),
            MachineRule::MembarSysTwoPhases => {
                ("R12", "MEMBAR.SYS looks at links once its SM has completed")
            }
            MachineRule::UnitInvalidates => {
                ("R13a", "an acq_rel atomic drops lines when it performs")
            }
            MachineRule::UnitWaits => ("R13b", "an acq_rel atomic waits for the stores of its SM"),
            MachineRule::StrongLoadDropsLine => ("R14", "a strong load drops the line it passes"),
            MachineRule::AtomicDropsLine => ("R15", "an atomic drops the line it passes"),
            MachineRule::SmOrder => ("R16", "accesses of one SM to one location stay in order"),
            MachineRule::LinkOrder => {
                ("R17", "accesses of one GPU to one far location stay in order")
            }
            MachineRule::ClusterBarrierFences => ("R18", "the barrier of a cluster fences"),
            MachineRule::BarWaits => ("R19", "BAR waits for the thread's own loads"),
            MachineRule::MembarDrainsBuffer => ("R20a", "MEMBAR.CTA drains the store buffer"),
            MachineRule::BarDrainsBuffer => ("R20b", "BAR drains the store buffer"),
            MachineRule::LoadsSeeBuffer => ("R20c", "loads look into the store buffer"),
            MachineRule::InvalidateDropsCopies => {
                ("R21a", "CCTL.IVALL drops the GPU's copies of far memory")
            }
            MachineRule::PassingCancelsCopies => {
                ("R21b", "what passes to the link cancels older copies")
            }
            MachineRule::ScWaits => ("R22", "loads after a MEMBAR.SC wait until it has completed"),
            MachineRule::ArrivalWaits => {
                ("R23", "a releasing arrival waits for the thread's own loads")
            }
            MachineRule::ArrivalDrainsBuffer => {
                ("R20d", "a releasing arrival drains the store buffer")
            }
            MachineRule::CopiesKeepOrder => {
                ("R24", "LDGSTS stays after older accesses of its SM to its source")
            }
            MachineRule::GroupWaits => {
                ("R25", "DEPBAR.LE waits for all but the latest groups of copies")
            }
            MachineRule::TrackedArrivalWaits => {
                ("R26", "ARRIVES.LDGSTSBAR waits for the copies before it")
            }
            MachineRule::ViewWaits => ("R27", "FENCE.VIEW.ASYNC.G waits for all stores of its SM"),
            MachineRule::SharedViewDrops => {
                ("R29", "FENCE.VIEW.ASYNC.S has bulk copies see what is in shared memory")
            }
            MachineRule::BulkBehindLink => {
                ("R28", "a bulk copy comes after the stores in its GPU's link")
            }
        }
    }

    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Whether the rule is about arrivals, copies and proxies: no other program shows its absence.
    pub fn is_asynchronous(self) -> bool {
        matches!(
            self,
            MachineRule::ArrivalWaits
                | MachineRule::ArrivalDrainsBuffer
                | MachineRule::CopiesKeepOrder
                | MachineRule::GroupWaits
                | MachineRule::TrackedArrivalWaits
                | MachineRule::ViewWaits
                | MachineRule::BulkBehindLink
                | MachineRule::SharedViewDrops
        )
    }

    pub fn text(self) -> &'static str {
        self.row().1
    }

    pub fn of(name: &str) -> Option<MachineRule> {
        MachineRule::ALL.into_iter().find(|rule| rule.name() == name)
    }
}
