//! Rules of data operands: their number, and the types of registers.

use super::rule;
use crate::rule::{Breach, Edit, RuleCheck, Spot};
use crate::shape::{InstructionForm, Opcode, OperandShape, ValueShape};
use crate::version::RuleContext;
use model::isa::atom::AtomicOp;
use model::isa::{Type, TypeKind};

rule!(LD_OPERANDS, "operands", LD, Both, "wrong operands for a load");
rule!(LDU_OPERANDS, "operands", LDU, Both, "wrong operands for a load");
rule!(ST_OPERANDS, "operands", ST, Both, "wrong operands for a store");
rule!(ATOM_OPERANDS, "operands", ATOM, Both, "wrong operands for an atomic operation");
rule!(
    VECTOR,
    "vector",
    VECTORS_AS_OPERANDS,
    Both,
    "the number of elements must match the vector qualifier"
);
rule!(
    VECTOR_ELEMENTS,
    "vector-elements",
    VECTORS_AS_OPERANDS,
    Both,
    "the elements of a vector are registers of one width"
);
rule!(
    VECTOR_OF_ONE,
    "vector-of-one",
    VECTORS_AS_OPERANDS,
    Document,
    "without `.v2`, `.v4` or `.v8`, the operand cannot be a vector"
);
rule!(
    LD_DESTINATION,
    "ld-destination",
    OPERAND_SIZE,
    Both,
    "the destination register of a load must match the kind of the type and be at least as wide"
);
rule!(
    LD_DESTINATION_FLOAT,
    "ld-destination-float",
    OPERAND_SIZE,
    Document,
    "a `.b32` or `.b64` load into a floating-point register requires one of the same size"
);
rule!(
    ST_SOURCE,
    "st-source",
    OPERAND_SIZE,
    Both,
    "the source register of a store must match the kind of the type and be at least as wide"
);
rule!(
    ATOM_OPERAND,
    "atom-operand",
    ATOM,
    Both,
    "the registers of an atomic operation must match the kind and the width of the type"
);
rule!(
    POLICY_MISSING,
    "policy-missing",
    LD,
    Both,
    "`.L2::cache_hint` requires a cache policy as the last operand"
);
rule!(POLICY_UNUSED, "policy-unused", LD, Both, "a cache policy requires `.L2::cache_hint`");
rule!(POLICY_TYPE, "policy-type", LD, Both, "a cache policy has 64 bits");

pub const LD: &[RuleCheck] = &[
    RuleCheck { rule: &LD_OPERANDS, broken: count },
    RuleCheck { rule: &VECTOR, broken: elements },
    RuleCheck { rule: &VECTOR_ELEMENTS, broken: widths },
    RuleCheck { rule: &VECTOR_OF_ONE, broken: one_element },
    RuleCheck { rule: &LD_DESTINATION, broken: register },
    RuleCheck { rule: &LD_DESTINATION_FLOAT, broken: wide_float },
    RuleCheck { rule: &POLICY_MISSING, broken: policy_missing },
    RuleCheck { rule: &POLICY_UNUSED, broken: policy_unused },
    RuleCheck { rule: &POLICY_TYPE, broken: policy_type },
];

pub const LDU: &[RuleCheck] = &[
    RuleCheck { rule: &LDU_OPERANDS, broken: count },
    RuleCheck { rule: &VECTOR, broken: elements },
    RuleCheck { rule: &VECTOR_ELEMENTS, broken: widths },
    RuleCheck { rule: &VECTOR_OF_ONE, broken: one_element },
    RuleCheck { rule: &LD_DESTINATION, broken: register },
    RuleCheck { rule: &LD_DESTINATION_FLOAT, broken: wide_float },
];

pub const ST: &[RuleCheck] = &[
    RuleCheck { rule: &ST_OPERANDS, broken: count },
    RuleCheck { rule: &VECTOR, broken: elements },
    RuleCheck { rule: &VECTOR_ELEMENTS, broken: widths },
    RuleCheck { rule: &VECTOR_OF_ONE, broken: one_element },
    RuleCheck { rule: &ST_SOURCE, broken: register },
    RuleCheck { rule: &POLICY_MISSING, broken: policy_missing },
    RuleCheck { rule: &POLICY_UNUSED, broken: policy_unused },
    RuleCheck { rule: &POLICY_TYPE, broken: policy_type },
];

pub const ATOM: &[RuleCheck] = &[
    RuleCheck { rule: &ATOM_OPERANDS, broken: count },
    RuleCheck { rule: &VECTOR, broken: elements },
    RuleCheck { rule: &ATOM_OPERAND, broken: register },
    RuleCheck { rule: &POLICY_MISSING, broken: policy_missing },
    RuleCheck { rule: &POLICY_UNUSED, broken: policy_unused },
    RuleCheck { rule: &POLICY_TYPE, broken: policy_type },
];

/// The operands that an instruction takes, as one would write them.
pub fn expected(form: &InstructionForm<'_>) -> &'static str {
    match (form.opcode, form.q.op.map(|op| op.value)) {
        (Opcode::Ld | Opcode::Ldu, _) => "%r0, [a]",
        (Opcode::St | Opcode::Red, _) => "[a], %r0",
        (Opcode::Atom, Some(AtomicOp::Cas)) => "%r0, [a], %r1, %r2",
        (Opcode::Atom, _) => "%r0, [a], %r1",
        (Opcode::Fence | Opcode::Membar, _) => "",
    }
}

/// Whether a policy can be the last operand: `ldu` has none.
fn takes_policy(form: &InstructionForm<'_>) -> bool {
    form.opcode != Opcode::Ldu
}

fn count(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let (is, wanted) = (form.operands.len(), form.data_end());
    if is == wanted || is == wanted + 1 && takes_policy(form) {
        return None;
    }
    let note = match is {
        0 => "no operand here".to_owned(),
        1 => "1 operand here".to_owned(),
        n => format!("{n} operands here"),
    };
    let fix = Edit::SetOperands(expected(form));
    let advice = format!("the operands are like `{}`", expected(form));
    Some(Breach::at(Spot::Operands, note).fixed_by([fix]).advised(advice))
}

fn elements(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let wanted = form.q.vector.map(|vector| usize::from(vector.value));
    form.data().find_map(|(index, shape)| {
        let count = match (shape, wanted) {
            (OperandShape::Lanes(lanes), Some(wanted)) if lanes.count == wanted => return None,
            // One element without `.vN` is the next rule's.
            (OperandShape::Lanes(lanes), None) if lanes.count == 1 => return None,
            (OperandShape::Lanes(lanes), _) => lanes.count,
            (OperandShape::Value(ValueShape::Vector(count, _)), Some(wanted))
                if usize::from(*count) == wanted =>
            {
                return None;
            }
            (OperandShape::Value(ValueShape::Vector(count, _)), _) => usize::from(*count),
            // A register whose declaration is not known may be a vector; `_` has its own rule.
            (
                OperandShape::Value(
                    ValueShape::Register(None) | ValueShape::Other | ValueShape::Sink,
                ),
                Some(_),
            )
            | (_, None) => return None,
            (OperandShape::Value(_) | OperandShape::Place(_), Some(_)) => 1,
        };
        let name = match count {
            2 => Some("v2"),
            4 => Some("v4"),
            8 => Some("v8"),
            _ => None,
        };
        let fix = match (form.q.vector, name) {
            (Some(vector), Some(name)) => vec![Edit::Replace(vector.position, name)],
            (Some(vector), None) if count == 1 => {
                vec![Edit::Remove(vector.position)].into_iter().chain(packed(form, shape)).collect()
            }
            (None, Some(name)) => {
                let at = form.q.ty.map_or(form.q.end, |ty| ty.position);
                vec![Edit::Insert(at, name)]
            }
            (_, None) => Vec::new(),
        };
        let note = match (count, wanted) {
            (1, Some(wanted)) => format!("1 element, {wanted} expected"),
            (count, Some(wanted)) => format!("{count} elements, {wanted} expected"),
            (count, None) => format!("{count} elements, but the access is not a vector"),
        };
        Some(Breach::at(Spot::Operand(index), note).fixed_by(fix))
    })
}

/// Two halves in one register are not a vector: the type says so, as `.f16x2`.
fn packed(form: &InstructionForm<'_>, shape: &OperandShape) -> Option<Edit> {
    let ty = form.q.ty?;
    let packed = match (form.q.vector?.value, ty.value) {
        (2, Type { kind: TypeKind::Float, bits: 16 }) => "f16x2",
        (2, Type { kind: TypeKind::BFloat, bits: 16 }) => "bf16x2",
        _ => return None,
    };
    let OperandShape::Value(ValueShape::Register(Some(register))) = shape else { return None };
    (register.bits == 32).then_some(Edit::Replace(ty.position, packed))
}

fn widths(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let exact = form.opcode.is_atomic();
    let ty = form.q.ty?.value;
    form.data().find_map(|(index, shape)| {
        let OperandShape::Lanes(lanes) = shape else { return None };
        let bits = |value: &ValueShape| {
            let ValueShape::Register(Some(ty_of)) = *value else { return None };
            // One that does not fit the type at all has another rule.
            holds(ty_of, ty, exact).then_some(ty_of.bits)
        };
        let first = lanes.values().iter().find_map(bits)?;
        let other = |value: &ValueShape| bits(value).is_some_and(|bits| bits != first);
        let lane = lanes.values().iter().position(other)?;
        Some(
            Breach::at(Spot::Lane(index, lane), "this register has another width")
                .advised(format!("use registers declared `.{}`", ty.name())),
        )
    })
}

fn one_element(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    if form.q.vector.is_some() {
        return None;
    }
    form.data().find_map(|(index, shape)| match shape {
        OperandShape::Lanes(lanes) if lanes.count == 1 => Some(
            Breach::at(Spot::Operand(index), "a vector of one element")
                .advised("remove the braces"),
        ),
        OperandShape::Lanes(_) | OperandShape::Value(_) | OperandShape::Place(_) => None,
    })
}

fn is_bits(ty: Type) -> bool {
    matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits)
}

/// Whether a register of one type can hold data of another. Loads and stores may use a wider one
/// of integers or bits; an atomic operation may not.
fn holds(register: Type, data: Type, exact: bool) -> bool {
    if is_bits(register) {
        let numbers = matches!(register.kind, TypeKind::Unsigned | TypeKind::Signed);
        let float = !is_bits(data);
        if numbers && float {
            return false;
        }
        return if exact { register.bits == data.bits } else { register.bits >= data.bits };
    }
    let wider = data.kind == TypeKind::Bits && !exact && register.bits > data.bits;
    let same = register.kind == data.kind || data.kind == TypeKind::Bits;
    wider || register.bits == data.bits && same
}

fn wide_float(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let ty = form.q.ty?.value;
    let wide = |value: &ValueShape| {
        let (ValueShape::Register(Some(register)) | ValueShape::Vector(_, register)) = *value
        else {
            return false;
        };
        !is_bits(register) && ty.kind == TypeKind::Bits && register.bits > ty.bits
    };
    let (index, shape) = form.data().next()?;
    let spot = match shape {
        OperandShape::Value(value) if wide(value) => Spot::Operand(index),
        OperandShape::Lanes(lanes) => Spot::Lane(index, lanes.values().iter().position(wide)?),
        OperandShape::Value(_) | OperandShape::Place(_) => return None,
    };
    Some(
        Breach::at(spot, "this register is wider")
            .advised(format!("use a register declared `.{}`", ty.name())),
    )
}

fn register(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let ty = form.q.ty?.value;
    let exact = form.opcode.is_atomic();
    let reads = form.opcode.is_load();
    let misfit = |value: &ValueShape| match *value {
        ValueShape::Register(Some(register)) | ValueShape::Vector(_, register) => {
            (!holds(register, ty, exact))
                .then(|| format!("this register is `.{}`", register.name()))
        }
        ValueShape::Predicate => Some("this register is a predicate".to_owned()),
        ValueShape::Special => Some("`mov` reads a special register".to_owned()),
        ValueShape::Variable | ValueShape::Number | ValueShape::Float if reads => {
            Some("expected a register".to_owned())
        }
        ValueShape::Variable => Some("`mov` takes the address of a variable".to_owned()),
        ValueShape::Number if !is_bits(ty) => Some("this is an integer".to_owned()),
        ValueShape::Float if matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed) => {
            Some("this is a float".to_owned())
        }
        ValueShape::Register(None)
        | ValueShape::Sink
        | ValueShape::Number
        | ValueShape::Float
        | ValueShape::Other => None,
    };
    let width = form.data().find_map(|(index, shape)| match shape {
        OperandShape::Value(value) => Some((Spot::Operand(index), misfit(value)?)),
        OperandShape::Lanes(lanes) => lanes
            .values()
            .iter()
            .enumerate()
            .find_map(|(lane, value)| Some((Spot::Lane(index, lane), misfit(value)?))),
        OperandShape::Place(_) => Some((Spot::Operand(index), "expected a register".to_owned())),
    });
    let (spot, note) = width?;
    Some(Breach::at(spot, note).advised(format!("use a register declared `.{}`", ty.name())))
}

fn policy_missing(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let policy = form.q.policy?;
    (form.operands.len() == form.data_end()).then(|| {
        Breach::part(policy.position, "no operand follows")
            .fixed_by([Edit::Remove(policy.position)])
            .safe()
            .advised("add the policy as the last operand, or remove `.L2::cache_hint`")
    })
}

fn policy_unused(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let last = form.data_end();
    (form.q.policy.is_none() && form.operands.len() == last + 1).then(|| {
        Breach::at(Spot::Operand(last), "unexpected extra operand")
            .fixed_by([Edit::RemoveOperand(last)])
    })
}

fn policy_type(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    form.q.policy?;
    let last = form.data_end();
    let note = match form.operands.get(last)? {
        OperandShape::Value(ValueShape::Register(Some(ty))) => {
            if ty.bits == 64 && is_bits(*ty) {
                return None;
            }
            format!("this register is `.{}`", ty.name())
        }
        OperandShape::Value(
            ValueShape::Register(None) | ValueShape::Number | ValueShape::Other,
        ) => return None,
        OperandShape::Value(_) | OperandShape::Lanes(_) | OperandShape::Place(_) => {
            "expected a register".to_owned()
        }
    };
    Some(
        Breach::at(Spot::Operand(last), note)
            .advised("make the policy with `createpolicy`, in a `.b64` register"),
    )
}
