//! A master key that a key of a token encrypts. Only with the token can it be read.

use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_crypto::{Secret, encoding};
use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::token::Token;
use crate::uri::KeyQuery;

/// What the encryption is bound to, so that nothing else that the key encrypted is taken for a master key.
const PURPOSE: &[u8] = b"selfsame master key 1";
const VERSION: u8 = 1;

/// A wrapped master key, as its file keeps it: one JSON object.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WrappedKey {
    version: u8,
    /// The key that wraps, for people.
    key: String,
    /// Nonce ‖ ciphertext ‖ tag of AES-256-GCM, hexadecimal.
    wrapped: String,
}

impl WrappedKey {
    /// A new random master key, wrapped. Blocks while the token works.
    ///
    /// # Errors
    /// The token's.
    pub fn new(token: &Token, key: &KeyQuery) -> Result<Self> {
        let master = Secret::new(random_seed().to_vec());
        let wrapped = token.encrypt(key, PURPOSE, master.expose())?;
        let made = Self {
            version: VERSION,
            key: key.to_string(),
            wrapped: encoding::hex_encode(&wrapped),
        };
        // Data sealed with a key that the token can't give back would be lost.
        made.open(token, key)?;
        Ok(made)
    }

    /// The master key. Blocks while the token works.
    ///
    /// # Errors
    /// `BadRequest` if another key wrapped it, and the token's.
    pub fn open(&self, token: &Token, key: &KeyQuery) -> Result<SealingKey> {
        let damaged = || Error::bad_request("hsm-wrapped-damaged");
        let wrapped = encoding::hex_decode(&self.wrapped).map_err(|_| damaged())?;
        let master = Secret::new(token.decrypt(key, PURPOSE, &wrapped)?);
        let master = <[u8; 32]>::try_from(master.expose()).map_err(|_| damaged())?;
        Ok(SealingKey::from_bytes(master))
    }

    /// The file's content.
    ///
    /// # Errors
    /// None that can happen.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(Error::internal)
    }

    /// Reads a file's content.
    ///
    /// # Errors
    /// `BadRequest` if it has no wrapped key, or one of a later version of this program.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        match serde_json::from_slice::<Self>(bytes) {
            Ok(read) if read.version == VERSION => Ok(read),
            _ => Err(Error::bad_request("hsm-wrapped-damaged")),
        }
    }
}
