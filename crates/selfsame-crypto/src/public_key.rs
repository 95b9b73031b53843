//! Public keys: one type for every key type, with values that are checked when they are made.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use aws_lc_rs::signature::ParsedPublicKey;

use crate::algorithm::{Algorithm, KeyType};
use crate::ec::Curve;
use crate::encoding::hex_encode;
use crate::error::{KeyError, SignatureError};
use crate::hash::sha256_parts;
use crate::jwk::{Jwk, JwkParams};
use crate::{ed25519, ml_dsa, p256, p384, rsa, secp256k1};

mod multikey;

/// A public key for verifying signatures. Cheap to clone.
#[derive(Clone)]
pub struct PublicKey(Arc<KeyMaterial>);

struct KeyMaterial {
    key_type: KeyType,
    /// Ed25519: 32 bytes; curves: uncompressed point; RSA: PKCS#1; ML-DSA: FIPS 204. Each key has exactly one form.
    bytes: Vec<u8>,
    parsed: ParsedPublicKey,
}

impl PublicKey {
    /// Reads a JWK.
    pub fn from_jwk(jwk: &Jwk) -> Result<Self, KeyError> {
        match &jwk.params {
            JwkParams::Okp { crv, x } if crv == "Ed25519" => Self::from_raw(KeyType::Ed25519, x),
            JwkParams::Ec { crv, x, y } => {
                let key_type = EC_TYPES
                    .into_iter()
                    .find(|key_type| curve(*key_type).is_some_and(|c| c.jwk == crv));
                let (key_type, curve) = key_type
                    .and_then(|key_type| Some((key_type, curve(key_type)?)))
                    .ok_or(KeyError::Unsupported)?;
                Self::from_raw(key_type, &curve.point(x, y)?)
            }
            JwkParams::Rsa { n, e } => {
                let pkcs1 = rsa::from_components(n, e)
                    .ok_or(KeyError::Malformed("RSA modulus or exponent"))?;
                Self::from_raw(KeyType::Rsa, &pkcs1)
            }
            JwkParams::Akp { alg, public } => {
                let key_type = ml_dsa::named(alg).ok_or(KeyError::Unsupported)?;
                Self::from_raw(key_type, public)
            }
            JwkParams::Okp { .. } => Err(KeyError::Unsupported),
        }
    }

    /// The key as a JWK with the required members only.
    pub fn to_jwk(&self) -> Jwk {
        Jwk::from(self.jwk_params())
    }

    /// Reads a multikey: a multicodec prefix and the key in multibase (`z6Mk…`, `zDn…`, `zQ3s…`, `z82…`, `z4MX…`).
    pub fn from_multikey(text: &str) -> Result<Self, KeyError> {
        multikey::decode(text)
    }

    /// The key as a multikey in base58.
    pub fn to_multikey(&self) -> String {
        multikey::encode(self)
    }

    /// Reads a multicodec prefix and the key after it. Points must be compressed.
    pub fn from_multicodec(bytes: &[u8]) -> Result<Self, KeyError> {
        multikey::from_multicodec(bytes)
    }

    /// The multicodec prefix and the key. Points are compressed.
    pub fn to_multicodec(&self) -> Vec<u8> {
        multikey::to_multicodec(self)
    }

    /// Reads a DER SubjectPublicKeyInfo (RFC 5280 §4.1).
    pub fn from_spki(spki: &[u8]) -> Result<Self, KeyError> {
        if let Some(key) = spki.strip_prefix(&ed25519::SPKI_PREFIX) {
            return Self::from_raw(KeyType::Ed25519, key);
        }
        for key_type in EC_TYPES {
            let point = curve(key_type).and_then(|curve| spki.strip_prefix(curve.spki_prefix));
            if let Some(point) = point {
                return Self::from_raw(key_type, point);
            }
        }
        for key_type in ml_dsa::TYPES {
            let key = ml_dsa::set(key_type).and_then(|set| spki.strip_prefix(&set.spki_prefix));
            if let Some(key) = key {
                return Self::from_raw(key_type, key);
            }
        }
        rsa::from_spki(spki)
            .ok_or(KeyError::Unsupported)
            .and_then(|pkcs1| Self::from_raw(KeyType::Rsa, pkcs1))
    }

    /// The key as a DER SubjectPublicKeyInfo.
    pub fn to_spki(&self) -> Result<Vec<u8>, KeyError> {
        if let Some(set) = ml_dsa::set(self.key_type()) {
            return Ok([&set.spki_prefix, self.bytes()].concat());
        }
        match curve(self.key_type()) {
            Some(curve) => Ok([curve.spki_prefix, self.bytes()].concat()),
            None if self.key_type() == KeyType::Ed25519 => {
                Ok([&ed25519::SPKI_PREFIX, self.bytes()].concat())
            }
            None => rsa::to_spki(self.bytes()).ok_or(KeyError::Malformed("RSA public key")),
        }
    }

    /// Reads the bare key: 32 bytes for Ed25519, a compressed or uncompressed point, PKCS#1 for RSA.
    pub fn from_raw(key_type: KeyType, bytes: &[u8]) -> Result<Self, KeyError> {
        let (bytes, parsed) = match (curve(key_type), ml_dsa::set(key_type)) {
            (Some(curve), _) => curve.parse(bytes)?,
            (None, Some(set)) => (bytes.to_vec(), set.parse(bytes)?),
            (None, None) if key_type == KeyType::Ed25519 => {
                (bytes.to_vec(), ed25519::parse(bytes)?)
            }
            (None, None) => (bytes.to_vec(), rsa::parse(bytes)?),
        };
        Ok(Self(Arc::new(KeyMaterial {
            key_type,
            bytes,
            parsed,
        })))
    }

    /// The key type.
    pub fn key_type(&self) -> KeyType {
        self.0.key_type
    }

    /// SHA-256 of its type and its bytes: what is kept to know it again takes less memory than the key.
    pub fn digest(&self) -> [u8; 32] {
        sha256_parts(&[&[self.key_type() as u8], self.bytes()])
    }

    /// The bare key: 32 bytes for Ed25519, the uncompressed point, PKCS#1 for RSA.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Whether a private key for this public key can exist. Parsing leaves this open for Ed25519 alone, where about
    /// half of all numbers are not a point of the curve (RFC 8032 §5.1.3).
    pub fn is_point(&self) -> bool {
        self.key_type() != KeyType::Ed25519 || ed25519::is_point(self.bytes())
    }

    /// The JWK thumbprint with SHA-256 (RFC 7638).
    pub fn thumbprint(&self) -> [u8; 32] {
        self.to_jwk().thumbprint()
    }

    /// Verifies that this key made `signature` over `message` with `algorithm`.
    pub fn verify(
        &self,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        if algorithm.key_type() != self.key_type() {
            return Err(SignatureError::WrongAlgorithm);
        }
        if self.key_type() == KeyType::Rsa {
            return rsa::verify(self.bytes(), algorithm, message, signature);
        }
        self.0
            .parsed
            .verify_sig(message, signature)
            .map_err(|_| SignatureError::Invalid)
    }

    fn jwk_params(&self) -> JwkParams {
        if ml_dsa::set(self.key_type()).is_some() {
            return JwkParams::Akp {
                alg: self.key_type().default_algorithm().as_str().to_owned(),
                public: self.bytes().to_vec(),
            };
        }
        if let Some(curve) = curve(self.key_type()) {
            let (x, y) = curve.coordinates(self.bytes());
            return JwkParams::Ec {
                crv: curve.jwk.to_owned(),
                x: x.to_vec(),
                y: y.to_vec(),
            };
        }
        match rsa::components(self.bytes()) {
            Some((n, e)) if self.key_type() == KeyType::Rsa => JwkParams::Rsa {
                n: n.to_vec(),
                e: e.to_vec(),
            },
            _ => JwkParams::Okp {
                crv: "Ed25519".to_owned(),
                x: self.bytes().to_vec(),
            },
        }
    }
}

/// The key types that are points on a curve.
pub(crate) const EC_TYPES: [KeyType; 3] = [KeyType::P256, KeyType::Secp256k1, KeyType::P384];

/// The curve of this key type; `None` if its keys are not ECDSA points.
pub(crate) fn curve(key_type: KeyType) -> Option<&'static Curve> {
    match key_type {
        KeyType::P256 => Some(&p256::CURVE),
        KeyType::Secp256k1 => Some(&secp256k1::CURVE),
        KeyType::P384 => Some(&p384::CURVE),
        KeyType::Ed25519 | KeyType::Rsa | KeyType::MlDsa44 | KeyType::MlDsa65 => None,
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.key_type() == other.key_type() && self.bytes() == other.bytes()
    }
}

impl Eq for PublicKey {}

impl Hash for PublicKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key_type().hash(state);
        self.bytes().hash(state);
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PublicKey({}, {})",
            self.key_type(),
            hex_encode(self.bytes())
        )
    }
}
