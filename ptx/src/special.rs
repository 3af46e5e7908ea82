//! Reads of special registers: by `mov` and `cvt` only, and by `mov` with a type of their size.
//!
//! ptxas 13.5 was measured with each of them in 30 instructions.

use crate::symbols::special_bits;

/// What is wrong with a special register as an operand of an instruction that has no productions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SpecialFault {
    /// The instruction is neither `mov` nor `cvt`.
    Instruction,
    /// The sizes of `mov`, in words.
    Size(String),
}

/// Registers of four elements of which `mov` reads 16 bits as well.
const NARROW: [&str; 4] = ["%tid", "%ntid", "%ctaid", "%nctaid"];

/// Registers of four elements.
const VECTORS: [&str; 4] = ["%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];

/// What is wrong with a read of the register `name`, or of an element of it, by an instruction with these parts.
pub(crate) fn fault(parts: &[&str], name: &str, element: bool) -> Option<SpecialFault> {
    match *parts.first()? {
        "cvt" => return None,
        "mov" => {}
        _ => return Some(SpecialFault::Instruction),
    }
    let ty = *parts.last()?;
    let kind = ty.trim_end_matches(|c: char| c.is_ascii_digit());
    let written: u16 = ty[kind.len()..].parse().ok()?;
    let narrow = NARROW.contains(&name);
    let sizes: &[u16] = match name {
        // A predicate, which `mov.pred` reads.
        "%is_explicit_cluster" => &[],
        "%gridid" => &[16, 32, 64],
        // All four elements, also as a vector.
        _ if !element && (narrow || VECTORS.contains(&name)) => {
            if parts.contains(&"v4") {
                return None;
            }
            &[128]
        }
        _ if narrow => &[16, 32],
        _ if special_bits(name) == Some(64) => &[64],
        _ => &[32],
    };
    if matches!(kind, "u" | "s" | "b") && sizes.contains(&written) {
        return None;
    }
    let sizes: Vec<String> = sizes.iter().map(|bits| format!("`mov.b{bits}`")).collect();
    let sizes = if sizes.is_empty() { "`mov.pred`".to_owned() } else { sizes.join(", ") };
    Some(SpecialFault::Size(sizes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_registers_have_sizes() {
        let of = |ty, name, element| fault(&["mov", ty], name, element).is_none();
        for (name, element, sizes) in [
            ("%clock", false, &["b32"][..]),
            ("%clock64", false, &["b64"]),
            ("%pm0_64", false, &["b64"]),
            ("%pm0", false, &["b32"]),
            ("%tid", true, &["b16", "b32"]),
            ("%tid", false, &["b128"]),
            ("%clusterid", true, &["b32"]),
            ("%gridid", false, &["b16", "b32", "b64"]),
            ("%is_explicit_cluster", false, &[]),
        ] {
            for ty in ["b16", "b32", "b64", "b128", "f32"] {
                assert_eq!(of(ty, name, element), sizes.contains(&ty), "mov.{ty} {name}");
            }
        }
        assert!(of("pred", "%is_explicit_cluster", false));
        assert!(fault(&["mov", "v4", "u32"], "%tid", false).is_none());
        assert!(fault(&["cvt", "u64", "u32"], "%laneid", false).is_none());
        assert_eq!(fault(&["add", "u32"], "%laneid", false), Some(SpecialFault::Instruction));
    }
}
