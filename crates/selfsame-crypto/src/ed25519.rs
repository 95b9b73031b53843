//! Ed25519 (RFC 8032) by aws-lc: key pairs, and public keys that are canonical and not of small order.

mod point;

use aws_lc_rs::encoding::{AsBigEndian as _, Curve25519SeedBin};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, ParsedPublicKey};
use zeroize::Zeroizing;

use crate::error::KeyError;
use crate::hash::sha512;

/// The multicodec `ed25519-pub` as a varint.
pub(crate) const MULTICODEC: [u8; 2] = [0xed, 0x01];
/// SubjectPublicKeyInfo up to the key (RFC 8410 §4).
pub(crate) const SPKI_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// The y coordinates of the eight points of small order, little endian, without the sign of x. A signature by such a
/// key verifies for messages that were never signed (RFC 8032 §5.1.7, RFC 8037 §5 point to the check).
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    [
        1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0,
    ],
    [
        0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0x7f,
    ],
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ],
];

/// Reads a raw public key. A y that belongs to no point is accepted here: [`is_point`] finds it, and no signature
/// verifies.
pub(crate) fn parse(bytes: &[u8]) -> Result<ParsedPublicKey, KeyError> {
    let key: &[u8; 32] = bytes
        .try_into()
        .map_err(|_| KeyError::Malformed("Ed25519 key length"))?;
    let mut y = *key;
    if let Some(last) = y.last_mut() {
        *last &= 0x7f;
    }
    if is_not_below_prime(&y) {
        return Err(KeyError::Malformed("Ed25519 key that is not canonical"));
    }
    if SMALL_ORDER.contains(&y) {
        return Err(KeyError::Weak("Ed25519 key of small order"));
    }
    ParsedPublicKey::new(&ED25519, key).map_err(|_| KeyError::Malformed("Ed25519 key"))
}

/// Whether a parsed key is a point of the curve.
pub(crate) fn is_point(key: &[u8]) -> bool {
    let Ok(mut y) = <[u8; 32]>::try_from(key) else {
        return false;
    };
    if let Some(last) = y.last_mut() {
        *last &= 0x7f;
    }
    point::has_x(&y)
}

/// The public key on the curve of X25519 (RFC 7748 §4.1), if the key is a point.
pub(crate) fn to_x25519(key: &[u8]) -> Option<[u8; 32]> {
    let mut y = <[u8; 32]>::try_from(key).ok()?;
    *y.last_mut()? &= 0x7f;
    point::has_x(&y).then(|| point::to_u(&y))
}

/// The private key of [`to_x25519`]: the first half of the hashed seed (RFC 8032 §5.1.5). X25519 clears and sets its
/// bits itself.
pub(crate) fn to_x25519_private(pair: &Ed25519KeyPair) -> Option<Zeroizing<[u8; 32]>> {
    let seed: Curve25519SeedBin<'_> = pair.seed().ok()?.as_be_bytes().ok()?;
    let hashed = Zeroizing::new(sha512(seed.as_ref()));
    hashed.first_chunk().map(|half| Zeroizing::new(*half))
}

/// Whether y, little endian, is 2^255 - 19 or more (RFC 8032 §5.1.3 step 1).
fn is_not_below_prime(y: &[u8; 32]) -> bool {
    let [first, middle @ .., last] = y;
    *last == 0x7f && middle.iter().all(|byte| *byte == 0xff) && *first >= 0xed
}

pub(crate) fn from_pkcs8(pkcs8: &[u8]) -> Result<Ed25519KeyPair, KeyError> {
    Ed25519KeyPair::from_pkcs8(pkcs8).map_err(|_| KeyError::Malformed("Ed25519 private key"))
}

pub(crate) fn public_bytes(pair: &Ed25519KeyPair) -> &[u8] {
    pair.public_key().as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_small_order_are_refused_with_either_sign() {
        for y in SMALL_ORDER {
            assert_eq!(
                parse(&y).err(),
                Some(KeyError::Weak("Ed25519 key of small order"))
            );
            let mut negative = y;
            negative[31] |= 0x80;
            assert_eq!(
                parse(&negative).err(),
                Some(KeyError::Weak("Ed25519 key of small order"))
            );
        }
    }

    #[test]
    fn keys_that_are_not_canonical_are_refused() {
        for first in 0xed..=0xff {
            let mut y = [0xff; 32];
            y[0] = first;
            y[31] = 0x7f;
            assert!(matches!(parse(&y), Err(KeyError::Malformed(_))));
            y[31] = 0xff;
            assert!(matches!(parse(&y), Err(KeyError::Malformed(_))));
        }
        assert!(parse(&[9; 31]).is_err());
        assert!(parse(&[9; 33]).is_err());
    }
}
