//! `causeway sass`: the machine's own instructions.

pub mod explain;
pub mod read;

use std::io::{self, BufRead, Read, Write};

use sass::decode;

use crate::cli::Decode;
use crate::input as files;
use engine::exit::Exit;

/// A word is far shorter.
const LONGEST: u64 = 64 << 10;

/// Answers each line of `input` with one line: the text of its word, or `?` and why there is none.
pub fn decode(
    command: &Decode,
    mut input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<Exit> {
    let mut exit = Exit::AsExpected;
    let mut line = Vec::new();
    let mut mark = files::MARK;
    while Read::take(&mut input, LONGEST).read_until(b'\n', &mut line)? > 0 {
        if line.len() as u64 == LONGEST {
            return Err(io::Error::other("a line of standard input has more than 64 KiB"));
        }
        let word = line.strip_prefix(std::mem::take(&mut mark)).unwrap_or(&line);
        match decode::line(&String::from_utf8_lossy(word), command.arch) {
            Ok(text) => writeln!(out, "{text}")?,
            Err(unknown) => {
                writeln!(out, "? {}", unknown.reason())?;
                exit = Exit::BadInput;
            }
        }
        line.clear();
    }
    Ok(exit)
}
