//! The spellings of fences of proxies, of one state space and of one operation.

use crate::qualifier::Qualifier;
use crate::version::{PtxIsa, Target};
use model::scope::Scope;

/// A fence of proxies, of one state space or of one operation: an instruction of its own.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    /// The parts after the opcode; `*` is any scope.
    pub parts: &'static [&'static str],
    /// Whether the address and size of a tensor map follow.
    pub operands: bool,
    pub isa: PtxIsa,
    pub sm: u16,
}

impl Spelling {
    /// Whether litmus tests execute it: the fabric is not modelled.
    pub fn is_modelled(&self) -> bool {
        !self.parts.iter().any(|part| part.contains("fabric"))
    }
}

macro_rules! spellings {
    ($($($part:literal)+, $operands:literal, $major:literal . $minor:literal, sm_ $sm:literal;)*) => {
        &[$(Spelling {
            parts: &[$($part),+],
            operands: $operands,
            isa: PtxIsa::new($major, $minor),
            sm: $sm,
        }),*]
    };
}

/// All of them, with what brought them.
pub static SPELLINGS: &[Spelling] = spellings! {
    "proxy" "alias", false, 7 . 5, sm_ 70;
    "proxy" "async", false, 8 . 0, sm_ 90;
    "proxy" "async" "global", false, 8 . 0, sm_ 90;
    "proxy" "async" "shared::cta", false, 8 . 0, sm_ 90;
    "proxy" "async" "shared::cluster", false, 8 . 0, sm_ 90;
    "proxy" "tensormap::generic" "release" "*", false, 8 . 3, sm_ 90;
    "proxy" "tensormap::generic" "acquire" "*", true, 8 . 3, sm_ 90;
    "proxy" "async::generic" "acquire" "sync_restrict::shared::cluster" "cluster", false, 8 . 6, sm_ 90;
    "proxy" "async::generic" "release" "sync_restrict::shared::cta" "cluster", false, 8 . 6, sm_ 90;
    "proxy" "async::generic" "release" "sync_restrict::shared::cluster::read" "cluster", false, 9 . 4, sm_ 90;
    "proxy" "generic::fabric" "alias" "acquire" "sys", false, 9 . 3, sm_ 100;
    "proxy" "generic::fabric" "alias" "release" "sys", false, 9 . 3, sm_ 100;
    "proxy" "fabric::generic" "alias" "acquire" "sys", false, 9 . 3, sm_ 100;
    "proxy" "fabric::generic" "alias" "release" "sys", false, 9 . 3, sm_ 100;
    "proxy" "fabric::fabric" "alias" "acquire" "sys", false, 9 . 3, sm_ 100;
    "proxy" "fabric::fabric" "alias" "release" "sys", false, 9 . 3, sm_ 100;
    "proxy" "alias" "acquire" "sys", false, 9 . 4, sm_ 90;
    "proxy" "alias" "release" "sys", false, 9 . 4, sm_ 90;
    "alias" "sync_restrict::read" "release" "sys", false, 9 . 5, sm_ 90;
    "acquire" "sync_restrict::shared::cluster" "cluster", false, 8 . 6, sm_ 90;
    "release" "sync_restrict::shared::cta" "cluster", false, 8 . 6, sm_ 90;
    "mbarrier_init" "release" "cluster", false, 8 . 0, sm_ 90;
};

/// A fence that ptxas takes and the document does not have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UndocumentedFence {
    /// The parts after the opcode; a scope follows them.
    parts: &'static [&'static str],
    scopes: &'static [&'static str],
    pub(crate) isa: PtxIsa,
    pub(crate) sm: u16,
    pub(crate) code: &'static str,
    pub(crate) why: &'static str,
    /// What ptxas does with it.
    pub(crate) ptxas: &'static str,
    pub(crate) help: &'static str,
}

/// One with `.acq_rel` and `.sync_restrict`.
const fn restricted(parts: &'static [&'static str], isa: PtxIsa) -> UndocumentedFence {
    UndocumentedFence {
        parts,
        scopes: &Scope::NAMES,
        isa,
        sm: 90,
        code: "fence-document",
        why: "a fence with `.sync_restrict` is a release or an acquire, of `.cluster` scope",
        ptxas: "ptxas takes it",
        help: "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster, or `.acquire.sync_restrict::shared::cluster.cluster`",
    }
}

/// One of the fabric, with `.acq_rel`.
const fn of_fabric(parts: &'static [&'static str]) -> UndocumentedFence {
    UndocumentedFence {
        parts,
        scopes: &["gpu", "sys"],
        isa: PtxIsa::new(9, 3),
        sm: 100,
        code: "fence-document",
        why: "a fence of the fabric is a release or an acquire, of `.sys` scope",
        ptxas: "ptxas takes it",
        help: "fence.proxy.generic::fabric.alias.release.sys, or `.acquire.sys`",
    }
}

const UNDOCUMENTED: &[UndocumentedFence] = &[
    of_fabric(&["proxy", "generic::fabric", "alias", "acq_rel"]),
    of_fabric(&["proxy", "fabric::generic", "alias", "acq_rel"]),
    of_fabric(&["proxy", "fabric::fabric", "alias", "acq_rel"]),
    UndocumentedFence {
        parts: &["proxy", "tensormap::generic", "acq_rel"],
        scopes: &Scope::NAMES,
        isa: PtxIsa::new(8, 3),
        sm: 90,
        code: "fence-acq-rel",
        why: "a fence of tensor maps is a release or an acquire",
        ptxas: "ptxas makes a release of it",
        help: "fence.proxy.tensormap::generic.release.gpu, or `.acquire.gpu [a], 128`",
    },
    restricted(
        &["proxy", "async::generic", "acq_rel", "sync_restrict::shared::cta"],
        PtxIsa::new(8, 6),
    ),
    restricted(
        &["proxy", "async::generic", "acq_rel", "sync_restrict::shared::cluster"],
        PtxIsa::new(8, 6),
    ),
    restricted(
        &["proxy", "async::generic", "acq_rel", "sync_restrict::shared::cluster::read"],
        PtxIsa::new(9, 4),
    ),
    UndocumentedFence {
        scopes: &["cta"],
        ..restricted(
            &["proxy", "async::generic", "release", "sync_restrict::shared::cluster::read"],
            PtxIsa::new(9, 4),
        )
    },
];

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
    let written = |parts: &[&str]| parts.contains(&part);
    SPELLINGS.iter().any(|known| written(known.parts))
        || UNDOCUMENTED.iter().any(|known| written(known.parts))
        || IGNORED.iter().any(|known| known.word == part)
        || Qualifier::named(part).is_some()
}

/// The fence without a page that these parts after the opcode are, and which of them it is about.
pub(crate) fn undocumented<'a>(
    parts: &(impl Iterator<Item = &'a str> + Clone),
) -> Option<(&'static UndocumentedFence, usize)> {
    UNDOCUMENTED.iter().find_map(|fence| {
        let mut written = parts.clone();
        let same = fence.parts.iter().all(|known| written.next() == Some(known));
        let scope = written.next()?;
        let whole = same && fence.scopes.contains(&scope) && written.next().is_none();
        let order = fence.parts.iter().position(|part| *part == "acq_rel");
        whole.then_some((fence, order.unwrap_or(fence.parts.len())))
    })
}

/// What is said of a fence that is not one of them.
pub const UNKNOWN: &str = "unknown fence";
/// What stands in its place.
pub const EXPECTED: &str = "expected a proxy fence, or a fence of a state space or of an operation";

/// The spelling that these parts after the opcode are, if they are one. They stand in any order, `proxy` first.
pub fn spelled<'a>(parts: &(impl Iterator<Item = &'a str> + Clone)) -> Option<&'static Spelling> {
    let is =
        |part: &str, known: &str| part == known || known == "*" && Scope::NAMES.contains(&part);
    SPELLINGS.iter().find(|spelling| {
        let there = |known: &&str| parts.clone().filter(|part| is(part, known)).count() == 1;
        let first = spelling.parts[0];
        parts.clone().count() == spelling.parts.len()
            && spelling.parts.iter().all(there)
            && (first != "proxy" || parts.clone().next() == Some(first))
    })
}

/// The same parts in the order in which the document writes them.
pub fn in_order<'a>(parts: &(impl Iterator<Item = &'a str> + Clone)) -> Option<Vec<&'a str>> {
    let place = |part: &str| {
        let known = spelled(parts)?.parts;
        known.iter().position(|one| *one == part).or(known.iter().position(|one| *one == "*"))
    };
    let mut all: Vec<(usize, &str)> =
        parts.clone().map(|part| Some((place(part)?, part))).collect::<Option<_>>()?;
    all.sort_unstable();
    Some(all.into_iter().map(|(_, part)| part).collect())
}

/// The names of all of them, with some scope.
pub fn names() -> impl Iterator<Item = String> {
    SPELLINGS.iter().map(|spelling| {
        let parts = spelling.parts.iter().map(|part| if *part == "*" { "gpu" } else { part });
        ["fence"].into_iter().chain(parts).collect::<Vec<_>>().join(".")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_is_found_by_all_of_its_parts() {
        let found = |name: &str| spelled(&name.split('.').skip(1)).map(|s| (s.operands, s.sm));
        assert_eq!(found("fence.proxy.alias"), Some((false, 70)));
        assert_eq!(found("fence.proxy.tensormap::generic.acquire.gpu"), Some((true, 90)));
        assert_eq!(found("fence.proxy.tensormap::generic.acquire"), None);
        assert_eq!(found("fence.proxy"), None);
        let newest = "fence.release.alias.sys.sync_restrict::read";
        assert_eq!(found(newest), Some((false, 90)));
        assert_eq!(found("fence.alias.proxy"), None);
        assert_eq!(found("fence.release.release.sync_restrict::shared::cta"), None);
        assert_eq!(
            in_order(&newest.split('.').skip(1)),
            Some(vec!["alias", "sync_restrict::read", "release", "sys"])
        );
        assert_eq!(
            in_order(&"proxy.gpu.tensormap::generic.release".split('.')),
            Some(vec!["proxy", "tensormap::generic", "release", "gpu"])
        );
    }

    #[test]
    fn what_only_ptxas_has_is_no_spelling() {
        let found = |name: &str| {
            let parts = name.split('.').skip(1);
            assert!(spelled(&parts).is_none(), "{name}");
            undocumented(&parts).map(|(fence, at)| (fence.code, at))
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
