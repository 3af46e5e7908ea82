//! The promises of SASS instructions, expressed in PTX. This is their only definition, for rows, tables, columns
//! and listings.
//!
//! Promises follow from NVIDIA's own lowering: an instruction must keep at least the order of the PTX from which
//! it is generated. A sequence promises at least what its parts promise, and a wider instruction at least what a
//! narrower one promises. An additional `MEMBAR` or `CCTL` never removes a promise.

mod table;

use machine::form::{AccessLevel, LoweredInstruction, MachineOp, MembarScope};
use model::isa::atom::AtomicOrder;
use model::isa::fence::FenceOrder;
use model::scope::Scope;

pub use table::table;

/// How an access touches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordAccess {
    /// It reads or writes.
    Single,
    /// It reads and writes at once, and returns nothing.
    Reduction,
    /// It reads and writes at once, and returns what it read.
    Atomic,
}

/// A word, as far as it matters to the order of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderingWord {
    Access {
        level: AccessLevel,
        access: WordAccess,
    },
    Membar {
        /// `.SC`, not `.ALL`.
        sc: bool,
        reach: MembarScope,
    },
    /// `CCTL.IVALL`
    Invalidate,
    /// What needs a scoreboard: all loads before it are there.
    Wait,
    /// `BAR`
    Bar,
    ClusterArrive,
    ClusterWait,
}

/// What a word promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promise {
    Fence(FenceOrder, Scope),
    /// The access, with the strength of its level.
    Access,
    /// The access, as an `acq_rel` atomic at its scope (reading R66).
    AcqRel,
    /// The access, as a `release` atomic at its scope (reading R66).
    Release,
    /// The access, as an `acquire` atomic at its scope (reading R66).
    Acquire,
    Bar,
    /// A relaxed arrival at the barrier of the cluster; the fences before it order what it releases.
    ClusterArrive,
    /// A wait for the barrier of the cluster.
    ClusterWait {
        /// Whether a `CCTL.IVALL` after it makes it an acquire. Without one it orders nothing.
        acquires: bool,
    },
}

impl Promise {
    /// The order of an atomic with this promise.
    pub fn order_of_atomic(self) -> AtomicOrder {
        match self {
            Promise::AcqRel => AtomicOrder::AcqRel,
            Promise::Release => AtomicOrder::Release,
            Promise::Acquire => AtomicOrder::Acquire,
            Promise::Access
            | Promise::Fence(..)
            | Promise::Bar
            | Promise::ClusterArrive
            | Promise::ClusterWait { .. } => AtomicOrder::Relaxed,
        }
    }
}

/// One promise of a sequence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promised {
    /// The index of the word that it is of.
    pub word: usize,
    pub promise: Promise,
    /// What the machine does there; nothing where another promise has it.
    pub lowered: LoweredInstruction,
}

/// The scope that the level of a strong access promises; `None` of a weak one. Shared memory is one array.
pub fn scope(level: AccessLevel) -> Option<Scope> {
    match level {
        AccessLevel::Weak | AccessLevel::ReadOnly => None,
        AccessLevel::Sm => Some(Scope::Cta),
        AccessLevel::Gpu => Some(Scope::Gpu),
        AccessLevel::Sys | AccessLevel::Own => Some(Scope::Sys),
    }
}

/// The scope that a load or a store promises, by its level and modifiers (reading R98): cache operators order
/// nothing, though the machine passes by L1 for them.
pub fn scope_of_access(level: AccessLevel, has: impl Fn(&str) -> bool) -> Option<Scope> {
    let operator = !has("STRONG") && (has("CG") || has("LU"));
    scope(level).filter(|_| !operator)
}

/// The scope of a fence.
pub fn reach(reach: MembarScope) -> Scope {
    match reach {
        MembarScope::Cta => Scope::Cta,
        MembarScope::Gpu => Scope::Gpu,
        MembarScope::Sys => Scope::Sys,
    }
}

impl OrderingWord {
    /// The words of an instruction that does this; `None` where no text shows what it does.
    pub fn of(form: MachineOp, access: WordAccess) -> Option<OrderingWord> {
        Some(match form {
            MachineOp::Access(level) => OrderingWord::Access { level, access },
            MachineOp::Membar(reach) => OrderingWord::Membar { sc: true, reach },
            MachineOp::MembarAll(reach) => OrderingWord::Membar { sc: false, reach },
            MachineOp::Invalidate => OrderingWord::Invalidate,
            MachineOp::AcquireWait | MachineOp::Asynchronous(_) => return None,
            MachineOp::Bar => OrderingWord::Bar,
            MachineOp::ClusterArrive => OrderingWord::ClusterArrive,
            MachineOp::ClusterWait => OrderingWord::ClusterWait,
        })
    }

    /// An instruction that may occur between the parts of one fence.
    fn is_of_fences(self) -> bool {
        matches!(self, OrderingWord::Membar { .. } | OrderingWord::Invalidate | OrderingWord::Wait)
    }
}

/// The words of fences right after the first `from` words, and right before.
fn after(words: &[OrderingWord], from: usize) -> impl Iterator<Item = (usize, OrderingWord)> {
    let all = words.iter().copied().enumerate().skip(from);
    all.take_while(|(_, word)| word.is_of_fences())
}

fn before(words: &[OrderingWord], until: usize) -> impl Iterator<Item = (usize, OrderingWord)> {
    let all = words.iter().copied().enumerate().take(until).rev();
    all.take_while(|(_, word)| word.is_of_fences())
}

fn invalidates(words: &[OrderingWord], from: usize) -> Option<usize> {
    after(words, from).find(|(_, word)| *word == OrderingWord::Invalidate).map(|(index, _)| index)
}

/// Reading R66: the `MEMBAR` that an atomic is one unit with, and how far.
fn release(words: &[OrderingWord], at: usize) -> Option<(usize, MembarScope)> {
    let OrderingWord::Access { level, access } = words[at] else { return None };
    if access == WordAccess::Single || level == AccessLevel::Own {
        return None;
    }
    let scope = scope(level)?;
    let membars = before(words, at).filter_map(|(index, word)| {
        if let OrderingWord::Membar { reach, .. } = word { Some((reach, index)) } else { None }
    });
    let (farthest, membar) = membars.max()?;
    // An atomic that goes farther than its fence is more than the two are together.
    (scope <= reach(farthest)).then_some((membar, farthest))
}

/// Reading R66: whether an atomic is one unit with a `CCTL.IVALL` after it. A reduction acquires nothing (8.11).
fn acquires(words: &[OrderingWord], at: usize) -> bool {
    let OrderingWord::Access { level, access: WordAccess::Atomic } = words[at] else {
        return false;
    };
    scope(level).is_some() && invalidates(words, at + 1).is_some()
}

/// Reading R66: the `MEMBAR` and the `CCTL` that an atomic is one unit with, and how far.
fn unit(words: &[OrderingWord], at: usize) -> Option<(usize, usize, MembarScope)> {
    let (membar, farthest) = release(words, at)?;
    let last = invalidates(words, at + 1)?;
    (farthest > MembarScope::Cta).then_some((membar, last, farthest))
}

/// What each word of a sequence promises, in order. The words are of one thread, one after the other: no branch
/// leads between them.
pub fn promised(words: &[OrderingWord]) -> Vec<Promised> {
    let units: Vec<Option<(usize, usize, MembarScope)>> =
        (0..words.len()).map(|at| unit(words, at)).collect();
    let in_unit =
        |at: usize| units.iter().flatten().any(|&(membar, last, _)| [membar, last].contains(&at));
    let mut all = Vec::new();
    for (at, &word) in words.iter().enumerate() {
        let mut add = |promise: Promise, forms: &[MachineOp]| {
            let forms = if in_unit(at) { Vec::new() } else { forms.to_vec() };
            all.push(Promised {
                word: at,
                promise,
                lowered: LoweredInstruction { forms, fused: None },
            });
        };
        match word {
            OrderingWord::Membar { sc, reach: far } => {
                let order = if sc { FenceOrder::Sc } else { FenceOrder::AcqRel };
                let form = if sc { MachineOp::Membar(far) } else { MachineOp::MembarAll(far) };
                if far == MembarScope::Cta || invalidates(words, at + 1).is_some() {
                    add(Promise::Fence(order, reach(far)), &[form]);
                } else {
                    // It waits for the thread's own loads, and drops no lines.
                    add(Promise::Fence(FenceOrder::Release, reach(far)), &[form]);
                    add(Promise::Fence(order, Scope::Cta), &[]);
                }
            }
            OrderingWord::Invalidate => {
                add(Promise::Fence(FenceOrder::Acquire, Scope::Sys), &[MachineOp::Invalidate]);
            }
            OrderingWord::Wait => {
                add(Promise::Fence(FenceOrder::Acquire, Scope::Cta), &[MachineOp::AcquireWait]);
            }
            OrderingWord::Bar => add(Promise::Bar, &[MachineOp::Bar]),
            OrderingWord::ClusterArrive => add(Promise::ClusterArrive, &[MachineOp::ClusterArrive]),
            OrderingWord::ClusterWait => {
                let acquires = invalidates(words, at + 1).is_some();
                add(Promise::ClusterWait { acquires }, &[MachineOp::ClusterWait]);
            }
            OrderingWord::Access { level, .. } => match units[at] {
                None => {
                    let promise = match (release(words, at).is_some(), acquires(words, at)) {
                        (true, true) => Promise::AcqRel,
                        (true, false) => Promise::Release,
                        (false, true) => Promise::Acquire,
                        (false, false) => Promise::Access,
                    };
                    add(promise, &[MachineOp::Access(level)]);
                }
                Some((membar, _, far)) => {
                    let sc = matches!(words[membar], OrderingWord::Membar { sc: true, .. });
                    let first = if sc { MachineOp::Membar(far) } else { MachineOp::MembarAll(far) };
                    let forms = vec![first, MachineOp::Access(level), MachineOp::Invalidate];
                    let lowered = LoweredInstruction { forms, fused: Some(far) };
                    all.push(Promised { word: at, promise: Promise::AcqRel, lowered });
                }
            },
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn membars() -> impl Iterator<Item = OrderingWord> {
        [false, true].into_iter().flat_map(|sc| {
            [MembarScope::Cta, MembarScope::Gpu, MembarScope::Sys]
                .map(|reach| OrderingWord::Membar { sc, reach })
        })
    }

    fn alphabet() -> Vec<OrderingWord> {
        let accesses = [
            OrderingWord::Access { level: AccessLevel::Weak, access: WordAccess::Single },
            OrderingWord::Access { level: AccessLevel::Gpu, access: WordAccess::Atomic },
            OrderingWord::Access { level: AccessLevel::Gpu, access: WordAccess::Reduction },
            OrderingWord::Access { level: AccessLevel::Sys, access: WordAccess::Atomic },
        ];
        let rest =
            [OrderingWord::Invalidate, OrderingWord::ClusterArrive, OrderingWord::ClusterWait];
        membars().chain(accesses).chain(rest).collect()
    }

    fn keeps(more: Promise, less: Promise) -> bool {
        match (more, less) {
            (Promise::Fence(more, wide), Promise::Fence(less, narrow)) => {
                let order = more == less
                    || more == FenceOrder::Sc
                    || more == FenceOrder::AcqRel && less != FenceOrder::Sc;
                order && wide >= narrow
            }
            (Promise::AcqRel, Promise::Access | Promise::Release | Promise::Acquire)
            | (Promise::Release | Promise::Acquire, Promise::Access) => true,
            (Promise::ClusterWait { acquires }, Promise::ClusterWait { acquires: less }) => {
                acquires || !less
            }
            _ => more == less,
        }
    }

    /// The promises between one word that is not a fence and the next, and those of these words.
    fn parts(words: &[OrderingWord]) -> Vec<Vec<Promise>> {
        let mut all = vec![Vec::new()];
        for Promised { promise, .. } in promised(words) {
            if matches!(promise, Promise::Fence(..)) {
                all.last_mut().expect("one is there").push(promise);
            } else {
                all.extend([vec![promise], Vec::new()]);
            }
        }
        all
    }

    fn keeps_all(more: &[OrderingWord], less: &[OrderingWord]) -> bool {
        let (more, less) = (parts(more), parts(less));
        more.len() == less.len()
            && more.iter().zip(&less).all(|(more, less)| {
                less.iter().all(|&less| more.iter().any(|&more| keeps(more, less)))
            })
    }

    #[test]
    fn another_fence_or_a_wider_one_takes_no_promise_away() {
        let alphabet = alphabet();
        let mut sequences = vec![Vec::new()];
        for length in 0..4 {
            let longest = sequences.iter().filter(|one: &&Vec<OrderingWord>| one.len() == length);
            let longer = longest
                .flat_map(|one| alphabet.iter().map(move |&word| [&one[..], &[word]].concat()));
            let longer: Vec<Vec<OrderingWord>> = longer.collect();
            sequences.extend(longer);
        }
        for words in &sequences {
            for at in 0..=words.len() {
                for word in membars().chain([OrderingWord::Invalidate]) {
                    let longer = [&words[..at], &[word], &words[at..]].concat();
                    assert!(keeps_all(&longer, words), "{longer:?}\n{words:?}");
                }
                let Some(&OrderingWord::Membar { sc, reach }) = words.get(at) else { continue };
                for wider in membars() {
                    let OrderingWord::Membar { sc: more, reach: far } = wider else { continue };
                    if more >= sc && far >= reach {
                        let changed = [&words[..at], &[wider], &words[at + 1..]].concat();
                        assert!(keeps_all(&changed, words), "{changed:?}\n{words:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_atomic_is_one_unit_with_the_words_around_it() {
        let membar = |reach| OrderingWord::Membar { sc: false, reach };
        let atomic = |level| OrderingWord::Access { level, access: WordAccess::Atomic };
        let is = |promise: Promise, words: &[OrderingWord]| {
            promised(words).iter().any(|one| one.promise == promise)
        };
        let whole = |words: &[OrderingWord]| is(Promise::AcqRel, words);
        let (gpu, sys) = (MembarScope::Gpu, MembarScope::Sys);
        assert!(whole(&[membar(gpu), atomic(AccessLevel::Gpu), OrderingWord::Invalidate]));
        assert!(whole(&[membar(sys), atomic(AccessLevel::Gpu), OrderingWord::Invalidate]));
        assert!(whole(&[
            membar(gpu),
            OrderingWord::Invalidate,
            atomic(AccessLevel::Gpu),
            OrderingWord::Invalidate
        ]));
        assert!(!whole(&[membar(gpu), atomic(AccessLevel::Sys), OrderingWord::Invalidate]));
        assert!(!whole(&[membar(gpu), atomic(AccessLevel::Own), OrderingWord::Invalidate]));
        assert!(!whole(&[membar(gpu), atomic(AccessLevel::Gpu)]));
        assert!(is(Promise::Release, &[membar(gpu), atomic(AccessLevel::Gpu)]));
        assert!(is(Promise::Release, &[membar(MembarScope::Cta), atomic(AccessLevel::Sm)]));
        assert!(!is(Promise::Release, &[membar(gpu), atomic(AccessLevel::Sys)]));
        assert!(!is(Promise::Release, &[membar(sys), atomic(AccessLevel::Own)]));
        let acquires = |words: &[OrderingWord]| is(Promise::Acquire, words);
        assert!(acquires(&[atomic(AccessLevel::Gpu), OrderingWord::Invalidate]));
        assert!(acquires(&[atomic(AccessLevel::Own), OrderingWord::Invalidate]));
        assert!(acquires(&[
            membar(gpu),
            atomic(AccessLevel::Sys),
            OrderingWord::Wait,
            OrderingWord::Invalidate
        ]));
        assert!(!acquires(&[OrderingWord::Invalidate, atomic(AccessLevel::Gpu)]));
        let reduction = |level| OrderingWord::Access { level, access: WordAccess::Reduction };
        assert!(!acquires(&[reduction(AccessLevel::Gpu), OrderingWord::Invalidate]));
        assert!(is(Promise::Release, &[membar(gpu), reduction(AccessLevel::Gpu)]));
        let cta = membar(MembarScope::Cta);
        assert!(whole(&[cta, atomic(AccessLevel::Sm), OrderingWord::Invalidate]));
        assert!(!whole(&[atomic(AccessLevel::Gpu), OrderingWord::Invalidate]));
        let weak = OrderingWord::Access { level: AccessLevel::Weak, access: WordAccess::Single };
        assert!(!whole(&[membar(gpu), weak, atomic(AccessLevel::Gpu), OrderingWord::Invalidate]));
    }

    #[test]
    fn every_form_is_done_once() {
        let words = [
            OrderingWord::Membar { sc: false, reach: MembarScope::Gpu },
            OrderingWord::Access { level: AccessLevel::Gpu, access: WordAccess::Atomic },
            OrderingWord::Invalidate,
            OrderingWord::ClusterWait,
        ];
        let forms: Vec<MachineOp> =
            promised(&words).into_iter().flat_map(|one| one.lowered.forms).collect();
        let all = [
            MachineOp::MembarAll(MembarScope::Gpu),
            MachineOp::Access(AccessLevel::Gpu),
            MachineOp::Invalidate,
            MachineOp::ClusterWait,
        ];
        assert_eq!(forms, all);
    }
}
