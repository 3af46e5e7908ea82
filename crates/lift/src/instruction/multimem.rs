//! `multimem.*`: operations on all locations of a multimem address.

use model::isa::asynchronous::{AsyncStore, Asynchronous};
use model::isa::atom::AtomicOrder;
use model::isa::ld::LoadOrder;
use model::isa::multimem::{Multimem, MultimemOp};
use model::isa::st::StoreOrder;
use model::isa::{SpaceQualifier, Type, TypeKind};
use model::scope::Scope;

use super::InstructionReader;
use super::asynchronous::{Read, atomic_op, one, scope_of, space_of, type_of};
use crate::cell::InstructionCell;

impl<'a> InstructionReader<'_> {
    pub(super) fn multimem(&mut self, cell: &InstructionCell<'a>, parts: &[&str]) -> Read {
        match parts[1..] {
            ["cp", "async", "bulk", ..] => return self.bulk_copy(cell, parts, None),
            ["cp", "reduce", "async", "bulk", ..] => return self.reducing_copy(cell, parts),
            _ => {}
        }
        let ty = parts.iter().rev().find_map(|part| type_of(part));
        let Some(ty) = ty.filter(|ty| is_whole(*ty)) else {
            self.later(cell, "halves and packed types at a multimem address");
            return Some(None);
        };
        let args = self.args(cell)?;
        let loads = parts[1] == "ld_reduce";
        let [first, second] = &args[..] else {
            self.count(cell, &args, if loads { "r0, [m]" } else { "[m], r0" });
            return None;
        };
        let (value, address) = if loads { (first, second) } else { (second, first) };
        let values = value.elements();
        let count = u32::try_from(values.len()).unwrap_or(1);
        let space = space_of(parts);
        let address = self.touched(cell, address, space, ty.bytes(), count)?;
        let scope = scope_of(parts);
        let op = parts.iter().find_map(|part| atomic_op(part));
        if loads {
            let order = match (parts.contains(&"acquire"), scope) {
                (true, Some(scope)) => LoadOrder::Acquire(scope),
                (false, Some(scope)) => LoadOrder::Relaxed(scope),
                (_, None) => LoadOrder::Weak,
            };
            let destinations = values.iter().map(|arg| self.plain_destination(arg, ty.bits));
            let destinations = destinations.collect::<Result<_, _>>().ok()?;
            let op = MultimemOp::LoadReduce { order, op: op?, destinations };
            return one(Asynchronous::Multimem(Multimem { op, space, ty, address }));
        }
        let mut sources = Vec::with_capacity(values.len());
        for value in values {
            sources.push(self.sized(value, ty)?);
        }
        let releases = parts.contains(&"release");
        let reduction = op.filter(|_| parts[1] == "red");
        if parts.contains(&"async") {
            return one(Asynchronous::Store(AsyncStore {
                to: address,
                space: SpaceQualifier::Global,
                ty,
                sources,
                mbarrier: None,
                scope,
                releases,
                reduction,
                multimem: true,
            }));
        }
        let op = if let Some(op) = reduction {
            let order = if releases { AtomicOrder::Release } else { AtomicOrder::Relaxed };
            MultimemOp::Reduce { order, scope: scope.unwrap_or(Scope::Sys), op, sources }
        } else {
            let order = match (releases, scope) {
                (true, Some(scope)) => StoreOrder::Release(scope),
                (false, Some(scope)) => StoreOrder::Relaxed(scope),
                (_, None) => StoreOrder::Weak,
            };
            MultimemOp::Store { order, sources }
        };
        one(Asynchronous::Multimem(Multimem { op, space, ty, address }))
    }
}

/// Whether an operation on the type is computed: integers, and floats of 32 and 64 bits.
fn is_whole(ty: Type) -> bool {
    match ty.kind {
        TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits => true,
        TypeKind::Float => ty.bits >= 32,
        TypeKind::FloatPair | TypeKind::BFloat | TypeKind::BFloatPair => false,
    }
}
