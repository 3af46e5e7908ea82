//! What is wrong with a kernel.

/// The kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// Reading R110. Conflicting accesses that are neither ordered nor morally strong, one of which is weak.
    DataRace,
    /// The same of two strong accesses: their scopes do not include each other.
    ScopeRace,
    /// A race of accesses that overlap in part.
    MixedSizeRace,
    /// A load of read-only data that the kernel writes.
    ReadOnlyOfWritten,
    /// An assertion that can be false, or a trap that a thread can run into (reading R112).
    Assert,
    /// Reading R115.
    OutOfBounds,
    Misaligned,
    /// A thread that never finishes.
    Hang,
    BarrierDivergence,
    /// The document gives the program no meaning, for another reason.
    Undefined,
}

impl FindingKind {
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::DataRace => "data-race",
            FindingKind::ScopeRace => "scope-race",
            FindingKind::MixedSizeRace => "mixed-size-race",
            FindingKind::ReadOnlyOfWritten => "read-only-of-written",
            FindingKind::Assert => "assert",
            FindingKind::OutOfBounds => "out-of-bounds",
            FindingKind::Misaligned => "misaligned",
            FindingKind::Hang => "hang",
            FindingKind::BarrierDivergence => "barrier-divergence",
            FindingKind::Undefined => "undefined",
        }
    }

    /// The kind of a reason for which a program is undefined.
    pub fn of_undefined(reason: &str) -> FindingKind {
        let has = |part: &str| reason.contains(part);
        if has("misaligned address") {
            FindingKind::Misaligned
        } else if has("outside every") || has("outside the state space") {
            FindingKind::OutOfBounds
        } else if has("mixed-size-race") {
            FindingKind::MixedSizeRace
        } else if has("read-of-written-data") {
            FindingKind::ReadOnlyOfWritten
        } else if has("async-race") {
            FindingKind::DataRace
        } else if has("aligned barrier") || has("active barrier") || has("barrier of the cluster") {
            FindingKind::BarrierDivergence
        } else {
            FindingKind::Undefined
        }
    }
}

/// An instruction of a thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FindingPlace {
    /// The column of the test.
    pub column: usize,
    /// The line of the module, from 1.
    pub line: usize,
    /// The instruction, as the test writes it.
    pub text: String,
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KernelFinding {
    pub kind: FindingKind,
    pub message: String,
    pub places: Vec<FindingPlace>,
    /// How many more there are at these instructions, of other threads.
    pub like: usize,
}
