//! What constants say of a test: the bytes at an address in a register, and the parity of a wait.

use execution::constants::Constants;
use execution::layout::Layout;
use model::isa::asynchronous::{Asynchronous, AwaitedPhase, Mbarrier, MbarrierOp};
use model::isa::{Address, Operand, SpaceQualifier};
use model::memory::{Extent, MBARRIER_BYTES};
use model::program::{Program, ThreadId};
use model::value::{Value, low64};

/// The constants of each thread.
pub(crate) struct KnownValues {
    layout: Layout,
    constants: Vec<Constants>,
}

impl KnownValues {
    pub(crate) fn new(program: &Program) -> KnownValues {
        let layout = Layout::new(program);
        let ids = (0..program.threads.len()).map(id);
        let constants = ids.map(|id| Constants::new(program, &layout, id)).collect();
        KnownValues { layout, constants }
    }

    /// The bytes at an address that a line has, if they are the same whenever it is executed.
    pub(crate) fn bytes(
        &self,
        thread: usize,
        line: usize,
        space: SpaceQualifier,
        address: Address,
        length: u32,
    ) -> Option<Extent> {
        let constants = &self.constants[thread];
        let access = constants.bytes(&self.layout, id(thread), line, space, address, length);
        access.map(|access| access.pa)
    }

    /// An mbarrier object, as a line of a thread names it.
    pub(crate) fn object(&self, thread: usize, line: usize, of: &Mbarrier) -> Option<Extent> {
        self.bytes(thread, line, of.space, of.object, MBARRIER_BYTES)
    }

    /// An mbarrier object that the test declares, in the CTA of a thread.
    pub(crate) fn declared(&self, thread: usize, object: Address) -> Option<Extent> {
        self.bytes(thread, 0, SpaceQualifier::SharedCta, object, MBARRIER_BYTES)
    }

    fn operand(&self, thread: usize, line: usize, operand: Operand) -> Option<Value> {
        self.constants[thread].operand(&self.layout, id(thread), line, operand)
    }
}

fn id(thread: usize) -> ThreadId {
    ThreadId(u8::try_from(thread).unwrap_or(u8::MAX))
}

/// The number of waits that may be over before anything has arrived: the first one of a thread on an object, for an odd
/// phase. That the phase before the first is over is what a wait for an empty slot relies on, so it may be meant.
pub(crate) fn idle_waits(program: &Program) -> usize {
    (0..program.threads.len()).map(|thread| idle_waits_of(program, thread)).sum()
}

fn idle_waits_of(program: &Program, thread: usize) -> usize {
    let wait = |line: usize| {
        let of = program.threads[thread].lines[line].instruction.as_asynchronous()?;
        let Asynchronous::Mbarrier(of) = of else { return None };
        let MbarrierOp::Wait { phase: AwaitedPhase::Parity(parity), .. } = of.op else {
            return None;
        };
        Some((of, parity))
    };
    let lines = 0..program.threads[thread].lines.len();
    let waits: Vec<usize> = lines.filter(|&line| wait(line).is_some()).collect();
    let idle = |at: &usize| {
        let (line, earlier) = (waits[*at], &waits[..*at]);
        // An odd phase may be in a register, or is written there.
        let even = |parity: Operand| matches!(parity, Operand::Imm(value) if value & 1 == 0);
        if wait(line).is_none_or(|(_, parity)| even(parity)) {
            return false;
        }
        // Up to here, without what comes after it: of a loop, the first round.
        let mut first = program.clone();
        first.threads[thread].lines.truncate(line + 1);
        let known = KnownValues::new(&first);
        let Some((of, parity)) = wait(line) else { return false };
        let is_odd = known.operand(thread, line, parity).is_some_and(|value| low64(value) & 1 == 1);
        let object = known.object(thread, line, of);
        let same = |other: &usize| {
            wait(*other).is_some_and(|(other_of, _)| {
                let other = known.object(thread, *other, other_of);
                if object.is_some() && other.is_some() {
                    object == other
                } else {
                    of.object == other_of.object
                }
            })
        };
        is_odd && !earlier.iter().any(same)
    };
    (0..waits.len()).filter(idle).count()
}

#[cfg(test)]
mod tests {
    use crate::samples::source;
    use crate::{Proposal, RepairOptions, repair};

    /// The proposals for a slot that a thread fills once it is empty, and another one empties: nobody has emptied it before.
    fn proposals(given: &str, column: &str, parity: &str) -> Vec<Proposal> {
        let text = format!(
            "PTX slot\nArch=sm_90\n{{ .shared .mbarrier e={{1}}; .shared .mbarrier f={{1}}; .shared .u32 s; {given} }}\n \
             P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n {column} | mov.u32 z, 0 ;\n \
             E: mbarrier.try_wait.parity.shared::cta.b64 p, [e], {parity} | F: mbarrier.try_wait.parity.shared::cta.b64 p, [f], 0 ;\n \
             @!p bra E | @!p bra F ;\n st.shared.u32 [s], 7 | ld.shared.u32 r, [s] ;\n \
             mbarrier.arrive.shared::cta.b64 _, [f] | mbarrier.arrive.shared::cta.b64 _, [e] ;\nforall (P1:r=7)\n"
        );
        let model = model::ptx::model();
        repair(&source(&text), &RepairOptions::new(&model)).proposals
    }

    #[test]
    fn a_wait_that_is_over_early_is_marked_wherever_its_parity_is_from() {
        for (given, column, parity) in
            [("", "mov.u32 z, 0", "0"), ("", "mov.u32 h, 0", "h"), ("P0:h=0;", "mov.u32 z, 0", "h")]
        {
            let all = proposals(given, column, parity);
            let idle = all.iter().filter(|one| one.idle).count();
            assert!(idle > 0, "{parity}: {all:#?}");
            assert!(all.is_sorted_by_key(|one| (one.cost.edits, one.idle)), "{all:#?}");
            let odd = |one: &Proposal| {
                let mut lines = one.edits.iter().flat_map(|edit| &edit.lines);
                lines.any(|line| {
                    let after = line.after.as_deref().unwrap_or_default();
                    after.ends_with(", 1") || after.ends_with("=1") || after.ends_with("flipped0")
                })
            };
            assert!(all.iter().all(|one| one.idle == odd(one)), "{all:#?}");
        }
    }

    #[test]
    fn the_object_of_a_wait_may_be_in_a_register() {
        let text = "PTX object\nArch=sm_90\n{ .shared .mbarrier full={1}; .shared .mbarrier empty={1}; .shared .u32 s; P1:rb=empty; }\n \
            P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
            mov.u32 re, empty | W: mbarrier.try_wait.parity.b64 p, [rb], 0 ;\n \
            A: mbarrier.try_wait.parity.shared::cta.b64 p, [re], 1 | @!p bra W ;\n @!p bra A | ld.shared.u32 r, [s] ;\n \
            st.shared.u32 [s], 7 | ;\n mbarrier.arrive.shared::cta.b64 _, [full] | ;\nforall (P1:r=7)\n";
        let model = model::ptx::model();
        let all = repair(&source(text), &RepairOptions::new(&model)).proposals;
        let lines: Vec<String> = all.iter().map(|one| one.edits[0].lines[0].to_string()).collect();
        let wait = "P1: `mbarrier.try_wait.parity.b64 p, [rb], 0` becomes `mbarrier.try_wait.parity.shared::cta.b64 p, [full], 0`";
        assert!(lines.iter().any(|line| line == wait), "{lines:?}");
        // P0 waits for `empty`, and so leaves the arrival to others.
        assert!(
            !lines
                .iter()
                .any(|line| line.contains("insert `mbarrier.arrive.shared::cta.b64 _, [empty]`")),
            "{lines:?}"
        );
        let text = text
            .replace(" mbarrier.arrive.shared::cta.b64 _, [full] | ;\n", "")
            .replace("rb=empty", "rb=full");
        let all = repair(&source(&text), &RepairOptions::new(&model)).proposals;
        assert_eq!(
            all[0].edits[0].lines[0].to_string(),
            "P0: insert `mbarrier.arrive.shared::cta.b64 _, [full]` at the end"
        );
    }
}
