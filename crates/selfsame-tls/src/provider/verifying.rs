//! Verification of signatures: which schemes are supported, and their algorithms.

use rustls_pki_types::SignatureVerificationAlgorithm;
use webpki::aws_lc_rs as algorithms;

use crate::named::Scheme;

type Algorithm = &'static dyn SignatureVerificationAlgorithm;

/// The TLS 1.3 schemes for signing and verifying, the preferred first. No SHA-1, no PKCS #1 v1.5 (RFC 8446 §4.2.3).
pub(crate) const SCHEMES: &[Scheme] = &[
    Scheme::ED25519,
    Scheme::ECDSA_P256_SHA256,
    Scheme::ECDSA_P384_SHA384,
    Scheme::RSA_PSS_SHA256,
    Scheme::RSA_PSS_SHA384,
    Scheme::RSA_PSS_SHA512,
    Scheme::ML_DSA_44,
    Scheme::ML_DSA_65,
];

/// The signature schemes verified in certificates, the preferred first: those of the handshake, and PKCS #1 v1.5, with
/// which nearly all authorities with RSA keys sign (RFC 8446 §4.2.3).
pub(crate) const CERTIFICATE_SCHEMES: &[Scheme] = &[
    Scheme::ED25519,
    Scheme::ECDSA_P256_SHA256,
    Scheme::ECDSA_P384_SHA384,
    Scheme::RSA_PSS_SHA256,
    Scheme::RSA_PSS_SHA384,
    Scheme::RSA_PSS_SHA512,
    Scheme::RSA_PKCS1_SHA256,
    Scheme::RSA_PKCS1_SHA384,
    Scheme::RSA_PKCS1_SHA512,
    Scheme::ML_DSA_44,
    Scheme::ML_DSA_65,
];

/// The algorithm that verifies a handshake signature of this scheme.
pub(crate) fn algorithm(scheme: Scheme) -> Option<Algorithm> {
    match scheme {
        Scheme::ED25519 => Some(algorithms::ED25519),
        Scheme::ECDSA_P256_SHA256 => Some(algorithms::ECDSA_P256_SHA256),
        Scheme::ECDSA_P384_SHA384 => Some(algorithms::ECDSA_P384_SHA384),
        Scheme::RSA_PSS_SHA256 => Some(algorithms::RSA_PSS_2048_8192_SHA256_LEGACY_KEY),
        Scheme::RSA_PSS_SHA384 => Some(algorithms::RSA_PSS_2048_8192_SHA384_LEGACY_KEY),
        Scheme::RSA_PSS_SHA512 => Some(algorithms::RSA_PSS_2048_8192_SHA512_LEGACY_KEY),
        Scheme::ML_DSA_44 => Some(algorithms::ML_DSA_44),
        Scheme::ML_DSA_65 => Some(algorithms::ML_DSA_65),
        _ => None,
    }
}

/// The algorithms that verify signatures in certificates; PKCS #1 v1.5 is still common there.
pub(crate) fn certificate_algorithms() -> &'static [Algorithm] {
    webpki::ALL_VERIFICATION_ALGS
}
