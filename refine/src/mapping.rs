//! The published mapping of C++ operations to PTX, which lowers contexts for the target's side.

use std::cell::RefCell;
use std::collections::BTreeMap;

use sass::lowering;

use super::step::{AccessOrder, Step};
use super::table;

/// The instructions for one operation, by the built-in table. A step that is not a C++ operation stays as it
/// is. `unordered`, which LLVM IR has and C++ does not have, is mapped like `relaxed`.
pub fn to_ptx(step: Step) -> Vec<Step> {
    let step = if let Step::Access { act, at, order: AccessOrder::Unordered, scope } = step {
        Step::access(act, at, AccessOrder::Relaxed, scope)
    } else {
        step
    };
    thread_local! {
        // Contexts use the same few steps for every question, and each lowering is parsed from text.
        static KNOWN: RefCell<BTreeMap<Step, Vec<Step>>> = const { RefCell::new(BTreeMap::new()) };
    }
    KNOWN.with_borrow_mut(|known| {
        let mapped = || table::mapped(step, lowering::published_mapping());
        known.entry(step).or_insert_with(|| mapped().unwrap_or_else(|| vec![step])).clone()
    })
}
