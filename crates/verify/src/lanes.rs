//! Threads of CTAs that are left out of the test of a launch.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{Function, FunctionLine};
use model::isa::bar::{Barrier, BarrierKind};
use model::isa::warp::ExchangeOp;
use model::isa::{Instruction, Operand};

use crate::launch::{LaunchError, LaunchSpec, ThreadPlace};
use crate::special::LANES;

/// The opcode of a row with its modifiers.
pub(crate) fn opcode(text: &str) -> &str {
    let mut words = text.split_whitespace();
    words.find(|word| !word.starts_with('@')).unwrap_or("")
}

/// A warp: its CTA, and its number in it.
type Warp = (u32, u32);

/// The threads of CTAs of the test that the test does not have.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOut {
    /// The lanes that are left out of each warp that has some in the test.
    lanes: BTreeMap<Warp, BTreeSet<u32>>,
    /// A warp whose first lanes are not those of the test, in this order.
    gap: Option<Warp>,
    /// Whether some CTA has threads that are not in the test.
    some: bool,
    /// How many lanes of each warp are in the test, where each warp of a CTA has as many.
    of_each_warp: Option<u32>,
}

/// What helps.
const REMEDY: &str =
    "name all lanes of the warp, without --lanes, or launch a block with fewer threads";
const REMEDY_OF_CTA: &str =
    "name all threads, without --lanes, or launch a block with fewer threads";

impl LeftOut {
    pub(crate) fn of(launch: &LaunchSpec, places: &[ThreadPlace]) -> LeftOut {
        let threads = u32::try_from(launch.block.count()).unwrap_or(u32::MAX);
        let mut chosen: BTreeMap<Warp, Vec<u32>> = BTreeMap::new();
        for place in places {
            let warp = (place.cta, place.thread / LANES);
            chosen.entry(warp).or_default().push(place.thread % LANES);
        }
        let ctas: BTreeSet<u32> = chosen.keys().map(|warp| warp.0).collect();
        let in_test: BTreeSet<u32> =
            chosen.values().map(|lanes| u32::try_from(lanes.len()).unwrap_or(LANES)).collect();
        let warps = ctas.len() * threads.div_ceil(LANES) as usize;
        let mut left_out = LeftOut {
            some: places.len() < ctas.len() * threads as usize,
            of_each_warp: in_test
                .first()
                .copied()
                .filter(|_| in_test.len() == 1 && chosen.len() == warps),
            ..LeftOut::default()
        };
        for (warp, lanes) in chosen {
            let all = LANES.min(threads - LANES * warp.1);
            let missing: BTreeSet<u32> = (0..all).filter(|lane| !lanes.contains(lane)).collect();
            if !lanes.iter().copied().eq(0..all - u32::try_from(missing.len()).unwrap_or(all)) {
                left_out.gap = Some(warp);
            }
            if !missing.is_empty() {
                left_out.lanes.insert(warp, missing);
            }
        }
        left_out
    }

    /// Whether lanes of the warp of a thread are left out.
    pub(crate) fn of_warp(&self, place: ThreadPlace) -> bool {
        self.lanes.contains_key(&(place.cta, place.thread / LANES))
    }

    /// An instruction of the test as the kernel has it: masks and counts are of all threads. `None` if the count is not
    /// known.
    pub(crate) fn in_kernel(&self, instruction: &str) -> Option<String> {
        let name = opcode(instruction);
        let whole = || Some(instruction.to_owned());
        if name.starts_with("bar.warp.sync") && !self.lanes.is_empty() {
            let begin = instruction.find(name)? + name.len();
            return Some(format!("{} -1", &instruction[..begin]));
        }
        let barrier = ["bar.", "barrier."].iter().any(|kind| name.starts_with(kind));
        let counted = instruction.rsplit_once(',').filter(|_| barrier && self.some);
        let Some((before, count)) = counted else { return whole() };
        let count: u64 = count.trim().parse().ok()?;
        let lanes = u64::from(self.of_each_warp?);
        count
            .is_multiple_of(lanes)
            .then(|| format!("{before}, {}", count / lanes * u64::from(LANES)))
    }

    /// Whether CTAs of the test have threads that are left out.
    pub(crate) fn has_threads(&self) -> bool {
        self.some
    }

    /// Makes the barriers of a kernel those of the threads of the test. From which lane a shuffle takes its value shows
    /// later.
    ///
    /// # Errors
    /// What asks threads that are left out.
    pub(crate) fn adapt(&self, function: &mut Function) -> Result<(), Vec<LaunchError>> {
        let mut errors = Vec::new();
        for row in &mut function.rows {
            if let Err(error) = self.adapt_row(row) {
                errors.push(error.at(row.line));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn adapt_row(&self, row: &mut FunctionLine) -> Result<(), LaunchError> {
        let barriers = row.lines.iter().filter_map(|step| {
            if let Instruction::Barrier(barrier) = &step.line.instruction {
                Some(barrier)
            } else {
                None
            }
        });
        let barriers: Vec<Barrier> = barriers.cloned().collect();
        barriers.iter().try_for_each(|barrier| self.adapt_barrier(row, barrier))
    }

    fn adapt_barrier(&self, row: &mut FunctionLine, barrier: &Barrier) -> Result<(), LaunchError> {
        let name = opcode(&row.text);
        if let BarrierKind::Exchange(exchange) = &barrier.kind {
            return self.check_exchange(name, exchange.op, barrier.id);
        }
        if barrier.warp || !self.some {
            return Ok(());
        }
        if let BarrierKind::Reduce { .. } = barrier.kind {
            let why = format!("`{name}` asks all threads of the CTA, and some are left out");
            return Err(LaunchError::new(why).help(REMEDY_OF_CTA));
        }
        match (barrier.count, self.of_each_warp) {
            (None, _) => Ok(()),
            (Some(Operand::Imm(count)), Some(lanes)) if count % u64::from(LANES) == 0 => {
                let own = count / u64::from(LANES) * u64::from(lanes);
                let begin = row.text.rfind(',').map_or(0, |comma| comma + 1);
                row.text.replace_range(begin.., &format!(" {own}"));
                Ok(())
            }
            (Some(_), _) => {
                let why = format!(
                    "`{name}` counts threads, and some are left out: how many of those of the test it counts is not known"
                );
                Err(LaunchError::new(why)
                    .help("name as many lanes of each warp of the CTA, or all threads"))
            }
        }
    }

    fn check_exchange(&self, name: &str, op: ExchangeOp, mask: Operand) -> Result<(), LaunchError> {
        if let Some((cta, warp)) = self.gap {
            let why = format!(
                "`{name}`: the lanes of the test are not the first ones of warp {warp} of CTA {cta}, in their order"
            );
            return Err(LaunchError::new(why).help("--lanes 0,1"));
        }
        // A shuffle asks one lane, which shows later. `elect` and `activemask` ask none.
        let asks_one =
            matches!(op, ExchangeOp::Shuffle(_) | ExchangeOp::Elect | ExchangeOp::Active);
        let Operand::Imm(mask) = mask else { return Ok(()) };
        let asked = |lane: &&u32| !asks_one && mask >> **lane & 1 == 1;
        match self.lanes.values().flatten().find(asked) {
            Some(lane) => {
                let why = format!("`{name}` asks lane {lane}, which is left out");
                Err(LaunchError::new(why).help(REMEDY))
            }
            None => Ok(()),
        }
    }

    /// Why nothing is known of what a shuffle takes from a lane that is left out.
    pub(crate) fn unknown(text: &str) -> String {
        format!("`{text}` takes the value of a lane that is left out: {REMEDY}")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Composed, Dim3, KernelModule, LaunchSpec, ThreadChoice, compose};

    /// The test of a launch of a kernel with this instruction, or what is said of it.
    fn composed(instruction: &str, block: u32, lanes: &[u32]) -> Result<Composed, Vec<String>> {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .pred %p<2>; .reg .b32 %r<4>;\nmov.u32 %r2, -1;\n{instruction};\nret;\n}}\n"
        );
        let module = KernelModule::read("m.ptx", &text).expect("a module");
        let block = Dim3 { x: block, ..Dim3::ONE };
        let threads = ThreadChoice::OfEachCta(lanes.to_vec());
        let launch = LaunchSpec { threads, ..LaunchSpec::new(Dim3::ONE, block) };
        compose(&module, &launch)
            .map_err(|errors| errors.into_iter().map(|error| error.message).collect())
    }

    /// What is said of a launch of four lanes, of which the test has some, of a kernel with this instruction.
    fn said(instruction: &str, lanes: &[u32]) -> Vec<String> {
        composed(instruction, 4, lanes).err().unwrap_or_default()
    }

    #[test]
    fn a_vote_names_lanes_of_the_test() {
        let vote = "vote.sync.ballot.b32 %r1, %p1, %r2";
        assert_eq!(said(vote, &[0, 1, 2, 3]), [""; 0]);
        let asks = "`vote.sync.ballot.b32` asks lane 2, which is left out";
        assert_eq!(said(vote, &[0, 1]), [asks]);
        assert_eq!(said("vote.sync.ballot.b32 %r1, %p1, 3", &[0, 1]), [""; 0]);
        assert_eq!(said("elect.sync %r1|%p1, -1", &[0, 1]), [""; 0]);
    }

    #[test]
    fn a_barrier_counts_threads_of_the_test() {
        let text = |instruction: &str, block: u32, lanes: &[u32]| {
            composed(instruction, block, lanes).map(|composed| {
                let row = composed.text.lines().find(|line| line.contains("bar")).unwrap_or("");
                row.split('|').next().unwrap_or("").trim_matches([' ', ';']).to_owned()
            })
        };
        let counted = "bar.sync 1, 64";
        assert_eq!(text(counted, 64, &[0, 32]), Ok("bar.sync 1, 2".to_owned()));
        assert_eq!(text(counted, 64, &[0, 1, 32, 33]), Ok("bar.sync 1, 4".to_owned()));
        // Not as many of each warp.
        for lanes in [&[0, 1, 32][..], &[0, 1]] {
            let said = text(counted, 64, lanes).expect_err("the count is not known");
            assert!(said[0].starts_with("`bar.sync` counts threads"), "{said:?}");
        }
        assert_eq!(text("bar.sync 1, 4", 4, &[0, 1, 2, 3]), Ok("bar.sync 1, 4".to_owned()));
        let reduced = text("bar.red.popc.u32 %r1, 0, %p1", 64, &[0, 32]);
        let said = reduced.expect_err("the predicates of others are not known");
        assert_eq!(said, ["`bar.red.popc.u32` asks all threads of the CTA, and some are left out"]);
    }

    #[test]
    fn lanes_that_exchange_are_the_first_ones() {
        let shuffle = "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1";
        assert_eq!(said(shuffle, &[0, 1]), [""; 0]);
        assert_eq!(said(shuffle, &[1, 2]).len(), 1);
        assert_eq!(said(shuffle, &[1, 0]).len(), 1);
        assert_eq!(said("bar.sync 0", &[1, 2]), [""; 0]);
    }

    #[test]
    fn what_is_inserted_is_of_all_threads_of_the_kernel() {
        let composed = composed("bar.sync 1, 64", 64, &[0, 32]).expect("it is composed");
        let in_kernel = |text| composed.left_out.in_kernel(text);
        assert_eq!(in_kernel("bar.sync 2, 2").as_deref(), Some("bar.sync 2, 64"));
        assert_eq!(in_kernel("bar.sync 0").as_deref(), Some("bar.sync 0"));
        assert_eq!(in_kernel("@p1 bar.warp.sync 1").as_deref(), Some("@p1 bar.warp.sync -1"));
    }
}
