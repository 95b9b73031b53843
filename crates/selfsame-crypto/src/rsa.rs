//! RSA of 2048 to 8192 bits; new keys have 2048. A public key is kept as PKCS#1 `RSAPublicKey` (RFC 8017 A.1.1).

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{
    self, KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384,
    RSA_PSS_2048_8192_SHA512, RsaEncoding, RsaParameters, UnparsedPublicKey,
};

use crate::algorithm::Algorithm;
use crate::der;
use crate::error::{KeyError, SignatureError};
use crate::secret::Secret;

/// The multicodec `rsa-pub` as a varint.
pub(crate) const MULTICODEC: [u8; 2] = [0x85, 0x24];
/// The AlgorithmIdentifier `rsaEncryption` with NULL parameters (RFC 3279 §2.3.1).
const ALGORITHM: [u8; 15] = [
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];
const BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// Reads PKCS#1. Checks the modulus, the exponent and the size.
pub(crate) fn parse(pkcs1: &[u8]) -> Result<ParsedPublicKey, KeyError> {
    let (modulus, exponent) = components(pkcs1).ok_or(KeyError::Malformed("RSA public key"))?;
    let leading = modulus.first().map_or(0, |byte| byte.leading_zeros());
    let bits = modulus
        .len()
        .saturating_mul(8)
        .saturating_sub(usize::try_from(leading).unwrap_or(0));
    if !BITS.contains(&bits) {
        return Err(KeyError::Weak(
            "RSA modulus of fewer than 2048 or more than 8192 bits",
        ));
    }
    let odd = |number: &[u8]| number.last().is_some_and(|byte| byte & 1 == 1);
    // aws-lc accepts exponents of at most 33 bits. With the exponent 1 a signature proves nothing.
    if !odd(modulus) || !odd(exponent) || exponent == [1] || exponent.len() > 4 {
        return Err(KeyError::Weak("RSA modulus or exponent"));
    }
    ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pkcs1)
        .map_err(|_| KeyError::Malformed("RSA public key"))
}

/// A new key of 2048 bits.
pub(crate) fn generate() -> Result<KeyPair, KeyError> {
    KeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyError::Backend)
}

/// Reads PKCS#8.
pub(crate) fn from_pkcs8(pkcs8: &[u8]) -> Result<KeyPair, KeyError> {
    KeyPair::from_pkcs8(pkcs8).map_err(|_| KeyError::Malformed("PKCS#8 private key"))
}

pub(crate) fn to_pkcs8(pair: &KeyPair) -> Result<Secret, KeyError> {
    let der: Pkcs8V1Der<'_> = pair.as_der().map_err(|_| KeyError::Backend)?;
    Ok(Secret::new(der.as_ref().to_vec()))
}

/// The public key as PKCS#1.
pub(crate) fn public_bytes(pair: &KeyPair) -> &[u8] {
    pair.public_key().as_ref()
}

pub(crate) fn sign(
    pair: &KeyPair,
    algorithm: Algorithm,
    message: &[u8],
) -> Result<Vec<u8>, KeyError> {
    let encoding: &'static dyn RsaEncoding = match algorithm {
        Algorithm::Rs256 => &signature::RSA_PKCS1_SHA256,
        Algorithm::Rs384 => &signature::RSA_PKCS1_SHA384,
        Algorithm::Rs512 => &signature::RSA_PKCS1_SHA512,
        Algorithm::Ps256 => &signature::RSA_PSS_SHA256,
        Algorithm::Ps384 => &signature::RSA_PSS_SHA384,
        Algorithm::Ps512 => &signature::RSA_PSS_SHA512,
        _ => return Err(KeyError::Unsupported),
    };
    let mut signed = vec![0; pair.public_modulus_len()];
    pair.sign(encoding, &SystemRandom::new(), message, &mut signed)
        .map_err(|_| KeyError::Backend)?;
    Ok(signed)
}

/// Modulus and exponent without leading zeros.
pub(crate) fn components(pkcs1: &[u8]) -> Option<(&[u8], &[u8])> {
    let (modulus, rest) = der::take(der::only(pkcs1, der::SEQUENCE)?, der::INTEGER)?;
    Some((
        der::positive(modulus)?,
        der::positive(der::only(rest, der::INTEGER)?)?,
    ))
}

/// PKCS#1 from modulus and exponent without leading zeros.
pub(crate) fn from_components(modulus: &[u8], exponent: &[u8]) -> Option<Vec<u8>> {
    der::element(
        der::SEQUENCE,
        &[&der::integer(modulus)?, &der::integer(exponent)?],
    )
}

/// Extracts the PKCS#1 key from a SubjectPublicKeyInfo.
pub(crate) fn from_spki(spki: &[u8]) -> Option<&[u8]> {
    let rest = der::only(spki, der::SEQUENCE)?.strip_prefix(&ALGORITHM)?;
    der::only(rest, der::BIT_STRING)?.strip_prefix(&[0])
}

/// Wraps a PKCS#1 key in a SubjectPublicKeyInfo.
pub(crate) fn to_spki(pkcs1: &[u8]) -> Option<Vec<u8>> {
    der::element(
        der::SEQUENCE,
        &[&ALGORITHM, &der::element(der::BIT_STRING, &[&[0], pkcs1])?],
    )
}

pub(crate) fn verify(
    pkcs1: &[u8],
    algorithm: Algorithm,
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError> {
    let parameters = parameters(algorithm).ok_or(SignatureError::WrongAlgorithm)?;
    UnparsedPublicKey::new(parameters, pkcs1)
        .verify(message, signature)
        .map_err(|_| SignatureError::Invalid)
}

fn parameters(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::Rs256 => Some(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::Rs384 => Some(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::Rs512 => Some(&RSA_PKCS1_2048_8192_SHA512),
        Algorithm::Ps256 => Some(&RSA_PSS_2048_8192_SHA256),
        Algorithm::Ps384 => Some(&RSA_PSS_2048_8192_SHA384),
        Algorithm::Ps512 => Some(&RSA_PSS_2048_8192_SHA512),
        Algorithm::EdDsa
        | Algorithm::Es256
        | Algorithm::Es256k
        | Algorithm::Es384
        | Algorithm::MlDsa44
        | Algorithm::MlDsa65 => None,
    }
}
