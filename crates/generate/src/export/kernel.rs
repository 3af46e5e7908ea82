//! The threads of a test as PTX text with addresses in registers, and their places in a grid.

use std::collections::{BTreeMap, BTreeSet};

use litmus::Test;
use litmus::proposition::truncate;
use model::isa::alu::AluOp;
use model::isa::asynchronous::{Asynchronous, GroupKind};
use model::isa::bar::{Barrier, BarrierKind, MOST_CTA_THREADS};
use model::isa::print::print_guarded;
use model::isa::{Instruction, Operand};
use model::memory::{MbarrierState, Space, VariableId};
use model::program::{InitialValue, Observed, ProgramNames, Register, Thread, ThreadId};
use model::scope::Placement;

use super::operands::{self, leaves, parts, words};
use super::{ExportedLine, Inexpressible, refuse_variable};

/// What a thread needs and gives: its instructions with addresses in registers.
pub(super) struct ThreadText {
    /// The addresses whose registers have to be declared and set before the instructions.
    pub(super) addresses: BTreeSet<NamedAddress>,
    /// Declarations of registers, without those of addresses.
    pub(super) declarations: Vec<String>,
    pub(super) instructions: Vec<String>,
    /// The observed registers, and their types.
    pub(super) observed: Vec<(String, &'static str)>,
}

/// A variable in a register: with which address, and as which thread sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct NamedAddress {
    pub(super) variable: VariableId,
    /// `None` of the thread itself.
    pub(super) of: Option<ThreadId>,
    pub(super) form: AddressForm,
}

/// What an instruction takes for an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum AddressForm {
    /// A generic address, of 64 bits; also what instructions with `.global` take.
    Generic,
    /// An address in `.shared`, of 32 bits.
    Shared,
    /// The same of 64 bits.
    WideShared,
}

impl NamedAddress {
    /// The index of the variable.
    pub(super) fn index(self) -> usize {
        usize::from(self.variable.0)
    }

    /// The register that holds it.
    pub(super) fn register(self, test: &Test) -> String {
        let name = &test.program.variables[usize::from(self.variable.0)].name;
        let form = match self.form {
            AddressForm::Generic => "at",
            AddressForm::Shared => "shared",
            AddressForm::WideShared => "wide",
        };
        let of = self.of.map_or_else(String::new, |of| format!("_of_{}", of.0));
        format!("{form}_{name}{of}_")
    }

    /// Declares and sets the register of an address in shared memory; `own` is the address of the variable in the CTA of the
    /// thread, a register or constant of 32 bits, and `rank` the rank of the other CTA in the cluster.
    pub(super) fn of_shared(self, test: &Test, own: &str, rank: usize) -> Vec<String> {
        let register = self.register(test);
        let wide = self.form != AddressForm::Shared;
        let narrow = if wide { format!("narrow_{register}") } else { register.clone() };
        let mut lines = vec![format!(".reg .b32 {narrow};"), format!("mov.b32 {narrow}, {own};")];
        if self.of.is_some() {
            lines.push(format!("mapa.shared::cluster.u32 {narrow}, {narrow}, {rank};"));
        }
        if wide {
            lines.push(format!(".reg .b64 {register};"));
            lines.push(format!("cvt.u64.u32 {register}, {narrow};"));
        }
        if self.form == AddressForm::Generic {
            let space = if self.of.is_some() { "shared::cluster" } else { "shared" };
            lines.push(format!("cvta.{space}.u64 {register}, {register};"));
        }
        lines
    }
}

/// The type of a register of so many bits.
fn type_of(bits: u16) -> &'static str {
    match bits {
        1 => ".pred",
        8 | 16 => ".b16",
        32 => ".b32",
        128 => ".b128",
        _ => ".b64",
    }
}

/// Jumps back of one thread after which the loops of a program of [`Loops::Limited`] end.
pub(super) const MOST_ITERATIONS: u32 = 4096;

/// What is done with loops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loops {
    AsWritten,
    /// They end after [`MOST_ITERATIONS`]: the register `spent_` counts, and tells of it.
    Limited,
}

/// The text of a thread.
pub(super) fn thread(
    test: &Test,
    number: usize,
    loops: Loops,
) -> Result<ThreadText, Inexpressible> {
    let thread = &test.program.threads[number];
    refuse_generic_in_shared(test, number)?;
    let mut of = registers(test, number)?;
    if loops == Loops::Limited && thread.loops() {
        of.declarations.push(".reg .b32 spent_;".to_owned());
        of.declarations.push(".reg .pred over_;".to_owned());
        of.instructions.push("mov.b32 spent_, 0;".to_owned());
    }
    let mut labels = labels(thread);
    let back: BTreeSet<usize> = thread.back_branches().map(|(at, _)| at).collect();
    for at in test.instructions(number) {
        let line = ExportedLine { test, thread, at: (number, at), line: &thread.lines[at] };
        of.instructions.extend(labels.remove(&at).unwrap_or_default());
        let written = text(&line, &mut of.addresses)?;
        if loops == Loops::AsWritten || !back.contains(&at) {
            of.instructions.push(written);
            continue;
        }
        of.instructions.extend([
            "add.u32 spent_, spent_, 1;".to_owned(),
            format!("setp.gt.u32 over_, spent_, {MOST_ITERATIONS};"),
            format!("@over_ bra AFTER_{at}_;"),
            written,
            format!("AFTER_{at}_:"),
        ]);
    }
    of.instructions.extend(labels.into_values().flatten());
    Ok(of)
}

/// The registers of a thread: their declarations, what sets them, and those that are observed.
fn registers(test: &Test, number: usize) -> Result<ThreadText, Inexpressible> {
    let thread = &test.program.threads[number];
    if let Some(register) = thread.registers.iter().find(|of| of.name.ends_with('_')) {
        let what = format!(
            "a register with a name that ends with `_`, as those of the kernel do: `{}`",
            register.name
        );
        return Err(Inexpressible { line: 1, what });
    }
    let mut addresses = BTreeSet::new();
    let mut declarations = Vec::new();
    let mut instructions = Vec::new();
    // Steps of an instruction have registers of their own, with spaces in their names.
    let named = thread.registers.iter().enumerate().filter(|(_, of)| !of.name.contains(' '));
    for (index, register) in named {
        let name = &register.name;
        let bits = operands::width(thread, index);
        declarations.push(format!(".reg {} {name};", type_of(bits)));
        match register.initial {
            InitialValue::Address { variable, thread: seen, offset } => {
                let of = test.program.threads[usize::from(seen.0)].placement;
                let form = form_of_register(test, number, index, variable)?;
                let of = (!of.same_cta(thread.placement)
                    && test.program.variables[usize::from(variable.0)].space == Space::Shared)
                    .then_some(seen);
                let address = NamedAddress { variable, of, form };
                let bits = if form == AddressForm::Shared { 32 } else { 64 };
                instructions.push(format!("mov.b{bits} {name}, {};", address.register(test)));
                addresses.insert(address);
                if offset != 0 {
                    instructions.push(format!("add.u{bits} {name}, {name}, {offset};"));
                }
            }
            InitialValue::Value(value) if bits > 64 => {
                let (low, high) = (value & u128::from(u64::MAX), value >> 64);
                instructions.push(format!(
                    "{{ .reg .b64 low_, high_; mov.b64 low_, {low}; mov.b64 high_, {high}; mov.b128 {name}, {{low_, high_}}; }}"
                ));
            }
            InitialValue::Value(value) if bits > 1 => {
                let value = truncate(value, bits.into());
                instructions.push(format!("mov{} {name}, {value};", type_of(bits)));
            }
            InitialValue::Value(value) => {
                instructions.push(format!("setp.ne.u32 {name}, {}, 0;", value & 1));
            }
        }
    }
    let observed = test.program.observed.iter().filter_map(|observed| match *observed {
        Observed::Register { thread: of, register } if usize::from(of.0) == number => {
            let bits = operands::width(thread, register.0.into());
            Some((thread.registers[usize::from(register.0)].name.clone(), type_of(bits)))
        }
        Observed::Register { .. } | Observed::Memory { .. } => None,
    });
    let observed = observed.collect();
    Ok(ThreadText { addresses, declarations, instructions, observed })
}

/// The labels before each line of a thread to which a branch leads.
fn labels(thread: &Thread) -> BTreeMap<usize, BTreeSet<String>> {
    let mut labels: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for (at, target) in thread.branches() {
        let written = &thread.lines[at].text;
        let name = if leaves(written) { END } else { parts(written).2 };
        labels.entry(target).or_default().insert(format!("{name}:"));
    }
    labels
}

/// The label behind the last instruction, where `ret` and `exit` lead.
const END: &str = "END_";

/// Whether an instruction takes a generic address though it names a state space.
fn takes_generic(opcode: &str) -> bool {
    opcode.starts_with("cvta.to.") || opcode.starts_with("isspacep.")
}

/// Whether an instruction takes an address in `.shared`.
fn takes_shared(opcode: &str) -> bool {
    opcode.contains(".shared") && !takes_generic(opcode)
}

/// A generic address of shared memory that comes to an access in `.shared` by arithmetic is another address on a GPU
/// (reading R32).
fn refuse_generic_in_shared(test: &Test, number: usize) -> Result<(), Inexpressible> {
    let thread = &test.program.threads[number];
    let computed = |name: &str| {
        let index = thread.registers.iter().position(|of| of.name == name);
        thread.lines.iter().any(|line| {
            line.instruction
                .as_alu()
                .is_some_and(|alu| Some(usize::from(alu.destination.0)) == index)
        })
    };
    let generic = |register: &Register| match register.initial {
        InitialValue::Address { variable, .. } => {
            test.program.variables[usize::from(variable.0)].space == Space::Shared
        }
        InitialValue::Value(_) => false,
    };
    if !thread.registers.iter().any(generic) {
        return Ok(());
    }
    for line in ExportedLine::all(test, number) {
        let (_, opcode, operands) = parts(&line.line.text);
        let at = |begin: usize| operands[..begin].trim_end().ends_with('[');
        if takes_shared(opcode) && words(operands).any(|(begin, word)| at(begin) && computed(word))
        {
            return line
                .refuse("a computed address in `.shared`, where the thread has generic addresses");
        }
    }
    Ok(())
}

/// What the instructions of a thread take for the address in a register.
fn form_of_register(
    test: &Test,
    number: usize,
    register: usize,
    variable: VariableId,
) -> Result<AddressForm, Inexpressible> {
    if test.program.variables[usize::from(variable.0)].space != Space::Shared {
        return Ok(AddressForm::Generic);
    }
    let thread = &test.program.threads[number];
    let register = &thread.registers[register];
    let mut form = None;
    for line in ExportedLine::all(test, number) {
        let (_, opcode, operands) = parts(&line.line.text);
        if !words(operands).any(|(_, word)| word == register.name) {
            continue;
        }
        let this = match (takes_shared(opcode), register.bits) {
            (false, _) => AddressForm::Generic,
            (true, 32) => AddressForm::Shared,
            (true, _) => AddressForm::WideShared,
        };
        if form.is_some_and(|form| form != this) {
            return line.refuse(
                "an address that is generic in one instruction, and in `.shared` in another",
            );
        }
        form = Some(this);
    }
    Ok(form.unwrap_or(AddressForm::Generic))
}

/// An instruction whose addresses are in registers.
fn text(
    line: &ExportedLine<'_>,
    addresses: &mut BTreeSet<NamedAddress>,
) -> Result<String, Inexpressible> {
    let written = &line.line.text;
    let instruction = &line.line.instruction;
    if let Instruction::Unsupported(_) = instruction {
        return line.refuse("this instruction");
    }
    if instruction.as_alu().is_some_and(|alu| matches!(alu.op, AluOp::Opaque(_))) {
        return line.refuse("an instruction that is not in PTX");
    }
    if let Instruction::Barrier(barrier) = instruction {
        return barrier_text(line, barrier);
    }
    if instruction.as_branch().is_some() {
        // Instances of a warp may go different ways: without `.uni`.
        let (guard, _, target) = parts(written);
        let target = if leaves(written) { END } else { target };
        return Ok(format!("{guard} bra {target};").trim_start().to_owned());
    }
    if instruction.as_asynchronous().is_some_and(needs_more) {
        return line.refuse("matrices, tensors, launches and multimem addresses");
    }
    let (_, opcode, operands) = parts(written);
    if let Some(register) = operands::misfit(line.thread, opcode, operands) {
        return line
            .refuse(&format!("`{register}`, a register of another width than the instruction"));
    }
    let out = operands::replaced(written, |opcode, before, word| {
        word_text(line, opcode, before, word, addresses)
    });
    // An offset is added, also a negative one.
    let mut parts = out.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| {
        let (address, behind) = part.split_once(']').unwrap_or((part, ""));
        let address = address.replace("+-", "-").replace('-', "+-");
        format!("[{address}]{behind}")
    });
    Ok(first + &rest.collect::<String>() + ";")
}

/// What stands in the place of a word of the operands, if not the word.
fn word_text(
    line: &ExportedLine<'_>,
    opcode: &str,
    before: &str,
    word: &str,
    addresses: &mut BTreeSet<NamedAddress>,
) -> Option<String> {
    let is_register = |name: &str| line.thread.registers.iter().any(|of| of.name == name);
    if is_register(word) {
        return None;
    }
    if let Some(name) = word.strip_prefix('%').filter(|name| is_register(name)) {
        return Some(name.to_owned());
    }
    let in_brackets = before.rfind('[') > before.rfind(']');
    if !in_brackets && let Some(bits) = operands::float(opcode, before, word) {
        return Some(bits);
    }
    let index = line.test.program.variables.iter().position(|of| of.name == word)?;
    let of_shared = line.test.program.variables[index].space == Space::Shared;
    let wide = opcode.ends_with("64");
    let form = match (of_shared, in_brackets, wide) {
        (true, _, _) if takes_generic(opcode) || in_brackets && !takes_shared(opcode) => {
            AddressForm::Generic
        }
        (true, true, _) | (true, false, false) => AddressForm::Shared,
        (true, false, true) => AddressForm::WideShared,
        (false, _, _) => AddressForm::Generic,
    };
    let variable = VariableId(u16::try_from(index).expect("a test has few variables"));
    let address = NamedAddress { variable, of: None, form };
    addresses.insert(address);
    Some(address.register(line.test))
}

/// Whether an instruction takes more than addresses and values: a descriptor, a tensormap, a grid, tensor memory.
fn needs_more(of: &Asynchronous) -> bool {
    match of {
        Asynchronous::Copy(copy) => copy.tensor.is_some() || copy.multimem,
        Asynchronous::Store(store) => store.multimem,
        Asynchronous::Commit(kind) => *kind == GroupKind::Multiplications,
        Asynchronous::WaitGroup(wait) => wait.of == GroupKind::Multiplications,
        Asynchronous::Mbarrier(_)
        | Asynchronous::PendingCount(_)
        | Asynchronous::Track(_)
        | Asynchronous::Fence(_)
        | Asynchronous::Fill(_) => false,
        Asynchronous::Multiply(_)
        | Asynchronous::MultiplyFence
        | Asynchronous::Grid(_)
        | Asynchronous::TensormapFence(_)
        | Asynchronous::Tensormap(_)
        | Asynchronous::TensorMemory(_)
        | Asynchronous::Multimem(_)
        | Asynchronous::Cancel(_) => true,
    }
}

/// What a kernel does not have, as each thread of a test is a warp.
pub(super) const LANES: &str = "several lanes of a warp";

/// A barrier, at which a whole warp arrives for each thread of the test.
fn barrier_text(line: &ExportedLine<'_>, barrier: &Barrier) -> Result<String, Inexpressible> {
    if barrier.warp {
        return line.refuse(LANES);
    }
    let count = match barrier.count {
        None => return Ok(format!("{};", line.line.text)),
        Some(Operand::Imm(_)) if matches!(barrier.kind, BarrierKind::Reduce { .. }) => {
            return line.refuse("a reduction with a thread count");
        }
        Some(Operand::Imm(count)) => count,
        Some(Operand::Reg(_) | Operand::Address(_)) => {
            return line.refuse("a thread count in a register");
        }
    };
    let Some(lanes) = count.checked_mul(32).filter(|lanes| *lanes <= MOST_CTA_THREADS) else {
        return line.refuse("a count of more warps than a CTA has");
    };
    let of_warps = Barrier { count: Some(Operand::Imm(lanes)), ..barrier.clone() };
    let names = ProgramNames { program: &line.test.program, thread: line.thread };
    match print_guarded(line.line.guard, &Instruction::Barrier(of_warps), &names) {
        // `%p` and `p` name the same register.
        Some(text) => Ok(text.replace('%', "") + ";"),
        None => line.refuse("this instruction"),
    }
}

/// A variable, as a kernel has it.
pub(super) struct ExportedVariable {
    pub(super) name: String,
    /// Whether it is in shared memory; otherwise it is in global memory.
    pub(super) shared: bool,
    /// Its bytes before all threads.
    pub(super) initial: Vec<u8>,
    /// The states of its elements, if they are mbarrier objects from the start.
    pub(super) mbarriers: Vec<MbarrierState>,
}

/// Each variable. Only those in global and shared memory can be exported.
pub(super) fn variables(test: &Test) -> Result<Vec<ExportedVariable>, Inexpressible> {
    let each = test.program.variables.iter().enumerate().map(|(index, variable)| {
        let shared = match variable.space {
            Space::Global => Some(false),
            Space::Shared => Some(true),
            Space::Local | Space::Const | Space::ParamEntry | Space::ParamFunc | Space::Tensor => {
                None
            }
        };
        let Some(shared) = shared.filter(|_| variable.alias.is_none()) else {
            let what = "an alias, or a variable outside global and shared memory";
            return refuse_variable(test, index, what);
        };
        if variable.tensormap.is_some() || !variable.multimem.is_empty() {
            return refuse_variable(test, index, "a tensormap, or a multimem address");
        }
        if variable.absolute.is_some() {
            return refuse_variable(test, index, "a variable at an address of its own");
        }
        Ok(ExportedVariable {
            name: variable.name.clone(),
            shared,
            initial: variable.initial.clone(),
            mbarriers: variable.mbarriers.clone(),
        })
    });
    each.collect()
}

/// Where the threads of a test run in a grid.
pub(super) struct Roles {
    /// The CTA and the warp of each thread.
    pub(super) places: Vec<(usize, usize)>,
    /// CTAs of a cluster; 1 if no two CTAs of the test are in one.
    pub(super) cluster: usize,
    /// CTAs of one instance of the test: whole clusters.
    pub(super) ctas: usize,
    /// Warps of a CTA.
    pub(super) warps: usize,
}

impl Roles {
    /// The rank of the CTA of a thread in its cluster.
    pub(super) fn rank(&self, of: Option<ThreadId>) -> usize {
        of.map_or(0, |of| self.places[usize::from(of.0)].0 % self.cluster)
    }
}

/// The places of the threads, in the order of the threads. CTAs of a cluster follow each other.
pub(super) fn roles(test: &Test) -> Roles {
    let places: Vec<Placement> = test.program.threads.iter().map(|t| t.placement).collect();
    // The threads of each CTA of each cluster.
    let mut clusters: Vec<Vec<Vec<usize>>> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let near = |cluster: &Vec<Vec<usize>>| places[cluster[0][0]].same_cluster(*place);
        let cluster = clusters.iter().position(near).unwrap_or_else(|| {
            clusters.push(Vec::new());
            clusters.len() - 1
        });
        let ctas = &mut clusters[cluster];
        match ctas.iter_mut().find(|threads| places[threads[0]].same_cta(*place)) {
            Some(threads) => threads.push(at),
            None => ctas.push(vec![at]),
        }
    }
    // The ranks of CTAs are in the order of their numbers.
    for ctas in &mut clusters {
        ctas.sort_by_key(|threads| places[threads[0]].cta);
    }
    let cluster = clusters.iter().map(Vec::len).max().unwrap_or(1);
    let warps = clusters.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let mut roles = vec![(0, 0); places.len()];
    for (first, ctas) in clusters.iter().enumerate() {
        for (index, threads) in ctas.iter().enumerate() {
            for (warp, &at) in threads.iter().enumerate() {
                roles[at] = (first * cluster + index, warp);
            }
        }
    }
    Roles { places: roles, cluster, ctas: clusters.len() * cluster, warps }
}
