//! Volatile accesses as C++ has them: plain ones, unless a loop waits for what they access. Reading R118.

use std::collections::BTreeSet;

use execution::accessed::{Accessed, LineAccess, LineBytes};
use execution::layout::Layout;
use litmus::Test;
use model::isa::Instruction;
use model::isa::ld::LoadOrder;
use model::isa::st::StoreOrder;
use model::program::{Program, Thread, ThreadId};

use crate::lanes::opcode;

/// What a volatile access is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VolatileMeaning {
    /// Relaxed at system scope, as in PTX.
    #[default]
    Ptx,
    /// A plain access, as in C++, if no loop waits for what it accesses.
    Plain,
}

impl VolatileMeaning {
    pub const ALL: [VolatileMeaning; 2] = [VolatileMeaning::Ptx, VolatileMeaning::Plain];

    pub fn name(self) -> &'static str {
        match self {
            VolatileMeaning::Ptx => "ptx",
            VolatileMeaning::Plain => "plain",
        }
    }
}

/// The qualifier.
const VOLATILE: &str = ".volatile";

/// An instruction of a test as a plain access.
pub(crate) fn as_plain(text: &str) -> String {
    text.replacen(VOLATILE, "", 1)
}

/// The same as it was before.
pub(crate) fn as_volatile(text: &str) -> String {
    let own = opcode(text);
    match own.find('.') {
        Some(at) => text.replacen(own, &format!("{}{VOLATILE}{}", &own[..at], &own[at..]), 1),
        None => text.to_owned(),
    }
}

/// A volatile access of a test.
pub(crate) struct VolatileAccess {
    pub(crate) thread: ThreadId,
    pub(crate) line: usize,
    /// Whether no loop waits for what it accesses.
    pub(crate) plain: bool,
}

/// The volatile accesses of a test.
pub(crate) fn accesses(test: &Test) -> Vec<VolatileAccess> {
    let program = &test.program;
    let layout = Layout::new(program);
    let accessed = Accessed::new(program, &layout);
    let volatile = || accessed.accesses.iter().filter(|access| is_volatile(access.instruction));
    let is_polled = |access: &&LineAccess<'_>| {
        is_polled(&program.threads[usize::from(access.thread.0)], access.line)
    };
    let polled: Vec<&LineAccess<'_>> = volatile().filter(is_polled).collect();
    let access = |of: &LineAccess<'_>| {
        let meets = polled.iter().any(|polled| may_meet(program, &layout, of, polled));
        VolatileAccess { thread: of.thread, line: of.line, plain: !meets }
    };
    volatile().map(access).collect()
}

fn is_volatile(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Load(load) if load.order == LoadOrder::Volatile)
        || matches!(instruction, Instruction::Store(store) if store.order == StoreOrder::Volatile)
}

/// Whether what a load returns decides whether a loop goes on that has it.
fn is_polled(thread: &Thread, line: usize) -> bool {
    let code = &thread.lines;
    thread.back_branches().any(|(branch, target)| {
        if !(target..=branch).contains(&line) {
            return false;
        }
        let body = &code[target..=branch];
        let mut known: BTreeSet<_> = code[line].instruction.destinations().collect();
        loop {
            let before = known.len();
            for of in body {
                let read = of.instruction.sources().chain(of.guard.map(|guard| guard.predicate));
                if read.into_iter().any(|register| known.contains(&register)) {
                    known.extend(of.instruction.destinations());
                }
            }
            if known.len() == before {
                break;
            }
        }
        // A branch that leaves it, or the one that goes back.
        body.iter().enumerate().any(|(at, of)| {
            let leaves = of
                .instruction
                .as_branch()
                .is_some_and(|to| target + at == branch || !(target..=branch).contains(&to.target));
            leaves && of.guard.is_some_and(|guard| known.contains(&guard.predicate))
        })
    })
}

/// Whether two accesses may be of the same bytes.
fn may_meet(
    program: &Program,
    layout: &Layout,
    one: &LineAccess<'_>,
    other: &LineAccess<'_>,
) -> bool {
    match (&one.at, &other.at) {
        (LineBytes::Known(ours), LineBytes::Known(theirs)) => {
            ours.iter().any(|ours| theirs.iter().any(|theirs| ours.pa.overlaps(theirs.pa)))
        }
        (LineBytes::Known(known), LineBytes::Unknown(reach))
        | (LineBytes::Unknown(reach), LineBytes::Known(known)) => known.iter().any(|of| {
            let variable = layout.locations[usize::from(of.pa.object)].variable;
            reach.includes(program, variable)
        }),
        (LineBytes::Unknown(_), LineBytes::Unknown(_)) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_plain_and_volatile_again() {
        for text in ["@p ld.volatile.global.u32 r1, [rd1]", "st.volatile.u32 [x], 1"] {
            let plain = as_plain(text);
            assert!(!plain.contains(VOLATILE), "{plain}");
            assert_eq!(as_volatile(&plain), text);
        }
    }
}
