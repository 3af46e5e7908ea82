//! Laws of changed programs: what is stronger allows less, and what is only written otherwise allows the same.

use std::collections::BTreeSet;

use engine::ENGINES;
use litmus::arbitrary::ROUNDS;
use litmus::revise::SourceTest;
use litmus::{Test, print};
use model::program::{Observed, ThreadId};
use model::strength::{KnownForms, Strength};
use model::value::Value;

use super::printed::instructions_read_back;
use super::{CaseEnd, FuzzSetting, Law, LawCase, same};
use crate::answer::{EngineAnswer, ask};
use crate::draw::{BARRIERS, ELSEWHERE, MIXED, ProgramSource, SMALL, WIDE};

pub(super) const STRENGTHENING: Law = Law {
    name: "strengthening",
    statement: "a stronger order or a wider scope of an instruction adds no outcome, nor does one more fence of a proxy",
    sources: &[
        ProgramSource::Uniform(SMALL),
        ProgramSource::Uniform(WIDE),
        ProgramSource::Asynchronous,
        ProgramSource::Awaited,
        ProgramSource::Kernels,
        ProgramSource::Launched,
    ],
    check: strengthening,
};

pub(super) const THREADS: Law = Law {
    name: "threads",
    statement: "the order in which threads are written changes no outcome",
    sources: &[
        ProgramSource::Uniform(SMALL),
        ProgramSource::Uniform(WIDE),
        ProgramSource::Uniform(MIXED),
        ProgramSource::Uniform(ELSEWHERE),
        ProgramSource::Asynchronous,
        ProgramSource::Awaited,
    ],
    check: threads,
};

pub(super) const PRINTING: Law = Law {
    name: "printing",
    statement: "a printed test reads back as the same test, and a printed instruction as the same instruction",
    sources: &[
        ProgramSource::Uniform(MIXED),
        ProgramSource::Uniform(ELSEWHERE),
        ProgramSource::Uniform(BARRIERS),
        ProgramSource::Asynchronous,
        ProgramSource::Awaited,
        ProgramSource::Kernels,
        ProgramSource::Launched,
    ],
    check: printing,
};

pub(super) const PERFORMANCE: Law = Law {
    name: "performance",
    statement: "a qualifier for performance alone changes no outcome",
    sources: &[
        ProgramSource::Uniform(SMALL),
        ProgramSource::Uniform(MIXED),
        ProgramSource::Uniform(ELSEWHERE),
    ],
    check: performance,
};

/// The test with one instruction in a next stronger form, for each of them.
fn strengthened(test: &Test) -> Vec<(Strength, Test)> {
    let forms = KnownForms { clusters: true, one_way_fences: true, weak: true };
    let mut all = Vec::new();
    for (thread, of) in test.program.threads.iter().enumerate() {
        for (at, line) in of.lines.iter().enumerate() {
            let Some(now) = Strength::of(&line.instruction) else { continue };
            for stronger in now.stronger(forms) {
                let mut changed = test.clone();
                let instruction = stronger.applied(&line.instruction).expect("it has the kind");
                changed.program.threads[thread].lines[at].instruction = instruction;
                all.push((stronger, changed));
            }
        }
    }
    all
}

/// What only orders, in programs of asynchronous operations. The last two are of programs with a tensormap.
const ORDERING: [&str; 6] = [
    "fence.proxy.async",
    "fence.acq_rel.cta",
    "fence.acq_rel.gpu",
    "griddepcontrol.wait",
    "fence.proxy.tensormap::generic.release.gpu",
    "fence.proxy.tensormap::generic.acquire.gpu [m], 128",
];

/// Qualifiers and operands of asynchronous operations, each with one that orders more.
const STRONGER: [(&str, &str); 6] = [
    ("arrive.relaxed.", "arrive.release."),
    ("wait.parity.relaxed.", "wait.parity.acquire."),
    ("fence.proxy.async.shared::cta", "fence.proxy.async"),
    ("fence.proxy.async.global", "fence.proxy.async"),
    ("wait_group.read ", "wait_group "),
    ("cp.async.wait_group 1", "cp.async.wait_group 0"),
];

/// The program of asynchronous operations with an instruction that orders more, for each of them, and with one more that only
/// orders, at each place.
fn ordered_more(case: &LawCase<'_>) -> Vec<(String, Test)> {
    if !case.test.program.is_asynchronous() {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut add = |what: &str, thread: usize, cells: Vec<String>| {
        let mut changed = case.program.clone();
        changed.threads[thread].cells = cells;
        // An instruction may be none of the target of the test.
        if let Ok(test) = litmus::parse("ordered", changed.to_string().as_bytes()) {
            all.push((what.to_owned(), test));
        }
    };
    let tensors = case.program.declarations.iter().any(|entry| entry.contains("@tensormap"));
    let ordering = if tensors { &ORDERING[..] } else { &ORDERING[..4] };
    let step = ordering[usize::try_from(case.choice % ordering.len() as u64).unwrap_or(0)];
    for (thread, of) in case.program.threads.iter().enumerate() {
        for at in 0..=of.cells.len() {
            // What is between a wait and its branch would make it a loop of several waits.
            if of.cells.get(at).is_none_or(|cell| !cell.starts_with('@')) {
                let mut cells = of.cells.clone();
                cells.insert(at, step.to_owned());
                add(step, thread, cells);
            }
        }
        for (at, cell) in of.cells.iter().enumerate() {
            for (weaker, stronger) in STRONGER.iter().filter(|(weaker, _)| cell.contains(weaker)) {
                let mut cells = of.cells.clone();
                cells[at] = cell.replacen(weaker, stronger, 1);
                add(stronger, thread, cells);
            }
        }
    }
    all
}

fn strengthening(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let (model, limits) = (&setting.models[0], setting.limits());
    let before = match ask(ENGINES[0], &setting.model, &case.test.program, &limits)? {
        EngineAnswer::Outcomes(before) => before,
        EngineAnswer::Undefined => return Err(CaseEnd::Skipped("the program is undefined")),
        EngineAnswer::Stuck => return Err(CaseEnd::Skipped("no execution finishes")),
    };
    let stronger = strengthened(case.test).into_iter();
    let stronger = stronger.map(|(stronger, changed)| (format!("{stronger:?}"), changed));
    for (stronger, changed) in stronger.chain(ordered_more(case)) {
        let after = match ask(ENGINES[0], model, &changed.program, &limits)? {
            EngineAnswer::Outcomes(after) => after,
            EngineAnswer::Undefined | EngineAnswer::Stuck => {
                return Err(CaseEnd::broken(format!("no outcomes with {stronger}")));
            }
        };
        if let Some(new) = after.difference(&before).next() {
            let new = changed.display_outcome(new);
            return Err(CaseEnd::broken(format!("{stronger} adds {new}")));
        }
    }
    Ok(())
}

fn threads(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let (model, limits) = (&setting.models[0], setting.limits());
    let text = case.program.reversed().to_string();
    let mirror = litmus::parse("reversed", text.as_bytes())
        .map_err(|_| CaseEnd::broken("the reversed program does not parse"))?;
    let (here, there) = (
        ask(ENGINES[0], model, &case.test.program, &limits)?,
        ask(ENGINES[0], &setting.model, &mirror.program, &limits)?,
    );
    let EngineAnswer::Outcomes(there) = there else {
        return same(case.test, ("as written", &here), ("reversed", &there));
    };
    let last = case.program.threads.len() - 1;
    let twin = |observed: &Observed| match *observed {
        Observed::Register { thread, register } => {
            let other = ThreadId(u8::try_from(last).expect("few threads") - thread.0);
            Observed::Register { thread: other, register }
        }
        memory @ Observed::Memory { .. } => memory,
    };
    let place: Option<Vec<usize>> = case
        .test
        .program
        .observed
        .iter()
        .map(|observed| mirror.program.observed.iter().position(|other| *other == twin(observed)))
        .collect();
    let Some(place) = place else {
        return Err(CaseEnd::broken("the reversed program observes other registers"));
    };
    let renamed: BTreeSet<Vec<Value>> =
        there.iter().map(|values| place.iter().map(|&at| values[at]).collect()).collect();
    same(case.test, ("as written", &here), ("reversed", &EngineAnswer::Outcomes(renamed)))
}

/// One round of qualifiers for each case.
fn performance(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let round = usize::try_from(case.choice % ROUNDS as u64).unwrap_or(0);
    let decorated = case.program.decorated(round);
    if decorated == *case.program {
        return Err(CaseEnd::Skipped("no access takes such a qualifier"));
    }
    let source = decorated.to_string();
    let test = litmus::parse("decorated", source.as_bytes()).map_err(|errors| {
        let first = errors.first().map_or(String::new(), ToString::to_string);
        CaseEnd::broken(format!("the decorated program does not parse: {first}"))
    })?;
    // The solver takes much longer.
    let index = usize::from((case.choice / 32).is_multiple_of(8) && ENGINES.len() > 1);
    let limits = setting.limits();
    let plain = ask(ENGINES[index], &setting.model, &case.test.program, &limits)?;
    let decorated = ask(ENGINES[index], &setting.models[index], &test.program, &limits)?;
    same(case.test, ("plain", &plain), ("decorated", &decorated))
}

fn printing(_: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let printed = print::print(case.test);
    let again = litmus::parse("printed", printed.as_bytes()).map_err(|errors| {
        let first = errors.first().map_or(String::new(), ToString::to_string);
        CaseEnd::broken(format!("the printed test does not parse: {first}"))
    })?;
    if !case.test.is_same(&again) {
        return Err(CaseEnd::broken("the printed test is another one"));
    }
    let source = SourceTest::read("printed", printed.as_bytes());
    let source = source.map_err(|_| CaseEnd::broken("the printed test has no instructions"))?;
    instructions_read_back(&source).map(|_| ()).map_err(CaseEnd::broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Drawer;

    /// The name of a test ends with its line.
    #[test]
    fn what_is_printed_wrongly_breaks_the_law() {
        let program = Drawer::new(1, PRINTING.sources).program(0);
        let source = program.to_string();
        let mut test = litmus::parse("random", source.as_bytes()).expect("it parses");
        let setting = FuzzSetting::default();
        let check =
            |test: &Test| printing(&setting, &LawCase { program: &program, test, choice: 0 });
        assert_eq!(check(&test), Ok(()));
        test.name = "two\nlines".to_owned();
        assert!(matches!(check(&test), Err(CaseEnd::Broken(_))));
    }
}
