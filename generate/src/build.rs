//! Makes the program and the litmus test of a cycle.
//!
//! Programs are built in memory, without text. [`test()`] adds the text of each instruction, and parses back as it is.

use litmus::{
    Comparand, Declarations, DeclaredRegister, DeclaredVariable, Dialect, Prop, Quantifier, Test,
    print,
};
use model::isa::alu::{Alu, AluOp, Comparison};
use model::isa::atom::{Atomic, AtomicOp, AtomicOrder};
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrierKind};
use model::isa::cxx::Cxx;
use model::isa::fence::{Fence, ProxyFence};
use model::isa::ld::{Load, LoadOrder};
use model::isa::st::{Store, StoreOrder};
use model::isa::{Address, Guard, Instruction, Line, Operand, Reg, SpaceQualifier, Type, TypeKind};
use model::memory::{Proxy, Space, Variable, VariableId};
use model::program::{InitialValue, Observed, Program, Register, Thread, ThreadId};
use model::scope::{Placement, Scope};
use model::strength::AccessOrder;
use model::value::Value;

use crate::cycle::Cycle;
use crate::word::{CycleAnnotation, Direction, Link, Via};

/// A bit that no value of a test has: `and` with it makes 0, in a way that depends on the value.
const UNSET: u64 = 128;

const B32: Type = Type { kind: TypeKind::Bits, bits: 32 };

/// The name of a location.
pub fn location(index: usize) -> String {
    const NAMES: [&str; 4] = ["x", "y", "z", "w"];
    NAMES.get(index).map_or_else(|| format!("x{index}"), |&name| name.to_owned())
}

/// A program and the one outcome that its condition names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CycleProgram {
    pub program: Program,
    /// Of [`Program::observed`].
    pub outcome: Vec<Value>,
    /// The registers that hold addresses, for each thread: the first ones.
    addresses: Vec<usize>,
}

/// The program of a cycle. Its instructions have no text.
pub fn program(cycle: &Cycle) -> CycleProgram {
    let (locations, values) = (cycle.shape.locations(), cycle.shape.values());
    let mut built =
        CycleProgram { program: Program::default(), outcome: Vec::new(), addresses: Vec::new() };
    for index in 0..cycle.shape.location_count() {
        built.program.variables.push(Variable {
            name: location(index),
            space: Space::Global,
            initial: vec![0; 4],
            declared: false,
            alias: None,
            home: None,
            absolute: None,
        });
    }
    let threads = cycle.shape.threads().into_iter().zip(cycle.arrangement.placements());
    for (index, (accesses, placement)) in threads.enumerate() {
        let id = ThreadId(u8::try_from(index).expect("a cycle has few threads"));
        let first = accesses.start;
        let mut thread = ThreadBuilder::new(index, placement);
        let depends =
            |at: usize| matches!(cycle.shape.links[at - 1], Link::Order { via: Via::Addr, .. });
        for at in accesses.clone().skip(1).filter(|&at| depends(at)) {
            thread.address_of(at - first, variable(locations[at]));
        }
        built.addresses.push(thread.registers.len());
        for at in accesses {
            let via = match at.checked_sub(1).filter(|_| at > first).map(|at| cycle.shape.links[at])
            {
                Some(Link::Order { via, .. }) => via,
                // The atomic was made with its read.
                Some(Link::Rmw) => continue,
                Some(Link::Communicates { .. }) | None => Via::Plain,
            };
            let writes = cycle.shape.is_atomic(at).then(|| values[(at + 1) % values.len()]);
            let register = thread.access(&PlannedAccess {
                number: at - first,
                direction: cycle.shape.directions[at],
                annotation: cycle.annotations[at],
                via,
                location: variable(locations[at]),
                value: values[at],
                writes,
            });
            if let Some(register) = register {
                built.program.observed.push(Observed::Register { thread: id, register });
                built.outcome.push(values[at].into());
            }
        }
        built.program.threads.push(thread.finished());
    }
    for (index, &writes) in cycle.shape.writes().iter().enumerate() {
        if writes >= 2 {
            built.program.observed.push(Observed::Memory {
                variable: variable(index),
                thread: ThreadId(0),
                offset: 0,
                length: 4,
            });
            built.outcome.push(writes.into());
        }
    }
    built.program.constants.clone_from(&built.outcome);
    built.program.constants.sort_unstable();
    built.program.constants.dedup();
    built
}

fn variable(index: usize) -> VariableId {
    VariableId(u16::try_from(index).expect("a cycle has few locations"))
}

/// One access of a cycle, with what is before it.
struct PlannedAccess {
    /// In its thread.
    number: usize,
    direction: Direction,
    annotation: CycleAnnotation,
    via: Via,
    location: VariableId,
    value: u64,
    /// What an atomic writes, of which this is the read.
    writes: Option<u64>,
}

struct ThreadBuilder {
    thread: Thread,
    registers: Vec<Register>,
    /// The register and the value of the latest read.
    latest: Option<(Reg, u64)>,
    /// The registers with addresses, by the access.
    bases: Vec<(usize, Reg)>,
}

impl ThreadBuilder {
    fn new(index: usize, placement: Placement) -> ThreadBuilder {
        let thread = Thread {
            name: format!("P{index}"),
            placement,
            registers: Vec::new(),
            lines: Vec::new(),
        };
        ThreadBuilder { thread, registers: Vec::new(), latest: None, bases: Vec::new() }
    }

    fn register(&mut self, name: char, number: usize, bits: u16) -> Reg {
        let name = format!("{name}{number}");
        self.registers.push(Register { name, initial: InitialValue::Value(0), bits });
        Reg(u16::try_from(self.registers.len() - 1).expect("a thread of a cycle is short"))
    }

    /// A register that holds the address of the location of an access.
    fn address_of(&mut self, number: usize, variable: VariableId) {
        let register = self.register('b', number, 64);
        let index = self.thread.name[1..].parse().unwrap_or(0);
        self.registers[usize::from(register.0)].initial =
            InitialValue::Address { variable, thread: ThreadId(index) };
        self.bases.push((number, register));
    }

    fn push(&mut self, guard: Option<Guard>, instruction: Instruction) {
        self.thread.lines.push(Line { guard, instruction, text: String::new() });
    }

    fn alu(&mut self, op: AluOp, ty: Type, destination: Reg, sources: Vec<Operand>) {
        self.push(None, Instruction::Alu(Alu { op, ty, destination, sources }));
    }

    /// Adds what is before the access, and the access; the register of a read.
    fn access(&mut self, access: &PlannedAccess) -> Option<Reg> {
        let mut address = Address { base: Operand::Address(access.location), offset: 0 };
        let mut source = Operand::Imm(access.value);
        let mut guard = None;
        let number = access.number;
        match (access.via, self.latest) {
            (Via::Fence(order, scope), _) => {
                self.push(None, Instruction::Fence(Fence { order, scope }));
            }
            (Via::AliasFence, _) => self.push(None, Instruction::ProxyFence(ProxyFence::Alias)),
            (Via::Barrier, _) => self.push(None, barrier()),
            (Via::ClusterBarrier, _) => {
                for kind in [ClusterBarrierKind::ArriveRelease, ClusterBarrierKind::Wait] {
                    self.push(None, Instruction::ClusterBarrier(kind.unaligned()));
                }
            }
            (Via::Addr, Some((read, _))) => {
                let zero = self.register('t', number, 32);
                let masked = vec![Operand::Reg(read), Operand::Imm(UNSET)];
                self.alu(AluOp::And, B32, zero, masked);
                let wide = self.register('u', number, 64);
                self.alu(AluOp::Mov, Type::U32, wide, vec![Operand::Reg(zero)]);
                let whole = self.register('a', number, 64);
                let base = self.bases.iter().find(|(of, _)| *of == number);
                let base = base.map_or(wide, |&(_, base)| base);
                let sum = vec![Operand::Reg(base), Operand::Reg(wide)];
                self.alu(AluOp::Add, Type::U64, whole, sum);
                address.base = Operand::Reg(whole);
            }
            (Via::Data, Some((read, value))) => {
                let sum = self.register('d', number, 32);
                let (op, rest) = match access.value.checked_sub(value) {
                    Some(more) => (AluOp::Add, more),
                    None => (AluOp::Sub, value - access.value),
                };
                self.alu(op, Type::U32, sum, vec![Operand::Reg(read), Operand::Imm(rest)]);
                source = Operand::Reg(sum);
            }
            (Via::Ctrl, Some((read, value))) => {
                let predicate = self.register('p', number, 1);
                let compared = vec![Operand::Reg(read), Operand::Imm(value)];
                self.alu(AluOp::Setp(Comparison::Eq), Type::U32, predicate, compared);
                guard = Some(Guard { predicate, negated: false });
            }
            (Via::Fake, Some((read, _))) => {
                let zero = self.register('t', number, 32);
                let itself = vec![Operand::Reg(read), Operand::Reg(read)];
                self.alu(AluOp::Xor, B32, zero, itself);
                let sum = self.register('d', number, 32);
                let whole = vec![Operand::Reg(zero), Operand::Imm(access.value)];
                self.alu(AluOp::Add, Type::U32, sum, whole);
                source = Operand::Reg(sum);
            }
            (Via::FailedCas(order, scope), _) => {
                let operands = vec![Operand::Imm(UNSET), Operand::Imm(access.value)];
                self.push(None, atomic(AtomicOp::Cas, (order, scope), None, address, operands));
            }
            (Via::Plain | Via::Addr | Via::Data | Via::Ctrl | Via::Fake, _) => {}
        }
        match access.direction {
            Direction::Read => {
                let register = self.register('r', number, 32);
                self.latest = Some((register, access.value));
                self.push(
                    guard,
                    match access.writes {
                        Some(value) => exchange(access.annotation, register, address, value),
                        None => load(access.annotation, register, address),
                    },
                );
                Some(register)
            }
            Direction::Write => {
                self.push(guard, store(access.annotation, source, address));
                None
            }
        }
    }

    fn finished(self) -> Thread {
        Thread { registers: self.registers, ..self.thread }
    }
}

fn barrier() -> Instruction {
    Instruction::Barrier(Barrier {
        kind: BarrierKind::Sync,
        id: Operand::Imm(0),
        count: None,
        instance: None,
        aligned: true,
    })
}

/// An atomic exchange.
fn exchange(
    annotation: CycleAnnotation,
    register: Reg,
    address: Address,
    value: u64,
) -> Instruction {
    let (order, scope) = match annotation {
        CycleAnnotation::Relaxed(scope) => (AtomicOrder::Relaxed, scope),
        CycleAnnotation::Acquire(scope) => (AtomicOrder::Acquire, scope),
        CycleAnnotation::Release(scope) => (AtomicOrder::Release, scope),
        CycleAnnotation::AcqRel(scope) => (AtomicOrder::AcqRel, scope),
        CycleAnnotation::Weak
        | CycleAnnotation::Volatile
        | CycleAnnotation::Mmio
        | CycleAnnotation::MmioAcquire
        | CycleAnnotation::MmioRelease => (AtomicOrder::Relaxed, Scope::Gpu),
    };
    let operands = vec![Operand::Imm(value)];
    atomic(AtomicOp::Exch, (order, scope), Some(register), address, operands)
}

fn atomic(
    op: AtomicOp,
    (order, scope): (AtomicOrder, Scope),
    destination: Option<Reg>,
    address: Address,
    operands: Vec<Operand>,
) -> Instruction {
    Instruction::Atomic(Atomic {
        order,
        cxx: Cxx::default(),
        scope,
        space: SpaceQualifier::Generic,
        op,
        ty: B32,
        reduction: false,
        destination,
        address,
        operands,
    })
}

fn load(annotation: CycleAnnotation, register: Reg, address: Address) -> Instruction {
    let order = match annotation {
        CycleAnnotation::Weak
        | CycleAnnotation::Release(_)
        | CycleAnnotation::AcqRel(_)
        | CycleAnnotation::MmioRelease => LoadOrder::Weak,
        CycleAnnotation::Volatile => LoadOrder::Volatile,
        CycleAnnotation::Relaxed(scope) => LoadOrder::Relaxed(scope),
        CycleAnnotation::Acquire(scope) => LoadOrder::Acquire(scope),
        CycleAnnotation::Mmio => LoadOrder::MmioRelaxed,
        CycleAnnotation::MmioAcquire => LoadOrder::MmioAcquire,
    };
    Instruction::Load(Load {
        order,
        cxx: Cxx::default(),
        space: SpaceQualifier::Generic,
        proxy: Proxy::Generic,
        ty: Type::U32,
        prefetches: false,
        global_only: false,
        destinations: vec![Some(register)],
        address,
    })
}

fn store(annotation: CycleAnnotation, source: Operand, address: Address) -> Instruction {
    let order = match annotation {
        CycleAnnotation::Weak
        | CycleAnnotation::Acquire(_)
        | CycleAnnotation::AcqRel(_)
        | CycleAnnotation::MmioAcquire => StoreOrder::Weak,
        CycleAnnotation::Volatile => StoreOrder::Volatile,
        CycleAnnotation::Relaxed(scope) => StoreOrder::Relaxed(scope),
        CycleAnnotation::Release(scope) => StoreOrder::Release(scope),
        CycleAnnotation::Mmio => StoreOrder::MmioRelaxed,
        CycleAnnotation::MmioRelease => StoreOrder::MmioRelease,
    };
    Instruction::Store(Store {
        order,
        cxx: Cxx::default(),
        space: SpaceQualifier::Generic,
        proxy: Proxy::Generic,
        ty: Type::U32,
        global_only: false,
        sources: vec![source],
        address,
    })
}

/// The litmus test of a cycle: its program with text, and the outcome of the cycle as its condition.
pub fn test(cycle: &Cycle, quantifier: Quantifier) -> Test {
    let CycleProgram { mut program, outcome, addresses } = program(cycle);
    let mut columns = Vec::new();
    for index in 0..program.threads.len() {
        let thread = &program.threads[index];
        let texts: Vec<String> =
            thread.lines.iter().map(|line| text(&program, thread, line)).collect();
        for (line, text) in program.threads[index].lines.iter_mut().zip(&texts) {
            line.text.clone_from(text);
        }
        columns.push(texts);
    }
    let atoms = outcome.iter().enumerate().map(|(index, &value)| {
        Prop::Atom(Comparison::Eq, Comparand::Observed(index), Comparand::Constant(value))
    });
    let mut atoms: Vec<Prop> = atoms.collect();
    let proposition = match atoms.len() {
        0 => Prop::True,
        1 => atoms.remove(0),
        _ => Prop::And(atoms),
    };
    let declared = DeclaredVariable { element: 4, count: None, space: None, sparse: false };
    let given = DeclaredRegister { bytes: None, given: true, line: 1 };
    let declarations = Declarations {
        variables: vec![declared; program.variables.len()],
        registers: addresses.iter().map(|&count| vec![given; count]).collect(),
    };
    let condition_text = format!("{} ({})", quantifier.name(), proposition.text(&program));
    let mut test = Test {
        name: cycle.name(),
        doc: Vec::new(),
        metadata: vec![("Orig".to_owned(), cycle.words())],
        dialect: Dialect::Ptx,
        sass: None,
        program,
        declarations,
        columns,
        quantifier,
        proposition,
        filter: None,
        condition_text,
        line_numbers: Vec::new(),
        variable_lines: Vec::new(),
        condition_line: 0,
    };
    let printed = print::source(&test);
    let rows =
        |lines: &Vec<String>| (1..=lines.len()).map(|row| printed.line_of_row(row)).collect();
    let longest = test.columns.iter().map(Vec::len).max().unwrap_or(0);
    test.line_numbers = test.columns.iter().map(rows).collect();
    let count = test.program.variables.len();
    test.variable_lines = (0..count).map(|entry| printed.line_of_entry(entry)).collect();
    let registers = test.declarations.registers.iter_mut().flatten();
    for (entry, register) in (count..).zip(registers) {
        register.line = printed.line_of_entry(entry);
    }
    test.condition_line = printed.line_of_row(longest + 1);
    test
}

/// An instruction of a cycle, as a cell of a test has it.
fn text(program: &Program, thread: &Thread, line: &Line) -> String {
    let name = |register: Reg| thread.registers[usize::from(register.0)].name.clone();
    let operand = |operand: Operand| match operand {
        Operand::Reg(register) => name(register),
        Operand::Imm(value) => value.to_string(),
        Operand::Address(variable) => program.variables[usize::from(variable.0)].name.clone(),
    };
    let guard = line.guard.map_or(String::new(), |guard| format!("@{} ", name(guard.predicate)));
    let instruction = match &line.instruction {
        Instruction::Load(load) => {
            let register =
                load.destinations.first().copied().flatten().map_or("_".to_owned(), name);
            let order = load_annotation(load.order).qualifiers();
            format!("ld.{order}.u32 {register}, [{}]", operand(load.address.base))
        }
        Instruction::Store(store) => {
            let order = store_annotation(store.order).qualifiers();
            let source = store.sources.first().copied().map_or(String::new(), operand);
            format!("st.{order}.u32 [{}], {source}", operand(store.address.base))
        }
        Instruction::Fence(fence) => format!("fence.{}.{}", fence.order.name(), fence.scope),
        Instruction::ProxyFence(_) => "fence.proxy.alias".to_owned(),
        Instruction::Barrier(_) => "bar.sync 0".to_owned(),
        Instruction::ClusterBarrier(barrier) => match barrier.kind {
            ClusterBarrierKind::ArriveRelease | ClusterBarrierKind::ArriveRelaxed => {
                "barrier.cluster.arrive".to_owned()
            }
            ClusterBarrierKind::Wait => "barrier.cluster.wait".to_owned(),
        },
        Instruction::Alu(alu) => {
            let opcode = opcode(alu);
            let sources: Vec<String> = alu.sources.iter().map(|&source| operand(source)).collect();
            format!("{opcode} {}, {}", name(alu.destination), sources.join(", "))
        }
        Instruction::Atomic(atomic) => {
            let register = atomic.destination.map_or("_".to_owned(), name);
            let order = AccessOrder::from(atomic.order).name();
            let address = operand(atomic.address.base);
            let values: Vec<String> = atomic.operands.iter().map(|&value| operand(value)).collect();
            let (scope, values) = (atomic.scope, values.join(", "));
            let op = if atomic.op == AtomicOp::Cas { "cas" } else { "exch" };
            format!("atom.{order}.{scope}.{op}.b32 {register}, [{address}], {values}")
        }
        Instruction::Cvta(_) | Instruction::Branch(_) | Instruction::Unsupported(_) => {
            unreachable!("a cycle has no such instruction")
        }
    };
    guard + &instruction
}

/// Of the few operations that dependencies have.
fn opcode(alu: &Alu) -> &'static str {
    if alu.op == AluOp::And {
        "and.b32"
    } else if alu.op == AluOp::Xor {
        "xor.b32"
    } else if alu.op == AluOp::Mov {
        "cvt.u64.u32"
    } else if alu.op == AluOp::Sub {
        "sub.u32"
    } else if matches!(alu.op, AluOp::Setp(_)) {
        "setp.eq.u32"
    } else if alu.ty.bits == 64 {
        "add.u64"
    } else {
        "add.u32"
    }
}

fn load_annotation(order: LoadOrder) -> CycleAnnotation {
    match order {
        LoadOrder::Weak | LoadOrder::NonCoherent | LoadOrder::Uniform | LoadOrder::Readonly => {
            CycleAnnotation::Weak
        }
        LoadOrder::Volatile => CycleAnnotation::Volatile,
        LoadOrder::Relaxed(scope) => CycleAnnotation::Relaxed(scope),
        LoadOrder::Acquire(scope) => CycleAnnotation::Acquire(scope),
        LoadOrder::MmioRelaxed => CycleAnnotation::Mmio,
        LoadOrder::MmioAcquire => CycleAnnotation::MmioAcquire,
    }
}

fn store_annotation(order: StoreOrder) -> CycleAnnotation {
    match order {
        StoreOrder::Weak => CycleAnnotation::Weak,
        StoreOrder::Volatile => CycleAnnotation::Volatile,
        StoreOrder::Relaxed(scope) => CycleAnnotation::Relaxed(scope),
        StoreOrder::Release(scope) => CycleAnnotation::Release(scope),
        StoreOrder::MmioRelaxed => CycleAnnotation::Mmio,
        StoreOrder::MmioRelease => CycleAnnotation::MmioRelease,
    }
}
