//! Other virtual addresses of places, for functions with alias fences.
//!
//! What such a fence orders, only accesses by two names of one location show. So contexts have further names of the
//! memory of the function and of their own, if both sides are PTX: what listings show of these fences is not known.

use std::collections::BTreeSet;

use lift::function::{Function, FunctionLine, Language, Refused};
use model::isa::Instruction;
use model::isa::asynchronous::{AsyncFence, Asynchronous};
use model::isa::fence::ProxyFence;
use model::memory::Space;

use super::bind::{Argument, Setup};
use super::first_setup::with_names;
use super::judge::{SIDES, refused};
use super::partner::{MeetingLocation, OWN};
use super::scan::{ByteRange, ThreadScan};
use crate::verdict::Finding;

/// Whether a function orders accesses through two virtual addresses.
pub(super) fn has_fence(function: &Function) -> bool {
    let mut lines = function.rows.iter().flat_map(|row| &row.lines);
    lines.any(|step| {
        let instruction = &step.line.instruction;
        *instruction == Instruction::ProxyFence(ProxyFence::Alias)
            || matches!(instruction, Instruction::Fence(fence) if fence.aliases)
            || releases_reads(instruction)
    })
}

/// Whether it is `fence.alias.sync_restrict::read.release.sys`.
fn releases_reads(instruction: &Instruction) -> bool {
    *instruction == Instruction::Asynchronous(Asynchronous::Fence(AsyncFence::AliasReleaseOfReads))
}

/// A note if the alias fences of the source have no counterpart in a listing that is known.
pub(super) fn unknown([source, target]: [&Function; 2]) -> Option<String> {
    let listing = matches!(target.language, Language::Sass(_));
    let note = "what a listing shows of alias fences is not known: each location has one virtual address in all contexts";
    (listing && has_fence(source)).then(|| note.to_owned())
}

/// The finding of a source with a fence of which it is not known what a listing has for it.
pub(super) fn unsupported([source, target]: [&Function; 2]) -> Option<Box<Finding>> {
    let listing = matches!(target.language, Language::Sass(_));
    let of =
        |row: &&FunctionLine| row.lines.iter().any(|step| releases_reads(&step.line.instruction));
    let row = source.rows.iter().filter(|_| listing).find(of)?;
    let why = format!("`{}`: what a listing shows of it is not known", row.text);
    Some(refused(SIDES[0], &Refused { line: row.line, why }))
}

/// The setup with the names that contexts use, if there are any.
pub(super) fn named(setup: Setup, scans: &[ThreadScan; 2], sides: [&Function; 2]) -> Setup {
    let ptx = sides.iter().all(|side| side.language == Language::Ptx);
    let aliased = setup.memory.iter().any(|memory| memory.alias.is_some());
    if !ptx || aliased || !sides.into_iter().any(has_fence) {
        return setup;
    }
    let global = |memory: &usize| setup.memory[*memory].space == Space::Global;
    let used = scans[0].uses.iter().map(|one| one.place.memory).filter(global);
    let of_frame = setup.memory.len() - OWN;
    let link = setup.memory.len() - 1;
    let all: BTreeSet<usize> = used.chain([of_frame, link]).collect();
    with_names(&setup, &all.into_iter().collect::<Vec<usize>>(), sides)
}

/// Adds the places by their other names, before those of the context.
pub(super) fn add(locations: &mut Vec<MeetingLocation>, setup: &Setup) {
    let mut all = Vec::new();
    let pointed = |memory: usize| {
        let mut arguments = setup.arguments.iter();
        arguments.any(|argument| *argument == Argument::Pointer(memory))
    };
    for (name, memory) in setup.memory.iter().enumerate() {
        let Some(of) = memory.alias.filter(|_| !pointed(name)) else { continue };
        let named = locations.iter().filter(|location| location.place.memory == of);
        all.extend(named.map(|location| MeetingLocation {
            place: ByteRange { memory: name, ..location.place },
            name_of: Some(location.place),
            ..location.clone()
        }));
    }
    let first_own = locations.len() - OWN;
    locations.splice(first_own..first_own, all);
}
