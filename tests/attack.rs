//! Random contexts against functions: they refute none that is preserved in the lists of contexts, and most of those
//! that are not.
//!
//! The seed is fixed; `CAUSEWAY_SEED` tries another, and `CAUSEWAY_CONTEXTS` more contexts. `.ci/nightly` does both.

use refine::context::{Context, ContextOp};
use refine::function::{Attack, Attacked, FunctionPair, attack, paired};
use refine::step::AccessKind;
use refine::verdict::Verdict;
use refine::{Models, Refiner};

use crate::contexts::number;
use crate::functions::judge_pair;

/// Kernels, each with replacements that make them weaker.
const KERNELS: &[(&str, &[(&str, &str)])] = &[
    (
        "st.global.u32 [%rd1], 1; st.release.gpu.global.u32 [%rd2], 1;",
        &[("st.release", "st.relaxed")],
    ),
    (
        "ld.acquire.gpu.global.u32 %r1, [%rd2]; setp.ne.u32 %p1, %r1, 0; @%p1 ld.global.u32 %r2, [%rd1]; \
         st.global.u32 [%rd3], %r2;",
        &[("ld.acquire", "ld.relaxed"), (".gpu", ".cta")],
    ),
    (
        "L: atom.cas.acquire.gpu.global.b32 %r1, [%rd2], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; \
         ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1; st.global.u32 [%rd1], %r3; st.release.gpu.global.u32 [%rd2], 0;",
        &[("cas.acquire", "cas.relaxed"), ("st.release", "st.relaxed"), ("@%p1 bra L;", "")],
    ),
    (
        "st.relaxed.gpu.global.u32 [%rd1], 1; fence.sc.gpu; ld.relaxed.gpu.global.u32 %r1, [%rd2]; \
         st.global.u32 [%rd3], %r1;",
        &[("fence.sc", "fence.acq_rel"), ("fence.sc.gpu;", "")],
    ),
    (
        "st.global.u32 [%rd1], 1; bar.sync 0; ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd3], %r1;",
        &[("bar.sync 0;", "")],
    ),
    (
        "st.global.u32 [%rd1], 1; atom.add.acq_rel.gpu.global.u32 %r1, [%rd2], 1; setp.eq.u32 %p1, %r1, 1; \
         @%p1 ld.global.u32 %r2, [%rd1+4]; st.global.u32 [%rd3], %r2;",
        &[("atom.add.acq_rel", "atom.add.acquire"), ("atom.add.acq_rel", "atom.add.release")],
    ),
];

fn pair(body: &str, replaced: Option<(&str, &str)>) -> FunctionPair {
    let module = |body: &str| {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 p, .param .u64 q, .param .u64 o)\n{{\n\
             .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p<2>;\n\
             ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [o];\nmov.u32 %r2, 0;\n{body}\nret;\n}}\n"
        );
        let (module, diagnostics) = ::ptx::read("m.ptx", text.as_bytes());
        assert_eq!(diagnostics, [], "{text}");
        lift::module::functions(&module.expect("a module"))
    };
    let target = replaced.map_or_else(|| body.to_owned(), |(old, new)| body.replacen(old, new, 1));
    assert!(replaced.is_none() || target != body, "{replaced:?}");
    paired(module(body), module(&target)).remove(0)
}

#[test]
fn random_contexts_agree_with_those_of_functions() {
    let models = Models::default();
    let refiner = Refiner { tearing: false, ..Refiner::new(&models) };
    let (seed, contexts) = (number("CAUSEWAY_SEED", 20), number("CAUSEWAY_CONTEXTS", 0));
    let contexts = usize::try_from(contexts).expect("a count").clamp(500, 100_000);
    let attacked = |pair: &FunctionPair| -> Attacked {
        let how = Attack { seed, contexts, judged: &|_| true };
        attack(pair, refiner, how).expect("both are read").expect("both have inputs")
    };
    let (mut checked, mut confirmed, mut weaker) = (0, 0, 0);
    for (body, replacements) in KERNELS {
        let same = pair(body, None);
        assert!(matches!(
            judge_pair(&same).finding.verdict,
            Verdict::Preserved | Verdict::Stronger
        ));
        let found = attacked(&same);
        assert_eq!(found.refutation, None, "seed {seed}: the lists of contexts lack one: {body}");
        assert!(found.checked * 4 > contexts, "{found:?}");
        checked += found.checked;
        for &replaced in *replacements {
            let changed = pair(body, Some(replaced));
            let verdict = judge_pair(&changed).finding.verdict;
            let by_chance = attacked(&changed).refutation;
            let refuted = verdict == Verdict::Weaker || verdict == Verdict::WrongValue;
            assert!(
                refuted || by_chance.is_none(),
                "seed {seed}: the lists of contexts lack one: {replaced:?} in {body}\n{by_chance:?}"
            );
            weaker += usize::from(refuted);
            confirmed += usize::from(refuted && by_chance.is_some());
        }
    }
    eprintln!(
        "seed {seed}: {checked} contexts add no outcome; {confirmed} of {weaker} weaker targets confirmed"
    );
    assert!(weaker > 8 && confirmed * 3 > weaker * 2, "{confirmed} of {weaker}");
}

/// Whether all reads of the context's own threads are compare-exchanges, and there are some.
fn reads_by_exchange(context: &Context) -> bool {
    let ops = context.threads[1..].iter().flatten();
    let mut reads = ops.filter_map(|op| {
        let ContextOp::Access { act, .. } = op else { return None };
        act.shows().then_some(*act)
    });
    let exchange = |act: AccessKind| matches!(act, AccessKind::CompareExchange(_));
    reads.next().is_some_and(exchange) && reads.all(exchange)
}

/// Whether the context's own threads go on only after they waited in a loop, and do.
fn waits_in_loops(context: &Context) -> bool {
    let mut ops = context.threads[1..].iter().flatten();
    ops.clone().any(|op| matches!(op, ContextOp::Await(_)))
        && !ops.any(|op| matches!(op, ContextOp::Guard(_)))
}

#[test]
fn exchanges_and_loops_of_random_contexts_find_mistakes() {
    let models = Models::default();
    let refiner = Refiner { tearing: false, ..Refiner::new(&models) };
    let lock = KERNELS[2].0;
    let message = KERNELS[0].0;
    let counter = "L: ld.acquire.gpu.global.u32 %r1, [%rd2]; setp.ne.u32 %p1, %r1, 2; @%p1 bra L; \
         ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd3], %r2;";
    for exchanges in [true, false] {
        let name = if exchanges { "exchanges" } else { "loops" };
        let judged = |context: &Context| {
            if exchanges { reads_by_exchange(context) } else { waits_in_loops(context) }
        };
        for (body, replaced) in [
            (lock, ("cas.acquire", "cas.relaxed")),
            (lock, ("st.release", "st.relaxed")),
            (lock, ("@%p1 bra L;", "")),
            (message, ("st.release", "st.relaxed")),
            (counter, ("ld.acquire", "ld.relaxed")),
            (counter, (" 2; @", " 1; @")),
        ] {
            let attacked = |pair: &FunctionPair| {
                let how = Attack { seed: 20, contexts: 4_000, judged: &judged };
                attack(pair, refiner, how).expect("both are read").expect("both have inputs")
            };
            let found = attacked(&pair(body, Some(replaced))).refutation;
            assert!(found.is_some(), "contexts with {name} do not refute {replaced:?} in {body}");
            let same = attacked(&pair(body, None));
            assert!(same.refutation.is_none() && same.checked > 20, "{name}: {same:?} {body}");
        }
    }
}
