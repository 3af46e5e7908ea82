//! `causeway lint --fix`: what it does to files, and what its diff is.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::suite;

/// Of the command line, as in `cli`.
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("lint-repeated", &["lint", "tests/ptx/repeated.ptx"]),
    ("lint-source-lines", &["lint", "tests/ptx/source-lines.ptx"]),
    ("lint-diff", &["lint", "--diff", "tests/ptx"]),
    ("lint-diff-unsafe", &["lint", "--diff", "--unsafe-fixes", "tests/ptx/broken.ptx"]),
    ("lint-diff-absent", &["lint", "--diff", "tests/ptx/absent.ptx"]),
    ("lint-diff-fine", &["lint", "--diff", "tests/ptx/fine.ptx"]),
    ("lint-diff-json", &["lint", "--diff", "--format=json", "tests/ptx/fine.ptx"]),
    ("lint-explain", &["lint", "--explain", "ld-scope-missing"]),
    ("lint-explain-safe", &["lint", "--explain", "ld-cache"]),
    ("lint-explain-target", &["lint", "--explain", "target-ld-cluster"]),
    ("lint-explain-document", &["lint", "--explain", "address-size-missing"]),
    ("lint-explain-ptxas", &["lint", "--explain", "ld-level1-space"]),
    ("lint-explain-limit", &["lint", "--explain", "nesting"]),
    ("lint-explain-unknown", &["lint", "--explain", "ld-scop-missing"]),
    ("lint-explain-of-file", &["lint", "--explain", "ld-cache", "tests/ptx/fine.ptx"]),
    ("lint-unsafe-alone", &["lint", "--unsafe-fixes", "tests/ptx/fine.ptx"]),
];

/// A copy of the module with one of each error, in a folder of its own.
fn copy(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("causeway-{}-lint-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder can be made");
    let file = folder.join("broken.ptx");
    fs::copy(suite::root().join("tests/ptx/broken.ptx"), &file).expect("it can be copied");
    file
}

fn lint(file: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(["lint", "--color=never"])
        .args(arguments)
        .arg(file)
        .output()
        .expect("it can be run")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it is text")
}

/// What is printed of a file does not depend on where it is.
fn shown(bytes: &[u8], file: &Path) -> String {
    text(bytes).replace(&file.display().to_string(), "F")
}

#[test]
fn a_file_is_corrected_in_place_as_its_diff_says() {
    for unsafe_too in [false, true] {
        let arguments =
            |first| if unsafe_too { vec![first, "--unsafe-fixes"] } else { vec![first] };
        let file = copy(if unsafe_too { "all" } else { "safe" });
        let before = fs::read_to_string(&file).expect("it is there");
        let diff = lint(&file, &arguments("--diff"));
        assert_eq!(diff.status.code(), Some(1));
        assert_eq!(
            fs::read_to_string(&file).expect("it is there"),
            before,
            "a diff writes nothing"
        );
        let fixed = lint(&file, &arguments("--fix"));
        let after = fs::read_to_string(&file).expect("it is there");
        assert_eq!(fixed.status.code(), Some(1), "errors are left that no correction repairs");
        // The lines of the diff are those that changed.
        let of = |sign: char, other: &str| -> Vec<String> {
            let lines = text(&diff.stdout).lines().filter(|line| !line.starts_with(other));
            lines.filter_map(|line| line.strip_prefix(sign)).map(str::to_owned).collect()
        };
        let only = |one: &str, other: &str| -> Vec<String> {
            one.lines()
                .filter(|line| !other.lines().any(|known| known == *line))
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(of('-', "---"), only(&before, &after));
        assert_eq!(of('+', "+++"), only(&after, &before));
        // Nothing is left to be corrected, and what is said is what `lint` says of the file.
        let again = lint(&file, &arguments("--fix"));
        assert_eq!(fs::read_to_string(&file).expect("it is there"), after);
        let plain = lint(&file, &[]);
        assert_eq!(text(&again.stdout), text(&plain.stdout));
        assert_eq!(lint(&file, &arguments("--diff")).stdout, b"");
        let _ = fs::remove_dir_all(file.parent().expect("a folder"));
    }
}

#[test]
fn a_module_from_standard_input_is_printed_corrected() {
    let file = copy("input");
    let mut child = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(["lint", "--color=never", "--fix", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it can be run");
    let module = fs::read(&file).expect("it is there");
    child.stdin.take().expect("a pipe").write_all(&module).expect("it is read");
    let piped = child.wait_with_output().expect("it ends");
    let fixed = lint(&file, &["--fix"]);
    assert_eq!(text(&piped.stdout), fs::read_to_string(&file).expect("it is there"));
    assert_eq!(piped.status.code(), fixed.status.code());
    let said = shown(&fixed.stdout, &file);
    assert!(said.starts_with(&text(&piped.stderr).replace("--> -:", "--> F:")), "{said}");
    let _ = fs::remove_dir_all(file.parent().expect("a folder"));
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let file = copy("read-only");
    let mut permissions = fs::metadata(&file).expect("it is there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).expect("they can be changed");
    let before = fs::read(&file).expect("it is there");
    let fixed = lint(&file, &["--fix"]);
    assert_eq!(fixed.status.code(), Some(2));
    assert!(text(&fixed.stderr).contains("it is read-only"), "{}", text(&fixed.stderr));
    assert_eq!(fs::read(&file).expect("it is there"), before);
    let _ = fs::remove_dir_all(file.parent().expect("a folder"));
}
