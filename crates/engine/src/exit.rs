//! Exit codes, from best to worst; a run exits with the worst that occurred.

/// The run was interrupted: as shells say it of a process that SIGINT ends.
pub const INTERRUPTED: u8 = 130;

/// Nobody reads the output any more: as shells say it of a process that SIGPIPE ends.
pub const CLOSED: u8 = 141;

/// The result of the process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// Everything is as expected.
    AsExpected,
    /// A limit was reached, and nothing worse happened.
    Undecided,
    /// A verdict differs from the test, or a file from how it would be formatted.
    Differs,
    /// An input could not be read or understood, or the command line is wrong.
    BadInput,
    /// Engines disagree, or a formatted test is another one: a bug in the checker.
    Disagreement,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::AsExpected => 0,
            Exit::Differs => 1,
            Exit::BadInput => 2,
            Exit::Disagreement => 3,
            Exit::Undecided => 4,
        }
    }
}
