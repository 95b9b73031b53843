//! W3C credentials and presentations with Data Integrity proofs, both data models, all cryptosuites.

use std::sync::Arc;

use selfsame_crypto::encoding::multibase_base58_encode;
use selfsame_crypto::{Algorithm, KeyType};
use selfsame_data_integrity::{
    Contexts, Cryptosuite, IntegrityError, ProofOptions, ProofPurpose, prepare,
};
use serde_json::Map;

use super::*;
use crate::{
    evidence::Step,
    format::ldp_vc::{BASE_CONTEXT, LdpError, LdpIssue, LdpPresent, check, suite_for, suites},
    format::w3c::Issue,
    status::{Bits, List, Purpose, Reference, Terms, Width, bitstring},
    testing::{Party, object},
    w3c::Model,
};

const DEGREE: &str = "https://types.example/degree#Degree";
const LIST: &str = "https://issuer.example/status/1/revocation";

struct Scene {
    issuer: Party,
    holder: Party,
    credential: String,
}

/// A credential that takes much memory, whose proof nobody made.
pub fn heavy(number: usize) -> String {
    json!({
        "@context": [BASE_CONTEXT],
        "type": ["VerifiableCredential"],
        "issuer": "did:example:issuer",
        "credentialSubject": {"n": number, "x": vec![json!({"a": 0}); 300]},
        "proof": {
            "type": "DataIntegrityProof",
            "cryptosuite": "eddsa-jcs-2022",
            "verificationMethod": "did:example:issuer#key",
            "proofPurpose": "assertionMethod",
            "proofValue": multibase_base58_encode(&[0; 64]),
        },
    })
    .to_string()
}

/// What a step makes once its signature is there.
fn made(
    by: &Party,
    step: impl Fn(&Evidence) -> Result<Step<String>, LdpError>,
) -> Result<String, LdpError> {
    let mut evidence = Evidence::default();
    let Step::Needs(needs) = step(&evidence)? else {
        panic!("no signature is asked for");
    };
    let [Need::Signature(request)] = needs.as_slice() else {
        panic!("{needs:?}");
    };
    assert_eq!(request.key, by.handle());
    let signature = by.key.sign(&request.bytes).unwrap();
    evidence.insert_signature(request.clone(), signature);
    match step(&evidence)? {
        Step::Done(text) => Ok(text),
        Step::Needs(needs) => panic!("{needs:?}"),
    }
}

fn issue(issuer: &Party, holder: &Party) -> LdpIssue {
    let terms = json!({"Degree": DEGREE, "degree": "https://types.example/degree#degree"});
    LdpIssue {
        content: Issue {
            format: Format::LdpVc,
            issuer: issuer.did.clone(),
            subject: Some(holder.did.clone()),
            types: vec!["Degree".to_owned()],
            contexts: vec![terms],
            claims: object(json!({"degree": "BSc"})),
            id: Some("urn:uuid:1".to_owned()),
            valid_from: NOW.minus(100),
            valid_until: Some(NOW.plus(100)),
            status: None,
            token_status: None,
            cnf: None,
            further: Map::new(),
            signer: issuer.signer(),
        },
        model: Model::V2,
        suite: suite_for(issuer.algorithm(), None).unwrap(),
    }
}

/// A document with one more proof.
fn proven(document: &Value, by: &Party, change: impl FnOnce(&mut ProofOptions<'_>)) -> Value {
    let method = by.kid();
    // Canonical JSON signs whatever stands in a document.
    let suite = suites(by.algorithm())[1];
    let mut options = ProofOptions::new(suite, &method, ProofPurpose::AssertionMethod);
    change(&mut options);
    let unsigned = prepare(
        object(document.clone()),
        &options,
        by.key.public().key_type(),
        &Contexts::bundled(),
    );
    let unsigned = unsigned.unwrap();
    let signature = by.key.sign(unsigned.bytes()).unwrap();
    Value::Object(unsigned.signed(&signature).unwrap())
}

impl Scene {
    fn new() -> Self {
        Self::with(KeyType::P256, |_| {})
    }

    fn with(key: KeyType, change: impl FnOnce(&mut LdpIssue)) -> Self {
        let issuer = Party::new(key);
        let holder = Party::new(KeyType::Ed25519);
        let mut issue = issue(&issuer, &holder);
        change(&mut issue);
        let credential = made(&issuer, |evidence| issue.clone().step(evidence)).unwrap();
        Self {
            issuer,
            holder,
            credential,
        }
    }

    /// The credential without its proof, changed.
    fn document(&self, change: impl FnOnce(&mut Value)) -> Value {
        let mut document: Value = serde_json::from_str(&self.credential).unwrap();
        document.as_object_mut().unwrap().remove("proof");
        change(&mut document);
        document
    }

    /// The verdict on the credential, changed and signed again by its issuer.
    fn altered(&self, change: impl FnOnce(&mut Value)) -> (Verdict, Option<Value>) {
        self.judged(&proven(&self.document(change), &self.issuer, |_| {}))
    }

    /// The verdict on a document.
    fn judged(&self, document: &Value) -> (Verdict, Option<Value>) {
        bare(&document.to_string(), &policy(), &Evidence::default())
    }

    fn present(&self, change: impl FnOnce(&mut LdpPresent<'_>)) -> String {
        self.present_by(&self.holder, change)
    }

    fn present_by(&self, by: &Party, change: impl FnOnce(&mut LdpPresent<'_>)) -> String {
        let signer = by.signer();
        let mut present = LdpPresent {
            credential: &self.credential,
            holder: &by.did,
            audience: AUDIENCE,
            nonce: NONCE,
            issued_at: NOW,
            lifetime: 300,
            suite: suite_for(by.algorithm(), None).unwrap(),
            signer: &signer,
        };
        change(&mut present);
        made(by, |evidence| present.step(evidence)).unwrap()
    }

    /// A presentation whose document and proof are changed before the holder signs it.
    fn presented(
        &self,
        change: impl FnOnce(&mut Value),
        options: impl FnOnce(&mut ProofOptions<'_>),
    ) -> (Verdict, Option<Value>) {
        let mut document: Value = serde_json::from_str(&self.present(|_| {})).unwrap();
        document.as_object_mut().unwrap().remove("proof");
        change(&mut document);
        let signed = proven(&document, &self.holder, |proof| {
            proof.purpose = ProofPurpose::Authentication;
            proof.domain = &[AUDIENCE];
            proof.challenge = Some(NONCE);
            proof.created = Some(NOW);
            options(proof);
        });
        bound(&signed.to_string())
    }
}

fn bare(raw: &str, policy: &Policy, evidence: &Evidence) -> (Verdict, Option<Value>) {
    let presented = Presented {
        format: Format::LdpVc,
        raw,
        expected: None,
    };
    verify(&presented, policy, evidence, NOW)
}

fn bound(raw: &str) -> (Verdict, Option<Value>) {
    let binding = binding();
    let presented = Presented {
        format: Format::LdpVc,
        raw,
        expected: Some(&binding),
    };
    verify(&presented, &policy(), &Evidence::default(), NOW)
}

#[test]
fn a_genuine_credential_is_valid_in_both_models_and_all_suites() {
    for key in [KeyType::Ed25519, KeyType::P256] {
        for model in [Model::V1, Model::V2] {
            for suite in suites(Party::new(key).algorithm()) {
                let scene = Scene::with(key, |issue| {
                    issue.model = model;
                    issue.suite = *suite;
                });
                let judged = bare(&scene.credential, &policy(), &Evidence::default());
                let claims = assert_valid(&judged);
                assert_eq!(claims["credentialSubject"]["degree"], "BSc");
                assert_eq!(claims["issuer"], json!(scene.issuer.did));
                assert!(claims.get("proof").is_none());
                for name in ["issuer_signature", "proof_purpose", "context"] {
                    let rule = rule(&judged.0, name);
                    assert!(rule.paragraph.contains("Data Integrity"), "{rule:?}");
                }
            }
        }
    }
}

#[test]
fn a_genuine_presentation_is_valid_in_both_models_and_all_suites() {
    for model in [Model::V1, Model::V2] {
        for suite in suites(Algorithm::EdDsa) {
            let scene = Scene::with(KeyType::P256, |issue| issue.model = model);
            let shown = scene.present(|present| present.suite = *suite);
            let claims = assert_valid(&bound(&shown));
            assert_eq!(claims["credentialSubject"]["id"], json!(scene.holder.did));
            let inner: Value = serde_json::from_str(&Format::LdpVc.bare(&shown).unwrap()).unwrap();
            let issued: Value = serde_json::from_str(&scene.credential).unwrap();
            assert_eq!(inner, issued);
        }
    }
}

#[test]
fn a_wallet_holds_it_with_its_types_expanded() {
    let scene = Scene::new();
    let held = Held::parse(&scene.credential, Format::LdpVc).unwrap();
    assert_eq!(Format::guess(&scene.credential), Format::LdpVc);
    assert_eq!(held.types(), ["VerifiableCredential", "Degree"]);
    let mut asked = held.asked_types();
    asked.sort();
    let general = "https://www.w3.org/2018/credentials#VerifiableCredential";
    assert_eq!(asked, [DEGREE, general]);
    assert_eq!(held.cryptosuite(), Some("ecdsa-rdfc-2019"));
    assert_eq!(held.issuer(), Some(&*scene.issuer.did));
    assert_eq!(held.holder_did(), Some(&*scene.holder.did));
    assert!(held.is_holder_bound() && held.disclosing(&[]).is_none());
    let other = scene.document(|_| {});
    let other = proven(&other, &scene.holder, |_| {}).to_string();
    assert_eq!(
        Held::parse(&other, Format::LdpVc).unwrap_err(),
        crate::held::HeldError::DataIntegrity
    );
}

#[test]
fn a_claim_without_a_meaning_is_not_issued() {
    let (issuer, holder) = (Party::new(KeyType::Ed25519), Party::new(KeyType::Ed25519));
    let mut issue = issue(&issuer, &holder);
    issue.content.claims.insert("grade".to_owned(), json!("A"));
    let refused = made(&issuer, |evidence| issue.clone().step(evidence)).unwrap_err();
    assert!(
        matches!(&refused, LdpError::Integrity(IntegrityError::DataLoss(name)) if name.contains("grade")),
        "{refused}"
    );
    let checked = |claims: Value| {
        let terms = issue.content.contexts[0].clone();
        check(&object(json!({
            "@context": [BASE_CONTEXT, terms], "type": ["VerifiableCredential", "Degree"],
            "credentialSubject": claims,
        })))
    };
    assert_eq!(checked(json!({"degree": "BSc"})), Ok(()));
    assert!(checked(json!({"degree": null})).is_err());
    issue.content.cnf = Some(holder.key.public().to_jwk());
    let refused = issue.step(&Evidence::default()).unwrap_err();
    assert_eq!(refused, LdpError::JwtClaims);
}

#[test]
fn a_changed_document_is_refused() {
    for suite in [0, 1] {
        let scene = Scene::with(KeyType::Ed25519, |issue| {
            issue.suite = suites(Algorithm::EdDsa)[suite];
        });
        let mut document: Value = serde_json::from_str(&scene.credential).unwrap();
        document["credentialSubject"]["degree"] = json!("PhD");
        assert_fails(
            &scene.judged(&document),
            "issuer_signature",
            Outcome::Invalid,
        );
        let mut document: Value = serde_json::from_str(&scene.credential).unwrap();
        document["proof"]["created"] = json!("2020-01-01T00:00:00Z");
        assert_fails(
            &scene.judged(&document),
            "issuer_signature",
            Outcome::Invalid,
        );
        let mut document: Value = serde_json::from_str(&scene.credential).unwrap();
        document["credentialSubject"]["unseen"] = json!("a term that nothing signs");
        assert_fails(
            &scene.judged(&document),
            "issuer_signature",
            Outcome::Invalid,
        );
    }
}

#[test]
fn a_proof_for_another_purpose_or_another_time_is_refused() {
    let scene = Scene::new();
    let document = scene.document(|_| {});
    let changes: [fn(&mut ProofOptions<'_>); 3] = [
        |proof| proof.purpose = ProofPurpose::Authentication,
        |proof| proof.created = Some(NOW.plus(1_000)),
        |proof| proof.expires = Some(NOW.minus(1_000)),
    ];
    for change in changes {
        let signed = proven(&document, &scene.issuer, change);
        assert_fails(&scene.judged(&signed), "proof_purpose", Outcome::Invalid);
    }
}

#[test]
fn a_proof_by_another_controller_is_refused() {
    let scene = Scene::new();
    let document = scene.document(|_| {});
    let by_other = proven(&document, &scene.holder, |_| {});
    assert_fails(&scene.judged(&by_other), "issuer_key", Outcome::Invalid);
    let unknown = format!("{}#other", scene.issuer.did);
    let unknown = proven(&document, &scene.issuer, |proof| {
        proof.method = unknown.leak();
    });
    assert_fails(&scene.judged(&unknown), "issuer_key", Outcome::Invalid);
    // The key of somebody else under the issuer's name.
    let issuer = scene.issuer.kid();
    let stolen = proven(&document, &Party::new(KeyType::P256), |proof| {
        proof.method = issuer.leak();
    });
    assert_fails(&scene.judged(&stolen), "issuer_signature", Outcome::Invalid);
    let by_url = scene.altered(|document| document["issuer"] = json!("https://issuer.example"));
    assert_fails(&by_url, "issuer_key", Outcome::Invalid);
}

#[test]
fn an_unknown_context_is_refused() {
    let scene = Scene::new();
    let unknown = scene.altered(|document| {
        let contexts = document["@context"].as_array_mut().unwrap();
        contexts.push(json!("https://unknown.example/v1"));
    });
    assert_fails(&unknown, "context", Outcome::Invalid);
    let other = scene.altered(|document| document["@context"][0] = json!("https://schema.org/"));
    assert_fails(&other, "context", Outcome::Invalid);
}

#[test]
fn what_the_data_model_requires_is_missed() {
    let scene = Scene::new();
    let cases: [fn(&mut Value); 5] = [
        |document| {
            drop(
                document
                    .as_object_mut()
                    .unwrap()
                    .remove("credentialSubject"),
            )
        },
        |document| document["credentialSubject"] = json!([]),
        |document| document["id"] = json!("no URL"),
        |document| document["evidence"] = json!({"id": "urn:x"}),
        |document| document["termsOfUse"] = json!(["urn:x"]),
    ];
    for case in cases {
        assert_fails(&scene.altered(case), "required_members", Outcome::Invalid);
    }
    let untyped = scene.altered(|document| document["type"] = json!(["Degree"]));
    assert_fails(&untyped, "credential_type", Outcome::Invalid);
}

#[test]
fn its_own_dates_are_kept() {
    let scene = Scene::new();
    let late = scene.altered(|one| one["validUntil"] = json!(NOW.minus(1_000).rfc3339()));
    assert_fails(&late, "expiry", Outcome::Expired);
    let early = scene.altered(|one| one["validFrom"] = json!(NOW.plus(1_000).rfc3339()));
    assert_fails(&early, "not_before", Outcome::NotYetValid);
    let wrong = scene.altered(|one| one["validFrom"] = json!("yesterday"));
    assert_fails(&wrong, "times_well_formed", Outcome::Invalid);
}

#[test]
fn chains_and_sets_of_proofs_hold_as_a_whole() {
    let scene = Scene::new();
    let notary = Party::new(KeyType::Ed25519);
    let document = scene.document(|_| {});
    let first = proven(&document, &notary, |proof| proof.id = Some("urn:proof:1"));
    let chain = proven(&first, &scene.issuer, |proof| {
        proof.previous = &["urn:proof:1"];
    });
    assert_valid(&scene.judged(&chain));
    let mut broken = chain.clone();
    broken["proof"][0]["created"] = json!("2020-01-01T00:00:00Z");
    assert_fails(&scene.judged(&broken), "issuer_signature", Outcome::Invalid);

    let set = proven(&proven(&document, &notary, |_| {}), &scene.issuer, |_| {});
    assert_valid(&scene.judged(&set));
    let mut broken = set.clone();
    broken["proof"][0]["created"] = json!("2020-01-01T00:00:00Z");
    assert_fails(&scene.judged(&broken), "issuer_signature", Outcome::Invalid);

    let mut dangling = chain.clone();
    dangling["proof"].as_array_mut().unwrap().remove(0);
    let mut cyclic = chain.clone();
    cyclic["proof"][1]["id"] = json!("urn:proof:2");
    cyclic["proof"][0]["previousProof"] = json!("urn:proof:2");
    let mut many = chain;
    many["proof"] = Value::Array(vec![set["proof"][1].clone(); 17]);
    for malformed in [dangling, cyclic, many] {
        assert_fails(&scene.judged(&malformed), "well_formed", Outcome::Invalid);
    }
}

#[test]
fn a_presentation_for_another_request_is_refused() {
    let scene = Scene::new();
    let other = bound(&scene.present(|present| present.nonce = "nonce-2"));
    assert_fails(&other, "holder_nonce", Outcome::Invalid);
    let other = bound(&scene.present(|present| present.audience = "https://other.example"));
    assert_fails(&other, "holder_audience", Outcome::Invalid);
    let both = scene.presented(
        |_| {},
        |proof| proof.domain = &[AUDIENCE, "https://other.example"],
    );
    assert_fails(&both, "holder_audience", Outcome::Invalid);
    let none = scene.presented(|_| {}, |proof| proof.challenge = None);
    assert_fails(&none, "holder_nonce", Outcome::Invalid);
    let purpose = scene.presented(
        |_| {},
        |proof| proof.purpose = ProofPurpose::AssertionMethod,
    );
    assert_fails(&purpose, "holder_proof_purpose", Outcome::Invalid);
    let old = scene.presented(|_| {}, |proof| proof.created = Some(NOW.minus(1_000)));
    assert_fails(&old, "holder_proof_time", Outcome::Invalid);
    let over = scene.presented(|_| {}, |proof| proof.expires = Some(NOW.minus(1_000)));
    assert_fails(&over, "holder_proof_purpose", Outcome::Invalid);
}

#[test]
fn a_presentation_by_somebody_else_is_refused() {
    let scene = Scene::new();
    let thief = Party::new(KeyType::Ed25519);
    let stolen = bound(&scene.present_by(&thief, |_| {}));
    assert_fails(&stolen, "holder_key", Outcome::Invalid);
    let holder: &str = scene.holder.did.clone().leak();
    let named = bound(&scene.present_by(&thief, |present| present.holder = holder));
    assert_fails(&named, "holder_key", Outcome::Invalid);
    let other = scene.presented(|document| document["holder"] = json!(thief.did), |_| {});
    assert_fails(&other, "holder_key", Outcome::Invalid);
    let unnamed = scene.presented(
        |document| drop(document.as_object_mut().unwrap().remove("holder")),
        |_| {},
    );
    assert_valid(&unnamed);
    let method = scene.holder.kid();
    let signed_by_thief: Value = serde_json::from_str(&scene.present(|_| {})).unwrap();
    let mut document = signed_by_thief;
    document.as_object_mut().unwrap().remove("proof");
    let forged = proven(&document, &thief, |proof| {
        proof.method = method.leak();
        proof.purpose = ProofPurpose::Authentication;
        proof.domain = &[AUDIENCE];
        proof.challenge = Some(NONCE);
    });
    assert_fails(
        &bound(&forged.to_string()),
        "holder_signature",
        Outcome::Invalid,
    );
}

#[test]
fn a_presentation_of_anything_but_one_credential_is_refused() {
    let scene = Scene::new();
    let cases: [fn(&mut Value); 4] = [
        |document| document["verifiableCredential"] = json!([]),
        |document| {
            drop(
                document
                    .as_object_mut()
                    .unwrap()
                    .remove("verifiableCredential"),
            )
        },
        |document| {
            let one = document["verifiableCredential"][0].clone();
            document["verifiableCredential"] = json!([one, one]);
        },
        |document| document["verifiableCredential"] = json!("a text"),
    ];
    for case in cases {
        assert_fails(
            &scene.presented(case, |_| {}),
            "well_formed",
            Outcome::Invalid,
        );
    }
    let untyped = scene.presented(|document| document["type"] = json!(["Other"]), |_| {});
    assert_fails(&untyped, "presentation_type", Outcome::Invalid);
    let inner = scene.presented(
        |document| {
            document["verifiableCredential"][0]["credentialSubject"]["degree"] = json!("PhD")
        },
        |_| {},
    );
    assert_fails(&inner, "issuer_signature", Outcome::Invalid);
    // A credential by itself proves no holder.
    assert_fails(&bound(&scene.credential), "well_formed", Outcome::Invalid);
}

#[test]
fn a_subject_without_a_did_can_not_prove_itself() {
    let scene = Scene::with(KeyType::P256, |issue| {
        issue.content.subject = Some("urn:person:1".to_owned());
    });
    assert_fails(
        &bound(&scene.present(|_| {})),
        "holder_key",
        Outcome::Invalid,
    );
}

#[test]
fn texts_that_are_no_document_with_a_proof_are_refused() {
    let scene = Scene::new();
    let twice = scene
        .credential
        .replacen('{', r#"{"issuer":"did:example:1","#, 1);
    let unproven = scene.document(|_| {}).to_string();
    let deep = format!("{}1{}", r#"{"a":"#.repeat(40), "}".repeat(40));
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(600 * 1024));
    for text in ["", "[]", "{}", "null", &twice, &unproven, &deep, &long] {
        let judged = bare(text, &policy(), &Evidence::default());
        assert_fails(&judged, "well_formed", Outcome::Invalid);
        assert!(Held::parse(text, Format::LdpVc).is_err());
    }
}

#[test]
fn nothing_is_fetched_for_strangers_and_their_credentials() {
    let scene = Scene::with(KeyType::P256, |issue| {
        let entry = Reference::bitstring(LIST, 5, Purpose::Revocation);
        issue.content.status = Some(entry.to_value());
    });
    let wanted = |raw: &str, policy: &Policy| {
        let presented = Presented {
            format: Format::LdpVc,
            raw,
            expected: None,
        };
        needs(&presented, policy, &Evidence::default()).unwrap()
    };
    let list = [Need::StatusList(LIST.to_owned())];
    assert_eq!(wanted(&scene.credential, &policy()), list);
    let stranger = Policy {
        trusted_issuers: Trust::Listed(Vec::new()),
        ..policy()
    };
    assert!(wanted(&scene.credential, &stranger).is_empty());
    let forged = scene.credential.replace("BSc", "PhD");
    assert!(wanted(&forged, &policy()).is_empty());
    let verdict = bare(&scene.credential, &stranger, &Evidence::default()).0;
    assert_eq!(verdict.outcome, Outcome::Untrusted);
}

#[test]
fn a_status_list_says_that_it_is_revoked() {
    let scene = Scene::with(KeyType::Ed25519, |issue| {
        let entry = Reference::bitstring(LIST, 5, Purpose::Revocation);
        issue.content.status = Some(json!([entry.to_value()]));
    });
    let listed = |status: u8| {
        let header = object(json!({"alg": "EdDSA", "kid": scene.issuer.kid()}));
        let terms = Terms {
            uri: LIST,
            issuer: &scene.issuer.did,
            header: &header,
            issued_at: NOW,
            expires_at: None,
            ttl: None,
        };
        let mut bits = Bits::new(Width::One, 131_072).unwrap();
        bits.set(5, status).unwrap();
        let unsigned = bitstring::encode(&bits, Purpose::Revocation, &terms).unwrap();
        let signature = scene.issuer.key.sign(unsigned.signing_input()).unwrap();
        let text = unsigned.finish(&signature);
        let list = List::parse(LIST, None, text.as_bytes(), NOW).unwrap();
        let mut evidence = Evidence::default();
        evidence.insert_status_list(LIST.to_owned(), fetched(Arc::new(list)));
        bare(&scene.credential, &policy(), &evidence)
    };
    assert_valid(&listed(0));
    assert_fails(&listed(1), "status", Outcome::Revoked);
    let unknown = bare(&scene.credential, &policy(), &Evidence::default());
    assert_fails(&unknown, "status_list", Outcome::Unverifiable);
}

#[test]
fn a_type_is_asked_for_by_its_expanded_name() {
    let scene = Scene::new();
    let policy = |name: &str, issuer: &str| Policy {
        issuers_by_type: [(name.to_owned(), vec![issuer.to_owned()])].into(),
        ..policy()
    };
    for name in ["Degree", DEGREE] {
        let named = policy(name, &scene.issuer.did);
        assert_valid(&bare(&scene.credential, &named, &Evidence::default()));
        let other = policy(name, "did:example:other");
        let judged = bare(&scene.credential, &other, &Evidence::default());
        assert_fails(&judged, "issuer_trusted_for_request", Outcome::Untrusted);
    }
}

#[test]
fn a_suite_is_chosen_that_the_other_side_accepts() {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let chosen = |accepted: &[&str]| suite_for(Algorithm::Es256, Some(&names(accepted)));
    assert_eq!(
        suite_for(Algorithm::Es256, None),
        Some(Cryptosuite::EcdsaRdfc2019)
    );
    assert_eq!(chosen(&["ecdsa-jcs-2019"]), Some(Cryptosuite::EcdsaJcs2019));
    assert_eq!(chosen(&["eddsa-jcs-2022", "bbs-2023"]), None);
    assert_eq!(suite_for(Algorithm::Es256k, None), None);
}
