//! Metrics of signatures in tokens, and the clock that measures them.

use std::sync::Once;
use std::time::{Duration, Instant};

use metrics::{counter, describe_counter, describe_histogram, histogram};

const SIGNATURES: &str = "selfsame_hsm_signatures_total";
const TIME: &str = "selfsame_hsm_signature_seconds";
const OPENED: &str = "selfsame_hsm_sessions_opened_total";

/// A moment that time is measured from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(Instant);

impl Moment {
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "measures how long a token takes, and how long ago a module was initialised"
)]
pub(crate) fn now() -> Moment {
    Moment(Instant::now())
}

/// Describes the metrics once something records them: by then, the process has its recorder.
static DESCRIBED: Once = Once::new();

fn describe() {
    describe_counter!(
        SIGNATURES,
        "Signatures asked of tokens (HSM), by result: made or failed."
    );
    describe_histogram!(
        TIME,
        "Time until a token (HSM) had signed or refused, with the time that the request waited for a session."
    );
    describe_counter!(
        OPENED,
        "Sessions opened with tokens (HSM); it grows when sessions or tokens are lost."
    );
}

pub(crate) fn signature(is_made: bool, since: Moment) {
    DESCRIBED.call_once(describe);
    let result = if is_made { "made" } else { "failed" };
    counter!(SIGNATURES, "result" => result).increment(1);
    histogram!(TIME).record(since.elapsed());
}

pub(crate) fn session_opened() {
    counter!(OPENED).increment(1);
}
