//! Operands of asynchronous instructions that may be wrong: parities, counts, bytes, numbers of groups, objects.

use std::collections::BTreeSet;

use litmus::revise::{NumberOf, Revision, SourceTest};
use model::isa::asynchronous::{
    AsyncStore, Asynchronous, AwaitedPhase, Copy, GroupCompletion, Mbarrier, MbarrierOp,
    RESPONSE_BYTES, Track, WaitGroup,
};
use model::isa::tensor_memory::TensorOp;
use model::isa::{Address, Operand, Reg, SpaceQualifier};
use model::memory::{Extent, MBARRIER_BYTES, VariableId};
use model::scope::Scope;

use crate::copies::EqualThreads;
use crate::edit::{self, EditCost, EditKind, ProgramEdit};
use crate::given::other_beginnings;
use crate::known::KnownValues;
use crate::place::{CellPlace, InsertionPoint, guards_beside, lines_of, points};
use crate::site::{all_asynchronous, asynchronous};

/// The most groups of which fewer are tried to stay in flight.
const MOST_GROUPS: u64 = 16;

/// The most objects of a test of which an arrival or a wait is tried on another one.
const MOST_OBJECTS: usize = 8;

/// Each other operand that an instruction may have.
pub(crate) fn changed_operands(
    source: &SourceTest,
    known: &KnownValues,
    place: CellPlace,
    of: &Asynchronous,
) -> Vec<ProgramEdit> {
    let mut all = other_parity(source, place, of);
    all.extend(more_groups(source, place, of));
    all.extend(other_number(source, place, of));
    all.extend(expectation(source, place, of));
    all.extend(counted_once(source, place, of));
    all.extend(other_object(source, known, place, of));
    all.extend(remote_arrival(source, place, of));
    all
}

/// The mbarrier objects that the test declares, elements of arrays among them.
pub(crate) fn objects(source: &SourceTest) -> Vec<Address> {
    let declared = (0..).map(VariableId).zip(&source.test.declarations.variables);
    let elements = declared.filter(|(_, declared)| declared.mbarrier).flat_map(|(id, declared)| {
        let count = i64::from(declared.count.unwrap_or(1));
        (0..count).map(move |at| Address {
            base: Operand::Address(id),
            offset: at * i64::from(MBARRIER_BYTES),
        })
    });
    elements.collect()
}

/// The objects that a thread can name: those that the test declares, and the addresses at which the thread uses one.
pub(crate) fn objects_of(source: &SourceTest, thread: usize) -> Vec<Address> {
    let mut all = objects(source);
    for of in all_asynchronous(source, thread) {
        if let Asynchronous::Mbarrier(of) = of
            && !all.contains(&of.object)
        {
            all.push(of.object);
        }
    }
    all
}

/// Another asynchronous instruction in the place of one.
pub(crate) fn other(
    source: &SourceTest,
    place: CellPlace,
    of: Asynchronous,
    kind: EditKind,
    cost: EditCost,
) -> Option<ProgramEdit> {
    let after = edit::text_of(source, place.thread, of)?;
    let text = in_own_words(source, place, &after).unwrap_or(after);
    Some(edit::replacement(source, place, text, kind, cost))
}

/// The instruction of a cell with the operands of another one, if nothing else changes: with the qualifiers and the hints
/// that the file has, which may be defaults.
fn in_own_words(source: &SourceTest, place: CellPlace, after: &str) -> Option<String> {
    let CellPlace { thread, cell } = place;
    let [line] = lines_of(source, thread, cell) else { return None };
    let before = edit::print_in(source, thread, &line.instruction)?;
    let of = &source.cells[thread][cell];
    let (name, operands) = after.split_once(' ')?;
    let (known, own) = before.split_once(' ')?;
    let mut written: Vec<String> = split(of.instruction().strip_prefix(&of.name)?);
    let (operands, own) = (split(operands), split(own));
    let same = name == known && operands.len() == own.len() && own.len() <= written.len();
    for (written, (now, own)) in written.iter_mut().zip(operands.iter().zip(&own)) {
        if now != own {
            written.clone_from(now);
        }
    }
    same.then(|| format!("{} {}", of.name, written.join(", ")))
}

/// Operands between commas, of which those in brackets and braces count not.
fn split(operands: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut depth = 0_usize;
    for c in operands.chars() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match all.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => all.push(String::new()),
        }
    }
    all.iter().map(|operand| operand.trim().to_owned()).collect()
}

/// Another operation on the same mbarrier object.
fn other_op(
    source: &SourceTest,
    place: CellPlace,
    of: &Mbarrier,
    op: MbarrierOp,
    kind: EditKind,
    cost: EditCost,
) -> Option<ProgramEdit> {
    other(source, place, Asynchronous::Mbarrier(Mbarrier { op, ..of.clone() }), kind, cost)
}

/// An arrival or a wait on another object.
fn other_object(
    source: &SourceTest,
    known: &KnownValues,
    place: CellPlace,
    instruction: &Asynchronous,
) -> Vec<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return Vec::new() };
    let meets = matches!(of.op, MbarrierOp::Arrive { .. } | MbarrierOp::Wait { .. });
    let objects = objects_of(source, place.thread);
    if !meets || objects.len() > MOST_OBJECTS {
        return Vec::new();
    }
    let is_register = |object: &Address| matches!(object.base, Operand::Reg(_));
    let line = source.cells[place.thread][place.cell].lines.start;
    let own = known.object(place.thread, line, of);
    // An address in a register may be another one in each round.
    let others = objects.into_iter().filter(|object| {
        *object != of.object
            && (is_register(object)
                || !is_register(&of.object)
                || own.is_some() && known.declared(place.thread, *object) != own)
    });
    let with = |object: Address| {
        // The name of an object is no generic address.
        let named = !is_register(&object) && of.space == SpaceQualifier::Generic;
        let space = if named { SpaceQualifier::SharedCta } else { of.space };
        let of = Asynchronous::Mbarrier(Mbarrier { object, space, ..of.clone() });
        other(source, place, of, EditKind::Object, edit::NUMBER)
    };
    others.filter_map(with).collect()
}

/// An arrival at an object of another CTA of the cluster.
fn remote_arrival(
    source: &SourceTest,
    place: CellPlace,
    instruction: &Asynchronous,
) -> Option<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return None };
    let MbarrierOp::Arrive { state: None, .. } = of.op else { return None };
    let own = matches!(of.space, SpaceQualifier::Shared | SpaceQualifier::SharedCta);
    if !own || !matches!(of.object.base, Operand::Reg(_)) {
        return None;
    }
    let space = SpaceQualifier::SharedCluster;
    let of = Mbarrier { space, scope: Scope::Cluster, ..of.clone() };
    other(source, place, Asynchronous::Mbarrier(of), EditKind::StateSpace, edit::STATE_SPACE)
}

/// A wait for the phases of the other parity.
fn other_parity(
    source: &SourceTest,
    place: CellPlace,
    instruction: &Asynchronous,
) -> Vec<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return Vec::new() };
    let MbarrierOp::Wait { phase: AwaitedPhase::Parity(parity), tries, done } = of.op else {
        return Vec::new();
    };
    let with = |parity: u64| {
        let phase = AwaitedPhase::Parity(Operand::Imm(parity));
        let op = MbarrierOp::Wait { phase, tries, done };
        other_op(source, place, of, op, EditKind::Parity, edit::PARITY)
    };
    if let Operand::Imm(parity) = parity {
        return with(parity ^ 1).into_iter().collect();
    }
    let Operand::Reg(register) = parity else { return Vec::new() };
    let mut all: Vec<ProgramEdit> = (0..2).filter_map(with).collect();
    all.extend(inverse(source, place, with(UNUSUAL), register));
    all
}

/// A number that stands for a register.
const UNUSUAL: u64 = 987_654_321;

/// A wait for the inverse of a parity in a register; `constant` is the same wait for a number that no test has.
fn inverse(
    source: &SourceTest,
    place: CellPlace,
    constant: Option<ProgramEdit>,
    parity: Reg,
) -> Option<ProgramEdit> {
    let CellPlace { thread, cell } = place;
    let flipped = edit::free_register(source, thread, "flipped")?;
    let parity = edit::operand(source, thread, Operand::Reg(parity));
    let [Revision::Replace { text, .. }] = &constant?.revisions[..] else { return None };
    let text = text.replacen(&UNUSUAL.to_string(), &flipped, 1);
    let point =
        InsertionPoint { thread, cell, labelled: !source.cells[thread][cell].labels.is_empty() };
    let computed = format!("xor.b32 {flipped}, {parity}, 1");
    let (kind, cost) = (EditKind::Parity, edit::INVERSE_PARITY);
    let mut all = edit::insertion(source, &[point], &computed, kind, cost);
    let replaced = edit::replacement(source, place, text, kind, cost);
    all.lines.extend(replaced.lines);
    all.revisions.extend(replaced.revisions);
    Some(all)
}

/// The registers of a thread that hold parities with which it waits.
fn parities(source: &SourceTest, thread: usize) -> BTreeSet<Reg> {
    let parities = all_asynchronous(source, thread).filter_map(|of| {
        let Asynchronous::Mbarrier(of) = of else { return None };
        let MbarrierOp::Wait { phase: AwaitedPhase::Parity(Operand::Reg(register)), .. } = of.op
        else {
            return None;
        };
        Some(register)
    });
    parities.collect()
}

/// The other number where a register of a parity or a count begins.
pub(crate) fn beginnings(
    source: &SourceTest,
    copies: &EqualThreads,
    thread: usize,
) -> Vec<ProgramEdit> {
    let of_parity = (EditKind::Parity, edit::PARITY);
    let other = |now: u64| if now < 2 { vec![now ^ 1] } else { Vec::new() };
    let mut all = Vec::new();
    for register in parities(source, thread) {
        all.extend(other_beginnings(source, copies, thread, register, of_parity, &other));
    }
    for of in all_asynchronous(source, thread) {
        let Asynchronous::Mbarrier(of) = of else { continue };
        let MbarrierOp::Init { count: Operand::Reg(register), .. } = of.op else { continue };
        let of_count = (EditKind::Count, edit::NUMBER);
        let others = |now: u64| counts(source, of.object, now);
        all.extend(other_beginnings(source, copies, thread, register, of_count, &others));
    }
    all
}

/// A register of a parity that is flipped at a place of a loop.
pub(crate) fn flips(source: &SourceTest, thread: usize) -> Vec<ProgramEdit> {
    let parities = parities(source, thread).into_iter();
    let parities: BTreeSet<String> =
        parities.map(|register| edit::operand(source, thread, Operand::Reg(register))).collect();
    let mut all = Vec::new();
    for parity in parities {
        let text = format!("xor.b32 {parity}, {parity}, 1");
        // A round ends with it.
        for point in points(source, thread).into_iter().rev() {
            if point.depth(source) > 0 && !point.is_in_wait(source) && !point.is_skipped(source) {
                let (kind, cost) = (EditKind::Parity, edit::INVERSE_PARITY);
                all.push(edit::insertion(source, &[point], &text, kind, cost));
            }
        }
    }
    all
}

/// An arrival that expects the bytes of a copy, right before it.
pub(crate) fn expecting_arrivals(source: &SourceTest, thread: usize) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    for cell in 0..source.cells[thread].len() {
        let copies = asynchronous(source, thread, cell).filter_map(|of| {
            let Asynchronous::Copy(copy) = of else { return None };
            Some((copy.mbarrier?, completed(of)?))
        });
        for (object, bytes) in copies {
            let labelled = !source.cells[thread][cell].labels.is_empty();
            let point = InsertionPoint { thread, cell, labelled };
            let guard = source.cells[thread][cell].guard();
            let object = edit::address(source, thread, object);
            let text =
                format!("{guard}mbarrier.arrive.expect_tx.shared::cta.b64 _, {object}, {bytes}");
            all.push(edit::insertion(source, &[point], &text, EditKind::Arrival, edit::ARRIVAL));
        }
    }
    all
}

/// An arrival on an object of the test, at each place. A thread that waits for the object leaves the arrival to others.
pub(crate) fn arrivals(
    source: &SourceTest,
    known: &KnownValues,
    thread: usize,
) -> Vec<ProgramEdit> {
    let lines = source.test.program.threads[thread].lines.iter().enumerate();
    let waits = lines.filter_map(|(line, of)| {
        let Asynchronous::Mbarrier(of) = of.instruction.as_asynchronous()? else { return None };
        matches!(of.op, MbarrierOp::Wait { .. }).then_some((line, of))
    });
    let waits: Vec<(Address, Option<Extent>)> =
        waits.map(|(line, of)| (of.object, known.object(thread, line, of))).collect();
    let mut all = Vec::new();
    // An address in a register that is not known may be that of any object.
    let is_unknown = |(object, bytes): &(Address, Option<Extent>)| {
        bytes.is_none() && matches!(object.base, Operand::Reg(_))
    };
    if waits.iter().any(is_unknown) {
        return all;
    }
    let awaits = |object: Address| {
        let declared = known.declared(thread, object);
        let same = |bytes: Option<Extent>| declared.is_some() && declared == bytes;
        waits.iter().any(|(waited, bytes)| *waited == object || same(*bytes))
    };
    for object in objects_of(source, thread) {
        if awaits(object) {
            continue;
        }
        let object = edit::address(source, thread, object);
        for point in points(source, thread) {
            if !point.is_in_wait(source) {
                let (kind, cost) = (EditKind::Arrival, edit::ARRIVAL);
                // One thread of several arrives, where what it does beside it is under a guard.
                for guard in guards_beside(source, point).into_iter().chain([String::new()]) {
                    let text = format!("{guard}mbarrier.arrive.shared::cta.b64 _, {object}");
                    all.push(edit::insertion(source, &[point], &text, kind, cost));
                }
            }
        }
    }
    all
}

/// Waits for more groups, or also for what they write.
fn more_groups(
    source: &SourceTest,
    place: CellPlace,
    instruction: &Asynchronous,
) -> Vec<ProgramEdit> {
    let Asynchronous::WaitGroup(wait) = *instruction else { return Vec::new() };
    let fewer = (0..wait.pending.min(MOST_GROUPS)).rev();
    let fewer = fewer.map(|pending| WaitGroup { pending, ..wait });
    let complete = WaitGroup { until: GroupCompletion::Complete, ..wait };
    let complete = Some(complete).filter(|complete| *complete != wait);
    let all = fewer.chain(complete).map(Asynchronous::WaitGroup);
    let (kind, cost) = (EditKind::GroupWait, edit::GROUP_WAIT);
    all.filter_map(|of| other(source, place, of, kind, cost)).collect()
}

/// The expected bytes of the copies of the test instead of others, alone or together; as many arrivals as the test has, or
/// one more or less.
fn other_number(
    source: &SourceTest,
    place: CellPlace,
    instruction: &Asynchronous,
) -> Vec<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return Vec::new() };
    // A copy of a tensor has as many as its map says.
    let bytes = |now: u64| {
        let near = [now / 2, now.saturating_mul(2)];
        let all: BTreeSet<u64> = copied(source).into_iter().chain(near).collect();
        all.into_iter().map(Operand::Imm)
    };
    let mut kind = EditKind::ExpectedBytes;
    let others: Vec<MbarrierOp> =
        if let MbarrierOp::Init { count: Operand::Imm(count), layout } = of.op {
            kind = EditKind::Count;
            let with = |count: u64| MbarrierOp::Init { count: Operand::Imm(count), layout };
            counts(source, of.object, count).into_iter().map(with).collect()
        } else if let MbarrierOp::ExpectTx { bytes: Operand::Imm(now) } = of.op {
            bytes(now).map(|bytes| MbarrierOp::ExpectTx { bytes }).collect()
        } else if let MbarrierOp::Arrive { expected: Some(Operand::Imm(now)), .. } = of.op {
            bytes(now).filter_map(|bytes| expecting(of, bytes)).collect()
        } else {
            return Vec::new();
        };
    let others = others.into_iter().filter(|op| *op != of.op);
    others.filter_map(|op| other_op(source, place, of, op, kind, edit::NUMBER)).collect()
}

/// How many arrivals an object may expect: those of the test on it, the threads that have one, and one more or less than now.
fn counts(source: &SourceTest, of: Address, now: u64) -> Vec<u64> {
    let threads = 0..source.test.program.threads.len();
    let on_it = |thread: usize| {
        let arrivals = all_asynchronous(source, thread).filter_map(|one| {
            let (object, count) = if let Asynchronous::Mbarrier(one) = one {
                let MbarrierOp::Arrive { count, .. } = one.op else { return None };
                (one.object, if let Operand::Imm(count) = count { count } else { 1 })
            } else if let Asynchronous::Track(Track { object, increments: false, .. })
            | Asynchronous::TensorMemory(TensorOp::Commit { object, .. }) = one
            {
                // What increments the count itself is not expected.
                (*object, 1)
            } else {
                return None;
            };
            // A register may hold its address.
            let same = object == of || !matches!(object.base, Operand::Address(_));
            same.then_some(count)
        });
        arrivals.fold(0, u64::saturating_add)
    };
    let arrivals: Vec<u64> = threads.map(on_it).collect();
    let with = arrivals.iter().filter(|count| **count > 0).count() as u64;
    let mut all =
        vec![arrivals.iter().sum(), with, now.saturating_sub(1), now.saturating_add(1), 1];
    all.retain(|&count| count > 0 && count != now);
    all.sort_unstable();
    all.dedup();
    all
}

/// Other counts of arrivals in the braces: of one object, and of all elements of an array that expect as many.
pub(crate) fn other_counts(source: &SourceTest) -> Vec<ProgramEdit> {
    let mut all = Vec::new();
    let (kind, cost) = (EditKind::Count, edit::NUMBER);
    for (index, of) in source.initial.iter().enumerate() {
        let NumberOf::Arrivals { object, element, .. } = &of.of else { continue };
        let variables = &source.test.program.variables;
        let variable = (0..).map(VariableId).zip(variables).find(|(_, of)| of.name == *object);
        let (Some((id, _)), Ok(element)) = (variable, i64::try_from(*element)) else { continue };
        let address =
            Address { base: Operand::Address(id), offset: element * i64::from(MBARRIER_BYTES) };
        let alike: Vec<usize> = (0..source.initial.len())
            .filter(|&other| {
                let other = &source.initial[other];
                let same = matches!(&other.of, NumberOf::Arrivals { object: known, .. } if known == object);
                same && other.number == of.number
            })
            .collect();
        for number in counts(source, address, of.number) {
            all.push(edit::initial(source, &[index], number, kind, cost));
            if alike.len() > 1 && alike[0] == index {
                let more = u32::try_from(alike.len() - 1).unwrap_or(u32::MAX);
                let cost = EditCost { weight: cost.weight.saturating_add(more), ..cost };
                all.push(edit::initial(source, &alike, number, kind, cost));
            }
        }
    }
    all
}

/// An arrival that also expects the bytes of a copy.
fn expectation(
    source: &SourceTest,
    place: CellPlace,
    instruction: &Asynchronous,
) -> Vec<ProgramEdit> {
    let Asynchronous::Mbarrier(of) = instruction else { return Vec::new() };
    let MbarrierOp::Arrive { expected: None, drops: false, count, completes: true, .. } = of.op
    else {
        return Vec::new();
    };
    let (kind, cost) = (EditKind::ExpectedBytes, edit::EXPECTATION);
    let with =
        |bytes: u64| other_op(source, place, of, expecting(of, Operand::Imm(bytes))?, kind, cost);
    let bytes = copied(source).into_iter().filter(|bytes| *bytes > 0 && count == Operand::Imm(1));
    bytes.filter_map(with).collect()
}

/// An arrival that expects bytes.
fn expecting(of: &Mbarrier, bytes: Operand) -> Option<MbarrierOp> {
    let mut op = of.op.clone();
    let MbarrierOp::Arrive { expected, .. } = &mut op else { return None };
    *expected = Some(bytes);
    Some(op)
}

/// `cp.async.mbarrier.arrive` with `.noinc` or without it.
fn counted_once(
    source: &SourceTest,
    place: CellPlace,
    instruction: &Asynchronous,
) -> Option<ProgramEdit> {
    let Asynchronous::Track(track) = instruction else { return None };
    let of = Asynchronous::Track(Track { increments: !track.increments, ..track.clone() });
    other(source, place, of, EditKind::Count, edit::NUMBER)
}

/// The bytes of each operation that completes on an mbarrier object, and of all of them.
fn copied(source: &SourceTest) -> Vec<u64> {
    let lines = source.test.program.threads.iter().flat_map(|thread| &thread.lines);
    let mut all: Vec<u64> =
        lines.filter_map(|line| completed(line.instruction.as_asynchronous()?)).collect();
    all.push(all.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)));
    all.sort_unstable();
    all.dedup();
    all
}

/// The bytes of an operation that completes on an mbarrier object.
fn completed(of: &Asynchronous) -> Option<u64> {
    if let Asynchronous::Copy(Copy {
        bytes: Some(Operand::Imm(bytes)), mbarrier: Some(_), ..
    }) = of
    {
        return Some(*bytes);
    }
    if let Asynchronous::Store(AsyncStore { ty, sources, mbarrier: Some(_), .. }) = of {
        return Some(u64::from(ty.bytes()) * sources.len() as u64);
    }
    matches!(of, Asynchronous::Cancel(_)).then_some(RESPONSE_BYTES.into())
}
