//! The laws: what two accounts of the memory model must say of every program.
//!
//! A law that a program breaks is a bug in one of the accounts. Limits are counts of work and states, so that a case
//! has the same result on every computer; a case that reaches one is skipped and counted, never held to be right.

mod beginnings;
pub mod directed;
mod engines;
mod machines;
mod printed;
mod private;
mod programs;
mod tables;

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::{ENGINES, Engine, Limit, Limits};
use judge::{Judgement, Task, Verdict, judge};
use litmus::arbitrary::RandomProgram;
use litmus::{Quantifier, Test};
use machine::MachineRule;
use model::ptx;
use model::rel::Model;
use model::value::Value;
use sass::lower::Lowering;
use sass::lowering::LoweringTable;

use crate::answer::{BOUND, EngineAnswer, difference, limits};
use crate::draw::ProgramSource;
use crate::fault::PlantedFault;

pub(crate) use self::engines::REDUNDANT_AXIOMS;
pub use self::printed::instructions_read_back;

/// A relation of two accounts that holds for every program.
pub struct Law {
    /// As the command line has it.
    pub name: &'static str,
    /// The law in one sentence.
    pub statement: &'static str,
    /// Where its programs come from; the cases take turns.
    pub sources: &'static [ProgramSource],
    pub(crate) check: fn(&FuzzSetting, &LawCase<'_>) -> Result<(), CaseEnd>,
}

/// All laws.
pub static LAWS: &[Law] = &[
    engines::AGREE,
    engines::VERDICTS,
    engines::NAIVE,
    engines::COHERENCE,
    engines::REDUNDANT,
    directed::DIRECTED,
    directed::EXCHANGE,
    directed::APART,
    beginnings::BEGINNINGS,
    private::PRIVATE,
    programs::STRENGTHENING,
    programs::THREADS,
    programs::PERFORMANCE,
    programs::PRINTING,
    machines::INCLUSION,
    machines::STUCK,
    machines::REDUCTIONS,
    tables::PROMISES,
];

/// The law with this name.
pub fn named(name: &str) -> Option<&'static Law> {
    LAWS.iter().find(|law| law.name == name)
}

/// A program that a law is checked for.
pub struct LawCase<'a> {
    pub program: &'a RandomProgram,
    pub test: &'a Test,
    /// What else is chosen, such as the options of the machine; part of the case as the program is.
    pub choice: u64,
}

/// Why a case does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CaseEnd {
    /// It says nothing about the law, for this reason.
    Skipped(&'static str),
    Broken(Box<Disagreement>),
}

/// What the two accounts say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    pub what: String,
    /// An outcome that only one account has.
    pub outcome: Option<Vec<Value>>,
    /// The command that shows it for a file with the small test, which [`crate::campaign::TEST_FILE`] stands for, if
    /// one does.
    pub replay: Option<String>,
}

impl CaseEnd {
    fn broken(what: impl Into<String>) -> CaseEnd {
        CaseEnd::Broken(Box::new(Disagreement { what: what.into(), outcome: None, replay: None }))
    }
}

impl From<Limit> for CaseEnd {
    fn from(limit: Limit) -> CaseEnd {
        CaseEnd::Skipped(limit.text())
    }
}

/// What the accounts are, and how far they go.
pub struct FuzzSetting {
    /// The model that every account is held to.
    pub model: Model,
    fault: Option<PlantedFault>,
    /// The model of each engine: the same one, unless a fault is planted.
    models: Vec<Model>,
    /// The table of `sm_90` with a fault.
    table: Option<LoweringTable>,
    /// An equivalent model for which coherence orders are tried one by one.
    every_order: Model,
    /// What an engine may do for one question: see [`Limits::work`].
    pub work: u64,
    /// How many states of the machine are searched.
    pub states: usize,
    /// How many candidates of the naive reference are tried.
    pub candidates: usize,
}

impl Default for FuzzSetting {
    fn default() -> FuzzSetting {
        FuzzSetting::new(None)
    }
}

impl FuzzSetting {
    /// The accounts as they are, or with a fault.
    pub fn new(fault: Option<PlantedFault>) -> FuzzSetting {
        let model = ptx::model();
        let of = |engine: &dyn Engine| {
            let mut own = model.clone();
            match &fault {
                Some(PlantedFault::Axiom { engine: name, axiom }) if *name == engine.name() => {
                    own.axioms.retain(|one| one.name != *axiom);
                }
                Some(PlantedFault::Flag { engine: name, flag }) if *name == engine.name() => {
                    own.flags.retain(|one| one.name != *flag);
                }
                Some(
                    PlantedFault::Axiom { .. }
                    | PlantedFault::Flag { .. }
                    | PlantedFault::Rule(_)
                    | PlantedFault::Table(_),
                )
                | None => {}
            }
            own
        };
        let models: Vec<Model> = ENGINES.iter().map(|engine| of(*engine)).collect();
        FuzzSetting {
            every_order: engines::with_every_order(&model),
            models,
            table: fault.as_ref().and_then(PlantedFault::table),
            fault,
            model,
            work: 20_000,
            states: 5_000,
            candidates: 2_000,
        }
    }

    /// The fault that is planted.
    pub fn fault(&self) -> Option<&PlantedFault> {
        self.fault.as_ref()
    }

    fn limits(&self) -> Limits {
        limits(self.work)
    }

    /// The machine's rule that is off.
    fn without(&self) -> Option<MachineRule> {
        match self.fault {
            Some(PlantedFault::Rule(rule)) => Some(rule),
            Some(
                PlantedFault::Axiom { .. } | PlantedFault::Flag { .. } | PlantedFault::Table(_),
            )
            | None => None,
        }
    }

    /// The lowering for a target, by its table or the one with a fault.
    fn lowering(&self, sm: u16) -> Lowering<'_> {
        let lowering = Lowering::of(sm).expect("there is a table for each target of the laws");
        match self.table_with_fault(sm) {
            Some(table) => Lowering { table, ..lowering },
            None => lowering,
        }
    }

    /// The table with a fault, if it is that of a target.
    fn table_with_fault(&self, sm: u16) -> Option<&LoweringTable> {
        self.table.as_ref().filter(|table| table.targets.contains(&sm))
    }
}

/// Whether two answers are the same.
fn same(test: &Test, a: (&str, &EngineAnswer), b: (&str, &EngineAnswer)) -> Result<(), CaseEnd> {
    match difference(test, a, b) {
        None => Ok(()),
        Some((what, outcome)) => {
            let CaseEnd::Broken(mut broken) = CaseEnd::broken(what) else { return Ok(()) };
            broken.outcome = outcome;
            Err(CaseEnd::Broken(broken))
        }
    }
}

impl Law {
    /// Checks the law for a program. A panic in one of the accounts breaks it.
    pub fn check(
        &self,
        setting: &FuzzSetting,
        program: &RandomProgram,
        choice: u64,
    ) -> Result<(), CaseEnd> {
        let checked = catch_unwind(AssertUnwindSafe(|| {
            let source = program.to_string();
            let test = litmus::parse("random", source.as_bytes()).map_err(|errors| {
                let first = errors.first().map_or(String::new(), ToString::to_string);
                CaseEnd::broken(format!("the program does not parse: {first}"))
            })?;
            (self.check)(setting, &LawCase { program, test: &test, choice })
        }));
        checked.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(CaseEnd::broken(format!("panic: {}", text.unwrap_or("without a message"))))
        })
    }
}

/// A test that asks for the outcome of a disagreement, if it has one, and expects what the axioms say of it.
///
/// `doc` says where it comes from. `None` if the program does not parse.
pub fn shown(
    setting: &FuzzSetting,
    program: &RandomProgram,
    broken: &Disagreement,
    name: &str,
    doc: &[String],
) -> Option<Test> {
    let source = program.to_string();
    let mut test = litmus::parse("random", source.as_bytes()).ok()?;
    name.clone_into(&mut test.name);
    test.doc = doc.to_vec();
    if let Some(outcome) = broken.outcome.as_ref()
        && outcome.len() == test.program.observed.len()
    {
        test.proposition = test.is_outcome(outcome);
        test.quantifier = Quantifier::Exists;
        if judged(setting, &test).verdict == Verdict::Fails {
            test.quantifier = Quantifier::NotExists;
        }
    }
    Some(test)
}

/// What the axioms say of a test: every outcome of one engine, under the model without a fault.
fn judged(setting: &FuzzSetting, test: &Test) -> Judgement {
    let task = Task {
        engines: vec![ENGINES[0]],
        bound: BOUND,
        work: Some(setting.work),
        ..Task::new(&setting.model)
    };
    judge(test, &task)
}
