//! The command `causeway`: parse, run, exit.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use checker::cli::Cli;
use checker::exit::Exit;
use clap::Parser;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let colour = cli.color.into();
    let mut out = BufWriter::new(AutoStream::new(io::stdout().lock(), colour));
    let mut err = AutoStream::new(io::stderr(), colour);
    let exit = match checker::run::run(&cli, &mut out, &mut err).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    }) {
        Ok(exit) => exit,
        // Whoever reads our output has had enough of it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::AsExpected,
        Err(error) => {
            let _ = writeln!(err, "error: {error}");
            Exit::BadInput
        }
    };
    ExitCode::from(exit.code())
}
