//! A question of a row, and what its answer means for it.

use std::fmt::Write;

use super::inclusion::{Answer, Judge, Question, Tally};
use super::mapping::weakenings;
use super::step::{Order, Step, line};
use super::verdict::{Finding, Verdict};

/// A row as far as it can be judged without an engine: a finding, or a question with its notes.
pub enum Prepared {
    Found(Finding),
    Asks(Box<Asked>),
}

/// A question, and what makes of its answer a finding.
pub struct Asked {
    pub question: Question,
    pub notes: Vec<String>,
    /// Whether fences of one direction and clusters are there.
    pub cluster: bool,
    /// Whether a part of a word is exchanged, and nothing is assumed of the rest.
    pub part_of_word: bool,
    pub unordered: bool,
}

impl Asked {
    /// Asks, and what the answer means for the row.
    pub fn finding(&self, judge: &mut Judge<'_>) -> Finding {
        let mut finding = match judge.judge(&self.question) {
            Answer::Refuted(refutation) => {
                let blamed = match refutation.axioms.len() {
                    _ if refutation.torn => "single-copy atomicity: an access is torn".to_owned(),
                    0 => "several axioms of the source's model together".to_owned(),
                    _ => refutation.axioms.join(", and alone by "),
                };
                let (source, target) = (line(&self.question.source), line(&self.question.target));
                let why =
                    format!("{source} became {target}, which allows what is forbidden by {blamed}");
                Finding {
                    racy: refutation.racy,
                    forbidden: refutation.forbidden,
                    allowed: refutation.allowed,
                    context: Some(refutation.context),
                    outcome: Some(refutation.outcome),
                    axioms: refutation.axioms,
                    ..Finding::new(Verdict::Weaker, why)
                }
            }
            Answer::Undecided(why) => Finding::new(Verdict::Undecided, why),
            Answer::Included(_) if self.part_of_word => Finding::new(
                Verdict::Outside,
                "another thread may access the part of the word by itself, which is of another size",
            ),
            Answer::Included(Tally { told, silent, withdrawn }) => {
                let mut why = format!("no outcome is added in {told} contexts");
                if silent > 0 {
                    write!(why, "; in {silent} the source races").expect("a string takes it");
                }
                if withdrawn > 0 {
                    let text = "withdrawn, where the published mapping adds one too";
                    write!(why, "; {withdrawn} {text}").expect("a string takes it");
                }
                // Less of a promise is no other instruction.
                let machine = self.question.machine.is_some();
                let less = if machine { None } else { self.sufficient(judge) };
                match less {
                    Some(less) => Finding {
                        sufficient: Some(line(&less)),
                        ..Finding::new(Verdict::Stronger, why)
                    },
                    None => Finding::new(Verdict::Preserved, why),
                }
            }
        };
        finding.notes.clone_from(&self.notes);
        let weak = |step: &Step| matches!(step, Step::Access { order: Order::Weak, .. });
        if self.unordered && self.question.target.iter().any(weak) {
            finding.notes.push("`unordered` became weak".to_owned());
        }
        finding
    }

    /// A weaker target that keeps the source too, found by small steps; none where each adds an outcome.
    fn sufficient(&self, judge: &mut Judge<'_>) -> Option<Vec<Step>> {
        let mut least: Option<Vec<Step>> = None;
        loop {
            let from = least.as_ref().unwrap_or(&self.question.target);
            let kept = weakenings(from, self.cluster).into_iter().find(|target| {
                let question = Question { target: target.clone(), ..self.question.clone() };
                matches!(judge.judge(&question), Answer::Included(Tally { told: 1.., .. }))
            });
            match kept {
                Some(target) => least = Some(target),
                None => return least,
            }
        }
    }
}
