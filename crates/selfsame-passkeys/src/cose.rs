//! Public keys as authenticators give them: COSE keys (RFC 9052 §7) of the algorithms that are offered.

use selfsame_cbor::Cbor;
use selfsame_cbor::cose::{CoseCurve, CosePublic};
use selfsame_crypto::{Algorithm, Jwk, JwkParams, KeyType, PublicKey};
use serde::{Deserialize, Serialize};

use crate::cbor;
use crate::error::PasskeyError;
use crate::signature;

/// The labels and the type of an RSA key (RFC 9052 §7.1, RFC 8230 §4).
const KTY: i64 = 1;
const ALG: i64 = 3;
const N: i64 = -1;
const E: i64 = -2;
const RSA: i64 = 3;

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
    pub fn of(map: &Cbor<'_>) -> Result<Self, PasskeyError> {
        let value = |label| map.labelled(label).ok_or(MALFORMED);
        let number = |label| value(label)?.int().ok_or(MALFORMED);
        let algorithm = PasskeyAlgorithm::try_from(number(ALG)?)?;
        let (members, key) = match algorithm {
            PasskeyAlgorithm::EdDsa => {
                let key = on_curve(map, CoseCurve::Ed25519)?;
                (4, PublicKey::from_raw(KeyType::Ed25519, key.x))
            }
            PasskeyAlgorithm::Es256 => {
                let key = on_curve(map, CoseCurve::P256)?;
                let params = JwkParams::Ec {
                    crv: "P-256".to_owned(),
                    x: key.x.to_vec(),
                    y: key.y.to_vec(),
                };
                (5, PublicKey::from_jwk(&Jwk::from(params)))
            }
            PasskeyAlgorithm::Rs256 if number(KTY)? == RSA => {
                let params = JwkParams::Rsa {
                    n: cbor::bytes(value(N)?)?.to_vec(),
                    e: cbor::bytes(value(E)?)?.to_vec(),
                };
                (4, PublicKey::from_jwk(&Jwk::from(params)))
            }
            PasskeyAlgorithm::Rs256 => return Err(MALFORMED),
        };
        let key = key.map_err(|_| MALFORMED)?;
        match cbor::pairs(map)?.len() == members && key.is_point() {
            true => Ok(Self { algorithm, key }),
            false => Err(MALFORMED),
        }
    }
}

/// The key of this map, if it is one of this curve.
fn on_curve<'b>(map: &Cbor<'b>, curve: CoseCurve) -> Result<CosePublic<'b>, PasskeyError> {
    let key = CosePublic::read(map).map_err(|_| MALFORMED)?;
    match key.curve == curve {
        true => Ok(key),
        false => Err(MALFORMED),
    }
}

const MALFORMED: PasskeyError = PasskeyError::Malformed("public key");
