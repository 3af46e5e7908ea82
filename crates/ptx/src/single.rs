//! Reads a single memory instruction, and checks its rules as in a module.
//!
//! It has no declarations, so a name in it may be a register or a variable of any type that is
//! valid there.

use crate::fences::{self, Spelling};
use crate::qualifier::Qualifiers;
use crate::shape::{InstructionForm, Opcode, OperandShape};
use crate::version::{FunctionKind, RuleContext};

use super::lint::{LintOptions, Linter, setting};
use super::parse::Parser;
use super::print::{self, PrintedOperand};
use super::syntax::{MemoryInstruction, ModuleSyntax, Statement};
use text::Diagnostic;
use text::report::Diagnostics;

/// What was read.
#[derive(Clone, Debug)]
pub struct ParsedInstruction<'a> {
    /// From the guard to the last operand.
    pub text: &'a str,
    pub opcode: Opcode,
    /// The parts after the opcode, as they are written.
    pub parts: Vec<&'a str>,
    pub qualifiers: Qualifiers,
    /// A fence of proxies, of a state space or of an operation: its qualifiers mean nothing alone.
    pub spelling: Option<&'static Spelling>,
    pub predicated: bool,
    operands: Vec<OperandShape>,
    /// The operands as they are written.
    pub arguments: Vec<PrintedOperand<'a>>,
    /// What is wrong with it; without an error in here, it keeps all rules.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedInstruction<'_> {
    /// The instruction as rules see it.
    pub fn form(&self) -> InstructionForm<'_> {
        InstructionForm {
            opcode: self.opcode,
            q: &self.qualifiers,
            predicated: self.predicated,
            operands: &self.operands,
        }
    }
}

/// Reads one instruction, with its guard or without, `;` at its end or not; or says why it is not one.
/// `path` is for the messages.
pub fn instruction<'a>(
    path: &str,
    text: &'a str,
    options: LintOptions,
) -> Result<ParsedInstruction<'a>, Vec<Diagnostic>> {
    let text = text::decode(path, text.as_bytes())?;
    let mut report = Diagnostics::default();
    let mut parser = Parser::new(text, &mut report);
    parser.alone = true;
    let read = parser.single();
    let module = parser.module;
    // The parser has complained of an instruction of another kind.
    let Some(Statement::Memory(memory)) = read.filter(|_| report.count() == 0) else {
        return Err(report.finish(path, text));
    };
    let single = judged(text, &module, &memory, options, &mut report);
    Ok(ParsedInstruction { diagnostics: report.finish(path, text), ..single })
}

/// Reads one instruction of another kind, of which the operands are not looked into: what is wrong
/// with its name; or why it is not an instruction.
pub fn other(
    path: &str,
    text: &str,
    options: LintOptions,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let text = text::decode(path, text.as_bytes())?;
    let mut report = Diagnostics::default();
    let mut parser = Parser::new(text, &mut report);
    (parser.alone, parser.excerpt) = (true, true);
    let read = parser.single();
    let module = parser.module;
    let Some(Statement::Opaque(opaque)) = read.filter(|_| report.count() == 0) else {
        return Err(report.finish(path, text));
    };
    let setting = setting(&module, options, FunctionKind::Unknown);
    let mut linter =
        Linter { text, module: &module, report: &mut report, options, buffer: Vec::new() };
    linter.opcode(&opaque, &setting);
    Ok(report.finish(path, text))
}

/// One of several: what is wrong with it is in the report.
fn judged<'a>(
    text: &'a str,
    module: &ModuleSyntax,
    memory: &MemoryInstruction,
    options: LintOptions,
    report: &mut Diagnostics,
) -> ParsedInstruction<'a> {
    let address_bits = Some(64);
    let setting = RuleContext { address_bits, ..setting(module, options, FunctionKind::Unknown) };
    let mut linter = Linter { text, module, report, options, buffer: Vec::new() };
    linter.memory(memory, &setting);
    let (qualifiers, _) = linter.qualifiers(memory);
    let operands = linter.shapes(memory).collect();
    let parts: Vec<&str> =
        memory.parts.of(&module.parts)[1..].iter().map(|part| part.of(text)).collect();
    let spelling = matches!(memory.opcode, Opcode::Fence | Opcode::Membar)
        .then(|| fences::spelled(&parts))
        .flatten();
    ParsedInstruction {
        text: memory.at.of(text),
        opcode: memory.opcode,
        parts,
        qualifiers,
        spelling,
        predicated: memory.guard.is_some(),
        operands,
        arguments: print::operands(text, module, memory),
        diagnostics: Vec::new(),
    }
}

/// A piece of a function.
#[derive(Clone, Debug)]
pub enum FunctionPiece<'a> {
    Label(&'a str),
    Memory(Box<ParsedInstruction<'a>>),
    /// An instruction of another kind, of which the operands are not looked into.
    Other {
        opcode: &'a str,
        /// From the guard to the last operand.
        text: &'a str,
        guarded: bool,
    },
}

/// Reads instructions and labels without their module. The diagnostics are of all pieces; without an
/// error among them, every memory instruction keeps all rules.
pub fn excerpt<'a>(
    path: &str,
    text: &'a str,
    options: LintOptions,
) -> Result<(Vec<FunctionPiece<'a>>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let text = text::decode(path, text.as_bytes())?;
    let mut report = Diagnostics::default();
    let mut parser = Parser::new(text, &mut report);
    (parser.alone, parser.excerpt) = (true, true);
    let mut statements = Vec::new();
    while !parser.at_end() {
        if parser.eat(";") {
            continue;
        }
        match parser.statement() {
            Ok(statement) => statements.push(statement),
            Err(_) => parser.give_up(),
        }
        // A brace of a module that was cut in two.
        if parser.is("}") {
            parser.expected("an instruction");
            break;
        }
    }
    let module = parser.module;
    if report.count() > 0 {
        return Err(report.finish(path, text));
    }
    let pieces = statements.iter().map(|statement| match statement {
        Statement::Label(at) => FunctionPiece::Label(at.of(text)),
        Statement::Memory(memory) => {
            FunctionPiece::Memory(Box::new(judged(text, &module, memory, options, &mut report)))
        }
        Statement::Opaque(opaque) => FunctionPiece::Other {
            opcode: opaque.parts.of(&module.parts).first().map_or("", |part| part.of(text)),
            text: opaque.at.of(text),
            guarded: opaque.guard.is_some(),
        },
    });
    let pieces = pieces.collect();
    Ok((pieces, report.finish(path, text)))
}

impl Parser<'_, '_> {
    /// The only statement there is; `None` when that has been complained of.
    fn single(&mut self) -> Option<Statement> {
        let Ok(statement) = self.statement() else { return None };
        if !self.at_end() {
            let at = self.token.at;
            self.report
                .error("one-instruction", at, "expected one instruction")
                .note("unexpected text after the instruction")
                .help("pass each instruction as a separate argument");
            return None;
        }
        if let Statement::Label(at) = statement {
            self.report.error("opcode", at, "a label is not an instruction");
            return None;
        }
        Some(statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        let diagnostics = match instruction("i", text, LintOptions::default()) {
            Ok(single) => single.diagnostics,
            Err(diagnostics) => diagnostics,
        };
        diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    }

    #[test]
    fn an_instruction_is_read_without_declarations() {
        for text in [
            "ld.acquire.gpu.global.u32 r, [a]",
            "@!p atom.cas.b32 _, [x+8], r1, 0x10;",
            "ld.global.v8.b32 {a, _, b, c, d, e, f, g}, [p];  // wide",
            "fence.proxy.tensormap::generic.acquire.gpu [a], 128;",
            "ld.param.u64 %rd1, [param_0];",
            "st.shared.v2.f32 [%r1+-4], {%f1, 0f3F800000};",
            "fence.proxy.tensormap::generic.acquire.gpu [%0], %1;",
            "ld.shared.u32 %0, [%1+%2];",
        ] {
            assert_eq!(codes(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn an_operand_of_inline_assembly_may_be_a_number() {
        let other = |text: &str| match other("i", text, LintOptions::default()) {
            Ok(diagnostics) | Err(diagnostics) => {
                diagnostics.iter().map(|one| one.code).collect::<Vec<_>>()
            }
        };
        for text in [
            "cp.async.wait_group %0;",
            "cp.async.bulk.wait_group.read $1;",
            "cp.async.cg.shared.global [%0], [%1], %2;",
            "setmaxnreg.inc.sync.aligned.u32 %0;",
            "wgmma.wait_group.sync.aligned $0;",
        ] {
            assert_eq!(other(text), [""; 0], "{text}");
        }
        // A register is not one.
        for text in ["cp.async.wait_group %r0;", "setmaxnreg.inc.sync.aligned.u32 n;"] {
            assert_eq!(other(text), ["production-operand"], "{text}");
        }
        assert_eq!(codes("ld.shared.u32 %0, [%1+%r2]"), ["syntax"]);
    }

    #[test]
    fn what_breaks_a_rule_is_read_all_the_same() {
        let single = instruction("i", "ld.relaxed.u32 r, [a]", LintOptions::default());
        let single = single.expect("it can be read");
        assert_eq!(single.opcode, Opcode::Ld);
        assert_eq!(single.parts, ["relaxed", "u32"]);
        assert_eq!(single.diagnostics[0].code, "ld-scope-missing");
    }

    #[test]
    fn an_excerpt_is_read_piece_by_piece() {
        let text = "ld.global.u32 %r1, [%rd1] ; $L1: ; add.s32 %r3, %r1, 1; \
            atom.global.cas.b32 %r2, [%rd1], %r1, %r3 ; @%p1 bra $L1 ; call.uni (retval0),";
        let (pieces, diagnostics) = excerpt("i", text, LintOptions::default()).expect("it is PTX");
        assert_eq!(diagnostics, []);
        let shown: Vec<&str> = pieces
            .iter()
            .map(|piece| match piece {
                FunctionPiece::Label(label) => label,
                FunctionPiece::Memory(single) => single.opcode.name(),
                FunctionPiece::Other { opcode, .. } => opcode,
            })
            .collect();
        assert_eq!(shown, ["ld", "$L1", "add", "atom", "bra", "call"]);
        let wrong = excerpt("i", "fence.sc; ld.u32 r, [a]", LintOptions::default()).expect("read");
        assert_eq!(wrong.1[0].code, "fence-scope-missing");
        assert!(excerpt("i", "ld.u32 r, [a", LintOptions::default()).is_err());
        assert!(excerpt("i", "ret; }", LintOptions::default()).is_err());
    }

    #[test]
    fn what_is_no_memory_instruction_is_told() {
        assert_eq!(codes("mov.u32 r, 1;"), ["opcode"]);
        assert_eq!(codes("l:"), ["opcode"]);
        assert_eq!(codes(""), ["syntax"]);
        assert_eq!(codes("ld.u32 r, [a-4]"), ["syntax"]);
        assert_eq!(codes("ld.u32 r, [a]; ld.u32 r, [b];"), ["one-instruction"]);
        assert_eq!(codes("ld.u32 r, [a] x"), ["syntax"]);
    }
}
