//! `atom` and `red`: order, operation and type.

use super::order::without_policy;
use super::rule;
use crate::qualifier::OrderQualifier;
use crate::rule::{Breach, Edit, RuleCheck};
use crate::shape::{InstructionForm, Opcode};
use crate::version::RuleContext;
use model::isa::atom::AtomicOp;
use model::isa::{Type, TypeKind};

rule!(ATOM_ORDER, "atom-order", ATOM, Both, "`atom` is relaxed, acquire, release or acq_rel");
rule!(ATOM_OPERATION, "atom-operation", ATOM, Both, "`atom` requires an operation");
rule!(ATOM_SUB, "atom-sub", ATOM, Both, "PTX has no `.sub`; it exists only in the peer dialect");
rule!(ATOM_TYPE_MISSING, "atom-type-missing", ATOM, Both, "`atom` requires a type");
rule!(
    ATOM_TYPE,
    "atom-type",
    ATOM,
    Both,
    "the type of an atomic operation has 32 or 64 bits; `.inc` and `.dec` have 32, `.cas` also 16, `.cas` and \
     `.exch` also 128"
);
rule!(
    ATOM_KIND,
    "atom-kind",
    ATOM,
    Both,
    "`.and .or .xor .exch .cas` take types of bits, `.inc .dec` take `.u32`, `.add .min .max` take types of numbers"
);
rule!(
    ATOM_NOFTZ,
    "atom-noftz",
    ATOM,
    Both,
    "`.noftz` is required with floating-point types of 16 bits and pairs of them, and excluded with others but `.add.f32`"
);
rule!(
    ATOM_VECTOR,
    "atom-vector",
    ATOM,
    Both,
    "vectors are for `.add` of `.f32`, and `.add .min .max` of 16-bit floats and pairs of them"
);
rule!(
    ATOM_VECTOR_SPACE,
    "atom-vector-space",
    ATOM,
    Both,
    "vectors are for `.global` and generic addresses"
);
rule!(
    ATOM_POLICY,
    "atom-policy",
    ATOM,
    Both,
    "`.L2::cache_hint` is for `.global` and generic addresses, and not for `.cas`"
);

rule!(
    RED_ORDER,
    "red-order",
    RED,
    Both,
    "`red` is relaxed or release: it returns nothing that could acquire"
);
rule!(RED_OPERATION, "red-operation", RED, Both, "`red` requires an operation");
rule!(
    RED_RETURNS,
    "red-returns",
    RED,
    Both,
    "`red` has no `.exch` and no `.cas`: both return the old value"
);
rule!(RED_SUB, "red-sub", RED, Both, "PTX has no `.sub`; it exists only in the peer dialect");
rule!(RED_TYPE_MISSING, "red-type-missing", RED, Both, "`red` requires a type");
rule!(
    RED_TYPE,
    "red-type",
    RED,
    Both,
    "the type of an atomic operation has 32 or 64 bits; `.inc` and `.dec` have 32"
);
rule!(
    RED_KIND,
    "red-kind",
    RED,
    Both,
    "`.and .or .xor` take types of bits, `.inc .dec` take `.u32`, `.add .min .max` take types of numbers"
);
rule!(
    RED_NOFTZ,
    "red-noftz",
    RED,
    Both,
    "`.noftz` is required with floating-point types of 16 bits and pairs of them, and excluded with others but `.add.f32`"
);
rule!(
    RED_VECTOR,
    "red-vector",
    RED,
    Both,
    "vectors are for `.add` of `.f32`, and `.add .min .max` of 16-bit floats and pairs of them"
);
rule!(
    RED_VECTOR_SPACE,
    "red-vector-space",
    RED,
    Both,
    "vectors are for `.global` and generic addresses"
);
rule!(
    RED_POLICY,
    "red-policy",
    RED,
    Both,
    "`.L2::cache_hint` is for `.global` and generic addresses"
);

pub const ATOM: &[RuleCheck] = &[
    RuleCheck { rule: &ATOM_ORDER, broken: order },
    RuleCheck { rule: &ATOM_OPERATION, broken: operation_missing },
    RuleCheck { rule: &ATOM_SUB, broken: sub },
    RuleCheck { rule: &ATOM_TYPE_MISSING, broken: type_missing },
    RuleCheck { rule: &ATOM_TYPE, broken: width },
    RuleCheck { rule: &ATOM_KIND, broken: kind },
    RuleCheck { rule: &ATOM_NOFTZ, broken: no_flush },
    RuleCheck { rule: &ATOM_VECTOR, broken: vector },
    RuleCheck { rule: &ATOM_VECTOR_SPACE, broken: vector_space },
    RuleCheck { rule: &ATOM_POLICY, broken: policy },
];

pub const RED: &[RuleCheck] = &[
    RuleCheck { rule: &RED_ORDER, broken: order },
    RuleCheck { rule: &RED_OPERATION, broken: operation_missing },
    RuleCheck { rule: &RED_RETURNS, broken: returns },
    RuleCheck { rule: &RED_SUB, broken: sub },
    RuleCheck { rule: &RED_TYPE_MISSING, broken: type_missing },
    RuleCheck { rule: &RED_TYPE, broken: width },
    RuleCheck { rule: &RED_KIND, broken: kind },
    RuleCheck { rule: &RED_NOFTZ, broken: no_flush },
    RuleCheck { rule: &RED_VECTOR, broken: vector },
    RuleCheck { rule: &RED_VECTOR_SPACE, broken: vector_space },
    RuleCheck { rule: &RED_POLICY, broken: policy },
];

fn order(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let order = form.q.order?;
    let red = form.opcode == Opcode::Red;
    let instead = match order.value {
        OrderQualifier::Relaxed | OrderQualifier::Release => return None,
        OrderQualifier::Acquire | OrderQualifier::AcqRel if !red => return None,
        OrderQualifier::AcqRel | OrderQualifier::Sc if red => "release",
        OrderQualifier::Sc => "acq_rel",
        OrderQualifier::Weak
        | OrderQualifier::Volatile
        | OrderQualifier::Acquire
        | OrderQualifier::AcqRel => "relaxed",
    };
    Some(
        Breach::part(order.position, format!("the order is `.{}`", order.value.name()))
            .fixed_by([Edit::Replace(order.position, instead)]),
    )
}

fn operation_missing(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let at = form.q.ty.map_or(form.q.end, |ty| ty.position);
    form.q
        .op
        .is_none()
        .then(|| Breach::part(0, "the operation is missing").fixed_by([Edit::Insert(at, "add")]))
}

fn returns(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let op = form.q.op?;
    matches!(op.value, AtomicOp::Exch | AtomicOp::Cas).then(|| {
        Breach::part(op.position, "`atom` has it").advised("use `atom` with an unused register")
    })
}

fn sub(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let op = form.q.op?;
    (op.value == AtomicOp::Sub).then(|| {
        Breach::part(op.position, "add the negated value instead")
            .advised("negate the operand and use `.add`")
    })
}

/// A type that the operation has.
fn natural_type(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Exch | AtomicOp::Cas => "b32",
        AtomicOp::Add
        | AtomicOp::Sub
        | AtomicOp::Min
        | AtomicOp::Max
        | AtomicOp::Inc
        | AtomicOp::Dec => "u32",
    }
}

fn type_missing(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let instead = natural_type(form.q.op.map_or(AtomicOp::Add, |op| op.value));
    form.q.ty.is_none().then(|| {
        Breach::part(form.q.end, "expected a type").fixed_by([Edit::Insert(form.q.end, instead)])
    })
}

/// Whether this is a float of 16 bits or a pair of them.
fn is_half(ty: Type) -> bool {
    match ty.kind {
        TypeKind::FloatPair | TypeKind::BFloat | TypeKind::BFloatPair => true,
        TypeKind::Float => ty.bits == 16,
        TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits => false,
    }
}

fn is_single(ty: Type) -> bool {
    ty == Type { kind: TypeKind::Float, bits: 32 }
}

fn width(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (op, ty) = (form.q.op?, form.q.ty?);
    let bits = ty.value.bits;
    let fits = match op.value {
        AtomicOp::Inc | AtomicOp::Dec => bits == 32,
        AtomicOp::Cas => bits >= 16,
        AtomicOp::Exch => bits >= 32,
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => matches!(bits, 32 | 64),
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => {
            matches!(bits, 32 | 64) || is_half(ty.value)
        }
    };
    (!fits).then(|| {
        Breach::part(ty.position, format!("the type has {bits} bits"))
            .fixed_by([Edit::Replace(ty.position, natural_type(op.value))])
    })
}

fn kind(form: &InstructionForm<'_>, setting: &RuleContext) -> Option<Breach> {
    let (op, ty) = (form.q.op?, form.q.ty?);
    // One sentence about one type: not also that its width is wrong.
    if width(form, setting).is_some() || op.value == AtomicOp::Sub {
        return None;
    }
    let (ty, at) = (ty.value, ty.position);
    let integer = matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed);
    let fits = match op.value {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Exch | AtomicOp::Cas => {
            ty.kind == TypeKind::Bits
        }
        AtomicOp::Inc | AtomicOp::Dec => ty.kind == TypeKind::Unsigned,
        AtomicOp::Add => {
            ty.kind != TypeKind::Bits && ty != (Type { kind: TypeKind::Signed, bits: 64 })
        }
        AtomicOp::Min | AtomicOp::Max => integer || is_half(ty) && form.q.vector.is_some(),
        AtomicOp::Sub => true,
    };
    let instead = match (op.value, ty.bits) {
        (AtomicOp::Cas, 16) => "b16",
        (AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Exch | AtomicOp::Cas, 64) => {
            "b64"
        }
        (AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Exch | AtomicOp::Cas, _) => "b32",
        (AtomicOp::Inc | AtomicOp::Dec, _) => "u32",
        (_, 64) => "u64",
        (_, _) => "u32",
    };
    (!fits).then(|| {
        Breach::part(at, format!("the type is `.{}`", ty.name()))
            .fixed_by([Edit::Replace(at, instead)])
    })
}

fn no_flush(form: &InstructionForm<'_>, setting: &RuleContext) -> Option<Breach> {
    let (op, ty) = (form.q.op?, form.q.ty?);
    if width(form, setting).is_some() || kind(form, setting).is_some() {
        return None;
    }
    match (is_half(ty.value), form.q.no_flush) {
        (true, None) => Some(
            Breach::part(ty.position, "`.noftz` is missing")
                .fixed_by([Edit::Insert(op.position + 1, "noftz")])
                .safe(),
        ),
        (false, Some(_)) if is_single(ty.value) && op.value == AtomicOp::Add => None,
        (false, Some(no_flush)) => Some(
            Breach::part(no_flush.position, format!("the type is `.{}`", ty.value.name()))
                .fixed_by([Edit::Remove(no_flush.position)]),
        ),
        (true, Some(_)) | (false, None) => None,
    }
}

fn vector(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (vector, op, ty) = (form.q.vector?, form.q.op?, form.q.ty?);
    let single = is_single(ty.value) && op.value == AtomicOp::Add;
    let half =
        is_half(ty.value) && matches!(op.value, AtomicOp::Add | AtomicOp::Min | AtomicOp::Max);
    let fits = (single || half) && (vector.value < 8 || ty.value.bits == 16);
    (!fits).then(|| {
        Breach::part(vector.position, "this makes it a vector").advised("do it element by element")
    })
}

fn vector_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (vector, space) = (form.q.vector?, form.q.space?);
    space.value.is_shared().then(|| {
        Breach::part(vector.position, format!("the state space is `.{}`", space.value.name()))
            .advised("do it element by element")
    })
}

fn policy(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let policy = form.q.policy?;
    let shared = form.q.space.filter(|space| space.value.is_shared());
    let note = if let Some(space) = shared {
        format!("the state space is `.{}`", space.value.name())
    } else if form.q.op.is_some_and(|op| op.value == AtomicOp::Cas) {
        "the operation is `.cas`".to_owned()
    } else {
        return None;
    };
    let fix = std::iter::once(Edit::Remove(policy.position)).chain(without_policy(form));
    Some(Breach::part(policy.position, note).fixed_by(fix).safe())
}
