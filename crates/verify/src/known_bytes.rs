//! Which writes the reads of a test may return, where the bytes of both are known: none that another write is certainly after, and
//! before the read (8.10.5). Barriers that all threads of a CTA come to once order what is before them and what is behind.

use std::collections::{BTreeMap, BTreeSet};

use execution::accessed::{Accessed, LineBytes};
use execution::layout::Layout;
use model::isa::bar::{Barrier, BarrierKind};
use model::isa::{Instruction, Operand};
use model::memory::Extent;
use model::program::{Program, ThreadId};

use crate::regions::BranchRegions;

/// Accesses of one location beyond which they are not told apart.
const MOST: usize = 256;

/// Instructions of a test beyond which its accesses are not told apart: that would take as long as its answer may.
const MOST_LINES: usize = 1 << 13;

/// An instruction of a thread.
pub(crate) type LinePlace = (ThreadId, usize);

/// The loads, stores and atomics of a test whose bytes are known, of locations that have one name.
#[derive(Default)]
pub(crate) struct KnownBytes {
    /// The bytes of each.
    bytes: BTreeMap<LinePlace, Extent>,
    /// For each that reads, those whose values it may return.
    sources: BTreeMap<LinePlace, Vec<LinePlace>>,
}

impl KnownBytes {
    pub(crate) fn new(program: &Program, regions: &[BranchRegions]) -> KnownBytes {
        if program.threads.iter().map(|thread| thread.lines.len()).sum::<usize>() > MOST_LINES {
            return KnownBytes::default();
        }
        let layout = Layout::new(program);
        let accessed = Accessed::new(program, &layout);
        let mut of_location: BTreeMap<u16, Vec<LinePlace>> = BTreeMap::new();
        let mut bytes = BTreeMap::new();
        for access in &accessed.accesses {
            let LineBytes::Known(elements) = &access.at else { continue };
            let Some(whole) = whole(elements.iter().map(|of| of.pa)) else { continue };
            // Through another name, or another proxy, a read may return what is overwritten.
            let is_plain = access.instruction.access().is_some()
                && !access.instruction.loads_read_only_data()
                && layout.has_one_name(whole.object)
                && layout.locations[usize::from(whole.object)].mbarriers.is_empty();
            if is_plain {
                let place = (access.thread, access.line);
                bytes.insert(place, whole);
                of_location.entry(whole.object).or_default().push(place);
            }
        }
        let order = ExecutedOrder::new(program, &accessed, regions);
        let mut known = KnownBytes::default();
        for places in of_location.values().filter(|places| places.len() <= MOST) {
            let instruction =
                |(thread, line): LinePlace| &program.threads[usize::from(thread.0)].lines[line];
            let writes = |place: &LinePlace| {
                !matches!(instruction(*place).instruction, Instruction::Load(_))
            };
            let stores = |place: &LinePlace| {
                matches!(instruction(*place).instruction, Instruction::Store(_))
            };
            let written: Vec<LinePlace> = places.iter().copied().filter(writes).collect();
            let certain: Vec<LinePlace> =
                written.iter().copied().filter(|of| stores(of) && order.is_certain(*of)).collect();
            for &place in places {
                known.bytes.insert(place, bytes[&place]);
                if stores(&place) {
                    continue;
                }
                let may_return = |write: &LinePlace| {
                    let is_over = |later: &LinePlace| {
                        later != write
                            && bytes[later].contains(bytes[write])
                            && order.is_before_certain(*write, *later)
                            && order.is_behind_certain(*later, place)
                    };
                    bytes[write].overlaps(bytes[&place]) && !certain.iter().any(is_over)
                };
                known.sources.insert(place, written.iter().copied().filter(may_return).collect());
            }
        }
        known
    }

    /// Whether the bytes of an instruction are known, and told apart from others of their location.
    pub(crate) fn has(&self, place: LinePlace) -> bool {
        self.bytes.contains_key(&place)
    }

    /// The instructions with known bytes whose values one that reads may return.
    pub(crate) fn sources(&self, place: LinePlace) -> &[LinePlace] {
        self.sources.get(&place).map_or(&[], Vec::as_slice)
    }
}

/// The bytes of all elements of an access, which are behind one another.
fn whole(mut elements: impl Iterator<Item = Extent>) -> Option<Extent> {
    let first = elements.next()?;
    elements.try_fold(first, |whole, next| {
        let follows = next.object == whole.object && next.start == whole.end();
        follows.then_some(Extent { length: whole.length + next.length, ..whole })
    })
}

/// What is executed before what.
struct ExecutedOrder<'p> {
    program: &'p Program,
    regions: &'p [BranchRegions],
    /// For each thread, the lines that it comes to once, whatever happens, and executes.
    certain: Vec<BTreeSet<usize>>,
    /// For each thread, the lines behind each barrier that all threads of its CTA come to once, in the same order.
    phases: Vec<Vec<BTreeSet<usize>>>,
}

impl<'p> ExecutedOrder<'p> {
    fn new(
        program: &'p Program,
        accessed: &Accessed<'_>,
        regions: &'p [BranchRegions],
    ) -> ExecutedOrder<'p> {
        let certain: Vec<BTreeSet<usize>> = (program.threads.iter().zip(regions))
            .zip(&accessed.constants)
            .map(|((thread, regions), constants)| {
                let executes = |line: &usize| {
                    let decision = constants.decision(*line).executes;
                    constants.may_execute(*line) && decision == Some(true)
                };
                regions.always(&thread.lines).into_iter().filter(executes).collect()
            })
            .collect();
        let barriers: Vec<Vec<usize>> = (program.threads.iter().zip(&certain))
            .map(|(thread, certain)| {
                let is_barrier = |line: &usize| waits_for_cta(&thread.lines[*line].instruction);
                certain.iter().copied().filter(is_barrier).collect()
            })
            .collect();
        let phases = (0..program.threads.len()).map(|thread| {
            let here = program.threads[thread].placement;
            let own = &barriers[thread];
            let instruction = |of: usize, line: usize| &program.threads[of].lines[line].instruction;
            let same = (0..program.threads.len())
                .filter(|&other| program.threads[other].placement.same_cta(here))
                .all(|other| {
                    let is_same =
                        |&line: &usize| instruction(other, line) == instruction(thread, line);
                    barriers[other] == *own
                        && own.iter().all(is_same)
                        && !others(program, other, own)
                });
            let own = if same { &own[..] } else { &[] };
            own.iter().map(|&line| regions[thread].behind(line)).collect()
        });
        let phases = phases.collect();
        ExecutedOrder { program, regions, certain, phases }
    }

    fn is_certain(&self, (thread, line): LinePlace) -> bool {
        self.certain[usize::from(thread.0)].contains(&line)
    }

    /// Whether the first instruction is before the second, which is certainly executed, if it is executed.
    fn is_before_certain(&self, first: LinePlace, second: LinePlace) -> bool {
        if first.0 == second.0 {
            return !self.regions[usize::from(second.0.0)].behind(second.1).contains(&first.1);
        }
        self.are_apart(first, second)
    }

    /// Whether the first instruction, which is certainly executed, is before the second.
    fn is_behind_certain(&self, first: LinePlace, second: LinePlace) -> bool {
        if first.0 == second.0 {
            return self.regions[usize::from(first.0.0)].behind(first.1).contains(&second.1);
        }
        self.are_apart(first, second)
    }

    /// Whether a barrier is between instructions of two threads of a CTA.
    fn are_apart(&self, first: LinePlace, second: LinePlace) -> bool {
        let [of_first, of_second] = [first, second].map(|(thread, _)| usize::from(thread.0));
        let placement = |thread: usize| self.program.threads[thread].placement;
        placement(of_first).same_cta(placement(of_second))
            && self.phases[of_first]
                .iter()
                .zip(&self.phases[of_second])
                .any(|(one, other)| !one.contains(&first.1) && other.contains(&second.1))
    }
}

/// Whether a thread has other barriers than these that another thread of the CTA may take for one of them.
fn others(program: &Program, thread: usize, barriers: &[usize]) -> bool {
    let lines = program.threads[thread].lines.iter().enumerate();
    let mut of_cta = lines.filter(
        |(_, line)| matches!(&line.instruction, Instruction::Barrier(barrier) if !barrier.warp),
    );
    of_cta.any(|(at, _)| !barriers.contains(&at))
}

/// Whether it is a barrier of all threads of the CTA, which wait for one another there.
fn waits_for_cta(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Barrier(Barrier {
            kind: BarrierKind::Sync | BarrierKind::Reduce { .. },
            id: Operand::Imm(_),
            count: None,
            instance: None,
            warp: false,
            ..
        })
    )
}
