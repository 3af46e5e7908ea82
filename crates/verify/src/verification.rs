//! Judges a launch: its assertions, its races, and whether it finishes.

use engine::ExecutionFacts;
use judge::{Judgement, Property, Task, Verdict, judge};
use litmus::Test;
use model::program::{Stays, Stuck, ThreadId};
use text::Diagnostic;

use crate::compose::Composed;
use crate::finding::{Finding, FindingKind, FindingPlace};

/// What was found of a launch.
#[derive(Debug)]
pub struct Verification {
    pub findings: Vec<Finding>,
    /// What was not looked at: the property, and why.
    pub undecided: Vec<Undecided>,
    pub seconds: f64,
}

/// A property that is not decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    pub property: Property,
    pub why: String,
}

/// Judges the test of a launch.
///
/// # Errors
/// If the composed text is not a test: the kernel uses something that no test expresses.
pub fn verify(composed: &Composed, task: &Task<'_>) -> Result<Verification, Vec<Diagnostic>> {
    let test = litmus::parse("launch", composed.text.as_bytes())?;
    let mut all = Verification { findings: Vec::new(), undecided: Vec::new(), seconds: 0.0 };
    for property in [Property::ProgramSpec, Property::NoDataRace, Property::Termination] {
        let task = Task {
            property,
            verdict_only: property != Property::NoDataRace,
            races: property == Property::NoDataRace,
            ..task.clone()
        };
        let judgement = judge(&test, &task);
        all.seconds += judgement.seconds;
        all.add(&Reader { composed, test: &test }, property, &judgement);
    }
    all.findings.sort();
    all.findings.dedup();
    Ok(all)
}

impl Verification {
    fn add(&mut self, reader: &Reader<'_>, property: Property, judgement: &Judgement) {
        let seen = &judgement.found.seen;
        match &judgement.verdict {
            Verdict::Undefined(reason) => {
                self.findings.push(reader.undefined(reason, seen));
                return;
            }
            Verdict::Unsupported(why) => {
                self.undecided.push(Undecided { property, why: why.clone() });
                return;
            }
            Verdict::Undecided(why) => {
                self.undecided.push(Undecided { property, why: why.clone() })
            }
            Verdict::Stuck(_) => self.findings.extend(reader.stuck(seen)),
            Verdict::Fails if property == Property::ProgramSpec => {
                self.findings.push(reader.assertion(judgement));
            }
            Verdict::Holds | Verdict::Fails => {}
        }
        match property {
            Property::NoDataRace => self.findings.extend(reader.races(seen)),
            Property::Termination => self.findings.extend(reader.stuck(seen)),
            Property::ProgramSpec => {}
        }
    }
}

/// Findings of a test.
struct Reader<'r> {
    composed: &'r Composed,
    test: &'r Test,
}

impl Reader<'_> {
    fn place(&self, thread: ThreadId, line: u16) -> FindingPlace {
        let column = usize::from(thread.0);
        let of_test = self.test.line_number(thread, line).unwrap_or(0);
        let of = &self.test.program.threads[column];
        FindingPlace {
            column,
            line: self.composed.module_line(column, of_test).unwrap_or(0),
            text: of.lines[usize::from(line)].text.clone(),
        }
    }

    fn undefined(&self, reason: &str, seen: &ExecutionFacts) -> Finding {
        let places = seen.undefined.iter().flat_map(|undefined| &undefined.where_);
        Finding {
            kind: FindingKind::of_undefined(reason),
            message: reason.to_owned(),
            places: places.map(|&(thread, line)| self.place(thread, line)).collect(),
        }
    }

    fn races(&self, seen: &ExecutionFacts) -> Vec<Finding> {
        let race = |race: &engine::Race| {
            let places = [race.first, race.second];
            let is_strong = |&(thread, line): &(ThreadId, u16)| {
                let of = &self.test.program.threads[usize::from(thread.0)];
                of.lines[usize::from(line)].instruction.scope().is_some()
            };
            let strong = places.iter().all(is_strong);
            Finding {
                kind: if strong { FindingKind::ScopeRace } else { FindingKind::DataRace },
                message: judge::words::race_text(self.test, *race),
                places: places.iter().map(|&(thread, line)| self.place(thread, line)).collect(),
            }
        };
        seen.races.iter().map(race).collect()
    }

    fn assertion(&self, judgement: &Judgement) -> Finding {
        let outcomes = judgement.found.outcomes.keys();
        let fails =
            |outcome: &&Vec<u128>| !self.test.proposition.holds(&self.test.program, outcome);
        let outcome = outcomes.into_iter().find(|outcome| fails(outcome));
        let ends = outcome.map_or(String::new(), |outcome| {
            format!(": an execution ends with {}", self.test.display_outcome(outcome))
        });
        Finding {
            kind: FindingKind::Assert,
            message: format!("the assertion can be false{ends}"),
            places: Vec::new(),
        }
    }

    /// Where threads stay for ever.
    fn stuck(&self, seen: &ExecutionFacts) -> Option<Finding> {
        let stuck: &Vec<Stuck> = seen.stuck.as_ref()?;
        let word = |stuck: &Stuck| match stuck.why {
            Stays::Waits => "waits for ever",
            Stays::Loops => "repeats a loop for ever",
            Stays::Faults => "faults",
        };
        let places: Vec<FindingPlace> =
            stuck.iter().map(|stuck| self.place(stuck.thread, stuck.line)).collect();
        let texts: Vec<String> = stuck
            .iter()
            .zip(&places)
            .map(|(stuck, place)| format!("P{} {} at `{}`", place.column, word(stuck), place.text))
            .collect();
        Some(Finding { kind: FindingKind::Hang, message: texts.join(", "), places })
    }
}
