//! The dialect of Dartagnan: accesses of 32 bits without types and brackets, scopes without clusters.

use litmus::proposition::truncate;
use litmus::{Test, print::TestText};
use model::isa::Instruction;
use model::isa::Operand;
use model::isa::alu::{Alu, AluOp};
use model::isa::atom::{AtomicOp, AtomicOrder};
use model::isa::bar::BarrierKind;
use model::isa::fence::{FenceOrder, ProxyFence};
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::program::InitialValue;
use model::scope::Scope;

use super::{ExportedLine, Inexpressible, condition, plain_variables};

pub(super) fn text(test: &Test) -> Result<String, Inexpressible> {
    let mut out = TestText::new("PTX", &test.name);
    out.key("Dialect", "peer");
    for doc in &test.doc {
        out.doc(doc);
    }
    out.declare(plain_variables(test)?.into_iter().map(|(name, value)| format!("{name}={value}")));
    let mut columns = Vec::new();
    for (number, thread) in test.program.threads.iter().enumerate() {
        let registers = thread.registers.iter();
        let numbers = registers.filter_map(|register| match register.initial {
            InitialValue::Value(value) if register.bits > 1 => {
                let value = truncate(value, register.bits.into());
                Some(format!("{}:{}={value}", thread.name, register.name))
            }
            InitialValue::Value(_) | InitialValue::Address { .. } => None,
        });
        out.declare(numbers);
        let place = thread.placement;
        let mut column = vec![format!("{}@cta {},gpu {}", thread.name, place.cta, place.gpu)];
        for line in ExportedLine::all(test, number) {
            cells(&line, &mut column)?;
        }
        columns.push(column);
    }
    out.columns(&columns);
    let observed = test.program.observed.len();
    if test.filter.is_some() || observed == 0 {
        return Err(Inexpressible { line: test.condition_line, what: "a filter".to_owned() });
    }
    out.end(condition(test));
    Ok(out.to_string())
}

fn cells(line: &ExportedLine<'_>, column: &mut Vec<String>) -> Result<(), Inexpressible> {
    // The branch that takes its place says it.
    if matches!(line.line.instruction, Instruction::Alu(Alu { op: AluOp::Setp(_), .. })) {
        return Ok(());
    }
    let cell = cell(line)?;
    let Some(guard) = line.line.guard else {
        column.push(cell);
        return Ok(());
    };
    let (left, right) = line.guarded_by(guard)?;
    let label = format!("LC{}{}", line.at.0, line.at.1);
    column.push(format!("bne {left}, {right}, {label}"));
    column.push(cell);
    column.push(format!("{label}:"));
    Ok(())
}

fn scope(line: &ExportedLine<'_>, scope: Scope) -> Result<&'static str, Inexpressible> {
    if scope == Scope::Cluster { line.refuse("the scope `.cluster`") } else { Ok(scope.name()) }
}

fn address(line: &ExportedLine<'_>) -> Result<String, Inexpressible> {
    let Some((address, ty, elements)) = line.line.instruction.access() else {
        return line.refuse("an instruction without an address");
    };
    if ty.bits != 32 || elements != 1 {
        return line.refuse("an access of another width than 32 bits");
    }
    match address.base {
        Operand::Address(_) if address.offset == 0 => Ok(line.operand(address.base)),
        Operand::Address(_) | Operand::Reg(_) | Operand::Imm(_) => {
            line.refuse("an address that is not the name of a variable")
        }
    }
}

fn cell(line: &ExportedLine<'_>) -> Result<String, Inexpressible> {
    Ok(match &line.line.instruction {
        Instruction::Load(load) => {
            let order = match load.order {
                LoadOrder::Weak => "weak".to_owned(),
                LoadOrder::Relaxed(of) => format!("relaxed.{}", scope(line, of)?),
                LoadOrder::Acquire(of) => format!("acquire.{}", scope(line, of)?),
                LoadOrder::Volatile
                | LoadOrder::MmioRelaxed
                | LoadOrder::MmioAcquire
                | LoadOrder::NonCoherent
                | LoadOrder::Uniform
                | LoadOrder::Readonly => return line.refuse("this kind of load"),
            };
            let Some(register) = load.destinations.first().copied().flatten() else {
                return line.refuse("a load without a register");
            };
            format!("ld.{order} {}, {}", line.name(register), address(line)?)
        }
        Instruction::Store(store) => {
            let order = match store.order {
                StoreOrder::Weak => "weak".to_owned(),
                StoreOrder::Relaxed(of) => format!("relaxed.{}", scope(line, of)?),
                StoreOrder::Release(of) => format!("release.{}", scope(line, of)?),
                StoreOrder::Volatile | StoreOrder::MmioRelaxed | StoreOrder::MmioRelease => {
                    return line.refuse("this kind of store");
                }
            };
            let source =
                store.sources.first().map_or(String::new(), |&source| line.operand(source));
            format!("st.{order} {}, {source}", address(line)?)
        }
        Instruction::Atomic(atomic) => {
            let order = match atomic.order {
                AtomicOrder::Relaxed => "relaxed",
                AtomicOrder::Acquire => "acquire",
                AtomicOrder::Release => "release",
                AtomicOrder::AcqRel => "acq_rel",
            };
            let op = match atomic.op {
                AtomicOp::Add => "add",
                AtomicOp::Exch => "exch",
                AtomicOp::Cas => "cas",
                AtomicOp::Sub
                | AtomicOp::And
                | AtomicOp::Or
                | AtomicOp::Xor
                | AtomicOp::Min
                | AtomicOp::Max
                | AtomicOp::Inc
                | AtomicOp::Dec => return line.refuse("this operation of an atomic"),
            };
            let scope = scope(line, atomic.scope)?;
            let operands: Vec<String> = atomic.operands.iter().map(|&o| line.operand(o)).collect();
            let operands = operands.join(", ");
            match atomic.destination {
                Some(register) if !atomic.reduction => format!(
                    "atom.{order}.{scope}.{op} {}, {}, {operands}",
                    line.name(register),
                    address(line)?
                ),
                _ => format!("red.{order}.{scope}.{op} {}, {operands}", address(line)?),
            }
        }
        Instruction::Fence(fence) => match fence.order {
            FenceOrder::AcqRel | FenceOrder::Sc => {
                format!("fence.{}.{}", fence.order.name(), scope(line, fence.scope)?)
            }
            FenceOrder::Acquire | FenceOrder::Release => return line.refuse("a one-way fence"),
        },
        Instruction::ProxyFence(ProxyFence::Alias) => "fence.proxy.alias".to_owned(),
        Instruction::Barrier(barrier)
            if matches!(barrier.kind, BarrierKind::Sync)
                && barrier.count.is_none()
                && !barrier.warp =>
        {
            // The first number is that of the instruction: all with one barrier meet.
            format!("bar.cta.sync 0, {}", line.operand(barrier.id))
        }
        Instruction::Alu(Alu { op, ty, destination, sources }) if ty.bits == 32 => {
            let opcode = if *op == AluOp::Add {
                "add"
            } else if *op == AluOp::Sub {
                "sub"
            } else {
                return line.refuse("this arithmetic");
            };
            let sources: Vec<String> = sources.iter().map(|&source| line.operand(source)).collect();
            format!("{opcode} {}, {}", line.name(*destination), sources.join(", "))
        }
        Instruction::Alu(_)
        | Instruction::ProxyFence(_)
        | Instruction::Barrier(_)
        | Instruction::ClusterBarrier(_)
        | Instruction::Asynchronous(_)
        | Instruction::Cvta(_)
        | Instruction::Branch(_)
        | Instruction::Unsupported(_) => return line.refuse("this instruction"),
    })
}
