//! Points, rectangles and curves, in pixels; `y` grows downwards.

use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Point {
    /// The distance, by operations that IEEE 754 fixes: routes are chosen by it, and `hypot` differs among platforms in its last bit.
    pub(crate) fn distance(self, to: Point) -> f64 {
        let (dx, dy) = (self.x - to.x, self.y - to.y);
        (dx * dx + dy * dy).sqrt()
    }
}

pub(crate) fn at(x: f64, y: f64) -> Point {
    Point { x, y }
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub(crate) fn centre(self) -> Point {
        at(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    pub(crate) fn around(centre: Point, width: f64, height: f64) -> Rect {
        Rect { x: centre.x - width / 2.0, y: centre.y - height / 2.0, width, height }
    }

    pub(crate) fn grown(self, by: f64) -> Rect {
        let (width, height) = (self.width + 2.0 * by, self.height + 2.0 * by);
        Rect { x: self.x - by, y: self.y - by, width, height }
    }

    pub(crate) fn has(self, point: Point) -> bool {
        (self.x..=self.right()).contains(&point.x) && (self.y..=self.bottom()).contains(&point.y)
    }

    pub(crate) fn meets(self, other: Rect) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }
}

/// Cubic Bézier segments, each from the end of the one before.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Curve {
    pub(crate) start: Point,
    /// Two control points and the end of each segment.
    pub(crate) segments: Vec<[Point; 3]>,
}

impl Curve {
    pub(crate) fn from(start: Point) -> Curve {
        Curve { start, segments: Vec::new() }
    }

    fn end(&self) -> Point {
        self.segments.last().map_or(self.start, |segment| segment[2])
    }

    pub(crate) fn straight(mut self, to: Point) -> Curve {
        let from = self.end();
        let part = |t: f64| at(from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t);
        self.segments.push([part(1.0 / 3.0), part(2.0 / 3.0), to]);
        self
    }

    /// A segment that leaves and arrives horizontally; `pull` is how far its controls lie from its ends, as a part of the
    /// horizontal distance.
    pub(crate) fn sideways(mut self, to: Point, pull: f64) -> Curve {
        let from = self.end();
        let reach = (to.x - from.x) * pull;
        self.segments.push([at(from.x + reach, from.y), at(to.x - reach, to.y), to]);
        self
    }

    pub(crate) fn bent(mut self, first: Point, second: Point, to: Point) -> Curve {
        self.segments.push([first, second, to]);
        self
    }

    /// Points at even distances in the parameter, ends included: `each` of them for each segment.
    pub(crate) fn points(&self, each: u32) -> Vec<Point> {
        let mut points = vec![self.start];
        let mut from = self.start;
        for [first, second, to] in &self.segments {
            for step in 1..=each {
                let t = f64::from(step) / f64::from(each);
                let s = 1.0 - t;
                let mix = |a: f64, b: f64, c: f64, d: f64| {
                    s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
                };
                points.push(at(
                    mix(from.x, first.x, second.x, to.x),
                    mix(from.y, first.y, second.y, to.y),
                ));
            }
            from = *to;
        }
        points
    }

    /// The value of the attribute `d` of a path.
    pub(crate) fn path(&self) -> String {
        let mut path = format!("M{} {}", short(self.start.x), short(self.start.y));
        for segment in &self.segments {
            path.push('C');
            for (index, point) in segment.iter().enumerate() {
                let gap = if index == 0 { "" } else { " " };
                let _ = write!(path, "{gap}{} {}", short(point.x), short(point.y));
            }
        }
        path
    }
}

/// A coordinate with one decimal at most.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").map_or(text.clone(), str::to_owned);
    if text == "-0" { "0".to_owned() } else { text }
}

pub(crate) fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

pub(crate) fn characters(text: &str) -> f64 {
    real(text.chars().count())
}
