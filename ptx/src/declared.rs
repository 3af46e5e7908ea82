//! What a module declares: functions, and memory with a name.

use model::isa::SpaceQualifier;

use text::report::ByteSpan;

use super::Module;
use super::syntax::{self, VariableDeclaration};
use crate::version::FunctionKind;

/// A function with a body; its index is that of [`Module::instructions`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionDeclaration<'a> {
    pub name: &'a str,
    /// Of its name in the file, from 1.
    pub line: usize,
    /// Whether it is an `.entry`.
    pub kernel: bool,
    pub parameters: Vec<MemoryDeclaration<'a>>,
    pub results: Vec<MemoryDeclaration<'a>>,
    /// What its body declares.
    pub variables: Vec<MemoryDeclaration<'a>>,
    /// A register of a block that has the name of another one around it, and its line.
    pub shadowed: Option<(&'a str, usize)>,
}

/// A variable, a parameter, or the result of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryDeclaration<'a> {
    pub name: &'a str,
    pub space: SpaceQualifier,
    /// Of all elements; `None` where the declaration does not write them as numbers.
    pub bytes: Option<u32>,
    /// Whether it has an initial value.
    pub initialized: bool,
    /// Of a parameter: where `.ptr` says that it points to.
    pub points_to: Option<SpaceQualifier>,
}

impl<'a> Module<'a> {
    /// 32 or 64; `None` where the module does not say.
    pub fn address_bits(&self) -> Option<u16> {
        self.tree.address_bits
    }

    /// The line of the first byte of an instruction, from 1.
    pub fn line_of(&self, instruction: &super::Instruction<'a>) -> usize {
        self.lines.number(ByteSpan::within(self.text, instruction.text))
    }

    /// The functions that have a body.
    pub fn declared_functions(&self) -> Vec<FunctionDeclaration<'a>> {
        let functions = self.tree.functions.iter();
        functions.map(|function| self.function(function)).collect()
    }

    fn function(&self, function: &syntax::Function) -> FunctionDeclaration<'a> {
        let memory = |range: syntax::Range| {
            range.of(&self.tree.variables).iter().map(|one| self.memory_declaration(one)).collect()
        };
        let shadowed = function.shadowed.map(|at| (at.of(self.text), self.lines.number(at)));
        FunctionDeclaration {
            name: function.name.of(self.text),
            line: self.lines.number(function.name),
            kernel: function.kind == FunctionKind::Kernel,
            parameters: memory(function.parameters),
            results: memory(function.results),
            variables: memory(function.variables),
            shadowed,
        }
    }

    /// The variables that the module declares outside of functions.
    pub fn globals(&self) -> Vec<MemoryDeclaration<'a>> {
        let all = &self.tree.variables;
        let mut globals = Vec::new();
        let mut next = 0;
        let inside = self.tree.functions.iter().map(|f| (f.results.start, f.variables.end));
        let end = u32::try_from(all.len()).expect("a file has less than 4 GiB");
        for (start, end) in inside.chain([(end, end)]) {
            // Declarations of functions without a body have parameters, too.
            let outside = all[next as usize..start as usize].iter().filter(|v| !v.space.is_param());
            globals.extend(outside.map(|variable| self.memory_declaration(variable)));
            next = end;
        }
        globals
    }

    fn memory_declaration(&self, of: &VariableDeclaration) -> MemoryDeclaration<'a> {
        MemoryDeclaration {
            name: of.name.of(self.text),
            space: of.space,
            bytes: of.bytes,
            initialized: of.initialized,
            points_to: of.points_to,
        }
    }
}
