//! Judges one litmus test, given as text, and says what is wrong with a text that is not one.
//!
//! `cargo run --example judge_one_test [FILE]`

use std::io::Write;

use causeway::{Model, Test};

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
    let source = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => TEST.to_owned(),
    };
    let test = Test::parse(&source)?;
    let answer = test.judge(&Model::ptx());
    let mut out = std::io::stdout();
    Ok(writeln!(out, "{}: {answer}", test.name())?)
}
