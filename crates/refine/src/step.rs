//! A short thread in some model: code without its names, types and widths.
//!
//! The same steps represent C++, LLVM IR or PTX. The model that judges them determines the language.

use std::fmt;

use model::isa::cxx::Failure;
use model::isa::fence::FenceOrder;
use model::scope::Scope;
pub use model::strength::AccessOrder;
use model::strength::{OperationKind, Strength};

/// Locations of a question: `y` belongs to the row, the others to the context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TestLocation {
    X,
    Y,
    Z,
}

impl TestLocation {
    pub const ALL: [TestLocation; 3] = [TestLocation::X, TestLocation::Y, TestLocation::Z];

    pub fn name(self) -> &'static str {
        match self {
            TestLocation::X => "x",
            TestLocation::Y => "y",
            TestLocation::Z => "z",
        }
    }
}

/// The operation of an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessKind {
    Load,
    Store,
    /// An atomic that writes whatever value it reads. It represents any `atomicrmw`.
    Swap,
    /// A swap whose read value is not used.
    Overwrite,
    /// `red`, which does not count as a read for an acquire.
    Reduce,
    /// A compare-exchange, with the order of a failure if it is a different one.
    CompareExchange(Option<Failure>),
    /// A compare-exchange of a value with itself: a load that may write.
    Probe,
}

impl AccessKind {
    /// Whether the access sets a register that an outcome includes.
    pub fn shows(self) -> bool {
        !matches!(self, AccessKind::Store | AccessKind::Overwrite | AccessKind::Reduce)
    }

    pub fn writes(self) -> bool {
        self != AccessKind::Load
    }

    fn operation(self) -> OperationKind {
        match self {
            AccessKind::Load => OperationKind::Load,
            AccessKind::Store => OperationKind::Store,
            AccessKind::Reduce => OperationKind::Reduction,
            AccessKind::Swap
            | AccessKind::Overwrite
            | AccessKind::CompareExchange(_)
            | AccessKind::Probe => OperationKind::Atomic,
        }
    }
}

/// One operation of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// The scope of a weak access has no meaning.
    Access {
        act: AccessKind,
        at: TestLocation,
        order: AccessOrder,
        scope: Scope,
    },
    Fence {
        order: FenceOrder,
        scope: Scope,
    },
    /// A barrier of the CTA, with its number, and the number of threads if it is not all of them.
    Barrier {
        id: u64,
        count: Option<u64>,
    },
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    /// Ends the thread unless its last read returned a value that some thread wrote.
    Guard,
}

impl Step {
    pub fn access(act: AccessKind, at: TestLocation, order: AccessOrder, scope: Scope) -> Step {
        let scope = if order == AccessOrder::Weak { Scope::Sys } else { scope };
        Step::Access { act, at, order, scope }
    }

    pub fn scope(self) -> Option<Scope> {
        match self {
            Step::Access { order: AccessOrder::Weak, .. }
            | Step::Barrier { .. }
            | Step::ClusterArrive { .. }
            | Step::ClusterWait
            | Step::Guard => None,
            Step::Access { scope, .. } | Step::Fence { scope, .. } => Some(scope),
        }
    }

    /// The strength of the step. A barrier has one form.
    pub fn strength(self) -> Option<Strength> {
        match self {
            Step::Access { act, order, scope, .. } => {
                Some(Strength::new(act.operation(), order, scope))
            }
            Step::Fence { order, scope } => {
                Some(Strength::new(OperationKind::Fence, order.into(), scope))
            }
            Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => {
                None
            }
        }
    }

    /// The same step with this strength.
    pub fn with(self, Strength { order, scope, .. }: Strength) -> Step {
        match self {
            Step::Access { act, at, .. } => Step::Access { act, at, order, scope },
            Step::Fence { order: now, .. } => {
                Step::Fence { order: order.fence().unwrap_or(now), scope }
            }
            Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => {
                self
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Access { act, at, order, scope } => {
                let name = match act {
                    AccessKind::Load => "ld",
                    AccessKind::Store => "st",
                    AccessKind::Swap => "swap",
                    AccessKind::Overwrite => "overwrite",
                    AccessKind::Reduce => "red",
                    AccessKind::CompareExchange(_) => "cas",
                    AccessKind::Probe => "cas-same",
                };
                write!(f, "{name}.{}", order.name())?;
                if *order != AccessOrder::Weak {
                    write!(f, ".{scope}")?;
                }
                write!(f, " {}", at.name())
            }
            Step::Fence { order, scope } => write!(f, "fence.{}.{scope}", order.name()),
            Step::Barrier { id: 0, count: None } => f.write_str("bar"),
            Step::Barrier { id, count: None } => write!(f, "bar {id}"),
            Step::Barrier { id, count: Some(count) } => write!(f, "bar {id}, {count}"),
            Step::ClusterArrive { relaxed: false } => f.write_str("cluster.arrive"),
            Step::ClusterArrive { relaxed: true } => f.write_str("cluster.arrive.relaxed"),
            Step::ClusterWait => f.write_str("cluster.wait"),
            Step::Guard => f.write_str("unless 0"),
        }
    }
}

/// Steps as one line.
pub fn line(steps: &[Step]) -> String {
    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
    if steps.is_empty() { "nothing".to_owned() } else { steps.join("; ") }
}
