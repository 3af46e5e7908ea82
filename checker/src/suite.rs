//! Many files judged in parallel, and handed on in order.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use litmus::{Diagnostic, Test};

use crate::input;
use crate::judge::{Judgement, Task, judge};
use crate::kind::Kind;

/// What became of one file.
pub enum Outcome {
    Judged { test: Box<Test>, judgement: Box<Judgement> },
    Rejected(Vec<Diagnostic>),
    Unreadable(io::Error),
}

pub struct Item {
    /// As the user named it, or found below a folder the user named.
    pub path: PathBuf,
    pub outcome: Outcome,
}

/// Reads and judges one file.
pub fn judge_file(path: &Path, task: &Task<'_>) -> Outcome {
    let bytes = match input::read_kind(path, Kind::Litmus) {
        Ok(bytes) => bytes,
        Err(error) => return Outcome::Unreadable(error),
    };
    match litmus::parse(&path.to_string_lossy(), &bytes) {
        Ok(test) => {
            let judgement = Box::new(judge(&test, task));
            Outcome::Judged { test: Box::new(test), judgement }
        }
        Err(diagnostics) => Outcome::Rejected(diagnostics),
    }
}

/// Judges `files` with `jobs` threads; calls `visit` with each result, in the order of the files.
/// An error from `visit` (a closed pipe, say) ends the run.
pub fn run(
    files: &[PathBuf],
    task: &Task<'_>,
    jobs: usize,
    visit: &mut dyn FnMut(Item) -> io::Result<()>,
) -> io::Result<()> {
    let judged = |index: usize| judge_file(&files[index], task);
    in_order(files.len(), jobs, &judged, &mut |index, outcome| {
        visit(Item { path: files[index].clone(), outcome })
    })
}

/// Does `count` pieces of work with `jobs` threads; calls `visit` with each result, in order.
pub fn in_order<T: Send>(
    count: usize,
    jobs: usize,
    work: &(dyn Fn(usize) -> T + Sync),
    visit: &mut dyn FnMut(usize, T) -> io::Result<()>,
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            let sender = sender.clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || sender.send((index, work(index))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let mut shown = 0;
        for (index, result) in receiver {
            waiting[index] = Some(result);
            while let Some(result) = waiting.get_mut(shown).and_then(Option::take) {
                let visited = visit(shown, result);
                if visited.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    return visited;
                }
                shown += 1;
            }
        }
        Ok(())
    })
}
