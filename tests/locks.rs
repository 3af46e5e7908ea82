//! Locks and a barrier of a grid as people write them, each with one order or scope too weak. The labels are those of the
//! race tests of Dartagnan for the same algorithms in `OpenCL`; the kernels are our own.

use judge::{Property, Task, Verdict, judge};
use verify::{KernelModule, compose};

use crate::launches::{kernel, launch};

/// What is weaker than in the algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weakened {
    Nothing,
    /// The order of taking the lock.
    Acquire,
    /// The order of giving it back.
    Release,
    /// All scopes are those of a CTA.
    Scope,
}

#[derive(Clone, Copy, Debug)]
enum LockKind {
    CompareAndSwap,
    Ticket,
    TestAndSet,
}

impl LockKind {
    const ALL: [LockKind; 3] = [LockKind::CompareAndSwap, LockKind::Ticket, LockKind::TestAndSet];

    /// The lock is at `%rd1`; that of tickets has the next one behind the one that is served.
    fn taken(self, order: &str, scope: &str) -> String {
        match self {
            LockKind::CompareAndSwap => format!(
                "$L: atom.{order}.{scope}.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra $L;"
            ),
            LockKind::Ticket => format!(
                "atom.relaxed.{scope}.global.add.u32 %r2, [%rd1+4], 1;\n\
                 $L: ld.{order}.{scope}.global.u32 %r3, [%rd1]; setp.ne.u32 %p1, %r3, %r2; @%p1 bra $L;"
            ),
            LockKind::TestAndSet => format!(
                "$L: ld.relaxed.{scope}.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra $L;\n\
                 atom.{order}.{scope}.global.exch.b32 %r3, [%rd1], 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra $L;"
            ),
        }
    }

    fn given(self, order: &str, scope: &str) -> String {
        match self {
            LockKind::CompareAndSwap | LockKind::TestAndSet => {
                format!("st.{order}.{scope}.global.u32 [%rd1], 0;")
            }
            LockKind::Ticket => format!(
                "ld.relaxed.{scope}.global.u32 %r4, [%rd1]; add.u32 %r5, %r4, 1;\n\
                 st.{order}.{scope}.global.u32 [%rd1], %r5;"
            ),
        }
    }

    /// Each thread takes the next number.
    fn module(self, weakened: Weakened) -> String {
        let order =
            |of: Weakened, order: &'static str| if weakened == of { "relaxed" } else { order };
        let scope = if weakened == Weakened::Scope { "cta" } else { "gpu" };
        let body = format!(
            "ld.param.u64 %rd1, [lock]; ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [taken];\n\
             mov.u32 %r10, %ctaid.x; mov.u32 %r11, %ntid.x; mov.u32 %r12, %tid.x;\n\
             mad.lo.u32 %r13, %r10, %r11, %r12; mul.wide.u32 %rd4, %r13, 4; add.u64 %rd5, %rd3, %rd4;\n\
             {}\nld.global.u32 %r6, [%rd2]; add.u32 %r7, %r6, 1; st.global.u32 [%rd2], %r7;\n{}\n\
             st.global.u32 [%rd5], %r6;\nret;",
            self.taken(order(Weakened::Acquire, "acquire"), scope),
            self.given(order(Weakened::Release, "release"), scope),
        );
        kernel(&["lock", "x", "taken"], &body)
    }
}

/// A grid of CTAs: its threads, and how many are in each CTA.
#[derive(Clone, Copy, Debug)]
struct Grid {
    ctas: u32,
    threads: u32,
}

/// Whether a launch has a data race, and whether its assertion holds. Each is decided.
fn races_and_holds(module: &str, grid: Grid, arguments: &[&str], assertion: &str) -> [bool; 2] {
    let read = KernelModule::read("k.ptx", module).expect("a module");
    let spec = launch(grid.ctas, grid.threads, arguments, &[assertion]);
    let composed = compose(&read, &spec).unwrap_or_else(|all| panic!("{:?}\n{module}", all[0]));
    let test = litmus::parse("k", composed.text.as_bytes()).expect("a test");
    let model = model::ptx::model();
    [Property::NoDataRace, Property::ProgramSpec].map(|property| {
        let task =
            Task { property, verdict_only: true, races: false, counts: false, ..Task::new(&model) };
        let verdict = judge(&test, &task).verdict;
        assert!(matches!(verdict, Verdict::Holds | Verdict::Fails), "{verdict:?}");
        matches!(verdict, Verdict::Fails) == (property == Property::NoDataRace)
    })
}

#[test]
fn a_lock_with_one_weak_order_or_scope_has_a_race() {
    let two_ctas = Grid { ctas: 2, threads: 1 };
    let one_cta = Grid { ctas: 1, threads: 2 };
    for lock in LockKind::ALL {
        for (weakened, grid, races) in [
            (Weakened::Nothing, two_ctas, false),
            (Weakened::Acquire, two_ctas, true),
            (Weakened::Release, two_ctas, true),
            (Weakened::Scope, two_ctas, true),
            // All threads are in the scope.
            (Weakened::Scope, one_cta, false),
        ] {
            let arguments = ["lock=u32[2]=0", "x=u32[1]=0", "taken=u32[2]=9"];
            let found =
                races_and_holds(&lock.module(weakened), grid, &arguments, "taken[0] != taken[1]");
            assert_eq!(found, [races, !races], "{lock:?} {weakened:?} {grid:?}");
        }
    }
}

/// The first CTA waits for the flags of the others and resets them, each by one of its threads. `weak`: the number of the operation on a
/// flag that is relaxed.
fn grid_barrier(weak: Option<usize>) -> String {
    let strong = ["acquire", "release", "release", "acquire"];
    let [gathers, lets_go, arrives, waits] =
        [0, 1, 2, 3].map(|at| if weak == Some(at) { "relaxed" } else { strong[at] });
    let loads =
        (1..4).map(|at| format!("ld.global.u32 %r9, [%rd2+{}]; add.u32 %r8, %r8, %r9;\n", 4 * at));
    let loads: String = loads.collect();
    let body = format!(
        "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [from]; ld.param.u64 %rd3, [sums];\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ntid.x;\n\
         mad.lo.u32 %r5, %r1, %r4, %r2; mul.wide.u32 %rd4, %r5, 4; add.u64 %rd5, %rd2, %rd4; add.u64 %rd6, %rd3, %rd4;\n\
         st.global.u32 [%rd5], 1;\nsetp.ne.u32 %p1, %r1, 0; @%p1 bra $OTHERS;\n\
         add.u32 %r6, %r2, 1; setp.ge.u32 %p2, %r6, %r3; mul.wide.u32 %rd7, %r6, 4; add.u64 %rd8, %rd1, %rd7;\n@%p2 bra $MEET;\n\
         $GATHER: ld.{gathers}.gpu.global.u32 %r7, [%rd8]; setp.eq.u32 %p3, %r7, 0; @%p3 bra $GATHER;\n\
         $MEET: bar.sync 0;\n@%p2 bra $SUM;\nst.{lets_go}.gpu.global.u32 [%rd8], 0;\nbra $SUM;\n\
         $OTHERS: bar.sync 0;\nmul.wide.u32 %rd7, %r1, 4; add.u64 %rd8, %rd1, %rd7; setp.ne.u32 %p2, %r2, 0; @%p2 bra $LEAVE;\n\
         st.{arrives}.gpu.global.u32 [%rd8], 1;\n\
         $WAIT: ld.{waits}.gpu.global.u32 %r7, [%rd8]; setp.eq.u32 %p3, %r7, 1; @%p3 bra $WAIT;\n\
         $LEAVE: bar.sync 0;\n$SUM: ld.global.u32 %r8, [%rd2];\n{loads}st.global.u32 [%rd6], %r8;\nret;"
    );
    kernel(&["flag", "from", "sums"], &body)
}

#[test]
fn a_barrier_of_the_grid_with_one_relaxed_operation_has_a_race() {
    let arguments = ["flag=u32[2]=0", "from=u32[4]=0", "sums=u32[4]=0"];
    let assertion = "sums[0]==4 && sums[1]==4 && sums[2]==4 && sums[3]==4";
    let grid = Grid { ctas: 2, threads: 2 };
    for weak in [None, Some(0), Some(1), Some(2), Some(3)] {
        let found = races_and_holds(&grid_barrier(weak), grid, &arguments, assertion);
        assert_eq!(found, [weak.is_some(), weak.is_none()], "{weak:?}");
    }
}
