//! One test judged: the verdict of the engines, races, the complaint, and the readings that the verdict rests on.

use litmus::Test;
use web_time::Instant;

use crate::complaint::{Complaint, complaint, misstated};
use crate::decide::decide;
use crate::judgement::Judgement;
use crate::races;
use crate::resting::resting;
use crate::task::{Property, Task};

/// Judges one test.
pub fn judge(test: &Test, task: &Task<'_>) -> Judgement {
    let (start, task) = (Instant::now(), &task.ending());
    let mut judgement = decide(test, task);
    if task.races {
        races::add(test, task, &mut judgement);
    }
    if let Some(Complaint { text, open }) = complaint(test, task, &judgement) {
        (judgement.complaint, judgement.is_open) = (Some(text), open);
    }
    let compared =
        task.blame && task.property == Property::ProgramSpec && !task.alternatives.is_empty();
    let stated = test.meta("Readings").filter(|_| compared);
    if task.rests || stated.is_some() {
        let resting = resting(test, task, &judgement);
        if let Some(stated) = stated.filter(|_| judgement.complaint.is_none()) {
            judgement.complaint = misstated(stated, &resting);
        }
        judgement.resting = Some(resting);
    }
    judgement.seconds = start.elapsed().as_secs_f64();
    judgement
}
