//! `causeway explore`: outcomes, runs, and whether the axioms allow them.

use std::io::{self, Write};
use std::path::Path;

use litmus::lowering::{self, Table};
use litmus::sass::lower::Lowering;
use litmus::{Dialect, Test};
use model::machine::{Machine, Options, Refusal, Step};
use model::ptx;
use model::rel::Model;

use super::inclusion::{Inclusion, compare};
use super::{Explored, Limits, explore};
use crate::cli::Explore;
use crate::engine;
use crate::exit::Exit;
use crate::judge::{Task, judge};
use crate::suite;

/// How often each answer was given, for the last line.
#[derive(Default)]
struct Tally {
    included: usize,
    extra: usize,
    undefined: usize,
    refused: usize,
    limited: usize,
    reached: usize,
    allowed: usize,
}

/// Runs the tests; the worst answer decides the exit code.
pub fn command(command: &Explore, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let files = match suite::find(&command.paths, "litmus") {
        Ok(files) => files,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    if files.is_empty() {
        writeln!(err, "error: no .litmus file below the paths given")?;
        return Ok(Exit::BadInput);
    }
    let table = match command.table.as_deref().map(read_table).transpose() {
        Ok(table) => table,
        Err(complaint) => {
            write!(err, "{complaint}")?;
            return Ok(Exit::BadInput);
        }
    };
    let model = ptx::model();
    let (mut exit, mut tally) = (Exit::AsExpected, Tally::default());
    for file in &files {
        let Some(test) = read(file, err)? else {
            exit = exit.max(Exit::BadInput);
            continue;
        };
        if test.dialect == Dialect::Cxx {
            let why = "a test of C++ has no instructions that a machine runs";
            writeln!(err, "error: {}: {why}", file.display())?;
            exit = exit.max(Exit::BadInput);
            continue;
        }
        for &sm in &command.arch.0 {
            let standard = Lowering::of(sm).expect("the command line names known targets");
            let lowering = table.as_ref().map_or(standard, |table| Lowering { table, ..standard });
            let one = One { command, test: &test, lowering, options: options(command) };
            let worst = if command.check {
                one.check(&model, &mut tally, out)?
            } else {
                one.outcomes(out)?
            };
            exit = exit.max(worst);
        }
    }
    if command.check {
        let Tally { included, extra, undefined, refused, limited, reached, allowed } = tally;
        writeln!(
            out,
            "{} comparisons: {included} included, {extra} not, {undefined} undefined, {refused} refused, \
             {limited} limited; {reached} of {allowed} allowed outcomes reached",
            included + extra + undefined + refused + limited
        )?;
    }
    Ok(exit)
}

fn read(file: &Path, err: &mut dyn Write) -> io::Result<Option<Test>> {
    let path = file.to_string_lossy();
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(err, "error: {path}: {error}")?;
            return Ok(None);
        }
    };
    match litmus::parse(&path, &bytes) {
        Ok(test) => Ok(Some(test)),
        Err(diagnostics) => {
            diagnostics.iter().try_for_each(|diagnostic| writeln!(err, "{diagnostic}"))?;
            Ok(None)
        }
    }
}

fn read_table(path: &Path) -> Result<Table, String> {
    let shown = path.to_string_lossy();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("error: {shown}: {error}\n"))?;
    lowering::read(&shown, &text).map_err(|diagnostics| {
        let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        all.join("\n")
    })
}

fn options(command: &Explore) -> Options {
    Options {
        one_sm: command.one_sm,
        home: command.home,
        fused: !command.split_atomics,
        ..Options::default()
    }
}

/// One test on one machine.
struct One<'a> {
    command: &'a Explore,
    test: &'a Test,
    lowering: Lowering<'a>,
    options: Options,
}

impl One<'_> {
    fn limits(&self) -> Limits {
        Limits { states: self.command.states }
    }

    fn heading(&self) -> String {
        format!("{} on sm_{}", self.test.name, self.lowering.sm)
    }

    fn refused(&self, refusal: &Refusal) -> String {
        match refusal {
            Refusal::Lowering { thread, line, why } => {
                let thread = &self.test.program.threads[usize::from(thread.0)];
                format!("refused: {}: `{}`: {why}", thread.name, thread.lines[*line].text)
            }
            Refusal::TooLarge(what) => format!("refused: too many {what}"),
        }
    }

    fn outcomes(&self, out: &mut dyn Write) -> io::Result<Exit> {
        let explored = match explore(&self.test.program, self.lowering, self.options, self.limits())
        {
            Ok(explored) => explored,
            Err(refusal) => {
                writeln!(out, "{}: {}", self.heading(), self.refused(&refusal))?;
                return Ok(Exit::Undecided);
            }
        };
        let count = explored.outcomes.len();
        writeln!(out, "{}: {count} outcome{}", self.heading(), if count == 1 { "" } else { "s" })?;
        for (outcome, run) in &explored.outcomes {
            writeln!(out, "  {}", self.test.display_outcome(outcome))?;
            if self.command.runs {
                self.run(run, out)?;
            }
        }
        self.remarks(&explored, out)?;
        Ok(if explored.limit.is_some() { Exit::Undecided } else { Exit::AsExpected })
    }

    fn run(&self, run: &[Step], out: &mut dyn Write) -> io::Result<()> {
        let lowered = self.lowering.program(&self.test.program);
        let machine =
            lowered.and_then(|lowered| Machine::new(&self.test.program, lowered, self.options));
        let Ok(machine) = machine else { return Ok(()) };
        for (index, step) in run.iter().enumerate() {
            writeln!(out, "    {:2}. {}", index + 1, machine.describe(*step))?;
        }
        Ok(())
    }

    fn remarks(&self, explored: &Explored, out: &mut dyn Write) -> io::Result<()> {
        if explored.stuck > 0 {
            writeln!(out, "  {} states in which no thread can go on", explored.stuck)?;
        }
        if let Some(limit) = explored.limit {
            writeln!(out, "  not everything was searched: {limit}")?;
        }
        if self.command.stats {
            let Explored { states, transitions, .. } = explored;
            writeln!(out, "  {states} states, {transitions} transitions")?;
        }
        Ok(())
    }

    fn check(&self, model: &Model, tally: &mut Tally, out: &mut dyn Write) -> io::Result<Exit> {
        // A loop runs as long as it likes on the machine; three times shows what it can read.
        const BOUND: u32 = 3;
        let engines = engine::ENGINES.iter().copied().filter(|e| e.name() == "enumerate").collect();
        let task = Task {
            model,
            cxx: None,
            engines,
            bound: BOUND,
            timeout: None,
            verdict_only: false,
            blame: false,
        };
        let judged = judge(self.test, &task);
        let (inclusion, explored) =
            compare(self.test, &judged, self.lowering, self.options, self.limits());
        let heading = self.heading();
        let exit = match inclusion {
            Inclusion::Included { reached, allowed } => {
                tally.included += 1;
                tally.reached += reached;
                tally.allowed += allowed;
                Exit::AsExpected
            }
            Inclusion::Extra(extra) => {
                tally.extra += 1;
                for (outcome, run) in &extra {
                    let outcome = self.test.display_outcome(outcome);
                    writeln!(out, "{heading}: the machine has an outcome that the axioms forbid")?;
                    writeln!(out, "  {outcome}")?;
                    self.run(run, out)?;
                }
                Exit::Differs
            }
            Inclusion::Undefined(_) => {
                tally.undefined += 1;
                Exit::AsExpected
            }
            Inclusion::Refused(refusal) => {
                tally.refused += 1;
                if self.command.stats {
                    writeln!(out, "{heading}: {}", self.refused(&refusal))?;
                }
                Exit::AsExpected
            }
            Inclusion::Limited(why) => {
                tally.limited += 1;
                writeln!(out, "{heading}: not compared in full: {why}")?;
                Exit::Undecided
            }
        };
        if let Some(explored) = explored.filter(|_| self.command.stats) {
            writeln!(out, "{heading}:")?;
            self.remarks(&explored, out)?;
        }
        Ok(exit)
    }
}
