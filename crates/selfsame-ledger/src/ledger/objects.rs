//! AnonCreds objects, read from this process's ledger.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_registry::anoncreds::{
    PublishedDefinition, PublishedRegistry, PublishedSchema, RevocationState,
};

use super::Ledger;

impl Ledger {
    /// The schema of an identifier.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn schema(&self, id: &str) -> Result<Option<PublishedSchema>> {
        self.machine().schema(self, id).map_err(Error::internal)
    }

    /// The credential definition of an identifier, with its successor.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn credential_definition(&self, id: &str) -> Result<Option<PublishedDefinition>> {
        let found = self.machine().credential_definition(self, id);
        found.map_err(Error::internal)
    }

    /// The definition of the revocation registry of an identifier.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn revocation_registry(&self, id: &str) -> Result<Option<PublishedRegistry>> {
        let found = self.machine().revocation_registry(self, id);
        found.map_err(Error::internal)
    }

    /// The revoked places of a revocation registry now or at a time; `None` before its first entry.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub fn revocation_state(
        &self,
        id: &str,
        at: Option<UnixTime>,
    ) -> Result<Option<RevocationState>> {
        self.machine()
            .revoked(self, id, at)
            .map_err(Error::internal)
    }
}
