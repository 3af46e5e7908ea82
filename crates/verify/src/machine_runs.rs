//! Random runs of the machine, for a launch that the engines leave open: whatever the machine does, PTX allows.

use explore::random::{Walks, walk};
use explore::{Exploration, ExploreLimits};
use judge::Task;
use litmus::Test;
use machine::Options;
use sass::lower::Lowering;

/// The target whose table lowers the kernel.
const TARGET: u16 = 90;

/// So many runs, of so many steps each.
const RUNS: Walks = Walks { count: 2_000, seed: 1 };
const STEPS: usize = 10_000;

/// What the machine does with the program; `None` if it has no instruction for a line of it.
pub(crate) fn run(test: &Test, task: &Task<'_>) -> Option<Exploration> {
    let lowering = Lowering::of(TARGET)?;
    let limits =
        ExploreLimits { memory: task.memory, deadline: task.until, ..ExploreLimits::states(STEPS) };
    let sampled = walk(&test.program, lowering, Options::default(), RUNS, limits);
    sampled.ok().map(|sampled| sampled.explored)
}
