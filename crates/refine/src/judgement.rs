//! Compares a source and its target in one context after another: the loop that rows and functions share, and
//! its answer in words.

use std::fmt::Write;

use engine::Limit;
use execution::path::MISALIGNED;
use model::program::Program;
use model::value::Value;

use super::context::Context;
use super::language::{PTX, SourceId};
use super::refiner::{Blame, ContextResult, EngineRun, LimitText, Refiner};
use super::rounding::all_near;
use super::verdict::{Finding, Refuter, Verdict};

/// A source and its target, in contexts.
pub(crate) trait Refinement<'a> {
    /// The reason why a context cannot be made.
    type Error;

    fn refiner(&self) -> Refiner<'a>;

    fn language(&self) -> SourceId;

    /// Sets whether accesses may be torn from now on.
    fn set_torn(&mut self, torn: bool);

    fn torn(&self) -> bool;

    /// The program of the source, or of the target (`lowered`); `None` if the target has no such context.
    fn program(&mut self, context: &Context, lowered: bool)
    -> Result<Option<Program>, Self::Error>;

    /// The bits of the observed values that are compared; empty if all bits are.
    fn masks(&self, _program: &Program) -> Vec<Value> {
        Vec::new()
    }

    /// A context in words.
    fn words(&self, context: &Context) -> String;

    /// An outcome in words.
    fn outcome(&self, program: &Program, outcome: &[Value]) -> String;

    /// A side in a context as a litmus test that states whether the outcome occurs.
    fn test(&mut self, context: &Context, lowered: bool, outcome: &[Value]) -> Option<String>;

    /// The smallest change of the target that removes the outcome: its line and the change in words.
    fn missing(&mut self, _context: &Context, _sides: [&Program; 2]) -> Option<(usize, String)> {
        None
    }

    /// Whether some location has two virtual addresses in a context.
    fn has_names(&self, _context: &Context) -> bool {
        false
    }

    fn engine_run<'p>(&self, program: &'p Program, lowered: bool) -> EngineRun<'p>
    where
        'a: 'p,
    {
        let language = if lowered { self.target_language() } else { self.language() };
        let model = self.refiner().model(language, self.torn());
        EngineRun { model, program, masks: self.masks(program) }
    }

    /// The language whose model the target has.
    fn target_language(&self) -> SourceId {
        PTX
    }

    /// Whether the target adds an outcome in a context.
    fn ask(&mut self, context: &Context) -> Result<ContextResult, Self::Error> {
        let Some(source) = self.program(context, false)? else { return Ok(ContextResult::Absent) };
        let Some(target) = self.program(context, true)? else { return Ok(ContextResult::Absent) };
        Ok(self.compare(&source, &target))
    }

    /// The same for existing programs.
    fn compare(&self, source: &Program, target: &Program) -> ContextResult {
        let source = self.engine_run(source, false);
        match self.refiner().allowed(&source) {
            Ok(allowed) => {
                let run = self.engine_run(target, true);
                let found = self.refiner().compare(&allowed, Some(&source), &run);
                if !matches!(found, ContextResult::TargetUndefined(_))
                    || self.target_language() == PTX
                {
                    return found;
                }
                // A pass over LLVM IR may load in a race if it ignores the value. PTX defines what is loaded.
                let model = self.refiner().model(PTX, self.torn());
                self.refiner().compare(&allowed, Some(&source), &EngineRun { model, ..run })
            }
            Err(why) => ContextResult::Undecided(why),
        }
    }
}

/// The numbers of contexts by their results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Contexts in which no outcome is added.
    pub checked: usize,
    /// Contexts in which the source is undefined.
    pub source_racy: usize,
    /// Contexts in which the published mapping of the source adds an outcome too.
    pub withdrawn: usize,
    /// Contexts in which an outcome is added that only the syntactic dependencies of the source forbid.
    pub syntactic: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.checked += other.checked;
        self.source_racy += other.source_racy;
        self.withdrawn += other.withdrawn;
        self.syntactic += other.syntactic;
    }
}

/// A context and an outcome that the target adds there.
#[expect(clippy::struct_excessive_bools, reason = "what is known of an outcome is yes or no")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    pub context: String,
    pub outcome: String,
    /// Whether the outcome needs no other thread: the target computes a different value.
    pub alone: bool,
    /// Whether some location has two virtual addresses in the context.
    pub aliased: bool,
    pub blame: Blame,
    /// Whether an access is torn.
    pub torn: bool,
    /// Whether weak accesses of the source race in the context. If so, no outcome without such a race was
    /// found.
    pub racy: bool,
    /// Whether the source allows an outcome that differs from this one only as rounded floats do.
    pub rounded: bool,
    /// The part that one instruction of the target lacks, and its line.
    pub missing: Option<(usize, String)>,
    /// Litmus tests: the source's thread, where the outcome is forbidden, and the target's, where it
    /// is allowed.
    pub forbidden: Option<String>,
    pub allowed: Option<String>,
}

/// The result of all contexts together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Included(Tally),
    Refuted(Box<Refutation>),
    /// The target is undefined in this context and its source is defined; the reason.
    Undefined {
        why: String,
        context: String,
    },
    /// An engine did not finish in every context.
    Undecided {
        why: &'static str,
        /// The number of contexts that show no added outcome, and of all contexts.
        done: usize,
        of: usize,
    },
}

/// The results so far, in all contexts of all choices of arguments.
#[derive(Default)]
pub(crate) struct ContextSearch {
    pub(crate) tally: Tally,
    /// A refutation with a race. One without a race is the better witness.
    racy: Option<Refutation>,
    undefined: Option<(String, String)>,
    /// The line at which the target faults and the source does not. That is undefined behaviour of the target, too.
    pub(crate) fault: Option<(u16, Context)>,
    limit: Option<LimitText>,
    /// The number of contexts so far.
    contexts: usize,
    /// How many were postponed and are not tried again.
    pub(crate) given_up: usize,
    /// If given, contexts that reach the limit of time or work are postponed: their indices are added.
    pub(crate) postponed: Option<Vec<usize>>,
}

impl ContextSearch {
    /// Compares in every context, first without torn accesses and then, if `may_tear`, with them. The first
    /// outcome that needs no race ends the search. It is returned with the index of its context.
    pub(crate) fn judge<'a, R: Refinement<'a>>(
        &mut self,
        case: &mut R,
        contexts: &[Context],
        may_tear: bool,
    ) -> Result<Option<(Refutation, usize)>, R::Error> {
        let mut tally = Tally::default();
        self.contexts += contexts.len();
        let mut postponed: Vec<usize> = Vec::new();
        for torn in [false, true].into_iter().filter(|torn| may_tear || !torn) {
            case.set_torn(torn);
            // The tally is that of the last pass.
            tally = Tally::default();
            for (at, context) in contexts.iter().enumerate() {
                if case.refiner().is_over() {
                    self.limit.get_or_insert(Limit::Time.text());
                    break;
                }
                match case.ask(context)? {
                    ContextResult::Absent => {}
                    ContextResult::Nothing => tally.checked += 1,
                    ContextResult::SourceUndefined => tally.source_racy += 1,
                    ContextResult::Withdrawn => tally.withdrawn += 1,
                    ContextResult::Undecided(why)
                        if self.postponed.is_some()
                            && (why == Limit::Work.text() || why == Limit::Time.text()) =>
                    {
                        postponed.push(at);
                    }
                    ContextResult::Undecided(why) => self.limit = self.limit.or(Some(why)),
                    ContextResult::Faults(line) => {
                        self.fault.get_or_insert_with(|| (line, context.clone()));
                        let why = MISALIGNED.to_owned();
                        self.undefined.get_or_insert_with(|| (why, case.words(context)));
                    }
                    ContextResult::TargetUndefined(why) => {
                        self.undefined.get_or_insert_with(|| (why, case.words(context)));
                    }
                    ContextResult::Extra { racy: true, .. } if self.racy.is_some() => {}
                    ContextResult::Extra { outcome, racy } => {
                        match refutation(case, context, &outcome, racy)? {
                            None => tally.syntactic += 1,
                            Some(found) if racy => self.racy = Some(found),
                            Some(found) => return Ok(Some((found, at))),
                        }
                    }
                }
            }
        }
        case.set_torn(false);
        self.tally.add(tally);
        if let Some(all) = &mut self.postponed {
            postponed.sort_unstable();
            postponed.dedup();
            self.contexts -= postponed.len();
            all.append(&mut postponed);
        }
        Ok(None)
    }

    /// The answer if no refutation without a race was found.
    pub(crate) fn answer(self) -> Answer {
        if let Some((why, context)) = self.undefined {
            Answer::Undefined { why, context }
        } else if let Some(racy) = self.racy {
            Answer::Refuted(Box::new(racy))
        } else if let Some(why) = self.limit {
            let Tally { checked, source_racy, withdrawn, syntactic } = self.tally;
            let done = checked + source_racy + withdrawn + syntactic;
            Answer::Undecided { why, done, of: self.contexts }
        } else {
            Answer::Included(self.tally)
        }
    }
}

/// The refutation for an outcome that the target adds; `None` if only syntactic dependencies forbid it.
fn refutation<'a, R: Refinement<'a>>(
    case: &mut R,
    context: &Context,
    outcome: &[Value],
    racy: bool,
) -> Result<Option<Refutation>, R::Error> {
    let (Some(source), Some(target)) =
        (case.program(context, false)?, case.program(context, true)?)
    else {
        return Ok(None);
    };
    let aliased = case.has_names(context);
    // What a thread does with two names of a location is a question of order.
    let alone = context.is_alone() && !aliased;
    let blame = if alone {
        Blame::Values
    } else {
        case.refiner().blame(&case.engine_run(&source, false), outcome)
    };
    let syntactic = case.language().syntactic_axiom();
    let only = |axiom: &str| matches!(&blame, Blame::Axioms(axioms) if axioms == &[axiom]);
    // Others may forbid it too, but only together.
    let needed = |axiom: &str| {
        only(axiom) && case.refiner().needs(axiom, &case.engine_run(&source, false), outcome)
    };
    if syntactic.is_some_and(needed) {
        return Ok(None);
    }
    let tested = !alone;
    let rounded = tested && blame == Blame::Values && {
        let allowed = case.refiner().allowed(&case.engine_run(&source, false));
        allowed.is_ok_and(|all| all.outcomes.iter().any(|ours| all_near(ours, outcome, false)))
    };
    Ok(Some(Refutation {
        context: case.words(context),
        outcome: case.outcome(&target, outcome),
        alone,
        aliased,
        blame,
        torn: case.torn(),
        racy,
        rounded,
        missing: if tested { case.missing(context, [&source, &target]) } else { None },
        forbidden: if tested { case.test(context, false, outcome) } else { None },
        allowed: if tested { case.test(context, true, outcome) } else { None },
    }))
}

impl Refutation {
    /// The finding. `target` states what allows the outcome.
    pub(crate) fn finding(self, target: &str, by: Refuter) -> Finding {
        let Refutation { context, outcome, forbidden, allowed, racy, rounded, .. } = self;
        let (context, outcome) = (Some(context), Some(outcome));
        if self.alone {
            let why = "run alone, the target leaves a final state that the source does not";
            return Finding { context, outcome, ..Finding::new(Verdict::WrongValue, why) };
        }
        let (blamed, axioms) = match self.blame {
            _ if self.torn => ("single-copy atomicity: an access is torn".to_owned(), Vec::new()),
            Blame::Values => {
                ("its values: no execution of the source has them".to_owned(), Vec::new())
            }
            Blame::Axioms(axioms) if axioms.is_empty() => {
                ("several axioms of the source's model together".to_owned(), axioms)
            }
            Blame::Axioms(axioms) => (axioms.join(", and by one axiom alone: "), axioms),
        };
        let why = format!("{target} allows what is forbidden by {blamed}");
        let by = Some(by);
        Finding {
            racy,
            rounded,
            by,
            context,
            outcome,
            forbidden,
            allowed,
            axioms,
            ..Finding::new(Verdict::Weaker, why)
        }
    }
}

/// The finding if some contexts were not decided, with what the others say.
pub(crate) fn undecided(why: &str, done: usize, of: usize) -> Finding {
    Finding::new(Verdict::Undecided, format!("{why}: {done} of {of} contexts add no outcome"))
}

/// The finding for a target that is undefined where its source is defined.
pub(crate) fn undefined(why: &str, context: String) -> Finding {
    let why = format!("the target is undefined where the source is defined: {why}");
    Finding { context: Some(context), ..Finding::new(Verdict::Outside, why) }
}

/// The finding if no outcome is added. `sufficient` would suffice too.
pub(crate) fn included(tally: Tally, more: &str, sufficient: Option<String>) -> Finding {
    let Tally { checked, source_racy, withdrawn, syntactic } = tally;
    // Where the source is undefined, any target would do: that is not evidence for this one.
    let compared = checked > 0 || (source_racy == 0 && withdrawn == 0);
    let mut why = if compared {
        format!("no outcome is added in {checked} contexts")
    } else {
        "no outcome was compared in any context".to_owned()
    };
    let mut count = |count: usize, before: &str, after: &str| {
        if count > 0 {
            write!(why, "; {before}{count} {after}").expect("a string takes it");
        }
    };
    count(source_racy, "in ", "the source races");
    count(withdrawn, "", "withdrawn, where the published mapping adds one too");
    why.push_str(more);
    if !compared {
        return Finding::new(Verdict::Outside, why);
    }
    let verdict = if sufficient.is_some() { Verdict::Stronger } else { Verdict::Preserved };
    let mut finding = Finding { sufficient, ..Finding::new(verdict, why) };
    if syntactic > 0 {
        let text = "an outcome is added that only the syntactic dependencies of the source forbid";
        finding.notes.push(format!("in {syntactic} contexts {text}"));
    }
    finding
}
