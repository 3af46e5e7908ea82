//! `causeway ptx explain`: one PTX instruction in plain words, each statement with its section.
//!
//! The words are written once, as an account of the instruction, and printed as text or as JSON.

mod address;
mod fence;
mod lowered;
mod memory;
mod other;
mod promises;
mod show;
mod template;
mod words;

use std::borrow::Cow;
use std::io::{self, Write};

use model::section::{self, Section};
use ptx::qualifier::Qualifier;
use ptx::rules::gate::{self, Need};
use ptx::version::PtxIsa;
use ptx::{self, LintOptions, ParsedInstruction};
use text::Diagnostic;
use text::diagnostic::Severity;

use crate::cli::{ExplainFormat, PtxExplain};
use engine::exit::Exit;
use lowered::FamilyLowering;

pub(crate) use show::PtxExplainObject;

/// The first target that the memory model speaks of.
const MODELLED: u16 = 70;

/// A statement, and the section that it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CitedText {
    pub text: Cow<'static, str>,
    pub section: Section,
}

/// What an instruction means.
struct InstructionMeaning {
    /// In one sentence.
    is: CitedText,
    /// What is not written.
    defaults: Vec<CitedText>,
    events: Vec<CitedText>,
    promises: Vec<CitedText>,
    /// What is not promised, and what is asked of the program.
    limits: Vec<CitedText>,
}

impl InstructionMeaning {
    fn new(is: CitedText) -> InstructionMeaning {
        let (defaults, events, promises, limits) = Default::default();
        InstructionMeaning { is, defaults, events, promises, limits }
    }
}

/// A qualifier as it is written, and what it says.
struct QualifierMeaning {
    name: String,
    said: CitedText,
}

/// The minimum PTX version and target, with reasons.
struct MinimumVersion {
    isa: PtxIsa,
    /// `sm_`; 0 is any target.
    sm: u16,
    reasons: Vec<CitedText>,
}

/// All that is said of one instruction.
struct PtxExplanation {
    meaning: InstructionMeaning,
    parts: Vec<QualifierMeaning>,
    /// Qualifiers that ask for speed and nothing else.
    hints: Vec<QualifierMeaning>,
    needs: MinimumVersion,
    lowered: Vec<FamilyLowering>,
}

/// Explains all instructions; the worst of them decides the exit code.
pub fn command(explain: &PtxExplain, out: &mut dyn Write) -> io::Result<Exit> {
    let options =
        LintOptions { isa: explain.ptx_isa, target: explain.target, strict: explain.strict };
    let (mut exit, mut explained) = (Exit::AsExpected, false);
    let instructions: Vec<_> =
        explain.instructions.iter().flat_map(|text| template::instructions(text)).collect();
    for (index, text) in instructions.iter().enumerate() {
        let path = match instructions.len() {
            1 => "instruction".to_owned(),
            _ => format!("instruction {}", index + 1),
        };
        if let Some(other) = other::other(text) {
            let (diagnostics, worst) = match ptx::other(&path, text, options) {
                Ok(diagnostics) => (diagnostics, Exit::Differs),
                Err(diagnostics) => (diagnostics, Exit::BadInput),
            };
            let broken = diagnostics.iter().any(|one| one.severity == Severity::Error);
            if explained && explain.format == ExplainFormat::Text {
                writeln!(out)?;
            }
            explained = !broken;
            match (explain.format, broken) {
                (ExplainFormat::Text, false) => other.text(&diagnostics, out)?,
                (ExplainFormat::Json, false) => other.json(&diagnostics, out)?,
                (ExplainFormat::Text, true) => show::text(text, &diagnostics, None, out)?,
                (ExplainFormat::Json, true) => show::json(text, &diagnostics, None, out)?,
            }
            if broken {
                exit = exit.max(worst);
            }
            continue;
        }
        let (single, diagnostics) = match ptx::instruction(&path, text, options) {
            Ok(single) => {
                let diagnostics = single.diagnostics.clone();
                (Some(single), diagnostics)
            }
            Err(diagnostics) => (None, diagnostics),
        };
        let broken = diagnostics.iter().any(|one| one.severity == Severity::Error);
        exit = exit.max(match (&single, broken) {
            (None, _) => Exit::BadInput,
            (Some(_), true) => Exit::Differs,
            (Some(_), false) => Exit::AsExpected,
        });
        let isa = explain.ptx_isa.unwrap_or(PtxIsa::NEWEST);
        let account = single.as_ref().and_then(|single| account(single, &diagnostics, isa));
        let text = single.as_ref().map_or(text.trim(), |single| single.text);
        if explained && explain.format == ExplainFormat::Text {
            writeln!(out)?;
        }
        explained = account.is_some();
        match explain.format {
            ExplainFormat::Text => show::text(text, &diagnostics, account.as_ref(), out)?,
            ExplainFormat::Json => show::json(text, &diagnostics, account.as_ref(), out)?,
        }
    }
    Ok(exit)
}

/// What is said of an instruction, unless it breaks more than a version or a target.
fn account(
    single: &ParsedInstruction<'_>,
    diagnostics: &[Diagnostic],
    isa: PtxIsa,
) -> Option<PtxExplanation> {
    let of_setting =
        |one: &&Diagnostic| one.code.starts_with("isa-") || one.code.starts_with("target-");
    let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
    if errors.clone().count() != errors.filter(of_setting).count() {
        return None;
    }
    let form = single.form();
    let page = words::page(single.opcode, form.is_non_coherent());
    let (mut meaning, parts, needs) = if let Some(spelling) = single.spelling {
        let meaning = fence::spelled(spelling);
        let reason = format!("this fence requires PTX ISA {} or later", spelling.isa);
        let reason = format!("{reason} and `sm_{}` or higher", spelling.sm);
        let reasons = vec![words::said(page, reason)];
        (meaning, Vec::new(), MinimumVersion { isa: spelling.isa, sm: spelling.sm, reasons })
    } else {
        let meaning = memory::meaning(&form, isa).or_else(|| fence::meaning(&form))?;
        let parts = single.parts.iter().filter_map(|name| {
            let qualifier = Qualifier::named(name)?;
            let said = words::part(single.opcode, name, qualifier, page);
            Some((qualifier.kind(), QualifierMeaning { name: (*name).to_owned(), said }))
        });
        (meaning, parts.collect(), needs(&gate::needs(&form)))
    };
    if single.predicated {
        let text = "in threads where the guard is false, none of these".to_owned();
        meaning.events.push(words::said(section::PREDICATED_EXECUTION, text));
    }
    if needs.sm < MODELLED {
        let text = format!(
            "the memory model applies to `sm_{MODELLED}` and later: earlier targets promise none of this"
        );
        meaning.limits.push(words::said(section::APPLICABILITY, text));
    }
    let (hints, parts): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|(kind, _)| words::is_hint(*kind));
    let only = |parts: Vec<(_, QualifierMeaning)>| parts.into_iter().map(|(_, part)| part);
    Some(PtxExplanation {
        meaning,
        parts: only(parts).chain(address::unified(&form)).collect(),
        hints: only(hints).collect(),
        needs,
        lowered: lowered::families(single),
    })
}

fn needs(all: &[Need]) -> MinimumVersion {
    let reasons = all.iter().map(|need| {
        // What came with the rest of the instruction needs a target of its own alone.
        let text = match (need.isa > PtxIsa::new(1, 0), need.sm) {
            (true, 0) => need.isa_rule.text.to_owned(),
            (true, sm) => format!("{} and `sm_{sm}` or higher", need.isa_rule.text),
            (false, _) => need.sm_rule.text.to_owned(),
        };
        words::said(need.isa_rule.section, text)
    });
    MinimumVersion {
        isa: all.iter().map(|need| need.isa).max().unwrap_or(PtxIsa::new(1, 0)),
        sm: all.iter().map(|need| need.sm).max().unwrap_or(0),
        reasons: reasons.collect(),
    }
}
