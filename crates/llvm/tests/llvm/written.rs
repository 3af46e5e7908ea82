//! Columns of a module, as they were recorded.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use lift::function::Function;

use crate::column;

fn described(function: &Function) -> String {
    let mut text = format!("{} at line {}", function.name, function.line);
    if function.kernel {
        text.push_str(", a kernel");
    }
    text.push('\n');
    for parameter in &function.parameters {
        let what = parameter.points_to.map_or("a number", |space| space.name());
        writeln!(text, "  {}: {} bits, {what}", parameter.name, parameter.bits).expect("text");
    }
    for variable in &function.variables {
        let (name, space, bytes) = (&variable.name, variable.space.name(), variable.bytes);
        writeln!(text, "  {name}: {bytes} bytes, {space}").expect("text");
    }
    for (register, initial) in &function.initial {
        writeln!(text, "  {register} = {initial:?}").expect("text");
    }
    for row in &function.rows {
        let volatile = if row.volatile { " (volatile)" } else { "" };
        let read_only = if row.read_only { " (read only)" } else { "" };
        writeln!(text, "{:4}  {}{volatile}{read_only}", row.line, row.cell()).expect("text");
    }
    for word in &function.result {
        writeln!(text, "  returns {}, bits {:#x}", word.register, word.mask).expect("text");
    }
    for note in &function.notes {
        writeln!(text, "  note: {note}").expect("text");
    }
    text
}

/// `UPDATE=1 cargo test` rewrites them; read what changed.
#[test]
fn the_columns_of_a_module_are_as_recorded() {
    recorded(include_str!("functions.ll"), "functions.txt");
    recorded(include_str!("compilers.ll"), "compilers.txt");
}

fn recorded(module: &str, columns: &str) {
    let mut now = String::new();
    for (name, made) in column::read(module) {
        let text = match made {
            Ok(function) => {
                column::parses(&function);
                described(&function)
            }
            Err(refused) => format!(
                "{name} is refused: line {}: {}\n",
                refused.first().line,
                refused.first().why
            ),
        };
        now.push_str(&text);
        now.push('\n');
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/llvm").join(columns);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &now).expect("it can be written");
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(now, before, "UPDATE=1 rewrites {}", path.display());
}

#[test]
fn notes_say_what_was_assumed() {
    let function = column::one(
        "define void @f(ptr %p) {\n  fence syncscope(\"agent\") seq_cst\n  \
         store atomic i32 1, ptr %p syncscope(\"singlethread\") release, align 4\n  ret void\n}\n",
    );
    assert_eq!(column::cells(&function), "fence.seq_cst.system\nstore.u32 [p], 1\n");
    assert_eq!(function.notes.len(), 2, "{:?}", function.notes);
}

#[test]
fn a_pointer_leads_where_it_is_converted_to() {
    let function = column::one(
        "define internal void @f.1(ptr %p) {\n  %s = addrspacecast ptr %p to ptr addrspace(3)\n  \
         store volatile i32 1, ptr addrspace(3) %s\n  ret void\n}\n",
    );
    assert_eq!(function.parameters[0].points_to, Some(model::memory::Space::Shared));
    assert_eq!(function.name, "f_$_1");
    assert!(function.rows[1].volatile, "{:?}", function.rows);
}

#[test]
fn a_local_variable_is_seen_by_nobody() {
    let function = column::one(
        "define i32 @f() {\n  %a = alloca i32\n  store atomic i32 1, ptr %a seq_cst, align 4\n  \
         %b = alloca i32\n  store volatile i32 2, ptr %b\n  %v = load i32, ptr %a\n  ret i32 %v\n}\n",
    );
    assert_eq!(
        column::cells(&function),
        "mov.b32 a, 1\nstore.u32 [b], 2\nmov.b32 v, a\nmov.b32 result, v\n"
    );
    assert!(function.rows.iter().all(|row| !row.volatile));
    assert_eq!(function.variables.len(), 1);
}

#[test]
fn inline_assembly_that_may_be_moved_has_a_note() {
    let of = |how: &str, clobbers: &str| {
        let text = format!(
            "define void @f(ptr %p) {{\n  call void asm {how} \"st.u32 [$0], 1;\", \"l{clobbers}\"(ptr %p)\n  ret void\n}}\n"
        );
        column::one(&text).notes.iter().any(|note| note.starts_with("line 2: this inline assembly"))
    };
    assert!(of("", ""));
    assert!(!of("sideeffect", ""));
    assert!(!of("", ",~{memory}"));
}
