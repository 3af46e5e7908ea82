//! Finds input files below folders, checks their size and reads them. Every command reads its files here.
//!
//! `-` is standard input, for every command that takes a file; `./-` is a file of that name.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use text::escape::escaped;
use walkdir::{DirEntry, WalkDir};

use crate::kind::FileKind;

/// The largest input that is read. The parts of a split listing of a large library are smaller.
pub const LARGEST: u64 = 256 << 20;

/// The byte order mark of UTF-8.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// A path, quoted for a shell.
pub(crate) fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// A path, escaped for a terminal.
pub fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy()).into_owned()
}

/// The files that the paths name. A path to a folder names the files with this extension below it, in the order
/// of their paths.
///
/// Links below a folder are followed, but each file and folder is visited only once. Entries below a folder
/// that are not regular files are skipped.
pub fn find(paths: &[PathBuf], extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() && !is_standard(path) {
            below(path, extension, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn below(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut reached = HashSet::new();
    let wanted = |path: &Path| path.extension().is_some_and(|its| its == extension);
    // A path that cannot be resolved is kept: the walk reports the error.
    let mut first = |entry: &DirEntry| {
        let asked = entry.file_type().is_dir() || wanted(entry.path());
        !asked || fs::canonicalize(entry.path()).map_or(true, |real| reached.insert(real))
    };
    let entries = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(&mut first) {
        match entry {
            Ok(entry) if entry.file_type().is_file() && wanted(entry.path()) => {
                files.push(entry.into_path());
            }
            Ok(_) => {}
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => match error.path() {
                // A dangling link with the extension is returned: reading it reports the error.
                Some(path) if path.is_symlink() => {
                    if wanted(path) {
                        files.push(path.to_path_buf());
                    }
                }
                path => {
                    let path = shown(path.unwrap_or(folder));
                    let why = error.io_error().map_or(String::new(), ToString::to_string);
                    return Err(io::Error::other(format!("{path}: {why}")));
                }
            },
        }
    }
    Ok(())
}

/// Whether a path is `-`, standard input.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The content of standard input, which is read only once.
fn standard() -> io::Result<Vec<u8>> {
    static READ: AtomicBool = AtomicBool::new(false);
    if READ.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other("`-` (standard input) is given twice"));
    }
    bounded(io::stdin().lock())
}

/// The bytes of a file or a pipe, without a byte order mark.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    if is_standard(path) {
        return standard();
    }
    let about = fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    if !about.is_file() && !is_pipe(about.file_type()) {
        return Err(io::Error::other("it is neither a file nor a pipe"));
    }
    if about.len() > LARGEST {
        return Err(too_large());
    }
    mark_read(path);
    bounded(File::open(path)?)
}

/// The bytes of a file of this kind. A file that is clearly of another kind is refused.
pub fn read_kind(path: &Path, wanted: FileKind) -> io::Result<Vec<u8>> {
    let bytes = read(path)?;
    match FileKind::of(path, &bytes) {
        Some(kind) if kind != wanted => Err(io::Error::other(kind.refused())),
        Some(_) | None => Ok(bytes),
    }
}

/// The whole content of a source, without a byte order mark.
pub fn bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A file may grow, and special files have no length.
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    } else if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(io::Error::other("the file is UTF-16; expected UTF-8"));
    }
    Ok(bytes)
}

/// The text of a file or a pipe, without a byte order mark.
pub fn text(path: &Path) -> io::Result<String> {
    utf8(read(path)?)
}

/// The text of a file of this kind, as [`read_kind`] reads it.
pub fn text_of_kind(path: &Path, wanted: FileKind) -> io::Result<String> {
    utf8(read_kind(path, wanted)?)
}

/// The text of a file of rows or of a table. These have no characteristic beginning, so a file is refused only
/// if `fits` is false and the file is clearly of another kind.
pub fn text_that_fits(path: &Path, fits: impl FnOnce(&str) -> bool) -> io::Result<String> {
    let bytes = read(path)?;
    let kind = FileKind::of(path, &bytes);
    match (utf8(bytes), kind) {
        (Ok(text), None) => Ok(text),
        (Ok(text), Some(_)) if fits(&text) => Ok(text),
        (_, Some(kind)) => Err(io::Error::other(kind.refused())),
        (Err(error), None) => Err(error),
    }
}

/// Whether a text may be a lowering table: a table has a line `targets`.
pub fn is_table(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("targets "))
}

fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::other(format!("not valid UTF-8 (byte {at})"))
    })
}

fn too_large() -> io::Error {
    io::Error::other(format!("the file is larger than {} MiB, the limit", LARGEST >> 20))
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}

/// The files that this process has read.
fn files_read() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static READ: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    READ.lock().unwrap_or_else(PoisonError::into_inner)
}

fn mark_read(path: &Path) {
    if let Ok(path) = fs::canonicalize(path) {
        files_read().insert(path);
    }
}

/// Whether this process has read a file, by its canonical path.
pub(crate) fn was_read(path: &Path) -> bool {
    files_read().contains(path)
}

/// The path of a file below the current folder, from there.
pub(crate) fn from_here(path: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let path = if path.is_absolute() { path.strip_prefix(here).ok()? } else { path };
    let inside = path.components().all(|part| !matches!(part, Component::ParentDir));
    inside.then(|| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        assert_eq!(bounded(&b"\xef\xbb\xbfPTX"[..]).expect("it is short"), b"PTX");
        assert_eq!(bounded(&b"PTX"[..]).expect("it is short"), b"PTX");
        let utf_16 = bounded(&b"\xff\xfeP\0"[..]).expect_err("it is in UTF-16");
        assert!(utf_16.to_string().contains("UTF-16"));
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let error = bounded(io::repeat(b' ')).expect_err("it has no end");
        assert!(error.to_string().contains("256 MiB"), "{error}");
    }
}
