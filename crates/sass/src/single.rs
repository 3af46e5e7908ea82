//! Reads one instruction, with all of its errors.

use machine::form::Family;
use ptx::opcode;

use super::ldg::Ldg;
use super::syntax::Instruction;
use super::{parse, rules, spa5};
use text::diagnostic::Diagnostic;
use text::report::{ByteSpan, Diagnostics};

/// What an instruction is read for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// The number after `sm_`; without one, whatever has the modifiers that are written.
    pub sm: Option<u16>,
    /// How many registers the shader has.
    pub registers: Option<u8>,
}

/// An instruction that could be read.
#[derive(Clone, Debug)]
pub struct CheckedInstruction<'a> {
    pub instruction: Instruction<'a>,
    /// The family of GPUs, if it is given or follows from the text.
    pub family: Option<Family>,
    /// Its fields, if it is an `LDG` of SPA 5.0 that keeps the rules.
    pub ldg: Option<Ldg>,
    /// What it breaks.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads one instruction; `path` is for the messages.
pub fn instruction<'a>(
    path: &str,
    text: &'a str,
    options: ReadOptions,
) -> Result<CheckedInstruction<'a>, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    if let Some(at) = ptx(text) {
        report
            .error("ptx", at, format!("`{}` is a PTX instruction", at.of(text)))
            .note("SASS opcodes are written in capitals")
            .help("use `causeway ptx explain`");
        return Err(report.finish(path, text));
    }
    let mut all = parse::read(text, ByteSpan::new(0, text.len()), &mut report);
    if report.count() == 0 && all.len() != 1 {
        let at = all.get(1).map_or(ByteSpan::new(0, 0), |second| second.at);
        let note = if all.is_empty() { "expected an instruction" } else { "this is a second one" };
        report
            .error("one-instruction", at, "expected one instruction")
            .note(note)
            .help("pass each instruction as a separate argument");
    }
    let one = all.pop().filter(|_| report.count() == 0);
    let Some(instruction) = one else { return Err(report.finish(path, text)) };
    let (family, ldg) = check(&instruction, options, &mut report);
    Ok(CheckedInstruction { instruction, family, ldg, diagnostics: report.finish(path, text) })
}

/// The instructions of a text with braces around a pair that is issued at once (`sm_50` to `sm_62`): both of them, or
/// the one that is there, without its brace. Any other text is one piece.
pub fn unpaired(text: &str) -> Vec<&str> {
    // The address before an instruction of a listing.
    let address = text.trim_start().strip_prefix("/*").and_then(|rest| rest.split_once("*/"));
    let code = address.map_or(text, |(_, code)| code);
    let opened = parse::inside_pair(code);
    let inside = parse::unopened(opened).map_or(opened, |close| &opened[..close]);
    if inside.len() == code.len() {
        return vec![text];
    }
    let is_code = |piece: &&str| !piece.trim().is_empty() && !piece.trim().starts_with("/*");
    let pieces: Vec<&str> = inside.split(';').filter(is_code).collect();
    if pieces.is_empty() { vec![text] } else { pieces }
}

/// The opcode, if the text begins with one of PTX.
fn ptx(text: &str) -> Option<ByteSpan> {
    let mut rest = text.trim_start();
    if rest.starts_with('@') {
        rest = rest.find(char::is_whitespace).map_or("", |end| rest[end..].trim_start());
    }
    let start = text.len() - rest.len();
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    // `membar.SC.GPU` is of the machine all the same.
    let modifier = rest[length..].strip_prefix('.').unwrap_or_default();
    let found = opcode::is_known(&rest[..length])
        && !modifier.starts_with(|c: char| c.is_ascii_uppercase());
    found.then(|| ByteSpan::new(start, start + length))
}

/// Asks an instruction its rules.
pub fn check(
    instruction: &Instruction<'_>,
    options: ReadOptions,
    report: &mut Diagnostics,
) -> (Option<Family>, Option<Ldg>) {
    let family = match options.sm {
        Some(sm) => Family::of(sm),
        None => shown(instruction),
    };
    let name_alone = instruction.operands.is_empty();
    if family == Some(Family::Maxwell) && instruction.opcode.text == "LDG" && !name_alone {
        return (family, spa5::read(instruction, options.registers, report));
    }
    rules::check(instruction, family, report);
    (family, None)
}

/// The machines that a name is of where it can be of no others.
fn shown(instruction: &Instruction<'_>) -> Option<Family> {
    let old = ["CA", "CG", "CI", "CS", "CV", "WT", "GL", "IVALLD"];
    let wide = instruction.opcode.text == "LDG" && instruction.has("32");
    let scheduled = !instruction.annotations.is_empty();
    let found = wide || scheduled || old.iter().any(|name| instruction.has(name));
    found.then_some(Family::Maxwell)
}

#[cfg(test)]
mod tests {
    use super::unpaired;

    #[test]
    fn a_pair_is_its_two_instructions() {
        for (text, pieces) in [
            (
                "{ MOV R1, c[0x0][0x20] ; S2R R0, SR_TID.X }",
                &[" MOV R1, c[0x0][0x20] ", " S2R R0, SR_TID.X "][..],
            ),
            ("{ MOV R1, R2 ;  /* 0x4c98078000870001 */", &[" MOV R1, R2 "]),
            ("/*0008*/   { MOV R1, R2 ;", &[" MOV R1, R2 "]),
            ("  S2R R0, SR_TID.X  }  /* 0xf0c8000002170000 */", &["  S2R R0, SR_TID.X  "]),
            ("DEPBAR.LE SB0, 0x0, {1,0}", &["DEPBAR.LE SB0, 0x0, {1,0}"]),
            ("{ DEPBAR.LE SB0, 0x0, {1,0} ; NOP }", &[" DEPBAR.LE SB0, 0x0, {1,0} ", " NOP "]),
            ("{&wr=1} LDG R0, [R2]", &["{&wr=1} LDG R0, [R2]"]),
            ("LDG R0, [R2] {&wr=1}", &["LDG R0, [R2] {&wr=1}"]),
            ("{ }", &["{ }"]),
            ("MOV R0, R1 ; MOV R2, R3", &["MOV R0, R1 ; MOV R2, R3"]),
        ] {
            assert_eq!(unpaired(text), pieces, "{text}");
        }
    }
}
