//! Public keys between COSE and our own types.

use selfsame_cbor::cose::{CoseCurve, CoseError, CosePublic};
use selfsame_cbor::deterministic::CborWriter;
use selfsame_crypto::agreement::{AgreementCurve, AgreementKey};
use selfsame_crypto::{KeyError, KeyType, PublicKey};

use crate::error::MdocError;

/// The key of signatures.
pub fn public_key(key: &CosePublic<'_>) -> Result<PublicKey, MdocError> {
    let read = match key.curve {
        CoseCurve::P256 => PublicKey::from_raw(KeyType::P256, &point(key)),
        CoseCurve::P384 => PublicKey::from_raw(KeyType::P384, &point(key)),
        CoseCurve::Ed25519 => PublicKey::from_raw(KeyType::Ed25519, key.x),
        CoseCurve::X25519 => Err(KeyError::Unsupported),
    };
    Ok(read?)
}

/// The same key for agreement (ISO/IEC 18013-5 §9.1.3.5).
pub fn agreement_key(key: &PublicKey) -> Result<AgreementKey, KeyError> {
    match key.key_type() {
        KeyType::P256 => AgreementKey::from_raw(AgreementCurve::P256, key.bytes()),
        KeyType::P384 => AgreementKey::from_raw(AgreementCurve::P384, key.bytes()),
        KeyType::Ed25519
        | KeyType::Secp256k1
        | KeyType::Rsa
        | KeyType::MlDsa44
        | KeyType::MlDsa65 => Err(KeyError::Unsupported),
    }
}

/// Writes the key as a COSE_Key.
pub fn write_key(key: &PublicKey, to: &mut CborWriter) -> Result<(), MdocError> {
    let (curve, size) = match key.key_type() {
        KeyType::P256 => (CoseCurve::P256, 32),
        KeyType::P384 => (CoseCurve::P384, 48),
        KeyType::Ed25519 => (CoseCurve::Ed25519, 0),
        KeyType::Secp256k1 | KeyType::Rsa | KeyType::MlDsa44 | KeyType::MlDsa65 => {
            return Err(MdocError::Key(KeyError::Unsupported));
        }
    };
    let (x, y) = match key.bytes().split_first() {
        Some((4, coordinates)) if size > 0 => coordinates
            .split_at_checked(size)
            .ok_or(MdocError::Cose(CoseError::Key("no point")))?,
        _ => (key.bytes(), &[][..]),
    };
    CosePublic { curve, x, y }.write(to);
    Ok(())
}

fn point(key: &CosePublic<'_>) -> Vec<u8> {
    [&[4], key.x, key.y].concat()
}
