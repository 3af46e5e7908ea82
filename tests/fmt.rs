//! `causeway fmt`, and the printer of tests: laws on random tests, and what the command does to files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use checker::input;
use litmus::arbitrary::placed::{ProgramKind, placed};
use litmus::format::{Unformatted, format};
use litmus::print::print;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::agree::{BARRIERS, ELSEWHERE, LONG, MIXED, SMALL, WIDE, law};
use crate::suite;

/// Of the command line, as in `cli`.
pub(crate) const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("help-fmt", &["fmt", "--help"]),
    ("fmt-check", &["fmt", "--check", "tests/cli"]),
    ("fmt-diff", &["fmt", "--diff", "tests/cli/holds.litmus", "tests/cli/endless.litmus"]),
    ("fmt-nothing", &["fmt", "--check", "tests/ptx"]),
    ("wrong-kind-fmt", &["fmt", "tests/ptx/fine.ptx", "tests/cli/absent.litmus"]),
];

/// What is wrong with a text of a test, printed and formatted.
fn wrong(text: &str) -> Result<(), String> {
    let parse = |text: &str| {
        litmus::parse("random", text.as_bytes()).map_err(|errors| format!("{}\n{text}", errors[0]))
    };
    let read = parse(text)?;
    let again = print(&read);
    if !parse(&again)?.is_same(&read) {
        return Err(format!("printed, it is another test:\n{again}"));
    }
    let once = formatted(text)?;
    if text != once {
        return Err(format!("random tests are formatted, and this one would become\n{once}"));
    }
    if formatted(&again)? != again {
        return Err(format!(
            "what is printed is formatted, and this would become\n{}",
            formatted(&again)?
        ));
    }
    if formatted(&once)? != once {
        return Err(format!("formatted twice, it is another text than\n{once}"));
    }
    Ok(())
}

/// The text in the style of the suite.
pub(crate) fn formatted(text: &str) -> Result<String, String> {
    format("random", text.as_bytes()).map_err(|error| match error {
        Unformatted::Rejected(errors) => format!("it is rejected: {}\n{text}", errors[0]),
        Unformatted::Changed => format!("formatted, it is another test:\n{text}"),
    })
}

#[test]
fn random_tests_are_printed_and_formatted() {
    let shapes = [SMALL, LONG, WIDE, ELSEWHERE, MIXED, BARRIERS];
    law("printed", &shapes, 100, |program| wrong(&program.to_string()));
    for kind in ProgramKind::ALL {
        let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let result = TestRunner::new_with_rng(config, rng)
            .run(&placed(kind), |program| wrong(&program.to_string()).map_err(TestCaseError::fail));
        result.unwrap_or_else(|error| panic!("{}: {error}", kind.name()));
    }
}

/// What the checker keeps of an operand that it cannot read does not depend on blanks and comments.
#[test]
fn operands_of_an_unknown_form_are_formatted() {
    let test = |cell: &str| {
        format!("SASS F\nArch=sm_90\n{{\nx=0;\n}}\n P0@cta 0,gpu 0 ;\n {cell} ;\nexists (x=0)\n")
    };
    for cell in ["s @ surface alia", "UNKNOWN R0 , ( R1 + R2 )", "OTHER {  R1 (* two *)  R2 }"] {
        let once = formatted(&test(cell)).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(formatted(&once).as_ref(), Ok(&once));
    }
}

fn files(folder: &str) -> Vec<PathBuf> {
    input::find(&[suite::root().join(folder)], "litmus").expect("the folder can be read")
}

#[test]
fn the_suite_is_formatted() {
    let mut unformatted = String::new();
    let all: Vec<PathBuf> = [files("litmus/suite"), files("litmus/cxx")].concat();
    assert!(all.len() > 1000, "only {} files", all.len());
    for path in all {
        let text = fs::read_to_string(&path).expect("the file can be read");
        if formatted(&text).as_ref() != Ok(&text) {
            writeln!(unformatted, "{}", path.display()).expect("strings can be written");
        }
    }
    assert!(
        unformatted.is_empty(),
        "`causeway fmt litmus/suite litmus/cxx` changes\n{unformatted}"
    );
}

/// Comments and line ends between any two tokens after the header: none is lost, and the test stays.
#[test]
fn comments_anywhere_are_kept() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut count = 0;
    for path in files("litmus/suite").into_iter().step_by(3) {
        let text = fs::read_to_string(&path).expect("the file can be read");
        let (head, body) = text.split_at(text.find("\n{").expect("it has an initial state"));
        let mut commented = head.to_owned();
        let mut comments = 0;
        for c in body.chars() {
            let place = c == ' ' || c == '\n' || matches!(c, ';' | ',' | '{' | '}');
            if place && random(6) == 0 {
                comments += 1;
                let comment = match random(4) {
                    0 => format!(" // c{comments}.\n"),
                    1 => format!("\n(* c{comments}. *)\n\n\n"),
                    2 => format!(" (* c{comments}.\n   (* nested *) *)"),
                    _ => format!("(* c{comments}. *) "),
                };
                commented += &comment;
            }
            commented.push(c);
        }
        let Ok(before) = litmus::parse("commented", commented.as_bytes()) else { continue };
        let once = formatted(&commented).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let after = litmus::parse("formatted", once.as_bytes()).expect("it was parsed before");
        assert!(after.is_same(&before), "{}", path.display());
        assert_eq!(formatted(&once).as_ref(), Ok(&once), "{}:\n{commented}", path.display());
        for comment in 1..=comments {
            let there = once.matches(&format!(" c{comment}.")).count();
            assert_eq!(there, 1, "{}: comment {comment}\n{commented}\n{once}", path.display());
        }
        assert!(!once.contains("\n\n\n"), "{}:\n{once}", path.display());
        count += 1;
    }
    assert!(count > 300, "only {count} files with comments were read");
}

const UNFORMATTED: &str = "PTX a\n{ x=0 }\nP0@cta 0,gpu 0|P1@cta 1,gpu 0;\nst.weak.u32 [x],1|ld.weak.u32 r0,[x];\nexists(P1:r0=1)";
const AFTER: &str = "\
PTX a
{
x=0;
}
 P0@cta 0,gpu 0     | P1@cta 1,gpu 0      ;
 st.weak.u32 [x], 1 | ld.weak.u32 r0, [x] ;
exists (P1:r0=1)
";

pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("causeway-fmt-{name}-{}", std::process::id()));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

pub(crate) fn causeway(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the command runs")
}

pub(crate) fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// What no form has is kept as it is written.
#[test]
fn a_colon_in_an_operand_is_no_label() {
    let text = "SASS a\nArch=sm_90\n{\n}\n P0@cta 0 ;\n here: MOV R1, 0:x1f ;\nexists (P0:R1=0)\n";
    let formatted = format("colon", text.as_bytes()).expect("it can be formatted");
    assert!(formatted.contains(" here: MOV R1, 0:x1f ;\n"), "{formatted}");
}

#[test]
fn files_are_formatted_in_place() {
    let folder = folder("place");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("it is written");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it is read");
    fs::create_dir(folder.join("below")).expect("a folder can be made");
    write("below/a.litmus", UNFORMATTED);
    write("fine.litmus", AFTER);
    write("other.txt", UNFORMATTED);
    let fine = |name: &str| fs::metadata(folder.join(name)).and_then(|about| about.modified());
    let before = fine("fine.litmus").expect("it has a time");

    let (code, out, err) = said(&causeway(&["fmt", "--check", "."], &folder));
    assert_eq!((code, out.as_str(), err.as_str()), (Some(1), "./below/a.litmus\n", ""));
    assert_eq!(read("below/a.litmus"), UNFORMATTED);
    let (code, out, _) = said(&causeway(&["fmt", "--diff", "."], &folder));
    assert_eq!(code, Some(1));
    assert!(out.contains("-{ x=0 }\n") && out.contains("+{\n+x=0;\n+}\n"), "{out}");
    assert_eq!(read("below/a.litmus"), UNFORMATTED);

    let (code, out, err) = said(&causeway(&["fmt", "."], &folder));
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "", ""));
    assert_eq!(read("below/a.litmus"), AFTER);
    assert_eq!(read("other.txt"), UNFORMATTED);
    assert_eq!(fine("fine.litmus").expect("it has a time"), before, "it was written");
    let (code, out, _) = said(&causeway(&["fmt", "--check", "."], &folder));
    assert_eq!((code, out.as_str()), (Some(0), ""));
    let left: Vec<_> = fs::read_dir(folder.join("below")).expect("it can be read").collect();
    assert_eq!(left.len(), 1, "{left:?}");

    write("wrong.litmus", "PTX a\n{ x=0 }\nP0@cta 0;\nst.weak [x], 1;\nexists (x=1)\n");
    write("below/a.litmus", UNFORMATTED);
    let (code, out, err) = said(&causeway(&["fmt", "."], &folder));
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.starts_with("error["), "{err}");
    assert_eq!(read("wrong.litmus").lines().count(), 5);
    assert_eq!(
        read("below/a.litmus"),
        AFTER,
        "a file that is wrong keeps no other from being formatted"
    );
    fs::remove_dir_all(&folder).expect("it can be removed");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = folder("links");
    let mode = |name: &str| {
        fs::metadata(folder.join(name)).expect("it is there").permissions().mode() & 0o777
    };
    let set = |name: &str, mode: u32| {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode))
            .expect("it is ours");
    };
    fs::write(folder.join("a.litmus"), UNFORMATTED).expect("it is written");
    set("a.litmus", 0o640);
    symlink("a.litmus", folder.join("link.litmus")).expect("links can be made");
    assert_eq!(causeway(&["fmt", "link.litmus"], &folder).status.code(), Some(0));
    assert!(folder.join("link.litmus").is_symlink());
    assert_eq!(fs::read_to_string(folder.join("a.litmus")).expect("it is read"), AFTER);
    assert_eq!(mode("a.litmus"), 0o640);

    fs::write(folder.join("kept.litmus"), UNFORMATTED).expect("it is written");
    set("kept.litmus", 0o444);
    let (code, _, err) = said(&causeway(&["fmt", "kept.litmus"], &folder));
    assert_eq!(code, Some(2));
    assert_eq!(err, "error: kept.litmus: it is read-only, so it is not written\n");
    assert_eq!(fs::read_to_string(folder.join("kept.litmus")).expect("it is read"), UNFORMATTED);
    fs::remove_dir_all(&folder).expect("it can be removed");
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let folder = folder("input");
    fs::write(folder.join("a"), UNFORMATTED).expect("it is written");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
            .args(arguments)
            .stdin(fs::File::open(folder.join("a")).expect("it is read"))
            .output()
            .expect("the command runs");
        said(&output)
    };
    assert_eq!(run(&["fmt", "-"]), (Some(0), AFTER.to_owned(), String::new()));
    assert_eq!(run(&["fmt", "--check", "-"]), (Some(1), "-\n".to_owned(), String::new()));
    fs::remove_dir_all(&folder).expect("it can be removed");
}
