//! The spellings of fences of proxies, of one state space and of one operation.

use std::sync::LazyLock;

use crate::production::{ModifierSlot, Production};
use crate::productions;
use crate::qualifier::Qualifier;
use crate::version::{PtxIsa, Target};

/// A fence of proxies, of one state space or of one operation: an instruction of its own.
#[derive(Clone, Debug)]
pub struct Spelling {
    /// The parts after the opcode, in the order of the document.
    pub parts: Vec<&'static str>,
    /// Whether the address and size of a tensor map follow.
    pub operands: bool,
    pub isa: PtxIsa,
    pub sm: u16,
    /// Why the document does not have it, although ptxas takes it; empty if it does.
    pub(crate) why: &'static str,
}

/// What is said of a fence that the document does not have.
pub(crate) struct FenceAdvice {
    pub(crate) code: &'static str,
    /// What ptxas does with it.
    pub(crate) ptxas: &'static str,
    pub(crate) help: &'static str,
}

impl Spelling {
    /// Whether litmus tests execute it: the fabric is not modelled.
    pub fn is_modelled(&self) -> bool {
        !self.parts.iter().any(|part| part.contains("fabric"))
    }

    /// What is said of it if the document does not have it.
    pub(crate) fn advice(&self) -> FenceAdvice {
        match self.parts[1] {
            "tensormap::generic" => FenceAdvice {
                code: "fence-acq-rel",
                ptxas: "ptxas makes a release of it",
                help: "fence.proxy.tensormap::generic.release.gpu, or `.acquire.gpu [a], 128`",
            },
            "async::generic" => FenceAdvice {
                code: "fence-document",
                ptxas: "ptxas takes it",
                help: "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster, or `.acquire.sync_restrict::shared::cluster.cluster`",
            },
            _ => FenceAdvice {
                code: "fence-document",
                ptxas: "ptxas takes it",
                help: "fence.proxy.generic::fabric.alias.release.sys, or `.acquire.sys`",
            },
        }
    }

    /// All that a production stands for.
    fn of(production: &Production) -> Vec<Spelling> {
        let mut all: Vec<Vec<&str>> = vec![Vec::new()];
        for ModifierSlot { optional, choices, .. } in &production.slots {
            let words = choices.iter().map(|choice| &choice.words[..]);
            let words: Vec<&[&str]> =
                optional.then_some(&[][..]).into_iter().chain(words).collect();
            all = all
                .iter()
                .flat_map(|parts| words.iter().map(move |words| [parts, *words].concat()))
                .collect();
        }
        let spelling = |parts| Spelling {
            parts,
            operands: production.has_operands(),
            isa: production.gate.isa.unwrap_or(PtxIsa::new(1, 0)),
            sm: production.gate.targets.parse().unwrap_or(0),
            why: production.document().unwrap_or_default(),
        };
        all.into_iter().map(spelling).collect()
    }
}

/// Those of the document, and those that only ptxas takes.
static SPELLINGS: LazyLock<(Vec<Spelling>, Vec<Spelling>)> = LazyLock::new(|| {
    let all = productions::fences().flat_map(|production| Spelling::of(&production));
    all.partition(|spelling| spelling.why.is_empty())
});

/// All that the document has.
pub fn all() -> &'static [Spelling] {
    &SPELLINGS.0
}

/// A word that ptxas takes in some fences without looking at it, and the document has in none of these.
struct IgnoredWord {
    word: &'static str,
    isa: PtxIsa,
    sm: u16,
    /// Of which fences, by the other parts after the opcode.
    of: fn(&[&str]) -> bool,
}

const IGNORED: &[IgnoredWord] = &[
    IgnoredWord { word: "async", isa: PtxIsa::new(8, 0), sm: 90, of: |rest| rest[0] != "proxy" },
    IgnoredWord { word: "global", isa: PtxIsa::new(8, 0), sm: 90, of: has_two_proxies },
    IgnoredWord { word: "shared::cta", isa: PtxIsa::new(8, 0), sm: 90, of: has_two_proxies },
    IgnoredWord {
        word: "sync_restrict::shared::cta",
        isa: PtxIsa::new(8, 6),
        sm: 90,
        of: |rest| is_unrestricted(rest) || rest.contains(&"mbarrier_init"),
    },
    IgnoredWord {
        word: "sync_restrict::shared::cluster",
        isa: PtxIsa::new(8, 6),
        sm: 90,
        of: |rest| is_unrestricted(rest) || rest.contains(&"mbarrier_init"),
    },
    IgnoredWord {
        word: "sync_restrict::shared::cluster::read",
        isa: PtxIsa::new(9, 4),
        sm: 90,
        of: is_unrestricted,
    },
];

/// Fences from one proxy to another.
fn has_two_proxies(rest: &[&str]) -> bool {
    rest[0] == "proxy" && rest.iter().any(|part| part.contains("::")) && !rest.contains(&"async")
}

/// Fences of proxies that have no restriction.
fn is_unrestricted(rest: &[&str]) -> bool {
    rest[0] == "proxy" && !rest.contains(&"async::generic")
}

/// Which of these parts after the opcode ptxas does not look at, for this version and target; what is left may still be wrong.
pub(crate) fn ignored(parts: &[&str], isa: PtxIsa, target: Option<Target>) -> Option<usize> {
    parts
        .iter()
        .enumerate()
        .skip(1)
        .position(|(at, part)| {
            let rest = [&parts[..at], &parts[at + 1..]].concat();
            let known = IGNORED.iter().find(|known| known.word == *part);
            known.is_some_and(|known| {
                isa >= known.isa
                    && target.is_none_or(|target| target.sm >= known.sm)
                    && (known.of)(&rest)
            })
        })
        .map(|at| at + 1)
}

/// Whether some fence has this word.
pub(crate) fn is_word(part: &str) -> bool {
    let (known, undocumented) = &*SPELLINGS;
    known.iter().chain(undocumented).any(|known| known.parts.contains(&part))
        || IGNORED.iter().any(|known| known.word == part)
        || Qualifier::named(part).is_some()
}

/// The fence without a page that these parts after the opcode are, and which of them it is about.
pub(crate) fn undocumented(parts: &[&str]) -> Option<(&'static Spelling, usize)> {
    let fence = SPELLINGS.1.iter().find(|fence| fence.parts == parts)?;
    let order = parts.iter().position(|part| *part == "acq_rel");
    Some((fence, order.unwrap_or(parts.len() - 1)))
}

/// What is said of a fence that is not one of them.
pub const UNKNOWN: &str = "unknown fence";
/// What stands in its place.
pub const EXPECTED: &str = "expected a proxy fence, or a fence of a state space or of an operation";

/// The spelling that these parts after the opcode are, if they are one. They stand in any order, `proxy` first.
pub fn spelled(parts: &[&str]) -> Option<&'static Spelling> {
    all().iter().find(|spelling| {
        let there = |known: &&str| parts.iter().filter(|part| part == &known).count() == 1;
        let first = spelling.parts[0];
        parts.len() == spelling.parts.len()
            && spelling.parts.iter().all(there)
            && (first != "proxy" || parts[0] == first)
    })
}

/// The names of all of them.
pub fn names() -> impl Iterator<Item = String> {
    all().iter().map(|spelling| format!("fence.{}", spelling.parts.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_is_found_by_all_of_its_parts() {
        let parts = |name: &str| spelled(&name.split('.').skip(1).collect::<Vec<_>>());
        let found = |name: &str| parts(name).map(|s| (s.operands, s.sm));
        assert_eq!(found("fence.proxy.alias"), Some((false, 70)));
        assert_eq!(found("fence.proxy.tensormap::generic.acquire.gpu"), Some((true, 90)));
        assert_eq!(found("fence.proxy.tensormap::generic.acquire"), None);
        assert_eq!(found("fence.proxy"), None);
        let newest = "fence.release.alias.sys.sync_restrict::read";
        assert_eq!(found(newest), Some((false, 90)));
        assert_eq!(found("fence.alias.proxy"), None);
        assert_eq!(found("fence.release.release.sync_restrict::shared::cta"), None);
        let in_order = |name: &str| parts(name).map(|s| s.parts.join("."));
        assert_eq!(in_order(newest).as_deref(), Some("alias.sync_restrict::read.release.sys"));
        assert_eq!(
            in_order("fence.proxy.gpu.tensormap::generic.release").as_deref(),
            Some("proxy.tensormap::generic.release.gpu")
        );
    }

    #[test]
    fn what_only_ptxas_has_is_no_spelling() {
        let found = |name: &str| {
            let parts: Vec<&str> = name.split('.').skip(1).collect();
            assert!(spelled(&parts).is_none(), "{name}");
            undocumented(&parts).map(|(fence, at)| (fence.advice().code, at))
        };
        assert_eq!(found("fence.proxy.tensormap::generic.acq_rel.gpu"), Some(("fence-acq-rel", 2)));
        let restricted = "fence.proxy.async::generic.acq_rel.sync_restrict::shared::cta.sys";
        assert_eq!(found(restricted), Some(("fence-document", 2)));
        let read = "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read";
        assert_eq!(found(&format!("{read}.cta")), Some(("fence-document", 4)));
        assert_eq!(found(&format!("{read}.gpu")), None);
        assert_eq!(found("fence.proxy.tensormap::generic.acq_rel.gl"), None);
        let ignored = |name: &str| {
            let parts: Vec<&str> = name.split('.').skip(1).collect();
            ignored(&parts, PtxIsa::new(9, 3), None)
        };
        assert_eq!(ignored("fence.sc.sys.async"), Some(2));
        assert_eq!(ignored("fence.proxy.async"), None);
        assert_eq!(ignored("fence.proxy.alias.sync_restrict::shared::cta"), Some(2));
        assert_eq!(ignored("fence.proxy.alias.sync_restrict::shared::cluster::read"), None);
        assert_eq!(ignored("fence.proxy.alias.global"), None);
        assert_eq!(ignored("fence.proxy.tensormap::generic.release.gpu.global"), Some(4));
        assert_eq!(ignored("fence.acquire.gpu.sync_restrict::shared::cluster"), None);
    }
}
