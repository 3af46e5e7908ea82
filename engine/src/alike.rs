//! Threads that may be exchanged: which a question does not tell apart.
//!
//! An execution with two of them exchanged is one again, with the values of the two exchanged. So where one
//! execution is all that is sought, the search looks at one order of such threads.

use litmus::{Comparand, Prop};
use model::program::{Observed, Program, ThreadId};
use model::scope::Placement;

/// The threads of a program in classes of two and more, of which any two may be exchanged in any execution and in
/// each of the propositions.
pub(crate) fn alike(program: &Program, props: &[&Prop]) -> Vec<Vec<ThreadId>> {
    let mut classes: Vec<Vec<ThreadId>> = Vec::new();
    let plain: Vec<String> = props.iter().map(|prop| normal(prop, &|index| Some(index))).collect();
    for thread in 0..program.threads.len() {
        let id = ThreadId(u8::try_from(thread).expect("a test has few threads"));
        let fits = |class: &&mut Vec<ThreadId>| {
            let first = class[0];
            same_code(program, first, id)
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

/// What is observed when two threads are exchanged, as an index; `None` if it is not observed.
fn exchanged(program: &Program, one: ThreadId, other: ThreadId, index: usize) -> Option<usize> {
    let swap = |thread: ThreadId| match thread {
        _ if thread == one => other,
        _ if thread == other => one,
        _ => thread,
    };
    let twin = match program.observed[index] {
        Observed::Register { thread, register } => {
            Observed::Register { thread: swap(thread), register }
        }
        Observed::Memory { variable, thread, offset, length } => {
            Observed::Memory { variable, thread: swap(thread), offset, length }
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
