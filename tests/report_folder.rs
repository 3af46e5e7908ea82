//! The folder of `check --report`: every test has its row and its page, and nothing of a test becomes markup.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::suite;

/// A report in a folder that is removed at the end.
struct Made {
    folder: PathBuf,
}

impl Made {
    fn new(name: &str) -> Made {
        let name = format!("causeway-{}-report-{name}", std::process::id());
        Made { folder: std::env::temp_dir().join(name) }
    }

    fn check(&self, paths: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_causeway"))
            .args(["check", "--engine=enumerate", "--report"])
            .arg(self.report())
            .args(paths)
            .current_dir(suite::root())
            .output()
            .expect("the program starts")
    }

    fn report(&self) -> PathBuf {
        self.folder.join("report")
    }

    fn index(&self) -> String {
        fs::read_to_string(self.report().join("index.html")).expect("the page is there")
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Elements that are closed, in order, in a page of this program.
fn is_well_formed(page: &str, path: &Path) {
    // What HTML does not close.
    let void = ["meta", "input", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let body = page.split("<script>").next().unwrap_or(page);
    for tag in body.split('<').skip(1) {
        let inside = tag.split('>').next().unwrap_or("");
        let name = inside.trim_end_matches('/').split_whitespace().next().unwrap_or("");
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{}", path.display());
        } else if !void.contains(&name) && !inside.ends_with('/') {
            open.push(name);
        }
    }
    let left: &[&str] = if body.len() < page.len() { &["html", "body"] } else { &[] };
    assert_eq!(open, left, "{}", path.display());
}

#[test]
fn every_test_has_a_row_and_a_page() {
    let made = Made::new("all");
    let output = made.check(&["tests/cli"]);
    assert_eq!(output.status.code(), Some(2), "a file of the folder cannot be read");
    let index = made.index();
    is_well_formed(&index, Path::new("index.html"));
    let mut files = 0;
    for entry in fs::read_dir(suite::root().join("tests/cli")).expect("the tests are there") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_none_or(|extension| extension != "litmus") {
            continue;
        }
        files += 1;
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        assert!(index.contains(&format!("tests/cli/{name}</span>")), "{name} has no row");
    }
    let links: Vec<&str> =
        index.split("<a href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(files > 5 && links.len() == files, "{} links of {files} tests", links.len());
    for link in links {
        let path = made.report().join(link);
        let page = fs::read_to_string(&path).expect("the link leads to a page");
        is_well_formed(&page, &path);
        assert!(!page.contains("<script") && page.contains("../index.html"), "{link}");
    }
    for verdict in ["holds", "fails", "undefined", "not-read", "stuck"] {
        assert!(index.contains(&format!("data-verdict=\"{verdict}\"")), "{verdict}");
        assert!(index.contains(&format!("value=\"{verdict}\"")), "{verdict} has no filter");
    }
    assert!(index.contains("not as expected"));
}

#[test]
fn a_page_has_verdict_outcomes_picture_explanation_and_source() {
    let made = Made::new("one");
    let output = made.check(&["tests/cli/holds.litmus"]);
    assert_eq!(output.status.code(), Some(0));
    let page = fs::read_to_string(made.report().join("tests/00001.html")).expect("it is there");
    for wanted in
        ["Forbidden: ", "<h2>Outcomes</h2>", "<svg", "Forbidden by Causality", "<h2>Test</h2>"]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    let source = fs::read_to_string(suite::root().join("tests/cli/holds.litmus")).expect("text");
    let line = source.lines().find(|line| line.contains("st.release")).expect("a store");
    assert!(page.contains(line.trim_end()), "the source is not shown");
}

#[test]
fn hostile_tests_are_only_text() {
    let made = Made::new("hostile");
    fs::create_dir_all(&made.folder).expect("the folder can be made");
    let bad = "</script></pre><script>alert(1)</script><img src=x onerror=alert(1)>";
    let test = format!(
        "PTX MP<b>\"'&x\n\"{bad}\"\n{{ x=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
         st.weak.u32 [x], 1 (* {bad} *) | ld.weak.u32 r0, [x] ;\nexists (P1:r0=1)\n"
    );
    let file = made.folder.join("a<img src=x>&.litmus");
    fs::write(&file, test).expect("the test can be written");
    let output = made.check(&[&file.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let index = made.index();
    let page = fs::read_to_string(made.report().join("tests/00001.html")).expect("it is there");
    for (text, scripts) in [(&index, 1), (&page, 0)] {
        assert_eq!(text.matches("<script").count(), scripts);
        assert!(text.contains("MP&lt;b&gt;") && !text.contains("<img") && !text.contains("<b>"));
        is_well_formed(text, &file);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let made = Made::new("denied");
    fs::create_dir_all(&made.folder).expect("the folder can be made");
    fs::write(made.report(), "a file").expect("the file can be written");
    let output = made.check(&["tests/cli/holds.litmus"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: ") && said.contains("report"), "{said}");
}

/// Needs Chromium and Python; says so past the capture of output where one of them is not there.
#[test]
fn the_pages_work_in_a_browser() {
    let made = Made::new("browser");
    let output = made.check(&["tests/cli", "litmus/suite/gallery"]);
    assert_eq!(output.status.code(), Some(2), "a file of the folder cannot be read");
    let ran = Command::new("python3")
        .arg(suite::root().join("tests/browser/report.py"))
        .arg(made.report())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    let said = ran.as_ref().map_or_else(
        |error| format!("SKIPPED: python3: {error}\n"),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    );
    std::io::stderr().write_all(said.as_bytes()).expect("standard error can be written to");
    if let Ok(output) = ran {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{errors}");
    }
}

/// The page that a command writes for `--page`, and that it ends with this exit code.
fn page_of(name: &str, command: &[&str], code: i32) -> String {
    let made = Made::new(name);
    fs::create_dir_all(&made.folder).expect("the folder can be made");
    let file = made.folder.join("page.html");
    let run = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(command)
        .arg("--page")
        .arg(&file)
        .current_dir(suite::root())
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(code), "{}", String::from_utf8_lossy(&run.stderr));
    let page = fs::read_to_string(&file).expect("the page is there");
    is_well_formed(&page, &file);
    page
}

/// The page of `lower` has the judged code of both sides with the lacking word marked, and a picture of each.
#[test]
fn the_page_of_lowerings_marks_what_the_target_lacks() {
    let page = page_of("lowerings", &["lower", "--rows", "tests/lower/few.csv"], 1);
    assert!(page.contains("1 of 4 findings are shown."), "{page}");
    assert!(page.contains("load.<mark class=\"lacking\">acquire</mark>.system r0, [y]"), "{page}");
    assert!(page.contains("ld.<mark class=\"instead\">relaxed</mark>.sys.u32 r0, [y]"), "{page}");
    for heading in ["source: P", "target: P", "context: P", "Why the source forbids it"] {
        assert!(page.contains(heading), "{heading}");
    }
    assert_eq!(page.matches("<svg").count(), 2, "a picture of each side");
}

/// The page of `verify` has each execution beside the lines of its instructions, in the source and in the module, by the letters of
/// the picture.
#[test]
fn the_page_of_a_launch_has_the_lines_of_the_source_beside_executions() {
    let page = page_of(
        "launch",
        &["verify", "examples/kernels/split_k.toml", "examples/kernels/absent.toml"],
        2,
    );
    for heading in ["An execution at whose end the assertion is false", "An execution with a race"]
    {
        let from = page.find(heading).unwrap_or_else(|| panic!("no `{heading}`"));
        let listing = page[from..].split("<figure>").next().unwrap_or_default();
        // The letters of the two threads that load, and those that add.
        for row in [
            "<td>c m</td><td>4</td><td>  asm volatile(&quot;ld.acquire.gpu.global.u32",
            "<td>18</td><td>  tile[threadIdx.x] += blockIdx.x + 1;</td>",
            "<td>71</td><td>\tst.release.gpu.global.u32 [%rd2], %r3;</td>",
        ] {
            assert!(listing.contains(row), "{row} in {listing}");
        }
        // The lines of a race are marked as what was found.
        assert_eq!(listing.contains("class=\"found\""), heading.ends_with("race"), "{listing}");
    }
    assert_eq!(page.matches("<svg").count(), 2, "a picture of each execution");
    assert!(page.contains("CTA 1 thread 32"), "threads have the names of the launch");
    assert!(page.contains("examples/kernels/absent.toml</h1>"), "{page}");
}
