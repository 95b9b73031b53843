//! The clock of the measurement.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use selfsame_crypto::time::UnixTime;

/// Now, for measuring how long something takes.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub fn now() -> Instant {
    Instant::now()
}

/// Now, as requests and assertions say it.
#[expect(
    clippy::disallowed_methods,
    reason = "a request says when it is made, as a client does"
)]
pub fn wall_clock() -> UnixTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    UnixTime(since.map_or(0, |since| since.as_secs()))
}
