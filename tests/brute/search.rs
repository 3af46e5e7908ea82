//! All choices of what is read and of coherence, the axioms, and the rules whose breach leaves a program undefined (1.5).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::events::{INITIAL, Kind, Source, Unfolded, observed_register};
use super::read::{Action, Observed, Program, Sem};
use super::relations::{Facts, Matrix, Orders, ReadsFrom};
use super::run::{self, History};

#[derive(Default)]
pub(super) struct Findings {
    pub(super) outcomes: BTreeSet<Vec<u64>>,
    /// Rules that consistent executions break.
    pub(super) reasons: BTreeSet<&'static str>,
}

/// The histories of an unfolded program that respect an order, for the orders of the question.
pub(super) type Reachable = RefCell<BTreeMap<Matrix, BTreeSet<History>>>;

/// Adds the outcomes of one history, and the rules that it breaks.
pub(super) fn judge(
    program: &Program,
    unfolded: &Unfolded,
    history: &History,
    reachable: &Reachable,
    findings: &mut Findings,
) {
    let facts = Facts::new(program, unfolded, history);
    let search = Search::new(&facts, reachable);
    let (strong, weak) = search.reads();
    let mut of_strong = Vec::new();
    search.each_choice(&strong, &mut ReadsFrom::new(), &|_, _| true, &mut |rf| {
        of_strong.push(rf.clone());
        true
    });
    for rf in of_strong {
        for fences in facts.fence_orders() {
            let orders = facts.orders(&rf, &fences);
            if !search.is_reachable(&orders, &rf) {
                continue;
            }
            let mut broken = search.broken(&orders.base);
            broken.extend(history.misuse);
            if !history.complete && broken.is_empty() {
                continue;
            }
            let may = |read: usize, write: usize| !orders.cause.has(read, write);
            search.each_choice(&weak, &mut rf.clone(), &may, &mut |rf| {
                let Some(finals) = search.consistent(&orders, rf) else {
                    return true;
                };
                findings.reasons.extend(&broken);
                if broken.is_empty() {
                    findings.outcomes.extend(search.outcomes(rf, &finals));
                }
                broken.is_empty()
            });
        }
    }
}

/// The cells whose values can matter: those that threads access or that are observed, and those that are copied there. What
/// the others hold constrains nothing.
fn needed(program: &Program, unfolded: &Unfolded) -> BTreeSet<usize> {
    let mut needed = BTreeSet::new();
    for (_, observed) in &program.observed {
        if let Observed::Memory(cell) = observed {
            needed.insert(*cell);
        }
    }
    for event in unfolded.events.iter().filter(|e| e.is_memory() && !e.is_asynchronous()) {
        needed.extend(&event.cells);
    }
    loop {
        let mut more = needed.clone();
        for (&write, sources) in &unfolded.sources {
            for (cell, source) in unfolded.events[write].cells.iter().zip(sources) {
                if let Source::Read { cell: from, .. } = source
                    && needed.contains(cell)
                {
                    more.insert(*from);
                }
            }
        }
        if more == needed {
            return needed;
        }
        needed = more;
    }
}

/// For each observed cell, the writes that may be the last one.
type Finals = BTreeMap<usize, BTreeSet<usize>>;

struct Search<'a> {
    facts: &'a Facts<'a>,
    reachable: &'a Reachable,
    needed: BTreeSet<usize>,
    /// Between events of memory.
    dependencies: Matrix,
}

/// A word that a read has to choose a write for.
type Choice = (usize, usize);

impl<'a> Search<'a> {
    fn new(facts: &'a Facts<'a>, reachable: &'a Reachable) -> Search<'a> {
        let needed = needed(facts.program, facts.unfolded);
        let mut search = Search { facts, reachable, needed, dependencies: Matrix::new(facts.size) };
        search.dependencies = search.dependencies(false);
        search
    }

    fn unfolded(&self) -> &Unfolded {
        self.facts.unfolded
    }

    /// The strong reads, which may synchronize, and the others.
    fn reads(&self) -> (Vec<Choice>, Vec<Choice>) {
        let events = &self.unfolded().events;
        let reads = self.facts.events.iter().filter(|&&event| events[event].kind == Kind::Read);
        let words =
            reads.flat_map(|&event| events[event].cells.iter().map(move |&cell| (event, cell)));
        words
            .filter(|(_, cell)| self.needed.contains(cell))
            .partition(|&(event, _)| events[event].sem != Sem::Weak)
    }

    fn writes(&self, cell: usize) -> Vec<usize> {
        let events = &self.unfolded().events;
        let writes = |&&event: &&usize| {
            matches!(events[event].kind, Kind::Write | Kind::Initial)
                && events[event].cells.contains(&cell)
        };
        self.facts.events.iter().filter(writes).copied().collect()
    }

    /// Visits all extensions of a choice to further reads, until a visit returns false.
    fn each_choice(
        &self,
        reads: &[Choice],
        rf: &mut ReadsFrom,
        may: &dyn Fn(usize, usize) -> bool,
        visit: &mut dyn FnMut(&ReadsFrom) -> bool,
    ) -> bool {
        let Some((&(read, cell), others)) = reads.split_first() else {
            return visit(rf);
        };
        for write in self.writes(cell) {
            if may(read, write) {
                rf.insert((read, cell), write);
                if !self.each_choice(others, rf, may, visit) {
                    return false;
                }
            }
        }
        true
    }

    /// Dependencies (base, 2.2): a read and what is written with its value, what follows a loop that it decides, and what a
    /// guard lets happen that it decides. With waits, also what follows a wait that blocks or is guarded by what it returned: it
    /// is not an event of memory.
    fn dependencies(&self, with_waits: bool) -> Matrix {
        let unfolded = self.unfolded();
        let mut dependencies = self.facts.exit_dependencies();
        let after = self.facts.behind_arrivals();
        for &event in &self.facts.events {
            for source in unfolded.sources.get(&event).into_iter().flatten() {
                if let Source::Read { event: read, .. } = source {
                    dependencies.add(*read, event);
                }
            }
            for assumption in &unfolded.assumptions {
                let decides = assumption.leaves && self.follows(assumption.event, event)
                    || unfolded.guarded.contains(&(assumption.event, event));
                if let Source::Read { event: read, .. } = assumption.source
                    && decides
                {
                    dependencies.add(read, event);
                    let later = self.facts.events.iter().filter(|&&later| after.has(event, later));
                    later.for_each(|&later| dependencies.add(read, later));
                }
            }
            if let Kind::Object { action: Action::Wait { .. }, .. } = unfolded.events[event].kind
                && with_waits
            {
                let blocks = unfolded.blocking.contains(&event);
                let decides = |later| blocks && self.follows(event, later);
                let later =
                    self.facts.events.iter().filter(|&&later| {
                        decides(later) || unfolded.guarded.contains(&(event, later))
                    });
                later.for_each(|&later| dependencies.add(event, later));
            }
        }
        self.skipped(with_waits, &mut dependencies);
        dependencies
    }

    /// What decides that a step on an object is skipped decides the steps on it of threads that wait for what comes after
    /// (reading R49).
    fn skipped(&self, with_waits: bool, dependencies: &mut Matrix) {
        let unfolded = self.unfolded();
        if unfolded.skipped.is_empty() {
            return;
        }
        let awaited = self.facts.awaited();
        for skipped in &unfolded.skipped {
            let assumption = unfolded.assumptions.iter().find(|of| of.event == skipped.by);
            let by = match assumption.map(|of| of.source) {
                Some(Source::Read { event, .. }) => event,
                None if with_waits => skipped.by,
                Some(_) | None => continue,
            };
            let after = |&&event: &&usize| {
                event >= skipped.before && unfolded.events[event].thread == Some(skipped.thread)
            };
            let later = self.facts.events.iter().filter(after);
            for from in later {
                for &to in &self.facts.events {
                    let same = unfolded.events[to].kind.changed_object() == Some(skipped.object);
                    if same && awaited.has(*from, to) {
                        dependencies.add(by, to);
                    }
                }
            }
        }
    }

    /// Whether the second event is after the first in its thread, or of an operation that is issued there.
    fn follows(&self, first: usize, second: usize) -> bool {
        let issue = self.unfolded().events[second].issue.unwrap_or(second);
        self.unfolded().program_order(first, issue)
    }

    /// Whether the history is one of those whose steps come in an order that memory allows (2.2).
    fn is_reachable(&self, orders: &Orders, rf: &ReadsFrom) -> bool {
        if !orders.through_memory && self.unfolded().assumptions.is_empty() {
            return true;
        }
        let mut decided = self.dependencies(true);
        for (&(read, _), &write) in rf {
            decided.add(write, read);
        }
        let facts = self.facts;
        let order = run::on_objects(facts.unfolded, &decided.closure(), &orders.base);
        let mut known = self.reachable.borrow_mut();
        let reachable = known.entry(order).or_insert_with_key(|order| {
            run::histories(facts.program, facts.unfolded, Some(order)).into_iter().collect()
        });
        reachable.contains(facts.history)
    }

    /// The rules of 1.5 that base causality decides.
    fn broken(&self, base: &Matrix) -> BTreeSet<&'static str> {
        let mut broken = BTreeSet::new();
        let events = &self.facts.events;
        for &a in events {
            if self.unfolded().events[a].is_asynchronous()
                && events.iter().any(|&b| self.races(base, a, b))
            {
                broken.insert("async-race");
            }
            if self.is_uninitialized(base, a) {
                broken.insert("mbarrier-uninitialized");
            }
            if self.touches_object(base, a) {
                broken.insert("mbarrier-data-access");
            }
        }
        broken
    }

    fn races(&self, base: &Matrix, a: usize, b: usize) -> bool {
        let (one, other) = (&self.unfolded().events[a], &self.unfolded().events[b]);
        let same = one.thread == other.thread && one.step == other.step;
        one.is_memory()
            && other.is_memory()
            && !same
            && (one.kind == Kind::Write || other.kind == Kind::Write)
            && self.facts.shares_cell(a, b)
            && !base.has(a, b)
            && !base.has(b, a)
            && !self.facts.morally_strong.has(a, b)
    }

    /// The events that initialize or invalidate an object; the initial writes do so for declared ones.
    fn of_object(&self, object: usize, initializes: bool) -> Vec<usize> {
        let is = |&&event: &&usize| match self.unfolded().events[event].kind {
            Kind::Object { object: of, action: Action::Init(_) } => of == object && initializes,
            Kind::Object { object: of, action: Action::Inval } => of == object && !initializes,
            Kind::Initial => initializes && self.facts.program.objects[object].is_some(),
            _ => false,
        };
        self.facts.events.iter().filter(is).copied().collect()
    }

    /// Whether no initialization is before an operation, or an invalidation is between the two.
    fn is_uninitialized(&self, base: &Matrix, event: usize) -> bool {
        let (Kind::Object { object, .. } | Kind::Completion { object }) =
            self.unfolded().events[event].kind
        else {
            return false;
        };
        if let Kind::Object { action: Action::Init(_), .. } = self.unfolded().events[event].kind {
            return false;
        }
        let ended = |init: usize| {
            let ends =
                |&inval: &usize| inval != event && base.has(init, inval) && !base.has(event, inval);
            self.of_object(object, false).iter().any(ends)
        };
        !self.of_object(object, true).iter().any(|&init| base.has(init, event) && !ended(init))
    }

    /// Whether an access, or an initialization, is neither before an initialization of the object nor after its end.
    fn touches_object(&self, base: &Matrix, event: usize) -> bool {
        let access = &self.unfolded().events[event];
        let mut objects: BTreeSet<usize> = BTreeSet::new();
        if access.is_memory() {
            objects.extend(
                access.cells.iter().filter_map(|&cell| self.facts.program.cells[cell].object),
            );
        }
        if let Kind::Object { object, action: Action::Init(_) } = access.kind {
            objects.insert(object);
        }
        objects.iter().any(|&object| {
            let ended = |first: usize, second: usize| {
                let ends = |&inval: &usize| base.has(first, inval) && base.has(inval, second);
                self.of_object(object, false).iter().any(ends)
            };
            let initializes = !access.is_memory();
            let outside = |&init: &usize| {
                let before = base.has(event, init) && (!initializes || ended(event, init));
                init == event || before || ended(init, event)
            };
            !self.of_object(object, true).iter().all(outside)
        })
    }

    /// Checks the axioms; the possible last writes of the observed cells.
    fn consistent(&self, orders: &Orders, rf: &ReadsFrom) -> Option<Finals> {
        let mut thin_air = self.dependencies.clone();
        for (&(read, _), &write) in rf {
            thin_air.add(write, read);
        }
        if !thin_air.is_acyclic() || !self.assumptions_hold(rf) {
            return None;
        }
        if rf.iter().any(|(&(read, _), &write)| orders.cause.has(read, write)) {
            return None;
        }
        let mut finals = Finals::new();
        for &cell in &self.needed {
            let last = self.coherence(cell, orders, rf);
            if last.is_empty() {
                return None;
            }
            finals.insert(cell, last);
        }
        Some(finals)
    }

    fn assumptions_hold(&self, rf: &ReadsFrom) -> bool {
        let happened = |thread: usize, event: usize| {
            let step = self.unfolded().events[event].step;
            step < self.facts.history.done[thread]
        };
        let mut assumptions = self.unfolded().assumptions.iter();
        assumptions.all(|assumption| {
            !happened(assumption.thread, assumption.event)
                || (self.value(assumption.source, rf) == assumption.number) == assumption.equal
        })
    }

    /// The value of a word: reads-from and dependencies have no cycle.
    fn value(&self, source: Source, rf: &ReadsFrom) -> u64 {
        match source {
            Source::Number(number) => number,
            Source::Read { event, cell } => {
                let write = rf[&(event, cell)];
                self.value(self.unfolded().source(write, cell), rf)
            }
        }
    }

    /// The possible last writes of a cell, over all coherence orders that keep the axioms; none if there is no such order.
    fn coherence(&self, cell: usize, orders: &Orders, rf: &ReadsFrom) -> BTreeSet<usize> {
        let facts = self.facts;
        let writes = self.writes(cell);
        let certain = Matrix::of(facts.size, &writes, |a, b| {
            a != b && (a == INITIAL || orders.cause.has(a, b))
        });
        let mut all = vec![certain];
        for &a in &writes {
            for &b in &writes {
                if a < b && facts.morally_strong.has(a, b) {
                    let with = |order: &Matrix, from, to| {
                        let mut order = order.clone();
                        order.add(from, to);
                        order
                    };
                    all = all.iter().flat_map(|o| [with(o, a, b), with(o, b, a)]).collect();
                }
            }
        }
        let mut last = BTreeSet::new();
        for order in all.iter().filter(|order| order.is_acyclic()).map(Matrix::closure) {
            if self.keeps_axioms(cell, orders, rf, &order) {
                let maximal = |a: &&usize| writes.iter().all(|&b| !order.has(**a, b));
                last.extend(writes.iter().filter(maximal));
            }
        }
        last
    }

    /// Causality and SC-per-Location for one cell.
    fn keeps_axioms(&self, cell: usize, orders: &Orders, rf: &ReadsFrom, co: &Matrix) -> bool {
        let facts = self.facts;
        // A loop is repeated for ever only if no write follows the one that it reads (reading R50).
        for assumption in self.unfolded().assumptions.iter().filter(|assumption| assumption.forever)
        {
            if let Source::Read { event, cell: of } = assumption.source
                && let Some(&write) = rf.get(&(event, of))
                && of == cell
                && self.writes(cell).iter().any(|&later| co.has(write, later))
            {
                return false;
            }
        }
        let mut from_read = Matrix::new(facts.size);
        let mut reads_from = Matrix::new(facts.size);
        for (&(read, of), &write) in rf.iter().filter(|((_, of), _)| *of == cell) {
            reads_from.add(write, read);
            for later in self.writes(of).into_iter().filter(|&later| co.has(write, later)) {
                if orders.cause.has(later, read) {
                    return false;
                }
                from_read.add(read, later);
            }
        }
        let mut communication = co.clone();
        communication.union(&reads_from);
        communication.union(&from_read);
        let access = |event: usize| {
            let event = &self.unfolded().events[event];
            event.is_memory() && event.cells.contains(&cell)
        };
        let locally = Matrix::of(facts.size, &facts.events, |a, b| {
            access(a)
                && access(b)
                && (facts.po.has(a, b) || facts.morally_strong.has(a, b) && communication.has(a, b))
        });
        locally.is_acyclic()
    }

    fn outcomes(&self, rf: &ReadsFrom, finals: &Finals) -> BTreeSet<Vec<u64>> {
        let mut all = BTreeSet::from([Vec::new()]);
        let mut same_cell: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, (_, observed)) in self.facts.program.observed.iter().enumerate() {
            let values: BTreeSet<u64> = match observed {
                Observed::Memory(cell) => {
                    let last = finals[cell].iter();
                    last.map(|&write| self.value(self.unfolded().source(write, *cell), rf))
                        .collect()
                }
                Observed::Register(..) => {
                    let source = observed_register(self.unfolded(), observed);
                    BTreeSet::from([self.value(source.expect("it is a register"), rf)])
                }
            };
            // Two names of one cell have one value.
            let twin = match observed {
                Observed::Memory(cell) => Some(*same_cell.entry(*cell).or_insert(at)),
                Observed::Register(..) => None,
            };
            let extend = |outcome: &Vec<u64>| -> Vec<Vec<u64>> {
                let fits =
                    |value: &&u64| twin.is_none_or(|twin| twin == at || outcome[twin] == **value);
                values.iter().filter(fits).map(|&value| [&outcome[..], &[value]].concat()).collect()
            };
            all = all.iter().flat_map(extend).collect();
        }
        all
    }
}
