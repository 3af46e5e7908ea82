//! What `ptxas` makes of each instruction, by family, as measured.

use super::form::{Family, Form, Level, Lowered, Reach};
use crate::isa::atom::AtomicOrder;
use crate::isa::bar::{Barrier, ClusterBarrierKind};
use crate::isa::fence::FenceOrder;
use crate::isa::ld::LoadOrder;
use crate::isa::st::StoreOrder;
use crate::isa::{Instruction, SpaceQualifier};
use crate::memory::Space;
use crate::scope::Scope;

/// The state space that an instruction names; one without a name, and shared memory of the whole
/// cluster, are accessed as global memory is, and find out on the way.
fn named(instruction: &Instruction) -> Space {
    let space = instruction.space();
    if space == SpaceQualifier::SharedCluster {
        Space::Global
    } else {
        space.space().unwrap_or(Space::Global)
    }
}

/// The lowering of an instruction. `Err` says what this family has no instruction for.
pub fn lower(instruction: &Instruction, family: Family) -> Result<Lowered, &'static str> {
    let space = named(instruction);
    let own = space != Space::Global;
    let level = |level: Level| if own { Level::Own } else { level };
    let mut forms = Vec::new();
    let mut fused = None;
    match instruction {
        Instruction::Load(load) => {
            let read_only = matches!(space, Space::Const | Space::ParamEntry);
            let order = load.order;
            let at = match order {
                _ if read_only => Level::ReadOnly,
                LoadOrder::Weak | LoadOrder::Uniform => level(Level::Weak),
                LoadOrder::NonCoherent | LoadOrder::Readonly => level(Level::ReadOnly),
                LoadOrder::Volatile | LoadOrder::MmioRelaxed | LoadOrder::MmioAcquire => {
                    level(Level::Sys)
                }
                LoadOrder::Relaxed(scope) | LoadOrder::Acquire(scope) => {
                    model_of(family)?;
                    level(at_scope(scope, family)?)
                }
            };
            forms.push(Form::Access(at));
            if order.is_acquire() {
                acquired(&mut forms, order.scope().unwrap_or(Scope::Sys), own, family);
            }
        }
        Instruction::Store(store) => {
            let at = match store.order {
                StoreOrder::Weak => Level::Weak,
                StoreOrder::Volatile | StoreOrder::MmioRelaxed | StoreOrder::MmioRelease => {
                    Level::Sys
                }
                StoreOrder::Relaxed(scope) | StoreOrder::Release(scope) => {
                    model_of(family)?;
                    at_scope(scope, family)?
                }
            };
            if store.order.is_release() {
                forms.push(Form::MembarAll(reach(store.order.scope().unwrap_or(Scope::Sys))));
            }
            forms.push(Form::Access(level(at)));
        }
        Instruction::Atomic(atomic) => {
            let (scope, order) = (atomic.scope, atomic.order);
            if order != AtomicOrder::Relaxed {
                model_of(family)?;
            }
            let at = level(at_scope(scope, family)?);
            if order == AtomicOrder::AcqRel && scope != Scope::Cta && !own {
                fused = Some(reach(scope));
            }
            if order.is_release() {
                forms.push(Form::MembarAll(reach(scope)));
            }
            forms.push(Form::Access(at));
            if order.is_acquire() {
                acquired(&mut forms, scope, own, family);
            }
        }
        Instruction::Fence(fence) => {
            if family == Family::Maxwell && fence.order != FenceOrder::Sc {
                return Err("the family has `membar` only");
            }
            at_scope(fence.scope, family)?;
            let split = matches!(fence.order, FenceOrder::Acquire | FenceOrder::Release);
            if split && family < Family::Hopper {
                return Err("`fence.acquire` and `fence.release` are of sm_90 and later");
            }
            if fence.order != FenceOrder::Acquire {
                let reach = reach(fence.scope);
                let all = fence.order != FenceOrder::Sc;
                forms.push(if all { Form::MembarAll(reach) } else { Form::Membar(reach) });
            }
            if fence.order != FenceOrder::Release {
                acquired(&mut forms, fence.scope, false, family);
            }
        }
        Instruction::Barrier(Barrier { instance: Some(_), count: Some(_), .. }) => {
            return Err("late arrivals pass no barrier of this machine, as they pass the peer's");
        }
        Instruction::Barrier(_) => forms.push(Form::Bar),
        Instruction::ClusterBarrier(barrier) => {
            if family < Family::Hopper {
                return Err("clusters are of sm_90 and later");
            }
            match barrier.kind {
                ClusterBarrierKind::ArriveRelease => {
                    forms.extend([Form::MembarAll(Reach::Gpu), Form::ClusterArrive]);
                }
                ClusterBarrierKind::ArriveRelaxed => forms.push(Form::ClusterArrive),
                ClusterBarrierKind::Wait => forms.extend([Form::ClusterWait, Form::Invalidate]),
            }
        }
        Instruction::ProxyFence(_) => return Err("proxies are not on this machine"),
        Instruction::Unsupported(_) => return Err("not modelled"),
        Instruction::Alu(_) | Instruction::Cvta(_) | Instruction::Branch(_) => {}
    }
    Ok(Lowered { forms, fused })
}

/// What follows an acquire: the text shows nothing at cta scope, and nothing for shared memory
/// before `sm_90`; the wait for the value is there all the same (reading C10).
fn acquired(forms: &mut Vec<Form>, scope: Scope, own: bool, family: Family) {
    if scope == Scope::Cta || own && family < Family::Hopper {
        forms.push(Form::AcquireWait);
    } else {
        forms.push(Form::Invalidate);
    }
}

/// Orders and scopes of accesses came with `sm_70`.
fn model_of(family: Family) -> Result<(), &'static str> {
    if family == Family::Maxwell { Err("orders and scopes are of sm_70 and later") } else { Ok(()) }
}

fn at_scope(scope: Scope, family: Family) -> Result<Level, &'static str> {
    match scope {
        Scope::Cta if family == Family::Maxwell => Ok(Level::Gpu),
        Scope::Cta => Ok(Level::Sm),
        Scope::Cluster if family < Family::Hopper => Err("clusters are of sm_90 and later"),
        Scope::Cluster | Scope::Gpu => Ok(Level::Gpu),
        Scope::Sys => Ok(Level::Sys),
    }
}

fn reach(scope: Scope) -> Reach {
    match scope {
        Scope::Cta => Reach::Cta,
        Scope::Cluster | Scope::Gpu => Reach::Gpu,
        Scope::Sys => Reach::Sys,
    }
}
