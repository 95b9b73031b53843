//! What is kept of a passkey.

use std::fmt;

use selfsame_crypto::PublicKey;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use serde::{Deserialize, Serialize};

use crate::cose::PasskeyAlgorithm;

/// What is kept of a passkey: the credential record (§4), without personal data.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct Passkey {
    /// Its id, in base64url.
    pub id: String,
    /// The algorithm of its key.
    pub algorithm: PasskeyAlgorithm,
    /// Its public key: DER SubjectPublicKeyInfo in base64url.
    pub public_key: String,
    /// How often it has answered, as it counts; zero if it does not count.
    pub sign_count: u32,
    /// Whether it may be copied to other devices of its owner.
    pub backup_eligible: bool,
    /// Whether it has been copied.
    pub backed_up: bool,
    /// The ways in which browsers reach it, to be given back to them.
    pub transports: Vec<String>,
    /// The make of its authenticator, as that claims.
    pub aaguid: [u8; 16],
}

impl Passkey {
    /// Its key; `None` if the record is damaged.
    pub(crate) fn key(&self) -> Option<PublicKey> {
        let spki = base64url_decode(&self.public_key).ok()?;
        PublicKey::from_spki(&spki).ok()
    }

    /// A key as it is kept; `None` if it cannot be.
    pub(crate) fn kept(key: &PublicKey) -> Option<String> {
        key.to_spki().ok().map(|spki| base64url_encode(&spki))
    }
}

impl fmt::Debug for Passkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passkey")
            .field("algorithm", &self.algorithm)
            .field("sign_count", &self.sign_count)
            .finish_non_exhaustive()
    }
}
