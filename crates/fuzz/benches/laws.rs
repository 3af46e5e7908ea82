//! The rate of each law, and the time to find each planted fault and to make it small.
//!
//! `cargo bench -p causeway-fuzz --bench laws` prints the rates, and `-- --faults` plants every fault; with `--law NAME` for one
//! law, and with `--seconds N` (3) for each rate and each fault. `--sources` adds the rate of each source of programs, and
//! `--show N` the small programs with N instructions and more. A fault is looked for by one thread from the first case of
//! a seed, and its times are those of the processor.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use fuzz::campaign::{Campaign, CampaignPlan, FoundFailure, ShardId, choice, failure};
use fuzz::draw::Drawer;
use fuzz::fault::PlantedFault;
use fuzz::law::{CaseEnd, FuzzSetting, LAWS, Law, named};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SEED: u64 = 1;

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn plan() -> CampaignPlan<'static> {
    CampaignPlan { version: "", seed: SEED, shard: ShardId { index: 1, of: 1 }, cases: None }
}

fn rate(law: &'static Law, time: Duration) {
    let setting = FuzzSetting::default();
    let mut campaign = Campaign::new(&setting, vec![law], &plan());
    let start = Instant::now();
    while start.elapsed() < time && campaign.advance(1) {}
    let tally = &campaign.state.tallies[0];
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate is rounded")]
    let (rate, compared) =
        (tally.cases as f64 / seconds, 100.0 * tally.compared() as f64 / tally.cases as f64);
    println!(
        "{:<14} {rate:>8.0} cases/s, {compared:>3.0} % compared, {} broken",
        law.name, tally.broken
    );
    for failure in &campaign.state.failures {
        println!("{}\n{}", failure.what, failure.test);
    }
}

/// The rate of each of a law's sources.
fn sources(law: &'static Law, most: f64) {
    let setting = FuzzSetting::default();
    let drawer = Drawer::new(SEED, law.sources);
    let mut spent = vec![(0_u32, 0_u32, 0.0_f64); law.sources.len()];
    let start = Instant::now();
    let begin = thread_seconds(start);
    let mut now = begin;
    for case in 0.. {
        if now - begin > most {
            break;
        }
        let checked = law.check(&setting, &drawer.program(case), choice(SEED, case));
        let then = thread_seconds(start);
        let of = &mut spent[usize::try_from(case).unwrap_or(0) % law.sources.len()];
        of.0 += 1;
        of.1 += u32::from(checked.is_ok());
        of.2 += then - now;
        now = then;
    }
    for (source, (cases, compared, seconds)) in law.sources.iter().zip(spent) {
        let rate = f64::from(cases) / seconds.max(1e-9);
        let share = 100.0 * f64::from(compared) / f64::from(cases.max(1));
        println!("  {rate:>8.0} cases/s, {share:>3.0} % compared: {source:?}");
    }
}

/// The time of the processor that this thread took, in seconds: other programs may run beside it. Where the system does not
/// say it, the time that passed.
fn thread_seconds(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// What became of a fault.
struct Found {
    law: &'static str,
    case: u64,
    /// Until a case broke the law, and to make it small.
    seconds: [f64; 2],
    small: FoundFailure,
}

/// Looks for a fault in the cases of one seed, by one thread.
fn find(fault: &PlantedFault, law: &'static Law, most: f64) -> Option<Found> {
    let setting = FuzzSetting::new(Some(fault.clone()));
    let drawer = Drawer::new(SEED, law.sources);
    let start = Instant::now();
    let begin = thread_seconds(start);
    for case in 0.. {
        let seconds = thread_seconds(start) - begin;
        if seconds > most {
            break;
        }
        let checked = law.check(&setting, &drawer.program(case), choice(SEED, case));
        if matches!(checked, Err(CaseEnd::Broken(_))) {
            let found = thread_seconds(start);
            let small = failure(&setting, law, SEED, case)?;
            let seconds = [found - begin, thread_seconds(start) - found];
            return Some(Found { law: law.name, case, seconds, small });
        }
    }
    None
}

/// One row for each fault, and their sum.
fn faults(only: Option<&Law>, most: f64) {
    let (mut all, mut soon, mut slowest, mut largest) = (0, 0, 0.0_f64, 0);
    let wanted = argument("--fault");
    for fault in PlantedFault::all() {
        let name = fault.to_string();
        if wanted.as_ref().is_some_and(|part| !name.contains(part)) {
            continue;
        }
        if let Some(reason) = fault.not_found_because() {
            println!("{name:<60} {reason}");
            continue;
        }
        let laws = fault.laws().iter().filter_map(|name| named(name));
        let laws: Vec<&'static Law> =
            laws.filter(|law| only.is_none_or(|only| law.name == only.name)).collect();
        let mut best: Option<Found> = None;
        for law in &laws {
            let soon = |found: &Found| found.seconds[0] <= 1.0 && found.small.instructions <= 6;
            if best.as_ref().is_none_or(|best| !soon(best)) {
                let rank = |found: &Found| (soon(found), -found.seconds[0]);
                let found = find(&fault, law, most);
                best = best.into_iter().chain(found).max_by(|a, b| {
                    let (a, b) = (rank(a), rank(b));
                    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
                });
            }
        }
        if laws.is_empty() {
            continue;
        }
        all += 1;
        let Some(Found { law, case, seconds: [found, shrunk], small }) = best else {
            println!("{name:<60} not found within {most} s");
            continue;
        };
        let instructions = small.instructions;
        println!(
            "{name:<60} {law:<9} {found:>6.2} s, {case:>6} cases; {instructions} instructions after {shrunk:.2} s more"
        );
        if argument("--show")
            .is_some_and(|least| least.parse().is_ok_and(|least| instructions >= least))
        {
            println!("{}", small.test);
        }
        slowest = slowest.max(found);
        largest = largest.max(instructions);
        soon += usize::from(found <= 1.0 && instructions <= 6);
    }
    println!(
        "{soon} of {all} faults are found within 1 s and have at most 6 instructions; the slowest took {slowest:.2} s, the largest \
         has {largest} instructions"
    );
}

fn main() {
    let law = argument("--law").map(|name| named(&name).expect("there is such a law"));
    let seconds: u64 = argument("--seconds").and_then(|text| text.parse().ok()).unwrap_or(3);
    let time = Duration::from_secs(seconds);
    if !std::env::args().any(|argument| argument == "--faults") {
        for law in LAWS.iter().filter(|one| law.is_none_or(|law| law.name == one.name)) {
            rate(law, time);
            if std::env::args().any(|argument| argument == "--sources") {
                sources(law, time.as_secs_f64());
            }
        }
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "a time is rounded")]
    faults(law, seconds as f64);
}
