//! Signature algorithms by their JOSE names, and the kinds of key they need.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A JOSE signature algorithm. `none` and the shared-secret algorithms cannot be expressed, so they cannot be confused
/// with the others.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Algorithm {
    /// Ed25519 (RFC 8037 §3.1). The fully specified name `Ed25519` (RFC 9864) is accepted as well.
    EdDsa,
    /// ECDSA over P-256 with SHA-256 (RFC 7518 §3.4).
    Es256,
    /// ECDSA over secp256k1 with SHA-256 (RFC 8812 §3.2).
    Es256k,
    /// ECDSA over P-384 with SHA-384 (RFC 7518 §3.4).
    Es384,
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384 (RFC 7518 §3.3).
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512 (RFC 7518 §3.3).
    Rs512,
    /// RSASSA-PSS with SHA-256 (RFC 7518 §3.5).
    Ps256,
    /// RSASSA-PSS with SHA-384 (RFC 7518 §3.5).
    Ps384,
    /// RSASSA-PSS with SHA-512 (RFC 7518 §3.5).
    Ps512,
    /// ML-DSA-44 (RFC 9964 §3).
    MlDsa44,
    /// ML-DSA-65 (RFC 9964 §3).
    MlDsa65,
}

/// The fully specified name of the algorithm that is called `EdDSA` here (RFC 9864 §2.2).
const ED25519: &str = "Ed25519";

impl Algorithm {
    /// Every algorithm that can be verified.
    pub const ALL: [Self; 12] = [
        Self::EdDsa,
        Self::Es256,
        Self::Es256k,
        Self::Es384,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::MlDsa44,
        Self::MlDsa65,
    ];

    /// The name in the JOSE registry.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Es256 => "ES256",
            Self::Es256k => "ES256K",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
        }
    }

    /// The names of the algorithm, the fully specified one first (RFC 9864 §2.2). Both are listed to wallets, as some
    /// know only one of them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let fully_specified = (self == Self::EdDsa).then_some(ED25519);
        fully_specified.into_iter().chain([self.as_str()])
    }

    /// Its numbers in the IANA registry of COSE algorithms, the fully specified one first (RFC 9864 §2, RFC 8230 §5, RFC
    /// 9964 §3); none for those that have no place in COSE here.
    pub const fn cose_numbers(self) -> &'static [i64] {
        match self {
            Self::EdDsa => &[-19, -8],
            Self::Es256 => &[-9, -7],
            Self::Es384 => &[-51, -35],
            Self::Ps256 => &[-37],
            Self::MlDsa44 => &[-48],
            Self::MlDsa65 => &[-49],
            Self::Es256k | Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps384 | Self::Ps512 => {
                &[]
            }
        }
    }

    /// The algorithm with this number in COSE.
    pub fn from_cose(number: i64) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|algorithm| algorithm.cose_numbers().contains(&number))
    }

    /// The only key type this algorithm may be used with.
    pub const fn key_type(self) -> KeyType {
        match self {
            Self::EdDsa => KeyType::Ed25519,
            Self::Es256 => KeyType::P256,
            Self::Es256k => KeyType::Secp256k1,
            Self::Es384 => KeyType::P384,
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => {
                KeyType::Rsa
            }
            Self::MlDsa44 => KeyType::MlDsa44,
            Self::MlDsa65 => KeyType::MlDsa65,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Algorithm> for &'static str {
    fn from(algorithm: Algorithm) -> Self {
        algorithm.as_str()
    }
}

impl FromStr for Algorithm {
    type Err = UnsupportedAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnsupportedAlgorithm> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.names().any(|known| known == name))
            .ok_or(UnsupportedAlgorithm)
    }
}

impl TryFrom<String> for Algorithm {
    type Error = UnsupportedAlgorithm;

    fn try_from(name: String) -> Result<Self, UnsupportedAlgorithm> {
        name.parse()
    }
}

/// Selfsame does not verify the named algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the signature algorithm is not supported")]
pub struct UnsupportedAlgorithm;

/// A type of public key.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyType {
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// NIST P-256, secp256r1.
    P256,
    /// The Koblitz curve secp256k1.
    Secp256k1,
    /// NIST P-384, secp384r1.
    P384,
    /// RSA of 2048 to 8192 bits.
    Rsa,
    /// ML-DSA-44 (FIPS 204).
    MlDsa44,
    /// ML-DSA-65 (FIPS 204).
    MlDsa65,
}

impl KeyType {
    /// The algorithm to use where none is given.
    pub const fn default_algorithm(self) -> Algorithm {
        match self {
            Self::Ed25519 => Algorithm::EdDsa,
            Self::P256 => Algorithm::Es256,
            Self::Secp256k1 => Algorithm::Es256k,
            Self::P384 => Algorithm::Es384,
            Self::Rsa => Algorithm::Rs256,
            Self::MlDsa44 => Algorithm::MlDsa44,
            Self::MlDsa65 => Algorithm::MlDsa65,
        }
    }

    /// The common name, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ed25519 => "Ed25519",
            Self::P256 => "P-256",
            Self::Secp256k1 => "secp256k1",
            Self::P384 => "P-384",
            Self::Rsa => "RSA",
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
