//! A launch as the user states it: kernels, grid, threads, arguments and assertions.

use std::collections::BTreeSet;
use std::fmt;

use judge::Property;
use model::isa::bar::MOST_CTA_THREADS;
use model::program::LaunchOrder;
use text::Diagnostic;
use text::diagnostic::Span;
use text::report::{ByteSpan, Diagnostics};

use crate::argument::LaunchArgument;
use crate::special::LANES;
use crate::volatile::VolatileMeaning;

/// The extent of a grid, a block or a cluster, or an index into one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    pub const ONE: Dim3 = Dim3 { x: 1, y: 1, z: 1 };

    pub fn count(self) -> u64 {
        u64::from(self.x).saturating_mul(u64::from(self.y)).saturating_mul(u64::from(self.z))
    }

    /// The index with this number: `x` changes first.
    pub fn index(self, number: u32) -> Dim3 {
        Dim3 { x: number % self.x, y: number / self.x % self.y, z: number / self.x / self.y }
    }

    /// The number of an index in this extent.
    pub fn number(self, index: Dim3) -> u32 {
        (index.z * self.y + index.y) * self.x + index.x
    }

    /// How many of these extents are in `whole`, in each direction; `None` if they do not divide it.
    pub fn parts_of(self, whole: Dim3) -> Option<Dim3> {
        let part = |whole: u32, own: u32| whole.is_multiple_of(own).then_some(whole / own);
        Some(Dim3 {
            x: part(whole.x, self.x)?,
            y: part(whole.y, self.y)?,
            z: part(whole.z, self.z)?,
        })
    }

    /// Reads `4`, `4,2` or `4,2,1`.
    pub fn parse(text: &str) -> Option<Dim3> {
        let mut all = [1; 3];
        let mut parts = text.split(',');
        for (of, part) in all.iter_mut().zip(parts.by_ref()) {
            *of = part.trim().parse().ok().filter(|&of| of > 0)?;
        }
        let [x, y, z] = all;
        parts.next().is_none().then_some(Dim3 { x, y, z })
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dim3 { x, y, z } = *self;
        match (y, z) {
            (1, 1) => write!(f, "{x}"),
            (_, 1) => write!(f, "{x},{y}"),
            _ => write!(f, "{x},{y},{z}"),
        }
    }
}

/// Which threads of a launch are in the test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ThreadChoice {
    #[default]
    All,
    /// These numbers in each CTA.
    OfEachCta(Vec<u32>),
    /// CTAs, each with a number in it.
    Pairs(Vec<ThreadPlace>),
}

/// A thread by its numbers in the grid and in its CTA.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ThreadPlace {
    pub cta: u32,
    pub thread: u32,
}

/// One kernel of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelLaunch {
    /// As in the module; without one, the only kernel that the module has.
    pub name: Option<String>,
    /// The names of its arguments, in order; `None` for all of the launch.
    pub arguments: Option<Vec<String>>,
}

/// A launch of one kernel, or of several one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchSpec {
    pub kernels: Vec<KernelLaunch>,
    /// What each kernel but the first one waits for.
    pub order: LaunchOrder,
    pub grid: Dim3,
    pub block: Dim3,
    pub cluster: Option<Dim3>,
    pub threads: ThreadChoice,
    /// The GPU of each CTA, where there are several: the CTA is then a launch of its own.
    pub gpus: Vec<u32>,
    /// Whether all CTAs run at once, and the grid has a barrier of its own.
    pub cooperative: bool,
    pub volatile: VolatileMeaning,
    /// Dynamic shared memory, in bytes.
    pub shared: Option<u32>,
    /// How many CTAs run at once, where not all do.
    pub resident: Option<u32>,
    pub arguments: Vec<LaunchArgument>,
    /// Conditions on the final contents of memory. Each holds at the end of every execution.
    pub assertions: Vec<String>,
    /// What is asked of the launch, at least one. A kernel without a meaning is found by every question.
    pub questions: BTreeSet<LaunchQuestion>,
}

/// What is asked of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LaunchQuestion {
    /// Whether the assertions hold, and no thread traps.
    Assert,
    Race,
    /// Whether every execution finishes.
    Hang,
    /// Whether threads meet at the same barriers: part of every question.
    Barrier,
    /// Whether addresses are in buffers, and aligned: part of every question.
    Bounds,
    /// Whether a read may return what nobody has written.
    Uninitialised,
}

impl VolatileMeaning {
    /// Reads a name.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(name: &str) -> Result<VolatileMeaning, LaunchError> {
        let found = VolatileMeaning::ALL.into_iter().find(|meaning| meaning.name() == name);
        found.ok_or_else(|| {
            let all = VolatileMeaning::ALL.map(VolatileMeaning::name).join(" or ");
            LaunchError::new(format!("`{name}` is not a meaning of volatile accesses")).help(all)
        })
    }
}

impl LaunchQuestion {
    pub const ALL: [LaunchQuestion; 6] = [
        LaunchQuestion::Assert,
        LaunchQuestion::Race,
        LaunchQuestion::Hang,
        LaunchQuestion::Barrier,
        LaunchQuestion::Bounds,
        LaunchQuestion::Uninitialised,
    ];

    pub fn name(self) -> &'static str {
        match self {
            LaunchQuestion::Assert => "assert",
            LaunchQuestion::Race => "race",
            LaunchQuestion::Hang => "hang",
            LaunchQuestion::Barrier => "barrier",
            LaunchQuestion::Bounds => "bounds",
            LaunchQuestion::Uninitialised => "uninitialised",
        }
    }

    /// What a property answers first.
    pub fn of(property: Property) -> LaunchQuestion {
        match property {
            Property::ProgramSpec => LaunchQuestion::Assert,
            Property::NoDataRace => LaunchQuestion::Race,
            Property::Termination => LaunchQuestion::Hang,
            Property::NoUninitialisedRead => LaunchQuestion::Uninitialised,
        }
    }

    /// The property that answers it.
    pub fn property(self) -> Property {
        match self {
            LaunchQuestion::Assert | LaunchQuestion::Barrier | LaunchQuestion::Bounds => {
                Property::ProgramSpec
            }
            LaunchQuestion::Race => Property::NoDataRace,
            LaunchQuestion::Hang => Property::Termination,
            LaunchQuestion::Uninitialised => Property::NoUninitialisedRead,
        }
    }

    /// Reads a name.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(name: &str) -> Result<LaunchQuestion, LaunchError> {
        let found = LaunchQuestion::ALL.into_iter().find(|question| question.name() == name.trim());
        found.ok_or_else(|| {
            let all = LaunchQuestion::ALL.map(LaunchQuestion::name).join(", ");
            LaunchError::new(format!("`{name}` is not asked of a launch"))
                .help(format!("one or more of: {all}"))
        })
    }
}

impl LaunchSpec {
    /// Whether some question is asked that a property answers.
    pub(crate) fn asks(&self, property: Property) -> bool {
        self.questions.iter().any(|question| question.property() == property)
    }

    pub fn new(grid: Dim3, block: Dim3) -> LaunchSpec {
        LaunchSpec {
            kernels: vec![KernelLaunch { name: None, arguments: None }],
            order: LaunchOrder::Stream,
            grid,
            block,
            cluster: None,
            threads: ThreadChoice::All,
            gpus: Vec::new(),
            cooperative: false,
            volatile: VolatileMeaning::Ptx,
            shared: None,
            resident: None,
            arguments: Vec::new(),
            assertions: Vec::new(),
            questions: LaunchQuestion::ALL.into(),
        }
    }

    /// Whether a GPU takes the launch.
    ///
    /// # Errors
    /// All that is wrong with its extents.
    pub(crate) fn check(&self) -> Result<(), Vec<LaunchError>> {
        let mut errors = Vec::new();
        let Dim3 { z, .. } = self.block;
        if self.block.count() > MOST_CTA_THREADS || z > MOST_IN_Z {
            errors.push(LaunchError::new(format!(
                "a block has at most {MOST_CTA_THREADS} threads, {MOST_IN_Z} of them in the direction z, and this is {}",
                self.block
            )));
        }
        errors.extend(self.cluster.and_then(|cluster| self.check_cluster(cluster)));
        if let Some(bytes) = self.shared.filter(|bytes| *bytes > MOST_SHARED) {
            let why = format!(
                "a CTA has at most {MOST_SHARED} bytes of shared memory, and this is {bytes}"
            );
            errors.push(LaunchError::new(why).help("--shared 49152"));
        }
        if self.resident == Some(0) {
            let why = "no CTA runs where none is resident";
            errors.push(LaunchError::new(why).help("--resident 1"));
        }
        let (gpus, ctas) = (self.gpus.len(), self.grid.count());
        if gpus > 0 && gpus as u64 != ctas {
            let why = format!("`gpu_of_cta` has {gpus} numbers, and the grid {ctas} CTAs");
            errors.push(LaunchError::new(why).help("one number for each CTA"));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// What is wrong with clusters of this extent.
    pub(crate) fn check_cluster(&self, cluster: Dim3) -> Option<LaunchError> {
        if cluster.count() > MOST_IN_CLUSTER {
            let why =
                format!("a cluster has at most {MOST_IN_CLUSTER} CTAs, and this is {cluster}");
            return Some(LaunchError::new(why));
        }
        if cluster.parts_of(self.grid).is_none() {
            let why = format!("clusters of {cluster} do not divide a grid of {}", self.grid);
            let help = "a grid has whole clusters: --grid 4 --cluster 2";
            return Some(LaunchError::new(why).help(help));
        }
        None
    }

    /// The number of the cluster of a CTA; `None` without clusters.
    pub(crate) fn cluster_of(&self, cta: u32) -> Option<u32> {
        let cluster = self.cluster?;
        let Dim3 { x, y, z } = self.grid.index(cta);
        let around = Dim3 { x: x / cluster.x, y: y / cluster.y, z: z / cluster.z };
        Some(cluster.parts_of(self.grid)?.number(around))
    }

    /// The threads of the test, in the order of its columns.
    ///
    /// # Errors
    /// If there are too many, or one is not in the launch.
    pub fn places(&self) -> Result<Vec<ThreadPlace>, LaunchError> {
        let (ctas, threads) = (self.grid.count(), self.block.count());
        let most = MOST_THREADS / self.kernels.len().max(1);
        let too_many = |count: u64| {
            let why = format!("{count} threads are too many: a test has at most {most}");
            LaunchError { help: self.fewer_threads(), ..LaunchError::new(why) }
        };
        let all: Vec<ThreadPlace> = match &self.threads {
            ThreadChoice::All => {
                let count = ctas.saturating_mul(threads);
                if count > most as u64 {
                    return Err(too_many(count));
                }
                let of = |cta| (0..narrow(threads)).map(move |thread| ThreadPlace { cta, thread });
                (0..narrow(ctas)).flat_map(of).collect()
            }
            ThreadChoice::OfEachCta(lanes) => {
                let count = ctas.saturating_mul(lanes.len() as u64);
                if count > most as u64 {
                    return Err(too_many(count));
                }
                let of = |cta| lanes.iter().map(move |&thread| ThreadPlace { cta, thread });
                (0..narrow(ctas)).flat_map(of).collect()
            }
            ThreadChoice::Pairs(pairs) => pairs.clone(),
        };
        if all.len() > most {
            return Err(too_many(all.len() as u64));
        }
        let mut sorted = all.clone();
        sorted.sort_unstable();
        if let Some(same) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let ThreadPlace { cta, thread } = same[0];
            return Err(LaunchError::new(format!("thread {thread} of CTA {cta} is named twice")));
        }
        let outside = |place: &&ThreadPlace| {
            u64::from(place.cta) >= ctas || u64::from(place.thread) >= threads
        };
        if let Some(ThreadPlace { cta, thread }) = all.iter().find(outside) {
            return Err(LaunchError::new(format!(
                "thread {thread} of CTA {cta} is not in the launch: it has {ctas} CTAs of {threads} threads"
            )));
        }
        if all.is_empty() {
            return Err(LaunchError::new("no thread is in the test").help("--lanes 0,1"));
        }
        Ok(all)
    }

    /// What makes a test smaller, of what the launch does not say already.
    fn fewer_threads(&self) -> Option<String> {
        let lanes = match &self.threads {
            ThreadChoice::All => narrow(self.block.count()) as usize,
            ThreadChoice::OfEachCta(lanes) => lanes.len(),
            ThreadChoice::Pairs(_) => 0,
        };
        let mut all = Vec::new();
        if lanes > FEW_LANES {
            all.push("name the lanes whose memory accesses matter: --lanes 0,1");
        }
        if self.grid.count() > FEW_CTAS {
            all.push("judge a smaller grid: --grid 2");
        }
        if self.block.count() > u64::from(LANES) {
            all.push("compile the kernel for fewer warps: `num_warps=1` in Triton");
        }
        (!all.is_empty()).then(|| all.join("; or "))
    }
}

/// The lanes that are enough for most bugs.
const FEW_LANES: usize = 2;

/// The CTAs that are.
const FEW_CTAS: u64 = 2;

/// A count that a limit has made small.
fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The most threads of a block in the direction z, the most CTAs of a cluster, and the most bytes of shared memory of a CTA, on
/// every target. CUDA C++ Programming Guide, Compute Capabilities.
const MOST_IN_Z: u32 = 64;
const MOST_SHARED: u32 = 227 << 10;
const MOST_IN_CLUSTER: u64 = 16;

/// The most threads of a test.
const MOST_THREADS: usize = 250;

/// What is wrong with a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchError {
    pub message: String,
    /// The line of the module that it is about, from 1.
    pub line: Option<usize>,
    pub help: Option<String>,
}

impl LaunchError {
    pub fn new(message: impl Into<String>) -> LaunchError {
        LaunchError { message: message.into(), line: None, help: None }
    }

    #[must_use]
    pub fn help(self, help: impl Into<String>) -> LaunchError {
        LaunchError { help: Some(help.into()), ..self }
    }

    #[must_use]
    pub fn at(self, line: usize) -> LaunchError {
        LaunchError { line: Some(line), ..self }
    }

    /// The error as one of a file: at its line in the text, or of the whole file. `code`: of the error.
    pub fn in_file(self, code: &'static str, path: &str, text: &str) -> Vec<Diagnostic> {
        let line = self.line.and_then(|line| ByteSpan::of_line(text, line));
        let mut report = Diagnostics::default();
        let at = line.map_or(ByteSpan::default(), |line| line.trimmed(text));
        report.error(code, at, self.message).help_if(self.help);
        let mut all = report.finish(path, text);
        if line.is_none() {
            for of in &mut all {
                (of.span, of.excerpts) = (Span::default(), Vec::new());
            }
        }
        all
    }
}
