//! Types and values of operands. Of constants, addresses and numbers are supported.

use super::lex::{Token, TokenKind};
use super::parse::{LineError, LineResult, Parser};
use super::ty::{ScalarType, Ty, Type};
use text::cursor::short;
use text::report::ByteSpan;

/// An operand without its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value<'a> {
    /// `%x`, without prefix and quotes.
    Local(&'a str),
    /// `@x`, without prefix and quotes.
    Global(&'a str),
    /// A number, or a word such as `true`, `null`, `undef`.
    Literal(&'a str),
    Aggregate(Vec<(Ty, Value<'a>)>),
    /// `getelementptr (T, ptr @x, i64 1)`
    Address {
        source: Ty,
        base: Box<(Ty, Value<'a>)>,
        indices: Vec<(Ty, Value<'a>)>,
    },
    /// `addrspacecast (ptr addrspace(1) @x to ptr)`: its opcode, its operand, and its result type.
    Cast {
        op: &'a str,
        from: Box<(Ty, Value<'a>)>,
        to: Ty,
    },
    /// `add (i32 1, i32 2)`
    Binary {
        op: &'a str,
        operands: Box<((Ty, Value<'a>), (Ty, Value<'a>))>,
    },
    /// `splat (i32 1)`: a vector of equal elements.
    Splat(Box<(Ty, Value<'a>)>),
    /// `c"…"`: an array of bytes, as it is written.
    Text(&'a str),
    /// Another constant expression, by its opcode.
    Other(&'a str),
}

/// Opcodes of constant expressions that convert a value.
const CASTS: &[&str] =
    &["bitcast", "addrspacecast", "inttoptr", "ptrtoint", "trunc", "zext", "sext"];

/// Opcodes of constant expressions with two operands.
const BINARY: &[&str] = &["add", "sub", "mul", "xor", "and", "or", "shl", "lshr", "ashr"];

/// First words of constants whose value is unknown.
const OTHER: &[&str] = &[
    "icmp",
    "fcmp",
    "select",
    "extractelement",
    "insertelement",
    "shufflevector",
    "blockaddress",
    "dso_local_equivalent",
    "no_cfi",
    "ptrauth",
    "asm",
];

/// The maximum nesting depth of types and constants.
const DEEPEST: u32 = 64;

impl<'a> Parser<'a, '_> {
    /// Parses something that is nested one level deeper.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> LineResult<'a, T>,
    ) -> LineResult<'a, T> {
        if self.depth >= DEEPEST {
            let here = self.here();
            self.report.error("llvm-nesting", here, "this is nested too deeply");
            return Err(LineError::Reported);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Parses a type that a value in memory may have.
    pub(super) fn ty(&mut self) -> LineResult<'a, Type> {
        let from = self.here();
        let ty = self.any_type()?;
        ty.loaded().ok_or(LineError::Uncovered(self.since(from)))
    }

    /// The text from this position to the end of the last token read.
    pub(super) fn since(&self, from: ByteSpan) -> &'a str {
        let last = self.next.checked_sub(1).and_then(|last| self.tokens.get(last));
        from.to(last.map_or(from, |token| token.at)).of(self.text)
    }

    /// Parses `ptr addrspace(1) %p`, or `i32 addrspace(1)* %p`, the syntax before LLVM 15.
    pub(super) fn pointer(&mut self) -> LineResult<'a, (u32, &'a str)> {
        let at = self.here();
        if let Ty::Ptr(space) = self.any_type()? {
            return Ok((space, self.value()?));
        }
        let found = short(at.of(self.text));
        self.report
            .error("syntax", at, format!("`{found}` where `ptr` is expected"))
            .help("ptr %p");
        Err(LineError::Reported)
    }

    pub(super) fn any_type(&mut self) -> LineResult<'a, Ty> {
        self.type_up_to(true)
    }

    /// Parses the result type, with which the type of a function begins.
    pub(super) fn result_type(&mut self) -> LineResult<'a, Ty> {
        self.type_up_to(false)
    }

    fn type_up_to(&mut self, functions: bool) -> LineResult<'a, Ty> {
        let mut ty = self.nested(Self::first_type)?;
        loop {
            if self.eat("*") {
                ty = Ty::Ptr(0);
            } else if self.text_at(0) == "addrspace" && !matches!(ty, Ty::Ptr(_)) {
                let space = self.space()?;
                self.expect("*")?;
                ty = Ty::Ptr(space);
            } else if functions && self.text_at(0) == "(" && ty != Ty::Other {
                self.group()?;
                ty = Ty::Other;
            } else {
                return Ok(ty);
            }
        }
    }

    fn first_type(&mut self) -> LineResult<'a, Ty> {
        if self.eat("{") {
            return Ok(Ty::Struct { packed: false, fields: self.fields()? });
        }
        if self.eat("[") {
            let count = self.count("a number of elements")?;
            self.expect("x")?;
            let element = self.any_type()?;
            self.expect("]")?;
            return Ok(Ty::Array(count, Box::new(element)));
        }
        if self.eat("<") {
            if self.eat("{") {
                let fields = self.fields()?;
                self.expect(">")?;
                return Ok(Ty::Struct { packed: true, fields });
            }
            if self.text_at(0) == "vscale" {
                return Err(LineError::Uncovered("vscale"));
            }
            let at = self.here();
            let lanes = self.count("a number of elements")?;
            let Some(lanes) = u32::try_from(lanes).ok().filter(|n| (1..=1024).contains(n)) else {
                self.report.error("llvm-type", at, "a vector has 1 to 1024 elements");
                return Err(LineError::Reported);
            };
            self.expect("x")?;
            let element = self.any_type()?;
            self.expect(">")?;
            return Ok(Ty::Vector(lanes, Box::new(element)));
        }
        if self.text_at(0).starts_with('%') {
            return Ok(Ty::Named(self.name()?.to_owned()));
        }
        let (name, at) = self.word("a type")?;
        if name == "ptr" {
            let space = if self.text_at(0) == "addrspace" { self.space()? } else { 0 };
            return Ok(Ty::Ptr(space));
        }
        if let Some(ty) = Ty::named(name) {
            if name == "target" && self.text_at(0) == "(" {
                self.group()?;
            }
            return Ok(ty);
        }
        self.report.error("llvm-type", at, format!("unknown type `{}`", short(name))).help("i32");
        Err(LineError::Reported)
    }

    /// Whether a type can begin here.
    pub(super) fn at_type(&self) -> bool {
        let text = self.text_at(0);
        matches!(text, "{" | "[" | "<" | "ptr")
            || text.starts_with('%')
            || Ty::named(text).is_some()
    }

    fn fields(&mut self) -> LineResult<'a, Vec<Ty>> {
        let mut fields = Vec::new();
        while !self.eat("}") {
            if !fields.is_empty() {
                self.expect(",")?;
            }
            fields.push(self.any_type()?);
        }
        Ok(fields)
    }

    /// `addrspace(1)`
    pub(super) fn space(&mut self) -> LineResult<'a, u32> {
        self.expect("addrspace")?;
        self.expect("(")?;
        let (number, at) = self.word("the number of an address space")?;
        let Ok(space) = number.parse() else {
            self.report.error("llvm-space", at, "an address space is a number");
            return Err(LineError::Reported);
        };
        self.expect(")")?;
        Ok(space)
    }

    pub(super) fn count(&mut self, what: &str) -> LineResult<'a, u64> {
        let (number, at) = self.word(what)?;
        number.parse().map_err(|_| {
            let message = format!("expected {what}, found `{}`", short(number));
            self.report.error("syntax", at, message);
            LineError::Reported
        })
    }

    /// Parses a name with its prefix: `%x`, `@"a b"`. Returns it without prefix and quotes.
    pub(super) fn name(&mut self) -> LineResult<'a, &'a str> {
        let (word, at) = self.word("a name")?;
        if word.len() > 1 {
            return Ok(&word[1..]);
        }
        match self.tokens.get(self.next) {
            Some(&Token { kind: TokenKind::String, at: quoted }) if quoted.start == at.end => {
                self.next += 1;
                Ok(quoted.of(self.text).trim_matches('"'))
            }
            _ => {
                self.report.error("syntax", at, format!("a name is missing after `{word}`"));
                Err(LineError::Reported)
            }
        }
    }

    /// Skips everything in brackets.
    pub(super) fn group(&mut self) -> LineResult<'a, ()> {
        let mut open = 0_usize;
        loop {
            let token = self.tokens.get(self.next).copied();
            match token.map(|token| (token.kind, token.at.of(self.text))) {
                Some((TokenKind::Sign, "(" | "[" | "{" | "<")) => open += 1,
                Some((TokenKind::Sign, ")" | "]" | "}" | ">")) => open = open.saturating_sub(1),
                Some(_) => {}
                None => {
                    self.expected("a closing bracket");
                    return Err(LineError::Reported);
                }
            }
            self.next += 1;
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// `!5`, `!{…}`, `!DILocation(…)`
    pub(super) fn node(&mut self) -> LineResult<'a, ()> {
        let (_, at) = self.word("a node of metadata")?;
        if matches!(self.text_at(0), "{" | "(") && self.here().start == at.end {
            self.group()?;
        }
        Ok(())
    }

    /// The text of an operand.
    pub(super) fn value(&mut self) -> LineResult<'a, &'a str> {
        let from = self.here();
        self.operand()?;
        Ok(self.since(from))
    }

    pub(super) fn typed(&mut self) -> LineResult<'a, (Ty, Value<'a>)> {
        let ty = self.any_type()?;
        Ok((ty, self.operand()?))
    }

    pub(super) fn operand(&mut self) -> LineResult<'a, Value<'a>> {
        self.nested(Self::one_operand)
    }

    fn one_operand(&mut self) -> LineResult<'a, Value<'a>> {
        let text = self.text_at(0);
        if matches!(text, "{" | "[" | "<") {
            return self.aggregate();
        }
        if text.starts_with('%') {
            return Ok(Value::Local(self.name()?));
        }
        if text.starts_with('@') {
            return Ok(Value::Global(self.name()?));
        }
        let (word, _) = self.word("a value")?;
        if word == "c" && self.text_at(0).starts_with('"') {
            let text = self.text_at(0).trim_matches('"');
            self.next += 1;
            return Ok(Value::Text(text));
        }
        let expression = word == "getelementptr"
            || CASTS.contains(&word)
            || BINARY.contains(&word)
            || OTHER.contains(&word)
            || word == "splat";
        if !expression {
            return Ok(Value::Literal(word));
        }
        while !matches!(self.text_at(0), "(" | "") && !self.text_at(0).starts_with(['@', '%']) {
            self.next += 1;
            if self.text_at(1) == "(" && self.text_at(0) == "inrange" {
                self.next += 1;
                self.group()?;
            }
        }
        if CASTS.contains(&word) {
            self.expect("(")?;
            let from = Box::new(self.typed()?);
            self.expect("to")?;
            let to = self.any_type()?;
            self.expect(")")?;
            return Ok(Value::Cast { op: word, from, to });
        }
        if BINARY.contains(&word) {
            self.expect("(")?;
            let first = self.typed()?;
            self.expect(",")?;
            let operands = Box::new((first, self.typed()?));
            self.expect(")")?;
            return Ok(Value::Binary { op: word, operands });
        }
        if word == "splat" {
            self.expect("(")?;
            let element = Box::new(self.typed()?);
            self.expect(")")?;
            return Ok(Value::Splat(element));
        }
        if word == "getelementptr" {
            self.expect("(")?;
            let source = self.any_type()?;
            self.expect(",")?;
            let base = Box::new(self.typed()?);
            let indices = self.indices(")")?;
            return Ok(Value::Address { source, base, indices });
        }
        match self.text_at(0) {
            "(" => self.group()?,
            "" => {}
            _ => {
                self.name()?;
            }
        }
        Ok(Value::Other(word))
    }

    /// `, i64 0, i32 %n` up to `end`.
    fn indices(&mut self, end: &str) -> LineResult<'a, Vec<(Ty, Value<'a>)>> {
        let mut indices = Vec::new();
        while !self.eat(end) {
            self.expect(",")?;
            self.eat("inrange");
            indices.push(self.typed()?);
        }
        Ok(indices)
    }

    fn aggregate(&mut self) -> LineResult<'a, Value<'a>> {
        let packed = self.text_at(0) == "<" && self.text_at(1) == "{";
        let close = match self.text_at(usize::from(packed)) {
            "{" => "}",
            "[" => "]",
            _ => ">",
        };
        self.next += 1 + usize::from(packed);
        let mut elements = Vec::new();
        while !self.eat(close) {
            if !elements.is_empty() {
                self.expect(",")?;
            }
            elements.push(self.typed()?);
        }
        if packed {
            self.expect(">")?;
        }
        Ok(Value::Aggregate(elements))
    }
}

impl<'a> Value<'a> {
    /// The operands of a constant expression.
    pub(super) fn operands(&self) -> Vec<&Value<'a>> {
        match self {
            Value::Binary { operands, .. } => vec![&operands.0.1, &operands.1.1],
            Value::Splat(element) => vec![&element.1],
            Value::Aggregate(elements) => elements.iter().map(|element| &element.1).collect(),
            Value::Local(_)
            | Value::Global(_)
            | Value::Literal(_)
            | Value::Address { .. }
            | Value::Cast { .. }
            | Value::Text(_)
            | Value::Other(_) => Vec::new(),
        }
    }
}

impl Type {
    /// The same type as the type of any value.
    pub(super) fn any(self) -> Ty {
        let scalar =
            if self.scalar == ScalarType::Ptr { Ty::Ptr(0) } else { Ty::Scalar(self.scalar) };
        match self.lanes {
            Some(lanes) => Ty::Vector(lanes, Box::new(scalar)),
            None => scalar,
        }
    }
}
