//! What is wrong with a kernel.

use execution::path::{MISALIGNED, OUTSIDE};
use judge::Property;
use model::isa::bar::BarrierMisuse;

/// The kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// Reading R110. Conflicting accesses that are neither ordered nor morally strong, one of which is weak.
    DataRace,
    /// The same of two strong accesses: their scopes do not include each other.
    ScopeRace,
    /// Reading R118. A race of a volatile access, where that is a plain one.
    VolatileConflict,
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
    /// Reading R117. A read that may return what nobody has written.
    Uninitialised,
    /// The document gives the program no meaning, for another reason.
    Undefined,
}

impl FindingKind {
    pub const ALL: [FindingKind; 12] = [
        FindingKind::DataRace,
        FindingKind::ScopeRace,
        FindingKind::VolatileConflict,
        FindingKind::MixedSizeRace,
        FindingKind::ReadOnlyOfWritten,
        FindingKind::Assert,
        FindingKind::OutOfBounds,
        FindingKind::Misaligned,
        FindingKind::Hang,
        FindingKind::BarrierDivergence,
        FindingKind::Uninitialised,
        FindingKind::Undefined,
    ];

    pub fn name(self) -> &'static str {
        match self {
            FindingKind::DataRace => "data-race",
            FindingKind::ScopeRace => "scope-race",
            FindingKind::VolatileConflict => "volatile-conflict",
            FindingKind::MixedSizeRace => "mixed-size-race",
            FindingKind::ReadOnlyOfWritten => "read-only-of-written",
            FindingKind::Assert => "assert",
            FindingKind::OutOfBounds => "out-of-bounds",
            FindingKind::Misaligned => "misaligned",
            FindingKind::Hang => "hang",
            FindingKind::BarrierDivergence => "barrier-divergence",
            FindingKind::Uninitialised => "uninitialised",
            FindingKind::Undefined => "undefined",
        }
    }

    /// Whether it is a race of two accesses that leaves the kernel a meaning.
    pub fn is_race(self) -> bool {
        matches!(
            self,
            FindingKind::DataRace | FindingKind::ScopeRace | FindingKind::VolatileConflict
        )
    }

    /// The property that a launch with it lacks. Every question shows that the kernel has no meaning.
    pub fn property(self) -> Property {
        match self {
            FindingKind::DataRace | FindingKind::ScopeRace | FindingKind::VolatileConflict => {
                Property::NoDataRace
            }
            FindingKind::Hang => Property::Termination,
            FindingKind::Uninitialised => Property::NoUninitialisedRead,
            FindingKind::Assert
            | FindingKind::MixedSizeRace
            | FindingKind::ReadOnlyOfWritten
            | FindingKind::OutOfBounds
            | FindingKind::Misaligned
            | FindingKind::BarrierDivergence
            | FindingKind::Undefined => Property::ProgramSpec,
        }
    }

    /// Whether a launch with it lacks a property, whatever else is not decided.
    pub fn decides(self, property: Property) -> bool {
        !self.takes_meaning() && self.property() == property
    }

    /// Whether a kernel that has it has no meaning, so that nothing else is said of it.
    pub fn takes_meaning(self) -> bool {
        match self {
            FindingKind::DataRace
            | FindingKind::ScopeRace
            | FindingKind::VolatileConflict
            | FindingKind::Assert
            | FindingKind::Hang
            | FindingKind::Uninitialised => false,
            FindingKind::MixedSizeRace
            | FindingKind::ReadOnlyOfWritten
            | FindingKind::OutOfBounds
            | FindingKind::Misaligned
            | FindingKind::BarrierDivergence
            | FindingKind::Undefined => true,
        }
    }

    /// The kind of a reason for which a program is undefined.
    pub fn of_undefined(reason: &str) -> FindingKind {
        if let Some(misuse) = BarrierMisuse::ALL.iter().find(|misuse| misuse.text() == reason) {
            return FindingKind::of_misuse(*misuse);
        }
        match reason {
            MISALIGNED => FindingKind::Misaligned,
            _ if OUTSIDE.contains(&reason) => FindingKind::OutOfBounds,
            "mixed-size-race" => FindingKind::MixedSizeRace,
            _ if reason.ends_with("-read-of-written-data") => FindingKind::ReadOnlyOfWritten,
            "async-race" => FindingKind::DataRace,
            _ => FindingKind::Undefined,
        }
    }

    fn of_misuse(misuse: BarrierMisuse) -> FindingKind {
        match misuse {
            BarrierMisuse::Forms
            | BarrierMisuse::Counts
            | BarrierMisuse::Twice
            | BarrierMisuse::NotArrived
            | BarrierMisuse::Diverged => FindingKind::BarrierDivergence,
            BarrierMisuse::Zero | BarrierMisuse::Lanes | BarrierMisuse::Absent => {
                FindingKind::Undefined
            }
        }
    }
}

/// An instruction of a thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FindingPlace {
    /// The column of the test; `None` if it is not known which thread it is.
    pub column: Option<usize>,
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
