//! Targets whose paths make the accesses of the source or of its mapping (reading R106): none is refuted by a context.

use std::fs;
use std::time::Duration;

use engine::MEMORY;
use refine::function::{FunctionPair, follows, paired};
use refine::{Models, Patience, Refiner};
use text::csv;

use crate::functions::{judge_pair, kernel, module};
use crate::pairs::functions;
use crate::suite;

fn pair(source: &str, target: &str) -> FunctionPair {
    let read = |text: &str| functions("m.ptx".as_ref(), text);
    paired(read(source), read(target)).remove(0)
}

pub(crate) fn is_followed(pair: &FunctionPair) -> bool {
    let models = Models::default();
    let patience = Patience::new(Some(Duration::from_secs(20)), MEMORY);
    follows(pair, Refiner { tearing: false, patience, ..Refiner::new(&models) })
}

/// Whether contexts refute the target.
fn is_alarm(verdict: &str) -> bool {
    matches!(verdict, "weaker" | "racy" | "wrong-value")
}

#[test]
fn what_contexts_refute_does_not_follow() {
    let (mut followed, mut passed) = (0, 0);
    for (table, text) in
        [("transformations", module as fn(&str) -> String), ("comparisons", kernel)]
    {
        let path = suite::root().join(format!("tests/lower/{table}.csv"));
        let records = csv::records(&fs::read_to_string(path).expect("it is there"))
            .expect("it is well formed");
        for (_, record) in &records[1..] {
            let [what, source, target, verdict] = &record[..] else { panic!("{record:?}") };
            let follows = is_followed(&pair(&text(source), &text(target)));
            assert!(!follows || !is_alarm(verdict), "{what}: {verdict}");
            if ["preserved", "stronger"].contains(&&**verdict) {
                followed += usize::from(follows);
                passed += 1;
            }
        }
    }
    // Most of the tables change the order of strong accesses, which needs contexts.
    assert!(3 * followed > passed, "only {followed} of {passed} follow");
}

/// Which kernels follow another one, and why not.
#[test]
fn order_strength_values_and_dependencies_are_compared() {
    let source = "st.global.u32 [%x], %n; ld.global.u32 %r1, [%y+8]; st.global.u32 [%y], %r1; \
        st.release.gpu.global.u32 [%x+4], 1; ld.relaxed.gpu.global.u32 %r2, [%x+8]; \
        st.global.u32 [%y+4], %r2";
    for (old, new, expected) in [
        ("", "", true),
        // Weak accesses to different bytes have no order, and reads of values that nobody uses no effect.
        (
            "ld.global.u32 %r1, [%y+8]; st.global.u32 [%y], %r1; ",
            "ld.global.u32 %r1, [%y+8]; ld.global.u32 %r4, [%x+4]; st.global.u32 [%y], %r1; ",
            true,
        ),
        (
            "st.global.u32 [%x], %n; ld.global.u32 %r1, [%y+8];",
            "ld.global.u32 %r1, [%y+8]; st.global.u32 [%x], %n;",
            // Unless one pointer leads into the memory of the other.
            false,
        ),
        ("st.release", "fence.acq_rel.gpu; st.release", true),
        ("st.release.gpu", "st.release.sys", true),
        ("ld.relaxed", "ld.acquire", true),
        (
            "st.global.u32 [%y], %r1; st.release.gpu.global.u32 [%x+4], 1;",
            "st.release.gpu.global.u32 [%x+4], 1; st.global.u32 [%y], %r1;",
            false,
        ),
        ("st.release", "st.relaxed", false),
        ("st.release.gpu", "st.release.cta", false),
        ("[%x], %n", "[%x], %m", false),
        ("[%x+8]", "[%x+4]", false),
        ("[%y+4], %r2", "[%y+4], %r1", false),
        ("st.global.u32 [%x], %n; ", "", false),
        ("st.global.u32 [%x], %n; ", "st.global.u32 [%x], %n; st.global.u32 [%x], %n; ", false),
    ] {
        let target = source.replace(old, new);
        assert_eq!(old.is_empty(), target == source, "{old}");
        assert_eq!(
            is_followed(&pair(&kernel(source), &kernel(&target))),
            expected,
            "{old} => {new}"
        );
    }
}

/// Functions that contexts refute, as they differ in what few contexts show.
#[test]
fn what_few_contexts_refute_does_not_follow() {
    for (what, text, source, target) in [
        (
            "a fence that orders what is read before the function",
            module as fn(&str) -> String,
            "fence.acquire.cta; ld.global.u32 %r1, [x]",
            "ld.global.u32 %r1, [x]",
        ),
        (
            "two reads of a place are exchanged",
            kernel,
            "ld.relaxed.gpu.global.u32 %r1, [%x]; ld.relaxed.gpu.global.u32 %r2, [%x]; \
             st.global.u32 [%y], %r1; st.global.u32 [%y+4], %r2",
            "ld.relaxed.gpu.global.u32 %r1, [%x]; ld.relaxed.gpu.global.u32 %r2, [%x]; \
             st.global.u32 [%y], %r2; st.global.u32 [%y+4], %r1",
        ),
        (
            "a value that the other of two such threads writes",
            kernel,
            "atom.relaxed.gpu.global.add.u32 %r1, [%x], 3; setp.eq.u32 %p, %r1, 3; \
             selp.u32 %r2, 1, 2, %p; add.u32 %r3, %r1, %r2; st.relaxed.gpu.global.u32 [%y], %r3",
            "atom.relaxed.gpu.global.add.u32 %r1, [%x], 3; add.u32 %r3, %r1, 2; \
             st.relaxed.gpu.global.u32 [%y], %r3",
        ),
        (
            "a value that the other one writes, shifted",
            kernel,
            "atom.relaxed.gpu.global.add.u32 %r1, [%x], 16; shr.u32 %r2, %r1, 4; \
             setp.eq.u32 %p, %r2, 1; selp.u32 %r2, 1, 2, %p; add.u32 %r3, %r1, %r2; \
             st.relaxed.gpu.global.u32 [%y], %r3",
            "atom.relaxed.gpu.global.add.u32 %r1, [%x], 16; add.u32 %r3, %r1, 2; \
             st.relaxed.gpu.global.u32 [%y], %r3",
        ),
        (
            "a read that is not used, of another size",
            kernel,
            "ld.relaxed.gpu.global.u32 %r1, [%y]; st.relaxed.gpu.global.u32 [%x], %r1",
            "ld.relaxed.gpu.global.u32 %r1, [%y]; st.relaxed.gpu.global.u32 [%x], %r1; \
             ld.global.u64 %y, [%y]",
        ),
    ] {
        let pair = pair(&text(source), &text(target));
        let verdict = judge_pair(&pair).finding.verdict.name();
        assert!(is_alarm(verdict) || verdict == "outside", "{what}: {verdict}");
        assert!(!is_followed(&pair), "{what}");
    }
}

/// Each change of one word of a kernel that contexts refute makes the kernel another one.
#[test]
fn a_mutant_that_follows_is_not_refuted() {
    let kernels = [
        "L: atom.acquire.gpu.global.cas.b32 %r1, [%x], 0, 1; setp.ne.u32 %p, %r1, 0; @%p bra L; \
         ld.global.u32 %r2, [%y]; add.u32 %r2, %r2, %n; st.global.u32 [%y], %r2; \
         st.release.gpu.global.u32 [%x], 0",
        "st.global.u32 [%y], %n; fence.acq_rel.gpu; atom.relaxed.gpu.global.add.u32 %r1, [%x], 1; \
         fence.acq_rel.gpu; setp.eq.u32 %p, %r1, %m; @%p ld.global.u32 %r2, [%y+4]; \
         @%p st.global.u32 [%y+8], %r2",
    ];
    let words = [
        ("acquire", "relaxed"),
        ("release", "relaxed"),
        ("acq_rel", "sc"),
        (".gpu", ".cta"),
        ("fence.acq_rel.gpu; ", ""),
        ("setp.ne", "setp.eq"),
        ("setp.eq", "setp.ne"),
        (" 0, 1", " 1, 0"),
        ("%n", "%m"),
        ("%r2", "%r1"),
        ("+4]", "+8]"),
        ("[%y", "[%x"),
        ("u32", "s32"),
        ("@%p ", ""),
        ("1;", "2;"),
    ];
    let (mut refuted, mut followed) = (0, 0);
    for source in kernels {
        for (old, new) in words {
            for (at, _) in source.match_indices(old) {
                let target = [&source[..at], new, &source[at + old.len()..]].concat();
                let pair = pair(&kernel(source), &kernel(&target));
                let verdict = judge_pair(&pair).finding.verdict.name();
                let follows = is_followed(&pair);
                assert!(!follows || !is_alarm(verdict), "{target}: {verdict}");
                refuted += u32::from(is_alarm(verdict));
                followed += u32::from(follows);
            }
        }
    }
    assert!(refuted >= 20, "only {refuted} mutants are refuted");
    assert!(followed >= 3, "only {followed} mutants follow");
}
