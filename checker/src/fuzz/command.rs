//! Runs a campaign, saves it and prints what it found.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use engine::exit::Exit;
use engine::interrupt;
use fuzz::campaign::{self, BLOCK, Campaign, CampaignPlan, CampaignState, MergedShards, ShardId};
use fuzz::fault::PlantedFault;
use fuzz::law::{FuzzSetting, LAWS, Law};

use super::args::{Fuzz, Merge};
use super::report;
use super::store;
use crate::input::shown;
use crate::progress;
use crate::report::count_of;

/// The programs of the cases may be others in another version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Cases of each law, where neither a number nor a time is given.
const CASES: u64 = 10_000;

/// How long a step between two looks at the clock should take.
const STEP: Duration = Duration::from_millis(500);

/// Checks laws. Disagreements determine the exit code.
pub fn command(command: &Fuzz, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if command.list {
        return list(out);
    }
    let start = Instant::now();
    let laws: Vec<&'static Law> = if command.laws.is_empty() {
        LAWS.iter().collect()
    } else {
        // In one order, each once.
        LAWS.iter().filter(|law| command.laws.iter().any(|name| name == law.name)).collect()
    };
    let count = command.count.or(command.time.is_none().then_some(CASES));
    let setting = FuzzSetting::new(command.plant.clone());
    let plan =
        CampaignPlan { version: VERSION, seed: command.seed, shard: command.shard.0, cases: count };
    let mut campaign = Campaign::new(&setting, laws, &plan);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    campaign.jobs = command.jobs.map_or(cores, usize::from);
    let locked = command.out.as_deref().map(store::lock).transpose();
    let resumed = locked.and_then(|lock| Ok((lock, resumed(command, &campaign.state)?)));
    let _lock = match resumed {
        Ok((lock, state)) => {
            campaign.state = state.unwrap_or(campaign.state);
            lock
        }
        Err(why) => {
            writeln!(err, "error: {why}")?;
            return Ok(Exit::BadInput);
        }
    };
    if let Some(case) = command.case {
        campaign.only(case);
        let seconds = start.elapsed().as_secs_f64();
        report::print(&campaign.state, None, seconds, command.format, out)?;
        return Ok(exit(&campaign.state));
    }
    if let Some(warning) = fewer(command, &campaign.state) {
        writeln!(err, "warning: {warning}")?;
    }
    let (length, shard) = (campaign.state.length(), campaign.state.shard);
    if length == Some(0) {
        writeln!(
            err,
            "warning: shard {}/{} has no cases: shards are of whole blocks of {BLOCK} cases",
            shard.index, shard.of
        )?;
    }
    let bar = progress::of_blocks(length);
    bar.set_position(campaign.state.done());
    let mut blocks = campaign.jobs;
    loop {
        let begin = Instant::now();
        let goes_on = campaign.advance(blocks);
        if let Some(folder) = &command.out
            && let Err(why) = store::save(folder, &campaign.state)
        {
            bar.finish_and_clear();
            writeln!(err, "error: {why}")?;
            return Ok(Exit::BadInput);
        }
        bar.set_position(campaign.state.done());
        bar.set_message(message(&campaign.state));
        if !goes_on || command.time.is_some_and(|time| start.elapsed() >= time) {
            break;
        }
        // Fewer steps waste less of the time in which threads wait for the last one.
        if begin.elapsed() < STEP {
            blocks = blocks.saturating_mul(2);
        } else if begin.elapsed() > 2 * STEP {
            blocks = (blocks / 2).max(campaign.jobs);
        }
    }
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    report::print(&campaign.state, command.out.as_deref(), seconds, command.format, out)?;
    if interrupt::raised() {
        writeln!(err, "interrupted: the result is that of the cases so far")?;
    }
    Ok(exit(&campaign.state))
}

/// What a progress bar says after its blocks.
fn message(state: &CampaignState) -> String {
    let sum = |of: fn(&campaign::LawTally) -> u64| state.tallies.iter().map(of).sum::<u64>();
    let skipped = sum(|tally| tally.cases) - sum(campaign::LawTally::compared);
    let broken = count_of(sum(|tally| tally.broken), "disagreement");
    format!("{}, {skipped} skipped, {broken}", count_of(sum(|tally| tally.cases), "case"))
}

/// The state to continue from, if the folder has one that belongs to this campaign.
fn resumed(command: &Fuzz, new: &CampaignState) -> Result<Option<CampaignState>, String> {
    let Some(folder) = &command.out else { return Ok(None) };
    let Some(mut old) = store::load(folder)? else { return Ok(None) };
    let shard = |of: ShardId| format!("{}/{}", of.index, of.of);
    let differs = old.differs(new).or_else(|| {
        let (one, other) = (shard(old.shard), shard(new.shard));
        (one != other).then(|| format!("the shard is `{one}` in one and `{other}` in the other"))
    });
    if let Some(why) = differs {
        return Err(format!("{} holds another campaign: {why}", shown(folder)));
    }
    old.blocks = new.blocks;
    Ok(Some(old))
}

/// What a user may not expect of a folder that holds more cases than are wanted.
fn fewer(command: &Fuzz, state: &CampaignState) -> Option<String> {
    let (folder, count) = (command.out.as_deref()?, command.count?);
    let (held, wanted) = (state.done() * BLOCK, state.length()? * BLOCK);
    let shard = if state.shard.of > 1 { " in this shard" } else { "" };
    (wanted < held).then(|| {
        format!(
            "{} holds {held} cases of each law already{shard}: --count {count} runs none, and the result is that of all",
            shown(folder)
        )
    })
}

fn exit(state: &CampaignState) -> Exit {
    let broken = state.tallies.iter().any(|tally| tally.broken > 0);
    if broken { Exit::Disagreement } else { Exit::AsExpected }
}

/// Prints the laws and the faults.
fn list(out: &mut dyn Write) -> io::Result<Exit> {
    writeln!(out, "laws:")?;
    for Law { name, statement, .. } in LAWS {
        writeln!(out, "  {name}: {statement}")?;
    }
    writeln!(out, "faults:")?;
    for fault in PlantedFault::all() {
        let reason = fault.not_found_because();
        let reason = reason.map_or(String::new(), |reason| format!(" (not found: {reason})"));
        writeln!(out, "  {fault}: {}{reason}", fault.text())?;
    }
    Ok(Exit::AsExpected)
}

/// Prints the sum of shards. Missing blocks and disagreements determine the exit code.
pub fn merge(command: &Merge, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let load = |folder: &PathBuf| {
        let none = || format!("{}: no campaign is saved there", shown(folder));
        store::load(folder)?.ok_or_else(none)
    };
    let states: Result<Vec<CampaignState>, String> = command.folders.iter().map(load).collect();
    let merged = states.and_then(|states| campaign::merge(&states));
    let MergedShards { sum, missing } = match merged {
        Ok(merged) => merged,
        Err(why) => {
            writeln!(err, "error: {why}")?;
            return Ok(Exit::BadInput);
        }
    };
    // Threads of several computers: only the time of all together is known.
    let seconds = sum.tallies.iter().map(|tally| tally.seconds).sum();
    report::print(&sum, None, seconds, command.format, out)?;
    for (ShardId { index, of }, blocks) in &missing {
        let what = blocks.map_or("all cases".to_owned(), |blocks| count_of(blocks * BLOCK, "case"));
        writeln!(err, "warning: shard {index}/{of} lacks {what}")?;
    }
    let exit = exit(&sum);
    Ok(if missing.is_empty() { exit } else { exit.max(Exit::Undecided) })
}
