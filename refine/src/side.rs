//! A question in one context: the programs of both sides, and how they are shown.

use model::program::{Observed, Program};
use model::scope::Scope;
use model::value::Value;
use sass::lowering::LoweringTable;

use super::context::{Context, ThreadSlot};
use super::contract;
use super::inclusion::Question;
use super::language::{PTX, SourceId};
use super::program::{NumberedStep, TestWords, Width, program};
use super::step::{AccessKind, Step, TestLocation};
use super::witness::WitnessTest;

/// Threads by steps: of each which threads its scope includes, its value, and what it expects; before
/// those of a thread, which threads are in its CTA and in its cluster.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ThreadKey {
    steps: Vec<StepView>,
    width: Width,
    language: SourceId,
    torn: bool,
}

type StepView = (Option<(Step, u8)>, u8, u8);

/// A question in one context.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) question: &'a Question,
    pub(super) context: &'a Context,
    /// What lowers the context, where it is not the table that comes with the program.
    pub(super) partners: Option<&'a LoweringTable>,
}

impl Side<'_> {
    /// What a step of the context is on the target's side; none where the target has no such scope.
    pub(super) fn reference(&self, step: Step) -> Option<Vec<Step>> {
        let steps = self.mapped(step);
        let Some(machine) = self.question.machine else { return Some(steps) };
        let lowered =
            steps.into_iter().map(|step| contract::by_table(step, machine, self.partners));
        lowered.collect::<Option<Vec<_>>>().map(|all| all.concat())
    }

    /// What a step is in PTX.
    pub(super) fn mapped(&self, step: Step) -> Vec<Step> {
        self.question.language.to_ptx(step, self.partners)
    }

    pub(super) fn exists(&self) -> bool {
        self.context.threads().iter().flatten().all(|slot| match slot {
            ThreadSlot::Step(step) => self.reference(*step).is_some(),
            ThreadSlot::Row | ThreadSlot::RowBarrier => true,
        })
    }

    pub(super) fn lower(&self, step: Step) -> Vec<Step> {
        self.reference(step).unwrap_or_default()
    }

    pub(super) fn source(&self) -> Program {
        self.program_of(&self.source_threads())
    }

    pub(super) fn source_threads(&self) -> Vec<Vec<NumberedStep>> {
        self.numbered(&self.question.source, |step| vec![step])
    }

    pub(super) fn target_threads(&self, steps: &[Step]) -> Vec<Vec<NumberedStep>> {
        self.numbered(steps, |step| self.lower(step))
    }

    pub(super) fn program_of(&self, threads: &[Vec<NumberedStep>]) -> Program {
        program(threads, &self.context.placements, self.question.width)
    }

    /// The threads as the models see them: each scope as the threads that it includes.
    pub(super) fn key(
        &self,
        threads: &[Vec<NumberedStep>],
        language: SourceId,
        torn: bool,
    ) -> ThreadKey {
        let placements = &self.context.placements;
        let within = |scope: Scope, here: usize| {
            let included = (0..placements.len())
                .filter(|&there| scope.includes(placements[here], placements[there]));
            included.fold(0_u8, |mask, there| mask | 1 << there)
        };
        let meets = threads.iter().flatten().any(|numbered| {
            matches!(numbered.step, Step::Barrier | Step::ClusterArrive { .. } | Step::ClusterWait)
        });
        // No access of C++ is torn.
        let torn = torn && language.tears();
        let width = self.question.width;
        let mut key = ThreadKey { steps: Vec::new(), width, language, torn };
        for (thread, steps) in threads.iter().enumerate() {
            // Barriers are of a CTA and of a cluster.
            let masks = (within(Scope::Cta, thread), within(Scope::Cluster, thread));
            let (cta, cluster) = if meets { masks } else { (0, 0) };
            key.steps.push((None, cta, cluster));
            for &NumberedStep { step, value, expects, row: _ } in steps {
                let mask = step.scope().map_or(0, |scope| within(scope, thread));
                let step = match step {
                    Step::Access { act, at, order, .. } => {
                        Step::Access { act, at, order, scope: Scope::Sys }
                    }
                    Step::Fence { order, .. } => Step::Fence { order, scope: Scope::Sys },
                    Step::Barrier
                    | Step::ClusterArrive { .. }
                    | Step::ClusterWait
                    | Step::Guard => step,
                };
                key.steps.push((Some((step, mask)), value, expects));
            }
        }
        key
    }

    /// Each store of a context, and each of the row, has its own value on both sides: reading R70.
    pub(super) fn numbered(
        &self,
        row: &[Step],
        lower: impl Fn(Step) -> Vec<Step>,
    ) -> Vec<Vec<NumberedStep>> {
        let numbered = |step, value| NumberedStep { step, value, expects: 0, row: None };
        let mut expects = 0;
        let mut threads: Vec<Vec<NumberedStep>> = Vec::new();
        let mut number = 0;
        let slots = self.context.threads();
        let mut rows = 0;
        for (thread, slots) in slots.iter().enumerate() {
            let mut steps = Vec::new();
            for &slot in slots {
                number += 1;
                match slot {
                    ThreadSlot::Row => {
                        let mut writes = 0;
                        for (at, &step) in row.iter().enumerate() {
                            let value = 64 + 8 * rows + writes;
                            steps.push(NumberedStep { step, value, expects: 0, row: Some(at) });
                            let counts = matches!(
                                step,
                                Step::Access { act, .. } if act.writes() && act != AccessKind::Probe
                            );
                            writes += u8::from(counts);
                        }
                        rows += 1;
                    }
                    ThreadSlot::RowBarrier => {
                        let all = self.barriers().into_iter();
                        steps.extend(all.map(|step| numbered(step, 0)));
                    }
                    ThreadSlot::Step(step) => {
                        let y = matches!(
                            step,
                            Step::Access { at: TestLocation::Y, act, .. } if act.writes()
                        );
                        if y && thread > 0 && expects == 0 {
                            expects = number;
                        }
                        let all = lower(step).into_iter();
                        steps.extend(all.map(|step| numbered(step, number)));
                    }
                }
            }
            threads.push(steps);
        }
        if self.context.expects_partner {
            for step in &mut threads[0] {
                step.expects = expects;
            }
        }
        threads
    }

    /// A side in the context as a test, with an outcome of the target.
    pub(super) fn test(&self, lowered: bool, outcome: &[Value], torn: bool) -> Option<String> {
        let Question { language, source, target, width, .. } = self.question;
        let (language, row) = if lowered { (PTX, target) } else { (*language, source) };
        let threads =
            self.numbered(row, |step| if lowered { self.lower(step) } else { vec![step] });
        let (placements, program) = (&self.context.placements, &self.program_of(&threads));
        let name = if lowered { "target" } else { "source" };
        let (threads, width, words) = (&threads, *width, TestWords { language, torn });
        let test = WitnessTest { words, threads, placements, program, outcome, width };
        (program.observed.len() == outcome.len()).then(|| test.test(name, lowered)).flatten()
    }

    /// The barriers of the row, which its partners meet.
    fn barriers(&self) -> Vec<Step> {
        let barrier = |step: &Step| {
            matches!(step, Step::Barrier | Step::ClusterArrive { .. } | Step::ClusterWait)
        };
        self.question.source.iter().copied().filter(barrier).collect()
    }

    /// The context in words, the row as it is in the source.
    pub(super) fn text(&self) -> String {
        let threads = self.numbered(&[], |step| vec![step]);
        let slots = self.context.threads();
        let mut text = Vec::new();
        for (steps, slots) in threads.iter().zip(&slots) {
            let mut steps = steps.iter();
            let of = |slot: &ThreadSlot, steps: &mut std::slice::Iter<'_, NumberedStep>| match slot
            {
                ThreadSlot::Row => "[ROW]".to_owned(),
                ThreadSlot::RowBarrier => {
                    let all = self.barriers();
                    let of_step = all.iter().filter_map(|_| steps.next());
                    of_step.map(|numbered| numbered.step.to_string()).collect::<Vec<_>>().join("; ")
                }
                ThreadSlot::Step(_) => steps.next().map_or(String::new(), |numbered| {
                    let writes = matches!(numbered.step, Step::Access { act, .. } if act.writes());
                    let value =
                        if writes { format!(", {}", numbered.value) } else { String::new() };
                    format!("{}{value}", numbered.step)
                }),
            };
            let words: Vec<String> = slots.iter().map(|slot| of(slot, &mut steps)).collect();
            text.push(words.join("; "));
        }
        let cas = if self.context.expects_partner {
            ", the compare-exchange expects the partner's value"
        } else {
            ""
        };
        format!("{}, {}{cas}", text.join(" || "), self.context.distance)
    }
}

/// An outcome as `T0:r0=1 T1:r0=0 y=1`, stores by their numbers.
pub(super) fn shown(program: &Program, outcome: &[Value], width: Width) -> String {
    let value = |value: Value| match width.number(value) {
        Some(number) => number.to_string(),
        None => format!("{value:#010x}"),
    };
    let name = |observed: &Observed| match observed {
        Observed::Register { thread, register } => format!("T{}:r{}", thread.0, register.0),
        Observed::Memory { variable, .. } => {
            program.variables[usize::from(variable.0)].name.clone()
        }
    };
    let all = program.observed.iter().zip(outcome);
    let all: Vec<String> = all.map(|(o, &v)| format!("{}={}", name(o), value(v))).collect();
    all.join(" ")
}
