//! What tools were seen to do, for tests: the tables of `data/`, which are ours, and where tests look for what others own.
//!
//! The `README.md` of this folder says what was measured, and how.
//!
//! Internal: for the tests of this repository.

use std::path::{Path, PathBuf};
use std::{env, fs};

use ruzstd::decoding::StreamingDecoder;
use text::csv;

/// The text of a file of `data/`, by its name without `.zst`.
///
/// # Panics
///
/// If there is no such file.
pub fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(format!("{name}.zst"));
    let packed = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    let mut decoder = StreamingDecoder::new(&packed[..]).expect("it was packed by zstd");
    std::io::Read::read_to_string(&mut decoder, &mut text).expect("it is text");
    text
}

/// The rows of a table of `data/`, by its name without `.csv.zst`; not the first one, which names the columns.
///
/// # Panics
///
/// If there is no such table.
pub fn rows(name: &str) -> Vec<Vec<String>> {
    let text = text(&format!("{name}.csv"));
    let records = csv::records(&text).expect("it is a table");
    records.into_iter().skip(1).map(|(_, row)| row).collect()
}

/// A file or a folder of what others own, and the repository does not have: in the folder that `CAUSEWAY_ORACLE` names. A test
/// that asks for it is ignored unless it is selected by name, or by `--ignored`.
///
/// # Panics
///
/// If it is not there.
pub fn of_others(name: &str) -> PathBuf {
    let folder = env::var_os("CAUSEWAY_ORACLE").map(PathBuf::from);
    let path = folder.expect("CAUSEWAY_ORACLE names the folder with what others own").join(name);
    assert!(path.exists(), "{} is not there", path.display());
    path
}
