//! Instructions about asynchronous operations.

use super::{Printer, dotted, load_order, named, scoped, store_order, vector};
use crate::isa::Operand;
use crate::isa::asynchronous::{
    AsyncFence, AsyncStore, Asynchronous, AwaitedPhase, Cancel, GridControl, GroupCompletion,
    GroupKind, Mbarrier, MbarrierLayout, MbarrierOp, TensormapFence, TensormapWrite, Track,
    WaitGroup,
};
use crate::isa::atom::AtomicOp;
use crate::isa::multimem::{Multimem, MultimemOp};
use crate::isa::tensor_memory::{TensorFence, TensorOp, TensorWait};
use crate::memory::TENSORMAP_BYTES;
use crate::scope::Scope;

impl Printer<'_> {
    pub(super) fn asynchronous(&self, of: &Asynchronous) -> Option<String> {
        Some(match of {
            Asynchronous::Mbarrier(mbarrier) => self.mbarrier(mbarrier),
            Asynchronous::PendingCount(of) => {
                let (count, state) = (self.result(of.count), self.operand(of.state));
                format!("mbarrier.pending_count.b64 {count}, {state}")
            }
            Asynchronous::Store(store) => self.async_store(store),
            Asynchronous::Track(Track { object, space, increments }) => {
                let increments = if *increments { "" } else { "noinc" };
                let name = dotted(["cp.async.mbarrier.arrive", increments, named(*space), "b64"]);
                format!("{name} {}", self.address(*object))
            }
            Asynchronous::Commit(kind) => grouped(*kind, "commit_group"),
            Asynchronous::WaitGroup(wait) => wait_group(*wait),
            Asynchronous::TensorMemory(TensorOp::Wait(of)) => match of {
                TensorWait::Loads => "tcgen05.wait::ld.sync.aligned".to_owned(),
                TensorWait::Stores => "tcgen05.wait::st.sync.aligned".to_owned(),
            },
            Asynchronous::TensorMemory(TensorOp::Fence(of)) => match of {
                TensorFence::Before => "tcgen05.fence::before_thread_sync".to_owned(),
                TensorFence::After => "tcgen05.fence::after_thread_sync".to_owned(),
            },
            Asynchronous::MultiplyFence => "wgmma.fence.sync.aligned".to_owned(),
            Asynchronous::Fence(fence) => async_fence(*fence),
            Asynchronous::Grid(GridControl::LaunchDependents) => {
                "griddepcontrol.launch_dependents".to_owned()
            }
            Asynchronous::Grid(GridControl::Wait) => "griddepcontrol.wait".to_owned(),
            Asynchronous::TensormapFence(TensormapFence { scope, acquires }) => {
                let name = "fence.proxy.tensormap::generic";
                match acquires {
                    None => format!("{name}.release.{scope}"),
                    Some(map) => {
                        let map = self.address(*map);
                        format!("{name}.acquire.{scope} {map}, {TENSORMAP_BYTES}")
                    }
                }
            }
            Asynchronous::Tensormap(TensormapWrite::CopyFence { to, from, scope }) => format!(
                "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}.sync.aligned {}, {}, {TENSORMAP_BYTES}",
                self.address(*to),
                self.address(*from)
            ),
            Asynchronous::Multimem(of) => self.multimem(of),
            Asynchronous::Fill(fill) => {
                let name = dotted(["st.bulk.weak", named(fill.space)]);
                format!("{name} {}, {}, 0", self.address(fill.to), self.operand(fill.bytes))
            }
            Asynchronous::Cancel(Cancel { response, object, space, multicast }) => {
                let name = dotted([
                    "clusterlaunchcontrol.try_cancel.async",
                    named(*space),
                    "mbarrier::complete_tx::bytes",
                    if *multicast { "multicast::cluster::all" } else { "" },
                    "b128",
                ]);
                format!("{name} {}, {}", self.address(*response), self.address(*object))
            }
            // Levels of caches, coordinates, fields of a tensormap, shapes and types of matrices.
            Asynchronous::Copy(_)
            | Asynchronous::Multiply(_)
            | Asynchronous::Tensormap(TensormapWrite::Replace { .. })
            | Asynchronous::TensorMemory(_) => return None,
        })
    }

    fn mbarrier(&self, of: &Mbarrier) -> String {
        let (space, object) = (named(of.space), self.address(of.object));
        // What is not written is a release or an acquire of the CTA.
        let order = |strong: &str| match (of.synchronizes, of.scope) {
            (true, Scope::Cta) => String::new(),
            (true, scope) => scoped(strong, scope),
            (false, scope) => scoped("relaxed", scope),
        };
        let layout = |layout: MbarrierLayout| match layout {
            MbarrierLayout::V0 => "",
            MbarrierLayout::V1 => "layout::v1",
        };
        let counts = |name: &str, bytes: Operand| {
            let order = if of.scope == Scope::Cta { String::new() } else { order("") };
            format!("{} {object}, {}", dotted([name, &order, space, "b64"]), self.operand(bytes))
        };
        match &of.op {
            MbarrierOp::Init { count, layout: of } => {
                let name = dotted(["mbarrier.init", layout(*of), space, "b64"]);
                format!("{name} {object}, {}", self.operand(*count))
            }
            MbarrierOp::Invalidate => {
                format!("{} {object}", dotted(["mbarrier.inval", space, "b64"]))
            }
            MbarrierOp::CheckLayout { layout: of, holds } => {
                let of = if *of == MbarrierLayout::V0 { "layout::v0" } else { layout(*of) };
                let name = dotted(["mbarrier.check_layout", of, space, "b64"]);
                format!("{name} {}, {object}", self.result(*holds))
            }
            MbarrierOp::ExpectTx { bytes } => counts("mbarrier.expect_tx", *bytes),
            MbarrierOp::CompleteTx { bytes } => counts("mbarrier.complete_tx", *bytes),
            MbarrierOp::Arrive { count, expected, drops, completes, state } => {
                let opcode = if *drops { "mbarrier.arrive_drop" } else { "mbarrier.arrive" };
                let how = match (expected, completes) {
                    (Some(_), _) => "expect_tx",
                    (None, true) => "",
                    (None, false) => "noComplete",
                };
                let counted = *count != Operand::Imm(1) || !completes;
                let number = expected.or(counted.then_some(*count));
                let number = number.map_or(String::new(), |of| format!(", {}", self.operand(of)));
                let name = dotted([opcode, how, &order("release"), space, "b64"]);
                format!("{name} {}, {object}{number}", self.result(*state))
            }
            MbarrierOp::Wait { phase, tries, done } => {
                let opcode = if *tries { "mbarrier.try_wait" } else { "mbarrier.test_wait" };
                let (how, phase) = match phase {
                    AwaitedPhase::Parity(parity) => ("parity", parity),
                    AwaitedPhase::State(state) => ("", state),
                };
                let name = dotted([opcode, how, &order("acquire"), space, "b64"]);
                format!("{name} {}, {object}, {}", self.result(*done), self.operand(*phase))
            }
        }
    }

    fn async_store(&self, store: &AsyncStore) -> String {
        let order = match (store.scope, store.releases) {
            (None, _) => String::new(),
            (Some(scope), true) => scoped("release", scope),
            (Some(scope), false) if store.reduction.is_some() => scoped("relaxed", scope),
            (Some(scope), false) => scope.to_string(),
        };
        let opcode = if store.reduction.is_some() { "red.async" } else { "st.async" };
        let multimem = if store.multimem { "multimem" } else { "" };
        let tracked = store.mbarrier.map_or("", |_| "mbarrier::complete_tx::bytes");
        let op = store.reduction.map_or("", AtomicOp::name);
        let (count, sources) = vector(&self.list(&store.sources));
        let space = named(store.space);
        let name = dotted([multimem, opcode, &order, space, tracked, op, &count, store.ty.name()]);
        let object = store.mbarrier.map_or(String::new(), |of| format!(", {}", self.address(of)));
        format!("{name} {}, {sources}{object}", self.address(store.to))
    }

    fn multimem(&self, of: &Multimem) -> String {
        let (space, ty, address) = (named(of.space), of.ty.name(), self.address(of.address));
        match &of.op {
            MultimemOp::LoadReduce { order, op, destinations } => {
                let registers: Vec<String> =
                    destinations.iter().map(|&register| self.result(register)).collect();
                let (count, registers) = vector(&registers);
                let order = load_order(*order);
                let name = dotted(["multimem.ld_reduce", &order, space, op.name(), &count, ty]);
                format!("{name} {registers}, {address}")
            }
            MultimemOp::Store { order, sources } => {
                let (count, sources) = vector(&self.list(sources));
                let name = dotted(["multimem.st", &store_order(*order), space, &count, ty]);
                format!("{name} {address}, {sources}")
            }
            MultimemOp::Reduce { order, scope, op, sources } => {
                let order = scoped(order.name(), *scope);
                let (count, sources) = vector(&self.list(sources));
                let name = dotted(["multimem.red", &order, space, op.name(), &count, ty]);
                format!("{name} {address}, {sources}")
            }
        }
    }
}

/// An instruction about groups of this kind.
fn grouped(kind: GroupKind, what: &str) -> String {
    match kind {
        GroupKind::Copies => format!("cp.async.{what}"),
        GroupKind::BulkCopies => format!("cp.async.bulk.{what}"),
        GroupKind::Multiplications => format!("wgmma.{what}.sync.aligned"),
    }
}

fn wait_group(wait: WaitGroup) -> String {
    if wait.commits {
        return "cp.async.wait_all".to_owned();
    }
    let what = match wait.until {
        GroupCompletion::Complete => "wait_group",
        GroupCompletion::Read => "wait_group.read",
        GroupCompletion::AsyncProxy => "wait_group.sync_restrict::proxy::async",
    };
    format!("{} {}", grouped(wait.of, what), wait.pending)
}

fn async_fence(fence: AsyncFence) -> String {
    match fence {
        AsyncFence::Proxy(window) => format!("fence.proxy.async{}", window.qualifier()),
        AsyncFence::ProxyRelease => {
            "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster".to_owned()
        }
        AsyncFence::ProxyReleaseOfReads => {
            "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster"
                .to_owned()
        }
        AsyncFence::AliasReleaseOfReads => "fence.alias.sync_restrict::read.release.sys".to_owned(),
        AsyncFence::ProxyAcquire => {
            "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster".to_owned()
        }
        AsyncFence::MbarrierInit => "fence.mbarrier_init.release.cluster".to_owned(),
        AsyncFence::Release => "fence.release.sync_restrict::shared::cta.cluster".to_owned(),
        AsyncFence::Acquire => "fence.acquire.sync_restrict::shared::cluster.cluster".to_owned(),
    }
}
