//! The sides of a comparison: models with an engine, and machines.

use std::io::{self, Write};
use std::path::Path;

use ::explore::{Exploration, ExploreLimits};
use engine::clock::Deadline;
use engine::{Engine, Limit, Limits};
use fuzz::answer::{self, EngineAnswer};
use generate::build;
use generate::cycle::Cycle;
use generate::question::{self, CycleAnswer};
use judge::explain::ExplainOptions;
use judge::subject::ReadingSubject;
use judge::{Property, Task, Verdict, explain};
use litmus::{Dialect, Quantifier, Test};
use machine::{Options, Refusal};
use model::ptx;
use model::reading::{self, Reading, Readings};
use model::rel::Model;
use model::value::Value;
use reach::one::{self, ExploreQuestion};
use sass::lower::Lowering;
use sass::lowering::LoweringTable;
use text::report::nearest;

use super::args::Diff;
use crate::explore::command::read_table;
use crate::options::EngineName;
use crate::selection;

/// One side of a comparison.
pub(super) struct DiffSide {
    /// As it was given.
    pub(super) name: String,
    kind: SideKind,
}

enum SideKind {
    Axioms {
        model: Box<Model>,
        /// Of the built-in model of PTX.
        readings: Option<Readings>,
        engine: &'static dyn Engine,
    },
    Machine {
        sm: u16,
        table: Option<Box<LoweringTable>>,
    },
}

/// What a side may take for a test.
#[derive(Clone, Copy)]
pub(super) struct SideLimits {
    bound: u32,
    states: usize,
    timeout: Option<std::time::Duration>,
    memory: usize,
}

impl SideLimits {
    pub(super) fn new(command: &Diff) -> SideLimits {
        SideLimits {
            bound: command.bound,
            states: command.states,
            timeout: command.limits.timeout,
            memory: command.limits.bytes(),
        }
    }

    fn of_engine(&self) -> Limits {
        Limits {
            bound: self.bound,
            deadline: self.timeout.map(Deadline::after),
            memory: self.memory,
            unending: false,
            work: None,
        }
    }

    fn of_machine(&self) -> ExploreLimits {
        let limits = ExploreLimits { memory: self.memory, ..ExploreLimits::states(self.states) };
        limits.within(self.timeout)
    }
}

const HELP: &str = "help: a side is `ptx`, `ptx:R13=semantic`, a .cat file, each with `@enumerate` or `@solve` if \
    wanted; or `sm_90`, `sm_90:FILE.table`";

impl DiffSide {
    /// Reads a side; nothing after an error was printed.
    pub(super) fn read(text: &str, err: &mut dyn Write) -> io::Result<Option<DiffSide>> {
        if let Some(name) = text.strip_suffix(':') {
            let (what, example) = if name.starts_with("sm_") {
                ("table", "FILE.table")
            } else {
                ("choice of a reading", "R13=semantic")
            };
            writeln!(err, "error: `{text}` has no {what} after the colon")?;
            writeln!(err, "help: `{name}`, or `{name}:{example}`")?;
            return Ok(None);
        }
        if text == "-" {
            writeln!(err, "error: a side is not read from standard input")?;
            writeln!(err, "{HELP}")?;
            return Ok(None);
        }
        let kind = if text.starts_with("sm_") { machine(text, err)? } else { axioms(text, err)? };
        Ok(kind.map(|kind| DiffSide { name: text.to_owned(), kind }))
    }

    /// Whether stronger choices are known to allow no more.
    pub(super) fn is_monotone(&self) -> bool {
        match &self.kind {
            SideKind::Axioms { readings, .. } => readings.is_some(),
            SideKind::Machine { .. } => false,
        }
    }

    /// What the readings that differ between two sides are about.
    pub(super) fn differing_readings(
        &self,
        other: &DiffSide,
    ) -> Vec<(&'static Reading, ReadingSubject)> {
        match (&self.kind, &other.kind) {
            (
                SideKind::Axioms { readings: Some(own), .. },
                SideKind::Axioms { readings: Some(there), .. },
            ) => {
                let about = |(reading, switched): (&'static Reading, Readings)| {
                    (reading, ReadingSubject::of(own, &switched))
                };
                own.differing(there).map(about).collect()
            }
            (SideKind::Axioms { .. } | SideKind::Machine { .. }, _) => Vec::new(),
        }
    }

    /// Whether it is a model of a file.
    pub(super) fn is_imported(&self) -> bool {
        matches!(&self.kind, SideKind::Axioms { readings: None, .. }) && !self.is_cxx()
    }

    /// Whether it is a model for programs in C++.
    pub(super) fn is_cxx(&self) -> bool {
        match &self.kind {
            SideKind::Axioms { model, .. } => model.name.starts_with("cxx"),
            SideKind::Machine { .. } => false,
        }
    }

    /// Whether two sides are engines of one model, which must agree.
    pub(super) fn must_agree_with(&self, other: &DiffSide) -> bool {
        match (&self.kind, &other.kind) {
            (SideKind::Axioms { model, .. }, SideKind::Axioms { model: other, .. }) => {
                model == other
            }
            (SideKind::Axioms { .. } | SideKind::Machine { .. }, _) => false,
        }
    }

    /// Whether the outcome of a cycle is allowed; of a machine, whether a run has it.
    pub(super) fn of_cycle(&self, cycle: &Cycle, limits: &SideLimits) -> CycleAnswer {
        match &self.kind {
            SideKind::Axioms { model, engine, .. } => {
                question::ask(cycle, model, *engine, &limits.of_engine())
            }
            SideKind::Machine { sm, table } => {
                // A table reads the text of instructions.
                let test = build::test(cycle, Quantifier::Exists);
                match explored(&test, *sm, table.as_deref(), limits) {
                    Err(_) => CycleAnswer::Undecided(REFUSED),
                    Ok(explored)
                        if explored
                            .outcomes
                            .keys()
                            .any(|values| test.proposition.holds(&test.program, values)) =>
                    {
                        CycleAnswer::Allowed
                    }
                    Ok(explored) if explored.outcomes.is_empty() && explored.limit.is_none() => {
                        CycleAnswer::Stuck
                    }
                    Ok(explored) => {
                        explored.limit.map_or(CycleAnswer::Forbidden, CycleAnswer::Undecided)
                    }
                }
            }
        }
    }

    /// The verdict of a litmus test in a word, with a reason if it has one; or why it is not decided.
    pub(super) fn of_test(&self, test: &Test, limits: &SideLimits) -> Result<String, String> {
        let with = |word: &str, why: &str| format!("{word} ({why})");
        match &self.kind {
            SideKind::Axioms { model, engine, .. } => {
                let task = Task {
                    model,
                    cxx: None,
                    engines: vec![*engine],
                    bound: limits.bound,
                    timeout: limits.timeout,
                    memory: limits.memory,
                    property: Property::ProgramSpec,
                    verdict_only: true,
                    counts: false,
                    portfolio: false,
                    until: None,
                    blame: false,
                    alternatives: &[],
                    rests: false,
                    races: false,
                    work: None,
                };
                let verdict = judge::judge(test, &task).verdict;
                match &verdict {
                    Verdict::Undecided(why) | Verdict::Unsupported(why) => Err(why.clone()),
                    Verdict::Undefined(why) => Ok(with(verdict.name(), why)),
                    Verdict::Holds | Verdict::Fails | Verdict::Stuck(_) => {
                        Ok(verdict.name().to_owned())
                    }
                }
            }
            SideKind::Machine { sm, table } => {
                let explored = explored(test, *sm, table.as_deref(), limits)
                    .map_err(|refusal| one::refused(test, &refusal))?;
                let holds = |values: &Vec<Value>| test.proposition.holds(&test.program, values);
                let passes = |values: &&Vec<Value>| test.passes(values);
                let mut outcomes = explored.outcomes.keys().filter(passes).map(holds);
                let decides = match test.quantifier {
                    Quantifier::Exists => outcomes.any(|holds| holds),
                    Quantifier::NotExists => !outcomes.any(|holds| holds),
                    Quantifier::ForAll => outcomes.all(|holds| holds),
                };
                let is_final = decides == (test.quantifier == Quantifier::Exists);
                match explored.limit.filter(|_| !is_final) {
                    Some(limit) => Err(limit.to_owned()),
                    None => Ok(if decides { "holds" } else { "fails" }.to_owned()),
                }
            }
        }
    }

    /// All outcomes of a test, by so much work of an engine at most; or why they are not known.
    pub(super) fn outcomes(
        &self,
        test: &Test,
        limits: &SideLimits,
        work: u64,
    ) -> Result<EngineAnswer, &'static str> {
        match &self.kind {
            SideKind::Axioms { model, engine, .. } => {
                let limits = Limits { work: Some(work), ..limits.of_engine() };
                answer::ask(*engine, model, &test.program, &limits).map_err(Limit::text)
            }
            SideKind::Machine { sm, table } => {
                let explored =
                    explored(test, *sm, table.as_deref(), limits).map_err(|_| REFUSED)?;
                match explored.limit {
                    Some(limit) => Err(limit),
                    None => Ok(EngineAnswer::Outcomes(explored.outcomes.into_keys().collect())),
                }
            }
        }
    }

    /// Why the side answers as it does.
    pub(super) fn explain(&self, test: &Test, limits: &SideLimits) -> io::Result<String> {
        match &self.kind {
            SideKind::Axioms { model, readings, .. } => {
                let options = ExplainOptions {
                    bound: limits.bound,
                    until: limits.timeout.map(Deadline::after),
                    memory: limits.memory,
                    readings: *readings,
                    // The sides answer a question; what the test expects is nobody's answer.
                    asked: true,
                    ..ExplainOptions::default()
                };
                let mut written = Vec::new();
                explain::explain(test, model, options, &mut written)?;
                Ok(String::from_utf8_lossy(&written).into_owned())
            }
            SideKind::Machine { sm, table } => Ok(run_of(test, *sm, table.as_deref(), limits)),
        }
    }
}

/// What the runs of a machine are.
fn explored(
    test: &Test,
    sm: u16,
    table: Option<&LoweringTable>,
    limits: &SideLimits,
) -> Result<Exploration, Refusal> {
    let (lowering, limits) = (lowering(sm, table), limits.of_machine());
    ::explore::explore(&test.program, lowering, Options::default(), limits)
}

const REFUSED: &str = "the machine has no instruction or no room for it";

fn lowering(sm: u16, table: Option<&LoweringTable>) -> Lowering<'_> {
    let standard = Lowering::of(sm).expect("it was known when the side was read");
    table.map_or(standard, |table| Lowering { table, ..standard })
}

fn axioms(text: &str, err: &mut dyn Write) -> io::Result<Option<SideKind>> {
    const ENGINES: [(&str, EngineName); 2] =
        [("enumerate", EngineName::Enumerate), ("solve", EngineName::Solve)];
    let named = |name: &str| ENGINES.iter().find(|(known, _)| *known == name).map(|(_, one)| *one);
    let (model, engine) = match (named(text), text.rsplit_once('@')) {
        (Some(engine), _) => ("ptx", engine),
        (None, Some((model, name))) if named(name).is_some() => {
            (model, named(name).unwrap_or(EngineName::Enumerate))
        }
        (None, _) => (text, EngineName::Enumerate),
    };
    let Some(engines) = selection::engines(engine, err)? else { return Ok(None) };
    let (name, switched) = model.split_once(':').unwrap_or((model, ""));
    let (model, readings) = if name == "ptx" {
        let Some(readings) = readings(switched, err)? else { return Ok(None) };
        (ptx::under(readings), Some(readings))
    } else {
        let path = Path::new(model);
        let is_name = !path.exists() && path.extension().is_none() && !model.starts_with("cxx");
        if is_name {
            writeln!(err, "error: unknown side `{model}`")?;
            writeln!(err, "{HELP}")?;
            return Ok(None);
        }
        let Some(model) = selection::other_model(path, err)? else { return Ok(None) };
        (model, None)
    };
    Ok(engines.first().map(|&engine| SideKind::Axioms { model: Box::new(model), readings, engine }))
}

/// `R13=semantic,R6=physical`
fn readings(text: &str, err: &mut dyn Write) -> io::Result<Option<Readings>> {
    let mut readings = Readings::default();
    let mut chosen: Vec<&str> = Vec::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        let name = word.split('=').next().unwrap_or_default();
        if chosen.contains(&name) {
            writeln!(err, "error: reading {name} is switched twice")?;
            return Ok(None);
        }
        chosen.push(name);
        let Some(switched) = readings.switch(word) else {
            let known: Vec<String> = reading::ALL
                .iter()
                .flat_map(|of| {
                    of.choices.iter().map(|choice| format!("{}={}", of.name, choice.name))
                })
                .collect();
            writeln!(err, "error: unknown choice of a reading `{word}`")?;
            let near = nearest(word, known.iter().map(String::as_str));
            writeln!(err, "help: {}", near.map_or_else(|| known.join(", "), str::to_owned))?;
            return Ok(None);
        };
        readings = switched;
    }
    Ok(Some(readings))
}

fn machine(text: &str, err: &mut dyn Write) -> io::Result<Option<SideKind>> {
    let (target, table) =
        text.split_once(':').map_or((text, None), |(target, table)| (target, Some(table)));
    let known = ::ptx::version::Target::parse(target).filter(|of| Lowering::of(of.sm).is_some());
    let Some(target) = known else {
        writeln!(err, "error: unknown machine `{target}`: expected sm_50 to sm_121")?;
        writeln!(err, "{HELP}")?;
        return Ok(None);
    };
    match table.map(|path| read_table(Path::new(path))).transpose() {
        Ok(table) => Ok(Some(SideKind::Machine { sm: target.sm, table: table.map(Box::new) })),
        Err(complaint) => {
            write!(err, "{complaint}")?;
            Ok(None)
        }
    }
}

/// Whether a test can have a verdict on a side.
pub(super) fn is_for(side: &DiffSide, test: &Test) -> bool {
    match &side.kind {
        SideKind::Axioms { .. } => side.is_cxx() == (test.dialect == Dialect::Cxx),
        SideKind::Machine { .. } => test.dialect != Dialect::Cxx && test.sass.is_none(),
    }
}

/// The run of a machine to the outcome of a test.
fn run_of(test: &Test, sm: u16, table: Option<&LoweringTable>, limits: &SideLimits) -> String {
    let model = ptx::model();
    let question = ExploreQuestion {
        model: &model,
        check: false,
        bound: limits.bound,
        options: Options::default(),
        limits: ExploreLimits { runs: true, ..limits.of_machine() },
        walks: None,
        runs: true,
    };
    let ran =
        one::run(test, None, lowering(sm, table), &question, limits.timeout.map(Deadline::after));
    let wanted = test.quantifier != Quantifier::ForAll;
    let reached = ran
        .outcomes
        .iter()
        .find(|reached| test.proposition.holds(&test.program, &reached.values) == wanted);
    let what = if wanted { "the outcome" } else { "an outcome that the condition does not have" };
    match reached.and_then(|reached| reached.run.as_ref()) {
        Some(steps) => format!("A run with {what}:\n  {}\n", steps.join("\n  ")),
        None => format!("No run has {what}.\n"),
    }
}
