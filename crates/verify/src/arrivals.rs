//! Counts of mbarrier objects where threads are left out: an object counts threads of the test.

use std::collections::{BTreeMap, BTreeSet};

use execution::constants::Constants;
use execution::layout::Layout;
use litmus::Test;
use model::isa::asynchronous::{Asynchronous, MbarrierOp};
use model::isa::{Instruction, Line, Operand};
use model::program::{Program, Stuck, ThreadId};

use crate::columns::Composed;
use crate::lanes::LeftOut;
use crate::shorten::ShortFunction;

/// What the count of an object is in the test.
enum OwnCount {
    /// The threads of the test that it counts.
    Scaled(u64),
    /// As it is: one arrival, or one of each warp.
    Kept,
    Unknown,
}

impl LeftOut {
    /// The count of an object of the kernel, in the test.
    fn own_count(&self, count: u64) -> OwnCount {
        let counts = self.cta();
        if count == u64::from(counts.threads)
            && let Some(own) = counts.of_test
        {
            return OwnCount::Scaled(own.into());
        }
        // So few may also be one thread of each warp.
        if count <= u64::from(counts.warps) {
            return if count <= u64::from(counts.warps_of_test) {
                OwnCount::Kept
            } else {
                OwnCount::Unknown
            };
        }
        self.of_whole_warps(count).map_or(OwnCount::Unknown, OwnCount::Scaled)
    }
}

/// Makes the counts of objects those of threads of the test. Returns whether some count is another one then, and tells in `unknown` of
/// one whose threads are not known.
pub(crate) fn adapt(
    kernels: &mut [ShortFunction],
    left_out: &LeftOut,
    composed: &Composed,
    test: &Test,
    unknown: &mut Option<String>,
) -> bool {
    let mut changed = false;
    for ((kernel, row), counts) in counts(composed, test) {
        let mut all = counts.iter();
        let only = all.next().copied().flatten().filter(|_| all.next().is_none());
        match only.map_or(OwnCount::Unknown, |count| left_out.own_count(count)) {
            OwnCount::Scaled(own) => {
                let (cell, _) = &mut kernels[kernel].cells[row];
                if let Some(comma) = cell.rfind(',') {
                    cell.replace_range(comma.., &format!(", {own}"));
                    changed = true;
                }
            }
            OwnCount::Kept => {}
            OwnCount::Unknown => {
                let count = only.map_or("arrivals".to_owned(), |count| format!("{count} arrivals"));
                let line = composed.lines[kernel][row];
                unknown.get_or_insert(format!(
                    "the object of `mbarrier.init` (line {line}) counts {count}, and threads are left out: which of them arrive is not known: name as many lanes of each warp of the CTA, or all threads"
                ));
            }
        }
    }
    changed
}

/// The counts that each `mbarrier.init` gives its object, by function and row; `None` for one that is not a constant.
fn counts(composed: &Composed, test: &Test) -> BTreeMap<(usize, usize), BTreeSet<Option<u64>>> {
    let layout = Layout::new(&test.program);
    let mut all: BTreeMap<(usize, usize), BTreeSet<Option<u64>>> = BTreeMap::new();
    for (thread, of) in (0..).map(ThreadId).zip(&test.program.threads) {
        let counts = of
            .lines
            .iter()
            .zip(0..)
            .filter_map(|(line, number)| Some((number, init_count(&line.instruction)?)));
        let counts: Vec<(u16, Operand)> = counts.collect();
        if counts.is_empty() {
            continue;
        }
        let constants = Constants::new(&test.program, &layout, thread);
        for (line, count) in counts {
            if !constants.may_execute(line.into()) {
                continue;
            }
            let value = constants.operand(&layout, thread, line.into(), count);
            let value = value.map(model::value::low64);
            let row = test.line_number(thread, line);
            if let Some(row) = row.and_then(|row| composed.row(thread.0.into(), row)) {
                all.entry(row).or_default().insert(value);
            }
        }
    }
    all
}

/// Whether a thread that stays for ever waits at an object, or in a loop that asks for the end of a phase.
pub(crate) fn waits_at_object(program: &Program, stuck: &Stuck) -> bool {
    let thread = &program.threads[usize::from(stuck.thread.0)];
    let line = usize::from(stuck.line);
    let asks =
        |line: &Line| line.instruction.as_asynchronous().is_some_and(Asynchronous::waits_for_phase);
    let mut loops = thread.branches().filter(|(end, target)| (*target..=*end).contains(&line));
    stuck.object.is_some() || loops.any(|(end, target)| thread.lines[target..=end].iter().any(asks))
}

fn init_count(instruction: &Instruction) -> Option<Operand> {
    let Asynchronous::Mbarrier(of) = instruction.as_asynchronous()? else { return None };
    if let MbarrierOp::Init { count, .. } = of.op { Some(count) } else { None }
}

#[cfg(test)]
mod tests {
    use judge::Task;

    use crate::{
        Dim3, FindingKind, KernelModule, LaunchSpec, RepairEffort, ThreadChoice, Verification,
        verify,
    };

    /// All threads arrive at an object of this count, or all but those of a warp, and wait.
    fn judged(count: &str, lanes: &[u32], guard: &str) -> Verification {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<2>; .shared .b64 m;\n\
             mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; setp.lt.u32 %p3, %r1, 32;\n\
             @%p1 bra $B;\nmov.u32 %r2, {count};\nmbarrier.init.shared::cta.b64 [m], %r2;\n\
             $B: bar.sync 0;\n{guard}mbarrier.arrive.shared::cta.b64 _, [m];\n\
             $L: mbarrier.try_wait.parity.shared::cta.b64 %p2, [m], 0;\n\
             selp.b32 %r3, 1, 0, %p2;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra $L;\nret;\n}}\n"
        );
        let module = KernelModule::read("m.ptx", &text).expect("a module");
        let block = Dim3 { x: 64, ..Dim3::ONE };
        let threads = ThreadChoice::OfEachCta(lanes.to_vec());
        let launch = LaunchSpec { threads, ..LaunchSpec::new(Dim3::ONE, block) };
        let model = model::ptx::model();
        let task = Task { counts: false, ..Task::new(&model) };
        let judged = verify(&module, &launch, &task, &RepairEffort::BRIEF.into());
        judged.unwrap_or_else(|error| panic!("{error:?}")).1
    }

    #[test]
    fn an_object_counts_the_threads_of_the_test() {
        for (count, lanes) in
            [("%ntid.x", &[0, 32][..]), ("64", &[0, 1, 32]), ("2", &[0, 32]), ("64", &[0, 63])]
        {
            let judged = judged(count, lanes, "");
            assert!(judged.findings.is_empty(), "{count} {lanes:?}: {:?}", judged.findings);
            assert!(judged.undecided.is_empty(), "{count} {lanes:?}: {:?}", judged.undecided);
        }
        // One warp does not arrive.
        let kinds = |of: Verification| of.findings.iter().map(|of| of.kind).collect::<Vec<_>>();
        assert_eq!(kinds(judged("%ntid.x", &[0, 32], "@%p3 ")), [FindingKind::Hang]);
    }

    #[test]
    fn a_wait_for_threads_that_are_left_out_is_no_hang() {
        let judged = judged("48", &[0, 32], "");
        assert!(judged.findings.is_empty(), "{:?}", judged.findings);
        let [undecided] = &judged.undecided[..] else { panic!("{:?}", judged.undecided) };
        assert!(undecided.why.contains("counts 48 arrivals"), "{}", undecided.why);
    }
}
