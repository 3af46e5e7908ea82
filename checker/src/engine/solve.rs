//! The solving engine: all candidates of an event structure as clauses, for Z3.
//!
//! A variable is a choice: the source of a read, the direction of two writes or two fences. What
//! the program fixes never reaches the solver. Coherence is any partial order that the axioms
//! admit, not the least one that the enumerating engine makes do with, so that the two engines
//! check each other.
//!
//! Values stay outside: each assignment is evaluated, and ruled out with every other that has the
//! same values for the same reasons. So the solver is asked about once for each outcome, however
//! many executions have it.

mod between;
pub(super) mod clauses;
mod closure;
mod encode;
mod explain;
mod order;

use std::collections::HashSet;
use std::ops::ControlFlow;

use model::bits::{Row, Wide};
use model::given::Chosen;
use model::program::{Observed, Program};
use model::rel::{Meaning, Model};
use model::structure::EventStructure;
use model::unfold::{Unfolded, Unfolding};
use model::values::{Source, Values, valuations};

use self::clauses::{Lit, Term};
use self::encode::Encoder;
use self::explain::{Final, Groups, Reasons, finals};
use super::options::Options;
use super::outcome::{from_reads, raise_flags, reads_from};
use super::plan::{self, Bounds, Plan, Stage};
use super::smt::{Assignment, Smt};
use super::{Engine, Limit, Limits, Seen, Visit};
use crate::witness::{ChosenRows, Witness};

pub struct Solve;

impl Engine for Solve {
    fn name(&self) -> &'static str {
        "solve"
    }

    fn outcomes(
        &self,
        model: &Model,
        program: &Program,
        limits: &Limits,
        seen: &mut Seen,
        visit: &mut Visit<'_>,
    ) -> Result<(), Limit> {
        if !plan::grows_with_choice(model) {
            return Err(Limit::Model);
        }
        let unfolded = Unfolded::new(program, model.conventions, limits.bound)?;
        seen.bound_reached = unfolded.bound_reached;
        let guesses = program.mentioned_constants();
        let mut visited = HashSet::new();
        let mut limit = None;
        unfolded.visit(|unfolding| {
            let mut job =
                Job { model, limits, guesses: &guesses, visited: &mut visited, seen, visit };
            let result = match unfolding.events.len() {
                0..=64 => job.structure::<u64>(unfolding),
                65..=128 => job.structure::<u128>(unfolding),
                129..=256 => job.structure::<Wide<4>>(unfolding),
                257..=1024 => job.structure::<Wide<16>>(unfolding),
                _ => Err(Stop::Limit(Limit::Events)),
            };
            match result {
                Ok(()) => true,
                Err(Stop::Asked) => false,
                Err(Stop::Limit(reason)) => {
                    limit = Some(reason);
                    false
                }
            }
        })?;
        limit.map_or(Ok(()), Err)
    }
}

/// Why the search ends early.
enum Stop {
    /// The visitor has what it wants.
    Asked,
    Limit(Limit),
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Stop {
        Stop::Limit(limit)
    }
}

/// What stays the same from structure to structure.
struct Job<'a, 'v> {
    model: &'a Model,
    limits: &'a Limits,
    guesses: &'a [u64],
    /// The outcomes that have been reported.
    visited: &'a mut HashSet<Vec<u64>>,
    seen: &'a mut Seen,
    visit: &'a mut Visit<'v>,
}

impl Job<'_, '_> {
    fn structure<R: Row>(&mut self, unfolding: &Unfolding<'_>) -> Result<(), Stop> {
        if self.limits.expired() {
            return Err(Stop::Limit(Limit::Time));
        }
        let faulty = unfolding.fault().is_some();
        if faulty && self.seen.undefined.is_some() {
            return Ok(());
        }
        let structure = EventStructure::<R>::new(unfolding);
        let Some(options) = Options::new(self.model, &structure) else { return Ok(()) };
        let bounds = Bounds::new(&structure, options.rf.clone());
        let Ok(plan) = Plan::new(self.model, &structure, &bounds) else { return Ok(()) };
        let Some(encoder) = Encoder::new(&plan, &structure, &options.slots) else { return Ok(()) };
        let mut search = Search {
            structure: &structure,
            smt: Smt::new(self.limits.deadline),
            groups: Groups::default(),
            job: self,
            plan,
            encoder,
        };
        if faulty { search.any(&[]).map(|_| ()) } else { search.run() }
    }
}

struct Search<'a, 'j, 'v, R> {
    job: &'a mut Job<'j, 'v>,
    structure: &'a EventStructure<'a, R>,
    plan: Plan<R>,
    encoder: Encoder<'a, R>,
    smt: Smt,
    groups: Groups,
}

impl<R: Row> Search<'_, '_, '_, R> {
    fn run(&mut self) -> Result<(), Stop> {
        // Before outcomes are ruled out: executions with the same outcome may differ in this.
        self.undefined()?;
        let finals =
            finals::<R>(self.structure.unfolding, &self.encoder.co, &mut self.encoder.clauses);
        while !self.encoder.clauses.impossible() {
            let Some(found) = self.smt.solve(&self.encoder.clauses, &[])? else { break };
            self.execution(&found, &finals)?;
        }
        Ok(())
    }

    /// Looks for executions that make the program undefined.
    fn undefined(&mut self) -> Result<(), Stop> {
        let u = self.structure.unfolding;
        for index in 0..self.plan.flags.len() {
            let planned = self.plan.flags[index];
            let meaning = self.job.model.flags[planned.flag].meaning;
            if meaning == Meaning::Report || self.job.seen.undefined.is_some() {
                continue;
            }
            let mut raised = Vec::new();
            for a in 0..u.events.len() {
                for b in self.encoder.between.most(planned.node)[a].events() {
                    if u.events[a].thread.is_some() && u.events[b].thread.is_some() {
                        raised.push((Term::TRUE, self.encoder.below(planned.node, a, b)));
                    }
                }
            }
            match self.encoder.clauses.below(&raised) {
                Term::Known(false) => {}
                Term::Known(true) => drop(self.any(&[])?),
                Term::Open(raised) => drop(self.any(&[raised])?),
            }
        }
        Ok(())
    }

    /// Finds an execution under which the assumptions hold, and raises its flags.
    fn any(&mut self, assumptions: &[Lit]) -> Result<bool, Stop> {
        while !self.encoder.clauses.impossible() {
            let Some(found) = self.smt.solve(&self.encoder.clauses, assumptions)? else { break };
            let (taken, mut sources) = self.choice(&found);
            let (u, guesses) = (self.structure.unfolding, self.job.guesses);
            let mut exists = false;
            valuations(u, &mut sources, guesses, &mut |_, _| exists = true);
            if exists {
                self.relations(&found, &sources);
                raise_flags(self.job.model, u, &mut self.plan, self.job.seen);
                return Ok(true);
            }
            self.without_values(&taken, &sources);
        }
        Ok(false)
    }

    /// The option of each slot, as an index and as a source.
    fn choice(&self, found: &Assignment) -> (Vec<usize>, Vec<Source<R>>) {
        let holds = |&term: &Term| found.term(term);
        let taken: Vec<usize> = self
            .encoder
            .choice
            .iter()
            .map(|terms| terms.iter().position(holds).expect("each slot has a source"))
            .collect();
        let options = self.encoder.options.iter().zip(&taken);
        let sources =
            options.map(|(options, &taken)| Source { writes: options[taken], torn: None });
        let sources = sources.collect();
        (taken, sources)
    }

    /// Rules out a choice that has no values.
    fn without_values(&mut self, taken: &[usize], sources: &[Source<R>]) {
        let u = self.structure.unfolding;
        let mut values = Values::new(u, sources);
        let failing =
            u.checks().find(|&(thread, check)| values.check(thread, check) == Some(false));
        Reasons::new(&mut self.encoder, &mut self.groups, taken).block_values(failing);
    }

    /// Reports the outcomes of an assignment and rules out what has no others.
    fn execution(&mut self, found: &Assignment, finals: &[Final]) -> Result<(), Stop> {
        let u = self.structure.unfolding;
        let (taken, mut sources) = self.choice(found);
        let holds = |&term: &Term| found.term(term);
        let last: Vec<usize> = finals
            .iter()
            .map(|choice| choice.terms.iter().position(holds).expect("some write is last"))
            .collect();
        let mut outcomes: Vec<(Vec<Source<R>>, Vec<u64>)> = Vec::new();
        let guesses = self.job.guesses;
        valuations(u, &mut sources, guesses, &mut |sources, values| {
            outcomes.push((sources.to_vec(), outcome(u, values, finals, &last)));
        });
        if outcomes.is_empty() {
            self.without_values(&taken, &sources);
            return Ok(());
        }
        outcomes.retain(|(_, outcome)| self.job.visited.insert(outcome.clone()));
        for (sources, outcome) in &outcomes {
            self.relations(found, sources);
            raise_flags(self.job.model, u, &mut self.plan, self.job.seen);
            let (structure, encoder) = (self.structure, &self.encoder);
            let witness = || {
                let co = order::rows(&encoder.co, |term| found.term(term));
                let fsc = order::rows(&encoder.fsc, |term| found.term(term));
                let (fr, rf) = (from_reads(u, sources, &co), reads_from(u, sources));
                let chosen = ChosenRows { rf: &rf, co: &co, fr: &fr, fsc: &fsc };
                Witness::new(structure, sources, &chosen, outcome)
            };
            if let ControlFlow::Break(()) = (self.job.visit)(outcome, &witness) {
                return Err(Stop::Asked);
            }
        }
        let reasons = Reasons::new(&mut self.encoder, &mut self.groups, &taken);
        reasons.block_outcome(finals, &last);
        Ok(())
    }

    /// Puts the relations of an assignment into the plan.
    fn relations(&mut self, found: &Assignment, sources: &[Source<R>]) {
        let u = self.structure.unfolding;
        let co: Vec<R> = order::rows(&self.encoder.co, |term| found.term(term));
        if let Some(rows) = self.plan.chosen_rows(Chosen::Rf) {
            rows.copy_from_slice(&reads_from(u, sources));
        }
        if let Some(rows) = self.plan.chosen_rows(Chosen::Fr) {
            rows.copy_from_slice(&from_reads(u, sources, &co));
        }
        let pairs = self.plan.fsc_pairs.clone();
        if let Some(rows) = self.plan.chosen_rows(Chosen::Fsc) {
            rows.fill(R::default());
            for (a, b) in pairs {
                if found.term(self.encoder.fsc.get(a, b)) {
                    rows[a].insert(b);
                } else {
                    rows[b].insert(a);
                }
            }
        }
        if let Some(rows) = self.plan.chosen_rows(Chosen::Co) {
            rows.copy_from_slice(&co);
        }
        for stage in [Stage::Rf, Stage::Fsc, Stage::Co] {
            self.plan.run(stage);
            debug_assert!(self.plan.holds(stage), "an assignment breaks an axiom");
        }
        debug_assert!(self.plan.co_contains.iter().all(|&node| {
            self.plan.node(node).iter().zip(&co).all(|(row, co)| row.minus(*co).is_empty())
        }));
    }
}

/// The outcome of one valuation with one choice of final values.
fn outcome<R: Row>(
    u: &Unfolding<'_>,
    values: &mut Values<'_, R>,
    finals: &[Final],
    last: &[usize],
) -> Vec<u64> {
    let observed = u.program.observed.iter().map(|&observed| match observed {
        Observed::Register { .. } => values.register(observed).unwrap_or(0),
        Observed::Memory { .. } => 0,
    });
    let mut outcome: Vec<u64> = observed.collect();
    for (choice, &at) in finals.iter().zip(last) {
        let bytes = values.written(choice.writes[at], choice.cell).unwrap_or(0);
        outcome[choice.observed] |= choice.part(bytes) << choice.shift;
    }
    outcome
}
