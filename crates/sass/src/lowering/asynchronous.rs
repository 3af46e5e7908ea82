//! Rows of asynchronous operations: their names, and the operands that their code depends on.

use model::isa::Operand;
use model::isa::asynchronous::{Asynchronous, MbarrierOp};
use ptx::version::PtxIsa;

/// Opcodes that only asynchronous operations have. `st` and `red` are such if `async` follows.
pub(super) const OPCODES: [&str; 2] = ["cp", "mbarrier"];

/// Parts of their names that no memory instruction has.
pub(super) const PARTS: [&str; 32] = [
    "arrive",
    "arrive_drop",
    "async",
    "b128",
    "bulk",
    "bulk_group",
    "commit_group",
    "complete_tx",
    "expect_tx",
    "init",
    "inval",
    "L2",
    "mbarrier",
    "mbarrier::complete_tx::bytes",
    "multicast::cluster",
    "noComplete",
    "noftz",
    "noinc",
    "parity",
    "prefetch",
    "read",
    "reduce",
    "relaxed",
    "release",
    "sync_restrict::proxy::async",
    "test_wait",
    "try_wait",
    "wait_all",
    "wait_group",
    "and",
    "or",
    "xor",
];

/// Operands that decide about the code, as rows name them: the bytes of a copy, and operands that are optional.
pub(super) const OPERANDS: [&str; 6] =
    ["(4)", "(8)", "(16)", "(src-size)", "(ignore-src)", "(count)"];

/// Whether a row is of asynchronous operations, by its opcode and the first part after it.
pub(super) fn is_asynchronous(opcode: &str, first: &str) -> bool {
    OPCODES.contains(&opcode) || first == "async"
}

/// The operands of an instruction that a row may name.
pub fn operands_of(of: &Asynchronous) -> Vec<&'static str> {
    if let Asynchronous::Copy(copy) = of
        && !copy.bulk
    {
        let bytes = match copy.bytes {
            Some(Operand::Imm(4)) => Some("(4)"),
            Some(Operand::Imm(8)) => Some("(8)"),
            Some(Operand::Imm(16)) => Some("(16)"),
            Some(Operand::Imm(_) | Operand::Reg(_) | Operand::Address(_)) | None => None,
        };
        let source = copy.source_bytes.map(|_| "(src-size)");
        let ignored = copy.ignores_source.map(|_| "(ignore-src)");
        return bytes.into_iter().chain(source).chain(ignored).collect();
    }
    if let Asynchronous::Mbarrier(mbarrier) = of
        && let MbarrierOp::Arrive { count, expected: None, completes, .. } = mbarrier.op
        && (count != Operand::Imm(1) || !completes)
    {
        return vec!["(count)"];
    }
    Vec::new()
}

/// An instruction that a row is for, with operands that it can have.
pub(super) fn with_operands(opcode: &str, names: &[&str]) -> String {
    let has = |name: &str| names.contains(&name);
    let first = names.first().copied().unwrap_or_default();
    let bytes =
        OPERANDS[..3].iter().find(|note| has(note)).map_or("16", |n| n.trim_matches(['(', ')']));
    let count = if has("(count)") { ", 2" } else { "" };
    let policy = if has("L2::cache_hint") { ", p1" } else { "" };
    let mask = if has("multicast::cluster") { ", m1" } else { "" };
    let object = if has("mbarrier::complete_tx::bytes") { ", [b]" } else { "" };
    let source = if has("(src-size)") {
        ", 4"
    } else if has("(ignore-src)") {
        ", q1"
    } else {
        ""
    };
    let operands = match (opcode, first) {
        (_, "commit_group" | "wait_all") => String::new(),
        ("mbarrier", "init") => " [b], 1".to_owned(),
        ("mbarrier", "inval") => " [b]".to_owned(),
        ("mbarrier", "expect_tx" | "complete_tx") => " [b], 16".to_owned(),
        ("mbarrier", "arrive" | "arrive_drop") if has("expect_tx") => " _, [b], 16".to_owned(),
        ("mbarrier", "arrive" | "arrive_drop") if has("noComplete") => " r1, [b], 2".to_owned(),
        ("mbarrier", "arrive" | "arrive_drop") => format!(" _, [b]{count}"),
        ("mbarrier", _) if has("parity") => " p2, [b], 0".to_owned(),
        ("mbarrier", _) => " p2, [b], s1".to_owned(),
        ("st" | "red", _) => {
            let value = if has("v4") {
                "{s1, s2, s3, s4}"
            } else if has("v2") {
                "{s1, s2}"
            } else {
                "s1"
            };
            format!(" [a], {value}{object}")
        }
        _ if has("commit_group") || has("wait_all") => String::new(),
        _ if has("wait_group") => " 0".to_owned(),
        _ if has("arrive") => " [b]".to_owned(),
        _ if has("prefetch") => " [a], 16".to_owned(),
        _ => format!(" [s], [a], {bytes}{object}{mask}{source}{policy}"),
    };
    let names = names.iter().filter(|name| !name.starts_with('('));
    let name: Vec<&str> = std::iter::once(opcode).chain(names.copied()).collect();
    format!("{}{operands};", name.join("."))
}

/// Whether PTX has such an instruction.
pub(super) fn is_ptx(opcode: &str, names: &[&str]) -> bool {
    let text = with_operands(opcode, names);
    let (name, operands) = text.trim_end_matches(';').split_once(' ').unwrap_or((&text, ""));
    let parts: Vec<&str> = name.trim_end_matches(';').split('.').collect();
    ptx::production_check::fault(&parts, operands, PtxIsa::NEWEST, None).is_none()
}
