//! Instructions that are checked by productions: asynchronous ones, and those of warps.

use ptx::LintOptions;
use text::diagnostic::Severity;

/// The module in which an instruction stands.
fn module(isa: &str, target: &str, instruction: &str) -> String {
    let wide = if instruction.contains("%q") { ".reg .b128 %q<4>;" } else { "" };
    let narrow = if instruction.contains("%c") { ".reg .b8 %c<4>;" } else { "" };
    format!(
        ".version {isa}\n.target {target}\n.address_size 64\n\
         .visible .entry k(.param .u64 p0, .param .u32 p1) {{\n\
         .reg .b64 %rd<12>; .reg .b32 %r<40>; .reg .b16 %h<8>; .reg .f32 %f<140>; .reg .f64 %fd<4>; .reg .pred %p<8>;\n\
         {wide} {narrow} .shared .align 128 .b8 s[4096]; .shared .align 8 .b64 bar;\n\
         {instruction}\nret; }}\n"
    )
}

/// The codes of what is said of an instruction, and how bad it is.
pub(crate) fn said(isa: &str, target: &str, instruction: &str) -> Vec<(&'static str, Severity)> {
    let text = module(isa, target, instruction);
    let linted = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default());
    linted.diagnostics.iter().map(|one| (one.code, one.severity)).collect()
}

#[test]
fn what_ptxas_accepts_of_asynchronous_instructions_is_accepted() {
    let rows = ::measured::rows("asynchronous-accept");
    let (mut judged, mut wrong) = (0, Vec::new());
    for row in &rows {
        let [_, instruction, isa, target, verdict, diagnostic] = &row[..] else {
            panic!("{row:?} has not six fields")
        };
        if verdict != "accept" && verdict != "reject" {
            continue;
        }
        judged += 1;
        let said = said(isa, target, instruction);
        let accepted = said.iter().all(|(_, severity)| *severity != Severity::Error);
        if accepted != (verdict == "accept") {
            wrong.push(format!(
                "{isa} {target} {instruction}: {verdict} ({diagnostic}), here {said:?}"
            ));
        }
    }
    eprintln!("{judged} rows judged; {} differ", wrong.len());
    assert!(judged > 10_000, "only {judged} rows");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_the_pages_show_is_accepted() {
    for (isa, target, instruction) in [
        ("7.0", "sm_80", "cp.async.ca.shared.global [%r1], [%rd1], 8, 4;"),
        ("7.5", "sm_80", "cp.async.cg.shared::cta.global.L2::128B [%r1], [%rd1], 16, %p1;"),
        ("7.0", "sm_80", "cp.async.wait_group 2;"),
        ("7.0", "sm_80", "mbarrier.arrive.noComplete.b64 %rd1, [%rd2], 4;"),
        ("7.1", "sm_80", "mbarrier.arrive.shared.b64 _, [bar];"),
        ("8.0", "sm_90", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], 2;"),
        ("8.0", "sm_90", "mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r1], 512;"),
        ("7.8", "sm_90", "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2, %r3;"),
        ("9.3", "sm_90", "mbarrier.try_wait.phase_type::primary.b64 %p1|%p2, [%rd1], %rd2;"),
        ("9.3", "sm_90", "mbarrier.test_wait.phase_type::primary.b64 %p1|%p2, %c1, [%rd1], %rd2;"),
        (
            "9.3",
            "sm_90",
            "mbarrier.test_wait.parity.phase_type::primary.b64 %p1|%p2, %c1, [%rd1], 0;",
        ),
        (
            "9.3",
            "sm_90",
            "mbarrier.try_wait.phase_type::primary.b64 %p1|%p2, %c1, [%rd1], %rd2, %r1;",
        ),
        (
            "9.3",
            "sm_90",
            "mbarrier.try_wait.parity.phase_type::primary.b64 %p1|%p2, %c1, [%rd1], %r2;",
        ),
        (
            "8.0",
            "sm_90",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r1], [%rd1], %r2, [%r3], %h1, %rd2;",
        ),
        (
            "9.3",
            "sm_100a",
            "cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.b128 [%rd1], [%r1], 32;",
        ),
        (
            "8.0",
            "sm_90",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%rd1], [%r1], 32;",
        ),
        (
            "8.0",
            "sm_90",
            "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3, %r4}], [%r5], {%h1};",
        ),
        (
            "8.6",
            "sm_100a",
            "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {%r1, %r2, %r3, %r4, %r5}], [%r6];",
        ),
        (
            "8.1",
            "sm_90",
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%r1], {%rd1, %rd2}, [%r2];",
        ),
        ("8.7", "sm_100", "st.async.release.sys.global.b32 [%rd1], %r1;"),
        (
            "8.1",
            "sm_90",
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], %r2, [%r3];",
        ),
        ("8.3", "sm_90a", "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 3, %r2;"),
        ("8.0", "sm_90", "elect.sync _|%p1, -1;"),
        ("8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 40;"),
        ("8.6", "sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;"),
        (
            "8.8",
            "sm_103f",
            "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r1], %h1;",
        ),
        ("6.0", "sm_60", "shfl.down.b32 %r1, %r2, 1, 0x1f;"),
    ] {
        assert_eq!(said(isa, target, instruction), [], "{isa} {target} {instruction}");
    }
}

#[test]
fn what_breaks_a_production_has_its_code() {
    for (isa, target, instruction, code) in [
        ("9.4", "sm_90", "cp.async.shared.global [%r1], [%rd1], 16;", "production-missing"),
        ("9.4", "sm_90", "cp.async.cg.shared.global [%r1], [%rd1], 8;", "production-value"),
        ("9.4", "sm_90", "cp.async.ca.shared.global [%r1], [%rd1], 8, 16;", "production-value"),
        ("9.4", "sm_90", "cp.async.ca.global.shared [%rd1], [%r1], 16;", "production-modifier"),
        ("9.4", "sm_90", "cp.async.wait_group %r1;", "production-operand"),
        (
            "9.4",
            "sm_90",
            "mbarrier.init.layout::v1.shared::cta.b64 [%r1], 1048576;",
            "production-value",
        ),
        ("9.4", "sm_90", "cp.async.commit_group 0;", "production-operands"),
        ("7.0", "sm_80", "cp.async.ca.shared.global.L2::64B [%r1], [%rd1], 4;", "production-isa"),
        ("7.0", "sm_75", "cp.async.wait_all;", "production-target"),
        ("9.4", "sm_90", "mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];", "production-operand"),
        ("9.4", "sm_80", "mbarrier.arrive.shared.b64 %rd1, [%r1], 2;", "production-target"),
        ("9.4", "sm_90", "mbarrier.arrive.shared.b64 %rd1, [%r1], 0;", "production-value"),
        ("9.4", "sm_90", "mbarrier.arrive.release.b64 %rd1, [%rd2];", "production-modifier"),
        ("9.4", "sm_90", "mbarrier.test_wait.parity.b64 %p1, [%rd1], 2;", "production-value"),
        ("9.4", "sm_90", "mbarrier.test_wait.b64 %p1, [%rd1], %r1;", "production-operand"),
        (
            "9.4",
            "sm_90",
            "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 24;",
            "production-value",
        ),
        (
            "9.4",
            "sm_90",
            "cp.async.bulk.global.shared.bulk_group [%rd1], [%r1], 16;",
            "production-missing production-modifier",
        ),
        (
            "9.4",
            "sm_90",
            "cp.async.bulk.shared::cta.global [%r1], [%rd1], 16, [%r2];",
            "production-missing",
        ),
        (
            "9.4",
            "sm_90",
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];",
            "production-coordinates",
        ),
        ("9.4", "sm_120a", "tcgen05.fence::after_thread_sync;", "production-target"),
        ("9.4", "sm_90", "shfl.idx.b32 %r1, %r2, 1, 0x1f;", "production-target"),
        ("9.4", "sm_90a", "setmaxnreg.inc.sync.aligned.u32 20;", "production-value"),
    ] {
        let mut said = said(isa, target, instruction);
        said.retain(|(code, _)| code.starts_with("production-"));
        assert!(said.iter().all(|(_, severity)| *severity == Severity::Error), "{said:?}");
        let codes: Vec<&str> = said.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes.join(" "), code, "{isa} {target} {instruction}");
    }
}

/// What ptxas takes against the document is a warning.
#[test]
fn what_only_the_document_forbids_is_a_warning() {
    for instruction in [
        "st.async.global.b32 [%rd1], %r1;",
        "st.async.weak.global.b64 [%rd1], %rd2;",
        "red.async.release.gpu.global.min.u32 [%rd1], %r1;",
        "red.async.relaxed.gpu.global.add.u32 [%rd1], %r1;",
        "st.async.shared::cta.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r3];",
        "cp.async.wait_group -1;",
        "mbarrier.init.layout::v1.shared::cta.b64 [%r1], 512;",
        "mbarrier.expect_tx.shared::cta.b64 [%r1], 1048576;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1048576;",
        "cp.async.bulk.global.shared::cta.bulk_group.b128 [%rd1], [%r1], 16;",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2], 16, [%r3];",
    ] {
        let expected = [("production-document", Severity::Warning)];
        assert_eq!(said("9.4", "sm_100a", instruction), expected, "{instruction}");
    }
    let fence = "fence.proxy.tensormap::generic.acq_rel.gpu;";
    assert_eq!(said("9.4", "sm_90", fence), [("fence-acq-rel", Severity::Warning)]);
}

/// The document has `.weak` and `.relaxed` of bulk copies for some targets only; ptxas takes them for all.
#[test]
fn the_order_of_a_bulk_copy_is_for_some_targets() {
    let to_global =
        "cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.b128 [%rd1], [%r1], 16;";
    let from_global = "cp.async.bulk.weak.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];";
    let across = "cp.async.bulk.relaxed.cta.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2], 16, [%r3];";
    let copies = "multimem.cp.async.bulk.weak.global.shared::cta.bulk_group [%rd1], [%r1], 16;";
    let warned = [("production-document", Severity::Warning)];
    for instruction in [to_global, from_global, across, copies] {
        for (target, expected) in [
            ("sm_90", &warned[..]),
            ("sm_100", &warned),
            ("sm_120a", &warned),
            ("sm_90a", &[]),
            ("sm_100f", &[]),
            ("sm_110a", &[]),
        ] {
            assert_eq!(said("9.4", target, instruction), expected, "{target} {instruction}");
        }
        let plain = instruction.replace(".weak", "").replace(".relaxed.gpu", "");
        let plain = plain.replace(".relaxed.cta", "").replace(".b128", "");
        assert_eq!(said("9.4", "sm_90", &plain), [], "{plain}");
    }
    let multicast = "cp.async.bulk.relaxed.gpu.shared::cluster.global.mbarrier::complete_tx::bytes.b128 [%r1], [%rd1], 16, [%r2];";
    assert_eq!(said("9.4", "sm_90", multicast), [("production-target", Severity::Error)]);
}
