//! Random tests of C++ and LLVM IR, for the second model.
//!
//! Few locations, distinct values, all orders and scopes, accesses of two sizes, atomics that succeed or fail,
//! fences, barriers and dependencies.

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{RandomProgram, RandomThread};

/// A litmus test to be; displays as its text.
#[derive(Clone, Debug)]
pub struct CxxTest {
    pub threads: Vec<(&'static str, Vec<CxxOp>)>,
}

/// One operation, or an idiom of a few.
#[derive(Clone, Debug)]
pub enum CxxOp {
    /// Its order, with a dot, and scope; whether of one byte.
    Load(&'static str, &'static str, &'static str),
    Store(&'static str, &'static str, &'static str, u8),
    /// Loads, and stores the byte of a location.
    LoadByte(&'static str, &'static str, &'static str),
    StoreByte(&'static str, &'static str, &'static str, u8),
    Rmw(&'static str, &'static str, &'static str, &'static str, u8),
    /// Two orders, and the value compared with.
    Exchange(&'static str, &'static str, &'static str, u8),
    Fence(&'static str, &'static str),
    Barrier,
    ClusterBarrier,
    /// The next operations are executed only if the latest value read is this one.
    Guard(u8),
    /// Stores what was read.
    DataStore(&'static str, &'static str, &'static str),
}

const PLACEMENTS: [&str; 5] = [
    "cta 0,cluster 0,gpu 0",
    "cta 0,cluster 0,gpu 0",
    "cta 1,cluster 0,gpu 0",
    "cta 2,cluster 1,gpu 0",
    "cta 3,cluster 2,gpu 1",
];
const SCOPES: [&str; 7] = ["", "", "", ".block", ".cluster", ".device", ".system"];
const LOADS: [&str; 9] = [
    "",
    ".unordered",
    ".relaxed",
    ".relaxed",
    ".acquire",
    ".acquire",
    ".seq_cst",
    ".seq_cst",
    ".seq_cst",
];
const STORES: [&str; 9] = [
    "",
    ".unordered",
    ".relaxed",
    ".relaxed",
    ".release",
    ".release",
    ".seq_cst",
    ".seq_cst",
    ".seq_cst",
];
const ATOMICS: [&str; 5] = [".relaxed", ".acquire", ".release", ".acq_rel", ".seq_cst"];
const EXCHANGES: [&str; 6] = [
    ".relaxed",
    ".acquire.relaxed",
    ".relaxed.acquire",
    ".release",
    ".seq_cst",
    ".seq_cst.relaxed",
];
const FENCES: [&str; 6] = [".acquire", ".release", ".acq_rel", ".seq_cst", ".seq_cst", ".seq_cst"];
const LOCATIONS: [&str; 4] = ["x", "x", "y", "z"];

fn scope(order: &str, scope: &'static str) -> &'static str {
    if order.is_empty() { "" } else { scope }
}

fn op() -> BoxedStrategy<CxxOp> {
    let scopes = || select(&SCOPES[..]);
    let place = || select(&LOCATIONS[..]);
    let value = || 1u8..4;
    prop_oneof![
        8 => (select(&LOADS[..]), scopes(), place())
            .prop_map(|(order, s, place)| CxxOp::Load(order, scope(order, s), place)),
        8 => (select(&STORES[..]), scopes(), place(), value())
            .prop_map(|(order, s, place, value)| CxxOp::Store(order, scope(order, s), place, value)),
        1 => (select(&LOADS[..]), scopes(), place())
            .prop_map(|(order, s, place)| CxxOp::LoadByte(order, scope(order, s), place)),
        1 => (select(&STORES[..]), scopes(), place(), value())
            .prop_map(|(order, s, place, value)| CxxOp::StoreByte(order, scope(order, s), place, value)),
        2 => (select(&["add", "exch"][..]), select(&ATOMICS[..]), scopes(), place(), value())
            .prop_map(|(op, order, scope, place, value)| CxxOp::Rmw(op, order, scope, place, value)),
        1 => (select(&EXCHANGES[..]), scopes(), place(), 0u8..2)
            .prop_map(|(order, scope, place, value)| CxxOp::Exchange(order, scope, place, value)),
        4 => (select(&FENCES[..]), scopes())
            .prop_map(|(order, scope)| CxxOp::Fence(order, scope)),
        1 => Just(CxxOp::Barrier),
        1 => Just(CxxOp::ClusterBarrier),
        1 => (0u8..3).prop_map(CxxOp::Guard),
        1 => (select(&STORES[..]), scopes(), place())
            .prop_map(|(order, s, place)| CxxOp::DataStore(order, scope(order, s), place)),
    ]
    .boxed()
}

/// Programs of two to four threads of at most this many operations.
pub fn cxx(
    threads: std::ops::RangeInclusive<usize>,
    length: usize,
) -> impl Strategy<Value = CxxTest> {
    let thread = (select(&PLACEMENTS[..]), vec(op(), 1..=length));
    vec(thread, threads).prop_map(|threads| CxxTest { threads })
}

fn cells(ops: &[CxxOp]) -> Vec<String> {
    let (mut cells, mut registers) = (Vec::new(), 0_usize);
    let mut open = 0;
    for op in ops {
        let latest = registers.checked_sub(1);
        let mut fresh = || {
            registers += 1;
            format!("r{}", registers - 1)
        };
        match op {
            CxxOp::Load(order, scope, place) => {
                cells.push(format!("load{order}{scope} {}, [{place}]", fresh()));
            }
            CxxOp::Store(order, scope, place, value) => {
                cells.push(format!("store{order}{scope} [{place}], {value}"));
            }
            CxxOp::LoadByte(order, scope, place) => {
                cells.push(format!("load{order}{scope}.u8 {}, [{place}]", fresh()));
            }
            CxxOp::StoreByte(order, scope, place, value) => {
                cells.push(format!("store{order}{scope}.u8 [{place}], {value}"));
            }
            CxxOp::Rmw(op, order, scope, place, value) => {
                let ty = if *op == "exch" { ".b32" } else { "" };
                cells.push(format!("rmw.{op}{order}{scope}{ty} {}, [{place}], {value}", fresh()));
            }
            CxxOp::Exchange(order, scope, place, value) => {
                cells.push(format!("cmpxchg{order}{scope} {}, [{place}], {value}, 3", fresh()));
            }
            CxxOp::Fence(order, scope) => cells.push(format!("fence{order}{scope}")),
            CxxOp::Barrier => cells.push("bar.sync 0".to_owned()),
            CxxOp::ClusterBarrier => {
                cells.push("barrier.cluster.arrive".to_owned());
                cells.push("barrier.cluster.wait".to_owned());
            }
            CxxOp::Guard(value) => {
                if let Some(latest) = latest {
                    cells.push(format!("setp.ne.u32 p, r{latest}, {value}"));
                    cells.push("@p bra L".to_owned());
                    open += 1;
                }
            }
            CxxOp::DataStore(order, scope, place) => match latest {
                Some(latest) => cells.push(format!("store{order}{scope} [{place}], r{latest}")),
                None => cells.push(format!("store{order}{scope} [{place}], 1")),
            },
        }
    }
    if open > 0 {
        cells.push("L:".to_owned());
    }
    cells
}

impl CxxTest {
    /// The test in pieces.
    pub fn program(&self) -> RandomProgram {
        let variables = ["x", "y", "z"];
        let threads = self
            .threads
            .iter()
            .map(|(place, ops)| RandomThread { placement: (*place).to_owned(), cells: cells(ops) });
        RandomProgram {
            language: "CXX",
            declarations: variables.map(|name| format!("uint32_t {name}=0")).to_vec(),
            threads: threads.collect(),
            observed: variables.map(str::to_owned).to_vec(),
        }
    }
}

impl fmt::Display for CxxTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program().fmt(f)
    }
}
