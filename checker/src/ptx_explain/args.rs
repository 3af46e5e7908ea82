//! The options of `causeway ptx explain`.

use clap::Args;
use ptx::version::{PtxIsa, Target};

use crate::options::ExplainFormat;
use crate::options::values::{ptx_isa, target};

#[derive(Args, Debug)]
pub struct PtxExplain {
    /// Instructions such as `ld.acquire.gpu.global.u32 r, [a]`; guard and final `;` are optional
    #[arg(required = true, value_name = "INSTRUCTION")]
    pub instructions: Vec<String>,
    /// The version of PTX [default: the newest known]
    #[arg(long, value_name = "VERSION", value_parser = ptx_isa)]
    pub ptx_isa: Option<PtxIsa>,
    /// The target [default: any]
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub target: Option<Target>,
    /// Follow the document where ptxas differs; rules of ptxas alone are then warnings
    #[arg(long)]
    pub strict: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
}
