//! Who takes early data (RFC 8446 §8): how much, how fresh a hello has to be, and that each is taken once.

use std::sync::Arc;

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;

use super::strikes::Strikes;
use super::ticket::Ticketed;

/// The most bytes of early data of a connection, which are kept until the application takes them.
const MOST_BYTES: u32 = 64 * 1024;
/// The widest window, in seconds to either side.
const WIDEST: u64 = 60;

/// That a server takes early data (0-RTT), which is sent along with the hello that resumes.
///
/// For protocols alone whose requests do no harm when they come twice: a register keeps every hello from being taken
/// twice where it is asked, and nothing keeps a client from sending the same once more when it was refused. It is not
/// protected by the key exchange, so who steals a ticket key can read it later.
#[derive(Clone, Debug)]
pub struct EarlyData {
    pub(crate) most: u32,
    window: u64,
    strikes: Arc<dyn Strikes>,
}

/// A hello that offers early data, with a ticket that is good and a binder that holds.
pub(crate) struct Offer<'a> {
    pub(crate) ticketed: &'a Ticketed,
    /// The ticket's age as the client says it.
    pub(crate) age: u32,
    pub(crate) binder: &'a [u8],
}

impl EarlyData {
    /// At most 16 KiB, of hellos that took ten seconds at most. All servers that take each other's tickets have to share
    /// what is behind `strikes`; those that do not would each take the same hello once.
    pub fn new(strikes: Arc<dyn Strikes>) -> Self {
        Self {
            most: 16 * 1024,
            window: 10,
            strikes,
        }
    }

    /// So many bytes of a connection, at most 64 KiB.
    #[must_use]
    pub fn of_bytes(self, most: u32) -> Self {
        let most = most.min(MOST_BYTES);
        Self { most, ..self }
    }

    /// Of hellos whose ticket is as old as they say, to so many seconds, at most 60.
    #[must_use]
    pub fn within(self, seconds: u64) -> Self {
        let window = seconds.min(WIDEST);
        Self { window, ..self }
    }

    /// Whether the early data of this hello is taken, which it is once.
    pub(crate) fn takes(&self, offer: &Offer<'_>, now: UnixTime) -> bool {
        let Offer { ticketed, .. } = offer;
        let was_promised = ticketed.early > 0 && ticketed.early <= self.most;
        // When the client says that it sent this, on our clock (§8.3).
        let age = u64::from(offer.age.wrapping_sub(ticketed.age_add)) / 1000;
        let sent_at = ticketed.issued_at.plus(age);
        let from = sent_at.minus(self.window);
        let until = sent_at.plus(self.window).plus(1);
        // What came before the register began was never noted in it (§8.2).
        let is_in_view = from > self.strikes.since();
        let is_fresh = from <= now && now < until;
        // The binder is over all of the hello before it, and no two hellos have the same.
        let strike = || self.strikes.strike(&sha256(offer.binder), until, now);
        was_promised && is_in_view && is_fresh && strike()
    }
}
