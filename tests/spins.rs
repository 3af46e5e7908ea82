//! Loops whose atomics write what is there: nothing is lost where such an iteration is left out (reading R50).

use std::collections::BTreeSet;
use std::fmt::Write;

use engine::enumerate::Enumerate;
use engine::{Engine, ExecutionFacts, Limits};
use execution::accessed::Accessed;
use execution::agreed::Agreed;
use execution::layout::Layout;
use judge::{Property, Task, judge};
use model::program::ThreadId;
use model::ptx;
use model::reading::Readings;
use model::rel::Model;
use model::value::Value;

/// What threads do with `l`: the value that each saw last is in `r0`.
const LOOPS: [(&str, &str); 16] = [
    // Races with every exchange, so that even one that writes what is there shows.
    ("stores", "st.weak.u32 [l], 2; ld.weak.u32 r0, [l]; st.weak.u32 [l], 0"),
    ("test-and-set", "L: atom.acquire.gpu.exch.b32 r0, [l], 1; setp.ne.u32 p, r0, 0; @p bra L"),
    ("relaxed", "L: atom.relaxed.gpu.exch.b32 r0, [l], 1; setp.ne.u32 p, r0, 0; @p bra L"),
    (
        "fenced",
        "L: atom.relaxed.gpu.exch.b32 r0, [l], 1; fence.acq_rel.gpu; setp.ne.u32 p, r0, 0; @p bra L",
    ),
    ("acq_rel", "L: atom.acq_rel.gpu.exch.b32 r0, [l], 1; setp.ne.u32 p, r0, 0; @p bra L"),
    ("own", "L: atom.relaxed.gpu.exch.b32 r0, [l], 2; setp.ne.u32 p, r0, 0; @p bra L"),
    ("cas", "L: atom.acquire.gpu.cas.b32 r0, [l], 0, 1; setp.ne.u32 p, r0, 0; @p bra L"),
    ("same", "L: atom.acq_rel.gpu.cas.b32 r0, [l], 1, 1; setp.ne.u32 p, r0, 0; @p bra L"),
    ("poll", "L: atom.acquire.gpu.add.u32 r0, [l], 0; setp.eq.u32 p, r0, 0; @p bra L"),
    ("take", "L: atom.acquire.gpu.exch.b32 r0, [l], 0; setp.eq.u32 p, r0, 0; @p bra L"),
    (
        "rotated",
        "ld.relaxed.gpu.u32 r0, [l]; L: setp.eq.u32 p, r0, 0; @p bra M; \
         ld.acquire.gpu.u32 r0, [l]; bra L; M: mov.u32 r4, 0",
    ),
    // Reading R109.
    (
        "polls in a row",
        "ld.acquire.gpu.u32 r2, [l]; setp.eq.u32 p, r2, 0; @p bra M; \
         ld.acquire.gpu.u32 r3, [l]; setp.eq.u32 q, r3, 0; @q bra M; \
         L: ld.acquire.gpu.u32 r0, [l]; setp.ne.u32 p, r0, 0; @p bra L; M: mov.u32 r4, 0",
    ),
    (
        "polls that are looked at",
        "ld.relaxed.gpu.u32 r0, [l]; setp.eq.u32 p, r0, 0; @p bra M; \
         ld.relaxed.gpu.u32 r3, [l]; setp.eq.u32 p, r3, 0; @p bra M; \
         L: ld.acquire.gpu.u32 r0, [l]; setp.ne.u32 p, r0, 0; @p bra L; M: mov.u32 r4, 0",
    ),
    (
        "growing delays",
        "mov.u32 r5, 0; L: setp.lt.u32 q, r5, 2; @q bra A; mov.u32 r6, 9; bra B; \
         A: add.u32 r5, r5, 1; B: ld.acquire.gpu.u32 r0, [l]; setp.ne.u32 p, r0, 0; @p bra L",
    ),
    ("narrow", "L: atom.relaxed.cta.exch.b32 r0, [l], 1; setp.ne.u32 p, r0, 0; @p bra L"),
    (
        "test first",
        "L: ld.relaxed.gpu.u32 r0, [l]; setp.ne.u32 p, r0, 0; @p bra L; \
         atom.relaxed.gpu.exch.b32 r0, [l], 1; setp.ne.u32 p, r0, 0; @p bra L",
    ),
];

/// Before the loop, and after it.
const AROUND: [(&str, &str); 4] = [
    ("st.weak.u32 [x], 1", "ld.weak.u32 r1, [x]"),
    ("st.weak.u32 [x], 1; st.release.gpu.u32 [l], 1", "ld.weak.u32 r1, [x]"),
    ("st.relaxed.gpu.u32 [x], 2", "ld.weak.u32 r1, [x]; st.release.gpu.u32 [l], 0"),
    ("ld.relaxed.gpu.u32 r1, [x]", "st.relaxed.gpu.u32 [x], 1; st.relaxed.gpu.u32 [l], 0"),
];

fn column(before: &str, body: &str, after: &str) -> Vec<String> {
    [before, body, after].join(";").split(';').map(|line| line.trim().to_owned()).collect()
}

fn program(columns: &[Vec<String>], initial: u32) -> String {
    let heads: Vec<String> = (0..columns.len()).map(|p| format!("P{p}@cta {p},gpu 0")).collect();
    let mut text = format!("PTX spin\n{{ l={initial}; x=0; }}\n {} ;\n", heads.join(" | "));
    for line in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells: Vec<&str> =
            columns.iter().map(|column| column.get(line).map_or("", String::as_str)).collect();
        writeln!(text, " {} ;", cells.join(" | ")).expect("a string takes all");
    }
    text + "exists (P0:r0=0 /\\ P1:r0=0 /\\ P0:r1=0 /\\ P1:r1=0 /\\ l=0 /\\ x=0)\n"
}

pub(crate) fn outcomes(
    program: &str,
    model: &Model,
    bound: u32,
) -> (BTreeSet<Vec<Value>>, ExecutionFacts) {
    let test =
        litmus::parse("spin", program.as_bytes()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let (mut all, mut seen) = (BTreeSet::new(), ExecutionFacts::default());
    let limits = Limits::unlimited(bound);
    Enumerate
        .outcomes(model, &test.program, &limits, &mut seen, &mut |outcome, _| {
            all.insert(outcome.to_vec());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap_or_else(|limit| panic!("{limit:?}\n{program}"));
    (all, seen)
}

#[test]
fn an_iteration_that_writes_what_is_there_hides_no_outcome() {
    let writes = Readings::default().switch("R23=writes").expect("there is one");
    let mut fewer = 0;
    for (at, (before, after)) in AROUND.into_iter().enumerate() {
        for (name, one) in LOOPS {
            for (other, two) in LOOPS {
                // Each with each, and each way around: by turns, so that it takes seconds.
                if (name.len() + other.len()) % AROUND.len() != at && name != other {
                    continue;
                }
                let second = AROUND[(at + 1) % AROUND.len()];
                let columns = [column(before, one, after), column(second.0, two, second.1)];
                for initial in [0, 1] {
                    let text = program(&columns, initial);
                    for readings in [Readings::default(), writes] {
                        let model = ptx::under(readings);
                        let (short, seen) = outcomes(&text, &model, 2);
                        let every = model.with_every_iteration();
                        // Where the bound is reached, what is after it is compared with nothing.
                        let bound = if seen.bound_reached { 2 } else { 3 };
                        let (long, spun) = outcomes(&text, &every, bound);
                        let lost: Vec<_> = long.difference(&short).collect();
                        assert!(lost.is_empty(), "{lost:?} of\n{text}");
                        assert!(seen.stuck.is_some() || spun.stuck.is_none(), "{text}");
                        fewer += usize::from(!seen.bound_reached);
                    }
                }
            }
        }
    }
    assert!(fewer > 100, "{fewer} programs are looked at in full");
}

/// A column as compilers write it: what is stored, added and compared is in registers, and the address of `l`, too.
fn through_registers(column: &[String]) -> Vec<String> {
    let constants = (0..=2).map(|value| format!("mov.u32 c{value}, {value}"));
    let lines = column.iter().map(|line| {
        let writes = ["atom.", "st."].iter().any(|word| line.contains(word));
        let line = line.replace("[l]", "[rl]");
        if !writes {
            return line;
        }
        (0..=2)
            .fold(line, |line, value| line.replace(&format!(", {value}"), &format!(", c{value}")))
    });
    constants.chain(lines).collect()
}

/// What compilers keep in registers is known, and an instruction that has to do with asynchronous operations changes nothing for a loop
/// whose bytes none of them accesses.
#[test]
fn what_is_left_out_depends_neither_on_registers_nor_on_other_instructions() {
    let model = ptx::model();
    let mut left_out = 0;
    for (at, (name, one)) in LOOPS.into_iter().enumerate() {
        for (other, two) in
            [LOOPS[at], LOOPS[(at + 1) % LOOPS.len()], LOOPS[(at + 4) % LOOPS.len()]]
        {
            let [first, second] = [AROUND[at % AROUND.len()], AROUND[(at + 1) % AROUND.len()]];
            let columns = [column(first.0, one, first.1), column(second.0, two, second.1)];
            let text = program(&columns, 0);
            let (expected, plain) = outcomes(&text, &model, 2);
            let registers = columns.each_ref().map(|column| through_registers(column));
            let registers = program(&registers, 0).replace("x=0; }", "x=0; P0:rl=l; P1:rl=l; }");
            let fenced = columns.each_ref().map(|column| {
                let fence = "fence.proxy.async".to_owned();
                std::iter::once(fence).chain(column.iter().cloned()).collect::<Vec<String>>()
            });
            let fenced = program(&fenced, 0).replace("PTX spin\n", "PTX spin\nArch=sm_90\n");
            for text in [registers, fenced] {
                let (found, seen) = outcomes(&text, &model, 2);
                assert_eq!(found, expected, "{name} beside {other}:\n{text}");
                let facts = |seen: &ExecutionFacts| {
                    (seen.bound_reached, seen.stuck.is_some(), seen.undefined.is_some())
                };
                assert_eq!(facts(&seen), facts(&plain), "{name} beside {other}:\n{text}");
            }
            left_out += usize::from(!plain.bound_reached);
        }
    }
    assert!(left_out > 20, "{left_out} programs are looked at in full");
}

/// Bytes that an asynchronous operation accesses, or may access, are not those of a loop that is left out.
#[test]
fn what_asynchronous_operations_access_is_not_free_of_races() {
    let agreed = |instruction: &str| {
        let written = format!(
            "PTX touched\nArch=sm_100\n{{ .shared .align 16 .b32 l[4]; .shared .align 16 .b32 k[4]; .shared .mbarrier b={{1}}; \
             .global .align 16 .b32 g[4]; P0:rk=k; P0:rl=l; P0:ra=g; }}\n P0@cta 0,gpu 0 ;\n \
             atom.shared.gpu.exch.b32 r0, [l], 1 ;\n {instruction} ;\nexists (P0:r0=0)\n"
        );
        let test = litmus::parse("touched", written.as_bytes())
            .unwrap_or_else(|errors| panic!("{written}: {}", errors[0]));
        let layout = Layout::new(&test.program);
        let accessed = Accessed::new(&test.program, &layout);
        Agreed::new(&test.program, &layout, &accessed).is_agreed(&accessed, ThreadId(0), 0)
    };
    let copy = |to: &str, from: &str| {
        let bytes = "mbarrier::complete_tx::bytes";
        format!("cp.async.bulk.shared::cta.global.{bytes} [{to}], [{from}], 16, [b]")
    };
    let out = |from: &str| format!("cp.async.bulk.global.shared::cta.bulk_group [g], [{from}], 16");
    let apart = [
        "fence.proxy.async".to_owned(),
        "mbarrier.arrive.shared::cta.b64 _, [b]".to_owned(),
        "ld.shared.u32 r1, [l+4]".to_owned(),
        "ld.shared.u32 r1, [rk]".to_owned(),
        "ld.global.u32 r1, [ra]".to_owned(),
        copy("k", "g"),
        copy("rk", "ra"),
        out("k"),
        "cp.async.ca.shared.global [k], [g], 16".to_owned(),
        "ld.shared.u32 r1, [k]; ld.global.u32 r2, [r1]".to_owned(),
    ];
    let beside = [
        "ld.shared.u16 r1, [rl+2]".to_owned(),
        "ld.shared.v2.u32 {r1, r2}, [l]".to_owned(),
        "ld.shared.u32 r1, [k]; st.shared.u32 [r1], 0".to_owned(),
        "ld.shared.u32 r1, [k]; ld.u32 r2, [r1]".to_owned(),
        copy("l", "g"),
        copy("rl", "ra"),
        out("rl"),
        "cp.async.ca.shared.global [l], [g], 16".to_owned(),
        "st.bulk.weak.shared::cta [l], 16, 0".to_owned(),
        "ld.shared.u32 r1, [k]; mbarrier.arrive.shared::cta.b64 _, [r1]".to_owned(),
    ];
    for (instructions, free) in [(apart.as_slice(), true), (beside.as_slice(), false)] {
        for instruction in instructions {
            assert_eq!(agreed(&instruction.replace("; ", " ;\n ")), free, "{instruction}");
        }
    }
}

/// What two threads of a CTA do together, in loops with barriers: the value that the first saw last is in `r0`.
const ROUNDS: [(&str, &str, &str); 18] = [
    (
        "one polls",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.and.pred p, 0, q; @!p bra L",
        "mov.u32 r2, 1; setp.eq.u32 q, r2, 1; L: bar.red.and.pred p, 0, q; @!p bra L",
    ),
    (
        "one polls, and says so by or",
        "L: ld.relaxed.gpu.u32 r0, [l]; setp.ne.u32 q, r0, 1; bar.red.or.pred p, 0, q; @p bra L",
        "mov.u32 r2, 1; setp.ne.u32 q, r2, 1; L: bar.red.or.pred p, 0, q; @p bra L",
    ),
    (
        "both poll",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.and.pred p, 0, q; @!p bra L",
        "L: ld.relaxed.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.and.pred p, 0, q; @!p bra L",
    ),
    (
        "both are counted",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.popc.u32 r2, 0, q; \
         setp.ne.u32 p, r2, 2; @p bra L",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.popc.u32 r2, 0, q; \
         setp.ge.u32 p, r2, 2; @!p bra L",
    ),
    (
        "with a second barrier",
        "L: ld.relaxed.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.or.pred p, 0, q; \
         bar.sync 1; @!p bra L",
        "mov.u32 r2, 0; setp.eq.u32 q, r2, 1; L: bar.red.or.pred p, 0, q; bar.sync 1; @!p bra L",
    ),
    (
        "one leaves after a round",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.or.pred p, 0, q; @!p bra L",
        "mov.u32 r2, 0; setp.eq.u32 q, r2, 1; bar.red.or.pred p, 0, q; ld.weak.u32 r0, [l]",
    ),
    (
        "one leaves after two rounds",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.or.pred p, 0, q; @!p bra L",
        "setp.eq.u32 q, r2, 1; bar.red.or.pred p, 0, q; ld.weak.u32 r0, [l]; bar.red.or.pred p, 0, q",
    ),
    (
        "each for itself",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.sync 0; @!q bra L",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.sync 0; @!q bra L",
    ),
    (
        "one writes in each round",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.or.pred p, 0, q; @!p bra L",
        "setp.eq.u32 q, r2, 1; L: st.relaxed.gpu.u32 [x], 3; bar.red.or.pred p, 0, q; @!p bra L",
    ),
    (
        "one writes in the first round",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.or.pred p, 0, q; @!p bra L",
        "setp.eq.u32 q, r2, 1; L: @!q st.relaxed.gpu.u32 [x], 3; setp.eq.u32 q, r2, 0; \
         setp.eq.u32 s, r2, 1; bar.red.or.pred p, 0, s; @!p bra L",
    ),
    (
        "two rounds at a time",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; bar.red.or.pred p, 0, q; @!p bra L",
        "setp.eq.u32 q, r2, 1; L: bar.red.or.pred p, 0, q; @p bra M; bar.red.or.pred p, 0, q; @!p bra L; \
         M: ld.weak.u32 r0, [l]",
    ),
    (
        "as CUTLASS polls",
        "ld.acquire.gpu.u32 r0, [l]; L: setp.eq.u32 q, r0, 1; bar.red.and.pred p, 0, q; @p bra M; \
         ld.acquire.gpu.u32 r0, [l]; bra L; M: bar.sync 0",
        "mov.u32 r2, 1; L: setp.eq.u32 q, r2, 1; bar.red.and.pred p, 0, q; @p bra M; bra L; M: bar.sync 0",
    ),
    (
        "all have one code",
        "setp.eq.u32 s, r5, 0; mov.u32 r0, 1; L: @s ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; \
         bar.red.and.pred p, 0, q; @!p bra L",
        "setp.ne.u32 s, r5, 0; mov.u32 r0, 1; L: @s ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; \
         bar.red.and.pred p, 0, q; @!p bra L",
    ),
    (
        "rotated, alone",
        "ld.relaxed.gpu.u32 r0, [l]; L: setp.eq.u32 q, r0, 1; @q bra M; ld.acquire.gpu.u32 r0, [l]; \
         bra L; M: bar.sync 0",
        "bar.sync 0; ld.weak.u32 r0, [x]",
    ),
    ("for ever", "L: ld.acquire.gpu.u32 r0, [l]; bar.sync 0; bra L", "L: bar.sync 0; bra L"),
    (
        "one polls alone",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; @!q bra L; bar.sync 0",
        "bar.sync 0; ld.weak.u32 r0, [x]",
    ),
    (
        "a vote of a warp",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; vote.sync.any.pred p, q, 3; @!p bra L",
        "setp.eq.u32 q, r2, 1; L: vote.sync.any.pred p, q, 3; @!p bra L",
    ),
    (
        "of a cluster",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; barrier.cluster.arrive; \
         barrier.cluster.wait; @!q bra L",
        "L: ld.acquire.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 1; barrier.cluster.arrive; \
         barrier.cluster.wait; @!q bra L",
    ),
];

/// What a thread of another CTA does meanwhile.
const MEANWHILE: [&str; 3] = [
    "st.weak.u32 [x], 1; st.release.gpu.u32 [l], 1",
    "st.relaxed.gpu.u32 [l], 1; fence.sc.gpu; ld.relaxed.gpu.u32 r1, [x]",
    "st.release.gpu.u32 [l], 1; st.relaxed.gpu.u32 [l], 0",
];

#[test]
fn iterations_that_threads_leave_out_together_hide_no_outcome() {
    let mut undecided = Vec::new();
    for (name, one, two) in ROUNDS {
        for other in MEANWHILE {
            for (before, after) in AROUND {
                let columns = [
                    column(before, one, after),
                    column("", two, "ld.weak.u32 r1, [x]"),
                    column("", other, ""),
                ];
                let warp = if name.contains("warp") { ",warp 0" } else { "" };
                let text = program(&columns, 0).replace("P1:r0=0 /\\ ", "").replace(
                    "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0",
                    &format!("P0@cta 0{warp},gpu 0 | P1@cta 0{warp},gpu 0 | P2@cta 1,gpu 0"),
                );
                let model = ptx::model();
                let (short, seen) = outcomes(&text, &model, 2);
                // Where the bound is reached, what is after it is compared with nothing.
                let bound = if seen.bound_reached { 2 } else { 4 };
                let (long, spun) = outcomes(&text, &model.with_every_iteration(), bound);
                let lost: Vec<_> = long.difference(&short).collect();
                assert!(lost.is_empty(), "{name}: {lost:?} of\n{text}");
                let more: Vec<_> = short.difference(&long).collect();
                assert!(more.is_empty(), "{name}: {more:?} of\n{text}");
                assert!(seen.stuck.is_some() || spun.stuck.is_none(), "{name}:\n{text}");
                assert!(seen.undefined.is_some() || spun.undefined.is_none(), "{name}:\n{text}");
                if seen.bound_reached && !undecided.contains(&name) {
                    undecided.push(name);
                }
            }
        }
    }
    assert_eq!(undecided, ["one leaves after two rounds", "one writes in each round"]);
}

/// Loops that store what their thread alone accesses, `S`, or draw from a counter, or read what they have written; what each
/// saw is in `r0` and `r2`.
const CHANGING: [(&str, &str); 8] = [
    (
        "note",
        "L: ld.acquire.gpu.u32 r0, [l]; st.weak.u32 [S], r0; ld.weak.u32 r2, [S]; \
         setp.eq.u32 p, r2, 0; @p bra L",
    ),
    (
        "note of a lock",
        "L: atom.acquire.gpu.cas.b32 r0, [l], 0, 1; st.weak.u32 [S], r0; ld.weak.u32 r2, [S]; \
         setp.ne.u32 p, r2, 0; @p bra L",
    ),
    (
        "count",
        "L: ld.weak.u32 r0, [S]; add.u32 r0, r0, 1; st.weak.u32 [S], r0; ld.relaxed.gpu.u32 r2, [l]; \
         setp.eq.u32 p, r2, 0; @p bra L",
    ),
    (
        "note of some failures",
        "L: ld.relaxed.gpu.u32 r0, [l]; setp.eq.u32 p, r0, 0; ld.weak.u32 r2, [S]; \
         @p st.weak.u32 [S], 1; @p bra L",
    ),
    ("draw", "L: atom.relaxed.gpu.add.u32 r0, [n], 1; setp.lt.u32 p, r0, 2; @p bra L"),
    (
        "draw and store",
        "L: atom.relaxed.gpu.add.u32 r0, [n], 1; setp.ge.u32 p, r0, 1; @p bra M; \
         st.relaxed.gpu.u32 [x], 1; bra L; M: mov.u32 r2, 1",
    ),
    (
        "until it is done",
        "L: ld.relaxed.gpu.u32 r0, [x]; st.relaxed.gpu.u32 [x], 1; setp.eq.u32 p, r0, 0; @p bra L",
    ),
    (
        "until another one has done it",
        "L: ld.relaxed.gpu.u32 r0, [x]; st.relaxed.gpu.u32 [x], 2; setp.ne.u32 p, r0, 1; @p bra L",
    ),
];

const BESIDE: [(&str, &str); 4] = [
    ("releases", "st.relaxed.gpu.u32 [x], 1; st.release.gpu.u32 [l], 1"),
    ("resets", "st.relaxed.gpu.u32 [n], 0; st.relaxed.gpu.u32 [l], 1"),
    (
        "resets by an address",
        "ld.relaxed.gpu.u32 r0, [x]; mad.wide.u32 rd, r0, 4, rn; st.relaxed.gpu.u32 [rd], 0",
    ),
    ("draws once", "atom.relaxed.gpu.add.u32 r0, [n], 1; st.relaxed.gpu.u32 [l], 0"),
];

#[test]
fn what_only_its_thread_sees_and_what_a_counter_excludes_hide_no_outcome() {
    let model = ptx::model();
    // Without reading R50 for writes, and without what is known of them.
    let mut plain = model.with_every_iteration();
    plain.conventions.silent_atomics = false;
    let mut decided = Vec::new();
    for (at, (name, one)) in CHANGING.into_iter().enumerate() {
        for (other, two) in BESIDE.into_iter().chain([CHANGING[at]]) {
            for (initial, seen_at_end) in [(0, ""), (1, ""), (0, " /\\ s=0")] {
                let body = |body: &str, own: &str| {
                    column("mov.u32 r0, 9", "mov.u32 r2, 9", &body.replace("[S]", own))
                };
                let text = program(&[body(one, "[s]"), body(two, "[u]")], initial)
                    .replace("x=0; }", "x=0; n=0; s=0; u=0; P0:rn=n; P1:rn=n; }")
                    .replace("P0:r1=0 /\\ P1:r1=0 /\\ l=0", "P0:r2=0 /\\ n=0")
                    .replace("x=0)", &format!("x=0{seen_at_end})"));
                let (short, seen) = outcomes(&text, &model, 2);
                // Where the bound is reached, what is after it is compared with nothing.
                let bound = if seen.bound_reached { 2 } else { 3 };
                let (long, spun) = outcomes(&text, &plain, bound);
                let lost: Vec<_> = long.difference(&short).collect();
                assert!(lost.is_empty(), "{name} beside {other}: {lost:?} of\n{text}");
                assert!(seen.stuck.is_some() || spun.stuck.is_none(), "{text}");
                if !seen.bound_reached && initial == 0 && other == "releases" {
                    decided.push(name);
                }
            }
        }
    }
    decided.dedup();
    assert_eq!(decided, ["note", "note of a lock", "draw", "draw and store", "until it is done"]);
}

/// A draw returns less than the one before where somebody stores to the counter, also by an address that only values give.
#[test]
fn a_counter_that_somebody_stores_to_is_none() {
    for (stored, goes_back) in [("[n]", true), ("[rd]", true), ("[m]", false)] {
        let text = format!(
            "PTX reset\n{{ n=1; m=0; x=0; P1:rn=n; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
             L: atom.relaxed.gpu.add.u32 t, [n], 1 | ld.relaxed.gpu.u32 r0, [x] ;\n setp.ne.u32 p, t, 0 | \
             mad.wide.u32 rd, r0, 4, rn ;\n @p bra L | st.relaxed.gpu.u32 {stored}, 0 ;\n \
             K: atom.relaxed.gpu.add.u32 u, [m], 1 | ;\n setp.lt.u32 p, u, 1 | ;\n @p bra K | ;\nexists (P0:t=0)\n"
        );
        let (found, _) = outcomes(&text, &ptx::model(), 2);
        assert_eq!(!found.is_empty(), goes_back, "{text}");
    }
}

/// Each iteration has a condition that a read decides, so that the paths are too many where the loop is followed to its end.
#[test]
fn a_counted_loop_with_many_paths_is_unrolled_up_to_the_bound() {
    let found = |rounds: u32| {
        let text = format!(
            "PTX counted\n{{ f=0; x=0; y=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
             mov.u32 i, 0 | st.relaxed.gpu.u32 [f], 1 ;\n ld.relaxed.gpu.u32 r1, [f] | \
             st.relaxed.gpu.u32 [x], 1 ;\n setp.eq.u32 q, r1, 1 | ;\n @q bra M | ;\n L: ld.relaxed.gpu.u32 r0, [x] | ;\n \
             setp.eq.u32 q, r0, 1 | ;\n @q st.relaxed.gpu.u32 [y], 1 | ;\n add.u32 i, i, 1 | ;\n \
             setp.lt.u32 p, i, {rounds} | ;\n @p bra L | ;\n M: mov.u32 r3, 1 | ;\nexists (P0:r1=1)\n"
        );
        let (found, seen) = outcomes(&text, &ptx::model(), 2);
        (found.len(), seen.bound_reached)
    };
    assert_eq!(found(4), (2, false));
    assert_eq!(found(20), (1, true));
}

/// A race of an iteration that is left out otherwise is found, and a loop that only waits has none.
#[test]
fn races_of_iterations_are_not_left_out() {
    let model = ptx::model();
    let task = Task {
        engines: vec![&Enumerate],
        property: Property::NoDataRace,
        ..crate::suite::task(&model)
    };
    for (load, verdict) in [("ld.weak.u32 r1, [x]", "fails"), ("mov.u32 r1, 0", "holds")] {
        let written = format!(
            "PTX races\n{{ x=0; f=0; }}\n P0@cta 0 | P1@cta 1 ;\n st.weak.u32 [x], 1 | L: ld.acquire.gpu.u32 r0, [f] ;\n \
             st.release.gpu.u32 [f], 1 | {load} ;\n | setp.eq.u32 p, r0, 0 ;\n | @p bra L ;\nexists (P1:r0=1)\n"
        );
        let test = litmus::parse("races", written.as_bytes()).expect("it is a test");
        assert_eq!(judge(&test, &task).verdict.name(), verdict, "{load}");
    }
}

/// The first turn of a search may end among the loops that are never left, after all outcomes.
#[test]
fn a_turn_that_ends_early_leaves_no_endless_loop_out() {
    let model = ptx::model();
    let task = Task { engines: vec![&Enumerate], counts: false, ..crate::suite::task(&model) };
    let load = "ld.relaxed.cta.u32 r0, [x]";
    let before = ["atom.relaxed.cta.add.u32 r1, [x], 1", "st.relaxed.cta.u32 [x], 65536"];
    let spin = "st.relaxed.cta.u32 [x], 257; L: ld.relaxed.cta.u32 t, [x]; setp.ne.u32 q, t, 257; @q bra L";
    // What is before the loop takes nearly all of a turn.
    for (more, tail) in [
        (format!("{load}; {spin}"), "st.relaxed.cta.u32 [x], 65537".to_owned()),
        (format!("{load}; {load}; {spin}"), format!("{load}; {load}")),
    ] {
        let columns = [before.join("; ") + "; " + &tail, more];
        let columns =
            columns.map(|column| column.split("; ").map(str::to_owned).collect::<Vec<_>>());
        let mut written = "PTX turn\n{ uint32_t x=0; }\n P0@cta 0 | P1@cta 0 ;\n".to_owned();
        for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            let cells = columns.each_ref().map(|of| of.get(row).map_or("", String::as_str));
            writeln!(written, " {} ;", cells.join(" | ")).expect("a string takes all");
        }
        written += "locations [P0:r1; x;]\nexists (x=99)\n";
        let test = litmus::parse("turn", written.as_bytes()).expect("it is a test");
        let judged = judge(&test, &task);
        assert!(judged.notes.iter().any(|note| note.code == "stuck"), "{written}");
    }
}

/// An axiom that only a further iteration keeps: each read of a new value comes after another read. Nothing is left out then.
#[test]
fn iterations_that_an_axiom_needs_are_not_left_out() {
    let written = "\"again\"\ninclude \"cos.cat\"\nlet fr = rf^-1; co\nacyclic po | rf | co | fr as sc\n\
        empty (rf & ((W \\ IW) * R)) \\ (W * range([R]; (po & loc); [R])) as again\n";
    let model = cat::import("again.cat", written).expect("it is a model");
    assert!(model.conventions.counts_iterations);
    assert!(!ptx::model().conventions.counts_iterations);
    let waits = "PTX again\n{ f=0; }\n P0@cta 0 | P1@cta 1 ;\n st.relaxed.gpu.u32 [f], 1 | L: ld.relaxed.gpu.u32 r0, [f] ;\n \
        | setp.eq.u32 p, r0, 0 ;\n | @p bra L ;\nexists (P1:r0=1)\n";
    let (found, seen) = outcomes(waits, &model, 2);
    assert_eq!((found.len(), seen.bound_reached), (1, true));
}

/// What one thread does beside [`SETS`], and whether that is undefined: each has an execution that a shorter one does not stand for.
const KEPT: [(&str, &str, bool); 4] = [
    (
        "a quotient by what only delays",
        "mov.u32 r5, 2; L: sub.u32 r5, r5, 1; div.u32 r6, 7, r5; \
         ld.relaxed.gpu.u32 r0, [l]; setp.eq.u32 p, r0, 0; @p bra L",
        true,
    ),
    (
        "a delay that depends on a read in the first iteration alone",
        "ld.relaxed.gpu.u32 r0, [y]; mov.u32 r5, 0; L: setp.eq.u32 q, r5, 0; @q bra A; mov.u32 r6, 0; bra B; \
         A: mov.u32 r6, r0; mov.u32 r5, 1; B: ld.relaxed.gpu.u32 r1, [l]; setp.eq.u32 p, r1, 0; @p bra L; \
         setp.eq.u32 q, r6, 0; @q bra M; mov.u32 r8, 0; M: st.relaxed.gpu.u32 [x], 1",
        false,
    ),
    (
        "a poll whose register is looked at where another one leaves",
        "mov.u32 r1, 5; ld.relaxed.gpu.u32 r2, [l]; setp.ne.u32 p, r2, 0; @p bra M; \
         ld.relaxed.gpu.u32 r1, [l]; setp.ne.u32 q, r1, 0; @q bra M; \
         L: ld.relaxed.gpu.u32 r0, [l]; setp.eq.u32 p, r0, 0; @p bra L; M: mov.u32 r0, r1",
        false,
    ),
    (
        "polls that are looked at where the first one leaves",
        "mov.u32 r1, 5; ld.relaxed.gpu.u32 r1, [l]; setp.ne.u32 p, r1, 0; @p bra M; \
         ld.relaxed.gpu.u32 r2, [l]; setp.ne.u32 q, r2, 0; @q bra M; \
         L: ld.relaxed.gpu.u32 r0, [l]; setp.eq.u32 p, r0, 0; @p bra L; M: mov.u32 r0, r1",
        false,
    ),
];

/// What the other threads do: one depends on what it read, and one sets the flag.
const SETS: [&str; 2] =
    ["ld.relaxed.gpu.u32 r1, [x]; st.relaxed.gpu.u32 [y], r1", "st.relaxed.gpu.u32 [l], 1"];

#[test]
fn what_a_delay_or_a_poll_has_beside_it_is_kept() {
    let model = ptx::model();
    let mut every = model.with_every_iteration();
    every.conventions.counts_iterations = true;
    for (name, body, undefined) in KEPT {
        let columns = [column("", body, ""), column("", SETS[0], ""), column("", SETS[1], "")];
        let text = program(&columns, 0).replace("x=0; }", "x=0; y=0; }");
        let text = text.replace("P1:r0=0 /\\ ", "");
        let text = if undefined { text.replace("P0:r1=0 /\\ ", "") } else { text };
        let (short, seen) = outcomes(&text, &model, 2);
        let (long, spun) = outcomes(&text, &every, 3);
        assert_eq!(short, long, "{name}:\n{text}");
        for seen in [&seen, &spun] {
            assert_eq!(seen.undefined.is_some(), undefined, "{name}:\n{text}");
        }
        assert!(!seen.bound_reached, "{name}:\n{text}");
    }
}

/// The second `ldu` of each lane is one instruction, so that none of them may be left out.
#[test]
fn lanes_execute_each_ldu_together() {
    let text = "PTX ldu\n{ l=0; z=0; }\n P0@cta 0,gpu 0,warp 0 | P1@cta 0,gpu 0,warp 0 ;\n \
         ldu.global.u32 r2, [l] | ldu.global.u32 r0, [l] ;\n setp.ne.u32 p, r2, 0 | ldu.global.u32 r1, [l] ;\n \
         @p bra M | ldu.global.u32 r2, [z] ;\n ldu.global.u32 r2, [l] | ;\n setp.ne.u32 p, r2, 0 | ;\n \
         @p bra M | ;\n ldu.global.u32 r4, [z] | ;\n M: | ;\nexists (P0:r4=0)\n";
    let (outcomes, seen) = outcomes(text, &ptx::model(), 2);
    assert_eq!((outcomes.len(), seen.undefined.is_none()), (1, true));
}
