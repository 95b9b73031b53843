use proptest::prelude::*;
use selfsame_crypto::PrivateKey;
use serde_json::{Value, json};

use super::*;
use crate::made::{AttesterHeader, SoftwareKeysDraft};
use crate::sample::{ATTESTER, NOW, finished, jwk, key, signed, trusting, with};

const ACCEPTED: [Algorithm; 1] = [Algorithm::Es256];

fn required(storage: &[&str], authentication: &[&str]) -> KeyRequirements {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    KeyRequirements {
        key_storage: texts(storage),
        user_authentication: texts(authentication),
    }
}

fn claims(keys: &[Value]) -> Value {
    json!({"iss": ATTESTER, "iat": NOW.0, "exp": NOW.0 + 600, "attested_keys": keys,
        "key_storage": ["iso_18045_moderate"], "user_authentication": ["iso_18045_moderate"]})
}

fn judged_by(
    attester: &PrivateKey,
    text: &str,
    required: &KeyRequirements,
    needs_end: bool,
) -> Result<AttestedKeys, AttestationFault> {
    let rules = KeyRules {
        trusted: &trusting(attester),
        algorithms: &ACCEPTED,
        required,
        needs_end,
        now: NOW,
    };
    judge(text, &rules)
}

fn judged(claims: &Value, required: &KeyRequirements) -> Result<AttestedKeys, AttestationFault> {
    let attester = key();
    let header = json!({"typ": TYP, "alg": "ES256", "kid": "11"});
    let text = signed(&attester, &header, claims);
    judged_by(&attester, &text, required, true)
}

#[test]
fn keys_of_a_program_are_attested_without_a_claim_to_protection() {
    let (attester, keys) = (key(), [key(), key()]);
    let jwks = keys.each_ref().map(|key| key.public().to_jwk());
    let draft = SoftwareKeysDraft {
        attester: ATTESTER,
        keys: &jwks.each_ref(),
        lifetime: 600,
        nonce: Some("n"),
    };
    let header = AttesterHeader {
        algorithm: attester.algorithm(),
        kid: Some("11"),
        x5c: &[],
    };
    let text = finished(&attester, draft.draft(&header, NOW));
    let any = KeyRequirements::default();
    let attested = judged_by(&attester, &text, &any, true).unwrap();
    assert_eq!(
        attested.keys,
        keys.each_ref().map(|key| key.public().clone())
    );
    assert_eq!(attested.nonce.as_deref(), Some("n"));
    let read = Jwt::parse(&text).unwrap();
    for absent in ["key_storage", "user_authentication", "certification"] {
        assert!(!read.claims().contains_key(absent), "{absent}");
    }
    let demanding = required(&["iso_18045_basic"], &[]);
    let refused = judged_by(&attester, &text, &demanding, true);
    assert_eq!(refused, Err(AttestationFault::Protection));
    assert_eq!(count(&text), 2);
}

#[test]
fn one_of_the_stated_values_is_one_that_the_issuer_accepts() {
    let claims = claims(&[jwk(&key())]);
    for accepted in [
        required(&[], &[]),
        required(&["iso_18045_high", "iso_18045_moderate"], &[]),
        required(&[], &["iso_18045_moderate"]),
    ] {
        assert!(judged(&claims, &accepted).is_ok(), "{accepted:?}");
    }
    for other in [
        required(&["iso_18045_high"], &[]),
        required(&["iso_18045_moderate"], &["iso_18045_high"]),
    ] {
        let refused = judged(&claims, &other);
        assert_eq!(refused, Err(AttestationFault::Protection), "{other:?}");
    }
    assert!(KeyRequirements::default().are_met_by_any());
    assert!(!required(&["iso_18045_high"], &[]).are_met_by_any());
}

#[test]
fn an_attestation_lacks_no_claim_and_each_key_is_public_and_named_once() {
    let own = key();
    let private = with(jwk(&own), "d", json!("AAAA"));
    let any = KeyRequirements::default();
    let many: Vec<Value> = (0..=MAX_KEYS).map(|_| jwk(&own)).collect();
    for (name, value, fault) in [
        ("iat", Value::Null, AttestationFault::Claim),
        ("iat", json!(NOW.0 + 61), AttestationFault::Early),
        ("nbf", json!(NOW.0 + 61), AttestationFault::Early),
        ("exp", Value::Null, AttestationFault::Claim),
        ("exp", json!(NOW.0 - 60), AttestationFault::Stale),
        ("attested_keys", Value::Null, AttestationFault::Claim),
        ("attested_keys", json!([]), AttestationFault::Claim),
        ("attested_keys", json!(many), AttestationFault::Claim),
        (
            "attested_keys",
            json!([jwk(&own), jwk(&own)]),
            AttestationFault::Key,
        ),
        ("attested_keys", json!([private]), AttestationFault::Key),
        (
            "attested_keys",
            json!([{"kty": "oct", "k": "AA"}]),
            AttestationFault::Key,
        ),
        ("attested_keys", json!(["key"]), AttestationFault::Key),
        (
            "key_storage",
            json!("iso_18045_high"),
            AttestationFault::Claim,
        ),
        ("key_storage", json!([]), AttestationFault::Claim),
        ("user_authentication", json!([1]), AttestationFault::Claim),
        ("nonce", json!(1), AttestationFault::Claim),
        (
            "iss",
            json!("https://other.example"),
            AttestationFault::Untrusted,
        ),
    ] {
        let claims = with(claims(&[jwk(&own)]), name, value.clone());
        assert_eq!(judged(&claims, &any), Err(fault), "{name} {value}");
    }
    // Appendix D.1: `iss` is no claim of a key attestation, and `exp` may be absent in a proof of its own.
    assert!(judged(&with(claims(&[jwk(&own)]), "iss", Value::Null), &any).is_ok());
    let attester = key();
    let header = json!({"typ": TYP, "alg": "ES256"});
    let endless = with(claims(&[jwk(&own)]), "exp", Value::Null);
    let text = signed(&attester, &header, &endless);
    assert!(judged_by(&attester, &text, &any, false).is_ok());
}

#[test]
fn another_type_algorithm_or_signer_attests_no_key() {
    let (attester, any) = (key(), KeyRequirements::default());
    let claims = claims(&[jwk(&key())]);
    let judged = |by: &PrivateKey, header: Value| {
        judged_by(&attester, &signed(by, &header, &claims), &any, true)
    };
    assert!(judged(&attester, json!({"typ": TYP, "alg": "ES256"})).is_ok());
    for (by, header, fault) in [
        (
            &attester,
            json!({"typ": "keyattestation+jwt", "alg": "ES256"}),
            AttestationFault::Type,
        ),
        (
            &attester,
            json!({"typ": TYP, "alg": "ES384"}),
            AttestationFault::Algorithm,
        ),
        (
            &key(),
            json!({"typ": TYP, "alg": "ES256"}),
            AttestationFault::Untrusted,
        ),
    ] {
        assert_eq!(judged(by, header.clone()), Err(fault), "{header}");
    }
    assert_eq!(
        judged_by(&attester, "a.b", &any, true),
        Err(AttestationFault::Form)
    );
}

#[test]
fn each_proof_is_by_an_attested_key_and_the_other_attested_keys_are_told() {
    let (attester, holders) = (key(), [key(), key(), key()]);
    let attestation = |keys: &[&PrivateKey], nonce: Value| {
        let keys: Vec<Value> = keys.iter().map(|key| jwk(key)).collect();
        let header = json!({"typ": TYP, "alg": "ES256"});
        signed(&attester, &header, &with(claims(&keys), "nonce", nonce))
    };
    let further = |attestation: Value, by: &[&PrivateKey]| {
        let trusted = trusting(&attester);
        let any = KeyRequirements::default();
        let mut attestations = ProofAttestations::new(KeyRules {
            trusted: &trusted,
            algorithms: &ACCEPTED,
            required: &any,
            needs_end: true,
            now: NOW,
        });
        for key in by {
            let header = with(json!({"alg": "ES256"}), HEADER, attestation.clone());
            let proof = signed(key, &header, &json!({"nonce": "n"}));
            attestations.take(&Compact::parse(&proof).unwrap())?;
        }
        let proven: Vec<&PublicKey> = by.iter().map(|key| key.public()).collect();
        attestations.further(&proven)
    };
    let [one, two, three] = &holders;
    let both = json!(attestation(&[one, two], json!("n")));
    assert_eq!(further(both.clone(), &[one, two]), Ok(Vec::new()));
    assert_eq!(
        further(both.clone(), &[one]),
        Ok(vec![two.public().clone()])
    );
    let unattested = further(both, &[one, three]);
    assert_eq!(unattested, Err(AttestationFault::Unattested));
    let foreign = json!(attestation(&[one], json!("other")));
    assert_eq!(further(foreign, &[one]), Err(AttestationFault::Nonce));
    let fresh = json!(attestation(&[one], Value::Null));
    assert_eq!(further(fresh, &[one]), Ok(Vec::new()));
    assert_eq!(further(Value::Null, &[one]), Err(AttestationFault::Absent));
    assert_eq!(further(json!(1), &[one]), Err(AttestationFault::Form));
}

#[test]
fn the_keys_of_proofs_are_counted_once_for_each_attestation() {
    let attestation = |keys: usize| {
        let keys: Vec<Value> = (0..keys).map(|_| jwk(&key())).collect();
        signed(&key(), &json!({"typ": TYP, "alg": "ES256"}), &claims(&keys))
    };
    let proof = |attestation: Option<&str>| {
        let header = json!({"alg": "ES256", HEADER: attestation});
        signed(&key(), &header, &json!({}))
    };
    let plain = signed(&key(), &json!({"alg": "ES256"}), &json!({}));
    let (two, three) = (attestation(2), attestation(3));
    assert_eq!(count_in(&[proof(Some(&two)), proof(Some(&two))]), 2);
    assert_eq!(count_in(&[proof(Some(&two)), proof(Some(&three))]), 5);
    assert_eq!(count_in(&[plain, "a.b.c".to_owned()]), 0);
    assert_eq!(count_in(&[proof(Some("nonsense"))]), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn requirements_read_back_as_they_were_written(
        storage in prop::collection::vec("[a-z_0-9]{1,12}", 0..3),
        authentication in prop::collection::vec("[a-z_0-9]{1,12}", 0..3),
    ) {
        let written = KeyRequirements { key_storage: storage, user_authentication: authentication };
        let value = serde_json::to_value(&written).unwrap();
        prop_assert_eq!(KeyRequirements::read(&value), Some(written));
    }

    #[test]
    fn no_changed_byte_of_a_key_attestation_is_overlooked(
        place in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"ABCdef019-_.~".to_vec()),
    ) {
        let attester = key();
        let header = json!({"typ": TYP, "alg": "ES256", "kid": "11"});
        let mut text = signed(&attester, &header, &claims(&[jwk(&key())])).into_bytes();
        let place = place.index(text.len());
        prop_assume!(text[place] != byte);
        text[place] = byte;
        let text = String::from_utf8(text).unwrap();
        let any = KeyRequirements::default();
        prop_assert!(judged_by(&attester, &text, &any, true).is_err());
    }
}
