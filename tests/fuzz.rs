//! `causeway fuzz`: planted faults are found and made small, and campaigns may be divided and continued.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use ::fuzz::campaign::{
    Campaign, CampaignPlan, CampaignState, FoundFailure, ShardId, failure, merge,
};
use ::fuzz::fault::PlantedFault;
use ::fuzz::law::{CaseEnd, FuzzSetting, LAWS, Law, named};
use engine::ENGINES;
use litmus::arbitrary::RandomProgram;

use crate::suite;

const WHOLE: ShardId = ShardId { index: 1, of: 1 };

/// The state without the time that it took.
fn timeless(state: &CampaignState) -> CampaignState {
    let mut state = state.clone();
    for tally in &mut state.tallies {
        tally.seconds = 0.0;
    }
    state
}

fn campaign<'a>(
    setting: &'a FuzzSetting,
    laws: &[&'static Law],
    shard: ShardId,
    cases: u64,
) -> Campaign<'a> {
    let plan = CampaignPlan { version: "test", seed: 5, shard, cases: Some(cases) };
    let mut campaign = Campaign::new(setting, laws.to_vec(), &plan);
    campaign.jobs = 2;
    campaign
}

/// The first failure of a law with a fault, within this many cases.
fn first(law: &str, fault: &PlantedFault, cases: u64) -> Option<FoundFailure> {
    let setting = FuzzSetting::new(Some(fault.clone()));
    let law = named(law).expect("there is such a law");
    let mut campaign = campaign(&setting, &[law], WHOLE, cases);
    campaign.kept = 1;
    while campaign.state.failures.is_empty() && campaign.advance(2) {}
    campaign.state.failures.into_iter().next()
}

/// A law, and a fault that breaks it.
const FAULTS: &[(&str, &str)] = &[
    ("engines", "enumerate-without-Coherence"),
    ("engines", "solve-without-Causality"),
    ("verdicts", "enumerate-without-Coherence"),
    ("verdicts", "solve-without-Coherence"),
    ("naive", "enumerate-without-Atomicity"),
    ("coherence", "enumerate-without-Causality"),
    ("redundant", "enumerate-without-Atomicity"),
    ("directed", "enumerate-without-Causality"),
    ("exchange", "enumerate-without-Coherence"),
    ("apart", "enumerate-without-Causality"),
    ("beginnings", "enumerate-without-Causality"),
    ("private", "enumerate-without-Causality"),
    ("performance", "enumerate-without-Coherence"),
    ("promises", "table-without-CCTL.IVALL-at-load-acquire.gpu"),
    ("strengthening", "enumerate-without-Causality"),
    ("engines", "enumerate-without-async-race"),
    ("engines", "solve-without-mbarrier-data-access"),
    ("threads", "enumerate-without-Coherence"),
    ("machine", "machine-without-R8"),
    ("machine", "machine-without-R1"),
    ("machine", "machine-without-R26"),
    ("machine", "table-without-CCTL.IVALL-at-load-acquire.gpu"),
    ("reductions", "machine-without-R8"),
];

/// Whether this build lacks the engine that a law or a fault is about.
fn lacks_engine(law: &str, fault: &PlantedFault) -> bool {
    let lacks = ENGINES.len() < 2
        && (["engines", "verdicts"].contains(&law) || fault.to_string().starts_with("solve"));
    if lacks {
        eprintln!("skipped: {law}, {fault}: this build has one engine");
    }
    lacks
}

/// Faults that no smaller program shows: docs/fuzz.md says why.
const LARGER: &[(&str, usize)] = &[("SC-per-Location", 7), ("First-Trigger", 7), ("R12", 8)];

/// Each of the faults is found by one of its laws, or has a reason why it is not.
fn found_and_made_small(faults: impl Iterator<Item = PlantedFault>) {
    let (mut missed, mut large) = (Vec::new(), Vec::new());
    for fault in faults {
        let laws = || fault.laws().iter().copied().filter(|law| !lacks_engine(law, &fault));
        if fault.not_found_because().is_some() {
            let found = laws().filter_map(|law| first(law, &fault, 100));
            missed.extend(found.map(|found| format!("{fault} is found: {}", found.test)));
            continue;
        }
        let mut laws = laws().peekable();
        if laws.peek().is_none() {
            continue;
        }
        let Some(found) = laws.find_map(|law| first(law, &fault, 5_000)) else {
            missed.push(format!("{fault} is not found"));
            continue;
        };
        let name = fault.to_string();
        let most = LARGER.iter().find(|(end, _)| name.ends_with(&format!("-{end}")));
        if found.instructions > most.map_or(6, |(_, most)| *most) {
            large.push(format!("{fault} has {}: {}", found.instructions, found.test));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert!(large.is_empty(), "{}", large.join("\n"));
}

#[test]
fn planted_faults_of_each_kind_are_found_and_made_small() {
    found_and_made_small(PlantedFault::all().into_iter().step_by(6));
}

#[test]
fn planted_faults_of_asynchronous_operations_are_found_and_made_small() {
    found_and_made_small(PlantedFault::all().into_iter().filter(|fault| match fault {
        PlantedFault::Rule(rule) => rule.is_asynchronous(),
        PlantedFault::Axiom { axiom, .. } => axiom == "First-Trigger",
        PlantedFault::Flag { .. } => true,
        PlantedFault::Table(_) => false,
    }));
}

/// It takes minutes.
#[test]
#[ignore = "the test of a part of them runs always"]
fn every_planted_fault_is_found_and_made_small() {
    found_and_made_small(PlantedFault::all().into_iter());
}

#[test]
fn planted_faults_are_found_by_each_law() {
    for (law, fault) in FAULTS {
        let fault = PlantedFault::of(fault).expect("there is such a fault");
        if lacks_engine(law, &fault) {
            continue;
        }
        let found = first(law, &fault, 20_000);
        let found = found.unwrap_or_else(|| panic!("`{law}` does not find `{fault}`"));
        assert!(found.instructions <= 6, "{fault}: {}", found.test);
        let test = litmus::parse("small", found.test.as_bytes())
            .unwrap_or_else(|errors| panic!("{}\n{}", errors[0], found.test));
        assert_eq!(test.name, format!("{law}-5-{}", found.case));
    }
}

/// Each law but those with a test of their own: of the printer, of which no fault is planted, and of runs that never end,
/// whose programs rarely show a fault.
#[test]
fn each_law_can_be_broken() {
    let planted: BTreeSet<&str> = FAULTS.iter().map(|(law, _)| *law).collect();
    let never: Vec<&str> =
        LAWS.iter().map(|law| law.name).filter(|name| !planted.contains(name)).collect();
    assert_eq!(never, ["printing", "stuck"]);
}

const MESSAGE: &str = "PTX MP\n{ uint32_t x=0; uint32_t y=0; }\n P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 1,gpu 0 ;
 st.weak.u32 [x], 1 | ld.acquire.gpu.u32 r0, [y] ;\n st.release.gpu.u32 [y], 1 | ld.weak.u32 r1, [x] ;
exists (P1:r0=1 /\\ P1:r1=0)\n";

#[test]
fn a_machine_that_does_not_wait_breaks_the_law_of_runs() {
    let message = litmus::parse("MP", MESSAGE.as_bytes()).expect("the test is well formed");
    let program = RandomProgram::of(&message);
    let law = named("stuck").expect("there is such a law");
    assert_eq!(law.check(&FuzzSetting::default(), &program, 0), Ok(()));
    let faulty = FuzzSetting::new(PlantedFault::of("machine-without-R8"));
    assert!(matches!(law.check(&faulty, &program, 0), Err(CaseEnd::Broken(_))));
}

/// Two copies that read from each other, and a thread that never comes to the load after its wait.
const CIRCLE: &str = "PTX circle\n{ .shared .mbarrier b={2}; .shared .b32 s[4]; .global .b32 g[4]; }\n P0@cta 0,gpu 0 ;
 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [g], 16, [b] ;
 cp.async.bulk.global.shared::cta.bulk_group [g], [s], 16 ;
 L1: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0 ;\n @!p bra L1 ;\n ld.shared.u32 r2, [s] ;
exists (P0:r2=0)\n";

#[test]
fn values_of_nothing_are_looked_for_where_a_thread_never_ends() {
    let circle = litmus::parse("circle", CIRCLE.as_bytes()).expect("the test is well formed");
    let program = RandomProgram::of(&circle);
    let law = named("coherence").expect("there is such a law");
    assert_eq!(law.check(&FuzzSetting::default(), &program, 0), Ok(()));
}

#[test]
fn shards_add_up_to_the_whole() {
    let fault = PlantedFault::of("enumerate-without-Causality");
    let setting = FuzzSetting::new(fault);
    let laws = ["naive", "threads"].map(|name| named(name).expect("there is such a law"));
    let run = |shard, cases| {
        let mut campaign = campaign(&setting, &laws, shard, cases);
        while campaign.advance(3) {}
        campaign.state
    };
    let whole = run(WHOLE, 700);
    assert!(whole.missing().is_empty());
    assert!(whole.tallies[0].broken > 0 && whole.tallies.iter().all(|tally| tally.cases == 700));
    let shards: Vec<CampaignState> =
        (1..=3).map(|index| run(ShardId { index, of: 3 }, 700)).collect();
    let merged = merge(&shards).expect("they belong together");
    assert!(merged.missing.is_empty());
    let (sum, whole) = (timeless(&merged.sum), timeless(&whole));
    assert_eq!((sum.tallies, sum.failures), (whole.tallies, whole.failures));

    // What is missing and what is there twice is said.
    let merged = merge(&shards[1..]).expect("they belong together");
    assert_eq!(merged.missing, [(ShardId { index: 1, of: 3 }, Some(3))]);
    let twice = merge(&[shards[0].clone(), shards[0].clone()]);
    assert_eq!(twice, Err("blocks of shard 1/3 are there twice".to_owned()));
    let other = CampaignState { seed: 6, ..shards[1].clone() };
    let differs = merge(&[shards[0].clone(), other]);
    assert_eq!(differs, Err("the seed is `5` in one and `6` in the other".to_owned()));
}

#[test]
fn a_campaign_goes_on_where_it_was_ended() {
    let setting = FuzzSetting::new(PlantedFault::of("enumerate-without-Causality"));
    let laws = [named("naive").expect("there is such a law")];
    let mut whole = campaign(&setting, &laws, WHOLE, 600);
    while whole.advance(2) {}
    let mut part = campaign(&setting, &laws, WHOLE, 600);
    part.advance(2);
    let saved = serde_json::to_string(&part.state).expect("it is saved");
    let mut rest = campaign(&setting, &laws, WHOLE, 600);
    rest.state = serde_json::from_str(&saved).expect("it is read");
    // As if a block after the missing ones had been done.
    assert_eq!((rest.state.done(), rest.state.missing()), (2, vec![(2, 5)]));
    while rest.advance(3) {}
    assert_eq!(timeless(&rest.state), timeless(&whole.state));
    let again = failure(&setting, laws[0], 5, whole.state.failures[0].case);
    assert_eq!(again.as_ref(), whole.state.failures.first());
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder =
            std::env::temp_dir().join(format!("causeway-fuzz-{}-{name}", std::process::id()));
        Folder(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
        command.args(arguments).arg(&self.0).current_dir(suite::root());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The second run would lose what the first one finds, or the first one what the second one finds.
#[test]
fn a_folder_has_one_run_at_a_time() {
    let folder = Folder::new("twice");
    let arguments = ["fuzz", "--law=printing", "--for=600", "--jobs=1", "--out"];
    let mut first = folder.command(&arguments).stdout(Stdio::null()).spawn().expect("it starts");
    let state = folder.0.join("state.json");
    while !state.exists() {
        assert_eq!(first.try_wait().expect("it can be asked"), None, "the first run ended");
        std::thread::sleep(Duration::from_millis(10));
    }
    let second = folder.run(&["fuzz", "--law=printing", "--count=100", "--out"]);
    first.kill().and_then(|()| first.wait()).expect("it is ended");
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("another run uses this folder"), "{said}");
    // A run that was killed keeps nobody out.
    let third = folder.run(&["fuzz", "--law=printing", "--count=100", "--out"]);
    assert_eq!(third.status.code(), Some(0), "{}", String::from_utf8_lossy(&third.stderr));
}

/// The command saves, continues, refuses another campaign, and its files are tests.
#[test]
fn the_folder_of_a_campaign() {
    let folder = Folder::new("out");
    let law = ["fuzz", "--law=naive", "--plant=enumerate-without-Causality"];
    let run = |more: &[&str]| folder.run(&[&law[..], more, &["--out"]].concat());
    let text = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let output = run(&["--count=200"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let output = run(&["--count=400", "--format=json"]);
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!((&line["cases"], &line["law"]), (&400.into(), &"naive".into()));
    let failures = line["failures"].as_array().expect("a list");
    assert!(!failures.is_empty());
    for failure in failures {
        let file = folder.0.join(format!("naive-1-{}.litmus", failure["case"]));
        let saved = fs::read_to_string(&file).expect("the failure is saved");
        assert_eq!(saved, failure["test"].as_str().expect("it is text"));
    }
    // The command that is printed shows the failure.
    let case = failures[0]["case"].to_string();
    let replay = failures[0]["replay"].as_str().expect("it is text");
    let expected =
        "causeway fuzz --law naive --seed 1 --case CASE --plant enumerate-without-Causality";
    assert_eq!(replay, expected.replace("CASE", &case));
    let again = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(replay.split(' ').skip(1).chain(["--format=json"]))
        .output()
        .expect("the program starts");
    assert_eq!(again.status.code(), Some(3), "{}", text(&again));
    let line: serde_json::Value = serde_json::from_slice(&again.stdout).expect("an object");
    assert_eq!((&line["cases"], &line["failures"][0]), (&1.into(), &failures[0]));

    // Fewer cases than there are in the folder are not a surprise.
    let output = run(&["--count=100", "--format=json"]);
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(line["cases"], 400);
    assert!(text(&output).contains("holds 400 cases of each law already"), "{}", text(&output));
    run(&["--count=400"]);
    // The unplanted checker finds nothing wrong with them.
    let output = folder.run(&["check", "--engine=enumerate"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));

    let output = run(&["--seed=2"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("holds another campaign: the seed is `1`"), "{}", text(&output));
    let output = folder.run(&["merge"]);
    assert_eq!(output.status.code(), Some(3));

    let state = folder.0.join("state.json");
    let saved = fs::read_to_string(&state).expect("the state is saved");
    for (from, to, why) in [
        ("\"format\":", "\"format\":0,\"other\":", "the format is not"),
        ("\"done\":[[0,3]]", "\"done\":[[3,0]]", "not in order"),
        ("\"index\":1", "\"index\":2", "there is no such shard"),
        ("\"done\":[[0,3]]", "\"done\":[[0,", "state.json"),
        ("\"done\":[[0,3]]", "\"done\":[[0,2]]", "`cases` of the law `naive` is 400"),
        ("\"of\":1", "\"of\":1000000000000", "`shard.of` is 1000000000000"),
        ("\"skipped\":{", "\"skipped\":{\"none\":401,", "are more than all 400 cases"),
        ("\"case\":", "\"case\":9999", "is in no block that is done"),
        ("\"seconds\":", "\"seconds\":-", "is not a time"),
        ("\"broken\":", "\"broken\":0,\"was\":", "than were found or are kept"),
        ("\"blocks\":4", "\"blocks\":18446744073709551615", "`blocks` is 18446744073709551615"),
        ("-without-Causality\"", "-without-R99\"", "no fault `enumerate-without-R99`"),
        ("\"laws\":[\"naive\"]", "\"laws\":[\"natve\"]", "there is no law `natve`"),
        ("\"law\":\"naive\"", "\"law\":\"../naive\"", "a law that the campaign does not have"),
    ] {
        assert!(saved.contains(from), "{saved}");
        fs::write(&state, saved.replacen(from, to, 1)).expect("it can be written");
        for output in [run(&[]), folder.run(&["merge"])] {
            assert_eq!(output.status.code(), Some(2));
            assert!(text(&output).contains(why), "{why}: {}", text(&output));
        }
    }
}
