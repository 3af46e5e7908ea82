//! Runs each command.

use std::io::{self, IsTerminal, Write};

use engine::exit::Exit;
use judge::alternatives;

use crate::cli::{Cli, Command, PrintedKind, Ptx, Sass};
use crate::options::EngineName;
use crate::selection::{SelectedModel, engines, judging_model, model};
use crate::terminal::TerminalText;
use crate::{
    check, diff, explain, explore, fix, format, fuzz, generation, lint, lower, model_command,
    options, ptx_explain, sass, schema, serve, verify, words,
};

/// Runs a command. Results go to `out`, escaped if people read them; errors and warnings go to `err`.
pub fn run(cli: &Cli, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let at_terminal = cli.output.is_none() && io::stdout().is_terminal();
    match cli.printed() {
        PrintedKind::Text => {}
        PrintedKind::File if at_terminal => {}
        PrintedKind::File | PrintedKind::Data => return dispatch(cli, out, err),
    }
    let mut shown = TerminalText::new(out);
    let exit = dispatch(cli, &mut shown, err)?;
    shown.flush()?;
    Ok(exit)
}

fn dispatch(cli: &Cli, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    match &cli.command {
        Command::Check(check) => check::command::command(check, out, err),
        Command::Explain(command) => explain::command::command(command, out, err),
        Command::Fix(command) => fix_command(command, out, err),
        Command::Fmt(command) => format::command(command, out, err),
        Command::Gen(command) => gen_command(command, out, err),
        Command::Diff(command) => diff::command::command(command, out, err),
        Command::Export(command) => {
            let Some(model) = model(None, &command.readings, err)? else {
                return Ok(Exit::BadInput);
            };
            generation::export::command(command, &model.model, out, err)
        }
        Command::Compare(command) => {
            let chosen = judging_model(&command.judging, err)?;
            let (Some(model), Some(engines)) = (chosen, engines(command.engine, err)?) else {
                return Ok(Exit::BadInput);
            };
            generation::compare::command(command, &model.model, &engines, out, err)
        }
        Command::Fuzz(command) => fuzz::command(command, out, err),
        Command::Merge(command) => fuzz::merge(command, out, err),
        Command::Model(command) => model_command::command(command, out, err),
        Command::Readings => options::list_readings(out).map(|()| Exit::AsExpected),
        Command::Lint(command) => lint::command(command, out, err),
        Command::Lower(command) => lower::command::command(command, out, err),
        Command::Explore(command) => explore_command(command, out, err),
        Command::Litmus(command) => words::litmus::command(command, out, err),
        Command::Verify(command) => verify::command(command, out, err),
        Command::Serve(command) => serve_command(command, out, err),
        Command::Schema(command) => schema::command(command, out),
        Command::Ptx(Ptx::Explain(command)) => ptx_explain::command(command, out),
        Command::Sass(Sass::Decode(decode)) => sass::decode(decode, &mut io::stdin().lock(), out),
        Command::Sass(Sass::Explain(command)) => sass::explain::command(command, out),
        Command::Sass(Sass::Read(command)) => sass::read::command(command, out, err),
    }
}

fn explore_command(
    command: &explore::args::Explore,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = judging_model(&command.judging, err)?;
    let Some(SelectedModel { model, .. }) = chosen else { return Ok(Exit::BadInput) };
    explore::command::command(command, &model, out, err)
}

fn gen_command(
    command: &generation::args::Gen,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = judging_model(&command.judging, err)?;
    let Some(SelectedModel { model, .. }) = chosen else { return Ok(Exit::BadInput) };
    let judges = command.check || command.frontier;
    // Generated tests are small.
    let engine = match command.engine {
        EngineName::Auto | EngineName::Enumerate => EngineName::Enumerate,
        named @ (EngineName::Solve | EngineName::All) => named,
    };
    let engines = if judges { engines(engine, err)? } else { Some(Vec::new()) };
    let Some(engines) = engines else { return Ok(Exit::BadInput) };
    generation::command(command, &model, &engines, out, err)
}

fn serve_command(
    command: &serve::args::Serve,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = judging_model(&command.judging, err)?;
    let Some(selected) = chosen else { return Ok(Exit::BadInput) };
    serve::command(command, selected, out, err)
}

fn fix_command(
    command: &fix::args::Fix,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = judging_model(&command.judging, err)?;
    let Some(SelectedModel { model, readings }) = chosen else { return Ok(Exit::BadInput) };
    let Some(engines) = engines(command.engine, err)? else { return Ok(Exit::BadInput) };
    let alternatives = readings.map_or(Vec::new(), alternatives);
    fix::command(command, &model, engines, &alternatives, out, err)
}
