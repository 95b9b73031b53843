//! NIST P-256: verification and key pairs. aws-lc draws the nonce of each signature.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
};

use crate::ec::Curve;
use crate::error::KeyError;

mod root;

pub(crate) static CURVE: Curve = Curve {
    jwk: "P-256",
    size: 32,
    ecdsa: &ECDSA_P256_SHA256_FIXED,
    multicodec: [0x80, 0x24],
    spki_prefix: &[
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ],
    root: Some(root::candidate),
};

pub(crate) fn from_pkcs8(pkcs8: &[u8]) -> Result<EcdsaKeyPair, KeyError> {
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8)
        .map_err(|_| KeyError::Malformed("P-256 private key"))
}

pub(crate) fn generate() -> Result<EcdsaKeyPair, KeyError> {
    EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map_err(|_| KeyError::Backend)
}

pub(crate) fn public_bytes(pair: &EcdsaKeyPair) -> &[u8] {
    pair.public_key().as_ref()
}

/// Signs; the signature is r ‖ s (RFC 7518 §3.4).
pub(crate) fn sign(pair: &EcdsaKeyPair, message: &[u8]) -> Result<Vec<u8>, KeyError> {
    let signature = pair
        .sign(&SystemRandom::new(), message)
        .map_err(|_| KeyError::Backend)?;
    Ok(signature.as_ref().to_vec())
}
