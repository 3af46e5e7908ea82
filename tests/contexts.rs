//! Random contexts against the lists of contexts: what the lists let pass stays right in them, and what is just
//! weaker is refuted by some of them; and contexts that are withdrawn.
//!
//! The seed is fixed; `CAUSEWAY_SEED` tries another, and `CAUSEWAY_CONTEXTS` more pairs. `.ci/nightly` does both.

use std::collections::BTreeSet;
use std::fmt::Write;

use engine::exit::Exit;
use judge::Task;
use model::cxx::{self, ReleaseSequence};
use model::ptx;
use model::scope::Scope;
use refine::context::ContextShape;
use refine::random::{self, BorderTargets, RowDisagreement};
use refine::step::line;
use refine::verdict::Verdict;
use refine::{Models, Refiner};

use crate::functions::{judge_in, pair_of_listing};
use crate::suite;

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Whether both tests of a disagreement say what the checker finds in them.
fn reproduces(found: &RowDisagreement) -> bool {
    let (ptx, cxx) = (ptx::model(), cxx::model(ReleaseSequence::Cpp20));
    [&found.forbidden, &found.allowed].into_iter().all(|text| {
        let test = litmus::parse("random", text.as_bytes());
        let test = test.unwrap_or_else(|errors| panic!("{text}\n{}", errors[0]));
        let task = Task { cxx: Some(&cxx), ..suite::task(&ptx) };
        judge::judge(&test, &task).exit() == Exit::AsExpected
    })
}

#[test]
fn random_contexts_agree_with_the_lists() {
    let models = Models::default();
    let refiner = Refiner::new(&models);
    let pairs = number("CAUSEWAY_CONTEXTS", 0);
    // A short run is of one scope.
    let (pairs, scopes) =
        if pairs == 0 { (4_000, &[Scope::Gpu][..]) } else { (pairs, &Scope::ALL[..]) };
    let border = BorderTargets::new(refiner, scopes);
    let (preserved, weaker) = (border.preserved.len(), border.weaker.len());
    assert!(preserved > 20 && weaker > 40, "{preserved} preserved, {weaker} weaker");
    let seed = number("CAUSEWAY_SEED", 20);
    let pairs = usize::try_from(pairs).expect("a count");
    let report = random::judge(refiner, &border, seed, pairs);
    let confirmed: BTreeSet<usize> = report.confirmed.keys().copied().collect();
    eprintln!(
        "seed {seed}: {} pairs; {} without meaning in C++, {} withdrawn, {} undecided; {} of {weaker} weaker \
         targets confirmed, {preserved} preserved ones attacked",
        report.pairs,
        report.undefined,
        report.withdrawn,
        report.undecided,
        confirmed.len()
    );
    if std::env::var_os("VERBOSE").is_some() {
        for (_, pair) in border.weaker.iter().enumerate().filter(|(at, _)| !confirmed.contains(at))
        {
            eprintln!("not confirmed: {} became {}", pair.source, line(&pair.target));
        }
    }
    let mut wrong = String::new();
    for found in &report.disagreements {
        let all = [&found.row, &found.forbidden, &found.allowed].map(String::as_str).join("\n");
        let engines = if reproduces(found) { "" } else { "engines disagree here\n" };
        writeln!(wrong, "{all}\n{engines}").expect("a string takes it");
    }
    for found in &report.mapping {
        eprintln!(
            "the published mapping adds an outcome\n{}\n{}\n{}",
            found.row, found.forbidden, found.allowed
        );
        assert!(reproduces(found), "engines disagree");
    }
    assert!(wrong.is_empty(), "seed {seed}: the lists of contexts lack one:\n{wrong}");
    // Most pairs say something, and a few thousand refute much of what is weaker.
    assert!(2 * report.undefined < report.pairs, "{report:?}");
    assert!(confirmed.len() * 2 > weaker, "{} of {weaker}", confirmed.len());
    let shown: Vec<&RowDisagreement> = report.confirmed.values().take(20).collect();
    for found in shown {
        assert!(reproduces(found), "{found:?}");
    }
}

/// What random contexts found: a leading fence of a narrow scope does not reach the threads that its thread's earlier
/// `seq_cst` accesses reach. R40 relates accesses whose scopes include each other, through others that do not.
#[test]
fn with_mixed_scopes_the_published_mapping_adds_an_outcome() {
    let place = "P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 | P2@cta 3,cluster 2,gpu 1 ;";
    let condition = "(P0:r0=0 /\\ P2:r0=3 /\\ z=1)";
    let mixed = |row: &str, fence: &str, row_ptx: &str| {
        RowDisagreement {
        row: String::new(),
        forbidden: format!(
            "CXX mixed\n{{\nx=0; y=0; z=0;\n}}\n {place}
            store.seq_cst [z], 1 | store.seq_cst [y], 2 | load.acquire r0, [x] ;
            {row} r0, [y], 90 | store.release [x], 3 | store.seq_cst [z], 5 ;\n~exists {condition}\n"
        ),
        allowed: format!(
            "PTX mixed\n{{\nuint32_t x=0; uint32_t y=0; uint32_t z=0;\n}}\n {place}
            fence.sc.sys | fence.sc.sys | ld.acquire.sys.u32 r0, [x] ;
            st.relaxed.sys.u32 [z], 1 | st.relaxed.sys.u32 [y], 2 | fence.sc.sys ;
            {fence} | st.release.sys.u32 [x], 3 | st.relaxed.sys.u32 [z], 5 ;
            {row_ptx} r0, [y], 90 | | ;\nexists {condition}\n"
        ),
    }
    };
    assert!(reproduces(&mixed(
        "rmw.exch.seq_cst.cluster",
        "fence.sc.cluster",
        "atom.acquire.cluster.exch.b32"
    )));
    // With one scope there is none.
    assert!(!reproduces(&mixed(
        "rmw.exch.seq_cst.system",
        "fence.sc.sys",
        "atom.acquire.sys.exch.b32"
    )));
}

#[test]
fn a_seed_gives_the_same_contexts_again() {
    let models = Models::default();
    let refiner = Refiner::new(&models);
    let border = BorderTargets::new(refiner, &[Scope::Cta]);
    let again = |seed| format!("{:?}", random::judge(refiner, &border, seed, 200));
    assert_eq!(again(7), again(7));
    assert_ne!(again(7), again(8));
}

/// By the mapping of ptxas itself, which has an atomic alone for an acquire atomic of CTA scope, another thread may read what
/// the atomic writes before it stores what the atomic reads. With an invalidation, which wider scopes have, it may not (reading R66).
#[test]
fn what_the_published_mapping_adds_is_withdrawn() {
    let source = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .visible .entry f(.param .u64 data, .param .u64 flag)\n{\n\
        .reg .b32 %r<3>; .reg .b64 %rd<3>;\n\
        ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag];\nst.global.u32 [%rd1], 1;\n\
        atom.acquire.cta.global.exch.b32 %r1, [%rd2], 1;\nst.global.u32 [%rd1+4], %r1;\nret;\n}\n";
    let target = [
        "ULDC.64 UR4, c[0x0][0x208]",
        "MOV R9, 0x1",
        "LDC.64 R2, c[0x0][0x210]",
        "LDC.64 R4, c[0x0][0x218]",
        "STG.E desc[UR4][R2.64], R9",
        "ATOMG.E.EXCH.STRONG.SM PT, R5, desc[UR4][R4.64], R9",
        "STG.E desc[UR4][R2.64+0x4], R5",
        "EXIT",
    ];
    let own = [ContextShape::read("R | ld.na y; st.rel y").expect("it is a context")];
    let judged = |target: &[&str]| judge_in(&pair_of_listing(source, target), &own);
    let said = judged(&target);
    assert_eq!(said.finding.verdict, Verdict::Preserved, "{:?}", said.finding);
    assert!(said.finding.why.contains("withdrawn"), "{}", said.finding.why);
    let [before @ .., stored, exit] = target;
    let unit = [&before[..], &["CCTL.IVALL", stored, exit]].concat();
    let said = judged(&unit);
    assert_eq!(said.finding.verdict, Verdict::Preserved, "{:?}", said.finding);
    assert!(!said.finding.why.contains("withdrawn"), "{}", said.finding.why);
    // Other stores are not the mapping's.
    let wrong = target.map(|one| if one.starts_with("MOV") { "MOV R9, 0x6" } else { one });
    assert_eq!(judged(&wrong).finding.verdict, Verdict::WrongValue);
}
