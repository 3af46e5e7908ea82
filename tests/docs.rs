//! The blocks of the pages that show a command are run, and must show what it prints.
//!
//! A fenced block of kind `console` has commands, lines that begin with `$ `, and their output. Both
//! streams are compared. `…` at the end of a line stands for the rest of it, and on a line of its own for
//! any number of lines. `$ cat FILE` of a file that does not exist creates it from the text shown.
//!
//! A page marks what is not run: `console with-llc-14` is run only where `llc` of LLVM 14 is installed, and
//! `sh` is never run. A build without z3 does not run `causeway check`.
//!
//! `UPDATE=1 cargo test` rewrites the blocks; read what changed.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::ENGINES;
use snapbox::Data;
use snapbox::filter::NormalizeToExpected;

use crate::cli::masked;
use crate::suite;

/// Where a page is read: links to all of the repository, and room for the files that it makes.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new(page: &Path) -> Place {
        let name = page.to_string_lossy().replace('/', "-");
        let folder = std::env::temp_dir().join(format!("causeway-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder can be made");
        for entry in fs::read_dir(suite::root()).expect("the repository is there") {
            let entry = entry.expect("the folder can be read");
            symlink(entry.path(), folder.join(entry.file_name())).expect("a link can be made");
        }
        Place { folder }
    }

    /// What a shell prints, on either stream.
    fn run(&self, command: &str) -> String {
        let programs =
            Path::new(env!("CARGO_BIN_EXE_causeway")).parent().expect("it is in a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(&self.folder)
            .env("PATH", format!("{}:{path}", programs.display()))
            .output()
            .expect("there is a shell");
        String::from_utf8(output.stdout).expect("output is text")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md"), PathBuf::from("CONTRIBUTING.md")];
    for folder in ["docs", "examples", "examples/llvm-ci", "examples/triton"] {
        for entry in fs::read_dir(suite::root().join(folder)).expect("the folder is there") {
            let name = entry.expect("the folder can be read").file_name();
            if name.to_string_lossy().ends_with(".md") {
                pages.push(Path::new(folder).join(name));
            }
        }
    }
    pages.sort();
    pages
}

/// The mark of a block that is run only with `llc` of LLVM 14.
const WITH_LLC: &str = "console with-llc-14";

fn needs_llc(command: &str) -> bool {
    command.contains("llc ") || command.contains("llvm-ci/check.sh")
}

/// Why a command cannot be run here, if it cannot.
fn lacking(command: &str) -> Option<&'static str> {
    let said = || Command::new("llc").arg("--version").output();
    let is_14 =
        || said().is_ok_and(|of| String::from_utf8_lossy(&of.stdout).contains("version 14."));
    if needs_llc(command) && !is_14() {
        return Some("there is no `llc` of LLVM 14");
    }
    (command.contains("causeway check") && ENGINES.len() < 2).then_some("this build has one engine")
}

/// Whether what was printed is what is shown: as it is shown, if it is.
fn as_shown(shown: &str, printed: &str) -> String {
    let mut pattern = String::new();
    for line in shown.lines() {
        match line.strip_suffix('…') {
            Some(start) if start.trim().is_empty() => pattern.push_str("..."),
            Some(start) => write!(pattern, "{start}[..]").expect("strings can be written"),
            None => pattern.push_str(line),
        }
        pattern.push('\n');
    }
    let filter = NormalizeToExpected::new().redact();
    let found = filter.normalize(Data::text(masked(printed)), &Data::text(masked(&pattern)));
    if found.render().is_some_and(|found| found == masked(&pattern)) {
        shown.to_owned()
    } else {
        printed.to_owned()
    }
}

/// A block with its commands run; `None` if one of them cannot be run here.
fn run(block: &str, place: &Place, page: &Path) -> Option<String> {
    let mut out = String::new();
    let mut lines = block.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            panic!("{}: a console block begins with a command: {line}", page.display());
        };
        let mut shown = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            shown.push_str(line);
            shown.push('\n');
        }
        writeln!(out, "{line}").expect("strings can be written");
        if let Some(why) = lacking(command) {
            eprintln!("skipped: {}: `{command}`: {why}", page.display());
            return None;
        }
        match command.strip_prefix("cat ").map(|name| place.folder.join(name)) {
            Some(file) if !file.exists() => {
                fs::write(&file, &shown).expect("the file can be written");
                out.push_str(&shown);
            }
            _ => out.push_str(&as_shown(&shown, &place.run(command))),
        }
    }
    Some(out)
}

/// Whether a line without `$ ` is a command all the same.
fn is_command(line: &str) -> bool {
    ["causeway ", "cargo ", ".ci/run", ".ci/setup", "llc "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The page with its blocks run.
fn performed(page: &Path, text: &str) -> String {
    let place = Place::new(page);
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        writeln!(out, "{line}").expect("strings can be written");
        let Some(kind) = line.strip_prefix("```") else { continue };
        let mut block = String::new();
        let mut end = "```";
        for line in lines.by_ref() {
            if line == "```" {
                end = line;
                break;
            }
            block.push_str(line);
            block.push('\n');
        }
        let commands: Vec<&str> =
            block.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
        let right = match kind {
            "console" => !commands.is_empty() && !commands.iter().any(|line| needs_llc(line)),
            WITH_LLC => commands.iter().any(|line| needs_llc(line)),
            "sh" => commands.is_empty(),
            _ => commands.is_empty() && !block.lines().any(is_command),
        };
        assert!(
            right,
            "{}: a block with commands, lines that begin with `$ `, is `console`; it is `{WITH_LLC}` if it \
             runs `llc`, and `sh` if it is not run:\n{block}",
            page.display()
        );
        let commands = !commands.is_empty();
        let done = if commands { run(&block, &place, page) } else { None };
        out.push_str(&done.unwrap_or(block));
        writeln!(out, "{end}").expect("strings can be written");
    }
    out
}

#[test]
fn what_the_pages_show_is_what_is_printed() {
    let mut wrong = String::new();
    let mut blocks = 0;
    for page in pages() {
        let text = fs::read_to_string(suite::root().join(&page)).expect("the page is there");
        let indented = text.lines().find(|line| line.trim_start() != *line && line.contains("```"));
        assert_eq!(indented, None, "{}: an indented block is not seen here", page.display());
        assert_eq!(text.lines().filter(|line| line.starts_with("```")).count() % 2, 0);
        let file = suite::root().join(&page);
        let before = fs::read_to_string(&file).expect("the page is there");
        blocks += before.matches("```console").count();
        let now = performed(&page, &before);
        if now == before {
            continue;
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&file, &now).expect("the page can be written");
        }
        writeln!(wrong, "--- {}", page.display()).expect("strings can be written");
        let old: Vec<&str> = before.lines().collect();
        for line in now.lines().filter(|line| !old.contains(line)) {
            writeln!(wrong, "  now: {line}").expect("strings can be written");
        }
    }
    assert!(blocks > 20, "few blocks were found: {blocks}");
    assert!(wrong.is_empty(), "{wrong}\nUPDATE=1 rewrites the pages");
}

#[test]
fn what_differs_is_seen() {
    for (shown, printed, same) in [
        ("a\n…\nd\n", "a\nb\nc\nd\n", true),
        ("a\n  …\nd\n", "a\nb\nd\n", true),
        ("a\n…\nd\n", "a\nb\nc\n", false),
        ("one: …\n", "one: two\n", true),
        ("one: …\n", "two: two\n", false),
        ("1 test: 1 ok   (enumerate; 0.0 s)\n", "1 test: 1 ok   (enumerate; 1.3 s)\n", true),
        ("1 test: 1 ok   (enumerate; 0.0 s)\n", "2 tests: 1 ok   (enumerate; 0.0 s)\n", false),
        ("", "a\n", false),
    ] {
        assert_eq!(as_shown(shown, printed) == shown, same, "{shown:?} and {printed:?}");
    }
}

/// The titles of `docs/SUMMARY.md`: three doors by what a reader has, then what is known and how the project works.
const PARTS: [&str; 6] =
    ["I have a kernel", "I have a compiler", "I have a model", "Theory", "Measured", "Project"];

/// The pages of each part, in order. Only the lines that mdBook reads are accepted: titles of parts and lists of links.
fn summary(text: &str) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    let mut lines = text.lines();
    if lines.next() != Some("# Summary") {
        return Err("the first line is `# Summary`".to_owned());
    }
    for line in lines.filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            parts.push((title.to_owned(), Vec::new()));
            continue;
        }
        let link = line.trim_start().strip_prefix("- [").and_then(|rest| rest.strip_suffix(')'));
        let (Some((name, page)), Some((_, pages))) =
            (link.and_then(|link| link.split_once("](")), parts.last_mut())
        else {
            return Err(format!("neither the title of a part nor `- [NAME](PAGE)`: {line}"));
        };
        if name.is_empty() || pages.is_empty() && line.starts_with(' ') {
            return Err(format!("a link without a name, or below no page: {line}"));
        }
        pages.push(page.to_owned());
    }
    Ok(parts)
}

#[test]
fn every_page_has_one_place_in_the_summary() {
    let docs = suite::root().join("docs");
    let text = fs::read_to_string(docs.join("SUMMARY.md")).expect("the summary is there");
    let parts = summary(&text).unwrap_or_else(|why| panic!("docs/SUMMARY.md: {why}"));
    let titles: Vec<&str> = parts.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(titles, PARTS);
    assert!(parts.iter().all(|(_, pages)| !pages.is_empty()), "{parts:?}");
    let mut placed: Vec<String> = parts.into_iter().flat_map(|(_, pages)| pages).collect();
    placed.sort();
    let mut there: Vec<String> = Vec::new();
    crate::tidy::walk(&docs, "md", &mut |path| {
        let page = path.strip_prefix(&docs).expect("it is below the folder");
        there.push(page.to_string_lossy().into_owned());
    });
    there.retain(|page| page != "SUMMARY.md");
    there.sort();
    assert_eq!(placed, there, "the links of docs/SUMMARY.md, and the pages of docs/");
}

#[test]
fn a_summary_has_only_what_mdbook_reads() {
    let parts = summary("# Summary\n\n# A\n\n- [B](b.md)\n    - [C](c.md)\n\n# D\n\n- [E](e.md)\n");
    let pages = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let expected = [("A".to_owned(), pages(&["b.md", "c.md"])), ("D".to_owned(), pages(&["e.md"]))];
    assert_eq!(parts, Ok(expected.to_vec()));
    for wrong in [
        "# A\n- [B](b.md)\n",
        "# Summary\n- [B](b.md)\n",
        "# Summary\n# A\nprose\n",
        "# Summary\n# A\n- B\n",
        "# Summary\n# A\n- [](b.md)\n",
        "# Summary\n# A\n    - [B](b.md)\n",
    ] {
        assert!(summary(wrong).is_err(), "{wrong:?}");
    }
}
