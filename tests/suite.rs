//! The suite: every litmus file under every engine, and the counts recorded beside them.
//!
//! `UPDATE=1 cargo test` rewrites the counts; read what changed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use ::fuzz::law::instructions_read_back;
use checker::input;
use engine::ENGINES;
use engine::exit::Exit;
use judge::{Judgement, Observation, Property, Task, alternatives, judge};
use litmus::Test;
use litmus::revise::SourceTest;
use model::reading::Readings;
use model::rel::Model;
use model::{ptx, section};

/// Folders that are not a section of the document.
const OTHER_FOLDERS: [&str; 5] = ["document", "gallery", "machine", "papers", "sass"];

/// What the whole has at least; fewer means that the run did not select the suite.
const FEWEST: usize = 800;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn folder() -> PathBuf {
    root().join("litmus/suite")
}

/// A test of the suite, with the folder it is in.
pub(crate) struct Entry {
    pub(crate) folder: String,
    pub(crate) path: PathBuf,
    pub(crate) test: Test,
}

/// Every test below a folder, in path order.
pub(crate) fn load(below: &Path) -> Vec<Entry> {
    let files = input::find(&[below.to_path_buf()], "litmus").expect("the suite can be read");
    files.into_iter().map(entry).collect()
}

fn entry(path: PathBuf) -> Entry {
    let bytes = fs::read(&path).expect("the file can be read");
    let test = litmus::parse(&path.to_string_lossy(), &bytes).unwrap_or_else(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", errors.join("\n"));
    });
    let parent = path.parent().and_then(Path::file_name).expect("the file is in a folder");
    Entry { folder: parent.to_string_lossy().into_owned(), path, test }
}

/// All engines have to agree; `Forbidden-by=` is judged too, and `Readings=` where there are alternatives.
pub(crate) fn task(model: &Model) -> Task<'_> {
    Task {
        model,
        cxx: None,
        engines: ENGINES.to_vec(),
        bound: 2,
        timeout: None,
        memory: engine::MEMORY,
        property: Property::ProgramSpec,
        verdict_only: false,
        counts: true,
        portfolio: false,
        work: None,
        until: None,
        blame: true,
        alternatives: &[],
        rests: false,
        races: false,
    }
}

#[test]
fn every_test_is_as_it_says_under_every_engine() {
    let model = ptx::model();
    let alternatives = alternatives(Readings::default());
    let task = Task { alternatives: &alternatives, ..task(&model) };
    let tests = load(&folder());
    assert!(tests.len() >= FEWEST, "only {} tests were selected", tests.len());
    let mut wrong = String::new();
    let mut counts: BTreeMap<&str, String> = BTreeMap::new();
    for Entry { folder, path, test } in &tests {
        let judgement = judge(test, &task);
        if judgement.exit() != Exit::AsExpected {
            let why = judgement.disagreement.as_ref().or(judgement.complaint.as_ref());
            writeln!(wrong, "{}: {}", path.display(), why.map_or("", String::as_str))
                .expect("strings can be written");
        }
        let ran = judgement.engines.len();
        let unsupported = test.meta("Unsupported").is_some();
        assert!(ran == ENGINES.len() || unsupported, "{}: {ran} engines ran", path.display());
        let name = &test.name;
        writeln!(counts.entry(folder).or_default(), "{name} {}", count(&judgement))
            .expect("strings can be written");
    }
    wrong.push_str(&compare(&counts));
    assert!(wrong.is_empty(), "\n{wrong}\nUPDATE=1 rewrites the counts");
}

/// The searches for a verdict alone and for a race take short cuts that the search for all outcomes does not take.
#[test]
fn the_verdict_alone_and_races_are_those_of_the_full_search() {
    let model = ptx::model();
    let task = task(&model);
    let mut wrong = String::new();
    for Entry { path, test, .. } in load(&folder()) {
        for &engine in ENGINES {
            let ask = |property, verdict_only| {
                let engines = vec![engine];
                let asked = Task { engines, property, verdict_only, ..task.clone() };
                judge(&test, &Task { counts: !verdict_only, ..asked })
            };
            let full = ask(Property::ProgramSpec, false);
            let mut differs = |what: &str, full: &str, alone: &str| {
                let (engine, path) = (engine.name(), path.display());
                writeln!(wrong, "{engine}, {what}: {full}, {alone} alone: {path}")
                    .expect("strings can be written");
            };
            let alone = ask(Property::ProgramSpec, true);
            if alone.verdict.name() != full.verdict.name() {
                differs("verdict", full.verdict.name(), alone.verdict.name());
            }
            // The search for a race looks at more iterations of loops that wait.
            let free = ask(Property::NoDataRace, true).verdict.name();
            if !full.found.seen.races.is_empty() && free == "holds" {
                differs("no data race", "fails", free);
            }
            let listed = Task { races: true, engines: vec![engine], ..task.clone() };
            let listed = judge(&test, &listed).found.seen;
            let known = listed.races_limit.is_none() && full.found.limit.is_none();
            let defined = full.found.seen.undefined.is_none();
            if known && defined && !listed.races.is_superset(&full.found.seen.races) {
                differs("races", "more", "some");
            }
            if known
                && defined
                && ["holds", "fails"].contains(&free)
                && listed.races.is_empty() != (free == "holds")
            {
                differs("races", free, "another list");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The observation, the number of outcomes and the number of consistent executions; `stuck` where
/// others never finish.
fn count(judgement: &Judgement) -> String {
    let observation =
        judgement.observation.map_or_else(|| judgement.verdict.name(), Observation::name);
    match judgement.found.seen.executions {
        Some(executions) => {
            let others = judgement.notes.iter().any(|note| note.code == "stuck");
            let stuck = if others { " stuck" } else { "" };
            format!("{observation} {} {executions}{stuck}", judgement.found.outcomes.len())
        }
        None => observation.to_owned(),
    }
}

/// How the counts differ from those recorded.
fn compare(counts: &BTreeMap<&str, String>) -> String {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = String::new();
    for (name, now) in counts {
        let file = folder().join(name).join("counts");
        if update {
            fs::write(&file, now).expect("the counts can be written");
        }
        let before = fs::read_to_string(&file).unwrap_or_default();
        for line in now.lines().filter(|line| !before.lines().any(|other| other == *line)) {
            writeln!(wrong, "{name}/counts: now {line}").expect("strings can be written");
        }
        for line in before.lines().filter(|line| !now.lines().any(|other| other == *line)) {
            writeln!(wrong, "{name}/counts: before {line}").expect("strings can be written");
        }
    }
    wrong
}

/// What is printed of an instruction is that instruction.
#[test]
fn each_printed_instruction_reads_back() {
    let mut count = 0;
    for entry in load(&folder()) {
        let path = entry.path.display().to_string();
        let bytes = fs::read(&entry.path).expect("the file can be read");
        let source = SourceTest::read(&path, &bytes).expect("it was read before");
        count += instructions_read_back(&source).unwrap_or_else(|why| panic!("{path}: {why}"));
    }
    assert!(count > 8_500, "only {count} instructions are printed");
}

#[test]
fn every_folder_is_a_section_and_has_tests() {
    let tests = load(&folder());
    for found in fs::read_dir(folder()).expect("the suite can be read") {
        let name = found.expect("the suite can be read").file_name();
        let name = name.to_string_lossy();
        assert!(
            OTHER_FOLDERS.contains(&&*name) || section::by_anchor(&name).is_some(),
            "{name} is the anchor of no section"
        );
        assert!(tests.iter().any(|entry| entry.folder == *name), "{name} has no tests");
    }
}

#[test]
fn a_test_is_named_as_its_file_and_no_other() {
    let mut seen: BTreeMap<String, PathBuf> = BTreeMap::new();
    for Entry { path, test, .. } in load(&folder()) {
        let stem = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        assert_eq!(test.name, stem, "{}", path.display());
        assert_eq!(test.doc.len(), 1, "{} says why in one line", path.display());
        if let Some(other) = seen.insert(stem, path.clone()) {
            panic!("{} and {} have one name", path.display(), other.display());
        }
    }
}
