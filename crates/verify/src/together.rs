//! Stores by which lanes of one warp write the same place, as one instruction of the warp: a race like any other, unless they write
//! the same value. Reading R110.

use std::collections::BTreeSet;

use engine::Race;
use execution::accessed::Accessed;
use execution::layout::Layout;
use model::isa::Instruction;
use model::isa::st::Store;
use model::program::{Program, ThreadId};
use model::value::Value;

use crate::verification::Reader;

/// The races of a launch.
#[derive(Default)]
pub(crate) struct SortedRaces {
    pub(crate) reported: Vec<Race>,
    /// What is said of the others.
    pub(crate) notes: BTreeSet<String>,
}

/// Whether what two lanes write is the same.
enum StoredValues {
    Same,
    /// Each depends on a value that is not computed.
    Unknown,
    Other,
}

impl Reader<'_> {
    /// Sorts out the stores of one instruction of a warp that may write the same value.
    pub(crate) fn sorted(&self, races: impl Iterator<Item = Race>) -> SortedRaces {
        let mut all = SortedRaces::default();
        let mut constants = StoredConstants { program: &self.test.program, accessed: None };
        for race in races {
            let why = match self.values(race, &mut constants) {
                StoredValues::Same => "each the same value",
                StoredValues::Unknown => {
                    "values that are not computed, and are taken to be the same"
                }
                StoredValues::Other => {
                    all.reported.push(race);
                    continue;
                }
            };
            let place = self.place(race.first.0, race.first.1);
            all.notes.insert(format!(
                "line {}: `{}`: lanes of one warp store to one place, {why}: this is not reported as a race (reading R110)",
                place.line, place.text
            ));
        }
        all
    }

    fn values(&self, race: Race, constants: &mut StoredConstants<'_>) -> StoredValues {
        let program = &self.test.program;
        let ends = [race.first, race.second];
        let [first, second] = ends.map(|(thread, _)| &program.threads[usize::from(thread.0)]);
        let is_one = race.first.1 == race.second.1
            && first.placement.same_warp(second.placement)
            && first.has_code_of(second);
        let stores = ends.map(|(thread, line)| store(program, thread, line));
        if !is_one || stores.iter().any(Option::is_none) {
            return StoredValues::Other;
        }
        if ends.into_iter().all(|at| self.uncomputed.stores(at)) {
            return StoredValues::Unknown;
        }
        let [first, second] = ends.map(|(thread, line)| constants.stored(thread, line));
        if first.is_some() && first == second { StoredValues::Same } else { StoredValues::Other }
    }
}

fn store(program: &Program, thread: ThreadId, line: u16) -> Option<&Store> {
    let line = &program.threads[usize::from(thread.0)].lines[usize::from(line)];
    if let Instruction::Store(store) = &line.instruction { Some(store) } else { None }
}

/// What stores write, as far as that is a constant: found when the first one is asked for.
struct StoredConstants<'p> {
    program: &'p Program,
    accessed: Option<(Layout, Accessed<'p>)>,
}

impl StoredConstants<'_> {
    fn stored(&mut self, thread: ThreadId, line: u16) -> Option<Vec<Value>> {
        let program = self.program;
        let (layout, accessed) = self.accessed.get_or_insert_with(|| {
            let layout = Layout::new(program);
            let accessed = Accessed::new(program, &layout);
            (layout, accessed)
        });
        let constants = &accessed.constants[usize::from(thread.0)];
        let sources = &store(program, thread, line)?.sources;
        let known = sources.iter().map(|&of| constants.operand(layout, thread, line.into(), of));
        known.collect()
    }
}
