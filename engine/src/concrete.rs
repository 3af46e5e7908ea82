//! The algebra of one candidate, over bits. The engines' plans are tested against it.

use execution::structure::EventStructure;
use model::algebra::Algebra;
use model::bits::{BitRel, BitRow};
use model::given::{Chosen, Fixed};
use model::rel::{Model, SetId};

/// One candidate; its chosen relations as rows, co and fsc closed.
pub struct Concrete<'a, R> {
    structure: &'a EventStructure<'a, R>,
    sets: Vec<R>,
    chosen: [BitRel<R>; 4],
}

impl<'a, R: BitRow> Concrete<'a, R> {
    /// `chosen` in the order of [`Chosen::ALL`].
    pub fn new(
        model: &Model,
        structure: &'a EventStructure<'a, R>,
        chosen: [BitRel<R>; 4],
    ) -> Concrete<'a, R> {
        let sets = model.eval_sets(|tag| structure.tag(tag));
        Concrete { structure, sets, chosen }
    }
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
