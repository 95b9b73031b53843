//! The open questions about a DID or credential, answered by staples, by its own content, or by evidence.

use std::borrow::Cow;
use std::sync::Arc;

use selfsame_credential::status::Reference;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{
    Did, Document, Options, Relationship, Resolution, ResolutionError, ResolutionPlan,
};

use super::acceptance;
use super::credential::{Credential, UNTRUSTED};
use super::ledger::Proved;
use super::peer::{Again, Peer, PeerKind};
use super::policy::{ExpectedPeer, IdentityPolicy, NOT_EXPECTED, TrustedIssuer};
use super::signature::MAX_KEYS;
use super::staple_reads::{self, Fault};
use super::status::{self, ListEntry};
use crate::alert::{Alert, Refusal};
use crate::codec::{Staple, Vc};
use crate::core::Core;
use crate::evidence::{AtHand, Found, HandshakeEvidence, HandshakeNeed, Source};

/// First the issuer's keys, then the subject and the lists; more rounds mean a loop.
const MAX_ROUNDS: usize = 4;

/// An identity whose judgement is not complete. It continues with more evidence.
#[derive(Debug)]
pub(super) struct Inquiry {
    /// The credential, until its signer is known.
    vc: Option<Vc>,
    staples: Vec<Staple>,
    /// Whether the stapled registry reads were judged.
    is_read: bool,
    proved: Option<Proved>,
    subject: Option<Did>,
    document: Option<Arc<Resolution>>,
    issuer: Option<TrustedIssuer>,
    /// The places in status lists that were not checked yet.
    statuses: Vec<Reference>,
}

impl Inquiry {
    /// For a DID.
    pub(super) fn of_did(did: Did, staples: Vec<Staple>) -> Self {
        Self {
            subject: Some(did),
            ..Self::new(None, staples)
        }
    }

    /// For a credential and its subject.
    pub(super) fn of_credential(vc: Vc, staples: Vec<Staple>) -> Self {
        Self::new(Some(vc), staples)
    }

    fn new(vc: Option<Vc>, staples: Vec<Staple>) -> Self {
        Self {
            vc,
            staples,
            is_read: false,
            proved: None,
            subject: None,
            document: None,
            issuer: None,
            statuses: Vec::new(),
        }
    }

    /// The document with the keys that can prove the identity, once known.
    pub(super) fn document(&self) -> Option<&Document> {
        self.document.as_ref()?.document().ok()
    }

    pub(super) fn is_settled(&self) -> bool {
        self.vc.is_none() && self.statuses.is_empty() && self.document.is_some()
    }

    /// Judges what the identity itself and its staples decide.
    pub(super) fn begin(
        &mut self,
        peer: &mut Peer,
        policy: &IdentityPolicy,
        core: &mut Core,
    ) -> Result<(), Refusal> {
        if let Some(vc) = &self.vc {
            acceptance::check_issuer(vc, policy)?;
        }
        self.go_on(peer, policy, core)
    }

    /// Judges the stapled registry reads, once. While the credential's signer is unknown, only reads of one checkpoint
    /// without changes of validators are judged: anyone can copy them from the registry without signing anything.
    fn read_staples(&mut self, policy: &IdentityPolicy, now: UnixTime) -> Result<(), Refusal> {
        let Some(stapled) = policy.stapled.as_ref().filter(|_| !self.is_read) else {
            return Ok(());
        };
        let reads = staple_reads::reads(&self.staples).map_err(Fault::refusal)?;
        let is_short = reads.len() < 2 && reads.iter().all(|read| read.handovers.is_empty());
        if self.vc.is_some() && !is_short {
            return Ok(());
        }
        self.is_read = true;
        if reads.is_empty() {
            return Ok(());
        }
        match stapled.ledger.judge(reads, stapled.handed(), now) {
            Ok(proved) => self.proved = Some(proved),
            Err(fault) if fault.is_excusable() && !stapled.required => {}
            Err(fault) => return Err(fault.refusal()),
        }
        Ok(())
    }

    /// Goes as far as the evidence allows, then asks for what is missing. Nothing is fetched because of a credential
    /// until a trusted issuer's signature on it is verified.
    pub(super) fn go_on(
        &mut self,
        peer: &mut Peer,
        policy: &IdentityPolicy,
        core: &mut Core,
    ) -> Result<(), Refusal> {
        let needs = self.step(peer, policy, &core.evidence, core.now)?;
        core.ask(needs)
    }

    /// Goes as far as this evidence allows, and returns what is missing.
    fn step(
        &mut self,
        peer: &mut Peer,
        policy: &IdentityPolicy,
        evidence: &HandshakeEvidence,
        now: UnixTime,
    ) -> Result<Vec<HandshakeNeed>, Refusal> {
        let mut needs = self.accept(peer, policy, evidence, now)?;
        if !needs.is_empty() && !self.is_read {
            // The staples may contain the issuer's keys.
            self.read_staples(policy, now)?;
            needs = self.accept(peer, policy, evidence, now)?;
        }
        if self.vc.is_none() {
            self.read_staples(policy, now)?;
            needs.extend(self.resolve(peer, policy, evidence, now)?);
            needs.extend(self.check_statuses(peer, policy, evidence, now)?);
        }
        Ok(needs)
    }

    /// Judges a peer from an earlier handshake again, by the evidence at hand: the full judgement without the proof,
    /// whose key must still be one of the DID's.
    pub(super) fn holds_again(
        peer: &Peer,
        policy: &IdentityPolicy,
        at_hand: &dyn AtHand,
        now: UnixTime,
    ) -> bool {
        let Some(mut inquiry) = Self::of_peer(peer, policy, now, Vec::new()) else {
            return false;
        };
        let (mut evidence, mut judged) = (HandshakeEvidence::default(), Peer::anonymous());
        // Each round answers at least one new need.
        for _ in 0..MAX_ROUNDS {
            let Ok(needs) = inquiry.step(&mut judged, policy, &evidence, now) else {
                return false;
            };
            if inquiry.is_settled() {
                return inquiry.has_key(peer.key.as_ref());
            }
            for need in needs {
                let Some(answer) = at_hand.at_hand(&need, now) else {
                    return false;
                };
                evidence.add(answer);
            }
        }
        false
    }

    /// Judges a connected peer again, as far as this evidence allows. A peer that resumed has no staple for its place
    /// in a tree of DIDs, so a policy that requires one refuses it.
    pub(super) fn again(
        peer: &Peer,
        policy: &IdentityPolicy,
        evidence: &HandshakeEvidence,
        now: UnixTime,
    ) -> Result<Again, Refusal> {
        if matches!(policy.expected, ExpectedPeer::Members(_)) && peer.places.is_empty() {
            return Err(NO_PLACE);
        }
        if let PeerKind::Did(did) = &peer.kind {
            policy.check_method(did)?;
            if !policy.expects(did, None, &peer.places) {
                return Err(NOT_EXPECTED);
            }
        }
        let inquiry = Self::of_peer(peer, policy, now, peer.places.clone());
        let mut inquiry = inquiry.ok_or(NOT_EXPECTED)?;
        let mut judged = Peer::anonymous();
        let needs = inquiry.step(&mut judged, policy, evidence, now)?;
        match inquiry.is_settled() {
            true if inquiry.has_key(peer.key.as_ref()) => Ok(Again::Holds(judged.until)),
            true => Err(OTHER_KEY),
            false => Ok(Again::Needs(needs)),
        }
    }

    /// For a peer that proved its identity before, with the registry reads that the ledger remembers.
    fn of_peer(
        peer: &Peer,
        policy: &IdentityPolicy,
        now: UnixTime,
        staples: Vec<Staple>,
    ) -> Option<Self> {
        let (mut inquiry, dids) = match &peer.kind {
            PeerKind::Did(did) => (Self::of_did(did.clone(), staples), vec![did]),
            PeerKind::Credential(credential) => (
                Self::of_credential(credential.vc.clone(), staples),
                vec![&credential.subject, &credential.issuer],
            ),
            PeerKind::Anonymous | PeerKind::Certificate(_) => return None,
        };
        if let Some(stapled) = &policy.stapled {
            inquiry.proved = stapled.ledger.remembered(&dids, stapled.max_age, now);
        }
        Some(inquiry)
    }

    /// Whether the document has an authentication key with this thumbprint.
    fn has_key(&self, thumbprint: Option<&[u8; 32]>) -> bool {
        let keys = self.document().into_iter();
        let mut keys = keys.flat_map(|document| document.keys(Relationship::Authentication));
        keys.any(|(_, key)| Some(&key.thumbprint()) == thumbprint)
    }

    fn accept(
        &mut self,
        peer: &mut Peer,
        policy: &IdentityPolicy,
        evidence: &HandshakeEvidence,
        now: UnixTime,
    ) -> Result<Vec<HandshakeNeed>, Refusal> {
        let Some(vc) = &self.vc else {
            return Ok(Vec::new());
        };
        let keys = IssuerKeys {
            policy,
            evidence,
            proved: self.proved.as_ref(),
            now,
        };
        let known = keys.fill();
        let credential = match Credential::accept(vc.clone(), &known.policy, now) {
            Err(UNTRUSTED) if !known.missing.is_empty() => return Ok(known.missing),
            Err(UNTRUSTED) if known.has_failed => return Err(NO_ISSUER_KEYS),
            accepted => accepted?,
        };
        policy.check_method(&credential.subject)?;
        if !policy.expects(&credential.subject, Some(&credential), &self.staples) {
            return Err(NOT_EXPECTED);
        }
        if credential.statuses.is_empty() && policy.status.required {
            return Err(status::UNKNOWN);
        }
        let mut issuers = known.policy.issuers.iter();
        self.issuer = issuers
            .find(|issuer| issuer.did == credential.issuer)
            .cloned();
        self.vc = None;
        self.subject = Some(credential.subject.clone());
        self.statuses.clone_from(&credential.statuses);
        if let Some(end) = credential.validity.expires {
            peer.ends(end);
        }
        peer.kind = PeerKind::Credential(Box::new(credential));
        for (name, detail) in acceptance::RULES {
            peer.rule(name, detail, "docs/tls.md");
        }
        peer.rule("expected_peer", policy.expected.as_str(), "docs/tls.md");
        Ok(Vec::new())
    }

    /// Resolves the subject: some DIDs contain their document, some are stapled; for others the driver is asked.
    fn resolve(
        &mut self,
        peer: &mut Peer,
        policy: &IdentityPolicy,
        evidence: &HandshakeEvidence,
        now: UnixTime,
    ) -> Result<Option<HandshakeNeed>, Refusal> {
        let (Some(did), None) = (&self.subject, &self.document) else {
            return Ok(None);
        };
        let stapled = policy.stapled.as_ref();
        let stapled = stapled.filter(|stapled| stapled.ledger.knows(did));
        if stapled.is_none() {
            match did.plan(&Options::default()) {
                Ok(ResolutionPlan::Done(resolution)) => {
                    self.document = Some(Arc::from(resolution));
                    return Ok(None);
                }
                Ok(_) => {}
                Err(_) => return Err(UNRESOLVED),
            }
        }
        let found = match (stapled, &self.proved) {
            (Some(_), Some(proved)) => {
                let resolution = proved.resolve(did).map_err(Fault::refusal)?;
                Cow::Owned(Found::new(
                    Arc::new(resolution),
                    proved.as_of,
                    Source::Registry,
                ))
            }
            (Some(stapled), None) if stapled.required => return Err(NOT_STAPLED),
            _ => match evidence.did(did) {
                Some(found) => Cow::Borrowed(found),
                None => return Ok(Some(HandshakeNeed::Did(did.clone()))),
            },
        };
        let resolution = judge(&found, did, policy, now)?;
        peer.ground("resolution", found.as_of, found.source, now);
        let max_age = match (found.source, &policy.stapled) {
            (Source::Registry, Some(stapled)) => stapled.max_age.max(policy.max_age),
            _ => policy.max_age,
        };
        peer.ends(found.as_of.plus(max_age));
        self.document = Some(Arc::clone(resolution));
        Ok(None)
    }

    fn check_statuses(
        &mut self,
        peer: &mut Peer,
        policy: &IdentityPolicy,
        evidence: &HandshakeEvidence,
        now: UnixTime,
    ) -> Result<Vec<HandshakeNeed>, Refusal> {
        let (mut open, mut needs) = (Vec::new(), Vec::new());
        for reference in std::mem::take(&mut self.statuses) {
            let place = ListEntry {
                reference: &reference,
                issuer: self.issuer.as_ref().ok_or(UNTRUSTED)?,
                policy,
                now,
            };
            if place.is_gathered(evidence, peer)?
                || place.is_stapled(&self.staples, self.proved.as_ref(), peer)?
            {
                continue;
            }
            needs.push(HandshakeNeed::StatusList(reference.uri.clone()));
            open.push(reference);
        }
        self.statuses = open;
        Ok(needs)
    }
}

/// The resolution of exactly this DID, if it is fresh, authentic enough and not deactivated.
fn judge<'f>(
    found: &'f Found<Arc<Resolution>>,
    did: &Did,
    policy: &IdentityPolicy,
    now: UnixTime,
) -> Result<&'f Arc<Resolution>, Refusal> {
    let resolution = found.value.as_ref().map_err(|_| UNRESOLVED)?;
    let refused = |alert, reason| Err(Refusal::new(alert, reason));
    // The age of a proof was judged with the proof.
    if found.source != Source::Registry && found.age(now) > policy.max_age {
        return refused(
            Alert::CertificateUnknown,
            "the evidence about the DID is too old",
        );
    }
    if found.source == Source::Word && !policy.takes_word {
        let reason = "a resolver's answer without proof is not accepted";
        return refused(Alert::CertificateUnknown, reason);
    }
    if resolution.document_metadata.deactivated {
        return refused(Alert::CertificateRevoked, "the DID is deactivated");
    }
    match resolution.document_of(did) {
        Ok(_) => Ok(resolution),
        Err(ResolutionError::InvalidDidDocument) => {
            refused(Alert::BadCertificate, "the document is that of another DID")
        }
        Err(_) => Err(UNRESOLVED),
    }
}

/// The keys of issuers that the policy trusts by DID only.
struct IssuerKeys<'a> {
    policy: &'a IdentityPolicy,
    evidence: &'a HandshakeEvidence,
    proved: Option<&'a Proved>,
    now: UnixTime,
}

/// A policy with all known keys filled in.
struct Filled<'a> {
    policy: Cow<'a, IdentityPolicy>,
    missing: Vec<HandshakeNeed>,
    has_failed: bool,
}

impl<'a> IssuerKeys<'a> {
    fn fill(&self) -> Filled<'a> {
        let mut filled = Filled {
            policy: Cow::Borrowed(self.policy),
            missing: Vec::new(),
            has_failed: false,
        };
        let mut issuers = self.policy.issuers.iter();
        if issuers.all(|issuer| !issuer.keys.is_empty()) {
            return filled;
        }
        let mut issuers = self.policy.issuers.clone();
        let unknown = issuers.iter_mut().filter(|issuer| issuer.keys.is_empty());
        for issuer in unknown {
            match self.resolution(&issuer.did) {
                None => filled.missing.push(HandshakeNeed::Did(issuer.did.clone())),
                Some(Err(_)) => filled.has_failed = true,
                Some(Ok(resolution)) => {
                    let keys = resolution.document().map(|document| {
                        let keys = document.keys(Relationship::AssertionMethod);
                        keys.take(MAX_KEYS).map(|(id, key)| (id.to_string(), key))
                    });
                    issuer.keys.extend(keys.into_iter().flatten());
                }
            }
        }
        filled.policy = Cow::Owned(IdentityPolicy {
            issuers,
            methods: self.policy.methods.clone(),
            formats: self.policy.formats.clone(),
            staples: Vec::new(),
            stapled: None,
            // This copy is not used to judge who is expected.
            expected: ExpectedPeer::Dids(std::collections::BTreeSet::new()),
            ..*self.policy
        });
        filled
    }

    fn resolution(&self, did: &Did) -> Option<Result<Arc<Resolution>, Refusal>> {
        if let Ok(ResolutionPlan::Done(resolution)) = did.plan(&Options::default()) {
            return Some(Ok(Arc::from(resolution)));
        }
        let proved = self.proved.filter(|proved| proved.knows(did));
        if let Some(resolution) = proved.and_then(|proved| proved.resolve(did).ok()) {
            let found = Found::new(Arc::new(resolution), self.now, Source::Registry);
            return Some(judge(&found, did, self.policy, self.now).cloned());
        }
        let found = self.evidence.did(did)?;
        Some(judge(found, did, self.policy, self.now).cloned())
    }
}

const UNRESOLVED: Refusal = Refusal::new(Alert::CertificateUnknown, "the DID was not resolved");
const NOT_STAPLED: Refusal = Refusal::new(
    Alert::CertificateUnknown,
    "the peer did not staple the registry's proof about it",
);
const NO_PLACE: Refusal = Refusal::new(
    Alert::CertificateUnknown,
    "the peer's place in the tree of DIDs is no longer known",
);
const OTHER_KEY: Refusal = Refusal::new(
    Alert::DecryptError,
    "the key that authenticated the DID is no longer in its document",
);
const NO_ISSUER_KEYS: Refusal = Refusal::new(
    Alert::CertificateUnknown,
    "the keys of a trusted issuer are unavailable",
);
