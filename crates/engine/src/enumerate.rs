//! The enumerating engine: explicit candidates over bit matrices.
//!
//! Coherence is the least sufficient order: one direction for each pair of morally strong writes to a
//! location, closed under the pairs that causality requires (every axiom is easier to satisfy with fewer co
//! edges). For each such orientation reads choose their sources one by one. A partial candidate
//! that breaks an axiom is dropped with all its completions, which is sound because the axioms are monotonic
//! in rf. Fence-SC order is existential: a candidate counts once, even if several orders of its
//! fences are consistent. All of these are enumerated only if final values may differ.

pub(crate) mod beginnings;
pub(crate) mod beyond;
mod conflicts;
mod fences;
mod general;
mod report;
mod symmetry;
mod uninitialised;
mod writes;

use std::collections::BTreeSet;

use execution::air::Air;
use execution::structure::{EventStructure, writes_of};
use execution::unfold::{Unfolded, Unfolding};
use execution::values::{Memo, Source, Values, valuations};
use model::bits::{self, BitRel, BitRow};
use model::given::{Chosen, Tag};
use model::program::Program;
use model::rel::{FlagMeaning, Model};
use model::value::Value;

use self::beyond::LaterWrites;
use self::conflicts::{Conflicts, MAX_MISSES};
use self::fences::related;
use self::symmetry::Symmetry;
use self::writes::{LAZY_PAIRS, observed_cells};
use super::budget::Budget;
use super::options::SourceOptions;
use super::outcome::{
    counts_as_race, is_overwritten, knows_race, observes_memory, overwriting, place,
};
use super::plan::{self, Bounds, Plan, PlannedFlag, Stage, shrinks_with_choice};
use super::sought::{PartialOutcome, Sought, checked_slots, may_matter, observed_slots};
use super::structures::{self, Stop, Structures};
use super::{Engine, ExecutionFacts, Limit, Limits, OutcomeVisitor};

/// Unordered pairs of writes to one location beyond which directing them is hopeless.
const MAX_PAIRS: usize = 4_000;

pub struct Enumerate;

impl Engine for Enumerate {
    fn name(&self) -> &'static str {
        "enumerate"
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
        let ends = |held| limits.of_unfolding(held);
        let unfolded = Unfolded::within(program, model.conventions, limits.bound, &ends)?;
        seen.bound_reached = unfolded.bound_reached();
        seen.executions = matches!(sought, Sought::Everything).then_some(0);
        let grows = plan::grows_with_choice(model);
        let air = Air::of(program, model.conventions);
        let budget = Budget::new(limits);
        let unending = limits.unending;
        let (air, beyond) = (&air, false);
        let mut job =
            EnumerationJob { model, grows, sought, unending, beyond, budget, air, seen, visit };
        let result = structures::search(&unfolded, limits, &mut job);
        seen.thin_air = seen.thin_air.max(air.take());
        seen.ended(result)
    }
}

/// What stays the same from structure to structure.
struct EnumerationJob<'a, 'v> {
    model: &'a Model,
    /// Whether the least co is enough and partial candidates can be dropped.
    grows: bool,
    sought: Sought<'a>,
    /// Whether executions that never finish are searched, too.
    unending: bool,
    /// Whether a consistent execution that was cut at the loop bound is all that is sought.
    beyond: bool,
    budget: Budget,
    air: &'a Air,
    seen: &'a mut ExecutionFacts,
    visit: &'a mut OutcomeVisitor<'v>,
}

/// Sources of reads, and the values of the reads that have one.
type ValuedSources<R> = (Vec<Source<R>>, Vec<(usize, Value)>);

impl EnumerationJob<'_, '_> {
    /// Each way to give the reads values from these sources; several for torn reads and for values that depend on
    /// themselves.
    fn valued<R: BitRow>(
        &mut self,
        unfolding: &Unfolding<'_>,
        sources: &[Source<R>],
    ) -> Result<Vec<ValuedSources<R>>, Stop> {
        let mut all = Vec::new();
        let EnumerationJob { budget, air, .. } = self;
        let before = budget.held();
        valuations(unfolding, &mut sources.to_vec(), air, &mut |sources, values| {
            let slots = unfolding.slots.iter();
            let known = slots.filter_map(|slot| Some((slot.read, values.read(slot.read)?)));
            let known: Vec<(usize, Value)> = known.collect();
            let bytes = size_of_val(sources) + size_of_val(known.as_slice());
            all.push((sources.to_vec(), known));
            budget.flow(bytes)
        })
        .map_err(Limit::from)
        .and_then(|_| budget.check())?;
        budget.release(budget.held() - before);
        Ok(all)
    }
}

impl structures::OutcomeSearch for EnumerationJob<'_, '_> {
    fn seen(&mut self) -> &mut ExecutionFacts {
        self.seen
    }
}

impl Structures for EnumerationJob<'_, '_> {
    fn structure<R: BitRow>(&mut self, unfolding: &Unfolding<'_>) -> Result<(), Stop> {
        if !self.beyond && !self.sought.wants(self.unending, unfolding, self.seen) {
            return Ok(());
        }
        let options = SourceOptions::new(self.model, unfolding, &mut self.budget)?;
        let Some(mut options) = options else { return Ok(()) };
        let asked = match self.sought {
            Sought::Outcomes(asked, ..) if !unfolding.is_stuck() => Some(asked),
            Sought::Everything
            | Sought::Outcomes(..)
            | Sought::Undefined(_)
            | Sought::UninitialisedReads => None,
        };
        if asked.is_some() && !options.narrow(unfolding, asked, &mut self.budget)? {
            return Ok(());
        }
        let structure = EventStructure::<R>::new(unfolding);
        let before = self.budget.held();
        if matches!(self.sought, Sought::UninitialisedReads) {
            return self.uninitialised_reads(&structure, &options);
        }
        if !self.grows {
            if self.beyond {
                return Err(Stop::Asked);
            }
            return self.every_order(&structure, &options);
        }
        let bounds = Bounds::new(&structure, options.rf.clone());
        let Ok(plan) = Plan::new(self.model, &structure, &bounds) else { return Ok(()) };
        // Of a large structure each of these takes long.
        self.budget.look();
        self.budget.check()?;
        if matches!(self.sought, Sought::Undefined(_))
            && unfolding.fault().is_none()
            && !plan.flags.iter().any(|flag| undefines(self.model, flag))
        {
            return Ok(());
        }
        let search = Enumeration::new(self, asked, &structure, plan, options);
        let result = search.map_or(Ok(()), |mut search| search.run());
        self.budget.release(before);
        result
    }
}

/// Whether a flag makes the program undefined.
fn undefines(model: &Model, flag: &PlannedFlag) -> bool {
    matches!(model.flags[flag.flag].meaning, FlagMeaning::Undefined(_))
}

/// Whether a flag that is raised for these pairs says more than the races that are known.
fn raises_more<R: BitRow>(u: &Unfolding<'_>, rows: &[R], seen: &ExecutionFacts) -> bool {
    if seen.races.is_empty() && u.program.exempt_races.is_empty() {
        return !bits::is_empty(rows);
    }
    let mut pairs = rows.iter().enumerate().flat_map(|(a, row)| row.events().map(move |b| (a, b)));
    pairs.any(|(a, b)| counts_as_race(u, a, b) && !knows_race(seen, place(u, a), place(u, b)))
}

/// The flags whose rise is sought, if none of them can rise later in a completion of a candidate.
fn shrinking<R: BitRow>(
    job: &EnumerationJob<'_, '_>,
    u: &Unfolding<'_>,
    plan: &Plan<R>,
) -> Option<Vec<usize>> {
    let model = job.model;
    let sought = matches!(job.sought, Sought::Undefined(_)) && u.fault().is_none();
    let shrinks = |flag: &&PlannedFlag| shrinks_with_choice(model, model.flags[flag.flag].node);
    let flags = || plan.flags.iter().filter(|flag| undefines(model, flag));
    (sought && flags().all(|flag| shrinks(&flag))).then(|| flags().map(|flag| flag.node).collect())
}

#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
struct Enumeration<'a, 'j, 'v, R> {
    job: &'a mut EnumerationJob<'j, 'v>,
    /// What decides whether a partial candidate may have an outcome that is sought.
    asked: Option<&'a PartialOutcome<'j>>,
    structure: &'a EventStructure<'a, R>,
    plan: Plan<R>,
    options: Vec<Vec<R>>,
    /// Slots with several options, in the order in which they are decided.
    order: Vec<usize>,
    sources: Vec<Source<R>>,
    /// The sources of the slots with one option.
    only: Vec<Source<R>>,
    /// Whether final values of memory are observed.
    asks_memory: bool,
    /// Whether writes are ordered once all reads have a source: where one execution is enough. If what memory ends with
    /// is observed, its last writes are chosen first.
    lazy: bool,
    /// Of paths that were cut at the bound, what comes after.
    later: Option<LaterWrites<R>>,
    /// For each cell of memory that is observed, the writes that cover it.
    last_cells: Vec<R>,
    /// Last writes that were chosen, each with those that cover its cell.
    last: Vec<(usize, R)>,
    /// How many executions were admitted.
    admitted: usize,
    /// The order of threads that may be exchanged.
    symmetry: Symmetry,
    /// Flags that no longer rise once they do not, if one execution that raises a flag is all that is sought.
    shrinking: Option<Vec<usize>>,
    /// For each slot, the writes that cover it.
    covers: Vec<R>,
    /// Slots of reads that a thread repeats for ever, each with the writes that would end that.
    repeated: Vec<(usize, R)>,
    /// Whether some thread never ends; then one execution is enough.
    stuck: bool,
    writes: R,
    /// The chosen part of co, closed.
    oriented: Vec<BitRel<R>>,
    /// co of the candidate at hand, closed.
    co: Vec<R>,
    /// Pairs of morally strong writes that the program does not order.
    free_pairs: Vec<(usize, usize)>,
    fsc: BitRel<R>,
    free_fences: Vec<(usize, usize)>,
    fixed_fences: BitRel<R>,
    /// For each depth, how many candidates lie below, at most.
    below: Vec<f64>,
    /// Whether the candidate at hand has been reported.
    reported: bool,
    memo: Vec<Memo>,
    /// Pairs of choices found inconsistent, in large searches.
    conflicts: Option<Conflicts>,
    /// co of the candidate at hand when only those fences are ordered that have to be.
    least_co: Vec<R>,
    /// Outcomes of the candidate at hand that have been reported.
    told: BTreeSet<Vec<Value>>,
}

impl<'a, 'j, 'v, R: BitRow> Enumeration<'a, 'j, 'v, R> {
    /// `None` when what the program fixes is inconsistent.
    fn new(
        job: &'a mut EnumerationJob<'j, 'v>,
        asked: Option<&'a PartialOutcome<'j>>,
        structure: &'a EventStructure<'a, R>,
        plan: Plan<R>,
        options: SourceOptions<R>,
    ) -> Option<Self> {
        let u = structure.unfolding;
        let events = structure.events();
        let options = options.slots;
        let several = |&slot: &usize| options[slot].len() > 1;
        let mut order: Vec<usize> = (0..options.len()).filter(several).collect();
        let soon = job.beyond || job.sought.is_of_one_execution();
        if soon {
            // What atomics read orders them, and gives the values of counters.
            let atomic =
                |slot: usize| u.events[u.slots[slot].read].of.is_some_and(|of| of.rmw.is_some());
            let (observed, checked) = (observed_slots(u), checked_slots(u));
            order.sort_by_key(|&slot| (!observed[slot], !atomic(slot), !checked[slot]));
        }
        let only = |of: &Vec<R>| match of[..] {
            [writes] => Source { writes, torn: None },
            _ => Source::default(),
        };
        let only: Vec<Source<R>> = options.iter().map(only).collect();
        let mut below = vec![1.0; order.len() + 1];
        for depth in (0..order.len()).rev() {
            let many = u32::try_from(options[order[depth]].len()).unwrap_or(u32::MAX);
            below[depth] = below[depth + 1] * f64::from(many);
        }
        let conflicts = Conflicts::new(&options, below[0]);
        let covers = u.slots.iter().map(|slot| writes_of(u, slot.cell)).collect();
        let repeats = u.slots.iter().enumerate().filter(|(_, slot)| u.repeats(slot.read));
        let repeated = repeats.map(|(index, slot)| (index, overwriting(u, slot))).collect();
        let shrinking = shrinking(job, u, &plan);
        let asks_memory = asked.is_some() && observes_memory(u.program);
        let last_cells = if asks_memory { observed_cells(u) } else { Some(Vec::new()) };
        let lazy = soon && last_cells.is_some();
        let later = job.beyond.then(|| LaterWrites::new(u, &options, &order));
        let mut search = Enumeration {
            job,
            asked,
            asks_memory,
            lazy,
            later,
            last_cells: last_cells.unwrap_or_default(),
            last: Vec::new(),
            admitted: 0,
            symmetry: Symmetry::default(),
            shrinking,
            structure,
            options,
            order,
            sources: only.clone(),
            only,
            covers,
            repeated,
            stuck: u.is_stuck(),
            writes: structure.tag(Tag::Write),
            oriented: vec![plan.co_least.clone()],
            co: vec![R::default(); events],
            free_pairs: Vec::new(),
            fsc: BitRel::empty(events),
            free_fences: Vec::new(),
            fixed_fences: BitRel::empty(events),
            below,
            reported: false,
            memo: Vec::new(),
            conflicts,
            least_co: Vec::new(),
            told: BTreeSet::new(),
            plan,
        };
        // With no more decided than what has one option, the open nodes are at their least: what they hold,
        // every candidate holds.
        search.run_before_co();
        if !search.close_co() {
            return None;
        }
        let least = search.co.clone();
        search.oriented[0].rows.clone_from(&least);
        let undecided = |&&(a, b): &&(usize, usize)| !least[a].has(b) && !least[b].has(a);
        search.free_pairs = search.plan.co_pairs.iter().filter(undecided).copied().collect();
        if !search.break_symmetry() {
            return None;
        }
        // Few orders are soon tried, and then reads know how memory ends.
        search.lazy &= !asks_memory || search.free_pairs.len() >= LAZY_PAIRS;
        search.fix_fences();
        Some(search)
    }

    fn run(&mut self) -> Result<(), Stop> {
        // Each pair is a level of the search.
        if self.free_pairs.len() > MAX_PAIRS {
            return Err(Stop::Limit(Limit::Events));
        }
        if !self.lazy {
            return self.orient(0);
        }
        self.decide(0)
    }

    /// Chooses the direction of each pair of morally strong writes from `at` on.
    fn orient(&mut self, at: usize) -> Result<(), Stop> {
        if self.asks_memory && !self.may_matter() {
            return self.tick();
        }
        let Some(&(a, b)) = self.free_pairs.get(at) else {
            if let Some(known) = &mut self.conflicts {
                known.forget();
            }
            return self.decide(0);
        };
        let current = self.oriented.last().expect("there is always the least order");
        if current.has(a, b) || current.has(b, a) {
            return self.orient(at + 1);
        }
        self.tick()?;
        for (first, second) in [(a, b), (b, a)] {
            let mut next = self.oriented.last().expect("there is always the least order").clone();
            next.insert(first, second);
            bits::close(&mut next.rows);
            if bits::is_irreflexive(&next.rows) {
                self.oriented.push(next);
                let result = self.orient(at + 1);
                self.oriented.pop();
                result?;
            }
        }
        Ok(())
    }

    /// Chooses the source of each slot from `depth` on.
    fn decide(&mut self, depth: usize) -> Result<(), Stop> {
        let Some(&slot) = self.order.get(depth) else { return self.candidate().map(|_| ()) };
        let last = depth + 1 == self.order.len();
        let EnumerationJob { sought, unending, seen, .. } = &*self.job;
        if self.stuck && !sought.wants(*unending, self.structure.unfolding, seen) {
            return Ok(());
        }
        for index in 0..self.options[slot].len() {
            if self.conflicts.as_ref().is_some_and(|known| known.rules_out(slot, index)) {
                continue;
            }
            self.sources[slot] = Source { writes: self.options[slot][index], torn: None };
            if !self.symmetry.in_order(slot, &self.sources, &self.options)
                || self.later.as_ref().is_some_and(|of| !of.may_be_read(depth + 1, &self.sources))
                || self.asked.is_some() && !self.may_matter()
            {
                self.tick()?;
                continue;
            }
            // Testing a partial candidate pays when many candidates hang below it.
            let test = !last && self.below[depth + 1] > 3.0;
            if test && !(self.checks_may_hold() && self.partly_consistent()?) {
                self.learn(depth, slot, index)?;
                continue;
            }
            if test && !self.may_raise() {
                continue;
            }
            let ordered = self.oriented.len();
            if test && self.lazy && !self.order_read(slot)? {
                self.oriented.truncate(ordered);
                continue;
            }
            if let Some(known) = &mut self.conflicts {
                known.chosen[slot] = Some(index);
            }
            if last {
                if !self.candidate()? {
                    self.learn(depth, slot, index)?;
                }
            } else {
                self.decide(depth + 1)?;
            }
            self.oriented.truncate(ordered);
            if let Some(known) = &mut self.conflicts {
                known.chosen[slot] = None;
            }
        }
        self.sources[slot] = Source::default();
        Ok(())
    }

    /// Finds out whether the latest choice is inconsistent with one earlier choice alone, so that
    /// the pair is never tried again under this orientation.
    fn learn(&mut self, depth: usize, slot: usize, index: usize) -> Result<(), Stop> {
        if self.conflicts.is_none() {
            return Ok(());
        }
        let sources = self.sources.clone();
        let earlier: Vec<usize> = self.order[..depth].to_vec();
        // What earlier choices order is not to blame.
        let least = self.lazy.then(|| self.oriented[0].clone());
        let ordered = self.oriented.len();
        self.oriented.extend(least);
        let mut to_blame = None;
        for other in earlier.into_iter().rev() {
            self.sources.clone_from(&self.only);
            self.sources[slot] = sources[slot];
            self.sources[other] = sources[other];
            if !self.partly_consistent()? {
                to_blame = Some(other);
                break;
            }
        }
        self.sources = sources;
        self.oriented.truncate(ordered);
        if let Some(other) = to_blame {
            if let Some(known) = &mut self.conflicts {
                known.add(slot, index, other);
            }
            return Ok(());
        }
        // Where three choices or more conflict, looking for pairs is a waste.
        if let Some(known) = &mut self.conflicts {
            known.misses += 1;
            if known.misses > MAX_MISSES {
                self.conflicts = None;
            }
        }
        Ok(())
    }

    /// Whether no check of the paths is known to fail.
    fn checks_may_hold(&self) -> bool {
        let u = self.structure.unfolding;
        if u.paths.iter().all(|path| path.checks.is_empty()) {
            return true;
        }
        let mut values = Values::new(u, &self.sources);
        u.checks().all(|(thread, check)| values.check(thread, check) != Some(false))
    }

    /// Whether the partial candidate may have an outcome that is sought.
    fn may_matter(&mut self) -> bool {
        let Some(asked) = self.asked else { return true };
        let u = self.structure.unfolding;
        let mut values = Values::reusing(u, &self.sources, std::mem::take(&mut self.memo));
        let co = self.oriented.last().filter(|_| self.asks_memory);
        let may = may_matter(asked, u, &mut values, co.map(|co| co.rows.as_slice()));
        self.memo = values.into_memo();
        may
    }

    /// Whether a completion of the partial candidate, which was found consistent, may raise a flag, where that is
    /// all that is sought.
    fn may_raise(&mut self) -> bool {
        let Some(shrinking) = &self.shrinking else { return true };
        self.plan.run_flags();
        let (u, plan, seen) = (self.structure.unfolding, &self.plan, &self.job.seen);
        shrinking.iter().any(|&node| raises_more(u, plan.node(node), seen))
    }

    fn tick(&mut self) -> Result<(), Stop> {
        self.job.budget.step();
        Ok(self.job.budget.check()?)
    }

    fn partly_consistent(&mut self) -> Result<bool, Stop> {
        self.tick()?;
        self.fsc.rows.clone_from(&self.fixed_fences.rows);
        self.run_before_co();
        Ok(self.consistent())
    }

    /// Runs the stages below coherence for the sources at hand.
    fn run_before_co(&mut self) {
        if let Some(rf) = self.plan.chosen_rows(Chosen::Rf) {
            rf.fill(R::default());
            for (slot, source) in self.sources.iter().enumerate() {
                let read = self.structure.unfolding.slots[slot].read;
                for write in source.writes.events() {
                    rf[write].insert(read);
                }
            }
        }
        self.plan.run(Stage::Rf);
        self.run_fences();
    }

    fn run_fences(&mut self) {
        if let Some(fsc) = self.plan.chosen_rows(Chosen::Fsc) {
            fsc.copy_from_slice(&self.fsc.rows);
        }
        self.plan.run(Stage::Fsc);
    }

    /// Whether the axioms hold, the stages below coherence having been run.
    fn consistent(&mut self) -> bool {
        if !self.plan.holds(Stage::Rf) || !self.plan.holds(Stage::Fsc) || !self.close_co() {
            return false;
        }
        let (sources, co) = (&self.sources, &self.co);
        if self.last.iter().any(|&(write, covering)| !co[write].and(covering).is_empty()) {
            return false;
        }
        let overwritten = |&(slot, writes): &(usize, R)| is_overwritten(&sources[slot], co, writes);
        if self.repeated.iter().any(overwritten) {
            return false;
        }
        let u = self.structure.unfolding;
        if let Some(fr) = self.plan.chosen_rows(Chosen::Fr) {
            fr.fill(R::default());
            for (slot, source) in self.sources.iter().enumerate() {
                let later = source
                    .writes
                    .events()
                    .fold(R::default(), |later, write| later.or(self.co[write]));
                let read = u.slots[slot].read;
                fr[read] = fr[read].or(later.and(self.covers[slot]));
            }
        }
        if let Some(co) = self.plan.chosen_rows(Chosen::Co) {
            co.copy_from_slice(&self.co);
        }
        self.plan.run(Stage::Co);
        self.plan.holds(Stage::Co)
    }

    /// The least co of the candidate: oriented pairs and what axioms demand, closed. False when
    /// that is cyclic.
    fn close_co(&mut self) -> bool {
        let oriented = self.oriented.last().expect("there is always the least order");
        self.co.copy_from_slice(&oriented.rows);
        let mut grown = false;
        for &node in &self.plan.co_contains {
            let demanded = self.plan.node(node);
            for write in self.writes.events() {
                let row = self.co[write].or(demanded[write]);
                grown |= row != self.co[write];
                self.co[write] = row;
            }
        }
        if grown {
            bits::close(&mut self.co);
        }
        bits::is_irreflexive(&self.co)
    }

    /// Every slot has a source: finds values, then whether some order of the fences is consistent.
    /// False when the sources alone are inconsistent.
    fn candidate(&mut self) -> Result<bool, Stop> {
        self.tick()?;
        self.reported = false;
        self.told.clear();
        if !self.checks_may_hold() {
            return Ok(true);
        }
        self.fsc.rows.clone_from(&self.fixed_fences.rows);
        self.run_before_co();
        if !self.consistent() {
            return Ok(false);
        }
        if self.lazy && !self.free_pairs.is_empty() {
            let ordered =
                if self.asks_memory { self.order_last_writes() } else { self.order_writes() };
            return ordered.map(|_| true);
        }
        self.complete().map(|()| true)
    }

    /// The writes are ordered: finds out whether some order of the fences is consistent.
    fn complete(&mut self) -> Result<(), Stop> {
        if self.free_fences.is_empty() {
            return self.admit();
        }
        let mut forced = self.fixed_fences.clone();
        if !self.force_fences(&mut forced)? {
            return Ok(());
        }
        let free: Vec<(usize, usize)> =
            self.free_fences.iter().copied().filter(|&(a, b)| !related(&forced, a, b)).collect();
        if !self.fences_consistent(&forced) {
            return Ok(());
        }
        self.least_co.clone_from(&self.co);
        self.order_fences(&free, &forced).map(|_| ())
    }

    /// The candidate at hand is consistent: reports its outcomes and flags.
    fn admit(&mut self) -> Result<(), Stop> {
        // What is written after the bound has no known value.
        if self.job.beyond {
            return Err(Stop::Asked);
        }
        let u = self.structure.unfolding;
        let memo = std::mem::take(&mut self.memo);
        let sources = std::mem::take(&mut self.sources);
        let mut values = Values::reusing(u, &sources, memo);
        let result = if values.settled() {
            match self.settle() {
                Ok(true) => self.report(&sources, &mut values),
                Ok(false) => Ok(()),
                Err(stop) => Err(stop),
            }
        } else {
            self.admit_each(&sources)
        };
        self.memo = values.into_memo();
        self.sources = sources;
        result
    }

    /// The slow way, for torn reads and values that depend on themselves.
    fn admit_each(&mut self, sources: &[Source<R>]) -> Result<(), Stop> {
        let u = self.structure.unfolding;
        let all = self.job.valued(u, sources)?;
        if all.is_empty() || !self.settle()? {
            return Ok(());
        }
        for (sources, known) in &all {
            let mut values = Values::new(u, sources);
            for &(read, value) in known {
                values.suppose(read, value);
            }
            self.report(sources, &mut values)?;
        }
        Ok(())
    }
}
