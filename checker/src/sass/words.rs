//! The words for what instructions of the machine do to memory.

use machine::form::{AccessLevel, Family, MachineOp, MembarScope};
use sass::form::UnknownInstruction;
use sass::opcode::{Class, class};
use sass::syntax::Instruction;

/// What the machine makes of an instruction.
pub(super) type Does = Result<Option<MachineOp>, UnknownInstruction>;

/// In one sentence.
pub(super) fn is(instruction: &Instruction<'_>, does: &Does) -> String {
    let name = instruction.opcode.text;
    let what = match class(name) {
        Some(Class::Load) => format!("a load{}", from(name)),
        Some(Class::Store) => format!("a store{}", to(name)),
        Some(Class::Atomic) => format!("an atomic operation{}, with a result", to(name)),
        Some(Class::Reduction) => format!("an atomic operation{} without a result", to(name)),
        Some(Class::Membar) => "a wait until what the thread did before has come so far".to_owned(),
        Some(Class::Cache) => "a word to the caches".to_owned(),
        Some(Class::ErrorBarrier) => "a wait for errors of earlier accesses".to_owned(),
        Some(Class::View) => format!("`{name}`: a proxy fence; {NO_CLAIM}"),
        Some(Class::Barrier) => "a barrier of the CTA".to_owned(),
        Some(Class::ClusterArrive) => "an arrival at the barrier of the cluster".to_owned(),
        Some(Class::ClusterWait) => "a wait at the barrier of the cluster".to_owned(),
        Some(Class::Depbar) => "a wait for scoreboards".to_owned(),
        Some(Class::Other) => return format!("`{name}` is known by name only: {NO_CLAIM}"),
        Some(Class::Arithmetic) => "registers to registers".to_owned(),
        Some(Class::Special) => "a special register to a register".to_owned(),
        Some(Class::Branch) => "the way that the thread goes".to_owned(),
        Some(Class::Exit) => "the end of the thread".to_owned(),
        Some(Class::Nothing) => "nothing".to_owned(),
        None => return format!("`{name}` is not a known opcode: {NO_CLAIM}"),
    };
    let level = match does {
        Ok(Some(MachineOp::Access(level))) => format!(", {}", place(*level)),
        Ok(Some(MachineOp::Membar(reach) | MachineOp::MembarAll(reach))) => {
            format!(": {}", far(*reach))
        }
        Ok(Some(MachineOp::Invalidate)) => ": the L1 of the SM forgets all lines".to_owned(),
        Err(_) if is_access(name) => ", which the machine does not have".to_owned(),
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

/// What a few words say of it, where a whole function is listed.
pub(super) fn brief(instruction: &Instruction<'_>, does: &Does) -> Option<String> {
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
        Ok(Some(MachineOp::AcquireWait) | None) => "does nothing to the order of memory".to_owned(),
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
        AccessLevel::Gpu => "past L1, at L2",
        AccessLevel::Sys => "past L1, at the home of the memory",
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

/// What it does on the levels of memory, what it may return, and what it waits for.
pub(super) fn memory(
    instruction: &Instruction<'_>,
    does: &Does,
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
            "waits until the thread's loads have returned; then every line in the L1 of its SM is \
             forgotten, and no load on its way fills one",
            "loads behind it fetch at L2 or further: with a wait for a strong load it makes an acquire",
            "lines of the read-only path stay",
        ]),
        Ok(Some(MachineOp::Bar)) => all.extend([
            "the thread arrives when its loads have returned, and goes on when all have arrived; \
             `.ARV` does not wait",
            "what was done before it by one thread is seen behind it by all of the CTA; no line is \
             forgotten, since the CTA has one L1",
        ]),
        Ok(Some(MachineOp::ClusterArrive)) => all.extend([
            "by itself no order: a release is `MEMBAR.ALL.GPU` before it",
        ]),
        Ok(Some(MachineOp::ClusterWait)) => all.extend([
            "goes on when all threads of the cluster have arrived",
            "by itself no order: an acquire is `CCTL.IVALL` behind it",
        ]),
        Ok(Some(MachineOp::AcquireWait) | None) => match kind {
            Some(Class::View) => all.push("which accesses it orders is not known"),
            Some(Class::Depbar) => all.push(
                "waits until scoreboards are low enough: what they count, loads or asynchronous \
                 copies, has come; to the order that others see it does nothing",
            ),
            None => {}
            Some(_) => all.push("does nothing to the order of memory"),
        },
        Err(_) if matches!(kind, None | Some(Class::Other)) => {}
        Err(_) => match kind {
            Some(Class::Cache) if instruction.has("PF1") || instruction.has("PF2") => {
                all.push("a prefetch: fills a line that nobody waits for, and orders nothing");
            }
            Some(Class::Arithmetic | Class::Special | Class::Branch | Class::Exit) => {
                all.push("does nothing to the order of memory");
                all.push("what depends on a load through it is issued when the load has returned");
            }
            _ => all.push("not known: the machine has no rule for it, and a test with it is refused"),
        },
    }
    if instruction.has("IVALLD") {
        all.push("then all lines of the SM's L1 are forgotten, as `CCTL.IVALL` does");
    }
    let modelled = family.is_none_or(|family| family > Family::Maxwell);
    if !modelled && matches!(does, Ok(Some(_))) {
        all.push(
            "the memory model of PTX begins with sm_70: before, what it promises is our reading",
        );
    }
    all.into_iter().map(str::to_owned).collect()
}

const NO_CLAIM: &str = "what it does to memory and registers is not modelled, and not explained";

const WAITS: &str = "issued when the registers that it reads are there; what follows waits for it only \
    where it uses its result, or is a `MEMBAR`, `CCTL.IVALL` or `BAR`";

fn load(level: AccessLevel) -> &'static [&'static str] {
    match level {
        AccessLevel::Weak => &[
            "a line that is in the L1 of its SM answers, however old; another SM's later store does \
             not reach it",
            "on a miss it goes to L2, or to the home of the memory, and its line stays in L1",
            "two of these from one address may return in either order: the newer value first",
        ],
        AccessLevel::Sm => &[
            "a line that is in the L1 of its SM answers: threads of the SM see each other's stores \
             there, and those of other SMs perhaps late",
            "two from one address return values in the order of the location",
        ],
        AccessLevel::Gpu => &[
            "the line in L1 is dropped, and L2 answers: what any SM of the GPU has stored there is seen",
            "from memory of another GPU it may see a store that still waits in its own GPU's link",
            "two from one address return values in the order of the location; accesses of other \
             addresses pass it freely",
        ],
        AccessLevel::Sys => &[
            "the line in L1 is dropped, and the home of the memory answers: the L2 of the GPU that has \
             it, or the host",
            "two from one address return values in the order of the location; accesses of other \
             addresses pass it freely",
        ],
        AccessLevel::ReadOnly => &[
            "a line of the read-only path answers, however old: no store drops it, the thread's own \
             neither, and no `CCTL.IVALL`",
            "meant for what nobody writes while the kernel runs; of written data it returns any value \
             that was there",
        ],
        AccessLevel::Own => {
            &["the array of the CTA or the thread answers at once: nothing is ever stale"]
        }
    }
}

fn store(level: AccessLevel) -> &'static [&'static str] {
    match level {
        AccessLevel::Own => &["the array of the CTA or the thread has it at once"],
        AccessLevel::ReadOnly
        | AccessLevel::Weak
        | AccessLevel::Sm
        | AccessLevel::Gpu
        | AccessLevel::Sys => &[
            "a line that is in the L1 of its SM is updated: the SM sees it at once",
            "it goes to L2, or to the home of the memory, behind earlier accesses of that address and \
             in no order with those of others; lines in other SMs stay as they are",
            "order and scope do nothing more to the store itself: a release is the `MEMBAR` before it",
        ],
    }
}

fn atomic(level: AccessLevel) -> &'static [&'static str] {
    match level {
        AccessLevel::Own => &["the array of the CTA has it at once, as one step"],
        AccessLevel::ReadOnly
        | AccessLevel::Weak
        | AccessLevel::Sm
        | AccessLevel::Gpu
        | AccessLevel::Sys => &[
            "the line in L1 is dropped, and read and write are one step at L2, or at the home of the \
             memory, whatever its scope",
            "by itself no order with other addresses: `MEMBAR` before it releases, `CCTL.IVALL` behind \
             it acquires",
        ],
    }
}

fn membar(reach: MembarScope) -> &'static [&'static str] {
    match reach {
        MembarScope::Cta => {
            &["waits until the thread's loads have returned: enough for one CTA, which has one L1"]
        }
        MembarScope::Gpu => &[
            "waits until the thread's loads have returned and the stores of its whole SM are at L2, so \
             those that it has seen are there too",
            "lines in L1 stay: an acquire is `CCTL.IVALL` behind it",
        ],
        MembarScope::Sys => &[
            "waits until the thread's loads have returned and the stores of its whole SM are at L2, then \
             until those of its GPU are at the home of their memory",
            "lines in L1 stay: an acquire is `CCTL.IVALL` behind it",
        ],
    }
}

/// What PTX says as much as it does, as far as it is one instruction.
pub(super) fn contract(instruction: &Instruction<'_>, does: &Does) -> Option<String> {
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
                    "`fence.{order}.{scope}` with a `CCTL.IVALL` behind it; alone, `fence.release.{scope}` \
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
        Ok(Some(MachineOp::AcquireWait) | None) | Err(_) => return None,
    };
    let kinds = [(Class::Store, "st"), (Class::Atomic, "atom"), (Class::Reduction, "red")];
    let access = kinds.iter().find(|(of, _)| *of == kind).map_or("ld", |(_, name)| name);
    let cached = instruction.has("CG") || instruction.has("LU") && !instruction.has("STRONG");
    if cached && matches!(kind, Class::Load | Class::Store) {
        // A cache operator of PTX has no order.
        scope = None;
    }
    Some(match scope {
        None => format!("`{access}.weak`"),
        Some(scope) if instruction.has("MMIO") => format!("`{access}.mmio.relaxed.{scope}`"),
        Some(scope) => format!("`{access}.relaxed.{scope}`"),
    })
}
