use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::{Algorithm, KeyType, PublicKey};
use serde_json::json;

use super::*;

/// RFC 8037 §A.1 and §A.3.
const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const D: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
const THUMBPRINT: &str = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
/// RFC 7517 §A.2.
const EC_X: &str = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4";
const EC_Y: &str = "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM";
const EC_D: &str = "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE";

fn entry(jwk: &serde_json::Value, thumbprint: &str) -> KeyEntry {
    KeyEntry {
        algorithm: None,
        thumbprints: vec![thumbprint.to_owned()],
        metadata: None,
        reference: None,
        secret: Some(Secret::new(jwk.to_string().into_bytes())),
        tags: Vec::new(),
    }
}

fn ec_thumbprint() -> String {
    let mut point = base64url_decode(EC_X).unwrap();
    point.insert(0, 4);
    point.extend(base64url_decode(EC_Y).unwrap());
    let key = PublicKey::from_raw(KeyType::P256, &point).unwrap();
    base64url_encode(&key.thumbprint())
}

#[test]
fn keys_of_ed25519_and_p256_sign_as_themselves() {
    let ed25519 = json!({"kty": "OKP", "crv": "Ed25519", "x": X, "d": D});
    let key = usable(&entry(&ed25519, THUMBPRINT)).unwrap();
    let signature = key.sign(b"said").unwrap();
    let verified = key.public().verify(Algorithm::EdDsa, b"said", &signature);
    assert!(verified.is_ok());
    let p256 = json!({"kty": "EC", "crv": "P-256", "x": EC_X, "y": EC_Y, "d": EC_D});
    let key = usable(&entry(&p256, &ec_thumbprint())).unwrap();
    let signature = key.sign(b"said").unwrap();
    let verified = key.public().verify(Algorithm::Es256, b"said", &signature);
    assert!(verified.is_ok());
}

#[test]
fn a_key_that_is_not_what_the_entry_says_is_not_used() {
    let ed25519 = json!({"kty": "OKP", "crv": "Ed25519", "x": X, "d": D});
    assert!(usable(&entry(&ed25519, "another")).is_none());
    let elsewhere = KeyEntry {
        reference: Some("hardware".to_owned()),
        ..entry(&ed25519, THUMBPRINT)
    };
    assert!(usable(&elsewhere).is_none());
    let wrong_half = json!({"kty": "EC", "crv": "P-256", "x": EC_X, "y": EC_Y, "d": D});
    assert!(usable(&entry(&wrong_half, &ec_thumbprint())).is_none());
    for jwk in [
        json!({"kty": "OKP", "crv": "X25519", "x": X, "d": D}),
        json!({"kty": "EC", "crv": "secp256k1", "x": EC_X, "y": EC_Y, "d": EC_D}),
        json!({"kty": "oct", "alg": "C20P", "k": D}),
        json!({"kty": "OKP", "crv": "Ed25519", "x": X, "d": "AA"}),
    ] {
        assert!(usable(&entry(&jwk, THUMBPRINT)).is_none(), "{jwk}");
    }
}
