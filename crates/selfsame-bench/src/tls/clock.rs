//! The clocks of a measurement.

use std::time::{Instant, SystemTime};

use selfsame_crypto::time::UnixTime;

/// The clock that measures.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub(super) fn clock() -> Instant {
    Instant::now()
}

/// The machine's current time, at which certificates and credentials are checked.
#[expect(clippy::disallowed_methods, reason = "this process has no other clock")]
pub(super) fn now() -> UnixTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixTime(since.map_or(0, |since| since.as_secs()))
}
