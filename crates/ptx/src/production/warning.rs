//! What is to be said of instructions that ptxas takes.

use super::gate::{self, ProductionGate};
use crate::rule::Authority;
use crate::version::{PtxIsa, Target};

/// What is to be said of an instruction that ptxas takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProductionWarning {
    pub(crate) kind: WarningKind,
    /// From which version on, and for which targets.
    gate: ProductionGate,
    pub(crate) why: &'static str,
}

impl ProductionWarning {
    pub(super) fn applies(&self, isa: PtxIsa, target: Option<Target>) -> bool {
        let gate = self.gate;
        gate.isa.is_none_or(|least| isa >= least)
            && (gate.targets.is_empty() || target.is_some_and(|target| gate.admits(target, isa)))
    }
}

/// Of a modifier in brackets.
pub(super) const UNDOCUMENTED: ProductionWarning = ProductionWarning {
    kind: WarningKind::Document,
    gate: ProductionGate { isa: None, targets: "" },
    why: "ptxas takes a modifier that the document does not have here",
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WarningKind {
    /// The document forbids it, or does not have it.
    Document,
    Deprecated,
    /// It traps where it is executed.
    Trap,
}

impl WarningKind {
    fn named(name: &str) -> Option<WarningKind> {
        Some(match name {
            "" => WarningKind::Document,
            "deprecated" => WarningKind::Deprecated,
            "trap" => WarningKind::Trap,
            _ => return None,
        })
    }

    pub(crate) fn code(self) -> &'static str {
        match self {
            WarningKind::Document => "production-document",
            WarningKind::Deprecated => "production-deprecated",
            WarningKind::Trap => "production-trap",
        }
    }

    pub(crate) fn message(self, head: &str) -> String {
        match self {
            WarningKind::Document => format!("the document forbids this `{head}`"),
            WarningKind::Deprecated => format!("this `{head}` is deprecated"),
            WarningKind::Trap => format!("ptxas makes a trap of `{head}`"),
        }
    }

    /// Who forbids it.
    pub(crate) fn by(self) -> Authority {
        match self {
            WarningKind::Document => Authority::Document,
            WarningKind::Deprecated | WarningKind::Trap => Authority::Neither,
        }
    }
}

/// `deprecated@9.5 why`; with nothing before the first blank it is the document that forbids it.
pub(super) fn read(text: &'static str) -> Option<ProductionWarning> {
    let (name, why) = text.split_once(' ')?;
    let (name, gate) = gate::gate(name)?;
    Some(ProductionWarning { kind: WarningKind::named(name)?, gate, why: why.trim() })
}
