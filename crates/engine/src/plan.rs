//! A model specialised to one event structure: relations that the program fixes are computed once.
//!
//! Each node of the model is bounded from above by the pairs that may be chosen. A node whose bound is empty,
//! or that does not depend on a chosen relation, is a constant. The other nodes are a short program that is run
//! for each candidate. Both axiomatic engines start from it.

mod build;
mod growth;

use execution::structure::EventStructure;
use model::bits::{self, BitRel, BitRow};
use model::given::{Chosen, Fixed, Tag};

pub use self::growth::{grows_with_choice, shrinks_with_choice};

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
pub enum PlanOp {
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
pub enum PlanCheck {
    Empty(usize),
    Irreflexive(usize),
    /// Of the composition of two nodes, which is not computed.
    IrreflexiveSeq(usize, usize),
    Acyclic(usize),
    /// The node and the inverse of the chosen order share no pair.
    Against(usize, Chosen),
    /// The node has no pair that the chosen order could not have: co or fence-sc.
    Outside(usize, Chosen),
}

/// An axiom as the plan checks it.
#[derive(Clone, Copy, Debug)]
pub struct PlannedAxiom {
    /// Index into [`model::rel::Model::axioms`].
    pub axiom: usize,
    pub check: PlanCheck,
    pub stage: Stage,
}

#[derive(Clone, Copy, Debug)]
pub struct PlannedFlag {
    /// Index into [`model::rel::Model::flags`].
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
    pub steps: Vec<(Stage, usize, PlanOp)>,
    pub axioms: Vec<PlannedAxiom>,
    /// Nodes whose pairs of writes coherence order has to contain: from axioms of the form
    /// "empty X - co", which hold by construction then.
    pub co_contains: Vec<usize>,
    /// What flags need beyond the axioms.
    pub flag_steps: Vec<(Stage, usize, PlanOp)>,
    /// Flags that some candidate may raise.
    pub flags: Vec<PlannedFlag>,
    /// The least co that every candidate has: initial writes first.
    pub co_least: BitRel<R>,
    /// What co and fence-sc may relate at most.
    pub most: [BitRel<R>; 2],
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

impl<R: BitRow> Bounds<R> {
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

impl<R: BitRow> Plan<R> {
    pub fn node(&self, node: usize) -> &[R] {
        &self.rows[node * self.events..(node + 1) * self.events]
    }
}

impl<R: BitRow> Plan<R> {
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

    /// What co, or else fence-sc, may relate at most.
    pub fn most(&self, chosen: Chosen) -> &BitRel<R> {
        &self.most[usize::from(chosen != Chosen::Co)]
    }

    /// Whether the axioms of one stage hold.
    pub fn holds(&self, stage: Stage) -> bool {
        self.axioms.iter().all(|axiom| axiom.stage != stage || self.check(axiom.check))
    }

    pub fn check(&self, check: PlanCheck) -> bool {
        match check {
            PlanCheck::Empty(node) => bits::is_empty(self.node(node)),
            PlanCheck::Irreflexive(node) => bits::is_irreflexive(self.node(node)),
            PlanCheck::Acyclic(node) => bits::is_acyclic(self.node(node)),
            PlanCheck::IrreflexiveSeq(a, b) => {
                let second = self.node(b);
                self.node(a)
                    .iter()
                    .enumerate()
                    .all(|(from, row)| row.events().all(|middle| !second[middle].has(from)))
            }
            PlanCheck::Outside(node, chosen) => {
                let most = self.most(chosen);
                self.node(node).iter().zip(&most.rows).all(|(a, b)| a.minus(*b).is_empty())
            }
            PlanCheck::Against(node, chosen) => {
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

fn step<R: BitRow>(rows: &mut [R], events: usize, node: usize, op: PlanOp) {
    // Operands stand before their use.
    let (before, after) = rows.split_at_mut(node * events);
    let out = &mut after[..events];
    let at = |node: usize| &before[node * events..(node + 1) * events];
    match op {
        PlanOp::Chosen(_) => {}
        PlanOp::Or(a, b) => bits::or(out, at(a), at(b)),
        PlanOp::And(a, b) => bits::and(out, at(a), at(b)),
        PlanOp::Minus(a, b) => bits::minus(out, at(a), at(b)),
        PlanOp::Seq(a, b) => bits::seq(out, at(a), at(b)),
        PlanOp::Inverse(a) => bits::inverse(out, at(a)),
        PlanOp::Plus(a) => {
            out.copy_from_slice(at(a));
            bits::close(out);
        }
    }
}
