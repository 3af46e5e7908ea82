//! The result of judging one lowering.

use schemars::JsonSchema;
use serde::Serialize;

use engine::exit::Exit;

/// From best to worst is another order: see [`Verdict::exit`]. Reading R89: what labels mean.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing becomes possible that the source forbids, up to the bound.
    Preserved,
    /// The same, and something weaker would do.
    Stronger,
    /// In some context the target allows an outcome that the source forbids.
    Weaker,
    /// It computes, reads or writes something else.
    WrongValue,
    /// The models say nothing of it.
    Outside,
    /// No assembler or compiler takes it.
    Invalid,
    /// Something in it is not supported.
    Unsupported,
    /// A limit was reached.
    Undecided,
}

impl Verdict {
    pub const ALL: [Verdict; 8] = [
        Verdict::Preserved,
        Verdict::Stronger,
        Verdict::Weaker,
        Verdict::WrongValue,
        Verdict::Outside,
        Verdict::Invalid,
        Verdict::Unsupported,
        Verdict::Undecided,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Verdict::Preserved => "preserved",
            Verdict::Stronger => "stronger",
            Verdict::Weaker => "weaker",
            Verdict::WrongValue => "wrong-value",
            Verdict::Outside => "outside",
            Verdict::Invalid => "invalid",
            Verdict::Unsupported => "unsupported",
            Verdict::Undecided => "undecided",
        }
    }

    pub fn exit(self) -> Exit {
        match self {
            Verdict::Preserved | Verdict::Stronger => Exit::AsExpected,
            Verdict::Weaker | Verdict::WrongValue | Verdict::Invalid => Exit::Differs,
            Verdict::Outside | Verdict::Unsupported | Verdict::Undecided => Exit::Undecided,
        }
    }
}

/// Who refuted a lowering.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "By")]
pub enum Refuter {
    /// The axioms of both sides' models, where no side is code of the machine.
    #[serde(rename = "axioms")]
    Axioms,
    /// The axioms, by what the machine's instructions promise; no run of the machine was found.
    #[serde(rename = "contract")]
    Contract,
    /// A run of the machine; the promises keep the source.
    #[serde(rename = "machine")]
    Machine,
    /// Both: the promises do not keep the source, and a run of the machine shows it.
    #[serde(rename = "contract+machine")]
    ContractAndMachine,
}

impl Refuter {
    pub fn name(self) -> &'static str {
        match self {
            Refuter::Axioms => "axioms",
            Refuter::Contract => "contract",
            Refuter::Machine => "machine",
            Refuter::ContractAndMachine => "contract+machine",
        }
    }
}

/// A part of a side that is not supported.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct RefusedPart {
    /// `source` or `target`.
    pub side: String,
    /// In the file of the side, from 1.
    pub line: usize,
    pub why: String,
}

/// A verdict with its reasons.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Finding {
    pub verdict: Verdict,
    pub why: String,
    /// Whether the outcome needs a race of weak accesses in the source: reading R73.
    pub racy: bool,
    /// Whether the source allows an outcome that differs from this one only as rounded floats do.
    #[serde(skip)]
    pub rounded: bool,
    /// Who found the outcome.
    pub by: Option<Refuter>,
    /// A run of the machine with an outcome that the source forbids: its context, and its steps.
    pub run: Option<String>,
    /// Where the target allows more.
    pub context: Option<String>,
    /// What it allows there.
    pub outcome: Option<String>,
    /// Litmus tests: the source in that context, where the outcome is forbidden, and the target.
    pub forbidden: Option<String>,
    pub allowed: Option<String>,
    /// Axioms of the source's model that forbid it.
    pub axioms: Vec<String>,
    /// A weaker target that would do, up to the bound.
    pub sufficient: Option<String>,
    pub notes: Vec<String>,
    /// Everything in a function that is not supported, by side and line.
    pub refused: Vec<RefusedPart>,
}

impl Finding {
    /// The exit status of the process. The caller decides whether a refutation that needs a race counts.
    pub fn exit(&self, racy: bool) -> Exit {
        if self.racy && !racy { Exit::AsExpected } else { self.verdict.exit() }
    }

    pub fn new(verdict: Verdict, why: impl Into<String>) -> Finding {
        Finding {
            verdict,
            why: why.into(),
            racy: false,
            rounded: false,
            by: None,
            run: None,
            context: None,
            outcome: None,
            forbidden: None,
            allowed: None,
            axioms: Vec::new(),
            sufficient: None,
            notes: Vec::new(),
            refused: Vec::new(),
        }
    }
}
