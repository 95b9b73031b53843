//! Judges a connected peer again: the full judgement of a handshake, without the proof and the staples.

use selfsame_crypto::time::UnixTime;

use super::claim::{NOT_EXPECTED, Peer, PeerKind, Side};
use super::policy::PeerPolicy;
use super::revocation_checks::Inquiry;
use crate::alert::{Alert, Refusal};
use crate::evidence::{HandshakeEvidence, HandshakeNeed};

/// The result of judging a connected peer again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Again {
    /// The peer is still accepted; the evidence holds until this time, if it has an end.
    Holds(Option<UnixTime>),
    /// This evidence is needed first.
    Needs(Vec<HandshakeNeed>),
    /// The check could not be completed; nothing is known against the peer.
    Unknown(Refusal),
    /// The peer is no longer accepted.
    Over(Refusal),
}

impl Again {
    pub(super) fn of(judged: Result<Self, Refusal>) -> Self {
        match judged {
            Ok(again) => again,
            Err(refusal) if refusal.alert == Alert::CertificateUnknown => Self::Unknown(refusal),
            Err(refusal) => Self::Over(refusal),
        }
    }
}

/// Judges a connected peer again, by this policy and this evidence.
pub(crate) fn again(
    peer: &Peer,
    policy: &PeerPolicy,
    from: Side,
    evidence: &HandshakeEvidence,
    now: UnixTime,
) -> Again {
    match (&peer.kind, &policy.certificates, &policy.identities) {
        (PeerKind::Certificate(chain), Some(policy), _) => {
            Again::of(policy.again(chain, from, now, evidence))
        }
        (PeerKind::Did(_) | PeerKind::Credential(_), _, Some(policy)) => {
            Again::of(Inquiry::again(peer, policy, evidence, now))
        }
        _ => Again::Over(NOT_EXPECTED),
    }
}
