//! The solving engine: encodes all candidates of an event structure as clauses for Z3.
//!
//! A variable is a choice: the source of a read, or the direction of two writes or two fences. Relations that
//! the program fixes are not encoded. Coherence is any partial order that the axioms
//! admit, not only the least one that the enumerating engine uses, so the two engines
//! check each other.
//!
//! What paths assume, and the condition where only the verdict is wanted, are clauses as far as they depend on values
//! of one or two reads (`value.rs`): then one question decides a structure. All other values are not encoded. Each
//! assignment is evaluated, and excluded with every other that has the same values for the same reasons. So for all
//! outcomes the solver is called about once for each, independent of the number of executions.

mod bounds;
pub(super) mod clauses;
mod closure;
mod encode;
mod explain;
mod order;
mod simplify;
mod value;

use std::collections::HashSet;
use std::ops::ControlFlow;

use execution::air::Air;
use execution::expr::Expr;
use execution::structure::EventStructure;
use execution::unfold::{Unfolded, Unfolding};
use execution::values::{Source, Values, valuations};
use model::bits::BitRow;
use model::given::Chosen;
use model::memory::Extent;
use model::program::{Observed, Program};
use model::rel::{FlagMeaning, Model};
use model::value::Value;

use self::clauses::{Lit, Term};
use self::encode::Encoder;
use self::explain::{Final, Groups, Reasons, finals};
use self::simplify::simplify;
use self::value::ValueTerms;
use super::budget::Budget;
use super::options::{SourceOptions, constant_bytes, union};
use super::outcome::{self, from_reads, overwriting, raise_flags, raise_stuck, reads_from};
use super::plan::{self, Bounds, Plan, PlannedFlag, Stage};
use super::smt::{self, Assignment, Smt};
use super::sought::{PartialOutcome, Sought};
use super::structures::{self, Stop, Structures};
use super::uninitialised::{is_uninitialised, sought_read};
use super::{Engine, ExecutionFacts, Limit, Limits, OutcomeVisitor};
use crate::witness::{ChosenRows, Witness};

pub struct Solve;

impl Engine for Solve {
    fn name(&self) -> &'static str {
        "solve"
    }

    fn missing(&self) -> Option<&'static str> {
        smt::missing()
    }

    fn search(
        &self,
        model: &Model,
        program: &Program,
        limits: &Limits,
        sought: Sought<'_>,
        seen: &mut ExecutionFacts,
        visit: &mut OutcomeVisitor<'_>,
    ) -> Result<(), Limit> {
        if !plan::grows_with_choice(model) {
            return Err(Limit::Model);
        }
        let ends = |held| limits.of_unfolding(held);
        let unfolded = Unfolded::within(program, model.conventions, limits.bound, &ends)?;
        seen.bound_reached = unfolded.bound_reached();
        let air = Air::of(program, model.conventions);
        let mut visited = HashSet::new();
        let visited = &mut visited;
        let mut job =
            SolverJob { model, limits, sought, queries: 0, air: &air, visited, seen, visit };
        let result = structures::search(&unfolded, limits, &mut job);
        seen.thin_air = seen.thin_air.max(air.take());
        seen.ended(result)
    }
}

/// What stays the same from structure to structure.
struct SolverJob<'a, 'v> {
    model: &'a Model,
    limits: &'a Limits,
    sought: Sought<'a>,
    /// How many questions were answered.
    queries: u64,
    air: &'a Air,
    /// The outcomes that have been reported.
    visited: &'a mut HashSet<Vec<Value>>,
    seen: &'a mut ExecutionFacts,
    visit: &'a mut OutcomeVisitor<'v>,
}

impl structures::OutcomeSearch for SolverJob<'_, '_> {
    fn seen(&mut self) -> &mut ExecutionFacts {
        self.seen
    }
}

impl Structures for SolverJob<'_, '_> {
    fn structure<R: BitRow>(&mut self, unfolding: &Unfolding<'_>) -> Result<(), Stop> {
        if !self.sought.wants(self.limits.unending, unfolding, self.seen) {
            return Ok(());
        }
        let (faulty, stuck) = (unfolding.fault().is_some(), unfolding.is_stuck());
        // The work of this engine is its questions.
        let mut budget = Budget::new(&Limits { work: None, ..*self.limits });
        budget.hold(self.visited.len() * outcome::bytes(unfolding.program));
        let options = SourceOptions::new(self.model, unfolding, &mut budget)?;
        let Some(mut options) = options else { return Ok(()) };
        let asked = match self.sought {
            Sought::Outcomes(asked, ..) if !stuck => Some(asked),
            Sought::Everything
            | Sought::Outcomes(..)
            | Sought::Undefined(_)
            | Sought::UninitialisedReads => None,
        };
        if !prune(unfolding, &mut options)
            || asked.is_some() && !options.narrow(unfolding, asked, &mut budget)?
        {
            return Ok(());
        }
        let structure = EventStructure::<R>::new(unfolding);
        let bounds = Bounds::new(&structure, options.rf.clone());
        let Ok(plan) = Plan::new(self.model, &structure, &bounds) else { return Ok(()) };
        budget.look();
        budget.check()?;
        let encoder = Encoder::new(&plan, &structure, &options.slots, budget)?;
        let Some(encoder) = encoder else { return Ok(()) };
        let mut search = SolverSearch {
            structure: &structure,
            smt: Smt::new(self.limits),
            groups: Groups::default(),
            values: ValueTerms::default(),
            job: self,
            plan,
            encoder,
        };
        let sought = search.job.sought;
        search.values.keep_checks(&mut search.encoder);
        if matches!(sought, Sought::UninitialisedReads) {
            search.uninitialised_reads(stuck)
        } else if faulty {
            search.simplify(std::iter::empty())?;
            search.any(Term::TRUE)?;
            search.end()
        } else if stuck {
            search.stuck()
        } else {
            search.run()
        }
    }
}

/// A flag without consequence, and the pairs for which it may be raised.
struct ReportedFlag {
    node: usize,
    /// Pairs of events, each with a term that implies the flag.
    pairs: Vec<((usize, usize), Term)>,
}

struct SolverSearch<'a, 'j, 'v, R> {
    job: &'a mut SolverJob<'j, 'v>,
    structure: &'a EventStructure<'a, R>,
    plan: Plan<R>,
    encoder: Encoder<'a, R>,
    smt: Smt,
    groups: Groups,
    values: ValueTerms,
}

impl<R: BitRow> SolverSearch<'_, '_, '_, R> {
    fn run(&mut self) -> Result<(), Stop> {
        let raised = self.raised();
        let reported = self.reported();
        let finals =
            finals::<R>(self.structure.unfolding, &self.encoder.co, &mut self.encoder.clauses);
        if let Sought::Outcomes(_, _, demand) = self.job.sought {
            self.values.demand(&mut self.encoder, &finals, demand);
        }
        let last = finals.iter().flat_map(|choice| &choice.terms);
        let pairs = reported.iter().flat_map(|flag| flag.pairs.iter().map(|(_, raised)| raised));
        self.simplify(last.chain(&raised).chain(pairs).copied())?;
        // Before outcomes are ruled out: executions with the same outcome may differ in this.
        for raised in raised {
            if self.job.seen.undefined.is_none() {
                self.any(raised)?;
            }
        }
        if matches!(self.job.sought, Sought::Undefined(_)) {
            return self.end();
        }
        for flag in reported {
            self.report(flag)?;
        }
        while !self.encoder.clauses.impossible() {
            let Some(found) = self.ask(&[])? else { break };
            self.execution(&found, &finals)?;
            if !self.is_open() {
                break;
            }
        }
        Ok(())
    }

    /// Asks for an assignment.
    fn ask(&mut self, assumptions: &[Lit]) -> Result<Option<Assignment>, Limit> {
        if self.job.limits.work.is_some_and(|work| self.job.queries >= work) {
            return Err(Limit::Work);
        }
        self.job.queries += 1;
        self.smt.solve(&self.encoder.clauses, assumptions)
    }

    /// Whether anything is still sought of the structure: an outcome that was found may be all.
    fn is_open(&self) -> bool {
        match self.job.sought {
            Sought::Outcomes(asked, ..) => {
                asked(&vec![None; self.structure.unfolding.program.observed.len()])
            }
            Sought::Everything | Sought::Undefined(_) | Sought::UninitialisedReads => true,
        }
    }

    /// Ends the search if it found the one execution that is sought.
    fn end(&self) -> Result<(), Stop> {
        let only = matches!(self.job.sought, Sought::Undefined(_));
        if only && self.job.seen.undefined.is_some() { Err(Stop::Asked) } else { Ok(()) }
    }

    /// Demands that nothing overwrites what is read for ever.
    fn keep_repeated(&mut self) {
        let u = self.structure.unfolding;
        let Encoder { clauses, choice, options, co, .. } = &mut self.encoder;
        for (slot, of) in u.slots.iter().enumerate().filter(|(_, of)| u.repeats(of.read)) {
            let overwriting: R = overwriting(u, of);
            for (&taken, option) in choice[slot].iter().zip(&options[slot]) {
                for write in option.events() {
                    for other in overwriting.events() {
                        clauses.implies(&[taken], &[!co.get(write, other)]);
                    }
                }
            }
        }
    }

    /// Adds the reads of the structure that may return what nobody has written.
    fn uninitialised_reads(&mut self, stuck: bool) -> Result<(), Stop> {
        if stuck {
            self.keep_repeated();
        }
        self.simplify(std::iter::empty())?;
        let u = self.structure.unfolding;
        for slot in 0..u.slots.len() {
            let Encoder { choice, options, .. } = &self.encoder;
            let Some(read) = sought_read(u, options, slot, self.job.seen) else { continue };
            let taking: Vec<Term> = choice[slot]
                .iter()
                .zip(&options[slot])
                .filter(|&(_, &option)| is_uninitialised(u, slot, option))
                .map(|(&taken, _)| taken)
                .collect();
            // One after the other: most have one.
            for taken in taking {
                if self.any(taken)? {
                    self.job.seen.uninitialised.insert(read);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether an execution never finishes: one in which nothing overwrites what is read for ever.
    fn stuck(&mut self) -> Result<(), Stop> {
        self.keep_repeated();
        let raised = self.raised();
        self.simplify(raised.iter().copied())?;
        for raised in raised {
            self.any(raised)?;
        }
        if matches!(self.job.sought, Sought::Undefined(_)) {
            return self.end();
        }
        self.any(Term::TRUE)?;
        Ok(())
    }

    /// What is needed later is kept: the choice, and `terms`.
    fn simplify(&mut self, terms: impl Iterator<Item = Term>) -> Result<(), Limit> {
        let Encoder { clauses, choice, .. } = &mut self.encoder;
        // Where a limit was reached, clauses are missing.
        clauses.budget.check()?;
        simplify(clauses, terms.chain(choice.iter().flatten().copied()));
        clauses.budget.check()
    }

    /// For each flag that makes the program undefined, a term that holds only if it is raised.
    fn raised(&mut self) -> Vec<Term> {
        let mut terms = Vec::new();
        if matches!(self.job.sought, Sought::Outcomes(..)) {
            return terms;
        }
        for planned in self.plan.flags.clone() {
            let meaning = self.job.model.flags[planned.flag].meaning;
            let undefines = matches!(meaning, FlagMeaning::Undefined(_));
            if !undefines || self.job.seen.undefined.is_some() {
                continue;
            }
            let u = self.structure.unfolding;
            let mut pairs = self.flagged(planned);
            pairs.retain(|((a, b), _)| {
                meaning != FlagMeaning::Undefined(outcome::DATA_RACE)
                    || outcome::counts_as_race(u, *a, *b)
            });
            let pairs: Vec<(Term, Term)> =
                pairs.into_iter().map(|(_, raised)| (Term::TRUE, raised)).collect();
            terms.push(self.encoder.clauses.below(&pairs));
        }
        terms
    }

    /// The pairs for which a flag may be raised, each with a term that holds only if it is.
    fn flagged(&mut self, planned: PlannedFlag) -> Vec<((usize, usize), Term)> {
        let mut pairs = Vec::new();
        for a in 0..self.structure.unfolding.events.len() {
            for b in self.encoder.between.most(planned.node)[a].events() {
                pairs.push(((a, b), self.encoder.below(planned.node, a, b)));
            }
        }
        pairs
    }

    /// The flags without consequence, where everything is sought.
    fn reported(&mut self) -> Vec<ReportedFlag> {
        if !matches!(self.job.sought, Sought::Everything) {
            return Vec::new();
        }
        let reports = |planned: &PlannedFlag| match self.job.model.flags[planned.flag].meaning {
            FlagMeaning::Report | FlagMeaning::Warning(_) => true,
            FlagMeaning::Undefined(_) | FlagMeaning::Race => false,
        };
        let flags: Vec<PlannedFlag> = self.plan.flags.iter().copied().filter(reports).collect();
        let flags = flags.into_iter();
        flags.map(|of| ReportedFlag { node: of.node, pairs: self.flagged(of) }).collect()
    }

    /// Finds an execution for each pair for which a flag is raised: executions with one outcome may differ in that.
    fn report(&mut self, flag: ReportedFlag) -> Result<(), Stop> {
        let mut left = flag.pairs;
        while !left.is_empty() {
            let terms: Vec<(Term, Term)> =
                left.iter().map(|&(_, raised)| (Term::TRUE, raised)).collect();
            let some = self.encoder.clauses.below(&terms);
            if !self.any(some)? {
                break;
            }
            let (rows, before) = (self.plan.node(flag.node), left.len());
            left.retain(|&((a, b), _)| !rows[a].has(b));
            assert!(left.len() < before, "an execution that raises a flag has a pair of it");
        }
        Ok(())
    }

    /// Finds an execution under which `assumed` holds, and raises its flags; whether there is one.
    fn any(&mut self, assumed: Term) -> Result<bool, Stop> {
        let assumptions = match self.encoder.clauses.fold(assumed) {
            Term::Known(false) => return Ok(false),
            Term::Known(true) => Vec::new(),
            Term::Open(lit) => vec![lit],
        };
        while !self.encoder.clauses.impossible() {
            let Some(found) = self.ask(&assumptions)? else { break };
            let (taken, mut sources) = self.choice(&found);
            let (u, air) = (self.structure.unfolding, self.job.air);
            let any = valuations(u, &mut sources, air, &mut |_, _| ControlFlow::Break(()));
            let exists = any.map_err(Limit::from)?.is_break();
            if exists {
                self.relations(&found, &sources);
                self.raise();
                return Ok(true);
            }
            self.without_values(&taken, &sources);
        }
        Ok(false)
    }

    /// Takes note of an execution, whose relations the plan holds.
    fn raise(&mut self) {
        let u = self.structure.unfolding;
        match self.job.sought {
            Sought::Outcomes(..) => raise_stuck(u, self.job.seen),
            Sought::UninitialisedReads => {}
            Sought::Everything | Sought::Undefined(_) => {
                raise_flags(self.job.model, u, &mut self.plan, self.job.seen);
            }
        }
    }

    /// The option of each slot, as an index and as a source.
    fn choice(&self, found: &Assignment) -> (Vec<usize>, Vec<Source<R>>) {
        let holds = |&term: &Term| found.term(self.encoder.clauses.fold(term));
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
        let holds = |&term: &Term| found.term(self.encoder.clauses.fold(term));
        let last: Vec<usize> = finals
            .iter()
            .map(|choice| choice.terms.iter().position(holds).expect("some write is last"))
            .collect();
        let mut outcomes: Vec<(Vec<Source<R>>, Vec<Value>)> = Vec::new();
        let (air, budget) = (self.job.air, &mut self.encoder.clauses.budget);
        let before = budget.held();
        valuations(u, &mut sources, air, &mut |sources, values| {
            outcomes.push((sources.to_vec(), outcome(u, values, finals, &last)));
            budget.flow(size_of_val(sources) + outcome::bytes(u.program))
        })
        .map_err(Limit::from)
        .and_then(|_| budget.check())?;
        budget.release(budget.held() - before);
        if outcomes.is_empty() {
            self.without_values(&taken, &sources);
            return Ok(());
        }
        let mut new = vec![true; outcomes.len()];
        for (new, (_, outcome)) in new.iter_mut().zip(&outcomes) {
            *new = self.job.visited.insert(outcome.clone());
        }
        let news = new.iter().filter(|new| **new).count();
        self.encoder.clauses.budget.hold(news * outcome::bytes(u.program));
        self.encoder.clauses.budget.check()?;
        for ((sources, outcome), _) in outcomes.iter().zip(&new).filter(|(_, new)| **new) {
            self.relations(found, sources);
            self.raise();
            let (structure, encoder) = (self.structure, &self.encoder);
            let witness = || {
                let co = order::rows(&encoder.co, |term| found.term(encoder.clauses.fold(term)));
                let fsc = order::rows(&encoder.fsc, |term| found.term(encoder.clauses.fold(term)));
                let (fr, rf) = (from_reads(u, sources, &co), reads_from(u, sources));
                let chosen = ChosenRows { rf: &rf, co: &co, fr: &fr, fsc: &fsc };
                Witness::new(structure, sources, &chosen, outcome)
            };
            if let ControlFlow::Break(()) = (self.job.visit)(outcome, &witness) {
                return Err(Stop::Asked);
            }
        }
        let torn = sources.iter().any(|source| source.writes.count() > 1);
        let needed = match (&outcomes[..], self.job.sought) {
            ([(_, outcome)], Sought::Outcomes(asked, ..)) if !torn => needed(asked, outcome),
            _ => vec![true; u.program.observed.len()],
        };
        let reasons = Reasons::new(&mut self.encoder, &mut self.groups, &taken);
        reasons.block_outcome(finals, &last, &needed);
        Ok(())
    }

    /// Puts the relations of an assignment into the plan.
    fn relations(&mut self, found: &Assignment, sources: &[Source<R>]) {
        let u = self.structure.unfolding;
        let encoder = &self.encoder;
        let co: Vec<R> = order::rows(&encoder.co, |term| found.term(encoder.clauses.fold(term)));
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
                if found.term(encoder.clauses.fold(encoder.fsc.get(a, b))) {
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

/// Which values of an outcome that is not sought say so: none of them can be left out. All, if it is sought.
fn needed(asked: &PartialOutcome<'_>, outcome: &[Value]) -> Vec<bool> {
    let mut known: Vec<Option<Value>> = outcome.iter().copied().map(Some).collect();
    if asked(&known) {
        return vec![true; outcome.len()];
    }
    for at in 0..known.len() {
        let value = known[at].take();
        if asked(&known) {
            known[at] = value;
        }
    }
    known.iter().map(Option::is_some).collect()
}

/// Drops the options by which a read returns a constant that a check of that read alone rejects;
/// false when a slot has none left. The rest is found out by evaluating assignments.
fn prune<R: BitRow>(u: &Unfolding<'_>, options: &mut SourceOptions<R>) -> bool {
    let mut dropped = false;
    for (thread, check) in u.checks() {
        let mut leaves = Vec::new();
        let exprs = &u.paths[usize::from(thread.0)].exprs;
        exprs.leaves(check.expr(), &mut |leaf| leaves.push(leaf));
        leaves.dedup();
        let [Expr::Read(read)] = leaves[..] else { continue };
        let read = u.event_of(thread, read);
        let (slot, end) = u.slots_of[read];
        if end != slot + 1 {
            continue;
        }
        let cell = u.slots[slot].cell;
        let before = options.slots[slot].len();
        options.slots[slot].retain(|option| {
            let value = (option.count() == 1).then(|| constant_bytes(u, option.first(), cell));
            value.flatten().is_none_or(|value| {
                let mut values = Values::<R>::new(u, &[]);
                values.suppose(read, value);
                values.check(thread, check) != Some(false)
            })
        });
        dropped |= options.slots[slot].len() != before;
        if options.slots[slot].is_empty() {
            return false;
        }
    }
    if dropped {
        options.rf = union(u, &options.slots);
    }
    true
}

/// The bytes of observed memory that threads have for themselves and write; 0 elsewhere.
fn private_bytes<R: BitRow>(
    u: &Unfolding<'_>,
    values: &mut Values<'_, R>,
    observed: usize,
) -> Value {
    let Some(bytes) = u.observed_bytes(u.program.observed[observed]) else { return 0 };
    if let Some((thread, value)) = u.private_final(observed) {
        return values.eval(thread, value).unwrap_or(0);
    }
    let cells = u.cells[usize::from(bytes.object)].iter().filter(|cell| bytes.contains(**cell));
    let own = |cell: &Extent| {
        let value = values.private(observed, *cell)??;
        Some(value << (8 * (cell.start - bytes.start)))
    };
    cells.filter_map(own).fold(0, |all, value| all | value)
}

/// The outcome of one valuation with one choice of final values.
fn outcome<R: BitRow>(
    u: &Unfolding<'_>,
    values: &mut Values<'_, R>,
    finals: &[Final],
    last: &[usize],
) -> Vec<Value> {
    let observed = u.program.observed.iter().enumerate().map(|(at, &observed)| match observed {
        Observed::Register { .. } => values.register(observed).unwrap_or(0),
        Observed::Memory { .. } => private_bytes(u, values, at),
    });
    let mut outcome: Vec<Value> = observed.collect();
    for (choice, &at) in finals.iter().zip(last) {
        let bytes = values.written(choice.writes[at], choice.cell).unwrap_or(0);
        outcome[choice.observed] |= choice.part(bytes) << choice.shift;
    }
    outcome
}
