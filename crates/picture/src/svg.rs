//! Execution graphs as SVG: one self-contained picture without scripts, with text alternatives.

use std::fmt::Write;

use petgraph::graph::EdgeIndex;

use crate::drawn::{self, ArrowShape, DrawnEdge};
use crate::geometry::{Rect, at, characters, real, short};
use crate::graph::{EdgeRole, ExecutionGraph};
use crate::layout::{LINE, PictureLayout, broken, label_text};
use crate::route::{Routed, route};
use crate::xml;

/// The rules of the pictures: colours in light and dark. A page needs them once.
pub const STYLE: &str = include_str!("picture.css");

/// Characters of a line of notes below a picture.
const NOTE: usize = 96;

/// [`STYLE`] for a file of its own. Programs other than browsers do not know the variables of CSS: each is replaced by its
/// value, and the rules with colours stand again with those of a dark page.
pub(crate) fn style_alone() -> String {
    let palettes: Vec<Vec<(&str, &str)>> = STYLE
        .split('}')
        .filter_map(|rule| rule.rsplit_once('{'))
        .map(|(_, body)| body)
        .filter(|body| body.trim_start().starts_with("--"))
        .map(|body| body.split(';').filter_map(|pair| pair.split_once(':')))
        .map(|pairs| pairs.map(|(name, value)| (name.trim(), value.trim())).collect())
        .collect();
    let rules: Vec<&str> = STYLE
        .lines()
        .filter(|line| line.starts_with(".picture") && !line.contains("{ --"))
        .collect();
    let with = |rule: &str, palette: &[(&str, &str)]| {
        palette.iter().fold(rule.to_owned(), |rule, (name, value)| {
            rule.replace(&format!("var({name})"), value)
        })
    };
    let [light, dark] = &palettes[..] else { return STYLE.to_owned() };
    let mut out: String = rules.iter().map(|rule| with(rule, light) + "\n").collect();
    out.push_str("@media (prefers-color-scheme: dark) {\n");
    for rule in rules.iter().filter(|rule| rule.contains("var(")) {
        let _ = writeln!(out, "{}", with(rule, dark));
    }
    out.push_str("}\n");
    out
}

/// A whole file.
pub fn document(graph: &ExecutionGraph) -> String {
    let mut picture = Picture::new(graph, "g");
    picture.notes();
    picture.finish(true)
}

/// A part of a page that has [`STYLE`]. Ids begin with `prefix`, which is unique in the page.
pub fn fragment(graph: &ExecutionGraph, prefix: &str) -> String {
    Picture::new(graph, prefix).finish(false)
}

/// The id of an edge in a picture, for links to it.
pub fn edge_id(prefix: &str, edge: EdgeIndex) -> String {
    format!("{prefix}-e{}", edge.index())
}

/// A file with a sentence, for tests without a candidate execution.
pub fn message(name: &str, text: &str) -> String {
    let width = 16.0 + characters(text).max(characters(name)) * 7.3;
    let mut out = root(width, 60.0, "g", true);
    xml::element(&mut out, "title", &[("id", "g-title")], name);
    xml::element(&mut out, "desc", &[("id", "g-desc")], text);
    let _ = write!(out, "<style>{}</style>", style_alone());
    xml::empty(&mut out, "rect", &[("class", "back"), ("width", "100%"), ("height", "100%")]);
    xml::element(&mut out, "text", &[("class", "name"), ("x", "8"), ("y", "22")], name);
    xml::element(&mut out, "text", &[("class", "note"), ("x", "8"), ("y", "46")], text);
    out.push_str("</svg>\n");
    out
}

pub(crate) fn root(width: f64, height: f64, prefix: &str, alone: bool) -> String {
    let mut out = String::new();
    let (width, height) = (short(width.ceil()), short(height.ceil()));
    let labels = format!("{prefix}-title {prefix}-desc");
    let view = format!("0 0 {width} {height}");
    xml::open(
        &mut out,
        "svg",
        &[
            ("xmlns", if alone { "http://www.w3.org/2000/svg" } else { "" }),
            ("class", "picture"),
            ("viewBox", &view),
            ("width", &width),
            ("height", &height),
            ("role", "img"),
            ("aria-labelledby", &labels),
        ],
    );
    out.push('\n');
    out
}

/// What a role is called in the classes of the style.
fn class(role: EdgeRole) -> &'static str {
    role.name()
}

struct Picture<'g> {
    graph: &'g ExecutionGraph,
    prefix: &'g str,
    layout: PictureLayout,
    lines: Vec<DrawnEdge>,
    routes: Vec<Routed>,
    /// Elements below the picture, and their height.
    below: String,
    width: f64,
    height: f64,
}

impl<'g> Picture<'g> {
    fn new(graph: &'g ExecutionGraph, prefix: &'g str) -> Picture<'g> {
        let lines = drawn::lines(graph);
        let layout = PictureLayout::new(graph, &lines);
        let routes = route(graph, &layout, &lines);
        let labels = routes.iter().filter_map(|route| route.label);
        let width = labels.map(|label| label.right() + 4.0).fold(layout.width, f64::max);
        let height = layout.height;
        Picture { graph, prefix, layout, lines, routes, below: String::new(), width, height }
    }

    fn finish(self, alone: bool) -> String {
        let top = if alone { 54.0 } else { 0.0 };
        let legend = 30.0;
        let mut out =
            root(self.width, top + self.height + legend + self.notes_height(), self.prefix, alone);
        let title = format!("Execution graph of {}", self.graph.name);
        let id = format!("{}-title", self.prefix);
        xml::element(&mut out, "title", &[("id", &id)], &title);
        let id = format!("{}-desc", self.prefix);
        xml::element(&mut out, "desc", &[("id", &id)], &description(self.graph));
        if alone {
            let _ = write!(out, "\n<style>\n{}</style>\n", style_alone());
            xml::empty(
                &mut out,
                "rect",
                &[("class", "back"), ("width", "100%"), ("height", "100%")],
            );
            text(&mut out, "name", 10.0, 22.0, &self.graph.name);
            text(&mut out, "note", 10.0, 42.0, &self.graph.caption);
        }
        let shift = format!("translate(0 {})", short(top));
        xml::open(&mut out, "g", &[("transform", &shift)]);
        out.push('\n');
        self.frames(&mut out);
        self.edges(&mut out);
        self.events(&mut out);
        self.labels(&mut out);
        let _ = write!(out, "{}", self.legend());
        out.push_str(&self.below);
        xml::close(&mut out, "g");
        out.push_str("\n</svg>\n");
        out
    }

    fn frames(&self, out: &mut String) {
        for frame in &self.layout.frames {
            let depth = if frame.depth % 2 == 0 { "frame" } else { "frame inner" };
            rect(out, depth, frame.rect, 8.0);
            text(out, "place", frame.rect.x + 8.0, frame.rect.y + 15.0, &frame.title);
            out.push('\n');
        }
        for column in &self.layout.columns {
            let Rect { x, y, width, .. } = column.rect;
            text(out, "thread", x + width / 2.0, y + 14.0, &column.title);
            let (x, y) = (x + width / 2.0, y + 20.0);
            let line = format!("M{} {}V{}", short(x), short(y), short(column.rect.bottom() - 4.0));
            xml::empty(out, "path", &[("class", "lane"), ("d", &line)]);
            out.push('\n');
        }
    }

    fn events(&self, out: &mut String) {
        for event in self.graph.events.node_indices() {
            let Some(place) = self.layout.events[event.index()] else { continue };
            let of = &self.graph.events[event];
            let kind = match of.kind {
                "R" => "read",
                "W" => "write",
                "init" => "initial",
                _ => "fence",
            };
            let dim = if of.letter.is_none() { " dim" } else { "" };
            xml::open(out, "g", &[("class", &format!("event {kind}{dim}"))]);
            let thread = of.thread.map_or("initial write", |thread| {
                self.graph.threads[usize::from(thread.0)].name.as_str()
            });
            let title = format!("{thread}: {} {}", of.headline(), of.instruction);
            xml::element(out, "title", &[], &title);
            rect(out, "box", place, 5.0);
            let middle = place.centre().x;
            text(out, "effect", middle, place.y + 16.0, &of.headline());
            for (line, words) in broken(&of.instruction).into_iter().enumerate() {
                text(out, "instruction", middle, place.y + 32.0 + real(line) * LINE, words);
            }
            xml::close(out, "g");
            out.push('\n');
        }
    }

    fn edges(&self, out: &mut String) {
        for (line, route) in self.lines.iter().zip(&self.routes) {
            let support = if line.supports { " support" } else { "" };
            let relation = match line.labels.first().map(String::as_str) {
                Some("rf") => " rf",
                Some("co") => " co",
                Some("fr") => " fr",
                _ => "",
            };
            let class = format!("edge {}{support}{relation}", class(line.role));
            // Links lead to each edge that the line stands for.
            let mut nested = 0;
            for edge in &line.of {
                let id = edge_id(self.prefix, *edge);
                let class = if nested == 0 { &*class } else { "" };
                xml::open(out, "g", &[("id", &id), ("class", class)]);
                nested += 1;
            }
            let titles: Vec<String> =
                line.of.iter().map(|edge| self.graph.edge_text(*edge)).collect();
            xml::element(out, "title", &[], &titles.join("\n"));
            xml::empty(out, "path", &[("class", "line"), ("d", &route.curve.path())]);
            if line.shape != ArrowShape::Tie {
                xml::empty(out, "path", &[("class", "tip"), ("d", &tip(route, false))]);
            }
            if line.shape == ArrowShape::Both {
                xml::empty(out, "path", &[("class", "tip"), ("d", &tip(route, true))]);
            }
            for _ in 0..nested {
                xml::close(out, "g");
            }
            out.push('\n');
        }
    }

    fn labels(&self, out: &mut String) {
        for (line, route) in self.lines.iter().zip(&self.routes) {
            let Some(place) = route.label else { continue };
            let class = format!("label {}", class(line.role));
            xml::open(out, "g", &[("class", &class)]);
            rect(out, "plate", place, 4.0);
            let words = label_text(&line.labels);
            text(out, "", place.centre().x, place.y + 12.0, &words);
            xml::close(out, "g");
            out.push('\n');
        }
    }

    fn legend(&self) -> String {
        let mut out = String::new();
        let mut x = 14.0;
        let y = self.height + 14.0;
        let present = |role: EdgeRole| self.lines.iter().any(|line| line.role == role);
        for (role, words) in [
            (EdgeRole::Derivation, "required order"),
            (EdgeRole::Refuting, "contradicts it"),
            (EdgeRole::Unsynchronized, "rf that does not synchronize"),
            (EdgeRole::Race, "data race"),
            (EdgeRole::Execution, "of the execution"),
        ] {
            if !present(role) {
                continue;
            }
            let width = 44.0 + characters(words) * 6.6;
            if x + width > self.width {
                break;
            }
            xml::open(&mut out, "g", &[("class", &format!("edge {}", class(role)))]);
            let line = format!("M{} {}h26", short(x), short(y));
            xml::empty(&mut out, "path", &[("class", "line"), ("d", &line)]);
            xml::close(&mut out, "g");
            text(&mut out, "key", x + 32.0, y + 4.0, words);
            x += width + 8.0;
        }
        out.push('\n');
        out
    }

    /// Writes the reasons and side conditions below the picture.
    fn notes(&mut self) {
        let mut y = self.height + 44.0;
        let room = ((self.width - 20.0) / 6.7).max(40.0);
        for line in notes(self.graph).iter().flat_map(|note| wrapped(note, NOTE.min(whole(room)))) {
            text(&mut self.below, "note", 10.0, y, &line);
            self.below.push('\n');
            y += 17.0;
        }
    }

    fn notes_height(&self) -> f64 {
        real(self.below.lines().count()) * 17.0 + if self.below.is_empty() { 0.0 } else { 10.0 }
    }
}

fn whole(value: f64) -> usize {
    let text = format!("{:.0}", value.floor().max(0.0));
    text.parse().unwrap_or(NOTE)
}

/// The head of an arrow at an end of a curve.
fn tip(route: &Routed, at_start: bool) -> String {
    let points = route.curve.points(24);
    let (end, before) = if at_start {
        (points[0], points[2.min(points.len() - 1)])
    } else {
        (points[points.len() - 1], points[points.len().saturating_sub(3)])
    };
    let (dx, dy) = (end.x - before.x, end.y - before.y);
    let length = dx.hypot(dy).max(0.01);
    let (dx, dy) = (dx / length, dy / length);
    let back = at(end.x - 9.0 * dx, end.y - 9.0 * dy);
    let (left, right) =
        (at(back.x - 4.0 * dy, back.y + 4.0 * dx), at(back.x + 4.0 * dy, back.y - 4.0 * dx));
    let one = |point: crate::geometry::Point| format!("{} {}", short(point.x), short(point.y));
    format!("M{}L{}L{}Z", one(end), one(left), one(right))
}

fn rect(out: &mut String, class: &str, place: Rect, radius: f64) {
    let Rect { x, y, width, height } = place;
    let [x, y, width, height, radius] = [x, y, width, height, radius].map(short);
    let all = [
        ("class", class),
        ("x", &x),
        ("y", &y),
        ("width", &width),
        ("height", &height),
        ("rx", &radius),
    ];
    xml::empty(out, "rect", &all);
}

pub(crate) fn text(out: &mut String, class: &str, x: f64, y: f64, words: &str) {
    let (x, y) = (short(x), short(y));
    xml::element(out, "text", &[("class", class), ("x", &x), ("y", &y)], words);
}

/// What the picture shows, in words.
pub fn description(graph: &ExecutionGraph) -> String {
    let mut text = format!("{}. ", graph.caption);
    for thread in 0..graph.threads.len() {
        let of = &graph.threads[thread];
        let events: Vec<String> = graph
            .of_thread(thread)
            .map(|event| {
                let event = &graph.events[event];
                format!("{}, `{}`", event.headline(), event.instruction)
            })
            .collect();
        let _ = write!(text, "{} at {}: {}. ", of.name, of.placement, events.join("; "));
    }
    for line in steps(graph) {
        let _ = write!(text, "{line}. ");
    }
    text.trim_end().to_owned()
}

/// The edges with a reason or a side condition, a sentence each.
pub fn notes(graph: &ExecutionGraph) -> Vec<String> {
    let edges = graph.events.edge_indices();
    let says = |edge: &EdgeIndex| !graph.events[*edge].notes.is_empty();
    once(edges.filter(says).map(|edge| graph.edge_text(edge)))
}

/// Two axioms may be broken by the same edge.
fn once(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

/// The edges that the verdict rests on, a sentence each.
fn steps(graph: &ExecutionGraph) -> Vec<String> {
    let edges = graph.events.edge_indices();
    let counts = |edge: &EdgeIndex| graph.events[*edge].role != EdgeRole::Execution;
    once(edges.filter(counts).map(|edge| graph.edge_text(edge)))
}

/// Lines of at most this many characters.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > most {
            lines.push(format!("  {word}"));
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}
