//! `causeway sass explain`: explains single SASS instructions in words.

use std::collections::BTreeSet;
use std::io::{self, Write};

use machine::form::Family;
use sass::ldg::Ldg;
use sass::opcode::{class, is_understood};
use sass::syntax::{Register, RegisterFile};
use sass::uses::Registers;
use sass::{self, CheckedInstruction, ReadOptions, form};
use schemars::JsonSchema;
use serde::Serialize;
use text::Diagnostic;
use text::diagnostic::Severity;

use crate::lines::{self, LineKind};
use crate::lint::LintObject;
use crate::options::ExplainFormat;
use crate::sass::args::SassExplain;
use describe::sass::{self as words, OperandMeaning};
use engine::exit::Exit;

/// Lines are wrapped at word boundaries to this width.
const WIDTH: usize = 100;

/// The explanation of one instruction.
struct SassExplanation {
    is: String,
    family: Option<Family>,
    parts: Vec<OperandMeaning>,
    memory: Vec<String>,
    /// The registers, if the form of the instruction determines them.
    registers: Option<Registers>,
    /// The equivalent in PTX.
    contract: Option<String>,
}

/// Explains all instructions. The worst result determines the exit code.
pub fn command(explain: &SassExplain, out: &mut dyn Write) -> io::Result<Exit> {
    let options = ReadOptions { sm: explain.arch, registers: explain.registers };
    let mut exit = Exit::AsExpected;
    let instructions: Vec<&str> =
        explain.instructions.iter().flat_map(|text| sass::single::unpaired(text)).collect();
    for (index, text) in instructions.iter().enumerate() {
        let path = match instructions.len() {
            1 => "instruction".to_owned(),
            _ => format!("instruction {}", index + 1),
        };
        if index > 0 && explain.format == ExplainFormat::Text {
            writeln!(out)?;
        }
        let (single, diagnostics) = match sass::instruction(&path, text, options) {
            Ok(single) => {
                let diagnostics = single.diagnostics.clone();
                (Some(single), diagnostics)
            }
            Err(diagnostics) => (None, diagnostics),
        };
        let broken = diagnostics.iter().any(|one| one.severity == Severity::Error);
        let unknown =
            |single: &CheckedInstruction<'_>| class(single.instruction.opcode.text).is_none();
        exit = exit.max(match (&single, broken) {
            (None, _) => Exit::BadInput,
            // The rules of an unknown opcode are unknown too.
            (Some(single), _) if unknown(single) => Exit::BadInput,
            (Some(_), true) => Exit::Differs,
            (Some(_), false) => Exit::AsExpected,
        });
        let account = single.as_ref().filter(|_| !broken).map(|one| account(one, options));
        let shown = single.as_ref().map_or(text.trim().to_owned(), |s| s.instruction.to_string());
        match explain.format {
            ExplainFormat::Text => show(&shown, &diagnostics, account.as_ref(), out)?,
            ExplainFormat::Json => json(&shown, &diagnostics, account.as_ref(), out)?,
        }
    }
    Ok(exit)
}

fn account(single: &CheckedInstruction<'_>, options: ReadOptions) -> SassExplanation {
    let CheckedInstruction { instruction, family, ldg, .. } = single;
    let does = form::of(instruction, *family);
    let mut registers = instruction.registers();
    let beyond = |ldg: &Ldg| options.registers.is_some_and(|limit| ldg.is_beyond(limit));
    if let (Some(Registers { reads, .. }), true) =
        (&mut registers, ldg.as_ref().is_some_and(beyond))
    {
        reads.retain(|register| register.file != RegisterFile::General);
    }
    SassExplanation {
        is: words::is(instruction, &does),
        family: *family,
        parts: words::parts(instruction, *family, ldg.as_ref(), options.registers),
        memory: words::memory(instruction, &does, *family),
        registers: registers.filter(|_| is_understood(instruction.opcode.text)),
        contract: words::contract(instruction, &does),
    }
}

fn show(
    instruction: &str,
    diagnostics: &[Diagnostic],
    account: Option<&SassExplanation>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for diagnostic in diagnostics {
        writeln!(out, "{diagnostic:#}")?;
    }
    let Some(account) = account else { return Ok(()) };
    writeln!(out, "{instruction}")?;
    lines("  ", "  ", &account.is, out)?;
    if let Some(family) = account.family {
        writeln!(out, "  on machines of the family {family}")?;
    }
    named("Its fields", &account.parts, out)?;
    if let Some(Registers { writes, reads }) = &account.registers {
        let (writes, reads) = (names(writes), names(reads));
        if !writes.is_empty() || !reads.is_empty() {
            let none = |list: Vec<String>| match &list[..] {
                [] => "nothing".to_owned(),
                list => list.join(", "),
            };
            writeln!(out, "\n  writes {}; reads {}", none(writes), none(reads))?;
        }
    }
    if !account.memory.is_empty() {
        writeln!(out, "\nTo memory:")?;
        account.memory.iter().try_for_each(|text| lines("  - ", "    ", text, out))?;
    }
    if let Some(contract) = &account.contract {
        writeln!(out, "\nAs PTX:")?;
        lines("  ", "  ", contract, out)?;
    }
    Ok(())
}

fn names(set: &BTreeSet<Register>) -> Vec<String> {
    set.iter().map(ToString::to_string).collect()
}

fn named(heading: &str, parts: &[OperandMeaning], out: &mut dyn Write) -> io::Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{heading}:")?;
    let width = parts.iter().map(|part| part.name.len()).max().unwrap_or(0).min(24);
    for part in parts {
        let first = format!("  {:width$}  ", part.name);
        let hint = if part.hint { "; a performance hint" } else { "" };
        lines(&first, &" ".repeat(width + 4), &[&part.text, hint].concat(), out)?;
    }
    Ok(())
}

fn lines(first: &str, rest: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            rest.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    writeln!(out, "{line}")
}

#[derive(Serialize, JsonSchema)]
struct Field<'a> {
    field: &'a str,
    text: &'a str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Explained")]
pub(crate) struct SassExplanationObject<'a> {
    is: &'a str,
    /// `null`: any that has it.
    family: Option<&'static str>,
    /// All of them, in order.
    fields: Vec<Field<'a>>,
    /// `null` where its shape does not show them.
    writes: Option<Vec<String>>,
    reads: Option<Vec<String>>,
    memory: &'a [String],
    /// `null` where it is nothing of PTX by itself.
    ptx: Option<&'a str>,
    /// The fields that affect only performance.
    hints: Vec<Field<'a>>,
}

/// One line.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SassExplainObject<'a> {
    instruction: &'a str,
    diagnostics: Vec<LintObject<'a>>,
    /// `null` where it cannot be read, or breaks a rule.
    explained: Option<SassExplanationObject<'a>>,
}

fn json(
    instruction: &str,
    diagnostics: &[Diagnostic],
    account: Option<&SassExplanation>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let explained = account.map(|account| {
        let fields = |hints: bool| {
            let parts = account.parts.iter().filter(move |part| part.hint || !hints);
            parts.map(|part| Field { field: &part.name, text: &part.text }).collect()
        };
        SassExplanationObject {
            is: &account.is,
            family: account.family.map(Family::name),
            fields: fields(false),
            writes: account.registers.as_ref().map(|registers| names(&registers.writes)),
            reads: account.registers.as_ref().map(|registers| names(&registers.reads)),
            memory: &account.memory,
            ptx: account.contract.as_deref(),
            hints: fields(true),
        }
    });
    let diagnostics = diagnostics.iter().map(LintObject::from).collect();
    lines::write(
        LineKind::SassExplain,
        SassExplainObject { instruction, diagnostics, explained },
        out,
    )
}
