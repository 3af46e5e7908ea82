//! Alias fences that a target has, lacks, or has half of: only accesses by two virtual addresses of a place show them.

use refine::function::paired;
use refine::verdict::{Finding, Verdict};

use crate::follows::is_followed;
use crate::functions::{PUBLISH, PUBLISHED, judge_pair, kernel, module, of_listing, reproduced};
use crate::pairs::functions;

const WHOLE: &str = "fence.proxy.alias;";
const RELEASE: &str = "fence.proxy.alias.release.sys;";
const ACQUIRE: &str = "fence.proxy.alias.acquire.sys;";
const OF_READS: &str = "fence.alias.sync_restrict::read.release.sys;";

/// Kernels with a place for fences, and the halves of an alias fence that may be there.
const KERNELS: [(&str, &[&str]); 7] = [
    ("st.global.u32 [%x], 1; FENCE st.release.sys.global.u32 [%x+4], 1", &[RELEASE]),
    (
        "ld.global.u32 %r1, [%x]; FENCE st.release.sys.global.u32 [%x+4], 1; st.global.u32 [%x+8], %r1",
        &[RELEASE],
    ),
    (
        "ld.acquire.sys.global.u32 %r1, [%x+4]; setp.eq.u32 %p, %r1, 0; @%p bra E; FENCE \
         ld.global.u32 %r2, [%x]; st.global.u32 [%x+8], %r2; E:",
        &[ACQUIRE],
    ),
    (
        "ld.acquire.sys.global.u32 %r1, [%x+4]; setp.eq.u32 %p, %r1, 0; @%p bra E; FENCE \
         st.global.u32 [%x], 1; E:",
        &[ACQUIRE],
    ),
    // Between two other threads.
    (
        "ld.acquire.sys.global.u32 %r1, [%x]; setp.eq.u32 %p, %r1, 0; @%p bra E; FENCE \
         st.release.sys.global.u32 [%x+4], 1; E:",
        &[ACQUIRE, RELEASE],
    ),
    // Before and after a barrier.
    ("st.global.u32 [%x], 1; FENCE bar.sync 0", &[RELEASE]),
    ("bar.sync 0; FENCE ld.global.u32 %r2, [%x]; st.global.u32 [%x+8], %r2", &[ACQUIRE]),
];

/// A device function, in a frame.
const FUNCTIONS: [(&str, &[&str]); 3] = [
    ("FENCE", &[RELEASE, ACQUIRE]),
    ("st.relaxed.sys.u32 [x], 1; FENCE", &[RELEASE]),
    ("FENCE ld.relaxed.sys.u32 %r1, [x]", &[ACQUIRE]),
];

fn newest(text: &str) -> String {
    text.replace(".version 8.7", ".version 9.5")
}

/// What is said of a form with these fences in the source and in the target.
fn said(form: &str, text: fn(&str) -> String, [source, target]: [&str; 2]) -> Finding {
    let read =
        |fence: &str| functions("m.ptx".as_ref(), &newest(&text(&form.replace("FENCE", fence))));
    let pair = paired(read(source), read(target)).remove(0);
    let finding = judge_pair(&pair).finding;
    if finding.verdict == Verdict::Weaker {
        assert!(!is_followed(&pair), "{form}: {source} became {target}");
    }
    finding
}

fn is_right(finding: &Finding) -> bool {
    matches!(finding.verdict, Verdict::Preserved | Verdict::Stronger)
}

#[test]
fn a_dropped_alias_fence_is_weaker_and_an_added_one_is_not() {
    let mut tested = 0;
    let forms = [(&KERNELS[..], kernel as fn(&str) -> String), (&FUNCTIONS, module)];
    for (form, halves, text) in forms
        .into_iter()
        .flat_map(|(all, text)| all.iter().map(move |(form, of)| (*form, *of, text)))
    {
        let mut all = vec![(WHOLE, "", Verdict::Weaker)];
        for &half in halves {
            // Without the half for aliases it is a memory fence.
            let plain = half.replace(".proxy.alias", "");
            let finding = said(form, text, [half, &plain]);
            assert_eq!((finding.verdict, finding.racy), (Verdict::Weaker, false), "{form}: {half}");
            let why = &finding.why;
            assert!(why.contains("lacks `.proxy.alias`") || why.contains("two virtual"), "{why}");
            tested += reproduced(form, &finding);
            assert!(is_right(&said(form, text, [&plain, half])), "{form}: {half} is added");
            assert!(is_right(&said(form, text, [half, half])), "{form}: {half}");
            all.push((WHOLE, half, Verdict::Weaker));
        }
        for (source, target, expected) in all {
            let finding = said(form, text, [source, target]);
            assert_eq!((finding.verdict, finding.racy), (expected, false), "{form}: {source}");
            tested += reproduced(form, &finding);
        }
        assert!(is_right(&said(form, text, ["", WHOLE])), "{form}: an added fence");
        assert!(is_right(&said(form, text, [WHOLE, WHOLE])), "{form}");
    }
    assert!(tested >= 50, "only {tested} tests");
}

/// Reading B29: what is read before it, and nothing else, also where it is read by another address.
#[test]
fn a_release_of_reads_is_less_than_another_release_and_more_for_reads() {
    let reads = "ld.global.u32 %r1, [%x]; FENCE st.relaxed.sys.global.u32 [%x+4], 1; st.global.u32 [%x+8], %r1";
    let strong = &reads.replace("ld.global", "ld.relaxed.sys.global");
    let writes = "st.global.u32 [%x], 1; FENCE st.relaxed.sys.global.u32 [%x+4], 1";
    let acquires = "ld.acquire.sys.global.u32 %r1, [%x]; setp.eq.u32 %p, %r1, 0; @%p bra E; FENCE \
                    st.relaxed.sys.global.u32 [%x+4], 1; E:";
    let both = &format!("{WHOLE} fence.release.sys;");
    for (form, source, target, right) in [
        (reads, OF_READS, OF_READS, true),
        (reads, OF_READS, "", false),
        (reads, OF_READS, "fence.release.sys;", false),
        (reads, OF_READS, RELEASE, false),
        (reads, OF_READS, both, true),
        (reads, "fence.release.sys;", OF_READS, true),
        (reads, RELEASE, OF_READS, true),
        // What another thread wrote, and this one has read or acquired.
        (strong, "fence.release.sys;", OF_READS, false),
        (strong, RELEASE, OF_READS, false),
        (acquires, "fence.release.sys;", OF_READS, false),
        (acquires, RELEASE, OF_READS, false),
        (writes, "fence.release.sys;", OF_READS, false),
        (writes, RELEASE, OF_READS, false),
    ] {
        let finding = said(form, kernel, [source, target]);
        let said = format!("{form}: {source} became {target}: {}", finding.why);
        assert_eq!(is_right(&finding), right, "{said}");
        assert!(right || finding.verdict == Verdict::Weaker && !finding.racy, "{said}");
        reproduced(form, &finding);
    }
}

/// It is not known what orders accesses by two addresses in a listing.
#[test]
fn of_a_listing_alias_fences_are_not_judged() {
    let judged = |fence: &str| {
        let (first, last) = PUBLISH.split_once("st.release").expect("it stores");
        let source = format!("{first}{fence}\nst.release{last}");
        of_listing(&source, &PUBLISHED).finding
    };
    let noted = |finding: &Finding| {
        finding.notes.iter().any(|note| note.starts_with("what a listing shows of alias fences"))
    };
    let finding = judged("");
    assert!(is_right(&finding) && !noted(&finding), "{finding:?}");
    let finding = judged(WHOLE);
    assert!(is_right(&finding) && noted(&finding), "{finding:?}");
    let finding = judged(OF_READS);
    assert_eq!(finding.verdict, Verdict::Unsupported, "{finding:?}");
    assert!(finding.why.contains("sync_restrict::read"), "{}", finding.why);
}
