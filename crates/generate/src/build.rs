//! Makes the program and the litmus test of a cycle.
//!
//! Programs are built in memory, without text. [`test()`] adds the text of each instruction, and parses back as it is.
//!
//! A location has eight bytes where some access goes beyond the first four. Where its accesses have different bytes, each
//! byte of a write has the number of the write, so a read of several sizes shows which writes it reads; the outcome has
//! what the writes leave in the order of the cycle.

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
use model::isa::print::print_guarded;
use model::isa::st::{Store, StoreOrder};
use model::isa::{Address, Guard, Instruction, Line, Operand, Reg, SpaceQualifier, Type, TypeKind};
use model::memory::{Alias, Proxy, Space, Variable, VariableId};
use model::program::{
    CountedLoops, InitialValue, Observed, Program, ProgramNames, Register, Thread, ThreadId,
    ZeroDivision,
};
use model::scope::{Placement, Scope};
use model::value::Value;

use crate::access::{AccessForm, CycleAccess};
use crate::contents::{CycleContents, PlannedWrite};
use crate::cycle::Cycle;
use crate::word::{CycleAnnotation, Direction, Link, Via};

/// A bit that no value of a test has: `and` with it makes 0, in a way that depends on the value.
const UNSET: u64 = 128;

const B32: Type = bits(32);

const fn bits(bits: u16) -> Type {
    Type { kind: TypeKind::Bits, bits }
}

const fn unsigned(bits: u16) -> Type {
    Type { kind: TypeKind::Unsigned, bits }
}

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
    let shape = &cycle.shape;
    let (locations, forms) = (shape.locations(), cycle.forms_of_accesses());
    let contents = CycleContents::of(cycle);
    // As a test that is read has it.
    let (counted_loops, zero_division) = (CountedLoops::Complete, ZeroDivision::Undefined);
    let program = Program { counted_loops, zero_division, ..Program::default() };
    let mut built = CycleProgram { program, outcome: Vec::new(), addresses: Vec::new() };
    let plain = |name: String, bytes: usize| Variable {
        name,
        space: Space::Global,
        initial: vec![0; bytes],
        uninitialised: false,
        declared: false,
        alias: None,
        home: None,
        absolute: None,
        mbarriers: Vec::new(),
        tensormap: None,
        multimem: Vec::new(),
    };
    for (index, of) in contents.locations.iter().enumerate() {
        let declared = of.is_declared;
        built.program.variables.push(Variable { declared, ..plain(location(index), of.bytes) });
    }
    // The second addresses.
    let mut aliases: Vec<Option<VariableId>> = vec![None; contents.locations.len()];
    for (index, second) in aliases.iter_mut().enumerate() {
        let has_alias = |at: usize| forms[at] == AccessForm::Alias && locations[at] == index;
        if (0..shape.len()).any(has_alias) {
            *second = Some(variable(built.program.variables.len()));
            let alias = Some(Alias { of: variable(index), proxy: Proxy::Generic });
            let name = format!("{}_alias", location(index));
            built.program.variables.push(Variable { alias, ..plain(name, 0) });
        }
    }
    let address = |at: usize| {
        let alias = aliases[locations[at]].filter(|_| forms[at] == AccessForm::Alias);
        alias.unwrap_or(variable(locations[at]))
    };
    let threads = shape.threads().into_iter().zip(cycle.arrangement.placements());
    for (index, (accesses, placement)) in threads.enumerate() {
        let id = ThreadId(u8::try_from(index).expect("a cycle has few threads"));
        let first = accesses.start;
        let mut thread = ThreadBuilder::new(index, placement, cycle.dialect());
        let depends = |at: usize| matches!(shape.links[at - 1], Link::Order { via: Via::Addr, .. });
        for at in accesses.clone().skip(1).filter(|&at| depends(at)) {
            thread.address_of(at - first, address(at));
        }
        built.addresses.push(thread.registers.len());
        for at in accesses {
            let via = match at.checked_sub(1).filter(|_| at > first).map(|at| shape.links[at]) {
                Some(Link::Order { via, .. }) => via,
                // The atomic was made with the first of its accesses.
                Some(Link::Rmw | Link::InvRmw) => continue,
                Some(Link::Communicates { .. }) | None => Via::Plain,
            };
            let (read, write) = match shape.links[at] {
                Link::Rmw => (at, (at + 1) % shape.len()),
                Link::InvRmw => ((at + 1) % shape.len(), at),
                Link::Order { .. } | Link::Communicates { .. } => (at, at),
            };
            let registers = thread.access(&PlannedAccess {
                number: at - first,
                direction: shape.directions[read],
                access: cycle.accesses[at],
                via,
                location: address(at),
                read: &contents.reads[read],
                write: contents.writes[write].as_ref(),
            });
            for (register, &value) in registers.into_iter().zip(&contents.reads[read]) {
                built.program.observed.push(Observed::Register { thread: id, register });
                built.outcome.push(value.into());
            }
        }
        built.program.threads.push(thread.finished());
    }
    for (index, is_observed) in shape.observes_final().into_iter().enumerate() {
        if is_observed {
            let of = &contents.locations[index];
            built.program.observed.push(Observed::Memory {
                variable: variable(index),
                thread: ThreadId(0),
                offset: 0,
                length: u32::try_from(of.bytes).expect("a location has few bytes"),
            });
            built.outcome.push(of.last.into());
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

impl Cycle {
    /// Texture, surface and constant accesses are not in PTX itself.
    fn dialect(&self) -> Dialect {
        let through = |access: &CycleAccess| matches!(access.form, AccessForm::Through(_));
        let fenced = |link: &Link| matches!(link, Link::Order { via: Via::ProxyFence(_), .. });
        let is_peer = self.accesses.iter().any(through) || self.shape.links.iter().any(fenced);
        if is_peer { Dialect::Peer } else { Dialect::Ptx }
    }
}

/// One access of a cycle, with what is before it.
struct PlannedAccess<'c> {
    /// In its thread.
    number: usize,
    /// Of an atomic, that of its read.
    direction: Direction,
    access: CycleAccess,
    via: Via,
    location: VariableId,
    /// What each element reads.
    read: &'c [u64],
    /// What it writes: of an atomic, beside what it reads.
    write: Option<&'c PlannedWrite>,
}

struct ThreadBuilder {
    thread: Thread,
    dialect: Dialect,
    registers: Vec<Register>,
    /// The register of the latest read, its bits, and what it reads.
    latest: Option<(Reg, u16, u64)>,
    /// The registers with addresses, by the access.
    bases: Vec<(usize, Reg)>,
}

impl ThreadBuilder {
    fn new(index: usize, placement: Placement, dialect: Dialect) -> ThreadBuilder {
        let thread = Thread {
            name: format!("P{index}"),
            placement,
            registers: Vec::new(),
            lines: Vec::new(),
        };
        let (registers, bases) = (Vec::new(), Vec::new());
        ThreadBuilder { thread, dialect, registers, latest: None, bases }
    }

    fn register(&mut self, name: char, number: usize, bits: u16) -> Reg {
        self.named(format!("{name}{number}"), bits)
    }

    fn named(&mut self, name: String, bits: u16) -> Reg {
        self.registers.push(Register { name, initial: InitialValue::Value(0), bits });
        Reg(u16::try_from(self.registers.len() - 1).expect("a thread of a cycle is short"))
    }

    /// A register that holds the address of the location of an access.
    fn address_of(&mut self, number: usize, variable: VariableId) {
        let register = self.register('b', number, 64);
        let index = self.thread.name[1..].parse().unwrap_or(0);
        self.registers[usize::from(register.0)].initial =
            InitialValue::Address { variable, thread: ThreadId(index), offset: 0 };
        self.bases.push((number, register));
    }

    fn push(&mut self, guard: Option<Guard>, instruction: Instruction) {
        self.thread.lines.push(Line { guard, instruction, text: String::new() });
    }

    fn alu(&mut self, op: AluOp, ty: Type, destination: Reg, sources: Vec<Operand>) {
        self.push(None, Instruction::Alu(Alu { op, ty, destination, sources }));
    }

    /// A register of 32 bits with the low ones of the latest read, and what they are.
    fn latest_word(&mut self, number: usize) -> Option<(Reg, u64)> {
        let (register, bits, value) = self.latest?;
        let low = value & u64::from(u32::MAX);
        if bits == 32 {
            return Some((register, low));
        }
        let word = self.register('c', number, 32);
        self.alu(AluOp::Mov, unsigned(bits.min(32)), word, vec![Operand::Reg(register)]);
        Some((word, low))
    }

    /// Adds what is before the access, and the access; the registers of a read.
    fn access(&mut self, access: &PlannedAccess<'_>) -> Vec<Reg> {
        let number = access.number;
        let offset = i64::from(access.access.form.offset());
        let mut address = Address { base: Operand::Address(access.location), offset };
        let mut source = access.write.map(|write| Operand::Imm(write.operand));
        let mut guard = None;
        match access.via {
            Via::Fence(order, scope) => {
                self.push(None, Instruction::Fence(Fence { order, scope, aliases: false }));
            }
            Via::AliasFence => self.push(None, Instruction::ProxyFence(ProxyFence::Alias)),
            Via::ProxyFence(proxy) => {
                self.push(None, Instruction::ProxyFence(ProxyFence::Proxy(proxy)));
            }
            Via::Barrier => self.push(None, barrier(self.dialect)),
            Via::ClusterBarrier => {
                for kind in [ClusterBarrierKind::ArriveRelease, ClusterBarrierKind::Wait] {
                    self.push(None, Instruction::ClusterBarrier(kind.unaligned()));
                }
            }
            Via::Addr => address.base = self.dependent_address(number, address.base),
            Via::Data | Via::Fake => {
                if let Some(write) = access.write {
                    source = Some(self.dependent_value(number, write, access.via == Via::Fake));
                }
            }
            Via::Ctrl => {
                if let Some((read, value)) = self.latest_word(number) {
                    let predicate = self.register('p', number, 1);
                    let compared = vec![Operand::Reg(read), Operand::Imm(value)];
                    self.alu(AluOp::Setp(Comparison::Eq), Type::U32, predicate, compared);
                    guard = Some(Guard { predicate, negated: false });
                }
            }
            Via::FailedCas(order, scope) => {
                let value = access.write.map_or_else(|| access.read[0], |write| write.operand);
                let operands = vec![Operand::Imm(UNSET), Operand::Imm(value & u64::from(u32::MAX))];
                let base = Address { offset: 0, ..address };
                let op = (AtomicOp::Cas, B32);
                self.push(None, atomic(op, (order, scope), None, base, operands));
            }
            Via::Plain => {}
        }
        let (elements, bytes) = access.access.form.elements();
        let bits = 8 * u16::from(bytes);
        match access.direction {
            Direction::Read => {
                let mut registers = vec![self.register('r', number, bits)];
                for element in 1..elements {
                    registers.push(self.named(format!("r{number}_{element}"), bits));
                }
                self.latest = Some((registers[0], bits, access.read[0]));
                self.push(
                    guard,
                    match access.write {
                        Some(write) => {
                            let op = (AtomicOp::Exch, self::bits(bits));
                            let order = atomic_order(access.access.annotation);
                            let operands = vec![Operand::Imm(write.operand)];
                            atomic(op, order, Some(registers[0]), address, operands)
                        }
                        None => load(access.access, &registers, address),
                    },
                );
                registers
            }
            Direction::Write => {
                let source = source.unwrap_or(Operand::Imm(0));
                let reduces = access.write.and_then(|write| write.reduces);
                self.push(
                    guard,
                    match reduces {
                        Some(op) => {
                            let order = atomic_order(access.access.annotation);
                            let Instruction::Atomic(made) =
                                atomic((op, Type::U32), order, None, address, vec![source])
                            else {
                                unreachable!("an atomic was made");
                            };
                            Instruction::Atomic(Atomic { reduction: true, ..made })
                        }
                        None => store(access.access, source, address),
                    },
                );
                Vec::new()
            }
        }
    }

    /// The address of a variable, which depends on the latest read.
    fn dependent_address(&mut self, number: usize, address: Operand) -> Operand {
        let Some((read, _)) = self.latest_word(number) else { return address };
        let zero = self.register('t', number, 32);
        self.alu(AluOp::And, B32, zero, vec![Operand::Reg(read), Operand::Imm(UNSET)]);
        let wide = self.register('u', number, 64);
        self.alu(AluOp::Mov, Type::U32, wide, vec![Operand::Reg(zero)]);
        let whole = self.register('a', number, 64);
        let base = self.bases.iter().find(|(of, _)| *of == number);
        let base = base.map_or(wide, |&(_, base)| base);
        self.alu(AluOp::Add, Type::U64, whole, vec![Operand::Reg(base), Operand::Reg(wide)]);
        Operand::Reg(whole)
    }

    /// What is written, computed from the latest read; `cancels` if the read cancels out.
    fn dependent_value(&mut self, number: usize, write: &PlannedWrite, cancels: bool) -> Operand {
        let wanted = write.operand & u64::from(u32::MAX);
        let Some((mut read, mut value)) = self.latest_word(number) else {
            return Operand::Imm(write.operand);
        };
        if cancels {
            let zero = self.register('t', number, 32);
            self.alu(AluOp::Xor, B32, zero, vec![Operand::Reg(read), Operand::Reg(read)]);
            (read, value) = (zero, 0);
        }
        let sum = self.register('d', number, 32);
        let (op, ty, rest) = match wanted.checked_sub(value) {
            Some(more) => (AluOp::Add, Type::U32, more),
            // A difference may wrap where another value is read, and then has the bit of which addresses depend.
            None => (AluOp::Xor, B32, value ^ wanted),
        };
        self.alu(op, ty, sum, vec![Operand::Reg(read), Operand::Imm(rest)]);
        if write.bits <= 32 {
            return Operand::Reg(sum);
        }
        let wide = self.register('e', number, 64);
        self.alu(AluOp::Mov, Type::U32, wide, vec![Operand::Reg(sum)]);
        let whole = self.register('f', number, 64);
        let high = Operand::Imm(write.operand - wanted);
        self.alu(AluOp::Add, Type::U64, whole, vec![Operand::Reg(wide), high]);
        Operand::Reg(whole)
    }

    fn finished(self) -> Thread {
        Thread { registers: self.registers, ..self.thread }
    }
}

/// In the peer dialect the first number is that of the instruction.
fn barrier(dialect: Dialect) -> Instruction {
    let is_ptx = dialect == Dialect::Ptx;
    Instruction::Barrier(Barrier {
        kind: BarrierKind::Sync,
        id: Operand::Imm(0),
        count: None,
        instance: (!is_ptx).then_some(0),
        aligned: is_ptx,
        warp: false,
    })
}

fn atomic_order(annotation: CycleAnnotation) -> (AtomicOrder, Scope) {
    match annotation {
        CycleAnnotation::Relaxed(scope) => (AtomicOrder::Relaxed, scope),
        CycleAnnotation::Acquire(scope) => (AtomicOrder::Acquire, scope),
        CycleAnnotation::Release(scope) => (AtomicOrder::Release, scope),
        CycleAnnotation::AcqRel(scope) => (AtomicOrder::AcqRel, scope),
        CycleAnnotation::Weak
        | CycleAnnotation::Volatile
        | CycleAnnotation::Mmio
        | CycleAnnotation::MmioAcquire
        | CycleAnnotation::MmioRelease => (AtomicOrder::Relaxed, Scope::Gpu),
    }
}

fn atomic(
    (op, ty): (AtomicOp, Type),
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
        ty,
        reduction: false,
        destination,
        address,
        operands,
    })
}

/// The type of each element.
fn element(form: AccessForm) -> Type {
    unsigned(8 * u16::from(form.elements().1))
}

fn load(access: CycleAccess, registers: &[Reg], address: Address) -> Instruction {
    let order = match (access.form, access.annotation) {
        (AccessForm::NonCoherent, _) => LoadOrder::NonCoherent,
        (AccessForm::Uniform, _) => LoadOrder::Uniform,
        (AccessForm::Readonly, _) => LoadOrder::Readonly,
        (
            _,
            CycleAnnotation::Weak
            | CycleAnnotation::Release(_)
            | CycleAnnotation::AcqRel(_)
            | CycleAnnotation::MmioRelease,
        ) => LoadOrder::Weak,
        (_, CycleAnnotation::Volatile) => LoadOrder::Volatile,
        (_, CycleAnnotation::Relaxed(scope)) => LoadOrder::Relaxed(scope),
        (_, CycleAnnotation::Acquire(scope)) => LoadOrder::Acquire(scope),
        (_, CycleAnnotation::Mmio) => LoadOrder::MmioRelaxed,
        (_, CycleAnnotation::MmioAcquire) => LoadOrder::MmioAcquire,
    };
    let is_global = matches!(access.form, AccessForm::NonCoherent | AccessForm::Uniform);
    Instruction::Load(Load {
        order,
        cxx: Cxx::default(),
        space: if is_global { SpaceQualifier::Global } else { SpaceQualifier::Generic },
        proxy: proxy(access.form),
        ty: element(access.form),
        prefetches: false,
        global_only: false,
        destinations: registers.iter().copied().map(Some).collect(),
        address,
    })
}

fn store(access: CycleAccess, source: Operand, address: Address) -> Instruction {
    let order = match access.annotation {
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
        proxy: proxy(access.form),
        ty: element(access.form),
        global_only: false,
        sources: vec![source; usize::from(access.form.elements().0)],
        address,
    })
}

fn proxy(form: AccessForm) -> Proxy {
    if let AccessForm::Through(proxy) = form { proxy } else { Proxy::Generic }
}

/// The litmus test of a cycle: its program with text, and the outcome of the cycle as its condition.
pub fn test(cycle: &Cycle, quantifier: Quantifier) -> Test {
    let CycleProgram { mut program, outcome, addresses } = program(cycle);
    let mut columns = Vec::new();
    for index in 0..program.threads.len() {
        let thread = &program.threads[index];
        let names = ProgramNames { program: &program, thread };
        let print = |line: &Line| {
            let text = print_guarded(line.guard, &line.instruction, &names);
            text.expect("PTX has the instructions of cycles")
        };
        let texts: Vec<String> = thread.lines.iter().map(print).collect();
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
    let declared = |variable: &Variable| {
        let root =
            variable.alias.map_or(variable, |alias| &program.variables[usize::from(alias.of.0)]);
        let element = u32::try_from(root.initial.len()).expect("a location has few bytes");
        DeclaredVariable { element, count: None, space: None, mbarrier: false, sparse: false }
    };
    let given = DeclaredRegister { bytes: None, given: true, line: 1 };
    let declarations = Declarations {
        variables: program.variables.iter().map(declared).collect(),
        registers: addresses.iter().map(|&count| vec![given; count]).collect(),
    };
    let condition_text = format!("{} ({})", quantifier.name(), proposition.text(&program));
    let dialect = cycle.dialect();
    let mut metadata = vec![("Orig".to_owned(), cycle.words())];
    if dialect == Dialect::Peer {
        metadata.push(("Dialect".to_owned(), "peer".to_owned()));
    }
    let mut test = Test {
        name: cycle.name(),
        doc: Vec::new(),
        metadata,
        dialect,
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
