//! Labels and instructions.

use crate::shape::Opcode;

use super::constant::Constant;
use super::lex;
use super::parse::{Lost, ParseResult, Parser};
use super::productions::{self, InstructionHead};
use super::special::{self, SpecialFault};
use super::symbols::{is_special, special_need};
use super::syntax::{
    AddressOperand, Element, Guard, MemoryInstruction, NameUse, Opaque, Operand, OperandKind,
    Range, Scalar, Statement, Symbol,
};
use crate::version::PtxIsa;
use text::cursor::short;
use text::diagnostic::Severity;
use text::report::{ByteSpan, FixBuilder};

impl Parser<'_, '_> {
    pub(super) fn statement(&mut self) -> ParseResult<Statement> {
        let start = self.token.at;
        let guard = self.guard()?;
        if self.token.kind != lex::TokenKind::Word {
            return Err(self.expected("an instruction"));
        }
        let opcode = self.bump().at;
        if guard.is_none() && self.is(":") {
            self.bump();
            return Ok(Statement::Label(opcode));
        }
        let first = self.module.parts.len();
        self.module.parts.push(opcode);
        while self.token.kind == lex::TokenKind::Dotted {
            let ByteSpan { start, end } = self.bump().at;
            self.module.parts.push(ByteSpan { start: start + 1, end });
        }
        let parts = Range::new(first, self.module.parts.len());
        let text = self.text();
        let part =
            |index: usize| parts.of(&self.module.parts).get(index).map_or("", |part| part.of(text));
        let own = crate::opcode::has_own_rules(part(0), part(1));
        let memory = Opcode::named(part(0)).filter(|_| !own);
        let Some(opcode) = memory else {
            if self.excerpt {
                return Ok(self.unread(start, guard, parts));
            }
            if self.alone {
                return Err(self.no_memory_instruction(parts));
            }
            let names = self.names(parts)?;
            return Ok(Statement::Opaque(Opaque {
                at: start.to(self.last_of(start)),
                guard,
                parts,
                names,
            }));
        };
        if let Some(&part) = parts.of(&self.module.parts).get(MOST_PARTS) {
            let message = format!("an instruction has fewer than {MOST_PARTS} qualifiers");
            self.report.error("qualifier", part, message);
            return Err(Lost);
        }
        if let Some(guard) = guard {
            self.predicate(guard);
        }
        let operands = self.operands()?;
        let at = start.to(self.last);
        self.semicolon()?;
        Ok(Statement::Memory(MemoryInstruction { opcode, at, guard, parts, operands }))
    }

    /// An instruction of which only the opcode is wanted.
    fn unread(&mut self, start: ByteSpan, guard: Option<Guard>, parts: Range) -> Statement {
        let mut at = start.to(self.last);
        while !self.at_end() && !self.is(";") {
            at = at.to(self.bump().at);
        }
        self.eat(";");
        let names = Range::new(self.module.names.len(), self.module.names.len());
        Statement::Opaque(Opaque { at, guard, parts, names })
    }

    /// An instruction by itself that is not one of those whose rules are known.
    #[cold]
    fn no_memory_instruction(&mut self, parts: Range) -> Lost {
        let parts = parts.of(&self.module.parts);
        let (first, last) = (parts[0], parts[parts.len() - 1]);
        let name = first.of(self.text());
        let known = crate::opcode::is_known(name);
        let near = self.report.nearest(name, crate::opcode::all()).filter(|_| !known);
        // PTX has no opcode in capital letters, and SASS no other.
        let machine = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        let help = near.filter(|_| !machine).map_or_else(
            || {
                if machine {
                    return "it is a SASS instruction: use `causeway sass explain`".to_owned();
                }
                format!(
                    "{} are",
                    Opcode::ALL.map(|opcode| format!("`{}`", opcode.name())).join(", ")
                )
            },
            |near| format!("did you mean `{near}`?"),
        );
        let name = short(first.to(last).of(self.text()));
        if !known {
            self.report
                .error(
                    "opcode",
                    first,
                    format!("PTX has no instruction `{}`", short(first.of(self.text()))),
                )
                .section(model::section::INSTRUCTIONS)
                .help(help);
            return Lost;
        }
        self.report
            .error("opcode", first.to(last), format!("`{name}` is not a known memory instruction"))
            .help(help);
        Lost
    }

    /// The end of the statement, whose `;` was taken.
    fn last_of(&self, start: ByteSpan) -> ByteSpan {
        if self.last.start > start.start {
            ByteSpan { start: start.start, end: self.last.start }
        } else {
            start
        }
    }

    fn guard(&mut self) -> ParseResult<Option<Guard>> {
        if !self.is("@") {
            return Ok(None);
        }
        let open = self.bump().at;
        let negated = self.eat("!");
        if self.token.kind != lex::TokenKind::Word {
            return Err(self.expected("a predicate"));
        }
        let name = self.bump().at;
        Ok(Some(Guard { at: open.to(name), name, negated }))
    }

    /// The guard of a memory instruction is a predicate.
    fn predicate(&mut self, guard: Guard) {
        let name = guard.name.of(self.text());
        if self.alone {
            return;
        }
        match self.symbols.find(name) {
            Some(Symbol::Predicate) => {}
            None => self.undeclared(name, guard.name, "pred"),
            Some(_) => {
                self.report
                    .error("guard", guard.name, format!("`{}` is not a predicate", short(name)))
                    .note("a guard is a register declared `.pred`")
                    .section(model::section::PREDICATED_EXECUTION)
                    .help("set a predicate with `setp` first");
                self.module.undeclared += 1;
            }
        }
    }

    fn semicolon(&mut self) -> ParseResult<()> {
        if self.eat(";") {
            return Ok(());
        }
        if self.alone && self.at_end() {
            return Ok(());
        }
        let after = self.last.after();
        // The next statement begins on a line of its own: only the sign is missing.
        let next_line =
            self.text()[after.start as usize..self.token.at.start as usize].contains('\n');
        if self.at_end() || self.is("}") || next_line {
            self.report
                .error("semicolon", after, "`;` is missing")
                .help("write `;` after the instruction")
                .fix_if(Some(FixBuilder::one(true, after, ";")));
            return Ok(());
        }
        Err(self.expected("`,` or `;`"))
    }

    /// The operands of a memory instruction, up to the `;`.
    fn operands(&mut self) -> ParseResult<Range> {
        let first = self.module.operands.len();
        if !self.is(";") && !self.at_end() && !self.is("}") {
            loop {
                let source = self.module.operands.len() > first;
                let operand = self.operand(source)?;
                if self.module.operands.len() - first == MOST {
                    let message = format!("an instruction has {MOST} operands at most");
                    self.report.error("operands", operand.at, message);
                    return Err(Lost);
                }
                self.module.operands.push(operand);
                if self.eat(",") {
                    continue;
                }
                // `{…}. [a]`
                if self.is(".") {
                    return Err(self.comma());
                }
                break;
            }
        }
        Ok(Range::new(first, self.module.operands.len()))
    }

    /// A point where a comma is meant.
    fn comma(&mut self) -> Lost {
        self.report
            .error("syntax", self.token.at, "expected `,`, found `.`")
            .note("this is a period")
            .help("separate operands and elements with `,`");
        Lost
    }

    /// What is not a source is a destination or an address.
    fn operand(&mut self, source: bool) -> ParseResult<Operand> {
        let open = self.token.at;
        if self.eat("[") {
            return self.address(open);
        }
        if self.eat("{") {
            let vector = self.vector(open);
            if vector.is_err() {
                // The rest of it, so that its brace closes no block.
                while !self.at_end() && !self.is(";") && !self.eat("}") {
                    self.bump();
                }
            }
            return vector;
        }
        let (value, at) = self.scalar()?;
        let named = matches!(value, Scalar::Symbol(_) | Scalar::Foreign | Scalar::Unknown);
        if named && self.is("[") {
            return self.indexed(value, at);
        }
        // `%r1+4`: ptxas adds a number to a source, and the document does not speak of it.
        if named && source && self.is("+") {
            self.bump();
            if !self.starts_constant() {
                return Err(self.expected("a number"));
            }
            self.constant()?;
            return Ok(Operand { at: at.to(self.last), kind: OperandKind::Sum(value) });
        }
        Ok(Operand { at, kind: OperandKind::Scalar(value) })
    }

    /// `a[2]`, `a[%r1]`: an element of an array (`#arrays-as-operands`).
    fn indexed(&mut self, base: Scalar, base_at: ByteSpan) -> ParseResult<Operand> {
        self.bump();
        if self.starts_constant() {
            self.constant()?;
        } else if self.token.kind == lex::TokenKind::Word {
            self.name();
        } else {
            return Err(self.expected("an index"));
        }
        if !self.eat("]") {
            return Err(self.expected("`]`"));
        }
        // Which element it is decides no rule: they are aligned as the first one is.
        let address = AddressOperand { base, base_at, offset: 0, unified: None };
        Ok(Operand { at: base_at.to(self.last), kind: OperandKind::Address(address) })
    }

    /// What follows `{`.
    fn vector(&mut self, open: ByteSpan) -> ParseResult<Operand> {
        let first = self.module.elements.len();
        let mut count = 0;
        loop {
            let (value, at) = self.scalar()?;
            if count < WIDEST {
                self.module.elements.push(Element { at, value });
            } else if count == WIDEST {
                self.report.error("vector", at, format!("a vector has {WIDEST} elements at most"));
            }
            count += 1;
            if self.eat("}") {
                break;
            }
            if self.is(".") {
                return Err(self.comma());
            }
            if !self.eat(",") {
                return Err(self.expected("`,` or `}`"));
            }
        }
        let range = Range::new(first, self.module.elements.len());
        Ok(Operand { at: open.to(self.last), kind: OperandKind::Vector(range) })
    }

    fn scalar(&mut self) -> ParseResult<(Scalar, ByteSpan)> {
        let start = self.token.at;
        if self.starts_constant() {
            let value = match self.constant()? {
                Constant::Integer(_) => Scalar::Number,
                Constant::Float => Scalar::Float,
            };
            return Ok((value, start.to(self.last)));
        }
        if self.token.kind != lex::TokenKind::Word {
            return Err(self.expected("an operand"));
        }
        self.hyphen()?;
        let value = self.name();
        Ok((value, start.to(self.last)))
    }

    /// `cache-policy`, as the syntax lines of the document have it, is not a name.
    fn hyphen(&mut self) -> ParseResult<()> {
        let rest = &self.text()[self.token.at.end as usize..];
        let rest = rest.strip_prefix('-').filter(|rest| rest.starts_with(char::is_alphabetic));
        let Some(rest) = rest else { return Ok(()) };
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !letter(c)).unwrap_or(rest.len());
        let second = &rest[..length];
        let name = format!("{}_{}", short(self.word()), short(second));
        let end = ByteSpan::new(0, self.token.at.end as usize + 1 + length);
        self.report
            .error("syntax", self.token.at.to(end), "a name cannot contain `-`")
            .note("a name consists of letters, digits, `_`, `$` and `%`")
            .help(name);
        Err(Lost)
    }

    /// A name, with the component that follows it, looked up.
    fn name(&mut self) -> Scalar {
        let at = self.bump().at;
        let name = at.of(self.text());
        let component = self.token.kind == lex::TokenKind::Dotted
            && self.adjacent()
            && matches!(self.word(), ".x" | ".y" | ".z" | ".w" | ".r" | ".g" | ".b" | ".a");
        if component {
            self.bump();
        }
        if name == "_" {
            return Scalar::Sink;
        }
        match self.symbols.find(name) {
            Some(Symbol::Vector(_, ty)) if component => Scalar::Symbol(Symbol::Register(ty)),
            Some(symbol) => Scalar::Symbol(symbol),
            None if is_special(name) => Scalar::Special,
            None if self.alone => Scalar::Foreign,
            None => {
                self.undeclared(name, at, "b64");
                Scalar::Unknown
            }
        }
    }

    #[cold]
    fn undeclared(&mut self, name: &str, at: ByteSpan, ty: &str) {
        self.module.undeclared += 1;
        let worth = self.report.is_worth(self.symbols.count());
        let near = worth.then(|| self.report.nearest(name, self.symbols.all())).flatten();
        // A later version may have another special register of this name.
        let newer = self.module.isa.is_some_and(|(isa, _)| isa > PtxIsa::NEWEST)
            && name.starts_with('%')
            && near.is_none();
        let help = near.map_or_else(
            || format!("declare it: `.reg .{ty} {};`", short(name)),
            |near| format!("`{near}` is declared"),
        );
        let draft =
            self.report.error("undeclared", at, format!("`{}` is not declared", short(name)));
        if newer {
            draft
                .severity(Severity::Warning)
                .note("it may be a special register of a later version of PTX");
        } else {
            draft.help(help);
        }
    }

    /// What follows `[`.
    fn address(&mut self, open: ByteSpan) -> ParseResult<Operand> {
        let base_at = self.token.at;
        let mut offset = 0;
        let base = if self.starts_constant() {
            match self.constant()? {
                Constant::Integer(value) => offset = value,
                Constant::Float => return Err(self.expected("an integer as address")),
            }
            Scalar::Number
        } else if self.token.kind == lex::TokenKind::Word {
            self.name()
        } else {
            return Err(self.expected("a variable, a register or a number"));
        };
        let base_at = base_at.to(self.last);
        if self.is("-") && base != Scalar::Number {
            let sign = self.token.at;
            let number = self.peek();
            let help = (number.kind == lex::TokenKind::Number).then(|| {
                format!(
                    "[{}+-{}]",
                    short(base_at.of(self.text())),
                    short(number.at.of(self.text()))
                )
            });
            let fix = help.is_some().then(|| FixBuilder::one(true, sign, "+-"));
            self.report
                .error("syntax", sign, "write `+` before an offset; the offset may be negative")
                .note("`+` is expected")
                .section(model::section::ADDRESSES_AS_OPERANDS)
                .help_if(help)
                .fix_if(fix);
            // The rest is read as it is meant, if that is known.
            match (number.kind == lex::TokenKind::Number).then(|| self.constant()) {
                Some(Ok(Constant::Integer(value))) => offset = value,
                Some(Ok(Constant::Float) | Err(_)) | None => return Err(Lost),
            }
        } else if self.eat("+") {
            if self.alone && crate::constant::is_placeholder(self.word()) {
                // The number that inline assembly puts there is not known.
                self.bump();
            } else if !self.starts_constant() {
                let at = self.token.at;
                let what = short(self.word());
                self.report
                    .error("syntax", at, format!("expected a number of bytes, found `{what}`"))
                    .note("an offset is a constant")
                    .section(model::section::ADDRESSES_AS_OPERANDS)
                    .help("add registers with `add` first");
                return Err(Lost);
            } else {
                match self.constant()? {
                    Constant::Integer(value) => offset = value,
                    Constant::Float => return Err(self.expected("an integer as offset")),
                }
            }
        }
        if !self.eat("]") {
            return Err(self.expected("`]`"));
        }
        let end = self.last;
        let unified = (self.token.kind == lex::TokenKind::Dotted && self.word() == ".unified")
            .then(|| self.bump().at);
        let kind = OperandKind::Address(AddressOperand { base, base_at, offset, unified });
        Ok(Operand { at: open.to(end), kind })
    }

    /// What a name in an instruction that is kept as text stands for, if it has productions: such names are declared, and those
    /// with a `%` in any instruction.
    fn name_of_other(&mut self, at: ByteSpan, defines: bool, typed: bool) -> Option<Symbol> {
        let name = at.of(self.text());
        let register = name.starts_with('%');
        if !typed && !register {
            return None;
        }
        let symbol = self.symbols.find(name);
        let special = symbol.is_none() && is_special(name);
        if special && defines {
            self.module.undeclared += 1;
            self.report
                .error(
                    "special-register",
                    at,
                    format!("`{name}` is a special register, and cannot be written"),
                )
                .section(model::section::SPECIAL_REGISTERS)
                .help("write to a register that is declared with `.reg`");
        } else if symbol.is_none() && !special {
            self.undeclared(name, at, "b32");
        } else if special && special_need(name).is_some() {
            self.module.special_reads.push(at);
        }
        symbol.filter(|_| typed)
    }

    /// A special register as an operand outside of brackets: `mov` and `cvt` read it.
    fn special_read(&mut self, at: ByteSpan, parts: Range) {
        let text = self.text();
        let name = at.of(text);
        if !name.starts_with('%') || !is_special(name) || self.symbols.find(name).is_some() {
            return;
        }
        let parts: Vec<&str> =
            parts.of(&self.module.parts).iter().map(|part| part.of(text)).collect();
        let element = self.token.kind == lex::TokenKind::Dotted && self.adjacent();
        let Some(fault) = special::fault(&parts, name, element) else { return };
        self.module.undeclared += 1;
        let draft = match fault {
            SpecialFault::Instruction => self
                .report
                .error(
                    "special-register-read",
                    at,
                    format!("`{}` cannot read the special register `{name}`", short(parts[0])),
                )
                .help("read it with `mov` first"),
            SpecialFault::Size(sizes) => self
                .report
                .error(
                    "special-register-size",
                    at,
                    format!("the special register `{name}` has another size"),
                )
                .help(format!("read it with {sizes}")),
        };
        draft.section(model::section::SPECIAL_REGISTERS);
    }

    /// The names in the operands of an instruction that is kept as it stands, up to its `;`.
    fn names(&mut self, parts: Range) -> ParseResult<Range> {
        let text = self.text();
        let written: Vec<&str> =
            parts.of(&self.module.parts).iter().map(|part| part.of(text)).collect();
        let opcode = written.first().copied().unwrap_or_default();
        let called = opcode == "call";
        // The operands of branches before the first label.
        let branch = match opcode {
            "bra" => Some(0),
            "brx" => Some(1),
            _ => None,
        };
        let heads = productions::of_opcode(opcode);
        let typed = heads.is_some_and(|heads| heads.iter().any(InstructionHead::is_checked));
        // The results of a call are in parentheses; without them it has none.
        let mut defines = if called {
            self.is("(")
        } else {
            productions::find(&written).is_none_or(InstructionHead::has_result)
        };
        let first = self.module.names.len();
        let (mut depth, mut commas) = (0_usize, 0);
        loop {
            match self.token.kind {
                lex::TokenKind::End => {
                    self.report.error("semicolon", self.last.after(), "`;` is missing");
                    break;
                }
                lex::TokenKind::Word => {
                    let at = self.bump().at;
                    // The name of the function that is called is not a register.
                    let function = called && depth == 0;
                    if !function && at.of(text) != "_" {
                        // Whether there is such a label is known only at the end of the function.
                        let symbol = if branch.is_some_and(|first| commas >= first) {
                            self.symbols.find(at.of(text))
                        } else {
                            self.name_of_other(at, defines, typed)
                        };
                        if !typed && !called && !defines && depth == 0 && symbol.is_none() {
                            self.special_read(at, parts);
                        }
                        self.module.names.push(NameUse { at, defined: defines, symbol });
                    }
                }
                lex::TokenKind::Sign => {
                    let sign = self.bump().at.of(text);
                    match sign {
                        "{" | "[" | "(" => depth += 1,
                        "}" if depth == 0 => {
                            let at = self.last;
                            self.report.error("semicolon", at, "`;` is missing before this");
                            return Err(Lost);
                        }
                        "}" | "]" | ")" => depth = depth.saturating_sub(1),
                        "," if depth == 0 => {
                            defines = false;
                            commas += 1;
                        }
                        ";" => break,
                        _ => {}
                    }
                }
                lex::TokenKind::Number | lex::TokenKind::Dotted | lex::TokenKind::Text => {
                    self.bump();
                }
            }
        }
        Ok(Range::new(first, self.module.names.len()))
    }
}

/// The most parts whose combination is checked, the opcode among them.
const MOST_PARTS: usize = 64;

/// The most operands that are read.
const MOST: usize = 8;

/// The most elements of a vector that are kept.
const WIDEST: usize = 16;

/// An integer as PTX writes it: decimal, hexadecimal, octal or binary, with `U` at its end or not.
pub(super) fn integer(text: &str) -> Option<u64> {
    let digits = text.strip_suffix(['U', 'u']).unwrap_or(text);
    let lower = digits.get(..2).map(str::to_ascii_lowercase);
    match lower.as_deref() {
        Some("0x") => u64::from_str_radix(&digits[2..], 16).ok(),
        Some("0b") => u64::from_str_radix(&digits[2..], 2).ok(),
        _ if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
        _ => digits.parse().ok(),
    }
}
