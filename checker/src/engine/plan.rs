//! A model specialised to one event structure: what the program fixes is computed once.
//!
//! Each node of the model is bounded from above by what may be chosen. A node whose bound is empty,
//! or that no chosen relation reaches, is a constant; what is left is a short program that is run
//! for each candidate. Both axiomatic engines start from it.

use model::bits::{self, BitRel, Row};
use model::given::{Chosen, Fixed, Tag};
use model::rel::{Constraint, Meaning, Model, Node, NodeId};
use model::structure::EventStructure;

/// What decides a node, from nothing to everything. A node of one stage needs those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// The program.
    Known,
    /// Where reads read from.
    Rf,
    /// The order of fences too.
    Fsc,
    /// Coherence too.
    Co,
}

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Chosen(Chosen),
    Or(usize, usize),
    And(usize, usize),
    Minus(usize, usize),
    Seq(usize, usize),
    Inverse(usize),
    Plus(usize),
}

/// What must hold of the nodes of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Empty(usize),
    Irreflexive(usize),
    /// Of the composition of two nodes, which is not computed.
    IrreflexiveSeq(usize, usize),
    Acyclic(usize),
    /// The node and the inverse of the chosen order share no pair.
    Against(usize, Chosen),
}

/// An axiom as the plan checks it.
#[derive(Clone, Copy, Debug)]
pub struct PlannedAxiom {
    /// Index into [`Model::axioms`].
    pub axiom: usize,
    pub check: Check,
    pub stage: Stage,
}

#[derive(Clone, Copy, Debug)]
pub struct PlannedFlag {
    /// Index into [`Model::flags`].
    pub flag: usize,
    pub node: usize,
}

/// A model cannot be planned for this structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplannable {
    /// An axiom that the program alone breaks: no candidate is consistent.
    Impossible,
}

pub struct Plan<R> {
    pub events: usize,
    /// The rows of node `i` start at `i * events`. A known node's are its value; an open node's are
    /// the bound until the plan is run.
    pub rows: Vec<R>,
    /// Where each node's value stands: itself, or the node it always equals.
    pub stands: Vec<usize>,
    pub stage: Vec<Stage>,
    /// What computes the open nodes that axioms need, in order, by stage.
    pub steps: Vec<(Stage, usize, Op)>,
    pub axioms: Vec<PlannedAxiom>,
    /// Nodes whose pairs of writes coherence order has to contain: from axioms of the form
    /// "empty X - co", which hold by construction then.
    pub co_contains: Vec<usize>,
    /// What flags need beyond the axioms.
    pub flag_steps: Vec<(Stage, usize, Op)>,
    /// Flags that some candidate may raise.
    pub flags: Vec<PlannedFlag>,
    /// The least co that every candidate has: initial writes first.
    pub co_least: BitRel<R>,
    /// For each order, the pairs that it has to relate one way or the other, `a < b`.
    pub co_pairs: Vec<(usize, usize)>,
    pub fsc_pairs: Vec<(usize, usize)>,
    chosen_at: [Option<usize>; 4],
}

/// What may be chosen in one structure.
pub struct Bounds<R> {
    pub rf: BitRel<R>,
    pub co: BitRel<R>,
    pub fr: BitRel<R>,
}

impl<R: Row> Bounds<R> {
    /// `rf` from the options of the slots; co between different writes of a location; fr to what
    /// follows in co.
    pub fn new(structure: &EventStructure<'_, R>, rf: BitRel<R>) -> Bounds<R> {
        let events = structure.events();
        let (writes, init) = (structure.tag(Tag::Write), structure.tag(Tag::Init));
        let overlap = structure.fixed(Fixed::LocationOverlap);
        let later = writes.minus(init);
        let mut co = BitRel::empty(events);
        for write in writes.events() {
            let mut after = overlap.rows[write].and(later);
            after.remove(write);
            co.rows[write] = after;
        }
        let mut fr = BitRel::empty(events);
        for read in structure.tag(Tag::Read).events() {
            fr.rows[read] = overlap.rows[read].and(later);
        }
        Bounds { rf, co, fr }
    }
}

struct Planner<'a, R> {
    structure: &'a EventStructure<'a, R>,
    model: &'a Model,
    sets: Vec<R>,
    bounds: &'a Bounds<R>,
    events: usize,
    rows: Vec<R>,
    stands: Vec<usize>,
    stage: Vec<Stage>,
    ops: Vec<Option<Op>>,
}

impl<R: Row> Plan<R> {
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
            ops: Vec::with_capacity(count),
        };
        for index in 0..count {
            planner.node(index);
        }
        planner.finish()
    }

    pub fn node(&self, node: usize) -> &[R] {
        &self.rows[node * self.events..(node + 1) * self.events]
    }
}

impl<R: Row> Planner<'_, R> {
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
    fn push(&mut self, stage: Stage, op: Option<Op>) {
        let index = self.stands.len();
        let known = stage == Stage::Known || bits::is_empty(self.value(index));
        self.stands.push(index);
        self.stage.push(if known { Stage::Known } else { stage });
        self.ops.push(if known { None } else { op });
    }

    /// Appends a node that always equals `node`.
    fn alias(&mut self, node: usize) {
        let range = node * self.events..(node + 1) * self.events;
        self.rows.copy_within(range, self.stands.len() * self.events);
        self.stands.push(node);
        self.stage.push(self.stage[node]);
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

    fn node(&mut self, index: usize) {
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
                    if self.known(b) && bits::is_empty(self.value(b)) || a == b {
                        return self.alias(a);
                    }
                    if self.known(a) && self.within(b, a) {
                        return self.alias(a);
                    }
                    if self.known(b) && self.within(a, b) || bits::is_empty(self.value(a)) {
                        return self.alias(b);
                    }
                }
                self.binary(a, b, bits::or);
                self.push(stage, Some(Op::Or(a, b)));
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
                self.push(stage, Some(Op::And(a, b)));
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
                self.push(stage, Some(Op::Minus(a, b)));
            }
            Node::Seq(a, b) => {
                let (a, b) = (self.at(a), self.at(b));
                let stage = self.stage[a].max(self.stage[b]);
                self.binary(a, b, bits::seq);
                self.push(stage, Some(Op::Seq(a, b)));
            }
            Node::Inverse(a) => {
                let a = self.at(a);
                self.unary(a, |out, a| bits::inverse(out, a));
                self.push(self.stage[a], Some(Op::Inverse(a)));
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
                self.push(self.stage[a], Some(Op::Plus(a)));
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
        self.push(stage, Some(Op::Chosen(chosen)));
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
        let undefined_first = |meaning: Meaning| match meaning {
            Meaning::Undefined(_) => 0,
            Meaning::Report => 1,
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
        let mut add = |check: Check, nodes: &[usize]| {
            let stage = nodes.iter().map(|&node| self.stage[node]).max().unwrap_or(Stage::Known);
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
            (Constraint::Empty(_), Some(Op::Minus(a, b))) => match self.ops[b] {
                Some(Op::Chosen(Chosen::Co)) => {
                    needed[a] = true;
                    co_contains.push(a);
                }
                Some(Op::Chosen(Chosen::Fsc)) => add(Check::Against(a, Chosen::Fsc), &[a]),
                _ => add(Check::Empty(node), &[node]),
            },
            (Constraint::Irreflexive(_), Some(Op::Seq(a, b))) => {
                add(Check::IrreflexiveSeq(a, b), &[a, b]);
            }
            (Constraint::Empty(_), _) => add(Check::Empty(node), &[node]),
            (Constraint::Irreflexive(_), _) => add(Check::Irreflexive(node), &[node]),
            (Constraint::Acyclic(_), _) => add(Check::Acyclic(node), &[node]),
        }
        Ok(())
    }

    /// What computes the needed nodes, and what these need; marks them all.
    fn steps(&self, needed: &mut [bool]) -> Vec<(Stage, usize, Op)> {
        let mut steps = Vec::new();
        for node in (0..self.stands.len()).rev() {
            let Some(op) = self.ops[node].filter(|_| needed[node]) else { continue };
            match op {
                Op::Chosen(_) => {}
                Op::Or(a, b) | Op::And(a, b) | Op::Minus(a, b) | Op::Seq(a, b) => {
                    needed[a] = true;
                    needed[b] = true;
                }
                Op::Inverse(a) | Op::Plus(a) => needed[a] = true,
            }
            steps.push((self.stage[node], node, op));
        }
        steps.reverse();
        steps.sort_by_key(|&(stage, ..)| stage);
        steps
    }
}

impl<R: Row> Plan<R> {
    /// The node that is a chosen relation, if the model speaks of it.
    pub fn chosen_node(&self, chosen: Chosen) -> Option<usize> {
        self.chosen_at[chosen as usize]
    }

    /// Where the rows of a chosen relation stand, if the plan needs them.
    pub fn chosen_rows(&mut self, chosen: Chosen) -> Option<&mut [R]> {
        let node = self.chosen_at[chosen as usize]?;
        Some(&mut self.rows[node * self.events..(node + 1) * self.events])
    }

    /// Computes the nodes of one stage; the chosen rows and the stages before are in place.
    pub fn run(&mut self, stage: Stage) {
        let Plan { steps, rows, events, .. } = self;
        for &(_, node, op) in steps.iter().filter(|(of, ..)| *of == stage) {
            step(rows, *events, node, op);
        }
    }

    /// Computes what only flags need; every stage has been run.
    pub fn run_flags(&mut self) {
        let Plan { flag_steps, rows, events, .. } = self;
        for &(_, node, op) in flag_steps.iter() {
            step(rows, *events, node, op);
        }
    }

    /// Whether the axioms of one stage hold.
    pub fn holds(&self, stage: Stage) -> bool {
        self.axioms.iter().all(|axiom| axiom.stage != stage || self.check(axiom.check))
    }

    pub fn check(&self, check: Check) -> bool {
        match check {
            Check::Empty(node) => bits::is_empty(self.node(node)),
            Check::Irreflexive(node) => bits::is_irreflexive(self.node(node)),
            Check::Acyclic(node) => bits::is_acyclic(self.node(node)),
            Check::IrreflexiveSeq(a, b) => {
                let second = self.node(b);
                self.node(a)
                    .iter()
                    .enumerate()
                    .all(|(from, row)| row.events().all(|middle| !second[middle].has(from)))
            }
            Check::Against(node, chosen) => {
                let Some(order) = self.chosen_at[chosen as usize] else { return true };
                let order = self.node(order);
                self.node(node)
                    .iter()
                    .enumerate()
                    .all(|(from, row)| row.events().all(|to| !order[to].has(from)))
            }
        }
    }
}

fn step<R: Row>(rows: &mut [R], events: usize, node: usize, op: Op) {
    // Operands stand before their use.
    let (before, after) = rows.split_at_mut(node * events);
    let out = &mut after[..events];
    let at = |node: usize| &before[node * events..(node + 1) * events];
    match op {
        Op::Chosen(_) => {}
        Op::Or(a, b) => bits::or(out, at(a), at(b)),
        Op::And(a, b) => bits::and(out, at(a), at(b)),
        Op::Minus(a, b) => bits::minus(out, at(a), at(b)),
        Op::Seq(a, b) => bits::seq(out, at(a), at(b)),
        Op::Inverse(a) => bits::inverse(out, at(a)),
        Op::Plus(a) => {
            out.copy_from_slice(at(a));
            bits::close(out);
        }
    }
}

/// Whether a model is one of those for which the least coherence order is enough and a broken
/// candidate stays broken however it is completed: every axiom grows with what is chosen, but for
/// axioms of the form "empty X - co" and "empty X - fence-sc".
pub fn grows_with_choice(model: &Model) -> bool {
    const CO: u8 = 1 << Chosen::Co as u8 | 1 << Chosen::Fr as u8;
    // For each node: the chosen relations it depends on, and whether it only grows with them.
    let mut facts: Vec<(u8, bool)> = Vec::with_capacity(model.nodes.len());
    for node in &model.nodes {
        let at = |id: NodeId| facts[usize::from(id.0)];
        facts.push(match *node {
            Node::Fixed(_) | Node::Identity(_) | Node::Cross(..) => (0, true),
            Node::Chosen(chosen) => (1 << chosen as u8, true),
            Node::Or(a, b) | Node::And(a, b) | Node::Seq(a, b) => {
                (at(a).0 | at(b).0, at(a).1 && at(b).1)
            }
            Node::Minus(a, b) => (at(a).0 | at(b).0, at(a).1 && at(b).0 == 0),
            Node::Inverse(a) | Node::Plus(a) => at(a),
        });
    }
    let at = |id: NodeId| facts[usize::from(id.0)];
    model.axioms.iter().all(|axiom| {
        let node = axiom.constraint.node();
        if at(node).1 {
            return true;
        }
        let (Constraint::Empty(_), Node::Minus(a, b)) = (axiom.constraint, model.node(node)) else {
            return false;
        };
        let (depends, grows) = at(a);
        grows
            && match model.node(b) {
                Node::Chosen(Chosen::Co) => depends & CO == 0,
                Node::Chosen(Chosen::Fsc) => true,
                Node::Chosen(Chosen::Rf | Chosen::Fr)
                | Node::Fixed(_)
                | Node::Identity(_)
                | Node::Cross(..)
                | Node::Or(..)
                | Node::And(..)
                | Node::Minus(..)
                | Node::Seq(..)
                | Node::Inverse(_)
                | Node::Plus(_) => false,
            }
    })
}
