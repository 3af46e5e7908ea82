//! The verdict on a test, and what is said beside it.

/// Why a program without any execution has no verdict.
pub const NO_EXECUTION: &str = "no execution was found, not even one that never finishes";

/// The code of a note on an arrival in a phase, where nobody has waited for the phase before.
const MISSING_WAIT: &str = "mbarrier-missing-wait";

/// The code of a note on an operation on shared memory of a CTA that may have exited. Most tests end before their
/// CTAs wait for one another.
pub const CLUSTER_EXITED: &str = "cluster-exited";
/// The code of a note on a thread count beside an omitted one at an active barrier.
const COUNT_OMITTED: &str = "barrier-count-omitted";
const NOT_DEALLOCATED: &str = "tensor-memory-not-deallocated";

/// The codes of the notes on rules that an execution breaks.
pub(crate) const WARNINGS: [&str; 4] =
    [MISSING_WAIT, CLUSTER_EXITED, COUNT_OMITTED, NOT_DEALLOCATED];

/// About the quantified condition, or another property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Holds,
    Fails,
    /// The program has no meaning, for this reason.
    Undefined(String),
    /// The model does not cover this construct.
    Unsupported(String),
    /// No execution finishes: some threads wait or repeat a loop for ever. There is no outcome, so
    /// the condition would hold or fail for no reason.
    Stuck(String),
    /// No engine got to the end.
    Undecided(String),
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Undefined(_) => "undefined",
            Verdict::Unsupported(_) => "unsupported",
            Verdict::Stuck(_) => "stuck",
            Verdict::Undecided(_) => "undecided",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Verdict::Holds | Verdict::Fails => None,
            Verdict::Undefined(reason)
            | Verdict::Unsupported(reason)
            | Verdict::Stuck(reason)
            | Verdict::Undecided(reason) => Some(reason),
        }
    }
}

/// About the proposition, whatever the quantifier: herd's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    Never,
    Sometimes,
    Always,
}

impl Observation {
    pub fn name(self) -> &'static str {
        match self {
            Observation::Never => "Never",
            Observation::Sometimes => "Sometimes",
            Observation::Always => "Always",
        }
    }
}

/// What to know beside the verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// `stuck`, `not-explored` and others that `docs/json.md` lists, or a warning of the model: `mbarrier-missing-wait`,
    /// `cluster-exited`, `barrier-count-omitted` or `tensor-memory-not-deallocated`.
    pub code: &'static str,
    pub text: String,
}
