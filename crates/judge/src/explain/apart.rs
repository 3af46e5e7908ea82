//! Why the fences and vectors of an allowed execution do not order what they seem to: fences of too narrow a scope, and the
//! elements of a vector, which are accesses of their own.

use execution::event::EventKind;
use model::bits::BitRow;
use model::given::{Fixed, Tag};
use model::rel::Model;
use model::section;

use super::candidate::Candidate;
use super::note;

/// A sentence for each pair of `fence.sc` that are in no Fence-SC order where one would forbid a read, and for each torn read
/// of a vector.
pub(super) fn unordered<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Vec<String> {
    let mut all = fences(model, candidate);
    all.extend(vectors(candidate));
    all
}

/// The fences of two threads between which a read misses a write: before the read, and after the write.
fn fences<R: BitRow>(model: &Model, candidate: &Candidate<'_, R>) -> Vec<String> {
    let u = candidate.structure.unfolding;
    let Some(strong) = candidate.relation(model, "morally-strong") else { return Vec::new() };
    let po = candidate.structure.fixed(Fixed::Po);
    let is_sc = |&event: &usize| u.events[event].tags.has(Tag::FenceSc);
    let all: Vec<usize> = (0..u.events.len()).filter(is_sc).collect();
    let mut told = Vec::new();
    for (read, write) in candidate.fr.pairs() {
        for &first in all.iter().filter(|&&fence| po.has(fence, read)) {
            for &second in all.iter().filter(|&&fence| po.has(write, fence)) {
                let apart = u.events[first].thread != u.events[second].thread;
                if !apart || strong.has(first, second) || told.contains(&(second, first)) {
                    continue;
                }
                told.push((first, second));
            }
        }
    }
    let sentence = |&(first, second): &(usize, usize)| {
        let (scope, fence, name) = note::narrow(u, first, second)?;
        let [(here, one), (there, other)] =
            [first, second].map(|event| candidate.instruction(event));
        Some(format!(
            "{here}'s `{one}` and {there}'s `{other}` are in no Fence-SC order: scope .{scope} of `{}` does not include {name}, \
             so they are not morally strong ({}).",
            candidate.instruction(fence).1,
            section::FENCE_SC_ORDER.number,
        ))
    };
    told.iter().filter_map(sentence).collect()
}

/// The reads of vectors of which one element is as before a write of several elements, and one as after it.
fn vectors<R: BitRow>(candidate: &Candidate<'_, R>) -> Vec<String> {
    let u = candidate.structure.unfolding;
    let siblings = |one: usize, other: usize| {
        let (one, other) = (&u.events[one], &u.events[other]);
        let step = |of: &execution::unfold::Event<'_>| Some((of.of?.line, of.of?.step));
        one.thread.is_some() && one.thread == other.thread && step(one) == step(other)
    };
    let is_plain = |event: usize| {
        let atomic = u.events[event].tags.has(Tag::Atomic);
        u.events[event].of.is_some_and(|of| of.kind != EventKind::Fence && of.part.is_none())
            && !atomic
    };
    let mut all = Vec::new();
    for (missed, write) in candidate.fr.pairs() {
        for (seen, read) in candidate.rf.pairs() {
            let torn = seen != write && siblings(seen, write) && siblings(missed, read);
            if !torn || missed == read || !is_plain(read) || !is_plain(write) {
                continue;
            }
            let [(reader, load), (writer, store)] =
                [read, write].map(|event| candidate.instruction(event));
            all.push(format!(
                "{reader}'s `{load}` sees one element of {writer}'s `{store}` and misses another: the elements of a vector are \
                 accesses in no order ({}). One strong access of the same bytes, such as of `.b64` for `.v2.b32`, sees all or nothing.",
                section::VECTOR_TYPES.number,
            ));
        }
    }
    all
}
