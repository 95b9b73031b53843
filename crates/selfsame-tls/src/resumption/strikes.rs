//! A register of hellos whose early data was accepted (RFC 8446 §8.2), against replay: bounded, and refuses in doubt.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Mutex, PoisonError};

use selfsame_crypto::time::UnixTime;

/// A register of hellos. [`StrikeRegister`] is for one process; a shared register has to answer at once, and refuse if
/// its storage is unreachable.
pub trait Strikes: Debug + Send + Sync {
    /// The time from which on the register is complete.
    fn since(&self) -> UnixTime;

    /// Records a hello's hash until `until`. Returns whether it is new and now recorded; both must be one atomic step,
    /// or two simultaneous connections could get the same answer.
    fn strike(&self, hello: &[u8; 32], until: UnixTime, now: UnixTime) -> bool;
}

/// The register of one process. When it is full, it refuses everything until an entry expires, so filling it only
/// prevents early data of others.
pub struct StrikeRegister {
    since: UnixTime,
    most: usize,
    kept: Mutex<KeptStrikes>,
}

#[derive(Default)]
struct KeptStrikes {
    hellos: HashMap<[u8; 32], UnixTime>,
    /// The latest time it was given. Entries that had expired by then are removed.
    latest: UnixTime,
}

impl StrikeRegister {
    /// Records at most `most` hellos of 40 bytes each, from `now` on.
    pub fn new(most: usize, now: UnixTime) -> Self {
        Self {
            since: now,
            most,
            kept: Mutex::default(),
        }
    }
}

impl Debug for StrikeRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StrikeRegister")
            .field("since", &self.since)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

impl Strikes for StrikeRegister {
    fn since(&self) -> UnixTime {
        self.since
    }

    fn strike(&self, hello: &[u8; 32], until: UnixTime, now: UnixTime) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if now > kept.latest {
            kept.latest = now;
            kept.hellos.retain(|_, until| *until > now);
        }
        // If the clock was set back, it may have been removed already.
        let may_be_forgotten = until <= kept.latest;
        if may_be_forgotten || kept.hellos.len() >= self.most || kept.hellos.contains_key(hello) {
            return false;
        }
        kept.hellos.insert(*hello, until);
        true
    }
}
