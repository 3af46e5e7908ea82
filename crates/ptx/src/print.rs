//! Prints instructions in a canonical form: without comments and unnecessary spaces, and with decimal
//! offsets. Qualifiers keep their order.

use std::fmt;

use super::Instruction;
use super::constant;
use super::lex::{self, Lexer};
use super::syntax::{self, MemoryInstruction, ModuleSyntax, OperandKind};
use text::report::ByteSpan;

/// A register, a number, a name, an element of an array or `_`, without blanks. Of instructions other than memory
/// instructions, also a constant expression and `!p`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintedScalar<'a>(Vec<&'a str>);

/// An operand of an instruction. Those of memory instructions are scalars, vectors and addresses.
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
    /// `p|q`
    Joined([PrintedScalar<'a>; 2]),
    /// The arguments or the results of a call, in parentheses.
    List(Vec<PrintedScalar<'a>>),
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

/// The operands of an instruction that is not a memory instruction; what no other form has is a scalar.
pub(super) fn other_operands(rest: &str, is_call: bool) -> Vec<PrintedOperand<'_>> {
    let tokens: Vec<&str> = tokens(rest).map(|(_, token)| token).collect();
    let all = separate(&tokens).into_iter();
    all.filter(|one| !one.is_empty()).map(|one| other_operand(one, is_call)).collect()
}

/// The tokens between commas outside of brackets.
fn separate<'t, 'a>(tokens: &'t [&'a str]) -> Vec<&'t [&'a str]> {
    let mut depth = 0_usize;
    let between = tokens.split(|token| {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        *token == "," && depth == 0
    });
    between.collect()
}

fn other_operand<'a>(tokens: &[&'a str], is_call: bool) -> PrintedOperand<'a> {
    let list = |inside: &[&'a str]| -> Vec<PrintedScalar<'a>> {
        separate(inside).into_iter().map(|one| PrintedScalar(one.to_vec())).collect()
    };
    let whole = || PrintedOperand::Scalar(PrintedScalar(tokens.to_vec()));
    match tokens {
        ["{", inside @ .., "}"] => PrintedOperand::Vector(list(inside)),
        ["(", ")"] if is_call => PrintedOperand::List(Vec::new()),
        ["(", inside @ .., ")"] if is_call => PrintedOperand::List(list(inside)),
        [first, "|", second] => {
            PrintedOperand::Joined([*first, *second].map(|one| PrintedScalar(vec![one])))
        }
        ["[", inside @ .., "]"] => address(inside, false).unwrap_or_else(whole),
        ["[", inside @ .., "]", ".unified"] => address(inside, true).unwrap_or_else(whole),
        _ => whole(),
    }
}

/// What is in the brackets of an address: a name, a constant, or the sum of the two.
fn address<'a>(inside: &[&'a str], unified: bool) -> Option<PrintedOperand<'a>> {
    let of_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '%');
    let is_name = |word: &str| word.starts_with(of_name);
    let (base, offset) = match inside {
        // With coordinates.
        _ if inside.contains(&",") => return None,
        [base] if is_name(base) => (Some(PrintedScalar(vec![*base])), 0),
        [base, "+", offset @ ..] if is_name(base) => {
            (Some(PrintedScalar(vec![*base])), constant::value(&offset.concat())?)
        }
        all => (None, constant::value(&all.concat())?),
    };
    Some(PrintedOperand::Address { base, offset, unified })
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
            PrintedOperand::Joined([first, second]) => write!(f, "{first}|{second}"),
            PrintedOperand::List(all) => {
                f.write_str("(")?;
                separated(f, all)?;
                f.write_str(")")
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
        if self.memory {
            f.write_str(if self.operands.is_empty() { "" } else { " " })?;
            return separated(f, &self.operands);
        }
        // What is not looked into keeps a blank where it had any: it may tell tokens apart.
        tokens(self.rest)
            .try_for_each(|(blank, token)| write!(f, "{}{token}", if blank { " " } else { "" }))
    }
}
