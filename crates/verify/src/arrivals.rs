//! Counts of mbarrier objects where threads are left out: an object of the test counts what its threads arrive.

use std::collections::{BTreeMap, BTreeSet};

use litmus::Test;
use model::isa::Line;
use model::isa::asynchronous::Asynchronous;
use model::program::{Program, Stuck};

use crate::arrivers::{ObjectCount, ObjectCounts};
use crate::columns::Composed;
use crate::launch::{LaunchSpec, ThreadPlace};
use crate::shorten::ShortFunction;

/// What the count of an object is in the test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OwnCount {
    /// Without what threads arrive that are left out.
    Less(u64),
    /// As it is: no thread that is left out arrives.
    Kept,
    Unknown,
}

/// What is known of the objects of a test.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdaptedObjects {
    /// Whether some count is another one.
    pub(crate) changed: bool,
    /// An object whose arrivals are not known.
    pub(crate) open: Option<OpenPhases>,
    /// Why an object may be initialized although no thread of the test does it.
    pub(crate) initialized: Option<String>,
}

/// Why phases of an object are not known, where threads are left out.
#[derive(Clone, Debug)]
pub(crate) struct OpenPhases {
    /// Which are not, and so why a wait at an object that never ends is no hang.
    pub(crate) why: String,
    /// Whether a launch in which no wait lasts for ever is as it is without these threads.
    ends: bool,
}

impl OpenPhases {
    /// Why a launch without a finding is not clean.
    pub(crate) fn without_finding(&self) -> Option<&str> {
        Some(&self.why[..]).filter(|_| !self.ends)
    }
}

/// Makes the counts of objects those of threads of the test.
pub(crate) fn adapt(
    kernels: &mut [ShortFunction],
    launches: &[LaunchSpec],
    composed: &Composed,
    test: &Test,
) -> AdaptedObjects {
    let all = ObjectCounts::of(kernels, launches, composed, test);
    let mut adapted = AdaptedObjects::default();
    let elsewhere = all.inits.iter().find(|init| init.left_out);
    adapted.initialized = elsewhere.map(|init| {
        format!(
            "threads that are left out initialize an mbarrier object, such as {}: name them with `--lanes`",
            init.in_words(composed)
        )
    });
    let unknown = &mut adapted.open;
    let mut inits: BTreeMap<(usize, usize), Vec<&ObjectCount>> = BTreeMap::new();
    for init in all.inits.iter().filter(|init| !init.left_out) {
        inits.entry((init.kernel, init.row)).or_default().push(init);
    }
    for ((kernel, row), inits) in inits {
        let counts: BTreeSet<OwnCount> = inits.iter().map(|init| all.own_count(init)).collect();
        let only = counts.first().copied().filter(|_| counts.len() == 1);
        match only.unwrap_or(OwnCount::Unknown) {
            OwnCount::Less(own) => {
                let (cell, _) = &mut kernels[kernel].cells[row];
                if let Some(comma) = cell.rfind(',') {
                    cell.replace_range(comma.., &format!(", {own}"));
                    adapted.changed = true;
                }
            }
            OwnCount::Kept => {}
            OwnCount::Unknown => {
                let why = inits.iter().find_map(|init| all.unknown(init, composed));
                let known = unknown.take().filter(|of| !of.ends);
                *unknown = known.or(why.map(|why| OpenPhases { why, ends: false }));
            }
        }
        let why = inits.iter().find_map(|init| all.brought_by_others(init, composed));
        *unknown = unknown.take().or(why.map(|why| OpenPhases { why, ends: true }));
    }
    adapted
}

impl ObjectCounts {
    /// What may arrive at an object.
    fn at(&self, init: &ObjectCount) -> Vec<&ObjectCount> {
        self.arrivals.iter().filter(|of| init.may_be_at(of)).collect()
    }

    /// The count of an object of the kernel, in the test.
    fn own_count(&self, init: &ObjectCount) -> OwnCount {
        let all = self.at(init);
        if all.iter().all(|of| !of.left_out) {
            return OwnCount::Kept;
        }
        let Some(count) = init.count else { return OwnCount::Unknown };
        let most: Option<u64> = all.iter().map(|of| of.count.filter(|_| !of.repeats)).sum();
        if most.is_some_and(|most| most < count) {
            // The first phase never ends.
            let left_out = all.iter().filter(|of| of.left_out);
            return OwnCount::Less(count - left_out.filter_map(|of| of.count).sum::<u64>());
        }
        let known = init.object.is_some() && all.iter().all(|of| of.object.is_some());
        let mut own = BTreeSet::new();
        for ctas in [None, Some(init.place.cta)] {
            let near: Vec<&ObjectCount> = all
                .iter()
                .copied()
                .filter(|of| ctas.is_none_or(|cta| of.place.cta == cta))
                .collect();
            own.extend(without_left_out(&near, count));
            // Which of several objects an instruction arrives at may be known by how many threads execute it.
            let rows: BTreeSet<usize> = near.iter().filter(|_| !known).map(|of| of.row).collect();
            for row in rows {
                let of_row: Vec<&ObjectCount> =
                    near.iter().copied().filter(|of| of.row == row).collect();
                own.extend(without_left_out(&of_row, count));
            }
        }
        match own.first().copied().filter(|_| own.len() == 1) {
            Some(own) if own == count => OwnCount::Kept,
            Some(own) if own > 0 => OwnCount::Less(own),
            Some(_) | None => OwnCount::Unknown,
        }
    }

    /// Why the arrivals that an object counts are not known.
    fn unknown(&self, init: &ObjectCount, composed: &Composed) -> Option<String> {
        let of = self.at(init).into_iter().find(|of| of.left_out)?;
        let count = init.count.map_or("arrivals".to_owned(), |count| format!("{count} arrivals"));
        Some(format!(
            "the object of `mbarrier.init` (line {}) counts {count}, and threads that are left out may arrive at it, such as {}: which arrivals complete a phase is not known: name the threads that arrive, or all threads, with `--lanes all`",
            init.line(composed),
            of.in_words(composed)
        ))
    }

    /// Why a phase of an object may end by what threads bring that are left out.
    fn brought_by_others(&self, init: &ObjectCount, composed: &Composed) -> Option<String> {
        let of = self.brought.iter().find(|of| init.may_be_at(of))?;
        Some(format!(
            "the object of `mbarrier.init` (line {}) waits for bytes, too, and threads that are left out may bring some, such as {}: name the threads that bring them, or all threads, with `--lanes all`",
            init.line(composed),
            of.in_words(composed)
        ))
    }
}

impl ObjectCount {
    /// Whether another instruction may use the same object.
    fn may_be_at(&self, other: &ObjectCount) -> bool {
        let known = self.object.is_some() && other.object.is_some();
        self.kernel == other.kernel && (!known || self.object == other.object)
    }

    /// The line of the module.
    fn line(&self, composed: &Composed) -> usize {
        composed.lines[self.kernel][self.row]
    }

    fn in_words(&self, composed: &Composed) -> String {
        let ThreadPlace { cta, thread } = self.place;
        format!("CTA {cta} thread {thread} (line {})", self.line(composed))
    }
}

/// The count of an object without the arrivals of threads that are left out, if each thread arrives alike in as many phases, and the
/// object counts just these arrivals.
fn without_left_out(arrivals: &[&ObjectCount], count: u64) -> Option<u64> {
    let mut of_threads: BTreeMap<ThreadPlace, BTreeMap<usize, u64>> = BTreeMap::new();
    for of in arrivals {
        *of_threads.entry(of.place).or_default().entry(of.segment).or_default() += of.count?;
    }
    let phases: BTreeSet<usize> = of_threads.values().map(BTreeMap::len).collect();
    let alike = |of: &BTreeMap<usize, u64>| {
        let counts: BTreeSet<u64> = of.values().copied().collect();
        counts.first().copied().filter(|_| counts.len() == 1)
    };
    let left_out: BTreeSet<ThreadPlace> =
        arrivals.iter().filter(|of| of.left_out).map(|of| of.place).collect();
    let (mut all, mut of_test) = (0, 0);
    for (place, of) in &of_threads {
        let own = alike(of)?;
        all += own;
        of_test += if left_out.contains(place) { 0 } else { own };
    }
    (all == count && phases.len() == 1).then_some(of_test)
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

#[cfg(test)]
mod tests {
    use judge::Task;

    use crate::{Dim3, FindingKind, KernelModule, LaunchSpec, RepairEffort, ThreadChoice, verify};

    /// How all threads of two warps come to a barrier where the first one initializes two objects of a count, and two of 1.
    const BEGIN: &str = "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n\
        and.b32 %r4, %r1, 31; shr.u32 %r5, %r1, 5; mov.u32 %r7, m; mov.u32 %r2, COUNT; @%p1 bra $B;\n\
        mbarrier.init.shared::cta.b64 [m], %r2;\nmbarrier.init.shared::cta.b64 [m+8], 1;\n\
        mbarrier.init.shared::cta.b64 [m+16], %r2;\nmbarrier.init.shared::cta.b64 [m+24], 1;\n\
        $B: bar.sync 0;\n";
    const ARRIVE: &str = "mbarrier.arrive.shared::cta.b64 _, [m];\n";
    const WAIT: &str = "$L: mbarrier.try_wait.parity.shared::cta.b64 %p2, [m], 0;\n@!%p2 bra $L;\n";

    /// What is found of these lanes of 64 that initialize an object of this count, and do this; and what is open, and why.
    fn judged(count: &str, lanes: &[u32], body: &str) -> (Vec<FindingKind>, Vec<String>) {
        let begin = BEGIN.replace("COUNT", count);
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .pred %p<6>; .reg .b32 %r<9>; .reg .b64 %rd<2>; .shared .b64 m[4];\n{begin}{body}ret;\n}}\n"
        );
        let module = KernelModule::read("m.ptx", &text).expect("a module");
        let block = Dim3 { x: 64, ..Dim3::ONE };
        let threads = ThreadChoice::OfEachCta(lanes.to_vec());
        let launch = LaunchSpec { threads, ..LaunchSpec::new(Dim3::ONE, block) };
        let model = model::ptx::model();
        let task = Task { counts: false, ..Task::new(&model) };
        let judged = verify(&module, &launch, &task, &RepairEffort::BRIEF.into());
        let (_, judged) = judged.unwrap_or_else(|error| panic!("{error:?}"));
        let kinds = judged.findings.iter().map(|of| of.kind).collect();
        (kinds, judged.undecided.into_iter().map(|of| of.why).collect())
    }

    const CLEAN: (Vec<FindingKind>, Vec<String>) = (Vec::new(), Vec::new());

    fn hangs() -> (Vec<FindingKind>, Vec<String>) {
        (vec![FindingKind::Hang], Vec::new())
    }

    /// All arrive, or those of whom a guard holds.
    fn arrived(count: &str, lanes: &[u32], guard: &str) -> (Vec<FindingKind>, Vec<String>) {
        judged(count, lanes, &format!("{guard}{ARRIVE}{WAIT}"))
    }

    #[test]
    fn an_object_counts_the_threads_of_the_test() {
        for (count, lanes) in
            [("%ntid.x", &[0, 32][..]), ("64", &[0, 1, 32]), ("64", &[0, 1]), ("64", &[0, 63])]
        {
            assert_eq!(arrived(count, lanes, ""), CLEAN, "{count} {lanes:?}");
        }
        // One warp does not arrive.
        let first_warp = "setp.lt.u32 %p3, %r1, 32; @%p3 ";
        assert_eq!(arrived("%ntid.x", &[0, 32], first_warp), hangs());
        assert_eq!(arrived("32", &[0, 32], first_warp), CLEAN);
    }

    #[test]
    fn an_object_may_be_initialized_by_a_thread_that_is_left_out() {
        let (kinds, open) = arrived("64", &[5, 32], "");
        assert_eq!(kinds, []);
        assert!(open.iter().all(|why| why.contains("such as CTA 0 thread 0 (line")), "{open:?}");
        assert!(!open.is_empty());
    }

    #[test]
    fn threads_that_do_not_arrive_are_not_counted() {
        // One of each warp, or two of one.
        let leaders = "setp.eq.u32 %p3, %r4, 0; @%p3 ";
        for lanes in [&[0, 32][..], &[0, 1, 32], &[0]] {
            assert_eq!(arrived("2", lanes, leaders), CLEAN, "{lanes:?}");
            assert_eq!(arrived("64", lanes, leaders), hangs(), "{lanes:?}");
        }
        let first = "setp.lt.u32 %p3, %r1, 2; @%p3 ";
        assert_eq!(arrived("2", &[0, 32], first), CLEAN);
        assert_eq!(arrived("3", &[0, 32], first), hangs());
        // Which warp it is a thread may be told by a lane, and who leads it by an election.
        let elected = "shfl.sync.idx.b32 %r6, %r5, 0, 31, -1; setp.eq.u32 %p4, %r6, 1;\n\
             elect.sync _|%p5, -1; and.pred %p3, %p4, %p5; @%p3 ";
        assert_eq!(arrived("1", &[0, 32], elected), CLEAN);
        assert_eq!(arrived("2", &[0, 32], elected), hangs());
        // A leader arrives for its warp.
        let for_warp = |lanes| {
            let body = format!("{leaders}{}{WAIT}", ARRIVE.replace("[m]", "[m], 32"));
            judged("64", lanes, &body)
        };
        assert_eq!([for_warp(&[0, 32]), for_warp(&[0])], [CLEAN, CLEAN]);
    }

    #[test]
    fn a_launch_is_not_clean_where_threads_that_are_left_out_end_other_phases() {
        let waits = WAIT.replace("$L", "$N").replace("], 0", "], 1");
        let few = "setp.lt.u32 %p3, %r1, 2; @%p3 ";
        for (count, body) in [
            // More arrive than the object counts, or some arrive twice.
            ("2", format!("{ARRIVE}{WAIT}")),
            ("2", format!("{few}{ARRIVE}@%p3 {ARRIVE}{WAIT}")),
            // Some arrive in one of two phases.
            ("2", format!("{few}{ARRIVE}{WAIT}@!%p1 {ARRIVE}{waits}")),
        ] {
            let (found, open) = judged(count, &[0, 32], &body);
            let wanted = format!("counts {count} arrivals, and threads that are left out");
            assert!(found.is_empty() && open.iter().all(|why| why.contains(&wanted)), "{open:?}");
            assert!(!open.is_empty(), "{body}");
        }
        let both = format!("{ARRIVE}{WAIT}{ARRIVE}{waits}");
        assert_eq!(judged("64", &[0, 32], &both), CLEAN);
    }

    #[test]
    fn an_object_of_a_ring_is_known_by_those_who_arrive() {
        // In each of two turns, the other warp arrives at one object, and thread 0 at another one.
        let ring = "mov.u32 %r3, 0;\n$A: setp.lt.u32 %p3, %r1, 32; @%p3 bra $C;\n\
             mbarrier.arrive.shared::cta.b64 _, [%r7]; bra $D;\n\
             $C: @%p1 bra $D; mbarrier.arrive.shared::cta.b64 _, [%r7+8];\n\
             $D: add.u32 %r3, %r3, 1; add.u32 %r7, %r7, 16; setp.lt.u32 %p4, %r3, 2; @%p4 bra $A;\n";
        for waits in [WAIT.to_owned(), WAIT.replace("[m]", "[m+24]")] {
            assert_eq!(judged("32", &[0, 32], &format!("{ring}{waits}")), CLEAN);
        }
    }

    #[test]
    fn a_wait_for_threads_that_are_left_out_is_no_hang() {
        for (count, guard) in [("48", ""), ("1", "setp.eq.u32 %p3, %r1, 32; @%p3 ")] {
            let (found, open) = arrived(count, &[0, 1], guard);
            let [why] = &open[..] else { panic!("{count} {guard}: {found:?} {open:?}") };
            let wanted = format!("(line 9) counts {count} arrivals, and threads that are left out");
            assert!(found.is_empty() && why.contains(&wanted), "{why}");
            assert!(why.contains("(line 14): which arrivals"), "{why}");
        }
    }

    #[test]
    fn a_wait_for_bytes_that_threads_bring_that_are_left_out_is_no_hang() {
        let body = format!(
            "@%p1 bra $C; mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [m], 8;\n\
             $C: setp.lt.u32 %p3, %r1, 2; @%p3 mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [m], 4;\n{WAIT}"
        );
        assert_eq!(judged("1", &[0, 1], &body), CLEAN);
        let (found, open) = judged("1", &[0, 32], &body);
        let [why] = &open[..] else { panic!("{found:?} {open:?}") };
        assert!(found.is_empty() && why.contains("such as CTA 0 thread 1 (line 15)"), "{why}");
    }
}
