//! Parses the lines of a function into blocks of instructions.

use super::Operation;
use super::lex::{Token, TokenKind};
use super::operand::Value;
use super::parse::{LineError, LineResult, Parser};
use super::step::{
    AggregateAccess, Block, CallAttributes, InlineAssembly, InstructionKind, Terminator, Typed,
    TypedInstruction,
};
use super::ty::Ty;
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

const BINARY: &[&str] = &[
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor",
    "fadd", "fsub", "fmul", "fdiv", "frem",
];

const CASTS: &[&str] = &[
    "trunc",
    "zext",
    "sext",
    "bitcast",
    "ptrtoint",
    "ptrtoaddr",
    "inttoptr",
    "addrspacecast",
    "fpext",
    "fptrunc",
    "sitofp",
    "uitofp",
    "fptosi",
    "fptoui",
];

/// Opcodes of LLVM IR that are not supported.
const OTHER: &[&str] = &[
    "va_arg",
    "indirectbr",
    "invoke",
    "callbr",
    "resume",
    "landingpad",
    "catchswitch",
    "catchpad",
    "cleanuppad",
    "catchret",
    "cleanupret",
];

/// Flags between an opcode and its first type.
const FLAGS: &[&str] = &["nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "inbounds", "nusw"];

/// Fast-math flags, which allow a floating-point operation to be computed differently.
const FAST: &[&str] = &["fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"];

/// The number of brackets that these tokens leave open.
pub(super) fn depth(text: &str, tokens: &[Token]) -> i64 {
    let signs = tokens.iter().filter(|token| token.kind == TokenKind::Sign);
    signs.fold(0, |depth, token| match token.at.of(text) {
        "(" | "[" | "{" => depth + 1,
        ")" | "]" | "}" => depth - 1,
        _ => depth,
    })
}

/// Reads the lines between the braces of a function.
pub(super) fn read<'a>(
    text: &'a str,
    lines: &[Vec<Token>],
    report: &mut Diagnostics,
) -> Vec<Block<'a>> {
    let mut parser = Parser::new(text, report);
    let mut blocks: Vec<Block<'a>> = Vec::new();
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let mut tokens = line.clone();
        // A `switch` has one line per case.
        while depth(text, &tokens) > 0 {
            let Some(more) = lines.next() else { break };
            tokens.extend(more);
        }
        parser.begin(tokens);
        let at = parser.here();
        let ended = |block: &Block<'_>| {
            block.instructions.last().is_some_and(|i| matches!(i.step, InstructionKind::End(_)))
        };
        if let Some(label) = parser.label() {
            blocks.push(Block { label: Some(label), at, instructions: Vec::new() });
        } else if blocks.last().is_none_or(ended) {
            blocks.push(Block { label: None, at, instructions: Vec::new() });
        }
        let first = parser.text_at(0);
        if first.is_empty() || first.starts_with("#dbg") || first.starts_with("uselistorder") {
            continue;
        }
        let at = parser.here();
        let Ok(result) = parser.result() else { continue };
        let step = match parser.step() {
            Ok(step) => step,
            Err(LineError::Uncovered(what)) => InstructionKind::Unsupported(what),
            Err(LineError::Reported) => continue,
        };
        if let Some(block) = blocks.last_mut() {
            block.instructions.push(TypedInstruction { at, result, step });
        }
    }
    blocks
}

impl<'a> Parser<'a, '_> {
    /// `entry:`, without the colon.
    fn label(&mut self) -> Option<&'a str> {
        if self.text_at(1) != ":" {
            return None;
        }
        let label = self.text_at(0).trim_matches('"');
        self.next += 2;
        Some(label)
    }

    /// `%r =`, without the sign.
    fn result(&mut self) -> LineResult<'a, Option<&'a str>> {
        let quoted = self.text_at(0) == "%" && self.text_at(2) == "=";
        if self.text_at(1) != "=" && !quoted {
            return Ok(None);
        }
        if !self.text_at(0).starts_with('%') {
            let at = self.here();
            self.report.error("syntax", at, "a result begins with `%`").help("%r = …");
            return Err(LineError::Reported);
        }
        let name = self.name()?;
        self.expect("=")?;
        Ok(Some(name))
    }

    fn step(&mut self) -> LineResult<'a, InstructionKind<'a>> {
        while matches!(self.text_at(0), "tail" | "musttail" | "notail") {
            self.next += 1;
        }
        let (opcode, at) = self.word("an instruction")?;
        let step = match opcode {
            "load" | "store" | "atomicrmw" | "cmpxchg" | "fence" => {
                let operation = self.memory(opcode)?;
                let mut values = Vec::new();
                if let Operation::Access(access) = &operation {
                    let texts =
                        std::iter::once(access.pointer).chain(access.values.iter().copied());
                    values.extend(texts.filter_map(Value::again));
                }
                return Ok(InstructionKind::Memory(operation, values));
            }
            "call" => return self.called(),
            "br" => InstructionKind::End(self.br()?),
            "switch" => InstructionKind::End(self.switch()?),
            "ret" => {
                if self.text_at(0) == "void" {
                    self.next += 1;
                    InstructionKind::End(Terminator::Return(None))
                } else {
                    InstructionKind::End(Terminator::Return(Some(self.typed()?)))
                }
            }
            "unreachable" => InstructionKind::End(Terminator::Unreachable),
            "phi" => self.phi()?,
            "select" => {
                self.flags();
                let condition = self.typed()?;
                self.expect(",")?;
                InstructionKind::Select { condition, operands: self.two()? }
            }
            "icmp" | "fcmp" => {
                let flags = self.named_flags();
                let relation = self.word("a comparison")?.0;
                let float = opcode == "fcmp";
                InstructionKind::Compare { float, relation, flags, operands: self.pair()? }
            }
            "fneg" => {
                self.flags();
                InstructionKind::Negate(self.typed()?)
            }
            "getelementptr" => {
                self.flags();
                let source = self.any_type()?;
                self.expect(",")?;
                let base = self.typed()?;
                let mut indices = Vec::new();
                while self.text_at(0) == "," && !self.text_at(1).starts_with('!') {
                    self.next += 1;
                    indices.push(self.typed()?);
                }
                InstructionKind::Address { source, base, indices }
            }
            "extractvalue" => {
                let from = self.typed()?;
                InstructionKind::Part(AggregateAccess::Extract { from, path: self.path()? })
            }
            "insertvalue" => {
                let (into, element) = self.two()?;
                InstructionKind::Part(AggregateAccess::Insert { into, element, path: self.path()? })
            }
            "extractelement" => {
                let (from, index) = self.two()?;
                InstructionKind::Part(AggregateAccess::ExtractElement { from, index })
            }
            "insertelement" => {
                let (into, element) = self.two()?;
                self.expect(",")?;
                InstructionKind::Part(AggregateAccess::InsertElement {
                    into,
                    element,
                    index: self.typed()?,
                })
            }
            "shufflevector" => {
                let operands = self.two()?;
                self.expect(",")?;
                InstructionKind::Part(AggregateAccess::Shuffle { operands, mask: self.typed()? })
            }
            "freeze" => InstructionKind::Freeze(self.typed()?),
            "alloca" => self.alloca()?,
            _ if BINARY.contains(&opcode) => self.binary(opcode)?,
            _ if CASTS.contains(&opcode) => {
                let flags = self.named_flags();
                let from = self.typed()?;
                self.expect("to")?;
                InstructionKind::Cast { op: opcode, flags, from, to: self.any_type()? }
            }
            _ if OTHER.contains(&opcode) => return Ok(InstructionKind::Unsupported(opcode)),
            _ => return Err(self.unknown(opcode, at)),
        };
        self.metadata()?;
        Ok(step)
    }

    /// An operation with two operands.
    fn binary(&mut self, op: &'a str) -> LineResult<'a, InstructionKind<'a>> {
        let flags = self.named_flags();
        let fast = flags.iter().any(|flag| FAST.contains(flag));
        if op == "fdiv" && flags.iter().any(|flag| matches!(*flag, "fast" | "arcp")) {
            return Err(LineError::Uncovered("fdiv arcp"));
        }
        Ok(InstructionKind::Binary { op, fast, flags, operands: self.pair()? })
    }

    /// Reports an opcode that LLVM IR does not have.
    fn unknown(&mut self, opcode: &str, at: ByteSpan) -> LineError<'a> {
        let known = ["load", "store", "atomicrmw", "cmpxchg", "fence", "call", "br", "ret"];
        let more = ["icmp", "select", "phi", "switch", "getelementptr", "alloca"];
        let known = known.iter().chain(&more).chain(BINARY).chain(CASTS).copied();
        let near = self.report.nearest(opcode, known);
        let message = format!("unknown instruction `{}`", short(opcode));
        self.report.error("llvm-opcode", at, message).help_if(near.map(|near| format!("`{near}`")));
        LineError::Reported
    }

    /// Skips flags.
    fn flags(&mut self) {
        self.named_flags();
    }

    /// The flags at this place.
    fn named_flags(&mut self) -> Vec<&'a str> {
        let mut flags = Vec::new();
        loop {
            let word = self.text_at(0);
            if !FLAGS.contains(&word) && !FAST.contains(&word) && word != "inrange" {
                return flags;
            }
            flags.push(word);
            self.next += 1;
            if self.text_at(0) == "(" && self.group().is_err() {
                return flags;
            }
        }
    }

    /// `, !dbg !5` up to the end.
    pub(super) fn metadata(&mut self) -> LineResult<'a, ()> {
        while self.text_at(0) == "," && self.text_at(1).starts_with('!') {
            self.next += 2;
            self.node()?;
        }
        self.end()
    }

    /// `i32 %a, i32 %b`
    fn two(&mut self) -> LineResult<'a, (Typed<'a>, Typed<'a>)> {
        let first = self.typed()?;
        self.expect(",")?;
        Ok((first, self.typed()?))
    }

    /// `i32 %a, %b`
    fn pair(&mut self) -> LineResult<'a, (Typed<'a>, Typed<'a>)> {
        let (ty, first) = self.typed()?;
        self.expect(",")?;
        let second = self.operand()?;
        Ok(((ty.clone(), first), (ty, second)))
    }

    /// `, 0, 1`
    fn path(&mut self) -> LineResult<'a, Vec<u64>> {
        let mut path = Vec::new();
        while self.text_at(0) == "," && !self.text_at(1).starts_with('!') {
            self.next += 1;
            path.push(self.count("an index")?);
        }
        Ok(path)
    }

    /// `label %b`
    fn target(&mut self) -> LineResult<'a, &'a str> {
        self.expect("label")?;
        self.local("%block")
    }

    fn local(&mut self, example: &str) -> LineResult<'a, &'a str> {
        if !self.text_at(0).starts_with('%') {
            self.expected("a name with `%`").help(example);
            return Err(LineError::Reported);
        }
        self.name()
    }

    fn br(&mut self) -> LineResult<'a, Terminator<'a>> {
        if self.text_at(0) == "label" {
            return Ok(Terminator::Jump(self.target()?));
        }
        let condition = self.typed()?;
        self.expect(",")?;
        let then = self.target()?;
        self.expect(",")?;
        Ok(Terminator::Branch { condition, then, otherwise: self.target()? })
    }

    fn switch(&mut self) -> LineResult<'a, Terminator<'a>> {
        let on = self.typed()?;
        self.expect(",")?;
        let default = self.target()?;
        self.expect("[")?;
        let mut cases = Vec::new();
        while !self.eat("]") {
            let case = self.typed()?;
            self.expect(",")?;
            cases.push((case, self.target()?));
        }
        Ok(Terminator::Switch { on, default, cases })
    }

    fn phi(&mut self) -> LineResult<'a, InstructionKind<'a>> {
        self.flags();
        let ty = self.any_type()?;
        let mut incoming = Vec::new();
        loop {
            self.expect("[")?;
            let value = self.operand()?;
            self.expect(",")?;
            incoming.push((value, self.local("[ 0, %block ]")?));
            self.expect("]")?;
            if self.text_at(0) != "," || self.text_at(1).starts_with('!') {
                return Ok(InstructionKind::Phi { ty, incoming });
            }
            self.next += 1;
        }
    }

    fn alloca(&mut self) -> LineResult<'a, InstructionKind<'a>> {
        self.eat("inalloca");
        let ty = self.any_type()?;
        let mut count = None;
        while self.text_at(0) == "," && !self.text_at(1).starts_with('!') {
            self.next += 1;
            match self.text_at(0) {
                "align" => self.next += 2,
                "addrspace" => drop(self.space()?),
                _ => count = Some(self.typed()?),
            }
        }
        Ok(InstructionKind::Alloca { ty, count })
    }

    /// Parses a call. The arguments are parsed only if the callee is given by name.
    fn called(&mut self) -> LineResult<'a, InstructionKind<'a>> {
        let flags = self.named_flags();
        let approximates = flags.iter().any(|flag| matches!(*flag, "afn" | "fast"));
        let is_fast = flags.iter().any(|flag| FAST.contains(flag));
        let before = self.next;
        while !self.at_type() {
            if self.text_at(0).is_empty() {
                self.expected("whom to call").help("call void @llvm.nvvm.barrier0()");
                return Err(LineError::Reported);
            }
            self.next += 1;
            if self.text_at(0) == "(" {
                self.group()?;
            }
        }
        let words = before..self.next;
        let result = self.called_type()?;
        if self.eat("asm") {
            return self.assembly(result);
        }
        if !self.text_at(0).starts_with('@') {
            return Ok(InstructionKind::Unsupported("call"));
        }
        let callee = self.name()?;
        // The approximation may take subnormal numbers for 0.
        if approximates && callee.starts_with("llvm.sqrt.") {
            return Err(LineError::Uncovered("llvm.sqrt afn"));
        }
        let (arguments, mut how) = self.passed()?;
        let rest = self.tokens.get(self.next..).unwrap_or_default();
        let words = self.tokens[words].iter().chain(rest);
        how.words = words.map(|token| token.at.of(self.text)).collect();
        how.invariant = how.words.contains(&"!invariant.load");
        how.is_fast = is_fast;
        Ok(InstructionKind::Call { result, callee, arguments, how })
    }

    fn arguments(&mut self) -> LineResult<'a, Vec<Typed<'a>>> {
        Ok(self.passed()?.0)
    }

    /// The arguments of a call, without metadata, and how they are passed.
    fn passed(&mut self) -> LineResult<'a, (Vec<Typed<'a>>, CallAttributes<'a>)> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        let mut how = CallAttributes::default();
        while !self.eat(")") {
            if self.eat(",") {
                continue;
            }
            let ty = self.any_type()?;
            if self.text_at(0).starts_with('!') || ty == Ty::Other {
                // Metadata: information for a debugger.
                while !matches!(self.text_at(0), "," | ")" | "") {
                    self.next += 1;
                    if self.text_at(0) == "(" {
                        self.group()?;
                    }
                }
                continue;
            }
            let at = self.next;
            let attributes = self.attributes()?;
            if attributes.contains(&"signext") {
                how.signed.push(arguments.len());
            }
            if attributes.contains(&"align") {
                // `align 8` or `align(8)`.
                let words = self.tokens[at..self.next].iter().map(|token| token.at.of(self.text));
                let mut after = words.skip_while(|word| *word != "align").skip(1);
                let number = after.find(|word| *word != "(").and_then(|word| word.parse().ok());
                how.aligned.extend(number.map(|number| (arguments.len(), number)));
            }
            if attributes.contains(&"byval") {
                // `byval(T)`, among the other attributes.
                let end = std::mem::replace(&mut self.next, at);
                while self.text_at(0) != "byval" {
                    self.next += 1;
                }
                self.next += 1;
                let ty = if self.eat("(") { self.any_type()? } else { Ty::Other };
                how.copied.push((arguments.len(), ty));
                self.next = end;
            }
            arguments.push((ty, self.operand()?));
        }
        Ok((arguments, how))
    }

    /// `sideeffect "mov.u32 $0, $1;", "=r,r"(i32 %a)`
    fn assembly(&mut self, result: Ty) -> LineResult<'a, InstructionKind<'a>> {
        let mut volatile = false;
        while matches!(self.text_at(0), "sideeffect" | "alignstack" | "inteldialect" | "unwind") {
            volatile |= self.text_at(0) == "sideeffect";
            self.next += 1;
        }
        let template = self.string("the template of inline assembly")?;
        self.expect(",")?;
        let constraints = self.string("the constraints of inline assembly")?;
        let arguments = self.arguments()?;
        let assembly = InlineAssembly { result, template, constraints, volatile, arguments };
        Ok(InstructionKind::Assembly(assembly))
    }

    /// A string, without its quotes.
    fn string(&mut self, what: &str) -> LineResult<'a, &'a str> {
        let Some(&Token { kind: TokenKind::String, at }) = self.tokens.get(self.next) else {
            self.expected(what).help("call void asm sideeffect \"membar.gl;\", \"~{memory}\"()");
            return Err(LineError::Reported);
        };
        self.next += 1;
        Ok(at.of(self.text).trim_matches('"'))
    }

    /// The result type of a call, or its whole function type, as `i32 (ptr, ...)`.
    fn called_type(&mut self) -> LineResult<'a, Ty> {
        let mut parser_next = self.next;
        let ty = self.any_type()?;
        if ty != Ty::Other {
            return Ok(ty);
        }
        std::mem::swap(&mut parser_next, &mut self.next);
        let result = self.result_type();
        self.next = parser_next;
        result
    }

    /// The attributes of a parameter or an argument, by name.
    pub(super) fn attributes(&mut self) -> LineResult<'a, Vec<&'a str>> {
        let mut attributes = Vec::new();
        loop {
            let text = self.text_at(0);
            let attribute = text.starts_with(|c: char| c.is_ascii_lowercase())
                && ATTRIBUTES.contains(&text)
                || text.starts_with('"');
            if !attribute {
                return Ok(attributes);
            }
            attributes.push(text);
            self.next += 1;
            match self.text_at(0) {
                "(" => self.group()?,
                "=" => self.next += 2,
                _ if text == "align" => self.next += 1,
                _ => {}
            }
        }
    }
}

/// Attributes of parameters.
const ATTRIBUTES: &[&str] = &[
    "align",
    "allocalign",
    "allocptr",
    "byref",
    "byval",
    "captures",
    "dead_on_return",
    "dead_on_unwind",
    "dereferenceable",
    "dereferenceable_or_null",
    "elementtype",
    "immarg",
    "inalloca",
    "initializes",
    "inreg",
    "nest",
    "noalias",
    "nocapture",
    "noext",
    "nofpclass",
    "nofree",
    "nonnull",
    "noundef",
    "preallocated",
    "range",
    "readnone",
    "readonly",
    "returned",
    "signext",
    "sret",
    "swiftasync",
    "swifterror",
    "swiftself",
    "writable",
    "writeonly",
    "zeroext",
];

impl<'a> Value<'a> {
    /// An operand that was read before, parsed from its text.
    fn again(text: &'a str) -> Option<Value<'a>> {
        let mut report = Diagnostics::default();
        let tokens = super::lex::lines(text, &mut report).concat();
        let mut parser = Parser::new(text, &mut report);
        parser.begin(tokens);
        parser.operand().ok()
    }
}
