//! Descriptions of executions that never finish, shared by the axioms and the machine.

use litmus::Test;
use model::isa::{Instruction, Operand};
use model::program::{AwaitedObject, Stays, Stuck};

use crate::words::line_text;

/// The verdict on a program of which no execution finishes.
pub fn never(test: &Test, stuck: &[Stuck]) -> String {
    format!("no execution finishes: {}", places(test, stuck))
}

/// The same where the axioms allow outcomes, and the machine has no run to one.
pub fn never_runs(test: &Test, stuck: &[Stuck]) -> String {
    format!("no run of the machine finishes: {}", places(test, stuck))
}

/// The note on a program of which some executions finish and some do not.
pub fn some(test: &Test, stuck: &[Stuck]) -> String {
    format!("some executions never finish: {}", places(test, stuck))
}

/// What keeps every run of the machine from its end, where some thread faults.
pub fn fault(test: &Test, stuck: &[Stuck]) -> String {
    format!("no thread can go on: {}", places(test, stuck))
}

/// ` (phase 0 of the object is not complete: pending count 1, tx-count 16)`, of a thread that waits at an mbarrier object.
pub fn object(stuck: &Stuck) -> String {
    let text = |AwaitedObject { phase, pending, tx }| {
        let expected =
            if (pending, tx) == (0, 0) { "; `expect_tx` completes no phase" } else { "" };
        format!(
            " (phase {phase} of the object is not complete: pending count {pending}, tx-count {tx}{expected})"
        )
    };
    stuck.object.map_or(String::new(), text)
}

/// ` (a count is of threads of the test, and this CTA has 2)`, of a thread that waits for more threads than there are.
pub fn count(test: &Test, stuck: &Stuck) -> Option<String> {
    let threads = &test.program.threads;
    let thread = &threads[usize::from(stuck.thread.0)];
    let Instruction::Barrier(of) = &thread.lines[usize::from(stuck.line)].instruction else {
        return None;
    };
    let Some(Operand::Imm(count)) = of.count else { return None };
    let own = threads.iter().filter(|other| other.placement.same_cta(thread.placement)).count();
    let fewer = u64::try_from(own).is_ok_and(|own| own < count);
    fewer.then(|| format!(" (a count is of threads of the test, and this CTA has {own})"))
}

/// `P0 waits for ever at `bar.sync 0`, P1 repeats `ld.relaxed.gpu.u32 r0, [flag]` for ever`.
fn places(test: &Test, stuck: &[Stuck]) -> String {
    let place = |stuck: &Stuck| {
        let name = &test.program.threads[usize::from(stuck.thread.0)].name;
        let line = line_text(test, (stuck.thread, stuck.line));
        match stuck.why {
            Stays::Waits => format!("{name} waits for ever at {line}{}", object(stuck)),
            Stays::Faults => format!("{name} faults at {line}"),
            Stays::Loops => format!("{name} repeats {line} for ever"),
        }
    };
    let count = stuck.iter().find_map(|stuck| count(test, stuck)).unwrap_or_default();
    stuck.iter().map(place).collect::<Vec<String>>().join(", ") + &count
}
