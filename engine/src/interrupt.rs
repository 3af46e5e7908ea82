//! Whether the user has had enough: a run then ends early and says what it has done.

use std::sync::atomic::{AtomicBool, Ordering};

static RAISED: AtomicBool = AtomicBool::new(false);

/// Asks everything that is running to end; says whether that was asked before.
pub fn raise() -> bool {
    RAISED.swap(true, Ordering::Relaxed)
}

pub fn raised() -> bool {
    RAISED.load(Ordering::Relaxed)
}
