//! Rules of cache operators, eviction priorities, prefetch sizes and cache policies: their combinations and
//! state spaces.

use super::order::without_policy;
use super::rule;
use crate::qualifier::{CacheOperator, OrderQualifier};
use crate::rule::{Breach, Edit, RuleCheck};
use crate::shape::InstructionForm;
use crate::version::RuleContext;

rule!(LD_CACHE, "ld-cache", LD, Both, "only weak loads take a cache operator");
rule!(
    LD_CACHE_OPERATOR,
    "ld-cache-operator",
    LD,
    Both,
    "a load takes the cache operators `.ca`, `.cg`, `.cs`, `.lu` and `.cv`"
);
rule!(
    LD_CACHE_LEVEL1,
    "ld-cache-level1",
    LD,
    Both,
    "a load takes a cache operator or an L1 eviction priority"
);
rule!(
    LD_CACHE_LEVEL2,
    "ld-cache-level2",
    LD,
    Document,
    "a load takes a cache operator or an L2 eviction priority"
);
rule!(
    LD_LEVEL1_SPACE,
    "ld-level1-space",
    LD,
    Ptxas,
    "L1 eviction priorities are for `.global` and generic addresses"
);
rule!(
    LD_PREFETCH_SPACE,
    "ld-prefetch-space",
    LD,
    Both,
    "prefetch sizes are for `.global` and generic addresses"
);
rule!(
    LD_PREFETCH_LEVEL1,
    "ld-prefetch-level1",
    LD,
    Document,
    "`.L1::32B` is a modifier of `prefetch`; the prefetch sizes of a load are `.L2::64B`, `.L2::128B` and `.L2::256B`"
);
rule!(
    LD_POLICY_SPACE,
    "ld-policy-space",
    LD,
    Both,
    "`.L2::cache_hint` is for `.global` and generic addresses"
);

rule!(ST_CACHE, "st-cache", ST, Both, "only weak stores take a cache operator");
rule!(
    ST_CACHE_OPERATOR,
    "st-cache-operator",
    ST,
    Both,
    "a store takes the cache operators `.wb`, `.cg`, `.cs` and `.wt`"
);
rule!(
    ST_CACHE_LEVEL1,
    "st-cache-level1",
    ST,
    Both,
    "a store takes a cache operator or an L1 eviction priority"
);
rule!(
    ST_CACHE_LEVEL2,
    "st-cache-level2",
    ST,
    Document,
    "a store takes a cache operator or an L2 eviction priority"
);
rule!(
    ST_LEVEL1_SPACE,
    "st-level1-space",
    ST,
    Ptxas,
    "L1 eviction priorities are for `.global` and generic addresses"
);
rule!(
    ST_POLICY_SPACE,
    "st-policy-space",
    ST,
    Both,
    "`.L2::cache_hint` is for `.global` and generic addresses"
);

pub const LD: &[RuleCheck] = &[
    RuleCheck { rule: &LD_CACHE, broken: strong },
    RuleCheck { rule: &LD_CACHE_OPERATOR, broken: operator },
    RuleCheck { rule: &LD_CACHE_LEVEL1, broken: with_level1 },
    RuleCheck { rule: &LD_CACHE_LEVEL2, broken: with_level2 },
    RuleCheck { rule: &LD_LEVEL1_SPACE, broken: level1_space },
    RuleCheck { rule: &LD_PREFETCH_SPACE, broken: prefetch_space },
    RuleCheck { rule: &LD_PREFETCH_LEVEL1, broken: prefetch_level1 },
    RuleCheck { rule: &LD_POLICY_SPACE, broken: policy_space },
];

pub const ST: &[RuleCheck] = &[
    RuleCheck { rule: &ST_CACHE, broken: strong },
    RuleCheck { rule: &ST_CACHE_OPERATOR, broken: operator },
    RuleCheck { rule: &ST_CACHE_LEVEL1, broken: with_level1 },
    RuleCheck { rule: &ST_CACHE_LEVEL2, broken: with_level2 },
    RuleCheck { rule: &ST_LEVEL1_SPACE, broken: level1_space },
    RuleCheck { rule: &ST_POLICY_SPACE, broken: policy_space },
];

fn strong(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (cache, order) = (form.q.cache?, form.q.order?);
    // `.mmio` and `.nc` have rules of their own for what does not go with them.
    if order.value == OrderQualifier::Weak || form.q.mmio.is_some() || form.is_non_coherent() {
        return None;
    }
    let what = if form.opcode.is_load() { "load" } else { "store" };
    Some(
        Breach::part(cache.position, format!("the {what} is not weak"))
            .fixed_by([Edit::Remove(cache.position)])
            .safe(),
    )
}

fn operator(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    use CacheOperator::{Ca, Cg, Cs, Cv, Lu, Wb, Wt};
    let cache = form.q.cache?;
    let instead = match (form.opcode.is_load(), cache.value) {
        (true, Ca | Cg | Cs | Lu | Cv) | (false, Wb | Cg | Cs | Wt) => return None,
        (true, Wb) => "ca",
        (true, Wt) => "cv",
        (false, Ca | Lu) => "wb",
        (false, Cv) => "wt",
    };
    Some(
        Breach::part(cache.position, "not one of these")
            .fixed_by([Edit::Replace(cache.position, instead)])
            .safe(),
    )
}

fn with_level1(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (cache, level) = (form.q.cache?, form.q.level1?);
    form.q.mmio.is_none().then(|| {
        Breach::part(cache.position.max(level.position), "these exclude each other")
            .fixed_by([Edit::Remove(cache.position)])
            .safe()
    })
}

fn with_level2(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (cache, level) = (form.q.cache?, form.q.level2?);
    form.q.mmio.is_none().then(|| {
        Breach::part(cache.position.max(level.position), "these exclude each other")
            .fixed_by([Edit::Remove(cache.position)])
            .safe()
    })
}

/// The state space, where it is named and can hold no global address.
fn other_space(form: &InstructionForm<'_>) -> Option<String> {
    let space = form.q.space.filter(|space| !space.value.may_be_global())?;
    Some(format!("the state space is `.{}`", space.value.name()))
}

fn level1_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (level, note) = (form.q.level1?, other_space(form)?);
    Some(Breach::part(level.position, note).fixed_by([Edit::Remove(level.position)]).safe())
}

fn prefetch_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (prefetch, note) = (form.q.prefetch?, other_space(form)?);
    Some(Breach::part(prefetch.position, note).fixed_by([Edit::Remove(prefetch.position)]).safe())
}

fn policy_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (policy, note) = (form.q.policy?, other_space(form)?);
    let fix = std::iter::once(Edit::Remove(policy.position)).chain(without_policy(form));
    Some(Breach::part(policy.position, note).fixed_by(fix).safe())
}

fn prefetch_level1(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let prefetch = form.q.prefetch.filter(|at| at.value == 32)?;
    Some(
        Breach::part(prefetch.position, "not a prefetch size of a load")
            .fixed_by([Edit::Replace(prefetch.position, "L2::64B")])
            .safe(),
    )
}
