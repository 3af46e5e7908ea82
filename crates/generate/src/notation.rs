//! Reads cycles: `PodWW ReleaseGpu Rfe AcquireGpu PodRR Fre @sys`, or the name of a family.
//!
//! The words are edges. An annotation stands between the edges that its access ends and begins, and `@` names where
//! the threads run.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use text::Diagnostic;
use text::cursor::short;
use text::report::{ByteSpan, Diagnostics};

use crate::access::{AccessForm, CycleAccess};
use crate::cycle::{Cycle, CycleShape};
use crate::family::{self, FAMILIES};
use crate::named;
use crate::places::Arrangement;
use crate::word::{Communication, CycleAnnotation, Direction, Link, Via};

/// What is written of an access. What is open may be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WrittenAccess {
    pub annotation: Option<CycleAnnotation>,
    pub form: Option<AccessForm>,
}

/// A cycle as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenCycle {
    pub shape: CycleShape,
    pub accesses: Vec<WrittenAccess>,
    pub arrangement: Option<Arrangement>,
}

/// What a word of a cycle says.
#[derive(Clone, Copy)]
enum Word {
    Edge(Link, Direction, Direction),
    Annotates(CycleAnnotation),
    Forms(AccessForm),
}

/// Every word.
static WORDS: LazyLock<FxHashMap<String, Word>> = LazyLock::new(|| {
    let mut words = FxHashMap::default();
    let both = [Direction::Read, Direction::Write];
    for how in Communication::ALL {
        // An access does not read what its thread writes later.
        let both = if how == Communication::InvRf { &[true][..] } else { &[true, false] };
        for &external in both {
            let (link, (from, to)) = (Link::Communicates { how, external }, how.ends());
            words.insert(link.word(from, to), Word::Edge(link, from, to));
            if how == Communication::Co {
                let old = if external { "Wse" } else { "Wsi" };
                words.insert(old.to_owned(), Word::Edge(link, from, to));
            }
        }
    }
    for (link, from, to) in [
        (Link::Rmw, Direction::Read, Direction::Write),
        (Link::InvRmw, Direction::Write, Direction::Read),
    ] {
        words.insert(link.word(from, to), Word::Edge(link, from, to));
    }
    for via in Via::all() {
        for (from, to) in both.into_iter().flat_map(|from| both.map(|to| (from, to))) {
            for same in [false, true] {
                if via.fits(from, to) {
                    let link = Link::Order { same, via };
                    words.insert(link.word(from, to), Word::Edge(link, from, to));
                }
            }
        }
    }
    for annotation in CycleAnnotation::all() {
        words.insert(annotation.word(), Word::Annotates(annotation));
        words.insert(annotation.name(), Word::Annotates(annotation));
    }
    for form in AccessForm::all() {
        words.insert(form.word(), Word::Forms(form));
        words.insert(form.name(), Word::Forms(form));
    }
    words
});

/// The name of the text of a cycle in messages.
const PATH: &str = "cycle";

/// Reads a cycle or the name of a family or of a test, or reports what is wrong with it.
pub fn read(text: &str) -> Result<WrittenCycle, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    if named::is_name(text) {
        return named::read(text).ok_or_else(|| {
            let whole = ByteSpan::new(0, text.len());
            report
                .error("cycle-name", whole, format!("no test has the name `{}`", short(text)))
                .note("a name has the family, what each thread has, and the placement: `MP+po-release.gpu+acquire.gpu-po+at-gpu`")
                .help("`causeway gen --list` prints the cycle of a test after its name, and the line `Orig=` of a test has it");
            report.finish(PATH, text)
        });
    }
    match cycle(text, &mut report) {
        Some(cycle) if report.count() == 0 => Ok(cycle),
        _ => Err(report.finish(PATH, text)),
    }
}

/// An edge of a cycle, and where it stands.
struct WrittenEdge {
    link: Link,
    from: Direction,
    to: Direction,
    at: ByteSpan,
}

fn cycle(text: &str, report: &mut Diagnostics) -> Option<WrittenCycle> {
    let mut edges: Vec<WrittenEdge> = Vec::new();
    // The number of edges before each.
    let mut words: Vec<AccessWord> = Vec::new();
    let mut place = None;
    for word in text.split([' ', '\t', '\n', '\r', ',']).filter(|word| !word.is_empty()) {
        let at = ByteSpan::within(text, word);
        if let Some(name) = word.strip_prefix('@') {
            if place.replace((name, at)).is_some() {
                report.error("cycle-place", at, "a cycle has one placement");
            }
        } else if let Some(known) = family::cycle(word) {
            if !edges.is_empty() || !words.is_empty() {
                report
                    .error("cycle-word", at, format!("`{word}` is a family, not an edge"))
                    .help(known);
                return None;
            }
            let known = read(known).expect("the families are cycles").shape;
            for index in 0..known.len() {
                let (from, to) =
                    (known.directions[index], known.directions[(index + 1) % known.len()]);
                edges.push(WrittenEdge { link: known.links[index], from, to, at });
            }
        } else {
            match WORDS.get(word) {
                Some(&Word::Edge(link, from, to)) => edges.push(WrittenEdge { link, from, to, at }),
                Some(&said @ (Word::Annotates(_) | Word::Forms(_))) => {
                    words.push(AccessWord { before: edges.len(), said, at });
                }
                None => {
                    let near = nearest(word, report);
                    report
                        .error("cycle-word", at, format!("unknown edge or family `{word}`"))
                        .help_if(near);
                }
            }
        }
    }
    let whole = ByteSpan::new(0, text.len());
    if edges.is_empty() {
        if report.count() == 0 {
            report
                .error("cycle-empty", whole, "expected the edges of a cycle, or a family")
                .help("PodWW Rfe PodRR Fre");
        }
        return None;
    }
    if report.count() > 0 {
        return None;
    }
    closed(&edges, report)?;
    let count = edges.len();
    let mut given = given_accesses(&edges, &words, report);
    let shape = CycleShape {
        directions: edges.iter().map(|edge| edge.from).collect(),
        links: edges.iter().map(|edge| edge.link).collect(),
    };
    if let Err(wrong) = shape.check() {
        let at = wrong.link.map_or(whole, |link| edges[link].at);
        report.error("cycle-shape", at, wrong.message).help(wrong.help);
        return None;
    }
    apart(&shape, &given, &edges, report);
    // A cycle begins where a thread does.
    let first = shape.links.iter().rposition(|link| link.is_external()).map_or(0, |at| at + 1);
    let first = first % count;
    let shape = shape.rotated(first);
    given.rotate_left(first);
    let threads = shape.threads().len();
    let arrangement = place.and_then(|(name, at)| {
        let known = Arrangement::named(name, threads);
        if known.is_none() {
            report
                .error("cycle-place", at, format!("no placement of {threads} threads is `@{name}`"))
                .note("a distance, or groups of threads with the distances between them")
                .help(example(threads));
        }
        known
    });
    Some(WrittenCycle { shape, accesses: given, arrangement })
}

/// A word about an access, and the number of edges before it.
struct AccessWord {
    before: usize,
    said: Word,
    at: ByteSpan,
}

/// What is written of each access.
fn given_accesses(
    edges: &[WrittenEdge],
    words: &[AccessWord],
    report: &mut Diagnostics,
) -> Vec<WrittenAccess> {
    let count = edges.len();
    let mut given = vec![WrittenAccess::default(); count];
    for word in words {
        let access = word.before % count;
        let before = &edges[(access + count - 1) % count];
        let ends_atomic = before.link.is_atomic();
        let (spelled, twice) = match word.said {
            Word::Edge(..) => continue,
            Word::Annotates(annotation) => {
                let is_atomic = edges[access].link.is_atomic();
                let fits = if is_atomic {
                    annotation.fits_atomic()
                } else {
                    annotation.fits(edges[access].from) || ends_atomic
                };
                if !fits && is_atomic {
                    let message = format!("an atomic cannot be `{}`", annotation.word());
                    report
                        .error("cycle-annotation", word.at, message)
                        .help("RelaxedGpu, AcquireGpu, ReleaseGpu or AcqRelGpu");
                } else if !fits {
                    unfit(annotation, edges[access].from, word.at, report);
                }
                (annotation.word(), given[access].annotation.replace(annotation).is_some())
            }
            Word::Forms(form) => (form.word(), given[access].form.replace(form).is_some()),
        };
        if ends_atomic {
            let half = if before.link == Link::Rmw { "write" } else { "read" };
            let message = format!("the {half} of an atomic has no words of its own");
            let fixed = format!("{spelled} {}", before.link.word(before.from, before.to));
            report.error("cycle-annotation", word.at, message).help(fixed);
        } else if twice {
            report
                .error("cycle-annotation", word.at, "this access has two annotations, or two forms")
                .note("what is said of an access stands between its two edges");
        }
    }
    if report.count() == 0 {
        for (at, access) in given.iter().enumerate() {
            unformed(edges, at, *access, words, report);
        }
    }
    given
}

/// Reports an access that cannot have its form in its direction, or with its annotation.
fn unformed(
    edges: &[WrittenEdge],
    at: usize,
    access: WrittenAccess,
    words: &[AccessWord],
    report: &mut Diagnostics,
) {
    let is_atomic = edges[at].link.is_atomic();
    let fits = |annotation: CycleAnnotation, form: AccessForm| {
        let access = CycleAccess { annotation, form };
        if is_atomic { access.fits_atomic() } else { access.fits(edges[at].from) }
    };
    let Some(form) = access.form else { return };
    let possible: Vec<CycleAnnotation> =
        CycleAnnotation::all().filter(|&one| fits(one, form)).collect();
    let said =
        |word: &&AccessWord| word.before % edges.len() == at && matches!(word.said, Word::Forms(_));
    let Some(word) = words.iter().find(said) else { return };
    let what = match (is_atomic, edges[at].from) {
        (true, _) => "an atomic",
        (false, Direction::Read) => "a read",
        (false, Direction::Write) => "a write",
    };
    match (possible.first(), access.annotation) {
        (None, _) => {
            let known = AccessForm::all()
                .filter(|&form| CycleAnnotation::all().any(|annotation| fits(annotation, form)));
            let known: Vec<String> = known.map(AccessForm::word).collect();
            report
                .error("cycle-form", word.at, format!("{what} cannot be `{}`", form.word()))
                .help(known.join(", "));
        }
        (Some(first), Some(annotation)) if !possible.contains(&annotation) => {
            let message =
                format!("{what} cannot be both `{}` and `{}`", annotation.word(), form.word());
            report.error("cycle-form", word.at, message).help(format!(
                "{} {}",
                first.word(),
                form.word()
            ));
        }
        (Some(_), _) => {}
    }
}

/// Reports two accesses of one location that follow each other and have no byte in common. Open forms are taken to be
/// whole words.
fn apart(
    shape: &CycleShape,
    given: &[WrittenAccess],
    edges: &[WrittenEdge],
    report: &mut Diagnostics,
) {
    let access = |written: &WrittenAccess| CycleAccess {
        annotation: CycleAnnotation::Weak,
        form: written.form.unwrap_or_default(),
    };
    let cycle = Cycle {
        shape: shape.clone(),
        accesses: given.iter().map(access).collect(),
        arrangement: Arrangement::uniform(1, model::scope::Scope::Cta),
    };
    if let Some(link) = cycle.first_apart() {
        let next = (link + 1) % edges.len();
        let both = given[link].form.is_some() && given[next].form.is_some();
        if both || edges[link].link.is_atomic() {
            report
                .error(
                    "cycle-form",
                    edges[link].at,
                    "the accesses before and after this edge have no byte in common",
                )
                .help("`U8` and `U16` have the first byte, `U8At1` and `U16` the second one");
        }
    }
}

/// A placement of this many threads.
fn example(threads: usize) -> String {
    if threads < 3 {
        return "@cta, @cluster, @gpu or @sys".to_owned();
    }
    let digits = |range: std::ops::Range<usize>| range.map(|n| n.to_string()).collect::<String>();
    format!("@gpu, or @{}-gpu-{}", digits(0..threads - 1), threads - 1)
}

/// Whether each edge begins as the one before it ends.
fn closed(edges: &[WrittenEdge], report: &mut Diagnostics) -> Option<()> {
    let word = |direction| match direction {
        Direction::Read => "a read",
        Direction::Write => "a write",
    };
    for (index, edge) in edges.iter().enumerate() {
        let before = &edges[(index + edges.len() - 1) % edges.len()];
        if before.to == edge.from {
            continue;
        }
        let (name, ends) = (edge.link.word(edge.from, edge.to), word(before.to));
        let builder = report
            .error("cycle-direction", edge.at, format!("`{name}` begins with {}", word(edge.from)))
            .label(before.at, format!("the edge before it ends with {ends}"));
        if let Some(fixed) = beginning(edge, before.to) {
            builder.help(fixed);
        }
        return None;
    }
    Some(())
}

/// The edge, so that it begins in another direction.
fn beginning(edge: &WrittenEdge, from: Direction) -> Option<String> {
    match edge.link {
        Link::Order { via, .. } => via.fits(from, edge.to).then(|| edge.link.word(from, edge.to)),
        Link::Rmw | Link::InvRmw => None,
        Link::Communicates { external, .. } => {
            let how = Communication::between(from, edge.to)?;
            Some(Link::Communicates { how, external }.word(from, edge.to))
        }
    }
}

fn unfit(
    annotation: CycleAnnotation,
    direction: Direction,
    at: ByteSpan,
    report: &mut Diagnostics,
) {
    use CycleAnnotation::{AcqRel, Acquire, MmioAcquire, MmioRelease, Release};
    let (what, other) = match (direction, annotation) {
        (Direction::Read, Release(scope) | AcqRel(scope)) => ("read", Acquire(scope)),
        (Direction::Write, Acquire(scope) | AcqRel(scope)) => ("write", Release(scope)),
        (Direction::Read, _) => ("read", MmioAcquire),
        (Direction::Write, _) => ("write", MmioRelease),
    };
    report
        .error("cycle-annotation", at, format!("a {what} cannot be `{}`", annotation.word()))
        .help(other.word());
}

/// The word that was meant.
fn nearest(word: &str, report: &Diagnostics) -> Option<String> {
    let families = FAMILIES.iter().map(|(name, _)| *name);
    let mut words: Vec<&str> = WORDS.keys().map(String::as_str).chain(families).collect();
    words.sort_unstable();
    of_diy(word).or_else(|| report.nearest(word, words).map(str::to_owned))
}

/// The word here for an edge of diy7: fences of other architectures, and dependencies without their kind.
fn of_diy(word: &str) -> Option<String> {
    const FENCES: [(&str, &str); 6] = [
        ("Fence", "FenceScGpu"),
        ("MFence", "FenceScGpu"),
        ("Sync", "FenceScGpu"),
        ("DMB.SY", "FenceScGpu"),
        ("LwSync", "FenceAcqRelGpu"),
        ("DMB.LD", "FenceAcquireGpu"),
    ];
    let fence = FENCES.iter().find_map(|(name, here)| {
        let ends = word.strip_prefix(name)?;
        Some(format!("{here}{ends}"))
    });
    let dependency = || {
        let ends = word.strip_prefix("Dp")?;
        let kind = if ends.ends_with('W') { "DpData" } else { "DpAddr" };
        Some(format!("{kind}{ends}"))
    };
    fence.or_else(dependency).filter(|known| WORDS.contains_key(known))
}

/// The values of a range: names of annotations, such as `release.gpu`.
pub fn annotation(name: &str) -> Option<CycleAnnotation> {
    CycleAnnotation::all().find(|one| one.name() == name || one.word() == name)
}

/// The values of a range: names of forms, such as `u8`.
pub fn form(name: &str) -> Option<AccessForm> {
    AccessForm::all().find(|one| one.name() == name || one.word() == name)
}

/// The values of a range: what is between two accesses, such as `fence.sc.gpu`.
pub fn via(name: &str) -> Option<Via> {
    Via::all().find(|one| one.name() == name || one.word() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let errors = read(text).expect_err("it is wrong");
        errors.iter().map(|error| format!("{error:#}")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_cycle_may_begin_anywhere() {
        let all = ["PodWW ReleaseGpu Rfe PodRR Fre @sys", "Rfe PodRR Fre PodWW ReleaseGpu @sys"];
        let [one, other] = all.map(|text| read(text).expect("a cycle"));
        assert_eq!(one, other.clone());
        let inside = read("RR".replace("RR", "ReleaseGpu Rfe PodRR Fre PodWW @sys").as_str());
        assert_eq!(inside.expect("a cycle"), other);
    }

    #[test]
    fn what_is_wrong_has_a_place_and_a_suggestion() {
        let wrong = message("PodWW Rfe PodRR Fer");
        assert!(wrong.contains("cycle:1:17") && wrong.contains("Fre"), "{wrong}");
        for (word, meant) in [
            ("FencedWW", "FenceScGpudWW"),
            ("LwSyncsRR", "FenceAcqRelGpusRR"),
            ("DpdR", "DpAddrdR"),
            ("DpdW", "DpDatadW"),
            ("mp", "MP"),
        ] {
            let wrong = message(word);
            assert!(wrong.contains(meant), "{wrong}");
        }
        let wrong = message("MP+po-relased.gpu+po+at-gpu");
        assert!(wrong.contains("no test has the name") && wrong.contains("--list"), "{wrong}");
        let wrong = message("PodWW Rfe PodWR Fre");
        assert!(wrong.contains("begins with a write") && wrong.contains("PodRR"), "{wrong}");
        let wrong = message("PodWW AcquireGpu Rfe PodRR Fre");
        assert!(wrong.contains("ReleaseGpu"), "{wrong}");
        let wrong = message("PodWW Rfi PodRR Fre");
        assert!(wrong.contains("two threads"), "{wrong}");
        let wrong = message("PodWW Rfe PosRR Fre");
        assert!(wrong.contains("none leads back"), "{wrong}");
        let wrong = message("ISA2 @01-gpu-3");
        assert!(wrong.contains("@01-gpu-2"), "{wrong}");
        let wrong = message("");
        assert!(wrong.contains("PodWW Rfe PodRR Fre"), "{wrong}");
        let wrong = message("PosWW Coe Coe Coe Coe");
        assert!(wrong.contains("three writes"), "{wrong}");
        let wrong = message("PodWW Rfe Rmw ReleaseGpu Rfe PodRR Fre");
        assert!(wrong.contains("ReleaseGpu Rmw"), "{wrong}");
        let wrong = message("PodWW Rfe Weak Rmw Rfe PodRR Fre");
        assert!(wrong.contains("AcqRelGpu"), "{wrong}");
        let wrong = message("PodWW U8 Rfe U8At1 PodRR Fre");
        assert!(wrong.contains("no byte in common") && wrong.contains("cycle:1:10"), "{wrong}");
        let wrong = message("PodWW Rfe Red PodRR Fre");
        assert!(wrong.contains("a read cannot be `Red`"), "{wrong}");
        let wrong = message("PodWW Red Weak Rfe PodRR Fre");
        assert!(wrong.contains("cannot be both `Weak` and `Red`"), "{wrong}");
        assert!(wrong.contains("RelaxedCta Red"), "{wrong}");
        let wrong = message("PosWR InvRfe");
        assert!(wrong.contains("two threads"), "{wrong}");
        let wrong = message("Rfe InvRfe Coe PosWW");
        assert!(wrong.contains("program order"), "{wrong}");
        let wrong = message("PodWW U8 U16 Rfe PodRR Fre");
        assert!(wrong.contains("two forms"), "{wrong}");
        let wrong = message("Rfe MP");
        assert!(wrong.contains("is a family"), "{wrong}");
    }
}
