//! Translates a function of LLVM IR into a column of C++ operations.
//!
//! Each value has one register per scalar. Integers of widths other than 32 and 64 are in wider registers,
//! zero-extended. Values of one bit are predicates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use model::memory::Space;

use super::bits::WIDEST;
use super::call;
use super::cell::CellValue;
use super::inline::InlinedCall;
use super::module::{FunctionDefinition, Module};
use super::operand::Value;
use super::step::{AggregateAccess, Block, InstructionKind, TypedInstruction};
use super::ty::{ScalarType, Ty};
use lift::Dialect;
use lift::builder::FunctionBuilder;
use lift::function::{
    EntryValue, Function, FunctionVariable, Language, Parameter, Refusals, Refused, ReturnedWord,
    UndefinedValues, is_reserved,
};
use lift::written::WrittenInstruction;
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics, LineIndex};

pub(super) type LoweringResult<T> = Result<T, Refused>;

/// The value that a name of a function denotes.
pub(super) struct LoweredValue {
    pub(super) ty: Ty,
    pub(super) parts: Vec<(ScalarType, CellValue)>,
}

/// The origin of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Root<'a> {
    Parameter(usize),
    Alloca(&'a str),
    Global(&'a str),
    Unknown,
}

/// The functions that a module defines, by name.
pub(super) type Bodies<'a, 'm> = BTreeMap<&'a str, FunctionBody<'a, 'm>>;

/// A function with its blocks, whose implicit names are numbered.
pub(super) struct FunctionBody<'a, 'm> {
    pub(super) definition: &'m FunctionDefinition<'a>,
    pub(super) blocks: Vec<Block<'a>>,
}

pub(super) struct Translator<'a, 'm> {
    pub(super) module: &'m Module<'a>,
    pub(super) bodies: &'m Bodies<'a, 'm>,
    /// The call whose function is being translated, if it is not the function itself.
    pub(super) inlined: Option<InlinedCall<'a, 'm>>,
    pub(super) definition: &'m FunctionDefinition<'a>,
    report: &'m mut Diagnostics,
    lines: &'m LineIndex,
    pub(super) values: BTreeMap<&'a str, LoweredValue>,
    /// The instruction that produces each value.
    pub(super) steps: BTreeMap<&'a str, &'m InstructionKind<'a>>,
    /// Local variables that are kept in registers.
    pub(super) slots: BTreeSet<&'a str>,
    /// Parameters that the caller copied: `byval`.
    pub(super) copies: BTreeSet<&'a str>,
    /// The memory of the functions of other modules that it calls, with the registers of their addresses.
    pub(super) calls: Vec<(String, String)>,
    /// The register that all these calls share.
    pub(super) shared_call: Option<String>,
    /// Whether the executions in which a result is poison are to be undefined.
    pub(super) checked: bool,
    /// The largest alignment that an access promises, if some promises more than its parts need.
    pub(super) alignment: Option<u64>,
    /// Whether `undef` and `poison` are 0.
    pub(super) zero: bool,
    /// For registers whose values may be poison: the predicates that say whether they are.
    pub(super) poison: BTreeMap<CellValue, CellValue>,
    /// Words that are in use.
    names: BTreeSet<String>,
    pub(super) labels: BTreeMap<&'a str, String>,
    /// Labels of the next row.
    pub(super) pending: Vec<String>,
    /// The position of the instruction that is being translated.
    pub(super) at: ByteSpan,
    /// The words of the returned value.
    pub(super) result: Vec<ReturnedWord>,
    /// Whether a store of a value that is not defined was left out.
    pub(super) stores_undefined: bool,
    pub(super) builder: FunctionBuilder,
    notes: Vec<String>,
    /// The reasons for which the function is not judged.
    pub(super) refused: Vec<Refused>,
    /// Values that are not supported, for which there is a reason already.
    pub(super) unread: BTreeSet<&'a str>,
}

/// The symbol that `llc` makes of a name, as a word that is valid in a litmus test.
pub(super) fn word(name: &str) -> String {
    let mut word = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => word.push(c),
            // `llc` writes `_$_`.
            '.' | '@' => word.push_str("___"),
            _ => word.push('_'),
        }
    }
    if word.starts_with(|c: char| c.is_ascii_digit()) || word.is_empty() || word == "_" {
        word.insert(0, 'v');
    }
    word
}

/// The names of the parameters, also of those whose numbers are implicit.
pub(super) fn parameter_names<'a>(definition: &FunctionDefinition<'a>) -> Vec<&'a str> {
    let mut next = 0;
    let names = definition.parameters.iter().map(|parameter| match parameter.name {
        "" => {
            next += 1;
            implicit(next - 1).unwrap_or("")
        }
        name => {
            next = name.parse().map_or(next, |number: usize| number.saturating_add(1));
            name
        }
    });
    names.collect()
}

/// The bodies of all functions that can be read.
pub(super) fn bodies<'a, 'm>(
    module: &'m Module<'a>,
    text: &'a str,
    report: &mut Diagnostics,
) -> Bodies<'a, 'm> {
    let mut bodies = BTreeMap::new();
    for definition in &module.functions {
        let before = report.count();
        let mut blocks = definition.blocks(text, report);
        number(definition, &mut blocks);
        if report.count() == before {
            bodies.insert(definition.name, FunctionBody { definition, blocks });
        }
    }
    bodies
}

/// Translates a function, or states why it is not supported. Code that LLVM would reject is reported.
pub(super) fn translate<'a>(
    module: &Module<'a>,
    bodies: &Bodies<'a, '_>,
    definition: &FunctionDefinition<'a>,
    lines: &LineIndex,
    report: &mut Diagnostics,
) -> Result<Function, Refusals> {
    let again = |variant| {
        let report = &mut Diagnostics::default();
        translated(module, bodies, definition, lines, report, variant).ok()
    };
    let zero = FunctionVariant { zero: true, ..FunctionVariant::default() };
    let mut variant = FunctionVariant::default();
    let mut function = match translated(module, bodies, definition, lines, report, variant) {
        Ok(mut function) => {
            if let UndefinedValues::LeftOut(other) = &mut function.undefined {
                *other = again(zero).map(Box::new);
            }
            function
        }
        Err(refusals) => {
            let undefined = refusals.all().iter().all(|one| one.why.contains("`undef`"));
            variant = zero;
            undefined.then(|| again(zero)).flatten().ok_or(refusals)?
        }
    };
    let checked = again(FunctionVariant { checked: true, ..variant });
    function.checked = checked.filter(|one| one.rows != function.rows).map(Box::new);
    Ok(function)
}

/// How a function is translated.
#[derive(Clone, Copy, Default)]
struct FunctionVariant {
    /// An execution in which a result is poison is undefined.
    checked: bool,
    /// `undef` and `poison` are 0.
    zero: bool,
}

/// The same, in one way.
fn translated<'a>(
    module: &Module<'a>,
    bodies: &Bodies<'a, '_>,
    definition: &FunctionDefinition<'a>,
    lines: &LineIndex,
    report: &mut Diagnostics,
    FunctionVariant { checked, zero }: FunctionVariant,
) -> Result<Function, Refusals> {
    let before = report.count();
    let blocks = &bodies[definition.name].blocks;
    let mut translator = Translator {
        module,
        bodies,
        inlined: None,
        definition,
        report,
        lines,
        values: BTreeMap::new(),
        steps: BTreeMap::new(),
        slots: BTreeSet::new(),
        copies: BTreeSet::new(),
        calls: Vec::new(),
        shared_call: None,
        checked,
        alignment: None,
        zero,
        poison: BTreeMap::new(),
        names: BTreeSet::new(),
        labels: BTreeMap::new(),
        pending: Vec::new(),
        at: definition.at,
        result: Vec::new(),
        stores_undefined: false,
        builder: FunctionBuilder::new(Dialect::Cxx),
        notes: Vec::new(),
        refused: Vec::new(),
        unread: BTreeSet::new(),
    };
    let mut parameters = translator.parameters()?;
    translator.names_of(blocks)?;
    translator.converted(blocks, &mut parameters);
    if translator.report.count() > before {
        return Err(translator.refused("it is not valid LLVM IR").into());
    }
    translator.blocks(blocks)?;
    for parameter in &mut parameters {
        parameter.pointee_alignment = parameter.pointee_alignment.max(translator.alignment);
    }
    let at = definition.at;
    let lifted = translator.builder.finish(translator.refused)?;
    Ok(Function {
        name: definition.symbol(),
        line: lines.number(at),
        language: Language::Cxx,
        clusters: true,
        kernel: definition.kernel,
        parameters,
        variables: lifted.variables,
        registers: lifted.registers,
        rows: lifted.rows,
        initial: lifted.initial,
        result: translator.result,
        checked: None,
        external: Vec::new(),
        undefined: if zero {
            UndefinedValues::Zero
        } else if translator.stores_undefined {
            UndefinedValues::LeftOut(None)
        } else {
            UndefinedValues::Absent
        },
        notes: translator.notes,
    })
}

/// Assigns the implicit numbers of blocks and results.
fn number<'a>(definition: &FunctionDefinition<'a>, blocks: &mut [Block<'a>]) {
    let mut next = 0;
    let mut pass = |name: Option<&'a str>| -> Option<&'a str> {
        let Some(name) = name else {
            next += 1;
            return implicit(next - 1);
        };
        next = name.parse().map_or(next, |number: usize| number.saturating_add(1));
        None
    };
    for parameter in &definition.parameters {
        pass((!parameter.name.is_empty()).then_some(parameter.name));
    }
    for block in blocks {
        let counted = pass(block.label);
        block.label = block.label.or(counted);
        for instruction in &mut block.instructions {
            if instruction.result.is_some() || instruction.step.result().is_some() {
                let counted = pass(instruction.result);
                instruction.result = instruction.result.or(counted);
            }
        }
    }
}

/// The largest number of implicit names. More are not supported.
const MOST_IMPLICIT: usize = 4096;

/// The implicit numbers as names.
static NUMBERS: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..MOST_IMPLICIT).map(|number| number.to_string()).collect());

/// An implicit number as a name.
fn implicit(number: usize) -> Option<&'static str> {
    NUMBERS.get(number).map(String::as_str)
}

impl<'a, 'm> Translator<'a, 'm> {
    pub(super) fn refused(&self, why: impl Into<String>) -> Refused {
        Refused { line: self.lines.number(self.at), why: why.into() }
    }

    pub(super) fn no<T>(&self, why: impl Into<String>) -> LoweringResult<T> {
        Err(self.refused(why))
    }

    /// Reports code that LLVM would reject, and ends the translation of the function.
    pub(super) fn wrong<T>(&mut self, code: &'static str, message: String) -> LoweringResult<T> {
        self.report.error(code, self.at, message);
        Err(self.refused("it is not valid LLVM IR"))
    }

    /// Records why something is not supported. The rest of the function is still read, so that all reasons are
    /// listed.
    pub(super) fn keep(&mut self, done: LoweringResult<()>) {
        if let Err(why) = done {
            self.refused.push(why);
        }
    }

    /// Whether an instruction uses or makes a value that is not supported.
    fn is_unread(&self, instruction: &TypedInstruction<'a>) -> bool {
        let mut operands = instruction.step.operands();
        instruction.result.is_some_and(|name| self.unread.contains(name))
            || std::iter::from_fn(|| {
                let value = operands.pop()?;
                operands.extend(value.operands());
                Some(value)
            })
            .any(|value| self.is_unread_value(value))
    }

    pub(super) fn is_unread_value(&self, value: &Value<'a>) -> bool {
        matches!(value, Value::Local(name) if self.unread.contains(name))
    }

    /// The line of the instruction that is being translated.
    pub(super) fn line(&self) -> usize {
        self.lines.number(self.at)
    }

    /// Notes the alignment that an access promises, if it is more than its parts need.
    pub(super) fn promise(&mut self, alignment: Option<u64>) {
        self.alignment = self.alignment.max(alignment);
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// A word similar to this one that is not in use.
    pub(super) fn fresh(&mut self, like: &str) -> String {
        let mut name = word(like);
        let mut next = 1;
        while self.module.words.contains(&name)
            || is_reserved(&name)
            || !self.names.insert(name.clone())
        {
            next += 1;
            name = format!("{}_{next}", word(like));
        }
        name
    }

    /// Records the initial value of a register.
    pub(super) fn entry(&mut self, register: &str, value: EntryValue) {
        self.builder.entry(register, value);
    }

    /// Declares a variable of the module, or of the function's own memory.
    pub(super) fn variable(&mut self, variable: FunctionVariable) {
        self.builder.variable(variable);
    }

    /// A generic pointer that is cast to a state space is known to point there.
    fn converted(&mut self, blocks: &[Block<'a>], parameters: &mut [Parameter]) {
        for instruction in blocks.iter().flat_map(|block| &block.instructions) {
            if let InstructionKind::Cast {
                op: "addrspacecast",
                from: (Ty::Ptr(0), from),
                to: Ty::Ptr(to),
                ..
            } = &instruction.step
                && let Root::Parameter(index) = self.root(from)
                && *to != 0
            {
                self.at = instruction.at;
                match self.space(*to) {
                    Ok(space) => parameters[index].points_to = Some(space),
                    Err(why) => self.refused.push(why),
                }
            }
        }
    }

    /// Assigns registers to each value and a label to each block.
    pub(super) fn names_of(&mut self, blocks: &'m [Block<'a>]) -> LoweringResult<()> {
        for block in blocks {
            self.at = block.at;
            let Some(label) = block.label else {
                return self.no("too many blocks without labels");
            };
            let name = self.fresh(label);
            if self.labels.insert(label, name).is_some() {
                return self
                    .wrong("llvm-label", format!("the label `{}` is defined twice", short(label)));
            }
        }
        for instruction in blocks.iter().flat_map(|block| &block.instructions) {
            self.at = instruction.at;
            if let Err(why) = self.name_of(instruction) {
                self.refused.push(why);
                self.unread.extend(instruction.result);
            }
        }
        self.uses(blocks);
        Ok(())
    }

    fn name_of(&mut self, instruction: &'m TypedInstruction<'a>) -> LoweringResult<()> {
        if let InstructionKind::Unsupported(what) = instruction.step {
            return self.no(format!("`{}` is not supported", short(what)));
        }
        let mut ty = instruction.step.result();
        if let InstructionKind::Part(AggregateAccess::Extract { from, path }) = &instruction.step {
            let mut part = &from.0;
            for index in path {
                let Some((element, _)) = part.element(*index, &self.module.types) else {
                    let message = format!("there is no element {index} in this");
                    return self.wrong("llvm-index", message);
                };
                part = element;
            }
            ty = Some(part.clone());
        }
        let (Some(name), Some(ty)) = (instruction.result, ty) else {
            return match instruction.result {
                Some(name) => {
                    self.wrong("llvm-value", format!("`%{}` is not defined", short(name)))
                }
                None => Ok(()),
            };
        };
        let Some(scalars) = ty.parts(&self.module.types) else {
            return self.no("a value of this type is not supported");
        };
        let mut parts = Vec::new();
        for (index, scalar) in scalars.iter().enumerate() {
            self.container(*scalar)?;
            let name = if scalars.len() == 1 { name.to_owned() } else { format!("{name}_{index}") };
            parts.push((*scalar, CellValue::Register(self.fresh(&name))));
        }
        self.steps.insert(name, &instruction.step);
        if self.values.insert(name, LoweredValue { ty, parts }).is_some() {
            return self.wrong("llvm-value", format!("`%{}` is defined twice", short(name)));
        }
        Ok(())
    }

    /// Reports undefined names, and finds the local variables that registers can hold.
    fn uses(&mut self, blocks: &'m [Block<'a>]) {
        let mut elsewhere = BTreeSet::new();
        let mut unknown = Vec::new();
        for instruction in blocks.iter().flat_map(|block| &block.instructions) {
            let mut operands = instruction.step.operands();
            if let InstructionKind::Phi { incoming, .. } = &instruction.step {
                operands.extend(incoming.iter().map(|(value, _)| value));
            }
            let mut stack = operands;
            let slot = self.slot_of(&instruction.step);
            // A call without an effect does not use the variable's address.
            let told = matches!(&instruction.step, InstructionKind::Call { callee, .. } if call::does_nothing(callee));
            while let Some(value) = stack.pop() {
                stack.extend(value.operands());
                let Value::Local(name) = value else { continue };
                if self.unread.contains(name) {
                    continue;
                }
                if !self.values.contains_key(name) {
                    unknown.push((instruction.at, *name));
                } else if slot != Some(*name) && !told {
                    elsewhere.insert(*name);
                }
            }
        }
        for (at, name) in unknown {
            let message = format!("`%{}` is not defined", short(name));
            let near = self.report.nearest(name, self.values.keys().copied());
            let help = near.map(|near| format!("`%{near}`"));
            self.report.error("llvm-value", at, message).help_if(help);
        }
        let made = self.steps.iter();
        let slots = made.filter(|(name, step)| {
            matches!(step, InstructionKind::Alloca { ty, count: None } if ty.parts(&self.module.types).is_some_and(|p| p.len() == 1))
                && !elsewhere.contains(*name)
        });
        self.slots = slots.map(|(name, _)| *name).collect();
    }

    /// The origin of a pointer, found through casts and offsets.
    pub(super) fn root(&self, pointer: &Value<'a>) -> Root<'a> {
        let mut value = pointer;
        // A longer chain is a cycle.
        for _ in 0..1000 {
            match value {
                Value::Local(name) => match self.steps.get(name) {
                    Some(InstructionKind::Address { base: (_, base), .. }) => value = base,
                    Some(InstructionKind::Cast {
                        op: "bitcast" | "addrspacecast",
                        from: (_, from),
                        ..
                    }) => {
                        value = from;
                    }
                    Some(InstructionKind::Freeze((_, of))) => value = of,
                    Some(InstructionKind::Alloca { .. }) => return Root::Alloca(name),
                    Some(_) => return Root::Unknown,
                    None if self.inlined.is_none() && self.copies.contains(name) => {
                        return Root::Alloca(name);
                    }
                    None => {
                        let outer = self.inlined.as_ref().and_then(|call| call.roots.get(name));
                        if let Some(root) = outer {
                            return *root;
                        }
                        let cell = self.values.get(name).and_then(|held| held.parts.first());
                        let place =
                            self.builder.initial().iter().find(|held| {
                                cell.is_some_and(|(_, cell)| cell.is_register(&held.0))
                            });
                        return match place {
                            Some((_, EntryValue::Parameter(index))) => Root::Parameter(*index),
                            _ => Root::Unknown,
                        };
                    }
                },
                Value::Global(name) => return Root::Global(name),
                Value::Address { base, .. } => value = &base.1,
                Value::Cast { op: "bitcast" | "addrspacecast", from, .. } => value = &from.1,
                Value::Literal(_)
                | Value::Aggregate(_)
                | Value::Cast { .. }
                | Value::Binary { .. }
                | Value::Splat(_)
                | Value::Text(_)
                | Value::Other(_) => {
                    return Root::Unknown;
                }
            }
        }
        Root::Unknown
    }

    /// The instruction that produces a value.
    pub(super) fn made(&self, name: &str) -> Option<&'m InstructionKind<'a>> {
        self.steps.get(name).copied()
    }

    /// The state space of an address space, by its number. A generic pointer is treated as one to global
    /// memory.
    pub(super) fn space(&self, number: u32) -> LoweringResult<Space> {
        Ok(match number {
            0 | 1 => Space::Global,
            3 | 7 => Space::Shared,
            4 => Space::Const,
            5 => Space::Local,
            _ => return self.no(format!("address space {number} is not supported")),
        })
    }

    /// The width in bits of a register that holds such a scalar: 1 for a predicate.
    pub(super) fn container(&self, scalar: ScalarType) -> LoweringResult<u32> {
        match scalar.bits() {
            1 => Ok(1),
            2..=32 => Ok(32),
            33..=64 => Ok(64),
            65..=WIDEST => Ok(WIDEST),
            _ => self.no(format!("values of type {scalar} are not supported")),
        }
    }

    /// Translates all reachable blocks, in the order of the file.
    pub(super) fn blocks(&mut self, blocks: &'m [Block<'a>]) -> LoweringResult<()> {
        let Some(first) = blocks.first() else {
            return self.wrong("llvm-block", "this function has no block".to_owned());
        };
        let by_label: BTreeMap<&str, &Block<'a>> =
            blocks.iter().filter_map(|block| Some((block.label?, block))).collect();
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut open = vec![first.label.unwrap_or("")];
        let mut targets = BTreeSet::new();
        while let Some(label) = open.pop() {
            if !reached.insert(label) {
                continue;
            }
            let Some(block) = by_label.get(label) else {
                let message = format!("there is no block `%{}`", short(label));
                return self.wrong("llvm-label", message);
            };
            let last = block.instructions.last();
            let Some((at, end)) = last.and_then(TypedInstruction::end) else {
                self.at = block.at;
                return self.wrong(
                    "llvm-block",
                    "a block ends with `br`, `switch`, `ret` or `unreachable`".to_owned(),
                );
            };
            self.at = at;
            let next = end.targets();
            targets.extend(next.iter().copied());
            open.extend(next);
        }
        let order: Vec<&Block<'a>> = blocks
            .iter()
            .filter(|block| block.label.is_some_and(|l| reached.contains(l)))
            .collect();
        for (index, block) in order.iter().enumerate() {
            let label = block.label.unwrap_or("");
            if targets.contains(label) {
                let label = self.labels[label].clone();
                self.pending.push(label);
            }
            let next = order.get(index + 1).and_then(|block| block.label);
            for instruction in &block.instructions {
                self.at = instruction.at;
                if self.is_unread(instruction) {
                    continue;
                }
                if let InstructionKind::End(end) = &instruction.step {
                    if self.checked {
                        self.uses_poison(&instruction.step.operands());
                    }
                    let done = self.control(end, label, next, &by_label);
                    self.keep(done);
                    break;
                }
                let done = self.step(instruction, index == 0);
                self.keep(done);
            }
        }
        if !self.pending.is_empty() {
            self.push(WrittenInstruction::default());
        }
        Ok(())
    }

    pub(super) fn label(&self, block: &str) -> String {
        self.labels.get(block).cloned().unwrap_or_default()
    }

    /// Adds a label to the next row.
    pub(super) fn place(&mut self, label: String) {
        self.pending.push(label);
    }
}

/// The width of a scalar in bits, limited to that of a `u16`.
pub(super) fn scalar_bits(scalar: ScalarType) -> u16 {
    u16::try_from(scalar.bits()).unwrap_or(u16::MAX)
}
