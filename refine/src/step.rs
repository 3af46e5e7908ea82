//! A short thread in some model: what is left of code when names, types and widths are gone.
//!
//! The same steps are C++, LLVM IR or PTX; which they are says the model that judges them.

use std::fmt;

use model::isa::cxx::Failure;
use model::isa::fence::FenceOrder;
use model::scope::Scope;
pub use model::strength::AccessOrder;
use model::strength::{OperationKind, Strength};

/// Locations of a question: `y` is the row's, the others are the context's.
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

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessKind {
    Load,
    Store,
    /// An atomic that writes whatever it reads; any `atomicrmw`, by meaning.
    Swap,
    /// The same where nobody looks at what it read.
    Overwrite,
    /// `red`, which is no read for an acquire.
    Reduce,
    /// A compare-exchange, and how it reads when it fails, where that is another order.
    CompareExchange(Option<Failure>),
    /// A compare-exchange of a value by itself: a load that may write.
    Probe,
}

impl AccessKind {
    /// Whether a register is left that an outcome shows.
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
    /// The scope of a weak access says nothing.
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
    /// Of all threads of the CTA.
    Barrier,
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    /// The thread ends here unless what it read last was written by some thread.
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
            | Step::Barrier
            | Step::ClusterArrive { .. }
            | Step::ClusterWait
            | Step::Guard => None,
            Step::Access { scope, .. } | Step::Fence { scope, .. } => Some(scope),
        }
    }

    /// How strong it is; a barrier has one form.
    pub fn strength(self) -> Option<Strength> {
        match self {
            Step::Access { act, order, scope, .. } => {
                Some(Strength::new(act.operation(), order, scope))
            }
            Step::Fence { order, scope } => {
                Some(Strength::new(OperationKind::Fence, order.into(), scope))
            }
            Step::Barrier | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => None,
        }
    }

    /// The same step as strong as this.
    pub fn with(self, Strength { order, scope, .. }: Strength) -> Step {
        match self {
            Step::Access { act, at, .. } => Step::Access { act, at, order, scope },
            Step::Fence { order: now, .. } => {
                Step::Fence { order: order.fence().unwrap_or(now), scope }
            }
            Step::Barrier | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => self,
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
            Step::Barrier => f.write_str("bar"),
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
