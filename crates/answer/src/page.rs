//! The page that asks: a test is typed, chosen or taken from the address, and its answer is shown below.
//!
//! One page for the server and for the playground. Who answers is decided by its scripts.

use std::fmt::Write;

use litmus::example::{DOCUMENT, ExampleTest, GALLERY};
use picture::page::{PageParts, whole};
use picture::xml;

const BODY: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The script of the page. It asks the function `causewayAnswer` if there is one, and otherwise the server.
pub const SCRIPT: &str = include_str!("page.js");

/// The policy of a page whose script and answers come from its server, and from nowhere else.
pub const SERVED: &str =
    "; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

/// The page of a server that has [`SCRIPT`] at `page.js` and answers at `answer`. `first`: the test that it begins with, if not
/// with an example.
pub fn served(first: Option<&str>) -> String {
    page(SERVED, "<script src=\"page.js\"></script>\n", first)
}

/// The page with a policy, as [`PageParts`] has it, and with scripts.
pub fn page(policy: &str, scripts: &str, first: Option<&str>) -> String {
    let mut options = String::new();
    let mut texts = Vec::new();
    for (label, tests) in [("Tests of the document", DOCUMENT), ("Real mistakes", GALLERY)] {
        group(label, tests, &mut options, &mut texts);
    }
    let body = BODY.replace("EXAMPLES", &options);
    // Where the address has no test, the script takes the text of the page.
    let first = format!(">\n{}</textarea>", xml::escape(first.unwrap_or_default()));
    let body = body.replace("></textarea>", &first);
    let json = serde_json::to_string(&texts).expect("texts can be written");
    // It stands in an element that ends at the first `</`.
    let json = json.replace('<', "\\u003c");
    let scripts =
        format!("<script type=\"application/json\" id=\"examples\">{json}</script>\n{scripts}");
    whole("Causeway", &body, PageParts { style: STYLE, policy, scripts: &scripts })
}

/// The choices of a group; the value of each is its index in `sources`.
fn group(label: &str, tests: &[ExampleTest], options: &mut String, sources: &mut Vec<&str>) {
    xml::open(options, "optgroup", &[("label", label)]);
    for test in tests {
        let index = sources.len().to_string();
        xml::element(options, "option", &[("value", &index)], test.name);
        sources.push(test.text);
    }
    let _ = writeln!(options, "</optgroup>");
}
