//! Credentials for one use: unused, spent, revoked, and what cannot be said or is forged.

use selfsame_did::{
    Document, Relationship, Representation, Resolution, VerificationMethod, selfsame,
};

use super::*;
use crate::{
    format::sd_jwt_vc::Issue,
    path::ClaimPath,
    sd_jwt::DigestAlgorithm,
    signer::Signer,
    single_use::{self, Action, CLAIM, HANDLE, Reference, Use},
    testing::{Party, ctx, object},
};

const KIND: &str = "https://types.example/prescription";
const SECRET: [u8; 32] = [9; 32];

/// One issuer of a registry, and a credential for one use.
struct Scene {
    issuer: Did,
    credential: String,
    evidence: Evidence,
}

impl Scene {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Issue)) -> Self {
        let party = Party::new(KeyType::P256);
        let network = selfsame::Network::of_genesis(b"a network");
        let issuer = selfsame::create(&network, party.key.public());
        let kid = issuer.with_fragment("key-1").unwrap();
        let mut document = Document::new(issuer.clone());
        let method = VerificationMethod::json_web_key(kid.clone(), party.key.public());
        document.add(method, &[Relationship::AssertionMethod]);
        let mut evidence = Evidence::default();
        let resolution = Resolution::found(document, Representation::Did);
        evidence.insert_did(issuer.clone(), fetched(Arc::new(resolution)));
        let mut claims = object(json!({"iss": issuer.as_str(), "vct": KIND, "name": "Ada"}));
        claims.extend(
            single_use::claims(KIND, &SECRET).map(|(name, value)| (name.to_owned(), value)),
        );
        let mut issue = Issue {
            claims,
            disclosable: vec![ClaimPath::of_names([HANDLE]).unwrap()],
            decoys: 0,
            cnf: None,
            digest: DigestAlgorithm::Sha256,
            signer: Signer::with_kid(party.handle(), party.algorithm(), kid.to_string()),
            label: "c".to_owned(),
        };
        change(&mut issue);
        let draft = issue.draft(&ctx()).unwrap();
        let signature = party.key.sign(draft.signing_input()).unwrap();
        Self {
            issuer,
            credential: draft.finish(&signature),
            evidence,
        }
    }

    /// The credential without its handle.
    fn kept_back(&self) -> String {
        let (jwt, _) = self.credential.split_once('~').unwrap();
        format!("{jwt}~")
    }

    fn knowing(mut self, used: Fetched<Option<Use>>) -> Self {
        let digest = single_use::digest(KIND, &SECRET);
        self.evidence
            .insert_single_use(self.issuer.clone(), digest, used);
        self
    }

    fn used(&self, action: Action) -> Option<Use> {
        Some(Use {
            action,
            by: self.issuer.clone(),
            at: NOW.minus(5),
            seq_no: 17,
        })
    }

    fn judge(&self, raw: &str, policy: &Policy) -> (Verdict, Option<Value>) {
        verify(&presented(raw), policy, &self.evidence, NOW)
    }
}

fn presented(raw: &str) -> Presented<'_> {
    Presented {
        format: Format::SdJwtVc,
        raw,
        expected: None,
    }
}

#[test]
fn a_credential_that_is_not_used_is_valid_with_and_without_its_handle() {
    let scene = Scene::new().knowing(fetched(None));
    for raw in [scene.credential.clone(), scene.kept_back()] {
        let judged = scene.judge(&raw, &policy());
        let claims = assert_valid(&judged);
        assert_eq!(claims.get(HANDLE).is_some(), raw == scene.credential);
        let detail = &rule(&judged.0, "single_use").detail;
        assert_eq!(*detail, format!("not used, as of {}", NOW.rfc3339()));
        assert_eq!(judged.0.as_of, Some(NOW.0));
    }
}

#[test]
fn a_used_credential_is_spent_or_revoked_and_the_detail_says_by_whom_and_when() {
    for (action, outcome) in [
        (Action::Spent, Outcome::Spent),
        (Action::Revoked, Outcome::Revoked),
    ] {
        let scene = Scene::new();
        let used = scene.used(action);
        let scene = scene.knowing(fetched(used));
        let judged = scene.judge(&scene.kept_back(), &policy());
        assert_fails(&judged, "single_use", outcome);
        let detail = &rule(&judged.0, "single_use").detail;
        let at = NOW.minus(5).rfc3339();
        let said = format!(
            "{} by {} at {at}, transaction 17",
            outcome.as_str(),
            scene.issuer
        );
        assert_eq!(*detail, said);
    }
}

#[test]
fn the_use_is_asked_for_once_the_credential_is_known_to_be_genuine_and_trusted() {
    let scene = Scene::new();
    let digest = single_use::digest(KIND, &SECRET);
    let need = Need::Use {
        issuer: scene.issuer.clone(),
        digest,
    };
    let asked = |raw: &str, policy: &Policy| needs(&presented(raw), policy, &scene.evidence);
    assert_eq!(asked(&scene.credential, &policy()), Ok(vec![need.clone()]));
    let nobody = Policy {
        trusted_issuers: Trust::default(),
        ..policy()
    };
    assert_eq!(asked(&scene.credential, &nobody), Ok(vec![]));
    let forged = Scene::new();
    let (_, foreign) = forged.credential.rsplit_once('.').unwrap();
    let (signed, _) = scene.credential.rsplit_once('.').unwrap();
    assert_eq!(asked(&format!("{signed}.{foreign}"), &policy()), Ok(vec![]));
    let unread = scene.judge(&scene.credential, &policy());
    assert_fails(&unread, "single_use", Outcome::Unverifiable);
    let scene = scene.knowing(fetched(None));
    assert!(scene.evidence.answers(&need));
}

#[test]
fn whether_it_is_used_must_be_readable_and_read_lately_enough() {
    let scene = Scene::new().knowing(unavailable());
    let judged = scene.judge(&scene.credential, &policy());
    assert_fails(&judged, "single_use", Outcome::Unverifiable);
    let old = Fetched {
        value: Ok(None),
        at: NOW.minus(61),
    };
    let scene = Scene::new().knowing(old);
    let strict = Policy {
        max_status_age: Some(60),
        ..policy()
    };
    let judged = scene.judge(&scene.credential, &strict);
    assert_fails(&judged, "single_use", Outcome::Unverifiable);
    assert_valid(&scene.judge(&scene.credential, &policy()));
}

#[test]
fn an_old_reading_of_a_use_still_counts() {
    let scene = Scene::new();
    let old = Fetched {
        value: Ok(scene.used(Action::Spent)),
        at: NOW.minus(1_000),
    };
    let scene = scene.knowing(old);
    let strict = Policy {
        max_status_age: Some(1),
        ..policy()
    };
    let judged = scene.judge(&scene.credential, &strict);
    assert_fails(&judged, "single_use", Outcome::Spent);
}

#[test]
fn a_reference_that_is_wrong_hidden_or_not_of_the_handle_is_refused() {
    let malformed = Scene::with(|issue| {
        issue
            .claims
            .insert(CLAIM.to_owned(), json!({"digest": "x"}));
    });
    let hidden = Scene::with(|issue| {
        issue
            .disclosable
            .push(ClaimPath::of_names([CLAIM]).unwrap());
    });
    let other = Scene::with(|issue| {
        let [_, (name, value)] = single_use::claims(KIND, &[8; 32]);
        issue.claims.insert(name.to_owned(), value);
    });
    for scene in [malformed, hidden, other] {
        let judged = scene.judge(&scene.credential, &policy());
        assert_fails(&judged, "single_use_reference", Outcome::Invalid);
    }
}

#[test]
fn a_credential_for_one_use_by_an_issuer_of_no_registry_cannot_be_verified() {
    let issuer = Party::new(KeyType::Ed25519);
    let mut payload = json!({"iss": issuer.did, "vct": KIND});
    let [(name, value), _] = single_use::claims(KIND, &SECRET);
    payload[name] = value;
    assert!(Reference::in_payload(&payload).unwrap().is_some());
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt", "kid": issuer.kid()});
    let raw = issuer.token(&header, &payload) + "~";
    let judged = verify(&presented(&raw), &policy(), &Evidence::default(), NOW);
    assert_fails(&judged, "single_use_reference", Outcome::Unverifiable);
}
