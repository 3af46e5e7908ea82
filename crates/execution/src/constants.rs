//! The constants that the registers of a thread hold before each of its lines, whatever its reads return.
//!
//! A thread knows its own index, and compilers keep numbers and addresses in registers: what they decide, and which bytes
//! they name, is often a constant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::event::Access;
use crate::expr::{ExprId, Exprs, widened};
use crate::layout::Layout;
use crate::path::converted;
use model::isa::alu::AluOp;
use model::isa::ld::Load;
use model::isa::{Address, Instruction, Operand, SpaceQualifier, Type};
use model::memory::Extent;
use model::program::{Program, ThreadId};
use model::value::{Value, little_endian, low64};

/// Those of one thread.
#[derive(Clone, Debug)]
pub struct Constants {
    /// For each line, and the end, what each register holds if that is a constant; `None` where the thread never comes.
    before: Vec<Option<HeldConstants>>,
    decisions: Vec<ConstantDecision>,
}

/// What each register holds, if that is a constant. Lines of long threads differ in few registers, so they share parts, and
/// groups of these: a list of all parts of each line would be larger than what they hold.
#[derive(Clone, Debug)]
struct HeldConstants(Vec<Arc<[HeldPart]>>);

/// What each register of a part holds.
type HeldPart = Arc<[Option<Value>]>;

/// The registers of a part, and the parts of a group; the last ones may have fewer.
const PART: usize = 16;
const GROUP: usize = 32;

impl HeldConstants {
    fn new(all: &[Option<Value>]) -> HeldConstants {
        let group = |of: &[Option<Value>]| of.chunks(PART).map(Arc::from).collect();
        HeldConstants(all.chunks(PART * GROUP).map(group).collect())
    }

    fn get(&self, register: usize) -> Option<Value> {
        let part = register / PART;
        self.0[part / GROUP][part % GROUP][register % PART]
    }

    fn set(&mut self, register: usize, value: Option<Value>) {
        if self.get(register) != value {
            let part = register / PART;
            let group = Arc::make_mut(&mut self.0[part / GROUP]);
            Arc::make_mut(&mut group[part % GROUP])[register % PART] = value;
        }
    }

    /// About how many bytes it takes, without the parts that it shares with the line before.
    fn bytes_besides(&self, last: Option<&HeldConstants>) -> usize {
        let mut bytes = size_of_val(&*self.0);
        for (group, own) in self.0.iter().enumerate() {
            let known = last.and_then(|last| last.0.get(group));
            if known.is_some_and(|known| Arc::ptr_eq(own, known)) {
                continue;
            }
            bytes += size_of_val(&**own);
            for (part, own) in own.iter().enumerate() {
                let known = known.and_then(|known| known.get(part));
                if !known.is_some_and(|known| Arc::ptr_eq(own, known)) {
                    bytes += size_of_val(&**own);
                }
            }
        }
        bytes
    }

    /// Keeps what others hold, too. Returns whether that is less.
    fn keep(&mut self, others: &HeldConstants) -> bool {
        let mut less = Vec::new();
        for (group, (own, other)) in self.0.iter().zip(&others.0).enumerate() {
            if Arc::ptr_eq(own, other) {
                continue;
            }
            for (part, (own, other)) in own.iter().zip(&**other).enumerate() {
                if Arc::ptr_eq(own, other) {
                    continue;
                }
                let from = (group * GROUP + part) * PART;
                let differs = |&at: &usize| own[at].is_some() && own[at] != other[at];
                less.extend((0..own.len()).filter(differs).map(|at| from + at));
            }
        }
        for &register in &less {
            self.set(register, None);
        }
        !less.is_empty()
    }
}

/// Whether an instruction is executed, and a branch taken, as far as constants decide it.
#[derive(Clone, Copy, Default, Debug)]
pub struct ConstantDecision {
    pub executes: Option<bool>,
    pub taken: Option<bool>,
}

/// What is known of results that a thread does not compute by itself.
#[derive(Default, Debug)]
pub struct GivenResults {
    /// The locations that nothing writes.
    pub unwritten: BTreeSet<u16>,
    /// Of exchanges between the lanes of a warp, by thread and line.
    pub exchanged: BTreeMap<(ThreadId, usize), ExchangedValues>,
}

/// What an exchange gives to a thread.
#[derive(Clone, Copy, Debug)]
pub struct ExchangedValues {
    pub result: Value,
    pub predicate: Value,
}

impl Constants {
    pub fn new(program: &Program, layout: &Layout, id: ThreadId) -> Constants {
        Constants::given(program, layout, &GivenResults::default(), id)
    }

    /// The same, with results that are known.
    pub fn given(
        program: &Program,
        layout: &Layout,
        given: &GivenResults,
        id: ThreadId,
    ) -> Constants {
        let thread = &program.threads[usize::from(id.0)];
        let count = thread.lines.len();
        let initial = thread.registers.iter().map(|of| Some(layout.initial(of.initial)));
        let initial: Vec<Option<Value>> = initial.collect();
        let mut known =
            Constants { before: vec![None; count + 1], decisions: vec![<_>::default(); count] };
        known.before[0] = Some(HeldConstants::new(&initial));
        // The first line comes first: what is after a join waits for all ways to it.
        let mut pending = BTreeSet::from([0]);
        while let Some(at) = pending.pop_first() {
            if at == count {
                continue;
            }
            let line = &thread.lines[at];
            let of = |operand| known.operand(layout, id, at, operand);
            let executes = line.guard.map_or(Some(true), |guard| {
                let holds = of(Operand::Reg(guard.predicate))?;
                Some((holds != 0) != guard.negated)
            });
            let branch = line.instruction.as_branch();
            let taken = branch.and_then(|branch| match branch.condition {
                None => Some(true),
                Some((comparison, a, b)) => {
                    let sides = [of(a)?, of(b)?];
                    Some(computed(AluOp::Setp(comparison), Type::U64, &sides)? != 0)
                }
            });
            let exchanged = given.exchanged.get(&(id, at));
            let predicate = line.instruction.as_exchange().and_then(|of| of.predicate);
            let result = if let Instruction::Alu(alu) = &line.instruction {
                let sources: Option<Vec<Value>> = alu.sources.iter().map(|&s| of(s)).collect();
                sources.and_then(|sources| computed(alu.op, alu.ty, &sources))
            } else if let Instruction::Cvta(cvta) = &line.instruction {
                of(cvta.source).and_then(|source| {
                    let mut exprs = Exprs::default();
                    let source = exprs.constant(source);
                    let result = converted(&mut exprs, layout, id, cvta, source)?;
                    exprs.as_const(result)
                })
            } else if let Instruction::Load(load) = &line.instruction {
                known.loaded(layout, given, id, at, load)
            } else {
                exchanged.map(|of| of.result)
            };
            known.decisions[at] = ConstantDecision { executes, taken };
            let mut after = known.before[at].clone().expect("a pending line is reached");
            if executes != Some(false) {
                for register in line.instruction.destinations() {
                    let is_predicate = predicate == Some(register);
                    let result =
                        if is_predicate { exchanged.map(|of| of.predicate) } else { result };
                    let register = usize::from(register.0);
                    let kept = executes == Some(true) || after.get(register) == result;
                    after.set(register, result.filter(|_| kept));
                }
            }
            let jumps = branch.filter(|_| executes != Some(false) && taken != Some(false));
            let falls_through = branch.is_none() || executes != Some(true) || taken != Some(true);
            let next = jumps.map(|branch| branch.target.min(count));
            for next in next.into_iter().chain(falls_through.then_some(at + 1)) {
                let changed = match &mut known.before[next] {
                    Some(before) => before.keep(&after),
                    none => {
                        *none = Some(after.clone());
                        true
                    }
                };
                if changed {
                    pending.insert(next);
                }
            }
        }
        known
    }

    /// What a load returns of bytes that nothing writes. A vector is several values.
    fn loaded(
        &self,
        layout: &Layout,
        given: &GivenResults,
        thread: ThreadId,
        line: usize,
        load: &Load,
    ) -> Option<Value> {
        if given.unwritten.is_empty() || load.destinations.len() != 1 {
            return None;
        }
        let bytes = self.bytes(layout, thread, line, load.space, load.address, load.ty.bytes())?.pa;
        if !given.unwritten.contains(&bytes.object) {
            return None;
        }
        let initial = &layout.locations[usize::from(bytes.object)].initial;
        let value = little_endian(initial.get(bytes.start as usize..bytes.end() as usize)?);
        Some(widened(load.ty, value))
    }

    /// What an operand of a line is, if that is a constant.
    pub fn operand(
        &self,
        layout: &Layout,
        thread: ThreadId,
        line: usize,
        operand: Operand,
    ) -> Option<Value> {
        match operand {
            Operand::Reg(register) => self.before[line].as_ref()?.get(register.0.into()),
            Operand::Imm(value) => Some(value.into()),
            Operand::Address(variable) => Some(layout.offset(variable, thread).into()),
        }
    }

    /// An address that a line accesses, in the state space that it names, if that is a constant.
    pub fn address(
        &self,
        layout: &Layout,
        thread: ThreadId,
        line: usize,
        address: Address,
    ) -> Option<u64> {
        let base = match address.base {
            // A name in brackets is the variable, whatever its space and the instruction's.
            Operand::Address(variable) => layout.address(variable, thread),
            base @ (Operand::Reg(_) | Operand::Imm(_)) => {
                low64(self.operand(layout, thread, line, base)?)
            }
        };
        Some(base.wrapping_add_signed(address.offset))
    }

    /// The `length` bytes at an address that a line accesses in a state space, if constants say so.
    pub fn bytes(
        &self,
        layout: &Layout,
        thread: ThreadId,
        line: usize,
        space: SpaceQualifier,
        address: Address,
        length: u32,
    ) -> Option<Access> {
        let at = self.address(layout, thread, line, address)?;
        let va: Extent = layout.resolve(thread, space, at, length).ok()?;
        Some(Access { va, pa: layout.physical(va) })
    }

    /// About how many bytes they take.
    pub fn taken(&self) -> usize {
        let mut bytes = size_of_val(&*self.decisions);
        let mut last: Option<&HeldConstants> = None;
        for held in self.before.iter().flatten() {
            bytes += held.bytes_besides(last);
            last = Some(held);
        }
        bytes
    }

    pub fn decision(&self, line: usize) -> ConstantDecision {
        self.decisions[line]
    }

    /// Whether a thread may execute the instruction of a line.
    pub fn may_execute(&self, line: usize) -> bool {
        self.before[line].is_some() && self.decisions[line].executes != Some(false)
    }
}

fn computed(op: AluOp, ty: Type, values: &[Value]) -> Option<Value> {
    let mut exprs = Exprs::default();
    let values: Vec<ExprId> = values.iter().map(|&value| exprs.constant(value)).collect();
    let result = exprs.alu(op, ty, &values);
    exprs.as_const(result)
}
