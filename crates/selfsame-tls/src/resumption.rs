//! Resumption (RFC 8446 §2.2, §4.6.1): tickets that a server seals and a client stores, bound to identity and policy.

mod early;
mod rejudge;
mod sessions;
mod strikes;
mod ticket;
mod ticket_keys;

use std::fmt::Debug;

use selfsame_crypto::time::UnixTime;

use crate::identity::Peer;

pub use crate::evidence::AtHand;
pub use early::EarlyData;
pub use rejudge::Rejudge;
pub use sessions::Sessions;
pub use strikes::{StrikeRegister, Strikes};
pub use ticket_keys::TicketKeys;

pub(crate) use early::EarlyOffer;
pub(crate) use sessions::{Collector, TicketSession};
pub(crate) use ticket::Ticketed;
pub(crate) use ticket_keys::MAX_TICKETS;

/// A ticket may be used at most seven days after the identity was proved (§4.6.1).
pub(crate) const MAX_LIFETIME: u64 = 7 * 86_400;

/// Judges again whether a peer that proved its identity earlier is still accepted. Both sides ask it before a ticket is
/// used. It answers from what is at hand, without waiting.
pub trait Revalidate: Debug + Send + Sync {
    /// The status epoch: a number that changes whenever something is revoked. It is stored with each ticket.
    fn epoch(&self) -> u64;

    /// Whether `peer`, which proved its identity in epoch `epoch`, is still accepted. If it is not, or if that is
    /// unknown, a full handshake judges it anew.
    fn still_holds(&self, peer: &Peer, epoch: u64, now: UnixTime) -> bool;
}

/// Until when a peer proved at `verified_at` may resume; `None` if that time has passed.
pub(crate) fn until(peer: &Peer, verified_at: UnixTime, now: UnixTime) -> Option<UnixTime> {
    let most = verified_at.plus(MAX_LIFETIME);
    let until = peer.until.map_or(most, |end| end.min(most));
    (until > now).then_some(until)
}

#[cfg(test)]
mod tests;
