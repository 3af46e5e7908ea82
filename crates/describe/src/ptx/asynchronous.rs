//! Describes asynchronous operations, operations on mbarrier objects, and what waits for them.

use std::collections::BTreeSet;

use ::ptx::production_check;
use ::ptx::version::Target;
use model::isa::Operand;
use model::isa::asynchronous::{
    AsyncStore, Asynchronous, AwaitedPhase, Copy, Fill, GridControl, GroupCompletion, GroupKind,
    Mbarrier, MbarrierLayout, MbarrierOp, TensormapWrite, Track, WaitGroup,
};
use model::section::{self, Section};
use sass::lowering::{self, asynchronous::operands_of};

use super::cancel;
use super::memory::place;
use super::modifiers::{self, ExplainedModifiers};
use super::multimem;
use super::tensor_memory;
use super::words::{element, operation, said, strength, threads};
use super::{CitedText, InstructionMeaning, MinimumVersion, PtxExplanation, lowered};

/// Explains an asynchronous operation that was read from an instruction with these parts and operands; `page` is the
/// section of the instruction. `None` where no production has it, and of fences, which have an explanation of their own.
pub fn account(
    of: &Asynchronous,
    parts: &[&str],
    operands: &str,
    page: Section,
    predicated: bool,
) -> Option<PtxExplanation> {
    let numbers = production_check::with_numbers(parts, operands);
    let all = production_check::operands(operands).into_iter().map(str::trim);
    // Of a number in inline assembly only the name is known.
    let names = all.zip(production_check::operands(&numbers)).enumerate();
    let open = names.filter(|(_, (name, number))| *name != number.trim());
    let open: Vec<(usize, &str)> = open.map(|(at, (name, _))| (at, name)).collect();
    let meaning = match (of, &open[..]) {
        (Asynchronous::WaitGroup(wait), [(0, name)]) => {
            Words { page }.wait_group(*wait, Some(name))
        }
        // The third operand of `cp.async` is its size.
        (Asynchronous::Copy(copy), [(2, _), ..]) => {
            Words { page }.copy(&Copy { bytes: None, ..copy.clone() })
        }
        _ => meaning(of, page)?,
    };
    explained(meaning, parts, operands, &operands_of(of), page, predicated)
}

/// An explanation of an instruction that a production has; `tags` tell apart what tables of SASS have by its operands.
pub(super) fn explained(
    mut meaning: InstructionMeaning,
    parts: &[&str],
    operands: &str,
    tags: &[&str],
    page: Section,
    predicated: bool,
) -> Option<PtxExplanation> {
    if predicated {
        let text = "in threads where the guard is false, none of these";
        meaning.events.push(said(section::PREDICATED_EXECUTION, text));
    }
    let measured: BTreeSet<u16> =
        lowering::families().iter().flat_map(|family| &family.table.targets).copied().collect();
    // Some instructions are of `sm_90a` and not of `sm_90`.
    let mut targets: Vec<Target> = ptx::targets()
        .filter(|of| measured.contains(&of.sm) && matches!(of.variant, None | Some('a')))
        .collect();
    targets.sort_unstable();
    let needs = production_check::needs(parts, operands, &targets)?;
    // Tables are measured with the target that has most.
    let missing = |sm: u16| {
        let index = targets.iter().rposition(|target| target.sm == sm)?;
        Some(said(page, needs.missing[index].clone()?))
    };
    let ExplainedModifiers { parts: described, hints } = modifiers::explained(parts, page);
    let parts: Vec<&str> = parts.iter().chain(tags).copied().collect();
    let lowered = lowered::of_parts(&parts, &missing);
    let mut admitted = targets.iter().zip(&needs.missing).filter(|(_, missing)| missing.is_none());
    let Target { sm, variant } = *admitted.next()?.0;
    let version = format!("this instruction requires PTX ISA {} or later", needs.isa);
    let mut reasons = vec![said(page, version)];
    // The targets below the least one all lack the same.
    reasons.extend(needs.missing.iter().flatten().next().map(|text| said(page, text.clone())));
    let needs = MinimumVersion { isa: needs.isa, sm, variant, reasons };
    Some(PtxExplanation { meaning, parts: described, hints, needs, lowered })
}

/// The meaning of an asynchronous operation; `page` is the section of its instruction. `None` of fences, which
/// `describe::ptx` explains by their spellings.
fn meaning(of: &Asynchronous, page: Section) -> Option<InstructionMeaning> {
    let words = Words { page };
    Some(match of {
        Asynchronous::Mbarrier(mbarrier) => words.mbarrier(mbarrier),
        Asynchronous::PendingCount(_) => words.pending_count(),
        Asynchronous::Copy(copy) => words.copy(copy),
        Asynchronous::Store(store) => words.store(store),
        Asynchronous::Track(track) => words.track(track),
        Asynchronous::Commit(kind) => words.commit(*kind),
        Asynchronous::WaitGroup(wait) => words.wait_group(*wait, None),
        Asynchronous::Multiply(_) => words.multiply(),
        Asynchronous::MultiplyFence => words.multiply_fence(),
        Asynchronous::Grid(control) => words.grid(*control),
        Asynchronous::Tensormap(write) => words.tensormap(write),
        Asynchronous::TensorMemory(op) => tensor_memory::meaning(op, page),
        Asynchronous::Multimem(of) => multimem::meaning(of, page),
        Asynchronous::Fill(fill) => words.fill(*fill),
        Asynchronous::Cancel(of) => cancel::meaning(of, page),
        Asynchronous::Fence(_) | Asynchronous::TensormapFence(_) => return None,
    })
}

fn operations(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::Copies => "`cp.async` operations",
        GroupKind::BulkCopies => "bulk copies that complete by groups",
        GroupKind::Multiplications => "`wgmma.mma_async` operations",
    }
}

/// A number of units where it is written in the instruction.
fn number(of: Option<Operand>, unit: &str) -> String {
    match of {
        Some(Operand::Imm(1)) => format!("1 {unit}"),
        Some(Operand::Imm(count)) => format!("{count} {unit}s"),
        Some(Operand::Reg(_) | Operand::Address(_)) | None => format!("a number of {unit}s"),
    }
}

struct Words {
    page: Section,
}

impl Words {
    fn of(&self, is: impl Into<String>) -> InstructionMeaning {
        InstructionMeaning::new(said(self.page, is.into()))
    }

    /// The operations of one object are in one order (reading B1).
    fn one_operation() -> CitedText {
        let text = "one operation on the mbarrier object; all threads see the operations on an object in one order";
        said(section::MBARRIER, text)
    }

    fn pending_count(&self) -> InstructionMeaning {
        let text = "how many arrivals the phase still expected before the arrival that returned the state; it accesses no memory";
        let mut meaning = self.of(text);
        let text = "the state is one that an arrival with `.noComplete` returned: otherwise the behaviour is undefined";
        meaning.limits.push(said(self.page, text));
        meaning
    }

    /// What is required of the object of each operation.
    fn of_an_object(meaning: &mut InstructionMeaning) {
        meaning.limits.push(said(
            section::MBARRIER_LIFECYCLE,
            "its initialization must happen before it, and no invalidation of the object: otherwise the behaviour is undefined",
        ));
    }

    fn mbarrier(&self, mbarrier: &Mbarrier) -> InstructionMeaning {
        let Mbarrier { op, space: of, synchronizes, scope, .. } = mbarrier;
        let object = format!("an mbarrier object in {}", place(*of));
        let mut meaning = match op {
            MbarrierOp::Init { count, layout } => {
                let mut meaning = self.init(*count, &object);
                if *layout == MbarrierLayout::V1 {
                    let most = layout.most_arrivals();
                    let text = format!(
                        "an object of this layout expects {most} arrivals at most, and keeps a report of a phase"
                    );
                    meaning.limits.push(said(self.page, text));
                }
                meaning
            }
            MbarrierOp::CheckLayout { .. } => {
                self.of(format!("whether {object} was initialized with this layout"))
            }
            MbarrierOp::Invalidate => {
                let mut meaning = self.of(format!("invalidates {object}"));
                meaning.promises.push(said(
                    self.page,
                    "afterwards the 8 bytes are memory like any other, and another object may be initialized there",
                ));
                meaning
            }
            MbarrierOp::ExpectTx { bytes } => {
                let bytes = number(Some(*bytes), "byte");
                let mut meaning = self.of(format!("adds {bytes} to the tx-count of {object}"));
                meaning.promises.push(said(
                    self.page,
                    "the current phase completes only when as many bytes have completed on the object",
                ));
                Words::relaxed(&mut meaning);
                meaning
            }
            MbarrierOp::CompleteTx { bytes } => {
                let bytes = number(Some(*bytes), "byte");
                let mut meaning =
                    self.of(format!("subtracts {bytes} from the tx-count of {object}"));
                meaning.promises.push(said(
                    self.page,
                    "if the tx-count and the pending count are then 0, the phase completes",
                ));
                Words::relaxed(&mut meaning);
                meaning
            }
            MbarrierOp::Arrive { count, expected, drops, completes, state } => {
                let releases = if *synchronizes { "releases" } else { "is relaxed" };
                let count = number(Some(*count), "arrival");
                let also = expected.map_or(String::new(), |bytes| {
                    format!(", after it has added {} to its tx-count", number(Some(bytes), "byte"))
                });
                let mut meaning = self.of(format!(
                    "makes {count} on {object}{also}, and {releases} at scope `.{scope}`"
                ));
                meaning.promises.push(said(
                    self.page,
                    "if the tx-count and the pending count are then 0, the phase completes: a new one begins, with the pending count that is expected",
                ));
                if *drops {
                    let text = "the object expects fewer arrivals in the phases after this one";
                    meaning.promises.push(said(self.page, text));
                }
                if state.is_some() {
                    let text = "the result is the phase in which it arrived: `test_wait` and `try_wait` take it";
                    meaning.promises.push(said(self.page, text));
                }
                Words::releases(mbarrier, &mut meaning);
                meaning.limits.push(said(
                    self.page,
                    "more arrivals in a phase than the object expects: the behaviour is undefined",
                ));
                if !completes {
                    let text =
                        "it must not complete the phase: if it does, the behaviour is undefined";
                    meaning.limits.push(said(self.page, text));
                }
                meaning
            }
            MbarrierOp::Wait { phase, tries, .. } => self.wait(mbarrier, phase, *tries, &object),
        };
        meaning.events.push(Words::one_operation());
        if matches!(op, MbarrierOp::Init { .. }) {
            meaning.limits.push(said(
                section::MBARRIER_LIFECYCLE,
                "until the object is invalidated, other accesses to its 8 bytes are undefined",
            ));
        } else {
            Words::of_an_object(&mut meaning);
        }
        meaning
    }

    fn init(&self, count: Operand, object: &str) -> InstructionMeaning {
        let count = number(Some(count), "arrival");
        let mut meaning = self.of(format!("initializes {object}, which expects {count} a phase"));
        let text = "the object is in phase 0, which is incomplete, with a tx-count of 0";
        meaning.promises.push(said(self.page, text));
        meaning.limits.extend([
            said(
                section::MEMORY_SYNCHRONIZATION,
                "it releases nothing: other threads need a barrier or another synchronization before they use the object; \
                 those of the cluster, `fence.mbarrier_init` and a release and acquire",
            ),
            said(self.page, "the object must have no phase that threads still wait for"),
        ]);
        meaning
    }

    fn relaxed(meaning: &mut InstructionMeaning) {
        meaning.limits.push(said(
            section::RELEASE_ACQUIRE_PATTERNS,
            "it is relaxed: alone it releases nothing that its thread did before",
        ));
    }

    fn releases(mbarrier: &Mbarrier, meaning: &mut InstructionMeaning) {
        let scope = mbarrier.scope;
        if !mbarrier.synchronizes {
            Words::relaxed(meaning);
            return;
        }
        meaning.promises.push(said(
            section::MEMORY_SYNCHRONIZATION,
            format!(
                "what its thread did before it happens before what follows a wait of a thread in its scope ({}) that \
                 acquires this phase or a later one",
                threads(scope)
            ),
        ));
        meaning.limits.push(said(
            section::ASYNC_OPERATIONS,
            "it does not release asynchronous operations that its thread has started: those must be waited for before it",
        ));
        meaning.limits.push(said(
            section::PROXIES,
            "an access of the async proxy to what the threads accessed before needs `fence.proxy.async` too",
        ));
    }

    fn wait(
        &self,
        mbarrier: &Mbarrier,
        phase: &AwaitedPhase,
        tries: bool,
        object: &str,
    ) -> InstructionMeaning {
        let which = match phase {
            AwaitedPhase::Parity(_) => "the phase of that parity",
            AwaitedPhase::State(_) => "the phase that the state names",
        };
        let how = if tries { "waits for some time until" } else { "tests whether" };
        let mut meaning = self.of(format!("{how} {which} of {object} is complete"));
        if mbarrier.synchronizes {
            let scope = mbarrier.scope;
            meaning.promises.extend([
                said(
                    section::MEMORY_SYNCHRONIZATION,
                    format!(
                        "if it returns true, it acquires at scope `.{scope}` ({}): what a thread did before a releasing arrival \
                         of this phase or an earlier one happens before what follows it",
                        threads(scope)
                    ),
                ),
                said(
                    section::ASYNC_OPERATIONS,
                    "if it returns true, the asynchronous operations that completed on the object in this phase happen before \
                     what follows it",
                ),
            ]);
        } else {
            meaning.limits.push(said(
                section::RELEASE_ACQUIRE_PATTERNS,
                "it is relaxed: what follows it is ordered only after an acquire fence",
            ));
        }
        meaning.limits.extend([
            said(self.page, "if it returns false, it orders nothing: a loop has to repeat it"),
            said(
                section::ASYNC_OPERATIONS,
                "a copy that completed in the phase is seen, but not what the thread that started it did before",
            ),
        ]);
        let range = match phase {
            AwaitedPhase::Parity(_) => {
                "only the current phase and the one before can be distinguished: where an object may be two phases ahead, the wait is for the wrong one"
            }
            AwaitedPhase::State(_) => {
                "the state must be of the current phase or of the one before: otherwise the behaviour is undefined"
            }
        };
        meaning.limits.push(said(self.page, range));
        meaning
    }

    fn copy(&self, copy: &Copy) -> InstructionMeaning {
        let (to, from) = (place(copy.to_space), place(copy.from_space));
        let mut is = match (&copy.tensor, &copy.reduction) {
            (Some(_), None) => format!("starts a copy of a tile of a tensor from {from} to {to}"),
            (Some(_), Some(_)) => {
                format!("starts a reduction of a tile of a tensor in {to} with {from}")
            }
            (None, Some(_)) => {
                let bytes = number(copy.bytes, "byte");
                format!("starts a reduction of {bytes} in {to} with {from}")
            }
            (None, None) => {
                format!("starts a copy of {} from {from} to {to}", number(copy.bytes, "byte"))
            }
        };
        if copy.multicast.is_some() {
            is += ", to each CTA of a mask";
        }
        let mut meaning = self.of(is);
        let proxy = if copy.bulk { "async proxy" } else { "generic proxy" };
        if copy.tensor.is_some() {
            let text = "a read of the tensormap, 128 bytes, through the tensormap proxy, before the others";
            meaning.events.push(said(section::PROXIES, text));
        }
        let strength = strength(copy.scope, None);
        let events = match copy.reduction {
            Some((op, ty)) => format!(
                "weak reads of the source and, after them, a relaxed atomic for each element, {}, which {}: {proxy}",
                element(ty),
                operation(op)
            ),
            None => format!(
                "reads of the source and, after them, writes of the destination: {strength}, {proxy}"
            ),
        };
        meaning.events.push(said(section::ASYNC_OPERATIONS, events));
        if copy.mbarrier.is_some() {
            let text = "and then a complete-tx operation of its bytes on the mbarrier object";
            meaning.events.push(said(section::MBARRIER, text));
        }
        meaning.promises.push(Words::behind_issue());
        meaning.promises.push(said(
            self.page,
            match (copy.bulk, copy.mbarrier.is_some()) {
                (_, true) => "what follows an acquiring wait for the phase of the object in which it completes sees its result",
                (true, false) => "what follows `cp.async.bulk.wait_group` for its group in its thread sees its result",
                (false, false) => "what follows `cp.async.wait_group` for its group, or `cp.async.wait_all`, in its thread sees its result",
            },
        ));
        if copy.source_bytes.is_some() {
            let text = "the rest of the destination, after `src-size` bytes, is written with 0";
            meaning.promises.push(said(self.page, text));
        }
        Words::in_flight(&mut meaning);
        if copy.bulk {
            meaning.limits.push(said(
                section::ASYNC_PROXY,
                "accesses by threads of the bytes that it reads or writes need `fence.proxy.async` before it, besides what orders them",
            ));
        }
        if copy.tensor.is_some() {
            meaning.limits.push(said(
                section::PROXIES,
                "a tensormap that was written by instructions needs `fence.proxy.tensormap::generic.acquire` before it",
            ));
        }
        if copy.mbarrier.is_none() {
            let text = if copy.bulk {
                "no other thread can wait for it: its own thread has to, and to release what it has seen"
            } else {
                "other threads can wait for it only by an mbarrier object and `cp.async.mbarrier.arrive`; without those its own \
                 thread has to, and to release what it has seen"
            };
            meaning.limits.push(said(self.page, text));
        }
        meaning
    }

    fn behind_issue() -> CitedText {
        let text = "what its thread did before it through the same proxy comes before it";
        said(section::ASYNC_OPERATIONS, text)
    }

    fn in_flight(meaning: &mut InstructionMeaning) {
        meaning.limits.push(said(
            section::ASYNC_OPERATIONS,
            "it comes before nothing that follows it in program order, unless that waits for its completion: an access \
             that conflicts with it meanwhile, of its own thread too, makes the behaviour undefined unless the two are morally \
             strong",
        ));
    }

    fn store(&self, store: &AsyncStore) -> InstructionMeaning {
        let to = place(store.space);
        let what = match store.reduction {
            Some(_) => format!("starts a reduction of {} in {to}", element(store.ty)),
            None => format!("starts a store of {} to {to}", element(store.ty)),
        };
        let mut meaning = self.of(what);
        let strength = strength(store.scope, store.releases.then_some("release"));
        let access = match store.reduction {
            Some(op) => format!("one atomic, which {}", operation(op)),
            None => "one write of each element".to_owned(),
        };
        let text = format!("{access}: {strength}, generic proxy");
        meaning.events.push(said(section::ASYNC_OPERATIONS, text));
        meaning.promises.push(Words::behind_issue());
        if store.mbarrier.is_some() {
            let text = "and then a complete-tx operation of its bytes on the mbarrier object";
            meaning.events.push(said(section::MBARRIER, text));
            meaning.promises.push(said(
                self.page,
                "what follows an acquiring wait for the phase of the object in which it completes sees its result",
            ));
        }
        if store.releases {
            meaning.promises.push(said(
                section::RELEASE_ACQUIRE_PATTERNS,
                "it is a release pattern: who acquires what it wrote sees what its thread did before it",
            ));
        }
        if store.mbarrier.is_none() {
            let text = "no instruction waits for it: it completes before the end of its kernel";
            meaning.limits.push(said(self.page, text));
        }
        Words::in_flight(&mut meaning);
        meaning
    }

    fn track(&self, track: &Track) -> InstructionMeaning {
        let object = format!("an mbarrier object in {}", place(track.space));
        let mut meaning = self.of(format!(
            "has an arrival made on {object} when all `cp.async` operations of its thread so far have completed"
        ));
        meaning.events.push(said(self.page, "one asynchronous arrival on the mbarrier object"));
        meaning.promises.push(said(
            section::ASYNC_OPERATIONS,
            "what follows an acquiring wait for the phase of this arrival sees the results of these copies",
        ));
        meaning.promises.push(said(
            self.page,
            if track.increments {
                "the pending count is incremented first: the object need not expect this arrival"
            } else {
                "with `.noinc` the pending count is not incremented: the object must expect this arrival"
            },
        ));
        meaning.limits.push(said(
            section::ASYNC_OPERATIONS,
            "it releases nothing else that its thread did before it, bulk copies neither",
        ));
        Words::of_an_object(&mut meaning);
        meaning
    }

    fn commit(&self, kind: GroupKind) -> InstructionMeaning {
        let operations = operations(kind);
        let mut meaning =
            self.of(format!("makes a group of the {operations} of its thread that are in none"));
        meaning.events.push(said(self.page, "none"));
        let text = "a `wait_group` of this thread can wait for the group";
        meaning.promises.push(said(self.page, text));
        meaning.limits.push(said(self.page, "it orders nothing and waits for nothing"));
        meaning
    }

    /// `name` is that of the number of groups that may be left, where the number is not known.
    fn wait_group(&self, wait: WaitGroup, name: Option<&str>) -> InstructionMeaning {
        let operations = operations(wait.of);
        let is = match (wait.commits, name.map_or(Ok(wait.pending), Err)) {
            (true, _) => format!("waits for all {operations} of its thread"),
            (false, Err(name)) => {
                format!(
                    "waits for all groups of {operations} of its thread but the latest `{name}`"
                )
            }
            (false, Ok(0)) => format!("waits for all groups of {operations} of its thread"),
            (false, Ok(1)) => {
                format!("waits for all groups of {operations} of its thread but the latest")
            }
            (false, Ok(count)) => {
                format!("waits for all groups of {operations} of its thread but the latest {count}")
            }
        };
        let is = match wait.until {
            GroupCompletion::Complete => is,
            GroupCompletion::Read => format!("{is}, until they have read their sources"),
            GroupCompletion::AsyncProxy => {
                format!("{is}, until they are complete for the async proxy")
            }
        };
        let mut meaning = self.of(is);
        meaning.events.push(said(self.page, "none of memory"));
        meaning.promises.push(said(
            section::ASYNC_OPERATIONS,
            match wait.until {
                GroupCompletion::Read => {
                    "the reads of these operations, of tensormaps too, happen before what follows it"
                }
                GroupCompletion::AsyncProxy => {
                    "these operations happen before operations of the async proxy that its thread starts later, and their reads, of \
                     tensormaps too, before all that follows it (reading B30)"
                }
                GroupCompletion::Complete => {
                    "these operations happen before what follows it in its thread"
                }
            },
        ));
        match wait.until {
            GroupCompletion::Complete => {}
            GroupCompletion::Read => {
                let text = "the writes of these operations may still be incomplete: their results are not seen, and must not be released";
                meaning.limits.push(said(self.page, text));
            }
            GroupCompletion::AsyncProxy => {
                let text = "a generic access to what these operations write is a race; no document that is public says what such an \
                            access needs";
                meaning.limits.push(said(self.page, text));
            }
        }
        if !wait.commits {
            meaning
                .limits
                .push(said(self.page, "operations that are in no group are not waited for"));
        }
        meaning.limits.push(said(
            self.page,
            "the operations of other threads are not waited for: those threads have to, and then synchronize",
        ));
        meaning
    }

    fn multiply(&self) -> InstructionMeaning {
        let mut meaning = self.of("starts a multiplication of matrices");
        let text = "reads of the matrices in shared memory: weak, async proxy";
        meaning.events.push(said(section::ASYNC_OPERATIONS, text));
        meaning.promises.push(said(
            self.page,
            "what its thread did before a `wgmma.fence` or a `fence.proxy.async` before it comes before it",
        ));
        meaning.limits.extend([
            said(
                section::ASYNC_PROXY,
                "matrices that threads wrote need `fence.proxy.async` before it, besides what orders the writes",
            ),
            said(
                self.page,
                "its registers and its matrices must not be written before `wgmma.wait_group` has waited for its group",
            ),
        ]);
        meaning
    }

    fn multiply_fence(&self) -> InstructionMeaning {
        let mut meaning = self.of("orders registers and shared memory before multiplications");
        meaning.events.push(said(self.page, "none of memory"));
        meaning.promises.push(said(
            self.page,
            "what its thread did before it comes before the `wgmma.mma_async` operations after it",
        ));
        meaning.limits.push(said(
            section::ASYNC_PROXY,
            "it is not a proxy fence: matrices that threads wrote need `fence.proxy.async` as well",
        ));
        meaning
    }

    fn grid(&self, control: GridControl) -> InstructionMeaning {
        match control {
            GridControl::LaunchDependents => {
                let mut meaning = self.of("lets the kernels that depend on this one start");
                meaning.events.push(said(self.page, "none of memory"));
                meaning.promises.push(said(
                    self.page,
                    "dependent kernels start when each CTA of this kernel has executed it, or has ended",
                ));
                meaning.limits.push(said(
                    self.page,
                    "it releases nothing by itself: a dependent kernel sees what this one wrote after its own `griddepcontrol.wait`; without one, it sees what came before a releasing memory fence that stands before this instruction",
                ));
                meaning
            }
            GridControl::Wait => {
                let mut meaning =
                    self.of("waits for the end of the kernels that this one depends on");
                meaning.events.push(said(self.page, "none of memory"));
                meaning.promises.push(said(
                    self.page,
                    "all that the kernels directly before did, their asynchronous operations too, happens before what follows it",
                ));
                meaning.limits.push(said(
                    self.page,
                    "kernels before those are waited for only if they were waited for there, too",
                ));
                meaning
            }
        }
    }

    fn fill(&self, fill: Fill) -> InstructionMeaning {
        let mut meaning =
            self.of(format!("writes 0 to shared memory, {}", number(Some(fill.bytes), "byte")));
        let event = "a write of each 8 bytes: weak, generic proxy, in no order among them; not asynchronous";
        meaning.events.push(said(self.page, event));
        let seen = "what follows it in its thread, through the generic proxy, sees what it wrote";
        meaning.promises.push(said(section::PROGRAM_ORDER, seen));
        let needed = "an asynchronous copy of these bytes needs a `fence.proxy.async` after it";
        meaning.limits.push(said(section::ASYNC_PROXY, needed));
        meaning
    }

    fn tensormap(&self, write: &TensormapWrite) -> InstructionMeaning {
        let (is, fence) = match write {
            TensormapWrite::Replace { space: of, .. } => {
                (format!("replaces a field of a tensormap in {}", place(*of)), None)
            }
            TensormapWrite::CopyFence { scope, .. } => (
                "copies a tensormap from shared to global memory, and releases it to the tensormap proxy".to_owned(),
                Some(*scope),
            ),
        };
        let mut meaning = self.of(is);
        meaning.events.push(said(
            section::PROXIES,
            "a read and a write of all 128 bytes: weak, generic proxy; not asynchronous",
        ));
        if let Some(scope) = fence {
            meaning.events.push(said(
                section::PROXIES,
                format!("then `fence.proxy.tensormap::generic.release.{scope}`"),
            ));
        }
        let seen = "what follows it in its thread, through the generic proxy, sees what it wrote";
        meaning.promises.push(said(section::PROGRAM_ORDER, seen));
        let needed = if fence.is_some() {
            "a copy of a tensor that uses it needs an acquire fence of the tensormap proxy that synchronizes with this"
        } else {
            "a copy of a tensor that uses it needs a release and an acquire fence of the tensormap proxy after it"
        };
        meaning.limits.push(said(section::PROXIES, needed));
        meaning
    }
}
