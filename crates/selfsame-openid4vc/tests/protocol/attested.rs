//! An issuer that wants the keys of credentials to be attested (OpenID4VCI 1.0 Appendices D, F.1, F.3).

use std::sync::Arc;

use selfsame_attestation::key::{HEADER, TYP};
use selfsame_attestation::trust::{KnownAttester, TrustedAttesters};
use selfsame_crypto::KeyType;
use selfsame_oauth::jwt::VerificationKeys;
use selfsame_openid4vc::Error;
use selfsame_openid4vc::issuer::{EnforcedMetadata, IssuanceState, credential};
use selfsame_openid4vc::wire::credential::CredentialRequest;
use serde_json::{Value, json};

use crate::world::{ISSUER, Issuer, NOW, Party, SD_JWT, credentials, ctx, proof_header, request};

const ATTESTER: &str = "https://attester.example";

/// An issuer, an attester that it trusts, and holders.
struct Scene {
    issuer: Issuer,
    attester: Party,
    holders: Vec<Party>,
}

impl Scene {
    /// An issuer that accepts these values of `key_storage`.
    fn wanting(storage: &[&str]) -> Self {
        let mut issuer = Issuer::new();
        let required = match storage {
            [] => json!({}),
            values => json!({ "key_storage": values }),
        };
        let proof = json!({
            "proof_signing_alg_values_supported": ["ES256"],
            "key_attestations_required": required,
        });
        let mut metadata = serde_json::to_value(&issuer.metadata).unwrap();
        metadata["credential_configurations_supported"][SD_JWT]["proof_types_supported"] =
            json!({"jwt": proof, "attestation": proof});
        let metadata = serde_json::from_value(metadata).unwrap();
        let attester = Party::new(KeyType::P256);
        let known = KnownAttester {
            issuer: ATTESTER.to_owned(),
            keys: VerificationKeys::of(vec![attester.key.public().to_jwk()]),
        };
        let trusted = Arc::new(TrustedAttesters::new(vec![known], Vec::new()));
        issuer.settings.metadata = EnforcedMetadata::of(&metadata).trusting(trusted);
        issuer.metadata = metadata;
        Self {
            issuer,
            attester,
            holders: (0..4).map(|_| Party::new(KeyType::P256)).collect(),
        }
    }

    fn new() -> Self {
        Self::wanting(&[])
    }

    fn claims(&self, holders: &[usize]) -> Value {
        let jwk = |one: &usize| self.holders[*one].key.public().to_jwk().to_value();
        let keys: Vec<Value> = holders.iter().map(jwk).collect();
        json!({"iat": NOW.0, "exp": NOW.0 + 600, "attested_keys": keys})
    }

    fn attested(&self, by: &Party, claims: &Value) -> String {
        by.token(&json!({"typ": TYP, "alg": "ES256"}), claims)
    }

    fn attestation(&self, holders: &[usize]) -> String {
        self.attested(&self.attester, &self.claims(holders))
    }

    /// A proof of a holder with this attestation.
    fn proof(&self, holder: usize, attestation: &str) -> String {
        let holder = &self.holders[holder];
        let mut header = proof_header(holder);
        header[HEADER] = json!(attestation);
        holder.token(&header, &self.issuer.proof_claims())
    }

    fn asked(&self, request: &CredentialRequest) -> Result<usize, Error> {
        let state = IssuanceState::Granted(self.issuer.granted(SD_JWT));
        let (_, issuance) = self.issuer.credential(&state, request, &ctx(4))?;
        Ok(credentials(&issuance).credentials.len())
    }

    fn with_proofs(&self, proofs: &[String]) -> Result<usize, Error> {
        self.asked(&request(SD_JWT, proofs))
    }

    /// A request whose proof is an attestation alone.
    fn with_attestation(&self, claims: &Value) -> Result<usize, Error> {
        self.asked(&CredentialRequest {
            attestation: Some(self.attested(&self.attester, claims)),
            ..request(SD_JWT, &[])
        })
    }
}

fn refused(result: Result<usize, Error>) -> (&'static str, String) {
    let error = result.expect_err("this must be refused");
    (error.code().unwrap(), error.detail().to_owned())
}

#[test]
fn each_attested_key_gets_one_credential() {
    let scene = Scene::new();
    let both = scene.attestation(&[0, 1]);
    let proofs = [scene.proof(0, &both), scene.proof(1, &both)];
    assert_eq!(scene.with_proofs(&proofs).unwrap(), 2);
    // Appendix F.1: one proof is enough for all keys that are attested.
    assert_eq!(scene.with_proofs(&proofs[..1]).unwrap(), 2);
    let single = scene.proof(0, &scene.attestation(&[0]));
    assert_eq!(scene.with_proofs(&[single]).unwrap(), 1);
}

#[test]
fn the_copies_of_a_request_are_the_keys_that_its_attestations_name() {
    let scene = Scene::new();
    let both = scene.attestation(&[0, 1]);
    let by_proof = request(SD_JWT, &[scene.proof(0, &both)]);
    assert_eq!(credential::copies(&by_proof), 2);
    let alone = CredentialRequest {
        attestation: Some(both),
        ..request(SD_JWT, &[])
    };
    assert_eq!(credential::copies(&alone), 2);
    let granted = scene.issuer.granted(SD_JWT);
    let needed = credential::entries_needed(&granted, &alone, &scene.issuer.settings, true);
    assert_eq!(needed.unwrap(), 2);
}

#[test]
fn a_proof_without_an_attestation_or_by_a_key_outside_it_is_refused() {
    let scene = Scene::new();
    let bare = scene.issuer.proof(&scene.holders[0]);
    let (code, why) = refused(scene.with_proofs(&[bare]));
    assert_eq!(code, "invalid_proof");
    assert!(why.contains("no key_attestation"), "{why}");
    let other = scene.proof(0, &scene.attestation(&[1]));
    let (code, why) = refused(scene.with_proofs(&[other]));
    assert_eq!(code, "invalid_proof");
    assert!(why.contains("not attested"), "{why}");
    let stranger = scene.attested(&scene.holders[1], &scene.claims(&[0]));
    let (code, why) = refused(scene.with_proofs(&[scene.proof(0, &stranger)]));
    assert_eq!(code, "invalid_proof");
    assert!(why.contains("trusted"), "{why}");
    let mut late = scene.claims(&[0]);
    late["exp"] = json!(NOW.0 - 61);
    let late = scene.attested(&scene.attester, &late);
    assert_eq!(
        refused(scene.with_proofs(&[scene.proof(0, &late)])).0,
        "invalid_proof"
    );
}

#[test]
fn more_attested_keys_than_a_batch_may_have_are_refused() {
    let scene = Scene::new();
    let most = scene.attestation(&[0, 1, 2]);
    assert_eq!(scene.with_proofs(&[scene.proof(0, &most)]).unwrap(), 3);
    let more = scene.attestation(&[0, 1, 2, 3]);
    let (code, why) = refused(scene.with_proofs(&[scene.proof(0, &more)]));
    assert_eq!(code, "invalid_proof");
    assert!(why.contains("batch_size"), "{why}");
}

#[test]
fn an_attestation_with_the_issuers_nonce_is_a_proof_of_its_own() {
    let scene = Scene::new();
    let mut claims = scene.claims(&[0, 1]);
    let (code, why) = refused(scene.with_attestation(&claims));
    assert_eq!(code, "invalid_proof");
    assert!(why.contains("no nonce"), "{why}");
    claims["nonce"] = json!("not the issuer's");
    assert_eq!(refused(scene.with_attestation(&claims)).0, "invalid_nonce");
    claims["nonce"] = json!(scene.issuer.nonce());
    assert_eq!(scene.with_attestation(&claims).unwrap(), 2);
    // Its end may be left out, since the nonce says that it is fresh.
    claims.as_object_mut().unwrap().remove("exp");
    assert_eq!(scene.with_attestation(&claims).unwrap(), 2);
}

#[test]
fn the_nonce_of_an_attestation_in_a_header_is_that_of_the_proof() {
    let scene = Scene::new();
    let mut claims = scene.claims(&[0]);
    claims["nonce"] = json!("another");
    let attestation = scene.attested(&scene.attester, &claims);
    let (code, why) = refused(scene.with_proofs(&[scene.proof(0, &attestation)]));
    assert_eq!(code, "invalid_proof");
    assert!(why.contains("nonce"), "{why}");
    claims["nonce"] = scene.issuer.proof_claims()["nonce"].clone();
    let attestation = scene.attested(&scene.attester, &claims);
    assert_eq!(
        scene.with_proofs(&[scene.proof(0, &attestation)]).unwrap(),
        1
    );
}

#[test]
fn keys_are_protected_as_the_metadata_demand() {
    let scene = Scene::wanting(&["iso_18045_high", "iso_18045_moderate"]);
    let with = |storage: &str| {
        let mut claims = scene.claims(&[0]);
        claims["key_storage"] = json!([storage]);
        let attestation = scene.attested(&scene.attester, &claims);
        scene.with_proofs(&[scene.proof(0, &attestation)])
    };
    assert_eq!(with("iso_18045_moderate").unwrap(), 1);
    assert_eq!(refused(with("iso_18045_basic")).0, "invalid_proof");
    let bare = scene.proof(0, &scene.attestation(&[0]));
    assert_eq!(refused(scene.with_proofs(&[bare])).0, "invalid_proof");
}

#[test]
fn an_issuer_that_wants_no_attestation_takes_none_as_a_proof() {
    let scene = Scene::new();
    let plain = Issuer::new();
    let state = IssuanceState::Granted(plain.granted(SD_JWT));
    let mut claims = scene.claims(&[0]);
    claims["nonce"] = json!(plain.nonce());
    let asked = CredentialRequest {
        attestation: Some(scene.attested(&scene.attester, &claims)),
        ..request(SD_JWT, &[])
    };
    let refused = plain.credential(&state, &asked, &ctx(4)).unwrap_err();
    assert_eq!(refused.code(), Some("invalid_proof"));
    // An attestation beside a proof is what any unknown member of a header is.
    let holder = &scene.holders[0];
    let mut header = proof_header(holder);
    header[HEADER] = json!("nonsense");
    let proof = holder.token(
        &header,
        &json!({"aud": ISSUER, "iat": NOW.0, "nonce": plain.nonce()}),
    );
    assert_eq!(plain.ask(SD_JWT, &[proof]).unwrap().len(), 1);
}
