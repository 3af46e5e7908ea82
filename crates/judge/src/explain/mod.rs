//! Why an outcome is allowed, or what each candidate with it breaks.

mod apart;
mod bypass;
pub mod candidate;
mod graph;
mod in_flight;
mod meeting;
mod note;
mod open;
mod refute;
mod show;
mod undefined;
mod unrelated;

use std::io::{self, Write};

use engine::MEMORY;
use engine::clock::Deadline;
use engine::exit::Exit;
use engine::outcome::DATA_RACE;
use engine::witness::{ChosenRows, Witness, WitnessEvent, shown};
use execution::unfold::Unfolding;
use execution::values::Values;
use litmus::{Quantifier, Test};
use model::bits::{BitRel, BitRow};
use model::program::{Stays, Stuck};
use model::reading::Readings;
use model::rel::{Model, NodeId};
use picture::graph::ExecutionGraph;
use text::escape::escaped;

use self::candidate::{Candidate, Visitor, WantedCandidates, candidates, shows, undefines};
use self::note::UnorderedRead;
use self::open::{Edge, Opener};
use crate::alternative::alternatives;
use crate::headline::Headline;
use crate::judge::judge;
use crate::judgement::{Judgement, LargerBound, Resting};
use crate::larger::larger_bound;
use crate::search::asked_model;
use crate::task::{BOUND, Property, Task};
use crate::verdict::{Observation, Verdict};
use crate::words::{undefined_places, with_threads};

pub use self::refute::refute;
pub use self::undefined::broken_rule;

/// How much to show.
#[derive(Clone, Copy, Debug)]
pub struct ExplainOptions {
    pub bound: u32,
    /// When all searches end: that of the engine, and that of the candidates.
    pub until: Option<Deadline>,
    pub memory: usize,
    /// How many candidates are looked at, at most, by the engine and again for the explanation.
    pub work: Option<u64>,
    /// Also open definitions that add nothing.
    pub deep: bool,
    /// Relations of the model whose pairs are shown, too.
    pub show: [Option<NodeId>; SHOWN_RELATIONS],
    /// The readings of the model, where it is the built-in one: what rests on them is marked.
    pub readings: Option<Readings>,
    /// What the answer is about.
    pub property: Property,
    /// Whether the condition is a question, so that nothing is expected.
    pub asked: bool,
}

impl Default for ExplainOptions {
    /// As text, by the built-in model of PTX with its own readings.
    fn default() -> ExplainOptions {
        ExplainOptions {
            bound: BOUND,
            until: None,
            memory: MEMORY,
            work: None,
            deep: false,
            show: [None; SHOWN_RELATIONS],
            readings: Some(Readings::default()),
            property: Property::ProgramSpec,
            asked: false,
        }
    }
}

/// How many relations can be shown.
pub const SHOWN_RELATIONS: usize = 8;

/// The maximum number of examined candidates; the explanation states if there are more.
const MAX_CANDIDATES: usize = 5_000;

/// What there is to say of a test.
pub struct Explanation {
    /// In words; each line ends with a line feed.
    pub text: String,
    /// One candidate for each part of the text: the allowed execution, or one for each set of broken axioms. Empty
    /// if no candidate has the outcome, or a limit was reached.
    pub graphs: Vec<ExecutionGraph>,
    /// Why accesses of the allowed execution are not ordered that seem to be, a sentence each.
    pub reasons: Vec<String>,
    /// `None` for a test with an instruction that the model does not cover.
    pub judgement: Option<Judgement>,
    pub headline: Headline,
    pub exit: Exit,
}

/// Explains one test in words.
pub fn explain(
    test: &Test,
    model: &Model,
    options: ExplainOptions,
    out: &mut dyn Write,
) -> io::Result<Exit> {
    let explanation = explanation(test, model, options)?;
    out.write_all(explanation.text.as_bytes())?;
    Ok(explanation.exit)
}

/// Explains one test in words and as graphs.
///
/// # Errors
///
/// None in practice: the text is written to memory.
pub fn explanation(test: &Test, model: &Model, options: ExplainOptions) -> io::Result<Explanation> {
    let mut out = Vec::new();
    let written = |out: Vec<u8>| String::from_utf8_lossy(&out).into_owned();
    if let Some((thread, line, why)) = test.program.unsupported() {
        let of = &test.program.threads[usize::from(thread.0)];
        let (name, instruction) = (&of.name, &of.lines[line].text);
        writeln!(out, "Unsupported: {why}")?;
        writeln!(out, "  {name}: `{instruction}`")?;
        let exit = Exit::AsExpected;
        return Ok(Explanation {
            text: written(out),
            graphs: Vec::new(),
            reasons: Vec::new(),
            judgement: None,
            headline: Headline::unsupported(why),
            exit,
        });
    }
    let alternatives = options.readings.map_or(Vec::new(), alternatives);
    let task = Task {
        bound: options.bound,
        memory: options.memory,
        property: options.property,
        counts: false,
        work: options.work,
        until: options.until,
        alternatives: &alternatives,
        rests: true,
        races: true,
        ..Task::new(model)
    };
    let mut judgement = judge(test, &task);
    judgement.larger = larger_bound(test, &task, &judgement);
    let headline = Headline::new(test, &judgement);
    let limits = task.limits();
    let asked = asked_model(options.property, model);
    let model = asked.as_ref().unwrap_or(model);
    let mut survey = Survey::new(model, options);
    survey.resting = judgement.resting.clone().unwrap_or_default();
    survey.wanted = match (&judgement.verdict, options.property) {
        (Verdict::Undefined(reason), _) => WantedCandidates::Undefined(reason),
        (Verdict::Stuck(_), _) | (_, Property::Termination) => WantedCandidates::Stuck,
        (_, Property::NoDataRace) => WantedCandidates::Undefined(DATA_RACE),
        (_, Property::NoUninitialisedRead) => WantedCandidates::UninitialisedRead,
        (_, Property::ProgramSpec) => WantedCandidates::Outcome,
    };
    let complete = match candidates(test, model, survey.wanted, &limits, &mut survey) {
        Ok(complete) => complete,
        Err(limit) => {
            writeln!(out, "Undecided: {}.", limit.text())?;
            return Ok(Explanation {
                text: written(out),
                graphs: Vec::new(),
                reasons: Vec::new(),
                judgement: Some(judgement),
                headline,
                exit: Exit::Undecided,
            });
        }
    };
    let threads: Vec<String> = test.program.threads.iter().map(|t| t.name.clone()).collect();
    // Other accounts begin with these words.
    if matches!(judgement.verdict, Verdict::Holds | Verdict::Fails) {
        let expectation =
            if options.asked { String::new() } else { format!(", {}", headline.expectation()) };
        writeln!(out, "{headline}{expectation}.")?;
        test.doc.iter().try_for_each(|line| writeln!(out, "  \"{}\"", escaped(line)))?;
    }
    account_of(test, &judgement, &survey, complete, &threads, &mut out)?;
    let graphs = survey.graphs(test, &judgement);
    let exit = match judgement.verdict {
        Verdict::Undecided(_) => Exit::Undecided,
        Verdict::Holds
        | Verdict::Fails
        | Verdict::Undefined(_)
        | Verdict::Stuck(_)
        | Verdict::Unsupported(_) => Exit::AsExpected,
    };
    let reasons = survey.allowed.as_ref().map_or(Vec::new(), ExplainedCandidate::reasons);
    let words = written(out);
    Ok(Explanation { text: words, graphs, reasons, judgement: Some(judgement), headline, exit })
}

/// The verdict in words, with the executions that show it.
fn account_of(
    test: &Test,
    judgement: &Judgement,
    survey: &Survey<'_>,
    complete: bool,
    threads: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    match &judgement.verdict {
        Verdict::Undefined(reason) => {
            writeln!(out, "Undefined: {reason}. {}", undefined::text(reason))?;
            if let Some(undefined) = &judgement.found.seen.undefined {
                for place in undefined_places(test, undefined) {
                    writeln!(out, "  {place}")?;
                }
            }
            for note in &judgement.notes {
                writeln!(out, "note: {}", note.text)?;
            }
            survey.tell_readings(out)?;
            return survey.undefining(test, reason, threads, out);
        }
        Verdict::Undecided(reason) if survey.allowed.is_none() => {
            let what = show::proposition(test);
            writeln!(out, "Undecided: {reason}.")?;
            if !judgement.property.is_of_outcomes() {
                return Ok(());
            }
            if judgement.found.limit.is_some() {
                writeln!(out, "No execution with the outcome {what} was found before.")?;
            } else {
                writeln!(out, "Within this bound no execution has the outcome {what}.")?;
            }
            if judgement.found.seen.is_endless() {
                for note in &judgement.notes {
                    writeln!(out, "note: {}", note.text)?;
                }
                writeln!(
                    out,
                    "No value of --bound is large enough for this: `causeway explore` shows whether some run ends."
                )?;
            }
            match judgement.larger {
                Some(LargerBound::Decides(bound)) => writeln!(out, "--bound {bound} decides it.")?,
                Some(LargerBound::Leaves(last)) => {
                    writeln!(out, "No --bound up to {last} decides it.")?;
                }
                Some(LargerBound::Unknown) => {
                    writeln!(out, "Whether a larger --bound decides it is not known.")?;
                }
                None => {}
            }
            return Ok(());
        }
        Verdict::Stuck(reason) => {
            writeln!(out, "Stuck: {reason}.")?;
            survey.tell_readings(out)?;
            let Some(account) = &survey.allowed else { return Ok(()) };
            writeln!(out)?;
            return allowed(test, account, threads, out);
        }
        Verdict::Holds | Verdict::Fails | Verdict::Unsupported(_) | Verdict::Undecided(_) => {}
    }
    match judgement.property {
        Property::ProgramSpec => survey.tell(test, judgement, complete, threads, out)?,
        Property::Termination | Property::NoDataRace | Property::NoUninitialisedRead => {
            survey.tell_readings(out)?;
            survey.undefining(test, DATA_RACE, threads, out)?;
        }
    }
    for (index, note) in judgement.notes.iter().enumerate() {
        let apart = if index == 0 { "\n" } else { "" };
        writeln!(out, "{apart}note: {}", note.text)?;
    }
    show::races(test, judgement, out)
}

/// An execution that keeps every axiom.
fn allowed(
    test: &Test,
    account: &ExplainedCandidate,
    threads: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    let outcome = test.display_outcome(&account.witness.outcome);
    let outcome = with_threads(outcome.trim_end_matches([';', ' ']));
    let ends =
        if outcome.is_empty() { account.stops.to_owned() } else { format!(" ends with {outcome}") };
    writeln!(out, "An execution that keeps every axiom{ends}:")?;
    let letters = account.letters();
    show::events(&account.witness, threads, &letters, Some(test), out)?;
    let mut relations = Vec::new();
    show::relations(&account.witness, &letters, &mut relations)?;
    show::named(&account.shown, &letters, &mut relations)?;
    if !relations.is_empty() {
        writeln!(out)?;
    }
    out.write_all(&relations)?;
    if !(account.notes.is_empty() && account.unseen.is_empty()) {
        writeln!(out)?;
    }
    account.notes.iter().try_for_each(|note| writeln!(out, "  {note}"))?;
    account.unseen.iter().try_for_each(|note| writeln!(out, "  {note}"))
}

/// One account of a candidate, ready to print.
struct ExplainedCandidate {
    witness: Witness,
    /// For each broken axiom: its index and the violation.
    violations: Vec<(usize, Vec<Edge>)>,
    /// Of an allowed execution.
    notes: Vec<UnorderedRead>,
    /// Of an allowed execution: why reads miss writes that asynchronous operations or proxies do not order.
    unseen: Vec<String>,
    /// How far an execution comes that does not finish; empty for others.
    stops: &'static str,
    /// Of an allowed execution: the pairs that a flag of the model is raised for, each once, with the index of the flag.
    flagged: Vec<(usize, usize, usize)>,
    /// The relations that are requested, by name.
    shown: Vec<(String, Vec<(usize, usize)>)>,
}

/// The name of a relation that has one.
fn name_of(model: &Model, node: NodeId) -> String {
    match model.definition_of(node) {
        Some(definition) => definition.name.clone(),
        None => model.node(node).primitive_name().unwrap_or("relation").to_owned(),
    }
}

impl ExplainedCandidate {
    fn letters(&self) -> show::Letters {
        if self.violations.is_empty() || !self.shown.is_empty() {
            show::all_letters(&self.witness)
        } else {
            show::letters(&self.violations)
        }
    }
}

/// Whether a model is one of the document, whose sections its relations have.
fn cites(model: &Model) -> bool {
    model.axioms.iter().any(|axiom| axiom.section.is_some())
}

/// What a thread does for ever, as the last of its events.
fn stays(u: &Unfolding<'_>, stuck: &Stuck) -> WitnessEvent {
    let thread = &u.program.threads[usize::from(stuck.thread.0)];
    WitnessEvent {
        thread: Some(stuck.thread),
        text: thread.lines[usize::from(stuck.line)].text.clone(),
        kind: match stuck.why {
            Stays::Waits => show::WAITS,
            Stays::Loops => show::LOOPS,
            Stays::Faults => show::FAULTS,
        },
        location: None,
        value: None,
        phase: None,
        line: stuck.line,
        scope: None,
    }
}

/// Several pairs of events may have one reason.
fn each_once(reasons: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for reason in reasons {
        if !all.contains(&reason) {
            all.push(reason);
        }
    }
    all
}

/// The pairs of the flags, each in one direction.
fn flagged<R: BitRow>(model: &Model, nodes: &[BitRel<R>]) -> Vec<(usize, usize, usize)> {
    let mut all = Vec::new();
    for (flag, of) in model.flags.iter().enumerate() {
        let relation = &nodes[usize::from(of.node.0)];
        let first = |&(from, to): &(usize, usize)| from <= to || !relation.has(to, from);
        all.extend(relation.pairs().filter(first).map(|(from, to)| (flag, from, to)));
    }
    all
}

/// What all candidates amount to.
impl ExplainedCandidate {
    /// Why accesses are not ordered that seem to be.
    fn reasons(&self) -> Vec<String> {
        let notes = self.notes.iter().map(ToString::to_string);
        notes.chain(self.unseen.iter().cloned()).collect()
    }
}

struct Survey<'t> {
    model: &'t Model,
    deep: bool,
    show: [Option<NodeId>; SHOWN_RELATIONS],
    count: usize,
    allowed: Option<ExplainedCandidate>,
    /// For each set of broken axioms, how many candidates break just these, and one of them.
    forbidden: Vec<(Vec<usize>, usize, ExplainedCandidate)>,
    resting: Resting,
    wanted: WantedCandidates<'t>,
}

impl<'t> Survey<'t> {
    fn new(model: &'t Model, options: ExplainOptions) -> Survey<'t> {
        Survey {
            model,
            deep: options.deep,
            show: options.show,
            count: 0,
            allowed: None,
            forbidden: Vec::new(),
            resting: Resting::default(),
            wanted: WantedCandidates::Outcome,
        }
    }
}

impl Visitor for Survey<'_> {
    fn candidate<R: BitRow>(&mut self, candidate: &Candidate<'_, R>) -> bool {
        self.count += 1;
        if self.wanted != WantedCandidates::Outcome {
            if candidate.broken.is_empty() && shows(self.wanted, self.model, candidate) {
                self.allowed = Some(self.account(candidate));
            }
            return self.allowed.is_none() && self.count < MAX_CANDIDATES;
        }
        let known = self.forbidden.iter_mut().find(|(broken, ..)| broken == candidate.broken);
        if let Some((_, count, _)) = known {
            *count += 1;
        } else {
            let account = self.account(candidate);
            if candidate.broken.is_empty() {
                self.allowed = Some(account);
            } else {
                self.forbidden.push((candidate.broken.to_vec(), 1, account));
            }
        }
        // An allowed candidate is all there is to show.
        self.allowed.is_none() && self.count < MAX_CANDIDATES
    }
}

impl Survey<'_> {
    fn account<R: BitRow>(&self, candidate: &Candidate<'_, R>) -> ExplainedCandidate {
        let chosen = ChosenRows {
            rf: &candidate.rf.rows,
            co: &candidate.co.rows,
            fr: &candidate.fr.rows,
            fsc: &candidate.fsc.rows,
        };
        let mut witness =
            Witness::new(candidate.structure, candidate.sources, &chosen, candidate.outcome);
        let u = candidate.structure.unfolding;
        let mut values = Values::new(u, candidate.sources);
        for &(read, value) in candidate.known {
            values.suppose(read, value);
        }
        for (event, of) in witness.events.iter_mut().enumerate() {
            *of = shown(u, event, &mut values);
        }
        witness.events.extend(u.stuck().iter().map(|stuck| stays(u, stuck)));
        let mut opener = Opener::new(self.model, candidate.nodes, self.deep);
        let violations = candidate
            .broken
            .iter()
            .map(|&axiom| {
                let mut edges = opener.violation(self.model.axioms[axiom].constraint);
                if !cites(self.model) {
                    open::without_sections(&mut edges);
                }
                (axiom, edges)
            })
            .collect();
        let wanted = note::wanted_orders(self.model, candidate, self.wanted);
        let notes = if candidate.broken.is_empty() {
            note::unordered(self.model, candidate, &wanted)
        } else {
            Vec::new()
        };
        let (flagged, unseen) = if candidate.broken.is_empty() {
            let reasons = bypass::unseen(self.model, candidate, &wanted)
                .into_iter()
                .chain(in_flight::waits(self.model, candidate))
                .chain(apart::unordered(self.model, candidate));
            let mut unseen = each_once(reasons);
            if notes.is_empty() && unseen.is_empty() {
                unseen = each_once(bypass::of_two_ctas(self.model, candidate).into_iter());
            }
            if notes.is_empty() && unseen.is_empty() {
                unseen = unrelated::strangers(self.model, candidate, &wanted).into_iter().collect();
            }
            (flagged(self.model, candidate.nodes), unseen)
        } else {
            (Vec::new(), Vec::new())
        };
        let named = |node: NodeId| {
            let relation = &candidate.nodes[usize::from(node.0)];
            (name_of(self.model, node), relation.pairs().collect())
        };
        let shown = self.show.into_iter().flatten().map(named).collect();
        let stops = if u.fault().is_some() {
            ", before this instruction"
        } else if u.is_stuck() {
            ", up to where it is stuck"
        } else {
            ""
        };
        ExplainedCandidate { witness, violations, notes, unseen, stops, flagged, shown }
    }

    fn tell(
        &self,
        test: &Test,
        judgement: &Judgement,
        complete: bool,
        threads: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let what = show::proposition(test);
        if let Some(account) = &self.allowed {
            let (positive, negative) = (judgement.positive, judgement.negative);
            // The execution that is shown is a counterexample of `forall`.
            let (shown, others) = match test.quantifier {
                Quantifier::ForAll => (negative, positive),
                Quantifier::Exists | Quantifier::NotExists => (positive, negative),
            };
            let observation = if others == 0 && judgement.observation.is_some() {
                Observation::Always
            } else {
                Observation::Sometimes
            };
            writeln!(out, "{} {shown}/{}: {what}.", observation.name(), shown + others)?;
            self.tell_readings(out)?;
            return allowed(test, account, threads, out);
        }
        if self.count == 0 && judgement.found.seen.stuck.is_some() {
            writeln!(out, "Never: {what}.\nNo execution that finishes has these values.")?;
            return self.tell_readings(out);
        }
        self.tell_never(test, &what, complete, threads, out)
    }

    /// An execution that leaves the program undefined for this reason, if one that was looked at does.
    fn undefining(
        &self,
        test: &Test,
        reason: &str,
        threads: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(account) = &self.allowed else { return Ok(()) };
        let raised = account.flagged.iter();
        let raised = raised.filter(|&&(flag, ..)| undefines(&self.model.flags[flag], reason));
        let raised: Vec<(usize, usize)> = raised.map(|&(_, from, to)| (from, to)).collect();
        writeln!(out)?;
        allowed(test, account, threads, out)?;
        if raised.is_empty() {
            return Ok(());
        }
        show::named(&[(reason.to_owned(), raised)], &account.letters(), out)
    }

    fn tell_never(
        &self,
        test: &Test,
        what: &str,
        complete: bool,
        threads: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.count == 0 {
            let passes = if test.filter.is_some() { " and passes the filter" } else { "" };
            writeln!(
                out,
                "Never: {what}.\nNo choice of writes for the reads gives these values{passes}, under any model."
            )?;
            return self.tell_readings(out);
        }
        self.tell_forbidden(test, what, complete, threads, out)
    }

    fn tell_forbidden(
        &self,
        _: &Test,
        what: &str,
        complete: bool,
        threads: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let at_least = if complete { "" } else { "first " };
        let count = self.count;
        let all = match (count, self.forbidden.len()) {
            (1, _) => "The one candidate with this outcome breaks".to_owned(),
            (_, 1) => format!("Each of the {at_least}{count} candidates with this outcome breaks"),
            _ => format!(
                "Each of the {at_least}{count} candidates with this outcome breaks an axiom"
            ),
        };
        writeln!(out, "Never: {what}.")?;
        if let [(broken, _, account)] = self.forbidden.as_slice() {
            let one = if count > 1 { "; one of them" } else { "" };
            let names = self.names(broken);
            let long = all.len() + names.len() + one.len() > 98;
            writeln!(out, "{all}{}{names}{one}:", if long { "\n" } else { " " })?;
            self.tell_readings(out)?;
            return self.one(account, threads, out);
        }
        writeln!(out, "{all}.")?;
        self.tell_readings(out)?;
        for (broken, count, account) in &self.forbidden {
            let (verb, one) = if *count == 1 { ("breaks", "") } else { ("break", "; one of them") };
            writeln!(out, "\n{count} of {} {verb} {}{one}:", self.count, self.names(broken))?;
            self.one(account, threads, out)?;
        }
        Ok(())
    }

    /// Which readings the answer rests on.
    fn tell_readings(&self, out: &mut dyn Write) -> io::Result<()> {
        self.resting.lines().iter().try_for_each(|line| writeln!(out, "  {line}"))
    }

    fn one(
        &self,
        account: &ExplainedCandidate,
        threads: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let letters = account.letters();
        show::events(&account.witness, threads, &letters, None, out)?;
        writeln!(out)?;
        for (axiom, edges) in &account.violations {
            let axiom = &self.model.axioms[*axiom];
            if account.violations.len() > 1 {
                let number = axiom.section.map_or("", |section| section.number);
                writeln!(out, "  {} {number}", axiom.name)?;
            }
            show::edges(edges, &account.witness, threads, &letters, out)?;
        }
        if !account.shown.is_empty() {
            writeln!(out)?;
        }
        show::named(&account.shown, &letters, out)
    }

    fn names(&self, broken: &[usize]) -> String {
        let names: Vec<String> = broken
            .iter()
            .map(|&axiom| {
                let axiom = &self.model.axioms[axiom];
                let number = axiom.section.map_or(String::new(), |s| format!(" ({})", s.number));
                format!("{}{number}", axiom.name)
            })
            .collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }

    /// The graphs of the candidates that the text shows.
    fn graphs(&self, test: &Test, judgement: &Judgement) -> Vec<ExecutionGraph> {
        let what = show::proposition(test);
        if let Some(account) = &self.allowed {
            let outcome = test.display_outcome(&account.witness.outcome);
            let outcome = with_threads(outcome.trim_end_matches([';', ' ']));
            let caption = match &judgement.verdict {
                Verdict::Undefined(reason) if outcome.is_empty() => format!("Undefined, {reason}"),
                Verdict::Undefined(reason) => format!("Undefined, {reason}: {outcome}"),
                Verdict::Stuck(_) => String::from("Stuck"),
                Verdict::Holds
                | Verdict::Fails
                | Verdict::Undecided(_)
                | Verdict::Unsupported(_) => format!("Allowed: {outcome}"),
            };
            return vec![graph::graph(test, self.model, account, caption)];
        }
        let forbidden = self.forbidden.iter().map(|(broken, _, account)| {
            let caption = format!("Forbidden by {}: {what}", self.names(broken));
            graph::graph(test, self.model, account, caption)
        });
        forbidden.collect()
    }
}
