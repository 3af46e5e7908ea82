//! Instructions that `describe::ptx` does not explain: whether they are modelled, and the section that
//! describes them.

use std::borrow::Cow;
use std::io::{self, Write};

use describe::ptx::modifiers::{self, ExplainedModifiers};
use describe::ptx::{PtxExplanation, asynchronous, barrier};
use litmus::print::TestText;
use model::isa::Instruction;
use model::isa::asynchronous::Asynchronous;
use model::section::{self, Section};
use ptx::shape::Opcode;
use ptx::{opcode, production_check};
use text::Diagnostic;

use super::show::{self, PtxExplainObject};
use crate::lines::{self, LineKind};
use crate::lint::LintObject;

/// An instruction of which only the opcode is known.
pub(super) struct OtherInstruction<'a> {
    /// The text as written, without `;`.
    pub(super) text: &'a str,
    is: String,
    /// Whether litmus tests execute it. If not, the reason, if the reader of litmus tests gives one.
    modelled: Result<(), Option<String>>,
    section: Section,
    modifiers: ExplainedModifiers,
    /// Whether `lint` checks its operands.
    checked: bool,
    /// Of an asynchronous operation.
    pub(super) account: Option<PtxExplanation>,
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
    if !opcode::is_known(opcode) {
        return None;
    }
    let own = opcode::has_own_rules(opcode, form);
    if Opcode::named(opcode).is_some() && !own {
        return None;
    }
    let parts: Vec<&str> = name.split('.').collect();
    let section = section::of_parts(&parts);
    let (is, modelled) = match opcode {
        _ if own => (format!("an asynchronous operation, not the `{opcode}` of the model"), false),
        "bar" if form == "warp" => ("a barrier of a warp".to_owned(), true),
        "barrier" if form == "cluster" => ("the barrier of a cluster".to_owned(), true),
        "bar" | "barrier" => ("a barrier of a CTA".to_owned(), true),
        "bra" | "ret" | "exit" => ("control flow".to_owned(), true),
        "trap" => ("a trap: it ends the grid with an error".to_owned(), false),
        "brkpt" => ("a breakpoint".to_owned(), false),
        "nanosleep" => ("a pause of the thread".to_owned(), true),
        "fabric" => (of_fabric(form).to_owned(), false),
        "trace" => ("a mark for tools that trace; it accesses no memory".to_owned(), true),
        "pmevent" => ("a trigger of performance counters".to_owned(), true),
        name if opcode::is_without_effect(name) => {
            ("an instruction without effect on memory, values and control flow".to_owned(), true)
        }
        _ => match (described(opcode), opcode::outside(opcode)) {
            (Some(is), _) => (is.to_owned(), true),
            (None, Some(what)) => (format!("one of {what}"), false),
            (None, None) => {
                ("arithmetic: it accesses no memory, and carries dependencies".to_owned(), true)
            }
        },
    };
    // What inline assembly puts in the place of a number is some number.
    let operands = rest[name.len()..].trim();
    let with_numbers = match production_check::with_numbers(&parts, operands) {
        Cow::Borrowed(_) => None,
        Cow::Owned(operands) => Some(format!("{name} {operands}")),
    };
    let readable = with_numbers.as_deref();
    let of_test = in_a_test(readable.unwrap_or(text));
    let of_test = of_test.unwrap_or(if modelled { Ok(()) } else { Err(None) });
    let account = read_asynchronous(readable.unwrap_or(rest)).and_then(|of| {
        asynchronous::account(&of, &parts, operands, section, rest.len() < text.len())
    });
    let account =
        account.or_else(|| barrier::account(&parts, operands, section, rest.len() < text.len()));
    let modelled = if account.is_some() { Ok(()) } else { of_test };
    let modifiers = modifiers::explained(&parts, section);
    let checked = production_check::is_checked(&parts);
    Some(OtherInstruction { text, is, modelled, section, modifiers, checked, account })
}

/// What an instruction of the fabric does.
fn of_fabric(form: &str) -> &'static str {
    match form {
        "try_get" => {
            "an asynchronous copy from another device, through the fabric proxy, to shared memory, through the async proxy"
        }
        "try_put" => {
            "an asynchronous copy from shared memory, through the async proxy, to another device, through the fabric proxy"
        }
        "try_red" => {
            "an asynchronous reduction of shared memory into the memory of another device, through the fabric proxy"
        }
        "try_pullred" => {
            "an asynchronous reduction of what all devices of a multicast endpoint hold, through the fabric proxy, to shared memory"
        }
        "try_atom" => {
            "an asynchronous atomic operation on the memory of another device, through the fabric proxy"
        }
        "submit" => {
            "submits the operations of the fabric that this thread issued: each has to be, before the phase of its mbarrier object ends"
        }
        "wait" => {
            "a wait until operations of the fabric have read their sources in shared memory, which may then be written"
        }
        _ => "one of the operations of the fabric",
    }
}

/// What an instruction does that litmus tests execute and that accesses no memory.
fn described(opcode: &str) -> Option<&'static str> {
    const ALL: [(&str, &str); 8] = [
        (
            "mapa",
            "the address in the shared memory of another CTA of the cluster that corresponds to an address of shared \
             memory; it accesses no memory",
        ),
        (
            "getctarank",
            "the rank in its cluster of the CTA in whose shared memory an address is; it accesses no memory",
        ),
        ("shfl", "an exchange of a register between lanes of a warp, which orders no memory"),
        ("vote", "a combination of a predicate over the lanes of a warp, which orders no memory"),
        ("match", "the lanes of a warp that hold the same value; it orders no memory"),
        ("redux", "a reduction of the values of the lanes of a warp, which orders no memory"),
        (
            "activemask",
            "the lanes of the warp that execute it together, this one among them; it orders no memory",
        ),
        ("elect", "the choice of one lane of a warp, which orders no memory"),
    ];
    ALL.iter().find(|(of, _)| *of == opcode).map(|(_, is)| *is)
}

/// The variables that an instruction alone may name: an mbarrier object, shared and global memory, a tensormap.
const VARIABLES: [&str; 4] = ["_object", "_shared", "_global", "_tensormap"];

/// The variables that a `tcgen05` instruction may name.
fn tensor_variables(instruction: &str) -> &'static [&'static str] {
    match instruction {
        of if of.starts_with("tcgen05.commit") => &["_object"],
        of if of.starts_with("tcgen05.alloc") => &["_shared"],
        _ => &["_tmem"],
    }
}

/// Targets that have all asynchronous operations between them.
const TARGETS: [&str; 3] = ["sm_90a", "sm_100a", "sm_101a"];

/// The asynchronous operation that an instruction is, with variables in place of its addresses. `None` if it is not one,
/// or not read on its own.
fn read_asynchronous(instruction: &str) -> Option<Asynchronous> {
    let line = instruction.split_whitespace().collect::<Vec<_>>().join(" ");
    let pieces: Vec<&str> = line.split('[').collect();
    let tensor = line.starts_with("tcgen05");
    let variables = if tensor { tensor_variables(&line) } else { &VARIABLES };
    let addresses = u32::try_from(pieces.len() - 1).ok().filter(|count| tensor || *count <= 3)?;
    let named = (0..variables.len().pow(addresses)).map(|mut choice| {
        let mut line = pieces[0].to_owned();
        for piece in &pieces[1..] {
            let end = piece.find([',', '+', '-', ']', ' ', '{']).unwrap_or(piece.len());
            let variable = variables[choice % variables.len()];
            choice /= variables.len();
            line = format!("{line}[{variable}{}", &piece[end..]);
        }
        line
    });
    let all = named.flat_map(|line| TARGETS.map(|target| (line.clone(), target)));
    let holding = pointers(instruction);
    // A deallocation takes the address of tensor memory, and an allocation that many columns.
    let held = if line.starts_with("tcgen05.dealloc") { "_tmem" } else { "_shared" };
    let last = line.rsplit([' ', ',', ';']).find(|word| !word.is_empty());
    let columns: u32 = match last.and_then(|word| word.parse().ok()) {
        Some(columns @ 1..=512) if line.starts_with("tcgen05.alloc") => columns,
        Some(_) | None => 512,
    };
    let all = all.flat_map(|(line, target)| {
        (0..=holding.len()).map(move |count| (line.clone(), target, count))
    });
    all.into_iter().find_map(|(line, target, count)| {
        let pointers: Vec<String> =
            holding[..count].iter().map(|name| format!("P0:{name}={held};")).collect();
        let pointers = pointers.join(" ");
        let source = format!(
            "PTX one\nArch={target}\n{{\n.shared .mbarrier _object={{1}}; .shared .b32 _shared[64]; \
             .global .b32 _global[64]; .tmem .b32 _tmem[{columns}]; _tensormap @tensormap _global; {pointers}\n}}\n P0@cta 0,cluster 0,gpu 0 ;\n {line} ;\nexists (true)\n"
        );
        let test = litmus::parse("instruction", source.as_bytes()).ok()?;
        let lines = test.program.threads.into_iter().flat_map(|thread| thread.lines);
        lines.map(|line| line.instruction).find_map(|instruction| {
            let Instruction::Asynchronous(of) = instruction else { return None };
            Some(of)
        })
    })
}

/// The registers that may hold an address without brackets, such as descriptors of matrices: the first two names
/// among the operands.
fn pointers(instruction: &str) -> Vec<&str> {
    let operands = instruction.split_once(' ').map_or("", |(_, operands)| operands);
    let mut names: Vec<&str> = Vec::new();
    for operand in production_check::operands(operands).into_iter().map(str::trim) {
        let is_name = operand.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%')
            && operand.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '%'));
        if is_name && !names.contains(&operand) && names.len() < 2 {
            names.push(operand);
        }
    }
    names
}

/// Whether the model supports the instruction, according to the reader of litmus tests. `None` if the
/// instruction cannot be read on its own, such as a branch without its label.
fn in_a_test(instruction: &str) -> Option<Result<(), Option<String>>> {
    let line = instruction.split_whitespace().collect::<Vec<_>>().join(" ");
    let holding = pointers(instruction);
    // Registers that have to hold an address: none of those that are named, or some.
    (0..=holding.len()).find_map(|count| {
        let mut source = TestText::new("PTX", "one");
        if count > 0 {
            source.declare([".shared .b32 _shared[64]"]);
        }
        source.declare(holding[..count].iter().map(|name| format!("P0:{name}=_shared")));
        source.columns(&[vec!["P0@cta 0,cluster 0,gpu 0".to_owned(), line.clone()]]);
        source.end("exists (true)");
        let test = litmus::parse("instruction", source.to_string().as_bytes()).ok()?;
        Some(match test.program.unsupported() {
            Some((_, _, why)) => Err(Some(why.to_owned())),
            None => Ok(()),
        })
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
        let checked =
            if self.checked { "the modifiers and operands" } else { "only the modifiers" };
        format!("{status}; of its rules, `lint` checks {checked}")
    }

    pub(super) fn text(&self, warnings: &[Diagnostic], out: &mut dyn Write) -> io::Result<()> {
        for warning in warnings {
            writeln!(out, "{warning:#}")?;
        }
        writeln!(out, "{}", self.text)?;
        writeln!(out, "  {} ({})", self.is, self.section.number)?;
        writeln!(out, "  {}", self.status())?;
        show::modifiers(self.section, &self.modifiers, out)
    }

    pub(super) fn json(&self, warnings: &[Diagnostic], out: &mut dyn Write) -> io::Result<()> {
        let other = show::OtherObject {
            is: &self.is,
            modelled: self.modelled.is_ok(),
            section: self.section.number,
            title: self.section.title,
            url: self.section.url(),
            parts: show::named(&self.modifiers.parts),
            hints: show::named(&self.modifiers.hints),
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
        assert_eq!(modelled("multimem.st.weak.global.u32 [a], r;"), Ok(()));
        assert_eq!(modelled("prefetch.global.L2 [a];"), Ok(()));
        assert!(modelled("discard.global.L2 [a], 128;").is_err());
        let tracked = other("@p cp.async.mbarrier.arrive.noinc.b64 [%0];").expect("it is known");
        assert!(tracked.modelled.is_ok());
        let account = tracked.account.expect("it is explained");
        assert_eq!((account.needs.sm, account.needs.variant), (80, None));
        let guarded = account.meaning.events.iter().any(|event| event.text.contains("guard"));
        assert!(guarded, "the guard is named");
        let multiplied = other("wgmma.fence.sync.aligned").and_then(|fence| fence.account);
        let needs = multiplied.expect("it is explained").needs;
        assert_eq!((needs.sm, needs.variant), (90, Some('a')));
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
        assert_eq!(nowhere, ["fabric", "spcompress", "spdecompress", "trace"]);
    }
}
