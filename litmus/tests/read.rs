//! What tests are read as, and that nothing makes the reader panic.

use litmus::{Dialect, Prop, Quantifier, Test, parse};
use model::isa::alu::Branch;
use model::isa::asynchronous::{AsyncFence, Asynchronous, FenceWindow, GroupKind};
use model::isa::bar::{BarrierKind, ClusterBarrier, ClusterBarrierKind};
use model::isa::fence::{FenceOrder, ProxyFence};
use model::isa::ld::LoadOrder;
use model::isa::{Instruction, Operand, SpaceQualifier};
use model::memory::{Home, Proxy, Space};
use model::program::{InitialValue, Observed, ThreadId};
use model::scope::Scope;
use proptest::prelude::*;

const MP: &str = r#"PTX MP+st.release.gpu+ld.acquire.gpu
"A release and an acquire at gpu scope"
"order the data
across CTAs."
Forbidden-by=Causality
Com=Rf Fr
{
x=0; uint64_t flag=0x10; P1:r9=&x; 0:r3=7;
}
 P0@cta 0,cluster 0,gpu 0     | P1@cta 1,cluster 0,gpu 0           ; (* two CTAs *)
 st.weak.u32 [x], 1           | ld.acquire.gpu.u64 %r0, [flag]     ; // the flag
 st.release.gpu.u64 [flag], 1 | ld.weak.u32 r1, [r9]               ;
locations [flag;]
filter 0:r3=7
~exists (P1:r0=1 /\ 1:r1=0 /\ not (x != 1 \/ 0:r3=-1))
"#;

const PEER: &str = r#"PTX spin
"a peer's test"
{
x = 0;
y @ generic aliases x;
s @ surface aliases y;
flag = 1;
P1:r2=1;
}
 P0@cta 0,gpu 0     |P1@cta 0, gpu 0	;
 ld r1, 2           |LC00:              ;
 st.weak x, r1      |ld.acquire.gpu r0, flag;
 sust.weak s, 3     |beq r0, 0, LC01    ;
 bar.cta.sync 3     |goto LC00          ;
 red.acq_rel.sys.sub x, 1|LC01:         ;
 bar.cta.sync 1, 2, 4|atom.relaxed.gpu.cas r3, h, 0, 1;
 fence.proxy.surface|bne r2, 0, LC99    ;
exists
(P1:r0 == 1 /\ 0:r1 == P1:r2)"#;

fn read(text: &str) -> Test {
    parse("test.litmus", text.as_bytes()).unwrap_or_else(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", errors.join("\n"))
    })
}

#[test]
fn a_text_has_the_tests_that_begin_with_their_lines() {
    let inside = "(* before *)\nPTX one\n\"PTX no\"\n{ x=0; }\n P0@cta 0,gpu 0 ;\n (*\nPTX no\n*) ;\nexists ([x]=0)\n";
    let text = format!("{inside}{MP}\nPTX last\n");
    let tests: Vec<&str> = litmus::tests_of(&text).into_iter().map(|at| &text[at]).collect();
    assert_eq!(tests, [inside, &format!("{MP}\n"), "PTX last\n"]);
    for text in [MP, ""] {
        let tests: Vec<&str> = litmus::tests_of(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(tests, [text]);
    }
    let errors = parse("two.litmus", text.as_bytes()).expect_err("it has three");
    let [error] = &errors[..] else { panic!("{} errors", errors.len()) };
    let shown = format!("{error:#}");
    assert!(shown.contains("two.litmus:10:1") && shown.contains("check -"), "{shown}");
}

#[test]
fn a_test_of_another_tool_is_one_error() {
    let text = "LISA t\n{ x=0; }\n P0 ;\n w[weak] x 1 ;\nscopes: (sys (cta P0))\nexists (0:r0=1)\n";
    let errors = parse("t.litmus", text.as_bytes()).expect_err("it is not PTX");
    let [error] = &errors[..] else { panic!("{} errors", errors.len()) };
    assert!(error.to_string().contains("`LISA`"), "{error}");
}

/// The instructions of one thread of a test with these declarations.
fn instructions(init: &str, cells: &[&str]) -> Vec<Instruction> {
    let rows: String = cells.iter().flat_map(|cell| [" ", *cell, " ;\n"]).collect();
    let text = format!("PTX one\n{{ {init} }}\n P0@cta 0 ;\n{rows}exists (true)\n");
    let lines = read(&text).program.threads.remove(0).lines;
    lines.into_iter().map(|line| line.instruction).collect()
}

#[test]
fn the_frame_is_read() {
    let test = read(MP);
    assert_eq!(test.name, "MP+st.release.gpu+ld.acquire.gpu");
    assert_eq!(test.doc, ["A release and an acquire at gpu scope", "order the data\nacross CTAs."]);
    assert_eq!(test.meta("Forbidden-by"), Some("Causality"));
    assert_eq!(test.meta("Com"), Some("Rf Fr"));
    assert_eq!(test.meta("Undefined"), None);
    assert_eq!(test.dialect, Dialect::Ptx);
    assert_eq!(test.quantifier, Quantifier::NotExists);
    assert_eq!(
        test.condition_text,
        "~exists (1:r0=1 /\\ 1:r1=0 /\\ not (not ([x]=1) \\/ 0:r3=-1))"
    );
    let [p0, p1] = &test.program.threads[..] else { panic!("there are two threads") };
    assert_eq!(p1.placement.to_string(), "cta 1,cluster 0,gpu 0");
    assert_eq!(p0.lines[1].text, "st.release.gpu.u64 [flag], 1");
    assert_eq!(test.line_numbers, [[11, 12], [11, 12]]);
    assert_eq!(test.condition_line, 15);
    let flag = &test.program.variables[1];
    assert_eq!((flag.initial.clone(), flag.declared), (16_u64.to_le_bytes().to_vec(), true));
    assert_eq!(test.program.variables[0].initial, [0; 4]);
    let r9 = &p1.registers[0];
    assert!(matches!(r9.initial, InitialValue::Address { thread: ThreadId(1), .. }));
    assert_eq!(test.program.observed.len(), 5);
    assert_eq!(test.display_outcome(&[7, 1, 0, 1, 1]), "0:r3=7; 1:r0=1; 1:r1=0; [x]=1; [flag]=1;");
}

#[test]
fn line_ends_and_the_end_of_the_file_do_not_matter() {
    let plain = read(MP);
    let mut other = read(&MP.replace('\n', "\r\n"));
    other.doc.clone_from(&plain.doc);
    assert_eq!(plain, other);
    assert_eq!(plain, read(MP.trim_end()));
    assert_eq!(plain, read(&format!("\u{feff}{MP}")));
}

#[test]
fn the_peer_dialect_is_read() {
    let test = read(PEER);
    assert_eq!(test.dialect, Dialect::Peer);
    let [p0, p1] = &test.program.threads[..] else { panic!("there are two threads") };
    assert!(matches!(p0.lines[0].instruction, Instruction::Alu(_)));
    assert!(
        matches!(&p0.lines[2].instruction, Instruction::Store(st) if st.proxy == Proxy::Surface)
    );
    let barriers: Vec<_> = [3, 5]
        .map(|line| {
            let Instruction::Barrier(b) = &p0.lines[line].instruction else { panic!("no barrier") };
            (b.instance, b.id, b.count)
        })
        .into();
    assert_eq!(barriers[0], (Some(3), Operand::Imm(0), None));
    assert_eq!(barriers[1], (Some(1), Operand::Imm(2), Some(Operand::Imm(4))));
    let targets: Vec<usize> = p1
        .lines
        .iter()
        .filter_map(|line| {
            let Instruction::Branch(Branch { target, .. }) = &line.instruction else { return None };
            Some(*target)
        })
        .collect();
    assert_eq!(targets, [3, 0, 5], "a label that is nowhere ends the thread");
    let [x, y, s, ..] = &test.program.variables[..] else { panic!("there are variables") };
    assert_eq!(x.initial.len(), 8);
    assert_eq!(y.alias.map(|alias| (alias.of.0, alias.proxy)), Some((0, Proxy::Generic)));
    assert_eq!(s.alias.map(|alias| (alias.of.0, alias.proxy)), Some((1, Proxy::Surface)));
    let h = test.program.variables.last().map(|variable| variable.name.as_str());
    assert_eq!(h, Some("h"), "an undeclared variable begins as 0");
}

#[test]
fn the_dialect_is_that_of_the_instructions_unless_it_is_named() {
    let typed = "PTX a\n{ x; }\n P0@cta 0 ;\n st.u32 [x], 1 ;\nexists (x=1)";
    assert_eq!(read(typed).dialect, Dialect::Ptx);
    let fences = "PTX a\n{ x; }\n P0@cta 0 ;\n fence.sc.gpu ;\nexists (x=0)";
    assert_eq!(read(fences).dialect, Dialect::Ptx);
    assert_eq!(read(&fences.replace("{ x", "Dialect=peer\n{ x")).dialect, Dialect::Peer);
}

#[test]
fn qualifiers_stand_in_any_order() {
    let one = instructions("x;", &["ld.global.acquire.gpu.u32 r0, [x]"]);
    assert_eq!(one, instructions("x;", &["ld.acquire.gpu.global.u32 %r0, [x]"]));
    let [Instruction::Load(load)] = &one[..] else { panic!("{one:?}") };
    assert_eq!(load.order, LoadOrder::Acquire(Scope::Gpu));
    assert_eq!(load.space, SpaceQualifier::Global);
    for hinted in ["ld.ca.u32 r0, [x]", "ld.L1::evict_last.u32 r0, [x]"] {
        assert_eq!(instructions("x;", &[hinted]), instructions("x;", &["ld.u32 r0, [x]"]));
    }
    let hinted = instructions("x;", &["ld.global.nc.L2::cache_hint.v2.u32 {r0, _}, [x], policy"]);
    let [Instruction::Load(load)] = &hinted[..] else { panic!("{hinted:?}") };
    assert_eq!((load.order, load.destinations.len()), (LoadOrder::NonCoherent, 2));
    assert_eq!(load.destinations[1], None);
}

#[test]
fn barriers_and_fences_are_read() {
    let all = instructions(
        "x;",
        &[
            "bar.sync 0",
            "barrier.cta.arrive.aligned 1, 2",
            "bar.red.or.pred p, 0, !q",
            "barrier.cluster.arrive.relaxed.aligned",
            "barrier.cluster.wait",
            "membar.gl",
            "fence.cta",
            "fence.proxy.alias",
        ],
    );
    let kind = |index: usize| {
        let Instruction::Barrier(barrier) = &all[index] else { panic!("{:?}", all[index]) };
        barrier.kind
    };
    assert_eq!((kind(0), kind(1)), (BarrierKind::Sync, BarrierKind::Arrive));
    assert!(matches!(kind(2), BarrierKind::Reduce { negated: true, .. }));
    let aligned = ClusterBarrier { kind: ClusterBarrierKind::ArriveRelaxed, aligned: true };
    assert_eq!(all[3], Instruction::ClusterBarrier(aligned));
    assert_eq!(all[4], Instruction::ClusterBarrier(ClusterBarrierKind::Wait.unaligned()));
    assert!(matches!(&all[5], Instruction::Fence(f) if f.order == FenceOrder::Sc));
    assert!(matches!(&all[6], Instruction::Fence(f) if f.order == FenceOrder::AcqRel));
    assert_eq!(all[7], Instruction::ProxyFence(ProxyFence::Alias));
}

#[test]
fn asynchronous_instructions_are_read() {
    let source = "PTX asynchronous\n{ .shared .mbarrier b; .shared .b32 s[4]; g=0; }\n P0@cta 0 ;\n \
        mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [b], 16 ;\n \
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b] ;\n \
        cp.async.wait_all ;\n fence.proxy.async.global ;\n bar.warp.sync 0xffffffff ;\n\
        exists (g=0)\n";
    let test = parse("asynchronous", source.as_bytes()).expect("it is a test");
    let lines: Vec<&Instruction> =
        test.program.threads[0].lines.iter().map(|line| &line.instruction).collect();
    assert!(matches!(lines[0], Instruction::Asynchronous(Asynchronous::Mbarrier(of))
        if of.synchronizes && of.scope == Scope::Cta));
    assert!(matches!(lines[1], Instruction::Asynchronous(Asynchronous::Copy(of)) if of.bulk));
    assert!(matches!(lines[2], Instruction::Asynchronous(Asynchronous::WaitGroup(of))
        if of.commits && of.of == GroupKind::Copies));
    assert_eq!(
        *lines[3],
        Instruction::Asynchronous(Asynchronous::Fence(AsyncFence::Proxy(FenceWindow::Global)))
    );
    assert!(matches!(lines[4], Instruction::Barrier(of) if of.warp));
    for (cell, code) in [
        ("mbarrier.arive.shared.b64 _, [x]", "modifier"),
        ("cp.async.cg.shared.global [x], [x], 8", "production"),
        ("cp.async.bulk.shared::cta.global [x], [x], 16, [x]", "production"),
    ] {
        let source = format!("PTX a\n{{ x; }}\n P0@cta 0 ;\n {cell} ;\nexists (x=0)\n");
        match parse("a", source.as_bytes()) {
            Ok(_) => panic!("{cell} is read"),
            Err(errors) => assert!(errors[0].code.starts_with(code), "{cell}: {}", errors[0]),
        }
    }
}

#[test]
fn what_the_model_leaves_out_is_unsupported_and_no_error() {
    for cell in [
        "tex.2d.v4.f32.s32 {r0, r1, r2, r3}, [t, {r0, r1}]",
        "multimem.ld_reduce.relaxed.sys.global.add.f16x2 r0, [x]",
        "fence.proxy.generic::fabric.alias.acquire.sys",
        "atom.add.noftz.f16 r0, [x], 0x3c00",
        "atom.global.add.v2.f32 {r0, r1}, [x], {r2, r3}",
        "suld.b.2d.v2.s32.trap {r0, r1}, [s, {r0, r1}]",
    ] {
        let read = instructions("x;", &[cell]);
        assert!(matches!(&read[..], [Instruction::Unsupported(_)]), "{cell}: {read:?}");
    }
}

#[test]
fn extents_come_from_types_then_accesses() {
    let source = "PTX extents\n{ a; b; .shared .u8 c; int d[3]={1,-1}; P0:r9=b; }\n P0@cta 0 ;\n \
                st.u16 [a+2], 1 ;\n st.u64 [r9], 1 ;\n ld.shared.u8 r0, [c] ;\n \
                exists (d[1]=-1 /\\ [d+4]=-1)\n";
    let test = read(source);
    let lengths: Vec<usize> = test.program.variables.iter().map(|v| v.initial.len()).collect();
    assert_eq!(lengths, [4, 8, 1, 12]);
    assert_eq!(test.program.variables[2].space, Space::Shared);
    assert_eq!(test.program.variables[3].initial[4..8], [0xff; 4]);
    assert_eq!(test.program.observed.len(), 1);
    assert!(test.proposition.holds(&test.program, &[0xffff_ffff]));
}

#[test]
fn each_cta_has_its_copy_of_a_shared_variable() {
    let source = "PTX copies\n{ .shared .u32 x; P0:r9=x@P2; }\n P0@cta 0 | P1@cta 0 | P2@cta 1 ;\n \
                st.shared.u32 [x], 1 | | ;\nexists ([x@P1]=1 /\\ x@2=0 /\\ [x@P0]=1)\n";
    let test = read(source);
    let copies: Vec<ThreadId> = test
        .program
        .observed
        .iter()
        .map(|observed| match observed {
            Observed::Memory { thread, .. } => *thread,
            Observed::Register { .. } => panic!("no register is observed"),
        })
        .collect();
    assert_eq!(copies, [ThreadId(0), ThreadId(2)]);
    assert_eq!(test.display_outcome(&[1, 0]), "[x@P0]=1; [x@P2]=0;");
    let r9 = test.program.threads[0].registers[0].initial;
    assert!(matches!(r9, InitialValue::Address { thread: ThreadId(2), offset: 0, .. }));
}

#[test]
fn machine_settings_are_read() {
    let source = "PTX settings\n{ x=1 @home host; .global .u32 y[2]={1,2} @ home gpu 1; z; }\n \
                P0@cta 0,sm 3 | P1@cta 0 | P2@cta 1,sm 3 | P3@cta 2 ;\n st.u32 [x], 1 | | | ;\nexists (x=1)\n";
    let test = read(source);
    let homes: Vec<Option<Home>> = test.program.variables.iter().map(|of| of.home).collect();
    assert_eq!(homes, [Some(Home::Host), Some(Home::Gpu(1)), None]);
    let sms: Vec<Option<u32>> = test.program.threads.iter().map(|of| of.placement.sm).collect();
    assert_eq!(sms, [Some(3), Some(3), Some(3), None]);
    assert_eq!(test.program.threads[0].placement.to_string(), "cta 0,gpu 0,sm 3");
}

#[test]
fn comparisons_look_at_the_bits_there_are() {
    let source = "PTX bits\n{ x; }\n P0@cta 0 ;\n ld.u8 r0, [x] ;\n ld.s32 r1, [x] ;\n\
                exists (0:r0=-1 /\\ 0:r0=255 /\\ 0:r0=0:r1)\n";
    let test = read(source);
    assert!(test.proposition.holds(&test.program, &[0xff, 0xffff_ff80 | 0xff]));
    assert!(!test.proposition.holds(&test.program, &[0xff, 0]));
    let constants = read("PTX c\n{ }\n P0@cta 0 ;\n ;\nexists 0==0");
    assert!(constants.proposition.holds(&constants.program, &[]));
    assert_eq!(constants.condition_text, "exists (0=0)");
}

#[test]
fn connectives_bind_as_in_herd() {
    let condition = |text: &str| {
        let source = format!("PTX c\n{{ x; }}\n P0@cta 0 ;\n ;\nexists ({text})");
        let test = read(&source);
        (test.condition_text.clone(), test.proposition)
    };
    let (text, prop) = condition("x=1 \\/ x=2 /\\ x=3 => ~x=4 && true");
    assert_eq!(text, "exists ([x]=1 \\/ [x]=2 /\\ [x]=3 => not ([x]=4) /\\ true)");
    assert!(matches!(prop, Prop::Implies(..)));
    let (text, prop) = condition("(x=1 || x=2) /\\ (x=3 => x>=4)");
    assert_eq!(text, "exists (([x]=1 \\/ [x]=2) /\\ ([x]=3 => [x]>=4))");
    assert!(matches!(prop, Prop::And(_)));
}

/// A text with a few of its characters, or of its lines, changed.
fn mutated(text: &'static str) -> impl Strategy<Value = String> {
    let signs = prop::sample::select(vec![
        "",
        " ",
        "\n",
        ";",
        "|",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ":",
        ".",
        "::",
        ",",
        "@",
        "=",
        "-",
        "~",
        "\"",
        "(*",
        "//",
        "x",
        "P0",
        "0",
        "99999999999",
        "not ",
        "exists",
        "_",
        "%",
        "é",
        "\0",
    ]);
    let change = (0..text.len(), 0_usize..12, signs);
    prop::collection::vec(change, 1..8).prop_map(move |changes| {
        let mut text = text.to_owned();
        for (at, length, sign) in changes {
            let floor =
                |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
            let (start, end) = (floor(at).unwrap_or(0), floor(at + length).unwrap_or(0));
            text.replace_range(start..end.max(start), sign);
        }
        text
    })
}

/// Whatever the input, the answer is a test, or errors that can be shown.
fn survives(bytes: &[u8]) {
    match parse("any.litmus", bytes) {
        Ok(test) => {
            let values = vec![1; test.program.observed.len()];
            test.proposition.holds(&test.program, &values);
            test.display_outcome(&values);
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                assert!(!error.to_string().is_empty());
            }
            assert!(errors.is_sorted_by_key(|error| (error.span.line, error.span.column)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(&bytes);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "PTX a\n\\{[ -~\n]{0,60}\\}\n P0@cta 0 ;[ -~\n]{0,200}") {
        survives(text.as_bytes());
    }

    #[test]
    fn no_change_of_a_test_makes_the_reader_panic(text in prop_oneof![mutated(MP), mutated(PEER)]) {
        survives(text.as_bytes());
    }
}

/// The only instruction of a test, in words.
fn only(source: &str) -> String {
    let test = parse("t.litmus", source.as_bytes());
    let test = test.unwrap_or_else(|errors| panic!("{source}: {}", errors[0]));
    format!("{:?}", test.program.threads[0].lines[0].instruction)
}

#[test]
fn what_is_outside_the_model_is_unsupported_and_no_error_of_syntax() {
    for outside in [
        "mov.u32 r0, %tid.x",
        "mov.u32 r0, %laneid",
        "mov.u64 r0, %clock64",
        "mov.u32 r0, %reserved_smem_offset_2",
        "st.weak.u32 [x], %ctaid.y",
        "discard.global.L2 [x], 128",
        "lop3.or.b32 r0|p, r1, r1, r1, 0x80, q",
        "add.ftz.f32 r0, r1, r2",
        "rcp.approx.f32 r0, r1",
        "div.u32 r0, r1, 0",
        "tex.2d.v4.f32.s32 {r0, r1, r2, r3}, [x, {r1, r2}]",
    ] {
        let source = format!("PTX t\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n {outside} ;\nexists (x=0)\n");
        assert!(only(&source).starts_with("Unsupported("), "{outside}: {}", only(&source));
    }
    let own = "PTX t\n{ x=0; }\n P0@cta 0,gpu 0 ;\n mov.u32 r0, %tidy ;\nexists (x=0)\n";
    assert!(only(own).starts_with("Alu("), "a register may be called so");
}

#[test]
fn what_has_no_effect_is_no_line() {
    for nothing in [
        "nanosleep.u32 100",
        "@p nanosleep.u32 r0",
        "prefetch.global.L2::evict_last [x]",
        "prefetchu.L1 [x]",
        "applypriority.global.L2::evict_normal [x], 128",
        "setmaxnreg.inc.sync.aligned.u32 240",
        "L0: pmevent 3",
    ] {
        let source = format!(
            "PTX t\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n {nothing} ;\n st.weak.u32 [x], 1 ;\nexists (x=0)\n"
        );
        assert!(only(&source).starts_with("Store("), "{nothing}: {}", only(&source));
    }
}

#[test]
fn a_bar_between_two_results_separates_no_cells() {
    let source = "PTX t\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
        setp.eq.u32 p|q, r0, 0|setp.ne.u32 p | q, r0, 1 ;\n fence.sc.gpu|ld.weak.u32 r0, [x] ;\nexists (x=0)\n";
    let test = parse("t.litmus", source.as_bytes()).expect("two threads");
    let lines: Vec<usize> = test.program.threads.iter().map(|thread| thread.lines.len()).collect();
    assert_eq!(lines, [5, 5]);
}

#[test]
fn quotes_inside_documentation_are_part_of_it() {
    for (header, doc) in [
        ("\"a \"quoted\" word\"", &["a \"quoted\" word"][..]),
        ("\"a \"quoted\" word\"\n\"more\"", &["a \"quoted\" word", "more"]),
        ("\"one\" \"two\"", &["one", "two"]),
        ("\"over\ntwo lines\"", &["over\ntwo lines"]),
        ("\"a\" (* \"not this\" *)", &["a"]),
    ] {
        let source = format!(
            "PTX t\n{header}\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n ld.weak.u32 r0, [x] ;\nexists (x=0)\n"
        );
        let test = parse("t.litmus", source.as_bytes());
        let test = test.unwrap_or_else(|errors| panic!("{header}: {}", errors[0]));
        assert_eq!(test.doc, doc);
    }
}

#[test]
fn fences_of_the_peer_alone_tell_its_dialect() {
    for fence in ["texture", "constant", "surface", "generic"] {
        let source = format!(
            "PTX t\n{{ x=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n fence.proxy.{fence} | fence.sc.sys ;\nexists (x=0)\n"
        );
        assert!(only(&source).starts_with("ProxyFence("), "{fence}");
    }
}
