//! The notes on a verdict.

use std::collections::BTreeSet;

use engine::{ExitedThread, RaisedFlag, Warning};
use litmus::{Dialect, Test};
use model::isa::asynchronous::{Asynchronous, GroupKind};
use model::isa::{Instruction, Line, Reg, SpaceQualifier};
use model::program::{Thread, ThreadId};
use model::section;

use crate::found::EngineResult;
use crate::task::{Property, Task};
use crate::verdict::{Note, Verdict, WARNINGS};
use crate::words::{INITIAL_WRITE, place_text};
use crate::{directed, lanes, stuck};

/// The notes on a verdict.
pub(super) fn of(
    test: &Test,
    task: &Task<'_>,
    verdict: &Verdict,
    found: &EngineResult,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let speaks = match verdict {
        Verdict::Holds | Verdict::Fails | Verdict::Undecided(_) => true,
        Verdict::Undefined(_) | Verdict::Unsupported(_) | Verdict::Stuck(_) => false,
    };
    if let Some(stuck) = found.seen.stuck.as_ref().filter(|_| speaks) {
        // Where only the condition was examined, it is not known that no execution finishes.
        let never = task.property == Property::Termination
            && !found.seen.finishes
            && found.unexplored(task).is_none();
        let words = if never { stuck::never } else { stuck::some };
        notes.push(Note { code: "stuck", text: words(test, stuck) });
    }
    if let (Verdict::Holds | Verdict::Fails, Some(why)) = (verdict, found.unexplored(task)) {
        let reason = format!("not explored in full: {why}");
        notes.push(Note { code: "not-explored", text: reason });
        if directed::may_be_undefined(&test.program, task.model_of(test)) {
            let remark = "what was not explored may make the program undefined".to_owned();
            notes.push(Note { code: "may-be-undefined", text: remark });
        }
    }
    let untested = task.property == Property::ProgramSpec && found.outcomes.is_empty();
    if let (Verdict::Holds | Verdict::Fails, true) = (verdict, untested) {
        let untested = "no outcome passes the filter, so the condition was not tested";
        notes.push(Note { code: "no-outcome", text: untested.to_owned() });
    }
    // For a program that is undefined, the note names the rule that it breaks.
    for Warning { name, at, text: rule } in found.seen.warnings.iter().filter(|_| speaks) {
        let code = WARNINGS.into_iter().find(|code| code == name).unwrap_or("warning");
        notes.push(Note { code, text: format!("{name}: {}: {rule}", place_text(test, *at)) });
    }
    // For a symmetric flag each pair is named once.
    let is_first = |of: &&RaisedFlag| {
        let turned = RaisedFlag { flag: of.flag.clone(), first: of.second, second: of.first };
        of.first <= of.second || !found.seen.flags.contains(&turned)
    };
    for RaisedFlag { flag, first, second } in
        found.seen.flags.iter().filter(|_| speaks).filter(is_first)
    {
        let [first, second] = [first, second].map(|place| match place {
            Some(place) => place_text(test, *place),
            None => INITIAL_WRITE.to_owned(),
        });
        notes.push(Note { code: "flag", text: format!("{flag}: {first} and {second}") });
    }
    let exited = found.seen.exited.iter().filter(|_| speaks);
    notes.extend(exited.map(|of| Note { code: "exited-thread", text: exited_text(test, *of) }));
    // Where only the verdict is wanted, many tests may be judged.
    if !task.verdict_only {
        let program = &test.program;
        let one_barrier = lanes::one_barrier(program).filter(|_| speaks);
        notes.extend(one_barrier.map(|text| Note { code: "one-barrier", text }));
        notes.extend(lanes::absent(program).map(|text| Note { code: "absent-lane", text }));
        let apart = lanes::clusters_apart(program);
        notes.extend(apart.map(|text| Note { code: "clusters-apart", text }));
        let together = lanes::before_volta(test);
        notes.extend(together.map(|text| Note { code: "lanes-together", text }));
        notes.extend(unwritten(test).map(|text| Note { code: "unwritten-register", text }));
        notes.extend(read_at_exit(test).map(|text| Note { code: "copy-at-exit", text }));
    }
    if matches!(verdict, Verdict::Undecided(_))
        && found.seen.bound_reached
        && !task.model_of(test).conventions.silent_atomics
        && test.program.threads.iter().any(repeats_atomic)
    {
        let remark = "under this model an iteration of a loop changes memory if its atomic writes what is there; \
                    `include \"causeway-silent-atomics.cat\"` in the model says that it does not";
        notes.push(Note { code: "silent-atomics", text: remark.to_owned() });
    }
    if matches!(verdict, Verdict::Undefined(_)) && atomics_race(test, found) {
        let number = section::MIXED_SIZE_RACES.number;
        let promise = format!(
            "the axioms do not apply, so no value is promised; that one of these atomics is \
             performed completely before the other still holds ({number})"
        );
        notes.push(Note { code: "atomics-exclude-each-other", text: promise });
    }
    notes
}

/// `P1: `bar.sync 0` does not wait for P0, which may have exited (reading R30)`.
fn exited_text(test: &Test, of: ExitedThread) -> String {
    let exited = &test.program.threads[usize::from(of.thread.0)].name;
    format!(
        "{} does not wait for {exited}, which may have exited (reading R30)",
        place_text(test, of.barrier)
    )
}

/// Whether what makes the program undefined is a race of two atomics of different sizes whose scopes
/// include each other. Reading R47.
fn atomics_race(test: &Test, found: &EngineResult) -> bool {
    let Some(undefined) = &found.seen.undefined else { return false };
    let [first, second] = undefined.where_[..] else { return false };
    let atomic = |(thread, line): (ThreadId, u16)| {
        let of = &test.program.threads[usize::from(thread.0)];
        let atomic = of.lines[usize::from(line)].instruction.as_atomic()?;
        Some((atomic.scope, of.placement))
    };
    undefined.reason == "mixed-size-race"
        && atomic(first).zip(atomic(second)).is_some_and(|((wide, here), (narrow, there))| {
            wide.includes(here, there) && narrow.includes(there, here)
        })
}

/// Whether an atomic is in a loop.
fn repeats_atomic(thread: &Thread) -> bool {
    thread.back_branches().any(|(branch, target)| {
        thread.lines[target..=branch].iter().any(|line| line.instruction.as_atomic().is_some())
    })
}

/// The bulk copies from shared memory for whose reads their threads do not wait: the CTA may exit before.
fn read_at_exit(test: &Test) -> impl Iterator<Item = String> {
    let group_of = |line: &Line| {
        let Asynchronous::WaitGroup(of) = line.instruction.as_asynchronous()? else { return None };
        (of.of == GroupKind::BulkCopies).then_some(of.pending)
    };
    let from_shared = |line: &Line| {
        let Some(Asynchronous::Copy(copy)) = line.instruction.as_asynchronous() else {
            return false;
        };
        let shared = matches!(copy.from_space, SpaceQualifier::Shared | SpaceQualifier::SharedCta);
        copy.bulk && shared && copy.mbarrier.is_none()
    };
    test.program.threads.iter().flat_map(move |of| {
        let copies = of.lines.iter().enumerate().filter(move |(_, line)| from_shared(line));
        let in_flight = copies.filter(move |(at, _)| {
            let later = of.lines[at + 1..].iter().filter_map(group_of);
            later.min().is_none_or(|pending| pending > 0)
        });
        in_flight.map(move |(_, line)| {
            format!(
                "{} does not wait until `{}` has read shared memory, which another CTA may use when this one has exited: \
                 `cp.async.bulk.wait_group.read 0` waits",
                of.name, line.text
            )
        })
    })
}

/// The registers that a test reads and neither an instruction nor the initial state writes.
fn unwritten(test: &Test) -> impl Iterator<Item = String> {
    let threads = test
        .program
        .threads
        .iter()
        .enumerate()
        .filter(|_| test.dialect == Dialect::Ptx && test.sass.is_none());
    threads.flat_map(|(thread, of)| {
        let declared = &test.declarations.registers[thread];
        let given = |register: usize| declared.get(register).is_some_and(|of| of.given);
        let lines = || of.lines.iter();
        let written: BTreeSet<Reg> =
            lines().flat_map(|line| line.instruction.destinations()).collect();
        let guards = lines().filter_map(|line| Some(line.guard?.predicate));
        // Descriptors of matrices have no values.
        let descriptors = |instruction: &Instruction| {
            matches!(
                instruction.as_asynchronous(),
                Some(Asynchronous::Multiply(_) | Asynchronous::TensorMemory(_))
            )
        };
        let valued = lines().filter(|line| !descriptors(&line.instruction));
        let read: BTreeSet<Reg> =
            valued.flat_map(|line| line.instruction.sources()).chain(guards).collect();
        let missing = read.difference(&written).filter(|register| !given(register.0.into()));
        let names = missing.map(|register| &of.registers[usize::from(register.0)].name);
        let said = |name| format!("register `{name}` of {} is never written: it is 0", of.name);
        names.map(said).collect::<Vec<String>>()
    })
}
