//! Says which tests of a run take long, above the progress bar of a terminal.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::{input, progress};

/// When a test is first said to be slow; it is said again after twice the time.
const FIRST: Duration = Duration::from_secs(10);

/// How often to look.
const LOOK: Duration = Duration::from_secs(1);

/// A test at work.
struct RunningTest {
    since: Instant,
    next: Duration,
}

type RunningTests = Arc<Mutex<BTreeMap<usize, RunningTest>>>;

/// The tests at work, and the thread that looks at them; there is none without a visible progress bar.
pub struct SlowTests {
    running: RunningTests,
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

impl SlowTests {
    pub fn new(bar: ProgressBar, names: Vec<PathBuf>) -> SlowTests {
        let running = RunningTests::default();
        if bar.is_hidden() {
            return SlowTests { running, watch: None };
        }
        let seen = Arc::clone(&running);
        let (end, ended) = mpsc::channel();
        let watch = thread::spawn(move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                for (index, seconds) in due(&seen) {
                    let path = input::shown(&names[index]);
                    progress::notice(&bar, &format!("slow: {path}: running for {seconds} s"));
                }
            }
        });
        SlowTests { running, watch: Some((end, watch)) }
    }

    /// Does the work of a file.
    pub fn during<T>(&self, index: usize, work: impl FnOnce() -> T) -> T {
        if self.watch.is_none() {
            return work();
        }
        let running = RunningTest { since: Instant::now(), next: FIRST };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(index, running);
        let done = work();
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&index);
        done
    }
}

/// The tests that have become slow since the last call, and their seconds.
fn due(running: &RunningTests) -> Vec<(usize, u64)> {
    let mut all = running.lock().unwrap_or_else(PoisonError::into_inner);
    let late = all.iter_mut().filter(|(_, test)| test.since.elapsed() >= test.next);
    late.map(|(index, test)| {
        test.next *= 2;
        (*index, test.since.elapsed().as_secs())
    })
    .collect()
}

impl Drop for SlowTests {
    fn drop(&mut self) {
        if let Some((end, watch)) = self.watch.take() {
            drop(end);
            drop(watch.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_slow_after_ten_seconds_and_again_after_twenty() {
        let running = RunningTests::default();
        let since = |seconds: u64| Instant::now().checked_sub(Duration::from_secs(seconds));
        let at = |seconds: u64| {
            let Some(since) = since(seconds) else { return Vec::new() };
            let mut all = running.lock().expect("no thread panicked");
            all.entry(7).or_insert(RunningTest { since, next: FIRST }).since = since;
            drop(all);
            due(&running)
        };
        assert_eq!(at(9), []);
        assert_eq!(at(11), [(7, 11)]);
        assert_eq!(at(19), []);
        assert_eq!(at(21), [(7, 21)]);
    }
}
