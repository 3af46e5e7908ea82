//! Errors of single qualifiers: unknown, not allowed for the instruction, or repeated.

use crate::qualifier::{BadQualifier, QUALIFIERS, QualifierKind};

use crate::correction::InstructionPieces;
use crate::rule::Edit;
use crate::shape::Opcode;
use model::scope::Scope;
use model::section::{self, Section};
use text::cursor::short;
use text::report::{DiagnosticBuilder, Diagnostics};

/// The edit that repairs one, if there is one, and whether it keeps the meaning: it translates a word of another
/// language, or removes a hint or a repetition. `accepts` is what the instruction has a use for.
pub fn correction(
    report: &Diagnostics,
    written: &InstructionPieces<'_>,
    fault: BadQualifier,
    accepts: &[QualifierKind],
) -> Option<(Edit, bool)> {
    let name = |position: usize| written.parts[position].of(written.text);
    match fault {
        BadQualifier::Unknown { position } => {
            let name = name(position);
            let known = QUALIFIERS
                .iter()
                .filter(|(_, qualifier)| accepts.contains(&qualifier.kind()))
                .map(|(name, _)| *name);
            let translated = scope_of_other_languages(name)
                .filter(|_| accepts.contains(&QualifierKind::Scope))
                .or_else(|| space_of_other_languages(name));
            let near =
                translated.or_else(|| report.nearest(name, known).filter(|_| !is_vector(name)));
            Some((Edit::Replace(position, near?), translated.is_some()))
        }
        BadQualifier::Foreign { position, kind } => {
            use QualifierKind::{Cache, Level1, Level2, Prefetch};
            Some((Edit::Remove(position), matches!(kind, Cache | Level1 | Level2 | Prefetch)))
        }
        BadQualifier::Repeated { first, second, .. } => {
            Some((Edit::Remove(second), name(first) == name(second)))
        }
    }
}

/// Whether a qualifier is meant to be the size of a vector: sizes that are near mean something else.
fn is_vector(name: &str) -> bool {
    name.strip_prefix('v').is_some_and(|n| n.parse::<u8>().is_ok())
}

/// Reports one; `accepts` is what the instruction has a use for.
pub fn tell<'r>(
    report: &'r mut Diagnostics,
    written: &InstructionPieces<'_>,
    fault: BadQualifier,
    accepts: &[QualifierKind],
) -> &'r mut DiagnosticBuilder {
    let name = |position: usize| written.parts[position].of(written.text);
    let opcode = name(0);
    let corrected =
        correction(report, written, fault, accepts).map(|(edit, _)| written.corrected(&[edit]));
    match fault {
        BadQualifier::Unknown { position } => {
            let name = name(position);
            let help = match corrected {
                Some(corrected) => corrected,
                None if name == "unified" => "`.unified` follows the address: `[a].unified`".into(),
                None if name == "seq_cst" => {
                    "for sequential consistency, write a `fence.sc` before an acquire or a release"
                        .into()
                }
                None if is_vector(name) => {
                    "vectors are `.v2`, `.v4` and `.v8`, with as many elements".into()
                }
                // To leave it out may change what the instruction means.
                None => format!("remove it, or use a qualifier that `{opcode}` accepts"),
            };
            report
                .error(
                    "unknown-qualifier",
                    written.parts[position],
                    format!("unknown qualifier `.{}` for `{opcode}`", short(name)),
                )
                .section_if(page(opcode))
                .help(help)
        }
        BadQualifier::Foreign { position, kind } => report
            .error(
                "qualifier",
                written.parts[position],
                format!("`{opcode}` takes no {}", kind.name().trim_matches('`')),
            )
            .note(format!("`.{}` is not allowed here", name(position)))
            .section_if(page(opcode))
            .help_if(corrected),
        BadQualifier::Repeated { first, second, kind } => report
            .error(
                "qualifier-twice",
                written.parts[second],
                format!("the {} is given twice", kind.name()),
            )
            .label(written.parts[first], "first here")
            .section_if(page(opcode))
            .help_if(corrected),
    }
}

/// Names of other languages for what PTX calls `cta`, `gpu` and `sys`.
fn scope_of_other_languages(name: &str) -> Option<&'static str> {
    match name {
        "workgroup" | "wg" => Some("cta"),
        "dev" | "agent" => Some("gpu"),
        "host" => Some("sys"),
        _ => Scope::of_cxx(name).map(Scope::name),
    }
}

/// Other words for state spaces.
fn space_of_other_languages(name: &str) -> Option<&'static str> {
    match name {
        "constant" => Some("const"),
        "param::kernel" => Some("param::entry"),
        _ => None,
    }
}

/// The page of an instruction, whose syntax lines say what it takes.
fn page(opcode: &str) -> Option<Section> {
    Some(match Opcode::named(opcode)? {
        Opcode::Ld => section::LD,
        Opcode::Ldu => section::LDU,
        Opcode::St => section::ST,
        Opcode::Atom => section::ATOM,
        Opcode::Red => section::RED,
        Opcode::Fence | Opcode::Membar => section::MEMBAR,
    })
}
