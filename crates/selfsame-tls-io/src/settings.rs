//! What the adaptors take from around them: the time, randomness, and how long things may take.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::time::UnixTime;

/// Gives time and fresh randomness.
pub type Clock = Arc<dyn Fn() -> Ctx + Send + Sync>;

/// The system's time and randomness.
pub fn system_clock() -> Clock {
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

/// What a handshake is driven with; `G` is a [`crate::Gather`] or a [`crate::GatherBlocking`].
pub struct Settings<G: ?Sized> {
    /// Time and randomness.
    pub clock: Clock,
    /// A handshake as a whole. More than the patience of [`selfsame_tls::Limits`], or a peer whose evidence does not
    /// come is cut off without being told why.
    pub handshake: Duration,
    /// Who is asked what a handshake needs to know.
    pub gather: Arc<G>,
}

impl<G> Settings<G> {
    /// The system's clock, and 15 seconds for a handshake.
    pub fn new(gather: G) -> Self {
        Self::of(Arc::new(gather))
    }
}

impl<G: ?Sized> Settings<G> {
    /// The same with a gatherer that is shared.
    pub fn of(gather: Arc<G>) -> Self {
        Self {
            clock: system_clock(),
            handshake: Duration::from_secs(15),
            gather,
        }
    }
}

impl<G: ?Sized> Clone for Settings<G> {
    fn clone(&self) -> Self {
        Self {
            clock: Arc::clone(&self.clock),
            handshake: self.handshake,
            gather: Arc::clone(&self.gather),
        }
    }
}

impl<G: ?Sized> fmt::Debug for Settings<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("handshake", &self.handshake)
            .finish_non_exhaustive()
    }
}
