//! Random programs of asynchronous operations: copies, groups, mbarrier objects, fences of the async proxy, kernels that
//! follow one another, tensor memory, matrices, requests to cancel a cluster, and multimem addresses.
//!
//! The steps are drawn uniformly, and the programs are so small that many of them are defined and order something.

use std::fmt;

use model::program::LaunchOrder;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{RandomProgram, RandomThread};

/// What a thread may do. `%` is the number of the line, for labels.
const STEPS: &[&str] = &[
    "st.shared.u32 [s], 1",
    "st.shared.u32 [s], 2",
    "ld.shared.u32 r%, [s]",
    "ld.shared.u32 r%, [t]",
    "st.global.u32 [g], 3",
    "ld.global.u32 r%, [g]",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b]",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [t], [g], 16, [b]",
    "cp.async.bulk.global.shared::cta.bulk_group [g], [s], 16",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group 0",
    "cp.async.bulk.wait_group.read 0",
    "cp.async.cg.shared::cta.global [s], [g], 16",
    "cp.async.ca.shared::cta.global [t], [g], 16, 8",
    "cp.async.commit_group",
    "cp.async.wait_group 1",
    "cp.async.wait_all",
    "cp.async.mbarrier.arrive.shared::cta.b64 [b]",
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [b]",
    "mbarrier.arrive.shared::cta.b64 _, [b]",
    "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [b]",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16",
    "mbarrier.test_wait.parity.shared::cta.b64 p%, [b], 0",
    "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ; @!p bra L%",
    "L%: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [b], 0 ; @!p bra L%",
    "bar.sync 0",
    "fence.acq_rel.cta",
    "fence.proxy.async",
    "fence.proxy.async.shared::cta",
    "fence.proxy.async.global",
];

/// What a thread may do beside that where kernels follow one another, and where tensors are copied.
const KERNEL_STEPS: &[&str] = &[
    "st.global.u32 [g], 3",
    "ld.global.u32 r%, [g]",
    "ld.global.u32 r%, [f]",
    "st.global.u32 [f], 4",
    "st.release.gpu.global.u32 [f], 6",
    "ld.acquire.gpu.global.u32 r%, [f]",
    "ld.shared.u32 r%, [s]",
    "fence.acq_rel.gpu",
    "fence.acq_rel.cta",
    "griddepcontrol.launch_dependents",
    "griddepcontrol.launch_dependents",
    "griddepcontrol.wait",
    "bar.sync 0",
    "fence.proxy.async",
    "st.global.u32 [m], 5",
    "fence.proxy.tensormap::generic.release.gpu",
    "fence.proxy.tensormap::generic.acquire.gpu [m], 128",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16",
    "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [s], [m, {i}], [b]",
    "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [m, {i}], [s]",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b]",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group 0",
    "cp.async.bulk.wait_group.read 0",
    "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ; @!p bra L%",
];

/// What a thread may do where there is tensor memory.
const TENSOR_STEPS: &[&str] = &[
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r%}, [c]",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r%}, [c]",
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [c], {1}",
    "tcgen05.st.sync.aligned.32x32b.x2.b32 [c], {3, 4}",
    "tcgen05.wait::ld.sync.aligned",
    "tcgen05.wait::st.sync.aligned",
    "tcgen05.cp.cta_group::1.128x256b [c], d",
    "tcgen05.cp.cta_group::1.4x256b [c], d",
    "tcgen05.mma.cta_group::1.kind::f16 [c], d, d, i, off",
    "tcgen05.mma.cta_group::1.kind::f16 [c], d, d, i, on",
    "tcgen05.mma.cta_group::1.kind::f16 [c+1], [c], d, i, on",
    "tcgen05.mma.cta_group::2.kind::f16 [c], d, d, i, on",
    "tcgen05.shift.cta_group::1.down [c]",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [b]",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [b]",
    "tcgen05.fence::before_thread_sync",
    "tcgen05.fence::after_thread_sync",
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], 32",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 rc, 32",
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
    "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [b]",
    "mbarrier.arrive.shared::cta.b64 _, [b]",
    "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ; @!p bra L%",
    "L%: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [b], 0 ; @!p bra L%",
    "L%: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [b], 0 ; @!p bra L% ; tcgen05.fence::after_thread_sync",
    "st.shared.u32 [s], 2",
    "fence.proxy.async",
    "st.relaxed.cta.shared.u32 [f], 1",
    "ld.relaxed.cta.shared.u32 r%, [f]",
    "bar.sync 0",
];

/// Of these, what programs are made of that allocate more than they access.
const ALLOCATION_STEPS: &[&str] = &[
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], 32",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 rc, 32",
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r%}, [c]",
    "bar.sync 0",
];

/// What a thread may do where a warpgroup multiplies matrices. Few of their registers are used otherwise.
const MATRIX_STEPS: &[&str] = &[
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {r0, r1, r2, r3}, d, d, 1, 1, 1, 0, 0",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {r0, r1, r2, r3}, d, d, 1, 1, 1, 0, 0",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {r4, r5, r6, r7}, d, d, 1, 1, 1, 0, 0",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {r4, r5, r6, r7}, {r0, r1, r2, r3}, d, 1, 1, 1, 0",
    "wgmma.fence.sync.aligned",
    "wgmma.fence.sync.aligned",
    "wgmma.commit_group.sync.aligned",
    "wgmma.commit_group.sync.aligned",
    "wgmma.wait_group.sync.aligned 0",
    "wgmma.wait_group.sync.aligned 0",
    "wgmma.wait_group.sync.aligned 1",
    "mov.b32 r0, 0",
    "mov.b32 r8, r0",
    "mov.b32 r8, r4",
    "st.shared.u32 [s], 1",
    "ld.shared.u32 r9, [s]",
    "fence.proxy.async",
    "bar.sync 0",
];

/// What a thread may do where clusters are cancelled.
const REQUEST_STEPS: &[&str] = &[
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16 ; \
     clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [q], [b] ; \
     L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ; @!p bra L%",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [q], [b]",
    "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [q], [b]",
    "ld.shared.b128 r%, [q]",
    "ld.shared.b128 r%, [q]",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16",
    "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ; @!p bra L%",
    "L%: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 1 ; @!p bra L%",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [o]",
    "barrier.cluster.arrive ; barrier.cluster.wait",
    "barrier.cluster.arrive.relaxed ; barrier.cluster.wait",
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    "fence.proxy.async",
];

/// Of these, what programs are made of in which one request follows the other.
const FOLLOWING_STEPS: &[&str] = &[
    REQUEST_STEPS[0],
    REQUEST_STEPS[0],
    REQUEST_STEPS[1],
    "ld.shared.b128 r%, [q]",
    "barrier.cluster.arrive ; barrier.cluster.wait",
];

/// What a thread may do where there is a multimem address.
const MULTIMEM_STEPS: &[&str] = &[
    "multimem.st.global.u32 [m], 1",
    "multimem.st.relaxed.gpu.global.u32 [m], 2",
    "multimem.st.release.sys.global.u32 [m], 3",
    "multimem.red.relaxed.sys.global.add.u32 [m], 4",
    "multimem.red.release.sys.global.add.u32 [m], 4",
    "multimem.ld_reduce.global.add.u32 r%, [m]",
    "multimem.ld_reduce.relaxed.sys.global.max.u32 r%, [m]",
    "multimem.ld_reduce.acquire.sys.global.add.u32 r%, [m]",
    "st.global.u32 [x], 5",
    "st.release.sys.global.u32 [y], 6",
    "ld.global.u32 r%, [x]",
    "ld.acquire.sys.global.u32 r%, [x]",
    "ld.relaxed.sys.global.u32 r%, [y]",
    "st.global.u32 [z], 7",
    "ld.global.u32 r%, [z]",
    "fence.acq_rel.sys",
    "fence.sc.sys",
    "fence.proxy.alias",
];

/// What the programs of a sketch are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AsyncKind {
    /// Copies, in one kernel.
    Copies,
    /// The last column is of a kernel that is launched after that of the others.
    Kernels(LaunchOrder),
    TensorMemory,
    /// Products of matrices in shared memory, with registers.
    Matrices,
    /// Requests to cancel a cluster, in one CTA or in a cluster with a CTA for each thread.
    Requests {
        cluster: bool,
    },
    /// A multimem address of two locations; each thread is on another GPU.
    Multimem,
}

/// A test in the making, displayed as its text: how many arrivals the object expects, and columns of steps.
#[derive(Clone, Debug)]
pub struct AsyncSketch {
    count: u32,
    kind: AsyncKind,
    columns: Vec<Vec<&'static str>>,
}

/// Programs of one kernel.
pub fn asynchronous() -> impl Strategy<Value = AsyncSketch> {
    let column = || vec(select(STEPS), 1..5);
    (1..3_u32, vec(column(), 1..3)).prop_map(|(count, columns)| AsyncSketch {
        count,
        kind: AsyncKind::Copies,
        columns,
    })
}

/// Programs with tensor memory.
pub fn tensor_memory() -> impl Strategy<Value = AsyncSketch> {
    let kind = AsyncKind::TensorMemory;
    let columns = prop_oneof![
        3 => vec(vec(select(TENSOR_STEPS), 1..6), 1..4),
        1 => vec(vec(select(ALLOCATION_STEPS), 1..4), 1..3),
    ];
    columns.prop_map(move |columns| AsyncSketch { count: 1, kind, columns })
}

/// Programs of products of matrices.
pub fn matrices() -> impl Strategy<Value = AsyncSketch> {
    let column = || vec(select(MATRIX_STEPS), 1..6);
    let kind = AsyncKind::Matrices;
    vec(column(), 1..3).prop_map(move |columns| AsyncSketch { count: 1, kind, columns })
}

/// Programs of two kernels.
pub fn kernels() -> impl Strategy<Value = AsyncSketch> {
    let column = || vec(select(KERNEL_STEPS), 1..5);
    (select(&LaunchOrder::ALL[..]), vec(column(), 2..4)).prop_map(|(order, columns)| AsyncSketch {
        count: 1,
        kind: AsyncKind::Kernels(order),
        columns,
    })
}

/// Programs of requests to cancel a cluster.
pub fn requests() -> impl Strategy<Value = AsyncSketch> {
    let columns = prop_oneof![
        2 => vec(vec(select(REQUEST_STEPS), 1..5), 1..3),
        1 => vec(vec(select(FOLLOWING_STEPS), 1..4), 1..3),
    ];
    (any::<bool>(), columns).prop_map(|(cluster, columns)| AsyncSketch {
        count: 1,
        kind: AsyncKind::Requests { cluster },
        columns,
    })
}

/// Programs with a multimem address.
pub fn multimem() -> impl Strategy<Value = AsyncSketch> {
    let column = || vec(select(MULTIMEM_STEPS), 1..4);
    let kind = AsyncKind::Multimem;
    vec(column(), 1..4).prop_map(move |columns| AsyncSketch { count: 1, kind, columns })
}

/// The cells of a column, of which a wait is two.
fn cells(column: &[&'static str]) -> Vec<String> {
    let numbered = column.iter().enumerate();
    numbered
        .flat_map(|(line, step)| {
            let step = step.replace('%', &line.to_string());
            step.split(" ; ").map(str::to_owned).collect::<Vec<String>>()
        })
        .collect()
}

impl AsyncSketch {
    /// The test in pieces.
    pub fn program(&self) -> RandomProgram {
        let threads = self.columns.len();
        let last = threads - 1;
        let copies = || {
            let object = format!(".shared .mbarrier b={{{}}}", self.count);
            let memory = [".shared .b32 s[4]", ".shared .b32 t[4]", ".global .b32 g[4]={7}"];
            [object].into_iter().chain(memory.map(str::to_owned)).collect::<Vec<String>>()
        };
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let (declarations, observed): (Vec<String>, Vec<String>) = match self.kind {
            AsyncKind::Copies => (copies(), names(&["s[0]", "t[0]", "g[0]"])),
            AsyncKind::Kernels(order) => {
                let mut all = copies();
                let kernels = format!("kernel 0 -> 1 @{}", order.name());
                all.extend([".global .b32 f", "m @tensormap g", &kernels].map(str::to_owned));
                (all, names(&["[s@P0]", &format!("[s@P{last}]"), "f", "g[0]"]))
            }
            AsyncKind::TensorMemory => {
                let mut all = copies();
                let memory = [".tmem .b32 c[32]", ".shared .b32 f", ".shared .b32 a"];
                all.extend(memory.map(str::to_owned));
                // Each allocation has a variable.
                let cells = self.columns.iter().flatten();
                let allocations = cells.filter(|step| step.starts_with("tcgen05.alloc")).count();
                all.extend((1..allocations).map(|more| format!(".tmem .b32 c{more}[32]")));
                let given = ["d=s", "on=1", "rc=c"];
                for thread in 0..threads {
                    all.extend(given.map(|given| format!("P{thread}:{given}")));
                }
                (all, names(&["s[0]", "t[0]", "g[0]", "c[0]", "c[1]"]))
            }
            AsyncKind::Matrices => {
                let mut all = names(&[".shared .b32 s[4]={1}"]);
                all.extend((0..threads).map(|of| format!("P{of}:d=s")));
                (all, names(&["s[0]"]))
            }
            AsyncKind::Requests { .. } => {
                let mut all =
                    vec![".shared .mbarrier b={1}".to_owned(), ".shared .b128 q".to_owned()];
                // Each thread has the object of the next one's CTA.
                all.extend((0..threads).map(|of| format!("P{of}:o=b@P{}", (of + 1) % threads)));
                (all, Vec::new())
            }
            AsyncKind::Multimem => {
                (names(&["x=0", "y=0", "z=0", "m @multimem x, y"]), names(&["x", "y", "z"]))
            }
        };
        let placement = |number: usize| match self.kind {
            AsyncKind::Copies | AsyncKind::TensorMemory | AsyncKind::Matrices => {
                "cta 0,gpu 0".to_owned()
            }
            AsyncKind::Kernels(_) => format!("cta 0,gpu 0,kernel {}", usize::from(number == last)),
            AsyncKind::Requests { cluster } => {
                format!("cta {},cluster 0,gpu 0", if cluster { number } else { 0 })
            }
            AsyncKind::Multimem => format!("cta {number},gpu {number}"),
        };
        let thread = |(number, column): (usize, &Vec<&'static str>)| RandomThread {
            placement: placement(number),
            cells: cells(column),
        };
        let threads = self.columns.iter().enumerate().map(thread).collect();
        RandomProgram { language: "PTX", declarations, threads, observed }
    }

    /// The same with another step in one column.
    #[must_use]
    pub fn with(&self, column: usize, at: usize, step: &'static str) -> AsyncSketch {
        let mut more = self.clone();
        let column = column % more.columns.len();
        let place = at % (more.columns[column].len() + 1);
        more.columns[column].insert(place, step);
        more
    }
}

impl fmt::Display for AsyncSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program().fmt(f)
    }
}
