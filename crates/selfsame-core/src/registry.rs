//! A registry as the roles use it. The instance connects it to one in this process or at other addresses.

mod delegations;

use async_trait::async_trait;
use selfsame_credential::single_use::Use;
use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::Network;
use selfsame_did::{AsOf, Did, Options, Resolution};
use selfsame_driver::Result;
use selfsame_registry::anoncreds::{
    PublishedDefinition, PublishedRegistry, PublishedSchema, RevocationState,
};
use selfsame_registry::network::AgreementInForce;
use selfsame_registry::{Receipt, Transaction};

pub use delegations::{DELEGATIONS_MAX, WantedDelegation, delegation_name, newest_delegation};

/// A registry that accepts transactions and resolves.
#[async_trait]
pub trait RegistryClient: Send + Sync {
    /// The network's name in DIDs.
    async fn network(&self) -> Result<Network>;

    /// Orders a transaction and waits until it is durable. Submitting it again returns its first receipt.
    /// [`selfsame_driver::Error::is_refusal`] tells whether an error is final.
    async fn submit(&self, transaction: &Transaction) -> Result<Receipt>;

    /// Resolves a DID of this network. If the result is not current, its metadata state the time that it is from.
    async fn resolve(&self, did: &Did, options: &Options) -> Resolution;

    /// The time and height of the newest checkpoint, if the registry runs in this process.
    async fn as_of(&self) -> Option<AsOf>;

    /// The author agreement in force, if the network has one.
    async fn agreement(&self) -> Result<Option<AgreementInForce>> {
        Ok(None)
    }

    /// The recorded use of a single-use credential, if there is one, and the time as of which this holds.
    async fn used(&self, key: &UseKey) -> Result<(Option<Use>, UnixTime)>;

    /// A delegation of an issuer, including one that has ended.
    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RecordedDelegation>>;

    /// The AnonCreds schema of an identifier.
    async fn schema(&self, _id: &str) -> Result<Option<PublishedSchema>> {
        Ok(None)
    }

    /// The identifier of the AnonCreds schema that the transaction with this number published; of the first, if it
    /// published several.
    async fn schema_numbered(&self, _seq_no: u64) -> Result<Option<String>> {
        Ok(None)
    }

    /// The AnonCreds credential definition of an identifier, with its successor.
    async fn credential_definition(&self, _id: &str) -> Result<Option<PublishedDefinition>> {
        Ok(None)
    }

    /// The definition of the AnonCreds revocation registry of an identifier.
    async fn revocation_registry(&self, _id: &str) -> Result<Option<PublishedRegistry>> {
        Ok(None)
    }

    /// The revoked places of a revocation registry now or at a time; `None` before its first entry.
    async fn revocation_state(
        &self,
        _id: &str,
        _at: Option<UnixTime>,
    ) -> Result<Option<RevocationState>> {
        Ok(None)
    }
}

/// A single-use credential in a registry.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct UseKey {
    /// The credential's issuer.
    pub issuer: Did,
    /// The digest under which its handle is registered.
    pub digest: [u8; 32],
}

/// A delegation in a registry.
#[derive(Clone, Debug)]
pub struct RecordedDelegation {
    /// The number of the transaction that created it.
    pub seq_no: u64,
    /// The types of credentials it covers.
    pub scope: Vec<String>,
    /// When it ends; exclusive.
    pub until: UnixTime,
    /// Whether the issuer has withdrawn it.
    pub is_withdrawn: bool,
}

impl RecordedDelegation {
    /// Whether this delegation covers a credential of type `kind` at `now`.
    #[must_use]
    pub fn covers(&self, kind: &str, now: UnixTime) -> bool {
        !self.is_withdrawn && now < self.until && self.scope.iter().any(|covered| covered == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delegation_covers_its_types_until_it_ends_or_is_withdrawn() {
        let given = RecordedDelegation {
            seq_no: 1,
            scope: vec!["urn:a".to_owned()],
            until: UnixTime(100),
            is_withdrawn: false,
        };
        assert!(given.covers("urn:a", UnixTime(99)));
        assert!(!given.covers("urn:a", UnixTime(100)));
        assert!(!given.covers("urn:b", UnixTime(99)));
        let withdrawn = RecordedDelegation {
            is_withdrawn: true,
            ..given
        };
        assert!(!withdrawn.covers("urn:a", UnixTime(99)));
    }
}
