//! Counts durable commits and records the time of recent ones.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

const REMEMBERED: usize = 1_024;

/// Statistics of durable commits.
#[derive(Debug, Default)]
pub struct Meter {
    commits: AtomicU64,
    spent_micros: AtomicU64,
    last_micros: AtomicU32,
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    micros: Vec<u32>,
    next: usize,
}

impl Meter {
    /// The number of durable commits so far: how often the disk was waited for.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// The total time of these commits, each from the end of its last write to the disk's answer.
    pub fn spent(&self) -> Duration {
        Duration::from_micros(self.spent_micros.load(Ordering::Relaxed))
    }

    /// The median over the last durable commits, from the end of the last write to the disk's answer.
    pub fn median(&self) -> Option<Duration> {
        let mut micros = self.recent.lock().ok()?.micros.clone();
        let middle = micros.len() / 2;
        if micros.is_empty() {
            return None;
        }
        let (_, median, _) = micros.select_nth_unstable(middle);
        Some(Duration::from_micros(u64::from(*median)))
    }

    /// The time of the last durable commit.
    pub(crate) fn last(&self) -> Duration {
        Duration::from_micros(u64::from(self.last_micros.load(Ordering::Relaxed)))
    }

    /// Counts a durable commit that took this long.
    pub fn record(&self, took: Duration) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        self.spent_micros
            .fetch_add(u64::from(micros), Ordering::Relaxed);
        self.last_micros.store(micros, Ordering::Relaxed);
        let Ok(mut recent) = self.recent.lock() else {
            return;
        };
        let next = recent.next;
        match recent.micros.get_mut(next) {
            Some(slot) => *slot = micros,
            None => recent.micros.push(micros),
        }
        recent.next = (next + 1) % REMEMBERED;
    }
}

/// Runs and measures. The only place in this crate that reads a monotonic clock.
#[allow(
    clippy::disallowed_methods,
    reason = "the cost of the disk can only be measured where it is waited for"
)]
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = std::time::Instant::now();
    let result = run();
    (result, start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_over_the_recent_commits_only() {
        let meter = Meter::default();
        assert_eq!(meter.median(), None);
        for _ in 0..REMEMBERED {
            meter.record(Duration::from_micros(900));
        }
        for _ in 0..REMEMBERED {
            meter.record(Duration::from_micros(200));
        }
        assert_eq!(meter.commits(), 2 * REMEMBERED as u64);
        assert_eq!(meter.spent(), Duration::from_micros(1_100) * 1_024);
        assert_eq!(meter.median(), Some(Duration::from_micros(200)));
    }
}
