//! How often each of many did something lately. It is kept in memory, so each process counts on its own: it bounds what a
//! flood costs. What must hold over all processes is counted in records.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;

/// The number of different ones in a window. Beyond it, the window ends early.
const ROOM: usize = 65_536;

/// How often each did something within a sliding window.
#[derive(Debug)]
pub struct RecentCounts<K> {
    most: u64,
    window: u64,
    kept: Mutex<KeptCounts<K>>,
}

/// The counts of this window and of the one before.
#[derive(Debug)]
struct KeptCounts<K> {
    since: UnixTime,
    now: HashMap<K, u64>,
    before: HashMap<K, u64>,
}

impl<K: Eq + Hash> RecentCounts<K> {
    /// Each may do something `most` times within a window of this number of seconds.
    #[must_use]
    pub fn new(most: u64, window: u64) -> Self {
        let kept = KeptCounts {
            since: UnixTime::default(),
            now: HashMap::new(),
            before: HashMap::new(),
        };
        Self {
            most,
            window,
            kept: Mutex::new(kept),
        }
    }

    /// Counts one more, unless it is too many.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn count(&self, key: K, now: UnixTime) -> Result<(), u64> {
        self.admits(&key, now)?;
        self.add(key, now);
        Ok(())
    }

    /// Whether one more would not be too many.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn admits(&self, key: &K, now: UnixTime) -> Result<(), u64> {
        let kept = self.turned(now);
        let left = self.window.saturating_sub(now.seconds_since(kept.since));
        let of = |counts: &HashMap<K, u64>| counts.get(key).copied().unwrap_or_default();
        // Of the window before, the part counts that is not yet over.
        let before = of(&kept.before).saturating_mul(left) / self.window.max(1);
        match of(&kept.now).saturating_add(before) < self.most {
            true => Ok(()),
            false => Err(left.max(1)),
        }
    }

    /// Counts one more.
    pub fn add(&self, key: K, now: UnixTime) {
        let mut kept = self.turned(now);
        if kept.now.len() >= ROOM {
            kept.turn(now);
        }
        let count = kept.now.entry(key).or_default();
        *count = count.saturating_add(1);
    }

    fn turned(&self, now: UnixTime) -> MutexGuard<'_, KeptCounts<K>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let age = now.seconds_since(kept.since);
        if age >= self.window.saturating_mul(2) {
            kept.now.clear();
        }
        if age >= self.window {
            kept.turn(now);
        }
        kept
    }
}

impl<K> KeptCounts<K> {
    fn turn(&mut self, now: UnixTime) {
        self.since = now;
        self.before = std::mem::take(&mut self.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> UnixTime {
        UnixTime(1_000_000 + seconds)
    }

    #[test]
    fn who_did_it_too_often_waits_and_others_do_not() {
        let counts = RecentCounts::new(3, 600);
        for second in 0..3 {
            assert_eq!(counts.count("a", at(second)), Ok(()));
        }
        assert_eq!(counts.count("a", at(100)), Err(500));
        assert_eq!(counts.admits(&"a", at(100)), Err(500));
        assert_eq!(counts.count("b", at(100)), Ok(()));
    }

    #[test]
    fn the_window_slides() {
        let counts = RecentCounts::new(4, 600);
        for _ in 0..4 {
            counts.count("a", at(0)).unwrap();
        }
        // Right after the window all four still count, in its middle two, at its end none.
        assert!(counts.count("a", at(600)).is_err());
        assert_eq!(counts.count("a", at(900)), Ok(()));
        assert_eq!(counts.count("a", at(900)), Ok(()));
        assert!(counts.count("a", at(900)).is_err());
        assert_eq!(counts.admits(&"a", at(3_000)), Ok(()));
    }

    #[test]
    fn no_more_is_kept_than_two_windows_with_room() {
        let counts = RecentCounts::new(1, 600);
        for number in 0..3 * ROOM {
            counts.add(number, at(0));
        }
        let kept = counts.kept.lock().unwrap();
        assert!(kept.now.len() <= ROOM && kept.before.len() <= ROOM);
    }
}
