//! `causeway sass read`: lists the functions of a listing.

use std::io::{self, Write};
use std::path::Path;

use machine::form::Family;
use sass::form;
use sass::listing::{Function, listing};
use sass::opcode::{self, Class};
use text::diagnostic::Severity;
use text::escape::escaped;

use crate::input;
use crate::kind::FileKind;
use crate::report::count_of;
use crate::sass::args::SassRead;
use describe::sass as words;
use engine::exit::Exit;
use engine::interrupt;

/// Reads all files. The worst result determines the exit code.
pub fn command(read: &SassRead, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let files = match input::find(&read.paths, "sass") {
        Ok(files) => files,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    if files.is_empty() {
        writeln!(err, "error: no .sass file found in the given paths")?;
        return Ok(Exit::BadInput);
    }
    let mut exit = Exit::AsExpected;
    for file in files.iter().take_while(|_| !interrupt::raised()) {
        exit = exit.max(one(read, file, out, err)?);
    }
    Ok(exit)
}

fn one(read: &SassRead, file: &Path, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let path = file.to_string_lossy();
    let bytes = match input::read_kind(file, FileKind::Sass) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(err, "error: {}: {error}", input::shown(file))?;
            return Ok(Exit::BadInput);
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let listed = listing(&path, &text, read.arch);
    let mut exit = if listed.unread > 0 { Exit::BadInput } else { Exit::AsExpected };
    for diagnostic in &listed.diagnostics {
        writeln!(out, "{diagnostic:#}")?;
        if diagnostic.severity == Severity::Error {
            exit = exit.max(Exit::Differs);
        }
    }
    if listed.functions.is_empty() {
        writeln!(err, "error: {}: this file contains no instructions", input::shown(file))?;
        return Ok(Exit::BadInput);
    }
    let sm = read.arch.or(listed.sm);
    for function in &listed.functions {
        let name = escaped(if function.name.is_empty() { &path } else { function.name });
        let of = sm.map_or(String::new(), |sm| format!(" (sm_{sm})"));
        let memory = function.lines.iter().filter(|line| is_memory(line.instruction.opcode.text));
        let (all, memory) = (function.lines.len(), memory.count());
        writeln!(out, "{name}{of}: {}, {memory} of memory", count_of(all, "instruction"))?;
        lines(read, function, sm, out)?;
    }
    Ok(exit)
}

fn is_memory(name: &str) -> bool {
    opcode::class(name).is_none_or(|class| {
        !matches!(
            class,
            Class::Arithmetic | Class::Special | Class::Branch | Class::Exit | Class::Nothing
        )
    })
}

fn lines(
    read: &SassRead,
    function: &Function<'_>,
    sm: Option<u16>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = function
        .lines
        .iter()
        .filter(|line| read.verbose || is_memory(line.instruction.opcode.text))
        .map(|line| (line, line.instruction.to_string()));
    let shown: Vec<_> = shown.collect();
    let width = shown.iter().map(|(_, text)| text.len()).max().unwrap_or(0).min(60);
    for (line, text) in shown {
        if read.verbose {
            line.labels.iter().try_for_each(|label| writeln!(out, "{label}:"))?;
        }
        let place = match line.address {
            Some(address) => format!("{address:04x}"),
            None => format!("{:4}", line.number),
        };
        let does = form::of(&line.instruction, sm.and_then(Family::of));
        match words::brief(&line.instruction, &does) {
            Some(brief) => writeln!(out, "  {place}  {text:width$}  {brief}")?,
            None => writeln!(out, "  {place}  {text}")?,
        }
    }
    Ok(())
}
