//! The names of arithmetic and comparisons.

use super::dotted;
use crate::isa::alu::{AluOp, Comparison, Half};
use crate::isa::float::{FloatOp, Rounding};
use crate::isa::integer::IntegerOp;
use crate::isa::{Type, TypeKind};

/// The type of an operation on bits.
pub(super) fn logical(ty: Type) -> String {
    if ty.bits == 1 { "pred".to_owned() } else { format!("b{}", ty.bits) }
}

/// A copy to a register of so many bits; it `narrows` a register of more bits than the type has.
pub(super) fn moved(ty: Type, bits: u16, narrows: bool) -> Option<String> {
    use TypeKind::{BFloat, BFloatPair, Bits, Float, FloatPair, Signed};
    let name = ty.name();
    let halves = matches!(ty.kind, FloatPair | BFloat | BFloatPair);
    if halves || ty.kind == Float && ty.bits < 32 {
        return None;
    }
    let converts = narrows && ty.kind != Bits && ty.kind != Float;
    if ty.bits == bits && bits != 8 && !converts {
        return Some(format!("mov.{name}"));
    }
    let kind = if ty.kind == Signed { 's' } else { 'u' };
    (ty.bits != 1 && ty.bits <= bits).then(|| format!("cvt.{kind}{bits}.{name}"))
}

/// The name of arithmetic whose operands are those of the instruction.
pub(super) fn operation(op: AluOp, ty: Type) -> Option<String> {
    let float = matches!(ty.kind, TypeKind::Float | TypeKind::BFloat);
    let name = ty.name();
    if !matches!(ty.bits, 1 | 8 | 16 | 32 | 64) {
        return None;
    }
    Some(match op {
        AluOp::Mul if float => format!("mul.rn.{name}"),
        AluOp::Add if float => format!("add.rn.{name}"),
        AluOp::Sub if float => format!("sub.rn.{name}"),
        AluOp::Add => format!("add.{name}"),
        AluOp::Sub => format!("sub.{name}"),
        AluOp::Mul => format!("mul.lo.{name}"),
        AluOp::And => format!("and.{}", logical(ty)),
        AluOp::Or => format!("or.{}", logical(ty)),
        AluOp::Xor => format!("xor.{}", logical(ty)),
        AluOp::Shl => format!("shl.{}", logical(ty)),
        AluOp::Shr => format!("shr.{name}"),
        AluOp::Selp => format!("selp.{name}"),
        AluOp::Setp(of) => format!("setp.{}.{name}", comparison(of)),
        AluOp::Convert(to, direction) => {
            let whole = if float && !matches!(to.kind, TypeKind::Float) { "i" } else { "" };
            let widens = float && whole.is_empty() && to.bits > ty.bits;
            let direction = format!("{}{whole}", rounding(direction));
            dotted(["cvt", if widens { "" } else { &direction }, to.name(), name])
        }
        AluOp::Halves(half) => match half {
            Half::Add => "add.rn.f16x2".to_owned(),
            Half::Sub => "sub.rn.f16x2".to_owned(),
            Half::Mul => "mul.rn.f16x2".to_owned(),
        },
        AluOp::Float(op) => float_operation(op, name)?,
        AluOp::Integer(op) => integer_operation(op, name)?,
        AluOp::Mov | AluOp::Extract(_) | AluOp::Concat(_) | AluOp::Flush | AluOp::Opaque(_) => {
            return None;
        }
    })
}

fn float_operation(op: FloatOp, ty: &str) -> Option<String> {
    let nan = |nan: bool| if nan { "NaN" } else { "" };
    Some(match op {
        FloatOp::Neg => format!("neg.{ty}"),
        FloatOp::Abs => format!("abs.{ty}"),
        FloatOp::Min { nan: of } => dotted(["min", nan(of), ty]),
        FloatOp::Max { nan: of } => dotted(["max", nan(of), ty]),
        FloatOp::Fma => format!("fma.rn.{ty}"),
        FloatOp::Div => format!("div.rn.{ty}"),
        FloatOp::Sqrt => format!("sqrt.rn.{ty}"),
        FloatOp::Compare { comparison: of, unordered } => {
            let unordered = if unordered { "u" } else { "" };
            format!("setp.{}{unordered}.{ty}", comparison(of))
        }
        FloatOp::Unordered => format!("setp.nan.{ty}"),
        FloatOp::ToBf16(direction) => format!("cvt.{}.bf16.{ty}", rounding(direction)),
        FloatOp::Whole(direction) => format!("cvt.{}i.{ty}.{ty}", rounding(direction)),
        FloatOp::FmaRounded(_) => return None,
    })
}

fn integer_operation(op: IntegerOp, ty: &str) -> Option<String> {
    let name = match op {
        IntegerOp::Neg => "neg",
        IntegerOp::Abs => "abs",
        IntegerOp::Min => "min",
        IntegerOp::Max => "max",
        IntegerOp::Div => "div",
        IntegerOp::Rem => "rem",
        IntegerOp::MulHi => "mul.hi",
        IntegerOp::Sad => "sad",
        IntegerOp::Cnot => "cnot",
        IntegerOp::Popc => "popc",
        IntegerOp::Clz => "clz",
        IntegerOp::Brev => "brev",
        IntegerOp::Bfind { shift: false } => "bfind",
        IntegerOp::Bfind { shift: true } => "bfind.shiftamt",
        IntegerOp::Bfe => "bfe",
        IntegerOp::Prmt(how) => return Some(dotted(["prmt", ty, how.name()])),
        IntegerOp::Funnel { right, wrap } => {
            let direction = if right { "r" } else { "l" };
            return Some(dotted(["shf", direction, if wrap { "wrap" } else { "clamp" }, ty]));
        }
        IntegerOp::Bfi | IntegerOp::Lop3(_) => return None,
    };
    Some(format!("{name}.{ty}"))
}

fn comparison(of: Comparison) -> &'static str {
    match of {
        Comparison::Eq => "eq",
        Comparison::Ne => "ne",
        Comparison::Lt => "lt",
        Comparison::Le => "le",
        Comparison::Gt => "gt",
        Comparison::Ge => "ge",
    }
}

fn rounding(of: Rounding) -> &'static str {
    match of {
        Rounding::Nearest => "rn",
        Rounding::Zero => "rz",
        Rounding::Down => "rm",
        Rounding::Up => "rp",
    }
}
