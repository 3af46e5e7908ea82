//! The terminal: what each command shows of what it judged, and what it amounts to.

use std::io::{self, Write};

use super::{Report, Reported, Sum};

pub(super) struct Text;

impl Report for Text {
    fn one(&mut self, one: &dyn Reported, out: &mut dyn Write) -> io::Result<()> {
        one.text(out)
    }

    fn sum(&mut self, sum: &dyn Sum, out: &mut dyn Write) -> io::Result<()> {
        sum.text(out)
    }
}

/// Text of the terminal without its colours.
pub(super) fn plain(text: &[u8]) -> String {
    anstream::adapter::strip_str(&String::from_utf8_lossy(text)).to_string()
}
