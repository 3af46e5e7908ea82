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

/// A compiler for a GPU that does not know one instruction, and whose programs print their tests.
const NVCC: &str = r#"
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
if grep -q 'st.weak.u16' "$1"; then echo "ptxas: error: not known" >&2; exit 1; fi
names=$(sed -n 's/.*static const char \*name() { return "\(.*\)"; }$/\1/p' "$1")
{
    echo '#!/bin/sh'
    for name in $names; do
        case $name in
        hangs) echo "echo 'Hung hangs: no end within 1 s'" ;;
        *) printf 'printf "Test %s Allowed\\nHistogram (1 states)\\n7 :>[x]=1;\\nTime %s 0.1\\n"\n' "$name" "$name" ;;
        esac
    done
} > "$out"
chmod +x "$out"
"#;

#[test]
fn each_test_on_a_gpu_has_a_line() {
    let programs = Programs::new("gpu", &[("nvcc", NVCC), ("nvidia-smi", "echo 9.0")]);
    let tests = programs.folder.join("tests");
    fs::create_dir_all(&tests).expect("the folder can be made");
    for (name, store) in [
        ("first", "st.weak.u32 [x], 1"),
        ("hangs", "st.weak.u32 [x], 2"),
        ("newer", "st.weak.u16 [x], 1"),
        ("wrong", "st.weak.u32 [x], 3"),
    ] {
        let text = format!("PTX {name}\n{{ x=0; }}\n P0@cta 0 ;\n {store} ;\nexists (x=1)\n");
        fs::write(tests.join(format!("{name}.litmus")), text).expect("the file can be written");
    }
    let folder = tests.to_str().expect("the path is text");
    let causeway = env!("CARGO_BIN_EXE_causeway");
    let run = |arguments: &[&str]| {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new(suite::root().join("benches/on-a-gpu"))
            .args(arguments)
            .env("PATH", format!("{}:{path}", programs.folder.display()))
            .env("TMPDIR", &programs.folder)
            .env("CAUSEWAY", causeway)
            .output()
            .expect("the script starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (said, output.status.code())
    };
    let (said, code) = run(&["10", folder]);
    for line in [
        "first: ok: 1 of 1 allowed outcomes, seen 7 times",
        "hangs: hung: no end within 1 s",
        "newer: not compiled: ptxas: error: not known",
        "wrong: 1 state is forbidden, seen 7 of 7 times",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert_eq!(code, Some(1), "{said}");
    let (said, code) = run(&["--total", "-1", "10", folder]);
    assert!(said.contains("first: not run: the time of all tests is over"), "{said}");
    assert_eq!(code, Some(4), "{said}");
}
