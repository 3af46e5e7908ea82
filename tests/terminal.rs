//! What inputs say to a terminal: nothing. And the colours that `--color always` gives.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use text::escape::is_order;

/// A title, a bell, and characters that turn what follows around.
const ORDERS: &str = "\u{1b}]0;title\u{7}\u{202e}\u{2066}\u{200f}\u{9b}";

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("causeway-terminal-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("it can be made");
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("it can be written");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
        command.args(arguments).args(["--color", "always"]).current_dir(&self.0);
        command.output().expect("the program starts")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A text without the sequences that choose colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m') {
            Some((codes, rest)) if codes.bytes().all(|b| b.is_ascii_digit() || b == b';') => {
                out += rest;
            }
            _ => out = format!("{out}\u{1b}[{part}"),
        }
    }
    out
}

fn with_orders(folder: &Folder) {
    let name = format!("na{ORDERS}me");
    let test = format!(
        "PTX {name}\n\"says {ORDERS}\"\nCom={ORDERS}\n{{ x=0; y=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ; // {ORDERS}\n \
         st.weak.u32 [x], 1 | ld.relaxed.gpu.u32 r0, [y] ;\n st.release.gpu.u32 [y], 1 | ld.weak.u32 r1, [x] ;\n\
         (* {ORDERS} *)\nexists (P1:r0=1 /\\ P1:r1=0)\n"
    );
    folder.write("evil.litmus", &test);
    folder.write("arch.litmus", &test.replace("Com=", "Arch="));
    folder.write("unread.litmus", &format!("PTX {name}\n{{ {ORDERS} }}\n"));
    folder.write(&format!("{ORDERS}.litmus"), "PTX a\n{ x=0; }\nP0 ;\n");
    let histogram = "Histogram (1 states)\n1 *>1:r0=1; 1:r1=0;\n";
    folder.write("evil.log", &format!("Test {name} Allowed\n{histogram}"));
    folder.write("hung.log", &format!("Hung {name}: no {ORDERS}\n"));
    folder.write("other.log", &format!("Test {ORDERS} Allowed\n{histogram}"));
    folder
        .write("state.log", &format!("Test {name} Allowed\nHistogram (1 states)\n1 :>{ORDERS}\n"));
    let module = ".version 8.0\n.target sm_80\n.address_size 64\n";
    folder.write(
        "evil.ptx",
        &format!("{module}.visible .entry k(.param .u64 p)\n{{\n ld.u32 %r1, [{ORDERS}];\n}}\n"),
    );
    folder.write(
        "evil.ll",
        &format!(
            "target triple = \"nvptx64-nvidia-cuda\"\ndefine void @\"f{ORDERS}\"(ptr addrspace(1) %p) {{\n  \
             %v = load atomic i32, ptr addrspace(1) %p syncscope(\"device\") acquire, align 4\n  ret void\n}}\n"
        ),
    );
    folder.write("plain.ptx", &format!("{module}.visible .entry k()\n{{\n ret;\n}}\n"));
    folder.write("evil.sass", &format!("\t.text.f:\n /*0000*/ FOO{ORDERS} ;\n /*0010*/ EXIT ;\n"));
    folder.write("evil.cat", &format!("\"{ORDERS}\"\nlet a{ORDERS} = po\nacyclic po as x\n"));
    folder.write("evil.table", &format!("targets sm_80\n{ORDERS}\n"));
}

/// Names, comments, words that are not words, paths and arguments, in each command whose text is for people.
#[test]
fn no_input_gives_a_terminal_orders() {
    let folder = Folder::new("orders");
    with_orders(&folder);
    let path = format!("{ORDERS}.litmus");
    let word = format!("x{ORDERS}");
    let named = format!("name={ORDERS}");
    let mut escaped = 0;
    for arguments in [
        &["check", "-v", "evil.litmus"][..],
        &["check", "arch.litmus"],
        &["check", "unread.litmus"],
        &["check", &path],
        &["check", &word],
        &["check", &format!("--{word}")],
        &["check", "--filter", &named, "evil.litmus"],
        &["check", "--format", "herd", "evil.litmus"],
        &["check", "--format", "github", "arch.litmus"],
        &["check", "--format", "junit", "arch.litmus"],
        &["check", "--model", "evil.cat", "evil.litmus"],
        &["explain", "evil.litmus"],
        &["explain", "evil.litmus", "--show", &word],
        &["explain", "--format", "dot", "evil.litmus"],
        &["explain", "--format", "html", "evil.litmus"],
        &["fix", "evil.litmus"],
        &["fmt", "--check", &path],
        &["explore", "--runs", "evil.litmus"],
        &["explore", "--table", "evil.table", "evil.litmus"],
        &["compare", "evil.log", "evil.litmus"],
        &["compare", "hung.log", "evil.litmus"],
        &["compare", "other.log", "evil.litmus"],
        &["compare", "state.log", "evil.litmus"],
        &["diff", "ptx", "ptx:R13=semantic", "evil.litmus"],
        &["diff", "ptx", &word],
        &["export", "--format", "herd-lisa", "arch.litmus"],
        &["gen", &word],
        &["lint", "evil.ptx"],
        &["lint", "--explain", &word],
        &["lower", "--from", "evil.ll", "--to", "plain.ptx"],
        &["lower", "--context", &word, "--from", "plain.ptx", "--to", "plain.ptx"],
        &["merge", &word],
        &["ptx", "explain", &word],
        &["sass", "explain", &word],
        &["sass", "read", "evil.sass"],
        &["-o", &format!("{word}/x"), "check", "evil.litmus"],
    ] {
        let output = folder.run(arguments);
        for stream in [&output.stdout, &output.stderr] {
            let shown = without_colours(std::str::from_utf8(stream).expect("it is UTF-8"));
            let order = shown.lines().find(|line| line.contains(|c| c != '\t' && is_order(c)));
            assert_eq!(order, None, "{arguments:?}");
            escaped += usize::from(shown.contains("\\u{202e}") || shown.contains('\u{fffd}'));
        }
    }
    assert!(escaped > 25, "only {escaped} outputs show what was escaped");
}

/// A line of a megabyte may be one word.
#[test]
fn long_words_are_clipped() {
    let folder = Folder::new("words");
    let word = "x".repeat(1 << 20);
    folder.write("long.litmus", &format!("PTX {word}\nArch={word}\n{{ {word}=0; }}\n P0 ;\n"));
    for arguments in [&["check", "long.litmus"][..], &["explain", "long.litmus"]] {
        let Output { stdout, stderr, .. } = folder.run(arguments);
        assert!(stdout.len() + stderr.len() < 20_000, "{arguments:?}");
    }
}

/// Colours reach what each command says of its result, and its errors.
#[test]
fn colour_is_there_where_it_is_asked_for() {
    let root = crate::suite::root();
    for arguments in [
        &["check", "-v", "tests/cli/holds.litmus"][..],
        &["check", "no-such-file"],
        &["explain", "tests/cli/holds.litmus"],
        &["explore", "--check", "-v", "tests/cli/holds.litmus"],
        &["lower", "--rows", "tests/lower/few.csv"],
        &["lower", "--from", "tests/lower/message.ptx", "--to", "tests/lower/message.made.ptx"],
        &["compare", "tests/cli/forbidden.log", "tests/cli/holds.litmus"],
        &["lint", "tests/lower/no-such.ptx"],
        &["merge", "no-such-folder"],
        &["export", "--format", "ptx", "no-such-file"],
        &["--help"],
        &["check", "--no-such-option"],
    ] {
        let run = |when: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
            let command = command.args(arguments).args(["--color", when]).current_dir(&root);
            let Output { stdout, stderr, .. } = command.output().expect("the program starts");
            String::from_utf8([stdout, stderr].concat()).expect("it is UTF-8")
        };
        let (coloured, plain) = (run("always"), run("never"));
        assert!(coloured.contains('\u{1b}'), "{arguments:?}: {coloured}");
        assert!(!plain.contains('\u{1b}'), "{arguments:?}: {plain}");
    }
}
