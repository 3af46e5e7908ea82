//! Escaped text of XML and HTML.

use std::fmt::Write;

use text::escape::is_order;

/// Escapes text for the content of an element or for a quoted attribute. A character that XML cannot have becomes U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(c),
            c if is_order(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes a start tag with attributes: `<name a="1">`.
pub fn open(out: &mut String, name: &str, attributes: &[(&str, &str)]) {
    tag(out, name, attributes, ">");
}

/// Writes an element without content: `<name a="1"/>`.
pub fn empty(out: &mut String, name: &str, attributes: &[(&str, &str)]) {
    tag(out, name, attributes, "/>");
}

fn tag(out: &mut String, name: &str, attributes: &[(&str, &str)], end: &str) {
    let _ = write!(out, "<{name}");
    for (attribute, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(out, " {attribute}=\"{}\"", escape(value));
    }
    out.push_str(end);
}

pub fn close(out: &mut String, name: &str) {
    let _ = write!(out, "</{name}>");
}

/// Writes an element with text.
pub fn element(out: &mut String, name: &str, attributes: &[(&str, &str)], text: &str) {
    open(out, name, attributes);
    out.push_str(&escape(text));
    close(out, name);
}
