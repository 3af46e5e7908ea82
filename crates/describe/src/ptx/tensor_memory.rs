//! Describes `tcgen05`: operations on tensor memory, what waits for them, and their fences.

use model::isa::tensor_memory::{TensorFence, TensorMultiply, TensorOp, TensorWait};
use model::section::{self, Section};

use super::InstructionMeaning;
use super::words::said;

/// The meaning of an instruction whose section is `page`.
pub(super) fn meaning(op: &TensorOp, page: Section) -> InstructionMeaning {
    let words = TensorWords { page };
    match op {
        TensorOp::Load { layout, destinations, .. } => {
            words.load(layout.columns(destinations.len()))
        }
        TensorOp::Store { layout, sources, .. } => words.store(layout.columns(sources.len())),
        TensorOp::Wait(of) => words.wait(*of),
        TensorOp::Copy { .. } => words.copy(),
        TensorOp::Multiply(of) => words.multiply(of),
        TensorOp::Shift { .. } => words.shift(),
        TensorOp::Commit { .. } => words.commit(),
        TensorOp::Fence(fence) => words.fence(*fence),
        TensorOp::Allocate { columns, .. } => words.allocate(*columns),
        TensorOp::Deallocate { .. } => words.deallocate(),
        TensorOp::Relinquish => words.relinquish(),
    }
}

struct TensorWords {
    page: Section,
}

impl TensorWords {
    fn of(&self, is: &'static str) -> InstructionMeaning {
        InstructionMeaning::new(said(self.page, is))
    }

    /// Appends what all asynchronous operations on tensor memory have in common.
    fn unordered(meaning: &mut InstructionMeaning, completes: &str) {
        meaning.limits.push(said(
            section::TENSOR_PIPELINES,
            format!(
                "it is in no order with other `tcgen05` operations, of its own thread too, but for those with which it forms a pipeline: {completes}"
            ),
        ));
        meaning.limits.push(said(
            section::TENSOR_SYNCHRONIZATION,
            "another thread needs a synchronization, and `tcgen05.fence` around it where that is relaxed",
        ));
    }

    fn allocate(&self, columns: u32) -> InstructionMeaning {
        let text = format!(
            "allocates {columns} columns of tensor memory in the CTA, and writes their address to shared memory"
        );
        let mut meaning = InstructionMeaning::new(said(self.page, text));
        let events = [
            "an allocation of the columns, before each use of them",
            "a weak write of the address, through the generic proxy",
        ];
        meaning.events.extend(events.map(|event| said(self.page, event)));
        meaning.limits.push(said(
            self.page,
            "another thread that reads the address needs a synchronization; the instruction waits while there are too few columns",
        ));
        meaning.limits.push(said(
            self.page,
            "the memory must be deallocated before the kernel exits, and the CTA must not have relinquished the right to allocate",
        ));
        meaning
    }

    fn deallocate(&self) -> InstructionMeaning {
        let mut meaning = self.of("deallocates columns of tensor memory");
        meaning.events.push(said(self.page, "a deallocation of the columns"));
        meaning.limits.push(said(
            self.page,
            "they have been allocated before it, and each operation on them has completed: otherwise the behaviour is undefined",
        ));
        meaning
    }

    fn relinquish(&self) -> InstructionMeaning {
        let mut meaning = self.of("the CTA gives up the right to allocate tensor memory");
        meaning.events.push(said(self.page, "the end of the allocations of the CTA"));
        meaning.limits.push(said(self.page, "no allocation of the CTA comes after it"));
        meaning
    }

    fn columns(count: usize) -> String {
        if count == 1 { "column".to_owned() } else { format!("each of {count} columns") }
    }

    fn load(&self, columns: usize) -> InstructionMeaning {
        let mut meaning = self.of("starts a load from tensor memory to registers");
        let text = format!("a read of the {}: asynchronous", Self::columns(columns));
        meaning.events.push(said(section::TENSOR_PIPELINES, text));
        meaning.promises.push(said(
            section::TENSOR_SYNCHRONIZATION,
            "an instruction that uses a register gets its value; that orders no access of tensor memory",
        ));
        Self::unordered(&mut meaning, "`tcgen05.wait::ld` waits for it");
        meaning
    }

    fn store(&self, columns: usize) -> InstructionMeaning {
        let mut meaning = self.of("starts a store from registers to tensor memory");
        let text = format!("a write of the {}: asynchronous", Self::columns(columns));
        meaning.events.push(said(section::TENSOR_PIPELINES, text));
        Self::unordered(&mut meaning, "`tcgen05.wait::st` waits for it");
        meaning
    }

    fn wait(&self, of: TensorWait) -> InstructionMeaning {
        let (is, others) = match of {
            TensorWait::Loads => {
                ("waits for the `tcgen05.ld` operations of its thread", "`tcgen05.st`")
            }
            TensorWait::Stores => {
                ("waits for the `tcgen05.st` operations of its thread", "`tcgen05.ld`")
            }
        };
        let mut meaning = self.of(is);
        meaning.events.push(said(self.page, "none of memory"));
        let text = "these operations happen before what follows it in its thread";
        meaning.promises.push(said(section::TENSOR_PIPELINES, text));
        let text = format!(
            "{others} and operations that `tcgen05.commit` tracks are not waited for, nor those of other threads"
        );
        meaning.limits.push(said(self.page, text));
        meaning
    }

    fn reads_shared(meaning: &mut InstructionMeaning) {
        meaning.limits.push(said(
            section::ASYNC_PROXY,
            "shared memory that threads wrote needs `fence.proxy.async` before it, besides what orders the writes",
        ));
    }

    fn copy(&self) -> InstructionMeaning {
        let mut meaning = self.of("starts a copy from shared to tensor memory");
        meaning.events.push(said(
            section::TENSOR_PIPELINES,
            "a read of shared memory, weak, async proxy, and after it a write of tensor memory: asynchronous",
        ));
        let text = "a `tcgen05.mma` that its thread starts later, of the same number of CTAs, is executed after it";
        meaning.promises.push(said(section::TENSOR_PIPELINES, text));
        Self::unordered(&mut meaning, "`tcgen05.commit` tracks it");
        Self::reads_shared(&mut meaning);
        meaning
    }

    fn multiply(&self, of: &TensorMultiply) -> InstructionMeaning {
        let mut meaning = self.of("starts a multiplication of matrices");
        if !of.shared.is_empty() {
            let text = "reads of matrices in shared memory: weak, async proxy";
            meaning.events.push(said(section::ASYNC_OPERATIONS, text));
        }
        if !of.tensor.is_empty() {
            let text = "reads of matrices, scales or metadata in tensor memory";
            meaning.events.push(said(section::TENSOR_PIPELINES, text));
        }
        meaning.events.push(said(
            section::TENSOR_PIPELINES,
            "a read of the accumulator in tensor memory if it is an input, and after these a write of it: asynchronous",
        ));
        meaning.promises.push(said(
            section::TENSOR_PIPELINES,
            "a `tcgen05.mma` with the same accumulator, shape and kind that its thread starts later is executed after it, and so is a `tcgen05.shift`",
        ));
        Self::unordered(&mut meaning, "`tcgen05.commit` tracks it");
        Self::reads_shared(&mut meaning);
        meaning
    }

    fn shift(&self) -> InstructionMeaning {
        let mut meaning = self.of("starts a shift of rows of a matrix in tensor memory");
        let text = "a read and after it a write of tensor memory: asynchronous";
        meaning.events.push(said(section::TENSOR_PIPELINES, text));
        let text = "a `tcgen05.mma` or `tcgen05.cp.4x256b` that its thread starts later is executed after it";
        meaning.promises.push(said(section::TENSOR_PIPELINES, text));
        Self::unordered(&mut meaning, "`tcgen05.commit` tracks it");
        meaning
    }

    fn commit(&self) -> InstructionMeaning {
        let mut meaning = self.of(
            "has an arrival made on an mbarrier object when all `tcgen05.mma`, `cp` and `shift` of its thread so far have completed",
        );
        meaning.events.push(said(self.page, "one asynchronous arrival on the mbarrier object"));
        meaning.promises.push(said(
            section::TENSOR_SYNCHRONIZATION,
            "what follows an acquiring wait for the phase of this arrival, or `tcgen05.fence::after_thread_sync` after a relaxed one, comes after these operations",
        ));
        meaning.limits.extend([
            said(self.page, "`tcgen05.ld` and `tcgen05.st` are not waited for"),
            said(
                section::ASYNC_OPERATIONS,
                "it releases nothing else that its thread did before it",
            ),
            said(
                section::MBARRIER_LIFECYCLE,
                "the initialization of the object must happen before it: otherwise the behaviour is undefined",
            ),
        ]);
        meaning
    }

    fn fence(&self, fence: TensorFence) -> InstructionMeaning {
        let (is, promise) = match fence {
            TensorFence::Before => (
                "orders `tcgen05` operations before a synchronization of threads",
                "earlier operations of its thread come before the next synchronization, if they form a pipeline with it",
            ),
            TensorFence::After => (
                "orders `tcgen05` operations after a synchronization of threads",
                "operations that its thread starts later come after the synchronization before it, also a relaxed one",
            ),
        };
        let mut meaning = self.of(is);
        meaning.events.push(said(self.page, "none of memory"));
        meaning.promises.push(said(section::TENSOR_SYNCHRONIZATION, promise));
        meaning.limits.push(said(
            section::TENSOR_SYNCHRONIZATION,
            "it waits for nothing: operations that form no pipeline have to complete first",
        ));
        meaning
    }
}
