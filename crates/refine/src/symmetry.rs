//! Compares PTX with the output of an assembler or an optimizer: pairs the accesses, then forms a question.
//! The source has the axioms as they are (reading R78).

use std::collections::BTreeSet;

use machine::form::Family;
use model::isa::atom::AtomicOp;
use model::isa::{SpaceQualifier, TypeKind};
use model::scope::Scope;

use super::cited;
use super::context::PartnerScope;
use super::inclusion::{MachineTarget, Question, widest};
use super::item::{TargetAccess, TargetItem, steps};
use super::language::PTX;
use super::operand::{self, OperandPair};
use super::program::Width;
use super::row::{Assumptions, LoweredRow, RowResult, found, limited};
use super::row_question::{PreparedRow, RowQuestion};
use super::step::{AccessKind, AccessOrder};
use super::verdict::{Finding, Verdict};

fn accesses(items: &[TargetItem]) -> Vec<&TargetAccess> {
    items
        .iter()
        .filter_map(|item| if let TargetItem::Access(done) = item { Some(&**done) } else { None })
        .collect()
}

/// Pairs the accesses of both sides, in their order.
pub fn compared(
    source: &[TargetItem],
    mut target: LoweredRow,
    assumptions: Assumptions,
) -> RowResult<PreparedRow> {
    let wanted = accesses(source);
    if let [only] = wanted[..] {
        if target.machine.is_some() && !is_strong_scalar(only) {
            target.items = merged(target.items, only);
        }
        whole(only, &accesses(&target.items), target.machine.is_some())?;
    }
    let done = accesses(&target.items);
    if wanted.iter().any(|access| is_private(access.space)) {
        return private(&wanted, &done, target.machine.is_some());
    }
    let read_only = wanted.iter().chain(&done).any(|access| access.read_only);
    let family = Family::of_or_before(target.arch.sm);
    if !family.has_scopes() && !read_only {
        let why = "the memory model is for sm_70 and later";
        return Err(found(Verdict::Outside, why));
    }
    if wanted.len() != done.len() {
        let why =
            format!("{} accesses became {}, and none can be matched", wanted.len(), done.len());
        let verdict = if done.is_empty() { Verdict::WrongValue } else { Verdict::Unsupported };
        return Err(found(
            verdict,
            if done.is_empty() { "the access is missing in the target".to_owned() } else { why },
        ));
    }
    if let Some(other) = wanted.iter().find(|access| access.base != wanted[0].base) {
        let why = format!("`{}` and `{}` are at two addresses", wanted[0].text, other.text);
        return Err(found(Verdict::Unsupported, why));
    }
    if let Some(other) = wanted.iter().find(|access| access.offset != wanted[0].offset) {
        let why = format!("`{}` and `{}` are at two addresses", wanted[0].text, other.text);
        return Err(found(Verdict::Unsupported, why));
    }
    limited(wanted.len())?;
    let mut notes = Vec::new();
    let mut part_of_word = false;
    operands(&wanted, &done)?;
    for (&source, &target) in wanted.iter().zip(&done) {
        part_of_word |= compare(source, target, &mut notes)?;
    }
    if let Some(read_only) = wanted.iter().chain(&done).find(|access| access.read_only) {
        return read_only_load(&wanted, read_only);
    }
    if let Some(code) = &target.machine {
        let waits = if code.waits { "as they are shown" } else { "granted" };
        notes.push(format!("by the semantics of the SASS instructions; waits are {waits}"));
        if code.left_out {
            let why = "the target's code for an address in another state space is ignored";
            notes.push(why.to_owned());
        }
    }
    let shared = wanted.iter().any(|access| access.space.is_shared());
    // A shared location can be accessed at most from its cluster.
    let reached = if family.has_clusters() { Scope::Cluster } else { Scope::Cta };
    let source_steps = steps(source, |done, _| done.act);
    let within = widest(&source_steps);
    let within = if shared { within.min(reached) } else { within };
    let target_steps = steps(&target.items, |done, index| match (wanted[index].act, done.act) {
        (AccessKind::Overwrite | AccessKind::Reduce, AccessKind::Swap)
        | (
            AccessKind::Swap | AccessKind::Overwrite | AccessKind::Reduce,
            AccessKind::CompareExchange(_),
        ) => wanted[index].act,
        (_, act) => act,
    });
    let byte = wanted.iter().any(|access| access.bytes == 1);
    let machine = target.machine.as_ref();
    let code = machine.and_then(|code| code.clone().matched(&target_steps));
    Ok(PreparedRow::NeedsEngine(Box::new(RowQuestion {
        question: Question {
            language: PTX,
            source: source_steps,
            target: target_steps,
            width: if byte { Width::Byte } else { Width::Word },
            reach: PartnerScope { within, alone: false },
            machine: machine.map(|code| MachineTarget::new(target.arch.sm, shared, code.waits)),
        },
        code,
        notes,
        clusters: family.has_clusters(),
        part_of_word: part_of_word && !assumptions.cas_only,
        unordered: false,
    })))
}

/// A scalar that other threads may access at the same time is one access: 8.4.
fn is_strong_scalar(access: &TargetAccess) -> bool {
    access.order >= AccessOrder::Relaxed && access.op.is_none() && access.ty.bytes() == access.bytes
}

/// Checks that a strong scalar is not accessed in pieces or as a vector, whose elements are separate accesses.
fn whole(source: &TargetAccess, done: &[&TargetAccess], machine: bool) -> RowResult<()> {
    if !is_strong_scalar(source) {
        return Ok(());
    }
    let alike = |part: &&TargetAccess| part.act == source.act && part.bytes < source.bytes;
    let pieces = done.len() > 1
        && done.iter().all(alike)
        && done.iter().map(|part| part.bytes).sum::<u32>() == source.bytes;
    // Machine code has one access for a vector and for a scalar of its size.
    let vector = |part: &&&TargetAccess| {
        !machine && part.op.is_none() && part.bytes == source.bytes && part.ty.bytes() < part.bytes
    };
    let Some(part) = done.iter().find(|part| pieces || vector(part)) else { return Ok(()) };
    let why = cited::parts(&format!("`{}` is one access", source.text), &part.text);
    let context = "[ROW] || a strong access of the whole, anywhere".to_owned();
    let finding = Finding::new(Verdict::Weaker, why);
    Err(Box::new(Finding { context: Some(context), ..finding }))
}

/// Adjacent accesses with the same name are the pieces of a vector, whose elements are unordered.
fn merged(items: Vec<TargetItem>, source: &TargetAccess) -> Vec<TargetItem> {
    let mut merged: Vec<TargetItem> = Vec::new();
    for item in items {
        let last = merged.iter_mut().rev().find_map(|item| match item {
            TargetItem::Access(done) => Some(done),
            TargetItem::Step(_) | TargetItem::Label(_) | TargetItem::Branch { .. } => None,
        });
        if let (TargetItem::Access(done), Some(last)) = (&item, last)
            && last.act == done.act
            && done.op.is_none()
            && last.order == done.order
            && last.bytes + done.bytes <= source.bytes
        {
            last.bytes += done.bytes;
            continue;
        }
        merged.push(item);
    }
    merged
}

fn is_private(space: SpaceQualifier) -> bool {
    matches!(space, SpaceQualifier::Const | SpaceQualifier::Local) || space.is_param()
}

/// Memory of one thread, or memory that no thread writes: only values matter.
fn private(
    wanted: &[&TargetAccess],
    done: &[&TargetAccess],
    machine: bool,
) -> RowResult<PreparedRow> {
    for (source, target) in wanted.iter().zip(done) {
        let folded = machine && is_private(target.space);
        if !folded && source.space != target.space || source.bytes != target.bytes {
            let why = format!("`{}` became `{}`", source.text, target.text);
            return Err(found(Verdict::WrongValue, why));
        }
    }
    let mut finding =
        Finding::new(Verdict::Preserved, "no other thread can see or write this memory");
    if done.is_empty() {
        finding.notes.push("SASS has the value in a register, or as an operand".to_owned());
    }
    Ok(PreparedRow::Found(Box::new(finding)))
}

/// A load that requires memory that no thread writes. The source must load such memory too.
fn read_only_load(wanted: &[&TargetAccess], access: &TargetAccess) -> RowResult<PreparedRow> {
    if wanted.iter().all(|access| access.read_only) {
        let mut finding = Finding::new(
            Verdict::Preserved,
            "the source loads memory that is never written, so any load of it is correct",
        );
        finding.notes.push(cited::promised("this memory"));
        return Ok(PreparedRow::Found(Box::new(finding)));
    }
    Err(found(Verdict::Outside, cited::unpromised(&access.text)))
}

/// Compares addresses and operands, where the target shows them. If it uses a name of the source, it kept all of
/// them.
fn operands(wanted: &[&TargetAccess], done: &[&TargetAccess]) -> RowResult<()> {
    let shown = |access: &&&TargetAccess| !access.base.is_empty();
    let first = done.iter().find(shown);
    let elsewhere = first.and_then(|first| {
        let mut others = done.iter().filter(shown);
        others.find(|other| (&other.base, other.offset) != (&first.base, first.offset))
    });
    if let (Some(first), Some(other)) = (first, elsewhere) {
        let why = format!("`{}` is at another address than `{}`", other.text, first.text);
        return Err(found(Verdict::WrongValue, why));
    }
    let names = |all: &[&TargetAccess]| -> BTreeSet<String> {
        let used =
            all.iter().flat_map(|access| [&access.base].into_iter().chain(&access.operands.values));
        used.filter(|name| name.contains(char::is_alphabetic)).cloned().collect()
    };
    let kept = !names(wanted).is_disjoint(&names(done));
    let moved = |(from, to): &(&&TargetAccess, &&TargetAccess)| {
        kept && !to.base.is_empty() && (&from.base, from.offset) != (&to.base, to.offset)
    };
    if let Some((from, to)) = wanted.iter().zip(done).find(moved) {
        let why = format!("another address: `{}` became `{}`", from.text, to.text);
        return Err(found(Verdict::WrongValue, why));
    }
    let pairs = wanted.iter().zip(done).filter(|(_, to)| to.looped.is_none());
    let pairs: Vec<OperandPair<'_>> = pairs
        .map(|(from, to)| OperandPair {
            source: &from.operands,
            target: &to.operands,
            text: &to.text,
            bits: 8 * from.bytes,
            negated: false,
        })
        .collect();
    match operand::difference(&pairs, kept) {
        Some(why) => Err(found(Verdict::WrongValue, why)),
        None => Ok(()),
    }
}

/// Whether a part of a word is exchanged, or the difference between the accesses.
fn compare(
    source: &TargetAccess,
    target: &TargetAccess,
    notes: &mut Vec<String>,
) -> RowResult<bool> {
    use SpaceQualifier as Q;
    let differ = |what: &str| {
        let why = format!("{what}: `{}` became `{}`", source.text, target.text);
        Err(found(Verdict::WrongValue, why))
    };
    let space = match source.space {
        Q::Generic => matches!(target.space, Q::Generic | Q::Global),
        Q::Global => matches!(target.space, Q::Generic | Q::Global),
        Q::Shared | Q::SharedCta => target.space.is_shared(),
        Q::SharedCluster => target.space.is_shared() || target.space == Q::Generic,
        Q::Const | Q::Local | Q::Param | Q::ParamEntry | Q::ParamFunc | Q::Tensor => false,
    };
    if !space {
        return differ("another state space");
    }
    let looped = target.looped.is_some();
    let part = looped && source.bytes < target.bytes && target.bytes == 4;
    if source.bytes != target.bytes && !part {
        return differ("another width");
    }
    if looped {
        notes.push(
            "the row does not show what the loop computes: it is assumed to be the source's operation"
                .to_owned(),
        );
    }
    let same = match (source.act, target.act) {
        (AccessKind::Load, AccessKind::Load)
        | (AccessKind::Store, AccessKind::Store)
        | (AccessKind::CompareExchange(_), AccessKind::CompareExchange(_)) => true,
        (
            AccessKind::Swap | AccessKind::Overwrite | AccessKind::Reduce,
            AccessKind::CompareExchange(_),
        ) => looped,
        (AccessKind::Swap, AccessKind::Swap)
        | (
            AccessKind::Overwrite | AccessKind::Reduce,
            AccessKind::Swap | AccessKind::Overwrite | AccessKind::Reduce,
        ) => source.op == target.op,
        _ => false,
    };
    if !same {
        return differ("another operation");
    }
    let float =
        |kind: TypeKind| !matches!(kind, TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits);
    let (from, to) = (source.ty.kind, target.ty.kind);
    let compares = matches!(source.op, Some(AtomicOp::Min | AtomicOp::Max));
    let sums = source.op == Some(AtomicOp::Add);
    if !looped && compares && (from == TypeKind::Signed) != (to == TypeKind::Signed) {
        return differ("another sign");
    }
    if !looped && sums && float(from) != float(to) {
        return differ("a sum of another type");
    }
    let narrow =
        source.act == AccessKind::Load && source.bytes == source.ty.bytes() && source.bytes < 4;
    if narrow && (from == TypeKind::Signed) != (to == TypeKind::Signed) {
        return differ("another sign");
    }
    Ok(part)
}
