//! The opcodes of PTX without events in the model, to distinguish them from unknown opcodes.

/// Opcodes that the model leaves out.
struct UnmodelledOpcodes {
    /// As the subject of "are outside this model".
    what: &'static str,
    /// Whether they access memory or order accesses: then the linter has rules to ask that it does
    /// not know.
    memory: bool,
    opcodes: &'static [&'static str],
}

const OUTSIDE: &[UnmodelledOpcodes] = &[
    UnmodelledOpcodes {
        what: "asynchronous operations and mbarriers",
        memory: true,
        opcodes: &["mbarrier", "cp", "wgmma", "tcgen05", "griddepcontrol", "clusterlaunchcontrol"],
    },
    UnmodelledOpcodes { what: "operations of the fabric", memory: true, opcodes: &["fabric"] },
    UnmodelledOpcodes {
        what: "texture, surface and matrix accesses",
        memory: true,
        opcodes: &[
            "tex",
            "tld4",
            "suld",
            "sust",
            "sured",
            "ldmatrix",
            "stmatrix",
            "wmma",
            "tensormap",
        ],
    },
    UnmodelledOpcodes {
        what: "queries of textures and surfaces, and matrix operations on registers",
        memory: false,
        opcodes: &["txq", "suq", "movmatrix", "mma", "spcompress", "spdecompress"],
    },
    UnmodelledOpcodes {
        what: "multimem and read-only accesses, prefetches and cache control",
        memory: true,
        opcodes: &["multimem", "prefetch", "prefetchu", "discard", "applypriority"],
    },
    UnmodelledOpcodes {
        what: "cache eviction policies",
        memory: false,
        opcodes: &["createpolicy"],
    },
    UnmodelledOpcodes {
        what: "operations of a warp",
        memory: false,
        opcodes: &["shfl", "vote", "match", "activemask", "redux", "elect", "fns"],
    },
    UnmodelledOpcodes {
        what: "calls, and branches by a table",
        memory: false,
        opcodes: &["brx", "call"],
    },
    UnmodelledOpcodes {
        what: "traps, breakpoints, pauses and events of performance counters",
        memory: false,
        opcodes: &["trap", "brkpt", "nanosleep", "pmevent", "trace"],
    },
    UnmodelledOpcodes {
        what: "changes of the number of registers, and of the stack",
        memory: false,
        opcodes: &["setmaxnreg", "alloca", "stacksave", "stackrestore"],
    },
    UnmodelledOpcodes {
        what: "address conversions",
        memory: false,
        opcodes: &["istypep", "mapa", "getctarank"],
    },
    UnmodelledOpcodes {
        what: "this arithmetic",
        memory: false,
        opcodes: &[
            "cos",
            "ex2",
            "lg2",
            "rsqrt",
            "sin",
            "tanh",
            "vabsdiff",
            "vabsdiff2",
            "vabsdiff4",
            "vadd",
            "vadd2",
            "vadd4",
            "vavrg2",
            "vavrg4",
            "vmad",
            "vmax",
            "vmax2",
            "vmax4",
            "vmin",
            "vmin2",
            "vmin4",
            "vset",
            "vset2",
            "vset4",
            "vshl",
            "vshr",
            "vsub",
            "vsub2",
            "vsub4",
        ],
    },
];

/// Opcodes that become instructions of the model.
pub const MODELLED: &[&str] = &[
    "ld", "ldu", "st", "atom", "red", "fence", "membar", "bar", "barrier", "mov", "add", "sub",
    "mul", "mad", "and", "or", "xor", "not", "shl", "shr", "cvt", "cvta", "isspacep", "setp",
    "selp", "bra", "ret", "exit", "abs", "bfe", "bfi", "bfind", "brev", "clz", "cnot", "div",
    "lop3", "max", "min", "neg", "popc", "prmt", "rem", "sad", "shf", "addc", "bmsk", "copysign",
    "dp2a", "dp4a", "fma", "mad24", "madc", "mul24", "rcp", "set", "slct", "sqrt", "subc", "szext",
    "testp",
];

/// Opcodes without an effect on memory, values or control flow.
pub const WITHOUT_EFFECT: &[&str] = &[
    "nanosleep",
    "pragma",
    "prefetch",
    "prefetchu",
    "applypriority",
    "pmevent",
    "setmaxnreg",
    "trace",
];

/// Opcodes and forms of the peer dialect that PTX does not have.
pub const PEER: &[&str] =
    &["tld", "suld", "sust", "cold", "goto", "beq", "bne", "blt", "ble", "bgt", "bge"];

/// What the model leaves out, if `opcode` is PTX and outside it.
pub fn outside(opcode: &str) -> Option<&'static str> {
    group(opcode).map(|group| group.what)
}

fn group(opcode: &str) -> Option<&'static UnmodelledOpcodes> {
    OUTSIDE.iter().find(|group| group.opcodes.contains(&opcode))
}

/// All opcodes of PTX.
pub fn all() -> impl Iterator<Item = &'static str> {
    let outside = OUTSIDE.iter().flat_map(|group| group.opcodes);
    MODELLED.iter().chain(outside).copied()
}

/// Instructions that have the opcode of another one, and rules of their own.
pub fn has_own_rules(opcode: &str, form: &str) -> bool {
    matches!((opcode, form), ("st" | "red", "async") | ("st", "bulk"))
}

/// Whether an instruction accesses memory or synchronizes threads; `form` is the part after the
/// opcode.
pub fn is_of_memory(opcode: &str, form: &str) -> bool {
    match opcode {
        "ld" | "ldu" | "st" | "atom" | "red" | "fence" | "membar" | "barrier" => true,
        "bar" => form != "warp",
        "wmma" => matches!(form, "load" | "store"),
        _ => group(opcode).is_some_and(|group| group.memory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_is_modelled_or_outside() {
        assert!(MODELLED.iter().all(|opcode| outside(opcode).is_none()));
    }

    #[test]
    fn an_opcode_stands_once() {
        let mut seen = std::collections::BTreeSet::new();
        assert!(all().all(|opcode| seen.insert(opcode)));
    }
}
