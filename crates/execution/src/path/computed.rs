//! Results that instructions compute, and which of them have none.

use super::state::PathState;
use super::{Assumption, Walk};
use crate::event::Mask;
use crate::expr::ExprId;
use model::isa::alu::{Alu, AluOp};
use model::isa::{Operand, Reg, Type};

/// Why a path ends with a quotient by 0.
const NO_DIVISOR: &str = "a quotient by 0";

impl Walk<'_> {
    pub(super) fn operand(&self, state: &mut PathState, operand: Operand) -> (ExprId, Mask) {
        match operand {
            Operand::Reg(Reg(register)) => {
                (state.registers[usize::from(register)], state.taint[usize::from(register)])
            }
            Operand::Imm(value) => (state.exprs.constant(value.into()), 0),
            Operand::Address(variable) => {
                (state.exprs.constant(self.layout.offset(variable, self.thread).into()), 0)
            }
        }
    }

    /// Computes a result. False if it has none.
    pub(super) fn compute(&mut self, state: &mut PathState, alu: &Alu, guard_taint: Mask) -> bool {
        let sources: Vec<(ExprId, Mask)> =
            alu.sources.iter().map(|&s| self.operand(state, s)).collect();
        let values: Vec<ExprId> = sources.iter().map(|s| s.0).collect();
        if self.program.may_lack_result(alu) && !self.has_divisor(state, alu.ty, values[1]) {
            return false;
        }
        let value = state.exprs.alu(alu.op, alu.ty, &values);
        let taint = sources.iter().fold(guard_taint, |all, s| all | s.1);
        if alu.op.result(alu.ty).compares {
            state.note_comparison(value);
        }
        state.set(alu.destination, value, taint);
        true
    }

    /// Whether a divisor can be other than 0. The document does not define a quotient by 0, which ends a path.
    fn has_divisor(&mut self, state: &mut PathState, ty: Type, divisor: ExprId) -> bool {
        let divisor = state.exprs.alu(AluOp::Mov, ty, &[divisor]);
        match self.decided(state, divisor) {
            Some(true) => true,
            Some(false) => {
                self.stop(state, NO_DIVISOR);
                false
            }
            None => {
                let mut other = state.clone();
                other.checks.push(Assumption::Truth(divisor, false));
                self.fault(other, NO_DIVISOR);
                state.checks.push(Assumption::Truth(divisor, true));
                true
            }
        }
    }
}
