//! Serialisation of secrets that must be written out: into a message to their recipient, or into a sealed record.
//!
//! `SecretString` does not implement `Serialize`, so each field that is written out names this module.

use selfsame_crypto::SecretString;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the secret in the clear.
pub fn serialize<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose())
}

/// Reads a secret.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
    String::deserialize(deserializer).map(SecretString::from)
}

/// Serialisation of a secret that may be absent.
pub mod option {
    use super::{Deserialize, Deserializer, SecretString, Serializer};

    /// Writes the secret in the clear.
    pub fn serialize<S: Serializer>(
        secret: &Option<SecretString>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match secret {
            Some(secret) => serializer.serialize_some(secret.expose()),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a secret.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<SecretString>, D::Error> {
        Option::<String>::deserialize(deserializer).map(|secret| secret.map(SecretString::from))
    }
}
