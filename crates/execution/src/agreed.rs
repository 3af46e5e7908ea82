//! Bytes whose accesses never race, in any execution.
//!
//! An atomic that writes to such bytes the value that it reads can be omitted (reading R50). By Atomicity its
//! write directly follows the write that it reads in coherence order. A read from it can read from that
//! write instead: the value is the same, and so are the later writes. A write that was observed through the atomic is
//! still observed. No relation gains an edge that the execution did not imply, and every axiom is antitone in them.

use std::collections::{BTreeMap, BTreeSet};

use crate::accessed::{Accessed, LineAccess, LineBytes};
use crate::constants::Constants;
use crate::layout::Layout;
use model::isa::{Instruction, TypeKind};
use model::memory::{Extent, Proxy};
use model::program::{Program, ThreadId};
use model::value::{Value, little_endian, low_bits};

/// Values beyond which those of such bytes are not listed.
const MOST_VALUES: usize = 16;

/// Bytes all accesses to which are morally strong, of the same bytes.
#[derive(Clone, Debug)]
pub struct RaceFreeBytes {
    /// All values that they may hold, if the program determines them.
    pub values: Option<BTreeSet<Value>>,
    /// The only thread that accesses them, if there is one.
    pub own: Option<ThreadId>,
}

/// The bytes, by their physical extents, that are free of races.
#[derive(Clone, Default, Debug)]
pub struct Agreed(BTreeMap<Extent, RaceFreeBytes>);

impl Agreed {
    pub fn new(program: &Program, layout: &Layout, accessed: &Accessed<'_>) -> Agreed {
        if program.variables.iter().any(|variable| variable.absolute.is_some()) {
            return Agreed::default();
        }
        let (all, mut unknown) = accessed.by_bytes();
        unknown.extend(&accessed.asynchronous);
        let is_agreed = |&(&bytes, here): &(&Extent, &Vec<&LineAccess<'_>>)| {
            let variable = layout.locations[usize::from(bytes.object)].variable;
            let whole = |other: &Extent| *other == bytes || !other.overlaps(bytes);
            layout.has_one_name(bytes.object)
                && all.keys().all(whole)
                && !unknown.iter().any(|reach| reach.includes(program, variable))
                && here.iter().all(|one| is_plain(one))
                && here.iter().all(|one| here.iter().all(|other| agree(program, one, other)))
        };
        let agreed = all.iter().filter(is_agreed).map(|(&bytes, here)| {
            let values = values(layout, &accessed.constants, bytes, here);
            let first = here[0].thread;
            // Where bytes are said to be contested, others access them that are not in the program.
            let is_own =
                program.contested.is_none() && here.iter().all(|access| access.thread == first);
            let own = is_own.then_some(first);
            (bytes, RaceFreeBytes { values, own })
        });
        Agreed(agreed.collect())
    }

    /// What is known of these bytes if no two accesses race that access some of them.
    pub fn of(&self, bytes: Extent) -> Option<&RaceFreeBytes> {
        self.0.get(&bytes)
    }

    /// The bytes that only this thread accesses.
    pub fn own(&self, thread: ThreadId) -> impl Iterator<Item = Extent> + '_ {
        let all = self.0.iter().filter(move |(_, of)| of.own == Some(thread));
        all.map(|(&bytes, _)| bytes)
    }

    /// Whether that is so of the bytes that the instruction of a line accesses.
    pub fn is_agreed(&self, accessed: &Accessed<'_>, thread: ThreadId, line: usize) -> bool {
        accessed.of_line(thread, line).iter().all(|access| match &access.at {
            LineBytes::Known(all) => all.iter().all(|of| self.of(of.pa).is_some()),
            LineBytes::Unknown(_) => false,
        })
    }
}

/// Whether it is a single access through the generic proxy, to memory that a program may write.
pub fn is_plain(access: &LineAccess<'_>) -> bool {
    access.instruction.access().is_some_and(|(.., elements)| elements == 1) && is_generic(access)
}

/// Whether an access is one through the generic proxy, to memory that a program may write.
pub fn is_generic(access: &LineAccess<'_>) -> bool {
    let proxied = matches!(access.instruction, Instruction::Load(of) if of.proxy != Proxy::Generic)
        || matches!(access.instruction, Instruction::Store(of) if of.proxy != Proxy::Generic);
    !proxied && !access.instruction.loads_read_only_data()
}

/// Whether two accesses to the same bytes are morally strong.
pub fn agree(program: &Program, one: &LineAccess<'_>, other: &LineAccess<'_>) -> bool {
    let placement = |of: &LineAccess<'_>| program.threads[usize::from(of.thread.0)].placement;
    let includes = |here: &LineAccess<'_>, there: &LineAccess<'_>| {
        let scope = here.instruction.scope();
        scope.is_some_and(|scope| scope.includes(placement(here), placement(there)))
    };
    one.thread == other.thread || includes(one, other) && includes(other, one)
}

/// All values that bytes ever hold, where each write says its own or makes it of the one before.
fn values(
    layout: &Layout,
    constants: &[Constants],
    bytes: Extent,
    accesses: &[&LineAccess<'_>],
) -> Option<BTreeSet<Value>> {
    let initial = &layout.locations[usize::from(bytes.object)].initial;
    let initial = initial.get(bytes.start as usize..bytes.end() as usize)?;
    let mut all = BTreeSet::from([little_endian(initial)]);
    loop {
        let before = all.len();
        for access in accesses {
            let (thread, line) = (access.thread, access.line);
            let of = &constants[usize::from(thread.0)];
            let known = |operand| of.operand(layout, thread, line, operand);
            let operands: Option<Vec<Value>> = access.instruction.operands().map(known).collect();
            let operands = operands?;
            // A load has none.
            let Some(&first) = operands.first() else { continue };
            let second = operands.get(1).copied().unwrap_or(0);
            let mask = low_bits(access.bits);
            if let Some(atomic) = access.instruction.as_atomic() {
                let integer = [TypeKind::Unsigned, TypeKind::Signed, TypeKind::Bits];
                if !integer.contains(&atomic.ty.kind) {
                    return None;
                }
                let new = |&old: &Value| atomic.op.apply(atomic.ty, old, first, second);
                let more: Vec<Value> = all.iter().filter_map(new).collect();
                all.extend(more);
            } else {
                all.insert(first & mask);
            }
        }
        if all.len() > MOST_VALUES {
            return None;
        }
        if all.len() == before {
            return Some(all);
        }
    }
}
