//! Values that nobody computes, such as results of `mma` and of `ex2`: in a test they are some function of the operands. And
//! numbers of which nothing is known, such as what `%clock64` holds: a test has one of them.
//!
//! An assertion that such a value decides is neither true nor false. What such a value may change is over-approximated, for
//! all executions at once: by registers and variables as a whole, and by the branches that it decides.

use std::collections::{BTreeMap, BTreeSet};

use judge::Property;
use lift::opaque::HASH;
use litmus::{Comparand, Prop, Test};
use model::isa::alu::AluOp;
use model::isa::asynchronous::Asynchronous;
use model::isa::bar::{Barrier, BarrierKind};
use model::isa::roles::{AccessedPlace, OperandRole, PlaceEffect};
use model::isa::tensor_memory::TensorOp;
use model::isa::{Instruction, Line, Operand, Reg};
use model::memory::VariableId;
use model::program::{InitialValue, Observed, Program, ThreadId};

use crate::columns::Composed;
use crate::known_bytes::{KnownBytes, LinePlace};
use crate::lanes::opcode;
use crate::regions::BranchRegions;

/// What a value that is not known comes from. What is not computed is before what may be any number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum UnknownSource {
    /// An instruction whose result is not computed: what the test has for it may be no result of it.
    Line { thread: ThreadId, line: u16 },
    /// A register that begins with any number: what the test has for it is one.
    Register { thread: ThreadId, register: Reg },
}

/// The opcode of an instruction whose result is not computed: `mma`.
pub(crate) fn opcode_of(text: &str) -> &str {
    let name = opcode(text);
    // `opaque.b32.mma.…`
    let own = name.strip_prefix(OPAQUE).and_then(|rest| rest.split_once('.'));
    own.map_or(name, |(_, rest)| rest).split('.').next().unwrap_or_default()
}

const OPAQUE: &str = "opaque.";

/// What values that are not computed decide in a test.
#[derive(Default)]
pub(crate) struct UncomputedValues {
    /// One that decides a part of the assertion.
    pub(crate) of_assertion: Option<UnknownSource>,
    /// Accesses of which such a value decides whether they are executed, or at which address.
    accesses: BTreeMap<(ThreadId, u16), UnknownSource>,
    /// Barriers, waits and ends of loops that such a value decides.
    waits: BTreeMap<(ThreadId, u16), UnknownSource>,
    /// Stores of such values.
    stores: BTreeMap<(ThreadId, u16), UnknownSource>,
}

impl UncomputedValues {
    /// The values of a test. Of its assertion, `forall`, what they decide is left out: what is left is false only if the assertion
    /// is.
    pub(crate) fn left_out_of(test: &mut Test, composed: &Composed) -> UncomputedValues {
        let Some(flow) = ValueFlow::of(&test.program, composed) else {
            return UncomputedValues::default();
        };
        let (accesses, waits) = (flow.decided(LineFlow::accesses), flow.decided(LineFlow::waits));
        let observed = test.program.observed.iter();
        let unknown: Vec<_> = observed.map(|of| flow.unknown(of)).collect();
        let stores = flow.stores();
        UncomputedValues { of_assertion: leave_out(test, &unknown), accesses, waits, stores }
    }

    /// Where such a value comes from that an instruction may store.
    pub(crate) fn stores(&self, at: (ThreadId, u16)) -> Option<UnknownSource> {
        self.stores.get(&at).copied()
    }

    /// Whether a value that is not computed decides whether or where an instruction accesses memory, so that it may not do so.
    pub(crate) fn decide_access(&self, at: (ThreadId, u16)) -> bool {
        matches!(self.accesses.get(&at), Some(UnknownSource::Line { .. }))
    }

    /// A value that is not computed, and decides whether an instruction is executed, where, or with whom it meets.
    pub(crate) fn decides(&self, at: (ThreadId, u16)) -> Option<UnknownSource> {
        let source = self.accesses.get(&at).or_else(|| self.waits.get(&at)).copied();
        source.filter(|source| matches!(source, UnknownSource::Line { .. }))
    }

    /// A value that may decide whether a launch has a property, whatever its assertion says. Races are of two threads.
    pub(crate) fn decide(&self, property: Property, threads: usize) -> Option<UnknownSource> {
        let lines = match property {
            Property::NoDataRace if threads < 2 => return None,
            Property::ProgramSpec | Property::NoDataRace | Property::NoUninitialisedRead => {
                &self.accesses
            }
            Property::Termination => &self.waits,
        };
        lines.values().min().copied()
    }
}

/// Leaves out of an assertion what values that are not computed decide. Returns one of their instructions, if there was something
/// to leave out. `unknown`: of each part of an outcome.
fn leave_out(test: &mut Test, unknown: &[Option<UnknownSource>]) -> Option<UnknownSource> {
    let first = test.proposition.observed().into_iter().filter_map(|index| unknown[index]).min()?;
    let is_unknown = |of: Comparand| match of {
        Comparand::Observed(index) => unknown[index].is_some(),
        Comparand::Constant(_) => false,
    };
    test.proposition = weakened(&test.proposition, &is_unknown, true);
    *test = test.clone().observing_its_condition();
    Some(first)
}

/// The proposition with `holds` in the place of comparisons of what is not known.
fn weakened(prop: &Prop, is_unknown: &impl Fn(Comparand) -> bool, holds: bool) -> Prop {
    let parts =
        |props: &[Prop]| props.iter().map(|part| weakened(part, is_unknown, holds)).collect();
    match prop {
        Prop::Not(prop) => {
            let inner = weakened(prop, is_unknown, !holds);
            if inner == Prop::True {
                Prop::False
            } else if inner == Prop::False {
                Prop::True
            } else {
                Prop::Not(Box::new(inner))
            }
        }
        Prop::And(props) => joined(parts(props), Prop::True, Prop::False, Prop::And),
        Prop::Or(props) => joined(parts(props), Prop::False, Prop::True, Prop::Or),
        Prop::Implies(left, right) => {
            let sides = [weakened(left, is_unknown, !holds), weakened(right, is_unknown, holds)];
            match sides {
                [Prop::False, _] | [_, Prop::True] => Prop::True,
                [Prop::True, right] => right,
                [left, right] => Prop::Implies(Box::new(left), Box::new(right)),
            }
        }
        Prop::Atom(_, left, right) if is_unknown(*left) || is_unknown(*right) => {
            if holds {
                Prop::True
            } else {
                Prop::False
            }
        }
        Prop::Atom(..) | Prop::True | Prop::False => prop.clone(),
    }
}

/// A conjunction or a disjunction without the parts that change nothing; `absorbing`: a part that decides it.
fn joined(
    mut parts: Vec<Prop>,
    neutral: Prop,
    absorbing: Prop,
    join: fn(Vec<Prop>) -> Prop,
) -> Prop {
    parts.retain(|part| *part != neutral);
    match parts.len() {
        0 => neutral,
        1 => parts.remove(0),
        _ if parts.contains(&absorbing) => absorbing,
        _ => join(parts),
    }
}

/// What is known of a value, or of all bytes of a variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct FlowFact {
    /// The variables that an address may be in.
    points_to: BTreeSet<VariableId>,
    /// What it depends on that is not computed.
    unknown: Option<UnknownSource>,
}

impl FlowFact {
    /// Returns whether this fact is new.
    fn add(&mut self, other: &FlowFact) -> bool {
        let before = self.points_to.len();
        self.points_to.extend(&other.points_to);
        let learned = learn(&mut self.unknown, other.unknown);
        learned || self.points_to.len() > before
    }
}

/// Adds that something depends on what is not known. The first source is kept, but one that is not computed counts for more.
/// Returns whether this is new.
fn learn(known: &mut Option<UnknownSource>, other: Option<UnknownSource>) -> bool {
    let is_more = match (*known, other) {
        (None, Some(_))
        | (Some(UnknownSource::Register { .. }), Some(UnknownSource::Line { .. })) => true,
        (_, None) | (Some(_), Some(_)) => false,
    };
    if is_more {
        *known = other;
    }
    is_more
}

/// The operands of an instruction.
#[derive(Default)]
struct LineFlow {
    /// Registers whose values it takes, its guard among them.
    reads: Vec<Reg>,
    writes: Vec<Reg>,
    /// Addresses whose values it takes.
    variables: Vec<VariableId>,
    places: Vec<AccessedPlace>,
    /// Whether it combines values of several threads.
    exchanges: bool,
    /// Whether its result is not computed.
    is_source: bool,
    guard: Option<Reg>,
    /// Which barrier a thread comes to, and whom it meets there.
    meets: Vec<Reg>,
    /// Whether it may keep its thread from finishing.
    waits: bool,
}

impl LineFlow {
    fn accesses(&self) -> bool {
        !self.places.is_empty()
    }

    fn waits(&self) -> bool {
        self.waits
    }

    fn of(at: usize, line: &Line) -> LineFlow {
        let ends_loop = line.instruction.as_branch().is_some_and(|branch| branch.target <= at);
        let meets =
            matches!(line.instruction, Instruction::Barrier(_) | Instruction::ClusterBarrier(_));
        let mut flow = LineFlow {
            guard: line.guard.map(|guard| guard.predicate),
            waits: ends_loop || meets || line.instruction.as_asynchronous().is_some(),
            exchanges: matches!(line.instruction, Instruction::Barrier(_)),
            is_source: is_source(line),
            ..LineFlow::default()
        };
        flow.reads.extend(line.guard.map(|guard| guard.predicate));
        if let Instruction::Barrier(Barrier { kind, id, count, .. }) = &line.instruction {
            let of_shuffle = match kind {
                BarrierKind::Exchange(exchange) => [exchange.lane, exchange.clamp],
                BarrierKind::Arrive | BarrierKind::Sync | BarrierKind::Reduce { .. } => [*id; 2],
            };
            let all = of_shuffle.into_iter().chain([*id]).chain(*count);
            flow.meets.extend(all.filter_map(Operand::register));
        }
        line.instruction.roles(&mut |role, operand| {
            let read = !matches!(role, OperandRole::Destination);
            let written = !matches!(role, OperandRole::Source | OperandRole::Place(_));
            if let OperandRole::Place(place) = role {
                flow.places.push(place);
            }
            match operand {
                Operand::Reg(register) => {
                    flow.reads.extend(Some(register).filter(|_| read));
                    flow.writes.extend(Some(register).filter(|_| written));
                }
                Operand::Address(variable) => flow.variables.push(variable),
                Operand::Imm(_) => {}
            }
        });
        flow
    }
}

/// Whether the result of an instruction is not computed.
fn is_source(line: &Line) -> bool {
    if let Some(alu) = line.instruction.as_alu() {
        // The number that is made of several operands has no meaning of its own.
        return matches!(alu.op, AluOp::Opaque(_)) && !opcode(&line.text).ends_with(HASH);
    }
    matches!(
        line.instruction.as_asynchronous(),
        Some(Asynchronous::Multiply(_) | Asynchronous::TensorMemory(TensorOp::Multiply(_)))
    )
}

/// Which values depend on which.
struct ValueFlow<'p> {
    program: &'p Program,
    /// Of each thread.
    lines: Vec<Vec<LineFlow>>,
    registers: Vec<Vec<FlowFact>>,
    /// What is written to each.
    variables: Vec<FlowFact>,
    /// The same without what the instructions write whose bytes are known.
    elsewhere: Vec<FlowFact>,
    known: KnownBytes,
    /// What these instructions write.
    written: BTreeMap<LinePlace, FlowFact>,
    /// Of each line of each thread, and the end: a value that decides whether it is executed.
    control: Vec<Vec<Option<UnknownSource>>>,
    /// Of each thread.
    regions: Vec<BranchRegions>,
    /// Values that threads of a kernel exchange at a line.
    exchanged: BTreeMap<ExchangePlace, FlowFact>,
    /// Whether it is known where addresses lead, so that values are followed to there.
    has_addresses: bool,
}

/// An instruction of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ExchangePlace {
    kernel: u32,
    line: usize,
}

/// A read, of some instructions, that decides whether its thread comes to one of these barriers.
pub(crate) fn deciding(
    program: &Program,
    of: &BTreeSet<(ThreadId, u16)>,
    barriers: &BTreeSet<(ThreadId, u16)>,
) -> Option<(ThreadId, u16)> {
    let mut lines = ValueFlow::lines(program);
    for (thread, lines) in (0u8..).map(ThreadId).zip(&mut lines) {
        for (line, flow) in (0u16..).zip(lines) {
            let mut effects = flow.places.iter().map(|place| place.effect);
            let reads = effects.any(|of| matches!(of, PlaceEffect::Read | PlaceEffect::Update));
            flow.is_source = reads && of.contains(&(thread, line));
        }
    }
    let decided = ValueFlow::new(program, lines).followed().decided(LineFlow::waits);
    barriers.iter().find_map(|at| match decided.get(at)? {
        UnknownSource::Line { thread, line } => Some((*thread, *line)),
        UnknownSource::Register { .. } => None,
    })
}

fn line_place(thread: usize, line: usize) -> LinePlace {
    (ThreadId(u8::try_from(thread).expect("few threads")), line)
}

impl<'p> ValueFlow<'p> {
    /// `None` where all is known.
    fn of(program: &'p Program, composed: &Composed) -> Option<ValueFlow<'p>> {
        let mut flow = ValueFlow::new(program, ValueFlow::lines(program));
        flow.has_sources(composed).then(|| flow.followed())
    }

    /// The stores of values that are not computed.
    fn stores(&self) -> BTreeMap<(ThreadId, u16), UnknownSource> {
        let unknown = |thread: ThreadId, of: Operand| {
            let of = of.register()?;
            let fact = &self.registers[usize::from(thread.0)][usize::from(of.0)];
            fact.unknown.filter(|source| matches!(source, UnknownSource::Line { .. }))
        };
        let mut all = BTreeMap::new();
        for (thread, of) in (0u8..).map(ThreadId).zip(&self.program.threads) {
            for (line, of) in (0u16..).zip(&of.lines) {
                let Instruction::Store(store) = &of.instruction else { continue };
                let source = store.sources.iter().find_map(|&source| unknown(thread, source));
                all.extend(source.map(|source| ((thread, line), source)));
            }
        }
        all
    }

    fn lines(program: &Program) -> Vec<Vec<LineFlow>> {
        let of = |lines: &[Line]| {
            lines.iter().enumerate().map(|(at, line)| LineFlow::of(at, line)).collect()
        };
        program.threads.iter().map(|thread| of(&thread.lines)).collect()
    }

    /// Before values are followed.
    fn new(program: &'p Program, lines: Vec<Vec<LineFlow>>) -> ValueFlow<'p> {
        let initial = |value: &InitialValue| match value {
            InitialValue::Value(_) => FlowFact::default(),
            InitialValue::Address { variable, .. } => {
                FlowFact { points_to: [program.root(*variable)].into(), ..FlowFact::default() }
            }
        };
        let registers = program.threads.iter().map(|thread| {
            thread.registers.iter().map(|register| initial(&register.initial)).collect()
        });
        ValueFlow {
            program,
            registers: registers.collect(),
            variables: vec![FlowFact::default(); program.variables.len()],
            elsewhere: vec![FlowFact::default(); program.variables.len()],
            known: KnownBytes::default(),
            written: BTreeMap::new(),
            control: lines.iter().map(|lines| vec![None; lines.len() + 1]).collect(),
            regions: Vec::new(),
            exchanged: BTreeMap::new(),
            has_addresses: false,
            lines,
        }
    }

    /// Follows values to all that depends on them.
    fn followed(mut self) -> ValueFlow<'p> {
        let threads = &self.program.threads;
        self.regions = threads.iter().map(|of| BranchRegions::new(&of.lines)).collect();
        self.known = KnownBytes::new(self.program, &self.regions);
        while self.pass() {}
        self.has_addresses = true;
        while self.pass() {}
        self
    }

    /// Marks the registers that begin with any number. Returns whether there are such, or instructions that are not computed.
    fn has_sources(&mut self, composed: &Composed) -> bool {
        let mut has_sources = self.lines.iter().flatten().any(|line| line.is_source);
        for (column, thread) in self.program.threads.iter().enumerate() {
            for (index, register) in thread.registers.iter().enumerate() {
                if composed.any_number(column, &register.name).is_some() {
                    let thread = ThreadId(u8::try_from(column).expect("few threads"));
                    let register = Reg(u16::try_from(index).expect("few registers"));
                    let source = UnknownSource::Register { thread, register };
                    self.registers[column][index].unknown = Some(source);
                    has_sources = true;
                }
            }
        }
        has_sources
    }

    /// Passes on what is known. Returns whether that is new.
    fn pass(&mut self) -> bool {
        let mut changed = false;
        for thread in 0..self.lines.len() {
            for line in 0..self.lines[thread].len() {
                let fact = self.taken(thread, line);
                changed |= self.give(thread, line, &fact);
            }
        }
        changed
    }

    /// What an instruction takes its results from.
    fn taken(&self, thread: usize, line: usize) -> FlowFact {
        let flow = &self.lines[thread][line];
        let mut fact = FlowFact::default();
        for register in &flow.reads {
            fact.add(&self.registers[thread][usize::from(register.0)]);
        }
        fact.points_to.extend(flow.variables.iter().map(|variable| self.program.root(*variable)));
        let written = |effect| matches!(effect, PlaceEffect::Write | PlaceEffect::ChangeObject);
        let at = line_place(thread, line);
        let of_variables = if self.known.has(at) { &self.elsewhere } else { &self.variables };
        for place in flow.places.iter().filter(|place| !written(place.effect)) {
            for variable in self.variables_of(thread, place) {
                fact.add(&of_variables[variable]);
            }
            for of in self.known.sources(at).iter().filter_map(|from| self.written.get(from)) {
                fact.add(of);
            }
        }
        if let Some(exchanged) = self.exchanged.get(&self.exchange(thread, line)) {
            fact.add(exchanged);
        }
        if self.has_addresses {
            let own = flow.is_source.then(|| UnknownSource::Line {
                thread: ThreadId(u8::try_from(thread).expect("few threads")),
                line: u16::try_from(line).expect("few lines"),
            });
            learn(&mut fact.unknown, self.control[thread][line]);
            fact.unknown = own.or(fact.unknown);
        } else {
            fact.unknown = None;
        }
        fact
    }

    /// Passes on what an instruction has taken.
    fn give(&mut self, thread: usize, line: usize, fact: &FlowFact) -> bool {
        let mut changed = false;
        let flow = &self.lines[thread][line];
        for register in &flow.writes {
            changed |= self.registers[thread][usize::from(register.0)].add(fact);
        }
        if flow.exchanges {
            let place = self.exchange(thread, line);
            changed |= self.exchanged.entry(place).or_default().add(fact);
        }
        let read = |effect| matches!(effect, PlaceEffect::Read | PlaceEffect::AwaitObject);
        let flow = &self.lines[thread][line];
        for place in flow.places.iter().filter(|place| !read(place.effect)) {
            let at = line_place(thread, line);
            for variable in self.variables_of(thread, place) {
                changed |= self.variables[variable].add(fact);
                if !self.known.has(at) {
                    changed |= self.elsewhere[variable].add(fact);
                }
            }
            if self.known.has(at) {
                changed |= self.written.entry(at).or_default().add(fact);
            }
        }
        let is_branch = self.program.threads[thread].lines[line].instruction.as_branch().is_some();
        if is_branch && fact.unknown.is_some() {
            for decided in self.regions[thread].decided_by(line) {
                changed |= learn(&mut self.control[thread][decided], fact.unknown);
            }
        }
        changed
    }

    fn exchange(&self, thread: usize, line: usize) -> ExchangePlace {
        ExchangePlace { kernel: self.program.threads[thread].placement.kernel, line }
    }

    /// The variables that a place may be in: all, where nothing is known of its address.
    fn variables_of(&self, thread: usize, place: &AccessedPlace) -> Vec<usize> {
        let index = |variable: &VariableId| usize::from(variable.0);
        let known = match place.address.base {
            Operand::Reg(register) => &self.registers[thread][usize::from(register.0)].points_to,
            Operand::Address(variable) => return vec![index(&self.program.root(variable))],
            Operand::Imm(_) => &BTreeSet::new(),
        };
        if known.is_empty() && self.has_addresses {
            return (0..self.variables.len()).collect();
        }
        known.iter().map(index).collect()
    }

    /// The instructions of a kind of which a value that is not computed decides whether they are executed, or at which address.
    fn decided(&self, of_kind: fn(&LineFlow) -> bool) -> BTreeMap<(ThreadId, u16), UnknownSource> {
        let mut all = BTreeMap::new();
        for (thread, lines) in (0u8..).map(ThreadId).zip(&self.lines) {
            let own = usize::from(thread.0);
            for (line, flow) in (0u16..).zip(lines).filter(|(_, flow)| of_kind(flow)) {
                let at = usize::from(line);
                let branch = self.program.threads[own].lines[at].instruction.as_branch();
                if let Some(branch) = branch {
                    // One that leads out of what is decided, to where all ways meet, goes on as the others do.
                    let decided = self.control[own][at]
                        .filter(|_| self.control[own][branch.target].is_some());
                    all.extend(decided.map(|source| ((thread, line), source)));
                    continue;
                }
                let bases = flow.places.iter().filter_map(|place| match place.address.base {
                    Operand::Reg(register) => Some(register),
                    Operand::Address(_) | Operand::Imm(_) => None,
                });
                let mut registers = bases.chain(flow.guard).chain(flow.meets.iter().copied());
                let decided = self.control[own][at].or_else(|| {
                    registers.find_map(|of| self.registers[own][usize::from(of.0)].unknown)
                });
                all.extend(decided.map(|source| ((thread, line), source)));
            }
        }
        all
    }

    /// What a part of an outcome depends on.
    fn unknown(&self, of: &Observed) -> Option<UnknownSource> {
        match of {
            Observed::Register { thread, register } => {
                self.registers[usize::from(thread.0)][usize::from(register.0)].unknown
            }
            Observed::Memory { variable, .. } => {
                self.variables[usize::from(self.program.root(*variable).0)].unknown
            }
        }
    }
}
