//! What the accesses of a cycle read and write in its outcome, byte by byte.

use model::isa::Type;
use model::isa::atom::AtomicOp;

use crate::access::AccessForm;
use crate::cycle::Cycle;
use crate::word::Direction;

/// What an access writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PlannedWrite {
    /// The value of each element, or the operand of a reduction.
    pub(crate) operand: u64,
    pub(crate) bits: u16,
    /// The operation of a reduction.
    pub(crate) reduces: Option<AtomicOp>,
}

/// A location of a cycle.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct LocationContents {
    /// Its size.
    pub(crate) bytes: usize,
    /// Whether it has accesses of other bytes than the first four, so that it has a type.
    pub(crate) is_declared: bool,
    /// What is there at the end.
    pub(crate) last: u64,
}

/// What a cycle reads and writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CycleContents {
    /// For each access, what each element reads; nothing for a write.
    pub(crate) reads: Vec<Vec<u64>>,
    pub(crate) writes: Vec<Option<PlannedWrite>>,
    pub(crate) locations: Vec<LocationContents>,
}

/// A location while its accesses are made in their order.
struct LocationBytes {
    bytes: [u8; 8],
    /// Whether its accesses do not all have the same bytes.
    is_mixed: bool,
    /// Whether the last write was a reduction.
    reduced: bool,
}

impl CycleContents {
    pub(crate) fn of(cycle: &Cycle) -> CycleContents {
        let shape = &cycle.shape;
        let (forms, numbers, places) =
            (cycle.forms_of_accesses(), shape.values(), shape.locations());
        let count = shape.location_count();
        let mut now: Vec<LocationBytes> = Vec::with_capacity(count);
        let mut locations = Vec::with_capacity(count);
        for location in 0..count {
            let here = || {
                forms.iter().zip(&places).filter(move |(_, at)| **at == location).map(|(f, _)| *f)
            };
            let all = here().fold(0, |all, form| all | form.bytes());
            let is_wide = all > 0b1111;
            let extent = |form: AccessForm| (form.elements(), form.offset());
            let first = here().next().map(extent);
            let is_mixed = here().any(|form| Some(extent(form)) != first);
            now.push(LocationBytes { bytes: [0; 8], is_mixed, reduced: false });
            locations.push(LocationContents {
                bytes: if is_wide { 8 } else { 4 },
                is_declared: here().any(|form| !form.is_word()),
                last: 0,
            });
        }
        let mut reads = vec![Vec::new(); shape.len()];
        let mut writes = vec![None; shape.len()];
        for at in shape.by_location() {
            let location = &mut now[places[at]];
            let before = (at + shape.len() - 1) % shape.len();
            match shape.directions[at] {
                Direction::Read if shape.links[at].is_inverse() => {}
                Direction::Read => reads[at] = location.read(forms[at]),
                Direction::Write => {
                    writes[at] = Some(location.write(forms[at], numbers[at]));
                    if shape.links[before].is_inverse() {
                        reads[before] = location.read(forms[before]);
                    }
                }
            }
        }
        for (location, now) in locations.iter_mut().zip(&now) {
            let whole = u64::from_le_bytes(now.bytes);
            location.last = if location.bytes == 8 { whole } else { whole & u64::from(u32::MAX) };
        }
        CycleContents { reads, writes, locations }
    }
}

impl LocationBytes {
    /// The bytes of each element.
    fn elements(form: AccessForm) -> impl Iterator<Item = std::ops::Range<usize>> {
        let (elements, bytes) = form.elements();
        let (first, bytes) = (usize::from(form.offset()), usize::from(bytes));
        (0..usize::from(elements)).map(move |at| first + at * bytes..first + (at + 1) * bytes)
    }

    fn read(&self, form: AccessForm) -> Vec<u64> {
        let element = |of: std::ops::Range<usize>| {
            self.bytes[of].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
        };
        LocationBytes::elements(form).map(element).collect()
    }

    /// The write of this number.
    fn write(&mut self, form: AccessForm, number: u64) -> PlannedWrite {
        let bits = 8 * u16::from(form.elements().1);
        let value = |number: u64| {
            let every = if self.is_mixed { u64::MAX / 255 } else { 1 };
            (number * every) & (u64::MAX >> (64 - u32::from(bits)))
        };
        // Two additions have one sum in either order.
        let reduces = (form == AccessForm::Reduction).then_some(if self.reduced {
            AtomicOp::Max
        } else {
            AtomicOp::Add
        });
        let operand = value(if reduces == Some(AtomicOp::Add) { 1 } else { number });
        let written = reduces.map_or(operand, |op| {
            let old = self.read(form).first().copied().unwrap_or(0);
            let new = op.apply(Type::U32, old.into(), operand.into(), 0);
            new.and_then(|new| u64::try_from(new).ok()).unwrap_or(old)
        });
        for of in LocationBytes::elements(form) {
            let bytes = written.to_le_bytes();
            let length = of.len();
            self.bytes[of].copy_from_slice(&bytes[..length]);
        }
        self.reduced = reduces.is_some();
        PlannedWrite { operand, bits, reduces }
    }
}
