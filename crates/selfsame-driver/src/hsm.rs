//! Keys in a hardware security module (HSM): it signs with them, and never gives them away.

use async_trait::async_trait;
use selfsame_crypto::{Algorithm, Jwk, KeyType, PublicKey};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A hardware security module.
#[async_trait]
pub trait Hsm: Send + Sync {
    /// The public half of the key pair with this label.
    ///
    /// # Errors
    /// `Unavailable` if the module has no such pair now, `BadRequest` for a pair that can't be used.
    async fn find(&self, label: &str) -> Result<PublicKey>;

    /// Makes a key pair.
    ///
    /// # Errors
    /// `Conflict` if a key has this label, `Unavailable` if the module can't make one now.
    async fn create(&self, label: &str, kind: KeyType) -> Result<PublicKey>;

    /// Signs with an algorithm of the key's type. ECDSA signatures are r ‖ s.
    ///
    /// # Errors
    /// `Unavailable` if the module can't sign now.
    async fn sign_with(&self, key: &HsmKey, algorithm: Algorithm, bytes: &[u8]) -> Result<Vec<u8>>;

    /// Signs with the default algorithm of the key's type.
    ///
    /// # Errors
    /// Those of [`Self::sign_with`].
    async fn sign(&self, key: &HsmKey, bytes: &[u8]) -> Result<Vec<u8>> {
        let algorithm = key.public().key_type().default_algorithm();
        self.sign_with(key, algorithm, bytes).await
    }
}

/// A key pair in a module, as a record names it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "HsmKeyRecord", into = "HsmKeyRecord")]
pub struct HsmKey {
    label: String,
    public: PublicKey,
}

/// A key pair as JSON.
#[derive(Deserialize, Serialize)]
struct HsmKeyRecord {
    label: String,
    public: Jwk,
}

impl HsmKey {
    /// The pair with this label and this public half.
    #[must_use]
    pub fn new(label: &str, public: PublicKey) -> Self {
        let label = label.to_owned();
        Self { label, public }
    }

    /// Its label.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Its public half.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }
}

impl TryFrom<HsmKeyRecord> for HsmKey {
    type Error = Error;

    fn try_from(named: HsmKeyRecord) -> Result<Self> {
        let public = PublicKey::from_jwk(&named.public).map_err(Error::internal)?;
        Ok(Self::new(&named.label, public))
    }
}

impl From<HsmKey> for HsmKeyRecord {
    fn from(key: HsmKey) -> Self {
        Self {
            public: key.public.to_jwk(),
            label: key.label,
        }
    }
}
