//! Reads memory models in cat, the language of herd's models: sets, relations and axioms.
//!
//! By default a file uses Dartagnan's names for PTX and its conventions: reads are not torn,
//! and a failing `cas` writes. A file that [`model::render::cat()`] printed includes `causeway.cat`
//! and has its own names and conventions; it is parsed to the same model.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

mod build;
mod call;
mod expr;
mod files;
mod lex;
mod names;
mod operand;
mod parse;
mod recursion;
mod scope;
mod syntax;

use std::path::Path;

use model::rel::Model;

use files::SourceFiles;
use text::Diagnostic;
use text::report::{ByteSpan, Diagnostics};

/// The maximum size of a file in bytes.
const LARGEST: usize = 1 << 20;

/// Reads a model that includes no files but those that are built in, or says everything that is wrong with
/// it. `path` is for the messages, and names the model if its first line does not.
pub fn import(path: &str, text: &str) -> Result<Model, Vec<Diagnostic>> {
    import_with(path, text, &mut |_| Err("only built-in files can be included here".to_owned()))
}

/// Reads a model and the files that it includes: `read` has the text of a path, or says why there is none.
pub fn import_with(
    path: &str,
    text: &str,
    read: &mut dyn FnMut(&Path) -> Result<String, String>,
) -> Result<Model, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    if text.len() > LARGEST {
        let message = format!("the file is larger than {} MiB", LARGEST >> 20);
        report.error("size", ByteSpan::default(), message);
        return Err(report.finish(path, ""));
    }
    let files = SourceFiles::load(path, text, read);
    let tokens: Vec<_> = files
        .places
        .iter()
        .map(|&(_, start, end)| lex::tokens(&files.text[..end], start, &mut report))
        .collect();
    let parsed: Vec<_> = tokens
        .iter()
        .zip(&files.places)
        .map(|(tokens, &(_, _, end))| parse::file(tokens, ByteSpan::new(end, end), &mut report))
        .collect();
    let model = build::model(&files, &parsed, &mut report);
    if report.count() == 0 {
        return Ok(model);
    }
    // What is wrong with a function is found out at each call.
    let places = files.places.iter();
    let places: Vec<(String, usize, &str)> = places
        .map(|&(ref path, start, end)| (path.clone(), start, &files.text[start..end]))
        .collect();
    let mut errors = report.finish_files(&places);
    errors.dedup();
    Err(errors)
}
