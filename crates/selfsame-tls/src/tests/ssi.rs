//! Shared by tests of DIDs and credentials: subjects, an issuer, documents, and a driver that resolves.

use std::sync::Arc;

use selfsame_crypto::PublicKey;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Document, Relationship, Representation, Resolution, VerificationMethod};

use crate::evidence::{Failure, Found, HandshakeEvidence, HandshakeNeed, NeedAnswer, Source};
use crate::identity::{
    ExpectedPeer, Identities, IdentityPolicy, PaperContent, PaperVc, PeerPolicy, SsiIdentity,
    Staples, TrustedIssuer, Vc,
};
use crate::testing::{Ends, NOW, ctx, join};
use crate::{Connection, Error, SigningKey};

/// A subject with a DID that has to be resolved.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) did: Did,
    pub(super) public: PublicKey,
    pub(super) key: SigningKey,
}

impl Subject {
    pub(super) fn new(did: &str) -> Self {
        Self::of_kind(did, &rcgen::PKCS_ED25519)
    }

    pub(super) fn of_kind(did: &str, kind: &'static rcgen::SignatureAlgorithm) -> Self {
        let pair = rcgen::KeyPair::generate_for(kind).unwrap();
        let key = SigningKey::from_pkcs8(&pair.serialize_der()).unwrap();
        Self {
            did: Did::parse(did).unwrap(),
            public: PublicKey::from_spki(&key.spki().unwrap()).unwrap(),
            key,
        }
    }

    /// The document, with the key for this relationship.
    pub(super) fn document_for(&self, relationship: Relationship) -> Document {
        let mut document = Document::new(self.did.clone());
        let id = self.did.with_fragment("keys-1").unwrap();
        let method = VerificationMethod::json_web_key(id, &self.public);
        document.add(method, &[relationship]);
        document
    }

    pub(super) fn resolution(&self) -> Resolution {
        let document = self.document_for(Relationship::Authentication);
        Resolution::found(document, Representation::default())
    }

    /// The identity by the DID alone.
    pub(super) fn as_did(&self) -> SsiIdentity {
        SsiIdentity {
            did: self.did.clone(),
            key: self.key.clone(),
            vc: None,
            staples: Staples::default(),
        }
    }

    /// The identity with a credential from the issuer.
    pub(super) fn as_holder(&self, issuer: &Subject) -> SsiIdentity {
        self.with(vc(issuer, &self.did, DAY))
    }

    pub(super) fn with(&self, vc: Vec<u8>) -> SsiIdentity {
        SsiIdentity {
            vc: Some(Vc::paper(vc)),
            ..self.as_did()
        }
    }
}

/// A validity period of a day around now.
pub(super) const DAY: (UnixTime, UnixTime) = (UnixTime(NOW.0 - 3600), UnixTime(NOW.0 + 82_800));

/// A credential of `issuer` about `subject`.
pub(super) fn vc(issuer: &Subject, subject: &Did, valid: (UnixTime, UnixTime)) -> Vec<u8> {
    let vc = PaperVc::new(PaperContent {
        id: "https://issuer.example/credentials/1",
        issuer: issuer.did.as_str(),
        subject: subject.as_str(),
        issued: valid.0,
        expires: valid.1,
    });
    vc.sign(&issuer.key, &method(issuer)).unwrap()
}

pub(super) fn method(issuer: &Subject) -> String {
    format!("{}#keys-1", issuer.did)
}

pub(super) fn trusted(issuer: &Subject) -> TrustedIssuer {
    let keys = vec![(method(issuer), issuer.public.clone())];
    TrustedIssuer::new(issuer.did.clone(), keys)
}

pub(super) const METHODS: &[&str] = &["web", "key"];

/// A policy that trusts exactly this DID.
pub(super) fn trust_did(subject: &Subject) -> IdentityPolicy {
    IdentityPolicy::of_dids(METHODS, [subject.did.clone()])
}

/// A policy that trusts the issuer's credential about exactly this DID.
pub(super) fn trust_vc(subject: &Subject, issuer: &Subject) -> IdentityPolicy {
    let expected = ExpectedPeer::Dids([subject.did.clone()].into());
    IdentityPolicy::of_credentials(METHODS, vec![trusted(issuer)], expected)
}

pub(super) fn only(identities: IdentityPolicy) -> PeerPolicy {
    PeerPolicy {
        certificates: None,
        identities: Some(identities),
    }
}

pub(super) fn ssi(identity: SsiIdentity) -> Identities {
    Identities {
        certificate: None,
        ssi: Some(identity),
    }
}

/// The DIDs that can be resolved.
#[derive(Default)]
pub(super) struct Registry(pub(super) Vec<(Did, Found<Arc<Resolution>>)>);

impl Registry {
    pub(super) fn of(subjects: &[&Subject]) -> Self {
        let known = |subject: &&Subject| (subject.did.clone(), fetched(subject.resolution()));
        Self(subjects.iter().map(known).collect())
    }

    pub(super) fn evidence(&self, needs: &[HandshakeNeed]) -> HandshakeEvidence {
        let answer = |need: &HandshakeNeed| {
            let HandshakeNeed::Did(did) = need else {
                panic!("a need for something else than a DID")
            };
            let found = self.0.iter().find(|(known, _)| known == did);
            let nothing = || NeedAnswer::failed(need.clone(), Failure::Unavailable, NOW);
            found.map_or_else(nothing, |(did, found)| {
                NeedAnswer::Did(did.clone(), found.clone())
            })
        };
        needs.iter().map(answer).collect()
    }
}

pub(super) fn fetched(resolution: Resolution) -> Found<Arc<Resolution>> {
    Found::new(Arc::new(resolution), NOW, Source::Host)
}

/// Joins both ends and answers their needs until neither end has anything to send.
pub(super) fn drive(client: &mut Connection, server: &mut Connection, registry: &Registry) -> Ends {
    let mut ends = Ends::default();
    for _ in 0..4 {
        let more = join(client, server);
        ends.client = ends.client.or(more.client);
        ends.server = ends.server.or(more.server);
        for (end, error) in [
            (&mut *client, &mut ends.client),
            (&mut *server, &mut ends.server),
        ] {
            if !end.needs().is_empty() {
                let evidence = registry.evidence(end.needs());
                *error = error.or(end.provide(&evidence, &ctx()).err());
            }
        }
    }
    ends
}

/// The alert with which our client refused the server, which received it.
pub(super) fn client_refused(ends: Ends) -> crate::Alert {
    match (ends.client, ends.server) {
        (Some(Error::Refused(refusal)), Some(Error::Alerted(alert))) => {
            assert_eq!(refusal.alert, alert);
            alert
        }
        other => panic!("the client did not refuse: {other:?}"),
    }
}

/// The alert with which our server refused the client, which received it.
pub(super) fn server_refused(ends: Ends) -> crate::Alert {
    client_refused(Ends {
        client: ends.server,
        server: ends.client,
    })
}
