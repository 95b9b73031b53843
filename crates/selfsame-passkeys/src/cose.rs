//! Public keys as authenticators give them: COSE keys (RFC 9052 §7) of the algorithms that are offered.

use selfsame_crypto::{Algorithm, Jwk, JwkParams, KeyType, PublicKey};
use serde::{Deserialize, Serialize};

use crate::cbor::Item;
use crate::error::PasskeyError;
use crate::signature;

/// The labels of a COSE key (RFC 9053 §7, RFC 8230 §4).
const KTY: i64 = 1;
const ALG: i64 = 3;
const CRV_OR_N: i64 = -1;
const X_OR_E: i64 = -2;
const Y: i64 = -3;
/// The key types (IANA, COSE Key Types).
const OKP: i64 = 1;
const EC2: i64 = 2;
const RSA: i64 = 3;
/// The curves (IANA, COSE Elliptic Curves).
const P256: i64 = 1;
const ED25519: i64 = 6;

/// An algorithm of passkeys.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "i64", into = "i64")]
pub enum PasskeyAlgorithm {
    /// EdDSA with Ed25519.
    EdDsa,
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
}

impl PasskeyAlgorithm {
    /// Those that are offered, the preferred one first.
    pub const ALL: [Self; 3] = [Self::EdDsa, Self::Es256, Self::Rs256];

    /// The number in the IANA registry of COSE algorithms.
    #[must_use]
    pub const fn number(self) -> i64 {
        match self {
            Self::EdDsa => -8,
            Self::Es256 => -7,
            Self::Rs256 => -257,
        }
    }

    const fn jose(self) -> Algorithm {
        match self {
            Self::EdDsa => Algorithm::EdDsa,
            Self::Es256 => Algorithm::Es256,
            Self::Rs256 => Algorithm::Rs256,
        }
    }

    /// Whether `key` made this signature over `message`.
    pub(crate) fn verifies(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        let fixed;
        let signature = match self {
            Self::Es256 => match signature::fixed(signature) {
                Some(both) => {
                    fixed = both;
                    &fixed[..]
                }
                None => return false,
            },
            Self::EdDsa | Self::Rs256 => signature,
        };
        key.verify(self.jose(), message, signature).is_ok()
    }
}

impl From<PasskeyAlgorithm> for i64 {
    fn from(algorithm: PasskeyAlgorithm) -> Self {
        algorithm.number()
    }
}

impl TryFrom<i64> for PasskeyAlgorithm {
    type Error = PasskeyError;

    fn try_from(number: i64) -> Result<Self, PasskeyError> {
        let mut all = Self::ALL.into_iter();
        all.find(|algorithm| algorithm.number() == number)
            .ok_or(PasskeyError::Algorithm)
    }
}

/// A public key with its algorithm.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CoseKey {
    pub algorithm: PasskeyAlgorithm,
    pub key: PublicKey,
}

impl CoseKey {
    /// The key of this map. It has `alg`, and no other parameter than those of its type (§6.5.1.1); a curve belongs to
    /// each algorithm, and points are uncompressed (§5.8.5).
    pub fn of(map: &Item<'_>) -> Result<Self, PasskeyError> {
        let number = |label| map.labelled(label)?.number().ok_or(MALFORMED);
        let algorithm = PasskeyAlgorithm::try_from(number(ALG)?)?;
        let bytes = |label| map.labelled(label)?.bytes();
        let curve = |kty, crv| match number(KTY)? == kty && number(CRV_OR_N)? == crv {
            true => Ok(()),
            false => Err(MALFORMED),
        };
        let (members, key) = match algorithm {
            PasskeyAlgorithm::EdDsa => {
                curve(OKP, ED25519)?;
                (4, PublicKey::from_raw(KeyType::Ed25519, bytes(X_OR_E)?))
            }
            PasskeyAlgorithm::Es256 => {
                curve(EC2, P256)?;
                let params = JwkParams::Ec {
                    crv: "P-256".to_owned(),
                    x: bytes(X_OR_E)?.to_vec(),
                    y: bytes(Y)?.to_vec(),
                };
                (5, PublicKey::from_jwk(&Jwk::from(params)))
            }
            PasskeyAlgorithm::Rs256 if number(KTY)? == RSA => {
                let params = JwkParams::Rsa {
                    n: bytes(CRV_OR_N)?.to_vec(),
                    e: bytes(X_OR_E)?.to_vec(),
                };
                (4, PublicKey::from_jwk(&Jwk::from(params)))
            }
            PasskeyAlgorithm::Rs256 => return Err(MALFORMED),
        };
        let key = key.map_err(|_| MALFORMED)?;
        match map.entries()?.len() == members && key.is_point() {
            true => Ok(Self { algorithm, key }),
            false => Err(MALFORMED),
        }
    }
}

const MALFORMED: PasskeyError = PasskeyError::Malformed("public key");
