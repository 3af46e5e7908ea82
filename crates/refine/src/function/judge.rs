//! Judges a function and its lowering: every setup and every context, until one refutes.
//!
//! Reading R90 chooses the arguments. Accesses are not matched (reading R91).

use std::collections::BTreeSet;
use std::ops::Range;

use lift::external::is_memory;
use lift::function::{Function, Language, Refused};
use model::isa::Instruction;
use model::memory::Space;
use model::scope::Scope;
use model::strength::{AccessOrder, Strength};
use model::value::Value;

use super::approximate::{Replacement, approximations};
use super::ask::RefinementCase;
use super::bind::{Argument, Setup, bind};
use super::extra_stores::extra_stores;
use super::fault::{self, FaultLines};
use super::first_setup::signatures;
use super::follows::follows;
use super::further_inputs::TakenPaths;
use super::inputs::{Inputs, checked, inputs, wanted};
use super::lanes::among_equals;
use super::met::{counted, not_met, other_barriers};
use super::names;
use super::notes::{one_result, promised, reduction, unpromised, unseen};
use super::partner::{self, JudgedScopes, MeetingLocation, OWN, contexts, meetings};
use super::scan::{ByteRange, MemoryUse, PathAccess, ThreadScan};
use super::subword::{NOTE as PARTS_OF_WORDS, words};
use super::weaken::{self, PassedContext};
use super::{progress, run, together};
use crate::cited;
use crate::context::Context;
use crate::judgement::{self, Answer, ContextSearch, Refinement, Refutation};
use crate::language::SourceId;
use crate::refiner::{Patience, Refiner};
use crate::rounding::all_near;
use crate::verdict::{Finding, Refuter, Verdict};

/// The maximum number of contexts of a function. The largest functions have some thousands.
const MOST: usize = 200_000;

/// Of more contexts than `MANY`, about `CONFIRMING` are tried if the target follows the mapping.
const MANY: usize = 2_000;
const CONFIRMING: usize = 256;

/// The part of the time of a program that it may take to find out whether the target follows the mapping.
const FOLLOWING_SHARE: u32 = 2;

/// The number of contexts of one choice of inputs that are tried at a time.
const TURN: usize = 64;

/// A context is postponed after so much work of an engine.
const WORK: u64 = 100_000;

/// The same if the target follows the mapping. Such a context is not tried again: what is reported does not depend on the speed of
/// the machine.
const CONFIRMING_WORK: u64 = 25_000;

/// A context that is tried again later is postponed after this part of the time of a program, too.
const SHARE: u32 = 32;

/// The finding for an error in one of the two sides.
pub(super) fn refused(side: &str, refused: &Refused) -> Box<Finding> {
    let why = format!("line {} of the {side}: {}", refused.line, refused.why);
    Box::new(Finding::new(Verdict::Unsupported, why))
}

pub(super) const SIDES: [&str; 2] = ["source", "target"];

/// Judges a lowering of a function. Returns the finding, and the lines at fault, if any.
pub fn judge(source: &Function, target: &Function, refiner: Refiner<'_>) -> LocatedFinding {
    let (finding, at) = compared(source, target, refiner.within_time()).unwrap_or_else(stopped);
    (with_notes(finding, [source, target]), at)
}

/// Compares a function and its lowering; without rounded results if only these differ.
fn compared(
    source: &Function,
    target: &Function,
    refiner: Refiner<'_>,
) -> JudgeResult<LocatedFinding> {
    let mut all = cases(source, target, refiner)?;
    let (mut finding, at) = judged(&mut all)?;
    let no_alarm = matches!(finding.verdict, Verdict::Preserved | Verdict::Stronger);
    if (no_alarm || finding.racy)
        && let Some(found) = among_equals(source, target, &all)?
    {
        return Ok(found);
    }
    if all.bad_address.as_ref().is_some_and(|(bad_address, _)| *bad_address == finding) {
        return Ok((finding, at));
    }
    if no_alarm && let Some(found) = unpromised(&all.setups) {
        return Ok(found);
    }
    finding.notes.extend(promised(&all.setups).into_iter().chain(names::unknown([source, target])));
    if all.setups.iter().any(|(case, ..)| !case.words.is_empty()) {
        finding.notes.push(PARTS_OF_WORDS.to_owned());
    }
    if !is_alarm(&finding)
        || !finding.racy
            && !finding.rounded
            && !all.setups.iter_mut().chain(&mut all.alone).all(|(case, ..)| is_rounded(case))
    {
        return Ok((finding, at));
    }
    for (by, [source, target]) in approximations([source, target]) {
        let without = cases(&source, &target, refiner).and_then(|mut all| judged(&mut all));
        let (mut without, at) = without.unwrap_or_else(stopped);
        if !is_alarm(&without) {
            without.notes.push(NOT_COMPARED.to_owned());
            // An order that matters for the results only has no effect here.
            if by == Replacement::One && without.sufficient.take().is_some() {
                without.verdict = Verdict::Preserved;
            }
            return Ok((without, at));
        }
    }
    Ok((finding, at))
}

/// A finding that ended the comparison before any line was at fault.
fn stopped(finding: Box<Finding>) -> LocatedFinding {
    (*finding, FaultLines::default())
}

/// Whether the finding may be due to rounding. A race may carry a rounded value to where both sides differ by more.
fn is_alarm(finding: &Finding) -> bool {
    finding.verdict == Verdict::WrongValue
        || finding.verdict == Verdict::Weaker && (finding.racy || finding.rounded)
}

/// Whether, without other threads, all that differs are floats close to each other.
pub(super) fn is_rounded(case: &mut RefinementCase<'_>) -> bool {
    let alone = partner::alone(case.locations.len());
    let mut outcomes = |lowered| {
        let program = case.program(&alone, lowered).ok()??;
        Some(case.refiner.allowed(&case.engine_run(&program, lowered)).ok()?.outcomes)
    };
    let (Some(ours), Some(theirs)) = (outcomes(false), outcomes(true)) else { return false };
    // `.ftz` is read as if it were not there.
    let flushes = case.source.rows.iter().any(|row| row.text.contains(".ftz"));
    let near = |theirs: &[Value]| ours.iter().any(|ours| all_near(ours, theirs, flushes));
    theirs.iter().all(|theirs| near(theirs))
}

/// The note where results of floats were left out.
const NOT_COMPARED: &str = "the results of operations on floats and of those without a definition differ, \
     as contracting and reordering them may change them: they are not compared";

/// A finding with the assumptions of both readers.
fn with_notes(mut finding: Finding, [source, target]: [&Function; 2]) -> Finding {
    for note in source.notes.iter().chain(&target.notes) {
        if !finding.notes.contains(note) {
            finding.notes.push(note.clone());
        }
    }
    finding
}

/// A finding, and the instruction at fault.
pub(super) type LocatedFinding = (Finding, FaultLines);

/// A setup, the accesses of both sides in it, and its contexts.
pub(super) type JudgedSetup<'a> = (RefinementCase<'a>, [ThreadScan; 2], Vec<Context>);

pub(super) type JudgeResult<T> = Result<T, Box<Finding>>;

/// All choices of inputs, with their contexts.
pub(super) struct Cases<'a> {
    pub(super) setups: Vec<JudgedSetup<'a>>,
    /// Those without other threads.
    pub(super) alone: Vec<JudgedSetup<'a>>,
    /// The finding for an input with which the source ends and the target does not.
    bad_address: Option<LocatedFinding>,
    /// Lines of the source, and of the target, that decide the same way in all of them, and how.
    one_sided: [Vec<(usize, bool)>; 2],
    /// Lines of both that compare what other threads may write, and have one result with all that they write.
    unmoved: [Vec<usize>; 2],
}

pub(super) fn cases<'a>(
    source: &'a Function,
    target: &'a Function,
    mut refiner: Refiner<'a>,
) -> JudgeResult<Cases<'a>> {
    signatures(source, target)?;
    let sides = [source, target];
    if let Some(found) = names::unsupported(sides) {
        return Err(found);
    }
    let Inputs { setups, alone, bad_address, one_sided, unmoved } = inputs(sides, &mut refiner)?;
    let scopes = scopes(sides);
    let seq_cst = SourceId::of(source.language).has_seq_cst();
    let mut cases = Vec::new();
    for (setup, scans) in setups {
        let setup = names::named(setup, &scans, sides);
        let case = case(setup, &scans, sides, refiner);
        let all = contexts(
            &scans[0],
            &case.locations,
            !source.kernel,
            seq_cst,
            &scopes,
            refiner.contexts,
        );
        if all.len() > MOST {
            return Err(found(Verdict::Undecided, "it accesses too many places"));
        }
        cases.push((case, scans, all));
    }
    let barriers = cases.iter().any(|(_, scans, _)| scans[0].has_barriers());
    let setups = cases.iter().map(|(case, ..)| &case.setup).filter(|_| barriers);
    let by_themselves = [checked(source), target];
    let mut taken = TakenPaths::new(setups, by_themselves, &refiner);
    let alone = alone.into_iter().map(|(setup, scans)| {
        let case = case(setup, &scans, by_themselves, refiner);
        let mut all = vec![partner::alone(case.locations.len())];
        if barriers && taken.add(&scans) {
            all.extend(meetings(&scans[0], &case.locations, &scopes));
        }
        (case, scans, all)
    });
    Ok(Cases { setups: cases, alone: alone.collect(), bad_address, one_sided, unmoved })
}

fn judged(
    Cases { setups: cases, alone, bad_address, one_sided, unmoved }: &mut Cases<'_>,
) -> JudgeResult<LocatedFinding> {
    let Some((first, ..)) = cases.first() else {
        return Err(found(Verdict::Unsupported, "no input reaches its end"));
    };
    let refiner = first.refiner;
    let nowhere = FaultLines::default();
    let mut late = Vec::new();
    for (case, scans, _) in &*cases {
        if let Some(found) = extra_stores(case, scans).or_else(|| other_barriers(case, scans)) {
            return Ok(found);
        }
        late.extend(progress::compare(case, scans).map_err(|why| refused("context", &why))?);
    }
    for cases in [&mut *cases, alone] {
        if let Some(found) = wrong_value(cases)? {
            return Ok(found);
        }
    }
    if let Some(found) = bad_address {
        return Ok(found.clone());
    }
    let (stays, met) = together::compare(cases);
    if let Some(found) = stays {
        return Ok(found);
    }
    let followed = followed(cases, refiner.within(FOLLOWING_SHARE));
    let all = number(cases);
    if followed {
        confirm(cases);
    }
    let mut search = ContextSearch::default();
    for (.., contexts) in &mut *alone {
        contexts.retain(|context| !context.is_alone());
    }
    for cases in [&mut *cases, alone].into_iter().take(if followed { 1 } else { 2 }) {
        if let Some(found) = refuted(cases, &mut search, followed)? {
            return Ok(found);
        }
    }
    if let Some((line, context)) = search.fault.take() {
        return faulting(&mut cases[0].0, line, &context);
    }
    if let Some(finding) = late.iter().position(|finding| finding.verdict == Verdict::Weaker) {
        return Ok((late.swap_remove(finding), nowhere));
    }
    let (so_far, tried) = (search.tally, number(cases) - search.given_up);
    let (tally, tried) = match search.answer() {
        Answer::Undecided { done, .. } if followed => (so_far, done),
        Answer::Refuted(racy) => {
            let (case, scans, _) = &cases[0];
            return Ok(located(*racy, case, scans));
        }
        Answer::Undefined { why, context } => {
            let (case, scans, _) = &cases[0];
            // Reading R12, and R35 for `ldu`.
            let load = why.ends_with("-read-of-written-data");
            let load = load.then(|| fault::unpromised(case, scans)).flatten();
            let Some((line, text)) = load else {
                return Ok((judgement::undefined(&why, context), nowhere));
            };
            let why = format!("line {line}: {}", cited::unpromised(&text));
            let finding = Finding { context: Some(context), ..Finding::new(Verdict::Outside, why) };
            return Ok((finding, FaultLines::of(case, scans, Some(line))));
        }
        Answer::Undecided { why, done, of } => {
            return Ok((judgement::undecided(why, done, of), nowhere));
        }
        Answer::Included(tally) => (tally, tried),
    };
    if !followed && let Some(finding) = cases.iter().find_map(|(_, scans, _)| counted(scans)) {
        return Ok((finding, nowhere));
    }
    let more = match cases.len() {
        1 => String::new(),
        setups => format!("; {setups} choices of arguments and memory"),
    };
    let mut more = format!("{more}; loops up to {} times", refiner.bound);
    let untried = all - tried;
    if untried > 0 {
        more = format!(
            "{more}; {untried} more contexts are not tried, as the target makes the accesses of its source or of the \
             published mapping (reading R106)"
        );
    }
    let unseen = unseen(cases, one_sided);
    // Code that no context reaches may need what the others do not.
    let mut sufficient = if unseen.is_empty() && untried == 0 {
        for (case, ..) in cases.iter_mut().chain(&mut *alone) {
            case.refiner = refiner;
        }
        less(cases, alone).map_err(|why| refused("context", &why))?
    } else {
        None
    };
    // The values of the contexts do not show what the comparison was made for.
    let unmoved = sufficient.as_ref().and_then(|_| one_result(cases, unmoved));
    sufficient = sufficient.filter(|_| unmoved.is_none());
    let mut finding = judgement::included(tally, &more, sufficient);
    finding.notes.extend(unseen.into_iter().chain(unmoved).chain(met));
    let late = late.into_iter().flat_map(|finding| finding.notes);
    finding.notes.splice(0..0, late);
    finding.notes.dedup();
    Ok((finding, nowhere))
}

/// The finding for a fault of the target in a context in which the source has none.
fn faulting(
    case: &mut RefinementCase<'_>,
    line: u16,
    context: &Context,
) -> JudgeResult<LocatedFinding> {
    let target = case.target;
    let bound = case.bound(context, true).map_err(|why| refused("context", &why))?;
    let line = bound.map(|bound| bound.line(target, line.into()));
    let at = line.map(|line| format!(" at line {line}")).unwrap_or_default();
    let why = format!(
        "in this context the target accesses a misaligned address{at}, and the source does not"
    );
    let context = Some(case.words(context));
    let finding = Finding { context, ..Finding::new(Verdict::WrongValue, why) };
    Ok((finding, FaultLines { source: None, target: line }))
}

/// Whether the target follows its source or the mapping for all choices of inputs.
pub fn follows_in_all(source: &Function, target: &Function, refiner: Refiner<'_>) -> bool {
    let refiner = refiner.within_time();
    cases(source, target, refiner).is_ok_and(|all| followed(&all.setups, refiner))
}

fn followed(cases: &[JudgedSetup<'_>], refiner: Refiner<'_>) -> bool {
    cases.iter().all(|(case, scans, _)| follows(case, scans, &refiner))
}

/// The number of contexts of all choices of inputs.
fn number(cases: &[JudgedSetup<'_>]) -> usize {
    cases.iter().map(|(.., all)| all.len()).sum()
}

/// Limits the contexts of a target that follows the mapping, which no context refutes.
fn confirm(cases: &mut [JudgedSetup<'_>]) {
    let all = number(cases);
    let most = if all > MANY { (CONFIRMING / cases.len().max(1)).max(1) } else { MANY };
    for (.., all) in cases {
        all.truncate(most);
    }
}

/// Judges all contexts. Returns the first refutation without a race, if there is one.
fn refuted(
    cases: &mut [JudgedSetup<'_>],
    search: &mut ContextSearch,
    followed: bool,
) -> JudgeResult<Option<LocatedFinding>> {
    let most = cases.iter().map(|(.., all)| all.len()).max().unwrap_or(0);
    // Each choice of inputs in turn, so that none waits for all contexts of another.
    let (turns, count) = ((0..most).step_by(TURN), cases.len());
    let mut postponed = Vec::new();
    for (from, index) in turns.flat_map(|from| (0..count).map(move |index| (from, index))) {
        let (case, scans, all) = &mut cases[index];
        let turn = from.min(all.len())..(from + TURN).min(all.len());
        let patience = case.refiner.patience;
        let (time, work) =
            if followed { (patience.time, CONFIRMING_WORK) } else { (patience.time / SHARE, WORK) };
        case.refiner.patience = Patience { time, work: Some(work), ..patience };
        search.postponed = Some(Vec::new());
        let found = refuted_in(case, scans, all, turn, search)?;
        case.refiner.patience = patience;
        if found.is_some() {
            return Ok(found);
        }
        let late = search.postponed.take().unwrap_or_default();
        postponed.extend(late.into_iter().map(|at| (index, from + at)));
    }
    if followed {
        search.given_up += postponed.len();
        postponed.clear();
    }
    for (index, at) in postponed {
        let (case, scans, all) = &mut cases[index];
        let found = refuted_in(case, scans, all, at..at + 1, search)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Judges some of the contexts of a choice of inputs.
fn refuted_in(
    case: &mut RefinementCase<'_>,
    scans: &[ThreadScan; 2],
    all: &[Context],
    turn: Range<usize>,
    search: &mut ContextSearch,
) -> JudgeResult<Option<LocatedFinding>> {
    // A weak access wider than a byte may be torn in the target but not in the source.
    let may_tear = case.refiner.tearing && may_tear(scans);
    let turn = &all[turn];
    let found = search.judge(case, turn, may_tear).map_err(|why| refused("context", &why))?;
    let Some((refutation, at)) = found else { return Ok(None) };
    let (mut finding, line) = located(refutation, case, scans);
    finding.notes.extend(reduction(case, &turn[at]));
    if finding.by == Some(Refuter::Contract) {
        case.set_torn(false);
        let first: Vec<&Context> = std::iter::once(&turn[at]).chain(all).collect();
        if let Some(run) = run::run(case, &first).map_err(|why| refused("context", &why))? {
            finding.by = Some(Refuter::ContractAndMachine);
            finding.run = Some(run.to_string());
        }
    }
    Ok(Some((finding, line)))
}

/// Why a target is weaker where a location has two virtual addresses.
const ALIASED: &str = "the target does not order accesses through two virtual addresses of one location, as alias fences of the source do: it";

/// A value that the target computes without other threads and the source does not, in any setup. This is not
/// a question of order.
pub(super) fn wrong_value(cases: &mut [JudgedSetup<'_>]) -> JudgeResult<Option<LocatedFinding>> {
    for (case, scans, all) in cases {
        let alone = all.iter().filter(|context| context.is_alone()).map(std::slice::from_ref);
        for context in alone {
            let found = ContextSearch::default()
                .judge(case, context, false)
                .map_err(|why| refused("context", &why))?;
            if let Some((refutation, _)) = found {
                let (finding, mut lines) = located(refutation, case, scans);
                if finding.verdict == Verdict::WrongValue {
                    let line = fault::writer(case, scans, &context[0]);
                    lines = FaultLines::of(case, scans, line);
                }
                return Ok(Some((finding, lines)));
            }
        }
    }
    Ok(None)
}

/// The finding for an outcome that the target adds, and the instruction at fault.
pub(super) fn located(
    refutation: Refutation,
    case: &RefinementCase<'_>,
    scans: &[ThreadScan; 2],
) -> LocatedFinding {
    let instruction = refutation.missing.clone().map(|(line, missing)| {
        let lines = FaultLines::of(case, scans, Some(line));
        (lines, missing)
    });
    let (lines, missing) = instruction.or_else(|| not_met(case, scans)).unzip();
    let target = if refutation.aliased { ALIASED } else { "the target" };
    let target_text = missing.map_or(target.to_owned(), |missing| format!("{missing}: the target"));
    let listing = matches!(case.target.language, Language::Sass(_));
    let by = if listing { Refuter::Contract } else { Refuter::Axioms };
    (refutation.finding(&target_text, by), lines.unwrap_or_default())
}

/// The parts of the target that can be removed, in all setups. Listings are skipped: a weaker promise need
/// not be an instruction of SASS.
fn less<'a>(
    cases: &mut [JudgedSetup<'a>],
    alone: &mut [JudgedSetup<'a>],
) -> Result<Option<String>, Refused> {
    let mut held = Vec::new();
    for (case, _, contexts) in cases.iter_mut().chain(alone) {
        if matches!(case.target.language, Language::Sass(_)) {
            return Ok(None);
        }
        for context in &*contexts {
            if case.refiner.is_over() {
                return Ok(None);
            }
            let source = case.program(context, false)?;
            let target = case.program(context, true)?;
            let (Some(source), Some(target)) = (source, target) else { continue };
            // A context that is not compared here may need what the others do not.
            let Ok(allowed) = case.refiner.allowed(&case.engine_run(&source, false)) else {
                return Ok(None);
            };
            if allowed.undefined {
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

pub(super) fn found(verdict: Verdict, why: impl Into<String>) -> Box<Finding> {
    Box::new(Finding::new(verdict, why))
}

/// One setup, with the places at which threads meet.
pub(super) fn case<'a>(
    setup: Setup,
    scans: &[ThreadScan; 2],
    sides: [&'a Function; 2],
    refiner: Refiner<'a>,
) -> RefinementCase<'a> {
    let all = || scans.iter().flat_map(|scan| &scan.uses);
    let by_place = wanted(scans);
    let words = words(scans);
    let wanted = |place: ByteRange| {
        let memory = &setup.memory[place.memory];
        let begins = memory.initial_of(place.offset, place.bytes);
        let values = by_place.get(&place).into_iter().flatten();
        values.copied().filter(|value| *value != begins).collect()
    };
    let telling = |place: ByteRange| {
        let found = scans.iter().find_map(|scan| scan.decisions.telling.get(&place));
        found.cloned().unwrap_or_default()
    };
    let shared = |memory: usize| setup.memory[memory].space == Space::Shared;
    let alone = |memory: usize| {
        let parameters = sides[0].parameters.iter().zip(&setup.arguments);
        let mut of = parameters.filter(|(_, given)| **given == Argument::Pointer(memory));
        of.any(|(parameter, _)| parameter.no_alias)
    };
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
            float: one.float,
            wanted: wanted(one.place),
            telling: telling(one.place),
            like_another: false,
            in_word: words.contains_key(&one.place),
            of_callee: is_memory(&setup.memory[one.place.memory].name),
            name_of: None,
            alone: alone(one.place.memory),
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
            float: None,
            wanted: Vec::new(),
            telling: Vec::new(),
            like_another: false,
            in_word: false,
            of_callee: false,
            name_of: None,
            alone: false,
        });
    }
    let mut roles = BTreeSet::new();
    for location in locations.iter_mut().filter(|location| location.plain && !location.own) {
        let role = scans.each_ref().map(|scan| role(scan, location.place));
        let kind = (location.place.bytes, location.shared, location.promised, location.float);
        location.like_another = location.wanted.is_empty() && !roles.insert((kind, role));
    }
    names::add(&mut locations, &setup);
    let mut shown = BTreeSet::new();
    let own = locations[locations.len() - OWN..].iter().map(|location| location.place);
    // Local memory that a parameter points to belongs to the caller.
    let callers = |place: &&ByteRange| setup.arguments.contains(&Argument::Pointer(place.memory));
    let private = scans.iter().flat_map(|scan| scan.private.keys()).filter(callers).copied();
    let roots = |place: &ByteRange| setup.memory[place.memory].alias.is_none();
    for place in all().map(|one| one.place).chain(own).chain(private).filter(roots) {
        let element = setup.memory[place.memory].element;
        for offset in (place.offset..place.offset + place.bytes).step_by(element as usize) {
            shown.insert((place.memory, offset - offset % element, element));
        }
    }
    let shown = shown.into_iter().collect();
    let uses = all().copied().collect();
    let mut case = RefinementCase::new(refiner, setup, sides, locations, shown, uses);
    case.words = words;
    case
}

/// The scopes of the source's operations; all of them if it has barriers or either side has shared memory, which
/// depend on the CTA and the cluster.
fn scopes(sides: [&Function; 2]) -> JudgedScopes {
    let shared = |function: &Function| {
        let pointers = function.parameters.iter().filter_map(|one| one.points_to);
        let mut spaces = pointers.chain(function.variables.iter().map(|one| one.space));
        spaces.any(|space| space == Space::Shared)
    };
    let mut all = sides.into_iter().any(shared);
    let mut of_cluster = false;
    let mut distinct = BTreeSet::new();
    for step in sides[0].rows.iter().flat_map(|row| &row.lines) {
        let instruction = &step.line.instruction;
        of_cluster |= matches!(instruction, Instruction::ClusterBarrier(_));
        all |= of_cluster || matches!(instruction, Instruction::Barrier(_));
        let strength = Strength::of(instruction);
        distinct.extend(strength.filter(|of| of.order != AccessOrder::Weak).map(|of| of.scope));
    }
    of_cluster |= distinct.iter().any(|scope| *scope > Scope::Cta);
    if all {
        distinct.extend(Scope::ALL);
    }
    JudgedScopes { distinct, clusters: of_cluster && sides.iter().all(|side| side.clusters) }
}

/// The accesses to a place on each path, as reads and writes between strong accesses, fences and barriers. Places
/// of weak accesses with equal roles on both sides are ordered alike.
fn role(scan: &ThreadScan, place: ByteRange) -> BTreeSet<(usize, u16, bool)> {
    let paths = scan.paths.iter().enumerate();
    let at = |(path, accesses): (usize, &Vec<PathAccess>)| {
        let here = accesses.iter().filter(|one| one.place.overlaps(place));
        here.map(|one| (path, one.epoch, one.writes)).collect::<Vec<_>>()
    };
    paths.flat_map(at).collect()
}
