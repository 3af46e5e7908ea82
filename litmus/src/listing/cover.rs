//! Whether the columns of a test have all that a function does.

use std::fmt::Write as _;

use model::function::{Function, Initial, Language, Refused};

/// Whether a test reads all of the column; else what it does not, and where that is in the file.
pub(super) fn covered(function: &Function) -> Result<(), Refused> {
    let Language::Sass(sm) = function.language else { return Ok(()) };
    let mut column = format!("SASS function\nArch=sm_{sm}\n{{\nwitness=0;\n");
    let variable = |name: &str| function.variables.iter().position(|known| known.name == name);
    for (index, one) in function.variables.iter().enumerate() {
        let bytes = one.bytes.max(1).div_ceil(16);
        writeln!(column, ".{} .b128 v{index}[{bytes}];", one.space.name())
            .expect("strings can be written");
    }
    for (name, value) in &function.initial {
        let value = match value {
            Initial::Parameter(index) if function.parameters[*index].points_to.is_some() => {
                "witness".to_owned()
            }
            Initial::Parameter(_) | Initial::Special(_) => "0".to_owned(),
            Initial::Value(value) => value.to_string(),
            Initial::Address(name) => {
                variable(name).map_or("witness".to_owned(), |index| format!("v{index}"))
            }
        };
        writeln!(column, "P0:{name}={value};").expect("strings can be written");
    }
    column += "}\n P0@cta 0,gpu 0 ;\n";
    let first = column.lines().count() + 1;
    for row in &function.rows {
        writeln!(column, " {} ;", row.cell).expect("strings can be written");
    }
    column += "exists (witness=0)\n";
    let refused = |line: usize, why: String| {
        let row = line.checked_sub(first).and_then(|index| function.rows.get(index));
        Refused { line: row.map_or(function.line, |row| row.line), why }
    };
    let test = crate::parse("", column.as_bytes()).map_err(|all| {
        let one = all.first().expect("what cannot be read says why");
        refused(one.span.line, one.message.clone())
    })?;
    match test.program.unsupported() {
        Some((_, line, why)) => Err(refused(test.line_numbers[0][line], why.to_owned())),
        None => Ok(()),
    }
}
