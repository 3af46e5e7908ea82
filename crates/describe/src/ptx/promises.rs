//! What strong, weak, acquire and release accesses promise, and what they do not promise.

use model::isa::SpaceQualifier;
use model::scope::Scope;
use model::section;

use super::InstructionMeaning;
use super::memory::ExplainedAccess;
use super::words::said;

/// Readings R12 and R35.
pub(super) fn read_only(access: &ExplainedAccess, meaning: &mut InstructionMeaning) {
    meaning.promises.push(said(
        access.page,
        "where no thread writes the bytes while the kernel runs, it reads what they held at its start",
    ));
    meaning.limits.extend([
        said(
            access.page,
            "if any thread writes the bytes while the kernel runs, the behaviour is undefined, even if the two are synchronized",
        ),
        said(section::MEMORY_SYNCHRONIZATION, "it synchronizes with nothing, whatever it reads"),
    ]);
}

pub(super) fn weak_read(access: &ExplainedAccess, meaning: &mut InstructionMeaning) {
    if matches!(access.space, SpaceQualifier::Const | SpaceQualifier::ParamEntry) {
        meaning.promises.push(said(
            section::STATE_SPACES,
            "no kernel writes the bytes: it reads what they held when this one began",
        ));
        return;
    }
    meaning.promises.push(said(
        section::CAUSALITY,
        "it reads the last write that happens before it in causality order, if no other write of \
         the bytes races with it",
    ));
    if of_one_thread(access, meaning) {
        return;
    }
    meaning.limits.push(said(
        section::MEMORY_SYNCHRONIZATION,
        "it synchronizes with nothing, whatever it reads: do not wait for a flag with it",
    ));
    weak("a write", meaning);
    meaning.limits.push(said(
        section::ATOMICITY,
        "where it races, it may return some bytes of one write and some of another",
    ));
}

/// Whether no other thread can write the bytes. If so, adds that statement.
pub(super) fn of_one_thread(access: &ExplainedAccess, meaning: &mut InstructionMeaning) -> bool {
    if access.is_own() {
        let text = "no other thread can write the bytes: nothing races with it";
        meaning.promises.push(said(section::STATE_SPACES, text));
    }
    access.is_own()
}

/// The limits of weak accesses; `other` is the access that can race with it.
pub(super) fn weak(other: &str, meaning: &mut InstructionMeaning) {
    meaning.limits.extend([
        said(
            section::CONFLICT_AND_RACES,
            format!(
                "{other} of another thread to the same bytes, weak or strong, is a data race if \
                 causality order puts neither before the other"
            ),
        ),
        said(
            section::MIXED_SIZE_RACES,
            "where the two overlap in part only, such a race makes the behaviour undefined",
        ),
    ]);
}

/// The promises of strong accesses.
pub(super) fn morally_strong(
    scope: Scope,
    access: &ExplainedAccess,
    meaning: &mut InstructionMeaning,
) {
    if of_one_thread(access, meaning) {
        return;
    }
    meaning.promises.extend([
        said(
            section::MORALLY_STRONG,
            format!(
                "it is morally strong with each strong access of the same bytes through the same \
                 proxy, if the other's thread is in its scope (`.{scope}`) and its thread in the \
                 other's"
            ),
        ),
        said(section::CONFLICT_AND_RACES, "two accesses that are morally strong do not race"),
        said(
            section::SC_PER_LOCATION,
            "all threads see morally strong accesses of a location in one order",
        ),
        said(section::ATOMICITY, "a morally strong write is read whole or not at all"),
    ]);
    let outside = match scope {
        Scope::Cta => ", and with threads outside the CTA,",
        Scope::Cluster => ", and with threads outside the cluster,",
        Scope::Gpu => ", and with threads outside the GPU,",
        Scope::Sys => "",
    };
    meaning.limits.push(said(
        section::CONFLICT_AND_RACES,
        format!("with weak accesses{outside} it can race like a weak one"),
    ));
    if access.space.is_shared() && scope > Scope::Cluster {
        meaning.limits.push(said(
            section::STATE_SPACES,
            format!(
                "`.{scope}` adds nothing to `.cluster`: no thread outside the cluster can name \
                 shared memory"
            ),
        ));
    }
}

pub(super) fn relaxed_read(access: &ExplainedAccess, meaning: &mut InstructionMeaning) {
    if access.is_own() {
        return;
    }
    meaning.promises.push(said(
        section::RELEASE_ACQUIRE_PATTERNS,
        "with a fence after it in program order (`.acquire`, `.acq_rel` or `.sc`) it makes an acquire \
         pattern",
    ));
    meaning.limits.push(said(
        section::CAUSALITY_ORDER,
        "by itself it acquires nothing: later reads may return older values",
    ));
}

/// The promises of an acquire; `it` names the instruction or pattern.
pub(super) fn acquires(it: &str, meaning: &mut InstructionMeaning) {
    meaning.promises.extend([
        said(
            section::MEMORY_SYNCHRONIZATION,
            format!(
                "a release pattern synchronizes with {it} if it reads what the pattern wrote, or \
                 what atomics made of that, each morally strong with the next"
            ),
        ),
        said(
            section::CAUSALITY_ORDER,
            "then what happens before the release, in any thread, happens before what follows it \
             in program order",
        ),
    ]);
    meaning.limits.push(said(
        section::CAUSALITY_ORDER,
        "it does not order what precedes it in program order, nor anything if it reads a value \
         that no release pattern wrote",
    ));
}

/// The promises of a release; `it` names the instruction or pattern.
pub(super) fn releases(it: &str, meaning: &mut InstructionMeaning) {
    meaning.promises.extend([
        said(
            section::RELEASE_ACQUIRE_PATTERNS,
            format!(
                "{it} begins a release pattern, which later strong writes of its thread to the \
                     same location continue"
            ),
        ),
        said(
            section::MEMORY_SYNCHRONIZATION,
            "the pattern synchronizes with an acquire pattern that reads what it wrote, or what \
             atomics made of that, each morally strong with the next",
        ),
        said(
            section::CAUSALITY_ORDER,
            "then what precedes it in program order, and all that happens before that, happens \
             before what follows the acquire",
        ),
    ]);
    meaning.limits.push(said(
        section::CAUSALITY_ORDER,
        "it does not order what follows it in program order, nor anything for a thread that reads \
         it without acquiring",
    ));
}

pub(super) fn volatile(meaning: &mut InstructionMeaning) {
    meaning.promises.push(said(
        section::VOLATILE_OPERATION,
        "the compiler neither removes nor adds volatile instructions, nor changes their order",
    ));
    meaning.limits.extend([
        said(
            section::VOLATILE_OPERATION,
            "the GPU may merge, split, repeat and reorder the accesses of volatile instructions: \
             two of them have no order for other threads",
        ),
        said(section::VOLATILE_OPERATION, "it is not for registers of devices: `.mmio` is"),
    ]);
}

pub(super) fn mmio(meaning: &mut InstructionMeaning) {
    meaning.limits.push(said(
        section::MMIO_OPERATION,
        "this holds if the memory meets CUDA's requirements for atomics at scope `.sys`; the effect on a device depends on the device",
    ));
}

pub(super) fn relaxed_write(access: &ExplainedAccess, meaning: &mut InstructionMeaning) {
    if access.is_own() {
        return;
    }
    meaning.promises.push(said(
        section::RELEASE_ACQUIRE_PATTERNS,
        "with a fence before it in program order (`.release`, `.acq_rel` or `.sc`) it makes a release \
         pattern",
    ));
    meaning.limits.push(said(
        section::CAUSALITY_ORDER,
        "by itself it releases nothing: a thread that reads it may still see older values of what was written before it",
    ));
}
