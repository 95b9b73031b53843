//! Judges a resuming peer again, by evidence at hand: as in a full handshake, without the proof and without requests.

use std::sync::Arc;

use selfsame_crypto::time::UnixTime;

use super::{AtHand, Revalidate};
use crate::identity::{Peer, PeerPolicy, Side};

/// Accepts a resuming peer if its policy would accept it again: its DID is not deactivated and still has the key that
/// proved it, its credential is valid and its issuer still has its key, nothing is revoked. If evidence is not at hand,
/// a full handshake follows. That is always so for peers that stapled their place in a tree of DIDs, since their
/// staples are not stored.
#[derive(Clone, Debug)]
pub struct Rejudge {
    policy: PeerPolicy,
    from: Side,
    at_hand: Arc<dyn AtHand>,
}

impl Rejudge {
    /// For a client with this policy for servers.
    pub fn servers(policy: PeerPolicy, at_hand: Arc<dyn AtHand>) -> Self {
        Self {
            policy,
            from: Side::Server,
            at_hand,
        }
    }

    /// For a server with this policy for clients.
    pub fn clients(policy: PeerPolicy, at_hand: Arc<dyn AtHand>) -> Self {
        Self {
            policy,
            from: Side::Client,
            at_hand,
        }
    }
}

impl Revalidate for Rejudge {
    /// Constant: changes are not tracked, but everything is checked each time.
    fn epoch(&self) -> u64 {
        0
    }

    fn still_holds(&self, peer: &Peer, _epoch: u64, now: UnixTime) -> bool {
        peer.holds_again(&self.policy, self.from, &*self.at_hand, now)
    }
}
