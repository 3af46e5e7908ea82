//! What makes a program undefined, as the rule of the document that an execution breaks.

use execution::unfold::DIVERGED;
use model::section::{self, Section};

/// A sentence that ends with a colon, after which the instructions stand.
pub(super) fn text(reason: &str) -> String {
    rule(reason).map_or_else(
        || "A consistent execution does something that the document does not define:".to_owned(),
        |(Section { number, .. }, before, after)| format!("{before} ({number}){after}:"),
    )
}

/// The rule that a flag stands for, as one sentence without its end; `None` of another reason.
pub fn broken_rule(reason: &str) -> Option<String> {
    let (Section { number, .. }, before, after) = rule(reason)?;
    Some(format!("{before} ({number}){after}").replace('\n', " "))
}

/// The section of the rule, and the sentence before and after its number.
fn rule(reason: &str) -> Option<(Section, &'static str, &'static str)> {
    Some(match reason {
        "mixed-size-race" => (
            section::MIXED_SIZE_RACES,
            "A consistent execution has a race between accesses that overlap\npartially",
            ", so no axiom applies to the program",
        ),
        "non-coherent-read-of-written-data" => (
            section::LD_GLOBAL_NC,
            "`ld.global.nc`",
            " may only read\ndata that is not written during the kernel",
        ),
        "uniform-read-of-written-data" => {
            (section::LDU, "`ldu`", " may only read data\nthat is not written during the kernel")
        }
        "readonly-proxy-read-of-written-data" => (
            section::LD,
            "`ld.proxy::readonly`",
            " may only\nread data that is not written during the kernel",
        ),
        DIVERGED => {
            (section::LDU, "The address of an `ldu`", " is the\nsame in all threads of a warp")
        }
        "async-race" => (
            section::ASYNC_OPERATIONS,
            "The program has to order an asynchronous operation and other accesses of its bytes",
            ". A consistent execution\norders neither of these before the other",
        ),
        "mbarrier-uninitialized" => (
            section::MBARRIER_LIFECYCLE,
            "An operation on an mbarrier object is valid after its `mbarrier.init`, and before `mbarrier.inval`",
            ".\nIn a consistent execution nothing orders this one so",
        ),
        "mbarrier-data-access" => (
            section::MBARRIER_LIFECYCLE,
            "Only mbarrier operations access the bytes of an object that is initialized",
            "",
        ),
        "mbarrier-count" => (
            section::MBARRIER,
            "The counts of an mbarrier object have bounds",
            ": a phase has no more arrivals than it expects,\nand `.noComplete` does not complete one",
        ),
        "mbarrier-token" => (
            section::MBARRIER,
            "A thread waits with the state of the current phase or of the one before, and asks for the count in a state that\nan arrival with `.noComplete` returned",
            "",
        ),
        "async-size" => (
            section::ASYNC_OPERATIONS,
            "The operands of an asynchronous operation",
            " have a size, an alignment or a place that its instruction\ndoes not allow",
        ),
        "wgmma-register" => (
            section::of_opcode("wgmma.fence"),
            "The registers of a `wgmma` are accessed after the wait for its group",
            ", and a `wgmma.fence` is between\nanother access to a register and a `wgmma` with this register, and before the first `wgmma` of a thread",
        ),
        "tensor-unallocated" => (
            section::TENSOR_ALLOCATION,
            "Tensor memory is used, and deallocated, after its allocation",
            ". In a consistent execution no allocation\ncomes before this instruction",
        ),
        "tensor-deallocated" => (
            section::TENSOR_ALLOCATION,
            "Tensor memory is deallocated once, after the completion of each operation on it",
            ": loads and stores complete\nat a `tcgen05.wait`, others in the phase in which a `tcgen05.commit` arrives. In a consistent execution the deallocation does not\ncome after that",
        ),
        "tensor-relinquished" => (
            section::TENSOR_ALLOCATION,
            "A CTA that has relinquished the right to allocate tensor memory makes no other allocation",
            "",
        ),
        "clc-after-failure" => (
            section::TRY_CANCEL,
            "When a CTA has observed that a request to cancel a cluster failed",
            ", it makes no other",
        ),
        "multimem-mixed" => (
            section::MULTIMEM_ADDRESSES,
            "Only `multimem` instructions access a multimem address, and they access no other",
            "",
        ),
        _ => return None,
    })
}
