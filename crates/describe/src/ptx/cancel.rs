//! What `clusterlaunchcontrol.try_cancel` means.

use model::isa::asynchronous::Cancel;
use model::section::{self, Section};

use super::words::said;
use super::{CitedText, InstructionMeaning};

pub(super) fn meaning(of: &Cancel, page: Section) -> InstructionMeaning {
    let here = |text: &'static str| -> CitedText { said(page, text) };
    let mut meaning = InstructionMeaning::new(here(
        "asks to cancel the launch of a cluster that has not started; asynchronous",
    ));
    let receives = if of.multicast { "each CTA of the cluster" } else { "the CTA of the thread" };
    let response =
        format!("a write of the 16 bytes of the response in {receives}: weak, async proxy");
    meaning.events.push(said(page, response));
    let completes = "then complete-tx of 16 bytes on the mbarrier object of that CTA, `.release.cluster`, generic proxy";
    meaning.events.push(here(completes));
    meaning.promises.push(here(
        "a response that says yes has the `ctaid` of the first CTA of a cluster that no other such response has",
    ));
    let seen = "who waits for the phase, with `.acquire`, sees the response, and not what this thread did before";
    meaning.promises.push(said(section::ASYNC_OPERATIONS, seen));
    meaning.limits.push(here(
        "when its CTA has observed a response that says no, a further request is undefined",
    ));
    let again = "a load of the response before the next request into the same bytes needs a fence of the async proxy between";
    meaning.limits.push(said(section::ASYNC_PROXY, again));
    if of.multicast {
        meaning.limits.push(here("undefined if any CTA of the cluster has exited"));
    }
    meaning
}
