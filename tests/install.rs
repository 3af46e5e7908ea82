//! The command away from the folder that it was built in, as `cargo install` leaves it: what it needs
//! comes along, and what it lacks it says.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use engine::ENGINES;

use crate::suite;

/// A folder of this test with a copy of the command, removed at the end.
struct Moved {
    folder: PathBuf,
}

impl Moved {
    fn new(name: &str) -> Moved {
        let folder = std::env::temp_dir().join(format!("causeway-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("bin")).expect("the folder can be made");
        fs::copy(env!("CARGO_BIN_EXE_causeway"), folder.join("bin/causeway"))
            .expect("the command can be copied");
        Moved { folder }
    }

    /// Runs the copy, with no variable but these, and a home that is empty at first.
    fn run(&self, variables: &[(&str, &Path)], arguments: &[&str]) -> Output {
        Command::new(self.folder.join("bin/causeway"))
            .args(arguments)
            .current_dir(suite::root())
            .env_clear()
            .env("HOME", &self.folder)
            .envs(variables.iter().copied())
            .output()
            .expect("the command starts")
    }
}

impl Drop for Moved {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const HOLDS: &str = "tests/cli/holds.litmus";

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The library that the copy loads, as the loader tells it; `None` if none.
fn loaded(moved: &Moved, variables: &[(&str, &Path)]) -> Option<String> {
    let mut variables = variables.to_vec();
    variables.push(("LD_DEBUG", Path::new("files")));
    let output = moved.run(&variables, &["check", "--engine=all", HOLDS]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("enumerate, solve agree"), "{}", stdout(&output));
    let said = stderr(&output);
    let target = Path::new(env!("CARGO_BIN_EXE_causeway")).parent().expect("it is in a folder");
    let target = target.to_string_lossy();
    assert!(!said.contains(&*target), "it reads what was built: {said}");
    // The last two are those of the library itself and of what it needs.
    said.lines().find_map(|line| {
        let (_, file) = line.split_once("calling init: ")?;
        (file.contains("libz3") || file.contains("/proc/")).then(|| file.to_owned())
    })
}

/// Only where the library is inside the command: not with `LIBZ3_DIR`, or with a system library.
#[test]
fn a_copy_needs_nothing_of_the_folder_of_the_build() {
    if option_env!("LIBZ3_EMBEDDED").is_none() {
        eprintln!("skipped: libz3 is not inside the command in this build");
        return;
    }
    let moved = Moved::new("alone");
    let cache = moved.folder.join(".cache/causeway");

    let first = loaded(&moved, &[]).expect("it loads a libz3");
    assert!(first.starts_with(&*cache.to_string_lossy()), "{first}");
    let kept = PathBuf::from(&first);
    let whole = fs::read(&kept).expect("it is kept");
    assert_eq!(loaded(&moved, &[]), Some(first.clone()));
    assert_eq!(fs::read_dir(&cache).expect("it is there").count(), 1, "nothing else is left there");

    // What is not what was put there is replaced.
    fs::remove_file(&kept).expect("it can be removed");
    fs::write(&kept, "half of it").expect("it can be written");
    assert_eq!(loaded(&moved, &[]), Some(first.clone()));
    assert!(fs::read(&kept).expect("it is kept") == whole);

    // Also what has its length and other bytes, and what a run left that was killed is removed.
    let mut damaged = whole.clone();
    damaged[whole.len() / 2..].fill(0);
    fs::remove_file(&kept).expect("it can be removed");
    fs::write(&kept, &damaged).expect("it can be written");
    let [old, new] = ["unfinished-old", "unfinished-new"].map(|name| cache.join(name));
    for path in [&old, &new] {
        fs::write(path, "half of it").expect("it can be written");
    }
    let long_ago = SystemTime::now() - Duration::from_secs(7200);
    let file = fs::File::options().write(true).open(&old).expect("it is there");
    file.set_modified(long_ago).expect("it is ours");
    assert_eq!(loaded(&moved, &[]), Some(first.clone()));
    assert!(fs::read(&kept).expect("it is kept") == whole);
    assert!(!old.exists() && new.exists(), "another run may write the younger one");
    fs::remove_file(&new).expect("it can be removed");

    // A folder that others may write to is not trusted, and one that cannot be made is not needed.
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let shared = loaded(&moved, &[]).expect("it loads a libz3");
    assert!(shared.starts_with("/proc/self/fd/"), "{shared}");
    let nowhere = Path::new("/proc/none");
    let from_memory = loaded(&moved, &[("XDG_CACHE_HOME", nowhere)]).expect("it loads a libz3");
    assert!(from_memory.starts_with("/proc/self/fd/"), "{from_memory}");

    // One beside the program comes before the one inside, and a named one before both.
    let beside = moved.folder.join("bin/libz3.so");
    fs::write(&beside, &whole).expect("it can be written");
    assert_eq!(loaded(&moved, &[]).as_deref(), beside.to_str());
    let named = moved.folder.join("named");
    fs::create_dir(&named).expect("it can be made");
    fs::write(named.join("libz3.so"), &whole).expect("it can be written");
    let variable = [("CAUSEWAY_LIBZ3", named.as_path())];
    assert_eq!(loaded(&moved, &variable).as_deref(), named.join("libz3.so").to_str());
}

#[test]
fn without_libz3_only_what_needs_it_fails() {
    let moved = Moved::new("without");
    let none = moved.folder.join("none");
    let variable = [("CAUSEWAY_LIBZ3", none.as_path())];
    for arguments in [
        &["--version"][..],
        &["check", HOLDS],
        &["check", "--engine=enumerate", HOLDS],
        &["explain", HOLDS],
        &["lint", "tests/ptx/fine.ptx"],
        &["ptx", "explain", "ld.b32 r, [a]"],
        &["explore", "--check", HOLDS],
    ] {
        let output = moved.run(&variable, arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
    if ENGINES.len() < 2 {
        eprintln!("the rest is skipped: this build has no z3");
        return;
    }

    let asked = moved.run(&variable, &["check", "--engine=solve", HOLDS]);
    let said = stderr(&asked);
    assert_eq!(asked.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: the engine `solve` needs libz3"), "{said}");
    assert!(
        said.contains("none`: No such file") && said.contains("help: set CAUSEWAY_LIBZ3"),
        "{said}"
    );
    assert_eq!(stdout(&asked), "");

    for format in crate::formats::formats() {
        let both = moved.run(&variable, &["check", "--engine=all", "--format", &format, HOLDS]);
        assert_eq!(both.status.code(), Some(0));
        assert!(stderr(&both).starts_with("warning: the engine `solve` is not run"));
        assert!(!stdout(&both).contains("solve"), "{}", stdout(&both));
    }

    // What is there and is not libz3.
    fs::write(&none, "text").expect("it can be written");
    let wrong = moved.run(&variable, &["check", "--engine=solve", HOLDS]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("could not be loaded: "), "{}", stderr(&wrong));
}
