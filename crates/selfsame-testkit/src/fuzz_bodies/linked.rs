//! W3C credentials and presentations with Data Integrity proofs, as issuer, wallet and verifier have them.

use std::str;

use selfsame_credential::format::ldp_vc::{LdpError, LdpIssue, LdpPresent, suites};
use selfsame_credential::format::w3c::Issue;
use selfsame_credential::verdict::{Policy, Trust};
use selfsame_credential::verify::{Binding, Presented, verify};
use selfsame_credential::{Evidence, Format, Held, Need, Signer, Step, w3c::Model};
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey, time::UnixTime};
use serde_json::{Map, Value, json};

const NOW: UnixTime = UnixTime(1_800_000_000);
const AUDIENCE: &str = "x509_san_dns:verifier.example";
const NONCE: &str = "nonce";

/// A credential or a presentation: there is always a verdict; what a wallet holds is what the verdict is on; the credential
/// in a genuine presentation is genuine by itself; a changed one is not.
pub fn ldp_vc(data: &[u8]) -> bool {
    let Ok(raw) = str::from_utf8(data) else {
        return false;
    };
    let binding = Binding {
        audience: AUDIENCE.to_owned(),
        nonce: NONCE.to_owned(),
        session: None,
    };
    let shown = genuine(raw, Some(&binding));
    let bare = Format::LdpVc.bare(raw);
    if shown.is_some() {
        let bare = bare.as_deref().expect("it was read");
        assert_eq!(genuine(bare, None), shown, "it is genuine by itself");
    }
    let Ok(held) = Held::parse(raw, Format::LdpVc) else {
        return bare.is_some();
    };
    if let Some(claims) = genuine(raw, None) {
        assert_eq!(&claims, held.claims(), "it is what is held");
        let mut changed: Value = serde_json::from_str(raw).expect("it was read");
        changed["id"] = json!(format!("{}x", changed["id"].as_str().unwrap_or("urn:")));
        assert_eq!(genuine(&changed.to_string(), None), None, "it is changed");
    }
    true
}

/// The claims, if they are genuine.
fn genuine(raw: &str, expected: Option<&Binding>) -> Option<Value> {
    let presented = Presented {
        format: Format::LdpVc,
        raw,
        expected,
    };
    let policy = Policy {
        trusted_issuers: Trust::Any,
        ..Policy::default()
    };
    verify(&presented, &policy, &Evidence::default(), NOW).1
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let (issuer, holder) = (party(KeyType::P256), party(KeyType::Ed25519));
    let mut seeds = Vec::new();
    for (model, suite) in [(Model::V2, 0), (Model::V1, 1)] {
        let terms = json!({"degree": "https://types.example/degree#degree"});
        let issue = LdpIssue {
            content: Issue {
                format: Format::LdpVc,
                issuer: issuer.did.clone(),
                subject: Some(holder.did.clone()),
                types: Vec::new(),
                contexts: vec![terms],
                claims: Map::from_iter([("degree".to_owned(), json!("BSc"))]),
                id: None,
                valid_from: NOW.minus(60),
                valid_until: None,
                status: None,
                token_status: None,
                cnf: None,
                further: Map::new(),
                signer: issuer.signer.clone(),
            },
            model,
            suite: suites(issuer.signer.algorithm)[suite],
        };
        let credential = issuer.made(|evidence| issue.clone().step(evidence));
        let present = LdpPresent {
            credential: &credential,
            holder: &holder.did,
            audience: AUDIENCE,
            nonce: NONCE,
            issued_at: NOW,
            lifetime: 300,
            suite: suites(holder.signer.algorithm)[suite],
            signer: &holder.signer,
        };
        seeds.push(holder.made(|evidence| present.step(evidence)).into_bytes());
        seeds.push(credential.into_bytes());
    }
    seeds
}

struct SeedSigner {
    key: PrivateKey,
    did: String,
    signer: Signer,
}

fn party(kind: KeyType) -> SeedSigner {
    let key = PrivateKey::generate(kind).expect("a key");
    let did = selfsame_did::key::create(key.public());
    let kid = did.kid().expect("it has one key");
    SeedSigner {
        signer: Signer::with_kid(KeyHandle::of(key.public()), key.algorithm(), kid),
        did: did.as_str().to_owned(),
        key,
    }
}

impl SeedSigner {
    /// What a step makes once its signature is there.
    fn made(&self, step: impl Fn(&Evidence) -> Result<Step<String>, LdpError>) -> String {
        let mut evidence = Evidence::default();
        loop {
            match step(&evidence).expect("it can be signed") {
                Step::Done(text) => return text,
                Step::Needs(needs) => {
                    for need in needs {
                        let Need::Signature(request) = need else {
                            panic!("only a signature is needed: {need:?}");
                        };
                        let signature = self.key.sign(&request.bytes).expect("a signature");
                        evidence.insert_signature(request, signature);
                    }
                }
            }
        }
    }
}
