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
