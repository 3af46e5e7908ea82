//! The law of beginnings: what threads do first, they do in an execution.

use engine::sought::Sought;
use engine::{ENGINES, Limits, search_beginnings};
use judge::{Judgement, Property, Task, Verdict, judge, racy};

use super::directed::SOURCES;
use super::{CaseEnd, FuzzSetting, Law, LawCase};
use crate::answer::BOUND;
use crate::draw::Dice;

pub(super) const BEGINNINGS: Law = Law {
    name: "beginnings",
    statement: "what is wrong in the beginning of an execution is wrong in an execution",
    sources: SOURCES,
    check: beginnings,
};

fn beginnings(setting: &FuzzSetting, case: &LawCase<'_>) -> Result<(), CaseEnd> {
    let model = &setting.models[0];
    let bound = 1 + u32::try_from(Dice::new(case.choice).below(2)).unwrap_or(0);
    let limits = Limits { bound, ..setting.limits() };
    let begins = |model| {
        let seen =
            search_beginnings(model, &case.test.program, &limits, Sought::Undefined(&Vec::new));
        seen.undefined
    };
    let (undefined, race) = (begins(model), begins(&racy(model)));
    if undefined.is_none() && race.is_none() {
        return Ok(());
    }
    let task = Task {
        engines: vec![ENGINES[0]],
        bound: BOUND,
        work: Some(setting.work),
        property: Property::NoDataRace,
        ..Task::new(&setting.model)
    };
    let Judgement { verdict, found, .. } = judge(case.test, &task);
    if let Some(limit) = found.limit {
        return Err(limit.into());
    }
    let what = match (undefined, verdict) {
        (Some(undefined), Verdict::Holds | Verdict::Fails) => undefined.reason,
        (None, Verdict::Holds) => "a data race".to_owned(),
        _ => return Ok(()),
    };
    Err(CaseEnd::broken(format!("only a beginning has {what}")))
}
