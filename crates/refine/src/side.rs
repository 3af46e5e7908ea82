//! A question in one context: the programs of both sides, and their notation in reports.

use std::fmt::Write;

use model::program::{Observed, Program};
use model::scope::Scope;
use model::value::Value;
use sass::lowering::LoweringTable;

use super::context::{Context, ContextOp};
use super::contract;
use super::inclusion::Question;
use super::language::{PTX, SourceId};
use super::program::{NumberedStep, TestWords, Width, program};
use super::step::{AccessKind, Step, TestLocation, line};
use super::witness::WitnessTest;

/// Threads as the models see them. For each step: the threads that its scope includes, its value, and the
/// value that it expects. Before the steps of a thread: the threads in its CTA and in its cluster.
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
    /// The table that lowers the context, if it is not the built-in one.
    pub(super) partners: Option<&'a LoweringTable>,
}

impl Side<'_> {
    /// The target's lowering of a step of the context; `None` if the target has no such scope.
    pub(super) fn reference(&self, step: Step) -> Option<Vec<Step>> {
        let steps = self.mapped(step);
        let Some(machine) = self.question.machine else { return Some(steps) };
        let lowered =
            steps.into_iter().map(|step| contract::by_table(step, machine, self.partners));
        lowered.collect::<Option<Vec<_>>>().map(|all| all.concat())
    }

    /// The PTX lowering of a step.
    pub(super) fn mapped(&self, step: Step) -> Vec<Step> {
        self.question.language.to_ptx(step, self.partners)
    }

    pub(super) fn exists(&self) -> bool {
        let mut threads = self.context.threads.iter().enumerate();
        threads.all(|(thread, ops)| {
            let mut steps = ops.iter().filter_map(|&op| self.step(thread, op));
            steps.all(|step| self.reference(step).is_some())
        })
    }

    /// An operation of the context as a step; `None` for the judged code and its barriers.
    fn step(&self, thread: usize, op: ContextOp) -> Option<Step> {
        self.context.step(thread, op, TestLocation::ALL[op.place().unwrap_or_default()])
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

    /// The threads as the models see them: each scope is the set of threads that it includes.
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
            matches!(
                numbered.step,
                Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait
            )
        });
        // Accesses of C++ are not torn.
        let torn = torn && language.tears();
        let width = self.question.width;
        let mut key = ThreadKey { steps: Vec::new(), width, language, torn };
        for (thread, steps) in threads.iter().enumerate() {
            // A barrier belongs to a CTA or to a cluster.
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
                    Step::Barrier { .. }
                    | Step::ClusterArrive { .. }
                    | Step::ClusterWait
                    | Step::Guard => step,
                };
                key.steps.push((Some((step, mask)), value, expects));
            }
        }
        key
    }

    /// Numbers the values. Each store of a context or of the row has its own value on both sides: reading
    /// R70.
    pub(super) fn numbered(
        &self,
        row: &[Step],
        lower: impl Fn(Step) -> Vec<Step>,
    ) -> Vec<Vec<NumberedStep>> {
        let numbered = |step, value| NumberedStep { step, value, expects: 0, row: None };
        let mut rows = 0;
        let mut threads: Vec<Vec<NumberedStep>> = Vec::new();
        for (thread, ops) in self.context.threads.iter().enumerate() {
            let mut steps = Vec::new();
            for &op in ops {
                if op == ContextOp::Judged {
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
                } else if let Some(step) = self.step(thread, op) {
                    let all = lower(step).into_iter();
                    steps.extend(all.map(|step| numbered(step, number(op))));
                } else {
                    steps.extend(self.barriers().into_iter().map(|step| numbered(step, 0)));
                }
            }
            threads.push(steps);
        }
        if self.context.expects_partner {
            let mut partners = self.context.threads.iter().skip(1).flatten();
            let write = partners.find(|op| op.writes(TestLocation::Y as usize));
            for step in &mut threads[0] {
                step.expects = write.map_or(0, |&op| number(op));
            }
        }
        threads
    }

    /// A side in the context as a test for an outcome of the target.
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

    /// The barriers of the row, at which its partners meet it.
    fn barriers(&self) -> Vec<Step> {
        let barrier = |step: &Step| {
            matches!(step, Step::Barrier { .. } | Step::ClusterArrive { .. } | Step::ClusterWait)
        };
        self.question.source.iter().copied().filter(barrier).collect()
    }

    /// The context in words, with the lowering of each operation of C++ that becomes something else.
    pub(super) fn text(&self) -> String {
        let mut text = self.operations();
        if self.question.machine.is_some() {
            return text;
        }
        let mut known: Vec<Step> = Vec::new();
        for (thread, ops) in self.context.threads.iter().enumerate() {
            for step in ops.iter().filter_map(|&op| self.step(thread, op)) {
                let lowered = self.mapped(step);
                if lowered == [step] || known.contains(&step) {
                    continue;
                }
                let before = if known.is_empty() { "; there " } else { ", and " };
                write!(text, "{before}{step} becomes {}", line(&lowered))
                    .expect("a string takes it");
                known.push(step);
            }
        }
        text
    }

    fn operations(&self) -> String {
        self.context.words(|thread, ops| {
            let of = |&op: &ContextOp| match (op, self.step(thread, op)) {
                (ContextOp::Access { act, value, .. }, Some(step)) if act.writes() => {
                    format!("{step}, {value}")
                }
                (_, Some(step)) => step.to_string(),
                (ContextOp::Judged, None) => "[ROW]".to_owned(),
                (_, None) => {
                    let barriers = self.barriers();
                    barriers.iter().map(Step::to_string).collect::<Vec<_>>().join("; ")
                }
            };
            ops.iter().map(of).collect()
        })
    }
}

/// The number of the value that an operation of a context writes.
fn number(op: ContextOp) -> u8 {
    let ContextOp::Access { value, .. } = op else { return 0 };
    u8::try_from(value).expect("a shape is short")
}

/// An outcome as `T0:r0=1 T1:r0=0 y=1`, with the values of stores by their numbers.
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
