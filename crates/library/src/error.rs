//! What is wrong with a text.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use text::Diagnostic;

/// All mistakes of a text; there is at least one. It is displayed as the command line does it: each with its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError(Vec<Diagnostic>);

impl ParseError {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> ParseError {
        ParseError(diagnostics)
    }

    /// In the order of the text.
    pub fn mistakes(&self) -> impl ExactSizeIterator<Item = Mistake<'_>> {
        self.0.iter().map(Mistake)
    }
}

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|diagnostic| diagnostic.fmt(f))
    }
}

impl Error for ParseError {}

/// One mistake of a text.
#[derive(Clone, Copy, Debug)]
pub struct Mistake<'e>(&'e Diagnostic);

impl<'e> Mistake<'e> {
    /// The rule that is broken, such as `ld-scope-missing`.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    pub fn message(&self) -> &'e str {
        &self.0.message
    }

    /// From 1.
    pub fn line(&self) -> usize {
        self.0.span.line
    }

    /// In characters, from 1.
    pub fn column(&self) -> usize {
        self.0.span.column
    }

    /// Something that can be pasted, or one sentence.
    pub fn help(&self) -> Option<&'e str> {
        self.0.help.as_deref()
    }
}
