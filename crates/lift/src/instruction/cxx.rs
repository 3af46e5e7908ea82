//! C++ and LLVM IR operations, such as `load.acquire.device r0, [x]` and `fence.seq_cst`.
//!
//! Orders, scope, operation and type follow the opcode in any order. An access without an order is
//! plain. The default scope is the whole system, and the default type has 32 bits.
//! Barriers, arithmetic and branches are written as in PTX.

use model::isa::atom::{Atomic, AtomicOp, AtomicOrder};
use model::isa::cxx::{Cxx, Failure};
use model::isa::fence::{Fence, FenceOrder};
use model::isa::ld::{Load, LoadOrder};
use model::isa::reach::AllowedSpaces;
use model::isa::st::{Store, StoreOrder};
use model::isa::{Address, Instruction, SpaceQualifier, Type};
use model::memory::Proxy;
use model::scope::Scope;
use ptx::qualifier::{Qualifier, Qualifiers};

use super::InstructionReader;
use crate::cell::{Arg, InstructionCell};
use crate::draft::DraftAccess;
use text::cursor::short;
use text::report::{ByteSpan, ErrorReported};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MemoryOrder {
    Unordered,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

const ORDERS: &[(&str, MemoryOrder)] = &[
    ("unordered", MemoryOrder::Unordered),
    ("relaxed", MemoryOrder::Relaxed),
    ("acquire", MemoryOrder::Acquire),
    ("release", MemoryOrder::Release),
    ("acq_rel", MemoryOrder::AcqRel),
    ("seq_cst", MemoryOrder::SeqCst),
];

/// The parts after the opcode.
#[derive(Default)]
struct Parts {
    orders: Vec<(MemoryOrder, usize)>,
    scope: Option<Scope>,
    op: Option<AtomicOp>,
    ty: Option<Type>,
}

/// Whether an opcode is a C++ operation.
pub(super) fn is_opcode(name: &str) -> bool {
    matches!(name, "load" | "store" | "rmw" | "cmpxchg" | "fence")
}

impl<'a> InstructionReader<'_> {
    pub(super) fn cxx(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let parts = self.cxx_parts(cell)?;
        match cell.opcode() {
            "load" => self.cxx_load(cell, &parts),
            "store" => self.cxx_store(cell, &parts),
            "fence" => self.cxx_fence(cell, &parts),
            _ => self.cxx_atomic(cell, &parts),
        }
    }

    /// Reports a PTX instruction in a C++ test.
    pub(super) fn no_cxx(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let help = match cell.opcode() {
            "ld" | "ldu" => "load.relaxed r0, [x]",
            "st" => "store.relaxed [x], 1",
            "membar" => "fence.seq_cst",
            _ => "rmw.add.relaxed r0, [x], 1",
        };
        let message =
            format!("`{}` is a PTX instruction, and this is a C++ test", short(cell.opcode()));
        self.report.error("cxx-instruction", cell.part_at(0), message).help(help);
        None
    }

    fn cxx_parts(&mut self, cell: &InstructionCell<'a>) -> Option<Parts> {
        let mut parts = Parts::default();
        for (position, part) in cell.parts.iter().enumerate().skip(1) {
            if let Some(&(_, order)) = ORDERS.iter().find(|(name, _)| *name == part.text) {
                parts.orders.push((order, position));
            } else if let Some(scope) = Scope::of_cxx(part.text) {
                if parts.scope.replace(scope).is_some() {
                    self.report.error("cxx-scope", part.at, "duplicate scope");
                    return None;
                }
            } else {
                match Qualifier::named(part.text) {
                    Some(Qualifier::Type(ty)) => parts.ty = Some(ty),
                    Some(Qualifier::Op(op)) if op != AtomicOp::Cas => parts.op = Some(op),
                    _ => {
                        let known = ORDERS.iter().map(|(name, _)| *name);
                        let known = known.chain(Scope::ALL.map(Scope::cxx_name));
                        let near = self.report.nearest(part.text, known);
                        let message = format!("`{}` is not allowed in C++", short(part.text));
                        let note = "an order, a scope, a type, or the operation of an `rmw`";
                        self.report
                            .error("cxx-part", part.at, message)
                            .note(note)
                            .help_if(near.map(|near| format!("`.{near}`")));
                        return None;
                    }
                }
            }
        }
        Some(parts)
    }

    /// The order of an operation, if it has one. It may have only one.
    fn one_order(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &Parts,
    ) -> Result<Option<MemoryOrder>, ErrorReported> {
        if let [_, (_, second), ..] = parts.orders[..] {
            let at = cell.part_at(second);
            self.report.error("cxx-order", at, "duplicate order");
            return Err(ErrorReported);
        }
        let order = parts.orders.first().map(|order| order.0);
        if order.is_none() && parts.scope.is_some() {
            let at = cell.name_at();
            self.report
                .error("cxx-order", at, "an operation with a scope requires an order")
                .help("a plain access has no scope and no order");
            return Err(ErrorReported);
        }
        Ok(order)
    }

    fn no_such_order<T>(
        &mut self,
        cell: &InstructionCell<'a>,
        parts: &Parts,
        orders: &str,
    ) -> Option<T> {
        let position = parts.orders.first().map_or(0, |order| order.1);
        let message = format!("`{}` does not take this order", cell.opcode());
        self.report.error("cxx-order", cell.part_at(position), message).note(orders);
        None
    }

    fn cxx_load(&mut self, cell: &InstructionCell<'a>, parts: &Parts) -> Option<Instruction> {
        let scope = parts.scope.unwrap_or(Scope::Sys);
        let mut cxx = Cxx::default();
        let order = match self.one_order(cell, parts).ok()? {
            None => LoadOrder::Weak,
            Some(MemoryOrder::Unordered) => {
                cxx.unordered = true;
                LoadOrder::Relaxed(scope)
            }
            Some(MemoryOrder::Relaxed) => LoadOrder::Relaxed(scope),
            Some(MemoryOrder::Acquire) => LoadOrder::Acquire(scope),
            Some(MemoryOrder::SeqCst) => {
                cxx.seq_cst = true;
                LoadOrder::Acquire(scope)
            }
            Some(MemoryOrder::Release | MemoryOrder::AcqRel) => {
                return self.no_such_order(cell, parts, "unordered, relaxed, acquire or seq_cst");
            }
        };
        let ty = parts.ty.unwrap_or(Type::U32);
        let [destination, address] = self.cxx_args(cell, "r0, [x]")?;
        let destination = self.plain_destination(&destination, ty.bits).ok()?;
        let at = address.at();
        let load = Load {
            order,
            cxx,
            space: SpaceQualifier::Generic,
            proxy: Proxy::Generic,
            ty,
            prefetches: false,
            global_only: false,
            destinations: vec![destination],
            address: self.address(cell, &address)?,
        };
        self.cxx_access(cell, load.address, ty, load.reach(), at);
        Some(Instruction::Load(load))
    }

    fn cxx_store(&mut self, cell: &InstructionCell<'a>, parts: &Parts) -> Option<Instruction> {
        let scope = parts.scope.unwrap_or(Scope::Sys);
        let mut cxx = Cxx::default();
        let order = match self.one_order(cell, parts).ok()? {
            None => StoreOrder::Weak,
            Some(MemoryOrder::Unordered) => {
                cxx.unordered = true;
                StoreOrder::Relaxed(scope)
            }
            Some(MemoryOrder::Relaxed) => StoreOrder::Relaxed(scope),
            Some(MemoryOrder::Release) => StoreOrder::Release(scope),
            Some(MemoryOrder::SeqCst) => {
                cxx.seq_cst = true;
                StoreOrder::Release(scope)
            }
            Some(MemoryOrder::Acquire | MemoryOrder::AcqRel) => {
                return self.no_such_order(cell, parts, "unordered, relaxed, release or seq_cst");
            }
        };
        let ty = parts.ty.unwrap_or(Type::U32);
        let [address, value] = self.cxx_args(cell, "[x], 1")?;
        self.fits(&value, ty);
        let at = address.at();
        let source = self.operand(&value)?;
        let store = Store {
            order,
            cxx,
            space: SpaceQualifier::Generic,
            proxy: Proxy::Generic,
            ty,
            global_only: false,
            sources: vec![source],
            address: self.address(cell, &address)?,
        };
        self.cxx_access(cell, store.address, ty, store.reach(), at);
        Some(Instruction::Store(store))
    }

    /// `rmw` has one order, `cmpxchg` one or two.
    fn cxx_atomic(&mut self, cell: &InstructionCell<'a>, parts: &Parts) -> Option<Instruction> {
        let exchange = cell.opcode() == "cmpxchg";
        let (op, failure) = if exchange {
            let failure = match parts.orders.get(1).map(|order| order.0) {
                None => None,
                Some(MemoryOrder::Relaxed) => Some(Failure::Relaxed),
                Some(MemoryOrder::Acquire) => Some(Failure::Acquire),
                Some(MemoryOrder::SeqCst) => Some(Failure::SeqCst),
                Some(MemoryOrder::Unordered | MemoryOrder::Release | MemoryOrder::AcqRel) => {
                    let at = cell.part_at(parts.orders[1].1);
                    self.report
                        .error("cxx-order", at, "this is not a valid failure order of a `cmpxchg`")
                        .note("relaxed, acquire or seq_cst");
                    return None;
                }
            };
            (AtomicOp::Cas, failure)
        } else {
            let Some(op) = parts.op else {
                self.report
                    .error("cxx-operation", cell.name_at(), "an `rmw` requires an operation")
                    .help("rmw.add.relaxed r0, [x], 1");
                return None;
            };
            self.one_order(cell, parts).ok()?;
            (op, None)
        };
        let mut cxx = Cxx { failure, ..Cxx::default() };
        let order = match parts.orders.first().map(|order| order.0) {
            Some(MemoryOrder::Relaxed) => AtomicOrder::Relaxed,
            Some(MemoryOrder::Acquire) => AtomicOrder::Acquire,
            Some(MemoryOrder::Release) => AtomicOrder::Release,
            Some(MemoryOrder::AcqRel) => AtomicOrder::AcqRel,
            Some(MemoryOrder::SeqCst) => {
                cxx.seq_cst = true;
                AtomicOrder::AcqRel
            }
            Some(MemoryOrder::Unordered) | None => {
                let orders = "relaxed, acquire, release, acq_rel or seq_cst";
                return self.no_such_order(cell, parts, orders);
            }
        };
        let ty = parts.ty.unwrap_or(Type::U32);
        let args = self.args(cell)?;
        let form = if exchange { "r0, [x], 0, 1" } else { "r0, [x], 1" };
        let ([destination, address, rest @ ..], true) =
            (&args[..], args.len() == 3 + usize::from(exchange))
        else {
            self.count(cell, &args, form);
            return None;
        };
        let destination = self.plain_destination(destination, ty.bits).ok()?;
        let mut operands = Vec::new();
        for arg in rest {
            operands.push(self.sized(arg, ty)?);
        }
        let atomic = Atomic {
            order,
            cxx,
            scope: parts.scope.unwrap_or(Scope::Sys),
            space: SpaceQualifier::Generic,
            op,
            ty,
            reduction: false,
            destination,
            address: self.address(cell, address)?,
            operands,
        };
        let (at, reach) = (address.at(), atomic.reach());
        self.cxx_access(cell, atomic.address, ty, reach, at);
        Some(Instruction::Atomic(atomic))
    }

    fn cxx_fence(&mut self, cell: &InstructionCell<'a>, parts: &Parts) -> Option<Instruction> {
        let order = match self.one_order(cell, parts).ok()? {
            Some(MemoryOrder::Acquire) => FenceOrder::Acquire,
            Some(MemoryOrder::Release) => FenceOrder::Release,
            Some(MemoryOrder::AcqRel) => FenceOrder::AcqRel,
            Some(MemoryOrder::SeqCst) => FenceOrder::Sc,
            Some(MemoryOrder::Unordered | MemoryOrder::Relaxed) | None => {
                return self.no_such_order(cell, parts, "acquire, release, acq_rel or seq_cst");
            }
        };
        self.no_operands(cell)?;
        Some(Instruction::Fence(Fence {
            order,
            scope: parts.scope.unwrap_or(Scope::Sys),
            aliases: false,
        }))
    }

    fn cxx_access(
        &mut self,
        cell: &InstructionCell<'a>,
        address: Address,
        ty: Type,
        reach: AllowedSpaces,
        at: ByteSpan,
    ) {
        let generic = SpaceQualifier::Generic;
        let access = DraftAccess::of(address, ty.bytes(), 1, generic, reach, at);
        self.access(cell, access, &Qualifiers::default());
    }

    fn cxx_args(&mut self, cell: &InstructionCell<'a>, form: &str) -> Option<[Arg<'a>; 2]> {
        let args = self.args(cell)?;
        match <[Arg<'a>; 2]>::try_from(args) {
            Ok(two) => Some(two),
            Err(args) => {
                self.count(cell, &args, form);
                None
            }
        }
    }
}
