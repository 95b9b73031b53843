//! A peer, and what is known about it.

use selfsame_credential::Verdict;
use selfsame_credential::verdict::{Outcome, Rule};
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;

use super::credential::Credential;
use crate::alert::{Alert, Refusal};
use crate::codec::Staple;
use crate::evidence::{HandshakeNeed, Source};

/// One end of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// The identity that a peer has proved.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The identity, and how it was proved.
    pub kind: PeerKind,
    /// Each rule that was checked; `as_of` is the time of the oldest evidence.
    pub verdict: Verdict,
    /// The evidence behind the verdict, apart from what the peer sent.
    pub grounds: Vec<Ground>,
    /// When the peer's identity, or the evidence about it, expires; the peer cannot resume after that.
    pub until: Option<UnixTime>,
    /// When the peer proved its identity, if this connection resumes an earlier handshake.
    pub resumed: Option<UnixTime>,
    /// The JWK thumbprint (RFC 7638) of the key that proved a DID or credential.
    pub key: Option<[u8; 32]>,
    /// The staples that show its place in a tree of DIDs.
    pub(crate) places: Vec<Staple>,
}

/// A piece of evidence about a peer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ground {
    /// The rule it was used for: `resolution`, `status` or `revocation`.
    pub rule: &'static str,
    /// The time as of which it holds.
    pub as_of: UnixTime,
    /// Why it is authentic.
    pub source: Source,
}

/// How a peer proved its identity.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PeerKind {
    /// Without proof: a client that was not asked, or had no identity to show.
    Anonymous,
    /// By a chain of certificates (DER), its own first.
    Certificate(Vec<Vec<u8>>),
    /// By a DID.
    Did(Did),
    /// By a credential about a DID.
    Credential(Box<Credential>),
}

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

impl Peer {
    pub(crate) fn anonymous() -> Self {
        Self::new(PeerKind::Anonymous)
    }

    pub(super) fn new(kind: PeerKind) -> Self {
        let verdict = Verdict {
            outcome: Outcome::Valid,
            rules: Vec::new(),
            as_of: None,
        };
        Self {
            kind,
            verdict,
            grounds: Vec::new(),
            until: None,
            resumed: None,
            key: None,
            places: Vec::new(),
        }
    }

    /// A peer from an earlier handshake, judged by evidence as of this time.
    pub(crate) fn remembered(kind: PeerKind, as_of: Option<UnixTime>) -> Self {
        let mut peer = Self::new(kind);
        peer.verdict.as_of = as_of.map(|as_of| as_of.0);
        peer
    }

    /// Marks the peer as resuming what was proved at `verified_at`.
    pub(crate) fn resumes(mut self, verified_at: UnixTime, now: UnixTime) -> Self {
        let ago = now.seconds_since(verified_at);
        let mut detail = format!("was proved at {verified_at}, {ago} seconds ago");
        if let Some(as_of) = self.verdict.as_of {
            let age = now.seconds_since(UnixTime(as_of));
            detail.push_str(&format!(", by evidence that is {age} seconds old"));
        }
        self.verdict.rules.clear();
        self.rule("resumption", &detail, "RFC 8446 §2.2");
        self.resumed = Some(verified_at);
        self
    }

    pub(super) fn ends(&mut self, end: UnixTime) {
        self.until = Some(self.until.map_or(end, |before| before.min(end)));
    }

    pub(super) fn rule(&mut self, name: &'static str, detail: &str, paragraph: &'static str) {
        self.verdict.rules.push(Rule {
            name: name.into(),
            passed: Some(true),
            detail: detail.to_owned(),
            paragraph: paragraph.into(),
        });
    }

    /// Records evidence for `rule`, which holds as of `as_of`.
    pub(super) fn ground(
        &mut self,
        rule: &'static str,
        as_of: UnixTime,
        source: Source,
        now: UnixTime,
    ) {
        let detail = format!("{}, {} s ago", source.as_str(), now.seconds_since(as_of));
        let paragraph = match rule {
            "resolution" => "DID Core §7.1",
            "revocation" => "RFC 5280 §6.3",
            _ => "Token Status List §8.3, Bitstring Status List §3.2",
        };
        self.rule(rule, &detail, paragraph);
        let oldest = self.verdict.as_of;
        let oldest = oldest.map_or(as_of.0, |oldest| oldest.min(as_of.0));
        self.verdict.as_of = Some(oldest);
        self.grounds.push(Ground {
            rule,
            as_of,
            source,
        });
    }
}
