//! What a run takes beside its tests: filters, questions, another output, `causeway.toml`, `--watch`.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::cli;
use crate::fmt::{causeway, folder, said};

/// Of the command line, as in `cli`.
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    (
        "filter-list",
        &["check", "tests/cli", "--list", "--filter", "instruction(#ld.acquire*) & !path(/fail/)"],
    ),
    ("filter-nothing", &["check", "tests/cli/holds.litmus", "--filter", "name(=nothing)"]),
    ("filter-wrong", &["check", "tests/cli", "--filter", "nam(MP) | threads(two)"]),
    ("readings-list", &["readings"]),
    ("help-readings", &["readings", "--help"]),
    ("fix-ask", &["fix", "tests/cli/fails.litmus", "--ask=exists (P1:r0=1 /\\ P1:r1=0)"]),
    (
        "explain-ask-fix",
        &["explain", "tests/cli/fails.litmus", "--ask=exists (P1:r0=1 /\\ P1:r1=0)"],
    ),
    ("serve-elsewhere", &["serve", "--listen", "0.0.0.0:7480"]),
    ("serve-nowhere", &["serve", "--listen", "here"]),
    ("ask-wrong", &["check", "tests/cli/holds.litmus", "--ask", "exists (P9:r0=1)"]),
    (
        "ask-with-a-filter",
        &["check", "-v", "tests/cli/holds.litmus", "--ask=filter (P1:r0=1) forall (P1:r1=1)"],
    ),
    ("check-flags", &["check", "-v", "--model=tests/cli/reports.cat", "tests/cli/holds.litmus"]),
    (
        "check-flags-herd",
        &["check", "--format=herd", "--model=tests/cli/reports.cat", "tests/cli/holds.litmus"],
    ),
    ("explain-flags", &["explain", "--model=tests/cli/reports.cat", "tests/cli/holds.litmus"]),
    ("model-other", &["model", "--model", "tests/cli/coherent.cat", "--format=cat"]),
    (
        "explain-shows-relations",
        &["explain", "--show=base-causality,synchronizes", "tests/cli/holds.litmus"],
    ),
    (
        "explain-shows-unused",
        &["explain", "--model=tests/cli/coherent.cat", "--show=same-cta", "tests/cli/holds.litmus"],
    ),
    ("explain-shows-nothing", &["explain", "--show=causalty", "tests/cli/holds.litmus"]),
    ("check-open-co", &["check", "--model=tests/cli/open-co.cat", "tests/cli/holds.litmus"]),
    ("ask-without-quantifier", &["explain", "tests/cli/holds.litmus", "--ask=P1:r0=0"]),
    ("explain-counterexample", &["explain", "tests/cli/holds.litmus", "--ask=forall (P1:r0=0)"]),
    ("explain-by-two-addresses", &["explain", cli::ALIAS]),
    (
        "check-suggests-the-same-question",
        &[
            "check",
            "--engine=enumerate",
            "--reading=R13=semantic",
            "--ask=~exists (P0:r0=1 /\\ P1:r0=1)",
            cli::FAKE,
        ],
    ),
    ("explain-fences-synchronize", &["explain", "tests/cli/fenced.litmus"]),
];

const MP: &str = "PTX MP
{
x=0;
y=0;
}
 P0@cta 0,gpu 0            | P1@cta 1,gpu 0                ;
 st.weak.u32 [x], 1        | ld.acquire.gpu.u32 r0, [y]    ;
 st.release.gpu.u32 [y], 1 | ld.weak.u32 r1, [x]           ;
~exists (P1:r0=1 /\\ P1:r1=0)
";

fn tests(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    let sb = MP.replace("PTX MP", "PTX LB").replace("~exists", "exists").replace("r1=0", "r1=1");
    fs::create_dir(folder.join("tests")).expect("a folder can be made");
    fs::write(folder.join("tests/mp.litmus"), MP).expect("it is written");
    fs::write(folder.join("tests/lb.litmus"), sb).expect("it is written");
    // No file above the folder is taken.
    fs::create_dir(folder.join(".git")).expect("a folder can be made");
    folder
}

fn run(arguments: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    said(&causeway(arguments, folder))
}

#[test]
fn a_filter_chooses_tests() {
    let folder = tests("filter");
    let (code, out, _) = run(&["check", "-v", "tests", "--filter", "name(MP)"], &folder);
    assert!(code == Some(0) && out.contains("mp.litmus") && !out.contains("lb.litmus"), "{out}");
    assert!(out.contains("1 test: 1 ok; 1 excluded by the filter"), "{out}");
    let (code, out, _) = run(&["check", "tests", "--list"], &folder);
    let listed = "tests/lb.litmus: LB: exists (1:r0=1 /\\ 1:r1=1)\ntests/mp.litmus: MP: ~exists (1:r0=1 /\\ 1:r1=0)\n";
    assert_eq!((code, out.as_str()), (Some(0), listed));
    // A file that is excluded by its path is not read; another one is an error.
    fs::write(folder.join("tests/bad.litmus"), "PTX bad\n").expect("it is written");
    let (code, _, err) = run(&["check", "tests", "--filter", "!path(bad)"], &folder);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let (code, _, err) = run(&["check", "tests", "--filter", "name(MP)"], &folder);
    assert!(code == Some(2) && err.contains("bad.litmus"), "{err}");
}

#[test]
fn a_question_replaces_the_condition() {
    let folder = tests("ask");
    let ask = |question: &str| run(&["check", "-v", "tests/mp.litmus", "--ask", question], &folder);
    let (code, out, _) = ask("exists (1:r0=1 /\\ 1:r1=1)");
    assert!(code == Some(0) && out.contains("Sometimes 1/3"), "{out}");
    let (code, out, _) = ask("forall (1:r0=0)");
    assert!(code == Some(1), "{out}");
    let (code, _, err) = ask("exists (1:r0=1 /\\ 1:rr=0)");
    assert!(code == Some(2) && err.contains("--> --ask:1:19"), "{err}");
    // A test without a condition takes a question.
    let text = MP.split("~exists").next().expect("it is there");
    fs::write(folder.join("tests/mp.litmus"), text).expect("it is written");
    assert_eq!(run(&["check", "tests/mp.litmus"], &folder).0, Some(2));
    assert_eq!(ask("exists (1:r0=1)").0, Some(0));
    let explain = ["explain", "tests/mp.litmus", "--ask", "exists (1:r0=1 /\\ 1:r1=0)"];
    let (code, out, _) = run(&explain, &folder);
    assert!(code == Some(0) && out.contains("causality"), "{out}");
}

#[test]
fn results_go_to_a_file_or_nowhere() {
    let folder = tests("output");
    let (code, out, err) = run(&["check", "-v", "tests", "-o", "results.txt"], &folder);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "", ""));
    let written = fs::read_to_string(folder.join("results.txt")).expect("it was written");
    assert!(written.contains("2 tests: 2 ok") && !written.contains('\u{1b}'), "{written}");
    let (code, _, err) = run(&["check", "tests", "--output", "absent/results.txt"], &folder);
    assert!(code == Some(2) && err.contains("absent/results.txt"), "{err}");
    let (code, out, err) = run(&["check", "-q", "tests"], &folder);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "", ""));
}

#[test]
fn a_file_has_defaults_of_options() {
    let folder = tests("config");
    let config = |text: &str| fs::write(folder.join("causeway.toml"), text).expect("it is written");
    config(
        "[check]\nverbose = true\nengine = \"enumerate\"\nreading = [\"R13=semantic\"]\n\n[explore]\narch = \"sm_80\"\n",
    );
    let (code, out, _) = run(&["check", "tests"], &folder);
    assert!(
        code == Some(0) && out.contains("tests/mp.litmus") && out.contains("(enumerate;"),
        "{out}"
    );
    // The file of a folder above.
    let below = folder.join("tests");
    let (_, out, _) = run(&["check", "mp.litmus"], &below);
    assert!(out.contains("mp.litmus"), "{out}");
    let (_, out, _) = run(&["check", "tests", "--no-config"], &folder);
    assert!(!out.contains("tests/mp.litmus"), "{out}");
    // The command line has the last word.
    config("[check]\nfilter = \"name(MP)\"\ntimeout = 5.5\nquiet = false\n");
    let (_, out, _) = run(&["check", "-v", "tests", "--filter", "name(LB)"], &folder);
    assert!(out.contains("lb.litmus") && !out.contains("mp.litmus"), "{out}");
    fs::rename(folder.join("causeway.toml"), folder.join("other.toml")).expect("it is renamed");
    let (_, out, _) = run(&["check", "-v", "tests", "--config", "other.toml"], &folder);
    assert!(out.contains("mp.litmus") && !out.contains("lb.litmus"), "{out}");
    let (code, _, err) = run(&["check", "tests", "--config", "absent.toml"], &folder);
    assert!(code == Some(2) && err.contains("absent.toml"), "{err}");
}

#[test]
fn what_is_wrong_in_the_file_has_a_place() {
    let folder = tests("config-wrong");
    for (text, place, message) in [
        ("[check\n", "1:7", "error["),
        ("[chek]\n", "1:2", "there is no command `chek`"),
        ("check = 1\n", "1:1", "expected a table"),
        ("[check]\ntimeot = 1\n", "2:1", "takes no option `timeot`"),
        ("[check]\ntimeout = true\n", "2:11", "another type"),
        ("[check]\nverbose = \"yes\"\n", "2:11", "another type"),
        ("[check]\noutput = \"x\"\n", "2:1", "takes no option `output`"),
        ("[lower]\nllc = \"./evil\"\n", "2:1", "for the command line only"),
    ] {
        fs::write(folder.join("causeway.toml"), text).expect("it is written");
        let (code, out, err) = run(&["check", "tests"], &folder);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{text}");
        assert!(err.contains(&format!("causeway.toml:{place}")), "{text}: {err}");
        assert!(err.contains(message), "{text}: {err}");
    }
    for text in ["[check]\ntimeout = -1\n", "[check]\nquiet = true\nverbose = true\n"] {
        fs::write(folder.join("causeway.toml"), text).expect("it is written");
        let (code, _, err) = run(&["check", "tests"], &folder);
        assert_eq!(code, Some(2));
        assert!(err.contains("note: with the options of causeway.toml"), "{err}");
    }
}

/// A command that runs until it is dropped, and what it prints.
struct WatchedRun {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl WatchedRun {
    fn new(words: &[&str], folder: &Path) -> WatchedRun {
        let mut child = Command::new(env!("CARGO_BIN_EXE_causeway"))
            .args(words)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        WatchedRun { child, lines }
    }

    /// What it prints up to the end of a run.
    fn next(&mut self) -> String {
        let mut seen = String::new();
        for line in self.lines.by_ref() {
            let line = line.expect("it is text");
            seen += &line;
            if line.contains("watching for changes") {
                return seen;
            }
        }
        panic!("it ended: {seen}");
    }
}

impl Drop for WatchedRun {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_change_is_judged_again() {
    let folder = tests("watch");
    let mut watched =
        WatchedRun::new(&["check", "--watch", "tests", "--engine", "enumerate"], &folder);
    assert!(watched.next().contains("2 tests: 2 ok"));
    fs::write(folder.join("tests/mp.litmus"), MP.replace("~exists", "exists"))
        .expect("it is written");
    assert!(watched.next().contains("1 failed"));
    let (code, _, err) = run(&["check", "--watch", "-"], &folder);
    assert!(code == Some(2) && err.contains("cannot be watched"), "{err}");
}

#[test]
fn a_change_of_the_module_of_a_launch_is_judged_again() {
    let folder = tests("watch-launch");
    fs::create_dir(folder.join("modules")).expect("it is made");
    let module = |value: u32| {
        format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{ .reg .b64 %rd<2>;\n\
             ld.param.u64 %rd1, [out];\nst.global.u32 [%rd1], {value};\nret; }}\n"
        )
    };
    let launch = "ptx = \"modules/k.ptx\"\n[launch]\ngrid = 1\nblock = 1\n\
        [[arg]]\nname = \"out\"\ntype = \"u32[1]\"\n[[assert]]\nfinal = \"out[0] == 1\"\n";
    fs::write(folder.join("modules/k.ptx"), module(1)).expect("it is written");
    fs::write(folder.join("k.toml"), launch).expect("it is written");
    let mut watched = WatchedRun::new(&["verify", "--watch", "k.toml"], &folder);
    let seen = watched.next();
    assert!(seen.contains("clean"), "{seen}");
    fs::write(folder.join("modules/k.ptx"), module(2)).expect("it is written");
    let seen = watched.next();
    assert!(seen.contains("the assertion can be false"), "{seen}");
}

#[test]
fn a_change_of_the_source_that_has_the_launch_is_judged_again() {
    let folder = tests("watch-source");
    let module = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{ .reg .b64 %rd<2>;\n\
        .loc 1 2 0\nld.param.u64 %rd1, [out];\nst.global.u32 [%rd1], 1;\nret; }\n.file 1 \"/elsewhere/k.cu\"\n";
    let source = |value: u32| {
        let launch = "//! causeway: --grid 1 --block 1 --arg out='u32[1]'";
        format!("{launch} --assert 'out[0] == {value}'\nint x;\n")
    };
    fs::write(folder.join("k.ptx"), module).expect("it is written");
    fs::write(folder.join("k.cu"), source(1)).expect("it is written");
    let mut watched = WatchedRun::new(&["verify", "--watch", "k.ptx"], &folder);
    let seen = watched.next();
    assert!(seen.contains("clean"), "{seen}");
    fs::write(folder.join("k.cu"), source(2)).expect("it is written");
    let seen = watched.next();
    assert!(seen.contains("the assertion can be false"), "{seen}");
}
