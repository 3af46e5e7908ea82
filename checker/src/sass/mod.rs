//! `causeway sass`: SASS, the machine code of the GPU.

pub mod args;
pub mod explain;
pub mod read;

use std::io::{self, BufRead, Read, Write};

use sass::decode;

use crate::input as files;
use crate::sass::args::Decode;
use engine::exit::Exit;

/// The limit on the length of a line, in bytes. An instruction word is far shorter.
const LONGEST: u64 = 64 << 10;

/// Prints one line for each line of `input`: the text of the instruction word, or `?` and the reason.
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
