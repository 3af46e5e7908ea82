//! Reads memory models in cat, the language of herd's models: sets, relations and axioms.
//!
//! By default a file uses Dartagnan's names for PTX and its conventions: reads are not torn,
//! and a failing `cas` writes. A file that [`model::render::cat()`] printed includes `causeway.cat`
//! and has its own names and conventions; it is parsed to the same model.

mod build;
mod call;
mod expr;
mod lex;
mod names;
mod operand;
mod parse;
mod recursion;
mod scope;
mod syntax;

use model::rel::Model;

use text::Diagnostic;
use text::report::{ByteSpan, Diagnostics};

/// The maximum size of a file in bytes.
const LARGEST: usize = 1 << 20;

/// Reads a model, or says everything that is wrong with it. `path` is for the messages, and names
/// the model if its first line does not.
pub fn import(path: &str, text: &str) -> Result<Model, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    if text.len() > LARGEST {
        let message = format!("the file is larger than {} MiB", LARGEST >> 20);
        report.error("size", ByteSpan::default(), message);
        return Err(report.finish(path, ""));
    }
    let tokens = lex::tokens(text, &mut report);
    let file = parse::file(&tokens, ByteSpan::new(text.len(), text.len()), &mut report);
    let model = build::model(path, &file, &mut report);
    if report.count() == 0 {
        return Ok(model);
    }
    // What is wrong with a function is found out at each call.
    let mut errors = report.finish(path, text);
    errors.dedup();
    Err(errors)
}
