//! Judges a peer again: the full judgement of a handshake, without the proof and the staples.

use selfsame_crypto::time::UnixTime;

use super::peer::{Again, Peer, PeerKind, Side};
use super::policy::{NOT_EXPECTED, PeerPolicy};
use super::revocation_checks::Inquiry;
use crate::evidence::{AtHand, HandshakeEvidence};

impl Peer {
    /// Whether this policy would accept the peer again, by the evidence at hand now.
    pub(crate) fn holds_again(
        &self,
        policy: &PeerPolicy,
        from: Side,
        at_hand: &dyn AtHand,
        now: UnixTime,
    ) -> bool {
        match (&self.kind, &policy.certificates, &policy.identities) {
            (PeerKind::Anonymous, ..) => true,
            (PeerKind::Certificate(chain), Some(policy), _) => {
                policy.holds_again(chain, from, now, at_hand)
            }
            (PeerKind::Did(_) | PeerKind::Credential(_), _, Some(policy)) => {
                Inquiry::holds_again(self, policy, at_hand, now)
            }
            _ => false,
        }
    }

    /// Judges a connected peer again, by this policy and this evidence.
    pub(crate) fn again(
        &self,
        policy: &PeerPolicy,
        from: Side,
        evidence: &HandshakeEvidence,
        now: UnixTime,
    ) -> Again {
        match (&self.kind, &policy.certificates, &policy.identities) {
            (PeerKind::Certificate(chain), Some(policy), _) => {
                Again::of(policy.again(chain, from, now, evidence))
            }
            (PeerKind::Did(_) | PeerKind::Credential(_), _, Some(policy)) => {
                Again::of(Inquiry::again(self, policy, evidence, now))
            }
            _ => Again::Over(NOT_EXPECTED),
        }
    }
}
