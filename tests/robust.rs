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
    for (name, why) in
        [("zero", "neither a file nor a pipe"), ("large-link", "larger than 256 MiB")]
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
        &["explore", "--table", "crates/sass/lowering/hopper.table", HOLDS],
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

/// `text` as often as that.
fn deep(text: &str) -> String {
    text.repeat(100_000)
}

#[test]
fn brackets_in_brackets_bring_no_reader_down() {
    let folder = folder("deep");
    let write = |name: &str, content: &str| {
        let path = folder.join(name);
        fs::write(&path, content).expect("it can be written");
        text(&path).to_owned()
    };
    let test = |header: &str, column: &str, condition: &str| {
        format!("{header}\n{{\nuint32_t x=0;\n}}\nP0@cta 0 ;\n{column} ;\n{condition}\n")
    };
    let load = "ld.relaxed.gpu.u32 r0, [x]";
    let (open, close) = (deep("("), deep(")"));
    let condition = format!("exists ({open}P0:r0=0{close})");
    let address = format!("LDG.E R2, {}R4{}", deep("["), deep("]"));
    let sass = write("a.sass", &address);
    let constant = |text: &str| {
        format!(".version 8.8\n.target sm_90\n.address_size 64\n.global .u32 a = {text};\n")
    };
    let store = |value: &str| {
        format!("define void @f(ptr %p) {{\n  store {value}, ptr %p\n  ret void\n}}\n")
    };
    let element = format!("{}@g{}", deep("getelementptr (i8, ptr "), deep(", i64 1)"));
    let message = "tests/lower/message.ptx";
    let ll = write("a.ll", &store(&format!("{}i32{} 0", deep("{"), deep("}"))));
    for arguments in [
        &["check", &write("a.litmus", &test("PTX A", load, &condition))][..],
        &["check", &write("b.litmus", &test("PTX A", load, &format!("exists ({}x=0)", deep("~"))))],
        &[
            "check",
            &write("c.litmus", &test("PTX A\n", &load.replace('[', &deep("[")), "exists (x=0)")),
        ],
        &["check", &write("d.litmus", &test("SASS A\nArch=sm_90", &address, "exists (x=0)"))],
        &["model", "--model", &write("a.cat", &format!("acyclic {open}po{close}"))],
        &["model", "--model", &write("b.cat", &format!("acyclic {}po", deep("~")))],
        &["model", "--model", &write("c.cat", &format!("acyclic po{}", deep("^-1")))],
        &["model", "--model", &write("d.cat", &format!("acyclic po{}", deep("|po")))],
        &["lint", &write("a.ptx", &constant(&format!("{open}1{close}")))],
        &["lint", &write("b.ptx", &constant(&format!("{}1", deep("-"))))],
        &["lint", &write("c.ptx", &constant(&format!("1{}", deep("?1:1"))))],
        &["lint", &write("d.ptx", &format!("{}{}", constant("1"), deep("{")))],
        &["sass", "read", &sass],
        &["sass", "explain", &address[..100_000]],
        &["lower", "--from", message, "--to", &sass],
        &["lower", "--from", &ll, "--to", message],
        &["lower", "--from", &write("b.ll", &store(&format!("ptr {element}"))), "--to", message],
        &["lower", "--rows", "tests/lower/few.csv", "--baseline", &write("a.json", &deep("["))],
    ] {
        let (out, err, code) = run(arguments);
        let shown: Vec<String> = arguments.iter().map(|a| a.chars().take(80).collect()).collect();
        let said: String = format!("{out}{err}").chars().take(500).collect();
        assert!(matches!(code, Some(0..=4)), "{shown:?}: {code:?}: {said}");
        assert!(!said.is_empty(), "{shown:?} says nothing");
    }
}

/// Tests that take an engine more than any computer has.
fn too_large(engine: &str) -> String {
    use std::fmt::Write as _;
    let threads = 8;
    let row = |text: &dyn Fn(usize) -> String| {
        (0..threads).map(text).collect::<Vec<_>>().join(" | ") + " ;\n"
    };
    let mut all = format!("PTX {engine}\n{{\nuint32_t x=0; y=0;\n}}\n");
    all += &row(&|thread| format!("P{thread}@cta {thread},gpu 0"));
    for step in 0..12 {
        all += &match engine {
            "paths" => {
                row(&|_| "ld.relaxed.gpu.u32 r0, [x]".to_owned())
                    + &row(&|_| format!("setp.eq.u32 p, r0, {step}"))
                    + &row(&|_| format!("@p ld.relaxed.gpu.u32 r{}, [y]", step + 1))
            }
            _ => row(&|_| format!("atom.relaxed.gpu.add.u32 r{step}, [x], 1")),
        };
    }
    writeln!(all, "exists (P0:r0=99)").expect("strings can be written");
    all
}

/// Runs a command and finds out how much memory it had, in MiB.
#[cfg(target_os = "linux")]
fn measured(arguments: &[&str]) -> (Output, u64) {
    let mut command = causeway(arguments);
    let mut child = command.spawn().expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let (mut most, start) = (0, Instant::now());
    while child.try_wait().expect("it can be waited for").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(now.unwrap_or(0) / 1024);
        assert!(start.elapsed() < Duration::from_secs(120), "{arguments:?} does not end");
        std::thread::sleep(Duration::from_millis(2));
    }
    (child.wait_with_output().expect("it has ended"), most)
}

#[cfg(target_os = "linux")]
#[test]
fn a_test_that_is_too_large_leaves_the_others_judged() {
    let folder = folder("limits");
    let engines = engine::ENGINES.iter().map(|engine| engine.name());
    for kind in ["paths", "atomics"] {
        let path = folder.join(format!("{kind}.litmus"));
        fs::write(&path, too_large(kind)).expect("it can be written");
        for engine in engines.clone() {
            let start = Instant::now();
            // What the program itself takes comes on top.
            let (memory, most) = (format!("{}MiB", 64), 64 + 150);
            let all = ["check", "-v", "--engine", engine, "--memory", &memory, "--timeout", "4"];
            let (output, peak) = measured(&[&all[..], &[text(&path), HOLDS]].concat());
            let out = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(4), "{kind}, {engine}: {out}");
            assert!(out.contains("limit was reached"), "{kind}, {engine}: {out}");
            assert!(out.contains(" ok   tests/cli/holds.litmus"), "{kind}, {engine}: {out}");
            assert!(peak < most, "{kind}, {engine}: {peak} MiB");
            assert!(start.elapsed() < Duration::from_secs(30), "{kind}, {engine}");
        }
    }
    let path = folder.join("atomics.litmus");
    let path = text(&path);
    for arguments in [
        &["explain", "--timeout", "1", "--memory", "64MiB", path][..],
        &["explore", "--timeout", "1", "--memory", "64MiB", path],
        &["explore", "--memory", "8MiB", path],
        &["explore", "--memory", "64MiB", "--check", "--timeout", "1", path],
    ] {
        let start = Instant::now();
        let (output, peak) = measured(arguments);
        let out = String::from_utf8_lossy(&output.stdout);
        let limited = ["time limit was reached", "memory limit was reached"];
        assert!(limited.iter().any(|limit| out.contains(limit)), "{arguments:?}: {out}");
        assert!(peak < 64 + 150, "{arguments:?}: {peak} MiB");
        assert!(start.elapsed() < Duration::from_secs(60), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_output_is_no_success() {
    for format in crate::formats::formats() {
        let mut command = causeway(&[
            "check",
            "-v",
            "--format",
            &format,
            "tests/cli/fails.litmus",
            "litmus/suite",
        ]);
        let mut child = command.spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(141), "{format}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
    }
}

/// SIGHUP, or SIGTERM where SIGHUP is ignored from the start, as under `nohup`: it stays ignored then.
fn hangup() -> &'static str {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if ignored.is_some_and(|mask| mask & 1 == 1) { "-TERM" } else { "-HUP" }
}

#[cfg(unix)]
#[test]
fn a_run_that_a_signal_ends_says_what_it_has_done() {
    let folder = folder("interrupted");
    fs::copy(suite::root().join(HOLDS), folder.join("a.litmus")).expect("it is copied");
    let large = folder.join("b.litmus");
    fs::write(&large, too_large("atomics")).expect("it can be written");
    let [module, target] = ["c.ptx", "d.ptx"].map(|name| folder.join(name));
    fs::write(&module, short_and_long(false)).expect("it can be written");
    fs::write(&target, short_and_long(true)).expect("it can be written");
    let (module, target) = (text(&module), text(&target));
    for (signal, arguments, paths, said, of) in [
        (
            "-INT",
            &["check", "-v", "--engine=enumerate"][..],
            &[text(&folder)][..],
            "1 test: 1 ok",
            "2 files",
        ),
        ("-TERM", &["explore", "--states=1000000000"], &[text(&folder)], "MP on", "2 files"),
        (
            hangup(),
            &["lower", "--timeout=1000", "--from"],
            &[module, "--to", target],
            "1 function: ",
            "2 functions",
        ),
        (
            "-INT",
            &["lower", "--timeout=1000", "--format=sarif", "--from"],
            &[module, "--to", target],
            "\"exitCode\": 0",
            "2 functions",
        ),
    ] {
        let mut command = causeway(&[arguments, paths, &["-j2", "--memory=8GiB"]].concat());
        let mut child = command.spawn().expect("the program starts");
        std::thread::sleep(Duration::from_secs(2));
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.expect("there is kill").success());
        let start = Instant::now();
        while child.try_wait().expect("it can be waited for").is_none() {
            assert!(start.elapsed() < Duration::from_secs(20), "{arguments:?} does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = child.wait_with_output().expect("it has ended");
        let (out, err) = (output.stdout, output.stderr);
        let (out, err) = (String::from_utf8_lossy(&out), String::from_utf8_lossy(&err));
        assert_eq!(output.status.code(), Some(130), "{arguments:?}: {out}{err}");
        assert!(out.contains(said), "{out}");
        assert!(err.contains(&format!("interrupted: 1 of {of} are judged")), "{err}");
    }
}

/// A module with a function that is judged at once, and one that takes minutes.
#[cfg(unix)]
fn short_and_long(reversed: bool) -> String {
    let kernel = |name: &str, accesses: usize| {
        let access = |at: usize| {
            format!(
                "ld.relaxed.gpu.global.u32 %r{0}, [%rd1+{1}];\n\
                 st.relaxed.gpu.global.u32 [%rd1+{2}], %r{0};\n",
                at % 8,
                4 * at,
                4 * at + 400
            )
        };
        // Only contexts decide about another order of strong accesses.
        let at = |number| if reversed { accesses - 1 - number } else { number };
        let body: String = (0..accesses).map(|number| access(at(number))).collect();
        format!(
            ".visible .entry {name}(.param .u64 x)\n{{\n.reg .b32 %r<8>; .reg .b64 %rd<2>;\n\
             ld.param.u64 %rd1, [x];\n{body}ret;\n}}\n"
        )
    };
    let header = ".version 8.7\n.target sm_90\n.address_size 64\n";
    [header.to_owned(), kernel("short", 1), kernel("long", 14)].concat()
}

#[cfg(unix)]
#[test]
fn names_give_a_terminal_no_orders() {
    let folder = folder("names");
    let fails =
        fs::read_to_string(suite::root().join("tests/cli/fails.litmus")).expect("it is there");
    let first = fails.lines().next().expect("it has a line");
    let named = fails.replacen(first, &format!("{first}\u{1b}[2J"), 1);
    let path = folder.join("a\u{1b}[31m\nb.litmus");
    fs::write(&path, &named).expect("it can be written");
    let broken = folder.join("c\u{1b}[31m.litmus");
    fs::write(&broken, named.replace("exists", "exist\u{1b}[31ms")).expect("it can be written");
    let folder = text(&folder);
    for arguments in [
        &["check", "-v", folder][..],
        &["check", "--format=herd", folder],
        &["check", "--format=json", folder],
        &["check", "--format=junit", folder],
        &["explore", folder],
        &["explore", "--format=herd", folder],
        &["explain", text(&broken)],
        &["lint", text(&path)],
    ] {
        let (out, err, _) = run(arguments);
        let all = format!("{out}{err}");
        assert!(!all.contains(|c: char| c.is_control() && c != '\n'), "{arguments:?}: {all:?}");
        assert!(!all.is_empty(), "{arguments:?}");
    }
    let (out, ..) = run(&["check", "-v", folder]);
    assert!(out.contains("a\\u{1b}[31m\\nb.litmus"), "{out}");
}

#[test]
fn a_model_without_an_axiom_is_refused() {
    let path = folder("models").join("none.cat");
    fs::write(&path, "\"none\"\nlet x = po | rf\n").expect("it can be written");
    for arguments in
        [&["check", "--model", text(&path), HOLDS][..], &["model", "--model", text(&path)]]
    {
        let (out, err, code) = run(arguments);
        assert_eq!((&*out, code), ("", Some(2)), "{err}");
        assert!(err.contains("no axiom"), "{err}");
    }
}
