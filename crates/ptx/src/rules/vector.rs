//! Types and vectors of `ld`, `ldu` and `st`.

use super::rule;
use crate::rule::{Breach, Edit, RuleCheck, Spot};
use crate::shape::{InstructionForm, Opcode, OperandShape, ValueShape};
use crate::version::RuleContext;
use model::isa::TypeKind;

rule!(TYPE_MISSING, "type-missing", LD, Both, "a load requires a type");
rule!(
    LD_TYPE,
    "ld-type",
    LD,
    Both,
    "a load has a type of `.b8` to `.b128`, `.u8` to `.u64`, `.s8` to `.s64`, `.f32` or `.f64`"
);
rule!(
    LD_VECTOR_BITS,
    "ld-vector-bits",
    LD,
    Both,
    "a vector has 128 bits at most, or is `.v8` of 32 or `.v4` of 64"
);
rule!(LD_VECTOR_V8, "ld-vector-v8", LD, Document, "`.v8` is for types of 32 bits");
rule!(
    LD_VECTOR_SPACE,
    "ld-vector-space",
    LD,
    Both,
    "vectors of 256 bits are for `.global` and generic addresses"
);
rule!(
    LD_LEVEL2_VECTOR,
    "ld-level2-vector",
    LD,
    Both,
    "an L2 eviction priority is for vectors of 256 bits"
);
rule!(LD_SINK, "ld-sink", LD, Document, "`_` is for vectors of 256 bits");
rule!(LD_SINK_SCALAR, "ld-sink-scalar", LD, Both, "`_` is an element of a vector");
rule!(LD_SINK_ALL, "ld-sink-all", LD, Ptxas, "at least one element of a vector must be a register");
rule!(
    LDU_VECTOR,
    "ldu-vector",
    LDU,
    Both,
    "a vector of `ldu` is `.v2` or `.v4`, of 128 bits at most"
);

rule!(ST_TYPE_MISSING, "st-type-missing", ST, Both, "a store requires a type");
rule!(
    ST_TYPE,
    "st-type",
    ST,
    Both,
    "a store has a type of `.b8` to `.b128`, `.u8` to `.u64`, `.s8` to `.s64`, `.f32` or `.f64`"
);
rule!(
    ST_VECTOR_BITS,
    "st-vector-bits",
    ST,
    Both,
    "a vector has 128 bits at most, or is `.v8` of 32 or `.v4` of 64"
);
rule!(ST_VECTOR_V8, "st-vector-v8", ST, Document, "`.v8` is for types of 32 bits");
rule!(
    ST_VECTOR_SPACE,
    "st-vector-space",
    ST,
    Both,
    "vectors of 256 bits are for `.global` and generic addresses"
);
rule!(
    ST_LEVEL2_VECTOR,
    "st-level2-vector",
    ST,
    Both,
    "an L2 eviction priority is for vectors of 256 bits"
);
rule!(ST_SINK, "st-sink", ST, Both, "`_` is for vectors of 256 bits");

pub const LD: &[RuleCheck] = &[
    RuleCheck { rule: &TYPE_MISSING, broken: type_missing },
    RuleCheck { rule: &LD_TYPE, broken: type_of_memory },
    RuleCheck { rule: &LD_VECTOR_BITS, broken: too_wide },
    RuleCheck { rule: &LD_VECTOR_V8, broken: eight_elements },
    RuleCheck { rule: &LD_VECTOR_SPACE, broken: wide_space },
    RuleCheck { rule: &LD_LEVEL2_VECTOR, broken: level2 },
    RuleCheck { rule: &LD_SINK, broken: sink_in_narrow },
    RuleCheck { rule: &LD_SINK_SCALAR, broken: sink_alone },
    RuleCheck { rule: &LD_SINK_ALL, broken: sinks_only },
];

pub const LDU: &[RuleCheck] = &[
    RuleCheck { rule: &TYPE_MISSING, broken: type_missing },
    RuleCheck { rule: &LD_TYPE, broken: type_of_memory },
    RuleCheck { rule: &LDU_VECTOR, broken: ldu_vector },
    RuleCheck { rule: &LD_SINK, broken: sink_in_narrow },
    RuleCheck { rule: &LD_SINK_SCALAR, broken: sink_alone },
    RuleCheck { rule: &LD_SINK_ALL, broken: sinks_only },
];

pub const ST: &[RuleCheck] = &[
    RuleCheck { rule: &ST_TYPE_MISSING, broken: type_missing },
    RuleCheck { rule: &ST_TYPE, broken: type_of_memory },
    RuleCheck { rule: &ST_VECTOR_BITS, broken: too_wide },
    RuleCheck { rule: &ST_VECTOR_V8, broken: eight_elements },
    RuleCheck { rule: &ST_VECTOR_SPACE, broken: wide_space },
    RuleCheck { rule: &ST_LEVEL2_VECTOR, broken: level2 },
    RuleCheck { rule: &ST_SINK, broken: sink_in_source },
];

/// A type that the data operand would fit.
fn natural_type(form: &InstructionForm<'_>) -> &'static str {
    let value = form.data().find_map(|(_, shape)| match shape {
        OperandShape::Value(value) => Some(*value),
        OperandShape::Lanes(lanes) => lanes.values().first().copied(),
        OperandShape::Place(_) => None,
    });
    match value {
        Some(ValueShape::Register(Some(ty)) | ValueShape::Vector(_, ty)) => {
            match (ty.kind, ty.bits) {
                (TypeKind::Float, 64) => "f64",
                (TypeKind::Float, 32) => "f32",
                (_, 16) => "b16",
                (_, 64) => "b64",
                (_, 128) => "b128",
                _ => "b32",
            }
        }
        _ => "b32",
    }
}

fn type_missing(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    form.q.ty.is_none().then(|| {
        Breach::part(form.q.end, "expected a type")
            .fixed_by([Edit::Insert(form.q.end, natural_type(form))])
    })
}

fn type_of_memory(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let ty = form.q.ty?;
    let instead = match (ty.value.kind, ty.value.bits) {
        (TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits, _)
        | (TypeKind::Float, 32 | 64) => return None,
        (_, 16) => "b16",
        (_, _) => "b32",
    };
    Some(
        Breach::part(ty.position, "this is a different type")
            .fixed_by([Edit::Replace(ty.position, instead)]),
    )
}

fn too_wide(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (vector, bits) = (form.q.vector?, form.bits()?);
    if bits <= 128 || form.is_256_bits() {
        return None;
    }
    Some(
        Breach::part(vector.position, format!("this vector has {bits} bits"))
            .advised("access it in pieces of 128 bits"),
    )
}

fn eight_elements(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (vector, ty) = (form.q.vector?, form.q.ty?);
    (vector.value == 8 && ty.value.bits < 32).then(|| {
        Breach::part(ty.position, format!("the type has {} bits", ty.value.bits))
            .advised("access the same bytes as `.v2.b32` or `.v4.b32`: ptxas fails at random here")
    })
}

fn wide_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (vector, space) = (form.q.vector?, form.q.space?);
    (form.is_256_bits() && !space.value.may_be_global()).then(|| {
        Breach::part(vector.position, format!("the state space is `.{}`", space.value.name()))
            .advised("access it in pieces of 128 bits")
    })
}

fn level2(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let level2 = form.q.level2?;
    // An `.mmio` access takes no priority anyway.
    (!form.is_256_bits() && form.q.mmio.is_none() && form.q.ty.is_some()).then(|| {
        Breach::part(level2.position, "this access is narrower")
            .fixed_by([Edit::Remove(level2.position)])
            .safe()
    })
}

/// The operand of the data, and its elements.
fn lanes<'f>(form: &'f InstructionForm<'_>) -> Option<(usize, &'f [ValueShape])> {
    form.data().find_map(|(index, shape)| match shape {
        OperandShape::Lanes(lanes) => Some((index, lanes.values())),
        OperandShape::Value(_) | OperandShape::Place(_) => None,
    })
}

fn first_sink(values: &[ValueShape]) -> Option<usize> {
    values.iter().position(|value| *value == ValueShape::Sink)
}

fn only_sinks(values: &[ValueShape]) -> bool {
    values.iter().all(|value| *value == ValueShape::Sink)
}

fn sink_in_narrow(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    // How wide it is, is not known without a type.
    form.q.ty?;
    let (operand, values) = lanes(form)?;
    let lane = first_sink(values)?;
    (!form.is_256_bits() && !only_sinks(values)).then(|| {
        Breach::at(Spot::Lane(operand, lane), "this vector is narrower")
            .advised("read the element into an unused register")
    })
}

fn sink_in_source(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    form.q.ty?;
    let sink = match form.data().next()? {
        (index, OperandShape::Lanes(lanes)) => Spot::Lane(index, first_sink(lanes.values())?),
        (index, OperandShape::Value(ValueShape::Sink)) => Spot::Operand(index),
        (_, OperandShape::Value(_) | OperandShape::Place(_)) => return None,
    };
    (!form.is_256_bits()).then(|| {
        Breach::at(sink, "this access is narrower").advised("store each element that is meant")
    })
}

fn sink_alone(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    form.data().find_map(|(index, shape)| match shape {
        OperandShape::Value(ValueShape::Sink) => Some(
            Breach::at(Spot::Operand(index), "expected a register")
                .advised("load into an unused register"),
        ),
        OperandShape::Lanes(lanes)
            if form.q.vector.is_none() && first_sink(lanes.values()).is_some() =>
        {
            Some(
                Breach::at(Spot::Operand(index), "expected a register")
                    .advised("load into an unused register"),
            )
        }
        OperandShape::Value(_) | OperandShape::Lanes(_) | OperandShape::Place(_) => None,
    })
}

fn sinks_only(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (operand, values) = lanes(form)?;
    (form.q.vector.is_some() && only_sinks(values))
        .then(|| Breach::at(Spot::Operand(operand), "nothing is read").advised("remove the load"))
}

fn ldu_vector(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    debug_assert_eq!(form.opcode, Opcode::Ldu, "no other instruction is checked");
    let (vector, bits) = (form.q.vector?, form.bits().unwrap_or(0));
    let note = if vector.value > 4 {
        format!("this is `.v{}`", vector.value)
    } else if bits > 128 {
        format!("this vector has {bits} bits")
    } else {
        return None;
    };
    Some(Breach::part(vector.position, note).advised("access it in pieces of 128 bits"))
}
