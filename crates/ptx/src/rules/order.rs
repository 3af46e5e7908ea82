//! Rules of memory order, scope, `.mmio` and `.nc` of `ld` and `st`, and of their state spaces.

use super::rule;
use crate::qualifier::{CacheOperator, OrderQualifier};
use crate::rule::{Breach, Edit, RuleCheck};
use crate::shape::{InstructionForm, Opcode};
use crate::version::RuleContext;
use model::isa::SpaceQualifier;
use model::scope::Scope;

rule!(LD_ORDER, "ld-order", LD, Both, "a load is weak, volatile, relaxed or acquire");
rule!(LD_SCOPE_MISSING, "ld-scope-missing", LD, Both, "`.relaxed` and `.acquire` require a scope");
rule!(LD_SCOPE_UNUSED, "ld-scope-unused", LD, Both, "only `.relaxed` and `.acquire` take a scope");
rule!(
    LD_MMIO,
    "ld-mmio",
    LD,
    Both,
    "`.mmio` is written with `.relaxed.sys`, or `.acquire.sys` from 9.3"
);
rule!(LD_MMIO_SPACE, "ld-mmio-space", LD, Both, "`.mmio` is for global memory");
rule!(LD_MMIO_VECTOR, "ld-mmio-vector", LD, Both, "an `.mmio` load cannot be a vector");
rule!(LD_MMIO_HINT, "ld-mmio-hint", LD, Both, "an `.mmio` load takes no cache hints");
rule!(
    LD_STRONG_SPACE,
    "ld-strong-space",
    LD,
    Both,
    "`.relaxed` and `.acquire` are for `.global`, `.shared` and generic addresses"
);
rule!(
    LD_VOLATILE_SPACE,
    "ld-volatile-space",
    LD,
    Both,
    "`.volatile` is for `.global`, `.shared`, `.local` and generic addresses"
);
rule!(
    LD_VOLATILE_LEVEL2,
    "ld-volatile-level2",
    LD,
    Document,
    "a volatile load takes no L2 eviction priority"
);
rule!(
    LD_VOLATILE_HINT,
    "ld-volatile-hint",
    LD,
    Both,
    "a volatile load takes no L1 eviction priority and no cache policy"
);
rule!(LD_NC, "ld-nc", LD_GLOBAL_NC, Both, "`.nc` is for weak loads of `.global`");
rule!(LD_NC_WEAK, "ld-nc-weak", LD_GLOBAL_NC, Both, "`ld.global.nc` is weak, and takes no `.weak`");
rule!(
    LD_NC_CACHE,
    "ld-nc-cache",
    LD_GLOBAL_NC,
    Both,
    "`ld.global.nc` takes the cache operators `.ca`, `.cg` and `.cs`"
);
rule!(
    LD_READONLY,
    "ld-readonly",
    LD,
    Both,
    "`.proxy::readonly` is for loads of global memory without `.weak` and without hints but `.L2::evict_*`"
);
rule!(
    LD_READONLY_B128,
    "ld-readonly-b128",
    LD,
    Ptxas,
    "`.proxy::readonly` is for other types than `.b128`"
);

rule!(ST_ORDER, "st-order", ST, Both, "a store is weak, volatile, relaxed or release");
rule!(ST_SCOPE_MISSING, "st-scope-missing", ST, Both, "`.relaxed` and `.release` require a scope");
rule!(ST_SCOPE_UNUSED, "st-scope-unused", ST, Both, "only `.relaxed` and `.release` take a scope");
rule!(
    ST_MMIO,
    "st-mmio",
    ST,
    Both,
    "`.mmio` is written with `.relaxed.sys`, or `.release.sys` from 9.3"
);
rule!(ST_MMIO_SPACE, "st-mmio-space", ST, Both, "`.mmio` is for global memory");
rule!(ST_MMIO_VECTOR, "st-mmio-vector", ST, Both, "an `.mmio` store cannot be a vector");
rule!(ST_MMIO_HINT, "st-mmio-hint", ST, Both, "an `.mmio` store takes no cache hints");
rule!(
    ST_STRONG_SPACE,
    "st-strong-space",
    ST,
    Both,
    "`.relaxed` and `.release` are for `.global`, `.shared` and generic addresses"
);
rule!(
    ST_VOLATILE_SPACE,
    "st-volatile-space",
    ST,
    Both,
    "`.volatile` is for `.global`, `.shared`, `.local` and generic addresses"
);
rule!(
    ST_VOLATILE_LEVEL2,
    "st-volatile-level2",
    ST,
    Document,
    "a volatile store takes no L2 eviction priority"
);
rule!(
    ST_VOLATILE_HINT,
    "st-volatile-hint",
    ST,
    Both,
    "a volatile store takes no L1 eviction priority and no cache policy"
);
rule!(
    ST_READ_ONLY_SPACE,
    "st-read-only-space",
    ST,
    Both,
    "`.const` and the parameters of a kernel are not written"
);

pub const LD: &[RuleCheck] = &[
    RuleCheck { rule: &LD_ORDER, broken: wrong_order },
    RuleCheck { rule: &LD_SCOPE_MISSING, broken: scope_missing },
    RuleCheck { rule: &LD_SCOPE_UNUSED, broken: scope_unused },
    RuleCheck { rule: &LD_MMIO, broken: mmio_without_sys },
    RuleCheck { rule: &LD_MMIO_SPACE, broken: mmio_space },
    RuleCheck { rule: &LD_MMIO_VECTOR, broken: mmio_vector },
    RuleCheck { rule: &LD_MMIO_HINT, broken: mmio_hint },
    RuleCheck { rule: &LD_STRONG_SPACE, broken: strong_space },
    RuleCheck { rule: &LD_VOLATILE_SPACE, broken: volatile_space },
    RuleCheck { rule: &LD_VOLATILE_HINT, broken: volatile_hint },
    RuleCheck { rule: &LD_VOLATILE_LEVEL2, broken: volatile_level2 },
    RuleCheck { rule: &LD_NC, broken: non_coherent },
    RuleCheck { rule: &LD_NC_WEAK, broken: non_coherent_weak },
    RuleCheck { rule: &LD_NC_CACHE, broken: non_coherent_cache },
    RuleCheck { rule: &LD_READONLY, broken: readonly },
    RuleCheck { rule: &LD_READONLY_B128, broken: readonly_b128 },
];

pub const ST: &[RuleCheck] = &[
    RuleCheck { rule: &ST_ORDER, broken: wrong_order },
    RuleCheck { rule: &ST_SCOPE_MISSING, broken: scope_missing },
    RuleCheck { rule: &ST_SCOPE_UNUSED, broken: scope_unused },
    RuleCheck { rule: &ST_MMIO, broken: mmio_without_sys },
    RuleCheck { rule: &ST_MMIO_SPACE, broken: mmio_space },
    RuleCheck { rule: &ST_MMIO_VECTOR, broken: mmio_vector },
    RuleCheck { rule: &ST_MMIO_HINT, broken: mmio_hint },
    RuleCheck { rule: &ST_STRONG_SPACE, broken: strong_space },
    RuleCheck { rule: &ST_VOLATILE_SPACE, broken: volatile_space },
    RuleCheck { rule: &ST_VOLATILE_HINT, broken: volatile_hint },
    RuleCheck { rule: &ST_VOLATILE_LEVEL2, broken: volatile_level2 },
    RuleCheck { rule: &ST_READ_ONLY_SPACE, broken: read_only_space },
];

/// The order that only loads, or only stores, have.
fn strongest(opcode: Opcode) -> OrderQualifier {
    if opcode.is_load() { OrderQualifier::Acquire } else { OrderQualifier::Release }
}

fn names_a_scope(opcode: Opcode, order: OrderQualifier) -> bool {
    order == OrderQualifier::Relaxed || order == strongest(opcode)
}

fn wrong_order(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let order = form.q.order?;
    let fits = names_a_scope(form.opcode, order.value)
        || matches!(order.value, OrderQualifier::Weak | OrderQualifier::Volatile);
    if fits || form.q.mmio.is_some() || form.is_non_coherent() {
        return None;
    }
    let fix = [Edit::Replace(order.position, strongest(form.opcode).name())];
    let more = form.q.scope.is_none().then_some(Edit::Insert(order.position + 1, "gpu"));
    Some(
        Breach::part(order.position, format!("the order is `.{}`", order.value.name()))
            .fixed_by(fix.into_iter().chain(more)),
    )
}

fn scope_missing(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let order = form.q.order?;
    let missing = form.q.scope.is_none()
        && form.q.mmio.is_none()
        && !form.is_non_coherent()
        && names_a_scope(form.opcode, order.value);
    missing.then(|| {
        Breach::part(order.position, "the scope is missing")
            .fixed_by([Edit::Insert(order.position + 1, "gpu")])
    })
}

fn scope_unused(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let scope = form.q.scope?;
    if form.q.mmio.is_some() || form.is_non_coherent() {
        return None;
    }
    match form.q.order {
        None => Some(
            Breach::part(scope.position, "without an order, the access is weak")
                .fixed_by([Edit::Insert(scope.position, OrderQualifier::Relaxed.name())]),
        ),
        Some(order) if order.value == OrderQualifier::Weak => Some(
            Breach::part(scope.position, "a weak access has no scope")
                .fixed_by([Edit::Replace(order.position, OrderQualifier::Relaxed.name())]),
        ),
        Some(order) if order.value == OrderQualifier::Volatile => Some(
            Breach::part(scope.position, "a volatile access has the scope `.sys`")
                .fixed_by([Edit::Remove(scope.position)])
                .safe_if(scope.value == Scope::Sys),
        ),
        Some(_) => None,
    }
}

fn mmio_without_sys(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let mmio = form.q.mmio?;
    let fits = |order: OrderQualifier| names_a_scope(form.opcode, order);
    let mut fix = Vec::new();
    match form.q.order {
        Some(order) if fits(order.value) => {}
        Some(order) => fix.push(Edit::Replace(order.position, OrderQualifier::Relaxed.name())),
        None => fix.push(Edit::Insert(mmio.position + 1, OrderQualifier::Relaxed.name())),
    }
    match form.q.scope {
        Some(scope) if scope.value == Scope::Sys => {}
        Some(scope) => fix.push(Edit::Replace(scope.position, "sys")),
        None => fix.push(Edit::Insert(
            form.q.order.map_or(mmio.position, |order| order.position) + 1,
            "sys",
        )),
    }
    let breach = match (form.q.scope, form.q.order) {
        (Some(scope), _) if scope.value != Scope::Sys => {
            Breach::part(scope.position, format!("the scope is `.{}`", scope.value))
        }
        (_, Some(order)) if !fits(order.value) => {
            Breach::part(order.position, format!("the order is `.{}`", order.value.name()))
        }
        (None, Some(order)) => Breach::part(order.position, "the scope is missing"),
        (_, None) => Breach::part(mmio.position, "the order is missing"),
        (Some(_), Some(_)) => return None,
    };
    // The scope can be no other; the order may be.
    Some(breach.fixed_by(fix).safe_if(form.q.order.is_some_and(|order| fits(order.value))))
}

fn mmio_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (_, space) = (form.q.mmio?, form.q.space?);
    (space.value != SpaceQualifier::Global).then(|| {
        Breach::part(space.position, "this is a different state space")
            .fixed_by([Edit::Replace(space.position, "global")])
    })
}

fn mmio_vector(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (_, vector) = (form.q.mmio?, form.q.vector?);
    Some(
        Breach::part(vector.position, "this makes it a vector")
            .advised("access the elements one by one"),
    )
}

fn mmio_hint(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    form.q.mmio?;
    let q = form.q;
    let hints = [
        q.cache.map(|at| at.position),
        q.level1.map(|at| at.position),
        q.level2.map(|at| at.position),
        q.prefetch.map(|at| at.position),
        q.policy.map(|at| at.position),
    ];
    let position = hints.into_iter().flatten().min()?;
    let mut fix: Vec<Edit> = hints.into_iter().flatten().map(Edit::Remove).collect();
    fix.extend(without_policy(form));
    Some(Breach::part(position, "not allowed here").fixed_by(fix).safe())
}

/// Takes the operand away that goes with `.L2::cache_hint`.
pub(super) fn without_policy(form: &InstructionForm<'_>) -> Option<Edit> {
    let last = form.data_end();
    (form.q.policy.is_some() && form.operands.len() > last).then_some(Edit::RemoveOperand(last))
}

fn strong_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (order, space) = (form.q.order?, form.q.space?);
    let strong = names_a_scope(form.opcode, order.value);
    let shared = space.value.may_be_global() || space.value.is_shared();
    if !strong || shared || form.q.mmio.is_some() {
        return None;
    }
    // What no other thread can reach needs no order.
    let fix = std::iter::once(order.position).chain(form.q.scope.map(|scope| scope.position));
    Some(
        Breach::part(space.position, format!("the state space is `.{}`", space.value.name()))
            .fixed_by(fix.map(Edit::Remove)),
    )
}

fn volatile_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (order, space) = (form.q.order?, form.q.space?);
    let fits = space.value.may_be_global()
        || space.value.is_shared()
        || space.value == SpaceQualifier::Local;
    (order.value == OrderQualifier::Volatile && !fits).then(|| {
        Breach::part(space.position, format!("the state space is `.{}`", space.value.name()))
            .fixed_by([Edit::Remove(order.position)])
    })
}

fn volatile_hint(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let q = form.q;
    if q.order?.value != OrderQualifier::Volatile {
        return None;
    }
    let hints = [q.level1.map(|at| at.position), q.policy.map(|at| at.position)];
    let position = hints.into_iter().flatten().min()?;
    let mut fix: Vec<Edit> = hints.into_iter().flatten().map(Edit::Remove).collect();
    fix.extend(without_policy(form));
    Some(Breach::part(position, "not allowed here").fixed_by(fix).safe())
}

fn volatile_level2(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (order, level2) = (form.q.order?, form.q.level2?);
    // A narrower access takes none, volatile or not.
    (order.value == OrderQualifier::Volatile && form.is_256_bits()).then(|| {
        Breach::part(level2.position, "not allowed here")
            .fixed_by([Edit::Remove(level2.position)])
            .safe()
    })
}

fn non_coherent(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let nc = form.q.non_coherent?;
    if let Some(space) = form.q.space {
        return (space.value != SpaceQualifier::Global).then(|| {
            Breach::part(space.position, "this is a different state space")
                .fixed_by([Edit::Replace(space.position, "global")])
        });
    }
    Some(
        Breach::part(nc.position, "the state space is missing")
            .fixed_by([Edit::Insert(nc.position, "global")])
            .safe(),
    )
}

fn non_coherent_weak(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let nc = form.q.non_coherent?;
    let q = form.q;
    let order = q.order.map(|at| at.position);
    let others = [order, q.scope.map(|at| at.position), q.mmio.map(|at| at.position)];
    let position = others.into_iter().flatten().min()?;
    let only_weak = q.order.is_some_and(|order| order.value == OrderQualifier::Weak)
        && others.into_iter().flatten().count() == 1;
    let fix: Vec<Edit> = if only_weak {
        vec![Edit::Remove(position)]
    } else {
        // An order is wanted: then the load is coherent.
        vec![Edit::Remove(nc.position)]
    };
    let note = if only_weak { "it is not written" } else { "this load would be strong" };
    Some(Breach::part(position, note).fixed_by(fix).safe_if(only_weak))
}

fn non_coherent_cache(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (_, cache) = (form.q.non_coherent?, form.q.cache?);
    matches!(cache.value, CacheOperator::Lu | CacheOperator::Cv).then(|| {
        Breach::part(cache.position, "not one of these")
            .fixed_by([Edit::Replace(cache.position, "cs")])
            .safe()
    })
}

fn readonly_b128(form: &InstructionForm<'_>, setting: &RuleContext) -> Option<Breach> {
    let readonly = form.q.readonly.filter(|_| readonly(form, setting).is_none())?;
    let ty = form.q.ty.filter(|at| at.value.bits > 64)?;
    Some(
        Breach::part(ty.position, "this does not go with it")
            .fixed_by([Edit::Remove(readonly.position)]),
    )
}

fn readonly(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let readonly = form.q.readonly?;
    let q = form.q;
    let space = q.space.filter(|space| space.value != SpaceQualifier::Global);
    let others = [
        space.map(|at| at.position),
        q.order.map(|at| at.position),
        q.mmio.map(|at| at.position),
        q.cache.map(|at| at.position),
        q.level1.map(|at| at.position),
        q.prefetch.map(|at| at.position),
        q.policy.map(|at| at.position),
    ];
    let position = others.into_iter().flatten().min()?;
    Some(
        Breach::part(position, "this does not go with it")
            .fixed_by([Edit::Remove(readonly.position)]),
    )
}

fn read_only_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let space = form.q.space?;
    let named = matches!(space.value, SpaceQualifier::Const | SpaceQualifier::ParamEntry);
    let kernels = form.variable().is_some_and(|v| v.space == SpaceQualifier::ParamEntry);
    (named || kernels && space.value.is_param()).then(|| {
        Breach::part(space.position, "read only").advised("write to a variable in `.global`")
    })
}
