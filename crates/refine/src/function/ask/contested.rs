//! The bytes that several threads of a context access, and the memory that a context uses.

use std::collections::BTreeMap;

use model::program::{ContestedBytes, Program};
use model::value::Value;

use super::super::inputs::scanned;
use super::super::scan::{ByteRange, MemoryUse, closed, common, written};
use super::RefinementCase;
use crate::context::{Context, ContextOp};

impl RefinementCase<'_> {
    /// The bytes that several threads of a context access, and what partners write there. `lowered`: whether the
    /// function is the target, and not the source or its mapping.
    pub(in super::super) fn contested(
        &self,
        program: &Program,
        context: &Context,
        lowered: bool,
    ) -> Vec<ContestedBytes> {
        let twins = context.judged_threads();
        if twins > 1 {
            let sides = self.written_by_both();
            return sides
                .map_or_else(|| common(program), |sides| sides[usize::from(lowered)].clone());
        }
        let mut written: BTreeMap<ByteRange, Vec<Value>> = BTreeMap::new();
        for op in context.threads[twins..].iter().flatten() {
            let ContextOp::Access { act, at, value, .. } = *op else { continue };
            let part = if lowered { self.part(at) } else { None };
            let place = part.map_or(self.locations[at].place, |part| part.word);
            let memory = self.setup.root(place.memory);
            let values = written.entry(ByteRange { memory, ..place }).or_default();
            if act.writes() {
                let value = self.value(at, value);
                values.push(part.map_or(value, |part| part.with(value)).into());
            }
        }
        // The model has rules about a location that is read as constant and written.
        for one in self.uses.iter().filter(|one| one.constant) {
            let writes = |other: &&MemoryUse| other.writes && other.place.overlaps(one.place);
            if self.uses.iter().any(|other| writes(&other)) {
                written.entry(one.place).or_default();
            }
        }
        // A thread may race with itself through two virtual addresses.
        let own =
            self.locations.iter().filter(|location| location.own && location.name_of.is_none());
        let own = own.map(|location| location.place);
        for place in self.uses.iter().map(|one| one.place).chain(own) {
            let name = |memory: &usize| self.setup.memory[*memory].alias == Some(place.memory);
            if (0..self.setup.memory.len()).filter(name).any(|name| self.is_used(context, name)) {
                written.entry(place).or_default();
            }
        }
        // Each access is inside the bytes, or outside.
        let places = closed(written.keys().copied().collect(), &self.uses).into_iter();
        let contested = places.map(|place| {
            let values = written.get(&place).cloned().unwrap_or_default();
            place.contested(Some(values))
        });
        contested.collect()
    }

    /// For each side, the bytes that are written where two threads run the function; `None` if they are not known.
    fn written_by_both(&self) -> Option<&[Vec<ContestedBytes>; 2]> {
        let places = self.written_by_both.get_or_init(|| {
            let sides = [self.source, self.target];
            let places = scanned(&self.setup, sides, &self.refiner, written).ok()?;
            Some(places.map(|places| places.iter().map(|place| place.contested(None)).collect()))
        });
        places.as_ref()
    }

    /// Whether memory is the function's, or the context accesses it. Another name of the function's memory is the
    /// context's, unless a pointer leads there.
    pub(super) fn is_used(&self, context: &Context, memory: usize) -> bool {
        let of = |at: &usize| {
            let location = &self.locations[*at];
            let is = |place: ByteRange| place.memory == memory;
            let own = location.own || location.name_of.is_some();
            own && is(location.place) || location.own && location.name_of.is_some_and(is)
        };
        let mut all = (0..self.locations.len()).filter(of).peekable();
        all.peek().is_none() || all.any(|at| context.accesses(at))
    }

    /// Whether a context accesses a location by another name, or a pointer of the function leads there by one.
    pub(super) fn uses_names(&self, context: &Context) -> bool {
        let alias = |memory: &usize| self.setup.memory[*memory].alias.is_some();
        (0..self.setup.memory.len()).filter(alias).any(|memory| self.is_used(context, memory))
    }
}
