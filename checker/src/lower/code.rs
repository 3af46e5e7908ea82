//! Code of the machine as a program's lines, each with what the machine does there.

use model::isa::fence::FenceOrder;
use model::machine::form::{Form, Level, Lowered, Reach};
use model::scope::Scope;

use super::contract::scope;
use super::item::Done;
use super::ptx::Uncovered;
use super::step::{Order, Place, Step};
use super::token::{Token, shows_waits, tokens};

/// One instruction, or several that are one to the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// What it is in a program; of its order the machine knows nothing.
    pub step: Step,
    pub lowered: Lowered,
    pub text: String,
}

/// Code of the machine, beside what it promises.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    pub lines: Vec<Line>,
    /// Whether waits for loads are shown.
    pub waits: bool,
}

impl Code {
    /// Reads names separated by `;`, operands or not.
    pub fn new(text: &str) -> Result<Code, Uncovered> {
        let waits = shows_waits(text);
        let mut lines = Vec::new();
        let mut rest = tokens(text)?.into_iter().peekable();
        while let Some(token) = rest.next() {
            let line = match token {
                Token::Access(level, done) => access(level, &done, waits),
                Token::Membar { sc: false, reach: reach @ (Reach::Gpu | Reach::Sys) } => {
                    let whole = rest.next_if(|next| {
                        matches!(next, Token::Access(level, done) if done.op.is_some() && *level != Level::Own)
                    });
                    match whole {
                        Some(Token::Access(level, done)) => {
                            let mut line = access(level, &done, waits);
                            line.lowered.forms.insert(0, Form::MembarAll(reach));
                            // Reading C16 of the machine: one unit.
                            if rest.next_if(|next| matches!(next, Token::Invalidate)).is_some() {
                                line.lowered.forms.push(Form::Invalidate);
                                line.lowered.fused = Some(reach);
                            }
                            line
                        }
                        _ => membar(false, reach),
                    }
                }
                Token::Membar { sc, reach } => membar(sc, reach),
                Token::Invalidate => {
                    fence(FenceOrder::Acquire, Scope::Sys, Form::Invalidate, "CCTL.IVALL")
                }
                Token::Wait => fence(
                    FenceOrder::Acquire,
                    Scope::Cta,
                    Form::AcquireWait,
                    "a wait for its loads",
                ),
                Token::Bar => other(Step::Barrier, Form::Bar, "BAR.SYNC"),
                Token::ClusterArrive => {
                    let step = Step::ClusterArrive { relaxed: true };
                    other(step, Form::ClusterArrive, "UCGABAR_ARV")
                }
                Token::ClusterWait => other(Step::ClusterWait, Form::ClusterWait, "UCGABAR_WAIT"),
            };
            lines.push(line);
        }
        Ok(Code { lines, waits })
    }

    /// The code with its accesses as those of a question's target; none where they are not as many.
    pub fn matched(mut self, target: &[Step]) -> Option<Code> {
        let access = |step: &Step| matches!(step, Step::Access { .. });
        let mut wanted = target.iter().copied().filter(access);
        for line in self.lines.iter_mut().filter(|line| access(&line.step)) {
            line.step = wanted.next()?;
        }
        wanted.next().is_none().then_some(self)
    }
}

fn other(step: Step, form: Form, text: &str) -> Line {
    let lowered = Lowered { forms: vec![form], fused: None };
    Line { step, lowered, text: text.to_owned() }
}

fn fence(order: FenceOrder, scope: Scope, form: Form, text: &str) -> Line {
    other(Step::Fence { order, scope }, form, text)
}

fn membar(sc: bool, reach: Reach) -> Line {
    let scope = scope(reach);
    let name = scope.name().to_uppercase();
    if sc {
        fence(FenceOrder::Sc, scope, Form::Membar(reach), &format!("MEMBAR.SC.{name}"))
    } else {
        fence(FenceOrder::AcqRel, scope, Form::MembarAll(reach), &format!("MEMBAR.ALL.{name}"))
    }
}

fn access(level: Level, done: &Done, waits: bool) -> Line {
    let step = Step::access(done.act, Place::Y, Order::Relaxed, done.scope);
    let mut forms = vec![Form::Access(level)];
    if !waits && done.act.shows() {
        forms.push(Form::AcquireWait);
    }
    Line { step, lowered: Lowered { forms, fused: None }, text: done.text.clone() }
}
