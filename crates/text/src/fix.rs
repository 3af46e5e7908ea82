//! Changes of an input that repair an error, and their application.

use std::ops::Range;

/// A place between two characters. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

/// A part of the input, and the text to write instead of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// In bytes; empty where text is only inserted.
    pub at: Range<usize>,
    pub start: TextPosition,
    pub end: TextPosition,
    pub text: String,
}

/// Edits that together repair one error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextFix {
    /// Whether what is written can mean nothing but what the edits make of it; otherwise they are a guess.
    pub safe: bool,
    /// In bytes, what is changed as a whole, such as an instruction: several fixes of it are applied one after
    /// another, each to the result of the last.
    pub unit: Range<usize>,
    /// By place, without overlap.
    pub edits: Vec<TextEdit>,
}

/// The input with the edits of these fixes, whose units must not overlap.
pub fn apply<'a>(text: &str, fixes: impl IntoIterator<Item = &'a TextFix>) -> String {
    let mut edits: Vec<&TextEdit> = fixes.into_iter().flat_map(|fix| &fix.edits).collect();
    edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        out.push_str(&text[copied..edit.at.start]);
        out.push_str(&edit.text);
        copied = edit.at.end;
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_applied_whatever_their_order() {
        let edit = |at: Range<usize>, text: &str| TextEdit {
            start: TextPosition { line: 1, column: at.start + 1 },
            end: TextPosition { line: 1, column: at.end + 1 },
            at,
            text: text.to_owned(),
        };
        let fix = |edits: Vec<TextEdit>| TextFix { safe: true, unit: 0..1, edits };
        let fixes = [fix(vec![edit(6..7, "")]), fix(vec![edit(1..1, ".x"), edit(2..4, "y")])];
        assert_eq!(apply("abcdefgh", &fixes), "a.xbyefh");
    }
}
