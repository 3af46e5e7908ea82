//! Describes addresses: where a generic address may point, what is required of the address of a parameter, and
//! what `.unified` means.

use ::ptx::qualifier::OrderQualifier;
use ::ptx::shape::{InstructionForm, Opcode};
use ::ptx::version::PtxIsa;
use model::isa::SpaceQualifier;
use model::section;

use super::words::said;
use super::{InstructionMeaning, QualifierMeaning};

/// The first PTX versions with the features that the sentences mention.
const GENERIC_CONST: PtxIsa = PtxIsa::new(3, 1);
const UNIFIED: PtxIsa = PtxIsa::new(8, 0);
const VOLATILE_LOCAL: PtxIsa = PtxIsa::new(9, 1);

/// The memory that the generic address of an access may point to, given its other qualifiers.
pub(super) fn generic(form: &InstructionForm<'_>, isa: PtxIsa) -> String {
    let q = form.q;
    let order = q.order.map(|order| order.value);
    let strong_to = match order {
        Some(OrderQualifier::Volatile) if isa >= VOLATILE_LOCAL => "global, shared or local memory",
        _ => "global or shared memory",
    };
    let points = match form.opcode {
        Opcode::Atom | Opcode::Red => "points to global or shared memory".to_owned(),
        Opcode::Ldu => "points to global memory".to_owned(),
        Opcode::Ld | Opcode::St if only_global(form) => {
            "this form is for global memory; at any other address the behaviour is undefined"
                .to_owned()
        }
        Opcode::Ld | Opcode::St | Opcode::Fence | Opcode::Membar => match order {
            Some(order) if order != OrderQualifier::Weak => format!("points to {strong_to}"),
            _ if form.opcode == Opcode::St => "points to global, shared or local memory".to_owned(),
            _ if isa < GENERIC_CONST => "points anywhere but to constant memory".to_owned(),
            _ => "may point anywhere".to_owned(),
        },
    };
    format!("no state space: the address is generic, and {points}")
}

/// Whether one of its qualifiers is valid only for global memory.
fn only_global(form: &InstructionForm<'_>) -> bool {
    let q = form.q;
    let unified = form.place().is_some_and(|place| place.unified);
    q.mmio.is_some()
        || q.readonly.is_some()
        || q.policy.is_some()
        || q.prefetch.is_some()
        || unified
        || form.is_256_bits()
}

/// Reading R48: only weak loads may have `.unified`.
fn may_say_unified(form: &InstructionForm<'_>) -> bool {
    form.opcode == Opcode::Ld
        && !form.is_strong()
        && !form.is_non_coherent()
        && form.q.space().may_be_global()
}

/// What the absence of `.unified` implies, if the instruction could have it.
pub(super) fn not_unified(form: &InstructionForm<'_>, isa: PtxIsa) -> Option<&'static str> {
    let missing = may_say_unified(form) && !form.place()?.unified && isa >= UNIFIED;
    missing.then_some(
        "no `.unified` after the address: the address is not that of a variable with the attribute `.unified`",
    )
}

/// `.unified`, as a qualifier of the instruction.
pub(super) fn unified(form: &InstructionForm<'_>) -> Option<QualifierMeaning> {
    form.place()?.unified.then(|| {
        let text = "the address is that of a variable declared with the attribute `.unified`";
        QualifierMeaning { name: "unified".to_owned(), said: said(section::LD, text) }
    })
}

/// The requirements on the address of a parameter.
pub(super) fn duties(form: &InstructionForm<'_>, meaning: &mut InstructionMeaning) {
    let space = form.q.space();
    if !space.is_param() {
        return;
    }
    let load = form.opcode == Opcode::Ld;
    if load {
        let of = if space == SpaceQualifier::ParamEntry {
            "the kernel"
        } else if space == SpaceQualifier::ParamFunc {
            "a device function"
        } else {
            "the kernel where it means `::entry`, and of a device function where it means `::func`"
        };
        let text = format!(
            "the address must be that of a parameter of {of}; otherwise the behaviour is undefined"
        );
        meaning.limits.push(said(section::LD, text));
    }
    if space != SpaceQualifier::ParamEntry {
        let text = if load {
            "where it reads what a called function returned, it cannot be predicated"
        } else {
            "where it writes an argument of a call, it cannot be predicated"
        };
        meaning.limits.push(said(section::PARAMETER_STATE_SPACE, text));
    }
}
