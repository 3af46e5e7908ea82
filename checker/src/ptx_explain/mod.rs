//! `causeway ptx explain`: explains single PTX instructions in words. Each statement has its section.
//!
//! The sentences are those of `describe::ptx`, printed as text or as JSON.

pub mod args;
mod other;
mod show;

use std::io::{self, Write};

use describe::ptx::{account, template};
use engine::exit::Exit;
use ptx::version::PtxIsa;
use ptx::{self, LintOptions};
use text::diagnostic::Severity;

use crate::options::ExplainFormat;
use crate::ptx_explain::args::PtxExplain;

pub(crate) use show::PtxExplainObject;

/// Explains all instructions. The worst result determines the exit code.
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
            let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
            let mut codes = errors.map(|one| one.code);
            let gated = codes.all(|code| ["production-isa", "production-target"].contains(&code));
            let account = other.account.as_ref().filter(|_| gated);
            if explained && explain.format == ExplainFormat::Text {
                writeln!(out)?;
            }
            explained = !broken || account.is_some();
            match (explain.format, broken) {
                (ExplainFormat::Text, _) if account.is_some() => {
                    show::text(other.text, &diagnostics, account, out)?;
                }
                (ExplainFormat::Json, _) if account.is_some() => {
                    show::json(other.text, &diagnostics, account, out)?;
                }
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
