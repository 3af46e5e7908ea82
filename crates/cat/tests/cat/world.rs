//! Models run on random relations.

use model::algebra::Algebra;
use model::bits::BitRel;
use model::given::{Chosen, Fixed, Tag};
use model::rel::{DefinitionBody, Model, NodeId, SetId};

/// Small relations for every given name.
pub(crate) struct World {
    pub(crate) events: usize,
    tags: Vec<u64>,
    pub(crate) fixed: Vec<BitRel<u64>>,
    chosen: Vec<BitRel<u64>>,
    sets: Vec<u64>,
}

impl World {
    pub(crate) fn random(events: usize, seed: &mut u64) -> World {
        let mut next = || {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *seed >> 33
        };
        let full = (1_u64 << events) - 1;
        let mut relation = || {
            let mut relation = BitRel::empty(events);
            for row in &mut relation.rows {
                *row = next() & next() & full;
            }
            relation
        };
        let fixed = Fixed::ALL.iter().map(|_| relation()).collect();
        let mut chosen: Vec<BitRel<u64>> = Chosen::ALL.iter().map(|_| relation()).collect();
        let co = Chosen::Co as usize;
        chosen[co] = chosen[co].plus();
        let tag = |tag: &Tag| if *tag == Tag::All { full } else { next() & full };
        let tags = Tag::ALL.iter().map(tag).collect();
        World { events, tags, fixed, chosen, sets: Vec::new() }
    }

    pub(crate) fn values(&self, model: &Model) -> Vec<BitRel<u64>> {
        let sets = model.eval_sets(|tag| self.tags[tag as usize]);
        let (tags, fixed, chosen) = (self.tags.clone(), self.fixed.clone(), self.chosen.clone());
        model.eval(&mut World { events: self.events, tags, fixed, chosen, sets })
    }

    /// The relations of all axioms and flags, by name.
    pub(crate) fn verdicts(&self, model: &Model) -> Vec<(String, BitRel<u64>)> {
        let values = self.values(model);
        let at = |node: NodeId| values[usize::from(node.0)].clone();
        let axioms = model.axioms.iter().map(|a| (a.name.clone(), at(a.constraint.node())));
        let flags = model.flags.iter().map(|flag| (flag.name.clone(), at(flag.node)));
        axioms.chain(flags).collect()
    }

    pub(crate) fn value_of(&self, model: &Model, name: &str) -> BitRel<u64> {
        let definition = model.definitions.iter().find(|definition| definition.name == name);
        match definition.expect("it is defined").body {
            DefinitionBody::Rel(node) => self.values(model)[usize::from(node.0)].clone(),
            DefinitionBody::Set(_) => panic!("a set"),
        }
    }
}

impl Algebra for World {
    type Rel = BitRel<u64>;

    fn fixed(&mut self, fixed: Fixed) -> Self::Rel {
        self.fixed[fixed as usize].clone()
    }
    fn chosen(&mut self, chosen: Chosen) -> Self::Rel {
        self.chosen[chosen as usize].clone()
    }
    fn identity(&mut self, set: SetId) -> Self::Rel {
        BitRel::identity(self.sets[usize::from(set.0)], self.events)
    }
    fn cross(&mut self, from: SetId, to: SetId) -> Self::Rel {
        let at = |set: SetId| self.sets[usize::from(set.0)];
        BitRel::cross(at(from), at(to), self.events)
    }
    fn or(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel {
        a.or(b)
    }
    fn and(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel {
        a.and(b)
    }
    fn minus(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel {
        a.minus(b)
    }
    fn seq(&mut self, a: &Self::Rel, b: &Self::Rel) -> Self::Rel {
        a.seq(b)
    }
    fn inverse(&mut self, a: &Self::Rel) -> Self::Rel {
        a.inverse()
    }
    fn plus(&mut self, a: &Self::Rel) -> Self::Rel {
        a.plus()
    }
}
