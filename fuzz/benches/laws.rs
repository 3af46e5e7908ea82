//! The rate of each law, and the time to find each planted fault and to make it small.
//!
//! `cargo bench -p causeway-fuzz --bench laws` prints the rates, and `-- --faults` plants every fault; with `--law NAME` for one
//! law, and with `--seconds N` (3) for each rate and each fault.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use fuzz::campaign::{Campaign, CampaignPlan, ShardId, choice, failure};
use fuzz::draw::Drawer;
use fuzz::fault::PlantedFault;
use fuzz::law::{CaseEnd, FuzzSetting, LAWS, Law, named};

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
    campaign.kept = 1;
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

/// The law that finds a fault best.
fn law_of(fault: &PlantedFault) -> &'static str {
    match fault {
        PlantedFault::Axiom { engine, .. } if *engine == "enumerate" => "naive",
        PlantedFault::Axiom { .. } => "engines",
        PlantedFault::Rule(_) | PlantedFault::Table(_) => "machine",
    }
}

/// Whether a fault is found within a second, by one thread, and made small.
fn find(fault: &PlantedFault, law: &'static Law, most: Duration) -> bool {
    let setting = FuzzSetting::new(Some(fault.clone()));
    let drawer = Drawer::new(SEED, law.sources);
    let start = Instant::now();
    let mut broken = None;
    let mut case = 0;
    while broken.is_none() && start.elapsed() < most {
        let checked = law.check(&setting, &drawer.program(case), choice(SEED, case));
        broken = matches!(checked, Err(CaseEnd::Broken(_))).then_some(case);
        case += 1;
    }
    let found = start.elapsed().as_secs_f64();
    let name = fault.to_string();
    let Some(broken) = broken else {
        println!("{name:<60} not found by `{}` in {case} cases, {found:.1} s", law.name);
        return false;
    };
    let start = Instant::now();
    let small = failure(&setting, law, SEED, broken).map_or(0, |failure| failure.instructions);
    let shrunk = start.elapsed().as_secs_f64();
    println!(
        "{name:<60} {found:>6.2} s, {case:>6} cases; {small} instructions after {shrunk:.2} s more"
    );
    found < 1.0 && small <= 6
}

fn main() {
    let law = argument("--law").map(|name| named(&name).expect("there is such a law"));
    let seconds = argument("--seconds").and_then(|text| text.parse().ok()).unwrap_or(3);
    let time = Duration::from_secs(seconds);
    if !std::env::args().any(|argument| argument == "--faults") {
        LAWS.iter()
            .filter(|one| law.is_none_or(|law| law.name == one.name))
            .for_each(|law| rate(law, time));
        return;
    }
    let (mut all, mut soon) = (0, 0);
    for fault in PlantedFault::all() {
        let best = named(law_of(&fault)).expect("there is such a law");
        if law.is_none_or(|law| law.name == best.name) {
            all += 1;
            soon += usize::from(find(&fault, best, time));
        }
    }
    println!("{soon} of {all} faults are found within 1 s and have at most 6 instructions");
}
