//! `causeway fix` on the code that people write: loops, branches, threads that share code, barriers that pair by number, counts
//! and parities, hangs.

use engine::ENGINES;
use judge::{Property, Task, judge};
use litmus::revise::SourceTest;
use model::ptx;
use repair::{RepairOptions, Repairs, repair, weaken};

/// What a search is told besides the defaults.
#[derive(Default)]
struct Wish {
    property: Option<Property>,
    moves: bool,
}

fn searched(text: &str, wish: &Wish) -> Repairs {
    let source = SourceTest::read("test", text.as_bytes());
    let source = source.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    let model = ptx::model();
    let options = RepairOptions {
        engines: ENGINES.to_vec(),
        property: wish.property.unwrap_or(Property::ProgramSpec),
        moves: wish.moves,
        ..RepairOptions::new(&model)
    };
    repair(&source, &options)
}

/// The lines of the first proposal, one for each thread.
fn first(text: &str, wish: &Wish) -> Vec<String> {
    let repairs = searched(text, wish);
    let proposal = repairs.proposals.first().unwrap_or_else(|| panic!("no proposal: {text}"));
    proposal.edits.iter().flat_map(|edit| &edit.lines).map(ToString::to_string).collect()
}

fn defaults(text: &str) -> Vec<String> {
    first(text, &Wish::default())
}

/// Two threads of one CTA with this text; what differs is in registers.
fn twins(initial: &str, column: &[&str], condition: &str) -> String {
    let rows: Vec<String> = column.iter().map(|cell| format!(" {cell} | {cell} ;\n")).collect();
    let rows = rows.concat();
    format!("PTX twins\n{{ {initial} }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n{rows}{condition}\n")
}

const SLOTS: &str =
    ".shared .u32 s[2]={1,2}; P0:own=s; P0:next=s+4; P0:v=1; P1:own=s+4; P1:next=s; P1:v=2;";

/// The same without values.
const EMPTY_SLOTS: &str = ".shared .u32 s[2]; P0:own=s; P0:next=s+4; P1:own=s+4; P1:next=s;";

#[test]
fn a_barrier_that_a_loop_lacks_is_one_edit_of_the_code() {
    let column = [
        "N: ld.u32 a, [next]",
        "bar.sync 0",
        "add.u32 v, v, a",
        "st.u32 [own], v",
        "add.u32 k, k, 1",
        "setp.lt.u32 c, k, 2",
        "@c bra N",
    ];
    let text = twins(SLOTS, &column, "forall (P0:v=6 /\\ P1:v=6)");
    let insert = |thread: &str| format!("{thread}: insert `bar.sync 0` before `@c bra N`");
    assert_eq!(defaults(&text), [insert("P0"), insert("P1")]);
    let proposal = &searched(&text, &Wish::default()).proposals[0];
    assert_eq!((proposal.edits.len(), proposal.cost.edits), (1, 1));
}

#[test]
fn a_barrier_goes_before_a_branch_and_behind_a_label() {
    let column = [
        "ld.u32 a, [next]",
        "setp.ne.u32 q, a, 0",
        "@q bra D",
        "st.u32 [own], 1",
        "D: mov.u32 z, 1",
    ];
    let text = twins(EMPTY_SLOTS, &column, "forall (P0:a=0 /\\ P1:a=0)");
    assert_eq!(defaults(&text)[0], "P0: insert `bar.sync 0` before `@q bra D`".to_owned());
    // At the head of a loop each round has to come by.
    let column = [
        "N: st.u32 [own], k",
        "bar.sync 0",
        "ld.u32 a, [next]",
        "add.u32 v, v, a",
        "add.u32 k, k, 1",
        "setp.lt.u32 c, k, 2",
        "@c bra N",
    ];
    let text = twins(EMPTY_SLOTS, &column, "forall (P0:v=1 /\\ P1:v=1)");
    let repairs = searched(&text, &Wish::default());
    let labelled = repairs.proposals.iter().any(|one| one.text.contains("N: bar.sync 0"));
    assert!(labelled, "{:#?}", repairs.proposals);
}

#[test]
fn threads_of_equal_text_take_the_edits_of_a_lock_together() {
    let column = |label: &str| {
        [
            format!("{label}: atom.global.cas.b32 l, [lock], 0, 1"),
            "setp.ne.u32 p, l, 0".to_owned(),
            format!("@p bra {label}"),
            "ld.global.u32 v, [x]".to_owned(),
            "add.u32 v, v, 1".to_owned(),
            "st.global.u32 [x], v".to_owned(),
            "atom.global.exch.b32 u, [lock], 0".to_owned(),
        ]
    };
    // The names of labels do not count.
    let rows = column("A").into_iter().zip(column("B"));
    let rows = rows.map(|(a, b)| format!(" {a} | {b} ;\n")).collect::<Vec<_>>().concat();
    let text = format!(
        "PTX lock\n{{ lock=0; x=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n{rows}forall (x=2)\n"
    );
    let repairs = searched(&text, &Wish::default());
    let proposal = &repairs.proposals[0];
    assert_eq!((proposal.edits.len(), proposal.cost.edits), (2, 2));
    assert_eq!(proposal.edits.iter().map(|edit| edit.lines.len()).sum::<usize>(), 4);
    let changed = &proposal.text;
    assert_eq!(changed.matches("atom.acquire.gpu.global.cas").count(), 2, "{changed}");
    assert_eq!(changed.matches("atom.release.gpu.global.exch").count(), 2, "{changed}");
}

#[test]
fn ctas_that_run_the_same_code_get_the_barrier_in_each() {
    let text = "PTX blocks\n{ .global .u32 x[2]; .global .u32 f[2]; }\n \
        P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 | P3@cta 1,gpu 0 ;\n \
        | st.global.u32 [x], 1 | | st.global.u32 [x+4], 1 ;\n \
        st.release.gpu.global.u32 [f], 1 | | st.release.gpu.global.u32 [f+4], 1 | ;\n \
        ld.acquire.gpu.global.u32 r0, [f+4] | | ld.acquire.gpu.global.u32 r0, [f] | ;\n \
        ld.global.u32 r1, [x+4] | | ld.global.u32 r1, [x] | ;\n\
        ~exists (P0:r0=1 /\\ P0:r1=0 \\/ P2:r0=1 /\\ P2:r1=0)\n";
    let lines = defaults(text);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines.iter().all(|line| line.contains("insert `bar.sync 0`")), "{lines:?}");
}

#[test]
fn a_barrier_that_one_thread_lacks_goes_there_alone() {
    let text = "PTX lacks\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        st.weak.u32 [x], 1 | bar.sync 0 ;\n | ld.weak.u32 r, [x] ;\n bar.sync 0 | bar.sync 0 ;\n \
        st.weak.u32 [x], 2 | ;\n~exists (P1:r!=1)\n";
    assert_eq!(defaults(text), ["P0: insert `bar.sync 0` before `st.weak.u32 [x], 2`"]);
}

#[test]
fn barriers_that_pair_by_number_keep_what_they_ordered() {
    let text = "PTX pairs\n{ .shared .u32 q; }\n P0@warp 0,cta 0,gpu 0 | P1@warp 0,cta 0,gpu 0 ;\n \
        st.shared.u32 [q], 1 | ;\n bar.warp.sync 3 | bar.warp.sync 3 ;\n \
        ld.shared.u32 r0, [q] | ld.shared.u32 r0, [q] ;\n st.shared.u32 [q], 2 | ;\n \
        bar.warp.sync 3 | bar.warp.sync 3 ;\n ld.shared.u32 r1, [q] | ld.shared.u32 r1, [q] ;\n\
        ~exists (P1:r0=2)\n";
    let repairs = searched(text, &Wish::default());
    assert!(!repairs.proposals.is_empty());
    let model = ptx::model();
    for proposal in &repairs.proposals {
        assert_eq!(proposal.new.as_deref(), Some(&[][..]), "{}", proposal.text);
        let changed = litmus::parse("changed", proposal.text.as_bytes()).expect("it is a test");
        let outcomes = judge(&changed, &Task::new(&model)).found.outcomes;
        let texts: Vec<String> = outcomes.keys().map(|one| changed.display_outcome(one)).collect();
        assert_eq!(texts, ["1:r0=1;"], "{}", proposal.text);
    }
}

#[test]
fn a_barrier_and_a_fence_between_proxies_are_found_together() {
    let text = "PTX store\nArch=sm_90a\n{ .shared .b32 s[4]; .global .b32 g[4]; }\n \
        P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        cp.async.bulk.global.shared::cta.bulk_group [g], [s], 16 | st.shared::cta.u32 [s], 1 ;\n \
        cp.async.bulk.commit_group | ;\n cp.async.bulk.wait_group 0 | ;\n~exists (g[0]=0)\n";
    let repairs = searched(text, &Wish::default());
    let proposal = &repairs.proposals[0];
    assert_eq!(proposal.cost.edits, 3, "{:?}", proposal.edits);
    // The fence orders the store before the barrier.
    let fence = proposal.text.find("fence.proxy.async").expect("there is one");
    let barrier = proposal.text.rfind("bar.sync").expect("there is one");
    assert!(fence < barrier, "{}", proposal.text);
}

/// A loop whose rounds use two objects, and the edits of its wait.
fn rounds(parity: &str) -> Vec<String> {
    let text = format!(
        "PTX rounds\nArch=sm_90a\n{{ .shared .mbarrier bar[2]={{{{1}},{{1}}}}; \
         .shared .b32 s[8]; .global .b32 g[8]={{7,7,7,7,8,8,8,8}}; P0:rb=bar; P0:rs=s; P0:rg=g; }}\n \
         P0@cta 0,gpu 0 ;\n {parity} ;\n N: mov.u32 z, 0 ;\n \
         mbarrier.arrive.expect_tx.b64 _, [rb], 16 ;\n cvta.to.shared.u64 ms, rs ;\n \
         cvta.to.shared.u64 mb, rb ;\n cvta.to.global.u64 mg, rg ;\n \
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [ms], [mg], 16, [mb] ;\n \
         A: mbarrier.try_wait.parity.b64 p, [rb], par ;\n @!p bra A ;\n ld.u32 r0, [rs] ;\n \
         add.u32 sum, sum, r0 ;\n add.u64 rb, rb, 8 ;\n add.u64 rs, rs, 16 ;\n \
         add.u64 rg, rg, 16 ;\n add.u32 k, k, 1 ;\n setp.lt.u32 q, k, 2 ;\n @q bra N ;\nforall (P0:sum=15)\n"
    );
    defaults(&text)
}

#[test]
fn a_parity_in_a_register_is_changed_where_it_is_used_or_where_it_begins() {
    assert_eq!(
        rounds("add.u32 par, k, 1"),
        [
            "P0: `mbarrier.try_wait.parity.b64 p, [rb], par` becomes `mbarrier.try_wait.parity.b64 p, [rb], 0`"
        ]
    );
    // Each round waits for the other phase of one object, and begins with the wrong one.
    let text = "PTX begin\nArch=sm_90a\n{ .shared .mbarrier b={1}; }\n P0@cta 0,gpu 0 ;\n \
        mov.u32 ph, 1 ;\n N: mbarrier.arrive.shared::cta.b64 _, [b] ;\n \
        W: mbarrier.try_wait.parity.shared::cta.b64 q, [b], ph ;\n @!q bra W ;\n xor.b32 ph, ph, 1 ;\n \
        add.u32 k, k, 1 ;\n setp.lt.u32 m, k, 2 ;\n @m bra N ;\nforall (P0:q=1)\n";
    assert_eq!(defaults(text), ["P0: `mov.u32 ph, 1` becomes `mov.u32 ph, 0`"]);
    let text = "PTX flip\nArch=sm_90a\n{ .shared .mbarrier b={1}; }\n P0@cta 0,gpu 0 ;\n \
        add.u32 ph, ph, 1 ;\n N: mbarrier.arrive.shared::cta.b64 _, [b] ;\n \
        W: mbarrier.try_wait.parity.shared::cta.b64 q, [b], ph ;\n @!q bra W ;\n xor.b32 ph, ph, 1 ;\n \
        add.u32 k, k, 1 ;\n setp.lt.u32 m, k, 2 ;\n @m bra N ;\nforall (P0:q=1)\n";
    let lines = defaults(text);
    assert!(lines[0].contains("xor.b32 flipped0, ph, 1"), "{lines:?}");
}

#[test]
fn counts_objects_and_state_spaces_are_those_of_the_test() {
    let count = "PTX count\nArch=sm_90a\n{ .shared .mbarrier b; .shared .b32 s; }\n \
        P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n \
        mbarrier.init.shared::cta.b64 [b], 64 | | ;\n bar.sync 0 | bar.sync 0 | bar.sync 0 ;\n \
        L: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 | mbarrier.arrive.shared::cta.b64 _, [b] | \
        mbarrier.arrive.shared::cta.b64 _, [b] ;\n @!p bra L | | ;\nforall (P0:p=1)\n";
    assert_eq!(
        defaults(count),
        [
            "P0: `mbarrier.init.shared::cta.b64 [b], 64` becomes `mbarrier.init.shared::cta.b64 [b], 2`"
        ]
    );
    let element = "PTX stage\nArch=sm_90a\n{ .shared .mbarrier full[2]={{1},{1}}; \
        .shared .b32 s[8]; .global .b32 g[8]={7,7,7,7,8,8,8,8}; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 16 | F: mbarrier.try_wait.parity.shared::cta.b64 p, [full], 0 ;\n \
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s+16], [g+16], 16, [full+8] | @!p bra F ;\n \
        | ld.shared.u32 r1, [s+16] ;\nforall (P1:r1=8)\n";
    let lines = defaults(element);
    assert!(lines[0].ends_with("p, [full+8], 0`"), "{lines:?}");
    let remote = "PTX remote\nArch=sm_90\n{ .shared .mbarrier b={1}; }\n \
        P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 ;\n \
        L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [b], 0 | mapa.shared::cluster.u32 r, b, 0 ;\n \
        @!p bra L | mbarrier.arrive.shared.b64 _, [r] ;\nforall (P0:p=1)\n";
    let lines = defaults(remote);
    assert!(
        lines[0].contains("becomes `mbarrier.arrive.release.cluster.shared::cluster.b64"),
        "{lines:?}"
    );
}

#[test]
fn what_is_asked_about_one_copy_of_the_code_is_asked_about_all() {
    // P2 runs the code of P1 on another GPU.
    let text = "PTX copies\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 1 ;\n \
        st.weak.u32 [x], 1 | ld.relaxed.sys.u32 r0, [f] | ld.relaxed.sys.u32 r0, [f] ;\n \
        st.relaxed.sys.u32 [f], 1 | ld.weak.u32 r1, [x] | ld.weak.u32 r1, [x] ;\n~exists (P1:r0=1 /\\ P1:r1=0)\n";
    assert_eq!(
        defaults(text),
        [
            "P0: `st.relaxed.sys.u32 [f], 1` becomes `st.release.sys.u32 [f], 1`",
            "P1: `ld.relaxed.sys.u32 r0, [f]` becomes `ld.acquire.sys.u32 r0, [f]`",
            "P2: `ld.relaxed.sys.u32 r0, [f]` becomes `ld.acquire.sys.u32 r0, [f]`",
        ]
    );
}

#[test]
fn a_superfluous_fence_is_found_in_all_copies_together() {
    let text = "PTX more\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;\n \
        st.weak.u32 [x], 1 | ld.acquire.gpu.u32 r0, [f] | ld.acquire.gpu.u32 r0, [f] ;\n \
        st.release.gpu.u32 [f], 1 | fence.acq_rel.gpu | fence.acq_rel.gpu ;\n \
        | ld.weak.u32 r1, [x] | ld.weak.u32 r1, [x] ;\n~exists (P1:r0=1 /\\ P1:r1=0)\n";
    let source = SourceTest::read("test", text.as_bytes()).expect("it is a test");
    let model = ptx::model();
    let weakening = weaken(&source, &RepairOptions::new(&model));
    let removed = weakening.superfluous.iter().any(|one| {
        let lines: Vec<String> = one.edit.lines.iter().map(ToString::to_string).collect();
        lines == ["P1: remove `fence.acq_rel.gpu`", "P2: remove `fence.acq_rel.gpu`"]
    });
    assert!(removed, "{:?}", weakening.superfluous);
}

#[test]
fn a_wait_for_groups_goes_into_the_loop() {
    let text = "PTX loop\nArch=sm_90a\n{ .shared .b32 s; .global .b32 g=5; }\n P0@cta 0,gpu 0 ;\n \
        LOOP: cp.async.ca.shared.global [s], [g], 4 ;\n cp.async.commit_group ;\n \
        ld.shared.u32 r, [s] ;\n add.u32 i, i, 1 ;\n setp.lt.u32 q, i, 2 ;\n @q bra LOOP ;\n~exists (P0:r!=5)\n";
    assert_eq!(
        defaults(text),
        ["P0: insert `cp.async.wait_group 0` before `ld.shared.u32 r, [s]`"]
    );
}

#[test]
fn a_hang_is_a_target_and_an_arrival_may_become_a_wait() {
    // The second arrival of P0 completes the barrier that P1 waits for, or P0 is ahead of it.
    let text = "PTX hang\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        bar.sync 1, 2 | bar.sync 1, 3 ;\n mov.u32 z, 1 | mov.u32 z, 1 ;\nforall (P0:z=1)\n";
    let lines = defaults(text);
    assert!(lines[0].contains("becomes `bar.sync 1, "), "{lines:?}");
    let wish = Wish { property: Some(Property::Termination), ..Wish::default() };
    let text = "PTX some\nArch=sm_90a\n{ .shared .mbarrier b={1}; f=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        ld.relaxed.gpu.u32 r0, [f] | st.relaxed.gpu.u32 [f], 1 ;\n setp.eq.u32 p, r0, 0 | ;\n \
        @p bra S | ;\n mbarrier.arrive.shared::cta.b64 _, [b] | ;\n \
        S: mov.u32 z, 1 | W: mbarrier.try_wait.parity.shared::cta.b64 q, [b], 0 ;\n | @!q bra W ;\nexists (P1:q=1)\n";
    let lines = first(text, &wish);
    assert!(lines.iter().all(|line| line.contains("bar.sync")), "{lines:?}");
}

#[test]
fn moves_are_tried_only_if_asked_for() {
    // The count is stored behind the unlock.
    let text = "PTX unlock\n{ x=0; l=1; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
        st.release.gpu.u32 [l], 0 | ld.acquire.gpu.u32 r0, [l] ;\n st.relaxed.gpu.u32 [x], 1 | ld.relaxed.gpu.u32 r1, [x] ;\n\
        ~exists (P1:r0=0 /\\ P1:r1=0)\n";
    assert!(searched(text, &Wish::default()).proposals.is_empty());
    let wish = Wish { moves: true, ..Wish::default() };
    let repairs = searched(text, &wish);
    let proposal = &repairs.proposals[0];
    assert_eq!(
        proposal.edits[0].lines[0].to_string(),
        "P0: move `st.release.gpu.u32 [l], 0` to the end"
    );
    assert!(
        proposal.text.find("[x], 1").is_some_and(|x| x < proposal.text.find("[l], 0").unwrap_or(0))
    );
}

#[test]
fn a_barrier_under_a_guard_loses_it_and_one_thread_arrives_under_its_own() {
    let column = [
        "setp.eq.u32 p, i, 0",
        "st.u32 [own], 1",
        "@p bar.sync 0",
        "ld.u32 r, [next]",
        "mov.u32 z, 1",
    ];
    let given = format!("{EMPTY_SLOTS} P0:i=0; P1:i=1;");
    let text = twins(&given, &column, "forall (P0:r=1 /\\ P1:r=1)");
    let proposals = searched(&text, &Wish::default()).proposals;
    let lines: Vec<String> =
        proposals[0].edits.iter().flat_map(|edit| &edit.lines).map(ToString::to_string).collect();
    let becomes = |thread: &str| format!("{thread}: `@p bar.sync 0` becomes `bar.sync 0`");
    assert_eq!(lines, [becomes("P0"), becomes("P1")]);
    assert!(proposals[0].notes.is_empty());
    // The last thread passes a barrier of its own, when the other one has exited.
    assert!(proposals[1..].iter().any(|one| one.notes.iter().any(|of| of.code == "exited-thread")));
    let text = "PTX one\nArch=sm_90\n{ .shared .mbarrier b={1}; .shared .u32 s; P0:i=0; P1:i=1; }\n \
        P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n \
        setp.eq.u32 w, i, 0 | setp.eq.u32 w, i, 0 | W: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ;\n \
        @w st.shared.u32 [s], 7 | @w st.shared.u32 [s], 7 | @!p bra W ;\n \
        mov.u32 z, 1 | mov.u32 z, 1 | ld.shared.u32 r, [s] ;\nforall (P2:r=7)\n";
    let insert = |thread: &str| {
        format!("{thread}: insert `@w mbarrier.arrive.shared::cta.b64 _, [b]` at the end")
    };
    assert_eq!(defaults(text), [insert("P0"), insert("P1")]);
}

#[test]
fn a_fence_between_instructions_under_one_guard_is_under_it_too() {
    let text = "PTX guard\n{ x=0; f=0; P0:i=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
        setp.eq.u32 p, i, 0 | ld.acquire.gpu.u32 r0, [f] ;\n @p st.weak.u32 [x], 1 | ld.weak.u32 r1, [x] ;\n \
        @p red.relaxed.gpu.add.u32 [f], 1 | ;\n~exists (P1:r0=1 /\\ P1:r1=0)\n";
    let proposals = searched(text, &Wish::default()).proposals;
    let fence = "P0: insert `@p fence.acq_rel.gpu` before `@p red.relaxed.gpu.add.u32 [f], 1`";
    let has = |one: &repair::Proposal| one.edits[0].lines[0].to_string() == fence;
    assert!(proposals.iter().any(has), "{proposals:#?}");
}

#[test]
fn the_number_of_a_barrier_and_counts_in_braces_are_operands_too() {
    let text = "PTX id\n{ .shared .u32 s; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n \
        st.shared.u32 [s], 7 | bar.sync 2, 2 | bar.sync 0 ;\n bar.arrive 1, 2 | ld.shared.u32 r, [s] | ;\n \
        bar.sync 0 | bar.sync 0 | ;\nforall (P1:r=7)\n";
    assert_eq!(defaults(text), ["P1: `bar.sync 2, 2` becomes `bar.sync 1, 2`"]);
    let text = "PTX count\nArch=sm_90\n{ .shared .mbarrier b={3}; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n \
        mbarrier.arrive.shared::cta.b64 _, [b] | mbarrier.arrive.shared::cta.b64 _, [b] | \
        W: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ;\n \
        | | @!p bra W ;\nforall (P2:p=1)\n";
    assert_eq!(defaults(text), ["braces: `b={3}` becomes `b={2}`"]);
    let given = format!("{EMPTY_SLOTS} P0:n=3; P1:n=3;");
    let column = ["st.u32 [own], 1", "bar.sync 1, n", "ld.u32 r, [next]"];
    let text = twins(&given, &column, "forall (P0:r=1 /\\ P1:r=1)");
    assert_eq!(
        defaults(&text),
        ["braces: `P0:n=3` becomes `P0:n=2`", "braces: `P1:n=3` becomes `P1:n=2`"]
    );
    let text = "PTX parity\nArch=sm_90\n{ .shared .mbarrier b={1}; .shared .u32 s; P1:ph=1; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        st.shared.u32 [s], 7 | W: mbarrier.try_wait.parity.shared::cta.b64 p, [b], ph ;\n \
        mbarrier.arrive.shared::cta.b64 _, [b] | @!p bra W ;\n | ld.shared.u32 r, [s] ;\nforall (P1:r=7)\n";
    let repairs = searched(text, &Wish::default());
    let lines = repairs.proposals.iter().map(|one| one.edits[0].lines[0].to_string());
    assert!(lines.into_iter().any(|line| line == "braces: `P1:ph=1` becomes `P1:ph=0`"));
}

/// A strong access to local memory has no meaning, and the address may be one of local memory.
#[test]
fn an_access_that_may_not_be_strong_leaves_the_orders_of_others() {
    let text = "PTX local\n{ .local .u32 l=0; .u64 p=0; flag=0; P0:g=l; }\n \
        P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.u32 [g], 1 | ld.acquire.gpu.u32 r0, [flag] ;\n \
        st.weak.u64 [p], g | setp.eq.u32 q, r0, 1 ;\n st.relaxed.gpu.u32 [flag], 1 | @q ld.weak.u64 h, [p] ;\n \
        | @q ld.u32 r1, [h] ;\n~exists (P1:r0=1 /\\ P1:r1!=0)\n";
    assert_eq!(
        defaults(text),
        ["P0: `st.relaxed.gpu.u32 [flag], 1` becomes `st.release.gpu.u32 [flag], 1`"]
    );
}

/// That some executions never finish is seen also where the outcome is found first, and what lets all finish is better.
#[test]
fn a_repair_after_which_some_executions_never_finish_says_so() {
    let text = "PTX some\n{ y=0; }\n P0@cta 1,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 | P2@cta 0,cluster 0,gpu 0 ;\n \
        bar.sync 0 | bar.arrive 0, 2 | atom.relaxed.cta.add.u32 r0, [y], 1 ;\n | st.weak.b32 [y], 1 | ;\n \
        | bar.sync 0, 2 | ;\nexists (2:r0=1 /\\ y=2)\n";
    let proposals = searched(text, &Wish::default()).proposals;
    assert!(proposals.iter().any(|one| one.stuck == Some(true)));
    assert!(proposals.is_sorted_by_key(|one| (one.cost.edits, one.stuck)));
}

#[test]
fn a_barrier_in_an_arm_goes_to_where_the_threads_join() {
    let column = [
        "setp.eq.u32 p, i, 0",
        "@p bra E",
        "st.shared.u32 [s], 1",
        "bar.sync 0",
        "E: ld.shared.u32 r, [s]",
        "bar.sync 0",
        "mov.u32 z, 3",
    ];
    let given = ".shared .u32 s; P0:i=0; P1:i=1;";
    let text = twins(given, &column, "forall (P0:r=1 /\\ P1:r=1)");
    let lines = defaults(&text);
    let moved = "P0: move `bar.sync 0` in line 7 before `ld.shared.u32 r, [s]`";
    assert_eq!(lines[0], moved);
}

#[test]
fn a_barrier_after_an_initialization_comes_right_after_it() {
    let text = "PTX init\nArch=sm_90\n{ .shared .mbarrier b; .shared .u32 s; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        mbarrier.init.shared::cta.b64 [b], 1 | W: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ;\n \
        st.shared.u32 [s], 1 | @!p bra W ;\n mbarrier.arrive.shared::cta.b64 _, [b] | ld.shared.u32 r, [s] ;\nforall (P1:r=1)\n";
    assert_eq!(defaults(text)[0], "P0: insert `bar.sync 0` before `st.shared.u32 [s], 1`");
}

#[test]
fn a_move_is_tried_where_it_is_one_edit_and_what_was_found_is_more() {
    let text = "PTX early\nArch=sm_90\n{ .shared .mbarrier e={1}; .shared .u32 s=5; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        W: mbarrier.try_wait.parity.shared::cta.b64 p, [e], 0 | mbarrier.arrive.shared::cta.b64 _, [e] ;\n \
        @!p bra W | ld.shared.u32 a, [s] ;\n st.shared.u32 [s], 6 | mov.u32 z, 0 ;\nforall (P1:a=5)\n";
    assert!(defaults(text).iter().all(|line| line.contains("bar.sync 0")));
    let wish = Wish { moves: true, ..Wish::default() };
    assert_eq!(
        first(text, &wish),
        ["P1: move `mbarrier.arrive.shared::cta.b64 _, [e]` before `mov.u32 z, 0`"]
    );
}

/// Data that is accessed by relaxed instructions has no race, and may still be old: what the condition asks comes first.
#[test]
fn without_a_race_the_condition_holds_too_if_it_can() {
    let text = "PTX data\n{ .shared .u32 s; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        st.shared.u32 [s], 1 | ld.shared.u32 r, [s] ;\nforall (P1:r=1)\n";
    let wish = Wish { property: Some(Property::NoDataRace), ..Wish::default() };
    let proposals = searched(text, &wish).proposals;
    let holds: Vec<Option<bool>> = proposals.iter().map(|one| one.holds).collect();
    assert_eq!((holds.first(), holds.last()), (Some(&Some(true)), Some(&Some(false))));
    assert!(first(text, &wish).iter().all(|line| line.contains("bar.sync 0")));
}

#[test]
fn threads_that_meet_under_a_guard_meet_once_more_under_it() {
    let column = [
        "setp.lt.u32 c, i, 2",
        "@c st.u32 [own], 1",
        "@c bar.sync 1, 2",
        "@c ld.u32 a, [next]",
        "@c st.u32 [own], 2",
    ];
    let rows: Vec<String> =
        column.iter().map(|cell| format!(" {cell} | {cell} | {cell} ;\n")).collect();
    let text = format!(
        "PTX group\n{{ {EMPTY_SLOTS} P0:i=0; P1:i=1; P2:i=2; P2:own=s; P2:next=s; }}\n \
         P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n{}forall (P0:a=1 /\\ P1:a=1)\n",
        rows.concat()
    );
    let lines = defaults(&text);
    assert_eq!(lines[0], "P0: insert `@c bar.sync 1, 2` before `@c st.u32 [own], 2`");
}

#[test]
fn of_two_uses_of_one_number_the_later_one_gets_another() {
    let text = "PTX stages\n{ .shared .u32 s[2]; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
        st.shared.u32 [s], 1 | bar.sync 1, 2 ;\n bar.arrive 1, 2 | ld.shared.u32 a, [s] ;\n \
        st.shared.u32 [s+4], 2 | bar.sync 1, 2 ;\n bar.arrive 2, 2 | ld.shared.u32 b, [s+4] ;\n\
        forall (P1:a=1 /\\ P1:b=2)\n";
    assert_eq!(defaults(text), ["P1: `bar.sync 1, 2` in line 6 becomes `bar.sync 2, 2`"]);
}

#[test]
fn a_tracked_copy_is_one_of_the_arrivals_that_a_count_expects() {
    let text = "PTX tracked\nArch=sm_90a\n{ .shared .mbarrier b; .global .b32 g[4]={7}; .shared .align 16 .b32 s[4]; }\n \
        P0@cta 0,gpu 0 ;\n mbarrier.init.shared::cta.b64 [b], 64 ;\n \
        cp.async.cg.shared::cta.global [s], [g], 16 ;\n cp.async.mbarrier.arrive.noinc.shared::cta.b64 [b] ;\n \
        mbarrier.arrive.shared::cta.b64 _, [b] ;\n L: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ;\n \
        @!p bra L ;\n ld.weak.shared::cta.u32 r0, [s] ;\n~exists (P0:r0=0)\n";
    let lines = defaults(text);
    assert!(lines[0].ends_with("becomes `mbarrier.init.shared::cta.b64 [b], 2`"), "{lines:?}");
}
