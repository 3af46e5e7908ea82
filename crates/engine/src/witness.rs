//! One candidate execution as plain data, for explanations and drawings.

use execution::event::MbarrierStep;
use execution::structure::EventStructure;
use execution::unfold::Unfolding;
use execution::values::{Source, Values};
use model::bits::BitRow;
use model::given::{Fixed, Tag};
use model::program::ThreadId;
use model::scope::Scope;
use model::value::Value;

/// One event, for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessEvent {
    /// `None` for an initial write.
    pub thread: Option<ThreadId>,
    /// The instruction, as the test writes it; `[x] = 0` for an initial write.
    pub text: String,
    /// `R`, `W`, `F`, …
    pub kind: &'static str,
    /// The bytes accessed, as a reader names them: `x`, `x+4`.
    pub location: Option<String>,
    pub value: Option<Value>,
    /// Of an operation on an mbarrier object: the phase in which it took effect, or that it saw completed. -1 is the one
    /// before the first.
    pub phase: Option<i32>,
    /// Index of the instruction in its thread.
    pub line: u16,
    /// Of a strong operation.
    pub scope: Option<Scope>,
}

/// A candidate: its events and its base relations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub events: Vec<WitnessEvent>,
    /// Immediate program order.
    pub po: Vec<(usize, usize)>,
    pub rf: Vec<(usize, usize)>,
    /// Without what follows by transitivity.
    pub co: Vec<(usize, usize)>,
    pub fr: Vec<(usize, usize)>,
    pub fsc: Vec<(usize, usize)>,
    pub rmw: Vec<(usize, usize)>,
    pub barrier: Vec<(usize, usize)>,
    /// From what takes part in a phase of an mbarrier object to the waits that saw it completed.
    pub phase: Vec<(usize, usize)>,
    /// What is observed of it, in the order of [`model::program::Program::observed`]; empty when
    /// not requested.
    pub outcome: Vec<Value>,
}

/// What is chosen in a candidate, one row for each event; `fsc` and `co` closed.
pub struct ChosenRows<'a, R> {
    pub rf: &'a [R],
    pub co: &'a [R],
    pub fr: &'a [R],
    pub fsc: &'a [R],
}

impl Witness {
    pub fn new<R: BitRow>(
        structure: &EventStructure<'_, R>,
        sources: &[Source<R>],
        chosen: &ChosenRows<'_, R>,
        outcome: &[Value],
    ) -> Witness {
        let u = structure.unfolding;
        let mut values = Values::new(u, sources);
        let events = (0..u.events.len()).map(|event| shown(u, event, &mut values)).collect();
        Witness {
            events,
            po: reduced(&structure.fixed(Fixed::Po).rows),
            rf: pairs(chosen.rf),
            co: reduced(chosen.co),
            fr: pairs(chosen.fr),
            fsc: reduced(chosen.fsc),
            rmw: pairs(&structure.fixed(Fixed::Rmw).rows),
            barrier: structure
                .fixed(Fixed::Barrier)
                .pairs()
                .chain(structure.fixed(Fixed::ClusterBarrier).pairs())
                .collect(),
            phase: ended_phases(u, structure),
            outcome: outcome.to_vec(),
        }
    }
}

/// The pairs of [`Fixed::Phase`] of one phase.
fn ended_phases<R: BitRow>(
    u: &Unfolding<'_>,
    structure: &EventStructure<'_, R>,
) -> Vec<(usize, usize)> {
    let number = |event: usize| u.events[event].phase.map(|phase| phase.number);
    let takes_part = |event: usize| {
        let step = u.events[event].of.and_then(|of| of.mbarrier).map(|used| used.step);
        matches!(step, Some(MbarrierStep::Tx(_) | MbarrierStep::Arrive { .. }))
    };
    let pairs = structure.fixed(Fixed::Phase).pairs();
    pairs.filter(|&(from, to)| takes_part(from) && number(from) == number(to)).collect()
}

/// One event of an unfolding, with its value if that is known.
pub fn shown<R: BitRow>(
    u: &Unfolding<'_>,
    event: usize,
    values: &mut Values<'_, R>,
) -> WitnessEvent {
    let of = &u.events[event];
    let value = if of.is_read() {
        values.read(event)
    } else if of.is_write() && of.bytes().length <= 16 {
        values.written(event, of.bytes())
    } else {
        None
    };
    let location = of.access.map(|access| {
        let (name, start) = if of.thread.is_some() {
            let object = &u.layout.virtuals[usize::from(access.va.object)];
            (&u.program.variables[usize::from(object.variable.0)].name, access.va.start)
        } else {
            let location = &u.layout.locations[usize::from(access.pa.object)];
            (&u.program.variables[usize::from(location.variable.0)].name, 0)
        };
        if start == 0 { name.clone() } else { format!("{name}+{start}") }
    });
    let phase = of.phase.map(|phase| phase.number);
    let line = of.of.map_or(0, |of| of.line);
    let text = match of.thread {
        Some(thread) if of.tags.has(Tag::KernelStart) => {
            let kernel = u.program.threads[usize::from(thread.0)].placement.kernel;
            format!("start of kernel {kernel}")
        }
        Some(thread) => {
            u.program.threads[usize::from(thread.0)].lines[usize::from(line)].text.clone()
        }
        None => "initial value".to_owned(),
    };
    let kind = kind_of(u, event);
    let scope = of.tags.scope();
    WitnessEvent { thread: of.thread, text, kind, location, value, phase, line, scope }
}

/// What an operation does to its mbarrier object.
fn mbarrier_kind(u: &Unfolding<'_>, event: usize) -> &'static str {
    let step = u.events[event].of.and_then(|of| of.mbarrier).map(|used| used.step);
    match step {
        Some(MbarrierStep::Init { .. }) => "initialize",
        Some(MbarrierStep::Invalidate) => "invalidate",
        Some(MbarrierStep::CheckLayout { .. }) => "check layout",
        Some(MbarrierStep::Tx(bytes)) if bytes < 0 => "complete_tx",
        Some(MbarrierStep::Tx(_)) => "expect_tx",
        Some(MbarrierStep::Arrive { .. }) => "arrive",
        Some(MbarrierStep::Increment) => "increment",
        Some(MbarrierStep::Wait { returned: true, .. }) => "wait",
        Some(MbarrierStep::Wait { returned: false, .. }) => "wait, false:",
        None => "mbarrier",
    }
}

fn kind_of(u: &Unfolding<'_>, event: usize) -> &'static str {
    use execution::event::EventKind;
    match u.events[event].of.map(|of| of.kind) {
        None => "init",
        Some(EventKind::Read) => "R",
        Some(EventKind::Write) => "W",
        Some(EventKind::Fence) => "F",
        Some(EventKind::ProxyFence) => "PF",
        Some(EventKind::Arrive) => "arrive",
        Some(EventKind::Wait) => "wait",
        Some(EventKind::Mbarrier) => mbarrier_kind(u, event),
        Some(EventKind::WaitGroup) => "group wait",
        Some(EventKind::KernelStart) => "start",
        Some(EventKind::Trigger) => "launch",
        Some(EventKind::GridWait) => "grid wait",
        Some(EventKind::TensorFence) => "tensor fence",
        Some(EventKind::Allocation) => "allocation",
    }
}

fn pairs<R: BitRow>(rows: &[R]) -> Vec<(usize, usize)> {
    rows.iter().enumerate().flat_map(|(a, row)| row.events().map(move |b| (a, b))).collect()
}

/// The pairs of a transitive relation that do not follow from others.
fn reduced<R: BitRow>(rows: &[R]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for (a, row) in rows.iter().enumerate() {
        for b in row.events() {
            let between = row.events().any(|c| c != b && c != a && rows[c].has(b));
            if !between {
                out.push((a, b));
            }
        }
    }
    out
}
