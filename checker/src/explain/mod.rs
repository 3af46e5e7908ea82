//! `causeway explain`: an explanation as text, graph, picture, page or object.

pub mod args;
pub mod command;
mod html;

use std::io::{self, Write};

use answer::explain::{ExplainObject, ExplainedTest};

use crate::explain::args::Drawing;
use crate::lines::{self, LineKind};
use crate::report::colour;

/// What the formats of one picture say if there is none.
const NO_CANDIDATE: &str = "no candidate execution has the outcome";

/// Writes an explanation in a format. `advise` searches for changes that forbid the outcome, and writes them, for those
/// who read it.
pub(crate) fn write(
    of: &ExplainedTest<'_>,
    advise: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    format: Drawing,
    out: &mut dyn Write,
) -> io::Result<()> {
    let first = of.explanation.graphs.first();
    match format {
        Drawing::Text => {
            let explanation = &of.explanation;
            let headline = explanation.headline.to_string();
            let style = colour::of_answer(explanation.headline.answer);
            match explanation.text.strip_prefix(&headline) {
                Some(rest) => write!(out, "{style}{headline}{style:#}{rest}")?,
                None => out.write_all(explanation.text.as_bytes())?,
            }
            advise(out)
        }
        Drawing::Dot => match first {
            Some(graph) => out.write_all(picture::dot::graph(graph).as_bytes()),
            None => writeln!(out, "digraph {{ label=\"{NO_CANDIDATE}\"; }}"),
        },
        Drawing::Svg => {
            let drawn = first.map_or_else(
                || picture::svg::message(&of.test.name, NO_CANDIDATE),
                picture::svg::document,
            );
            out.write_all(drawn.as_bytes())
        }
        Drawing::Html => {
            let title = format!("{}: explanation", of.test.name);
            let mut changes = Vec::new();
            advise(&mut changes)?;
            let changes = String::from_utf8_lossy(&changes);
            let page = picture::page::page(&title, &html::body(of, &changes));
            out.write_all(page.as_bytes())
        }
        Drawing::Json => lines::write(LineKind::Explain, ExplainObject::new(of), out),
    }
}
