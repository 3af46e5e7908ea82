//! Notes and reasons of rows and functions that cite the reading on which a verdict rests.

/// `what` is memory that the source loads as read-only data.
pub(crate) fn promised(what: &str) -> String {
    format!("the source promises that {what} is not written while the kernel runs (reading R12)")
}

/// The reason for a load of read-only data by the target without that promise.
pub(crate) fn unpromised(load: &str) -> String {
    format!(
        "`{load}` requires memory that is never written, whatever is acquired before it (reading R12), which the source does not promise"
    )
}

/// The reason for a target that accesses what is one access of the source, `whole`, in parts.
pub(crate) fn parts(whole: &str, part: &str) -> String {
    format!("{whole}, but `{part}` accesses its parts one by one")
}

/// The target would be correct with `atom` for `red`: everywhere, or only as `place` says.
pub(crate) fn reduction(place: &str) -> String {
    format!(
        "`red` does not acquire for a fence after it. With `atom` no outcome is added{place} (reading R11)"
    )
}
