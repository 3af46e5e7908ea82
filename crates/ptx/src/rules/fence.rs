//! Rules of `fence` and `membar`. Fences of proxies, of one state space and of one operation are other
//! instructions with the same prefix; see [`crate::fences::all`].

use super::rule;
use crate::qualifier::OrderQualifier;
use crate::rule::{Breach, Edit, RuleCheck, Spot};
use crate::shape::InstructionForm;
use crate::version::RuleContext;
use model::scope::Scope;

rule!(
    FENCE_ORDER,
    "fence-order",
    MEMBAR,
    Both,
    "a fence is sc or acq_rel, or acquire or release from 8.6"
);
rule!(FENCE_SCOPE_MISSING, "fence-scope-missing", MEMBAR, Both, "a fence requires a scope");
rule!(
    MEMBAR_LEVEL,
    "membar-level",
    MEMBAR,
    Both,
    "`membar` is followed by `.cta`, `.gl` or `.sys`"
);
rule!(FENCE_OPERANDS, "fence-operands", MEMBAR, Both, "a fence takes no operands");

rule!(
    FENCE_PROXY,
    "fence-proxy",
    MEMBAR,
    Both,
    "`.generic`, `.constant`, `.texture` and `.surface` fences exist only in the peer dialect"
);

pub const FENCE: &[RuleCheck] = &[
    RuleCheck { rule: &FENCE_ORDER, broken: order },
    RuleCheck { rule: &FENCE_SCOPE_MISSING, broken: scope_missing },
    RuleCheck { rule: &FENCE_OPERANDS, broken: operands },
];

pub const MEMBAR: &[RuleCheck] = &[
    RuleCheck { rule: &MEMBAR_LEVEL, broken: level },
    RuleCheck { rule: &FENCE_OPERANDS, broken: operands },
];

fn order(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let order = form.q.order?;
    matches!(order.value, OrderQualifier::Weak | OrderQualifier::Volatile | OrderQualifier::Relaxed)
        .then(|| {
            Breach::part(order.position, format!("the order is `.{}`", order.value.name()))
                .fixed_by([Edit::Replace(order.position, "acq_rel")])
        })
}

fn scope_missing(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    form.q.scope.is_none().then(|| {
        Breach::part(form.q.order.map_or(0, |order| order.position), "no scope follows")
            .fixed_by([Edit::Insert(form.q.end, "gpu")])
    })
}

fn level(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    match (form.q.gpu_level, form.q.scope) {
        (Some(_), None) => None,
        (None, Some(scope)) if matches!(scope.value, Scope::Cta | Scope::Sys) => None,
        (_, Some(scope)) => {
            let fix = if form.q.gpu_level.is_some() {
                vec![Edit::Remove(scope.position)]
            } else if scope.value == Scope::Gpu {
                vec![Edit::Replace(scope.position, "gl")]
            } else {
                vec![Edit::Replace(0, "fence"), Edit::Insert(1, "sc")]
            };
            // `membar.gl` is of the scope `.gpu`, and `membar` is another name of `fence.sc`.
            Some(
                Breach::part(scope.position, format!("the level is `.{}`", scope.value))
                    .fixed_by(fix)
                    .safe_if(form.q.gpu_level.is_none()),
            )
        }
        (None, None) => Some(Breach::part(0, "no level follows").fixed_by([Edit::Insert(1, "gl")])),
    }
}

fn operands(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    (!form.operands.is_empty()).then(|| {
        Breach::at(Spot::Operand(0), "unexpected operand")
            .advised("remove everything after the qualifiers")
    })
}
