//! LLVM IR as steps, with the properties of its values to check.

use llvm::{
    self, Access, BarrierCall, Instruction, MemoryOp, Operation, RmwOp, SyncScope, sync_scope,
};
use model::isa::cxx::Failure;
use model::isa::fence::FenceOrder;
use model::scope::Scope;

use super::operand::AccessOperands;
use super::step::{AccessKind, AccessOrder, Step, TestLocation};

/// The memory that a pointer leads to, by the address-space numbers of NVPTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerSpace {
    Generic,
    Global,
    Shared,
    SharedCluster,
    Const,
    Local,
    Param,
}

impl PointerSpace {
    fn numbered(number: u32) -> Option<PointerSpace> {
        Some(match number {
            0 => PointerSpace::Generic,
            1 => PointerSpace::Global,
            3 => PointerSpace::Shared,
            4 => PointerSpace::Const,
            5 => PointerSpace::Local,
            7 => PointerSpace::SharedCluster,
            101 => PointerSpace::Param,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            PointerSpace::Generic => "generic",
            PointerSpace::Global => "global",
            PointerSpace::Shared => "shared",
            PointerSpace::SharedCluster => "shared::cluster",
            PointerSpace::Const => "const",
            PointerSpace::Local => "local",
            PointerSpace::Param => "param",
        }
    }

    /// Whether no other thread can observe accesses to it, or no thread writes it.
    pub fn is_private(self) -> bool {
        matches!(self, PointerSpace::Const | PointerSpace::Local | PointerSpace::Param)
    }
}

/// The effect of a source access on values.
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the source")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceAccess {
    pub kind: MemoryOp,
    pub ty: llvm::Type,
    pub bytes: u32,
    pub space: PointerSpace,
    pub volatile: bool,
    pub atomic: bool,
    /// `!invariant.load`, or an argument that is `noalias readonly`.
    pub read_only: bool,
    /// Whether the pointer is an argument of a kernel, which points to global memory.
    pub argument: bool,
    /// Whether it has a name for what it returns.
    pub result: bool,
}

/// A thread of LLVM IR.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceThread {
    pub steps: Vec<Step>,
    pub accesses: Vec<SourceAccess>,
    /// Of each access.
    pub operands: Vec<AccessOperands>,
    /// Whether some operation synchronizes only with its own thread.
    pub alone: bool,
    pub notes: Vec<String>,
}

/// The steps of these instructions, or the reason why they have none.
pub fn source(instructions: &[Instruction<'_>]) -> Result<SourceThread, String> {
    let mut source = SourceThread::default();
    let mut pointer = None;
    // Registers whose values the row computes.
    let mut computed: Vec<&str> = Vec::new();
    for instruction in instructions {
        match &instruction.operation {
            Operation::Access(access) => {
                if *pointer.get_or_insert(access.pointer) != access.pointer {
                    return Err("accesses through two pointers, which may alias".to_owned());
                }
                source.access(access, instruction.result.is_some())?;
                let value = |value: &&str| {
                    if computed.contains(value) { String::new() } else { (*value).to_owned() }
                };
                source.operands.push(AccessOperands {
                    defines: instruction.result.unwrap_or("").to_owned(),
                    values: access.values.iter().map(value).collect(),
                });
            }
            Operation::Fence { order, scope } => source.fence(*order, scope),
            Operation::Barrier(barrier) => source.steps.push(match barrier {
                BarrierCall::Cta => Step::Barrier { id: 0, count: None },
                BarrierCall::ClusterArrive => Step::ClusterArrive { relaxed: false },
                BarrierCall::ClusterArriveRelaxed => Step::ClusterArrive { relaxed: true },
                BarrierCall::ClusterWait => Step::ClusterWait,
            }),
            Operation::Pure => computed.extend(instruction.result),
            Operation::Unsupported(what) => return Err(format!("`{what}` is not supported")),
        }
    }
    Ok(source)
}

impl SourceThread {
    /// The scope with this name. An operation whose scope is its own thread gets the narrowest scope, and no partner in its
    /// CTA (reading R77).
    fn scope(&mut self, name: &str) -> Scope {
        let SyncScope { scope, note } = sync_scope(name);
        self.alone |= scope.is_none();
        if let Some(note) = note {
            self.note(&note);
        }
        scope.unwrap_or(Scope::Cta)
    }

    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    fn fence(&mut self, order: llvm::AtomicOrdering, scope: &str) {
        let alone = scope == "singlethread";
        let scope = self.scope(scope);
        let order = match order {
            llvm::AtomicOrdering::Acquire => FenceOrder::Acquire,
            llvm::AtomicOrdering::Release => FenceOrder::Release,
            llvm::AtomicOrdering::SeqCst => FenceOrder::Sc,
            llvm::AtomicOrdering::AcqRel
            | llvm::AtomicOrdering::Unordered
            | llvm::AtomicOrdering::Monotonic => FenceOrder::AcqRel,
        };
        // It orders nothing that another thread could observe.
        if !alone {
            self.steps.push(Step::Fence { order, scope });
        }
    }

    fn access(&mut self, access: &Access<'_>, result: bool) -> Result<(), String> {
        let space = PointerSpace::numbered(access.space)
            .ok_or_else(|| format!("address space {} does not exist in NVPTX", access.space))?;
        let bytes = access
            .ty
            .bytes()
            .ok_or_else(|| format!("{} is not a whole number of bytes", access.ty))?;
        let mut scope = self.scope(access.scope);
        let mut order = access.order.map_or(AccessOrder::Weak, ordering);
        // Reading R42.
        match order {
            AccessOrder::Weak if access.volatile => {
                (order, scope) = (AccessOrder::Relaxed, Scope::Sys);
            }
            AccessOrder::Unordered if access.volatile => order = AccessOrder::Relaxed,
            AccessOrder::Weak
            | AccessOrder::Unordered
            | AccessOrder::Relaxed
            | AccessOrder::Acquire
            | AccessOrder::Release
            | AccessOrder::AcqRel
            | AccessOrder::SeqCst => {}
        }
        let act = match access.kind {
            MemoryOp::Load => AccessKind::Load,
            MemoryOp::Store => AccessKind::Store,
            MemoryOp::Rmw(_) if result => AccessKind::Swap,
            MemoryOp::Rmw(_) => AccessKind::Overwrite,
            MemoryOp::CmpXchg { failure, .. } => AccessKind::CompareExchange(Some(match failure {
                llvm::AtomicOrdering::Acquire => Failure::Acquire,
                llvm::AtomicOrdering::SeqCst => Failure::SeqCst,
                llvm::AtomicOrdering::Unordered
                | llvm::AtomicOrdering::Monotonic
                | llvm::AtomicOrdering::Release
                | llvm::AtomicOrdering::AcqRel => Failure::Relaxed,
            })),
        };
        self.steps.push(Step::access(act, TestLocation::Y, order, scope));
        self.accesses.push(SourceAccess {
            kind: access.kind,
            ty: access.ty,
            bytes,
            space,
            volatile: access.volatile,
            atomic: access.order.is_some(),
            read_only: access.promises_read_only(),
            argument: access.argument.is_some(),
            result,
        });
        Ok(())
    }
}

fn ordering(order: llvm::AtomicOrdering) -> AccessOrder {
    match order {
        llvm::AtomicOrdering::Unordered => AccessOrder::Unordered,
        llvm::AtomicOrdering::Monotonic => AccessOrder::Relaxed,
        llvm::AtomicOrdering::Acquire => AccessOrder::Acquire,
        llvm::AtomicOrdering::Release => AccessOrder::Release,
        llvm::AtomicOrdering::AcqRel => AccessOrder::AcqRel,
        llvm::AtomicOrdering::SeqCst => AccessOrder::SeqCst,
    }
}

/// The spelling in LLVM IR.
pub fn operation_name(op: RmwOp) -> &'static str {
    match op {
        RmwOp::Xchg => "xchg",
        RmwOp::Add => "add",
        RmwOp::Sub => "sub",
        RmwOp::And => "and",
        RmwOp::Nand => "nand",
        RmwOp::Or => "or",
        RmwOp::Xor => "xor",
        RmwOp::Max => "max",
        RmwOp::Min => "min",
        RmwOp::UMax => "umax",
        RmwOp::UMin => "umin",
        RmwOp::FAdd => "fadd",
        RmwOp::FSub => "fsub",
        RmwOp::FMax => "fmax",
        RmwOp::FMin => "fmin",
        RmwOp::UIncWrap => "uinc_wrap",
        RmwOp::UDecWrap => "udec_wrap",
        RmwOp::USubCond => "usub_cond",
        RmwOp::USubSat => "usub_sat",
    }
}
