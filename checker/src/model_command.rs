//! `causeway model`: prints the memory model.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use engine::exit::Exit;
use model::render;

use crate::options::ReadingArgs;
use crate::selection::{SelectedModel, model};

#[derive(Args, Debug)]
#[command(mut_arg("readings", |readings| readings.help("Print the model under another interpretation of the document, such as `R13=semantic`; at most once for each reading, in the built-in model of PTX. `causeway readings` lists them")))]
pub struct ModelArgs {
    /// Print this .cat model, or `cxx` or `cxx11`, instead of the built-in PTX model
    #[arg(long, value_name = "FILE.cat")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub readings: ReadingArgs,
    /// Output language
    #[arg(long, value_enum, default_value_t = ModelFormat::Text)]
    pub format: ModelFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ModelFormat {
    Text,
    /// herd's language.
    Cat,
    Markdown,
}

pub(crate) fn command(
    command: &ModelArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let chosen = model(command.model.as_deref(), &command.readings, err)?;
    let Some(SelectedModel { model, .. }) = chosen else { return Ok(Exit::BadInput) };
    let text = match command.format {
        ModelFormat::Text => render::text(&model),
        ModelFormat::Cat => render::cat(&model),
        ModelFormat::Markdown => render::markdown(&model),
    };
    write!(out, "{text}")?;
    Ok(Exit::AsExpected)
}
