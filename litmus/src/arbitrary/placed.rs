//! Random tests with explicit placement: threads that share an SM, memory at home and on another GPU.
//!
//! There are four kinds of programs, each with features that the others rarely have: all kinds of instructions, chains
//! of causality through several scopes, cycles with two accesses per thread, and programs for families before
//! `sm_70`.

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{RandomProgram, RandomThread};

/// What programs to make.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProgramKind {
    /// Two or three threads of two instructions.
    Small,
    /// Two or three threads of up to four.
    Mixed,
    /// Data, handed on from thread to thread by ever other means, and somebody beside them.
    Chain,
    /// Each thread accesses a location and the next one's, with something between.
    Ring,
    /// Without orders, scopes and clusters.
    Old,
}

impl ProgramKind {
    pub const ALL: [ProgramKind; 5] = [
        ProgramKind::Small,
        ProgramKind::Mixed,
        ProgramKind::Chain,
        ProgramKind::Ring,
        ProgramKind::Old,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ProgramKind::Small => "small",
            ProgramKind::Mixed => "mixed",
            ProgramKind::Chain => "chain",
            ProgramKind::Ring => "ring",
            ProgramKind::Old => "old",
        }
    }
}

/// A litmus test to be; displays as its text.
#[derive(Clone, Debug)]
pub struct PlacedTest {
    threads: Vec<(&'static str, Vec<PlacedOp>)>,
    /// Of x, y and z.
    homes: [&'static str; 3],
}

#[derive(Clone, Debug)]
enum PlacedOp {
    Load(&'static str, &'static str),
    Store(&'static str, &'static str, u8),
    /// With its order and scope.
    Atomic(&'static str, &'static str),
    /// A fence, or a barrier.
    Line(&'static str),
}

/// The CTAs 0 and 1 are on one SM, 2 and 3 on another.
const PLACES: [&str; 10] = [
    "cta 0,cluster 0,gpu 0,sm 0",
    "cta 0,cluster 0,gpu 0,sm 0",
    "cta 0,cluster 0,gpu 0,sm 0",
    "cta 1,cluster 0,gpu 0,sm 0",
    "cta 2,cluster 0,gpu 0,sm 1",
    "cta 2,cluster 0,gpu 0,sm 1",
    "cta 3,cluster 1,gpu 0,sm 1",
    "cta 4,cluster 1,gpu 0,sm 2",
    "cta 5,cluster 2,gpu 1,sm 0",
    "cta 6,cluster 2,gpu 1,sm 1",
];
/// No clusters.
const OLD_PLACES: [&str; 6] = [
    "cta 0,gpu 0,sm 0",
    "cta 0,gpu 0,sm 0",
    "cta 1,gpu 0,sm 0",
    "cta 2,gpu 0,sm 1",
    "cta 3,gpu 0,sm 2",
    "cta 5,gpu 1,sm 0",
];
const HOMES: [&str; 6] = ["", "", "", " @home gpu 0", " @home gpu 1", " @home host"];
const GLOBAL: [&str; 5] = ["x", "x", "y", "y", "z"];
const LOADS: [&str; 11] = [
    "weak",
    "weak",
    "weak",
    "volatile",
    "relaxed.cta",
    "relaxed.gpu",
    "relaxed.sys",
    "acquire.cta",
    "acquire.cluster",
    "acquire.gpu",
    "acquire.sys",
];
const STORES: [&str; 11] = [
    "weak",
    "weak",
    "weak",
    "volatile",
    "relaxed.cta",
    "relaxed.gpu",
    "relaxed.sys",
    "release.cta",
    "release.cluster",
    "release.gpu",
    "release.sys",
];
const ATOMICS: [&str; 13] = [
    "relaxed.cta",
    "relaxed.gpu",
    "relaxed.sys",
    "acquire.cta",
    "acquire.gpu",
    "acquire.sys",
    "release.cta",
    "release.gpu",
    "release.sys",
    "acq_rel.cta",
    "acq_rel.cluster",
    "acq_rel.gpu",
    "acq_rel.sys",
];
const FENCES: [&str; 13] = [
    "fence.sc.cta",
    "fence.sc.cluster",
    "fence.sc.gpu",
    "fence.sc.sys",
    "fence.acq_rel.cta",
    "fence.acq_rel.cluster",
    "fence.acq_rel.gpu",
    "fence.acq_rel.sys",
    "fence.acquire.gpu",
    "fence.acquire.sys",
    "fence.release.cta",
    "fence.release.gpu",
    "fence.release.sys",
];
const BARRIERS: [&str; 5] = [
    "bar.sync 0",
    "bar.sync 0",
    "barrier.cluster.arrive",
    "barrier.cluster.arrive.relaxed",
    "barrier.cluster.wait",
];

fn load() -> impl Strategy<Value = PlacedOp> {
    (select(&LOADS[..]), select(&GLOBAL[..])).prop_map(|(order, at)| PlacedOp::Load(order, at))
}

fn store() -> impl Strategy<Value = PlacedOp> {
    (select(&STORES[..]), select(&GLOBAL[..]), 1u8..4)
        .prop_map(|(order, at, value)| PlacedOp::Store(order, at, value))
}

fn atomic() -> impl Strategy<Value = PlacedOp> {
    (select(&ATOMICS[..]), select(&GLOBAL[..])).prop_map(|(order, at)| PlacedOp::Atomic(order, at))
}

/// Shared memory: orders that it has, on the CTA's own.
fn shared() -> impl Strategy<Value = PlacedOp> {
    prop_oneof![
        select(&["weak", "relaxed.cta", "acquire.cta", "acquire.gpu"][..])
            .prop_map(|order| PlacedOp::Load(order, "s")),
        (select(&["weak", "relaxed.cta", "release.cta", "release.gpu"][..]), 1u8..4)
            .prop_map(|(order, value)| PlacedOp::Store(order, "s", value)),
    ]
}

fn any_op() -> impl Strategy<Value = PlacedOp> {
    prop_oneof![
        8 => load(),
        8 => store(),
        3 => atomic(),
        4 => select(&FENCES[..]).prop_map(PlacedOp::Line),
        2 => select(&BARRIERS[..]).prop_map(PlacedOp::Line),
        2 => shared(),
    ]
}

fn old_op() -> impl Strategy<Value = PlacedOp> {
    let loads = select(&["weak", "weak", "weak.cg", "weak.cv", "volatile"][..]);
    let stores = select(&["weak", "weak", "weak.cg", "weak.wt", "volatile"][..]);
    let fences = select(&["membar.cta", "membar.gl", "membar.sys", "bar.sync 0"][..]);
    prop_oneof![
        4 => (loads, select(&GLOBAL[..])).prop_map(|(order, at)| PlacedOp::Load(order, at)),
        4 => (stores, select(&GLOBAL[..]), 1u8..4)
            .prop_map(|(order, at, value)| PlacedOp::Store(order, at, value)),
        1 => select(&GLOBAL[..]).prop_map(|at| PlacedOp::Atomic("", at)),
        3 => fences.prop_map(PlacedOp::Line),
    ]
}

/// How a thread hands on: what it does to the flag, with what goes before.
fn publish(flag: &'static str) -> impl Strategy<Value = Vec<PlacedOp>> {
    prop_oneof![
        3 => select(&STORES[7..]).prop_map(move |order| vec![PlacedOp::Store(order, flag, 1)]),
        2 => select(&ATOMICS[6..]).prop_map(move |order| vec![PlacedOp::Atomic(order, flag)]),
        2 => (select(&FENCES[..]), select(&STORES[4..7])).prop_map(move |(fence, order)| {
            vec![PlacedOp::Line(fence), PlacedOp::Store(order, flag, 1)]
        }),
        1 => Just(vec![PlacedOp::Line("bar.sync 0")]),
        1 => Just(vec![PlacedOp::Line("barrier.cluster.arrive"), PlacedOp::Line("barrier.cluster.wait")]),
    ]
}

/// How a thread takes over.
fn observe(flag: &'static str) -> impl Strategy<Value = Vec<PlacedOp>> {
    prop_oneof![
        3 => select(&LOADS[7..]).prop_map(move |order| vec![PlacedOp::Load(order, flag)]),
        2 => select(&ATOMICS[3..]).prop_map(move |order| vec![PlacedOp::Atomic(order, flag)]),
        2 => (select(&LOADS[4..7]), select(&FENCES[..])).prop_map(move |(order, fence)| {
            vec![PlacedOp::Load(order, flag), PlacedOp::Line(fence)]
        }),
        1 => Just(vec![PlacedOp::Line("bar.sync 0")]),
        1 => Just(vec![PlacedOp::Line("barrier.cluster.arrive"), PlacedOp::Line("barrier.cluster.wait")]),
    ]
}

/// The data, and what its last reader does: a load, a store or an atomic.
fn first() -> impl Strategy<Value = PlacedOp> {
    prop_oneof![
        4 => Just(PlacedOp::Store("weak", "x", 1)),
        1 => Just(PlacedOp::Store("relaxed.cta", "x", 1)),
        1 => Just(PlacedOp::Store("relaxed.gpu", "x", 1)),
        1 => Just(PlacedOp::Load("weak", "x")),
        1 => Just(PlacedOp::Load("relaxed.gpu", "x")),
    ]
}

fn last() -> impl Strategy<Value = PlacedOp> {
    prop_oneof![
        4 => Just(PlacedOp::Load("weak", "x")),
        1 => Just(PlacedOp::Load("relaxed.cta", "x")),
        2 => Just(PlacedOp::Store("weak", "x", 2)),
    ]
}

/// Where a thread is.
pub fn place() -> impl Strategy<Value = &'static str> {
    select(&PLACES[..])
}

/// Where a variable is, as the end of its declaration.
pub fn home() -> impl Strategy<Value = &'static str> {
    select(&HOMES[..])
}

type Threads = Vec<(&'static str, Vec<PlacedOp>)>;

fn chain() -> impl Strategy<Value = Threads> {
    let hops = (publish("y"), observe("y"), publish("z"), observe("z"), any::<bool>());
    let beside = prop::option::of((0..2usize, last(), prop::option::of(any_op())));
    (first(), hops, last(), vec(place(), 3), beside).prop_map(
        |(first, (publish, observe, publish_on, observe_last, short), last, places, beside)| {
            let mut threads: Threads = vec![(places[0], vec![first])];
            threads[0].1.extend(publish);
            let mut end = observe;
            if !short {
                end.extend(publish_on);
                threads.push((places[1], end));
                end = observe_last;
            }
            end.push(last);
            threads.push((places[2], end));
            if let Some((which, op, other)) = beside {
                // A neighbour, on the SM of one of them.
                let place = threads[which + usize::from(threads.len() > 2)].0;
                threads.push((place, std::iter::once(op).chain(other).collect()));
            }
            threads
        },
    )
}

fn ring() -> impl Strategy<Value = Threads> {
    const LOCATIONS: [&str; 3] = ["x", "y", "z"];
    let access = || (any::<bool>(), select(&LOADS[..]), select(&STORES[..]));
    let between = prop_oneof![
        4 => select(&FENCES[..8]).prop_map(|fence| vec![PlacedOp::Line(fence)]),
        1 => Just(vec![]),
    ];
    let thread = (place(), access(), between, access(), prop::option::weighted(0.3, load()));
    vec(thread, 2..=3).prop_map(|threads| {
        let count = threads.len();
        let op = |(is_load, load, store): (bool, &'static str, &'static str), at, value| {
            if is_load { PlacedOp::Load(load, at) } else { PlacedOp::Store(store, at, value) }
        };
        let one = |(index, (place, before, between, after, early))| {
            let value = u8::try_from(index).unwrap_or(0) + 1;
            let mut ops: Vec<PlacedOp> = Option::into_iter(early).collect();
            ops.push(op(before, LOCATIONS[index], value));
            ops.extend::<Vec<PlacedOp>>(between);
            ops.push(op(after, LOCATIONS[(index + 1) % count], value));
            (place, ops)
        };
        threads.into_iter().enumerate().map(one).collect()
    })
}

/// Random tests of a kind.
pub fn placed(kind: ProgramKind) -> BoxedStrategy<PlacedTest> {
    let threads = match kind {
        ProgramKind::Small => vec((place(), vec(any_op(), 2)), 2..=3).boxed(),
        ProgramKind::Mixed => vec((place(), vec(any_op(), 1..=4)), 2..=3).boxed(),
        ProgramKind::Chain => chain().boxed(),
        ProgramKind::Ring => ring().boxed(),
        ProgramKind::Old => vec((select(&OLD_PLACES[..]), vec(old_op(), 1..=4)), 2..=3).boxed(),
    };
    let homes = [(); 3].map(|()| home());
    (threads, homes).prop_map(|(threads, homes)| PlacedTest { threads, homes }).boxed()
}

/// The cells of one thread.
fn cells(ops: &[PlacedOp]) -> Vec<String> {
    let mut registers = 0;
    let mut fresh = || {
        registers += 1;
        registers - 1
    };
    let space = |at: &str| if at == "s" { ".shared" } else { "" };
    let cell = |op: &PlacedOp| match op {
        PlacedOp::Load(order, at) => {
            let (weak, operator) = order.split_once("weak").unwrap_or((order, ""));
            let order = if weak.is_empty() { "weak" } else { weak };
            format!("ld.{order}{}{operator}.u32 r{}, [{at}]", space(at), fresh())
        }
        PlacedOp::Store(order, at, value) => {
            let (weak, operator) = order.split_once("weak").unwrap_or((order, ""));
            let order = if weak.is_empty() { "weak" } else { weak };
            format!("st.{order}{}{operator}.u32 [{at}], {value}", space(at))
        }
        PlacedOp::Atomic("", at) => format!("atom.add.u32 r{}, [{at}], 4", fresh()),
        PlacedOp::Atomic(order, at) => format!("atom.{order}.add.u32 r{}, [{at}], 4", fresh()),
        PlacedOp::Line(text) => (*text).to_owned(),
    };
    // A wait is for the arrival before it, and there is one arrival at a time.
    let mut arrived = false;
    let in_turn = |op: &&PlacedOp| match op {
        PlacedOp::Line("barrier.cluster.wait") => std::mem::take(&mut arrived),
        PlacedOp::Line(text) if text.starts_with("barrier.cluster.arrive") => {
            !std::mem::replace(&mut arrived, true)
        }
        PlacedOp::Line(_) | PlacedOp::Load(..) | PlacedOp::Store(..) | PlacedOp::Atomic(..) => true,
    };
    ops.iter().filter(in_turn).map(cell).collect()
}

impl PlacedTest {
    /// The test in pieces.
    pub fn program(&self) -> RandomProgram {
        let [x, y, z] = self.homes;
        let declarations = vec![
            format!("uint32_t x=0{x}"),
            format!("uint32_t y=0{y}"),
            format!("uint32_t z=0{z}"),
            ".shared .u32 s=0".to_owned(),
        ];
        let threads = self
            .threads
            .iter()
            .map(|(place, ops)| RandomThread { placement: (*place).to_owned(), cells: cells(ops) });
        let observed = ["x", "y", "z"].map(str::to_owned).to_vec();
        RandomProgram { language: "PTX", declarations, threads: threads.collect(), observed }
    }
}

impl fmt::Display for PlacedTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program().fmt(f)
    }
}
