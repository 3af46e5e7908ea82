//! Machine code (SASS) as lines of a program, each with its effect on the machine.

use machine::form::{LoweredInstruction, MachineOp};
use sass::promise::{self, OrderingWord, Promise, Promised};

use super::ptx_items::UncoveredInstruction;
use super::step::{AccessOrder, Step, TestLocation};
use super::token::{read, shows_waits};

/// One instruction, or several that the machine executes as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeLine {
    /// The step in a program. The machine ignores its order.
    pub step: Step,
    pub lowered: LoweredInstruction,
    pub text: String,
}

/// Machine code, in addition to its promises.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineCode {
    pub lines: Vec<CodeLine>,
    /// Whether the text shows waits for loads.
    pub waits: bool,
    /// Whether accesses for addresses of other state spaces were omitted.
    pub left_out: bool,
}

impl MachineCode {
    /// Reads instruction names separated by `;`, with or without operands.
    pub fn new(text: &str) -> Result<MachineCode, UncoveredInstruction> {
        let waits = shows_waits(text);
        let (tokens, left_out) = read(text)?;
        let words: Vec<OrderingWord> = tokens.iter().map(|token| token.word).collect();
        let mut lines = Vec::new();
        for Promised { word, promise, mut lowered } in promise::promised(&words) {
            let step = match promise {
                // Another line has the machine's operations for this fence.
                Promise::Fence(..) if lowered.forms.is_empty() => continue,
                Promise::Fence(order, scope) => Step::Fence { order, scope },
                Promise::Bar => Step::Barrier { id: 0, count: None },
                Promise::ClusterArrive => Step::ClusterArrive { relaxed: true },
                Promise::ClusterWait { .. } => Step::ClusterWait,
                Promise::Access | Promise::AcqRel | Promise::Release | Promise::Acquire => {
                    let Some(done) = &tokens[word].access else { continue };
                    if !waits && done.act.shows() {
                        let access = |form: &MachineOp| matches!(form, MachineOp::Access(_));
                        let at = lowered.forms.iter().position(access).map_or(0, |at| at + 1);
                        lowered.forms.insert(at, MachineOp::AcquireWait);
                    }
                    Step::access(done.act, TestLocation::Y, AccessOrder::Relaxed, done.scope)
                }
            };
            lines.push(CodeLine { step, lowered, text: tokens[word].text() });
        }
        Ok(MachineCode { lines, waits, left_out })
    }

    /// The code with the accesses of a question's target; `None` if the numbers of accesses differ.
    pub fn matched(mut self, target: &[Step]) -> Option<MachineCode> {
        let access = |step: &Step| matches!(step, Step::Access { .. });
        let mut wanted = target.iter().copied().filter(access);
        for line in self.lines.iter_mut().filter(|line| access(&line.step)) {
            line.step = wanted.next()?;
        }
        wanted.next().is_none().then_some(self)
    }
}
