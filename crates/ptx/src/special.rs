//! Reads of special registers: by `mov` and `cvt` only, and by `mov` with a type of their size.
//!
//! ptxas 13.5 was measured with each of them in 30 instructions.

use model::section;

use super::lint::Linter;
use super::syntax::Function;
use crate::symbols::{special_bits, special_need};
use crate::version::{FunctionKind, RuleContext};

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
    let written: u16 = match ty {
        "pred" if name == "%is_explicit_cluster" => return None,
        "pred" => 1,
        _ => ty[kind.len()..].parse().ok()?,
    };
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

impl Linter<'_, '_> {
    /// Reads of special registers that not every version, target and kernel has.
    pub(super) fn special_registers(&mut self, function: &Function, setting: &RuleContext) {
        for &at in function.special_reads.of(&self.module.special_reads) {
            let name = at.of(self.text);
            let Some(need) = special_need(name) else { continue };
            let section = section::SPECIAL_REGISTERS;
            if setting.isa < need.isa {
                self.report
                    .error(
                        "special-register-isa",
                        at,
                        format!("`{name}` requires PTX ISA {}", need.isa),
                    )
                    .note(format!("this is PTX ISA {}", setting.isa))
                    .section(section)
                    .help(format!(".version {}", need.isa));
            }
            if let Some(target) = setting.target.filter(|target| target.sm < need.sm) {
                self.report
                    .error(
                        "special-register-target",
                        at,
                        format!("`{name}` requires another target"),
                    )
                    .note(format!("the target is `{target}`"))
                    .section(section)
                    .help(format!("targets: sm_{} or higher", need.sm));
            }
            if let Some(directive) = need.directive
                && function.kind == FunctionKind::Kernel
                && !self.module.cta_memory.contains(&function.name)
            {
                self.report
                    .error(
                        "special-register-directive",
                        at,
                        format!("a kernel that reads `{name}` has `{directive}`"),
                    )
                    .section(section)
                    .help(format!("write `{directive}`, and a number of bytes, before its body"));
            }
        }
    }
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
        assert!(!of("pred", "%locality_domain_id", false) && !of("pred", "%tid", true));
        assert!(fault(&["mov", "v4", "u32"], "%tid", false).is_none());
        assert!(fault(&["cvt", "u64", "u32"], "%laneid", false).is_none());
        assert_eq!(fault(&["add", "u32"], "%laneid", false), Some(SpecialFault::Instruction));
    }
}
