//! A refutation as litmus tests: the source's thread in its context, where the outcome is forbidden,
//! and the target's, where it is allowed.

use litmus::print::TestText;
use model::program::{Observed, Program};
use model::scope::{Placement, Scope};
use model::value::Value;

use super::language::SourceId;
use super::program::{NumberedStep, Width};
use super::step::{AccessKind, AccessOrder, Step, TestLocation};

/// What a test is made of.
pub struct WitnessTest<'a> {
    pub language: SourceId,
    pub threads: &'a [Vec<NumberedStep>],
    pub placements: &'a [Placement],
    /// As the engine ran it.
    pub program: &'a Program,
    pub outcome: &'a [Value],
    pub width: Width,
    /// Whether values have to show which bytes they are of.
    pub torn: bool,
}

impl WitnessTest<'_> {
    /// The test; none where some step is no instruction by itself. `exists` says what is expected.
    pub fn test(&self, name: &str, exists: bool) -> Option<String> {
        let mut columns = Vec::new();
        for (thread, placement) in self.threads.iter().zip(self.placements) {
            let mut cells = vec![format!("P{}@{placement}", columns.len())];
            let mut writer =
                WitnessWriter { witness: self, register: 0, shown: None, cells: Vec::new() };
            for &step in thread {
                writer.step(step)?;
            }
            if thread.iter().any(|numbered| numbered.step == Step::Guard) {
                writer.cells.push("E:".to_owned());
            }
            cells.extend(writer.cells);
            columns.push(cells);
        }
        let mut source = TestText::new(self.language.name(), name);
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

    /// An observed value; by its number where all of its bytes are of one store.
    fn value(&self, value: Value) -> String {
        match self.width.number(value) {
            Some(number) => self.number(number),
            None => format!("{value:#x}"),
        }
    }

    fn number(&self, number: u8) -> String {
        if self.torn && number > 0 {
            format!("{:#x}", u32::from(number) * 0x0101_0101)
        } else {
            number.to_string()
        }
    }
}

struct WitnessWriter<'a> {
    witness: &'a WitnessTest<'a>,
    register: u16,
    /// The register that was written last.
    shown: Option<u16>,
    cells: Vec<String>,
}

impl WitnessWriter<'_> {
    fn register(&mut self) -> u16 {
        self.register += 1;
        self.register - 1
    }

    fn step(&mut self, numbered: NumberedStep) -> Option<()> {
        let language = self.witness.language;
        let cell = match numbered.step {
            Step::Access { act, at, order, scope } => {
                let destination = act.shows().then(|| self.register());
                if destination.is_some() {
                    self.shown = destination;
                }
                let destination = destination.map(|register| format!("r{register}, "));
                let value = self.witness.number(numbered.value);
                let expects = self.witness.number(numbered.expects);
                let (at, bits) = (at.name(), 32);
                let access =
                    WitnessAccess { act, at, bits, order, scope, destination, value, expects };
                language.access(&access)?
            }
            Step::Fence { order, scope } => language.fence(order, scope),
            Step::Barrier => "bar.sync 0".to_owned(),
            Step::ClusterArrive { relaxed: false } => "barrier.cluster.arrive".to_owned(),
            Step::ClusterArrive { relaxed: true } => "barrier.cluster.arrive.relaxed".to_owned(),
            Step::ClusterWait => "barrier.cluster.wait".to_owned(),
            Step::Guard => {
                let shown = self.shown?;
                let predicate = self.register();
                self.cells.push(format!("setp.eq.u32 p{predicate}, r{shown}, 0"));
                format!("@p{predicate} bra E")
            }
        };
        self.cells.push(cell);
        Some(())
    }
}

/// An access as one instruction.
pub struct WitnessAccess<'a> {
    pub act: AccessKind,
    /// What stands in brackets, and how many bits are there.
    pub at: &'a str,
    pub bits: u32,
    pub order: AccessOrder,
    pub scope: Scope,
    /// The register, with its comma.
    pub destination: Option<String>,
    pub value: String,
    pub expects: String,
}
