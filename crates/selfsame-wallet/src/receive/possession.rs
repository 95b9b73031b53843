//! The key that an access token is bound to (RFC 9449): one for each offer, so that issuers can't tell by it that two
//! offers were accepted by one person.

use selfsame_core::machine::CallProof;
use selfsame_crypto::KeyHandle;
use selfsame_oauth::client::possession::usable_nonce;
use serde::{Deserialize, Serialize};

/// The key of an offer, and the nonces that proofs by it need.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct PossessedKey {
    /// The key.
    pub key: KeyHandle,
    /// The last nonce of the authorization server.
    server_nonce: Option<String>,
    /// The last nonce of the issuer, which is another server, even on the same host (RFC 9449 §9).
    issuer_nonce: Option<String>,
}

impl PossessedKey {
    pub fn new(key: KeyHandle) -> Self {
        Self {
            key,
            server_nonce: None,
            issuer_nonce: None,
        }
    }

    /// What proofs for the authorization server are made with.
    pub fn at_server(&self) -> CallProof {
        CallProof {
            key: self.key.clone(),
            nonce: self.server_nonce.clone(),
        }
    }

    /// What proofs for the issuer are made with.
    pub fn at_issuer(&self) -> CallProof {
        CallProof {
            key: self.key.clone(),
            nonce: self.issuer_nonce.clone(),
        }
    }

    /// Takes the nonce of an answer of the authorization server (RFC 9449 §8.2).
    pub fn heard_from_server(&mut self, nonce: Option<&str>) {
        replace(&mut self.server_nonce, nonce);
    }

    /// Takes the nonce of an answer of the issuer.
    pub fn heard_from_issuer(&mut self, nonce: Option<&str>) {
        replace(&mut self.issuer_nonce, nonce);
    }
}

fn replace(kept: &mut Option<String>, given: Option<&str>) {
    if let Some(nonce) = usable_nonce(given) {
        *kept = Some(nonce.to_owned());
    }
}
