//! Programs that the axioms order, as far as one instruction decides: what takes away an order, a fence or a wait shows.
//!
//! A hop from one thread to the next has a relation of their places, a scope that contains both, and instructions of that
//! scope which order the two. Whoever takes over data may have read it before, and a neighbour on the same SM may read it
//! meanwhile. Other programs are cycles of `fence.sc`, and accesses of one location.

use litmus::arbitrary::{RandomProgram, RandomThread};
use model::scope::Scope;
use proptest::prelude::any;
use proptest::strategy::{BoxedStrategy, Strategy};

use super::Dice;

/// The strategy for programs with explicit placement.
pub(super) fn ordered() -> BoxedStrategy<RandomProgram> {
    any::<u64>().prop_map(|seed| program(&mut Dice::new(seed))).boxed()
}

fn program(dice: &mut Dice) -> RandomProgram {
    let (threads, homes) = match dice.below(16) {
        0..=11 => handed_on(dice),
        12 => fenced(dice),
        13 | 14 => coherent(dice),
        _ => disputed(dice),
    };
    let places = ["x", "y", "z"];
    let all = || threads.iter().flat_map(|thread| &thread.cells);
    let named = |name: &&&str| all().any(|cell| cell.contains(&format!("[{name}]")));
    let observed: Vec<String> =
        places.iter().filter(named).map(|name| (*name).to_owned()).collect();
    let declaration = |name: &String| {
        let at = places.iter().position(|one| one == name).unwrap_or(0);
        format!("uint32_t {name}=0{}", homes[at])
    };
    let declarations = observed.iter().map(declaration).collect();
    RandomProgram { language: "PTX", declarations, threads, observed }
}

type PlacedThreads = (Vec<RandomThread>, [&'static str; 3]);

/// Where a thread is, by the numbers of its CTA, its cluster, its GPU and its SM.
#[derive(Clone, Copy)]
struct ThreadSpot {
    cta: usize,
    cluster: usize,
    gpu: usize,
    sm: usize,
}

/// The end of the declaration of a variable.
const HOMES: [&str; 6] = ["", "", "", " @home gpu 0", " @home gpu 1", " @home host"];

impl ThreadSpot {
    const FIRST: ThreadSpot = ThreadSpot { cta: 0, cluster: 0, gpu: 0, sm: 0 };

    /// A place for the thread with this number, as far from another one as a scope says.
    fn beside(self, dice: &mut Dice, number: usize, far: usize) -> ThreadSpot {
        let neighbour = dice.below(4) == 0;
        let sm = if neighbour { self.sm } else { number };
        match far {
            0 => self,
            1 => ThreadSpot { cta: number, sm, ..self },
            2 => ThreadSpot { cta: number, cluster: number, sm, ..self },
            _ => ThreadSpot { cta: number, cluster: number, gpu: 1 - self.gpu, sm },
        }
    }

    /// The index of the narrowest scope that contains both.
    fn far(self, other: ThreadSpot) -> usize {
        if self.cta == other.cta {
            0
        } else if self.cluster == other.cluster {
            1
        } else if self.gpu == other.gpu {
            2
        } else {
            3
        }
    }

    fn thread(self, cells: Vec<String>) -> RandomThread {
        let ThreadSpot { cta, cluster, gpu, sm } = self;
        RandomThread { placement: format!("cta {cta},cluster {cluster},gpu {gpu},sm {sm}"), cells }
    }
}

/// The cells of a thread, with registers that are all different.
#[derive(Default)]
struct ThreadCells {
    cells: Vec<String>,
    registers: usize,
}

impl ThreadCells {
    fn line(&mut self, text: &str) {
        self.cells.push(text.to_owned());
    }

    fn load(&mut self, order: &str, at: &str) {
        self.cells.push(format!("ld.{order}.u32 r{}, [{at}]", self.registers));
        self.registers += 1;
    }

    fn store(&mut self, order: &str, at: &str, value: usize) {
        self.cells.push(format!("st.{order}.u32 [{at}], {value}"));
    }

    /// An atomic or a reduction, with its order and scope.
    fn atomic(&mut self, dice: &mut Dice, qualifiers: &str, at: &str) {
        let dot = if qualifiers.is_empty() { "" } else { "." };
        if qualifiers.starts_with("release") && dice.below(8) == 0 {
            self.cells.push(format!("red{dot}{qualifiers}.add.u32 [{at}], 4"));
        } else {
            let register = self.registers;
            self.cells.push(format!("atom{dot}{qualifiers}.add.u32 r{register}, [{at}], 4"));
            self.registers += 1;
        }
    }
}

/// The scope with this index, or at times a wider one.
fn wider(dice: &mut Dice, scope: usize) -> usize {
    if dice.below(6) == 0 { scope + dice.below(Scope::NAMES.len() - scope) } else { scope }
}

/// An order with a scope; that of the GPU need not be written.
fn scoped(dice: &mut Dice, order: &str, scope: usize) -> String {
    match (order, Scope::NAMES[scope]) {
        ("", "gpu") => ["", "gpu"][dice.below(2)].to_owned(),
        ("", name) => name.to_owned(),
        (order, "gpu") if dice.below(3) == 0 => order.to_owned(),
        (order, name) => format!("{order}.{name}"),
    }
}

/// A strong access without an order.
fn strong(dice: &mut Dice, scope: usize) -> String {
    if dice.below(8) == 0 {
        "volatile".to_owned()
    } else {
        format!("relaxed.{}", Scope::NAMES[scope])
    }
}

/// A fence of one of these orders. That of `acq_rel` need not be written.
fn fence(dice: &mut Dice, orders: &[&str], scope: usize) -> String {
    let (order, scope) = (*dice.pick(orders), Scope::NAMES[scope]);
    if order == "acq_rel" && dice.below(3) == 0 {
        format!("fence.{scope}")
    } else {
        format!("fence.{order}.{scope}")
    }
}

/// The qualifiers of a load or store with this order, perhaps of one of memory-mapped I/O.
fn ordering(dice: &mut Dice, order: &str, scope: usize) -> String {
    let mmio = if Scope::NAMES[scope] == "sys" && dice.below(4) == 0 { "mmio." } else { "" };
    format!("{mmio}{order}.{}", Scope::NAMES[scope])
}

/// What hands on: releases, by a scope, at a flag.
fn publish(dice: &mut Dice, cells: &mut ThreadCells, scope: usize, flag: &str) {
    let scope = wider(dice, scope);
    match dice.below(8) {
        0..=2 => cells.store(&ordering(dice, "release", scope), flag, 1),
        3 | 4 => {
            let order = *dice.pick(&["release", "acq_rel"]);
            let qualifiers = scoped(dice, order, scope);
            cells.atomic(dice, &qualifiers, flag);
        }
        kind => {
            cells.line(&fence(dice, &["release", "acq_rel", "sc"], scope));
            if kind == 5 {
                let order = *dice.pick(&["", "relaxed"]);
                let qualifiers = scoped(dice, order, scope);
                cells.atomic(dice, &qualifiers, flag);
            } else {
                cells.store(&strong(dice, scope), flag, 1);
            }
        }
    }
}

/// What takes over: acquires, by a scope, at a flag.
fn observe(dice: &mut Dice, cells: &mut ThreadCells, scope: usize, flag: &str) {
    let scope = wider(dice, scope);
    match dice.below(8) {
        0..=2 => cells.load(&ordering(dice, "acquire", scope), flag),
        3 | 4 => {
            let order = *dice.pick(&["acquire", "acq_rel"]);
            let qualifiers = scoped(dice, order, scope);
            cells.atomic(dice, &qualifiers, flag);
        }
        kind => {
            if kind == 5 {
                let order = *dice.pick(&["", "relaxed"]);
                let qualifiers = scoped(dice, order, scope);
                cells.atomic(dice, &qualifiers, flag);
            } else {
                cells.load(&strong(dice, scope), flag);
            }
            cells.line(&fence(dice, &["acquire", "acq_rel", "sc"], scope));
        }
    }
}

/// A hop from one thread to the next: by a barrier, by a load that comes too early, or by a flag.
///
/// `from` may end with a fence of the hop before, which is then enough where a fence is needed.
fn hop(dice: &mut Dice, from: &mut ThreadCells, to: &mut ThreadCells, scope: usize, flag: &str) {
    let fenced = from.cells.last().is_some_and(|last| last.starts_with("fence."));
    match (dice.below(8), scope) {
        (0..=2, 0) => [from, to].map(|cells| cells.line("bar.sync 0")),
        (0..=2, 1) => [from, to].map(|cells| {
            cells.line("barrier.cluster.arrive");
            cells.line("barrier.cluster.wait");
        }),
        (3, _) if !fenced => [early(dice, from, to, scope, flag), ()],
        (3..=6, _) if fenced => {
            // The fence that takes over hands on, too.
            let last = from.cells.len() - 1;
            let both = from.cells[last].contains("fence.sc");
            let orders: &[&str] = if both { &["sc"] } else { &["acq_rel", "sc"] };
            let held =
                Scope::NAMES.iter().position(|name| from.cells[last].ends_with(name)).unwrap_or(0);
            from.cells[last] = fence(dice, orders, held.max(scope));
            from.store(&strong(dice, scope), flag, 1);
            [observe(dice, to, scope, flag), ()]
        }
        _ => {
            publish(dice, from, scope, flag);
            [observe(dice, to, scope, flag), ()]
        }
    };
}

/// A hop by two `fence.sc`, and a load that does not see the store of the next thread.
fn early(dice: &mut Dice, from: &mut ThreadCells, to: &mut ThreadCells, scope: usize, flag: &str) {
    let order = strong(dice, scope);
    let [one, other] = [(); 2].map(|()| Scope::NAMES[wider(dice, scope)]);
    from.line(&format!("fence.sc.{one}"));
    from.load(&order, flag);
    to.store(&order, flag, 1);
    to.line(&format!("fence.sc.{other}"));
}

/// Another thread on the SM of this one, in a CTA and a cluster of its own.
fn neighbour(dice: &mut Dice, spot: ThreadSpot, at: &str) -> RandomThread {
    let mut cells = ThreadCells::default();
    if dice.below(4) == 0 {
        cells.store("weak", at, 3);
    } else {
        cells.load("weak", at);
    }
    ThreadSpot { cta: 8, cluster: 8, ..spot }.thread(cells.cells)
}

/// Whether the first access of the data is a store, and the last one a load.
const PATTERNS: [(bool, bool); 7] = [
    (true, true),
    (true, true),
    (true, true),
    (true, false),
    (false, false),
    (false, false),
    (true, false),
];

/// Data that threads hand on: the last one accesses what the first one did.
fn handed_on(dice: &mut Dice) -> PlacedThreads {
    let kind = dice.below(10);
    let (far, on) = (dice.below(Scope::NAMES.len()), *dice.pick(&[0, 1, 2, 3, 3]));
    let (first, mut cells) = (ThreadSpot::FIRST, ThreadCells::default());
    let mut homes = [""; 3].map(|_| *dice.pick(&HOMES));
    if (far == 3 || kind >= 4 && on == 3) && dice.below(3) > 0 {
        homes[0] = *dice.pick(&HOMES[4..]);
    }
    let (stores, loads) = *dice.pick(&PATTERNS);
    let data = match dice.below(3) {
        0 => format!("relaxed.{}", Scope::NAMES[far]),
        _ => "weak".to_owned(),
    };
    if stores {
        cells.store(&data, "x", 1);
    } else {
        cells.load(&data, "x");
    }
    let mut last = ThreadCells::default();
    if loads && dice.below(5) < 2 {
        last.load("weak", "x");
    }
    let mut threads = Vec::new();
    let end;
    if kind < 4 {
        end = first.beside(dice, 1, far);
        hop(dice, &mut cells, &mut last, far, "y");
        threads.push(first.thread(cells.cells));
    } else {
        let middle = first.beside(dice, 1, far);
        end = middle.beside(dice, 2, on);
        let mut between = ThreadCells::default();
        if kind < 8 {
            if kind == 4 {
                early(dice, &mut cells, &mut between, far, "y");
            } else {
                hop(dice, &mut cells, &mut between, far, "y");
            }
            hop(dice, &mut between, &mut last, on, "z");
        } else {
            // One instruction takes over and hands on.
            let scope = wider(dice, far.max(on));
            publish(dice, &mut cells, far, "y");
            let qualifiers = scoped(dice, "acq_rel", scope);
            between.atomic(dice, &qualifiers, "y");
            observe(dice, &mut last, on, "y");
        }
        threads.push(first.thread(cells.cells));
        threads.push(middle.thread(between.cells));
    }
    let order = if dice.below(4) == 0 { "relaxed.cta" } else { "weak" };
    if loads {
        last.load(order, "x");
    } else {
        last.store(order, "x", 2);
    }
    threads.push(end.thread(last.cells));
    if dice.below(5) == 0 {
        threads.push(neighbour(dice, end, "x"));
    }
    (threads, homes)
}

/// A cycle of threads, each with `fence.sc` between two locations.
fn fenced(dice: &mut Dice) -> PlacedThreads {
    const PLACES: [&str; 3] = ["x", "y", "z"];
    let count = 2 + usize::from(dice.below(3) == 0);
    let mut spots = vec![ThreadSpot::FIRST];
    for number in 1..count {
        let far = dice.below(Scope::NAMES.len());
        let last = spots[number - 1];
        spots.push(last.beside(dice, number, far));
    }
    // Each thread stores and then loads, but some do it otherwise.
    let plain = dice.below(2) == 0;
    let mut directions = Vec::new();
    for _ in 0..count {
        let other = (dice.below(2) == 0, dice.below(2) == 0);
        directions.push(if plain { (true, false) } else { other });
    }
    let old = dice.below(4) == 0;
    let mut threads = Vec::new();
    for (at, &spot) in spots.iter().enumerate() {
        let mut cells = ThreadCells::default();
        let (here, there) = (PLACES[at], PLACES[(at + 1) % count]);
        let scope = spots.iter().map(|&other| spot.far(other)).max().unwrap_or(0);
        let (store, load) = directions[at];
        if old && !load {
            cells.load("weak", there);
        }
        let access = |dice: &mut Dice, cells: &mut ThreadCells, store: bool, place: &str, value| {
            let order = match dice.below(2) {
                0 => "weak".to_owned(),
                _ => format!("relaxed.{}", Scope::NAMES[scope]),
            };
            if store { cells.store(&order, place, value) } else { cells.load(&order, place) }
        };
        access(dice, &mut cells, store, here, 1);
        let scope = if count > 2 && dice.below(2) == 0 { 3 } else { wider(dice, scope) };
        match (dice.below(6), Scope::NAMES[scope]) {
            (0, "gpu") => cells.line("membar.gl"),
            (0, "sys") => cells.line("membar.sys"),
            (0, "cta") => cells.line("membar.cta"),
            (_, name) => cells.line(&format!("fence.sc.{name}")),
        }
        access(dice, &mut cells, load, there, 2);
        threads.push(spot.thread(cells.cells));
    }
    if dice.below(3) == 0 {
        let at = dice.below(count);
        threads.push(neighbour(dice, spots[at], PLACES[(at + 1) % count]));
    }
    let homes = [""; 3].map(|_| *dice.pick(&HOMES));
    (threads, homes)
}

/// Accesses of one location, most of them by one thread.
fn coherent(dice: &mut Dice) -> PlacedThreads {
    let far = dice.below(Scope::NAMES.len());
    let access = |dice: &mut Dice, cells: &mut ThreadCells, value: usize| {
        let order = match dice.below(3) {
            0 => strong(dice, far),
            _ => "weak".to_owned(),
        };
        match dice.below(7) {
            0..=2 => cells.load(&order, "x"),
            3..=5 => cells.store(&order, "x", value),
            _ => {
                let order = *dice.pick(&["", "relaxed", "acquire", "release", "acq_rel"]);
                let qualifiers = scoped(dice, order, far);
                cells.atomic(dice, &qualifiers, "x");
            }
        }
    };
    let mut cells = ThreadCells::default();
    for value in 1..=2 + dice.below(2) {
        access(dice, &mut cells, value);
    }
    let mut threads = vec![ThreadSpot::FIRST.thread(cells.cells)];
    if dice.below(3) > 0 {
        let mut other = ThreadCells::default();
        access(dice, &mut other, 5);
        let spot = ThreadSpot::FIRST.beside(dice, 1, far);
        threads.push(spot.thread(other.cells));
    }
    let homes = [""; 3].map(|_| *dice.pick(&HOMES));
    (threads, homes)
}

/// Stores to one location by threads of which not all are in each other's scope, and loads that see them.
fn disputed(dice: &mut Dice) -> PlacedThreads {
    // PlacedThreads 0 and 2 share a CTA. Most stores of thread 0 are strong to thread 2 alone.
    const ORDERS: [&str; 3] = ["weak", "relaxed.cta", "relaxed.gpu"];
    let order = |dice: &mut Dice, usual: &'static str| -> &'static str {
        if dice.below(6) > 0 { usual } else { ORDERS[dice.below(ORDERS.len())] }
    };
    let [mut first, mut other, mut last] = [(); 3].map(|()| ThreadCells::default());
    for value in 0..=usize::from(dice.below(4) > 0) {
        first.store(order(dice, "relaxed.cta"), "x", 5 - value);
    }
    first.load(order(dice, "relaxed.gpu"), "x");
    for value in 0..=usize::from(dice.below(4) > 0) {
        other.store(order(dice, "relaxed.gpu"), "x", 1 + value);
    }
    last.load(order(dice, "relaxed.gpu"), "x");
    last.load(order(dice, "relaxed.cta"), "x");
    let threads = [(first, 0), (other, 1), (last, 0)].map(|(cells, cta)| {
        let spot = ThreadSpot { cta, sm: cta, ..ThreadSpot::FIRST };
        spot.thread(cells.cells)
    });
    (threads.into(), [""; 3])
}
