//! `check --report`: a folder with a page of all tests and one page for each.
//!
//! The page of all tests has a script, which filters and searches; without it all tests are listed. The other pages have none. Nothing
//! is loaded from elsewhere, so the folder can be opened, moved and sent as it is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use answer::tested::{self, TestedPart, WORK};
use engine::clock::Deadline;
use engine::exit::Exit;
use judge::explain::ExplainOptions;
use judge::headline::Headline;
use judge::{Judgement, explain};
use litmus::{Dialect, Test};
use model::rel::Model;
use picture::{page, xml};

use super::CheckSummary;
use crate::input;
use crate::kind::FileKind;
use crate::output::OutputFolder;
use crate::report::count_of;
use crate::suite::{FileResult, SuiteItem};

const SCRIPT: &str = include_str!("report.js");
const STYLE: &str = include_str!("report.css");

/// The folder as it is written.
pub(super) struct ReportFolder<'m> {
    folder: OutputFolder,
    model: &'m Model,
    /// The model for tests of C++, unless `--model` names one.
    cxx: Option<&'m Model>,
    options: ExplainOptions,
    /// For the explanation of each test.
    timeout: Option<Duration>,
    /// The entries of the list of all tests.
    rows: String,
    count: usize,
    verdicts: BTreeMap<&'static str, usize>,
    unexpected: usize,
    /// How many tests have no explanation because a limit was reached.
    unexplained: usize,
}

impl<'m> ReportFolder<'m> {
    /// Creates the folder. Pages of an earlier report in it are written over.
    pub(super) fn create(
        folder: &Path,
        model: &'m Model,
        cxx: Option<&'m Model>,
        options: ExplainOptions,
        timeout: Option<Duration>,
    ) -> io::Result<ReportFolder<'m>> {
        Ok(ReportFolder {
            folder: OutputFolder::create(folder)?,
            model,
            cxx,
            options: ExplainOptions { work: Some(WORK), ..options },
            timeout,
            rows: String::new(),
            count: 0,
            verdicts: BTreeMap::new(),
            unexpected: 0,
            unexplained: 0,
        })
    }

    /// Writes the page of one test, and its row.
    pub(super) fn add(&mut self, item: &SuiteItem) -> io::Result<()> {
        let path = item.path.to_string_lossy().into_owned();
        let mut doc: &[String] = &[];
        let mut headline = None;
        let (name, verdict, condition, exit, body) = match &item.outcome {
            FileResult::Filtered => return Ok(()),
            FileResult::Judged { test, judgement } => {
                let body = self.judged(item, test, judgement)?;
                let verdict = judgement.verdict.name();
                doc = &test.doc;
                headline = Some(Headline::new(test, judgement));
                (test.name.clone(), verdict, test.condition_text.clone(), judgement.exit(), body)
            }
            FileResult::Rejected(_) | FileResult::Unreadable(_) => {
                let mut words = Vec::new();
                if let Some(unread) = item.unread() {
                    unread.complain(&mut words)?;
                }
                let mut body = heading(&path);
                tested::verdict(&mut body, "The file could not be read.");
                page::text(&mut body, "Errors", &String::from_utf8_lossy(&words));
                (path.clone(), "not-read", String::new(), Exit::BadInput, body)
            }
        };
        self.count += 1;
        *self.verdicts.entry(verdict).or_default() += 1;
        let expected = exit == Exit::AsExpected;
        self.unexpected += usize::from(!expected);
        let file = format!("tests/{:05}.html", self.count);
        let whole =
            format!("<main>\n{body}<p><a href=\"../index.html\">All tests</a></p>\n</main>\n");
        self.folder.write(file.clone(), page::page(&name, &whole).as_bytes())?;
        let class = if expected { "good" } else { "bad" };
        let out = &mut self.rows;
        xml::open(out, "li", &[("data-verdict", verdict), ("class", class)]);
        xml::element(out, "a", &[("href", &file)], &name);
        out.push(' ');
        if let Some(headline) = headline {
            out.push_str("<span>");
            let class = format!("verdict {}", headline.answer.tone().name());
            xml::element(out, "span", &[("class", &class)], &headline.to_string());
            out.push_str(", ");
            xml::element(out, "span", &[("class", "expectation")], headline.expectation());
            out.push_str("</span> ");
        } else {
            xml::element(out, "span", &[("class", "expectation")], "not read");
            out.push(' ');
        }
        xml::element(out, "span", &[("class", "code")], &condition);
        out.push(' ');
        xml::element(out, "span", &[("class", "path")], &path);
        for line in doc {
            out.push(' ');
            xml::element(out, "span", &[("class", "doc")], line);
        }
        out.push_str("</li>\n");
        Ok(())
    }

    fn judged(
        &mut self,
        item: &SuiteItem,
        test: &Test,
        judgement: &Judgement,
    ) -> io::Result<String> {
        let model = self.cxx.filter(|_| test.dialect == Dialect::Cxx);
        let readings = self.options.readings.filter(|_| model.is_none());
        let property = judgement.property;
        let until = self.timeout.map(Deadline::after);
        let options = ExplainOptions { readings, until, property, ..self.options };
        let explanation = explain::explanation(test, model.unwrap_or(self.model), options)?;
        let part = TestedPart { test, judgement, explanation: &explanation };
        self.unexplained += usize::from(part.is_limited());
        let mut out = heading(&test.name);
        part.write(&mut out);
        let source = source(&item.path);
        page::text(
            &mut out,
            "Test",
            source.as_deref().unwrap_or("The test was read from standard input."),
        );
        let file = format!("File: {}. Model: {}.", item.path.to_string_lossy(), judgement.model);
        xml::element(&mut out, "p", &[("class", "path")], &file);
        Ok(out)
    }

    /// Adds the page of all tests, and puts all pages into the folder.
    pub(super) fn finish(mut self, summary: &CheckSummary) -> io::Result<()> {
        let mut out = String::from("<main>\n<h1>Report of causeway check</h1>\n<p>");
        let mut words =
            format!("{}, {} not as expected. ", count_of(self.count, "test"), self.unexpected);
        let _ = write!(words, "Model: {}. ", self.model.name);
        if self.unexplained > 0 {
            let of = count_of(self.unexplained, "test");
            let _ = write!(
                words,
                "Without explanation, since more than {WORK} candidates or another limit: {of}. "
            );
        }
        if summary.filtered > 0 {
            let _ = write!(words, "Excluded by the filter: {}. ", summary.filtered);
        }
        out.push_str(&xml::escape(words.trim_end()));
        out.push_str("</p>\n<form id=\"filter\" hidden>\n<fieldset><legend>Verdict</legend>\n");
        choice(&mut out, "", &format!("all ({})", self.count), true);
        choice(&mut out, "unexpected", &format!("not as expected ({})", self.unexpected), false);
        for (verdict, count) in &self.verdicts {
            choice(&mut out, verdict, &format!("{verdict} ({count})"), false);
        }
        out.push_str("</fieldset>\n<p><label>Search <input type=\"search\" id=\"search\" autocomplete=\"off\"></label>\n");
        out.push_str("<output id=\"shown\" aria-live=\"polite\"></output></p>\n</form>\n");
        out.push_str(
            "<noscript><p>The filters need scripts. All tests are listed.</p></noscript>\n",
        );
        out.push_str("<ul id=\"tests\" aria-label=\"tests: name, verdict, condition, file\">\n");
        out.push_str(&self.rows);
        out.push_str("</ul>\n</main>\n");
        let page = page::with_script("Report of causeway check", &out, STYLE, SCRIPT);
        self.folder.write("index.html".to_owned(), page.as_bytes())?;
        self.folder.commit()
    }
}

fn choice(out: &mut String, value: &str, words: &str, first: bool) {
    let checked = if first { " checked" } else { "" };
    let (value, words) = (xml::escape(value), xml::escape(words));
    let _ = writeln!(
        out,
        "<label><input type=\"radio\" name=\"verdict\" value=\"{value}\"{checked}> {words}</label>"
    );
}

fn heading(name: &str) -> String {
    let mut out = String::new();
    xml::element(&mut out, "h1", &[], name);
    out
}

/// The text of a file; `None` for standard input.
fn source(path: &Path) -> Option<String> {
    if path == Path::new("-") {
        return None;
    }
    let bytes = input::read_kind(path, FileKind::Litmus).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
