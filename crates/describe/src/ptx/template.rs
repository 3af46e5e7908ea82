//! Instructions as written in inline assembly: `asm volatile("…" : … )` of CUDA C++, `asm!("…", …)` of Rust, or
//! their string literals alone, including raw ones; and operands that a compiler inserts.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The instructions in an argument. The argument is an `asm` statement, string literals, or the instructions
/// themselves. Template operands such as `{name}` and `${0:x}` become names.
pub fn instructions(text: &str) -> Vec<Cow<'_, str>> {
    let Some(code) = strings(text) else { return vec![names(text)] };
    // Removes the braces of a block, labels and declarations.
    let plain = |one: &str| {
        let mut one = one.trim();
        loop {
            let inside = one.trim_start_matches(['{', '}']).trim_start();
            let label = inside.split_once(':').filter(|(name, rest)| {
                !name.is_empty() && name.chars().all(is_word) && !rest.starts_with(':')
            });
            let rest = label.map_or(inside, |(_, after)| after.trim_start());
            if rest.len() == one.len() {
                return names(one).into_owned();
            }
            one = rest;
        }
    };
    let code = without_comments(&code);
    let instructions = code.split(';').map(plain);
    instructions.filter(|one| !one.is_empty() && !one.starts_with('.')).map(Cow::Owned).collect()
}

/// The joined string literals of an `asm` statement up to its first `:` or operand, or of a text that consists
/// of literals; `None` for any other text.
fn strings(text: &str) -> Option<String> {
    let mut rest = text.trim();
    let of_rust = ["core::arch::", "std::arch::", ""]
        .iter()
        .find_map(|path| rest.strip_prefix(path)?.strip_prefix("asm!"));
    let of_c = ["__asm__", "__asm", "asm"].iter().find_map(|name| rest.strip_prefix(name));
    let statement = of_rust.or(of_c);
    if let Some(after) = statement {
        rest = after.trim_start();
        while let Some(after) = ["__volatile__", "__volatile", "volatile"]
            .iter()
            .find_map(|word| rest.strip_prefix(word))
        {
            rest = after.trim_start();
        }
        rest = rest.strip_prefix(['(', '{', '['])?.trim_start();
    }
    let mut code = String::new();
    while let Some(after) = literal(rest, &mut code) {
        rest = after.trim_start();
        // In Rust, each literal is a line. In C++, the text after a comma is not code.
        if of_rust.is_some() {
            rest = rest.strip_prefix(',').map_or(rest, str::trim_start);
            code.push('\n');
        }
    }
    let whole = statement.is_some() || rest.trim_start_matches([',', ';']).trim().is_empty();
    if code.trim().is_empty() || !whole {
        return None;
    }
    Some(if of_rust.is_some() || of_c.is_none() && code.contains("{{") {
        formatted(&code)
    } else {
        // `%%` stands for one `%`.
        code.replace("%%", "%")
    })
}

/// Appends the string literal at the beginning of `text` to `code` and returns the text after it; `None` if
/// there is no literal or it is not terminated.
fn literal<'t>(text: &'t str, code: &mut String) -> Option<&'t str> {
    // `R"(…)"`, `R"name(…)name"` of C++.
    let raw = ["R\"", "u8R\"", "LR\""].iter().find_map(|open| text.strip_prefix(open));
    if let Some((name, inside)) = raw.and_then(|raw| raw.split_once('(')) {
        let (inside, after) = inside.split_once(&format!("){name}\""))?;
        code.push_str(inside);
        return Some(after);
    }
    // `r"…"`, `r#"…"#` of Rust.
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inside = raw[hashes..].strip_prefix('"')?;
        let (inside, after) = inside.split_once(&format!("\"{}", "#".repeat(hashes)))?;
        code.push_str(inside);
        return Some(after);
    }
    let inside = text.strip_prefix('"')?;
    let before = code.len();
    let mut characters = inside.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some(&inside[at + 1..]),
            '\\' => code.push(match characters.next().map(|(_, escaped)| escaped) {
                Some('n') => '\n',
                // A line continuation in the source.
                Some('t' | 'r' | '\n') | None => ' ',
                Some(escaped) => escaped,
            }),
            c => code.push(c),
        }
    }
    code.truncate(before);
    None
}

/// Expands a Rust template: `{{` and `}}` are braces, and single braces contain an operand.
fn formatted(code: &str) -> String {
    let mut out = String::new();
    let (mut rest, mut next) = (code, 0);
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            out.push_str(brace);
            rest = after;
        } else if let Some((inside, after)) = rest.split_once('}').filter(|_| brace == "{") {
            let name = inside.split(':').next().unwrap_or_default().trim();
            if name.is_empty() {
                let _ = write!(out, "%{next}");
                next += 1;
            } else {
                let digit = name.starts_with(|c: char| c.is_ascii_digit());
                out.push_str(if digit { "%" } else { "" });
                out.push_str(name);
            }
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// The code without `// …` and `/* … */`.
fn without_comments(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        out.push_str(&rest[..at]);
        let comment = &rest[at..];
        let end = if comment.starts_with("//") {
            comment.find('\n')
        } else {
            comment.find("*/").map(|end| end + 2)
        };
        rest = end.map_or("", |end| &comment[end..]);
        out.push(' ');
    }
    out.push_str(rest);
    out
}

/// Replaces `{name}` and `{0:e}` of Rust and Python templates, and `${0}` and `${0:x}` of LLVM, by names. A
/// vector is kept: it contains a `,`, or a `%` if it has a single PTX register, or holds the coordinate of a tensor.
fn names(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else { break };
        let inside = &rest[open + 1..open + length];
        let name = inside.split(':').next().unwrap_or("").trim();
        // The coordinate stands after the address: `[map, {c}]`.
        let before = &rest[..open];
        let coordinate = before.trim_end().ends_with(',')
            && before.rfind('[').is_some_and(|at| !before[at..].contains(']'));
        if !coordinate
            && !name.is_empty()
            && name.chars().all(|c| is_word(c) && !matches!(c, '$' | '%'))
        {
            let dollar = rest[..open].ends_with('$');
            out.push_str(&rest[..open]);
            let digit = name.starts_with(|c: char| c.is_ascii_digit());
            out.push_str(if digit && !dollar { "%" } else { "" });
            out.push_str(name);
        } else {
            out.push_str(&rest[..=open + length]);
        }
        rest = &rest[open + length + 1..];
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

#[cfg(test)]
mod tests {
    use super::instructions;

    #[test]
    fn inline_assembly_is_its_instructions() {
        for (text, wanted) in [
            ("ld.u32 %0, [$1];", &["ld.u32 %0, [$1];"][..]),
            ("st.u32 [{p}], {0:r}", &["st.u32 [p], %0"]),
            ("ld.v2.u32 {a, b}, [${1:x}]", &["ld.v2.u32 {a, b}, [$1]"]),
            ("ld.b32 {%r1}, [p]", &["ld.b32 {%r1}, [p]"]),
            ("asm(\"fence.sc.gpu;\")", &["fence.sc.gpu"]),
            (
                "asm volatile (\"{\\n\\t\" \"ld.u32 %0, [%1];\\n\" \"mov.u32 %0, %%tid.x;\" : \"=r\"(x));",
                &["ld.u32 %0, [%1]", "mov.u32 %0, %tid.x"],
            ),
            (
                "asm(\"{ .reg .pred p; L1: @p bra L1; ld.v2.u32 {%0, %1}, [%2]; }\" :: )",
                &["@p bra L1", "ld.v2.u32 {%0, %1}, [%2]"],
            ),
            (
                "asm volatile(\"{ LAB: \\n\" \"@p bra DONE; \" \"bra LAB; \" \"DONE: \\n\\t\" \"}\" :: \"r\"(a));",
                &["@p bra DONE", "bra LAB"],
            ),
            ("asm(\"{ { A: B: membar.gl; } C: } D:\" ::)", &["membar.gl"]),
            ("__asm__ __volatile__(\"membar.gl;\" ::: \"memory\")", &["membar.gl"]),
            ("asm volatile(\"open", &["asm volatile(\"open"]),
            ("\"ld.global.u32 %0, [%1];\"", &["ld.global.u32 %0, [%1]"]),
            ("  \"ld.u32 %0, [%1]; \" \"fence.sc.gpu;\";", &["ld.u32 %0, [%1]", "fence.sc.gpu"]),
            ("R\"(ld.u32 %0, [%1];)\"", &["ld.u32 %0, [%1]"]),
            (
                "asm volatile(R\"ptx(\n  ld.u32 %0, [%1]; // \"a) comment\"\n  membar.gl;\n)ptx\" :: )",
                &["ld.u32 %0, [%1]", "membar.gl"],
            ),
            ("asm(R\"(membar.gl;)\" \"fence.sc.gpu;\" ::)", &["membar.gl", "fence.sc.gpu"]),
            ("__asm volatile (\"membar.gl; /* all; */\");", &["membar.gl"]),
            ("asm!(r#\"ld.u32 {0}, [{1}];\"#, out(reg32) x, in(reg64) p)", &["ld.u32 %0, [%1]"]),
            (
                "core::arch::asm!(\"{{ .reg .pred p;\", \"ld.v2.u32 {{{}, {}}}, [{p:e}]; }}\", x = out(reg32) _)",
                &["ld.v2.u32 {%0, %1}, [p]"],
            ),
            ("r\"fence.sc.gpu;\"", &["fence.sc.gpu"]),
            ("asm(\"fence.sc.gpu;\\n// the rest\\nmembar.gl;\")", &["fence.sc.gpu", "membar.gl"]),
            ("red.add.u32 [a], 1", &["red.add.u32 [a], 1"]),
            ("R\"(open", &["R\"(open"]),
            ("\"a\" and \"b\"", &["\"a\" and \"b\""]),
            ("{", &["{"]),
        ] {
            assert_eq!(instructions(text), wanted, "{text}");
        }
    }
}
