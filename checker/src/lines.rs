//! The lines of `--format json`: one object each. Its first field names the kind of object.
//!
//! `docs/json.md` documents all fields, and a test verifies that.

use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;

/// The kind of object on a line, by its name for `causeway schema`. The number changes when a field changes its
/// meaning or is removed; fields may be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ValueEnum)]
pub enum LineKind {
    #[serde(rename = "causeway-check/1")]
    Check,
    #[serde(rename = "causeway-diff/1")]
    Diff,
    #[serde(rename = "causeway-diff-summary/1")]
    DiffSummary,
    #[serde(rename = "causeway-explain/1")]
    Explain,
    #[serde(rename = "causeway-explore/1")]
    Explore,
    #[serde(rename = "causeway-fix/1")]
    Fix,
    #[serde(rename = "causeway-fuzz/1")]
    Fuzz,
    #[serde(rename = "causeway-lint/1")]
    Lint,
    #[serde(rename = "causeway-lint-summary/1")]
    LintSummary,
    #[serde(rename = "causeway-litmus/1")]
    Litmus,
    #[serde(rename = "causeway-lower/1")]
    Lower,
    #[serde(rename = "causeway-ptx-explain/1")]
    PtxExplain,
    #[serde(rename = "causeway-sass-explain/1")]
    SassExplain,
    #[serde(rename = "causeway-verify/1")]
    Verify,
}

#[derive(Serialize)]
struct JsonLine<T> {
    format: LineKind,
    #[serde(flatten)]
    object: T,
}

/// Prints an object as one line.
pub(crate) fn write(
    schema: LineKind,
    object: impl Serialize,
    out: &mut dyn Write,
) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &JsonLine { format: schema, object })?;
    writeln!(out)
}
