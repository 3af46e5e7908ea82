//! The results of exchanges between the lanes of a warp that are the same in every execution.
//!
//! Up to the first decision that a read makes, a thread comes to the same lines in every execution. An exchange in front of it, at one
//! line of all lanes of its mask and behind the same other barriers of the warp, is one exchange of these lanes: if they bring
//! constants, its results are constants, unless it is in a loop that lanes may leave one by one. So a ballot says which lanes
//! have work, and a reduction in a warp adds up what nobody writes.

use std::collections::BTreeMap;

use crate::constants::{Constants, ExchangedValues, GivenResults};
use crate::layout::Layout;
use model::isa::alu::{AluOp, Comparison};
use model::isa::bar::Barrier;
use model::isa::warp::{Exchange, ExchangeOp, LANES};
use model::isa::{Instruction, Operand, Type};
use model::program::{Program, ThreadId};
use model::value::{Value, low_bits};

/// Adds the results of such exchanges to what is given. Returns the constants of each thread with them.
pub fn add_exchanges(
    program: &Program,
    layout: &Layout,
    given: &mut GivenResults,
) -> Vec<Constants> {
    let threads = || (0u8..).map(ThreadId).zip(&program.threads).map(|(id, _)| id);
    let constants = |given: &GivenResults| -> Vec<Constants> {
        threads().map(|id| Constants::given(program, layout, given, id)).collect()
    };
    let mut all = constants(given);
    for _ in 0..MOST_TURNS {
        let lanes = KnownLanes::new(program, layout, &all);
        let mut found: BTreeMap<(ThreadId, usize), ExchangedValues> = BTreeMap::new();
        for id in threads() {
            let barriers = lanes.prefixes[usize::from(id.0)].iter().map(|(line, _)| *line);
            let open = barriers.filter(|&line| {
                !given.exchanged.contains_key(&(id, line)) && !may_repeat(program, &all, id, line)
            });
            found.extend(open.filter_map(|line| Some(((id, line), lanes.values(id, line)?))));
        }
        if found.is_empty() {
            break;
        }
        given.exchanged.append(&mut found);
        all = constants(given);
    }
    all
}

/// Exchanges that take their values from one another, beyond which results are not followed.
const MOST_TURNS: usize = 32;

/// Whether some thread exchanges values.
pub fn exchanges(program: &Program) -> bool {
    let mut lines = program.threads.iter().flat_map(|thread| &thread.lines);
    lines.any(|line| line.instruction.as_exchange().is_some())
}

/// Whether a thread may come to a line again. Then other lanes may have left the loop, and bring something else, or nothing.
fn may_repeat(program: &Program, constants: &[Constants], id: ThreadId, line: usize) -> bool {
    let constants = &constants[usize::from(id.0)];
    let mut back = program.threads[usize::from(id.0)].back_branches();
    back.any(|(branch, target)| {
        let decision = constants.decision(branch);
        let jumps = constants.may_execute(branch) && decision.taken != Some(false);
        jumps && (target..=branch).contains(&line)
    })
}

/// The barriers of its warp that a thread comes to in every execution, in order, with their masks.
fn prefix(
    program: &Program,
    layout: &Layout,
    constants: &Constants,
    id: ThreadId,
) -> Vec<(usize, Value)> {
    let lines = &program.threads[usize::from(id.0)].lines;
    let (mut at, mut barriers) = (0, Vec::new());
    // What constants take back to a line stays in a loop.
    for _ in 0..lines.len() {
        let Some(line) = lines.get(at) else { break };
        let decision = constants.decision(at);
        let branch = line.instruction.as_branch();
        let barrier = warp_barrier(&line.instruction);
        match (decision.executes, branch, barrier) {
            (Some(true), Some(branch), _) => match decision.taken {
                Some(true) => {
                    at = branch.target;
                    continue;
                }
                Some(false) => {}
                None => break,
            },
            (Some(true), None, Some(barrier)) => {
                let mask = constants.operand(layout, id, at, barrier.id);
                let Some(mask) = mask.filter(|_| barriers.iter().all(|(of, _)| *of != at)) else {
                    break;
                };
                barriers.push((at, mask & low_bits(32)));
            }
            (None, Some(_), _) | (None, _, Some(_)) => break,
            (Some(_) | None, ..) => {}
        }
        at += 1;
    }
    barriers
}

fn warp_barrier(of: &Instruction) -> Option<&Barrier> {
    if let Instruction::Barrier(barrier) = of { Some(barrier).filter(|of| of.warp) } else { None }
}

/// What the lanes of warps bring to the exchanges of their prefixes.
struct KnownLanes<'k> {
    program: &'k Program,
    layout: &'k Layout,
    constants: &'k [Constants],
    /// Of each thread.
    prefixes: Vec<Vec<(usize, Value)>>,
}

impl<'k> KnownLanes<'k> {
    fn new(program: &'k Program, layout: &'k Layout, constants: &'k [Constants]) -> KnownLanes<'k> {
        let of = (0u8..).map(ThreadId).zip(constants);
        let prefixes = of.map(|(id, of)| prefix(program, layout, of, id)).collect();
        KnownLanes { program, layout, constants, prefixes }
    }

    /// The results of an exchange of a prefix for a thread.
    fn values(&self, thread: ThreadId, line: usize) -> Option<ExchangedValues> {
        let program = self.program;
        let instruction = &program.threads[usize::from(thread.0)].lines[line].instruction;
        let exchange = instruction.as_exchange()?;
        let prefix = &self.prefixes[usize::from(thread.0)];
        let at = prefix.iter().position(|(of, _)| *of == line)?;
        let mask = prefix[at].1;
        let own = program.lane(thread);
        let here = program.threads[usize::from(thread.0)].placement;
        let mut lanes: Vec<(u32, ThreadId)> = Vec::new();
        for (id, other) in (0u8..).map(ThreadId).zip(&program.threads) {
            if id != thread && !other.placement.same_warp(here) {
                continue;
            }
            let number = program.lane(id);
            if mask >> number & 1 == 1 {
                // It comes to the same exchange behind the same barriers.
                let same = self.prefixes[usize::from(id.0)].get(..=at)? == &prefix[..=at];
                if !same || other.lines[line].instruction != *instruction {
                    return None;
                }
                lanes.push((number, id));
            }
        }
        if mask >> own & 1 == 0 {
            return None;
        }
        match exchange.op {
            // Which lanes these are is found out.
            ExchangeOp::Active | ExchangeOp::Elect => None,
            ExchangeOp::Shuffle(shuffle) => {
                let by = self.operand(thread, line, exchange.lane)? % Value::from(LANES);
                let clamp = self.operand(thread, line, exchange.clamp)?;
                let by = u32::try_from(by).expect("it is a lane");
                let clamp = u64::try_from(clamp).ok()?;
                let (from, in_range) = shuffle.source(own, by, clamp);
                let (_, source) = lanes.iter().find(|(lane, _)| *lane == from)?;
                let result = self.brought(*source, line)?;
                Some(ExchangedValues { result, predicate: in_range.into() })
            }
            op @ (ExchangeOp::All
            | ExchangeOp::Any
            | ExchangeOp::Uniform
            | ExchangeOp::Ballot
            | ExchangeOp::MatchAny(_)
            | ExchangeOp::MatchAll(_)
            | ExchangeOp::Reduce(_)) => {
                let brought =
                    |(lane, id): &(u32, ThreadId)| Some((*lane, self.brought(*id, line)?));
                let all: Vec<(u32, Value)> = lanes.iter().map(brought).collect::<Option<_>>()?;
                let result = op.apply(self.brought(thread, line)?, &all);
                Some(ExchangedValues { result, predicate: (result != 0).into() })
            }
        }
    }

    fn operand(&self, thread: ThreadId, line: usize, of: Operand) -> Option<Value> {
        self.constants[usize::from(thread.0)].operand(self.layout, thread, line, of)
    }

    /// What a lane brings, in the bits that count.
    fn brought(&self, thread: ThreadId, line: usize) -> Option<Value> {
        let of: &Exchange =
            self.program.threads[usize::from(thread.0)].lines[line].instruction.as_exchange()?;
        Some(brought(of, self.operand(thread, line, of.source)?))
    }
}

/// What a lane brings that has this value, in the bits that count.
pub fn brought(of: &Exchange, value: Value) -> Value {
    let bits = of.op.source_bits();
    if bits == 1 {
        let wanted = if of.negated { Comparison::Eq } else { Comparison::Ne };
        return AluOp::Setp(wanted).apply(Type::U32, &[value, 0]);
    }
    value & low_bits(bits)
}
