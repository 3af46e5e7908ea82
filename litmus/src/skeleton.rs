//! Skeletons: programs without types, values, scopes and placements, as `st x; st.rel y | ld.acq y; ld x`.
//!
//! `|` separates threads and `;` operations. `ld`, `st` and `swap` are relaxed accesses of a location, or have an
//! order after a dot; `f` is a fence; `if` ends the thread unless its last read returned a value that some thread
//! wrote, and `unless` if it did. In a context of a judged piece of code, `R` stands for that code and `B` for its
//! barriers.

use std::fmt;

use model::isa::fence::FenceOrder;
use model::strength::AccessOrder;
use text::Diagnostic;
use text::report::{ByteSpan, Diagnostics};

/// A program without types, values, scopes and placements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skeleton<'a> {
    /// The operations of each thread, and where they are written.
    pub threads: Vec<Vec<(SkeletonOp<'a>, ByteSpan)>>,
}

/// An operation of a skeleton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SkeletonOp<'a> {
    Access {
        kind: SkeletonAccess,
        order: AccessOrder,
        location: &'a str,
    },
    Fence(FenceOrder),
    /// Ends the thread unless its last read returned a value that some thread wrote, or if it did.
    Guard {
        written: bool,
    },
    /// The code that is judged in a context.
    Judged,
    /// The barriers of that code.
    Barriers,
}

/// What an access of a skeleton does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SkeletonAccess {
    Load,
    Store,
    /// An exchange.
    Swap,
}

impl SkeletonAccess {
    pub fn reads(self) -> bool {
        self != SkeletonAccess::Store
    }

    pub fn writes(self) -> bool {
        self != SkeletonAccess::Load
    }
}

/// The orders of accesses, and the words for them. Without a word an access is relaxed.
const ORDERS: [(&str, AccessOrder); 7] = [
    ("", AccessOrder::Relaxed),
    ("na", AccessOrder::Weak),
    ("un", AccessOrder::Unordered),
    ("acq", AccessOrder::Acquire),
    ("rel", AccessOrder::Release),
    ("ar", AccessOrder::AcqRel),
    ("sc", AccessOrder::SeqCst),
];

const ACCESSES: [(&str, SkeletonAccess); 3] =
    [("ld", SkeletonAccess::Load), ("st", SkeletonAccess::Store), ("swap", SkeletonAccess::Swap)];

const FENCES: [(&str, FenceOrder); 4] = [
    ("f.acq", FenceOrder::Acquire),
    ("f.rel", FenceOrder::Release),
    ("f.ar", FenceOrder::AcqRel),
    ("f.sc", FenceOrder::Sc),
];

/// The operations without a location.
fn alone() -> impl Iterator<Item = (&'static str, SkeletonOp<'static>)> {
    let fences = FENCES.into_iter().map(|(word, order)| (word, SkeletonOp::Fence(order)));
    let others = [
        ("if", SkeletonOp::Guard { written: true }),
        ("unless", SkeletonOp::Guard { written: false }),
        ("R", SkeletonOp::Judged),
        ("B", SkeletonOp::Barriers),
    ];
    fences.chain(others)
}

/// Whether an access of this kind can have an order.
fn fits(kind: SkeletonAccess, order: AccessOrder) -> bool {
    match order {
        AccessOrder::Weak | AccessOrder::Unordered => kind != SkeletonAccess::Swap,
        AccessOrder::Relaxed | AccessOrder::SeqCst => true,
        AccessOrder::Acquire => kind.reads(),
        AccessOrder::Release => kind.writes(),
        AccessOrder::AcqRel => kind == SkeletonAccess::Swap,
    }
}

/// The name of the text of a skeleton in messages.
const PATH: &str = "skeleton";

/// Reads a skeleton, or reports everything that is wrong with it.
pub fn read(text: &str) -> Result<Skeleton<'_>, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    let mut threads = Vec::new();
    for thread in text.split('|') {
        let mut ops = Vec::new();
        for written in thread.split(';') {
            let at = ByteSpan::within(text, written).trimmed(text);
            if let Some(op) = op(at.of(text), at, &mut report) {
                ops.push((op, at));
            }
        }
        threads.push(ops);
    }
    if report.count() > 0 { Err(report.finish(PATH, text)) } else { Ok(Skeleton { threads }) }
}

/// Reports what is wrong with the operations of a skeleton for its use.
pub fn refuse(text: &str, wrong: &[(ByteSpan, &str, &str)]) -> Vec<Diagnostic> {
    let mut report = Diagnostics::default();
    for (at, message, help) in wrong {
        report.error("skeleton-use", *at, *message).help(*help);
    }
    report.finish(PATH, text)
}

fn op<'a>(text: &'a str, at: ByteSpan, report: &mut Diagnostics) -> Option<SkeletonOp<'a>> {
    let mut words = text.split_whitespace();
    let (Some(word), location, None) = (words.next(), words.next(), words.next()) else {
        let message = if text.is_empty() { "expected an operation" } else { "expected `;` or `|`" };
        report.error("skeleton-op", at, message).help("st x; st.rel y | ld.acq y; ld x");
        return None;
    };
    if let Some((_, op)) = alone().find(|(known, _)| *known == word) {
        if location.is_some() {
            report.error("skeleton-op", at, format!("`{word}` has no location")).help(word);
            return None;
        }
        return Some(op);
    }
    let (name, order) = word.split_once('.').unwrap_or((word, ""));
    let kind = ACCESSES.iter().find(|(known, _)| *known == name);
    let order = ORDERS.iter().find(|(known, _)| *known == order && !word.ends_with('.'));
    let (Some(&(_, kind)), Some(&(_, order))) = (kind, order) else {
        let near =
            report.nearest(word, known_words().iter().map(String::as_str)).map(str::to_owned);
        report.error("skeleton-op", at, format!("unknown operation `{word}`")).help(
            near.unwrap_or_else(|| {
                "ld, st, swap, and f.sc, with the orders acq, rel, ar, sc, na".to_owned()
            }),
        );
        return None;
    };
    if !fits(kind, order) {
        let help = format!("{name} {}", location.unwrap_or("x"));
        report.error("skeleton-op", at, format!("`{name}` cannot be {}", order.name())).help(help);
        return None;
    }
    let named = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let Some(location) = location.filter(named) else {
        let message = format!("`{word}` needs a location, a name in small letters");
        report.error("skeleton-op", at, message).help(format!("{word} x"));
        return None;
    };
    Some(SkeletonOp::Access { kind, order, location })
}

/// All words for operations.
fn known_words() -> Vec<String> {
    let accesses = ACCESSES.iter().flat_map(|&(name, kind)| {
        let orders = ORDERS.iter().filter(move |(_, order)| fits(kind, *order));
        orders.map(
            move |(order, _)| {
                if order.is_empty() { name.to_owned() } else { format!("{name}.{order}") }
            },
        )
    });
    accesses.chain(alone().map(|(word, _)| word.to_owned())).collect()
}

impl fmt::Display for SkeletonOp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let SkeletonOp::Access { kind, order, location } = self {
            let name =
                ACCESSES.iter().find(|(_, known)| known == kind).map_or("", |(name, _)| name);
            let order =
                ORDERS.iter().find(|(_, known)| known == order).map_or("", |(order, _)| order);
            let dot = if order.is_empty() { "" } else { "." };
            return write!(f, "{name}{dot}{order} {location}");
        }
        f.write_str(alone().find(|(_, known)| known == self).map_or("", |(word, _)| word))
    }
}

impl fmt::Display for Skeleton<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, thread) in self.threads.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { " | " })?;
            for (at, (op, _)) in thread.iter().enumerate() {
                write!(f, "{}{op}", if at == 0 { "" } else { "; " })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skeleton_prints_as_it_is_written() {
        for text in [
            "st x; st.rel y | ld.acq y; ld x",
            "R; f.sc; ld x | swap.ar x; if; ld.na y | ld.un z; unless; st.sc data",
            "st.na x; B | ld.na x; f.ar; f.acq; f.rel",
        ] {
            let skeleton = read(text).expect("a skeleton");
            assert_eq!(skeleton.to_string(), text);
            let places: Vec<&str> =
                skeleton.threads.iter().flatten().map(|(_, at)| at.of(text)).collect();
            assert_eq!(places.len(), text.split(['|', ';']).count());
            assert!(places.iter().all(|place| text.contains(place) && !place.starts_with(' ')));
        }
    }

    #[test]
    fn everything_wrong_has_a_place_and_a_suggestion() {
        let errors = read("st x; st.acq y | ls y; ld | f.sc x; ld x y;").expect_err("it is wrong");
        let shown: Vec<String> = errors.iter().map(|error| format!("{error:#}")).collect();
        let parts = [
            ("1:7", "`st` cannot be acquire", "st y"),
            ("1:18", "unknown operation `ls`", "ld"),
            ("1:24", "`ld` needs a location", "ld x"),
            ("1:29", "`f.sc` has no location", "f.sc"),
            ("1:37", "expected `;` or `|`", "st.rel y"),
            ("1:44", "expected an operation", "st.rel y"),
        ];
        assert_eq!(shown.len(), parts.len(), "{shown:?}");
        for (shown, (place, message, help)) in shown.iter().zip(parts) {
            assert!(shown.contains(&format!("skeleton:{place}")), "{place}: {shown}");
            assert!(shown.contains(message) && shown.contains(help), "{shown}");
        }
    }
}
