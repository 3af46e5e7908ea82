//! The options of the commands of SASS.

use std::path::PathBuf;

use clap::Args;
use ptx::version::Target;

use crate::options::ExplainFormat;
use crate::options::values::{machine, target};

#[derive(Args, Debug)]
pub struct SassExplain {
    /// Instructions such as `LDG.E.64.STRONG.GPU R2, [R4+0x10]`, or opcodes
    #[arg(required = true, value_name = "INSTRUCTION")]
    pub instructions: Vec<String>,
    /// The architecture [default: any that has the instruction]
    #[arg(long, value_name = "TARGET", value_parser = machine)]
    pub arch: Option<u16>,
    /// The number of registers of the shader
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub registers: Option<u8>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
}

#[derive(Args, Debug)]
pub struct SassRead {
    /// Listings of nvdisasm or cuobjdump -sass, folders to search for .sass files, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The architecture, instead of the listing's; its rules are then checked
    #[arg(long, value_name = "TARGET", value_parser = machine)]
    pub arch: Option<u16>,
    /// Show every instruction, not only memory instructions
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Args, Debug)]
pub struct Decode {
    /// The architecture of the words
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub arch: Target,
}
