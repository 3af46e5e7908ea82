//! The published mapping of C++ operations to PTX, which lowers contexts for the target's side.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use sass::lowering::{self, LoweringTable};

use super::step::{AccessOrder, Step};
use super::table;

/// The instructions for one operation, by the built-in table. A step that is not a C++ operation stays as it
/// is. `unordered`, which LLVM IR has and C++ does not have, is mapped like `relaxed` (reading R104).
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

/// `unordered` as LLVM lowers it, which the published mapping does not know: reading R104.
pub(crate) fn weak_unordered() -> &'static LoweringTable {
    static TABLE: LazyLock<LoweringTable> = LazyLock::new(|| {
        own("load.unordered{scope} -> ld.weak\nstore.unordered{scope} -> st.weak\n")
    });
    &TABLE
}

/// Atomics that release more than the published mapping makes them release: their own read too.
pub(crate) fn releasing_atomics() -> &'static LoweringTable {
    static TABLE: LazyLock<LoweringTable> = LazyLock::new(|| {
        own("rmw.seq_cst{scope} -> fence.sc.{in} ; atom.acq_rel.{in}\n\
            cmpxchg.seq_cst{scope} -> fence.sc.{in} ; atom.acq_rel.{in}\n")
    });
    &TABLE
}

/// A table of C++ with these rows. Other operations have the published mapping.
fn own(rows: &str) -> LoweringTable {
    let scopes =
        "{scope} gives {in}\n  system = sys\n  device = gpu\n  cluster = cluster\n  block = cta\n";
    let text = format!("targets ptx\n\n{scopes}\n{rows}");
    lowering::read("mapping.table", &text).expect("a test reads it")
}

#[cfg(test)]
mod tests {
    use model::scope::Scope;

    use super::*;
    use crate::language::CXX;
    use crate::step::{AccessKind, TestLocation, line};

    #[test]
    fn tables_replace_one_operation_and_leave_the_others() {
        let step = |act, order| Step::access(act, TestLocation::Y, order, Scope::Gpu);
        let store = step(AccessKind::Store, AccessOrder::Unordered);
        let swap = step(AccessKind::Swap, AccessOrder::SeqCst);
        let becomes = |step, table| line(&CXX.to_ptx(step, table));
        assert_eq!(becomes(store, None), "st.relaxed.gpu y");
        assert_eq!(becomes(store, Some(weak_unordered())), "st.weak y");
        assert_eq!(becomes(store, Some(releasing_atomics())), "st.relaxed.gpu y");
        assert_eq!(becomes(swap, Some(weak_unordered())), "fence.sc.gpu; swap.acquire.gpu y");
        assert_eq!(becomes(swap, Some(releasing_atomics())), "fence.sc.gpu; swap.acq_rel.gpu y");
        let cas = step(AccessKind::CompareExchange(None), AccessOrder::SeqCst);
        assert_eq!(becomes(cas, Some(releasing_atomics())), "fence.sc.gpu; cas.acq_rel.gpu y");
    }
}
