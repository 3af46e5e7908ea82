//! Checks instructions by their productions.

use model::isa::TypeKind;
use model::section;
use text::report::ByteSpan;

use super::lint::{Linter, severity};
use super::syntax::{Opaque, Symbol};
use crate::opcode;
use crate::production::{self, FaultPlace, WrittenOperand, WrittenType};
use crate::production_check::{CheckedForm, SaidFault};
use crate::rule::Authority;
use crate::version::{PtxIsa, RuleContext};
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
            FaultPlace::Operand(index) => self.operands.get(index).map_or(self.at, |(at, _)| *at),
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
        let instruction = CheckedForm {
            head: &written.head,
            modifiers: written.modifiers,
            operands: &operands,
            isa: setting.isa,
            target: setting.target,
            only_modifiers: false,
        };
        let nearest = instruction.nearest(productions);
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
                .section(section::of_parts(parts));
            return checked;
        }
        for fault in faults {
            self.fault(&written, &instruction.said(production, &fault), (parts, setting));
        }
        checked
    }

    fn fault(
        &mut self,
        written: &InstructionPlaces<'_>,
        said: &SaidFault,
        (parts, setting): (&[&str], &RuleContext),
    ) {
        let newer = setting.isa > PtxIsa::NEWEST;
        let note = if newer { "it may be legal in this later version of PTX" } else { &said.note };
        self.report
            .error(said.code, written.place(said.place), said.message.clone())
            .severity(if newer { Severity::Warning } else { Severity::Error })
            .note(note)
            .section(section::of_parts(parts))
            .help(said.help.clone());
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
            let elements = |text: &str| {
                let mut of = (None, false, true);
                for name in
                    names.iter().filter(|name| name.at.start >= at.start && name.at.end <= at.end)
                {
                    if let Some(Symbol::Register(ty)) = name.symbol {
                        let same = of.0.is_none_or(|bits| bits == ty.bits);
                        of = (Some(ty.bits), of.1 || ty.kind == TypeKind::Float, of.2 && same);
                    }
                }
                // Sizes that differ fit nothing.
                let bits = if of.2 { of.0 } else { Some(0) };
                text.starts_with('{').then_some(WrittenType::Vector { bits, float: of.1 })
            };
            let declared = names.iter().find(|name| name.at == at).and_then(|name| name.symbol);
            let ty = match declared {
                Some(Symbol::Register(ty)) => WrittenType::Register(ty),
                Some(Symbol::Predicate) => WrittenType::Predicate,
                Some(Symbol::Vector(..) | Symbol::Variable(_) | Symbol::Other) | None => {
                    elements(at.of(text)).unwrap_or(WrittenType::Unknown)
                }
            };
            (at, WrittenOperand { text: at.of(text), ty })
        };
        pieces.into_iter().map(operand).collect()
    }
}
