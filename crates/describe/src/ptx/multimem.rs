//! Describes `multimem`: operations on all locations of a multimem address.

use model::isa::atom::AtomicOp;
use model::isa::multimem::{Multimem, MultimemOp};
use model::section::{self, Section};

use super::InstructionMeaning;
use super::words::{element, operation, said, strength};

/// The meaning of an instruction whose section is `page`.
pub(super) fn meaning(of: &Multimem, page: Section) -> InstructionMeaning {
    let ty = element(of.ty);
    let (is, event, synchronizes) = match &of.op {
        MultimemOp::LoadReduce { order, op, .. } => (
            format!("loads {ty} from each location of a multimem address, and reduces the values to one"),
            format!(
                "a read of each location: {}; the result is {} the values",
                strength(order.scope(), order.is_acquire().then_some("acquire")),
                reduced(*op)
            ),
            order.is_acquire().then_some("its reads of memory that was released make what came before the release visible to its thread"),
        ),
        MultimemOp::Store { order, .. } => (
            format!("stores {ty} to each location of a multimem address"),
            format!(
                "a write of each location: {}",
                strength(order.scope(), order.is_release().then_some("release"))
            ),
            order.is_release().then_some(RELEASES),
        ),
        MultimemOp::Reduce { order, scope, op, .. } => (
            format!("reduces {ty} at each location of a multimem address"),
            format!(
                "one atomic at each location, which {}: {}; its reads are not acquire operations",
                operation(*op),
                strength(Some(*scope), order.is_release().then_some("release"))
            ),
            order.is_release().then_some(RELEASES),
        ),
    };
    let mut meaning = InstructionMeaning::new(said(page, is));
    meaning.events.push(said(page, format!("{event}, generic proxy")));
    meaning.events.push(said(
        section::MULTIMEM_ADDRESSES,
        "the operations at different locations are in no order; each accesses its location as by the location's own address (reading B22)",
    ));
    if let Some(promise) = synchronizes {
        meaning.promises.push(said(section::RELEASE_ACQUIRE_PATTERNS, promise));
    }
    meaning.limits.push(said(
        section::MULTIMEM_ADDRESSES,
        "the address must be a multimem address, which no other instruction may access: otherwise the behaviour is undefined",
    ));
    meaning
}

const RELEASES: &str = "each of its writes is a release pattern: who acquires what it wrote sees what its thread did before it";

/// What a reduction makes of several values.
fn reduced(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Add => "the sum of",
        AtomicOp::And => "the bitwise AND of",
        AtomicOp::Or => "the bitwise OR of",
        AtomicOp::Xor => "the bitwise XOR of",
        AtomicOp::Min => "the minimum of",
        AtomicOp::Max => "the maximum of",
        // No production has the others.
        AtomicOp::Sub | AtomicOp::Inc | AtomicOp::Dec | AtomicOp::Exch | AtomicOp::Cas => "one of",
    }
}
