//! `causeway sass`: the machine's own instructions.

pub mod explain;
mod operands;
pub mod read;
mod words;

use std::io::{self, BufRead, Write};

use litmus::sass::decode;

use crate::cli::Decode;
use crate::exit::Exit;

/// Answers each line of `input` with one line: the text of its word, or `?` and why there is none.
pub fn decode(command: &Decode, input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<Exit> {
    let mut exit = Exit::AsExpected;
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        match decode::line(&String::from_utf8_lossy(&line), command.arch) {
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
