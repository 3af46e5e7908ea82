//! Modules that something happened to, and words of PTX thrown together.

use crate::choices::Choices;

/// What a module is made of.
const WORDS: &[&str] = &[
    "ld",
    "st",
    "atom",
    "red",
    "fence",
    "membar",
    "ldu",
    "mov",
    ".global",
    ".shared",
    ".const",
    ".local",
    ".param",
    ".param::func",
    ".relaxed",
    ".acquire",
    ".volatile",
    ".weak",
    ".mmio",
    ".gpu",
    ".sys",
    ".cluster",
    ".nc",
    ".ca",
    ".L1::evict_last",
    ".L2::evict_first",
    ".L2::cache_hint",
    ".L2::64B",
    ".u32",
    ".b128",
    ".f16x2",
    ".v2",
    ".v8",
    ".cas",
    ".add",
    ".noftz",
    ".proxy",
    ".alias",
    ".unified",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ";",
    ":",
    "+",
    "-",
    "!",
    "@",
    "_",
    "=",
    "<",
    ">",
    ".",
    "::",
    "%r1",
    "%rd1",
    "%p1",
    "gbl",
    "0",
    "1",
    "-4",
    "0x7fffffffffffffff",
    "18446744073709551615",
    "9223372036854775808",
    "1.5e-3",
    "0f3F800000",
    "%tid.x",
    "//",
    "/*",
    "*/",
    "\"",
    "\\",
    "\n",
    " ",
    "\t",
    ".reg",
    ".pred",
    ".version",
    ".target",
    "sm_90",
    "9.4",
    ".address_size",
    "64",
    ".entry",
    ".func",
    "k",
    ".visible",
    ".extern",
    ".align",
    ".attribute",
    ".b8",
    ".ptr",
    ".section",
    ".loc",
    ".file",
    "@@DWARF",
    "call",
    "%r<4000000000>",
    "é",
    "\u{feff}",
    "\0",
    "ret",
];

/// Words in any order, some of them in a function.
pub(crate) fn words(c: &mut Choices<'_>, count: usize) -> String {
    let mut text = String::new();
    if c.once_in(2) {
        text.push_str(".version 9.4\n.target sm_120\n.global .u32 gbl;\n.entry k() {\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n");
    }
    for _ in 0..count {
        text.push_str(c.of(WORDS));
        text.push_str(c.of(&["", "", " ", "\n"]));
    }
    text
}

/// A text after a few accidents: bytes changed, pieces lost, doubled, moved or cut off.
pub(crate) fn damaged(text: &str, c: &mut Choices<'_>) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=c.below(4) {
        let length = bytes.len();
        let mut position = || c.below(1 << 16) * length.max(1) / (1 << 16);
        let (from, to) = (position(), position());
        let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 64));
        match c.below(7) {
            0 if length > 0 => bytes[from] = c.of(b"{}[]();,.:@!%_-+<>\"/*\n\0 a9\xff\xc3"),
            1 => drop(bytes.drain(from..to)),
            2 => {
                let piece = bytes[from..to].to_vec();
                bytes.splice(to..to, piece);
            }
            3 => {
                let piece: Vec<u8> = bytes.drain(from..to).collect();
                let target = from / 2;
                bytes.splice(target..target, piece);
            }
            4 => bytes.truncate(length - from / 4),
            5 if length > 0 => bytes[from] ^= 1 << c.below(8),
            _ => {
                let word = c.of(WORDS);
                bytes.splice(from..from, word.bytes());
            }
        }
    }
    bytes
}
