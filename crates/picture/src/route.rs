//! Where the edges and their labels are.
//!
//! Each edge has a list of possible curves, and each curve a list of places for its label. A curve costs for what it
//! runs over: events most, labels and other curves less. Edges are routed one after another, and then again, given the
//! others.

use petgraph::graph::NodeIndex;

use crate::drawn::{ArrowShape, DrawnEdge};
use crate::geometry::{Curve, Point, Rect, at, real};
use crate::graph::{EdgeRole, ExecutionGraph};
use crate::layout::{PictureLayout, label_width};

const LABEL_HEIGHT: f64 = 16.0;
/// Points looked at on each segment.
const POINTS: u32 = 16;
/// How often all edges are routed.
const PASSES: usize = 3;

/// A curve with its label.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routed {
    pub(crate) curve: Curve,
    /// Nothing for an edge without a label.
    pub(crate) label: Option<Rect>,
    points: Vec<Point>,
    bounds: Rect,
}

/// Routes the lines; the result has their order.
pub(crate) fn route(
    graph: &ExecutionGraph,
    layout: &PictureLayout,
    lines: &[DrawnEdge],
) -> Vec<Routed> {
    let obstacles = Obstacles::new(layout);
    let mut routed: Vec<Option<Routed>> = vec![None; lines.len()];
    // Short ones first: they have the fewest choices.
    let mut order: Vec<usize> = (0..lines.len()).collect();
    let length = |index: &usize| {
        let line = &lines[*index];
        let ends =
            [line.from, line.to].map(|event| layout.events[event.index()].unwrap_or_default());
        let [from, to] = ends.map(Rect::centre);
        from.distance(to)
    };
    order.sort_by(|a, b| length(a).total_cmp(&length(b)));
    for pass in 0..PASSES {
        for &index in &order {
            let line = &lines[index];
            let curves = curves(graph, layout, line);
            // The only one is already there.
            if pass > 0 && curves.len() == 1 && line.labels.is_empty() {
                continue;
            }
            routed[index] = None;
            let best = curves
                .into_iter()
                .map(|(curve, bias)| place(curve, bias, line, &obstacles, &routed))
                .min_by(|(a, _), (b, _)| a.total_cmp(b));
            routed[index] = best.map(|(_, one)| one);
        }
    }
    routed.into_iter().map(Option::unwrap_or_default).collect()
}

/// What lines should not run over.
struct Obstacles {
    events: Vec<(usize, Rect)>,
    titles: Vec<Rect>,
}

impl Obstacles {
    fn new(layout: &PictureLayout) -> Obstacles {
        let events = layout.events.iter().enumerate();
        let events = events.filter_map(|(index, rect)| Some((index, (*rect)?))).collect();
        let top = |rect: Rect, title: &str| Rect {
            width: 16.0 + crate::geometry::characters(title) * 7.0,
            height: 18.0,
            ..rect
        };
        let titles = layout.frames.iter().map(|frame| top(frame.rect, &frame.title));
        let columns = layout.columns.iter().map(|column| top(column.rect, &column.title));
        Obstacles { events, titles: titles.chain(columns).collect() }
    }
}

/// The cost of a curve with the best place for its label.
fn place(
    curve: Curve,
    bias: f64,
    line: &DrawnEdge,
    obstacles: &Obstacles,
    routed: &[Option<Routed>],
) -> (f64, Routed) {
    let points = curve.points(POINTS);
    let bounds = bounds(&points);
    let mut cost = bias + 0.04 * length(&points);
    let ends = [line.from.index(), line.to.index()];
    for &(event, rect) in &obstacles.events {
        let margin = if ends.contains(&event) { -3.0 } else { 5.0 };
        let over = points.iter().filter(|point| rect.grown(margin).has(**point)).count();
        cost += 30.0 * real(over);
    }
    for title in &obstacles.titles {
        cost += 6.0 * real(points.iter().filter(|point| title.has(**point)).count());
    }
    for other in routed.iter().flatten() {
        if let Some(label) = other.label {
            let over = points.iter().filter(|point| label.grown(2.0).has(**point)).count();
            cost += 14.0 * real(over);
        }
        if bounds.grown(8.0).meets(other.bounds) {
            cost += 4.0 * real(close(&points, &other.points));
        }
    }
    if line.labels.is_empty() {
        return (cost, Routed { curve, label: None, points, bounds });
    }
    let width = label_width(&line.labels) + 8.0;
    let last = points.len() - 1;
    let mut best: Option<(f64, Rect)> = None;
    for twentieth in [10, 9, 11, 8, 12, 7, 13, 6, 14, 5, 15, 4, 16, 3, 17] {
        let rect = Rect::around(points[last * twentieth / 20], width, LABEL_HEIGHT);
        let mut here = (real(twentieth) - 10.0).abs() * 1.5;
        if rect.x < 2.0 || rect.y < 0.0 {
            here += 200.0;
        }
        for (_, event) in &obstacles.events {
            here += if event.grown(2.0).meets(rect) { 60.0 } else { 0.0 };
        }
        for title in &obstacles.titles {
            here += if title.meets(rect) { 50.0 } else { 0.0 };
        }
        for other in routed.iter().flatten() {
            if other.label.is_some_and(|label| label.grown(2.0).meets(rect)) {
                here += 120.0;
            }
            if other.bounds.grown(2.0).meets(rect) {
                let over = other.points.iter().filter(|point| rect.has(**point)).count();
                here += 10.0 * real(over);
            }
        }
        if best.is_none_or(|(known, _)| here < known) {
            best = Some((here, rect));
        }
    }
    let (here, rect) = best.unwrap_or_default();
    (cost + here, Routed { curve, label: Some(rect), points, bounds })
}

fn bounds(points: &[Point]) -> Rect {
    let (mut low, mut high) = (points[0], points[0]);
    for point in points {
        low = at(low.x.min(point.x), low.y.min(point.y));
        high = at(high.x.max(point.x), high.y.max(point.y));
    }
    Rect { x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y }
}

fn length(points: &[Point]) -> f64 {
    points.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
}

/// How many points of the first are close to one of the second.
fn close(points: &[Point], others: &[Point]) -> usize {
    let near = |point: &&Point| {
        others
            .iter()
            .any(|other| (point.x - other.x).abs() < 7.0 && (point.y - other.y).abs() < 7.0)
    };
    points.iter().filter(near).count()
}

/// The possible curves of a line, each with what speaks against it.
fn curves(graph: &ExecutionGraph, layout: &PictureLayout, line: &DrawnEdge) -> Vec<(Curve, f64)> {
    let rect = |event: NodeIndex| layout.events[event.index()].unwrap_or_default();
    let (from, to) = (rect(line.from), rect(line.to));
    let thread = |event: NodeIndex| graph.events[event].thread.map(|of| usize::from(of.0));
    match (thread(line.from), thread(line.to)) {
        (Some(here), Some(there)) if here == there => within(graph, layout, line, from, to),
        (Some(here), Some(there)) => {
            let positions = [here, there].map(|thread| layout.columns[thread].position);
            across(layout, from, to, positions, line.role)
        }
        _ => initial(from, to),
    }
}

/// From or to an initial write: from its lower side to the upper side or to a side of the event.
fn initial(from: Rect, to: Rect) -> Vec<(Curve, f64)> {
    let start = at(from.centre().x, from.bottom());
    let mut all = Vec::new();
    for (end, out) in [
        (at(to.centre().x, to.y), at(to.centre().x, to.y - 50.0)),
        (at(to.centre().x - 24.0, to.y), at(to.centre().x - 24.0, to.y - 50.0)),
        (at(to.x, to.centre().y), at(to.x - 60.0, to.centre().y)),
        (at(to.x, to.centre().y), at(to.x - 40.0, to.centre().y - 30.0)),
        (at(to.right(), to.centre().y), at(to.right() + 60.0, to.centre().y)),
        (at(to.right(), to.centre().y), at(to.right() + 40.0, to.centre().y - 30.0)),
    ] {
        for sink in [30.0, 80.0, 140.0] {
            all.push((Curve::from(start).bent(at(start.x, start.y + sink), out, end), 12.0));
        }
    }
    // Beside the column of the event.
    for distance in [14.0, 24.0, 34.0, 44.0] {
        for (side, sign) in [(to.x, -1.0), (to.right(), 1.0)] {
            let x = side + sign * distance;
            let turn = at(x, start.y + 60.0);
            let down = at(x, (to.centre().y - 28.0).max(turn.y));
            let curve = Curve::from(start)
                .bent(at(start.x, start.y + 36.0), at(x, turn.y - 36.0), turn)
                .straight(down)
                .bent(at(x, to.centre().y - 6.0), at(x, to.centre().y), at(side, to.centre().y));
            all.push((curve, distance / 8.0));
        }
    }
    all
}

/// Between events of one thread: straight down where nothing is between them, and else on a side of the column.
fn within(
    graph: &ExecutionGraph,
    layout: &PictureLayout,
    line: &DrawnEdge,
    from: Rect,
    to: Rect,
) -> Vec<(Curve, f64)> {
    let thread = graph.events[line.from].thread.map_or(0, |of| usize::from(of.0));
    let between = graph.of_thread(thread).filter(|event| {
        let rect = layout.events[event.index()].unwrap_or_default();
        from.y < rect.y && rect.y < to.y
    });
    let mut all = Vec::new();
    if from.y < to.y && between.count() == 0 {
        let x = from.centre().x;
        let offsets: &[f64] =
            if line.role == EdgeRole::Execution { &[0.0] } else { &[0.0, -20.0, 20.0] };
        for offset in offsets {
            let (start, end) = (at(x + offset, from.bottom()), at(x + offset, to.y));
            all.push((Curve::from(start).straight(end), offset.abs() / 4.0));
        }
        if line.shape == ArrowShape::Tie || line.labels.is_empty() {
            all.truncate(1);
            return all;
        }
    }
    for bulge in [24.0, 36.0, 48.0, 64.0] {
        for (side, sign) in [(from.right(), 1.0), (from.x, -1.0)] {
            for shift in [0.0, 9.0] {
                let start = at(side, from.centre().y + shift);
                let end = at(side, to.centre().y - shift);
                let (first, second) =
                    (at(side + sign * bulge * 1.4, start.y), at(side + sign * bulge * 1.4, end.y));
                all.push((Curve::from(start).bent(first, second, end), 6.0));
            }
        }
    }
    all
}

/// Between columns: directly, or through a gap between rows.
fn across(
    layout: &PictureLayout,
    from: Rect,
    to: Rect,
    [here, there]: [usize; 2],
    role: EdgeRole,
) -> Vec<(Curve, f64)> {
    let right = here < there;
    let side = |rect: Rect, right: bool| if right { rect.right() } else { rect.x };
    let (start, end) = (side(from, right), side(to, !right));
    let mut all = Vec::new();
    let shifts = [0.0, -10.0, 10.0];
    for first in shifts {
        for second in shifts {
            for pull in [0.5, 0.75, 0.3] {
                let curve = Curve::from(at(start, from.centre().y + first))
                    .sideways(at(end, to.centre().y + second), pull);
                let bias = (f64::abs(first) + f64::abs(second)) / 8.0;
                all.push((curve, bias));
            }
        }
    }
    let (low, high) = (here.min(there), here.max(there));
    let between = layout.columns.iter().filter(|c| low < c.position && c.position < high);
    let mut middle: Option<(f64, f64)> = None;
    for column in between {
        let (left, end) = middle.unwrap_or((column.rect.x, column.rect.right()));
        middle = Some((left.min(column.rect.x), end.max(column.rect.right())));
    }
    let Some((left, end_of_middle)) = middle else { return all };
    let (enter, leave) = if right { (left, end_of_middle) } else { (end_of_middle, left) };
    let against = if role == EdgeRole::Refuting { 0.0 } else { 4.0 };
    for gap in &layout.gaps {
        for track in [-9.0, 0.0, 9.0] {
            let y = gap + track;
            for shift in [0.0, -8.0, 8.0] {
                let curve = Curve::from(at(start, from.centre().y + shift))
                    .sideways(at(enter, y), 0.5)
                    .straight(at(leave, y))
                    .sideways(at(end, to.centre().y + shift), 0.5);
                all.push((curve, against + f64::abs(shift) / 8.0));
            }
        }
    }
    all
}
