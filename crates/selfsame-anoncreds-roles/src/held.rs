//! A credential as its holder keeps it: bytes.

use selfsame_anoncreds::Error;
use selfsame_anoncreds::format::{Credential, Message, Text as _};
use selfsame_crypto::Secret;

/// A finished credential: its JSON as it was read or written, and what it says.
pub struct HeldCredential {
    json: Secret,
    credential: Credential,
}

impl HeldCredential {
    /// Reads the JSON of a credential.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is not one.
    pub fn from_json(json: &[u8]) -> Result<Self, Error> {
        Ok(Self {
            credential: Credential::from_json(json)?,
            json: Secret::new(json.to_vec()),
        })
    }

    /// A credential that was just finished.
    pub(crate) fn of(credential: Credential) -> Result<Self, Error> {
        let json = credential.to_json()?;
        let json = Secret::new(json.as_json().as_bytes().to_vec());
        Ok(Self { json, credential })
    }

    /// The JSON, to keep. It never leaves the wallet.
    #[must_use]
    pub fn json(&self) -> &Secret {
        &self.json
    }

    /// What the JSON says.
    #[must_use]
    pub fn credential(&self) -> &Credential {
        &self.credential
    }
}
