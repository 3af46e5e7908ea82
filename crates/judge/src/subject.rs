//! What a reading is about: what a program has if another choice of the reading could change what it does.
//!
//! The checks inspect the text of a program, and are conservative: where they find nothing, the choice changes nothing.

use model::isa::alu::AluOp;
use model::isa::asynchronous::{AsyncFence, Asynchronous, GroupCompletion};
use model::isa::atom::AtomicOp;
use model::isa::warp::{Exchange, ExchangeOp};
use model::isa::{Address, Instruction, Operand};
use model::memory::{Proxy, VariableId};
use model::program::Program;
use model::reading::{Coherence, Dependencies, FailedCas, Readings};
use model::scope::{Placement, Scope};

/// What a switch from one choice of a reading to another one is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadingSubject {
    TensorMemory,
    Multicasts,
    MultimemAddresses,
    Elections,
    AsynchronousOperations,
    Aliases,
    FenceHalves,
    ReleasesOfReads,
    AsyncProxyWaits,
    /// A `cas`, which may fail.
    Cas,
    /// The same, with release.
    ReleasingCas,
    /// So many writes of one location, two of which race.
    RacingWrites(usize),
    /// What waits for other threads.
    Waits,
    /// Where semantic and syntactic dependencies can differ.
    Decisions,
    Dependencies,
}

impl ReadingSubject {
    /// What the only difference between two choices of readings is about.
    pub fn of(chosen: &Readings, other: &Readings) -> ReadingSubject {
        let synchronous = |of: &Readings| {
            let Readings { pattern_location, coherence, dependencies, failed_cas, exits, .. } = *of;
            (pattern_location, coherence, dependencies, failed_cas, exits)
        };
        if chosen.tensor_fences != other.tensor_fences {
            return ReadingSubject::TensorMemory;
        }
        if chosen.multicast_completion != other.multicast_completion {
            return ReadingSubject::Multicasts;
        }
        if chosen.multimem_addresses != other.multimem_addresses {
            return ReadingSubject::MultimemAddresses;
        }
        if chosen.elected_lane != other.elected_lane {
            return ReadingSubject::Elections;
        }
        if chosen.aliased_proxies != other.aliased_proxies {
            return ReadingSubject::Aliases;
        }
        if chosen.fence_halves != other.fence_halves {
            return ReadingSubject::FenceHalves;
        }
        if chosen.alias_reads != other.alias_reads {
            return ReadingSubject::ReleasesOfReads;
        }
        if chosen.async_wait != other.async_wait {
            return ReadingSubject::AsyncProxyWaits;
        }
        if synchronous(chosen) == synchronous(other) {
            return ReadingSubject::AsynchronousOperations;
        }
        if chosen.pattern_location != other.pattern_location {
            return ReadingSubject::Aliases;
        }
        let (now, then) = (chosen.failed_cas, other.failed_cas);
        if now != then {
            let writes = [now, then].contains(&FailedCas::Writes);
            return if writes { ReadingSubject::Cas } else { ReadingSubject::ReleasingCas };
        }
        let (now, then) = (chosen.coherence, other.coherence);
        if now != then {
            let total = [now, then].contains(&Coherence::Total);
            return ReadingSubject::RacingWrites(if total { 2 } else { 3 });
        }
        if chosen.exits != other.exits {
            return ReadingSubject::Waits;
        }
        match (chosen.dependencies, other.dependencies) {
            (Dependencies::Syntactic, Dependencies::Semantic)
            | (Dependencies::Semantic, Dependencies::Syntactic) => ReadingSubject::Decisions,
            _ => ReadingSubject::Dependencies,
        }
    }

    /// Whether the program has any of it.
    pub fn is_in(self, program: &Program) -> bool {
        let asynchronous = |wanted: &dyn Fn(&Asynchronous) -> bool| {
            instructions(program).any(|of| of.as_asynchronous().is_some_and(wanted))
        };
        let cas = |releases: bool| {
            let is_it = |instruction: &Instruction| {
                instruction.as_atomic().is_some_and(|of| {
                    of.op == AtomicOp::Cas && (!releases || of.order.is_release())
                })
            };
            instructions(program).any(is_it)
        };
        match self {
            ReadingSubject::TensorMemory => {
                asynchronous(&|of| matches!(of, Asynchronous::TensorMemory(_)))
            }
            ReadingSubject::Multicasts => instructions(program)
                .any(|of| of.places().any(|place| place.multicast && place.is_written())),
            ReadingSubject::MultimemAddresses => {
                program.variables.iter().any(|variable| !variable.multimem.is_empty())
            }
            ReadingSubject::Elections => {
                let elects = |of: &Exchange| of.op == ExchangeOp::Elect;
                instructions(program).any(|of| of.as_exchange().is_some_and(elects))
            }
            ReadingSubject::AsynchronousOperations => program.is_asynchronous(),
            ReadingSubject::Aliases => has_alias(program),
            ReadingSubject::FenceHalves => {
                let half = |of: &Instruction| matches!(of, Instruction::Fence(of) if of.aliases);
                program.is_asynchronous() || instructions(program).any(half)
            }
            ReadingSubject::ReleasesOfReads => asynchronous(&|of| {
                matches!(of, Asynchronous::Fence(AsyncFence::AliasReleaseOfReads))
            }),
            ReadingSubject::AsyncProxyWaits => asynchronous(
                &|of| matches!(of, Asynchronous::WaitGroup(wait) if wait.until == GroupCompletion::AsyncProxy),
            ),
            ReadingSubject::Cas => cas(false),
            ReadingSubject::ReleasingCas => cas(true),
            ReadingSubject::RacingWrites(count) => racing_writes(program, count),
            ReadingSubject::Waits => {
                !program.launches.is_empty() || instructions(program).any(waits_for_threads)
            }
            ReadingSubject::Decisions => decides_or_folds(program),
            ReadingSubject::Dependencies => true,
        }
    }

    /// In words, to follow `no test has`.
    pub fn text(self) -> &'static str {
        match self {
            ReadingSubject::TensorMemory => "operations on tensor memory",
            ReadingSubject::Multicasts => "multicast copies",
            ReadingSubject::MultimemAddresses => "multimem addresses",
            ReadingSubject::Elections => "`elect.sync`",
            ReadingSubject::AsynchronousOperations => "asynchronous operations",
            ReadingSubject::Aliases => "a location with two addresses",
            ReadingSubject::FenceHalves => "asynchronous operations, or halves of an alias fence",
            ReadingSubject::ReleasesOfReads => "`fence.alias`",
            ReadingSubject::AsyncProxyWaits => {
                "`cp.async.bulk.wait_group.sync_restrict::proxy::async`"
            }
            ReadingSubject::Cas => "a `cas`, which may fail",
            ReadingSubject::ReleasingCas => "a `cas` with release, which may fail",
            ReadingSubject::RacingWrites(2) => "two racing writes of one location",
            ReadingSubject::RacingWrites(_) => "three writes of one location, two of which race",
            ReadingSubject::Waits => "barriers, or anything else that waits for threads",
            ReadingSubject::Decisions => "guards, or arithmetic whose operands cancel out",
            ReadingSubject::Dependencies => "dependencies",
        }
    }
}

/// Whether an instruction waits for an exit, or for an arrival that may release nothing or not order all proxies, or asks
/// how many arrivals there were.
fn waits_for_threads(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::ClusterBarrier(_) | Instruction::Barrier(_))
        || instruction
            .as_asynchronous()
            .is_some_and(|of| of.waits_for_phase() || matches!(of, Asynchronous::PendingCount(_)))
}

fn instructions(program: &Program) -> impl Iterator<Item = &Instruction> {
    program.threads.iter().flat_map(|thread| &thread.lines).map(|line| &line.instruction)
}

/// Whether some memory has two virtual addresses.
fn has_alias(program: &Program) -> bool {
    let aliases = program.variables.iter().filter_map(|variable| variable.alias);
    aliases.into_iter().any(|alias| alias.proxy == Proxy::Generic)
}

/// A write of the program, as far as its text tells.
struct Write {
    thread: Placement,
    name: usize,
    scope: Option<Scope>,
    /// `None` where the address is computed.
    variable: Option<VariableId>,
}

impl Write {
    /// Whether it may be of the same location, and is not morally strong with the other.
    fn may_race(&self, other: &Write) -> bool {
        let included = |scope: Option<Scope>, here, there| {
            scope.is_some_and(|scope: Scope| scope.includes(here, there))
        };
        let strong = included(self.scope, self.thread, other.thread)
            && included(other.scope, other.thread, self.thread);
        self.name != other.name && !strong && self.may_meet(other)
    }

    fn may_meet(&self, other: &Write) -> bool {
        self.variable.is_none() || other.variable.is_none() || self.variable == other.variable
    }
}

/// Whether this many writes, two of which race, may be of one location.
fn racing_writes(program: &Program, count: usize) -> bool {
    let mut writes = Vec::new();
    for (name, thread) in program.threads.iter().enumerate() {
        let loops = thread.loops();
        for line in &thread.lines {
            let instruction = &line.instruction;
            if matches!(instruction, Instruction::Load(_)) {
                continue;
            }
            let Some((address, _, elements)) = instruction.access() else { continue };
            let scope = instruction.scope();
            let variable = variable(program, address);
            // In a loop it is any number of writes.
            for _ in 0..if loops { count } else { elements } {
                writes.push(Write { thread: thread.placement, name, scope, variable });
            }
        }
    }
    writes.iter().enumerate().any(|(at, write)| {
        writes[at + 1..].iter().any(|other| {
            let meets = |of: &&Write| of.may_meet(write) && of.may_meet(other);
            write.may_race(other) && writes.iter().filter(meets).count() >= count
        })
    })
}

/// The variable of an address that names one; an alias is what it is an alias of.
fn variable(program: &Program, address: Address) -> Option<VariableId> {
    let Operand::Address(variable) = address.base else { return None };
    let alias = program.variables[usize::from(variable.0)].alias;
    Some(alias.map_or(variable, |alias| alias.of))
}

/// Whether there is anything that makes a dependency of values less than one of instructions: a decision,
/// or an operation whose value may not depend on its operand.
fn decides_or_folds(program: &Program) -> bool {
    let mut lines = program.threads.iter().flat_map(|thread| &thread.lines);
    lines.any(|line| line.guard.is_some())
        || instructions(program).any(|instruction| {
            let branch = instruction.as_branch();
            branch.is_some_and(|branch| branch.condition.is_some())
                || matches!(instruction, Instruction::Cvta(_))
                // A count, a size or a mask decides what an instruction does.
                || (matches!(instruction, Instruction::Barrier(_))
                    || instruction.as_asynchronous().is_some())
                    && instruction.sources().next().is_some()
                || matches!(instruction, Instruction::Alu(alu)
                    if !matches!(alu.op, AluOp::Mov | AluOp::Add | AluOp::Or))
        })
}
