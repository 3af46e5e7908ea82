//! `clusterlaunchcontrol`: requests to cancel the launch of clusters, and their responses.

use model::isa::Instruction;
use model::isa::alu::{AluOp, Comparison};
use model::isa::asynchronous::{Asynchronous, CANCELED_BIT, Cancel};
use model::isa::{Operand, SpaceQualifier, Type};

use super::InstructionReader;
use super::asynchronous::{Read, one, space_of};
use super::plan::{Operations, PlannedValue, bits};
use crate::cell::{Arg, InstructionCell};

impl<'a> InstructionReader<'_> {
    /// `clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s], [b]`.
    pub(super) fn try_cancel(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        let args = self.args(cell)?;
        let multicast = parts.contains(&"multicast::cluster::all");
        let generic = space_of(parts) == SpaceQualifier::Generic;
        let space = if generic { SpaceQualifier::Generic } else { SpaceQualifier::SharedCta };
        let (response, object) = (args.first()?, args.get(1)?);
        let response = self.touched(cell, response, space, 4, 4)?;
        let object = self.object(cell, object, space)?;
        one(Asynchronous::Cancel(Cancel { response, object, space, multicast }))
    }

    /// `clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q`, and the forms that give the `ctaid`.
    pub(super) fn query_cancel(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &[&str],
    ) -> Option<Vec<Instruction>> {
        let args = self.args(cell)?;
        let (to, response) = (args.first()?, self.operand(args.get(1)?)?);
        let mut plan = Operations::default();
        let mut results: Vec<(Arg<'a>, PlannedValue, u16)> = Vec::new();
        let part = |plan: &mut Operations, at: u16| {
            let sources = [PlannedValue::Given(response), PlannedValue::number(at.into())];
            plan.step(AluOp::Shr, bits(128), &sources)
        };
        if parts.contains(&"is_canceled") {
            let rest = part(&mut plan, CANCELED_BIT);
            let zero = PlannedValue::Given(Operand::Imm(0));
            let canceled = plan.step(AluOp::Setp(Comparison::Ne), Type::U32, &[rest, zero]);
            results.push((to.clone(), canceled, 1));
        } else {
            let first = match parts.iter().find_map(|part| part.strip_prefix("get_first_ctaid::")) {
                Some("y") => 32,
                Some("z") => 64,
                Some(_) | None => 0,
            };
            for (element, index) in to.elements().iter().zip(0u16..) {
                if index < 3 {
                    let value = part(&mut plan, first + 32 * index);
                    results.push((element.clone(), value, 32));
                } else if !matches!(element, Arg::Name("_", _)) {
                    // What the fourth one is, the document does not say.
                    results.push((element.clone(), PlannedValue::number(0), 32));
                }
            }
        }
        self.carry_out(cell, &plan, &results)
    }
}
