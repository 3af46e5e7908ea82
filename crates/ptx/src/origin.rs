//! The source lines of a module: `.file` and `.loc` (`#debugging-directives-loc`).

use std::collections::BTreeMap;
use std::ops::Range;

use text::origin::{Origin, Origins, in_file_of_outermost};
use text::report::LineIndex;

use super::lex::{Lexer, Token, TokenKind};

/// The origins of the lines of a module. Of an instruction that was inlined, it is the innermost line in the file of the
/// outermost call: what a library has is where the program calls it. Of inline assembly, it is the line of the whole text.
pub fn origins(text: &str) -> Origins {
    let mut origins = Origins::default();
    if !text.contains(".loc") {
        return origins;
    }
    let lines = LineIndex::of(text);
    let assembly = inline_assembly(text);
    let mut tokens = Tokens::new(text);
    let mut files: BTreeMap<usize, &str> = BTreeMap::new();
    let mut calls: BTreeMap<SourcePlace, SourcePlace> = BTreeMap::new();
    // Files may be declared after the code. `None` is the begin of a function.
    let mut starts: Vec<(usize, Option<SourcePlace>)> = Vec::new();
    while tokens.first.kind != TokenKind::End {
        let is_directive = tokens.first.kind == TokenKind::Dotted;
        let directive = is_directive.then(|| tokens.text());
        let at = tokens.first.at;
        let line = lines.number(at);
        tokens.skip();
        match directive {
            Some(".file") => {
                let Some(index) = tokens.number() else { continue };
                if tokens.first.kind == TokenKind::Text {
                    files.insert(index, tokens.text().trim_matches('"'));
                }
            }
            Some(".loc") => {
                let Some(place) = tokens.place() else { continue };
                if is_inside(&assembly, at.start as usize) {
                    continue;
                }
                calls.remove(&place);
                if let Some(call) = tokens.inlined_at().filter(|call| *call != place) {
                    calls.insert(place, call);
                }
                let inlined = |place: &SourcePlace| calls.get(place).copied();
                let places = std::iter::successors(Some(place), inlined);
                starts.push((line, in_file_of_outermost(places, |place| place.file)));
            }
            Some(".entry" | ".func") => starts.push((line, None)),
            _ => {}
        }
    }
    for (line, start) in starts {
        let origin = start.and_then(|at| {
            Some(Origin { file: (*files.get(&at.file)?).to_owned(), line: at.line })
        });
        origins.begin(line, origin);
    }
    origins
}

/// The texts of inline assembly, in order. LLVM counts the lines of such a text as lines of the program: the second one has a `.loc`
/// of the line behind that of the call. The `.loc` before the text is right.
fn inline_assembly(text: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(BEGIN_OF_ASSEMBLY).map(|found| at + found) {
        let Some(length) = text[begin..].find(END_OF_ASSEMBLY) else { break };
        at = begin + length;
        all.push(begin..at);
    }
    all
}

fn is_inside(assembly: &[Range<usize>], at: usize) -> bool {
    let begun = assembly.partition_point(|of| of.start <= at);
    assembly[..begun].last().is_some_and(|of| of.contains(&at))
}

const BEGIN_OF_ASSEMBLY: &str = "// begin inline asm";
const END_OF_ASSEMBLY: &str = "// end inline asm";

/// A place as `.loc` has it: the number of a file, a line and a column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SourcePlace {
    file: usize,
    line: usize,
    column: usize,
}

/// The tokens of a module, one ahead.
struct Tokens<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    first: Token,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Tokens<'t> {
        let mut lexer = Lexer::new(text);
        let first = lexer.next(&mut |_, _| {});
        Tokens { text, lexer, first }
    }

    fn skip(&mut self) {
        self.first = self.lexer.next(&mut |_, _| {});
    }

    fn text(&self) -> &'t str {
        self.first.at.of(self.text)
    }

    fn number(&mut self) -> Option<usize> {
        let number = self.text().parse().ok()?;
        self.skip();
        Some(number)
    }

    fn place(&mut self) -> Option<SourcePlace> {
        let (file, line) = (self.number()?, self.number()?);
        Some(SourcePlace { file, line, column: self.number().unwrap_or(0) })
    }

    /// `, function_name LABEL + 4, inlined_at 1 2 3`: the call.
    fn inlined_at(&mut self) -> Option<SourcePlace> {
        while self.text() == "," {
            self.skip();
            match self.text() {
                "function_name" => {
                    self.skip();
                    self.skip();
                    if self.text() == "+" {
                        self.skip();
                        self.skip();
                    }
                }
                "inlined_at" => {
                    self.skip();
                    return self.place();
                }
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loc_holds_up_to_the_next_one_or_the_next_function() {
        let text = ".version 8.7\n.visible .entry f(\n)\n{\n.loc 1 24 0\n\
            ld.global.u32 %r1, [%rd1]; // .loc 1 99 0\n.loc 2 7 3, function_name $L + 4, inlined_at 1 25 9\n\
            {\n.reg .b32 x;\nst.global.u32 [%rd1], 1;\n}\n.loc 1 0 0\nret;\n}\n\
            .visible .entry g()\n{\nret;\n}\n\
            .file 1 \"/root/a \\\\ b/lock.py\"\n.file 2 \"lib.py\", 0x10, 20\n";
        let origins = origins(text);
        let said = |line: usize| origins.of(line).map(|of| format!("{}:{}", of.file, of.line));
        assert_eq!(said(2), None);
        assert_eq!(said(6), Some("/root/a \\\\ b/lock.py:24".to_owned()));
        // It is inlined at another file.
        assert_eq!(said(10), Some("/root/a \\\\ b/lock.py:25".to_owned()));
        assert_eq!([said(13), said(17)], [None, None]);
    }

    #[test]
    fn what_was_inlined_is_where_the_program_calls_it() {
        let text = ".file 1 \"k.cu\"\n.file 2 \"lib.h\"\n.loc 1 30 3\n.loc 1 9 5, function_name $L, inlined_at 1 30 3\nadd;\n\
            .loc 2 7 1, function_name $L, inlined_at 1 9 5\nadd;\n.loc 2 8 1, inlined_at 2 7 1\nadd;\n.loc 2 8 1\nadd;\n";
        let origins = origins(text);
        let said = |line: usize| origins.of(line).map(|of| format!("{}:{}", of.file, of.line));
        // A function of the program itself is shown as it is.
        assert_eq!(said(5).as_deref(), Some("k.cu:9"));
        assert_eq!([said(7), said(9)], [Some("k.cu:9".to_owned()), Some("k.cu:9".to_owned())]);
        assert_eq!(said(11).as_deref(), Some("lib.h:8"));
    }

    #[test]
    fn all_of_an_inline_assembly_has_the_line_before_it() {
        let text = ".file 1 \"k.py\"\n.loc 1 13 16\nadd;\n.loc 1 14 34\n// begin inline asm\n.loc 1 14 34\nmov;\n.loc 1 15 34\n\
            ld;\n// end inline asm\nbra;\n.loc 1 16 9\nst;\n// begin inline asm\nst;\n// end inline asm\n.loc 1 18 9\nst;\n\
            // begin inline asm\n.loc 1 20 3\nst;\n";
        let origins = origins(text);
        let said = |line: usize| origins.of(line).map(|of| of.line);
        assert_eq!([said(3), said(7), said(9)], [Some(13), Some(14), Some(14)]);
        // The compiler has not said where this is, since it is what it was before.
        assert_eq!(said(11), Some(14));
        assert_eq!([said(13), said(15), said(18)], [Some(16), Some(16), Some(18)]);
        // No text that is not closed hides what follows.
        assert_eq!(said(21), Some(20));
    }

    #[test]
    fn no_debugging_directive_is_too_odd() {
        for text in [
            ".loc",
            ".loc 1",
            ".loc x y",
            ".file 1",
            ".file \"a\"",
            ".loc 3 4 5\nret;",
            ".loc 1 2 3, inlined_at",
            ".loc 1 2 3, inlined_at 1 2 3",
        ] {
            assert_eq!(origins(text).of(1), None, "{text}");
        }
    }
}
