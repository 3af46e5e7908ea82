//! Threads that may be exchanged: which a question does not tell apart.
//!
//! An execution with two of them exchanged is one again, with the values of the two exchanged. So where one
//! execution is all that is sought, the search looks at one order of such threads. Where every outcome is, it looks at
//! one order, too, and the others follow.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use engine::{ExitedThread, Race, RaisedFlag, Warning, join_stuck};
use litmus::{Comparand, Prop};
use model::memory::{Space, VariableId};
use model::program::{Observed, Program, Stuck, ThreadId};
use model::scope::Placement;
use model::value::Value;

/// A thread and a line.
type ThreadLine = (ThreadId, u16);

/// Where an instruction is with two threads exchanged.
type SwappedPlace<'a> = &'a dyn Fn(ThreadLine) -> ThreadLine;

/// The threads of a program in classes of two and more, of which any two may be exchanged in any execution and in
/// each of the propositions.
pub(crate) fn alike(program: &Program, props: &[&Prop]) -> Vec<Vec<ThreadId>> {
    classes(program, props, &|_, _| true)
}

/// The exchanges of threads that make an outcome of each outcome.
pub(crate) struct ThreadExchanges {
    /// In each class any two threads may be exchanged.
    pub(crate) classes: Vec<Vec<ThreadId>>,
    /// For each class and thread, the indices of what is observed of it, in the same order for all threads.
    places: Vec<Vec<Vec<usize>>>,
}

impl ThreadExchanges {
    /// Those that leave each proposition as it is. Of threads that may be exchanged the same is observed.
    pub(crate) fn of(program: &Program, props: &[&Prop]) -> ThreadExchanges {
        let all = 0..program.observed.len();
        let closed = |one: ThreadId, other: ThreadId| {
            all.clone().all(|index| exchanged(program, one, other, index).is_some())
        };
        let classes = classes(program, props, &closed);
        let places = classes.iter().map(|class| {
            let of = |&thread: &ThreadId| -> Vec<usize> {
                // What an exchange with another thread moves away from the first one.
                let own = |&index: &usize| {
                    let moved = exchanged(program, class[0], class[1], index) != Some(index);
                    moved && thread_of(program.observed[index]) == class[0]
                };
                let twin = |index| exchanged(program, class[0], thread, index);
                all.clone().filter(own).filter_map(twin).collect()
            };
            class.iter().map(of).collect()
        });
        ThreadExchanges { places: places.collect(), classes }
    }

    /// Visits the outcomes that exchanges make of one, with itself, each once.
    pub(crate) fn outcomes(
        &self,
        outcome: &[Value],
        visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.from(0, &mut outcome.to_vec(), visit)
    }

    fn from(
        &self,
        class: usize,
        outcome: &mut [Value],
        visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(places) = self.places.get(class) else { return visit(outcome) };
        let of = |places: &Vec<usize>| places.iter().map(|&at| outcome[at]).collect();
        let before: Vec<Vec<Value>> = places.iter().map(of).collect();
        let put = |values: &[Vec<Value>], outcome: &mut [Value]| {
            for (places, values) in places.iter().zip(values) {
                places.iter().zip(values).for_each(|(&at, &value)| outcome[at] = value);
            }
        };
        let mut values = before.clone();
        values.sort_unstable();
        loop {
            put(&values, outcome);
            self.from(class + 1, outcome, visit)?;
            if !advance(&mut values) {
                break;
            }
        }
        put(&before, outcome);
        ControlFlow::Continue(())
    }

    /// Adds the races that exchanges make of those known.
    pub(crate) fn close(&self, races: &mut BTreeSet<Race>) {
        self.close_places(races, &|race, place| {
            let (one, two) = (place(race.first), place(race.second));
            Race { first: one.min(two), second: one.max(two) }
        });
    }

    /// The same for flags.
    pub(crate) fn close_flags(&self, flags: &mut BTreeSet<RaisedFlag>) {
        self.close_places(flags, &|raised, place| RaisedFlag {
            flag: raised.flag.clone(),
            first: raised.first.map(place),
            second: raised.second.map(place),
        });
    }

    /// The same for warnings.
    pub(crate) fn close_warnings(&self, warnings: &mut BTreeSet<Warning>) {
        self.close_places(warnings, &|warning, place| Warning {
            at: place(warning.at),
            ..warning.clone()
        });
    }

    /// The same for threads that have exited.
    pub(crate) fn close_exited(&self, exited: &mut BTreeSet<ExitedThread>) {
        self.close_places(exited, &|of, place| ExitedThread {
            thread: place((of.thread, 0)).0,
            barrier: place(of.barrier),
        });
    }

    /// Adds to what is known of places what it comes to where threads are exchanged.
    fn close_places<T: Clone + Ord>(
        &self,
        known: &mut BTreeSet<T>,
        exchanged: &dyn Fn(&T, SwappedPlace<'_>) -> T,
    ) {
        let mut open: Vec<T> = known.iter().cloned().collect();
        while let Some(one) = open.pop() {
            for class in &self.classes {
                for &other in &class[1..] {
                    let twin =
                        exchanged(&one, &|(thread, line)| (swapped(class[0], other, thread), line));
                    if known.insert(twin.clone()) {
                        open.push(twin);
                    }
                }
            }
        }
    }
}

/// Adds where threads stay in the executions that exchanges of threads, in these classes, make of those known.
pub(crate) fn close_stuck(classes: &[Vec<ThreadId>], known: &mut Vec<Stuck>) {
    let class = |of: &Stuck| classes.iter().find(|class| class.contains(&of.thread));
    let twins = known.iter().flat_map(|of| {
        let twins = class(of).into_iter().flatten();
        twins.map(|&thread| Stuck { thread, ..*of })
    });
    let twins: Vec<Stuck> = twins.collect();
    join_stuck(known, twins);
}

/// The next order of a list, which begins with the sorted one; false after the last.
fn advance<T: Ord>(list: &mut [T]) -> bool {
    let Some(at) = (1..list.len()).rev().find(|&at| list[at - 1] < list[at]) else { return false };
    let other = (at..list.len()).rev().find(|&other| list[at - 1] < list[other]);
    list.swap(at - 1, other.unwrap_or(at));
    list[at..].reverse();
    true
}

/// The threads of a program in classes of two and more, of which any two may be exchanged in any execution and in
/// each of the propositions, and where `also` says so.
fn classes(
    program: &Program,
    props: &[&Prop],
    also: &dyn Fn(ThreadId, ThreadId) -> bool,
) -> Vec<Vec<ThreadId>> {
    let mut classes: Vec<Vec<ThreadId>> = Vec::new();
    // The phases of mbarrier objects are not exchanged with the threads, and neither are lanes and ranks.
    if program.is_asynchronous() || program.tells_threads_apart() {
        return classes;
    }
    let plain: Vec<String> = props.iter().map(|prop| normal(prop, &|index| Some(index))).collect();
    for thread in 0..program.threads.len() {
        let id = ThreadId(u8::try_from(thread).expect("a test has few threads"));
        let fits = |class: &&mut Vec<ThreadId>| {
            let first = class[0];
            same_code(program, first, id)
                && also(first, id)
                && props.iter().zip(&plain).all(|(prop, plain)| {
                    normal(prop, &|index| exchanged(program, first, id, index)) == *plain
                })
        };
        match classes.iter_mut().find(fits) {
            Some(class) => class.push(id),
            None => classes.push(vec![id]),
        }
    }
    classes.retain(|class| class.len() > 1);
    classes
}

/// Whether two threads do the same, and stand to all others alike.
fn same_code(program: &Program, one: ThreadId, other: ThreadId) -> bool {
    let of = |id: ThreadId| &program.threads[usize::from(id.0)];
    let (a, b) = (of(one), of(other));
    let levels = |here: Placement, there: Placement| {
        (
            here.gpu == there.gpu,
            here.same_cluster(there),
            here.same_cta(there),
            here.same_warp(there),
        )
    };
    let others = (0u8..).zip(&program.threads).filter(|(id, _)| ![one.0, other.0].contains(id));
    a.lines == b.lines
        && a.registers == b.registers
        && others
            .map(|(_, of)| of.placement)
            .all(|place| levels(a.placement, place) == levels(b.placement, place))
}

fn thread_of(observed: Observed) -> ThreadId {
    match observed {
        Observed::Register { thread, .. } | Observed::Memory { thread, .. } => thread,
    }
}

fn swapped(one: ThreadId, other: ThreadId, thread: ThreadId) -> ThreadId {
    match thread {
        _ if thread == one => other,
        _ if thread == other => one,
        _ => thread,
    }
}

/// Whether a variable names the same memory in all threads.
fn is_one_location(program: &Program, variable: VariableId) -> bool {
    let of = &program.variables[usize::from(variable.0)];
    let space = of.alias.map_or(of.space, |alias| program.variables[usize::from(alias.of.0)].space);
    match space {
        Space::Global | Space::Const | Space::ParamEntry => true,
        Space::Shared | Space::Local | Space::ParamFunc | Space::Tensor => false,
    }
}

/// What is observed when two threads are exchanged, as an index; `None` if it is not observed.
fn exchanged(program: &Program, one: ThreadId, other: ThreadId, index: usize) -> Option<usize> {
    let twin = match program.observed[index] {
        Observed::Register { thread, register } => {
            Observed::Register { thread: swapped(one, other, thread), register }
        }
        Observed::Memory { variable, .. } if is_one_location(program, variable) => {
            return Some(index);
        }
        Observed::Memory { variable, thread, offset, length } => {
            Observed::Memory { variable, thread: swapped(one, other, thread), offset, length }
        }
    };
    if twin == program.observed[index] {
        return Some(index);
    }
    program.observed.iter().position(|of| *of == twin)
}

/// The proposition with other things observed, written so that the order within `and` and `or` makes no difference.
fn normal(prop: &Prop, place: &dyn Fn(usize) -> Option<usize>) -> String {
    let list = |name: &str, props: &[Prop]| {
        let mut parts: Vec<String> = props.iter().map(|prop| normal(prop, place)).collect();
        parts.sort_unstable();
        format!("{name}({})", parts.join(","))
    };
    let term = |of: &Comparand| match of {
        Comparand::Observed(index) => match place(*index) {
            Some(index) => format!("[{index}]"),
            None => "other".to_owned(),
        },
        Comparand::Constant(value) => value.to_string(),
    };
    match prop {
        Prop::True => "true".to_owned(),
        Prop::False => "false".to_owned(),
        Prop::Not(prop) => format!("not({})", normal(prop, place)),
        Prop::And(props) => list("and", props),
        Prop::Or(props) => list("or", props),
        Prop::Implies(left, right) => {
            format!("implies({},{})", normal(left, place), normal(right, place))
        }
        Prop::Atom(comparison, left, right) => {
            format!("{comparison:?}({},{})", term(left), term(right))
        }
    }
}
