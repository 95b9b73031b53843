//! What a peer claims to be, and its proof: a signature over the handshake by the key of certificate or DID.

use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use selfsame_credential::verdict::{Outcome, Rule};
use selfsame_credential::{Fetched, Need, Verdict};
use selfsame_crypto::PublicKey;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Document, Options, Plan, Relationship, Resolution, ResolutionError, plan};
use webpki::RawPublicKeyEntity;

use super::certificate::{self, CertificatePolicy};
use super::credential::Credential;
use super::policy::{IdentityPolicy, PeerPolicy};
use crate::alert::{Alert, Refusal};
use crate::codec::{Certificate, DidMessage, Message, Mode, Proof, Staple, VcMessage};
use crate::core::Core;
use crate::profile::Profile;
use crate::provider::algorithm;

/// The most keys of a document that are tried.
const MAX_KEYS: usize = 8;

/// One of both ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Who the peer has proved to be.
#[derive(Clone, Debug)]
pub struct Peer {
    /// How, and as whom.
    pub kind: PeerKind,
    /// Each rule that was looked at.
    pub verdict: Verdict,
    /// When what it showed, or what is known of it, ends; it does not resume after that.
    pub until: Option<UnixTime>,
    /// When it proved this, if that was in an earlier handshake which this connection resumes.
    pub resumed: Option<UnixTime>,
}

/// How a peer proved who it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PeerKind {
    /// Not at all: a client that was not asked, or had nothing to show.
    Anonymous,
    /// By a chain of certificates (DER), its own first.
    Certificate(Vec<Vec<u8>>),
    /// By a DID.
    Did(Did),
    /// By a credential about a DID.
    Credential(Box<Credential>),
}

/// What a peer claims, accepted but for its proof.
#[derive(Debug)]
pub(crate) struct Claim {
    peer: Peer,
    key: Key,
}

#[derive(Debug)]
enum Key {
    Certificate(CertificateDer<'static>),
    Resolved(Box<Resolution>),
    Unresolved(Did),
}

/// Where the authentication of a peer stands.
#[derive(Debug)]
pub(crate) enum Standing {
    /// It is who it says.
    Proved(Peer),
    /// Its key is not known yet.
    Waiting(Waiting),
}

#[derive(Debug)]
pub(crate) struct Waiting {
    peer: Peer,
    did: Did,
    proof: Proof,
    message: Vec<u8>,
}

impl Peer {
    pub(crate) fn anonymous() -> Self {
        Self::new(PeerKind::Anonymous)
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
            until: None,
            resumed: None,
        }
    }

    /// Somebody from an earlier handshake: of when the evidence was, and when it ends.
    pub(crate) fn remembered(
        kind: PeerKind,
        (as_of, until): (Option<UnixTime>, Option<UnixTime>),
    ) -> Self {
        let mut peer = Self::new(kind);
        peer.verdict.as_of = as_of;
        peer.until = until;
        peer
    }

    /// The same, who now resumes what was proved at `verified_at`.
    pub(crate) fn resumes(mut self, verified_at: UnixTime, now: UnixTime) -> Self {
        let ago = now.seconds_since(verified_at);
        let mut detail = format!("was proved at {verified_at}, {ago} seconds ago");
        if let Some(as_of) = self.verdict.as_of {
            let age = now.seconds_since(as_of);
            detail.push_str(&format!(", by evidence that is {age} seconds old"));
        }
        self.verdict.rules.clear();
        self.rule("resumption", &detail, "RFC 8446 §2.2");
        self.resumed = Some(verified_at);
        self
    }

    fn ends(&mut self, end: UnixTime) {
        self.until = Some(self.until.map_or(end, |before| before.min(end)));
    }

    fn rule(&mut self, name: &'static str, detail: &str, paragraph: &'static str) {
        self.verdict.rules.push(Rule {
            name,
            passed: Some(true),
            detail: detail.to_owned(),
            paragraph,
        });
    }
}

/// What a proof is signed over (RFC 8446 §4.4.3).
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
    /// Judges a certificate, credential or DID as far as it can be without its proof. `mode` is what was asked for
    /// beside certificates.
    pub(crate) fn judge(
        core: &mut Core,
        policy: &PeerPolicy,
        mode: Option<Mode>,
        (message, from): (Message, Side),
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
                Self::did(core, policy, &did)
            }
            _ => Err(Refusal::unexpected(
                "an identity of a kind that was not asked for",
            )),
        }
    }

    fn certificate(
        core: &Core,
        policy: &CertificatePolicy,
        certificate: Certificate,
        from: Side,
    ) -> Result<Self, Refusal> {
        if !certificate.context.is_empty() {
            return Err(Refusal::illegal("a request context in a handshake"));
        }
        // Nothing is asked for that could be answered here (RFC 8446 §4.4.2).
        let mut entries = certificate.entries.iter();
        if entries.any(|entry| !entry.extensions.0.is_empty()) {
            let reason = "an extension that was not offered";
            return Err(Refusal::new(Alert::UnsupportedExtension, reason));
        }
        let leaf = policy.judge(&certificate.entries, from, core.now)?;
        let entries = certificate.entries.into_iter();
        let chain = entries.map(|entry| entry.data).collect();
        let mut peer = Peer::new(PeerKind::Certificate(chain));
        peer.rule("chain", "leads to a trust anchor", "RFC 5280 §6");
        if let PeerKind::Certificate(chain) = &peer.kind {
            peer.until = certificate::end(chain);
        }
        let key = Key::Certificate(leaf);
        Ok(Self { peer, key })
    }

    fn credential(
        core: &mut Core,
        policy: &IdentityPolicy,
        message: VcMessage,
    ) -> Result<Self, Refusal> {
        check_staples(&message.staples, policy)?;
        let credential = Credential::accept(message.vc, policy, core.now)?;
        let subject = credential.subject.clone();
        check_method(&subject, policy)?;
        if !policy.expects(&subject, Some(&credential), &message.staples) {
            return Err(NOT_EXPECTED);
        }
        let end = credential.validity.expires;
        let mut peer = Peer::new(PeerKind::Credential(Box::new(credential)));
        end.into_iter().for_each(|end| peer.ends(end));
        peer.rule(
            "credential",
            "is of a trusted issuer, signed, in its time",
            "paper §III-B",
        );
        peer.rule("expected_peer", "its subject is expected", "docs/tls.md");
        Self::resolve(core, peer, subject)
    }

    fn did(
        core: &mut Core,
        policy: &IdentityPolicy,
        message: &DidMessage,
    ) -> Result<Self, Refusal> {
        let did = message.did(core.profile)?;
        check_staples(&message.staples, policy)?;
        check_method(&did, policy)?;
        if core.profile.method_code(did.method()) != Some(message.method) {
            return Err(Refusal::illegal(
                "a DID of another method than its code says",
            ));
        }
        if !policy.expects(&did, None, &message.staples) {
            return Err(NOT_EXPECTED);
        }
        let mut peer = Peer::new(PeerKind::Did(did.clone()));
        peer.rule("expected_peer", "the DID is trusted", "paper §V");
        Self::resolve(core, peer, did)
    }

    /// Some DIDs hold all there is to know; for others the driver is asked, so that it can begin now.
    fn resolve(core: &mut Core, peer: Peer, did: Did) -> Result<Self, Refusal> {
        let key = match plan(&did, &Options::default()) {
            Ok(Plan::Done(resolution)) => Key::Resolved(resolution),
            Ok(_) => {
                if core.evidence.did(&did).is_none() {
                    core.ask(Need::Did(did.clone()))?;
                }
                Key::Unresolved(did)
            }
            Err(_) => return Err(UNRESOLVED),
        };
        Ok(Self { peer, key })
    }

    /// Whether DIDVerify has to follow, and not CertificateVerify.
    pub(crate) fn mode(&self) -> Mode {
        match self.peer.kind {
            PeerKind::Did(_) => Mode::Did,
            PeerKind::Credential(_) => Mode::Vc,
            PeerKind::Certificate(_) | PeerKind::Anonymous => Mode::Certificate,
        }
    }

    /// Takes the proof; verifies it if the key is known.
    pub(crate) fn prove(self, proof: Proof, message: Vec<u8>) -> Result<Standing, Refusal> {
        if algorithm(proof.scheme).is_none() {
            return Err(Refusal::illegal("a signature scheme that was not offered"));
        }
        let Self { mut peer, key } = self;
        match key {
            Key::Certificate(leaf) => {
                certificate::verify(&leaf, &proof, &message)?;
                peer.rule("proof", "CertificateVerify holds", "RFC 8446 §4.4.3");
            }
            Key::Resolved(resolution) => {
                let document = resolution.document().map_err(|_| UNRESOLVED)?;
                verify(document, &proof, &message)?;
                peer.rule("proof", "DIDVerify holds", "paper §IV-B");
            }
            Key::Unresolved(did) => {
                return Ok(Standing::Waiting(Waiting {
                    peer,
                    did,
                    proof,
                    message,
                }));
            }
        }
        Ok(Standing::Proved(peer))
    }
}

impl Waiting {
    /// Judges the proof with what was resolved, if it was.
    pub(crate) fn settle(
        mut self,
        core: &mut Core,
        policy: Option<&IdentityPolicy>,
    ) -> Result<Standing, Refusal> {
        let Some(fetched) = core.evidence.did(&self.did).cloned() else {
            return Ok(Standing::Waiting(self));
        };
        core.settle();
        let policy = policy.ok_or(NOT_EXPECTED)?;
        let document = self.document(&fetched, policy, core)?;
        verify(document, &self.proof, &self.message)?;
        self.peer.verdict.as_of = Some(fetched.at);
        self.peer.ends(fetched.at.plus(policy.max_age));
        self.peer
            .rule("resolution", "is fresh and of this DID", "DID Core §7.1");
        self.peer.rule("proof", "DIDVerify holds", "paper §IV-B");
        Ok(Standing::Proved(self.peer))
    }

    fn document<'a>(
        &self,
        fetched: &'a Fetched<Resolution>,
        policy: &IdentityPolicy,
        core: &Core,
    ) -> Result<&'a Document, Refusal> {
        let resolution = fetched.value.as_ref().map_err(|_| UNRESOLVED)?;
        if core.now.seconds_since(fetched.at) > policy.max_age {
            return Err(Refusal::new(
                Alert::CertificateUnknown,
                "what is known of the DID is too old",
            ));
        }
        if resolution.document_metadata.deactivated {
            return Err(Refusal::new(
                Alert::CertificateRevoked,
                "the DID is deactivated",
            ));
        }
        match resolution.document_of(&self.did) {
            Ok(document) => Ok(document),
            Err(ResolutionError::InvalidDidDocument) => Err(Refusal::new(
                Alert::BadCertificate,
                "the document is of another DID",
            )),
            Err(_) => Err(UNRESOLVED),
        }
    }
}

const NOT_EXPECTED: Refusal = Refusal::new(Alert::AccessDenied, "not the peer that is expected");
const UNRESOLVED: Refusal = Refusal::new(Alert::CertificateUnknown, "the DID was not resolved");

/// Only DIDs of methods that we said we resolve are taken.
fn check_method(did: &Did, policy: &IdentityPolicy) -> Result<(), Refusal> {
    match policy.methods.iter().any(|method| method == did.method()) {
        true => Ok(()),
        false => Err(Refusal::new(
            Alert::UnsupportedCertificate,
            "a DID of a method that was not offered",
        )),
    }
}

/// Only staples of kinds that we said we read are taken.
fn check_staples(staples: &[Staple], policy: &IdentityPolicy) -> Result<(), Refusal> {
    let mut staples = staples.iter();
    match staples.all(|staple| policy.staples.contains(&staple.kind)) {
        true => Ok(()),
        false => Err(Refusal::illegal("a staple of a kind that was not offered")),
    }
}

/// Whether a key for authentication made the proof.
fn verify(document: &Document, proof: &Proof, message: &[u8]) -> Result<(), Refusal> {
    let keys = document.keys(Relationship::Authentication).take(MAX_KEYS);
    let mut keys = keys.map(|(_, key)| key);
    match keys.any(|key| is_signed(&key, proof, message)) {
        true => Ok(()),
        false => Err(Refusal::new(Alert::DecryptError, "DIDVerify does not hold")),
    }
}

/// Whether this key made the proof; a scheme that does not fit the key's kind never holds.
pub(super) fn is_signed(key: &PublicKey, proof: &Proof, message: &[u8]) -> bool {
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
