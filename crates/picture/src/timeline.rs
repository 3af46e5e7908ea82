//! A run of the machine as a timeline: a lane for each thread and each place of memory, and time downwards.

use std::fmt::Write;

use crate::geometry::{characters, real, short};
use crate::svg;
use crate::xml;

const LANE: f64 = 104.0;
const STEP: f64 = 26.0;
const HEAD: f64 = 40.0;

/// A run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Timeline {
    /// What the run ends with.
    pub caption: String,
    /// From left to right.
    pub lanes: Vec<String>,
    pub steps: Vec<TimelineStep>,
}

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimelineStep {
    pub text: String,
    /// Indices of lanes: those that an access or a value passes, in order, or the one where something happens.
    pub path: Vec<usize>,
}

/// A part of a page that has [`svg::STYLE`]. Ids begin with `prefix`, which is unique in the page.
pub fn fragment(timeline: &Timeline, prefix: &str) -> String {
    let longest = timeline.steps.iter().map(|step| characters(&step.text)).fold(20.0, f64::max);
    let words = LANE * real(timeline.lanes.len()) + 12.0;
    let (width, height) =
        (words + 40.0 + longest * 6.8, HEAD + STEP * real(timeline.steps.len()) + 12.0);
    let mut out = svg::root(width, height, prefix, false);
    let id = format!("{prefix}-title");
    xml::element(&mut out, "title", &[("id", &id)], &format!("Run: {}", timeline.caption));
    let steps = timeline.steps.iter().enumerate();
    let told: Vec<String> =
        steps.map(|(index, step)| format!("{}. {}", index + 1, step.text)).collect();
    let id = format!("{prefix}-desc");
    xml::element(&mut out, "desc", &[("id", &id)], &told.join("; "));
    out.push('\n');
    let middle = |lane: usize| LANE * (real(lane) + 0.5);
    for (lane, name) in timeline.lanes.iter().enumerate() {
        svg::text(&mut out, "thread", middle(lane), 18.0, name);
        let line = format!("M{} 26V{}", short(middle(lane)), short(height - 6.0));
        xml::empty(&mut out, "path", &[("class", "lane"), ("d", &line)]);
        out.push('\n');
    }
    for (index, step) in timeline.steps.iter().enumerate() {
        let y = HEAD + STEP * real(index) + 8.0;
        xml::open(&mut out, "g", &[("class", "edge derivation support")]);
        xml::element(&mut out, "title", &[], &told[index]);
        for pair in step.path.windows(2) {
            let (from, to) = (middle(pair[0]), middle(pair[1]));
            let line = format!("M{} {}H{}", short(from), short(y), short(to));
            xml::empty(&mut out, "path", &[("class", "line"), ("d", &line)]);
            let back = if from < to { to - 9.0 } else { to + 9.0 };
            let mut tip = format!("M{} {}L{} {}", short(to), short(y), short(back), short(y - 4.0));
            let _ = write!(tip, "L{} {}Z", short(back), short(y + 4.0));
            xml::empty(&mut out, "path", &[("class", "tip"), ("d", &tip)]);
        }
        if let Some(first) = step.path.first() {
            let (x, y) = (short(middle(*first)), short(y));
            xml::empty(&mut out, "circle", &[("class", "tip"), ("cx", &x), ("cy", &y), ("r", "4")]);
        }
        xml::close(&mut out, "g");
        svg::text(&mut out, "step", words, y + 4.0, &told[index]);
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}
