//! Threads, places and races of a test in words.

use engine::{Race, Undefined};
use litmus::Test;
use model::program::ThreadId;

/// herd names threads by number in conditions, `0:r1`; here they are named as in the table, `P0:r1`.
pub fn with_threads(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if c == ':' && !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()) {
            out.push('P');
        }
        out.push_str(&std::mem::take(&mut word));
        out.push(c);
    }
    out.pop();
    out
}

/// The condition without its quantifier.
pub fn condition(test: &Test) -> String {
    let bare = test.condition_text.trim_start_matches(test.quantifier.name()).trim();
    with_threads(bare.strip_prefix('(').and_then(|b| b.strip_suffix(')')).unwrap_or(bare))
}

/// `P0: st.weak [x], 1  and  P1: ld.weak r0, [x]`.
pub fn race_text(test: &Test, race: Race) -> String {
    format!("{} and {}", place_text(test, race.first), place_text(test, race.second))
}

/// `P0: st.weak [x], 1`, of a thread and a line; with the line of the file where the thread has this text twice.
pub fn place_text(test: &Test, place: (ThreadId, u16)) -> String {
    format!("{}: {}", test.program.threads[usize::from(place.0.0)].name, line_text(test, place))
}

/// The same without the thread.
pub fn line_text(test: &Test, place: (ThreadId, u16)) -> String {
    let (thread, line) = place;
    let of = &test.program.threads[usize::from(thread.0)];
    let written = &of.lines[usize::from(line)].text;
    let twice = of.lines.iter().filter(|other| other.text == *written).count() > 1;
    let number = test.line_number(place.0, place.1).filter(|_| twice);
    let at = number.map_or(String::new(), |number| format!(" in line {number}"));
    format!("`{written}`{at}")
}

/// What an initial write is called beside instructions.
pub(crate) const INITIAL_WRITE: &str = "an initial write";

/// The instructions at fault with their threads, and the initial write if there is one.
pub fn undefined_places(test: &Test, undefined: &Undefined) -> Vec<String> {
    let places = undefined.where_.iter().map(|&place| place_text(test, place));
    places.chain(undefined.with_initial.then(|| INITIAL_WRITE.to_owned())).collect()
}
