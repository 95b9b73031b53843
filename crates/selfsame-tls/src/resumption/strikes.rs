//! The hellos whose early data was taken (RFC 8446 §8.2), so that none is taken twice: bounded, and in doubt it says no.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Mutex, PoisonError};

use selfsame_crypto::time::UnixTime;

/// Remembers hellos. [`StrikeRegister`] does it for one process; a shared one has to answer at once, and say no where it
/// cannot reach what it shares.
pub trait Strikes: Debug + Send + Sync {
    /// Since when it has missed nothing.
    fn since(&self) -> UnixTime;

    /// Notes a hello, by a hash, until that time. Whether it was not noted before, and is now: both have to be one step,
    /// or two connections at the same time are told the same.
    fn strike(&self, hello: &[u8; 32], until: UnixTime, now: UnixTime) -> bool;
}

/// The register of one process. When it is full it takes nothing more until something in it is over, so whoever fills it
/// can only keep others from being early.
pub struct StrikeRegister {
    since: UnixTime,
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    hellos: HashMap<[u8; 32], UnixTime>,
    /// The latest time that it was told. What was over by then is forgotten.
    latest: UnixTime,
}

impl StrikeRegister {
    /// Remembers at most so many hellos, of 40 bytes each, from `now` on.
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
        // If the clock was set back, it may have been forgotten already.
        let may_be_forgotten = until <= kept.latest;
        if may_be_forgotten || kept.hellos.len() >= self.most || kept.hellos.contains_key(hello) {
            return false;
        }
        kept.hellos.insert(*hello, until);
        true
    }
}
