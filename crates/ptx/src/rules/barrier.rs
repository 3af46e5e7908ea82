//! Rules of `bar`, `barrier.cta` and `barrier.cluster`.

use model::section;

use crate::rule::{Authority, Rule};

pub static FORM: Rule = Rule {
    code: "bar-form",
    section: section::BAR,
    text: "a barrier of the CTA is `.sync`, `.arrive`, `.red.popc.u32`, `.red.and.pred` or `.red.or.pred`",
    by: Authority::Both,
};
pub static ID: Rule = Rule {
    code: "bar-id",
    section: section::BAR,
    text: "a CTA has barriers 0 to 15",
    by: Authority::Both,
};
pub static COUNT_MISSING: Rule = Rule {
    code: "bar-count",
    section: section::BAR,
    text: "`.arrive` says how many threads take part",
    by: Authority::Both,
};
pub static CLUSTER_FORM: Rule = Rule {
    code: "barrier-cluster-form",
    section: section::BARRIER_CLUSTER,
    text: "a barrier of the cluster is `.arrive`, with `.release` or `.relaxed`, or `.wait`, with `.acquire`",
    by: Authority::Both,
};
