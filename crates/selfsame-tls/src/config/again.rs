//! Judges connected peers again by a configuration's policy.

use selfsame_crypto::time::UnixTime;

use super::{ClientConfig, ServerConfig};
use crate::evidence::HandshakeEvidence;
use crate::identity::{Again, NOT_EXPECTED, Peer, PeerKind, Side};

impl ServerConfig {
    /// Judges a connected client again, by this configuration and this evidence. If the result is a need for more
    /// evidence, the caller gathers it, adds it to the evidence, and calls this again.
    pub fn judge_again(&self, peer: &Peer, evidence: &HandshakeEvidence, now: UnixTime) -> Again {
        match (&peer.kind, self.clients.policy()) {
            (PeerKind::Anonymous, _) if self.clients.is_required() => Again::Over(NOT_EXPECTED),
            (PeerKind::Anonymous, _) | (_, None) => Again::Holds(None),
            (_, Some(policy)) => peer.again(policy, Side::Client, evidence, now),
        }
    }
}

impl ClientConfig {
    /// Judges a connected server again; see `ServerConfig::judge_again`.
    pub fn judge_again(&self, peer: &Peer, evidence: &HandshakeEvidence, now: UnixTime) -> Again {
        peer.again(&self.server, Side::Server, evidence, now)
    }
}
