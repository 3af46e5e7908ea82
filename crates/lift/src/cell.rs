//! Splits one cell of the table into labels, guard, parts of the instruction, and operands.

use model::isa::float;
use ptx::qualifier::Qualifier;

use crate::spacing;
use ptx::is_special;
use text::cursor::{Cursor, short};
use text::lex::{Token, TokenKind};
use text::report::{ByteSpan, Diagnostics};

/// A dot-separated part of an instruction; `shared::cta` is one.
#[derive(Clone, Copy, Debug)]
pub struct DottedPart<'a> {
    pub text: &'a str,
    pub at: ByteSpan,
}

#[derive(Clone)]
pub struct InstructionCell<'a> {
    pub labels: Vec<(&'a str, ByteSpan)>,
    /// The predicate, its position, and whether it is negated.
    pub guard: Option<(&'a str, ByteSpan, bool)>,
    /// Empty if the cell has no instruction.
    pub parts: Vec<DottedPart<'a>>,
    pub operands: CellOperands<'a>,
    /// The position of the instruction with its guard.
    pub at: ByteSpan,
    /// The text that positions are in.
    pub source: &'a str,
}

#[derive(Clone)]
pub enum CellOperands<'a> {
    /// Not read yet: those of a test.
    Tokens {
        /// Of the instruction with its guard.
        all: &'a [Token],
        operands: Cursor<'a>,
    },
    Read(Vec<Arg<'a>>),
}

impl<'a> InstructionCell<'a> {
    /// The guard and the instruction, without comments and unnecessary blanks.
    pub fn text(&self) -> String {
        match &self.operands {
            CellOperands::Tokens { all, .. } => spacing::text(self.source, all, spacing::cell),
            CellOperands::Read(_) => self.at.of(self.source).to_owned(),
        }
    }

    pub fn opcode(&self) -> &'a str {
        self.parts.first().map_or("", |part| part.text)
    }

    /// Whether a qualifier is a type.
    pub fn has_type(&self) -> bool {
        self.parts
            .iter()
            .skip(1)
            .any(|part| matches!(Qualifier::named(part.text), Some(Qualifier::Type(_))))
    }

    /// The tokens of the operands, if they are not read yet.
    fn operand_tokens(&self) -> &'a [Token] {
        match &self.operands {
            CellOperands::Tokens { operands, .. } => operands.rest(),
            CellOperands::Read(_) => &[],
        }
    }

    /// The name of the register that an instruction of a test writes, judged by the opcode and the first token only.
    pub fn defines(&self) -> Option<String> {
        let writes = match self.opcode() {
            "st" | "store" | "red" | "bra" | "goto" | "beq" | "bne" | "blt" | "ble" | "bgt"
            | "bge" | "sust" => false,
            "bar" | "barrier" => self.part(1) == "red",
            _ => true,
        };
        let first = self.operand_tokens().first();
        let first = first.filter(|token| writes && token.kind == TokenKind::Word)?;
        let first = first.at.of(self.source);
        Some(first.strip_prefix('%').unwrap_or(first).to_owned())
    }

    /// A special register among the operands of a test: `%tid.x`, `%clock64`. Functions have registers in their place.
    pub fn special_register(&self) -> Option<&'a str> {
        let (text, tokens) = (self.source, self.operand_tokens());
        let special =
            |token: &Token| token.kind == TokenKind::Word && is_special(token.at.of(text));
        let at = tokens.iter().position(special)?;
        let mut place = tokens[at].at;
        if let [dot, part, ..] = tokens[at + 1..]
            && dot.is(text, ".")
            && dot.at.start == place.end
        {
            place = place.to(part.at);
        }
        Some(place.of(text))
    }

    /// Whether an operand is an address in brackets.
    pub fn has_address(&self) -> bool {
        match &self.operands {
            CellOperands::Tokens { .. } => self.has_sign("["),
            CellOperands::Read(args) => args.iter().any(|arg| matches!(arg, Arg::Address(..))),
        }
    }

    /// Whether an operand is a vector.
    pub fn has_vector(&self) -> bool {
        match &self.operands {
            CellOperands::Tokens { .. } => self.has_sign("{"),
            CellOperands::Read(args) => args.iter().any(|arg| matches!(arg, Arg::Vector(..))),
        }
    }

    fn has_sign(&self, sign: &str) -> bool {
        self.operand_tokens().iter().any(|token| token.is(self.source, sign))
    }

    /// Whether the first operand is two joined names: `p|q`.
    pub fn writes_two(&self) -> bool {
        match &self.operands {
            CellOperands::Tokens { operands, .. } => operands.text_at(1) == "|",
            CellOperands::Read(args) => matches!(args.first(), Some(Arg::Joined(..))),
        }
    }

    pub fn has_operands(&self) -> bool {
        match &self.operands {
            CellOperands::Tokens { operands, .. } => !operands.at_end(),
            CellOperands::Read(args) => !args.is_empty(),
        }
    }

    /// All operands; `None` after an error. A decimal constant, `1.5`, has `float` bits.
    pub fn args(&self, float: Option<u16>, report: &mut Diagnostics) -> Option<Vec<Arg<'a>>> {
        match &self.operands {
            CellOperands::Tokens { operands, .. } => args(*operands, float, report),
            CellOperands::Read(args) => Some(args.clone()),
        }
    }

    /// The position of the opcode and its qualifiers.
    pub fn name_at(&self) -> ByteSpan {
        match (self.parts.first(), self.parts.last()) {
            (Some(first), Some(last)) => first.at.to(last.at),
            _ => self.at,
        }
    }

    /// The part at `index`, or the empty string; the opcode has index 0.
    pub fn part(&self, index: usize) -> &'a str {
        self.parts.get(index).map_or("", |part| part.text)
    }

    /// The position of a part; for an index past the last part, the end of the name.
    pub fn part_at(&self, index: usize) -> ByteSpan {
        self.parts.get(index).map_or(self.name_at().after(), |part| part.at)
    }

    /// The position of all operands; without one, the end of the instruction.
    pub fn operands_at(&self) -> ByteSpan {
        match &self.operands {
            CellOperands::Tokens { operands, .. } => operands.rest_at(),
            CellOperands::Read(args) => {
                args.first().map_or(self.at.after(), |first| first.at().to(self.at.after()))
            }
        }
    }

    pub fn operand_text(&self) -> &'a str {
        self.operands_at().of(self.source)
    }

    /// The opcode and its qualifiers as they are written.
    pub fn name(&self) -> &'a str {
        self.name_at().of(self.source)
    }

    /// The instruction with other parts, for a suggestion.
    pub fn with_parts(&self, parts: &[&str]) -> String {
        let operands = self.operand_text();
        let space = if operands.is_empty() { "" } else { " " };
        let guard = self.guard.map_or(String::new(), |(name, _, negated)| {
            format!("@{}{} ", if negated { "!" } else { "" }, short(name))
        });
        short_line(&format!("{guard}{}{space}{operands}", parts.join(".")))
    }

    /// The instruction with other operands, for a suggestion.
    pub fn with_operands(&self, operands: &str) -> String {
        short_line(&format!("{} {operands}", self.name()))
    }
}

fn short_line(line: &str) -> String {
    const LONG: usize = 200;
    match line.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The largest number of parts. No PTX instruction has more.
const MOST_PARTS: usize = 20;

/// Splits a cell; `None` after an error.
pub fn cell<'a>(mut cursor: Cursor<'a>, report: &mut Diagnostics) -> Option<InstructionCell<'a>> {
    let mut labels = Vec::new();
    while cursor.kind_at(0) == Some(TokenKind::Word) && cursor.text_at(1) == ":" {
        labels.extend(cursor.word());
        cursor.advance();
    }
    let (at, tokens) = (cursor.rest_at(), cursor.rest());
    let mut guard = None;
    if cursor.eat("@").is_some() {
        let negated = cursor.eat("!").is_some();
        let Some((name, name_at)) = cursor.word() else {
            cursor.expected("a predicate", report).help("@p bra L0");
            return None;
        };
        if cursor.is(".") && cursor.adjacent() {
            report.error("guard", name_at, "a predicate is missing after `@`").help("@p bra L0");
            return None;
        }
        guard = Some((name, name_at, negated));
    }
    let mut parts = Vec::new();
    if let Some((text, at)) = cursor.word() {
        parts.push(DottedPart { text, at });
        while cursor.is(".") && cursor.adjacent() {
            let dot = cursor.here();
            cursor.advance();
            if !cursor.adjacent()
                || !matches!(cursor.kind_at(0), Some(TokenKind::Word | TokenKind::Number))
            {
                report
                    .error("syntax", dot, "a qualifier is missing after `.`")
                    .help("write the instruction without spaces between its parts");
                return None;
            }
            let mut part = cursor.here();
            cursor.advance();
            while cursor.is("::") && cursor.adjacent() {
                cursor.advance();
                if !cursor.adjacent()
                    || !matches!(cursor.kind_at(0), Some(TokenKind::Word | TokenKind::Number))
                {
                    cursor.expected("a name after `::`", report);
                    return None;
                }
                part = part.to(cursor.here());
                cursor.advance();
            }
            parts.push(DottedPart { text: part.of(cursor.text), at: part });
            if parts.len() > MOST_PARTS {
                let message = format!("an instruction has at most {MOST_PARTS} parts");
                report.error("syntax", part, message);
                return None;
            }
        }
    } else if !cursor.at_end() || guard.is_some() {
        let bracket = cursor.is("[");
        let draft = cursor.expected("an instruction", report);
        if bracket {
            draft
                .note("an earlier `;` ends the row, and each cell begins with an opcode")
                .help("write one instruction in each cell, and `;` after the last cell of a row");
        }
        return None;
    }
    let operands = CellOperands::Tokens { all: tokens, operands: cursor };
    Some(InstructionCell { labels, guard, parts, operands, at, source: cursor.text })
}

/// An operand as written.
#[derive(Clone, Debug)]
pub enum Arg<'a> {
    Name(&'a str, ByteSpan),
    Number(u64, ByteSpan),
    /// `[x+4]`, `[x].unified`.
    Address(WrittenAddress<'a>, ByteSpan),
    /// `{r0, _}`.
    Vector(Vec<Arg<'a>>, ByteSpan),
    /// `!p`.
    Negated(&'a str, ByteSpan),
    /// `p|q`.
    Joined((&'a str, ByteSpan), (&'a str, ByteSpan)),
}

impl<'a> Arg<'a> {
    /// The elements of a vector, or the operand itself.
    pub fn elements(&self) -> &[Arg<'a>] {
        match self {
            Arg::Vector(elements, _) => elements,
            Arg::Name(..)
            | Arg::Number(..)
            | Arg::Address(..)
            | Arg::Negated(..)
            | Arg::Joined(..) => std::slice::from_ref(self),
        }
    }
}

/// The content of the brackets of an address.
#[derive(Clone, Copy, Debug)]
pub struct WrittenAddress<'a> {
    pub base: WrittenBase<'a>,
    pub offset: i64,
    /// The position of the suffix `.unified`.
    pub unified: Option<ByteSpan>,
    /// The position of the coordinates in a tensor: `[t, {r0, r1}]`.
    pub coordinates: Option<ByteSpan>,
}

#[derive(Clone, Copy, Debug)]
pub enum WrittenBase<'a> {
    Name(&'a str, ByteSpan),
    Number(u64),
}

impl Arg<'_> {
    pub fn at(&self) -> ByteSpan {
        match self {
            Arg::Name(_, at)
            | Arg::Number(_, at)
            | Arg::Address(_, at)
            | Arg::Vector(_, at)
            | Arg::Negated(_, at) => *at,
            Arg::Joined((_, first), (_, second)) => first.to(*second),
        }
    }
}

fn args<'a>(
    mut cursor: Cursor<'a>,
    float: Option<u16>,
    report: &mut Diagnostics,
) -> Option<Vec<Arg<'a>>> {
    let mut args = Vec::new();
    if cursor.at_end() {
        return Some(args);
    }
    loop {
        args.push(match decimal_end(cursor) {
            Some((at, after)) => {
                let text = at.of(cursor.text);
                cursor = after;
                decimal(text, at, float, report)?
            }
            None => arg(&mut cursor, report)?,
        });
        if let (Some(Arg::Name(first, at)), true) = (args.last(), cursor.is("|")) {
            let first = (*first, *at);
            cursor.advance();
            let Some(second) = cursor.word() else {
                cursor.expected("a name", report);
                return None;
            };
            args.pop();
            args.push(Arg::Joined(first, second));
        }
        if cursor.at_end() {
            return Some(args);
        }
        if cursor.eat(",").is_none() {
            cursor.expected("`,` or the end of the cell", report);
            return None;
        }
    }
}

/// Where `1.5` or `-0.25` ends, if one begins here.
fn decimal_end<'a>(mut cursor: Cursor<'a>) -> Option<(ByteSpan, Cursor<'a>)> {
    let start = cursor.here();
    cursor.eat("-");
    let number = |cursor: &mut Cursor<'a>| {
        let is = cursor.kind_at(0) == Some(TokenKind::Number);
        is.then(|| cursor.advance().map(|token| token.at)).flatten()
    };
    number(&mut cursor)?;
    if !cursor.is(".") || !cursor.adjacent() {
        return None;
    }
    let mut at = start.to(cursor.here());
    cursor.advance();
    if cursor.adjacent() {
        at = number(&mut cursor).map_or(at, |part| start.to(part));
    }
    Some((at, cursor))
}

/// A decimal constant of this many bits.
fn decimal<'a>(
    text: &'a str,
    at: ByteSpan,
    float: Option<u16>,
    report: &mut Diagnostics,
) -> Option<Arg<'a>> {
    let Ok(value) = text.parse::<f64>() else {
        report.error("number", at, format!("`{text}`: invalid number"));
        return None;
    };
    // Rounded to the nearest, as ptxas does.
    let Some(bits) = float.and_then(|bits| float::bits_of(bits.into(), value)) else {
        report
            .error("number", at, format!("`{text}` is not a constant of this type"))
            .note("decimal constants are for `.f32` and `.f64`");
        return None;
    };
    Some(Arg::Number(bits, at))
}

/// An offset of an address. One of more bits is reported and taken as 0.
pub(crate) fn offset(offset: i64, at: ByteSpan, report: &mut Diagnostics) -> i64 {
    if i32::try_from(offset).is_ok() {
        return offset;
    }
    report
        .error("offset", at, "an offset has 32 bits")
        .help("add it to a register with the address: add.u64 a, a, 0x100000000");
    0
}

fn arg<'a>(cursor: &mut Cursor<'a>, report: &mut Diagnostics) -> Option<Arg<'a>> {
    let open = cursor.here();
    if cursor.eat("[").is_some() {
        return address(cursor, open, report);
    }
    if cursor.eat("{").is_some() {
        let mut elements = Vec::new();
        loop {
            elements.push(scalar(cursor, report)?);
            let at = open.to(cursor.here());
            if cursor.eat("}").is_some() {
                return Some(Arg::Vector(elements, at));
            }
            if cursor.eat(",").is_none() {
                cursor.expected("`,` or `}`", report);
                return None;
            }
        }
    }
    scalar(cursor, report)
}

fn scalar<'a>(cursor: &mut Cursor<'a>, report: &mut Diagnostics) -> Option<Arg<'a>> {
    if let Some((value, at)) = cursor.number(report) {
        return Some(Arg::Number(value, at));
    }
    let open = cursor.here();
    let negated = cursor.eat("!").is_some();
    match cursor.word() {
        Some((name, at)) if negated => Some(Arg::Negated(name, open.to(at))),
        Some((name, at)) => Some(Arg::Name(name, at)),
        None => {
            cursor.expected("an operand", report);
            None
        }
    }
}

/// Reads the part after `[`: a name or number, optionally followed by `+4`, `-4` or `+-4`.
fn address<'a>(
    cursor: &mut Cursor<'a>,
    open: ByteSpan,
    report: &mut Diagnostics,
) -> Option<Arg<'a>> {
    let base = if let Some((name, at)) = cursor.word() {
        WrittenBase::Name(name, at)
    } else if let Some((value, _)) = cursor.number(report) {
        WrittenBase::Number(value)
    } else {
        cursor.expected("a variable or a register", report);
        return None;
    };
    let mut offset = 0;
    if cursor.eat("+").is_some() || cursor.is("-") {
        let at = cursor.here();
        let Some((value, _)) = cursor.number(report) else {
            cursor.expected("a number of bytes", report).help("[x+4]");
            return None;
        };
        offset = self::offset(value.cast_signed(), at, report);
    }
    let mut coordinates = None;
    if cursor.is(",") && cursor.text_at(1) == "{" {
        cursor.advance();
        coordinates = Some(arg(cursor, report)?.at());
    }
    let at = open.to(cursor.here());
    if cursor.eat("]").is_none() {
        cursor.expected("`]`", report);
        return None;
    }
    let dot = cursor.here();
    let unified = if cursor.is(".") && cursor.text_at(1) == "unified" {
        cursor.advance();
        cursor.word().map(|(_, word)| dot.to(word))
    } else {
        None
    };
    Some(Arg::Address(WrittenAddress { base, offset, unified, coordinates }, at))
}
