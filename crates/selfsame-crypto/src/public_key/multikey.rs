//! Multikeys, as did:key and Data Integrity encode keys: a multicodec prefix and a key, as multibase text.

use crate::algorithm::KeyType;
use crate::encoding::{multibase_base58_encode, multibase_decode};
use crate::error::KeyError;
use crate::{ed25519, ml_dsa, rsa};

use super::{EC_TYPES, PublicKey, curve};

pub(super) fn decode(text: &str) -> Result<PublicKey, KeyError> {
    let bytes = multibase_decode(text).map_err(|_| KeyError::Malformed("multikey"))?;
    from_multicodec(&bytes)
}

pub(super) fn encode(key: &PublicKey) -> String {
    multibase_base58_encode(&to_multicodec(key))
}

pub(super) fn from_multicodec(bytes: &[u8]) -> Result<PublicKey, KeyError> {
    if let Some(key) = bytes.strip_prefix(&ed25519::MULTICODEC) {
        return PublicKey::from_raw(KeyType::Ed25519, key);
    }
    if let Some(key) = bytes.strip_prefix(&rsa::MULTICODEC) {
        return PublicKey::from_raw(KeyType::Rsa, key);
    }
    for key_type in EC_TYPES {
        let point = curve(key_type).and_then(|curve| bytes.strip_prefix(&curve.multicodec));
        if let Some(point) = point {
            // A key has only one multikey, so comparing identifiers compares keys.
            return match point.first() {
                Some(2 | 3) => PublicKey::from_raw(key_type, point),
                _ => Err(KeyError::Malformed("multikey point that is not compressed")),
            };
        }
    }
    for key_type in ml_dsa::TYPES {
        let key = ml_dsa::set(key_type).and_then(|set| bytes.strip_prefix(&set.multicodec));
        if let Some(key) = key {
            return PublicKey::from_raw(key_type, key);
        }
    }
    Err(KeyError::Unsupported)
}

pub(super) fn to_multicodec(key: &PublicKey) -> Vec<u8> {
    if let Some(set) = ml_dsa::set(key.key_type()) {
        return [&set.multicodec, key.bytes()].concat();
    }
    match curve(key.key_type()) {
        Some(curve) => [&curve.multicodec, curve.compress(key.bytes()).as_slice()].concat(),
        None if key.key_type() == KeyType::Rsa => [&rsa::MULTICODEC, key.bytes()].concat(),
        None => [&ed25519::MULTICODEC, key.bytes()].concat(),
    }
}
