//! Where the events are: threads as columns in program order, inside boxes of CTA, cluster and GPU.
//!
//! An event is below the events that are before it in program order, and below those that the edges of the picture lead
//! from, where that has no cycle. So the edges of an order point down, and what contradicts it points up.

use std::collections::BTreeMap;

use model::scope::Placement;
use petgraph::algo::has_path_connecting;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::drawn::{ArrowShape, DrawnEdge, is_drawn};
use crate::geometry::{Rect, characters, real};
use crate::graph::{EdgeRole, ExecutionGraph, GraphThread};

/// The width of a character of the events, of the labels of edges, and the heights of lines.
pub(crate) const CHARACTER: f64 = 7.3;
pub(crate) const SMALL: f64 = 6.7;
const EVENT_HEIGHT: f64 = 40.0;
/// Of each further line of an instruction.
pub(crate) const LINE: f64 = 16.0;
/// The most characters of a line of an instruction.
const LONGEST: usize = 48;
const ROW: f64 = 76.0;
/// Of an atomic, the write directly below its read.
const TIED: f64 = 44.0;
const PAD: f64 = 12.0;
const TITLE: f64 = 20.0;
/// The least distance of two columns.
const GUTTER: f64 = 84.0;
const INITIAL_ROW: f64 = 64.0;

/// A GPU, cluster or CTA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedBox {
    pub(crate) title: String,
    pub(crate) inside: Vec<PlacedBox>,
    /// Of a CTA: its threads.
    pub(crate) threads: Vec<usize>,
}

/// The boxes of the threads, in the order in which threads name them.
pub(crate) fn nested(threads: &[GraphThread]) -> Vec<PlacedBox> {
    let all: Vec<usize> = (0..threads.len()).collect();
    let place = |thread: usize| threads[thread].placement;
    split(&all, |a, b| place(a).gpu == place(b).gpu)
        .into_iter()
        .map(|of_gpu| {
            let ctas = |of: &[usize]| {
                let parts = split(of, |a, b| place(a).same_cta(place(b)));
                let cta = |threads: Vec<usize>| PlacedBox {
                    title: format!("CTA {}", place(threads[0]).cta),
                    inside: Vec::new(),
                    threads,
                };
                parts.into_iter().map(cta).collect::<Vec<PlacedBox>>()
            };
            let title = format!("GPU {}", place(of_gpu[0]).gpu);
            let mut inside = Vec::new();
            for of in split(&of_gpu, |a, b| place(a).same_cluster(place(b))) {
                match place(of[0]).cluster {
                    None => inside.extend(ctas(&of)),
                    Some(cluster) => inside.push(PlacedBox {
                        title: format!("cluster {cluster}"),
                        inside: ctas(&of),
                        threads: Vec::new(),
                    }),
                }
            }
            PlacedBox { title, inside, threads: Vec::new() }
        })
        .collect()
}

/// Groups in the order of their first members.
fn split(all: &[usize], same: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &one in all {
        match groups.iter_mut().find(|group| same(group[0], one)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// A box with its title.
#[derive(Clone, Debug)]
pub(crate) struct TitledBox {
    pub(crate) rect: Rect,
    pub(crate) title: String,
    /// 0 for a GPU; more inside.
    pub(crate) depth: usize,
}

/// A column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    /// The events lie inside this rectangle.
    pub(crate) rect: Rect,
    pub(crate) title: String,
    /// From left to right.
    pub(crate) position: usize,
}

/// Where everything is but the edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct PictureLayout {
    /// Indexed by event; `None` for events that are not drawn.
    pub(crate) events: Vec<Option<Rect>>,
    pub(crate) frames: Vec<TitledBox>,
    /// Indexed by thread.
    pub(crate) columns: Vec<Column>,
    /// The vertical middle of each gap between rows of events, the first one above the first row.
    pub(crate) gaps: Vec<f64>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl PictureLayout {
    pub(crate) fn new(graph: &ExecutionGraph, lines: &[DrawnEdge]) -> PictureLayout {
        let mut layout = PictureLayout {
            events: vec![None; graph.events.node_count()],
            ..PictureLayout::default()
        };
        let labels = lines.iter().filter(|line| crosses(graph, line));
        let widest = labels.map(|line| label_width(&line.labels)).fold(0.0, f64::max);
        let gutter = GUTTER.max(widest + 44.0).max(60.0 + 16.0 * real(busiest(graph, lines)));
        let boxes = nested(&graph.threads);
        let depth = depth(&boxes);
        let initial: Vec<NodeIndex> = graph
            .events
            .node_indices()
            .filter(|&event| graph.events[event].thread.is_none() && is_drawn(graph, event))
            .collect();
        let above = if initial.is_empty() { 0.0 } else { INITIAL_ROW };
        layout.columns = vec![Column::default(); graph.threads.len()];
        let headers = above + PAD / 2.0 + TITLE.mul_add(depth + 1.0, 8.0);
        let bottom = layout.rows(graph, lines, headers);
        let side = lines.iter().filter(|line| !crosses(graph, line));
        let margin = side.map(|line| label_width(&line.labels)).fold(0.0, f64::max);
        let mut x = 8.0;
        for (index, one) in boxes.iter().enumerate() {
            x += if index == 0 { 0.0 } else { gutter / 2.0 };
            let area =
                Area { top: above + 4.0, bottom: bottom + PAD * (depth + 0.5), gutter, margin };
            x = layout.place(graph, one, x, 0, area);
        }
        // Outer boxes are drawn first.
        layout.frames.sort_by_key(|frame| frame.depth);
        layout.width = x + 8.0;
        layout.height = PAD.mul_add(depth + 0.5, bottom) + 8.0;
        layout.place_initial(graph, lines, &initial);
        layout
    }

    /// Gives each event of a thread its vertical position. Returns where the last row ends.
    fn rows(&mut self, graph: &ExecutionGraph, lines: &[DrawnEdge], top: f64) -> f64 {
        let rows = ranks(graph, lines);
        let count = rows.iter().map(|&row| row + 1).max().unwrap_or(0);
        // A row in which every event is the second part of an atomic is close to the row above.
        let tied = |event: NodeIndex| {
            lines.iter().any(|line| line.shape == ArrowShape::Tie && line.to == event)
        };
        let (mut y, mut height) = (top, EVENT_HEIGHT);
        for row in 0..count {
            let here = |event: &NodeIndex| {
                rows[event.index()] == row && graph.events[*event].thread.is_some()
            };
            let mut close = true;
            let mut any = false;
            for event in graph.events.node_indices().filter(here) {
                any = true;
                close &= tied(event);
            }
            if row > 0 {
                y += height + if any && close { TIED } else { ROW } - EVENT_HEIGHT;
            }
            self.gaps.push(if row == 0 { y - 12.0 } else { y - (ROW - EVENT_HEIGHT) / 2.0 });
            height = EVENT_HEIGHT;
            for event in graph.events.node_indices().filter(here) {
                let own = event_height(graph, event);
                height = height.max(own);
                self.events[event.index()] = Some(Rect { x: 0.0, y, width: 0.0, height: own });
            }
        }
        let bottom = y + height;
        self.gaps.push(bottom + 10.0);
        bottom
    }

    /// Places a box and what is in it; returns its right end.
    fn place(
        &mut self,
        graph: &ExecutionGraph,
        one: &PlacedBox,
        left: f64,
        depth: usize,
        area: Area,
    ) -> f64 {
        let mut x = left + PAD;
        let inner = Area { top: area.top + TITLE, bottom: area.bottom - PAD, ..area };
        for (index, part) in one.inside.iter().enumerate() {
            x += if index == 0 { 0.0 } else { area.gutter / 2.0 };
            x = self.place(graph, part, x, depth + 1, inner);
        }
        for (index, &thread) in one.threads.iter().enumerate() {
            x += if index == 0 { 0.0 } else { area.gutter };
            x += area.margin / 4.0;
            let title = column_title(&graph.threads[thread]);
            let texts = graph.of_thread(thread).map(|event| event_width(graph, event));
            let width = texts.fold(characters(&title) * CHARACTER, f64::max).max(70.0);
            for event in graph.of_thread(thread) {
                if let Some(rect) = &mut self.events[event.index()] {
                    (rect.x, rect.width) = (x, width);
                }
            }
            let rect = Rect { x, y: inner.top, width, height: inner.bottom - inner.top };
            let position = self.columns.iter().filter(|column| column.rect.width > 0.0).count();
            self.columns[thread] = Column { rect, title, position };
            x += width + area.margin / 4.0;
        }
        let right = x + PAD;
        let rect =
            Rect { x: left, y: area.top, width: right - left, height: area.bottom - area.top };
        self.frames.push(TitledBox { rect, title: one.title.clone(), depth });
        right
    }

    /// Places initial writes in the first row, each close to the left of the columns that it has edges to.
    fn place_initial(
        &mut self,
        graph: &ExecutionGraph,
        lines: &[DrawnEdge],
        initial: &[NodeIndex],
    ) {
        let wanted = |event: NodeIndex| {
            let targets = lines.iter().filter(|line| line.from == event);
            let lefts: Vec<f64> = targets
                .filter_map(|line| self.events[line.to.index()])
                .map(|rect| rect.x)
                .collect();
            if lefts.is_empty() {
                0.0
            } else {
                lefts.iter().sum::<f64>() / real(lefts.len()) - 24.0
            }
        };
        let mut all: Vec<(f64, NodeIndex)> =
            initial.iter().map(|&event| (wanted(event), event)).collect();
        all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut x = 8.0;
        for (middle, event) in all {
            let width = event_width(graph, event);
            x = f64::max(x, middle - width / 2.0);
            let rect = Rect { x, y: 6.0, width, height: EVENT_HEIGHT };
            self.events[event.index()] = Some(rect);
            x += width + 16.0;
        }
        self.width = self.width.max(x);
    }
}

/// What the boxes of one level have in common.
#[derive(Clone, Copy)]
struct Area {
    top: f64,
    bottom: f64,
    gutter: f64,
    margin: f64,
}

fn depth(boxes: &[PlacedBox]) -> f64 {
    boxes.iter().map(|one| 1.0 + depth(&one.inside)).fold(0.0, f64::max)
}

fn crosses(graph: &ExecutionGraph, line: &DrawnEdge) -> bool {
    graph.events[line.from].thread != graph.events[line.to].thread
}

/// How many lines the two threads with the most lines between them have.
fn busiest(graph: &ExecutionGraph, lines: &[DrawnEdge]) -> usize {
    let mut counts: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for line in lines {
        let [from, to] = [line.from, line.to].map(|event| graph.events[event].thread);
        if let (Some(from), Some(to)) = (from, to)
            && from != to
        {
            let mut pair = [usize::from(from.0), usize::from(to.0)];
            pair.sort_unstable();
            *counts.entry(pair).or_default() += 1;
        }
    }
    counts.into_values().max().unwrap_or(0)
}

fn event_width(graph: &ExecutionGraph, event: NodeIndex) -> f64 {
    let of = &graph.events[event];
    let lines = broken(&of.instruction);
    let longest = lines.into_iter().map(characters).fold(characters(&of.headline()), f64::max);
    longest * CHARACTER + 16.0
}

fn event_height(graph: &ExecutionGraph, event: NodeIndex) -> f64 {
    let lines = broken(&graph.events[event].instruction).len();
    EVENT_HEIGHT + real(lines.saturating_sub(1)) * LINE
}

/// The lines of an instruction that is too long for one: they end after a space or before a part of the opcode.
pub(crate) fn broken(instruction: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = instruction;
    while let Some((most, _)) = rest.char_indices().nth(LONGEST) {
        // The operands together, if the opcode is short enough.
        let space = if lines.is_empty() { rest[..most].find(' ') } else { rest[..most].rfind(' ') };
        let space = space.map(|at| at + 1);
        let dot = rest[..most].rfind('.').filter(|at| *at > 0);
        let Some(end) = space.or(dot) else { break };
        lines.push(rest[..end].trim_end());
        rest = &rest[end..];
    }
    lines.push(rest);
    lines
}

pub(crate) fn label_width(labels: &[String]) -> f64 {
    characters(&label_text(labels)) * SMALL
}

pub(crate) fn label_text(labels: &[String]) -> String {
    labels.join(" · ")
}

fn column_title(thread: &GraphThread) -> String {
    let Placement { warp, .. } = thread.placement;
    let warp = warp.map_or(String::new(), |warp| format!(", warp {warp}"));
    format!("{}{warp}", thread.name)
}

/// The row of each event.
fn ranks(graph: &ExecutionGraph, lines: &[DrawnEdge]) -> Vec<usize> {
    let mut order: DiGraph<(), ()> = DiGraph::new();
    for _ in graph.events.node_indices() {
        order.add_node(());
    }
    let all = (0..graph.threads.len()).flat_map(|thread| {
        let events: Vec<NodeIndex> = graph.of_thread(thread).collect();
        events.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
    });
    for (from, to) in all {
        order.add_edge(from, to, ());
    }
    let downwards = |line: &&DrawnEdge| {
        let relations = &line.labels;
        line.role != EdgeRole::Refuting
            && line.role != EdgeRole::Race
            && graph.events[line.from].thread.is_some()
            && (line.role != EdgeRole::Execution
                || relations
                    .iter()
                    .any(|name| ["rf", "barrier", "phase", "fence-sc"].contains(&&**name)))
    };
    for line in lines.iter().filter(downwards) {
        if !has_path_connecting(&order, line.to, line.from, None) {
            order.add_edge(line.from, line.to, ());
        }
    }
    let mut rows = vec![0; graph.events.node_count()];
    for event in petgraph::algo::toposort(&order, None).unwrap_or_default() {
        let before = order.neighbors_directed(event, petgraph::Direction::Incoming);
        rows[event.index()] = before.map(|other| rows[other.index()] + 1).max().unwrap_or(0);
    }
    rows
}
