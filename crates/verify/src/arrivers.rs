//! Which threads of CTAs arrive at which mbarrier objects, those among them that are left out of the test.
//!
//! A thread knows its own index, so that what a guard says of a thread that is left out is often a constant. Its warp is looked at as a
//! whole: lanes may take from others which warp they are, and one of them may be elected.

use std::collections::{BTreeMap, BTreeSet};

use execution::constants::{Constants, ExchangedValues, GivenResults};
use execution::exchanges;
use execution::layout::Layout;
use lift::function::EntryValue;
use litmus::Test;
use model::isa::asynchronous::{Asynchronous, MbarrierOp, Track};
use model::isa::tensor_memory::TensorOp;
use model::isa::warp::ExchangeOp;
use model::isa::{Instruction, Line, Operand};
use model::memory::VariableId;
use model::program::{InitialValue, Program, Thread, ThreadId};
use model::value::low64;

use crate::columns::Composed;
use crate::launch::{LaunchSpec, ThreadPlace};
use crate::shorten::ShortFunction;
use crate::special::{self, LANES};

/// Where an object is: a variable in shared memory of a CTA, and the first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ObjectPlace {
    variable: VariableId,
    cta: u32,
    start: u32,
}

/// An instruction that a thread may execute, with the arrivals that it makes, or those that it has an object count.
#[derive(Clone, Debug)]
pub(crate) struct ObjectCount {
    pub(crate) kernel: usize,
    pub(crate) row: usize,
    pub(crate) place: ThreadPlace,
    /// Whether the thread is not in the test.
    pub(crate) left_out: bool,
    /// `None` if it may be any.
    pub(crate) object: Option<ObjectPlace>,
    /// `None` if it is not a constant.
    pub(crate) count: Option<u64>,
    /// Whether the thread may execute it again.
    pub(crate) repeats: bool,
    /// How many waits for phases, and loops that begin or end, are before it.
    pub(crate) segment: usize,
}

/// Those of all threads of the CTAs of a test.
#[derive(Default)]
pub(crate) struct ObjectCounts {
    pub(crate) inits: Vec<ObjectCount>,
    pub(crate) arrivals: Vec<ObjectCount>,
    /// What threads that are left out bring, not how many bytes.
    pub(crate) brought: Vec<ObjectCount>,
}

impl ObjectCounts {
    /// `launches`: that of each kernel.
    pub(crate) fn of(
        kernels: &[ShortFunction],
        launches: &[LaunchSpec],
        composed: &Composed,
        test: &Test,
    ) -> ObjectCounts {
        let mut all = ObjectCounts::default();
        let mut lines = test.program.threads.iter().flat_map(|thread| &thread.lines);
        if !lines.any(|line| init_count(&line.instruction).is_some()) {
            return all;
        }
        let mut columns: BTreeMap<(usize, u32), Vec<usize>> = BTreeMap::new();
        for (column, of) in composed.threads.iter().enumerate() {
            columns.entry((of.kernel, of.place.cta)).or_default().push(column);
        }
        let frame = Program { threads: Vec::new(), observed: Vec::new(), ..test.program.clone() };
        for ((kernel, cta), columns) in columns {
            let special = kernels[kernel].initial.iter().filter_map(|(register, value)| {
                let EntryValue::Special(name) = value else { return None };
                Some((&register[..], &name[..]))
            });
            let of_test = columns.iter().map(|&column| composed.threads[column].place.thread);
            let warps = KernelWarps {
                kernel,
                cta,
                launch: &launches[kernel],
                composed,
                test,
                frame: &frame,
                column: columns[0],
                thread: without_texts(&test.program.threads[columns[0]]),
                special: special.collect(),
                segments: segments(&test.program.threads[columns[0]]),
                of_test: of_test.collect(),
            };
            let threads = u32::try_from(warps.launch.block.count()).unwrap_or(u32::MAX);
            for warp in 0..threads.div_ceil(LANES) {
                let first = warp * LANES;
                warps.add(first..threads.min(first + LANES), &mut all);
            }
        }
        all
    }
}

/// The warps of a CTA of a kernel.
struct KernelWarps<'k> {
    kernel: usize,
    cta: u32,
    launch: &'k LaunchSpec,
    composed: &'k Composed,
    test: &'k Test,
    /// The program of the test without its threads.
    frame: &'k Program,
    /// One of this CTA.
    column: usize,
    /// What its thread executes, and so the others.
    thread: Thread,
    /// Its registers with special ones.
    special: BTreeMap<&'k str, &'k str>,
    /// Of each line.
    segments: Vec<usize>,
    of_test: BTreeSet<u32>,
}

impl KernelWarps<'_> {
    /// Adds what the threads of a warp may execute.
    fn add(&self, numbers: std::ops::Range<u32>, all: &mut ObjectCounts) {
        let threads = (0..).map(ThreadId).zip(numbers.clone());
        let program = Program {
            threads: threads.map(|(id, number)| self.thread(id, number)).collect(),
            ..self.frame.clone()
        };
        let layout = Layout::new(&program);
        let constants = self.constants(&program, &layout, numbers.start);
        for ((id, number), constants) in (0..).map(ThreadId).zip(numbers).zip(&constants) {
            let of = |line: usize, count| {
                self.object_count(
                    &WarpLine { program: &program, layout: &layout, constants, id, line },
                    number,
                    count,
                )
            };
            for (line, instruction) in program.threads[usize::from(id.0)].lines.iter().enumerate() {
                if !constants.may_execute(line) {
                    continue;
                }
                let instruction = &instruction.instruction;
                let in_test = self.of_test.contains(&number);
                if let Some(count) = init_count(instruction) {
                    all.inits.extend(of(line, count));
                } else if let Some(count) = arrivals(instruction) {
                    all.arrivals.extend(of(line, count));
                } else if brings_bytes(instruction) && !in_test {
                    all.brought.extend(of(line, Operand::Imm(0)));
                }
            }
        }
    }

    /// A thread of the kernel with a number in its CTA.
    fn thread(&self, id: ThreadId, number: u32) -> Thread {
        let mut thread = self.thread.clone();
        let place = ThreadPlace { cta: self.cta, thread: number };
        thread.placement.warp = thread.placement.warp.map(|_| number / LANES);
        for register in &mut thread.registers {
            let name = self.special.get(&register.name[..]);
            let value = name.and_then(|name| special::value(name, self.launch, place));
            match (&mut register.initial, value) {
                (InitialValue::Value(own), Some(value)) => *own = value.into(),
                (InitialValue::Address { thread, .. }, _) => *thread = id,
                (InitialValue::Value(_), None) => {}
            }
        }
        thread
    }

    /// What the lanes of a warp know, with the results of what they exchange. `first`: the number of the first lane.
    fn constants(&self, program: &Program, layout: &Layout, first: u32) -> Vec<Constants> {
        let mut given = GivenResults::default();
        let all = exchanges::add_exchanges(program, layout, &mut given);
        let mut elections = BTreeMap::new();
        let lanes = || (0u8..).map(ThreadId).zip(&all);
        for (line, of) in program.threads[0].lines.iter().enumerate() {
            if of.instruction.as_exchange().is_none_or(|of| of.op != ExchangeOp::Elect) {
                continue;
            }
            let come =
                || lanes().filter(|(_, constants)| constants.may_execute(line)).map(|(id, _)| id);
            // The test elects one of its own lanes, for all of the warp.
            let own = come().find(|id| self.of_test.contains(&(first + u32::from(id.0))));
            let Some(elected) = own.or_else(|| come().next()) else { continue };
            for id in come() {
                let result = u64::from(elected.0).into();
                let predicate = u64::from(id == elected).into();
                elections.insert((id, line), ExchangedValues { result, predicate });
            }
        }
        if elections.is_empty() {
            return all;
        }
        given.exchanged.append(&mut elections);
        exchanges::add_exchanges(program, layout, &mut given)
    }

    fn object_count(&self, at: &WarpLine<'_>, number: u32, count: Operand) -> Option<ObjectCount> {
        let line = u16::try_from(at.line).ok()?;
        let column = ThreadId(u8::try_from(self.column).ok()?);
        let of_test = self.test.line_number(column, line)?;
        let (kernel, row) = self.composed.row(self.column, of_test)?;
        debug_assert_eq!(kernel, self.kernel, "a column has one kernel");
        Some(ObjectCount {
            kernel,
            row,
            place: ThreadPlace { cta: self.cta, thread: number },
            left_out: !self.of_test.contains(&number),
            object: at.object(self.cta),
            count: at.constants.operand(at.layout, at.id, at.line, count).map(low64),
            repeats: at.repeats(),
            segment: self.segments[at.line],
        })
    }
}

/// An instruction of a thread of a warp.
struct WarpLine<'t> {
    program: &'t Program,
    layout: &'t Layout,
    constants: &'t Constants,
    id: ThreadId,
    line: usize,
}

impl WarpLine<'_> {
    fn thread(&self) -> &Thread {
        &self.program.threads[usize::from(self.id.0)]
    }

    /// The object in its CTA; an instruction that names one of another CTA has no constant address.
    fn object(&self, cta: u32) -> Option<ObjectPlace> {
        let place = self.thread().lines[self.line].instruction.changed_object()?;
        if place.multicast {
            return None;
        }
        let WarpLine { layout, id, line, .. } = *self;
        let bytes = self.constants.bytes(layout, id, line, place.space, place.address, OBJECT)?.pa;
        let variable = layout.locations[usize::from(bytes.object)].variable;
        Some(ObjectPlace { variable, cta, start: bytes.start })
    }

    fn repeats(&self) -> bool {
        let jumps = |branch| {
            let taken = self.constants.decision(branch).taken;
            self.constants.may_execute(branch) && taken != Some(false)
        };
        let mut back = self.thread().back_branches();
        back.any(|(branch, target)| (target..=branch).contains(&self.line) && jumps(branch))
    }
}

/// Copies of it take less time than those of the thread.
fn without_texts(thread: &Thread) -> Thread {
    let line = |line: &Line| Line { text: String::new(), ..line.clone() };
    Thread { lines: thread.lines.iter().map(line).collect(), ..thread.clone() }
}

/// For each line, how many waits for phases, and loops that begin or end, are before it: between two of these, a thread is in one phase.
fn segments(thread: &Thread) -> Vec<usize> {
    let loops = thread.back_branches().flat_map(|(branch, target)| [branch, target]);
    let waits = |(at, line): (usize, &Line)| {
        let waits = line.instruction.as_asynchronous().is_some_and(Asynchronous::waits_for_phase);
        waits.then_some(at)
    };
    let waits = thread.lines.iter().enumerate().filter_map(waits);
    let bounds: BTreeSet<usize> = loops.chain(waits).collect();
    (0..thread.lines.len()).map(|line| bounds.range(..=line).count()).collect()
}

/// The bytes of an object.
const OBJECT: u32 = 8;

fn init_count(instruction: &Instruction) -> Option<Operand> {
    let Asynchronous::Mbarrier(of) = instruction.as_asynchronous()? else { return None };
    if let MbarrierOp::Init { count, .. } = of.op { Some(count) } else { None }
}

/// How many arrivals of a phase an instruction makes, at once or when it completes.
fn arrivals(instruction: &Instruction) -> Option<Operand> {
    let asynchronous = instruction.as_asynchronous()?;
    if let Asynchronous::Mbarrier(of) = asynchronous {
        return if let MbarrierOp::Arrive { count, .. } = of.op { Some(count) } else { None };
    }
    // With an increment, the object expects one more for it.
    let arrives = matches!(
        asynchronous,
        Asynchronous::Track(Track { increments: false, .. })
            | Asynchronous::TensorMemory(TensorOp::Commit { .. })
    );
    arrives.then_some(Operand::Imm(1))
}

/// Whether an instruction brings bytes for which an object may wait.
fn brings_bytes(instruction: &Instruction) -> bool {
    match instruction.as_asynchronous() {
        Some(Asynchronous::Mbarrier(of)) => matches!(of.op, MbarrierOp::CompleteTx { .. }),
        Some(Asynchronous::Copy(_) | Asynchronous::Store(_) | Asynchronous::Cancel(_)) => {
            instruction.changed_object().is_some()
        }
        Some(_) | None => false,
    }
}
