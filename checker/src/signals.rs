//! Signals that end a run: it then prints its results so far.

use std::io;

/// Calls a function, in another thread, when the first such signal arrives.
#[cfg(unix)]
pub fn on_end(end: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    // `nohup` ignores this one, so that a run goes on when its terminal is closed.
    if !ignores(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let wait = move || {
        if signals.forever().next().is_some() {
            end();
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

/// Whether the program was started with a signal ignored. Where the system does not say it, nothing is changed
/// about the signal.
#[cfg(unix)]
fn ignores(signal: i32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Calls a function, in another thread, at Ctrl-C.
#[cfg(not(unix))]
pub fn on_end(end: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut end = Some(end);
    let once = move || {
        if let Some(end) = end.take() {
            end();
        }
    };
    ctrlc::set_handler(once).map_err(io::Error::other)
}
