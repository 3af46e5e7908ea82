//! The programs: sources of random ones, and the program of a case.

mod awaited;
mod cycles;
mod ordered;

use litmus::arbitrary::asynchronous::{
    asynchronous, kernels, matrices, multimem, requests, tensor_memory,
};
use litmus::arbitrary::placed::{ProgramKind, placed};
use litmus::arbitrary::readonly::readonly;
use litmus::arbitrary::{ProgramShape, RandomProgram, sketch};
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Two threads of up to two instructions.
pub const TINY: ProgramShape = ProgramShape { length: 2, ..SMALL };
/// Two threads of up to three.
pub const SMALL: ProgramShape =
    ProgramShape { threads: 2, length: 3, mixed_sizes: false, elsewhere: false, barriers: false };
/// Two threads of up to four.
pub const LONG: ProgramShape = ProgramShape { length: 4, ..SMALL };
/// Three threads.
pub const WIDE: ProgramShape = ProgramShape { threads: 3, ..SMALL };
/// Vectors of 256 bits, and memory that is neither global nor written by all.
pub const ELSEWHERE: ProgramShape = ProgramShape { elsewhere: true, ..SMALL };
/// Accesses of several sizes to the same bytes.
pub const MIXED: ProgramShape = ProgramShape { mixed_sizes: true, ..SMALL };
/// Barriers with counts, votes, barriers of the cluster, threads of one warp, loops that wait.
pub const BARRIERS: ProgramShape = ProgramShape { threads: 3, barriers: true, ..SMALL };

/// Where random programs come from.
#[derive(Clone, Copy, Debug)]
pub enum ProgramSource {
    /// Small and dense programs of all instructions.
    Uniform(ProgramShape),
    /// Critical cycles with random orders, scopes, fences and dependencies, on random places.
    Cycles,
    /// Programs that the axioms order, as far as one instruction decides, on random places.
    Ordered,
    /// Programs with explicit placement: threads that share an SM, memory at home and elsewhere.
    Placed(ProgramKind),
    /// Reads through the paths for read-only data, and writes.
    ReadOnly,
    /// Small and dense programs of copies, mbarrier objects and fences of the async proxy.
    Asynchronous,
    /// The same of two kernels, with copies of tensors.
    Kernels,
    /// Requests to cancel a cluster.
    Requests,
    /// A multimem address, and accesses of its locations.
    Multimem,
    /// Tensor memory, its allocations, and what orders accesses of it.
    TensorMemory,
    /// Products of matrices, by a warpgroup.
    Matrices,
    /// Programs of asynchronous operations that the axioms order, as far as one instruction decides.
    Awaited,
    /// The same of two kernels.
    Launched,
}

/// `TURNS` turns: each of `others` has one, `most` has the rest.
pub const fn mostly<const TURNS: usize>(
    most: ProgramSource,
    others: &[ProgramSource],
) -> [ProgramSource; TURNS] {
    let mut all = [most; TURNS];
    let mut at = 0;
    while at < others.len() {
        all[at] = others[at];
        at += 1;
    }
    all
}

impl ProgramSource {
    /// The strategy of proptest, which shrinks by the choices that were made. [`crate::shrink`] does it by the text.
    pub fn strategy(self) -> BoxedStrategy<RandomProgram> {
        match self {
            ProgramSource::Uniform(shape) => {
                sketch(shape).prop_map(|sketch| sketch.program()).boxed()
            }
            ProgramSource::Cycles => cycles::cycles(),
            ProgramSource::Ordered => ordered::ordered(),
            ProgramSource::Placed(kind) => placed(kind).prop_map(|test| test.program()).boxed(),
            ProgramSource::ReadOnly => readonly().boxed(),
            ProgramSource::Asynchronous => {
                asynchronous().prop_map(|sketch| sketch.program()).boxed()
            }
            ProgramSource::Kernels => kernels().prop_map(|sketch| sketch.program()).boxed(),
            ProgramSource::Requests => requests().prop_map(|sketch| sketch.program()).boxed(),
            ProgramSource::Multimem => multimem().prop_map(|sketch| sketch.program()).boxed(),
            ProgramSource::TensorMemory => {
                tensor_memory().prop_map(|sketch| sketch.program()).boxed()
            }
            ProgramSource::Matrices => matrices().prop_map(|sketch| sketch.program()).boxed(),
            ProgramSource::Awaited => awaited::awaited(),
            ProgramSource::Launched => awaited::launched(),
        }
    }
}

/// The programs of the cases of a seed, which take turns at the sources.
pub struct Drawer {
    seed: u64,
    sources: Vec<BoxedStrategy<RandomProgram>>,
}

impl Drawer {
    pub fn new(seed: u64, sources: &[ProgramSource]) -> Drawer {
        Drawer { seed, sources: sources.iter().map(|source| source.strategy()).collect() }
    }

    /// The program of a case: always the same one.
    pub fn program(&self, case: u64) -> RandomProgram {
        let sources = self.sources.len() as u64;
        let source = usize::try_from(case % sources).expect("there are few sources");
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&case.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, rng);
        let tree = self.sources[source].new_tree(&mut runner);
        tree.expect("the strategies reject nothing").current()
    }
}

/// Numbers that look random: `SplitMix64`.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).expect("it is below a usize")
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
