//! LISA, herd's language for models of one's own: accesses with annotations, and the placement as a tree of scopes.

use std::collections::BTreeMap;
use std::fmt::Write;

use litmus::Test;
use litmus::print::TestText;
use model::isa::alu::{Alu, AluOp, Comparison};
use model::isa::atom::AtomicOp;
use model::isa::fence::ProxyFence;
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::isa::{Address, Instruction, Operand};
use model::program::{InitialValue, Thread};
use model::strength::Strength;

use super::{ExportedLine, Inexpressible, condition, plain_variables};

pub(super) fn text(test: &Test) -> Result<String, Inexpressible> {
    let mut out = TestText::new("LISA", &test.name);
    for doc in &test.doc {
        out.doc(doc);
    }
    out.declare(plain_variables(test)?.into_iter().map(|(name, value)| format!("{name}={value}")));
    let mut columns = Vec::new();
    for (number, thread) in test.program.threads.iter().enumerate() {
        let mut column = vec![format!("P{number}")];
        // LISA has the registers r0, r1 and so on.
        let given = thread.registers.iter().position(
            |register| matches!(register.initial, InitialValue::Value(value) if value != 0),
        );
        if let Some(index) = given {
            let declared = test.declarations.registers[number].get(index);
            let line = declared.map_or(1, |declared| declared.line);
            let what = format!(
                "a register with an initial value: `{}:{}`",
                thread.name, thread.registers[index].name
            );
            return Err(Inexpressible { line, what });
        }
        for line in ExportedLine::all(test, number) {
            cells(&line, &mut column)?;
        }
        columns.push(column);
    }
    out.columns(&columns);
    out.end(format!("scopes: {}", scopes(test)));
    if test.filter.is_some() {
        return Err(Inexpressible { line: test.condition_line, what: "a filter".to_owned() });
    }
    out.end(renamed_condition(test));
    Ok(out.to_string())
}

/// The placement: `(sys (gpu (cluster (cta P0 P1) (cta P2))))`.
fn scopes(test: &Test) -> String {
    type Clusters = BTreeMap<Option<u32>, BTreeMap<u32, Vec<usize>>>;
    let mut tree: BTreeMap<u32, Clusters> = BTreeMap::new();
    for (number, thread) in test.program.threads.iter().enumerate() {
        let place = thread.placement;
        // Without clusters each CTA is a cluster of its own.
        let cluster = place.cluster.or(Some(u32::MAX - place.cta));
        let gpu = tree.entry(place.gpu).or_default();
        gpu.entry(cluster).or_default().entry(place.cta).or_default().push(number);
    }
    let mut out = "(sys".to_owned();
    for clusters in tree.values() {
        out += " (gpu";
        for ctas in clusters.values() {
            out += " (cluster";
            for threads in ctas.values() {
                out += " (cta";
                for thread in threads {
                    write!(out, " P{thread}").expect("writing to a string succeeds");
                }
                out.push(')');
            }
            out.push(')');
        }
        out.push(')');
    }
    out + ")"
}

/// The condition, with the registers of LISA.
fn renamed_condition(test: &Test) -> String {
    let names = test.program.threads.iter().enumerate().flat_map(|(number, thread)| {
        let registers = thread.registers.iter().enumerate();
        registers.map(move |(index, register)| {
            (format!("{number}:{}", register.name), format!("{number}:{}", plain(thread, index)))
        })
    });
    let names: BTreeMap<String, String> = names.collect();
    // Words are parts of the text between these signs.
    let mut out = String::new();
    let mut word = String::new();
    let ends = |c: char| matches!(c, ' ' | '(' | ')' | '=' | '!' | '[' | ']');
    for c in condition(test).chars().chain([' ']) {
        if ends(c) {
            out += names.get(&word).unwrap_or(&word);
            word.clear();
            out.push(c);
        } else {
            word.push(c);
        }
    }
    out.trim_end().to_owned()
}

/// A register of LISA: `r0` has its name, others have numbers above.
fn plain(thread: &Thread, index: usize) -> String {
    const OTHERS: usize = 100;
    let name = &thread.registers[index].name;
    let number = name.strip_prefix('r').and_then(|digits| digits.parse::<usize>().ok());
    match number {
        Some(number) if number < OTHERS => format!("r{number}"),
        _ => format!("r{}", OTHERS + index),
    }
}

fn operand(line: &ExportedLine<'_>, operand: Operand) -> String {
    match operand {
        Operand::Reg(register) => match line.initially(register) {
            Some(variable) => variable.to_owned(),
            None => plain(line.thread, usize::from(register.0)),
        },
        Operand::Imm(_) | Operand::Address(_) => line.operand(operand),
    }
}

fn cells(line: &ExportedLine<'_>, column: &mut Vec<String>) -> Result<(), Inexpressible> {
    // The branch that takes its place says it.
    let Some(cell) = cell(line)? else { return Ok(()) };
    let Some(guard) = line.line.guard else {
        column.push(cell);
        return Ok(());
    };
    line.guarded_by(guard)?;
    let predicate = plain(line.thread, usize::from(guard.predicate.0));
    let label = format!("L{}{}", line.at.0, line.at.1);
    column.push(format!("b[] {predicate} {label}"));
    column.push(cell);
    column.push(format!("{label}:"));
    Ok(())
}

/// The annotations of an access or a fence.
fn annotations(line: &ExportedLine<'_>) -> Result<String, Inexpressible> {
    let instruction = &line.line.instruction;
    let Some(strength) = Strength::of(instruction) else { return line.refuse("this instruction") };
    let one_of_its_own = if let Instruction::Load(load) = instruction {
        !matches!(load.order, LoadOrder::Weak | LoadOrder::Relaxed(_) | LoadOrder::Acquire(_))
    } else if let Instruction::Store(store) = instruction {
        !matches!(store.order, StoreOrder::Weak | StoreOrder::Relaxed(_) | StoreOrder::Release(_))
    } else {
        false
    };
    if one_of_its_own {
        return line.refuse("`.volatile`, `.mmio` and loads of read-only data");
    }
    let order = strength.order_name();
    Ok(if order == "weak" { order.to_owned() } else { format!("{order},{}", strength.scope) })
}

fn address(line: &ExportedLine<'_>) -> Result<String, Inexpressible> {
    let Some((Address { base, offset }, ty, elements)) = line.line.instruction.access() else {
        return line.refuse("an instruction without an address");
    };
    if ty.bits != 32 || elements != 1 || offset != 0 {
        return line.refuse("an access of another width than 32 bits, or with an offset");
    }
    match base {
        Operand::Address(_) => Ok(line.operand(base)),
        // An address that is computed: the register has it.
        Operand::Reg(_) => Ok(operand(line, base)),
        Operand::Imm(_) => line.refuse("an address that is a number"),
    }
}

fn cell(line: &ExportedLine<'_>) -> Result<Option<String>, Inexpressible> {
    Ok(Some(match &line.line.instruction {
        Instruction::Load(load) => {
            let Some(register) = load.destinations.first().copied().flatten() else {
                return line.refuse("a load without a register");
            };
            let register = plain(line.thread, usize::from(register.0));
            format!("r[{}] {register} {}", annotations(line)?, address(line)?)
        }
        Instruction::Store(store) => {
            let source =
                store.sources.first().map_or(String::new(), |&source| operand(line, source));
            format!("w[{}] {} {source}", annotations(line)?, address(line)?)
        }
        Instruction::Atomic(atomic) if atomic.op == AtomicOp::Exch && !atomic.reduction => {
            let Some(register) = atomic.destination else {
                return line.refuse("an atomic without a register");
            };
            let register = plain(line.thread, usize::from(register.0));
            let value =
                atomic.operands.first().map_or(String::new(), |&value| operand(line, value));
            format!("rmw[{}] {register} {value} {}", annotations(line)?, address(line)?)
        }
        Instruction::Fence(_) => {
            format!("f[{}]", annotations(line)?)
        }
        Instruction::ProxyFence(ProxyFence::Alias) => "f[alias]".to_owned(),
        Instruction::Alu(Alu { op, ty, destination, sources: operands }) => {
            let destination = plain(line.thread, usize::from(destination.0));
            let sources: Vec<String> =
                operands.iter().map(|&source| operand(line, source)).collect();
            let sources = sources.join(" ");
            // Numbers of LISA do not wrap.
            let wraps = |source: &Operand| matches!(source, Operand::Imm(value) if line.number(*value) > i32::MAX as u64);
            if *op == AluOp::Add && operands.iter().any(wraps) {
                return line.refuse("the addition of a negative constant");
            } else if *op == AluOp::Add {
                format!("mov {destination} (add {sources})")
            } else if *op == AluOp::And {
                format!("mov {destination} (and {sources})")
            } else if *op == AluOp::Setp(Comparison::Eq) {
                // The branch skips the access if the values differ.
                format!("mov {destination} (neq {sources})")
            } else if *op == AluOp::Mov && ty.bits >= 32 {
                format!("mov {destination} {sources}")
            } else {
                return line.refuse("this arithmetic");
            }
        }
        Instruction::Atomic(_)
        | Instruction::ProxyFence(_)
        | Instruction::Barrier(_)
        | Instruction::ClusterBarrier(_)
        | Instruction::Asynchronous(_)
        | Instruction::Cvta(_)
        | Instruction::Branch(_)
        | Instruction::Unsupported(_) => return line.refuse("this instruction"),
    }))
}
