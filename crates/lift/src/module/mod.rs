//! Translates the functions of a PTX module.
//!
//! Characters that a column does not allow are replaced in names. Loads of parameters become moves, and the
//! store of a result becomes the return value. Functions of the module that a function calls are read in its
//! place; their arguments are memory of the thread.

mod call;
mod callee;
mod heap;
pub(crate) mod names;
pub(crate) mod operand;
mod parameter;
mod store;
mod tensor;
mod warp;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use machine::form::Family;
use model::isa::TypeKind;
use model::memory::Space;
use ptx::opcode::is_without_effect;
use ptx::qualifier::Dialect;
use ptx::{BodyItem, FunctionDeclaration, Instruction, MemoryDeclaration, Module, PrintedOperand};

use crate::builder::FunctionBuilder;
use crate::external::ExternalFunction;
use crate::function::{
    Function, FunctionVariable, Functions, Language, Parameter, Refusals, Refused, UndefinedValues,
};
use crate::opaque::LONE_LANE;
use crate::written::{WrittenArg, WrittenGuard, WrittenInstruction, written};
use callee::FunctionSet;
use heap::HeapRegisters;
use names::Names;
use warp::Uncomputed;

pub use heap::{HEAP, HEAP_BYTES};
pub use tensor::{TILE, TensorLayout};

/// The reason why a part cannot be read.
type ReadResult<T> = Result<T, String>;

/// A variable of the module, and its name in columns.
struct GlobalVariable<'a> {
    declared: MemoryDeclaration<'a>,
    own: String,
}

/// What a function is read for.
#[derive(Clone, Copy)]
enum Purpose<'p> {
    /// A comparison with its lowering: its thread is the only lane of its warp.
    Lowering,
    /// A launch of it: all lanes execute it.
    Launch(&'p LaunchedArguments),
}

/// What a launch says of a function.
#[derive(Clone, Debug, Default)]
pub struct LaunchedArguments {
    /// Names that belong to the launch: registers and variables have others.
    pub reserved: BTreeSet<String>,
    /// The variables of the module whose addresses are arguments.
    pub globals: BTreeSet<String>,
    /// The tensors of the parameters that are tensormaps.
    pub tensors: BTreeMap<usize, TensorLayout>,
    /// What the parameters are called in the launch.
    pub names: BTreeMap<usize, String>,
}

/// The functions and variables of a module.
struct ModuleContents<'m, 'a> {
    module: &'m Module<'a>,
    functions: Vec<FunctionDeclaration<'a>>,
    globals: BTreeMap<&'a str, GlobalVariable<'a>>,
    /// Of each function, the instructions that name what is not declared.
    faults: BTreeMap<usize, Vec<Refused>>,
    purpose: Purpose<'m>,
    /// See [`ModuleContents::taken`].
    taken: OnceCell<FunctionSet>,
}

/// A function whose body is being read: the function itself, or one that it calls.
#[derive(Default)]
struct Frame<'a> {
    index: usize,
    /// Of a called function: the memory of its parameters and results.
    arguments: BTreeMap<&'a str, String>,
    /// Of a called function: the label after it.
    end: Option<String>,
    /// The tables of `brx.idx`.
    tables: BTreeMap<&'a str, Vec<&'a str>>,
    /// The registers that one `mov` of a number writes, and no other instruction.
    numbers: BTreeMap<&'a str, PrintedOperand<'a>>,
    /// The functions that each indirect call may call, by its index in the body.
    callees: BTreeMap<usize, FunctionSet>,
    /// The index of the current part of the body.
    at: usize,
}

/// A function that is being read.
struct FunctionReader<'m, 'a> {
    contents: &'m ModuleContents<'m, 'a>,
    names: Names<'a>,
    frames: Vec<Frame<'a>>,
    /// The names of the memory that bodies of functions declare.
    variables: BTreeMap<(usize, &'a str), String>,
    notes: Vec<String>,
    parameters: Vec<Parameter>,
    /// The result: its name and its bytes.
    result: Option<(&'a str, u32)>,
    returned: bool,
    /// The bytes of the result that are stored somewhere.
    stored: BTreeSet<u32>,
    /// The bytes of arguments that were stored since the last call with them.
    passed: BTreeMap<String, BTreeSet<u32>>,
    /// The functions of other modules that it calls, with the registers of the addresses of their memory.
    called: BTreeMap<String, String>,
    /// The same functions.
    external: Vec<ExternalFunction>,
    /// The register that all these calls share.
    calls: Option<String>,
    /// Registers with generic addresses of local memory, and whether one of them is stored.
    local_addresses: BTreeSet<String>,
    passes_local: bool,
    /// The parameters whose tensormaps registers of functions have the addresses of.
    maps: BTreeMap<(usize, String), usize>,
    builder: FunctionBuilder,
    /// The registers of the device heap.
    heap: Option<HeapRegisters>,
    refused: Vec<Refused>,
    /// The line of the current instruction.
    line: usize,
}

/// The functions of a module that have a body.
pub fn functions(module: &Module<'_>) -> Functions {
    functions_besides(module, &[])
}

/// The same for a module in which some instructions name what is not declared: these refuse their functions, and those
/// that call them.
pub fn functions_besides(module: &Module<'_>, faults: &[Refused]) -> Functions {
    let contents = contents(module, faults, Purpose::Lowering);
    let all = contents.functions.iter().enumerate();
    all.map(|(index, declared)| (declared.name.to_owned(), function(&contents, index))).collect()
}

/// The function of this name as each thread of a launch executes it. `faults` refuse their functions, and those that call them.
/// `None` if the module has no such function with a body.
pub fn launched(
    module: &Module<'_>,
    name: &str,
    arguments: &LaunchedArguments,
    faults: &[Refused],
) -> Option<Result<Function, Refusals>> {
    let contents = contents(module, faults, Purpose::Launch(arguments));
    let index = contents.functions.iter().position(|declared| declared.name == name)?;
    Some(function(&contents, index))
}

fn contents<'m, 'a>(
    module: &'m Module<'a>,
    faults: &[Refused],
    purpose: Purpose<'m>,
) -> ModuleContents<'m, 'a> {
    let mut names = Names::default();
    if let Purpose::Launch(arguments) = purpose {
        for name in &arguments.reserved {
            names.take(name);
        }
    }
    let launched = matches!(purpose, Purpose::Launch(_));
    let mut dynamic: Option<String> = None;
    let globals = module.globals().into_iter().map(|declared| {
        // All arrays of dynamic shared memory begin at one address.
        let is_dynamic = launched
            && declared.external
            && declared.bytes.is_none()
            && declared.space.space() == Some(Space::Shared);
        let own = dynamic.clone().filter(|_| is_dynamic);
        let own = own.unwrap_or_else(|| names.fresh(declared.name));
        if is_dynamic {
            dynamic = Some(own.clone());
        }
        (declared.name, GlobalVariable { declared, own })
    });
    let globals = globals.collect();
    let functions = module.declared_functions();
    let mut by_function: BTreeMap<usize, Vec<Refused>> = BTreeMap::new();
    for fault in faults {
        let after = functions.partition_point(|function| function.line <= fault.line);
        by_function.entry(after.saturating_sub(1)).or_default().push(fault.clone());
    }
    let taken = OnceCell::new();
    ModuleContents { module, functions, globals, faults: by_function, purpose, taken }
}

fn function(contents: &ModuleContents<'_, '_>, index: usize) -> Result<Function, Refusals> {
    let declared = &contents.functions[index];
    let line = declared.line;
    if contents.module.address_bits() == Some(32) {
        let why = "32-bit addresses are not supported".to_owned();
        return Err(Refused { line, why }.into());
    }
    let mut names = Names::default();
    for global in contents.globals.values() {
        names.take(&global.own);
    }
    let builder = FunctionBuilder::new(Dialect::Ptx);
    let builder = if let Purpose::Launch(arguments) = contents.purpose {
        for name in &arguments.reserved {
            names.take(name);
        }
        builder.of_every_lane()
    } else {
        builder
    };
    names.open_body();
    let mut reader = FunctionReader {
        contents,
        names,
        frames: vec![Frame { index, ..Frame::default() }],
        variables: BTreeMap::new(),
        notes: Vec::new(),
        parameters: Vec::new(),
        result: None,
        returned: false,
        stored: BTreeSet::new(),
        passed: BTreeMap::new(),
        called: BTreeMap::new(),
        external: Vec::new(),
        calls: None,
        local_addresses: BTreeSet::new(),
        passes_local: false,
        maps: BTreeMap::new(),
        heap: None,
        builder,
        refused: Vec::new(),
        line,
    };
    // Variables are named before registers, so that they have the same name in source and target.
    reader.name_variables(index);
    if let Err(why) = reader.signature(declared) {
        reader.refused.push(Refused { line, why });
    }
    if let Purpose::Launch(arguments) = contents.purpose {
        for name in &arguments.globals {
            if let Err(why) = reader.global(name) {
                reader.refused.push(Refused { line, why });
            }
        }
    }
    reader.addressed_parameters(index);
    reader.body(index);
    if reader.passes_local && !reader.called.is_empty() {
        let why = "a call of a function without a body, which may have the address of local memory";
        reader.refused.push(Refused { line, why: why.to_owned() });
    }
    let result = reader.returned_words();
    let lifted = reader.builder.finish(reader.refused)?;
    Ok(Function {
        name: declared.name.to_owned(),
        line,
        language: Language::Ptx,
        clusters: contents
            .module
            .target()
            .is_none_or(|target| Family::of_or_before(target.sm).has_clusters()),
        kernel: declared.kernel,
        parameters: reader.parameters,
        variables: lifted.variables,
        registers: lifted.registers,
        rows: lifted.rows,
        initial: lifted.initial,
        result,
        checked: None,
        external: reader.external,
        undefined: UndefinedValues::Absent,
        notes: reader.notes,
    })
}

impl<'a> FunctionReader<'_, 'a> {
    /// The function whose body is being read.
    fn frame(&self) -> &Frame<'a> {
        self.frames.last().expect("a function is being read")
    }

    fn declared(&self, index: usize) -> &FunctionDeclaration<'a> {
        &self.contents.functions[index]
    }

    fn name_variables(&mut self, index: usize) {
        for variable in &self.contents.functions[index].variables {
            let name = variable.name;
            if !self.variables.contains_key(&(index, name)) {
                let own = self.names.fresh(name);
                self.variables.insert((index, name), own);
            }
        }
    }

    fn signature(&mut self, function: &FunctionDeclaration<'a>) -> ReadResult<()> {
        for parameter in &function.parameters {
            let name = parameter.name;
            let bytes = parameter.bytes.filter(|bytes| *bytes <= MOST_BYTES);
            let bytes =
                bytes.ok_or_else(|| format!("the size of the parameter `{name}` is not known"))?;
            let scalar = bytes <= 8 && !parameter.array;
            // What else has its name in a column is told from it.
            self.names.plain(name);
            self.parameters.push(Parameter {
                name: names::plain(name),
                bits: u16::try_from(8 * bytes).expect("few bytes"),
                float: scalar && parameter.element.is_some_and(|ty| ty.kind == TypeKind::Float),
                integer: scalar
                    && parameter
                        .element
                        .is_some_and(|ty| matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed)),
                alignment: (!scalar).then_some(parameter.alignment),
                points_to: parameter.points_to.map(|to| to.space().unwrap_or(Space::Global)),
                no_alias: false,
                pointee_alignment: parameter.pointee_alignment.map(u64::from),
            });
        }
        let results = &function.results;
        if let Some(result) = results.first() {
            let one = results.len() == 1 && !function.kernel;
            let bytes = result.bytes.filter(|bytes| *bytes <= MOST_RETURNED && one);
            let bytes = bytes.ok_or("the size of the returned value is not supported")?;
            self.result = Some((result.name, bytes));
        }
        Ok(())
    }

    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    fn push(&mut self, instruction: &WrittenInstruction) {
        self.builder.push(instruction, self.line);
    }

    /// A label that the function does not have.
    fn label(&mut self, name: &str) -> String {
        self.names.fresh(name)
    }

    /// Reads the body of a function. What cannot be read is recorded.
    fn body(&mut self, index: usize) {
        let contents = self.contents;
        self.refused.extend(contents.faults.get(&index).into_iter().flatten().cloned());
        let items = contents.module.body(index);
        let callees = contents.callees(&items);
        let frame = self.frames.last_mut().expect("a function is being read");
        (frame.numbers, frame.callees) = (numbers(&items), callees);
        self.names.labels_of_body(&items);
        let mut label = None;
        for (at, item) in items.iter().enumerate() {
            self.frames.last_mut().expect("a function is being read").at = at;
            match item {
                BodyItem::Open => self.names.open(&items[at + 1..]),
                BodyItem::Close => self.names.close(),
                BodyItem::Register { name, count } => self.names.register(name, *count),
                BodyItem::Variable(variable) => self.names.declare(*variable),
                BodyItem::Targets(targets) => {
                    let frame = self.frames.last_mut().expect("a function is being read");
                    frame.tables.extend(label.map(|label| (label, targets.clone())));
                }
                BodyItem::Label(name) => {
                    label = Some(*name);
                    let name = self.names.plain(name);
                    self.push(&WrittenInstruction::label(name));
                }
                BodyItem::Instruction(instruction) => {
                    self.line = self.contents.module.line_of(instruction);
                    if let Err(why) = self.instruction(instruction) {
                        self.refused.push(Refused { line: self.line, why });
                    }
                }
            }
        }
    }

    /// Follows generic addresses of local memory to where they are stored, as arguments are. `made`: whether this
    /// instruction makes one.
    fn follow_local(&mut self, instruction: &Instruction<'a>, opcode: &str, made: bool) {
        if !made && self.local_addresses.is_empty() {
            return;
        }
        let Some((first, rest)) = instruction.operands.split_first() else { return };
        let mut from = rest.iter().flat_map(operand::scalars);
        let known = from.any(|one| self.local_addresses.contains(&one));
        if opcode == "st" {
            self.passes_local |= known;
        } else if made || known && matches!(opcode, "mov" | "add" | "selp" | "cvta" | "or") {
            self.local_addresses.extend(operand::scalars(first));
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) -> ReadResult<()> {
        let parts: Vec<&str> = instruction.name.split('.').collect();
        let opcode = parts[0];
        let launched = matches!(self.contents.purpose, Purpose::Launch(_));
        if is_without_effect(opcode) || opcode == "discard" || opcode == "brkpt" && !launched {
            return Ok(());
        }
        if opcode == "bar" && parts.get(1) == Some(&"warp") && !launched {
            self.note(LONE_LANE);
            return Ok(());
        }
        let guard = instruction.guard.map(|guard| WrittenGuard {
            predicate: self.names.plain(guard),
            negated: instruction.negated,
        });
        let guard = guard.as_ref();
        if launched && self.of_tensor(instruction, guard, &parts)? {
            return Ok(());
        }
        let part = |name: &str| parts[1..].contains(&name);
        self.follow_local(
            instruction,
            opcode,
            opcode == "cvta" && (part("local") || part("param")) && !part("to"),
        );
        if instruction.memory && parts[1..].iter().any(|part| part.starts_with("param")) {
            return self.parameter(instruction, guard, &parts);
        }
        match opcode {
            "ret" => {
                let end = &self.frame().end;
                let end = end.as_ref().map_or(written("ret", &[]), |end| written("bra", &[end]));
                self.push(&end.guarded(guard));
                return Ok(());
            }
            // The thread ends, also in a function that is called.
            "exit" => {
                self.push(&written("exit", &[]).guarded(guard));
                return Ok(());
            }
            "trap" | "brkpt" => {
                self.trap(guard);
                return Ok(());
            }
            "call" => return self.call(instruction, guard),
            "brx" => return self.branch_by_table(instruction, guard),
            _ => {}
        }
        // Its operands may have forms of their own.
        let outside = ptx::opcode::outside(opcode).filter(|_| !launched && !warp::is_read(opcode));
        if let Some(what) = outside {
            return Err(format!("`{}`: {what}", instruction.name));
        }
        let of_warp = warp::is_of_warp(opcode) && launched;
        let with_numbers: Vec<PrintedOperand<'_>>;
        let operands = if of_warp {
            with_numbers = self.with_number(&instruction.operands);
            &with_numbers
        } else {
            &instruction.operands
        };
        let operands = self.operands(operands, &parts)?;
        let read = Uncomputed { guard, parts: &parts, operands: &operands };
        let described = |why| format!("`{}`: {why}", instruction.text);
        if !of_warp && self.not_computed(&read).map_err(described)? {
            return Ok(());
        }
        if opcode == "st" && self.stores_some(guard, &parts, &operands)? {
            return Ok(());
        }
        let mut name = instruction.name.clone();
        if opcode == "cvta" && !self.frames[0].arguments.is_empty() {
            // A parameter whose address is taken is in local memory.
            name = name.replace(".param", ".local");
        }
        let plain = WrittenInstruction { name, operands, ..WrittenInstruction::default() };
        let row = self.builder.push(&plain.guarded(guard), self.line);
        row.volatile = instruction.memory && (part("volatile") || part("mmio"));
        Ok(())
    }
}

/// The registers of a body that one `mov` of a number writes, and no other instruction; no predicates.
fn numbers<'a>(items: &[BodyItem<'a>]) -> BTreeMap<&'a str, PrintedOperand<'a>> {
    let mut numbers = BTreeMap::new();
    let mut written = BTreeSet::new();
    for item in items {
        let BodyItem::Instruction(instruction) = item else { continue };
        for register in &instruction.defines {
            let is_number = instruction.name.starts_with("mov.")
                && instruction.name != "mov.pred"
                && instruction.guard.is_none();
            let number =
                instruction.operands.get(1).filter(|of| is_number && operand::is_number(of));
            match number {
                Some(number) if written.insert(*register) => {
                    numbers.insert(*register, number.clone());
                }
                Some(_) | None => {
                    written.insert(register);
                    numbers.remove(register);
                }
            }
        }
    }
    numbers
}

impl<'a> FunctionReader<'_, 'a> {
    /// Operands with numbers in the place of registers that hold nothing else: compilers write masks and clamps so.
    fn with_number(&self, operands: &[PrintedOperand<'a>]) -> Vec<PrintedOperand<'a>> {
        let numbers = &self.frame().numbers;
        let number = |operand: &PrintedOperand<'a>| {
            let name = match operand::scalars(operand).pop() {
                Some(name) => numbers.get(&name[..]),
                None => None,
            };
            name.cloned().unwrap_or_else(|| operand.clone())
        };
        let sources = operands.iter().skip(1).map(number);
        operands.iter().take(1).cloned().chain(sources).collect()
    }

    /// The thread ends. In a launch, that is an outcome of its own: the line is stored in [`TRAP`].
    fn trap(&mut self, guard: Option<&WrittenGuard>) {
        if matches!(self.contents.purpose, Purpose::Launch(_)) {
            let line = u32::try_from(self.line).unwrap_or(u32::MAX);
            self.builder.variable(FunctionVariable {
                name: TRAP.to_owned(),
                space: Space::Global,
                bytes: 4,
                ..FunctionVariable::default()
            });
            let place = WrittenArg::address(TRAP, 0);
            self.push(&written("st.relaxed.sys.global.u32", &[&place, &line]).guarded(guard));
        }
        self.push(&written("exit", &[]).guarded(guard));
    }
}

/// The variable of a launched function with the line of the trap that a thread ran into; 0 if none did.
pub const TRAP: &str = "trap_line";

/// The largest size of a returned value in bytes.
const MOST_RETURNED: u32 = 1024;

/// The largest size of a parameter in bytes that the width of a [`Parameter`] can express.
const MOST_BYTES: u32 = 8191;

#[cfg(test)]
mod tests;
