//! `causeway export`: litmus tests for other tools.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::exit::Exit;
use generate::export::{self, CudaProgram, ExportFormat, Inexpressible};
use litmus::Test;
use model::rel::Model;

use super::args::{Export, ExportKind};
use crate::complaints;
use crate::input::{self, shown};
use crate::kind::FileKind;
use crate::output::OutputFolder;
use crate::report::count_of;

/// Exports each test. A test that a format cannot express is an error.
pub fn command(
    command: &Export,
    model: &Model,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let format = match command.format {
        ExportKind::Dat3m => ExportFormat::Dat3m,
        ExportKind::HerdLisa => ExportFormat::HerdLisa,
        ExportKind::Ptx => ExportFormat::Ptx,
        ExportKind::Cuda => ExportFormat::Cuda,
    };
    if command.readings.choices().next().is_some() && format != ExportFormat::HerdLisa {
        writeln!(
            err,
            "error: `--reading` is about the model of `--format herd-lisa`, and this format has none"
        )?;
        writeln!(err, "help: leave it out: the same test is written")?;
        return Ok(Exit::BadInput);
    }
    let files = match input::find(&command.paths, "litmus") {
        Ok(files) => files,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    };
    if files.is_empty() && !command.paths.is_empty() {
        writeln!(err, "error: no .litmus file found in the given paths")?;
        return Ok(Exit::BadInput);
    }
    if format == ExportFormat::Cuda && command.out.is_none() {
        return one_program(&files, out, err);
    }
    if files.len() > 1 && command.out.is_none() {
        writeln!(err, "error: several tests are exported to a folder")?;
        writeln!(err, "help: --out FOLDER")?;
        return Ok(Exit::BadInput);
    }
    let Some(folder) = &command.out else {
        return match files.first() {
            Some(file) => exported(file, format, err)?.map_or(Ok(Exit::BadInput), |text| {
                write!(out, "{text}")?;
                Ok(Exit::AsExpected)
            }),
            None => Ok(Exit::AsExpected),
        };
    };
    let mut written = OutputFolder::create(folder)?;
    let (mut names, mut taken) = (Vec::new(), HashSet::new());
    let mut refused = 0;
    for file in &files {
        let Some(text) = exported(file, format, err)? else {
            refused += 1;
            continue;
        };
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        // Files of several folders may have one name.
        let mut name = format!("{stem}.{}", format.extension());
        for number in 2.. {
            if taken.insert(name.clone()) {
                break;
            }
            name = format!("{stem}-{number}.{}", format.extension());
        }
        written.write(name.clone(), text.as_bytes())?;
        names.push(name);
    }
    written.write("@all".to_owned(), (names.join("\n") + "\n").as_bytes())?;
    if format == ExportFormat::HerdLisa {
        written.write("ptx.bell".to_owned(), export::bell().as_bytes())?;
        written.write("ptx.cat".to_owned(), export::cat(model).as_bytes())?;
    }
    written.commit()?;
    let refused = if refused > 0 { format!(", {refused} not") } else { String::new() };
    let count = count_of(names.len(), "test");
    writeln!(out, "{count} exported to {}{refused}", shown(folder))?;
    Ok(if refused.is_empty() { Exit::AsExpected } else { Exit::BadInput })
}

/// One program of CUDA that runs all tests.
fn one_program(files: &[PathBuf], out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let mut program = CudaProgram::default();
    let mut refused = 0;
    for file in files {
        let Some(test) = parsed(file, err)? else {
            refused += 1;
            continue;
        };
        if let Err(no) = program.add(&test) {
            complain(file, &no, err)?;
            refused += 1;
        }
    }
    if refused < files.len() {
        write!(out, "{}", program.text())?;
    }
    if files.len() > 1 && refused > 0 {
        let count = count_of(files.len() - refused, "test");
        writeln!(err, "{count} exported, {refused} not")?;
    }
    Ok(if refused == 0 { Exit::AsExpected } else { Exit::BadInput })
}

/// The text of a test; nothing after an error was printed.
fn exported(file: &Path, format: ExportFormat, err: &mut dyn Write) -> io::Result<Option<String>> {
    let Some(test) = parsed(file, err)? else { return Ok(None) };
    match export::export(&test, format) {
        Ok(written) => Ok(Some(written)),
        Err(no) => {
            complain(file, &no, err)?;
            Ok(None)
        }
    }
}

fn complain(file: &Path, no: &Inexpressible, err: &mut dyn Write) -> io::Result<()> {
    writeln!(err, "error: {}:{}: the format cannot express {}", shown(file), no.line, no.what)
}

/// A test; nothing after an error was printed.
fn parsed(file: &Path, err: &mut dyn Write) -> io::Result<Option<Test>> {
    let path = file.to_string_lossy();
    let bytes = match input::read_kind(file, FileKind::Litmus) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(err, "error: {}: {error}", shown(file))?;
            return Ok(None);
        }
    };
    match litmus::parse(&path, &bytes) {
        Ok(parsed) => Ok(Some(parsed)),
        Err(diagnostics) => {
            complaints::complain_of(&diagnostics, err)?;
            Ok(None)
        }
    }
}
