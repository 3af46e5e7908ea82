//! The option `--property` of `check`, `explain` and `fix`.

use clap::ValueEnum;
use judge::Property;

/// The property that is checked: two names are those of Dartagnan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PropertyName {
    /// The condition of the test, with its quantifier.
    #[value(name = "program_spec")]
    ProgramSpec,
    /// Every execution finishes: no thread waits or repeats a loop for ever.
    Termination,
    /// No execution has a data race, nor one of accesses through different proxies.
    NoDataRace,
    /// No read returns what nobody has written, of memory that the test declares with `=?`.
    NoUninitialisedRead,
}

impl PropertyName {
    pub fn property(self) -> Property {
        match self {
            PropertyName::ProgramSpec => Property::ProgramSpec,
            PropertyName::Termination => Property::Termination,
            PropertyName::NoDataRace => Property::NoDataRace,
            PropertyName::NoUninitialisedRead => Property::NoUninitialisedRead,
        }
    }

    /// The option, where it says more than none.
    pub fn option(self) -> Option<String> {
        self.property().stated().map(|name| format!("--property {name}"))
    }
}
