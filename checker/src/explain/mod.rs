//! Why an outcome is allowed, or what each candidate with it breaks.

pub mod candidate;
mod note;
mod open;
mod show;

use std::io::{self, Write};

use litmus::{Quantifier, Test};
use model::bits::Row;
use model::rel::Model;

use self::candidate::{Candidate, Visitor, candidates};
use self::open::{Edge, Opener};
use crate::engine::Limits;
use crate::engine::enumerate::Enumerate;
use crate::judge::{self, Task, Verdict};
use crate::report::dot::{self, Highlight};
use crate::report::text::race_text;
use crate::witness::{ChosenRows, Witness};

/// How much to show.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub bound: u32,
    /// Also open definitions that add nothing.
    pub deep: bool,
    /// One graph for graphviz instead of text.
    pub dot: bool,
}

/// Candidates examined at most; the account says so if there are more.
const MAX_CANDIDATES: usize = 5_000;

/// Explains one test.
pub fn explain(
    test: &Test,
    model: &Model,
    options: Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some((thread, line, why)) = test.program.unsupported() {
        let of = &test.program.threads[usize::from(thread.0)];
        return writeln!(out, "Unsupported: {}: `{}`: {why}", of.name, of.lines[line].text);
    }
    let task = Task {
        model,
        engines: vec![&Enumerate],
        bound: options.bound,
        timeout: None,
        verdict_only: false,
        blame: false,
    };
    let judgement = judge::judge(test, &task);
    let limits = Limits::unlimited(options.bound);
    let mut survey = Survey::new(test, model, options.deep);
    let complete = match candidates(test, model, &limits, &mut survey) {
        Ok(complete) => complete,
        Err(limit) => return writeln!(out, "Undecided: {}", limit.text()),
    };
    let threads: Vec<String> = test.program.threads.iter().map(|t| t.name.clone()).collect();
    if options.dot {
        return survey.draw(test, &threads, out);
    }
    match &judgement.verdict {
        Verdict::Undefined(reason) => {
            writeln!(out, "Undefined: {reason}. {}", undefined_text(reason))?;
            if let Some(undefined) = &judgement.found.seen.undefined {
                for &(thread, line) in &undefined.where_ {
                    let of = &test.program.threads[usize::from(thread.0)];
                    writeln!(out, "  {}: {}", of.name, of.lines[usize::from(line)].text)?;
                }
            }
            return Ok(());
        }
        Verdict::Undecided(reason) if survey.allowed.is_none() => {
            writeln!(out, "Undecided: {reason}.")?;
        }
        Verdict::Holds | Verdict::Fails | Verdict::Unsupported(_) | Verdict::Undecided(_) => {}
    }
    survey.tell(test, &judgement, complete, &threads, out)?;
    for race in &judgement.found.seen.races {
        writeln!(
            out,
            "\nData race (8.7.1), which leaves the program defined: {}",
            race_text(test, *race)
        )?;
    }
    Ok(())
}

fn undefined_text(reason: &str) -> &'static str {
    match reason {
        "mixed-size-race" => {
            "A consistent execution has a race between accesses that overlap partially (8.7.2), so \
             no axiom applies to the program:"
        }
        "non-coherent-read-of-written-data" => {
            "ld.global.nc may read data only that nobody writes during the kernel:"
        }
        _ => "A consistent execution does what has no meaning:",
    }
}

/// One account of a candidate, ready to print.
struct Account {
    witness: Witness,
    /// For each broken axiom: its index and the violation.
    violations: Vec<(usize, Vec<Edge>)>,
    notes: Vec<String>,
}

/// What all candidates amount to.
struct Survey<'t> {
    model: &'t Model,
    deep: bool,
    count: usize,
    allowed: Option<Account>,
    /// For each set of broken axioms, how many candidates break just these, and one of them.
    forbidden: Vec<(Vec<usize>, usize, Account)>,
}

impl<'t> Survey<'t> {
    fn new(_: &'t Test, model: &'t Model, deep: bool) -> Survey<'t> {
        Survey { model, deep, count: 0, allowed: None, forbidden: Vec::new() }
    }
}

impl Visitor for Survey<'_> {
    fn candidate<R: Row>(&mut self, candidate: &Candidate<'_, R>) -> bool {
        self.count += 1;
        let known = self.forbidden.iter_mut().find(|(broken, ..)| broken == candidate.broken);
        if let Some((_, count, _)) = known {
            *count += 1;
        } else if !candidate.broken.is_empty() || self.allowed.is_none() {
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
    fn account<R: Row>(&self, candidate: &Candidate<'_, R>) -> Account {
        let chosen = ChosenRows {
            rf: &candidate.rf.rows,
            co: &candidate.co.rows,
            fr: &candidate.fr.rows,
            fsc: &candidate.fsc.rows,
        };
        let witness =
            Witness::new(candidate.structure, candidate.sources, &chosen, candidate.outcome);
        let mut opener = Opener::new(self.model, candidate.nodes, self.deep);
        let violations = candidate
            .broken
            .iter()
            .map(|&axiom| (axiom, opener.violation(self.model.axioms[axiom].constraint)))
            .collect();
        let notes = if candidate.broken.is_empty() {
            note::unordered(self.model, candidate)
        } else {
            Vec::new()
        };
        Account { witness, violations, notes }
    }

    fn tell(
        &self,
        test: &Test,
        judgement: &judge::Judgement,
        complete: bool,
        threads: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let what = show::proposition(test);
        if let Some(account) = &self.allowed {
            let outcome = test.display_outcome(&account.witness.outcome);
            let observation = judgement.observation.map_or("Sometimes", judge::Observation::name);
            let negated =
                if test.quantifier == Quantifier::ForAll { ", which violates" } else { ":" };
            writeln!(
                out,
                "{observation} {}/{}{negated} {what}.  An execution that keeps every axiom ends with {}",
                judgement.positive,
                judgement.positive + judgement.negative,
                outcome.trim_end_matches(';')
            )?;
            let letters = show::all_letters(&account.witness);
            show::events(&account.witness, threads, &letters, out)?;
            show::relations(&account.witness, &letters, out)?;
            for note in &account.notes {
                writeln!(out, "  {note}")?;
            }
            return Ok(());
        }
        if self.count == 0 {
            return writeln!(
                out,
                "Never: {what}.  No choice of what the reads read gives these values, whatever the \
                 model."
            );
        }
        self.tell_forbidden(test, &what, complete, threads, out)
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
            _ => format!("The {at_least}{count} candidates with this outcome break"),
        };
        if let [(broken, _, account)] = self.forbidden.as_slice() {
            writeln!(out, "Never: {what}.  {all} {}:", self.names(broken))?;
            return self.one(account, threads, out);
        }
        writeln!(out, "Never: {what}.  {all} one axiom or more:")?;
        for (broken, count, account) in &self.forbidden {
            writeln!(out, "\n{count} of {} break {}:", self.count, self.names(broken))?;
            self.one(account, threads, out)?;
        }
        Ok(())
    }

    fn one(&self, account: &Account, threads: &[String], out: &mut dyn Write) -> io::Result<()> {
        let letters = show::letters(&account.violations);
        show::events(&account.witness, threads, &letters, out)?;
        for (axiom, edges) in &account.violations {
            let axiom = &self.model.axioms[*axiom];
            if account.violations.len() > 1 {
                writeln!(out, "  {}:", axiom.name)?;
            }
            show::edges(edges, &account.witness, threads, &letters, out)?;
        }
        Ok(())
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
        names.join(" and ")
    }

    fn draw(&self, test: &Test, threads: &[String], out: &mut dyn Write) -> io::Result<()> {
        let forbidden = self.forbidden.first().map(|(_, _, account)| account);
        let Some(account) = self.allowed.as_ref().or(forbidden) else {
            return writeln!(out, "digraph {{ label=\"no candidate has the outcome\"; }}");
        };
        let highlights: Vec<Highlight> = account
            .violations
            .iter()
            .flat_map(|(axiom, edges)| {
                let name = &self.model.axioms[*axiom].name;
                edges.iter().map(move |edge| Highlight {
                    from: edge.from,
                    to: edge.to,
                    label: format!("{name}: {}", edge.label),
                })
            })
            .collect();
        write!(out, "{}", dot::graph(&test.name, &account.witness, threads, &highlights))
    }
}
