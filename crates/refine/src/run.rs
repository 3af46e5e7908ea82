//! Runs the machine: whether it has, in some context, a run whose outcome the source forbids there.

use std::collections::BTreeMap;
use std::fmt;

use machine::form::{self, LoweredInstruction, MachineOp};
use machine::{Machine, Options, Step as Taken};
use model::memory::Home;
use model::program::Program;
use model::scope::Scope;
use model::value::Value;
use sass::form::sequence;
use sass::lower::Lowering;
use sass::lowering;

use super::code::MachineCode;
use super::context::ContextFamily;
use super::contract;
use super::inclusion::{Judge, Question};
use super::placed::{self, PlacedContext};
use super::program::{lines, program, share, variable};
use super::refiner::{AllowedOutcomes, LimitText};
use super::side::{Side, shown};
use super::step::{Step, TestLocation};
use ::explore::{ExploreLimits, explore};

/// A run of the machine whose outcome the source forbids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForbiddenRun {
    pub context: String,
    pub outcome: String,
    pub steps: Vec<String>,
}

impl fmt::Display for ForbiddenRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.context)?;
        writeln!(f, "{}", numbered(&self.steps))?;
        write!(f, "     {}", self.outcome)
    }
}

/// The machine's answer to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MachineAnswer {
    /// The machine has no such run in this number of contexts.
    Included(usize),
    Refuted(Box<ForbiddenRun>),
    /// The machine cannot run the question, or did not finish.
    Undecided(&'static str),
}

/// Readings R79 and R53: the machine of `causeway explore`, in which loads may pass a `MEMBAR.ALL`, and the
/// same machine with store buffers. Each machine is held to the axioms, so a run of any of them refutes.
pub(super) const MACHINES: [(&str, Options); 2] = {
    let lazy = Options { lazy_all: true, ..Options::DEFAULT };
    [("", lazy), (", with store buffers", Options { store_buffers: true, ..lazy })]
};

/// The maximum number of states of a question. Questions of single operations have a few hundred states.
const STATES: usize = 100_000;

const NONE: &str = "it is too large for the machine";

/// The answers so far.
#[derive(Default)]
pub(super) struct Runs {
    answers: BTreeMap<(Question, String), MachineAnswer>,
}

impl Runs {
    pub(super) fn forget(&mut self) {
        self.answers.clear();
    }
}

/// A program on the machine.
struct Loaded {
    program: Program,
    lowered: Vec<Vec<LoweredInstruction>>,
}

impl Judge<'_> {
    /// Runs the code in each context, and compares its outcomes with those that the axioms allow the source
    /// there.
    pub fn run(&mut self, question: &Question, code: &MachineCode) -> MachineAnswer {
        let key = (question.clone(), format!("{:?}", code.lines));
        if let Some(answer) = self.runs.answers.get(&key) {
            return answer.clone();
        }
        let family = ContextFamily::of(&question.source, &question.target);
        let Some(machine) = question.machine else { return MachineAnswer::Undecided(NONE) };
        let contexts =
            placed::contexts(family, self.refiner.contexts, question.reach, machine.far());
        let answer = self.run_each(question, code, &contexts);
        self.runs.answers.insert(key, answer.clone());
        answer
    }

    fn run_each(
        &mut self,
        question: &Question,
        code: &MachineCode,
        contexts: &[PlacedContext],
    ) -> MachineAnswer {
        let mut checked = 0;
        let mut limit = None;
        for PlacedContext { context, homes } in contexts {
            let side = Side { question, context, partners: self.partners };
            if !side.exists() {
                continue;
            }
            let key = side.key(&side.source_threads(), question.language, false);
            let Ok(allowed) = self.allowed(&side, &key, false) else { continue };
            if allowed.undefined {
                continue;
            }
            for home in homes {
                let Some(loaded) = load(&side, Some(code), *home) else { continue };
                for (name, options) in MACHINES {
                    match extra(&loaded, question, options, &allowed) {
                        Ok(None) => checked += 1,
                        Err(why) => limit = Some(why),
                        Ok(Some((outcome, steps))) => {
                            // Reading R81: if the table's own lowering fails too, that lowering is at fault.
                            let base = load(&side, None, *home);
                            let base = base.map(|base| extra(&base, question, options, &allowed));
                            if matches!(base, Some(Ok(Some(_)))) {
                                continue;
                            }
                            let context = format!("{}{}{name}", side.text(), at(*home));
                            let outcome = shown(&loaded.program, &outcome, question.width);
                            return MachineAnswer::Refuted(Box::new(ForbiddenRun {
                                context,
                                outcome,
                                steps,
                            }));
                        }
                    }
                }
            }
        }
        match limit {
            Some(why) => MachineAnswer::Undecided(why),
            None if checked == 0 => {
                MachineAnswer::Undecided("the machine supports none of the contexts")
            }
            None => MachineAnswer::Included(checked),
        }
    }
}

/// Homes other than the first thread's GPU, in words.
fn at(homes: [Option<Home>; 3]) -> String {
    let named = TestLocation::ALL.iter().zip(homes).filter_map(|(place, home)| {
        Some(match home? {
            Home::Gpu(gpu) => format!(", {} on GPU {gpu}", place.name()),
            Home::Host => format!(", {} in the host", place.name()),
        })
    });
    named.collect()
}

/// The program of a side: the code, or the table's lowering of the source; with the machine's operations for
/// its lines.
fn load(side: &Side<'_>, code: Option<&MachineCode>, homes: [Option<Home>; 3]) -> Option<Loaded> {
    let machine = side.question.machine?;
    let usual = Side { partners: None, ..*side };
    let row: Vec<Step> = match code {
        Some(code) => code.lines.iter().map(|line| line.step).collect(),
        None => side.question.source.iter().flat_map(|&step| usual.mapped(step)).collect(),
    };
    let threads = side.numbered(&row, |step| side.mapped(step));
    let mut program = program(&threads, &side.context.placements, side.question.width);
    let first = side.context.placements[0];
    let mut lowered = Vec::new();
    for (index, (steps, thread)) in threads.iter().zip(&mut program.threads).enumerate() {
        let mut all = Vec::new();
        // Reading R82: what is assumed for the code is assumed for its frame.
        let granted = index == 0 && !machine.waits;
        let mut into = thread.lines.iter_mut();
        let remote = !Scope::Cta.includes(first, thread.placement);
        for (numbered, count) in steps.iter().zip(lines(steps)) {
            let of_code = code.zip(numbered.row).map(|(code, at)| &code.lines[at]);
            for line in into.by_ref().take(count) {
                all.push(match (of_code, numbered.step) {
                    (Some(of_code), _) => {
                        line.text.clone_from(&of_code.text);
                        of_code.lowered.clone()
                    }
                    (None, Step::Guard) => LoweredInstruction::default(),
                    (None, step) => {
                        let remote = remote && at_y(step);
                        let by = side.partners.filter(|_| numbered.row.is_none());
                        let text = contract::sass(step, machine, by, remote)?;
                        let mut lowered = sequence(&line.instruction, &text).ok()?;
                        let shows = matches!(step, Step::Access { act, .. } if act.shows());
                        if granted && shows && !lowered.forms.contains(&MachineOp::AcquireWait) {
                            lowered.forms.push(MachineOp::AcquireWait);
                        }
                        lowered
                    }
                });
            }
        }
        lowered.push(all);
    }
    for (place, home) in TestLocation::ALL.into_iter().zip(homes) {
        program.variables[usize::from(variable(place).0)].home = home;
    }
    if machine.shared {
        share(&mut program);
    }
    Some(Loaded { program, lowered })
}

fn at_y(step: Step) -> bool {
    matches!(step, Step::Access { at: TestLocation::Y, .. })
}

fn extra(
    loaded: &Loaded,
    question: &Question,
    options: Options,
    allowed: &AllowedOutcomes,
) -> Result<Option<ShortestRun>, LimitText> {
    let machine = question.machine.ok_or(NONE)?;
    let families = lowering::families().iter();
    let family = form::Family::of(machine.sm).ok_or(NONE)?;
    let mut tables = families.filter(|named| named.name == family.name());
    let table = &tables.next().ok_or(NONE)?.table;
    let lowering = Lowering { table, sm: machine.sm, family, direct: Some(&loaded.lowered) };
    forbidden(&loaded.program, lowering, options, STATES, &|outcome| allowed.has(outcome))
}

/// An outcome, and the steps of a shortest run that has it.
pub(super) type ShortestRun = (Vec<Value>, Vec<String>);

/// A run of the machine with an outcome that is not allowed.
pub(super) fn forbidden(
    program: &Program,
    lowering: Lowering<'_>,
    options: Options,
    states: usize,
    is_allowed: &dyn Fn(&[Value]) -> bool,
) -> Result<Option<ShortestRun>, LimitText> {
    let limits = ExploreLimits::states(states);
    let explored = explore(program, lowering, options, limits).map_err(|_| NONE)?;
    let Some(outcome) = explored.outcomes.keys().find(|outcome| !is_allowed(outcome)) else {
        return explored.limit.map_or(Ok(None), Err);
    };
    let limits = ExploreLimits { runs: true, ..limits };
    let explored = explore(program, lowering, options, limits).map_err(|_| NONE)?;
    let steps: &[Taken] = explored.outcomes.get(outcome).map_or(&[], |steps| steps);
    let lowered = lowering.program(program).map_err(|_| NONE)?;
    let machine = Machine::new(program, lowered, options, true).map_err(|_| NONE)?;
    let steps = steps.iter().map(|step| machine.describe(*step)).collect();
    Ok(Some((outcome.clone(), steps)))
}

/// The steps of a run, numbered.
pub(super) fn numbered(steps: &[String]) -> String {
    let numbered = (1..).zip(steps).map(|(number, step)| format!("{number:>3}. {step}"));
    numbered.collect::<Vec<_>>().join("\n")
}
