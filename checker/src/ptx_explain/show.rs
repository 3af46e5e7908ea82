//! Prints an explanation as text for people, or as JSON for programs.

use std::io::{self, Write};

use model::section::Section;
use schemars::JsonSchema;
use serde::Serialize;
use text::Diagnostic;

use crate::lines::{self, LineKind};
use crate::lint::LintObject;
use describe::ptx::lowered::LoweringEntry;
use describe::ptx::modifiers::ExplainedModifiers;
use describe::ptx::{CitedText, PtxExplanation, QualifierMeaning};

/// Lines are wrapped at word boundaries to this width.
const WIDTH: usize = 100;

const PARTS: &str = "Its parts";
const HINTS: &str = "Performance hints: no effect on what is promised";

pub(super) fn text(
    instruction: &str,
    diagnostics: &[Diagnostic],
    account: Option<&PtxExplanation>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for diagnostic in diagnostics {
        writeln!(out, "{diagnostic:#}")?;
    }
    let Some(account) = account else { return Ok(()) };
    let mut page = ExplanationPage { out, cited: Vec::new() };
    let meaning = &account.meaning;
    writeln!(page.out, "{instruction}")?;
    page.say("  ", "  ", &meaning.is)?;
    page.named(PARTS, &account.parts)?;
    page.listed("Defaults", &meaning.defaults)?;
    page.listed("Events", &meaning.events)?;
    page.listed("Promised", &meaning.promises)?;
    page.listed("Not promised, and required of the program", &meaning.limits)?;
    page.named(HINTS, &account.hints)?;
    page.needs(account)?;
    page.lowered(account)?;
    page.sections()
}

/// Prints the modifiers of an instruction of this section, and the sections that they cite.
pub(super) fn modifiers(
    section: Section,
    modifiers: &ExplainedModifiers,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = ExplanationPage { out, cited: vec![section] };
    page.named(PARTS, &modifiers.parts)?;
    page.named(HINTS, &modifiers.hints)?;
    page.sections()
}

struct ExplanationPage<'a> {
    out: &'a mut dyn Write,
    cited: Vec<Section>,
}

impl ExplanationPage<'_> {
    /// Prints a statement with its section number, wrapped into lines.
    fn say(&mut self, first: &str, rest: &str, said: &CitedText) -> io::Result<()> {
        if !self.cited.contains(&said.section) {
            self.cited.push(said.section);
        }
        let text = format!("{} ({})", said.text, said.section.number);
        self.lines(first, rest, &text)
    }

    fn lines(&mut self, first: &str, rest: &str, text: &str) -> io::Result<()> {
        let mut line = first.to_owned();
        let mut empty = true;
        for word in text.split(' ') {
            if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                writeln!(self.out, "{line}")?;
                rest.clone_into(&mut line);
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        writeln!(self.out, "{line}")
    }

    fn heading(&mut self, heading: &str) -> io::Result<()> {
        writeln!(self.out, "\n{heading}:")
    }

    fn listed(&mut self, heading: &str, all: &[CitedText]) -> io::Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        self.heading(heading)?;
        all.iter().try_for_each(|said| self.say("  - ", "    ", said))
    }

    fn named(&mut self, heading: &str, parts: &[QualifierMeaning]) -> io::Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        self.heading(heading)?;
        let width = parts.iter().map(|part| part.name.len() + 1).max().unwrap_or(0).min(24);
        for part in parts {
            let first = format!("  {:width$}  ", format!(".{}", part.name));
            self.say(&first, &" ".repeat(width + 4), &part.said)?;
        }
        Ok(())
    }

    fn needs(&mut self, account: &PtxExplanation) -> io::Result<()> {
        let needs = &account.needs;
        let target = match (needs.sm, needs.variant) {
            (0, _) => "any target".to_owned(),
            (sm, None) => format!("`sm_{sm}` or higher"),
            (sm, Some(variant)) => format!("`sm_{sm}{variant}`"),
        };
        self.heading("Required")?;
        writeln!(self.out, "  PTX ISA {} or higher, and {target}", needs.isa)?;
        needs.reasons.iter().try_for_each(|reason| self.say("  - ", "    ", reason))
    }

    fn lowered(&mut self, account: &PtxExplanation) -> io::Result<()> {
        self.heading("SASS, and the measured versions of ptxas that emit it")?;
        let names: Vec<String> = account
            .lowered
            .iter()
            .map(|one| {
                let targets: Vec<String> =
                    one.targets.iter().map(|sm| format!("sm_{sm}")).collect();
                format!("{} ({})", one.family, targets.join(", "))
            })
            .collect();
        let width = names.iter().map(String::len).max().unwrap_or(0);
        for (name, one) in names.iter().zip(&account.lowered) {
            let first = format!("  {name:width$}  ");
            let rest = " ".repeat(width + 4);
            match &one.becomes {
                LoweringEntry::Sass(sass, by) => {
                    let sass = if sass.is_empty() { "no instruction" } else { sass };
                    self.lines(&first, &rest, &format!("{sass} [{}]", by.join(", ")))?;
                }
                LoweringEntry::Rejected(why) => {
                    let text = format!("rejected: {}", why.text).into();
                    self.say(&first, &rest, &CitedText { text, section: why.section })?;
                }
                LoweringEntry::Unmeasured => self.lines(&first, &rest, "not measured")?,
            }
        }
        Ok(())
    }

    /// The meaning of the section numbers.
    fn sections(&mut self) -> io::Result<()> {
        self.heading("Sections")?;
        let mut cited = std::mem::take(&mut self.cited);
        let rank = |section: &Section| {
            let numbers = section.number.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
            numbers.collect::<Vec<_>>()
        };
        cited.sort_by_key(rank);
        for section in cited {
            writeln!(self.out, "  {section}\n    {}", section.url())?;
        }
        Ok(())
    }
}

#[derive(Serialize, JsonSchema)]
struct Cited {
    number: &'static str,
    title: &'static str,
    url: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Statement")]
struct CitedObject<'a> {
    text: &'a str,
    section: Cited,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Named")]
pub(super) struct QualifierObject<'a> {
    qualifier: &'a str,
    #[serde(flatten)]
    said: CitedObject<'a>,
}

#[derive(Serialize, JsonSchema)]
struct Requirements<'a> {
    ptx_isa: String,
    /// `null`: any.
    target: Option<String>,
    reasons: Vec<CitedObject<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Machine")]
struct FamilyObject<'a> {
    family: &'a str,
    targets: Vec<String>,
    /// `null` where it is rejected or was not measured.
    sass: Option<Vec<&'a str>>,
    /// The versions of ptxas that were measured to make it so.
    ptxas: &'a [String],
    rejected: Option<CitedObject<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Explained")]
pub(crate) struct PtxExplanationObject<'a> {
    is: CitedObject<'a>,
    parts: Vec<QualifierObject<'a>>,
    defaults: Vec<CitedObject<'a>>,
    events: Vec<CitedObject<'a>>,
    promises: Vec<CitedObject<'a>>,
    limits: Vec<CitedObject<'a>>,
    hints: Vec<QualifierObject<'a>>,
    requires: Requirements<'a>,
    machine: Vec<FamilyObject<'a>>,
}

/// An instruction that is known by its opcode.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Other")]
pub(super) struct OtherObject<'a> {
    pub(super) is: &'a str,
    /// Whether litmus tests execute it.
    pub(super) modelled: bool,
    /// The section of the document that has it.
    pub(super) section: &'a str,
    pub(super) title: &'a str,
    pub(super) url: String,
    pub(super) parts: Vec<QualifierObject<'a>>,
    pub(super) hints: Vec<QualifierObject<'a>>,
}

/// One line.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PtxExplainObject<'a> {
    pub(super) instruction: &'a str,
    pub(super) diagnostics: Vec<LintObject<'a>>,
    /// `null` where it cannot be read, breaks a rule, or is not a memory instruction.
    pub(super) explained: Option<PtxExplanationObject<'a>>,
    /// An instruction that is not a memory instruction; `null` for those.
    pub(super) other: Option<OtherObject<'a>>,
}

impl<'a> From<&'a CitedText> for CitedObject<'a> {
    fn from(said: &'a CitedText) -> CitedObject<'a> {
        let Section { number, title, .. } = said.section;
        CitedObject { text: &said.text, section: Cited { number, title, url: said.section.url() } }
    }
}

fn statements(all: &[CitedText]) -> Vec<CitedObject<'_>> {
    all.iter().map(CitedObject::from).collect()
}

pub(super) fn named(parts: &[QualifierMeaning]) -> Vec<QualifierObject<'_>> {
    parts
        .iter()
        .map(|part| QualifierObject { qualifier: &part.name, said: (&part.said).into() })
        .collect()
}

pub(super) fn json(
    instruction: &str,
    diagnostics: &[Diagnostic],
    account: Option<&PtxExplanation>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let explained = account.map(|account| PtxExplanationObject {
        is: (&account.meaning.is).into(),
        parts: named(&account.parts),
        defaults: statements(&account.meaning.defaults),
        events: statements(&account.meaning.events),
        promises: statements(&account.meaning.promises),
        limits: statements(&account.meaning.limits),
        hints: named(&account.hints),
        requires: Requirements {
            ptx_isa: account.needs.isa.to_string(),
            target: (account.needs.sm > 0).then(|| {
                let variant = account.needs.variant.map_or(String::new(), String::from);
                format!("sm_{}{variant}", account.needs.sm)
            }),
            reasons: statements(&account.needs.reasons),
        },
        machine: account
            .lowered
            .iter()
            .map(|one| {
                let (sass, ptxas, rejected) = match &one.becomes {
                    LoweringEntry::Sass(sass, by) => {
                        let all = sass.split(" ; ").filter(|one| !one.is_empty());
                        (Some(all.collect()), *by, None)
                    }
                    LoweringEntry::Rejected(why) => (None, &[][..], Some(why.into())),
                    LoweringEntry::Unmeasured => (None, &[][..], None),
                };
                let targets = one.targets.iter().map(|sm| format!("sm_{sm}")).collect();
                FamilyObject { family: one.family, targets, sass, ptxas, rejected }
            })
            .collect(),
    });
    let diagnostics = diagnostics.iter().map(LintObject::from).collect();
    lines::write(
        LineKind::PtxExplain,
        PtxExplainObject { instruction, diagnostics, explained, other: None },
        out,
    )
}
