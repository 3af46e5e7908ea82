//! The source lines of a module: `!dbg` of functions and instructions, and the metadata that it names.

use std::collections::BTreeMap;

use text::origin::{Origin, Origins, in_file_of_outermost};
use text::report::{Diagnostics, LineIndex};

use super::lex::{self, Token, TokenKind};

/// A node of metadata: its kind and its fields.
type MetadataNode<'a> = (&'a str, BTreeMap<&'a str, &'a str>);

/// The metadata of a module, by name.
type Nodes<'a> = BTreeMap<&'a str, MetadataNode<'a>>;

/// The greatest depth of scopes in scopes.
const DEEPEST: usize = 1000;

/// The origins of the lines of a module. Of an instruction that was inlined, it is the innermost
/// line in the file of the outermost call.
pub fn origins(text: &str) -> Origins {
    let mut origins = Origins::default();
    if !text.contains("!DI") {
        return origins;
    }
    let index = LineIndex::of(text);
    // What cannot be read is reported by the reader of functions.
    let lines = lex::lines(text, &mut Diagnostics::default());
    let word = |token: &Token| token.at.of(text);
    let nodes: Nodes<'_> = lines.iter().filter_map(|line| node(text, line)).collect();
    for line in &lines {
        let named = line.iter().position(|token| word(token) == "!dbg");
        let named = named.and_then(|at| line.get(at + 1)).map(word);
        let inlined = |at: &&str| nodes.get(at)?.1.get("inlinedAt").copied();
        let places = std::iter::successors(named, inlined);
        let known = places.filter_map(|name| origin(&nodes, name));
        let origin = in_file_of_outermost(known, |origin| origin.file.clone());
        origins.begin(index.number(line[0].at), origin);
    }
    origins
}

/// `!11 = distinct !DILocation(line: 24, column: 5, scope: !4)`
fn node<'a>(text: &'a str, line: &[Token]) -> Option<(&'a str, MetadataNode<'a>)> {
    let word = |at: usize| line.get(at).map_or("", |token| token.at.of(text));
    if !word(0).starts_with('!') || word(1) != "=" {
        return None;
    }
    let kind = if word(2) == "distinct" { 3 } else { 2 };
    let is_sign = |at: usize| line.get(at).is_some_and(|token| token.kind == TokenKind::Sign);
    let colons = (kind + 1..line.len()).filter(|at| is_sign(*at) && word(*at) == ":");
    let fields = colons.map(|at| (word(at - 1), word(at + 1)));
    Some((word(0), (word(kind), fields.collect())))
}

/// The line of a location or a function.
fn origin(nodes: &Nodes<'_>, name: &str) -> Option<Origin> {
    let (_, fields) = nodes.get(name)?;
    let line = fields.get("line")?.parse().ok()?;
    // The nearest scope with a file.
    let mut scope = name;
    for _ in 0..DEEPEST {
        let (_, fields) = nodes.get(scope)?;
        if let Some(file) = fields.get("file") {
            return Some(Origin { file: path(nodes, file)?, line });
        }
        scope = fields.get("scope")?;
    }
    None
}

/// `!1 = !DIFile(filename: "lock.py", directory: "/root")`
fn path(nodes: &Nodes<'_>, file: &str) -> Option<String> {
    let (kind, fields) = nodes.get(file)?;
    let field = |name: &str| fields.get(name).map(|text| text.trim_matches('"'));
    let name = field("filename").filter(|_| *kind == "!DIFile")?;
    let folder = field("directory").filter(|folder| !folder.is_empty() && !name.starts_with('/'));
    Some(folder.map_or(name.to_owned(), |folder| format!("{folder}/{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_has_the_line_of_its_location() {
        let text = "define void @f(ptr %p) !dbg !4 {\n\
            \x20 store i32 1, ptr %p, align 4, !dbg !6\n\
            \x20 fence release\n\
            \x20 store i32 2, ptr %p, align 4, !tbaa !9, !dbg !7\n\
            \x20 store i32 3, ptr %p, align 4, !dbg !11\n\
            \x20 ret void, !dbg !10\n}\n\
            !1 = !DIFile(filename: \"lock.py\", directory: \"/root\")\n\
            !2 = !DIFile(filename: \"/lib/sync: file: !1.py\", directory: \"/root\")\n\
            !4 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, line: 23, unit: !0)\n\
            !5 = !DILexicalBlock(scope: !4, line: 1)\n\
            !6 = !DILocation(line: 24, column: 5, scope: !5)\n\
            !7 = !DILocation(line: 7, column: 1, scope: !8, inlinedAt: !6)\n\
            !8 = distinct !DISubprogram(name: \"g\", scope: !2, file: !2, line: 6, unit: !0)\n\
            !10 = !DILocation(line: 0, scope: !4)\n\
            !11 = !DILocation(line: 9, scope: !8)\n";
        let origins = origins(text);
        let said: Vec<Option<String>> = (1..7)
            .map(|line| origins.of(line).map(|of| format!("{}:{}", of.file, of.line)))
            .collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            said,
            [
                some("/root/lock.py:23"),
                some("/root/lock.py:24"),
                None,
                // It is inlined there.
                some("/root/lock.py:24"),
                some("/lib/sync: file: !1.py:9"),
                None
            ]
        );
    }

    #[test]
    fn no_metadata_is_too_odd() {
        for text in [
            "!1 = !DILocation(",
            "!1 =",
            "f, !dbg",
            "x !dbg !1\n!1 = !DILocation(line: 3, scope: !1)",
        ] {
            assert_eq!(origins(text).of(1), None, "{text}");
        }
    }
}
