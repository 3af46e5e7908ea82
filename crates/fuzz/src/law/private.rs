//! The law of bytes that one thread accesses: they need no events.

use std::collections::BTreeSet;

use engine::ENGINES;
use execution::unfold::Unfolded;
use litmus::Test;
use model::isa::Operand;
use model::memory::{Variable, VariableId};
use model::program::{ContestedBytes, InitialValue, Observed, Program, ThreadId};
use model::rel::Model;
use model::value::Value;

use super::{CaseEnd, FuzzSetting, Law, LawCase, same};
use crate::answer::{BOUND, ask};
use crate::draw::{BARRIERS, LONG, MIXED, ProgramSource, SMALL, WIDE};

pub(super) const PRIVATE: Law = Law {
    name: "private",
    statement: "accesses to bytes of one thread need no events",
    sources: &[
        ProgramSource::Uniform(SMALL),
        ProgramSource::Uniform(LONG),
        ProgramSource::Uniform(WIDE),
        ProgramSource::Uniform(MIXED),
        ProgramSource::Uniform(BARRIERS),
    ],
    check: private,
};

/// The program with, in one thread, another variable in place of one, which no other thread accesses.
fn with_private_variable(test: &Test, thread: usize, variable: usize) -> Test {
    let mut test = test.clone();
    let program = &mut test.program;
    let id = |index: usize| VariableId(u16::try_from(index).expect("few variables"));
    let (of, own) = (id(variable), id(program.variables.len()));
    let copy = Variable { name: "own".to_owned(), ..program.variables[variable].clone() };
    program.variables.push(copy);
    for line in &mut program.threads[thread].lines {
        line.instruction.each_operand_mut(&mut |operand| {
            if *operand == Operand::Address(of) {
                *operand = Operand::Address(own);
            }
        });
    }
    for register in &mut program.threads[thread].registers {
        if let InitialValue::Address { variable, .. } = &mut register.initial
            && *variable == of
        {
            *variable = own;
        }
    }
    let thread = ThreadId(u8::try_from(thread).expect("few threads"));
    let length = u32::try_from(program.variables[variable].initial.len()).expect("few bytes");
    program.observed.push(Observed::Memory { variable: own, thread, offset: 0, length });
    test
}

/// The bytes that some access of each of two threads overlaps, made so large that each access is inside or
/// outside.
fn contested(program: &Program, model: &Model) -> Option<Vec<ContestedBytes>> {
    let unfolded = Unfolded::new(program, model.conventions, BOUND).ok()?;
    let mut all: BTreeSet<(usize, ContestedBytes)> = BTreeSet::new();
    for (thread, paths) in unfolded.paths.iter().enumerate() {
        for access in paths.iter().flat_map(|path| &path.events).filter_map(|event| event.access) {
            let variable = unfolded.layout.locations[usize::from(access.pa.object)].variable;
            let (start, length) = (access.pa.start, access.pa.length);
            all.insert((thread, ContestedBytes { variable, start, length, values: None }));
        }
    }
    let overlap = |a: &ContestedBytes, b: &ContestedBytes| {
        a.variable == b.variable && a.start < b.end() && b.start < a.end()
    };
    let of_two = |(thread, one): &&(usize, ContestedBytes)| {
        all.iter().any(|(other, bytes)| thread != other && overlap(one, bytes))
    };
    let aliased = |(_, one): &&(usize, ContestedBytes)| {
        let of = |other: &Variable| other.alias.is_some_and(|alias| alias.of == one.variable);
        program.variables.iter().any(of)
    };
    let several = |one: &&(usize, ContestedBytes)| of_two(one) || aliased(one);
    // The values of the writes of all threads but the first, if they are constants and of these bytes only.
    let written = |one: &ContestedBytes| -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for path in unfolded.paths[1..].iter().flatten() {
            let writes = path.events.iter().filter_map(|event| Some((event.value?, event.access?)));
            for (value, access) in writes {
                let variable = unfolded.layout.locations[usize::from(access.pa.object)].variable;
                let (start, length) = (access.pa.start, access.pa.length);
                let bytes = ContestedBytes { variable, start, length, values: None };
                if overlap(one, &bytes) {
                    let same = (start, length) == (one.start, one.length);
                    values.push(path.exprs.as_const(value).filter(|_| same)?);
                }
            }
        }
        Some(values)
    };
    let mut found: BTreeSet<ContestedBytes> =
        all.iter().filter(several).map(|of| of.1.clone()).collect();
    loop {
        let touched = |one: &&ContestedBytes| found.iter().any(|of| overlap(one, of));
        let more: Vec<ContestedBytes> =
            all.iter().map(|of| &of.1).filter(touched).cloned().collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            let values = |one: ContestedBytes| ContestedBytes { values: written(&one), ..one };
            return Some(found.into_iter().map(values).collect());
        }
    }
}

fn private(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let variables = case.test.program.variables.iter().enumerate();
    // An alias would still lead to the old bytes.
    let plain = variables.filter(|(_, variable)| variable.alias.is_none());
    let mut some = false;
    for (variable, _) in plain.take(2) {
        let test = with_private_variable(case.test, 0, variable);
        let mut sliced = test.clone();
        let Some(contested) = contested(&test.program, &setting.model) else { continue };
        sliced.program.contested = Some(contested);
        let unfolded = Unfolded::new(&sliced.program, setting.model.conventions, BOUND);
        let paths = unfolded.iter().flat_map(|unfolded| unfolded.paths.iter().flatten());
        if !paths.clone().any(|path| !path.private.is_empty()) {
            continue;
        }
        some = true;
        // The solver takes much longer.
        let index = usize::from(case.choice.is_multiple_of(8) && ENGINES.len() > 1);
        let limits = setting.limits();
        let all = ask(ENGINES[index], &setting.model, &test.program, &limits)?;
        let less = ask(ENGINES[index], &setting.models[index], &sliced.program, &limits)?;
        same(&test, ("events", &all), ("no events", &less))?;
    }
    if some { Ok(()) } else { Err(CaseEnd::Skipped("no thread has bytes of its own")) }
}
