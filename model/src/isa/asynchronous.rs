//! Asynchronous operations, the objects that track them, and the fences that order them.

use super::atom::AtomicOp;
use super::multimem::Multimem;
use super::tensor_memory::TensorOp;
use super::{Address, Operand, Reg, SpaceQualifier, Type};
use crate::scope::Scope;

/// An instruction that starts, tracks, awaits or orders asynchronous operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asynchronous {
    /// `mbarrier.*`.
    Mbarrier(Mbarrier),
    /// `mbarrier.pending_count`, which accesses no object.
    PendingCount(PendingCount),
    /// `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk`.
    Copy(Copy),
    /// `st.async`, `red.async`.
    Store(AsyncStore),
    /// `cp.async.mbarrier.arrive`.
    Track(Track),
    /// `*.commit_group`.
    Commit(GroupKind),
    /// `*.wait_group`; `cp.async.wait_all` is a commit and a wait for all groups.
    WaitGroup(WaitGroup),
    /// `wgmma.mma_async`.
    Multiply(Multiply),
    /// `wgmma.fence`.
    MultiplyFence,
    Fence(AsyncFence),
    /// `griddepcontrol`.
    Grid(GridControl),
    /// `fence.proxy.tensormap::generic`.
    TensormapFence(TensormapFence),
    /// `tensormap.replace` and `tensormap.cp_fenceproxy`, which are not asynchronous.
    Tensormap(TensormapWrite),
    /// `tcgen05.*`.
    TensorMemory(TensorOp),
    /// `multimem.ld_reduce`, `multimem.st` and `multimem.red`, which are not asynchronous.
    Multimem(Multimem),
    /// `st.bulk`, which is not asynchronous.
    Fill(Fill),
    /// `clusterlaunchcontrol.try_cancel`.
    Cancel(Cancel),
}

/// An operation on an mbarrier object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mbarrier {
    pub op: MbarrierOp,
    pub space: SpaceQualifier,
    pub object: Address,
    /// Whether it has `.release` or `.acquire` semantics; otherwise it is relaxed.
    pub synchronizes: bool,
    pub scope: Scope,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MbarrierOp {
    Init {
        count: Operand,
        layout: MbarrierLayout,
    },
    Invalidate,
    /// `check_layout`: whether the object has this layout.
    CheckLayout {
        layout: MbarrierLayout,
        holds: Option<Reg>,
    },
    ExpectTx {
        bytes: Operand,
    },
    CompleteTx {
        bytes: Operand,
    },
    Arrive {
        /// 1 where the instruction gives none.
        count: Operand,
        /// The bytes of `.expect_tx`.
        expected: Option<Operand>,
        /// `arrive_drop`.
        drops: bool,
        /// Not with `.noComplete`.
        completes: bool,
        state: Option<Reg>,
    },
    /// `test_wait` and `try_wait`.
    Wait {
        phase: AwaitedPhase,
        /// `try_wait`, which may also return false after a time.
        tries: bool,
        done: Option<Reg>,
    },
}

/// What an mbarrier object is initialized as. One of the second layout may also keep a report of an operation, by which
/// its conditional phase does not advance; no operation of the model reports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MbarrierLayout {
    V0,
    V1,
}

impl MbarrierLayout {
    /// The largest count of arrivals: 9.7.15.16.3.
    pub fn most_arrivals(self) -> u64 {
        match self {
            MbarrierLayout::V0 => (1 << 20) - 1,
            MbarrierLayout::V1 => (1 << 9) - 1,
        }
    }
}

/// How many arrivals a phase expected before the arrival with `.noComplete` that returned a state (9.7.15.16.18).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingCount {
    pub state: Operand,
    pub count: Option<Reg>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AwaitedPhase {
    Parity(Operand),
    /// The state that an arrival returned.
    State(Operand),
}

/// A copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copy {
    /// Whether it is a bulk copy, through the async proxy; otherwise `cp.async`, through the generic one.
    pub bulk: bool,
    pub to: Address,
    pub to_space: SpaceQualifier,
    pub from: Address,
    pub from_space: SpaceQualifier,
    /// `None` of a copy of a tensor, which is as long as the tensor.
    pub bytes: Option<Operand>,
    /// Of a copy of a tensor: the side in global memory is then the tensor, and its address that of the tensormap.
    pub tensor: Option<TensorCopy>,
    /// `src-size` of `cp.async`: what follows in the destination is written with 0.
    pub source_bytes: Option<Operand>,
    /// `ignore-src` of `cp.async`, and whether it is negated: the source is not read.
    pub ignores_source: Option<(Reg, bool)>,
    /// `.cp_mask`: the bytes of each 16 that are copied, a bit each.
    pub byte_mask: Option<Operand>,
    /// The mbarrier object on which it completes; without one it is part of a group.
    pub mbarrier: Option<Address>,
    /// The ranks of the CTAs that receive it.
    pub multicast: Option<Operand>,
    /// Of `.relaxed`; weak without.
    pub scope: Option<Scope>,
    /// `cp.reduce`: what is done with each element of the destination.
    pub reduction: Option<(AtomicOp, Type)>,
    /// Whether the destination is a multimem address.
    pub multimem: bool,
}

/// What `cp.async.bulk.tensor` has beyond other copies. The tensor is one tile, whatever the coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorCopy {
    /// The tensormap.
    pub map: Address,
    /// The register by which a condition names the first 4 bytes that are read of the tensormap.
    pub descriptor: Option<Reg>,
}

/// A fence of the tensormap proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensormapFence {
    pub scope: Scope,
    /// The tensormap that is acquired; `None` of a release.
    pub acquires: Option<Address>,
}

/// What writes all bytes of a tensormap through the generic proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensormapWrite {
    /// `tensormap.replace`: the first 4 bytes are taken to be the field.
    Replace { map: Address, space: SpaceQualifier, value: Operand },
    /// `tensormap.cp_fenceproxy`: a copy from shared memory, and a release fence of the tensormap proxy.
    CopyFence { to: Address, from: Address, scope: Scope },
}

/// `st.async` and `red.async`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsyncStore {
    pub to: Address,
    pub space: SpaceQualifier,
    pub ty: Type,
    /// One for a scalar, 2 or 4 for a vector.
    pub sources: Vec<Operand>,
    pub mbarrier: Option<Address>,
    /// `None` of a weak store.
    pub scope: Option<Scope>,
    pub releases: bool,
    /// `red.async`.
    pub reduction: Option<AtomicOp>,
    /// Whether the destination is a multimem address.
    pub multimem: bool,
}

/// What the size of an `st.bulk` is a multiple of, and its address.
pub const FILL_BYTES: u32 = 8;

/// `st.bulk`: writes 0 to this many bytes of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    pub to: Address,
    pub space: SpaceQualifier,
    /// A multiple of 8.
    pub bytes: Operand,
}

/// The bytes of the response to `clusterlaunchcontrol.try_cancel`.
pub const RESPONSE_BYTES: u32 = 16;

/// The bit of a response from which on it is not 0 if a cluster was cancelled. Below are the three parts of the
/// `ctaid` of its first CTA, of 32 bits each. The document leaves the response opaque.
pub const CANCELED_BIT: u16 = 96;

/// `clusterlaunchcontrol.try_cancel`: a request to cancel the launch of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancel {
    /// Where the response is written.
    pub response: Address,
    pub object: Address,
    pub space: SpaceQualifier,
    /// `.multicast::cluster::all`: the response is written in each CTA of the cluster.
    pub multicast: bool,
}

/// `cp.async.mbarrier.arrive`: an arrival when all copies of the thread so far have completed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    pub object: Address,
    pub space: SpaceQualifier,
    /// Whether the pending count is incremented first; not with `.noinc`.
    pub increments: bool,
}

/// What `griddepcontrol` does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GridControl {
    /// `launch_dependents`: dependent kernels may start when each CTA has executed it, or has ended.
    LaunchDependents,
    /// `wait`: until the kernels before have ended.
    Wait,
}

/// What is grouped by a thread, apart from the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GroupKind {
    /// `cp.async`.
    Copies,
    /// `cp.async.bulk` and `cp.reduce.async.bulk` that complete by groups.
    BulkCopies,
    /// `wgmma.mma_async`.
    Multiplications,
}

/// How far the groups are that a wait waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupCompletion {
    /// Complete for every access of the thread.
    Complete,
    /// `.read`: the sources have been read.
    Read,
    /// `.sync_restrict::proxy::async`: complete for accesses through the async proxy. Reading B30.
    AsyncProxy,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitGroup {
    pub of: GroupKind,
    /// How many of the latest groups may be incomplete.
    pub pending: u64,
    pub until: GroupCompletion,
    /// `cp.async.wait_all`: uncommitted copies are waited for, too.
    pub commits: bool,
}

/// The reads of shared memory by a matrix multiplication. The result is taken to be the sum of the first 4 bytes of each
/// matrix in shared memory, of the first register of the fragment, and of the accumulator if it is an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multiply {
    /// The registers of the accumulator; the first receives the value.
    pub accumulator: Vec<Reg>,
    /// The registers that hold a fragment of the matrix A.
    pub fragment: Vec<Reg>,
    /// The qualifier of the shape, `m64n8k16`.
    pub shape: MultiplyShape,
    pub sources: Vec<Address>,
    /// `scale-d`: whether the accumulator is an input, where the value is not 0; and whether it is negated.
    pub accumulates: (Operand, bool),
}

/// M, N and K of a matrix multiplication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MultiplyShape(pub [u16; 3]);

/// The memory that a `fence.proxy.async` is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FenceWindow {
    Everything,
    /// `.shared::cluster`: the shared memory of the CTAs of its cluster.
    ClusterShared,
    /// `.shared::cta`: the shared memory of its CTA.
    OwnShared,
    /// `.global`.
    Global,
}

impl FenceWindow {
    pub const ALL: [FenceWindow; 4] = [
        FenceWindow::Everything,
        FenceWindow::ClusterShared,
        FenceWindow::OwnShared,
        FenceWindow::Global,
    ];

    /// The qualifier of the fence; none of that for everything.
    pub fn qualifier(self) -> &'static str {
        match self {
            FenceWindow::Everything => "",
            FenceWindow::ClusterShared => ".shared::cluster",
            FenceWindow::OwnShared => ".shared::cta",
            FenceWindow::Global => ".global",
        }
    }

    /// Whether all memory of the other one is in this one.
    pub fn includes(self, other: FenceWindow) -> bool {
        self == other
            || self == FenceWindow::Everything
            || (self, other) == (FenceWindow::ClusterShared, FenceWindow::OwnShared)
    }
}

/// Fences of the async proxy, and memory fences that are restricted to some objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AsyncFence {
    /// `fence.proxy.async`.
    Proxy(FenceWindow),
    /// `fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster`.
    ProxyRelease,
    /// `fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster`: of reads of its own thread.
    ProxyReleaseOfReads,
    /// `fence.alias.sync_restrict::read.release.sys`: of reads of its own thread, also through aliases. Reading B29.
    AliasReleaseOfReads,
    /// `fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster`.
    ProxyAcquire,
    /// `fence.mbarrier_init.release.cluster`.
    MbarrierInit,
    /// `fence.release.sync_restrict::shared::cta.cluster`.
    Release,
    /// `fence.acquire.sync_restrict::shared::cluster.cluster`.
    Acquire,
}

impl Asynchronous {
    /// Whether it waits for the end of a phase of an mbarrier object.
    pub fn waits_for_phase(&self) -> bool {
        matches!(self, Asynchronous::Mbarrier(of) if matches!(of.op, MbarrierOp::Wait { .. }))
    }
}

/// An operation without meaning, for which the program is undefined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AsyncMisuse {
    /// The pending count of an object drops below 0, or a count or the tx-count is out of range.
    Count,
    /// An operation on an object that was never initialized, or was invalidated.
    Uninitialized,
    /// A state that no arrival of the thread returned, or a wait for a phase that is neither the current nor the preceding
    /// one; for a count, a state of an arrival without `.noComplete`.
    Token,
    /// 9.7.15.16.17: a parity is 0 or 1.
    Parity,
    /// A size, an alignment or a destination that the instruction does not allow.
    Size,
    /// A register of a `wgmma` is accessed before the wait for its group, or before it and after the last `wgmma.fence`.
    Register,
}

impl AsyncMisuse {
    pub fn text(self) -> &'static str {
        match self {
            AsyncMisuse::Count => "mbarrier-count",
            AsyncMisuse::Uninitialized => "mbarrier-uninitialized",
            AsyncMisuse::Token => "mbarrier-token",
            AsyncMisuse::Parity => "mbarrier-parity",
            AsyncMisuse::Size => "async-size",
            AsyncMisuse::Register => "wgmma-register",
        }
    }
}
