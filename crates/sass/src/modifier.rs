//! Modifiers of SASS instructions: those of each opcode, and those that contradict one another.

use super::opcode::{Class, class};

const SIZES: &[&str] =
    &["U8", "S8", "U16", "S16", "32", "64", "128", "256", "U", "U32", "S32", "U64", "S64"];
const ACCESS: &[&str] = &[
    "E", "EF", "EL", "EU", "LU", "NA", "ENL2", "EFL2", "ELL2", "LTC64B", "LTC128B", "LTC256B",
    "CONSTANT", "STRONG", "MMIO", "CTA", "SM", "GPU", "SYS", "VC", "PRIVATE", "ZD", "CA", "CG",
    "CI", "CS", "CV", "WB", "WT", "IS", "IL", "ISL", "IDX", "RML2", "ORDERED",
];
const ATOMICS: &[&str] = &[
    "ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS", "CAST", "SPIN", "POPC",
    "SAFEADD", "ARRIVE", "F32", "F64", "F16x2", "BF16x2", "F16x4", "BF16x4", "F32x2", "F32x4",
    "F16", "BF16", "FTZ", "RN", "PACKED", "F16x8", "BF16x8", "BF16_V2", "S64",
];
const MEMBAR: &[&str] =
    &["SC", "ALL", "MMIO", "CTA", "SM", "GPU", "GL", "SYS", "VC", "IVALLD", "PARTIAL"];
const CACHE: &[&str] = &[
    "E", "C", "D", "I", "U", "IV", "IVALL", "IVALLP", "PF1", "PF2", "PF1_5", "RML2", "PML2",
    "DML2", "RS", "WB", "WBALL", "QRY1", "LDC", "LDCU", "DEEP", "PIVALL", "IVTH", "PRIV", "QFAULT",
];
const BARRIER: &[&str] =
    &["SYNC", "ARV", "RED", "POPC", "AND", "OR", "DEFER_BLOCKING", "SCAN", "SYNCALL", "RESULT"];

/// What modifiers say, and those of which an instruction has one at the most: they are values of one field.
const FIELDS: &[(&str, &[&str])] = &[
    ("scope", &["CTA", "SM", "GPU", "GL", "SYS", "VC"]),
    ("order", &["SC", "ALL"]),
    (
        "strength or cache operator",
        &["STRONG", "MMIO", "CONSTANT", "CA", "CG", "CI", "CS", "CV", "WB", "WT"],
    ),
    ("width", &["U8", "S8", "U16", "S16", "32", "64", "128", "256"]),
    (
        "type",
        &[
            "U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64", "F16", "BF16", "F32", "F64",
            "F16x2", "BF16x2", "F16x4", "BF16x4", "F16x8", "BF16x8", "BF16_V2", "F32x2", "F32x4",
        ],
    ),
    (
        "operation",
        &[
            "ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS", "CAST",
            "SAFEADD", "ARRIVE",
        ],
    ),
    ("operation", &["POPC", "AND", "OR"]),
    ("operation", &["SYNC", "ARV", "RED", "SCAN", "SYNCALL", "RESULT"]),
    (
        "operation",
        &[
            "IV", "IVALL", "IVALLP", "PIVALL", "IVTH", "PF1", "PF2", "PF1_5", "RML2", "PML2",
            "DML2", "RS", "WB", "WBALL", "QRY1",
        ],
    ),
    ("eviction priority", &["EF", "EL", "EU", "LU", "NA"]),
    ("eviction priority of L2", &["ENL2", "EFL2", "ELL2", "RML2"]),
    ("prefetch size", &["LTC64B", "LTC128B", "LTC256B"]),
    ("mode of the index", &["IS", "IL", "ISL"]),
];

/// The modifiers of a class of opcodes; `None` if they are not listed.
pub(super) fn known(class: Class) -> Option<&'static [&'static [&'static str]]> {
    Some(match class {
        Class::Load | Class::Store => &[ACCESS, SIZES],
        Class::Atomic | Class::Reduction => &[ACCESS, SIZES, ATOMICS],
        Class::Membar => &[MEMBAR],
        Class::Cache => &[CACHE],
        Class::Barrier => &[BARRIER],
        Class::ErrorBarrier | Class::ClusterArrive | Class::ClusterWait => &[],
        Class::View
        | Class::Depbar
        | Class::Other
        | Class::Arithmetic
        | Class::Special
        | Class::Branch
        | Class::Exit
        | Class::Nothing => return None,
    })
}

/// The opcodes that `nvdisasm` prints for words that are not valid instructions.
pub(super) fn is_of_no_instruction(modifier: &str) -> bool {
    modifier.starts_with("INVALID") || modifier.contains('?')
}

/// Two modifiers of which an instruction has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clash {
    pub(super) first: usize,
    pub(super) second: usize,
    /// What both of them say; `None` where they are the same one.
    pub(super) field: Option<&'static str>,
}

/// The first modifier that is repeated, or contradicts an earlier one.
pub(super) fn clash(modifiers: &[&str]) -> Option<Clash> {
    modifiers.iter().enumerate().find_map(|(second, &later)| {
        if is_of_no_instruction(later) {
            return None;
        }
        modifiers[..second].iter().enumerate().find_map(|(first, &earlier)| {
            if earlier == later {
                return Some(Clash { first, second, field: None });
            }
            let both = |names: &[&str]| names.contains(&earlier) && names.contains(&later);
            let (field, _) = FIELDS.iter().find(|(_, names)| both(names))?;
            Some(Clash { first, second, field: Some(field) })
        })
    })
}

/// Whether an opcode may have these modifiers together, as far as that is known.
pub(super) fn fit(opcode: &str, modifiers: &[&str]) -> bool {
    let Some(lists) = class(opcode).and_then(known) else { return true };
    let known =
        |one: &&str| is_of_no_instruction(one) || lists.iter().any(|list| list.contains(one));
    modifiers.iter().all(known) && clash(modifiers).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_has_modifiers_that_some_opcode_has() {
        let lists = [ACCESS, SIZES, ATOMICS, MEMBAR, CACHE, BARRIER].concat();
        for (field, names) in FIELDS {
            assert!(names.len() > 1, "{field}");
            for name in *names {
                assert!(lists.contains(name), "{field}: {name}");
            }
        }
    }

    #[test]
    fn what_contradicts_itself_or_comes_twice_does_not_fit() {
        for name in [
            "MEMBAR.SC.CTA.GPU",
            "MEMBAR.SC.ALL.GPU",
            "MEMBAR.ALL.GPU.GPU",
            "LDG.E.64.128",
            "STG.E.U8.S8",
            "STG.E.STRONG.GPU.STRONG.SM",
            "STG.E.STRONG.GPU.SM",
            "LDG.E.CONSTANT.STRONG.GPU",
            "ATOMG.E.ADD.EXCH",
            "ERRBAR.FOO",
            "BAR.SYNC.ARV",
            "CCTL.IVALL.WB",
        ] {
            let mut parts = name.split('.');
            let opcode = parts.next().unwrap_or("");
            assert!(!fit(opcode, &parts.collect::<Vec<_>>()), "{name}");
        }
        for name in [
            "LDG.E.U.128.CONSTANT.PRIVATE",
            "LDG.E.LU.STRONG.GPU",
            "ATOMS.POPC.INC.32",
            "ATOM.E.CAST.SPIN.64.STRONG.GPU",
            "LDG.E.INVALID7.INVALID7",
            "CCTL.E.C.LDCU.IV.DEEP",
            "BAR.RED.POPC.DEFER_BLOCKING",
            "SYNCS.ARRIVE.TRANS64.RED.A0T1.A0T1",
        ] {
            let mut parts = name.split('.');
            let opcode = parts.next().unwrap_or("");
            assert!(fit(opcode, &parts.collect::<Vec<_>>()), "{name}");
        }
    }
}
