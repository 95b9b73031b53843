//! An attester, an instance of a wallet, and a server, for tests.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_oauth::jwt::VerificationKeys;
use serde_json::{Value, json};

use crate::challenge::Challenges;
use crate::trust::{KnownAttester, TrustedAttesters};

pub const NOW: UnixTime = UnixTime(1_800_000_000);
pub const ATTESTER: &str = "https://attester.example";
pub const CLIENT: &str = "https://wallet.example";
pub const SERVER: &str = "https://as.example";

/// A token by this key.
pub fn signed(key: &PrivateKey, header: &Value, claims: &Value) -> String {
    finished(key, Unsigned::new(header, claims))
}

pub fn finished(key: &PrivateKey, draft: Unsigned) -> String {
    let signature = key.sign(draft.signing_input()).unwrap();
    draft.finish(&signature)
}

pub fn key() -> PrivateKey {
    PrivateKey::generate(KeyType::P256).unwrap()
}

pub fn jwk(key: &PrivateKey) -> Value {
    key.public().to_jwk().to_value()
}

/// The trust in an attester with this key.
pub fn trusting(key: &PrivateKey) -> TrustedAttesters {
    let keys = VerificationKeys::of(vec![key.public().to_jwk().with_kid("11")]);
    let known = KnownAttester {
        issuer: ATTESTER.to_owned(),
        keys,
    };
    TrustedAttesters::new(vec![known], Vec::new())
}

pub fn challenges() -> Challenges {
    Challenges {
        key: SealingKey::from_bytes([7; 32]),
        lifetime: 300,
    }
}

pub fn challenge() -> String {
    challenges().make(SERVER, &Ctx::new(NOW, [1; 32]))
}

/// An object with a member changed; `null` takes it away.
pub fn with(mut object: Value, name: &str, value: Value) -> Value {
    if value.is_null() {
        object.as_object_mut().unwrap().remove(name);
    } else {
        object[name] = value;
    }
    object
}

/// An authority of attesters.
pub struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    pub der: Vec<u8>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = rcgen::CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let key = rcgen::KeyPair::generate().unwrap();
        let der = params.self_signed(&key).unwrap().der().to_vec();
        let issuer = rcgen::Issuer::new(params, key);
        Self { issuer, der }
    }

    /// A new key, and a certificate for it that ends in this year.
    pub fn certify(&self, last_year: i32) -> (PrivateKey, Vec<u8>) {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params =
            rcgen::CertificateParams::new(vec!["attester.example".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(last_year, 1, 1);
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        let signing = PrivateKey::from_pkcs8(&key.serialize_der()).unwrap();
        (signing, leaf.der().to_vec())
    }
}

/// `x5c` with these certificates.
pub fn x5c(chain: &[&[u8]]) -> Value {
    let encode = |der: &&[u8]| selfsame_crypto::encoding::base64_encode(der);
    json!(chain.iter().map(encode).collect::<Vec<_>>())
}
