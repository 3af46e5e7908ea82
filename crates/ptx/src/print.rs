//! Prints instructions in a canonical form: without comments and unnecessary spaces, and with decimal
//! offsets. Qualifiers keep their order.

use std::fmt;

use super::Instruction;
use super::lex::{self, Lexer};
use super::syntax::{self, MemoryInstruction, ModuleSyntax, OperandKind};
use text::report::ByteSpan;

/// A register, a number, a name, an element of an array or `_`, without blanks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintedScalar<'a>(Vec<&'a str>);

/// An operand of a memory instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PrintedOperand<'a> {
    Scalar(PrintedScalar<'a>),
    Vector(Vec<PrintedScalar<'a>>),
    Address {
        /// `None` where the address is a number, which is then the offset.
        base: Option<PrintedScalar<'a>>,
        /// In bytes.
        offset: i64,
        unified: bool,
    },
}

pub(super) fn operands<'a>(
    text: &'a str,
    module: &ModuleSyntax,
    memory: &MemoryInstruction,
) -> Vec<PrintedOperand<'a>> {
    let operands = memory.operands.of(&module.operands).iter();
    operands
        .map(|operand| match operand.kind {
            OperandKind::Scalar(_) | OperandKind::Sum(_) => {
                PrintedOperand::Scalar(scalar(text, operand.at))
            }
            OperandKind::Vector(range) => {
                let elements = range.of(&module.elements).iter();
                PrintedOperand::Vector(elements.map(|element| scalar(text, element.at)).collect())
            }
            // An element of an array: `a[2]`.
            OperandKind::Address(_) if !operand.at.of(text).starts_with('[') => {
                PrintedOperand::Scalar(scalar(text, operand.at))
            }
            OperandKind::Address(address) => PrintedOperand::Address {
                base: (address.base != syntax::Scalar::Number)
                    .then(|| scalar(text, address.base_at)),
                offset: address.offset,
                unified: address.unified.is_some(),
            },
        })
        .collect()
}

/// The tokens of a range, and whether a blank is before each.
fn tokens(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let (mut lexer, mut end) = (Lexer::new(text), 0);
    std::iter::from_fn(move || {
        let token = lexer.next(&mut |_, _| {});
        let blank = token.at.start > end;
        end = token.at.end;
        (token.kind != lex::TokenKind::End).then(|| (blank, token.at.of(text)))
    })
}

fn scalar(text: &str, at: ByteSpan) -> PrintedScalar<'_> {
    PrintedScalar(tokens(at.of(text)).map(|(_, token)| token).collect())
}

impl fmt::Display for PrintedScalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|token| f.write_str(token))
    }
}

impl fmt::Display for PrintedOperand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrintedOperand::Scalar(scalar) => scalar.fmt(f),
            PrintedOperand::Vector(elements) => {
                f.write_str("{")?;
                separated(f, elements)?;
                f.write_str("}")
            }
            PrintedOperand::Address { base, offset, unified } => {
                match (base, offset) {
                    (Some(base), 0) => write!(f, "[{base}]")?,
                    (Some(base), offset) => write!(f, "[{base}+{offset}]")?,
                    // An address has no sign of its own.
                    (None, ..0) => write!(f, "[0+{offset}]")?,
                    (None, offset) => write!(f, "[{offset}]")?,
                }
                f.write_str(if *unified { ".unified" } else { "" })
            }
        }
    }
}

fn separated(f: &mut fmt::Formatter<'_>, list: &[impl fmt::Display]) -> fmt::Result {
    for (index, item) in list.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        item.fmt(f)?;
    }
    Ok(())
}

impl fmt::Display for Instruction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(guard) = self.guard {
            write!(f, "@{}{guard} ", if self.negated { "!" } else { "" })?;
        }
        f.write_str(&self.name)?;
        if !self.operands.is_empty() {
            f.write_str(" ")?;
        }
        separated(f, &self.operands)?;
        // What is not looked into keeps a blank where it had any: it may tell tokens apart.
        tokens(self.rest)
            .try_for_each(|(blank, token)| write!(f, "{}{token}", if blank { " " } else { "" }))
    }
}
