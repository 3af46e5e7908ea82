//! The model for herd7: the bell file of the annotations, and the axioms with definitions of the given relations.
//!
//! The axioms are those of the model, as it prints them. herd7 enumerates total coherence orders, so the partial order
//! of the model is a part of each: what the model directs and what causality requires, closed. The order of `fence.sc`
//! is drawn from the linear orders of these fences.

use std::collections::BTreeSet;
use std::fmt::Write;

use model::given::{Fixed, Tag};
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

/// Names that herd7 has, beside those that are given above.
const KNOWN: &[&str] = &["_", "R", "W", "F", "M", "IW", "po", "rf", "addr", "data", "ctrl", "rmw"];

/// What the model is given and no test in LISA has: sets without events, and relations without pairs.
fn empty(printed: &str) -> String {
    let given: BTreeSet<&str> = words(GIVEN).collect();
    let used: BTreeSet<&str> =
        printed.lines().filter(|line| is_cat(line)).flat_map(words).collect();
    let missing =
        |name: &&str| used.contains(name) && !given.contains(name) && !KNOWN.contains(name);
    let mut out = String::new();
    for name in Tag::ALL.iter().map(|tag| tag.name()).filter(missing) {
        writeln!(out, "let {name} = emptyset").expect("writing to a string succeeds");
    }
    for name in Fixed::ALL.iter().map(|fixed| fixed.name()).filter(missing) {
        writeln!(out, "let {name} = 0").expect("writing to a string succeeds");
    }
    out
}

/// Whether a line of a printed model is part of the file for herd7.
fn is_cat(line: &str) -> bool {
    !line.starts_with("//") && !line.starts_with("include")
}

/// The names and keywords of cat in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(move |c| !inside(c)).filter(|word| !word.is_empty())
}

/// A model as a cat file for herd7.
pub fn cat(model: &Model) -> String {
    let printed = render::cat(model);
    let mut out = String::new();
    for (number, line) in printed.lines().enumerate() {
        if !is_cat(line) {
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
            out += &empty(&printed);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// herd7 evaluates each definition, and refuses a name that it does not know.
    #[test]
    fn each_name_of_the_model_for_herd7_is_defined_before_its_use() {
        const LANGUAGE: &[&str] = &[
            "let",
            "as",
            "acyclic",
            "irreflexive",
            "empty",
            "with",
            "from",
            "linearisations",
            "emptyset",
            "include",
            "flag",
            "0",
            "id",
            "loc",
            "co",
            "cta",
            "cluster",
            "gpu",
            "sys",
            "Alias",
            "Weak",
            "Relaxed",
            "Acquire",
            "Release",
            "Acq_rel",
            "Sc",
            "Cta",
            "Cluster",
            "Gpu",
            "Sys",
            "domain",
            "range",
        ];
        let text = cat(&model::ptx::model());
        let mut known: BTreeSet<&str> = KNOWN.iter().chain(LANGUAGE).copied().collect();
        let mut statements = Vec::new();
        for line in text.lines().skip(1).filter(|line| !line.starts_with("include")) {
            let begins = ["let ", "with ", "acyclic ", "irreflexive ", "empty ", "flag "];
            if begins.iter().any(|word| line.starts_with(word)) || statements.is_empty() {
                statements.push(line.to_owned());
            } else {
                let last = statements.last_mut().expect("it has begun");
                last.push(' ');
                last.push_str(line);
            }
        }
        let statements: Vec<String> = statements;
        let mut unknown = Vec::new();
        for statement in &statements {
            let defined = statement.strip_prefix("let ").or(statement.strip_prefix("with "));
            let (name, body) = match defined {
                Some(rest) => {
                    let at = rest.find([' ', '(']).unwrap_or(rest.len());
                    (Some(&rest[..at]), &rest[at..])
                }
                None => (None, statement.split(" as ").next().unwrap_or_default()),
            };
            let body = body.trim_start_matches("-1");
            unknown.extend(words(body).filter(|word| {
                let plain = word.strip_suffix("-1").unwrap_or(word);
                !known.contains(plain) && plain != "1" && !plain.is_empty()
            }));
            known.extend(name);
        }
        assert_eq!(unknown, Vec::<&str>::new());
    }
}
