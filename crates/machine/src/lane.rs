//! The places that a step of a run passes: threads, caches, links, memory.

use super::{Machine, MemoryPlace, Step};

/// A thread or a place of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MachineLane {
    Thread(u8),
    /// What belongs to one SM: L1, the store buffers, shared memory, the read-only path.
    Sm(u8),
    /// The L2 of a GPU.
    L2(u8),
    /// The queues to the memory of other GPUs and of the host.
    Link(u8),
    /// The memory where a location is at home, across a link.
    Home,
}

impl Machine<'_> {
    /// The places that the step passes, in order; one place if nothing moves.
    pub fn lanes(&self, step: Step) -> Vec<MachineLane> {
        let sm = |t: u8| self.sm[usize::from(t)];
        let own = |t: u8| MachineLane::Sm(sm(t));
        let gpu = |t: u8| self.gpu[usize::from(sm(t))];
        let thread = MachineLane::Thread;
        match step {
            Step::Issue { thread: t, hit: true, .. } | Step::Test { thread: t, .. } => {
                vec![own(t), thread(t)]
            }
            Step::Issue { thread: t, hit: false, .. }
            | Step::Fence { thread: t, .. }
            | Step::Meet { thread: t, .. }
            | Step::Through { thread: t, .. } => vec![thread(t)],
            Step::CopyWrites { thread: t, .. } | Step::Track { thread: t, .. } => vec![own(t)],
            Step::Drain { thread: t, .. } => vec![thread(t), own(t)],
            Step::Perform { thread: t, cell } => match self.cells[usize::from(cell)].place {
                MemoryPlace::Shared { sm, .. } => vec![thread(t), MachineLane::Sm(sm)],
                MemoryPlace::Global(_) | MemoryPlace::Private => {
                    vec![thread(t), MachineLane::L2(gpu(t))]
                }
            },
            Step::Leave { thread: t, .. } => vec![thread(t), MachineLane::Link(gpu(t))],
            Step::Forward { thread: t, .. } => vec![MachineLane::Link(gpu(t)), thread(t)],
            Step::Copy { thread: t, .. } => vec![MachineLane::L2(gpu(t)), thread(t)],
            Step::Arrive { thread: t, .. } => vec![MachineLane::Link(gpu(t)), MachineLane::Home],
            Step::ReadOnly { thread: t, .. } | Step::CopyReads { thread: t, .. } => {
                vec![MachineLane::L2(gpu(t)), own(t)]
            }
            Step::Return { thread: t, fills: true, .. } => {
                vec![MachineLane::L2(gpu(t)), own(t), thread(t)]
            }
            Step::Return { thread: t, cell, fills: false } => {
                match self.cells[usize::from(cell)].place {
                    MemoryPlace::Shared { sm, .. } => vec![MachineLane::Sm(sm), thread(t)],
                    MemoryPlace::Global(_) | MemoryPlace::Private => {
                        vec![MachineLane::L2(gpu(t)), thread(t)]
                    }
                }
            }
        }
    }

    /// The name of a place, for a reader.
    pub fn lane_name(&self, lane: MachineLane) -> String {
        match lane {
            MachineLane::Thread(t) => {
                let name = &self.program.threads[usize::from(t)].name;
                format!("{name} on sm{}", self.sm[usize::from(t)])
            }
            MachineLane::Sm(sm) => format!("L1 of sm{sm}"),
            MachineLane::L2(gpu) => format!("L2 of GPU {gpu}"),
            MachineLane::Link(gpu) => format!("link of GPU {gpu}"),
            MachineLane::Home => "home memory".to_owned(),
        }
    }
}
