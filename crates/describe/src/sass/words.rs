//! Describes the effect of SASS instructions on memory.

use ::sass::form::UnknownInstruction;
use ::sass::opcode::{Class, class};
use ::sass::syntax::Instruction;
use machine::form::{AccessLevel, Family, MachineOp, MembarScope};

/// The operation of the machine for an instruction.
pub type DecodedOp = Result<Option<MachineOp>, UnknownInstruction>;

/// A summary of the instruction, in one sentence.
pub fn is(instruction: &Instruction<'_>, does: &DecodedOp) -> String {
    let name = instruction.opcode.text;
    let what = match class(name) {
        Some(Class::Load) => format!("a load{}", from(name)),
        Some(Class::Store) => format!("a store{}", to(name)),
        Some(Class::Atomic) => format!("an atomic operation{}, with a result", to(name)),
        Some(Class::Reduction) => format!("an atomic operation{} without a result", to(name)),
        Some(Class::Membar) => {
            "a wait until earlier accesses of the thread have reached this level".to_owned()
        }
        Some(Class::Cache) => "cache control".to_owned(),
        Some(Class::ErrorBarrier) => "a wait for errors of earlier accesses".to_owned(),
        Some(Class::View) => format!("`{name}`: a proxy fence; {NO_CLAIM}"),
        Some(Class::Barrier) => "a barrier of the CTA".to_owned(),
        Some(Class::ClusterArrive) => "an arrival at the barrier of the cluster".to_owned(),
        Some(Class::ClusterWait) => "a wait at the barrier of the cluster".to_owned(),
        Some(Class::Depbar) => "a wait for scoreboards".to_owned(),
        Some(Class::Other) => return format!("`{name}` is known only by name: {NO_CLAIM}"),
        Some(Class::Arithmetic) => "an operation on registers".to_owned(),
        Some(Class::Special) => "a read of a special register".to_owned(),
        Some(Class::Branch) => "control flow".to_owned(),
        Some(Class::Exit) => "the end of the thread".to_owned(),
        Some(Class::Nothing) => "nothing".to_owned(),
        None => return format!("`{name}` is not a known opcode: {NO_CLAIM}"),
    };
    let level = match does {
        Ok(Some(MachineOp::Access(level))) => format!(", {}", place(*level)),
        Ok(Some(MachineOp::Membar(reach) | MachineOp::MembarAll(reach))) => {
            format!(": {}", far(*reach))
        }
        Ok(Some(MachineOp::Invalidate)) => {
            ": all lines of the L1 of the SM are invalidated".to_owned()
        }
        Err(_) if is_access(name) => ", which the machine does not model".to_owned(),
        Ok(_) | Err(_) => String::new(),
    };
    format!("{what}{level}")
}

fn is_access(opcode: &str) -> bool {
    matches!(
        class(opcode),
        Some(
            Class::Load
                | Class::Store
                | Class::Atomic
                | Class::Reduction
                | Class::Membar
                | Class::Other
        )
    )
}

/// A short description, for a listing of a whole function.
pub fn brief(instruction: &Instruction<'_>, does: &DecodedOp) -> Option<String> {
    let kind = match class(instruction.opcode.text) {
        None => return Some("not known".to_owned()),
        Some(Class::Load) => "load",
        Some(Class::Store) => "store",
        Some(Class::Atomic) => "atomic",
        Some(Class::Reduction) => "reduction",
        Some(Class::Arithmetic | Class::Special | Class::Branch | Class::Exit | Class::Nothing) => {
            return None;
        }
        Some(
            Class::Membar
            | Class::Cache
            | Class::ErrorBarrier
            | Class::View
            | Class::Barrier
            | Class::ClusterArrive
            | Class::ClusterWait
            | Class::Depbar
            | Class::Other,
        ) => "",
    };
    Some(match does {
        Ok(Some(MachineOp::Access(level))) => format!("{kind}, {}", place(*level)),
        Ok(Some(MachineOp::Membar(reach) | MachineOp::MembarAll(reach))) => {
            format!("waits: {}", far(*reach))
        }
        Ok(Some(MachineOp::Invalidate)) => "empties L1".to_owned(),
        Ok(Some(MachineOp::Bar)) => "barrier of the CTA".to_owned(),
        Ok(Some(MachineOp::ClusterArrive)) => "arrives at the barrier of the cluster".to_owned(),
        Ok(Some(MachineOp::ClusterWait)) => "waits at the barrier of the cluster".to_owned(),
        Ok(None) if class(instruction.opcode.text) == Some(Class::View) => "not known".to_owned(),
        Ok(Some(MachineOp::AcquireWait | MachineOp::Asynchronous(_)) | None) => {
            "has no effect on memory order".to_owned()
        }
        Err(_) => "not on the machine".to_owned(),
    })
}

fn from(opcode: &str) -> &'static str {
    match opcode {
        "LDG" => " from global memory",
        "LD" => " from a generic address",
        "LDS" => " from shared memory",
        "LDL" => " from the thread's local memory",
        _ => " from constant memory",
    }
}

fn to(opcode: &str) -> &'static str {
    match opcode {
        "STG" => " to global memory",
        "ST" => " to a generic address",
        "STS" => " to shared memory",
        "STL" => " to the thread's local memory",
        "ATOMG" | "REDG" => " on global memory",
        "ATOMS" | "REDS" => " on shared memory",
        _ => " at a generic address",
    }
}

fn place(level: AccessLevel) -> &'static str {
    match level {
        AccessLevel::Weak => "through L1",
        AccessLevel::Sm => "through L1, strong within the SM",
        AccessLevel::Gpu => "bypassing L1, at L2",
        AccessLevel::Sys => "bypassing L1, at the home of the memory",
        AccessLevel::ReadOnly => "through the read-only path",
        AccessLevel::Own => "in the SM's own memory, at once",
    }
}

fn far(reach: MembarScope) -> &'static str {
    match reach {
        MembarScope::Cta => "loads have returned, within the CTA",
        MembarScope::Gpu => "loads have returned, and stores of the SM are at L2",
        MembarScope::Sys => {
            "loads have returned, and stores of the SM and the GPU are at their home"
        }
    }
}

/// Its effect on the levels of memory, the values it may return, and what it waits for.
pub fn memory(
    instruction: &Instruction<'_>,
    does: &DecodedOp,
    family: Option<Family>,
) -> Vec<String> {
    let kind = class(instruction.opcode.text);
    let mut all: Vec<&str> = Vec::new();
    match does {
        Ok(Some(MachineOp::Access(level))) => {
            match kind {
                Some(Class::Load) => all.extend(load(*level)),
                Some(Class::Store) => all.extend(store(*level)),
                _ => all.extend(atomic(*level)),
            }
            all.push(WAITS);
        }
        Ok(Some(MachineOp::Membar(reach) | MachineOp::MembarAll(reach))) => all.extend(membar(*reach)),
        Ok(Some(MachineOp::Invalidate)) => all.extend([
            "waits until the thread's loads have returned; then every line in the L1 of its SM is invalidated, and no load in flight fills one",
            "loads after it fetch from L2 or beyond: together with a wait for a strong load it makes an acquire",
            "lines of the read-only path stay",
        ]),
        Ok(Some(MachineOp::Bar)) => all.extend([
            "the thread arrives when its loads have returned, and goes on when all have arrived; \
             `.ARV` does not wait",
            "what was done before it by one thread is visible after it to all threads of the CTA; no line is invalidated, since the CTA has one L1",
        ]),
        Ok(Some(MachineOp::ClusterArrive)) => all.extend([
            "by itself no order: a release requires `MEMBAR.ALL.GPU` before it",
        ]),
        Ok(Some(MachineOp::ClusterWait)) => all.extend([
            "goes on when all threads of the cluster have arrived",
            "by itself no order: an acquire requires `CCTL.IVALL` after it",
        ]),
        Ok(Some(MachineOp::AcquireWait | MachineOp::Asynchronous(_)) | None) => match kind {
            Some(Class::View) => all.push("which accesses it orders is not known"),
            Some(Class::Depbar) => all.push(
                "waits until scoreboards are low enough: the loads or asynchronous copies that they count have completed; it has no effect on the order that other threads see",
            ),
            None => {}
            Some(_) => all.push("has no effect on memory order"),
        },
        Err(_) if matches!(kind, None | Some(Class::Other)) => {}
        Err(_) => match kind {
            Some(Class::Cache) if instruction.has("PF1") || instruction.has("PF2") => {
                all.push("a prefetch: fills a line without waiting for it, and orders nothing");
            }
            Some(Class::Arithmetic | Class::Special | Class::Branch | Class::Exit) => {
                all.push("has no effect on memory order");
                all.push("what depends on a load through it is issued when the load has returned");
            }
            _ => all.push("not known: the machine has no rule for it, and a test with it is rejected"),
        },
    }
    if instruction.has("IVALLD") {
        all.push("then all lines of the SM's L1 are invalidated, as by `CCTL.IVALL`");
    }
    let modelled = family.is_none_or(|family| family > Family::Maxwell);
    if !modelled && matches!(does, Ok(Some(_))) {
        all.push(
            "the memory model of PTX begins with sm_70: earlier, its semantics are our interpretation",
        );
    }
    all.into_iter().map(str::to_owned).collect()
}

const NO_CLAIM: &str = "what it does to memory and registers is not modelled, and not explained";

const WAITS: &str = "issued when the registers that it reads are available; later instructions wait for it only where they use its result, or are a `MEMBAR`, `CCTL.IVALL` or `BAR`";

fn load(level: AccessLevel) -> &'static [&'static str] {
    match level {
        AccessLevel::Weak => &[
            "a line in the L1 of its SM provides the value, however old; a later store of another SM does not update it",
            "on a miss it goes to L2, or to the home of the memory, and its line stays in L1",
            "two of these from one address may return in either order: the newer value first",
        ],
        AccessLevel::Sm => &[
            "a line in the L1 of its SM provides the value: threads of the SM see each other's stores there, and those of other SMs possibly late",
            "two from one address return values in the order of the location",
        ],
        AccessLevel::Gpu => &[
            "the line in L1 is invalidated, and L2 provides the value, including the stores of every SM of the GPU",
            "from memory of another GPU it may see a store that still waits in its own GPU's link",
            "two from one address return values in the order of the location; accesses to other addresses may pass it",
        ],
        AccessLevel::Sys => &[
            "the line in L1 is invalidated, and the home of the memory provides the value: the L2 of the GPU that owns it, or the host",
            "two from one address return values in the order of the location; accesses to other addresses may pass it",
        ],
        AccessLevel::ReadOnly => &[
            "a line of the read-only path provides the value, however old: no store invalidates it, not even the thread's own, and no `CCTL.IVALL`",
            "meant for data that is not written while the kernel runs; for written data it returns any earlier value",
        ],
        AccessLevel::Own => {
            &["the memory of the CTA or the thread provides the value at once: it is never stale"]
        }
    }
}

fn store(level: AccessLevel) -> &'static [&'static str] {
    match level {
        AccessLevel::Own => &["the memory of the CTA or the thread is updated at once"],
        AccessLevel::ReadOnly
        | AccessLevel::Weak
        | AccessLevel::Sm
        | AccessLevel::Gpu
        | AccessLevel::Sys => &[
            "a line in the L1 of its SM is updated: the SM sees it at once",
            "it goes to L2, or to the home of the memory, after earlier accesses to that address and unordered with accesses to others; lines in other SMs are unchanged",
            "order and scope have no further effect on the store itself: a release requires the `MEMBAR` before it",
        ],
    }
}

fn atomic(level: AccessLevel) -> &'static [&'static str] {
    match level {
        AccessLevel::Own => &["the memory of the CTA is updated at once, in one step"],
        AccessLevel::ReadOnly
        | AccessLevel::Weak
        | AccessLevel::Sm
        | AccessLevel::Gpu
        | AccessLevel::Sys => &[
            "the line in L1 is invalidated, and read and write are one step at L2, or at the home of the \
             memory, whatever its scope",
            "by itself no order with other addresses: `MEMBAR` before it releases, `CCTL.IVALL` after it acquires",
        ],
    }
}

fn membar(reach: MembarScope) -> &'static [&'static str] {
    match reach {
        MembarScope::Cta => {
            &["waits until the thread's loads have returned: enough for one CTA, which has one L1"]
        }
        MembarScope::Gpu => &[
            "waits until the thread's loads have returned and the stores of its whole SM are at L2, so the stores that it has observed are there too",
            "lines in L1 stay: an acquire requires `CCTL.IVALL` after it",
        ],
        MembarScope::Sys => &[
            "waits until the thread's loads have returned and the stores of its whole SM are at L2, then \
             until those of its GPU are at the home of their memory",
            "lines in L1 stay: an acquire requires `CCTL.IVALL` after it",
        ],
    }
}

/// The PTX instruction with the same promises, if there is one.
pub fn contract(instruction: &Instruction<'_>, does: &DecodedOp) -> Option<String> {
    let kind = class(instruction.opcode.text)?;
    let mut scope = match does {
        Ok(Some(MachineOp::Access(AccessLevel::Weak))) => None,
        Ok(Some(MachineOp::Access(AccessLevel::ReadOnly))) => {
            return Some("`ld.global.nc`, or `ld.const`".to_owned());
        }
        Ok(Some(MachineOp::Access(AccessLevel::Sm))) => Some("cta"),
        Ok(Some(MachineOp::Access(AccessLevel::Gpu))) => Some("gpu"),
        Ok(Some(MachineOp::Access(AccessLevel::Sys | AccessLevel::Own))) => Some("sys"),
        Ok(Some(MachineOp::Membar(reach) | MachineOp::MembarAll(reach))) => {
            let scope = match reach {
                MembarScope::Cta => "cta",
                MembarScope::Gpu => "gpu",
                MembarScope::Sys => "sys",
            };
            let order = if instruction.has("ALL") { "acq_rel" } else { "sc" };
            return Some(if *reach == MembarScope::Cta || instruction.has("IVALLD") {
                format!("`fence.{order}.{scope}`")
            } else {
                format!(
                    "`fence.{order}.{scope}` with a `CCTL.IVALL` after it; alone, `fence.release.{scope}` \
                     and `fence.acq_rel.cta`"
                )
            });
        }
        Ok(Some(MachineOp::Invalidate)) => {
            return Some(
                "`fence.acquire.sys`, unless it ends a fence that a `MEMBAR` begins".to_owned(),
            );
        }
        Ok(Some(MachineOp::Bar)) => return Some("`bar`".to_owned()),
        Ok(Some(MachineOp::ClusterArrive)) => {
            return Some("`barrier.cluster.arrive.relaxed`".to_owned());
        }
        Ok(Some(MachineOp::ClusterWait)) => {
            return Some("`barrier.cluster.wait` without its acquire".to_owned());
        }
        Ok(Some(MachineOp::AcquireWait | MachineOp::Asynchronous(_)) | None) | Err(_) => {
            return None;
        }
    };
    let kinds = [(Class::Store, "st"), (Class::Atomic, "atom"), (Class::Reduction, "red")];
    let access = kinds.iter().find(|(of, _)| *of == kind).map_or("ld", |(_, name)| name);
    let cached = instruction.has("CG") || instruction.has("LU") && !instruction.has("STRONG");
    if cached && matches!(kind, Class::Load | Class::Store) {
        // A PTX instruction with a cache operator has no order.
        scope = None;
    }
    Some(match scope {
        None => format!("`{access}.weak`"),
        Some(scope) if instruction.has("MMIO") => format!("`{access}.mmio.relaxed.{scope}`"),
        Some(scope) => format!("`{access}.relaxed.{scope}`"),
    })
}
