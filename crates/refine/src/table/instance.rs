//! An instruction of a table's row with operands, and its lowering.

use model::scope::Scope;
use sass::lowering::{Instance, LoweringTable, with_operands};

/// Source, target and architecture, for each architecture to which the instruction applies.
pub(super) fn rows(table: &LoweringTable, one: &Instance) -> Vec<(String, String, String)> {
    let names: Vec<&str> = one.qualifiers.iter().map(String::as_str).collect();
    if table.cxx {
        let Some(text) = table.find(0, &one.opcode, &names) else { return Vec::new() };
        let atomic = if one.opcode == "cmpxchg" { "cas" } else { "exch" };
        return vec![(llvm(&one.opcode, &names), ptx(&text, atomic), "sm_90".to_owned())];
    }
    let targets = table.targets.iter().filter(|&&sm| one.only.is_none_or(|only| only == sm));
    let rows = targets.filter_map(|&sm| {
        let sass = table.find(sm, &one.opcode, &names)?;
        let sass = if sass.is_empty() { "(none)".to_owned() } else { sass };
        Some((with_operands(&one.opcode, &names), sass, format!("sm_{sm}")))
    });
    rows.collect()
}

/// PTX instructions by name, as in a C++ table, completed with the parts that its rows omit.
pub(super) fn ptx(text: &str, atomic: &str) -> String {
    let one = |name: &str| {
        let mut parts: Vec<&str> = name.split('.').collect();
        let opcode = parts.remove(0);
        let typed = parts.iter().any(|part| {
            let digits = part.trim_start_matches(|c: char| c.is_ascii_lowercase());
            part.len() > digits.len() && digits.parse::<u16>().is_ok()
        });
        let fence = matches!(opcode, "fence" | "membar");
        if matches!(opcode, "atom" | "red") && !typed {
            parts.push(atomic);
        }
        if !fence && !typed {
            parts.push("b32");
        }
        with_operands(opcode, &parts)
    };
    let all: Vec<String> =
        text.split(';').map(str::trim).filter(|n| !n.is_empty()).map(one).collect();
    all.join(" ")
}

/// An operation of C++ as LLVM IR.
fn llvm(opcode: &str, names: &[&str]) -> String {
    let scope = names.iter().find(|name| Scope::of_cxx(name).is_some_and(|of| of != Scope::Sys));
    let scope = scope.map_or(String::new(), |scope| format!(" syncscope(\"{scope}\")"));
    let order = names.iter().find(|name| Scope::of_cxx(name).is_none());
    let order = match order {
        Some(&"relaxed") => "monotonic",
        Some(order) => order,
        None => "",
    };
    let atomic = if order.is_empty() { "" } else { " atomic" };
    // For a `cmpxchg`, the two orders joined.
    let failure = match order {
        "seq_cst" => "seq_cst",
        "acquire" | "acq_rel" => "acquire",
        _ => "monotonic",
    };
    match opcode {
        "load" => format!("%r = load{atomic} i32, ptr %p{scope} {order}, align 4"),
        "store" => format!("store{atomic} i32 %v, ptr %p{scope} {order}, align 4"),
        "rmw" => format!("%r = atomicrmw xchg ptr %p, i32 %v{scope} {order}"),
        "cmpxchg" => format!("%r = cmpxchg ptr %p, i32 %c, i32 %v{scope} {order} {failure}"),
        _ => format!("fence{scope} {order}"),
    }
    .replace(" ,", ",")
}
