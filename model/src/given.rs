//! The primitive sets and relations of models: sets fixed by an event's kind, relations fixed by the program,
//! and relations chosen with an execution. `execution::structure` defines their meaning.

use std::fmt;

macro_rules! names {
    ($(#[$outer:meta])* $type:ident { $($(#[$inner:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $type {
            $($(#[$inner])* $variant,)*
        }

        impl $type {
            pub const ALL: &[$type] = &[$($type::$variant),*];

            /// As the printed model spells it.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! {
    /// A set of events, known from each event alone.
    Tag {
        /// Every event, initial writes included.
        All = "_",
        Read = "R",
        Write = "W",
        /// Memory fences; proxy fences are apart.
        Fence = "F",
        /// Initial writes, which are writes too.
        Init = "IW",
        /// The reads of `red`, which are reads too.
        ReductionRead = "RED",
        /// The reads of `ld.global.nc`, which are reads too.
        NonCoherentRead = "NC",
        /// The reads of `ldu`, which are reads too.
        UniformRead = "LDU",
        /// The reads of `ld.proxy::readonly`, which are reads too.
        ReadonlyRead = "RO",
        /// The reads and writes of `atom` and `red`, which are reads or writes too.
        Atomic = "AT",
        /// Strong memory operations that are neither acquire nor release.
        Relaxed = "RLX",
        Acquire = "ACQ",
        Release = "REL",
        /// Accesses of C++ that are `seq_cst`; they are acquire or release too.
        SeqCst = "SEQ",
        /// Accesses of LLVM that are `unordered`; they are relaxed too.
        Unordered = "UNO",
        FenceAcquire = "F-ACQ",
        FenceRelease = "F-REL",
        FenceAcqRel = "F-ACQ-REL",
        FenceSc = "F-SC",
        ScopeCta = "CTA",
        ScopeCluster = "CLUSTER",
        ScopeGpu = "GPU",
        ScopeSys = "SYS",
        /// Memory operations through the generic proxy; proxy fences of the named proxy.
        Generic = "GEN",
        Texture = "TEX",
        Surface = "SUR",
        Constant = "CON",
        ProxyFence = "PF",
        AliasFence = "ALIAS",
        /// The halves of `fence.proxy.alias`, which are memory fences, too.
        AliasRelease = "ALIAS-REL",
        AliasAcquire = "ALIAS-ACQ",
        BarrierArrive = "BA",
        BarrierWait = "BW",
        /// Arrivals and waits at a barrier of a CTA that give a thread count.
        CountedBarrier = "BC",
        /// Events of asynchronous operations, which are in no program order.
        Asynchronous = "ASYNC",
        /// Memory operations through the async proxy.
        AsyncProxy = "ASP",
        /// `fence.proxy.async`.
        AsyncFence = "ASF",
        /// The halves of `fence.proxy.async::generic`.
        AsyncFenceRelease = "ASF-REL",
        AsyncFenceAcquire = "ASF-ACQ",
        /// Fences that order only some objects: `fence.mbarrier_init`, and those with `.sync_restrict`.
        RestrictedRelease = "FR-REL",
        RestrictedAcquire = "FR-ACQ",
        /// Those of the releases that are for reads of their own thread alone.
        ReleaseOfReads = "FR-READS",
        /// Waits for groups that are complete for the async proxy alone.
        AsyncProxyWait = "GW-ASP",
        /// Operations on an mbarrier object that is initialized: arrivals, changes of its tx-count, waits.
        Mbarrier = "MB",
        /// Initializations of an mbarrier object.
        MbarrierInit = "MBI",
        /// Invalidations of an mbarrier object.
        MbarrierInval = "MBX",
        /// Waits for a phase that returned true; they are operations on the object, too.
        MbarrierWait = "MBW",
        /// The start of a thread whose kernel is launched after another.
        KernelStart = "KS",
        /// The reads of the descriptor of a tensor.
        TensormapProxy = "TMP",
        /// The fences of that proxy; they are memory fences, too.
        TensormapRelease = "TMF-REL",
        TensormapAcquire = "TMF-ACQ",
        /// Reads and writes of tensor memory.
        TensorMemory = "TMEM",
        /// Reads of shared memory by operations on tensor memory.
        TensorOperand = "TMEM-IN",
        /// `tcgen05.fence::before_thread_sync`.
        TensorFenceBefore = "TF-BEFORE",
        /// `tcgen05.fence::after_thread_sync`.
        TensorFenceAfter = "TF-AFTER",
        /// Allocations of tensor memory; what a test declares is allocated before all threads, unless an instruction does it.
        TensorAllocation = "TMEM-ALLOC",
        TensorDeallocation = "TMEM-DEALLOC",
        /// `tcgen05.relinquish_alloc_permit`.
        AllocationsEnd = "TMEM-RELINQUISH",
        /// Reads and writes of the locations of a multimem address, through that address.
        Multimem = "MULTIMEM",
        /// Writes of the response to `clusterlaunchcontrol.try_cancel`.
        Cancel = "CLC",
        /// Those of a response that says that nothing was cancelled.
        CancelFailed = "CLC-FAILED",
        UnfencedMultiply = "WGMMA-UNFENCED",
    }
}

names! {
    /// A relation that the unfolded program fixes.
    Fixed {
        /// Program order; the elements of one vector access are unordered.
        Po = "po",
        SameCta = "same-cta",
        SameCluster = "same-cluster",
        SameGpu = "same-gpu",
        /// Memory operations whose virtual byte ranges intersect.
        Overlap = "overlap",
        /// Those whose virtual byte ranges are equal.
        OverlapCompletely = "overlap-completely",
        /// Memory operations whose physical byte ranges intersect.
        LocationOverlap = "location-overlap",
        /// Those whose physical byte ranges are equal.
        LocationOverlapCompletely = "location-overlap-completely",
        /// The two halves of one atomic.
        Rmw = "rmw",
        /// From a read to what computes its address from it, and so on.
        Addr = "addr",
        Data = "data",
        Ctrl = "ctrl",
        /// Barrier arrivals and the waits of the same generation.
        Barrier = "barrier",
        /// The same of the cluster barrier; a relaxed arrival gives way to the fences before it.
        ClusterBarrier = "cluster-barrier",
        /// From a read to the writes after a barrier that completed since its thread had exited, and to those of a kernel that
        /// started since.
        Exited = "exited",
        /// From a read on which it depends that a thread arrives at a barrier or on an mbarrier object, or launches a kernel,
        /// to the writes after the waits for that.
        Awaited = "awaited",
        /// From the events of a thread to the events of each asynchronous operation that it starts later.
        Issue = "issue",
        /// From the reads of an asynchronous operation to its writes, and from both to its completion.
        Operation = "operation",
        /// From the events of the asynchronous operations of some groups to the wait for these groups.
        GroupWait = "group-wait",
        /// From an operation on an mbarrier object to the waits that saw its phase completed, or a later one.
        Phase = "phase",
        /// From an operation on an mbarrier object to those that came later, as far as phases and counts tell, and from an arrival at
        /// a barrier with a thread count to those of later generations. Within a phase, and for arrivals, only where the base
        /// causality order of PTX may say otherwise.
        ObjectOrder = "object-order",
        /// Operations on one mbarrier object, and arrivals at one barrier that are in that order.
        SameObject = "same-object",
        /// From the events of an asynchronous operation to the waits that saw the phase of its completion completed.
        Tracked = "tracked",
        /// The same for the writes of a multicast to CTAs that do not have the object.
        TrackedElsewhere = "tracked-elsewhere",
        /// From a wait that saw a phase completed to the arrivals in the phase after it.
        NextPhase = "next-phase",
        /// Arrivals in a phase that is not the first of their object, each with itself.
        LaterPhase = "later-phase",
        /// From an arrival at a barrier to the waits of its generation, also where it orders nothing.
        Meets = "meets",
        /// Operations on shared memory of another CTA, each with itself.
        Remote = "remote",
        /// From such an operation to the events of the threads of that CTA.
        OwnerCta = "owner-cta",
        /// From the events of a kernel to the starts of the threads of a kernel after it in its stream, and to each
        /// `griddepcontrol.wait` of a kernel that depends on it.
        KernelOrder = "kernel-order",
        /// From the first `griddepcontrol.launch_dependents` of a CTA to the starts of the threads of kernels that
        /// depend on its kernel.
        Trigger = "trigger",
        /// From a later `griddepcontrol.launch_dependents` of a CTA to its first one.
        LaterTrigger = "later-trigger",
        /// From the events of a kernel that never executes `griddepcontrol.launch_dependents` to the starts of the threads
        /// of kernels that depend on it.
        ImplicitTrigger = "implicit-trigger",
        /// From the events of a CTA that never executes `griddepcontrol.launch_dependents` to the starts of the threads of
        /// kernels that depend on its kernel: these start when the CTA has ended.
        ExitTrigger = "exit-trigger",
        /// From a fence that is for some objects only to the events on these objects.
        Covers = "covers",
        /// From the accesses of tensor memory to the events of their thread after them, and to the accesses of
        /// tensor memory that the thread starts later.
        TensorBehind = "tensor-behind",
        /// From accesses of tensor memory to those of another operation with which theirs forms a pipeline, whichever
        /// is started first.
        TensorPipeline = "tensor-pipeline",
    }
}

names! {
    /// A relation that an execution chooses.
    Chosen {
        Rf = "rf",
        /// A strict partial order on overlapping writes, initial writes first.
        Co = "co",
        /// From a read to the writes that follow, in co, the source of a byte that both access.
        Fr = "fr",
        /// An acyclic relation on fences.
        Fsc = "fence-sc",
    }
}
