//! Loops that draw from a counter, and tell the other thread of the CTA what they have drawn: what paths say of memory, and which of
//! them are looked at together, hides no outcome.

use std::fmt::Write;

use engine::enumerate::Enumerate;
use judge::{Property, Task, judge};
use model::ptx;
use model::reading::Readings;
use model::rel::Model;

use crate::spins::outcomes;

/// How the first thread draws.
const DRAWS: [&str; 4] = [
    "@w atom.relaxed.gpu.add.u32 r0, [n], 1",
    "@w atom.relaxed.gpu.add.u32 r0, [n], 2",
    // Not one of all: the values of others are between.
    "@w ld.relaxed.gpu.u32 r0, [n]",
    "@w atom.relaxed.cta.add.u32 r0, [n], 1",
];

/// What is said to the other, and what it hears, in an order.
const TOLD: [(&str, &str); 6] = [
    ("@w st.shared.u32 [S], r0", "ld.shared.u32 r2, [S]"),
    ("st.shared.u32 [S], r0", "ld.shared.u32 r2, [S]"),
    ("ld.shared.u32 r2, [S]", "@w st.shared.u32 [S], r0"),
    ("@w st.shared.u16 [S], r0", "ld.shared.u16 r2, [S]"),
    ("@w st.shared.u32 [S], r0", "@!w ld.shared.u32 r2, [S]"),
    ("shfl.sync.idx.b32 r2, r0, 0, 31, -1", "mov.u32 r4, 0"),
];

/// What is done in each iteration.
const WORK: [&str; 3] =
    ["add.u32 r3, r3, 1", "st.relaxed.gpu.u32 [x], r2", "@w add.u32 r2, r2, r3"];

/// What a thread of another CTA does.
const MEANWHILE: [&str; 4] = [
    "atom.relaxed.gpu.add.u32 r0, [n], 1",
    "K: atom.relaxed.gpu.add.u32 r0, [n], 1; setp.lt.u32 q, r0, 1; @q bra K",
    "atom.relaxed.gpu.add.u32 r0, [n], 1; st.relaxed.gpu.u32 [n], 0",
    "st.relaxed.gpu.u32 [n], 1; atom.relaxed.gpu.add.u32 r0, [n], 1",
];

fn draws(lines: &[&str], meanwhile: &str, initial: u32) -> String {
    let others: Vec<&str> = meanwhile.split("; ").collect();
    // Threads of a warp come to a barrier together, or there is no meaning.
    let warp = if lines.iter().any(|line| line.starts_with("shfl")) { "warp 0," } else { "" };
    let mut text = format!(
        "PTX draws\n{{ n={initial}; x=9; .shared .b32 S; P0:r5=0; P1:r5=1; }}\n \
        P0@{warp}cta 0,gpu 0 | P1@{warp}cta 0,gpu 0 | P2@cta 1,gpu 0 ;\n"
    );
    for (at, line) in lines.iter().enumerate() {
        let other = others.get(at).copied().unwrap_or("");
        writeln!(text, " {line} | {line} | {other} ;").expect("a string takes all");
    }
    text + "exists (P0:r2=1 /\\ P0:r3=1 /\\ P1:r2=1 /\\ P1:r3=1 /\\ P2:r0=1 /\\ [x]=1 /\\ [n]=2)\n"
}

/// Programs with each barrier of a loop there or not.
fn programs() -> impl Iterator<Item = String> {
    let told = TOLD.into_iter().flat_map(|told| WORK.into_iter().map(move |work| (told, work)));
    let drawn = DRAWS.into_iter().flat_map(|draw| MEANWHILE.into_iter().map(move |of| (draw, of)));
    let all = told.flat_map(move |told| drawn.clone().map(move |drawn| (told, drawn)));
    let ends = ["E: mov.u32 r7, 0", "E: @w bar.sync 1"];
    let all = all.flat_map(move |of| ends.into_iter().map(move |end| (of, end)));
    all.flat_map(|((((first, second), work), (draw, meanwhile)), end)| {
        (0..8_u32).map(move |barriers| {
            let barrier = |at: u32| (barriers >> at & 1 == 1).then_some("bar.sync 0");
            let initial = u32::from(meanwhile.starts_with('K'));
            let head = barrier(2).unwrap_or(draw);
            let head = format!("L: {head}");
            let mut lines = vec!["setp.eq.u32 w, r5, 0", "mov.u32 r0, 0", "mov.u32 r3, 0", &head];
            lines.extend(barrier(2).map(|_| draw));
            lines.push(first);
            lines.extend(barrier(0));
            lines.push(second);
            lines.extend(barrier(1));
            lines.extend(["setp.ge.u32 q, r2, 1", "@q bra E", work, "bra L"]);
            lines.push(end);
            draws(&lines, meanwhile, initial)
        })
    })
}

/// The answer to a question about a test.
fn judged(written: &str, model: &Model, property: Property, bound: u32) -> &'static str {
    let test = litmus::parse("draws", written.as_bytes()).expect("it is a test");
    let task = Task { engines: vec![&Enumerate], property, bound, ..crate::suite::task(model) };
    judge(&test, &task).verdict.name()
}

#[test]
fn what_paths_say_of_memory_hides_no_outcome() {
    let model = ptx::model();
    // Without what is known of memory.
    let mut plain = model.with_every_iteration();
    plain.conventions.silent_atomics = false;
    let mut decided = 0;
    for (at, text) in programs().enumerate() {
        // Each eleventh, so that it takes seconds.
        if at % 11 != 0 {
            continue;
        }
        let (known, seen) = outcomes(&text, &model, 2);
        let (all, spun) = outcomes(&text, &plain, 2);
        let lost: Vec<_> = all.difference(&known).collect();
        assert!(lost.is_empty(), "{lost:?} of\n{text}");
        let undefined = seen.undefined.is_some();
        assert!(undefined || seen.stuck.is_some() || spun.stuck.is_none(), "{text}");
        assert!(undefined || spun.undefined.is_none(), "{text}");
        let races = Property::NoDataRace;
        let of_plain = judged(&text, &plain, races, 2);
        assert!(of_plain != "fails" || judged(&text, &model, races, 2) != "holds", "{text}");
        decided += usize::from(!seen.bound_reached);
    }
    assert!(decided > 10, "{decided} programs are looked at in full");
}

/// A test of these columns, of two threads of a CTA and one of another.
fn columns(init: &str, columns: [&str; 3], condition: &str) -> String {
    let columns = columns.map(|column| column.split("; ").collect::<Vec<_>>());
    let mut text =
        format!("PTX columns\n{{ {init} }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 ;\n");
    for line in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = columns.each_ref().map(|column| column.get(line).copied().unwrap_or(""));
        writeln!(text, " {} ;", cells.join(" | ")).expect("a string takes all");
    }
    text + &format!("exists ({condition})\n")
}

/// What is known of memory is looked for where there are loops.
const LOOP: &str = "K: ld.relaxed.gpu.u32 r0, [l]; setp.ne.u32 p, r0, 0; @p bra K";

/// A read returns what a thread of its CTA writes before and after the barrier before it, until the next one.
#[test]
fn reads_return_what_neighbours_write_around_a_barrier() {
    let init = "l=0; .shared .b32 S; P1:r2=9; P1:r3=9;";
    let reader = "bar.sync 0; ld.shared.u32 r2, [S]; setp.ne.u32 p, r2, RET; @p bra M; \
                  mov.u32 r3, 1; M: mov.u32 r4, 0";
    for (value, returns) in [(0, false), (1, false), (2, true), (3, true), (4, true), (5, false)] {
        let writer = "st.shared.u32 [S], 1; st.shared.u32 [S], 2; bar.sync 0; st.shared.u32 [S], 3; \
                      st.shared.u32 [S], 4; bar.sync 0; st.shared.u32 [S], 5";
        let text = columns(
            init,
            [writer, &format!("{}; bar.sync 0", reader.replace("RET", &value.to_string())), LOOP],
            "P1:r2=0 /\\ P1:r3=0",
        );
        let (known, _) = outcomes(&text, &ptx::model(), 2);
        assert_eq!(known.iter().any(|of| of[1] == 1), returns, "{value} of\n{text}");
    }
}

/// After its last barrier, a thread may be beside all that others write then, unless its exit orders them.
#[test]
fn reads_before_an_exit_return_what_neighbours_write_after_it() {
    let writer = "bar.sync 0; st.shared.u32 [S], 1; bar.sync 0; st.shared.u32 [S], 2";
    let reader = "bar.sync 0; ld.shared.u32 r2, [S]; setp.ne.u32 p, r2, 2; @p bra M; \
                  mov.u32 r3, 1; M: mov.u32 r4, 0";
    let init = "l=0; .shared .b32 S; P1:r2=9; P1:r3=9;";
    let text = columns(init, [writer, reader, LOOP], "P1:r2=2 /\\ P1:r3=1");
    let nothing = Readings::default().switch("R49=nothing").expect("there is one");
    for (readings, returns) in [(Readings::default(), false), (nothing, true)] {
        let (known, _) = outcomes(&text, &ptx::under(readings), 2);
        assert_eq!(known.iter().any(|of| of[1] == 1), returns, "{readings} of\n{text}");
    }
}

/// What a thread that waits for ever would read after that says nothing of the execution.
#[test]
fn a_read_behind_a_barrier_that_never_completes_is_not_looked_at() {
    let writer = "ld.relaxed.gpu.u32 r0, [l]; setp.eq.u32 q, r0, 0; @q bra E; st.shared.u32 [S], 5; \
                  bar.sync 0; bra F; E: bar.sync 1; F: mov.u32 r4, 0";
    let reader = "mov.u32 r3, 0; L: add.u32 r3, r3, 1; bar.sync 0; ld.shared.u32 r2, [S]; \
                  setp.ne.u32 p, r2, 5; @p bra L";
    let init = "l=1; .shared .b32 S;";
    let other = format!("st.relaxed.gpu.u32 [l], 0; {LOOP}");
    let text = columns(init, [writer, reader, &other], "P1:r3=1");
    let (_, seen) = outcomes(&text, &ptx::model(), 2);
    assert!(seen.stuck.is_some(), "{text}");
}

/// A queue of items that blocks take by turns: each draws until there are none left, and tells its threads.
#[test]
fn a_queue_that_blocks_draw_from_is_decided() {
    let told = "st.shared.u32 [S], r0; bar.sync 0; ld.shared.u32 r2, [S]; bar.sync 0";
    let text = queue(told);
    let model = ptx::model();
    let judged = |of: &str, property| judged(of, &model, property, 3);
    for property in [Property::ProgramSpec, Property::NoDataRace, Property::Termination] {
        assert_eq!(judged(&text, property), "holds", "{text}");
    }
    // Without the second barrier of an iteration, the item is overwritten while a thread reads it.
    let without =
        text.replace(" bar.sync 0 | bar.sync 0 | bar.sync 0 | bar.sync 0 ;\n setp", " setp");
    assert_ne!(without, text);
    assert_eq!(judged(&without, Property::NoDataRace), "fails", "{without}");
}

/// The same where lanes of a warp take what is drawn from the one that draws: from no memory.
#[test]
fn a_queue_whose_warps_shuffle_what_they_draw_is_decided() {
    let text = queue("shfl.sync.idx.b32 r2, r0, 0, 31, -1");
    let model = ptx::model();
    let judged = |of: &str, property| judged(of, &model, property, 3);
    for property in [Property::ProgramSpec, Property::NoDataRace, Property::Termination] {
        assert_eq!(judged(&text, property), "holds", "{text}");
    }
    // A lane that takes its own value draws nothing, and works on the first item for ever.
    let own = queue("shfl.sync.idx.b32 r2, r0, r5, 31, -1");
    assert_ne!(judged(&own, Property::Termination), "holds", "{own}");
}

/// Two CTAs of two lanes that draw items from a queue of two, as the first lane tells the other.
fn queue(told: &str) -> String {
    let block = |cta: usize, first: bool| {
        let draw = "atom.relaxed.gpu.add.u32 r0, [n], 1; mov.u32 r5, 0";
        let draw = if first { draw } else { "mov.u32 r0, 0; mov.u32 r5, 1" };
        let told: Vec<&str> = told
            .split("; ")
            .map(|of| if of.starts_with("st") && !first { "mov.u32 r1, 0" } else { of })
            .collect();
        let lines = format!(
            "bra L; W: mad.wide.u32 rd, r2, 8, base; ld.weak.u32 r3, [rd]; add.u32 r3, r3, r2; \
             add.u32 r3, r3, 1; st.weak.u32 [rd], r3; L: {draw}; {}; setp.lt.u32 p, r2, 2; @p bra W",
            told.join("; ")
        );
        let warp = if told.iter().any(|of| of.starts_with("shfl")) { "warp 0," } else { "" };
        (format!("{warp}cta {cta},gpu 0"), lines)
    };
    let blocks = [block(0, true), block(0, false), block(1, true), block(1, false)];
    let heads: Vec<String> =
        (0..).zip(&blocks).map(|(at, (place, _))| format!("P{at}@{place}")).collect();
    let columns: Vec<Vec<&str>> = blocks.iter().map(|(_, of)| of.split("; ").collect()).collect();
    let mut text = format!(
        "PTX queue\n{{ n=0; .global .b32 o[4]; .shared .b32 S; P0:base=o; P1:base=o+4; P2:base=o; \
         P3:base=o+4; }}\n {} ;\n",
        heads.join(" | ")
    );
    for line in 0..columns[0].len() {
        let cells: Vec<&str> = columns.iter().map(|column| column[line]).collect();
        writeln!(text, " {} ;", cells.join(" | ")).expect("a string takes all");
    }
    text += "forall (o[0]=1 /\\ o[1]=1 /\\ o[2]=2 /\\ o[3]=2)\n";
    text
}
