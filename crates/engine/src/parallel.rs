//! Pieces of work on several threads, with results in order.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::interrupt;

/// How long to wait for a result before looking whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// Does `count` pieces of work with `jobs` threads; calls `visit` with each result, in order, and with
/// nothing when all were visited or the run was interrupted: before threads still at work have ended.
pub fn in_order<T: Send>(
    count: usize,
    jobs: usize,
    work: &(dyn Fn(usize) -> T + Sync),
    visit: &mut dyn FnMut(Option<(usize, T)>) -> io::Result<()>,
) -> io::Result<()> {
    in_order_with(count, jobs, &|| (), &|(): &mut (), index| work(index), visit)
}

/// The same, where each thread has a state of its own that `state` makes.
fn in_order_with<S, T: Send>(
    count: usize,
    jobs: usize,
    state: &(dyn Fn() -> S + Sync),
    work: &(dyn Fn(&mut S, usize) -> T + Sync),
    visit: &mut dyn FnMut(Option<(usize, T)>) -> io::Result<()>,
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            let sender = sender.clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || {
                let mut state = state();
                while !stop.load(Ordering::Relaxed) && !interrupt::raised() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    let result = work(&mut state, index);
                    // What was interrupted is not done.
                    if interrupt::raised() || sender.send((index, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let mut shown = 0;
        let ready = || loop {
            match receiver.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Timeout) if !interrupt::raised() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
                Ok(done) => return Some(done),
            }
        };
        let mut show = |result| {
            let visited = visit(result);
            stop.store(stop.load(Ordering::Relaxed) || visited.is_err(), Ordering::Relaxed);
            visited
        };
        while let Some((index, result)) = ready() {
            waiting[index] = Some(result);
            while let Some(result) = waiting.get_mut(shown).and_then(Option::take) {
                show(Some((shown, result)))?;
                shown += 1;
            }
        }
        // An interrupted run: what is done after what is not.
        for (index, result) in waiting.into_iter().enumerate() {
            if let Some(result) = result {
                show(Some((index, result)))?;
            }
        }
        show(None)
    })
}

/// Does `count` pieces of work with `jobs` threads, each with a state of its own that `state` makes; the results are in
/// order. Those of an interrupted run are the ones that were done.
pub fn all<S, T: Send>(
    count: usize,
    jobs: usize,
    state: &(dyn Fn() -> S + Sync),
    work: &(dyn Fn(&mut S, usize) -> T + Sync),
) -> Vec<T> {
    let mut all = Vec::with_capacity(count);
    let visited = in_order_with(count, jobs, state, work, &mut |result| {
        all.extend(result.map(|(_, result)| result));
        Ok(())
    });
    visited.expect("nothing is written");
    all
}
