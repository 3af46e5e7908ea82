//! `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync` and `elect.sync`.

use model::isa::bar::{Barrier, BarrierKind};
use model::isa::warp::{Exchange, ExchangeOp, FloatReduction, LaneReduction, Shuffle};
use model::isa::{Instruction, Operand, Reg, Type};

use super::{InstructionReader, plan};
use crate::cell::{Arg, InstructionCell};
use crate::draft::WarpLanes;

/// The result and the predicate, the operands that the lane brings, and the mask.
struct LaneOperands<'a> {
    result: Option<Reg>,
    predicate: Option<Reg>,
    sources: Vec<Arg<'a>>,
    mask: Operand,
}

impl<'a> InstructionReader<'_> {
    /// Whether a cell has one of these instructions.
    pub(super) fn exchanges(cell: &InstructionCell<'a>) -> bool {
        matches!(cell.opcode(), "shfl" | "vote" | "match" | "redux" | "elect")
    }

    /// `shfl.sync.idx.b32 r0|p, r1, 0, 31, 0xffffffff`. Reading R31: the lanes exchange values, and nothing is ordered.
    pub(super) fn exchange(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        if self.draft.lanes == WarpLanes::Lone {
            return Some(Self::unsupported(cell, "operations of a warp"));
        }
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        if !self.is_written_as_produced(cell, &parts) {
            return None;
        }
        let Some(op) = operation(&parts) else {
            self.no_exchange(cell, &parts);
            return None;
        };
        let operands = self.lane_operands(cell, op)?;
        let (result, predicate) = (operands.result, operands.predicate);
        let mut exchange = Exchange { result, predicate, ..Exchange::of(op) };
        if let [value, lane, clamp] = &operands.sources[..] {
            exchange.source = self.sized(value, Type::U32)?;
            exchange.lane = self.sized(lane, Type::U32)?;
            exchange.clamp = self.sized(clamp, Type::U32)?;
        } else if let [value] = &operands.sources[..] {
            if op.source_bits() == 1 {
                let (source, negated) = self.predicate(value)?;
                (exchange.source, exchange.negated) = (Operand::Reg(source), negated);
            } else {
                exchange.source = self.sized(value, plan::bits(op.source_bits()))?;
            }
        }
        Some(exchanged(exchange, operands.mask))
    }

    /// `activemask.b32 r0`.
    pub(super) fn active_lanes(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        if self.draft.lanes == WarpLanes::Lone {
            return Some(Self::unsupported(cell, "operations of a warp"));
        }
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        if !self.is_written_as_produced(cell, &parts) {
            return None;
        }
        let args = self.args(cell)?;
        let [to] = &args[..] else {
            self.count(cell, &args, "r0");
            return None;
        };
        let op = ExchangeOp::Active;
        let result = self.plain_destination(to, op.result_bits()).ok()?;
        Some(exchanged(Exchange { result, ..Exchange::of(op) }, Operand::Imm(0)))
    }

    fn no_exchange(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) {
        let form = form(parts);
        let name = cell.name();
        self.report
            .error("form", cell.name_at(), format!("`{name}` is not a form of `{}`", parts[0]))
            .section(model::section::of_opcode(parts[0]))
            .help(format!("{} {}", form.0, form.1));
    }

    /// `d|p, a, mask`: the number of operands is that of the instruction.
    fn lane_operands(
        &mut self,
        cell: &InstructionCell<'a>,
        op: ExchangeOp,
    ) -> Option<LaneOperands<'a>> {
        let (names, args) = self.joined_destinations(cell, "a register")?;
        let sources = match op {
            ExchangeOp::Elect | ExchangeOp::Active => 0,
            ExchangeOp::Shuffle(_) => 3,
            ExchangeOp::All
            | ExchangeOp::Any
            | ExchangeOp::Uniform
            | ExchangeOp::Ballot
            | ExchangeOp::MatchAny(_)
            | ExchangeOp::MatchAll(_)
            | ExchangeOp::Reduce(_) => 1,
        };
        let two = match op {
            ExchangeOp::Elect => Some(true),
            ExchangeOp::Shuffle(_) | ExchangeOp::MatchAll(_) => None,
            ExchangeOp::All
            | ExchangeOp::Any
            | ExchangeOp::Uniform
            | ExchangeOp::Ballot
            | ExchangeOp::MatchAny(_)
            | ExchangeOp::Reduce(_)
            | ExchangeOp::Active => Some(false),
        };
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        if args.len() != sources + 1 || two.is_some_and(|two| two != (names.len() == 2)) {
            self.count(cell, &args, form(&parts).1);
            return None;
        }
        let mut registers = names
            .into_iter()
            .zip([op.result_bits(), 1])
            .map(|((name, at), bits)| self.plain_destination(&Arg::Name(name, at), bits).ok());
        let result = registers.next()??;
        let predicate = match registers.next() {
            Some(read) => read?,
            None => None,
        };
        let mut sources = args;
        let mask = sources.pop()?;
        let mask = self.sized(&mask, Type::U32)?;
        Some(LaneOperands { result, predicate, sources, mask })
    }
}

fn exchanged(of: Exchange, mask: Operand) -> Instruction {
    Instruction::Barrier(Barrier {
        kind: BarrierKind::Exchange(of),
        id: mask,
        count: None,
        instance: None,
        aligned: false,
        warp: true,
    })
}

/// A form of each instruction that there is, and its operands.
fn form(parts: &[&str]) -> (&'static str, &'static str) {
    match parts {
        ["shfl", ..] => ("shfl.sync.idx.b32", "r0, r1, 0, 31, 0xffffffff"),
        ["vote", .., "b32"] => ("vote.sync.ballot.b32", "r0, p, 0xffffffff"),
        ["vote", ..] => ("vote.sync.all.pred", "q, p, 0xffffffff"),
        ["match", "all", ..] => ("match.all.sync.b32", "r0|p, r1, 0xffffffff"),
        ["match", ..] => ("match.any.sync.b32", "r0, r1, 0xffffffff"),
        ["redux", ..] => ("redux.sync.add.u32", "r0, r1, 0xffffffff"),
        _ => ("elect.sync", "_|p, 0xffffffff"),
    }
}

fn operation(parts: &[&str]) -> Option<ExchangeOp> {
    Some(match parts {
        ["shfl", "sync", mode, "b32"] => ExchangeOp::Shuffle(match *mode {
            "up" => Shuffle::Up,
            "down" => Shuffle::Down,
            "bfly" => Shuffle::Butterfly,
            "idx" => Shuffle::Index,
            _ => return None,
        }),
        ["vote", "sync", "all", "pred"] => ExchangeOp::All,
        ["vote", "sync", "any", "pred"] => ExchangeOp::Any,
        ["vote", "sync", "uni", "pred"] => ExchangeOp::Uniform,
        ["vote", "sync", "ballot", "b32"] => ExchangeOp::Ballot,
        ["match", which @ ("any" | "all"), "sync", ty @ ("b32" | "b64")] => {
            let bits = if *ty == "b64" { 64 } else { 32 };
            if *which == "any" { ExchangeOp::MatchAny(bits) } else { ExchangeOp::MatchAll(bits) }
        }
        ["redux", "sync", op, modifiers @ .., ty] => {
            ExchangeOp::Reduce(reduction(op, modifiers, ty)?)
        }
        ["elect", "sync"] => ExchangeOp::Elect,
        _ => return None,
    })
}

/// An operation on the values of lanes or columns, with modifiers of floats, and its type.
pub(super) fn reduction(op: &str, modifiers: &[&str], ty: &str) -> Option<LaneReduction> {
    Some(match (op, ty) {
        ("min" | "max", "f32") => LaneReduction::Float(FloatReduction {
            greatest: op == "max",
            abs: modifiers.contains(&"abs"),
            nan: modifiers.contains(&"NaN"),
        }),
        ("add", "u32" | "s32") => LaneReduction::Add,
        ("min", "u32") => LaneReduction::MinUnsigned,
        ("max", "u32") => LaneReduction::MaxUnsigned,
        ("min", "s32") => LaneReduction::MinSigned,
        ("max", "s32") => LaneReduction::MaxSigned,
        ("and", "b32") => LaneReduction::And,
        ("or", "b32") => LaneReduction::Or,
        ("xor", "b32") => LaneReduction::Xor,
        _ => return None,
    })
}
