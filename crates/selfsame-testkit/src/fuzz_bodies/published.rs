//! What issuers publish signed.

use std::sync::OnceLock;

use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_openid4vc::wire::signed_metadata::{SignedMetadata, TYP};
use serde_json::{Value, json};

const NOW: UnixTime = UnixTime(1_800_000_000);
const ISSUER: &str = "https://issuer.example";

/// The claims of signed metadata.
pub fn signed_metadata(data: &[u8]) -> bool {
    let draft = Unsigned::with_payload_bytes(&json!({"typ": TYP, "alg": "EdDSA"}), data);
    let signature = key().sign(draft.signing_input()).unwrap_or_default();
    let token = draft.finish(&signature);
    let Ok(read) = SignedMetadata::read(token.as_bytes(), ISSUER, NOW) else {
        return false;
    };
    assert!(read.is_by(key().public()));
    let other = format!("{ISSUER}/");
    assert!(SignedMetadata::read(token.as_bytes(), &other, NOW).is_err());
    let document: Value = serde_json::from_slice(&read.into_document()).expect("it was read");
    assert_eq!(document["sub"], ISSUER);
    assert!(document["iat"].as_u64().is_some_and(|at| at <= NOW.0 + 60));
    true
}

fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| PrivateKey::generate(KeyType::Ed25519).expect("the system has randomness"))
}

pub(super) fn signed_metadata_seeds() -> Vec<Vec<u8>> {
    let small = json!({"sub": ISSUER, "iat": NOW.0});
    let full = json!({"iss": "did:web:issuer.example", "sub": ISSUER, "iat": NOW.0,
        "exp": NOW.0 + 86_400, "credential_issuer": ISSUER,
        "credential_endpoint": "https://issuer.example/credential",
        "credential_configurations_supported": {}});
    [small, full]
        .map(|claims| claims.to_string().into_bytes())
        .into()
}
