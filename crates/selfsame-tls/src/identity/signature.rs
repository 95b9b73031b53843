//! Signatures by the keys of DIDs, with the schemes of TLS.

use rustls_pki_types::SubjectPublicKeyInfoDer;
use selfsame_crypto::PublicKey;
use selfsame_did::{Document, Relationship};
use webpki::RawPublicKeyEntity;

use crate::alert::{Alert, Refusal};
use crate::codec::CertificateVerify;
use crate::provider::algorithm;

/// Maximum number of a document's keys that are tried.
pub(super) const MAX_KEYS: usize = 8;

/// The authentication key that made the proof.
pub(super) fn verify(
    document: &Document,
    proof: &CertificateVerify,
    message: &[u8],
) -> Result<PublicKey, Refusal> {
    let keys = document.keys(Relationship::Authentication).take(MAX_KEYS);
    let mut keys = keys.map(|(_, key)| key);
    keys.find(|key| is_signed(key, proof, message))
        .ok_or(Refusal::new(
            Alert::DecryptError,
            "the DIDVerify signature is invalid",
        ))
}

/// Whether this key made the proof; false if the scheme does not fit the key's type.
pub(super) fn is_signed(key: &PublicKey, proof: &CertificateVerify, message: &[u8]) -> bool {
    let (Ok(spki), Some(algorithm)) = (key.to_spki(), algorithm(proof.scheme)) else {
        return false;
    };
    let spki = SubjectPublicKeyInfoDer::from(spki);
    let key = RawPublicKeyEntity::try_from(&spki);
    key.is_ok_and(|key| {
        key.verify_signature(algorithm, message, &proof.signature)
            .is_ok()
    })
}
