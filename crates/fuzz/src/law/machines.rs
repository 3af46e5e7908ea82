//! Laws of the machine: it does only what the axioms allow, and what a search leaves out changes no outcome.

use std::fmt::Write;

use explore::{ExploreLimits, explore};
use judge::stuck::never;
use litmus::Test;
use litmus::arbitrary::placed::ProgramKind;
use machine::form::Family;
use machine::{Home, Options, Reduce};
use reach::{Inclusion, compare};

use super::{CaseEnd, Disagreement, FuzzSetting, Law, LawCase, judged};
use crate::draw::{BARRIERS, ELSEWHERE, LONG, MIXED, ProgramSource, SMALL, WIDE, mostly};

pub(super) const INCLUSION: Law = Law {
    name: "machine",
    statement: "the axioms allow every outcome of the machine, with the lowering tables",
    sources: &mostly::<36>(
        ProgramSource::Ordered,
        &[
            ProgramSource::Placed(ProgramKind::Chain),
            ProgramSource::Placed(ProgramKind::Small),
            ProgramSource::Placed(ProgramKind::Ring),
            ProgramSource::Placed(ProgramKind::Mixed),
            ProgramSource::Placed(ProgramKind::Old),
            ProgramSource::Cycles,
            ProgramSource::Uniform(SMALL),
            ProgramSource::Uniform(WIDE),
            ProgramSource::Uniform(ELSEWHERE),
            ProgramSource::Uniform(MIXED),
            ProgramSource::Asynchronous,
            ProgramSource::Awaited,
            ProgramSource::Awaited,
            ProgramSource::Awaited,
            ProgramSource::Asynchronous,
            ProgramSource::Awaited,
            ProgramSource::Awaited,
            ProgramSource::Awaited,
        ],
    ),
    check: inclusion,
};

pub(super) const REDUCTIONS: Law = Law {
    name: "reductions",
    statement: "the reductions of the machine's search lose no outcome",
    sources: &[
        ProgramSource::Placed(ProgramKind::Chain),
        ProgramSource::Placed(ProgramKind::Small),
        ProgramSource::Placed(ProgramKind::Ring),
        ProgramSource::Placed(ProgramKind::Old),
        ProgramSource::Uniform(SMALL),
        ProgramSource::Uniform(LONG),
        ProgramSource::Uniform(WIDE),
        ProgramSource::Uniform(ELSEWHERE),
        ProgramSource::Uniform(MIXED),
        ProgramSource::Asynchronous,
        ProgramSource::Awaited,
    ],
    check: reductions,
};

pub(super) const STUCK: Law = Law {
    name: "stuck",
    statement: "a run of the machine that never ends is an execution that never ends",
    sources: &[
        ProgramSource::Uniform(BARRIERS),
        ProgramSource::Uniform(BARRIERS),
        ProgramSource::Uniform(BARRIERS),
        ProgramSource::Asynchronous,
        ProgramSource::Awaited,
    ],
    check: stuck,
};

/// Machines of different choices; programs take them in turn.
const MACHINES: [Options; 10] = {
    let default = Options::DEFAULT;
    [
        default,
        Options { lazy_all: true, ..default },
        Options { store_buffers: true, ..default },
        Options { copies: true, home: Some(Home::Host), ..default },
        Options { forward_sys: true, home: Some(Home::Gpu(1)), ..default },
        Options { one_sm: true, lazy_all: true, ..default },
        Options { warm: false, weak_pass: false, ..default },
        Options { store_buffers: true, lazy_all: true, copies: true, forward_sys: true, ..default },
        Options { one_sm: true, store_buffers: true, ..default },
        Options { warm: false, copies: true, home: Some(Home::Host), ..default },
    ]
};

/// One target of each family; most cases are of the newest but one.
const TARGETS: [u16; 8] = [90, 50, 90, 70, 90, 80, 90, 100];

/// What a choice means: the target and the options of the machine.
fn chosen(setting: &FuzzSetting, test: &Test, choice: u64) -> (u16, Options) {
    let at = |number: u64, of: usize| usize::try_from(number % of as u64).unwrap_or(0);
    let sm = TARGETS[at(choice, TARGETS.len())];
    let options = MACHINES[at(choice / TARGETS.len() as u64, MACHINES.len())];
    // Reading R51 is not of a family without scopes: its membar.cta is not an instruction, and drains nothing.
    let drains = Family::of_or_before(sm).has_scopes();
    let sm = if options.store_buffers && !drains { 90 } else { sm };
    // A family without an instruction of the program says nothing.
    let lowers = setting.lowering(sm).program(&test.program).is_ok();
    (if lowers { sm } else { 90 }, options)
}

/// The options of `causeway explore` that give this machine. None give it a table with a fault.
fn replay(setting: &FuzzSetting, sm: u16, options: Options) -> Option<String> {
    if setting.table_with_fault(sm).is_some() {
        return None;
    }
    let mut text = format!("causeway explore --check --arch sm_{sm}");
    let flags = [
        (options.one_sm, " --one-sm"),
        (options.store_buffers, " --store-buffers"),
        (options.lazy_all, " --lazy-all"),
        (!options.weak_pass, " --in-order-weak"),
        (options.copies, " --copies"),
        (options.forward_sys, " --forward all"),
        (!options.warm, " --cold"),
    ];
    for (_, flag) in flags.into_iter().filter(|(given, _)| *given) {
        text.push_str(flag);
    }
    match options.reduce {
        Reduce::All => {}
        Reduce::Por => text.push_str(" --reduce por"),
        Reduce::Sleep => text.push_str(" --reduce sleep"),
        Reduce::None => text.push_str(" --reduce none"),
    }
    match options.home {
        Some(Home::Host) => text.push_str(" --home host"),
        Some(Home::Gpu(gpu)) => write!(text, " --home {gpu}").expect("strings can be written"),
        None => {}
    }
    if let Some(rule) = options.without {
        write!(text, " --without {}", rule.name()).expect("strings can be written");
    }
    Some(text + " FILE")
}

fn inclusion(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let (sm, options) = chosen(setting, case.test, case.choice);
    let options = Options { without: setting.without(), ..options };
    let judged = judged(setting, case.test);
    let limits = ExploreLimits::states(setting.states);
    let (inclusion, explored) = compare(case.test, &judged, setting.lowering(sm), options, limits);
    let faults = explored.filter(|_| case.test.program.is_asynchronous());
    match inclusion {
        // What a run finds to be without meaning the axioms call undefined.
        Inclusion::Included { .. } if faults.is_some_and(|explored| explored.faults > 0) => {
            Err(CaseEnd::Broken(Box::new(Disagreement {
                what: format!("on sm_{sm} a run faults, and the axioms define the program"),
                outcome: None,
                replay: replay(setting, sm, options),
            })))
        }
        Inclusion::Included { .. } => Ok(()),
        Inclusion::Undefined(_) => Err(CaseEnd::Skipped("the program is undefined")),
        Inclusion::Unsupported(_) => Err(CaseEnd::Skipped("the axioms do not cover the program")),
        Inclusion::Refused(_) => Err(CaseEnd::Skipped("the family lacks an instruction")),
        Inclusion::Stuck { .. } => Err(CaseEnd::Skipped("no run of the machine finishes")),
        Inclusion::Limited(_) => Err(CaseEnd::Skipped("a limit was reached")),
        Inclusion::Extra(extra) => {
            let shown = case.test.display_outcome(&extra[0].0);
            Err(CaseEnd::Broken(Box::new(Disagreement {
                what: format!(
                    "on sm_{sm} the machine has an outcome that the axioms forbid: {shown}"
                ),
                outcome: Some(extra[0].0.clone()),
                replay: replay(setting, sm, options),
            })))
        }
    }
}

fn reductions(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let (sm, options) = chosen(setting, case.test, case.choice);
    let (program, limits) = (&case.test.program, ExploreLimits::states(setting.states));
    let found = |reduce: Reduce| {
        let without = setting.without().filter(|_| reduce != Reduce::None);
        let options = Options { reduce, without, ..options };
        explore(program, setting.lowering(sm), options, limits)
            .map_err(|_| CaseEnd::Skipped("the family lacks an instruction"))
    };
    let all = found(Reduce::None)?;
    if all.limit.is_some() {
        return Err(CaseEnd::Skipped("a limit was reached"));
    }
    for reduce in [Reduce::Sleep, Reduce::Por, Reduce::All] {
        let fewer = found(reduce)?;
        if reduce == Reduce::Sleep && fewer.states != all.states {
            let (all, fewer) = (all.states, fewer.states);
            return Err(CaseEnd::Broken(Box::new(Disagreement {
                what: format!("on sm_{sm} {all} states, and {fewer} with sleep sets"),
                outcome: None,
                replay: replay(setting, sm, Options { reduce, ..options }),
            })));
        }
        if !all.outcomes.keys().eq(fewer.outcomes.keys()) {
            let lost = all.outcomes.keys().find(|outcome| !fewer.outcomes.contains_key(*outcome));
            let text = lost.map_or(String::new(), |lost| case.test.display_outcome(lost));
            return Err(CaseEnd::Broken(Box::new(Disagreement {
                what: format!("on sm_{sm} the reduction {reduce:?} loses {text}"),
                outcome: lost.cloned(),
                replay: replay(setting, sm, Options { reduce, ..options }),
            })));
        }
    }
    Ok(())
}

fn stuck(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let judged = judged(setting, case.test);
    let limits = ExploreLimits { progress: true, ..ExploreLimits::states(setting.states) };
    let options = Options { without: setting.without(), ..Options::DEFAULT };
    let (inclusion, explored) = compare(case.test, &judged, setting.lowering(90), options, limits);
    let broken = |what: String| {
        let (outcome, replay) = (None, replay(setting, 90, options));
        CaseEnd::Broken(Box::new(Disagreement { what, outcome, replay }))
    };
    if let Inclusion::Extra(extra) = &inclusion {
        let shown = case.test.display_outcome(&extra[0].0);
        return Err(broken(format!("the machine has an outcome that the axioms forbid: {shown}")));
    }
    let seen = &judged.found.seen;
    let known = judged.found.is_complete() && seen.stuck_is_known;
    let explored = explored.filter(|explored| explored.limit.is_none() && known);
    let Some(explored) = explored else { return Err(CaseEnd::Skipped("a limit was reached")) };
    match explored.stuck_at.as_ref().filter(|_| explored.faults == 0) {
        Some(at) if seen.stuck.is_none() => {
            Err(broken(format!("the axioms have no such execution: {}", never(case.test, at))))
        }
        Some(_) | None => Ok(()),
    }
}
