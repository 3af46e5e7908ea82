//! `causeway serve`: the page that asks, on this computer.

pub mod args;
mod http;

use std::io::{self, Write};
use std::net::TcpListener;

use answer::{AnswerLimits, AnswerSettings};
use engine::exit::Exit;

use self::args::Serve;
use crate::selection::SelectedModel;

/// Serves the page until the run is interrupted.
pub(crate) fn command(
    command: &Serve,
    selected: SelectedModel,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let limits = AnswerLimits {
        bound: command.judging.bound,
        timeout: command.timeout,
        memory: usize::try_from(command.memory.as_u64()).unwrap_or(usize::MAX),
    };
    let listener = match TcpListener::bind(command.listen) {
        Ok(listener) => listener,
        Err(error) => {
            writeln!(err, "error: {}: {error}", command.listen)?;
            writeln!(err, "help: `--listen 127.0.0.1:0` takes any free port")?;
            return Ok(Exit::BadInput);
        }
    };
    let address = listener.local_addr()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = command.jobs.map_or(cores, usize::from);
    let settings = AnswerSettings::new(selected.model, selected.readings, limits);
    writeln!(out, "http://{address}/")?;
    out.flush()?;
    http::serve(listener, settings, jobs)?;
    Ok(Exit::AsExpected)
}
