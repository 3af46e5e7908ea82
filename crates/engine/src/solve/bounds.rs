//! Bounds on every node of a plan: the pairs that it has in every execution, and those that it has
//! in some execution. The solver decides only the pairs in between.

use execution::structure::{EventStructure, writes_of};
use model::bits::{self, BitRel, BitRow};
use model::given::Chosen;

use crate::plan::{Plan, PlanCheck, PlanOp, Stage};

pub(super) struct Between<R> {
    events: usize,
    /// The rows of node `i` start at `i * events`, in both.
    least: Vec<R>,
    most: Vec<R>,
    /// The pairs that every coherence order has, closed.
    pub co: BitRel<R>,
    /// Pairs of fences whose direction the program fixes.
    pub fsc: BitRel<R>,
}

impl<R: BitRow> Between<R> {
    /// `None` when no execution is consistent.
    pub(super) fn new(
        plan: &Plan<R>,
        structure: &EventStructure<'_, R>,
        options: &[Vec<R>],
    ) -> Option<Between<R>> {
        let events = plan.events;
        let mut between = Between {
            events,
            least: plan.rows.clone(),
            most: plan.rows.clone(),
            co: plan.co_least.clone(),
            fsc: BitRel::empty(events),
        };
        between.reads(plan, structure, options);
        let mut related = BitRel::empty(events);
        for &(a, b) in &plan.fsc_pairs {
            related.insert(a, b);
            related.insert(b, a);
        }
        between.set(plan, Chosen::Fsc, &BitRel::empty(events), &related);
        between.run(&plan.steps, Stage::Rf);
        between.run(&plan.steps, Stage::Fsc);
        if between.fences(plan, &related)? {
            between.run(&plan.steps, Stage::Fsc);
        }
        between.coherence(plan)?;
        between.overtaken(plan, structure, options);
        between.run(&plan.steps, Stage::Co);
        for stage in [Stage::Rf, Stage::Fsc, Stage::Co] {
            between.run(&plan.flag_steps, stage);
        }
        Some(between)
    }

    pub(super) fn least(&self, node: usize) -> &[R] {
        &self.least[node * self.events..(node + 1) * self.events]
    }

    pub(super) fn most(&self, node: usize) -> &[R] {
        &self.most[node * self.events..(node + 1) * self.events]
    }

    /// Sets the bounds of a chosen relation.
    fn set(&mut self, plan: &Plan<R>, chosen: Chosen, least: &BitRel<R>, most: &BitRel<R>) {
        let Some(node) = plan.chosen_node(chosen) else { return };
        let range = node * self.events..(node + 1) * self.events;
        self.least[range.clone()].copy_from_slice(&least.rows);
        self.most[range].copy_from_slice(&most.rows);
    }

    fn reads(&mut self, plan: &Plan<R>, structure: &EventStructure<'_, R>, options: &[Vec<R>]) {
        let mut least = BitRel::empty(self.events);
        let mut most = BitRel::empty(self.events);
        for (slot, options) in structure.unfolding.slots.iter().zip(options) {
            let always = options.iter().fold(options[0], |all, option| all.and(*option));
            let ever = options.iter().fold(R::default(), |all, option| all.or(*option));
            for write in always.events() {
                least.insert(write, slot.read);
            }
            for write in ever.events() {
                most.insert(write, slot.read);
            }
        }
        self.set(plan, Chosen::Rf, &least, &most);
    }

    /// What axioms of the form "empty X - fence-sc" fix; says whether that is anything.
    fn fences(&mut self, plan: &Plan<R>, related: &BitRel<R>) -> Option<bool> {
        for axiom in &plan.axioms {
            let PlanCheck::Against(node, Chosen::Fsc) = axiom.check else { continue };
            for &(a, b) in &plan.fsc_pairs {
                for (first, second) in [(a, b), (b, a)] {
                    if self.least(node)[first].has(second) {
                        self.fsc.insert(first, second);
                    }
                }
            }
        }
        bits::close(&mut self.fsc.rows);
        if !bits::is_irreflexive(&self.fsc.rows) {
            return None;
        }
        if self.fsc.is_empty() {
            return Some(false);
        }
        let least = self.fsc.and(related);
        let most = related.minus(&self.fsc.inverse());
        self.set(plan, Chosen::Fsc, &least, &most);
        Some(true)
    }

    /// What axioms of the form "empty X - co" fix.
    fn coherence(&mut self, plan: &Plan<R>) -> Option<()> {
        for &node in &plan.co_contains {
            let demanded = self.least(node).to_vec();
            for (row, demanded) in self.co.rows.iter_mut().zip(demanded) {
                *row = row.or(demanded);
            }
        }
        bits::close(&mut self.co.rows);
        if !bits::is_irreflexive(&self.co.rows) {
            return None;
        }
        if let Some(node) = plan.chosen_node(Chosen::Co) {
            let planned = BitRel { rows: plan.node(node).to_vec() };
            let most = planned.minus(&self.co.inverse());
            let least = self.co.and(&planned);
            self.set(plan, Chosen::Co, &least, &most);
        }
        Some(())
    }

    fn overtaken(&mut self, plan: &Plan<R>, structure: &EventStructure<'_, R>, options: &[Vec<R>]) {
        let before = self.co.inverse();
        let mut least: BitRel<R> = BitRel::empty(self.events);
        let mut most: BitRel<R> = BitRel::empty(self.events);
        for (slot, options) in structure.unfolding.slots.iter().zip(options) {
            let covering: R = writes_of(structure.unfolding, slot.cell);
            let (mut always, mut ever) = (covering, R::default());
            for option in options {
                let (mut follows, mut may_follow) = (R::default(), R::default());
                for write in option.events() {
                    follows = follows.or(self.co.rows[write]);
                    let mut after = covering.minus(before.rows[write]);
                    after.remove(write);
                    may_follow = may_follow.or(after);
                }
                always = always.and(follows);
                ever = ever.or(may_follow);
            }
            least.rows[slot.read] = least.rows[slot.read].or(always);
            most.rows[slot.read] = most.rows[slot.read].or(ever);
        }
        self.set(plan, Chosen::Fr, &least, &most);
    }

    fn run(&mut self, steps: &[(Stage, usize, PlanOp)], stage: Stage) {
        for &(_, node, op) in steps.iter().filter(|(of, ..)| *of == stage) {
            self.step(node, op);
        }
    }

    fn step(&mut self, node: usize, op: PlanOp) {
        let events = self.events;
        let range = |node: usize| node * events..(node + 1) * events;
        // Operands stand before their use.
        let (least, out_least) = self.least.split_at_mut(node * events);
        let (most, out_most) = self.most.split_at_mut(node * events);
        let (out_least, out_most) = (&mut out_least[..events], &mut out_most[..events]);
        match op {
            PlanOp::Chosen(_) => {}
            PlanOp::Or(a, b) => {
                bits::or(out_least, &least[range(a)], &least[range(b)]);
                bits::or(out_most, &most[range(a)], &most[range(b)]);
            }
            PlanOp::And(a, b) => {
                bits::and(out_least, &least[range(a)], &least[range(b)]);
                bits::and(out_most, &most[range(a)], &most[range(b)]);
            }
            PlanOp::Minus(a, b) => {
                bits::minus(out_least, &least[range(a)], &most[range(b)]);
                bits::minus(out_most, &most[range(a)], &least[range(b)]);
            }
            PlanOp::Seq(a, b) => {
                bits::seq(out_least, &least[range(a)], &least[range(b)]);
                bits::seq(out_most, &most[range(a)], &most[range(b)]);
            }
            PlanOp::Inverse(a) => {
                bits::inverse(out_least, &least[range(a)]);
                bits::inverse(out_most, &most[range(a)]);
            }
            PlanOp::Plus(a) => {
                out_least.copy_from_slice(&least[range(a)]);
                bits::close(out_least);
                out_most.copy_from_slice(&most[range(a)]);
                bits::close(out_most);
            }
        }
    }
}
