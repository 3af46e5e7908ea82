//! Random litmus tests, as text, so that a failing test can be kept as a file.
//!
//! Programs are small and dense: few locations, distinct values, and every register and
//! location observed. The weights favour constructs that are rare in uniform programs: mutually exclusive
//! scopes, chains through atomics, aliases, accesses of several sizes.

pub mod asynchronous;
pub mod cxx;
mod hints;
pub mod placed;
mod program;
pub mod readonly;

use std::fmt;

use model::scope::Scope;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

pub use hints::ROUNDS;
pub use program::{RandomProgram, RandomThread};

/// What programs to make.
#[derive(Clone, Copy, Debug)]
pub struct ProgramShape {
    pub threads: usize,
    /// Instructions of each thread, at most.
    pub length: usize,
    /// Accesses of 1, 2, 4 and 8 bytes to the same bytes.
    pub mixed_sizes: bool,
    /// Vectors of 256 bits, and memory that is neither global nor written by all.
    pub elsewhere: bool,
    /// Barriers of all kinds, with counts and without, threads of one warp, loops that wait.
    pub barriers: bool,
}

/// A litmus test to be; displays as its text.
#[derive(Clone, Debug)]
pub struct Sketch {
    pub threads: Vec<(usize, Vec<TestOp>)>,
    pub mixed_sizes: bool,
}

/// One instruction, or an idiom of a few.
#[derive(Clone, Debug)]
pub enum TestOp {
    Store {
        order: &'static str,
        place: AccessedBytes,
        value: u8,
    },
    Load {
        order: &'static str,
        place: AccessedBytes,
    },
    Atomic {
        order: &'static str,
        scope: &'static str,
        op: &'static str,
        place: AccessedBytes,
        value: u8,
    },
    Reduction {
        order: &'static str,
        scope: &'static str,
        place: AccessedBytes,
        value: u8,
    },
    Fence(&'static str),
    Barrier(&'static str),
    /// A barrier that is executed if the latest load returned a value.
    GuardedBarrier {
        text: &'static str,
        wanted: u8,
    },
    /// Reduces whether the latest load returned a value.
    Vote {
        op: &'static str,
        barrier: &'static str,
        wanted: u8,
    },
    /// Loads until the value is another.
    Spin {
        order: &'static str,
        place: AccessedBytes,
        value: u8,
    },
    /// Stores what the latest load returned, plus a constant.
    DataStore {
        order: &'static str,
        place: AccessedBytes,
        value: u8,
    },
    /// Stores if the latest load returned a value.
    GuardedStore {
        order: &'static str,
        place: AccessedBytes,
        value: u8,
        wanted: u8,
    },
    /// Stores what the latest load returned, its halves swapped.
    SwappedStore {
        order: &'static str,
        place: AccessedBytes,
    },
    /// A load of other memory than global: the instruction before and after its register.
    OtherLoad(&'static str, &'static str),
    /// A store to such memory.
    OtherStore {
        place: &'static str,
        value: u8,
    },
    /// Loads from an address that looks as if it came from the latest load.
    AddressLoad {
        order: &'static str,
        place: AccessedBytes,
    },
}

/// Which bytes; the size counts in programs of mixed sizes only.
#[derive(Clone, Copy, Debug)]
pub struct AccessedBytes {
    pub variable: &'static str,
    pub size: u8,
    pub high: bool,
}

/// The first six are those of programs without barriers.
const PLACEMENTS: [&str; 9] = [
    "cta 0,cluster 0,gpu 0",
    "cta 0,cluster 0,gpu 0",
    "cta 1,cluster 0,gpu 0",
    "cta 2,cluster 1,gpu 0",
    "cta 3,cluster 2,gpu 1",
    "cta 1,cluster 0,gpu 0",
    "cta 0,cluster 0,gpu 0",
    "warp 0,cta 0,cluster 0,gpu 0",
    "warp 0,cta 0,cluster 0,gpu 0",
];
const BARRIERS: [&str; 18] = [
    "bar.sync 0",
    "bar.sync 0",
    "bar.sync 1",
    "barrier.sync 0",
    "bar.sync 0, 2",
    "bar.sync 0, 2",
    "barrier.sync 0, 2",
    "bar.sync 0, 3",
    "bar.sync 1, 1",
    "bar.arrive 0, 2",
    "bar.arrive 0, 3",
    "bar.arrive 1, 2",
    "barrier.arrive 0, 2",
    "barrier.cluster.arrive",
    "barrier.cluster.arrive.relaxed",
    "barrier.cluster.wait",
    "barrier.cluster.wait",
    "barrier.cluster.arrive.aligned",
];
const VOTES: [&str; 4] = ["0", "0", "1", "0, 2"];
const LOADS: [&str; 10] = [
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
const STORES: [&str; 10] = [
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
const FENCES: [&str; 12] = [
    "fence.sc.cta",
    "fence.sc.cluster",
    "fence.sc.gpu",
    "fence.sc.sys",
    "fence.acq_rel.cta",
    "fence.acq_rel.gpu",
    "fence.acq_rel.sys",
    "fence.acquire.gpu",
    "fence.release.gpu",
    "fence.release.cta",
    "membar.gl",
    "fence.proxy.alias",
];

/// Loads of memory that is private to a thread, that is not written, or that its CTA shares; `gl`
/// and `gs` hold generic addresses.
const OTHER_LOADS: [(&str, &str); 10] = [
    ("ld.const.u32 ", ", [c]"),
    ("ld.param.u32 ", ", [k]"),
    ("ldu.global.u32 ", ", [ro]"),
    ("ld.global.nc.u32 ", ", [ro]"),
    ("ld.local.u32 ", ", [l]"),
    ("ld.volatile.local.u32 ", ", [l]"),
    ("ld.weak.u32 ", ", [gl]"),
    ("ld.relaxed.cta.shared.u32 ", ", [s]"),
    ("ld.acquire.cta.u32 ", ", [gs]"),
    ("ld.weak.shared::cta.u32 ", ", [s]"),
];
const OTHER_STORES: [&str; 5] = [
    "st.local.b32 [l]",
    "st.weak.b32 [gl]",
    "st.relaxed.cta.shared.b32 [s]",
    "st.release.cta.b32 [gs]",
    "st.weak.b32 [gs]",
];

/// By the names in brackets that need them.
const OTHERS: [(&[&str], &str); 6] = [
    (&["c"], ".const .u32 c=3"),
    (&["k"], ".param .u32 k=4"),
    (&["ro"], "uint32_t ro=5"),
    (&["l", "gl"], ".local .u32 l=6"),
    (&["s", "gs"], ".shared .u32 s=7"),
    (&["v"], "uint64_t v[4]={1,2,3,4}"),
];

/// Bytes of the vectors of doublewords in `v`.
const WIDE: u8 = 32;

fn place(mixed: bool, wide: bool) -> impl Strategy<Value = AccessedBytes> {
    let sizes: &[u8] = if mixed { &[1, 2, 4, 4] } else { &[4] };
    // z is a second address of x.
    let names: &[&str] = if wide { &["x", "y", "z", "v"] } else { &["x", "x", "x", "y", "y", "z"] };
    (select(names), select(sizes), any::<bool>()).prop_map(|(variable, size, high)| {
        let size = if variable == "v" { WIDE } else { size };
        AccessedBytes { variable, size, high }
    })
}

const ATOMICS: [&str; 4] = ["relaxed", "acquire", "release", "acq_rel"];

fn op(shape: ProgramShape) -> BoxedStrategy<TestOp> {
    let (mixed, elsewhere) = (shape.mixed_sizes, shape.elsewhere);
    let accessed = || place(mixed, elsewhere);
    let place = move |mixed| place(mixed, false);
    let value = 1u8..4;
    let usual = prop_oneof![
        6 => (select(&STORES[..]), accessed(), value.clone())
            .prop_map(|(order, place, value)| TestOp::Store { order, place, value }),
        6 => (select(&LOADS[..]), accessed())
            .prop_map(|(order, place)| TestOp::Load { order, place }),
        3 => (
            select(&ATOMICS[..]),
            select(&Scope::NAMES[..]),
            select(&["add", "exch", "cas", "cas", "max", "or"][..]),
            place(mixed),
            value.clone(),
        )
            .prop_map(|(order, scope, op, place, value)| TestOp::Atomic { order, scope, op, place, value }),
        1 => (select(&["relaxed", "release"][..]), select(&Scope::NAMES[..]), place(false), value.clone())
            .prop_map(|(order, scope, place, value)| TestOp::Reduction { order, scope, place, value }),
        3 => select(&FENCES[..]).prop_map(TestOp::Fence),
        1 => select(&["bar.sync 0", "bar.sync 1", "bar.arrive 1, 2"][..]).prop_map(TestOp::Barrier),
        1 => (select(&STORES[..]), place(false), 0u8..2)
            .prop_map(|(order, place, value)| TestOp::DataStore { order, place, value }),
        1 => (select(&STORES[..]), place(false), value.clone(), 0u8..3).prop_map(
            |(order, place, value, wanted)| TestOp::GuardedStore { order, place, value, wanted }
        ),
        1 => (select(&LOADS[..]), place(false))
            .prop_map(|(order, place)| TestOp::AddressLoad { order, place }),
        1 => (select(&STORES[..]), place(false))
            .prop_map(|(order, place)| TestOp::SwappedStore { order, place }),
    ];
    if shape.barriers {
        let barrier = || select(&BARRIERS[..]);
        let vote = (select(&["popc", "and", "or"][..]), select(&VOTES[..]), 0u8..3);
        let spin = (select(&LOADS[..]), place(false), 0u8..2);
        return prop_oneof![
            12 => usual,
            9 => barrier().prop_map(TestOp::Barrier),
            1 => (barrier(), 0u8..2).prop_map(|(text, wanted)| TestOp::GuardedBarrier { text, wanted }),
            3 => vote.prop_map(|(op, barrier, wanted)| TestOp::Vote { op, barrier, wanted }),
            1 => spin.prop_map(|(order, place, value)| TestOp::Spin { order, place, value }),
        ]
        .boxed();
    }
    if !elsewhere {
        return usual.boxed();
    }
    let load =
        select(&OTHER_LOADS[..]).prop_map(|(before, after)| TestOp::OtherLoad(before, after));
    let store = (select(&OTHER_STORES[..]), 1u8..4)
        .prop_map(|(place, value)| TestOp::OtherStore { place, value });
    prop_oneof![4 => load, 3 => store, 20 => usual].boxed()
}

/// Random tests of a shape.
pub fn sketch(shape: ProgramShape) -> impl Strategy<Value = Sketch> {
    let placements = if shape.barriers { PLACEMENTS.len() } else { 6 };
    let thread = (0..placements, vec(op(shape), 1..=shape.length));
    vec(thread, shape.threads)
        .prop_map(move |threads| Sketch { threads, mixed_sizes: shape.mixed_sizes })
}

impl Sketch {
    fn type_of(&self, place: AccessedBytes, kind: char) -> String {
        let bits = if self.mixed_sizes { 8 * u32::from(place.size) } else { 32 };
        format!("{kind}{bits}")
    }

    fn address(&self, place: AccessedBytes) -> String {
        let offset = if self.mixed_sizes && place.high && place.size < 4 { place.size } else { 0 };
        if offset == 0 {
            format!("[{}]", place.variable)
        } else {
            format!("[{}+{offset}]", place.variable)
        }
    }

    /// Values that differ in every byte, so that mixtures show.
    fn value(&self, value: u8) -> u32 {
        if self.mixed_sizes { u32::from(value) * 0x0101_0101 } else { u32::from(value) }
    }

    /// The value, as far as the place has bytes for it.
    fn narrow(&self, value: u8, place: AccessedBytes) -> u32 {
        let bytes = if self.mixed_sizes { u32::from(place.size) } else { 4 };
        self.value(value) & u32::MAX >> (32 - 8 * bytes)
    }

    fn store(&self, order: &str, place: AccessedBytes, value: u8) -> String {
        if place.size == WIDE {
            let value = u64::from(value) << 32 | u64::from(value);
            return format!("st.{order}.v4.b64 [v], {{{value}, 0, {value}, 1}}");
        }
        let (ty, address) = (self.type_of(place, 'b'), self.address(place));
        format!("st.{order}.{ty} {address}, {}", self.narrow(value, place))
    }

    /// The cells of one thread.
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of instruction")]
    fn cells(&self, ops: &[TestOp]) -> Vec<String> {
        let mut cells = Vec::new();
        let mut registers = 0;
        let mut latest = None;
        for op in ops {
            let source = latest;
            let mut fresh = || {
                registers += 1;
                latest = Some(registers - 1);
                registers - 1
            };
            match op {
                TestOp::Store { order, place, value } => {
                    cells.push(self.store(order, *place, *value));
                }
                TestOp::Load { order, place } if place.size == WIDE => {
                    let registers: Vec<String> = (0..4).map(|_| format!("r{}", fresh())).collect();
                    let registers = registers.join(", ");
                    cells.push(format!("ld.{order}.v4.u64 {{{registers}}}, [v]"));
                }
                TestOp::OtherLoad(before, after) => {
                    cells.push(format!("{before}r{}{after}", fresh()));
                }
                TestOp::OtherStore { place, value } => {
                    cells.push(format!("{place}, {}", self.value(*value)));
                }
                TestOp::Load { order, place } => {
                    let register = fresh();
                    let (ty, address) = (self.type_of(*place, 'u'), self.address(*place));
                    cells.push(format!("ld.{order}.{ty} r{register}, {address}"));
                }
                TestOp::Atomic { order, scope, op, place, value } => {
                    let register = fresh();
                    // Of narrow types there is `cas` alone, of 16 bits.
                    let narrow = self.mixed_sizes && *op == "cas" && place.size == 2;
                    let place = AccessedBytes { size: if narrow { 2 } else { 4 }, ..*place };
                    let ty = match *op {
                        "cas" => self.type_of(place, 'b'),
                        "or" | "exch" => "b32".to_owned(),
                        _ => "u32".to_owned(),
                    };
                    let operands = if *op == "cas" {
                        let [old, new] = [value - 1, value + 1].map(|v| self.narrow(v, place));
                        format!("{old}, {new}")
                    } else {
                        self.value(*value).to_string()
                    };
                    let address = self.address(place);
                    cells.push(format!(
                        "atom.{order}.{scope}.{op}.{ty} r{register}, {address}, {operands}"
                    ));
                }
                TestOp::Reduction { order, scope, place, value } => cells.push(format!(
                    "red.{order}.{scope}.add.u32 [{}], {}",
                    place.variable,
                    self.value(*value)
                )),
                TestOp::Fence(text) | TestOp::Barrier(text) => cells.push((*text).to_owned()),
                TestOp::GuardedBarrier { text, wanted } => match source {
                    Some(register) => {
                        let wanted = self.value(*wanted);
                        cells.push(format!("setp.eq.u32 p, r{register}, {wanted}"));
                        cells.push(format!("@p {text}"));
                    }
                    None => cells.push((*text).to_owned()),
                },
                TestOp::Vote { op, barrier, wanted } => {
                    let register = fresh();
                    let wanted = self.value(*wanted);
                    cells.push(match source {
                        Some(source) => format!("setp.eq.u32 p, r{source}, {wanted}"),
                        None => format!("setp.eq.u32 p, r{register}, {wanted}"),
                    });
                    if *op == "popc" {
                        cells.push(format!("bar.red.popc.u32 r{register}, {barrier}, p"));
                    } else {
                        cells.push(format!("bar.red.{op}.pred w, {barrier}, p"));
                        cells.push(format!("selp.u32 r{register}, 1, 0, w"));
                    }
                }
                TestOp::Spin { order, place, value } => {
                    let (label, register) = (format!("L{}", cells.len()), fresh());
                    let (ty, address) = (self.type_of(*place, 'u'), self.address(*place));
                    let value = self.narrow(*value, *place);
                    cells.push(format!("{label}: ld.{order}.{ty} r{register}, {address}"));
                    cells.push(format!("setp.eq.u32 p, r{register}, {value}"));
                    cells.push(format!("@p bra {label}"));
                }
                TestOp::DataStore { order, place, value } => match source {
                    Some(register) => {
                        cells.push(format!("add.u32 t, r{register}, {value}"));
                        cells.push(format!("st.{order}.b32 [{}], t", place.variable));
                    }
                    None => cells.push(format!("st.{order}.b32 [{}], {value}", place.variable)),
                },
                TestOp::GuardedStore { order, place, value, wanted } => {
                    let store =
                        format!("st.{order}.b32 [{}], {}", place.variable, self.value(*value));
                    match source {
                        Some(register) => {
                            let wanted = self.value(*wanted);
                            cells.push(format!("setp.eq.u32 p, r{register}, {wanted}"));
                            cells.push(format!("@p {store}"));
                        }
                        None => cells.push(store),
                    }
                }
                TestOp::SwappedStore { order, place } => {
                    if let Some(register) = source {
                        cells.push(format!("mov.b32 {{t, u}}, r{register}"));
                        cells.push("mov.b32 t, {u, t}".to_owned());
                    }
                    let value = if source.is_some() { "t" } else { "0x00010002" };
                    cells.push(format!("st.{order}.b32 [{}], {value}", place.variable));
                }
                TestOp::AddressLoad { order, place } => {
                    let register = fresh();
                    match source {
                        Some(source) => {
                            cells.push(format!("xor.b64 t, r{source}, r{source}"));
                            cells.push(format!("mov.u64 q, {}", place.variable));
                            cells.push("add.u64 q, q, t".to_owned());
                            cells.push(format!("ld.{order}.u32 r{register}, [q]"));
                        }
                        None => {
                            cells.push(format!("ld.{order}.u32 r{register}, [{}]", place.variable));
                        }
                    }
                }
            }
        }
        cells
    }
}

impl Sketch {
    /// The test in pieces.
    pub fn program(&self) -> RandomProgram {
        let columns: Vec<Vec<String>> =
            self.threads.iter().map(|(_, ops)| self.cells(ops)).collect();
        let cells = columns.iter().flatten();
        let named: Vec<&str> = cells
            .filter_map(|cell| cell.split_once('['))
            .filter_map(|(_, rest)| rest.split_once(']'))
            .map(|(name, _)| name)
            .collect();
        let mut declarations = vec!["uint32_t x=0", "uint32_t y=0", "z @ generic aliases x"];
        let others = OTHERS.iter().filter(|(names, _)| names.iter().any(|n| named.contains(n)));
        declarations.extend(others.map(|(_, declaration)| declaration));
        let mut declarations: Vec<String> = declarations.into_iter().map(str::to_owned).collect();
        for thread in 0..columns.len() {
            let pointers = ["l", "s"].map(|pointer| (format!("g{pointer}"), pointer));
            let pointers = pointers.iter().filter(|(name, _)| named.contains(&name.as_str()));
            declarations
                .extend(pointers.map(|(name, pointer)| format!("P{thread}:{name}={pointer}")));
        }
        let threads = self.threads.iter().zip(columns).map(|((place, _), cells)| RandomThread {
            placement: PLACEMENTS[*place].to_owned(),
            cells,
        });
        let observed = ["x", "y"].map(str::to_owned).to_vec();
        RandomProgram { language: "PTX", declarations, threads: threads.collect(), observed }
    }
}

impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program().fmt(f)
    }
}
