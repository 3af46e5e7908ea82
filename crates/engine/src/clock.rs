//! When a search is given up: by the time that its own thread was busy, which does not depend on what else the computer does.

use std::cell::Cell;
use std::thread::{self, ThreadId};
use std::time::Duration;

use web_time::Instant;

/// When a search is given up. One of [`Deadline::after`] is on the clock of the thread that made it: only that thread may ask it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// A time on the clock of a thread.
    busy: Option<(ThreadId, Duration)>,
    moment: Option<Instant>,
}

thread_local! {
    /// When this thread last read its own clock, and what that said. Reading it takes a call of the operating system.
    static READ: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

impl Deadline {
    /// When this thread has run for so long.
    pub fn after(time: Duration) -> Deadline {
        let busy = Some((thread::current().id(), busy(Instant::now()).saturating_add(time)));
        Deadline { busy, moment: None }
    }

    /// At this moment, however long a thread has run.
    pub fn at(moment: Instant) -> Deadline {
        Deadline { busy: None, moment: Some(moment) }
    }

    /// Whichever comes first.
    #[must_use]
    pub fn or(self, other: Option<Deadline>) -> Deadline {
        let Some(other) = other else { return self };
        Deadline {
            busy: self.busy.into_iter().chain(other.busy).min_by_key(|&(_, end)| end),
            moment: self.moment.into_iter().chain(other.moment).min(),
        }
    }

    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// How long it is until then, at least: a thread is not busier than the clock.
    pub fn left(&self) -> Duration {
        let now = Instant::now();
        let until = |moment: Instant| moment.saturating_duration_since(now);
        let own = self.busy.map(|(thread, end)| {
            debug_assert_eq!(thread, thread::current().id(), "each thread has its own clock");
            let known = READ.get().map(|(at, busy)| busy + now.saturating_duration_since(at));
            let left = known.map_or(Duration::ZERO, |most| end.saturating_sub(most));
            if left.is_zero() { end.saturating_sub(busy(now)) } else { left }
        });
        own.into_iter().chain(self.moment.map(until)).min().unwrap_or(Duration::MAX)
    }
}

/// How long this thread has run.
fn busy(now: Instant) -> Duration {
    #[cfg(unix)]
    let busy = {
        use rustix::time::{ClockId, clock_gettime};
        Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
    };
    // Where no such clock is known, the time since the first look stands for it.
    #[cfg(not(unix))]
    let busy = READ.get().map_or(Duration::ZERO, |(at, busy)| busy + (now - at));
    READ.set(Some((now, busy)));
    busy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_that_is_over_ends_all() {
        let soon = Deadline::after(Duration::from_hours(1));
        assert!(!soon.is_over() && soon.left() <= Duration::from_hours(1));
        assert!(soon.or(Some(Deadline::at(Instant::now()))).is_over());
        assert!(Deadline::after(Duration::ZERO).or(Some(soon)).is_over());
    }

    #[cfg(unix)]
    #[test]
    fn who_sleeps_is_not_busy() {
        let time = Duration::from_millis(200);
        let (deadline, start) = (Deadline::after(time), Instant::now());
        thread::sleep(2 * time);
        assert!(!deadline.is_over());
        while !deadline.is_over() {
            std::hint::spin_loop();
        }
        assert!(start.elapsed() >= 2 * time + time / 2);
    }
}
