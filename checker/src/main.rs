//! The command `causeway`: parses the arguments, runs the command and exits.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use checker::cli::Colour;
use checker::config::{self, ArgumentError};
use checker::input;
use engine::exit::{CLOSED, Exit, INTERRUPTED};
use engine::interrupt;

/// The engines allocate much, and little at a time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The time that an interrupted run has to print its results so far.
const GRACE: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let here = std::env::current_dir().ok();
    let cli = match config::parse(std::env::args_os().collect(), here.as_deref()) {
        Ok(cli) => cli,
        Err(ArgumentError::Config(text)) => {
            let mut err = AutoStream::auto(io::stderr());
            let _ = writeln!(err, "{text}");
            return ExitCode::from(Exit::BadInput.code());
        }
        Err(ArgumentError::Arguments(error)) if error.use_stderr() => error.exit(),
        // The text of `--help` or `--version`.
        Err(ArgumentError::Arguments(text)) => {
            let mut out = AutoStream::auto(io::stdout().lock());
            let printed = write!(out, "{}", text.render().ansi()).and_then(|()| out.flush());
            return ended(printed.map(|()| Exit::AsExpected), &mut io::stderr());
        }
    };
    let handler = || {
        interrupt::raise();
        // The solver cannot be stopped from here. Finished results have been printed by then.
        std::thread::sleep(GRACE);
        std::process::exit(INTERRUPTED.into());
    };
    let colour = cli.color.into();
    let mut err = AutoStream::new(io::stderr(), colour);
    let mut out: Box<dyn Write> = match &cli.output {
        None => Box::new(BufWriter::new(AutoStream::new(io::stdout().lock(), colour))),
        Some(path) => match File::create(path) {
            Ok(file) => {
                // A file has no colours unless they are asked for.
                let colour = if cli.color == Colour::Auto { ColorChoice::Never } else { colour };
                Box::new(BufWriter::new(AutoStream::new(file, colour)))
            }
            Err(error) => {
                let error = io::Error::other(format!("{}: {error}", input::shown(path)));
                return ended(Err(error), &mut err);
            }
        },
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        let _ = writeln!(err, "warning: Ctrl-C will end the program without a summary: {error}");
    }
    let done = checker::run::run(&cli, &mut *out, &mut err).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    if done.is_ok() && interrupt::raised() {
        return ExitCode::from(INTERRUPTED);
    }
    ended(done, &mut err)
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
