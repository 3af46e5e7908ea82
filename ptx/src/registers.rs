//! How many registers an operand has, and of how many bits, where the modifiers of the instruction say it.

/// The registers of a vector operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegisterCount {
    pub(crate) count: usize,
    /// Of one register.
    pub(crate) bits: u16,
    /// Whether they may be registers of floating point.
    pub(crate) float: bool,
    /// Whether they may be no integers: bits are neither.
    pub(crate) only_float: bool,
}

/// What an instruction with these modifiers has: a shape of tensor memory with its repetitions, the result of a
/// multiplication, a vector of a type, or the lanes of a group of CTAs that are left out.
pub(crate) fn of(modifiers: &[&str]) -> RegisterCount {
    let words = |count| RegisterCount { count, bits: 32, float: true, only_float: false };
    if let Some(of_shape) = modifiers.iter().find_map(|one| of_lanes(one)) {
        let times = modifiers.iter().find_map(|one| one.strip_prefix('x')?.parse::<usize>().ok());
        return words(of_shape * times.unwrap_or(1));
    }
    if let Some(columns) = modifiers.iter().find_map(|one| columns(one)) {
        // Two results of 16 bits share a register.
        let halves = modifiers.iter().find(|one| is_type(one)).is_some_and(|first| *first == "f16");
        return words(if halves { columns / 4 } else { columns / 2 });
    }
    if modifiers.contains(&"cta_group::1") {
        return words(4);
    }
    if modifiers.contains(&"cta_group::2") {
        return words(8);
    }
    let vector = modifiers.iter().find_map(|one| one.strip_prefix('v')?.parse().ok());
    let ty = modifiers.iter().rev().find(|one| is_type(one)).copied().unwrap_or_default();
    let float = !ty.starts_with(['u', 's']) && !ty.ends_with("f16x2");
    let bits = match ty {
        "e4m3" | "e5m2" => 8,
        "f16" | "bf16" | "e4m3x2" | "e5m2x2" | "b16" | "u16" | "s16" => 16,
        "u64" | "s64" | "b64" | "f64" => 64,
        "b128" => 128,
        _ => 32,
    };
    let only_float = matches!(ty, "f32" | "f64");
    RegisterCount { count: vector.unwrap_or(1), bits, float, only_float }
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
            assert_eq!(found.float, !modifiers.contains(&"u64"), "{modifiers:?}");
        }
    }
}
