//! A peer's claimed identity and its proof: a signature over the handshake by the key of the certificate or DID.

use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use selfsame_credential::Verdict;
use selfsame_credential::verdict::{Outcome, Rule};
use selfsame_crypto::PublicKey;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Document, Relationship};
use webpki::RawPublicKeyEntity;

use super::certificate::{self, CertificatePolicy};
use super::credential::Credential;
use super::members::MEMBERSHIP;
use super::policy::{IdentityPolicy, PeerPolicy};
use super::revocation_checks::Inquiry;
use crate::alert::{Alert, Refusal};
use crate::codec::{
    CertificateChain, CertificateVerify, DidMessage, Extension, Message, Mode, Staple, VcMessage,
};
use crate::core::Core;
use crate::evidence::AtHand;
use crate::evidence::Source;
use crate::profile::Profile;
use crate::provider::algorithm;

/// Maximum number of a document's keys that are tried.
pub(super) const MAX_KEYS: usize = 8;

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

/// A peer's claimed identity, as far as it was judged.
#[derive(Debug)]
pub(crate) struct Claim {
    peer: Peer,
    mode: Mode,
    open: Open,
    proof: Option<(CertificateVerify, Vec<u8>)>,
    is_proved: bool,
}

/// What is still open.
#[derive(Debug)]
enum Open {
    /// Whether a chain is revoked.
    Certificate(Box<Chain>),
    /// A DID's keys, and whether a credential is valid.
    Identity(Box<Inquiry>),
}

#[derive(Debug)]
struct Chain {
    leaf: CertificateDer<'static>,
    certificates: Vec<Vec<u8>>,
    from: Side,
    is_settled: bool,
}

/// The state of a peer's authentication.
#[derive(Debug)]
pub(crate) enum ClaimStanding {
    /// The identity is proved.
    Proved(Peer),
    /// The judgement is not complete.
    Waiting(Box<Claim>),
}

impl Peer {
    pub(crate) fn anonymous() -> Self {
        Self::new(PeerKind::Anonymous)
    }

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

    fn new(kind: PeerKind) -> Self {
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
        let oldest = self
            .verdict
            .as_of
            .map_or(as_of.0, |oldest| oldest.min(as_of.0));
        self.verdict.as_of = Some(oldest);
        self.grounds.push(Ground {
            rule,
            as_of,
            source,
        });
    }
}

/// The bytes that a proof signs (RFC 8446 §4.4.3).
pub(crate) fn to_sign(mode: Mode, profile: &Profile, side: Side, transcript: &[u8]) -> Vec<u8> {
    let own = profile.messages().filter(|_| mode != Mode::Certificate);
    let context = match (own, side) {
        (None, Side::Server) => "TLS 1.3, server CertificateVerify",
        (None, Side::Client) => "TLS 1.3, client CertificateVerify",
        (Some(own), Side::Server) => own.server_context,
        (Some(own), Side::Client) => own.client_context,
    };
    [&[b' '; 64], context.as_bytes(), &[0], transcript].concat()
}

impl Claim {
    /// Judges a certificate, credential or DID as far as possible without its proof. `mode` is what was asked for
    /// besides certificates.
    pub(crate) fn judge(
        core: &mut Core,
        policy: &PeerPolicy,
        mode: Option<Mode>,
        message: Message,
        from: Side,
    ) -> Result<Self, Refusal> {
        match (message, &policy.certificates, &policy.identities) {
            (Message::Certificate(certificate), Some(policy), _) => {
                Self::certificate(core, policy, certificate, from)
            }
            (Message::Certificate(_), None, _) => Err(Refusal::new(
                Alert::InsufficientSecurity,
                "a certificate where a DID or credential is required",
            )),
            (Message::Vc(message), _, Some(policy)) if mode == Some(Mode::Vc) => {
                Self::credential(core, policy, message)
            }
            (Message::Did(did), _, Some(policy)) if mode == Some(Mode::Did) => {
                Self::did(core, policy, did)
            }
            _ => Err(Refusal::unexpected(
                "an identity of a kind that was not requested",
            )),
        }
    }

    fn certificate(
        core: &mut Core,
        policy: &CertificatePolicy,
        certificate: CertificateChain,
        from: Side,
    ) -> Result<Self, Refusal> {
        if !certificate.context.is_empty() {
            return Err(Refusal::illegal("a request context in a handshake"));
        }
        let (mut certificates, mut lists) = (Vec::new(), Vec::new());
        for entry in certificate.entries {
            certificates.push(entry.data);
            for extension in entry.extensions.0 {
                match extension {
                    Extension::Crl(list) if policy.reads_crls() => lists.push(list),
                    // No other answer fits the request (RFC 8446 §4.4.2).
                    _ => return Err(NOT_OFFERED),
                }
            }
        }
        let (leaf, stapled) = policy.judge(&certificates, from, core.now, &lists)?;
        let mut peer = Peer::new(PeerKind::Certificate(certificates.clone()));
        peer.rule("chain", "leads to a trust anchor", "RFC 5280 §6");
        peer.until = certificate::end(&certificates);
        let needs = match stapled {
            Some((as_of, until)) => {
                peer.ground("revocation", as_of, Source::Signature, core.now);
                peer.ends(until);
                Vec::new()
            }
            None => policy.needs(),
        };
        let is_settled = needs.is_empty();
        core.ask(needs)?;
        let chain = Chain {
            leaf,
            certificates,
            from,
            is_settled,
        };
        let open = Open::Certificate(Box::new(chain));
        Ok(Self::new(peer, Mode::Certificate, open))
    }

    fn credential(
        core: &mut Core,
        policy: &IdentityPolicy,
        message: VcMessage,
    ) -> Result<Self, Refusal> {
        check_staples(&message.staples, policy)?;
        // A placeholder, filled in once the issuer's signature is verified.
        let mut peer = Peer::anonymous();
        peer.places = places(&message.staples);
        let mut inquiry = Inquiry::of_credential(message.vc, message.staples);
        inquiry.begin(&mut peer, policy, core)?;
        let open = Open::Identity(Box::new(inquiry));
        Ok(Self::new(peer, Mode::Vc, open))
    }

    fn did(core: &mut Core, policy: &IdentityPolicy, message: DidMessage) -> Result<Self, Refusal> {
        let did = message.did(core.profile)?;
        check_staples(&message.staples, policy)?;
        check_method(&did, policy)?;
        if core.profile.method_code(did.method()) != Some(message.method) {
            return Err(Refusal::illegal(
                "the method of a DID differs from its code",
            ));
        }
        if !policy.expects(&did, None, &message.staples) {
            return Err(NOT_EXPECTED);
        }
        let mut peer = Peer::new(PeerKind::Did(did.clone()));
        peer.places = places(&message.staples);
        peer.rule("expected_peer", policy.expected.as_str(), "paper §V");
        let mut inquiry = Inquiry::of_did(did, message.staples);
        inquiry.begin(&mut peer, policy, core)?;
        let open = Open::Identity(Box::new(inquiry));
        Ok(Self::new(peer, Mode::Did, open))
    }

    fn new(peer: Peer, mode: Mode, open: Open) -> Self {
        Self {
            peer,
            mode,
            open,
            proof: None,
            is_proved: false,
        }
    }

    /// Whether DIDVerify follows, instead of CertificateVerify.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Continues with new evidence.
    pub(crate) fn advance(&mut self, core: &mut Core, policy: &PeerPolicy) -> Result<(), Refusal> {
        if !core.take_news() {
            return Ok(());
        }
        match (&mut self.open, &policy.identities, &policy.certificates) {
            (Open::Identity(inquiry), Some(policy), _) => {
                inquiry.go_on(&mut self.peer, policy, core)
            }
            (Open::Certificate(chain), _, Some(policy)) => {
                chain.advance(&mut self.peer, policy, core)
            }
            _ => Err(NOT_EXPECTED),
        }
    }

    /// Takes the proof, and verifies it if the key is known.
    pub(crate) fn prove(
        mut self,
        proof: CertificateVerify,
        message: Vec<u8>,
    ) -> Result<ClaimStanding, Refusal> {
        if algorithm(proof.scheme).is_none() {
            return Err(Refusal::illegal("a signature scheme that was not offered"));
        }
        self.proof = Some((proof, message));
        self.conclude()
    }

    fn conclude(mut self) -> Result<ClaimStanding, Refusal> {
        let Some((proof, message)) = &self.proof else {
            return Ok(ClaimStanding::Waiting(Box::new(self)));
        };
        if !self.is_proved {
            match &self.open {
                Open::Certificate(chain) => {
                    certificate::verify(&chain.leaf, proof, message)?;
                    self.peer.rule(
                        "proof",
                        "the CertificateVerify signature is valid",
                        "RFC 8446 §4.4.3",
                    );
                    self.is_proved = true;
                }
                Open::Identity(inquiry) => {
                    if let Some(document) = inquiry.document() {
                        let key = verify(document, proof, message)?;
                        self.peer.key = Some(key.thumbprint());
                        self.peer
                            .rule("proof", "the DIDVerify signature is valid", "paper §IV-B");
                        self.is_proved = true;
                    }
                }
            }
        }
        let is_settled = match &self.open {
            Open::Certificate(chain) => chain.is_settled,
            Open::Identity(inquiry) => inquiry.is_settled(),
        };
        match self.is_proved && is_settled {
            true => Ok(ClaimStanding::Proved(self.peer)),
            false => Ok(ClaimStanding::Waiting(Box::new(self))),
        }
    }
}

impl Chain {
    fn advance(
        &mut self,
        peer: &mut Peer,
        policy: &CertificatePolicy,
        core: &Core,
    ) -> Result<(), Refusal> {
        // All lists are judged together.
        if self.is_settled || !core.needs().is_empty() {
            return Ok(());
        }
        let (chain, evidence) = (&self.certificates, &core.evidence);
        match policy.judge_revocation(chain, self.from, core.now, evidence)? {
            Some((as_of, until)) => {
                peer.ground("revocation", as_of, Source::Signature, core.now);
                peer.ends(until);
            }
            None => peer.verdict.rules.push(Rule {
                name: "revocation".into(),
                passed: None,
                detail: "no revocation list is available, and none is required".to_owned(),
                paragraph: "RFC 5280 §6.3".into(),
            }),
        }
        self.is_settled = true;
        Ok(())
    }
}

impl ClaimStanding {
    /// Continues with new evidence.
    pub(crate) fn advance(
        &mut self,
        core: &mut Core,
        policy: Option<&PeerPolicy>,
    ) -> Result<(), Refusal> {
        match self {
            Self::Waiting(claim) => claim.advance(core, policy.ok_or(NOT_EXPECTED)?),
            Self::Proved(_) => Ok(()),
        }
    }

    /// Continues with new evidence, and verifies the proof if that is possible now.
    pub(crate) fn settle(
        mut self,
        core: &mut Core,
        policy: Option<&PeerPolicy>,
    ) -> Result<Self, Refusal> {
        self.advance(core, policy)?;
        let settled = match self {
            Self::Waiting(claim) => claim.conclude()?,
            proved @ Self::Proved(_) => proved,
        };
        if matches!(settled, Self::Proved(_)) {
            core.settle();
        }
        Ok(settled)
    }
}

const NOT_OFFERED: Refusal = Refusal::new(
    Alert::UnsupportedExtension,
    "an extension that was not offered",
);

pub(crate) const NOT_EXPECTED: Refusal = Refusal::new(Alert::AccessDenied, "not the expected peer");

/// Accepts only DIDs of the methods that we offered.
pub(super) fn check_method(did: &Did, policy: &IdentityPolicy) -> Result<(), Refusal> {
    match policy.methods.iter().any(|method| method == did.method()) {
        true => Ok(()),
        false => Err(Refusal::new(
            Alert::UnsupportedCertificate,
            "a DID of a method that was not offered",
        )),
    }
}

/// Accepts only staples of the kinds that we offered.
fn check_staples(staples: &[Staple], policy: &IdentityPolicy) -> Result<(), Refusal> {
    let mut staples = staples.iter();
    match staples.all(|staple| policy.staples.contains(&staple.kind)) {
        true => Ok(()),
        false => Err(Refusal::illegal(
            "a staple of a kind that was not requested",
        )),
    }
}

/// The staples that show a place in a tree of DIDs.
fn places(staples: &[Staple]) -> Vec<Staple> {
    let staples = staples.iter();
    let places = staples.filter(|staple| staple.kind == MEMBERSHIP);
    places.cloned().collect()
}

/// The authentication key that made the proof.
fn verify(
    document: &Document,
    proof: &CertificateVerify,
    message: &[u8],
) -> Result<PublicKey, Refusal> {
    let keys = document.keys(Relationship::Authentication).take(MAX_KEYS);
    let mut keys = keys.map(|(_, key)| key);
    keys.find(|key| is_signed(key, proof, message))
        .ok_or(Refusal::new(
            Alert::DecryptError,
            "the DIDVerify signature is invalid",
        ))
}

/// Whether this key made the proof; false if the scheme does not fit the key's type.
pub(super) fn is_signed(key: &PublicKey, proof: &CertificateVerify, message: &[u8]) -> bool {
    let Ok(spki) = key.to_spki() else {
        return false;
    };
    let spki = SubjectPublicKeyInfoDer::from(spki);
    let Some(algorithm) = algorithm(proof.scheme) else {
        return false;
    };
    let key = RawPublicKeyEntity::try_from(&spki);
    key.is_ok_and(|key| {
        key.verify_signature(algorithm, message, &proof.signature)
            .is_ok()
    })
}
