//! Wrong passwords, counted so that whoever guesses is slowed down and nobody else.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use selfsame_crypto::time::UnixTime;

use crate::error::{Error, ErrorKind, Result};

/// Wrong passwords for one account from one neighbourhood, or by one device that is known to it, before each further
/// one costs time.
const FREE: u32 = 10;
/// Wrong passwords from one address, which may be the door of a whole hospital.
const OF_ADDRESS_MAX: u32 = 50;
/// What is longer ago is forgotten; nobody waits for longer.
const WINDOW: u64 = 15 * 60;
const TRACKED_MAX: usize = 65_536;

/// The attempts of one instance.
#[derive(Default)]
pub(super) struct Attempts(Mutex<Tried>);

type Tried = HashMap<Key, Count>;

/// What attempts are counted under.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Key {
    /// An account, guessed at from a neighbourhood.
    Pair(String, String),
    /// A device that has signed in to the account before.
    Device(String),
    /// An address, whatever the account.
    Address(String),
}

struct Count {
    failed: u32,
    since: UnixTime,
    last: UnixTime,
    /// Those whose password is being looked at.
    pending: u32,
}

/// One attempt, which counts for as long as it is looked at. Whoever goes away meanwhile learns nothing about the
/// password, and nothing is counted.
pub(super) struct Attempt<'a> {
    attempts: &'a Attempts,
    keys: Vec<Key>,
}

impl Attempts {
    /// Looks and counts in one go, before the password is looked at: of attempts made at once no two see the same
    /// number.
    ///
    /// # Errors
    /// `TooMany`, with the time to wait.
    pub(super) fn begin(&self, keys: Vec<Key>, now: UnixTime) -> Result<Attempt<'_>> {
        let mut tried = self.tried();
        for key in &keys {
            if let Some(count) = tried.get(key) {
                count.is_open(key, now)?;
            }
        }
        for key in &keys {
            let count = counted(&mut tried, key, now);
            count.pending = count.pending.saturating_add(1);
        }
        drop(tried);
        Ok(Attempt {
            attempts: self,
            keys,
        })
    }

    fn tried(&self) -> std::sync::MutexGuard<'_, Tried> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    pub(super) fn was_wrong(self, now: UnixTime) {
        let mut tried = self.attempts.tried();
        for key in &self.keys {
            let count = counted(&mut tried, key, now);
            count.failed = count.failed.saturating_add(1);
            count.last = now;
        }
    }

    /// An address's wrong guesses at others stay counted, whoever there has an account of his own.
    pub(super) fn was_right(self) {
        let mut tried = self.attempts.tried();
        for key in &self.keys {
            if let (Key::Pair(..) | Key::Device(_), Some(count)) = (key, tried.get_mut(key)) {
                count.failed = 0;
            }
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut tried = self.attempts.tried();
        for key in &self.keys {
            if let Some(count) = tried.get_mut(key) {
                count.pending = count.pending.saturating_sub(1);
                if count.failed == 0 && count.pending == 0 {
                    tried.remove(key);
                }
            }
        }
    }
}

impl Key {
    fn most(&self) -> u32 {
        match self {
            Self::Pair(..) | Self::Device(_) => FREE,
            Self::Address(_) => OF_ADDRESS_MAX,
        }
    }
}

impl Count {
    /// Whether its window is over: for who is slowed down, that of the last wrong one.
    fn is_over(&self, key: &Key, now: UnixTime) -> bool {
        let since = match key {
            Key::Pair(..) | Key::Device(_) => self.last,
            Key::Address(_) => self.since,
        };
        now >= since.plus(WINDOW)
    }

    /// Whether one more may be made.
    fn is_open(&self, key: &Key, now: UnixTime) -> Result<()> {
        let most = key.most();
        let failed = if self.is_over(key, now) {
            0
        } else {
            self.failed
        };
        if failed >= most {
            let until = match key {
                Key::Pair(..) | Key::Device(_) => {
                    self.last.plus(delay(failed.saturating_sub(most)))
                }
                Key::Address(_) => self.since.plus(WINDOW),
            };
            if now < until {
                let retry_after = until.seconds_since(now);
                return Err(too_many(retry_after, "too many wrong passwords")
                    .with_hint("wait a while before you try again"));
            }
            // Its turn has come: one at a time.
            return match self.pending {
                0 => Ok(()),
                _ => Err(crowded()),
            };
        }
        match failed.saturating_add(self.pending) >= most {
            true => Err(crowded()),
            false => Ok(()),
        }
    }
}

/// Seconds between a wrong password and the next one, after so many beyond those that are free.
fn delay(beyond: u32) -> u64 {
    2_u64.saturating_pow(beyond.saturating_add(1)).min(WINDOW)
}

fn too_many(retry_after: u64, reason: &str) -> Error {
    Error::new(ErrorKind::TooMany { retry_after }, reason)
}

fn crowded() -> Error {
    too_many(1, "too many people sign in at this moment").with_hint("try again in a moment")
}

/// What is counted under a key, within the window.
fn counted<'a>(tried: &'a mut Tried, key: &Key, now: UnixTime) -> &'a mut Count {
    if tried.len() >= TRACKED_MAX {
        tried.retain(|key, count| count.pending > 0 || !count.is_over(key, now));
    }
    if tried.len() >= TRACKED_MAX {
        // Whoever fills this up frees nobody who has to wait.
        tried.retain(|key, count| count.failed >= key.most());
    }
    if tried.len() >= TRACKED_MAX {
        tried.clear();
    }
    let fresh = || Count {
        failed: 0,
        since: now,
        last: now,
        pending: 0,
    };
    let count = tried.entry(key.clone()).or_insert_with(fresh);
    if count.is_over(key, now) {
        count.failed = 0;
        count.since = now;
        count.last = now;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> UnixTime {
        UnixTime(1_000_000 + seconds)
    }

    fn pair() -> Vec<Key> {
        vec![Key::Pair("account".to_owned(), "neighbourhood".to_owned())]
    }

    fn wait(attempts: &Attempts, keys: Vec<Key>, now: UnixTime) -> Option<u64> {
        match attempts
            .begin(keys, now)
            .map(|_| ())
            .map_err(|error| error.kind)
        {
            Ok(()) => None,
            Err(ErrorKind::TooMany { retry_after }) => Some(retry_after),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_wrong_password_beyond_the_free_ones_costs_twice_the_time_of_the_one_before() {
        let attempts = Attempts::default();
        let mut now = 0;
        for _ in 0..FREE {
            attempts.begin(pair(), at(now)).unwrap().was_wrong(at(now));
        }
        let mut waits = Vec::new();
        for _ in 0..9 {
            let seconds = wait(&attempts, pair(), at(now)).unwrap();
            waits.push(seconds);
            now += seconds;
            attempts.begin(pair(), at(now)).unwrap().was_wrong(at(now));
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 512]);
        // After that its count begins anew with each quarter of an hour.
        assert_eq!(wait(&attempts, pair(), at(now)), Some(WINDOW));
    }

    #[test]
    fn when_its_turn_has_come_one_is_looked_at_and_no_more() {
        let attempts = Attempts::default();
        for _ in 0..FREE {
            attempts.begin(pair(), at(0)).unwrap().was_wrong(at(0));
        }
        let first = attempts.begin(pair(), at(2)).unwrap();
        assert_eq!(wait(&attempts, pair(), at(2)), Some(1));
        first.was_right();
        assert_eq!(wait(&attempts, pair(), at(2)), None);
    }

    #[test]
    fn what_is_counted_elsewhere_slows_nobody_down() {
        let attempts = Attempts::default();
        for _ in 0..FREE {
            attempts.begin(pair(), at(0)).unwrap().was_wrong(at(0));
        }
        for keys in [
            vec![Key::Pair("account".to_owned(), "elsewhere".to_owned())],
            vec![Key::Pair("other".to_owned(), "neighbourhood".to_owned())],
            vec![Key::Device("device".to_owned())],
        ] {
            assert_eq!(wait(&attempts, keys, at(0)), None);
        }
        assert_eq!(wait(&attempts, pair(), at(WINDOW)), None);
    }
}
