//! Carries credentials from one wallet to another: the export of all cards, and taking them in.

mod copy;
mod export;
mod import;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{SecretString, encoding};
use selfsame_driver::{Error, Result};

pub use copy::{BegunCopy, CopyPart, RefusedLine, RestoredCopy};

/// What the keys of credentials are sealed for, followed by the key of the credential.
const SEALED_FOR: &str = "selfsame wallet holder key v1 ";

/// The key that a caller sends.
fn sealing_key(sent: &SecretString) -> Result<[u8; 32]> {
    let bytes = encoding::base64url_decode(sent.expose()).ok();
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| Error::bad_request("sealing-key-malformed"))
}

/// What a sealed key is bound to: the credential with this key.
fn bound_to(key: &str) -> Vec<u8> {
    format!("{SEALED_FOR}{key}").into_bytes()
}

/// A key derived for the keys of credentials alone.
fn for_keys(key: [u8; 32]) -> SealingKey {
    SealingKey::from_bytes(key).derive(b"holder keys")
}
