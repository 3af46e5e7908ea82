//! A question of a row, and the finding that follows from its answer.

use super::cited;
use super::code::MachineCode;
use super::inclusion::{Judge, Question};
use super::judgement::{self, Answer, Tally};
use super::language::CXX;
use super::mapping;
use super::run::MachineAnswer;
use super::step::{AccessKind, AccessOrder, Step, line};
use super::verdict::{Finding, Refuter, Verdict};
use super::weaken::{forms, weakenings};
use model::strength::weakest;

/// A row, judged as far as possible without an engine: a finding, or a question with its notes.
pub enum PreparedRow {
    Found(Box<Finding>),
    NeedsEngine(Box<RowQuestion>),
}

/// A question, with the data that turn its answer into a finding.
pub struct RowQuestion {
    pub question: Question,
    /// The machine code of the target, if it is machine code and its accesses are matched.
    pub code: Option<MachineCode>,
    pub notes: Vec<String>,
    /// Whether the target has clusters.
    pub clusters: bool,
    /// Whether a part of a word is exchanged, without an assumption about the rest.
    pub part_of_word: bool,
    pub unordered: bool,
}

impl RowQuestion {
    /// Judges the question and returns the finding for the row.
    pub fn finding(&self, judge: &mut Judge<'_>) -> Finding {
        let mut unconfirmed = None;
        let answer = judge.judge(&self.question);
        let convention = self.convention(&answer, judge);
        let reduction = self.reduction(&answer, judge);
        let mut finding = match answer {
            Answer::Refuted(refutation) => {
                let (source, target) = (line(&self.question.source), line(&self.question.target));
                let (by, run, note) = self.confirmed(judge);
                unconfirmed = note;
                let target = format!("{source} became {target}, which");
                Finding { run, ..refutation.finding(&target, by) }
            }
            Answer::Undefined { why, context } => judgement::undefined(&why, context),
            Answer::Undecided { why, done, of } => judgement::undecided(why, done, of),
            Answer::Included(_) if self.part_of_word => Finding::new(
                Verdict::Outside,
                "another thread may access the sub-word directly, with an access of a different size",
            ),
            // In PTX, only an operation that no other thread can observe has no context.
            Answer::Included(Tally { checked: 0, source_racy: 0, withdrawn: 0, .. })
                if self.question.machine.is_some() && !self.question.reach.alone =>
            {
                let why = "there is no context: no table is for this target, or the target lacks the scope";
                Finding::new(Verdict::Undecided, why)
            }
            Answer::Included(tally) => {
                // Skipped for SASS: a weaker promise need not be an instruction.
                let machine = self.question.machine.is_some();
                let less = if machine { None } else { self.weakest_sufficient(judge) };
                judgement::included(tally, "", less.map(|less| line(&less)))
            }
        };
        finding.notes.splice(0..0, self.notes.iter().cloned());
        finding.notes.extend(unconfirmed);
        finding.notes.extend(convention);
        finding.notes.extend(reduction);
        let weak = |step: &Step| matches!(step, Step::Access { order: AccessOrder::Weak, .. });
        if self.unordered && self.question.target.iter().any(weak) {
            finding.notes.push("`unordered` became weak".to_owned());
        }
        finding
    }

    /// Whether a refutation needs that `red` does not count as a read for an acquire: reading R11.
    fn reduction(&self, answer: &Answer, judge: &mut Judge<'_>) -> Option<String> {
        let Answer::Refuted(_) = answer else { return None };
        let reads = |step: &Step| match *step {
            Step::Access { act: AccessKind::Reduce, at, order, scope } => {
                Step::Access { act: AccessKind::Overwrite, at, order, scope }
            }
            Step::Access { .. }
            | Step::Fence { .. }
            | Step::Barrier { .. }
            | Step::ClusterArrive { .. }
            | Step::ClusterWait
            | Step::Guard => *step,
        };
        let target: Vec<Step> = self.question.target.iter().map(reads).collect();
        if target == self.question.target {
            return None;
        }
        let question = Question { target, ..self.question.clone() };
        matches!(judge.judge(&question), Answer::Included(_)).then(|| cited::reduction(""))
    }

    /// What the answer needs of the lowering of other code: `st.weak` for an `unordered` store and `fence.sc;
    /// atom.acquire` for a `seq_cst` atomic are each right without the other. Reading R104.
    fn convention(&self, answer: &Answer, judge: &mut Judge<'_>) -> Option<String> {
        let Question { language, source, target, machine, .. } = &self.question;
        if *language != CXX || machine.is_some() || judge.partners.is_some() {
            return None;
        }
        let orders = |steps: &[Step], wanted: fn(AccessKind, AccessOrder) -> bool| {
            let access = |step: &Step| matches!(step, Step::Access { act, order, .. } if wanted(*act, *order));
            steps.iter().any(access)
        };
        match answer {
            Answer::Refuted(refutation) if !refutation.torn => {
                let together = orders(source, |_, order| order == AccessOrder::Unordered)
                    && orders(target, |_, order| order == AccessOrder::Weak)
                    && judge.preserved_by(&self.question, mapping::releasing_atomics());
                together.then(|| {
                    "the context's `seq_cst` atomic becomes `fence.sc; atom.acquire`. With `fence.sc; atom.acq_rel` \
                    no outcome is added: the two lowerings are wrong together (reading R104)"
                        .to_owned()
                })
            }
            Answer::Included(_)
                if orders(source, |act, order| {
                    act != AccessKind::Store && act.writes() && order == AccessOrder::SeqCst
                }) =>
            {
                let context = judge.added_by(&self.question, mapping::weak_unordered())?;
                Some(format!(
                    "the `unordered` accesses of contexts become relaxed ones. If they became weak ones, an outcome would \
                    be added: {context} (reading R104)"
                ))
            }
            Answer::Refuted(_)
            | Answer::Included(_)
            | Answer::Undefined { .. }
            | Answer::Undecided { .. } => None,
        }
    }

    /// The refuter, with a run of the machine if one was found, or with a note.
    fn confirmed(&self, judge: &mut Judge<'_>) -> (Refuter, Option<String>, Option<String>) {
        if self.question.machine.is_none() {
            return (Refuter::Axioms, None, None);
        }
        let ran = self.code.as_ref().map(|code| judge.run(&self.question, code));
        let why = match ran {
            Some(MachineAnswer::Refuted(run)) => {
                return (Refuter::ContractAndMachine, Some(run.to_string()), None);
            }
            Some(MachineAnswer::Included(checked)) => {
                format!("no run of the machine shows it in {checked} contexts (readings R54, R59)")
            }
            Some(MachineAnswer::Undecided(why)) => format!("the machine gives no answer: {why}"),
            None => "the machine is not run: its accesses cannot be matched".to_owned(),
        };
        (Refuter::Contract, None, Some(why))
    }

    /// A weaker target that preserves the source too.
    fn weakest_sufficient(&self, judge: &mut Judge<'_>) -> Option<Vec<Step>> {
        let weaker = |target: &Vec<Step>| weakenings(target, forms(self.clusters));
        weakest(&self.question.target, weaker, |target| {
            let question = Question { target: target.clone(), ..self.question.clone() };
            matches!(judge.judge(&question), Answer::Included(Tally { checked: 1.., .. }))
        })
    }
}
