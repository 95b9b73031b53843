//! ML-DSA (FIPS 204) by aws-lc: public keys of the parameter sets 44 and 65, and their encodings.

use aws_lc_rs::signature::{ML_DSA_44, ML_DSA_65, ParsedPublicKey};

use crate::algorithm::{Algorithm, KeyType};
use crate::error::KeyError;

/// A parameter set and the encodings of its keys.
pub(crate) struct Set {
    /// The multicodec as a varint: `mldsa-44-pub` (0x1210), `mldsa-65-pub` (0x1211).
    pub multicodec: [u8; 2],
    /// SubjectPublicKeyInfo up to the key (RFC 9881 §4).
    pub spki_prefix: [u8; 22],
    /// The length of a public key in bytes.
    pub length: usize,
    parse: fn(&[u8]) -> Option<ParsedPublicKey>,
}

/// The key types of ML-DSA.
pub(crate) const TYPES: [KeyType; 2] = [KeyType::MlDsa44, KeyType::MlDsa65];

/// The parameter set of this key type; `None` if it is not ML-DSA.
pub(crate) fn set(key_type: KeyType) -> Option<&'static Set> {
    match key_type {
        KeyType::MlDsa44 => Some(&SET_44),
        KeyType::MlDsa65 => Some(&SET_65),
        _ => None,
    }
}

/// The key type that `alg` of a JWK names (RFC 9964 §3).
pub(crate) fn named(alg: &str) -> Option<KeyType> {
    let key_type = alg.parse::<Algorithm>().ok()?.key_type();
    TYPES.contains(&key_type).then_some(key_type)
}

static SET_44: Set = Set {
    multicodec: [0x90, 0x24],
    spki_prefix: [
        0x30, 0x82, 0x05, 0x32, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04,
        0x03, 0x11, 0x03, 0x82, 0x05, 0x21, 0x00,
    ],
    length: 1312,
    parse: |bytes| ParsedPublicKey::new(&ML_DSA_44, bytes).ok(),
};

static SET_65: Set = Set {
    multicodec: [0x91, 0x24],
    spki_prefix: [
        0x30, 0x82, 0x07, 0xb2, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04,
        0x03, 0x12, 0x03, 0x82, 0x07, 0xa1, 0x00,
    ],
    length: 1952,
    parse: |bytes| ParsedPublicKey::new(&ML_DSA_65, bytes).ok(),
};

impl Set {
    /// Reads the bare key, as FIPS 204 encodes it.
    pub fn parse(&self, bytes: &[u8]) -> Result<ParsedPublicKey, KeyError> {
        let wrong = KeyError::Malformed("ML-DSA key");
        if bytes.len() != self.length {
            return Err(wrong);
        }
        (self.parse)(bytes).ok_or(wrong)
    }
}
