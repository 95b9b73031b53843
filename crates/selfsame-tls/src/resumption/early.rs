//! Rules for accepting early data (RFC 8446 §8): how much, how fresh the hello must be, and only once.

use std::sync::Arc;

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;

use super::strikes::Strikes;
use super::ticket::Ticketed;

/// Maximum bytes of early data per connection; they are buffered until the application takes them.
const MOST_BYTES: u32 = 64 * 1024;
/// The widest window, in seconds to either side.
const WIDEST: u64 = 60;

/// Enables early data (0-RTT) on a server, which is sent along with a hello that resumes.
///
/// Only for protocols whose requests do no harm if they arrive twice: a register prevents a hello from being accepted
/// twice where it is consulted, but a client may send the same data again after it was refused. Early data is not
/// protected by the key exchange, so a thief of a ticket key can decrypt it later.
#[derive(Clone, Debug)]
pub struct EarlyData {
    pub(crate) most: u32,
    window: u64,
    strikes: Arc<dyn Strikes>,
}

/// A hello that offers early data, with a valid ticket and binder.
pub(crate) struct EarlyOffer<'a> {
    pub(crate) ticketed: &'a Ticketed,
    /// The ticket's age according to the client.
    pub(crate) age: u32,
    pub(crate) binder: &'a [u8],
}

impl EarlyData {
    /// At most 16 KiB, from hellos that took at most ten seconds. All servers that accept each other's tickets have to
    /// share one register behind `strikes`; otherwise each would accept the same hello once.
    pub fn new(strikes: Arc<dyn Strikes>) -> Self {
        Self {
            most: 16 * 1024,
            window: 10,
            strikes,
        }
    }

    /// Maximum bytes per connection, limited to 64 KiB.
    #[must_use]
    pub fn of_bytes(self, most: u32) -> Self {
        let most = most.min(MOST_BYTES);
        Self { most, ..self }
    }

    /// Accepts hellos whose ticket age is accurate to this many seconds, limited to 60.
    #[must_use]
    pub fn within(self, seconds: u64) -> Self {
        let window = seconds.min(WIDEST);
        Self { window, ..self }
    }

    /// Whether this hello's early data is accepted, which happens only once.
    pub(crate) fn takes(&self, offer: &EarlyOffer<'_>, now: UnixTime) -> bool {
        let EarlyOffer { ticketed, .. } = offer;
        let was_promised = ticketed.early > 0 && ticketed.early <= self.most;
        // The time when the client says that it sent this, on our clock (§8.3).
        let age = u64::from(offer.age.wrapping_sub(ticketed.age_add)) / 1000;
        let sent_at = ticketed.issued_at.plus(age);
        let from = sent_at.minus(self.window);
        let until = sent_at.plus(self.window).plus(1);
        // Hellos sent before the register began are not in it (§8.2).
        let is_in_view = from > self.strikes.since();
        let is_fresh = from <= now && now < until;
        // The binder covers all of the hello before it, and differs between hellos.
        let strike = || self.strikes.strike(&sha256(offer.binder), until, now);
        was_promised && is_in_view && is_fresh && strike()
    }
}
