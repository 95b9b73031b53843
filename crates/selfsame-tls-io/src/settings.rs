//! Settings of the adaptors: clock, randomness, time-out and gatherer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::time::UnixTime;

/// Returns the current time and fresh randomness.
pub type HandshakeClock = Arc<dyn Fn() -> Ctx + Send + Sync>;

/// The system's time and randomness.
pub fn system_clock() -> HandshakeClock {
    Arc::new(|| Ctx::new(system_now(), random_seed()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a driver is where the time comes in; programs with a clock of their own give that one"
)]
fn system_now() -> UnixTime {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    UnixTime(now.map_or(0, |elapsed| elapsed.as_secs()))
}

/// How a handshake is run; `G` is a [`crate::Gather`] or a [`crate::GatherBlocking`].
pub struct HandshakeSettings<G: ?Sized> {
    /// Source of time and randomness.
    pub clock: HandshakeClock,
    /// Time-out of the whole handshake. Keep it longer than the patience of [`selfsame_tls::Limits`]; otherwise a peer
    /// whose evidence does not arrive is cut off without an alert.
    pub handshake: Duration,
    /// Fetches the evidence that a handshake needs.
    pub gather: Arc<G>,
}

impl<G> HandshakeSettings<G> {
    /// Uses the system's clock and 15 seconds for a handshake.
    pub fn new(gather: G) -> Self {
        Self::of(Arc::new(gather))
    }
}

impl<G: ?Sized> HandshakeSettings<G> {
    /// Like `Settings::new`, with a shared gatherer.
    pub fn of(gather: Arc<G>) -> Self {
        Self {
            clock: system_clock(),
            handshake: Duration::from_secs(15),
            gather,
        }
    }
}

impl<G: ?Sized> Clone for HandshakeSettings<G> {
    fn clone(&self) -> Self {
        Self {
            clock: Arc::clone(&self.clock),
            handshake: self.handshake,
            gather: Arc::clone(&self.gather),
        }
    }
}

impl<G: ?Sized> fmt::Debug for HandshakeSettings<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("handshake", &self.handshake)
            .finish_non_exhaustive()
    }
}
