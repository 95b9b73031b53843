//! Counts wrong passwords, so that an attacker who guesses is slowed down, and no one else.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind, Result};

/// Wrong passwords for one account from one neighbourhood, or from one device known to it, before each further one
/// costs time.
const FREE: u32 = 10;
/// Seconds after which a count starts anew; also the longest wait of a known device.
const WINDOW: u64 = 15 * 60;
/// Wrong passwords in an hour from one address, which a whole hospital may share.
const OF_ADDRESS: u32 = 50;
/// Wrong passwords in an hour for one account by browsers that have never signed in to it, from anywhere: guesses
/// spread over many networks add up for the account.
const OF_ACCOUNT: u32 = 100;
const HOUR: u64 = 3600;
/// Maximum wait in seconds beyond these limits. It is short: a person with an unknown browser takes turns with an
/// attacker who guesses at their account or from their network, and is not locked out.
const SLOWEST: u64 = 32;
const TRACKED_MAX: usize = 65_536;

/// The attempts of one instance.
#[derive(Default)]
pub(super) struct Attempts(Mutex<Tried>);

type Tried = HashMap<AttemptKey, AttemptCount>;

/// The keys that attempts are counted under.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum AttemptKey {
    /// An account together with the neighbourhood of the guesses.
    Pair(String, String),
    /// A device that has signed in to the account before.
    Device(String),
    /// An address, for any accounts.
    Address(String),
    /// An account, for guesses by browsers that are not known to it.
    Account(String),
}

struct AttemptCount {
    failed: u32,
    since: UnixTime,
    last: UnixTime,
    /// Attempts whose password is being checked.
    pending: u32,
}

/// One attempt, which counts while its password is being checked. If the client goes away meanwhile, it learns nothing
/// about the password, and nothing is counted.
pub(super) struct Attempt<'a> {
    attempts: &'a Attempts,
    keys: Vec<AttemptKey>,
}

impl Attempts {
    /// Checks the limits and counts the attempt in one step, before its password is checked: no two simultaneous
    /// attempts see the same number.
    ///
    /// # Errors
    /// `TooMany`, with the time to wait.
    pub(super) fn begin(&self, keys: Vec<AttemptKey>, now: UnixTime) -> Result<Attempt<'_>> {
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

    /// Resets the counts of the pair and the device only: other wrong guesses from the address stay counted, so having
    /// an account of one's own there does not clear them.
    pub(super) fn was_right(self) {
        let mut tried = self.attempts.tried();
        for key in &self.keys {
            if let (AttemptKey::Pair(..) | AttemptKey::Device(_), Some(count)) =
                (key, tried.get_mut(key))
            {
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

impl AttemptKey {
    fn most(&self) -> u32 {
        match self {
            Self::Pair(..) | Self::Device(_) => FREE,
            Self::Address(_) => OF_ADDRESS,
            Self::Account(_) => OF_ACCOUNT,
        }
    }

    /// Seconds between a wrong password and the next attempt, after `beyond` attempts over the limit.
    fn delay(&self, beyond: u32) -> u64 {
        let slowest = match self {
            Self::Pair(..) | Self::Address(_) | Self::Account(_) => SLOWEST,
            Self::Device(_) => WINDOW,
        };
        2_u64.saturating_pow(beyond.saturating_add(1)).min(slowest)
    }

    /// The refusal after too many wrong passwords.
    fn refused(&self, retry_after: u64) -> Error {
        let kind = ErrorKind::TooMany { retry_after };
        match self {
            Self::Account(_) => Error::new(kind, "passwords-wrong-for-account"),
            Self::Address(_) => Error::new(kind, "passwords-wrong-from-network"),
            Self::Pair(..) | Self::Device(_) => Error::new(kind, "passwords-wrong"),
        }
    }
}

impl AttemptCount {
    /// Whether the count's window is over. For pairs and devices it starts at the last wrong password.
    fn is_over(&self, key: &AttemptKey, now: UnixTime) -> bool {
        let end = match key {
            AttemptKey::Pair(..) | AttemptKey::Device(_) => self.last.plus(WINDOW),
            AttemptKey::Address(_) | AttemptKey::Account(_) => self.since.plus(HOUR),
        };
        now >= end
    }

    /// Checks that one more attempt may be made.
    fn is_open(&self, key: &AttemptKey, now: UnixTime) -> Result<()> {
        let most = key.most();
        let failed = if self.is_over(key, now) {
            0
        } else {
            self.failed
        };
        if failed >= most {
            let until = self.last.plus(key.delay(failed.saturating_sub(most)));
            if now < until {
                let retry_after = until.seconds_since(now);
                return Err(key.refused(retry_after));
            }
            // The wait is over: one attempt at a time.
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

fn crowded() -> Error {
    Error::new(ErrorKind::TooMany { retry_after: 1 }, "sign-ins-crowded")
}

/// The count under a key, within its window.
fn counted<'a>(tried: &'a mut Tried, key: &AttemptKey, now: UnixTime) -> &'a mut AttemptCount {
    if tried.len() >= TRACKED_MAX {
        tried.retain(|key, count| count.pending > 0 || !count.is_over(key, now));
    }
    if tried.len() >= TRACKED_MAX {
        // Filling up the table does not free anyone who must wait.
        tried.retain(|key, count| count.failed >= key.most());
    }
    if tried.len() >= TRACKED_MAX {
        tried.clear();
    }
    let fresh = || AttemptCount {
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

    fn pair() -> Vec<AttemptKey> {
        vec![AttemptKey::Pair(
            "account".to_owned(),
            "neighbourhood".to_owned(),
        )]
    }

    fn device() -> Vec<AttemptKey> {
        vec![AttemptKey::Device("device".to_owned())]
    }

    /// The number of wrong passwords checked within an hour if they come as fast as allowed.
    fn in_an_hour(keys: impl Fn(u32) -> Vec<AttemptKey>) -> u32 {
        let (attempts, mut now, mut looked_at) = (Attempts::default(), 0, 0);
        while now < HOUR {
            let keys = keys(looked_at);
            match wait(&attempts, keys.clone(), at(now)) {
                Some(seconds) => now += seconds,
                None => {
                    attempts.begin(keys, at(now)).unwrap().was_wrong(at(now));
                    looked_at += 1;
                }
            }
        }
        looked_at
    }

    fn wait(attempts: &Attempts, keys: Vec<AttemptKey>, now: UnixTime) -> Option<u64> {
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
            attempts
                .begin(device(), at(now))
                .unwrap()
                .was_wrong(at(now));
        }
        let mut waits = Vec::new();
        for _ in 0..9 {
            let seconds = wait(&attempts, device(), at(now)).unwrap();
            waits.push(seconds);
            now += seconds;
            attempts
                .begin(device(), at(now))
                .unwrap()
                .was_wrong(at(now));
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 512]);
        // After that the count starts anew every quarter of an hour.
        assert_eq!(wait(&attempts, device(), at(now)), Some(WINDOW));
    }

    #[test]
    fn guesses_of_one_address_and_of_one_neighbourhood_are_slowed_down_and_never_for_long() {
        let address = |_| vec![AttemptKey::Address("address".to_owned())];
        let neighbours = |_| pair();
        for (most, free, keys) in [
            (165, OF_ADDRESS, &address as &dyn Fn(u32) -> Vec<AttemptKey>),
            (125, FREE, &neighbours),
        ] {
            assert_eq!(in_an_hour(keys), most);
            let attempts = Attempts::default();
            let wrong = |now| attempts.begin(keys(0), at(now)).unwrap().was_wrong(at(now));
            (0..free).for_each(|_| wrong(0));
            let (mut now, mut waits) = (0, Vec::new());
            for _ in 0..7 {
                let seconds = wait(&attempts, keys(0), at(now)).unwrap();
                waits.push(seconds);
                now += seconds;
                wrong(now);
            }
            assert_eq!(waits, [2, 4, 8, 16, 32, 32, 32]);
            // A person beside the attacker gets a turn within half a minute; attempts are checked one at a time.
            now += SLOWEST;
            let first = attempts.begin(keys(0), at(now)).unwrap();
            assert_eq!(wait(&attempts, keys(0), at(now)), Some(1));
            first.was_right();
        }
    }

    #[test]
    fn an_attacker_with_all_networks_has_limited_guesses_an_hour_at_one_account() {
        let everywhere = |number: u32| {
            let pair = AttemptKey::Pair("account".to_owned(), number.to_string());
            let address = AttemptKey::Address(number.to_string());
            vec![pair, address, AttemptKey::Account("account".to_owned())]
        };
        assert_eq!(in_an_hour(everywhere), 215);
    }

    #[test]
    fn guesses_at_an_account_from_everywhere_are_slowed_down_and_never_for_long() {
        let attempts = Attempts::default();
        let from = |network: u32| {
            let pair = AttemptKey::Pair("account".to_owned(), network.to_string());
            vec![pair, AttemptKey::Account("account".to_owned())]
        };
        let wrong = |network, now| {
            let attempt = attempts.begin(from(network), at(now)).unwrap();
            attempt.was_wrong(at(now));
        };
        (0..OF_ACCOUNT).for_each(|network| wrong(network, 0));
        let (mut now, mut waits) = (0, Vec::new());
        for network in OF_ACCOUNT..OF_ACCOUNT + 7 {
            let seconds = wait(&attempts, from(network), at(now)).unwrap();
            waits.push(seconds);
            now += seconds;
            wrong(network, now);
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 32, 32]);
        // Another account, and a browser known to this one, do not wait.
        let other = vec![AttemptKey::Account("other".to_owned())];
        for keys in [other, vec![AttemptKey::Device("device".to_owned())]] {
            assert_eq!(wait(&attempts, keys, at(now)), None);
        }
        // A person who knows the password takes a turn too; that does not free the attacker.
        now += SLOWEST;
        attempts.begin(from(0), at(now)).unwrap().was_right();
        wrong(1, now);
        assert_eq!(wait(&attempts, from(2), at(now)), Some(SLOWEST));
        assert_eq!(wait(&attempts, from(3), at(HOUR)), None);
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
    fn wrong_passwords_counted_elsewhere_cause_no_wait() {
        let attempts = Attempts::default();
        for _ in 0..FREE {
            attempts.begin(pair(), at(0)).unwrap().was_wrong(at(0));
        }
        for keys in [
            vec![AttemptKey::Pair(
                "account".to_owned(),
                "elsewhere".to_owned(),
            )],
            vec![AttemptKey::Pair(
                "other".to_owned(),
                "neighbourhood".to_owned(),
            )],
            vec![AttemptKey::Device("device".to_owned())],
        ] {
            assert_eq!(wait(&attempts, keys, at(0)), None);
        }
        assert_eq!(wait(&attempts, pair(), at(WINDOW)), None);
    }
}
