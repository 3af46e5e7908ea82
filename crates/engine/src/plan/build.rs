//! Making a plan: bounds from the bottom up, needs from the top down.

use execution::structure::EventStructure;
use model::bits::{self, BitRel, BitRow};
use model::given::{Chosen, Tag};
use model::rel::{Constraint, FlagMeaning, Model, Node, NodeId};

use super::{Bounds, Plan, PlanCheck, PlanOp, PlannedAxiom, PlannedFlag, Stage, Unplannable};

struct Planner<'a, R> {
    structure: &'a EventStructure<'a, R>,
    model: &'a Model,
    sets: Vec<R>,
    bounds: &'a Bounds<R>,
    events: usize,
    rows: Vec<R>,
    stands: Vec<usize>,
    stage: Vec<Stage>,
    /// Whether the bound of a node is empty. Most programs have no event of some kinds, so many are.
    empty: Vec<bool>,
    ops: Vec<Option<PlanOp>>,
}

impl<R: BitRow> Plan<R> {
    pub fn new(
        model: &Model,
        structure: &EventStructure<'_, R>,
        bounds: &Bounds<R>,
    ) -> Result<Plan<R>, Unplannable> {
        let events = structure.events();
        let count = model.nodes.len();
        let mut planner = Planner {
            structure,
            model,
            sets: model.eval_sets(|tag| structure.tag(tag)),
            bounds,
            events,
            rows: vec![R::default(); count * events],
            stands: Vec::with_capacity(count),
            stage: Vec::with_capacity(count),
            empty: Vec::with_capacity(count),
            ops: Vec::with_capacity(count),
        };
        for index in 0..count {
            planner.node(index);
        }
        planner.finish()
    }
}

impl<R: BitRow> Planner<'_, R> {
    fn value(&self, node: usize) -> &[R] {
        &self.rows[node * self.events..(node + 1) * self.events]
    }

    fn at(&self, id: NodeId) -> usize {
        self.stands[usize::from(id.0)]
    }

    fn known(&self, node: usize) -> bool {
        self.stage[node] == Stage::Known
    }

    /// Appends the node whose bound stands in its rows already; an empty bound is a value.
    fn push(&mut self, stage: Stage, op: Option<PlanOp>) {
        let index = self.stands.len();
        let empty = bits::is_empty(self.value(index));
        let known = stage == Stage::Known || empty;
        self.stands.push(index);
        self.stage.push(if known { Stage::Known } else { stage });
        self.empty.push(empty);
        self.ops.push(if known { None } else { op });
    }

    /// Appends a node that relates nothing.
    fn push_empty(&mut self) {
        self.stands.push(self.stands.len());
        self.stage.push(Stage::Known);
        self.empty.push(true);
        self.ops.push(None);
    }

    /// Appends a node that always equals `node`.
    fn alias(&mut self, node: usize) {
        let range = node * self.events..(node + 1) * self.events;
        self.rows.copy_within(range, self.stands.len() * self.events);
        self.stands.push(node);
        self.stage.push(self.stage[node]);
        self.empty.push(self.empty[node]);
        self.ops.push(None);
    }

    /// The rows of the node being appended, and those of all before it.
    fn next(&mut self) -> (&[R], &mut [R]) {
        let (before, after) = self.rows.split_at_mut(self.stands.len() * self.events);
        (before, &mut after[..self.events])
    }

    fn binary(&mut self, a: usize, b: usize, f: impl Fn(&mut [R], &[R], &[R])) {
        let events = self.events;
        let (before, out) = self.next();
        f(out, &before[a * events..(a + 1) * events], &before[b * events..(b + 1) * events]);
    }

    fn unary(&mut self, a: usize, f: impl Fn(&mut [R], &[R])) {
        let events = self.events;
        let (before, out) = self.next();
        f(out, &before[a * events..(a + 1) * events]);
    }

    fn disjoint(&self, a: usize, b: usize) -> bool {
        self.value(a).iter().zip(self.value(b)).all(|(a, b)| a.and(*b).is_empty())
    }

    fn within(&self, a: usize, b: usize) -> bool {
        self.value(a).iter().zip(self.value(b)).all(|(a, b)| a.minus(*b).is_empty())
    }

    /// Appends a node that follows from an operand which relates nothing; false if there is none.
    fn follows(&mut self, index: usize) -> bool {
        let empty = |of: NodeId| self.empty[self.at(of)];
        match self.model.nodes[index] {
            Node::And(a, b) | Node::Seq(a, b) if empty(a) || empty(b) => self.push_empty(),
            Node::Inverse(a) | Node::Plus(a) | Node::Minus(a, _) if empty(a) => self.push_empty(),
            Node::Or(a, b) | Node::Minus(a, b) if empty(b) => self.alias(self.at(a)),
            Node::Or(a, b) if empty(a) => self.alias(self.at(b)),
            Node::Fixed(_)
            | Node::Chosen(_)
            | Node::Identity(_)
            | Node::Cross(..)
            | Node::Or(..)
            | Node::And(..)
            | Node::Minus(..)
            | Node::Seq(..)
            | Node::Inverse(_)
            | Node::Plus(_) => return false,
        }
        true
    }

    fn node(&mut self, index: usize) {
        if self.follows(index) {
            return;
        }
        match self.model.nodes[index] {
            Node::Fixed(fixed) => {
                let structure = self.structure;
                self.next().1.copy_from_slice(&structure.fixed(fixed).rows);
                self.push(Stage::Known, None);
            }
            Node::Chosen(chosen) => self.chosen(chosen),
            Node::Identity(set) => {
                let set = self.sets[usize::from(set.0)];
                let out = self.next().1;
                for event in set.events() {
                    out[event] = R::single(event);
                }
                self.push(Stage::Known, None);
            }
            Node::Cross(from, to) => {
                let (from, to) = (self.sets[usize::from(from.0)], self.sets[usize::from(to.0)]);
                let out = self.next().1;
                for event in from.events() {
                    out[event] = to;
                }
                self.push(Stage::Known, None);
            }
            Node::Or(a, b) => {
                let (a, b) = (self.at(a), self.at(b));
                let stage = self.stage[a].max(self.stage[b]);
                if stage != Stage::Known {
                    if a == b {
                        return self.alias(a);
                    }
                    if self.known(a) && self.within(b, a) {
                        return self.alias(a);
                    }
                    if self.known(b) && self.within(a, b) {
                        return self.alias(b);
                    }
                }
                self.binary(a, b, bits::or);
                self.push(stage, Some(PlanOp::Or(a, b)));
            }
            Node::And(a, b) => {
                let (a, b) = (self.at(a), self.at(b));
                let stage = self.stage[a].max(self.stage[b]);
                if stage != Stage::Known {
                    if self.known(a) && self.within(b, a) || a == b {
                        return self.alias(b);
                    }
                    if self.known(b) && self.within(a, b) {
                        return self.alias(a);
                    }
                }
                self.binary(a, b, bits::and);
                self.push(stage, Some(PlanOp::And(a, b)));
            }
            Node::Minus(a, b) => {
                let (a, b) = (self.at(a), self.at(b));
                let stage = self.stage[a].max(self.stage[b]);
                if stage != Stage::Known && self.disjoint(a, b) {
                    return self.alias(a);
                }
                if self.known(b) {
                    self.binary(a, b, bits::minus);
                } else {
                    self.unary(a, |out, a| out.copy_from_slice(a));
                }
                self.push(stage, Some(PlanOp::Minus(a, b)));
            }
            Node::Seq(a, b) => {
                let (a, b) = (self.at(a), self.at(b));
                let stage = self.stage[a].max(self.stage[b]);
                self.binary(a, b, bits::seq);
                self.push(stage, Some(PlanOp::Seq(a, b)));
            }
            Node::Inverse(a) => {
                let a = self.at(a);
                self.unary(a, |out, a| bits::inverse(out, a));
                self.push(self.stage[a], Some(PlanOp::Inverse(a)));
            }
            Node::Plus(a) => {
                let a = self.at(a);
                // Where no two edges can meet, closing adds nothing.
                let value = self.value(a);
                let meets = |row: &R| row.events().any(|to| !value[to].is_empty());
                if self.stage[a] != Stage::Known && !value.iter().any(meets) {
                    return self.alias(a);
                }
                self.unary(a, |out, a| {
                    out.copy_from_slice(a);
                    bits::close(out);
                });
                self.push(self.stage[a], Some(PlanOp::Plus(a)));
            }
        }
    }

    fn chosen(&mut self, chosen: Chosen) {
        let bounds = self.bounds;
        let stage = match chosen {
            Chosen::Rf => {
                self.next().1.copy_from_slice(&bounds.rf.rows);
                Stage::Rf
            }
            Chosen::Co => {
                self.next().1.copy_from_slice(&bounds.co.rows);
                Stage::Co
            }
            Chosen::Fr => {
                self.next().1.copy_from_slice(&bounds.fr.rows);
                Stage::Co
            }
            Chosen::Fsc => {
                // A model may name the order before what it relates; any two fence.sc bound it.
                let fences = self.structure.tag(Tag::FenceSc);
                match self.model.order(Chosen::Fsc) {
                    Some(order) if usize::from(order.relates.0) < self.stands.len() => {
                        self.unary(self.at(order.relates), |out, a| out.copy_from_slice(a));
                    }
                    Some(_) => {
                        let out = self.next().1;
                        for event in fences.events() {
                            out[event] = fences;
                        }
                    }
                    None => {}
                }
                Stage::Fsc
            }
        };
        self.push(stage, Some(PlanOp::Chosen(chosen)));
    }

    fn finish(self) -> Result<Plan<R>, Unplannable> {
        let mut axioms = Vec::new();
        let mut co_contains = Vec::new();
        let mut needed = vec![false; self.stands.len()];
        for (axiom, of) in self.model.axioms.iter().enumerate() {
            self.axiom(axiom, of.constraint, &mut axioms, &mut co_contains, &mut needed)?;
        }
        let steps = self.steps(&mut needed);
        let mut flags = Vec::new();
        let mut for_flags = vec![false; self.stands.len()];
        // What may make the program undefined comes first: the rest only reports.
        let undefined_first = |meaning: FlagMeaning| match meaning {
            FlagMeaning::Undefined(_) => 0,
            FlagMeaning::Race | FlagMeaning::Report | FlagMeaning::Warning(_) => 1,
        };
        let mut order: Vec<usize> = (0..self.model.flags.len()).collect();
        order.sort_by_key(|&flag| undefined_first(self.model.flags[flag].meaning));
        for flag in order {
            let node = self.at(self.model.flags[flag].node);
            if !bits::is_empty(self.value(node)) {
                for_flags[node] = true;
                flags.push(PlannedFlag { flag, node });
            }
        }
        let mut flag_steps = self.steps(&mut for_flags);
        flag_steps.retain(|&(_, node, _)| !needed[node]);
        let pairs = |chosen: Chosen| -> Vec<(usize, usize)> {
            let Some(order) = self.model.order(chosen) else { return Vec::new() };
            let node = self.at(order.relates);
            let rows = self.value(node).iter().enumerate();
            rows.flat_map(|(a, row)| row.events().map(move |b| (a, b)))
                .filter(|(a, b)| a < b)
                .collect()
        };
        let mut co_least = BitRel::empty(self.events);
        let init = self.structure.tag(Tag::Init);
        for write in init.events() {
            co_least.rows[write] = self.bounds.co.rows[write];
        }
        let mut chosen_at = [None; 4];
        for (index, node) in self.model.nodes.iter().enumerate() {
            if let Node::Chosen(chosen) = node {
                chosen_at[*chosen as usize] = Some(index);
            }
        }
        let most = [Chosen::Co, Chosen::Fsc].map(|chosen| match chosen_at[chosen as usize] {
            Some(node) => BitRel { rows: self.value(node).to_vec() },
            None => BitRel::empty(self.events),
        });
        let co_pairs = pairs(Chosen::Co);
        let fsc_pairs = pairs(Chosen::Fsc);
        Ok(Plan {
            events: self.events,
            stands: self.stands,
            stage: self.stage,
            rows: self.rows,
            steps,
            axioms,
            co_contains,
            flag_steps,
            flags,
            co_least,
            most,
            co_pairs,
            fsc_pairs,
            chosen_at,
        })
    }

    fn axiom(
        &self,
        axiom: usize,
        constraint: Constraint,
        axioms: &mut Vec<PlannedAxiom>,
        co_contains: &mut Vec<usize>,
        needed: &mut [bool],
    ) -> Result<(), Unplannable> {
        let mut add = |check: PlanCheck, nodes: &[usize]| {
            let of_nodes = nodes.iter().map(|&node| self.stage[node]).max();
            let stage = match check {
                PlanCheck::Against(..) => of_nodes.max(Some(Stage::Fsc)),
                PlanCheck::Outside(..)
                | PlanCheck::Empty(_)
                | PlanCheck::Irreflexive(_)
                | PlanCheck::IrreflexiveSeq(..)
                | PlanCheck::Acyclic(_) => of_nodes,
            }
            .unwrap_or(Stage::Known);
            for &node in nodes {
                needed[node] = true;
            }
            axioms.push(PlannedAxiom { axiom, check, stage });
        };
        let node = self.at(constraint.node());
        let broken = match constraint {
            Constraint::Empty(_) => !bits::is_empty(self.value(node)),
            Constraint::Irreflexive(_) => !bits::is_irreflexive(self.value(node)),
            Constraint::Acyclic(_) => !bits::is_acyclic(self.value(node)),
        };
        // The bound keeps the axiom, and so does every candidate.
        if !broken {
            return Ok(());
        }
        if self.known(node) {
            return Err(Unplannable::Impossible);
        }
        match (constraint, self.ops[node]) {
            (Constraint::Empty(_), Some(PlanOp::Minus(a, b))) => match self.ops[b] {
                Some(PlanOp::Chosen(chosen @ (Chosen::Co | Chosen::Fsc))) => {
                    // A pair that the order cannot relate breaks the axiom whatever is chosen.
                    if !self.within(a, b) {
                        if self.known(a) {
                            return Err(Unplannable::Impossible);
                        }
                        add(PlanCheck::Outside(a, chosen), &[a]);
                    }
                    if chosen == Chosen::Fsc {
                        add(PlanCheck::Against(a, chosen), &[a]);
                    } else {
                        needed[a] = true;
                        co_contains.push(a);
                    }
                }
                _ => add(PlanCheck::Empty(node), &[node]),
            },
            (Constraint::Irreflexive(_), Some(PlanOp::Seq(a, b))) => {
                add(PlanCheck::IrreflexiveSeq(a, b), &[a, b]);
            }
            (Constraint::Empty(_), _) => add(PlanCheck::Empty(node), &[node]),
            (Constraint::Irreflexive(_), _) => add(PlanCheck::Irreflexive(node), &[node]),
            (Constraint::Acyclic(_), _) => add(PlanCheck::Acyclic(node), &[node]),
        }
        Ok(())
    }

    /// What computes the needed nodes, and what these need; marks them all.
    fn steps(&self, needed: &mut [bool]) -> Vec<(Stage, usize, PlanOp)> {
        let mut steps = Vec::new();
        for node in (0..self.stands.len()).rev() {
            let Some(op) = self.ops[node].filter(|_| needed[node]) else { continue };
            match op {
                PlanOp::Chosen(_) => {}
                PlanOp::Or(a, b) | PlanOp::And(a, b) | PlanOp::Minus(a, b) | PlanOp::Seq(a, b) => {
                    needed[a] = true;
                    needed[b] = true;
                }
                PlanOp::Inverse(a) | PlanOp::Plus(a) => needed[a] = true,
            }
            steps.push((self.stage[node], node, op));
        }
        steps.reverse();
        steps.sort_by_key(|&(stage, ..)| stage);
        steps
    }
}
