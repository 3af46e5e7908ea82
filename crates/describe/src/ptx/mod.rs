//! Explains one PTX instruction in words. Each statement has its section.
//!
//! An explanation is independent of the output format.

mod address;
pub mod asynchronous;
pub mod barrier;
mod cancel;
mod fence;
pub mod lowered;
mod memory;
pub mod modifiers;
mod multimem;
mod promises;
pub mod template;
mod tensor_memory;
mod words;

use std::borrow::Cow;

use ::ptx::ParsedInstruction;
use ::ptx::qualifier::{Qualifier, QualifierKind};
use ::ptx::rules::gate::{self, Need};
use ::ptx::version::PtxIsa;
use model::section::{self, Section};
use text::Diagnostic;
use text::diagnostic::Severity;

use self::lowered::FamilyLowering;

/// The first target to which the memory model applies.
const MODELLED: u16 = 70;

/// A statement and the section that it is based on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CitedText {
    pub text: Cow<'static, str>,
    pub section: Section,
}

/// The meaning of an instruction.
pub struct InstructionMeaning {
    /// A summary, in one sentence.
    pub is: CitedText,
    /// The defaults of qualifiers that are not written.
    pub defaults: Vec<CitedText>,
    pub events: Vec<CitedText>,
    pub promises: Vec<CitedText>,
    /// Orders that are not promised, and requirements on the program.
    pub limits: Vec<CitedText>,
}

impl InstructionMeaning {
    fn new(is: CitedText) -> InstructionMeaning {
        let (defaults, events, promises, limits) = Default::default();
        InstructionMeaning { is, defaults, events, promises, limits }
    }
}

/// A qualifier as written, and its meaning.
pub struct QualifierMeaning {
    pub name: String,
    pub said: CitedText,
}

/// The minimum PTX version and target, with reasons.
pub struct MinimumVersion {
    pub isa: PtxIsa,
    /// The `sm_` number; 0 means any target.
    pub sm: u16,
    /// `a` where the instruction is of `sm_90a` and of no target above it that is not such.
    pub variant: Option<char>,
    pub reasons: Vec<CitedText>,
}

/// The explanation of one instruction.
pub struct PtxExplanation {
    pub meaning: InstructionMeaning,
    pub parts: Vec<QualifierMeaning>,
    /// Qualifiers that affect only performance.
    pub hints: Vec<QualifierMeaning>,
    pub needs: MinimumVersion,
    pub lowered: Vec<FamilyLowering>,
}

/// Explains an instruction. `None` if it breaks a rule other than those on versions and targets.
pub fn account(
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
        let fence_parts = modifiers::of_fence(&single.parts, page);
        let reason = format!("this fence requires PTX ISA {} or later", spelling.isa);
        let reason = format!("{reason} and `sm_{}` or higher", spelling.sm);
        let reasons = vec![words::said(page, reason)];
        (
            meaning,
            fence_parts.into_iter().map(|part| (QualifierKind::Order, part)).collect(),
            MinimumVersion { isa: spelling.isa, sm: spelling.sm, variant: None, reasons },
        )
    } else {
        let meaning = memory::meaning(&form, isa).or_else(|| fence::meaning(&form))?;
        let parts = single.parts.iter().filter_map(|name| {
            let qualifier = Qualifier::named(name)?;
            let said = words::part(single.opcode, name, qualifier, page);
            Some((qualifier.kind(), QualifierMeaning { name: (*name).to_owned(), said }))
        });
        let parts: Vec<_> = parts.collect();
        (meaning, parts, needs(&gate::needs(&form)))
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
        // A feature as old as PTX 1.0 only requires a target.
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
        variant: None,
        reasons: reasons.collect(),
    }
}
