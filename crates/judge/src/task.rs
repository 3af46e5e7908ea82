//! How to judge: the model, the engines, the property and the limits.

use std::time::Duration;

use engine::clock::Deadline;
use engine::{ENGINES, Engine, Limits, MEMORY};
use litmus::{Dialect, Test};
use model::rel::Model;

use crate::alternative::Alternative;

/// What a verdict is about.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Property {
    /// The quantified condition of the test, over all outcomes.
    #[default]
    ProgramSpec,
    /// Every execution finishes: the module `termination`.
    Termination,
    /// No execution has a data race: the module `races`.
    NoDataRace,
    /// No read returns what nobody has written: the module `uninitialised`.
    NoUninitialisedRead,
}

impl Property {
    pub const ALL: [Property; 4] = [
        Property::ProgramSpec,
        Property::NoDataRace,
        Property::Termination,
        Property::NoUninitialisedRead,
    ];

    /// The name that Dartagnan gives it; of races, that of the competition of verifiers.
    pub fn name(self) -> &'static str {
        match self {
            Property::ProgramSpec => "program_spec",
            Property::Termination => "termination",
            Property::NoDataRace => "no-data-race",
            Property::NoUninitialisedRead => "no-uninitialised-read",
        }
    }

    /// Whether it is about the outcomes of a test: others are not looked for.
    pub fn is_of_outcomes(self) -> bool {
        self == Property::ProgramSpec
    }

    /// The name, where it is not the one that every report is about unless it says so.
    pub fn stated(self) -> Option<&'static str> {
        (self != Property::default()).then(|| self.name())
    }
}

/// How often a loop body is executed, where the caller does not say it.
pub const BOUND: u32 = 2;

/// How to judge.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Task<'a> {
    pub model: &'a Model,
    /// What judges tests of C++; `None` leaves them to `model`.
    pub cxx: Option<&'a Model>,
    /// At least one; all have to agree.
    pub engines: Vec<&'a dyn Engine>,
    pub bound: u32,
    /// For each test and engine, of the time of its thread. What follows from a verdict has what is left of it.
    pub timeout: Option<Duration>,
    /// When all searches end, whatever time each has.
    pub until: Option<Deadline>,
    /// In bytes, for each test and engine.
    pub memory: usize,
    /// What the verdict is about. For other properties than the condition, no outcomes are looked for.
    pub property: Property,
    /// Find the verdict alone, not all outcomes: see [`crate::directed`].
    pub verdict_only: bool,
    /// Look at every execution, which engines that count then count; otherwise, if there are more than a few, each
    /// outcome is looked for once: see [`crate::directed::outcomes`].
    pub counts: bool,
    /// Run one engine after another with growing limits of work, until one comes to an end, instead of all.
    pub portfolio: bool,
    /// How much work a search may do: see [`Limits::work`].
    pub work: Option<u64>,
    /// Whether to judge `Forbidden-by=` and `Readings=` too.
    pub blame: bool,
    /// The model under other readings; none where it has none to switch.
    pub alternatives: &'a [Alternative],
    /// Whether to find out which readings each verdict rests on.
    pub rests: bool,
    /// Whether to list every data race; otherwise those of the executions that were looked at are known.
    pub races: bool,
}

impl<'a> Task<'a> {
    /// Judges by one model with the enumerating engine, which looks at every execution: loop bodies twice at most,
    /// no limit of time, and [`engine::MEMORY`] for each test.
    ///
    /// ```
    /// use judge::{Observation, Task, Verdict, judge};
    ///
    /// let test = litmus::parse(
    ///     "MP.litmus",
    ///     br#"PTX MP
    /// {
    /// x=0; flag=0;
    /// }
    ///  P0@cta 0,gpu 0           | P1@cta 1,gpu 0              ;
    ///  st.weak.u32 [x], 1       | ld.acquire.gpu.u32 r0, [flag] ;
    ///  st.release.gpu.u32 [flag], 1 | ld.weak.u32 r1, [x]      ;
    /// exists (1:r0=1 /\ 1:r1=0)
    /// "#,
    /// )
    /// .expect("the test is well formed");
    /// let model = model::ptx::model();
    /// let judgement = judge(&test, &Task::new(&model));
    /// assert_eq!(judgement.verdict, Verdict::Fails);
    /// assert_eq!(judgement.observation, Some(Observation::Never));
    /// assert_eq!(judgement.found.outcomes.len(), 3);
    /// ```
    pub fn new(model: &'a Model) -> Task<'a> {
        Task {
            model,
            cxx: None,
            engines: vec![ENGINES[0]],
            bound: BOUND,
            timeout: None,
            until: None,
            memory: MEMORY,
            property: Property::ProgramSpec,
            verdict_only: false,
            counts: true,
            portfolio: false,
            work: None,
            blame: false,
            alternatives: &[],
            rests: false,
            races: false,
        }
    }

    /// The model that a test is judged under.
    pub fn model_of(&self, test: &Test) -> &'a Model {
        let cxx = self.cxx.filter(|_| test.dialect == Dialect::Cxx);
        cxx.unwrap_or(self.model)
    }

    /// The same, with one end for all questions about a test from now on.
    pub(crate) fn ending(&self) -> Task<'a> {
        // Engines that take turns share one limit.
        let searches = if self.portfolio { 1 } else { self.engines.len() };
        let searches = u32::try_from(searches).unwrap_or(1);
        let own = self.timeout.map(|timeout| Deadline::after(timeout * searches));
        Task { until: own.map_or(self.until, |own| Some(own.or(self.until))), ..self.clone() }
    }

    /// What a search that begins now has.
    pub fn limits(&self) -> Limits {
        let own = self.timeout.map(Deadline::after);
        let deadline = own.map_or(self.until, |own| Some(own.or(self.until)));
        Limits { bound: self.bound, deadline, memory: self.memory, unending: true, work: self.work }
    }
}
