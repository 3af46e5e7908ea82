//! A random test in pieces: declarations, and for each thread its placement and instructions.
//!
//! The pieces are text, so that what shrinks a test can remove and replace them without knowing how it was drawn.

use std::collections::BTreeSet;
use std::fmt;

use model::program::Observed;

use crate::print::{self, TestText};
use crate::{Dialect, Test};

/// A litmus test; displays as its text. All of its registers, and these variables, are observed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RandomProgram {
    /// The word that the first line begins with: `PTX` or `CXX`.
    pub language: &'static str,
    /// Entries of the initial state, without `;`.
    pub declarations: Vec<String>,
    pub threads: Vec<RandomThread>,
    /// The variables that an outcome consists of, after the registers.
    pub observed: Vec<String>,
}

/// A column of the table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RandomThread {
    /// `cta 0,cluster 0,gpu 0`.
    pub placement: String,
    /// Each with its label and its guard.
    pub cells: Vec<String>,
}

/// The registers that are observed of those that a cell names: `r` with a number for data, `p` with a number for predicates, and
/// what a copy of a tensor reads of its tensormap.
fn registers(cell: &str) -> BTreeSet<(char, usize)> {
    let words = cell.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let number = |kind: char, word: &str| Some((kind, word.strip_prefix(kind)?.parse().ok()?));
    let data = words.clone().filter_map(|word| number('r', word));
    let flags = words.filter_map(|word| number('p', word));
    let tensor = cell.contains(".tensor.").then_some(('t', 0));
    data.chain(flags).chain(tensor).collect()
}

/// As a condition names it.
fn register_name(kind: char, number: usize) -> String {
    if kind == 't' { "descriptor".to_owned() } else { format!("{kind}{number}") }
}

impl RandomProgram {
    /// How many instructions it has, with those that compute.
    pub fn instructions(&self) -> usize {
        self.threads.iter().map(|thread| thread.cells.len()).sum()
    }

    /// The pieces of a test of PTX, whose registers of data are `r` with a number. Its condition is not kept.
    pub fn of(test: &Test) -> RandomProgram {
        let source = print::source(test);
        let entries = source.init.iter().flat_map(|line| line.split(';'));
        let entries = entries.map(str::trim).filter(|entry| !entry.is_empty());
        let threads = test.program.threads.iter().zip(&test.columns);
        RandomProgram {
            language: "PTX",
            declarations: entries.map(str::to_owned).collect(),
            threads: threads
                .map(|(thread, cells)| RandomThread {
                    placement: thread.placement.to_string(),
                    cells: cells.clone(),
                })
                .collect(),
            observed: test.program.variables.iter().map(|variable| variable.name.clone()).collect(),
        }
    }

    /// The pieces of any test, which observe all that the test does. Its condition and the lines before its declarations
    /// are not kept.
    pub fn observing(test: &Test) -> RandomProgram {
        let language = if test.dialect == Dialect::Cxx { "CXX" } else { "PTX" };
        let named = |&of: &Observed| {
            let is_observed = match of {
                Observed::Register { thread, register } => {
                    let of = &test.program.threads[usize::from(thread.0)];
                    !registers(&of.registers[usize::from(register.0)].name).is_empty()
                }
                Observed::Memory { .. } => false,
            };
            (!is_observed).then(|| print::observed(test, of))
        };
        let observed = test.program.observed.iter().filter_map(named).collect();
        RandomProgram { language, observed, ..RandomProgram::of(test) }
    }

    /// Without a thread: the threads after it, and what is declared for them, have other numbers.
    pub fn without_thread(&self, gone: usize) -> RandomProgram {
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        order.remove(gone);
        self.with_threads(&order)
    }

    /// With its threads in the opposite order.
    pub fn reversed(&self) -> RandomProgram {
        let order: Vec<usize> = (0..self.threads.len()).rev().collect();
        self.with_threads(&order)
    }

    /// With these threads, by their numbers, each perhaps several times, and nothing that is declared for another.
    pub fn with_threads(&self, order: &[usize]) -> RandomProgram {
        let renamed = |entry: &String| {
            let (thread, rest) = entry.split_once(':').unzip();
            let thread = thread.and_then(|name| name.strip_prefix('P')?.parse::<usize>().ok());
            let (Some(thread), Some(rest)) = (thread, rest) else { return vec![entry.clone()] };
            let places = order.iter().enumerate().filter(|(_, of)| **of == thread);
            places.map(|(now, _)| format!("P{now}:{rest}")).collect()
        };
        RandomProgram {
            language: self.language,
            declarations: self.declarations.iter().flat_map(renamed).collect(),
            threads: order.iter().map(|&thread| self.threads[thread].clone()).collect(),
            observed: self.observed.clone(),
        }
    }
}

impl fmt::Display for RandomProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut source = TestText::new(self.language, "random");
        source.declare(&self.declarations);
        let mut observed = Vec::new();
        let mut table = Vec::new();
        for (number, thread) in self.threads.iter().enumerate() {
            let head = format!("P{number}@{}", thread.placement);
            table.push(std::iter::once(head).chain(thread.cells.iter().cloned()).collect());
            let registers: BTreeSet<(char, usize)> =
                thread.cells.iter().flat_map(|cell| registers(cell)).collect();
            let names = registers.into_iter().map(|(kind, number)| register_name(kind, number));
            observed.extend(names.map(|name| format!("{number}:{name}")));
        }
        observed.extend(self.observed.iter().cloned());
        source.columns(&table);
        source.locations(observed);
        // The weakest condition: what a reader of outcomes does not look at.
        let condition = self.observed.first().map_or("true".to_owned(), |name| format!("{name}=0"));
        source.end(format!("exists ({condition})"));
        source.fmt(f)
    }
}
