//! Whether each allocation of tensor memory has tensor memory that it takes.

use model::isa::Instruction;
use model::isa::asynchronous::Asynchronous;
use model::isa::tensor_memory::TensorOp;
use model::program::{Program, ThreadId};
use model::section;
use text::report::{ByteSpan, Diagnostics};

/// Reports allocations for which nothing is declared, and takes those for unsupported that the model does not have. `places` has
/// the position of each line of each thread.
pub(crate) fn check(program: &mut Program, places: &[Vec<ByteSpan>], report: &mut Diagnostics) {
    for (thread, lines) in places.iter().enumerate() {
        let id = ThreadId(u8::try_from(thread).expect("a test has few threads"));
        for (line, &at) in lines.iter().enumerate() {
            let Some(of) = program.threads[thread].lines.get(line) else { break };
            let Some(Asynchronous::TensorMemory(of)) = of.instruction.as_asynchronous() else {
                continue;
            };
            if !of.allocates() {
                continue;
            }
            let columns =
                if let TensorOp::Allocate { columns, .. } = of { Some(*columns) } else { None };
            if let Some(columns) = columns
                && program.allocated(id, line).is_none()
            {
                let name = unused(program);
                let message =
                    format!("no variable of {columns} columns is left for this allocation");
                report
                    .error("allocation", at, message)
                    .note("the allocations of a CTA take the variables of their size, one each, in the order of threads and lines")
                    .section(section::TENSOR_ALLOCATION)
                    .help(format!("declare a further one: .tmem {name}[{columns}];"));
            }
            let here = program.threads[thread].placement;
            let same_warp = program.threads.iter().filter(|of| of.placement.same_warp(here));
            let shared = here.warp.is_some() && same_warp.count() > 1;
            let owner = &mut program.threads[thread];
            let repeats = owner.back_branches().any(|(end, target)| (target..=end).contains(&line));
            let why = if columns.is_some() && repeats {
                "an allocation of tensor memory in a loop"
            } else if shared {
                "an instruction of a whole warp, of which the test has several lanes"
            } else {
                continue;
            };
            owner.lines[line].instruction = Instruction::Unsupported(why.to_owned());
        }
    }
}

/// A name that no variable has.
fn unused(program: &Program) -> String {
    let is_used = |name: &String| program.variables.iter().any(|variable| variable.name == *name);
    let numbered = (0..).map(|number| format!("c{number}"));
    let mut names = std::iter::once("c".to_owned()).chain(numbered);
    names.find(|name| !is_used(name)).unwrap_or_default()
}
