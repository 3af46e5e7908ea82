//! The options of `causeway explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::options::{Judging, LimitArgs, PropertyName};
use crate::words::args::WordsArgs;

#[derive(Args, Debug)]
pub struct Explain {
    /// A litmus test, or `-` for standard input; or a PTX module, with functions of it
    #[arg(value_name = "FILE")]
    pub path: PathBuf,
    /// Functions of the module, as in 'f(data) @cta 0 || g(data) @cta 1' (see `causeway litmus`)
    #[arg(value_name = "FUNCTIONS")]
    pub words: Option<String>,
    #[command(flatten)]
    pub asked: WordsArgs,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Drawing::Text)]
    pub format: Drawing,
    /// Explain this condition instead of that of the test, such as `exists (1:r0=1 /\ 1:r1=0)`
    #[arg(long, value_name = "CONDITION")]
    pub ask: Option<String>,
    /// What to explain
    #[arg(long, value_enum, default_value_t = PropertyName::ProgramSpec, conflicts_with_all = ["ask", "weaken"])]
    pub property: PropertyName,
    /// Expand every definition, also those that add nothing
    #[arg(long)]
    pub deep: bool,
    /// Also show the pairs of these relations of the model, such as `causality,synchronizes`; `causeway model` lists their
    /// names
    #[arg(long, value_name = "RELATION,…", value_delimiter = ',')]
    pub show: Vec<String>,
    /// Also list the orders, scopes and fences that the test does not need to forbid its outcome
    #[arg(long)]
    pub weaken: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Drawing {
    Text,
    /// A graph for Graphviz: the first candidate that the text shows.
    Dot,
    /// A picture: the first candidate that the text shows.
    Svg,
    /// A page with a picture of each candidate, the text and the test.
    Html,
    /// One object with the graphs of all candidates.
    Json,
}
