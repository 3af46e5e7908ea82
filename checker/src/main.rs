//! The command `causeway`: parses the arguments, runs the command and exits.

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use checker::cli::{Cli, Colour};
use checker::config::{self, ArgumentError};
use checker::output::{self, OutputFile, SharedOutput};
use checker::signals;
use checker::terminal::TerminalText;
use clap::ValueEnum;
use engine::exit::{CLOSED, Exit, INTERRUPTED};
use engine::interrupt;

/// The engines allocate much, and little at a time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The time that an interrupted run has to print its results so far.
const GRACE: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let here = std::env::current_dir().ok();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let colour = asked_colour(&arguments).into();
    let mut err = TerminalText::of_errors(AutoStream::new(io::stderr(), colour));
    let cli = match config::parse(arguments, here.as_deref()) {
        Ok(cli) => cli,
        Err(ArgumentError::Config(text)) => {
            let _ = writeln!(err, "{text}");
            return ExitCode::from(Exit::BadInput.code());
        }
        Err(ArgumentError::Arguments(error)) if error.use_stderr() => {
            let _ = write!(err, "{}", error.render().ansi());
            return ExitCode::from(Exit::BadInput.code());
        }
        // The text of `--help` or `--version`.
        Err(ArgumentError::Arguments(text)) => {
            let mut out = AutoStream::new(io::stdout().lock(), colour);
            let printed = write!(out, "{}", text.render().ansi()).and_then(|()| out.flush());
            return ended(printed.map(|()| Exit::AsExpected), &mut err);
        }
    };
    // The configuration may choose it, too.
    let colour = cli.color.into();
    let mut err = TerminalText::of_errors(AutoStream::new(io::stderr(), colour));
    let file = match cli.check_outputs().and_then(|()| created(&cli)) {
        Ok(file) => file,
        Err(error) => return ended(Err(error), &mut err),
    };
    let mut out: Box<dyn Write> = match &file {
        None => Box::new(BufWriter::new(AutoStream::new(io::stdout().lock(), colour))),
        Some(file) => {
            // A file has no colours unless they are requested.
            let colour = if cli.color == Colour::Auto { ColorChoice::Never } else { colour };
            let file: Box<dyn Write> = Box::new(file.clone());
            Box::new(BufWriter::new(AutoStream::new(file, colour)))
        }
    };
    let interrupted = file.clone();
    let end = move || {
        interrupt::raise();
        // The solver cannot be stopped from here. Finished results have been printed by then.
        std::thread::sleep(GRACE);
        let _ = interrupted.map(|file| file.lock().commit());
        output::discard_unfinished();
        std::process::exit(INTERRUPTED.into());
    };
    if let Err(error) = signals::on_end(end) {
        let _ = writeln!(err, "warning: Ctrl-C will end the program without a summary: {error}");
    }
    let done = checker::run::run(&cli, &mut *out, &mut err).and_then(|exit| {
        out.flush()?;
        match &file {
            // An error before the first result: what the file had is kept.
            Some(file) if exit == Exit::BadInput && !file.lock().is_written() => {}
            Some(file) => file.lock().commit()?,
            None => {}
        }
        Ok(exit)
    });
    // The thread that waits for signals has the file, too: nothing else removes what is not whole.
    output::discard_unfinished();
    if done.is_ok() && interrupt::raised() {
        return ExitCode::from(INTERRUPTED);
    }
    ended(done, &mut err)
}

/// The colour of what is said of arguments that cannot be read.
fn asked_colour(arguments: &[OsString]) -> Colour {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let apart = words.windows(2).find_map(|two| (two[0] == "--color").then_some(two[1]));
    let asked = joined.or(apart).and_then(|when| Colour::from_str(when, false).ok());
    asked.unwrap_or(Colour::Auto)
}

/// The file that the results go to, if it is not standard output.
fn created(cli: &Cli) -> io::Result<Option<SharedOutput>> {
    let Some(path) = &cli.output else { return Ok(None) };
    let file = OutputFile::create(path)?;
    Ok(Some(SharedOutput::new(if cli.is_endless() { file.endless() } else { file })))
}

/// The exit code of the process. An output that could not be written is an error.
fn ended(done: io::Result<Exit>, err: &mut dyn Write) -> ExitCode {
    match done {
        Ok(exit) => ExitCode::from(exit.code()),
        // The reader closed the output before the end, so nothing was decided.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(CLOSED),
        Err(error) => {
            let _ = writeln!(err, "error: {error}");
            ExitCode::from(Exit::BadInput.code())
        }
    }
}
