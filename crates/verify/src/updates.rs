//! Updates that a repair leaves in two accesses: strong ones do not race, and another thread may still come between them.

use std::collections::BTreeSet;

use model::isa::roles::OperandRole;
use model::isa::{Instruction, Operand, Reg};
use model::program::{Thread, ThreadId};

use crate::columns::Composed;
use crate::edited::KernelEdit;

/// The lines of the module with stores that edits make strong, each of a value that depends on a load from the same place that they
/// make strong, too.
pub(crate) fn split(composed: &Composed, edits: &[KernelEdit]) -> BTreeSet<usize> {
    let of = |opcode: &str| -> BTreeSet<usize> {
        let own = edits.iter().filter(|edit| is_made_strong(edit, opcode));
        own.map(|edit| edit.line).collect()
    };
    let (loads, stores) = (of("ld"), of("st"));
    if loads.is_empty() || stores.is_empty() {
        return BTreeSet::new();
    }
    let Ok(test) = composed.test() else { return BTreeSet::new() };
    let mut all = BTreeSet::new();
    for (column, thread) in test.program.threads.iter().enumerate() {
        let number = ThreadId(u8::try_from(column).expect("a test has few threads"));
        let module_line = |line: u16| composed.module_line(column, test.line_number(number, line)?);
        let lines: Vec<Option<usize>> = (0..).take(thread.lines.len()).map(module_line).collect();
        for (at, line) in lines.iter().enumerate() {
            if line.is_some_and(|line| loads.contains(&line)) {
                let behind = stores_of(thread, at);
                all.extend(
                    behind.filter_map(|store| lines[store]).filter(|of| stores.contains(of)),
                );
            }
        }
    }
    all
}

/// Whether an edit gives an access with this opcode an order.
fn is_made_strong(edit: &KernelEdit, opcode: &str) -> bool {
    let has = |text: &Option<String>, order: &str| {
        let words = text.iter().flat_map(|text| text.split_whitespace());
        let mut parts = words.map(|word| word.split('.').collect::<Vec<&str>>());
        parts.any(|parts| parts[0] == opcode && (order.is_empty() || parts.contains(&order)))
    };
    let orders = ["relaxed", "acquire", "release"];
    has(&edit.before, "") && orders.iter().any(|order| has(&edit.after, order))
}

/// The stores behind a load, to its address, of values that depend on what it returns.
fn stores_of(thread: &Thread, load: usize) -> impl Iterator<Item = usize> {
    let Instruction::Load(of) = &thread.lines[load].instruction else {
        return Vec::new().into_iter();
    };
    let mut tainted: BTreeSet<Reg> = of.destinations.iter().flatten().copied().collect();
    let mut found = Vec::new();
    for (at, line) in thread.lines.iter().enumerate().skip(load + 1) {
        let (mut depends, mut written) = (false, Vec::new());
        line.instruction.roles(&mut |role, operand| {
            let Operand::Reg(register) = operand else { return };
            let is_read = matches!(role, OperandRole::Source);
            depends |= is_read && tainted.contains(&register);
            if matches!(role, OperandRole::Destination) {
                written.push(register);
            }
        });
        if let Instruction::Store(store) = &line.instruction
            && store.address == of.address
            && store.sources.iter().any(|source| is_of(*source, &tainted))
        {
            found.push(at);
        }
        for register in written {
            if depends {
                tainted.insert(register);
            } else if line.guard.is_none() {
                tainted.remove(&register);
            }
        }
    }
    found.into_iter()
}

fn is_of(operand: Operand, registers: &BTreeSet<Reg>) -> bool {
    matches!(operand, Operand::Reg(register) if registers.contains(&register))
}

#[cfg(test)]
mod tests {
    use judge::Task;

    use crate::{Dim3, KernelModule, LaunchArgument, LaunchSpec, RepairEffort, verify};

    /// The split updates of each repair of two CTAs that execute this behind a load of `%r1`.
    fn split(stored: &str) -> Vec<usize> {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n\
             .reg .b32 %r<4>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [a];\n\
             ld.global.u32 %r1, [%rd1];\n{stored}\nst.global.u32 [%rd1], %r2;\nret;\n}}\n"
        );
        let module = KernelModule::read("m.ptx", &text).expect("a module");
        let argument = LaunchArgument::parse("a=u32[1]").expect("an argument");
        let grid = Dim3 { x: 2, ..Dim3::ONE };
        let launch = LaunchSpec { arguments: vec![argument], ..LaunchSpec::new(grid, Dim3::ONE) };
        let model = model::ptx::model();
        let task = Task { counts: false, ..Task::new(&model) };
        let (_, judged) =
            verify(&module, &launch, &task, &RepairEffort::BRIEF.into()).expect("it is judged");
        let [repair] = &judged.repairs[..] else { panic!("{:?}", judged.repairs) };
        repair.split_updates.iter().copied().collect()
    }

    #[test]
    fn a_store_of_what_was_loaded_there_is_an_update() {
        assert_eq!(split("add.u32 %r2, %r1, 1;"), [10]);
        assert_eq!(split("mov.u32 %r2, 1;"), []);
    }
}
