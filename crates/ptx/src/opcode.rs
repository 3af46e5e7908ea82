//! The opcodes of PTX: those of memory instructions, and those of the table of instructions.

use crate::productions::{self, InstructionHead, Treatment};
use crate::shape::Opcode;

/// Opcodes and forms of the peer dialect that PTX does not have.
pub const PEER: &[&str] =
    &["tld", "suld", "sust", "cold", "goto", "beq", "bne", "blt", "ble", "bgt", "bge"];

/// All opcodes of PTX.
pub fn all() -> impl Iterator<Item = &'static str> {
    let others = productions::opcodes().filter(|opcode| Opcode::named(opcode).is_none());
    Opcode::ALL.into_iter().map(Opcode::name).chain(others)
}

pub fn is_known(opcode: &str) -> bool {
    Opcode::named(opcode).is_some() || productions::of_opcode(opcode).is_some()
}

/// What the model leaves out, if `opcode` is PTX and outside it.
pub fn outside(opcode: &str) -> Option<&'static str> {
    match productions::of_opcode(opcode)?.first()?.treatment {
        Treatment::Outside(what) => Some(what),
        Treatment::Modelled | Treatment::WithoutEffect => None,
    }
}

/// Whether instructions with this opcode have no effect on memory, values and control flow.
pub fn is_without_effect(opcode: &str) -> bool {
    let of_it = |head: &InstructionHead| head.treatment == Treatment::WithoutEffect;
    productions::of_opcode(opcode).is_some_and(|heads| heads.iter().all(of_it))
}

/// Instructions that have the opcode of another one, and rules of their own.
pub fn has_own_rules(opcode: &str, form: &str) -> bool {
    Opcode::named(opcode).is_some() && productions::find(&[opcode, form]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_stands_once() {
        let mut seen = std::collections::BTreeSet::new();
        assert!(all().all(|opcode| is_known(opcode) && seen.insert(opcode)));
        assert!(!is_known("store"));
    }

    #[test]
    fn an_opcode_is_modelled_or_not() {
        assert_eq!(outside("st"), None);
        assert_eq!(outside("wmma"), Some("texture, surface and matrix accesses"));
        assert!(is_without_effect("nanosleep") && !is_without_effect("discard"));
        assert!(has_own_rules("red", "async") && !has_own_rules("st", "global"));
        assert!(!has_own_rules("cp", "async"));
    }
}
