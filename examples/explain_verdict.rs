//! Explains why an outcome is forbidden: the edges of the cycle, each with its section.
//!
//! `cargo run --example explain_verdict`

use judge::explain::{ExplainOptions, explain};

const TEST: &str = "\
PTX MP+release+acquire
{
x=0; flag=0;
}
 P0@cta 0,gpu 0               | P1@cta 1,gpu 0                 ;
 st.weak.u32 [x], 1           | ld.acquire.gpu.u32 r0, [flag]  ;
 st.release.gpu.u32 [flag], 1 | ld.weak.u32 r1, [x]            ;
exists (1:r0=1 /\\ 1:r1=0)
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let test = litmus::parse("MP", TEST.as_bytes()).map_err(|all| all[0].to_string())?;
    explain(&test, &model::ptx::model(), ExplainOptions::default(), &mut std::io::stdout())?;
    Ok(())
}
