//! The sections of the PTX ISA document that the model implements: the only file that knows numbers.

use std::fmt;

/// The revision whose section numbers are printed.
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
    BRA = "9.7.13.3", "Control Flow Instructions: bra", "control-flow-instructions-bra";
    BAR = "9.7.15.1", "Parallel Synchronization and Communication Instructions: bar", "parallel-synchronization-and-communication-instructions-bar";
    BARRIER_CLUSTER = "9.7.15.3", "Parallel Synchronization and Communication Instructions: barrier.cluster", "parallel-synchronization-and-communication-instructions-barrier-cluster";
    MEMBAR = "9.7.15.4", "Parallel Synchronization and Communication Instructions: membar / fence", "parallel-synchronization-and-communication-instructions-membar";
    ATOM = "9.7.15.5", "Parallel Synchronization and Communication Instructions: atom", "parallel-synchronization-and-communication-instructions-atom";
    RED = "9.7.15.7", "Parallel Synchronization and Communication Instructions: red", "parallel-synchronization-and-communication-instructions-red";
    INTEGER_ARITHMETIC = "9.7.1", "Integer Arithmetic Instructions", "integer-arithmetic-instructions";
    SETP = "9.7.6.2", "Comparison and Selection Instructions: setp", "comparison-and-selection-instructions-setp";
    SELP = "9.7.6.3", "Comparison and Selection Instructions: selp", "comparison-and-selection-instructions-selp";
    LOGIC = "9.7.8", "Logic and Shift Instructions", "logic-and-shift-instructions";
}

/// The section with this anchor, if the project cites it.
pub fn by_anchor(anchor: &str) -> Option<Section> {
    ALL.iter().copied().find(|section| section.anchor == anchor)
}
