//! An account as text: events with letters, edges as an indented tree.

use std::collections::BTreeMap;
use std::io::{self, Write};

use engine::witness::{Witness, WitnessEvent};
use litmus::{Quantifier, Test};
use model::given::Chosen;
use model::section;

use super::open::{Edge, NodeKind};
use crate::judgement::Judgement;
use crate::words::{condition, race_text};

/// A letter for each event that an account speaks of.
pub(super) type Letters = BTreeMap<usize, String>;

/// What is looked for: the condition, or what violates it.
pub(super) fn proposition(test: &Test) -> String {
    let bare = condition(test);
    if test.quantifier == Quantifier::ForAll { format!("not ({bare})") } else { bare }
}

pub(super) fn letters(violations: &[(usize, Vec<Edge>)]) -> Letters {
    let mut letters = Letters::new();
    for (_, edges) in violations {
        collect(edges, &mut letters);
    }
    for (index, letter) in letters.values_mut().enumerate() {
        *letter = name(index);
    }
    letters
}

fn collect(edges: &[Edge], letters: &mut Letters) {
    for edge in edges {
        letters.insert(edge.from, String::new());
        letters.insert(edge.to, String::new());
        collect(&edge.steps, letters);
    }
}

/// a, b, …, z, a1, b1, …
fn name(index: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(index % 26).expect("below 26"));
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

/// Letters for all events of the threads, and the initial writes that are read.
pub(super) fn all_letters(witness: &Witness) -> Letters {
    (0..witness.events.len())
        .filter(|&event| witness.events[event].thread.is_some() || is_read(witness, event))
        .enumerate()
        .map(|(index, event)| (event, name(index)))
        .collect()
}

/// The events that have letters, one a line. Of a thread that never ends, the test says in which line it stays.
pub(super) fn events(
    witness: &Witness,
    threads: &[String],
    letters: &Letters,
    of: Option<&Test>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    let mut rows = Vec::new();
    for (event, shown) in witness.events.iter().enumerate() {
        let Some(letter) = letters.get(&event).cloned() else { continue };
        let thread = shown.thread.map_or("init", |thread| threads[usize::from(thread.0)].as_str());
        rows.push((letter, thread, shown.text.clone(), effect(of, shown)));
    }
    let mut widths = [0; 3];
    for (letter, thread, text, _) in &rows {
        for (width, cell) in widths.iter_mut().zip([letter.as_str(), thread, text]) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let [letter, thread, text] = widths;
    for row in &rows {
        let line = format!("  {:letter$}  {:thread$}  {:text$}   {}", row.0, row.1, row.2, row.3);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Whether an event is what a thread does for ever.
fn stays(shown: &WitnessEvent) -> bool {
    [WAITS, LOOPS, FAULTS].contains(&shown.kind)
}

/// The line of the file in which a thread stays for ever, of what it does there.
pub(super) fn stays_in(test: Option<&Test>, shown: &WitnessEvent) -> Option<usize> {
    test?.line_number(shown.thread?, shown.line).filter(|_| stays(shown))
}

fn is_read(witness: &Witness, event: usize) -> bool {
    witness.rf.iter().any(|&(write, _)| write == event)
}

/// What the last event of a thread is that never ends.
pub(super) const WAITS: &str = "waits for ever";
pub(super) const LOOPS: &str = "repeated for ever";
pub(super) const FAULTS: &str = "faults";

fn effect(test: Option<&Test>, shown: &WitnessEvent) -> String {
    if let Some(number) = stays_in(test, shown) {
        return format!("{} in line {number}", shown.kind);
    }
    if stays(shown) {
        return shown.kind.to_owned();
    }
    picture::graph::effect(shown.kind, shown.location.as_deref(), shown.value, shown.phase)
}

/// The chosen relations of an allowed execution.
pub(super) fn relations(
    witness: &Witness,
    letters: &Letters,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (label, pairs) in [
        ("rf", &witness.rf),
        ("co", &witness.co),
        ("fr", &witness.fr),
        ("fence-sc", &witness.fsc),
        ("barrier", &witness.barrier),
        ("phase", &witness.phase),
    ] {
        let pairs = lettered(pairs, letters);
        if !pairs.is_empty() {
            writeln!(out, "  {label:9} {pairs}")?;
        }
    }
    Ok(())
}

/// The pairs of which both events have letters.
fn lettered(pairs: &[(usize, usize)], letters: &Letters) -> String {
    let pair = |(a, b): &(usize, usize)| Some(format!("{} → {}", letters.get(a)?, letters.get(b)?));
    pairs.iter().filter_map(pair).collect::<Vec<String>>().join(", ")
}

/// The pairs of relations, each by its name; those of initial writes without a letter are left out.
pub(super) fn named(
    relations: &[(String, Vec<(usize, usize)>)],
    letters: &Letters,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (name, pairs) in relations {
        let pairs = lettered(pairs, letters);
        writeln!(out, "  {name:9} {}", if pairs.is_empty() { "none" } else { &pairs })?;
    }
    Ok(())
}

/// Edges as a tree, the definition of each below it.
pub(super) fn edges(
    edges: &[Edge],
    witness: &Witness,
    threads: &[String],
    letters: &Letters,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows = Vec::new();
    flatten(edges, 0, witness, threads, letters, &mut rows);
    let left = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    let middle = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
    for (edge, number, notes) in &rows {
        let pad = left - edge.chars().count();
        let first = notes.first().map_or("", String::as_str);
        let line = format!("  {edge}{:pad$}   {number:middle$}   {first}", "");
        writeln!(out, "{}", line.trim_end())?;
        for note in notes.iter().skip(1) {
            writeln!(out, "  {:left$}   {:middle$}   {note}", "", "")?;
        }
    }
    Ok(())
}

fn flatten(
    edges: &[Edge],
    depth: usize,
    witness: &Witness,
    threads: &[String],
    letters: &Letters,
    rows: &mut Vec<(String, &'static str, Vec<String>)>,
) {
    let letter = |event: usize| letters.get(&event).map_or("?", String::as_str);
    for edge in edges {
        let arrow = format!(
            "{:indent$}{} → {}   {}",
            "",
            letter(edge.from),
            letter(edge.to),
            edge.label,
            indent = 3 * depth
        );
        let number = edge.section.map_or("", |section| section.number);
        rows.push((arrow, number, notes(edge, witness, threads, letters)));
        flatten(&steps(edge), depth + 1, witness, threads, letters, rows);
    }
}

/// The edges that expand this one. What has just been said of a pair is not said again of the same pair below.
pub(super) fn steps(edge: &Edge) -> Vec<Edge> {
    let mut steps = edge.steps.clone();
    for step in &mut steps {
        step.strong &= !(edge.strong && (step.from, step.to) == (edge.from, edge.to));
    }
    steps
}

/// What there is to say of an edge, a line each.
pub(super) fn notes(
    edge: &Edge,
    witness: &Witness,
    threads: &[String],
    letters: &Letters,
) -> Vec<String> {
    let letter = |event: usize| letters.get(&event).cloned().unwrap_or_else(|| "?".to_owned());
    let mut notes = Vec::new();
    if edge.kind == NodeKind::Chosen(Chosen::Fr) {
        let source =
            witness.rf.iter().find(|(_, read)| *read == edge.from).map(|(write, _)| *write);
        if let Some(source) = source {
            let from = match (witness.events[source].thread, letters.get(&source)) {
                (None, _) => "the initial write".to_owned(),
                (Some(_), Some(letter)) => letter.clone(),
                (Some(thread), None) => format!(
                    "`{}` of {}",
                    witness.events[source].text,
                    threads[usize::from(thread.0)]
                ),
            };
            notes.push(format!(
                "{} reads {from}, which {} follows in co",
                letter(edge.from),
                letter(edge.to)
            ));
        }
    }
    if edge.strong {
        notes.extend(strength(edge, witness, threads));
    }
    if edge.kind == NodeKind::Missing {
        notes.push("the axiom demands it, and the outcome excludes it".to_owned());
    }
    notes
}

/// Why two events are morally strong.
fn strength(edge: &Edge, witness: &Witness, threads: &[String]) -> Option<String> {
    let (from, to) = (&witness.events[edge.from], &witness.events[edge.to]);
    let (here, there) = (from.thread?, to.thread?);
    if here == there {
        return Some("morally strong: one thread".to_owned());
    }
    let thread = |id: model::program::ThreadId| threads[usize::from(id.0)].as_str();
    let (from, to) = (from.scope?, to.scope?);
    Some(format!(
        "morally strong: .{from} includes {}, .{to} includes {}",
        thread(there),
        thread(here)
    ))
}

/// The data races of a program that is defined.
pub(super) fn races(test: &Test, judgement: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    let races = &judgement.found.seen.races;
    if races.is_empty() {
        return Ok(());
    }
    let number = section::CONFLICT_AND_RACES.number;
    let (what, leave) =
        if races.len() == 1 { ("Data race", "leaves") } else { ("Data races", "leave") };
    writeln!(out, "\n{what} ({number}), which {leave} the program defined:")?;
    races.iter().try_for_each(|&race| writeln!(out, "  {}", race_text(test, race)))
}
