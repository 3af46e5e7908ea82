//! `causeway fix`: the gallery of real mistakes and their real corrections, laws over random programs, and exit codes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use engine::ENGINES;
use judge::{Observation, Task, Verdict, judge};
use litmus::revise::{Revision, SourceTest};
use litmus::{Quantifier, Test};
use model::ptx;
use model::rel::Model;
use repair::{
    ProgramEdit, RepairOptions, RepairState, SuperfluousEdit, cost_between, repair, weaken,
};

use crate::agree::{BARRIERS, SMALL, law};
use crate::suite;

/// See [`crate::cli`].
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("help-fix", &["fix", "--help"]),
    ("fix-holds", &["fix", "--engine=enumerate", "tests/cli/holds.litmus"]),
    ("fix-fails", &["fix", "--engine=enumerate", "tests/cli/fails.litmus"]),
    ("fix-stuck", &["fix", "--engine=enumerate", "tests/cli/stuck.litmus"]),
    ("fix-rejected", &["fix", "--engine=enumerate", "tests/cli/rejected.litmus"]),
    (
        "fix-two",
        &["fix", "--engine=enumerate", "litmus/suite/gallery/B14-pytorch-signal-pad.litmus"],
    ),
    (
        "fix-too-few",
        &[
            "fix",
            "--engine=enumerate",
            "--edits=1",
            "litmus/suite/gallery/B14-pytorch-signal-pad.litmus",
        ],
    ),
    (
        "fix-undefined",
        &["fix", "--engine=enumerate", "litmus/suite/gallery/A10-llvm-volatile-as-nc.litmus"],
    ),
    (
        "fix-async",
        &["fix", "--engine=enumerate", "litmus/suite/async-proxy/bulk-store+no-fence.litmus"],
    ),
    (
        "fix-weaken",
        &[
            "fix",
            "--engine=enumerate",
            "--weaken",
            "litmus/suite/gallery/A5-llvm-cmpxchg-sm60+fixed.litmus",
        ],
    ),
    (
        "explain-weaken",
        &["explain", "--weaken", "litmus/suite/gallery/A1-llvm-atomicrmw+fixed.litmus"],
    ),
];

fn source(path: &Path) -> SourceTest {
    let bytes = fs::read(path).expect("the file can be read");
    SourceTest::read(&path.to_string_lossy(), &bytes).expect("it is a test")
}

fn options(model: &Model) -> RepairOptions<'_> {
    RepairOptions { engines: ENGINES.to_vec(), ..RepairOptions::new(model) }
}

/// The tests of the gallery that are wrong, each with its correction.
fn gallery() -> Vec<(PathBuf, PathBuf)> {
    let folder = suite::folder().join("gallery");
    let all = suite::load(&folder).into_iter().map(|entry| entry.path);
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let wrong = all.filter(|path| stem(path).is_some_and(|stem| !stem.ends_with("+fixed")));
    wrong
        .map(|path| {
            let fixed = format!("{}+fixed.litmus", stem(&path).unwrap_or_default());
            let fixed = folder.join(fixed);
            (path, fixed)
        })
        .collect()
}

/// Whether every engine, looking at every outcome, finds it forbidden; each of them on its own.
fn is_forbidden(test: &Test, model: &Model) -> bool {
    let test = match test.quantifier {
        Quantifier::Exists => Test { quantifier: Quantifier::NotExists, ..test.clone() },
        Quantifier::NotExists | Quantifier::ForAll => test.clone(),
    };
    let never = if test.quantifier == Quantifier::ForAll {
        Observation::Always
    } else {
        Observation::Never
    };
    ENGINES.iter().all(|engine| {
        let judgement = judge(&test, &Task { engines: vec![*engine], ..Task::new(model) });
        judgement.verdict == Verdict::Holds && judgement.observation == Some(never)
    })
}

fn revisions<'e>(edits: impl IntoIterator<Item = &'e ProgramEdit>) -> Vec<Revision> {
    edits.into_iter().flat_map(|edit| edit.revisions.iter().cloned()).collect()
}

#[test]
fn the_first_proposal_for_each_real_mistake_is_the_real_correction_or_a_cheaper_one() {
    let model = ptx::model();
    let gallery = gallery();
    assert!(gallery.len() >= 11, "only {} tests", gallery.len());
    for (wrong, fixed) in gallery {
        let name = wrong.display();
        let (before, after) = (source(&wrong), source(&fixed));
        let real = cost_between(&before.test, &after.test);
        let real = real.unwrap_or_else(|| panic!("{name}: the correction is not a set of edits"));
        assert!(is_forbidden(&after.test, &model), "{name}: the real correction forbids it");
        let repairs = repair(&before, &options(&model));
        assert_eq!((&repairs.limit, &repairs.disagreement), (&None, &None), "{name}");
        let best = repairs.proposals.first().unwrap_or_else(|| panic!("{name}: no proposal"));
        assert!(best.cost <= real, "{name}: {:?} costs more than {real:?}", best.edits);
        assert_eq!(best.engines.len(), ENGINES.len(), "{name}");
        let changed = litmus::parse("changed", best.text.as_bytes()).expect("it is a test");
        assert!(is_forbidden(&changed, &model), "{name}: the proposal forbids it");
        assert_eq!(changed.quantifier, Quantifier::NotExists, "{name}");
        assert_eq!(cost_between(&before.test, &changed), Some(best.cost), "{name}");
    }
}

#[test]
fn the_corrected_tests_of_the_gallery_need_no_edit() {
    let model = ptx::model();
    for (_, fixed) in gallery() {
        let repairs = repair(&source(&fixed), &options(&model));
        assert_eq!(repairs.state, RepairState::Forbidden, "{}", fixed.display());
        assert!(repairs.proposals.is_empty());
    }
}

/// The program with the condition that it has one of its outcomes, for a few of them.
fn with_outcomes(text: &str, model: &Model) -> Vec<SourceTest> {
    let Ok(random) = litmus::parse("random", text.as_bytes()) else { return Vec::new() };
    let judgement = judge(&random, &Task { work: Some(1 << 16), ..Task::new(model) });
    let outcomes: Vec<&Vec<_>> = judgement.found.outcomes.keys().collect();
    let (Some(at), 2..) = (text.rfind("exists"), outcomes.len()) else { return Vec::new() };
    let some = outcomes.iter().step_by(outcomes.len().div_ceil(4));
    some.filter_map(|outcome| {
        let outcome = random.display_outcome(outcome).trim_end_matches(';').replace(';', " /\\");
        let text = format!("{}exists ({outcome})\n", &text[..at]);
        SourceTest::read("random", text.as_bytes()).ok()
    })
    .collect()
}

/// The outcomes of a test, if all are known and the program has a meaning.
fn outcomes(test: &Test, options: &RepairOptions<'_>) -> Option<BTreeSet<String>> {
    let judgement = judge(test, &Task { work: options.work, ..Task::new(options.model) });
    let defined = matches!(judgement.verdict, Verdict::Holds | Verdict::Fails);
    let found = &judgement.found;
    let texts = found.outcomes.keys().map(|outcome| test.display_outcome(outcome)).collect();
    (defined && found.is_complete()).then_some(texts)
}

/// Whether some execution never finishes.
fn hangs(test: &Test, options: &RepairOptions<'_>) -> bool {
    let judgement = judge(test, &Task { work: options.work, ..Task::new(options.model) });
    judgement.found.seen.stuck.is_some()
}

/// What is wrong with the proposals for a test, if anything: each forbids the outcome, every execution finishes if all of the
/// test did, none of its edits can be left out, and it allows nothing that the test forbids. How many proposals there are.
fn proposals(source: &SourceTest, options: &RepairOptions<'_>) -> Result<usize, String> {
    let repairs = repair(source, options);
    if let Some(why) = &repairs.disagreement {
        return Err(why.clone());
    }
    let before = outcomes(&source.test, options);
    let may_hang = hangs(&source.test, options);
    for proposal in &repairs.proposals {
        let changed = litmus::parse("changed", proposal.text.as_bytes())
            .map_err(|_| format!("no test: {}", proposal.text))?;
        if !is_forbidden(&changed, options.model) {
            return Err(format!("allowed still: {}", proposal.text));
        }
        if !may_hang && hangs(&changed, options) {
            return Err(format!("some execution never finishes: {}", proposal.text));
        }
        let added = |before: &BTreeSet<String>| {
            outcomes(&changed, options).is_some_and(|after| !after.is_subset(before))
        };
        if before.as_ref().is_some_and(added) {
            return Err(format!("an outcome more: {}", proposal.text));
        }
        for left in 0..proposal.edits.len() {
            let others = proposal.edits.iter().enumerate();
            let others = others.filter(|(at, _)| *at != left).map(|(_, edit)| edit);
            let test = source.parse(&revisions(others)).map_err(|_| "no test".to_owned())?;
            // An edit may be needed so that the others let the test finish.
            if is_forbidden(&test, options.model) && (may_hang || !hangs(&test, options)) {
                return Err(format!("superfluous: {:?}", proposal.edits[left].lines));
            }
        }
    }
    Ok(repairs.proposals.len())
}

/// Of the gallery, and of the tests of the suite whose outcome is allowed.
#[test]
fn each_edit_of_a_proposal_for_the_suite_is_needed() {
    let model = ptx::model();
    let options =
        RepairOptions { proposals: 3, questions: 600, work: Some(1 << 14), ..options(&model) };
    let mut paths: Vec<PathBuf> = gallery().into_iter().map(|(wrong, _)| wrong).collect();
    for folder in ["causality-axiom", "fence-sc-order", "release-and-acquire-patterns"] {
        let all = suite::load(&suite::folder().join(folder)).into_iter();
        let allowed = all.filter(|entry| entry.test.quantifier == Quantifier::Exists);
        paths.extend(allowed.filter(|entry| entry.test.sass.is_none()).map(|entry| entry.path));
    }
    let mut proposed = 0;
    for path in &paths {
        let count = proposals(&source(path), &options);
        proposed += count.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
    eprintln!("{proposed} proposals for {} tests", paths.len());
    assert!(proposed > 40, "only {proposed} proposals");
}

/// Each proposal for an outcome of a random program forbids it, none of its edits can be left out, and it adds no outcome.
#[test]
fn proposals_for_random_programs_forbid_the_outcome_and_need_each_edit() {
    let model = ptx::model();
    let proposed = std::cell::Cell::new(0_usize);
    let options = RepairOptions {
        edits: 2,
        proposals: 3,
        questions: 600,
        work: Some(1 << 14),
        ..options(&model)
    };
    let checked = |source: &SourceTest| {
        proposed.set(proposed.get() + proposals(source, &options)?);
        Ok(())
    };
    law("repair", &[SMALL, BARRIERS], 100, |program| {
        with_outcomes(&program.to_string(), &model).iter().try_for_each(checked)
    });
    assert!(proposed.get() > 20, "only {} proposals", proposed.get());
}

/// Edits that a forbidden outcome does not need keep it forbidden, alone and together.
#[test]
fn what_is_superfluous_can_be_left_out() {
    let model = ptx::model();
    let mut found = 0;
    let folder = suite::folder().join("release-and-acquire-patterns");
    let tests = suite::load(&folder).into_iter().map(|entry| entry.path).filter(|path| {
        let source = source(path);
        source.test.quantifier == Quantifier::NotExists && source.test.sass.is_none()
    });
    for path in tests.chain(gallery().into_iter().map(|(_, fixed)| fixed)) {
        let source = source(&path);
        let weakening = weaken(&source, &options(&model));
        assert_eq!(weakening.disagreement, None, "{}", path.display());
        for SuperfluousEdit { edit, .. } in &weakening.superfluous {
            found += 1;
            let test = source.parse(&revisions([edit])).expect("it is a test");
            assert!(is_forbidden(&test, &model), "{}: {:?}", path.display(), edit.lines);
        }
        if !weakening.together.is_empty() {
            let test = litmus::parse("weaker", weakening.text.as_bytes()).expect("it is a test");
            assert!(is_forbidden(&test, &model), "{}", path.display());
            let again =
                SourceTest::read("weaker", weakening.text.as_bytes()).expect("it is a test");
            let more = weaken(&again, &options(&model));
            assert!(more.together.is_empty(), "{}: {:?}", path.display(), more.together);
        }
    }
    assert!(found > 20, "only {found} edits");
}

fn exit(arguments: &[&str]) -> Option<i32> {
    let status = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(arguments)
        .current_dir(suite::root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.expect("the program starts").code()
}

#[test]
fn the_exit_code_says_whether_there_is_a_proposal() {
    const FOLDER: &str = "litmus/suite/gallery";
    let wrong = format!("{FOLDER}/B1-vllm-all-reduce.litmus");
    let fixed = format!("{FOLDER}/B1-vllm-all-reduce+fixed.litmus");
    let fix = |more: &[&str]| exit(&[&["fix", "--engine=enumerate"], more].concat());
    assert_eq!(fix(&[&wrong]), Some(0));
    assert_eq!(fix(&[&fixed]), Some(0));
    assert_eq!(fix(&["--edits=1", &wrong]), Some(1));
    assert_eq!(fix(&["--timeout=0.000001", &wrong]), Some(4));
    assert_eq!(fix(&["--weaken", &wrong]), Some(4));
    assert_eq!(fix(&["--weaken", &fixed]), Some(0));
    assert_eq!(fix(&["litmus/cxx/SB+seq_cst.litmus"]), Some(4));
    assert_eq!(fix(&["tests/cli/rejected.litmus"]), Some(2));
    assert_eq!(fix(&["absent.litmus"]), Some(2));
}

/// The file is changed where it was wrong only, and `check` accepts it then.
#[test]
fn a_written_file_keeps_its_comments_and_passes() {
    let file = std::env::temp_dir().join(format!("causeway-fix-{}.litmus", std::process::id()));
    let text = "PTX MP\n(* A comment. *)\n{ x=0; f=0; }\n \
        P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
        st.weak.u32 [x], 1 | ld.acquire.gpu.u32 r0, [f] (* the flag *) ;\n \
        st.relaxed.gpu.u32 [f], 1 | ld.weak.u32 r1, [x] ;\n\
        // The condition.\nexists (1:r0=1 /\\ 1:r1=0)\n";
    fs::write(&file, text).expect("the file can be written");
    let path = file.to_string_lossy().into_owned();
    assert_eq!(exit(&["fix", "--engine=enumerate", "--write", &path]), Some(0));
    let written = fs::read_to_string(&file).expect("the file can be read");
    let expected = text.replace("st.relaxed.gpu", "st.release.gpu").replace("exists", "~exists");
    assert_eq!(written, expected);
    assert_eq!(exit(&["check", "--engine=enumerate", &path]), Some(0));
    fs::remove_file(&file).expect("the file can be removed");
}
