//! Sets of several edits of barriers and waits, built up by what each step mends.
//!
//! There are too many sets of three to try each. A step goes on with a set only if what was wrong with the test is then
//! wrong no more: it may be another thing, which the next step has to mend. All orders and fences are made meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use crate::edit::{EditCost, ProgramEdit, cost, in_order, without};
use crate::idiom::idioms;
use crate::question::{Questions, Remaining, RepairLimit, TestFault};
use crate::stage::{MOST_BASES, Stages, are_apart};

/// The most changed tests that are judged for this.
const MOST_SETS: usize = 3000;

/// The most sets of one size that are extended, and those of them with one fault.
const MOST_EXTENDED: usize = 32;
const MOST_OF_A_FAULT: usize = 4;

/// A set of steps, by their numbers, with which something is still wrong.
struct FaultySet {
    steps: Vec<usize>,
    cost: EditCost,
    fault: TestFault,
}

impl Stages<'_> {
    /// Several other edits, with sites.
    pub(crate) fn several(&mut self, questions: &mut Questions<'_>) -> Vec<Vec<ProgramEdit>> {
        let waits = |edit: &ProgramEdit| questions.to_finish && edit.kind.only_waits();
        let others = self.others.iter().filter(|edit| !waits(edit)).map(|edit| vec![edit]);
        let mut steps: Vec<Vec<&ProgramEdit>> =
            others.chain(idioms(self.source, &self.others)).collect();
        steps.sort_by_key(|step| cost(step.iter().copied()));
        let most = questions.options.edits as usize;
        let mut tried = 0;
        let mut all = Vec::new();
        let Remaining::Fault(fault) = self.remains(&[], questions) else { return all };
        let mut level = vec![FaultySet { steps: Vec::new(), cost: EditCost::default(), fault }];
        for size in 1..=most {
            let (mut next, mut found) = (Vec::new(), Vec::new());
            let mut known: BTreeSet<Vec<usize>> = BTreeSet::new();
            'level: for set in &level {
                for at in 0..steps.len() {
                    let mut longer = set.steps.clone();
                    longer.push(at);
                    longer.sort_unstable();
                    let edits = edits_of(&steps, &longer);
                    if !are_distinct(&edits) || !known.insert(longer.clone()) {
                        continue;
                    }
                    if tried == MOST_SETS || questions.has_ended() {
                        break 'level;
                    }
                    tried += 1;
                    // One and two were tried before, without sites.
                    self.tried.sets += usize::from(size > 2);
                    match self.remains(&edits, questions) {
                        Remaining::Nothing => found.push(longer),
                        Remaining::Fault(fault) if fault != set.fault => {
                            let cost = cost(edits);
                            next.push(FaultySet { steps: longer, cost, fault });
                        }
                        Remaining::Fault(_) | Remaining::Unknown => {}
                    }
                }
            }
            found.sort_by_key(|set| cost(edits_of(&steps, set)));
            for set in found.iter().take(MOST_BASES) {
                for mut set in self.completed(&edits_of(&steps, set), most - size, questions) {
                    in_order(&mut set);
                    if !all.contains(&set) {
                        all.push(set);
                    }
                }
            }
            if !all.is_empty() {
                break;
            }
            level = best(next);
        }
        if tried == MOST_SETS && (all.is_empty() || questions.options.all) {
            questions.limit.get_or_insert(RepairLimit::Sets(MOST_SETS));
        }
        all
    }

    /// What is wrong with a test with these edits, and all sites beside them.
    fn remains(&self, edits: &[&ProgramEdit], questions: &mut Questions<'_>) -> Remaining {
        let sites = self.sites_beside(edits).into_iter().filter_map(|site| self.top(site));
        questions.remains(&sites.chain(edits.iter().copied()).collect::<Vec<_>>())
    }

    /// These edits with the fewest sites, at most so many; without edits that are not needed then.
    fn completed(
        &self,
        edits: &[&ProgramEdit],
        most: usize,
        questions: &mut Questions<'_>,
    ) -> Vec<Vec<ProgramEdit>> {
        let sets = if questions.forbids(edits) {
            vec![edits.iter().copied().cloned().collect()]
        } else if most > 0 {
            self.of_sites(edits, most, questions).unwrap_or_default()
        } else {
            Vec::new()
        };
        sets.into_iter().map(|set| needed(set, questions)).collect()
    }
}

/// The edits of some steps.
fn edits_of<'e>(steps: &[Vec<&'e ProgramEdit>], set: &[usize]) -> Vec<&'e ProgramEdit> {
    set.iter().flat_map(|&at| steps[at].iter().copied()).collect()
}

/// The sets that are extended: cheaper ones first, few of one fault, and those last of which no execution finishes.
fn best(mut sets: Vec<FaultySet>) -> Vec<FaultySet> {
    sets.sort_by(|a, b| {
        let key = |set: &FaultySet| (set.fault.hangs, set.cost);
        key(a).cmp(&key(b))
    });
    let mut count: BTreeMap<TestFault, usize> = BTreeMap::new();
    sets.retain(|set| {
        let count = count.entry(set.fault.clone()).or_default();
        *count += 1;
        *count <= MOST_OF_A_FAULT
    });
    sets.truncate(MOST_EXTENDED);
    sets
}

/// Whether edits change different instructions, and none is there twice.
fn are_distinct(edits: &[&ProgramEdit]) -> bool {
    edits
        .iter()
        .enumerate()
        .all(|(at, one)| edits[at + 1..].iter().all(|other| one != other && are_apart(one, other)))
}

/// Without the edits that are not needed.
fn needed(mut set: Vec<ProgramEdit>, questions: &mut Questions<'_>) -> Vec<ProgramEdit> {
    let mut at = 0;
    while at < set.len() && set.len() > 1 {
        if questions.forbids(&without(&set, at)) {
            set.remove(at);
        } else {
            at += 1;
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use crate::samples::source;
    use crate::{RepairLimit, RepairOptions, Repairs, repair};

    fn searched(text: &str) -> Repairs {
        let model = model::ptx::model();
        repair(&source(text), &RepairOptions::new(&model))
    }

    fn lines(repairs: &Repairs) -> Vec<String> {
        let first = repairs.proposals.first().map_or(&[][..], |first| &first.edits);
        first.iter().flat_map(|edit| &edit.lines).map(ToString::to_string).collect()
    }

    /// Two threads that copy a part each, in each of two rounds, and read the part of the other.
    fn rounds(waits: &[&str]) -> String {
        let column = ["N: cvta.to.global.u64 a, src", "cvta.to.shared.u64 b, dst", COPY];
        let rest = ["ld.u32 r0, [peer]", "add.u32 sum, sum, r0", "add.u64 src, src, 32"];
        let end = ["add.u32 k, k, 1", "setp.lt.u32 q, k, 2", "@q bra N"];
        let column = column.iter().chain(waits).chain(&rest).chain(&end);
        let rows: Vec<String> = column.map(|cell| format!(" {cell} | {cell} ;\n")).collect();
        let rows = rows.concat();
        format!(
            "PTX rounds\nArch=sm_80\n{{ .global .align 16 .u32 g[16]={{1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4}}; \
             .shared .align 16 .u32 s[8]; P0:src=g; P1:src=g+16; P0:dst=s; P1:dst=s+16; P0:peer=s+16; P1:peer=s; }}\n \
             P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n{rows}forall (P0:sum=6 /\\ P1:sum=4)\n"
        )
    }

    const COPY: &str = "cp.async.cg.shared.global [b], [a], 16";

    #[test]
    fn a_loop_of_copies_without_wait_and_barriers_gets_all_of_them() {
        let repairs = searched(&rounds(&[]));
        assert_eq!(repairs.limit, None);
        let all = [
            "P0: insert `cp.async.wait_all` before `ld.u32 r0, [peer]`",
            "P1: insert `cp.async.wait_all` before `ld.u32 r0, [peer]`",
            "P0: insert `bar.sync 0` before `ld.u32 r0, [peer]`",
            "P1: insert `bar.sync 0` before `ld.u32 r0, [peer]`",
            "P0: insert `bar.sync 0` before `@q bra N`",
            "P1: insert `bar.sync 0` before `@q bra N`",
        ];
        assert_eq!(lines(&repairs), all);
        // The wait counts nothing as long as nothing is committed.
        let repairs = searched(&rounds(&["cp.async.wait_group 0"]));
        assert_eq!(lines(&repairs).len(), 6, "{:?}", lines(&repairs));
        let commit = "insert `cp.async.commit_group` before `cp.async.wait_group 0`";
        assert!(lines(&repairs).iter().any(|line| line.contains(commit)), "{:?}", lines(&repairs));
    }

    #[test]
    fn a_bulk_copy_of_what_was_stored_gets_fence_commit_wait_and_barrier() {
        let text = "PTX store\nArch=sm_90\n{ .global .align 16 .u32 g[4]; .shared .align 16 .u32 s[4]; }\n \
            P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.shared.u32 [s], 7 | ;\n \
            cp.async.bulk.global.shared::cta.bulk_group [g], [s], 16 | ;\n \
            st.shared.u32 [s], 9 | ld.u32 r0, [g] ;\nforall (P1:r0=7)\n";
        let lines = lines(&searched(text));
        let inserted = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
        assert_eq!(inserted("insert `fence.proxy.async"), 1, "{lines:?}");
        assert_eq!(inserted("insert `cp.async.bulk.commit_group`"), 1, "{lines:?}");
        assert_eq!(inserted("insert `cp.async.bulk.wait_group 0`"), 1, "{lines:?}");
        assert_eq!(inserted("insert `bar.sync 0`"), 2, "{lines:?}");
    }

    #[test]
    fn a_bulk_load_that_nobody_waits_for_gets_its_bytes_and_a_wait() {
        let text = "PTX load\nArch=sm_90\n{ .global .align 16 .b32 g[4]={7,7,7,7}; .shared .align 16 .b32 s[4]; \
            .shared .mbarrier b={1}; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
            cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b] | ld.shared.u32 r, [s] ;\n\
            forall (P1:r=7)\n";
        let lines = lines(&searched(text));
        let inserted = |what: &str| lines.iter().any(|line| line.contains(what));
        assert!(
            inserted("P0: insert `mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 16`"),
            "{lines:?}"
        );
        assert!(inserted("mbarrier.try_wait.parity.shared::cta.b64 ended0, [b], 0`"), "{lines:?}");
    }

    #[test]
    fn what_no_set_mends_was_tried_in_sets() {
        let text = rounds(&[]).replace("P0:sum=6", "P0:sum=7");
        let repairs = searched(&text);
        assert!(repairs.proposals.is_empty(), "{:?}", lines(&repairs));
        assert!(repairs.tried.sets > 0);
        assert!(!matches!(repairs.limit, Some(RepairLimit::Time)));
    }
}
