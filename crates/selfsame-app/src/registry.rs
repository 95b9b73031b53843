//! The registry as use cases see it: one interface, embedded in this process or at another address.

pub mod embedded;
pub mod remote;

use async_trait::async_trait;
use selfsame_did::{Did, Options, Resolution};
use selfsame_registry::{Receipt, Transaction};

use crate::error::Result;
use crate::view::registry::{RegistryEntry, RegistryStatus};

/// A registry: takes transactions, answers reads. Submitting the same transaction again gives its first receipt.
#[async_trait]
pub trait Registry: Send + Sync {
    /// The registry's genesis, whose digest is the network's name.
    async fn genesis(&self) -> Result<Vec<u8>>;

    /// Orders a transaction and waits until it is durable.
    async fn submit(&self, transaction: &Transaction) -> Result<Receipt>;

    /// The same for a transaction in base64url, as the outbox keeps it.
    async fn submit_bytes(&self, transaction: &str) -> Result<Receipt>;

    /// Resolves a DID of this network.
    async fn resolve(&self, did: &Did, options: &Options) -> Resolution;

    /// The nonce the author's next transaction must carry.
    async fn next_nonce(&self, author: &Did) -> Result<u64>;

    /// How far it has come, with the signed checkpoint.
    async fn status(&self) -> Result<RegistryStatus>;

    /// The transactions from `first` (1 is the oldest), at most `count`.
    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>>;
}
