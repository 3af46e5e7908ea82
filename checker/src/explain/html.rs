//! An explanation as a page: the pictures, the steps, the words and the test.

use answer::explain::ExplainedTest;
use picture::{page, xml};

/// The content of the page.
pub(super) fn body(of: &ExplainedTest<'_>) -> String {
    let mut out = String::from("<main>\n");
    xml::element(&mut out, "h1", &[], &of.test.name);
    let mut words = of.explanation.text.lines();
    xml::element(&mut out, "p", &[("class", "verdict")], words.next().unwrap_or_default());
    out.push('\n');
    out.push_str(&page::figures(&of.explanation.graphs));
    page::text(&mut out, "Explanation", &of.explanation.text);
    page::text(&mut out, "Test", of.source);
    let model = format!("Judged under the model {}.", of.model);
    xml::element(&mut out, "p", &[], &model);
    out.push_str("\n</main>\n");
    out
}
