//! The source lines of a module: `.file` and `.loc` (`#debugging-directives-loc`).

use std::collections::BTreeMap;

use text::origin::{Origin, Origins};
use text::report::LineIndex;

use super::lex::{Lexer, Token, TokenKind};

/// The origins of the lines of a module.
pub fn origins(text: &str) -> Origins {
    let mut origins = Origins::default();
    if !text.contains(".loc") {
        return origins;
    }
    let lines = LineIndex::of(text);
    let mut lexer = Lexer::new(text);
    let mut next = || lexer.next(&mut |_, _| {});
    let mut files: BTreeMap<usize, &str> = BTreeMap::new();
    // Files may be declared after the code. `None` is the begin of a function.
    let mut starts: Vec<(usize, Option<[usize; 2]>)> = Vec::new();
    let number = |token: Token| token.at.of(text).parse::<usize>().ok();
    let mut token = next();
    while token.kind != TokenKind::End {
        let directive = (token.kind == TokenKind::Dotted).then(|| token.at.of(text));
        let line = lines.number(token.at);
        token = next();
        match directive {
            Some(".file") => {
                let Some(index) = number(token) else { continue };
                token = next();
                if token.kind == TokenKind::Text {
                    files.insert(index, token.at.of(text).trim_matches('"'));
                }
            }
            Some(".loc") => {
                let Some(file) = number(token) else { continue };
                token = next();
                starts.extend(number(token).map(|at| (line, Some([file, at]))));
            }
            Some(".entry" | ".func") => starts.push((line, None)),
            _ => {}
        }
    }
    for (line, start) in starts {
        let origin = start.and_then(|[file, at]| {
            Some(Origin { file: (*files.get(&file)?).to_owned(), line: at })
        });
        origins.begin(line, origin);
    }
    origins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loc_holds_up_to_the_next_one_or_the_next_function() {
        let text = ".version 8.7\n.visible .entry f(\n)\n{\n.loc 1 24 0\n\
            ld.global.u32 %r1, [%rd1]; // .loc 1 99 0\n.loc 2 7 3, function_name $L, inlined_at 1 25 9\n\
            {\n.reg .b32 x;\nst.global.u32 [%rd1], 1;\n}\n.loc 1 0 0\nret;\n}\n\
            .visible .entry g()\n{\nret;\n}\n\
            .file 1 \"/root/a \\\\ b/lock.py\"\n.file 2 \"lib.py\", 0x10, 20\n";
        let origins = origins(text);
        let said = |line: usize| origins.of(line).map(|of| format!("{}:{}", of.file, of.line));
        assert_eq!(said(2), None);
        assert_eq!(said(6), Some("/root/a \\\\ b/lock.py:24".to_owned()));
        assert_eq!(said(10), Some("lib.py:7".to_owned()));
        assert_eq!([said(13), said(17)], [None, None]);
    }

    #[test]
    fn no_debugging_directive_is_too_odd() {
        for text in [".loc", ".loc 1", ".loc x y", ".file 1", ".file \"a\"", ".loc 3 4 5\nret;"] {
            assert_eq!(origins(text).of(1), None, "{text}");
        }
    }
}
