//! The reports of `causeway explore` on tests, for every format.

mod json;
mod text;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use ::text::Diagnostic;
use engine::exit::Exit;
use judge::Observation;
use judge::words::with_threads;
use litmus::{Quantifier, Test};
use reach::Inclusion;
use reach::one::{ExploreAnswer, MachineRun};

use crate::lines::{self, LineKind};
use crate::report::finding::{
    FilePosition, Level, ReportCase, ReportFinding, ReportRule, UnreadInput, UnreadReason,
};
use crate::report::herd::Entry;
use crate::report::{Reportable, RunSummary, count_of};

pub(crate) use json::ExploreObject;
pub use text::TextOptions;

/// The result of one file.
pub enum ExploreResult {
    /// The test, and its run on each machine.
    Ran(Box<Test>, Vec<MachineRun>),
    Rejected(Vec<Diagnostic>),
    Unreadable(io::Error),
}

pub struct ExploredFile {
    /// The path as the user gave it, or as found below a folder that the user gave.
    pub path: PathBuf,
    pub outcome: ExploreResult,
}

impl ExploredFile {
    /// The reason for which it did not run, if it did not.
    pub fn unread(&self) -> Option<UnreadInput<'_>> {
        let why = match &self.outcome {
            ExploreResult::Ran(..) => return None,
            ExploreResult::Rejected(diagnostics) => UnreadReason::Rejected(diagnostics),
            ExploreResult::Unreadable(error) => UnreadReason::Unreadable(error),
        };
        Some(UnreadInput { path: &self.path, why })
    }

    /// The reports, one for each machine.
    pub fn said(&self, shown: TextOptions) -> Vec<ExploreReport<'_>> {
        let on = |on| ExploreReport { item: self, on, shown };
        match &self.outcome {
            ExploreResult::Ran(test, machines) => machines
                .iter()
                .map(|ran| on(Some(TestOnMachine { test, ran, of: machines.len() })))
                .collect(),
            ExploreResult::Rejected(_) | ExploreResult::Unreadable(_) => vec![on(None)],
        }
    }
}

/// A test on one machine, and the number of machines.
struct TestOnMachine<'a> {
    test: &'a Test,
    ran: &'a MachineRun,
    of: usize,
}

/// The result of a test on one machine, or of a file that is not a test.
pub struct ExploreReport<'a> {
    item: &'a ExploredFile,
    on: Option<TestOnMachine<'a>>,
    shown: TextOptions,
}

fn rule(verdict: &'static str) -> ReportRule {
    let text = match verdict {
        "included" => "the axioms allow every outcome of the machine",
        "not-included" => "the axioms forbid an outcome of the machine",
        "undefined" => "the document does not define the test, or every run ends in a fault",
        "unsupported" => "the axioms do not support the test",
        "refused" => {
            "the machine does not model an instruction of the test, or is too small for it"
        }
        "stuck" => "no run finishes",
        "undecided" => "a limit was reached before the answer was known",
        _ => "the test has run",
    };
    ReportRule { id: verdict, text, section: None }
}

impl TestOnMachine<'_> {
    fn case(&self, file: String) -> ReportCase {
        let TestOnMachine { test, ran, .. } = self;
        let exit = ran.exit();
        let (verdict, reason) = ran.verdict(test);
        let level = match (exit, &reason) {
            // A test that could not be compared is skipped.
            (Exit::AsExpected, Some(_)) => Level::Skipped,
            (exit, _) => Level::of(exit),
        };
        let message = match reason {
            Some(reason) => format!("{verdict}: {reason}"),
            None => verdict.to_owned(),
        };
        let forbidden = ran.outcomes.iter().find(|reached| reached.allowed == Some(false));
        let outcome = forbidden.map(|reached| {
            let outcome = test.display_outcome(&reached.values);
            with_threads(outcome.trim_end_matches([';', ' ']))
        });
        let facts = [("verdict", verdict.to_owned()), ("name", test.name.clone())];
        let arch = [("arch", format!("sm_{}", ran.sm))];
        let found = outcome.iter().map(|outcome| ("outcome", outcome.clone()));
        let facts = facts.into_iter().chain(arch).chain(found.clone());
        let finding = ReportFinding {
            remarks: found.collect(),
            facts: facts.map(|(name, text)| (name, text.into())).collect(),
            ..ReportFinding::new(rule(verdict), level, message, FilePosition::file(&*file))
        };
        let notes = ran.notes(test).into_iter().map(|note| format!("note: {}", note.text));
        ReportCase {
            subject: format!("{file} on sm_{}", ran.sm),
            file,
            exit,
            seconds: Some(ran.seconds),
            findings: vec![finding],
            notes: notes.collect(),
        }
    }

    /// Prints a difference with its runs. For any other result, prints the most that the terminal format shows.
    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        let TestOnMachine { test, ran, .. } = self;
        let refuted = || ran.outcomes.iter().filter(|reached| reached.refutation.is_some());
        if refuted().next().is_none() {
            let shown = TextOptions { check: false, verbose: true, stats: true, progress: false };
            return shown.explored(test, ran, out);
        }
        for reached in refuted() {
            write!(out, "{}", test.display_outcome(&reached.values))?;
            reached.run.iter().flatten().try_for_each(|line| write!(out, "\n{line}"))?;
            write!(out, "\n{}", reached.refutation.as_deref().unwrap_or_default())?;
        }
        Ok(())
    }
}

impl Reportable for ExploreReport<'_> {
    fn case(&self) -> ReportCase {
        let file = self.item.path.to_string_lossy().into_owned();
        match (&self.on, self.item.unread()) {
            (Some(on), _) => on.case(file),
            (None, unread) => unread.expect("it did not run").case(),
        }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.on {
            Some(TestOnMachine { test, ran, .. }) if self.shown.check => {
                self.shown.compared(&self.item.path, test, ran, out)
            }
            Some(TestOnMachine { test, ran, .. }) => self.shown.explored(test, ran, out),
            // Errors in an input go to standard error.
            None => Ok(()),
        }
    }

    fn details(&self, out: &mut dyn Write) -> io::Result<()> {
        match (&self.on, self.item.unread()) {
            (Some(on), _) => on.details(out),
            (None, unread) => unread.expect("it did not run").complain(out),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let object = match (&self.on, self.item.unread()) {
            (Some(TestOnMachine { test, ran, .. }), _) => {
                ExploreObject::ran(self.item.path.to_string_lossy().into_owned(), test, ran)
            }
            (None, unread) => ExploreObject::unread(&unread.expect("it did not run")),
        };
        lines::write(LineKind::Explore, &object, out)
    }

    /// The outcomes of the machine only, since a log cannot represent a comparison. A state counts once, or in
    /// random walks once for each walk that ended in it.
    fn herd(&self) -> Option<Entry<'_>> {
        let TestOnMachine { test, ran, of } = self.on.as_ref()?;
        let explored = ran.explored.as_ref()?;
        let name = match of {
            1 => test.name.clone(),
            _ => format!("{}@sm_{}", test.name, ran.sm),
        };
        let (mut positive, mut negative) = (0, 0);
        let mut states: Vec<String> = Vec::new();
        for reached in &ran.outcomes {
            let count = reached.walks.unwrap_or(1);
            let satisfies = test.proposition.holds(&test.program, &reached.values);
            *if satisfies { &mut positive } else { &mut negative } += count;
            let state = test.display_outcome(&reached.values).trim_end().to_owned();
            states.push(match reached.walks {
                Some(walks) => format!("{walks:<8}{}>{state}", if satisfies { '*' } else { ':' }),
                None => state,
            });
        }
        let (word, reason) = ran.verdict(test);
        let has_meaning =
            explored.limit.is_none() && !matches!(word, "undecided" | "undefined" | "stuck");
        let condition = has_meaning.then_some(match test.quantifier {
            Quantifier::Exists => positive > 0,
            Quantifier::NotExists => positive == 0,
            Quantifier::ForAll => negative == 0,
        });
        // A log says "never" or "always" only after a complete search that is not stuck.
        let observation = has_meaning.then_some(match (positive, negative) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        });
        let flag = reason.map(|_| word.to_owned());
        let incomplete = (ran.exit() == Exit::Undecided).then(|| "incomplete".to_owned());
        Some(Entry {
            test,
            name,
            states,
            looped: false,
            condition,
            positive,
            negative,
            flags: flag.into_iter().chain(incomplete).collect(),
            observation,
            seconds: ran.seconds,
        })
    }
}

/// The summary of a comparison.
#[derive(Default)]
pub struct ExploreSummary {
    /// Whether anything was compared.
    pub compares: bool,
    pub included: usize,
    pub extra: usize,
    pub undecided: usize,
    pub stuck: usize,
    pub rejected: usize,
    /// The number of allowed outcomes that the machine reached, and the number of allowed outcomes, over all
    /// comparisons.
    pub reached: usize,
    pub allowed: usize,
    /// The reasons for which tests were not compared, each with its count.
    pub undefined: BTreeMap<String, usize>,
    pub unsupported: BTreeMap<String, usize>,
    pub refused: BTreeMap<String, usize>,
    /// The number of results on targets that are older than the axioms, by target.
    pub early: BTreeMap<u16, usize>,
    pub worst: Option<Exit>,
    pub seconds: f64,
}

/// The first target to which the model applies according to the document.
pub const NORMATIVE: u16 = 70;

impl ExploreSummary {
    pub fn add(&mut self, item: &ExploredFile) {
        let ExploreResult::Ran(test, machines) = &item.outcome else {
            self.rejected += 1;
            self.worst = self.worst.max(Some(Exit::BadInput));
            return;
        };
        for ran in machines {
            self.worst = self.worst.max(Some(ran.exit()));
            let reason = || ran.verdict(test).1.unwrap_or_default();
            match &ran.answer {
                ExploreAnswer::Explored | ExploreAnswer::Refused(_) => {}
                ExploreAnswer::Compared(compared) => {
                    if ran.sm < NORMATIVE && ran.explored.is_some() {
                        *self.early.entry(ran.sm).or_default() += 1;
                    }
                    match compared {
                        Inclusion::Included { reached, allowed } => {
                            self.included += 1;
                            self.reached += reached;
                            self.allowed += allowed;
                        }
                        Inclusion::Extra(_) => self.extra += 1,
                        Inclusion::Stuck { .. } => {
                            self.stuck += 1;
                            self.allowed += ran.unreached.len();
                        }
                        Inclusion::Limited(_) => self.undecided += 1,
                        Inclusion::Undefined(_) => {
                            *self.undefined.entry(reason()).or_default() += 1;
                        }
                        Inclusion::Unsupported(_) => {
                            *self.unsupported.entry(reason()).or_default() += 1;
                        }
                        Inclusion::Refused(_) => {
                            // The location is removed, since it differs between tests.
                            let all = reason();
                            let why = all.rsplit("`: ").next().unwrap_or_default().to_owned();
                            *self.refused.entry(why).or_default() += 1;
                        }
                    }
                }
            }
        }
    }

    pub fn exit(&self) -> Exit {
        self.worst.unwrap_or(Exit::AsExpected)
    }
}

impl RunSummary for ExploreSummary {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.compares {
            return Ok(());
        }
        let of = |map: &BTreeMap<String, usize>| map.values().sum::<usize>();
        let counts = [
            (self.included, "included"),
            (self.extra, "not included"),
            (self.stuck, "stuck"),
            (of(&self.undefined), "undefined"),
            (of(&self.unsupported), "unsupported"),
            (of(&self.refused), "refused"),
            (self.undecided, "undecided"),
        ];
        let total: usize = counts.iter().map(|(count, _)| count).sum();
        write!(out, "{}:", count_of(total, "comparison"))?;
        let some: Vec<String> = counts
            .iter()
            .enumerate()
            .filter(|(index, (count, _))| *index == 0 || *count > 0)
            .map(|(_, (count, what))| format!(" {count} {what}"))
            .collect();
        write!(out, "{}", some.join(","))?;
        if self.rejected > 0 {
            write!(out, "; {} not understood", count_of(self.rejected, "file"))?;
        }
        let (reached, allowed, seconds) = (self.reached, self.allowed, self.seconds);
        writeln!(out, ".")?;
        writeln!(
            out,
            "{reached} of {allowed} allowed outcomes reached   (enumerate; {seconds:.1} s)"
        )?;
        for (what, reasons) in [
            ("undefined", &self.undefined),
            ("unsupported", &self.unsupported),
            ("refused", &self.refused),
        ] {
            for (reason, count) in reasons {
                writeln!(out, "  {what}, {count}: {reason}")?;
            }
        }
        if !self.early.is_empty() {
            let early: Vec<String> = self.early.keys().map(|sm| format!("sm_{sm}")).collect();
            writeln!(
                out,
                "note: the axioms are normative from sm_70; {} {} nevertheless judged by them \
                 (docs/readings.md, R61)",
                early.join(", "),
                if early.len() == 1 { "is" } else { "are" }
            )?;
        }
        Ok(())
    }
}
