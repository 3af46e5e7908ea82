//! Whether instructions of a thread depend on each other: what it computes changes if they change places.

use litmus::revise::SourceTest;
use model::isa::asynchronous::{Asynchronous, Copy};
use model::isa::roles::{AccessedPlace, Addressing};
use model::isa::{Instruction, Line, Operand, Reg};
use model::memory::{Extent, MBARRIER_BYTES, Space};

use crate::known::KnownValues;
use crate::place::{CellPlace, lines_of};

/// The dependences within each thread of a test.
pub(crate) struct Dependences<'s> {
    source: &'s SourceTest,
    known: KnownValues,
}

/// What a line accesses.
struct TouchedMemory {
    bytes: TouchedBytes,
    /// The state space, if it is known.
    space: Option<Space>,
    writes: bool,
}

enum TouchedBytes {
    Known(Extent),
    /// Some of this object.
    Object(u16),
    Any,
}

impl<'s> Dependences<'s> {
    pub(crate) fn new(source: &'s SourceTest) -> Dependences<'s> {
        Dependences { source, known: KnownValues::new(&source.test.program) }
    }

    /// Whether two instructions may not change places: a register that one writes is one of the other, or they may access
    /// the same bytes, and one of them writes.
    pub(crate) fn are_dependent(&self, one: CellPlace, other: CellPlace) -> bool {
        let all = |place: CellPlace| {
            let start = self.source.cells[place.thread][place.cell].lines.start;
            let lines = lines_of(self.source, place.thread, place.cell);
            lines.iter().enumerate().map(move |(at, line)| (start + at, line))
        };
        all(one).any(|(at, one_line)| {
            all(other).any(|(other_at, other_line)| {
                share_registers(one_line, other_line)
                    || self.share_memory(one.thread, (at, one_line), (other_at, other_line))
            })
        })
    }

    fn share_memory(&self, thread: usize, one: (usize, &Line), other: (usize, &Line)) -> bool {
        let own = self.touched(thread, one.0, one.1);
        let others = self.touched(thread, other.0, other.1);
        own.iter().any(|a| others.iter().any(|b| (a.writes || b.writes) && may_overlap(a, b)))
    }

    /// The memory that a line accesses. An operation on an mbarrier object counts as a write.
    fn touched(&self, thread: usize, line: usize, of: &Line) -> Vec<TouchedMemory> {
        let length = length(&of.instruction);
        let each = |place: AccessedPlace| {
            let bytes =
                |length: u32| self.known.bytes(thread, line, place.space, place.address, length);
            let direct = place.addressing == Addressing::Direct && !place.multicast;
            let known = if direct { length.and_then(bytes) } else { None };
            let object = if direct { bytes(1).map(|of| of.object) } else { None };
            TouchedMemory {
                bytes: match (known, object) {
                    (Some(extent), _) => TouchedBytes::Known(extent),
                    (None, Some(object)) => TouchedBytes::Object(object),
                    (None, None) => TouchedBytes::Any,
                },
                space: place.space.space().filter(|_| !place.space.is_param()),
                writes: place.is_written() || place.is_object(),
            }
        };
        of.instruction.places().map(each).collect()
    }
}

/// The number of bytes at each place of an instruction, if they are as many at each.
fn length(instruction: &Instruction) -> Option<u32> {
    if let Some((_, ty, elements)) = instruction.access() {
        return Some(ty.bytes() * u32::try_from(elements).ok()?);
    }
    let of = instruction.as_asynchronous()?;
    if let Asynchronous::Copy(Copy { bytes: Some(Operand::Imm(bytes)), .. }) = of {
        // One length stands for all places of the instruction: that of its mbarrier object, if the copy is shorter.
        let bytes = u32::try_from(*bytes).ok().filter(|bytes| *bytes > 0);
        return bytes.map(|bytes| bytes.max(MBARRIER_BYTES));
    }
    matches!(of, Asynchronous::Mbarrier(_)).then_some(MBARRIER_BYTES)
}

fn may_overlap(one: &TouchedMemory, other: &TouchedMemory) -> bool {
    use TouchedBytes::{Any, Known, Object};
    match (&one.bytes, &other.bytes) {
        (Known(a), Known(b)) => a.overlaps(*b),
        (
            Known(Extent { object: a, .. }) | Object(a),
            Known(Extent { object: b, .. }) | Object(b),
        ) => a == b,
        (Any, _) | (_, Any) => {
            one.space.is_none() || other.space.is_none() || one.space == other.space
        }
    }
}

/// Whether one of two lines writes a register that the other one reads or writes.
fn share_registers(one: &Line, other: &Line) -> bool {
    let used = |line: &Line| -> Vec<Reg> {
        let guard = line.guard.map(|guard| guard.predicate);
        let written = line.instruction.destinations();
        line.instruction.sources().chain(written).chain(guard).collect()
    };
    let writes = |line: &Line, used: &[Reg]| {
        line.instruction.destinations().any(|register| used.contains(&register))
    };
    writes(one, &used(other)) || writes(other, &used(one))
}
