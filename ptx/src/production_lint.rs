//! Checks instructions by their productions.

use model::section;
use text::cursor::short;
use text::report::ByteSpan;

use super::lint::{Linter, severity};
use super::syntax::{Opaque, Symbol};
use crate::opcode;
use crate::production::{self, Fault, FaultPlace, Production, WrittenOperand, WrittenType};
use crate::production_check::{expected_operands, kind_words, weight};
use crate::rule::Authority;
use crate::version::{PtxIsa, RuleContext, Target};
use text::diagnostic::Severity;

/// An instruction, and where its pieces are.
struct InstructionPlaces<'a> {
    /// Of the parts of the opcode that the table has, joined.
    head: String,
    head_at: ByteSpan,
    modifiers: &'a [&'a str],
    modifier_places: &'a [ByteSpan],
    operands: Vec<(ByteSpan, WrittenOperand<'a>)>,
    at: ByteSpan,
}

impl InstructionPlaces<'_> {
    fn place(&self, place: FaultPlace) -> ByteSpan {
        match place {
            FaultPlace::Head => self.head_at,
            FaultPlace::Modifier(index) => self.modifier_places[index],
            FaultPlace::Operand(index) => self.operand(index),
        }
    }

    fn operand(&self, index: usize) -> ByteSpan {
        self.operands.get(index).map_or(self.at, |(at, _)| *at)
    }

    /// What a gate is about, in the text.
    fn subject(&self, place: FaultPlace) -> String {
        match place {
            FaultPlace::Head => format!("`{}`", self.head),
            FaultPlace::Modifier(index) => format!("`.{}`", short(self.modifiers[index])),
            FaultPlace::Operand(_) => "this operand".to_owned(),
        }
    }
}

impl<'a> Linter<'a, '_> {
    /// An instruction that none of its productions allows, or one that only the document forbids. Whether it is a memory
    /// instruction that was checked.
    pub(super) fn productions(
        &mut self,
        opaque: &Opaque,
        parts: &[&str],
        setting: &RuleContext,
    ) -> bool {
        let Some(length) = production::head(parts) else { return false };
        let head = parts[..length].join(".");
        let Some(productions) = production::of(&head) else { return false };
        let module = self.module;
        let places = opaque.parts.of(&module.parts);
        let last = places[places.len() - 1];
        let written = InstructionPlaces {
            head_at: places[0].to(places[length - 1]),
            head,
            modifiers: &parts[length..],
            modifier_places: &places[length..],
            operands: self.written_operands(opaque, last),
            at: opaque.at,
        };
        let operands: Vec<WrittenOperand<'_>> =
            written.operands.iter().map(|(_, operand)| *operand).collect();
        let all = productions.iter().map(|production| {
            let faults =
                production.faults(written.modifiers, &operands, setting.isa, setting.target);
            (production, faults)
        });
        // The production that is nearest to what is written, the first one of several; one that ptxas takes
        // with a warning only where no other fits.
        let nearest = all.min_by_key(|(production, faults)| {
            faults.iter().map(weight).sum::<usize>() + 2 * usize::from(production.warning.is_some())
        });
        let checked = production::is_checked(parts)
            && opcode::is_of_memory(parts[0], parts.get(1).copied().unwrap_or_default());
        let Some((production, faults)) = nearest else { return false };
        if let (Some(why), true) = (production.warning, faults.is_empty()) {
            self.report
                .error(
                    "production-document",
                    written.at,
                    format!("the document forbids this `{}`", written.head),
                )
                .severity(severity(Authority::Document, self.options.strict))
                .note(why)
                .section(section::of_parts(parts[0], parts.get(1).copied().unwrap_or_default()));
            return checked;
        }
        for fault in faults {
            self.fault(&written, production, &fault, (parts, setting));
        }
        checked
    }

    fn fault(
        &mut self,
        written: &InstructionPlaces<'_>,
        production: &Production,
        fault: &Fault,
        (parts, setting): (&[&str], &RuleContext),
    ) {
        let head = &written.head;
        let (code, at, message, note, help) = match fault {
            Fault::Modifier(index) => {
                let word = written.modifiers[*index];
                let help =
                    format!("it may have {}", listed(production.choices(word, written.modifiers)));
                let message = format!("`{head}` does not take `.{}` here", short(word));
                (
                    "production-modifier",
                    written.modifier_places[*index],
                    message,
                    String::new(),
                    help,
                )
            }
            Fault::Missing(choices) => {
                let message = format!("a modifier is missing in `{head}`");
                let help = format!("write {}", listed(choices.iter().cloned()));
                ("production-missing", written.head_at, message, String::new(), help)
            }
            Fault::Version(place, least) => {
                let message = format!("{} requires PTX ISA {least}", written.subject(*place));
                let note = format!("this is PTX ISA {}", setting.isa);
                (
                    "production-isa",
                    written.place(*place),
                    message,
                    note,
                    format!(".version {least}"),
                )
            }
            Fault::Target(place, targets) => {
                let message = format!("{} requires another target", written.subject(*place));
                let note = setting
                    .target
                    .map_or(String::new(), |target| format!("the target is `{target}`"));
                (
                    "production-target",
                    written.place(*place),
                    message,
                    note,
                    target_help(targets, setting.target),
                )
            }
            Fault::Operand(index, kinds) => {
                let message = format!("operand {} of `{head}` is of another kind", index + 1);
                let help = format!("expected {}", kind_words(kinds));
                ("production-operand", written.operand(*index), message, String::new(), help)
            }
            Fault::Value(index, kinds) => {
                let message =
                    format!("this value of operand {} of `{head}` is out of range", index + 1);
                let help = format!("expected {}", kind_words(kinds));
                ("production-value", written.operand(*index), message, String::new(), help)
            }
            Fault::Count(operands) => {
                let count = written.operands.len();
                let message = format!("`{head}` has other operands in this form");
                let help = expected_operands(operands);
                ("production-operands", written.at, message, format!("{count} here"), help)
            }
            Fault::Coordinates(index, wanted) => {
                let message = "the number of coordinates does not fit the tensor".to_owned();
                let help = format!("write {wanted} in the braces");
                ("production-coordinates", written.operand(*index), message, String::new(), help)
            }
        };
        let newer = setting.isa > PtxIsa::NEWEST;
        let note =
            if newer { "it may be legal in this later version of PTX".to_owned() } else { note };
        self.report
            .error(code, at, message)
            .severity(if newer { Severity::Warning } else { Severity::Error })
            .note(note)
            .section(section::of_parts(parts[0], parts.get(1).copied().unwrap_or_default()))
            .help(help);
    }

    /// The operands behind the last part of an instruction.
    fn written_operands(
        &self,
        opaque: &Opaque,
        last: ByteSpan,
    ) -> Vec<(ByteSpan, WrittenOperand<'a>)> {
        let text: &'a str = self.text;
        let behind = ByteSpan { start: last.end, end: opaque.at.end.max(last.end) };
        let names = opaque.names.of(&self.module.names);
        let pieces = production::split(behind.of(text).trim_end_matches(';'));
        let operand = |piece| {
            let at = ByteSpan::within(text, piece).trimmed(text);
            let declared = names.iter().find(|name| name.at == at).and_then(|name| name.symbol);
            let ty = match declared {
                Some(Symbol::Register(ty)) => WrittenType::Register(ty),
                Some(Symbol::Predicate) => WrittenType::Predicate,
                Some(Symbol::Vector(..) | Symbol::Variable(_) | Symbol::Other) | None => {
                    WrittenType::Unknown
                }
            };
            (at, WrittenOperand { text: at.of(text), ty })
        };
        pieces.into_iter().map(operand).collect()
    }
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
    let word = |one: &str| match one {
        "90a" => "sm_90a".to_owned(),
        "100a" => "sm_100a or another `a` of 100 to 119".to_owned(),
        "100f" => "sm_100f, sm_100a, or another `f` or `a` of 100 to 119".to_owned(),
        "103f" => "sm_100f, sm_100a, or another `f` or `a` of 100 to 109".to_owned(),
        "120f" => "sm_120f, sm_120a, or another `f` or `a` of 120 to 129".to_owned(),
        "pre70" => "a target below sm_70; later ones require `.sync`".to_owned(),
        "later" => "no target that is known".to_owned(),
        number => format!("sm_{number} or higher"),
    };
    let special = target.is_some_and(|target| target.variant.is_some());
    let all: Vec<String> = targets.split('|').map(word).collect();
    let help = format!("targets: {}", all.join("; "));
    if special || targets.chars().all(|c| c.is_ascii_digit()) {
        help
    } else {
        help + " (a letter belongs to the target)"
    }
}
