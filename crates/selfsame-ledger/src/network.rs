//! A network's names and keys, as its genesis gives them.

use selfsame_did::selfsame::Network;
use selfsame_driver::{Error, Result};
use selfsame_proof::note::VerifierKey;
use selfsame_proof::read::TrustRoot;
use selfsame_registry::Genesis;
use selfsame_store::TenantId;

/// The name of a network's log, in checkpoints and in the key that signs them. It follows from the genesis.
#[must_use]
pub fn log_origin(network: &Network) -> String {
    format!("selfsame/{network}")
}

/// The trust root that a network's genesis gives: its first validators.
#[must_use]
pub fn trust_root(genesis: &Genesis) -> TrustRoot {
    let origin = log_origin(&genesis.network());
    TrustRoot::of_genesis(&origin, genesis.validators().clone())
}

/// The key that verifies the checkpoints of a network with one validator.
///
/// # Errors
/// `Internal` if the genesis has no validator, which parsing it rules out.
pub fn checkpoint_verifier(genesis: &Genesis) -> Result<VerifierKey> {
    let validator = genesis.validators().validators().first();
    validator
        .ok_or_else(|| Error::internal("a network without validators"))?
        .verifier_key(&log_origin(&genesis.network()))
        .map_err(Error::internal)
}

/// The tenant that owns the embedded registry's records: its keys and what it has signed last.
///
/// # Errors
/// None: the name is a valid one.
pub fn tenant() -> Result<TenantId> {
    TenantId::parse("registry").map_err(Error::internal)
}
