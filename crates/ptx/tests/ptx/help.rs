//! What a diagnostic says to write instead: where it is an instruction or a directive, it helps.

use proptest::prelude::*;
use text::Diagnostic;

use crate::written::{Setting, codes, said};

/// Whether a help is an instruction, and no sentence about one.
pub(crate) fn is_instruction(help: &str) -> bool {
    let bare = match help.strip_prefix('@') {
        Some(guarded) => guarded.split_once(' ').map_or("", |(_, rest)| rest),
        None => help,
    };
    let name = bare.split(['.', ' ']).next().unwrap_or("");
    ["ld", "ldu", "st", "atom", "red", "fence", "membar"].contains(&name) && !help.contains('…')
}

/// What is said of the module once the help is followed; `None` where it is a sentence.
pub(crate) fn followed(
    instruction: &str,
    setting: &Setting<'_>,
    strict: bool,
    help: &str,
) -> Option<Vec<&'static str>> {
    let codes =
        |instruction: &str, setting: &Setting<'_>| codes(&said(instruction, setting, strict));
    if is_instruction(help) {
        return Some(codes(help, setting));
    }
    if let Some(isa) = help.strip_prefix(".version ") {
        return Some(codes(instruction, &Setting { isa, ..*setting }));
    }
    let target = help.strip_prefix(".target ")?;
    Some(codes(instruction, &Setting { target, ..*setting }))
}

/// The only diagnostic of an instruction: following its help leaves none.
pub(crate) fn cures(
    instruction: &str,
    setting: &Setting<'_>,
    strict: bool,
    said: &Diagnostic,
) -> Result<(), TestCaseError> {
    let Some(help) = &said.help else { return Ok(()) };
    if let Some(after) = followed(instruction, setting, strict, help) {
        prop_assert!(after.is_empty(), "{instruction}: {}: {help}: {after:?}", said.code);
    }
    Ok(())
}
