//! Keys for agreement on a shared secret: X25519 (RFC 7748) and ECDH on NIST's curves, for JWE and for the boxes of NaCl.

pub mod nacl;

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::agreement::{
    self, ECDH_P256, ECDH_P384, ECDH_P521, ParsedPublicKey, UnparsedPublicKey, X25519, agree,
};
use aws_lc_rs::encoding::{AsBigEndian, Curve25519SeedBin, EcPrivateKeyBin};
use zeroize::Zeroizing;

use crate::KeyType;
use crate::ctx::Ctx;
use crate::encoding::{hex_encode, multibase_base58_encode};
use crate::error::KeyError;
use crate::generate::random;
use crate::jwk::{Jwk, JwkParams};
use crate::private_key::PrivateKey;
use crate::public_key::PublicKey;
use crate::secret::Secret;
use crate::{ed25519, hash::ct_eq, hkdf};

/// How often a number is drawn until it is a private key. P-256 refuses one in 2^32; the others are rarer.
const DRAWS: u8 = 4;

/// A curve for key agreement.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum AgreementCurve {
    /// X25519.
    X25519,
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// NIST P-521.
    P521,
}

/// A public key for agreement. Points were checked to be on their curve when it was read. Cheap to clone.
#[derive(Clone)]
pub struct AgreementKey(Arc<PublicParts>);

struct PublicParts {
    curve: AgreementCurve,
    /// X25519: 32 bytes; others: the uncompressed point.
    bytes: Vec<u8>,
    parsed: ParsedPublicKey,
}

/// A private key for agreement with its public key. It is never displayed, and aws-lc wipes it.
pub struct AgreementPrivate {
    private: agreement::PrivateKey,
    public: AgreementKey,
}

/// The shared secret of two keys, wiped when dropped.
pub(crate) type SharedSecret = Zeroizing<Vec<u8>>;

impl AgreementCurve {
    /// All curves.
    pub const ALL: [Self; 4] = [Self::X25519, Self::P256, Self::P384, Self::P521];

    /// The curve's name in a JWK (RFC 7518 §6.2.1.1, RFC 8037 §2).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::X25519 => "X25519",
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// The length of a private key and of a coordinate in bytes.
    const fn size(self) -> usize {
        match self {
            Self::X25519 | Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// The multicodec of public keys, as a varint.
    const fn multicodec(self) -> [u8; 2] {
        match self {
            Self::X25519 => [0xec, 0x01],
            Self::P256 => [0x80, 0x24],
            Self::P384 => [0x81, 0x24],
            Self::P521 => [0x82, 0x24],
        }
    }

    fn algorithm(self) -> &'static agreement::Algorithm {
        match self {
            Self::X25519 => &X25519,
            Self::P256 => &ECDH_P256,
            Self::P384 => &ECDH_P384,
            Self::P521 => &ECDH_P521,
        }
    }
}

impl AgreementKey {
    /// Reads a JWK.
    ///
    /// # Errors
    /// `Unsupported` if the key is for signatures or of another curve; `Malformed` if it is no point.
    pub fn from_jwk(jwk: &Jwk) -> Result<Self, KeyError> {
        let named = |crv: &str| {
            AgreementCurve::ALL
                .into_iter()
                .find(|one| one.as_str() == crv)
        };
        if jwk.use_.as_deref().is_some_and(|used| used != "enc") {
            return Err(KeyError::Unsupported);
        }
        match &jwk.params {
            JwkParams::Okp { crv, x } if crv == "X25519" => {
                Self::from_raw(AgreementCurve::X25519, x)
            }
            JwkParams::Ec { crv, x, y } => {
                let curve = named(crv).ok_or(KeyError::Unsupported)?;
                let (x, y) = (whole(x, curve)?, whole(y, curve)?);
                Self::from_raw(curve, &[&[4], x.as_slice(), &y].concat())
            }
            JwkParams::Okp { .. } | JwkParams::Rsa { .. } | JwkParams::Akp { .. } => {
                Err(KeyError::Unsupported)
            }
        }
    }

    /// The key as a JWK with the required members only.
    pub fn to_jwk(&self) -> Jwk {
        let crv = self.curve().as_str().to_owned();
        let coordinates = self.bytes().split_first().map_or(&[][..], |(_, rest)| rest);
        Jwk::from(match coordinates.split_at_checked(self.curve().size()) {
            Some((x, y)) if self.curve() != AgreementCurve::X25519 => JwkParams::Ec {
                crv,
                x: x.to_vec(),
                y: y.to_vec(),
            },
            _ => JwkParams::Okp {
                crv,
                x: self.bytes().to_vec(),
            },
        })
    }

    /// Reads the bare key: 32 bytes of X25519, or a point, which may be compressed on P-256 and P-384.
    ///
    /// # Errors
    /// If it is no point of the curve.
    pub fn from_raw(curve: AgreementCurve, bytes: &[u8]) -> Result<Self, KeyError> {
        let malformed = KeyError::Malformed("key for agreement");
        let point = match (curve, bytes.first()) {
            (AgreementCurve::X25519, _) if bytes.len() == curve.size() => bytes.to_vec(),
            (AgreementCurve::P256, Some(2 | 3)) => uncompressed(KeyType::P256, bytes)?,
            (AgreementCurve::P384, Some(2 | 3)) => uncompressed(KeyType::P384, bytes)?,
            (AgreementCurve::X25519, _) => return Err(malformed),
            (_, Some(4)) if bytes.len() == curve.size().saturating_mul(2).saturating_add(1) => {
                bytes.to_vec()
            }
            _ => return Err(malformed),
        };
        let unparsed = UnparsedPublicKey::new(curve.algorithm(), point.as_slice());
        let parsed = ParsedPublicKey::try_from(&unparsed).map_err(|_| malformed)?;
        Ok(Self(Arc::new(PublicParts {
            curve,
            bytes: point,
            parsed,
        })))
    }

    /// Reads a multicodec prefix and the key after it, as did:key and multikeys encode it.
    ///
    /// # Errors
    /// `Unsupported` if it is of another type; `Malformed` if it is no point, or a point that is not compressed.
    pub fn from_multicodec(bytes: &[u8]) -> Result<Self, KeyError> {
        for curve in AgreementCurve::ALL {
            match (bytes.strip_prefix(&curve.multicodec()), curve) {
                (Some(key), AgreementCurve::X25519) => return Self::from_raw(curve, key),
                (Some(key @ [2 | 3, ..]), _) => return Self::from_raw(curve, key),
                (Some(_), _) => {
                    return Err(KeyError::Malformed("multikey point that is not compressed"));
                }
                (None, _) => {}
            }
        }
        Err(KeyError::Unsupported)
    }

    /// The multicodec prefix and the key. Points are compressed.
    pub fn to_multicodec(&self) -> Vec<u8> {
        let prefix = self.curve().multicodec();
        let size = self.curve().size();
        let point = self.bytes().split_first().map_or(&[][..], |(_, rest)| rest);
        match point.split_at_checked(size) {
            Some((x, y)) if self.curve() != AgreementCurve::X25519 => {
                // SEC 1 §2.3.3.
                let is_odd = y.last().is_some_and(|byte| byte & 1 == 1);
                [&prefix[..], &[if is_odd { 3 } else { 2 }], x].concat()
            }
            _ => [&prefix[..], self.bytes()].concat(),
        }
    }

    /// The key as a multikey in base58.
    pub fn to_multikey(&self) -> String {
        multibase_base58_encode(&self.to_multicodec())
    }

    /// The X25519 key of an Ed25519 key (RFC 7748 §4.1): the same point on the other curve.
    ///
    /// # Errors
    /// `Unsupported` if it is another type of key; `Malformed` if it is no point.
    pub fn of_ed25519(key: &PublicKey) -> Result<Self, KeyError> {
        if key.key_type() != KeyType::Ed25519 {
            return Err(KeyError::Unsupported);
        }
        let u = ed25519::to_x25519(key.bytes());
        let u = u.ok_or(KeyError::Malformed("Ed25519 key that is no point"))?;
        Self::from_raw(AgreementCurve::X25519, &u)
    }

    /// The curve.
    pub fn curve(&self) -> AgreementCurve {
        self.0.curve
    }

    /// The bare key: 32 bytes of X25519, or the uncompressed point.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// A coordinate of the full length. RFC 7518 §6.2.1.2 asks for it; where leading zeros were left out, there is still only
/// one point that can be meant.
fn whole(coordinate: &[u8], curve: AgreementCurve) -> Result<Vec<u8>, KeyError> {
    let missing = curve.size().checked_sub(coordinate.len());
    let missing = missing.ok_or(KeyError::Malformed("elliptic curve coordinate length"))?;
    Ok([vec![0; missing].as_slice(), coordinate].concat())
}

/// The uncompressed form of a compressed point.
fn uncompressed(key_type: KeyType, point: &[u8]) -> Result<Vec<u8>, KeyError> {
    Ok(PublicKey::from_raw(key_type, point)?.bytes().to_vec())
}

impl AgreementPrivate {
    /// Generates a key.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn generate(curve: AgreementCurve) -> Result<Self, KeyError> {
        Self::drawn(curve, |_| Zeroizing::new(random::<66>()))
    }

    /// A key that is derived from the randomness of a step. Equal labels give equal keys.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn derived(curve: AgreementCurve, ctx: &Ctx, label: &str) -> Result<Self, KeyError> {
        Self::drawn(curve, |draw| {
            Zeroizing::new(ctx.random::<66>(&format!("{label}/key/{draw}")))
        })
    }

    fn drawn(
        curve: AgreementCurve,
        draw: impl Fn(u8) -> Zeroizing<[u8; 66]>,
    ) -> Result<Self, KeyError> {
        let keys = (0..DRAWS).filter_map(|number| {
            let mut bytes = draw(number);
            // P-521 has one bit in its first byte.
            if let (AgreementCurve::P521, Some(first)) = (curve, bytes.first_mut()) {
                *first &= 1;
            }
            Self::from_raw(curve, bytes.get(..curve.size())?).ok()
        });
        { keys }.next().ok_or(KeyError::Backend)
    }

    /// Reads the bare private key: 32 bytes of X25519, or the big-endian number.
    ///
    /// # Errors
    /// `Malformed` if it is not a point of the curve.
    pub fn from_raw(curve: AgreementCurve, bytes: &[u8]) -> Result<Self, KeyError> {
        let private = agreement::PrivateKey::from_private_key(curve.algorithm(), bytes)
            .map_err(|_| KeyError::Malformed("private key for agreement"))?;
        let public = private
            .compute_public_key()
            .map_err(|_| KeyError::Backend)?;
        let public = AgreementKey::from_raw(curve, public.as_ref())?;
        Ok(Self { private, public })
    }

    /// The bare private key. Seal it before you store or send it.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn to_raw(&self) -> Result<Secret, KeyError> {
        let bytes = if self.public.curve() == AgreementCurve::X25519 {
            let seed: Result<Curve25519SeedBin<'_>, _> = self.private.as_be_bytes();
            seed.map(|seed| seed.as_ref().to_vec())
        } else {
            let number: Result<EcPrivateKeyBin<'_>, _> = self.private.as_be_bytes();
            number.map(|number| number.as_ref().to_vec())
        };
        bytes.map(Secret::new).map_err(|_| KeyError::Backend)
    }

    /// The X25519 key of an Ed25519 key, whose public key is [`AgreementKey::of_ed25519`].
    ///
    /// # Errors
    /// `Unsupported` if it is another type of key.
    pub fn of_ed25519(key: &PrivateKey) -> Result<Self, KeyError> {
        let pair = key.ed25519_pair().ok_or(KeyError::Unsupported)?;
        let private = ed25519::to_x25519_private(pair).ok_or(KeyError::Backend)?;
        Self::from_raw(AgreementCurve::X25519, private.as_slice())
    }

    /// The public key.
    pub fn public(&self) -> &AgreementKey {
        &self.public
    }

    /// A key of 32 bytes from the secret that is shared with `peer`, by HKDF with SHA-256 (RFC 5869).
    ///
    /// # Errors
    /// `Unsupported` if the curves differ; `Weak` if the peer's key is of small order (RFC 7748 §6.1).
    pub fn derive(
        &self,
        peer: &AgreementKey,
        salt: &[u8],
        info: &[u8],
    ) -> Result<Secret, KeyError> {
        let shared = self.agree(peer)?;
        let key = Zeroizing::new(hkdf::expand::<32>(&hkdf::extract(salt, &shared), &[info]));
        Ok(Secret::new(key.to_vec()))
    }

    /// The secret that is shared with `peer`.
    ///
    /// # Errors
    /// `Unsupported` if the curves differ; `Weak` if the peer's key is of small order (RFC 7748 §6.1).
    pub(crate) fn agree(&self, peer: &AgreementKey) -> Result<SharedSecret, KeyError> {
        if peer.curve() != self.public.curve() {
            return Err(KeyError::Unsupported);
        }
        let weak = KeyError::Weak("key for agreement");
        let secret = agree(&self.private, peer.0.parsed.clone(), weak, |secret| {
            Ok(Zeroizing::new(secret.to_vec()))
        })?;
        let zeros = vec![0; secret.len()];
        match ct_eq(&secret, &zeros) {
            true => Err(weak),
            false => Ok(secret),
        }
    }
}

impl PartialEq for AgreementKey {
    fn eq(&self, other: &Self) -> bool {
        self.curve() == other.curve() && self.bytes() == other.bytes()
    }
}

impl Eq for AgreementKey {}

impl fmt::Debug for AgreementKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = hex_encode(self.bytes());
        write!(f, "AgreementKey({}, {key})", self.curve().as_str())
    }
}

impl fmt::Debug for AgreementPrivate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgreementPrivate(… of {:?})", self.public)
    }
}

#[cfg(test)]
mod tests;
