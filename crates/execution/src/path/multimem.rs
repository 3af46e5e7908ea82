//! Operations on multimem addresses as events of a path: the events of each location of the address, by the
//! address that the location has (reading B22).

use super::address::AddressUse;
use super::memory::{load_tags, reduction_tags, store_tags};
use super::state::PathState;
use super::{MAX_EVENTS, Next, UnfoldLimit, Walk};
use crate::event::{Access, EventKind, Mask, Tags};
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::multimem::{Multimem, MultimemOp};
use model::memory::Proxy;

/// Events of one element at one location, at most: a read and a write.
const EVENTS: usize = 2;

impl Walk<'_> {
    pub(super) fn multimem(
        &mut self,
        state: &mut PathState,
        of: &Multimem,
        guard: Mask,
    ) -> Result<(), Next> {
        let (accesses, at) =
            self.address(state, of.address, &AddressUse::of_multimem(of)).ok_or(Next::Stop)?;
        let locations = self.behind(&accesses);
        if state.events.len() + EVENTS * accesses.len() * locations.len() > MAX_EVENTS {
            return Err(Next::Limit(UnfoldLimit::Events));
        }
        match &of.op {
            MultimemOp::LoadReduce { order, op, destinations } => {
                for (element, destination) in destinations.iter().enumerate() {
                    let mut read: Option<(ExprId, Mask)> = None;
                    for location in &locations {
                        let event = state.push(
                            EventKind::Read,
                            load_tags(*order, Proxy::Generic).with(Tag::Multimem),
                            guard,
                        );
                        state.last().locate(location[element], at);
                        state.last().element = true;
                        let value = state.exprs.intern(Expr::Read(event));
                        read = Some(read.map_or((value, 1 << event), |(sum, taint)| {
                            let sum = state.exprs.atomic(*op, of.ty, sum, value);
                            (sum, taint | 1 << event)
                        }));
                    }
                    if let (Some(destination), Some((value, taint))) = (destination, read) {
                        let value = state.exprs.extend_signed(of.ty, value);
                        state.set(*destination, value, taint);
                    }
                }
            }
            MultimemOp::Store { order, sources } => {
                state.heads.clear();
                for location in &locations {
                    for (&access, &source) in location.iter().zip(sources) {
                        let (value, data) = self.operand(state, source);
                        state.push(
                            EventKind::Write,
                            store_tags(*order, Proxy::Generic).with(Tag::Multimem),
                            guard,
                        );
                        let event = state.last();
                        event.locate(access, at);
                        event.data = data;
                        event.value = Some(value);
                        event.element = true;
                    }
                }
            }
            MultimemOp::Reduce { order, scope, op, sources } => {
                state.heads.clear();
                let (read_tags, write_tags) = reduction_tags(*order, *scope);
                let through = |tags: Tags| tags.with(Tag::Multimem);
                for location in &locations {
                    for (&access, &source) in location.iter().zip(sources) {
                        let (operand, taint) = self.operand(state, source);
                        let read = state.push(EventKind::Read, through(read_tags), guard);
                        state.last().locate(access, at);
                        state.last().element = true;
                        let old = state.exprs.intern(Expr::Read(read));
                        let value = self.written_over(state, *op, of.ty, access, old, operand);
                        state.written_back(access, at, guard, value, taint | 1 << read, read);
                        state.last().tags = through(write_tags);
                        state.last().element = true;
                    }
                }
            }
        }
        state.pc += 1;
        Ok(())
    }

    /// Marks the accesses of a destination since an event as those through a multimem address.
    pub(super) fn tag_multimem(state: &mut PathState, first: u16) {
        for event in &mut state.events[usize::from(first)..] {
            if event.tags.has(Tag::Write) || event.rmw.is_some() {
                event.tags = event.tags.with(Tag::Multimem);
            }
        }
    }

    /// The same bytes at each location of a multimem address.
    pub(super) fn behind(&self, accesses: &[Access]) -> Vec<Vec<Access>> {
        self.layout.behind(self.program, self.thread, accesses)
    }
}
