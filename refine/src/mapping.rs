//! The published mapping of C++ operations to PTX: what a context is on the target's side.

use std::cell::RefCell;
use std::collections::BTreeMap;

use sass::lowering;

use super::step::{AccessOrder, Step};
use super::table;

/// The instructions of one operation, by the table that comes with the program; a step that is none
/// of C++ stays as it is. `unordered`, which LLVM IR has and C++ has not, becomes what `relaxed` does.
pub fn to_ptx(step: Step) -> Vec<Step> {
    let step = if let Step::Access { act, at, order: AccessOrder::Unordered, scope } = step {
        Step::access(act, at, AccessOrder::Relaxed, scope)
    } else {
        step
    };
    thread_local! {
        // Contexts ask the same few steps for every question, and an answer is read from text.
        static KNOWN: RefCell<BTreeMap<Step, Vec<Step>>> = const { RefCell::new(BTreeMap::new()) };
    }
    KNOWN.with_borrow_mut(|known| {
        let mapped = || table::mapped(step, lowering::published_mapping());
        known.entry(step).or_insert_with(|| mapped().unwrap_or_else(|| vec![step])).clone()
    })
}
