//! Keys of a wallet that can sign here: a private JWK of Ed25519 or P-256 becomes PKCS#8.

use selfsame_askar::KeyEntry;
use selfsame_crypto::encoding::base64url_decode;
use selfsame_crypto::{KeyHandle, PrivateKey, Secret, SecretString};
use serde::Deserialize;

/// PKCS#8 of Ed25519 up to the key (RFC 8410 §7).
const ED25519: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// PKCS#8 of P-256 up to the private key (RFC 5915 §3), and from there to the point.
const P256: [u8; 36] = [
    0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02,
    0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x6d, 0x30, 0x6b, 0x02,
    0x01, 0x01, 0x04, 0x20,
];
const P256_POINT: [u8; 6] = [0xa1, 0x44, 0x03, 0x42, 0x00, 0x04];

/// A private JWK (RFC 7518 §6.2.2, RFC 8037 §2). Other members are passed over.
#[derive(Deserialize)]
struct PrivateJwk {
    kty: String,
    crv: String,
    x: String,
    y: Option<String>,
    d: SecretString,
}

/// The key of an entry, if it can sign here: it is in the wallet, of an algorithm that keys here have, and one of its
/// thumbprints is its own.
pub(super) fn usable(entry: &KeyEntry) -> Option<PrivateKey> {
    let secret = entry
        .secret
        .as_ref()
        .filter(|_| entry.reference.is_none())?;
    let jwk: PrivateJwk = serde_json::from_slice(secret.expose()).ok()?;
    let key = PrivateKey::from_pkcs8(pkcs8(&jwk)?.expose()).ok()?;
    let handle = KeyHandle::of(key.public());
    let is_this = entry.thumbprints.iter().any(|own| own == handle.as_str());
    is_this.then_some(key)
}

fn pkcs8(jwk: &PrivateJwk) -> Option<Secret> {
    let number = |text: &str| {
        base64url_decode(text)
            .ok()
            .filter(|bytes| bytes.len() == 32)
    };
    let private = Secret::new(number(jwk.d.expose())?);
    let (private, x) = (private.expose(), number(&jwk.x)?);
    match (jwk.kty.as_str(), jwk.crv.as_str(), &jwk.y) {
        ("OKP", "Ed25519", None) => Some(Secret::new([&ED25519, private].concat())),
        ("EC", "P-256", Some(y)) => {
            let y = number(y)?;
            Some(Secret::new([&P256, private, &P256_POINT, &x, &y].concat()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
