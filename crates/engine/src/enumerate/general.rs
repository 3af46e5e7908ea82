//! Models of any shape: every coherence order is tried, not only the least.
//!
//! An imported model may require more co than its axioms of the form "empty X - co" show, or may not be
//! monotonic in the chosen relations. Then nothing can be pruned: each choice of sources is completed in every
//! way, and the whole model is evaluated for each candidate.

use std::ops::ControlFlow;

use execution::structure::EventStructure;
use execution::values::{Source, Values};
use model::bits::{self, BitRel, BitRow};
use model::given::{Chosen, Fixed, Tag};
use model::value::Value;

use super::{EnumerationJob, Stop};
use crate::Limit;
use crate::budget::Budget;
use crate::concrete::NodeValues;
use crate::options::SourceOptions;
use crate::outcome::{
    from_reads, is_overwritten, outcomes_of, overwriting, raise_end, raise_flag, reads_from,
};
use crate::sought::{Sought, may_matter};
use crate::witness::{ChosenRows, Witness};

/// Pairs of writes beyond which trying every order is hopeless.
const MAX_PAIRS: usize = 10;
const MAX_ORDERS: usize = 100_000;

impl EnumerationJob<'_, '_> {
    pub(super) fn every_order<R: BitRow>(
        &mut self,
        structure: &EventStructure<'_, R>,
        options: &SourceOptions<R>,
    ) -> Result<(), Stop> {
        let mut sources = vec![Source::default(); options.slots.len()];
        let mut nodes = NodeValues::new(self.model, structure);
        self.choose(structure, &options.slots, 0, &mut sources, &mut nodes)
    }

    fn choose<R: BitRow>(
        &mut self,
        structure: &EventStructure<'_, R>,
        options: &[Vec<R>],
        slot: usize,
        sources: &mut Vec<Source<R>>,
        nodes: &mut NodeValues<'_, R>,
    ) -> Result<(), Stop> {
        self.budget.look();
        self.budget.check()?;
        if slot < options.len() {
            for &writes in &options[slot] {
                sources[slot] = Source { writes, torn: None };
                if let Sought::Outcomes(asked, ..) = self.sought {
                    let u = structure.unfolding;
                    if !u.is_stuck() && !may_matter(asked, u, &mut Values::new(u, sources), None) {
                        continue;
                    }
                }
                self.choose(structure, options, slot + 1, sources, nodes)?;
            }
            sources[slot] = Source::default();
            return Ok(());
        }
        let valued = self.valued(structure.unfolding, sources)?;
        let thin_air = self.air.take();
        let mut kept = false;
        for (sources, known) in &valued {
            kept |= self.complete(structure, sources, Some(known), nodes)?;
        }
        // Values that an axiom forbids are missed by nobody.
        if thin_air > self.seen.thin_air
            && (kept || valued.is_empty() && self.complete(structure, sources, None, nodes)?)
        {
            self.seen.thin_air = thin_air;
        }
        Ok(())
    }

    /// Whether some order keeps all axioms; tells the executions, if what the reads return is known.
    fn complete<R: BitRow>(
        &mut self,
        structure: &EventStructure<'_, R>,
        sources: &[Source<R>],
        known: Option<&[(usize, Value)]>,
        nodes: &mut NodeValues<'_, R>,
    ) -> Result<bool, Stop> {
        let events = structure.events();
        let rf = BitRel { rows: reads_from(structure.unfolding, sources) };
        let empty = BitRel::empty(events);
        let start = nodes.eval([&rf, &empty, &empty, &empty]);
        let pairs_of = |chosen: Chosen| -> Vec<(usize, usize)> {
            let order = self.model.order(chosen);
            let pairs = order.map(|order| start[usize::from(order.relates.0)].pairs());
            pairs.into_iter().flatten().filter(|(a, b)| a < b).collect()
        };
        let (fences, related) = (pairs_of(Chosen::Fsc), pairs_of(Chosen::Co));
        // An order of fences is acyclic; fences that it does not relate keep it from being transitive.
        let mut fences = orders(&empty, &fences, &fences, &mut self.budget)?;
        fences.retain(|order| bits::is_irreflexive(&order.plus().rows));
        let (first, pairs) = overlapping_writes(structure);
        let mut any = false;
        let mut coherence = orders(&first, &pairs, &related, &mut self.budget)?;
        coherence.retain(|order| {
            let closed = order.plus();
            closed == *order && bits::is_irreflexive(&closed.rows)
        });
        for co in coherence {
            let fr = BitRel { rows: from_reads(structure.unfolding, sources, &co.rows) };
            let overwritten =
                structure.unfolding.slots.iter().zip(sources).any(|(slot, source)| {
                    structure.unfolding.repeats(slot.read)
                        && is_overwritten(source, &co.rows, overwriting(structure.unfolding, slot))
                });
            if overwritten {
                continue;
            }
            let mut reported = false;
            for fsc in &fences {
                self.budget.step();
                self.budget.check()?;
                let nodes = nodes.eval([&rf, &co, &fr, fsc]);
                let kept = self.model.axioms.iter().all(|axiom| axiom.constraint.holds(nodes));
                any |= kept;
                if let Some(known) = known.filter(|_| kept) {
                    self.raise(structure, nodes)?;
                    if !std::mem::replace(&mut reported, true) {
                        self.tell(structure, sources, known, [&rf, &co, &fr, fsc])?;
                    }
                }
            }
        }
        Ok(any)
    }

    fn raise<R: BitRow>(
        &mut self,
        structure: &EventStructure<'_, R>,
        nodes: &[BitRel<R>],
    ) -> Result<(), Stop> {
        self.raise_flags(structure, nodes);
        let found = matches!(self.sought, Sought::Undefined(_)) && self.seen.undefined.is_some();
        if found { Err(Stop::Asked) } else { Ok(()) }
    }

    fn raise_flags<R: BitRow>(&mut self, structure: &EventStructure<'_, R>, nodes: &[BitRel<R>]) {
        if raise_end(structure.unfolding, self.seen) {
            return;
        }
        if matches!(self.sought, Sought::Outcomes(..)) {
            return;
        }
        for flag in &self.model.flags {
            let pairs = nodes[usize::from(flag.node.0)].pairs();
            raise_flag(flag, structure.unfolding, pairs, self.seen);
        }
    }

    fn tell<R: BitRow>(
        &mut self,
        structure: &EventStructure<'_, R>,
        sources: &[Source<R>],
        known: &[(usize, Value)],
        [rf, co, fr, fsc]: [&BitRel<R>; 4],
    ) -> Result<(), Stop> {
        let u = structure.unfolding;
        if u.fault().is_some() || u.is_stuck() || matches!(self.sought, Sought::Undefined(_)) {
            return Ok(());
        }
        if let Some(executions) = &mut self.seen.executions {
            *executions += 1;
        }
        let mut values = Values::new(u, sources);
        for &(read, value) in known {
            values.suppose(read, value);
        }
        let (visit, budget) = (&mut *self.visit, &mut self.budget);
        let told = outcomes_of(u, &mut values, &co.rows, &mut |outcome| {
            let chosen = ChosenRows { rf: &rf.rows, co: &co.rows, fr: &fr.rows, fsc: &fsc.rows };
            let witness = || Witness::new(structure, sources, &chosen, outcome);
            if budget.follow() { visit(outcome, &witness) } else { ControlFlow::Break(()) }
        })?;
        budget.check()?;
        if told.is_break() { Err(Stop::Asked) } else { Ok(()) }
    }
}

/// Initial writes first, and the pairs of other writes that share a byte.
fn overlapping_writes<R: BitRow>(
    structure: &EventStructure<'_, R>,
) -> (BitRel<R>, Vec<(usize, usize)>) {
    let overlap = structure.fixed(Fixed::LocationOverlap);
    let init = structure.tag(Tag::Init);
    let later = structure.tag(Tag::Write).minus(init);
    let mut first = BitRel::empty(structure.events());
    for write in init.events() {
        first.rows[write] = overlap.rows[write].and(later);
    }
    let pairs = later
        .events()
        .flat_map(|a| overlap.rows[a].and(later).events().map(move |b| (a, b)))
        .filter(|(a, b)| a < b)
        .collect();
    (first, pairs)
}

/// Every way to add pairs to `base`: each of `related` in one direction or the other, each other of `pairs` in one or
/// not at all.
fn orders<R: BitRow>(
    base: &BitRel<R>,
    pairs: &[(usize, usize)],
    related: &[(usize, usize)],
    budget: &mut Budget,
) -> Result<Vec<BitRel<R>>, Stop> {
    if pairs.len() > MAX_PAIRS {
        return Err(Stop::Limit(Limit::Model));
    }
    let mut all = vec![base.clone()];
    for &(a, b) in pairs {
        let mut next = Vec::with_capacity(3 * all.len());
        for order in all {
            budget.follow();
            budget.check()?;
            for (first, second) in [(a, b), (b, a)] {
                let mut directed = order.clone();
                directed.insert(first, second);
                next.push(directed);
            }
            if !related.contains(&(a, b)) {
                next.push(order);
            }
        }
        if next.len() > MAX_ORDERS {
            return Err(Stop::Limit(Limit::Model));
        }
        all = next;
    }
    Ok(all)
}
