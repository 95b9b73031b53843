//! What was made for a registry, and what is held of it.

use selfsame_anoncreds::format::{RevocationRegistryDefinition, RevocationRegistryPrivate};
use selfsame_registry::Transaction;
use selfsame_store::Batch;

/// A registry with its secret, ready to issue in.
pub(crate) struct OpenRegistry {
    pub(crate) definition: RevocationRegistryDefinition,
    pub(crate) private: RevocationRegistryPrivate,
}

/// What is stored with the call that publishes a registry.
pub(crate) struct MadeRegistry {
    pub(crate) writes: Batch,
    pub(crate) transaction: Transaction,
    pub(crate) tails_hash: String,
    pub(crate) accumulator: String,
}
