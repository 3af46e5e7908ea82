//! Lists the outcomes of a test, and how many executions end with each.
//!
//! `cargo run --example list_outcomes`

use std::io::Write;

use judge::{Task, judge};

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
    let test = litmus::parse("SB", TEST.as_bytes()).map_err(|all| all[0].to_string())?;
    let model = model::ptx::model();
    let judgement = judge(&test, &Task::new(&model));
    let mut out = std::io::stdout();
    for (outcome, executions) in &judgement.found.outcomes {
        let satisfies = test.proposition.holds(&test.program, outcome);
        let mark = if satisfies { '*' } else { ' ' };
        writeln!(out, "{executions:3} {mark} {}", test.display_outcome(outcome))?;
    }
    Ok(())
}
