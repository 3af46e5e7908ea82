//! Parses text of SASS to instructions.
//!
//! An instruction ends with `;` or with its line. An operand of an unknown form is kept as
//! text, unless its instruction accesses memory: then it breaks a rule.

use super::opcode;
use super::scan::Scanner;
use super::syntax::{
    AddressTerm, Annotation, AnnotationKind, Atom, Guard, Indexed, Instruction, Name, Operand,
    OperandKind, Register, Value,
};
use text::cursor::short;
use text::diagnostic::Diagnostic;
use text::report::{ByteSpan, Diagnostics, ErrorReported};

/// The instructions of a text, or all that is wrong with it. `path` is for the messages.
pub fn instructions<'a>(
    path: &str,
    text: &'a str,
) -> Result<Vec<Instruction<'a>>, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    let all = read(text, ByteSpan::new(0, text.len()), &mut report);
    if report.count() == 0 { Ok(all) } else { Err(report.finish(path, text)) }
}

/// What follows the brace that opens a pair of instructions, or the text itself. Braces around an annotation are its own.
pub fn inside_pair(text: &str) -> &str {
    let inner = text.trim_start();
    let opens = inner.starts_with('{') && !inner.starts_with("{&") && !inner.starts_with("{?");
    if opens { &inner[1..] } else { text }
}

/// The position of the brace that closes a pair of instructions.
pub fn unopened(body: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let code = body.split("/*").next().unwrap_or(body);
    code.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return true,
            b'}' => depth -= 1,
            _ => {}
        }
        false
    })
}

/// The instructions in a part of a text.
pub fn read<'a>(text: &'a str, part: ByteSpan, report: &mut Diagnostics) -> Vec<Instruction<'a>> {
    let mut scan = Scanner::new(text, part);
    let mut all = Vec::new();
    loop {
        scan.blank();
        if scan.eat(";") || scan.eat("\n") {
            continue;
        }
        if scan.peek().is_none() {
            return all;
        }
        match (Parser { scan: &mut scan, report, depth: 0 }).instruction() {
            Ok(one) => all.push(one),
            // One error for a line; what follows on the next may be sound.
            Err(ErrorReported) => {
                scan.run(|c| !matches!(c, ';' | '\n'));
            }
        }
    }
}

/// An operand that cannot be parsed: its location, and what was expected.
struct ParseError {
    at: ByteSpan,
    expected: &'static str,
}

struct Parser<'s, 'a> {
    scan: &'s mut Scanner<'a>,
    report: &'s mut Diagnostics,
    /// Brackets around the value that is read.
    depth: usize,
}

/// Brackets may be nested so deep: no form of an operand that is known nests them.
const DEEPEST: usize = 16;

impl<'a> Parser<'_, 'a> {
    fn expected(&mut self, what: &str, help: &str) -> ErrorReported {
        let found = match self.scan.peek() {
            None | Some('\n') => "the line ends here".to_owned(),
            Some(c) => format!("found `{}`", c.escape_debug()),
        };
        let at = self.scan.here();
        self.report.error("syntax", at, format!("expected {what}")).note(found).help(help);
        ErrorReported
    }

    fn instruction(&mut self) -> Result<Instruction<'a>, ErrorReported> {
        let start = self.scan.at;
        let guard = self.guard()?;
        self.scan.blank();
        let opcode = self.opcode()?;
        let mut modifiers = Vec::new();
        while self.scan.peek() == Some('.') {
            self.scan.at += 1;
            let start = self.scan.at;
            let text = self.scan.run(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '?' | ':'));
            if text.is_empty() {
                return Err(self.expected("a modifier after the dot", "LDG.E.64 R2, [R4]"));
            }
            modifiers.push(Name { text, at: self.scan.since(start) });
        }
        let mut last = self.scan.at;
        let operands = self.operands(opcode.text, &mut last)?;
        let mut annotations = Vec::new();
        loop {
            self.scan.blank();
            if !self.scan.annotates() {
                break;
            }
            let annotation = self.annotation()?;
            self.once(&annotations, &annotation);
            annotations.push(annotation);
            last = self.scan.at;
        }
        if !self.scan.ends() {
            let what = if operands.is_empty() { "an operand or `;`" } else { "`,` or `;`" };
            return Err(self.expected(what, "LDG.E R2, [R4] ;"));
        }
        self.scan.eat(";");
        let at = ByteSpan::new(start, last);
        Ok(Instruction { guard, opcode, modifiers, operands, annotations, at })
    }

    fn guard(&mut self) -> Result<Option<Guard>, ErrorReported> {
        let start = self.scan.at;
        if !self.scan.eat("@") {
            return Ok(None);
        }
        let negated = self.scan.eat("!");
        let name_at = self.scan.at;
        let name = self.scan.word().unwrap_or("");
        let predicate = Register::named(name).filter(|r| r.file.is_of_predicates());
        let Some(predicate) = predicate else {
            if name.is_empty() {
                return Err(self.expected("a predicate after `@`", "@!P0"));
            }
            let at = self.scan.since(name_at);
            let message = format!("`{}` is not a predicate", short(name));
            self.report.error("guard", at, message).note("expected P0 to P6, or PT").help("@!P0");
            return Err(ErrorReported);
        };
        Ok(Some(Guard { negated, predicate, at: self.scan.since(start) }))
    }

    fn opcode(&mut self) -> Result<Name<'a>, ErrorReported> {
        let start = self.scan.at;
        // What `nvdisasm` prints for words that are not instructions.
        let word = if self.scan.eat("(illegal)") {
            Some(&self.scan.text[start..self.scan.at])
        } else {
            self.scan.word()
        };
        match word {
            Some(text) => Ok(Name { text, at: self.scan.since(start) }),
            None => Err(self.expected("an opcode", "LDG.E R2, [R4]")),
        }
    }

    /// All operands; `last` is where they end.
    fn operands(
        &mut self,
        opcode: &str,
        last: &mut usize,
    ) -> Result<Vec<Operand<'a>>, ErrorReported> {
        let mut operands = Vec::new();
        self.scan.blank();
        if self.scan.ends() || self.scan.annotates() {
            return Ok(operands);
        }
        loop {
            self.scan.blank();
            operands.push(self.operand(opcode)?);
            *last = self.scan.at;
            self.scan.blank();
            if !self.scan.eat(",") {
                return Ok(operands);
            }
        }
    }

    fn operand(&mut self, opcode: &str) -> Result<Operand<'a>, ErrorReported> {
        let before = *self.scan;
        // An operand that cannot be read may end within brackets.
        self.depth = 0;
        if self.scan.ends() || self.scan.peek() == Some(',') || self.scan.annotates() {
            return Err(self.expected("an operand", "LDG.E R2, [R4]"));
        }
        let unread = match self.kind() {
            Ok(kind) => {
                let at = self.scan.since(before.at);
                let mut after = *self.scan;
                after.blank();
                if after.ends() || after.annotates() || matches!(after.peek(), Some(',' | '}')) {
                    return Ok(Operand { kind, at });
                }
                ParseError { at: after.here(), expected: "`,` or the end of the instruction" }
            }
            Err(unread) => unread,
        };
        if opcode::accesses_memory(opcode) {
            self.report
                .error("syntax", unread.at, format!("expected {}", unread.expected))
                .note("this operand cannot be read")
                .help("examples of operands: R2, -0x10, c[0x0][0x160], [R4+0x10], desc[UR4][R4.64+0x10]");
            return Err(ErrorReported);
        }
        *self.scan = before;
        if !self.scan.balanced() {
            self.report
                .error("syntax", before.here(), "a bracket of this operand is not closed")
                .note("opened here or later")
                .help("[R4], c[0x0][0x160], {3,2}");
            return Err(ErrorReported);
        }
        let text = self.scan.text[before.at..self.scan.at].trim_end();
        self.scan.at = before.at + text.len();
        if text.is_empty() {
            return Err(self.expected("an operand", "R2"));
        }
        Ok(Operand { kind: OperandKind::Opaque(text), at: self.scan.since(before.at) })
    }

    fn kind(&mut self) -> Result<OperandKind<'a>, ParseError> {
        let start = self.scan.at;
        if self.scan.eat("`(") {
            let label = self.scan.run(|c| !matches!(c, ')' | '\n' | ';'));
            if self.scan.eat(")") {
                return Ok(OperandKind::Label(label));
            }
            return Err(ParseError {
                at: ByteSpan::new(start, start + 2),
                expected: "a label, as `(.L_x_1)",
            });
        }
        if !self.scan.eat("{") {
            return self.value().map(OperandKind::Value);
        }
        let mut all = Vec::new();
        loop {
            self.scan.blank();
            let start = self.scan.at;
            let value = self.value()?;
            all.push(Operand { kind: OperandKind::Value(value), at: self.scan.since(start) });
            self.scan.blank();
            if self.scan.eat("}") {
                return Ok(OperandKind::List(all));
            }
            if !self.scan.eat(",") {
                return Err(ParseError { at: self.scan.here(), expected: "`,` or `}`" });
            }
        }
    }

    fn value(&mut self) -> Result<Value<'a>, ParseError> {
        let signs = self.scan.run(|c| matches!(c, '-' | '+' | '~' | '!'));
        let open = self.scan.here();
        let absolute = self.scan.eat("|");
        let atom = self.atom()?;
        let suffixes = self.suffixes()?;
        let mut outer = Vec::new();
        if absolute {
            if !self.scan.eat("|") {
                return Err(ParseError { at: open, expected: "a second `|`" });
            }
            outer = self.suffixes()?;
        }
        Ok(Value { signs, absolute, atom, suffixes, outer })
    }

    fn suffixes(&mut self) -> Result<Vec<&'a str>, ParseError> {
        let mut all = Vec::new();
        while self.scan.eat(".") {
            let suffix = self.scan.run(super::scan::is_word);
            if suffix.is_empty() {
                return Err(ParseError { at: self.scan.here(), expected: "a name after the dot" });
            }
            all.push(suffix);
        }
        Ok(all)
    }

    fn atom(&mut self) -> Result<Atom<'a>, ParseError> {
        if let Some(number) = self.scan.number() {
            let named =
                number.value.is_none() && number.text.bytes().all(|b| b.is_ascii_alphanumeric());
            return Ok(if named { Atom::Name(number.text) } else { Atom::Number(number) });
        }
        let name = self.scan.word().unwrap_or("");
        if self.scan.peek() == Some('[') {
            return self.indexed(name).map(Atom::Indexed);
        }
        if name.is_empty() {
            return Err(ParseError {
                at: self.scan.here(),
                expected: "a register, a number or an address",
            });
        }
        Ok(Register::named(name).map_or(Atom::Name(name), Atom::Register))
    }

    fn indexed(&mut self, name: &'a str) -> Result<Indexed<'a>, ParseError> {
        let mut brackets = Vec::new();
        if self.depth == DEEPEST {
            return Err(ParseError {
                at: self.scan.here(),
                expected: "at most 16 nested brackets",
            });
        }
        self.depth += 1;
        while self.scan.eat("[") {
            let mut terms = Vec::new();
            loop {
                self.scan.blank();
                if self.scan.eat("]") && terms.is_empty() {
                    return Err(ParseError {
                        at: self.scan.here(),
                        expected: "an address in the brackets",
                    });
                }
                let start = self.scan.at;
                let plus = self.scan.eat("+");
                self.scan.blank();
                let negative = self.scan.eat("-");
                self.scan.blank();
                if !terms.is_empty() && !plus && !negative {
                    return Err(ParseError { at: self.scan.here(), expected: "`+`, `-` or `]`" });
                }
                let value = self.value()?;
                terms.push(AddressTerm { negative, value, at: self.scan.since(start) });
                self.scan.blank();
                if self.scan.eat("]") {
                    break;
                }
            }
            brackets.push(terms);
        }
        self.depth -= 1;
        Ok(Indexed { name, brackets })
    }

    fn annotation(&mut self) -> Result<Annotation<'a>, ErrorReported> {
        let start = self.scan.at;
        let braced = self.scan.eat("{");
        let inside = self.scan.at;
        let kind = if self.scan.eat("?") {
            let name = self.scan.run(super::scan::is_word);
            if name.is_empty() {
                return Err(self.expected("a name after `?`", "?WAIT5_END_GROUP"));
            }
            AnnotationKind::Schedule
        } else {
            self.scan.eat("&");
            let name = self.scan.run(|c| c.is_ascii_alphabetic());
            let name_at = ByteSpan::new(inside, self.scan.at);
            if !self.scan.eat("=") {
                self.scan.eat("_");
            }
            match name {
                "req" => AnnotationKind::Require(self.scoreboards()?),
                "rd" => AnnotationKind::Read(self.scoreboard()?),
                "wr" => AnnotationKind::Write(self.scoreboard()?),
                _ => {
                    self.report
                        .error("annotation", name_at, format!("unknown annotation `&{}`", short(name)))
                        .help("an instruction waits with `&req={0,1}`, and sets with `&rd=0` and `&wr=1`");
                    return Err(ErrorReported);
                }
            }
        };
        let text = &self.scan.text[inside..self.scan.at];
        if braced && !self.scan.eat("}") {
            return Err(self.expected("`}` after the annotation", "{&req={0,1}}"));
        }
        Ok(Annotation { kind, text, braced, at: self.scan.since(start) })
    }

    /// An instruction waits for one set of scoreboards and sets one of each kind.
    fn once(&mut self, before: &[Annotation<'a>], new: &Annotation<'a>) {
        let same = |one: &&Annotation<'a>| match (one.kind, new.kind) {
            (AnnotationKind::Schedule, AnnotationKind::Schedule) => one.text == new.text,
            (one, new) => std::mem::discriminant(&one) == std::mem::discriminant(&new),
        };
        let Some(first) = before.iter().find(same) else { return };
        let (name, help) = match new.kind {
            AnnotationKind::Require(_) => ("&req", "&req={0,1} waits for several scoreboards"),
            AnnotationKind::Read(_) => ("&rd", "remove one of the two"),
            AnnotationKind::Write(_) => ("&wr", "remove one of the two"),
            AnnotationKind::Schedule => (new.text, "remove one of the two"),
        };
        self.report
            .error("annotation-twice", new.at, format!("an instruction has one `{}`", short(name)))
            .note("the second")
            .label(first.at, "the first")
            .help(help);
    }

    /// A set of scoreboards: a mask of six bits, or their numbers in braces.
    fn scoreboards(&mut self) -> Result<u8, ErrorReported> {
        if !self.scan.eat("{") {
            return self.small(0x3f, "a mask of six scoreboards", "&req={0,1}");
        }
        let mut mask = 0;
        loop {
            self.scan.blank();
            mask |= 1 << self.scoreboard()?;
            self.scan.blank();
            if self.scan.eat("}") {
                return Ok(mask);
            }
            if !self.scan.eat(",") {
                return Err(self.expected("`,` or `}`", "&req={0,1}"));
            }
        }
    }

    fn scoreboard(&mut self) -> Result<u8, ErrorReported> {
        self.small(5, "the number of a scoreboard, 0 to 5", "&wr=0")
    }

    fn small(&mut self, most: u8, what: &str, help: &str) -> Result<u8, ErrorReported> {
        let start = self.scan.at;
        let Some(number) = self.scan.number() else { return Err(self.expected(what, help)) };
        let value = number.value.and_then(|value| u8::try_from(value).ok());
        value.filter(|value| *value <= most).ok_or_else(|| {
            let message = format!("`{}` is not {what}", short(number.text));
            self.report.error("annotation", self.scan.since(start), message).help(help);
            ErrorReported
        })
    }
}
