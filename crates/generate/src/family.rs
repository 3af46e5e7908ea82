//! The names that the field has for cycles.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::cycle::CycleShape;
use crate::notation;

/// Each family, and the cycle of its tests.
pub const FAMILIES: [(&str, &str); 33] = [
    ("MP", "PodWW Rfe PodRR Fre"),
    ("SB", "PodWR Fre PodWR Fre"),
    ("LB", "PodRW Rfe PodRW Rfe"),
    ("R", "PodWW Coe PodWR Fre"),
    ("S", "PodWW Rfe PodRW Coe"),
    ("2+2W", "PodWW Coe PodWW Coe"),
    ("3.SB", "PodWR Fre PodWR Fre PodWR Fre"),
    ("3.LB", "PodRW Rfe PodRW Rfe PodRW Rfe"),
    ("3.2W", "PodWW Coe PodWW Coe PodWW Coe"),
    ("ISA2", "PodWW Rfe PodRW Rfe PodRR Fre"),
    ("W+RWC", "PodWW Rfe PodRR Fre PodWR Fre"),
    ("Z6.0", "PodWW Rfe PodRW Coe PodWR Fre"),
    ("Z6.1", "PodWW Coe PodWW Rfe PodRW Coe"),
    ("Z6.2", "PodWW Rfe PodRW Rfe PodRW Coe"),
    ("Z6.3", "PodWW Coe PodWW Rfe PodRR Fre"),
    ("Z6.4", "PodWW Coe PodWR Fre PodWR Fre"),
    ("Z6.5", "PodWW Coe PodWW Coe PodWR Fre"),
    ("WRC", "Rfe PodRW Rfe PodRR Fre"),
    ("RWC", "Rfe PodRR Fre PodWR Fre"),
    ("WWC", "Rfe PodRW Rfe PodRW Coe"),
    ("WRW+WR", "Rfe PodRW Coe PodWR Fre"),
    ("WRR+2W", "Rfe PodRR Fre PodWW Coe"),
    ("WRW+2W", "Rfe PodRW Coe PodWW Coe"),
    ("IRIW", "Rfe PodRR Fre Rfe PodRR Fre"),
    ("IRRWIW", "Rfe PodRR Fre Rfe PodRW Coe"),
    ("IRWIW", "Rfe PodRW Coe Rfe PodRW Coe"),
    ("4.SB", "PodWR Fre PodWR Fre PodWR Fre PodWR Fre"),
    ("4.LB", "PodRW Rfe PodRW Rfe PodRW Rfe PodRW Rfe"),
    ("4.2W", "PodWW Coe PodWW Coe PodWW Coe PodWW Coe"),
    ("CoRR", "Rfe PosRR Fre"),
    ("CoRW", "Rfe PosRW Coe"),
    ("CoWR", "PosWR Fre Coe"),
    ("CoWW", "PosWW Rfe PosRR Fre"),
];

/// The cycle of a family.
pub fn cycle(name: &str) -> Option<&'static str> {
    FAMILIES.iter().find(|(known, _)| *known == name).map(|(_, cycle)| *cycle)
}

/// The family of a cycle without fences and dependencies that begins as those of the family do.
pub fn of(plain: &CycleShape) -> Option<&'static str> {
    static SHAPES: LazyLock<FxHashMap<CycleShape, &'static str>> = LazyLock::new(|| {
        let shape = |cycle: &str| notation::read(cycle).expect("the families are cycles").shape;
        FAMILIES.iter().map(|&(name, cycle)| (shape(cycle), name)).collect()
    });
    SHAPES.get(plain).copied()
}

/// The name of a cycle without fences and dependencies: its family, or what its threads do.
pub fn name(plain: &CycleShape) -> String {
    of(plain).map_or_else(|| systematic(plain), str::to_owned)
}

/// A name for a cycle without a family: what each thread does, in its order.
fn systematic(shape: &CycleShape) -> String {
    let threads = shape.threads().into_iter().map(|accesses| {
        shape.directions[accesses].iter().map(|direction| direction.letter()).collect()
    });
    threads.collect::<Vec<String>>().join("+")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn families_are_different_cycles_that_begin_with_their_name() {
        let mut all = BTreeSet::new();
        for (name, words) in FAMILIES {
            let shape = notation::read(words).expect("it is a cycle").shape;
            assert_eq!(shape.to_string(), words, "{name}");
            assert_eq!(of(&shape), Some(name));
            let rotations = shape.threads().into_iter().map(|thread| shape.rotated(thread.start));
            assert!(all.insert(rotations.min()), "{name} is another family, too");
        }
    }

    #[test]
    fn a_cycle_without_a_family_has_a_name_of_its_threads() {
        let shape =
            notation::read("PodWW Rfe PodRW Rfe PodRW Rfe PodRR Fre").expect("a cycle").shape;
        assert_eq!(of(&shape), None);
        assert_eq!(systematic(&shape), "WW+RW+RW+RR");
    }
}
