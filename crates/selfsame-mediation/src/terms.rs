//! How far an agent serves peers without an address, and other agents as their mediator.

use std::time::Duration;

/// The bytes of a megabyte.
const MEGABYTE: u64 = 1 << 20;

/// How far an agent serves peers without an address, and other agents as their mediator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MediationTerms {
    /// Whether each peer that asks for mediation is granted it.
    pub is_open: bool,
    /// Seconds for which an envelope waits.
    pub kept_seconds: u64,
    /// How many envelopes wait for one peer.
    pub each: usize,
    /// How many bytes wait for one peer.
    pub each_bytes: u64,
    /// How many envelopes wait in all: those that this agent sends, and as many again for whom it mediates.
    pub all: u64,
    /// How many bytes wait in all, counted alike.
    pub all_bytes: u64,
    /// How many keys one peer has in its keylist.
    pub keys: u32,
    /// How long a request with a return route is kept for an answer.
    pub return_wait: Duration,
}

impl Default for MediationTerms {
    fn default() -> Self {
        Self {
            is_open: false,
            kept_seconds: 7 * 24 * 3600,
            each: 500,
            each_bytes: 16 * MEGABYTE,
            all: 100_000,
            all_bytes: 1_024 * MEGABYTE,
            keys: 1_000,
            return_wait: Duration::from_secs(1),
        }
    }
}
