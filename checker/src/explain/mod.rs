//! `causeway explain`: an explanation as text, graph, picture, page or object.

mod html;
mod json;

use std::io::{self, Write};

use engine::explain::Explanation;
use litmus::Test;

use crate::cli::Drawing;
use crate::lines::{self, LineKind};

pub(crate) use json::ExplainObject;

/// What is explained.
pub struct ExplainedTest<'a> {
    /// As the user writes it.
    pub path: &'a str,
    pub test: &'a Test,
    /// The text of the file.
    pub source: &'a str,
    /// The name of the model.
    pub model: &'a str,
    pub explanation: &'a Explanation,
}

/// What the formats of one picture say if there is none.
const NO_CANDIDATE: &str = "no candidate execution has the outcome";

impl ExplainedTest<'_> {
    /// Writes the explanation in a format.
    pub fn write(&self, format: Drawing, out: &mut dyn Write) -> io::Result<()> {
        let first = self.explanation.graphs.first();
        match format {
            Drawing::Text => out.write_all(self.explanation.text.as_bytes()),
            Drawing::Dot => match first {
                Some(graph) => out.write_all(picture::dot::graph(graph).as_bytes()),
                None => writeln!(out, "digraph {{ label=\"{NO_CANDIDATE}\"; }}"),
            },
            Drawing::Svg => {
                let drawn = first.map_or_else(
                    || picture::svg::message(&self.test.name, NO_CANDIDATE),
                    picture::svg::document,
                );
                out.write_all(drawn.as_bytes())
            }
            Drawing::Html => {
                let title = format!("{}: explanation", self.test.name);
                let page = picture::page::page(&title, &html::body(self));
                out.write_all(page.as_bytes())
            }
            Drawing::Json => lines::write(LineKind::Explain, ExplainObject::new(self), out),
        }
    }
}
