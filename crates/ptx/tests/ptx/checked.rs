//! What holds of every input, PTX or not: it is read soon, what is said lies inside of it, and a module
//! without errors can be printed.

use std::time::{Duration, Instant};

use ptx::LintOptions;

/// Reads and lints; says what is wrong with the answer.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let start = Instant::now();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for strict in [false, true] {
        let linted = ptx::lint("m.ptx", bytes, LintOptions { strict, ..LintOptions::default() });
        for one in &linted.diagnostics {
            let line = one.span.line.checked_sub(1).and_then(|line| lines.get(line));
            let inside =
                line.is_some_and(|line| one.span.column + one.span.length <= line.len() + 2);
            if one.span.column == 0 || !inside {
                return Err(format!("{} is at {:?}, outside of the file", one.code, one.span));
            }
            one.to_string();
        }
    }
    printed(bytes)?;
    let took = start.elapsed();
    if took > Duration::from_secs(10) { Err(format!("took {took:?}")) } else { Ok(()) }
}

/// Each instruction of each function, printed.
fn instructions(bytes: &[u8]) -> Option<Vec<Vec<(usize, usize, String)>>> {
    let (module, diagnostics) = ptx::read("m.ptx", bytes);
    let module = module.filter(|_| diagnostics.is_empty())?;
    let all = |function| {
        let place = |text: &str| text.as_ptr().addr() - bytes.as_ptr().addr();
        let one = |one: ptx::Instruction<'_>| (place(one.text), one.text.len(), one.to_string());
        module.instructions(function).map(one).collect()
    };
    Some((0..module.functions().count()).map(all).collect())
}

/// A module that can be read: with each instruction as it is printed, it is the same module, and
/// printing changes nothing more.
fn printed(bytes: &[u8]) -> Result<(), String> {
    let Some(before) = instructions(bytes) else { return Ok(()) };
    let mut text = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for (at, length, printed) in before.iter().flatten() {
        text.extend_from_slice(&bytes[from..*at]);
        text.extend_from_slice(printed.as_bytes());
        from = at + length;
    }
    text.extend_from_slice(&bytes[from..]);
    let bare = |all: &[Vec<(usize, usize, String)>]| -> Vec<Vec<String>> {
        all.iter().map(|list| list.iter().map(|one| one.2.clone()).collect()).collect()
    };
    let Some(after) = instructions(&text) else {
        return Err(format!("printed, it is wrong:\n{}", String::from_utf8_lossy(&text)));
    };
    if bare(&before) == bare(&after) {
        return Ok(());
    }
    Err(format!("printed, it is another module:\n{}", String::from_utf8_lossy(&text)))
}
