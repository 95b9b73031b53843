//! A peer's claimed identity and its proof: a signature over the handshake by the key of the certificate or DID.

use rustls_pki_types::CertificateDer;
use selfsame_credential::verdict::Rule;

use super::certificate::{self, CertificatePolicy};
use super::members::MEMBERSHIP;
use super::peer::{Peer, PeerKind, Side};
use super::policy::{IdentityPolicy, NOT_EXPECTED, PeerPolicy};
use super::revocation_checks::Inquiry;
use super::signature;
use crate::alert::{Alert, Refusal};
use crate::codec::{
    CertificateChain, CertificateVerify, DidMessage, Extension, Message, Mode, Staple, VcMessage,
};
use crate::core::Core;
use crate::evidence::Source;
use crate::profile::Profile;
use crate::provider::algorithm;

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
        policy.check_method(&did)?;
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
                        let key = signature::verify(document, proof, message)?;
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
