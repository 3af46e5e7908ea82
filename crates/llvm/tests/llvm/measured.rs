//! Instructions that were given to compilers, each in a function of its own: it is read as a line by
//! itself is.

use std::collections::{BTreeMap, BTreeSet};

use llvm::{self, Access, AtomicOrdering, MemoryOp, Operation};

use crate::column;

/// Each text that was given to a compiler, once.
fn snippets() -> BTreeSet<String> {
    measured::rows("llvm-lowering").into_iter().map(|mut row| row.swap_remove(3)).collect()
}

/// The order and scope that a cell of an access or a fence has.
fn strength(
    order: Option<AtomicOrdering>,
    volatile: bool,
    scope: &str,
) -> Option<(String, String)> {
    let named = match scope {
        "block" | "cluster" | "device" => scope,
        _ => "system",
    };
    match order {
        None if volatile => Some(("relaxed".to_owned(), "system".to_owned())),
        None => None,
        Some(AtomicOrdering::Monotonic) => Some(("relaxed".to_owned(), named.to_owned())),
        Some(AtomicOrdering::Unordered) if volatile => {
            Some(("relaxed".to_owned(), named.to_owned()))
        }
        Some(order) => Some((order.name().to_owned(), named.to_owned())),
    }
}

/// A function around the lines, with a parameter for each name that they use.
fn around(text: &str, accesses: &[&Access<'_>]) -> String {
    let mut parameters: BTreeMap<&str, String> = BTreeMap::new();
    for access in accesses {
        parameters.insert(access.pointer, format!("ptr addrspace({})", access.space));
        for value in access.values.iter().filter(|value| value.starts_with('%')) {
            parameters.insert(value, access.ty.to_string());
        }
    }
    let list: Vec<String> = parameters.iter().map(|(name, ty)| format!("{ty} {name}")).collect();
    format!("define void @f({}) {{\n{text}\n  ret void\n}}\n", list.join(", "))
}

fn access<'o, 'a>(operation: &'o Operation<'a>) -> Option<&'o Access<'a>> {
    if let Operation::Access(access) = operation { Some(access) } else { None }
}

fn scope<'a>(operation: &Operation<'a>) -> Option<&'a str> {
    match operation {
        Operation::Access(access) => Some(access.scope),
        Operation::Fence { scope, .. } => Some(scope),
        Operation::Barrier(_) | Operation::Pure | Operation::Unsupported(_) => None,
    }
}

/// The memory operations of a column that a line should become, and whether they are volatile.
fn wanted(operation: &Operation<'_>) -> Vec<(Option<(String, String)>, bool)> {
    match operation {
        Operation::Access(access) => {
            let strength = strength(access.order, access.volatile, access.scope);
            let parts = match access.kind {
                MemoryOp::Load | MemoryOp::Store => access.ty.lanes.unwrap_or(1),
                MemoryOp::Rmw(_) | MemoryOp::CmpXchg { .. } => 1,
            };
            vec![(strength, access.volatile); parts as usize]
        }
        Operation::Fence { order, scope } => vec![(strength(Some(*order), false, scope), false)],
        Operation::Barrier(_) | Operation::Pure | Operation::Unsupported(_) => Vec::new(),
    }
}

#[test]
fn a_line_in_a_function_is_read_as_a_line_by_itself() {
    let snippets = snippets();
    assert!(snippets.len() > 1000, "only {} texts", snippets.len());
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut read = 0;
    for text in &snippets {
        let Ok(lines) = llvm::read("row.ll", text) else {
            let errors = llvm::functions("f.ll", &around(text, &[]));
            assert!(errors.is_err(), "{text}");
            continue;
        };
        let accesses: Vec<&Access<'_>> =
            lines.iter().filter_map(|line| access(&line.operation)).collect();
        let module = around(text, &accesses);
        let function = match llvm::functions("f.ll", &module) {
            Ok(mut functions) => functions.remove(0).1,
            Err(errors) => panic!("{module}{}", errors[0]),
        };
        let function = match function {
            Ok(function) => function,
            Err(refusal) => {
                assert!(
                    (2..module.lines().count()).contains(&refusal.first().line)
                        || refusal.first().line == 1
                );
                *refused.entry(refusal.first().why.clone()).or_default() += 1;
                continue;
            }
        };
        read += 1;
        column::parses(&function);
        let scopes = lines.iter().filter_map(|line| scope(&line.operation));
        if scopes.into_iter().any(|scope| scope == "singlethread")
            || accesses.iter().any(|access| matches!(access.space, 4 | 5))
        {
            continue;
        }
        // A `cmpxchg` in a loop takes the place of an operation that PTX does not have.
        if function.rows.iter().any(|row| !row.labels.is_empty()) {
            continue;
        }
        let wanted: Vec<_> = lines.iter().flat_map(|line| wanted(&line.operation)).collect();
        let opcodes = ["load", "store", "rmw", "cmpxchg", "fence"];
        let found: Vec<_> = function
            .rows
            .iter()
            .filter_map(|row| {
                let name = row.text.split(' ').next()?;
                let parts: Vec<&str> = name.split('.').collect();
                opcodes.contains(&parts[0]).then(|| {
                    let orders =
                        ["unordered", "relaxed", "acquire", "release", "acq_rel", "seq_cst"];
                    let scopes = ["block", "cluster", "device", "system"];
                    let order = parts.iter().find(|part| orders.contains(part));
                    let scope = parts.iter().find(|part| scopes.contains(part));
                    let strength = order.zip(scope);
                    (strength.map(|(o, s)| ((*o).to_owned(), (*s).to_owned())), row.volatile)
                })
            })
            .collect();
        assert_eq!(found, wanted, "{module}{}", column::cells(&function));
    }
    eprintln!("{read} read, {} refused: {refused:#?}", snippets.len() - read);
    assert!(read > 1000, "only {read} were read: {refused:#?}");
}
