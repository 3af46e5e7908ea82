//! Stores by which lanes of one warp write the same place, as one instruction of the warp: a race like any other, unless they write
//! the same value. Reading R110.

use std::collections::BTreeSet;

use engine::Race;
use execution::accessed::Accessed;
use execution::layout::Layout;
use judge::Property;
use model::isa::Instruction;
use model::isa::st::Store;
use model::program::{Program, ThreadId};
use model::value::Value;

use crate::unknown::UnknownSource;
use crate::verification::{Reader, Undecided};

/// The races of a launch.
#[derive(Default)]
pub(crate) struct SortedRaces {
    pub(crate) reported: Vec<Race>,
    /// Those that are none, each of two stores of the same value, with others of the same instruction and warp that would be none.
    pub(crate) exempt: BTreeSet<[(ThreadId, u16); 2]>,
    /// Why others may be none.
    pub(crate) open: Option<Undecided>,
    /// What is said of those that are none.
    pub(crate) notes: BTreeSet<String>,
}

/// Whether what two lanes write is the same.
enum StoredValues {
    Same,
    /// One depends on a value that is not computed.
    Unknown(UnknownSource),
    Other,
}

impl Reader<'_> {
    /// Sorts out the stores of one instruction of a warp that may write the same value.
    pub(crate) fn sorted(&self, races: impl Iterator<Item = Race>) -> SortedRaces {
        let mut all = SortedRaces::default();
        let mut constants = StoredConstants { program: &self.test.program, accessed: None };
        for race in races {
            let place = self.place(race.first.0, race.first.1);
            let store = format!("line {}: `{}`", place.line, place.text);
            match self.values(race, &mut constants) {
                StoredValues::Same => {
                    all.exempt.extend(self.alike_pairs(race, &mut constants));
                    all.notes.insert(format!(
                        "{store}: lanes of one warp store to one place, each the same value: this is not reported as a race (reading R110)"
                    ));
                }
                StoredValues::Unknown(source) => {
                    let depends = format!(
                        "and whether lanes of one warp store the same value to one place ({store}) depends on that"
                    );
                    let open = || self.not_computed(Property::NoDataRace, source, &depends);
                    all.open.get_or_insert_with(open);
                }
                StoredValues::Other => all.reported.push(race),
            }
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
        let [one, other] = ends.map(|(thread, line)| constants.stored(thread, line));
        if one.is_some() && one == other || self.are_alike(race) {
            return StoredValues::Same;
        }
        let source = ends.into_iter().find_map(|at| self.uncomputed.stores(at));
        source.map_or(StoredValues::Other, StoredValues::Unknown)
    }

    /// The pairs of lanes of a warp that store the same value by the instruction of a race.
    fn alike_pairs(
        &self,
        race: Race,
        constants: &mut StoredConstants<'_>,
    ) -> Vec<[(ThreadId, u16); 2]> {
        let (thread, line) = race.first;
        let of_warp = self.test.program.warp_threads(thread);
        let places: Vec<(ThreadId, u16)> = of_warp.map(|(thread, _)| (thread, line)).collect();
        let pairs = places.iter().enumerate().flat_map(|(at, &first)| {
            places[at + 1..].iter().map(move |&second| Race { first, second })
        });
        let mut alike = |race: &Race| matches!(self.values(*race, constants), StoredValues::Same);
        pairs.filter(|race| alike(race)).map(|race| [race.first, race.second]).collect()
    }

    /// Whether the lanes of a race store what they have alike.
    fn are_alike(&self, race: Race) -> bool {
        let [one, other] = [race.first.0, race.second.0]
            .map(|thread| self.composed.threads[usize::from(thread.0)]);
        let line = self.place(race.first.0, race.first.1).line;
        let alike = self.composed.alike.get(one.kernel).and_then(|of| of.get(&line));
        alike.is_some_and(|alike| alike.has(one.place.thread, other.place.thread))
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
