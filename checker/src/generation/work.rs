//! Cycles in pieces, which several threads judge, in the order of the space.

use std::collections::BTreeMap;
use std::io;

use engine::{Engine, Limits, parallel};
use generate::build;
use generate::cycle::Cycle;
use generate::question::{AnswerTally, CycleAnswer, ask};
use generate::space::CycleSpace;
use litmus::{Quantifier, print};
use model::rel::Model;

/// Where cycles come from.
pub(super) enum CycleSource<'a> {
    /// Each cycle of a space.
    All(&'a CycleSpace),
    /// Those that were drawn.
    Drawn(Vec<Cycle>),
}

/// What is done with each cycle.
pub(super) struct Job<'a> {
    pub(super) model: &'a Model,
    /// None where nothing is judged.
    pub(super) engines: &'a [&'static dyn Engine],
    pub(super) limits: &'a (dyn Fn() -> Limits + Sync),
    /// Whether the text of each test is wanted.
    pub(super) text: bool,
    pub(super) jobs: usize,
}

/// A cycle after its job.
pub(super) struct GeneratedTest {
    pub(super) name: String,
    pub(super) words: String,
    /// Empty where it is not wanted.
    pub(super) text: String,
    pub(super) answer: Option<CycleAnswer>,
}

/// Some cycles after their job.
#[derive(Default)]
pub(super) struct DonePiece {
    pub(super) tests: Vec<GeneratedTest>,
    pub(super) tally: AnswerTally,
    /// The first cycle about which engines disagree, and their answers.
    pub(super) disagreement: Option<String>,
    pub(super) compared: ComparedEngines,
}

/// What several engines answered.
#[derive(Default)]
pub(super) struct ComparedEngines {
    /// How many cycles two engines decided.
    compared: u64,
    /// Of how many cycles that another one decides each engine reached a limit.
    unfinished: BTreeMap<&'static str, u64>,
}

impl ComparedEngines {
    /// Takes note of the answers to one question; the first that is known, and whether all of those are the same.
    pub(super) fn add(
        &mut self,
        engines: &[&'static dyn Engine],
        answers: &[CycleAnswer],
    ) -> (Option<CycleAnswer>, bool) {
        let is_open = |answer: &CycleAnswer| matches!(answer, CycleAnswer::Undecided(_));
        let known: Vec<&CycleAnswer> = answers.iter().filter(|answer| !is_open(answer)).collect();
        self.compared += u64::from(known.len() > 1);
        if !known.is_empty() {
            let open = engines.iter().zip(answers).filter(|(_, answer)| is_open(answer));
            for (engine, _) in open {
                *self.unfinished.entry(engine.name()).or_default() += 1;
            }
        }
        let agree = known.windows(2).all(|pair| pair[0] == pair[1]);
        (known.first().copied().or(answers.first()).cloned(), agree)
    }

    pub(super) fn join(&mut self, other: &ComparedEngines) {
        self.compared += other.compared;
        for (name, count) in &other.unfinished {
            *self.unfinished.entry(name).or_default() += count;
        }
    }

    /// `enumerate, solve agree; solve undecided in 3`.
    pub(super) fn text(&self, engines: &[&'static dyn Engine], disagree: bool) -> String {
        let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
        let agree = match self.compared {
            _ if disagree => " disagree",
            0 => "",
            _ => " agree",
        };
        let mut text = names.join(", ") + agree;
        for (name, count) in &self.unfinished {
            text.extend(["; ", name, " undecided in ", &count.to_string()]);
        }
        text
    }
}

/// Labelled cycles of a piece, at least.
const PIECE: u128 = 512;

/// Pieces, at most.
const PIECES: u128 = 100_000;

impl CycleSource<'_> {
    /// The patterns and ranges of numbers of the pieces.
    fn pieces(&self) -> Vec<(usize, u128, u128)> {
        match self {
            CycleSource::Drawn(cycles) => {
                let count = cycles.len() as u128;
                let step = usize::try_from(PIECE).unwrap_or(1);
                let pieces = (0..count).step_by(step);
                pieces.map(|first| (0, first, count.min(first + PIECE))).collect()
            }
            CycleSource::All(space) => {
                let length = PIECE.max(space.labelled() / PIECES);
                let step = usize::try_from(length).unwrap_or(usize::MAX);
                let all = space.patterns.iter().enumerate().flat_map(|(index, pattern)| {
                    let count = pattern.labelled();
                    (0..count)
                        .step_by(step)
                        .map(move |first| (index, first, count.min(first + length)))
                });
                all.collect()
            }
        }
    }

    /// The cycles of a piece, each once.
    fn each(&self, piece: (usize, u128, u128), visit: &mut dyn FnMut(&Cycle)) {
        let (index, first, end) = piece;
        match self {
            CycleSource::Drawn(cycles) => {
                let at = |number: u128| usize::try_from(number).unwrap_or(usize::MAX);
                cycles[at(first)..at(end)].iter().for_each(visit);
            }
            CycleSource::All(space) => {
                let pattern = &space.patterns[index];
                let cycles = (first..end).map(|number| pattern.cycle(number));
                cycles.filter(|cycle| pattern.is_listed(cycle)).for_each(|cycle| visit(&cycle));
            }
        }
    }

    /// Does the job, and visits the pieces in order; nothing comes at the end or after an interruption.
    pub(super) fn run(
        &self,
        job: &Job<'_>,
        visit: &mut dyn FnMut(Option<DonePiece>) -> io::Result<()>,
    ) -> io::Result<()> {
        let pieces = self.pieces();
        let work = |index: usize| {
            let mut done = DonePiece::default();
            self.each(pieces[index], &mut |cycle| done.add(cycle, job));
            done
        };
        parallel::in_order(pieces.len(), job.jobs, &work, &mut |result| {
            visit(result.map(|(_, done)| done))
        })
    }
}

impl DonePiece {
    fn add(&mut self, cycle: &Cycle, job: &Job<'_>) {
        let answers: Vec<CycleAnswer> = job
            .engines
            .iter()
            .map(|engine| ask(cycle, job.model, *engine, &(job.limits)()))
            .collect();
        let (answer, agree) = self.compared.add(job.engines, &answers);
        if !agree && self.disagreement.is_none() {
            let names = job.engines.iter().zip(&answers);
            let said: Vec<String> = names
                .map(|(engine, answer)| format!("{}: {}", engine.name(), answer.name()))
                .collect();
            self.disagreement = Some(format!("{}: {}", cycle.words(), said.join(", ")));
        }
        if let Some(answer) = &answer {
            self.tally.add(answer);
        }
        if job.text {
            self.tests.push(GeneratedTest {
                name: cycle.name(),
                words: cycle.words(),
                text: text(cycle, answer.as_ref()),
                answer,
            });
        }
    }
}

/// The text of a test, which expects its answer if that is known.
fn text(cycle: &Cycle, answer: Option<&CycleAnswer>) -> String {
    let quantifier = match answer {
        Some(CycleAnswer::Forbidden | CycleAnswer::Stuck) => Quantifier::NotExists,
        Some(CycleAnswer::Allowed | CycleAnswer::Undefined(_) | CycleAnswer::Undecided(_))
        | None => Quantifier::Exists,
    };
    let mut test = build::test(cycle, quantifier);
    if let Some(CycleAnswer::Undefined(reason)) = answer {
        test.metadata.push(("Undefined".to_owned(), reason.clone()));
    }
    if answer == Some(&CycleAnswer::Stuck) {
        test.metadata.push(("Stuck".to_owned(), "no execution finishes".to_owned()));
    }
    print::print(&test)
}

#[cfg(test)]
mod tests {
    use engine::ENGINES;

    use super::*;

    #[test]
    fn engines_agree_only_where_two_decide() {
        let open = CycleAnswer::Undecided("a limit");
        let mut compared = ComparedEngines::default();
        let engines = &ENGINES[..ENGINES.len().min(2)];
        let &[first, second] = engines else { return };
        let (answer, agree) = compared.add(engines, &[CycleAnswer::Allowed, open.clone()]);
        assert_eq!((answer, agree), (Some(CycleAnswer::Allowed), true));
        compared.add(engines, &[open.clone(), open]);
        let names = format!("{}, {}", first.name(), second.name());
        let alone = format!("; {} undecided in 1", second.name());
        assert_eq!(compared.text(engines, false), format!("{names}{alone}"));
        compared.add(engines, &[CycleAnswer::Allowed, CycleAnswer::Allowed]);
        assert_eq!(compared.text(engines, false), format!("{names} agree{alone}"));
        let (_, agree) = compared.add(engines, &[CycleAnswer::Allowed, CycleAnswer::Forbidden]);
        assert!(!agree);
        assert_eq!(compared.text(engines, true), format!("{names} disagree{alone}"));
    }
}
