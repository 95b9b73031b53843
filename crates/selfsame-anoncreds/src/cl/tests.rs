//! The mathematics, tested with samples of the published library and with the library itself.

mod bases;
mod counts;
mod crossing;
mod forging;
mod lengths;
mod malicious;
mod parties;
mod presenting;
mod random;
mod speed;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::*;

fn sample(name: &str) -> Value {
    let path = format!(
        "{}/../../vectors/anoncreds/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_slice(&std::fs::read(&path).expect(&path)).unwrap()
}

fn survives<T: Serialize + DeserializeOwned>(json: &Value) {
    assert!(!json.is_null());
    let read: T = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(&serde_json::to_value(&read).unwrap(), json);
}

#[test]
fn samples_of_the_published_library_are_read_and_written_unchanged() {
    for kind in ["legacy", "qualified"] {
        let of = |name: &str| sample(&format!("{kind}/{name}"));
        survives::<PrimaryPublicKey>(&of("cred_def")["value"]["primary"]);
        survives::<PrimaryPrivateKey>(&of("cred_def_private")["value"]["p_key"]);
        survives::<KeyCorrectnessProof>(&of("key_correctness_proof"));
        survives::<Nonce>(&of("offer")["nonce"]);
        let mut blinded = of("request")["blinded_ms"].clone();
        // A point may be written in more than one way; the revocation part has its own tests.
        blinded["ur"] = Value::Null;
        survives::<BlindedCredentialSecrets>(&blinded);
        survives::<BlindedSecretsCorrectnessProof>(&of("request")["blinded_ms_correctness_proof"]);
        survives::<BlindingFactors>(&of("request_metadata")["link_secret_blinding_data"]);
        let mut signature = of("credential")["signature"].clone();
        signature["r_credential"] = Value::Null;
        survives::<CredentialSignature>(&signature);
        survives::<SignatureCorrectnessProof>(&of("credential")["signature_correctness_proof"]);
    }
    for name in [
        "non_revoked",
        "predicates",
        "revealed",
        "two_credentials",
        "unrevealed_group_self_attested",
    ] {
        let mut proof = sample(&format!("presentations/{name}"))["proof"].clone();
        for part in proof["proofs"].as_array_mut().unwrap() {
            part["non_revoc_proof"] = Value::Null;
        }
        survives::<Proof>(&proof);
    }
}

#[test]
fn the_indy_era_names_of_the_link_secret_are_read_too() {
    let mut key = sample("qualified/cred_def")["value"]["primary"].clone();
    let now: PrimaryPublicKey = serde_json::from_value(key.clone()).unwrap();
    let base = key["r"].as_object_mut().unwrap().remove(LINK_SECRET);
    key["rms"] = base.unwrap();
    let then: PrimaryPublicKey = serde_json::from_value(key.clone()).unwrap();
    assert_eq!(then, now);

    key["r"][LINK_SECRET] = key["rms"].clone();
    assert!(serde_json::from_value::<PrimaryPublicKey>(key).is_err());
}

#[test]
fn repeated_missing_and_unknown_parts_are_refused() {
    let text = sample("presentations/predicates")["proof"].to_string();
    assert!(serde_json::from_str::<Proof>(&text).is_ok());
    for (from, to) in [
        ("\"DELTA\":", "\"delta\":"),
        ("\"DELTA\":", "\"DELTA\":\"1\",\"DELTA\":"),
        ("\"DELTA\":", "\"4\":\"1\",\"DELTA\":"),
        ("\"mj\":", "\"mj\":\"1\",\"mj\":"),
        ("\"mj\":", "\"more\":\"1\",\"mj\":"),
        ("\"GE\"", "\"EQ\""),
        ("\"c_hash\":\"", "\"c_hash\":\"0"),
        ("\"c_hash\":\"", "\"c_hash\":\"-"),
    ] {
        let altered = text.replacen(from, to, 1);
        assert_ne!(altered, text, "{from}");
        assert!(serde_json::from_str::<Proof>(&altered).is_err(), "{to}");
    }
}
