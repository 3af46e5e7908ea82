//! The number of generated tests: in closed form, listed, and by brute force.

use std::collections::{BTreeMap, BTreeSet};

use generate::access::{AccessForm, CycleAccess};
use generate::build;
use generate::cycle::Cycle;
use generate::kind::CycleKind;
use generate::notation;
use generate::space::{CycleSpace, Pattern, Ranges};
use generate::word::{CycleAnnotation, Link, Via};
use model::isa::fence::FenceOrder;
use model::isa::{Instruction, Operand};
use model::memory::{Proxy, VariableId};
use model::program::{Observed, Program};
use model::scope::Scope;

use super::{SC, ranges, with_forms};

/// A program and its outcome, up to the names and numbers of threads, locations, registers and values: the least of
/// the forms that the orders of its threads give.
fn form(program: &Program, outcome: &[u128]) -> String {
    let mut orders = Vec::new();
    permutations(program.threads.len(), &mut Vec::new(), &mut orders);
    orders.iter().map(|order| form_in(program, outcome, order)).min().expect("there are threads")
}

fn permutations(count: usize, chosen: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    if chosen.len() == count {
        all.push(chosen.clone());
    }
    for next in (0..count).filter(|next| !chosen.contains(next)).collect::<Vec<_>>() {
        chosen.push(next);
        permutations(count, chosen, all);
        chosen.pop();
    }
}

/// Numbers in the order in which things are first seen.
struct Seen<T>(Vec<T>);

impl<T: PartialEq> Seen<T> {
    fn number(&mut self, one: T) -> usize {
        self.0.iter().position(|known| *known == one).unwrap_or_else(|| {
            self.0.push(one);
            self.0.len() - 1
        })
    }
}

/// A value of a location: which writes its bytes are of, where those with parts of it have bytes of their own.
fn bytes(values: &mut Seen<(VariableId, u8)>, at: VariableId, value: u128) -> String {
    let of =
        |byte: u8| if byte == 0 { "-".to_owned() } else { values.number((at, byte)).to_string() };
    value.to_le_bytes().map(of).join(" ")
}

fn form_in(program: &Program, outcome: &[u128], order: &[usize]) -> String {
    let (mut addresses, mut locations) = (Seen(Vec::new()), Seen(Vec::new()));
    let mut values = Seen(Vec::new());
    let root =
        |at: VariableId| program.variables[usize::from(at.0)].alias.map_or(at, |alias| alias.of);
    let mut lines = Vec::new();
    let mut reads = Vec::new();
    for (place, &thread) in order.iter().enumerate() {
        for line in &program.threads[thread].lines {
            let Some((address, ty, _)) = line.instruction.access() else {
                lines.push(format!("{place} {:?}", line.instruction));
                continue;
            };
            let Operand::Address(at) = address.base else { panic!("plain addresses") };
            let mut number = |operands: &[Operand]| {
                let number = |operand: &Operand| {
                    let Operand::Imm(value) = *operand else { panic!("plain values") };
                    bytes(&mut values, root(at), value.into())
                };
                operands.iter().map(number).collect::<Vec<_>>()
            };
            let did = if let Instruction::Store(store) = &line.instruction {
                format!("st {:?} {:?} {:?}", store.order, store.proxy, number(&store.sources))
            } else if let Instruction::Load(load) = &line.instruction {
                reads.extend(load.destinations.iter().map(|&into| (thread, into, at)));
                format!("ld {:?} {:?} into {}", load.order, load.proxy, reads.len())
            } else if let Instruction::Atomic(atomic) = &line.instruction {
                let operands = number(&atomic.operands);
                reads.extend(atomic.destination.map(|into| (thread, Some(into), at)));
                let (op, order, scope) = (atomic.op, atomic.order, atomic.scope);
                format!("{op:?} {order:?} {scope:?} {operands:?} into {}", reads.len())
            } else {
                panic!("no other instruction has an address")
            };
            let (address_number, location) = (addresses.number(at), locations.number(root(at)));
            lines.push(format!(
                "{place} {did} {ty:?} {address_number} {} {location}",
                address.offset
            ));
        }
    }
    // In the order of the instructions: some values are written by several.
    let mut observed: Vec<(&str, usize, VariableId, u128)> = Vec::new();
    for (of, &value) in program.observed.iter().zip(outcome) {
        observed.push(match *of {
            Observed::Register { thread, register } => {
                let is_it = |&(of, into, _): &(usize, _, _)| {
                    of == usize::from(thread.0) && into == Some(register)
                };
                let read = reads.iter().position(is_it).expect("it is read");
                ("read", read, root(reads[read].2), value)
            }
            Observed::Memory { variable, .. } => {
                ("final", locations.number(variable), variable, value)
            }
        });
    }
    observed.sort_unstable();
    let number =
        |(what, place, at, value)| format!("{what} {place} {}", bytes(&mut values, at, value));
    let wanted: Vec<String> = observed.into_iter().map(number).collect();
    let near = |a: usize, b: usize| {
        Scope::narrowest(&[
            program.threads[order[a]].placement,
            program.threads[order[b]].placement,
        ])
    };
    let pairs = (0..order.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let distances: Vec<Scope> = pairs.map(|(a, b)| near(a, b)).collect();
    format!("{lines:?} {wanted:?} {distances:?}")
}

/// All sequences of this many of the words.
fn sequences(words: &[&'static str], length: usize, visit: &mut dyn FnMut(&[&'static str])) {
    fn go(
        words: &[&'static str],
        length: usize,
        chosen: &mut Vec<&'static str>,
        visit: &mut dyn FnMut(&[&'static str]),
    ) {
        if chosen.len() == length {
            return visit(chosen);
        }
        for word in words {
            chosen.push(word);
            go(words, length, chosen, visit);
            chosen.pop();
        }
    }
    go(words, length, &mut Vec::new(), visit);
}

/// Whether no edge of a cycle can be left out: two accesses of a thread at most, and two communications in a row
/// only where the second one is a read of the write between.
fn is_critical(words: &[&str]) -> bool {
    (0..words.len()).all(|at| {
        let (one, next) = (words[at], words[(at + 1) % words.len()]);
        match (one.starts_with('P'), next.starts_with('P')) {
            (true, true) => false,
            (false, false) => one != "Rfe" && next == "Rfe",
            _ => true,
        }
    })
}

/// Counts by other means: every sequence of edges is read as text, annotated and placed in every way, and the
/// programs are compared up to names.
fn brute_force(threads: usize, length: usize, ranges: &Ranges) -> usize {
    let pods = ["PodWW", "PodWR", "PodRW", "PodRR", "Rfe", "Fre", "Coe"];
    let mut forms = BTreeSet::new();
    sequences(&pods, length, &mut |words| {
        let text = words.join(" ");
        let Ok(written) = notation::read(&text) else { return };
        // Each rotation is tried, of those that begin with a thread's first access.
        if !is_critical(words) || !["Rfe", "Fre", "Coe"].contains(&words[length - 1]) {
            return;
        }
        if written.shape.threads().len() != threads {
            return;
        }
        for arrangement in generate::places::Arrangement::all(threads, &ranges.distances) {
            let accesses: Vec<CycleAccess> = { ranges.forms.iter() }
                .flat_map(|&form| {
                    let annotations = ranges.annotations.iter();
                    annotations.map(move |&annotation| CycleAccess { annotation, form })
                })
                .collect();
            every_choice(&written.shape.links, &ranges.vias, &mut |links| {
                every_choice(&vec![(); length], &accesses, &mut |accesses| {
                    let fits = accesses
                        .iter()
                        .zip(&written.shape.directions)
                        .all(|(one, direction)| one.fits(*direction));
                    // Accesses of one location that follow each other have a byte in common.
                    let meet = (0..length).all(|at| {
                        let next = accesses[(at + 1) % length].form.bytes();
                        words[at].starts_with("Pod") || accesses[at].form.bytes() & next != 0
                    });
                    // An alias is another address than that of the first access of its location.
                    let first = (0..length).any(|at| {
                        words[at].starts_with("Pod")
                            && accesses[(at + 1) % length].form == AccessForm::Alias
                    });
                    if !fits || !meet || first {
                        return;
                    }
                    let mut shape = written.shape.clone();
                    for (link, choice) in shape.links.iter_mut().zip(links) {
                        if let Link::Order { via, .. } = link {
                            *via = *choice;
                        } else if *choice != ranges.vias[0] {
                            return;
                        }
                    }
                    let cycle = Cycle {
                        shape,
                        accesses: accesses.to_vec(),
                        arrangement: arrangement.clone(),
                    };
                    let built = build::program(&cycle);
                    forms.insert(form(&built.program, &built.outcome));
                });
            });
        }
    });
    forms.len()
}

fn every_choice<S, T: Copy>(slots: &[S], choices: &[T], visit: &mut dyn FnMut(&[T])) {
    fn go<T: Copy>(count: usize, choices: &[T], chosen: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) {
        if chosen.len() == count {
            return visit(chosen);
        }
        for &choice in choices {
            chosen.push(choice);
            go(count, choices, chosen, visit);
            chosen.pop();
        }
    }
    go(slots.len(), choices, &mut Vec::new(), visit);
}

#[test]
fn counts_equal_a_brute_force() {
    let [weak, release] = [CycleAnnotation::Weak, CycleAnnotation::Release(Scope::Gpu)];
    let relaxed = CycleAnnotation::Relaxed(Scope::Cta);
    let parts = [
        AccessForm::Part { bytes: 8, offset: 0 },
        AccessForm::Word,
        AccessForm::Part { bytes: 1, offset: 1 },
        AccessForm::Vector { elements: 2, bytes: 2 },
        AccessForm::Part { bytes: 2, offset: 2 },
    ];
    let others = [
        AccessForm::Word,
        AccessForm::Alias,
        AccessForm::Reduction,
        AccessForm::Through(Proxy::Surface),
        AccessForm::NonCoherent,
    ];
    let cases = [
        (2, 4, ranges(&[weak, relaxed], &[Via::Plain, SC], &[Scope::Cta, Scope::Gpu])),
        (2, 4, ranges(&[weak, relaxed, release], &[Via::Plain], &Scope::ALL)),
        (3, 5, ranges(&[weak, release], &[Via::Plain], &[Scope::Cta, Scope::Sys])),
        (3, 6, ranges(&[weak], &[Via::Plain, SC], &[Scope::Gpu])),
        (4, 6, ranges(&[weak], &[Via::Plain], &[Scope::Cta, Scope::Sys])),
        (2, 4, with_forms(ranges(&[weak], &[Via::Plain, SC], &[Scope::Gpu]), &parts)),
        (2, 4, with_forms(ranges(&[weak, relaxed], &[Via::Plain], &[Scope::Gpu]), &others)),
        (3, 5, with_forms(ranges(&[weak], &[Via::Plain], &[Scope::Gpu]), &parts[1..])),
        (4, 6, with_forms(ranges(&[weak], &[Via::Plain], &[Scope::Gpu]), &parts[2..])),
    ];
    for (threads, edges, ranges) in cases {
        let space = CycleSpace::critical(threads..=threads, edges..=edges, &ranges);
        let listed: Vec<Cycle> = space.cycles().collect();
        let forced = brute_force(threads, edges, &ranges);
        assert_eq!(
            space.count(),
            listed.len() as u128,
            "{threads} threads, {edges} edges, {ranges:?}"
        );
        assert_eq!(listed.len(), forced, "{threads} threads, {edges} edges, {ranges:?}");
        let forms: BTreeSet<String> = listed
            .iter()
            .map(build::program)
            .map(|built| form(&built.program, &built.outcome))
            .collect();
        assert_eq!(forms.len(), listed.len(), "two are equal up to names");
        let names: BTreeSet<String> = listed.iter().map(Cycle::name).collect();
        assert_eq!(names.len(), listed.len(), "two have one name");
    }
}

/// The closed form, the list, and every labelled cycle up to names, of cycles that exchange the addresses of their location
/// and of others.
#[test]
fn each_labelled_cycle_is_one_of_those_listed() {
    let weak = CycleAnnotation::Weak;
    let relaxed = CycleAnnotation::Relaxed(Scope::Gpu);
    let some = ranges(&[weak, relaxed], &[Via::Plain], &[Scope::Gpu]);
    let forms = [
        AccessForm::Word,
        AccessForm::Alias,
        AccessForm::Part { bytes: 2, offset: 0 },
        AccessForm::Part { bytes: 2, offset: 2 },
    ];
    let spaces = [
        CycleSpace::of_kinds(
            &[CycleKind::Coherence],
            2..=2,
            3..=4,
            &with_forms(some.clone(), &forms),
        ),
        CycleSpace::of_kinds(
            &[CycleKind::Coherence],
            3..=3,
            0..=6,
            &with_forms(ranges(&[weak], &[Via::Plain], &[Scope::Gpu]), &forms[..2]),
        ),
        CycleSpace::of_kinds(
            &CycleKind::ALL,
            2..=2,
            0..=5,
            &with_forms(ranges(&[weak], &[Via::Plain], &[Scope::Cta, Scope::Gpu]), &forms),
        ),
    ];
    for space in spaces {
        let listed: Vec<Cycle> = space.cycles().collect();
        assert_eq!(space.count(), listed.len() as u128);
        let shown = |cycle: &Cycle| {
            let built = build::program(cycle);
            form(&built.program, &built.outcome)
        };
        let mut of_listed: BTreeMap<String, &Cycle> = BTreeMap::new();
        for cycle in &listed {
            if let Some(other) = of_listed.insert(shown(cycle), cycle) {
                panic!("{} and {} are equal up to names", cycle.words(), other.words());
            }
        }
        for pattern in &space.patterns {
            let all = (0..pattern.labelled()).map(|number| pattern.cycle(number));
            for cycle in all.filter(Cycle::overlaps) {
                // With several edges of program order, a rotation may have another coherence order.
                let is_listed = cycle.forms().any(|form| of_listed.contains_key(&shown(&form)));
                assert!(is_listed, "{} is not listed", cycle.words());
            }
            let here = |at| pattern.is_least(at).then(|| pattern.count_at(at));
            let places: u128 = (0..pattern.arrangements.len()).filter_map(here).sum();
            assert_eq!(places, pattern.count());
        }
    }
}

#[test]
fn labelled_counts_are_those_of_the_literature() {
    let four = [
        CycleAnnotation::Weak,
        CycleAnnotation::Relaxed(Scope::Cta),
        CycleAnnotation::Relaxed(Scope::Sys),
        CycleAnnotation::Acquire(Scope::Sys),
        CycleAnnotation::Release(Scope::Sys),
    ];
    let vias = [Via::Plain, Via::Fence(FenceOrder::AcqRel, Scope::Sys), SC];
    let ranges = ranges(&four, &vias, &[Scope::Cta, Scope::Sys]);
    let labelled = |n: usize| CycleSpace::critical(n..=n, 2 * n..=2 * n, &ranges).labelled();
    assert_eq!(labelled(2), 27_648);
    assert_eq!(labelled(3), 6_082_560);
    assert_eq!(labelled(4), 1_911_029_760);
    let families = |n: usize| CycleSpace::critical(n..=n, 2 * n..=2 * n, &ranges).patterns.len();
    assert_eq!([2, 3, 4].map(families), [6, 11, 24]);
}

#[test]
fn a_sample_has_so_many_different_cycles_of_the_space() {
    let small =
        ranges(&[CycleAnnotation::Weak, CycleAnnotation::Volatile], &[Via::Plain], &[Scope::Gpu]);
    let space = CycleSpace::critical(2..=2, 4..=4, &small);
    let all: BTreeSet<Cycle> = space.cycles().collect();
    let drawn = space.sample(40, 3);
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 40);
    assert!(drawn.iter().all(|cycle| all.contains(cycle)));
    assert_ne!(drawn, space.sample(40, 4));
    assert_eq!(drawn, space.sample(40, 3));
    assert_eq!(space.sample(1000, 3).len(), all.len());
}

#[test]
fn choices_that_differ_between_equal_threads_are_listed_once() {
    let all = ranges(
        &[CycleAnnotation::Weak, CycleAnnotation::Volatile],
        &[Via::Plain],
        &[Scope::Gpu, Scope::Sys],
    );
    // The second read of the second thread is fixed, so that rotations do not keep the choices.
    let written = notation::read("PodWR Fre PodWR Volatile Fre").expect("a cycle");
    let pattern = Pattern::of(&written, &all);
    let forms: BTreeSet<Cycle> =
        (0..pattern.labelled()).map(|number| pattern.cycle(number).canonical()).collect();
    assert_eq!(pattern.count(), forms.len() as u128);
    assert!(pattern.count() < pattern.labelled());
}
