//! An instruction as the tests write it, and a module around it in which all of its names are declared.

use std::fmt;

use ptx::LintOptions;
use ptx::catalogue::ExampleFrame;
use text::Diagnostic;

/// What stands between the commas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Data {
    One(String),
    Vector(Vec<String>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) base: String,
    pub(crate) offset: Option<i64>,
    pub(crate) unified: bool,
}

/// Its parts may be changed one by one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Written {
    pub(crate) opcode: &'static str,
    pub(crate) guard: Option<&'static str>,
    /// Without dots.
    pub(crate) parts: Vec<&'static str>,
    /// Before the address.
    pub(crate) destination: Option<Data>,
    pub(crate) place: Option<Place>,
    /// After the address.
    pub(crate) sources: Vec<Data>,
    pub(crate) policy: Option<String>,
    /// Whether it stands in a device function and not in a kernel.
    pub(crate) device: bool,
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Data::One(one) => f.write_str(one),
            Data::Vector(elements) => write!(f, "{{{}}}", elements.join(", ")),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.base)?;
        if let Some(offset) = self.offset {
            write!(f, "+{offset}")?;
        }
        f.write_str(if self.unified { "].unified" } else { "]" })
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(guard) = self.guard {
            write!(f, "{guard} ")?;
        }
        f.write_str(self.opcode)?;
        for part in &self.parts {
            write!(f, ".{part}")?;
        }
        let mut operands: Vec<String> = Vec::new();
        operands.extend(self.destination.as_ref().map(ToString::to_string));
        operands.extend(self.place.as_ref().map(ToString::to_string));
        operands.extend(self.sources.iter().map(ToString::to_string));
        operands.extend(self.policy.clone());
        if !operands.is_empty() {
            write!(f, " {}", operands.join(", "))?;
        }
        Ok(())
    }
}

impl Written {
    pub(crate) fn has(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    pub(crate) fn any(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.has(part))
    }

    #[must_use]
    pub(crate) fn without(mut self, part: &str) -> Written {
        self.parts.retain(|written| *written != part);
        self
    }

    #[must_use]
    pub(crate) fn replaced(mut self, part: &str, by: &'static str) -> Written {
        for written in self.parts.iter_mut().filter(|written| **written == part) {
            *written = by;
        }
        self
    }

    /// After the opcode.
    #[must_use]
    pub(crate) fn with(mut self, part: &'static str) -> Written {
        self.parts.insert(0, part);
        self
    }
}

/// A module in which one instruction is all that matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) isa: &'a str,
    pub(crate) target: &'a str,
    pub(crate) device: bool,
}

pub(crate) const NEWEST: Setting<'static> = Setting { isa: "9.4", target: "sm_120", device: false };

/// Registers are named by the first letter of their type and its width.
pub(crate) fn module(instruction: &str, setting: &Setting<'_>) -> String {
    let frame = if setting.device { ExampleFrame::Function } else { ExampleFrame::Kernel };
    frame.module(instruction, setting.isa, setting.target)
}

pub(crate) fn options(strict: bool) -> LintOptions {
    LintOptions { strict, ..LintOptions::default() }
}

/// All that is said of one instruction. That there is no such target in a version is about the setting.
pub(crate) fn said(instruction: &str, setting: &Setting<'_>, strict: bool) -> Vec<Diagnostic> {
    let text = module(instruction, setting);
    let mut said = ptx::lint("m.ptx", text.as_bytes(), options(strict)).diagnostics;
    said.retain(|one| one.code != "target-version");
    said
}

pub(crate) fn codes(diagnostics: &[Diagnostic]) -> Vec<&'static str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}
