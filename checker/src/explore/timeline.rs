//! `explore --timeline`: a page with the shortest run to each outcome.

use std::io;
use std::path::Path;

use picture::{page, timeline, xml};

use super::report::{ExploreResult, ExploredFile};
use crate::output;

/// The page, as far as it is written.
#[derive(Default)]
pub(super) struct TimelinePage {
    body: String,
    count: usize,
}

impl TimelinePage {
    /// Adds the runs of a test. A file that was not read has none.
    pub(super) fn add(&mut self, file: &ExploredFile) {
        let ExploreResult::Ran(test, machines) = &file.outcome else { return };
        for ran in machines {
            let heading = format!("{} on sm_{}", test.name, ran.sm);
            xml::element(&mut self.body, "h2", &[], &heading);
            self.body.push('\n');
            for reached in &ran.outcomes {
                let Some(run) = &reached.timeline else { continue };
                self.count += 1;
                let allowed = match reached.allowed {
                    Some(true) => " (the axioms allow it)",
                    Some(false) => " (the axioms forbid it)",
                    None => "",
                };
                let caption = format!("{}{allowed}", run.caption);
                let label = format!("run: {caption}");
                self.body.push_str("<figure>");
                xml::element(&mut self.body, "figcaption", &[], &caption);
                let region = [
                    ("class", "wide"),
                    ("tabindex", "0"),
                    ("role", "region"),
                    ("aria-label", &*label),
                ];
                xml::open(&mut self.body, "div", &region);
                self.body.push_str(&timeline::fragment(run, &format!("r{}", self.count)));
                self.body.push_str("</div></figure>\n");
            }
        }
    }

    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let body = format!("<main>\n<h1>Runs of the machine</h1>\n{}</main>\n", self.body);
        output::write(file, page::page("Runs of the machine", &body).as_bytes())
    }
}
