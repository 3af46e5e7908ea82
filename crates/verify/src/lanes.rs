//! Threads of CTAs that are left out of the test of a launch.

use std::collections::{BTreeMap, BTreeSet};

use lift::function::{Function, FunctionLine};
use model::isa::bar::{Barrier, BarrierKind};
use model::isa::warp::{Exchange, ExchangeOp};

use crate::absent::{
    ForgottenValue, absent_source, always_executed, barriers, number, spare_register,
};
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
    /// The first of them.
    thread: u32,
    /// How many lanes of each warp are in the test, where each warp of a CTA has as many.
    of_each_warp: Option<u32>,
}

/// What helps.
pub(crate) const REMEDY: &str =
    "name all lanes of the warp, with `--lanes all`, or launch a block with fewer threads";
const REMEDY_OF_CTA: &str =
    "name all threads, with `--lanes all`, or launch a block with fewer threads";

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
            thread: first_without(places, threads),
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

    /// How many of so many threads, which are whole warps, are in the test.
    fn of_whole_warps(&self, count: u64) -> Option<u64> {
        let (lanes, own) = (u64::from(LANES), u64::from(self.of_each_warp?));
        count.is_multiple_of(lanes).then(|| count / lanes * own)
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
        // It counts threads of the test.
        if name.starts_with("mbarrier.init") && self.some {
            return None;
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

    /// Makes the barriers of a kernel those of the threads of the test. What they get of threads that are left out is not
    /// computed. From which lane a shuffle takes its value may show later.
    ///
    /// # Errors
    /// What asks threads that are left out, and cannot be written without them.
    pub(crate) fn adapt(&self, function: &mut Function) -> Result<(), Vec<LaunchError>> {
        let mut errors = Vec::new();
        let spare = spare_register(function);
        let of_test = self.lanes.values().filter_map(BTreeSet::first).max().copied();
        let of_test = of_test.unwrap_or(LANES);
        let always = if self.some { always_executed(function) } else { Vec::new() };
        // What lanes of a gap exchange is told once, for all lines.
        let mut exchanges: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, row) in function.rows.iter_mut().enumerate() {
            let always = always.get(at).copied().unwrap_or(false);
            let forgotten = |of| ForgottenValue { of, spare: &spare, of_test, always };
            let all = barriers(row);
            let is_exchange = |of: &Barrier| matches!(of.kind, BarrierKind::Exchange(_));
            if self.gap.is_some() && all.iter().any(is_exchange) {
                exchanges.entry(opcode(&row.text).to_owned()).or_default().push(row.line);
                continue;
            }
            let adapted = all.iter().try_for_each(|of| self.adapt_barrier(row, of, &forgotten));
            if let Err(error) = adapted {
                errors.push(error.at(row.line));
            }
        }
        if let (Some(warp), false) = (self.gap, exchanges.is_empty()) {
            errors.insert(0, of_gap(warp, &exchanges));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn adapt_barrier<'f>(
        &self,
        row: &mut FunctionLine,
        barrier: &Barrier,
        forgotten: &dyn Fn(String) -> ForgottenValue<'f>,
    ) -> Result<(), LaunchError> {
        let name = opcode(&row.text);
        if let BarrierKind::Exchange(exchange) = &barrier.kind {
            let asked = self.asked(exchange, number(barrier.id));
            let of_lane = |lane| forgotten(format!("lane{lane}")).rows(row, barrier);
            if let Some(text) = asked.and_then(of_lane) {
                row.text = text;
            }
            return Ok(());
        }
        if barrier.warp || !self.some {
            return Ok(());
        }
        if let BarrierKind::Reduce { .. } = barrier.kind {
            let why = format!("`{name}` asks all threads of the CTA, and some are left out");
            let without = forgotten(format!("thread{}", self.thread)).rows(row, barrier);
            row.text = without
                .filter(|_| barrier.count.is_none())
                .ok_or_else(|| LaunchError::new(why).help(REMEDY_OF_CTA))?;
            return Ok(());
        }
        let Some(count) = barrier.count else { return Ok(()) };
        let Some(own) = number(count).and_then(|count| self.of_whole_warps(count)) else {
            let why = format!(
                "`{name}` counts threads, and some are left out: how many of those of the test it counts is not known"
            );
            return Err(LaunchError::new(why)
                .help("name as many lanes of each warp of the CTA, or all threads"));
        };
        let begin = row.text.rfind(',').map_or(0, |comma| comma + 1);
        row.text.replace_range(begin.., &format!(" {own}"));
        Ok(())
    }

    /// A lane that is left out of which an exchange takes a value.
    fn asked(&self, exchange: &Exchange, mask: Option<u64>) -> Option<u32> {
        let lanes = || self.lanes.values();
        match exchange.op {
            // These ask none.
            ExchangeOp::Elect | ExchangeOp::Active => None,
            ExchangeOp::Shuffle(shuffle) => absent_source(shuffle, exchange, mask, lanes()),
            ExchangeOp::All
            | ExchangeOp::Any
            | ExchangeOp::Uniform
            | ExchangeOp::Ballot
            | ExchangeOp::MatchAny(_)
            | ExchangeOp::MatchAll(_)
            | ExchangeOp::Reduce(_) => {
                mask.and_then(|mask| lanes().flatten().copied().find(|lane| mask >> lane & 1 == 1))
            }
        }
    }

    /// Why nothing is known of what a shuffle takes from a lane that is left out.
    pub(crate) fn unknown(text: &str) -> String {
        format!("`{text}` takes the value of a lane that is left out: {REMEDY}")
    }
}

/// Why lanes with a gap before one of them exchange nothing: a test numbers its lanes from 0. The exchanges with their lines.
fn of_gap((cta, warp): Warp, exchanges: &BTreeMap<String, Vec<usize>>) -> LaunchError {
    let of_opcode = |(opcode, lines): (&String, &Vec<usize>)| {
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
        format!("`{opcode}` ({word} {})", numbers.join(", "))
    };
    let all: Vec<String> = exchanges.iter().map(of_opcode).collect();
    let first = exchanges.values().flatten().min().copied().unwrap_or(0);
    let why = format!(
        "the lanes of the test are not the first ones of warp {warp} of CTA {cta}, in their order, and exchange values: {}",
        all.join(", ")
    );
    LaunchError::new(why)
        .help("name the first lanes of each warp, such as --lanes 0,1, or all: --lanes all")
        .at(first)
}

/// The first thread of the first CTA that has no place.
fn first_without(places: &[ThreadPlace], all: u32) -> u32 {
    let of_first = places.iter().filter(|place| place.cta == places[0].cta);
    let named: BTreeSet<u32> = of_first.map(|place| place.thread).collect();
    (0..all).find(|thread| !named.contains(thread)).unwrap_or(0)
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

    /// The instructions of the first thread, without the `mov` before them.
    fn first_column(composed: &Composed) -> Vec<String> {
        let rows = composed.text.lines().skip_while(|line| !line.starts_with(" P0@")).skip(1);
        let rows = rows.take_while(|line| line.ends_with(';'));
        let cell =
            |row: &str| row.split(" | ").next().unwrap_or("").trim_matches([' ', ';']).to_owned();
        rows.map(cell).filter(|cell| !cell.starts_with("mov.u32 r2")).collect()
    }

    fn rows(instruction: &str, block: u32, lanes: &[u32]) -> Vec<String> {
        first_column(&composed(instruction, block, lanes).expect("it is composed"))
    }

    /// What is said of a launch of four lanes, of which the test has some, of a kernel with this instruction.
    fn said(instruction: &str, lanes: &[u32]) -> Vec<String> {
        composed(instruction, 4, lanes).err().unwrap_or_default()
    }

    #[test]
    fn a_vote_of_lanes_of_the_test_is_computed() {
        let vote = "vote.sync.ballot.b32 %r1, %p1, %r2";
        let rows = |instruction: &str, lanes: &[u32]| rows(instruction, 4, lanes);
        let whole = "vote.sync.ballot.b32 r1, p1, -1";
        assert_eq!(rows(vote, &[0, 1, 2, 3])[0], whole);
        let value = "opaque.b32.left_out.lane2.vote.sync r1, r1";
        assert_eq!(rows(vote, &[0, 1]), [whole, value]);
        let of_test = "vote.sync.ballot.b32 %r1, %p1, 3";
        assert_eq!(rows(of_test, &[0, 1]), ["vote.sync.ballot.b32 r1, p1, 3"]);
        assert_eq!(rows("elect.sync %r1|%p1, -1", &[0, 1]), ["elect.sync r1|p1, -1"]);
    }

    #[test]
    fn what_lanes_that_are_left_out_bring_is_not_computed() {
        for (instruction, wanted) in [
            (
                "shfl.sync.down.b32 %r1|%p1, %r3, 2, 31, %r2",
                &["opaque.b32.left_out.lane2.shfl.sync r1, r3", "mov.pred p1, 1"][..],
            ),
            // Not each lane comes to it.
            (
                "@%p1 shfl.sync.down.b32 %r1|%p1, %r3, 2, 31, %r2",
                &[
                    "@p1 shfl.sync.bfly.b32 r1, r3, 0, 31, -1",
                    "@p1 opaque.b32.left_out.lane2.shfl.sync r1, r1",
                    "@p1 mov.pred p1, 1",
                ],
            ),
            // In segments of two lanes, the second one is out of range.
            (
                "@%p1 shfl.sync.idx.b32 %r1|%p1, %r3, 2, 1, -1",
                &["@p1 shfl.sync.idx.b32 r1|p1, r3, 2, 1, -1"],
            ),
            (
                "shfl.sync.down.b32 %r1|%p1, %r3, 2, 2, -1",
                &["opaque.b32.left_out.lane2.shfl.sync r1, r3", "setp.ne.u32 p1, r1, 0"],
            ),
            // All lanes that it takes values of are there, or it cannot be told which they are.
            ("shfl.sync.bfly.b32 %r1, %r3, 1, 31, -1", &["shfl.sync.bfly.b32 r1, r3, 1, 31, -1"]),
            ("shfl.sync.up.b32 %r1, %r3, 2, 0, -1", &["shfl.sync.up.b32 r1, r3, 2, 0, -1"]),
            ("shfl.sync.idx.b32 %r1, %r3, %r1, 31, -1", &["shfl.sync.idx.b32 r1, r3, r1, 31, -1"]),
            // The kernel has no such lane, or it is not in the mask.
            ("shfl.sync.idx.b32 %r1, %r3, 5, 31, -1", &["shfl.sync.idx.b32 r1, r3, 5, 31, -1"]),
            ("shfl.sync.idx.b32 %r1, %r3, 2, 31, 3", &["shfl.sync.idx.b32 r1, r3, 2, 31, 3"]),
            (
                "@%p1 vote.sync.any.pred %p1, !%p1, -1",
                &[
                    "@p1 vote.sync.ballot.b32 left_out, !p1, -1",
                    "@p1 opaque.b32.left_out.lane2.vote.sync left_out, left_out",
                    "@p1 setp.ne.u32 p1, left_out, 0",
                ],
            ),
            (
                "redux.sync.add.u32 %r1, %r3, -1",
                &["redux.sync.add.u32 r1, r3, -1", "opaque.b32.left_out.lane2.redux.sync r1, r1"],
            ),
            (
                "match.all.sync.b32 %r1|%p1, %r3, -1",
                &[
                    "match.all.sync.b32 r1, r3, -1",
                    "opaque.b32.left_out.lane2.match.sync r1, r1",
                    "setp.ne.u32 p1, r1, 0",
                ],
            ),
            (
                "bar.red.and.pred %p1, 0, %p1",
                &[
                    "bar.red.popc.u32 left_out, 0, p1",
                    "opaque.b32.left_out.thread2.bar.red left_out, left_out",
                    "setp.ne.u32 p1, left_out, 0",
                ],
            ),
        ] {
            assert_eq!(rows(instruction, 4, &[0, 1]), wanted, "{instruction}");
        }
    }

    #[test]
    fn a_barrier_counts_threads_of_the_test() {
        let text = |instruction: &str, block: u32, lanes: &[u32]| {
            composed(instruction, block, lanes).map(|composed| first_column(&composed)[0].clone())
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
        let reduced = text("bar.red.popc.u32 %r1, 1, 64, %p1", 64, &[0, 32]);
        let said = reduced.expect_err("how many it counts is not known");
        assert_eq!(said, ["`bar.red.popc.u32` asks all threads of the CTA, and some are left out"]);
    }

    #[test]
    fn lanes_that_exchange_are_the_first_ones() {
        let shuffle = "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1";
        assert_eq!(said(shuffle, &[0, 1]), [""; 0]);
        assert_eq!(said(shuffle, &[1, 2]).len(), 1);
        assert_eq!(said(shuffle, &[1, 0]).len(), 1);
        // One error for all of them.
        let both = format!("{shuffle};\n{shuffle};\nelect.sync %r1|%p1, -1");
        let told = said(&both, &[0, 2]);
        let lines = "`elect.sync` (line 10), `shfl.sync.idx.b32` (lines 8, 9)";
        assert!(told.len() == 1 && told[0].ends_with(lines), "{told:?}");
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
