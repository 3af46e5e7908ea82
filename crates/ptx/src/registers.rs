//! How many registers an operand has, and of how many bits, where the modifiers of the instruction say it.

use model::isa::{Type, TypeKind};

/// Which registers an operand may be, as ptxas 13.5 was measured to take them: those of bits, and those of a kind that the type
/// in the instruction says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RegisterClass {
    /// All.
    Any,
    /// Integers.
    Integer,
    /// Integers, and pairs of `.f16`.
    IntegerOrPair,
    /// Integers, and floating point without pairs.
    Number,
    /// Floating point without pairs.
    Float,
    /// Pairs of `.f16`.
    Pair,
    /// No others.
    Bits,
}

impl RegisterClass {
    pub(crate) fn admits(self, ty: Type) -> bool {
        match ty.kind {
            TypeKind::Bits => true,
            TypeKind::Unsigned | TypeKind::Signed => match self {
                RegisterClass::Any
                | RegisterClass::Integer
                | RegisterClass::IntegerOrPair
                | RegisterClass::Number => true,
                RegisterClass::Float | RegisterClass::Pair | RegisterClass::Bits => false,
            },
            TypeKind::Float | TypeKind::BFloat => {
                matches!(self, RegisterClass::Any | RegisterClass::Number | RegisterClass::Float)
            }
            TypeKind::FloatPair | TypeKind::BFloatPair => matches!(
                self,
                RegisterClass::Any | RegisterClass::IntegerOrPair | RegisterClass::Pair
            ),
        }
    }
}

/// The type of a vector with registers of these two types: bits if one has them or both are integers. `None` if they do not go
/// together.
pub(crate) fn common(one: Type, other: Type) -> Option<Type> {
    if one == other {
        return Some(one);
    }
    let integer = |ty: Type| matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed);
    let bits = one.kind == TypeKind::Bits || other.kind == TypeKind::Bits;
    let mixed = bits || integer(one) && integer(other);
    (one.bits == other.bits && mixed).then_some(Type { kind: TypeKind::Bits, bits: one.bits })
}

/// The registers of a vector operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegisterCount {
    pub(crate) count: usize,
    /// Of one register.
    pub(crate) bits: u16,
    pub(crate) class: RegisterClass,
}

/// What an instruction with these modifiers has: a shape of tensor memory with its repetitions, the result of a
/// multiplication, a vector of a type, or the lanes of a group of CTAs that are left out.
pub(crate) fn of(modifiers: &[&str]) -> RegisterCount {
    let words = |count| RegisterCount { count, bits: 32, class: RegisterClass::Any };
    if let Some(of_shape) = modifiers.iter().find_map(|one| of_lanes(one)) {
        let times = modifiers.iter().find_map(|one| one.strip_prefix('x')?.parse::<usize>().ok());
        return words(of_shape * times.unwrap_or(1));
    }
    if let Some(columns) = modifiers.iter().find_map(|one| columns(one)) {
        let class = match modifiers.iter().find(|one| is_type(one)) {
            Some(&"f16") => RegisterClass::Pair,
            Some(&"f32") => RegisterClass::Float,
            Some(_) | None => RegisterClass::Integer,
        };
        // Two results of 16 bits share a register.
        let count = if class == RegisterClass::Pair { columns / 4 } else { columns / 2 };
        return RegisterCount { class, ..words(count) };
    }
    if modifiers.contains(&"cta_group::1") {
        return words(4);
    }
    if modifiers.contains(&"cta_group::2") {
        return words(8);
    }
    let vector = modifiers.iter().find_map(|one| one.strip_prefix('v')?.parse().ok());
    let ty = modifiers.iter().rev().find(|one| is_type(one)).copied().unwrap_or_default();
    let bits = match ty {
        "e4m3" | "e5m2" => 8,
        "f16" | "bf16" | "e4m3x2" | "e5m2x2" | "b16" | "u16" | "s16" => 16,
        "u64" | "s64" | "b64" | "f64" => 64,
        "b128" => 128,
        _ => 32,
    };
    let class = match ty {
        // In a vector, ptxas takes registers of integers for these.
        "f32" | "f64" if vector.is_none() => RegisterClass::Float,
        "f16" | "f32" | "f64" => RegisterClass::Number,
        "f16x2" => RegisterClass::Pair,
        "bf16" | "bf16x2" => RegisterClass::Bits,
        _ if ty.starts_with(['u', 's']) => RegisterClass::IntegerOrPair,
        _ => RegisterClass::Any,
    };
    RegisterCount { count: vector.unwrap_or(1), bits, class }
}

/// What the rows of the first matrix of a multiplication are in.
pub(crate) fn of_rows(modifiers: &[&str]) -> RegisterClass {
    let integer = |ty: &&&str| ty.starts_with(['u', 's', 'b']) && !ty.starts_with("bf");
    let rows = modifiers.iter().filter(|one| is_type(one)).nth(1);
    if rows.is_some_and(|ty| integer(&ty)) { RegisterClass::Any } else { RegisterClass::Pair }
}

/// The registers that one repetition of a shape of tensor memory takes.
fn of_lanes(shape: &str) -> Option<usize> {
    match shape {
        "16x64b" | "32x32b" | "16x32bx2" => Some(1),
        "16x128b" => Some(2),
        "16x256b" => Some(4),
        _ => None,
    }
}

/// The columns of the result of `m64n8k16`.
fn columns(shape: &str) -> Option<usize> {
    let (_, rest) = shape.strip_prefix('m')?.split_once('n')?;
    rest.split_once('k')?.0.parse().ok()
}

fn is_type(word: &str) -> bool {
    let digit = |at: usize| word.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    match word.as_bytes().first() {
        Some(b'u' | b's' | b'b' | b'f' | b'e') => digit(1) || word.starts_with("bf16"),
        _ => word == "tf32",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_say_how_many_registers_there_are() {
        for (modifiers, count, bits) in [
            (&["sync", "aligned", "16x256b", "x32", "b32"][..], 128, 32),
            (&["sync", "aligned", "16x32bx2", "x4", "b32"], 4, 32),
            (&["sync", "aligned", "m64n24k16", "f32", "f16", "f16"], 12, 32),
            (&["sync", "aligned", "m64n24k16", "f16", "f16", "f16"], 6, 32),
            (&["sync", "aligned", "m64n8k256", "s32", "b1", "b1", "and", "popc"], 4, 32),
            (&["cta_group::2", "kind::f16"], 8, 32),
            (&["global", "add", "v8", "bf16"], 8, 16),
            (&["global", "add", "acc::f32", "v4", "e4m3"], 4, 8),
            (&["global", "add", "u64"], 1, 64),
        ] {
            let found = of(modifiers);
            assert_eq!((found.count, found.bits), (count, bits), "{modifiers:?}");
        }
    }

    const B32: Type = Type { kind: TypeKind::Bits, bits: 32 };
    const S32: Type = Type { kind: TypeKind::Signed, bits: 32 };
    const F32: Type = Type { kind: TypeKind::Float, bits: 32 };
    const PAIR: Type = Type { kind: TypeKind::FloatPair, bits: 32 };

    #[test]
    fn a_type_says_which_registers_there_are() {
        let all = [B32, Type::U32, F32, PAIR];
        for (modifiers, expected) in [
            (&["global", "b32"][..], [true, true, true, true]),
            (&["global", "add", "s32"], [true, true, false, true]),
            (&["global", "add", "f32"], [true, false, true, false]),
            (&["global", "add", "v2", "f32"], [true, true, true, false]),
            (&["global", "add", "f16x2"], [true, false, false, true]),
            (&["global", "add", "v4", "bf16x2"], [true, false, false, false]),
            (&["m64n8k16", "f16", "f16", "f16"], [true, false, false, true]),
            (&["m64n8k16", "f32", "f16", "f16"], [true, false, true, false]),
            (&["m64n8k32", "s32", "s8", "u8"], [true, true, false, false]),
        ] {
            let class = of(modifiers).class;
            assert_eq!(all.map(|ty| class.admits(ty)), expected, "{modifiers:?}");
        }
        let rows = |ty| of_rows(&["m64n8k16", "f32", ty, ty]);
        assert_eq!(["bf16", "tf32", "e5m2"].map(rows), [RegisterClass::Pair; 3]);
        assert_eq!(["s8", "b1"].map(rows), [RegisterClass::Any; 2]);
    }

    #[test]
    fn registers_of_a_vector_have_a_common_type() {
        assert_eq!(common(F32, F32), Some(F32));
        assert_eq!(common(F32, B32), Some(B32));
        assert_eq!(common(Type::U32, S32), Some(B32));
        assert_eq!(common(Type::U32, F32), None);
        assert_eq!(common(B32, Type::U64), None);
    }
}
