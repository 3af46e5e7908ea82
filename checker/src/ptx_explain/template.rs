//! Instructions as they stand in inline assembly: `asm volatile("…" : … )` of CUDA C++, and operands that
//! a compiler fills in.

use std::borrow::Cow;

/// The instructions of an argument: those in the strings of an `asm` statement, or the argument itself.
/// Operands of templates, `{name}` and `${0:x}`, become names.
pub(super) fn instructions(text: &str) -> Vec<Cow<'_, str>> {
    let Some(code) = strings(text) else { return vec![names(text)] };
    // Without the braces of a block, labels, and declarations.
    let plain = |one: &str| {
        let one = one.trim().trim_start_matches(['{', '}']).trim_start();
        let label = one.split_once(':').filter(|(name, _)| name.chars().all(is_word));
        names(label.map_or(one, |(_, behind)| behind.trim_start())).into_owned()
    };
    let instructions = code.split(';').map(plain);
    instructions.filter(|one| !one.is_empty() && !one.starts_with('.')).map(Cow::Owned).collect()
}

/// The strings of an `asm` statement, joined, up to its first `:`; `None` if it is none.
fn strings(text: &str) -> Option<String> {
    let rest = text.trim_start();
    let rest = ["asm", "__asm__"].iter().find_map(|name| rest.strip_prefix(name))?.trim_start();
    let rest = ["volatile", "__volatile__"].iter().find_map(|name| rest.strip_prefix(name));
    let rest = rest.unwrap_or(&text[text.find("asm")?..]);
    let mut rest = rest[rest.find('(')? + 1..].trim_start();
    let mut code = String::new();
    while let Some(inside) = rest.strip_prefix('"') {
        let mut end = None;
        let mut characters = inside.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    end = Some(at);
                    break;
                }
                '\\' => code.push(match characters.next().map(|(_, escaped)| escaped) {
                    Some('n' | 't' | 'r') | None => ' ',
                    Some(escaped) => escaped,
                }),
                c => code.push(c),
            }
        }
        rest = inside[end? + 1..].trim_start();
    }
    // `%%` is one sign.
    (!code.is_empty()).then(|| code.replace("%%", "%"))
}

/// `{name}` and `{0:e}` of Rust's and Python's templates, `${0}` and `${0:x}` of LLVM's, as names. A
/// vector has a `,`, and one of a single register of PTX has a `%`.
fn names(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else { break };
        let inside = &rest[open + 1..open + length];
        let name = inside.split(':').next().unwrap_or("").trim();
        if !name.is_empty() && name.chars().all(|c| is_word(c) && !matches!(c, '$' | '%')) {
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
            ("__asm__ __volatile__(\"membar.gl;\" ::: \"memory\")", &["membar.gl"]),
            ("asm volatile(\"open", &["asm volatile(\"open"]),
            ("{", &["{"]),
        ] {
            assert_eq!(instructions(text), wanted, "{text}");
        }
    }
}
