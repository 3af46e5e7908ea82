//! Short descriptions of the given sets and relations, for readers of a printed model.

use crate::given::{Chosen, Fixed, Tag};

pub(super) fn tag(tag: Tag) -> &'static str {
    match tag {
        Tag::All => "every event",
        Tag::Read => "reads",
        Tag::Write => "writes",
        Tag::Fence => "memory fences",
        Tag::Init => "initial writes",
        Tag::ReductionRead => "reads of `red`",
        Tag::NonCoherentRead => "reads of `ld.global.nc`",
        Tag::UniformRead => "reads of `ldu`",
        Tag::ReadonlyRead => "reads of `ld.proxy::readonly`",
        Tag::Atomic => "reads and writes of atomic operations",
        Tag::Relaxed => "strong memory operations that are neither acquire nor release",
        Tag::Acquire => "acquire reads",
        Tag::Release => "release writes",
        Tag::SeqCst => "`seq_cst` accesses of C++",
        Tag::Unordered => "`unordered` accesses of LLVM",
        Tag::FenceAcquire => "`fence.acquire`",
        Tag::FenceRelease => "`fence.release`",
        Tag::FenceAcqRel => "`fence.acq_rel`",
        Tag::FenceSc => "`fence.sc`",
        Tag::ScopeCta => "strong operations at scope `.cta`",
        Tag::ScopeCluster => "strong operations at scope `.cluster`",
        Tag::ScopeGpu => "strong operations at scope `.gpu`",
        Tag::ScopeSys => "strong operations at scope `.sys`",
        Tag::Generic => "memory operations through the generic proxy, and its proxy fences",
        Tag::Texture => "memory operations through the texture proxy, and its proxy fences",
        Tag::Surface => "memory operations through the surface proxy, and its proxy fences",
        Tag::Constant => "memory operations through the constant proxy, and its proxy fences",
        Tag::ProxyFence => "proxy fences",
        Tag::AliasFence => "`fence.proxy.alias`",
        Tag::AliasRelease => "`fence.proxy.alias.release`",
        Tag::AliasAcquire => "`fence.proxy.alias.acquire`",
        Tag::BarrierArrive => "arrivals at a barrier",
        Tag::BarrierWait => "waits at a barrier",
        Tag::CountedBarrier => "those of a barrier of a CTA with a thread count",
        Tag::Asynchronous => "events of asynchronous operations",
        Tag::AsyncProxy => "memory operations through the async proxy",
        Tag::AsyncFence => "`fence.proxy.async`",
        Tag::AsyncFenceRelease => "`fence.proxy.async::generic.release`",
        Tag::AsyncFenceAcquire => "`fence.proxy.async::generic.acquire`",
        Tag::RestrictedRelease => "release fences of some objects only",
        Tag::ReleaseOfReads => "release fences of reads of their thread only",
        Tag::AsyncProxyWait => "waits for groups, for the async proxy alone",
        Tag::RestrictedAcquire => "acquire fences of some objects only",
        Tag::Mbarrier => "operations on an initialized mbarrier object",
        Tag::MbarrierInit => "initializations of an mbarrier object",
        Tag::MbarrierInval => "invalidations of an mbarrier object",
        Tag::MbarrierWait => "waits for a phase of an mbarrier object that returned true",
        Tag::KernelStart => "starts of threads of a kernel that is launched after another",
        Tag::TensormapProxy => "reads through the tensormap proxy",
        Tag::TensormapRelease => "`fence.proxy.tensormap::generic.release`",
        Tag::TensormapAcquire => "`fence.proxy.tensormap::generic.acquire`",
        Tag::TensorMemory => "reads and writes of tensor memory",
        Tag::TensorAllocation => "allocations of tensor memory",
        Tag::TensorDeallocation => "`tcgen05.dealloc`",
        Tag::AllocationsEnd => "`tcgen05.relinquish_alloc_permit`",
        Tag::TensorOperand => "reads of shared memory by operations on tensor memory",
        Tag::TensorFenceBefore => "`tcgen05.fence::before_thread_sync`",
        Tag::TensorFenceAfter => "`tcgen05.fence::after_thread_sync`",
        Tag::Multimem => "memory operations through a multimem address",
        Tag::Cancel => "writes of the response to `clusterlaunchcontrol.try_cancel`",
        Tag::UnfencedMultiply => "those of a `wgmma` before which its thread has no `wgmma.fence`",
        Tag::CancelFailed => "those of a response that nothing was cancelled",
    }
}

pub(super) fn fixed(fixed: Fixed) -> &'static str {
    match fixed {
        Fixed::Po => "program order",
        Fixed::SameCta => "events of threads of one CTA",
        Fixed::SameCluster => "events of threads of one cluster",
        Fixed::SameGpu => "events of threads of one GPU",
        Fixed::Overlap => "memory operations whose virtual address ranges intersect",
        Fixed::OverlapCompletely => "memory operations whose virtual address ranges are equal",
        Fixed::LocationOverlap => "memory operations whose bytes of physical memory intersect",
        Fixed::LocationOverlapCompletely => {
            "memory operations whose bytes of physical memory are equal"
        }
        Fixed::Rmw => "from the read of an atomic to its write",
        Fixed::Addr => "from a read to what computes its address from it",
        Fixed::Data => "from a read to what computes its value from it",
        Fixed::Ctrl => "from a read to what its value decides the execution of",
        Fixed::Barrier => "from the arrivals at a barrier to the waits of the same generation",
        Fixed::ClusterBarrier => "the same of the barrier of the cluster",
        Fixed::Awaited => {
            "from a read that decides an arrival to the writes that wait for the arrival"
        }
        Fixed::Exited => "from a read before an exit to the writes that wait for the exit",
        Fixed::Issue => "from an event to the asynchronous operations that its thread starts later",
        Fixed::Operation => {
            "from the reads of an asynchronous operation to its writes and completion"
        }
        Fixed::GroupWait => "from asynchronous operations to the wait for their group",
        Fixed::Phase => "from an operation on an mbarrier object to the waits that saw its phase",
        Fixed::ObjectOrder => "from an operation on an object, or an arrival, to known later ones",
        Fixed::SameObject => "operations on one mbarrier object, and arrivals at one barrier",
        Fixed::Tracked => {
            "from asynchronous operations to the waits for the phase they complete in"
        }
        Fixed::TrackedElsewhere => {
            "the same of what a multicast does in other CTAs than that of the object"
        }
        Fixed::KernelOrder => {
            "from the events of a kernel to what starts after it, or waits for it"
        }
        Fixed::Trigger => {
            "from the first `launch_dependents` of a CTA to the starts of the dependents"
        }
        Fixed::LaterTrigger => "from a `launch_dependents` of a CTA to the first one",
        Fixed::ImplicitTrigger => {
            "from the events of a kernel that launches no dependents to the starts of its dependents"
        }
        Fixed::ExitTrigger => {
            "from the events of a CTA that launches no dependents to their starts"
        }
        Fixed::Covers => "from a fence to the events on the objects that it is for",
        Fixed::NextPhase => "from a wait that saw a phase to the arrivals in the phase after it",
        Fixed::LaterPhase => "arrivals in a phase that is not the first, each with itself",
        Fixed::Meets => "from an arrival at a barrier to the waits of its generation",
        Fixed::Remote => "operations on shared memory of another CTA, each with itself",
        Fixed::OwnerCta => "from such an operation to the events of the threads of that CTA",
        Fixed::TensorBehind => {
            "from accesses of tensor memory to what their thread does, or starts, later"
        }
        Fixed::TensorPipeline => {
            "from accesses of tensor memory to those with which they form a pipeline"
        }
    }
}

pub(super) fn chosen(chosen: Chosen) -> &'static str {
    match chosen {
        Chosen::Rf => "from a write to the reads that read it",
        Chosen::Co => "a strict partial order on overlapping writes, initial writes first",
        Chosen::Fr => "from a read to the writes that follow, in `co`, what it reads",
        Chosen::Fsc => "an acyclic relation on fences",
    }
}
