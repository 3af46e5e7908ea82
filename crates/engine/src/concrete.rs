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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::explain::candidate::{Candidate, Visitor, WantedCandidates, candidates};

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
