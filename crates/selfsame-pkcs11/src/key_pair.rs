//! Public keys as tokens describe them: the curve (`CKA_EC_PARAMS`) and the point (`CKA_EC_POINT`).

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::{Jwk, KeyType, PublicKey};
use serde_json::json;

/// P-256 as DER: the object identifier 1.2.840.10045.3.1.7 (RFC 5480 §2.1.1.1).
pub(crate) const P256: [u8; 10] = [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
/// Ed25519 as DER: its name as a PrintableString (PKCS#11 3.0 §2.3.5), which most tokens know.
pub(crate) const ED25519: [u8; 14] = *b"\x13\x0cedwards25519";
/// Ed25519 as DER: the object identifier 1.3.101.112 (RFC 8410 §3), which PKCS#11 3.0 allows too.
const ED25519_OID: [u8; 5] = [6, 3, 0x2b, 0x65, 0x70];
/// The tag of an OCTET STRING in DER.
const OCTET_STRING: u8 = 4;

/// The public key with this curve and point; `None` for another curve, or for what is no point.
///
/// The point is a DER OCTET STRING (PKCS#11 3.0 §2.3.3). Some tokens give the bare point.
pub(crate) fn public_key(curve: &[u8], point: &[u8]) -> Option<PublicKey> {
    let (kind, length) = if curve == P256 {
        (KeyType::P256, 65)
    } else if curve == ED25519 || curve == ED25519_OID {
        (KeyType::Ed25519, 32)
    } else {
        return None;
    };
    let point = match point {
        [OCTET_STRING, told, inner @ ..]
            if usize::from(*told) == length && inner.len() == length =>
        {
            inner
        }
        bare => bare,
    };
    (point.len() == length)
        .then(|| PublicKey::from_raw(kind, point).ok())
        .flatten()
}

/// The RSA key with this modulus and exponent (PKCS#11 3.0 §2.1.2), big-endian; `None` for one that can't be used here.
pub(crate) fn rsa_key(modulus: &[u8], exponent: &[u8]) -> Option<PublicKey> {
    let number = |bytes: &[u8]| {
        let start = bytes.iter().position(|byte| *byte != 0).unwrap_or_default();
        base64url_encode(bytes.get(start..).unwrap_or_default())
    };
    let jwk = json!({"kty": "RSA", "n": number(modulus), "e": number(exponent)});
    let jwk = Jwk::from_value(&jwk).ok()?;
    PublicKey::from_jwk(&jwk).ok()
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::PrivateKey;

    use super::*;

    #[test]
    fn a_point_is_read_bare_or_as_an_octet_string_and_nothing_else_is() {
        for (curve, kind) in [
            (P256.as_slice(), KeyType::P256),
            (&ED25519, KeyType::Ed25519),
            (&ED25519_OID, KeyType::Ed25519),
        ] {
            let key = PrivateKey::generate(kind).unwrap();
            let bare = key.public().bytes().to_vec();
            let length = u8::try_from(bare.len()).unwrap();
            let wrapped = [&[OCTET_STRING, length], bare.as_slice()].concat();
            for point in [&bare, &wrapped] {
                assert_eq!(public_key(curve, point).as_ref(), Some(key.public()));
                assert!(public_key(curve, &point[1..]).is_none());
                assert!(public_key(curve, &point[..point.len() - 1]).is_none());
                assert!(public_key(&curve[1..], point).is_none());
            }
            assert!(public_key(curve, &[]).is_none());
        }
    }
}
