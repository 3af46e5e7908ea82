//! What a module declares: functions, and memory with a name.

use model::isa::{SpaceQualifier, Type};

use text::report::ByteSpan;

use super::syntax::{self, BodyMark, VariableDeclaration};
use super::{Instruction, Module, constant};
use crate::version::{FunctionKind, Target};

/// A function with a body; its index is that of [`Module::instructions`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionDeclaration<'a> {
    pub name: &'a str,
    /// Of its name in the file, from 1.
    pub line: usize,
    /// Whether it is an `.entry`.
    pub kernel: bool,
    /// Whether other modules see it: `.visible`, `.weak`.
    pub linked: bool,
    pub parameters: Vec<MemoryDeclaration<'a>>,
    pub results: Vec<MemoryDeclaration<'a>>,
    /// What its body declares outside of its blocks.
    pub variables: Vec<MemoryDeclaration<'a>>,
    /// What a launch of it has to keep.
    pub bounds: Vec<LaunchBound>,
}

/// A directive before a body that says how a kernel is launched: `.reqntid 32, 1, 1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchBound {
    pub kind: LaunchBoundKind,
    /// Numbers in the directions x, y and z. What is not written is 1.
    pub extent: [u32; 3],
    /// Of the file, from 1.
    pub line: usize,
}

/// What such a directive is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaunchBoundKind {
    /// `.reqntid` (`#performance-tuning-directives-reqntid`): the threads of a CTA.
    Threads,
    /// `.maxntid` (`#performance-tuning-directives-maxntid`): their product is the most threads.
    MostThreads,
    /// `.reqnctapercluster` (`#cluster-dimension-directives-reqnctapercluster`): the CTAs of a cluster.
    Cluster,
    /// `.maxclusterrank` (`#cluster-dimension-directives-maxclusterrank`): the most CTAs.
    MostOfCluster,
    /// `.explicitcluster` (`#cluster-dimension-directives-explicitcluster`): there are clusters.
    Clusters,
}

impl LaunchBoundKind {
    const ALL: [LaunchBoundKind; 5] = [
        LaunchBoundKind::Threads,
        LaunchBoundKind::MostThreads,
        LaunchBoundKind::Cluster,
        LaunchBoundKind::MostOfCluster,
        LaunchBoundKind::Clusters,
    ];

    pub fn directive(self) -> &'static str {
        match self {
            LaunchBoundKind::Threads => ".reqntid",
            LaunchBoundKind::MostThreads => ".maxntid",
            LaunchBoundKind::Cluster => ".reqnctapercluster",
            LaunchBoundKind::MostOfCluster => ".maxclusterrank",
            LaunchBoundKind::Clusters => ".explicitcluster",
        }
    }

    pub(crate) fn of_directive(name: &str) -> Option<LaunchBoundKind> {
        LaunchBoundKind::ALL.into_iter().find(|kind| kind.directive() == name)
    }
}

/// A part of the body of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BodyItem<'a> {
    Label(&'a str),
    Instruction(Instruction<'a>),
    /// The braces of a block, whose registers, memory and labels are its own.
    Open,
    Close,
    /// A register of a block, or as many with numbers at the end of their names.
    Register {
        name: &'a str,
        count: Option<u32>,
    },
    /// Memory that a block declares.
    Variable(MemoryDeclaration<'a>),
    /// The labels of a table for `brx.idx`, whose name is the label before it.
    Targets(Vec<&'a str>),
}

/// A variable, a parameter, or the result of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryDeclaration<'a> {
    pub name: &'a str,
    pub space: SpaceQualifier,
    /// Of all elements; `None` where the declaration does not write them as numbers.
    pub bytes: Option<u32>,
    /// The type of one element.
    pub element: Option<Type>,
    /// Whether it is an array or a vector.
    pub array: bool,
    /// In bytes.
    pub alignment: u32,
    /// Whether other modules see it: `.visible`, `.weak`, `.extern`, `.common`.
    pub linked: bool,
    /// Whether another module defines it: `.extern`.
    pub external: bool,
    /// How many bytes of the file are before its name.
    pub at: u32,
    /// Its initial value as written.
    pub value: Option<&'a str>,
    /// Of a parameter: where `.ptr` says that it points to.
    pub points_to: Option<SpaceQualifier>,
    /// The alignment in bytes of what is there: 4 where `.ptr` gives none.
    pub pointee_alignment: Option<u32>,
}

impl MemoryDeclaration<'_> {
    /// The bytes of the initial value, without zeros at the end that it does not write. `None` if it is not a
    /// number or a list of numbers. `named`: the number that a name in it stands for.
    pub fn initial(&self, named: &dyn Fn(&str) -> Option<u64>) -> Option<Vec<u8>> {
        let Some(value) = self.value else { return Some(Vec::new()) };
        let size = self.element?.bytes() as usize;
        let value = value.trim();
        let list = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let list = list.map_or(value, |list| list.trim().trim_end_matches(','));
        let mut bytes = Vec::new();
        for number in list.split(',').filter(|_| !list.is_empty()) {
            let number = number.trim();
            let bits = constant::bits(number, self.element?).or_else(|| named(number))?;
            bytes.extend_from_slice(bits.to_le_bytes().get(..size)?);
        }
        Some(bytes)
    }
}

impl<'a> Module<'a> {
    /// The function that `.alias` gives this name, too.
    pub fn aliased(&self, name: &str) -> Option<&'a str> {
        let mut aliases = self.tree.aliases.iter();
        let found = aliases.find(|[alias, _]| alias.of(self.text) == name)?;
        Some(found[1].of(self.text))
    }

    /// Whether a declaration says that calls of a function end: none has `.noreturn`.
    pub fn returns(&self, name: &str) -> bool {
        !self.tree.no_return.iter().any(|one| one.of(self.text) == name)
    }

    /// 32 or 64; `None` where the module does not say.
    pub fn address_bits(&self) -> Option<u16> {
        self.tree.address_bits
    }

    /// The first that the module names, if it does.
    pub fn target(&self) -> Option<Target> {
        self.tree.target.map(|(target, _)| target)
    }

    /// The line of the first byte of an instruction, from 1.
    pub fn line_of(&self, instruction: &Instruction<'a>) -> usize {
        self.lines.number(ByteSpan::within(self.text, instruction.text))
    }

    /// Whether it has a `.version`.
    pub fn has_version(&self) -> bool {
        self.tree.versioned
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
        let of_block = |index: usize| {
            let marks = function.marks.iter();
            marks.map(|(_, mark)| mark).any(|mark| *mark == BodyMark::Variable(index))
        };
        let range = function.variables;
        let own = (range.start as usize..range.end as usize).filter(|index| !of_block(*index));
        FunctionDeclaration {
            name: function.name.of(self.text),
            line: self.lines.number(function.name),
            kernel: function.kind == FunctionKind::Kernel,
            linked: function.linked,
            parameters: memory(function.parameters),
            results: memory(function.results),
            variables: own
                .map(|index| self.memory_declaration(&self.tree.variables[index]))
                .collect(),
            bounds: function.bounds.iter().map(|bound| self.bound(bound)).collect(),
        }
    }

    fn bound(&self, bound: &syntax::BoundDirective) -> LaunchBound {
        let syntax::BoundDirective { kind, extent, at } = *bound;
        LaunchBound { kind, extent, line: self.lines.number(at) }
    }

    /// The body of the function at this index.
    pub fn body(&self, function: usize) -> Vec<BodyItem<'a>> {
        let function = &self.tree.functions[function];
        let mut marks = function.marks.iter().peekable();
        let mut items = Vec::with_capacity(function.statements.len() + function.marks.len());
        let text = |at: &ByteSpan| at.of(self.text);
        for index in 0..=function.statements.len() {
            while let Some((_, mark)) = marks.next_if(|(before, _)| *before as usize <= index) {
                items.push(match mark {
                    BodyMark::Open => BodyItem::Open,
                    BodyMark::Close => BodyItem::Close,
                    BodyMark::Register { name, count } => {
                        BodyItem::Register { name: text(name), count: *count }
                    }
                    BodyMark::Variable(index) => {
                        BodyItem::Variable(self.memory_declaration(&self.tree.variables[*index]))
                    }
                    BodyMark::Targets(labels) => {
                        BodyItem::Targets(labels.iter().map(text).collect())
                    }
                });
            }
            match function.statements.get(index) {
                Some(syntax::Statement::Label(at)) => items.push(BodyItem::Label(text(at))),
                Some(statement) => {
                    items.extend(self.statement(statement).map(BodyItem::Instruction));
                }
                None => {}
            }
        }
        items
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
            element: of.element,
            array: of.array,
            alignment: of.alignment,
            linked: of.linked,
            external: of.external,
            at: of.name.start,
            value: of.value.map(|at| at.of(self.text)),
            points_to: of.points_to,
            pointee_alignment: of.pointee_alignment,
        }
    }
}
