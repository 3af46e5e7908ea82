//! What is wrong with an instruction under the productions, where no module says what its operands are.

use crate::production::{self, Fault, FaultPlace, WrittenOperand, WrittenType};
use crate::version::{PtxIsa, Target};

/// A mistake in an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProductionFault {
    pub code: &'static str,
    /// The part of the opcode that it is about; the whole instruction without one.
    pub modifier: Option<usize>,
    pub message: String,
    pub help: String,
}

/// The first mistake in an instruction with these parts and operands; `None` if a production has it, or none is known.
pub fn fault(
    parts: &[&str],
    operands: &str,
    (isa, target): (PtxIsa, Option<Target>),
) -> Option<ProductionFault> {
    let length = production::head(parts)?;
    let head = parts[..length].join(".");
    let operands: Vec<WrittenOperand<'_>> = production::split(operands)
        .into_iter()
        .map(|text| WrittenOperand { text: text.trim(), ty: WrittenType::Unknown })
        .collect();
    let faults = |production: &production::Production| {
        production.faults(&parts[length..], &operands, isa, target)
    };
    let all = production::of(&head)?.iter().map(faults);
    let faults = all.min_by_key(|faults| faults.iter().map(weight).sum::<usize>())?;
    let fault = faults.first()?;
    let modifier = |place: FaultPlace| match place {
        FaultPlace::Modifier(index) => Some(length + index),
        FaultPlace::Head | FaultPlace::Operand(_) => None,
    };
    let of_head = |code, message, help| ProductionFault { code, modifier: None, message, help };
    Some(match fault {
        Fault::Modifier(index) => ProductionFault {
            code: "production-modifier",
            modifier: Some(length + index),
            message: format!("`{head}` does not take `.{}` here", parts[length + index]),
            help: "remove it, or see the instruction's syntax".to_owned(),
        },
        Fault::Missing(choices) => of_head(
            "production-missing",
            format!("a modifier is missing in `{head}`"),
            format!("write `{}`", choices.join("`, `")),
        ),
        Fault::Version(place, least) => ProductionFault {
            modifier: modifier(*place),
            ..of_head(
                "production-isa",
                format!("this form of `{head}` requires PTX ISA {least}"),
                format!("PTX-ISA={least}"),
            )
        },
        Fault::Target(place, _) => ProductionFault {
            modifier: modifier(*place),
            ..of_head(
                "production-target",
                format!("this form of `{head}` requires another target"),
                "Arch=sm_90a".to_owned(),
            )
        },
        Fault::Operand(index, _) => of_head(
            "production-operand",
            format!("operand {} of `{head}` is of another kind", index + 1),
            expected(fault),
        ),
        Fault::Value(index, _) => of_head(
            "production-value",
            format!("this value of operand {} of `{head}` is out of range", index + 1),
            expected(fault),
        ),
        Fault::Count(_) => of_head(
            "production-operands",
            format!("`{head}` has other operands in this form"),
            expected(fault),
        ),
        Fault::Coordinates(_, wanted) => of_head(
            "production-coordinates",
            "the number of coordinates does not fit the tensor".to_owned(),
            format!("write {wanted} in the braces"),
        ),
    })
}

/// What belongs where the fault is.
fn expected(fault: &Fault) -> String {
    match fault {
        Fault::Operand(_, kinds) | Fault::Value(_, kinds) => {
            format!("expected {}", kind_words(kinds))
        }
        Fault::Count(operands) => expected_operands(operands),
        Fault::Modifier(_)
        | Fault::Missing(_)
        | Fault::Version(..)
        | Fault::Target(..)
        | Fault::Coordinates(..) => String::new(),
    }
}

/// The operands of a production in words.
pub(crate) fn expected_operands(operands: &'static str) -> String {
    if operands.is_empty() {
        return "it takes no operands".to_owned();
    }
    let all: Vec<String> =
        production::operand_texts(operands).into_iter().map(kind_words).collect();
    format!("expected {}", all.join(", "))
}

/// How far a fault leads away from a production.
pub(crate) fn weight(fault: &Fault) -> usize {
    match fault {
        Fault::Modifier(_) | Fault::Missing(_) => 4,
        Fault::Count(_) | Fault::Operand(..) => 3,
        Fault::Version(..) | Fault::Target(..) => 2,
        Fault::Value(..) | Fault::Coordinates(..) => 1,
    }
}

/// `#32(0,1)` in words.
pub(crate) fn kind_words(kinds: &str) -> String {
    let kinds =
        kinds.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches(',').trim();
    let kinds = kinds.split_once(": ").map_or(kinds, |(_, kind)| kind.trim_end_matches(')'));
    let kinds = kinds.split('@').next().unwrap_or_default();
    let (kinds, values) = kinds.split_once('(').unwrap_or((kinds, ""));
    let word = |kind: &str| match kind {
        "m" => "an address".to_owned(),
        "t" => "an address with coordinates".to_owned(),
        "v" => "a vector".to_owned(),
        "_" => "`_`".to_owned(),
        "p" => "a predicate".to_owned(),
        "q" => "a register of 128 bits".to_owned(),
        "i" => "an integer".to_owned(),
        "#" => "a register or an integer".to_owned(),
        "#32" | "#64" => format!("a register of {} bits or an integer", &kind[1..]),
        "x" => "an operand".to_owned(),
        "..." => "operands".to_owned(),
        _ if kind.contains('|') => "two results, `a|b`".to_owned(),
        bits => format!("a register of {bits} bits"),
    };
    let words: Vec<String> = kinds.split('/').map(word).collect();
    let values: Vec<String> = values
        .trim_end_matches(')')
        .split(',')
        .filter(|value| !value.is_empty())
        .map(|value| match (value.strip_prefix('*'), value.split_once("..")) {
            (Some(of), _) => format!("a multiple of {of}"),
            (None, Some((first, ""))) => format!("at least {first}"),
            (None, Some((first, last))) => format!("{first} to {last}"),
            (None, None) => value.to_owned(),
        })
        .collect();
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    words.join(" or ") + &values
}
