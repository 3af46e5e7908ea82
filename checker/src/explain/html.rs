//! An explanation as a page: the pictures, the steps, the words and the test.

use answer::explain::ExplainedTest;
use picture::{page, xml};

/// The content of the page. `changes` are how the outcome can be forbidden.
pub(super) fn body(of: &ExplainedTest<'_>, changes: &str) -> String {
    let mut out = String::from("<main>\n");
    xml::element(&mut out, "h1", &[], &of.test.name);
    let verdict = first_sentence(&of.explanation.text);
    xml::element(&mut out, "p", &[("class", "verdict")], &verdict);
    out.push('\n');
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

/// The lines of a text up to the first one that ends a sentence, as one line.
fn first_sentence(text: &str) -> String {
    let paragraph = text.lines().take_while(|line| !line.is_empty());
    let mut ended = false;
    let lines: Vec<&str> = paragraph
        .take_while(|line| !std::mem::replace(&mut ended, line.ends_with(['.', ':'])))
        .collect();
    lines.join(" ")
}
