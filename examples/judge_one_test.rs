//! Judges one litmus test, given as text, and says why if it is not well formed.
//!
//! `cargo run --example judge_one_test [FILE]`

use std::io::Write;

use judge::{Task, judge};

const TEST: &str = "\
PTX MP
{
x=0; flag=0;
}
 P0@cta 0,gpu 0               | P1@cta 1,gpu 0                 ;
 st.weak.u32 [x], 1           | ld.acquire.gpu.u32 r0, [flag]  ;
 st.relaxed.gpu.u32 [flag], 1 | ld.weak.u32 r1, [x]            ;
exists (1:r0=1 /\\ 1:r1=0)
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (path, text) = match std::env::args().nth(1) {
        Some(path) => (path.clone(), std::fs::read(path)?),
        None => ("MP".to_owned(), TEST.as_bytes().to_vec()),
    };
    let parsed = litmus::parse(&path, &text).map_err(|diagnostics| {
        let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        all.concat()
    });
    let mp = parsed?;
    let model = model::ptx::model();
    let judgement = judge(&mp, &Task::new(&model));
    let mut out = std::io::stdout();
    write!(out, "{}: {}", mp.name, judgement.verdict.name())?;
    if let Some(observation) = judgement.observation {
        write!(out, ", {}", observation.name())?;
    }
    if let Some(reason) = judgement.verdict.reason() {
        write!(out, " ({reason})")?;
    }
    Ok(writeln!(out)?)
}
