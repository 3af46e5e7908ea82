//! Programs that make PTX of other languages.

use std::path::PathBuf;

use clap::Args;

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
    /// The programs.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.nvcc, &self.clang, &self.llc].into_iter().flatten()
    }
}
