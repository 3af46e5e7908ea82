//! Lists the outcomes of a test; those with a star satisfy its condition.
//!
//! `cargo run --example list_outcomes`

use std::io::Write;

use causeway::{Model, Test};

const TEST: &str = "\
PTX SB
{
x=0; y=0;
}
 P0@cta 0,gpu 0            | P1@cta 1,gpu 0            ;
 st.relaxed.gpu.u32 [x], 1 | st.relaxed.gpu.u32 [y], 1 ;
 ld.relaxed.gpu.u32 r0, [y] | ld.relaxed.gpu.u32 r0, [x] ;
exists (0:r0=0 /\\ 1:r0=0)
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let test = Test::parse(TEST)?;
    let answer = test.judge(&Model::ptx());
    let mut out = std::io::stdout();
    for outcome in answer.outcomes() {
        let mark = if outcome.satisfies_condition() { '*' } else { ' ' };
        writeln!(out, "{mark} P0 read {}, P1 read {}", outcome["0:r0"], outcome["1:r0"])?;
    }
    Ok(())
}
