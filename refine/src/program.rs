//! Threads of steps become a program that an engine runs.

use model::isa::alu::{Alu, AluOp, Branch, Comparison};
use model::isa::atom::{Atomic, AtomicOp};
use model::isa::bar::{Barrier, BarrierKind, ClusterBarrierKind};
use model::isa::cxx::Cxx;
use model::isa::fence::Fence;
use model::isa::ld::Load;
use model::isa::st::Store;
use model::isa::{Address, Guard, Instruction, Line, Operand, Reg, SpaceQualifier, Type, TypeKind};
use model::memory::{Proxy, Space, Variable, VariableId};
use model::program::{InitialValue, Observed, Program, Register, Thread, ThreadId};
use model::scope::{Placement, Scope};
use model::value::Value;

use super::step::{AccessKind, AccessOrder, Step, TestLocation};

/// A step, and the number of the value that it writes: each store of a question has its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumberedStep {
    pub step: Step,
    pub value: u8,
    /// What a compare-exchange compares with.
    pub expects: u8,
    /// Which of the row's steps it is; none of a context.
    pub row: Option<usize>,
}

/// How many lines of a program each step is.
pub fn lines(steps: &[NumberedStep]) -> Vec<usize> {
    let mut shown = false;
    let count = |numbered: &NumberedStep| match numbered.step {
        Step::Guard => 2 * usize::from(shown),
        Step::Access { act, .. } => {
            shown |= act.shows();
            1
        }
        Step::Fence { .. } | Step::Barrier | Step::ClusterArrive { .. } | Step::ClusterWait => 1,
    };
    steps.iter().map(count).collect()
}

/// How wide the locations are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    Byte,
    /// Any other: what is wider than a byte may be torn.
    Word,
}

impl Width {
    fn ty(self) -> Type {
        match self {
            Width::Byte => Type { kind: TypeKind::Unsigned, bits: 8 },
            Width::Word => Type::U32,
        }
    }

    /// The value with this number: in each of its bytes.
    fn value(self, number: u8) -> u64 {
        match self {
            Width::Byte => number.into(),
            Width::Word => u64::from(number) * 0x0101_0101,
        }
    }

    /// The number of a value; none for the bytes of several.
    pub fn number(self, value: Value) -> Option<u8> {
        let number = u8::try_from(value & 0xff).expect("a byte is left");
        (Value::from(self.value(number)) == value).then_some(number)
    }
}

/// The program of these threads, all registers that show and all locations observed.
pub fn program(threads: &[Vec<NumberedStep>], placements: &[Placement], width: Width) -> Program {
    let mut program = Program::default();
    for place in TestLocation::ALL {
        program.variables.push(Variable {
            name: place.name().to_owned(),
            space: Space::Global,
            initial: vec![0; usize::from(width.ty().bits / 8)],
            declared: true,
            alias: None,
            home: None,
            absolute: None,
        });
    }
    for (index, (steps, &placement)) in threads.iter().zip(placements).enumerate() {
        let id = ThreadId(u8::try_from(index).expect("a question has few threads"));
        let mut writer =
            ProgramWriter { width, registers: Vec::new(), lines: Vec::new(), shown: Vec::new() };
        for &step in steps {
            writer.step(step);
        }
        let end = writer.lines.len();
        for line in &mut writer.lines {
            if let Instruction::Branch(branch) = &mut line.instruction {
                branch.target = end;
            }
        }
        let observed = |register| Observed::Register { thread: id, register };
        program.observed.extend(writer.shown.iter().map(|&register| observed(register)));
        program.threads.push(Thread {
            name: format!("T{index}"),
            placement,
            registers: writer.registers,
            lines: writer.lines,
        });
    }
    let length = u32::from(width.ty().bits / 8);
    for place in TestLocation::ALL {
        let written = threads.iter().flatten().any(|numbered| {
            // A probe leaves what was there.
            matches!(
                numbered.step,
                Step::Access { act, at, .. } if at == place && act.writes() && act != AccessKind::Probe
            )
        });
        if written {
            program.observed.push(Observed::Memory {
                variable: variable(place),
                thread: ThreadId(0),
                offset: 0,
                length,
            });
        }
    }
    program
}

/// Puts `y` into the shared memory of the first thread's CTA.
pub fn share(program: &mut Program) {
    let y = variable(TestLocation::Y);
    program.variables[usize::from(y.0)].space = Space::Shared;
    let first = program.threads[0].placement;
    for thread in program.threads.iter_mut().filter(|t| !t.placement.same_cta(first)) {
        let register = Reg(u16::try_from(thread.registers.len()).expect("a question is short"));
        let initial = InitialValue::Address { variable: y, thread: ThreadId(0) };
        thread.registers.push(Register { name: "y".to_owned(), initial, bits: 64 });
        for line in &mut thread.lines {
            line.instruction.each_operand_mut(&mut |operand| {
                if *operand == Operand::Address(y) {
                    *operand = Operand::Reg(register);
                }
            });
        }
    }
}

pub fn variable(place: TestLocation) -> VariableId {
    VariableId(match place {
        TestLocation::X => 0,
        TestLocation::Y => 1,
        TestLocation::Z => 2,
    })
}

struct ProgramWriter {
    width: Width,
    registers: Vec<Register>,
    lines: Vec<Line>,
    /// Registers that an outcome shows, in program order.
    shown: Vec<Reg>,
}

impl ProgramWriter {
    fn register(&mut self, bits: u16) -> Reg {
        let register = Reg(u16::try_from(self.registers.len()).expect("a question is short"));
        let name = format!("r{}", register.0);
        self.registers.push(Register { name, initial: InitialValue::Value(0), bits });
        register
    }

    fn push(&mut self, guard: Option<Guard>, instruction: Instruction, text: String) {
        self.lines.push(Line { guard, instruction, text });
    }

    fn step(&mut self, numbered: NumberedStep) {
        let text = numbered.step.to_string();
        let instruction = match numbered.step {
            Step::Access { act, at, order, scope } => self.access(act, at, order, scope, numbered),
            Step::Fence { order, scope } => Instruction::Fence(Fence { order, scope }),
            Step::Barrier => Instruction::Barrier(Barrier {
                kind: BarrierKind::Sync,
                id: Operand::Imm(0),
                count: None,
                instance: None,
                aligned: true,
            }),
            Step::ClusterArrive { relaxed: true } => {
                Instruction::ClusterBarrier(ClusterBarrierKind::ArriveRelaxed.unaligned())
            }
            Step::ClusterArrive { relaxed: false } => {
                Instruction::ClusterBarrier(ClusterBarrierKind::ArriveRelease.unaligned())
            }
            Step::ClusterWait => Instruction::ClusterBarrier(ClusterBarrierKind::Wait.unaligned()),
            Step::Guard => return self.guard(text),
        };
        self.push(None, instruction, text);
    }

    fn guard(&mut self, text: String) {
        let Some(&read) = self.shown.last() else { return };
        let predicate = self.register(1);
        let compare = Alu {
            op: AluOp::Setp(Comparison::Eq),
            ty: self.width.ty(),
            destination: predicate,
            sources: vec![Operand::Reg(read), Operand::Imm(0)],
        };
        self.push(None, Instruction::Alu(compare), text.clone());
        let branch = Instruction::Branch(Branch { target: 0, condition: None });
        self.push(Some(Guard { predicate, negated: false }), branch, text);
    }

    fn access(
        &mut self,
        act: AccessKind,
        at: TestLocation,
        order: AccessOrder,
        scope: Scope,
        NumberedStep { value, expects, .. }: NumberedStep,
    ) -> Instruction {
        let ty = self.width.ty();
        let destination = act.shows().then(|| {
            let register = self.register(ty.bits);
            self.shown.push(register);
            register
        });
        ContextAccess {
            act,
            order,
            scope,
            ty,
            address: Address { base: Operand::Address(variable(at)), offset: 0 },
            destination,
            value: self.width.value(value),
            expects: self.width.value(expects),
        }
        .instruction()
    }
}

/// An access as one instruction of the model.
pub(crate) struct ContextAccess {
    pub(crate) act: AccessKind,
    pub(crate) order: AccessOrder,
    pub(crate) scope: Scope,
    pub(crate) ty: Type,
    pub(crate) address: Address,
    /// `None` discards what is read.
    pub(crate) destination: Option<Reg>,
    pub(crate) value: u64,
    /// What a compare-exchange compares with.
    pub(crate) expects: u64,
}

impl ContextAccess {
    pub(crate) fn instruction(self) -> Instruction {
        let ContextAccess { act, order, scope, ty, address, destination, .. } = self;
        let mut cxx = Cxx {
            seq_cst: order == AccessOrder::SeqCst,
            unordered: order == AccessOrder::Unordered,
            failure: None,
        };
        let value = Operand::Imm(self.value);
        let (op, operands) = match act {
            AccessKind::Load => {
                return Instruction::Load(Load {
                    order: order.load(scope),
                    cxx,
                    space: SpaceQualifier::Generic,
                    proxy: Proxy::Generic,
                    ty,
                    prefetches: false,
                    global_only: false,
                    destinations: vec![destination],
                    address,
                });
            }
            AccessKind::Store => {
                return Instruction::Store(Store {
                    order: order.store(scope),
                    cxx,
                    space: SpaceQualifier::Generic,
                    proxy: Proxy::Generic,
                    ty,
                    global_only: false,
                    sources: vec![value],
                    address,
                });
            }
            AccessKind::Swap | AccessKind::Overwrite | AccessKind::Reduce => {
                (AtomicOp::Exch, vec![value])
            }
            AccessKind::CompareExchange(failure) => {
                cxx.failure = failure;
                (AtomicOp::Cas, vec![Operand::Imm(self.expects), value])
            }
            AccessKind::Probe => (AtomicOp::Cas, vec![Operand::Imm(0); 2]),
        };
        Instruction::Atomic(Atomic {
            order: order.atomic(),
            cxx,
            scope,
            space: SpaceQualifier::Generic,
            op,
            ty,
            reduction: act == AccessKind::Reduce,
            destination,
            address,
            operands,
        })
    }
}
