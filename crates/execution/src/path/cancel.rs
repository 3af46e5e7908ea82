//! `clusterlaunchcontrol.try_cancel` as events of a path: the response in each CTA that receives it, and its completion.

use super::address::AddressUse;
use super::asynchronous::{AsyncOperation, Part, part_write};
use super::mbarrier::Object;
use super::state::{ComputedAddress, PathState};
use super::{MAX_EVENTS, Next, UnfoldLimit, Walk};
use crate::event::{Access, Mask, MbarrierStep};
use model::given::Tag;
use model::isa::asynchronous::{CANCELED_BIT, Cancel, RESPONSE_BYTES};
use model::value::Value;

/// All CTAs of a cluster, as the mask of a multicast.
pub(super) const EVERY_CTA: u64 = 0xffff;

/// Where a response is written, and the object on which that completes.
type Receiver = (Vec<Access>, Option<Object>);

impl Walk<'_> {
    /// A request may succeed or fail. Reading B23.
    pub(super) fn cancel(
        &mut self,
        state: &mut PathState,
        of: &Cancel,
        guard: Mask,
    ) -> Result<(), Next> {
        let whole = AddressUse::of_copy(of.space, RESPONSE_BYTES, true);
        let (to, at) = self.address(state, of.response, &whole).ok_or(Next::Stop)?;
        let object = self.object(state, of.object, of.space, false).ok_or(Next::Stop)?;
        if !self.is_own(to[0].pa) || !self.is_own(object.0.pa) {
            self.misused(state);
            return Err(Next::Stop);
        }
        let receivers = if of.multicast {
            self.each_cta(EVERY_CTA, &to, Some(object))
        } else {
            vec![(to, Some(object))]
        };
        if state.events.len() + 2 * receivers.len() > MAX_EVENTS {
            return Err(Next::Limit(UnfoldLimit::Events));
        }
        let mut failed = state.clone();
        respond(&mut failed, &receivers, 0, at, guard);
        failed.heads.clear();
        failed.pc += 1;
        failed.step += 1;
        self.pending.push(failed);
        let response = self.next_cluster(state);
        respond(state, &receivers, response, at, guard);
        Ok(())
    }

    /// A response with the first CTA of a cluster that no other request of the test receives: after all CTAs of the
    /// test, numbered by threads and their requests.
    fn next_cluster(&self, state: &PathState) -> Value {
        let requests = state.events.iter().filter(|event| event.tags.has(Tag::Cancel));
        let mut earlier: Vec<u16> =
            requests.filter_map(|event| Some(event.part?.operation)).collect();
        earlier.dedup();
        let threads = &self.program.threads;
        let number = earlier.len() * threads.len() + usize::from(self.thread.0);
        let ctas = threads.iter().map(|thread| thread.placement.cta).max().unwrap_or(0);
        let first = u64::from(ctas) + 1 + number as u64;
        Value::from(first) | 1 << CANCELED_BIT
    }
}

fn respond(
    state: &mut PathState,
    receivers: &[Receiver],
    response: Value,
    at: ComputedAddress,
    guard: Mask,
) {
    let first = state.next_event();
    let of = AsyncOperation { first, issued: first, guard };
    let value = state.exprs.constant(response);
    for (to, _) in receivers {
        for &access in to {
            part_write(state, Part::weak(access, at, Tag::AsyncProxy, of), value, 0);
            let event = state.last();
            event.tags = event.tags.with(Tag::Cancel);
            if response == 0 {
                event.tags = event.tags.with(Tag::CancelFailed);
            }
        }
    }
    for object in receivers.iter().filter_map(|(_, object)| *object) {
        let step = MbarrierStep::Tx(-i64::from(RESPONSE_BYTES));
        Walk::complete_on(state, object, step, first, first, Tag::Generic, guard);
    }
}
