//! One memory instruction by itself: read, and asked its rules as in a module.
//!
//! It stands in no function and comes without declarations: its names may be anything that has a
//! place there.

use model::isa::fence::{self, Spelling};
use model::isa::qualifier::Qualifiers;
use model::isa::shape::{Form, Opcode, Shape};
use model::isa::version::Function;

use super::lint::{Linter, Options, setting};
use super::parse::Parser;
use super::syntax::{Memory, Statement};
use crate::Diagnostic;
use crate::report::Report;

/// What was read.
#[derive(Clone, Debug)]
pub struct Single<'a> {
    /// From the guard to the last operand.
    pub text: &'a str,
    pub opcode: Opcode,
    /// The parts after the opcode, as they are written.
    pub parts: Vec<&'a str>,
    pub qualifiers: Qualifiers,
    /// A fence of proxies, of a state space or of an operation: its qualifiers mean nothing alone.
    pub spelling: Option<&'static Spelling>,
    pub predicated: bool,
    operands: Vec<Shape>,
    /// What is wrong with it; without an error in here, it keeps all rules.
    pub diagnostics: Vec<Diagnostic>,
}

impl Single<'_> {
    /// The instruction as rules see it.
    pub fn form(&self) -> Form<'_> {
        Form {
            opcode: self.opcode,
            q: &self.qualifiers,
            predicated: self.predicated,
            operands: &self.operands,
        }
    }
}

/// Reads one instruction, with its guard or without, `;` at its end or not; or says why it is none.
/// `path` is for the messages.
pub fn instruction<'a>(
    path: &str,
    text: &'a str,
    options: Options,
) -> Result<Single<'a>, Vec<Diagnostic>> {
    let text = crate::text(path, text.as_bytes())?;
    let mut report = Report::default();
    let mut parser = Parser::new(text, &mut report);
    parser.alone = true;
    let read = parser.single();
    let module = parser.module;
    let Some(memory) = read.filter(|_| report.count() == 0) else {
        return Err(report.finish(path, text));
    };
    let setting = setting(&module, options, Function::Unknown);
    let mut linter =
        Linter { text, module: &module, report: &mut report, options, buffer: Vec::new() };
    linter.memory(&memory, &setting);
    let (qualifiers, _) = linter.qualifiers(&memory);
    let operands = linter.shapes(&memory).collect();
    let parts: Vec<&str> =
        memory.parts.of(&module.parts)[1..].iter().map(|part| part.of(text)).collect();
    let spelling = matches!(memory.opcode, Opcode::Fence | Opcode::Membar)
        .then(|| fence::spelled(&parts.iter().copied()))
        .flatten();
    Ok(Single {
        text: memory.at.of(text),
        opcode: memory.opcode,
        parts,
        qualifiers,
        spelling,
        predicated: memory.guard.is_some(),
        operands,
        diagnostics: report.finish(path, text),
    })
}

impl Parser<'_, '_> {
    /// The only statement there is; `None` when that has been complained of.
    fn single(&mut self) -> Option<Memory> {
        let Ok(statement) = self.statement() else { return None };
        if !self.at_end() {
            let at = self.token.at;
            self.report
                .error("one-instruction", at, "one instruction is expected")
                .note("this is behind it")
                .help("give each instruction as an argument of its own");
            return None;
        }
        match statement {
            Statement::Memory(memory) => Some(memory),
            Statement::Label(at) => {
                self.report.error("opcode", at, "a label is no instruction");
                None
            }
            // The parser has complained of an instruction of another kind.
            Statement::Opaque(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        let diagnostics = match instruction("i", text, Options::default()) {
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
        ] {
            assert_eq!(codes(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_breaks_a_rule_is_read_all_the_same() {
        let single = instruction("i", "ld.relaxed.u32 r, [a]", Options::default());
        let single = single.expect("it can be read");
        assert_eq!(single.opcode, Opcode::Ld);
        assert_eq!(single.parts, ["relaxed", "u32"]);
        assert_eq!(single.diagnostics[0].code, "ld-scope-missing");
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
