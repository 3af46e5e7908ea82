//! Instructions that readers of functions write: a name, as PTX or a test in C++ spells it, and operands.

use std::fmt::Write;

use crate::cell::{
    self, Arg, CellOperands, DottedPart, InstructionCell, WrittenAddress, WrittenBase,
};
use text::report::{ByteSpan, Diagnostics};

/// An instruction with its labels and its guard. Without a name, the labels stand alone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WrittenInstruction {
    pub labels: Vec<String>,
    pub guard: Option<WrittenGuard>,
    /// The opcode and its modifiers: `ld.global.u32`.
    pub name: String,
    pub operands: Vec<WrittenArg>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenGuard {
    pub predicate: String,
    pub negated: bool,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WrittenArg {
    /// A register, a variable, a label or `_`.
    Name(String),
    Number(u64),
    /// A number that is shown in hexadecimal: the bits of a float.
    Bits(u64),
    Address(AddressArg),
    Vector(Vec<WrittenArg>),
    /// `!p`
    Negated(String),
    /// `p|q`
    Joined(String, String),
}

/// `[x+4]`, `[x].unified`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AddressArg {
    pub base: WrittenScalar,
    /// In bytes.
    pub offset: i64,
    pub unified: bool,
}

/// A name or a number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WrittenScalar {
    Name(String),
    Number(u64),
}

/// An instruction without labels and guard.
pub fn written(name: impl Into<String>, operands: &[&dyn AsOperand]) -> WrittenInstruction {
    let operands = operands.iter().map(AsOperand::operand).collect();
    WrittenInstruction { name: name.into(), operands, ..WrittenInstruction::default() }
}

impl WrittenInstruction {
    /// A label alone.
    pub fn label(label: impl Into<String>) -> WrittenInstruction {
        WrittenInstruction::default().labelled(label)
    }

    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> WrittenInstruction {
        self.labels.push(label.into());
        self
    }

    #[must_use]
    pub fn guarded(self, guard: Option<&WrittenGuard>) -> WrittenInstruction {
        WrittenInstruction { guard: guard.cloned(), ..self }
    }

    /// The instruction with this predicate as its guard.
    #[must_use]
    pub fn when(self, predicate: impl Into<String>) -> WrittenInstruction {
        let guard = WrittenGuard { predicate: predicate.into(), negated: false };
        WrittenInstruction { guard: Some(guard), ..self }
    }

    /// The instruction as a cell. Positions are those in `text`, to which the cell is added.
    pub fn cell<'w>(
        &'w self,
        text: &'w mut String,
        report: &mut Diagnostics,
    ) -> InstructionCell<'w> {
        let mut labels = Vec::new();
        for label in &self.labels {
            labels.push((label.as_str(), added(text, label)));
            text.push_str(": ");
        }
        let begin = text.len();
        let guard = self.guard.as_ref().map(|WrittenGuard { predicate, negated }| {
            text.push_str(if *negated { "@!" } else { "@" });
            let at = added(text, predicate);
            text.push(' ');
            (predicate.as_str(), at, *negated)
        });
        let mut parts = Vec::new();
        for part in self.name.split('.').filter(|part| !part.is_empty()) {
            if !parts.is_empty() {
                text.push('.');
            }
            parts.push(DottedPart { text: part, at: added(text, part) });
        }
        let mut args = Vec::new();
        for operand in &self.operands {
            text.push_str(if args.is_empty() { " " } else { ", " });
            args.push(operand.added(text, report));
        }
        let at = ByteSpan::new(begin, text.len());
        let operands = CellOperands::Read(args);
        InstructionCell { labels, guard, parts, operands, at, source: text }
    }
}

impl WrittenGuard {
    /// The guard that holds where this one does not.
    #[must_use]
    pub fn inverted(&self) -> WrittenGuard {
        WrittenGuard { negated: !self.negated, ..self.clone() }
    }
}

impl WrittenArg {
    pub fn address(base: impl Into<WrittenScalar>, offset: i64) -> WrittenArg {
        WrittenArg::Address(AddressArg { base: base.into(), offset, unified: false })
    }

    /// The elements of a vector, or the operand itself.
    pub fn elements(&self) -> &[WrittenArg] {
        match self {
            WrittenArg::Vector(elements) => elements,
            WrittenArg::Name(_)
            | WrittenArg::Number(_)
            | WrittenArg::Bits(_)
            | WrittenArg::Address(_)
            | WrittenArg::Negated(_)
            | WrittenArg::Joined(..) => std::slice::from_ref(self),
        }
    }

    /// Whether it stands for a result that is not needed, or for no value.
    pub fn is_sink(&self) -> bool {
        matches!(self, WrittenArg::Name(name) if name == "_")
    }

    /// Adds the operand to a text.
    fn added<'w>(&'w self, text: &mut String, report: &mut Diagnostics) -> Arg<'w> {
        let begin = text.len();
        match self {
            WrittenArg::Name(name) => Arg::Name(name, added(text, name)),
            WrittenArg::Number(value) => Arg::Number(*value, number(text, *value)),
            WrittenArg::Bits(value) => {
                write!(text, "{value:#x}").expect("a string can be written to");
                Arg::Number(*value, ByteSpan::new(begin, text.len()))
            }
            WrittenArg::Address(address) => {
                text.push('[');
                let base = match &address.base {
                    WrittenScalar::Name(name) => WrittenBase::Name(name, added(text, name)),
                    WrittenScalar::Number(value) => {
                        number(text, *value);
                        WrittenBase::Number(*value)
                    }
                };
                let sign = text.len();
                if address.offset != 0 {
                    write!(text, "{:+}", address.offset).expect("a string can be written to");
                }
                let offset = cell::offset(address.offset, ByteSpan::new(sign, text.len()), report);
                text.push(']');
                let at = ByteSpan::new(begin, text.len());
                let unified = address.unified.then(|| added(text, ".unified"));
                let written = WrittenAddress { base, offset, unified, coordinates: None };
                Arg::Address(written, at)
            }
            WrittenArg::Vector(elements) => {
                text.push('{');
                let mut args = Vec::new();
                for element in elements {
                    text.push_str(if args.is_empty() { "" } else { ", " });
                    args.push(element.added(text, report));
                }
                text.push('}');
                Arg::Vector(args, ByteSpan::new(begin, text.len()))
            }
            WrittenArg::Negated(name) => {
                text.push('!');
                let at = added(text, name);
                Arg::Negated(name, ByteSpan::new(begin, begin).to(at))
            }
            WrittenArg::Joined(first, second) => {
                let first = (first.as_str(), added(text, first));
                text.push('|');
                Arg::Joined(first, (second, added(text, second)))
            }
        }
    }
}

/// Adds a word to a text.
fn added(text: &mut String, word: &str) -> ByteSpan {
    let begin = text.len();
    text.push_str(word);
    ByteSpan::new(begin, text.len())
}

/// Adds a number to a text, as [`model::isa::print`] writes it.
fn number(text: &mut String, value: u64) -> ByteSpan {
    let begin = text.len();
    let written = match i64::try_from(value) {
        Ok(value) => write!(text, "{value}"),
        Err(_) => write!(text, "{}", value.cast_signed()),
    };
    written.expect("a string can be written to");
    ByteSpan::new(begin, text.len())
}

/// What is an operand of a written instruction.
pub trait AsOperand {
    fn operand(&self) -> WrittenArg;
}

impl AsOperand for WrittenArg {
    fn operand(&self) -> WrittenArg {
        self.clone()
    }
}

impl AsOperand for WrittenScalar {
    fn operand(&self) -> WrittenArg {
        match self {
            WrittenScalar::Name(name) => WrittenArg::Name(name.clone()),
            WrittenScalar::Number(number) => WrittenArg::Number(*number),
        }
    }
}

impl<T: AsOperand + ?Sized> AsOperand for &T {
    fn operand(&self) -> WrittenArg {
        (**self).operand()
    }
}

impl AsOperand for str {
    fn operand(&self) -> WrittenArg {
        WrittenArg::Name(self.to_owned())
    }
}

impl AsOperand for String {
    fn operand(&self) -> WrittenArg {
        WrittenArg::Name(self.clone())
    }
}

impl AsOperand for u64 {
    fn operand(&self) -> WrittenArg {
        WrittenArg::Number(*self)
    }
}

impl AsOperand for u32 {
    fn operand(&self) -> WrittenArg {
        WrittenArg::Number((*self).into())
    }
}

impl AsOperand for i64 {
    fn operand(&self) -> WrittenArg {
        WrittenArg::Number(self.cast_unsigned())
    }
}

/// The type of a literal.
impl AsOperand for i32 {
    fn operand(&self) -> WrittenArg {
        i64::from(*self).operand()
    }
}

impl From<&str> for WrittenScalar {
    fn from(name: &str) -> WrittenScalar {
        WrittenScalar::Name(name.to_owned())
    }
}

impl From<&String> for WrittenScalar {
    fn from(name: &String) -> WrittenScalar {
        WrittenScalar::Name(name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::cursor::Cursor;
    use text::lex;

    /// All parts of a cell with their positions.
    fn shown(cell: &InstructionCell<'_>) -> String {
        let args = cell.args(None, &mut Diagnostics::default()).expect("its operands are read");
        let text = (cell.text(), cell.name(), cell.operand_text());
        format!("{:?} {:?} {:?} {args:?} {text:?}", cell.labels, cell.guard, cell.parts)
    }

    #[test]
    fn a_written_instruction_is_the_cell_that_its_text_is() {
        let unified =
            WrittenArg::Address(AddressArg { base: "x".into(), offset: 0, unified: true });
        let [before, at, after] = [-4, 0, 8].map(|offset| WrittenArg::address("a", offset));
        let number = WrittenArg::Address(AddressArg {
            base: WrittenScalar::Number(16),
            offset: 4,
            unified: false,
        });
        let vector = WrittenArg::Vector(vec!["r0".operand(), "_".operand(), 7.operand()]);
        let (not, two) = (
            WrittenArg::Negated("p".to_owned()),
            WrittenArg::Joined("p".to_owned(), "q".to_owned()),
        );
        let guard = WrittenGuard { predicate: "p".to_owned(), negated: false };
        let all = [
            written("ld.relaxed.gpu.shared::cta.v4.b32", &[&vector, &before]).when("p"),
            written("st.b32", &[&at, &u64::MAX]).guarded(Some(&guard.inverted())),
            written("cmpxchg.relaxed.acquire.device.u64", &[&"_", &after, &-5, &number]),
            written("ldu.f32", &[&"r", &unified]).labelled("L").labelled("M"),
            written("setp.lt.and.f32", &[&two, &"r", &WrittenArg::Bits(0x3f80_0000), &not]),
            written("ret", &[]),
            WrittenInstruction::label("L"),
        ];
        for instruction in &all {
            let (mut text, mut report) = (String::new(), Diagnostics::default());
            let cell = instruction.cell(&mut text, &mut report);
            let tokens = lex::tokens(cell.source, 0, false, &mut report);
            let end = ByteSpan::new(cell.source.len(), cell.source.len());
            let read = cell::cell(Cursor::new(cell.source, &tokens, end), &mut report);
            let read = read.expect("its text is a cell");
            assert_eq!(shown(&cell), shown(&read));
            assert_eq!(report.count(), 0, "{}", cell.source);
        }
    }
}
