//! Credentials and presentations, and what is wrong with others.

use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_verdict::Outcome;
use serde_json::json;

use super::*;
use crate::{Cryptosuite, ProofOptions, prepare};

const NOW: UnixTime = UnixTime(1_780_272_000);
const REQUEST: VcRequest<'static> = VcRequest {
    challenge: "nonce",
    domain: Some("x509_san_dns:verifier.example"),
};

struct Party {
    did: String,
    method: String,
    key: PrivateKey,
}

impl Party {
    fn new() -> Self {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let did = format!("did:key:{}", key.public().to_multikey());
        let method = format!("{did}#{}", key.public().to_multikey());
        Self { did, method, key }
    }

    fn known(&self) -> KnownMethod<'_> {
        KnownMethod {
            url: &self.method,
            controller: &self.did,
            purposes: &[ProofPurpose::AssertionMethod, ProofPurpose::Authentication],
            key: self.key.public().clone(),
        }
    }

    fn signed(&self, document: Value, suite: Cryptosuite, request: Option<VcRequest<'_>>) -> Value {
        let purpose = match request {
            Some(_) => ProofPurpose::Authentication,
            None => ProofPurpose::AssertionMethod,
        };
        let domain = request.and_then(|request| request.domain);
        let domain = domain.map(|domain| [domain]);
        let options = ProofOptions {
            created: Some(NOW),
            domain: domain
                .as_ref()
                .map(|one| one.as_slice())
                .unwrap_or_default(),
            challenge: request.map(|request| request.challenge),
            ..ProofOptions::new(suite, &self.method, purpose)
        };
        let document = document.as_object().unwrap().clone();
        let unsigned = prepare(document, &options, KeyType::Ed25519, &Contexts::bundled()).unwrap();
        let signature = self.key.sign(unsigned.bytes()).unwrap();
        unsigned.signed(&signature).unwrap().into()
    }
}

struct Scene {
    issuer: Party,
    holder: Party,
}

impl Scene {
    fn new() -> Self {
        Self {
            issuer: Party::new(),
            holder: Party::new(),
        }
    }

    fn document(&self, model: VcModel) -> Value {
        let (from, until) = model.dates();
        json!({
            "@context": [
                model.base_context(),
                "https://w3id.org/security/data-integrity/v2",
                {"degree": "https://example.org/degree"},
            ],
            "id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
            "type": ["VerifiableCredential"],
            "issuer": {"id": self.issuer.did},
            from: "2026-01-01T00:00:00Z",
            until: "2027-01-01T00:00:00Z",
            "credentialSubject": {"id": self.holder.did, "degree": "Bachelor"},
        })
    }

    fn credential(&self, change: impl FnOnce(&mut Value)) -> Value {
        let mut document = self.document(VcModel::V2);
        change(&mut document);
        self.issuer
            .signed(document, Cryptosuite::EddsaRdfc2022, None)
    }

    fn presentation(&self, request: VcRequest<'_>, change: impl FnOnce(&mut Value)) -> Value {
        let mut document = json!({
            "@context": [VcModel::V2.base_context()],
            "type": ["VerifiablePresentation"],
            "holder": self.holder.did,
            "verifiableCredential": [self.credential(|_| {})],
        });
        change(&mut document);
        self.holder
            .signed(document, Cryptosuite::EddsaJcs2022, Some(request))
    }

    fn judged(&self, document: &Value) -> (Outcome, Option<String>) {
        let methods = [self.issuer.known(), self.holder.known()];
        let (verdict, credential) = verify_credential(document, &court(&methods));
        assert_eq!(
            verdict.is_valid(),
            credential.is_some() && verdict.is_valid()
        );
        let reason = verdict.reason().map(|rule| rule.name.to_string());
        (verdict.outcome, reason)
    }

    fn judged_presentation(&self, document: &Value) -> (Outcome, Option<String>) {
        let methods = [self.issuer.known(), self.holder.known()];
        let (verdict, presentation) = verify_presentation(document, &REQUEST, &court(&methods));
        if let Some(presentation) = presentation {
            assert_eq!(presentation.holder, self.holder.did);
            assert!(
                presentation
                    .credentials
                    .iter()
                    .all(|(verdict, _)| verdict.is_valid())
            );
        }
        let reason = verdict.reason().map(|rule| rule.name.to_string());
        (verdict.outcome, reason)
    }
}

fn court<'a>(methods: &'a [KnownMethod<'a>]) -> VcCourt<'a> {
    static CONTEXTS: std::sync::LazyLock<Contexts> = std::sync::LazyLock::new(Contexts::bundled);
    VcCourt {
        now: NOW,
        leeway: 60,
        contexts: &CONTEXTS,
        methods,
    }
}

fn because(outcome: Outcome, reason: &str) -> (Outcome, Option<String>) {
    (outcome, Some(reason.to_owned()))
}

#[test]
fn credentials_of_both_models_and_every_suite_of_the_key_are_valid() {
    let scene = Scene::new();
    for model in [VcModel::V1, VcModel::V2] {
        for suite in [Cryptosuite::EddsaRdfc2022, Cryptosuite::EddsaJcs2022] {
            let credential = scene.issuer.signed(scene.document(model), suite, None);
            assert_eq!(
                scene.judged(&credential),
                (Outcome::Valid, None),
                "{model:?} {suite:?}"
            );
            let methods = methods_wanted(&credential).unwrap();
            assert_eq!(methods, std::slice::from_ref(&scene.issuer.method));
        }
    }
}

#[test]
fn a_credential_that_its_issuer_did_not_sign_is_refused() {
    let scene = Scene::new();
    let mut changed = scene.credential(|_| {});
    changed["credentialSubject"]["degree"] = "Doctor".into();
    assert_eq!(scene.judged(&changed), because(Outcome::Invalid, "proof"));
    let stranger = scene.credential(|document| document["issuer"] = "did:example:other".into());
    assert_eq!(
        scene.judged(&stranger),
        because(Outcome::Unverifiable, "proof_key")
    );
    let for_entry = scene.issuer.signed(
        scene.document(VcModel::V2),
        Cryptosuite::EddsaRdfc2022,
        Some(REQUEST),
    );
    assert_eq!(
        scene.judged(&for_entry),
        because(Outcome::Unverifiable, "proof_key")
    );
    let mut unsigned = scene.credential(|_| {});
    unsigned.as_object_mut().unwrap().remove("proof");
    assert_eq!(
        scene.judged(&unsigned),
        because(Outcome::Invalid, "readable")
    );
}

#[test]
fn a_key_that_its_controller_does_not_allow_for_the_purpose_does_not_count() {
    let scene = Scene::new();
    let mut method = scene.issuer.known();
    method.purposes = &[ProofPurpose::Authentication];
    let methods = [method];
    let (verdict, credential) = verify_credential(&scene.credential(|_| {}), &court(&methods));
    assert_eq!(verdict.outcome, Outcome::Unverifiable);
    assert!(credential.is_none());
}

#[test]
fn a_second_proof_of_a_known_key_must_hold_too() {
    let scene = Scene::new();
    let once = scene.credential(|_| {});
    let mut twice = scene.holder.signed(once, Cryptosuite::EddsaJcs2022, None);
    assert_eq!(scene.judged(&twice), (Outcome::Valid, None));
    twice["proof"][1]["created"] = "2026-06-01T00:00:01Z".into();
    assert_eq!(scene.judged(&twice), because(Outcome::Invalid, "proof"));
}

#[test]
fn a_document_that_does_not_follow_the_data_model_is_refused() {
    let scene = Scene::new();
    let judged = |change: fn(&mut Value)| {
        let mut document = scene.document(VcModel::V2);
        change(&mut document);
        let signed = scene
            .issuer
            .signed(document, Cryptosuite::EddsaJcs2022, None);
        scene.judged(&signed)
    };
    for (change, law) in [
        (
            (|one| one["@context"] = json!(["https://example.org/other"])) as fn(&mut Value),
            "context",
        ),
        (
            |one| one["@context"][1] = "https://example.org/unknown".into(),
            "context",
        ),
        (|one| one["type"] = json!(["OtherCredential"]), "type"),
        (
            |one| one["credentialSubject"] = json!({}),
            "required_members",
        ),
        (
            |one| one["credentialSubject"] = json!([]),
            "required_members",
        ),
        (
            |one| one["id"] = json!(["urn:example:1"]),
            "required_members",
        ),
        (
            |one| one["credentialStatus"] = json!({"id": "urn:example:1"}),
            "required_members",
        ),
        (|one| one["validFrom"] = "yesterday".into(), "times"),
        (
            |one| one["validFrom"] = "2028-01-01T00:00:00Z".into(),
            "times",
        ),
    ] {
        assert_eq!(judged(change), because(Outcome::Invalid, law), "{law}");
    }
    let early: fn(&mut Value) = |one| one["validFrom"] = "2026-12-01T00:00:00Z".into();
    assert_eq!(judged(early), because(Outcome::NotYetValid, "not_before"));
    let late: fn(&mut Value) = |one| one["validUntil"] = "2026-02-01T00:00:00Z".into();
    assert_eq!(judged(late), because(Outcome::Expired, "expiry"));
}

#[test]
fn a_presentation_is_bound_to_its_request_and_its_holder() {
    let scene = Scene::new();
    let presentation = scene.presentation(REQUEST, |_| {});
    assert_eq!(
        scene.judged_presentation(&presentation),
        (Outcome::Valid, None)
    );
    assert_eq!(methods_wanted(&presentation).unwrap().len(), 2);
    for other in [
        VcRequest {
            challenge: "another",
            ..REQUEST
        },
        VcRequest {
            domain: Some("another"),
            ..REQUEST
        },
    ] {
        let presentation = scene.presentation(other, |_| {});
        let judged = scene.judged_presentation(&presentation);
        assert_eq!(judged, because(Outcome::Invalid, "proof_asked"));
    }
    let issuer = scene.issuer.did.clone();
    let borrowed = scene.presentation(REQUEST, |one| one["holder"] = issuer.into());
    assert_eq!(
        scene.judged_presentation(&borrowed),
        because(Outcome::Unverifiable, "proof_key")
    );
    let empty = scene.presentation(REQUEST, |one| {
        one.as_object_mut().unwrap().remove("verifiableCredential");
    });
    assert_eq!(
        scene.judged_presentation(&empty),
        because(Outcome::Invalid, "required_members")
    );
    // Alone it says who its holder is.
    let known = [scene.holder.known()];
    let (verdict, proven) = judge_presentation(&empty, &REQUEST, &court(&known));
    assert!(verdict.is_valid() && proven.unwrap().credentials.is_empty());
    let mut exchanged = presentation;
    exchanged["verifiableCredential"][0] = scene.credential(|one| one["name"] = "another".into());
    assert_eq!(
        scene.judged_presentation(&exchanged),
        because(Outcome::Invalid, "proof")
    );
}
