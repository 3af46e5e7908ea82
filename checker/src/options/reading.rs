//! The options that choose readings.

use std::io::{self, Write};
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use model::reading;

/// The readings of the built-in model of PTX.
#[derive(Args, Debug)]
pub struct ReadingArgs {
    /// Judge under another interpretation of the document, such as `R13=semantic`; at most once for each reading, in the
    /// built-in model of PTX. `causeway readings` lists them
    #[arg(long = "reading", value_name = "READING=CHOICE", value_parser = PossibleValuesParser::new(reading_choices()), hide_possible_values = true)]
    pub readings: Vec<String>,
    /// What an access that races with an asynchronous operation does: by `undefined`, the program is undefined; by
    /// `allow`, it reads or leaves any value that the axioms allow, which is `--reading B9=allowed`
    #[arg(long, value_name = "MEANING")]
    pub async_races: Option<AsyncRaces>,
}

/// What the races of asynchronous operations mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AsyncRaces {
    #[value(help = "The program is undefined (default)")]
    Undefined,
    #[value(help = "The race has the outcomes that the axioms allow")]
    Allow,
}

impl ReadingArgs {
    /// The choices of readings, in the order in which they are given.
    pub fn choices(&self) -> impl Iterator<Item = &str> {
        let races = self.async_races.map(|races| match races {
            AsyncRaces::Undefined => "B9=undefined",
            AsyncRaces::Allow => "B9=allowed",
        });
        self.readings.iter().map(String::as_str).chain(races)
    }
}

/// All choices, such as `R13=semantic`.
fn reading_choices() -> impl Iterator<Item = PossibleValue> {
    static NAMES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
        let choices = reading::ALL.iter().flat_map(|reading| {
            reading.choices.iter().enumerate().map(move |(index, choice)| {
                let default = if index == 0 { " (default)" } else { "" };
                let name = format!("{}={}", reading.name, choice.name);
                (name, format!("{}: {}{default}", reading.question, choice.meaning))
            })
        });
        choices.collect()
    });
    NAMES.iter().map(|(name, help)| PossibleValue::new(name.as_str()).help(help.as_str()))
}

/// Prints each reading that can be switched, with its choices.
pub(crate) fn list(out: &mut dyn Write) -> io::Result<()> {
    for (index, reading) in reading::ALL.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}: {} ({})", reading.name, reading.question, reading.section.number)?;
        let name = |choice: &reading::Choice| format!("{}={}", reading.name, choice.name);
        let width = reading.choices.iter().map(|choice| name(choice).len()).max().unwrap_or(0);
        for (index, choice) in reading.choices.iter().enumerate() {
            let default = if index == 0 { " (default)" } else { "" };
            writeln!(out, "  {:width$}  {}{default}", name(choice), choice.meaning)?;
            let grounds = choice.grounds.map_or_else(
                || "the document excludes it: to compare with".to_owned(),
                |grounds| format!("for it: {grounds}"),
            );
            writeln!(out, "  {:width$}  {grounds}", "")?;
        }
    }
    Ok(())
}
