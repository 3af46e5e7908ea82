//! Checks that the columns of a test represent a function completely.

use crate::print::TestText;
use model::function::{EntryValue, Function, Language, Refused};

/// Whether a test reads all of the column; else what it does not, and where that is in the file.
pub(super) fn covered(function: &Function) -> Result<(), Refused> {
    let Language::Sass(sm) = function.language else { return Ok(()) };
    let mut source = TestText::new("SASS", "function");
    source.key("Arch", &format!("sm_{sm}"));
    let variable = |name: &str| function.variables.iter().position(|known| known.name == name);
    source.declare(["witness=0"]);
    source.declare(function.variables.iter().enumerate().map(|(index, one)| {
        let bytes = one.bytes.max(1).div_ceil(16);
        format!(".{} .b128 v{index}[{bytes}]", one.space.name())
    }));
    source.declare(function.initial.iter().map(|(name, value)| {
        let value = match value {
            EntryValue::Parameter(index) if function.parameters[*index].points_to.is_some() => {
                "witness".to_owned()
            }
            EntryValue::Parameter(_) | EntryValue::Special(_) => "0".to_owned(),
            EntryValue::Value(value) => value.to_string(),
            EntryValue::Address(name) => {
                variable(name).map_or("witness".to_owned(), |index| format!("v{index}"))
            }
        };
        format!("P0:{name}={value}")
    }));
    let cells = function.rows.iter().map(|row| row.cell.clone());
    source.columns(&[std::iter::once("P0@cta 0,gpu 0".to_owned()).chain(cells).collect()]);
    source.end("exists (witness=0)");
    let first = source.line_of_row(1);
    let refused = |line: usize, why: String| {
        let row = line.checked_sub(first).and_then(|index| function.rows.get(index));
        Refused { line: row.map_or(function.line, |row| row.line), why }
    };
    let test = crate::parse("", source.to_string().as_bytes()).map_err(|all| {
        let one = all.first().expect("what cannot be read says why");
        refused(one.span.line, one.message.clone())
    })?;
    match test.program.unsupported() {
        Some((_, line, why)) => Err(refused(test.line_numbers[0][line], why.to_owned())),
        None => Ok(()),
    }
}
