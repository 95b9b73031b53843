//! Resumption (RFC 8446 §2.2, §4.6.1): tickets a server seals and a client keeps, each bound to identity and policy.

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

pub(crate) use early::Offer as EarlyOffer;
pub(crate) use sessions::{Collector, Session};
pub(crate) use ticket::Ticketed;
pub(crate) use ticket_keys::MAX_TICKETS;

/// The longest a ticket is used after the identity was proved (§4.6.1): seven days.
pub(crate) const MAX_LIFETIME: u64 = 7 * 86_400;

/// What the driver knows by now of somebody who proved an identity before: asked when a ticket is about to be used, by
/// either side. It answers from what is at hand, for nothing waits for it.
pub trait Revalidate: Debug + Send + Sync {
    /// A number that changes whenever something was revoked. It is kept with each ticket.
    fn epoch(&self) -> u64;

    /// Whether `peer`, who proved who it is when the epoch was `epoch`, is to be believed still. If not, or if it is not
    /// known, the handshake is a full one, which judges anew.
    fn still_holds(&self, peer: &Peer, epoch: u64, now: UnixTime) -> bool;
}

/// How long who was proved at `verified_at` may resume; nothing if it is over.
pub(crate) fn until(peer: &Peer, verified_at: UnixTime, now: UnixTime) -> Option<UnixTime> {
    let most = verified_at.plus(MAX_LIFETIME);
    let until = peer.until.map_or(most, |end| end.min(most));
    (until > now).then_some(until)
}

#[cfg(test)]
mod tests;
