//! A short thread in some model: what is left of code when names, types and widths are gone.
//!
//! The same steps are C++, LLVM IR or PTX; which they are says the model that judges them.

use std::fmt;

use model::isa::cxx::Failure;
use model::isa::fence::FenceOrder;
use model::scope::Scope;

/// An order of an access, of any of the languages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Order {
    /// Plain in C++, weak in PTX.
    Weak,
    /// Of LLVM only.
    Unordered,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    /// Of C++ and LLVM only.
    SeqCst,
}

/// Locations of a question: `y` is the row's, the others are the context's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    X,
    Y,
    Z,
}

impl Place {
    pub const ALL: [Place; 3] = [Place::X, Place::Y, Place::Z];

    pub fn name(self) -> &'static str {
        match self {
            Place::X => "x",
            Place::Y => "y",
            Place::Z => "z",
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Act {
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

impl Act {
    /// Whether a register is left that an outcome shows.
    pub fn shows(self) -> bool {
        !matches!(self, Act::Store | Act::Overwrite | Act::Reduce)
    }

    pub fn writes(self) -> bool {
        self != Act::Load
    }
}

/// One operation of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// The scope of a weak access says nothing.
    Access {
        act: Act,
        at: Place,
        order: Order,
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
    pub fn access(act: Act, at: Place, order: Order, scope: Scope) -> Step {
        let scope = if order == Order::Weak { Scope::Sys } else { scope };
        Step::Access { act, at, order, scope }
    }

    pub fn scope(self) -> Option<Scope> {
        match self {
            Step::Access { order: Order::Weak, .. }
            | Step::Barrier
            | Step::ClusterArrive { .. }
            | Step::ClusterWait
            | Step::Guard => None,
            Step::Access { scope, .. } | Step::Fence { scope, .. } => Some(scope),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Access { act, at, order, scope } => {
                let name = match act {
                    Act::Load => "ld",
                    Act::Store => "st",
                    Act::Swap => "swap",
                    Act::Overwrite => "overwrite",
                    Act::Reduce => "red",
                    Act::CompareExchange(_) => "cas",
                    Act::Probe => "cas-same",
                };
                let order = match order {
                    Order::Weak => return write!(f, "{name}.weak {}", at.name()),
                    Order::Unordered => "unordered",
                    Order::Relaxed => "relaxed",
                    Order::Acquire => "acquire",
                    Order::Release => "release",
                    Order::AcqRel => "acq_rel",
                    Order::SeqCst => "seq_cst",
                };
                write!(f, "{name}.{order}.{scope} {}", at.name())
            }
            Step::Fence { order, scope } => {
                let order = match order {
                    FenceOrder::Acquire => "acquire",
                    FenceOrder::Release => "release",
                    FenceOrder::AcqRel => "acq_rel",
                    FenceOrder::Sc => "sc",
                };
                write!(f, "fence.{order}.{scope}")
            }
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
