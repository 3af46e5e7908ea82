//! The algebra of one candidate, over bits. The engines' plans are tested against it.

use execution::structure::EventStructure;
use model::algebra::Algebra;
use model::bits::{BitRel, BitRow};
use model::given::{Chosen, Fixed};
use model::rel::{Model, SetId};

/// The value of every node of a model, for one candidate after another of a structure.
pub struct NodeValues<'a, R> {
    model: &'a Model,
    /// The chosen relations that each node depends on.
    dependences: Vec<u8>,
    candidate: Concrete<'a, R>,
    /// The values for the last candidate; empty before the first one.
    values: Vec<BitRel<R>>,
}

impl<'a, R: BitRow> NodeValues<'a, R> {
    pub fn new(model: &'a Model, structure: &'a EventStructure<'a, R>) -> NodeValues<'a, R> {
        let sets = model.eval_sets(|tag| structure.tag(tag));
        let chosen = std::array::from_fn(|_| BitRel::empty(structure.events()));
        NodeValues {
            model,
            dependences: model.dependences(),
            candidate: Concrete { structure, sets, chosen },
            values: Vec::new(),
        }
    }

    /// The values for a candidate: of its relations in the order of [`Chosen::ALL`], co and fsc closed. Nodes that depend
    /// on none that differs from the last candidate keep their values.
    pub fn eval(&mut self, chosen: [&BitRel<R>; 4]) -> &[BitRel<R>] {
        let mut changed = 0;
        for (index, (last, new)) in self.candidate.chosen.iter_mut().zip(chosen).enumerate() {
            if last != new {
                last.clone_from(new);
                changed |= 1_u8 << index;
            }
        }
        if self.values.is_empty() {
            self.values = self.model.eval(&mut self.candidate);
            return &self.values;
        }
        for (index, (node, depends)) in self.model.nodes.iter().zip(&self.dependences).enumerate() {
            if depends & changed != 0 {
                self.values[index] = node.eval(&mut self.candidate, &self.values);
            }
        }
        &self.values
    }
}

/// One candidate; its chosen relations as rows, co and fsc closed.
struct Concrete<'a, R> {
    structure: &'a EventStructure<'a, R>,
    sets: Vec<R>,
    /// In the order of [`Chosen::ALL`].
    chosen: [BitRel<R>; 4],
}

impl<R: BitRow> Algebra for Concrete<'_, R> {
    type Rel = BitRel<R>;

    fn fixed(&mut self, fixed: Fixed) -> BitRel<R> {
        self.structure.fixed(fixed).clone()
    }
    fn chosen(&mut self, chosen: Chosen) -> BitRel<R> {
        self.chosen[chosen as usize].clone()
    }
    fn identity(&mut self, set: SetId) -> BitRel<R> {
        BitRel::identity(self.sets[usize::from(set.0)], self.structure.events())
    }
    fn cross(&mut self, from: SetId, to: SetId) -> BitRel<R> {
        let at = |set: SetId| self.sets[usize::from(set.0)];
        BitRel::cross(at(from), at(to), self.structure.events())
    }
    fn or(&mut self, a: &BitRel<R>, b: &BitRel<R>) -> BitRel<R> {
        a.or(b)
    }
    fn and(&mut self, a: &BitRel<R>, b: &BitRel<R>) -> BitRel<R> {
        a.and(b)
    }
    fn minus(&mut self, a: &BitRel<R>, b: &BitRel<R>) -> BitRel<R> {
        a.minus(b)
    }
    fn seq(&mut self, a: &BitRel<R>, b: &BitRel<R>) -> BitRel<R> {
        a.seq(b)
    }
    fn inverse(&mut self, a: &BitRel<R>) -> BitRel<R> {
        a.inverse()
    }
    fn plus(&mut self, a: &BitRel<R>) -> BitRel<R> {
        a.plus()
    }
}
