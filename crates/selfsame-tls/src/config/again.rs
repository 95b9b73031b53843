//! Judging again who is connected, by what a configuration says of peers.

use selfsame_crypto::time::UnixTime;

use super::{ClientConfig, ServerConfig};
use crate::evidence::Evidence;
use crate::identity::{self, Again, Peer, PeerKind, Side};

impl ServerConfig {
    /// Judges a client of an open connection again, by this configuration and this evidence. Asked for more evidence,
    /// the caller gathers it, adds it to what there was, and asks again.
    pub fn judge_again(&self, peer: &Peer, evidence: &Evidence, now: UnixTime) -> Again {
        match (&peer.kind, self.clients.policy()) {
            (PeerKind::Anonymous, _) if self.clients.is_required() => {
                Again::Over(identity::NOT_EXPECTED)
            }
            (PeerKind::Anonymous, _) | (_, None) => Again::Holds(None),
            (_, Some(policy)) => identity::again(peer, policy, (Side::Client, evidence), now),
        }
    }
}

impl ClientConfig {
    /// The same of the server.
    pub fn judge_again(&self, peer: &Peer, evidence: &Evidence, now: UnixTime) -> Again {
        identity::again(peer, &self.server, (Side::Server, evidence), now)
    }
}
