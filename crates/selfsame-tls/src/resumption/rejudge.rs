//! Who resumes is judged once more, by what is at hand: as in a full handshake, but for the proof and the questions.

use std::sync::Arc;

use selfsame_crypto::time::UnixTime;

use super::{AtHand, Revalidate};
use crate::identity::{Peer, PeerPolicy, Side};

/// Takes those who resume if the policy that let them in would let them in once more: their DID is not deactivated and
/// has the key still that proved it, their credential holds and its issuer has its key still, nothing is revoked. What
/// is not at hand is not known, and the handshake is a full one. So are those of peers whose place in a tree of DIDs was
/// stapled, as their staples are not kept.
#[derive(Clone, Debug)]
pub struct Rejudge {
    policy: PeerPolicy,
    from: Side,
    at_hand: Arc<dyn AtHand>,
}

impl Rejudge {
    /// For a client's configuration with this policy.
    pub fn servers(policy: PeerPolicy, at_hand: Arc<dyn AtHand>) -> Self {
        Self {
            policy,
            from: Side::Server,
            at_hand,
        }
    }

    /// For a server's configuration with this policy.
    pub fn clients(policy: PeerPolicy, at_hand: Arc<dyn AtHand>) -> Self {
        Self {
            policy,
            from: Side::Client,
            at_hand,
        }
    }
}

impl Revalidate for Rejudge {
    /// It is not told what changes, and looks each time.
    fn epoch(&self) -> u64 {
        0
    }

    fn still_holds(&self, peer: &Peer, _epoch: u64, now: UnixTime) -> bool {
        peer.holds_again(&self.policy, self.from, (&*self.at_hand, now))
    }
}
