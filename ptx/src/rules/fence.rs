//! `fence` and `membar`. Fences of proxies, of one state space and of one operation are other
//! instructions, which start alike; see [`ptx::fences::SPELLINGS`].

use super::rule;
use crate::qualifier::Order;
use crate::rule::{Breach, Check, Edit, Spot};
use crate::shape::Form;
use crate::version::Setting;
use model::scope::Scope;

rule!(
    FENCE_ORDER,
    "fence-order",
    MEMBAR,
    Both,
    "a fence is sc or acq_rel, or acquire or release from 8.6"
);
rule!(FENCE_SCOPE_MISSING, "fence-scope-missing", MEMBAR, Both, "a fence names a scope");
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
    "`.generic`, `.constant`, `.texture` and `.surface` fences are of the peer dialect only"
);

pub const FENCE: &[Check] = &[
    Check { rule: &FENCE_ORDER, broken: order },
    Check { rule: &FENCE_SCOPE_MISSING, broken: scope_missing },
    Check { rule: &FENCE_OPERANDS, broken: operands },
];

pub const MEMBAR: &[Check] = &[
    Check { rule: &MEMBAR_LEVEL, broken: level },
    Check { rule: &FENCE_OPERANDS, broken: operands },
];

fn order(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    let order = form.q.order?;
    matches!(order.value, Order::Weak | Order::Volatile | Order::Relaxed).then(|| {
        Breach::part(order.position, format!("the order is `.{}`", order.value.name()))
            .fixed_by([Edit::Replace(order.position, "acq_rel")])
    })
}

fn scope_missing(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    form.q.scope.is_none().then(|| {
        Breach::part(form.q.order.map_or(0, |order| order.position), "no scope follows")
            .fixed_by([Edit::Insert(form.q.end, "gpu")])
    })
}

fn level(form: &Form<'_>, _: &Setting) -> Option<Breach> {
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
            Some(
                Breach::part(scope.position, format!("the level is `.{}`", scope.value))
                    .fixed_by(fix),
            )
        }
        (None, None) => Some(Breach::part(0, "no level follows").fixed_by([Edit::Insert(1, "gl")])),
    }
}

fn operands(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    (!form.operands.is_empty()).then(|| {
        Breach::at(Spot::Operand(0), "this is one").advised("leave out what follows the qualifiers")
    })
}
