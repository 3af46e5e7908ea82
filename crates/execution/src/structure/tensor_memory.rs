//! The relations of operations on tensor memory.

use crate::event::{AsyncPart, PathEvent};
use crate::unfold::Unfolding;
use model::bits::{BitRel, BitRow};
use model::given::Tag;
use model::program::ThreadId;

/// The accesses of tensor memory, with their thread.
fn accesses<'u>(
    u: &'u Unfolding<'u>,
) -> impl Iterator<Item = (usize, ThreadId, AsyncPart, &'u PathEvent)> + 'u {
    let tensor = u.events.iter().enumerate().filter(|(_, of)| of.tags.has(Tag::TensorMemory));
    tensor.filter_map(|(event, of)| {
        let path_event = of.of?;
        Some((event, of.thread?, path_event.part?, path_event))
    })
}

/// What is after the instruction of an operation in its thread: events of the thread, and later operations on tensor
/// memory.
pub(super) fn behind<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (event, thread, part, _) in accesses(u) {
        for (other, of) in u.events.iter().enumerate().skip(event + 1) {
            let (Some(there), Some(of)) = (of.thread, of.of) else { continue };
            let later = match of.part {
                None => true,
                Some(then) => of.tags.has(Tag::TensorMemory) && then.operation != part.operation,
            };
            if there == thread && later {
                relation.insert(event, other);
            }
        }
    }
    relation
}

/// 9.7.18.6.2: the pairs of operations that are executed in the order in which they are started.
pub(super) fn pipeline<R: BitRow>(u: &Unfolding<'_>) -> BitRel<R> {
    let mut relation = BitRel::empty(u.events.len());
    for (a, thread, part, first) in accesses(u) {
        for (b, other, then, second) in accesses(u) {
            let same = thread == other && part.operation == then.operation;
            let kinds = first.tensor.zip(second.tensor);
            if !same && kinds.is_some_and(|(a, b)| a.forms_pipeline(b)) {
                relation.insert(a, b);
            }
        }
    }
    relation
}
