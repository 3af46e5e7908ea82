//! The values that an expression can have, where the program says which values other threads write.

use std::collections::BTreeSet;

use super::Walk;
use super::impossible::Assumed;
use super::state::PathState;
use crate::contents::{MemoryContents, put_together};
use crate::event::EventKind;
use crate::expr::ExprId;
use model::given::Tag;
use model::memory::Extent;
use model::program::ThreadId;
use model::value::{Value, little_endian};

/// The maximum number of combinations of values that are tried, and of writes of the thread whose values are
/// followed back.
const MOST: usize = 256;
const DEPTH: u32 = 3;

/// What says which values a read can return.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValuesFrom {
    /// What the program says of the writes of other threads, and those of the thread, followed back so often.
    Contexts { depth: u32 },
    /// All writes of the program, in any order.
    Contents,
}

impl Walk<'_> {
    /// All values of an expression of the first thread; `None` if they are not known.
    pub(super) fn possible(&self, state: &PathState, expr: ExprId) -> Option<BTreeSet<Value>> {
        let first = self.thread == ThreadId(0);
        if self.program.contested.is_none() || !first || self.conventions.tearing {
            return None;
        }
        self.values(state, expr, ValuesFrom::Contexts { depth: DEPTH })
    }

    /// The same of any thread of a program that says of its writes what they write, and where.
    pub(super) fn held_values(&self, state: &PathState, expr: ExprId) -> Option<BTreeSet<Value>> {
        let whole = self.program.contested.is_none();
        whole.then(|| self.values(state, expr, ValuesFrom::Contents)).flatten()
    }

    fn contents(&self) -> Option<&MemoryContents> {
        let found = || MemoryContents::new(self.program, self.layout, self.conventions.tearing);
        self.contents.get_or_init(found).as_ref()
    }

    /// Whether a condition holds with every possible value, or fails with every one.
    pub(super) fn decided(&self, state: &PathState, expr: ExprId) -> Option<bool> {
        state.truth(expr).or_else(|| {
            let all = self.possible(state, expr)?;
            let holds = all.iter().any(|value| *value != 0);
            (!all.is_empty() && holds != all.contains(&0)).then_some(holds)
        })
    }

    fn values(&self, state: &PathState, expr: ExprId, from: ValuesFrom) -> Option<BTreeSet<Value>> {
        if from == (ValuesFrom::Contexts { depth: 0 }) {
            return None;
        }
        Assumed::of(state).values(expr, &|read| self.returned(state, read, from))
    }

    /// All values that a read can return, or an exchange. Parts of a read may be from different writes.
    fn returned(&self, state: &PathState, read: u16, from: ValuesFrom) -> Option<BTreeSet<Value>> {
        let event = &state.events[usize::from(read)];
        let domain = || Assumed::of(state).domain(read.into(), self.known_memory());
        if event.kind == EventKind::Wait {
            let exchanged = || self.contents()?.exchanged(self.thread, event.line.into());
            return match from {
                ValuesFrom::Contexts { .. } => None,
                ValuesFrom::Contents => domain().or_else(exchanged),
            };
        }
        let bytes = event.access?.pa;
        let depth = match from {
            ValuesFrom::Contexts { depth } => depth,
            ValuesFrom::Contents if event.tags.has(Tag::TensorMemory) => return None,
            ValuesFrom::Contents => {
                return domain().or_else(|| self.contents()?.read(self.layout, bytes));
            }
        };
        let location = &self.layout.locations[usize::from(bytes.object)];
        let initial = &location.initial[bytes.start as usize..bytes.end() as usize];
        let mut written = vec![(bytes, BTreeSet::from([little_endian(initial)]))];
        for of in self.program.contested.as_ref()? {
            let (start, length) = (of.start, of.length);
            let there = Extent { object: bytes.object, start, length };
            if of.variable == location.variable && there.overlaps(bytes) {
                written.push((there, of.values.as_ref()?.iter().copied().collect()));
            }
        }
        for event in &state.events[..usize::from(read)] {
            let there = event.access.map(|access| access.pa);
            let Some(there) = there.filter(|there| there.overlaps(bytes)) else { continue };
            if event.kind == EventKind::Write {
                let from = ValuesFrom::Contexts { depth: depth - 1 };
                written.push((there, self.values(state, event.value?, from)?));
            }
        }
        put_together(bytes, &written, false, MOST)
    }
}
