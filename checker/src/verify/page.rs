//! `causeway verify --page FILE`: what was found, and executions that show it beside the lines of the source.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use judge::Property;
use picture::{page, xml};
use verify::ShownExecution;

use super::JudgedLaunch;
use super::case::LaunchAnswer;
use super::lines::sources;
use super::report;
use crate::output;

/// The rules of listings, after those of pages.
const STYLE: &str = include_str!("page.css");

/// Lines before and after a marked one.
const AROUND: usize = 3;

/// The content of a page.
#[derive(Default)]
pub(super) struct VerifyPage {
    body: String,
    launches: usize,
}

/// Lines of a file, some of which have events of an execution.
struct FileLines {
    name: String,
    text: String,
    marked: BTreeMap<usize, LineMark>,
}

/// What is at a line.
#[derive(Default)]
struct LineMark {
    letters: BTreeSet<String>,
    /// The instructions with their threads.
    instructions: Vec<String>,
    found: bool,
}

impl VerifyPage {
    pub(super) fn add(&mut self, answer: &LaunchAnswer<'_>) -> io::Result<()> {
        let out = &mut self.body;
        match answer {
            LaunchAnswer::Judged(judged) => launch(out, self.launches, judged)?,
            LaunchAnswer::Unread(unread) => {
                xml::element(out, "h1", &[], &unread.path.to_string_lossy());
                for error in &unread.diagnostics {
                    xml::element(out, "pre", &[("class", "complaint")], &error.to_string());
                }
            }
        }
        self.launches += 1;
        Ok(())
    }

    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let body = format!("<main>\n{}</main>\n", self.body);
        let parts = page::PageParts { style: STYLE, ..page::PageParts::default() };
        output::write(file, page::whole("Launches of kernels", &body, parts).as_bytes())
    }
}

fn launch(out: &mut String, number: usize, judged: &JudgedLaunch<'_>) -> io::Result<()> {
    let verification = judged.verification;
    xml::element(out, "h1", &[], &judged.read.name);
    let tone = match (&verification.findings[..], &verification.undecided[..]) {
        ([], []) => "safe",
        ([], [_, ..]) => "open",
        ([_, ..], _) => "wrong",
    };
    let class = format!("verdict {tone}");
    xml::element(out, "p", &[("class", &class)], &report::word(verification));
    let mut told = Vec::new();
    report::text(judged, &mut told)?;
    page::text(out, "Result", &String::from_utf8_lossy(&told));
    for (index, shown) in judged.verification.executions.iter().enumerate() {
        execution(out, &format!("l{number}-e{index}"), judged, shown);
    }
    out.push_str("<details><summary>The litmus test of the launch</summary>\n");
    page::text(out, "Test", &judged.composed.text);
    out.push_str("</details>\n");
    Ok(())
}

fn execution(out: &mut String, prefix: &str, judged: &JudgedLaunch<'_>, shown: &ShownExecution) {
    let findings = &judged.verification.findings;
    let heading = if findings.iter().any(|finding| finding.kind.takes_meaning()) {
        "An execution without a meaning"
    } else {
        heading(shown.property)
    };
    xml::element(out, "h2", &[], heading);
    out.push_str("\n<div class=\"beside\">\n<div class=\"listings\">\n");
    let (sources, module) = listings(judged, shown);
    for source in &sources {
        source.write(out);
    }
    if sources.is_empty() {
        module.write(out);
    } else {
        out.push_str("<details><summary>In the module</summary>\n");
        module.write(out);
        out.push_str("</details>\n");
    }
    out.push_str("</div>\n<div>\n");
    out.push_str(&page::figure(&shown.graph, prefix));
    out.push_str("</div>\n</div>\n");
}

fn heading(lacks: Property) -> &'static str {
    match lacks {
        Property::ProgramSpec => "An execution at whose end the assertion is false",
        Property::NoDataRace => "An execution with a race",
        Property::Termination => "An execution that does not finish",
        Property::NoUninitialisedRead => "An execution that reads what nobody has written",
    }
}

/// The sources that can be read, and the module, with the lines of an execution and of what was found.
fn listings(judged: &JudgedLaunch<'_>, shown: &ShownExecution) -> (Vec<FileLines>, FileLines) {
    let mut marked: BTreeMap<usize, LineMark> = BTreeMap::new();
    for (&event, &line) in &shown.lines {
        let of = &shown.graph.events[event];
        let mark = marked.entry(line).or_default();
        mark.letters.extend(of.letter.clone());
        let thread = of.thread.map_or(String::new(), |thread| {
            format!("{}: ", shown.graph.threads[usize::from(thread.0)].name)
        });
        mark.instructions.push(format!("{thread}{}", of.instruction));
    }
    let findings = judged.verification.findings.iter();
    for place in findings
        .filter(|finding| finding.kind.property() == shown.property)
        .flat_map(|finding| &finding.places)
    {
        marked.entry(place.line).or_default().found = true;
    }
    let mut of_sources: BTreeMap<&str, BTreeMap<usize, LineMark>> = BTreeMap::new();
    for (&line, mark) in &marked {
        let Some(origin) = judged.origins.of(line) else { continue };
        let of_source = of_sources.entry(&origin.file).or_default();
        of_source.entry(origin.line).or_default().add(mark);
    }
    let read = |(file, marked): (&str, _)| {
        let (_, text) = sources(&judged.read.module, file).next()?;
        Some(FileLines { name: file.to_owned(), text, marked })
    };
    let sources = of_sources.into_iter().filter_map(read).collect();
    (sources, FileLines { name: judged.module.to_owned(), text: judged.text.to_owned(), marked })
}

impl LineMark {
    fn add(&mut self, other: &LineMark) {
        self.letters.extend(other.letters.iter().cloned());
        self.instructions.extend(other.instructions.iter().cloned());
        self.found |= other.found;
    }
}

impl FileLines {
    fn write(&self, out: &mut String) {
        xml::element(out, "p", &[("class", "path")], &self.name);
        let region = [("class", "wide"), ("tabindex", "0"), ("role", "region")];
        xml::open(out, "div", &[&region[..], &[("aria-label", &self.name)]].concat());
        out.push_str("\n<table class=\"listing\">\n");
        let mut before = 0;
        for (index, line) in self.text.lines().enumerate() {
            let number = index + 1;
            let near = number.saturating_sub(AROUND)..=number + AROUND;
            if self.marked.range(near).next().is_none() {
                continue;
            }
            if before + 1 != number {
                out.push_str("<tr class=\"gap\"><td></td><td></td><td>⋯</td></tr>\n");
            }
            before = number;
            self.row(out, number, line);
        }
        out.push_str("</table>\n</div>\n");
    }

    fn row(&self, out: &mut String, number: usize, line: &str) {
        let mark = self.marked.get(&number);
        let class = match mark {
            Some(mark) if mark.found => "found",
            Some(_) => "marked",
            None => "",
        };
        let (letters, title) = mark.map_or((String::new(), String::new()), |mark| {
            let letters: Vec<&str> = mark.letters.iter().map(String::as_str).collect();
            (letters.join(" "), mark.instructions.join("\n"))
        });
        xml::open(out, "tr", &[("class", class), ("title", &title)]);
        xml::element(out, "td", &[], &letters);
        xml::element(out, "td", &[], &number.to_string());
        xml::element(out, "td", &[], line);
        xml::close(out, "tr");
        out.push('\n');
    }
}
