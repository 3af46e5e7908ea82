//! Progress bars on standard error, and output beside them.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar on standard error, if that is a terminal and there are several items.
pub(crate) fn of(count: usize, what: &str) -> ProgressBar {
    if count < 2 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let template = format!("{{bar:40}} {{pos}}/{{len}} {what}  {{elapsed}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// The same for the blocks of a campaign, which may have no end.
pub(crate) fn of_blocks(blocks: Option<u64>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = blocks.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let end =
        if blocks.is_some() { "{bar:20} {pos}/{len} blocks" } else { "{spinner} {pos} blocks" };
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{end} ({{per_sec}})  {{msg}}  {{elapsed}}"))
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Writes above a progress bar, which is not drawn meanwhile: what is buffered would be written when it is there again.
pub(crate) fn above(
    bar: &ProgressBar,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if bar.is_hidden() {
        return write(out);
    }
    bar.suspend(|| write(out).and_then(|()| out.flush()))
}

/// A line above a progress bar; nothing if it is hidden.
pub(crate) fn notice(bar: &ProgressBar, text: &str) {
    bar.println(text);
}
