//! Judges what a compiler made of one operation of LLVM IR, and shows the context that refutes it.
//!
//! `cargo run --example judge_lowering`

use std::io::Write;

use refine::{JudgeSettings, Models, Row, judge_row};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let models = Models::default();
    let mut out = std::io::stdout();
    for target in ["st.release.gpu.b32 [%rd1], %r1;", "st.relaxed.gpu.b32 [%rd1], %r1;"] {
        let row = Row {
            source: "store atomic i32 %v, ptr %p syncscope(\"device\") release, align 4".to_owned(),
            target: target.to_owned(),
            arch: "sm_90".to_owned(),
        };
        let finding = judge_row(row, &JudgeSettings::new(&models));
        writeln!(out, "{target} {}: {}", finding.verdict.name(), finding.why)?;
        if let (Some(context), Some(outcome)) = (finding.context, finding.outcome) {
            writeln!(out, "  context: {context}\n  outcome: {outcome}")?;
        }
    }
    Ok(())
}
