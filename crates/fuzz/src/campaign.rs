//! Campaigns: laws over blocks of cases, what they found, and its sum over shards.
//!
//! A case has a number. Blocks of [`BLOCK`] cases are dealt out to the shards in turn, and the result of a block depends
//! only on the seed and its number. So an interrupted campaign is resumed with the blocks that are missing, and the
//! sum of all shards is the result of the whole campaign, except for the time that it took.

use std::collections::BTreeMap;
use std::time::Instant;

use engine::{interrupt, parallel};
use litmus::print;
use serde::{Deserialize, Serialize};

use crate::draw::{Dice, Drawer};
use crate::fault::PlantedFault;
use crate::law::{CaseEnd, FuzzSetting, Law, named, shown};
use crate::shrink::shrink;

/// Cases of a block.
pub const BLOCK: u64 = 100;

/// More blocks than there are in any campaign.
const MOST: u64 = 1 << 48;

/// Shards of a campaign, at most: a sum lists those that are missing.
pub const MOST_SHARDS: u64 = 1_000_000;

/// The format of a saved state. It changes when a number has another program, too.
pub const FORMAT: &str = "causeway-fuzz-state/4";

/// Failures of a law that are made small and kept; all are counted.
pub const KEPT: usize = 5;

/// What stands for a file in the commands of failures.
pub const TEST_FILE: &str = "FILE";

/// Which part of a campaign: `1/4` is the first of four.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShardId {
    /// From 1.
    pub index: u64,
    pub of: u64,
}

/// A campaign: its question, and what was found so far.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CampaignState {
    /// [`FORMAT`].
    pub format: String,
    /// The version of the program that made it.
    pub version: String,
    pub seed: u64,
    /// The names of the laws.
    pub laws: Vec<String>,
    /// The fault that was planted.
    pub plant: Option<String>,
    pub shard: ShardId,
    /// How many blocks the whole campaign has, if it has an end.
    pub blocks: Option<u64>,
    /// The blocks of the shard that are done, by their numbers within it: first and last of each run of them.
    pub done: Vec<(u64, u64)>,
    /// One for each law.
    pub tallies: Vec<LawTally>,
    /// The failures with the least case numbers, at most [`KEPT`] of each law.
    pub failures: Vec<FoundFailure>,
}

/// What is counted of a law.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LawTally {
    pub cases: u64,
    /// Cases that say nothing about the law, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Cases that break the law.
    pub broken: u64,
    /// Time of all threads together.
    pub seconds: f64,
}

/// A program that breaks a law.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FoundFailure {
    pub law: String,
    pub case: u64,
    /// What the accounts say of the small program.
    pub what: String,
    /// Of the small program.
    pub instructions: usize,
    /// The command that shows it; [`TEST_FILE`] stands for a file with the test, if the command reads one.
    pub replay: String,
    /// The small program, as a litmus test.
    pub test: String,
}

/// What a block of cases has.
#[derive(Clone, Debug)]
pub struct BlockResult {
    /// Its number within the shard.
    pub number: u64,
    pub tallies: Vec<LawTally>,
    /// Each law, by its index, and the case that breaks it.
    pub broken: Vec<(usize, u64)>,
}

impl LawTally {
    fn add(&mut self, other: &LawTally) {
        self.cases += other.cases;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason.clone()).or_default() += count;
        }
        self.broken += other.broken;
        self.seconds += other.seconds;
    }

    /// Cases that were not skipped.
    pub fn compared(&self) -> u64 {
        self.cases - self.skipped.values().sum::<u64>()
    }
}

/// What is chosen for a case beside its program.
pub fn choice(seed: u64, case: u64) -> u64 {
    Dice::new(seed ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15)).number()
}

/// What a campaign is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CampaignPlan<'a> {
    /// The version of the program.
    pub version: &'a str,
    pub seed: u64,
    pub shard: ShardId,
    /// How many cases of each law the whole campaign has, rounded up to whole blocks; without end if not given.
    pub cases: Option<u64>,
}

/// A campaign that runs.
pub struct Campaign<'a> {
    pub setting: &'a FuzzSetting,
    pub laws: Vec<&'static Law>,
    pub jobs: usize,
    /// How many failures of a law are made small and kept, at most [`KEPT`].
    pub kept: usize,
    pub state: CampaignState,
}

impl<'a> Campaign<'a> {
    /// A campaign from its beginning.
    pub fn new(
        setting: &'a FuzzSetting,
        laws: Vec<&'static Law>,
        plan: &CampaignPlan<'_>,
    ) -> Campaign<'a> {
        let state = CampaignState {
            format: FORMAT.to_owned(),
            version: plan.version.to_owned(),
            seed: plan.seed,
            laws: laws.iter().map(|law| law.name.to_owned()).collect(),
            plant: setting.fault().map(ToString::to_string),
            shard: plan.shard,
            blocks: plan.cases.map(|cases| cases.div_ceil(BLOCK)),
            done: Vec::new(),
            tallies: vec![LawTally::default(); laws.len()],
            failures: Vec::new(),
        };
        Campaign { setting, laws, jobs: 1, kept: KEPT, state }
    }

    /// Runs the next blocks, at most this many; false when none is left, or the run was interrupted.
    pub fn advance(&mut self, blocks: usize) -> bool {
        let next = self.state.next(blocks);
        let (seed, shard, laws) = (self.state.seed, self.state.shard, &self.laws);
        let drawers = || laws.iter().map(|law| Drawer::new(seed, law.sources)).collect::<Vec<_>>();
        let work = |drawers: &mut Vec<Drawer>, index: usize| {
            let number = next[index];
            let block = number * shard.of + shard.index - 1;
            self.block(drawers, number, block * BLOCK)
        };
        let done = parallel::all(next.len(), self.jobs, &drawers, &work);
        let all = done.len() == blocks;
        for result in done {
            self.add(&result);
        }
        all && !interrupt::raised()
    }

    fn block(&self, drawers: &[Drawer], number: u64, first: u64) -> BlockResult {
        let mut result = BlockResult { number, tallies: Vec::new(), broken: Vec::new() };
        for (index, law) in self.laws.iter().enumerate() {
            let start = Instant::now();
            let mut tally = LawTally::default();
            for case in first..first + BLOCK {
                if self.case(law, &drawers[index], case, &mut tally) {
                    result.broken.push((index, case));
                }
            }
            tally.seconds = start.elapsed().as_secs_f64();
            result.tallies.push(tally);
        }
        result
    }

    /// Counts a case; true if it breaks the law.
    fn case(&self, law: &Law, drawer: &Drawer, case: u64, tally: &mut LawTally) -> bool {
        tally.cases += 1;
        match law.check(self.setting, &drawer.program(case), choice(self.state.seed, case)) {
            Ok(()) => {}
            Err(CaseEnd::Skipped(reason)) => {
                *tally.skipped.entry(reason.to_owned()).or_default() += 1;
            }
            Err(CaseEnd::Broken(_)) => {
                tally.broken += 1;
                return true;
            }
        }
        false
    }

    /// Checks one case of each law instead of blocks. The state is that of no campaign: it cannot be saved.
    pub fn only(&mut self, case: u64) {
        for (index, law) in self.laws.iter().enumerate() {
            let (start, mut tally) = (Instant::now(), LawTally::default());
            if self.case(law, &Drawer::new(self.state.seed, law.sources), case, &mut tally) {
                let found = failure(self.setting, law, self.state.seed, case);
                self.state.failures.extend(found);
            }
            tally.seconds = start.elapsed().as_secs_f64();
            self.state.tallies[index] = tally;
        }
    }

    /// Adds what a block has, and makes its failures small if they are kept.
    fn add(&mut self, result: &BlockResult) {
        self.state.insert(result.number);
        for (tally, more) in self.state.tallies.iter_mut().zip(&result.tallies) {
            tally.add(more);
        }
        for &(index, case) in &result.broken {
            let law = self.laws[index];
            let kept = self.state.failures.iter().filter(|of| of.law == law.name);
            let full = kept.clone().count() >= self.kept;
            if full && kept.map(|of| of.case).max() <= Some(case) {
                continue;
            }
            self.state.failures.extend(failure(self.setting, law, self.state.seed, case));
        }
        self.state.keep_least();
    }
}

/// The command that checks a case again.
fn again(setting: &FuzzSetting, law: &Law, seed: u64, case: u64) -> String {
    let plant = setting.fault().map_or(String::new(), |fault| format!(" --plant {fault}"));
    format!("causeway fuzz --law {} --seed {seed} --case {case}{plant}", law.name)
}

/// The failure of a case, made small; `None` if the law holds for it.
pub fn failure(setting: &FuzzSetting, law: &Law, seed: u64, case: u64) -> Option<FoundFailure> {
    let choice = choice(seed, case);
    let broken = |program: &_| match law.check(setting, program, choice) {
        Err(CaseEnd::Broken(broken)) => Some(broken),
        Err(CaseEnd::Skipped(_)) | Ok(()) => None,
    };
    let program = Drawer::new(seed, law.sources).program(case);
    broken(&program)?;
    let least = shrink(&program, &mut |smaller| broken(smaller).is_some());
    let found = broken(&least)?;
    let name = format!("{}-{seed}-{case}", law.name);
    let mut doc = vec![
        format!("The law `{}` does not hold: {}.", law.name, law.statement),
        format!("Seed {seed}, case {case}. {}", found.what),
    ];
    doc.extend(setting.fault().map(|fault| format!("Planted: {}.", fault.text())));
    doc = doc.into_iter().map(|line| line.replace('"', "'").replace('\n', " ")).collect();
    let test = shown(setting, &least, &found, &name, &doc);
    Some(FoundFailure {
        law: law.name.to_owned(),
        case,
        what: found.what.clone(),
        instructions: least.instructions(),
        replay: found.replay.unwrap_or_else(|| again(setting, law, seed, case)),
        test: test.map_or_else(|| least.to_string(), |test| print::print(&test)),
    })
}

impl CampaignState {
    /// How many blocks the shard has, if the campaign has an end.
    pub fn length(&self) -> Option<u64> {
        let ShardId { index, of } = self.shard;
        self.blocks.map(|blocks| (blocks + of - index) / of)
    }

    /// How many blocks of the shard are done.
    pub fn done(&self) -> u64 {
        self.done.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// The blocks of the shard that are not done, by their numbers within it: first and last of each run of them.
    pub fn missing(&self) -> Vec<(u64, u64)> {
        let mut next = 0;
        let mut all = Vec::new();
        for &(first, last) in &self.done {
            if next < first {
                all.push((next, first - 1));
            }
            next = last + 1;
        }
        match self.length() {
            Some(length) if next < length => all.push((next, length - 1)),
            Some(_) => {}
            None => all.push((next, u64::MAX)),
        }
        all
    }

    /// The next blocks to run.
    fn next(&self, count: usize) -> Vec<u64> {
        self.missing().into_iter().flat_map(|(first, last)| first..=last).take(count).collect()
    }

    fn insert(&mut self, number: u64) {
        self.done.push((number, number));
        self.done.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for &(first, last) in &self.done {
            match joined.last_mut() {
                Some(run) if run.1 + 1 == first => run.1 = last,
                _ => joined.push((first, last)),
            }
        }
        self.done = joined;
    }

    /// Keeps of each law the failures with the least numbers.
    fn keep_least(&mut self) {
        let place = |law: &str| self.laws.iter().position(|name| name == law);
        self.failures.sort_by_key(|failure| (place(&failure.law), failure.case));
        self.failures.dedup();
        let mut kept: BTreeMap<String, usize> = BTreeMap::new();
        self.failures.retain(|failure| {
            let count = kept.entry(failure.law.clone()).or_default();
            *count += 1;
            *count <= KEPT
        });
    }

    /// What is wrong with a state that was read, if something is.
    pub fn fault(&self) -> Option<String> {
        let unknown = self.laws.iter().find(|law| named(law).is_none());
        let plant = self.plant.as_ref().filter(|fault| PlantedFault::of(fault).is_none());
        let unknown = unknown.map(|law| format!("there is no law `{law}`"));
        let plant = plant.map(|fault| format!("there is no fault `{fault}`"));
        unknown.or(plant).or_else(|| self.disorder()).or_else(|| self.wrong_sum())
    }

    /// What does not fit together in a state that was read, if something does not.
    fn disorder(&self) -> Option<String> {
        let ShardId { index, of } = self.shard;
        let sorted = self.done.windows(2).all(|runs| runs[0].1 < runs[1].0);
        let ordered = self.done.iter().all(|(first, last)| first <= last && *last < MOST);
        let large = self.blocks.filter(|blocks| *blocks > MOST);
        let repeated = (1..self.laws.len()).any(|at| self.laws[..at].contains(&self.laws[at]));
        let why = if of > MOST_SHARDS {
            format!("`shard.of` is {of}, and a campaign has at most {MOST_SHARDS} shards")
        } else if !(1..=of).contains(&index) {
            format!("`shard.index` is {index}, and `shard.of` is {of}: there is no such shard")
        } else if repeated {
            "`laws` has a law twice".to_owned()
        } else if self.tallies.len() != self.laws.len() {
            "`tallies` has not one tally for each law".to_owned()
        } else if !(sorted && ordered) {
            "`done`: the blocks are not in order, or have too large numbers".to_owned()
        } else if let Some(blocks) = large {
            format!("`blocks` is {blocks}, and a campaign has at most {MOST} blocks")
        } else {
            return None;
        };
        Some(why)
    }

    /// Which numbers of a state that was read do not add up, if some do not.
    fn wrong_sum(&self) -> Option<String> {
        let cases = BLOCK * self.done();
        for (law, tally) in self.laws.iter().zip(&self.tallies) {
            let skipped = tally.skipped.values().try_fold(0, |sum: u64, of| sum.checked_add(*of));
            let ended = skipped.and_then(|skipped| skipped.checked_add(tally.broken));
            if tally.cases != cases {
                return Some(format!(
                    "`cases` of the law `{law}` is {}, and the blocks that are done have {cases}",
                    tally.cases
                ));
            }
            if ended.is_none_or(|ended| ended > cases) {
                return Some(format!(
                    "`skipped` and `broken` of the law `{law}` are more than all {cases} cases"
                ));
            }
            if !(tally.seconds.is_finite() && tally.seconds >= 0.0) {
                return Some(format!("`seconds` of the law `{law}` is not a time"));
            }
            let kept = self.failures.iter().filter(|failure| failure.law == *law).count();
            if kept > KEPT || kept as u64 > tally.broken {
                return Some(format!(
                    "`failures` has more of the law `{law}` than were found or are kept"
                ));
            }
        }
        let ShardId { index, of } = self.shard;
        self.failures.iter().find_map(|failure| {
            let FoundFailure { law, case, .. } = failure;
            let block = case / BLOCK;
            let done = |(first, last): &(u64, u64)| (first..=last).contains(&&(block / of));
            // The names of laws are those of files.
            if !self.laws.contains(law) {
                Some("a failure is of a law that the campaign does not have".to_owned())
            } else if block % of != index - 1 || !self.done.iter().any(done) {
                Some(format!("case {case} of the law `{law}` is in no block that is done"))
            } else {
                None
            }
        })
    }

    /// Why the two are not of one campaign, if they are not.
    pub fn differs(&self, other: &CampaignState) -> Option<String> {
        let what = |name: &str, one: &str, two: &str| {
            (one != two).then(|| format!("the {name} is `{one}` in one and `{two}` in the other"))
        };
        let laws = |of: &CampaignState| of.laws.join(", ");
        let plant = |of: &CampaignState| of.plant.clone().unwrap_or("none".to_owned());
        what("format", &self.format, &other.format)
            .or_else(|| what("version", &self.version, &other.version))
            .or_else(|| what("seed", &self.seed.to_string(), &other.seed.to_string()))
            .or_else(|| what("list of laws", &laws(self), &laws(other)))
            .or_else(|| what("planted fault", &plant(self), &plant(other)))
            .or_else(|| {
                let (one, two) = (self.shard.of.to_string(), other.shard.of.to_string());
                what("number of shards", &one, &two)
            })
    }
}

/// The sum of shards.
#[derive(Clone, PartialEq, Debug)]
pub struct MergedShards {
    /// Its shard and blocks are those of the first state.
    pub sum: CampaignState,
    /// Shards without any block that is done, and shards with missing blocks, with how many.
    pub missing: Vec<(ShardId, Option<u64>)>,
}

/// Adds the states of shards, of which there is at least one, or says why they do not belong together. The blocks of a
/// campaign with an end are all those of the longest.
pub fn merge(states: &[CampaignState]) -> Result<MergedShards, String> {
    let (first, rest) = states.split_first().ok_or("there is nothing to merge")?;
    if let Some(why) = rest.iter().find_map(|other| first.differs(other)) {
        return Err(why);
    }
    let blocks = states.iter().map(|state| state.blocks).max().flatten();
    let mut sum = CampaignState {
        done: Vec::new(),
        tallies: vec![LawTally::default(); first.laws.len()],
        failures: Vec::new(),
        ..first.clone()
    };
    let mut missing = Vec::new();
    for index in 1..=first.shard.of {
        let shard = ShardId { index, of: first.shard.of };
        let mut own = CampaignState { shard, blocks, done: Vec::new(), ..first.clone() };
        for state in states.iter().filter(|state| state.shard == shard) {
            let both = |a: &(u64, u64), b: &(u64, u64)| a.0 <= b.1 && b.0 <= a.1;
            if state.done.iter().any(|run| own.done.iter().any(|other| both(run, other))) {
                return Err(format!("blocks of shard {index}/{} are there twice", shard.of));
            }
            own.done.extend(&state.done);
            own.done.sort_unstable();
            for (tally, more) in sum.tallies.iter_mut().zip(&state.tallies) {
                tally.add(more);
            }
            sum.failures.extend(state.failures.iter().cloned());
        }
        let lacks: u64 = match own.length() {
            Some(length) => length - own.done().min(length),
            None => 0,
        };
        if own.done.is_empty() && own.length() != Some(0) {
            missing.push((shard, own.length()));
        } else if lacks > 0 {
            missing.push((shard, Some(lacks)));
        }
    }
    sum.blocks = blocks;
    sum.keep_least();
    Ok(MergedShards { sum, missing })
}
