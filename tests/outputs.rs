//! Files that a run writes: no input, no old result and no file of somebody else is lost.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::suite;

/// A folder of a test, which is removed at its end.
struct Own(PathBuf);

impl Own {
    fn new(name: &str) -> Own {
        let folder = std::env::temp_dir().join(format!("causeway-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder can be made");
        Own(folder)
    }

    /// A copy of a file of the repository, and what is in it.
    fn copy(&self, from: &str, name: &str) -> Vec<u8> {
        let content = fs::read(suite::root().join(from)).expect("it is there");
        fs::write(self.0.join(name), &content).expect("it can be written");
        content
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).expect("it is there")
    }

    /// The names of all that is in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("it is a folder");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.expect("it can be read").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
        command.args(arguments.split(' ')).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Runs where no file may be longer than 512 bytes, as on a disk that gets full.
    fn run_without_room(&self, arguments: &str) -> Output {
        let program = env!("CARGO_BIN_EXE_causeway");
        let script = format!("trap '' XFSZ; ulimit -f 1; exec '{program}' {arguments}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(&self.0).stdin(Stdio::null());
        command.output().expect("there is a shell")
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const HOLDS: &str = "tests/cli/holds.litmus";

#[test]
fn an_output_that_is_an_input_is_refused() {
    let own = Own::new("own-output");
    let test = own.copy(HOLDS, "t.litmus");
    let files = [
        ("tests/lower/message.ptx", "f.ptx"),
        ("tests/lower/message.made.ptx", "made.ptx"),
        ("tests/lower/message.known.json", "known.json"),
        ("tests/cli/coherent.cat", "m.cat"),
        ("tests/cli/leaky.table", "m.table"),
        ("tests/cli/listing.sass", "l.sass"),
    ];
    let files = files.map(|(from, name)| (name, own.copy(from, name)));
    fs::write(own.0.join("causeway.toml"), "[check]\nverbose = false\n").expect("it is written");
    fs::create_dir(own.0.join("folder")).expect("it can be made");
    fs::write(own.0.join("folder/index.html"), &test).expect("it is written");
    symlink("t.litmus", own.0.join("link")).expect("it can be made");
    let before = own.names();
    for arguments in [
        "check --engine=enumerate -o t.litmus t.litmus",
        "check --engine=enumerate -o link t.litmus",
        "check --engine=enumerate -o t.litmus link",
        "check --engine=enumerate -o ./folder/../t.litmus .",
        "check --engine=enumerate --model m.cat -o m.cat t.litmus",
        "check --engine=enumerate -o causeway.toml t.litmus",
        "check --engine=enumerate --report folder folder/index.html",
        "explain -o t.litmus t.litmus",
        "fix -o t.litmus t.litmus",
        "fmt -o t.litmus t.litmus",
        "explore --timeline t.litmus t.litmus",
        "explore --table m.table -o m.table t.litmus",
        "export --format=dat3m --out . t.litmus",
        "export --format=ptx -o t.litmus t.litmus",
        "diff m.cat ptx --tests t.litmus -o m.cat",
        "lint -o f.ptx f.ptx",
        "lower --from f.ptx --to made.ptx --page f.ptx",
        "lower --from f.ptx --to made.ptx --page made.ptx",
        "lower --from f.ptx --to made.ptx --baseline known.json --format=json -o known.json",
        "lower --from f.ptx --llc llc --to f.ptx",
        "sass read -o l.sass l.sass",
        // Two outputs.
        "lower --from f.ptx --to made.ptx --page new.html -o new.html",
    ] {
        let run = own.run(arguments);
        assert_eq!(run.status.code(), Some(2), "{arguments}: {}", error(&run));
        let refused = error(&run);
        let why = ["the run reads this file", "two output options name this file"];
        assert!(why.iter().any(|why| refused.contains(why)), "{arguments}: {refused}");
        assert_eq!(own.read("t.litmus"), test, "{arguments}");
        assert_eq!(own.read("folder/index.html"), test, "{arguments}");
        for (name, content) in &files {
            assert_eq!(&own.read(name), content, "{arguments}");
        }
        assert_eq!(own.names(), before, "{arguments}");
    }
    let file = File::open(own.0.join("t.litmus")).expect("it is there");
    let piped = own.command("check --engine=enumerate -o t.litmus -").stdin(file).output();
    assert_eq!(piped.expect("the program starts").status.code(), Some(2));
    assert_eq!(own.read("t.litmus"), test);
}

/// What another run wrote is lost only to a result.
#[test]
fn a_run_that_fails_keeps_the_old_result() {
    let own = Own::new("old-result");
    own.copy(HOLDS, "t.litmus");
    fs::write(own.0.join("old"), "old").expect("it can be written");
    fs::set_permissions(own.0.join("old"), fs::Permissions::from_mode(0o640)).expect("it is ours");
    let before = own.names();
    for (run, code) in [
        (own.run("model --model absent.cat -o old"), 2),
        (own.run("explain -o old absent.litmus"), 2),
        (own.run_without_room("model -o old"), 2),
        (own.run_without_room("explore --timeline old t.litmus"), 2),
        (own.run("check --engine=enumerate --report old t.litmus"), 2),
    ] {
        assert_eq!(run.status.code(), Some(code), "{}", error(&run));
        assert!(error(&run).starts_with("error: "), "{}", error(&run));
        assert_eq!(own.read("old"), b"old");
        assert_eq!(own.names(), before);
    }
    // One that comes to its end replaces it, through links, and keeps who may read it.
    symlink("old", own.0.join("link")).expect("it can be made");
    let run = own.run("model -o link");
    assert_eq!(run.status.code(), Some(0), "{}", error(&run));
    assert_eq!(own.read("old"), own.run("model").stdout);
    let mode = fs::metadata(own.0.join("old")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(fs::symlink_metadata(own.0.join("link")).expect("it is there").is_symlink());
    let null = own.run("model -o /dev/null");
    assert_eq!(null.status.code(), Some(0), "a device is written to: {}", error(&null));
}

#[test]
fn a_folder_has_all_files_or_none() {
    let own = Own::new("whole-folder");
    own.copy(HOLDS, "t.litmus");
    let before = own.names();
    // The list of the tests is the only long file.
    let many = "gen MP SB LB --accesses weak,relaxed.gpu --place cta,gpu --out";
    let below = format!("{many} new/below");
    for arguments in [
        &*below,
        "check --engine=enumerate --report new t.litmus",
        "export --format=ptx --out new t.litmus",
    ] {
        let run = own.run_without_room(arguments);
        assert_eq!(run.status.code(), Some(2), "{arguments}: {}", error(&run));
        assert_eq!(own.names(), before, "{arguments}");
    }
    fs::create_dir(own.0.join("kept")).expect("it can be made");
    fs::write(own.0.join("kept/@all"), "old").expect("it can be written");
    let run = own.run_without_room(&format!("{many} kept"));
    assert_eq!(run.status.code(), Some(2), "{}", error(&run));
    assert_eq!(own.read("kept/@all"), b"old");
    assert_eq!(fs::read_dir(own.0.join("kept")).expect("it is there").count(), 1);
    let run = own.run(&format!("{many} kept"));
    assert_eq!(run.status.code(), Some(0), "{}", error(&run));
    let names = String::from_utf8(own.read("kept/@all")).expect("it is text");
    assert!(names.lines().count() > 10);
    assert!(names.lines().all(|name| own.0.join("kept").join(name).is_file()), "{names}");
    let count = fs::read_dir(own.0.join("kept")).expect("it is there").count();
    assert_eq!(count, names.lines().count() + 1, "nothing unfinished is left");
}

fn script(path: &Path, body: &str) {
    fs::write(path, format!("#!/bin/sh\n{body}\n")).expect("a script can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// The folder for the output of a compiler: nobody can know its name before, or look into it.
#[test]
fn temporary_folders_are_new_and_private() {
    let own = Own::new("temporary");
    own.copy("examples/llvm-ci/message.ll", "message.ll");
    own.copy("tests/lower/message.made.ptx", "made");
    let temporary = own.0.join("tmp");
    fs::create_dir(&temporary).expect("it can be made");
    let body = "out=$4; echo half > \"$out\"; stat -c %a \"$(dirname \"$out\")\" > mode; \
                echo \"$out\" >> seen; test ! -e fail && cp made \"$out\"";
    script(&own.0.join("llc"), body);
    let run = |more: &str| {
        let mut command = own.command(&format!("lower --from message.ll --llc ./llc{more}"));
        command.env("TMPDIR", &temporary).output().expect("the program starts")
    };
    run("");
    assert_eq!(own.read("mode"), b"700\n");
    let judged = run("");
    let (seen, left) = (own.read("seen"), fs::read_dir(&temporary).expect("it is there").count());
    let seen = String::from_utf8(seen).expect("it is text");
    let names: Vec<&str> = seen.lines().collect();
    assert!(names.len() == 2 && names[0] != names[1], "{seen}");
    assert_eq!(left, 0, "they are removed");
    // A file that is gone is not named.
    let said = String::from_utf8_lossy(&judged.stdout).into_owned() + &error(&judged);
    assert!(!said.contains("tmp/"), "{said}");

    fs::write(own.0.join("kept.ptx"), "old").expect("it can be written");
    fs::write(own.0.join("fail"), "").expect("it can be written");
    assert_eq!(run(" --to kept.ptx").status.code(), Some(2));
    assert_eq!(own.read("kept.ptx"), b"old", "a compiler that fails leaves nothing half");
    fs::remove_file(own.0.join("fail")).expect("it can be removed");
    run(" --to kept.ptx");
    assert_eq!(own.read("kept.ptx"), own.read("made"));
}

/// `nohup` starts a program so that it goes on without its terminal.
#[test]
fn a_signal_that_is_ignored_ends_no_run() {
    let program = env!("CARGO_BIN_EXE_causeway");
    let own = Own::new("nohup");
    let script = format!("trap '' HUP; exec '{program}' serve --listen 127.0.0.1:0 -o address");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(&own.0).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("there is a shell");
    let start = Instant::now();
    // It runs for ever, and its output is there all the same.
    while !own.0.join("address").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "it has no address");
        std::thread::sleep(Duration::from_millis(20));
    }
    let send = |signal: &str| {
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.expect("there is kill").success());
    };
    send("-HUP");
    std::thread::sleep(Duration::from_millis(500));
    send("-TERM");
    let code = child.wait().expect("it ends").code();
    assert!(matches!(code, Some(130)), "{code:?}");
    assert!(start.elapsed() > Duration::from_millis(500));
    assert!(String::from_utf8(own.read("address")).is_ok_and(|text| text.contains("http")));
}
