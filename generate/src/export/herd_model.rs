//! The model for herd7: the bell file of the annotations, and the axioms with definitions of the given relations.
//!
//! The axioms are those of the model, as it prints them. herd7 enumerates total coherence orders, so the partial order
//! of the model is a part of each: what the model directs and what causality requires, closed. The order of `fence.sc`
//! is drawn from the linear orders of these fences.

use std::fmt::Write;

use model::rel::Model;
use model::render;

/// The annotations of accesses and fences.
pub fn bell() -> &'static str {
    BELL
}

const BELL: &str = "\
\"PTX\"

enum orders = 'weak || 'relaxed || 'acquire || 'release || 'acq_rel || 'sc || 'alias
enum scopes = 'cta || 'cluster || 'gpu || 'sys

let narrower(t) = match t with
|| 'sys -> {'gpu}
|| 'gpu -> {'cluster}
|| 'cluster -> {'cta}
end

let wider(t) = match t with
|| 'cta -> {'cluster}
|| 'cluster -> {'gpu}
|| 'gpu -> {'sys}
end

instructions R[{'weak}]
instructions R[{'relaxed,'acquire},{'cta,'cluster,'gpu,'sys}]
instructions W[{'weak}]
instructions W[{'relaxed,'release},{'cta,'cluster,'gpu,'sys}]
instructions RMW[{'relaxed,'acquire,'release,'acq_rel},{'cta,'cluster,'gpu,'sys}]
instructions F[{'alias}]
instructions F[{'acquire,'release,'acq_rel,'sc},{'cta,'cluster,'gpu,'sys}]
default R[{'weak}]
default W[{'weak}]
";

/// What the model is given, in the words of herd7, whose program order does not relate the accesses of one atomic.
const GIVEN: &str = "\
include \"cos.cat\"

let PF = F & Alias
let ALIAS = PF
let F = F \\ PF
let ACQ = R & (Acquire | Acq_rel)
let REL = W & (Release | Acq_rel)
let RLX = R & (Relaxed | Release) | W & (Relaxed | Acquire)
let F-ACQ = F & Acquire
let F-REL = F & Release
let F-ACQ-REL = F & Acq_rel
let F-SC = F & Sc
let CTA = Cta
let CLUSTER = Cluster
let GPU = Gpu
let SYS = Sys
let GEN = R | W | PF
let TEX = emptyset
let SUR = emptyset
let CON = emptyset
let RED = emptyset
let NC = emptyset
let LDU = emptyset
let RO = emptyset
let AT = emptyset
let same-cta = cta
let same-cluster = cluster
let same-gpu = gpu
let overlap = loc & (R | W) * (R | W)
let overlap-completely = overlap
let location-overlap = overlap
let po = po | rmw
let barrier = 0
let cluster-barrier = 0
let exited = 0
let co-total = co
with sc-total from linearisations(F-SC, 0)
";

/// Before the definition that uses it first.
const FENCE_SC: &str = "let fence-sc = sc-total & morally-strong & F-SC * F-SC\n";

const COHERENCE: &str = "\
let co =
    (co-total & (indivisible & overlap & W * W | IW * W)
    | causality & location-overlap & W * W)+
let fr = rf^-1 ; co \\ id
empty co \\ co-total as total-coherence
";

/// A model as a cat file for herd7.
pub fn cat(model: &Model) -> String {
    let printed = render::cat(model);
    let mut out = String::new();
    for (number, line) in printed.lines().enumerate() {
        if line.starts_with("//") || line.starts_with("include") {
            continue;
        }
        if line.starts_with("let synchronizes") {
            out += FENCE_SC;
        }
        if line.starts_with("let communication") {
            out += COHERENCE;
        }
        writeln!(out, "{line}").expect("writing to a string succeeds");
        if number == 0 {
            out += "\n";
            out += GIVEN;
        }
    }
    out
}
