//! The options of functions in the place of a file, and of `causeway litmus`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use verify::WordsQuestion;

use crate::options::CompilerArgs;

pub(crate) const EXAMPLE: &str = "\
Example: what a module has, a test of two of its functions, and whether that is right
  causeway litmus k.ptx
  causeway litmus k.ptx 'producer(data, flag) || consumer(data, flag, out)' --never '[out]=0'
  causeway check k.ptx 'producer(data, flag) || consumer(data, flag, out)' --never '[out]=0'
Example: of CUDA C++, compiled by nvcc
  causeway litmus k.cu --nvcc /usr/local/cuda/bin/nvcc";

#[derive(Args, Debug)]
pub struct Litmus {
    /// A module of PTX, or `-` for standard input; with a compiler, its source
    #[arg(value_name = "FILE")]
    pub path: PathBuf,
    /// The functions, one for each thread: 'f(data, n=4) @cta 0 || g(data) @cta 1' [default: list the functions]
    #[arg(value_name = "FUNCTIONS")]
    pub words: Option<String>,
    #[command(flatten)]
    pub asked: WordsArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = LitmusFormat::Text)]
    pub format: LitmusFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LitmusFormat {
    /// The test, or the list of functions.
    Text,
    /// One object.
    Json,
}

/// What is asked of functions of a module, where they are in the place of a file.
#[derive(Args, Clone, Debug, Default)]
pub struct WordsArgs {
    /// Of functions of a module: no execution ends so, as in `[out]=0` or `out[0]==0 && !(n==1)`
    #[arg(long, value_name = "CONDITION", conflicts_with_all = ["always", "sometimes"])]
    pub never: Option<String>,
    /// Of functions of a module: every execution ends so
    #[arg(long, value_name = "CONDITION", conflicts_with = "sometimes")]
    pub always: Option<String>,
    /// Of functions of a module: some execution ends so
    #[arg(long, value_name = "CONDITION")]
    pub sometimes: Option<String>,
    /// Of functions of a module: an initial value, as in `data=7`, `a[3]=1` or `a={1,2}`; 0 without one
    #[arg(long, value_name = "PLACE=VALUE")]
    pub init: Vec<String>,
    /// Of functions of a module: the bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES")]
    pub shared: Option<u32>,
    #[command(flatten)]
    pub compilers: CompilerArgs,
}

impl WordsArgs {
    /// The condition, if there is one.
    pub(crate) fn question(&self) -> Option<(WordsQuestion, &str)> {
        let all = [
            (WordsQuestion::Never, &self.never),
            (WordsQuestion::Always, &self.always),
            (WordsQuestion::Sometimes, &self.sometimes),
        ];
        all.into_iter().find_map(|(question, text)| Some((question, text.as_deref()?)))
    }

    /// The first option that says something of functions of a module.
    pub(crate) fn first_option(&self) -> Option<&'static str> {
        let question = self.question().map(|(question, _)| question.option());
        let init = (!self.init.is_empty()).then_some("--init");
        question.or(init).or(self.shared.map(|_| "--shared"))
    }
}
