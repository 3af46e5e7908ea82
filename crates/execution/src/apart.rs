//! Bytes whose accesses change nothing for other threads: a program can be judged without events for them.
//!
//! These are bytes that one thread alone accesses, and bytes that nobody writes. A read of them returns what its thread has
//! written last, or the initial value (8.10.1): coherence leaves it no other, and no other thread gets an edge from it.
//!
//! A loop that waits is recognised by what its iterations access, so that the bytes that a thread writes there keep their events.

use std::collections::{BTreeMap, BTreeSet};

use crate::accessed::{Accessed, LineAccess, LineBytes};
use crate::agreed::is_generic;
use crate::layout::Layout;
use model::isa::Instruction;
use model::isa::ld::LoadOrder;
use model::memory::Extent;
use model::program::{Program, ThreadId};

/// Such bytes: of each location, by their offsets, the thread that may access them; `None` for any.
#[derive(Clone, Default, Debug)]
pub struct ApartBytes {
    bytes: BTreeMap<(u16, u32), Option<ThreadId>>,
    /// The locations in global memory that nothing writes, whatever may read them.
    unwritten: BTreeSet<u16>,
}

/// What accesses a byte.
#[derive(Default)]
struct ByteUse {
    threads: BTreeSet<ThreadId>,
    written: bool,
    /// Through the generic proxy, and not as read-only data.
    plain: bool,
    /// By an instruction that has a meaning only in some places, or beside others.
    kept: bool,
}

impl ApartBytes {
    pub fn new(program: &Program, layout: &Layout, accessed: &Accessed<'_>) -> ApartBytes {
        if program.variables.iter().any(|variable| variable.absolute.is_some()) {
            return ApartBytes::default();
        }
        let (known, mut unknown) = accessed.by_bytes();
        unknown.extend(&accessed.asynchronous);
        let mut uses: BTreeMap<(u16, u32), ByteUse> = BTreeMap::new();
        for (bytes, accesses) in &known {
            let variable = layout.locations[usize::from(bytes.object)].variable;
            if !layout.has_one_name(bytes.object)
                || unknown.iter().any(|reach| reach.includes(program, variable))
            {
                continue;
            }
            for at in bytes.start..bytes.end() {
                let first = ByteUse { plain: true, ..ByteUse::default() };
                let of = uses.entry((bytes.object, at)).or_insert(first);
                for access in accesses {
                    of.threads.insert(access.thread);
                    of.written |= !matches!(access.instruction, Instruction::Load(_));
                    of.plain &= is_generic(access);
                    // An operation at a multimem address is an event at each location. Shared memory of another CTA
                    // is there as long as that has not exited (reading R114).
                    of.kept |= access.instruction.access().is_none()
                        || access.instruction.may_be_out_of_place()
                        || is_uniform(access)
                        || !layout.is_named_by(bytes.object, access.thread);
                }
            }
        }
        let apart = uses.into_iter().filter(|(_, of)| !of.kept).filter_map(|(at, of)| {
            let only = of.threads.first().copied().filter(|_| of.plain && of.threads.len() == 1);
            if of.written { only.map(|thread| (at, Some(thread))) } else { Some((at, None)) }
        });
        let unwritten = accessed.unwritten.clone();
        let mut apart = ApartBytes { bytes: apart.collect(), unwritten };
        apart.keep_whole(accessed);
        apart.keep_loops(program, accessed);
        apart
    }

    /// Leaves out what is written of the bytes of an access that is an event, as others of its bytes are not apart: what that
    /// reads, or writes over, has an event, too.
    fn keep_whole(&mut self, accessed: &Accessed<'_>) {
        let pieces = || {
            accessed
                .accesses
                .iter()
                .flat_map(|access| extents(access).into_iter().map(|bytes| (access.thread, bytes)))
        };
        loop {
            let parts = pieces().filter(|&(thread, bytes)| !self.includes(thread, bytes));
            let parts: Vec<Extent> = parts.map(|(_, bytes)| bytes).collect();
            if !self.keep(&parts) {
                return;
            }
        }
    }

    /// Leaves out what is written of these bytes. Returns whether there was any.
    fn keep(&mut self, all: &[Extent]) -> bool {
        let before = self.bytes.len();
        for bytes in all {
            for at in bytes.start..bytes.end() {
                if self.bytes.get(&(bytes.object, at)).is_some_and(Option::is_some) {
                    self.bytes.remove(&(bytes.object, at));
                }
            }
        }
        self.bytes.len() < before
    }

    /// Leaves out what loops write that may wait for other threads.
    fn keep_loops(&mut self, program: &Program, accessed: &Accessed<'_>) {
        let mut loops: Vec<(ThreadId, usize, usize)> = Vec::new();
        for (thread, of) in (0u8..).map(ThreadId).zip(&program.threads) {
            loops.extend(of.back_branches().map(|(branch, target)| (thread, target, branch)));
        }
        loop {
            let mut kept = Vec::new();
            loops.retain(|&(thread, target, branch)| {
                let of_loop = || (target..=branch).flat_map(|line| accessed.of_line(thread, line));
                let code = &program.threads[usize::from(thread.0)].lines[target..=branch];
                let waits = code.iter().any(|line| {
                    matches!(
                        line.instruction,
                        Instruction::Barrier(_)
                            | Instruction::ClusterBarrier(_)
                            | Instruction::Asynchronous(_)
                    )
                }) || of_loop().any(|access| !self.has_all(access));
                if waits {
                    kept.extend(of_loop().flat_map(|access| extents(access)));
                }
                !waits
            });
            if !self.keep(&kept) {
                return;
            }
            self.keep_whole(accessed);
        }
    }

    /// Whether all bytes of an access are among them.
    fn has_all(&self, access: &LineAccess<'_>) -> bool {
        matches!(access.at, LineBytes::Known(_))
            && extents(access).into_iter().all(|bytes| self.includes(access.thread, bytes))
    }

    /// Whether nothing writes these bytes, not even an asynchronous operation: what a copy reads there needs no event.
    pub fn is_unwritten(&self, bytes: Extent) -> bool {
        self.unwritten.contains(&bytes.object)
    }

    /// Whether a thread accesses these bytes without an event.
    pub fn includes(&self, thread: ThreadId, bytes: Extent) -> bool {
        (bytes.start..bytes.end()).all(|at| {
            let of = self.bytes.get(&(bytes.object, at));
            of.is_some_and(|only| only.is_none_or(|only| only == thread))
        })
    }
}

/// The physical bytes of an access, as far as they are known.
fn extents(access: &LineAccess<'_>) -> Vec<Extent> {
    let known = if let LineBytes::Known(all) = &access.at { &all[..] } else { &[] };
    known.iter().map(|of| of.pa).collect()
}

/// Whether it is an `ldu`, which lanes of a warp do together.
fn is_uniform(access: &LineAccess<'_>) -> bool {
    matches!(access.instruction, Instruction::Load(of) if of.order == LoadOrder::Uniform)
}
