//! Builds the program that an engine runs from threads of steps.

use model::isa::{Address, Operand, Reg, Type, TypeKind};
use model::memory::{Space, Variable, VariableId};
use model::program::{InitialValue, Observed, Program, Register, ThreadId};
use model::scope::Placement;
use model::value::Value;

use super::language::SourceId;
use super::piece::{GuardNames, StepOperands, ThreadPiece};
use super::step::{AccessKind, Step, TestLocation};

/// A step, and the number of the value that it writes. Each store of a question has a distinct value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumberedStep {
    pub step: Step,
    pub value: u8,
    /// The value that a compare-exchange expects.
    pub expects: u8,
    /// The index of the step in the row; `None` for a step of a context.
    pub row: Option<usize>,
}

/// The number of program lines of each step.
pub fn lines(steps: &[NumberedStep]) -> Vec<usize> {
    let mut shown = false;
    let count = |numbered: &NumberedStep| match numbered.step {
        Step::Guard => 2 * usize::from(shown),
        Step::Access { act, .. } => {
            shown |= act.shows();
            1
        }
        Step::Fence { .. }
        | Step::Barrier { .. }
        | Step::ClusterArrive { .. }
        | Step::ClusterWait => 1,
    };
    steps.iter().map(count).collect()
}

/// The width of the locations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    Byte,
    /// Any other width. An access wider than a byte may be torn.
    Word,
}

impl Width {
    fn ty(self) -> Type {
        match self {
            Width::Byte => Type { kind: TypeKind::Unsigned, bits: 8 },
            Width::Word => Type::U32,
        }
    }

    /// The value with this number, repeated in each byte.
    fn value(self, number: u8) -> u64 {
        match self {
            Width::Byte => number.into(),
            Width::Word => u64::from(number) * 0x0101_0101,
        }
    }

    /// The number of a value; `None` if its bytes come from several stores.
    pub fn number(self, value: Value) -> Option<u8> {
        let number = u8::try_from(value & 0xff).expect("a byte is left");
        (Value::from(self.value(number)) == value).then_some(number)
    }
}

/// The notation of a test: its language, and whether each byte of a value shows its store.
#[derive(Clone, Copy)]
pub struct TestWords {
    pub language: SourceId,
    pub torn: bool,
}

impl TestWords {
    /// The value with this number.
    pub fn value(self, number: u8) -> String {
        if self.torn && number > 0 {
            format!("{:#x}", Width::Word.value(number))
        } else {
            number.to_string()
        }
    }
}

/// The steps of a thread as lines: as instructions of a test, or by the names of the steps. `None` if some
/// step is not a single instruction of a test.
pub fn piece(steps: &[NumberedStep], width: Width, test: Option<TestWords>) -> Option<ThreadPiece> {
    let mut piece = ThreadPiece::default();
    for &NumberedStep { step, value, expects, .. } in steps {
        let next = piece.registers.len();
        if step == Step::Guard {
            let names = test.map(|_| GuardNames {
                prefix: String::new(),
                predicate: format!("p{next}"),
                end: "E".to_owned(),
            });
            if piece.end_if(width.ty(), (0, true), names.as_ref()).is_none() && test.is_some() {
                return None;
            }
            continue;
        }
        let at = if let Step::Access { at, .. } = step { Some(at) } else { None };
        let operands = at.map(|at| StepOperands {
            at: at.name().to_owned(),
            address: Address { base: Operand::Address(variable(at)), offset: 0 },
            bits: width.ty().bits,
            register: format!("r{next}"),
            value: Operand::Imm(width.value(value)),
            expects: width.value(expects),
            words: [value, expects].map(|number| test.map_or(String::new(), |t| t.value(number))),
        });
        piece.step(step, test.map(|test| test.language), operands.as_ref())?;
    }
    Some(piece)
}

/// The program of these threads. All locations are observed, and all registers that an outcome includes.
pub fn program(threads: &[Vec<NumberedStep>], placements: &[Placement], width: Width) -> Program {
    let mut program = Program::default();
    for place in TestLocation::ALL {
        program.variables.push(Variable {
            name: place.name().to_owned(),
            space: Space::Global,
            initial: vec![0; usize::from(width.ty().bits / 8)],
            uninitialised: false,
            declared: true,
            alias: None,
            home: None,
            absolute: None,
            mbarriers: Vec::new(),
            tensormap: None,
            multimem: Vec::new(),
        });
    }
    for (index, (steps, &placement)) in threads.iter().zip(placements).enumerate() {
        let id = ThreadId(u8::try_from(index).expect("a question has few threads"));
        let piece = piece(steps, width, None).expect("each step is a line by its own name");
        let observed = |register| Observed::Register { thread: id, register };
        program.observed.extend(piece.shown.iter().map(|&register| observed(register)));
        program.threads.push(piece.thread(format!("T{index}"), placement));
    }
    let length = u32::from(width.ty().bits / 8);
    for place in TestLocation::ALL {
        let written = threads.iter().flatten().any(|numbered| {
            // A probe does not change the location.
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

/// Places `y` in the shared memory of the first thread's CTA.
pub fn share(program: &mut Program) {
    let y = variable(TestLocation::Y);
    program.variables[usize::from(y.0)].space = Space::Shared;
    let first = program.threads[0].placement;
    for thread in program.threads.iter_mut().filter(|t| !t.placement.same_cta(first)) {
        let register = Reg(u16::try_from(thread.registers.len()).expect("a question is short"));
        let initial = InitialValue::Address { variable: y, thread: ThreadId(0), offset: 0 };
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
