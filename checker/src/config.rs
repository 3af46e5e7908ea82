//! `causeway.toml`: defaults for the options of commands.
//!
//! A table for each command has its long options: `[check]` with `timeout = 60`. What the command line says of an option
//! replaces the default. The file cannot name programs to run, or files to write: it may belong to a project
//! that is not trusted.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches};
use text::report::{ByteSpan, Diagnostics, nearest};
use toml::de::{DeTable, DeValue};

use crate::cli::Cli;
use crate::input;

const NAME: &str = "causeway.toml";

/// The options that a file may set.
const OPTIONS: &[&str] = &[
    "arch",
    "async-races",
    "bound",
    "count-executions",
    "engine",
    "filter",
    "format",
    "jobs",
    "memory",
    "min-coverage",
    "model",
    "ptx-isa",
    "quiet",
    "reading",
    "states",
    "strict",
    "target",
    "timeout",
    "total-timeout",
    "verbose",
    "verdict-only",
];

/// Why there is no command to run.
#[derive(Debug)]
pub enum ArgumentError {
    /// What clap says, which may be the text of `--help`.
    Arguments(clap::Error),
    /// Errors of the configuration file, rendered.
    Config(String),
}

/// The command line, with the defaults of the configuration file: that of the folder `here`, or of one above it.
///
/// # Errors
/// Errors of the command line, or of the file.
pub fn parse(arguments: Vec<OsString>, here: Option<&Path>) -> Result<Cli, ArgumentError> {
    let matches = |arguments: &[OsString]| {
        Cli::command().try_get_matches_from(arguments).map_err(ArgumentError::Arguments)
    };
    let cli =
        |matches: &ArgMatches| Cli::from_arg_matches(matches).map_err(ArgumentError::Arguments);
    let given = matches(&arguments)?;
    let plain = cli(&given)?;
    let path = match &plain.config {
        Some(path) => Some(path.clone()),
        None if plain.no_config => None,
        None => here.and_then(found),
    };
    let Some(path) = path else { return Ok(plain) };
    let shown = input::shown(&path);
    let text = input::text(&path)
        .map_err(|error| ArgumentError::Config(format!("error: {shown}: {error}")))?;
    let defaults = defaults(&shown, &text, &given)?;
    if defaults.is_empty() {
        return Ok(plain);
    }
    // Values that are separated from the rest keep to their options.
    let mut all = arguments;
    let end = all.iter().position(|argument| argument == "--").unwrap_or(all.len());
    all.splice(end..end, defaults.into_iter().map(OsString::from));
    let joined = matches(&all).map_err(|error| of_file(error, &shown))?;
    cli(&joined).map_err(|error| of_file(error, &shown))
}

/// An error that only the options of the file make.
fn of_file(error: ArgumentError, path: &str) -> ArgumentError {
    match error {
        ArgumentError::Arguments(error) => {
            let text = error.render().to_string();
            let text = text.split("\n\nUsage").next().unwrap_or_default().trim_end().to_owned();
            ArgumentError::Config(format!(
                "{text}\nnote: with the options of {path}\nhelp: `--no-config` does not read that file"
            ))
        }
        other @ ArgumentError::Config(_) => other,
    }
}

/// The nearest file, in this folder or above it. A folder with `.git` is the last one that is looked at.
fn found(here: &Path) -> Option<PathBuf> {
    for folder in here.ancestors() {
        let path = folder.join(NAME);
        if path.is_file() {
            let below = if folder == here { Path::new(NAME) } else { path.as_path() };
            return Some(below.to_path_buf());
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// The arguments of the file for the command that is run, without those that the command line has.
fn defaults(path: &str, text: &str, given: &ArgMatches) -> Result<Vec<String>, ArgumentError> {
    let config = |report: Diagnostics| {
        let mut shown = String::new();
        for diagnostic in report.finish(path, text) {
            // Writing to a string succeeds.
            let _ = writeln!(shown, "{diagnostic:#}");
        }
        ArgumentError::Config(shown.trim_end().to_owned())
    };
    let mut report = Diagnostics::default();
    let tables = match DeTable::parse(text) {
        Ok(tables) => tables.into_inner(),
        Err(error) => {
            let at = error.span().unwrap_or(0..0);
            let at = ByteSpan::new(at.start, at.end.min(text.len()));
            report.error("config", at, error.message()).help("[check]\ntimeout = 60");
            return Err(config(report));
        }
    };
    let Some((command, given)) = given.subcommand() else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for (key, value) in &tables {
        let name: &str = key.get_ref();
        let at = ByteSpan::new(key.span().start, key.span().end);
        let known = Cli::command();
        let Some(of) = known.find_subcommand(name) else {
            let names: Vec<&str> = known.get_subcommands().map(clap::Command::get_name).collect();
            let near = nearest(name, names.iter().copied()).unwrap_or("check");
            report
                .error("config", at, format!("there is no command `{name}`"))
                .note("each table has the name of a command")
                .help(format!("[{near}]"));
            continue;
        };
        let DeValue::Table(options) = value.get_ref() else {
            report.error("config", at, "expected a table of options").help(format!("[{name}]"));
            continue;
        };
        for (key, value) in options {
            let option: &str = key.get_ref();
            let at = ByteSpan::new(key.span().start, key.span().end);
            let found = argument(of, option);
            let Some(found) = found.filter(|_| OPTIONS.contains(&option)) else {
                let note = if found.is_some() {
                    "this option is for the command line only"
                } else {
                    "the options are the long ones of the command, without dashes"
                };
                let fit = OPTIONS.iter().copied().filter(|one| argument(of, one).is_some());
                let help = nearest(option, fit.clone()).map_or_else(
                    || format!("options of `{name}`: {}", fit.collect::<Vec<_>>().join(", ")),
                    ToOwned::to_owned,
                );
                report
                    .error("config", at, format!("`{name}` takes no option `{option}` from a file"))
                    .note(note)
                    .help(help);
                continue;
            };
            let here = value.span();
            let Some(values) = values(value.get_ref(), found) else {
                let help = if takes_value(found) { "timeout = 60" } else { "verbose = true" };
                report
                    .error(
                        "config",
                        ByteSpan::new(here.start, here.end),
                        "the option has another type",
                    )
                    .help(help);
                continue;
            };
            let id = found.get_id().as_str();
            if command == name && given.value_source(id) != Some(ValueSource::CommandLine) {
                all.extend(values.into_iter().map(|value| match value {
                    Some(value) => format!("--{option}={value}"),
                    None => format!("--{option}"),
                }));
            }
        }
    }
    if report.count() > 0 { Err(config(report)) } else { Ok(all) }
}

fn argument<'c>(command: &'c clap::Command, option: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|argument| argument.get_long() == Some(option))
}

fn takes_value(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The values of an option, each an argument; a flag has none. `None` if the option has another type.
fn values(value: &DeValue<'_>, argument: &Arg) -> Option<Vec<Option<String>>> {
    let one = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    };
    match value {
        DeValue::Boolean(on) if !takes_value(argument) => {
            Some(if *on { vec![None] } else { Vec::new() })
        }
        DeValue::Array(all) if matches!(argument.get_action(), ArgAction::Append) => {
            all.iter().map(|value| one(value.get_ref()).map(Some)).collect()
        }
        other if takes_value(argument) => one(other).map(|value| vec![Some(value)]),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => None,
    }
}
