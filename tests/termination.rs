//! Whether every execution finishes: `check --property termination`.

use std::collections::BTreeSet;
use std::fs;

use engine::ENGINES;
use engine::exit::Exit;
use judge::{Judgement, Property, Task, Verdict, judge};
use litmus::Test;
use model::program::ThreadId;
use model::ptx;
use model::rel::Model;

use crate::suite;

/// The name of each snapshot, and the arguments.
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    (
        "termination",
        &[
            "check",
            "--engine=enumerate",
            "--property=termination",
            "tests/cli/sometimes-stuck.litmus",
            "tests/cli/stuck.litmus",
            "tests/cli/holds.litmus",
            "tests/cli/undecided.litmus",
            "tests/cli/undefined.litmus",
            "tests/cli/unsupported.litmus",
        ],
    ),
    (
        "termination-json",
        &[
            "check",
            "--engine=enumerate",
            "--property=termination",
            "--format=json",
            "tests/cli/sometimes-stuck.litmus",
            "tests/cli/holds.litmus",
            "tests/cli/undecided.litmus",
        ],
    ),
    (
        "termination-junit",
        &[
            "check",
            "--engine=enumerate",
            "--property=termination",
            "--format=junit",
            "tests/cli/sometimes-stuck.litmus",
            "tests/cli/holds.litmus",
            "tests/cli/undecided.litmus",
        ],
    ),
    (
        "termination-verbose",
        &[
            "check",
            "--engine=enumerate",
            "-v",
            "--property=termination",
            "litmus/suite/control-flow-instructions-bra/two-locks.litmus",
        ],
    ),
    (
        "termination-herd",
        &["check", "--property=termination", "--format=herd", "tests/cli/holds.litmus"],
    ),
];

fn task(model: &Model) -> Task<'_> {
    Task { property: Property::Termination, ..suite::task(model) }
}

fn parsed(text: &str) -> Test {
    litmus::parse("test.litmus", text.as_bytes()).expect("the test is well formed")
}

#[test]
fn every_test_of_the_suite_finishes_as_it_says_under_every_engine() {
    let model = ptx::model();
    let turns = Task { portfolio: true, ..task(&model) };
    let (mut finish, mut never, mut some) = (0, 0, 0);
    let mut wrong = Vec::new();
    for entry in suite::load(&suite::folder()) {
        let test = &entry.test;
        let judgement = judge(test, &task(&model));
        if judgement.exit() != Exit::AsExpected {
            let why = judgement.disagreement.as_ref().or(judgement.complaint.as_ref());
            wrong.push(format!("{}: {}", entry.path.display(), why.map_or("", String::as_str)));
        }
        assert_eq!(judge(test, &turns).verdict, judgement.verdict, "{}", entry.path.display());
        finish += usize::from(judgement.verdict == Verdict::Holds);
        never += usize::from(test.meta("Stuck").is_some());
        some += usize::from(test.meta("Sometimes-stuck").is_some());
        assert!(!matches!(judgement.verdict, Verdict::Stuck(_)), "{}", entry.path.display());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        finish > 700 && never >= 10 && some >= 7,
        "{finish} finish, {never} never, {some} not always"
    );
}

/// The key alone decides what is expected: with another one, or none, each of these tests fails.
#[test]
fn what_a_test_states_of_termination_is_compared() {
    let model = ptx::model();
    let folder = suite::folder().join("control-flow-instructions-bra");
    let text = fs::read_to_string(folder.join("two-locks+opposite-order.litmus"));
    let text = text.expect("the test is there");
    let key =
        text.lines().find(|line| line.starts_with("Sometimes-stuck=")).expect("it has the key");
    let judged = |text: &str| judge(&parsed(text), &task(&model));
    assert_eq!(judged(&text).complaint, None);
    let without = judged(&text.replace(key, ""));
    assert_eq!(without.complaint.as_deref(), Some("expected that every execution finishes"));
    let elsewhere = judged(&text.replace(key, "Sometimes-stuck=P2 repeats"));
    let complaint = elsewhere.complaint.expect("no thread stays there");
    assert!(complaint.starts_with("Sometimes-stuck=P2 repeats: some executions never finish"));
    let finishes = fs::read_to_string(folder.join("two-locks.litmus")).expect("the test is there");
    let stated = finishes.replacen("\n{", "\nSometimes-stuck=P0 repeats\n{", 1);
    let complaint = judged(&stated).complaint.expect("every execution finishes");
    assert_eq!(complaint, "Sometimes-stuck=P0 repeats: every execution finishes");
}

/// Counts up to a number of rounds, which is followed to its end unless it has too many events.
fn counted(rounds: u32) -> Test {
    parsed(&format!(
        "PTX counted\n{{ x=0; }}\n P0@cta 0 ;\n L: add.u32 r0, r0, 1 ;\n st.weak.u32 [x], r0 ;\n \
         setp.lt.u32 p, r0, {rounds} ;\n @p bra L ;\nexists (x={rounds})\n"
    ))
}

/// Each thread changes what the other waits for, for ever.
const LIVELOCK: &str = "PTX livelock
{ x=0; }
 P0@cta 0,gpu 0                          | P1@cta 1,gpu 0                          ;
 L: atom.relaxed.gpu.exch.b32 r0, [x], 1 | L: atom.relaxed.gpu.exch.b32 r0, [x], 2 ;
 setp.ne.u32 p, r0, 9                    | setp.ne.u32 p, r0, 9                    ;
 @p bra L                                | @p bra L                                ;
forall (P0:r0=9)
";

#[test]
fn a_limit_is_no_answer() {
    let model = ptx::model();
    for &engine in ENGINES {
        let of = |test: &Test, task: Task<'_>| -> Judgement {
            judge(test, &Task { engines: vec![engine], ..task })
        };
        let bound = of(&counted(300), task(&model));
        assert!(matches!(&bound.verdict, Verdict::Undecided(why) if why.contains("--bound 2")));
        assert_eq!(bound.exit(), Exit::Undecided);
        let short = of(&counted(3), task(&model));
        assert_eq!(short.verdict, Verdict::Holds);
        let livelock = of(&parsed(LIVELOCK), task(&model));
        assert!(matches!(livelock.verdict, Verdict::Undecided(_)), "{:?}", livelock.verdict);
        let memory = of(&counted(2), Task { memory: 1, ..task(&model) });
        assert!(matches!(memory.verdict, Verdict::Undecided(_)), "{:?}", memory.verdict);
    }
}

/// A thread that waits is found, whatever the bound cuts elsewhere; that it is undefined comes first.
#[test]
fn one_execution_decides_and_undefined_programs_promise_nothing() {
    let model = ptx::model();
    let beside = "PTX beside\n{ x=0; }\n P0@cta 0 | P1@cta 1 ;\n L: add.u32 r0, r0, 1 | bar.sync 0 ;\n \
         setp.lt.u32 p, r0, 2 | ;\n @p bra L | ;\n st.weak.u32 [x], r0 | ;\nexists (x=2)\n";
    assert_eq!(judge(&parsed(beside), &task(&model)).verdict, Verdict::Holds);
    let waits = beside.replace("bar.sync 0 ", "bar.sync 0, 64 ");
    assert_eq!(judge(&parsed(&waits), &task(&model)).verdict, Verdict::Fails);
    let far = waits.replace("r0, 2 |", "r0, 9 |");
    assert!(!matches!(judge(&parsed(&far), &task(&model)).verdict, Verdict::Holds));
    let undefined = waits
        .replace("r0, 2 |", "r0, 2 | bar.sync 0, 64")
        .replace("1 | bar.sync 0, 64 ", "1 | st.weak.u16 [x], 1 ");
    assert!(matches!(judge(&parsed(&undefined), &task(&model)).verdict, Verdict::Undefined(_)));
}

/// Threads that are alike are searched in one order; each of them is named.
#[test]
fn every_thread_that_may_stay_is_named() {
    let model = ptx::model();
    let line = "L: atom.acquire.gpu.exch.b32 r0, [l], 1";
    let rest = ["setp.ne.u32 p, r0, 0", "@p bra L"];
    let mut text = "PTX alike\n{ l=0; }\n P0@cta 0 | P1@cta 1 | P2@cta 2 ;\n".to_owned();
    let rows = [line].into_iter().chain(rest).map(|line| format!(" {} ;\n", [line; 3].join(" | ")));
    text.extend(rows);
    text += "exists (l=1)\n";
    for &engine in ENGINES {
        let judged = judge(&parsed(&text), &Task { engines: vec![engine], ..task(&model) });
        assert_eq!(judged.verdict, Verdict::Fails);
        let note = judged.notes.iter().find(|note| note.code == "stuck").expect("there is one");
        for thread in ["P0 repeats", "P1 repeats", "P2 repeats"] {
            assert!(note.text.contains(thread), "{}", note.text);
        }
    }
}

/// P0 and P1 wait for flags that P2 sets or not: each stays alone in some execution, and then it is known where both stay.
const TOGETHER: &str = "PTX together
{ x=0; y=0; a=0; b=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ;
 L: ld.relaxed.gpu.u32 r0, [x] | L: ld.relaxed.gpu.u32 r0, [y] | ld.relaxed.gpu.u32 r1, [a] | st.relaxed.gpu.u32 [a], 1 ;
 setp.eq.u32 p, r0, 0 | setp.eq.u32 p, r0, 0 | ld.relaxed.gpu.u32 r2, [b] | st.relaxed.gpu.u32 [b], 1 ;
 @p bra L | @p bra L | st.relaxed.gpu.u32 [x], r1 | ;
 | | st.relaxed.gpu.u32 [y], r2 | ;
exists (P0:r0=1)
";

#[test]
fn threads_that_stay_together_are_known_though_each_stays_alone_too() {
    let test = parsed(TOGETHER);
    let model = ptx::model();
    for engine in ENGINES {
        let task = Task { engines: vec![*engine], ..task(&model) };
        let together = judge(&test, &task).found.seen.stuck_together;
        let both = [0, 1].map(ThreadId).into_iter().collect();
        assert_eq!(together, BTreeSet::from([both]), "{}", engine.name());
    }
}
