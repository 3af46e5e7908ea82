//! Judges a function and its lowering: every setup and every context, until one refutes.
//!
//! Reading R90 chooses the arguments. Accesses are not matched (reading R91).

use std::collections::BTreeSet;

use lift::function::{Function, Language, Refused};
use model::isa::Instruction;
use model::isa::atom::AtomicOp;
use model::memory::Space;
use model::program::Thread;

use super::ask::RefinementCase;
use super::bind::{Argument, Memory, Setup, bind, pointers};
use super::partner::{MeetingLocation, OWN, contexts};
use super::scan::{ByteRange, MemoryUse, ScanError, ThreadScan, scan};
use super::weaken::{self, PassedContext};
use super::{progress, run};
use crate::context::Context;
use crate::judgement::{self, Answer, ContextSearch, Refinement, Refutation};
use crate::language::SourceId;
use crate::refiner::Refiner;
use crate::verdict::{Finding, Refuter, Verdict};

/// Sizes in bytes of the memory of a pointer. The first size that the function stays inside is used.
const SIZES: [u32; 4] = [64, 256, 4096, 1 << 16];

/// The maximum number of contexts of a function. The largest functions have some thousands.
const MOST: usize = 200_000;

/// The finding for an error in one of the two sides.
fn refused(side: &str, refused: &Refused) -> Box<Finding> {
    let why = format!("line {} of the {side}: {}", refused.line, refused.why);
    Box::new(Finding::new(Verdict::Unsupported, why))
}

const SIDES: [&str; 2] = ["source", "target"];

/// Judges a lowering of a function. Returns the finding, and the line of the target at fault, if any.
pub fn judge(
    source: &Function,
    target: &Function,
    refiner: Refiner<'_>,
) -> (Finding, Option<usize>) {
    let (mut finding, at) = match judged(source, target, refiner) {
        Ok(finding) => finding,
        Err(finding) => (*finding, None),
    };
    for note in source.notes.iter().chain(&target.notes) {
        if !finding.notes.contains(note) {
            finding.notes.push(note.clone());
        }
    }
    (finding, at)
}

/// A finding, and the line of the target at fault.
type LocatedFinding = (Finding, Option<usize>);

/// A setup, the accesses of both sides in it, and its contexts.
type JudgedSetup<'a> = (RefinementCase<'a>, [ThreadScan; 2], Vec<Context>);

type JudgeResult<T> = Result<T, Box<Finding>>;

fn judged(
    source: &Function,
    target: &Function,
    mut refiner: Refiner<'_>,
) -> JudgeResult<LocatedFinding> {
    signatures(source, target)?;
    let mut late = Vec::new();
    let mut cases = Vec::new();
    for setup in &setups(source, target, &mut refiner.bound)? {
        let (case, scans) = case(setup, [source, target], refiner)?;
        if let Some(found) = invented(&case, &scans) {
            return Ok(found);
        }
        late.extend(progress::compare(&case, &scans).map_err(|why| refused("context", &why))?);
        let wanted = wanted(&scans[0]);
        let seq_cst = SourceId::of(source.language).has_seq_cst();
        let all = contexts(&scans[0], &case.locations, &wanted, !source.kernel, seq_cst);
        if all.len() > MOST {
            return Err(found(Verdict::Undecided, "it accesses too many places"));
        }
        cases.push((case, scans, all));
    }
    if let Some(found) = wrong_value(&mut cases)? {
        return Ok(found);
    }
    let mut search = ContextSearch::default();
    for (case, scans, all) in &mut cases {
        // A weak access wider than a byte may be torn in the target but not in the source.
        let may_tear = refiner.tearing && may_tear(scans);
        let found = search.judge(case, all, may_tear).map_err(|why| refused("context", &why))?;
        let Some((refutation, at)) = found else { continue };
        let (mut finding, line) = located(refutation, target);
        if finding.by == Some(Refuter::Contract) {
            case.set_torn(false);
            let first: Vec<&Context> = std::iter::once(&all[at]).chain(&*all).collect();
            if let Some(run) = run::run(case, &first).map_err(|why| refused("context", &why))? {
                finding.by = Some(Refuter::ContractAndMachine);
                finding.run = Some(run.to_string());
            }
        }
        return Ok((finding, line));
    }
    if let Some(finding) = late.iter().position(|finding| finding.verdict == Verdict::Weaker) {
        return Ok((late.swap_remove(finding), None));
    }
    let tally = match search.answer() {
        Answer::Refuted(racy) => return Ok(located(*racy, target)),
        Answer::Undefined { why, context } => {
            return Ok((judgement::undefined(&why, context), None));
        }
        Answer::Undecided(why) => return Ok((Finding::new(Verdict::Undecided, why), None)),
        Answer::Included(tally) => tally,
    };
    let more = match cases.len() {
        1 => String::new(),
        setups => format!("; {setups} choices of arguments and memory"),
    };
    let more = format!("{more}; loops up to {} times", refiner.bound);
    let sufficient = less(&mut cases).map_err(|why| refused("context", &why))?;
    let mut finding = judgement::included(tally, &more, sufficient);
    let late = late.into_iter().flat_map(|finding| finding.notes);
    finding.notes.splice(0..0, late);
    finding.notes.dedup();
    Ok((finding, None))
}

/// A value that the target computes without other threads and the source does not, in any setup. This is not
/// a question of order.
fn wrong_value(cases: &mut [JudgedSetup<'_>]) -> JudgeResult<Option<LocatedFinding>> {
    for (case, _, all) in cases {
        let alone = all.iter().filter(|context| context.is_alone()).map(std::slice::from_ref);
        for context in alone {
            let found = ContextSearch::default()
                .judge(case, context, false)
                .map_err(|why| refused("context", &why))?;
            if let Some((refutation, _)) = found {
                return Ok(Some(located(refutation, case.target)));
            }
        }
    }
    Ok(None)
}

/// The finding for an outcome that the target adds, and the line at fault.
fn located(refutation: Refutation, target: &Function) -> LocatedFinding {
    let (line, missing) = refutation.missing.clone().unzip();
    let target_text =
        missing.map_or("the target".to_owned(), |missing| format!("{missing}: the target"));
    let listing = matches!(target.language, Language::Sass(_));
    let by = if listing { Refuter::Contract } else { Refuter::Axioms };
    (refutation.finding(&target_text, by), line)
}

/// The parts of the target that can be removed, in all setups. Listings are skipped: a weaker promise need
/// not be an instruction of SASS.
fn less(cases: &mut [JudgedSetup<'_>]) -> Result<Option<String>, Refused> {
    let mut held = Vec::new();
    for (case, _, contexts) in &mut *cases {
        if matches!(case.target.language, Language::Sass(_)) {
            return Ok(None);
        }
        for context in &*contexts {
            let source = case.program(context, false)?;
            let target = case.program(context, true)?;
            let (Some(source), Some(target)) = (source, target) else { continue };
            let Ok(allowed) = case.refiner.allowed(&case.engine_run(&source, false)) else {
                continue;
            };
            if !allowed.says_something() {
                continue;
            }
            let Some(bound) = case.bound(context, true)? else { continue };
            let rows = bound.rows.clone();
            held.push(PassedContext { allowed, target, rows, threads: context.judged_threads() });
        }
    }
    let Some((case, ..)) = cases.first() else { return Ok(None) };
    let bound = bind(&case.setup, case.target, &Default::default())?;
    Ok(weaken::weakest_sufficient(case, &bound, &mut held))
}

/// Whether some access of the target is weak where no access of the source is.
fn may_tear(scans: &[ThreadScan; 2]) -> bool {
    scans[1].uses.iter().any(|theirs| {
        let strong = |ours: &MemoryUse| !ours.plain && ours.place == theirs.place;
        theirs.plain && theirs.place.bytes > 1 && scans[0].uses.iter().any(strong)
    })
}

fn found(verdict: Verdict, why: impl Into<String>) -> Box<Finding> {
    Box::new(Finding::new(verdict, why))
}

/// Both sides must have the same parameters and results.
fn signatures(source: &Function, target: &Function) -> JudgeResult<()> {
    let (ours, theirs) = (source.parameters.len(), target.parameters.len());
    if ours != theirs {
        let why = format!("the source has {ours} parameters, the target {theirs}");
        return Err(found(Verdict::Unsupported, why));
    }
    match (&source.result, &target.result) {
        (Some(_), None) => Err(found(Verdict::WrongValue, "the target returns nothing")),
        (None, Some(_)) => Err(found(Verdict::WrongValue, "the source returns nothing")),
        (Some(_), Some(_)) | (None, None) => Ok(()),
    }
}

/// The words of all cells. Memory must not have one of these names.
fn taken(functions: [&Function; 2]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for function in functions {
        for row in &function.rows {
            let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            all.extend(row.text.split(word).map(str::to_owned));
        }
        all.extend(function.initial.iter().map(|(name, _)| name.clone()));
    }
    all
}

fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = name.to_owned();
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// The choices of arguments, aliases and initial memory, the simplest first.
fn setups(source: &Function, target: &Function, bound: &mut u32) -> JudgeResult<Vec<Setup>> {
    let base = base(source, target)?;
    let sizes = SIZES.iter();
    let mut fitted = None;
    for &size in sizes {
        let mut setup = base.clone();
        for argument in &setup.arguments {
            if let Argument::Pointer(memory) = argument {
                setup.memory[*memory].count = size / setup.memory[*memory].element;
            }
        }
        let mut scanned = scans(&setup, [source, target], *bound);
        while matches!(scanned, Err((_, ScanError::Cut))) && *bound < ROUNDS {
            *bound = (2 * *bound).clamp(1, ROUNDS);
            scanned = scans(&setup, [source, target], *bound);
        }
        match scanned {
            Ok(scans) => {
                fitted = Some((setup, scans));
                break;
            }
            Err((side, ScanError::Outside { line })) if size == SIZES[SIZES.len() - 1] => {
                let why = format!(
                    "line {line} of the {side}: the address is not that of a parameter or a variable"
                );
                return Err(found(Verdict::Unsupported, why));
            }
            Err((_, ScanError::Outside { .. })) => {}
            Err((side, ScanError::Fault { line, why })) => {
                let why = format!("line {line} of the {side}: {why}");
                return Err(found(Verdict::Unsupported, why));
            }
            Err((side, ScanError::Cut)) => {
                let why =
                    format!("every execution of the {side} is cut in a loop: raise `--bound`");
                return Err(found(Verdict::Undecided, why));
            }
            Err((side, ScanError::Limit(why))) => {
                return Err(found(Verdict::Undecided, format!("the {side}: {why}")));
            }
        }
    }
    let Some((setup, scans)) = fitted else {
        return Err(found(Verdict::Unsupported, "its addresses are not known"));
    };
    let mut all = vec![setup.clone()];
    let integers = setup.arguments.iter().any(|argument| matches!(argument, Argument::Integer(_)));
    if integers {
        let zero = |argument: &Argument| match argument {
            Argument::Integer(_) => Argument::Integer(0),
            Argument::Pointer(memory) => Argument::Pointer(*memory),
        };
        let arguments = setup.arguments.iter().map(zero).collect();
        all.push(Setup { arguments, ..setup.clone() });
    }
    // The initial memory may hold a value that the function clears or waits for.
    let wanted = wanted(&scans[0]);
    if scans[0].clears || !wanted.is_empty() {
        let mut begun = setup.clone();
        for one in scans[0].uses.iter().filter(|one| !one.plain) {
            let ByteRange { memory, offset, .. } = one.place;
            let memory = &mut begun.memory[memory];
            let shared = memory.space == Space::Shared;
            if offset % memory.element == 0 && !shared {
                let value = wanted.first().copied().unwrap_or(1);
                memory.initial.push((offset / memory.element, value));
            }
        }
        if begun != setup {
            all.push(begun);
        }
    }
    let pointed = |argument: &Argument| match argument {
        Argument::Pointer(memory) => Some(*memory),
        Argument::Integer(_) => None,
    };
    let pointers: Vec<(usize, usize)> = setup
        .arguments
        .iter()
        .enumerate()
        .filter_map(|(index, argument)| Some((index, pointed(argument)?)))
        .collect();
    for (at, &(of, first)) in pointers.iter().enumerate() {
        for &(second, memory) in &pointers[at + 1..] {
            let same = setup.memory[first].space == setup.memory[memory].space;
            let alone = source.parameters[second].no_alias || source.parameters[of].no_alias;
            if same && first != memory && !alone {
                let mut equal = setup.clone();
                equal.arguments[second] = Argument::Pointer(first);
                all.push(equal);
            }
        }
    }
    // With an alias or other arguments, an access may be outside the memory.
    all.retain(|setup| self::scans(setup, [source, target], *bound).is_ok());
    Ok(all)
}

/// Values that a function may wait for: the first few of those with which it compares.
fn wanted(scan: &ThreadScan) -> Vec<u64> {
    scan.constants.iter().copied().take(2).collect()
}

/// The first setup: memory for every pointer and variable, and small integers.
fn base(source: &Function, target: &Function) -> JudgeResult<Setup> {
    let mut taken = taken([source, target]);
    let mut setup = Setup { memory: Vec::new(), arguments: Vec::new() };
    for function in [source, target] {
        for variable in &function.variables {
            let known = setup.memory.iter_mut().find(|memory| memory.name == variable.name);
            let element =
                [4, 2, 1].into_iter().find(|size| variable.bytes % size == 0).unwrap_or(1);
            match known {
                Some(memory) if memory.space != variable.space => {
                    let why = format!("`{}` is in two state spaces", variable.name);
                    return Err(found(Verdict::Unsupported, why));
                }
                Some(memory) => {
                    memory.count = memory.count.max(variable.bytes / memory.element);
                }
                None => setup.memory.push(Memory {
                    name: variable.name.clone(),
                    space: variable.space,
                    element,
                    count: variable.bytes / element,
                    initial: Vec::new(),
                }),
            }
        }
    }
    for (index, parameter) in source.parameters.iter().enumerate() {
        let pointer = parameter.points_to.or_else(|| {
            let theirs = target.parameters[index].points_to;
            let wide = parameter.bits == 64 && !SourceId::of(source.language).has_pointers();
            theirs.or(wide.then_some(Space::Global))
        });
        setup.arguments.push(match pointer {
            Some(space) => {
                setup.memory.push(Memory {
                    name: unique(&parameter.name, &mut taken),
                    space: if space == Space::Shared { space } else { Space::Global },
                    element: 4,
                    count: SIZES[0] / 4,
                    initial: Vec::new(),
                });
                Argument::Pointer(setup.memory.len() - 1)
            }
            None => Argument::Integer(integer(index, parameter.bits)),
        });
    }
    for name in ["x", "w", "z"] {
        let name = unique(name, &mut taken);
        setup.memory.push(Memory {
            name,
            space: Space::Global,
            element: 4,
            count: 1,
            initial: Vec::new(),
        });
    }
    // In a language without pointer types, a wide parameter that no access uses as an address is not known to
    // be one.
    if !SourceId::of(source.language).has_pointers() {
        let mut used = BTreeSet::new();
        for (side, function) in SIDES.into_iter().zip([source, target]) {
            let bound =
                bind(&setup, function, &Default::default()).map_err(|why| refused(side, &why))?;
            used.extend(pointers(function, bound.thread()));
        }
        for (index, argument) in setup.arguments.iter_mut().enumerate() {
            let declared = source.parameters[index].points_to.is_some();
            if matches!(argument, Argument::Pointer(_)) && !declared && !used.contains(&index) {
                *argument = Argument::Integer(integer(index, source.parameters[index].bits));
            }
        }
    }
    Ok(setup)
}

/// The argument for an integer parameter: a distinct number, or 1 for an `i1`.
fn integer(index: usize, bits: u16) -> u64 {
    if bits == 1 { 1 } else { 1 + index as u64 }
}

/// The highest bound on loop iterations. The bound is raised up to it if no execution ends before.
const ROUNDS: u32 = 64;

fn scans(
    setup: &Setup,
    sides: [&Function; 2],
    bound: u32,
) -> Result<[ThreadScan; 2], (&'static str, ScanError)> {
    let one = |side: usize| {
        let function = sides[side];
        let stop = |stop| (SIDES[side], stop);
        let thread = bind(setup, function, &Default::default())
            .map_err(|why| stop(ScanError::Fault { line: why.line, why: "it cannot be read" }))?;
        let promised = |line: usize| {
            let row = thread.rows.get(line).copied().flatten();
            row.is_some_and(|row| function.rows[row].read_only)
        };
        let conventions = model::rel::Conventions::default();
        scan(&thread.program, &promised, conventions, bound).map_err(|why| {
            stop(match why {
                ScanError::Outside { line } => {
                    ScanError::Outside { line: thread.line(function, line) }
                }
                ScanError::Fault { line, why } => {
                    ScanError::Fault { line: thread.line(function, line), why }
                }
                other @ (ScanError::Limit(_) | ScanError::Cut) => other,
            })
        })
    };
    Ok([one(0)?, one(1)?])
}

/// One setup, with the places at which threads meet.
fn case<'a>(
    setup: &Setup,
    sides: [&'a Function; 2],
    refiner: Refiner<'a>,
) -> JudgeResult<(RefinementCase<'a>, [ThreadScan; 2])> {
    for (side, function) in SIDES.into_iter().zip(sides) {
        bind(setup, function, &Default::default()).map_err(|why| refused(side, &why))?;
    }
    let scans = scans(setup, sides, refiner.bound)
        .map_err(|(side, stop)| found(Verdict::Unsupported, format!("the {side}: {stop:?}")))?;
    let mut setup = setup.clone();
    let all = || scans.iter().flat_map(|scan| &scan.uses);
    // Elements have the width of the narrowest access.
    for (index, memory) in setup.memory.iter_mut().enumerate() {
        let narrowest =
            all().filter(|one| one.place.memory == index).map(|one| one.place.bytes).min();
        let element = narrowest.unwrap_or(memory.element).min(8);
        if memory.initial.is_empty() {
            let bytes = memory.element * memory.count;
            (memory.element, memory.count) = (element, bytes.div_ceil(element));
        }
    }
    let shared = |memory: usize| setup.memory[memory].space == Space::Shared;
    let mut locations: Vec<MeetingLocation> = scans[0]
        .uses
        .iter()
        .map(|one| MeetingLocation {
            place: one.place,
            reads: one.reads,
            writes: one.writes,
            plain: one.plain,
            shared: shared(one.place.memory),
            own: false,
            promised: one.promised,
        })
        .collect();
    for memory in setup.memory.len() - OWN..setup.memory.len() {
        let place = ByteRange { memory, offset: 0, bytes: 4 };
        locations.push(MeetingLocation {
            place,
            reads: true,
            writes: true,
            plain: false,
            shared: false,
            own: true,
            promised: false,
        });
    }
    let mut shown = BTreeSet::new();
    let own = locations[locations.len() - OWN..].iter().map(|location| location.place);
    for place in all().map(|one| one.place).chain(own) {
        let element = setup.memory[place.memory].element;
        for offset in (place.offset..place.offset + place.bytes).step_by(element as usize) {
            shown.insert((place.memory, offset - offset % element, element));
        }
    }
    let shown = shown.into_iter().collect();
    let uses = all().copied().collect();
    Ok((RefinementCase::new(refiner, setup, sides, locations, shown, uses), scans))
}

/// Finds a store of the target to bytes that the source never writes.
fn invented(case: &RefinementCase<'_>, scans: &[ThreadScan; 2]) -> Option<LocatedFinding> {
    // More iterations of a loop may write there.
    if scans[0].bound_reached {
        return None;
    }
    let written = |scan: &ThreadScan| -> BTreeSet<(usize, u32)> {
        let places = scan.uses.iter().filter(|one| one.writes).map(|one| one.place);
        let bytes =
            places.flat_map(|at| (at.offset..at.offset + at.bytes).map(move |b| (at.memory, b)));
        bytes.collect()
    };
    let (ours, theirs) = (written(&scans[0]), written(&scans[1]));
    let bound = bind(&case.setup, case.target, &Default::default()).ok()?;
    let mut part = None;
    for &(memory, byte) in theirs.difference(&ours) {
        let at = |place: ByteRange| {
            place.memory == memory && (place.offset..place.offset + place.bytes).contains(&byte)
        };
        let mut writes = scans[1].paths.iter().flatten().filter(|one| one.writes && at(one.place));
        let first = writes.clone().next()?;
        let name = &case.setup.memory[memory].name;
        let within = |place: ByteRange| {
            ours.iter().any(|&(of, byte)| {
                of == memory && (place.offset..place.offset + place.bytes).contains(&byte)
            })
        };
        let line = Some(bound.line(case.target, first.line));
        // The target may exchange a whole word and preserve the bytes around the source's, if it is correct.
        // No function is judged under that assumption.
        if writes.all(|one| exchanges(bound.thread(), one.line) && within(one.place)) {
            let bytes = first.place.bytes;
            let why = format!(
                "the target exchanges {bytes} bytes of `{name}` for an operation on a part of them"
            );
            part.get_or_insert((Finding::new(Verdict::Outside, why), line));
            continue;
        }
        let why =
            format!("the target writes byte {byte} of `{name}`, which the source never writes");
        return Some((Finding::new(Verdict::WrongValue, why), line));
    }
    part
}

fn exchanges(thread: &Thread, line: usize) -> bool {
    matches!(&thread.lines[line].instruction, Instruction::Atomic(one) if one.op == AtomicOp::Cas)
}
