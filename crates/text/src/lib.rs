//! Support for readers of text: tokens, positions and diagnostics.
//!
//! Every reader (litmus tests, `.cat` models, PTX, SASS, LLVM IR, lowering tables) collects the errors of its
//! input in a [`report::Diagnostics`], with byte ranges. [`report::Diagnostics::finish`] converts them to
//! [`Diagnostic`]s with lines, columns and excerpts.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod csv;
pub mod cursor;
pub mod diagnostic;
pub mod escape;
pub mod fix;
pub mod lex;
pub mod origin;
pub mod report;

pub use diagnostic::Diagnostic;
use report::{ByteSpan, Diagnostics};

/// Larger files are refused: no input of a checker of memory models needs them. In bytes.
pub const LARGEST: usize = 64 << 20;

/// Decodes a file as UTF-8, or reports why it cannot.
pub fn decode<'a>(path: &str, bytes: &'a [u8]) -> Result<&'a str, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    let nothing = ByteSpan::default();
    if bytes.len() > LARGEST {
        report.error("size", nothing, format!("the file is larger than {} MiB", LARGEST >> 20));
        return Err(report.finish(path, ""));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        result => {
            let first = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            let valid = result.err().map_or(bytes.len(), |error| error.valid_up_to()).min(first);
            let before = std::str::from_utf8(&bytes[..valid]).unwrap_or("");
            let at = ByteSpan::new(before.len(), before.len());
            let byte = bytes.get(valid).copied().unwrap_or(0);
            report
                .error("binary", at, format!("not UTF-8 text: byte {valid} is 0x{byte:02x}"))
                .note("the text ends here");
            Err(report.finish(path, before))
        }
    }
}
