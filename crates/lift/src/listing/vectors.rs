//! Reading R103: which accesses of a listing are vectors, of elements of which width.
//!
//! An access of a listing has a size only. It is compared with the accesses of the source that it may come from:
//! those of the same state space and strength, of the same size, and of the same part of the function between
//! barriers. Where these have elements of one width, it has them too. `ptxas` may leave out elements that nothing
//! reads, so what has the size of no access of the source may be a part of a larger one.

use model::isa::{Instruction, SpaceQualifier};

use crate::column::access::{size, space};
use crate::function::Function;
use sass::listing::ListingLine;
use sass::opcode::{Class, class};

/// The accesses of a function, and its barriers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AccessShapes {
    all: Vec<AccessShape>,
    barriers: usize,
}

/// A load or a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AccessShape {
    stores: bool,
    space: SpaceQualifier,
    strong: bool,
    /// In bits.
    size: u16,
    /// The width of an element in bits.
    element: u16,
    /// The number of barriers before it.
    barriers: usize,
}

impl AccessShape {
    /// Whether one may come from the other. A generic address may be found to be in a state space, and accesses
    /// of shared memory do not show whether they are strong.
    fn resembles(self, other: AccessShape) -> bool {
        let (mine, its) = (self.space.space(), other.space.space());
        let shared = self.space.is_shared() || other.space.is_shared();
        self.stores == other.stores
            && (mine == its || mine.is_none() || its.is_none())
            && (self.strong == other.strong || shared)
    }
}

impl AccessShapes {
    pub(super) fn of(function: &Function) -> AccessShapes {
        let mut found = AccessShapes::default();
        let steps = function.rows.iter().flat_map(|row| &row.lines);
        for instruction in steps.map(|step| &step.line.instruction) {
            found.barriers += usize::from(matches!(instruction, Instruction::Barrier(_)));
            let stores = matches!(instruction, Instruction::Store(_));
            if !stores && !matches!(instruction, Instruction::Load(_)) {
                continue;
            }
            let Some((_, ty, count)) = instruction.access() else { continue };
            let Some(size) = u16::try_from(count).ok().and_then(|n| n.checked_mul(ty.bits)) else {
                continue;
            };
            found.all.push(AccessShape {
                stores,
                space: instruction.space(),
                strong: instruction.scope().is_some(),
                size,
                element: ty.bits,
                barriers: found.barriers,
            });
        }
        found
    }

    /// For each line of a listing the width of the elements of its access, if it is a vector.
    pub(super) fn elements(&self, lines: &[&ListingLine<'_>]) -> Vec<Option<u16>> {
        let is_barrier =
            |line: &ListingLine<'_>| class(line.instruction.opcode.text) == Some(Class::Barrier);
        let barriers = lines.iter().filter(|line| is_barrier(line)).count();
        let mut before = 0;
        let element = |line: &&ListingLine<'_>| {
            let instruction = &line.instruction;
            before += usize::from(is_barrier(line));
            let name = instruction.opcode.text;
            let constant = matches!(name, "LDC" | "LDCU" | "ULDC");
            let stores = class(name) == Some(Class::Store);
            if constant || !stores && class(name) != Some(Class::Load) {
                return None;
            }
            let access = AccessShape {
                stores,
                space: space(name),
                strong: instruction.has("STRONG") || instruction.has("MMIO"),
                size: size(instruction).bits,
                element: 0,
                barriers: before,
            };
            self.element(access, barriers == self.barriers)
        };
        lines.iter().map(element).collect()
    }

    /// The width of the elements of an access. `in_parts`: barriers divide both sides alike.
    fn element(&self, access: AccessShape, in_parts: bool) -> Option<u16> {
        let alike: Vec<&AccessShape> =
            self.all.iter().filter(|one| one.resembles(access)).collect();
        let here = |one: &&AccessShape| in_parts && one.barriers == access.barriers;
        let same = |one: &&AccessShape| one.size == access.size;
        let larger = |one: &&AccessShape| one.size > access.size;
        let groups: [Vec<&AccessShape>; 3] = [
            alike.iter().copied().filter(|one| same(one) && here(one)).collect(),
            alike.iter().copied().filter(same).collect(),
            alike.iter().copied().filter(larger).collect(),
        ];
        let group = groups.iter().find(|group| !group.is_empty())?;
        let element = group[0].element;
        let alone = group.iter().all(|one| one.element == element);
        (alone && element < access.size && access.size.is_multiple_of(element)).then_some(element)
    }
}
