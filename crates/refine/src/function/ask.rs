//! Puts a function and its lowering in a context, with one setup, and compares their outcomes.

mod contested;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use lift::function::{Function, HERE, Language, Refused, ReturnedWord};
use model::isa::{Address, Instruction, Operand, Reg, Type};
use model::memory::Space;
use model::program::{ContestedBytes, InitialValue, Observed, Program, Thread, ThreadId};
use model::strength::{AccessOrder, Strength};
use model::value::Value;

use super::bind::{BoundFunction, Setup, TestColumn, bind, variable_id};
use super::follows::{FollowedProgram, FollowedPrograms};
use super::mapped::mapped;
use super::partner::{FRESH, MeetingLocation, alone, fresh};
use super::repair;
use super::scan::{ByteRange, MemoryUse, ThreadScan, closed, common};
use super::subword::PartOfWord;
use super::together;
use crate::context::{AwaitedValue, Context, ContextOp};
use crate::contract;
use crate::inclusion::MachineTarget;
use crate::judgement::Refinement;
use crate::language::SourceId;
use crate::piece::{GuardNames, StepOperands, ThreadPiece};
use crate::refiner::{ContextResult, Refiner};
use crate::step::{Step, TestLocation as Spot};

/// A function and its lowering, with the same initial state.
pub struct RefinementCase<'a> {
    pub refiner: Refiner<'a>,
    pub setup: Setup,
    pub source: &'a Function,
    pub target: &'a Function,
    pub locations: Vec<MeetingLocation>,
    /// Memory that an outcome includes: the variable, the offset, and the number of bytes.
    pub shown: Vec<(usize, u32, u32)>,
    /// The uses of memory of both sides.
    pub uses: Vec<MemoryUse>,
    /// The places that the target accesses as a part of a word.
    pub(super) words: BTreeMap<ByteRange, ByteRange>,
    /// Whether no two of them overlap in part.
    sizes_agree: bool,
    /// Whether accesses may be torn.
    pub torn: bool,
    bound: BTreeMap<(bool, [Vec<String>; 2]), BoundFunction>,
    written_by_both: OnceCell<Option<[Vec<ContestedBytes>; 2]>>,
}

impl<'a> RefinementCase<'a> {
    pub fn new(
        refiner: Refiner<'a>,
        setup: Setup,
        sides: [&'a Function; 2],
        locations: Vec<MeetingLocation>,
        shown: Vec<(usize, u32, u32)>,
        uses: Vec<MemoryUse>,
    ) -> RefinementCase<'a> {
        let [source, target] = sides;
        let (torn, bound) = (false, BTreeMap::new());
        let agrees = |one: &MemoryUse, other: &MemoryUse| {
            one.place == other.place || !one.place.overlaps(other.place)
        };
        let sizes_agree = uses.iter().all(|one| uses.iter().all(|other| agrees(one, other)));
        RefinementCase {
            refiner,
            setup,
            source,
            target,
            locations,
            shown,
            uses,
            words: BTreeMap::new(),
            sizes_agree,
            torn,
            bound,
            written_by_both: OnceCell::new(),
        }
    }

    fn function(&self, lowered: bool) -> &'a Function {
        if lowered { self.target } else { self.source }
    }

    /// The words that both sides return, and that have a value in the source.
    fn returned(&self) -> impl Iterator<Item = (&'a ReturnedWord, &'a ReturnedWord)> {
        let words = self.source.result.iter().zip(&self.target.result);
        words.filter(|(ours, _)| ours.mask != 0)
    }

    /// The registers of these words, of a function with the results of one side.
    pub(super) fn results<'f>(&self, function: &'f Function) -> Vec<&'f str> {
        let of_sides = self.source.result.iter().zip(&self.target.result);
        let words = function.result.iter().zip(of_sides);
        let words = words.filter(|(_, (ours, _))| ours.mask != 0);
        words.map(|(word, _)| &*word.register).collect()
    }

    /// The steps of a side for an operation of a context; `None` if the target has no such scope.
    fn steps(&self, step: Step, shared: bool, lowered: bool) -> Option<Vec<Step>> {
        let source = SourceId::of(self.source.language);
        // A pass over LLVM IR compiles the function alone, and its context remains C++.
        let compiled = lowered && SourceId::of(self.target.language) != source;
        let steps = if compiled { source.to_ptx(step, None) } else { vec![step] };
        let Language::Sass(sm) = self.function(lowered).language else { return Some(steps) };
        // A listing shows no waits, so they are assumed.
        let machine = MachineTarget::new(sm, shared, false);
        let all = steps.into_iter().map(|step| contract::reference(step, machine));
        all.collect::<Option<Vec<_>>>().map(|all| all.concat())
    }

    /// The operations of a context in a thread, in registers with this prefix. `None` if the language has no
    /// such operation.
    fn piece(
        &self,
        context: &Context,
        thread: usize,
        ops: &[ContextOp],
        prefix: &str,
        lowered: bool,
    ) -> Option<ThreadPiece> {
        // The context of a listing is PTX, given by the promises of its instructions.
        let language = SourceId::of(self.function(lowered).language);
        // The last access that reads, and its first line.
        let (mut piece, mut last) = (ThreadPiece::default(), None::<(usize, usize)>);
        for &op in ops {
            // Memory of another CTA is accessed by its generic address.
            let of_cta = op.place().filter(|&at| self.locations[at].shared);
            let remote = of_cta.filter(|_| context.is_remote(thread));
            let shared = of_cta.is_some() && remote.is_none();
            if let ContextOp::AliasFence(order) = op {
                piece.alias_fence(order);
                continue;
            }
            let step = context.step(thread, op, if shared { Spot::Y } else { Spot::X })?;
            let mut within = None;
            let (accessed, steps) = match op {
                ContextOp::Judged | ContextOp::RowBarriers | ContextOp::AliasFence(_) => {
                    return None;
                }
                ContextOp::Barrier(_) => (None, vec![step]),
                ContextOp::Guard(awaited) | ContextOp::Await(awaited) => {
                    let (at, line) = last?;
                    let ByteRange { memory, offset, bytes } = self.locations[at].place;
                    let initial = self.setup.memory[memory].initial_of(offset, bytes);
                    let ty = if bytes >= 8 { Type::U64 } else { Type::U32 };
                    let (value, goes_on) = match awaited {
                        AwaitedValue::Exactly(value) => (self.value(at, value), true),
                        AwaitedValue::Initial => (initial, true),
                        AwaitedValue::Written => (initial, false),
                    };
                    let of = |end: String| GuardNames {
                        prefix: prefix.to_owned(),
                        predicate: format!("{prefix}p"),
                        end,
                    };
                    let ends = (value, !goes_on);
                    if matches!(op, ContextOp::Await(_)) {
                        let names = of(format!("{prefix}again{line}"));
                        piece.repeat_if(ty, ends, line, &names)?;
                    } else {
                        piece.end_if(ty, ends, Some(&of(format!("{prefix}end"))))?;
                    }
                    continue;
                }
                ContextOp::Fence(_) => (None, self.steps(step, false, lowered)?),
                ContextOp::Access { act, at, value, expects, .. } => {
                    last = if act.shows() { Some((at, piece.lines.len())) } else { last };
                    let mut place = self.locations[at].place;
                    let mut values = [value, expects].map(|value| self.value(at, value));
                    within = if lowered { self.part(at) } else { None };
                    if let Some(part) = within {
                        place = part.word;
                        values = values.map(|value| part.with(value));
                    }
                    (Some((place, values)), self.steps(step, shared, lowered)?)
                }
            };
            let pointer = remote.map(|at| {
                let place = self.locations[at].place;
                let name = format!("{}_of_P0", self.setup.memory[place.memory].name);
                (piece.pointer(&name, variable_id(place.memory)), name)
            });
            for step in steps {
                let shown = format!("{prefix}{}", piece.shown.len());
                let aside = |piece: &ThreadPiece| format!("{prefix}w{}", piece.lines.len());
                let register = if within.is_some() { aside(&piece) } else { shown.clone() };
                let mut operands =
                    accessed.map(|(place, values)| self.operands(place, values, register));
                if let (Some(operands), Some((register, name))) = (&mut operands, &pointer) {
                    operands.point(*register, name);
                }
                // No instruction has a constant of 128 bits.
                if let (Some(operands), Step::Access { act, .. }) = (&mut operands, step)
                    && operands.bits > 64
                    && act.writes()
                {
                    let Operand::Imm(value) = operands.value else { return None };
                    let name = aside(&piece);
                    operands.words[0].clone_from(&name);
                    operands.value = Operand::Reg(piece.pack(name, value));
                }
                piece.step(step, Some(language), operands.as_ref())?;
                let reads = matches!(step, Step::Access { act, .. } if act.shows());
                if let Some(part) = within.filter(|_| reads) {
                    let names = [aside(&piece), shown];
                    piece.show_part(names, part.shift, part.mask)?;
                }
            }
        }
        Some(piece)
    }

    /// A location as the target accesses it, if that is as a part of a word.
    fn part(&self, at: usize) -> Option<PartOfWord> {
        let place = self.locations[at].place;
        let word = self.words.get(&place)?;
        Some(PartOfWord::new(&self.setup, place, *word))
    }

    /// What a context's access with this number writes.
    fn value(&self, at: usize, value: u64) -> u64 {
        let MeetingLocation { place, float, telling, .. } = &self.locations[at];
        let number = value.checked_sub(FRESH).filter(|number| *number < 100);
        match number {
            _ if self.torn => spread(value, 8 * place.bytes),
            Some(number) if telling.is_empty() => fresh(number, *float, place.bytes),
            Some(number) => telling[usize::try_from(number).unwrap_or(0) % telling.len()],
            None => value,
        }
    }

    /// The operands of a context's access.
    fn operands(
        &self,
        place: ByteRange,
        [value, expects]: [u64; 2],
        register: String,
    ) -> StepOperands {
        let ByteRange { memory, offset, bytes } = place;
        let name = &self.setup.memory[memory].name;
        StepOperands {
            at: if offset == 0 { name.clone() } else { format!("{name}+{offset}") },
            address: Address { base: Operand::Address(variable_id(memory)), offset: offset.into() },
            bits: u16::try_from(8 * bytes).expect("16 bytes at most"),
            register,
            value: Operand::Imm(value),
            expects,
            words: [value, expects].map(|value| self.setup.word(value)),
        }
    }

    /// The columns of a side. The first one is the function.
    fn columns(&self, context: &Context, lowered: bool) -> Option<(TestColumn, Vec<TestColumn>)> {
        let function = self.function(lowered);
        let frame = self.frame(context, lowered)?;
        let first = self.setup.column(function, &frame);
        let mut others = Vec::new();
        for thread in 1..context.threads.len() {
            others.push(if context.frame(thread).is_some() {
                self.setup.column(function, &Default::default())
            } else {
                let piece = self.partner(context, thread, lowered)?;
                let initial = piece.pointers().map(|(name, variable)| {
                    let of = &self.setup.memory[usize::from(variable.0)].name;
                    (name.to_owned(), format!("{of}@P0"))
                });
                TestColumn { initial: initial.collect(), cells: piece.cells() }
            });
        }
        Some((first, others))
    }

    /// A thread that belongs only to the context.
    fn partner(&self, context: &Context, thread: usize, lowered: bool) -> Option<ThreadPiece> {
        self.piece(context, thread, &context.threads[thread], "c", lowered)
    }

    /// The operations before and after the function in its thread.
    pub(super) fn frame(&self, context: &Context, lowered: bool) -> Option<[ThreadPiece; 2]> {
        let [before, behind] = context.frame(0)?;
        let before = self.piece(context, 0, before, "before", lowered)?;
        Some([before, self.piece(context, 0, behind, "behind", lowered)?])
    }

    /// The function in this frame, as a thread.
    pub fn bound(
        &mut self,
        context: &Context,
        lowered: bool,
    ) -> Result<Option<&BoundFunction>, Refused> {
        let Some(frame) = self.frame(context, lowered) else { return Ok(None) };
        let key = (lowered, frame.each_ref().map(ThreadPiece::cells));
        if !self.bound.contains_key(&key) {
            let bound = bind(&self.setup, self.function(lowered), &frame)?;
            self.bound.insert(key.clone(), bound);
        }
        Ok(self.bound.get(&key))
    }

    /// A function's thread in a context; `None` if the language has no such context.
    pub(super) fn around(
        &self,
        mut program: Program,
        context: &Context,
        lowered: bool,
        results: &[&str],
    ) -> Option<Program> {
        let twins = context.judged_threads();
        let partners: Option<Vec<ThreadPiece>> =
            (twins..context.threads.len()).map(|at| self.partner(context, at, lowered)).collect();
        if twins > 1 {
            program.threads.push(renumbered(program.threads[0].clone(), 1));
        }
        let partners = partners?;
        program.threads.extend(partners.iter().map(|piece| piece.thread(String::new(), HERE)));
        let threads = program.threads.iter_mut().zip(&context.placements).enumerate();
        for (index, (thread, &placement)) in threads {
            thread.name = format!("P{index}");
            thread.placement = placement;
        }
        program.observed = self.observed(&program, context, results);
        program.sizes_agree = self.sizes_agree;
        program.omits_covered = true;
        Some(program)
    }

    /// The source by its published mapping; `None` if there is none.
    fn by_mapping(&self) -> Option<Function> {
        // A pass over LLVM IR compiles nothing.
        if self.target.language == Language::Cxx {
            return None;
        }
        mapped(self.source, &|step, shared| self.steps(step, shared, true))
    }

    /// The same in a context of the target, whose accesses have the sizes of the source.
    fn mapped(&mut self, context: &Context) -> Option<Program> {
        let words = std::mem::take(&mut self.words);
        let program = self.mapped_in_bytes(context);
        self.words = words;
        program
    }

    fn mapped_in_bytes(&self, context: &Context) -> Option<Program> {
        let function = self.by_mapping()?;
        let frame = self.frame(context, true)?;
        let bound = bind(&self.setup, &function, &frame).ok()?;
        let results = self.results(&function);
        let mut program = self.around(bound.program, context, true, &results)?;
        program.contested = Some(self.contested(&program, context, false));
        Some(program)
    }

    /// The target and what it may follow, each by itself where other threads may access all memory; `None` if the target
    /// has no program.
    pub(super) fn followed(&self, scans: &[ThreadScan; 2]) -> Option<FollowedPrograms> {
        let alone = alone(self.locations.len());
        let by_itself = |function: &Function, lowered: bool| {
            let bound = bind(&self.setup, function, &Default::default()).ok()?;
            let results = self.results(function);
            let program = self.around(bound.program, &alone, lowered, &results)?;
            // An address that depends on what is read leads anywhere if anything may be read, so what contexts write
            // is given then.
            let computed = scans.iter().any(|scan| scan.computes_addresses);
            let contested = if computed { self.written_by_contexts() } else { common(&program) };
            let contested = Some(contested);
            Some((
                Program { contested, sizes_agree: true, omits_covered: false, ..program },
                bound.rows,
            ))
        };
        let listing = matches!(self.target.language, Language::Sass(_));
        let weak = |instruction: &Instruction| {
            Strength::of(instruction).is_some_and(|of| of.order == AccessOrder::Weak)
        };
        // A listing promises of an access to shared memory that it is strong, whatever its source is.
        let plain = |instruction: &Instruction| {
            weak(instruction) || listing && instruction.space().is_shared()
        };
        let places: Vec<ByteRange> = self.uses.iter().map(|one| one.place).collect();
        let same = self.language() == self.target_language();
        let own = |function| {
            let (program, _) = by_itself(function, false)?;
            Some(FollowedProgram::new(program, &weak, &places))
        };
        let mapped = self.by_mapping().and_then(|function| {
            let (program, rows) = by_itself(&function, true)?;
            // A row of inline assembly may have several accesses.
            let of_row = |row: usize| {
                let lines = self.source.rows[row].lines.iter();
                let mut accesses = lines
                    .map(|step| &step.line.instruction)
                    .filter(|one| Strength::of(one).is_some());
                accesses.all(weak)
            };
            let plain = rows.iter().map(|row| row.is_some_and(of_row));
            let (plain, places) = (plain.collect(), places.clone());
            Some(FollowedProgram { program, plain, waits: listing, places })
        });
        let (target, _) = by_itself(self.target, true)?;
        Some(FollowedPrograms {
            source: if same { own(self.source) } else { None },
            mapped,
            target: FollowedProgram::new(target, &plain, &places),
        })
    }

    /// All places of both sides, with what contexts write there.
    fn written_by_contexts(&self) -> Vec<ContestedBytes> {
        let places = closed(self.uses.iter().map(|one| one.place).collect(), &self.uses);
        let values = |place: ByteRange| {
            let at = (0..self.locations.len()).filter(move |at| self.locations[*at].place == place);
            at.flat_map(|at| self.values(at)).collect()
        };
        places.into_iter().map(|place| place.contested(Some(values(place)))).collect()
    }

    /// The values that contexts write to a place.
    pub(super) fn values(&self, at: usize) -> Vec<Value> {
        let fresh = (FRESH..FRESH + 4).map(|value| self.value(at, value));
        let all = self.locations[at].wanted.iter().copied().chain(fresh);
        all.map(Value::from).collect()
    }

    /// Whether a target that drops a dependency of the source's mapping may be at fault.
    pub(super) fn compares_dependencies(&self) -> bool {
        self.language().syntactic_axiom().is_none()
    }

    /// The parts of an outcome: results, reads of the context, and memory.
    pub fn observed(
        &self,
        program: &Program,
        context: &Context,
        results: &[&str],
    ) -> Vec<Observed> {
        let mut all = Vec::new();
        for (index, thread) in (0u8..).zip(&program.threads) {
            let of = |name: &str| {
                let name = plain(name);
                let found = thread.registers.iter().position(|register| register.name == name);
                found.map(|register| Observed::Register {
                    thread: ThreadId(index),
                    register: Reg(u16::try_from(register).expect("few registers")),
                })
            };
            let function = context.frame(index.into()).is_some();
            if function {
                all.extend(results.iter().filter_map(|name| of(name)));
            }
            let prefixes: &[&str] = if function { &["before", "behind"] } else { &["c"] };
            for prefix in prefixes {
                all.extend((0..).map_while(|number| of(&format!("{prefix}{number}"))));
            }
        }
        for &(memory, offset, length) in &self.shown {
            if !self.is_used(context, memory) {
                continue;
            }
            all.push(Observed::Memory {
                variable: variable_id(memory),
                thread: ThreadId(0),
                offset,
                length,
            });
        }
        all
    }

    fn name(&self, program: &Program, observed: &Observed) -> String {
        match *observed {
            Observed::Register { thread, register } => {
                let of = &program.threads[usize::from(thread.0)];
                format!("P{}:{}", thread.0, of.registers[usize::from(register.0)].name)
            }
            Observed::Memory { variable, offset, .. } => {
                let memory = &self.setup.memory[usize::from(variable.0)];
                // Each CTA has its own shared memory.
                let whose = if memory.space == Space::Shared { "@P0" } else { "" };
                let offset = if offset == 0 { String::new() } else { format!("+{offset}") };
                format!("[{}{whose}{offset}]", memory.name)
            }
        }
    }
}

impl<'a> Refinement<'a> for RefinementCase<'a> {
    type Error = Refused;

    fn refiner(&self) -> Refiner<'a> {
        self.refiner
    }

    fn language(&self) -> SourceId {
        SourceId::of(self.source.language)
    }

    fn target_language(&self) -> SourceId {
        SourceId::of(self.target.language)
    }

    fn set_torn(&mut self, torn: bool) {
        self.torn = torn;
    }

    fn torn(&self) -> bool {
        self.torn
    }

    fn program(&mut self, context: &Context, lowered: bool) -> Result<Option<Program>, Refused> {
        let Some(bound) = self.bound(context, lowered)? else { return Ok(None) };
        let thread = bound.program.clone();
        let results = self.results(self.function(lowered));
        let mut program = self.around(thread, context, lowered, &results);
        if let Some(program) = &mut program {
            program.contested = Some(self.contested(program, context, lowered));
        }
        Ok(program)
    }

    /// An outcome that the published mapping of the source adds too, or where it is undefined, says nothing about the
    /// target: reading R81.
    fn ask(&mut self, context: &Context) -> Result<ContextResult, Refused> {
        let Some(source) = self.program(context, false)? else { return Ok(ContextResult::Absent) };
        let Some(target) = self.program(context, true)? else { return Ok(ContextResult::Absent) };
        let found = self.compare(&source, &target);
        if !found.differs() {
            return Ok(found);
        }
        if matches!(found, ContextResult::Faults(_)) && together::is_undefined(self, context) {
            return Ok(ContextResult::SourceUndefined);
        }
        // A volatile vector of the source promises nothing about the sizes of its accesses (reading R42).
        let sizes = |found: &ContextResult| matches!(found, ContextResult::TargetUndefined(why) if why == MIXED);
        let volatile = || self.source.rows.iter().any(|row| row.volatile && row.element);
        if sizes(&found) && volatile() {
            return Ok(ContextResult::Withdrawn);
        }
        if let Some(mapped) = self.mapped(context)
            && mapped.threads[0].lines != target.threads[0].lines
            && self.compare(&source, &mapped).differs()
        {
            return Ok(ContextResult::Withdrawn);
        }
        Ok(found)
    }

    /// Masks for results that have fewer bits than their registers.
    fn masks(&self, program: &Program) -> Vec<Value> {
        let of = |observed: &Observed| {
            let Observed::Register { thread, register } = observed else { return Value::MAX };
            let thread = &program.threads[usize::from(thread.0)];
            let name = &thread.registers[usize::from(register.0)].name;
            let is = |word: &ReturnedWord| plain(&word.register) == name;
            let word = self.returned().find(|(ours, theirs)| is(ours) || is(theirs));
            word.map_or(Value::MAX, |(ours, _)| ours.mask.into())
        };
        program.observed.iter().map(of).collect()
    }

    /// The context in words. The function appears under its name.
    fn words(&self, context: &Context) -> String {
        context.words(|thread, ops| {
            let cells = |ops: &[ContextOp], prefix: &str| {
                let piece = self.piece(context, thread, ops, prefix, false);
                piece.map(|piece| piece.cells()).unwrap_or_default()
            };
            let Some([before, behind]) = context.frame(thread) else { return cells(ops, "c") };
            let name = vec![format!("[{}]", self.source.name)];
            [cells(before, "before"), name, cells(behind, "behind")].concat()
        })
    }

    fn outcome(&self, program: &Program, outcome: &[Value]) -> String {
        let all = program.observed.iter().zip(outcome);
        let all: Vec<String> = all
            .map(|(observed, value)| format!("{}={value}", self.name(program, observed)))
            .collect();
        all.join(" ")
    }

    /// `None` for listings: their contexts are PTX.
    fn test(&mut self, context: &Context, lowered: bool, outcome: &[Value]) -> Option<String> {
        let language = self.function(lowered).language;
        if matches!(language, Language::Sass(_)) {
            return None;
        }
        let program = self.program(context, lowered).ok()??;
        let (first, others) = self.columns(context, lowered)?;
        let all = std::iter::once(&first).chain(&others);
        let columns: Vec<_> = context.placements.iter().copied().zip(all).collect();
        let claims: Vec<String> = program
            .observed
            .iter()
            .zip(outcome)
            .map(|(observed, value)| format!("{}={value}", self.name(&program, observed)))
            .collect();
        let quantifier = if lowered { "exists" } else { "~exists" };
        let name = if lowered { "target" } else { "source" };
        let condition = format!("{quantifier} ({})", claims.join(" /\\ "));
        let mut setup = self.setup.clone();
        for memory in (0..setup.memory.len()).rev() {
            if !self.is_used(context, memory) {
                setup.remove(memory);
            }
        }
        Some(setup.test(name, SourceId::of(language), &columns, &condition).to_string())
    }

    fn has_names(&self, context: &Context) -> bool {
        self.uses_names(context)
    }

    fn missing(
        &mut self,
        context: &Context,
        [source, target]: [&Program; 2],
    ) -> Option<(usize, String)> {
        repair::missing(self, context, source, target)
    }
}

/// The reason for which an execution is undefined where accesses of different sizes race.
const MIXED: &str = "mixed-size-race";

/// Repeats a value of a context in each byte, so that each byte shows which store wrote it.
fn spread(value: u64, bits: u32) -> u64 {
    let own = (FRESH..FRESH + 100).contains(&value);
    if own { (value * 0x0101_0101_0101_0101) & (u64::MAX >> (64 - bits.min(64))) } else { value }
}

/// The name of a register in a program.
fn plain(name: &str) -> &str {
    name.strip_prefix('%').unwrap_or(name)
}

/// The first thread, renumbered as another thread.
pub(super) fn renumbered(mut thread: Thread, to: u8) -> Thread {
    for register in &mut thread.registers {
        if let InitialValue::Address { thread, .. } = &mut register.initial {
            *thread = ThreadId(to);
        }
    }
    thread
}
