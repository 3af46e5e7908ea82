//! Inputs and surroundings that are not as one expects: folders that lead into themselves, files without
//! an end, readers that go away.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::suite;

const HOLDS: &str = "tests/cli/holds.litmus";

/// A new folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("robust").join(name);
    // It is there after an earlier run only.
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

fn causeway(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
    command.args(arguments).current_dir(suite::root());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a command says; it must end within a minute.
fn ended(command: &mut Command) -> Output {
    let start = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let mut pipes = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let read = |pipe: Option<&mut dyn std::io::Read>| {
            let mut all = Vec::new();
            pipe.map(|pipe| pipe.read_to_end(&mut all));
            all
        };
        let out = pipes.0.as_mut();
        let out = scope.spawn(move || read(out.map(|pipe| pipe as _)));
        let err = pipes.1.as_mut();
        let err = scope.spawn(move || read(err.map(|pipe| pipe as _)));
        let status = loop {
            if let Some(status) = child.try_wait().expect("it can be waited for") {
                break status;
            }
            if start.elapsed() > Duration::from_secs(60) {
                child.kill().expect("it can be ended");
                panic!("{command:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let (stdout, stderr) = (out.join().expect("it is read"), err.join().expect("it is read"));
        Output { status, stdout, stderr }
    })
}

/// Standard output, standard error and the exit code.
fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = ended(&mut causeway(arguments));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("it is in UTF-8")
}

#[cfg(unix)]
fn link(to: &str, at: &Path) {
    std::os::unix::fs::symlink(to, at).expect("a link can be made");
}

#[cfg(unix)]
#[test]
fn a_folder_is_entered_once_and_only_files_are_read() {
    let folder = folder("links");
    fs::create_dir(folder.join("inside")).expect("a folder can be made");
    fs::copy(suite::root().join(HOLDS), folder.join("inside/a.litmus")).expect("it is copied");
    link(".", &folder.join("itself"));
    link("..", &folder.join("inside/above"));
    link("inside", &folder.join("other"));
    link("inside/a.litmus", &folder.join("same.litmus"));
    let made = Command::new("mkfifo").arg(folder.join("pipe.litmus")).status();
    assert!(made.expect("there is mkfifo").success());
    for (command, sign) in [("check", "\n1 test"), ("explore", "MP on sm_90: 3 outcomes")] {
        let (out, err, code) = run(&[command, text(&folder)]);
        assert_eq!((&*err, code), ("", Some(0)), "{out}");
        assert_eq!(format!("\n{out}").matches(sign).count(), 1, "{out}");
    }
    // A link that leads nowhere is a test that cannot be read.
    link("nothing", &folder.join("b.litmus"));
    let (_, err, code) = run(&["check", text(&folder)]);
    assert!(err.contains("b.litmus") && code == Some(2), "{err}");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_or_has_no_end_is_refused() {
    let large = folder("large").join("large.ptx");
    let file = fs::File::create(&large).expect("a file can be made");
    file.set_len(1 << 40).expect("it can have holes");
    let folder = large.parent().expect("it is in one");
    for of in ["litmus", "ptx", "sass", "ll", "csv", "table", "cat"] {
        link("/dev/zero", &folder.join(format!("zero.{of}")));
        link(text(&large), &folder.join(format!("large-link.{of}")));
    }
    let at = |name: &str| text(&folder.join(name)).to_owned();
    for (name, why) in [("zero", "neither a file nor a pipe"), ("large-link", "more than 256 MiB")]
    {
        for arguments in [
            &["check", &at(&format!("{name}.litmus"))][..],
            &["explain", &at(&format!("{name}.litmus"))],
            &["explore", &at(&format!("{name}.litmus"))],
            &["check", "--model", &at(&format!("{name}.cat")), HOLDS],
            &["model", "--model", &at(&format!("{name}.cat"))],
            &["explore", "--table", &at(&format!("{name}.table")), HOLDS],
            &["lower", "--table", &at(&format!("{name}.table"))],
            &["lower", "--rows", &at(&format!("{name}.csv"))],
            &["lower", "--rows", "tests/lower/few.csv", "--baseline", &at(&format!("{name}.csv"))],
            &[
                "lower",
                "--from",
                &at(&format!("{name}.ll")),
                "--to",
                "tests/lower/message.made.ptx",
            ],
            &["lower", "--from", "tests/lower/message.ptx", "--to", &at(&format!("{name}.sass"))],
            &["lint", &at(&format!("{name}.ptx"))],
            &["sass", "read", &at(&format!("{name}.sass"))],
        ] {
            let (out, err, code) = run(arguments);
            assert_eq!(code, Some(2), "{arguments:?}: {out}{err}");
            assert!(format!("{out}{err}").contains(why), "{arguments:?}: {out}{err}");
        }
    }
}

#[test]
fn a_byte_order_mark_is_taken_by_every_reader() {
    const MESSAGE: &str = "tests/lower/message.ptx";
    let folder = folder("mark");
    let marked = |path: &&str| {
        let Ok(bytes) = fs::read(suite::root().join(path)) else { return (*path).to_owned() };
        let marked = folder.join(Path::new(path).file_name().expect("it has a name"));
        fs::write(&marked, [b"\xef\xbb\xbf", &bytes[..]].concat()).expect("it can be written");
        text(&marked).to_owned()
    };
    for arguments in [
        &["check", "--engine=enumerate", HOLDS][..],
        &["check", "--engine=enumerate", "litmus/cxx/SB+seq_cst.litmus"],
        &["check", "--engine=enumerate", "--model", "tests/cli/coherent.cat", HOLDS],
        &["explain", HOLDS],
        &["explore", "--table", "litmus/lowering/hopper.table", HOLDS],
        &["lint", "tests/ptx/fine.ptx"],
        &["sass", "read", "tests/cli/listing.sass"],
        &["lower", "--rows", "tests/lower/few.csv"],
        &["lower", "--from", MESSAGE, "--to", "tests/lower/message.made.ptx"],
        &["lower", "--from", "tests/llvm/values.ll", "--to", MESSAGE],
        &["lower", "--rows", "tests/lower/few.csv", "--baseline", "tests/lower/message.known.json"],
    ] {
        let all: Vec<String> = arguments.iter().map(marked).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let ((out, err, code), plain) = (run(&all), run(arguments));
        assert_eq!(code, plain.2, "{arguments:?}: {out}{err}");
        assert_ne!(code, Some(2), "{arguments:?}: {out}{err}");
        assert_eq!(out.lines().count(), plain.0.lines().count(), "{arguments:?}: {out}");
        assert_eq!(err, plain.1, "{arguments:?}");
    }
}
