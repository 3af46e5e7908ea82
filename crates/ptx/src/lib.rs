//! Reads PTX modules: memory instructions are parsed and checked by rules, other instructions are kept as text.
//!
//! The rules are data ([`rules`]): the text of the rule, whether the document or ptxas requires it, and the
//! correction. [`meaning`] defines the semantics of qualifiers.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod bad_qualifier;
pub mod catalogue;
mod constant;
pub mod correction;
mod declared;
mod directive;
pub mod fences;
mod fix;
mod labels;
mod lex;
mod lint;
pub mod meaning;
pub mod modifier;
pub mod opcode;
mod operand_kind;
mod origin;
mod parse;
mod print;
mod production;
pub mod production_check;
mod production_lint;
mod productions;
pub mod qualifier;
mod registers;
pub mod rule;
pub mod rules;
mod sequence;
pub mod shape;
mod single;
mod special;
mod statement;
mod symbols;
mod syntax;
mod target_version;
pub mod version;

pub use constant::bits as constant_bits;
pub use declared::{
    BodyItem, FunctionDeclaration, LaunchBound, LaunchBoundKind, MemoryDeclaration,
};
pub use fix::{FixChoice, FixedModule, fix};
pub use lint::LintOptions;
pub use origin::origins;
pub use print::{PrintedOperand, PrintedScalar};
pub use single::{FunctionPiece, ParsedInstruction, excerpt, instruction, other};
pub use symbols::is_special;
pub use target_version::targets;

use std::collections::BTreeMap;

use crate::shape::Opcode;

use syntax::OperandKind;
use text::diagnostic::{Diagnostic, Severity};
use text::report::{ByteSpan, Diagnostics, LineIndex};

/// What is said of one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Linted {
    /// In the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of memory instructions that were checked.
    pub instructions: usize,
    /// Instructions that access memory or synchronize threads and whose rules are not known here,
    /// by name, and how many there are.
    pub not_judged: BTreeMap<String, usize>,
    /// Whether some of the text is not PTX, or too long, so that not everything was checked.
    pub unreadable: bool,
    /// Whether it is not text, so that nothing was checked.
    pub unread: bool,
}

impl Linted {
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|one| one.severity == Severity::Error).count()
    }

    pub fn warnings(&self) -> usize {
        self.diagnostics.iter().filter(|one| one.severity == Severity::Warning).count()
    }
}

/// Reads a module and checks the rules of each memory instruction. `path` is for the messages.
pub fn lint(path: &str, bytes: &[u8], options: LintOptions) -> Linted {
    let text = match text::decode(path, bytes) {
        Ok(text) => text,
        Err(diagnostics) => {
            return Linted { diagnostics, unreadable: true, unread: true, ..Linted::default() };
        }
    };
    let mut report = Diagnostics::of_many();
    let module = parse::Parser::new(text, &mut report).module();
    let unreadable = report.count() > module.undeclared;
    let mut linter =
        lint::Linter { text, module: &module, report: &mut report, options, buffer: Vec::new() };
    let instructions = linter.module();
    // What could not be read may be what a rule finds missing.
    if !unreadable {
        linter.sequences();
    }
    let not_judged = linter.not_judged();
    let mut diagnostics = report.finish(path, text);
    let origins = origins(text);
    for diagnostic in &mut diagnostics {
        diagnostic.origin = origins.of(diagnostic.span.line).cloned();
    }
    Linted { diagnostics, instructions, not_judged, unreadable, unread: false }
}

/// A module that was read, for whoever wants to know more of it than what is wrong.
pub struct Module<'a> {
    text: &'a str,
    tree: syntax::ModuleSyntax,
    lines: LineIndex,
}

/// One instruction of a [`Module`]; displays in one way however it is written, without its `;`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction<'a> {
    /// With its guard, without its `;`.
    pub text: &'a str,
    /// `ld.global.u32`
    pub name: String,
    /// The predicate that guards it.
    pub guard: Option<&'a str>,
    /// Whether it is done where the guard does not hold: `@!p`.
    pub negated: bool,
    /// Whether it is an `ld`, `ldu`, `st`, `atom`, `red`, `fence` or `membar`.
    pub memory: bool,
    pub defines: Vec<&'a str>,
    /// What it reads, its guard apart.
    pub uses: Vec<&'a str>,
    pub operands: Vec<PrintedOperand<'a>>,
    /// After the name.
    rest: &'a str,
}

/// Reads a module; parts that cannot be read are reported and skipped.
pub fn read<'a>(path: &str, bytes: &'a [u8]) -> (Option<Module<'a>>, Vec<Diagnostic>) {
    let text = match text::decode(path, bytes) {
        Ok(text) => text,
        Err(diagnostics) => return (None, diagnostics),
    };
    let mut report = Diagnostics::of_many();
    let tree = parse::Parser::new(text, &mut report).module();
    (Some(Module { text, tree, lines: LineIndex::of(text) }), report.finish(path, text))
}

impl<'a> Module<'a> {
    /// The names of the functions that have a body.
    pub fn functions(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.tree.functions.iter().map(|function| function.name.of(self.text))
    }

    /// The labels of the function at this index, each with the index of the instruction it is before.
    pub fn labels(&self, function: usize) -> Vec<(&'a str, usize)> {
        let (mut labels, mut before) = (Vec::new(), 0);
        for statement in &self.tree.functions[function].statements {
            match statement {
                syntax::Statement::Label(at) => labels.push((at.of(self.text), before)),
                syntax::Statement::Memory(_) | syntax::Statement::Opaque(_) => before += 1,
            }
        }
        labels
    }

    /// The instructions of the function at this index.
    pub fn instructions(&self, function: usize) -> impl Iterator<Item = Instruction<'a>> + '_ {
        self.tree.functions[function]
            .statements
            .iter()
            .filter_map(|statement| self.statement(statement))
    }

    fn statement(&self, statement: &syntax::Statement) -> Option<Instruction<'a>> {
        match statement {
            syntax::Statement::Label(_) => None,
            syntax::Statement::Memory(memory) => Some(self.memory(memory)),
            syntax::Statement::Opaque(opaque) => Some(self.opaque(opaque)),
        }
    }

    fn name(&self, parts: syntax::Range) -> String {
        let parts: Vec<&str> =
            parts.of(&self.tree.parts).iter().map(|part| part.of(self.text)).collect();
        parts.join(".")
    }

    fn opaque(&self, opaque: &syntax::Opaque) -> Instruction<'a> {
        let names = opaque.names.of(&self.tree.names);
        let those = |defined| {
            let those = names.iter().filter(move |name| name.defined == defined);
            those.map(|name| name.at.of(self.text)).collect()
        };
        let text = opaque.at.of(self.text).trim_end();
        let name_end =
            opaque.parts.of(&self.tree.parts).last().map_or(opaque.at.end, |part| part.end);
        let end = opaque.at.start as usize + text.len();
        let (name, rest) = (self.name(opaque.parts), &self.text[(name_end as usize).min(end)..end]);
        let operands = print::other_operands(rest, name.split('.').next() == Some("call"));
        Instruction {
            text,
            name,
            guard: opaque.guard.map(|guard| guard.name.of(self.text)),
            negated: opaque.guard.is_some_and(|guard| guard.negated),
            memory: false,
            defines: those(true),
            uses: those(false),
            operands,
            rest,
        }
    }

    fn memory(&self, memory: &syntax::MemoryInstruction) -> Instruction<'a> {
        let (mut defines, mut uses) = (Vec::new(), Vec::new());
        let writes = memory.opcode.is_load() || memory.opcode == Opcode::Atom;
        for (index, operand) in memory.operands.of(&self.tree.operands).iter().enumerate() {
            let mut add = |value: syntax::Scalar, at: ByteSpan| {
                use syntax::Scalar::{Foreign, Special, Symbol, Unknown};
                if matches!(value, Symbol(_) | Special | Foreign | Unknown) {
                    let list = if index == 0 && writes { &mut defines } else { &mut uses };
                    list.push(at.of(self.text));
                }
            };
            match operand.kind {
                OperandKind::Scalar(value) => add(value, operand.at),
                // What is added is a number: the name is what is before it.
                OperandKind::Sum(value) => {
                    let text = operand.at.of(self.text);
                    let name = text.split('+').next().unwrap_or(text).trim_end();
                    let end = operand.at.start as usize + name.len();
                    add(value, ByteSpan::new(operand.at.start as usize, end));
                }
                OperandKind::Address(address) => add(address.base, address.base_at),
                OperandKind::Vector(range) => {
                    for element in range.of(&self.tree.elements) {
                        add(element.value, element.at);
                    }
                }
            }
        }
        Instruction {
            text: memory.at.of(self.text),
            name: self.name(memory.parts),
            guard: memory.guard.map(|guard| guard.name.of(self.text)),
            negated: memory.guard.is_some_and(|guard| guard.negated),
            memory: true,
            defines,
            uses,
            operands: print::operands(self.text, &self.tree, memory),
            rest: "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = ".version 8.7\n.target sm_90a, debug\n.address_size 64\n\
        .extern .func (.param .b32 r) callee (.param .b64 a);\n\
        .global .align 16 .v4 .f32 table[4] = { {1, 2}, 3 }, other;\n\
        .visible .entry k(.param .u64 .ptr .global .align 8 in, .param .u32 n)\n\
        .maxntid 128, 1, 1\n{\n\
        .reg .pred %p<3>; .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .v2 .f32 V;\n\
        .loc 1 2 3, function_name $L, inlined_at 1 2 3\n\
        ld.param.u64 %rd1, [in];\n\
        setp.eq.s32 %p1|%p2, %r1, 0;\n\
        @!%p1 bra $DONE;\n\
        { .param .b32 out; call (out), callee, (%rd1); ld.param.b32 %r2, [out]; }\n\
        ld.global.v2.f32 V, [%rd1+8];\n\
        st.global.f32 [%rd1], V.y;\n\
        atom.global.add.u32 %r3, [%rd1+-4], %r2;\n\
        st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];\n\
        mov.u32 %r4, %tid.x;\n\
        $DONE:\n ret;\n}\n";

    #[test]
    fn a_module_is_read_whole() {
        let (module, diagnostics) = read("m.ptx", MODULE.as_bytes());
        assert_eq!(diagnostics, []);
        let module = module.expect("a module");
        assert_eq!(module.functions().collect::<Vec<_>>(), ["k"]);
        assert_eq!(module.labels(0), [("$DONE", 10)]);
        let all: Vec<String> = module
            .instructions(0)
            .map(|i| format!("{} {:?} {:?} {:?}", i.name, i.guard, i.defines, i.uses))
            .collect();
        assert_eq!(
            all,
            [
                r#"ld.param.u64 None ["%rd1"] ["in"]"#,
                r#"setp.eq.s32 None ["%p1", "%p2"] ["%r1"]"#,
                r#"bra Some("%p1") [] ["$DONE"]"#,
                r#"call None ["out"] ["%rd1"]"#,
                r#"ld.param.b32 None ["%r2"] ["out"]"#,
                r#"ld.global.v2.f32 None ["V"] ["%rd1"]"#,
                r#"st.global.f32 None [] ["%rd1", "V.y"]"#,
                r#"atom.global.add.u32 None ["%r3"] ["%rd1", "%r2"]"#,
                r#"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 None [] ["%r1", "%r2", "%r3"]"#,
                r#"mov.u32 None ["%r4"] ["%tid"]"#,
                "ret None [] []",
            ]
        );
        assert_eq!(lint("m.ptx", MODULE.as_bytes(), LintOptions::default()).diagnostics, []);
    }

    fn codes(body: &str) -> Vec<&'static str> {
        let text = format!(
            ".version 9.4\n.target sm_120\n.address_size 64\n.global .u32 g;\n.entry k() {{\n\
             .reg .b64 a; .reg .b32 r<9>;\n{body}\n}}\n"
        );
        let linted = lint("m.ptx", text.as_bytes(), LintOptions::default());
        linted.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    }

    #[test]
    fn every_error_of_a_module_is_told() {
        assert_eq!(
            codes(
                "ld.relaxed.u32 r1, [a];\nld.gloal.u32 r1, [g]\nst.u32 [a-4], r1;\nld.u32 r1, [h];"
            ),
            ["ld-scope-missing", "unknown-qualifier", "semicolon", "syntax", "undeclared"]
        );
    }

    #[test]
    fn names_of_other_instructions_are_known() {
        assert_eq!(codes("add.bogus r1, r2, r3;\nbarrier.foo 0;\nmbarrier r1;"), ["modifier"; 3]);
        assert_eq!(codes("L: bra L; { bra M; M: } bra NOWHERE;\n@p bra.uni l;"), ["label"; 2]);
        assert_eq!(codes("brx.idx r1, TABLE;"), ["label"]);
        let newer = MODULE.replace("8.7", "99.0").replace("mov.u32", "mov.zz");
        let linted = lint("m.ptx", newer.as_bytes(), LintOptions::default());
        assert_eq!((linted.errors(), linted.warnings()), (0, 1));
    }

    #[test]
    fn other_instructions_are_never_an_error() {
        assert_eq!(
            codes("prmt.b32 {r1, r2}, a; tex.1d {{{, ;\n tex [a, {r1}], \"x\" !; ret;"),
            [""; 0]
        );
    }
}
