//! A function as the one thread of a litmus test.

use std::fmt::Write;

use lift::function::{EntryValue, Function, Functions};
use model::memory::Space;

pub(crate) fn read(text: &str) -> Functions {
    match llvm::functions("t.ll", text) {
        Ok(functions) => functions,
        Err(errors) => panic!("{}", errors.iter().map(ToString::to_string).collect::<String>()),
    }
}

/// The one function of a module.
pub(crate) fn one(text: &str) -> Function {
    let (_, function) = read(text).remove(0);
    function.unwrap_or_else(|refused| panic!("{:?}", refused.first()))
}

/// The cells of a function, a line each.
pub(crate) fn cells(function: &Function) -> String {
    function.rows.iter().map(|row| row.cell() + "\n").collect()
}

fn declared(space: Space) -> &'static str {
    match space {
        Space::Global => ".global",
        Space::Shared => ".shared",
        Space::Const => ".const",
        Space::Local => ".local",
        Space::ParamEntry => ".param::entry",
        Space::ParamFunc => ".param::func",
        Space::Tensor => ".tmem",
    }
}

/// The function as a test, its parameters numbers and arrays of 256 bytes.
pub(crate) fn test(function: &Function) -> String {
    let mut text = "CXX t\n{\n".to_owned();
    for (index, parameter) in function.parameters.iter().enumerate() {
        if let Some(space) = parameter.points_to {
            writeln!(text, "{} .u64 a{index}[32];", declared(space)).expect("it can be written");
        }
    }
    for variable in &function.variables {
        let count = if variable.grows { 32 } else { variable.bytes.div_ceil(8) };
        let space = declared(variable.space);
        writeln!(text, "{space} .u64 {}[{count}];", variable.name).expect("it can be written");
    }
    for (register, initial) in &function.initial {
        let value = match initial {
            EntryValue::Parameter(index) => match function.parameters[*index].points_to {
                Some(_) => format!("a{index}"),
                None => "1".to_owned(),
            },
            EntryValue::Value(value) => value.to_string(),
            EntryValue::Address(variable) => variable.clone(),
            EntryValue::Special(_) | EntryValue::Piece { .. } => "0".to_owned(),
        };
        writeln!(text, "P0:{register}={value};").expect("it can be written");
    }
    text.push_str("}\nP0@cta 0,gpu 0;\n");
    for row in &function.rows {
        writeln!(text, "{};", row.cell()).expect("it can be written");
    }
    match function.result.first() {
        Some(word) => writeln!(text, "exists (P0:{}=0)", word.register),
        None => writeln!(text, "exists (1=1)"),
    }
    .expect("it can be written");
    text
}

/// That a function can be the column of a test.
pub(crate) fn parses(function: &Function) {
    let text = test(function);
    if let Err(errors) = litmus::parse("column.litmus", text.as_bytes()) {
        let errors: String = errors.iter().map(ToString::to_string).collect();
        panic!("{text}\n{errors}");
    }
}
