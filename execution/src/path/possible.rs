//! The values that an expression can have, where the program says which values other threads write.

use std::collections::{BTreeMap, BTreeSet};

use super::Walk;
use super::state::PathState;
use crate::event::EventKind;
use crate::expr::{Expr, ExprId};
use model::memory::Extent;
use model::program::ThreadId;
use model::value::{Value, little_endian, low_bytes};

/// The maximum number of combinations of values that are tried, and of writes of the thread whose values are
/// followed back.
const MOST: usize = 256;
const DEPTH: u32 = 3;

impl Walk<'_> {
    /// All values of an expression of the first thread; `None` if they are not known.
    pub(super) fn possible(&self, state: &PathState, expr: ExprId) -> Option<BTreeSet<Value>> {
        let first = self.thread == ThreadId(0);
        if self.program.contested.is_none() || !first || self.conventions.tearing {
            return None;
        }
        self.values(state, expr, DEPTH)
    }

    /// Whether a condition holds with every possible value, or fails with every one.
    pub(super) fn decided(&self, state: &PathState, expr: ExprId) -> Option<bool> {
        state.truth(expr).or_else(|| {
            let all = self.possible(state, expr)?;
            let holds = all.iter().any(|value| *value != 0);
            (!all.is_empty() && holds != all.contains(&0)).then_some(holds)
        })
    }

    fn values(&self, state: &PathState, expr: ExprId, depth: u32) -> Option<BTreeSet<Value>> {
        let mut reads: BTreeMap<u16, Vec<Value>> = BTreeMap::new();
        let mut known = depth > 0;
        state.exprs.leaves(expr, &mut |leaf| {
            if let Expr::Read(read) = leaf {
                reads.entry(read).or_default();
            } else {
                known = false;
            }
        });
        if !known {
            return None;
        }
        let mut combinations = 1;
        for (read, values) in &mut reads {
            *values = self.returned(state, *read, depth)?.into_iter().collect();
            combinations *= values.len();
            if combinations > MOST {
                return None;
            }
        }
        let mut all = BTreeSet::new();
        for combination in 0..combinations {
            let mut rest = combination;
            let chosen: BTreeMap<u16, Value> = reads
                .iter()
                .map(|(read, values)| {
                    let value = values[rest % values.len()];
                    rest /= values.len();
                    (*read, value)
                })
                .collect();
            let mut leaf = |leaf: Expr| {
                if let Expr::Read(read) = leaf { chosen.get(&read).copied() } else { None }
            };
            let holds = |check: &super::Assumption, leaf: &mut dyn FnMut(Expr) -> Option<Value>| {
                state.exprs.eval(check.expr(), leaf).is_none_or(|value| check.holds(value))
            };
            if state.checks.iter().all(|check| holds(check, &mut leaf)) {
                all.insert(state.exprs.eval(expr, &mut leaf)?);
            }
        }
        Some(all)
    }

    /// All values that a read can return. Parts of it may be from different writes.
    fn returned(&self, state: &PathState, read: u16, depth: u32) -> Option<BTreeSet<Value>> {
        let bytes = state.events[usize::from(read)].access?.pa;
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
                written.push((there, self.values(state, event.value?, depth - 1)?));
            }
        }
        // A write of other bytes has an edge inside these.
        let edges = written.iter().flat_map(|(there, _)| [there.start, there.end()]);
        let edges: BTreeSet<u32> = edges.map(|edge| edge.clamp(bytes.start, bytes.end())).collect();
        let edges: Vec<u32> = edges.into_iter().collect();
        let mut all = BTreeSet::from([0]);
        for part in edges.windows(2) {
            let (start, length) = (part[0], part[1] - part[0]);
            let to = 8 * (start - bytes.start);
            let covers = |there: &Extent| there.start <= start && start < there.end();
            let parts: BTreeSet<Value> = written
                .iter()
                .filter(|(there, _)| covers(there))
                .flat_map(|(there, values)| {
                    let from = 8 * (start - there.start);
                    values.iter().map(move |value| (value >> from & low_bytes(length)) << to)
                })
                .collect();
            if all.len() * parts.len() > MOST {
                return None;
            }
            all = all.iter().flat_map(|low| parts.iter().map(move |part| low | part)).collect();
        }
        Some(all)
    }
}
