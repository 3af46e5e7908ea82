//! A program: placed threads over variables, with its observed final values.

use std::collections::{BTreeMap, BTreeSet};

use crate::isa::alu::{Alu, AluOp};
use crate::isa::asynchronous::{Asynchronous, MbarrierOp};
use crate::isa::bar::{Barrier, BarrierKind};
use crate::isa::cvta::{AddressOp, Cvta};
use crate::isa::integer::IntegerOp;
use crate::isa::print::OperandNames;
use crate::isa::tensor_memory::TensorOp;
use crate::isa::warp::{ExchangeOp, LANES};
use crate::isa::{Address, Instruction, Line, Operand, Reg};
use crate::memory::{Space, TENSOR_COLUMN_BYTES, Variable, VariableId};
use crate::scope::Placement;
use crate::value::{Value, low_bits};

/// Index of a [`Thread`] in [`Program::threads`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u8);

/// A kernel that is launched after another: `kernel 0 -> 1 @programmatic`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Launch {
    /// The number of the kernel before: [`Placement::kernel`].
    pub before: u32,
    pub after: u32,
    pub order: LaunchOrder,
}

/// What the launch of a kernel waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LaunchOrder {
    /// The end of the kernel before.
    Stream,
    /// `griddepcontrol.launch_dependents` in each of its CTAs, or the end of the CTA.
    Programmatic,
}

impl LaunchOrder {
    pub const ALL: [LaunchOrder; 2] = [LaunchOrder::Stream, LaunchOrder::Programmatic];

    /// As a test writes it, without the `@`.
    pub fn name(self) -> &'static str {
        match self {
            LaunchOrder::Stream => "stream",
            LaunchOrder::Programmatic => "programmatic",
        }
    }
}

/// Where a thread stays for ever.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stuck {
    pub thread: ThreadId,
    pub line: u16,
    pub why: Stays,
    /// The mbarrier object at which it waits, if it does.
    pub object: Option<AwaitedObject>,
}

impl Stuck {
    /// The thread, the line and the reason, whatever the object is like.
    pub fn place(&self) -> (ThreadId, u16, Stays) {
        (self.thread, self.line, self.why)
    }
}

/// What an mbarrier object holds when a thread waits at it for ever.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AwaitedObject {
    /// The phase that is not complete; the first one is 0.
    pub phase: i32,
    /// The pending count of arrivals, and the tx-count in bytes: 9.7.15.16.
    pub pending: i64,
    pub tx: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stays {
    /// At a barrier that never completes.
    Waits,
    /// In a loop that nothing ends.
    Loops,
    /// At an instruction that cannot be executed, for its address or its barrier.
    Faults,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    pub threads: Vec<Thread>,
    pub variables: Vec<Variable>,
    /// The order of its kernels, each pair once.
    pub launches: Vec<Launch>,
    /// What an outcome consists of, in the order in which it prints.
    pub observed: Vec<Observed>,
    /// Constants that conditions speak of; values a thin-air execution could have.
    pub constants: Vec<Value>,
    /// If given, only these bytes are accessed by several threads, or through several names. Accesses to other
    /// bytes make no events. An access must not overlap these bytes in part.
    pub contested: Option<Vec<ContestedBytes>>,
    /// Whether accesses of different sizes are known not to overlap, so that none of their races is undefined.
    pub sizes_agree: bool,
    /// Whether paths are left out whose outcomes others have, as they only read the same bytes more often. A line may
    /// be on no path then.
    pub omits_covered: bool,
    /// Pairs of instructions, the lesser one first, whose data races do not count.
    pub exempt_races: BTreeSet<[(ThreadId, u16); 2]>,
    /// Whether an address that may be any is only the first one of each variable. Other accesses are then those of
    /// some paths, not of all.
    pub few_addresses: bool,
    /// What is done with loops whose number of iterations no read decides.
    pub counted_loops: CountedLoops,
    /// What an integer division by 0 is.
    pub zero_division: ZeroDivision,
    pub access_events: AccessEvents,
}

/// What is done with loops whose number of iterations no read decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CountedLoops {
    /// They are unrolled up to the bound, as all loops are.
    #[default]
    Bounded,
    /// They are followed to their end.
    Complete,
}

/// What an integer division by 0 is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ZeroDivision {
    /// It has the result that hardware gives it.
    #[default]
    Computed,
    /// It has no meaning, as in the document.
    Undefined,
}

/// Which accesses are events of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AccessEvents {
    #[default]
    All,
    /// Those that may change something for other threads: nobody looks at executions.
    OfInterest,
}

/// Bytes that several threads, or one thread through aliases, may access.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ContestedBytes {
    /// Not an alias, but the variable of which it is one.
    pub variable: VariableId,
    pub start: u32,
    /// In bytes.
    pub length: u32,
    /// All values that threads other than the first write to all of these bytes; `None` if they are not known.
    pub values: Option<Vec<Value>>,
}

impl ContestedBytes {
    pub fn end(&self) -> u32 {
        self.start + self.length
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// `P0`, or as the test names it.
    pub name: String,
    pub placement: Placement,
    pub registers: Vec<Register>,
    pub lines: Vec<Line>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    pub name: String,
    pub initial: InitialValue,
    /// The widest type an instruction of the thread writes it with, in bits: comparisons in
    /// conditions look at this many low bits. 1 for a predicate.
    pub bits: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialValue {
    Value(Value),
    /// The address of a variable, as `thread` sees it: a `.shared` one is a location per CTA; plus an offset in bytes.
    Address {
        variable: VariableId,
        thread: ThreadId,
        offset: u64,
    },
}

impl Thread {
    /// The branches that go back, or to themselves: the line of each, and where it leads.
    pub fn back_branches(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.branches().filter(|&(at, target)| target <= at)
    }

    /// All branches: the line of each, and its target.
    pub fn branches(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(at, line)| Some((at, line.instruction.as_branch()?.target)))
    }

    /// Whether a loop has a barrier, of the CTA, the cluster or a warp.
    pub fn repeats_barrier(&self) -> bool {
        self.back_branches().any(|(branch, target)| {
            let mut body = self.lines[target..=branch].iter().map(|line| &line.instruction);
            body.any(|of| matches!(of, Instruction::Barrier(_) | Instruction::ClusterBarrier(_)))
        })
    }

    /// Whether two threads have the same text: a line of both is then one instruction of one kernel.
    pub fn has_code_of(&self, other: &Thread) -> bool {
        let target = |line: &Line| line.instruction.as_branch().map(|branch| branch.target);
        self.lines.len() == other.lines.len()
            && self.lines.iter().zip(&other.lines).all(|(one, other)| {
                one.text == other.text
                    && target(one) == target(other)
                    && one.guard.is_some() == other.guard.is_some()
            })
    }

    /// Whether some line may be executed again.
    pub fn loops(&self) -> bool {
        self.back_branches().next().is_some()
    }
}

/// The names that a test gives. A register begins with `%` where the thread writes it so, and where a variable has its name:
/// `%0` and `%_` are something else without it. A label is that of another branch to the line.
pub struct ProgramNames<'p> {
    pub program: &'p Program,
    pub thread: &'p Thread,
}

impl OperandNames for ProgramNames<'_> {
    fn register(&self, register: Reg) -> String {
        let name = &self.thread.registers[usize::from(register.0)].name;
        let marked = format!("%{name}");
        let is_word = |c: char| c.is_alphanumeric() || ['_', '$', '.'].contains(&c);
        let mut texts = self.thread.lines.iter().flat_map(|line| line.text.split(&marked).skip(1));
        let is_marked = self.program.variables.iter().any(|of| of.name == *name)
            || texts.any(|rest| !rest.starts_with(is_word));
        if is_marked { marked } else { name.clone() }
    }

    fn bits(&self, register: Reg) -> u16 {
        self.thread.registers[usize::from(register.0)].bits
    }

    fn variable(&self, variable: VariableId) -> String {
        self.program.variables[usize::from(variable.0)].name.clone()
    }

    fn label(&self, line: usize) -> Option<String> {
        let jumps = self.thread.branches().filter(|&(_, target)| target == line);
        let mut texts = jumps.map(|(at, _)| self.thread.lines[at].text.as_str());
        let label = texts.find_map(|text| text.split_once("bra"))?.1;
        Some(label.trim_start_matches(".uni").trim().to_owned())
    }
}

/// One component of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Observed {
    Register {
        thread: ThreadId,
        register: Reg,
    },
    /// The final value of `length` bytes at `offset` of a variable, as `thread` sees it.
    Memory {
        variable: VariableId,
        thread: ThreadId,
        offset: u32,
        length: u32,
    },
}

impl Program {
    /// The variable whose bytes this one names: itself, or that of which it is an alias.
    pub fn root(&self, variable: VariableId) -> VariableId {
        match self.variables[usize::from(variable.0)].alias {
            Some(alias) => self.root(alias.of),
            None => variable,
        }
    }

    /// Whether an address may be in a variable: it does not name the bytes of another one.
    fn may_be_in(&self, address: Address, variable: VariableId) -> bool {
        let Operand::Address(named) = address.base else { return true };
        self.root(named) == self.root(variable)
    }

    /// The lane of a thread in its warp.
    pub fn lane(&self, thread: ThreadId) -> u32 {
        let (before, rest) = self.threads.split_at(thread.0.into());
        let lane = rest[0].placement.lane(before.iter().map(|other| other.placement));
        u32::try_from(lane).expect("a test has few threads")
    }

    /// The threads of the warp of a thread, in the order of their lanes.
    pub fn warp_threads(&self, thread: ThreadId) -> impl Iterator<Item = (ThreadId, &Thread)> {
        let here = self.threads[usize::from(thread.0)].placement;
        let all = (0..).map(ThreadId).zip(&self.threads);
        all.filter(move |(id, of)| *id == thread || of.placement.same_warp(here))
    }

    /// [`Program::exempt_races`] of the same threads with other instructions between those that are exempt.
    pub fn exempt_races_in(&self, changed: &Program) -> BTreeSet<[(ThreadId, u16); 2]> {
        let placements =
            |of: &Program| of.threads.iter().map(|of| of.placement).collect::<Vec<_>>();
        if self.exempt_races.is_empty() || placements(self) != placements(changed) {
            return BTreeSet::new();
        }
        let lines_of = |program: &Program, thread: ThreadId, text: &str| {
            let lines = &program.threads[usize::from(thread.0)].lines;
            let same = (0u16..).zip(lines).filter(|(_, line)| line.text == text);
            same.map(|(at, _)| at).collect::<Vec<u16>>()
        };
        let moved = |&(thread, line): &(ThreadId, u16)| {
            let text = &self.threads[usize::from(thread.0)].lines[usize::from(line)].text;
            let (before, after) = (lines_of(self, thread, text), lines_of(changed, thread, text));
            let at = before.iter().position(|known| *known == line)?;
            let line = *after.get(at).filter(|_| before.len() == after.len())?;
            Some(((thread, before[at]), (thread, line)))
        };
        // Many pairs share a place.
        let places: BTreeSet<(ThreadId, u16)> =
            self.exempt_races.iter().flatten().copied().collect();
        let moved: BTreeMap<_, _> = places.iter().filter_map(moved).collect();
        let pairs = self.exempt_races.iter();
        pairs.filter_map(|[one, other]| Some([*moved.get(one)?, *moved.get(other)?])).collect()
    }

    /// The thread of the test that is a lane of the warp of this thread.
    pub fn lane_thread(&self, thread: ThreadId, lane: u32) -> Option<ThreadId> {
        self.warp_threads(thread).nth(usize::try_from(lane).ok()?).map(|(id, _)| id)
    }

    /// Whether some lane of its warp may receive what a thread contributes to a shuffle. A shuffle whose lane operand is a constant
    /// receives from one known lane.
    pub fn is_shuffle_source(&self, thread: ThreadId) -> bool {
        let own = self.lane(thread);
        self.warp_threads(thread).any(|(id, of)| {
            let mut exchanges = of.lines.iter().filter_map(|line| line.instruction.as_exchange());
            exchanges.any(|exchange| {
                let ExchangeOp::Shuffle(shuffle) = exchange.op else { return false };
                let (Operand::Imm(by), Operand::Imm(clamp)) = (exchange.lane, exchange.clamp)
                else {
                    return true;
                };
                let by = u32::try_from(by % u64::from(LANES)).expect("it is a lane");
                shuffle.source(self.lane(id), by, clamp).0 == own
            })
        })
    }

    /// Whether some instruction does not do the same in each lane of a warp, or in each CTA of a cluster.
    pub fn tells_threads_apart(&self) -> bool {
        let mut lines = self.threads.iter().flat_map(|thread| &thread.lines);
        lines.any(|line| {
            matches!(
                &line.instruction,
                Instruction::Barrier(Barrier { warp: true, .. })
                    | Instruction::Cvta(Cvta {
                        op: AddressOp::InCta { .. } | AddressOp::RankOf,
                        ..
                    })
            )
        })
    }

    /// Whether some instruction is about asynchronous operations, or kernels are launched in an order.
    pub fn is_asynchronous(&self) -> bool {
        if !self.launches.is_empty() {
            return true;
        }
        let mut lines = self.threads.iter().flat_map(|thread| &thread.lines);
        lines.any(|line| line.instruction.as_asynchronous().is_some())
    }

    /// Whether a CTA may access shared memory of another one, of its cluster.
    pub fn has_remote_shared_memory(&self) -> bool {
        let placements = || self.threads.iter().map(|thread| thread.placement);
        let beside =
            |of: Placement| placements().any(|other| of.same_cluster(other) && !of.same_cta(other));
        self.variables.iter().any(|variable| variable.space == Space::Shared)
            && placements().any(beside)
    }

    /// The least and the most pending arrivals that the mbarrier objects of a variable may have, if the program says so.
    pub fn pending_counts(&self, variable: VariableId) -> Option<(u64, u64)> {
        let declared = &self.variables[usize::from(variable.0)].mbarriers;
        let mut counts: Vec<u64> = declared.iter().map(|object| object.count.into()).collect();
        // How much each arrival lowers a count, as far as that is known, and what raises it.
        let (mut arrivals, mut increments) = (Some(0_u64), 0);
        for thread in &self.threads {
            for instruction in thread.lines.iter().map(|line| &line.instruction) {
                let changed = instruction.changed_object();
                if !changed.is_some_and(|object| self.may_be_in(object.address, variable)) {
                    continue;
                }
                let Some(of) = instruction.as_asynchronous() else { continue };
                // `None` where it is not known how much an arrival lowers the count.
                let mut arrives = Some(0);
                if let Asynchronous::Mbarrier(mbarrier) = of {
                    if let MbarrierOp::Init { count, .. } = mbarrier.op {
                        let Operand::Imm(count) = count else { return None };
                        counts.push(count);
                    } else if let MbarrierOp::Arrive { count, drops, .. } = mbarrier.op {
                        // What is dropped is missing in the next phase, too.
                        let phases = if drops { 2_u64 } else { 1 };
                        arrives = if let Operand::Imm(count) = count {
                            Some(count.saturating_mul(phases))
                        } else {
                            None
                        };
                    }
                } else if let Asynchronous::Track(track) = of {
                    if track.increments && thread.loops() {
                        return None;
                    }
                    increments += u64::from(track.increments);
                    arrives = Some(1);
                } else if let Asynchronous::TensorMemory(_) = of {
                    arrives = Some(1);
                }
                let known = arrives.filter(|&count| count == 0 || !thread.loops());
                arrivals = arrivals.zip(known).map(|(all, more)| all.saturating_add(more));
            }
        }
        let least = counts.iter().min().copied().unwrap_or(0);
        let most = counts.iter().max().copied().unwrap_or(0);
        let least = arrivals.map_or(0, |arrivals| least.saturating_sub(arrivals));
        Some((least, most + increments))
    }

    /// The tensor memory that an allocation takes: the first variable of its size that no allocation takes in a thread of the
    /// CTA, or a line of the thread, before it.
    pub fn allocated(&self, thread: ThreadId, line: usize) -> Option<VariableId> {
        let at = (usize::from(thread.0), line);
        let columns = self.columns_allocated(at.0, at.1)?;
        let earlier = self.allocations_of_cta(at.0).filter(|&of| of < at);
        let same =
            earlier.filter(|&(thread, line)| self.columns_allocated(thread, line) == Some(columns));
        let bytes = usize::try_from(columns * TENSOR_COLUMN_BYTES).ok()?;
        let large = |variable: &Variable| {
            variable.space == Space::Tensor && variable.initial.len() == bytes
        };
        let mut variables = (0..).zip(&self.variables).filter(|(_, variable)| large(variable));
        variables.nth(same.count()).map(|(index, _)| VariableId(index))
    }

    /// Whether an instruction allocates the tensor memory that a thread accesses by this name.
    pub fn is_allocated(&self, variable: VariableId, thread: ThreadId) -> bool {
        self.allocations_of_cta(thread.0.into()).any(|(thread, line)| {
            let thread = ThreadId(u8::try_from(thread).expect("a test has few threads"));
            self.allocated(thread, line) == Some(variable)
        })
    }

    /// The allocations of tensor memory in the threads of a CTA: thread and line.
    fn allocations_of_cta(&self, thread: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let here = self.threads[thread].placement;
        let threads = self.threads.iter().enumerate();
        threads.filter(move |(_, of)| of.placement.same_cta(here)).flat_map(|(thread, of)| {
            let lines = (0..of.lines.len()).map(move |line| (thread, line));
            lines.filter(|&(thread, line)| self.columns_allocated(thread, line).is_some())
        })
    }

    /// How many columns of tensor memory a line allocates.
    fn columns_allocated(&self, thread: usize, line: usize) -> Option<u32> {
        let of = self.threads[thread].lines[line].instruction.as_asynchronous()?;
        let Asynchronous::TensorMemory(TensorOp::Allocate { columns, .. }) = of else {
            return None;
        };
        Some(*columns)
    }

    /// The variable of an address that names one, or takes it from a register that the thread never writes and that holds the
    /// address of its first byte; and the thread that sees it so.
    pub fn variable_of(
        &self,
        thread: ThreadId,
        address: Address,
    ) -> Option<(VariableId, ThreadId)> {
        match address.base {
            Operand::Address(variable) => Some((variable, thread)),
            Operand::Imm(_) => None,
            Operand::Reg(register) => {
                let of = &self.threads[usize::from(thread.0)];
                let InitialValue::Address { variable, thread, offset: 0 } =
                    of.registers[usize::from(register.0)].initial
                else {
                    return None;
                };
                let written = |line: &Line| line.instruction.destinations().any(|d| d == register);
                (!of.lines.iter().any(written)).then_some((variable, thread))
            }
        }
    }

    /// All constants that the program or its conditions mention, in order, each once.
    pub fn mentioned_constants(&self) -> Vec<Value> {
        let mut all: Vec<Value> = self.constants.clone();
        for thread in &self.threads {
            all.extend(thread.registers.iter().filter_map(|r| match r.initial {
                InitialValue::Value(value) => Some(value),
                InitialValue::Address { .. } => None,
            }));
            for line in &thread.lines {
                all.extend(line.instruction.operands().filter_map(|o| match o {
                    Operand::Imm(value) => Some(Value::from(value)),
                    Operand::Reg(_) | Operand::Address(_) => None,
                }));
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Program {
    /// Whether some execution might have no meaning: accesses of different sizes, loads
    /// of read-only data, addresses that are computed, multimem addresses, barriers that may be misused. When false, no engine reports
    /// undefinedness, and a search may stop as soon as its question is answered.
    pub fn may_be_undefined(&self) -> bool {
        if self.variables.iter().any(|variable| !variable.multimem.is_empty()) {
            return true;
        }
        let mut size = None;
        let mut differs = |bits: u16| *size.get_or_insert(bits) != bits;
        let one_warp = self.threads.iter().enumerate().any(|(index, thread)| {
            let same_warp = |other: &Thread| other.placement.same_warp(thread.placement);
            self.threads[..index].iter().any(same_warp)
        });
        let computed = |address: Address, elements: usize| {
            address.offset != 0 || elements > 1 || !matches!(address.base, Operand::Address(_))
        };
        self.threads.iter().flat_map(|thread| &thread.lines).any(|line| {
            let instruction = &line.instruction;
            if let Some((address, ty, elements)) = instruction.access() {
                return instruction.loads_read_only_data()
                    || instruction.may_be_out_of_place()
                    || differs(ty.bits)
                    || computed(address, elements);
            }
            // Readings R45 and R46 say which barriers have no meaning.
            if let Instruction::Barrier(barrier) = instruction {
                let ptx = barrier.instance.is_none();
                let operands = [Some(barrier.id), barrier.count];
                let reduces = matches!(barrier.kind, BarrierKind::Reduce { .. });
                return operands.iter().flatten().any(|operand| operand.register().is_some())
                    || ptx && (barrier.count.is_some() || reduces)
                    || barrier.aligned && one_warp
                    || barrier.warp;
            }
            if let Instruction::Alu(alu) = instruction {
                return self.may_lack_result(alu);
            }
            matches!(
                instruction,
                Instruction::Cvta(Cvta { op: AddressOp::InCta { .. }, .. })
                    | Instruction::ClusterBarrier(_)
                    | Instruction::Asynchronous(_)
                    | Instruction::Unsupported(_)
            )
        }) || self.variables.iter().any(|variable| {
            // What is inferred of other spaces is checked where it is executed.
            let other = !matches!(variable.space, Space::Global | Space::Shared);
            other
                || size.is_some_and(|bits| {
                    !variable.initial.is_empty() && variable.initial.len() * 8 < usize::from(bits)
                })
        })
    }

    /// Whether this may have no result, and a program no meaning that comes to it: a quotient by 0.
    pub fn may_lack_result(&self, alu: &Alu) -> bool {
        self.zero_division == ZeroDivision::Undefined
            && matches!(alu.op, AluOp::Integer(IntegerOp::Div | IntegerOp::Rem))
            && match alu.sources[1] {
                Operand::Imm(divisor) => Value::from(divisor) & low_bits(alu.ty.bits) == 0,
                Operand::Reg(_) | Operand::Address(_) => true,
            }
    }

    /// The first instruction that the model does not cover: where, and why.
    pub fn unsupported(&self) -> Option<(ThreadId, usize, &str)> {
        (0u8..).zip(&self.threads).find_map(|(thread, of)| {
            of.lines.iter().enumerate().find_map(|(line, of)| {
                let Instruction::Unsupported(why) = &of.instruction else { return None };
                Some((ThreadId(thread), line, why.as_str()))
            })
        })
    }
}
