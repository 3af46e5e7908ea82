//! The instructions of a cycle as text.

use model::isa::alu::{Alu, AluOp};
use model::isa::atom::{Atomic, AtomicOp};
use model::isa::bar::ClusterBarrierKind;
use model::isa::fence::ProxyFence;
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::isa::{Address, Instruction, Line, Operand, Reg};
use model::memory::Proxy;
use model::program::{Program, Thread};
use model::strength::AccessOrder;

use crate::word::CycleAnnotation;

/// An instruction of a cycle, as a cell of a test has it.
pub(crate) fn text(program: &Program, thread: &Thread, line: &Line) -> String {
    let text = CycleCell { program, thread };
    let name = |register: Reg| text.name(register);
    let operand = |operand: Operand| text.operand(operand);
    let guard = line.guard.map_or(String::new(), |guard| format!("@{} ", name(guard.predicate)));
    let instruction = match &line.instruction {
        Instruction::Load(load) => {
            let opcode = match load.proxy {
                Proxy::Generic => "ld",
                Proxy::Texture => "tld",
                Proxy::Surface => "suld",
                Proxy::Constant => "cold",
            };
            let opcode = match load.order {
                LoadOrder::NonCoherent => "ld.global.nc".to_owned(),
                LoadOrder::Uniform => "ldu.global".to_owned(),
                LoadOrder::Readonly => "ld.proxy::readonly".to_owned(),
                LoadOrder::Weak
                | LoadOrder::Volatile
                | LoadOrder::Relaxed(_)
                | LoadOrder::Acquire(_)
                | LoadOrder::MmioRelaxed
                | LoadOrder::MmioAcquire => {
                    format!("{opcode}.{}", load_annotation(load.order).qualifiers())
                }
            };
            let registers: Vec<String> = load
                .destinations
                .iter()
                .map(|register| register.map_or("_".to_owned(), name))
                .collect();
            let (vector, registers) = vector(&registers);
            format!(
                "{opcode}{vector}.{} {registers}, {}",
                load.ty.name(),
                text.address(load.address)
            )
        }
        Instruction::Store(store) => {
            let opcode = if store.proxy == Proxy::Surface { "sust" } else { "st" };
            let order = store_annotation(store.order).qualifiers();
            let sources: Vec<String> =
                store.sources.iter().map(|&source| operand(source)).collect();
            let (vector, sources) = vector(&sources);
            let address = text.address(store.address);
            format!("{opcode}.{order}{vector}.{} {address}, {sources}", store.ty.name())
        }
        Instruction::Fence(fence) if fence.aliases => {
            format!("fence.proxy.alias.{}.{}", fence.order.name(), fence.scope)
        }
        Instruction::Fence(fence) => format!("fence.{}.{}", fence.order.name(), fence.scope),
        Instruction::ProxyFence(ProxyFence::Alias) => "fence.proxy.alias".to_owned(),
        Instruction::ProxyFence(ProxyFence::Proxy(proxy)) => format!("fence.proxy.{proxy}"),
        Instruction::Barrier(_) => "bar.sync 0".to_owned(),
        Instruction::ClusterBarrier(barrier) => match barrier.kind {
            ClusterBarrierKind::ArriveRelease | ClusterBarrierKind::ArriveRelaxed => {
                "barrier.cluster.arrive".to_owned()
            }
            ClusterBarrierKind::Wait => "barrier.cluster.wait".to_owned(),
        },
        // No cycle has one.
        Instruction::Asynchronous(_) => line.text.clone(),
        Instruction::Alu(alu) => {
            let opcode = opcode(alu, text.bits(alu.destination));
            let sources: Vec<String> = alu.sources.iter().map(|&source| operand(source)).collect();
            format!("{opcode} {}, {}", name(alu.destination), sources.join(", "))
        }
        Instruction::Atomic(atomic) => text.atomic(atomic),
        Instruction::Cvta(_) | Instruction::Branch(_) | Instruction::Unsupported(_) => {
            unreachable!("a cycle has no such instruction")
        }
    };
    guard + &instruction
}

/// The qualifier and the operand of several elements, or of one.
fn vector(elements: &[String]) -> (String, String) {
    match elements {
        [one] => (String::new(), one.clone()),
        _ => (format!(".v{}", elements.len()), format!("{{{}}}", elements.join(", "))),
    }
}

struct CycleCell<'p> {
    program: &'p Program,
    thread: &'p Thread,
}

impl CycleCell<'_> {
    fn name(&self, register: Reg) -> String {
        self.thread.registers[usize::from(register.0)].name.clone()
    }

    fn bits(&self, register: Reg) -> u16 {
        self.thread.registers[usize::from(register.0)].bits
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(register) => self.name(register),
            Operand::Imm(value) => value.to_string(),
            Operand::Address(variable) => {
                self.program.variables[usize::from(variable.0)].name.clone()
            }
        }
    }

    fn address(&self, address: Address) -> String {
        let base = self.operand(address.base);
        if address.offset == 0 {
            format!("[{base}]")
        } else {
            format!("[{base}+{}]", address.offset)
        }
    }

    fn atomic(&self, atomic: &Atomic) -> String {
        let order = AccessOrder::from(atomic.order).name();
        let address = self.address(atomic.address);
        let values: Vec<String> =
            atomic.operands.iter().map(|&value| self.operand(value)).collect();
        let (scope, values, ty) = (atomic.scope, values.join(", "), atomic.ty.name());
        let op = match atomic.op {
            AtomicOp::Cas => "cas",
            AtomicOp::Add => "add",
            AtomicOp::Max => "max",
            AtomicOp::Exch
            | AtomicOp::Sub
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Min
            | AtomicOp::Inc
            | AtomicOp::Dec => "exch",
        };
        if atomic.reduction {
            return format!("red.{order}.{scope}.{op}.{ty} {address}, {values}");
        }
        let register = atomic.destination.map_or("_".to_owned(), |register| self.name(register));
        format!("atom.{order}.{scope}.{op}.{ty} {register}, {address}, {values}")
    }
}

/// Of the few operations that dependencies have.
fn opcode(alu: &Alu, bits: u16) -> String {
    if alu.op == AluOp::And {
        "and.b32".to_owned()
    } else if alu.op == AluOp::Xor {
        "xor.b32".to_owned()
    } else if alu.op == AluOp::Mov {
        format!("cvt.u{bits}.u{}", alu.ty.bits)
    } else if matches!(alu.op, AluOp::Setp(_)) {
        "setp.eq.u32".to_owned()
    } else {
        format!("add.u{}", alu.ty.bits)
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
