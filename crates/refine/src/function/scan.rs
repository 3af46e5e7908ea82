//! The accesses of a thread and their order, whatever other threads do.

use std::collections::{BTreeMap, BTreeSet};

use execution::event::{EventKind, PathEvent, Resource, Tags};
use execution::path::{Assumption, NO_VARIABLE, NOWHERE, Path, PathEnd, PrivateAccess};
use execution::unfold::{UnfoldLimit, Unfolded};
use model::given::Tag;
use model::isa::alu::AluOp;
use model::isa::{Instruction, Line, Reg, TypeKind};
use model::memory::{Extent, Space, Variable, VariableId};
use model::program::{ContestedBytes, Program};
use model::rel::Conventions;
use model::value::Value;

use super::decisions::DecisionScan;
use super::partner::FRESH;
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

    /// The bytes, to which other threads write these values.
    pub fn contested(self, values: Option<Vec<Value>>) -> ContestedBytes {
        let variable = VariableId(u16::try_from(self.memory).expect("few variables"));
        ContestedBytes { variable, start: self.offset, length: self.bytes, values }
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
    /// The bits of the floats that it holds, if the thread computes with them as floats.
    pub float: Option<u16>,
    /// Whether each of its addresses depends on what is read.
    pub computed: bool,
    /// The alignment in bytes that its accesses need: that of a whole vector.
    pub alignment: u32,
}

/// The properties of a thread by itself.
#[expect(clippy::struct_excessive_bools, reason = "what is known of a thread is yes or no")]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadScan {
    pub uses: Vec<MemoryUse>,
    /// Accesses to local and constant memory, with the bits of the floats there.
    pub private: BTreeMap<ByteRange, Option<u16>>,
    /// Pairs of indices of `uses`: on some path the first is accessed before the second.
    pub ordered: BTreeSet<(usize, usize)>,
    /// What the comparisons of the thread depend on.
    pub decisions: DecisionScan,
    /// The barriers of the thread, on the path with most of them; `None` if some path meets others.
    pub barriers: Option<Vec<Step>>,
    /// Whether the thread has fences.
    pub fences: bool,
    /// Whether a loop was cut.
    pub bound_reached: bool,
    /// Whether some path ends with a fault.
    pub faults: bool,
    /// The lines of the barriers on each path to the end, of those at which all threads of a warp have to be together.
    pub aligned: BTreeSet<Vec<usize>>,
    /// Whether an address depends on what is read.
    pub computes_addresses: bool,
    /// Whether only strong accesses were assumed to return what other threads write.
    only_strong: bool,
    /// Whether paths that only ask more often are left out, as there are too many.
    pub omits_paths: bool,
    /// The accesses on each path to the end of the thread, or to where the rest is left out.
    pub paths: Vec<Vec<PathAccess>>,
}

/// Whether a line of the thread is a barrier that all threads of a warp have to execute together: 9.7.15.1.
fn is_aligned(program: &Program, line: usize) -> bool {
    let instruction = &program.threads[0].lines[line].instruction;
    matches!(instruction, Instruction::Barrier(barrier) if barrier.aligned)
}

/// The step of a thread at a barrier.
fn meeting(event: &PathEvent) -> Option<Step> {
    let barrier = event.barrier?;
    match (event.kind, barrier.resource) {
        (EventKind::Arrive, Resource::Cta { id, .. }) => {
            Some(Step::Barrier { id, count: barrier.count })
        }
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
    /// The number of strong accesses, fences and barriers before it.
    pub epoch: u16,
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
        why: String,
    },
    Limit(&'static str),
    /// A path has more accesses than an execution may have.
    Events,
    /// Every execution repeats a loop more often than the bound allows.
    Cut,
}

/// The reason where the time is over.
pub const TOO_LONG: &str = "it takes too long";

/// The reason where the thread has too many paths.
const TOO_MANY: &str = "it has too many paths";

/// How threads are scanned.
#[derive(Clone, Copy)]
pub struct ScanOptions<'a> {
    /// Whether a line reads memory that, as the program promises, no thread writes.
    pub promised: &'a dyn Fn(usize) -> bool,
    /// How often a loop body is executed.
    pub bound: u32,
    /// Values that the comparisons are tried with.
    pub dictionary: &'a [u64],
    /// Whether the time is over.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Lists the accesses of the only thread of a program.
pub fn scan(program: &Program, options: ScanOptions<'_>) -> Result<ThreadScan, ScanError> {
    let scan = scan_contested(program, options)?;
    let shared = |place: &ByteRange| program.variables[place.memory].space == Space::Shared;
    let mut deciding = scan.decisions.held.iter().map(|(place, _)| place);
    let mut uses = scan.uses.iter();
    let receives = uses.any(|one| one.reads && !one.plain && !shared(&one.place));
    if !receives || !deciding.any(shared) {
        return Ok(scan);
    }
    // What a thread hands on through shared memory comes from where it read it, if its CTA writes nothing there.
    let mut contested = common(program);
    contested
        .retain(|bytes| program.variables[usize::from(bytes.variable.0)].space != Space::Shared);
    let program = Program { contested: Some(contested), ..program.clone() };
    Ok(match scan_as_given(&program, options) {
        Ok(handed) => ThreadScan { decisions: scan.decisions.with(&handed.decisions), ..scan },
        Err(_) => scan,
    })
}

/// The same where other threads may write anything to all memory that several can access.
fn scan_contested(program: &Program, options: ScanOptions<'_>) -> Result<ThreadScan, ScanError> {
    let program = &Program { contested: Some(common(program)), ..program.clone() };
    // Where anything may be read, an address that is computed from it may be any, and many of them have too many paths.
    let few = Program { few_addresses: true, ..program.clone() };
    let first = match scan_as_given(&few, options) {
        Err(ScanError::Events) => scan_strong(program, options)?,
        found => found?,
    };
    if !first.computes_addresses {
        return Ok(first);
    }
    // Anything may be read in this scan, so each address was possible that some value gives. Contexts write a few
    // values.
    let fresh = FRESH..FRESH + 8;
    let uses: Vec<MemoryUse> = first.uses.iter().filter(|one| !one.computed).copied().collect();
    let places = uses.iter().filter(|one| !first.only_strong || !one.plain);
    let places = closed(places.map(|one| one.place).collect(), &uses);
    let contested = places.into_iter().map(|place| {
        let DecisionScan { wanted, telling, .. } = &first.decisions;
        let known = [wanted, telling].into_iter().filter_map(|of| of.get(&place)).flatten();
        let values = known.copied().chain(fresh.clone()).map(Value::from).collect();
        place.contested(Some(values))
    });
    let program = Program { contested: Some(contested.collect()), ..program.clone() };
    let second = scan_as_given(&program, options)?;
    let decisions = first.decisions.with(&second.decisions);
    Ok(ThreadScan { decisions, computes_addresses: true, ..second })
}

/// The same where no other thread writes.
pub fn alone(program: &Program, options: ScanOptions<'_>) -> Result<ThreadScan, ScanError> {
    scan_as_given(&Program { contested: Some(Vec::new()), ..program.clone() }, options)
}

/// All memory that several threads can access.
pub fn common(program: &Program) -> Vec<ContestedBytes> {
    let common = |variable: &Variable| matches!(variable.space, Space::Global | Space::Shared);
    let variables = (0u16..).map(VariableId).zip(&program.variables);
    let whole = |(id, variable): (VariableId, &Variable)| {
        let length = u32::try_from(variable.initial.len()).expect("memory is small");
        ContestedBytes { variable: id, start: 0, length, values: None }
    };
    variables.filter(|(_, variable)| common(variable)).map(whole).collect()
}

/// The same where only strong accesses can return what other threads write.
fn scan_strong(program: &Program, options: ScanOptions<'_>) -> Result<ThreadScan, ScanError> {
    let (scan, _) = settled(program, options, |one| !one.plain)?;
    Ok(ThreadScan { only_strong: true, ..scan })
}

/// The bytes that are written where several threads run the program, and those that overlap them. A value that is
/// read is one that a thread wrote before it, so that bytes which no thread writes keep theirs.
pub fn written(program: &Program, options: ScanOptions<'_>) -> Result<Vec<ByteRange>, ScanError> {
    settled(program, options, |one| one.writes).map(|(_, places)| places)
}

/// The accesses of a program where only the accesses for which `shared` holds, and those that overlap them, can
/// return what other threads write, and their places.
fn settled(
    program: &Program,
    options: ScanOptions<'_>,
    shared: impl Fn(&MemoryUse) -> bool,
) -> Result<(ThreadScan, Vec<ByteRange>), ScanError> {
    let mut places: Vec<ByteRange> = Vec::new();
    loop {
        let contested = places.iter().map(|place| place.contested(None)).collect();
        let program = Program { contested: Some(contested), ..program.clone() };
        let scan = scan_as_given(&program, options)?;
        let known = places.len();
        let more = scan.uses.iter().filter(|one| shared(one)).map(|one| one.place);
        places.extend(more.filter(|place| !places.contains(place)).collect::<Vec<_>>());
        places = closed(places, &scan.uses);
        if places.len() == known {
            return Ok((scan, places));
        }
    }
}

/// The places with all those that overlap one of them.
pub fn closed(mut places: Vec<ByteRange>, uses: &[MemoryUse]) -> Vec<ByteRange> {
    let mut next = 0;
    while let Some(&place) = places.get(next) {
        next += 1;
        for one in uses {
            if one.place.overlaps(place) && !places.contains(&one.place) {
                places.push(one.place);
            }
        }
    }
    places
}

fn scan_as_given(program: &Program, options: ScanOptions<'_>) -> Result<ThreadScan, ScanError> {
    match scan_paths(program, options) {
        Err(ScanError::Limit(TOO_MANY)) => {
            let program = Program { omits_covered: true, ..program.clone() };
            scan_paths(&program, options)
        }
        found => found,
    }
}

fn scan_paths(program: &Program, options: ScanOptions<'_>) -> Result<ThreadScan, ScanError> {
    // Whether an execution is undefined is decided for the programs in contexts.
    let program = &Program { sizes_agree: true, ..program.clone() };
    let ends = |_| (options.is_over)().then_some(UnfoldLimit::Time);
    let unfolded = Unfolded::within(program, Conventions::default(), options.bound, &ends)
        .map_err(|limit| {
            ScanError::Limit(match limit {
                UnfoldLimit::Events => return ScanError::Events,
                UnfoldLimit::Paths => TOO_MANY,
                UnfoldLimit::Steps => "it has too many instructions",
                UnfoldLimit::PhaseState => {
                    "it uses a state of an mbarrier object that is not known"
                }
                UnfoldLimit::TensorLane => "an address of tensor memory has a lane",
                UnfoldLimit::Barriers
                | UnfoldLimit::Time
                | UnfoldLimit::Memory
                | UnfoldLimit::Interrupted => TOO_LONG,
            })
        })?;
    let mut scan = ThreadScan {
        bound_reached: unfolded.bound_reached(),
        omits_paths: program.omits_covered,
        ..ThreadScan::default()
    };
    let paths = &unfolded.paths[0];
    let floats = floats(program);
    let mut fault = None;
    let mut barriers: BTreeSet<Vec<Step>> = BTreeSet::new();
    for path in paths.iter().chain(&unfolded.covered[0]) {
        match path.end {
            PathEnd::Fault { reason: NO_VARIABLE, line } => {
                return Err(ScanError::Outside { line: line.into() });
            }
            PathEnd::Fault { reason, line } => {
                let why = reason.to_owned();
                scan.faults = true;
                fault.get_or_insert(ScanError::Fault { line: line.into(), why });
            }
            PathEnd::Finished
            | PathEnd::Cut
            | PathEnd::Covered
            | PathEnd::Waits { .. }
            | PathEnd::Spins { .. } => {}
        }
        let address = |check: &Assumption| matches!(check, Assumption::Equals(..));
        scan.computes_addresses |= path.checks.iter().any(address);
        // Others do not come to the end of the thread.
        if path.end == PathEnd::Finished {
            barriers.insert(path.events.iter().filter_map(meeting).collect());
            let arrives = |event: &&PathEvent| event.kind == EventKind::Arrive;
            let lines = path.events.iter().filter(arrives).map(|event| usize::from(event.line));
            scan.aligned.insert(lines.filter(|line| is_aligned(program, *line)).collect());
        }
        scan.path(path, (options.promised, &floats), &unfolded);
    }
    if let Some(fault) = fault.filter(|_| paths.iter().all(|path| path.end != PathEnd::Finished)) {
        // What the memory begins with may be an index beyond it.
        if let ScanError::Fault { line, why } = &fault
            && why == NOWHERE
        {
            return Err(ScanError::Outside { line: *line });
        }
        return Err(fault);
    }
    // In this case nothing after the loop could be compared.
    if scan.paths.is_empty() && scan.bound_reached {
        return Err(ScanError::Cut);
    }
    // A thread that has ended holds up no barrier, so that partners can go on alone.
    let most = barriers.iter().max_by_key(|met| met.len());
    scan.barriers = most.filter(|most| barriers.iter().all(|met| most.starts_with(met))).cloned();
    let fence = |line: &Line| matches!(line.instruction, Instruction::Fence(_));
    scan.fences = program.threads[0].lines.iter().any(fence);
    scan.decisions = DecisionScan::new(program, &unfolded, &scan.uses, options);
    if (options.is_over)() {
        return Err(ScanError::Limit(TOO_LONG));
    }
    Ok(scan)
}

impl ThreadScan {
    /// Whether partners can meet the thread at barriers.
    pub fn has_barriers(&self) -> bool {
        self.barriers.as_ref().is_some_and(|met| !met.is_empty())
    }

    /// Whether each read was tried with every value that leads elsewhere.
    pub fn is_complete(&self) -> bool {
        !self.computes_addresses && !self.only_strong
    }

    fn path(
        &mut self,
        path: &Path,
        (promised, floats): (&dyn Fn(usize) -> bool, &[Option<u16>]),
        unfolded: &Unfolded<'_>,
    ) {
        let mut seen: Vec<usize> = Vec::new();
        let mut accessed = Vec::new();
        for ScannedAccess { line, kind, tags, bytes, computed, epoch } in accesses(path) {
            let object = &unfolded.layout.virtuals[usize::from(bytes.object)];
            let place = ByteRange {
                memory: usize::from(object.variable.0),
                offset: bytes.start,
                bytes: bytes.length,
            };
            if matches!(object.space, Space::Local | Space::Const) {
                let float = self.private.entry(place).or_default();
                *float = float.or(floats[usize::from(line)]);
            }
            if !matches!(object.space, Space::Global | Space::Shared) {
                continue;
            }
            let index = self.uses.iter().position(|one| one.place == place).unwrap_or_else(|| {
                self.uses.push(MemoryUse {
                    place,
                    reads: false,
                    writes: false,
                    plain: true,
                    promised: false,
                    constant: false,
                    float: None,
                    computed: true,
                    alignment: place.bytes,
                });
                self.uses.len() - 1
            });
            let one = &mut self.uses[index];
            let instruction = &unfolded.program.threads[0].lines[usize::from(line)].instruction;
            let elements = instruction.access().map_or(1, |(.., elements)| elements);
            let whole = place.bytes * u32::try_from(elements).expect("a vector is short");
            one.alignment = one.alignment.max(whole);
            one.reads |= kind == EventKind::Read;
            one.writes |= kind == EventKind::Write;
            accessed.push(PathAccess {
                line: line.into(),
                place,
                writes: kind == EventKind::Write,
                strong: tags.scope().is_some(),
                epoch,
            });
            one.promised |= promised(line.into());
            let constant = [Tag::NonCoherentRead, Tag::UniformRead, Tag::ReadonlyRead];
            one.constant |= constant.iter().any(|tag| tags.has(*tag));
            one.computed &= computed;
            one.float = one.float.or(floats[usize::from(line)]);
            one.plain &= tags.scope().is_none();
            for &before in &seen {
                self.ordered.insert((before, index));
            }
            if !seen.contains(&index) {
                seen.push(index);
            }
        }
        if matches!(path.end, PathEnd::Finished | PathEnd::Covered) {
            self.paths.push(accessed);
        }
    }
}

/// An access on a path, with or without an event.
struct ScannedAccess {
    line: u16,
    kind: EventKind,
    tags: Tags,
    bytes: Extent,
    /// Whether its address depends on what is read.
    computed: bool,
    /// The number of strong accesses, fences and barriers before it.
    epoch: u16,
}

/// The accesses of a path in program order.
fn accesses(path: &Path) -> Vec<ScannedAccess> {
    let mut private = path.private.iter().peekable();
    let mut all = Vec::new();
    let mut epoch = 0;
    for index in 0..=path.events.len() {
        while let Some(one) = private.next_if(|one| usize::from(one.events) <= index) {
            let PrivateAccess { line, kind, tags, bytes, .. } = *one;
            all.push(ScannedAccess { line, kind, tags, bytes, computed: false, epoch });
            epoch += u16::from(tags.scope().is_some());
        }
        let Some(event) = path.events.get(index) else { continue };
        if let Some(access) = event.access {
            let (line, kind, tags, bytes) = (event.line, event.kind, event.tags, access.va);
            let computed = event.address.is_some_and(|at| path.exprs.as_const(at).is_none());
            all.push(ScannedAccess { line, kind, tags, bytes, computed, epoch });
        }
        epoch += u16::from(event.access.is_none() || event.tags.scope().is_some());
    }
    all
}

/// For each line of the first thread that loads: the bits of the floats that the loaded values are, if an
/// operation on floats uses one of them before its register is written again.
fn floats(program: &Program) -> Vec<Option<u16>> {
    let lines = &program.threads[0].lines;
    let of_load = |(at, line): (usize, &Line)| {
        let Instruction::Load(load) = &line.instruction else { return None };
        let mut holding: BTreeSet<Reg> = load.destinations.iter().flatten().copied().collect();
        for later in &lines[at + 1..] {
            let mut sources = later.instruction.sources();
            let used = sources.any(|source| holding.contains(&source));
            if let (true, Instruction::Alu(alu)) = (used, &later.instruction) {
                let moves = matches!(
                    alu.op,
                    AluOp::Mov
                        | AluOp::Extract(_)
                        | AluOp::Concat(_)
                        | AluOp::Selp
                        | AluOp::Shl
                        | AluOp::And
                );
                if moves {
                    holding.insert(alu.destination);
                    continue;
                }
                if alu.ty.kind == TypeKind::Float {
                    return Some(alu.ty.bits);
                }
            }
            for register in later.instruction.destinations() {
                holding.remove(&register);
            }
            if holding.is_empty() {
                break;
            }
        }
        None
    };
    lines.iter().enumerate().map(of_load).collect()
}
