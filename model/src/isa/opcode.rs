//! The opcodes of PTX that the model has no events for: known, so that they are no typing mistake.

/// Opcodes outside this model, by what they are.
const OUTSIDE: &[(&str, &[&str])] = &[
    (
        "asynchronous operations and mbarriers",
        &["mbarrier", "cp", "wgmma", "tcgen05", "griddepcontrol", "clusterlaunchcontrol", "fabric"],
    ),
    (
        "texture, surface and matrix accesses",
        &[
            "tex",
            "tld4",
            "txq",
            "suld",
            "sust",
            "sured",
            "suq",
            "ldmatrix",
            "stmatrix",
            "movmatrix",
            "wmma",
            "mma",
            "tensormap",
        ],
    ),
    (
        "multimem and read-only accesses, prefetches and cache control",
        &["multimem", "prefetch", "prefetchu", "discard", "applypriority"],
    ),
    ("operations of a warp", &["shfl", "vote", "match", "activemask", "redux", "elect", "fns"]),
    (
        "control flow other than branches, and the stack",
        &[
            "brx",
            "call",
            "trap",
            "brkpt",
            "pmevent",
            "nanosleep",
            "setmaxnreg",
            "alloca",
            "stacksave",
            "stackrestore",
        ],
    ),
    ("address conversions", &["istypep", "mapa", "getctarank"]),
    (
        "this arithmetic",
        &[
            "abs",
            "addc",
            "bfe",
            "bfi",
            "bfind",
            "bmsk",
            "brev",
            "clz",
            "cnot",
            "copysign",
            "cos",
            "div",
            "dp2a",
            "dp4a",
            "ex2",
            "fma",
            "lg2",
            "lop3",
            "mad24",
            "madc",
            "max",
            "min",
            "mul24",
            "neg",
            "popc",
            "prmt",
            "rcp",
            "rem",
            "rsqrt",
            "sad",
            "set",
            "shf",
            "sin",
            "slct",
            "sqrt",
            "subc",
            "szext",
            "tanh",
            "testp",
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
    ),
];

/// Opcodes that become instructions of the model.
pub const MODELLED: &[&str] = &[
    "ld", "ldu", "st", "atom", "red", "fence", "membar", "bar", "barrier", "mov", "add", "sub",
    "mul", "mad", "and", "or", "xor", "not", "shl", "shr", "cvt", "cvta", "isspacep", "setp",
    "selp", "bra", "ret", "exit",
];

/// Opcodes and forms of the peer dialect that PTX does not have.
pub const PEER: &[&str] =
    &["tld", "suld", "sust", "cold", "goto", "beq", "bne", "blt", "ble", "bgt", "bge"];

/// What the model leaves out, if `opcode` is PTX and outside it.
pub fn outside(opcode: &str) -> Option<&'static str> {
    OUTSIDE.iter().find(|(_, opcodes)| opcodes.contains(&opcode)).map(|(what, _)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_is_modelled_or_outside() {
        assert!(MODELLED.iter().all(|opcode| outside(opcode).is_none()));
    }
}
