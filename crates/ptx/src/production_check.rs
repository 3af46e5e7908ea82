//! What is wrong with an instruction under the productions, in words.

use std::borrow::Cow;

use crate::constant;
use crate::production::{
    self, Fault, FaultPlace, Production, WarningKind, WrittenOperand, WrittenType,
};
use crate::productions::{self, InstructionHead};
use crate::version::{PtxIsa, Target};
use text::cursor::short;

/// A mistake in an instruction of a test, which has no declarations of registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProductionFault {
    pub code: &'static str,
    /// The part of the opcode that it is about; the whole instruction without one.
    pub modifier: Option<usize>,
    pub message: String,
    pub note: String,
    pub help: String,
}

/// Instructions that tests write in short, with some of their registers and with addresses in place of descriptors: their
/// reader checks the operands.
const IN_SHORT: [&str; 5] =
    ["wgmma.mma_async", "tcgen05.mma", "tcgen05.cp", "tcgen05.ld", "tcgen05.st"];

/// The first mistake in an instruction with these parts and operands; `None` if a production has it, or none is known.
pub fn fault(
    parts: &[&str],
    operands: &str,
    isa: PtxIsa,
    target: Option<Target>,
) -> Option<ProductionFault> {
    let known = productions::find(parts)?;
    let (head, length) = (known.name(), known.parts.len());
    let (modifiers, operands) = (&parts[length..], written(operands));
    let only_modifiers = IN_SHORT.contains(&&*head);
    let form =
        CheckedForm { head: &head, modifiers, operands: &operands, isa, target, only_modifiers };
    let (production, faults) = form.nearest(known.productions())?;
    let Some(fault) = faults.first() else {
        // A test is judged by the document: what it deprecates still has its meaning.
        let mut warnings = production.warnings(modifiers, isa, target);
        let warning = warnings.find(|one| one.kind == WarningKind::Document)?;
        return Some(ProductionFault {
            code: warning.kind.code(),
            modifier: None,
            message: warning.kind.message(&head),
            note: warning.why.to_owned(),
            help: String::new(),
        });
    };
    let SaidFault { code, place, message, note, help } =
        form.said(known.productions(), production, fault);
    let modifier = match place {
        FaultPlace::Modifier(index) => Some(length + index),
        FaultPlace::Head | FaultPlace::Operand(_) => None,
    };
    // The version of PTX of a test is in its header.
    let help = if let Fault::Version(_, least) = fault { format!("PTX-ISA={least}") } else { help };
    Some(ProductionFault { code, modifier, message, note, help })
}

/// Whether an instruction with these parts is checked, operands included.
pub fn is_checked(parts: &[&str]) -> bool {
    productions::find(parts).is_some_and(InstructionHead::is_checked)
}

/// What an instruction that a production has requires.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProductionNeeds {
    /// The first version of PTX that has it.
    pub isa: PtxIsa,
    /// For each requested target, what requires another one: `` `wgmma.fence` requires sm_90a ``.
    pub missing: Vec<Option<String>>,
}

/// What an instruction with these parts and operands requires; `None` if no production has it, or none is known.
pub fn needs(parts: &[&str], operands: &str, targets: &[Target]) -> Option<ProductionNeeds> {
    let known = productions::find(parts)?;
    let (modifiers, operands) = (&parts[known.parts.len()..], written(operands));
    let form = CheckedForm {
        head: &known.name(),
        modifiers,
        operands: &operands,
        isa: PtxIsa::NEWEST,
        target: None,
        only_modifiers: false,
    };
    let (production, faults) = form.nearest(known.productions())?;
    if !faults.is_empty() {
        return None;
    }
    let first = PtxIsa::new(1, 0);
    let versions = production.faults(modifiers, &operands, first, None);
    let versions = versions.iter().filter_map(|fault| {
        let Fault::Version(_, least) = fault else { return None };
        Some(*least)
    });
    let missing = targets.iter().map(|target| {
        let faults = production.faults(modifiers, &operands, PtxIsa::NEWEST, Some(*target));
        faults.iter().find_map(|fault| {
            let Fault::Target(place, targets) = fault else { return None };
            Some(format!("{} requires {}", form.subject(*place), production::target_names(targets)))
        })
    });
    Some(ProductionNeeds { isa: versions.max().unwrap_or(first), missing: missing.collect() })
}

/// The operands with a number, one that is allowed there, for each operand of inline assembly that only a number fits. The
/// same text where there is none, or where no production has the instruction.
pub fn with_numbers<'t>(parts: &[&str], text: &'t str) -> Cow<'t, str> {
    const LARGEST: u16 = 256;
    let all = written(text);
    let positions = (0..all.len()).filter(|&at| constant::is_placeholder(all[at].text));
    let Some(known) = productions::find(parts) else { return Cow::Borrowed(text) };
    let fits = |at: usize, instead: &str| {
        let mut operands = all.clone();
        operands[at].text = instead;
        let form = CheckedForm {
            head: &known.name(),
            modifiers: &parts[known.parts.len()..],
            operands: &operands,
            isa: PtxIsa::NEWEST,
            target: None,
            only_modifiers: false,
        };
        form.nearest(known.productions()).is_some_and(|(_, faults)| faults.is_empty())
    };
    let numbers: Vec<(usize, String)> = positions
        .filter(|&at| fits(at, all[at].text) && !fits(at, "register"))
        .filter_map(|at| {
            let mut values = (0..=LARGEST).map(|value| value.to_string());
            Some((at, values.find(|value| fits(at, value))?))
        })
        .collect();
    if numbers.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut operands: Vec<&str> = all.iter().map(|operand| operand.text).collect();
    for (at, number) in &numbers {
        operands[*at] = number;
    }
    Cow::Owned(operands.join(", "))
}

/// The operands of an instruction: the pieces between commas outside of brackets.
pub fn operands(text: &str) -> Vec<&str> {
    production::split(text)
}

/// The operands as they are written, of types that are not known.
fn written(operands: &str) -> Vec<WrittenOperand<'_>> {
    let operands = self::operands(operands).into_iter();
    operands.map(|text| WrittenOperand { text: text.trim(), ty: WrittenType::Unknown }).collect()
}

/// An instruction, and what it is checked for.
pub(crate) struct CheckedForm<'a> {
    pub(crate) head: &'a str,
    /// After the head.
    pub(crate) modifiers: &'a [&'a str],
    pub(crate) operands: &'a [WrittenOperand<'a>],
    pub(crate) isa: PtxIsa,
    pub(crate) target: Option<Target>,
    /// Whether its operands are left out.
    pub(crate) only_modifiers: bool,
}

/// A fault in words. A place after the last operand is the whole instruction.
pub(crate) struct SaidFault {
    pub(crate) code: &'static str,
    pub(crate) place: FaultPlace,
    pub(crate) message: String,
    pub(crate) note: String,
    pub(crate) help: String,
}

impl CheckedForm<'_> {
    /// The production that is nearest to what is written, the first one of several, with its faults; one that ptxas
    /// takes with a warning only where no other fits.
    pub(crate) fn nearest<'p>(
        &self,
        productions: &'p [Production],
    ) -> Option<(&'p Production, Vec<Fault>)> {
        let all = productions.iter().map(|production| {
            let mut faults =
                production.faults(self.modifiers, self.operands, self.isa, self.target);
            if self.only_modifiers {
                faults.retain(|fault| !is_of_operand(fault));
            }
            (production, faults)
        });
        all.min_by_key(|(production, faults)| {
            let distance = faults.iter().map(weight).sum::<usize>();
            let warnings = production.warnings(self.modifiers, self.isa, self.target).count();
            (!faults.is_empty(), distance + 2 * warnings)
        })
    }

    /// A fault of the nearest production in words.
    pub(crate) fn said(
        &self,
        productions: &[Production],
        production: &Production,
        fault: &Fault,
    ) -> SaidFault {
        let head = self.head;
        let unsaid = String::new();
        let (code, place, message, note, help) = match fault {
            Fault::Modifier(index) => {
                let word = self.modifiers[*index];
                let message = format!("`{head}` does not take `.{}` here", short(word));
                let help =
                    format!("it may have {}", listed(production.choices(word, self.modifiers)));
                ("production-modifier", FaultPlace::Modifier(*index), message, unsaid, help)
            }
            Fault::Missing(choices) => {
                let message = format!("a modifier is missing in `{head}`");
                let help = format!("write {}", listed(choices.iter().cloned()));
                ("production-missing", FaultPlace::Head, message, unsaid, help)
            }
            Fault::Version(place, least) => {
                let message = format!("{} requires PTX ISA {least}", self.subject(*place));
                let note = format!("this is PTX ISA {}", self.isa);
                ("production-isa", *place, message, note, format!(".version {least}"))
            }
            Fault::Target(place, targets) => {
                let message = format!("{} requires another target", self.subject(*place));
                let note = self.target.map_or(unsaid, |target| format!("the target is `{target}`"));
                ("production-target", *place, message, note, target_help(targets, self.target))
            }
            Fault::Operand(index, kinds) => {
                let message = format!("operand {} of `{head}` is of another kind", index + 1);
                let help = format!("expected {}", kind_words(kinds));
                ("production-operand", FaultPlace::Operand(*index), message, unsaid, help)
            }
            Fault::Value(index, kinds) => {
                let message =
                    format!("this value of operand {} of `{head}` is out of range", index + 1);
                let help = format!("expected {}", self.values(productions, *index, kinds));
                ("production-value", FaultPlace::Operand(*index), message, unsaid, help)
            }
            Fault::Count(operands) => {
                let count = self.operands.len();
                let message = format!("`{head}` has other operands in this form");
                let note = format!("{count} here");
                let place = FaultPlace::Operand(count);
                ("production-operands", place, message, note, expected_operands(operands))
            }
            Fault::Registers(index, wanted) => {
                let message =
                    format!("the number of registers of operand {} does not fit", index + 1);
                let help = format!("write {wanted} in the braces");
                ("production-registers", FaultPlace::Operand(*index), message, unsaid, help)
            }
            Fault::Coordinates(index, wanted) => {
                let message = "the number of coordinates does not fit the tensor".to_owned();
                let help = format!("write {wanted} in the braces");
                ("production-coordinates", FaultPlace::Operand(*index), message, unsaid, help)
            }
        };
        SaidFault { code, place, message, note, help }
    }

    /// The values that an operand may have, in all productions that nothing else is wrong with.
    fn values(&self, productions: &[Production], index: usize, kinds: &str) -> String {
        let words = kind_words(kinds);
        let Some((kind, values)) = words.split_once(": ") else { return words };
        let mut all = vec![values.to_owned()];
        for production in productions {
            let faults = production.faults(self.modifiers, self.operands, self.isa, self.target);
            let [Fault::Value(of, kinds)] = faults[..] else { continue };
            let words = kind_words(kinds);
            let more = words.split_once(": ").filter(|(other, _)| of == index && *other == kind);
            if let Some((_, more)) = more.filter(|(_, more)| !all.iter().any(|of| of == more)) {
                all.push(more.to_owned());
            }
        }
        format!("{kind}: {}", all.join(", "))
    }

    /// What a gate is about.
    fn subject(&self, place: FaultPlace) -> String {
        match place {
            FaultPlace::Head => format!("`{}`", self.head),
            FaultPlace::Modifier(index) => format!("`.{}`", short(self.modifiers[index])),
            FaultPlace::Operand(_) => "this operand".to_owned(),
        }
    }
}

/// The operands of a production in words.
fn expected_operands(operands: &'static str) -> String {
    if operands.is_empty() {
        return "it takes no operands".to_owned();
    }
    let all: Vec<String> =
        production::operand_texts(operands).into_iter().map(kind_words).collect();
    format!("expected {}", all.join(", "))
}

fn is_of_operand(fault: &Fault) -> bool {
    match fault {
        Fault::Operand(..)
        | Fault::Value(..)
        | Fault::Count(_)
        | Fault::Coordinates(..)
        | Fault::Registers(..) => true,
        Fault::Version(place, _) | Fault::Target(place, _) => {
            matches!(place, FaultPlace::Operand(_))
        }
        Fault::Modifier(_) | Fault::Missing(_) => false,
    }
}

/// How far a fault leads away from a production.
fn weight(fault: &Fault) -> usize {
    match fault {
        Fault::Modifier(_) | Fault::Missing(_) => 4,
        Fault::Count(_) | Fault::Operand(..) => 3,
        Fault::Version(..) | Fault::Target(..) => 2,
        Fault::Value(..) | Fault::Coordinates(..) | Fault::Registers(..) => 1,
    }
}

/// `#32(0,1)` in words.
fn kind_words(kinds: &str) -> String {
    let kinds =
        kinds.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches(',').trim();
    let kinds = kinds.split_once(": ").map_or(kinds, |(_, kind)| kind.trim_end_matches(')'));
    let kinds = kinds.split('@').next().unwrap_or_default();
    let (kinds, values) = kinds.split_once('(').unwrap_or((kinds, ""));
    let words: Vec<String> = kinds.split('/').map(kind_word).collect();
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

/// One kind in words.
fn kind_word(kind: &str) -> String {
    let text = match kind {
        "m" => "an address",
        "mw" => "an address in a register of 32 or 64 bits",
        "ml" => "an address in a register of 64 bits",
        "mp" => "an address in a register of 64 bits, or a variable in global memory",
        "mo" => "an address in local memory",
        "mb" => "an address of tensor memory in a register of type `.b32`",
        "mg" => "an address in global memory",
        "ms" => "an address in shared memory",
        "ma" | "mc" => "an address of tensor memory in a register of 32 bits",
        "t" => "an address with coordinates",
        "h" => "an endpoint in a register of 32 bits and an offset in one of 64, `[e, o]`",
        "hc" => "an endpoint, an offset and the offset of its counter, `[e, o, c]`",
        "o" => "a vector of offsets of 16 bits",
        "v*" => "a vector of registers that fit the type",
        "vl" | "vh" | "vm" => "a vector of registers of 32 bits",
        "v4" => "a vector of four registers of 32 bits",
        "va" => "a vector of four registers of 32 bits that fit the type of the matrix",
        "y" | "yv" => {
            "a register of the size of the type, or a vector of them as `.v2`, `.v4` or `.v8` says"
        }
        "s" => "a predicate or an integer",
        "n" => "a predicate, negated or not",
        "l" => "a label",
        "e" => "a variable with an offset",
        "g" => "the name of a variable in this state space",
        "u32" => "a register of 32 bits",
        "_" => "`_`",
        "p" => "a predicate",
        "q" => "a register of 128 bits",
        "i" => "an integer",
        "d" => "a number of floating point",
        "r" => "a number of floating point above 0 and up to 1",
        "f32" => "a register of 32 bits, of floating point or of bits",
        "a32" | "a64" => {
            return format!(
                "an address in a register of {} bits, or the name of a variable in shared memory",
                &kind[1..]
            );
        }
        "..." => "operands",
        _ if kind.contains('|') => "two results, `a|b`",
        _ => {
            let bits = kind.trim_start_matches(['#', 'w']);
            let or = if kind.starts_with('#') { " or an integer" } else { "" };
            return format!("a register of {bits} bits{or}");
        }
    };
    text.to_owned()
}

/// Some of many, joined.
fn listed(all: impl Iterator<Item = String>) -> String {
    const MOST: usize = 12;
    let all: Vec<String> = all.map(|one| format!("`{one}`")).collect();
    let more = if all.len() > MOST { ", …" } else { "" };
    if all.is_empty() {
        return "no other modifiers".to_owned();
    }
    all.into_iter().take(MOST).collect::<Vec<_>>().join(", ") + more
}

fn target_help(targets: &str, target: Option<Target>) -> String {
    let special = target.is_some_and(|target| target.variant.is_some());
    let help = format!("targets: {}", production::target_names(targets));
    if special || targets.chars().all(|c| c.is_ascii_digit()) {
        help
    } else {
        help + " (a letter belongs to the target)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_stands_in_the_place_of_an_operand_of_inline_assembly() {
        for (name, operands, filled) in [
            ("cp.async.wait_group", "%0", "0"),
            ("cp.async.cg.shared.global", "[%0], [%1], %2", "[%0], [%1], 16"),
            ("cp.async.ca.shared.global", "[%0], [%1], 8, %3", "[%0], [%1], 8, %3"),
            ("setmaxnreg.inc.sync.aligned.u32", "$0", "24"),
            ("mbarrier.init.shared::cta.b64", "[%0], %1", "[%0], %1"),
            ("cp.async.wait_group", "%r0", "%r0"),
            ("mov.u32", "%0, %1", "%0, %1"),
        ] {
            let parts: Vec<&str> = name.split('.').collect();
            assert_eq!(with_numbers(&parts, operands), filled, "{name} {operands}");
        }
    }
}
