//! Parses lines of LLVM IR into instructions. Code that LLVM itself would reject is reported.

use super::lex::{self, Token, TokenKind};
use super::{BarrierCall, Instruction, Operation};
use text::cursor::short;
use text::report::{ByteSpan, DiagnosticBuilder, Diagnostics};

/// Opcodes that compute from registers alone.
const PURE: &[&str] = &[
    "add",
    "sub",
    "mul",
    "udiv",
    "sdiv",
    "urem",
    "srem",
    "shl",
    "lshr",
    "ashr",
    "and",
    "or",
    "xor",
    "icmp",
    "fcmp",
    "select",
    "zext",
    "sext",
    "trunc",
    "bitcast",
    "ptrtoint",
    "inttoptr",
    "addrspacecast",
    "getelementptr",
    "extractvalue",
    "insertvalue",
    "extractelement",
    "insertelement",
    "shufflevector",
    "freeze",
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "fneg",
    "fpext",
    "fptrunc",
    "sitofp",
    "uitofp",
    "fptosi",
    "fptoui",
];

/// Opcodes of LLVM IR that straight-line code does not have, or whose effect is not known.
const OTHER: &[&str] = &[
    "br",
    "ret",
    "switch",
    "phi",
    "alloca",
    "invoke",
    "unreachable",
    "va_arg",
    "indirectbr",
    "resume",
];

/// The reason why a line was not read.
pub(super) enum LineError<'a> {
    Reported,
    /// An opcode that is not supported.
    Uncovered(&'a str),
}

pub(super) type LineResult<'a, T> = Result<T, LineError<'a>>;

pub(super) struct Parser<'a, 'r> {
    pub(super) text: &'a str,
    pub(super) report: &'r mut Diagnostics,
    pub(super) tokens: Vec<Token>,
    pub(super) next: usize,
    /// The current nesting depth of types and constants.
    pub(super) depth: u32,
}

impl<'a, 'r> Parser<'a, 'r> {
    pub(super) fn new(text: &'a str, report: &'r mut Diagnostics) -> Parser<'a, 'r> {
        Parser { text, report, tokens: Vec::new(), next: 0, depth: 0 }
    }

    pub(super) fn begin(&mut self, tokens: Vec<Token>) {
        (self.tokens, self.next, self.depth) = (tokens, 0, 0);
    }

    pub(super) fn instructions(mut self) -> Vec<Instruction<'a>> {
        let mut instructions = Vec::new();
        for tokens in lex::lines(self.text, self.report) {
            let all = tokens[0].at.to(tokens[tokens.len() - 1].at);
            self.begin(tokens);
            let (result, operation) = match self.line() {
                Ok(line) => line,
                Err(LineError::Uncovered(what)) => (None, Operation::Unsupported(what)),
                Err(LineError::Reported) => continue,
            };
            instructions.push(Instruction { text: all.of(self.text), result, operation });
        }
        instructions
    }

    pub(super) fn text_at(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.next + ahead).map_or("", |token| token.at.of(self.text))
    }

    pub(super) fn here(&self) -> ByteSpan {
        let end = || self.tokens.last().map_or(ByteSpan::default(), |token| token.at.after());
        self.tokens.get(self.next).map_or_else(end, |token| token.at)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let there = self.text_at(0) == text;
        self.next += usize::from(there);
        there
    }

    pub(super) fn expected(&mut self, what: &str) -> &mut DiagnosticBuilder {
        let found = self.text_at(0);
        let message = if found.is_empty() {
            format!("{what} is missing")
        } else {
            format!("expected {what}, found `{}`", short(found))
        };
        let here = self.here();
        self.report.error("syntax", here, message)
    }

    pub(super) fn expect(&mut self, text: &str) -> LineResult<'a, ()> {
        if self.eat(text) {
            return Ok(());
        }
        self.expected(&format!("`{text}`"));
        Err(LineError::Reported)
    }

    pub(super) fn word(&mut self, what: &str) -> LineResult<'a, (&'a str, ByteSpan)> {
        let Some(&Token { kind: TokenKind::Word, at }) = self.tokens.get(self.next) else {
            self.expected(what);
            return Err(LineError::Reported);
        };
        self.next += 1;
        Ok((at.of(self.text), at))
    }

    fn line(&mut self) -> LineResult<'a, (Option<&'a str>, Operation<'a>)> {
        let mut result = None;
        if self.text_at(1) == "=" {
            let (name, at) = self.word("a register")?;
            if !name.starts_with('%') {
                self.report.error("syntax", at, "a result begins with `%`").help("%r = …");
                return Err(LineError::Reported);
            }
            result = Some(name);
            self.next += 1;
        }
        while matches!(self.text_at(0), "tail" | "musttail" | "notail") {
            self.next += 1;
        }
        let (opcode, at) = self.word("an instruction")?;
        let operation = match opcode {
            "load" | "store" | "atomicrmw" | "cmpxchg" | "fence" => self.memory(opcode)?,
            "call" => self.call()?,
            _ if PURE.contains(&opcode) => Operation::Pure,
            _ if OTHER.contains(&opcode) => Operation::Unsupported(opcode),
            _ => {
                let known = ["load", "store", "atomicrmw", "cmpxchg", "fence", "call"];
                let near =
                    self.report.nearest(opcode, known.into_iter().chain(PURE.iter().copied()));
                let message = format!("unknown instruction `{}`", short(opcode));
                self.report
                    .error("llvm-opcode", at, message)
                    .help_if(near.map(|near| format!("`{near}`")));
                return Err(LineError::Reported);
            }
        };
        Ok((result, operation))
    }

    /// A barrier, or a call whose effect is not known.
    fn call(&mut self) -> LineResult<'a, Operation<'a>> {
        let callee = (self.next..self.tokens.len())
            .map(|token| self.tokens[token].at.of(self.text))
            .find(|word| word.starts_with(['@', '%']));
        let Some(callee) = callee else {
            self.next = self.tokens.len();
            self.expected("whom to call").help("call void @llvm.nvvm.barrier0()");
            return Err(LineError::Reported);
        };
        let bare = callee.strip_suffix(".aligned").unwrap_or(callee);
        Ok(match bare {
            "@llvm.nvvm.barrier0"
            | "@llvm.nvvm.barrier.cta.sync.all"
            | "@llvm.nvvm.barrier.cta.sync.aligned.all" => Operation::Barrier(BarrierCall::Cta),
            "@llvm.nvvm.barrier.cluster.arrive" => Operation::Barrier(BarrierCall::ClusterArrive),
            "@llvm.nvvm.barrier.cluster.arrive.relaxed" => {
                Operation::Barrier(BarrierCall::ClusterArriveRelaxed)
            }
            "@llvm.nvvm.barrier.cluster.wait" => Operation::Barrier(BarrierCall::ClusterWait),
            _ => Operation::Unsupported(callee),
        })
    }
}
