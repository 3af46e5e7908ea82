//! What brought an instruction, a modifier or an operand: a version of PTX, and targets.

use std::ops::RangeInclusive;

use crate::version::{PtxIsa, Target};

/// What brought a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ProductionGate {
    pub(crate) isa: Option<PtxIsa>,
    /// As it is written; empty for any target.
    pub(crate) targets: &'static str,
}

impl ProductionGate {
    /// Whether the targets have this one, in this version of PTX.
    pub(crate) fn admits(self, target: Target, isa: PtxIsa) -> bool {
        self.targets.is_empty() || self.targets.split('|').any(|one| admits(one, target, isa))
    }
}

/// A name for targets with a letter.
struct TargetSet {
    name: &'static str,
    sm: &'static [RangeInclusive<u16>],
    letters: &'static [char],
    words: &'static str,
}

#[rustfmt::skip]
const TARGET_SETS: [TargetSet; 10] = [
    TargetSet { name: "90a", sm: &[90..=90], letters: &['a'], words: "sm_90a" },
    TargetSet { name: "100a", sm: &[100..=119], letters: &['a'], words: "sm_100a or another `a` of 100 to 119" },
    TargetSet { name: "100f", sm: &[100..=119], letters: &['a', 'f'], words: "sm_100f, sm_100a, or another `f` or `a` of 100 to 119" },
    TargetSet { name: "101f", sm: &[101..=119], letters: &['a', 'f'], words: "sm_103f, sm_103a, or another `f` or `a` of 101 to 119" },
    TargetSet { name: "103a", sm: &[103..=103], letters: &['a'], words: "sm_103a" },
    TargetSet { name: "103f", sm: &[100..=109], letters: &['a', 'f'], words: "sm_100f, sm_100a, or another `f` or `a` of 100 to 109" },
    TargetSet { name: "107a", sm: &[107..=107], letters: &['a'], words: "sm_107a" },
    TargetSet { name: "107f", sm: &[107..=107], letters: &['a', 'f'], words: "sm_107f or sm_107a" },
    TargetSet { name: "110a", sm: &[100..=101, 110..=110], letters: &['a'], words: "sm_100a or sm_110a" },
    TargetSet { name: "120f", sm: &[120..=129], letters: &['a', 'f'], words: "sm_120f, sm_120a, or another `f` or `a` of 120 to 129" },
];

impl TargetSet {
    fn named(name: &str) -> Option<&'static TargetSet> {
        TARGET_SETS.iter().find(|set| set.name == name)
    }

    fn has(&self, target: Target) -> bool {
        self.sm.iter().any(|range| range.contains(&target.sm))
            && target.variant.is_some_and(|letter| self.letters.contains(&letter))
    }
}

/// Without `.sync`.
const BEFORE_SYNC: &str = "pre70";

fn admits(one: &str, target: Target, isa: PtxIsa) -> bool {
    if one == BEFORE_SYNC {
        return target.sm < 70 || isa < PtxIsa::new(6, 4);
    }
    match TargetSet::named(one) {
        Some(set) => set.has(target),
        None => one.parse().is_ok_and(|least: u16| target.sm >= least),
    }
}

/// The targets of a gate in words.
pub(crate) fn target_names(targets: &str) -> String {
    let words = |one: &str| match TargetSet::named(one) {
        Some(set) => set.words.to_owned(),
        None if one == BEFORE_SYNC => {
            "a target below sm_70; later ones require `.sync` from PTX ISA 6.4 on".to_owned()
        }
        None => format!("sm_{one} or higher"),
    };
    targets.split('|').map(words).collect::<Vec<_>>().join("; ")
}

/// `shared::cta@7.8/30` as a word and its gate.
pub(super) fn gate(text: &'static str) -> Option<(&'static str, ProductionGate)> {
    let Some((word, written)) = text.split_once('@') else {
        return Some((text, ProductionGate::default()));
    };
    let (isa, targets) = written.split_once('/').unwrap_or((written, ""));
    let isa = if isa.is_empty() { None } else { Some(PtxIsa::parse(isa)?) };
    Some((word, ProductionGate { isa, targets }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_numbers_or_families() {
        let admits = |targets: &'static str, target| {
            let target = Target::parse(target).expect("a target");
            ProductionGate { isa: None, targets }.admits(target, PtxIsa::NEWEST)
        };
        assert!(admits("90", "sm_100a") && !admits("90", "sm_89"));
        assert!(admits("90a|100f", "sm_103f") && admits("90a|100f", "sm_90a"));
        assert!(!admits("90a|100f", "sm_90") && !admits("90a|100f", "sm_120a"));
        assert!(admits("103f", "sm_103a") && !admits("103f", "sm_110a"));
        assert!(
            admits("120f", "sm_121a") && !admits("100a", "sm_100f") && !admits("107a", "sm_107f")
        );
        assert!(
            admits("101f", "sm_103f") && !admits("101f", "sm_100a") && !admits("101f", "sm_103")
        );
        assert!(admits("110a", "sm_100a") && !admits("110a", "sm_103a"));
        assert!(admits("pre70", "sm_60") && !admits("pre70", "sm_70"));
    }
}
