//! The terminal format: outcomes, or for a comparison the differences, each with a run and the axiom that
//! forbids it.

use std::io::{self, Write};
use std::path::Path;

use ::explore::Exploration;
use anstyle::Style;
use engine::exit::Exit;
use judge::words::with_threads;
use litmus::Test;
use reach::Inclusion;
use reach::one::{ExploreAnswer, MachineRun, Reached};
use text::escape::escaped;

use crate::input::shown;
use crate::report::{colour, count_of};

/// The options for the terminal format.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct TextOptions {
    pub check: bool,
    pub verbose: bool,
    pub stats: bool,
    /// Whether `--progress` was given: count the states from which no end can be reached.
    pub progress: bool,
}

impl TextOptions {
    /// Prints every outcome, with a run to it if one is recorded.
    pub(super) fn explored(
        self,
        test: &Test,
        ran: &MachineRun,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let heading = format!("{} on sm_{}", escaped(&test.name), ran.sm);
        if let ExploreAnswer::Refused(_) = ran.answer {
            let (word, reason) = ran.verdict(test);
            return writeln!(out, "{heading}: {word}: {}", reason.unwrap_or_default());
        }
        writeln!(out, "{heading}: {}", count_of(ran.outcomes.len(), "outcome"))?;
        for reached in &ran.outcomes {
            let state = test.display_outcome(&reached.values);
            match reached.walks {
                Some(walks) => writeln!(out, "  {walks:8}  {state}")?,
                None => writeln!(out, "  {state}")?,
            }
            steps(reached, out)?;
        }
        self.remarks(test, ran, out)
    }

    pub(super) fn compared(
        self,
        path: &Path,
        test: &Test,
        ran: &MachineRun,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let ExploreAnswer::Compared(inclusion) = &ran.answer else { return Ok(()) };
        let exit = ran.exit();
        if exit == Exit::AsExpected && !self.verbose && !self.stats && !self.progress {
            return Ok(());
        }
        let label = match (exit, inclusion) {
            (Exit::AsExpected, Inclusion::Included { .. }) => " ok  ",
            (Exit::AsExpected, _) => " -   ",
            (Exit::Undecided, _) => " ?   ",
            (Exit::Differs | Exit::BadInput | Exit::Disagreement, _) => " FAIL",
        };
        let (word, reason) = ran.verdict(test);
        let what = match inclusion {
            Inclusion::Included { reached, allowed } => {
                format!("{reached} of {allowed} allowed outcomes")
            }
            Inclusion::Extra(_) => reason.unwrap_or_default(),
            Inclusion::Undefined(_)
            | Inclusion::Unsupported(_)
            | Inclusion::Refused(_)
            | Inclusion::Stuck { .. }
            | Inclusion::Limited(_) => format!("{word}: {}", reason.unwrap_or_default()),
        };
        // A comparison that was not made has no colour.
        let made = matches!(inclusion, Inclusion::Included { .. });
        let style = if exit == Exit::AsExpected && !made { Style::new() } else { colour::of(exit) };
        let path = shown(path);
        writeln!(out, "{style}{label}{style:#} {path} on sm_{}   {what}", ran.sm)?;
        if self.verbose {
            for values in &ran.unreached {
                writeln!(out, "      not reached: {}", test.display_outcome(values))?;
            }
        }
        for reached in &ran.outcomes {
            let Some(refutation) = &reached.refutation else { continue };
            let state = test.display_outcome(&reached.values);
            let state = with_threads(state.trim_end_matches([';', ' ']));
            writeln!(out, "\n  The machine ends with {state}:\n")?;
            steps(reached, out)?;
            writeln!(out, "\n  The axioms do not:\n")?;
            for line in refutation.lines() {
                writeln!(out, "{}", format!("  {line}").trim_end())?;
            }
            writeln!(out)?;
        }
        let forbidden = ran.outcomes.iter().filter(|reached| reached.allowed == Some(false));
        let untold: Vec<&Reached> = forbidden.filter(|of| of.refutation.is_none()).collect();
        if !untold.is_empty() {
            writeln!(out, "  Nor do they allow:")?;
        }
        for reached in untold {
            writeln!(out, "    {}", test.display_outcome(&reached.values))?;
        }
        self.remarks(test, ran, out)
    }

    fn remarks(self, test: &Test, ran: &MachineRun, out: &mut dyn Write) -> io::Result<()> {
        let Some(explored) = &ran.explored else { return Ok(()) };
        // A comparison already prints this in its line.
        if let (ExploreAnswer::Explored, Some(((thread, line), misuse))) =
            (&ran.answer, ran.misused())
        {
            let of = &test.program.threads[usize::from(thread.0)];
            let line = &of.lines[usize::from(line)].text;
            writeln!(out, "  undefined: {}\n    {}: `{line}`", misuse.text(), of.name)?;
        } else if let (ExploreAnswer::Explored, Some(reason)) = (&ran.answer, ran.verdict(test).1)
            && explored.never_ends()
        {
            writeln!(out, "  {reason}")?;
        }
        for note in ran.notes(test) {
            writeln!(out, "  note: {}", note.text)?;
        }
        for (count, what) in [
            (explored.stuck, "in which no thread can continue"),
            (explored.faults, "in which no thread can continue because one faults"),
        ] {
            if count > 0 {
                writeln!(out, "  {} {what}", count_of(count, "state"))?;
            }
        }
        match explored.endless.filter(|_| self.progress) {
            Some(0) => writeln!(out, "  an end can be reached from every state")?,
            Some(endless) => {
                writeln!(out, "  {} from which no end can be reached", count_of(endless, "state"))?;
            }
            None => {}
        }
        if let (Some(limit), false) = (explored.limit, self.check) {
            writeln!(out, "  the search is incomplete: {limit}")?;
        }
        if self.stats {
            let Exploration { states, transitions, bytes, .. } = explored;
            if *states == 0 {
                // Random walks store no states.
                return writeln!(out, "  {transitions} choices");
            }
            write!(out, "  {states} states, {transitions} transitions")?;
            match bytes.div_ceil(*states.max(&1)) {
                0 => writeln!(out)?,
                each => writeln!(out, ", {each} bytes a state")?,
            }
        }
        Ok(())
    }
}

fn steps(reached: &Reached, out: &mut dyn Write) -> io::Result<()> {
    let steps = reached.run.iter().flatten().enumerate();
    steps
        .map(|(index, step)| (index + 1, step))
        .try_for_each(|(n, step)| writeln!(out, "    {n:2}. {step}"))
}
