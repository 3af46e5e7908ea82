//! Checks instructions by their productions.

use model::isa::{Type, TypeKind};
use model::section;
use text::report::ByteSpan;

use super::lint::{Linter, severity};
use super::syntax::{NameUse, Opaque, Symbol};
use crate::operand_kind::{
    RegisterVector, TypedAddress, TypedBase, WrittenOperand, WrittenResult, WrittenType,
};
use crate::production::{self, FaultPlace};
use crate::production_check::{CheckedForm, SaidFault};
use crate::productions;
use crate::registers::common;
use crate::symbols::{is_special, special_bits};
use crate::version::RuleContext;

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
        let Some(head) = productions::find(parts).filter(|head| head.is_more_than_words()) else {
            return false;
        };
        let (productions, length) = (head.productions(), head.parts.len());
        let module = self.module;
        let places = opaque.parts.of(&module.parts);
        let last = places[places.len() - 1];
        let written = InstructionPlaces {
            head_at: places[0].to(places[length - 1]),
            head: head.name(),
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
        let checked = head.memory && head.is_checked();
        let Some((production, faults)) = nearest else { return false };
        if faults.is_empty() {
            for warning in production.warnings(written.modifiers, setting.isa, setting.target) {
                self.report
                    .error(warning.kind.code(), written.at, warning.kind.message(&written.head))
                    .severity(severity(warning.kind.by(), self.options.strict))
                    .note(warning.why)
                    .section(section::of_parts(parts));
            }
        }
        for fault in faults {
            self.fault(&written, &instruction.said(productions, production, &fault), parts);
        }
        checked
    }

    /// All words are known: no later version has allowed another target, value or number of operands for them.
    fn fault(&mut self, written: &InstructionPlaces<'_>, said: &SaidFault, parts: &[&str]) {
        self.report
            .error(said.code, written.place(said.place), said.message.clone())
            .note(said.note.clone())
            .section(section::of_parts(parts))
            .help(said.help.clone());
    }

    /// The operands after the last part of an instruction.
    fn written_operands(
        &self,
        opaque: &Opaque,
        last: ByteSpan,
    ) -> Vec<(ByteSpan, WrittenOperand<'a>)> {
        let text: &'a str = self.text;
        let after = ByteSpan { start: last.end, end: opaque.at.end.max(last.end) };
        let names = opaque.names.of(&self.module.names);
        let pieces = production::split(after.of(text).trim_end_matches(';'));
        let operand = |piece| {
            let at = ByteSpan::within(text, piece).trimmed(text);
            (at, WrittenOperand { text: at.of(text), ty: self.written_type(names, at) })
        };
        pieces.into_iter().map(operand).collect()
    }

    /// What an operand is, by the declarations of its names.
    fn written_type(&self, names: &[NameUse], at: ByteSpan) -> WrittenType {
        let text = at.of(self.text);
        if text.starts_with('[') {
            return WrittenType::Address(self.written_address(names, at));
        }
        if text.starts_with('{') {
            return WrittenType::Vector(self.written_vector(names, at));
        }
        if let Some((left, right)) = text.split_once('|') {
            let result = |piece| {
                let at = ByteSpan::within(self.text, piece).trimmed(self.text);
                match symbol(names, at) {
                    Some(Symbol::Register(ty)) => WrittenResult::Register(ty),
                    Some(Symbol::Predicate) => WrittenResult::Predicate,
                    Some(Symbol::Vector(..) | Symbol::Variable(_) | Symbol::Other) => {
                        WrittenResult::Other
                    }
                    None if is_special_register(at.of(self.text)) => WrittenResult::Other,
                    None => WrittenResult::Unknown,
                }
            };
            return WrittenType::Pair(result(left), result(right));
        }
        let name = text
            .strip_prefix('!')
            .map_or(at, |rest| ByteSpan::within(self.text, rest).trimmed(self.text));
        match symbol(names, name) {
            Some(Symbol::Register(ty)) => WrittenType::Register(ty),
            Some(Symbol::Predicate) => WrittenType::Predicate,
            Some(Symbol::Vector(_, ty)) if text.contains('.') => WrittenType::Register(ty),
            Some(Symbol::Vector(..)) => WrittenType::VectorRegister,
            Some(Symbol::Variable(variable)) => WrittenType::Variable(variable.space),
            None if is_special_register(text) => WrittenType::Special,
            Some(Symbol::Other) | None => WrittenType::Unknown,
        }
    }

    fn written_address(&self, names: &[NameUse], at: ByteSpan) -> TypedAddress {
        let inner = at.of(self.text).trim_start_matches('[').trim_end_matches(']');
        let pieces = production::split(inner);
        let span = |piece| ByteSpan::within(self.text, piece).trimmed(self.text);
        let first = pieces.first().map_or(at, |piece| span(piece));
        let last = pieces.last().map_or(at, |piece| span(piece));
        let after = pieces.get(1).map_or(last, |second| span(second).to(last));
        let text = first.of(self.text);
        let base = match symbol(names, first) {
            _ if text.contains('[') => TypedBase::Other,
            Some(Symbol::Register(ty)) => TypedBase::Register(ty),
            Some(Symbol::Predicate | Symbol::Vector(..)) => TypedBase::Other,
            Some(Symbol::Variable(variable)) => TypedBase::Variable(variable.space),
            None if text == "_" || is_special_register(text) => TypedBase::Other,
            None if crate::constant::value(text).is_some() => TypedBase::Number,
            Some(Symbol::Other) | None => TypedBase::Unknown,
        };
        let wide = self.module.address_bits == Some(64);
        TypedAddress {
            base,
            narrow: wide && matches!(base, TypedBase::Register(ty) if ty.bits < 64),
            offset: text.contains('+'),
            coordinates: self.written_vector(names, last),
            after: self.written_vector(names, after),
            lanes: match symbol(names, last) {
                Some(Symbol::Vector(lanes, _)) => Some(lanes),
                _ => None,
            },
        }
    }

    /// The registers in braces.
    fn written_vector(&self, names: &[NameUse], at: ByteSpan) -> RegisterVector {
        let mut vector = RegisterVector { ty: None, special: false };
        for name in names.iter().filter(|name| name.at.start >= at.start && name.at.end <= at.end) {
            let ty = match name.symbol {
                Some(Symbol::Register(ty) | Symbol::Vector(_, ty)) => ty,
                Some(Symbol::Predicate | Symbol::Variable(_)) => MISFIT,
                None => match special_bits(name.at.of(self.text)) {
                    Some(bits) => {
                        vector.special = true;
                        Type { kind: TypeKind::Bits, bits }
                    }
                    None => continue,
                },
                Some(Symbol::Other) => continue,
            };
            vector.ty = Some(vector.ty.map_or(ty, |one| common(one, ty).unwrap_or(MISFIT)));
        }
        vector
    }
}

/// Registers that do not go together in a vector, or something else.
const MISFIT: Type = Type { kind: TypeKind::Bits, bits: 0 };

/// Whether this is a special register, or one of its elements: `%tid.x`. `WARP_SZ` is a number.
fn is_special_register(text: &str) -> bool {
    text.starts_with('%') && text.split('.').next().is_some_and(is_special)
}

/// The declaration of the name at the begin of this place, of which `V.x` and `s+4` may be more.
fn symbol(names: &[NameUse], at: ByteSpan) -> Option<Symbol> {
    names.iter().find(|name| name.at.start == at.start && name.at.end <= at.end)?.symbol
}
