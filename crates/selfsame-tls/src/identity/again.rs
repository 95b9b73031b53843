//! Who is connected is judged again: the whole judgement of a handshake, but for the proof and what was stapled.

use selfsame_crypto::time::UnixTime;

use super::claim::{NOT_EXPECTED, Peer, PeerKind, Side};
use super::inquiry::Inquiry;
use super::policy::PeerPolicy;
use crate::alert::{Alert, Refusal};
use crate::config::{ClientConfig, ServerConfig};
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

impl ServerConfig {
    /// Judges a client of an open connection again, by this configuration and this evidence. Asked for more evidence,
    /// the caller gathers it, adds it to what there was, and asks again.
    pub fn judge_again(&self, peer: &Peer, evidence: &Evidence, now: UnixTime) -> Again {
        match (&peer.kind, self.clients.policy()) {
            (PeerKind::Anonymous, _) if self.clients.is_required() => Again::Over(NOT_EXPECTED),
            (PeerKind::Anonymous, _) | (_, None) => Again::Holds(None),
            (_, Some(policy)) => again(peer, policy, (Side::Client, evidence), now),
        }
    }
}

impl ClientConfig {
    /// The same of the server.
    pub fn judge_again(&self, peer: &Peer, evidence: &Evidence, now: UnixTime) -> Again {
        again(peer, &self.server, (Side::Server, evidence), now)
    }
}

fn again(
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
