//! HTML pages around pictures: self-contained, without scripts, light and dark.

use std::fmt::Write;

use petgraph::graph::EdgeIndex;

use crate::drawn;
use crate::graph::{EdgeRole, ExecutionGraph, GraphEdge};
use crate::svg;
use crate::xml;

/// The rules of pages.
pub const STYLE: &str = include_str!("page.css");

/// What a page has beside its body.
#[derive(Clone, Copy, Default)]
pub struct PageParts<'a> {
    /// More rules, after those of pages and pictures.
    pub style: &'a str,
    /// Directives of the policy, each after `; `: which scripts run, and what they may load. Without any, none runs and nothing is
    /// loaded, whatever a test holds.
    pub policy: &'a str,
    /// Markup with the scripts, at the end of the body.
    pub scripts: &'a str,
}

/// The policy of a page without scripts.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// A whole page. `body` is markup.
pub fn page(title: &str, body: &str) -> String {
    whole(title, body, PageParts::default())
}

/// A whole page with more rules and with a script, which runs after the body was read.
pub fn with_script(title: &str, body: &str, style: &str, script: &str) -> String {
    let scripts = format!("<script>\n{script}</script>\n");
    whole(
        title,
        body,
        PageParts { style, policy: "; script-src 'unsafe-inline'", scripts: &scripts },
    )
}

/// A whole page with these parts.
pub fn whole(title: &str, body: &str, parts: PageParts<'_>) -> String {
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    let PageParts { style, policy, scripts } = parts;
    let policy = format!("{POLICY}{policy}");
    let _ = writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    xml::element(&mut out, "title", &[], title);
    let _ = write!(out, "\n<style>\n{STYLE}{}{style}</style>\n</head>\n<body>\n", svg::STYLE);
    out.push_str(body);
    out.push_str(scripts);
    out.push_str("</body>\n</html>\n");
    out
}

/// The pictures of candidates. Of several, a choice shows all or one of them, by pointer or by the arrow keys; it needs no script, and
/// without the selector `:has` all are shown.
pub fn figures(graphs: &[ExecutionGraph]) -> String {
    let figure = |index: usize| figure(&graphs[index], &format!("g{index}"));
    if graphs.len() < 2 {
        return (0..graphs.len()).map(figure).collect();
    }
    let mut out = String::from("<style>\n");
    for number in 1..=graphs.len() {
        let _ = writeln!(
            out,
            "main:has(#show-{number}:checked) .candidate:not(#candidate-{number}) {{ display: none; }}"
        );
    }
    out.push_str("</style>\n<fieldset class=\"choice\"><legend>Candidates</legend>\n");
    let mut choice = |id: &str, words: &str, checked: &str| {
        let words = xml::escape(words);
        let _ = writeln!(
            out,
            "<label><input type=\"radio\" name=\"candidate\" id=\"{id}\"{checked}> {words}</label>"
        );
    };
    choice("show-all", &format!("all {}", graphs.len()), " checked");
    for (index, graph) in graphs.iter().enumerate() {
        let (number, broken) = (index + 1, graph.broken_text());
        choice(&format!("show-{number}"), &format!("{number}: {broken}"), "");
    }
    out.push_str("</fieldset>\n");
    for index in 0..graphs.len() {
        let number = index + 1;
        xml::open(
            &mut out,
            "section",
            &[("class", "candidate"), ("id", &format!("candidate-{number}"))],
        );
        let heading = format!("Candidate {number} of {}", graphs.len());
        xml::element(&mut out, "h2", &[], &heading);
        out.push_str(&figure(index));
        out.push_str("</section>\n");
    }
    out
}

/// A picture with its caption and, as its text alternative, the list of its edges.
pub fn figure(graph: &ExecutionGraph, prefix: &str) -> String {
    let mut out = String::new();
    let name = format!("picture: {}", graph.caption);
    xml::open(&mut out, "figure", &[]);
    xml::element(&mut out, "figcaption", &[], &graph.caption);
    xml::open(
        &mut out,
        "div",
        &[("class", "wide"), ("tabindex", "0"), ("role", "region"), ("aria-label", &name)],
    );
    out.push('\n');
    out.push_str(&svg::fragment(graph, prefix));
    out.push_str("</div>\n");
    edges(graph, prefix, &mut out);
    out.push_str("</figure>\n");
    out
}

type EdgeFilter<'a> = &'a dyn Fn(&GraphEdge) -> bool;

/// The derivation as nested lists, or the reads that do not synchronize; each entry leads to its line.
fn edges(graph: &ExecutionGraph, prefix: &str, out: &mut String) {
    let drawn: Vec<EdgeIndex> = drawn::lines(graph).into_iter().flat_map(|line| line.of).collect();
    let list = |edges: &[EdgeIndex], out: &mut String| list(graph, edges, &drawn, prefix, out);
    let steps: Vec<EdgeIndex> = graph.steps(None).collect();
    if !steps.is_empty() {
        out.push_str("<p>The cycle, step by step:</p>\n");
        list(&steps, out);
    }
    let race = |edge: &GraphEdge| edge.role == EdgeRole::Race && edge.relation == "race";
    let others = |edge: &GraphEdge| edge.role == EdgeRole::Race && !race(edge);
    let unordered = |edge: &GraphEdge| edge.role == EdgeRole::Unsynchronized;
    let groups: [(EdgeFilter<'_>, &str); 3] = [
        (&unordered, "Reads from other threads that do not synchronize:"),
        (&race, "Data races:"),
        (&others, "Accesses that leave the program undefined:"),
    ];
    for (is_one, words) in groups {
        let of: Vec<EdgeIndex> =
            graph.events.edge_indices().filter(|edge| is_one(&graph.events[*edge])).collect();
        if !of.is_empty() {
            xml::element(out, "p", &[], words);
            list(&of, out);
        }
    }
}

/// A list of edges. Those that are lines of the picture are links to them.
fn list(
    graph: &ExecutionGraph,
    edges: &[EdgeIndex],
    drawn: &[EdgeIndex],
    prefix: &str,
    out: &mut String,
) {
    out.push_str("<ul class=\"steps\">\n");
    for &edge in edges {
        out.push_str("<li>");
        let link = format!("#{}", svg::edge_id(prefix, edge));
        let (role, text) = (graph.events[edge].role.name(), graph.edge_text(edge));
        if drawn.contains(&edge) {
            xml::element(out, "a", &[("href", &link), ("class", role)], &text);
        } else {
            xml::element(out, "span", &[], &text);
        }
        let steps: Vec<EdgeIndex> = graph.steps(Some(edge)).collect();
        if !steps.is_empty() {
            list(graph, &steps, drawn, prefix, out);
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

/// A heading, and text with its lines and spaces, which is scrolled by keyboard where it is wide.
pub fn text(out: &mut String, heading: &str, text: &str) {
    xml::element(out, "h2", &[], heading);
    let region = [("tabindex", "0"), ("role", "region"), ("aria-label", heading)];
    xml::element(out, "pre", &region, text.trim_end());
    out.push('\n');
}
