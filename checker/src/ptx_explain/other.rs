//! Instructions that `describe::ptx` does not explain: whether they are modelled, and the section that
//! describes them.

use std::io::{self, Write};

use litmus::print::TestText;
use model::section::{self, Section};
use ptx::opcode;
use ptx::shape::Opcode;
use text::Diagnostic;

use super::show::{self, PtxExplainObject};
use crate::lines::{self, LineKind};
use crate::lint::LintObject;

/// An instruction of which only the opcode is known.
pub(super) struct OtherInstruction<'a> {
    /// The text as written, without `;`.
    text: &'a str,
    is: String,
    /// Whether litmus tests execute it. If not, the reason, if the reader of litmus tests gives one.
    modelled: Result<(), Option<String>>,
    section: Section,
}

/// The description of an instruction with a known PTX opcode, unless `describe::ptx` explains it.
pub(super) fn other(text: &str) -> Option<OtherInstruction<'_>> {
    let text = text.trim().trim_end_matches(';').trim_end();
    let mut rest = text;
    if let Some(guarded) = rest.strip_prefix('@') {
        rest = guarded.split_once(char::is_whitespace)?.1.trim_start();
    }
    let name = rest.split(|c: char| c.is_whitespace() || c == '[').next()?;
    let mut parts = name.split('.');
    let (opcode, form) = (parts.next()?, parts.next().unwrap_or(""));
    if !opcode::all().any(|known| known == opcode) {
        return None;
    }
    let own = opcode::has_own_rules(opcode, form);
    if Opcode::named(opcode).is_some() && !own {
        return None;
    }
    let section = section::of_parts(opcode, form);
    let (is, modelled) = match opcode {
        _ if own => (format!("an asynchronous operation, not the `{opcode}` of the model"), false),
        "bar" if form == "warp" => ("a barrier of a warp".to_owned(), false),
        "barrier" if form == "cluster" => ("the barrier of a cluster".to_owned(), true),
        "bar" | "barrier" => ("a barrier of a CTA".to_owned(), true),
        "bra" | "ret" | "exit" => ("control flow".to_owned(), true),
        "trap" => ("a trap: it ends the grid with an error".to_owned(), false),
        "brkpt" => ("a breakpoint".to_owned(), false),
        "nanosleep" => ("a pause of the thread".to_owned(), false),
        "pmevent" => ("a trigger of performance counters".to_owned(), false),
        _ => match opcode::outside(opcode) {
            Some(what) => (format!("one of {what}"), false),
            None => {
                ("arithmetic: it accesses no memory, and carries dependencies".to_owned(), true)
            }
        },
    };
    let modelled = in_a_test(text).unwrap_or(if modelled { Ok(()) } else { Err(None) });
    Some(OtherInstruction { text, is, modelled, section })
}

/// Whether the model supports the instruction, according to the reader of litmus tests. `None` if the
/// instruction cannot be read on its own, such as a branch without its label.
fn in_a_test(instruction: &str) -> Option<Result<(), Option<String>>> {
    let line: Vec<&str> = instruction.split_whitespace().collect();
    let mut source = TestText::new("PTX", "one");
    source.columns(&[vec!["P0@cta 0,gpu 0".to_owned(), line.join(" ")]]);
    source.end("exists (true)");
    let test = litmus::parse("instruction", source.to_string().as_bytes()).ok()?;
    Some(match test.program.unsupported() {
        Some((_, _, why)) => Err(Some(why.to_owned())),
        None => Ok(()),
    })
}

impl OtherInstruction<'_> {
    fn status(&self) -> String {
        let status = match &self.modelled {
            Ok(()) => {
                "modelled: litmus tests execute it, in the forms that docs/litmus-format.md lists"
            }
            Err(None) => "not modelled: a litmus test with it is `unsupported`",
            Err(Some(why)) => {
                // The reason follows the name of the instruction.
                let why = why.split_once("`: ").map_or(&**why, |(_, why)| why);
                &format!("not modelled: a litmus test with it is `unsupported` ({why})")
            }
        };
        format!("{status}; of its rules, `lint` checks only the modifiers")
    }

    pub(super) fn text(&self, warnings: &[Diagnostic], out: &mut dyn Write) -> io::Result<()> {
        for warning in warnings {
            writeln!(out, "{warning:#}")?;
        }
        writeln!(out, "{}", self.text)?;
        writeln!(out, "  {} ({})", self.is, self.section.number)?;
        writeln!(out, "  {}", self.status())?;
        writeln!(out, "\nSections:\n  {}\n    {}", self.section, self.section.url())
    }

    pub(super) fn json(&self, warnings: &[Diagnostic], out: &mut dyn Write) -> io::Result<()> {
        let other = show::OtherObject {
            is: &self.is,
            modelled: self.modelled.is_ok(),
            section: self.section.number,
            title: self.section.title,
            url: self.section.url(),
        };
        let diagnostics = warnings.iter().map(LintObject::from).collect();
        let (explained, other) = (None, Some(other));
        let whole = PtxExplainObject { instruction: self.text, diagnostics, explained, other };
        lines::write(LineKind::PtxExplain, whole, out)
    }
}

#[cfg(test)]
mod tests {
    use model::section;

    use super::other;

    #[test]
    fn every_opcode_is_explained_or_has_an_account_of_its_own() {
        for opcode in ptx::opcode::all() {
            let memory = ptx::shape::Opcode::named(opcode).is_some();
            assert_eq!(other(opcode).is_none(), memory, "{opcode}");
        }
        assert!(other("foo.bar r, s").is_none());
        let modelled = |text| other(text).expect("it is known").modelled;
        assert!(modelled("st.async.u32 [a], r, [b];").is_err());
        assert_eq!(modelled("mov.u32 %0, %r1"), Ok(()));
        assert_eq!(modelled("@p bra $L1"), Ok(()));
        let special = modelled("mov.u32 %0, %tid.x").expect_err("a test gives it no value");
        assert!(special.is_some_and(|why| why.contains("%tid.x")));
        assert!(modelled("add.ftz.f32 a, b, c").is_err());
        let barrier = other("@!p barrier.cluster.wait;").expect("it is known");
        assert!(barrier.modelled.is_ok() && barrier.section.anchor.ends_with("barrier-cluster"));
        let nowhere: Vec<&str> = ptx::opcode::all()
            .filter(|opcode| section::of_opcode(opcode) == section::INSTRUCTIONS)
            .collect();
        assert_eq!(nowhere, ["tcgen05", "fabric", "spcompress", "spdecompress"]);
    }
}
