//! What wallets send to show who attests them and their keys.

use std::sync::OnceLock;

use selfsame_attestation::challenge::Challenges;
use selfsame_attestation::client::{self, ClientRules};
use selfsame_attestation::headers::AttestationHeaders;
use selfsame_attestation::key::{self, KeyRequirements, KeyRules};
use selfsame_attestation::trust::{KnownAttester, TrustedAttesters};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey};
use selfsame_oauth::jwt::VerificationKeys;
use serde_json::{Value, json};

use super::parts;

const NOW: UnixTime = UnixTime(1_800_000_000);
const ATTESTER: &str = "https://attester.example";
const SERVER: &str = "https://as.example";

/// The claims of a client's attestation and of the proof of possession beside it, signed by attester and instance.
pub fn client_attestation(data: &[u8]) -> bool {
    let mut parts = parts(data);
    let (Some(attestation), Some(pop)) = (parts.next(), parts.next()) else {
        return false;
    };
    let (attester, instance) = keys();
    let attestation = signed(attester, client::TYP, attestation);
    let pop = signed(instance, client::POP_TYP, pop);
    let headers = AttestationHeaders {
        attestation: &attestation,
        pop: &pop,
    };
    let rules = ClientRules {
        trusted: &trusted(),
        server: SERVER,
        challenges: &challenges(),
        now: NOW,
    };
    let Ok(client) = client::judge(&headers, &rules) else {
        return false;
    };
    assert_eq!(client.attester, ATTESTER);
    assert!(!client.client_id.is_empty());
    assert_eq!(client.instance.len(), 43);
    assert!(client.spent.expires > NOW);
    true
}

/// The claims of a key attestation, signed by its attester.
pub fn key_attestation(data: &[u8]) -> bool {
    let text = signed(&keys().0, key::TYP, data);
    let rules = KeyRules {
        trusted: &trusted(),
        algorithms: &[Algorithm::EdDsa],
        required: &KeyRequirements::default(),
        needs_end: true,
        now: NOW,
    };
    let Ok(attested) = key::judge(&text, &rules) else {
        return false;
    };
    assert!((1..=key::MAX_KEYS).contains(&attested.keys.len()));
    assert_eq!(key::count(&text), attested.keys.len());
    for (place, key) in attested.keys.iter().enumerate() {
        assert!(
            !attested
                .keys
                .iter()
                .skip(place + 1)
                .any(|other| other == key)
        );
    }
    let demanding = KeyRequirements {
        key_storage: vec!["a value that nobody states".to_owned()],
        ..KeyRequirements::default()
    };
    let demanding = KeyRules {
        required: &demanding,
        ..rules
    };
    assert!(key::judge(&text, &demanding).is_err());
    true
}

/// The key of the attester, and that of the instance.
fn keys() -> &'static (PrivateKey, PrivateKey) {
    static KEYS: OnceLock<(PrivateKey, PrivateKey)> = OnceLock::new();
    KEYS.get_or_init(|| {
        let key = || PrivateKey::generate(KeyType::Ed25519).expect("the system has randomness");
        (key(), key())
    })
}

fn trusted() -> TrustedAttesters {
    let known = KnownAttester {
        issuer: ATTESTER.to_owned(),
        keys: VerificationKeys::of(vec![keys().0.public().to_jwk()]),
    };
    TrustedAttesters::new(vec![known], Vec::new())
}

fn challenges() -> Challenges {
    Challenges {
        key: SealingKey::from_bytes([3; 32]),
        lifetime: 300,
    }
}

fn signed(key: &PrivateKey, typ: &str, claims: &[u8]) -> String {
    let draft = Unsigned::with_payload_bytes(&json!({"typ": typ, "alg": "EdDSA"}), claims);
    let signature = key.sign(draft.signing_input());
    draft.finish(&signature.unwrap_or_default())
}

fn jwk(key: &PrivateKey) -> Value {
    key.public().to_jwk().to_value()
}

pub(super) fn client_attestation_seeds() -> Vec<Vec<u8>> {
    let challenge = challenges().make(SERVER, &Ctx::new(NOW, [4; 32]));
    let attestation = json!({"iss": ATTESTER, "sub": "wallet", "exp": NOW.0 + 600,
        "cnf": {"jwk": jwk(&keys().1)}});
    let full = json!({"iss": ATTESTER, "sub": "wallet", "iat": NOW.0, "nbf": NOW.0,
        "exp": NOW.0 + 600, "wallet_name": "A wallet", "cnf": {"jwk": jwk(&keys().1)}});
    let pop = json!({"iss": "wallet", "aud": SERVER, "jti": "a", "iat": NOW.0,
        "challenge": challenge});
    let several = json!({"iss": "wallet", "aud": [SERVER, "b"], "jti": "c", "iat": NOW.0 - 200,
        "exp": NOW.0 + 9, "challenge": challenge});
    [(attestation, pop), (full, several)]
        .map(|(attestation, pop)| format!("{attestation}\0{pop}").into_bytes())
        .into()
}

pub(super) fn key_attestation_seeds() -> Vec<Vec<u8>> {
    let (one, two) = keys();
    let small = json!({"iat": NOW.0, "exp": NOW.0 + 600, "attested_keys": [jwk(one)]});
    let full = json!({"iss": ATTESTER, "iat": NOW.0, "nbf": NOW.0, "exp": NOW.0 + 600,
        "attested_keys": [jwk(one), jwk(two)], "key_storage": ["iso_18045_moderate"],
        "user_authentication": ["iso_18045_basic"], "nonce": "n", "certification": "x"});
    [small, full]
        .map(|claims| claims.to_string().into_bytes())
        .into()
}
