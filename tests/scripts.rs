//! The scripts that come along: what they refuse, and with what they exit.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::suite;

/// A folder of programs that stand in for others, removed at the end.
struct Programs {
    folder: PathBuf,
}

impl Programs {
    fn new(name: &str, programs: &[(&str, &str)]) -> Programs {
        let folder = std::env::temp_dir().join(format!("causeway-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder can be made");
        for (program, lines) in programs {
            let file = folder.join(program);
            fs::write(&file, format!("#!/bin/sh\n{lines}\n")).expect("the file can be written");
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&file, executable).expect("the file is ours");
        }
        Programs { folder }
    }

    fn run(&self, script: &str, arguments: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new(suite::root().join(script))
            .args(arguments)
            .current_dir(suite::root())
            .env("PATH", format!("{}:{path}", self.folder.display()))
            .env("LLC", self.folder.join("llc"))
            .env_remove("GITHUB_ACTIONS")
            .output()
            .expect("the script starts")
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn setup_refuses_a_rust_that_is_too_old() {
    let old = Programs::new("old-rust", &[("rustc", "echo 'rustc 1.80.1 (3f5fd8dd4 2024-08-06)'")]);
    let output = old.run(".ci/setup", &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    assert!(
        said.starts_with(&format!("Rust {oldest} or newer is needed, and `rustc` is 1.80.1")),
        "{said}"
    );
}

#[test]
fn what_was_not_judged_is_no_success_in_continuous_integration() {
    // Each file is judged as its name says.
    let judge = "case \"$*\" in *four*) exit 4;; *one*) exit 1;; *two*) exit 2;; esac";
    let programs = Programs::new(
        "judge",
        &[("llc", ""), ("ptxas", ""), ("nvdisasm", ""), ("causeway", judge)],
    );
    for (files, code) in [
        (&["fine"][..], 0),
        (&["four"], 4),
        (&["four", "fine"], 4),
        (&["four", "one", "fine"], 1),
        (&["one", "four"], 1),
        (&["two", "one", "four"], 2),
    ] {
        for script in ["check.sh", "ptxas.sh"] {
            let output = programs.run(&format!("examples/llvm-ci/{script}"), files);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(code), "{script} {files:?}: {said}");
        }
    }
}
