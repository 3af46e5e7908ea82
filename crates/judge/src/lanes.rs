//! Notes on warps and clusters: where a test lists other lanes and CTAs than its instructions speak of.

use litmus::Test;
use model::isa::bar::Barrier;
use model::isa::{Instruction, Line, Operand};
use model::program::{Program, Thread, ThreadId};

/// The first target whose lanes progress on their own, whether or not others do.
const INDEPENDENT_LANES: u16 = 70;

/// The first two threads of each warp with different columns that have aligned barriers: reading R45 takes the first ones for
/// one instruction, then the second ones, and in a kernel they may be at two places.
pub(super) fn one_barrier(program: &Program) -> impl Iterator<Item = String> {
    program.threads.iter().enumerate().filter_map(|(at, of)| {
        let own = aligned_barrier(of)?;
        let is_mate = |other: &&Thread| {
            other.placement.same_warp(of.placement) && aligned_barrier(other).is_some()
        };
        let mut mates = program.threads[..at].iter().filter(is_mate);
        let first = mates.next().filter(|first| !first.has_code_of(of))?;
        mates.all(|other| first.has_code_of(other)).then(|| {
            format!(
                "{} and {} are lanes of one warp with different columns: `{}` is taken for one instruction of both (reading R45); at \
                 two places of a kernel it would be undefined",
                first.name, of.name, own.text
            )
        })
    })
}

/// The first barrier of a thread that all lanes of its warp execute.
fn aligned_barrier(of: &Thread) -> Option<&Line> {
    of.lines.iter().find(|line| {
        if let Instruction::Barrier(of) = &line.instruction {
            of.aligned && !of.warp && of.instance.is_none()
        } else {
            matches!(&line.instruction, Instruction::ClusterBarrier(of) if of.aligned)
        }
    })
}

/// The first instruction of each warp whose mask names a lane that is not a thread of the test. A mask of all lanes is what
/// kernels write, of which a test lists those that matter.
pub(super) fn absent(program: &Program) -> impl Iterator<Item = String> {
    let masked = |line: &Line| {
        let Instruction::Barrier(Barrier { id: Operand::Imm(mask), warp: true, .. }) =
            &line.instruction
        else {
            return None;
        };
        u32::try_from(*mask).ok()
    };
    let missing = move |of: &Thread| {
        let lanes = program.threads.iter().filter(|other| other.placement.same_warp(of.placement));
        let lanes = u32::try_from(lanes.count().max(1)).expect("a test has few threads");
        of.lines.iter().find_map(|line| {
            let mask = masked(line).filter(|mask| *mask != u32::MAX)?;
            let absent = mask.checked_shr(lanes).filter(|absent| *absent != 0)?;
            Some((line.text.clone(), lanes + absent.trailing_zeros()))
        })
    };
    program.threads.iter().enumerate().filter_map(move |(at, of)| {
        let (text, lane) = missing(of)?;
        let told = |other: &Thread| other.placement.same_warp(of.placement) && missing(other).is_some();
        (!program.threads[..at].iter().any(told)).then(|| {
            format!("{}: the mask of `{text}` names lane {lane}, which is not a thread of the test: nobody waits for it", of.name)
        })
    })
}

/// A thread with a barrier of the cluster that is alone in its cluster, where a CTA of another cluster has one, too.
pub(super) fn clusters_apart(program: &Program) -> Option<String> {
    let barrier = |of: &Thread| {
        let mut lines = of.lines.iter();
        lines.find(|line| matches!(line.instruction, Instruction::ClusterBarrier(_))).cloned()
    };
    let threads = &program.threads;
    let alone = |of: &Thread| {
        threads.iter().all(|other| {
            other.placement.same_cta(of.placement) || !other.placement.same_cluster(of.placement)
        })
    };
    threads.iter().enumerate().find_map(|(at, of)| {
        let line = barrier(of).filter(|_| alone(of))?;
        let elsewhere = |other: &&Thread| {
            !other.placement.same_cluster(of.placement) && barrier(other).is_some() && alone(other)
        };
        let other = threads[at + 1..].iter().find(elsewhere)?;
        Some(format!(
            "`{}` of {} and of {} do not meet: the test puts their CTAs into different clusters",
            line.text, of.name, other.name
        ))
    })
}

/// Lanes of one warp for a target on which they have one program counter.
pub(super) fn before_volta(test: &Test) -> Option<String> {
    let target = test.target().filter(|target| target.sm < INDEPENDENT_LANES)?;
    let mut threads = (0u8..).zip(&test.program.threads);
    let (_, second) = threads.find(|(id, _)| test.program.lane(ThreadId(*id)) > 0)?;
    Some(format!(
        "the lanes of a warp, here that of {}, do not progress on their own before sm_{INDEPENDENT_LANES}, and this is {target}: one that \
         waits for another may wait for ever, which is not modelled",
        second.name
    ))
}
