//! The instructions that a finding is about: the one of the target that is at fault, and what it was made from.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::Function;
use model::isa::Instruction;
use model::memory::VariableId;
use model::program::Observed;
use model::value::Value;

use super::ask::RefinementCase;
use super::bind::bind;
use super::scan::{ByteRange, ThreadScan};
use crate::context::Context;
use crate::judgement::Refinement;

/// Lines of both files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FaultLines {
    /// The instruction of the source that the one at fault was made from.
    pub source: Option<usize>,
    /// The instruction of the target that is at fault.
    pub target: Option<usize>,
}

impl FaultLines {
    /// The lines of an instruction of the target.
    pub(super) fn of(
        case: &RefinementCase<'_>,
        scans: &[ThreadScan; 2],
        target: Option<usize>,
    ) -> FaultLines {
        let source = target.and_then(|line| counterpart(case, scans, line));
        FaultLines { source, target }
    }
}

/// What an instruction does to memory, apart from its order.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Act {
    /// The places that it accesses, and whether it writes.
    Access {
        places: BTreeSet<ByteRange>,
        writes: bool,
    },
    Fence,
}

/// The instruction of the source that does what an instruction of the target does. Among several that do it, the one
/// at the same position, if there are as many on both sides. `None` if that does not decide.
fn counterpart(case: &RefinementCase<'_>, scans: &[ThreadScan; 2], line: usize) -> Option<usize> {
    let ours = acts(case, case.source, &scans[0])?;
    let theirs = acts(case, case.target, &scans[1])?;
    let act = theirs.get(&line)?;
    let same = |acts: &BTreeMap<usize, Act>| -> Vec<usize> {
        acts.iter().filter(|(_, other)| *other == act).map(|(line, _)| *line).collect()
    };
    let (ours, theirs) = (same(&ours), same(&theirs));
    let position = theirs.iter().position(|other| *other == line)?;
    ours.get(position).copied().filter(|_| ours.len() == theirs.len())
}

/// The accesses and fences of a side, by their lines in its file.
fn acts(
    case: &RefinementCase<'_>,
    function: &Function,
    scan: &ThreadScan,
) -> Option<BTreeMap<usize, Act>> {
    let bound = bind(&case.setup, function, &Default::default()).ok()?;
    let mut acts = BTreeMap::new();
    for access in scan.paths.iter().flatten() {
        let act = acts
            .entry(bound.line(function, access.line))
            .or_insert_with(|| Act::Access { places: BTreeSet::new(), writes: false });
        if let Act::Access { places, writes } = act {
            places.insert(access.place);
            *writes |= access.writes;
        }
    }
    for row in &function.rows {
        let fence = |step: &lift::function::FunctionStep| {
            matches!(step.line.instruction, Instruction::Fence(_))
        };
        if row.lines.iter().any(fence) {
            acts.entry(row.line).or_insert(Act::Fence);
        }
    }
    Some(acts)
}

/// A load of the target of memory that must not be written, without such a promise of the source: its line, and its
/// text.
pub(super) fn unpromised(
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
) -> Option<(usize, String)> {
    let bound = bind(&case.setup, case.target, &Default::default()).ok()?;
    let promised = |place: ByteRange| {
        let mut promised = scans[0].uses.iter().filter(|one| one.promised || one.constant);
        promised.any(|one| one.place.overlaps(place))
    };
    let mut accesses = scans[1].paths.iter().flatten().filter(|one| !promised(one.place));
    accesses.find_map(|one| {
        let row = &case.target.rows[bound.rows.get(one.line).copied().flatten()?];
        let loads =
            |step: &lift::function::FunctionStep| step.line.instruction.loads_read_only_data();
        row.lines.iter().any(loads).then(|| (row.line, row.text.clone()))
    })
}

/// The line of the target's only instruction that writes what it alone leaves differently in memory. `None` if there
/// are several, or what differs is not memory.
pub(super) fn writer(
    case: &mut RefinementCase<'_>,
    scans: &[ThreadScan; 2],
    alone: &Context,
) -> Option<usize> {
    let mut outcomes = |lowered| {
        let program = case.program(alone, lowered).ok()??;
        let allowed = case.refiner.allowed(&case.engine_run(&program, lowered)).ok()?;
        Some((allowed.outcomes, program.observed))
    };
    let ((ours, _), (theirs, observed)) = (outcomes(false)?, outcomes(true)?);
    let extra = theirs.iter().find(|outcome| !ours.contains(*outcome))?;
    let differing = |other: &[Value]| -> Vec<usize> {
        (0..observed.len()).filter(|&at| other.get(at) != extra.get(at)).collect()
    };
    // The outcome of the source that is most like it.
    let differing = ours.iter().map(|other| differing(other)).min_by_key(Vec::len)?;
    let places = differing.iter().map(|&at| match observed[at] {
        Observed::Memory { variable: VariableId(memory), offset, length, .. } => {
            Some(ByteRange { memory: memory.into(), offset, bytes: length })
        }
        Observed::Register { .. } => None,
    });
    let places: Vec<ByteRange> = places.collect::<Option<_>>()?;
    let acts = acts(case, case.target, &scans[1])?;
    let writes = |act: &Act| match act {
        Act::Access { places: accessed, writes } => {
            *writes && accessed.iter().any(|one| places.iter().any(|place| place.overlaps(*one)))
        }
        Act::Fence => false,
    };
    let mut lines = acts.iter().filter(|(_, act)| writes(act)).map(|(line, _)| *line);
    lines.next().filter(|_| lines.next().is_none())
}
