//! Compares the effect of a target access on values with that of the source access: width, space, operation.
//! Reading R87: this comparison precedes every run.

use llvm::{MemoryOp, RmwOp};
use model::isa::atom::AtomicOp;
use model::isa::{SpaceQualifier, Type, TypeKind};
use model::value::{Value, low_bits};

use super::item::TargetAccess;
use super::llvm_items::{PointerSpace, SourceAccess, operation_name};
use super::step::AccessKind;

/// The result of a comparison without an error.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ValueAgreement {
    pub notes: Vec<&'static str>,
    /// The source accesses a smaller object in the word that is exchanged.
    pub part_of_word: bool,
}

/// Compares one access with its counterpart. An error states the difference, with values where they help.
pub fn compare(source: &SourceAccess, target: &TargetAccess) -> Result<ValueAgreement, String> {
    let mut agreed = ValueAgreement::default();
    space(source, target)?;
    if target.offset != 0 {
        return Err(format!(
            "`{}` is {} bytes from where the source is",
            target.text, target.offset
        ));
    }
    let word = target.looped.is_some() && source.bytes < target.bytes && target.bytes == 4;
    if word {
        agreed.part_of_word = true;
        agreed.notes.push("a sub-word access, by a compare-exchange of the word");
    } else if source.bytes != target.bytes {
        return Err(format!(
            "{} has {} bytes, but `{}` accesses {}",
            source.ty, source.bytes, target.text, target.bytes
        ));
    }
    if target.looped == Some(true) {
        agreed.notes.push(
            "the loop begins with a weak load, which races; a stale value makes the compare-exchange fail",
        );
    }
    if target.looped.is_some() {
        agreed
            .notes
            .push("the row does not show what the loop computes: it is assumed to be the source's operation");
    }
    match (source.kind, target.act) {
        (MemoryOp::Load, AccessKind::Load)
        | (MemoryOp::Store, AccessKind::Store)
        | (MemoryOp::CmpXchg { .. }, AccessKind::CompareExchange(_)) => {}
        (MemoryOp::Load, AccessKind::CompareExchange(_)) if target.looped.is_none() => {
            agreed.notes.push(
                "a load by a compare-exchange, which may write; it is assumed to access a whole value",
            );
        }
        (MemoryOp::Store, AccessKind::Swap | AccessKind::Overwrite)
            if target.op == Some(AtomicOp::Exch) => {}
        (MemoryOp::Rmw(_), AccessKind::CompareExchange(_)) if target.looped.is_some() => {}
        (MemoryOp::Rmw(op), AccessKind::Swap | AccessKind::Overwrite | AccessKind::Reduce) => {
            let found = target.op.expect("an atomic has an operation");
            operation(op, source, found, target)?;
            if op == RmwOp::Sub {
                agreed.notes.push("a sum with the negated operand, which is computed before");
            }
        }
        _ => return Err(format!("`{}` is not a {}", target.text, name(source.kind))),
    }
    Ok(agreed)
}

fn name(kind: MemoryOp) -> &'static str {
    match kind {
        MemoryOp::Load => "load",
        MemoryOp::Store => "store",
        MemoryOp::Rmw(op) => operation_name(op),
        MemoryOp::CmpXchg { .. } => "compare-exchange",
    }
}

/// Checks that the target's state space is one that the source's pointer leads to.
pub fn space(source: &SourceAccess, target: &TargetAccess) -> Result<(), String> {
    use SpaceQualifier as Q;
    let right = match source.space {
        PointerSpace::Generic => {
            target.space == Q::Generic || source.argument && target.space == Q::Global
        }
        PointerSpace::Global => matches!(target.space, Q::Generic | Q::Global),
        PointerSpace::Shared => matches!(target.space, Q::Shared | Q::SharedCta | Q::SharedCluster),
        PointerSpace::SharedCluster => target.space == Q::SharedCluster,
        PointerSpace::Const => target.space == Q::Const,
        PointerSpace::Local => target.space == Q::Local,
        PointerSpace::Param => target.space.is_param(),
    };
    if right {
        return Ok(());
    }
    let (wanted, found) = (source.space.name(), target.space.name());
    Err(format!("the source accesses {wanted} memory, but `{}` accesses {found}", target.text))
}

/// The PTX counterpart of an operation.
fn counterpart(op: RmwOp) -> Option<(AtomicOp, &'static [TypeKind])> {
    use TypeKind::{BFloat, BFloatPair, Bits, Float, FloatPair, Signed, Unsigned};
    const ANY: &[TypeKind] = &[Unsigned, Signed, Bits];
    Some(match op {
        RmwOp::Xchg => (AtomicOp::Exch, &[Unsigned, Signed, Bits, Float]),
        RmwOp::Add | RmwOp::Sub => (AtomicOp::Add, &[Unsigned, Signed]),
        RmwOp::And => (AtomicOp::And, ANY),
        RmwOp::Or => (AtomicOp::Or, ANY),
        RmwOp::Xor => (AtomicOp::Xor, ANY),
        RmwOp::Max => (AtomicOp::Max, &[Signed]),
        RmwOp::Min => (AtomicOp::Min, &[Signed]),
        RmwOp::UMax => (AtomicOp::Max, &[Unsigned]),
        RmwOp::UMin => (AtomicOp::Min, &[Unsigned]),
        RmwOp::FAdd => (AtomicOp::Add, &[Float, BFloat, FloatPair, BFloatPair]),
        RmwOp::UIncWrap => (AtomicOp::Inc, &[Unsigned]),
        RmwOp::UDecWrap => (AtomicOp::Dec, &[Unsigned]),
        RmwOp::Nand
        | RmwOp::FSub
        | RmwOp::FMax
        | RmwOp::FMin
        | RmwOp::USubCond
        | RmwOp::USubSat => {
            return None;
        }
    })
}

fn operation(
    op: RmwOp,
    source: &SourceAccess,
    found: AtomicOp,
    target: &TargetAccess,
) -> Result<(), String> {
    let wanted = counterpart(op);
    if wanted.is_some_and(|(wanted, kinds)| wanted == found && kinds.contains(&target.ty.kind)) {
        return Ok(());
    }
    let message = format!("`{}` does not {}", target.text, operation_name(op));
    let bits = source.ty.scalar.bits();
    if source.ty.scalar.is_float() || target.ty.kind == TypeKind::Float || bits > 64 {
        return Err(message);
    }
    let bits = u16::try_from(bits).expect("at most 64");
    let interesting: [Value; 6] =
        [0, 1, 2, low_bits(bits) >> 1, (low_bits(bits) >> 1) + 1, low_bits(bits)];
    let pairs =
        interesting.iter().flat_map(|&old| interesting.iter().map(move |&operand| (old, operand)));
    let example = pairs.into_iter().find_map(|(old, operand)| {
        let right = integer(op, bits, old, operand)?;
        let left = found.apply(target.ty, old, operand, operand).unwrap_or(old);
        (right != left).then(|| {
            format!("{message}: with old value {old:#x} and operand {operand:#x}, the source leaves {right:#x} and the target {left:#x}")
        })
    });
    // An untyped operation is correct if no value distinguishes it from a signed one.
    example.map_or(Ok(()), Err)
}

/// The value that an integer operation of the source leaves.
fn integer(op: RmwOp, bits: u16, old: Value, operand: Value) -> Option<Value> {
    let ty = |kind| Type { kind, bits };
    let (unsigned, signed) = (ty(TypeKind::Unsigned), ty(TypeKind::Signed));
    let apply = |op: AtomicOp, ty: Type| op.apply(ty, old, operand, operand);
    match op {
        RmwOp::Xchg => apply(AtomicOp::Exch, unsigned),
        RmwOp::Add => apply(AtomicOp::Add, unsigned),
        RmwOp::Sub => apply(AtomicOp::Sub, unsigned),
        RmwOp::And => apply(AtomicOp::And, unsigned),
        RmwOp::Nand => apply(AtomicOp::And, unsigned).map(|both| !both & low_bits(bits)),
        RmwOp::Or => apply(AtomicOp::Or, unsigned),
        RmwOp::Xor => apply(AtomicOp::Xor, unsigned),
        RmwOp::Max => apply(AtomicOp::Max, signed),
        RmwOp::Min => apply(AtomicOp::Min, signed),
        RmwOp::UMax => apply(AtomicOp::Max, unsigned),
        RmwOp::UMin => apply(AtomicOp::Min, unsigned),
        RmwOp::UIncWrap => apply(AtomicOp::Inc, unsigned),
        RmwOp::UDecWrap => apply(AtomicOp::Dec, unsigned),
        RmwOp::USubCond => Some(if old >= operand { old - operand } else { old }),
        RmwOp::USubSat => Some(old.saturating_sub(operand)),
        RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin => None,
    }
}
