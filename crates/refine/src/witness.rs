//! A refutation as litmus tests: the source's thread in its context, where the outcome is forbidden,
//! and the target's, where it is allowed.

use litmus::print::TestText;
use model::program::{Observed, Program};
use model::scope::{Placement, Scope};
use model::value::Value;

use super::program::{NumberedStep, TestWords, Width, piece};
use super::step::{AccessKind, AccessOrder, TestLocation};

/// The parts of a test.
pub struct WitnessTest<'a> {
    pub words: TestWords,
    pub threads: &'a [Vec<NumberedStep>],
    pub placements: &'a [Placement],
    /// The program as the engine ran it.
    pub program: &'a Program,
    pub outcome: &'a [Value],
    pub width: Width,
}

impl WitnessTest<'_> {
    /// The test; `None` if some step is not a single instruction. `exists` states the expectation.
    pub fn test(&self, name: &str, exists: bool) -> Option<String> {
        let mut columns = Vec::new();
        for (thread, placement) in self.threads.iter().zip(self.placements) {
            let mut cells = vec![format!("P{}@{placement}", columns.len())];
            // The values of a test are words.
            cells.extend(piece(thread, Width::Word, Some(self.words))?.cells());
            columns.push(cells);
        }
        let mut source = TestText::new(self.words.language.name(), name);
        source
            .declare(TestLocation::ALL.iter().map(|place| format!("uint32_t {}=0", place.name())));
        source.columns(&columns);
        let all = self.program.observed.iter().zip(self.outcome);
        let all: Vec<String> = all
            .map(|(observed, &value)| format!("{}={}", self.name(*observed), self.value(value)))
            .collect();
        let quantifier = if exists { "exists" } else { "~exists" };
        source.end(format!("{quantifier} ({})", all.join(" /\\ ")));
        Some(source.to_string())
    }

    fn name(&self, observed: Observed) -> String {
        match observed {
            Observed::Register { thread, register } => format!("P{}:r{}", thread.0, register.0),
            Observed::Memory { variable, .. } => {
                self.program.variables[usize::from(variable.0)].name.clone()
            }
        }
    }

    /// An observed value, by its number if all its bytes come from one store.
    fn value(&self, value: Value) -> String {
        match self.width.number(value) {
            Some(number) => self.words.value(number),
            None => format!("{value:#x}"),
        }
    }
}

/// An access as one instruction.
pub struct WitnessAccess<'a> {
    pub act: AccessKind,
    /// The text in brackets, and the number of bits at that address.
    pub at: &'a str,
    pub bits: u32,
    pub order: AccessOrder,
    pub scope: Scope,
    /// The register, with its comma.
    pub destination: Option<String>,
    pub value: String,
    pub expects: String,
}
