//! The digest algorithms of `_sd_alg` (RFC 9901 §4.1.1).

use selfsame_crypto::{encoding::base64url_encode, hash};
use serde_json::Value;

use crate::SdJwtError;

/// A digest algorithm, by its name in the IANA registry of named information hashes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum DigestAlgorithm {
    /// `sha-256`, the default.
    #[default]
    Sha256,
    /// `sha-384`.
    Sha384,
    /// `sha-512`.
    Sha512,
}

impl DigestAlgorithm {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sha256 => "sha-256",
            Self::Sha384 => "sha-384",
            Self::Sha512 => "sha-512",
        }
    }

    /// The base64url digest of `bytes`.
    pub fn digest(self, bytes: &[u8]) -> String {
        match self {
            Self::Sha256 => base64url_encode(&hash::sha256(bytes)),
            Self::Sha384 => base64url_encode(&hash::sha384(bytes)),
            Self::Sha512 => base64url_encode(&hash::sha512(bytes)),
        }
    }

    /// Parses `_sd_alg` of an issuer's payload.
    pub(crate) fn of_payload(payload: &Value) -> Result<Self, SdJwtError> {
        match payload.get("_sd_alg") {
            None => Ok(Self::default()),
            Some(name) => [Self::Sha256, Self::Sha384, Self::Sha512]
                .into_iter()
                .find(|algorithm| name.as_str() == Some(algorithm.as_str()))
                .ok_or(SdJwtError::DigestAlgorithm),
        }
    }
}
