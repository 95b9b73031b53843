//! Keys and DIDs of a connection that were in use before.

use selfsame_aries::key::VerKey;
use serde::{Deserialize, Serialize};

use crate::speaker::Speaker;

/// How many former keys of a side are kept.
const FORMER_MAX: usize = 4;

/// Keys that were in use before.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct FormerKeys {
    /// Ours.
    pub own: Vec<VerKey>,
    /// The peer's, or the peer's former DIDs.
    pub theirs: Vec<Speaker>,
}

impl FormerKeys {
    /// Keeps one of ours.
    pub fn keep_own(&mut self, key: Option<VerKey>) {
        keep(&mut self.own, key);
    }

    /// Keeps one of the peer's.
    pub fn keep_theirs(&mut self, speaker: Option<Speaker>) {
        keep(&mut self.theirs, speaker);
    }
}

fn keep<T>(former: &mut Vec<T>, one: Option<T>) {
    former.extend(one);
    let surplus = former.len().saturating_sub(FORMER_MAX);
    former.drain(..surplus);
}
