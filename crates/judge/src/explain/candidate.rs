//! The candidates that have an outcome, consistent or not, each with the value of every node.
//!
//! Unlike the engines, which build Coherence into the orders they try, this also tries a co that
//! contradicts causality: otherwise a violation of Coherence would have no candidate.

use std::cell::Cell;
use std::ops::ControlFlow;

use engine::budget::Budget;
use engine::concrete::NodeValues;
use engine::options::SourceOptions;
use engine::outcome::{from_reads, is_overwritten, outcomes_of, overwriting, reads_from};
use engine::structures::{Stop, Structures, each_endless, each_structure};
use engine::uninitialised::is_uninitialised;
use engine::{Limit, Limits};
use execution::air::Air;
use execution::structure::EventStructure;
use execution::unfold::{Unfolded, Unfolding};
use execution::values::{Source, Values, valuations};
use litmus::{Prop, Quantifier, Test};
use model::bits::{self, BitRel, BitRow};
use model::given::{Chosen, Tag};
use model::rel::{Constraint, Flag, FlagMeaning, Model, Node};
use model::value::Value;

/// One candidate with the requested outcome.
pub struct Candidate<'c, R> {
    pub structure: &'c EventStructure<'c, R>,
    pub sources: &'c [Source<R>],
    /// What each read returns; sources alone do not say it of values that depend on themselves.
    pub known: &'c [(usize, Value)],
    /// Every node of the model, in order.
    pub nodes: &'c [BitRel<R>],
    pub co: &'c BitRel<R>,
    pub fr: &'c BitRel<R>,
    pub rf: &'c BitRel<R>,
    pub fsc: &'c BitRel<R>,
    /// Indices of the axioms that it breaks.
    pub broken: &'c [usize],
    pub outcome: &'c [Value],
}

impl<R: BitRow> Candidate<'_, R> {
    /// The relation that has this name in the model.
    pub(super) fn relation(&self, model: &Model, name: &str) -> Option<&BitRel<R>> {
        Some(&self.nodes[usize::from(model.relation_named(name)?.0)])
    }

    /// The thread and the instruction of an event; of an initial write, those of the first thread.
    pub(super) fn instruction(&self, event: usize) -> (&str, &str) {
        let u = self.structure.unfolding;
        let of = &u.events[event];
        let thread = &u.program.threads[of.thread.map_or(0, |thread| usize::from(thread.0))];
        let line = of.of.map_or(0, |of| usize::from(of.line));
        (&thread.name, &thread.lines[line].text)
    }
}

/// Where each slot reads from, and what each read returns.
struct Sourced<'s, R> {
    sources: &'s [Source<R>],
    known: &'s [(usize, Value)],
}

/// Receives candidates; one function for each width of relation.
pub trait Visitor {
    /// False ends the search.
    fn candidate<R: BitRow>(&mut self, candidate: &Candidate<'_, R>) -> bool;
}

/// Which candidates are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WantedCandidates<'r> {
    /// Those that finish with an outcome that passes the filter and satisfies the proposition (violates it, for `forall`).
    Outcome,
    /// Those that may leave the program undefined for this reason, whatever their outcome; the part of an execution before a
    /// misuse is one.
    Undefined(&'r str),
    /// Those in which a thread never ends.
    Stuck,
    /// Those in which a read returns what nobody has written.
    UninitialisedRead,
}

impl WantedCandidates<'_> {
    /// Whether candidates of this unfolding may be wanted.
    fn wants(self, model: &Model, u: &Unfolding<'_>) -> bool {
        match (self, u.fault()) {
            (WantedCandidates::Outcome, fault) => fault.is_none() && !u.is_stuck(),
            (WantedCandidates::Undefined(reason), Some((.., why))) => why == reason,
            (WantedCandidates::Undefined(reason), None) => {
                model.flags.iter().any(|flag| undefines(flag, reason))
            }
            (WantedCandidates::UninitialisedRead, fault) => fault.is_none(),
            (WantedCandidates::Stuck, fault) => fault.is_none() && u.is_stuck(),
        }
    }
}

/// Whether a program is undefined for this reason if the flag is raised.
pub(super) fn undefines(flag: &Flag, reason: &str) -> bool {
    matches!(flag.meaning, FlagMeaning::Undefined(why) if why == reason)
}

/// Whether an execution is undefined for the reason that is wanted, reads what nobody has written, or does not finish.
pub(super) fn shows<R: BitRow>(
    wanted: WantedCandidates<'_>,
    model: &Model,
    candidate: &Candidate<'_, R>,
) -> bool {
    let u = candidate.structure.unfolding;
    let reason = match wanted {
        WantedCandidates::Undefined(reason) => reason,
        WantedCandidates::UninitialisedRead => {
            let mut sources = candidate.sources.iter().enumerate();
            return sources.any(|(slot, of)| is_uninitialised(u, slot, of.writes));
        }
        WantedCandidates::Outcome | WantedCandidates::Stuck => return true,
    };
    let raised = |flag: &Flag| candidate.nodes[usize::from(flag.node.0)].pairs().next().is_some();
    u.fault().is_some() || model.flags.iter().any(|flag| undefines(flag, reason) && raised(flag))
}

/// Orders tried for one choice of sources; more are left out.
const MAX_ORDERS: usize = 720;

/// Visits the candidates that are wanted, and says whether all were visited.
pub fn candidates(
    test: &Test,
    model: &Model,
    wanted: WantedCandidates<'_>,
    limits: &Limits,
    visitor: &mut impl Visitor,
) -> Result<bool, Limit> {
    let ends = |held| limits.of_unfolding(held);
    let unfolded = Unfolded::within(&test.program, model.conventions, limits.bound, &ends)?;
    let truncated = Cell::new(false);
    let air = Air::of(&test.program, model.conventions);
    let budget = Budget::new(limits);
    let (air, truncated) = (&air, &truncated);
    let mut job = CandidateJob { test, model, wanted, air, budget, truncated, visitor };
    let mut complete = each_structure(&unfolded, &mut job)?;
    if complete && wanted != WantedCandidates::Outcome {
        complete = each_endless(&unfolded, &mut job)?;
    }
    Ok(complete && !truncated.get())
}

/// What stays the same from structure to structure.
struct CandidateJob<'a, V> {
    test: &'a Test,
    model: &'a Model,
    wanted: WantedCandidates<'a>,
    air: &'a Air,
    budget: Budget,
    truncated: &'a Cell<bool>,
    visitor: &'a mut V,
}

impl<V: Visitor> Structures for CandidateJob<'_, V> {
    fn structure<R: BitRow>(&mut self, unfolding: &Unfolding<'_>) -> Result<(), Stop> {
        if !self.wanted.wants(self.model, unfolding) {
            return Ok(());
        }
        let structure = EventStructure::<R>::new(unfolding);
        let options = SourceOptions::new(self.model, unfolding, &mut self.budget)?;
        let Some(options) = options else { return Ok(()) };
        let mut search = CandidateSearch {
            test: self.test,
            model: self.model,
            wanted: self.wanted,
            structure: &structure,
            options: options.slots,
            sources: vec![Source::default(); unfolding.slots.len()],
            air: self.air,
            budget: &mut self.budget,
            truncated: self.truncated,
            nodes: NodeValues::new(self.model, &structure),
            choices: 0,
        };
        if search.decide(0, self.visitor)? { Ok(()) } else { Err(Stop::Asked) }
    }
}

struct CandidateSearch<'s, R> {
    /// Set when orders were left out.
    truncated: &'s Cell<bool>,
    test: &'s Test,
    model: &'s Model,
    wanted: WantedCandidates<'s>,
    structure: &'s EventStructure<'s, R>,
    options: Vec<Vec<R>>,
    sources: Vec<Source<R>>,
    air: &'s Air,
    budget: &'s mut Budget,
    nodes: NodeValues<'s, R>,
    /// How many sources were chosen.
    choices: u32,
}

/// How many choices of a source are one step of work.
const CHOICES: u32 = 16;

impl<R: BitRow> CandidateSearch<'_, R> {
    fn decide(&mut self, slot: usize, visitor: &mut impl Visitor) -> Result<bool, Limit> {
        self.choices = self.choices.wrapping_add(1);
        if self.choices.is_multiple_of(CHOICES) {
            self.budget.step();
        }
        // Each choice may evaluate a whole model many times.
        self.budget.look();
        self.budget.check()?;
        let u = self.structure.unfolding;
        let mut values = Values::new(u, &self.sources);
        if u.checks().any(|(thread, check)| values.check(thread, check) == Some(false)) {
            return Ok(true);
        }
        if slot == self.options.len() {
            return self.valued(visitor);
        }
        for index in 0..self.options[slot].len() {
            self.sources[slot] = Source { writes: self.options[slot][index], torn: None };
            if !self.decide(slot + 1, visitor)? {
                return Ok(false);
            }
        }
        self.sources[slot] = Source::default();
        Ok(true)
    }

    fn valued(&mut self, visitor: &mut impl Visitor) -> Result<bool, Limit> {
        let mut sources = self.sources.clone();
        let mut all = Vec::new();
        let u = self.structure.unfolding;
        let (before, budget) = (self.budget.held(), &mut *self.budget);
        valuations(u, &mut sources, self.air, &mut |sources, values| {
            let slots = u.slots.iter();
            let known = slots.filter_map(|slot| Some((slot.read, values.read(slot.read)?)));
            all.push((sources.to_vec(), known.collect::<Vec<(usize, Value)>>()));
            budget.flow(size_of_val(sources) + 32 * u.slots.len())
        })
        .map_err(Limit::from)
        .and_then(|_| budget.check())?;
        budget.release(budget.held() - before);
        for (sources, known) in &all {
            if !self.ordered(&Sourced { sources, known }, visitor)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tries the orders of fences and of writes.
    fn ordered(
        &mut self,
        sourced: &Sourced<'_, R>,
        visitor: &mut impl Visitor,
    ) -> Result<bool, Limit> {
        let events = self.structure.events();
        let rf = BitRel { rows: reads_from(self.structure.unfolding, sourced.sources) };
        let empty = BitRel::empty(events);
        let init_first = self.init_first();
        let start = self.nodes.eval([&rf, &empty, &empty, &empty]);
        let relates = |chosen: Chosen| -> Vec<(usize, usize)> {
            let Some(order) = self.model.order(chosen) else { return Vec::new() };
            start[usize::from(order.relates.0)].pairs().filter(|(a, b)| a < b).collect()
        };
        let (fences, writes) = (relates(Chosen::Fsc), relates(Chosen::Co));
        let fences = orientations(&empty, &fences, self.truncated, self.budget)?;
        let writes = orientations(&init_first, &writes, self.truncated, self.budget)?;
        for fsc in &fences {
            let demanded = demanded(self.model, self.nodes.eval([&rf, &empty, &empty, fsc]));
            for oriented in &writes {
                self.budget.look();
                self.budget.check()?;
                if !self.completed(sourced, [&rf, fsc], &demanded, oriented, visitor)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn completed(
        &mut self,
        sourced: &Sourced<'_, R>,
        [rf, fsc]: [&BitRel<R>; 2],
        demanded: &BitRel<R>,
        oriented: &BitRel<R>,
        visitor: &mut impl Visitor,
    ) -> Result<bool, Limit> {
        let u = self.structure.unfolding;
        let Sourced { sources, known } = *sourced;
        let mut closed = oriented.or(demanded);
        bits::close(&mut closed.rows);
        let closed = bits::is_irreflexive(&closed.rows).then_some(closed);
        // First the co that causality demands; if that has not the outcome, one that contradicts it.
        let by_outcome = self.wanted == WantedCandidates::Outcome;
        let contradicting = by_outcome.then_some(oriented);
        for co in closed.iter().chain(contradicting) {
            let overwritten = u.slots.iter().zip(sources).any(|(slot, source)| {
                u.repeats(slot.read) && is_overwritten(source, &co.rows, overwriting(u, slot))
            });
            if overwritten {
                continue;
            }
            let fr = BitRel { rows: from_reads(u, sources, &co.rows) };
            let mut values = Values::new(u, sources);
            for &(read, value) in known {
                values.suppose(read, value);
            }
            let Some(outcome) = self.outcome(&mut values, co)? else { continue };
            let nodes = self.nodes.eval([rf, co, &fr, fsc]);
            let broken: Vec<usize> = (0..self.model.axioms.len())
                .filter(|&axiom| !self.model.axioms[axiom].constraint.holds(nodes))
                .collect();
            return Ok(visitor.candidate(&Candidate {
                structure: self.structure,
                sources,
                known,
                nodes,
                co,
                fr: &fr,
                rf,
                fsc,
                broken: &broken,
                outcome: &outcome,
            }));
        }
        Ok(true)
    }

    /// A wanted outcome with this co; without values if the execution does not finish.
    fn outcome(
        &mut self,
        values: &mut Values<'_, R>,
        co: &BitRel<R>,
    ) -> Result<Option<Vec<Value>>, Limit> {
        let u = self.structure.unfolding;
        if u.fault().is_some() || u.is_stuck() {
            return Ok(Some(Vec::new()));
        }
        let mut outcome = None;
        let budget = &mut *self.budget;
        let _: ControlFlow<()> = outcomes_of(u, values, &co.rows, &mut |candidate| {
            let holds = |prop: &Prop| prop.holds(&self.test.program, candidate);
            if self.wanted == WantedCandidates::Outcome {
                let satisfied = holds(&self.test.proposition);
                let passes = self.test.filter.as_ref().is_none_or(holds);
                if !passes || satisfied == (self.test.quantifier == Quantifier::ForAll) {
                    let goes_on = budget.follow();
                    return if goes_on {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    };
                }
            }
            outcome = Some(candidate.to_vec());
            ControlFlow::Break(())
        })?;
        self.budget.check()?;
        Ok(outcome)
    }

    fn init_first(&self) -> BitRel<R> {
        let overlap = self.structure.fixed(model::given::Fixed::LocationOverlap);
        let init = self.structure.tag(Tag::Init);
        let later = self.structure.tag(Tag::Write).minus(init);
        let mut co = BitRel::empty(self.structure.events());
        for write in init.events() {
            co.rows[write] = overlap.rows[write].and(later);
        }
        co
    }
}

/// What axioms demand of co.
fn demanded<R: BitRow>(model: &Model, nodes: &[BitRel<R>]) -> BitRel<R> {
    let mut co = BitRel::empty(nodes.first().map_or(0, |node| node.rows.len()));
    for axiom in &model.axioms {
        let Constraint::Empty(node) = axiom.constraint else { continue };
        if let Node::Minus(demanded, chosen) = model.node(node)
            && model.node(chosen) == Node::Chosen(Chosen::Co)
        {
            co = co.or(&nodes[usize::from(demanded.0)]);
        }
    }
    co
}

/// Every acyclic way to direct the pairs on top of `base`, closed.
fn orientations<R: BitRow>(
    base: &BitRel<R>,
    pairs: &[(usize, usize)],
    truncated: &Cell<bool>,
    budget: &mut Budget,
) -> Result<Vec<BitRel<R>>, Limit> {
    let mut all = vec![base.clone()];
    for &(a, b) in pairs {
        let mut next = Vec::new();
        for order in &all {
            for (first, second) in [(a, b), (b, a)] {
                budget.follow();
                budget.check()?;
                let mut directed = order.clone();
                directed.insert(first, second);
                bits::close(&mut directed.rows);
                if bits::is_irreflexive(&directed.rows) {
                    next.push(directed);
                }
            }
        }
        if next.len() > MAX_ORDERS {
            truncated.set(true);
            next.truncate(MAX_ORDERS);
        }
        all = next;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three fences and two writes of one location, so that co and fsc are ordered in several ways.
    const FENCES: &str = r"PTX fences
{
x=0; y=0;
}
 P0@cta 0                  | P1@cta 1                  | P2@cta 2                  ;
 st.relaxed.gpu.u32 [x], 1 | st.relaxed.gpu.u32 [y], 1 | st.relaxed.gpu.u32 [x], 2 ;
 fence.sc.gpu              | fence.sc.gpu              | fence.sc.gpu              ;
 ld.weak.u32 r0, [y]       | ld.weak.u32 r0, [x]       | st.weak.u32 [y], 2        ;
exists true
";

    /// Compares the values of each candidate with those that are computed anew.
    struct Comparison<'a>(&'a Model, usize);

    impl Visitor for Comparison<'_> {
        fn candidate<R: BitRow>(&mut self, candidate: &Candidate<'_, R>) -> bool {
            let mut anew = NodeValues::new(self.0, candidate.structure);
            let chosen = [candidate.rf, candidate.co, candidate.fr, candidate.fsc];
            assert!(anew.eval(chosen) == candidate.nodes, "candidate {}", self.1);
            self.1 += 1;
            true
        }
    }

    #[test]
    fn values_that_are_kept_are_those_computed_anew() {
        let test = litmus::parse("", FENCES.as_bytes()).expect("a test");
        let model = model::ptx::model();
        let mut all = Comparison(&model, 0);
        let limits = Limits::unlimited(2);
        let complete = candidates(&test, &model, WantedCandidates::Outcome, &limits, &mut all);
        assert!(complete.is_ok_and(|complete| complete));
        assert!(all.1 > 100, "{}", all.1);
    }
}
