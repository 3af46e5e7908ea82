//! The promises of the machine's instructions, expressed as PTX operations: the effect that NVIDIA's own
//! lowering implies for each form of an instruction.
//!
//! If the text shows no waits, the value of each load is assumed to be available before the instructions that
//! follow (readings R82 and R60). A promise is a claim about instructions (reading R80), not a run of the
//! machine.

use std::cell::RefCell;

use model::isa::atom::AtomicOrder;
use model::isa::fence::FenceOrder;
use model::scope::Scope;
use rustc_hash::FxHashMap;
use sass::lowering::{self, LoweringTable};
use sass::promise::{self, OrderingWord, Promise, Promised};

use super::inclusion::MachineTarget;
use super::item::{TargetAccess, TargetItem};
use super::ptx_items::UncoveredInstruction;
use super::step::{AccessKind, AccessOrder, Step, TestLocation};
use super::token::{OrderToken, shows_waits, tokens};

/// Reads instruction names separated by `;`, with or without operands, as the items that they promise.
pub fn items(text: &str) -> Result<Vec<TargetItem>, UncoveredInstruction> {
    Ok(promised(tokens(text)?, shows_waits(text)))
}

fn promised(mut tokens: Vec<OrderToken>, shown: bool) -> Vec<TargetItem> {
    let words: Vec<OrderingWord> = tokens.iter().map(|token| token.word).collect();
    let mut items: Vec<TargetItem> = Vec::new();
    for Promised { word, promise, .. } in promise::promised(&words) {
        match promise {
            Promise::Fence(FenceOrder::Acquire, Scope::Sys)
                if items.last().is_some_and(is_full) => {}
            Promise::Fence(order, scope) => items.push(fence(order, scope)),
            Promise::Bar => items.push(TargetItem::Step(Step::Barrier { id: 0, count: None })),
            Promise::ClusterArrive => {
                items.push(TargetItem::Step(Step::ClusterArrive { relaxed: true }));
            }
            Promise::ClusterWait { acquires: true } => {
                items.push(TargetItem::Step(Step::ClusterWait));
            }
            // A wait that orders nothing can be omitted.
            Promise::ClusterWait { acquires: false } => {}
            Promise::Access | Promise::AcqRel | Promise::Release | Promise::Acquire => {
                let Some(mut done) = tokens[word].access.take() else { continue };
                match promise.order_of_atomic() {
                    AtomicOrder::Relaxed => {}
                    AtomicOrder::Acquire => done.order = AccessOrder::Acquire,
                    AtomicOrder::Release => done.order = AccessOrder::Release,
                    AtomicOrder::AcqRel => done.order = AccessOrder::AcqRel,
                }
                access(*done, shown, &mut items);
            }
        }
    }
    items
}

/// Whether an item is a fence that already acquires at system scope.
fn is_full(item: &TargetItem) -> bool {
    matches!(
        item,
        TargetItem::Step(Step::Fence {
            order: FenceOrder::AcqRel | FenceOrder::Sc,
            scope: Scope::Sys
        })
    )
}

fn fence(order: FenceOrder, scope: Scope) -> TargetItem {
    TargetItem::Step(Step::Fence { order, scope })
}

fn access(done: TargetAccess, shown: bool, items: &mut Vec<TargetItem>) {
    let granted = !shown && done.act.shows();
    items.push(TargetItem::Access(Box::new(done)));
    if granted {
        items.push(fence(FenceOrder::Acquire, Scope::Cta));
    }
}

/// A table's lowering of a PTX access or fence, as text; `None` if the table has no row for it. Without a
/// table, the built-in one is used. `remote`: the access is to shared memory of another CTA.
pub(super) fn sass(
    step: Step,
    machine: MachineTarget,
    table: Option<&LoweringTable>,
    remote: bool,
) -> Option<String> {
    let mut families = lowering::families().iter().map(|family| &family.table);
    let own = table.filter(|table| table.targets.contains(&machine.sm));
    let table = own.or_else(|| families.find(|table| table.targets.contains(&machine.sm)))?;
    let (opcode, parts): (&str, Vec<&str>) = match step {
        Step::Access { act, at, order, scope } => {
            let space = match (machine.shared && at == TestLocation::Y, remote) {
                (false, _) => "global",
                (true, false) => "shared",
                (true, true) => "shared::cluster",
            };
            let (opcode, operation): (&str, &[&str]) = match act {
                AccessKind::Load => ("ld", &[]),
                AccessKind::Store => ("st", &[]),
                AccessKind::Swap | AccessKind::Overwrite | AccessKind::Reduce => {
                    ("atom", &["exch"])
                }
                AccessKind::CompareExchange(_) | AccessKind::Probe => ("atom", &["cas"]),
            };
            // The strongest order of a PTX access is `acq_rel`.
            let name = order.min(AccessOrder::AcqRel).name();
            let order: &[&str] =
                if order < AccessOrder::Relaxed { &[] } else { &[name, scope.name()] };
            (opcode, [order, &[space], operation, &["b32"]].concat())
        }
        Step::Fence { order, scope } => ("fence", vec![order.name(), scope.name()]),
        Step::Barrier { .. } => ("bar", vec!["sync"]),
        Step::ClusterArrive { relaxed: false } => ("barrier", vec!["cluster", "arrive"]),
        Step::ClusterArrive { relaxed: true } => ("barrier", vec!["cluster", "arrive", "relaxed"]),
        Step::ClusterWait => ("barrier", vec!["cluster", "wait"]),
        Step::Guard => return None,
    };
    table.find(machine.sm, opcode, &parts)
}

/// Whether a step is an acquire, which waits for its loads even if the text shows no wait.
fn acquires(step: Step) -> bool {
    match step {
        Step::Access { act, order, .. } => {
            order.is_acquire() && !matches!(act, AccessKind::Reduce | AccessKind::Store)
        }
        Step::Fence { order, .. } => order != FenceOrder::Release,
        Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait | Step::Guard => {
            false
        }
    }
}

/// The lowering of a PTX step by the table of a target, as promises; `None` if the table has no row for it.
pub fn reference(step: Step, machine: MachineTarget) -> Option<Vec<Step>> {
    by_table(step, machine, None)
}

type PromiseCache = FxHashMap<(Step, MachineTarget), Option<Vec<Step>>>;

thread_local! {
    /// Cached lowerings by the built-in tables.
    static KNOWN: RefCell<PromiseCache> = RefCell::default();
}

/// The same with a table other than the built-in one.
pub(super) fn by_table(
    step: Step,
    machine: MachineTarget,
    table: Option<&LoweringTable>,
) -> Option<Vec<Step>> {
    if table.is_some() {
        return found(step, machine, table);
    }
    KNOWN.with_borrow_mut(|known| {
        known.entry((step, machine)).or_insert_with(|| found(step, machine, None)).clone()
    })
}

fn found(step: Step, machine: MachineTarget, table: Option<&LoweringTable>) -> Option<Vec<Step>> {
    if !matches!(step, Step::Access { .. } | Step::Fence { .. }) {
        return Some(vec![step]);
    }
    let text = sass(step, machine, table, false)?;
    let mut tokens = tokens(&text).ok()?;
    let invalidates = tokens.iter().any(|token| token.word == OrderingWord::Invalidate);
    if machine.waits && acquires(step) && !invalidates {
        tokens.push(OrderingWord::Wait.into());
    }
    let place = if let Step::Access { at, act, .. } = step {
        (at, act)
    } else {
        (TestLocation::Y, AccessKind::Load)
    };
    let steps = promised(tokens, machine.waits).into_iter().map(|item| match item {
        TargetItem::Access(done) => Step::access(place.1, place.0, done.order, done.scope),
        TargetItem::Step(step) => step,
        TargetItem::Label(_) | TargetItem::Branch { .. } => Step::Guard,
    });
    Some(steps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::steps;
    use crate::step::line;

    fn lifted(text: &str) -> String {
        let items = items(text).unwrap_or_else(|why| panic!("{text}: {why:?}"));
        line(&steps(&items, |done, _| done.act))
    }

    fn on(sm: u16, shared: bool) -> MachineTarget {
        MachineTarget { sm, shared, waits: false }
    }

    #[test]
    fn sequences_promise_what_their_fences_do_together() {
        assert_eq!(
            lifted("LDG.E.STRONG.GPU ; CCTL.IVALL"),
            "ld.relaxed.gpu y; fence.acquire.cta; fence.acquire.sys"
        );
        assert_eq!(
            lifted("MEMBAR.SC.GPU ; ERRBAR ; CGAERRBAR ; CCTL.IVALL"),
            "fence.sc.gpu; fence.acquire.sys"
        );
        assert_eq!(lifted("MEMBAR.SC.SYS ; ERRBAR ; CCTL.IVALL"), "fence.sc.sys");
        assert_eq!(
            lifted("MEMBAR.ALL.SYS ; ERRBAR ; STG.E.STRONG.SYS"),
            "fence.release.sys; fence.acq_rel.cta; st.relaxed.sys y"
        );
        assert_eq!(
            lifted("MEMBAR.ALL.GPU ; ERRBAR ; ATOMG.E.ADD.STRONG.GPU ; CCTL.IVALL"),
            "fence.release.gpu; fence.acq_rel.cta; swap.acq_rel.gpu y; fence.acquire.cta; fence.acquire.sys"
        );
        assert_eq!(lifted("LDS ; ATOMS.CAST.SPIN"), "cas.relaxed.sys y; fence.acquire.cta");
        assert_eq!(
            lifted("@P0 MEMBAR.ALL.CTA; @P0 REDG.E.ADD.STRONG.SM desc[UR4][R2.64], R5"),
            "fence.acq_rel.cta; red.release.cta y"
        );
        assert_eq!(lifted("(none)"), "nothing");
        assert_eq!(lifted("UCGABAR_WAIT ; CCTL.IVALL"), "cluster.wait; fence.acquire.sys");
        assert_eq!(lifted("CCTL.IVALL ; UCGABAR_WAIT"), "fence.acquire.sys");
    }

    #[test]
    fn waits_that_are_shown_are_not_granted() {
        let shown = "LDG.E.STRONG.SM R2, [R4] &wr=0 ; NOP &req={0}";
        assert_eq!(lifted(shown), "ld.relaxed.cta y; fence.acquire.cta");
        assert_eq!(lifted("LDG.E.STRONG.SM R2, [R4] &wr=0"), "ld.relaxed.cta y");
        let after = "LDG.E &wr=0 ; STG.E.STRONG.SM &req={0}";
        assert_eq!(lifted(after), "ld.weak y; fence.acquire.cta; st.relaxed.cta y");
    }

    #[test]
    fn the_tables_lower_what_contexts_are_made_of() {
        let load =
            Step::access(AccessKind::Load, TestLocation::X, AccessOrder::Acquire, Scope::Gpu);
        let steps = reference(load, on(90, false)).expect("the table has it");
        assert_eq!(line(&steps), "ld.relaxed.gpu x; fence.acquire.cta; fence.acquire.sys");
        let narrow =
            Step::access(AccessKind::Store, TestLocation::X, AccessOrder::Release, Scope::Cluster);
        assert!(reference(narrow, on(70, false)).is_none());
        for family in lowering::families().iter().filter(|family| family.name != "maxwell") {
            let first = family.table.targets[0];
            // The answer for one target holds for its family.
            for &sm in &family.table.targets {
                for scope in Scope::ALL {
                    for order in [
                        AccessOrder::Weak,
                        AccessOrder::Relaxed,
                        AccessOrder::Acquire,
                        AccessOrder::Release,
                    ] {
                        for act in [AccessKind::Load, AccessKind::Store, AccessKind::Swap] {
                            let step = Step::access(act, TestLocation::Y, order, scope);
                            assert_eq!(
                                reference(step, on(sm, false)),
                                reference(step, on(first, false)),
                                "{step} on sm_{sm}"
                            );
                        }
                    }
                }
            }
        }
        for sm in [70, 75, 80, 86, 89, 90, 100, 103, 120] {
            for scope in [Scope::Cta, Scope::Gpu, Scope::Sys] {
                for act in [AccessKind::Load, AccessKind::Store, AccessKind::Swap] {
                    let step = Step::access(act, TestLocation::Y, AccessOrder::Relaxed, scope);
                    assert!(reference(step, on(sm, true)).is_some(), "{step} on sm_{sm}");
                }
            }
        }
    }
}
