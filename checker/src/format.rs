//! `causeway fmt`: rewrites litmus tests in one style, in place.

pub(crate) mod diff;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use engine::exit::Exit;
use litmus::format::{Unformatted, format};

use crate::complaints::complain_of;
use crate::input;
use crate::kind::FileKind;
use crate::output::replace;

#[derive(Args, Debug)]
pub struct Fmt {
    /// Files, folders to search for .litmus files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Write nothing; list the files that are not formatted
    #[arg(long)]
    pub check: bool,
    /// Write nothing; show what would change
    #[arg(long)]
    pub diff: bool,
}

pub fn command(command: &Fmt, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let files = match input::find(&command.paths, "litmus") {
        Ok(files) => files,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    if files.is_empty() {
        writeln!(err, "error: no .litmus file found in the given paths")?;
        return Ok(Exit::BadInput);
    }
    let mut worst = Exit::AsExpected;
    for path in &files {
        worst = worst.max(one(command, path, out, err)?);
    }
    Ok(worst)
}

fn one(command: &Fmt, path: &Path, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let shown = input::shown(path);
    let bytes = match input::read_kind(path, FileKind::Litmus) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(err, "error: {shown}: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    let formatted = match format(&path.to_string_lossy(), &bytes) {
        Ok(formatted) => formatted,
        Err(Unformatted::Rejected(diagnostics)) => {
            complain_of(&diagnostics, err)?;
            return Ok(Exit::BadInput);
        }
        Err(Unformatted::Changed) => {
            writeln!(err, "error: {shown}: formatting would change the meaning of this test")?;
            writeln!(err, "note: the file is unchanged; this is a bug in causeway")?;
            return Ok(Exit::Disagreement);
        }
    };
    let same = formatted.as_bytes() == bytes;
    if command.check || command.diff {
        if same {
            return Ok(Exit::AsExpected);
        }
        if command.diff {
            write!(
                out,
                "{}",
                diff::unified(&shown, "formatted", &String::from_utf8_lossy(&bytes), &formatted)
            )?;
        } else {
            writeln!(out, "{shown}")?;
        }
        return Ok(Exit::Differs);
    }
    if input::is_standard(path) {
        write!(out, "{formatted}")?;
    } else if !same && let Err(error) = replace(path, formatted.as_bytes()) {
        writeln!(err, "error: {shown}: {error}")?;
        return Ok(Exit::BadInput);
    }
    Ok(Exit::AsExpected)
}
