//! Pairs the accesses of source and target by their place (reading R71), compares their values, and forms the
//! remaining question.

use llvm::{MemoryOp, RmwOp};
use machine::form::Family;
use model::scope::Scope;

use super::cited;
use super::context::PartnerScope;
use super::inclusion::{MachineTarget, Question, widest};
use super::item::{TargetAccess, TargetItem, steps};
use super::language::CXX;
use super::llvm_items::{PointerSpace, SourceAccess, SourceThread};
use super::operand::{self, OperandPair};
use super::program::Width;
use super::row::{Assumptions, LoweredRow, RowResult, found, limited};
use super::row_question::{PreparedRow, RowQuestion};
use super::step::{AccessKind, AccessOrder, Step};
use super::value;
use super::verdict::{Finding, Verdict};

/// Pairs the accesses. The remaining question is one of order.
pub fn compared(
    source: &SourceThread,
    target: LoweredRow,
    assumptions: Assumptions,
) -> RowResult<PreparedRow> {
    let LoweredRow { mut items, arch, machine } = target;
    let mut notes = source.notes.clone();
    hand_out(source, &mut items, &mut notes);
    parameters(source, &mut items, &mut notes);
    pieces(source, &mut items, &mut notes);
    let done: Vec<&TargetAccess> = items
        .iter()
        .filter_map(|item| if let TargetItem::Access(done) = item { Some(&**done) } else { None })
        .collect();
    if let Some(space) =
        source.accesses.first().map(|access| access.space).filter(|s| s.is_private())
    {
        return private(source, &done, space, notes);
    }
    if done.len() != source.accesses.len() {
        return Err(Box::new(unmatched(source, &done)));
    }
    if let Some(other) = done.iter().find(|access| access.base != done[0].base) {
        let why = format!("`{}` is at another address than `{}`", other.text, done[0].text);
        return Err(Box::new(Finding::new(Verdict::WrongValue, why)));
    }
    limited(done.len())?;
    results(source, &done, &mut notes)?;
    let mut part_of_word = false;
    for (access, target) in source.accesses.iter().zip(&done) {
        let agreed = value::compare(access, target).map_err(|why| {
            let finding = Finding::new(Verdict::WrongValue, why);
            Box::new(Finding { notes: notes.clone(), ..finding })
        })?;
        part_of_word |= agreed.part_of_word;
        notes.extend(agreed.notes.into_iter().map(str::to_owned));
    }
    operands(source, &done, &notes)?;
    for (access, target) in source.accesses.iter().zip(&done) {
        single(access, target)?;
        if target.read_only {
            read_only(access, target, &mut notes)?;
        }
    }
    let target = target_steps(source, &items);
    let code = machine.clone().and_then(|code| code.matched(&target));
    let clusters = Family::of_or_before(arch.sm).has_clusters();
    let shared = source.accesses.iter().any(|access| access.space == PointerSpace::Shared);
    let reached = if clusters { Scope::Cluster } else { Scope::Cta };
    let within = if source.alone { Scope::Sys } else { widest(&source.steps) };
    let within = if shared { within.min(reached) } else { within };
    let orders = |wanted: AccessOrder| {
        source.steps.iter().any(|s| matches!(s, Step::Access { order, .. } if *order == wanted))
    };
    let unordered = orders(AccessOrder::Unordered);
    let width = if source.accesses.iter().any(|access| access.bytes == 1) {
        Width::Byte
    } else {
        Width::Word
    };
    Ok(PreparedRow::NeedsEngine(Box::new(RowQuestion {
        question: Question {
            language: CXX,
            source: source.steps.clone(),
            target,
            width,
            reach: PartnerScope { within, alone: source.alone },
            machine: machine.as_ref().map(|code| MachineTarget::new(arch.sm, shared, code.waits)),
        },
        code,
        notes,
        clusters,
        part_of_word: part_of_word && !assumptions.cas_only,
        unordered,
    })))
}

/// Compares what the accesses write and expect.
fn operands(source: &SourceThread, done: &[&TargetAccess], notes: &[String]) -> RowResult<()> {
    let operands = source.operands.iter().zip(source.accesses.iter().zip(done));
    let operands = operands.filter(|(_, (_, target))| target.looped.is_none());
    let operands: Vec<OperandPair<'_>> = operands
        .map(|(operands, (access, target))| OperandPair {
            source: operands,
            target: &target.operands,
            text: &target.text,
            bits: 8 * access.bytes,
            negated: matches!(access.kind, MemoryOp::Rmw(RmwOp::Sub)),
        })
        .collect();
    if let Some(why) = operand::difference(&operands, false) {
        let finding = Finding::new(Verdict::WrongValue, why);
        return Err(Box::new(Finding { notes: notes.to_vec(), ..finding }));
    }
    Ok(())
}

/// Checks that what the source has a name for is returned, and notes what is assumed of atomics.
fn results(
    source: &SourceThread,
    done: &[&TargetAccess],
    notes: &mut Vec<String>,
) -> RowResult<()> {
    for (access, target) in source.accesses.iter().zip(done) {
        if access.result && matches!(target.act, AccessKind::Overwrite | AccessKind::Reduce) {
            let why =
                format!("`{}` returns no value, and the source has a name for it", target.text);
            return Err(found(Verdict::WrongValue, why));
        }
    }
    let generic = |(access, target): (&SourceAccess, &&TargetAccess)| {
        matches!(access.kind, MemoryOp::Rmw(_) | MemoryOp::CmpXchg { .. })
            && access.space == PointerSpace::Generic
            && !access.argument
            && target.op.is_some()
    };
    if source.accesses.iter().zip(done).any(generic) {
        notes.push(llvm::NOT_LOCAL.to_owned());
    }
    Ok(())
}

/// The target's steps, of the kinds of the source's accesses.
fn target_steps(source: &SourceThread, items: &[TargetItem]) -> Vec<Step> {
    steps(items, |done, index| match (source.accesses[index].kind, done.act) {
        (MemoryOp::Rmw(_), AccessKind::CompareExchange(_)) if source.accesses[index].result => {
            AccessKind::Swap
        }
        (MemoryOp::Rmw(_), AccessKind::CompareExchange(_) | AccessKind::Swap)
            if !source.accesses[index].result =>
        {
            AccessKind::Overwrite
        }
        (MemoryOp::Store, _) if done.act != AccessKind::Store => AccessKind::Overwrite,
        (MemoryOp::Load, AccessKind::CompareExchange(_)) => AccessKind::Probe,
        (_, act) => act,
    })
}

/// Removes a store of the loaded value to another address: it is the kernel's use of the value.
fn hand_out(source: &SourceThread, items: &mut Vec<TargetItem>, notes: &mut Vec<String>) {
    if !source.accesses.iter().any(|access| access.argument) {
        return;
    }
    let defined: Vec<(String, String)> = items
        .iter()
        .filter_map(|item| match item {
            TargetItem::Access(done) => Some((done.operands.defines.clone(), done.base.clone())),
            TargetItem::Step(_) | TargetItem::Label(_) | TargetItem::Branch { .. } => None,
        })
        .collect();
    let hands_out = |item: &TargetItem| match item {
        TargetItem::Access(done) => {
            done.act == AccessKind::Store
                && done.order == AccessOrder::Weak
                && defined.iter().any(|(value, base)| {
                    done.operands.values == [value.as_str()] && *base != done.base
                })
        }
        TargetItem::Step(_) | TargetItem::Label(_) | TargetItem::Branch { .. } => false,
    };
    let before = items.len();
    items.retain(|item| !hands_out(item));
    if items.len() != before {
        notes.push(
            "a store of the loaded value to another address is assumed to be the kernel's use of it".to_owned(),
        );
    }
}

/// Parameters and results of the function around the row are not accesses of the row.
fn parameters(source: &SourceThread, items: &mut Vec<TargetItem>, notes: &mut Vec<String>) {
    if source.accesses.iter().any(|access| access.space == PointerSpace::Param) {
        return;
    }
    let before = items.len();
    items.retain(|item| !matches!(item, TargetItem::Access(done) if done.space.is_param()));
    if items.len() != before {
        notes.push("parameters and results of the function are ignored".to_owned());
    }
}

/// A plain access may be split into pieces, like an access with a smaller alignment.
fn pieces(source: &SourceThread, items: &mut Vec<TargetItem>, notes: &mut Vec<String>) {
    let [access] = &source.accesses[..] else { return };
    let parts: Vec<&TargetAccess> = items
        .iter()
        .filter_map(|item| if let TargetItem::Access(done) = item { Some(&**done) } else { None })
        .collect();
    let [first, _, ..] = parts[..] else { return };
    let mut whole = first.clone();
    let alike = |part: &&TargetAccess| {
        (part.act, part.order, &part.base, part.space, part.op, part.read_only)
            == (first.act, AccessOrder::Weak, &first.base, first.space, None, first.read_only)
    };
    let mut ranges: Vec<(i64, u32)> = parts.iter().map(|part| (part.offset, part.bytes)).collect();
    ranges.sort_unstable();
    let mut end = 0;
    let tiles = ranges.iter().all(|&(offset, bytes)| {
        let next = offset == end;
        end += i64::from(bytes);
        next
    });
    let plain = !access.volatile
        && !access.atomic
        && matches!(access.kind, MemoryOp::Load | MemoryOp::Store);
    if !(plain && tiles && end == i64::from(access.bytes) && parts.iter().all(alike)) {
        return;
    }
    (whole.bytes, whole.offset) = (access.bytes, 0);
    let at = items
        .iter()
        .position(|item| matches!(item, TargetItem::Access(_)))
        .expect("there are some");
    items.retain(|item| !matches!(item, TargetItem::Access(_)));
    items.insert(at.min(items.len()), TargetItem::Access(Box::new(whole)));
    notes.push(
        "a plain access in pieces, which only a race could distinguish from one access".to_owned(),
    );
}

/// An atomic scalar is one access. The elements of a vector are separate accesses.
fn single(access: &SourceAccess, target: &TargetAccess) -> RowResult<()> {
    let vector = target.op.is_none() && target.ty.bytes() < target.bytes;
    if !(access.atomic && access.ty.lanes.is_none() && vector) {
        return Ok(());
    }
    let why = cited::parts(&format!("{} is atomic", access.ty), &target.text);
    let context = "[ROW] || an atomic access of the whole, anywhere".to_owned();
    let finding = Finding::new(Verdict::Weaker, why);
    Err(Box::new(Finding { context: Some(context), ..finding }))
}

/// The finding for different numbers of accesses. For volatile accesses it is a finding on progress: reading
/// R75.
pub fn unmatched(source: &SourceThread, done: &[&TargetAccess]) -> Finding {
    let (wanted, found) = (source.accesses.len(), done.len());
    let volatile = source.accesses.iter().any(|access| access.volatile);
    if volatile {
        let why = format!("progress: {wanted} accesses, some volatile, became {found}");
        return Finding::new(Verdict::Weaker, why);
    }
    if found == 0 {
        return Finding::new(Verdict::WrongValue, "the access is missing in the target");
    }
    if wanted == 0 {
        let why = format!("`{}` has no counterpart in the source", done[0].text);
        return Finding::new(Verdict::WrongValue, why);
    }
    Finding::new(
        Verdict::Unsupported,
        format!("{wanted} accesses became {found}, and none can be matched"),
    )
}

/// Memory of one thread, or memory that no thread writes: only values matter.
fn private(
    source: &SourceThread,
    done: &[&TargetAccess],
    space: PointerSpace,
    mut notes: Vec<String>,
) -> RowResult<PreparedRow> {
    if done.is_empty() {
        return Err(Box::new(Finding::new(
            Verdict::WrongValue,
            "the access is missing in the target",
        )));
    }
    let access = &source.accesses[0];
    for target in done {
        value::space(access, target)
            .map_err(|why| Box::new(Finding::new(Verdict::WrongValue, why)))?;
        if target.bytes != access.bytes {
            let why = format!(
                "{} has {} bytes, but `{}` accesses {}",
                access.ty, access.bytes, target.text, target.bytes
            );
            return Err(Box::new(Finding::new(Verdict::WrongValue, why)));
        }
    }
    if source.accesses.iter().any(|access| access.volatile || access.atomic) {
        notes.push(
            "order and number of accesses are not compared where no other thread can observe them (reading R105)"
                .to_owned(),
        );
    }
    let why = match space {
        PointerSpace::Local => "local memory: no other thread can observe it",
        PointerSpace::Const | PointerSpace::Param => "this memory is never written",
        PointerSpace::Generic
        | PointerSpace::Global
        | PointerSpace::Shared
        | PointerSpace::SharedCluster => "",
    };
    let finding = Finding { notes, ..Finding::new(Verdict::Preserved, why) };
    Ok(PreparedRow::Found(Box::new(finding)))
}

/// A load of memory that no thread writes, as the lowering of this source access.
fn read_only(
    access: &SourceAccess,
    target: &TargetAccess,
    notes: &mut Vec<String>,
) -> RowResult<()> {
    if access.volatile || access.atomic {
        let contrary = if access.read_only {
            "; this contradicts its promise that the memory is not written"
        } else {
            ""
        };
        let why = format!(
            "`{}` may return any stale value, but the source is volatile or atomic: other threads write what it reads{contrary}",
            target.text
        );
        let context = "[ROW] || st.relaxed.sys y, 1, anywhere".to_owned();
        let finding = Finding::new(Verdict::Weaker, why);
        return Err(Box::new(Finding { context: Some(context), ..finding }));
    }
    if access.read_only {
        notes.push(cited::promised("this memory"));
        return Ok(());
    }
    Err(Box::new(Finding::new(Verdict::Outside, cited::unpromised(&target.text))))
}
