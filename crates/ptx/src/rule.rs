//! Rules that instructions can break, and their corrections.

use std::borrow::Cow;

use crate::shape::InstructionForm;
use crate::version::{PtxIsa, RuleContext};
use model::section::Section;

/// A sentence of the document that an instruction can contradict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    pub code: &'static str,
    pub section: Section,
    pub text: &'static str,
    pub by: Authority,
}

/// Who says so. The document and NVIDIA's assembler `ptxas` differ here and there
/// (`docs/ptxas-differences.md`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Authority {
    Both,
    /// `ptxas` accepts what breaks the rule.
    Document,
    /// The document is silent, or says otherwise.
    Ptxas,
    /// Nothing forbids it: legal instructions that do less together than they seem to.
    Neither,
}

/// A rule, and how to see that it is broken.
#[derive(Clone, Copy)]
pub struct RuleCheck {
    pub rule: &'static Rule,
    pub broken: fn(&InstructionForm<'_>, &RuleContext) -> Option<Breach>,
}

/// A place in an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spot {
    /// A dot-separated part, 0 being the opcode; the place after the last where there are fewer.
    Part(usize),
    Operand(usize),
    /// All of them, or where they would be.
    Operands,
    /// An element of a vector.
    Lane(usize, usize),
    /// The suffix `.unified` of the address.
    Unified,
    Guard,
}

/// Where a rule is broken, what is there, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    pub spot: Spot,
    pub note: Cow<'static, str>,
    pub fix: Vec<Edit>,
    /// Whether the instruction can mean nothing but what the fix makes of it. Otherwise the fix is a guess.
    pub safe: bool,
    /// Advice where no edit is a cure.
    pub advice: Option<Cow<'static, str>>,
}

impl Breach {
    pub fn at(spot: Spot, note: impl Into<Cow<'static, str>>) -> Breach {
        Breach { spot, note: note.into(), fix: Vec::new(), safe: false, advice: None }
    }

    pub fn part(position: usize, note: impl Into<Cow<'static, str>>) -> Breach {
        Breach::at(Spot::Part(position), note)
    }

    #[must_use]
    pub fn fixed_by(mut self, fix: impl IntoIterator<Item = Edit>) -> Breach {
        self.fix.extend(fix);
        self
    }

    /// The fix keeps the meaning: it changes hints, or writes out the only choice there is.
    #[must_use]
    pub fn safe(self) -> Breach {
        self.safe_if(true)
    }

    #[must_use]
    pub fn safe_if(mut self, safe: bool) -> Breach {
        self.safe = safe;
        self
    }

    #[must_use]
    pub fn advised(mut self, advice: impl Into<Cow<'static, str>>) -> Breach {
        self.advice = Some(advice.into());
        self
    }
}

/// A change to an instruction or to what it stands in; positions and indices are those of the
/// instruction as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    /// A dot-separated part.
    Replace(usize, &'static str),
    /// Before the part at this position.
    Insert(usize, &'static str),
    Remove(usize),
    RemoveOperand(usize),
    /// Puts brackets around an operand.
    Bracket(usize),
    /// All operands.
    SetOperands(&'static str),
    /// Adds the suffix `.unified` to the address, or takes it away.
    SetUnified(bool),
    RemoveGuard,
    /// `.version`, at least.
    Version(PtxIsa),
    /// `.target`, at least this `sm_`.
    Target(u16),
}
