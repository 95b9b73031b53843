//! A key for each suite, documents, and the program that acts as their peer.

use selfsame_crypto::encoding::{hex_encode, multibase_base58_encode};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_data_integrity::{
    Contexts, Cryptosuite, ExpectedProof, OwnContext, ProofOptions, ProofPurpose, Secured, prepare,
};
use serde_json::{Map, Value, json};

use crate::peer::Peer;

const PACKAGE: Peer = Peer::node("SELFSAME_DATA_INTEGRITY_PEERS", "peer.mjs");

const V1: &str = "https://www.w3.org/2018/credentials/v1";
const V2: &str = "https://www.w3.org/ns/credentials/v2";
const TERMS: &str = "https://www.w3.org/ns/credentials/undefined-terms/v2";
const INTEGRITY: &str = "https://w3id.org/security/data-integrity/v2";
const CITIZENSHIP: &str = "https://w3id.org/citizenship/v4rc1";
const NOW: UnixTime = UnixTime(1_780_272_000);
const CHALLENGE: &str = "a challenge";
const DOMAIN: &str = "https://verifier.example";

/// A suite and its key.
pub struct Scene {
    suite: Cryptosuite,
    key: PrivateKey,
    contexts: Contexts,
}

impl Scene {
    pub fn all() -> Vec<Self> {
        let own = OwnContext {
            url: CITIZENSHIP,
            text: include_bytes!("../../../../vectors/data-integrity/employment-terms.jsonld"),
        };
        let contexts = Contexts::with(&[own]).unwrap();
        let scene = |suite| {
            let is_eddsa = matches!(
                suite,
                Cryptosuite::EddsaJcs2022 | Cryptosuite::EddsaRdfc2022
            );
            let kind = if is_eddsa {
                KeyType::Ed25519
            } else {
                KeyType::P256
            };
            Self {
                suite,
                key: PrivateKey::generate(kind).unwrap(),
                contexts: contexts.clone(),
            }
        };
        Cryptosuite::ALL.map(scene).into()
    }

    pub fn is_dataset(&self) -> bool {
        matches!(
            self.suite,
            Cryptosuite::EddsaRdfc2022 | Cryptosuite::EcdsaRdfc2019
        )
    }

    /// The package verifies our credential, and no changed one.
    pub fn is_verified(&self, credential: &Value) {
        let signed = self.signed(
            self.issued(credential),
            ProofPurpose::AssertionMethod,
            false,
        );
        let job = |credential: &Value| json!({"do": "verify", "credential": credential, "suite": self.suite.name()});
        let said = said(job(&signed));
        assert_eq!(said["verified"], true, "{} {said}", self.suite.name());
        let mut changed = signed;
        changed["issuer"] = "did:example:another".into();
        assert_eq!(self::said(job(&changed))["verified"], false);
    }

    /// We verify the package's credential, and no changed one.
    pub fn verifies(&self, credential: &Value) {
        let job =
            json!({"do": "issue", "credential": self.issued(credential), "key": self.secret()});
        let mut document = given(job);
        assert!(self.holds(&document), "{} {document}", self.suite.name());
        document["validUntil"] = "2036-01-01T00:00:00Z".into();
        assert!(!self.holds(&document));
    }

    /// A presentation of each side is verified by the other for its challenge and its domain alone.
    pub fn presents(&self, credential: &Value) {
        let credential = self.signed(
            self.issued(credential),
            ProofPurpose::AssertionMethod,
            false,
        );
        let presentation = json!({
            "@context": [V2],
            "type": ["VerifiablePresentation"],
            "holder": self.did(),
            "verifiableCredential": [credential],
        });
        let ours = self.signed(presentation.clone(), ProofPurpose::Authentication, true);
        for (challenge, verified) in [(CHALLENGE, true), ("another", false)] {
            let said = said(json!({
                "do": "verifyPresentation", "presentation": ours, "suite": self.suite.name(),
                "challenge": challenge, "domain": DOMAIN,
            }));
            assert_eq!(said["verified"], verified, "{} {said}", self.suite.name());
        }
        let theirs = given(json!({
            "do": "present", "presentation": presentation, "key": self.secret(),
            "challenge": CHALLENGE, "domain": DOMAIN,
        }));
        assert!(self.holds(&theirs), "{} {theirs}", self.suite.name());
        let proof = Secured::of(theirs).unwrap().proofs()[0].clone();
        let expected = |challenge| ExpectedProof {
            purpose: ProofPurpose::Authentication,
            domain: Some(&[DOMAIN]),
            challenge: Some(challenge),
            now: UnixTime(4_000_000_000),
            leeway: 0,
        };
        assert_eq!(proof.check(&expected(CHALLENGE)), Ok(()));
        assert!(proof.check(&expected("another")).is_err());
    }

    /// What we hash of a document is the package's canonical form; what it refuses, we refuse.
    pub fn hashes_alike(&self, document: &Value) {
        let method = self.method();
        let options = ProofOptions::new(self.suite, &method, ProofPurpose::AssertionMethod);
        let ours = prepare(
            object(document),
            &options,
            self.key.public().key_type(),
            &self.contexts,
        );
        let said = said(json!({"do": "canonize", "document": document}));
        match (ours, said["lines"].as_str()) {
            (Ok(ours), Some(lines)) => {
                let wanted = hex_encode(&sha256(lines.as_bytes()));
                assert_eq!(
                    hex_encode(&ours.bytes()[32..]),
                    wanted,
                    "{document}\n{lines}"
                );
            }
            (Err(_), None) => {}
            (ours, _) => panic!("{document}: {ours:?}, {said}"),
        }
    }

    fn did(&self) -> String {
        format!("did:key:{}", self.key.public().to_multikey())
    }

    fn method(&self) -> String {
        format!("{}#{}", self.did(), self.key.public().to_multikey())
    }

    fn issued(&self, credential: &Value) -> Value {
        let mut credential = credential.clone();
        credential["issuer"] = self.did().into();
        credential
    }

    fn signed(&self, document: Value, purpose: ProofPurpose, is_bound: bool) -> Value {
        let method = self.method();
        let mut options = ProofOptions {
            created: Some(NOW),
            ..ProofOptions::new(self.suite, &method, purpose)
        };
        if is_bound {
            options.domain = &[DOMAIN];
            options.challenge = Some(CHALLENGE);
        }
        let key = self.key.public().key_type();
        let unsigned = prepare(object(&document), &options, key, &self.contexts).unwrap();
        let signature = self.key.sign(unsigned.bytes()).unwrap();
        unsigned.signed(&signature).unwrap().into()
    }

    fn holds(&self, document: &Value) -> bool {
        let secured = Secured::of(document.clone()).unwrap();
        let key = Some(self.key.public().clone());
        secured.verify(&[key], &self.contexts) == [Ok(())]
    }

    fn secret(&self) -> Value {
        let pkcs8 = self.key.to_pkcs8().unwrap();
        let bytes = pkcs8.expose();
        let bytes = match self.key.public().key_type() {
            KeyType::Ed25519 => [&[0x80, 0x26], &bytes[16..48]].concat(),
            _ => [&[0x86, 0x26], &bytes[36..68]].concat(),
        };
        json!({
            "suite": self.suite.name(),
            "multikey": self.key.public().to_multikey(),
            "secret": multibase_base58_encode(&bytes),
        })
    }
}

/// A credential of version 2.0.
pub fn credential() -> Value {
    json!({
        "@context": [V2, TERMS],
        "id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
        "type": ["VerifiableCredential"],
        "name": {"@value": "Zeugnis", "@language": "de-AT"},
        "validFrom": "2023-01-01T00:00:00Z",
        "validUntil": "2035-01-01T00:00:00Z",
        "credentialStatus": {
            "id": "https://issuer.example/status/1#7",
            "type": "BitstringStatusListEntry",
            "statusPurpose": "revocation",
            "statusListIndex": "7",
            "statusListCredential": "https://issuer.example/status/1",
        },
        "credentialSubject": {
            "id": "did:example:subject",
            "grade": 1.5,
            "passed": true,
            "subjects": ["ä\"\\\u{7f}", {"title": "Physics"}, {"title": "Latin"}],
        },
    })
}

/// A credential that brings the terms of its type along, as instances issue them.
pub fn typed() -> Value {
    let term = |name: &str| format!("https://office.example/types/permit/1/context#{name}");
    json!({
        "@context": [V2, {
            "PermitCredential": term("PermitCredential"),
            "number": {"@id": term("number")},
            "since": {"@id": term("since"), "@type": "http://www.w3.org/2001/XMLSchema#date"},
            "address": {"@id": term("address"), "@context": {"city": {"@id": term("address.city")}}},
            "uses": {"@id": term("uses"), "@container": "@list"},
        }],
        "type": ["VerifiableCredential", "PermitCredential"],
        "validFrom": "2023-01-01T00:00:00Z",
        "credentialSchema": {"id": "https://office.example/types/permit/1/schema", "type": "JsonSchema"},
        "credentialSubject": {
            "id": "did:example:subject",
            "number": "17",
            "since": "2024-02-03",
            "address": {"city": "Example City"},
            "uses": ["shop", "bar", "shop"],
        },
    })
}

/// A credential of version 1.1.
pub fn old() -> Value {
    json!({
        "@context": [V1, INTEGRITY, TERMS],
        "type": ["VerifiableCredential"],
        "issuanceDate": "2023-01-01T00:00:00Z",
        "credentialSubject": {"id": "did:example:subject", "degree": "Bachelor"},
    })
}

/// A credential whose types bring contexts of their own.
pub fn employment() -> Value {
    let text = include_str!("../../../../vectors/data-integrity/rdfc.json");
    let file: Value = serde_json::from_str(text).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let is_employment = |case: &&Value| case["name"].as_str().unwrap().contains("employment");
    let case = cases.iter().find(is_employment).unwrap();
    let mut document = case["signed"].clone();
    document.as_object_mut().unwrap().remove("proof");
    document
}

/// Documents that are hard to transform, and such that must be refused.
pub fn hard() -> Vec<Value> {
    let of = |subject: Value| {
        let mut document = credential();
        document["issuer"] = "did:example:issuer".into();
        document["@context"] = json!([V2, {
            "@protected": true,
            "name2": "https://example.org/name",
            "when": {"@id": "https://example.org/when", "@type": "http://www.w3.org/2001/XMLSchema#date"},
            "amount": {"@id": "https://example.org/amount", "@type": "http://www.w3.org/2001/XMLSchema#double"},
            "list": {"@id": "https://example.org/list", "@container": "@list"},
            "friend": {"@id": "https://example.org/friend", "@type": "@id"},
            "data": {"@id": "https://example.org/data", "@type": "@json"},
            "labels": {"@id": "https://example.org/label", "@container": "@language"},
            "ex": "https://example.org/",
            "scoped": {"@id": "ex:scoped", "@context": {"inner": "ex:inner"}},
            "Typed": {"@id": "ex:Typed", "@context": {"inner": "ex:typed"}},
        }]);
        document["credentialSubject"] = subject;
        document
    };
    vec![
        of(
            json!({"name2": ["a\u{8}\t\n\u{b}\u{c}\r\"\\\u{1f}\u{7f}\u{80}€😀", true, 0, -7, 1e21, 2.5, 0.1, 123_456_789.125]}),
        ),
        of(json!({"when": "2020-01-01", "amount": [5, 5.5]})),
        of(
            json!({"list": ["a", "b", {"name2": "c"}], "friend": [{"name2": "x"}, "did:example:y"]}),
        ),
        of(json!({"list": {"@list": ["a", 1]}, "name2": {"@value": "x", "@type": "ex:kind"}})),
        of(json!({"data": {"b": [1, 1.50, "x"], "a": {"\u{fb33}": 1, "😀": 2}}})),
        of(json!({"labels": {"en": "hello", "de-AT": ["servus", "griaß di"]}})),
        of(json!({"scoped": {"inner": "x", "scoped": {"inner": "y"}}, "ex:plain": "z"})),
        of(json!({"type": "Typed", "inner": "x", "friend": {"type": "Typed", "inner": "y"}})),
        of(json!({"friend": {"id": "_:b1", "friend": {"id": "_:b2", "friend": "_:b1"}}})),
        of(json!([{"id": "did:example:1", "name2": "x"}, {"name2": "y"}])),
        of(json!({"type": "Typed", "friend": {"inner": "lost"}})),
        of(json!({"undefined": "x"})),
        of(json!({"type": "Undefined"})),
        of(json!({"friend": "relative"})),
        of(json!({"id": "relative", "name2": "x"})),
    ]
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The contexts for the program, by URL.
fn contexts() -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/contexts");
    let read =
        |path: String| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let own = |name: &str| read(format!("{folder}/{name}.jsonld"));
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/data-integrity");
    json!({
        V1: own("credentials-v1"),
        V2: own("credentials-v2"),
        INTEGRITY: own("data-integrity-v2"),
        TERMS: own("credentials-undefined-terms-v2"),
        "https://w3id.org/security/multikey/v1": own("multikey-v1"),
        "https://www.w3.org/ns/did/v1": own("cid-v1"),
        CITIZENSHIP: read(format!("{vectors}/employment-terms.jsonld")),
    })
}

/// Lets the program do a job with the contexts, and returns what it says.
fn said(job: Value) -> Value {
    let mut job = job;
    job["contexts"] = contexts();
    PACKAGE.said(&job)
}

/// The document that a job gives.
fn given(job: Value) -> Value {
    let said = said(job);
    assert!(said["document"].is_object(), "{said}");
    said["document"].clone()
}
