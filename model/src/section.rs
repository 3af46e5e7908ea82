//! The sections of the PTX ISA document that the model implements. Only this file contains section numbers.

use std::fmt;

/// The revision whose section numbers are printed, and whose chapter 8 the model follows. The document of the newest version
/// that `ptx` knows is not public.
pub const REVISION: &str = "PTX ISA 9.4";

/// A section of the document. Numbers move with every major revision; the anchor does not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Section {
    pub number: &'static str,
    pub title: &'static str,
    /// The fragment of the section's address in NVIDIA's HTML document.
    pub anchor: &'static str,
}

impl Section {
    pub fn url(&self) -> String {
        format!("https://docs.nvidia.com/cuda/parallel-thread-execution/#{}", self.anchor)
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{REVISION}, {} \"{}\"", self.number, self.title)
    }
}

macro_rules! sections {
    ($($name:ident = $number:literal, $title:literal, $anchor:literal;)*) => {
        $(pub const $name: Section = Section { number: $number, title: $title, anchor: $anchor };)*

        /// Every section that the project cites, in document order.
        pub const ALL: &[Section] = &[$($name),*];
    };
}

sections! {
    APPLICABILITY = "8.1", "Scope and applicability of the model", "scope-and-applicability";
    OVERLAP = "8.2.1", "Overlap", "overlap";
    ALIASES = "8.2.2", "Aliases", "aliases";
    MULTIMEM_ADDRESSES = "8.2.3", "Multimem Addresses", "multimem-addresses";
    VECTOR_TYPES = "8.2.4", "Vector Data-types", "vector-data-types";
    INITIALIZATION = "8.2.6", "Initialization", "initialization";
    STATE_SPACES = "8.3", "State spaces", "state-spaces-memory-consistency-model";
    OPERATION_TYPES = "8.4", "Operation types", "operation-types";
    MMIO_OPERATION = "8.4.1", "mmio Operation", "mmio-operation";
    VOLATILE_OPERATION = "8.4.2", "volatile Operation", "volatile-operation";
    SCOPE = "8.5", "Scope", "scope";
    PROXIES = "8.6", "Proxies", "proxies";
    MORALLY_STRONG = "8.7", "Morally strong operations", "morally-strong-operations";
    CONFLICT_AND_RACES = "8.7.1", "Conflict and Data-races", "conflict-and-data-races";
    MIXED_SIZE_RACES = "8.7.2", "Limitations on Mixed-size Data-races", "limitations-on-mixed-size-data-races";
    RELEASE_ACQUIRE_PATTERNS = "8.8", "Release and Acquire Patterns", "release-and-acquire-patterns";
    PROGRAM_ORDER = "8.9.1", "Program Order", "program-order";
    ASYNC_OPERATIONS = "8.9.1.1", "Asynchronous Operations", "program-order-async-operations";
    OBSERVATION_ORDER = "8.9.2", "Observation Order", "observation-order";
    FENCE_SC_ORDER = "8.9.3", "Fence-SC Order", "fence-sc-order";
    MEMORY_SYNCHRONIZATION = "8.9.4", "Memory synchronization", "memory-synchronization";
    CAUSALITY_ORDER = "8.9.5", "Causality Order", "causality-order";
    COHERENCE_ORDER = "8.9.6", "Coherence Order", "coherence-order";
    COMMUNICATION_ORDER = "8.9.7", "Communication Order", "communication-order";
    COHERENCE = "8.10.1", "Coherence", "coherence-axiom";
    FENCE_SC = "8.10.2", "Fence-SC", "fence-sc-axiom";
    ATOMICITY = "8.10.3", "Atomicity", "atomicity-axiom";
    NO_THIN_AIR = "8.10.4", "No Thin Air", "no-thin-air-axiom";
    SC_PER_LOCATION = "8.10.5", "Sequential Consistency Per Location", "sc-per-loc-axiom";
    CAUSALITY = "8.10.6", "Causality", "causality-axiom";
    REDUCTIONS = "8.11.1", "Special Cases: Reductions", "reductions-do-not-form-acquire-patterns";
    ADDRESSES_AS_OPERANDS = "6.4.1", "Addresses as Operands", "addresses-as-operands";
    GENERIC_ADDRESSING = "6.4.1.1", "Generic Addressing", "generic-addressing";
    DATA_MOVEMENT = "9.7.10", "Data Movement and Conversion Instructions", "data-movement-and-conversion-instructions";
    FLOATING_POINT = "9.7.3", "Floating-Point Instructions", "floating-point-instructions";
    HALF_PRECISION = "9.7.4", "Half Precision Floating-Point Instructions", "half-precision-floating-point-instructions";
    PARAMETER_STATE_SPACE = "5.1.6", "Parameter State Space", "parameter-state-space";
    VECTORS_AS_OPERANDS = "6.4.3", "Vectors as Operands", "vectors-as-operands";
    PREDICATED_EXECUTION = "9.3", "Predicated Execution", "predicated-execution";
    OPERAND_SIZE = "9.4.1", "Operand Size Exceeding Instruction-Type Size", "operand-size-exceeding-instruction-type-size";
    MOV = "9.7.10.3", "Data Movement and Conversion Instructions: mov", "data-movement-and-conversion-instructions-mov";
    LD = "9.7.10.8", "Data Movement and Conversion Instructions: ld", "data-movement-and-conversion-instructions-ld";
    LD_GLOBAL_NC = "9.7.10.9", "Data Movement and Conversion Instructions: ld.global.nc", "data-movement-and-conversion-instructions-ld-global-nc";
    LDU = "9.7.10.10", "Data Movement and Conversion Instructions: ldu", "data-movement-and-conversion-instructions-ldu";
    ST = "9.7.10.11", "Data Movement and Conversion Instructions: st", "data-movement-and-conversion-instructions-st";
    MAPA = "9.7.10.26", "Data Movement and Conversion Instructions: mapa", "data-movement-and-conversion-instructions-mapa";
    ASYNC_PROXY = "9.7.10.28.2", "Async Proxy", "async-proxy";
    INSTRUCTIONS = "9.7", "Instructions", "instructions";
    SPECIAL_REGISTERS = "10", "Special Registers", "special-registers";
    VERSION = "11.1.1", "PTX Module Directives: .version", "ptx-module-directives-version";
    TARGET = "11.1.2", "PTX Module Directives: .target", "ptx-module-directives-target";
    ADDRESS_SIZE = "11.1.3", "PTX Module Directives: .address_size", "ptx-module-directives-address-size";
    BRA = "9.7.13.3", "Control Flow Instructions: bra", "control-flow-instructions-bra";
    BAR = "9.7.15.1", "Parallel Synchronization and Communication Instructions: bar", "parallel-synchronization-and-communication-instructions-bar";
    BAR_WARP_SYNC = "9.7.15.2", "Parallel Synchronization and Communication Instructions: bar.warp.sync", "parallel-synchronization-and-communication-instructions-bar-warp-sync";
    BARRIER_CLUSTER = "9.7.15.3", "Parallel Synchronization and Communication Instructions: barrier.cluster", "parallel-synchronization-and-communication-instructions-barrier-cluster";
    MEMBAR = "9.7.15.4", "Parallel Synchronization and Communication Instructions: membar / fence", "parallel-synchronization-and-communication-instructions-membar";
    ATOM = "9.7.15.5", "Parallel Synchronization and Communication Instructions: atom", "parallel-synchronization-and-communication-instructions-atom";
    RED = "9.7.15.7", "Parallel Synchronization and Communication Instructions: red", "parallel-synchronization-and-communication-instructions-red";
    MBARRIER = "9.7.15.16", "Parallel Synchronization and Communication Instructions: mbarrier", "parallel-synchronization-and-communication-instructions-mbarrier";
    MBARRIER_LIFECYCLE = "9.7.15.16.4", "Lifecycle of the mbarrier object", "parallel-synchronization-and-communication-instructions-mbarrier-lifecycle";
    GRIDDEPCONTROL = "9.7.15.14", "Parallel Synchronization and Communication Instructions: griddepcontrol", "parallel-synchronization-and-communication-instructions-griddepcontrol";
    ELECT = "9.7.15.15", "Parallel Synchronization and Communication Instructions: elect.sync", "parallel-synchronization-and-communication-instructions-elect-sync";
    TRY_CANCEL = "9.7.15.18", "Parallel Synchronization and Communication Instructions: clusterlaunchcontrol.try_cancel", "parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel";
    TENSOR_PIPELINES = "9.7.18.6.2", "Pipelined tcgen05 Instructions", "tcgen05-memory-consistency-model-pipelined-instructions";
    TENSOR_SYNCHRONIZATION = "9.7.18.6.3", "Specialized Inter-thread Synchronization for tcgen05 instructions", "tcgen05-memory-consistency-model-inter-thread-sync";
    TENSOR_ALLOCATION = "9.7", "TensorCore 5th Generation Instructions: tcgen05.alloc, dealloc, relinquish_alloc_permit", "tcgen05-instructions-tcgen05-alloc-dealloc-relinquish-alloc-permit";
    INTEGER_ARITHMETIC = "9.7.1", "Integer Arithmetic Instructions", "integer-arithmetic-instructions";
    SETP = "9.7.6.2", "Comparison and Selection Instructions: setp", "comparison-and-selection-instructions-setp";
    SELP = "9.7.6.3", "Comparison and Selection Instructions: selp", "comparison-and-selection-instructions-selp";
    LOGIC = "9.7.8", "Logic and Shift Instructions", "logic-and-shift-instructions";
}

/// The section with this anchor, if the project cites it or it is that of an instruction.
pub fn by_anchor(anchor: &str) -> Option<Section> {
    let instructions = INSTRUCTION_SECTIONS.iter().map(|(_, section)| *section);
    ALL.iter().copied().chain(instructions).find(|section| section.anchor == anchor)
}

/// Instructions by chapter: number, title, anchor, and opcodes, each with the end of its section's
/// anchor where that is not the opcode.
macro_rules! chapters {
    ($($number:literal, $title:literal, $anchor:literal, { $($opcode:literal $(=> $end:literal)?,)* })*) => {
        const INSTRUCTION_SECTIONS: &[(&str, Section)] = &[$($((
            $opcode,
            Section {
                number: $number,
                title: concat!($title, ": ", $opcode),
                anchor: chapters!(@anchor $anchor, $opcode $(, $end)?),
            },
        ),)*)*];
    };
    (@anchor $anchor:literal, $opcode:literal) => { concat!($anchor, "-", $opcode) };
    (@anchor $anchor:literal, $opcode:literal, $end:literal) => { concat!($anchor, "-", $end) };
}

// The chapters after 9.7.15 have moved between revisions: their sections are cited as parts of 9.7.
chapters! {
    "9.7.1", "Integer Arithmetic Instructions", "integer-arithmetic-instructions", {
        "add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min",
        "max", "popc", "clz", "bfind", "fns", "brev", "bfe", "bfi", "szext", "bmsk", "dp4a", "dp2a",
    }
    "9.7.2", "Extended-Precision Integer Arithmetic Instructions", "extended-precision-arithmetic-instructions", {
        "addc", "subc", "madc",
    }
    "9.7.3", "Floating-Point Instructions", "floating-point-instructions", {
        "testp", "copysign", "fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh",
    }
    "9.7.6", "Comparison and Selection Instructions", "comparison-and-selection-instructions", {
        "set", "setp", "selp", "slct",
    }
    "9.7.8", "Logic and Shift Instructions", "logic-and-shift-instructions", {
        "and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr",
    }
    "9.7.10", "Data Movement and Conversion Instructions", "data-movement-and-conversion-instructions", {
        "mov", "shfl" => "shfl-sync", "prmt", "ld", "ldu", "st", "st.async" => "st-async", "st.bulk" => "st-bulk", "multimem", "prefetch" => "prefetch-prefetchu",
        "prefetchu" => "prefetch-prefetchu", "applypriority", "discard", "createpolicy", "isspacep",
        "cvta", "cvt", "mapa", "getctarank", "cp" => "asynchronous-copy",
        "tensormap" => "tensormap-replace",
    }
    "9.7.10.28.3", "Data Movement and Conversion Instructions", "data-movement-and-conversion-instructions", {
        "cp.async" => "cp-async", "cp.async.commit_group" => "cp-async-commit-group",
        "cp.async.wait_group" => "cp-async-wait-group", "cp.async.wait_all" => "cp-async-wait-group",
    }
    "9.7.10.28.4", "Data Movement and Conversion Instructions", "data-movement-and-conversion-instructions", {
        "cp.async.bulk" => "cp-async-bulk", "cp.reduce.async.bulk" => "cp-reduce-async-bulk",
        "cp.async.bulk.prefetch" => "cp-async-bulk-prefetch",
        "multimem.cp.async.bulk" => "multimem-cp-async-bulk",
        "multimem.cp.reduce.async.bulk" => "multimem-cp-reduce-async-bulk",
    }
    "9.7.10.28.5", "Data Movement and Conversion Instructions", "data-movement-and-conversion-instructions", {
        "cp.async.bulk.tensor" => "cp-async-bulk-tensor",
        "cp.reduce.async.bulk.tensor" => "cp-reduce-async-bulk-tensor",
        "cp.async.bulk.prefetch.tensor" => "cp-async-bulk-prefetch-tensor",
    }
    "9.7.10.28.6", "Data Movement and Conversion Instructions", "data-movement-and-conversion-instructions", {
        "cp.async.bulk.commit_group" => "cp-async-bulk-commit-group",
        "cp.async.bulk.wait_group" => "cp-async-bulk-wait-group",
    }
    "9.7", "Texture Instructions", "texture-instructions", {
        "tex", "tld4", "txq", "istypep",
    }
    "9.7", "Surface Instructions", "surface-instructions", {
        "suld", "sust", "sured", "suq",
    }
    "9.7.13", "Control Flow Instructions", "control-flow-instructions", {
        "bra", "brx" => "brx-idx", "call", "ret", "exit",
    }
    "9.7.15", "Parallel Synchronization and Communication Instructions", "parallel-synchronization-and-communication-instructions", {
        "bar", "barrier" => "bar", "bar.warp" => "bar-warp-sync", "barrier.cluster" => "barrier-cluster",
        "red.async" => "red-async", "membar", "fence" => "membar", "atom", "red",
        "vote" => "vote-sync", "match" => "match-sync", "activemask", "redux" => "redux-sync",
        "griddepcontrol", "elect" => "elect-sync", "mbarrier",
        "clusterlaunchcontrol" => "clusterlaunchcontrol-try-cancel",
        "clusterlaunchcontrol.query_cancel" => "clusterlaunchcontrol-query-cancel",
        "tensormap.cp_fenceproxy" => "tensormap-cp-fenceproxy",
    }
    "9.7.15.16", "Parallel Synchronization and Communication Instructions", "parallel-synchronization-and-communication-instructions", {
        "mbarrier.init" => "mbarrier-init", "mbarrier.inval" => "mbarrier-inval",
        "mbarrier.expect_tx" => "mbarrier-expect-tx", "mbarrier.complete_tx" => "mbarrier-complete-tx",
        "mbarrier.arrive" => "mbarrier-arrive", "mbarrier.arrive_drop" => "mbarrier-arrive-drop",
        "cp.async.mbarrier.arrive" => "cp-async-mbarrier-arrive",
        "mbarrier.test_wait" => "mbarrier-test-wait-try-wait",
        "mbarrier.try_wait" => "mbarrier-test-wait-try-wait",
        "mbarrier.pending_count" => "mbarrier-pending-count",
        "mbarrier.check_layout" => "mbarrier-check-layout",
    }
    "9.7", "Warp Level Matrix Multiply-Accumulate Instructions", "warp-level-matrix-instructions", {
        "wmma", "mma", "ldmatrix", "stmatrix", "movmatrix",
    }
    "9.7", "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions", "asynchronous-warpgroup-level-matrix-instructions", {
        "wgmma" => "wgmma-mma", "wgmma.fence" => "wgmma-fence",
        "wgmma.commit_group" => "wgmma-commit-group", "wgmma.wait_group" => "wgmma-wait-group",
    }
    "9.7", "TensorCore 5th Generation Family Instructions", "tensorcore-5th-generation", {
        "tcgen05" => "instructions",
    }
    "9.7", "TensorCore 5th Generation Instructions", "tcgen05-instructions", {
        "tcgen05.alloc" => "tcgen05-alloc-dealloc-relinquish-alloc-permit",
        "tcgen05.dealloc" => "tcgen05-alloc-dealloc-relinquish-alloc-permit",
        "tcgen05.relinquish_alloc_permit" => "tcgen05-alloc-dealloc-relinquish-alloc-permit",
        "tcgen05.ld" => "tcgen05-ld", "tcgen05.st" => "tcgen05-st",
        "tcgen05.wait::ld" => "tcgen05-wait", "tcgen05.wait::st" => "tcgen05-wait",
        "tcgen05.cp" => "tcgen05-cp", "tcgen05.shift" => "tcgen05-shift",
    }
    "9.7", "TensorCore 5th Generation Instructions", "tcgen05-mma-instructions", {
        "tcgen05.mma" => "mma",
    }
    "9.7", "TensorCore 5th Generation Instructions", "tcgen05-special-sync-operations", {
        "tcgen05.fence::before_thread_sync" => "fence",
        "tcgen05.fence::after_thread_sync" => "fence",
    }
    "9.7", "TensorCore 5th Generation Instructions", "tcgen-async-sync-operations", {
        "tcgen05.commit" => "commit",
    }
    "9.7", "Stack Manipulation Instructions", "stack-manipulation-instructions", {
        "stacksave", "stackrestore", "alloca",
    }
    "9.7", "Video Instructions", "scalar-video-instructions", {
        "vadd" => "vadd-vsub-vabsdiff-vmin-vmax", "vsub" => "vadd-vsub-vabsdiff-vmin-vmax",
        "vabsdiff" => "vadd-vsub-vabsdiff-vmin-vmax", "vmin" => "vadd-vsub-vabsdiff-vmin-vmax",
        "vmax" => "vadd-vsub-vabsdiff-vmin-vmax", "vshl" => "vshl-vshr", "vshr" => "vshl-vshr",
        "vmad", "vset",
    }
    "9.7", "Video Instructions", "simd-video-instructions", {
        "vadd2" => "vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2",
        "vsub2" => "vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2",
        "vavrg2" => "vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2",
        "vabsdiff2" => "vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2",
        "vmin2" => "vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2",
        "vmax2" => "vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2", "vset2",
        "vadd4" => "vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4",
        "vsub4" => "vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4",
        "vavrg4" => "vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4",
        "vabsdiff4" => "vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4",
        "vmin4" => "vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4",
        "vmax4" => "vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4", "vset4",
    }
    "9.7", "Miscellaneous Instructions", "miscellaneous-instructions", {
        "brkpt", "nanosleep", "pmevent", "trap", "setmaxnreg",
    }
}

/// Where the document describes the instruction with this opcode, or with this opcode and the parts
/// after it.
pub fn of_opcode(opcode: &str) -> Section {
    let found = INSTRUCTION_SECTIONS.iter().find(|(known, _)| *known == opcode);
    found.map_or(INSTRUCTIONS, |(_, section)| *section)
}

/// Where the document describes the instruction whose name has these parts: the page of most of them, from the opcode on.
pub fn of_parts(parts: &[&str]) -> Section {
    let pages = (1..=parts.len().min(5)).rev().map(|count| of_opcode(&parts[..count].join(".")));
    pages.into_iter().find(|section| *section != INSTRUCTIONS).unwrap_or(INSTRUCTIONS)
}
