//! An explanation as a page: the pictures, the steps, the words and the test.

use answer::explain::ExplainedTest;
use picture::{page, xml};

/// The content of the page. `changes` are how the outcome can be forbidden.
pub(super) fn body(of: &ExplainedTest<'_>, changes: &str) -> String {
    let mut out = String::from("<main>\n");
    xml::element(&mut out, "h1", &[], &of.test.name);
    let headline = &of.explanation.headline;
    let class = format!("verdict {}", headline.answer.tone().name());
    xml::element(&mut out, "p", &[("class", &class)], &headline.to_string());
    out.push('\n');
    for line in &of.test.doc {
        xml::element(&mut out, "p", &[("class", "doc")], line);
    }
    out.push_str(&page::figures(&of.explanation.graphs));
    page::text(&mut out, "Explanation", &of.explanation.text);
    if !changes.is_empty() {
        page::text(&mut out, "Changes", changes.trim_start());
    }
    page::text(&mut out, "Test", of.source);
    let model = format!("Judged under the model {}.", of.model);
    xml::element(&mut out, "p", &[], &model);
    out.push_str("\n</main>\n");
    out
}
