//! Parameters that one side reads whole and the other one in parts.

use std::borrow::Cow;
use std::collections::BTreeSet;

use lift::function::{EntryValue, Function, UndefinedValues};

/// A function that reads a parameter as a part of its own size if the other side reads it in parts: LLVM IR has a
/// `half` where PTX has two bytes.
pub(super) fn in_parts<'a>(function: &'a Function, other: &Function) -> Cow<'a, Function> {
    let parts: BTreeSet<usize> = other
        .initial
        .iter()
        .filter_map(|(_, value)| match value {
            EntryValue::Piece { parameter, .. } => Some(*parameter),
            EntryValue::Parameter(_)
            | EntryValue::Value(_)
            | EntryValue::Address(_)
            | EntryValue::Special(_) => None,
        })
        .collect();
    let bits = |parameter: usize| {
        let bits = function.parameters.get(parameter)?.bits;
        (parts.contains(&parameter) && (8..=64).contains(&bits)).then_some(bits)
    };
    let whole = |value: &EntryValue| match value {
        EntryValue::Parameter(parameter) => {
            let parameter = *parameter;
            bits(parameter).map(|bits| EntryValue::Piece { parameter, offset: 0, bits })
        }
        EntryValue::Piece { .. }
        | EntryValue::Value(_)
        | EntryValue::Address(_)
        | EntryValue::Special(_) => None,
    };
    // Both are read from the same parameters.
    if !function.initial.iter().any(|(_, value)| whole(value).is_some()) {
        return Cow::Borrowed(function);
    }
    let mut function = function.clone();
    for (_, value) in &mut function.initial {
        if let Some(part) = whole(value) {
            *value = part;
        }
    }
    function.checked = function.checked.map(|one| Box::new(in_parts(&one, other).into_owned()));
    if let UndefinedValues::LeftOut(Some(zero)) = &mut function.undefined {
        **zero = in_parts(zero, other).into_owned();
    }
    Cow::Owned(function)
}
