//! Contexts for runs of the machine: with weak accesses, because only those can return stale lines; with
//! neighbours on the judged thread's SM; and with memory at other homes.
//!
//! They are the list of reading R83. Each line refuted a mutant of a table that no line before it refuted.

use std::sync::LazyLock;

use model::memory::Home;
use model::scope::{Placement, Scope};

use super::context::{self, Context, ContextFamily, ContextShape, PartnerScope, at, shape};
use super::step::TestLocation;

const ACCESS: &[&str] = &[
    "st.na x; R | ld.acq y; ld.na x",
    "R; ld.na x | st x; st.rel y | ld.na x",
    "ld.na x; R | ld.acq y; st.rel z | ld.acq z; st x",
    "R; ld.na x | st x; st.rel y",
    "ld.na x; R | ld.acq y; st x",
    "R; ld.na y | st y",
    "R; ld.na x | st x; st.rel y | swap.ar y",
    "R; st.na x | ld.na x; st.rel y",
    "st.na x; R | ld.acq y; st.rel z | ld.acq z; ld.na x",
    "st.na x; R | swap.ar y | ld.acq y; ld.na x",
    "ld.na y; R | st y",
    "R; R | st y",
];

const FENCE: &[&str] = &[
    "st.na x; R; st y | ld.acq y; ld.na x",
    "ld y; R; ld.na x | st x; st.rel y",
    "ld x; R; st y | swap.acq y; st.rel z | swap.acq z; st x",
    "st x; R; ld y | st y; f.sc; ld x",
    "ld y; R; ld.na x | st x; st.rel y | swap.ar y",
    "ld y; R; ld.na x | st x; st.rel y | ld.na x",
    "ld.na x; R; st y | ld.acq y; st.rel z | ld.acq z; st x",
    "st.na x; R; st y | ld.acq y; st.rel z | ld.acq z; ld.na x",
];

const BARRIER: &[&str] = &[
    "st.na x; R | B; ld.na x",
    "ld.na x; R | B; st.na x",
    "R; ld.na x | st.na x; B",
    "R; st.na x | ld.na x; B",
    "ld.na x; R; ld.na y | st.na y; B; ld.na x | ld.na y",
];

/// A context with choices for the home of each place.
#[derive(Clone, Debug)]
pub struct PlacedContext {
    pub context: Context,
    pub homes: Vec<[Option<Home>; 3]>,
}

fn shapes(family: ContextFamily) -> &'static [ContextShape] {
    static ALL: LazyLock<[Vec<ContextShape>; 5]> = LazyLock::new(|| {
        let lists: [&[&[&str]]; 5] =
            [&[ACCESS], &[FENCE], &[ACCESS, FENCE], &[BARRIER], &[BARRIER, ACCESS, FENCE]];
        lists.map(|lists| lists.concat().into_iter().map(shape).collect())
    });
    &ALL[family as usize]
}

/// The placements of a shape's threads.
fn placements(threads: usize) -> Vec<(&'static str, Vec<Placement>)> {
    let mut all = context::placements(threads);
    if threads == 2 {
        return all;
    }
    let on = |sm: u32, placement: Placement| Placement { sm: Some(sm), ..placement };
    let neighbour = vec![on(0, at(0, 0, 0)), on(1, at(0, 0, 1)), on(0, at(0, 1, 2))];
    all.push(("in two CTAs of a cluster, a third thread on the first one's SM", neighbour));
    all
}

/// All memory is at the first thread's GPU; or `x`, `y` or both are at the partner's GPU; or all memory is in
/// the host. With one GPU there is only the first choice.
fn homes(placements: &[Placement]) -> Vec<[Option<Home>; 3]> {
    let Some(there) = placements.iter().find(|other| other.gpu != placements[0].gpu) else {
        return vec![[None; 3]];
    };
    let far = u8::try_from(there.gpu).ok().map(Home::Gpu);
    let host = Some(Home::Host);
    let of = |x, y| {
        let mut homes = [None; 3];
        (homes[TestLocation::X as usize], homes[TestLocation::Y as usize]) = (x, y);
        homes
    };
    vec![[None; 3], of(far, None), of(far, far), of(None, far), [host; 3]]
}

/// Every context of a family, and those of more shapes, in the order in which they are tried. `far` is the widest scope from which `y`
/// can be accessed. Contexts with partners outside the row's scope come last, because such partners matter
/// only through a thread in between.
pub fn contexts(
    family: ContextFamily,
    more: &[ContextShape],
    reach: PartnerScope,
    far: Scope,
) -> Vec<PlacedContext> {
    let (mut all, mut last) = (Vec::new(), Vec::new());
    for shape in shapes(family).iter().chain(more.iter().filter(|shape| shape.is_ptx())) {
        for (distance, placements) in placements(shape.threads.len()) {
            let within = placements.iter().all(|&p| Scope::Cluster.includes(placements[0], p));
            let barrier = shape.has_barriers();
            if barrier && !within && !distance.ends_with("SM") {
                continue;
            }
            let possible = PartnerScope { within: far, ..reach };
            if !barrier && !shape.stands(&placements, possible) {
                continue;
            }
            let near = barrier || shape.stands(&placements, reach);
            let homes = homes(&placements);
            let context = shape.at(placements, distance);
            if near { &mut all } else { &mut last }.push(PlacedContext { context, homes });
        }
    }
    all.extend(last);
    all
}
