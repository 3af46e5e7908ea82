//! The source lines of a listing: comments of `nvdisasm -g` and `-gi`.

use text::origin::{Origin, Origins};

/// Before the name of the file.
const FILE: &str = "//## File \"";

/// The origins of the lines of a listing.
///
/// With `-gi`, the line of the innermost function is first, and then those of its callers.
pub fn origins(text: &str) -> Origins {
    let mut origins = Origins::default();
    if !text.contains(FILE) {
        return origins;
    }
    let mut caller = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let found = origin(line);
        if line.starts_with(".section") || line.starts_with("Function :") {
            origins.begin(number, None);
        } else if found.is_some() && !caller {
            origins.begin(number, found.clone());
        }
        caller = found.is_some();
    }
    origins
}

/// `//## File "/root/lock.py", line 24 inlined at …`
fn origin(line: &str) -> Option<Origin> {
    let (file, rest) = line.strip_prefix(FILE)?.split_once('"')?;
    let digits = rest.strip_prefix(", line ")?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    Some(Origin { file: file.to_owned(), line: digits[..end].parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_holds_up_to_the_next_one_or_the_next_section() {
        let text = "\t.section\t.text.f,\"ax\",@progbits\nf:\n\
            \t//## File \"/root/lock.py\", line 24\n\
            \x20       /*0000*/                   LDC R1, c[0x0][0x28] ;\n\
            \x20       /*0010*/                   EXIT ;\n\
            \t//## File \"/root/lib.py\", line 196 inlined at \"/root/lock.py\", line 30\n\
            \t//## File \"/root/lock.py\", line 30\n\
            .L_x_1:\n\
            \x20       /*0020*/                   BRA `(.L_x_1) ;\n\
            \t.section\t.text.g,\"ax\",@progbits\n\
            \x20       /*0000*/                   EXIT ;\n";
        let origins = origins(text);
        let said = |line: usize| origins.of(line).map(|of| format!("{}:{}", of.file, of.line));
        assert_eq!(said(5), Some("/root/lock.py:24".to_owned()));
        assert_eq!(said(9), Some("/root/lib.py:196".to_owned()));
        assert_eq!([said(1), said(11)], [None, None]);
    }
}
