//! The options of `causeway lint`.

use std::path::PathBuf;

use clap::Args;
use ptx::version::{PtxIsa, Target};

use crate::options::values::{ptx_isa, target};
use crate::report::{self, ReportFormat};

#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args, Debug)]
pub struct Lint {
    /// Files, folders to search for .ptx files, or `-` for standard input
    #[arg(required_unless_present = "explain", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Explain the rule with this code instead, such as `ld-scope-missing`
    #[arg(long, value_name = "CODE", exclusive = true)]
    pub explain: Option<String>,
    /// The version of PTX, instead of each file's `.version`
    #[arg(long, value_name = "VERSION", value_parser = ptx_isa)]
    pub ptx_isa: Option<PtxIsa>,
    /// The target, instead of each file's `.target`
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub target: Option<Target>,
    /// Follow the document where ptxas differs; rules of ptxas alone are then warnings
    #[arg(long)]
    pub strict: bool,
    /// Also exit with code 1 if there are only warnings
    #[arg(long)]
    pub deny_warnings: bool,
    /// Write the corrections that keep the meaning to the files, and report what is left; for `-`, print the
    /// corrected module, and what is left on standard error
    #[arg(long, group = "fixing")]
    pub fix: bool,
    /// Print what `--fix` would change, and write nothing
    #[arg(long, group = "fixing", conflicts_with_all = ["fix", "format"])]
    pub diff: bool,
    /// With `--fix` or `--diff`: also make the corrections that choose for you, such as a missing scope
    #[arg(long, requires = "fixing")]
    pub unsafe_fixes: bool,
    /// Output format
    #[arg(long, value_parser = report::without_outcomes(), default_value = "text")]
    pub format: ReportFormat,
}
