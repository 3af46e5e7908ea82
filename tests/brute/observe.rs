//! Reads what a test observes: its locations and the atoms of its condition.

use super::parse::{Layout, number, of_thread, unsupported};
use super::read::{Observed, Program};

pub(super) fn observe(
    program: &mut Program,
    layout: &Layout,
    conditions: &str,
) -> Result<(), String> {
    if conditions.contains("filter") {
        return unsupported("filter");
    }
    let plain = conditions.replace("locations [", "locations ");
    let separators =
        ["~exists", "exists", "forall", "locations", "/\\", "\\/", "not ", "=>", "!=", "="];
    let separated = separators.iter().fold(plain, |text, &word| text.replace(word, ";"));
    for atom in separated.split([';', '(', ')', '\n']) {
        let atom = atom.trim().trim_end_matches(|c| c == ']' && !atom.contains('['));
        if atom.is_empty() || atom == "true" || number(atom).is_ok() {
            continue;
        }
        let seen = observed(program, layout, atom)?;
        if program.observed.iter().all(|(name, _)| *name != seen.0) {
            program.observed.push(seen);
        }
    }
    Ok(())
}

/// `P0:r0`, `x`, `[x]`, `[x+4]`, `x[1]`, `[x@P1]`.
fn observed(program: &Program, layout: &Layout, atom: &str) -> Result<(String, Observed), String> {
    if let Some((thread, register)) = of_thread(atom) {
        let name = format!("{thread}:{register}");
        return Ok((name, Observed::Register(thread, register.to_owned())));
    }
    let text = atom.strip_prefix('[').and_then(|a| a.strip_suffix(']')).unwrap_or(atom);
    let (text, of) = text.split_once('@').map_or((text, None), |(text, of)| (text, Some(of)));
    let thread = match of {
        Some(of) => {
            usize::try_from(number(of.trim_start_matches('P'))?).map_err(|_| "no such thread")?
        }
        None => 0,
    };
    let (name, word) = if let Some((name, index)) = text.split_once('[') {
        (name, number(index.trim_end_matches(']'))?)
    } else if let Some((name, offset)) = text.split_once('+') {
        (name, number(offset)? / 4)
    } else {
        (text, 0)
    };
    let cta = program.threads.get(thread).ok_or("no such thread")?.cta;
    let first = layout.at(name, cta).ok_or_else(|| format!("`{atom}`"))?;
    let offset = if word == 0 { String::new() } else { format!("+{}", word * 4) };
    let copy = of.map(|of| format!("@{of}")).unwrap_or_default();
    let word = usize::try_from(word).map_err(|_| "an offset too large")?;
    Ok((format!("[{name}{offset}{copy}]"), Observed::Memory(first + word)))
}

/// Where the rows end and the conditions begin.
pub(super) fn end_of_table(rest: &str) -> usize {
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        let start = line.trim_start();
        if ["exists", "~exists", "forall", "locations", "filter"]
            .iter()
            .any(|w| start.starts_with(w))
        {
            return at;
        }
        at += line.len();
    }
    rest.len()
}
