//! PTX: the source of an assembler or an optimizer, and the target of other compilers.

use model::isa::fence::FenceOrder;
use model::rel::Model;
use model::scope::Scope;
use ptx::version::Target;
use sass::lowering::LoweringTable;

use super::SourceLanguage;
use crate::refiner::Models;
use crate::row::{Assumptions, LoweredRow, RowResult, ptx_items};
use crate::row_question::PreparedRow;
use crate::step::{AccessKind, AccessOrder, Step};
use crate::symmetry;
use crate::witness::WitnessAccess;

pub(super) struct PtxSource;

impl SourceLanguage for PtxSource {
    fn name(&self) -> &'static str {
        "PTX"
    }

    fn model<'m>(&self, models: &'m Models, torn: bool) -> &'m Model {
        if torn { &models.ptx } else { &models.untorn }
    }

    fn tears(&self) -> bool {
        true
    }

    fn has_seq_cst(&self) -> bool {
        false
    }

    fn has_pointers(&self) -> bool {
        false
    }

    fn syntactic_axiom(&self) -> Option<&'static str> {
        Some("No-Thin-Air")
    }

    /// Whether the first instruction is PTX: `ld.global.u32`, with or without a guard or a label.
    fn fits(&self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        let first = words.find(|word| !word.starts_with('@') && !word.ends_with(':')).unwrap_or("");
        let name = first.trim_end_matches(';');
        name.contains('.') && !first.starts_with(['%', '@', '!']) && words.next() != Some("=")
    }

    fn prepare(
        &self,
        source: &str,
        target: &dyn Fn() -> RowResult<LoweredRow>,
        arch: Target,
        assumptions: Assumptions,
    ) -> RowResult<PreparedRow> {
        let source = ptx_items("source", source, arch)?;
        symmetry::compared(&source, target()?, assumptions)
    }

    fn to_ptx(&self, step: Step, _: Option<&LoweringTable>) -> Vec<Step> {
        vec![step]
    }

    fn access(&self, access: &WitnessAccess<'_>) -> Option<String> {
        let WitnessAccess { act, at, bits, order, scope, value, expects, .. } = access;
        let kind = if *bits == 128 { 'b' } else { 'u' };
        let scope = if *order == AccessOrder::Weak { String::new() } else { format!(".{scope}") };
        let suffix = format!("{}{scope}", order.name());
        let destination = access.destination.as_deref().unwrap_or("_, ");
        Some(match act {
            AccessKind::Load => format!("ld.{suffix}.{kind}{bits} {destination}[{at}]"),
            AccessKind::Store => format!("st.{suffix}.{kind}{bits} [{at}], {value}"),
            AccessKind::Swap | AccessKind::Overwrite => {
                format!("atom.{suffix}.exch.b{bits} {destination}[{at}], {value}")
            }
            AccessKind::CompareExchange(_) => {
                format!("atom.{suffix}.cas.b{bits} {destination}[{at}], {expects}, {value}")
            }
            AccessKind::Probe => format!("atom.{suffix}.cas.b{bits} {destination}[{at}], 0, 0"),
            // The operation that it computes is not known, and PTX has no `red` that swaps.
            AccessKind::Reduce => return None,
        })
    }

    fn fence(&self, order: FenceOrder, scope: Scope) -> String {
        format!("fence.{}.{scope}", order.name())
    }
}
