//! Models of the peer, as far as they leave choices that the built-in model does not have.

use judge::{Verdict, judge};
use model::rel::Model;

use crate::suite;

/// What the peer's v6.0 model says of fences, and no more.
const FENCES: &str = "
let ms = sr \\ id
let sync = ms & ([W & REL]; rf; [R & ACQ])
let cause = po?; ((sync | sync_fence); po?)+
empty ([F & SC]; cause; [F & SC]) \\ sync_fence as axiom-FenceSC
irreflexive (rf | fr); (cause | po-loc) as axiom-Causality
";

fn model(text: &str) -> Model {
    cat::import("fences.cat", text).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

/// Whether the condition of a test holds; every engine says the same.
fn holds(model: &Model, program: &str) -> bool {
    let test = litmus::parse("fences.litmus", program.as_bytes())
        .unwrap_or_else(|errors| panic!("{}\n{program}", errors[0]));
    let judgement = judge(&test, &suite::task(model));
    assert_eq!(judgement.disagreement, None, "{program}");
    match judgement.verdict {
        Verdict::Holds => true,
        Verdict::Fails => false,
        verdict @ (Verdict::Undefined(_)
        | Verdict::Unsupported(_)
        | Verdict::Stuck(_)
        | Verdict::Undecided(_)) => panic!("{verdict:?}\n{program}"),
    }
}

/// Two threads in two CTAs, with a fence in each that synchronizes in its own scope only.
fn released(scope: &str) -> String {
    format!(
        "PTX MP\n{{\nf=0;\n}}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
         fence.sc.{scope} | ld.acquire.gpu r0, f ;\n st.release.gpu f, 1 | fence.sc.{scope} ;\n\
         exists (P1:r0 == 1)\n"
    )
}

fn store_buffering(scope: &str) -> String {
    format!(
        "PTX SB\n{{\nx=0; y=0;\n}}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
         st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n fence.sc.{scope} | fence.sc.{scope} ;\n \
         ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\nexists (P0:r0 == 0 /\\ P1:r0 == 0)\n"
    )
}

#[test]
fn fences_that_do_not_include_each_other_are_left_to_causality() {
    let fences = model(FENCES);
    for scope in ["cta", "gpu"] {
        assert!(holds(&fences, &released(scope)), "{scope}");
    }
    assert!(holds(&fences, &store_buffering("cta")));
    assert!(!holds(&fences, &store_buffering("gpu")));
}

/// `sync_fence` relates fences and nothing else: other pairs are not among those it leaves free.
#[test]
fn what_sync_fence_can_not_relate_is_not_left_free() {
    let writes = FENCES.replace("[F & SC]; cause; [F & SC]", "[W]; (ms & rf); [R]");
    let writes = model(&writes);
    assert!(!holds(&writes, &released("cta")));
    let unread = released("cta").replace("exists (P1:r0 == 1)", "exists (P1:r0 == 0)");
    assert!(holds(&writes, &unread));
}

/// The same under the peer's own files.
#[test]
#[ignore = "needs models of others: CAUSEWAY_ORACLE"]
fn the_peers_own_model_leaves_such_fences_free() {
    let folder = measured::of_others("litmus/cat");
    for version in ["v6.0", "v7.5"] {
        let path = folder.join(format!("ptx-{version}.cat"));
        let text = std::fs::read_to_string(&path).expect("a model is text");
        let peers = model(&text);
        assert!(holds(&peers, &released("cta")), "{version}");
        assert!(holds(&peers, &released("gpu")), "{version}");
        assert!(holds(&peers, &store_buffering("cta")), "{version}");
        assert!(!holds(&peers, &store_buffering("gpu")), "{version}");
    }
}
