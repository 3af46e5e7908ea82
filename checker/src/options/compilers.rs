//! Programs that make PTX of other languages.

use std::path::PathBuf;

use clap::Args;

use crate::input::quoted;

/// Programs that make PTX of other files. None is ever looked for.
#[derive(Args, Clone, Debug, Default)]
pub struct CompilerArgs {
    /// Compile CUDA C++, a file .cu, with this `nvcc`; the command is printed
    #[arg(long, value_name = "PATH", conflicts_with = "clang")]
    pub nvcc: Option<PathBuf>,
    /// Compile CUDA C++, a file .cu, with this `clang++`
    #[arg(long, value_name = "PATH")]
    pub clang: Option<PathBuf>,
    /// Compile LLVM IR, a file .ll, with this `llc`
    #[arg(long, value_name = "PATH")]
    pub llc: Option<PathBuf>,
    /// The target of the compiler [default: `sm_90`]
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub target: Option<u16>,
    /// Another argument of the compiler, such as `-O1` or `-nocudainc`
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub compiler_arg: Vec<String>,
}

fn target(text: &str) -> Result<u16, String> {
    let number = text.strip_prefix("sm_").and_then(|number| number.parse().ok());
    number.ok_or_else(|| "expected a target, such as `sm_90`".to_owned())
}

impl CompilerArgs {
    /// The options that name programs.
    fn named(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let all = [("--nvcc", &self.nvcc), ("--clang", &self.clang), ("--llc", &self.llc)];
        all.into_iter().filter_map(|(option, program)| Some((option, program.as_ref()?)))
    }

    /// The programs.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &PathBuf> {
        self.named().map(|(_, program)| program)
    }

    /// The options that are given, as a shell takes them.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        let programs = self
            .named()
            .flat_map(|(option, program)| [option.to_owned(), quoted(&program.to_string_lossy())]);
        let target = self.target.iter().map(|target| format!("--target=sm_{target}"));
        let arguments =
            self.compiler_arg.iter().map(|argument| format!("--compiler-arg={}", quoted(argument)));
        programs.chain(target).chain(arguments)
    }
}
