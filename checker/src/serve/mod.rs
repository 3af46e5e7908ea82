//! `causeway serve`: the page that asks, on this computer.

pub mod args;
mod http;

use std::io::{self, Write};
use std::net::TcpListener;

use answer::{AnswerLimits, AnswerSettings};
use engine::exit::Exit;
use text::report::ErrorReported;

use self::args::Serve;
use crate::input;
use crate::selection::SelectedModel;
use crate::words::{self, TestSource};

/// Serves the page until the run is interrupted.
pub(crate) fn command(
    command: &Serve,
    selected: SelectedModel,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let Ok(first) = first_test(command, err)? else { return Ok(Exit::BadInput) };
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
    http::serve(listener, settings, jobs, first.as_deref())?;
    Ok(Exit::AsExpected)
}

/// The test that the page begins with, if the command line names one. What is wrong with it is printed.
fn first_test(
    command: &Serve,
    err: &mut dyn Write,
) -> io::Result<Result<Option<String>, ErrorReported>> {
    let Some(path) = &command.path else {
        let Some(option) = command.asked.first_option() else { return Ok(Ok(None)) };
        writeln!(err, "error: {}", words::without_functions(option, "k.ptx", "serve"))?;
        return Ok(Err(ErrorReported));
    };
    match words::source(path, command.words.as_deref(), &command.asked, "serve", err) {
        Ok(TestSource { bytes, made }) => {
            made.iter().try_for_each(|made| words::print_notes(made, err))?;
            Ok(Ok(Some(String::from_utf8_lossy(&bytes).into_owned())))
        }
        Err(unread) => {
            words::litmus::complain(&input::shown(path), &unread, err)?;
            Ok(Err(ErrorReported))
        }
    }
}
