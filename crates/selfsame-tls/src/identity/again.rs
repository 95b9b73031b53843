//! Who is connected is judged again: the whole judgement of a handshake, but for the proof and what was stapled.

use selfsame_crypto::time::UnixTime;

use super::claim::{NOT_EXPECTED, Peer, PeerKind, Side};
use super::inquiry::Inquiry;
use super::policy::PeerPolicy;
use crate::alert::{Alert, Refusal};
use crate::evidence::{Evidence, Need};

/// How it stands with somebody who was let in before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Again {
    /// It would be let in once more; by what was found out, until then.
    Holds(Option<UnixTime>),
    /// This has to be found out first.
    Needs(Vec<Need>),
    /// It could not be found out: nothing is known against it.
    Unknown(Refusal),
    /// It would not be let in any more.
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

/// Judges a peer of an open connection again, by this policy and this evidence.
pub(crate) fn again(
    peer: &Peer,
    policy: &PeerPolicy,
    (from, evidence): (Side, &Evidence),
    now: UnixTime,
) -> Again {
    match (&peer.kind, &policy.certificates, &policy.identities) {
        (PeerKind::Certificate(chain), Some(policy), _) => {
            Again::of(policy.again(chain, (from, now), evidence))
        }
        (PeerKind::Did(_) | PeerKind::Credential(_), _, Some(policy)) => {
            Again::of(Inquiry::again(peer, policy, (evidence, now)))
        }
        _ => Again::Over(NOT_EXPECTED),
    }
}
