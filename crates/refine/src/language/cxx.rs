//! C++, as LLVM IR: its model, its published mapping to PTX, and its operations in litmus tests.

use model::isa::cxx::Failure;
use model::isa::fence::FenceOrder;
use model::rel::Model;
use model::scope::Scope;
use ptx::version::Target;
use sass::lowering::LoweringTable;

use super::SourceLanguage;
use crate::refiner::Models;
use crate::row::{Assumptions, LoweredRow, RowResult, first, found};
use crate::row_question::PreparedRow;
use crate::step::{AccessKind, AccessOrder, Step};
use crate::verdict::Verdict;
use crate::witness::WitnessAccess;
use crate::{llvm_items, mapping, pair, table};

pub(super) struct CxxSource;

impl SourceLanguage for CxxSource {
    fn name(&self) -> &'static str {
        "CXX"
    }

    fn model<'m>(&self, models: &'m Models, _: bool) -> &'m Model {
        &models.cxx
    }

    fn tears(&self) -> bool {
        false
    }

    fn has_seq_cst(&self) -> bool {
        true
    }

    fn has_pointers(&self) -> bool {
        true
    }

    fn syntactic_axiom(&self) -> Option<&'static str> {
        Some("No-Thin-Air")
    }

    /// A text in no other language is taken as LLVM IR.
    fn fits(&self, _: &str) -> bool {
        true
    }

    fn prepare(
        &self,
        source: &str,
        target: &dyn Fn() -> RowResult<LoweredRow>,
        _: Target,
        assumptions: Assumptions,
    ) -> RowResult<PreparedRow> {
        let instructions = llvm::read("source", source).map_err(|all| {
            let why = format!("the source is not valid LLVM IR: {}", first(&all));
            found(Verdict::Invalid, why)
        })?;
        let target = target()?;
        let source = llvm_items::source(&instructions);
        let source = source.map_err(|why| found(Verdict::Unsupported, why))?;
        pair::compared(&source, target, assumptions)
    }

    fn to_ptx(&self, step: Step, table: Option<&LoweringTable>) -> Vec<Step> {
        let own = table.filter(|table| table.cxx).and_then(|table| table::mapped(step, table));
        own.unwrap_or_else(|| mapping::to_ptx(step))
    }

    fn access(&self, access: &WitnessAccess<'_>) -> Option<String> {
        let WitnessAccess { act, at, bits, order, scope, value, expects, .. } = access;
        let failure = match act {
            AccessKind::CompareExchange(Some(Failure::Relaxed)) => ".relaxed",
            AccessKind::CompareExchange(Some(Failure::Acquire)) => ".acquire",
            AccessKind::CompareExchange(Some(Failure::SeqCst)) => ".seq_cst",
            AccessKind::CompareExchange(None)
            | AccessKind::Load
            | AccessKind::Store
            | AccessKind::Swap
            | AccessKind::Overwrite
            | AccessKind::Reduce
            | AccessKind::Probe => "",
        };
        let order = if *order == AccessOrder::Weak {
            String::new()
        } else {
            format!(".{}{failure}.{}", order.name(), scope.cxx_name())
        };
        // An instruction without a type accesses 32 bits.
        let ty = match *bits {
            32 => String::new(),
            128 => ".b128".to_owned(),
            bits => format!(".u{bits}"),
        };
        let suffix = order + &ty;
        let destination = access.destination.as_deref().unwrap_or("_, ");
        Some(match act {
            AccessKind::Load => format!("load{suffix} {destination}[{at}]"),
            AccessKind::Store => format!("store{suffix} [{at}], {value}"),
            AccessKind::Swap | AccessKind::Overwrite => {
                format!("rmw.exch{suffix} {destination}[{at}], {value}")
            }
            AccessKind::CompareExchange(_) => {
                format!("cmpxchg{suffix} {destination}[{at}], {expects}, {value}")
            }
            AccessKind::Reduce | AccessKind::Probe => return None,
        })
    }

    fn fence(&self, order: FenceOrder, scope: Scope) -> String {
        format!("fence.{}.{}", AccessOrder::from(order).name(), scope.cxx_name())
    }
}
