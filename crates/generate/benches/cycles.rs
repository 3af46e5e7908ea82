//! How fast cycles are judged, one by one and by their frontiers, on one core.
//!
//! `cargo bench -p causeway-generate --bench cycles` prints each figure and the one that is wanted. `-- --all` adds the
//! cycles of four threads, which takes minutes.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::Instant;

use engine::{ENGINES, Limits};
use generate::access::AccessForm;
use generate::frontier::{Frontier, Lattice};
use generate::question::{AnswerTally, ask};
use generate::space::{CycleSpace, Ranges};
use generate::word::{CycleAnnotation, Via};
use model::isa::fence::FenceOrder;
use model::ptx;
use model::rel::Model;
use model::scope::Scope;

/// Four strengths, three edges of program order, and every partition of the threads.
fn space(threads: usize) -> CycleSpace {
    let ranges = Ranges {
        annotations: vec![
            CycleAnnotation::Weak,
            CycleAnnotation::Relaxed(Scope::Cta),
            CycleAnnotation::Relaxed(Scope::Sys),
            CycleAnnotation::Acquire(Scope::Sys),
            CycleAnnotation::Release(Scope::Sys),
        ],
        forms: vec![AccessForm::Word],
        vias: vec![
            Via::Plain,
            Via::Fence(FenceOrder::AcqRel, Scope::Sys),
            Via::Fence(FenceOrder::Sc, Scope::Sys),
        ],
        distances: vec![Scope::Cta, Scope::Sys],
    };
    CycleSpace::critical(threads..=threads, 2 * threads..=2 * threads, &ranges)
}

fn line(name: &str, figure: &str, wanted: &str) {
    println!("{name:<72} {figure:>18}   {wanted}");
}

fn each(model: &Model) {
    let space = space(2);
    let limits = Limits { unending: false, ..Limits::unlimited(2) };
    let mut tally = AnswerTally::default();
    // The best of three: other programs may run at the same time.
    let seconds = (0..3).map(|_| {
        let start = Instant::now();
        tally = AnswerTally::default();
        for pattern in &space.patterns {
            for number in 0..pattern.labelled() {
                tally.add(&ask(&pattern.cycle(number), model, ENGINES[0], &limits));
            }
        }
        start.elapsed().as_secs_f64()
    });
    let seconds = seconds.fold(f64::INFINITY, f64::min);
    let name = format!(
        "2 threads, {} cycles with rotations, each judged: {} allowed",
        tally.total(),
        tally.allowed
    );
    line(&name, &format!("{seconds:.2} s"), "< 1 s");
    let start = Instant::now();
    let count = space.cycles().count();
    let text =
        format!("2 threads, {count} cycles without rotations, listed ({} counted)", space.count());
    line(&text, &format!("{:.3} s", start.elapsed().as_secs_f64()), "");
}

fn frontiers(model: &Model, threads: usize, wanted: &str) {
    let space = space(threads);
    let limits = Limits { unending: false, ..Limits::unlimited(2) };
    let start = Instant::now();
    let (mut allowed, mut settled, mut judged, mut points) = (0, 0, 0, 0);
    for pattern in &space.patterns {
        for arrangement in 0..pattern.arrangements.len() {
            let Some(lattice) = Lattice::new(pattern, arrangement) else { continue };
            let found: Frontier =
                lattice.frontier(&mut |cycle| ask(cycle, model, ENGINES[0], &limits));
            allowed += found.allowed;
            settled += found.allowed + found.forbidden;
            judged += found.judged;
            points += found.strongest_allowed.len() + found.weakest_forbidden.len();
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let hourly = settled as f64 / seconds * 3600.0;
    let name = format!(
        "{threads} threads, {settled} cycles settled by {judged} judgements: {allowed} allowed"
    );
    line(&name, &format!("{seconds:.2} s"), wanted);
    line(
        &format!("{threads} threads, points of the frontiers: {points}; verdicts an hour"),
        &format!("{hourly:.2e}"),
        "> 1e9",
    );
}

fn main() {
    let model = ptx::model();
    each(&model);
    frontiers(&model, 2, "");
    frontiers(&model, 3, "< 60 s");
    if std::env::args().any(|argument| argument == "--all") {
        frontiers(&model, 4, "");
    }
}
