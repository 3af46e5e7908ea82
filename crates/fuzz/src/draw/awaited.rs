//! Programs of asynchronous operations that the axioms order, as far as one instruction decides: what takes away a wait, a fence
//! of the async proxy or an order of an mbarrier object shows.
//!
//! Data is written, copied and read, by one thread or by two that meet at an object, at a barrier or at the end of a kernel.

use std::fmt::Write as _;

use litmus::arbitrary::{RandomProgram, RandomThread};
use proptest::prelude::any;
use proptest::strategy::{BoxedStrategy, Strategy};

use super::Dice;

/// The strategy for programs of one kernel.
pub(super) fn awaited() -> BoxedStrategy<RandomProgram> {
    any::<u64>().prop_map(|seed| awaiting(&mut Dice::new(seed))).boxed()
}

/// The strategy for programs of two kernels.
pub(super) fn launched() -> BoxedStrategy<RandomProgram> {
    any::<u64>().prop_map(|seed| launching(&mut Dice::new(seed))).boxed()
}

/// The cells of the threads of a program, with the object that they meet at.
#[derive(Default)]
struct AsyncDraft {
    columns: Vec<Vec<String>>,
    /// Arrivals that the object expects.
    arrivals: usize,
    /// Whether a thread initializes it.
    initialized: bool,
    registers: usize,
}

const HOMES: [&str; 5] = ["", "", "", " @home host", " @home gpu 1"];

impl AsyncDraft {
    fn line(&mut self, thread: usize, text: &str) {
        if self.columns.len() <= thread {
            self.columns.resize(thread + 1, Vec::new());
        }
        self.columns[thread].push(text.to_owned());
    }

    /// A line that is left out in one program of eight.
    fn needed(&mut self, dice: &mut Dice, thread: usize, text: &str) {
        if dice.below(8) > 0 {
            self.line(thread, text);
        }
    }

    fn load(&mut self, thread: usize, opcode: &str, at: &str) {
        let register = self.registers;
        self.registers += 1;
        self.line(thread, &format!("{opcode} r{register}, [{at}]"));
    }

    /// A wait until the object's first phase is complete, or a test whether it is.
    fn wait(&mut self, dice: &mut Dice, thread: usize, order: &str) {
        let number = self.registers;
        self.registers += 1;
        if dice.below(3) == 0 {
            let test =
                format!("mbarrier.test_wait.parity{order}.shared::cta.b64 p{number}, [b], 0");
            self.line(thread, &test);
        } else {
            let wait = format!("mbarrier.try_wait.parity{order}.shared::cta.b64 p, [b], 0");
            self.line(thread, &format!("L{number}: {wait}"));
            self.line(thread, &format!("@!p bra L{number}"));
        }
    }

    /// An arrival at the object and a wait for it, by two threads or by one.
    fn meet(&mut self, dice: &mut Dice, from: usize, to: usize) {
        if from != to && dice.below(8) == 0 {
            self.line(from, "bar.sync 0");
            self.line(to, "bar.sync 0");
            return;
        }
        let weak = dice.below(8) == 0;
        let order = if weak { ".relaxed.cta" } else { "" };
        self.line(from, &format!("mbarrier.arrive{order}.shared::cta.b64 _, [b]"));
        self.arrivals += 1;
        let order = if dice.below(8) == 0 { ".relaxed.cta" } else { "" };
        self.wait(dice, to, order);
    }

    /// The program, its threads in CTAs of these numbers, `g` at a home.
    fn program(self, ctas: &[usize], home: &str) -> RandomProgram {
        let initial = format!("={{{}}}", self.arrivals.max(1));
        let initial = if self.initialized { "" } else { &initial };
        let all: Vec<(&str, String, &str)> = vec![
            ("b", format!(".shared .mbarrier b{initial}"), ""),
            ("s", ".shared .b32 s[4]".to_owned(), "[s@P0]"),
            ("t", ".shared .b32 t[4]".to_owned(), "[t@P0]"),
            ("g", format!(".global .b32 g[4]={{7}}{home}"), "g[0]"),
            ("x", "uint32_t x=0".to_owned(), "x"),
            ("y", "uint32_t y=0".to_owned(), "y"),
        ];
        let cells = || self.columns.iter().flatten();
        let named = |name: &str| cells().any(|cell| cell.contains(&format!("[{name}]")));
        let all: Vec<_> = all.into_iter().filter(|(name, ..)| named(name)).collect();
        let observed = all.iter().map(|of| of.2.to_owned()).filter(|name| !name.is_empty());
        RandomProgram {
            language: "PTX",
            observed: observed.collect(),
            declarations: all.into_iter().map(|of| of.1).collect(),
            threads: (self.columns.into_iter().zip(ctas))
                .map(|(cells, cta)| RandomThread {
                    placement: format!("cta {cta},cluster {cta},gpu 0"),
                    cells,
                })
                .collect(),
        }
    }
}

fn awaiting(dice: &mut Dice) -> RandomProgram {
    let mut draft = AsyncDraft::default();
    // The second thread of some programs is the first one again.
    let other = usize::from(dice.below(3) > 0);
    let home = if dice.below(2) == 0 { "" } else { *dice.pick(&HOMES) };
    match dice.below(12) {
        0 if dice.below(2) == 0 => counted(dice, &mut draft),
        0 => handed_on(dice, &mut draft),
        1 => return around(dice),
        10 => restricted(dice, &mut draft),
        8 | 9 => initialized(dice, &mut draft),
        2 | 3 => loaded(dice, &mut draft, other),
        4 | 5 => loaded_in_bulk(dice, &mut draft, other),
        _ => {
            // Whoever arrives at the object drains what it has stored.
            let other = if dice.below(2) == 0 { 0 } else { other };
            stored_in_bulk(dice, &mut draft, other);
        }
    }
    draft.program(&[0, 0], home)
}

/// Data that one thread leaves and another takes, at an object.
fn handed_on(dice: &mut Dice, draft: &mut AsyncDraft) {
    let (data, name) = *dice.pick(&[("", "x"), ("", "x"), (".shared", "s")]);
    let (stores, loads) = *dice.pick(&[(true, true), (true, true), (true, false), (false, false)]);
    let (load, store) = (format!("ld{data}.u32"), format!("st{data}.u32"));
    if stores {
        draft.line(0, &format!("{store} [{name}], 1"));
    } else {
        draft.load(0, &load, name);
    }
    draft.meet(dice, 0, 1);
    if loads { draft.load(1, &load, name) } else { draft.line(1, &format!("{store} [{name}], 2")) }
}

/// Arrivals of two threads, of which some ask for the count, and a flag between the two.
fn counted(dice: &mut Dice, draft: &mut AsyncDraft) {
    draft.arrivals = 4;
    let mut arrive = |draft: &mut AsyncDraft, thread: usize| {
        let number = draft.registers;
        draft.registers += 1;
        let arrive = format!("mbarrier.arrive.noComplete.shared::cta.b64 q{number}, [b], 1");
        draft.line(thread, &arrive);
        if dice.below(3) > 0 {
            draft.line(thread, &format!("mbarrier.pending_count.b64 r{number}, q{number}"));
        }
    };
    arrive(draft, 0);
    arrive(draft, 1);
    let (store, load) = *dice.pick(&[
        ("st.release.cta.u32", "ld.acquire.cta.u32"),
        ("st.release.cta.u32", "ld.acquire.cta.u32"),
        ("st.release.cta.u32", "ld.relaxed.cta.u32"),
        ("st.relaxed.cta.u32", "ld.acquire.cta.u32"),
    ]);
    draft.line(0, &format!("{store} [y], 1"));
    let number = draft.registers;
    draft.registers += 1;
    draft.columns[1].insert(0, format!("{load} r{number}, [y]"));
}

/// An object that one thread initializes, and that both use as an object or as data.
fn initialized(dice: &mut Dice, draft: &mut AsyncDraft) {
    draft.initialized = true;
    if dice.below(3) > 0 {
        draft.line(0, "mbarrier.init.shared::cta.b64 [b], 1");
    }
    let relaxed = dice.below(2) == 0;
    for thread in [0, 1] {
        if relaxed {
            draft.line(thread, "barrier.cluster.arrive.relaxed");
            draft.line(thread, "barrier.cluster.wait");
        } else {
            draft.needed(dice, thread, "bar.sync 0");
        }
        match dice.below(6) {
            0 => draft.load(thread, "ld.shared.u32", "b"),
            1 => draft.line(thread, "st.shared.u32 [b], 1"),
            2 => draft.line(thread, BULK_LOAD),
            3 => draft.wait(dice, thread, ""),
            _ => draft.line(thread, "mbarrier.arrive.shared::cta.b64 _, [b]"),
        }
        if dice.below(8) == 0 {
            draft.line(thread, "mbarrier.inval.shared::cta.b64 [b]");
        }
    }
}

/// A load, handed on at an object and then by a flag, to a thread of another CTA that stores what was loaded.
fn around(dice: &mut Dice) -> RandomProgram {
    let mut draft = AsyncDraft::default();
    let early = dice.below(4) > 0;
    if early {
        draft.load(0, "ld.weak.u32", "x");
    } else {
        draft.line(0, "st.weak.u32 [x], 1");
    }
    draft.meet(dice, 0, 1);
    draft.line(1, "st.release.gpu.u32 [y], 1");
    draft.load(2, "ld.acquire.gpu.u32", "y");
    if early {
        draft.line(2, "st.weak.u32 [x], 1");
    } else {
        draft.load(2, "ld.weak.u32", "x");
    }
    draft.program(&[0, 0, 1], "")
}

/// Data in shared memory, handed on by fences of shared memory alone, and read by another thread or by a copy.
fn restricted(dice: &mut Dice, draft: &mut AsyncDraft) {
    let copied = dice.below(2) == 0;
    let proxy = if copied { ".proxy.async::generic" } else { "" };
    let fence = |half: &str| format!("fence{proxy}.{half}.cluster");
    draft.line(0, "st.shared.u32 [s], 1");
    draft.needed(dice, 0, &fence("release.sync_restrict::shared::cta"));
    if dice.below(2) == 0 {
        draft.line(0, "mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [b]");
        draft.arrivals += 1;
        draft.wait(dice, 1, ".relaxed.cluster");
    } else {
        for thread in [0, 1] {
            draft.line(thread, "barrier.cluster.arrive.relaxed");
            draft.line(thread, "barrier.cluster.wait");
        }
    }
    draft.needed(dice, 1, &fence("acquire.sync_restrict::shared::cluster"));
    if copied {
        draft.line(1, BULK_STORE);
    } else {
        draft.load(1, "ld.shared.u32", "s");
    }
}

/// A copy through the generic proxy, awaited by a group or at the object.
fn loaded(dice: &mut Dice, draft: &mut AsyncDraft, other: usize) {
    let before = dice.below(2) == 0;
    if before {
        draft.line(0, "st.global.u32 [g], 1");
    }
    draft.line(0, "cp.async.cg.shared::cta.global [s], [g], 16");
    match dice.below(4) {
        0 => {
            draft.needed(dice, 0, "cp.async.commit_group");
            draft.line(0, &format!("cp.async.wait_group {}", usize::from(dice.below(8) == 0)));
        }
        1 => draft.line(0, "cp.async.wait_all"),
        2 => {
            draft.line(0, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [b]");
            draft.arrivals += 1;
            draft.wait(dice, other, "");
            draft.load(other, "ld.shared.u32", "s");
            return;
        }
        _ => {
            draft.line(0, "cp.async.mbarrier.arrive.shared::cta.b64 [b]");
            draft.meet(dice, 0, other);
            draft.load(other, "ld.shared.u32", "s");
            return;
        }
    }
    if other == 1 {
        draft.meet(dice, 0, 1);
    }
    if dice.below(4) == 0 {
        draft.line(other, "st.shared.u32 [s], 2");
    } else {
        draft.load(other, "ld.shared.u32", "s");
    }
}

const BULK_LOAD: &str =
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b]";
const BULK_STORE: &str = "cp.async.bulk.global.shared::cta.bulk_group [g], [s], 16";

/// A fence of the async proxy for accesses of this state space.
fn proxy_fence(dice: &mut Dice, space: &str) -> String {
    let shared = space == ".shared::cta";
    let window = match dice.below(8) {
        0 | 1 => "",
        2..=4 if shared => ".shared::cluster",
        2..=6 => space,
        _ => *dice.pick(&[".global", ".shared::cta", ".shared::cluster"]),
    };
    format!("fence.proxy.async{window}")
}

/// A copy to shared memory through the async proxy, of what was stored before, or over what was accessed before.
fn loaded_in_bulk(dice: &mut Dice, draft: &mut AsyncDraft, other: usize) {
    let (first, space) = match dice.below(5) {
        0 | 1 => ("st.global.u32 [g], 1", ".global"),
        2 => ("st.shared.u32 [s], 1", ".shared::cta"),
        3 => ("ld.shared.u32", ".shared::cta"),
        _ => ("", ""),
    };
    match first {
        "" => {}
        "ld.shared.u32" => draft.load(other, first, "s"),
        store => draft.line(other, store),
    }
    if !first.is_empty() {
        let fence = proxy_fence(dice, space);
        if other == 1 {
            let after = dice.below(2) == 0;
            if !after {
                draft.needed(dice, 1, &fence);
            }
            draft.line(1, "bar.sync 0");
            draft.line(0, "bar.sync 0");
            if after {
                draft.needed(dice, 0, &fence);
            }
        } else {
            draft.needed(dice, 0, &fence);
        }
    }
    draft.line(0, BULK_LOAD);
    draft.line(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16");
    draft.arrivals += 1;
    if dice.below(4) > 0 {
        draft.wait(dice, other, "");
        draft.load(other, "ld.shared.u32", "s");
    }
}

/// A copy from shared memory through the async proxy.
fn stored_in_bulk(dice: &mut Dice, draft: &mut AsyncDraft, other: usize) {
    let fence = proxy_fence(dice, ".shared::cta");
    draft.line(other, "st.shared.u32 [s], 1");
    draft.needed(dice, other, &fence);
    if other == 1 {
        draft.meet(dice, 1, 0);
    }
    draft.line(0, BULK_STORE);
    draft.needed(dice, 0, "cp.async.bulk.commit_group");
    let read = if dice.below(2) == 0 { ".read" } else { "" };
    draft.needed(dice, 0, &format!("cp.async.bulk.wait_group{read} 0"));
    if read.is_empty() {
        draft.load(0, "ld.global.u32", "g");
    } else {
        draft.line(0, "st.shared.u32 [s], 2");
    }
}

/// Two kernels: what the first one leaves, the second one takes.
fn launching(dice: &mut Dice) -> RandomProgram {
    let mut draft = AsyncDraft::default();
    let order = *dice.pick(&["stream", "programmatic", "programmatic"]);
    let launch = "griddepcontrol.launch_dependents";
    let second = dice.below(2);
    let (fence, before) = (dice.below(3) > 0, dice.below(3) > 0);
    draft.line(0, "st.weak.u32 [x], 1");
    if fence {
        draft.line(0, "fence.acq_rel.gpu");
    }
    if before {
        draft.line(0, launch);
    }
    if second == 1 {
        // Another thread of the same CTA, with a launch before or after that of the first.
        let after = dice.below(2);
        draft.line(after, "bar.sync 0");
        draft.line(1 - after, launch);
        draft.line(1 - after, "bar.sync 0");
        draft.line(after, launch);
    }
    let last = 1 + second;
    if dice.below(2) == 0 {
        draft.line(last, "griddepcontrol.wait");
    }
    draft.load(last, "ld.weak.u32", "x");
    let mut program = draft.program(&[0, 0, 0][..=last], "");
    program.declarations.push(format!("kernel 0 -> 1 @{order}"));
    for (number, thread) in program.threads.iter_mut().enumerate() {
        let kernel = usize::from(number == last);
        write!(thread.placement, ",kernel {kernel}").expect("strings can be written");
    }
    program
}
