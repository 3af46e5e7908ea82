//! Standard input as `-`, what goes to which stream, and colour.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::suite;

/// A run with a file as standard input, without the variables that decide about colour.
fn run(variables: &[(&str, &str)], arguments: &[&str], input: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    let input = match input {
        Some(path) => Stdio::from(File::open(suite::root().join(path)).expect("the file is there")),
        None => Stdio::null(),
    };
    command
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(suite::root())
        .stdin(input)
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

/// A file named, and the same on standard input, print the same but for its name.
#[test]
fn a_dash_is_standard_input_for_every_command_that_takes_a_file() {
    let holds = "tests/cli/holds.litmus";
    let made = "tests/lower/message.made.ptx";
    for (before, file, after) in [
        (&["check", "--engine=enumerate", "--format=herd"][..], holds, &[][..]),
        (&["check", "--engine=enumerate"], "tests/cli/rejected.litmus", &[]),
        (&["check", "--engine=enumerate", "--model"], "tests/cli/coherent.cat", &[holds]),
        (&["explain"], holds, &[]),
        (&["explore"], holds, &[]),
        (&["explore", "--table"], "tests/cli/leaky.table", &[holds]),
        (&["lint"], "tests/ptx/broken.ptx", &[]),
        (&["lower", "--rows"], "tests/lower/few.csv", &[]),
        (&["lower", "--table"], "tests/cli/leaky.table", &[]),
        (&["lower", "--from"], "tests/lower/message.ptx", &["--to", made]),
        (
            &["lower", "--from"],
            "examples/llvm-ci/message.ll",
            &["--to", "examples/llvm-ci/message.ll"],
        ),
        (&["lower", "--from", "tests/lower/message.ptx", "--to"], made, &[]),
        (
            &["lower", "--from", "tests/lower/message.ptx", "--to", made, "--baseline"],
            "tests/lower/message.known.json",
            &[],
        ),
        (&["model", "--model"], "tests/cli/coherent.cat", &[]),
        (&["sass", "read"], "tests/cli/listing.sass", &[]),
    ] {
        let all = |file| [before, &[file], after].concat();
        let named = run(&[], &all(file), None);
        let piped = run(&[], &all("-"), Some(file));
        assert_eq!(named.status.code(), piped.status.code(), "{before:?}");
        for (named, piped) in [(named.stdout, piped.stdout), (named.stderr, piped.stderr)] {
            let without = |text: &str| -> Vec<String> {
                let lines = text.lines().filter(|line| !line.starts_with("Time "));
                lines.map(|line| line.replace(file, "-").replace(".0 s", ".1 s")).collect()
            };
            assert_eq!(without(&text(&named)), without(&text(&piped)), "{before:?}");
        }
    }
    let twice = run(&[], &["check", "--engine=enumerate", "-", "-"], Some(holds));
    assert_eq!(twice.status.code(), Some(2));
    assert!(text(&twice.stderr).contains("is given twice"), "{}", text(&twice.stderr));
}

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("causeway-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is a folder for files that are not kept");
    folder
}

/// What `gen` prints is what `check` reads.
#[test]
fn standard_input_has_several_tests() {
    let folder = folder("several-tests");
    let made = run(&[], &["gen", "SB", "MP", "--place", "cta,gpu"], None);
    let file = folder.join("tests");
    let all = text(&made.stdout);
    let count = all.matches("PTX ").count();
    assert!(count > 3);
    fs::write(&file, &all).expect("the folder can be written");
    let path = file.to_str().expect("the folder has a plain name");
    let checked = run(&[], &["check", "--engine=enumerate", "-"], Some(path));
    let printed = text(&checked.stdout);
    assert!(printed.starts_with(&format!("{count} tests: {count} ok")), "{printed}");
    let last = all.rfind("PTX ").expect("it has tests");
    let line = all[..last].matches('\n').count() + 1;

    // Errors have the position in the whole.
    let wrong = format!(
        "{all}PTX wrong\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n ld.weak.u32 r0, [y] ;\nexists (0:r0=1)\n"
    );
    fs::write(&file, &wrong).expect("the folder can be written");
    let checked = run(&[], &["check", "--engine=enumerate", "-v", "-"], Some(path));
    let (out, err) = (text(&checked.stdout), text(&checked.stderr));
    assert_eq!(checked.status.code(), Some(2));
    assert!(err.contains(&format!("--> -:{}:19", wrong.matches('\n').count() - 1)), "{err}");
    assert_eq!(err.matches("error[").count(), 1, "{err}");
    assert!(out.contains(&format!(" ok   -:{line} MP+")), "{out}");
    let listed = run(&[], &["check", "--list", "--filter", "name(SB)", "-"], Some(path));
    assert!(text(&listed.stdout).starts_with("-:1: SB+"), "{}", text(&listed.stdout));

    // Other commands, and a file, say so in one error.
    for command in [&["explain", "-"][..], &["check", path], &["export", "--format=dat3m", "-"]] {
        let refused = run(&[], command, Some(path));
        let err = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        assert!(err.starts_with("error[several-tests]") && err.contains("gen --out"), "{err}");
        assert_eq!(err.matches("error").count(), 1, "{err}");
    }
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

/// A test that never ends is not a success for the tools of herd.
#[test]
fn the_log_of_herd_says_of_no_execution_neither_ok_nor_no() {
    let stuck = run(&[], &["check", "--format=herd", "tests/cli/stuck.litmus"], None);
    let log = text(&stuck.stdout);
    assert!(log.contains("\nStates 0\nUndef\n") && !log.contains("Observation"), "{log}");
    assert!(log.contains("Flag "), "{log}");
}

#[test]
fn exported_files_of_one_name_are_all_kept() {
    let folder = folder("one-name");
    let holds = suite::root().join("tests/cli/holds.litmus");
    for below in ["a", "b", "c"] {
        let below = folder.join(below);
        fs::create_dir_all(&below).expect("the folder can be written");
        fs::copy(&holds, below.join("MP.litmus")).expect("it is copied");
    }
    let (from, to) = (folder.to_str().expect("a plain name"), folder.join("out"));
    let to_name = to.to_str().expect("a plain name");
    let exported = run(&[], &["export", "--format=ptx", from, "--out", to_name], None);
    assert!(text(&exported.stdout).starts_with("3 tests exported"));
    let all = fs::read_to_string(to.join("@all")).expect("there is a list");
    assert_eq!(all, "MP.ptx\nMP-2.ptx\nMP-3.ptx\n");
    assert!(to.join("MP-3.ptx").is_file());
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

/// What is not a test is said, and the others are compared.
#[test]
fn a_file_of_another_tool_beside_the_tests_of_a_log_is_one_error() {
    let folder = folder("other-tool");
    let lisa = "LISA t\n{ x=0; }\n P0 ;\n w[weak] x 1 ;\nscopes: (sys (cta P0))\nexists (0:r0=1)\n";
    fs::write(folder.join("lisa.litmus"), lisa).expect("the folder can be written");
    let holds = "tests/cli/holds.litmus";
    fs::copy(suite::root().join(holds), folder.join("ptx.litmus")).expect("it is copied");
    let path = folder.to_str().expect("the folder has a plain name");
    let arguments = ["compare", "--engine=enumerate", "tests/cli/forbidden.log", path];
    let compared = run(&[], &arguments, None);
    let (out, err) = (text(&compared.stdout), text(&compared.stderr));
    assert!(out.contains("1 compared"), "{out}");
    assert!(err.contains("the first line names `LISA`"), "{err}");
    assert_eq!(err.matches("error").count(), 1, "{err}");
    assert_eq!(compared.status.code(), Some(2));
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn what_is_wrong_with_an_input_goes_to_standard_error() {
    for file in ["rejected", "absent"] {
        let path = format!("tests/cli/{file}.litmus");
        for command in [&["check"][..], &["explain"], &["explore"], &["explore", "--check"]] {
            let output = run(&[], &[command, &[&*path]].concat(), None);
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            assert!(!out.contains("error"), "{command:?}: {out}");
            assert!(err.starts_with("error"), "{command:?}: {err}");
        }
        // A report has them itself.
        for command in ["check", "explore"] {
            for format in ["--format=json", "--format=junit", "--format=sarif"] {
                let output = run(&[], &[command, format, &path], None);
                assert!(text(&output.stdout).contains("error"), "{command} {format}");
                assert_eq!(text(&output.stderr), "", "{command} {format}");
            }
        }
    }
    let lint = run(&[], &["lint", "tests/ptx/broken.ptx", "tests/ptx/absent.ptx"], None);
    assert!(text(&lint.stdout).starts_with("error["), "what it finds is its result");
    assert!(text(&lint.stderr).starts_with("error: tests/ptx/absent.ptx: "));
    for format in ["--format=json", "--format=junit", "--format=sarif"] {
        let lint = run(&[], &["lint", format, "tests/ptx/absent.ptx"], None);
        assert!(text(&lint.stdout).contains("unreadable"), "{format}");
        assert_eq!(text(&lint.stderr), "", "{format}");
    }
}

#[test]
fn colour_is_for_terminals_and_for_whom_asks() {
    let coloured = |variables: &[(&str, &str)], arguments: &[&str]| {
        let output = run(variables, arguments, None);
        output.stdout.contains(&0x1b) || output.stderr.contains(&0x1b)
    };
    for arguments in [
        &["check", "--engine=enumerate", "tests/cli/fails.litmus"][..],
        &["check", "--engine=enumerate", "tests/cli/rejected.litmus"],
        &["explain", "tests/cli/rejected.litmus"],
        &["explore", "--check", "-v", "tests/cli/holds.litmus"],
        &["explore", "tests/cli/rejected.litmus"],
        &["lint", "tests/ptx/broken.ptx"],
        &["ptx", "explain", "ld.gpu.u32 r, [a]"],
        &["sass", "explain", "--arch=sm_52", "LDG.CG.E.64 P0, R3, [R2+0x80000]"],
    ] {
        let with = |colour| [arguments, &[colour]].concat();
        // No stream is a terminal here.
        assert!(!coloured(&[], arguments), "{arguments:?}");
        assert!(coloured(&[], &with("--color=always")), "{arguments:?}");
        assert!(coloured(&[("CLICOLOR_FORCE", "1")], arguments), "{arguments:?}");
        assert!(!coloured(&[("CLICOLOR_FORCE", "1")], &with("--color=never")), "{arguments:?}");
        assert!(!coloured(&[("NO_COLOR", "1")], arguments), "{arguments:?}");
    }
    for format in ["json", "junit", "sarif"] {
        let arguments =
            ["check", "--engine=enumerate", "tests/cli", "--color=always", "--format", format];
        assert!(!coloured(&[], &arguments), "{format}");
    }
    // At a terminal.
    let script = "script -qec 'causeway lint tests/ptx/broken.ptx' /dev/null";
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_causeway")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", programs.display());
    let at_terminal = |variables: &[(&str, &str)]| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(suite::root()).stdin(Stdio::null());
        // A log of continuous integration is coloured whatever the terminal.
        command.env_remove("CI").env_remove("NO_COLOR");
        command.env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE");
        command.env("PATH", &path).env("TERM", "xterm").envs(variables.iter().copied());
        command.output().expect("there is a shell").stdout.contains(&0x1b)
    };
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `script`, which makes a terminal");
        return;
    }
    assert!(at_terminal(&[]));
    assert!(!at_terminal(&[("NO_COLOR", "1")]));
    assert!(!at_terminal(&[("CLICOLOR", "0")]));
    assert!(!at_terminal(&[("TERM", "dumb")]));
}

/// Progress is for people: on standard error, and only if that is a terminal.
#[cfg(unix)]
#[test]
fn progress_is_shown_at_terminals_only() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `script`, which makes a terminal");
        return;
    }
    let files = "lower --from tests/lower/modules.ptx --to tests/lower/modules.made.ptx";
    let at_terminal = |more: &str| {
        let causeway = env!("CARGO_BIN_EXE_causeway");
        let script = format!("script -qec \"'{causeway}' {files} {more}\" /dev/null");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(suite::root()).stdin(Stdio::null());
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        text(&command.output().expect("there is a shell").stdout)
    };
    // Only standard error is the terminal.
    assert!(at_terminal(">/dev/null").contains(" functions "), "{}", at_terminal(">/dev/null"));
    assert_eq!(at_terminal("-q >/dev/null"), "");
    assert_eq!(at_terminal(">/dev/null 2>/dev/null"), "");
    // Only standard output is.
    assert!(!at_terminal("2>/dev/null").contains('\u{1b}'));
}

/// A bar is not there while results are written: what follows it in its line would stay on the screen with it.
#[cfg(unix)]
#[test]
fn no_bar_is_left_between_results() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `script`, which makes a terminal");
        return;
    }
    let causeway = env!("CARGO_BIN_EXE_causeway");
    let weak = "check --engine=enumerate --model tests/cli/coherent.cat litmus/suite/document";
    let script = format!("script -qec \"'{causeway}' {weak}\" /dev/null");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(suite::root()).stdin(Stdio::null());
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    let shown = text(&command.output().expect("there is a shell").stdout);
    assert!(shown.contains("FAIL"), "{shown}");
    let mut lines = shown.split(['\r', '\n']);
    let mixed = lines.find(|line| line.contains(" tests  ") && line.contains("FAIL"));
    assert_eq!(mixed, None, "{shown}");
}

/// What is printed and cannot be written is not a success, whatever it is and whyever it cannot.
#[test]
fn an_output_that_cannot_be_written_is_no_success() {
    for arguments in [
        &["--version"][..],
        &["--help"],
        &["check", "--help"],
        &["model"],
        &["check", "--engine=enumerate", "tests/cli/holds.litmus"],
        &["lint", "tests/ptx/fine.ptx"],
        &["ptx", "explain", "fence.sc.gpu"],
    ] {
        let code = |out: Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
            command.args(arguments).current_dir(suite::root()).stdin(Stdio::null());
            let output = command.stdout(out).output().expect("the program starts");
            (output.status.code(), text(&output.stderr))
        };
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        assert_eq!(code(writer.into()), (Some(141), String::new()), "{arguments:?}: a pipe");
        assert_eq!(code(Stdio::null()).0, Some(0), "{arguments:?}");
        if let Ok(full) = File::options().write(true).open("/dev/full") {
            let (code, error) = code(full.into());
            assert_eq!(code, Some(2), "{arguments:?}: /dev/full");
            assert!(error.starts_with("error: "), "{arguments:?}: {error}");
        }
        // Elsewhere the checker is linked with nothing that could see it.
        if cfg!(all(target_os = "linux", target_env = "gnu")) {
            for closed in [">&-", "<&- >&-"] {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("exec \"$0\" \"$@\" {closed}")]);
                shell.arg(env!("CARGO_BIN_EXE_causeway")).args(arguments);
                let output = shell.current_dir(suite::root()).output().expect("there is a shell");
                assert_eq!(output.status.code(), Some(141), "{arguments:?} {closed}");
            }
        }
    }
}

#[test]
fn every_failure_in_junit_has_a_body() {
    for arguments in [&["check", "--engine=enumerate"][..], &["explore", "--check"]] {
        let output = run(
            &[],
            &[arguments, &["--format=junit", "tests/cli", "tests/cli/absent.litmus"]].concat(),
            None,
        );
        let xml = text(&output.stdout);
        let mut failures = 0;
        for tag in ["<failure ", "<error "] {
            for (at, _) in xml.match_indices(tag) {
                let rest = &xml[at..];
                let end = rest.find("\">").unwrap_or(rest.len());
                assert!(!rest[..end].contains("\"/>"), "{}", &rest[..end.min(200)]);
                let body = rest[end + 2..].split("</").next().unwrap_or_default();
                assert!(!body.trim().is_empty(), "{}", &rest[..end]);
                failures += 1;
            }
        }
        assert!(failures > 1, "{xml}");
    }
}

/// The versions that the README names are those that the build requires.
#[test]
fn the_readme_names_the_versions_that_the_build_asks_for() {
    let read = |path: &str| fs::read_to_string(suite::root().join(path)).expect("it is there");
    let readme = read("README.md").replace('\n', " ");
    assert!(readme.contains(&format!("Rust {} or newer", env!("CARGO_PKG_RUST_VERSION"))));
    let build = read("checker/libz3/build.rs");
    let pinned = build.split("z3-solver==").nth(1).and_then(|rest| rest.split(' ').next());
    let pinned =
        pinned.and_then(|version| version.strip_suffix(".0")).expect("a version is pinned");
    assert!(readme.contains(&format!("`z3-solver` {pinned}")), "{pinned}");
    let oldest = read(".cargo/config.toml");
    let oldest =
        oldest.split("Z3_SYS_Z3_VERSION = \"").nth(1).and_then(|rest| rest.split('"').next());
    assert!(readme.contains(&format!("{} or newer", oldest.expect("a version is named"))));
}
