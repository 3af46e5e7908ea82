//! The command `causeway`: parses the arguments, runs the command and exits.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::Duration;

use anstream::AutoStream;
use checker::cli::Cli;
use clap::Parser;
use engine::exit::{CLOSED, Exit, INTERRUPTED};
use engine::interrupt;

/// The engines allocate much, and little at a time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The time that an interrupted run has to print its results so far.
const GRACE: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => error.exit(),
        // The text of `--help` or `--version`.
        Err(text) => {
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
    let mut out = BufWriter::new(AutoStream::new(io::stdout().lock(), colour));
    let mut err = AutoStream::new(io::stderr(), colour);
    if let Err(error) = ctrlc::set_handler(handler) {
        let _ = writeln!(err, "warning: Ctrl-C will end the program without a summary: {error}");
    }
    let done = checker::run::run(&cli, &mut out, &mut err).and_then(|exit| {
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
