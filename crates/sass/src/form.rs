//! The memory operations of SASS opcodes, and of sequences of them.

use machine::form::{AccessLevel, AsyncOp, Family, LoweredInstruction, MachineOp, MembarScope};
use model::isa::Instruction;
use model::isa::asynchronous::{AsyncFence, Asynchronous, Mbarrier, MbarrierOp};
use model::isa::atom::AtomicOrder;
use model::isa::fence::FenceOrder;

use super::modifier;
use super::promise::{self, OrderingWord, WordAccess};
use super::syntax;

/// A name that is not a SASS instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownInstruction(pub String);

/// The effect of an instruction on memory in a family of GPUs; `None` if it has none.
pub fn of(
    instruction: &syntax::Instruction<'_>,
    family: Option<Family>,
) -> Result<Option<MachineOp>, UnknownInstruction> {
    let maxwell = family == Some(Family::Maxwell);
    // There, `.LU` is `.CG`; on later machines it says which line to evict.
    if maxwell && instruction.has("LU") {
        return Ok(Some(MachineOp::Access(AccessLevel::Gpu)));
    }
    let name = instruction.name();
    // From sm_70 on, a `MEMBAR` names its order. What the words without one do is not known.
    let ordered = instruction.has("SC") || instruction.has("ALL");
    if instruction.opcode.text == "MEMBAR" && !ordered && family > Some(Family::Maxwell) {
        return Err(UnknownInstruction(name));
    }
    form(&name)
}

/// The effect of one instruction on memory; `None` if it has none.
pub fn form(name: &str) -> Result<Option<MachineOp>, UnknownInstruction> {
    let mut parts = name.split('.');
    let opcode = parts.next().unwrap_or("");
    let modifiers: Vec<&str> = parts.collect();
    let has = |wanted: &str| modifiers.contains(&wanted);
    let strength = || {
        if has("CONSTANT") || has("CI") {
            AccessLevel::ReadOnly
        } else if has("MMIO") || has("CV") || has("WT") || has("STRONG") && has("SYS") {
            AccessLevel::Sys
        } else if has("STRONG") && has("GPU") || has("CG") || has("LU") && !has("E") {
            AccessLevel::Gpu
        } else if has("STRONG") && (has("SM") || has("CTA")) {
            AccessLevel::Sm
        } else {
            AccessLevel::Weak
        }
    };
    let membar = |reach: MembarScope| {
        if has("ALL") { MachineOp::MembarAll(reach) } else { MachineOp::Membar(reach) }
    };
    let unknown = || Err(UnknownInstruction(name.to_owned()));
    if !modifier::fit(opcode, &modifiers) {
        return unknown();
    }
    let strong = has("STRONG") || has("MMIO") || has("CONSTANT") || has("CI");
    Ok(Some(match opcode {
        // Modifiers of words that `ptxas` does not emit. A weak access has the scope `.SYS` of sm_70 and sm_75, or none.
        _ if is_access(opcode) && ["PRIVATE", "VC", "ZD", "ORDERED"].iter().any(|one| has(one)) => {
            return unknown();
        }
        _ if is_access(opcode) && !strong && (has("CTA") || has("SM") || has("GPU")) => {
            return unknown();
        }
        "LDG" | "LD" | "STG" | "ST" => MachineOp::Access(strength()),
        // Without a strength they are those of `sm_50`, performed at L2.
        "ATOM" | "ATOMG" | "RED" | "REDG" => {
            let level = strength();
            MachineOp::Access(if level == AccessLevel::Weak { AccessLevel::Gpu } else { level })
        }
        "LDS" | "STS" | "ATOMS" | "LDL" | "STL" => MachineOp::Access(AccessLevel::Own),
        "LDC" | "LDCU" | "ULDC" => MachineOp::Access(AccessLevel::ReadOnly),
        "MEMBAR" if has("VC") || has("MMIO") || has("PARTIAL") => return unknown(),
        // Only sm_70 and later have this scope, and an order beside it.
        "MEMBAR" if has("GPU") && !has("SC") && !has("ALL") => return unknown(),
        "MEMBAR" if has("SYS") => membar(MembarScope::Sys),
        "MEMBAR" if has("GPU") || has("GL") => membar(MembarScope::Gpu),
        "MEMBAR" if has("CTA") || has("SM") => membar(MembarScope::Cta),
        // Of the data cache, not of constants, instructions or uniform data.
        "CCTL" if has("IVALL") && !["C", "I", "U", "QFAULT"].iter().any(|one| has(one)) => {
            MachineOp::Invalidate
        }
        "BAR" => MachineOp::Bar,
        "UCGABAR_ARV" => MachineOp::ClusterArrive,
        "UCGABAR_WAIT" => MachineOp::ClusterWait,
        "ERRBAR" | "CGAERRBAR" | "FENCE" | "NOP" | "DEPBAR" | "B2R" | "" => return Ok(None),
        _ => return unknown(),
    }))
}

fn is_access(opcode: &str) -> bool {
    matches!(opcode, "LDG" | "LD" | "STG" | "ST" | "ATOM" | "ATOMG" | "RED" | "REDG")
}

/// Whether a `MEMBAR` drops lines like a following `CCTL.IVALL`.
pub fn drops_lines(name: &str) -> bool {
    name.starts_with("MEMBAR") && name.ends_with("IVALLD")
}

/// The effects of an instruction on memory, in order.
pub fn forms(name: &str) -> Result<impl Iterator<Item = MachineOp>, UnknownInstruction> {
    let drops = drops_lines(name).then_some(MachineOp::Invalidate);
    Ok(form(name)?.into_iter().chain(drops))
}

/// The effects of a sequence, separated by ` ; `, that replaces a PTX instruction.
pub fn sequence(
    instruction: &Instruction,
    text: &str,
) -> Result<LoweredInstruction, UnknownInstruction> {
    let mut forms: Vec<MachineOp> = Vec::new();
    for name in text.split(';').map(str::trim) {
        for one in self::forms(name)? {
            // One PTX access may be several of the machine's, or a choice between two by the address:
            // the elements of a vector are accesses of their own anyway.
            let again = matches!(one, MachineOp::Access(_))
                && forms.iter().any(|form| matches!(form, MachineOp::Access(_)));
            if !again {
                forms.push(one);
            }
        }
    }
    // Reading R60: the text of an acquire that invalidates nothing does not show that it waits.
    if acquires(instruction) && !forms.contains(&MachineOp::Invalidate) {
        forms.push(MachineOp::AcquireWait);
    }
    Ok(LoweredInstruction { fused: unit(instruction, &forms), forms })
}

/// The effects of a sequence that replaces an asynchronous instruction. Several accesses to an mbarrier object are one
/// operation on it.
pub fn asynchronous(
    instruction: &Asynchronous,
    text: &str,
) -> Result<LoweredInstruction, UnknownInstruction> {
    let mut forms: Vec<MachineOp> = Vec::new();
    for name in text.split(';').map(str::trim).filter(|name| !name.is_empty()) {
        let opcode = name.split('.').next().unwrap_or("");
        let has = |wanted: &str| name.split('.').any(|part| part == wanted);
        let op = match opcode {
            "LDGSTS" if !has("BYPASS") => AsyncOp::Copy(AccessLevel::Weak),
            "LDGSTS" | "UBLKCP" => AsyncOp::Copy(AccessLevel::Gpu),
            "LDGDEPBAR" | "UTMACMDFLUSH" => AsyncOp::Commit,
            "DEPBAR" if has("LE") => AsyncOp::GroupWait,
            "SYNCS" | "ATOMS" | "ATOM" | "STS" | "ST" | "LDS" | "LD" => AsyncOp::Object,
            "ARRIVES" => AsyncOp::Track,
            "FENCE" if has("G") => AsyncOp::View,
            "FENCE" if has("S") => AsyncOp::SharedView,
            _ => {
                forms.extend(self::forms(name)?);
                continue;
            }
        };
        let op = MachineOp::Asynchronous(op);
        if forms.last() != Some(&op) {
            forms.push(op);
        }
    }
    let waits = |form: &MachineOp| matches!(form, MachineOp::Membar(_) | MachineOp::MembarAll(_));
    if releases(instruction) && !forms.iter().any(waits) {
        forms.insert(0, MachineOp::Asynchronous(AsyncOp::ReleaseWait));
    }
    if waits_for_loads(instruction) {
        forms.push(MachineOp::AcquireWait);
    }
    Ok(LoweredInstruction { fused: None, forms })
}

/// Whether it is an arrival that releases what its thread did before.
fn releases(instruction: &Asynchronous) -> bool {
    matches!(
        instruction,
        Asynchronous::Mbarrier(Mbarrier { op: MbarrierOp::Arrive { .. }, synchronizes: true, .. })
    )
}

/// Whether it is a fence of some objects that becomes nothing but a wait for the loads of its thread: ptxas 13.5 has a `NOP`
/// there that waits for every scoreboard. Reading R60.
fn waits_for_loads(instruction: &Asynchronous) -> bool {
    let Asynchronous::Fence(fence) = instruction else { return false };
    match fence {
        AsyncFence::Acquire
        | AsyncFence::ProxyAcquire
        | AsyncFence::ProxyReleaseOfReads
        | AsyncFence::AliasReleaseOfReads => true,
        AsyncFence::Proxy(_)
        | AsyncFence::ProxyRelease
        | AsyncFence::MbarrierInit
        | AsyncFence::Release => false,
    }
}

fn acquires(instruction: &Instruction) -> bool {
    if let Instruction::Load(load) = instruction {
        load.order.is_acquire()
    } else if let Instruction::Atomic(atomic) = instruction {
        atomic.order.is_acquire()
    } else {
        matches!(instruction, Instruction::Fence(fence) if fence.order != FenceOrder::Release)
    }
}

/// Reading R66: how far an `acq_rel` atomic is one unit.
fn unit(instruction: &Instruction, forms: &[MachineOp]) -> Option<MembarScope> {
    let Instruction::Atomic(atomic) = instruction else { return None };
    if atomic.order != AtomicOrder::AcqRel {
        return None;
    }
    let words: Vec<OrderingWord> =
        forms.iter().filter_map(|&form| OrderingWord::of(form, WordAccess::Atomic)).collect();
    promise::promised(&words).into_iter().find_map(|one| one.lowered.fused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_levels() {
        let level = |name: &str| match form(name) {
            Ok(Some(MachineOp::Access(level))) => level,
            other => panic!("{name}: {other:?}"),
        };
        for (name, wanted) in [
            ("LDG.E", AccessLevel::Weak),
            ("LDG.E.SYS", AccessLevel::Weak),
            ("LDG.E.EL.LTC128B.U8", AccessLevel::Weak),
            ("LDG.E.STRONG.CTA", AccessLevel::Sm),
            ("LDG.E.64.STRONG.SM", AccessLevel::Sm),
            ("LD.E.STRONG.GPU", AccessLevel::Gpu),
            ("LDG.E.CG.S16", AccessLevel::Gpu),
            ("LDG.E.CV", AccessLevel::Sys),
            ("LDG.E.STRONG.SYS", AccessLevel::Sys),
            ("LDG.E.MMIO.SYS", AccessLevel::Sys),
            ("LDG.E.CI.128", AccessLevel::ReadOnly),
            ("LDG.E.EF.CONSTANT.SYS", AccessLevel::ReadOnly),
            ("STG.E.WT", AccessLevel::Sys),
            ("STG.E.CS", AccessLevel::Weak),
            ("ATOM.E.ADD", AccessLevel::Gpu),
            ("ATOMG.E.ADD.STRONG.SM", AccessLevel::Sm),
            ("REDG.E.ADD.STRONG.SYS", AccessLevel::Sys),
            ("ATOMS.ADD", AccessLevel::Own),
            ("LDS.U.32", AccessLevel::Own),
            ("LDC.64", AccessLevel::ReadOnly),
        ] {
            assert_eq!(level(name), wanted, "{name}");
        }
    }

    #[test]
    fn fences_have_a_reach_and_the_rest_does_nothing_or_is_unknown() {
        assert_eq!(form("MEMBAR.ALL.GPU"), Ok(Some(MachineOp::MembarAll(MembarScope::Gpu))));
        assert_eq!(form("MEMBAR.SC.CTA"), Ok(Some(MachineOp::Membar(MembarScope::Cta))));
        assert_eq!(form("MEMBAR.GL.IVALLD"), Ok(Some(MachineOp::Membar(MembarScope::Gpu))));
        assert_eq!(form("CCTL.IVALL"), Ok(Some(MachineOp::Invalidate)));
        assert_eq!(form("CGAERRBAR"), Ok(None));
        assert_eq!(form("MEMBAR.SC.CTA.GPU"), Err(UnknownInstruction("MEMBAR.SC.CTA.GPU".into())));
        assert_eq!(form("ERRBAR.FOO"), Err(UnknownInstruction("ERRBAR.FOO".into())));
        assert_eq!(form("MEMBAR.SC.VC"), Err(UnknownInstruction("MEMBAR.SC.VC".into())));
        assert_eq!(form("CCTL.E.RML2"), Err(UnknownInstruction("CCTL.E.RML2".into())));
        for name in [
            "MEMBAR.GPU",
            "MEMBAR.MMIO.SYS",
            "MEMBAR.ALL.GPU.MMIO",
            "MEMBAR.ALL.CTA.PARTIAL",
            "CCTL.C.IVALL",
            "CCTL.I.IVALL",
            "CCTL.U.IVALL",
            "LD.E.GPU",
            "STG.E.SM",
            "RED.E.ADD.CTA",
            "LDG.E.STRONG.GPU.PRIVATE",
            "LDG.E.CONSTANT.VC",
            "STG.E.MMIO.SYS.ORDERED",
        ] {
            assert_eq!(form(name), Err(UnknownInstruction(name.into())));
        }
        // `sm_50` has no orders.
        let sole = |family| {
            let all = crate::instructions("i", "MEMBAR.SYS").expect("it can be read");
            of(&all[0], Some(family))
        };
        assert_eq!(sole(Family::Maxwell), Ok(Some(MachineOp::Membar(MembarScope::Sys))));
        assert_eq!(sole(Family::Volta), Err(UnknownInstruction("MEMBAR.SYS".into())));
    }
}
