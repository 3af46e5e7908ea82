//! The accesses of a thread and their order, whatever other threads do.

use std::collections::BTreeSet;

use execution::event::{EventKind, PathEvent, Resource};
use execution::path::{Path, PathEnd};
use execution::unfold::{UnfoldLimit, Unfolded};
use model::given::Tag;
use model::isa::alu::AluOp;
use model::isa::atom::AtomicOp;
use model::isa::{Instruction, Operand};
use model::memory::Space;
use model::program::Program;
use model::rel::Conventions;

use crate::step::Step;

/// Bytes that a thread accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ByteRange {
    /// The index of the memory.
    pub memory: usize,
    pub offset: u32,
    pub bytes: u32,
}

impl ByteRange {
    pub fn end(self) -> u32 {
        self.offset + self.bytes
    }

    /// Whether the two share a byte.
    pub fn overlaps(self, other: ByteRange) -> bool {
        self.memory == other.memory && self.offset < other.end() && other.offset < self.end()
    }
}

/// How a place is accessed.
#[expect(clippy::struct_excessive_bools, reason = "what is known of a place is yes or no")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryUse {
    pub place: ByteRange,
    pub reads: bool,
    pub writes: bool,
    /// Whether all accesses are weak. A partner's access must be ordered, or it races.
    pub plain: bool,
    /// Whether the program promises that no thread writes it.
    pub promised: bool,
    /// Whether some load assumes that no thread writes it, such as `ld.global.nc`.
    pub constant: bool,
}

/// The properties of a thread by itself.
#[derive(Clone, Debug, Default)]
pub struct ThreadScan {
    pub uses: Vec<MemoryUse>,
    /// Pairs of indices of `uses`: on some path the first is accessed before the second.
    pub ordered: BTreeSet<(usize, usize)>,
    /// Values with which the thread compares, or which it stores.
    pub constants: BTreeSet<u64>,
    /// Whether the thread stores a 0.
    pub clears: bool,
    /// The barriers of the thread; `None` if they differ between paths.
    pub barriers: Option<Vec<Step>>,
    /// Whether the thread has fences.
    pub fences: bool,
    /// Whether a loop was cut.
    pub bound_reached: bool,
    /// The accesses on each path to the end of the thread.
    pub paths: Vec<Vec<PathAccess>>,
}

/// The step of a thread at a barrier.
fn meeting(event: &PathEvent) -> Option<Step> {
    let barrier = event.barrier?;
    match (event.kind, barrier.resource) {
        (EventKind::Arrive, Resource::Cta { .. }) => Some(Step::Barrier),
        (EventKind::Arrive, Resource::Cluster) => {
            Some(Step::ClusterArrive { relaxed: barrier.relaxed })
        }
        (EventKind::Wait, Resource::Cluster) => Some(Step::ClusterWait),
        _ => None,
    }
}

/// One access on a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathAccess {
    /// The line of the thread.
    pub line: usize,
    pub place: ByteRange,
    pub writes: bool,
    pub strong: bool,
}

/// Why a thread is not judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScanError {
    /// An address is outside the memory that the thread was given. A larger memory may suffice.
    Outside {
        line: usize,
    },
    Fault {
        line: usize,
        why: &'static str,
    },
    Limit(&'static str),
    /// Every execution repeats a loop more often than the bound allows.
    Cut,
}

/// Lists the accesses of the only thread of a program.
///
/// `promised`: whether a line reads memory that, as the program promises, no thread writes.
pub fn scan(
    program: &Program,
    promised: &dyn Fn(usize) -> bool,
    conventions: Conventions,
    bound: u32,
) -> Result<ThreadScan, ScanError> {
    let unfolded = Unfolded::new(program, conventions, bound).map_err(|limit| {
        ScanError::Limit(match limit {
            UnfoldLimit::Paths => "it has too many paths",
            UnfoldLimit::Events => "it has too many accesses for an engine",
            UnfoldLimit::Steps => "it has too many instructions",
            UnfoldLimit::Barriers
            | UnfoldLimit::Time
            | UnfoldLimit::Memory
            | UnfoldLimit::Interrupted => "it takes too long",
        })
    })?;
    let mut scan = ThreadScan { bound_reached: unfolded.bound_reached, ..ThreadScan::default() };
    let paths = &unfolded.paths[0];
    let mut fault = None;
    let mut barriers: BTreeSet<Vec<Step>> = BTreeSet::new();
    for path in paths {
        match path.end {
            PathEnd::Fault { reason: "an address outside every declared location", line } => {
                return Err(ScanError::Outside { line: line.into() });
            }
            PathEnd::Fault { reason, line } => {
                fault.get_or_insert(ScanError::Fault { line: line.into(), why: reason });
            }
            PathEnd::Finished | PathEnd::Cut | PathEnd::Waits { .. } | PathEnd::Spins { .. } => {}
        }
        barriers.insert(path.events.iter().filter_map(meeting).collect());
        scan.path(path, promised, &unfolded);
    }
    if let Some(fault) = fault.filter(|_| paths.iter().all(|path| path.end != PathEnd::Finished)) {
        return Err(fault);
    }
    // In this case nothing after the loop could be compared.
    if scan.paths.is_empty() && scan.bound_reached {
        return Err(ScanError::Cut);
    }
    scan.barriers = barriers.first().cloned().filter(|_| barriers.len() == 1);
    scan.constants(program);
    Ok(scan)
}

impl ThreadScan {
    fn path(&mut self, path: &Path, promised: &dyn Fn(usize) -> bool, unfolded: &Unfolded<'_>) {
        let mut seen: Vec<usize> = Vec::new();
        let mut accessed = Vec::new();
        for event in &path.events {
            let Some(access) = event.access else { continue };
            let object = &unfolded.layout.virtuals[usize::from(access.va.object)];
            if !matches!(object.space, Space::Global | Space::Shared) {
                continue;
            }
            let place = ByteRange {
                memory: usize::from(object.variable.0),
                offset: access.va.start,
                bytes: access.va.length,
            };
            let index = self.uses.iter().position(|one| one.place == place).unwrap_or_else(|| {
                self.uses.push(MemoryUse {
                    place,
                    reads: false,
                    writes: false,
                    plain: true,
                    promised: false,
                    constant: false,
                });
                self.uses.len() - 1
            });
            let one = &mut self.uses[index];
            one.reads |= event.kind == EventKind::Read;
            one.writes |= event.kind == EventKind::Write;
            accessed.push(PathAccess {
                line: event.line.into(),
                place,
                writes: event.kind == EventKind::Write,
                strong: event.tags.scope().is_some(),
            });
            one.promised |= promised(event.line.into());
            let constant = [Tag::NonCoherentRead, Tag::UniformRead, Tag::ReadonlyRead];
            one.constant |= constant.iter().any(|tag| event.tags.has(*tag));
            one.plain &= event.tags.scope().is_none();
            for &before in &seen {
                self.ordered.insert((before, index));
            }
            if !seen.contains(&index) {
                seen.push(index);
            }
        }
        if path.end == PathEnd::Finished {
            self.paths.push(accessed);
        }
    }

    fn constants(&mut self, program: &Program) {
        for line in &program.threads[0].lines {
            self.fences |= matches!(line.instruction, Instruction::Fence(_));
            let imm = |operand: &Operand| match operand {
                Operand::Imm(value) => Some(*value),
                Operand::Reg(_) | Operand::Address(_) => None,
            };
            let list: Vec<u64> = match &line.instruction {
                Instruction::Alu(alu) if matches!(alu.op, AluOp::Setp(_) | AluOp::Mov) => {
                    let list: Vec<u64> = alu.sources.iter().filter_map(imm).collect();
                    // A stored 0 may first be moved to a register.
                    self.clears |= alu.op == AluOp::Mov && list.contains(&0);
                    list
                }
                Instruction::Atomic(atomic) if atomic.op == AtomicOp::Cas => {
                    atomic.operands.iter().filter_map(imm).collect()
                }
                Instruction::Store(store) => {
                    let list: Vec<u64> = store.sources.iter().filter_map(imm).collect();
                    self.clears |= list.contains(&0);
                    list
                }
                Instruction::Load(_)
                | Instruction::Atomic(_)
                | Instruction::Fence(_)
                | Instruction::ProxyFence(_)
                | Instruction::Barrier(_)
                | Instruction::ClusterBarrier(_)
                | Instruction::Alu(_)
                | Instruction::Cvta(_)
                | Instruction::Branch(_)
                | Instruction::Unsupported(_) => Vec::new(),
            };
            let small = |value: &u64| *value != 0 && u32::try_from(*value).is_ok();
            self.constants.extend(list.into_iter().filter(small));
        }
    }
}
