//! Interruption by the user: a run then ends early and reports its results so far.

use std::sync::atomic::{AtomicBool, Ordering};

static RAISED: AtomicBool = AtomicBool::new(false);

/// Requests the end of the run; returns whether it was requested before.
pub fn raise() -> bool {
    RAISED.swap(true, Ordering::Relaxed)
}

pub fn raised() -> bool {
    RAISED.load(Ordering::Relaxed)
}
