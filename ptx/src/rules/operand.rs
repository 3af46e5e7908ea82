//! Operands that hold data: how many, and registers of the right type.

use super::rule;
use crate::rule::{Breach, Check, Edit, Spot};
use crate::shape::{Form, Opcode, Shape, Value};
use crate::version::Setting;
use model::isa::atom::AtomicOp;
use model::isa::{Type, TypeKind};

rule!(LD_OPERANDS, "operands", LD, Both, "a load takes other operands");
rule!(LDU_OPERANDS, "operands", LDU, Both, "a load takes other operands");
rule!(ST_OPERANDS, "operands", ST, Both, "a store takes other operands");
rule!(ATOM_OPERANDS, "operands", ATOM, Both, "an atomic operation takes other operands");
rule!(
    VECTOR,
    "vector",
    VECTORS_AS_OPERANDS,
    Both,
    "a vector has as many elements as the instruction says"
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
    "without `.v2`, `.v4` or `.v8`, the operand is no vector"
);
rule!(
    LD_DESTINATION,
    "ld-destination",
    OPERAND_SIZE,
    Both,
    "a register that is loaded has the kind of the type, and is as wide at least"
);
rule!(
    LD_DESTINATION_FLOAT,
    "ld-destination-float",
    OPERAND_SIZE,
    Document,
    "bits are loaded into a register of `.f32` or `.f64` of their size"
);
rule!(
    ST_SOURCE,
    "st-source",
    OPERAND_SIZE,
    Both,
    "a register that is stored has the kind of the type, and is as wide at least"
);
rule!(
    ATOM_OPERAND,
    "atom-operand",
    ATOM,
    Both,
    "the registers of an atomic operation have the kind and the width of the type"
);
rule!(
    POLICY_MISSING,
    "policy-missing",
    LD,
    Both,
    "`.L2::cache_hint` goes with a cache policy as the last operand"
);
rule!(POLICY_UNUSED, "policy-unused", LD, Both, "a cache policy goes with `.L2::cache_hint`");
rule!(POLICY_TYPE, "policy-type", LD, Both, "a cache policy has 64 bits");

pub const LD: &[Check] = &[
    Check { rule: &LD_OPERANDS, broken: count },
    Check { rule: &VECTOR, broken: elements },
    Check { rule: &VECTOR_ELEMENTS, broken: widths },
    Check { rule: &VECTOR_OF_ONE, broken: one_element },
    Check { rule: &LD_DESTINATION, broken: register },
    Check { rule: &LD_DESTINATION_FLOAT, broken: wide_float },
    Check { rule: &POLICY_MISSING, broken: policy_missing },
    Check { rule: &POLICY_UNUSED, broken: policy_unused },
    Check { rule: &POLICY_TYPE, broken: policy_type },
];

pub const LDU: &[Check] = &[
    Check { rule: &LDU_OPERANDS, broken: count },
    Check { rule: &VECTOR, broken: elements },
    Check { rule: &VECTOR_ELEMENTS, broken: widths },
    Check { rule: &VECTOR_OF_ONE, broken: one_element },
    Check { rule: &LD_DESTINATION, broken: register },
    Check { rule: &LD_DESTINATION_FLOAT, broken: wide_float },
];

pub const ST: &[Check] = &[
    Check { rule: &ST_OPERANDS, broken: count },
    Check { rule: &VECTOR, broken: elements },
    Check { rule: &VECTOR_ELEMENTS, broken: widths },
    Check { rule: &VECTOR_OF_ONE, broken: one_element },
    Check { rule: &ST_SOURCE, broken: register },
    Check { rule: &POLICY_MISSING, broken: policy_missing },
    Check { rule: &POLICY_UNUSED, broken: policy_unused },
    Check { rule: &POLICY_TYPE, broken: policy_type },
];

pub const ATOM: &[Check] = &[
    Check { rule: &ATOM_OPERANDS, broken: count },
    Check { rule: &VECTOR, broken: elements },
    Check { rule: &ATOM_OPERAND, broken: register },
    Check { rule: &POLICY_MISSING, broken: policy_missing },
    Check { rule: &POLICY_UNUSED, broken: policy_unused },
    Check { rule: &POLICY_TYPE, broken: policy_type },
];

/// The operands that an instruction takes, as one would write them.
pub fn expected(form: &Form<'_>) -> &'static str {
    match (form.opcode, form.q.op.map(|op| op.value)) {
        (Opcode::Ld | Opcode::Ldu, _) => "%r0, [a]",
        (Opcode::St | Opcode::Red, _) => "[a], %r0",
        (Opcode::Atom, Some(AtomicOp::Cas)) => "%r0, [a], %r1, %r2",
        (Opcode::Atom, _) => "%r0, [a], %r1",
        (Opcode::Fence | Opcode::Membar, _) => "",
    }
}

/// Whether a policy can be the last operand: `ldu` has none.
fn takes_policy(form: &Form<'_>) -> bool {
    form.opcode != Opcode::Ldu
}

fn count(form: &Form<'_>, _: &Setting) -> Option<Breach> {
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

fn elements(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    let wanted = form.q.vector.map(|vector| usize::from(vector.value));
    form.data().find_map(|(index, shape)| {
        let count = match (shape, wanted) {
            (Shape::Lanes(lanes), Some(wanted)) if lanes.count == wanted => return None,
            // One element without `.vN` is the next rule's.
            (Shape::Lanes(lanes), None) if lanes.count == 1 => return None,
            (Shape::Lanes(lanes), _) => lanes.count,
            (Shape::Value(Value::Vector(count, _)), Some(wanted))
                if usize::from(*count) == wanted =>
            {
                return None;
            }
            (Shape::Value(Value::Vector(count, _)), _) => usize::from(*count),
            // A register whose declaration is not known may be a vector; `_` has its own rule.
            (Shape::Value(Value::Register(None) | Value::Other | Value::Sink), Some(_))
            | (_, None) => return None,
            (Shape::Value(_) | Shape::Place(_), Some(_)) => 1,
        };
        let name = match count {
            2 => Some("v2"),
            4 => Some("v4"),
            8 => Some("v8"),
            _ => None,
        };
        let fix = match (form.q.vector, name) {
            (Some(vector), Some(name)) => vec![Edit::Replace(vector.position, name)],
            (Some(vector), None) if count == 1 => vec![Edit::Remove(vector.position)],
            (None, Some(name)) => {
                let at = form.q.ty.map_or(form.q.end, |ty| ty.position);
                vec![Edit::Insert(at, name)]
            }
            (_, None) => Vec::new(),
        };
        let note = match (count, wanted) {
            (1, Some(wanted)) => format!("1 element, {wanted} expected"),
            (count, Some(wanted)) => format!("{count} elements, {wanted} expected"),
            (count, None) => format!("{count} elements, and the access is no vector"),
        };
        Some(Breach::at(Spot::Operand(index), note).fixed_by(fix))
    })
}

fn widths(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    let exact = form.opcode.is_atomic();
    let ty = form.q.ty?.value;
    form.data().find_map(|(index, shape)| {
        let Shape::Lanes(lanes) = shape else { return None };
        let bits = |value: &Value| match *value {
            // One that does not fit the type at all has another rule.
            Value::Register(Some(ty_of)) if holds(ty_of, ty, exact) => Some(ty_of.bits),
            Value::Register(_)
            | Value::Vector(..)
            | Value::Predicate
            | Value::Sink
            | Value::Number
            | Value::Float
            | Value::Variable
            | Value::Special
            | Value::Other => None,
        };
        let first = lanes.values().iter().find_map(bits)?;
        let other = |value: &Value| bits(value).is_some_and(|bits| bits != first);
        let lane = lanes.values().iter().position(other)?;
        Some(
            Breach::at(Spot::Lane(index, lane), "this register has another width")
                .advised(format!("use registers declared `.{}`", ty.name())),
        )
    })
}

fn one_element(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    if form.q.vector.is_some() {
        return None;
    }
    form.data().find_map(|(index, shape)| match shape {
        Shape::Lanes(lanes) if lanes.count == 1 => Some(
            Breach::at(Spot::Operand(index), "a vector of one element")
                .advised("leave the braces out"),
        ),
        Shape::Lanes(_) | Shape::Value(_) | Shape::Place(_) => None,
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

fn wide_float(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    let ty = form.q.ty?.value;
    let wide = |value: &Value| match *value {
        Value::Register(Some(register)) | Value::Vector(_, register) => {
            !is_bits(register) && ty.kind == TypeKind::Bits && register.bits > ty.bits
        }
        Value::Register(None)
        | Value::Predicate
        | Value::Sink
        | Value::Number
        | Value::Float
        | Value::Variable
        | Value::Special
        | Value::Other => false,
    };
    let (index, shape) = form.data().next()?;
    let spot = match shape {
        Shape::Value(value) if wide(value) => Spot::Operand(index),
        Shape::Lanes(lanes) => Spot::Lane(index, lanes.values().iter().position(wide)?),
        Shape::Value(_) | Shape::Place(_) => return None,
    };
    Some(
        Breach::at(spot, "this register is wider")
            .advised(format!("use a register declared `.{}`", ty.name())),
    )
}

fn register(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    let ty = form.q.ty?.value;
    let exact = form.opcode.is_atomic();
    let reads = form.opcode.is_load();
    let misfit = |value: &Value| match *value {
        Value::Register(Some(register)) | Value::Vector(_, register) => {
            (!holds(register, ty, exact))
                .then(|| format!("this register is `.{}`", register.name()))
        }
        Value::Predicate => Some("this register is a predicate".to_owned()),
        Value::Special => Some("`mov` reads a special register".to_owned()),
        Value::Variable | Value::Number | Value::Float if reads => {
            Some("expected a register".to_owned())
        }
        Value::Variable => Some("`mov` takes the address of a variable".to_owned()),
        Value::Number if !is_bits(ty) => Some("this is an integer".to_owned()),
        Value::Float if matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed) => {
            Some("this is a float".to_owned())
        }
        Value::Register(None) | Value::Sink | Value::Number | Value::Float | Value::Other => None,
    };
    let width = form.data().find_map(|(index, shape)| match shape {
        Shape::Value(value) => Some((Spot::Operand(index), misfit(value)?)),
        Shape::Lanes(lanes) => lanes
            .values()
            .iter()
            .enumerate()
            .find_map(|(lane, value)| Some((Spot::Lane(index, lane), misfit(value)?))),
        Shape::Place(_) => Some((Spot::Operand(index), "expected a register".to_owned())),
    });
    let (spot, note) = width?;
    Some(Breach::at(spot, note).advised(format!("use a register declared `.{}`", ty.name())))
}

fn policy_missing(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    let policy = form.q.policy?;
    (form.operands.len() == form.data_end()).then(|| {
        Breach::part(policy.position, "no operand follows")
            .fixed_by([Edit::Remove(policy.position)])
            .advised("add the policy as the last operand, or leave `.L2::cache_hint` out")
    })
}

fn policy_unused(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    let last = form.data_end();
    (form.q.policy.is_none() && form.operands.len() == last + 1).then(|| {
        Breach::at(Spot::Operand(last), "this operand is more than it takes")
            .fixed_by([Edit::RemoveOperand(last)])
    })
}

fn policy_type(form: &Form<'_>, _: &Setting) -> Option<Breach> {
    form.q.policy?;
    let last = form.data_end();
    let note = match form.operands.get(last)? {
        Shape::Value(Value::Register(Some(ty))) => {
            if ty.bits == 64 && is_bits(*ty) {
                return None;
            }
            format!("this register is `.{}`", ty.name())
        }
        Shape::Value(Value::Register(None) | Value::Number | Value::Other) => return None,
        Shape::Value(_) | Shape::Lanes(_) | Shape::Place(_) => "expected a register".to_owned(),
    };
    Some(
        Breach::at(Spot::Operand(last), note)
            .advised("make the policy with `createpolicy`, in a `.b64` register"),
    )
}
