//! The limits of callers: of each network, and of what is done about each identifier. The limits of one sign-in, which
//! hold over all processes, are in its record.

use std::net::IpAddr;

use selfsame_driver::crowd::RecentCounts;

/// The calls of one network in ten minutes, unless the settings say otherwise.
pub const CALLS_EACH: u64 = 6_000;
/// Seconds within which is counted.
const WINDOW: u64 = 600;
/// One-time passwords for one identifier, from anywhere.
const SENDS_EACH: u64 = 20;
/// Wrong attempts about one identifier from one network: a caller cannot lock out a person who is elsewhere.
const WRONG_EACH: u64 = 15;

/// What was counted lately.
pub(crate) struct CallerLimits {
    /// Calls of each network.
    pub networks: RecentCounts<IpAddr>,
    /// One-time passwords for each identifier.
    pub sends: RecentCounts<[u8; 32]>,
    /// Wrong attempts about each identifier from each network.
    pub wrong: RecentCounts<[u8; 32]>,
}

impl CallerLimits {
    pub fn new(calls_each: u64) -> Self {
        Self {
            networks: RecentCounts::new(calls_each, WINDOW),
            sends: RecentCounts::new(SENDS_EACH, WINDOW),
            wrong: RecentCounts::new(WRONG_EACH, WINDOW),
        }
    }
}
