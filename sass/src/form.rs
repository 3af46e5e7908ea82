//! Instructions of the machine by their names, and what a sequence of them does.

use machine::form::{Family, Form, Level, Lowered, Reach};
use model::isa::Instruction;
use model::isa::atom::AtomicOrder;
use model::isa::fence::FenceOrder;

use super::modifier;
use super::promise::{self, Word};
use super::syntax;

/// A name that the machine has no instruction for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown(pub String);

/// What an instruction does to memory on a family's machines; `None` where it does nothing.
pub fn of(
    instruction: &syntax::Instruction<'_>,
    family: Option<Family>,
) -> Result<Option<Form>, Unknown> {
    let maxwell = family == Some(Family::Maxwell);
    // There, `.LU` is `.CG`; on later machines it says which line to evict.
    if maxwell && instruction.has("LU") {
        return Ok(Some(Form::Access(Level::Gpu)));
    }
    form(&instruction.name())
}

/// What one instruction does to memory; `None` where it does nothing.
pub fn form(name: &str) -> Result<Option<Form>, Unknown> {
    let mut parts = name.split('.');
    let opcode = parts.next().unwrap_or("");
    let modifiers: Vec<&str> = parts.collect();
    let has = |wanted: &str| modifiers.contains(&wanted);
    let strength = || {
        if has("CONSTANT") || has("CI") {
            Level::ReadOnly
        } else if has("MMIO") || has("CV") || has("WT") || has("STRONG") && has("SYS") {
            Level::Sys
        } else if has("STRONG") && has("GPU") || has("CG") || has("LU") && !has("E") {
            Level::Gpu
        } else if has("STRONG") && (has("SM") || has("CTA")) {
            Level::Sm
        } else {
            Level::Weak
        }
    };
    let membar = |reach: Reach| {
        if has("ALL") { Form::MembarAll(reach) } else { Form::Membar(reach) }
    };
    let unknown = || Err(Unknown(name.to_owned()));
    if !modifier::fit(opcode, &modifiers) {
        return unknown();
    }
    Ok(Some(match opcode {
        "LDG" | "LD" | "STG" | "ST" => Form::Access(strength()),
        // Without a strength they are those of `sm_50`, performed at L2.
        "ATOM" | "ATOMG" | "RED" | "REDG" => {
            let level = strength();
            Form::Access(if level == Level::Weak { Level::Gpu } else { level })
        }
        "LDS" | "STS" | "ATOMS" | "LDL" | "STL" => Form::Access(Level::Own),
        "LDC" => Form::Access(Level::ReadOnly),
        "MEMBAR" if has("VC") => return unknown(),
        "MEMBAR" if has("SYS") => membar(Reach::Sys),
        "MEMBAR" if has("GPU") || has("GL") => membar(Reach::Gpu),
        "MEMBAR" if has("CTA") || has("SM") => membar(Reach::Cta),
        "CCTL" if has("IVALL") => Form::Invalidate,
        "BAR" => Form::Bar,
        "UCGABAR_ARV" => Form::ClusterArrive,
        "UCGABAR_WAIT" => Form::ClusterWait,
        "ERRBAR" | "CGAERRBAR" | "FENCE" | "NOP" | "DEPBAR" | "B2R" | "" => return Ok(None),
        _ => return unknown(),
    }))
}

/// Whether a `MEMBAR` drops lines as `CCTL.IVALL` behind it does.
pub fn drops_lines(name: &str) -> bool {
    name.starts_with("MEMBAR") && name.ends_with("IVALLD")
}

/// What an instruction does to memory, one thing after the other.
pub fn forms(name: &str) -> Result<impl Iterator<Item = Form>, Unknown> {
    let drops = drops_lines(name).then_some(Form::Invalidate);
    Ok(form(name)?.into_iter().chain(drops))
}

/// What a sequence, separated by ` ; `, does in the place of a PTX instruction.
pub fn sequence(instruction: &Instruction, text: &str) -> Result<Lowered, Unknown> {
    let mut forms: Vec<Form> = Vec::new();
    for name in text.split(';').map(str::trim) {
        for one in self::forms(name)? {
            // One PTX access may be several of the machine's, or a choice between two by the address:
            // the elements of a vector are accesses of their own anyway.
            let again = matches!(one, Form::Access(_))
                && forms.iter().any(|form| matches!(form, Form::Access(_)));
            if !again {
                forms.push(one);
            }
        }
    }
    // Reading C10: the text of an acquire that invalidates nothing does not show that it waits.
    if acquires(instruction) && !forms.contains(&Form::Invalidate) {
        forms.push(Form::AcquireWait);
    }
    Ok(Lowered { fused: unit(instruction, &forms), forms })
}

fn acquires(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Load(load) => load.order.is_acquire(),
        Instruction::Atomic(atomic) => atomic.order.is_acquire(),
        Instruction::Fence(fence) => fence.order != FenceOrder::Release,
        Instruction::Store(_)
        | Instruction::ProxyFence(_)
        | Instruction::Barrier(_)
        | Instruction::ClusterBarrier(_)
        | Instruction::Alu(_)
        | Instruction::Cvta(_)
        | Instruction::Branch(_)
        | Instruction::Unsupported(_) => false,
    }
}

/// Reading C16: how far an `acq_rel` atomic is one unit.
fn unit(instruction: &Instruction, forms: &[Form]) -> Option<Reach> {
    let Instruction::Atomic(atomic) = instruction else { return None };
    if atomic.order != AtomicOrder::AcqRel {
        return None;
    }
    let words: Vec<Word> = forms.iter().filter_map(|&form| Word::of(form, true)).collect();
    promise::promised(&words).into_iter().find_map(|one| one.lowered.fused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_levels() {
        let level = |name: &str| match form(name) {
            Ok(Some(Form::Access(level))) => level,
            other => panic!("{name}: {other:?}"),
        };
        for (name, wanted) in [
            ("LDG.E", Level::Weak),
            ("LDG.E.SYS", Level::Weak),
            ("LDG.E.EL.LTC128B.U8", Level::Weak),
            ("LDG.E.STRONG.CTA", Level::Sm),
            ("LDG.E.64.STRONG.SM", Level::Sm),
            ("LD.E.STRONG.GPU", Level::Gpu),
            ("LDG.E.CG.S16", Level::Gpu),
            ("LDG.E.CV", Level::Sys),
            ("LDG.E.STRONG.SYS", Level::Sys),
            ("LDG.E.MMIO.SYS", Level::Sys),
            ("LDG.E.CI.128", Level::ReadOnly),
            ("LDG.E.EF.CONSTANT.SYS", Level::ReadOnly),
            ("STG.E.WT", Level::Sys),
            ("STG.E.CS", Level::Weak),
            ("ATOM.E.ADD", Level::Gpu),
            ("ATOMG.E.ADD.STRONG.SM", Level::Sm),
            ("REDG.E.ADD.STRONG.SYS", Level::Sys),
            ("ATOMS.ADD", Level::Own),
            ("LDS.U.32", Level::Own),
            ("LDC.64", Level::ReadOnly),
        ] {
            assert_eq!(level(name), wanted, "{name}");
        }
    }

    #[test]
    fn fences_have_a_reach_and_the_rest_does_nothing_or_is_unknown() {
        assert_eq!(form("MEMBAR.ALL.GPU"), Ok(Some(Form::MembarAll(Reach::Gpu))));
        assert_eq!(form("MEMBAR.SC.CTA"), Ok(Some(Form::Membar(Reach::Cta))));
        assert_eq!(form("MEMBAR.GL.IVALLD"), Ok(Some(Form::Membar(Reach::Gpu))));
        assert_eq!(form("CCTL.IVALL"), Ok(Some(Form::Invalidate)));
        assert_eq!(form("CGAERRBAR"), Ok(None));
        assert_eq!(form("MEMBAR.SC.CTA.GPU"), Err(Unknown("MEMBAR.SC.CTA.GPU".into())));
        assert_eq!(form("ERRBAR.FOO"), Err(Unknown("ERRBAR.FOO".into())));
        assert_eq!(form("MEMBAR.SC.VC"), Err(Unknown("MEMBAR.SC.VC".into())));
        assert_eq!(form("CCTL.E.RML2"), Err(Unknown("CCTL.E.RML2".into())));
    }
}
