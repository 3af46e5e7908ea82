//! What ptxas 13.5 takes and refuses of PTX ISA 9.5 and of its neighbours in 9.4.

use std::collections::BTreeMap;

use ptx::LintOptions;
use text::diagnostic::Severity;

/// The module that the rows were measured in, around one instruction.
fn module(isa: &str, target: &str, instruction: &str) -> String {
    format!(
        ".version {isa}\n.target {target}\n.address_size 64\n\
         .global .align 128 .b8 g[4096]; .global .align 128 .b8 tm[128]; .const .align 128 .b8 cm[128];\n\
         .visible .entry k(.param .u64 p0, .param .u32 p1) {{\n\
         .reg .b64 %rd<12>; .reg .b32 %r<40>; .reg .b16 %h<8>; .reg .f32 %f<140>; .reg .f64 %fd<4>; .reg .pred %p<8>;\n\
         .reg .b128 %q<4>; .reg .b8 %c<4>;\n\
         .shared .align 128 .b8 s[4096]; .shared .align 8 .b64 bar; .shared .align 8 .b64 bar2;\n\
         {instruction}\nret; }}\n"
    )
}

/// The worst that is said of an instruction, and the codes of all.
fn said(isa: &str, target: &str, instruction: &str) -> (Option<Severity>, Vec<&'static str>) {
    let text = module(isa, target, instruction);
    let linted = ptx::lint("m.ptx", text.as_bytes(), LintOptions::default());
    let severities = linted.diagnostics.iter().map(|one| one.severity);
    let worst = [Severity::Error, Severity::Warning].into_iter();
    let worst = worst.into_iter().find(|worst| severities.clone().any(|one| one == *worst));
    (worst, linted.diagnostics.iter().map(|one| one.code).collect())
}

/// For each version and verdict, how many rows there are, and how many have it here as well.
type Agreement = BTreeMap<(String, String), [usize; 2]>;

/// What is said of the rows of a file, and those of which ptxas says another thing.
fn judged(name: &str) -> (Agreement, Vec<String>) {
    let (mut counts, mut wrong) = (BTreeMap::new(), Vec::new());
    for row in ::measured::rows(name) {
        let [_, instruction, isa, target, verdict, ..] = &row[..] else {
            panic!("{row:?} has no verdict")
        };
        let (worst, codes) = said(isa, target, instruction);
        let same = (worst == Some(Severity::Error)) == (verdict == "reject");
        let [all, right] = counts.entry((isa.clone(), verdict.clone())).or_insert([0, 0]);
        *all += 1;
        *right += usize::from(same);
        if !same {
            wrong.push(format!("{isa} {target} {instruction}: {verdict}, here {codes:?}"));
        }
    }
    (counts, wrong)
}

#[test]
fn what_ptxas_says_of_the_newest_forms_is_said() {
    for (name, least) in [("ptxas-9.5-forms", 4_000), ("ptxas-9.5-mixed", 8_000)] {
        let (counts, wrong) = judged(name);
        let all: usize = counts.values().map(|[all, _]| all).sum();
        eprintln!("{name}: {counts:?}\n{wrong:#?}");
        assert!(all > least, "only {all} rows");
        for ((isa, verdict), [all, right]) in counts {
            assert!(right * 1000 >= all * 995, "{name}, {isa}: {right} of {all} are a {verdict}");
        }
    }
}

/// A form of each kind, with what is said of it at 9.4 and at 9.5.
#[test]
fn the_newest_forms_are_known() {
    const DEPRECATED: &str = "production-deprecated";
    for (target, instruction, before, now) in [
        ("sm_90", "fence.alias.sync_restrict::read.release.sys;", "isa-fence-spelling", ""),
        ("sm_90", "fence.release.alias.sys.sync_restrict::read;", "isa-fence-spelling", ""),
        ("sm_90", "cp.async.bulk.wait_group.sync_restrict::proxy::async 0;", "production-isa", ""),
        ("sm_100", "fabric.submit.commit_group;", "production-isa", ""),
        ("sm_100", "fabric.wait.sync_restrict::read 3;", "production-isa", ""),
        ("sm_100", "fabric.wait.sync_restrict::reads;", "", DEPRECATED),
        ("sm_90a", "tensormap.replace.tile.alloc_small.b1024 [%rd5];", "production-isa", ""),
        (
            "sm_100f",
            "tensormap.replace.tile.global_address.alloc_same.b1024.b64 [%rd5], %rd7;",
            "production-isa",
            "",
        ),
        (
            "sm_120a",
            "tensormap.query.alloc_class_large.const.b1024 %p2, [cm];",
            "production-isa",
            "",
        ),
        ("sm_100", "mov.b32 %r5, %locality_domain_id;", "special-register-isa", ""),
        ("sm_100", "mov.u32 %r5, %locality_domain_supplemental_sm;", "special-register-isa", ""),
        ("sm_75", "sin.approx.ftz.2pi.f32 %f5, %f1;", "production-isa", ""),
        ("sm_107f", "trace.mark 4095;", "production-isa", ""),
        (
            "sm_100",
            "createpolicy.range.fabric.L2::evict_last.b64 %rd7, [%r3, %rd7], 64, 64;",
            "",
            "",
        ),
    ] {
        for (isa, code) in [("9.4", before), ("9.5", now)] {
            let (worst, codes) = said(isa, target, instruction);
            let expected: &[&str] = if code.is_empty() { &[] } else { &[code] };
            assert_eq!(codes, expected, "{isa} {instruction}");
            assert_eq!(worst == Some(Severity::Warning), code == DEPRECATED, "{instruction}");
        }
    }
    let module = ".version 9.4\n.target sm_90\n.address_size 64\n.entry k() .minperctamemory 2048 {\n\
        .reg .b64 d; .reg .b32 r;\nmov.u64 d, %perctamemoryoffset;\nmov.u32 r, %perctamemorysize;\n}\n";
    assert_eq!(codes(module), [""; 0]);
    assert_eq!(
        codes(&module.replace(".minperctamemory 2048", "")),
        ["special-register-directive"; 2]
    );
    assert_eq!(codes(&module.replace("mov.u64 d", "mov.u32 r")), ["special-register-size"]);
    assert_eq!(codes(&module.replace("sm_90", "sm_75")), ["special-register-target"; 2]);
}

fn codes(module: &str) -> Vec<&'static str> {
    let linted = ptx::lint("m.ptx", module.as_bytes(), LintOptions::default());
    linted.diagnostics.iter().map(|one| one.code).collect()
}

/// Copies from and to the fabric.
#[test]
fn instructions_of_the_fabric_have_a_form() {
    const GET: &str = "fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 [%r1], [%r3, %rd7], 16, [%r2];";
    const PUT: &str = "fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.b128 [%r3, %rd7], [%r1], 16, [%r2];";
    const RED: &str = "fabric.try_red.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.add.u32 [%r3, %rd7], [%r1], 16, [%r2];";
    const PULL: &str = "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.add.u32.sync [%r1], [%r3, %rd7], 16, [%r2], 0xffffffff;";
    const ATOM: &str = "fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.cas.b128 [%r3, %rd7], [%r1], [s], [%r2];";
    let counted =
        PUT.replace(".relaxed", ".counted::bytes.relaxed").replace("%rd7]", "%rd7, %rd1]");
    let masked = PUT.replace(".relaxed", ".cp_mask.relaxed").replace("[%r2]", "[%r2], %h1");
    for legal in [GET, PUT, RED, PULL, ATOM, &counted, &masked, "fabric.submit;"] {
        assert_eq!(said("9.4", "sm_100", legal), (None, vec![]), "{legal}");
        let (worst, codes) = said("9.4", "sm_90", legal);
        assert_eq!((worst, codes), (Some(Severity::Error), vec!["production-target"]), "{legal}");
        let trap = if legal.contains("try_") { vec!["production-trap"] } else { vec![] };
        assert_eq!(said("9.4", "sm_120a", legal).1, trap, "{legal}");
    }
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{text} has no {from}");
        text.replace(from, to)
    };
    for (instruction, code) in [
        ("fabric.banana;".to_owned(), "modifier"),
        ("fabric.submit 0;".to_owned(), "production-operands"),
        ("fabric.wait;".to_owned(), "production-missing"),
        (with(GET, "::bytes", "::16B"), "production-modifier"),
        (with(GET, ".relaxed", ".acquire"), "production-modifier"),
        (with(GET, "%rd7]", "%rd7+16]"), "production-operand"),
        (with(GET, "[%r3, %rd7]", "[%r3]"), "production-operand"),
        (with(GET, "[%r3, %rd7]", "[%rd7, %rd7]"), "production-operand"),
        (with(GET, "[%r3, %rd7]", "[%r3, %r3]"), "production-operand"),
        (with(&counted, "%rd7, %rd1]", "%rd7]"), "production-operand"),
        (with(&masked, ", %h1", ""), "production-operands"),
        (with(PUT, ".shared::cta", ""), "production-missing"),
        (with(RED, ".add.u32", ".add.s32"), "production-modifier"),
        (with(PULL, "0xffffffff", "15"), "production-value"),
        (with(PULL, ".sync", ""), "production-missing"),
        (with(ATOM, ".cas.b128", ".cas.u32"), "production-modifier"),
    ] {
        let (worst, codes) = said("9.5", "sm_100", &instruction);
        assert_eq!(worst, Some(Severity::Error), "{instruction}: {codes:?}");
        assert!(codes.contains(&code), "{instruction}: {codes:?}");
    }
    for undocumented in [
        with(GET, ".relaxed.sys", ""),
        with(GET, " 16,", " 17,"),
        with(RED, ".add", ".add.acc::f32"),
    ] {
        let warned = (Some(Severity::Warning), vec!["production-document"]);
        assert_eq!(said("9.5", "sm_100", &undocumented), warned, "{undocumented}");
    }
}

/// ptxas takes words in fences and copies that it does not look at.
#[test]
fn words_that_ptxas_does_not_look_at_are_warnings() {
    for (instruction, code) in [
        ("fence.sc.sys.async;", "fence-document"),
        ("fence.proxy.alias.sync_restrict::shared::cta;", "fence-document"),
        ("fence.mbarrier_init.release.cluster.sync_restrict::shared::cta;", "fence-document"),
        ("fence.proxy.tensormap::generic.release.sys.global;", "fence-document"),
        ("ld.global.u32.L1::32B %r5, [%rd6];", "ld-prefetch-level1"),
        ("cp.async.ca.shared.global.L1::32B [%r1], [%rd6], 4;", "production-document"),
        ("mbarrier.check_layout.layout::v1.shared::cta.b64.sys %p2, [%r2];", "production-document"),
        ("cp.async.bulk.wait_group.sync_restrict::shared::cta 0;", "production-document"),
    ] {
        let warned = (Some(Severity::Warning), vec![code]);
        assert_eq!(said("9.5", "sm_107a", instruction), warned, "{instruction}");
    }
    for wrong in
        ["fence.sc.async;", "fence.proxy.alias.global;", "ld.shared.u32.L1::32B %r5, [%r1];"]
    {
        assert_eq!(said("9.5", "sm_107a", wrong).0, Some(Severity::Error), "{wrong}");
    }
}

/// In a module of a later version than the newest, what is not known may be right; what is known is checked as ever.
#[test]
fn a_later_version_excuses_only_words_that_are_not_known() {
    for (target, instruction, code) in [
        ("sm_100", "fence.proxy.hyperspace;", "fence-spelling"),
        ("sm_100", "ld.hyperspace.u32 %r5, [%rd6];", "unknown-qualifier"),
        ("sm_100", "fabric.hyperspace;", "modifier"),
        ("sm_100", "cp.async.bulk.commit_group.hyperspace;", "modifier"),
        ("sm_100", "hyperspace.u32 %r5;", "opcode"),
        ("sm_100", "mov.u32 %r5, %hyperspace;", "undeclared"),
    ] {
        let at = |isa| said(isa, target, instruction);
        let excused = (Some(Severity::Warning), vec!["version-newer", code]);
        assert_eq!(at("9.9"), excused, "{instruction}");
        assert_eq!(at("9.5"), (Some(Severity::Error), vec![code]), "{instruction}");
    }
    for (target, instruction, code) in [
        ("sm_75", "cp.async.bulk.commit_group;", "production-target"),
        ("sm_75", "barrier.cluster.arrive;", "production-target"),
        ("sm_100", "mbarrier.test_wait.parity.b64 %p1, [%rd1], 2;", "production-value"),
        ("sm_100", "cp.async.commit_group 0;", "production-operands"),
        ("sm_100", "cp.async.shared.global [%r1], [%rd1], 16;", "production-missing"),
        ("sm_100", "fence.proxy.release.sys;", "fence-spelling"),
        ("sm_75", "mov.u32 %r5, %locality_domain_id;", "special-register-target"),
    ] {
        let (worst, codes) = said("9.9", target, instruction);
        assert_eq!(worst, Some(Severity::Error), "{instruction}: {codes:?}");
        assert!(codes.contains(&code), "{instruction}: {codes:?}");
    }
}
