//! Keys in the engine's JSON.

use selfsame_crypto::encoding::{base64_decode, base64_encode, hex_encode};
use selfsame_crypto::{KeyType, PrivateKey, PublicKey, SecretString};
use selfsame_driver::{Error, Result};
use serde_json::{Value, json};

use crate::notes::address_of;

/// The bytes before the seed of an Ed25519 key in PKCS#8 without attributes (RFC 8410 §7).
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// A public key.
pub(super) fn public_key(key: &PublicKey) -> Value {
    json!({ "type": "tendermint/PubKeyEd25519", "value": base64_encode(key.bytes()) })
}

/// A private key as text: the seed, then the public key.
pub(super) fn private_key(key: &PrivateKey) -> Result<SecretString> {
    let pkcs8 = key.to_pkcs8().map_err(Error::internal)?;
    let seed = pkcs8.expose().strip_prefix(&PKCS8_PREFIX);
    let seed = seed
        .filter(|seed| seed.len() == 32)
        .ok_or_else(|| Error::internal("a key is not in the form that the engine's file needs"))?;
    let both = selfsame_crypto::Secret::new([seed, key.public().bytes()].concat());
    let value = SecretString::new(base64_encode(both.expose()));
    Ok(SecretString::new(format!(
        r#"{{"type":"tendermint/PrivKeyEd25519","value":"{}"}}"#,
        value.expose()
    )))
}

/// The public key in a validator's key file.
pub(super) fn validator_of(file: &[u8]) -> Result<PublicKey> {
    let wrong = || Error::bad_request("validator-key-absent");
    let file: Value = serde_json::from_slice(file).map_err(|_| wrong())?;
    let key = file.pointer("/pub_key/value").and_then(Value::as_str);
    let bytes = base64_decode(key.ok_or_else(wrong)?).map_err(|_| wrong())?;
    PublicKey::from_raw(KeyType::Ed25519, &bytes).map_err(|_| wrong())
}

/// The contents of a validator's key file.
pub(super) fn validator_file(key: &PrivateKey) -> Result<SecretString> {
    let address = hex_encode(&address_of(key.public())).to_uppercase();
    Ok(SecretString::new(format!(
        r#"{{"address":"{address}","pub_key":{},"priv_key":{}}}"#,
        public_key(key.public()),
        private_key(key)?.expose()
    )))
}
