//! `bar`, `barrier.cta` and `barrier.cluster`.

use super::warp::Exchange;
use super::{Operand, Reg};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduction {
    Popc,
    And,
    Or,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierKind {
    /// Arrives and does not wait.
    Arrive,
    Sync,
    /// Waits, and gives a reduction over the predicates of all participants.
    Reduce {
        op: Reduction,
        destination: Reg,
        source: Reg,
        negated: bool,
    },
    /// Lanes exchange values; nothing is ordered.
    Exchange(Exchange),
}

/// The most threads of a CTA, on every target, and so the largest thread count of a barrier.
pub const MOST_CTA_THREADS: u64 = 1024;

/// A barrier of the CTA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Barrier {
    pub kind: BarrierKind,
    /// The barrier, 0 to 15 in real PTX.
    pub id: Operand,
    /// How many threads of the test take part; `None` is all threads of the CTA.
    pub count: Option<Operand>,
    /// Peer dialect: the static instance. Two barriers match only if instance and id agree; without
    /// a count, those threads take part that execute it; with a count, every arrival passes once
    /// there are that many, and some that many of them synchronize.
    pub instance: Option<u64>,
    /// Every thread of the warp executes it; `bar` always is, `barrier` if it says so.
    pub aligned: bool,
    /// Whether it is `bar.warp.sync` or an exchange of values, whose id is the mask of the lanes that take part.
    pub warp: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClusterBarrier {
    pub kind: ClusterBarrierKind,
    pub aligned: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ClusterBarrierKind {
    /// `.release`, the default.
    ArriveRelease,
    ArriveRelaxed,
    /// Always `.acquire`.
    Wait,
}

impl ClusterBarrierKind {
    /// Without `.aligned`.
    pub fn unaligned(self) -> ClusterBarrier {
        ClusterBarrier { kind: self, aligned: false }
    }
}

/// A use of a barrier that has no meaning. Readings R45 and R46.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BarrierMisuse {
    /// 9.7.15.1: `.red` is not intermixed with `.sync` or `.arrive` at the same active barrier.
    Forms,
    /// 9.7.15.1: those that use one barrier give one thread count.
    Counts,
    /// 9.7.15.1: a thread count is not zero.
    Zero,
    /// 9.7.15.3: each thread arrives only once before the barrier completes.
    Twice,
    /// 9.7.15.3: a wait is for the barrier that the thread has arrived at.
    NotArrived,
    /// 9.7.15.2: a thread that executes `bar.warp.sync`, or an exchange of values, is in its mask.
    Lanes,
    /// 9.7.10: the value of a lane that does not take part is unpredictable.
    Absent,
    /// 9.7.15.1, 9.7.15.3: `.aligned` says that all threads of the warp execute the same instruction.
    Diverged,
}

impl BarrierMisuse {
    pub const ALL: [BarrierMisuse; 8] = [
        BarrierMisuse::Forms,
        BarrierMisuse::Counts,
        BarrierMisuse::Zero,
        BarrierMisuse::Twice,
        BarrierMisuse::NotArrived,
        BarrierMisuse::Lanes,
        BarrierMisuse::Absent,
        BarrierMisuse::Diverged,
    ];

    pub fn text(self) -> &'static str {
        match self {
            BarrierMisuse::Forms => "`red` meets `sync` or `arrive` at one active barrier",
            BarrierMisuse::Counts => "arrivals at one active barrier give different thread counts",
            BarrierMisuse::Zero => "a barrier has a thread count of 0",
            BarrierMisuse::Twice => {
                "a thread arrives twice at the barrier of the cluster before it completes"
            }
            BarrierMisuse::NotArrived => {
                "a thread waits for the barrier of the cluster and has not arrived"
            }
            BarrierMisuse::Lanes => {
                "a lane executes an instruction of the warp and is not in its mask"
            }
            BarrierMisuse::Absent => "a lane takes the value of a lane that does not take part",
            BarrierMisuse::Diverged => {
                "threads of one warp do not execute the same aligned barrier"
            }
        }
    }
}
