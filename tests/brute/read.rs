//! What a test consists of, and the paths of its threads.

use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Space {
    Global,
    Shared,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// The order of a memory operation, a fence or an operation on an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sem {
    Weak,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    Sequential,
}

impl Sem {
    /// Sequential fences are release and acquire fences too (base, A1).
    pub(super) fn releases(self) -> bool {
        matches!(self, Sem::Release | Sem::AcquireRelease | Sem::Sequential)
    }

    pub(super) fn acquires(self) -> bool {
        matches!(self, Sem::Acquire | Sem::AcquireRelease | Sem::Sequential)
    }
}

/// The objects that a `fence.proxy.async` is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Window {
    All,
    Global,
    SharedCta,
    SharedCluster,
}

/// A word of 32 bits in one place of memory.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) space: Space,
    /// The CTA whose shared memory has the word.
    pub(super) cta: usize,
    pub(super) initial: u64,
    /// The mbarrier object of which the word is a part.
    pub(super) object: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub(super) cta: usize,
    pub(super) cluster: usize,
    pub(super) gpu: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Operand {
    Number(u64),
    Register(String),
}

/// Where an asynchronous copy writes, and on which object this completes.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    pub(super) cells: Vec<usize>,
    pub(super) object: Option<usize>,
}

/// What can wait for a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tracking {
    Object,
    CpAsyncGroup,
    BulkGroup,
}

#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) from: Vec<usize>,
    pub(super) to: Vec<Destination>,
    /// What is written after the words of `from`: 0, or the value of a `st.async`.
    pub(super) rest: u64,
    pub(super) bytes: i64,
    pub(super) async_proxy: bool,
    pub(super) tracking: Tracking,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Init(i64),
    Inval,
    ExpectTx(i64),
    CompleteTx(i64),
    /// An arrival, with the bytes that it also expects.
    Arrive {
        count: i64,
        expect: i64,
    },
    ArriveDrop(i64),
    Wait {
        parity: i64,
        test: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Load {
        cell: usize,
        sem: Sem,
        scope: Scope,
        register: String,
    },
    Store {
        cell: usize,
        sem: Sem,
        scope: Scope,
        value: Operand,
    },
    /// `setp.eq` or `setp.ne` with a number; `exits` is the result that leaves a loop around it.
    Compare {
        register: String,
        left: String,
        number: u64,
        equal: bool,
        exits: Option<bool>,
    },
    /// A loop around the comparison before, which never ends.
    Forever,
    Fence {
        sem: Sem,
        scope: Scope,
    },
    FenceInit,
    FenceProxy(Window),
    Barrier(u64),
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    Copy(Copy),
    Commit,
    WaitGroup(usize),
    WaitAll,
    BulkCommit,
    BulkWaitGroup {
        number: usize,
        reads_only: bool,
    },
    /// `cp.async.mbarrier.arrive`.
    Track {
        object: usize,
        counted: bool,
    },
    Object {
        object: usize,
        action: Action,
        sem: Sem,
        scope: Scope,
        register: String,
        blocks: bool,
    },
}

impl Step {
    /// The objects that it changes, at once or when it completes.
    pub(super) fn changed_objects(&self) -> Vec<usize> {
        match self {
            Step::Object { action: Action::Wait { .. }, .. } => Vec::new(),
            Step::Object { object, .. } | Step::Track { object, .. } => vec![*object],
            Step::Copy(copy) => copy.to.iter().filter_map(|to| to.object).collect(),
            _ => Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) guard: Option<(String, bool)>,
    pub(super) step: Step,
}

#[derive(Clone, Debug)]
pub(super) enum Observed {
    Register(usize, String),
    Memory(usize),
}

/// What an object is when the threads start: nothing, or its count, phase and tx-count.
pub(super) type Declared = Option<(i64, i64, i64)>;

#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) threads: Vec<Placement>,
    pub(super) cells: Vec<Cell>,
    pub(super) objects: Vec<Declared>,
    pub(super) columns: Vec<Vec<Line>>,
    pub(super) registers: BTreeMap<(usize, String), u64>,
    pub(super) observed: Vec<(String, Observed)>,
}

/// A step of a path, with its result where that is a choice of the path: of a wait, or of a comparison.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) step: Step,
    pub(super) result: Option<bool>,
    /// The predicate that it is guarded by.
    pub(super) guard: Option<String>,
    /// Whether the guard is false: it is not executed.
    pub(super) skipped: bool,
}

pub(super) type Path = Vec<Chosen>;

/// All combinations of a path of each thread.
pub(super) fn combinations(program: &Program) -> Vec<Vec<Path>> {
    let mut all = vec![Vec::new()];
    for (thread, column) in program.columns.iter().enumerate() {
        let paths = paths(program, thread, column);
        let extend = |so_far: &Vec<Path>| {
            paths.iter().map(|path| [&so_far[..], std::slice::from_ref(path)].concat()).collect()
        };
        all = all.iter().flat_map(|so_far| -> Vec<Vec<Path>> { extend(so_far) }).collect();
    }
    all
}

/// The paths of a thread: each wait that does not block, and each comparison, may have either result (2.3). One iteration
/// of a loop stands for the loop, since the others change nothing; it is the last one, or one that is repeated for ever
/// (readings R29, R50).
fn paths(program: &Program, thread: usize, column: &[Line]) -> Vec<Path> {
    let mut all: Vec<(Path, BTreeMap<String, bool>)> = vec![(Vec::new(), BTreeMap::new())];
    for line in column {
        let mut next = Vec::new();
        for (path, known) in all {
            let initial = |name: &String| {
                program.registers.get(&(thread, name.clone())).is_some_and(|&value| value != 0)
            };
            let value = |name| known.get(name).copied().unwrap_or_else(|| initial(name));
            let stuck = matches!(path.last(), Some(Chosen { step: Step::Forever, .. }));
            let guard = line.guard.as_ref().map(|(name, _)| name.clone());
            if stuck {
                next.push((path, known));
                continue;
            }
            if line.guard.as_ref().is_some_and(|(name, positive)| value(name) != *positive) {
                let mut path = path;
                path.push(Chosen { step: line.step.clone(), result: None, guard, skipped: true });
                next.push((path, known));
                continue;
            }
            for (register, result) in results(&line.step) {
                let (mut path, mut known) = (path.clone(), known.clone());
                let guard = guard.clone();
                path.push(Chosen { step: line.step.clone(), result, guard, skipped: false });
                if let Step::Compare { exits: Some(exits), .. } = &line.step
                    && result != Some(*exits)
                {
                    let step = Step::Forever;
                    path.push(Chosen { step, result: None, guard: None, skipped: false });
                }
                if let (Some(register), Some(result)) = (register, result) {
                    known.insert(register, result);
                }
                next.push((path, known));
            }
        }
        all = next;
    }
    all.into_iter().map(|(path, _)| path).collect()
}

/// The results of a step that are a choice of the path, with the predicate that holds them.
fn results(step: &Step) -> Vec<(Option<String>, Option<bool>)> {
    let either = |name: &String, choices: &[bool]| {
        choices.iter().map(|&choice| (Some(name.clone()), Some(choice))).collect()
    };
    match step {
        Step::Compare { register, .. } => either(register, &[true, false]),
        Step::Object { action: Action::Wait { .. }, register, blocks, .. } => {
            either(register, if *blocks { &[true] } else { &[true, false] })
        }
        _ => vec![(None, None)],
    }
}
