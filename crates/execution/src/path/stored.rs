//! The addresses of tensor memory that a register may hold, where the program says what is stored.
//!
//! `tcgen05.alloc` stores an address, which other threads load: without this, each of them might be that of any column.

use std::collections::BTreeSet;

use super::Walk;
use super::state::PathState;
use crate::expr::{Expr, ExprId};
use model::given::Tag;
use model::isa::alu::AluOp;
use model::isa::asynchronous::{Asynchronous, Copy};
use model::isa::atom::{Atomic, AtomicOp};
use model::isa::roles::AccessedPlace;
use model::isa::tensor_memory::TensorOp;
use model::isa::{Instruction, Operand, Reg, SpaceQualifier, TypeKind};
use model::program::ThreadId;
use model::value::{Value, little_endian, low_bits};

/// Values beyond which this does not help.
const MOST: usize = 64;

impl Walk<'_> {
    /// The values of an expression of one read of 32 bits that the assumptions of the path allow; `None` if they are not known.
    /// Racing accesses may mix the bytes of words, if `mixed`.
    pub(super) fn stored(
        &self,
        state: &PathState,
        expr: ExprId,
        mixed: bool,
    ) -> Option<BTreeSet<Value>> {
        let mut reads = BTreeSet::new();
        let mut known = true;
        state.exprs.leaves(expr, &mut |leaf| match leaf {
            Expr::Read(read) => {
                reads.insert(read);
            }
            Expr::Const(_)
            | Expr::Reduced(_)
            | Expr::Alu { .. }
            | Expr::Atomic { .. }
            | Expr::Extend { .. } => known = false,
        });
        let read = reads.pop_first().filter(|_| known && reads.is_empty())?;
        let event = &state.events[usize::from(read)];
        // A word that comes from tensor memory may be any that an operation has computed there.
        if event.access?.pa.length != 4 || event.tags.has(Tag::TensorMemory) {
            return None;
        }
        let words = self.words()?;
        let values = if mixed && self.conventions.tearing { mixtures(&words)? } else { words };
        let with = |value: Value| {
            move |leaf: Expr| if leaf == Expr::Read(read) { Some(value) } else { None }
        };
        let allowed = values.into_iter().filter(|&value| {
            state.checks.iter().all(|check| {
                let found = state.exprs.eval(check.expr(), &mut with(value));
                found.is_none_or(|found| check.holds(found))
            })
        });
        Some(allowed.filter_map(|value| state.exprs.eval(expr, &mut with(value))).collect())
    }

    /// All words of 32 bits that memory may hold outside of tensor memory; `None` if some are computed.
    fn words(&self) -> Option<BTreeSet<Value>> {
        let mut words = BTreeSet::from([0]);
        for location in &self.layout.locations {
            words.extend(location.initial.chunks(4).map(little_endian));
        }
        for (thread, of) in (0u8..).map(ThreadId).zip(&self.program.threads) {
            for (at, line) in of.lines.iter().enumerate() {
                for value in self.written(thread, at, &line.instruction)? {
                    words.extend((0..4).map(|word| value >> (32 * word) & low_bits(32)));
                }
            }
            if words.len() > MOST {
                return None;
            }
        }
        Some(words)
    }

    /// The values that an instruction writes to memory, but for those that it has loaded; `None` if it computes them.
    fn written(&self, thread: ThreadId, line: usize, of: &Instruction) -> Option<Vec<Value>> {
        if let Instruction::Asynchronous(Asynchronous::TensorMemory(TensorOp::Allocate {
            ..
        })) = of
        {
            let variable = self.program.allocated(thread, line)?;
            return Some(vec![self.layout.address(variable, thread).into()]);
        }
        let writes =
            |place: AccessedPlace| place.is_written() && place.space != SpaceQualifier::Tensor;
        let fills = matches!(of, Instruction::Asynchronous(Asynchronous::Fill(_)));
        if fills || of.copy().is_some_and(copies_words) || !of.places().any(writes) {
            return Some(Vec::new());
        }
        let sources = if let Instruction::Store(store) = of {
            (store.ty.bits >= 32).then_some(&store.sources)
        } else {
            let exchanges = |atomic: &&Atomic| {
                atomic.ty.bits >= 32 && matches!(atomic.op, AtomicOp::Exch | AtomicOp::Cas)
            };
            of.as_atomic().filter(exchanges).map(|atomic| &atomic.operands)
        };
        let values = sources?.iter().map(|&source| match source {
            Operand::Imm(value) => Some(vec![value.into()]),
            Operand::Address(variable) => Some(vec![
                self.layout.address(variable, thread).into(),
                self.layout.offset(variable, thread).into(),
            ]),
            Operand::Reg(register) => self.held(thread, register),
        });
        Some(values.collect::<Option<Vec<Vec<Value>>>>()?.concat())
    }

    /// The value that a register has from the start, if it is only loaded otherwise.
    fn held(&self, thread: ThreadId, register: Reg) -> Option<Vec<Value>> {
        let of = &self.program.threads[usize::from(thread.0)];
        let writes =
            |instruction: &Instruction| instruction.destinations().any(|to| to == register);
        let mut values = vec![self.layout.initial(of.registers[usize::from(register.0)].initial)];
        for instruction in of.lines.iter().map(|line| &line.instruction).filter(|of| writes(of)) {
            if let Instruction::Load(load) = instruction
                && load.ty.bits >= 32
            {
                // The sign, in the upper half of a wider register.
                if load.ty.kind == TypeKind::Signed {
                    values.push(low_bits(32));
                }
                continue;
            }
            let alu = instruction.as_alu().filter(|alu| alu.op == AluOp::Mov)?;
            let [Operand::Imm(value)] = alu.sources[..] else { return None };
            values.push(value.into());
        }
        Some(values)
    }
}

/// The words whose bytes are those of some of these words, as racing accesses may mix them; `None` if they are too many.
fn mixtures(words: &BTreeSet<Value>) -> Option<BTreeSet<Value>> {
    let mut mixed = BTreeSet::from([0]);
    for shift in [0, 8, 16, 24] {
        let bytes: BTreeSet<Value> = words.iter().map(|word| word & 0xff << shift).collect();
        if mixed.len() * bytes.len() > MOST {
            return None;
        }
        mixed = mixed.iter().flat_map(|low| bytes.iter().map(move |byte| low | byte)).collect();
    }
    Some(mixed)
}

/// Whether a copy writes whole words of its source, or zeros.
fn copies_words(copy: &Copy) -> bool {
    let words = |bytes| matches!(bytes, Operand::Imm(bytes) if bytes % 4 == 0);
    copy.reduction.is_none() && copy.byte_mask.is_none() && copy.source_bytes.is_none_or(words)
}
