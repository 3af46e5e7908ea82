//! The cycles that a command line names.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use generate::notation;
use generate::space::{CycleKind, CycleSpace, Pattern, Ranges};

use crate::run;

/// Cycles by their words, or all of a size.
pub(crate) struct RequestedCycles<'a> {
    pub(crate) cycles: &'a [String],
    /// Used where no cycle is named.
    pub(crate) threads: Option<&'a RangeInclusive<usize>>,
    pub(crate) edges: Option<&'a RangeInclusive<usize>>,
    pub(crate) kinds: &'a [CycleKind],
    pub(crate) ranges: Ranges,
}

/// Threads of cycles that are listed, at most.
const MOST: usize = 8;

impl RequestedCycles<'_> {
    /// The cycles; nothing after an error was printed.
    pub(crate) fn space(&self, err: &mut dyn Write) -> io::Result<Option<CycleSpace>> {
        let mut space = CycleSpace::default();
        for text in self.cycles {
            match notation::read(text) {
                Ok(written) => space.patterns.push(Pattern::of(&written, &self.ranges)),
                Err(diagnostics) => {
                    run::complain_of(&diagnostics, err)?;
                    return Ok(None);
                }
            }
        }
        if let Some((first, second)) = space.repeated() {
            let [first, second] = [first, second].map(|at| &self.cycles[at]);
            writeln!(
                err,
                "error: `{first}` and `{second}` are the same cycle, so tests would be equal"
            )?;
            writeln!(err, "help: give the cycle once, with --accesses and --po for what differs")?;
            return Ok(None);
        }
        if let Some(threads) = self.threads.filter(|_| self.cycles.is_empty()) {
            let edges = self.edges.cloned().unwrap_or(0..=usize::MAX);
            if *threads.end() > MOST {
                writeln!(err, "error: cycles of at most {MOST} threads are listed")?;
                writeln!(
                    err,
                    "help: a single cycle may have 10 threads: causeway gen 'PodWR Fre …'"
                )?;
                return Ok(None);
            }
            space = CycleSpace::of_kinds(self.kinds, threads.clone(), edges, &self.ranges);
        }
        if space.labelled() == 0 {
            writeln!(err, "error: there are no such cycles")?;
            writeln!(
                err,
                "help: each read and write needs one of --accesses that fits, and each pair of accesses one of --po"
            )?;
            return Ok(None);
        }
        Ok(Some(space))
    }
}
