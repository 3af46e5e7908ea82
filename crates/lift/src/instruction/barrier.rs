//! `bar`, `barrier.cta` and `barrier.cluster`.

use model::isa::bar::{
    Barrier, BarrierKind, ClusterBarrier, ClusterBarrierKind, MOST_CTA_THREADS, Reduction,
};
use model::isa::{Instruction, Operand, Reg, Type};
use model::section;
use ptx::qualifier::Dialect;
use ptx::rules::barrier::{self, CLUSTER_FORM, COUNT_MISSING, FORM};

use super::InstructionReader;
use crate::cell::{Arg, InstructionCell};
use crate::draft::WarpLanes;

/// The number of barriers of a CTA in PTX.
const IDS: u64 = 16;

enum BarrierForm {
    Sync,
    Arrive,
    Reduce(Reduction),
}

/// 9.7.15.1: `bar` is `barrier.aligned`.
fn is_aligned(cell: &InstructionCell<'_>) -> bool {
    cell.opcode() == "bar" || cell.parts.iter().any(|part| part.text == "aligned")
}

impl<'a> InstructionReader<'_> {
    pub(super) fn barrier(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        if cell.part(1) == "cluster" && cell.opcode() == "barrier" {
            return self.cluster_barrier(cell);
        }
        if cell.part(1) == "warp" && cell.opcode() == "bar" {
            return self.warp_barrier(cell);
        }
        let mut parts: Vec<&str> = cell.parts.iter().skip(1).map(|part| part.text).collect();
        if parts.first() == Some(&"cta") {
            parts.remove(0);
        }
        // In a reduction, `.aligned` may also precede the operation.
        if cell.opcode() == "barrier" {
            parts.retain(|part| *part != "aligned");
        }
        let form = match parts[..] {
            ["sync"] => BarrierForm::Sync,
            ["arrive"] => BarrierForm::Arrive,
            ["red", "popc", "u32"] => BarrierForm::Reduce(Reduction::Popc),
            ["red", "and", "pred"] => BarrierForm::Reduce(Reduction::And),
            ["red", "or", "pred"] => BarrierForm::Reduce(Reduction::Or),
            ["warp", ..] => {
                self.report
                    .error("bar-form", cell.name_at(), "the barrier of a warp is `bar.warp.sync`")
                    .section(section::of_parts(&["bar", "warp"]))
                    .help(cell.with_parts(&["bar", "warp", "sync"]));
                return None;
            }
            _ => {
                let help = self.report.nearest(parts.first().unwrap_or(&""), ["sync", "arrive"]);
                let help = cell.with_parts(&[cell.opcode(), help.unwrap_or("sync")]);
                let at = cell
                    .parts
                    .get(1)
                    .map_or(cell.part_at(0), |_| cell.part_at(1).to(cell.name_at()));
                self.broken(&FORM, at, String::new(), help);
                return None;
            }
        };
        let args = self.args(cell)?;
        match self.draft.dialect {
            Dialect::Peer => self.peer_barrier(cell, &form, &args),
            Dialect::Ptx | Dialect::Cxx => self.cta_barrier(cell, &form, &args),
        }
    }

    /// `bar.warp.sync MASK`. Reading R31: a warp is not a scope of the model, and its barrier orders its lanes.
    fn warp_barrier(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        if self.draft.lanes == WarpLanes::Lone {
            return Some(Self::unsupported(cell, "operations of a warp"));
        }
        let parts: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        if !self.has_known_modifiers(cell, &parts) {
            return None;
        }
        let args = self.args(cell)?;
        let [mask] = &args[..] else {
            self.count(cell, &args, "0xffffffff");
            return None;
        };
        Some(Instruction::Barrier(Barrier {
            kind: BarrierKind::Sync,
            id: self.sized(mask, Type::U32)?,
            count: None,
            instance: None,
            aligned: false,
            warp: true,
        }))
    }

    fn cta_barrier(
        &mut self,
        cell: &InstructionCell<'a>,
        form: &BarrierForm,
        args: &[Arg<'a>],
    ) -> Option<Instruction> {
        let (kind, id, count) = match (form, args) {
            (BarrierForm::Sync, [id]) => (BarrierKind::Sync, id, None),
            (BarrierForm::Sync, [id, count]) => (BarrierKind::Sync, id, Some(count)),
            (BarrierForm::Arrive, [id, count]) => (BarrierKind::Arrive, id, Some(count)),
            (BarrierForm::Arrive, [id]) => {
                let id = id.at().of(cell.source);
                let threads = self.draft.threads.len();
                let help = cell.with_operands(&format!("{id}, {threads}"));
                self.broken(&COUNT_MISSING, args[0].at(), "no count follows".into(), help);
                return None;
            }
            (BarrierForm::Reduce(op), [destination, id, source]) => {
                (self.reduction(*op, destination, source)?, id, None)
            }
            (BarrierForm::Reduce(op), [destination, id, count, source]) => {
                (self.reduction(*op, destination, source)?, id, Some(count))
            }
            (BarrierForm::Sync, _) => return self.wrong_count(cell, args, "0"),
            (BarrierForm::Arrive, _) => return self.wrong_count(cell, args, "0, 2"),
            (BarrierForm::Reduce(Reduction::Popc), _) => {
                return self.wrong_count(cell, args, "r0, 0, p");
            }
            (BarrierForm::Reduce(_), _) => return self.wrong_count(cell, args, "q, 0, p"),
        };
        if let Arg::Number(number, at) = *id
            && number >= IDS
        {
            let written = at.of(cell.source);
            let help = cell.with_operands(&cell.operand_text().replacen(written, "0", 1));
            self.broken(&barrier::ID, at, format!("this is {}", number.cast_signed()), help);
            return None;
        }
        let id = self.sized(id, Type::U32)?;
        let count = match count {
            Some(&Arg::Number(0, at)) => {
                self.report.error("bar-count", at, "a barrier with a count of 0 never completes");
                return None;
            }
            Some(&Arg::Number(count, at)) if count > MOST_CTA_THREADS => {
                // A negative number has the bits of a large one.
                let written = at.of(cell.source);
                let message = if written.starts_with('-') {
                    "a barrier does not count a negative number of threads"
                } else {
                    "no CTA has that many threads"
                };
                let note = format!("a count is at most {MOST_CTA_THREADS}");
                self.report.error("bar-count", at, message).note(note).section(section::BAR);
                return None;
            }
            Some(count) => Some(self.sized(count, Type::U32)?),
            None => None,
        };
        Some(Instruction::Barrier(Barrier {
            kind,
            id,
            count,
            instance: None,
            aligned: is_aligned(cell),
            warp: false,
        }))
    }

    fn wrong_count(
        &mut self,
        cell: &InstructionCell<'a>,
        args: &[Arg<'a>],
        form: &str,
    ) -> Option<Instruction> {
        self.count(cell, args, form);
        None
    }

    fn reduction(
        &mut self,
        op: Reduction,
        destination: &Arg<'a>,
        source: &Arg<'a>,
    ) -> Option<BarrierKind> {
        let bits = if op == Reduction::Popc { 32 } else { 1 };
        let destination = self.plain_destination(destination, bits).ok()?;
        let Some(destination) = destination else {
            self.report.error(
                "destination",
                source.at(),
                "a reduction requires a destination register",
            );
            return None;
        };
        let (source, negated) = self.predicate(source)?;
        Some(BarrierKind::Reduce { op, destination, source, negated })
    }

    /// `p` or `!p`.
    pub(super) fn predicate(&mut self, arg: &Arg<'a>) -> Option<(Reg, bool)> {
        match *arg {
            Arg::Name(name, at) => Some((self.register(name, at), false)),
            Arg::Negated(name, at) => Some((self.register(name, at), true)),
            Arg::Number(..) | Arg::Address(..) | Arg::Vector(..) | Arg::Joined(..) => {
                self.report
                    .error("operand", arg.at(), "this operand is a predicate")
                    .note("expected a predicate register");
                None
            }
        }
    }

    /// `bar.cta.sync INST[, id[, quorum]]`.
    fn peer_barrier(
        &mut self,
        cell: &InstructionCell<'a>,
        form: &BarrierForm,
        args: &[Arg<'a>],
    ) -> Option<Instruction> {
        let (instance, rest) = match args {
            [Arg::Number(instance, _), rest @ ..] if rest.len() < 3 => (*instance, rest),
            _ => return self.wrong_count(cell, args, "1, 0"),
        };
        let kind = match form {
            BarrierForm::Sync => BarrierKind::Sync,
            BarrierForm::Arrive => BarrierKind::Arrive,
            BarrierForm::Reduce(_) => {
                return Some(Self::unsupported(cell, "not in the peer dialect"));
            }
        };
        let id = match rest.first() {
            Some(id) => self.sized(id, Type::U32)?,
            None => Operand::Imm(0),
        };
        let count = match rest.get(1) {
            Some(count) => Some(self.sized(count, Type::U32)?),
            None => None,
        };
        Some(Instruction::Barrier(Barrier {
            kind,
            id,
            count,
            instance: Some(instance),
            aligned: false,
            warp: false,
        }))
    }

    fn cluster_barrier(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let mut parts: Vec<&str> = cell.parts.iter().skip(2).map(|part| part.text).collect();
        parts.retain(|part| *part != "aligned");
        let kind = match parts[..] {
            ["arrive"] | ["arrive", "release"] => ClusterBarrierKind::ArriveRelease,
            ["arrive", "relaxed"] => ClusterBarrierKind::ArriveRelaxed,
            ["wait"] | ["wait", "acquire"] => ClusterBarrierKind::Wait,
            _ => {
                let known = ["arrive", "wait"];
                let first = parts.first().copied().unwrap_or("");
                let near = self.report.nearest(first, known).unwrap_or("arrive");
                let help = cell.with_parts(&["barrier", "cluster", near]);
                let at = cell.part_at(2).to(cell.name_at().after());
                self.broken(&CLUSTER_FORM, at, String::new(), help);
                return None;
            }
        };
        self.no_operands(cell)?;
        let aligned = is_aligned(cell);
        Some(Instruction::ClusterBarrier(ClusterBarrier { kind, aligned }))
    }
}
