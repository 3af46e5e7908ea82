//! Prints the frontiers of a space.

use crate::progress;
use crate::report::count_of;
use std::io::{self, Write};
use std::time::Instant;

use engine::exit::Exit;
use engine::{Engine, Limits, interrupt, parallel};
use generate::cycle::Cycle;
use generate::frontier::{Frontier, Lattice, MOST_POINTS};
use generate::question::{CycleAnswer, ask};
use generate::space::CycleSpace;
use model::rel::Model;

use super::work::ComparedEngines;

/// How frontiers are found.
pub(super) struct FrontierJob<'a> {
    pub(super) model: &'a Model,
    /// At least one; all have to agree.
    pub(super) engines: &'a [&'static dyn Engine],
    pub(super) limits: &'a (dyn Fn() -> Limits + Sync),
    pub(super) jobs: usize,
    /// The number of choices of each frontier that are judged again: under a model of one's own, a stronger choice may allow
    /// more.
    pub(super) checks: usize,
}

/// A frontier, and what engines disagree about on the way.
struct FoundFrontier {
    name: String,
    frontier: Frontier,
    disagreement: Option<String>,
    /// A choice that is not what others settled.
    contradiction: Option<Cycle>,
    compared: ComparedEngines,
}

pub(super) fn print(
    space: &CycleSpace,
    job: &FrontierJob<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let mut lattices = Vec::new();
    for pattern in &space.patterns {
        for arrangement in 0..pattern.arrangements.len() {
            // Another placement has the same cycles, turned.
            if !pattern.is_least(arrangement) {
                continue;
            }
            let Some(lattice) = Lattice::new(pattern, arrangement) else {
                let cycle = &pattern.shape;
                writeln!(
                    err,
                    "error: `{cycle}` has more than {MOST_POINTS} choices at one placement"
                )?;
                writeln!(err, "help: shorten the lists of --accesses and --po")?;
                return Ok(Exit::BadInput);
            };
            lattices.push(lattice);
        }
    }
    let start = Instant::now();
    let bar = progress::of(lattices.len(), "tests");
    let (mut frontiers, mut settled, mut judged, mut other) = (0, 0, 0, 0);
    let (mut disagreement, mut contradiction) = (None, None);
    let mut compared = ComparedEngines::default();
    let work = |index: usize| job.find(&lattices[index]);
    parallel::in_order(lattices.len(), job.jobs, &work, &mut |found| {
        let Some((_, found)) = found else { return Ok(()) };
        bar.inc(1);
        frontiers += 1;
        settled += found.frontier.allowed + found.frontier.forbidden;
        judged += found.frontier.judged;
        other += found.frontier.other;
        compared.join(&found.compared);
        if found.contradiction.is_some() || contradiction.is_some() {
            contradiction = contradiction.take().or(found.contradiction);
            return Ok(());
        }
        progress::above(&bar, out, |out| one(&found, out))?;
        disagreement = disagreement.take().or(found.disagreement);
        Ok(())
    })?;
    bar.finish_and_clear();
    if let Some(cycle) = contradiction {
        writeln!(
            err,
            "error: under this model a stronger choice allows more: `{}` is not what others settle, so there is no frontier",
            cycle.name()
        )?;
        writeln!(err, "help: --check, which judges every choice")?;
        return Ok(Exit::BadInput);
    }
    writeln!(
        out,
        "{}: {} settled by {}   ({}; {:.1} s)",
        count_of(frontiers, "frontier"),
        count_of(settled, "choice"),
        count_of(judged, "judgement"),
        compared.text(job.engines, disagreement.is_some()),
        start.elapsed().as_secs_f64()
    )?;
    if interrupt::raised() {
        writeln!(err, "interrupted: {frontiers} of {} frontiers are found", lattices.len())?;
    }
    Ok(match disagreement {
        Some(words) => {
            writeln!(err, "error: engines disagree: {words}")?;
            Exit::Disagreement
        }
        None if other > 0 => Exit::Undecided,
        None => Exit::AsExpected,
    })
}

impl FrontierJob<'_> {
    fn find(&self, lattice: &Lattice<'_>) -> FoundFrontier {
        let mut disagreement = None;
        let mut compared = ComparedEngines::default();
        let mut ask = |cycle: &Cycle| {
            if interrupt::raised() {
                return CycleAnswer::Undecided(engine::Limit::Interrupted.text());
            }
            let answers = self.engines.iter().map(|e| ask(cycle, self.model, *e, &(self.limits)()));
            let answers: Vec<CycleAnswer> = answers.collect();
            let (answer, agree) = compared.add(self.engines, &answers);
            if !agree && disagreement.is_none() {
                disagreement = Some(cycle.words());
            }
            answer.expect("there is an engine")
        };
        let (frontier, contradiction) = lattice.checked_frontier(&mut ask, self.checks);
        FoundFrontier { name: lattice.name(), frontier, disagreement, contradiction, compared }
    }
}

fn one(found: &FoundFrontier, out: &mut dyn Write) -> io::Result<()> {
    let Frontier { strongest_allowed, weakest_forbidden, allowed, forbidden, other, judged } =
        &found.frontier;
    let others =
        if *other > 0 { format!(", {other} undefined or undecided") } else { String::new() };
    writeln!(
        out,
        "{}: {allowed} allowed, {forbidden} forbidden{others}; {judged} judged",
        found.name
    )?;
    for (what, cycles) in
        [("strongest allowed", strongest_allowed), ("weakest forbidden", weakest_forbidden)]
    {
        if !cycles.is_empty() {
            writeln!(out, "  {what}")?;
            let mut names: Vec<String> = cycles.iter().map(Cycle::name).collect();
            names.sort();
            names.iter().try_for_each(|name| writeln!(out, "    {name}"))?;
        }
    }
    Ok(())
}
